//! `toolmark guard replay`: what the guard would have said about recorded
//! sessions.

use super::tone;
use crate::Stop;
use crate::checking::{self, Sessions};
use crate::cli::Reading;
use crate::diagnostics::Findings;
use crate::exit::{Exit, Failure};
use crate::guarding;
use crate::human;
use crate::inputs::{Input, expand};
use crate::printer::{Layout, Line, Printer, Verbosity, style, to_json};
use crate::progress::Progress;
use clap::{Args, ValueEnum};
use rayon::prelude::*;
use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use toolmark_check::Checker;
use toolmark_guard::Guard;
use toolmark_guard::replay::{Replay as Replayed, Stopped};
use toolmark_shell::Decision;
use toolmark_trace::{Diagnostic, Options, ReadError};

const EXAMPLES: &str = "\
Examples:
  toolmark guard replay                        the newest sessions of this machine
  toolmark guard replay sessions/ --since 30d  what the policy would have done last month
  toolmark guard replay run.jsonl --format json

Exit codes:
  0  every call was decided about
  1  a call would have been denied or asked about, and --fail-on says so
  2  the command line or the policy makes no sense
  3  something could not be read";

/// Say what would have been decided about recorded sessions
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Replay {
    /// Trace files, directories, patterns, or - for the standard input [default: the sessions of
    /// this machine]
    #[arg(value_name = "TRACES")]
    paths: Vec<PathBuf>,
    /// How to print the answer
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    format: Output,
    /// Exit with 1 where a call would have got this decision or a stricter one
    #[arg(long, value_enum, value_name = "DECISION")]
    fail_on: Option<FailOn>,
    /// Only sessions written to in this time, such as 12h, 7d or 2w
    #[arg(long, value_name = "TIME", value_parser = checking::since)]
    since: Option<std::time::Duration>,
    /// Only so many sessions, the newest first [default without paths: 50]
    #[arg(long, value_name = "N")]
    limit: Option<NonZeroUsize>,
    #[command(flatten)]
    reading: Reading,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    Text,
    Json,
    Jsonl,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FailOn {
    Ask,
    Deny,
}

/// What one file gave.
#[derive(Default)]
struct File {
    replay: Replayed,
    is_foreign: bool,
    skipped: u64,
    diagnostics: Findings,
}

impl Replay {
    pub(super) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let sessions = Sessions { since: self.since, limit: self.limit, project: None };
        let (inputs, notes) = match self.paths.is_empty() {
            false => (sessions.recent(expand(&self.paths)), Vec::new()),
            true => sessions.found()?,
        };
        let guard = guarding::here().usable(printer)?;
        let checker = Checker::default();
        let options = self.reading.options();
        let verbosity = printer.verbosity;
        let progress = Progress::new(inputs.len(), verbosity);
        let one = |input: &Input| {
            let file = replayed(input, &guard, &checker, &options, verbosity);
            progress.bar.inc(1);
            file
        };
        let files: Vec<File> = inputs.par_iter().map(one).collect();
        progress.finish();
        let mut replay = Replayed::default();
        let (mut read, mut unread) = (0_u64, false);
        for file in files {
            file.diagnostics.print(printer)?;
            unread |= file.skipped > 0;
            read += u64::from(!file.is_foreign);
            replay.merge(file.replay);
        }
        if read == 0 {
            let failure = Failure::unread("found no trace");
            return Err(failure.hint("toolmark formats lists what can be read").into());
        }
        if replay.calls() == 0 {
            return Err(Failure::unread("there is no tool call to decide about").into());
        }
        replay.finish();
        hide(&mut replay, printer);
        match self.format {
            Output::Text => print(&replay, read, &notes, printer)?,
            Output::Json => printer.json(&replay)?,
            Output::Jsonl => {
                for stop in &replay.stops {
                    printer.raw(&(to_json(stop, Layout::Compact)? + "\n"))?;
                }
            }
        }
        let fails = match self.fail_on {
            None => false,
            Some(FailOn::Ask) => replay.ask + replay.deny > 0,
            Some(FailOn::Deny) => replay.deny > 0,
        };
        Ok(match (fails, unread) {
            (true, _) => Exit::Failed,
            (false, true) => Exit::Unread,
            (false, false) => Exit::Ok,
        })
    }
}

fn replayed(
    input: &Input,
    guard: &Guard,
    checker: &Checker,
    options: &Options,
    verbosity: Verbosity,
) -> File {
    let mut file = File::default();
    let mut runs = match input.read(options) {
        Ok(runs) => runs,
        // Not everything in a directory is a trace.
        Err(ReadError::UnknownFormat { .. }) if !input.is_named => {
            file.is_foreign = true;
            return file;
        }
        Err(error) => {
            file.diagnostics = Findings::error(Diagnostic::from_error(&error));
            (file.skipped, file.is_foreign) = (1, true);
            return file;
        }
    };
    let mut diagnostics = Vec::new();
    while let Some(mut run) = runs.next() {
        let joined = input.join(&mut run, &runs, options);
        file.skipped += joined.skipped;
        diagnostics.extend(joined.diagnostics);
        file.replay.merge(guard.replay(&run, checker));
    }
    file.skipped += runs.skipped();
    diagnostics.extend_from_slice(runs.diagnostics());
    file.diagnostics = Findings::of(&diagnostics, file.skipped, verbosity);
    file
}

/// Masks every text that comes from a trace.
fn hide(replay: &mut Replayed, printer: &Printer) {
    let veil = printer.veil;
    for stop in &mut replay.stops {
        let effects = stop.verdict.analysis.iter_mut().flat_map(|found| &mut found.effects);
        let texts = effects
            .map(|effect| &mut effect.target)
            .chain([&mut stop.verdict.reason])
            .chain(&mut stop.verdict.suggestion)
            .chain(&mut stop.call.args)
            .chain(&mut stop.said);
        for text in texts {
            *text = veil.shown(text).into_owned();
        }
    }
}

fn print(replay: &Replayed, files: u64, notes: &[String], printer: &mut Printer) -> io::Result<()> {
    let alarms = replay.stops.iter().filter(|stop| stop.false_alarm).count();
    let words = format!(
        "{} in {}: {} allowed, {} asked about, {} denied",
        human::things(replay.calls(), "call"),
        human::things(files, "file"),
        replay.allow,
        replay.ask,
        replay.deny,
    );
    printer.line(&Line::of(style::STRONG, &words))?;
    for note in notes {
        printer.line(&Line::of(style::DIM, note))?;
    }
    let (candidates, others) = replay.stops.split_at(alarms);
    for (title, stops) in [
        ("candidates for false alarms: toolmark check has nothing against these", candidates),
        ("stops that toolmark check agrees with", others),
    ] {
        if stops.is_empty() {
            continue;
        }
        printer.line(&Line::of(style::PLAIN, ""))?;
        let words = format!("{title} ({})", stops.len());
        printer.line(&Line::of(style::STRONG, &words))?;
        for stop in stops {
            print_stop(stop, printer)?;
        }
    }
    Ok(())
}

fn print_stop(stop: &Stopped, printer: &mut Printer) -> io::Result<()> {
    let verdict = &stop.verdict;
    let decision = verdict.observed.unwrap_or(verdict.decision);
    let mut line = Line::of(tone(decision), &format!("{:5}", decision.as_str()))
        .with(style::PLAIN, "  ")
        .with(style::PLAIN, &verdict.reason);
    if stop.alike > 1 {
        line = line.with(style::DIM, &format!("  ({} alike)", stop.alike));
    }
    printer.line(&line)?;
    let call = &stop.call;
    let place = call.place.as_ref();
    let place = place.map_or(String::new(), |place| format!("{}:{} ", place.file, place.line));
    let words = format!(
        "       {place}call {} {} [{}] {}",
        call.index,
        call.tool,
        call.status,
        call.args.as_deref().unwrap_or(""),
    );
    let width = printer.width();
    printer.line(&Line::of(style::DIM, &words).fit(width))?;
    let codes: Vec<&str> = stop.findings.iter().copied().collect();
    let rule = match codes.is_empty() {
        true => format!("       rule {}", verdict.rule),
        false => format!("       rule {} · check {}", verdict.rule, codes.join(" ")),
    };
    printer.line(&Line::of(style::DIM, &rule))?;
    if let Some(said) = &stop.said {
        printer.line(&Line::of(style::DIM, &format!("       said: {said}")).fit(width))?;
    }
    if let Some(suggestion) = verdict.suggestion.as_ref().filter(|_| decision != Decision::Allow) {
        printer.line(&Line::of(style::PLAIN, &format!("       instead: {suggestion}")))?;
    }
    Ok(())
}
