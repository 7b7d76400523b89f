//! `toolmark guard`: decides about calls before they run.

mod allow;
mod doctor;
mod hook;
mod install;
mod log;
mod mcp;
mod permissions;
mod policy;
mod programs;
mod replay;
mod test;
mod undo;

use crate::Stop;
use crate::commands::help::HelpBelow;
use crate::exit::Exit;
use crate::printer::{Printer, style};
use clap::{Args, Subcommand};
use toolmark_shell::Decision;

pub(crate) use hook::at_once;

const EXAMPLES: &str = "\
Examples:
  toolmark guard < payload.json              answer the hook of an agent
  toolmark guard --host codex < payload.json the same for a given host
  toolmark guard test 'rm -rf build'         decide about one command
  toolmark guard replay --since 30d          decide about last month's sessions
  toolmark guard undo --last                 put back what the last call destroyed
  toolmark guard install                     install it for the agents on this machine";

/// Decide about tool calls before they run
///
/// Without a subcommand it is a hook: it reads one payload from stdin and answers
/// in the protocol of the host that sent it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Guard {
    #[command(flatten)]
    hook: hook::HookCommand,
    #[command(subcommand)]
    command: Option<GuardAction>,
}

#[derive(Debug, Subcommand)]
enum GuardAction {
    Install(install::Install),
    Status(install::GuardStatusCommand),
    Doctor(doctor::Doctor),
    Allow(allow::Allow),
    Test(test::GuardTestCommand),
    Undo(undo::Undo),
    Replay(replay::Replay),
    Uninstall(install::Uninstall),
    Mcp(mcp::GuardMcpCommand),
    Log(log::Log),
    Permissions(permissions::PermissionsCommand),
    Policy(policy::Policy),
    Programs(programs::Programs),
    Help(HelpBelow),
}

impl Guard {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        match self.command {
            None => Ok(self.hook.run()),
            Some(GuardAction::Install(install)) => install.run(printer),
            Some(GuardAction::Status(status)) => status.run(printer),
            Some(GuardAction::Doctor(doctor)) => doctor.run(printer),
            Some(GuardAction::Allow(allow)) => allow.run(printer),
            Some(GuardAction::Test(test)) => test.run(printer),
            Some(GuardAction::Undo(undo)) => undo.run(printer),
            Some(GuardAction::Replay(replay)) => replay.run(printer),
            Some(GuardAction::Uninstall(uninstall)) => uninstall.run(printer),
            Some(GuardAction::Mcp(mcp)) => mcp.run(printer),
            Some(GuardAction::Log(log)) => log.run(printer),
            Some(GuardAction::Permissions(permissions)) => permissions.run(printer),
            Some(GuardAction::Policy(policy)) => policy.run(printer),
            Some(GuardAction::Programs(programs)) => programs.run(printer),
            Some(GuardAction::Help(help)) => help.run(&["guard"], printer),
        }
    }
}

/// The installations of the guard, for the web page.
pub(crate) fn installed() -> Vec<toolmark_serve::HostStatus> {
    install::seen_by_page().unwrap_or_default()
}

fn tone(decision: Decision) -> anstyle::Style {
    match decision {
        Decision::Allow => style::GOOD,
        Decision::Ask => style::WARN,
        Decision::Deny => style::BAD,
    }
}
