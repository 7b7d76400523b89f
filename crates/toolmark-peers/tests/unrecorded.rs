//! Checks that no grader passes merely because the calls were not recorded: in any format,
//! removing the calls turns no verdict into a pass.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "helpers of tests")]

use serde_json::{Value, json};
use std::path::Path;
use toolmark_config::{Node, SourceText, parse};
use toolmark_grade::testing::Kit;
use toolmark_grade::{Grader, ask};
use toolmark_outcome::{CaseContext, Environment, Profile, Subject, TrajectoryView, Verdict};
use toolmark_peers::GRADERS;
use toolmark_testing::files_below;
use toolmark_trace::{
    Completeness, EventKind, Fact, Fidelity, ReadOptions, Status, Trajectory, load_path,
};

/// Configurations in addition to the examples, for a tool that is called: a grader that fails with
/// the calls must not pass without them.
fn configurations(tool: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("expect", json!({"forbidden": [tool]})),
        ("expect", json!({"none": true})),
        ("expect", json!({"only": ["another"]})),
        ("expect", json!({"calls": [{"tool": tool, "count": {"max": 0}}]})),
        ("tool-calls", json!({"disallowed": [tool]})),
        ("tool-call-count", json!({"max": 0})),
        ("error-count", json!({"max": 0})),
        ("max-repeat", json!({"max": 1})),
        ("tool-trajectory", json!({"mode": "exact", "expected": []})),
        ("tool-trajectory", json!({"mode": "subset", "expected": [{"tool": "another"}]})),
        ("trajectory:tool-used", json!({"name": tool, "max": 0})),
        ("function_call_disallowed", json!({"disallowed_function_calls": [tool]})),
        ("execution-metrics", json!({"max_tool_calls": 0})),
    ]
}

/// Graders that run programs of the user and do not inspect calls.
const PROGRAMS: &[&str] =
    &["run-command", "program", "code-grader", "javascript", "python", "webhook"];

fn verdict(grader: &dyn Grader, run: &Trajectory) -> Verdict {
    let (context, environment) = (CaseContext::default(), Environment::default());
    let subject =
        Subject { view: TrajectoryView::whole(run), context: &context, environment: &environment };
    ask(grader, &subject).verdict
}

/// Returns a run in which nothing is missing but what its format does not record, so that
/// verdicts differ by the calls alone.
fn without_gaps(run: &Trajectory) -> Trajectory {
    let mut run = run.clone();
    run.orphans = 0;
    run.completeness = Completeness::default();
    for call in run.calls.iter_mut().filter(|call| call.status == Status::Unanswered) {
        call.status = Status::Unknown;
    }
    run
}

/// Returns a run as if its format did not record calls.
fn without_calls(run: &Trajectory) -> Trajectory {
    let mut run = run.clone();
    run.calls.clear();
    run.events.retain(|event| !matches!(event.kind, EventKind::Call(_) | EventKind::Result(_)));
    run.fidelity = run.fidelity.union(Fidelity::lacking(&[Fact::Calls]));
    run
}

/// Returns a run with only the results of the calls left.
fn with_orphans(run: &Trajectory) -> Trajectory {
    let mut orphaned = without_calls(run);
    orphaned.fidelity = run.fidelity;
    orphaned.orphans = run.calls.len() as u32;
    orphaned
}

#[test]
fn nothing_turns_green_without_its_calls() {
    let kit = Kit(toolmark_peers::ALL);
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../toolmark-trace/tests/fixtures/readers");
    let (mut compared, mut green) = (0, Vec::new());
    for file in files_below(&folder) {
        for run in load_path(&file, &ReadOptions::default()).unwrap().runs {
            let run = without_gaps(&run);
            let Some(call) = run.calls.first() else { continue };
            let mut asked = configurations(&call.name.original.get());
            let without_programs = GRADERS.iter().filter(|info| !PROGRAMS.contains(&info.id));
            asked.extend(without_programs.filter_map(|info| {
                let source = SourceText::new("example", info.example);
                let node = parse(&source).node?;
                Some((info.id, node.get("config").map_or_else(|| json!({}), Node::to_json)))
            }));
            for (id, config) in asked {
                let info = GRADERS.iter().find(|info| info.id == id).unwrap();
                for profile in info.profiles.iter().copied().chain([Profile::Toolmark]) {
                    let Ok(grader) = kit.build(id, profile, &config) else { continue };
                    let whole = verdict(&*grader, &run);
                    for less in [without_calls(&run), with_orphans(&run)] {
                        compared += 1;
                        if verdict(&*grader, &less) == Verdict::Pass && whole != Verdict::Pass {
                            let name = file.file_name().unwrap().to_string_lossy().into_owned();
                            green.push(format!("{id} {config} under {profile:?} on {name}"));
                        }
                    }
                }
            }
        }
    }
    assert!(compared > 5_000, "only {compared} verdicts were compared");
    green.dedup();
    assert!(green.is_empty(), "{} turn green:\n{}", green.len(), green.join("\n"));
}
