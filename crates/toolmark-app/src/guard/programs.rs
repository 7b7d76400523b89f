//! The programs that the guard knows, as rows of output.

use serde::Serialize;
use toolmark_shell::Decision;
use toolmark_shell::catalog::{KnownCommand, KnownExample, ProgramFamily};

/// A family in the JSON output.
#[derive(Debug, Serialize)]
pub struct FamilyRow<'a> {
    family: &'static str,
    summary: &'a str,
    names: &'a [&'static str],
    commands: Vec<CommandRow<'a>>,
    examples: Vec<ExampleRow<'a>>,
}

/// A command whose options are listed.
#[derive(Debug, Serialize)]
pub struct CommandRow<'a> {
    name: &'static str,
    parser: &'static str,
    /// Whether every option is listed; an unknown one makes the reading incomplete.
    complete: bool,
    options: Vec<String>,
    effects: Vec<EffectRow<'a>>,
}

/// An effect and the options on which it depends.
#[derive(Debug, Serialize)]
pub struct EffectRow<'a> {
    when: &'a str,
    effect: &'static str,
}

/// A command line and the decision about it.
#[derive(Debug, Serialize)]
pub struct ExampleRow<'a> {
    decision: Decision,
    command: &'a str,
}

impl<'a> From<&'a ProgramFamily> for FamilyRow<'a> {
    fn from(family: &'a ProgramFamily) -> Self {
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
#[must_use]
pub fn options(command: &KnownCommand) -> Vec<String> {
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

/// Whether a family describes a program or a subcommand.
#[must_use]
pub fn describes(family: &ProgramFamily, name: &str) -> bool {
    let is_subcommand =
        |known: &KnownCommand| known.name == name || known.name.split(' ').next() == Some(name);
    family.id == name || family.names.contains(&name) || family.commands.iter().any(is_subcommand)
}

/// Returns the family of a subcommand, or else that of its program.
#[must_use]
pub fn family_of<'a>(known: &'a [ProgramFamily], name: &str) -> Option<&'a ProgramFamily> {
    let exact =
        |family: &&ProgramFamily| family.commands.iter().any(|command| command.name == name);
    let first = name.split(' ').next().unwrap_or(name);
    let is_it = |family: &&ProgramFamily| family.names.contains(&first) || describes(family, first);
    known.iter().find(exact).or_else(|| known.iter().find(is_it))
}
