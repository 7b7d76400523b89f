//! `toolmark completions`: a script that lets a shell complete our commands.

use crate::Stop;
use crate::cli::Cli;
use crate::exit::Exit;
use crate::printer::Printer;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

const EXAMPLES: &str = "\
Examples:
  toolmark completions bash > ~/.local/share/bash-completion/completions/toolmark
  toolmark completions zsh > ~/.zfunc/_toolmark
  toolmark completions fish > ~/.config/fish/completions/toolmark.fish";

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Completions {
    /// Shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "toolmark", &mut script);
        printer.raw(&String::from_utf8_lossy(&script))?;
        Ok(Exit::Ok)
    }
}
