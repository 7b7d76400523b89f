//! Checks that several encodings of one run give the same calls: hexadecimal and base64 OTLP,
//! JSON lines, protobuf and their originals.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toolmark_testing::{assert_compared, find_shared};
use toolmark_trace::{ReadOptions, Trajectory, read_path};

/// Describes everything that must be equal, one line per call and per step.
fn describe(runs: &[Trajectory]) -> Vec<String> {
    let mut lines = Vec::new();
    for run in runs.iter().flat_map(Trajectory::flatten) {
        lines.push(format!("run {:?} {:?} {:?} {:?}", run.id, run.agent, run.started, run.ended));
        for call in &run.calls {
            let result = call.result.as_ref();
            lines.push(format!(
                "call {} {:?} args {:?} result {:?} {:?} {:?} at {:?} for {:?} until {:?} step {:?}",
                call.name.full(),
                call.id,
                call.args.as_ref().map(|a| a.to_value()),
                result.map(|r| r.payload.as_ref().map(|p| p.to_value())),
                call.status,
                call.level,
                call.started,
                call.duration,
                result.map(|r| r.time),
                call.step,
            ));
        }
        for step in &run.steps {
            lines.push(format!(
                "step {:?} {:?} {:?} {:?}",
                step.id, step.model, step.time, step.usage
            ));
        }
        lines.push(format!("usage {:?} turns {}", run.usage, run.user_turns));
    }
    lines
}

#[test]
fn every_encoding_of_a_run_gives_the_same_calls() {
    let Some(dir) = find_shared("traces") else { return };
    let mut families: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for folder in ["otlp_json", "otlp_protobuf"] {
        for entry in std::fs::read_dir(dir.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let stem = [".hex.json", ".base64ids.json", ".collector.jsonl", ".pb"]
                .iter()
                .find_map(|ending| name.strip_suffix(ending));
            if let Some(stem) = stem {
                families.entry(stem.to_owned()).or_default().push(path);
            }
        }
    }
    let mut compared = 0;
    for (stem, mut files) in families {
        // `folder__name` says which file it was made from.
        if let Some((folder, name)) = stem.split_once("__") {
            let origin = ["json", "jsonl"].map(|e| dir.join(folder).join(format!("{name}.{e}")));
            files.extend(origin.into_iter().filter(|o| o.is_file()));
        }
        files.sort();
        let Some((first, others)) = files.split_first() else { continue };
        let read = |path: &Path| -> Vec<Trajectory> {
            read_path(path, &ReadOptions::default()).unwrap().collect()
        };
        let want = describe(&read(first));
        assert!(want.iter().any(|line| line.starts_with("call ")), "{}", first.display());
        for other in others {
            compared += 1;
            assert_eq!(want, describe(&read(other)), "{} and {}", first.display(), other.display());
        }
    }
    assert_compared(compared, 16, "pairs of files");
}
