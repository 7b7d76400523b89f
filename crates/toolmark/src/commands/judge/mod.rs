//! `toolmark judge`: calibration, cached answers, rubrics.

mod cache;
mod calibrate;
mod fields;

use crate::commands::help::HelpBelow;
use crate::exit::Exit;
use crate::printer::Printer;
use clap::{Args, Subcommand};
use toolmark_app::Stop;

const EXAMPLES: &str = "\
Examples:
  toolmark judge calibrate labels.jsonl --rubric tool-selection
  toolmark judge calibrate labels.csv --rubric rubric.yaml --output calibration.json";

/// Calibrate judges and manage their answers
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Judge {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Calibrate(Box<calibrate::Calibrate>),
    Cache(cache::Cache),
    Fields(fields::Fields),
    Rubrics(fields::Rubrics),
    Help(HelpBelow),
}

impl Judge {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        match self.command {
            Command::Calibrate(calibrate) => calibrate.run(printer),
            Command::Cache(cache) => cache.run(printer),
            Command::Fields(fields) => fields.run(printer),
            Command::Rubrics(rubrics) => rubrics.run(printer),
            Command::Help(help) => help.run(&["judge"], printer),
        }
    }
}
