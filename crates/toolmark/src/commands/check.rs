//! `toolmark check`: the four-axis scorecard of any session, with no
//! configuration.
//!
//! Files are read in parallel, each as a stream: a trajectory is checked and
//! dropped. What was found comes out in one order whatever the number of
//! threads.

use crate::Stop;
use crate::checking::{self, Sessions};
use crate::cli::Reading;
use crate::commands::rules;
use crate::exit::{Exit, Failure};
use crate::gold;
use crate::human;
use crate::inputs::{Input, expand};
use crate::printer::{Printer, harmless_json};
use crate::progress::Progress;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use rayon::prelude::*;
use std::io::IsTerminal;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Instant;
use toolmark_check::toolset::Toolsets;
use toolmark_check::{Checker, Confidence, Severity};
use toolmark_report::Options as ReportOptions;
use toolmark_report::check::{CHECK_FORMATS, CheckRun, check_format_by_id};

const EXAMPLES: &str = "\
Examples:
  toolmark check                         the newest sessions on this machine
  toolmark check session.jsonl           one session
  toolmark check runs/ --select A        only what is wrong with arguments
  toolmark check --since 7d --project .  this week's sessions of this project
  toolmark check --explain S101          what a rule finds, why, what to do
  toolmark check runs/ --format jsonl | jq 'select(.severity == \"error\")'

Rules are chosen by code, by name, or by the start of a code: S selection,
A arguments, I irreversibility, R recovery; toolmark rules lists them.";

/// Check sessions: selection, arguments, irreversibility and recovery, per tool
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Check {
    /// Files, directories, patterns, - for stdin [default: the newest sessions of this machine]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// How to print what was found
    #[arg(long, value_name = "FORMAT", value_parser = format_word(), default_value = "text")]
    format: &'static str,
    /// Ask only these rules
    #[arg(long, value_name = "CODE", value_delimiter = ',', help_heading = "Rules")]
    select: Vec<String>,
    /// Do not ask these rules
    #[arg(long, value_name = "CODE", value_delimiter = ',', help_heading = "Rules")]
    ignore: Vec<String>,
    /// Explain a rule instead
    #[arg(long, value_name = "CODE", help_heading = "Rules")]
    explain: Option<String>,
    /// Leave out findings that are less sure: low, medium or high
    #[arg(long, value_name = "LEVEL", value_parser = confidence(), default_value = "medium")]
    #[arg(hide_possible_values = true, help_heading = "Rules")]
    min_confidence: Confidence,
    /// Hold choices of tools against labels: rows of id or prompt, and tool
    #[arg(long, value_name = "FILE")]
    gold: Option<PathBuf>,
    /// The least severity that fails
    #[arg(long, value_enum, value_name = "SEVERITY", default_value = "warning")]
    fail_on: FailOn,
    /// Exit with 0 whatever is found
    #[arg(long)]
    exit_zero: bool,
    /// How many files to read at once [default: one per core]
    #[arg(long, short, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Only sessions written to in this time, such as 12h, 7d or 2w
    #[arg(long, value_name = "TIME", value_parser = checking::since, help_heading = "Sessions")]
    since: Option<std::time::Duration>,
    /// Only sessions whose working directory is this one or below it
    #[arg(long, value_name = "DIR", help_heading = "Sessions")]
    project: Option<PathBuf>,
    /// Only so many sessions, the newest first [default without paths: 50]
    #[arg(long, value_name = "N", help_heading = "Sessions")]
    limit: Option<NonZeroUsize>,
    #[command(flatten)]
    reading: Reading,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FailOn {
    Error,
    Warning,
    Info,
    Never,
}

impl FailOn {
    fn least(self) -> Option<Severity> {
        match self {
            Self::Error => Some(Severity::Error),
            Self::Warning => Some(Severity::Warning),
            Self::Info => Some(Severity::Info),
            Self::Never => None,
        }
    }
}

fn format_word() -> impl TypedValueParser<Value = &'static str> {
    PossibleValuesParser::new(CHECK_FORMATS.iter().map(|format| format.id))
        .map(|id| check_format_by_id(&id).map_or("", |format| format.id))
}

fn confidence() -> impl TypedValueParser<Value = Confidence> {
    PossibleValuesParser::new(Confidence::ALL.iter().map(|one| one.word()))
        .map(|word| Confidence::from_word(&word).unwrap_or(Confidence::Medium))
}

impl Check {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        if let Some(code) = &self.explain {
            rules::explain(code, printer)?;
            return Ok(Exit::Ok);
        }
        let started = Instant::now();
        let rules = checking::chosen(&self.select, &self.ignore)?;
        let checker = Checker::new(rules, self.min_confidence, Toolsets::default());
        let gold = self.gold.as_deref().map(gold::read).transpose()?;
        let checker = checker.with_gold(gold.clone());
        let project = checking::project(self.project.as_deref())?;
        let sessions = Sessions { since: self.since, limit: self.limit, project };
        let (inputs, mut notes) = self.inputs(&sessions)?;
        let (mut run, unread) = self.check(&checker, &inputs, &sessions, printer)?;
        run.notes.append(&mut notes);
        if run.files == 0 {
            let failure = if unread {
                Failure::unread("nothing could be read")
            } else {
                Failure::unread("found no trace").hint("toolmark formats lists what can be read")
            };
            return Err(failure.into());
        }
        if let Some(gold) = gold {
            let scored = gold.score(&run.checked.pairs);
            let selection = scored.map_err(|why| Failure::unread(format!("--gold: {why}")))?;
            selection.measure(&mut run.checked.scorecard);
            run.checked.selection = Some(selection);
        }
        run.checked.sort();
        checking::redact(&mut run.checked.findings, printer.veil);
        self.report(&run, started, printer)?;
        Ok(self.exit(&run, unread))
    }

    /// What to read: what was named, or the sessions of this machine.
    fn inputs(&self, sessions: &Sessions) -> Result<(Vec<Input>, Vec<String>), Failure> {
        match self.paths.is_empty() {
            false => Ok((sessions.recent(expand(&self.paths)), Vec::new())),
            true => sessions.found(),
        }
    }

    fn check(
        &self,
        checker: &Checker,
        inputs: &[Input],
        sessions: &Sessions,
        printer: &mut Printer,
    ) -> Result<(CheckRun, bool), Stop> {
        let options = self.reading.options();
        let verbosity = printer.verbosity;
        let progress = Progress::new(inputs.len(), verbosity);
        let work = || -> Vec<checking::File> {
            let one = |input: &Input| {
                let file = checking::check(input, checker, sessions, &options, verbosity);
                progress.bar.inc(1);
                file
            };
            inputs.par_iter().map(one).collect()
        };
        let files = match self.jobs {
            None => work(),
            Some(n) => rayon::ThreadPoolBuilder::new()
                .num_threads(n.get())
                .build()
                .map_err(|error| Failure::usage(format!("failed to start {n} threads: {error}")))?
                .install(work),
        };
        progress.finish();
        let mut run = CheckRun::default();
        let (mut unread, mut foreign) = (false, 0);
        let most = sessions.most(self.paths.is_empty());
        for file in files {
            file.diagnostics.print(printer)?;
            unread |= file.skipped > 0;
            foreign += u64::from(file.is_foreign);
            if file.is_checked && most.is_none_or(|most| run.files < most) {
                run.files += 1;
                run.checked.merge(file.checked);
            }
        }
        if foreign > 0 {
            run.notes.push(format!("{} in no known trace format", human::things(foreign, "file")));
        }
        Ok((run, unread))
    }

    fn report(&self, run: &CheckRun, started: Instant, printer: &mut Printer) -> Result<(), Stop> {
        let format = check_format_by_id(self.format)
            .ok_or_else(|| Failure::usage(format!("there is no format {}", self.format)))?;
        let options = ReportOptions {
            colour: !format.is_json,
            width: printer.width(),
            verbosity: printer.verbosity,
            // Whoever compares outputs does not want to compare clocks.
            elapsed: std::io::stdout().is_terminal().then(|| started.elapsed()),
            generated_at: None,
        };
        let text = format
            .to_text(run, &options)
            .map_err(|error| Failure::usage(format!("failed to write the report: {error}")))?;
        printer.raw(&if format.is_json { harmless_json(text) } else { text })?;
        Ok(())
    }

    fn exit(&self, run: &CheckRun, unread: bool) -> Exit {
        let fails = |least| run.checked.findings.iter().any(|finding| finding.severity >= least);
        match self.fail_on.least() {
            _ if self.exit_zero => Exit::Ok,
            Some(least) if fails(least) => Exit::Failed,
            _ if unread => Exit::Unread,
            _ => Exit::Ok,
        }
    }
}
