//! Reads results back from their JSON form.
//!
//! `toolmark run` stores the result of every trial, so that a run that is resumed or
//! inspected later does not repeat any grader, program or judge. The position of a case or a
//! grader in the spec is not stored, because the caller has the plan.

use crate::evidence::{CallRef, Evidence, EvidenceRole};
use crate::explanation::{Explanation, ExplanationRow, RowState};
use crate::outcome::{Cause, Contrast, Outcome, OutcomePart, Verdict};
use crate::place::{SpecPlace, TracePlace};
use crate::profile::Profile;
use crate::result::{CaseResult, GraderResult, Took, TrajectorySource};
use serde_json::Value;
use toolmark_redact::Untrusted;
use toolmark_trace::{Status, format_by_id};

impl CaseResult {
    /// Restores a result from the serialized form of [`CaseResult`], or returns `None` if the
    /// value is not one.
    #[must_use]
    pub fn restore(value: &Value) -> Option<Self> {
        let graders = value.get("graders")?.as_array()?;
        Some(Self {
            case: text(value, "case")?,
            case_index: usize::MAX,
            target: text(value, "target"),
            trajectory: value.get("trajectory").and_then(source),
            asked: None,
            trial: number(value, "trial")?,
            verdict: verdict(value)?,
            score: value.get("score").and_then(Value::as_f64),
            reason: text(value, "reason")?,
            graders: graders.iter().map(grader).collect::<Option<_>>()?,
            place: SpecPlace::default(),
            timeline: None,
            trace: None,
        })
    }
}

fn text(value: &Value, key: &str) -> Option<Untrusted> {
    value.get(key)?.as_str().map(Untrusted::from)
}

fn texts(value: &Value, key: &str) -> Vec<Untrusted> {
    let items = value.get(key).and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(Untrusted::from).collect()
}

fn number<N: TryFrom<u64>>(value: &Value, key: &str) -> Option<N> {
    N::try_from(value.get(key)?.as_u64()?).ok()
}

fn list<T>(value: &Value, key: &str, read: fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    value.get(key).and_then(Value::as_array).into_iter().flatten().map(read).collect()
}

fn verdict(value: &Value) -> Option<Verdict> {
    match value.get("verdict")?.as_str()? {
        "pass" => Some(Verdict::Pass),
        "fail" => Some(Verdict::Fail),
        "unknown" => {
            let cause = value.get("cause").and_then(Value::as_str).and_then(Cause::from_word);
            Some(Verdict::Unknown(cause.unwrap_or(Cause::MissingEvidence)))
        }
        _ => None,
    }
}

fn source(value: &Value) -> Option<TrajectorySource> {
    let format = value.get("format")?.as_str()?;
    Some(TrajectorySource {
        id: text(value, "id"),
        name: text(value, "name"),
        source: value.get("source")?.as_str()?.to_owned().into(),
        format: format_by_id(format).map_or("unknown", |format| format.info().id),
        duration_ms: value.get("duration_ms").and_then(Value::as_f64),
        took: Took {
            calls: number(value, "calls"),
            tokens: number(value, "tokens"),
            cost_usd: value.get("cost_usd").and_then(Value::as_f64),
        },
    })
}

fn grader(value: &Value) -> Option<GraderResult> {
    let metrics = value.get("metrics").and_then(Value::as_object).cloned();
    Some(GraderResult {
        name: text(value, "name")?,
        type_word: text(value, "type")?,
        profile: profile(value)?,
        weight: value.get("weight")?.as_f64()?,
        required: value.get("required").and_then(Value::as_bool).unwrap_or(false),
        place: SpecPlace::default(),
        outcome: Outcome {
            verdict: verdict(value)?,
            score: value.get("score").and_then(Value::as_f64),
            reason: text(value, "reason")?,
            evidence: list(value, "evidence", evidence)?,
            metrics: metrics.unwrap_or_default().into(),
            parts: list(value, "parts", part)?,
            explanation: value.get("explanation").map(explanation),
            contrast: value.get("contrast").and_then(contrast),
            notes: texts(value, "notes"),
        },
    })
}

fn profile(value: &Value) -> Option<Profile> {
    Profile::from_word(value.get("profile")?.as_str()?)
}

fn contrast(value: &Value) -> Option<Contrast> {
    Some(Contrast {
        profile: profile(value)?,
        verdict: verdict(value)?,
        score: value.get("score").and_then(Value::as_f64),
        reason: text(value, "reason")?,
    })
}

fn part(value: &Value) -> Option<OutcomePart> {
    Some(OutcomePart {
        text: text(value, "text")?,
        verdict: verdict(value)?,
        score: value.get("score").and_then(Value::as_f64),
        reason: text(value, "reason"),
    })
}

fn evidence(value: &Value) -> Option<Evidence> {
    let word = value.get("role")?.as_str()?;
    Some(Evidence {
        role: EvidenceRole::ALL.iter().copied().find(|role| role.word() == word)?,
        text: text(value, "text")?,
        call: value.get("call").and_then(call),
        place: value.get("place").and_then(place),
        excerpt: text(value, "excerpt"),
    })
}

fn call(value: &Value) -> Option<CallRef> {
    let status = value.get("status")?.as_str()?;
    Some(CallRef {
        index: number(value, "index")?,
        step: number(value, "step"),
        id: text(value, "id"),
        tool: text(value, "tool")?,
        args: text(value, "args"),
        status: Status::from_word(status).map_or("unknown", Status::word),
        place: value.get("place").and_then(place),
    })
}

fn place(value: &Value) -> Option<TracePlace> {
    Some(TracePlace {
        file: value.get("file")?.as_str()?.to_owned().into(),
        line: number(value, "line")?,
        column: number(value, "column")?,
        byte: number(value, "byte")?,
    })
}

fn explanation(value: &Value) -> Explanation {
    let rows = value.get("rows").and_then(Value::as_array).into_iter().flatten();
    Explanation {
        rows: rows.filter_map(row).collect(),
        elided: number(value, "elided").unwrap_or_default(),
        divergence: number(value, "divergence"),
        repair: texts(value, "repair"),
    }
}

fn row(value: &Value) -> Option<ExplanationRow> {
    let word = value.get("state")?.as_str()?;
    let states = [
        RowState::Matched,
        RowState::Mismatched,
        RowState::Missing,
        RowState::Skipped,
        RowState::Extra,
        RowState::Forbidden,
        RowState::Unknown,
    ];
    Some(ExplanationRow {
        expected: text(value, "expected"),
        call: value.get("call").and_then(call),
        state: states.into_iter().find(|state| state.word() == word)?,
        why: text(value, "why"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolmark_redact::Redactor;

    #[test]
    fn what_is_written_is_read_back() {
        let place = TracePlace { file: "t.jsonl".into(), line: 2, column: 3, byte: 40 };
        let call = CallRef {
            index: 1,
            step: Some(2),
            id: Some("c1".into()),
            tool: "Bash".into(),
            args: Some("{}".into()),
            status: "failed",
            place: Some(place.clone()),
        };
        let row = ExplanationRow {
            expected: Some("a".into()),
            call: Some(call.clone()),
            state: RowState::Mismatched,
            why: Some("b".into()),
        };
        let mut outcome = Outcome::scored(Verdict::Fail, 0.5, "why");
        outcome.evidence = vec![Evidence {
            role: EvidenceRole::Mismatch,
            text: "x".into(),
            call: Some(call),
            place: Some(place),
            excerpt: Some("y".into()),
        }];
        outcome.metrics.insert("n".to_owned(), 3.into());
        let mut part = OutcomePart::new("p", Verdict::Unknown(Cause::MissingEvidence));
        part.reason = Some("r".into());
        outcome.parts = vec![part];
        outcome.explanation = Some(Explanation {
            rows: vec![row],
            elided: 2,
            divergence: Some(0),
            repair: vec!["do".into()],
        });
        outcome.contrast = Some(Contrast {
            profile: Profile::Vally,
            verdict: Verdict::Pass,
            score: Some(1.0),
            reason: "other".into(),
        });
        outcome.notes = vec!["note".into()];
        let result = CaseResult {
            case: "c".into(),
            case_index: usize::MAX,
            target: Some("t".into()),
            trajectory: Some(TrajectorySource {
                id: Some("id".into()),
                name: None,
                source: "t.jsonl".into(),
                format: "claude-code",
                duration_ms: Some(5.0),
                took: Took { calls: Some(2), tokens: Some(70), cost_usd: Some(0.25) },
            }),
            asked: None,
            trial: 2,
            verdict: Verdict::Unknown(Cause::RateLimit),
            score: None,
            reason: "because".into(),
            graders: vec![GraderResult {
                name: "g".into(),
                type_word: "expect".into(),
                profile: Profile::Toolmark,
                weight: 2.0,
                required: true,
                place: SpecPlace::default(),
                outcome,
            }],
            place: SpecPlace::default(),
            timeline: None,
            trace: None,
        };
        let redacted = |result: &CaseResult| {
            serde_json::to_value(result.clone().redact(Redactor::new(true))).unwrap()
        };
        let written = redacted(&result);
        let restored = CaseResult::restore(&written).unwrap();
        assert_eq!(redacted(&restored), written);
        for broken in ["{}", "[]", r#"{"case": "c", "graders": [{}]}"#] {
            assert!(CaseResult::restore(&serde_json::from_str(broken).unwrap()).is_none());
        }
    }
}
