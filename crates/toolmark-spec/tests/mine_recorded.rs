//! Tests that unrecorded facts are unknown: data that a trace lacks supports no expectation.

use serde_json::{Value, json};
use toolmark_outcome::testing::{agentv_with, runs};
use toolmark_spec::mine::{MineSettings, Observed, mine};
use toolmark_trace::{Fact, Fidelity, Trajectory};

fn run(tools: &[&str]) -> Trajectory {
    let calls: Vec<Value> =
        tools.iter().map(|tool| json!({"tool": tool, "input": {}, "output": "ok"})).collect();
    runs(&agentv_with(json!(calls), json!({}))).remove(0)
}

/// Builds a run with a result whose call is not in the trace.
fn partly(tools: &[&str]) -> Trajectory {
    Trajectory { orphans: 1, ..run(tools) }
}

/// Builds a run that records no calls.
fn unrecorded() -> Trajectory {
    let mut run = run(&[]);
    run.fidelity = run.fidelity.union(Fidelity::lacking(&[Fact::Calls]));
    run
}

fn spec(passing: Vec<Trajectory>, failing: Vec<Trajectory>) -> String {
    let of = |runs: Vec<Trajectory>, passed| {
        runs.into_iter().map(move |run| Observed { run, case: None, passed })
    };
    let all: Vec<Observed> = of(passing, true).chain(of(failing, false)).collect();
    mine(&all, &MineSettings::default()).to_yaml()
}

#[test]
fn runs_that_record_some_calls_support_no_never() {
    let failing = || vec![run(&["read", "erase"])];
    let full = spec((0..5).map(|_| run(&["read"])).collect(), failing());
    assert!(full.contains("- erase  # 5 of 5 runs; failing runs call it"), "{full}");
    let some = spec((0..5).map(|_| partly(&["read"])).collect(), failing());
    assert!(!some.contains("erase"), "{some}");
    assert!(some.contains("- read  # 5 of 5 runs"), "what was called was called\n{some}");
    assert!(!some.contains("max:"), "nor is there a most\n{some}");
}

#[test]
fn they_refute_and_are_counted() {
    let mut passing: Vec<Trajectory> = (0..5).map(|_| run(&["read", "write"])).collect();
    passing.push(partly(&["read"]));
    let mixed = spec(passing, vec![run(&["read", "write", "erase"])]);
    assert!(mixed.contains("- erase  # 5 of 6 runs; 1 does not tell"), "{mixed}");
    assert!(mixed.contains("# 1 run does not record all calls"), "{mixed}");
    // A call that is seen was made, whatever else is not recorded.
    let mut passing: Vec<Trajectory> = (0..5).map(|_| run(&["read"])).collect();
    passing.push(partly(&["read", "erase"]));
    let refuted = spec(passing, vec![run(&["read", "erase"])]);
    assert!(!refuted.contains("erase"), "{refuted}");
}

#[test]
fn runs_without_calls_in_the_trace_are_left_out() {
    let mut passing: Vec<Trajectory> = (0..5).map(|_| run(&["read"])).collect();
    passing.push(unrecorded());
    let left = spec(passing, Vec::new());
    assert!(left.contains("- read  # 5 of 5 runs"), "{left}");
    assert!(!left.contains("none: true"), "{left}");
    let none = spec(vec![unrecorded(), unrecorded()], Vec::new());
    assert!(!none.contains("none: true") && !none.contains("graders:"), "{none}");
}
