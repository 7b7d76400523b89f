//! Loads a file of any dialect into a plan.

use crate::dialects::DIALECTS;
use std::path::Path;
use toolmark_base::ReadFileError;
use toolmark_config::{SourceText, parse};
use toolmark_grade::{LoadOptions, LoadedSpec};

/// Reads a spec file, detects its dialect, and builds a plan.
pub fn load(path: &Path, options: &LoadOptions) -> Result<LoadedSpec, ReadFileError> {
    let source = SourceText::open_named(path)?;
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    Ok(load_source(source, directory, options))
}

/// Loads a spec from a text that was already read.
#[must_use]
pub fn load_source(source: SourceText, directory: &Path, options: &LoadOptions) -> LoadedSpec {
    toolmark_grade::load_source(source, directory, options, DIALECTS, crate::graders::ALL)
}

/// Whether a file is a spec. A file that cannot be parsed counts as a spec if it has
/// a line that starts with a key only specs have, because its errors should be reported.
#[must_use]
pub fn is_spec(path: &Path) -> bool {
    const KEYS: &[&str] = &["stimuli:", "evalcases:", "scorers:", "graders:", "expect:"];
    let Ok(source) = SourceText::open(path) else { return false };
    match parse(&source).node {
        Some(root) => DIALECTS.iter().any(|dialect| dialect.detect(&root) > 0),
        None => source.text().lines().any(|line| KEYS.iter().any(|key| line.starts_with(key))),
    }
}
