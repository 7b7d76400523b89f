//! `toolmark guard`: decides about calls before they run.

mod hook;
mod permissions;
mod policy;
mod test;

use crate::Stop;
use crate::exit::Exit;
use crate::printer::Printer;
use clap::{Args, Subcommand};

pub(crate) use hook::at_once;

const EXAMPLES: &str = "\
Examples:
  toolmark guard < payload.json              answer the hook of an agent
  toolmark guard --host codex < payload.json the same, for a host that is named
  toolmark guard test 'rm -rf build'         what would be said about a command";

/// Decide about tool calls before they run
///
/// Without a subcommand it is a hook: it reads one payload from the standard
/// input and answers in the protocol of the host that sent it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Guard {
    #[command(flatten)]
    hook: hook::Hook,
    #[command(subcommand)]
    command: Option<Asked>,
}

#[derive(Debug, Subcommand)]
enum Asked {
    Test(test::Test),
    Permissions(permissions::Permissions),
    Policy(policy::Policy),
}

impl Guard {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        match self.command {
            None => Ok(self.hook.run()),
            Some(Asked::Test(test)) => test.run(printer),
            Some(Asked::Permissions(permissions)) => permissions.run(printer),
            Some(Asked::Policy(policy)) => policy.run(printer),
        }
    }
}
