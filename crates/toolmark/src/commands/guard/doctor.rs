//! `toolmark guard doctor`: tests the installed hooks by running them as the agents would.

use super::install::{Which, title};
use crate::Stop;
use crate::exit::Exit;
use crate::printer::{Printer, StyledLine, style};
use clap::Args;
use serde::Serialize;
use toolmark_app::guard::doctor::try_both;
use toolmark_app::guard::hosts::{binary, place, settings};
use toolmark_hosts::install::SettingsScope;
use toolmark_redact::printable;

const EXAMPLES: &str = "\
Examples:
  toolmark guard doctor                  every agent found on this machine
  toolmark guard doctor claude-code      one

Exit codes:
  0  every hook answers as it should
  1  one does not, or is not installed
  2  the command line is invalid";

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
            for scope in [SettingsScope::User, SettingsScope::Project] {
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
    let line = StyledLine::of(style::STRONG, title(tried.host))
        .with(style::PLAIN, ": ")
        .with(tone, if tried.works { "works" } else { "does not work" })
        .with(style::PLAIN, printable!(": {}", printer.redact(&tried.words)));
    printer.line(&line)?;
    if let Some(command) = &tried.command {
        let shown = printer.redact(format!("  {command}"));
        printer.line(&StyledLine::of(style::DIM, shown))?;
    }
    Ok(())
}
