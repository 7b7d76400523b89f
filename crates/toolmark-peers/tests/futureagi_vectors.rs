//! Compares answers under the profile `futureagi` with those of the library.
//!
//! Every vector is converted to a row, read by the reader for such rows and graded
//! by the grader of its metric.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say so")]

use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::Arc;
use toolmark_config::{Node, Problem};
use toolmark_grade::Grader;
use toolmark_match::Building;
use toolmark_outcome::{
    CaseContext, Cause, Environment, Outcome, Profile, Subject, TrajectoryView, Verdict,
};
use toolmark_peers::grader_by_id;
use toolmark_testing::{assert_compared, find_shared};
use toolmark_trace::{ReadOptions, read};

fn build(metric: &str, config: &Value) -> Arc<dyn Grader> {
    let mut problems = Vec::new();
    let grader = (grader_by_id(metric).unwrap().build)(&mut Building {
        config: &Node::from_json(config).unwrap(),
        profile: Profile::FutureAgi,
        contrast: None,
        directory: Path::new("."),
        schemas: toolmark_match::call_match::compile_schema,
        problems: &mut problems,
    });
    let errors: Vec<_> = problems.iter().filter(|problem| Problem::is_error(problem)).collect();
    assert!(errors.is_empty(), "{metric} {config}: {errors:?}");
    grader.unwrap()
}

fn grade(vector: &Value) -> Outcome {
    let mut config: Map<String, Value> = vector["config"].as_object().unwrap().clone();
    let definitions = config.remove("function_definitions");
    let mut row =
        json!({"id": vector["name"], "output": vector["output"], "expected": vector["expected"]});
    if let Some(definitions) = definitions {
        row["function_definitions"] = definitions;
    }
    asked(&build(vector["metric"].as_str().unwrap(), &Value::Object(config)), &row)
}

/// Returns the outcome of a grader for a row.
fn asked(grader: &Arc<dyn Grader>, row: &Value) -> Outcome {
    let text = std::io::Cursor::new(row.to_string());
    let run = read(text, "rows.jsonl", &ReadOptions::default()).unwrap().next().unwrap();
    assert_eq!(run.format, "call-rows");
    grader.grade(&Subject {
        view: TrajectoryView::whole(&run),
        context: &CaseContext::default(),
        environment: &Environment::default(),
    })
}

#[test]
fn the_library_answers_the_same() {
    let Some(file) = find_shared("vectors/futureagi_vectors.json") else { return };
    let vectors: Vec<Value> = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let mut wrong = Vec::new();
    for vector in &vectors {
        let outcome = grade(vector);
        let want = vector["score"].as_f64();
        let verdict = match want {
            None => Verdict::Unknown(Cause::Configuration),
            Some(score) => Verdict::of(score >= 0.5),
        };
        if (outcome.score, outcome.verdict) != (want, verdict) {
            wrong.push(format!("{}: {:?} instead of {want:?}", vector["name"], outcome.score));
        }
    }
    assert_compared(vectors.len(), 50, "vectors");
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), vectors.len(), wrong.join("\n"));
}

/// Returns the grader of a metric of the agents suite or the platform, and the mode if several
/// metrics
/// are one grader. The scanners inspect single texts, not runs, and have no grader.
fn grader_of(metric: &str) -> Option<(&str, Option<&str>)> {
    Some(match metric {
        "agents.tool_selection_accuracy" => ("tool-selection", None),
        "platform.trajectory_match" => ("trajectory-match", None),
        "platform.tool_call_accuracy" => ("trajectory-match", Some("tool_call_accuracy")),
        "platform.step_count" => ("call-counts", None),
        metric if metric.starts_with("scanner.") => return None,
        metric => (metric.strip_prefix("agents.").unwrap(), None),
    })
}

#[test]
fn the_suite_and_the_platform_answer_the_same() {
    let Some(file) = find_shared("vectors/futureagi_vectors_extra.json") else { return };
    let vectors: Vec<Value> = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let (mut compared, mut wrong) = (0, Vec::new());
    for vector in &vectors {
        let Some((grader, mode)) = grader_of(vector["metric"].as_str().unwrap()) else { continue };
        let mut config = vector["config"].as_object().unwrap().clone();
        config.extend(mode.map(|mode| ("mode".to_owned(), json!(mode))));
        let row = json!({"id": vector["name"], "output": vector["output"], "expected": vector["expected"]});
        let outcome = asked(&build(grader, &Value::Object(config)), &row);
        compared += 1;
        let want = vector["score"].as_f64().unwrap();
        let same = outcome.score.is_some_and(|score| (score - want).abs() < 1e-12);
        if !same || outcome.verdict != Verdict::of(want >= 0.5) {
            wrong.push(format!("{}: {:?} instead of {want}", vector["name"], outcome.score));
        }
    }
    assert_compared(compared, 31, "vectors");
    assert!(wrong.is_empty(), "{} of {compared}:\n{}", wrong.len(), wrong.join("\n"));
}
