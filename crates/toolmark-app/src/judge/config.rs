//! The `judge:` section of a file: the named file, the spec, or the `toolmark.yaml` beside the
//! spec.

use crate::ActionEvents;
use crate::Failure;
use crate::Stop;
use crate::human;
use std::path::{Path, PathBuf};
use toolmark_config::{Node, Problem};
use toolmark_config::{SourceText, parse};
use toolmark_judge::config::{JudgeSettings, read_settings};

/// Name of the default file.
const DEFAULT_FILE: &str = "toolmark.yaml";

/// Reads the configuration; defaults if there is none.
pub fn open(
    named: Option<&Path>,
    part_of: Option<&Path>,
    events: &mut dyn ActionEvents,
) -> Result<JudgeSettings, Stop> {
    if let Some(path) = named {
        return match read(SourceText::open_named(path)?, path, events)? {
            Some(settings) => Ok(settings),
            None => {
                let failure = Failure::usage(format!("{} has no `judge:` section", path.display()));
                Err(failure.hint("write `provider` and `model` under `judge:`").into())
            }
        };
    }
    let beside = part_of.and_then(Path::parent).map(|parent| parent.join(DEFAULT_FILE));
    let usual = [part_of.map(Path::to_path_buf), beside, Some(PathBuf::from(DEFAULT_FILE))];
    for path in usual.into_iter().flatten().filter(|path| path.is_file()) {
        if let Some(settings) = read(SourceText::open(&path)?, &path, events)? {
            return Ok(settings);
        }
    }
    Ok(JudgeSettings::default())
}

/// Reads the judge section of a file, if it has one.
fn read(
    source: SourceText,
    path: &Path,
    events: &mut dyn ActionEvents,
) -> Result<Option<JudgeSettings>, Stop> {
    let parsed = parse(&source);
    // Warnings about the file as a whole belong to the spec.
    let mut problems: Vec<Problem> = parsed.problems;
    problems.retain(Problem::is_error);
    let settings = match part(parsed.node.as_ref()) {
        Some(part) => read_settings(part, directory(path), &mut problems),
        // A file that cannot be parsed may have the section.
        None if !problems.is_empty() => JudgeSettings::default(),
        None => return Ok(None),
    };
    events.problems(&source, &problems)?;
    match problems.iter().filter(|problem| problem.is_error()).count() as u64 {
        0 => Ok(Some(settings)),
        errors => {
            let errors = human::things(errors, "error");
            let message = format!("{} has {errors}; no judge was asked", path.display());
            Err(Failure::usage(message).into())
        }
    }
}

fn part(root: Option<&Node>) -> Option<&Node> {
    root?.get("judge")
}

fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Lints the section in a spec.
pub fn lint(path: &Path, source: &SourceText) -> Vec<Problem> {
    let parsed = parse(source);
    // A part that is not a map, and invalid YAML, are reported by the spec itself.
    let Some(part) = part(parsed.node.as_ref()).filter(|part| part.as_map().is_some()) else {
        return Vec::new();
    };
    let mut problems = Vec::new();
    let _ = read_settings(part, directory(path), &mut problems);
    problems
}
