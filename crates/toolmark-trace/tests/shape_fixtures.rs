//! Checks that one record of every kind of every agent is known.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toolmark_testing::{assert_compared, files_below, find_shared};
use toolmark_trace::{FORMATS, ReadError, ReadOptions, read_path};

/// Expected result for a file.
#[derive(Clone, Copy)]
enum Expect {
    /// Read as this format, with this number of records of an unknown kind (some fixtures contain
    /// one on purpose).
    Read(&'static str, usize),
    /// Read by a format of this family, if there is one.
    Family(&'static str),
    /// A part of an old layout that the family may or may not support.
    Maybe(&'static str),
    /// Not a trace: settings, indexes, notes.
    Refused,
}
use Expect::{Family, Maybe, Read, Refused};

/// Expectations by path or path prefix; the longest match counts.
const TABLE: &[(&str, Expect)] = &[
    ("README.txt", Refused),
    ("antigravity/", Read("antigravity", 0)),
    ("antigravity/small.md", Refused),
    ("claude/", Family("claude-code")),
    ("claude/schema_drift.jsonl", Maybe("claude")),
    (
        "claude/subagent/0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f/subagents/agent-a0ad4f44468bdf20d.meta.json",
        Refused,
    ),
    ("codex/", Family("codex")),
    ("codex/schema_drift.jsonl", Maybe("codex")),
    ("copilot/", Family("copilot")),
    ("cursor/", Read("cursor-transcript", 0)),
    ("cursor/schema_drift.jsonl", Read("cursor-transcript", 1)),
    ("droid/", Read("droid", 0)),
    ("gemini/", Read("gemini-cli", 0)),
    ("gemini/schema_drift.json", Read("gemini-contents", 0)),
    ("grok/", Read("grok", 0)),
    ("grok/subagent/summary.json", Refused),
    ("grok/summary.json", Refused),
    ("hermes/", Read("hermes", 0)),
    ("kimi/", Read("kimi", 0)),
    ("kimi/assistant_tools.state.json", Refused),
    ("kimi/state.json", Refused),
    ("openclaw/", Read("openclaw", 0)),
    ("opencode/", Read("opencode", 0)),
    ("opencode/storage_v2/migration", Refused),
    ("pi/", Read("pi", 0)),
    ("qwen/", Read("qwen-code", 0)),
];

fn expected(path: &str) -> Option<Expect> {
    let fits = TABLE.iter().filter(|(start, _)| path.starts_with(start));
    fits.max_by_key(|(start, _)| start.len()).map(|(_, expect)| *expect)
}

/// Returns all files below `dir`, by their relative paths.
fn files(dir: &Path) -> BTreeMap<String, PathBuf> {
    let named = |path: PathBuf| {
        let name = path.strip_prefix(dir).ok()?.to_string_lossy().replace('\\', "/");
        Some((name, path))
    };
    files_below(dir).into_iter().filter_map(named).collect()
}

/// Result of reading a file: format, unknown records, skipped lines.
type Outcome = Result<(&'static str, usize, u64), ReadError>;

fn read(path: &Path) -> Outcome {
    let mut runs = read_path(path, &ReadOptions::default())?;
    let mut unknown = 0;
    for run in runs.by_ref() {
        unknown += run.flatten().iter().map(|r| r.unknown_records()).sum::<usize>();
    }
    Ok((runs.format().info().id, unknown, runs.skipped()))
}

/// Returns the problem of an outcome, if any.
fn problem(outcome: &Outcome, expect: Expect) -> Option<String> {
    let there = |family: &str| FORMATS.iter().any(|f| f.info().id.starts_with(family));
    match (expect, outcome) {
        (Read(id, unknown), Ok(got)) if *got == (id, unknown, 0) => None,
        (Family(family), Ok((id, ..))) if id.starts_with(family) => None,
        (Maybe(family), Ok((id, ..))) if id.starts_with(family) => None,
        (Family(family), _) if !there(family) => None,
        (Maybe(_) | Refused, Err(ReadError::UnknownFormat { .. })) => None,
        (_, Ok(got)) => Some(format!("read as {got:?}")),
        (_, Err(error)) => Some(error.to_string()),
    }
}

#[test]
fn every_fixture_is_read_as_what_it_is() {
    let Some(dir) = find_shared("shape_fixtures") else { return };
    let mut wrong = Vec::new();
    let files = files(&dir);
    for (name, path) in &files {
        let outcome = read(path);
        let problem = match expected(name) {
            Some(expect) => problem(&outcome, expect),
            None => Some("not in the table".to_owned()),
        };
        wrong.extend(problem.map(|p| format!("{name}: {p}")));
    }
    assert_compared(files.len(), 80, "fixtures");
    assert!(wrong.is_empty(), "{} problems:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_format_stumbles_over_another_ones_file() {
    let Some(dir) = find_shared("shape_fixtures") else { return };
    let mut read = 0;
    for path in files(&dir).values() {
        for &format in FORMATS {
            let options = ReadOptions { force: Some(format), ..ReadOptions::default() };
            // Whatever comes of it: it must come to an end, and without a panic.
            if let Ok(runs) = read_path(path, &options) {
                runs.for_each(drop);
                read += 1;
            }
        }
    }
    assert_compared(read, 80 * FORMATS.len(), "pairs of a fixture and a format");
}
