//! `toolmark completions`: a script that lets a shell complete our commands.

use crate::completing::VARIABLE;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use clap::Args;
use clap::builder::PossibleValuesParser;
use clap_complete::env::Shells;
use toolmark_app::Stop;

const EXAMPLES: &str = "\
Examples:
  toolmark completions fish | source           in ~/.config/fish/config.fish
  source <(toolmark completions bash)          in ~/.bashrc
  source <(toolmark completions zsh)           in ~/.zshrc, after compinit
  eval (toolmark completions elvish | slurp)   in ~/.config/elvish/rc.elv
  toolmark completions powershell | Out-String | Invoke-Expression   in $PROFILE";

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Completions {
    /// Shell
    #[arg(value_name = "SHELL", value_parser = shell())]
    shell: String,
}

fn shell() -> PossibleValuesParser {
    PossibleValuesParser::new(Shells::builtins().names())
}

impl Completions {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let shells = Shells::builtins();
        let shell = shells
            .completer(&self.shell)
            .ok_or_else(|| Failure::usage(format!("unknown shell {}", self.shell)))?;
        let mut script = Vec::new();
        shell.write_registration(VARIABLE, "toolmark", "toolmark", "toolmark", &mut script)?;
        printer.raw(&String::from_utf8_lossy(&script))?;
        Ok(Exit::Ok)
    }
}
