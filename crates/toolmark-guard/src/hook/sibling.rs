//! The sibling program that can read every policy, run in place of this one.

use super::HookArgs;
use std::env::{self, consts::EXE_SUFFIX};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};

/// Reason why the sibling program gave no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum SiblingError {
    #[error("failed to find it: {0}")]
    NotFound(io::Error),
    #[error("failed to run {}: {error}", program.display())]
    Run { program: PathBuf, error: io::Error },
    #[error("{} failed ({status})", program.display())]
    Failed { program: PathBuf, status: ExitStatus },
}

/// Runs `toolmark guard` to answer; returns its exit code.
pub(super) fn run(asked: HookArgs<'_>, payload: &[u8]) -> Result<u8, SiblingError> {
    let program = place().map_err(SiblingError::NotFound)?;
    let failed = |error: io::Error| SiblingError::Run { program: program.clone(), error };
    let mut command = Command::new(&program);
    command.arg("guard").args(asked.host.iter().flat_map(|host| ["--host", host]));
    if let Some(policy) = asked.policy {
        command.arg("--policy").arg(policy);
    }
    if let Some(log) = asked.log {
        command.arg("--log").arg(log);
    }
    let mut child = command.stdin(Stdio::piped()).spawn().map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        // Whether it took all of the payload shows in how it ends.
        let _ = stdin.write_all(payload);
    }
    let status = child.wait().map_err(failed)?;
    match status.code() {
        Some(0) => Ok(0),
        Some(2) => Ok(2),
        _ => Err(SiblingError::Failed { program, status }),
    }
}

/// Returns the path of `toolmark` beside the running program.
fn place() -> io::Result<PathBuf> {
    Ok(env::current_exe()?.with_file_name(format!("toolmark{EXE_SUFFIX}")))
}
