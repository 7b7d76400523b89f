//! The `check:` section of a `toolmark.yaml`: the named file, or the one in the current directory.

use crate::Failure;
use crate::Stop;
use crate::Verbosity;
use crate::human;
use crate::{ActionEvents, Tone};
use std::path::Path;
use toolmark_check::ToolPolicy;
use toolmark_check::config::{CheckConfig, read_config};
use toolmark_config::{Node, Problem, SourceText, parse};
use toolmark_redact::printable;

/// Name of the default file.
const DEFAULT_FILE: &str = "toolmark.yaml";

/// Reads the configuration; the default one if the file does not exist.
pub fn open(named: Option<&Path>, events: &mut dyn ActionEvents) -> Result<CheckConfig, Stop> {
    let path = named.unwrap_or(Path::new(DEFAULT_FILE));
    if named.is_none() && !path.is_file() {
        return Ok(CheckConfig::default());
    }
    let source = match named {
        Some(path) => SourceText::open_named(path)?,
        None => SourceText::open(path)?,
    };
    let parsed = parse(&source);
    let mut problems = parsed.problems;
    let broken = problems.iter().filter(|problem| problem.is_error()).count();
    let root = parsed.node.as_ref();
    let part = root.and_then(|root| root.get("check")).filter(|part| !part.is_null());
    let has_policy = root.is_some_and(has_policy);
    if part.is_none() && !has_policy {
        return without(named, broken, &source, &problems, events);
    }
    let mut config = part.map(|part| read_config(part, &mut problems)).unwrap_or_default();
    config.policy = root.map(|root| ToolPolicy::read(root, &mut problems)).unwrap_or_default();
    events.problems(&source, &problems)?;
    match problems.iter().filter(|problem| problem.is_error()).count() as u64 {
        0 => Ok(config),
        errors => {
            let errors = human::things(errors, "error");
            let message = format!("{} has {errors}; nothing was checked", path.display());
            Err(Failure::usage(message).into())
        }
    }
}

/// Lints the section in a spec.
pub fn lint(source: &SourceText) -> Vec<Problem> {
    let parsed = parse(source);
    let mut problems = Vec::new();
    let part = parsed.node.as_ref().and_then(|root| root.get("check"));
    // A part that is not a map, and invalid YAML, are reported by the spec itself.
    if let Some(part) = part.filter(|part| part.as_map().is_some()) {
        let _ = read_config(part, &mut problems);
    }
    if let Some(root) = parsed.node.as_ref().filter(|root| has_policy(root)) {
        let _ = ToolPolicy::read(root, &mut problems);
    }
    problems
}

/// Whether a file has a `tools:` or `order:` section. A list of tools belongs to another system.
fn has_policy(root: &Node) -> bool {
    let is_list = |key: &str| root.get(key).is_some_and(|part| part.as_list().is_some());
    root.get("tools").is_some_and(|part| part.as_map().is_some()) || is_list("order")
}

/// Handles a file without a `check:` section: an error if the user named the file. A broken default
/// file is mentioned.
fn without(
    named: Option<&Path>,
    broken: usize,
    source: &SourceText,
    problems: &[Problem],
    events: &mut dyn ActionEvents,
) -> Result<CheckConfig, Stop> {
    if let Some(path) = named {
        events.problems(source, problems)?;
        if broken > 0 {
            let errors = human::things(broken as u64, "error");
            let message = format!("{} has {errors}; nothing was checked", path.display());
            return Err(Failure::usage(message).into());
        }
        let message = format!("{} has neither `check:` nor `tools:`", path.display());
        let hint = "write rules, gates and toolsets under `check:`, conditions under `tools:`";
        return Err(Failure::usage(message).hint(hint).into());
    }
    if broken > 0 && events.verbosity() > Verbosity::Quiet {
        let errors = human::things(broken as u64, "error");
        let words = printable!("{} was ignored: it has {}", DEFAULT_FILE, errors);
        events.note(Tone::Note, words)?;
    }
    Ok(CheckConfig::default())
}
