//! Options of grading: loading of specs, and what graders may use.

use super::types;
use crate::judge::{ByRules, JudgeOptions, JudgeRequest, OpenJudge};
use crate::{ActionEvents, Failure, Stop};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toolmark_grade::{LoadOptions, Plan};
use toolmark_outcome::judging::Judge;
use toolmark_outcome::{Environment, FindingSource, Profile};

/// Options for loading a spec.
#[derive(Debug, Clone, Default)]
pub struct SpecOptions {
    /// Score that every case must reach.
    pub threshold: Option<f64>,
    /// System whose rules are used.
    pub profile: Option<Profile>,
    /// Grader types of plugins.
    pub grader_types: Vec<String>,
    /// Dataset with the cases.
    pub dataset: Option<PathBuf>,
    /// Values of variables in the spec.
    pub params: Vec<(String, String)>,
}

impl SpecOptions {
    /// Returns the options for a spec, with the grader types declared beside it.
    ///
    /// # Errors
    ///
    /// If the declared types are invalid.
    pub fn load_options(&self, spec: &Path) -> Result<LoadOptions, Failure> {
        Ok(LoadOptions {
            params: self.params.iter().cloned().collect(),
            profile: self.profile,
            threshold: self.threshold,
            dataset: self.dataset.clone(),
            grader_types: types::declared(spec, &self.grader_types)?,
            is_lint: false,
            stores_cases: false,
        })
    }

    /// A key that changes with the options that affect results.
    #[must_use]
    pub fn key(&self) -> String {
        format!("{:?} {:?} {:?} {:?}", self.threshold, self.profile, self.dataset, self.params)
    }
}

/// Options for what graders may use.
#[derive(Debug, Clone)]
pub struct GraderOptions {
    /// Whether programs may be run.
    pub may_run: bool,
    /// Whether judges may be asked.
    pub may_ask: bool,
    /// The judge.
    pub judge: JudgeOptions,
}

impl GraderOptions {
    /// Opens the judge if any grader needs one.
    ///
    /// # Errors
    ///
    /// If its settings are invalid.
    pub fn open_judge(
        &self,
        plans: &[(PathBuf, Plan)],
        events: &mut dyn ActionEvents,
    ) -> Result<Option<OpenJudge>, Stop> {
        let asks = |(_, plan): &&(PathBuf, Plan)| plan.asks_judge();
        let Some((path, plan)) = plans.iter().find(asks).filter(|_| self.may_ask) else {
            return Ok(None);
        };
        let request = JudgeRequest {
            part_of: Some(path),
            usual: &plan.judge,
            may_run: self.may_run,
            gates: true,
        };
        self.judge.open(&request, events)
    }

    /// The environment of the graders.
    #[must_use]
    pub fn environment(&self, judge: Option<&OpenJudge>) -> Environment {
        Environment {
            may_run: self.may_run,
            judge: judge.map(|judge| Arc::clone(&judge.client) as Arc<dyn Judge>),
            findings: judge.map(|_| Arc::new(ByRules::default()) as Arc<dyn FindingSource>),
            ..Environment::default()
        }
    }
}
