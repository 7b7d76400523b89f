//! Tests that errors are reported before anything is started.

use super::{Stage, text};

#[test]
fn everything_that_is_missing_is_named_at_once() {
    let stage = Stage::new(
        "
targets:
  agent: {agent: claude-code, executable: no-such-agent}
  shell: {command: [sh, -c, 'echo {promt} {prompt}'], env: [NOT_SET]}
  gone: {agent: replay, traces: nowhere}
  ill: {command: ['true'], health: 'echo no licence >&2; exit 1'}
run:
  workspace:
    from: not-there
    files: [{src: neither.txt, dest: a.txt}]
    setup: ['echo {promt}']
    env: {KEY: '${{ NOR_THIS }}'}
    artifacts: ['../x']
graders: [{type: output-matches, config: {pattern: x}}]
cases: [{id: a, prompt: p}]
",
    );
    let output = stage.run(&["run", "toolmark.yaml", "--verbose"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    let said = text(&output);
    for words in [
        "there is no program no-such-agent",
        "unknown placeholder {promt}",
        "the variable NOT_SET is not set",
        "nowhere does not exist",
        "no licence",
        "not-there is not a directory",
        "neither.txt",
        "workspace: unknown placeholder {promt}; known: {workspace}",
        "the variable NOR_THIS is not set",
        "artifacts: ../x: the path must not leave the workspace",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(!stage.path(".toolmark").exists(), "nothing was started");
}

#[test]
fn mistakes_in_a_spec_have_their_places() {
    for (spec, words) in [
        ("targets: {x: {agent: claud-code}}", "did you mean claude-code"),
        ("targets: {x: {}}", "needs an agent or a command"),
        ("targets: {x: {agent: codex, command: a}}", "either an agent or a command"),
        ("targets: {x: {command: a, args: [b]}}", "args belongs to an agent"),
        ("targets: {x: {command: a, permission: full}}", "did you mean"),
        ("targets: {x: {command: a, permissions: all}}", "read, workspace, full"),
        ("targets: {x: {command: []}}", "a list of words"),
        ("run: {trials: 0}", "at least 1"),
        ("run: {trials: 2, pass: 3}", "can never pass"),
        ("run: {pass: most}", "80%"),
        ("run: {timeout: 10}", "expected"),
        ("run: {limits: {calls: many}}", "500k"),
        ("run: {retries: 11}", "at most 10"),
        ("run: {isolate: docker}", "none, copy, bwrap"),
        ("run: {workspace: {files: [{dest: ../x, content: y}]}}", "inside the workspace"),
        ("run: {workspace: {files: [{dest: x}]}}", "either src or content"),
    ] {
        let more =
            if spec.starts_with("targets") { "" } else { "targets: {x: {command: 'true'}}\n" };
        let stage = Stage::new(&format!(
            "{spec}\n{more}graders: [{{type: output-matches, config: {{pattern: x}}}}]\ncases: [{{id: a, prompt: p}}]\n"
        ));
        let output = stage.run(&["run", "toolmark.yaml"]);
        assert_eq!(output.status.code(), Some(2), "{spec}: {}", text(&output));
        assert!(text(&output).contains(words), "{spec}: {}", text(&output));
    }
    let stage = Stage::new(
        "graders: [{type: output-matches, config: {pattern: x}}]\ncases: [{id: a, prompt: p}]\n",
    );
    for (args, words) in [
        (&["run", "toolmark.yaml"][..], "no targets"),
        (&["run", "toolmark.yaml", "--target", "codx"], "no target codx"),
        (&["run", "--resume"], "no run in"),
        (&["run"], "no targets"),
        (&["run", "toolmark.yaml", "--rerun", "some"], "fail"),
    ] {
        let output = stage.run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", text(&output));
        assert!(text(&output).contains(words), "{args:?}: {}", text(&output));
    }
    std::fs::remove_file(stage.path("toolmark.yaml")).unwrap();
    let output = stage.run(&["run"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("there is no toolmark.yaml here"), "{}", text(&output));
}

#[test]
fn a_trial_that_cannot_run_is_unknown_and_the_rest_goes_on() {
    let stage = Stage::new(
        "
targets: {shell: {command: [sh, -c, 'echo good']}}
graders: [{type: output-matches, config: {pattern: good}}]
cases:
  - {id: setup, prompt: p, run: {workspace: {setup: ['echo broken >&2; exit 4']}}}
  - {id: silent, prompt: p, run: {target: mute}}
  - {id: killed, prompt: p, run: {target: killed, retries: 0}}
  - {id: code, prompt: p, run: {target: code}}
  - {id: fine, prompt: p, run: {target: shell}}
",
    );
    let spec = std::fs::read_to_string(stage.path("toolmark.yaml")).unwrap();
    let targets = "targets:\n  mute: {command: ['true']}\n  killed: {command: [sh, -c, 'echo good; kill -9 $$']}\n  \
                   code: {command: [sh, -c, 'echo good; exit 3'], needs_success: true}\n  shell: {command: [sh, -c, 'echo good']}";
    let spec = spec.replace("targets: {shell: {command: [sh, -c, 'echo good']}}", targets);
    let spec = spec.replace("run: {workspace", "run: {target: shell, workspace");
    stage.write("toolmark.yaml", &spec);
    let output = stage.run(&["run", "toolmark.yaml", "--out", "r"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
    for (target, case, cause) in [
        ("shell", "setup", "setup"),
        ("mute", "silent", "no_trace"),
        ("killed", "killed", "signal"),
        ("code", "code", "start"),
    ] {
        let result = stage.result("r", target, case, 1);
        assert_eq!(result["ended"], cause, "{case}: {result}");
        assert_eq!(result["outcome"]["verdict"], "unknown", "{case}");
    }
    assert_eq!(stage.result("r", "shell", "fine", 1)["outcome"]["verdict"], "pass");
    assert!(text(&output).contains("broken"), "{}", text(&output));
}

#[test]
fn a_dry_run_starts_nothing_and_shows_no_value() {
    let stage = Stage::new(
        "
targets: {shell: {command: [sh, -c, 'touch {spec_dir}/started; echo {prompt}'], env: [MY_KEY]}}
graders: [{type: output-matches, config: {pattern: x}}]
cases: [{id: a, prompt: p}]
",
    );
    let mut command = stage.command(&["run", "toolmark.yaml", "--dry-run", "--trials", "3"]);
    let output = command.env("MY_KEY", "value-of-my-key").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let said = text(&output);
    assert!(
        said.contains("MY_KEY") && said.contains("3 trials") && said.contains("sh -c"),
        "{said}"
    );
    assert!(!said.contains("value-of-my-key"), "{said}");
    assert!(!stage.path("started").exists() && !stage.path(".toolmark").exists());
}

#[test]
fn a_spec_that_changes_while_it_runs_is_run_as_it_was_and_noted() {
    let stage = Stage::new(
        "
targets: {shell: {command: [sh, -c, 'echo \"# changed\" >> {spec_dir}/toolmark.yaml; echo good']}}
run: {jobs: 1}
graders: [{type: output-matches, config: {pattern: good}}]
cases: [{id: a, prompt: p}, {id: b, prompt: p}]
",
    );
    let output = stage.run(&["run", "toolmark.yaml", "--out", "r"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("was changed while it ran"), "{}", text(&output));
    let kept = std::fs::read_to_string(stage.path("r/spec/toolmark.yaml")).unwrap();
    assert_eq!(kept.matches("# changed").count(), 1, "{kept}");
}

#[test]
fn a_variable_with_another_value_is_another_run() {
    let spec = "
targets: {shell: {command: [sh, -c, 'echo $MODE'], env: {MODE: good}}}
graders: [{type: output-matches, config: {pattern: good}}]
cases: [{id: a, prompt: p}]
";
    let stage = Stage::new(spec);
    let output = stage.run(&["run", "toolmark.yaml", "--out", "r"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    stage.write("toolmark.yaml", &spec.replace("MODE: good", "MODE: bad"));
    let output = stage.run(&["run", "toolmark.yaml", "--resume", "r"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("the target of case a on shell changed"), "{}", text(&output));
}

/// Uses a small separate file system that is full; skipped if it cannot be created.
#[test]
fn a_full_disk_is_named_and_what_is_not_kept_is_not_graded() {
    let stage = Stage::new(
        "
targets: {shell: {command: [sh, -c, 'test {case} != big || head -c 3000000 /dev/zero | tr \"\\0\" x; echo good']}}
run: {jobs: 1}
graders: [{type: output-matches, config: {pattern: '.'}}]
cases: [{id: small, prompt: p}, {id: big, prompt: p}, {id: after, prompt: p}]
",
    );
    std::fs::create_dir(stage.path("disk")).unwrap();
    let mut line = std::process::Command::new("unshare");
    line.args(["-m", "sh", "-c", "mount -t tmpfs -o size=2m tmpfs disk && exec \"$@\"", "sh"]);
    line.arg(env!("CARGO_BIN_EXE_toolmark"));
    line.args(["run", "toolmark.yaml", "--out", "disk/r", "--format", "json"]);
    line.current_dir(stage.path(".")).env("HOME", stage.path("home"));
    let output = line.output().unwrap();
    if text(&output).contains("mount:") || text(&output).contains("unshare") {
        toolmark_testing::skip("a small disk cannot be mounted here");
        return;
    }
    let report: serde_json::Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("no report: {}", text(&output)));
    let found: Vec<String> = report["outcomes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| format!("{} {}", row["case"], row["verdict"]).replace('"', ""))
        .collect();
    // The part that was kept would have passed.
    assert_eq!(found[..2], ["small pass", "big unknown"], "{}", text(&output));
    assert!(text(&output).contains("No space left on device"), "{}", text(&output));
}
