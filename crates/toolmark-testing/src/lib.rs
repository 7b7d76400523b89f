//! What the tests of several crates share: the corpus beside the project,
//! stand-in servers, and switches that turn a skipped test into a failed one.
//!
//! A test that cannot run where it is calls [`skip`] and returns. The line
//! `SKIPPED: <test>: <why>` goes to standard error past the capture of the test
//! harness, and to the file named by `TOOLMARK_SKIPPED`, if that is set:
//! `.ci/run` prints the file at the end of a run.
//!
//! | variable | value | meaning |
//! |---|---|---|
//! | `TOOLMARK_SHARED` | `required` | a test without its data in `../shared` fails |
//! | `TOOLMARK_PEERS` | `install` | other projects' programs are installed into the target directory |
//! | `TOOLMARK_PEERS` | `required` | the same, and a test without them fails |
//! | `TOOLMARK_SKIPPED` | a path | skipped tests are appended to this file |
//! | `TOOLMARK_TRUTH` | part of a path | only the shared traces whose path contains it are read |
//!
//! The crate depends on no other crate of the workspace, so that all of them can
//! use it in their tests.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say so")]

mod corpus;
pub mod http;
pub mod peers;
mod skip;
pub mod stand_in;
mod watch;

pub use corpus::{assert_compared, files_below, find_shared, find_traces};
pub use skip::skip;
pub use watch::Watch;

use std::path::{Path, PathBuf};

/// The root of the workspace.
#[must_use]
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A stand-in server that is a Python script, by its file name.
#[must_use]
pub fn server_script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("servers").join(name)
}

/// The value of a switch; a value that it does not have is a mistake of whoever
/// set it, and must not silently turn the switch off.
fn switch(variable: &str, values: &[&'static str]) -> Option<&'static str> {
    let value = std::env::var(variable).unwrap_or_default();
    let known = values.iter().find(|known| **known == value).copied();
    assert!(known.is_some() || value.is_empty(), "{variable}={value}: use {}", values.join(" or "));
    known
}
