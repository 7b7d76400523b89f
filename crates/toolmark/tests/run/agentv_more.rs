//! More run features of AgentV's files: batches, hooks, repositories, recorded runs, variables.

use super::{Stage, text};
use std::fs;

/// Cases that expect a word in the answer and a call.
fn spec(top: &str, cases: &[(&str, &str)]) -> String {
    let one = |(id, more): &(&str, &str)| {
        format!(
            "  - {{id: {id}, criteria: x, input: do {id}, {more} assertions: [{{name: g, type: contains, value: good}}]}}\n"
        )
    };
    format!("{top}\ntests:\n{}", cases.iter().map(one).collect::<String>())
}

fn verdicts(stage: &Stage, target: &str, cases: &[&str]) -> Vec<String> {
    let one = |case: &&str| {
        let result = stage.result("out", target, case, 1);
        format!("{} {}", result["ended"], result["outcome"]["verdict"]).replace('"', "")
    };
    cases.iter().map(one).collect()
}

/// Answers some cases, counts its invocations, and prints its input.
const BATCH: &str = r#"#!/bin/sh
echo "run $2 [$3]" >> "$LOG"
printf '%s\n' '{"id": "b", "output": [{"role": "assistant", "content": "good"}]}' \
  '{"id": "a", "text": "good", "cost_usd": 0.5}' '{"id": "c", "text": "bad"}' > "$1"
exit "${CODE:-0}"
"#;

#[test]
fn a_batch_is_one_command_whose_lines_are_the_answers() {
    for (code, expected) in [
        ("0", ["completed pass", "completed pass", "completed fail", "no_trace unknown"]),
        ("3", ["start unknown"; 4]),
    ] {
        let stage = Stage::new("{}");
        stage.program("batch.sh", BATCH);
        let log = stage.path("log");
        stage.write(
            ".agentv/targets.yaml",
            &format!(
                "targets:\n  - name: all\n    provider: cli\n    provider_batching: true\n    cwd: ..\n    \
                 command: ./batch.sh {{OUTPUT_FILE}} {{EVAL_ID}} {{PROMPT}}\n    \
                 env: {{LOG: {:?}, CODE: '{code}'}}\n",
                log.to_string_lossy()
            ),
        );
        let cases = [("a", ""), ("b", ""), ("c", ""), ("gone", "")];
        stage.write("evals/t.yaml", &spec("execution: {target: all, workers: 3}", &cases));
        let output = stage.run(&["run", "evals/t.yaml", "--out", "out"]);
        let found = verdicts(&stage, "all", &["a", "b", "c", "gone"]);
        assert_eq!(found, expected, "{}", text(&output));
        assert_eq!(fs::read_to_string(&log).unwrap(), "run batch []\n", "{}", text(&output));
        if code == "0" {
            assert!(text(&output).contains("no line with the id gone"), "{}", text(&output));
            // Each has its own line, and only that: a run can be graded again.
            let line =
                fs::read_to_string(stage.path("out/trials/all/a/1/attempt-1/session/output"));
            assert!(line.unwrap().starts_with("{\"id\": \"a\""));
            let again = stage.run(&["grade", "out"]);
            assert_eq!(again.status.code(), Some(1), "{}", text(&again));
        }
    }
}

#[test]
fn hooks_get_what_they_need_and_stop_a_trial_that_cannot_be_prepared() {
    let stage = Stage::new("{}");
    stage.write("template/base.txt", "base\n");
    stage.program(
        "evals/before.sh",
        "#!/bin/sh\n# In the directory of the eval file, with the workspace named.\n\
         test -f t.yaml || exit 9\ncat > \"$1/stdin.json\"; echo \"$2 $ADDED\" > \"$1/args.txt\"\n\
         test \"$2\" != broken || { echo no such thing >&2; exit 4; }\n",
    );
    stage.program("evals/after.sh", "#!/bin/sh\ncat > \"after-$1.json\"\n");
    stage.write(
        ".agentv/targets.yaml",
        "targets:\n  - name: agent\n    provider: cli\n    workspace_template: ../template\n    \
         command: cat stdin.json args.txt base.txt > {OUTPUT_FILE}\n",
    );
    let top = "execution: {target: agent, env: {ADDED: good}}\nworkspace:\n  hooks:\n    \
               before_each: {command: [./before.sh, '{{workspace_path}}', '{{test_id}}']}\n    \
               after_each: {command: './after.sh {{test_id}}'}";
    let cases = [("fine", "metadata: {commit: c0ffee},"), ("broken", "")];
    stage.write("evals/t.yaml", &spec(top, &cases));
    let output = stage.run(&["run", "evals/t.yaml", "--out", "out"]);
    let found = verdicts(&stage, "agent", &["fine", "broken"]);
    assert_eq!(found, ["completed pass", "setup unknown"], "{}", text(&output));
    assert!(text(&output).contains("no such thing"), "{}", text(&output));
    let kept = stage.path("out/trials/agent/fine/1/attempt-1/session/output");
    let answer = fs::read_to_string(kept).unwrap();
    for words in [
        "\"test_id\":\"fine\"",
        "\"case_metadata\":{\"commit\":\"c0ffee\"}",
        "\"eval_run_id\":\"out\"",
        "\"workspace_path\":\"/",
        "\"case_input\":\"do fine\"",
        "fine good\nbase\n",
    ] {
        assert!(answer.contains(words), "{words}: {answer}");
    }
    let after = fs::read_to_string(stage.path("evals/after-fine.json")).unwrap();
    assert!(after.contains("\"verdict\":\"pass\""), "{after}");
    assert_eq!(fs::read_dir(stage.path("template")).unwrap().count(), 1, "it is as it was");
}

#[test]
fn recorded_runs_are_replayed_for_their_own_case_only() {
    let stage = Stage::new("{}");
    let row = |case: &str, by: &str, words: &str| {
        format!(
            "{{\"schema_version\":\"agentv.replay_fixture.v1\",\"suite\":\"s\",\"test_id\":\"{case}\",\
             \"source_target\":\"{by}\",\"attempt\":0,\"output\":[{{\"role\":\"assistant\",\"content\":\"{words}\"}}]}}\n"
        )
    };
    stage.write(
        "evals/rows.jsonl",
        &[row("b", "live", "bad"), row("a", "old", "bad"), row("a", "live", "good")].concat(),
    );
    stage.write(
        ".agentv/targets.yaml",
        "targets:\n  - {name: again, provider: replay, fixtures: rows.jsonl, source_target: live}\n",
    );
    let top = "execution: {target: again, trials: {count: 2}}";
    stage.write("evals/t.yaml", &spec(top, &[("a", ""), ("b", ""), ("c", "")]));
    let output = stage.run(&["run", "evals/t.yaml", "--out", "out"]);
    let found = verdicts(&stage, "again", &["a", "b", "c"]);
    assert_eq!(
        found,
        ["completed pass", "completed fail", "no_trace unknown"],
        "{}",
        text(&output)
    );
    // One recording is one trial.
    let second = stage.result("out", "again", "a", 2);
    assert_eq!(second["ended"], "no_trace", "{second}");
    assert!(second["outcome"]["reason"].as_str().unwrap().contains("none for trial 2"), "{second}");
}

/// Creates a repository with a tag.
pub(super) fn repository(stage: &Stage, name: &str) {
    stage.write(&format!("{name}/fact.txt"), "good\n");
    for line in [
        &["init", "-q", "-b", "main"][..],
        &["add", "."],
        &["-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "-m", "one"],
        &["tag", "v1"],
    ] {
        let done =
            std::process::Command::new("git").current_dir(stage.path(name)).args(line).status();
        assert!(done.unwrap().success(), "{line:?}");
    }
    // What is not committed is not in a clone.
    stage.write(&format!("{name}/fact.txt"), "bad\n");
}

#[test]
fn a_repository_is_cloned_at_its_ref_into_the_workspace() {
    let stage = Stage::new("{}");
    repository(&stage, "repo");
    stage.write(
        ".agentv/targets.yaml",
        "targets:\n  - {name: agent, provider: cli, command: 'cat lib/fact.txt > {OUTPUT_FILE}; echo x > lib/fact.txt'}\n",
    );
    let top = "execution: {target: agent, keep_workspaces: true}\nworkspace:\n  \
               repos: [{path: ./lib, source: {type: local, path: ../repo}, checkout: {ref: v1}}]";
    stage.write("evals/t.yaml", &spec(top, &[("a", "")]));
    let output = stage.run(&["run", "evals/t.yaml", "--out", "out"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let result = stage.result("out", "agent", "a", 1);
    // It passed, and was kept all the same.
    let kept = std::path::PathBuf::from(result["workspace"].as_str().unwrap());
    assert_eq!(fs::read_to_string(kept.join("lib/fact.txt")).unwrap(), "x\n");
    let patch = fs::read_to_string(stage.path("out/trials/agent/a/1/workspace.patch")).unwrap();
    assert!(patch.contains("-good\n+x\n"), "{patch}");
    assert_eq!(fs::read_to_string(stage.path("repo/fact.txt")).unwrap(), "bad\n");
    // A ref that is not there is named before anything starts.
    let wrong = spec(&top.replace("v1", "v9"), &[("a", "")]);
    stage.write("evals/t.yaml", &wrong);
    let output = stage.run(&["run", "evals/t.yaml", "--out", "other"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(
        text(&output).contains("has no v9") && !stage.path("other").exists(),
        "{}",
        text(&output)
    );
}
