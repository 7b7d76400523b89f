//! Tests that no process or file of a trial remains after it.

use super::{Stage, is_alive, text, wait_for};
use std::fs;
use std::process::Stdio;

/// An agent that leaves an orphaned process in a separate session.
const SPEC: &str = "
targets:
  sleeper:
    command: [sh, '{spec_dir}/agent.sh']
    env: {PID_FILE: PIDS, LINGERS: WAIT}
run: {target: sleeper, timeout: 2s, retries: 0}
graders: [{type: output-matches, config: {pattern: done}}]
cases: [{id: a, prompt: p}]
";

const AGENT: &str = "
(setsid sh -c 'echo $$ > \"$PID_FILE\"; exec sleep 300' &)
while [ ! -s \"$PID_FILE\" ]; do sleep 0.01; done
[ \"$LINGERS\" = no ] || sleep 300
echo done
";

fn stage(lingers: &str) -> Stage {
    let stage = Stage::new("");
    let pids = stage.path("pid");
    let spec = SPEC.replace("PIDS", &pids.to_string_lossy()).replace("WAIT", lingers);
    stage.write("toolmark.yaml", &spec);
    stage.write("agent.sh", AGENT);
    stage
}

fn pid(stage: &Stage) -> String {
    fs::read_to_string(stage.path("pid")).unwrap().trim().to_owned()
}

#[test]
fn after_a_good_end() {
    let stage = stage("no");
    let output = stage.run(&["run", "toolmark.yaml"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(!is_alive(&pid(&stage)));
}

#[test]
fn after_the_time_is_up() {
    let stage = stage("yes");
    let output = stage.run(&["run", "toolmark.yaml", "--out", "r"]);
    // Nothing was said: no step.
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
    assert_eq!(stage.result("r", "sleeper", "a", 1)["ended"], "timeout");
    assert!(!is_alive(&pid(&stage)));
}

#[test]
fn after_ctrl_c_and_after_sigkill() {
    for signal in ["INT", "KILL"] {
        let stage = stage("yes");
        let mut command =
            stage.command(&["run", "toolmark.yaml", "--out", "r", "--timeout", "60s"]);
        let mut running = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        wait_for(
            || fs::read_to_string(stage.path("pid")).is_ok_and(|pid| pid.ends_with('\n')),
            "it",
        );
        assert!(is_alive(&pid(&stage)), "the test can fail");
        let id = running.id().to_string();
        let sent = std::process::Command::new("kill").args([&format!("-{signal}"), &id]).status();
        assert!(sent.unwrap().success());
        let status = running.wait().unwrap();
        wait_for(|| !is_alive(&pid(&stage)), signal);
        if signal == "INT" {
            // Unknown: it was not run to its end. Its files are gone.
            assert_eq!(status.code(), Some(3));
            let work = stage.path("home/.cache/toolmark/work");
            assert_eq!(fs::read_dir(work).unwrap().count(), 0);
        }
        // The attempt is kept, and the trial is not done.
        assert!(stage.path("r/trials/sleeper/a/1/attempt-1").is_dir());
        assert!(!stage.path("r/trials/sleeper/a/1/result.json").exists());
    }
}

/// An agent that ignores termination requests.
const STUBBORN: &str = "
trap '' TERM
(setsid sh -c \"trap '' TERM; echo \\$\\$ > \\\"$PID_FILE\\\"; while :; do sleep 1; done\" &)
while :; do sleep 1; done
";

#[test]
fn ctrl_c_twice_does_not_wait() {
    let stage = stage("yes");
    stage.write("agent.sh", STUBBORN);
    let mut command = stage.command(&["run", "toolmark.yaml", "--out", "r", "--timeout", "60s"]);
    let mut running = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let has_started = || fs::read_to_string(stage.path("pid")).is_ok_and(|pid| pid.ends_with('\n'));
    wait_for(has_started, "the agent");
    let id = running.id().to_string();
    let interrupt = || {
        let sent = std::process::Command::new("kill").args(["-INT", &id]).status();
        assert!(sent.unwrap().success());
    };
    interrupt();
    std::thread::sleep(std::time::Duration::from_millis(700));
    // Once leaves it the time to clean up, which it does not use.
    assert!(is_alive(&pid(&stage)));
    let pressed = std::time::Instant::now();
    interrupt();
    assert_eq!(running.wait().unwrap().code(), Some(3));
    // Less than what is left of the five seconds after the first.
    assert!(pressed.elapsed().as_secs_f64() < 3.5, "{:?}", pressed.elapsed());
    assert!(!is_alive(&pid(&stage)));
}

#[test]
fn of_a_grader_that_runs_a_program() {
    let stage = stage("no");
    let pids = stage.path("grader-pid");
    let line = format!(
        "(setsid sh -c 'echo $$ > {}; exec sleep 300' &) ; while [ ! -s {} ]; do sleep 0.01; done",
        pids.display(),
        pids.display()
    );
    let spec = format!(
        "graders: [{{type: run-command, config: {{command: sh, args: [-c, {line:?}]}}}}]\n\
         cases: [{{id: a, prompt: p, workspace: .}}]\n"
    );
    stage.write("grade.yaml", &spec);
    stage.write(
        "a.jsonl",
        "{\"role\":\"user\",\"content\":\"p\"}\n{\"role\":\"assistant\",\"content\":\"x\"}\n",
    );
    let output = stage.run(&["grade", "grade.yaml", "a.jsonl"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(!is_alive(fs::read_to_string(pids).unwrap().trim()));
}
