//! `toolmark check`: the four-axis scorecard of any session, with no
//! configuration.
//!
//! Each file is read as a stream: a trajectory is checked and dropped.

use crate::args::{InputArgs, ReportArgs, SessionArgs, at_least_one, format_of, report_of};
use crate::commands::rules;
use crate::exit::{Exit, Failure};
use crate::judging::JudgeArgs;
use crate::printer::{Printer, Verbosity};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;
use toolmark_app::Stop;
use toolmark_app::check::action::{CheckOptions, CheckResult};
use toolmark_app::check::{config, gold};
use toolmark_check::gate;
use toolmark_check::promote::Alike;
use toolmark_check::{CheckRun, Toolsets};
use toolmark_outcome::{Confidence, Printable, Severity};
use toolmark_report::RowContent;

const EXAMPLES: &str = "\
Examples:
  toolmark check                         the newest sessions on this machine
  toolmark check session.jsonl           one session
  toolmark check runs/ --select A        only findings about arguments
  toolmark check --since 7d --project .  this week's sessions of this project
  toolmark check --explain S101          explain a rule
  toolmark check runs/ --gate            thresholds, for CI
  toolmark check runs/ --gate 'recovery[Bash.127] >= 0.8'
  toolmark check runs/ --gate article    the article's five thresholds
  toolmark check runs/ --baseline main.json --report sarif=check.sarif
  toolmark check runs/ --promote regressions/ --per bucket
  toolmark check runs/ --gold-template > gold.yaml
  toolmark check runs/ --gold gold.yaml  compare tool choices with labels
  toolmark check runs/ --judge           ask a judge where the rules are unsure
  toolmark check runs/ --format csv --rows calls > calls.csv
  toolmark check runs/ --format jsonl | jq 'select(.severity == \"error\")'

Rules are selected by code, by name, or by code prefix: S selection,
A arguments, I irreversibility, R recovery; `toolmark rules` lists them.";

/// Check sessions: selection, arguments, irreversibility and recovery, per tool
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("traces", SessionArgs::by_default))]
#[command(mut_arg("format", format_of::<CheckRun<Printable>>), mut_arg("reports", report_of::<CheckRun<Printable>>))]
pub(crate) struct CheckCommand {
    #[command(flatten)]
    report: ReportArgs,
    /// Content of the rows in the formats csv and parquet
    #[arg(long, value_enum, value_name = "KIND", default_value = "findings")]
    rows: RowKind,
    /// File with a `check:` section: rules, gates and toolsets [default: toolmark.yaml]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Check the scorecard against a threshold, or against those of a preset: article, default
    /// [default: those of the file, or the preset default]
    #[arg(long, value_name = "GATE", num_args = 0..=1)]
    #[arg(default_missing_value = "", help_heading = "Gates")]
    gate: Vec<String>,
    /// Fail only on regressions against this JSON report
    #[arg(long, value_name = "FILE", help_heading = "Gates")]
    baseline: Option<PathBuf>,
    /// Write findings to this directory as cases for `toolmark grade`
    #[arg(long, value_name = "DIR", help_heading = "Regression set")]
    promote: Option<PathBuf>,
    /// Write one case per code, cluster or bucket of findings
    #[arg(long, value_enum, value_name = "KIND", default_value = "cluster", requires = "promote")]
    #[arg(help_heading = "Regression set")]
    per: Per,
    /// Write at most this many cases
    #[arg(long, value_name = "N", value_parser = at_least_one, requires = "promote")]
    #[arg(help_heading = "Regression set")]
    cases: Option<NonZeroUsize>,
    /// Use only these rules
    #[arg(long, value_name = "CODE", value_delimiter = ',', help_heading = "Rules")]
    select: Vec<String>,
    /// Do not use these rules
    #[arg(long, value_name = "CODE", value_delimiter = ',', help_heading = "Rules")]
    ignore: Vec<String>,
    /// Explain a rule instead
    #[arg(long, value_name = "CODE", help_heading = "Rules")]
    explain: Option<String>,
    /// Lowest confidence to report: low, medium or high [default: medium]
    #[arg(long, value_name = "LEVEL", value_parser = confidence())]
    #[arg(hide_possible_values = true, help_heading = "Rules")]
    min_confidence: Option<Confidence>,
    /// Ask a judge about calls that the rules are unsure about
    #[arg(long, help_heading = "Judge")]
    judge: bool,
    /// Compare tool choices with labels: rows with id or prompt, and tool
    #[arg(long, value_name = "FILE")]
    gold: Option<PathBuf>,
    /// Print labels to start from instead: every prompt with the tool that was called for it
    #[arg(long, conflicts_with_all = ["gold", "judge", "promote", "baseline"])]
    gold_template: bool,
    /// Lowest severity that fails [default: warning; never with gates]
    #[arg(long, value_enum, value_name = "SEVERITY")]
    fail_on: Option<CheckFailOn>,
    /// Exit with 0 whatever the result
    #[arg(long)]
    exit_zero: bool,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    sessions: SessionArgs,
    #[command(flatten)]
    judging: JudgeArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Per {
    Code,
    Cluster,
    Bucket,
}

impl Per {
    fn alike(self) -> Alike {
        match self {
            Self::Code => Alike::Code,
            Self::Cluster => Alike::Cluster,
            Self::Bucket => Alike::Bucket,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RowKind {
    Findings,
    Calls,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CheckFailOn {
    Error,
    Warning,
    Info,
    Never,
}

impl CheckFailOn {
    fn least(self) -> Option<Severity> {
        match self {
            Self::Error => Some(Severity::Error),
            Self::Warning => Some(Severity::Warning),
            Self::Info => Some(Severity::Info),
            Self::Never => None,
        }
    }
}

fn confidence() -> impl TypedValueParser<Value = Confidence> {
    PossibleValuesParser::new(Confidence::ALL.iter().map(|one| one.word()))
        .map(|word| Confidence::from_word(&word).unwrap_or(Confidence::Medium))
}

impl CheckCommand {
    pub(crate) fn run(mut self, printer: &mut Printer) -> Result<Exit, Stop> {
        if let Some(code) = &self.explain {
            rules::explain(code, printer)?;
            return Ok(Exit::Ok);
        }
        let started = Instant::now();
        self.take_traces_for_gates();
        if self.rows == RowKind::Calls {
            self.report.set_rows(RowContent::Calls, "calls")?;
        }
        let config = config::open(self.config.as_deref(), printer)?;
        let options = self.options(printer);
        let reader = self.input.files.reader(printer);
        if self.gold_template {
            let toolsets = Toolsets::with(config.toolsets).with_policy(config.policy);
            let (rows, is_unread) = options.gold_template(&toolsets, reader, printer)?;
            printer.raw(gold::TEMPLATE_HEAD)?;
            for row in rows {
                printer.raw(&gold::template_line(row, printer.redactor)?)?;
            }
            return Ok(if is_unread { Exit::Unread } else { Exit::Ok });
        }
        if !self.judge && self.judging.is_given() {
            let failure = Failure::usage("judge options need --judge");
            return Err(failure.hint("add --judge to ask a judge").into());
        }
        let (run, is_unread) = match options.check(config, reader, printer)? {
            CheckResult::Checked(run, is_unread) => (run, is_unread),
            CheckResult::Questions(judge) => {
                self.judging.explain(&judge, printer)?;
                return Ok(Exit::Ok);
            }
        };
        self.report.write(&*run, started, printer)?;
        // An empty part of a list must not stop a pipeline.
        // Without a threshold, neither must a session that could not be judged.
        let is_undemanding = run.accepts_failed_runs && run.gates.is_empty();
        let is_fine = self.exit_zero || (run.is_empty() || is_undemanding) && !is_unread;
        Ok(if is_fine { Exit::Ok } else { Exit::of(run.verdict(), is_unread) })
    }

    fn options(&self, printer: &Printer) -> CheckOptions {
        CheckOptions {
            config: self.config.clone(),
            gates: self.gate.clone(),
            baseline: self.baseline.clone(),
            promote: self.promote.clone(),
            alike: self.per.alike(),
            max_cases: self.cases.map(NonZeroUsize::get),
            select: self.select.clone(),
            ignore: self.ignore.clone(),
            min_confidence: self.min_confidence,
            judge: self.judge.then(|| self.judging.options()),
            gold: self.gold.clone(),
            fail_on: self.fail_on.map(CheckFailOn::least),
            keeps_calls: self.rows == RowKind::Calls,
            has_cards: ["json", "html"].iter().any(|format| self.report.wants(format)),
            lists_destructive: self.report.wants("text") && printer.verbosity == Verbosity::Verbose,
            traces: self.input.named(),
            sessions: self.sessions.filter(),
        }
    }

    /// Moves the trace that clap parsed as the value of `--gate` to the traces: every gate other
    /// than a preset contains a comparison.
    fn take_traces_for_gates(&mut self) {
        for text in &mut self.gate {
            let is_gate = text.contains(['<', '>', '=']) || gate::preset(text.trim()).is_some();
            let is_path =
                text == "-" || text.contains(['/', '\\', '*']) || Path::new(text).exists();
            if !is_gate && is_path {
                self.input.traces.push(std::mem::take(text).into());
            }
        }
    }
}
