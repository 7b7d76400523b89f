//! Is the stand-in like the providers? Their own Python packages must read what
//! it says: answers, usage, streams, and the classes of errors.
//!
//! The packages are installed once into the target folder, where
//! `TOOLMARK_PEERS=install` says so; without it the test says that it is
//! skipped. `TOOLMARK_PEERS=required` makes that a failure.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that cannot go on should say so"
)]

mod stand_in;

use serde_json::{Value, json};
use stand_in::{Act, INPUT, OUTPUT, StandIn};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The versions the test was written with.
const PACKAGES: [&str; 2] = ["anthropic==2.8.0", "openai==3.49.0"];

fn peers() -> Option<std::ffi::OsString> {
    std::env::var_os("TOOLMARK_PEERS").filter(|word| !word.is_empty())
}

/// Python with the packages.
fn python() -> Result<PathBuf, String> {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("judge-peers");
    let home = cache.join(PACKAGES.join("-").replace("==", "-"));
    let python = home.join("bin/python");
    let done = home.join("done");
    if done.exists() {
        return Ok(python);
    }
    if peers().is_none() {
        return Err("TOOLMARK_PEERS=install is not set".to_owned());
    }
    fs::create_dir_all(&cache).map_err(|error| error.to_string())?;
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&home))?;
    let pip = ["-m", "pip", "install", "-q", "--disable-pip-version-check"];
    run(Command::new(&python).args(pip).args(PACKAGES))?;
    fs::write(&done, "").map_err(|error| error.to_string())?;
    Ok(python)
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}

/// One thing to ask and what must be heard: a JSON pointer, and what is there.
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
    let python = match python() {
        Ok(python) => python,
        Err(why) if peers().is_some_and(|word| word == "required") => panic!("{why}"),
        Err(why) => return eprintln!("SKIPPED: the providers' packages are not there: {why}"),
    };
    let cases = cases();
    let servers: Vec<_> = cases.iter().map(|case| StandIn::start(case.act.clone())).collect();
    let jobs = cases.iter().zip(&servers);
    let jobs: Vec<_> =
        jobs.map(|(case, server)| json!([case.family, case.mode, server.base_url()])).collect();

    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stand_in/sdk.py");
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
