//! Tests with the shared traces of hosts whose tools are known: successful calls match the
//! schemas, and every finding fulfils the claims of its rule.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toolmark_check::{Checker, RULES};
use toolmark_hosts::toolset::Toolsets;
use toolmark_outcome::Confidence;
use toolmark_testing::{files_below, find_shared};
use toolmark_trace::{ReadOptions, Trajectory, read_path};

/// Returns the trajectories of all files that are traces.
fn runs(dir: &Path) -> impl Iterator<Item = Trajectory> {
    let read = |path: PathBuf| read_path(&path, &ReadOptions::default()).ok();
    files_below(dir).into_iter().filter_map(read).flatten()
}

#[test]
fn calls_that_worked_fit_the_schemas() {
    let Some(traces) = find_shared("traces") else { return };
    let checker = Checker::new(RULES.to_vec(), Confidence::Low, Toolsets::default());
    for host in [
        "claude_code",
        "claude_stream_json",
        "codex_rollout",
        "codex_exec_json",
        "copilot_cli",
        "gemini_cli",
        "gemini_stream_json",
    ] {
        let runs: Vec<Trajectory> = runs(&traces.join(host)).collect();
        assert!(!runs.is_empty(), "{host}");
        let mut counted = 0;
        for run in &runs {
            let checked = checker.check(run);
            counted += checked.scorecard.measures.values().map(|tally| tally.of).sum::<u64>();
            for finding in &checked.findings {
                let call = finding.evidence[0].call.as_ref().unwrap();
                let is_false = finding.code == "A201" && call.status == "succeeded";
                assert!(
                    !is_false,
                    "{} at {}:{}",
                    finding.message.raw(),
                    finding.place.file.raw(),
                    finding.place.line
                );
                assert!(finding.place.line > 0);
            }
        }
        assert!(counted > 0 || host == "codex_exec_json", "{host}: no call was counted");
    }
}

#[test]
fn few_calls_are_in_doubt() {
    let Some(traces) = find_shared("traces") else { return };
    let checker = Checker::default().with_doubts();
    let (mut calls, mut sessions) = (0, 0);
    let mut kinds: BTreeMap<&str, (u64, u64, u64)> = BTreeMap::new();
    for run in runs(&traces) {
        let checked = checker.check(&run);
        sessions += checked.scorecard.sessions;
        calls += checked.scorecard.total().calls;
        for doubt in &checked.doubts {
            let kind = kinds.entry(doubt.rubric.name).or_default();
            kind.0 += 1;
            kind.1 += u64::from(doubt.rules_say.is_none());
            kind.2 += u64::from(doubt.question.is_err());
            assert!(!doubt.why.is_empty());
        }
        for (rubric, left) in checked.not_asked {
            kinds.entry(rubric).or_default().0 += left;
        }
    }
    println!("{sessions} sessions, {calls} calls");
    for (rubric, (all, open, mute)) in &kinds {
        let share = *all as f64 / calls as f64;
        println!("{rubric}: {all} in doubt ({share:.4}), {open} open, {mute} without a question");
    }
    let all: u64 = kinds.values().map(|kind| kind.0).sum();
    assert!(all > 0, "nothing is in doubt");
    assert!(all * 10 <= calls, "{all} of {calls} calls are in doubt");
}
