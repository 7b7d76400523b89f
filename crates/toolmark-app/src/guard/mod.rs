//! Opens the policy files and prints their problems, for the guard commands.

pub mod allow;
pub mod doctor;
pub mod hosts;
pub mod last;
mod lint;
pub mod log;
pub mod programs;
pub mod undo;

pub use lint::lint;

use crate::Failure;
use crate::Stop;
use crate::{ActionEvents, Tone};
use std::env;
use std::io;
use std::path::Path;
use toolmark_check::config::read_config;
use toolmark_guard::Guard;
use toolmark_guard::files::{self, Opened, Readers, Trust};
use toolmark_match::call_match::compile_schema;
use toolmark_trace::{ReadOptions, read_path};

/// Readers of every section of a policy.
pub static READERS: Readers = Readers {
    schemas: compile_schema,
    toolsets: |check, problems| read_config(check, problems).toolsets,
    transcripts: |path| read_path(path, &ReadOptions::default()).ok()?.next(),
};

/// Opens the guard for a session in a directory.
pub fn open(cwd: Option<&str>) -> Opened {
    files::open(cwd, Trust::Environment, Some(&READERS))
}

/// Opens the guard for a session in the current directory.
pub fn here() -> Opened {
    let cwd = env::current_dir().ok();
    open(cwd.as_deref().and_then(Path::to_str))
}

/// Opens the guard with a policy that the environment cannot loosen.
pub fn fixed(policy: Option<&Path>) -> Opened {
    let cwd = env::current_dir().ok();
    files::open(cwd.as_deref().and_then(Path::to_str), Trust::Fixed(policy), Some(&READERS))
}

/// Prints all problems of the files; returns the guard if there are no errors.
pub fn usable(opened: Opened, events: &mut dyn ActionEvents) -> Result<Guard, Stop> {
    Ok(without_faults(opened, events)?.guard)
}

/// Like `usable`, but returns everything that was opened.
pub fn without_faults(opened: Opened, events: &mut dyn ActionEvents) -> Result<Opened, Stop> {
    let opened = opened.checked();
    show(&opened, events)?;
    match opened.broken() {
        None => Ok(opened),
        Some((_, words)) => {
            let failure = Failure::usage(words);
            Err(failure.hint("`toolmark guard policy` shows which files are used").into())
        }
    }
}

/// Prints the problems of the files.
pub fn show(opened: &Opened, events: &mut dyn ActionEvents) -> io::Result<()> {
    for file in &opened.files {
        events.problems(&file.source, &file.problems)?;
    }
    for fault in &opened.faults {
        let words = events.redactor().apply(fault);
        events.note(Tone::Error, words)?;
    }
    Ok(())
}
