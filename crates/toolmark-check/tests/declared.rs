//! A run whose own record says that it failed is not a pass, whatever format the record has.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeSet;
use std::fs;
use std::io::Cursor;
use std::path::Path;
use toolmark_check::{CheckRun, Checker};
use toolmark_outcome::{Redactor, Severity, Verdict};
use toolmark_trace::{DeclaredOutcome, ReadOptions, Trajectory, read};

/// The file of a reader, what its record of success becomes when the run failed, and what
/// is said about the run then. Nothing to replace means that the line is added at the end.
const FAILURES: &[(&str, &str, &str, &str)] = &[
    ("agentdojo.json", r#""utility":true"#, r#""utility":false"#, "utility false"),
    ("agentv-results.jsonl", r#""target":"x","score":1"#, r#""target":"x","score":0"#, "score 0"),
    (
        "agentv-trace.json",
        r#""eval":{"#,
        r#""eval":{"execution_status":"execution_error","#,
        "execution_error",
    ),
    ("anthropic-managed.jsonl", r#""end_turn""#, r#""retries_exhausted""#, "retries_exhausted"),
    (
        "atif.json",
        r#""final_metrics":{"#,
        r#""final_metrics":{"extra":{"reward":0.0},"#,
        "reward 0.0",
    ),
    (
        "autogen.json",
        r#""stop_reason":"done""#,
        r#""stop_reason":"Maximum number of turns 5 reached.""#,
        "Maximum number of turns 5 reached.",
    ),
    (
        "bedrock-converse.json",
        r#""stopReason":"end_turn""#,
        r#""stopReason":"max_tokens""#,
        "max_tokens",
    ),
    (
        "bfcl.jsonl",
        r#""[a.b(x=1, y='z'), c(2)]""#,
        r#""Error during inference: 500""#,
        "error during inference",
    ),
    (
        "braintrust.jsonl",
        r#""output":"sorry""#,
        r#""output":"sorry","error":"boom""#,
        "span status error",
    ),
    ("call-rows.jsonl", r#""final_result":"done""#, r#""success":false"#, "success false"),
    (
        "claude-stream.jsonl",
        "",
        r#"{"type":"result","subtype":"error_max_turns","is_error":true,"num_turns":9,"session_id":"s"}"#,
        "error_max_turns",
    ),
    (
        "claude-stream.jsonl",
        "",
        r#"{"type":"result","subtype":"success","is_error":true,"result":"overloaded","session_id":"s"}"#,
        "is_error true",
    ),
    (
        "codex-exec.jsonl",
        "",
        r#"{"type":"turn.failed","error":{"message":"stream ended"}}"#,
        "failed",
    ),
    ("copilot-cli.jsonl", r#""routine""#, r#""error""#, "error"),
    ("copilot-print.jsonl", r#""subtype":"success""#, r#""subtype":"error""#, "error"),
    (
        "cursor-stream.jsonl",
        r#""is_error":false,"result""#,
        r#""is_error":true,"result""#,
        "is_error true",
    ),
    ("cursor-transcript.jsonl", r#""status":"success""#, r#""status":"error""#, "error"),
    ("datadog.json", r#""status":"ok""#, r#""status":"error""#, "span status error"),
    (
        "gemini-stream.jsonl",
        r#"{"type":"result","status":"success""#,
        r#"{"type":"result","status":"error""#,
        "error",
    ),
    (
        "inspect.json",
        r#""limit":{"type":"message","limit":9}"#,
        r#""scores":{"match":{"value":"I"}}"#,
        "score match I",
    ),
    (
        "inspect.json",
        r#""limit":{"type":"message","limit":9}"#,
        r#""error":{"message":"boom"}"#,
        "error",
    ),
    (
        "inspect.json",
        r#""limit":{"type":"message","limit":9}"#,
        r#""limit":{"type":"time","limit":9}"#,
        "time limit",
    ),
    ("kimi.jsonl", r#""reason":"completed""#, r#""reason":"failed""#, "failed"),
    ("mini-swe-agent.json", r#""Submitted""#, r#""LimitsExceeded""#, "LimitsExceeded"),
    (
        "openai-responses.json",
        r#""status":"completed","model""#,
        r#""status":"incomplete","model""#,
        "incomplete",
    ),
    ("swe-agent.json", r#""exit_status":"submitted""#, r#""exit_status":"exit_cost""#, "exit_cost"),
    ("tau-bench.json", r#""reward":1.0"#, r#""reward":0.5"#, "reward 0.5"),
    ("tau2-bench.json", r#""agent_cost":0.5"#, r#""reward_info":{"reward":0.0}"#, "reward 0.0"),
    (
        "toolmark.jsonl",
        r#""outcome":"passed","says":"reward 1""#,
        r#""outcome":"failed","says":"reward 0""#,
        "reward 0",
    ),
    (
        "vally.jsonl",
        r#""status":"success","model""#,
        r#""gradeResult":{"passed":false},"model""#,
        "passed false",
    ),
];

/// Records of failures in formats whose file has no field for them.
const OTHER_FAILURES: &[(&str, &str)] = &[
    (
        r#"{"eval_set_result_id":"r","eval_case_results":[{"eval_id":"one","final_eval_status":2,"session_id":"s","eval_metric_result_per_invocation":[]}]}"#,
        "final_eval_status failed",
    ),
    (
        r#"{"instance_id":"i","instruction":"mend it","test_result":{"report":{"resolved":false}},"history":[{"id":1,"source":"agent","action":"finish","args":{"thought":""}}]}"#,
        "resolved false",
    ),
    (
        r#"{"issue":{"number":7,"title":"t"},"success":false,"error":"","history":[{"id":1,"source":"user","action":"message","args":{"content":"go"}}]}"#,
        "success false",
    ),
    (
        r#"{"resourceSpans":[{"scopeSpans":[{"scope":{"name":"s"},"spans":[{"traceId":"000102030405060708090a0b0c0d0e0f","spanId":"0000000000000003","name":"invoke_agent a","startTimeUnixNano":"1767225602000000001","endTimeUnixNano":"1767225603000000001","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"invoke_agent"}}],"status":{"code":2}}]}]}]}"#,
        "span status error",
    ),
];

fn runs(text: &str, name: &str) -> Vec<Trajectory> {
    read(Cursor::new(text.to_owned()), name, &ReadOptions::default()).unwrap().collect()
}

fn verdict(run: &Trajectory) -> Verdict {
    let checker = Checker::default();
    let check = CheckRun {
        checked: checker.check(run),
        files: 1,
        rules: checker.rules().to_vec(),
        fail_on: Some(Severity::Error),
        ..CheckRun::default()
    };
    check.redact(Redactor::new(true)).verdict()
}

/// The failures that runs declare, each of which must fail the check.
fn failures(runs: &[Trajectory]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for run in runs {
        let Some(declared) = run.declared_outcome() else { continue };
        if declared.outcome == DeclaredOutcome::Failed {
            assert!(declared.at.location().line > 0, "{} has no place", declared.says);
            assert_eq!(verdict(run), Verdict::Fail, "{}: {}", run.format, declared.says);
            found.insert(declared.says.to_string());
        }
    }
    found
}

#[test]
fn a_declared_failure_fails_in_every_format() {
    let readers =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../toolmark-trace/tests/fixtures/readers");
    let mut missing = Vec::new();
    for (file, success, failure, says) in FAILURES {
        let text = fs::read_to_string(readers.join(file)).unwrap();
        assert!(text.contains(success), "{file} has no {success}");
        let failed = match success.is_empty() {
            true => format!("{text}\n{failure}\n"),
            false => text.replace(success, failure),
        };
        let found = failures(&runs(&failed, file));
        if !found.contains(*says) {
            missing.push(format!("{file} {says}: {found:?}"));
        }
    }
    for (text, says) in OTHER_FAILURES {
        let found = failures(&runs(text, "run.json"));
        if !found.contains(*says) {
            missing.push(format!("{says}: {found:?}"));
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn what_the_user_ended_or_an_evaluation_passed_is_no_failure() {
    for text in [
        // The user stopped the turn.
        "{\"timestamp\":\"2026-01-01T00:00:00Z\",\"type\":\"session_meta\",\"payload\":{\"id\":\"s\",\"cwd\":\"/w\"}}\n\
         {\"timestamp\":\"2026-01-01T00:00:01Z\",\"type\":\"event_msg\",\"payload\":{\"type\":\"turn_aborted\",\"reason\":\"interrupted\"}}",
        // At a limit, and right all the same.
        r#"{"version":2,"status":"success","eval":{"task":"t","model":"m/x"},"plan":{},"samples":[{"id":1,"epoch":1,"input":"?","target":"","messages":[],"limit":{"type":"message","limit":9},"scores":{"match":{"value":"C"}}}]}"#,
        // A number that measures something, beside the score.
        r#"{"version":2,"status":"success","eval":{"task":"t","model":"m/x"},"plan":{},"samples":[{"id":1,"epoch":1,"input":"?","target":"","messages":[],"scores":{"match":{"value":"C"},"refusals":{"value":0}}}]}"#,
        r#"[{"task_id":3,"trial":0,"reward":1.0,"info":{},"traj":[]}]"#,
    ] {
        let read = runs(text, "run.json");
        assert!(!read.is_empty(), "{text}");
        assert!(failures(&read).is_empty(), "{text}");
    }
}

#[test]
fn what_no_rule_could_judge_is_not_a_pass() {
    let unknown = |run: &Trajectory| matches!(verdict(run), Verdict::Unknown(_));
    let talk = r#"[{"task_id":3,"trial":0,"reward":1.0,"traj":[{"role":"user","content":"hi"}]}]"#;
    assert!(unknown(&runs(talk, "run.json")[0]), "no calls");
    let strange = r#"[{"task_id":3,"trial":0,"reward":1.0,"traj":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"ponder","arguments":"{}"}}]}]}]"#;
    assert!(unknown(&runs(strange, "run.json")[0]), "a call that no rule knows");
}
