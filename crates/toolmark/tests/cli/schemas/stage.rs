//! A directory with inputs for every command, and the commands whose JSON has a schema.

use crate::{DISK_FULL, root, sessions, stdout, toolmark};
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Log of the guard with a kept entry beside it.
pub(super) const LOG_WITH_COPIES: &str = "TOOLMARK_GUARD_LOG=~/.local/state/toolmark/guard.jsonl";

/// The outputs that have a schema, and the commands that print them in a [`Stage`]. A first word
/// with an equals sign is an environment variable.
pub(super) const OUTPUTS: &[(&str, &[&[&str]])] = &[
    (
        "stats",
        &[
            &["stats", "samples", "--prices", "prices.yaml"],
            &["stats", "readers"],
            &["stats", "missing.jsonl"],
        ],
    ),
    (
        "stats-by",
        &[
            &["stats", "samples", "--by", "day"],
            &["stats", "samples", "--by", "model", "--prices", "prices.yaml"],
        ],
    ),
    (
        "check",
        &[
            &["check", "samples", "--exit-zero", "--gate"],
            &["check", "samples", "fixtures", "--exit-zero", "--gold", "gold.yaml", "--gate"],
            &["check", "samples", "--exit-zero", "--baseline", "all.json", "--gate"],
            &["check", "samples", "--exit-zero", "--baseline", "flaky-test.json", "--gate"],
            &[
                "check",
                "samples/claude-code/flaky-test.jsonl",
                "--exit-zero",
                "--baseline",
                "claude.json",
            ],
            &["check", "readers", "--exit-zero"],
        ],
    ),
    (
        "grade",
        &[
            &["grade", "samples/toolmark.yaml", "samples", "--exit-zero", "--include-trace"],
            &[
                "grade",
                "samples/toolmark.yaml",
                "samples",
                "--exit-zero",
                "--baseline",
                "strict.json",
            ],
            &["grade", "graders.yaml", "samples", "--exit-zero"],
            &["grade", "graders.yaml", "samples", "--exit-zero", "--profile", "vally"],
            &["grade", "required.yaml", "samples", "--exit-zero"],
            &["grade", "required.yaml", "readers", "--exit-zero"],
            &["grade", "untraced.yaml", "samples", "--exit-zero"],
            &["run", "agents/toolmark.yaml"],
        ],
    ),
    ("feed", &[&["feed", "samples", "--occurrences"], &["feed", "readers"]]),
    (
        "trend",
        &[
            &["trend", "samples", "--by", "day"],
            &["trend", "samples", "--by", "model", "--prices", "prices.yaml"],
            &["trend", "readers", "--by", "version"],
        ],
    ),
    (
        "compare",
        &[
            &["compare", "grade.json", "grade.json"],
            &["compare", "grade.json", "strict.json", "--by", "target", "--fail-on", "regression"],
            &["compare", "one-case.json", "grade.json"],
            &["compare", "grade.json", "one-case.json"],
            &["compare", "run.json", "run.json"],
            &["compare", "fixtures/compare/run-a.jsonl", "--by", "target"],
            &["compare", "claude.json", "flaky-test.json"],
            &["compare", "flaky-test.json", "all.json"],
        ],
    ),
    ("show-runs", &[&["show", "two.jsonl"]]),
    ("rules", &[&["rules"], &["rules", "S101"]]),
    ("graders", &[&["graders"], &["graders", "expect"]]),
    ("formats", &[&["formats"], &["formats", "atif"]]),
    ("targets", &[&["formats", "--targets"]]),
    ("prices", &[&["prices", "samples"], &["prices", "samples", "--prices", "prices.yaml"]]),
    ("lint", &[&["lint", "bad.yaml"], &["lint", "twice.yaml"], &["lint", "samples/toolmark.yaml"]]),
    (
        "guard-test",
        &[
            &["guard", "test", "rm -rf /"],
            &["guard", "test", "ls"],
            &["guard", "test", "--batch", "batch.jsonl"],
            &["TOOLMARK_GUARD_POLICY=observe.yaml", "guard", "test", "rm -rf /"],
        ],
    ),
    (
        "guard-replay",
        &[
            &["guard", "replay", "samples"],
            &["TOOLMARK_GUARD_POLICY=observe.yaml", "guard", "replay", "samples"],
        ],
    ),
    (
        "guard-undo",
        &[
            &[LOG_WITH_COPIES, "guard", "undo"],
            &[LOG_WITH_COPIES, "guard", "undo", "--last", "--diff"],
            &[LOG_WITH_COPIES, "guard", "undo", "20261119T080000000-0001"],
        ],
    ),
    ("guard-permissions", &[&["guard", "permissions", "settings.json"]]),
    ("guard-programs", &[&["guard", "programs"], &["guard", "programs", "--explain", "git reset"]]),
    // Before something is installed, and afterwards.
    ("guard-status", &[&["guard", "status", "claude-code", "gemini-cli"]]),
    (
        "guard-install",
        &[
            &["guard", "install", "claude-code", "--dry-run"],
            &["guard", "install", "claude-code", "codex", "gemini-cli"],
            &["guard", "uninstall", "claude-code", "--dry-run"],
        ],
    ),
    ("guard-status", &[&["guard", "status", "claude-code", "codex"]]),
    ("guard-doctor", &[&["guard", "doctor", "codex"]]),
    (
        "runs",
        &[
            &["runs", "--dir", "agents/.toolmark/runs"],
            &["runs", "last", "--dir", "agents/.toolmark/runs"],
        ],
    ),
];

/// Outputs recorded when version 1 was introduced.
pub(super) const RECORDED: &str = "crates/toolmark/tests/recorded/v1";

/// Files that the commands read.
const FILES: &[(&str, &str)] = &[
    ("bad.yaml", "name: bad\ncases:\n  - {id: a, expct: {calls: [Read]}}\n"),
    ("twice.yaml", "name: once\nname: twice\ncases:\n  - {id: a, expect: {calls: [Read]}}\n"),
    (
        "batch.jsonl",
        "{\"command\":\"ls\",\"cwd\":\"/w\",\"host\":\"codex\"}\n\
         {\"tool\":\"Read\",\"args\":{\"file_path\":\".env\"}}\n",
    ),
    (
        "settings.json",
        r#"{"permissions":{"allow":["Bash(npm run *)","Bash(rm:*","Write(src/**)"],"deny":["Read(.env)"]}}"#,
    ),
    ("prices.yaml", "date: 2026-11-01\nmodels:\n  'claude-*': {input: 4, output: 20}\n"),
    (
        "gold.yaml",
        "- {id: flaky-test, tool: Read}\n- {id: disk-full, tool: [Grep]}\n\
         - {id: nobody, tool: Read}\n- {id: mean-depth, tool: null}\n",
    ),
    (
        "required.yaml",
        "threshold: 0.8\ngate: {threshold: 0.9}\nexpect: {sequence: [Edit]}\n\
         graders:\n  - {type: tool-call-count, required: true, config: {max: 20}}\n",
    ),
    (
        "untraced.yaml",
        "cases:\n  - {id: nobody, expect: {sequence: [Edit]}}\n\
         \x20 - {id: flaky-test, expect: {sequence: [Edit]}}\n",
    ),
    ("observe.yaml", "guard: {preset: observe}\n"),
];

/// Settings of agents: disabled hooks, and a file that is not JSON.
const SETTINGS: &[(&str, &str)] = &[
    (
        ".claude/settings.json",
        r#"{"disableAllHooks":true,"hooks":{"PreToolUse":[{"matcher":"*","hooks":[
            {"type":"command","command":"/old/toolmark guard --host claude-code"}]}]}}"#,
    ),
    (".gemini/settings.json", "{"),
];

/// Reports that other commands compare with.
const REPORTS: &[(&str, &[&str])] = &[
    ("all.json", &["check", "samples", "--exit-zero", "--gate"]),
    ("claude.json", &["check", "samples/claude-code", "--exit-zero", "--gate"]),
    (
        "flaky-test.json",
        &["check", "samples/claude-code/flaky-test.jsonl", "--gate", "--exit-zero"],
    ),
    ("strict.json", &["grade", "strict.yaml", "samples", "--exit-zero"]),
    ("one-case.json", &["grade", "samples/toolmark.yaml", "samples", "--case", "flaky-test"]),
    ("run.json", &["run", "agents/toolmark.yaml"]),
];

pub(super) struct Stage {
    dir: TempDir,
    home: TempDir,
}

impl Stage {
    pub(super) fn new() -> Self {
        let stage = Self { dir: tempfile::tempdir().unwrap(), home: sessions::home() };
        let dir = stage.dir.path();
        let write = |name: &str, text: &str| fs::write(dir.join(name), text).unwrap();
        copy(&root().join("samples"), &dir.join("samples"));
        copy(&root().join("crates/toolmark/tests/fixtures"), &dir.join("fixtures"));
        copy(&root().join("crates/toolmark-trace/tests/fixtures/readers"), &dir.join("readers"));
        fs::copy(root().join(RECORDED).join("grade.json"), dir.join("grade.json")).unwrap();
        FILES.iter().for_each(|(name, text)| write(name, text));
        for (name, text) in SETTINGS {
            let path = stage.home.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        stage.keep_a_file();
        write("two.jsonl", &stdout(&["show", DISK_FULL, "--format", "json"]).repeat(2));
        write("graders.yaml", &every_grader());
        let spec = fs::read_to_string(dir.join("samples/toolmark.yaml")).unwrap();
        write("strict.yaml", &spec.replace("max: 20", "max: 4"));
        fs::create_dir(dir.join("agents")).unwrap();
        for args in [&["init", "--run"][..], &["run", "toolmark.yaml"]] {
            let output = toolmark(args).current_dir(dir.join("agents")).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        REPORTS.iter().for_each(|(name, args)| write(name, &stage.json(args).to_string()));
        stage
    }

    /// Writes an entry of `guard undo`.
    fn keep_a_file(&self) {
        let kept = self.home.path().join(".local/state/toolmark/kept/20261119T080000000-0001-4");
        fs::create_dir_all(&kept).unwrap();
        fs::write(kept.join("0"), "old\n").unwrap();
        // Something that `guard status` names.
        fs::create_dir_all(self.dir.path().join(".claude/commands")).unwrap();
        fs::write(self.dir.path().join(".claude/commands/c.md"), "!`git status`\n").unwrap();
        let path = self.dir.path().join("kept.txt");
        fs::write(&path, "new\n").unwrap();
        let manifest = serde_json::json!({
            "version": 1, "time": "2026-11-19T08:00:00Z", "host": "claude-code", "session": "s",
            "cwd": self.dir.path(), "tool": "Bash", "command": "echo new > kept.txt", "bytes": 4,
            "items": [{"path": path, "kind": "file", "mode": 0o644, "modified": [0, 0], "file": "0"}],
            "git": {"root": self.dir.path(), "head": "ref: refs/heads/main", "commit": "0", "index": "index"},
        });
        fs::write(kept.join("manifest.json"), manifest.to_string()).unwrap();
    }

    /// Returns the output of a command with `--format json`, whatever its exit code.
    pub(super) fn json(&self, args: &[&str]) -> Value {
        let home = self.home.path().to_str().unwrap();
        let variable = args[0].split_once('=');
        let variable = variable.map(|(name, value)| (name, value.replace("~", home)));
        let words = if variable.is_some() { &args[1..] } else { args };
        let mut command = toolmark(&[words, &["--format", "json"]].concat());
        command.current_dir(self.dir.path()).env("HOME", self.home.path()).envs(variable);
        let output = command.output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
            panic!("{args:?}: {error}\n{}", String::from_utf8_lossy(&output.stderr))
        })
    }
}

/// A spec with the example of every grader, so that all metrics, parts and causes occur.
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

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => fs::copy(entry.path(), target).map(drop).unwrap(),
        }
    }
}
