//! `toolmark guard log`: verifies and exports the log of decisions.

use crate::Stop;
use crate::exit::Exit;
use crate::printer::{Printer, StyledLine, style};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use toolmark_app::guard::log::{export, log_of, verified};

const EXAMPLES: &str = "\
Examples:
  toolmark guard log verify                    whether the log is as the guard wrote it
  toolmark guard log export --format ocsf      the decisions for a SIEM

Exit codes:
  0  the log is as it was written, or it was exported
  1  a record was changed, added or removed
  2  the command line is invalid
  3  the log could not be read";

/// Verify and export the log of decisions
///
/// Each record has the hash of the one before it; the hash of the last one is signed and
/// stored beside the policy. Rotated files belong to the log.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Log {
    #[command(subcommand)]
    action: LogAction,
}

#[derive(Debug, Subcommand)]
enum LogAction {
    /// Whether no record was changed, added or removed
    Verify {
        /// The log; without it, the one of this machine
        #[arg(value_name = "FILE")]
        log: Option<PathBuf>,
    },
    /// Write all records to standard output, the oldest first
    Export {
        /// The log; without it, the one of this machine
        #[arg(value_name = "FILE")]
        log: Option<PathBuf>,
        /// Format of the records
        #[arg(long, value_enum, default_value = "jsonl", value_name = "FORMAT")]
        format: Format,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// As they are in the log
    Jsonl,
    /// Events of the Open Cybersecurity Schema Framework 1.3, class API Activity
    Ocsf,
}

impl Log {
    pub(super) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        match self.action {
            LogAction::Verify { log } => {
                let (lines, is_whole) = verified(&log_of(log)?)?;
                for line in lines {
                    printer.line(&StyledLine::of(style::PLAIN, printer.redact(line)))?;
                }
                Ok(if is_whole { Exit::Ok } else { Exit::Failed })
            }
            LogAction::Export { log, format } => {
                export(&log_of(log)?, format == Format::Ocsf, &mut std::io::stdout().lock())?;
                Ok(Exit::Ok)
            }
        }
    }
}
