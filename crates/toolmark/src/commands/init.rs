//! `toolmark init`: a spec to start from.

use crate::Stop;
use crate::exit::{Exit, Failure};
use crate::printer::{Line, Printer, Verbosity, style};
use clap::Args;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::PathBuf;

/// The spec it writes. A test loads and grades it.
pub(crate) const STARTER: &str = include_str!("../../starter/toolmark.yaml");

const EXAMPLES: &str = "\
Examples:
  toolmark init                    writes toolmark.yaml
  toolmark init evals/spec.yaml
  toolmark init -                  prints it";

/// Write a commented spec to start from
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Init {
    /// File to write, or - for stdout
    #[arg(value_name = "FILE", default_value = "toolmark.yaml")]
    file: PathBuf,
}

impl Init {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        if self.file.as_os_str() == "-" {
            printer.raw(STARTER)?;
            return Ok(Exit::Ok);
        }
        // Nobody's spec is overwritten.
        let mut file =
            OpenOptions::new().write(true).create_new(true).open(&self.file).map_err(|error| {
                let failure = Failure::write(&self.file, &error);
                match error.kind() {
                    io::ErrorKind::AlreadyExists => {
                        failure.hint("choose another file, or - for stdout")
                    }
                    _ => failure,
                }
            })?;
        file.write_all(STARTER.as_bytes())?;
        if printer.verbosity > Verbosity::Quiet {
            let name = self.file.display();
            printer.notice(&Line::of(style::GOOD, &format!("wrote {name}")))?;
            let next = format!("next: toolmark grade {name} YOUR-TRACES");
            printer.notice(&Line::of(style::DIM, &next))?;
        }
        Ok(Exit::Ok)
    }
}
