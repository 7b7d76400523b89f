//! Runs are generated from a hidden workflow with noise; the mined spec must accept them all
//! and reject runs in which a relevant call is missing, swapped or changed.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say so")]

use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::Path;
use toolmark_config::SourceText;
use toolmark_grade::{Grading, LoadOptions, Plan, RunSelection};
use toolmark_outcome::testing::{runs, vally_with};
use toolmark_outcome::{Environment, Verdict};
use toolmark_spec::load_source;
use toolmark_spec::mine::{MineSettings, Observed, RunGrouping, mine};
use toolmark_trace::Trajectory;

/// A call of the workflow: the tool, an argument that is always the same, and one that
/// always differs.
#[derive(Debug, Clone)]
struct Step {
    tool: String,
    value: String,
}

/// A call of a run.
type Made = (String, Value);

#[derive(Debug, Clone)]
struct Workflow {
    steps: Vec<Step>,
    /// Positions and kinds of noise, for every run.
    noise: Vec<Vec<(usize, u8)>>,
}

/// Generates texts that are difficult for YAML and patterns, and paths and IDs.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,8}",
        Just("it's: \"quoted\" # not a comment".to_owned()),
        Just("a\\d+(b)* [c] {d}".to_owned()),
        Just("yes".to_owned()),
        Just("1".to_owned()),
        Just("\u{1b}[31m\u{202e}x".to_owned()),
        Just("/home/someone/project/src/main.rs".to_owned()),
        Just("/tmp/tmp.abc123/out.json".to_owned()),
        Just("order 123456 of 2026-03-14".to_owned()),
        Just("日本 – ÄÖ".to_owned()),
        "[ -~]{0,20}",
    ]
}

fn workflow() -> impl Strategy<Value = Workflow> {
    let steps = prop::collection::vec(value(), 1..6);
    let noise = prop::collection::vec(prop::collection::vec((0..7_usize, 0..4_u8), 0..4), 5..9);
    (steps, noise).prop_map(|(values, noise)| {
        let step = |(n, value): (usize, String)| Step { tool: format!("step_{n}"), value };
        Workflow { steps: values.into_iter().enumerate().map(step).collect(), noise }
    })
}

impl Workflow {
    /// Whether a kind of noise occurs in every run.
    fn has_noise_everywhere(&self) -> bool {
        let (first, rest) = self.noise.split_first().unwrap();
        let is_in = |run: &[(usize, u8)], kind: u8| run.iter().any(|(_, other)| *other == kind);
        first.iter().any(|(_, kind)| rest.iter().all(|run| is_in(run, *kind)))
    }

    /// Returns the calls of a run without noise.
    fn steps(&self, run: usize) -> Vec<Made> {
        let call = |step: &Step| {
            (step.tool.clone(), json!({"same": step.value, "other": format!("v{run}")}))
        };
        self.steps.iter().map(call).collect()
    }

    /// Returns the calls of a run.
    fn calls(&self, run: usize) -> Vec<Made> {
        let mut calls = self.steps(run);
        for (at, kind) in &self.noise[run] {
            let at = (*at).min(calls.len());
            // Some calls are made twice, which changes nothing.
            let extra = match at.checked_sub(1).and_then(|before| calls.get(before)) {
                Some(before) if *kind == 3 => before.clone(),
                _ => (format!("noise_{kind}"), json!({"n": run})),
            };
            calls.insert(at, extra);
        }
        calls
    }
}

fn trajectory(calls: &[Made], run: usize) -> Trajectory {
    let mut events = vec![("user_message", json!({"content": "go"}))];
    for (n, (tool, args)) in calls.iter().enumerate() {
        let id = format!("c{n}");
        events.extend([
            ("turn_start", json!({"turnId": id})),
            ("tool_call", json!({"toolName": tool, "toolCallId": id, "arguments": args})),
            ("tool_result", json!({"toolCallId": id, "success": true, "result": "ok"})),
            ("turn_end", json!({"turnId": id})),
        ]);
    }
    runs(&vally_with(&events, json!({"id": format!("run-{run}")}))).remove(0)
}

fn observed(runs: impl IntoIterator<Item = Trajectory>, passed: bool) -> Vec<Observed> {
    runs.into_iter().map(|run| Observed { run, case: None, passed }).collect()
}

/// A mined spec, ready for grading.
struct Spec {
    text: String,
    plan: Plan,
}

impl Spec {
    fn new(text: String) -> Self {
        let source = SourceText::new("toolmark.yaml", text.as_str());
        let loaded = load_source(source, Path::new("."), &LoadOptions::default());
        assert!(loaded.problems.is_empty(), "{:?}\n{text}", loaded.problems);
        Self { plan: loaded.plan.unwrap(), text }
    }

    fn verdict(&self, calls: &[Made]) -> Verdict {
        let grading =
            Grading::new(&self.plan, None, Environment::default(), RunSelection::default());
        grading.grade(&trajectory(calls, 99)).unwrap().verdict
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_hidden_workflow_is_found(workflow in workflow()) {
        // What every run does cannot be told from a step.
        prop_assume!(!workflow.has_noise_everywhere());
        let count = workflow.noise.len();
        let all = observed((0..count).map(|run| trajectory(&workflow.calls(run), run)), true);
        let mined = mine(&all, &MineSettings::default());
        let spec = Spec::new(mined.to_yaml());
        for run in 0..count {
            prop_assert_eq!(spec.verdict(&workflow.calls(run)), Verdict::Pass, "run {}\n{}", run, spec.text);
        }
        // The workflow without noise is a run as good as any.
        let bare = workflow.steps(7);
        prop_assert_eq!(spec.verdict(&bare), Verdict::Pass, "without noise\n{}", spec.text);
        for step in 0..bare.len() {
            let mut missing = bare.clone();
            missing.remove(step);
            prop_assert_eq!(spec.verdict(&missing), Verdict::Fail, "without step {}\n{}", step, spec.text);
            let mut changed = bare.clone();
            changed[step].1["same"] = json!("something else");
            let is_same = workflow.steps[step].value == "something else";
            prop_assert!(is_same || spec.verdict(&changed) == Verdict::Fail, "step {step} changed\n{}", spec.text);
        }
        for step in 1..bare.len() {
            let mut swapped = bare.clone();
            swapped.swap(step - 1, step);
            prop_assert_eq!(spec.verdict(&swapped), Verdict::Fail, "step {} too early\n{}", step, spec.text);
        }
    }

    #[test]
    fn what_separates_comes_first(workflow in workflow(), skipped in 0..6_usize) {
        let count = workflow.noise.len();
        let skipped = skipped % workflow.steps.len();
        let passing = (0..count).map(|run| trajectory(&workflow.calls(run), run));
        let failing = (0..3).map(|run| {
            let mut calls = workflow.calls(run);
            calls.retain(|(tool, _)| *tool != format!("step_{skipped}"));
            calls.push(("break_everything".into(), json!({})));
            trajectory(&calls, 50 + run)
        });
        let mut all = observed(passing, true);
        all.extend(observed(failing, false));
        let spec = Spec::new(mine(&all, &MineSettings { by: RunGrouping::All, ..MineSettings::default() }).to_yaml());
        let (first, rest) = spec.text.split_once("name: holds").unwrap_or((&spec.text, ""));
        prop_assert!(first.contains("name: separates"), "{}", spec.text);
        prop_assert!(first.contains("- break_everything  # "), "{}", spec.text);
        prop_assert!(!rest.contains("rejects") || rest.contains("max-calls"), "{}", spec.text);
        for run in 0..count {
            prop_assert_eq!(spec.verdict(&workflow.calls(run)), Verdict::Pass, "run {}\n{}", run, spec.text);
        }
    }

    #[test]
    fn the_order_of_runs_changes_nothing_but_the_folds(workflow in workflow()) {
        let count = workflow.noise.len();
        // Without folds nothing depends on the order but the order of tools in the first run.
        let options = MineSettings { folds: 1, ..MineSettings::default() };
        let lines = |order: &mut dyn Iterator<Item = usize>| {
            let all = observed(order.map(|run| trajectory(&workflow.calls(run), run)), true);
            let mut lines: Vec<String> = mine(&all, &options).to_yaml().lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        prop_assert_eq!(lines(&mut (0..count)), lines(&mut (0..count).rev()));
    }
}
