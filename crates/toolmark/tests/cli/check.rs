//! Tests of `toolmark check` and `toolmark rules`.

use crate::{DISK_FULL, run, sessions, stdout, toolmark, transcript};
use insta::assert_snapshot;
use serde_json::Value;

/// A session with a repeated read and a failing edit.
const FAULTS: &str = "crates/toolmark/tests/fixtures/faults.jsonl";

#[test]
fn a_scorecard_and_findings() {
    assert_snapshot!(run(&["check", FAULTS]));
}

#[test]
fn a_line_each_when_quiet() {
    assert_snapshot!(run(&["check", FAULTS, "--quiet"]));
}

#[test]
fn nothing_found_is_zero() {
    let text = run(&["check", DISK_FULL, "--select", "S101"]);
    assert!(text.contains("no findings in 1 session"), "{text}");
    assert!(text.ends_with("--- exit 0\n"), "{text}");
}

#[test]
fn exit_codes() {
    for (args, code) in [
        (&["check", FAULTS][..], 1),
        (&["check", FAULTS, "--exit-zero"], 0),
        (&["check", FAULTS, "--fail-on", "never"], 0),
        (&["check", FAULTS, "--select", "S", "--fail-on", "error"], 0),
        (&["check", FAULTS, "--select", "S"], 1),
        (&["check", FAULTS, "--select", "X9"], 2),
        (&["check", FAULTS, "--select", "S101", "--ignore", "S"], 2),
        (&["check", "nowhere.jsonl"], 3),
        (&["check"], 3),
        (&["check", "--explain", "S999"], 2),
    ] {
        let text = run(args);
        assert!(text.ends_with(&format!("--- exit {code}\n")), "{args:?}: {text}");
    }
}

#[test]
fn json_has_the_counts() {
    let output = toolmark(&["check", FAULTS, "--format", "json"]).output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let codes: Vec<_> =
        json["findings"].as_array().unwrap().iter().map(|f| f["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["A202", "S101"]);
    for finding in json["findings"].as_array().unwrap() {
        assert!(finding["evidence"][0]["call"]["place"]["line"].as_u64().unwrap() > 0);
    }
    let read = &json["scorecard"]["tools"]["Read"];
    assert_eq!((&read["calls"], &read["selection"]["of"]), (&2.into(), &2.into()));
    assert_eq!(read["selection"]["rate"], 0.5);
    assert!(read["recovery"]["rate"].is_null());
}

/// The only rules with findings in the session.
const TWO: &str = "S101,A202";

/// Returns a directory with one file.
fn with_file(name: &str, text: &str) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join(name);
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap().to_owned();
    (dir, file)
}

fn json_of(args: &[&str]) -> Value {
    serde_json::from_slice(&toolmark(args).output().unwrap().stdout).unwrap()
}

fn exit_of(args: &[&str]) -> i32 {
    toolmark(args).output().unwrap().status.code().unwrap()
}

#[test]
fn gates_decide() {
    for (gate, code) in [
        ("--gate=selection[Read] >= 0.05", 0),
        ("--gate=selection[Read] > 0.95", 1),
        ("--gate=selection[Read] >= 0.5", 3),
        ("--gate=recovery[Nothing.127] >= 0.8", 3),
        ("--gate=selection[Read] >= 0.05 min support 9", 3),
        ("--gate=selecton >= 0.5", 2),
        ("--gate=selection => 0.5", 2),
    ] {
        assert_eq!(exit_of(&["check", FAULTS, "--select", "S101", gate]), code, "{gate}");
    }
    // A failure takes precedence over unknown gates, and findings count only on request.
    let gate = "--gate=selection[Read] >= 0.05";
    let unknown = "--gate=recovery[Nothing.127] >= 0.8";
    let fails = "--gate=selection[Read] > 0.95";
    assert_eq!(exit_of(&["check", FAULTS, "--select", "S101", unknown, fails]), 1);
    assert_eq!(exit_of(&["check", FAULTS, "--select", "S101", gate, "--fail-on", "warning"]), 1);
    assert_eq!(exit_of(&["check", FAULTS, fails, "--exit-zero"]), 0);
    let text = run(&["check", FAULTS, "--gate=selecton >= 0.5"]);
    assert!(
        text.contains("did you mean \"selection\"?") && text.contains("at character 1"),
        "{text}"
    );
}

#[test]
fn gates_are_written_as_people_write_them() {
    // With a space, without a value, as a preset, before and after the traces.
    for (args, code) in [
        (&["check", FAULTS, "--select", "S101", "--gate", "selection[Read] >= 0.05"][..], 0),
        (&["check", "--select", "S101", "--gate", "selection[Read] > 0.95", FAULTS], 1),
        (&["check", "--gate", FAULTS], 3),
        (&["check", FAULTS, "--gate"], 3),
        (&["check", FAULTS, "--gate", "article"], 3),
        (&["check", "--gate", "article", FAULTS], 3),
        (&["check", FAULTS, "--gate", "artcle"], 2),
        (&["check", FAULTS, "--gate", "--exit-zero"], 0),
    ] {
        assert_eq!(exit_of(args), code, "{args:?}: {}", run(args));
    }
    let json = json_of(&["check", FAULTS, "--gate", "article", "--format", "json"]);
    let rows = json["gates"].as_array().unwrap();
    for line in [
        "selection.f1 >= 0.92 per tool",
        "arguments.valid == 1 per tool",
        "edit.minimal >= 0.85 per tool",
        "irreversibility.aware == 1 per tool",
        "recovery >= 0.8 per bucket",
    ] {
        assert!(rows.iter().any(|row| row["gate"] == line), "{line}: {json}");
    }
    // An undecided gate prints the evidence that it needs.
    let text = run(&["check", FAULTS, "--select", "S101", "--gate", "selection[Read] >= 0.8"]);
    assert!(text.contains("not enough evidence: about 5 more like these would tell"), "{text}");
    assert!(text.ends_with("--- exit 3\n"), "{text}");
}

#[test]
fn filters_that_leave_nothing_say_so() {
    let dir = tempfile::tempdir().unwrap();
    let old = dir.path().join("old.jsonl");
    std::fs::copy(crate::root().join(FAULTS), &old).unwrap();
    let file = std::fs::File::options().write(true).open(&old).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    let runs = dir.path().to_str().unwrap();
    let text = run(&["check", runs, "--since", "7d"]);
    assert!(text.contains("no session is left: --since left out 1 file"), "{text}");
    assert!(text.ends_with("--- exit 3\n"), "{text}");
    let elsewhere = dir.path().join("elsewhere");
    let text = run(&["check", runs, "--project", elsewhere.to_str().unwrap()]);
    assert!(text.contains("elsewhere left out 1 session"), "{text}");
    std::fs::copy(&old, dir.path().join("new.jsonl")).unwrap();
    let project = elsewhere.to_str().unwrap();
    let text = run(&["check", runs, "--since", "7d", "--project", project]);
    assert!(text.contains("--since left out 1 file, --project "), "{text}");
}

#[test]
fn gates_have_rows() {
    let gate = "--gate=selection >= 0.95 per tool";
    let json = json_of(&["check", FAULTS, "--select", "S101", gate, "--format", "json"]);
    let row = &json["gates"][0];
    assert_eq!((&row["measure"], &row["tool"]), (&"selection".into(), &"Read".into()));
    assert_eq!((&row["value"], &row["n"]), (&0.5.into(), &2.into()));
    assert_eq!((&row["verdict"], &json["verdict"]), (&"fail".into(), &"fail".into()));
    assert!(row["interval"][0].as_f64().unwrap() < 0.5);
    assert_snapshot!(run(&["check", FAULTS, "--select", "S101", gate]));
    let usual = json_of(&["check", FAULTS, "--gate", "--format", "json"]);
    let valid = usual["gates"].as_array().unwrap().iter();
    let valid = valid.filter(|row| row["measure"] == "arguments.valid").count();
    assert!(valid > 0, "{usual}");
}

#[test]
fn only_what_is_new_fails() {
    let dir = tempfile::tempdir().unwrap();
    let before = dir.path().join("before.json");
    let report = format!("json={}", before.display());
    let before = before.to_str().unwrap();
    assert_eq!(exit_of(&["check", FAULTS, "--select", TWO, "--report", &report]), 1);
    let text = run(&["check", FAULTS, "--select", TWO, "--baseline", before]);
    assert!(text.contains("no new findings (2 known, 0 gone)"), "{text}");
    assert!(text.ends_with("--- exit 0\n"), "{text}");
    // The same faults further down in another session are known too.
    let faults = std::fs::read_to_string(crate::root().join(FAULTS)).unwrap();
    let (_keep, copy) = with_file("copy.jsonl", &format!("\n\n{faults}"));
    assert_eq!(exit_of(&["check", &copy, "--select", TWO, "--baseline", before]), 0);
    assert_eq!(exit_of(&["check", FAULTS, &copy, "--select", TWO, "--baseline", before]), 1);
    let json =
        json_of(&["check", FAULTS, "--select", "S101", "--baseline", before, "--format", "json"]);
    assert_eq!(json["changes"], serde_json::json!({"new": 0, "known": 1, "gone": 1}), "{json}");
    assert_eq!(json["findings"][0]["new"], false);
    // Gates show the comparison: the session is paired with itself.
    let gate = "--gate=selection >= 0.1";
    let json = json_of(&[
        "check",
        FAULTS,
        "--select",
        TWO,
        gate,
        "--baseline",
        before,
        "--format",
        "json",
    ]);
    let compared = &json["gates"][0]["baseline"];
    assert_eq!((&compared["pairs"], &compared["p"]), (&1.into(), &1.0.into()), "{json}");
    for (text, what) in [("[]", "not a JSON report"), ("{\"findings\": [{}]}", "not a JSON report")]
    {
        let (_keep, file) = with_file("b.json", text);
        let text = run(&["check", FAULTS, "--select", TWO, "--baseline", &file]);
        assert!(text.contains(what) && text.ends_with("--- exit 2\n"), "{text}");
    }
    assert_eq!(exit_of(&["check", FAULTS, "--select", TWO, "--baseline", "nowhere.json"]), 3);
}

/// Sessions other than those of the baseline are compared by kind, not by file.
#[test]
fn other_sessions_are_compared_by_kind() {
    let faults = std::fs::read_to_string(crate::root().join(FAULTS)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let before = dir.path().join("before.json");
    let report = format!("json={}", before.display());
    let before = before.to_str().unwrap();
    assert_eq!(exit_of(&["check", FAULTS, "--select", "S101", "--report", &report]), 1);
    let id = json_of(&["check", FAULTS, "--format", "json"])["trajectories"][0]["id"].clone();
    let other = faults.replace(id.as_str().unwrap(), "another-session").replace("a.rs", "b.rs");
    let (_keep, other) = with_file("other.jsonl", &other);
    let args = ["check", &other, "--select", TWO, "--baseline", before];
    let json = json_of(&[&args[..], &["--format", "json"]].concat());
    let kinds = json["changes"]["kinds"].as_array().unwrap();
    let trend = |code: &str| {
        let kind = kinds.iter().find(|kind| kind["code"] == code).unwrap();
        (kind["trend"].as_str().unwrap().to_owned(), kind["now"]["found"].as_u64().unwrap())
    };
    assert_eq!(trend("S101"), ("same".to_owned(), 1), "{json}");
    // The run before did not look for it.
    assert_eq!(trend("A202"), ("new".to_owned(), 1), "{json}");
    let text = run(&args);
    assert!(text.contains("+ new A202 Edit") && !text.contains("S101 repeated-read"), "{text}");
    for format in ["html", "markdown"] {
        assert!(
            stdout(&[&args[..], &["--exit-zero", "--format", format]].concat())
                .contains("A202 Edit")
        );
    }
}

#[test]
fn reports_to_files() {
    let dir = tempfile::tempdir().unwrap();
    let mut args = vec!["check".to_owned(), FAULTS.to_owned(), "--quiet".to_owned()];
    let formats = ["text", "json", "jsonl", "junit", "sarif", "markdown", "html"];
    for format in formats {
        let file = dir.path().join(format);
        args.extend(["--report".to_owned(), format!("{format}={}", file.display())]);
    }
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    assert_eq!(exit_of(&args), 1);
    for format in formats {
        let text = std::fs::read_to_string(dir.path().join(format)).unwrap();
        assert!(text.contains("S101"), "{format}: {text}");
        assert_eq!(
            text,
            stdout(&["check", FAULTS, "--quiet", "--exit-zero", "--format", format]),
            "{format}"
        );
    }
    assert_eq!(exit_of(&["check", FAULTS, "--report", "pdf=x"]), 2);
    assert_eq!(exit_of(&["check", FAULTS, "--report", "html="]), 2);
}

#[test]
fn promoted_findings_are_caught() {
    for (per, args) in [("cluster", &[][..]), ("code", &["--cases", "1"]), ("bucket", &[])] {
        let dir = tempfile::tempdir().unwrap();
        let set = dir.path().join("set");
        let to = set.to_str().unwrap();
        let all = [
            &["check", FAULTS, "--select", TWO, "--exit-zero", "--promote", to, "--per", per][..],
            args,
        ];
        let text = run(&all.concat());
        assert!(text.ends_with("--- exit 0\n"), "{text}");
        let spec = set.join("toolmark.yaml");
        let spec = spec.to_str().unwrap();
        assert_eq!(exit_of(&["lint", spec]), 0, "{}", run(&["lint", spec]));
        let graded = json_of(&["grade", spec, to, "--format", "json"]);
        let outcomes = graded["outcomes"].as_array().unwrap();
        assert!(!outcomes.is_empty(), "{graded}");
        for outcome in outcomes {
            assert_eq!(outcome["verdict"], "fail", "{outcome}");
        }
        // The traces it names are found without being named.
        assert_eq!(exit_of(&["grade", spec]), 1);
        // What is there is not written over.
        assert_eq!(exit_of(&["check", FAULTS, "--promote", to]), 2);
    }
}

/// A promoted fault is detected in a new run of the prompt, whatever file it concerns, and a run
/// without the fault passes.
#[test]
fn promoted_faults_are_caught_with_other_arguments() {
    let dir = tempfile::tempdir().unwrap();
    let set = dir.path().join("set");
    let to = set.to_str().unwrap();
    run(&["check", FAULTS, "--select", "S101", "--promote", to]);
    let spec = set.join("toolmark.yaml");
    let text = std::fs::read_to_string(&spec).unwrap();
    for word in ["type\":\"finding", "\"code\":\"S101\"", "prompt: ", "workspace: \"/w\""] {
        assert!(text.contains(word), "{word}: {text}");
    }
    assert!(!text.contains("file_path"), "no argument is an expectation: {text}");
    let spec = spec.to_str().unwrap();
    let faults = std::fs::read_to_string(crate::root().join(FAULTS)).unwrap();
    let id = json_of(&["check", FAULTS, "--format", "json"])["trajectories"][0]["id"].clone();
    let again = faults.replace(id.as_str().unwrap(), "new-run").replace("counter.rs", "other.rs");
    let (_keep, again) = with_file("again.jsonl", &again);
    let graded = json_of(&["grade", spec, &again, "--format", "json"]);
    let verdicts = |graded: &Value, file: &str| -> Vec<String> {
        let outcomes = graded["outcomes"].as_array().unwrap().iter();
        let of_file = outcomes.filter(|one| one.to_string().contains(file));
        of_file.map(|one| one["verdict"].as_str().unwrap().to_owned()).collect()
    };
    assert!(verdicts(&graded, "again.jsonl").contains(&"fail".to_owned()), "{graded}");
    // A wrong code is an error with a suggestion.
    std::fs::write(spec, text.replace("S101", "S110")).unwrap();
    let linted = run(&["lint", spec]);
    assert!(
        linted.contains("unknown rule \"S110\"") && linted.contains("did you mean"),
        "{linted}"
    );
    assert!(linted.ends_with("--- exit 2\n") || linted.ends_with("--- exit 1\n"), "{linted}");
}

#[test]
fn promoted_traces_are_short_and_masked() {
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2));
    let text = std::fs::read_to_string(crate::root().join(FAULTS)).unwrap();
    let (dir, file) = with_file("secret.jsonl", &text.replace("not in this file", &secret));
    let set = dir.path().join("set");
    let to = set.to_str().unwrap();
    run(&["check", &file, "--promote", to, "--select", "A202"]);
    for entry in std::fs::read_dir(&set).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        assert!(!text.contains(&secret), "{text}");
    }
    let spec = set.join("toolmark.yaml");
    assert_eq!(exit_of(&["grade", spec.to_str().unwrap(), to]), 1);
    let trace = std::fs::read_dir(&set).unwrap().map(|e| e.unwrap().path());
    let trace = trace.into_iter().find(|p| p.extension().unwrap() == "jsonl").unwrap();
    let json: Value = serde_json::from_str(&std::fs::read_to_string(trace).unwrap()).unwrap();
    assert!(json["calls"].as_array().unwrap().len() <= 2, "{json}");
}

#[test]
fn a_file_says_what_to_check() {
    let config =
        "check:\n  select: [S]\n  severity: {S101: info}\n  gates:\n    - selection[Read] >= 0.3\n";
    let (dir, file) = with_file("toolmark.yaml", config);
    let json = json_of(&["check", FAULTS, "--config", &file, "--format", "json"]);
    let severities: Vec<_> =
        json["findings"].as_array().unwrap().iter().map(|f| &f["severity"]).collect();
    assert_eq!(severities, ["info"]);
    assert_eq!(json["gates"][0]["verdict"], "pass");
    // The one of the current directory is found; the command line wins.
    let faults = crate::root().join(FAULTS);
    let mut here = toolmark(&["check", faults.to_str().unwrap(), "--format", "json"]);
    let output = here.current_dir(dir.path()).output().unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["gates"][0]["verdict"], "pass");
    let json =
        json_of(&["check", FAULTS, "--config", &file, "--select", "A202", "--format", "json"]);
    assert_eq!(json["findings"][0]["code"], "A202");
    assert_eq!(exit_of(&["lint", &file]), 0);
}

#[test]
fn mistakes_of_the_file_have_places() {
    for (config, words) in [
        ("check:\n  gate: []\n", "toolmark.yaml:2:3"),
        ("check:\n  gates:\n    - selecton >= 1\n", "toolmark.yaml:3:7"),
        ("check:\n  select: [S999]\n", "toolmark.yaml:2:12"),
        ("check:\n  toolsets:\n    - id: x\n      tools: {a: {role: reeds}}\n", "toolmark.yaml:4"),
    ] {
        let (_keep, file) = with_file("toolmark.yaml", config);
        for args in [&["check", FAULTS, "--config", &file][..], &["lint", &file]] {
            let text = run(args);
            assert!(text.contains(words) && text.ends_with("--- exit 2\n"), "{args:?}: {text}");
        }
    }
    let (_keep, file) = with_file("toolmark.yaml", "graders:\n  - error-count\n");
    assert_eq!(exit_of(&["check", FAULTS, "--config", &file]), 2);
}

#[test]
fn a_spec_with_a_check_part_is_graded() {
    let spec = "graders:\n  - type: error-count\n    config: {max: 9}\ncheck:\n  select: [S]\n";
    let (_keep, file) = with_file("toolmark.yaml", spec);
    assert_eq!(exit_of(&["grade", &file, FAULTS]), 0);
    assert_eq!(exit_of(&["lint", &file]), 0);
}

#[test]
fn own_toolsets_are_used() {
    let trace = r#"{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"peek","arguments":"{\"where\":\"a.rs\"}"}}]}
{"role":"tool","tool_call_id":"1","content":"one"}
"#;
    let config = "check:\n  toolsets:\n    - id: mine\n      tools:\n        peek:\n          role: reads\n          path: file\n          schema: {type: object, required: [file]}\n";
    let (dir, file) = with_file("run.jsonl", trace);
    let config_file = dir.path().join("mine.yaml");
    std::fs::write(&config_file, config).unwrap();
    let config_file = config_file.to_str().unwrap();
    assert_eq!(exit_of(&["check", &file, "--select", "A201"]), 0);
    let json =
        json_of(&["check", &file, "--select", "A201", "--config", config_file, "--format", "json"]);
    assert_eq!(json["findings"][0]["tool"], "peek", "{json}");
}

#[test]
fn sessions_of_this_machine() {
    let home = sessions::home();
    let at_home = |args: &[&str]| {
        let mut command = toolmark(args);
        command.env("HOME", home.path());
        transcript(&mut command)
    };
    let count = |args: &[&str]| {
        let text = at_home(args);
        let sum = text.lines().find(|line| line.contains(" in ") && line.contains(" session"));
        let found =
            sum.and_then(|line| line.split(" in ").nth(1)?.split(',').next().map(str::to_owned));
        found.unwrap_or(text)
    };
    assert_eq!(count(&["check"]), "2 sessions");
    assert_eq!(count(&["check", "--since", "1h"]), "1 session");
    assert_eq!(count(&["check", "--limit", "1"]), "1 session");
    assert_eq!(count(&["check", "--project", "/home/mira/src/harbour"]), "1 session");
    assert!(at_home(&["check", "--project", "/home/nobody"]).ends_with("--- exit 3\n"));
    assert!(at_home(&["check", "--since", "soon"]).ends_with("--- exit 2\n"));
}

#[test]
fn secrets_are_masked() {
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2));
    let text = std::fs::read_to_string(crate::root().join(FAULTS)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("secret.jsonl");
    std::fs::write(&file, text.replace("not in this file", &secret)).unwrap();
    let file = file.to_str().unwrap();
    let shown = |args: &[&str]| {
        let output = toolmark(args).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let text = shown(&["check", file, "--format", "json"]);
    assert!(text.contains("A202") && !text.contains(&secret), "{text}");
    assert!(shown(&["check", file, "--format", "json", "--no-redact"]).contains(&secret));
}

#[test]
fn rules_are_listed_and_explained() {
    let list = stdout(&["rules"]);
    let json: Value = serde_json::from_str(&stdout(&["rules", "--format", "json"])).unwrap();
    for rule in json.as_array().unwrap() {
        let code = rule["code"].as_str().unwrap();
        assert!(list.lines().any(|line| line.trim_start().starts_with(code)), "{code}");
        assert_eq!(stdout(&["rules", code]), stdout(&["check", "--explain", code]));
    }
    assert_snapshot!(stdout(&["rules", "repeated-read"]));
}

#[test]
fn json_counts_for_a_team() {
    let json = json_of(&["check", "samples/claude-code", "--format", "json"]);
    let total = &json["overview"]["total"];
    assert_eq!((&total["sessions"], &total["affected"]), (&2.into(), &1.into()), "{total}");
    assert_eq!(total["calls"]["calls"], 17);
    assert_eq!(total["failed"]["calls"], 5);
    assert!(total["failed"]["tokens"].as_u64().unwrap() > 0);
    assert!(total["failed"]["duration_ms"].as_u64().unwrap() > 0);
    for part in ["by_model", "by_agent", "by_project", "by_week"] {
        let groups = json["overview"][part].as_array().unwrap();
        assert_eq!(groups.len(), 2, "{part}");
        let faults: u64 = groups.iter().map(|group| group["faults"].as_u64().unwrap()).sum();
        assert_eq!(total["faults"], faults, "{part}");
    }
    assert_eq!(json["sessions"].as_array().unwrap().len(), 2);
    let destroyed = &json["destructive"][0];
    assert_eq!(destroyed["announced"], "blind", "{destroyed}");
    assert_eq!(json["generated_at"], "2026-02-13T16:26:40Z");
}

#[test]
fn rows_are_of_findings_or_calls() {
    let lines = |args: &[&str]| -> usize {
        let output = toolmark(args).output().unwrap();
        String::from_utf8(output.stdout).unwrap().lines().count()
    };
    let found =
        json_of(&["check", FAULTS, "--format", "json"])["findings"].as_array().unwrap().len();
    assert_eq!(lines(&["check", FAULTS, "--format", "csv"]), 1 + found);
    let calls = ["check", "samples/claude-code", "--format", "csv", "--rows", "calls"];
    assert_eq!(lines(&calls), 1 + 17);
    assert_eq!(exit_of(&["check", FAULTS, "--rows", "calls"]), 2);
    let parquet = ["check", FAULTS, "--format", "parquet", "--rows", "calls"];
    let bytes = toolmark(&parquet).output().unwrap().stdout;
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
}

#[test]
fn the_calls_of_a_resumed_session_are_counted_once() {
    let dir = tempfile::tempdir().unwrap();
    let session = |id: &str| {
        let record = |kind: &str, n: usize, content: Value| {
            serde_json::json!({
                "type": kind, "uuid": format!("{kind}{n}"), "parentUuid": null, "sessionId": id, "cwd": "/w",
                "version": "2.1.0", "message": {"role": kind, "id": format!("m{n}"), "content": [content]},
            })
        };
        let calls = (0..2).flat_map(|n| {
            let call = format!("toolu_01AbCdEfGhIjKlMnOp{n}");
            [
                record("assistant", n, serde_json::json!({"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "frob --now"}})),
                record("user", n, serde_json::json!({"type": "tool_result", "tool_use_id": call, "is_error": true, "content": "Exit code 2\nno frob today"})),
            ]
        });
        calls.map(|line| format!("{line}\n")).collect::<String>()
    };
    let count = |files: &[&str]| {
        let output = toolmark(&["check", "--format", "json", "--exit-zero"])
            .args(files)
            .current_dir(dir.path())
            .output()
            .unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let notes = report["notes"].to_string();
        (report["findings"].as_array().unwrap().len(), notes.contains("not counted again"))
    };
    std::fs::write(dir.path().join("a.jsonl"), session("first")).unwrap();
    std::fs::write(dir.path().join("b.jsonl"), session("resumed")).unwrap();
    let (alone, noted) = count(&["a.jsonl"]);
    assert!(alone > 0 && !noted);
    assert_eq!(count(&["a.jsonl", "b.jsonl"]), (alone, true));
}
