//! Tests of evaluators on arriving and on stored sessions.

use super::{binary, log, request, sample, start, watched};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Output;

const CONFIG: &str = "
serve:
  evaluate:
    - on: {tool: Bash}
      run: [rules, {type: expect, name: no-rm, config: {forbidden: [{tool: Bash, where: {command: {regex: 'rm -rf'}}}]}}]
    - on: {kind: session, service: 'claude*'}
      run: [rules]
    - on: {tool: Edit, status: failed}
      run: [R]
";

fn evaluate(config: &Path, db: &str) -> Output {
    let mut command = binary();
    command.args(["serve", "evaluate", "--db", db, "--config"]).arg(config);
    command.output().unwrap()
}

fn sum<'a>(answers: &'a Value, evaluator: &str) -> &'a Value {
    let rows = answers["evaluators"].as_array().unwrap();
    rows.iter().find(|row| row["evaluator"] == evaluator).unwrap_or_else(|| panic!("{answers}"))
}

#[test]
fn calls_are_evaluated_where_they_land() {
    let (dir, folder, db) = watched();
    let config = dir.path().join("toolmark.yaml");
    fs::write(&config, CONFIG).unwrap();
    fs::write(Path::new(&folder).join("disk-full.jsonl"), sample()).unwrap();
    let file = config.to_string_lossy().into_owned();
    let served = start(dir.path(), &["--watch", &folder, "--db", &db, "--config", &file]);
    let answers = served.wait("/api/v1/evaluations?limit=1000", |answers| {
        let names = answers["evaluators"].as_array().unwrap();
        names.iter().any(|row| row["evaluator"] == "no-rm")
    });
    // The one destructive command of the sample is the one that fails.
    let no_rm = sum(&answers, "no-rm");
    assert_eq!((&no_rm["fail"], &no_rm["unknown"]), (&json!(1), &json!(0)), "{no_rm}");
    let row = served.get("/api/v1/evaluations?evaluator=no-rm&verdict=fail").json();
    let (session, call_id) = (&row["items"][0]["session"], &row["items"][0]["call_id"]);
    let session = session.as_str().unwrap();
    let whole = served.get(&format!("/api/v1/sessions/{session}")).json();
    assert_eq!(whole["evaluations"][0]["verdict"], "fail", "{whole}");
    let call = (1..=whole["calls"].as_u64().unwrap())
        .map(|n| served.get(&format!("/api/v1/sessions/{session}/calls/{n}")).json())
        .find(|call| call["call_id"] == *call_id)
        .unwrap();
    assert!(call["arguments"]["command"].as_str().unwrap().contains("rm -rf"), "{call}");
    let by = |name: &str| {
        let all = call["evaluations"].as_array().unwrap();
        all.iter().find(|one| one["evaluator"] == name).unwrap()["verdict"].clone()
    };
    assert_eq!((by("no-rm"), by("rules")), (json!("fail"), json!("fail")));
    // Asking again changes nothing.
    let marked = [("X-Toolmark", "1")];
    let queued = request(&served.ui, "POST", "/api/v1/evaluate", &marked, b"");
    assert_eq!((queued.status, &queued.json()["queued"]), (200, &json!(1)));
    drop(served);

    let again = evaluate(&config, &db);
    let text = String::from_utf8(again.stdout).unwrap();
    assert!(again.status.success() && text.contains("no-rm"), "{text}");
    // Another version of a grader answers beside the old one.
    fs::write(&config, CONFIG.replace("rm -rf", "npm")).unwrap();
    assert!(evaluate(&config, &db).status.success());
    let served = start(dir.path(), &["--watch", &folder, "--db", &db]);
    let answers = served.get("/api/v1/evaluations").json();
    let versions = answers["evaluators"].as_array().unwrap();
    assert_eq!(versions.iter().filter(|row| row["evaluator"] == "no-rm").count(), 2, "{answers}");
    let refused = request(&served.ui, "POST", "/api/v1/evaluate", &marked, b"");
    assert_eq!(refused.status, 400, "{}", refused.body);
}

#[test]
fn mistakes_in_what_is_evaluated_are_named() {
    let (dir, _, db) = watched();
    let config = dir.path().join("toolmark.yaml");
    for (text, want) in [
        ("serve: {evaluate: [{run: [Z999]}]}", "Z999"),
        ("serve: {evaluate: [{on: {status: broken}, run: [rules]}]}", "broken"),
        ("serve: {evaluate: [{run: [{type: no-such-grader}]}]}", "no-such-grader"),
        ("graders: []", "no `serve:` section"),
    ] {
        fs::write(&config, text).unwrap();
        let output = evaluate(&config, &db);
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{text}: {words}");
        assert!(words.contains(want), "{text}: {words}");
    }
}

#[test]
fn calls_under_a_key_are_held_against_its_tools() {
    let (dir, folder, db) = watched();
    let args = ["--watch", &folder, "--db", &db, "--ingest-key", "ci allow=Read,mcp__* deny=Write"];
    let served = start(dir.path(), &args);
    let keys = served.get("/api/v1/keys").json();
    let policy = keys["items"][0]["policy"].as_str().unwrap();
    // The guard takes it as it is.
    let file = dir.path().join("toolmark.yaml");
    fs::write(&file, policy).unwrap();
    let lint = binary().args(["lint"]).arg(&file).output().unwrap();
    assert!(lint.status.success(), "{policy}: {}", String::from_utf8_lossy(&lint.stderr));

    let span = |n: u8, tool: Option<&str>| {
        let mut attributes = vec![json!({"key": "session.id", "value": {"stringValue": "k1"}})];
        let operation = if tool.is_some() { "execute_tool" } else { "invoke_agent" };
        let pairs = [
            ("gen_ai.operation.name", Some(operation)),
            ("gen_ai.tool.name", tool),
            ("gen_ai.tool.call.id", tool),
        ];
        for (key, value) in pairs {
            attributes.extend(value.map(|v| json!({"key": key, "value": {"stringValue": v}})));
        }
        let parent = if tool.is_some() { "0000000000000001" } else { "" };
        json!({"traceId": "0123456789abcdef0123456789abcdef", "spanId": format!("{n:016x}"),
            "parentSpanId": parent, "name": operation, "kind": 1,
            "startTimeUnixNano": "1794835500000000000", "endTimeUnixNano": "1794835500001000000",
            "attributes": attributes})
    };
    let spans =
        [span(2, Some("Read")), span(3, Some("Bash")), span(4, Some("Write")), span(1, None)];
    let body = json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).to_string();
    let headers = [("Content-Type", "application/json"), ("x-toolmark-key", "ci")];
    let answer = request(&served.http, "POST", "/v1/traces", &headers, body.as_bytes());
    assert_eq!(answer.status, 200, "{}", answer.body);
    let unknown = [("Content-Type", "application/json"), ("x-toolmark-key", "other")];
    assert_eq!(request(&served.http, "POST", "/v1/logs", &unknown, &log("s", 1)).status, 403);
    // Ten seconds after the root.
    let keys = served.wait("/api/v1/keys", |keys| keys["items"][0]["violations"] == 2);
    assert_eq!(keys["items"][0]["sessions"], 1, "{keys}");
    let answers = served.get("/api/v1/evaluations?evaluator=key:ci&verdict=fail").json();
    let mut tools: Vec<&str> = answers["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["call_id"].as_str().unwrap())
        .collect();
    tools.sort_unstable();
    assert_eq!(tools, ["Bash", "Write"], "{answers}");
}
