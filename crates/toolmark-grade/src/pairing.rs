//! Which trajectory belongs to which case.
//!
//! By id or name first, then by the name of the file, then by what the user
//! asked. Never by position.

use crate::plan::Plan;
use std::collections::BTreeMap;
use std::path::Path;
use toolmark_outcome::View;
use toolmark_trace::Trajectory;

/// Finds the case a trajectory belongs to.
pub struct Pairing {
    by_id: BTreeMap<String, Vec<usize>>,
    by_prompt: BTreeMap<String, Vec<usize>>,
    forced: Option<usize>,
}

/// Why a trajectory belongs to no case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unpaired {
    /// No case has its id, name, file name or prompt.
    None,
    /// Several cases have the same prompt: their places in the plan.
    Ambiguous(Vec<usize>),
}

impl Pairing {
    /// For the cases of a plan. `forced` is the case that takes whatever no
    /// other case takes by its id.
    #[must_use]
    pub fn new(plan: &Plan, forced: Option<usize>) -> Self {
        let mut by_id: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut by_prompt: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, case) in plan.cases.iter().enumerate() {
            for id in std::iter::once(&case.id).chain(&case.matches.ids) {
                let cases = by_id.entry(id.clone()).or_default();
                if cases.last() != Some(&index) {
                    cases.push(index);
                }
            }
            for prompt in &case.matches.prompts {
                let cases = by_prompt.entry(folded(prompt)).or_default();
                if cases.last() != Some(&index) {
                    cases.push(index);
                }
            }
        }
        Self { by_id, by_prompt, forced }
    }

    /// The case this trajectory belongs to, by its place in the plan.
    pub fn find(&self, trajectory: &Trajectory) -> Result<usize, Unpaired> {
        let own = [&trajectory.name, &trajectory.id];
        let own = own.into_iter().flatten().map(|text| text.get().into_owned());
        for key in own.chain(file_stems(&trajectory.file)) {
            if let Some([case]) = self.by_id.get(&key).map(Vec::as_slice) {
                return Ok(*case);
            }
        }
        if let Some(case) = self.forced {
            return Ok(case);
        }
        if self.by_prompt.is_empty() {
            return Err(Unpaired::None);
        }
        let prompt = View::whole(trajectory).prompt().map(|prompt| folded(&prompt));
        match prompt.and_then(|prompt| self.by_prompt.get(&prompt)).map(Vec::as_slice) {
            None | Some([]) => Err(Unpaired::None),
            Some([case]) => Ok(*case),
            Some(several) => Err(Unpaired::Ambiguous(several.to_vec())),
        }
    }
}

/// A prompt without the white space that YAML and agents add.
pub(crate) fn folded(prompt: &str) -> String {
    prompt.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The name of a file without its extensions: `case.trace.json` may stand for
/// `case.trace` and for `case`.
fn file_stems(file: &str) -> Vec<String> {
    let Some(name) = Path::new(file).file_name().and_then(|name| name.to_str()) else {
        return Vec::new();
    };
    let ends = name.char_indices().skip(1).filter(|(_, c)| *c == '.').map(|(at, _)| at);
    let mut stems: Vec<String> = ends.map(|end| name[..end].to_owned()).collect();
    stems.reverse();
    stems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_and_prompts() {
        assert_eq!(file_stems("a/b.trace.json.gz"), ["b.trace.json", "b.trace", "b"]);
        assert_eq!(file_stems(".hidden"), [] as [&str; 0]);
        assert_eq!(folded(" do\n  it "), "do it");
    }
}
