//! `toolmark guard test`: what a command would do, without running it.

use crate::Stop;
use crate::exit::{Exit, Failure};
use crate::human;
use crate::printer::{Layout, Line, Printer, Verbosity, style, to_json};
use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;
use toolmark_shell::{Context, Decision, Judgement, judge};

const EXAMPLES: &str = "\
Examples:
  toolmark guard test 'rm -rf build'                        one command
  toolmark guard test 'rm -rf build' --cwd ~                the same somewhere else
  toolmark guard test --batch commands.jsonl --format jsonl one row per command

Exit codes:
  0  allow; with --batch: every row was read
  1  deny
  2  the command line makes no sense
  3  ask; with --batch: a row could not be read";

/// Judge commands without running them
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Test {
    /// The command
    #[arg(value_name = "COMMAND", required_unless_present = "batch")]
    command: Option<String>,
    /// The directory it would run in; without it, the root of some git work tree
    #[arg(long, value_name = "DIR")]
    cwd: Option<String>,
    /// Judge the `command` of every row of this file of JSON lines
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    batch: Option<PathBuf>,
    /// How to print the answer
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    format: Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    Text,
    Json,
    Jsonl,
}

/// The answer to one command as JSON.
#[derive(Serialize)]
struct Answer<'a> {
    command: &'a str,
    #[serde(flatten)]
    judgement: &'a Judgement,
}

impl Test {
    pub(super) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        if let Some(path) = &self.batch {
            return self.batch(path, printer);
        }
        let command = self.command.as_deref().unwrap_or_default();
        let judgement = judge(command, &self.context(None));
        match self.format {
            Output::Text => print(&judgement, command, printer)?,
            Output::Json => printer.json(&Answer { command, judgement: &judgement })?,
            Output::Jsonl => {
                let answer = Answer { command, judgement: &judgement };
                printer.raw(&(to_json(&answer, Layout::Compact)? + "\n"))?;
            }
        }
        Ok(match judgement.decision {
            Decision::Allow => Exit::Ok,
            Decision::Ask => Exit::Unread,
            Decision::Deny => Exit::Failed,
        })
    }

    fn context<'a>(&'a self, cwd: Option<&'a str>) -> Context<'a> {
        Context { cwd: cwd.or(self.cwd.as_deref()), ..Context::default() }
    }

    /// Judges every row; a row that is none is named and counted.
    fn batch(&self, path: &PathBuf, printer: &mut Printer) -> Result<Exit, Stop> {
        let name = path.display();
        let file = File::open(path)
            .map_err(|error| Failure::unread(format!("failed to open {name}: {error}")))?;
        let mut bad = 0_u64;
        let mut rows = Vec::new();
        for (index, line) in BufReader::new(file).split(b'\n').enumerate() {
            let line =
                line.map_err(|error| Failure::unread(format!("failed to read {name}: {error}")))?;
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            match row(&line) {
                Ok(row) => self.judged(row, &mut rows, printer)?,
                Err(why) => {
                    bad += 1;
                    let place = format!("{name}:{}: ", index + 1);
                    let line = Line::of(style::BAD.bold(), "error")
                        .with(style::PLAIN, ": ")
                        .with(style::STRONG, &place)
                        .with(style::PLAIN, &why);
                    printer.notice(&line)?;
                }
            }
        }
        if self.format == Output::Json {
            printer.json(&rows)?;
        }
        if bad > 0 && printer.verbosity > Verbosity::Quiet {
            let words = format!("{} could not be read", human::things(bad, "row"));
            printer.notice(&Line::of(style::BAD, &words))?;
        }
        Ok(if bad > 0 { Exit::Unread } else { Exit::Ok })
    }

    fn judged(
        &self,
        mut row: Map<String, Value>,
        rows: &mut Vec<Value>,
        printer: &mut Printer,
    ) -> Result<(), Stop> {
        let command = row.get("command").and_then(Value::as_str).unwrap_or_default().to_owned();
        let cwd = row.get("cwd").and_then(Value::as_str).map(str::to_owned);
        let judgement = judge(&command, &self.context(cwd.as_deref()));
        if self.format == Output::Text {
            let first = command.lines().next().unwrap_or_default();
            let line =
                Line::of(tone(judgement.decision), &format!("{:5}", judgement.decision.as_str()))
                    .with(style::PLAIN, "  ")
                    .with(style::PLAIN, &printer.veil.shown(first));
            return Ok(printer.line(&line)?);
        }
        let Value::Object(answer) = serde_json::to_value(&judgement).map_err(io::Error::other)?
        else {
            return Ok(());
        };
        row.extend(answer);
        match self.format {
            Output::Json => rows.push(Value::Object(row)),
            _ => printer.raw(&(to_json(&row, Layout::Compact)? + "\n"))?,
        }
        Ok(())
    }
}

/// The row of a line, if it has a command.
fn row(line: &[u8]) -> Result<Map<String, Value>, String> {
    let value: Value = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    let Value::Object(row) = value else { return Err("not a JSON object".to_owned()) };
    match row.get("command") {
        Some(Value::String(_)) => Ok(row),
        Some(_) => Err("`command` is not a string".to_owned()),
        None => Err("no `command`".to_owned()),
    }
}

fn tone(decision: Decision) -> anstyle::Style {
    match decision {
        Decision::Allow => style::GOOD,
        Decision::Ask => style::WARN,
        Decision::Deny => style::BAD,
    }
}

fn print(judgement: &Judgement, command: &str, printer: &mut Printer) -> io::Result<()> {
    let decision = judgement.decision;
    let line = Line::of(tone(decision).bold(), decision.as_str())
        .with(style::PLAIN, "  ")
        .with(style::PLAIN, &printer.veil.shown(&judgement.reason));
    printer.line(&line)?;
    for effect in &judgement.effects {
        let words = format!(
            "  {} {} ({}, {}, {}): {}",
            effect.kind,
            effect.target,
            effect.scope,
            effect.reversibility,
            effect.certainty,
            effect.why
        );
        printer.line(&Line::of(style::PLAIN, &printer.veil.shown(&words)))?;
        if let Some(source) = command.get(effect.span.0..effect.span.1)
            && printer.verbosity == Verbosity::Verbose
        {
            let shown = format!("    in: {source}");
            printer.line(&Line::of(style::DIM, &printer.veil.shown(&shown)))?;
        }
    }
    Ok(())
}
