//! `toolmark show`: prints one run for people.

use crate::args::TextFormat;
use crate::cli::ReadingArgs;
use crate::diagnostics::print_file;
use crate::exit::{Exit, Failure};
use crate::human;
use crate::printer::{Printer, StyledLine, harmless_json, style};
use clap::Args;
use std::io;
use std::path::PathBuf;
use toolmark_app::inputs::InputFile;
use toolmark_app::show::{
    Brief, FileContent, find_run, find_trace, picked, run_table, session_table,
};
use toolmark_app::{Stop, sessions};
use toolmark_redact::printable;
use toolmark_report::terminal::timeline::{self, Look};
use toolmark_trace::{Trajectory, exporter_by_id};

const EXAMPLES: &str = "\
Examples:
  toolmark show                          the newest sessions on this machine
  toolmark show session.jsonl            a run as a timeline
  toolmark show 4f1c                     a session by ID prefix
  toolmark show session.jsonl --calls    one line per tool call
  toolmark show session.jsonl --step 7   everything about one step
  toolmark show results.json --run 3     the third run of a file with many
  cat session.jsonl | toolmark show -";

/// Show a run as a timeline
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Show {
    /// Trace file, - for stdin, or prefix of a session's id [default: list the newest sessions]
    trace: Option<PathBuf>,
    /// Run to show, of a file with several: its number, or a prefix of its id or name
    #[arg(long, value_name = "N|ID")]
    run: Option<String>,
    /// One line per tool call
    #[arg(long, conflicts_with = "step")]
    calls: bool,
    /// Everything about one step
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    step: Option<u32>,
    /// Show all text, arguments and results uncut
    #[arg(long)]
    full: bool,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    format: TextFormat,
    #[command(flatten)]
    reading: ReadingArgs,
}

/// Maximum number of listed sessions.
const LISTED: usize = 20;
/// Maximum line width; wider lines are hard to read.
const WIDEST: usize = 140;

impl Show {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        if self.format == TextFormat::Json && (self.calls || self.step.is_some()) {
            let failure = Failure::usage("--format json cannot be combined with --calls or --step");
            return Err(failure.into());
        }
        let input = match &self.trace {
            Some(trace) => find_trace(trace)?,
            None => match pick_session(printer)? {
                Some(path) => InputFile::named(&path),
                None => return Ok(Exit::Ok),
            },
        };
        let reader = self.reading.reader(printer);
        let mut runs = match reader.open(&input) {
            Ok(runs) => runs,
            Err(end) => {
                print_file(printer, &end.findings)?;
                return Ok(Exit::Unread);
            }
        };
        let printed = match find_run(&mut runs, self.run.as_deref(), printer.redactor) {
            Ok(FileContent::One(run)) => self.print(printer, &run),
            Ok(FileContent::Many(list)) => {
                self.print_list(printer, &list, runs.file()).map_err(Stop::from)
            }
            Err(failure) => Err(failure.into()),
        };
        printer.flush()?;
        let end = runs.end();
        print_file(printer, &end.findings)?;
        printed?;
        Ok(if end.skipped > 0 { Exit::Unread } else { Exit::Ok })
    }

    fn print(&self, printer: &mut Printer, run: &Trajectory) -> Result<(), Stop> {
        if self.format == TextFormat::Json {
            return print_json(printer, run).map_err(Stop::from);
        }
        let look = self.look(printer);
        if self.calls {
            let limit = (!self.full).then(|| printer.width());
            printer.table(&timeline::call_table(run, look), limit)?;
            return Ok(());
        }
        let mut emit = |line: StyledLine| printer.line(&line);
        if let Some(number) = self.step {
            if number as usize > run.steps.len() {
                return Err(no_such_step(run, number).into());
            }
            timeline::step(run, number, look, &mut emit)?;
        } else {
            timeline::header(run, look, &mut emit)?;
            emit(StyledLine::new())?;
            timeline::timeline(run, look, &mut emit)?;
        }
        Ok(())
    }

    fn print_list(&self, printer: &mut Printer, list: &[Brief], file: &str) -> io::Result<()> {
        if self.format == TextFormat::Json {
            return printer.json(&list);
        }
        let count = human::things(list.len() as u64, "run");
        let file = printer.redact(file);
        printer.line(
            &StyledLine::of(style::STRONG, &file)
                .with(style::PLAIN, ": ")
                .with(style::PLAIN, count),
        )?;
        let limit = printer.width();
        printer.table(&run_table(list), Some(limit))?;
        let hint = printable!("toolmark show {} --run N shows one of them", file);
        printer.line(&StyledLine::of(style::DIM, hint))
    }

    fn look(&self, printer: &Printer) -> Look {
        Look { width: printer.width().min(WIDEST), full: self.full, redactor: printer.redactor }
    }
}

/// Prints the run in toolmark's own JSON, complete except for secrets.
fn print_json(printer: &mut Printer, run: &Trajectory) -> io::Result<()> {
    let mut bytes = Vec::new();
    if let Some(exporter) = exporter_by_id("toolmark") {
        exporter.export(run, &mut bytes)?;
    }
    let text = String::from_utf8(bytes).map_err(io::Error::other)?;
    printer.raw(&harmless_json(printer.redactor.json_text(text).into()))
}

fn no_such_step(run: &Trajectory, number: u32) -> Failure {
    let failure = Failure::usage(format!("no step {number}"));
    match run.steps.len() {
        0 => failure.hint("this format does not record steps"),
        n => failure.hint(format!("this run has steps 1 to {n}")),
    }
}

/// Lists the newest sessions and, if interactive, asks for one.
fn pick_session(printer: &mut Printer) -> Result<Option<PathBuf>, Stop> {
    let sessions = sessions::find();
    if sessions.is_empty() {
        let failure = Failure::unread("found no sessions");
        let hint = format!(
            "looked in {}; a trace can be given as an argument instead",
            sessions::looked_in()
        );
        return Err(failure.hint(hint).into());
    }
    let listed = &sessions[..sessions.len().min(LISTED)];
    {
        let limit = printer.width();
        printer.table(&session_table(listed, printer.redactor), Some(limit))?;
    };
    if sessions.len() > listed.len() {
        let more = printable!("\u{2026} and {} older", sessions.len() - listed.len());
        printer.line(&StyledLine::of(style::DIM, more))?;
    }
    if !printer.is_interactive() {
        return Ok(None);
    }
    printer.line(&StyledLine::new())?;
    loop {
        printer.ask(
            &StyledLine::of(style::STRONG, "show which?").with(style::DIM, " (number or id)"),
        )?;
        let mut answer = String::new();
        if io::stdin().read_line(&mut answer)? == 0 {
            return Ok(None);
        }
        let answer = answer.trim();
        if answer.is_empty() || answer == "q" {
            return Ok(None);
        }
        match picked(&sessions, listed, answer) {
            Ok(session) => return Ok(Some(session.path.clone())),
            Err(problem) => {
                printer.line(&StyledLine::of(style::WARN, printer.redact(problem.to_string())))?
            }
        }
    }
}
