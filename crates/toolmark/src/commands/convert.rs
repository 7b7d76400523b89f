//! `toolmark convert`: the same run in another tool's format.

use crate::Stop;
use crate::cli::Reading;
use crate::diagnostics::Findings;
use crate::exit::{Exit, Failure};
use crate::human;
use crate::inputs::{self, Input};
use crate::printer::{Line, Printer, Verbosity, style};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use toolmark_trace::{Diagnostic, EXPORTERS, Exporter, Losses, Options, ReadError, exporter_by_id};

const EXAMPLES: &str = "\
Examples:
  toolmark convert session.jsonl --to atif -o trajectory.json
  toolmark convert runs/ --to toolmark > runs.jsonl    many traces into one file
  toolmark convert session.jsonl --to openai | jq .messages";

/// Write traces in another tool's format and report what is lost
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Convert {
    /// Trace files, directories, patterns, - for stdin
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<PathBuf>,
    /// The format to write
    #[arg(long, value_name = "FORMAT", value_parser = target())]
    to: &'static str,
    /// Write to this file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
}

/// Accepts the id of a target; clap suggests the nearest where it is none.
fn target() -> impl TypedValueParser<Value = &'static str> {
    PossibleValuesParser::new(EXPORTERS.iter().map(|e| e.info().id))
        .map(|id| exporter_by_id(&id).map_or("", |exporter| exporter.info().id))
}

/// What came of one input.
#[derive(Default)]
struct Converted {
    runs: usize,
    losses: Losses,
    skipped: u64,
}

impl Convert {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let Some(exporter) = exporter_by_id(self.to) else {
            return Err(Failure::usage(format!("no format {} to write", self.to)).into());
        };
        let options = self.reading.options();
        let mut out: Box<dyn Write> = match &self.output {
            None => Box::new(BufWriter::new(io::stdout())),
            Some(path) => match File::create(path) {
                Ok(file) => Box::new(BufWriter::new(file)),
                Err(error) => {
                    let message = format!("failed to write {}: {error}", path.display());
                    return Err(Failure::usage(message).into());
                }
            },
        };
        let mut total = Converted::default();
        for input in inputs::expand(&self.traces) {
            let one = convert(&input, exporter, &options, &mut *out, printer)?;
            total.runs += one.runs;
            total.losses.merge(&one.losses);
            total.skipped += one.skipped;
        }
        out.flush()?;
        if total.runs == 0 && total.skipped == 0 {
            return Err(Failure::unread("there was no run to convert").into());
        }
        report(printer, exporter, &total)?;
        Ok(if total.skipped > 0 { Exit::Unread } else { Exit::Ok })
    }
}

fn convert(
    input: &Input,
    exporter: &dyn Exporter,
    options: &Options,
    out: &mut dyn Write,
    printer: &mut Printer,
) -> Result<Converted, Stop> {
    let mut done = Converted::default();
    let mut runs = match input.read(options) {
        Ok(runs) => runs,
        // Not everything in a directory is a trace.
        Err(ReadError::UnknownFormat { .. }) if !input.is_named => return Ok(done),
        Err(error) => {
            Findings::error(Diagnostic::from_error(&error)).print(printer)?;
            return Ok(Converted { skipped: 1, ..done });
        }
    };
    let mut diagnostics = Vec::new();
    while let Some(mut run) = runs.next() {
        let joined = input.join(&mut run, &runs, options);
        done.skipped += joined.skipped;
        diagnostics.extend(joined.diagnostics);
        done.losses.merge(&exporter.export(&run, out)?);
        done.runs += 1;
    }
    done.skipped += runs.skipped();
    diagnostics.extend_from_slice(runs.diagnostics());
    Findings::of(&diagnostics, done.skipped, printer.verbosity).print(printer)?;
    Ok(done)
}

/// Says what was written and what is lost.
fn report(printer: &mut Printer, exporter: &dyn Exporter, total: &Converted) -> io::Result<()> {
    if printer.verbosity == Verbosity::Quiet {
        return Ok(());
    }
    let runs = human::things(total.runs as u64, "run");
    let title = exporter.info().title;
    let line = if total.losses.is_empty() {
        Line::of(style::GOOD, &format!("{runs} written as {title}, nothing lost"))
    } else {
        Line::of(style::PLAIN, &format!("{runs} written as {title}; "))
            .with(style::WARN, &format!("lost: {}", total.losses))
    };
    printer.notice(&line)
}
