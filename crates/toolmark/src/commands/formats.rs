//! `toolmark formats`: the formats that can be read and written, and the limits of each.

use crate::args::TextFormat;
use crate::cli::format_id;
use crate::exit::Exit;
use crate::human;
use crate::printer::{Printer, StyledLine, style};
use crate::text::{TextLayout, width};
use anstyle::Style;
use clap::Args;
use serde::Serialize;
use std::io;
use toolmark_app::Stop;
use toolmark_redact::{Printable, printable};
use toolmark_trace::{
    EXPORTERS, ExportInfo, FORMATS, Fidelity, FormatInfo, TrajectoryPart, format_by_id,
};

const EXAMPLES: &str = "\
Examples:
  toolmark formats                 all of them
  toolmark formats claude-code     one of them in detail
  toolmark formats --targets       the formats convert writes
  toolmark formats --format json | jq -r '.[].id'";

/// List the trace formats that can be read, or written
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Formats {
    /// Show this format in detail
    #[arg(value_name = "ID", value_parser = format_id(), hide_possible_values = true)]
    id: Option<&'static str>,
    /// List the formats that `convert` writes, and what is lost in each
    #[arg(long, conflicts_with = "id")]
    targets: bool,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    format: TextFormat,
}

/// A format in the JSON output.
#[derive(Serialize)]
struct FormatListing {
    id: &'static str,
    title: &'static str,
    origin: &'static str,
    versions: &'static str,
    looks_for: &'static str,
    never_records: Fidelity,
}

impl FormatListing {
    fn new(info: &FormatInfo) -> Self {
        Self {
            id: info.id,
            title: info.title,
            origin: info.origin,
            versions: info.versions,
            looks_for: info.looks_for,
            never_records: info.fidelity,
        }
    }
}

/// A target of `convert` in the JSON output.
#[derive(Serialize)]
struct ConvertTarget {
    id: &'static str,
    title: &'static str,
    extension: &'static str,
    lost: Vec<String>,
}

impl ConvertTarget {
    fn new(info: &ExportInfo) -> Self {
        Self {
            id: info.id,
            title: info.title,
            extension: info.extension,
            lost: info.lacks.iter().map(TrajectoryPart::to_string).collect(),
        }
    }
}

impl Formats {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        if self.targets {
            self.print_targets(printer)?;
            return Ok(Exit::Ok);
        }
        let one = self.id.and_then(format_by_id).map(|format| format.info());
        match (self.format, one) {
            (TextFormat::Json, Some(info)) => printer.json(&FormatListing::new(info))?,
            (TextFormat::Json, None) => {
                let all: Vec<_> = by_id().into_iter().map(FormatListing::new).collect();
                printer.json(&all)?;
            }
            (TextFormat::Text, Some(info)) => print_details(printer, info)?,
            (TextFormat::Text, None) => print_list(printer)?,
        }
        Ok(Exit::Ok)
    }

    fn print_targets(&self, printer: &mut Printer) -> io::Result<()> {
        let targets: Vec<_> = EXPORTERS.iter().map(|e| ConvertTarget::new(e.info())).collect();
        if self.format == TextFormat::Json {
            return printer.json(&targets);
        }
        let indent = targets.iter().map(|t| width(t.id)).max().unwrap_or(0) + 2;
        for target in &targets {
            let lost = if target.lost.is_empty() {
                "nothing is lost".into()
            } else {
                printer.redact(format!("lost: {}", target.lost.join(", ")))
            };
            let facts = [(style::PLAIN, target.title.into()), (style::DIM, lost)];
            print_entry(printer, target.id, indent, &facts)?;
        }
        Ok(())
    }
}

/// All formats, sorted by ID.
fn by_id() -> Vec<&'static FormatInfo> {
    let mut all: Vec<_> = FORMATS.iter().map(|f| f.info()).collect();
    all.sort_by_key(|info| info.id);
    all
}

fn never_records(info: &FormatInfo) -> Printable {
    let missing: Vec<Printable> = info.fidelity.missing().map(|fact| fact.word().into()).collect();
    if missing.is_empty() { "\u{2013}".into() } else { Printable::join(&missing, ", ") }
}

fn print_list(printer: &mut Printer) -> io::Result<()> {
    let indent = FORMATS.iter().map(|f| width(f.info().id)).max().unwrap_or(0) + 2;
    for info in by_id() {
        let facts = [
            (style::PLAIN, info.title.into()),
            (style::DIM, info.versions.into()),
            (style::DIM, info.origin.into()),
            (style::DIM, printable!("never records {}", never_records(info))),
        ];
        print_entry(printer, info.id, indent, &facts)?;
    }
    printer.line(&StyledLine::new())?;
    let count = human::things(FORMATS.len() as u64, "format");
    let words = printable!("{}, detected by content; gzip, zstd and zip are opened", count);
    printer.line(&StyledLine::of(style::DIM, words))
}

/// Prints a name with its facts beside it, each fact on lines of its own.
fn print_entry(
    printer: &mut Printer,
    mut name: &'static str,
    indent: usize,
    facts: &[(Style, Printable)],
) -> io::Result<()> {
    let room = printer.width().saturating_sub(indent);
    for (look, fact) in facts.iter().filter(|(_, fact)| !fact.is_empty()) {
        for text in fact.wrap(room) {
            let mut line = StyledLine::of(style::STRONG, std::mem::take(&mut name));
            line.pad(indent);
            printer.line(&line.with(*look, text))?;
        }
    }
    Ok(())
}

/// Prints the details of a format.
pub(crate) fn print_details(printer: &mut Printer, info: &FormatInfo) -> io::Result<()> {
    let name = StyledLine::of(style::STRONG, info.id).with(style::PLAIN, "  ");
    printer.line(&name.with(style::PLAIN, info.title))?;
    const INDENT: usize = 16;
    let room = printer.width().saturating_sub(INDENT);
    for (label, text) in [
        ("versions", info.versions.into()),
        ("comes from", info.origin.into()),
        ("detected by", info.looks_for.into()),
        ("never records", never_records(info)),
    ] {
        let text: Printable = text;
        for (at, text) in text.wrap(room).into_iter().enumerate() {
            let mut line = StyledLine::of(style::DIM, if at == 0 { label } else { "" });
            line.pad(INDENT);
            printer.line(&line.with(style::PLAIN, text))?;
        }
    }
    Ok(())
}
