//! Tests of `toolmark feed`.

use crate::{run, toolmark};
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A session of Claude Code with failed calls: tool, arguments, error.
fn session(id: &str, day: &str, calls: &[(&str, Value, &str)]) -> String {
    let mut lines = vec![json!({
        "type": "user", "parentUuid": null, "sessionId": id, "uuid": format!("{id}-u"), "cwd": "/w", "version": "2.1.0",
        "timestamp": format!("{day}T09:00:00.000Z"), "message": {"role": "user", "content": "ship it"},
    })];
    for (n, (tool, input, error)) in calls.iter().enumerate() {
        let call = format!("{id}-call-{n}");
        let record = |kind: &str, second: usize, content: Value| {
            json!({
                "type": kind, "parentUuid": null, "sessionId": id, "uuid": format!("{call}-{kind}"), "cwd": "/w", "version": "2.1.0",
                "timestamp": format!("{day}T09:{n:02}:{second:02}.000Z"),
                "message": {"role": kind, "id": format!("{call}-m"), "model": "m", "content": [content]},
            })
        };
        lines.push(record(
            "assistant",
            1,
            json!({"type": "tool_use", "id": call, "name": tool, "input": input}),
        ));
        let is_error = !error.is_empty();
        lines.push(record("user", 2, json!({"type": "tool_result", "tool_use_id": call, "is_error": is_error, "content": error})));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn flag(program: &str, flag: &str) -> (&'static str, Value, &'static str) {
    let error = format!("Exit code 1\nunknown flag: {flag}");
    ("Bash", json!({"command": format!("{program} 7 {flag}")}), error.leak())
}

fn fine() -> (&'static str, Value, &'static str) {
    ("Read", json!({"file_path": "/w/a.rs"}), "")
}

/// Writes two sessions with the same faults to their own directory.
fn sessions(folder: &Path) {
    let missing =
        ("Read", json!({"file_path": "/w/b.yml"}), "File does not exist. Did you mean b.yaml?");
    let one = [flag("gh pr diff", "--stat"), missing, fine()];
    let two = [flag("gh pr diff", "--wide"), fine()];
    fs::write(folder.join("one.jsonl"), session("one", "2026-03-02", &one)).unwrap();
    fs::write(folder.join("two.jsonl"), session("two", "2026-03-10", &two)).unwrap();
}

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("runs")).unwrap();
        sessions(&dir.path().join("runs"));
        Self { dir }
    }

    fn run(&self, args: &[&str]) -> (i32, String, String) {
        self.run_in(self.dir.path(), args)
    }

    fn run_in(&self, directory: &Path, args: &[&str]) -> (i32, String, String) {
        let mut command = toolmark(args);
        let output = command
            .current_dir(directory)
            .env("SOURCE_DATE_EPOCH", "1773273600")
            .env("USER", "me")
            .output()
            .unwrap();
        let text = |bytes: &[u8]| {
            String::from_utf8_lossy(bytes).replace(&*self.dir.path().to_string_lossy(), "")
        };
        (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
    }

    fn issues(&self, args: &[&str]) -> Vec<Value> {
        let (code, out, err) = self.run(&[&["feed", "runs", "--format", "jsonl"], args].concat());
        assert_eq!(code, 0, "{err}");
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn id(&self, subtype: &str) -> String {
        let issues = self.issues(&[]);
        let issue = issues.iter().find(|issue| issue["subtype"] == subtype);
        issue.unwrap_or_else(|| panic!("{issues:#?}"))["id"].as_str().unwrap().to_owned()
    }
}

#[test]
fn issues_for_people() {
    let place = Place::new();
    let (code, out, _) = place.run(&["feed", "runs"]);
    assert_eq!(code, 0);
    assert_snapshot!(out);
}

#[test]
fn issues_for_programs() {
    let place = Place::new();
    let rows = place.issues(&["--occurrences", "--kind", "failure"]);
    assert_snapshot!(serde_json::to_string_pretty(&rows[0]).unwrap());
    let occurrences: Vec<&Value> = rows.iter().filter(|row| row["type"] == "occurrence").collect();
    assert_eq!(occurrences.len(), 3);
    for one in occurrences {
        let keys: Vec<&String> = one.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["type", "issue", "session", "call_id", "place", "schema_version"]);
    }
}

#[test]
fn every_format_has_the_issues() {
    let place = Place::new();
    for format in ["text", "json", "jsonl", "markdown", "html", "csv"] {
        let (code, out, err) = place.run(&["feed", "runs", "--format", format]);
        assert_eq!(code, 0, "{format}: {err}");
        assert!(out.contains("unknown flag"), "{format}: {out}");
    }
    let (code, _, err) = place.run(&["feed", "runs", "--report", "parquet=feed.parquet"]);
    assert_eq!(code, 0, "{err}");
    assert!(fs::read(place.dir.path().join("feed.parquet")).unwrap().starts_with(b"PAR1"));
    let (code, ..) = place.run(&["feed", "runs", "--format", "sarif"]);
    assert_eq!(code, 2);
}

#[test]
fn parts_and_lists_have_the_same_ids() {
    let place = Place::new();
    let id = |rows: &[Value]| -> Vec<String> {
        let mut ids: Vec<String> = rows.iter().map(|row| row["id"].to_string()).collect();
        ids.sort();
        ids.dedup();
        ids
    };
    let whole = id(&place.issues(&["--kind", "failure"]));
    let parts = [
        place.issues(&["--kind", "failure", "--shard", "1/2"]),
        place.issues(&["--kind", "failure", "--shard", "2/2", "--jobs", "1"]),
    ];
    assert_eq!(id(&parts.concat()), whole);
    fs::write(place.dir.path().join("list"), "runs/two.jsonl\n\nruns/one.jsonl\n").unwrap();
    let (_, out, _) =
        place.run(&["feed", "--files-from", "list", "--kind", "failure", "--format", "jsonl"]);
    let rows: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(id(&rows), whole);
    for shard in ["0/2", "3/2", "x", "1"] {
        assert_eq!(place.run(&["feed", "runs", "--shard", shard]).0, 2, "{shard}");
    }
}

#[test]
fn a_fix_is_shown_and_written_once() {
    let place = Place::new();
    let id = place.id("missing-path");
    let (code, out, _) = place.run(&["feed", "fix", &id, "runs"]);
    assert_eq!(code, 0);
    assert_snapshot!(out.replace(&id, "ID"));
    let file = place.dir.path().join("CLAUDE.md");
    assert!(!file.exists());
    // The project of the sessions is another one than the current directory.
    let (code, _, err) = place.run(&["feed", "fix", &id, "runs", "--apply", "--yes"]);
    assert_eq!(code, 2);
    assert!(err.contains("is of the project") && err.contains("--repo"), "{err}");
    assert!(!file.exists());
    // Nobody is there to ask.
    let apply = ["feed", "fix", &id[..8], "runs", "--repo", ".", "--apply"];
    assert_eq!(place.run(&apply).0, 2);
    for _ in 0..2 {
        assert_eq!(place.run(&[&apply[..], &["--yes"]].concat()).0, 0);
    }
    let text = fs::read_to_string(file).unwrap();
    assert_eq!(text, "## Known problems\n\n- `b.yml` does not exist, `b.yaml` does.\n");
    assert_eq!(place.run(&["feed", "fix", "0000", "runs"]).0, 2);
}

#[test]
fn a_fix_is_written_only_into_the_project_of_its_issue() {
    let place = Place::new();
    let root = place.dir.path().canonicalize().unwrap();
    let (project, other) = (root.join("project"), root.join("other"));
    for directory in [project.join(".git"), project.join("deep"), other.join(".git")] {
        fs::create_dir_all(directory).unwrap();
    }
    for entry in fs::read_dir(root.join("runs")).unwrap() {
        let file = entry.unwrap().path();
        let text = fs::read_to_string(&file).unwrap();
        let text = text.replace("\"cwd\":\"/w\"", &format!("\"cwd\":{:?}", project));
        fs::write(&file, text.replace("/w/", &format!("{}/", project.display()))).unwrap();
    }
    let id = place.id("missing-path");
    let apply = ["feed", "fix", &id, "../runs", "--apply", "--yes"];
    let (code, _, err) = place.run_in(&other, &apply);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("`cd /project`"), "{err}");
    assert!(!other.join("CLAUDE.md").exists() && !project.join("CLAUDE.md").exists());
    // Below the project, its own file is written.
    let apply = ["feed", "fix", &id, "../../runs", "--apply", "--yes"];
    assert_eq!(place.run_in(&project.join("deep"), &apply).0, 0);
    assert!(project.join("CLAUDE.md").exists() && !project.join("deep/CLAUDE.md").exists());
}

#[test]
fn decisions_change_states() {
    let place = Place::new();
    let (id, other) = (place.id("bad-arguments"), place.id("missing-path"));
    let state = |id: &str| {
        let issues = place.issues(&[]);
        let issue = issues.iter().find(|issue| issue["id"] == id).unwrap();
        issue["state"].as_str().unwrap().to_owned()
    };
    assert_eq!((state(&id).as_str(), state(&other).as_str()), ("ongoing", "ongoing"));
    assert_eq!(place.run(&["feed", "resolve", &id]).0, 0);
    assert_eq!(state(&id), "resolved");
    // A session that starts later brings it back.
    fs::write(
        place.dir.path().join("runs/three.jsonl"),
        session("three", "2026-03-12", &[flag("gh run list", "--x")]),
    )
    .unwrap();
    assert_eq!(state(&id), "regressed");
    assert_eq!(place.run(&["feed", "ignore", &id, "--more", "9"]).0, 0);
    let file = place.dir.path().join(".toolmark/feed.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    assert_snapshot!(text.replace(&id, "ID"));
    // Decisions of the same second: the later word counts in the order of words.
    assert_eq!(place.run(&["feed", "merge", &other, "--into", &id]).0, 0);
    let issues = place.issues(&["--kind", "failure"]);
    assert_eq!(issues.len(), 1, "{issues:#?}");
    assert_eq!((&issues[0]["count"], &issues[0]["merged"][0]), (&json!(4), &json!(other)));
    assert_eq!(place.run(&["feed", "merge", &id, "--into", &id]).0, 2);
    assert_eq!(place.run(&["feed", "resolve", "12"]).0, 2);
    fs::write(&file, "{}\n").unwrap();
    let (code, _, err) = place.run(&["feed", "resolve", &id]);
    assert!(code == 2 && err.contains("line 1 is not a decision"), "{err}");
}

/// Promotes an issue, repeats the fault with other values and expects a failure, then fixes it and
/// expects a pass.
#[test]
fn a_promoted_issue_fails_when_it_comes_back() {
    let place = Place::new();
    let id = place.id("bad-arguments");
    let (code, _, err) = place.run(&["feed", "promote", &id, "runs", "--to", "set"]);
    assert_eq!(code, 0, "{err}");
    let spec = fs::read_to_string(place.dir.path().join("set/toolmark.yaml")).unwrap();
    for word in
        ["\"type\":\"failure\"", "bad-arguments", "prompt: \"ship it\"", "workspace: \"/w\"", &id]
    {
        assert!(spec.contains(word), "{word}: {spec}");
    }
    assert_eq!(place.run(&["lint", "set/toolmark.yaml"]).0, 0);
    assert_eq!(place.run(&["grade", "set/toolmark.yaml"]).0, 1, "it fails on its own trace");
    let verdict = |calls: &[(&str, Value, &str)]| {
        let new = session("new", "2026-04-01", calls);
        fs::write(place.dir.path().join("new.jsonl"), new).unwrap();
        // Only the new run is graded.
        let spec: String = spec
            .lines()
            .filter(|line| !line.starts_with("    traces:"))
            .map(|line| format!("{line}\n"))
            .collect();
        fs::write(place.dir.path().join("new.yaml"), spec).unwrap();
        place.run(&["grade", "new.yaml", "new.jsonl"]).0
    };
    assert_eq!(verdict(&[flag("kubectl get pods", "--colour"), fine()]), 1);
    assert_eq!(verdict(&[fine()]), 0);
    // What is there is not written over, and what is named must exist.
    assert_eq!(place.run(&["feed", "promote", &id, "runs", "--to", "set"]).0, 2);
    assert_eq!(place.run(&["feed", "promote", "runs", "--to", "other"]).0, 2);
}

#[test]
fn the_week_is_promoted() {
    let place = Place::new();
    let recent = session(
        "four",
        "2026-03-11",
        &[("Bash", json!({"command": "ponyc x"}), "Exit code 127\nbash: ponyc: command not found")],
    );
    fs::write(place.dir.path().join("runs/four.jsonl"), recent).unwrap();
    let (code, _, err) = place.run(&["feed", "promote", "--weekly", "runs", "--to", "set"]);
    assert_eq!(code, 0, "{err}");
    let spec = fs::read_to_string(place.dir.path().join("set/2026-W11/toolmark.yaml")).unwrap();
    assert!(spec.contains("dependency") && !spec.contains("bad-arguments"), "{spec}");
}

#[test]
fn nothing_to_read_is_said() {
    let text = run(&["feed", "nowhere.jsonl"]);
    assert!(text.ends_with("--- exit 3\n"), "{text}");
}
