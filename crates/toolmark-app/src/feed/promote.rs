//! Issues as regression cases.
//!
//! The traces are read a second time: during the first pass it is not yet known which occurrence
//! will represent an issue.

use super::ReadFeed;
use std::collections::BTreeMap;
use toolmark_check::promote::Case;
use toolmark_feed::Issue;

/// The cases of issues, in order.
#[must_use]
pub fn cases(chosen: &[&Issue], read: &ReadFeed) -> Vec<Case> {
    let mut made: BTreeMap<usize, Case> = BTreeMap::new();
    for input in &read.inputs {
        if made.len() == chosen.len() {
            break;
        }
        let name = input.name();
        let is_here = |issue: &Issue| {
            issue.representative.as_ref().is_some_and(|one| **one.place.file.raw() == *name)
        };
        // Sub-agents may lie in files beside the one that is named.
        if input.path().is_some_and(|path| path.is_file()) && !chosen.iter().any(|i| is_here(i)) {
            continue;
        }
        let Ok(runs) = read.reader.open(input) else { continue };
        for run in runs {
            for session in run.flatten() {
                for (at, issue) in chosen.iter().enumerate() {
                    if !made.contains_key(&at)
                        && let Some(case) = issue.case_in(session, &run)
                    {
                        made.insert(at, case);
                    }
                }
            }
        }
    }
    made.into_values().collect()
}
