//! Graders known only by name: those of another system's plugins, and types
//! declared by the user.

use crate::grader::{AnswerCost, Determinism, GradeScope, Grader, GraderInfo, Reference, Taxonomy};
use schemars::json_schema;
use std::sync::Arc;
use toolmark_outcome::{Cause, Outcome, Subject};

/// Placeholder entry for a grader that only its own system can run: nothing is known but its
/// name.
pub static DECLARED: GraderInfo = GraderInfo {
    id: "declared",
    aliases: &[],
    origin: "toolmark",
    summary: "stands for a grader of a plugin, which is not run here",
    docs: "Stands for a grader that only a plugin of another system has. Its configuration is not looked at, and its answer is unknown.",
    example: "type: declared",
    taxonomy: Taxonomy {
        determinism: Determinism::Environment,
        cost: AnswerCost::Medium,
        reference: Reference::Free,
        scope: GradeScope::Trajectory,
    },
    profiles: &[],
    schema: |_| json_schema!({ "type": "object" }),
    build: |_| Some(declared("declared")),
};

/// Returns a grader of this type whose verdict is always unknown.
#[must_use]
pub fn declared(word: &str) -> Arc<dyn Grader> {
    Arc::new(Declared(word.to_owned()))
}

struct Declared(String);

impl Grader for Declared {
    fn grade(&self, _: &Subject<'_>) -> Outcome {
        let reason = format!("graders of type {} are not run by toolmark", self.0);
        Outcome::unknown(Cause::Program, reason)
    }
}
