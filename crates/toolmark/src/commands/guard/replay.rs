//! `toolmark guard replay`: prints the guard's decisions about recorded sessions.

use super::tone;
use crate::Stop;
use crate::args::{InputArgs, RowFormat, SessionArgs};
use crate::exit::{Exit, Failure};
use crate::guarding;
use crate::human;
use crate::printer::{Printer, StyledLine, style};
use crate::reading::{Continuation, Runs};
use clap::{Args, ValueEnum};
use std::io;
use toolmark_check::Checker;
use toolmark_guard::replay::{Replay as Replayed, Stopped};
use toolmark_redact::{Printable, printable};
use toolmark_shell::Decision;

const EXAMPLES: &str = "\
Examples:
  toolmark guard replay                        the newest sessions of this machine
  toolmark guard replay sessions/ --since 30d  decisions on last month's sessions
  toolmark guard replay run.jsonl --format json

Exit codes:
  0  every call was decided
  1  a call would have been denied or asked about, and --fail-on is set
  2  the command line or the policy is invalid
  3  something could not be read";

/// Show what would have been decided about recorded sessions
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_arg("traces", SessionArgs::by_default))]
pub(super) struct Replay {
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    format: RowFormat,
    /// Exit with 1 if a call would have got this decision or a stricter one
    #[arg(long, value_enum, value_name = "DECISION")]
    fail_on: Option<ReplayFailOn>,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    sessions: SessionArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReplayFailOn {
    Ask,
    Deny,
}

impl Replay {
    pub(super) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let selected = self.sessions.select(&self.input)?;
        let guard = guarding::usable(guarding::here(), printer)?;
        let checker = Checker::default();
        let reader = self.input.files.reader(printer).within(selected.project.clone());
        let work = |runs: &mut Runs<'_>| {
            runs.map(|run| guard.replay(&run, &checker)).reduce(|mut all, one| {
                all.merge(one);
                all
            })
        };
        let (mut replay, mut files) = (Replayed::default(), 0);
        let walked = reader.each(&selected.inputs, printer, work, |one| {
            if let Ok(one) = one {
                files += 1;
                replay.merge(one);
            }
            Ok(if selected.limit == Some(files) {
                Continuation::Enough
            } else {
                Continuation::More
            })
        })?;
        // A part of the files may have none.
        let is_part = self.input.is_part();
        if files == 0 && !is_part {
            return Err(selected.nothing_left(&reader, &walked, &self.input.names()).into());
        }
        walked.report_note(printer)?;
        if replay.calls() == 0 && !is_part {
            return Err(Failure::unread("found no tool call").into());
        }
        replay.finish();
        let replay = replay.redact(printer.redactor);
        match self.format {
            RowFormat::Text => print(&replay, files, &selected.notes, printer)?,
            RowFormat::Json => printer.json(&replay)?,
            RowFormat::Jsonl => {
                for stop in &replay.stops {
                    printer.json_line(stop)?;
                }
            }
        }
        let fails = match self.fail_on {
            None => false,
            Some(ReplayFailOn::Ask) => replay.ask + replay.deny > 0,
            Some(ReplayFailOn::Deny) => replay.deny > 0,
        };
        Ok(match (fails, walked.unread) {
            (true, _) => Exit::Failed,
            (false, true) => Exit::Unread,
            (false, false) => Exit::Ok,
        })
    }
}

fn print(
    replay: &Replayed<Printable>,
    files: u64,
    notes: &[String],
    printer: &mut Printer,
) -> io::Result<()> {
    let alarms = replay.stops.iter().filter(|stop| stop.false_alarm).count();
    let words = printable!(
        "{} in {}: {} allowed, {} asked about, {} denied",
        human::things(replay.calls(), "call"),
        human::things(files, "file"),
        replay.allow,
        replay.ask,
        replay.deny,
    );
    printer.line(&StyledLine::of(style::STRONG, words))?;
    for note in notes {
        printer.line(&StyledLine::of(style::DIM, printer.redact(note)))?;
    }
    let (candidates, others) = replay.stops.split_at(alarms);
    for (title, stops) in [
        ("possible false alarms: no finding of toolmark check", candidates),
        ("confirmed by a finding of toolmark check", others),
    ] {
        if stops.is_empty() {
            continue;
        }
        printer.line(&StyledLine::of(style::PLAIN, ""))?;
        let words = printable!("{} ({})", title, stops.len());
        printer.line(&StyledLine::of(style::STRONG, words))?;
        for stop in stops {
            print_stop(stop, printer)?;
        }
    }
    Ok(())
}

fn print_stop(stop: &Stopped<Printable>, printer: &mut Printer) -> io::Result<()> {
    let verdict = &stop.verdict;
    let decision = verdict.observed.unwrap_or(verdict.decision);
    let mut line = StyledLine::of(tone(decision), printable!("{:5}", decision.word()))
        .with(style::PLAIN, "  ")
        .with(style::PLAIN, printer.redact(&verdict.reason));
    if stop.alike > 1 {
        line = line.with(style::DIM, printable!("  ({} alike)", stop.alike));
    }
    printer.line(&line)?;
    let call = &stop.call;
    let place = call.place.as_ref();
    let place = place.map(|place| printable!("{}:{} ", place.file, place.line));
    let words = printable!(
        "       {}call {} {} [{}] {}",
        place.unwrap_or_default(),
        call.number(),
        call.tool,
        call.status,
        call.args.clone().unwrap_or_default(),
    );
    let width = printer.width();
    printer.line(&StyledLine::of(style::DIM, words).fit(width))?;
    let codes: Vec<&str> = stop.findings.iter().copied().collect();
    let rule = match codes.is_empty() {
        true => format!("       rule {}", verdict.rule),
        false => format!("       rule {} · check {}", verdict.rule, codes.join(" ")),
    };
    printer.line(&StyledLine::of(style::DIM, printer.redact(rule)))?;
    if let Some(said) = &stop.said {
        let words = printable!("       said: {}", said);
        printer.line(&StyledLine::of(style::DIM, words).fit(width))?;
    }
    if let Some(suggestion) = verdict.suggestion.as_ref().filter(|_| decision != Decision::Allow) {
        let words = printer.redact(format!("       instead: {suggestion}"));
        printer.line(&StyledLine::of(style::PLAIN, words))?;
    }
    Ok(())
}
