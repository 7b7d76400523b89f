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
use stand_in::{Act, Family, INPUT, OUTPUT, Script, StandIn};
use std::fs;
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

/// What the packages made of it.
fn heard(python: &Path, family: &str, mode: &str, act: &Act) -> Value {
    let server = StandIn::start(Script::from(act.clone()));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stand_in/sdk.py");
    let output = Command::new(python)
        .arg(script)
        .args([family, mode, &server.base_url()])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let heard = serde_json::from_str(&out);
    heard.unwrap_or_else(|error| panic!("{family} {mode} {act:?}: {error}: {out}\n{err}"))
}

#[test]
fn the_packages_of_the_providers_understand_the_stand_in() {
    let python = match python() {
        Ok(python) => python,
        Err(why) if peers().is_some_and(|word| word == "required") => panic!("{why}"),
        Err(why) => return eprintln!("SKIPPED: the providers' packages are not there: {why}"),
    };
    let names = [
        ("anthropic", Family::Anthropic),
        ("responses", Family::Responses),
        ("chat", Family::Chat),
    ];
    for (name, family) in names {
        // Only Anthropic counts what comes from a cache apart.
        let all: u64 = INPUT.iter().sum();
        let input = if family == Family::Anthropic { INPUT[0] } else { all };
        for mode in ["whole", "stream"] {
            let hear = |act: Act| heard(&python, name, mode, &act);
            let what = format!("{name} {mode}");
            let stop = |words: [&str; 3]| words[family as usize].to_owned();
            let usage = json!([input, OUTPUT]);

            let answer = hear(Act::Answer);
            assert_eq!(answer["calls"], json!([["submit_verdict", {"n": 0}]]), "{what}");
            assert_eq!(answer["usage"], usage, "{what}");
            assert_eq!(answer["stop"], stop(["tool_use", "completed", "tool_calls"]), "{what}");

            let twice = hear(Act::Twice);
            assert_eq!(twice["calls"][1], json!(["submit_verdict", {"second": true}]), "{what}");

            let talk = hear(Act::Talk);
            assert_eq!(talk["text"], "I would rather talk: é€😀.", "{what}");
            assert_eq!(talk["calls"], json!([]), "{what}");

            let refused = hear(Act::Refuse);
            assert_eq!(refused["refusal"], "I cannot help with that.", "{what}");

            // Their stream helpers insist on whole arguments.
            if mode == "whole" {
                let cut = hear(Act::Cut);
                let stop = stop(["max_tokens", "incomplete: max_output_tokens", "length"]);
                assert_eq!(cut["stop"], stop, "{what}");
            }
            for (act, class) in [
                (Act::Busy("retry-after", "1"), "RateLimitError"),
                (Act::Failed, "InternalServerError"),
                (Act::Denied, "AuthenticationError"),
                (Act::Echo, "BadRequestError"),
            ] {
                let error = hear(act.clone());
                assert_eq!(error["error"], class, "{what} {act:?}: {error}");
            }
            let overloaded = hear(Act::Overloaded)["error"].as_str().unwrap().to_owned();
            let want = stop(["OverloadedError", "InternalServerError", "InternalServerError"]);
            assert_eq!(overloaded, want, "{what}");
        }
        // An error in the middle of a stream is one for the packages too.
        let error = heard(&python, name, "stream", &Act::ErrorInside);
        assert!(error["error"].is_string(), "{name}: {error}");
    }
}
