//! Tests of `toolmark guard mcp` with misbehaving servers, and with real servers and clients.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say so")]

mod fake;
mod http;
mod real;

use std::path::{Path, PathBuf};
use std::process::Command;

/// Path of a file beside this one.
fn beside(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp").join(name)
}

/// Returns the proxy, with its pins and its log in a folder of the test.
fn proxy(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolmark"));
    command.args(["guard", "mcp", "--name", "peer", "--log"]).arg(folder.join("log.jsonl"));
    command.env("NO_COLOR", "1").current_dir(folder);
    command
}
