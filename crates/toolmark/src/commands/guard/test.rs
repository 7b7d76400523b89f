//! `toolmark guard test`: prints the decision about a call without running it.

use super::tone;
use crate::Stop;
use crate::args::RowFormat;
use crate::exit::{Exit, Failure};
use crate::guarding;
use crate::human;
use crate::inputs::open_lines;
use crate::printer::{Printer, StyledLine, Verbosity, style};
use clap::Args;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use toolmark_base::ReadFileError;
use toolmark_guard::facts::Disk;
use toolmark_guard::{Args as CallArgs, Guard, GuardAnswer, HookEvent, Moment};
use toolmark_hosts::{HOSTS, by_id};
use toolmark_redact::{Json, Printable, printable};
use toolmark_shell::{Decision, FileFacts};

/// The assumed host and tool of a bare command.
const SHELL: (&str, &str) = ("claude-code", "Bash");

const EXAMPLES: &str = "\
Examples:
  toolmark guard test 'rm -rf build'                        one command
  toolmark guard test 'rm -rf build' --cwd ~                the same in another directory
  toolmark guard test --tool Read --args '{\"file_path\":\".env\"}'
  toolmark guard test --batch commands.jsonl --format jsonl  one row per call

Exit codes:
  0  allow; with --batch: every row was read
  1  deny
  2  the command line or the policy is invalid
  3  ask; with --batch: a row could not be read";

/// Show what would be decided about a call, without running it
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct GuardTestCommand {
    /// Command to decide about
    #[arg(value_name = "COMMAND", required_unless_present_any = ["batch", "tool"])]
    command: Option<String>,
    /// Tool to decide about, instead of a command
    #[arg(long, value_name = "NAME", conflicts_with = "command")]
    tool: Option<String>,
    /// Arguments of the tool, as JSON
    #[arg(long, value_name = "JSON", requires = "tool", conflicts_with_all = ["command", "batch"])]
    args: Option<String>,
    /// Host that the tool belongs to
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// Directory the call would run in [default: the root of an unnamed git work tree]
    #[arg(long, value_name = "DIR")]
    cwd: Option<String>,
    /// Decide about every row of this JSONL file: `command`, or `tool` and `args`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "tool"])]
    batch: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    format: RowFormat,
}

/// The answer to one call in the JSON output.
#[derive(Serialize)]
struct TestedCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a Printable>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'a Printable>,
    #[serde(flatten)]
    verdict: &'a GuardAnswer,
}

impl GuardTestCommand {
    pub(super) fn run(mut self, printer: &mut Printer) -> Result<Exit, Stop> {
        self.cwd = self.cwd.map(absolute).transpose()?;
        if let Some(host) = self.host.as_deref().filter(|host| by_id(host).is_none()) {
            let known: Vec<&str> = HOSTS.iter().map(|host| host.id).collect();
            let failure = Failure::usage(format!("unknown host {host}"));
            return Err(failure.hint(format!("known hosts: {}", known.join(", "))).into());
        }
        let guard = self.guard(printer)?;
        if let Some(path) = &self.batch {
            return self.batch(path, &guard, printer);
        }
        let event = self.event()?;
        let verdict = decide(&guard, &event).redact(printer.redactor);
        let redact = |text: &Option<String>| text.as_ref().map(|text| printer.redact(text));
        let (command, tool) = (redact(&self.command), redact(&self.tool));
        let answer =
            TestedCall { command: command.as_ref(), tool: tool.as_ref(), verdict: &verdict };
        match self.format {
            RowFormat::Text => {
                print(&verdict, self.command.as_deref().unwrap_or_default(), printer)?;
            }
            RowFormat::Json => printer.json(&answer)?,
            RowFormat::Jsonl => printer.json_line(&answer)?,
        }
        Ok(match verdict.decision {
            Decision::Allow => Exit::Ok,
            Decision::Ask => Exit::Unread,
            Decision::Deny => Exit::Failed,
        })
    }

    /// The guard of the working directory of the call, or of the current one.
    fn guard(&self, printer: &mut Printer) -> Result<Guard, Stop> {
        match self.cwd.as_deref() {
            Some(cwd) => guarding::usable(guarding::open(Some(cwd)), printer),
            None => guarding::usable(guarding::here(), printer),
        }
    }

    /// The call given on the command line.
    fn event(&self) -> Result<HookEvent<'_>, Failure> {
        let Some(tool) = self.tool.as_deref() else {
            return Ok(self.shell(self.command.as_deref().unwrap_or_default(), None));
        };
        let args = match self.args.as_deref().map(serde_json::from_str::<Value>) {
            None => CallArgs::None,
            Some(Ok(value)) => CallArgs::Json(value),
            Some(Err(error)) => {
                let failure =
                    Failure::usage(format!("--args is not JSON at character {}", error.column()));
                return Err(failure.hint(r#"write --args '{"file_path":".env"}'"#));
            }
        };
        let host = self.host.as_deref().unwrap_or_default();
        let cwd = self.cwd.as_deref().map(Into::into);
        Ok(HookEvent { args, cwd, ..HookEvent::new(Moment::Before, host, tool) })
    }

    fn shell<'a>(&'a self, command: &str, cwd: Option<&'a str>) -> HookEvent<'a> {
        let args = CallArgs::Json(json!({"command": command}));
        let cwd = cwd.or(self.cwd.as_deref()).map(Into::into);
        HookEvent { args, cwd, ..HookEvent::new(Moment::Before, SHELL.0, SHELL.1) }
    }

    /// Decides about every row; invalid rows are named and counted.
    fn batch(&self, path: &Path, guard: &Guard, printer: &mut Printer) -> Result<Exit, Stop> {
        let name = path.display();
        let lines: Box<dyn BufRead> = match path.to_str() {
            Some("-") => Box::new(BufReader::new(io::stdin())),
            _ => Box::new(open_lines(path)?),
        };
        let mut bad = 0_u64;
        let mut rows = Vec::new();
        for (index, line) in lines.split(b'\n').enumerate() {
            let line = line.map_err(|error| ReadFileError::io(path, error))?;
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            match row(&line) {
                Ok(row) => self.decided(row, guard, &mut rows, printer)?,
                Err((column, why)) => {
                    bad += 1;
                    let column = column.map_or(String::new(), |column| format!(":{column}"));
                    let place = format!("{name}:{}{column}: ", index + 1);
                    let line = StyledLine::of(style::BAD.bold(), "error")
                        .with(style::PLAIN, ": ")
                        .with(style::STRONG, printer.redact(place))
                        .with(style::PLAIN, printer.redact(why));
                    printer.notice(&line)?;
                }
            }
        }
        if self.format == RowFormat::Json {
            printer.json(&rows)?;
        }
        if bad > 0 && printer.verbosity > Verbosity::Quiet {
            let words = printable!("{} could not be read", human::things(bad, "row"));
            printer.notice(&StyledLine::of(style::BAD, words))?;
        }
        Ok(if bad > 0 { Exit::Unread } else { Exit::Ok })
    }

    fn decided(
        &self,
        mut row: Map<String, Value>,
        guard: &Guard,
        rows: &mut Vec<Json<Map<String, Value>, Printable>>,
        printer: &mut Printer,
    ) -> Result<(), Stop> {
        let text = |key: &str| row.get(key).and_then(Value::as_str);
        let verdict = match text("command") {
            Some(command) => decide(guard, &self.shell(command, text("cwd"))),
            None => {
                let host = text("host").or(self.host.as_deref()).unwrap_or_default();
                let args = row.get("args").cloned().map_or(CallArgs::None, CallArgs::Json);
                let cwd = text("cwd").or(self.cwd.as_deref()).map(Into::into);
                let tool = text("tool").unwrap_or_default();
                decide(
                    guard,
                    &HookEvent { args, cwd, ..HookEvent::new(Moment::Before, host, tool) },
                )
            }
        };
        if self.format == RowFormat::Text {
            let shown = text("command").or(text("tool")).unwrap_or_default();
            let first = shown.lines().next().unwrap_or_default();
            let line =
                StyledLine::of(tone(verdict.decision), printable!("{:5}", verdict.decision.word()))
                    .with(style::PLAIN, "  ")
                    .with(style::PLAIN, printer.redact(first));
            return Ok(printer.line(&line)?);
        }
        let Value::Object(answer) = serde_json::to_value(&verdict).map_err(io::Error::other)?
        else {
            return Ok(());
        };
        row.extend(answer);
        let row = printer.redactor.object(row.into());
        match self.format {
            RowFormat::Json => rows.push(row),
            _ => printer.json_line(&row)?,
        }
        Ok(())
    }
}

/// Resolves a directory of the command line against the current directory or the home directory.
fn absolute(cwd: String) -> io::Result<String> {
    if cwd == "~" || cwd.starts_with("~/") {
        return Ok(cwd);
    }
    Ok(std::path::absolute(cwd)?.to_string_lossy().into_owned())
}

fn decide(guard: &Guard, event: &HookEvent<'_>) -> GuardAnswer {
    let disk = event.cwd.as_deref().and_then(Disk::at);
    guard.decide(event, disk.as_ref().map(|disk| disk as &dyn FileFacts))
}

/// Parses the row of a line if it contains a call; otherwise returns the problem, and the column if
/// it is known.
fn row(line: &[u8]) -> Result<Map<String, Value>, (Option<usize>, String)> {
    let wrong = |message: &str| Err((None, message.to_owned()));
    let value: Value = serde_json::from_slice(line).map_err(|error| {
        let what = if error.is_eof() { "unexpected end" } else { "unexpected text" };
        (Some(error.column()), format!("not JSON: {what}"))
    })?;
    let Value::Object(row) = value else { return wrong("expected a JSON object") };
    for key in ["command", "tool"] {
        match row.get(key) {
            Some(Value::String(_)) => return Ok(row),
            Some(_) => return wrong(&format!("`{key}` is not text")),
            None => {}
        }
    }
    wrong("the row has neither `command` nor `tool`")
}

fn print(verdict: &GuardAnswer, command: &str, printer: &mut Printer) -> io::Result<()> {
    let decision = verdict.decision;
    let line = StyledLine::of(tone(decision).bold(), decision.word())
        .with(style::PLAIN, "  ")
        .with(style::PLAIN, printer.redact(&verdict.reason));
    printer.line(&line)?;
    for effect in verdict.analysis.iter().flat_map(|found| &found.effects) {
        let words = format!(
            "  {} {} ({}, {}, {}): {}",
            effect.kind,
            effect.target,
            effect.scope,
            effect.reversibility,
            effect.certainty,
            effect.why
        );
        printer.line(&StyledLine::of(style::PLAIN, printer.redact(words)))?;
        if let Some(source) = command.get(effect.span.0..effect.span.1)
            && printer.verbosity == Verbosity::Verbose
        {
            let shown = format!("    in: {source}");
            printer.line(&StyledLine::of(style::DIM, printer.redact(shown)))?;
        }
    }
    if decision != Decision::Allow {
        let rule = printer.redact(format!("  rule: {}", verdict.rule));
        printer.line(&StyledLine::of(style::DIM, rule))?;
    }
    if let Some(suggestion) = &verdict.suggestion {
        let words = format!("  instead: {suggestion}");
        printer.line(&StyledLine::of(style::PLAIN, printer.redact(words)))?;
    }
    Ok(())
}
