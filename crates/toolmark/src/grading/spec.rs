//! Loads a spec and prints its problems.

use crate::Stop;
use crate::exit::{Exit, Failure};
use crate::human;
use crate::printer::{Printer, Verbosity};
use std::io;
use std::path::Path;
use toolmark_base::{ReadFileError, read_file};
use toolmark_config::Problem;
use toolmark_config::{Source, Style, render};
use toolmark_grade::{LoadOptions, Loaded};
use toolmark_spec::load;

/// Result of loading a spec.
pub(crate) struct Spec {
    pub(crate) loaded: Loaded,
    /// Number of printed errors.
    pub(crate) errors: usize,
    /// Whether the dataset of the command line could not be read.
    lacks_dataset: bool,
}

impl Spec {
    /// Returns the failure of a spec with errors.
    pub(crate) fn failure(&self, path: &Path, consequence: &str) -> Failure {
        let errors = human::things(self.errors as u64, "error");
        let failure = Failure::usage(format!("{} has {errors}; {consequence}", path.display()));
        Failure { exit: if self.lacks_dataset { Exit::Unread } else { failure.exit }, ..failure }
    }
}

/// Loads a spec; prints its errors, and its warnings unless quiet.
pub(crate) fn open(
    path: &Path,
    options: &LoadOptions,
    printer: &mut Printer,
) -> Result<Spec, Stop> {
    check_dataset(options)?;
    let loaded = load(path, options)?;
    let mut errors = 0;
    let included = loaded.includes.iter().map(|included| (&included.source, &included.problems));
    for (source, problems) in std::iter::once((&loaded.source, &loaded.problems)).chain(included) {
        errors += problems.iter().filter(|problem| problem.is_error()).count();
        print_problems(printer, source, problems)?;
    }
    let lacks_dataset = options.dataset.is_some() && lacks_dataset(&loaded);
    Ok(Spec { loaded, errors, lacks_dataset })
}

/// Checks that the dataset of the command line can be opened. Not every spec uses it.
pub(crate) fn check_dataset(options: &LoadOptions) -> Result<(), ReadFileError> {
    match &options.dataset {
        // Opening a pipe twice would take its text away.
        Some(path) if path.is_file() || path.is_dir() || !path.exists() => {
            read_file::open(path).map(drop)
        }
        _ => Ok(()),
    }
}

/// Whether the dataset of a spec could not be read.
pub(crate) fn lacks_dataset(loaded: &Loaded) -> bool {
    loaded.problems.iter().any(|problem| problem.code == "unreadable-dataset")
}

/// Prints the errors of a file, and its warnings unless quiet.
pub(crate) fn print_problems(
    printer: &mut Printer,
    source: &Source,
    problems: &[Problem],
) -> io::Result<()> {
    let shown: Vec<Problem> = problems
        .iter()
        .filter(|problem| problem.is_error() || printer.verbosity > Verbosity::Quiet)
        .cloned()
        .collect();
    print(printer, source, &shown)
}

/// Prints problems of a file.
pub(crate) fn print(
    printer: &mut Printer,
    source: &Source,
    problems: &[Problem],
) -> io::Result<()> {
    if problems.is_empty() {
        return Ok(());
    }
    // Problems are printed in file order, not in the order of the checks.
    let mut problems = problems.to_vec();
    problems.sort_by_key(|problem| problem.span);
    // The stream removes the colours if they are disabled.
    let style = Style { colour: true, width: printer.width() };
    let text = render(source, &problems, style);
    let text = printer.redact(text);
    printer.notice_text(&text)
}
