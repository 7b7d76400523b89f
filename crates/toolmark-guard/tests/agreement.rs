//! Agreement of the guard, its replay and `toolmark check` about every call of the shared traces:
//! the guard gets each call as a payload, in the form that a host would send. `check` knows the
//! rest of the session and may excuse calls that the guard stops; it never stops calls that the
//! guard allows.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say so")]

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use toolmark_check::Checker;
use toolmark_guard::{Guard, GuardAnswer};
use toolmark_hosts::toolset::Toolsets;
use toolmark_session::Session;
use toolmark_session::effects::Arguments;
use toolmark_session::past::Past;
use toolmark_session::session::SessionCall;
use toolmark_shell::Decision;
use toolmark_testing::{files_below, find_shared};
use toolmark_trace::{ReadOptions, Trajectory, read_path};

/// Returns the runs of all files that are traces.
fn runs(dir: &Path) -> impl Iterator<Item = Trajectory> {
    let read = |path: PathBuf| read_path(&path, &ReadOptions::default()).ok();
    files_below(dir).into_iter().filter_map(read).flatten()
}

fn args(call: &SessionCall<'_>) -> Value {
    match call.as_input().args {
        Arguments::None => Value::Null,
        Arguments::Json(value) => value.clone(),
        Arguments::Text(text) => Value::String(text.into_owned()),
    }
}

/// Returns the call as a payload of plain JSON.
fn plain(session: &Session<'_>, call: &SessionCall<'_>) -> Value {
    let mut payload = json!({
        "tool": call.call.name.full(),
        "host": session.host().id,
        "cwd": session.trajectory().cwd.as_ref().map(|cwd| cwd.get()),
    });
    if call.call.args.is_some() {
        payload["args"] = args(call);
    }
    payload
}

/// Returns the call as a payload of Claude Code.
fn claude(session: &Session<'_>, call: &SessionCall<'_>) -> Value {
    json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "/t",
        "cwd": session.trajectory().cwd.as_ref().map(|cwd| cwd.get()),
        "tool_name": call.call.name.full(), "tool_input": args(call), "tool_use_id": "c",
    })
}

fn decided(host: &str, payload: &Value, guard: &Guard, past: &Past) -> GuardAnswer {
    let text = payload.to_string();
    let event = toolmark_hosts::by_id(host).unwrap().read(text.as_bytes()).unwrap();
    guard.decide(&event, Some(past))
}

#[test]
fn one_verdict_on_every_call() {
    let Some(traces) = find_shared("traces") else { return };
    let (guard, checker) = (Guard::default(), Checker::default().keep_sessions());
    let toolsets = Toolsets::default();
    let (mut calls, mut stops, mut excused) = (0, 0, 0);
    let runs: Vec<Trajectory> = runs(&traces).collect();
    for run in runs.iter().flat_map(Trajectory::flatten) {
        let session = Session::new(run, &toolsets);
        let replay = guard.replay_alone(run, &checker);
        let checked = checker.check_alone(run).decisions;
        let all = |allow: u64, ask: u64, deny: u64| allow + ask + deny;
        assert_eq!(
            all(replay.allow, replay.ask, replay.deny),
            all(checked.allow, checked.ask, checked.deny)
        );
        assert!(checked.ask <= replay.ask && checked.deny <= replay.deny);
        let stopped = |index: usize| {
            let stop = checked.stops.iter().find(|stop| stop.call.index == index);
            let again = replay.stops.iter().find(|stop| stop.call.index == index);
            let again = again.map(|stop| (stop.verdict.decision, stop.verdict.reason.as_str()));
            if let Some(stop) = stop {
                assert_eq!(Some((stop.decision, stop.reason.raw())), again);
            }
            let (decision, reason) = again.unzip();
            (decision.unwrap_or(Decision::Allow), reason, stop.is_none() && again.is_some())
        };
        let mut past = Past::default();
        for call in session.calls() {
            let (decision, reason, is_excused) = stopped(call.index);
            excused += u64::from(is_excused);
            let mut verdicts = vec![decided("plain", &plain(&session, call), &guard, &past)];
            if session.host().id == "claude-code" {
                verdicts.push(decided("claude-code", &claude(&session, call), &guard, &past));
            }
            let left = verdicts[0].analysis.as_ref().map(|effects| effects.left.clone());
            past.follow(call, left);
            for verdict in verdicts {
                assert_eq!(verdict.decision, decision, "{call:?}: {}", verdict.reason);
                assert_eq!(Some(verdict.reason.as_str()).filter(|_| reason.is_some()), reason);
            }
            calls += 1;
            stops += u64::from(decision != Decision::Allow);
        }
    }
    eprintln!("{calls} calls, {stops} of them stopped, {excused} of these excused");
    assert!(calls > 1_000 && stops > 10, "{calls} calls, {stops} stops");
    assert!(excused * 3 < stops, "{excused} of {stops} stops are excused");
}
