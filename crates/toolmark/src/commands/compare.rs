//! `toolmark compare`: the changes between two runs.

use crate::args::{ReportArgs, format_of, report_of};
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use std::time::Instant;
use toolmark_app::Stop;
use toolmark_app::compare;
use toolmark_compare::{Comparison, FailOn, Grouping};

const EXAMPLES: &str = "\
Examples:
  toolmark grade spec.yaml old/ --report json=old.json
  toolmark grade spec.yaml new/ --report json=new.json
  toolmark compare old.json new.json                    what changed
  toolmark compare old.json new.json --by grader        by grader
  toolmark compare old.json new.json --fail-on never    only show it
  toolmark compare .toolmark/runs/ID --by target        the targets of one run, side by side
  toolmark compare main.json branch.json --report html=diff.html
                                                        side by side

A run may be a report of `grade` or `check` (json or jsonl), a directory of them, the
directory of a run or its id, or - for stdin.";

/// Compare two runs, or the targets of one: verdicts, scores with intervals, findings, and resource usage
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("format", format_of::<Comparison>), mut_arg("reports", report_of::<Comparison>))]
pub(crate) struct Compare {
    /// The run to compare with: a report, a directory, or the id of a run
    #[arg(value_name = "A")]
    before: PathBuf,
    /// The run that may be better or worse
    #[arg(value_name = "B")]
    after: Option<PathBuf>,
    #[command(flatten)]
    report: ReportArgs,
    /// Grouping of the numbers
    #[arg(long, value_enum, value_name = "WHAT", default_value = "case")]
    by: ComparisonGrouping,
    /// Exit with 1 on this; may be given several times [default: regression]
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',')]
    fail_on: Vec<On>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ComparisonGrouping {
    /// By case
    Case,
    /// By target
    Target,
    /// By grader
    Grader,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum On {
    /// A case that passed fails, a fault is new, or a gate that passed fails
    Regression,
    /// The 95 % interval of the score difference is below zero
    Significant,
    /// Nothing
    Never,
}

impl Compare {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let started = Instant::now();
        let stdin = Path::new("-");
        let Some(after) = &self.after else { return self.targets(started, printer) };
        if self.before == stdin && after == stdin {
            return Err(Failure::usage("only one of the runs can be standard input").into());
        }
        let (before, after) = (
            compare::read(&self.before, printer.redactor)?,
            compare::read(after, printer.redactor)?,
        );
        let by = match self.by {
            ComparisonGrouping::Case => Grouping::Case,
            ComparisonGrouping::Target => Grouping::Target,
            ComparisonGrouping::Grader => Grouping::Grader,
        };
        let comparison = Comparison::new(&before, &after, by)
            .map_err(|error| Failure::usage("the runs cannot be compared").because(&error))?
            .with_gates(&self.gates());
        if by != Grouping::Case && comparison.graded.is_none() {
            let message = format!("--by {} needs reports of `toolmark grade`", by.word());
            return Err(Failure::usage(message).into());
        }
        self.report.write(&comparison, started, printer)?;
        Ok(Exit::of(comparison.verdict(), false))
    }

    /// Compares the targets of one run.
    fn targets(&self, started: Instant, printer: &mut Printer) -> Result<Exit, Stop> {
        let asks_gates = self.fail_on.iter().any(|on| *on != On::Never);
        let is_by_target = self.by == ComparisonGrouping::Target;
        let redactor = printer.redactor;
        let comparison = compare::targets(&self.before, is_by_target, asks_gates, redactor)?;
        self.report.write(&comparison, started, printer)?;
        Ok(Exit::Ok)
    }

    fn gates(&self) -> Vec<FailOn> {
        let mut gates = Vec::new();
        if self.fail_on.is_empty() {
            gates.push(FailOn::Regression);
        }
        for on in &self.fail_on {
            match on {
                On::Never => {}
                On::Regression => gates.push(FailOn::Regression),
                On::Significant => gates.push(FailOn::Significant),
            }
        }
        gates.dedup();
        gates
    }
}
