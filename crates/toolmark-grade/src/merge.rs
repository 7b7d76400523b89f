//! Merges the results of several specs.

use crate::run::{Standing, sum_up};
use serde_json::Map;
use toolmark_base::SortedMap;
use toolmark_outcome::{RunResult, Untrusted, Verdict};

/// Merges the results of several specs. If two specs have a case with the same ID, the name of
/// its spec is added to the ID. `name` is what the specs have in common,
/// such as their directory. The result of a single spec stays as it is.
#[must_use]
pub fn merge(name: &str, mut results: Vec<RunResult>) -> RunResult {
    if results.len() == 1
        && let Some(only) = results.pop()
    {
        return only;
    }
    let is_shared = shared_ids(&results);
    let mut dialects: Vec<&'static str> = results.iter().map(|result| result.dialect).collect();
    dialects.dedup();
    let (mut outcomes, mut cases, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    let mut aggregates = Map::new();
    // A spec may have a gate of its own.
    let mut verdict = Verdict::Pass;
    for result in results {
        let spec = result.spec.raw().to_string();
        let full = |id: &Untrusted| match is_shared.get(id.raw()) {
            Some(true) => format!("{spec}: {}", id.raw()).into(),
            _ => id.clone(),
        };
        let first = cases.len();
        for mut outcome in result.outcomes {
            outcome.case = full(&outcome.case);
            outcome.case_index = outcome.case_index.saturating_add(first);
            outcomes.push(outcome);
        }
        for mut case in result.cases {
            case.case = full(&case.case);
            cases.push(case);
        }
        for (key, value) in result.summary.aggregates.iter() {
            aggregates.insert(format!("{spec}: {key}"), value.clone());
        }
        verdict = verdict.and(result.summary.verdict);
        notes.extend(result.notes);
    }
    let standings: Vec<Standing> = outcomes.iter().map(Standing::of).collect();
    let mut summary = sum_up(&standings, &cases, None, aggregates);
    summary.verdict = verdict;
    let dialect = if let [dialect] = dialects[..] { dialect } else { "mixed" };
    RunResult { spec: name.into(), dialect, name: None, outcomes, cases, summary, notes }
}

/// Returns the IDs of all cases, and whether several specs have them.
fn shared_ids(results: &[RunResult]) -> SortedMap<String, bool> {
    let mut seen: SortedMap<String, (usize, bool)> = SortedMap::new();
    for (n, result) in results.iter().enumerate() {
        for case in &result.cases {
            let first = seen.entry(case.case.raw().to_owned()).or_insert((n, false));
            first.1 |= first.0 != n;
        }
    }
    seen.into_iter().map(|(id, (_, is_shared))| (id, is_shared)).collect()
}
