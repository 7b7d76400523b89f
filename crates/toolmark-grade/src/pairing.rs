//! Assigns trajectories to cases.
//!
//! By ID or name first, then by file name, then by prompt. Never by position.

use crate::plan::Plan;
use crate::stored::StoredCases;
use std::path::Path;
use std::sync::Arc;
use toolmark_base::SortedMap;
use toolmark_outcome::prompt_of;
use toolmark_trace::Trajectory;

/// Finds the case a trajectory belongs to.
pub struct Pairing {
    by_id: SortedMap<String, Vec<usize>>,
    by_prompt: SortedMap<String, Vec<usize>>,
    stored: Option<Arc<StoredCases>>,
    forced: Option<usize>,
}

/// Reason why a trajectory matches no case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unpaired {
    /// No case has its id, name, file name or prompt.
    None,
    /// Several cases have the same prompt; their indices in the plan.
    Ambiguous(Vec<usize>),
}

impl Pairing {
    /// Prepares the cases of a plan. `forced` is the case that gets every trajectory that
    /// matches no other case by ID.
    #[must_use]
    pub fn new(plan: &Plan, forced: Option<usize>) -> Self {
        let mut by_id: SortedMap<String, Vec<usize>> = SortedMap::new();
        let mut by_prompt: SortedMap<String, Vec<usize>> = SortedMap::new();
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
        Self { by_id, by_prompt, stored: plan.stored.clone(), forced }
    }

    /// Returns the index of the case that matches a trajectory.
    pub fn find(&self, trajectory: &Trajectory) -> Result<usize, Unpaired> {
        let own = [&trajectory.name, &trajectory.id].into_iter().flatten();
        let by_own = own.map(|text| text.get()).find_map(|key| self.with_id(&key));
        let by_file = || file_stems(&trajectory.file).find_map(|stem| self.with_id(stem));
        if let Some(case) = by_own.or_else(by_file).or(self.forced) {
            return Ok(case);
        }
        let has_prompts = self.stored.as_ref().is_some_and(|stored| stored.has_prompts());
        if self.by_prompt.is_empty() && !has_prompts {
            return Err(Unpaired::None);
        }
        let prompt = prompt_of(trajectory).map(|prompt| folded(&prompt));
        let asked = prompt.map(|prompt| self.asked(&prompt)).unwrap_or_default();
        match asked.as_slice() {
            [] => Err(Unpaired::None),
            [case] => Ok(*case),
            _ => Err(Unpaired::Ambiguous(asked)),
        }
    }

    /// Returns the only case with this ID.
    fn with_id(&self, id: &str) -> Option<usize> {
        match (&self.stored, self.by_id.get(id).map(Vec::as_slice)) {
            (Some(stored), _) => stored.find(id),
            (None, Some([case])) => Some(*case),
            _ => None,
        }
    }

    /// Returns the cases with this prompt.
    fn asked(&self, prompt: &str) -> Vec<usize> {
        match &self.stored {
            Some(stored) => stored.asked(prompt),
            None => self.by_prompt.get(prompt).cloned().unwrap_or_default(),
        }
    }
}

/// Normalizes a prompt by removing white space that YAML and agents add.
#[must_use]
pub fn folded(prompt: &str) -> String {
    prompt.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Iterates over the name of a file without its extensions: `case.trace.json` may belong to
/// `case.trace` and to `case`.
fn file_stems(file: &str) -> impl Iterator<Item = &str> {
    let name = Path::new(file).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let ends = name.char_indices().rev().filter(|(at, c)| *c == '.' && *at > 0);
    ends.filter_map(move |(end, _)| name.get(..end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_and_prompts() {
        let stems = |file| file_stems(file).collect::<Vec<_>>();
        assert_eq!(stems("a/b.trace.json.gz"), ["b.trace.json", "b.trace", "b"]);
        assert_eq!(stems(".hidden"), [] as [&str; 0]);
        assert_eq!(stems("a/.."), [] as [&str; 0]);
        assert_eq!(folded(" do\n  it "), "do it");
    }
}
