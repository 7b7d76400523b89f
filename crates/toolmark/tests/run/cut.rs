//! Commands that fail, and traces that are cut off: what did not happen in the part that
//! is there may have happened in the part that is lost.

use super::{Stage, text};
use serde_json::Value;
use std::fs;

/// A stand-in for an agent that prints so many bytes of a chat and ends with a code.
fn agent(bytes: usize, code: u8) -> String {
    let chat = [
        r#"{"role":"user","content":"count the herons"}"#,
        r#"{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"look","arguments":"{}"}}]}"#,
        r#"{"role":"tool","tool_call_id":"a","content":"12 herons"}"#,
        r#"{"role":"assistant","tool_calls":[{"id":"b","function":{"name":"drain_lake","arguments":"{}"}}]}"#,
        r#"{"role":"tool","tool_call_id":"b","content":"gone"}"#,
        r#"{"role":"assistant","content":"There are 12."}"#,
    ];
    let chat = format!("{}\n", chat.join("\n"));
    let part = &chat[..bytes.min(chat.len())];
    format!("#!/bin/sh\ncat <<'END'\n{part}\nEND\nexit {code}\n")
}

/// All that the chat of [`agent`] has up to the arguments of the second call.
const CUT: usize = 270;

fn stage(bytes: usize, code: u8, expect: &str) -> Stage {
    let stage = Stage::new(&format!(
        "targets: {{heron: {{command: [\"{{spec_dir}}/agent.sh\"]}}}}\n\
         run: {{timeout: 20s, retries: 0, isolate: none, workspace: {{from: files}}}}\n\
         cases: [{{id: count, prompt: count the herons, expect: {expect}}}]\n"
    ));
    stage.write("files/fact.txt", "x");
    stage.program("agent.sh", &agent(bytes, code));
    stage
}

/// The verdict and the exit code of a command that reports one case as JSON.
fn verdict(stage: &Stage, args: &[&str]) -> (String, String, Option<i32>) {
    let output = stage.run(&[args, &["--format", "json"]].concat());
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{args:?}: {}", text(&output)));
    let outcome = &report["outcomes"][0];
    let words = |key: &str| outcome[key].as_str().unwrap_or_default().to_owned();
    (words("verdict"), words("reason"), output.status.code())
}

#[test]
fn a_cut_trace_or_a_failed_command_passes_no_prohibition() {
    for (bytes, code, expect, want, exit) in [
        // Whole and successful: the call that is there fails, the one that is not does not.
        (usize::MAX, 0, "{forbidden: [flood]}", "pass", 0),
        (usize::MAX, 0, "{forbidden: [drain_lake]}", "fail", 1),
        (CUT, 0, "{forbidden: [drain_lake]}", "unknown", 3),
        (CUT, 1, "{forbidden: [drain_lake]}", "unknown", 3),
        (CUT, 0, "{calls: [{tool: look, count: {max: 2}}]}", "unknown", 3),
        (usize::MAX, 1, "{forbidden: [flood]}", "unknown", 3),
        (usize::MAX, 1, "{none: true}", "fail", 1),
        // A forbidden call that is there stays wrong, a required one that is there right.
        (CUT, 1, "{forbidden: [look]}", "fail", 1),
        (usize::MAX, 1, "{calls: [look]}", "pass", 0),
        (CUT, 0, "{calls: [look]}", "unknown", 3),
    ] {
        let what = format!("{} bytes, exit code {code}, {expect}", bytes.min(9999));
        let stage = stage(bytes, code, expect);
        let out = ["run", "toolmark.yaml", "--out", "out"];
        let (ran, why, status) = verdict(&stage, &out);
        assert_eq!((ran.as_str(), status), (want, Some(exit)), "{what}: {why}");
        let (again, _, status) = verdict(&stage, &["grade", "out"]);
        assert_eq!((again.as_str(), status), (want, Some(exit)), "{what}, graded again");
        if code == 0 {
            let stdout = "out/trials/heron/count/1/attempt-1/stdout";
            let args = ["grade", "toolmark.yaml", stdout, "--stimulus", "count"];
            let (alone, _, status) = verdict(&stage, &args);
            assert_eq!((alone.as_str(), status), (want, Some(exit)), "{what}, its output");
        }
    }
}

#[test]
fn every_report_says_that_a_cut_trace_is_unknown() {
    let stage = stage(CUT, 1, "{forbidden: [drain_lake]}");
    let reports = ["--report", "junit=j.xml", "--report", "html=h.html", "--report", "json=r.json"];
    let output = stage.run(&[&["run", "toolmark.yaml", "--out", "out"][..], &reports].concat());
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
    let shown = text(&output);
    assert!(shown.contains("the trace is cut off"), "{shown}");
    assert!(!shown.contains('✓'), "{shown}");
    let read = |name: &str| fs::read_to_string(stage.path(name)).unwrap();
    let junit = read("j.xml");
    assert!(junit.contains("the trace is cut off"), "{junit}");
    assert!(junit.contains("skipped=\"1\"") || junit.contains("errors=\"1\""), "{junit}");
    assert!(read("h.html").contains("the trace is cut off"));
    let json: Value = serde_json::from_str(&read("r.json")).unwrap();
    assert_eq!(json["summary"]["unknown"], 1);
    let result = stage.result("out", "heron", "count", 1);
    assert_eq!(result["error"], "exit code 1");
    assert_eq!(result["outcome"]["verdict"], "unknown");
}
