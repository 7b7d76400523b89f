//! The trace an agent left: found, copied without secrets, read.

use crate::mask::Mask;
use serde_json::json;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use toolmark_pattern::Glob;
use toolmark_trace::{Options, ReadError, Trajectory, exporter_by_id, load_path, read};

/// How much of the files of a session is kept.
const MAX_KEPT: u64 = 512 << 20;

/// How long a plain answer may be.
const MAX_ANSWER: u64 = 4 << 20;

/// The file of a session among several: the one that has the id in its name, else the
/// first. Sub-agents are the others.
#[must_use]
pub(crate) fn main_session(mut files: Vec<PathBuf>, id: Option<&str>) -> Option<PathBuf> {
    let named =
        id.and_then(|id| files.iter().find(|file| file.to_string_lossy().contains(id)).cloned());
    if named.is_some() {
        return named;
    }
    // Names of sessions start with the time.
    files.sort();
    files.into_iter().next()
}

/// The files of a workspace that a pattern names, the newest last.
#[must_use]
pub(crate) fn matching(workspace: &Path, pattern: &str) -> Vec<PathBuf> {
    let Ok(glob) = Glob::new(pattern) else { return Vec::new() };
    let mut found = Vec::new();
    let mut todo = vec![(workspace.to_owned(), glob.start(), 0)];
    while let Some((directory, progress, depth)) = todo.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let here = glob.enter(&progress, &entry.file_name().to_string_lossy());
            let Ok(kind) = entry.file_type() else { continue };
            if here.is_empty() {
                continue;
            }
            if kind.is_dir() && depth < 32 {
                todo.push((entry.path(), here, depth + 1));
            } else if kind.is_file() && glob.is_match(&here) {
                let modified = entry.metadata().and_then(|about| about.modified()).ok();
                found.push((modified, entry.path()));
            }
        }
    }
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}

/// Copies a file without the values of variables.
pub(crate) fn keep_file(from: &Path, to: &Path, mask: &Mask) -> io::Result<()> {
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut source = File::open(from)?;
    let mut target = File::create(to)?;
    mask.copy(&mut source, &mut target, MAX_KEPT, |_| {}).map(drop)
}

/// Copies what lies below a directory of sessions, without the values of variables.
pub(crate) fn keep_sessions(from: &Path, to: &Path, mask: &Mask) -> io::Result<()> {
    let mut room = MAX_KEPT;
    let mut todo = vec![PathBuf::new()];
    while let Some(relative) = todo.pop() {
        for entry in fs::read_dir(from.join(&relative)).into_iter().flatten().flatten() {
            let relative = relative.join(entry.file_name());
            let Ok(about) = entry.metadata() else { continue };
            if about.is_dir() {
                todo.push(relative);
            } else if about.is_file() && about.len() <= room {
                room -= about.len();
                keep_file(&entry.path(), &to.join(&relative), mask)?;
            }
        }
    }
    Ok(())
}

/// Reads the one run of a trace, with its sub-agents.
///
/// # Errors
///
/// Why there is none, in words.
pub(crate) fn read_run(
    path: &Path,
    is_wanted: impl Fn(&Trajectory) -> bool,
) -> Result<Trajectory, String> {
    let loaded = load_path(path, &Options::default()).map_err(|error| match error {
        ReadError::Empty { .. } => "the trace is empty".to_owned(),
        error => error.to_string(),
    })?;
    let mut runs = loaded.runs;
    let at = runs.iter().position(is_wanted).unwrap_or(0);
    if runs.is_empty() {
        return Err("the trace holds no run".to_owned());
    }
    Ok(runs.swap_remove(at))
}

/// An answer that is plain text: what was asked and answered, and nothing known of the
/// calls that were made.
///
/// # Errors
///
/// Why there is none, in words.
pub(crate) fn plain_answer(path: &Path, prompt: &str, to: &Path) -> Result<Trajectory, String> {
    let size = fs::metadata(path).map_err(|error| error.to_string())?.len();
    if size > MAX_ANSWER {
        return Err(format!("the answer is longer than {MAX_ANSWER} bytes"));
    }
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    let answer = String::from_utf8_lossy(&bytes);
    if answer.trim().is_empty() {
        return Err("it printed nothing".to_owned());
    }
    let gaps = [
        "calls",
        "call-ids",
        "arguments",
        "results",
        "status",
        "exit-codes",
        "times",
        "durations",
        "parallel",
        "reasoning",
        "tokens",
        "cost",
        "model",
        "sub-agents",
        "tool-definitions",
        "working-directory",
    ];
    let trace = json!({
        "schema": "toolmark.trajectory.v1",
        "format": "toolmark",
        "user_turns": 1,
        "fidelity_gaps": gaps,
        "steps": [{"turn": 1}],
        "calls": [],
        "events": [
            {"kind": "user", "text": {"text": prompt}},
            {"kind": "message", "text": {"text": answer.trim_end()}, "step": 0}
        ],
        "children": [],
    });
    let text = format!("{trace}\n");
    fs::write(to, &text).map_err(|error| error.to_string())?;
    let name = to.to_string_lossy().into_owned();
    let mut runs = read(io::Cursor::new(text), &name, &Options::default())
        .map_err(|error| error.to_string())?;
    runs.next().ok_or_else(|| "the answer could not be read".to_owned())
}

/// Writes a trajectory in toolmark's own format.
pub(crate) fn write_trajectory(run: &Trajectory, to: &Path, mask: &Mask) -> io::Result<()> {
    let exporter = exporter_by_id("toolmark").ok_or(io::ErrorKind::Unsupported)?;
    let mut bytes = Vec::new();
    exporter.export(run, &mut bytes)?;
    fs::write(to, mask.apply(&bytes))
}
