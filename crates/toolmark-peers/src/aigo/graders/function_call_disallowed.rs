//! `function_call_disallowed`: checks that no disallowed function was called.

use super::required::names;
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;
use toolmark_base::SortedSet;
use toolmark_config::Node;
use toolmark_grade::{Grader, GraderInfo, Taxonomy, schema_of};
use toolmark_outcome::EvidenceRole;
use toolmark_outcome::Outcome;
use toolmark_outcome::Profile;
use toolmark_outcome::Subject;
use toolmark_outcome::{Explanation, ExplanationRow, RowState};

/// Maximum number of calls shown per outcome.
const SHOWN: usize = 20;

/// Functions that must not be called.
#[derive(Debug, Deserialize, JsonSchema)]
struct FunctionCallDisallowedConfig {
    /// Names of the functions, as a list or as JSON text with one.
    #[serde(alias = "function_calls", alias = "disallowed_functions")]
    #[schemars(with = "WrittenNames")]
    function_names: Node,
}

/// Accepted notations, for the schema.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it only describes what is read from a node")]
enum WrittenNames {
    /// A list of names.
    Names(Vec<String>),
    /// A list as JSON text. A spec with a dataset may use a template
    /// that produces the list for each row.
    Text(String),
}

pub(crate) static FUNCTION_CALL_DISALLOWED: GraderInfo = GraderInfo {
    id: "function_call_disallowed",
    aliases: &["disallowed_function_calls", "function_call_not_allowed"],
    origin: "aigo",
    summary: "fails if a forbidden function was called",
    docs: "\
Passes where no call of the trace has a name of `function_names`. A call counts however it ended.

`metrics` has `no_disallowed_calls_made` (1 or 0, which is also the score) and \
`num_disallowed_calls_made`.",
    example: "\
type: function_call_disallowed
config:
  function_names: [delete_account, wire_transfer]",
    taxonomy: Taxonomy::TRAJECTORY,
    profiles: &[Profile::AiGo],
    schema: schema_of::<FunctionCallDisallowedConfig>,
    build: |building| {
        let config = building.read::<FunctionCallDisallowedConfig>()?;
        let list = names(&config.function_names, building)?;
        if list.is_empty() {
            let span = config.function_names.span;
            building.reject(span, "empty-list", "the list of functions is empty");
            return None;
        }
        Some(Arc::new(Disallowed { names: list.into_iter().collect() }))
    },
};

struct Disallowed {
    names: SortedSet<String>,
}

impl Grader for Disallowed {
    fn grade(&self, subject: &Subject<'_>) -> Outcome {
        let view = &subject.view;
        let made: Vec<_> = view
            .calls()
            .iter()
            .filter(|seen| self.names.contains(&*seen.call.name.full()))
            .copied()
            .collect();
        let reason = match made.as_slice() {
            [] => "no disallowed function was called".to_owned(),
            [one] => format!("the disallowed function {} was called", one.call.name.full()),
            many => {
                let names: SortedSet<_> = many.iter().map(|seen| seen.call.name.full()).collect();
                let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
                format!(
                    "disallowed functions were called {} times: {}",
                    many.len(),
                    names.join(", ")
                )
            }
        };
        let holds = made.is_empty();
        let mut outcome = Outcome::binary(holds, reason)
            .with_metric("no_disallowed_calls_made", if holds { 1.0 } else { 0.0 })
            .with_metric("num_disallowed_calls_made", made.len())
            .with_evidence(
                made.iter()
                    .take(SHOWN)
                    .map(|seen| view.evidence(EvidenceRole::Violation, "disallowed", *seen)),
            );
        if made.len() > SHOWN {
            let note = format!("{} more disallowed calls are left out", made.len() - SHOWN);
            outcome.notes.push(note.into());
        }
        if !holds {
            let row = |seen: &toolmark_outcome::IndexedCall<'_>| ExplanationRow {
                expected: None,
                call: Some(view.call_ref(*seen)),
                state: RowState::Forbidden,
                why: None,
            };
            outcome.explanation = Some(Explanation {
                rows: made.iter().take(SHOWN).map(row).collect(),
                elided: made.len().saturating_sub(SHOWN),
                divergence: Some(0),
                repair: vec!["do not make these calls".into()],
            });
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use crate::aigo::graders::testing::{made, responses};
    use crate::testing::{complaints, grade};
    use serde_json::json;
    use toolmark_outcome::Verdict;

    #[test]
    fn calls() {
        for (trace, count) in
            [(vec!["a", "b"], 0), (vec!["drop", "a"], 1), (vec!["drop", "drop"], 2), (vec![], 0)]
        {
            let config = json!({"function_names": ["drop", "wipe"]});
            let outcome = grade("function_call_disallowed", config, &responses(&made(&trace)));
            assert_eq!(outcome.verdict, Verdict::of(count == 0), "{trace:?}");
            assert_eq!(outcome.metrics["num_disallowed_calls_made"], count, "{trace:?}");
            assert_eq!(outcome.evidence.len(), count, "{trace:?}");
        }
    }

    #[test]
    fn every_way_to_write_it() {
        for config in [
            json!({"function_calls": ["drop"]}),
            json!({"disallowed_functions": "[\"drop\"]"}),
            json!({"function_names": "[\"drop\"]"}),
        ] {
            let trace = responses(&made(&["drop"]));
            let outcome = grade("disallowed_function_calls", config, &trace);
            assert_eq!(outcome.reason, "the disallowed function drop was called");
        }
    }

    #[test]
    fn configurations() {
        for (config, said) in [
            (json!({"function_names": []}), "the list of functions is empty"),
            (
                json!({"function_names": [{"name": "a", "arguments": {}}]}),
                "expected the name of a function, found a call with arguments",
            ),
        ] {
            assert_eq!(complaints("function_call_disallowed", &config), [said], "{config}");
        }
    }
}
