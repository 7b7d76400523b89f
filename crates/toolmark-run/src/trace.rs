//! The trace of an agent: finding it, copying it without secrets, and reading it.

use crate::error::NoRun;
use crate::mask::Mask;
use serde_json::{Map, Value, json};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use toolmark_pattern::Glob;
use toolmark_trace::{ReadError, ReadOptions, Trajectory, exporter_by_id, load_path, read};

/// Maximum number of bytes kept of session files.
const MAX_KEPT: u64 = 512 << 20;

/// Maximum size of JSON with an answer.
const MAX_OUTPUT: u64 = 64 << 20;

/// Maximum size of a plain-text answer.
const MAX_ANSWER: u64 = 4 << 20;

/// Returns the main session file: the one with the ID in its name, otherwise the first. The others
/// belong to sub-agents.
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

/// Returns the files of a workspace that match a pattern, the newest last.
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

/// Copies a file with the values of variables masked.
pub(crate) fn keep_file(from: &Path, to: &Path, mask: &Mask) -> io::Result<()> {
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut source = File::open(from)?;
    let mut target = File::create(to)?;
    match mask.copy(&mut source, &mut target, MAX_KEPT)? {
        true => Ok(()),
        // A part of a trace would be taken for the whole of it.
        false => Err(io::Error::other(format!("{} is too long", from.display()))),
    }
}

/// Copies the files below a session directory with the values of variables masked.
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

/// Reads the single run of a trace, with its sub-agents.
///
/// # Errors
///
/// Returns the reason if there is none.
pub(crate) fn read_run(
    path: &Path,
    is_wanted: impl Fn(&Trajectory) -> bool,
) -> Result<Trajectory, NoRun> {
    let loaded = load_path(path, &ReadOptions::default()).map_err(|error| match error {
        ReadError::File(error) if error.is_empty() => NoRun::Empty,
        error => NoRun::Trace(error),
    })?;
    let mut runs = loaded.runs;
    let at = runs.iter().position(is_wanted).unwrap_or(0);
    if runs.is_empty() {
        return Err(NoRun::NoRun);
    }
    Ok(runs.swap_remove(at))
}

/// Reads a plain-text answer: only the prompt and the answer are known, not the calls.
///
/// # Errors
///
/// Returns the reason if there is none.
pub(crate) fn plain_answer(path: &Path, prompt: &str, to: &Path) -> Result<Trajectory, NoRun> {
    if fs::metadata(path)?.len() > MAX_ANSWER {
        return Err(NoRun::TooLong(MAX_ANSWER));
    }
    text_answer(&String::from_utf8_lossy(&fs::read(path)?), &json!({}), prompt, to)
}

/// Reads the output file of a command: a trace, JSON with the messages or the text of its answer,
/// or text.
///
/// # Errors
///
/// Returns the reason if there is none.
pub(crate) fn output_file(
    path: &Path,
    prompt: &str,
    case: &str,
    to: &Path,
) -> Result<Trajectory, NoRun> {
    let is_of_case = |run: &Trajectory| {
        let names = [&run.name, &run.id];
        names.into_iter().flatten().any(|name| name == case)
    };
    let size = fs::metadata(path)?.len();
    let bytes = if size > MAX_OUTPUT { Vec::new() } else { fs::read(path).unwrap_or_default() };
    let Ok(Value::Object(mut row)) = serde_json::from_slice::<Value>(&bytes) else {
        let Ok(loaded) = load_path(path, &ReadOptions::default()) else {
            return plain_answer(path, prompt, to);
        };
        let mut runs = loaded.runs;
        return match runs.iter().position(is_of_case) {
            Some(at) => Ok(runs.swap_remove(at)),
            // One line for each of several cases, and none for this one.
            None if runs.len() > 1 => Err(NoRun::NoLine(case.to_owned())),
            None => runs.pop().ok_or(NoRun::NoRunInOutput),
        };
    };
    let is_list = |key: &str, row: &Map<String, Value>| row.get(key).is_some_and(Value::is_array);
    if is_list("output", &row) && !is_list("output_messages", &row) {
        let messages = row.remove("output").unwrap_or_default();
        row.insert("output_messages".to_owned(), messages);
    }
    if is_list("output_messages", &row) {
        fs::write(to, format!("{}\n", Value::Object(row)))?;
        return read_run(to, is_of_case);
    }
    let text = ["text", "output"].iter().find_map(|key| row.get(*key)?.as_str());
    match text.map(str::to_owned) {
        Some(text) => text_answer(&text, &Value::Object(row), prompt, to),
        None => read_run(path, is_of_case).or_else(|_| plain_answer(path, prompt, to)),
    }
}

/// Creates a trajectory from an answer that is only text, with the known tokens, costs and times.
fn text_answer(answer: &str, known: &Value, prompt: &str, to: &Path) -> Result<Trajectory, NoRun> {
    if answer.trim().is_empty() {
        return Err(NoRun::NoAnswer);
    }
    let usage = known.get("token_usage").filter(|usage| usage.is_object()).map(|usage| {
        let count = |key: &str| usage.get(key).and_then(Value::as_u64);
        json!({
            "input": count("input"),
            "output": count("output"),
            "cache_read": count("cached"),
            "cache_write": null,
            "reasoning": count("reasoning"),
            "input_includes_cache": true,
            "output_includes_reasoning": true,
        })
    });
    let number = |key: &str| known.get(key).and_then(Value::as_f64).filter(|n| n.is_finite());
    let cost = number("cost_usd").map(|usd| json!({"nano_usd": (usd * 1e9).round() as i64}));
    let duration = number("duration_ms").map(|ms| (ms.max(0.0) * 1e6) as u64);
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
    let is_known = |gap: &&&str| match **gap {
        "tokens" => usage.is_some(),
        "cost" => cost.is_some(),
        _ => false,
    };
    let gaps: Vec<&&str> = gaps.iter().filter(|gap| !is_known(gap)).collect();
    let mut trace = json!({
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
    for (key, value) in [
        ("usage", usage),
        ("cost", cost),
        ("stated", duration.map(|nanos| json!({"duration_ns": nanos}))),
    ] {
        if let (Some(value), Some(fields)) = (value, trace.as_object_mut()) {
            fields.insert(key.to_owned(), value);
        }
    }
    let text = format!("{trace}\n");
    fs::write(to, &text)?;
    let name = to.to_string_lossy().into_owned();
    let mut runs = read(io::Cursor::new(text), &name, &ReadOptions::default())?;
    runs.next().ok_or(NoRun::Unread)
}

/// Writes a trajectory in toolmark's own format.
pub(crate) fn write_trajectory(run: &Trajectory, to: &Path, mask: &Mask) -> io::Result<()> {
    let exporter = exporter_by_id("toolmark").ok_or(io::ErrorKind::Unsupported)?;
    let mut bytes = Vec::new();
    exporter.export(run, &mut bytes)?;
    fs::write(to, mask.apply(&bytes))
}
