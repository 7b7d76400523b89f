//! Checks that one run in two formats gives the same calls.
//!
//! Harbor's own converter re-encoded sessions of several agents as ATIF. Differences caused by
//! the converter are explained beside the code that allows them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use toolmark_testing::{assert_compared, find_shared};
use toolmark_trace::{Call, CallResult, Payload, ReadError, ReadOptions, read_path};

/// Returns the pairs of files: a re-encoding and its original.
fn pairs(dir: &Path) -> Vec<(String, String)> {
    let manifest = std::fs::read_to_string(dir.join("MANIFEST.tsv")).unwrap_or_default();
    let pair = |line: &str| {
        let file = line.split('\t').next()?;
        let note = line.split('\t').next_back()?;
        let source = note.strip_prefix("re-encoded from ")?.split(" by Harbor").next()?;
        file.starts_with("atif/").then(|| (file.to_owned(), source.to_owned()))
    };
    manifest.lines().filter_map(pair).collect()
}

/// Compared data of a call.
struct Facts {
    name: String,
    args: serde_json::Value,
    /// Text of the result.
    result: Option<String>,
    is_error: bool,
    is_merged: bool,
}

/// Calls of a file, including those of sub-agents.
#[derive(Default)]
struct Calls {
    by_id: BTreeMap<String, Facts>,
    /// Number of searches by the provider, which have no call ID of their own.
    searches: usize,
}

fn calls(path: &Path) -> Result<Calls, ReadError> {
    let mut all = Calls::default();
    for run in read_path(path, &ReadOptions::default())? {
        // Harbor does not take what lines of progress report.
        let own = run.flatten().into_iter().filter(|run| !run.relayed);
        for call in own.flat_map(|run| &run.calls) {
            let facts = facts(call);
            if facts.name.starts_with("web_search") {
                all.searches += 1;
            } else {
                let id = call.id.as_ref().map(ToString::to_string);
                all.by_id.insert(id.unwrap_or_default(), facts);
            }
        }
    }
    Ok(all)
}

fn facts(call: &Call) -> Facts {
    let text = |r: &CallResult| r.payload.as_ref().map(|p| p.plain().into_owned());
    Facts {
        name: call.name.full().into_owned(),
        args: call.args.as_ref().map_or(serde_json::Value::Null, Payload::to_value),
        result: call.result.as_ref().map(|r| text(r).unwrap_or_default()),
        is_error: call.status.is_error(),
        is_merged: call.agent.is_some(),
    }
}

/// Returns arguments as in the source: Harbor wraps arguments that are not an object.
fn unwrapped(args: &serde_json::Value) -> &serde_json::Value {
    match args.as_object() {
        Some(map) if map.len() == 1 => map.get("input").unwrap_or(args),
        _ => args,
    }
}

fn compare(source: &str, ours: &Calls, theirs: &Calls) -> Vec<String> {
    let is_codex = source.starts_with("codex");
    let mut wrong = Vec::new();
    if ours.searches != theirs.searches {
        wrong.push(format!("{} searches, in ATIF {}", ours.searches, theirs.searches));
    }
    let ids: BTreeSet<&String> = ours.by_id.keys().chain(theirs.by_id.keys()).collect();
    for id in ids {
        match (ours.by_id.get(id), theirs.by_id.get(id)) {
            (Some(ours), Some(theirs)) => {
                let problems = differences(ours, theirs, is_codex);
                wrong.extend(problems.into_iter().map(|p| format!("{id}: {p}")));
            }
            // Harbor drops the calls of Codex that never got an output.
            (Some(call), None) if is_codex && call.result.is_none() => {}
            // Nor does it know the client's search over its own tools.
            (Some(call), None) if is_codex && call.name == "tool_search" => {}
            (Some(call), None) => wrong.push(format!("{id}: {} is not in ATIF", call.name)),
            // It reads the files of sub-agents along with the session's.
            (None, Some(call)) if call.is_merged => {}
            (None, Some(call)) => wrong.push(format!("{id}: {} is only in ATIF", call.name)),
            (None, None) => {}
        }
    }
    wrong
}

fn differences(ours: &Facts, theirs: &Facts, is_codex: bool) -> Vec<String> {
    let mut wrong = Vec::new();
    if ours.name != theirs.name {
        wrong.push(format!("name {}, in ATIF {}", ours.name, theirs.name));
    }
    if ours.args != theirs.args && ours.args != *unwrapped(&theirs.args) {
        wrong.push(format!("arguments {}, in ATIF {}", ours.args, theirs.args));
    }
    // A result without text is dropped.
    let is_answered = |facts: &Facts| facts.result.as_ref().is_some_and(|text| !text.is_empty());
    if is_answered(ours) && theirs.result.is_none() {
        wrong.push("answered, not so in ATIF".to_owned());
    }
    if ours.result.is_none() && is_answered(theirs) {
        wrong.push("answered only in ATIF".to_owned());
    }
    // Of Codex, no mark of failure is kept.
    if !is_codex && ours.is_error != theirs.is_error {
        wrong.push(format!("error {}, in ATIF {}", ours.is_error, theirs.is_error));
    }
    wrong
}

#[test]
fn re_encoded_runs_have_the_same_calls() {
    let Some(dir) = find_shared("traces") else { return };
    let mut wrong = Vec::new();
    let pairs = pairs(&dir);
    let mut compared = 0;
    for (atif, source) in &pairs {
        let ours = calls(&dir.join(source)).unwrap();
        let theirs = calls(&dir.join(atif)).unwrap();
        compared += ours.by_id.keys().filter(|id| theirs.by_id.contains_key(*id)).count();
        let differences = compare(source, &ours, &theirs);
        wrong.extend(differences.into_iter().map(|d| format!("{source}: {d}")));
    }
    assert_compared(pairs.len(), 15, "pairs of files");
    assert_compared(compared, 525, "calls");
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}
