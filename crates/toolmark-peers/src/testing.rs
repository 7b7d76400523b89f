//! Helpers for the tests of graders.

use serde_json::Value;
use std::sync::Arc;
use toolmark_config::Problem;
use toolmark_grade::Grader;
use toolmark_grade::testing::Kit;
pub(crate) use toolmark_grade::testing::ask;
use toolmark_outcome::judging::JudgeQuestion;
pub(crate) use toolmark_outcome::testing::{agentv, agentv_with, runs, vally, vally_with};
use toolmark_outcome::{CaseContext, Outcome, Profile};

const KIT: Kit = Kit(crate::ALL);

pub(crate) fn build(
    id: &str,
    profile: Profile,
    config: &Value,
) -> Result<Arc<dyn Grader>, Vec<Problem>> {
    KIT.build(id, profile, config)
}

pub(crate) fn complaints(id: &str, config: &Value) -> Vec<String> {
    KIT.complaints(id, config)
}

pub(crate) fn warnings(id: &str, config: &Value) -> Vec<String> {
    KIT.warnings(id, config)
}

pub(crate) fn grade(id: &str, config: Value, trace: &str) -> Outcome {
    KIT.grade(id, config, trace)
}

pub(crate) fn grade_as(id: &str, profile: Profile, config: Value, trace: &str) -> Outcome {
    KIT.grade_as(id, profile, config, trace)
}

pub(crate) fn judged(
    id: &str,
    config: Value,
    trace: &str,
    context: &CaseContext,
    judge: fn(&JudgeQuestion) -> Option<f64>,
) -> Outcome {
    KIT.judged(id, config, trace, context, judge)
}
