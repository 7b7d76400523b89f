//! `toolmark man`: man pages of all commands.

use crate::Stop;
use crate::cli::Cli;
use crate::exit::{Exit, Failure};
use crate::human;
use crate::printer::{Line, Printer, style};
use clap::{Args, CommandFactory};
use std::fs;
use std::path::PathBuf;
use toolmark_redact::printable;

const EXAMPLES: &str = "\
Examples:
  toolmark man ~/.local/share/man/man1     for `man toolmark`, `man toolmark-check` …
  toolmark man target/man                  for a package";

/// Write man pages of all commands to a directory
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Man {
    /// The directory; it is made if it does not exist
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

impl Man {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let failed = |error: &std::io::Error| Failure::write(&self.dir, error);
        fs::create_dir_all(&self.dir).map_err(|error| failed(&error))?;
        let root = Cli::command().disable_help_subcommand(true);
        let pages = count(&root);
        clap_mangen::generate_to(root, &self.dir).map_err(|error| failed(&error))?;
        let dir = printer.redact(self.dir.display().to_string());
        let words = printable!("wrote {} to {}", human::things(pages, "page"), dir);
        printer.line(&Line::of(style::PLAIN, words))?;
        Ok(Exit::Ok)
    }
}

/// The command and those below it that are not hidden.
fn count(command: &clap::Command) -> u64 {
    let below = command.get_subcommands().filter(|command| !command.is_hide_set());
    1 + below.map(count).sum::<u64>()
}
