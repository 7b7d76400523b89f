//! `toolmark mine`: writes a spec from runs that passed.

use crate::args::{FileArgs, at_least_one};
use crate::exit::Exit;
use crate::printer::{Printer, StyledLine, Verbosity, style};
use clap::{Args, ValueEnum};
use std::{num::NonZeroUsize, path::PathBuf};
use toolmark_app::{Stop, mine::MineOptions, mine::mine};
use toolmark_spec::mine::{MineSettings, RunGrouping};

const EXAMPLES: &str = "\
Examples:
  toolmark mine runs/ > toolmark.yaml                  what all runs have in common
  toolmark mine good/ --fail bad/ > toolmark.yaml      what tells good runs from bad ones first
  toolmark mine runs/ --pass-if eval.yaml > mined.yaml  by the verdicts of a spec
  toolmark mine .toolmark/runs/ID > mined.yaml         a run of `toolmark run`, by its verdicts
  toolmark mine sessions/ --by all                     one expectation for all, whatever was asked

Every line of the spec says how many runs support it. What is less certain is commented out.";

/// Grouping of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Grouping {
    /// By case or prompt, if several runs have the same one
    Auto,
    /// By case or prompt, even if only one run has it
    Case,
    /// All runs together
    All,
}

/// Write a spec from runs that passed: what they have in common, with its support
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Mine {
    /// Traces of runs that passed, or runs of `toolmark run`, which record their verdicts
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<PathBuf>,
    /// Traces of runs that failed, to tell them apart
    #[arg(long, value_name = "TRACE", num_args = 1..)]
    fail: Vec<PathBuf>,
    /// Spec that says which of the traces passed and which failed
    #[arg(long, value_name = "SPEC")]
    pass_if: Option<PathBuf>,
    /// Do not run programs of the spec; graders that need one are unknown
    #[arg(long, requires = "pass_if")]
    no_programs: bool,
    /// Grouping of the runs
    #[arg(long, value_enum, value_name = "GROUPING", default_value = "auto")]
    by: Grouping,
    /// Parts the runs are divided into, each of which is held out once
    #[arg(long, value_name = "N", value_parser = at_least_one, default_value = "5")]
    folds: NonZeroUsize,
    /// Write conditions on calls of named tools instead: the `tools:` section
    #[arg(long, conflicts_with_all = ["by", "folds"])]
    policy: bool,
    #[command(flatten)]
    files: FileArgs,
}

impl Mine {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let options = MineOptions {
            mining: MineSettings {
                folds: self.folds.get(),
                by: match self.by {
                    Grouping::Auto => RunGrouping::Auto,
                    Grouping::Case => RunGrouping::Case,
                    Grouping::All => RunGrouping::All,
                },
                redactor: printer.redactor,
            },
            traces: self.traces,
            failed: self.fail,
            pass_if: self.pass_if,
            may_run: !self.no_programs,
            policy: self.policy,
        };
        let mined = mine(&options, &self.files.reader(printer), printer)?;
        printer.raw(&mined.text)?;
        if printer.verbosity > Verbosity::Quiet {
            for words in mined.summary {
                printer.notice(&StyledLine::of(style::DIM, words))?;
            }
        }
        Ok(if mined.is_unread { Exit::Unread } else { Exit::Ok })
    }
}
