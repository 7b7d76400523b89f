//! AgentV's result rows (`index.jsonl`, version 2): one per outcome.
//!
//! AgentV requires a numeric score in each row: an unknown outcome scores 0
//! and is an `execution_error`, so that it is not mistaken for a measured score.

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use toolmark_outcome::{
    CaseResult, Evidence, GraderResult, Outcome, Printable, RunResult, Verdict,
};
use toolmark_trace::{exporter_by_id, rewrite};

/// Returns the rows of a run.
#[must_use]
pub fn rows(run: &RunResult<Printable>, generated_at: Option<Timestamp>) -> Vec<Value> {
    let cases = run.outcomes.chunk_by(|a, b| a.case_index == b.case_index);
    let row_of = |trials: &[CaseResult<Printable>]| {
        let several = trials.len() > 1;
        trials.iter().map(|result| row(run, result, several, generated_at)).collect::<Vec<_>>()
    };
    cases.flat_map(row_of).collect()
}

fn row(
    run: &RunResult<Printable>,
    result: &CaseResult<Printable>,
    several: bool,
    generated_at: Option<Timestamp>,
) -> Value {
    let mut row = Map::new();
    if let Some(time) = generated_at {
        row.insert("timestamp".into(), json!(time.to_string()));
    }
    row.insert("test_id".into(), json!(result.case));
    row.insert("suite".into(), json!(run.name.as_deref().unwrap_or(&run.spec)));
    if several {
        row.insert("attempt".into(), json!(result.trial));
    }
    row.insert("score".into(), json!(result.score.unwrap_or(0.0)));
    if let Some(source) = &result.trajectory {
        let target = result.target.as_deref().unwrap_or(source.format);
        row.insert("target".into(), json!(target));
        row.insert("transcript_path".into(), json!(&*source.source));
        if let Some(millis) = source.duration_ms {
            row.insert("duration_ms".into(), json!(millis));
        }
    }
    let scores: Vec<Value> = result.graders.iter().map(score).collect();
    row.insert("scores".into(), json!(scores));
    let status = match result.verdict {
        Verdict::Pass => "ok",
        Verdict::Fail => "quality_failure",
        Verdict::Unknown(_) => "execution_error",
    };
    row.insert("execution_status".into(), json!(status));
    if let Some(cause) = result.verdict.cause() {
        let stage = if cause.is_ungraded() { "agent" } else { "evaluator" };
        row.insert("failure_stage".into(), json!(stage));
        row.insert("failure_reason_code".into(), json!(cause.word()));
        row.insert("error".into(), json!(result.reason));
    }
    if let Some((trace, agentv)) = result.trace.as_deref().zip(exporter_by_id("agentv")) {
        made(rewrite(trace, agentv), &mut row);
    }
    Value::Object(row)
}

/// Adds the agent's actions to a row: the lines of a transcript become its messages,
/// and their totals become fields of the row.
fn made(lines: Vec<Value>, row: &mut Map<String, Value>) {
    let totals = ["token_usage", "cost_usd", "duration_ms"];
    let mut messages = Vec::new();
    for line in lines {
        let Value::Object(line) = line else { continue };
        for (key, value) in &line {
            let total = key.strip_prefix("transcript_").filter(|key| totals.contains(key));
            if let Some(total) = total.filter(|_| !value.is_null()) {
                row.insert(total.to_owned(), value.clone());
            }
        }
        let is_message = |key: &String| matches!(key.as_str(), "role" | "content" | "tool_calls");
        messages.push(line.into_iter().filter(|(key, _)| is_message(key)).collect::<Value>());
    }
    row.insert("output".into(), Value::Array(messages));
}

fn score(grader: &GraderResult<Printable>) -> Value {
    let outcome = &grader.outcome;
    let verdict = match outcome.verdict {
        Verdict::Pass => "pass",
        Verdict::Fail => "fail",
        Verdict::Unknown(_) => "skip",
    };
    let mut score = json!({
        "name": grader.name,
        "type": grader.type_word,
        "score": outcome.score.unwrap_or(0.0),
        "weight": grader.weight,
        "verdict": verdict,
        "assertions": assertions(outcome),
    });
    if let (false, Some(fields)) = (outcome.metrics.is_empty(), score.as_object_mut()) {
        fields.insert("details".into(), json!(outcome.metrics));
    }
    score
}

/// Returns the parts of a grader; a grader without parts asserts its own reason.
fn assertions(outcome: &Outcome<Printable>) -> Vec<Value> {
    if outcome.parts.is_empty() {
        let mut whole = assertion(&outcome.reason, outcome.verdict, None);
        let evidence: Vec<Printable> = outcome.evidence.iter().map(Evidence::summary).collect();
        if let (false, Some(fields)) = (evidence.is_empty(), whole.as_object_mut()) {
            fields.insert("evidence".into(), json!(Printable::join(&evidence, "; ")));
        }
        return vec![whole];
    }
    let parts = outcome.parts.iter();
    parts.map(|part| assertion(&part.text, part.verdict, part.reason.as_deref())).collect()
}

fn assertion(text: &str, verdict: Verdict, evidence: Option<&str>) -> Value {
    let mut assertion = json!({ "text": text, "passed": verdict == Verdict::Pass });
    if let (Some(evidence), Some(fields)) = (evidence, assertion.as_object_mut()) {
        fields.insert("evidence".into(), json!(evidence));
    }
    assertion
}
