//! Tests of an installed hook: passes calls to it as the agent would.

use super::last::TRIAL;
use std::io::Write;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;
use toolmark_hosts::{HookOutput, by_id};

/// A harmless call, which must be allowed.
const HARMLESS: &str = "ls";
/// A harmful call, which must be stopped. It is passed to the hook and never run.
const HARMFUL: &str = "git push --force origin main";

/// Reason why a hook does not work.
#[derive(Debug, thiserror::Error)]
pub enum HookFault {
    /// The host is unknown.
    #[error("unknown host")]
    Host,
    /// The hook does not start.
    #[error("failed to run it: {0}")]
    Run(#[from] std::io::Error),
    /// The hook ends with an error.
    #[error("it failed ({0}): {1}")]
    Failed(ExitStatus, String),
    /// The harmless call is stopped.
    #[error("`{HARMLESS}` is stopped: {0}")]
    Stopped(String),
    /// The harmful call is allowed.
    #[error("`{HARMFUL}` is not stopped (does the policy only observe?)")]
    NotStopped,
}

/// Passes a harmless and a harmful call to a hook; returns its result.
///
/// # Errors
///
/// The hook fails, stops the harmless call, or does not stop the harmful one.
pub fn try_both(host: &str, command: &str, cwd: &Path) -> Result<String, HookFault> {
    let (harmless, took) = hand_over(host, command, HARMLESS, cwd)?;
    if harmless.stops() {
        let words = format!("{}{}", harmless.stdout, harmless.stderr);
        return Err(HookFault::Stopped(words.trim().to_owned()));
    }
    let (harmful, _) = hand_over(host, command, HARMFUL, cwd)?;
    if !harmful.stops() {
        return Err(HookFault::NotStopped);
    }
    Ok(format!("`{HARMLESS}` is allowed, `{HARMFUL}` is stopped ({took} ms)"))
}

/// Runs a hook with one call as the agent would.
fn hand_over(
    host: &str,
    command: &str,
    call: &str,
    cwd: &Path,
) -> Result<(HookOutput, u128), HookFault> {
    let protocol = by_id(host).ok_or(HookFault::Host)?.protocol;
    let payload = protocol.sample(call, &cwd.to_string_lossy(), TRIAL).to_string();
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let started = Instant::now();
    let mut child = Command::new(shell)
        .args([flag, command])
        .current_dir(cwd)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A hook that cannot start does not read its input; its exit status shows that.
        let _ = stdin.write_all(payload.as_bytes());
    }
    let output = child.wait_with_output()?;
    let took = started.elapsed().as_millis();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let answer = HookOutput {
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
        exit: output.status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX),
    };
    match answer.exit {
        0 | 2 => Ok((answer, took)),
        _ => Err(HookFault::Failed(output.status, answer.stderr.trim().to_owned())),
    }
}
