//! `toolmark man`: writes man pages of all commands.

use crate::cli::Cli;
use crate::exit::{Exit, Failure};
use crate::human;
use crate::printer::{Printer, StyledLine, style};
use clap::{Args, Command, CommandFactory};
use std::path::{Path, PathBuf};
use std::{fs, io};
use toolmark_app::Stop;
use toolmark_redact::printable;

const EXAMPLES: &str = "\
Examples:
  toolmark man ~/.local/share/man/man1     for `man toolmark`, `man toolmark-check` …
  toolmark man target/man                  for a package";

/// Write man pages of all commands to a directory
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Man {
    /// Directory to write to; created if it does not exist
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

impl Man {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let mut root = Cli::command();
        root.build();
        let pages = fs::create_dir_all(&self.dir)
            .and_then(|()| write_pages(&root, &self.dir))
            .map_err(|error| Failure::write(&self.dir, &error))?;
        let dir = printer.redact(self.dir.display().to_string());
        let words = printable!("wrote {} to {}", human::things(pages, "page"), dir);
        printer.line(&StyledLine::of(style::PLAIN, words))?;
        Ok(Exit::Ok)
    }
}

/// Writes the pages of a command and its subcommands; returns their number.
fn write_pages(command: &Command, dir: &Path) -> io::Result<u64> {
    let mut pages = 1;
    for below in command.get_subcommands().filter(|command| !is_hidden(command)) {
        pages += write_pages(below, dir)?;
    }
    let page = clap_mangen::Man::new(command.clone())
        .source(concat!("toolmark ", env!("CARGO_PKG_VERSION")))
        .manual("toolmark");
    let mut text = Vec::new();
    page.render(&mut text)?;
    fs::write(dir.join(page.get_filename()), with_examples(&String::from_utf8_lossy(&text)))?;
    Ok(pages)
}

/// Marks the examples after the options as preformatted, so that their lines are not filled.
fn with_examples(page: &str) -> String {
    let Some((before, after)) = page.split_once("\n.SH EXTRA\nExamples:\n") else {
        return page.to_owned();
    };
    let end = after.find("\n.SH ").unwrap_or(after.trim_end().len());
    let (examples, rest) = after.split_at_checked(end).unwrap_or((after, ""));
    format!("{before}\n.SH EXAMPLES\n.nf\n{examples}\n.fi{rest}")
}

/// Whether a command is clap's own `help` subcommand, which repeats the help of the commands.
fn is_hidden(command: &Command) -> bool {
    let is_root = command.get_bin_name().is_some_and(|name| name == "toolmark help");
    command.is_hide_set() || (command.get_name() == "help" && !is_root)
}
