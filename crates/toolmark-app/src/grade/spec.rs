//! Loads a spec and reports its problems.

use crate::ActionEvents;
use crate::Stop;
use crate::Verbosity;
use crate::human;
use crate::{Failure, FailureKind};
use std::io;
use std::path::Path;
use toolmark_base::{ReadFileError, read_file};
use toolmark_config::Problem;
use toolmark_config::SourceText;
use toolmark_grade::{LoadOptions, LoadedSpec};
use toolmark_spec::load;

/// Result of loading a spec.
pub struct Spec {
    /// The spec and its problems.
    pub loaded: LoadedSpec,
    /// Number of reported errors.
    pub errors: usize,
    /// Whether the dataset of the command line could not be read.
    lacks_dataset: bool,
}

impl Spec {
    /// Returns the failure of a spec with errors.
    pub fn failure(&self, path: &Path, consequence: &str) -> Failure {
        let errors = human::things(self.errors as u64, "error");
        let failure = Failure::usage(format!("{} has {errors}; {consequence}", path.display()));
        Failure {
            kind: if self.lacks_dataset { FailureKind::Unread } else { failure.kind },
            ..failure
        }
    }
}

/// Loads a spec; reports its errors, and its warnings unless quiet.
pub fn open(
    path: &Path,
    options: &LoadOptions,
    events: &mut dyn ActionEvents,
) -> Result<Spec, Stop> {
    check_dataset(options)?;
    let loaded = load(path, options)?;
    let mut errors = 0;
    let included = loaded.includes.iter().map(|included| (&included.source, &included.problems));
    for (source, problems) in std::iter::once((&loaded.source, &loaded.problems)).chain(included) {
        errors += problems.iter().filter(|problem| problem.is_error()).count();
        report_problems(events, source, problems)?;
    }
    let lacks_dataset = options.dataset.is_some() && lacks_dataset(&loaded);
    Ok(Spec { loaded, errors, lacks_dataset })
}

/// Checks that the dataset of the command line can be opened. Not every spec uses it.
pub fn check_dataset(options: &LoadOptions) -> Result<(), ReadFileError> {
    match &options.dataset {
        // Opening a pipe twice would take its text away.
        Some(path) if path.is_file() || path.is_dir() || !path.exists() => {
            read_file::open(path).map(drop)
        }
        _ => Ok(()),
    }
}

/// Whether the dataset of a spec could not be read.
pub fn lacks_dataset(loaded: &LoadedSpec) -> bool {
    loaded.problems.iter().any(|problem| problem.code == "unreadable-dataset")
}

/// Reports the errors of a file, and its warnings unless quiet.
///
/// # Errors
///
/// If they could not be written.
pub fn report_problems(
    events: &mut dyn ActionEvents,
    source: &SourceText,
    problems: &[Problem],
) -> io::Result<()> {
    let is_quiet = events.verbosity() == Verbosity::Quiet;
    let shown: Vec<Problem> =
        problems.iter().filter(|problem| problem.is_error() || !is_quiet).cloned().collect();
    events.problems(source, &shown)
}
