//! Runs that are not complete: what a trace does not show is unknown, and every output says so.
//! And specs as the pages of other systems print them.

use crate::toolmark;
use serde_json::{Value, json};
use std::fs;

const ASKED: &str = r#"{"role":"user","content":"go"}"#;
const DONE: &str = r#"{"role":"assistant","content":"done"}"#;

fn call(id: &str, name: &str, args: &str) -> String {
    let function = json!({"name": name, "arguments": args});
    json!({"role": "assistant", "tool_calls": [{"id": id, "type": "function", "function": function}]})
        .to_string()
}

fn result(id: &str, text: &str) -> String {
    json!({"role": "tool", "tool_call_id": id, "content": text}).to_string()
}

/// Returns the exit code, the standard output and the verdict in JUnit.
fn grade(spec: &str, trace: &str) -> (i32, String) {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("spec.yaml"), spec).unwrap();
    fs::write(dir.path().join("trace.jsonl"), trace).unwrap();
    let run = |format: &str| {
        let args = ["grade", "spec.yaml", "trace.jsonl", "--format", format];
        let output = toolmark(&args).current_dir(dir.path()).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, text) = run("text");
    let (_, junit) = run("junit");
    let (_, lines) = run("jsonl");
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    let word = ["pass", "fail", "unknown"][match code {
        0 => 0,
        1 => 1,
        _ => 2,
    }];
    assert_eq!(first["verdict"], word, "{text}");
    assert_eq!(junit.contains("<error "), code == 3, "{junit}");
    assert_eq!(junit.contains("<failure "), code == 1, "{junit}");
    (code, text)
}

#[test]
fn what_an_incomplete_run_does_not_show_is_unknown() {
    let forbidden = "expect: {forbidden: [delete]}\n";
    let negated = "graders:\n  - {type: tool-calls, negate: true, config: {required: [delete]}}\n";
    let last =
        "graders:\n  - {type: tool-calls, config: {required: [{name: read, final: true}]}}\n";
    let read = || [call("1", "read", "{}"), result("1", "ok")].join("\n");
    let cut = call("2", "delete", "{}");
    let of = |parts: &[&str]| parts.join("\n");
    for (spec, trace, code, words) in [
        (forbidden, of(&[ASKED, &read(), DONE]), 0, ""),
        (forbidden, of(&[ASKED, &read(), &call("2", "delete", "{}"), DONE]), 1, "delete"),
        (forbidden, of(&[ASKED, &read(), &cut[..60]]), 3, "cut off"),
        (forbidden, of(&[ASKED, &cut[..60], &read(), DONE]), 3, "cannot be read"),
        (forbidden, of(&[ASKED]), 3, "no response"),
        (forbidden, of(&[ASKED, &read(), &call("2", "save", "{}")]), 3, "1 call has no result"),
        (
            forbidden,
            of(&[ASKED, &call("1", "", "{}"), &result("1", "ok"), DONE]),
            3,
            "no tool name",
        ),
        (forbidden, of(&[ASKED, &read(), &result("1", "no"), DONE]), 3, "shares its ID"),
        (
            forbidden,
            of(&[ASKED, &call("1", "sh", "{\"a\":\"rm"), &result("1", "ok"), DONE]),
            3,
            "JSON",
        ),
        (
            forbidden,
            of(&[ASKED, &read(), r#"{"role":"robot","tool_calls":[{"id":"2"}]}"#, DONE]),
            3,
            "unknown kind",
        ),
        (negated, of(&[ASKED, &read(), DONE]), 0, ""),
        (negated, of(&[ASKED, &read(), &call("2", "save", "{}")]), 3, "1 call has no result"),
        (last, of(&[ASKED, &read(), DONE]), 0, ""),
        (last, of(&[ASKED, &read(), &cut[..60]]), 3, "cut off"),
    ] {
        let (got, text) = grade(spec, &trace);
        assert_eq!(got, code, "{spec}{trace}\n{text}");
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn check_of_an_incomplete_session_is_no_pass() {
    let line = |n: u32, kind: &str, content: Value| {
        json!({"type": kind, "uuid": n.to_string(), "parentUuid": null, "sessionId": "s",
            "message": {"id": n.to_string(), "role": kind, "content": content}})
        .to_string()
    };
    let session = [
        line(1, "user", json!("Show a.txt")),
        line(2, "assistant", json!([{"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": "/w/a.txt"}}])),
        line(3, "user", json!([{"type": "tool_result", "tool_use_id": "t", "content": "text"}])),
        line(4, "assistant", json!([{"type": "text", "text": "It says: text"}])),
    ]
    .join("\n");
    let dir = tempfile::tempdir().unwrap();
    for (trace, code, words) in [
        (session.as_str(), 0, "pass"),
        (&session[..session.len() - 30], 3, "incomplete: the trace is cut off"),
    ] {
        fs::write(dir.path().join("s.jsonl"), trace).unwrap();
        let output = toolmark(&["check", "s.jsonl"]).current_dir(dir.path()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(code), "{text}");
        assert!(text.contains(words), "{text}");
    }
}

/// The use cases of a page that lists graders without a key above them, and calls that meet and
/// that violate each.
#[test]
fn a_list_of_graders_is_a_spec() {
    let trace = |calls: &[(&str, Value, &str)]| {
        let mut lines = vec![ASKED.to_owned()];
        for (n, (name, args, text)) in calls.iter().enumerate() {
            let id = n.to_string();
            lines.extend([call(&id, name, &args.to_string()), result(&id, text)]);
        }
        lines.push(DONE.to_owned());
        lines.join("\n")
    };
    let bash = |command: &str| ("bash", json!({"command": command}), "BUILD OK");
    let none = || json!({});
    for (config, good, bad) in [
        ("required: [make]", vec![("make", none(), "")], vec![("look", none(), "")]),
        (
            "required: [{name: bash, command: \"npm test\"}]",
            vec![bash("npm test")],
            vec![bash("ls")],
        ),
        (
            "required: [{name: \"^(bash|pwsh)$\"}]",
            vec![("pwsh", none(), "")],
            vec![("zsh", none(), "")],
        ),
        (
            "disallowed: [{name: view, path: \"\\\\.env$\"}]",
            vec![("view", json!({"path": "a.rs"}), "")],
            vec![("view", json!({"path": "x/.env"}), "")],
        ),
        (
            "{required: [{name: edit, path: \"src/.*\"}], disallowed: [{name: bash, command: \"rm -rf\"}]}",
            vec![("edit", json!({"path": "src/a"}), ""), bash("ls")],
            vec![("edit", json!({"path": "src/a"}), ""), bash("rm -rf x")],
        ),
        (
            "sequence: [{name: \"^check_\"}, {name: \"^(make|change)_\"}]",
            vec![("check_a", none(), ""), ("make_a", none(), "")],
            vec![("make_a", none(), ""), ("check_a", none(), "")],
        ),
        (
            "required: [{name: \"^load$\", before_step: 2}]",
            vec![("load", none(), "")],
            vec![("a", none(), ""), ("a", none(), ""), ("load", none(), "")],
        ),
        (
            "required: [{name: \"^check$\", at_step: 0}]",
            vec![("check", none(), "")],
            vec![("a", none(), ""), ("check", none(), "")],
        ),
        (
            "required: [{name: \"^send$\", min_count: 2}]",
            vec![("send", none(), ""), ("send", none(), "")],
            vec![("send", none(), "")],
        ),
        (
            "required: [{name: \"^search$\", args: {query: \"notes\"}}]",
            vec![("search", json!({"query": "the notes"}), "")],
            vec![("search", json!({"query": "other"}), "")],
        ),
        (
            "required: [{name: \"^bash$\", command: \"build\", result: \"BUILD OK\"}]",
            vec![bash("npm run build")],
            vec![("bash", json!({"command": "npm run build"}), "error")],
        ),
        (
            "required: [{name: \"^report$\", final: true}]",
            vec![("a", none(), ""), ("report", none(), "")],
            vec![("report", none(), ""), ("a", none(), "")],
        ),
    ] {
        let config =
            if config.starts_with('{') { config.to_owned() } else { format!("{{{config}}}") };
        let spec = format!("# As a page prints it.\n- type: tool-calls\n  config: {config}\n");
        for (calls, code) in [(good, 0), (bad, 1)] {
            let (got, text) = grade(&spec, &trace(&calls));
            assert_eq!(got, code, "{spec}{text}");
        }
    }
}
