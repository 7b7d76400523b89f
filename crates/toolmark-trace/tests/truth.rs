//! The counts of every shared trace against independent ones.
//!
//! The traces are not part of the project. Where `../shared` is absent, the
//! test says so and ends.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toolmark_trace::{Options, Summary, read_path};

fn shared() -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    dir.join("truth.json").is_file().then_some(dir)
}

/// Fields in which we and the truth differ for a reason, each argued in
/// `docs/formats/differences.md`.
const ARGUED: &[(&str, &str)] = &[];

fn is_argued(file: &str, field: &str) -> bool {
    ARGUED.iter().any(|(f, k)| file.starts_with(f) && *k == field)
}

#[test]
fn every_shared_file_gives_its_true_counts() {
    let Some(dir) = shared() else {
        eprintln!("SKIPPED: no ../shared/traces beside the project");
        return;
    };
    let truth: BTreeMap<String, Value> =
        serde_json::from_slice(&std::fs::read(dir.join("truth.json")).unwrap()).unwrap();
    let only = std::env::var("TOOLMARK_TRUTH").unwrap_or_default();
    let mut wrong = Vec::new();
    let mut checked = 0;
    for (file, expected) in truth.iter().filter(|(f, _)| f.contains(&only)) {
        let mut runs = match read_path(dir.join(file), &Options::default()) {
            Ok(runs) => runs,
            Err(error) => {
                wrong.push(format!("{file}: {error}"));
                continue;
            }
        };
        let summary = Summary::of(&mut runs);
        let mut ours = serde_json::to_value(&summary).unwrap();
        ours["bad_lines"] = runs.skipped().into();
        for field in [
            "trajectories",
            "tool_calls",
            "tool_results",
            "tool_errors",
            "unanswered",
            "orphans",
            "assistant_turns",
            "user_turns",
            "max_parallel",
            "tool_names",
            "tokens",
            "bad_lines",
        ] {
            checked += 1;
            let want = &expected[field];
            let got = &ours[field];
            if !want.is_null() && want != got && !is_argued(file, field) {
                let format = runs.format().info().id;
                wrong.push(format!("{file} [{format}] {field}: want {want}, got {got}"));
            }
        }
    }
    eprintln!("{checked} fields of {} files checked", truth.len());
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}
