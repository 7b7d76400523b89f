//! The result records of Microsoft Vally (`results.jsonl`): one `trial-result`
//! per outcome and one `run-summary` at the end.
//!
//! As in Vally, `gradeResult.passed` tells whether every grader passed; whether the
//! score reaches the threshold is reported separately, in the summary. These records have no
//! unknown verdict: an undecided grader has `status: error`, and
//! so has a trial without any decided grader.

use crate::grader_by_id;
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use toolmark_grade::Determinism;
use toolmark_outcome::{
    CaseResult, Cause, GraderResult, OutcomePart, Printable, RunResult, Verdict, reaches,
};
use toolmark_trace::{exporter_by_id, rewrite};

/// Returns the records of a run.
#[must_use]
pub fn records(run: &RunResult<Printable>, generated_at: Option<Timestamp>) -> Vec<Value> {
    let name = run.name.as_deref().unwrap_or(&run.spec);
    let trials = run.outcomes.iter().map(|result| trial(run, result, name, generated_at));
    trials.chain([summary(run, name)]).collect()
}

fn trial(
    run: &RunResult<Printable>,
    result: &CaseResult<Printable>,
    name: &str,
    generated_at: Option<Timestamp>,
) -> Value {
    let (status, error) = status(result);
    let mut record = json!({
        "type": "trial-result",
        "runId": &*run.spec,
        "evalName": name,
        "evalFilePath": &*run.spec,
        "stimulus": result.case,
        "trialIndex": result.trial,
        "status": status,
    });
    let Some(fields) = record.as_object_mut() else { return record };
    if let Some(error) = error {
        fields.insert("error".into(), json!(error));
    }
    let trace = result.trace.as_deref().zip(exporter_by_id("vally"));
    let mut lines = trace.map(|(trace, vally)| rewrite(trace, vally)).unwrap_or_default();
    let trajectory = lines.first_mut().map(|line| line["trajectory"].take());
    fields.insert("trajectory".into(), trajectory.unwrap_or_default());
    let graded = status != "skipped" && !result.graders.is_empty();
    let grade = if graded { grade(result, generated_at) } else { Value::Null };
    fields.insert("gradeResult".into(), grade);
    record
}

/// Returns the status of a trial, and the reason if it does not count.
fn status(result: &CaseResult<Printable>) -> (&'static str, Option<&str>) {
    match result.verdict {
        Verdict::Unknown(Cause::NoTrajectory | Cause::NotRun) => ("skipped", Some(&result.reason)),
        Verdict::Unknown(_) => ("error", Some(&result.reason)),
        Verdict::Pass | Verdict::Fail => ("success", None),
    }
}

fn grade(result: &CaseResult<Printable>, generated_at: Option<Timestamp>) -> Value {
    let total = result.graders.len();
    let passed = result.graders.iter().filter(|g| g.outcome.verdict == Verdict::Pass).count();
    let mut grade = Map::new();
    grade.insert("name".into(), json!(result.case));
    grade.insert("kind".into(), json!("code"));
    grade.insert("passed".into(), json!(passed == total));
    grade.insert("score".into(), json!(result.score));
    grade.insert("evidence".into(), json!(format!("{passed}/{total} graders passed")));
    if result.verdict.cause().is_some() {
        grade.insert("status".into(), json!("error"));
    }
    let details: Vec<Value> = result.graders.iter().map(grader).collect();
    grade.insert("details".into(), json!(details));
    grade.insert("stimulusName".into(), json!(result.case));
    let id = result.trajectory.as_ref().and_then(|source| source.id.as_deref());
    grade.insert("trajectoryId".into(), json!(id));
    if let Some(time) = generated_at {
        grade.insert("timestamp".into(), json!(time.to_string()));
    }
    Value::Object(grade)
}

fn grader(grader: &GraderResult<Printable>) -> Value {
    let outcome = &grader.outcome;
    let judged = grader_by_id(&grader.type_word)
        .is_some_and(|info| info.taxonomy.determinism == Determinism::Judge);
    let mut detail = Map::new();
    detail.insert("name".into(), json!(grader.name));
    detail.insert("kind".into(), json!(if judged { "llm" } else { "code" }));
    detail.insert("passed".into(), json!(outcome.verdict == Verdict::Pass));
    detail.insert("score".into(), json!(outcome.score));
    detail.insert("evidence".into(), json!(outcome.reason));
    if outcome.verdict.cause().is_some() {
        detail.insert("status".into(), json!("error"));
    }
    if !outcome.parts.is_empty() {
        let parts: Vec<Value> = outcome.parts.iter().map(part).collect();
        detail.insert("details".into(), json!(parts));
    }
    if !outcome.metrics.is_empty() {
        detail.insert("metadata".into(), json!(outcome.metrics));
    }
    detail.insert("graderType".into(), json!(grader.type_word));
    Value::Object(detail)
}

fn part(part: &OutcomePart<Printable>) -> Value {
    let score = match part.verdict {
        Verdict::Pass => Some(part.score.unwrap_or(1.0)),
        Verdict::Fail => Some(part.score.unwrap_or(0.0)),
        Verdict::Unknown(_) => None,
    };
    let mut detail = json!({
        "name": part.text,
        "kind": "code",
        "passed": part.verdict == Verdict::Pass,
        "score": score,
        "evidence": part.reason.as_deref().unwrap_or(&part.text),
    });
    if let (Some(_), Some(fields)) = (part.verdict.cause(), detail.as_object_mut()) {
        fields.insert("status".into(), json!("error"));
    }
    detail
}

fn summary(run: &RunResult<Printable>, name: &str) -> Value {
    let summary = &run.summary;
    let ran = run.cases.len() as u64 - not_run(run);
    let passed = summary.verdict == Verdict::Pass;
    let mut eval = json!({
        "name": name,
        "passed": match (summary.score, summary.threshold) {
            (Some(score), Some(threshold)) => reaches(score, threshold),
            _ => passed,
        },
        "scoringApplied": summary.threshold.is_some(),
        "overallScore": summary.score,
    });
    if let Some(fields) = eval.as_object_mut() {
        if let Some(threshold) = summary.threshold {
            fields.insert("threshold".into(), json!(threshold));
        }
        fields.insert("stimuliRun".into(), json!(ran));
        fields.insert("stimuliTotal".into(), json!(run.cases.len()));
        fields.insert("stimuliSkipped".into(), json!(not_run(run)));
    }
    json!({
        "type": "run-summary",
        "runId": &*run.spec,
        "passed": passed,
        "hadExecutionErrors": run.outcomes.iter().any(|result| status(result).0 == "error"),
        "evals": [eval],
    })
}

/// Returns the number of cases that were not run.
fn not_run(run: &RunResult<Printable>) -> u64 {
    run.outcomes.iter().filter(|result| status(result).0 == "skipped").count() as u64
}
