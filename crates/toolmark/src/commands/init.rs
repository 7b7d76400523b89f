//! `toolmark init`: writes a starter spec.

use super::schema::own_schema;
use crate::exit::{Exit, Failure};
use crate::printer::{Printer, StyledLine, Verbosity, style};
use clap::Args;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use toolmark_app::Stop;
use toolmark_redact::printable;

/// The schema that is written beside the spec; the spec refers to it for editors.
const SCHEMA: &str = "toolmark.schema.json";

/// The starter spec. A test loads and grades it.
pub(crate) const STARTER: &str = include_str!("../../starter/toolmark.yaml");

/// The starter spec for `toolmark run`. A test runs it.
pub(crate) const RUN_STARTER: &str = include_str!("../../starter/run.yaml");

const EXAMPLES: &str = "\
Examples:
  toolmark init                    writes toolmark.yaml and toolmark.schema.json
  toolmark init --run              writes one that runs an example agent
  toolmark init evals/spec.yaml
  toolmark init -                  prints it";

/// Write a commented spec to start from, and its JSON Schema for editors
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Init {
    /// File to write, or - for stdout
    #[arg(value_name = "FILE", default_value = "toolmark.yaml")]
    file: PathBuf,
    /// Write a spec that runs an agent; the example needs no key
    #[arg(long)]
    run: bool,
}

impl Init {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let starter = if self.run { RUN_STARTER } else { STARTER };
        if self.file.as_os_str() == "-" {
            printer.raw(starter)?;
            return Ok(Exit::Ok);
        }
        create(&self.file, starter).map_err(|error| {
            let failure = Failure::write(&self.file, &error);
            match error.kind() {
                io::ErrorKind::AlreadyExists => {
                    failure.hint("choose another file, or - for stdout")
                }
                _ => failure,
            }
        })?;
        let schema = self.file.with_file_name(SCHEMA);
        match create(&schema, &own_schema()?) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(Failure::write(&schema, &error).into());
            }
            _ => {}
        }
        if printer.verbosity > Verbosity::Quiet {
            let name = self.file.display();
            let name = printer.redact(name.to_string());
            printer.notice(&StyledLine::of(style::GOOD, printable!("wrote {}", name)))?;
            let next = match self.run {
                true => printable!("next: toolmark run {}", name),
                false => printable!("next: toolmark grade {} YOUR-TRACES", name),
            };
            printer.notice(&StyledLine::of(style::DIM, next))?;
        }
        Ok(Exit::Ok)
    }
}

/// Writes a new file; existing specs are never overwritten.
fn create(path: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).open(path)?.write_all(text.as_bytes())
}
