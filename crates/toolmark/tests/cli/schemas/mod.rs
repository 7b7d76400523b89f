//! The JSON of every command has a version, and a schema for it that outputs of earlier
//! days still fit.

use crate::docs::reference::commands;
use crate::{DISK_FULL, root, sessions, stdout, toolmark};
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// The outputs that have a schema, and how one of each is made in a [`Stage`].
const OUTPUTS: &[(&str, &[&[&str]])] = &[
    ("stats", &[&["stats", "samples"]]),
    ("stats-by", &[&["stats", "samples", "--by", "day"], &["stats", "samples", "--by", "model"]]),
    ("check", &[&["check", "samples", "--exit-zero", "--gate"]]),
    (
        "grade",
        &[
            &["grade", "samples/toolmark.yaml", "samples", "--exit-zero"],
            &["grade", "graders.yaml", "samples", "--exit-zero"],
            &["run", "agents/toolmark.yaml"],
        ],
    ),
    ("feed", &[&["feed", "samples", "--occurrences"]]),
    ("trend", &[&["trend", "samples", "--by", "day"]]),
    ("compare", &[&["compare", "grade.json", "grade.json"]]),
    ("show-runs", &[&["show", "two.jsonl"]]),
    ("rules", &[&["rules"], &["rules", "S101"]]),
    ("graders", &[&["graders"], &["graders", "expect"]]),
    ("formats", &[&["formats"], &["formats", "atif"]]),
    ("targets", &[&["formats", "--targets"]]),
    ("prices", &[&["prices", "samples"], &["prices", "samples", "--prices", "prices.yaml"]]),
    ("lint", &[&["lint", "bad.yaml"], &["lint", "samples/toolmark.yaml"]]),
    (
        "guard-test",
        &[
            &["guard", "test", "rm -rf /"],
            &["guard", "test", "ls"],
            &["guard", "test", "--batch", "batch.jsonl"],
        ],
    ),
    ("guard-replay", &[&["guard", "replay", "samples"]]),
    ("guard-permissions", &[&["guard", "permissions", "settings.json"]]),
    ("guard-status", &[&["guard", "status", "claude-code", "codex"]]),
    (
        "guard-install",
        &[
            &["guard", "install", "claude-code", "--dry-run"],
            &["guard", "uninstall", "claude-code", "--dry-run"],
        ],
    ),
    ("guard-doctor", &[&["guard", "doctor", "claude-code"]]),
    (
        "runs",
        &[
            &["runs", "--dir", "agents/.toolmark/runs"],
            &["runs", "last", "--dir", "agents/.toolmark/runs"],
        ],
    ),
];

/// Commands whose JSON is tested elsewhere: `calibrate` needs a judge (`tests/judge.rs`).
const ELSEWHERE: &[&[&str]] = &[&["judge", "calibrate"]];

/// A directory with something for every command.
struct Stage {
    dir: TempDir,
    home: TempDir,
}

impl Stage {
    fn new() -> Self {
        let stage = Self { dir: tempfile::tempdir().unwrap(), home: sessions::home() };
        let write = |name: &str, text: &str| fs::write(stage.dir.path().join(name), text).unwrap();
        copy_samples(&root().join("samples"), &stage.dir.path().join("samples"));
        fs::copy(root().join(RECORDED).join("grade.json"), stage.dir.path().join("grade.json"))
            .unwrap();
        write("two.jsonl", &stdout(&["show", DISK_FULL, "--format", "json"]).repeat(2));
        write("bad.yaml", "name: bad\ncases:\n  - {id: a, expct: {calls: [Read]}}\n");
        write(
            "batch.jsonl",
            "{\"command\":\"ls\"}\n{\"tool\":\"Read\",\"args\":{\"file_path\":\".env\"}}\n",
        );
        write(
            "settings.json",
            r#"{"permissions":{"allow":["Bash(npm run *)","Bash(rm:*"],"deny":["Read(.env)"]}}"#,
        );
        write("graders.yaml", &every_grader());
        write("prices.yaml", "date: 2026-11-01\nmodels:\n  'claude-*': {input: 4, output: 20}\n");
        fs::create_dir(stage.dir.path().join("agents")).unwrap();
        for args in [&["init", "--run"][..], &["run", "toolmark.yaml"]] {
            let mut command = toolmark(args);
            let output = command.current_dir(stage.dir.path().join("agents")).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        stage
    }

    /// What a command prints with `--format json`, whatever its exit code.
    fn json(&self, args: &[&str]) -> Value {
        let mut command = toolmark(&[args, &["--format", "json"]].concat());
        let output = command.current_dir(self.dir.path()).env("HOME", self.home.path()).output();
        let output = output.unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
            panic!("{args:?}: {error}\n{}", String::from_utf8_lossy(&output.stderr))
        })
    }
}

/// A spec with the example of every grader, so that their metrics, parts and causes are seen.
fn every_grader() -> String {
    let graders: Vec<Value> =
        serde_json::from_str(&stdout(&["graders", "--format", "json"])).unwrap();
    let mut spec = String::from("name: all\ngraders:\n");
    for (at, grader) in graders.iter().enumerate() {
        spec.push_str(&format!("  - name: grader-{at}\n"));
        for line in grader["example"].as_str().unwrap().lines() {
            spec.push_str(&format!("    {line}\n"));
        }
    }
    spec
}

fn copy_samples(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy_samples(&entry.path(), &target),
            false => fs::copy(entry.path(), target).map(drop).unwrap(),
        }
    }
}

/// Outputs that were recorded when version 1 was new.
const RECORDED: &str = "crates/toolmark/tests/recorded/v1";

fn read(path: &str) -> Value {
    let text = fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn schema(name: &str) -> Value {
    read(&format!("schemas/toolmark.{name}.v1.schema.json"))
}

fn validator(schema: &Value) -> jsonschema::Validator {
    jsonschema::draft202012::new(schema).unwrap()
}

fn assert_valid(schema: &Value, value: &Value, what: &str) {
    let errors: Vec<String> = validator(schema)
        .iter_errors(value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{what} is not as its schema says:\n{}", errors.join("\n"));
}

/// A schema that takes no members but those it names.
fn closed(schema: &Value) -> Value {
    match schema {
        Value::Array(all) => all.iter().map(closed).collect(),
        Value::Object(members) => {
            let mut members: serde_json::Map<String, Value> =
                members.iter().map(|(key, value)| (key.clone(), closed(value))).collect();
            if members.contains_key("properties") && members.contains_key("type") {
                members.entry("additionalProperties").or_insert(false.into());
            }
            members.into()
        }
        other => other.clone(),
    }
}

#[test]
fn what_is_written_today_fits_and_has_no_member_that_the_schema_does_not_name() {
    let stage = Stage::new();
    for (name, commands) in OUTPUTS {
        let (open, closed) = (schema(name), closed(&schema(name)));
        for args in *commands {
            let value = stage.json(args);
            assert_valid(&open, &value, &args.join(" "));
            assert_valid(&closed, &value, &args.join(" "));
        }
    }
}

/// What is recorded is never recorded again for a version: it is what others have kept.
#[test]
fn what_was_recorded_fits_for_as_long_as_the_version_is_1() {
    for (name, _) in OUTPUTS {
        let path = format!("{RECORDED}/{name}.json");
        assert_valid(&schema(name), &read(&path), &path);
    }
}

#[test]
fn a_schema_refuses_what_lacks_a_member_or_has_another_version() {
    for (name, _) in OUTPUTS {
        let whole = read(&format!("{RECORDED}/{name}.json"));
        let validator = validator(&schema(name));
        let mut object = whole.pointer("/0").unwrap_or(&whole).clone();
        let fits = |object: &Value| match whole.is_array() {
            true => validator.is_valid(&Value::from(vec![object.clone()])),
            false => validator.is_valid(object),
        };
        assert!(fits(&object), "{name}");
        object["schema_version"] = 2.into();
        assert!(!fits(&object), "{name} takes another version");
        object.as_object_mut().unwrap().remove("schema_version");
        assert!(!fits(&object), "{name} takes none");
    }
}

#[test]
fn every_command_with_json_has_a_schema() {
    let covered = |path: &[&str]| {
        let args = OUTPUTS.iter().flat_map(|(_, commands)| commands.iter().copied());
        args.chain(ELSEWHERE.iter().copied()).any(|args| args.starts_with(path))
    };
    let mut left: Vec<Vec<String>> = commands().into_iter().map(|name| vec![name]).collect();
    let mut with_json = 0;
    while let Some(path) = left.pop() {
        let words: Vec<&str> = path.iter().map(String::as_str).collect();
        let help = stdout(&[&words[..], &["--help"]].concat());
        if help.contains("--format <FORMAT>") && help.contains("json") {
            with_json += 1;
            assert!(covered(&words), "{words:?} has no schema");
        }
        let below = help.split_once("\nCommands:\n").map_or("", |(_, rest)| rest);
        let below = below.split("\n\n").next().unwrap_or_default().lines();
        let names = below.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
        left.extend(
            names
                .filter(|name| !name.is_empty() && *name != "help")
                .map(|name| path.iter().cloned().chain([name.to_owned()]).collect()),
        );
    }
    assert!(with_json > 15, "{with_json}");
}

/// The table of the page names every schema, and there is no schema of nothing.
#[test]
fn the_page_lists_every_schema() {
    let page = fs::read_to_string(root().join("docs/stability.md")).unwrap();
    let mut names: Vec<&str> = OUTPUTS.iter().map(|(name, _)| *name).collect();
    names.extend(["trajectory", "calibrate"]);
    for entry in fs::read_dir(root().join("schemas")).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        let name = file.strip_prefix("toolmark.").and_then(|f| f.strip_suffix(".v1.schema.json"));
        assert!(name.is_some_and(|name| names.contains(&name)), "{file} is of no output");
        assert!(page.contains(&format!("/schemas/{file})")), "{file} is not on the page");
    }
}
