//! Calls that every run makes: the tool, and the arguments that are the same each time.

use crate::mine::atom::{Atom, call_config, most_telling, rank};
use crate::mine::sample::{MinedRun, SampleCall};
use serde_json::Value;
use toolmark_base::SortedSet;

/// Maximum number of different calls of one tool.
const MAX_OF_TOOL: usize = 6;

/// Maximum number of argument sets kept while runs are compared.
const MAX_SETS: usize = 64;

/// A call that is expected.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Template {
    pub(crate) tool: String,
    /// Conditions, at most one per argument.
    pub(crate) atoms: Vec<Atom>,
}

impl Template {
    /// Creates a template for the tool with any arguments.
    pub(crate) fn bare(tool: &str) -> Self {
        Self { tool: tool.to_owned(), atoms: Vec::new() }
    }

    pub(crate) fn fits(&self, call: &SampleCall) -> bool {
        call.tool == self.tool && self.atoms.iter().all(|atom| call.atoms.contains(atom))
    }

    /// Returns the template as an expectation.
    pub(crate) fn config(&self) -> Value {
        call_config(&self.tool, &self.atoms)
    }

    fn weight(&self) -> usize {
        self.atoms.iter().map(|atom| rank(&atom.test)).sum()
    }

    /// Returns the batches of the calls that match and count as done, in order.
    pub(crate) fn batches(&self, sample: &MinedRun<'_>) -> Vec<usize> {
        let fitting = sample.calls.iter().filter(|call| call.is_done && self.fits(call));
        fitting.map(|call| call.batch).collect()
    }
}

/// Returns the calls of a tool that every one of these runs makes, the most specific first:
/// only the tool if no argument is the same each time. Each template matches a separate call in
/// every run.
pub(crate) fn templates(tool: &str, samples: &[&MinedRun<'_>]) -> Vec<Template> {
    let mut sets: Option<Vec<SortedSet<&Atom>>> = None;
    for sample in samples {
        let of_run: SortedSet<SortedSet<&Atom>> =
            sample.done(tool).map(|call| call.atoms.iter().collect()).collect();
        sets = Some(match sets {
            None => maximal(of_run),
            Some(before) => maximal(before.iter().flat_map(|set| {
                of_run.iter().map(|other| set.intersection(other).copied().collect())
            })),
        });
    }
    let mut all: Vec<Template> = sets
        .unwrap_or_default()
        .into_iter()
        .map(|set| Template { tool: tool.to_owned(), atoms: most_telling(set) })
        .collect();
    all.sort_by_cached_key(|template| (usize::MAX - template.weight(), template.clone()));
    all.dedup();
    let mut chosen: Vec<Template> = Vec::new();
    for template in all {
        if template.atoms.is_empty() || chosen.len() == MAX_OF_TOOL {
            continue;
        }
        chosen.push(template);
        if !samples.iter().all(|sample| have_calls(&chosen, sample)) {
            chosen.pop();
        }
    }
    if chosen.is_empty() {
        chosen.push(Template::bare(tool));
    }
    chosen
}

/// Returns the sets that are not subsets of others; the largest ones if there are too many.
fn maximal<'a>(sets: impl IntoIterator<Item = SortedSet<&'a Atom>>) -> Vec<SortedSet<&'a Atom>> {
    let distinct: SortedSet<SortedSet<&Atom>> = sets.into_iter().collect();
    let mut sorted: Vec<SortedSet<&Atom>> = distinct.into_iter().collect();
    // Stable: sets of one size stay in their order.
    sorted.sort_by_key(|set| usize::MAX - set.len());
    let mut kept: Vec<SortedSet<&Atom>> = Vec::new();
    for set in sorted {
        if kept.len() == MAX_SETS {
            break;
        }
        if !kept.iter().any(|other| set.is_subset(other)) {
            kept.push(set);
        }
    }
    kept
}

/// Whether every template can be assigned a separate call in this run. There are few templates,
/// so every call is compared with each of them.
fn have_calls(templates: &[Template], sample: &MinedRun<'_>) -> bool {
    let calls: Vec<&SampleCall> = sample.calls.iter().filter(|call| call.is_done).collect();
    let mut owner: Vec<Option<usize>> = vec![None; calls.len()];
    (0..templates.len()).all(|template| {
        let mut seen = vec![false; calls.len()];
        take(template, templates, &calls, &mut owner, &mut seen)
    })
}

/// Finds a call for a template and reassigns other templates if needed. Each recursion
/// level handles another template, of which there are few.
fn take(
    template: usize,
    templates: &[Template],
    calls: &[&SampleCall],
    owner: &mut [Option<usize>],
    seen: &mut [bool],
) -> bool {
    for at in 0..calls.len() {
        if seen[at] || !templates[template].fits(calls[at]) {
            continue;
        }
        seen[at] = true;
        let is_free = match owner[at] {
            None => true,
            Some(other) => take(other, templates, calls, owner, seen),
        };
        if is_free {
            owner[at] = Some(template);
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mine::testing::{run, sample};
    use serde_json::json;
    use std::slice::from_ref;

    fn found(runs: &[&[(&str, Value)]]) -> Vec<Value> {
        let runs: Vec<_> = runs.iter().map(|calls| run(calls)).collect();
        let samples: Vec<_> = runs.iter().map(sample).collect();
        let samples: Vec<&MinedRun<'_>> = samples.iter().collect();
        templates("t", &samples).iter().map(Template::config).collect()
    }

    #[test]
    fn what_is_the_same_each_time_is_kept() {
        let a = ("t", json!({"city": "Paris", "id": 7}));
        let b = ("t", json!({"city": "Paris", "id": 8}));
        assert_eq!(
            found(&[from_ref(&a), from_ref(&b)]),
            [json!({"tool": "t", "args": {"city": "Paris"}})]
        );
        // Both at once need one call that has both.
        let apart = [("t", json!({"city": "Paris"})), ("t", json!({"id": 7}))];
        assert_eq!(found(&[from_ref(&a), &apart]).len(), 1);
        assert_eq!(found(&[&[a], &[("t", json!({}))]]), [json!("t")]);
    }

    #[test]
    fn different_calls_of_a_tool_are_told_apart() {
        let one = ("t", json!({"path": "a"}));
        let two = ("t", json!({"path": "b"}));
        let wanted = [
            json!({"tool": "t", "args": {"path": "a"}}),
            json!({"tool": "t", "args": {"path": "b"}}),
        ];
        assert_eq!(found(&[&[one.clone(), two.clone()], &[two, one]]), wanted);
    }
}
