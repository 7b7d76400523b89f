//! `toolmark guard programs`: lists what the guard knows about programs.

use crate::Stop;
use crate::args::TextFormat;
use crate::exit::{Exit, Failure};
use crate::printer::{Line, Printer, style};
use crate::text::width;
use clap::Args;
use serde::Serialize;
use std::io;
use toolmark_redact::printable;
use toolmark_shell::Decision;
use toolmark_shell::catalog::{Family, KnownCommand, KnownExample, families};

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

/// A family in the JSON output.
#[derive(Serialize)]
struct FamilyRow<'a> {
    family: &'static str,
    summary: &'a str,
    names: &'a [&'static str],
    commands: Vec<CommandRow<'a>>,
    examples: Vec<ExampleRow<'a>>,
}

/// A command whose options are listed.
#[derive(Serialize)]
struct CommandRow<'a> {
    name: &'static str,
    parser: &'static str,
    /// Whether every option is listed; an unknown one makes the reading incomplete.
    complete: bool,
    options: Vec<String>,
    effects: Vec<EffectRow<'a>>,
}

/// An effect and the options on which it depends.
#[derive(Serialize)]
struct EffectRow<'a> {
    when: &'a str,
    effect: &'static str,
}

/// A command line and the decision about it.
#[derive(Serialize)]
struct ExampleRow<'a> {
    decision: Decision,
    command: &'a str,
}

impl<'a> From<&'a Family> for FamilyRow<'a> {
    fn from(family: &'a Family) -> Self {
        let example = |example: &'a KnownExample| ExampleRow {
            decision: example.decision,
            command: &example.command,
        };
        Self {
            family: family.id,
            summary: &family.summary,
            names: &family.names,
            commands: family.commands.iter().map(CommandRow::from).collect(),
            examples: family.examples.iter().map(example).collect(),
        }
    }
}

impl<'a> From<&'a KnownCommand> for CommandRow<'a> {
    fn from(command: &'a KnownCommand) -> Self {
        let effects = command.effects.iter();
        Self {
            name: command.name,
            parser: command.syntax,
            complete: !command.is_open,
            options: options(command),
            effects: effects.map(|(when, effect)| EffectRow { when, effect }).collect(),
        }
    }
}

/// Returns the options as they are written on a command line.
fn options(command: &KnownCommand) -> Vec<String> {
    let dashed = |name: &str| match name.chars().count() {
        1 => format!("-{name}"),
        _ => format!("--{name}"),
    };
    let written = command.options.iter().map(|option| {
        let short = option.short.map(|short| format!("-{short}, ")).unwrap_or_default();
        let value = if option.takes_value { " VALUE" } else { "" };
        format!("{short}{}{value}", dashed(option.name))
    });
    written.collect()
}

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
        let is_wanted = |family: &Family| {
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

/// Whether a family describes a program or a subcommand.
fn describes(family: &Family, name: &str) -> bool {
    let is_subcommand =
        |known: &KnownCommand| known.name == name || known.name.split(' ').next() == Some(name);
    family.id == name || family.names.contains(&name) || family.commands.iter().any(is_subcommand)
}

/// Returns the family of a subcommand, or else that of its program.
fn family_of<'a>(known: &'a [Family], name: &str) -> Option<&'a Family> {
    let exact = |family: &&Family| family.commands.iter().any(|command| command.name == name);
    let first = name.split(' ').next().unwrap_or(name);
    let is_it = |family: &&Family| family.names.contains(&first) || describes(family, first);
    known.iter().find(exact).or_else(|| known.iter().find(is_it))
}

fn list(family: &Family, printer: &mut Printer) -> io::Result<()> {
    let mut head = Line::of(style::STRONG, printable!("{}", family.id));
    let first = family.summary.split("\n\n").next().unwrap_or("").replace('\n', " ");
    head.pad(16);
    head.push(style::DIM, printable!(" {}", printer.redact(first)));
    printer.line(&head.fit(printer.width()))?;
    let commands = family.commands.iter().map(|command| command.name);
    let names = family.names.iter().copied().chain(commands.filter(|name| name.contains(' ')));
    let mut line = Line::new();
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
            line = Line::of(style::PLAIN, "  ");
            used = 0;
        }
        line.push(style::PLAIN, name);
        used += width(name) + 2;
    }
    if used > 0 { printer.line(&line) } else { Ok(()) }
}

fn explain(family: &Family, name: &str, printer: &mut Printer) -> io::Result<()> {
    let commands: Vec<&KnownCommand> =
        family.commands.iter().filter(|command| command.name == name).collect();
    for command in &commands {
        let mut head = Line::of(style::STRONG, command.name);
        let extent = if command.is_open { "some options" } else { "all options" };
        head.push(style::DIM, printable!("  {}, {} known", command.syntax, extent));
        printer.line(&head)?;
        for (when, effect) in &command.effects {
            printer.line(&Line::of(
                style::PLAIN,
                printable!("  {}: {}", printer.redact(when.as_str()), *effect),
            ))?;
        }
        let options = options(command).join("  ");
        printer.line(&Line::of(style::DIM, printable!("  {}", printer.redact(options))))?;
    }
    if commands.is_empty() {
        printer.line(&Line::of(style::STRONG, printable!("{}", family.id)))?;
        for line in family.summary.lines() {
            printer.line(&Line::of(style::PLAIN, printable!("  {}", printer.redact(line))))?;
        }
    }
    let of_command = |example: &&KnownExample| example.command.contains(name);
    for (decision, word) in
        [(Decision::Deny, "denied"), (Decision::Ask, "asked"), (Decision::Allow, "allowed")]
    {
        let shown = family.examples.iter().filter(|example| example.decision == decision);
        for example in shown.filter(of_command) {
            let mut line = Line::of(super::tone(decision), printable!("  {}", word));
            line.pad(11);
            line.push(style::PLAIN, printer.redact(example.command.replace('\n', "⏎")));
            printer.line(&line)?;
        }
    }
    Ok(())
}
