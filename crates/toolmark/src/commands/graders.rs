//! `toolmark graders`: the graders that can be applied to a trajectory.

use crate::args::TextFormat;
use crate::exit::{Exit, Failure};
use crate::printer::{Printer, StyledLine, style};
use crate::text::width;
use clap::Args;
use serde::Serialize;
use std::io;
use toolmark_app::Stop;
use toolmark_config::did_you_mean;
use toolmark_grade::{GraderInfo, TaxonomyWords};
use toolmark_outcome::Profile;
use toolmark_redact::{Printable, printable};
use toolmark_spec::{GRADERS, grader_by_id};

const EXAMPLES: &str = "\
Examples:
  toolmark graders                  all of them, by the system they come from
  toolmark graders tool-calls       one of them in detail
  toolmark graders --format json | jq -r '.[].type'";

/// List the graders, or explain one
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct GradersCommand {
    /// Show this grader in detail
    #[arg(value_name = "TYPE")]
    id: Option<String>,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    format: TextFormat,
}

/// A grader in the JSON output.
#[derive(Serialize)]
struct GraderListing {
    r#type: &'static str,
    aliases: &'static [&'static str],
    origin: &'static str,
    summary: &'static str,
    profiles: &'static [Profile],
    taxonomy: TaxonomyWords,
    example: &'static str,
    docs: &'static str,
    schema: serde_json::Value,
}

impl GraderListing {
    fn new(info: &GraderInfo) -> Self {
        Self {
            r#type: info.id,
            aliases: info.aliases,
            origin: info.origin,
            summary: info.summary,
            profiles: info.profiles,
            taxonomy: info.taxonomy.words(),
            example: info.example,
            docs: info.docs,
            schema: schema(info),
        }
    }
}

/// The JSON Schema of a grader's configuration, including its definitions.
fn schema(info: &GraderInfo) -> serde_json::Value {
    let mut generator = schemars::SchemaGenerator::default();
    let mut schema = (info.schema)(&mut generator).to_value();
    let definitions = generator.take_definitions(true);
    if let Some(object) = schema.as_object_mut().filter(|_| !definitions.is_empty()) {
        object.insert("$defs".into(), definitions.into());
    }
    schema
}

/// Width of the taxonomy column.
const TAXONOMY_WIDTH: usize = 16;

/// The systems that graders come from, in listing order.
const ORIGINS: &[(&str, &str)] = &[
    ("toolmark", "toolmark's own"),
    ("vally", "Microsoft Vally"),
    ("agentv", "AgentV"),
    ("aigo", "LatticeFlow AI GO!"),
    ("futureagi", "Future AGI"),
];

impl GradersCommand {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let graders: Vec<&GraderInfo> = match &self.id {
            None => GRADERS.to_vec(),
            Some(id) => vec![grader_by_id(id).ok_or_else(|| unknown(id))?],
        };
        match (self.format, self.id) {
            (TextFormat::Json, _) => {
                let all: Vec<GraderListing> =
                    graders.iter().map(|info| GraderListing::new(info)).collect();
                printer.json(&all)?;
            }
            (TextFormat::Text, None) => list(printer)?,
            (TextFormat::Text, Some(_)) => {
                for info in graders {
                    explain(info, printer)?;
                }
            }
        }
        Ok(Exit::Ok)
    }
}

fn unknown(id: &str) -> Failure {
    let failure = Failure::usage(format!("unknown grader {id}"));
    match did_you_mean(id, GRADERS.iter().map(|info| info.id)) {
        Some(near) => failure.hint(format!("did you mean {near}?")),
        None => failure.hint("`toolmark graders` lists them"),
    }
}

fn list(printer: &mut Printer) -> io::Result<()> {
    let column = GRADERS.iter().map(|info| width(info.id)).max().unwrap_or(0) + 2;
    for (n, (origin, title)) in ORIGINS.iter().enumerate() {
        let of_origin: Vec<_> = GRADERS.iter().filter(|info| info.origin == *origin).collect();
        if of_origin.is_empty() {
            continue;
        }
        if n > 0 {
            printer.line(&StyledLine::new())?;
        }
        printer.line(&StyledLine::of(style::STRONG, *title))?;
        for info in of_origin {
            let mut line = StyledLine::of(style::USER, printable!("  {}", info.id));
            line.pad(column + 2);
            line.push(style::PLAIN, info.summary);
            printer.line(&line.fit(printer.width()))?;
        }
    }
    Ok(())
}

/// Prints the page of a grader.
pub(crate) fn explain(info: &GraderInfo, printer: &mut Printer) -> io::Result<()> {
    let mut head = StyledLine::of(style::STRONG, info.id);
    head.push(style::DIM, printable!("  {}", info.origin));
    printer.line(&head)?;
    if !info.aliases.is_empty() {
        let aliases: Vec<Printable> = info.aliases.iter().map(|alias| (*alias).into()).collect();
        let also = printable!("also {}", Printable::join(&aliases, ", "));
        printer.line(&StyledLine::of(style::DIM, also))?;
    }
    printer.line(&StyledLine::new())?;
    printer.markdown(info.docs)?;
    printer.line(&StyledLine::new())?;
    for (name, word) in info.taxonomy.words().rows() {
        let mut line = StyledLine::of(style::DIM, name);
        line.pad(TAXONOMY_WIDTH);
        printer.line(&line.with(style::PLAIN, word))?;
    }
    printer.line(&StyledLine::new())?;
    for line in info.example.trim().lines() {
        printer.line(&StyledLine::of(style::USER, printable!("  {}", line)))?;
    }
    Ok(())
}
