//! Compares with Vally's own answers: results files contain the graders of the stimulus, the
//! trajectory, and Vally's outcomes. Graders that only inspect the trajectory must
//! agree.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use serde_json::Value;
use std::path::Path;
use toolmark_config::{Node, Problem};
use toolmark_match::Building;
use toolmark_outcome::{
    CaseContext, Cause, Environment, Outcome, Profile, Subject, TrajectoryView, Verdict,
};
use toolmark_peers::grader_by_id;
use toolmark_testing::{assert_compared, files_below, find_shared};
use toolmark_trace::{ReadOptions, Trajectory, read_path};

/// Whether a grader of Vally needs more than the trajectory.
fn needs_more(kind: &str) -> bool {
    let others = ["run-command", "program", "custom-metrics"];
    kind.starts_with("file-") || kind.starts_with("diff-") || others.contains(&kind)
}

fn ask(entry: &Value, run: &Trajectory, profile: Profile) -> Outcome {
    let kind = entry["type"].as_str().unwrap();
    let info = grader_by_id(kind).unwrap_or_else(|| panic!("no grader {kind}"));
    let mut problems: Vec<Problem> = Vec::new();
    let config = Node::from_json(&entry["config"]).unwrap();
    let grader = (info.build)(&mut Building {
        config: &config,
        profile,
        contrast: None,
        directory: Path::new("."),
        schemas: toolmark_match::call_match::compile_schema,
        problems: &mut problems,
    });
    grader.unwrap_or_else(|| panic!("{entry}: {problems:?}")).grade(&Subject {
        view: TrajectoryView::whole(run),
        context: &CaseContext::default(),
        environment: &Environment::default(),
    })
}

#[test]
fn vally_says_the_same() {
    let Some(dir) = find_shared("traces/vally") else { return };
    let (mut compared, mut judged) = (0, 0);
    for file in files_below(&dir) {
        let runs: Vec<Trajectory> = read_path(&file, &ReadOptions::default()).unwrap().collect();
        let text = std::fs::read_to_string(&file).unwrap();
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let lines: Vec<Value> = lines.filter(|line| line["trajectory"].is_object()).collect();
        assert_eq!(lines.len(), runs.len(), "{}", file.display());
        for (line, run) in lines.iter().zip(&runs) {
            let asked = line["trajectory"]["stimulus"]["graders"].as_array();
            let said = line["gradeResult"]["details"].as_array();
            let (Some(asked), Some(said)) = (asked, said) else { continue };
            for (entry, said) in asked.iter().zip(said) {
                if needs_more(entry["type"].as_str().unwrap_or("")) {
                    continue;
                }
                for profile in [Profile::Toolmark, Profile::Vally] {
                    let outcome = ask(entry, run, profile);
                    if said["kind"] == "llm" {
                        assert_eq!(outcome.verdict, Verdict::Unknown(Cause::NeedsJudge));
                        judged += 1;
                        continue;
                    }
                    let passed = said["passed"].as_bool().unwrap();
                    let place = file.display();
                    assert_eq!(outcome.verdict, Verdict::of(passed), "{place} {entry} {said}");
                    assert_eq!(outcome.score, said["score"].as_f64(), "{place} {entry}");
                    compared += 1;
                }
            }
        }
    }
    assert_compared(compared, 76, "answers");
    assert_compared(judged, 52, "answers of a judge");
}
