//! Tests that hardly any shell call of the shared sessions is denied.

use toolmark_hosts::toolset::Toolsets;
use toolmark_session::Session;
use toolmark_shell::Decision;
use toolmark_testing::{files_below, find_shared};
use toolmark_trace::{ReadOptions, Trajectory, read_path};

#[derive(Default)]
struct Counts {
    calls: usize,
    denied: Vec<String>,
}

fn count(run: &Trajectory, toolsets: &Toolsets, counts: &mut Counts) {
    let session = Session::new(run, toolsets);
    for call in session.calls() {
        let (Some(command), Some(analysis)) = (call.command(), call.analysis()) else { continue };
        counts.calls += 1;
        if analysis.decision == Decision::Deny {
            counts.denied.push(format!("{}: {command}", analysis.reason));
        }
    }
    for child in &run.children {
        count(child, toolsets, counts);
    }
}

#[test]
fn ordinary_calls_are_not_denied() {
    let Some(dir) = find_shared("traces") else { return };
    let toolsets = Toolsets::default();
    let mut counts = Counts::default();
    for path in files_below(&dir) {
        let Ok(runs) = read_path(&path, &ReadOptions::default()) else { continue };
        for run in runs {
            count(&run, &toolsets, &mut counts);
        }
    }
    assert!(counts.calls > 1000, "{} shell calls", counts.calls);
    let most = counts.calls / 100;
    assert!(
        counts.denied.len() <= most,
        "{} of {}: {:#?}",
        counts.denied.len(),
        counts.calls,
        counts.denied
    );
}
