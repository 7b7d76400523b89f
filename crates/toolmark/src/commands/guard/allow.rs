//! `toolmark guard allow`: lets one command run that the guard would deny.

use crate::Stop;
use crate::exit::{Exit, Failure};
use crate::printer::{Printer, StyledLine, style};
use clap::Args;
use std::env;
use toolmark_app::guard::allow::{last_stopped, listed, revoked};
use toolmark_guard::allowed::{self, Allowed};
use toolmark_guard::files::allowed_file;
use toolmark_redact::printable;

const EXAMPLES: &str = "\
Examples:
  toolmark guard allow --once 'git push --force origin fix'     the next time only
  toolmark guard allow --always 'docker compose down -v'        from now on
  toolmark guard allow --last                                   what was stopped last here, once
  toolmark guard allow --list                                   what is allowed
  toolmark guard allow --revoke 2                               take the second one back

Exit codes:
  0  the command is allowed, or the list is printed
  1  there is nothing to take back
  2  the command line is invalid
  3  it could not be written down";

/// Let one command run that the guard stops
///
/// For you, not for agents: the guard denies them this command. The command must be
/// the same, word for word, and run in the project here. What would change or remove
/// the guard itself stays denied.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Allow {
    /// The command, as the agent runs it
    #[arg(value_name = "COMMAND", required_unless_present_any = ["last", "list", "revoke"])]
    command: Option<String>,
    /// The command that was stopped last in this project
    #[arg(long, conflicts_with = "command")]
    last: bool,
    /// Only the next time; the default with --last
    #[arg(long, conflicts_with = "always",
        required_unless_present_any = ["always", "last", "list", "revoke"])]
    once: bool,
    /// Every time
    #[arg(long)]
    always: bool,
    /// List the allowed commands
    #[arg(long, conflicts_with_all = ["command", "last", "once", "always", "revoke"])]
    list: bool,
    /// Take a permission back: its number in the list, or the command
    #[arg(long, value_name = "WHICH", conflicts_with_all = ["command", "last", "once", "always"])]
    revoke: Option<String>,
}

impl Allow {
    pub(super) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let Some(path) = allowed_file() else {
            let failure = Failure::usage("the home directory is not known");
            return Err(failure.hint("set HOME").into());
        };
        if self.list || self.revoke.is_some() {
            let lines = match &self.revoke {
                Some(which) => revoked(&path, which)?,
                None => listed(&path),
            };
            for line in &lines {
                printer.line(&StyledLine::of(style::PLAIN, printer.redact(line.clone())))?;
            }
            return Ok(if lines.is_empty() { Exit::Failed } else { Exit::Ok });
        }
        let here = env::current_dir()?;
        let root = here.ancestors().find(|dir| dir.join(".git").exists()).unwrap_or(&here);
        let directory = root.to_string_lossy().into_owned();
        let command = match self.command {
            Some(command) => command,
            None => last_stopped(root)?,
        };
        let words = match self.always {
            true => format!("allowed in {directory} from now on: {command}"),
            false => format!("allowed once in {directory}: {command}"),
        };
        let allowed = Allowed { command, directory, once: !self.always };
        allowed::add(&path, &allowed).map_err(|error| {
            Failure::unread(format!("failed to write {}", path.display())).because(&error)
        })?;
        let line = StyledLine::of(style::GOOD, printer.redact(words));
        let place = printable!(" ({})", printer.redact(path.display().to_string()));
        printer.line(&line.with(style::DIM, place))?;
        Ok(Exit::Ok)
    }
}
