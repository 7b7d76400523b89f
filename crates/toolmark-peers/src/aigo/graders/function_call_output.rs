//! `function_call_output`: searches the outputs of one function for a pattern.

use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;
use toolmark_config::Spanned;
use toolmark_grade::{Grader, GraderInfo, Taxonomy, schema_of};
use toolmark_match::Mention;
use toolmark_outcome::Profile;
use toolmark_outcome::Subject;
use toolmark_outcome::{Cause, Outcome, Verdict};
use toolmark_outcome::{Evidence, EvidenceRole};
use toolmark_outcome::{IndexedCall, TrajectoryView};
use toolmark_pattern::Pattern;

/// Maximum number of calls shown per outcome.
const SHOWN: usize = 20;

/// A function and the pattern for its outputs.
#[derive(Debug, Deserialize, JsonSchema)]
struct FunctionCallOutputConfig {
    /// Name of the function whose outputs are searched.
    function_name: String,
    /// Regular expression, which may match anywhere in an output.
    pattern: Spanned<String>,
}

macro_rules! output {
    ($static:ident, $id:literal, $alias:literal, $wanted:literal, $summary:literal, $docs:literal) => {
        pub(crate) static $static: GraderInfo = GraderInfo {
            id: $id,
            aliases: &[$alias],
            origin: "aigo",
            summary: $summary,
            docs: concat!(
                $docs,
                " Calls of other functions are not looked at, and a call without an output has \
                 none to search. `metrics` has `is_correct`, 1 or 0, which is also the score. \
                 Where the trace does not record outputs and they could change the answer, the \
                 answer is unknown."
            ),
            example: concat!(
                "type: ",
                $id,
                "\nconfig:\n  function_name: run_tests\n  pattern: FAILED|ERROR"
            ),
            taxonomy: Taxonomy::TRAJECTORY,
            profiles: &[Profile::AiGo],
            schema: schema_of::<FunctionCallOutputConfig>,
            build: |building| {
                let config = building.read::<FunctionCallOutputConfig>()?;
                let pattern = building.pattern(&config.pattern)?;
                Some(Arc::new(FunctionOutput { function: config.function_name, pattern, wanted: $wanted }))
            },
        };
    };
}

output!(
    FUNCTION_CALL_OUTPUT_CONTAINS,
    "function_call_output_contains",
    "function_call_output_matches",
    true,
    "checks that an output of a function matches a pattern",
    "Passes where `pattern` matches in at least one output of `function_name`."
);
output!(
    FUNCTION_CALL_OUTPUT_NOT_CONTAINS,
    "function_call_output_not_contains",
    "function_call_output_not_matches",
    false,
    "checks that no output of a function matches a pattern",
    "Passes where `pattern` matches in no output of `function_name`. A function that was never \
     called has no such output: that passes, and a note says so."
);

struct FunctionOutput {
    function: String,
    pattern: Pattern,
    wanted: bool,
}

impl Grader for FunctionOutput {
    fn mentions(&self) -> Vec<Mention> {
        vec![Mention::exact(&self.function)]
    }

    fn grade(&self, subject: &Subject<'_>) -> Outcome {
        let view = &subject.view;
        let calls: Vec<IndexedCall<'_>> = view
            .calls()
            .iter()
            .filter(|seen| *seen.call.name.full() == *self.function)
            .copied()
            .collect();
        let mut matched = Vec::new();
        let mut unrecorded = None;
        let mut exhausted = None;
        for seen in &calls {
            let payload = match &seen.call.result {
                Some(result) => result.payload.as_ref(),
                // An unanswered call has no output; one whose results the
                // format leaves out may have had one.
                None if seen.is_answered() => None,
                None => continue,
            };
            let Some(payload) = payload else {
                unrecorded.get_or_insert(*seen);
                continue;
            };
            match self.pattern.find(&payload.plain()) {
                Ok(Some(range)) => {
                    let text = payload.plain().get(range).unwrap_or_default().to_owned();
                    matched.push((*seen, text));
                }
                Ok(None) => {}
                Err(_) => {
                    exhausted.get_or_insert(*seen);
                }
            }
        }
        if matched.is_empty() {
            if let Some(seen) = exhausted {
                let reason = format!("/{}/ took too many steps on an output", self.pattern);
                return Outcome::unknown(Cause::Limit, reason).with_evidence([view.evidence(
                    EvidenceRole::Context,
                    "too many steps",
                    seen,
                )]);
            }
            if let Some(seen) = unrecorded {
                let reason = format!("the trace does not record the outputs of {}", self.function);
                return Outcome::unknown(Cause::MissingEvidence, reason).with_evidence([
                    view.evidence(EvidenceRole::Context, "no output recorded", seen)
                ]);
            }
        }
        self.outcome(view, &calls, &matched)
    }
}

impl FunctionOutput {
    fn outcome(
        &self,
        view: &TrajectoryView<'_>,
        calls: &[IndexedCall<'_>],
        matched: &[(IndexedCall<'_>, String)],
    ) -> Outcome {
        let (function, pattern) = (&self.function, &self.pattern);
        let holds = matched.is_empty() != self.wanted;
        let reason = match (matched.len(), calls.len()) {
            (_, 0) => format!("{function} was not called"),
            (0, 1) => format!("/{pattern}/ is not in the output of {function}"),
            (0, many) => format!("/{pattern}/ is in none of the {many} outputs of {function}"),
            (1, 1) => format!("/{pattern}/ is in the output of {function}"),
            (some, all) => format!("/{pattern}/ is in {some} of the {all} outputs of {function}"),
        };
        let role = if self.wanted { EvidenceRole::Matched } else { EvidenceRole::Violation };
        let mut outcome = Outcome::scored(Verdict::of(holds), f64::from(u8::from(holds)), reason)
            .with_metric("is_correct", f64::from(u8::from(holds)))
            .with_evidence(matched.iter().take(SHOWN).map(|(seen, text)| {
                view.evidence(role, format!("/{pattern}/ is in its output"), *seen)
                    .with_excerpt(text)
            }));
        if matched.len() > SHOWN {
            outcome.notes.push(format!("{} more outputs match", matched.len() - SHOWN).into());
        }
        match (calls, holds) {
            ([], true) => outcome.notes.push(format!("{function} was not called").into()),
            ([], false) => {
                let text = format!("no call of {function}");
                outcome.evidence.push(Evidence::absence(text));
            }
            (calls, false) if self.wanted => {
                outcome.evidence.extend(calls.iter().take(SHOWN).map(|seen| {
                    view.evidence(EvidenceRole::Mismatch, "its output does not match", *seen)
                }))
            }
            _ => {}
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use crate::aigo::graders::testing::responses_with;
    use crate::testing::{complaints, grade};
    use serde_json::json;
    use toolmark_outcome::{Cause, Verdict};

    #[test]
    fn outputs() {
        // (calls with outputs, contains, not contains)
        for (calls, contains, not_contains) in [
            (vec![("t", "{}", Some("2 FAILED"))], true, false),
            (vec![("t", "{}", Some("ok")), ("t", "{}", Some("1 FAILED"))], true, false),
            (vec![("t", "{}", Some("ok"))], false, true),
            (vec![("grep", "{}", Some("FAILED"))], false, true),
            (vec![], false, true),
            (vec![("t", "{}", None)], false, true),
        ] {
            let config = json!({"function_name": "t", "pattern": "FAILED"});
            let trace = responses_with(&calls);
            let yes = grade("function_call_output_contains", config.clone(), &trace);
            assert_eq!(yes.verdict, Verdict::of(contains), "{calls:?}");
            assert_eq!(yes.metrics["is_correct"], if contains { 1.0 } else { 0.0 }, "{calls:?}");
            let no = grade("function_call_output_not_contains", config, &trace);
            assert_eq!(no.verdict, Verdict::of(not_contains), "{calls:?}");
            assert!(!yes.evidence.is_empty(), "{calls:?}");
            assert_eq!(no.evidence.is_empty(), not_contains, "{calls:?}");
        }
    }

    #[test]
    fn outputs_the_trace_does_not_have_are_unknown() {
        let trace = json!({"id": "r", "object": "response", "output": [
            {"type": "web_search_call", "id": "w", "status": "completed"},
        ]});
        let config = json!({"function_name": "web_search", "pattern": "x"});
        let trace = trace.to_string();
        for id in ["function_call_output_contains", "function_call_output_not_contains"] {
            let outcome = grade(id, config.clone(), &trace);
            assert_eq!(outcome.verdict, Verdict::Unknown(Cause::MissingEvidence), "{id}");
            assert!(outcome.metrics.is_empty(), "{id}");
        }
    }

    #[test]
    fn a_bad_pattern_is_reported() {
        let config = json!({"function_name": "t", "pattern": "("});
        let said = complaints("function_call_output_contains", &config);
        assert_eq!(said.len(), 1);
        assert!(said[0].starts_with("not a regular expression"), "{said:?}");
    }
}
