//! `toolmark guard programs`: lists what the guard knows about programs.

use crate::Stop;
use crate::args::TextFormat;
use crate::exit::{Exit, Failure};
use crate::printer::{Printer, StyledLine, style};
use crate::text::width;
use clap::Args;
use std::io;
use toolmark_app::guard::programs::{FamilyRow, describes, family_of, options};
use toolmark_redact::printable;
use toolmark_shell::Decision;
use toolmark_shell::catalog::{KnownCommand, KnownExample, ProgramFamily, families};

const EXAMPLES: &str = "\
Examples:
  toolmark guard programs                        all of them, by family
  toolmark guard programs git rm                 the families of these
  toolmark guard programs --explain 'git reset'  its options, effects and examples
  toolmark guard programs --format json | jq -r '.[].names[]'";

/// List what the guard knows about programs, or explain one
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Programs {
    /// Programs to list [default: all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Show the options, effects and examples of this program or subcommand
    #[arg(long, value_name = "NAME", conflicts_with = "names")]
    explain: Option<String>,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    format: TextFormat,
}

/// Width of the list on a narrow terminal.
const MIN_WIDTH: usize = 40;

impl Programs {
    pub(super) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let mut known = families();
        if let Some(name) = &self.explain {
            let family = family_of(&known, name).ok_or_else(|| unknown(name))?;
            match self.format {
                TextFormat::Text => explain(family, name, printer)?,
                TextFormat::Json => printer.json(&[FamilyRow::from(family)])?,
            }
            return Ok(Exit::Ok);
        }
        for name in &self.names {
            family_of(&known, name).ok_or_else(|| unknown(name))?;
        }
        let is_wanted = |family: &ProgramFamily| {
            self.names.is_empty() || self.names.iter().any(|name| describes(family, name))
        };
        known.retain(is_wanted);
        match self.format {
            TextFormat::Text => known.iter().try_for_each(|family| list(family, printer))?,
            TextFormat::Json => {
                printer.json(&known.iter().map(FamilyRow::from).collect::<Vec<_>>())?;
            }
        }
        Ok(Exit::Ok)
    }
}

fn unknown(name: &str) -> Failure {
    Failure::usage(format!(
        "the guard has no rules for the program '{name}'; `toolmark guard programs` lists those it has"
    ))
}

fn list(family: &ProgramFamily, printer: &mut Printer) -> io::Result<()> {
    let mut head = StyledLine::of(style::STRONG, printable!("{}", family.id));
    let first = family.summary.split("\n\n").next().unwrap_or("").replace('\n', " ");
    head.pad(16);
    head.push(style::DIM, printable!(" {}", printer.redact(first)));
    printer.line(&head.fit(printer.width()))?;
    let commands = family.commands.iter().map(|command| command.name);
    let names = family.names.iter().copied().chain(commands.filter(|name| name.contains(' ')));
    let mut line = StyledLine::new();
    let mut used = 0;
    for name in names {
        let fits = used + width(name) + 2 <= printer.width().max(MIN_WIDTH);
        if used > 0 && fits {
            line.push(style::PLAIN, ", ");
        } else {
            if used > 0 {
                line.push(style::PLAIN, ",");
                printer.line(&line)?;
            }
            line = StyledLine::of(style::PLAIN, "  ");
            used = 0;
        }
        line.push(style::PLAIN, name);
        used += width(name) + 2;
    }
    if used > 0 { printer.line(&line) } else { Ok(()) }
}

fn explain(family: &ProgramFamily, name: &str, printer: &mut Printer) -> io::Result<()> {
    let commands: Vec<&KnownCommand> =
        family.commands.iter().filter(|command| command.name == name).collect();
    for command in &commands {
        let mut head = StyledLine::of(style::STRONG, command.name);
        let extent = if command.is_open { "some options" } else { "all options" };
        head.push(style::DIM, printable!("  {}, {} known", command.syntax, extent));
        printer.line(&head)?;
        for (when, effect) in &command.effects {
            printer.line(&StyledLine::of(
                style::PLAIN,
                printable!("  {}: {}", printer.redact(when.as_str()), *effect),
            ))?;
        }
        let options = options(command).join("  ");
        printer.line(&StyledLine::of(style::DIM, printable!("  {}", printer.redact(options))))?;
    }
    if commands.is_empty() {
        printer.line(&StyledLine::of(style::STRONG, printable!("{}", family.id)))?;
        for line in family.summary.lines() {
            printer
                .line(&StyledLine::of(style::PLAIN, printable!("  {}", printer.redact(line))))?;
        }
    }
    let of_command = |example: &&KnownExample| example.command.contains(name);
    for (decision, word) in
        [(Decision::Deny, "denied"), (Decision::Ask, "asked"), (Decision::Allow, "allowed")]
    {
        let shown = family.examples.iter().filter(|example| example.decision == decision);
        for example in shown.filter(of_command) {
            let mut line = StyledLine::of(super::tone(decision), printable!("  {}", word));
            line.pad(11);
            line.push(style::PLAIN, printer.redact(example.command.replace('\n', "⏎")));
            printer.line(&line)?;
        }
    }
    Ok(())
}
