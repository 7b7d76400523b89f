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
    command: JudgeCommand,
}

#[derive(Debug, Subcommand)]
enum JudgeCommand {
    Calibrate(Box<calibrate::Calibrate>),
    Cache(cache::Cache),
    Fields(fields::FieldsCommand),
    Rubrics(fields::Rubrics),
    Help(HelpBelow),
}

impl Judge {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        match self.command {
            JudgeCommand::Calibrate(calibrate) => calibrate.run(printer),
            JudgeCommand::Cache(cache) => cache.run(printer),
            JudgeCommand::Fields(fields) => fields.run(printer),
            JudgeCommand::Rubrics(rubrics) => rubrics.run(printer),
            JudgeCommand::Help(help) => help.run(&["judge"], printer),
        }
    }
}
