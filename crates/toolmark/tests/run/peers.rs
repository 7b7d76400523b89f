//! Specs of Vally and AI GO!, run unchanged.

use super::{Stage, text};

/// Simulates Claude Code: writes the session file to the usual location, with one `Bash` call that
/// lists the input files.
const CLAUDE: &str = r#"#!/usr/bin/env python3
import json, os, sys
if '--version' in sys.argv:
    print('999.0.0'); sys.exit()
prompt = sys.stdin.read()
args = sys.argv
session = args[args.index('--session-id') + 1]
given = [p for p in ('in/data.txt', 'made', '.claude/skills/review/SKILL.md') if os.path.exists(p)]
if '--mcp-config' in args:
    given += sorted(json.load(open(args[args.index('--mcp-config') + 1]))['mcpServers'])
given.append(os.environ.get('MODE', ''))
given.append(args[args.index('--model') + 1])
path = os.path.join(os.environ['CLAUDE_CONFIG_DIR'], 'projects/p/%s.jsonl' % session)
os.makedirs(os.path.dirname(path), exist_ok=True)
base = {'sessionId': session, 'cwd': os.getcwd(), 'version': '2.1.325', 'timestamp': '2026-11-16T00:00:00.000Z', 'isSidechain': False}
usage = {'input_tokens': 50, 'output_tokens': 10}
def message(uuid, parent, content, stop):
    return dict(base, type='assistant', uuid=uuid, parentUuid=parent, message={'id': 'm' + uuid, 'type': 'message', 'role': 'assistant', 'model': 'x', 'content': content, 'stop_reason': stop, 'usage': usage})
records = [
    dict(base, type='user', uuid='1', parentUuid=None, message={'role': 'user', 'content': prompt}),
    message('2', '1', [{'type': 'tool_use', 'id': 't1', 'name': 'Bash', 'input': {'command': 'ls'}}], 'tool_use'),
    dict(base, type='user', uuid='3', parentUuid='2', message={'role': 'user', 'content': [{'type': 'tool_result', 'tool_use_id': 't1', 'content': 'x'}]}),
    message('4', '3', [{'type': 'text', 'text': ' '.join(given)}], 'end_turn'),
]
with open(path, 'w') as file:
    for record in records:
        file.write(json.dumps(record) + '\n')
print(json.dumps({'type': 'result', 'subtype': 'success', 'is_error': False, 'terminal_reason': 'completed', 'session_id': session, 'result': 'done'}))
"#;

const VALLY: &str = "
defaults: {executor: claude-cli, model: sonnet, runs: 2}
environment:
  files: [{src: data.txt, dest: in/data.txt}]
  skills: [skills/review]
  env: {MODE: test}
stimuli:
  - name: works
    prompt: list what there is
    environment:
      commands: ['touch made']
      mcpServers: {wiki: {type: stdio, command: wiki}}
    graders:
      - {type: tool-calls, config: {required: [{name: Bash, command: ls}]}}
      - type: output-contains
        config: {value: 'in/data.txt made .claude/skills/review/SKILL.md wiki test sonnet'}
  - name: too-much
    prompt: list what there is
    constraints: {max_tokens: 20}
    graders: [{type: tool-calls, config: {required: [Bash]}}]
";

#[test]
fn a_vally_spec_with_its_environment() {
    let stage = Stage::new("{}");
    stage.program("bin/claude", CLAUDE);
    stage.write("data.txt", "1\n");
    stage.write("skills/review/SKILL.md", "---\nname: review\ndescription: x\n---\n");
    stage.write("eval.yaml", VALLY);
    let output = stage.run(&["run", "eval.yaml", "--out", "out"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    for trial in [1, 2] {
        let result = stage.result("out", "claude-cli", "works", trial);
        assert_eq!(result["outcome"]["verdict"], "pass", "{}", text(&output));
    }
    let result = stage.result("out", "claude-cli", "too-much", 1);
    assert_eq!(result["outcome"]["verdict"], "fail", "{}", text(&output));
}

#[test]
fn what_a_vally_spec_asks_for_in_vain_is_named() {
    let stimulus = "name: a, prompt: b, graders: [{type: completed}]";
    for (defaults, more, complaint, code) in [
        ("{executor: cca}", "", "executor cca", 3),
        ("{executor: mock}", "", "no recorded runs configured", 3),
        ("{executor: claude-cli}", ", environment: nowhere", "no environment \"nowhere\"", 2),
        ("{executor: claude-cli}", ", environment: {docker: x}", "\"docker\" of an environment", 2),
        ("{executor: claude-cli}", ", simulation: {x: 1}", "cannot be simulated", 2),
        ("{executor: claude-cli}", ", timeout: soon", "timeout: expected a time", 2),
        (
            "{executor: claude-cli}",
            ", supported_executors: [copilot-sdk]",
            "case a is not run on claude-cli, only on copilot-sdk",
            2,
        ),
    ] {
        let stage = Stage::new("{}");
        stage.program("bin/claude", CLAUDE);
        let spec = format!("defaults: {defaults}\nstimuli:\n  - {{{stimulus}{more}}}\n");
        stage.write("eval.yaml", &spec);
        let output = stage.run(&["run", "eval.yaml"]);
        let said = text(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(complaint), "{spec}: {said}");
        assert_eq!(output.status.code(), Some(code), "{spec}: {said}");
    }
}

/// Two stimuli, one of which only another executor can run; recorded runs; a repository; kept
/// files.
const VALLY_MORE: &str = "
defaults: {executor: EXECUTOR, model: sonnet}
environment: {git: {source: repo, ref: v1}}
stimuli:
  - name: here
    prompt: list what there is
    artifacts: {include: ['*.txt', '.toolmark*'], exclude: [secret.txt]}
    graders: [{type: tool-calls, config: {required: [Bash]}}]
  - name: elsewhere
    prompt: list what there is
    supported_executors: [copilot-sdk]
    graders: [{type: tool-calls, config: {required: [Never]}}]
";

#[test]
fn a_vally_stimulus_is_skipped_by_name_and_its_files_are_kept() {
    let stage = Stage::new("{}");
    super::agentv_more::repository(&stage, "repo");
    let writes = "with open('made.txt', 'w') as made, open('secret.txt', 'w') as secret:\n    \
                  made.write('made'); secret.write('x')\n";
    let claude = CLAUDE
        .replace("prompt = sys.stdin.read()\n", &format!("prompt = sys.stdin.read()\n{writes}"));
    stage.program("bin/claude", &claude);
    stage.write("eval.yaml", &VALLY_MORE.replace("EXECUTOR", "claude-cli"));
    let output = stage.run(&["run", "eval.yaml", "--out", "out"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let note = "case elsewhere is not run on claude-cli, only on copilot-sdk";
    assert_eq!(text(&output).matches(note).count(), 2, "said and kept: {}", text(&output));
    let kept = stage.path("out/trials/claude-cli/here/1/artifacts");
    let mut names: Vec<String> = std::fs::read_dir(&kept)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["fact.txt", "made.txt"]);
    assert_eq!(std::fs::read_to_string(kept.join("fact.txt")).unwrap(), "good\n");
    // The recording replaces an agent.
    let session = stage.path("out/trials/claude-cli/here/1/attempt-1/session");
    let files = toolmark_testing::files_below(&session);
    std::fs::create_dir_all(stage.path("old")).unwrap();
    std::fs::copy(&files[0], stage.path("old/here.jsonl")).unwrap();
    stage
        .write("eval.yaml", &VALLY_MORE.replace("EXECUTOR", "{name: mock, config: {traces: old}}"));
    let output = stage.run(&["run", "eval.yaml", "--out", "mocked"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(stage.result("mocked", "mock", "here", 1)["used"]["calls"], 1);
}

/// A custom agent: returns a trace in AgentV's format for every prompt.
const SOLVER: &str = r#"#!/bin/sh
printf '%s\n' '{"output_messages":[{"role":"user","content":"x"},{"role":"assistant","content":"done","tool_calls":[{"tool":"search","input":{"q":"a"},"output":"x"}]}]}'
"#;

#[test]
fn an_aigo_task_with_a_solver_that_is_a_command() {
    let stage = Stage::new("{}");
    stage.program("solve", SOLVER);
    stage.write(
        "rows.jsonl",
        "{\"id\": \"r1\", \"prompt\": \"find a\", \"function_calls\": [\"search\"]}\n\
         {\"id\": \"r2\", \"prompt\": \"find b\", \"function_calls\": [\"other\"]}\n",
    );
    let task = "definition:\n  dataset: {path: rows.jsonl}\n  solver: {type: own, SOLVER}\n  \
                scorers:\n    - type: function_call_coverage\n      \
                function_calls: '{{ sample.function_calls }}'\n";
    stage.write("task.yaml", &task.replace("SOLVER", "command: [./solve, '{prompt}']"));
    let output = stage.run(&["run", "task.yaml", "--out", "out"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    for (row, verdict) in [("r1", "pass"), ("r2", "fail")] {
        let result = stage.result("out", "own", row, 1);
        assert_eq!(result["outcome"]["verdict"], verdict, "{row}: {}", text(&output));
    }
    // A solver of the platform is unknown, by name.
    stage.write("task.yaml", &task.replace(", SOLVER", ""));
    let output = stage.run(&["run", "task.yaml", "--out", "platform"]);
    assert!(text(&output).contains("solver own"), "{}", text(&output));
    assert_eq!(stage.result("platform", "own", "r1", 1)["ended"], "unsupported");
}
