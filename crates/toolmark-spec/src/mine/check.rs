//! Grades the runs with the written spec, like any other spec.

use crate::load_source;
use crate::mine::mined::Mined;
use crate::mine::{Observed, Share};
use std::path::Path;
use toolmark_config::{Problem, SourceText};
use toolmark_grade::{Grading, LeftBehind, LoadOptions, Pairing, RunSelection};
use toolmark_outcome::{Environment, Verdict};

/// Results of a spec for the runs from which it was mined.
#[derive(Debug, Default)]
pub struct MinedSpecResult {
    /// Passing runs, and how many of them the spec accepts.
    pub accepted: Share,
    /// Failing runs, and how many of them the spec rejects.
    pub rejected: Share,
    /// Number of runs that match no case by ID, name, file name or prompt.
    pub unpaired: usize,
    /// Problems of the spec.
    pub problems: Vec<Problem>,
}

impl Mined {
    /// Loads a spec that was mined from these runs and grades the runs with it.
    #[must_use]
    pub fn check(&self, spec: &str, observed: &[Observed]) -> MinedSpecResult {
        let source = SourceText::new("toolmark.yaml", spec);
        let loaded = load_source(source, Path::new("."), &LoadOptions::default());
        let mut checked =
            MinedSpecResult { problems: loaded.problems, ..MinedSpecResult::default() };
        let Some(plan) = loaded.plan else { return checked };
        let grading = Grading::new(&plan, None, Environment::default(), RunSelection::default());
        let pairing = Pairing::new(&plan, None);
        for case in self.cases.iter().filter(|case| case.expected() > 0) {
            let index = case.id.as_deref().map(|id| plan.find(id));
            for one in case.members.iter().filter_map(|at| observed.get(*at)) {
                let result = match index {
                    None => grading.grade(&one.run).ok(),
                    Some(None) => None,
                    Some(Some(index)) => {
                        checked.unpaired += usize::from(pairing.find(&one.run) != Ok(index));
                        grading.grade_trial(index, 0, &one.run, LeftBehind::default())
                    }
                };
                let verdict = result.map(|result| result.verdict);
                match one.passed {
                    true => checked.accepted.add(verdict == Some(Verdict::Pass)),
                    false => checked.rejected.add(verdict == Some(Verdict::Fail)),
                }
            }
        }
        checked
    }
}
