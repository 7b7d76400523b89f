//! `toolmark judge`: what there is to know about judges.

mod cache;
mod calibrate;
mod fields;
mod page;
mod rubric;
mod samples;

use crate::Stop;
use crate::exit::Exit;
use crate::printer::Printer;
use clap::{Args, Subcommand};

const EXAMPLES: &str = "\
Examples:
  toolmark judge calibrate labels.jsonl --rubric tool-selection
  toolmark judge calibrate labels.csv --rubric rubric.yaml --out calibration.json";

/// Find out how far a judge can be trusted
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Judge {
    #[command(subcommand)]
    command: Asked,
}

#[derive(Debug, Subcommand)]
enum Asked {
    Calibrate(Box<calibrate::Calibrate>),
    Cache(cache::Cache),
    Fields(fields::Fields),
    Rubrics(fields::Rubrics),
}

impl Judge {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        match self.command {
            Asked::Calibrate(calibrate) => calibrate.run(printer),
            Asked::Cache(cache) => cache.run(printer),
            Asked::Fields(fields) => fields.run(printer),
            Asked::Rubrics(rubrics) => rubrics.run(printer),
        }
    }
}
