//! `toolmark guard doctor`: tests the installed hooks by running them as the agents would.

use super::install::{Which, binary, place, settings, title};
use crate::Stop;
use crate::exit::Exit;
use crate::printer::{Line, Printer, style};
use clap::Args;
use serde::Serialize;
use std::io::Write;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;
use toolmark_app::guard::last::TRIAL;
use toolmark_hosts::install::Scope;
use toolmark_hosts::{Answer, by_id};
use toolmark_redact::printable;

const EXAMPLES: &str = "\
Examples:
  toolmark guard doctor                  every agent found on this machine
  toolmark guard doctor claude-code      one

Exit codes:
  0  every hook answers as it should
  1  one does not, or is not installed
  2  the command line is invalid";

/// A harmless call, which must be allowed.
const HARMLESS: &str = "ls";
/// A harmful call, which must be stopped. It is passed to the hook and never run.
const HARMFUL: &str = "git push --force origin main";

/// Try the hooks that are installed
///
/// Passes a harmless and a harmful call to each hook, as the agent would, and prints the answers.
/// Neither call is made.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Doctor {
    #[command(flatten)]
    which: Which,
}

/// Test result of one hook.
#[derive(Serialize)]
struct Tried {
    host: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    works: bool,
    words: String,
}

impl Doctor {
    pub(super) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let (place, binary) = (place()?, binary()?);
        let mut all = Vec::new();
        for host in self.which.hosts(&place, printer)? {
            let mut commands = Vec::new();
            for scope in [Scope::User, Scope::Project] {
                let settings = settings(host, scope, &place, &binary)?;
                let found = settings.commands();
                // The hook may work, and the host may still never run it.
                if let Some(words) = settings.obstacle().filter(|_| !found.is_empty()) {
                    all.push(Tried { host, command: None, works: false, words });
                }
                commands.extend(found);
            }
            commands.dedup();
            if commands.is_empty() {
                let words = "not installed".to_owned();
                all.push(Tried { host, command: None, works: false, words });
            }
            for command in commands {
                let tried = try_both(host, &command, &place.project);
                let (works, words) = match tried {
                    Ok(words) => (true, words),
                    Err(fault) => (false, fault.to_string()),
                };
                all.push(Tried { host, command: Some(command), works, words });
            }
        }
        if self.which.is_json() {
            let rows = serde_json::to_value(&all).map_err(std::io::Error::other)?;
            printer.json(&printer.redactor.json(rows.into()))?;
        } else {
            for tried in &all {
                print(tried, printer)?;
            }
        }
        Ok(if all.iter().all(|tried| tried.works) { Exit::Ok } else { Exit::Failed })
    }
}

fn print(tried: &Tried, printer: &mut Printer) -> Result<(), Stop> {
    let tone = if tried.works { style::GOOD } else { style::BAD };
    let line = Line::of(style::STRONG, title(tried.host))
        .with(style::PLAIN, ": ")
        .with(tone, if tried.works { "works" } else { "does not work" })
        .with(style::PLAIN, printable!(": {}", printer.redact(&tried.words)));
    printer.line(&line)?;
    if let Some(command) = &tried.command {
        let shown = printer.redact(format!("  {command}"));
        printer.line(&Line::of(style::DIM, shown))?;
    }
    Ok(())
}

/// Reason why a hook does not work.
#[derive(Debug, thiserror::Error)]
enum HookFault {
    #[error("unknown host")]
    Host,
    #[error("failed to run it: {0}")]
    Run(#[from] std::io::Error),
    #[error("it failed ({0}): {1}")]
    Failed(ExitStatus, String),
    #[error("`{HARMLESS}` is stopped: {0}")]
    Stopped(String),
    #[error("`{HARMFUL}` is not stopped (does the policy only observe?)")]
    NotStopped,
}

/// Passes both calls to a hook; returns its result.
fn try_both(host: &str, command: &str, cwd: &Path) -> Result<String, HookFault> {
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
) -> Result<(Answer, u128), HookFault> {
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
    let answer = Answer {
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
        exit: output.status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX),
    };
    match answer.exit {
        0 | 2 => Ok((answer, took)),
        _ => Err(HookFault::Failed(output.status, answer.stderr.trim().to_owned())),
    }
}
