//! Graders that compare by embeddings, or call a web service.
//!
//! They are supported as types so that a spec that uses them can be read; their verdict
//! is unknown, with the reason.

use schemars::{Schema, SchemaGenerator, json_schema};
use std::sync::Arc;
use toolmark_config::Node;
use toolmark_grade::{
    AnswerCost, Determinism, GradeScope, Grader, GraderInfo, Reference, Taxonomy,
};
use toolmark_outcome::Subject;
use toolmark_outcome::excerpt;
use toolmark_outcome::{Cause, Outcome};

struct AgentvUnanswered {
    cause: Cause,
    reason: String,
}

impl Grader for AgentvUnanswered {
    fn grade(&self, _: &Subject<'_>) -> Outcome {
        Outcome::unknown(self.cause, self.reason.clone())
    }
}

/// Returns a schema that accepts anything, for their configurations.
fn anything(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object"})
}

/// Returns the textual criteria of a configuration.
fn asked(config: &Node) -> Option<String> {
    let node = config.get("value")?;
    Some(match node.as_str() {
        Some(text) => excerpt(text),
        None => excerpt(&node.to_json().to_string()),
    })
}

macro_rules! unanswered {
    ($static:ident, $id:literal, $aliases:expr, $summary:literal, $cause:expr, $who:literal, $example:literal, $docs:literal) => {
        pub(crate) static $static: GraderInfo = GraderInfo {
            id: $id,
            aliases: $aliases,
            origin: "agentv",
            summary: $summary,
            docs: concat!(
                $docs,
                " The configuration is read and kept; the verdict is unknown, with the reason."
            ),
            example: concat!("type: ", $id, "\nconfig:\n", $example),
            taxonomy: Taxonomy {
                determinism: Determinism::Judge,
                cost: AnswerCost::High,
                reference: Reference::Free,
                scope: GradeScope::Trajectory,
            },
            profiles: &[],
            schema: anything,
            build: |building| {
                let reason = match asked(building.config) {
                    Some(asked) => format!(concat!($who, ": {}"), asked),
                    None => $who.to_owned(),
                };
                Some(Arc::new(AgentvUnanswered { cause: $cause, reason }))
            },
        };
    };
}

unanswered!(
    SIMILAR,
    "similar",
    &[],
    "scores the similarity of the answer to a text",
    Cause::NeedsJudge,
    "an embedding model would have to compare",
    "  value: your order is cancelled",
    "Scores the similarity of the answer to `value`, as an embedding model sees it."
);
unanswered!(
    WEBHOOK,
    "webhook",
    &[],
    "checks the run with a web service",
    Cause::Program,
    "toolmark calls no web service",
    "  value: https://example.com/grade",
    "Passes if the web service at `value` accepts the run. Grading makes no network calls."
);

#[cfg(test)]
mod tests {
    use crate::testing::{agentv, grade};
    use serde_json::json;
    use toolmark_outcome::{Cause, Verdict};

    #[test]
    fn nobody_answers_but_the_question_is_kept() {
        let made = agentv(json!([]));
        for (id, config, cause, words) in [
            ("similar", json!({"value": "your order"}), Cause::NeedsJudge, "your order"),
            ("webhook", json!({"value": "https://x"}), Cause::Program, "web service"),
        ] {
            let outcome = grade(id, config, &made);
            assert_eq!(outcome.verdict, Verdict::Unknown(cause), "{id}");
            assert!(outcome.reason.raw().contains(words), "{id}: {}", outcome.reason.raw());
        }
    }
}
