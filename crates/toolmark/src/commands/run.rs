//! `toolmark run`: runs the agents of a spec on its cases and grades them.

use crate::args::{ReportArgs, at_least_one, format_of, report_of};
use crate::commands::watch::watch;
use crate::exit::Exit;
use crate::grading::options::{GraderArgs, SpecArgs};
use crate::grading::select::CaseArgs;
use crate::printer::{Printer, StyledLine, Verbosity, style};
use crate::running::view::ProgressView;
use clap::{Args, ValueEnum};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use toolmark_app::Stop;
use toolmark_app::run::action::{RunOptions, USUAL_SPEC};
use toolmark_app::run::options::{isolation, keep, money, rule, time};
use toolmark_app::run::stored::LAST;
use toolmark_app::run::{dry_run, resume};
use toolmark_grade::run_plan::{Isolation, KeepFiles, RunBudget, RunSettings};
use toolmark_outcome::{PassRule, Printable, RunResult};
use toolmark_redact::printable;
use toolmark_run::{Overrides, agents};

const EXAMPLES: &str = "\
Examples:
  toolmark run toolmark.yaml                       every case on every target of the spec
  toolmark run toolmark.yaml --target claude-code --trials 3 --pass 2
  toolmark run toolmark.yaml --dry-run             what would be started, and with what
  toolmark run toolmark.yaml --budget 5 --report html=run.html
  toolmark run --resume                            go on with the newest run
  toolmark run toolmark.yaml --rerun fail          run what failed again
  toolmark run toolmark.yaml --sample 10 --seed 7  ten cases, the same for the same seed
  toolmark runs                                    the runs that are kept";

/// Run the agents of a spec on its cases, and grade what they did
#[derive(Debug, Args)]
#[command(after_help = after_help())]
#[command(mut_arg("format", format_of::<RunResult<Printable>>), mut_arg("reports", report_of::<RunResult<Printable>>))]
pub(crate) struct RunTrialsCommand {
    /// The spec; the dialect is detected [default: toolmark.yaml]
    #[arg(value_name = "SPEC")]
    spec: Option<PathBuf>,
    #[arg(short = 'e', long, value_name = "SPEC", hide = true, conflicts_with = "spec")]
    eval_spec: Option<PathBuf>,
    #[command(flatten)]
    report: ReportArgs,
    /// Target of the spec, or an agent; may be given several times
    #[arg(short, long = "target", alias = "targets", value_name = "NAME", value_delimiter = ',')]
    targets: Vec<String>,
    /// Model, or several separated by commas; overrides the targets
    #[arg(long = "model", value_name = "MODEL", value_delimiter = ',')]
    models: Vec<String>,
    #[command(flatten)]
    selection: CaseArgs,
    /// Number of trials per case
    #[arg(long, alias = "runs", value_name = "N", value_parser = at_least_one)]
    trials: Option<NonZeroUsize>,
    /// Number of trials that must pass: all, any, a number, or a share such as 80%
    #[arg(long, alias = "require-pass", value_name = "RULE", value_parser = rule)]
    pass: Option<PassRule>,
    /// Run every trial, even if the rule is decided
    #[arg(long)]
    all_trials: bool,
    /// Number of trials to run at once
    #[arg(short, long, alias = "workers", value_name = "N", value_parser = at_least_one)]
    jobs: Option<NonZeroUsize>,
    /// Time limit per trial, such as 90s or 10m
    #[arg(long, value_name = "TIME", value_parser = time)]
    timeout: Option<Duration>,
    /// US dollars that the run may spend
    #[arg(long, alias = "budget-usd", value_name = "USD", value_parser = money)]
    budget: Option<f64>,
    /// Isolation of a trial: none, copy or bwrap
    #[arg(long, value_name = "MODE", value_parser = isolation)]
    isolate: Option<Isolation>,
    /// Keep workspaces: never, failure or always
    #[arg(long, value_name = "WHEN", value_parser = keep)]
    keep: Option<KeepFiles>,
    /// Exit with 0 whatever the result
    #[arg(long)]
    exit_zero: bool,
    /// Run again whenever the spec or a file beside it changes
    #[arg(long, conflicts_with_all = ["resume", "rerun", "out"])]
    watch: bool,
    /// Directory of the run [default: a new one in .toolmark/runs]
    #[arg(long, alias = "output-dir", value_name = "DIR", help_heading = "Runs")]
    out: Option<PathBuf>,
    /// Resume a run: run trials that are missing or could not run [default: the newest]
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = LAST, help_heading = "Runs")]
    resume: Option<PathBuf>,
    /// Run trials of an earlier run again: fail, unknown or all
    #[arg(long, value_enum, value_name = "WHICH", help_heading = "Runs")]
    rerun: Option<Rerun>,
    /// Use completed trials of earlier runs with the same configuration, for targets that always
    /// answer alike
    #[arg(long, help_heading = "Runs")]
    reuse: bool,
    /// Print what would be started, and start nothing
    #[arg(long, help_heading = "Runs")]
    dry_run: bool,
    /// Run, but do not grade
    #[arg(long, help_heading = "Runs")]
    no_grade: bool,
    /// Directory for workspaces [default: the cache directory of the user]
    #[arg(long, value_name = "DIR", help_heading = "Runs")]
    work_dir: Option<PathBuf>,
    #[command(flatten)]
    loading: SpecArgs,
    #[command(flatten)]
    graders: GraderArgs,
    /// Include the whole trace in every result
    #[arg(long, help_heading = "Traces")]
    include_trace: bool,
}

/// The trials to run again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Rerun {
    Fail,
    Unknown,
    All,
}

impl From<Rerun> for resume::Rerun {
    fn from(rerun: Rerun) -> Self {
        match rerun {
            Rerun::Fail => Self::Fail,
            Rerun::Unknown => Self::Unknown,
            Rerun::All => Self::All,
        }
    }
}

fn after_help() -> String {
    let ids: Vec<&str> = agents().map(|host| host.id).collect();
    format!("{EXAMPLES}\n\nAgents: {}, replay; or any command.", ids.join(", "))
}

impl RunTrialsCommand {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        if self.watch {
            let spec = self.spec.clone().or_else(|| self.eval_spec.clone());
            let spec = spec.unwrap_or_else(|| USUAL_SPEC.into());
            let directory = spec.parent().filter(|parent| !parent.as_os_str().is_empty());
            let directory = directory.map_or_else(|| PathBuf::from("."), PathBuf::from);
            return watch(&[directory], printer);
        }
        let started = Instant::now();
        let options = self.options();
        let prepared = options.prepare(printer)?;
        if self.dry_run {
            for line in dry_run::lines(&prepared, printer.redactor) {
                printer.line(&line)?;
            }
            return Ok(Exit::Ok);
        }
        if printer.verbosity > Verbosity::Quiet {
            for note in prepared.notes() {
                let note = printer.redact(note.as_str());
                printer.notice(&StyledLine::of(style::WARN, "note: ").with(style::PLAIN, note))?;
            }
        }
        let look = printer.look();
        let ran =
            options.run(prepared, printer, |matrix, done| ProgressView::new(matrix, done, look))?;
        self.report.write(&ran.result, started, printer)?;
        printer.flush()?;
        if printer.verbosity > Verbosity::Quiet {
            let name = printer.redact(ran.directory.to_string_lossy());
            let line = StyledLine::of(style::DIM, printable!("kept in {}", name));
            printer.notice(&line)?;
            if ran.is_stopped {
                let line = printable!("go on with: toolmark run --resume {}", name);
                printer.notice(&StyledLine::of(style::DIM, line))?;
            }
        }
        let verdict = ran.result.summary.verdict;
        Ok(if self.exit_zero { Exit::Ok } else { Exit::of(verdict, false) })
    }

    fn options(&self) -> RunOptions {
        RunOptions {
            spec: self.spec.clone().or_else(|| self.eval_spec.clone()),
            selection: self.selection.selection(),
            loading: self.loading.options(),
            graders: self.graders.options(),
            overrides: self.overrides(),
            out: self.out.clone(),
            resume: self.resume.clone(),
            rerun: self.rerun.map(Into::into),
            reuse: self.reuse,
            grades: !self.no_grade,
            work_dir: self.work_dir.clone(),
            keeps_traces: self.include_trace
                || self.report.wants("vally")
                || self.report.wants("agentv"),
            timelines: self.report.wants("html"),
        }
    }

    /// Options of the command line that override the spec.
    fn overrides(&self) -> Overrides {
        let number = |number: NonZeroUsize| u32::try_from(number.get()).unwrap_or(u32::MAX);
        Overrides {
            settings: RunSettings {
                targets: self.targets.clone(),
                trials: self.trials.map(number),
                pass: self.pass,
                early_stop: self.all_trials.then_some(false),
                timeout: self.timeout,
                budget: RunBudget { usd: self.budget, tokens: None },
                jobs: self.jobs.map(number),
                isolate: self.isolate,
                ..RunSettings::default()
            },
            models: self.models.clone(),
            keep: self.keep,
        }
    }
}
