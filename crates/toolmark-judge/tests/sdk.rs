//! Comparison of the stand-in with the providers: their own Python packages must read its answers,
//! usage, streams, and classes of errors.
//!
//! The packages are installed at the path in `TOOLMARK_PEERS`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say so")]

use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use toolmark_testing::peers;
use toolmark_testing::stand_in::{Act, INPUT, OUTPUT, StandIn};

/// Versions that the test was written with.
const PACKAGES: [&str; 2] = ["anthropic==2.8.0", "openai==3.49.0"];

/// One request and the expected response: a JSON pointer and its value.
struct Case {
    family: &'static str,
    mode: &'static str,
    act: Act,
    wants: Vec<(&'static str, Value)>,
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (n, family) in ["anthropic", "responses", "chat"].into_iter().enumerate() {
        // Only Anthropic counts what comes from a cache apart.
        let input = if n == 0 { INPUT[0] } else { INPUT.iter().sum() };
        let of = |words: [&str; 3]| json!(words[n]);
        for mode in ["whole", "stream"] {
            let mut add = |act, wants| cases.push(Case { family, mode, act, wants });
            let answer = vec![
                ("/calls", json!([["submit_verdict", {"n": 0}]])),
                ("/usage", json!([input, OUTPUT])),
                ("/stop", of(["tool_use", "completed", "tool_calls"])),
            ];
            add(Act::Answer, answer);
            add(Act::Twice, vec![("/calls/1", json!(["submit_verdict", {"second": true}]))]);
            let text = json!("I would rather talk: é€😀.");
            add(Act::Talk, vec![("/text", text), ("/calls", json!([]))]);
            add(Act::Refuse, vec![("/refusal", json!("I cannot help with that."))]);
            add(Act::Busy("retry-after", "1"), vec![("/error", json!("RateLimitError"))]);
            add(Act::Failed, vec![("/error", json!("InternalServerError"))]);
            add(Act::Denied, vec![("/error", json!("AuthenticationError"))]);
            add(Act::Echo, vec![("/error", json!("BadRequestError"))]);
            let overloaded = ["OverloadedError", "InternalServerError", "InternalServerError"];
            add(Act::Overloaded, vec![("/error", of(overloaded))]);
            // Their helpers for streams insist on whole arguments.
            if mode == "whole" {
                let stop = ["max_tokens", "incomplete: max_output_tokens", "length"];
                add(Act::Cut, vec![("/stop", of(stop))]);
            } else {
                let errors = ["APIStatusError", "ResponseErrorEvent", "APIError"];
                add(Act::ErrorInside, vec![("/error", of(errors))]);
            }
        }
    }
    cases
}

#[test]
fn the_packages_of_the_providers_understand_the_stand_in() {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("judge-peers");
    let Some(python) = peers::or_skip(peers::python(&cache, &PACKAGES)) else { return };
    let cases = cases();
    let servers: Vec<_> = cases.iter().map(|case| StandIn::start(case.act.clone())).collect();
    let jobs = cases.iter().zip(&servers);
    let jobs: Vec<_> =
        jobs.map(|(case, server)| json!([case.family, case.mode, server.base_url()])).collect();

    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sdk.py");
    let mut command = Command::new(python);
    command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(json!(jobs).to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let heard: Vec<Value> =
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}\n{err}"));

    assert_eq!(heard.len(), cases.len());
    for (case, heard) in cases.iter().zip(&heard) {
        let what = format!("{} {} {:?}: {heard}", case.family, case.mode, case.act);
        for (at, want) in &case.wants {
            assert_eq!(heard.pointer(at), Some(want), "{what}");
        }
    }
}
