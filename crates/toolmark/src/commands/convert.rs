//! `toolmark convert`: writes a run in the format of another tool.

use crate::args::InputArgs;
use crate::exit::{Exit, Failure};
use crate::human;
use crate::printer::{Printer, StyledLine, Verbosity, style};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::mem;
use std::path::PathBuf;
use toolmark_app::Stop;
use toolmark_app::pool::Emit;
use toolmark_app::reading::{Continuation, Runs};
use toolmark_redact::printable;
use toolmark_trace::{EXPORTERS, Exporter, Losses, exporter_by_id};

const EXAMPLES: &str = "\
Examples:
  toolmark convert session.jsonl --to atif -o trajectory.json
  toolmark convert runs/ --to toolmark > runs.jsonl    many traces into one file
  toolmark convert session.jsonl --to openai | jq .messages";

/// Write traces in another tool's format and report what is lost
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_arg("traces", |arg| arg.required_unless_present("files_from")))]
pub(crate) struct Convert {
    /// Target format
    #[arg(long, value_name = "FORMAT", value_parser = target())]
    to: &'static str,
    /// Write to this file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    input: InputArgs,
}

/// Accepts the ID of a target; clap suggests the nearest one for any other word.
fn target() -> impl TypedValueParser<Value = &'static str> {
    PossibleValuesParser::new(EXPORTERS.iter().map(|e| e.info().id))
        .map(|id| exporter_by_id(&id).map_or("", |exporter| exporter.info().id))
}

/// Approximate size of each write.
const PIECE: usize = 1 << 20;

/// Result of the conversion of some runs.
#[derive(Default)]
struct Converted {
    runs: usize,
    losses: Losses,
    text: Vec<u8>,
}

impl Convert {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let Some(exporter) = exporter_by_id(self.to) else {
            return Err(Failure::usage(format!("unknown target format {}", self.to)).into());
        };
        let mut out: Box<dyn Write> = match &self.output {
            None => Box::new(BufWriter::new(io::stdout())),
            Some(path) => match File::create(path) {
                Ok(file) => Box::new(BufWriter::new(file)),
                Err(error) => return Err(Failure::write(path, &error).into()),
            },
        };
        let reader = self.input.files.reader(printer).without_progress();
        let inputs = self.input.named().inputs()?.unwrap_or_default();
        let (mut runs, mut losses) = (0, Losses::default());
        let work = |runs: &mut Runs<'_>, emit: &mut Emit<'_, _>| convert(runs, exporter, emit);
        let walked = reader.stream(&inputs, printer, work, |done| {
            if let Ok(done) = done {
                let done: Converted = done?;
                out.write_all(&done.text)?;
                runs += done.runs;
                losses.merge(&done.losses);
            }
            Ok(Continuation::More)
        })?;
        out.flush()?;
        if runs == 0 && !walked.unread && !self.input.is_part() {
            return Err(walked.nothing_read(&self.input.names()).into());
        }
        walked.report_note(printer)?;
        report(printer, exporter, runs, &losses)?;
        Ok(if walked.unread { Exit::Unread } else { Exit::Ok })
    }
}

/// Converts the runs of a file, piece by piece.
fn convert(
    runs: &mut Runs<'_>,
    exporter: &dyn Exporter,
    emit: &mut Emit<'_, io::Result<Converted>>,
) {
    let mut done = Converted::default();
    for run in runs {
        match exporter.export(&run, &mut done.text) {
            Ok(losses) => done.losses.merge(&losses),
            Err(error) => {
                let _ = emit(Err(error));
                return;
            }
        }
        done.runs += 1;
        if done.text.len() >= PIECE && emit(Ok(mem::take(&mut done))).is_break() {
            return;
        }
    }
    let _ = emit(Ok(done));
}

/// Prints what was written and what is lost.
fn report(
    printer: &mut Printer,
    exporter: &dyn Exporter,
    runs: usize,
    losses: &Losses,
) -> io::Result<()> {
    // Without a run, "nothing lost" would be misleading.
    if printer.verbosity == Verbosity::Quiet || runs == 0 {
        return Ok(());
    }
    let runs = human::things(runs as u64, "run");
    let title = exporter.info().title;
    let line = if losses.is_empty() {
        StyledLine::of(style::GOOD, printable!("{} written as {}, nothing lost", runs, title))
    } else {
        StyledLine::of(style::PLAIN, printable!("{} written as {}; ", runs, title))
            .with(style::WARN, printer.redact(format!("lost: {losses}")))
    };
    printer.notice(&line)
}
