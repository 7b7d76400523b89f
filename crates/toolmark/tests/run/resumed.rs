//! Tests of runs that were interrupted, changed, or inspected again.

use super::{Stage, text, wait_for};
use std::fs;
use std::process::Stdio;

const SPEC: &str = "
targets:
  slow:
    command: [sh, -c, 'echo {case} {trial} >> \"$LOG\"; sleep 0.3; echo good {case}']
    env: {LOG: LOGFILE}
run: {target: slow, jobs: 1, trials: 2, early_stop: false}
graders: [{type: output-matches, config: {pattern: good}}]
cases: [{id: a, prompt: p}, {id: b, prompt: p}, {id: c, prompt: p}]
";

fn stage() -> Stage {
    let stage = Stage::new("");
    let log = stage.path("log").to_string_lossy().into_owned();
    stage.write("toolmark.yaml", &SPEC.replace("LOGFILE", &log));
    stage
}

fn log(stage: &Stage) -> Vec<String> {
    let text = fs::read_to_string(stage.path("log")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn after_sigkill_a_run_goes_on_where_it_was() {
    let stage = stage();
    let whole = stage.run(&["run", "toolmark.yaml", "--out", "whole"]);
    assert_eq!(whole.status.code(), Some(0), "{}", text(&whole));
    fs::remove_file(stage.path("log")).unwrap();
    let mut command = stage.command(&["run", "toolmark.yaml", "--out", "cut"]);
    let mut running = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for(|| log(&stage).len() == 3, "the third trial");
    running.kill().unwrap();
    running.wait().unwrap();
    let finished = log(&stage)[..2].to_vec();
    // A running process holds the lock; now it is free.
    let output = stage.run(&["run", "--resume", "cut"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let all = log(&stage);
    for trial in &finished {
        assert_eq!(all.iter().filter(|one| *one == trial).count(), 1, "{trial} ran again: {all:?}");
    }
    assert_eq!(all.len(), 7, "six trials, one of them cut off: {all:?}");
    let summary = |name: &str| fs::read(stage.path(name).join("summary.json")).unwrap();
    assert_eq!(summary("cut"), summary("whole"));
    // The attempt that was cut off is kept.
    let cut: Vec<&str> = all[2].split(' ').collect();
    let trial = stage.path("cut/trials/slow").join(cut[0]).join(cut[1]);
    assert!(trial.join("attempt-1").is_dir() && trial.join("attempt-2").is_dir());
}

#[test]
fn other_graders_grade_again_and_other_prompts_are_refused() {
    let stage = stage();
    let output = stage.run(&["run", "toolmark.yaml", "--out", "r"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let spec = fs::read_to_string(stage.path("toolmark.yaml")).unwrap();
    // Other graders: nothing is run.
    stage.write("toolmark.yaml", &spec.replace("pattern: good", "pattern: good b"));
    let output = stage.run(&["run", "toolmark.yaml", "--resume", "r"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert_eq!(log(&stage).len(), 6);
    assert_eq!(stage.result("r", "slow", "a", 1)["outcome"]["verdict"], "fail");
    // What failed is run again, and the attempts before stay.
    let output = stage.run(&["run", "toolmark.yaml", "--resume", "r", "--rerun", "fail"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert_eq!(log(&stage).len(), 10);
    assert!(stage.path("r/trials/slow/a/1/attempt-1").is_dir());
    assert!(stage.path("r/trials/slow/a/1/attempt-2").is_dir());
    // Another prompt: refused, and said why.
    stage.write("toolmark.yaml", &spec.replace("{id: b, prompt: p}", "{id: b, prompt: q}"));
    let output = stage.run(&["run", "toolmark.yaml", "--resume", "r"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("the prompt of case b"), "{}", text(&output));
    // Trials and cases may be added.
    let more = spec.replace("trials: 2", "trials: 3").replace("]\n", ", {id: d, prompt: p}]\n");
    assert_ne!(more, spec);
    stage.write("toolmark.yaml", &spec.replace("trials: 2", "trials: 3"));
    let before = log(&stage).len();
    let output = stage.run(&["run", "toolmark.yaml", "--resume", "r"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(log(&stage).len(), before + 3);
    let runs = stage.run(&["runs", "--dir", "."]);
    assert!(text(&runs).contains("9 of 9 passed"), "{}", text(&runs));
}

#[test]
fn two_runners_cannot_have_one_directory() {
    let stage = stage();
    let mut command = stage.command(&["run", "toolmark.yaml", "--out", "r"]);
    let mut running = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for(|| !log(&stage).is_empty(), "the first trial");
    let output = stage.run(&["run", "toolmark.yaml", "--resume", "r"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("in use"), "{}", text(&output));
    assert!(running.wait().unwrap().success());
}
