//! Tests of workspaces: isolated copies, and their changes.

use super::{Stage, text};
use std::fs;

const SPEC: &str = "
targets:
  writer:
    command: [sh, -c, 'echo {case} > out.txt; sleep 0.3; cat out.txt; rm gone.txt; ls ~']
run:
  target: writer
  jobs: 2
  workspace:
    from: source
    files: [{dest: given/text.txt, content: hello}]
    setup: ['cat > hook.json; echo $SETTING > setting.txt']
    teardown: [[sh, -c, 'cat > {spec_dir_of_test}/down-{case}.json']]
    env: {SETTING: on}
cases:
  - id: one
    prompt: first
    graders: &graders
      - {type: file-contains, config: {path: hook.json, value: '\"event\":\"setup\"'}}
      - {type: file-contains, config: {path: setting.txt, value: 'on'}}
      - {type: file-exists, config: {path: given/text.txt}}
      - {type: diff-contains, config: {value: 'deleted file mode'}}
      - {type: diff-not-contains, config: {value: hook.json}}
      - {type: output-matches, config: {pattern: '^one$'}}
      - {type: diff-contains, config: {value: '+one'}}
  - id: two
    prompt: second
    graders:
      - {type: output-matches, config: {pattern: '^two$'}}
      - {type: file-contains, config: {path: out.txt, value: two}}
";

#[test]
fn two_at_once_do_not_meet() {
    let stage = Stage::new("");
    stage.write(
        "toolmark.yaml",
        &SPEC.replace("{spec_dir_of_test}", &stage.path(".").to_string_lossy()),
    );
    stage.write("source/gone.txt", "bye\n");
    let output = stage.run(&["run", "toolmark.yaml", "--out", "r"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let left: Vec<_> = fs::read_dir(stage.path("source")).unwrap().collect();
    assert_eq!(left.len(), 1, "the source is as it was");
    let patch = fs::read_to_string(stage.path("r/trials/writer/one/1/workspace.patch")).unwrap();
    assert!(patch.contains("+++ b/out.txt") && patch.contains("a/gone.txt"), "{patch}");
    let down = fs::read_to_string(stage.path("down-one.json")).unwrap();
    assert!(down.contains("\"verdict\":\"pass\""), "{down}");
    // Passed: nothing is kept.
    let work = stage.path("home/.cache/toolmark/work");
    assert_eq!(fs::read_dir(work).unwrap().count(), 0);
}

#[test]
fn a_failure_keeps_its_files_and_a_run_can_be_graded_again() {
    let stage = Stage::new(
        "
targets: {writer: {command: [sh, -c, 'echo wrong | tee out.txt']}}
cases: [{id: a, prompt: p, graders: [{type: file-contains, config: {path: out.txt, value: right}}]}]
",
    );
    let output = stage.run(&["run", "toolmark.yaml", "--out", "r"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let result = stage.result("r", "writer", "a", 1);
    let kept = result["workspace"].as_str().unwrap();
    assert!(fs::read_to_string(format!("{kept}/out.txt")).unwrap().contains("wrong"));
    let spec = fs::read_to_string(stage.path("toolmark.yaml")).unwrap();
    stage.write("toolmark.yaml", &spec.replace("value: right", "value: wrong"));
    let output = stage.run(&["grade", "r"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    // By the spec of that time, which the run keeps.
    let output = stage.run(&["grade", "r/spec/toolmark.yaml", "r"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let output = stage.run(&["check", "r", "--format", "json"]);
    // One trace was read; the calls of a plain answer are unknown.
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
    assert!(text(&output).contains("\"files\": 1,"), "{}", text(&output));
    let output = stage.run(&["runs", "r"]);
    assert!(
        text(&output).contains("fail") && text(&output).contains("a [writer] 1"),
        "{}",
        text(&output)
    );
}

#[test]
fn in_place_the_diff_is_of_the_agent_and_not_of_our_runs() {
    let stage = Stage::new(
        "
targets: {writer: {command: [sh, -c, 'echo new > new.txt; echo done']}}
run: {isolate: none, workspace: {from: project}}
cases: [{id: a, prompt: p, graders: [{type: diff-contains, config: {value: b/new.txt}}, {type: diff-not-contains, config: {value: .toolmark}}]}]
",
    );
    stage.write("project/old.txt", "old");
    let output = stage.run(&["run", "toolmark.yaml", "--out", "project/.toolmark/runs/r"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(stage.path("project/new.txt").exists());
}

#[test]
fn a_sandbox_keeps_an_agent_in_its_workspace() {
    let stage = Stage::new("");
    let outside = stage.path("outside.txt");
    let shared = format!("/dev/shm/toolmark-test-{}", std::process::id());
    stage.write(
        "toolmark.yaml",
        &format!(
            "targets:\n  escapee:\n    command: [sh, -c, 'echo in > in.txt; echo x > {}; echo x > {shared}; echo answered']\n\
             run: {{isolate: bwrap}}\n\
             cases: [{{id: a, prompt: p, graders: [{{type: file-exists, config: {{path: in.txt}}}}]}}]\n",
            outside.display()
        ),
    );
    let output = stage.run(&["run", "toolmark.yaml"]);
    if text(&output).contains("neither bwrap nor Landlock") {
        toolmark_testing::skip("neither bwrap nor Landlock works here");
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(!outside.exists());
    assert!(!std::path::Path::new(&shared).exists(), "{shared} is shared with other programs");
    // Without it, the file is written: the test can fail.
    let output = stage.run(&["run", "toolmark.yaml", "--isolate", "copy"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(outside.exists());
    // Where there is no bwrap, Landlock does the same.
    fs::remove_file(&outside).unwrap();
    let _ = fs::remove_file(&shared);
    stage.program("bin/bwrap", "#!/bin/sh\nexit 1\n");
    let output = stage.run(&["run", "toolmark.yaml"]);
    if output.status.code() != Some(2) {
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        assert!(!outside.exists(), "{}", text(&output));
        assert!(!std::path::Path::new(&shared).exists(), "{}", text(&output));
        assert!(text(&output).contains("Landlock"), "{}", text(&output));
    }
}

#[test]
fn the_example_of_init_runs() {
    let stage = Stage::new("");
    fs::remove_file(stage.path("toolmark.yaml")).unwrap();
    let output = stage.run(&["init", "--run"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let output = stage.run(&["run", "toolmark.yaml"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("2 passed"), "{}", text(&output));
    // The reports have the formats of the other systems.
    for format in ["vally", "agentv", "junit", "html"] {
        let out = format!("{format}.out");
        let report = format!("{format}={out}");
        let output = stage.run(&["run", "toolmark.yaml", "--resume", "--report", &report]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        let text = fs::read_to_string(stage.path(&out)).unwrap();
        assert!(text.contains("find-the-fact"), "{format}: {text}");
        if matches!(format, "vally" | "agentv") {
            assert!(text.contains("\"read\""), "{format} has the calls: {text}");
        }
    }
    let output =
        stage.run(&["run", "toolmark.yaml", "--rerun", "all", "--report", "agentv=a.jsonl"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let rows = fs::read_to_string(stage.path("a.jsonl")).unwrap();
    assert!(rows.lines().next().unwrap().contains("\"target\":\"example\""), "{rows}");
}
