//! Compares recorded answers of fifteen systems with those under their profiles.
//!
//! Every vector is tested end to end: its reference and options are the configuration of a
//! grader, its calls a trace that a reader parses. The outcome is then converted to
//! the format of the system, and compared with its recorded answer.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say so")]

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use toolmark_config::{Node, Problem};
use toolmark_match::Building;
use toolmark_outcome::{
    CaseContext, Environment, Outcome, Profile, Subject, TrajectoryView, Verdict,
};
use toolmark_peers::grader_by_id;
use toolmark_testing::{assert_compared, find_shared};
use toolmark_trace::{ReadOptions, read};

/// Minimum number of vectors per system.
const COUNTS: &[(&str, usize)] = &[
    ("adk", 9),
    ("agentevals", 24),
    ("agentv", 25),
    ("azure", 11),
    ("bfcl", 2),
    ("deepeval", 14),
    ("latticeflow", 16),
    ("mastra", 12),
    ("mlflow", 9),
    ("openevals", 8),
    ("promptfoo", 18),
    ("pydantic-evals", 12),
    ("ragas", 9),
    ("strands", 10),
    ("uipath", 6),
];

/// The grader, profile and configuration of a vector.
struct Question {
    grader: String,
    profile: Profile,
    config: Map<String, Value>,
}

fn text<'v>(vector: &'v Value, key: &str) -> &'v str {
    vector[key].as_str().unwrap()
}

fn calls(vector: &Value, key: &str) -> Vec<Value> {
    vector[key].as_array().cloned().unwrap_or_default()
}

fn question(vector: &Value) -> Question {
    let (peer, mode) = (text(vector, "peer"), text(vector, "mode"));
    let profile = Profile::from_word(peer).unwrap_or_else(|| panic!("no profile {peer}"));
    let own = vector["config"].as_object().unwrap().clone();
    let question = |grader: &str, config: Map<String, Value>| Question {
        grader: grader.to_owned(),
        profile,
        config,
    };
    let with = |more: Value| {
        let mut config = own.clone();
        config.extend(more.as_object().unwrap().clone());
        config
    };
    let matching = |mode: &str| {
        question(
            "trajectory-match",
            with(json!({"mode": mode, "reference": calls(vector, "reference")})),
        )
    };
    match (peer, mode) {
        ("agentv", mode) => {
            let expected: Vec<Value> = calls(vector, "reference").iter().map(agentv_call).collect();
            question("tool-trajectory", with(json!({"mode": mode, "expected": expected})))
        }
        ("latticeflow", mode @ ("any_order" | "in_order")) => {
            let required =
                calls(vector, "reference").into_iter().map(|call| match call.get("args") {
                    None => call["name"].clone(),
                    Some(args) => json!({"name": call["name"], "arguments": args}),
                });
            // As text, the way its task files have it.
            let list = Value::from_iter(required).to_string();
            question("function_call_coverage", with(json!({"function_calls": list, "mode": mode})))
        }
        ("latticeflow", scorer) => question(scorer, own),
        ("promptfoo", mode) => {
            let negate = mode.starts_with("not-");
            let grader = mode.trim_start_matches("not-");
            question(grader, with(json!({"negate": negate})))
        }
        ("adk", mode) => {
            let mut question = matching(mode);
            if let Some(invocations) = question.config.get_mut("invocations") {
                *invocations = json!(true);
            }
            question
        }
        ("deepeval", "tool_permission") => question("tool-permission", own),
        ("deepeval", "agent_loop_detection") => question("loop-detection", own),
        ("pydantic-evals", "ToolCorrectness") => matching("tool_correctness"),
        ("pydantic-evals", "MaxToolCalls") => question("call-counts", own),
        ("pydantic-evals", "ArgumentCorrectness") => question("call-arguments", own),
        ("pydantic-evals", mode) => matching(mode.trim_start_matches("TrajectoryMatch:")),
        ("uipath", "count") => question("call-counts", own),
        ("mastra", "efficiency") => question("step-efficiency", own),
        ("mastra", "tool_failures") => question("tool-retries", own),
        ("mastra", "blacklist") => question("tool-permission", own),
        (_, mode) => matching(mode),
    }
}

fn agentv_call(call: &Value) -> Value {
    let mut expected = json!({"tool": call["name"]});
    if let Some(args) = call.get("args") {
        expected["args"] = args.clone();
    }
    expected
}

/// Converts a call to the format of a row; missing values are omitted.
fn made(call: &Value) -> Value {
    let mut made = json!({"tool": call["name"]});
    for (key, name) in [("args", "input"), ("output", "output"), ("duration_ms", "duration_ms")] {
        if let Some(value) = call.get(key) {
            made[name] = value.clone();
        }
    }
    if call["error"] == true || call["success"] == false {
        made["status"] = json!("error");
    } else if call["success"] == true {
        made["status"] = json!("ok");
    }
    made
}

/// Groups neighbouring calls of one turn.
fn grouped(calls: &[Value]) -> Vec<&[Value]> {
    let together = |a: &Value, b: &Value| a.get("turn").is_some() && a.get("turn") == b.get("turn");
    calls.chunk_by(together).collect()
}

fn message(calls: &[Value]) -> Value {
    json!({"role": "assistant", "tool_calls": calls.iter().map(made).collect::<Value>()})
}

fn user() -> Value {
    json!({"role": "user", "content": "go"})
}

fn row(messages: Vec<Value>) -> String {
    json!({"id": "v", "output_messages": messages}).to_string()
}

/// Returns the calls in the format passed to the system.
fn trace(vector: &Value) -> String {
    let made_calls = calls(vector, "actual");
    let done = json!({"role": "assistant", "content": "done"});
    match (text(vector, "peer"), text(vector, "mode")) {
        ("latticeflow", _) => open_responses(&made_calls),
        ("agentv", _) => {
            let mut all = message(&made_calls);
            all["content"] = json!("done");
            row(vec![all])
        }
        ("promptfoo", "tool-call-f1" | "not-tool-call-f1") => row(vec![message(&made_calls)]),
        // Spans of tools and nothing else.
        ("promptfoo", _) => row(made_calls.chunks(1).map(message).collect()),
        ("adk", _) if vector["config"].get("invocations").is_some() => {
            let turn = |call: &Value| call["turn"].as_u64().unwrap_or(0);
            let most = calls(vector, "reference").iter().chain(&made_calls).map(turn).max();
            let named = vector["config"]["invocations"].as_u64().unwrap_or(0);
            let turns = named.max(most.map_or(1, |most| most + 1));
            let messages = (0..turns).flat_map(|at| {
                let of_turn = made_calls.iter().filter(|call| turn(call) == at);
                let calls = of_turn.map(|call| message(std::slice::from_ref(call)));
                std::iter::once(user()).chain(calls.collect::<Vec<_>>())
            });
            row(messages.collect())
        }
        _ => {
            let steps = grouped(&made_calls).into_iter().map(message);
            row(std::iter::once(user()).chain(steps).chain([done]).collect())
        }
    }
}

/// Builds a trace in the Open Responses format, as AI GO! reads it.
fn open_responses(calls: &[Value]) -> String {
    let mut items = vec![json!({
        "type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}],
    })];
    for (n, call) in calls.iter().enumerate() {
        let arguments = match &call["args"] {
            Value::Null => "{}".to_owned(),
            Value::String(text) => text.clone(),
            args => args.to_string(),
        };
        let id = format!("call_{n}");
        items.push(json!({
            "type": "function_call", "call_id": id, "name": call["name"], "arguments": arguments,
        }));
        if let Some(output) = call.get("output") {
            items.push(json!({"type": "function_call_output", "call_id": id, "output": output}));
        }
    }
    json!(items).to_string()
}

fn ask(question: &Question, trace: &str) -> Outcome {
    let info = grader_by_id(&question.grader)
        .unwrap_or_else(|| panic!("no grader is called {}", question.grader));
    let mut problems = Vec::new();
    let config = Value::Object(question.config.clone());
    let grader = (info.build)(&mut Building {
        config: &Node::from_json(&config).unwrap(),
        profile: question.profile,
        contrast: None,
        directory: Path::new("."),
        schemas: toolmark_match::call_match::compile_schema,
        problems: &mut problems,
    });
    assert!(!problems.iter().any(Problem::is_error), "{config}: {problems:?}");
    let stream = std::io::Cursor::new(trace.to_owned().into_bytes());
    let runs: Vec<_> = read(stream, "trace", &ReadOptions::default()).unwrap().collect();
    assert_eq!(runs.len(), 1, "{trace}");
    grader.unwrap().grade(&Subject {
        view: TrajectoryView::whole(&runs[0]),
        context: &CaseContext::default(),
        environment: &Environment::default(),
    })
}

/// Converts the outcome to the format of the system.
fn written(vector: &Value, outcome: &Outcome) -> Value {
    let passed = outcome.verdict == Verdict::Pass;
    let score = json!(outcome.score);
    let metric = |name: &str| outcome.metrics.get(name).cloned().unwrap_or_default();
    let expect = &vector["expect"];
    if matches!(outcome.verdict, Verdict::Unknown(_)) {
        // The words of an error are the system's own.
        return json!({"error": expect.get("error").cloned().unwrap_or_default()});
    }
    match (text(vector, "peer"), text(vector, "mode")) {
        ("agentevals" | "openevals", _)
        | ("pydantic-evals", "ToolCorrectness" | "MaxToolCalls" | "ArgumentCorrectness") => {
            json!(passed)
        }
        ("adk", _) => json!({"score": score, "status": if passed { "PASSED" } else { "FAILED" }}),
        ("deepeval", "tool_permission") => score,
        ("deepeval", "agent_loop_detection") => {
            json!({"score": score, "breakdown": metric("breakdown")})
        }
        ("deepeval", _) => json!({"score": score, "success": passed}),
        ("ragas" | "strands" | "uipath" | "pydantic-evals", _) => score,
        ("azure", _) => json!({
            "passed": passed, "precision": metric("precision"), "recall": metric("recall"), "f1": metric("f1"),
        }),
        ("mlflow", _) => metric("value"),
        ("promptfoo", _) => json!({"pass": passed, "score": score}),
        ("bfcl", _) => {
            let mut answer = json!({"valid": metric("valid")});
            if !metric("error_type").is_null() {
                answer["error_type"] = metric("error_type");
            }
            answer
        }
        ("mastra", "efficiency") => json!({"score": score, "redundant": metric("redundant")}),
        ("mastra", "tool_failures") => json!({
            "score": score, "totalRetries": metric("totalRetries"), "patterns": metric("patterns"),
        }),
        ("mastra", "blacklist") => json!({
            "score": score,
            "violatedTools": metric("violatedTools"),
            "violatedSequences": metric("violatedSequences"),
        }),
        ("mastra", _) => json!({
            "score": score,
            "missing": metric("missing"),
            "extra": metric("extra"),
            "outOfOrder": metric("out_of_order"),
        }),
        ("agentv", _) => {
            let of = |key: &str| match key {
                "score" => score.clone(),
                "passed" => metric("hits"),
                "failed" => metric("misses"),
                key => metric(key),
            };
            let keys = expect.as_object().unwrap().keys();
            keys.map(|key| (key.clone(), of(key))).collect::<Map<_, _>>().into()
        }
        ("latticeflow", _) => {
            // Its flag is the verdict.
            let flag = expect.as_object().unwrap().iter().find(|(_, value)| value.is_boolean());
            let flag = flag.map(|(name, _)| name.clone());
            let mut numbers = (*outcome.metrics).clone();
            if let Some(value) = flag.and_then(|name| numbers.get_mut(&name)) {
                *value = json!(passed);
            }
            Value::Object(numbers)
        }
        (peer, mode) => panic!("nothing says how {peer} writes {mode}"),
    }
}

/// Whether two values are equal except for the digits that the vectors omit.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            (a.as_f64().unwrap() - b.as_f64().unwrap()).abs() < 5.1e-7
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

#[test]
fn every_system_answers_as_its_own_code() {
    let Some(file) = find_shared("vectors/peer_vectors.json") else { return };
    let vectors: Vec<Value> = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for vector in &vectors {
        let outcome = ask(&question(vector), &trace(vector));
        let answer = written(vector, &outcome);
        *counts.entry(text(vector, "peer")).or_default() += 1;
        if !same(&answer, &vector["expect"]) {
            let reason = outcome.reason.raw();
            wrong.push(format!("{}: {answer} ({reason}), not {}", vector["id"], vector["expect"]));
        }
    }
    for (peer, least) in COUNTS {
        let count = counts.remove(peer).unwrap_or(0);
        assert_compared(count, *least, peer);
    }
    assert!(counts.is_empty(), "systems that are not counted: {counts:?}");
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), vectors.len(), wrong.join("\n"));
}
