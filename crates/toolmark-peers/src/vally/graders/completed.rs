//! `completed` and `exit-success`: check that the run ended successfully.

use super::observed::is_vally;
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;
use toolmark_grade::{Grader, GraderInfo, Taxonomy, schema_of};
use toolmark_outcome::Profile;
use toolmark_outcome::Subject;
use toolmark_outcome::TrajectoryView;
use toolmark_outcome::{Cause, Outcome, OutcomePart, Verdict};
use toolmark_outcome::{Evidence, EvidenceRole, Untrusted};
use toolmark_trace::{EventKind, Fact};

/// No configuration.
#[derive(Debug, Default, Deserialize, JsonSchema)]
struct CompletedNoConfig {}

pub(crate) static COMPLETED: GraderInfo = GraderInfo {
    id: "completed",
    aliases: &[],
    origin: "vally",
    summary: "checks that the run ended with an answer and without errors",
    docs: "Checks whether the run completed. Three things must hold: the final answer is not empty, there was no error event, and at least one response of the model was complete (`turn_end` in a Vally trajectory).

An answer that is only white space is empty. A failed tool call is not an error of the run. There is nothing to configure.",
    example: "type: completed",
    taxonomy: Taxonomy::TRAJECTORY,
    profiles: &[Profile::Vally],
    schema: schema_of::<CompletedNoConfig>,
    build: |building| {
        if !building.config.is_null() {
            building.read::<CompletedNoConfig>()?;
        }
        Some(Arc::new(Completed))
    },
};

pub(crate) static EXIT_SUCCESS: GraderInfo = GraderInfo {
    id: "exit-success",
    aliases: &[],
    origin: "vally",
    summary: "checks that the final answer is not empty",
    docs: "Passes if the final answer is not empty. That is all it asks: see `completed` for a run without errors. An answer of \
white space alone is empty. There is nothing to configure.",
    example: "type: exit-success",
    taxonomy: Taxonomy::OUTPUT,
    profiles: &[Profile::Vally],
    schema: schema_of::<CompletedNoConfig>,
    build: |building| {
        if !building.config.is_null() {
            building.read::<CompletedNoConfig>()?;
        }
        Some(Arc::new(ExitSuccess))
    },
};

struct Completed;
struct ExitSuccess;

/// One condition: its description, result, reason, and evidence.
struct Condition {
    part: OutcomePart,
    evidence: Vec<Evidence>,
}

impl Condition {
    fn new(text: &str, verdict: Verdict, reason: impl Into<Untrusted>) -> Self {
        let part = OutcomePart { reason: Some(reason.into()), ..OutcomePart::new(text, verdict) };
        Self { part, evidence: Vec::new() }
    }
}

impl Grader for ExitSuccess {
    fn grade(&self, subject: &Subject<'_>) -> Outcome {
        outcome([answered(&subject.view)])
    }
}

impl Grader for Completed {
    fn grade(&self, subject: &Subject<'_>) -> Outcome {
        let view = &subject.view;
        outcome([answered(view), without_errors(view), ended(view)])
    }
}

fn outcome<const N: usize>(conditions: [Condition; N]) -> Outcome {
    let verdict = conditions.iter().fold(Verdict::Pass, |verdict, c| verdict.and(c.part.verdict));
    let against: Vec<&str> = conditions
        .iter()
        .filter(|c| c.part.verdict == verdict && verdict != Verdict::Pass)
        .filter_map(|c| c.part.reason.as_ref().map(|text| text.raw()))
        .collect();
    let mut outcome = match verdict {
        Verdict::Unknown(cause) => Outcome::unknown(cause, against.join("; ")),
        Verdict::Pass if N == 1 => Outcome::binary(true, "the agent gave an answer"),
        Verdict::Pass => Outcome::binary(true, "an answer, no errors, and an end"),
        Verdict::Fail => Outcome::binary(false, against.join("; ")),
    };
    for condition in conditions {
        outcome.evidence.extend(condition.evidence);
        if N > 1 {
            outcome.parts.push(condition.part);
        }
    }
    outcome
}

fn answered(view: &TrajectoryView<'_>) -> Condition {
    let text = "the final answer is not empty";
    match view.output() {
        Err(missing) => Condition::new(text, Verdict::Unknown(Cause::MissingEvidence), missing.0),
        Ok(output) if output.trim().is_empty() => Condition {
            evidence: vec![Evidence::absence("a final answer")],
            ..Condition::new(text, Verdict::Fail, "no output")
        },
        Ok(output) => Condition {
            evidence: vec![
                Evidence::words(EvidenceRole::Matched, "final answer").with_excerpt(&output),
            ],
            ..Condition::new(text, Verdict::Pass, "there is an answer")
        },
    }
}

fn without_errors(view: &TrajectoryView<'_>) -> Condition {
    let events: Vec<_> = view.events_of(EventKind::Error).collect();
    let stated = view.trajectory().stated.errors.filter(|_| view.turn_index().is_none());
    let errors = stated.unwrap_or(0).max(events.len() as u64);
    let reason = match errors {
        0 => "no error events".to_owned(),
        1 => "1 error event".to_owned(),
        errors => format!("{errors} error events"),
    };
    let shown = events.iter().take(10);
    Condition {
        evidence: shown.map(|e| view.event_evidence(EvidenceRole::Violation, "error", e)).collect(),
        ..Condition::new("there was no error", Verdict::of(errors == 0), reason)
    }
}

fn ended(view: &TrajectoryView<'_>) -> Condition {
    let text = "a response came to its end";
    let trajectory = view.trajectory();
    let ended = if is_vally(view) {
        let is_end = |kind: &EventKind| matches!(kind, EventKind::Note(r) if *r == "turn_end");
        view.events().iter().any(|event| is_end(&event.kind))
    } else if trajectory.fidelity.lacks(Fact::Steps) {
        let why = "the trace does not record where responses of the model end";
        return Condition::new(text, Verdict::Unknown(Cause::MissingEvidence), why);
    } else {
        let mut steps = view.steps().into_iter().filter_map(|s| trajectory.steps.get(s as usize));
        steps.any(|step| step.complete)
    };
    match ended {
        true => Condition::new(text, Verdict::Pass, "a response came to its end"),
        false => Condition {
            evidence: vec![Evidence::absence("the end of a response (turn_end)")],
            ..Condition::new(text, Verdict::Fail, "no turn_end")
        },
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{complaints, grade, vally_with};
    use serde_json::{Value, json};
    use toolmark_outcome::Verdict;

    fn trace(output: &str, error: bool, end: bool, more: Value) -> String {
        let mut events = vec![
            ("turn_start", json!({"turnId": "0"})),
            ("assistant_message", json!({"content": output})),
        ];
        if end {
            events.push(("turn_end", json!({"turnId": "0"})));
        }
        if error {
            events.push(("error", json!({"message": "limit"})));
        }
        vally_with(&events, more)
    }

    #[test]
    fn three_things_must_hold() {
        for (output, error, end, verdict, reason) in [
            ("done", false, true, Verdict::Pass, "an answer, no errors, and an end"),
            ("", false, true, Verdict::Fail, "no output"),
            (" \n", false, true, Verdict::Fail, "no output"),
            ("done", true, true, Verdict::Fail, "1 error event"),
            ("done", false, false, Verdict::Fail, "no turn_end"),
            ("", true, false, Verdict::Fail, "no output; 1 error event; no turn_end"),
        ] {
            let outcome = grade("completed", json!({}), &trace(output, error, end, json!({})));
            assert_eq!((outcome.verdict, outcome.reason.raw()), (verdict, reason));
            assert_eq!(outcome.parts.len(), 3);
        }
    }

    #[test]
    fn exit_success_asks_for_an_answer_only() {
        for (output, verdict) in
            [("done", Verdict::Pass), ("", Verdict::Fail), ("  ", Verdict::Fail)]
        {
            let outcome = grade("exit-success", json!({}), &trace(output, true, false, json!({})));
            assert_eq!(outcome.verdict, verdict, "{output:?}");
        }
    }

    #[test]
    fn a_stated_output_and_stated_errors_count() {
        let stated = trace("", false, true, json!({"output": "done"}));
        assert_eq!(grade("completed", json!({}), &stated).verdict, Verdict::Pass);
        let errors = trace("done", false, true, json!({"metrics": {"errorCount": 2}}));
        assert_eq!(grade("completed", json!({}), &errors).reason, "2 error events");
    }

    #[test]
    fn other_formats_end_their_responses_in_their_own_way() {
        let trace = r#"{"role":"user","content":"hi"}
{"role":"assistant","content":"hello"}"#;
        let outcome = grade("completed", json!({}), trace);
        assert_eq!(outcome.verdict, Verdict::Pass, "{outcome:?}");
    }

    #[test]
    fn there_is_nothing_to_configure() {
        assert!(complaints("completed", &json!(null)).is_empty());
        assert!(complaints("completed", &json!({"max": 1})).join("").contains("unknown key"));
        assert!(complaints("exit-success", &json!({"x": 1})).join("").contains("unknown key"));
    }
}
