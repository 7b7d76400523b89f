//! Compares AgentV's recorded answers with those under its profiles.
//!
//! Every vector is tested end to end: the evaluator is in a spec, the calls in
//! a row that the reader of AgentV's files parses.

#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test stops where it cannot go on, and says what it skips"
)]

use serde_json::{Value, json};
use std::path::Path;
use toolmark_config::{Node, Problem};
use toolmark_grade::{Dialect, LoadOptions, Loading};
use toolmark_grade::{Grading, Plan, RunSelection};
use toolmark_outcome::{CaseResult, Environment, Profile, Verdict};
use toolmark_testing::find_shared;
use toolmark_trace::{ReadOptions, read};

/// Returns the vectors of a file.
#[track_caller]
fn vectors(name: &str) -> Option<Vec<Value>> {
    let file = find_shared(&format!("vectors/{name}"))?;
    Some(serde_json::from_slice(&std::fs::read(file).unwrap()).expect("a list of vectors"))
}

fn plan(spec: &Value, profile: Profile) -> Result<Plan, Vec<Problem>> {
    let options = LoadOptions { profile: Some(profile), ..LoadOptions::default() };
    let mut loading =
        Loading::new("spec".into(), "", Path::new("."), &options, toolmark_peers::ALL);
    let root = Node::from_json(spec).expect("a spec");
    let plan = toolmark_peers::AgentV.load(&root, &mut loading);
    match plan {
        Some(plan) if !loading.problems.iter().any(Problem::is_error) => Ok(plan),
        _ => Err(loading.problems),
    }
}

fn ask(
    evaluators: &Value,
    threshold: Option<&Value>,
    row: &Value,
    profile: Profile,
) -> Result<CaseResult, Vec<Problem>> {
    let case = json!({"id": "v", "criteria": "c", "input": "i", "assertions": evaluators});
    let mut spec = json!({"tests": [case]});
    if let Some(threshold) = threshold {
        spec["execution"] = json!({"threshold": threshold});
    }
    let plan = plan(&spec, profile)?;
    let grading = Grading::new(&plan, None, Environment::default(), RunSelection::default());
    let stream = std::io::Cursor::new(row.to_string().into_bytes());
    let runs: Vec<_> = read(stream, "row", &ReadOptions::default()).expect("a trace").collect();
    assert_eq!(runs.len(), 1, "{row}");
    Ok(grading.grade(&runs[0]).expect("the case of the row"))
}

fn row(vector: &Value) -> Value {
    let messages = match vector.get("messages") {
        Some(messages) => messages.clone(),
        None => {
            json!([{"role": "assistant", "content": "done", "tool_calls": vector["tool_calls"]}])
        }
    };
    let mut row = json!({"id": "v", "output_messages": messages});
    if let Some(context) = vector.get("context").and_then(Value::as_object) {
        row.as_object_mut().unwrap().extend(context.clone());
    }
    row
}

fn profiles(word: &str) -> Vec<Profile> {
    match word {
        "v1" => vec![Profile::AgentV1],
        "v2" => vec![Profile::AgentV2],
        "v5" => vec![Profile::AgentV5],
        "both" => vec![Profile::AgentV1, Profile::AgentV2],
        other => panic!("unknown profile {other}"),
    }
}

fn close(a: Option<f64>, b: &Value) -> bool {
    matches!((a, b.as_f64()), (Some(a), Some(b)) if (a - b).abs() < 1e-9)
}

/// Returns the differences from AgentV's answer.
fn differences(vector: &Value, profile: Profile) -> Vec<String> {
    let expect = &vector["expect"];
    let result = ask(&json!([vector["evaluator"]]), None, &row(vector), profile);
    let outcome = match (result, expect.get("skipped_on_load")) {
        (Err(_), Some(_)) => return Vec::new(),
        (Ok(_), Some(_)) => return vec!["was built, AgentV does not load it".into()],
        (Err(problems), None) => {
            return problems.into_iter().map(|problem| problem.message).collect();
        }
        (Ok(mut result), None) => result.graders.remove(0).outcome,
    };
    let mut wrong = Vec::new();
    if !close(outcome.score, &expect["score"]) {
        wrong.push(format!("score {:?}, not {}", outcome.score, expect["score"]));
    }
    let verdict = Verdict::of(expect["verdict"] == "pass");
    if outcome.verdict != verdict || outcome.metrics.get("verdict") != Some(&expect["verdict"]) {
        let word = outcome.metrics.get("verdict");
        wrong.push(format!("{:?} ({word:?}), not {}", outcome.verdict, expect["verdict"]));
    }
    for (key, metric) in [("passed", "hits"), ("failed", "misses"), ("aspects", "aspects")] {
        if let Some(n) = expect.get(key)
            && outcome.metrics.get(metric) != Some(n)
        {
            wrong.push(format!("{metric} {:?}, not {n}", outcome.metrics.get(metric)));
        }
    }
    if expect.get("error").is_some() && outcome.metrics.get("error") != Some(&json!(true)) {
        wrong.push("no error".into());
    }
    wrong
}

/// Asserts that all vectors of a file were tested, and that none differs.
fn conclude(what: &str, ran: usize, all: usize, wrong: &[String]) {
    println!("ran {ran} of {all} vectors of {what}");
    assert!(ran == all && ran > 0, "only {ran} of {all} ran");
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn graders() {
    let Some(vectors) = vectors("agentv_vectors.json") else { return };
    let (mut ran, mut wrong) = (0, Vec::new());
    for vector in &vectors {
        let profiles = profiles(vector["profile"].as_str().unwrap());
        ran += usize::from(!profiles.is_empty());
        for profile in profiles {
            let differs = differences(vector, profile);
            if !differs.is_empty() {
                wrong.push(format!("{} ({profile}): {}", vector["name"], differs.join("; ")));
            }
        }
    }
    conclude("graders", ran, vectors.len(), &wrong);
}

#[test]
fn cases() {
    let Some(vectors) = vectors("agentv_case_vectors.json") else { return };
    let (mut ran, mut wrong) = (0, Vec::new());
    for vector in &vectors {
        ran += 1;
        for profile in profiles(vector["profile"].as_str().unwrap()) {
            let expect = &vector["expect"];
            let asked = ask(&vector["evaluators"], vector.get("threshold"), &row(vector), profile);
            let result = match asked {
                Ok(result) => result,
                Err(problems) => {
                    wrong.push(format!("{}: {problems:?}", vector["name"]));
                    continue;
                }
            };
            let verdict = Verdict::of(expect["execution_status"] == "ok");
            if !close(result.score, &expect["score"]) || result.verdict != verdict {
                let (score, verdict) = (result.score, result.verdict);
                wrong.push(format!("{}: {score:?} {verdict:?}, not {expect}", vector["name"]));
            }
        }
    }
    conclude("cases", ran, vectors.len(), &wrong);
}
