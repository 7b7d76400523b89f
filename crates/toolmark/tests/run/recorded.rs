//! The recorded runs of six agents, replayed by programs that simulate them: the expected outcome
//! of each.

use super::{Stage, text};
use serde_json::Value;
use std::fs;
use toolmark_testing::find_shared;

/// Prints the recorded output of an agent, writes its session file, and hangs if the recorded agent
/// hung.
const SHIM: &str = r#"#!/usr/bin/env python3
import json, os, shutil, sys, time
agent = os.path.basename(sys.argv[0])
if '--version' in sys.argv:
    print('999.0.0'); sys.exit()
sys.stdin.read()
recorded = os.environ['RECORDED']
stdout = open(os.path.join(recorded, 'stdout')).read()
def first(key):
    for line in stdout.splitlines():
        try: value = json.loads(line).get(key)
        except ValueError: continue
        if value: return value
    return '0'
env = os.environ.get
place = {
    'claude': lambda: (env('CLAUDE_CONFIG_DIR'), 'projects/p/%s.jsonl' % first('session_id')),
    'codex': lambda: (env('CODEX_HOME'), 'sessions/2026/11/16/rollout-2026-11-16T00-00-00-%s.jsonl' % first('thread_id')),
    'copilot': lambda: (env('COPILOT_HOME'), 'session-state/%s/events.jsonl' % first('sessionId')),
    'gemini': lambda: (env('GEMINI_CLI_HOME'), '.gemini/tmp/x/chats/session-2026-11-16T00-00-0.jsonl'),
    'pi': lambda: (env('PI_CODING_AGENT_DIR'), 'sessions/x_0.jsonl'),
}.get(agent)
session = os.path.join(recorded, 'session.jsonl')
if place and os.path.exists(session):
    path = os.path.join(*place())
    os.makedirs(os.path.dirname(path), exist_ok=True)
    shutil.copy(session, path)
sys.stdout.write(stdout); sys.stdout.flush()
sys.stderr.write(open(os.path.join(recorded, 'stderr')).read()); sys.stderr.flush()
code = int(open(os.path.join(recorded, 'rc')).read() or 0)
if code == 124:
    time.sleep(600)
sys.exit(code)
"#;

/// The expected result of a recording, from the index.
fn expected(row: &Value) -> (&'static str, &'static str) {
    let mode = row["mode"].as_str().unwrap();
    let calls = row["calls_session"].as_u64().unwrap_or(0);
    match (mode, row["rc"].as_str().unwrap()) {
        (_, "124") if calls > 0 => ("limit", "fail"),
        (_, "124") => ("timeout", "unknown"),
        // The ports of the stand-in were 18902 for 500 and 18903 for 401.
        ("err401" | "err-18903", _) => ("credentials", "unknown"),
        ("err429", _) => ("rate_limit", "unknown"),
        ("err500" | "err-18902", _) => ("server", "unknown"),
        ("maxturns" | "budget", _) => ("limit", "fail"),
        ("badmodel-noflag", _) => ("start", "unknown"),
        _ => ("completed", "pass"),
    }
}

#[test]
fn every_recorded_end_means_what_it_must() {
    let Some(shared) = find_shared("run/recorded") else { return };
    let index = fs::read_to_string(shared.join("index.json")).unwrap();
    let index: Vec<Value> = serde_json::from_str(&index).unwrap();
    let mut targets = String::new();
    for row in &index {
        let (agent, mode) = (row["agent"].as_str().unwrap(), row["mode"].as_str().unwrap());
        let recorded = shared.join(agent).join(mode).canonicalize().unwrap();
        targets += &format!(
            "  {agent}-{mode}: {{agent: {agent}, env: {{RECORDED: {:?}}}}}\n",
            recorded.to_string_lossy()
        );
    }
    let stage = Stage::new(&format!(
        "targets:\n{targets}\
         run: {{jobs: 4, retries: 0, timeout: 6s}}\n\
         graders: [{{type: tool-call-count, config: {{max: 1000}}}}]\n\
         cases: [{{id: a, prompt: p}}]\n"
    ));
    for agent in ["claude", "codex", "copilot", "gemini", "opencode", "pi"] {
        stage.program(&format!("bin/{agent}"), SHIM);
    }
    let output = stage.run(&["run", "toolmark.yaml", "--out", "r"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let mut wrong = Vec::new();
    for row in &index {
        let name = format!("{}-{}", row["agent"].as_str().unwrap(), row["mode"].as_str().unwrap());
        let result = stage.result("r", &name, "a", 1);
        let (ended, verdict) = expected(row);
        let made =
            (result["ended"].as_str().unwrap(), result["outcome"]["verdict"].as_str().unwrap());
        // The session file is the trace; the stream where there is none.
        let calls = row["calls_session"].as_u64().or(row["calls_stdout"].as_u64());
        let seen = result["used"]["calls"].as_u64();
        let counts = ended == "completed" || ended == "limit";
        if made != (ended, verdict) || (counts && seen != calls) {
            wrong.push(format!(
                "{name}: {made:?} {seen:?}, expected {ended} {verdict} {calls:?}: {}",
                result["outcome"]["reason"]
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    toolmark_testing::assert_compared(index.len(), 40, "recorded runs");
    // Calls that were refused are graded, and noted.
    let denied = stage.result("r", "claude-ok", "a", 1);
    assert!(denied["notes"][0].as_str().unwrap().contains("denied by permissions: 1"), "{denied}");
}
