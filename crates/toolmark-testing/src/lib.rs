//! Shared test code of the workspace: the corpus beside the project, substitute servers, and
//! switches that turn a skipped test into a failed one.
//!
//! A test that cannot run in the current environment calls [`skip`] and returns. The line `SKIPPED:
//! <test>: <why>` is written to standard error, bypassing the output capture of the test harness,
//! and to the file named by `TOOLMARK_SKIPPED`, if that is set: `.ci/run` prints the file at the
//! end of a run.
//!
//! | variable | value | meaning |
//! |---|---|---|
//! | `TOOLMARK_SHARED` | `required` | a test without its data in `../shared` fails |
//! | `TOOLMARK_PEERS` | `install` | other projects' programs are installed into the target directory |
//! | `TOOLMARK_PEERS` | `required` | the same, and a test without them fails |
//! | `TOOLMARK_SKIPPED` | a path | skipped tests are appended to this file |
//! | `TOOLMARK_TRUTH` | part of a path | only the shared traces whose path contains it are read |
//!
//! The crate depends on no other crate of the workspace, so that every crate can use it in its
//! tests.

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
pub use watch::CpuWatch;

use std::path::{Path, PathBuf};

/// Returns the root of the workspace.
#[must_use]
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the path of a substitute server, a Python script, by its file name.
#[must_use]
pub fn server_script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("servers").join(name)
}

/// Returns the value of a switch. An invalid value is an error of the user and must not silently
/// disable the switch.
fn switch(variable: &str, values: &[&'static str]) -> Option<&'static str> {
    let value = std::env::var(variable).unwrap_or_default();
    let known = values.iter().find(|known| **known == value).copied();
    assert!(known.is_some() || value.is_empty(), "{variable}={value}: use {}", values.join(" or "));
    known
}
