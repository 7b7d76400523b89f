//! Helpers for the tests of graders that inspect files or run programs.

use crate::testing::{build, runs, vally};
use serde_json::{Value, json};
use std::path::Path;
use toolmark_outcome::Outcome;
use toolmark_outcome::Profile;
use toolmark_outcome::TrajectoryView;
use toolmark_outcome::{CaseContext, Environment, Subject};
use toolmark_trace::Trajectory;

/// A workspace with test files, removed when dropped.
pub(super) struct Files(tempfile::TempDir);

impl Files {
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        for (file, text) in files {
            let path = dir.path().join(file);
            let parent = path.parent().expect("a parent");
            std::fs::create_dir_all(parent).expect("a directory");
            std::fs::write(path, text).expect("a file");
        }
        Self(dir)
    }

    pub(super) fn root(&self) -> &Path {
        self.0.path()
    }

    pub(super) fn environment(&self) -> Environment {
        Environment { workspace: Some(self.root().to_owned()), ..Environment::default() }
    }
}

/// Builds a small run without stated metrics.
pub(super) fn small_run() -> Trajectory {
    let trace = vally(&[
        ("user_message", json!({"content": "go"})),
        ("tool_call", json!({"toolName": "bash", "toolCallId": "1", "arguments": {}})),
        ("tool_result", json!({"toolName": "bash", "toolCallId": "1", "success": true})),
    ]);
    runs(&trace).swap_remove(0)
}

/// Builds a grader and grades a small run.
pub(super) fn grade_in(id: &str, config: Value, environment: &Environment) -> Outcome {
    grade_run(id, config, &small_run(), environment)
}

/// Builds a grader and grades a run.
pub(super) fn grade_run(
    id: &str,
    config: Value,
    run: &Trajectory,
    environment: &Environment,
) -> Outcome {
    let grader = build(id, Profile::Toolmark, &config).expect("a good configuration");
    let context =
        CaseContext { case: "s".into(), prompts: vec!["go".into()], ..CaseContext::default() };
    grader.grade(&Subject { view: TrajectoryView::whole(run), context: &context, environment })
}
