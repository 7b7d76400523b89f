//! Grades the trials of a run again, without running anything.

use crate::end::Conclusion;
use crate::error::NoRun;
use crate::store::TrialRecord;
use crate::trace;
use crate::trial::{ARTIFACTS, graded};
use std::fs;
use std::sync::Arc;
use toolmark_grade::{Grading, LeftBehind};
use toolmark_outcome::{CaseResult, Cause, Redactor};
use toolmark_trace::Trajectory;

impl TrialRecord {
    /// Reads the run of this trial again.
    ///
    /// # Errors
    ///
    /// Returns the reason if there is none.
    pub fn run(&self) -> Result<Trajectory, NoRun> {
        let path = self.trace_path().ok_or(NoRun::NoTrace)?;
        let case = &self.case;
        trace::read_run(&path, |run| {
            [&run.name, &run.id].into_iter().flatten().any(|name| name == case.as_str())
        })
    }

    /// Files left by the trial.
    #[must_use]
    pub fn left_behind(&self) -> LeftBehind {
        let diff = fs::read_to_string(self.directory.join("workspace.patch")).ok();
        let artifacts = self.directory.join(ARTIFACTS);
        LeftBehind {
            // Where it is gone, a grader of files cannot tell.
            workspace: self.workspace.clone(),
            diff: diff.map(Arc::from),
            artifacts: Some(artifacts).filter(|directory| directory.is_dir()),
        }
    }

    /// Conclusion about the trial.
    #[must_use]
    pub fn conclusion(&self) -> Conclusion {
        match self.ended.as_str() {
            "completed" => {
                Conclusion::Grade { notes: self.notes.clone(), error: self.error.clone() }
            }
            "limit" => Conclusion::Limit(self.limit.clone().unwrap_or_default()),
            word => {
                let last = self.attempts.last().and_then(|attempt| attempt.why.clone());
                Conclusion::Unknown {
                    cause: Cause::from_word(word).unwrap_or(Cause::NoTrace),
                    why: last.unwrap_or_default(),
                    retry: false,
                }
            }
        }
    }

    /// Grades the trial again. `None` if the plan does not contain the case.
    #[must_use]
    pub fn regrade(&self, grading: &Grading<'_>, index: usize) -> Option<CaseResult> {
        let mut conclusion = self.conclusion();
        let mut run = None;
        if !matches!(conclusion, Conclusion::Unknown { .. }) {
            match self.run() {
                Ok(mut read) => {
                    conclusion.declare(&mut read);
                    run = Some(read);
                }
                // The trace of the earlier grading can no longer be read.
                Err(error) => {
                    let why = error.to_string();
                    conclusion = Conclusion::Unknown { cause: Cause::NoTrace, why, retry: false };
                }
            }
        }
        graded(grading, index, self.trial, &conclusion, run.as_ref(), self.left_behind(), true)
    }

    /// Replaces the outcome by one from other graders.
    pub fn accept(&mut self, result: &CaseResult, grade_key: &str) {
        let outcome = result.clone().redact(Redactor::new(true));
        self.outcome = serde_json::to_value(outcome).unwrap_or_default();
        grade_key.clone_into(&mut self.grade_key);
    }
}
