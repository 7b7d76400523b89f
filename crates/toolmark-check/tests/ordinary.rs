//! Shell calls of the shared sessions: hardly any is denied.
//!
//! The sessions are not part of the project. Where `../shared` is absent, the
//! test says so and ends.

use std::path::{Path, PathBuf};
use toolmark_check::Session;
use toolmark_check::toolset::Toolsets;
use toolmark_shell::Decision;
use toolmark_trace::{Options, Trajectory, read_path};

fn shared() -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    dir.join("truth.json").is_file().then_some(dir)
}

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            files(&path, found);
        } else if !path.ends_with("truth.json") && !path.ends_with("MANIFEST.tsv") {
            found.push(path);
        }
    }
}

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
    let Some(dir) = shared() else {
        eprintln!("skipped: ../shared/traces is absent");
        return;
    };
    let toolsets = Toolsets::default();
    let mut paths = Vec::new();
    files(&dir, &mut paths);
    let mut counts = Counts::default();
    for path in paths {
        let Ok(runs) = read_path(&path, &Options::default()) else { continue };
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
