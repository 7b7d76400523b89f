//! Loads a spec and prints its problems.

use crate::printer::{Printer, Verbosity};
use std::io;
use std::path::Path;
use toolmark_config::Problem;
use toolmark_config::{Source, Style, render};
use toolmark_grade::{LoadOptions, Loaded};
use toolmark_spec::load;

/// Result of loading a spec.
pub(crate) struct Spec {
    /// The spec, unless the file could not be read at all.
    pub(crate) loaded: Option<Loaded>,
    /// Number of printed errors.
    pub(crate) errors: usize,
}

/// Loads a spec; prints its errors, and its warnings unless quiet.
pub(crate) fn open(path: &Path, options: &LoadOptions, printer: &mut Printer) -> io::Result<Spec> {
    let loaded = match load(path, options) {
        Ok(loaded) => loaded,
        Err(problem) => {
            let source = Source::new(path.to_string_lossy(), "");
            print(printer, &source, &[*problem])?;
            return Ok(Spec { loaded: None, errors: 1 });
        }
    };
    let mut errors = 0;
    let included = loaded.includes.iter().map(|included| (&included.source, &included.problems));
    for (source, problems) in std::iter::once((&loaded.source, &loaded.problems)).chain(included) {
        errors += problems.iter().filter(|problem| problem.is_error()).count();
        print_problems(printer, source, problems)?;
    }
    Ok(Spec { loaded: Some(loaded), errors })
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
