//! Packs: one file per family of programs. The blocks `result KIND` of a file are executed.

#![allow(clippy::tabs_in_doc_comments, reason = "examples of outputs are kept as they are")]

use super::ResultKind;
use super::program::{CommandLineParser, ProgramPurpose, ResultProgram};

mod compiled;
mod files;
mod forges;
mod git;
mod javascript;
mod linters;
mod others;
mod python;
mod shells;
mod windows;

/// Packs, the messages of shells and hosts first.
pub(super) const ALL: &[&[ResultProgram]] = &[
    shells::PACK,
    files::PACK,
    git::PACK,
    forges::PACK,
    linters::PACK,
    windows::PACK,
    javascript::PACK,
    python::PACK,
    compiled::PACK,
    others::PACK,
];

/// Programs about files.
pub(super) use files::PACK as FILES;

/// Sources of the packs, whose examples are executed.
#[cfg(test)]
pub(super) const SOURCES: &[(&str, &str)] = &[
    ("shells", include_str!("shells.rs")),
    ("files", include_str!("files.rs")),
    ("git", include_str!("git.rs")),
    ("forges", include_str!("forges.rs")),
    ("linters", include_str!("linters.rs")),
    ("windows", include_str!("windows.rs")),
    ("javascript", include_str!("javascript.rs")),
    ("python", include_str!("python.rs")),
    ("compiled", include_str!("compiled.rs")),
    ("others", include_str!("others.rs")),
];
