//! Opens the policy files and prints their problems, for the guard commands.

mod lint;

pub(crate) use lint::lint;

use crate::Stop;
use crate::exit::Failure;
use crate::grading::spec::print;
use crate::printer::{Line, Printer, style};
use std::env;
use std::io;
use std::path::Path;
use toolmark_check::config::read_config;
use toolmark_guard::Guard;
use toolmark_guard::files::{self, Opened, Readers, Trust};
use toolmark_match::call_match::compile_schema;

/// Readers of every section of a policy.
pub(crate) static READERS: Readers = Readers {
    schemas: compile_schema,
    toolsets: |check, problems| read_config(check, problems).toolsets,
};

/// Opens the guard for a session in a directory.
pub(crate) fn open(cwd: Option<&str>) -> Opened {
    files::open(cwd, Trust::Environment, Some(&READERS))
}

/// Opens the guard for a session in the current directory.
pub(crate) fn here() -> Opened {
    let cwd = env::current_dir().ok();
    open(cwd.as_deref().and_then(Path::to_str))
}

/// Opens the guard with a policy that the environment cannot loosen.
pub(crate) fn fixed(policy: Option<&Path>) -> Opened {
    let cwd = env::current_dir().ok();
    files::open(cwd.as_deref().and_then(Path::to_str), Trust::Fixed(policy), Some(&READERS))
}

/// Prints all problems of the files; returns the guard if there are no errors.
pub(crate) fn usable(opened: Opened, printer: &mut Printer) -> Result<Guard, Stop> {
    Ok(without_faults(opened, printer)?.guard)
}

/// Like `usable`, but returns everything that was opened.
pub(crate) fn without_faults(opened: Opened, printer: &mut Printer) -> Result<Opened, Stop> {
    let opened = opened.checked();
    show(&opened, printer)?;
    match opened.broken() {
        None => Ok(opened),
        Some((_, words)) => {
            let failure = Failure::usage(words);
            Err(failure.hint("`toolmark guard policy` shows which files are used").into())
        }
    }
}

/// Prints the problems of the files.
pub(crate) fn show(opened: &Opened, printer: &mut Printer) -> io::Result<()> {
    for file in &opened.files {
        print(printer, &file.source, &file.problems)?;
    }
    for fault in &opened.faults {
        let line = Line::of(style::BAD.bold(), "error").with(style::PLAIN, ": ");
        printer.notice(&line.with(style::PLAIN, printer.redact(fault)))?;
    }
    Ok(())
}
