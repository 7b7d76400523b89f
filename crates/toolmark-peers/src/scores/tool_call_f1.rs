//! `tool-call-f1`: scores how well the called tools agree with the expected ones.

use super::calls::made;
use super::matching::{f1, share};
use super::question::{build, check_share};
use crate::promptfoo::graders::tool_call_f1;
use crate::reading::{ReadingQuestion, count};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use toolmark_base::SortedMap;
use toolmark_config::{Node, Problem, Spanned};
use toolmark_grade::{GraderInfo, Taxonomy, schema_of};
use toolmark_match::Mention;
use toolmark_outcome::{Outcome, Profile, Subject, Verdict};

const PROFILES: &[Profile] = &[Profile::Promptfoo];

/// Expected tools.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "ToolCallF1Config")]
struct ToolCallF1Config {
    /// Expected tools, repeated as often as expected: a list, or a text with commas.
    #[schemars(schema_with = "value_schema")]
    value: Node,
    /// Minimum score; 1 by default.
    #[serde(default)]
    threshold: Option<Spanned<f64>>,
    /// Whether the check is inverted.
    #[serde(default)]
    negate: bool,
}

fn value_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string", "minLength": 1}}],
    })
}

pub(crate) static INFO: GraderInfo = GraderInfo {
    id: "tool-call-f1",
    aliases: &["tool_call_f1"],
    origin: "toolmark",
    summary: "scores how well the called tools match the expected ones",
    docs: "Scores how well the called tools match the expected ones. `value` lists the tools, each as often as it \
is expected; `[]` means none. Precision is the share of calls that were expected, recall the share of expected ones that \
were called, and the score is their harmonic mean, 1 where nothing was expected and nothing called. A call that failed \
was not expected. It passes from `threshold` (1) on; `negate: true` asks for the opposite.

The profile `promptfoo` (0.121.20) looks at the last response of the model only, compares sets of names, so that repeated \
calls are one, and raises an error where nothing is expected.",
    example: "type: tool-call-f1\nconfig:\n  value: [search, book]\n  threshold: 0.8",
    taxonomy: Taxonomy::EXPECTED,
    profiles: PROFILES,
    schema: schema_of::<ToolCallF1Config>,
    build: |building| {
        let config = building.read::<ToolCallF1Config>()?;
        let good = check_share(building, "threshold", config.threshold.as_ref());
        let tools = match (config.value.as_str(), config.value.as_list()) {
            (Some(words), _) => Some(words.split(',').map(|word| word.trim().to_owned()).collect()),
            (_, Some(items)) => {
                items.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
            }
            _ => None,
        };
        if tools.is_none() {
            let message = "expected a list of tools, or a text with commas";
            let problem = Problem::error("wrong-type", message).at(config.value.span);
            building.problems.push(problem);
        }
        let tools = tools.filter(|_| good)?;
        let threshold = config.threshold.map_or(1.0, |threshold| threshold.value);
        build(building, PROFILES, ToolCallF1 { tools, threshold, negate: config.negate })
    },
};

struct ToolCallF1 {
    tools: Vec<String>,
    threshold: f64,
    negate: bool,
}

impl ReadingQuestion for ToolCallF1 {
    fn answer(&self, subject: &Subject<'_>, profile: Profile) -> Outcome {
        let view = &subject.view;
        let (precision, recall, score) = if profile == Profile::Promptfoo {
            match tool_call_f1(&self.tools, view) {
                Ok(scores) => scores,
                Err(unknown) => return *unknown,
            }
        } else {
            let made = made(view);
            let mut free: SortedMap<&str, usize> = SortedMap::new();
            for call in made.iter().filter(|call| !call.failed) {
                *free.entry(&call.name).or_default() += 1;
            }
            let found = self.tools.iter().filter(|tool| match free.get_mut(tool.as_str()) {
                Some(left) if *left > 0 => {
                    *left -= 1;
                    true
                }
                _ => false,
            });
            let found = found.count();
            let (precision, recall) = (share(found, made.len()), share(found, self.tools.len()));
            let both_empty = made.is_empty() && self.tools.is_empty();
            (precision, recall, if both_empty { 1.0 } else { f1(precision, recall) })
        };
        let holds = (score >= self.threshold) != self.negate;
        let not = if self.negate { ", which is not wanted" } else { "" };
        let reason = format!(
            "F1 {score:.3} of {}: precision {precision:.3}, recall {recall:.3}{not}",
            count(self.tools.len(), "expected tool")
        );
        Outcome::scored(Verdict::of(holds), score, reason)
            .with_metric("precision", precision)
            .with_metric("recall", recall)
    }

    fn mentions(&self) -> Vec<Mention> {
        self.tools.iter().map(|tool| Mention::exact(tool)).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::scores::testing::{names, own, theirs};
    use crate::testing::{complaints, grade_as};
    use serde_json::json;
    use toolmark_outcome::Profile::Promptfoo;

    const ID: &str = "tool-call-f1";

    #[test]
    fn multisets() {
        for (value, made, score) in [
            (json!(["a", "b"]), "ab", 1.0),
            (json!("a, b"), "ba", 1.0),
            (json!(["a", "a"]), "a", 2.0 / 3.0),
            (json!(["a"]), "ax", 2.0 / 3.0),
            (json!([]), "", 1.0),
            (json!([]), "a", 0.0),
        ] {
            let outcome = own(ID, json!({"value": value}), &names(made));
            assert_eq!(outcome.score, Some(score), "{value} {made}");
        }
        let negated = own(ID, json!({"value": ["a"], "negate": true}), &names("b"));
        assert_eq!(negated.verdict.word(), "pass");
        assert!(complaints(ID, &json!({"value": 1})).join("").contains("list of tools"));
    }

    #[test]
    fn promptfoo_compares_sets_of_the_last_response() {
        let row = |calls: &str| {
            let calls: Vec<_> = calls.chars().map(|c| json!({"tool": c.to_string()})).collect();
            let message = json!({"role": "assistant", "tool_calls": calls});
            json!({"id": "t", "output_messages": [message]}).to_string()
        };
        for (value, made, score) in [
            (json!(["a", "a", "b"]), "ab", Some(1.0)),
            (json!(["a", "b", "c"]), "a", Some(0.5)),
            (json!(["a"]), "", Some(0.0)),
            (json!([]), "a", None),
        ] {
            let outcome = grade_as(ID, Promptfoo, json!({"value": value}), &row(made));
            assert_eq!(outcome.score, score, "{value} {made}");
        }
        // The last response is words.
        let outcome = theirs(ID, Promptfoo, json!({"value": ["a"]}), &names("a"));
        assert_eq!(outcome.score, Some(0.0));
    }
}
