//! `toolmark schema`: JSON Schemas of the spec dialects, for editors.

use crate::exit::{Exit, Failure};
use crate::printer::{JsonLayout, Printer, to_json};
use clap::Args;
use clap::builder::PossibleValuesParser;
use std::io;
use toolmark_app::Stop;
use toolmark_grade::schema::Section;
use toolmark_spec::dialects::{DIALECTS, dialect_by_id};

/// The sections of `toolmark.yaml` that are not about grading, each described by the crate that
/// reads it.
const SECTIONS: &[Section] = &[
    Section { key: "check", schema: toolmark_check::config::schema },
    Section { key: "guard", schema: toolmark_guard::policy::schema },
    Section { key: "judge", schema: toolmark_judge::config::schema },
    Section { key: "serve", schema: toolmark_serve::config::schema },
];

const EXAMPLES: &str = "\
Examples:
  toolmark schema toolmark > toolmark.schema.json
  toolmark schema vally > vally.schema.json

In the spec, the first line `# yaml-language-server: $schema=toolmark.schema.json`
makes editors complete and check it.";

/// Print the JSON Schema of a spec dialect, for editors
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SchemaCommand {
    /// The dialect
    #[arg(value_name = "DIALECT", value_parser = dialect_id())]
    dialect: String,
}

fn dialect_id() -> PossibleValuesParser {
    PossibleValuesParser::new(DIALECTS.iter().map(|dialect| dialect.info().id))
}

/// The schema of `toolmark.yaml`, as JSON.
pub(crate) fn own_schema() -> io::Result<String> {
    let schema = dialect_by_id("toolmark").map(|dialect| dialect.schema(SECTIONS));
    Ok(to_json(&schema, JsonLayout::Indented)? + "\n")
}

impl SchemaCommand {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let dialect = dialect_by_id(&self.dialect)
            .ok_or_else(|| Failure::usage(format!("unknown dialect {}", self.dialect)))?;
        printer.document(&dialect.schema(SECTIONS))?;
        Ok(Exit::Ok)
    }
}
