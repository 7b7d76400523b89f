//! Tests of limits, budgets, and providers that refuse.

use super::{Stage, text};
use serde_json::Value;
use std::fs;

/// An agent that calls a tool repeatedly and reports each call.
const LOOP: &str = "
import json, time
print(json.dumps({'role': 'user', 'content': 'p'}), flush=True)
for n in range(200):
    call = {'id': str(n), 'function': {'name': 'look', 'arguments': '{}'}}
    print(json.dumps({'role': 'assistant', 'tool_calls': [call]}), flush=True)
    time.sleep(0.15)
    print(json.dumps({'role': 'tool', 'tool_call_id': str(n), 'content': 'x'}), flush=True)
";

#[test]
fn a_loop_is_stopped_within_one_call_of_its_limit() {
    let stage = Stage::new(
        "
targets: {looping: {command: [python3, '{spec_dir}/loop.py']}}
run: {limits: {calls: 4}}
graders: [{type: tool-call-count, config: {max: 100}}]
cases: [{id: a, prompt: p}]
",
    );
    stage.write("loop.py", LOOP);
    let output = stage.run(&["run", "toolmark.yaml", "--out", "r"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let result = stage.result("r", "looping", "a", 1);
    let calls = result["used"]["calls"].as_u64().unwrap();
    assert!((5..=6).contains(&calls), "{result}");
    assert_eq!(result["ended"], "limit");
    // What there is was graded; a maximum is unknown in a run that was stopped.
    let verdicts: Vec<&Value> =
        result["outcome"]["graders"].as_array().unwrap().iter().map(|g| &g["verdict"]).collect();
    assert_eq!(verdicts, ["fail", "unknown"]);
    assert!(text(&output).contains("the limit is 4"), "{}", text(&output));
}

/// A simulated Claude Code with its stream and session file.
const CLAUDE: &str = r#"#!/usr/bin/env python3
import json, os, sys, time
if '--version' in sys.argv:
    print('2.1.325 (Claude Code)'); sys.exit()
mode = os.environ['MODE']
id = sys.argv[sys.argv.index('--session-id') + 1]
if mode == 'refuses':
    print(json.dumps({'type': 'result', 'subtype': 'success', 'is_error': True,
        'terminal_reason': 'api_error', 'api_error_status': 429, 'result': 'slow down'}))
    sys.exit(1)
path = os.path.join(os.environ['CLAUDE_CONFIG_DIR'], 'projects', 'p')
os.makedirs(path)
session = open(os.path.join(path, id + '.jsonl'), 'w')
def say(record):
    record.update({'parentUuid': None, 'isSidechain': False, 'userType': 'external', 'sessionId': id, 'uuid': os.urandom(8).hex(), 'timestamp': '2026-11-16T13:28:54.164Z', 'version': '2.1.325', 'cwd': os.getcwd()})
    session.write(json.dumps(record) + '\n'); session.flush()
say({'type': 'user', 'message': {'role': 'user', 'content': sys.stdin.read()}})
for n in range(60):
    say({'type': 'assistant', 'message': {'id': 'm%d' % n, 'type': 'message', 'role': 'assistant', 'model': 'm',
        'content': [{'type': 'tool_use', 'id': 't%d' % n, 'name': 'Bash', 'input': {'command': 'ls'}}],
        'usage': {'input_tokens': 100000, 'output_tokens': 0}}})
    time.sleep(0.15)
    say({'type': 'user', 'message': {'role': 'user', 'content': [{'type': 'tool_result', 'tool_use_id': 't%d' % n, 'content': os.environ.get('ANTHROPIC_API_KEY', '')}]}})
print(json.dumps({'type': 'result', 'subtype': 'success', 'is_error': False, 'terminal_reason': 'completed', 'permission_denials': []}))
"#;

#[test]
fn a_budget_is_exceeded_by_at_most_one_call_per_job() {
    let stage = Stage::new(
        "
targets: {claude: {agent: claude-code, env: {MODE: works}, price: {input: 1, output: 1}}}
run: {jobs: 2, budget: {usd: 1.0}}
graders: [{type: tool-call-count, config: {max: 100}}]
cases: [{id: a, prompt: p}, {id: b, prompt: p}, {id: c, prompt: p}]
",
    );
    stage.program("bin/claude", CLAUDE);
    let secret = "sk-ant-test-0123456789-secret";
    let mut command = stage.command(&["run", "toolmark.yaml", "--out", "r"]);
    let output = command.env("ANTHROPIC_API_KEY", secret).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
    let summary: Value =
        serde_json::from_slice(&fs::read(stage.path("r/summary.json")).unwrap()).unwrap();
    let usd = summary["used"]["usd"].as_f64().unwrap();
    // A call costs 0.1; each of two jobs may make one more before it is seen.
    assert!(usd > 0.99 && usd < 1.45, "{usd}");
    assert_eq!(summary["summary"]["unknown"], 3);
    // The key that the agent was given, and printed, is nowhere on disk.
    let mut seen = 0;
    for file in toolmark_testing::files_below(&stage.path("r")) {
        let bytes = fs::read(&file).unwrap();
        seen += 1;
        let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(!found, "{}", file.display());
    }
    assert!(seen > 8 && !text(&output).contains(secret));
}

#[test]
fn a_provider_that_refuses_is_asked_less() {
    let stage = Stage::new(
        "
targets: {claude: {agent: claude-code, env: {MODE: refuses}}}
run: {jobs: 2, retries: 1}
graders: [{type: tool-call-count, config: {max: 100}}]
cases: [{id: a, prompt: p}, {id: b, prompt: p}]
",
    );
    stage.program("bin/claude", CLAUDE);
    let output = stage.run(&["run", "toolmark.yaml", "--out", "r"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
    assert!(text(&output).contains("claude: 1 at once"), "{}", text(&output));
    let result = stage.result("r", "claude", "a", 1);
    assert_eq!(
        (&result["ended"], &result["outcome"]["cause"]),
        (&"rate_limit".into(), &"rate_limit".into())
    );
    // A retry is not a trial.
    assert_eq!(result["attempts"].as_array().unwrap().len(), 2);
}
