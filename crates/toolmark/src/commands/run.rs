//! `toolmark run`: runs the agents of a spec on its cases and grades them.

use crate::args::{ReportArgs, at_least_one, format_of, report_of};
use crate::exit::{Exit, Failure};
use crate::grading::options::{GraderArgs, SpecArgs};
use crate::grading::select::CaseArgs;
use crate::printer::{Line, Printer, Verbosity, style};
use crate::running::dry_run;
use crate::running::view::View;
use clap::{Args, ValueEnum};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use toolmark_app::Stop;
use toolmark_app::run::{assemble, empty_plan, interrupt, open_spec, resume};
use toolmark_grade::run_plan::{Budget, Isolation, Keep, RunSettings};
use toolmark_grade::{Grading, Selection};
use toolmark_match::units;
use toolmark_outcome::{PassRule, Printable, RunResult};
use toolmark_redact::printable;
use toolmark_run::store::{RUNS, Store};
use toolmark_run::{
    Batches, EnvFiles, Ledger, Matrix, Observer, Overrides, Ready, Schedule, Shared, Used, agents,
    work_root,
};

const EXAMPLES: &str = "\
Examples:
  toolmark run toolmark.yaml                       every case on every target of the spec
  toolmark run toolmark.yaml --target claude-code --trials 3 --pass 2
  toolmark run toolmark.yaml --dry-run             what would be started, and with what
  toolmark run toolmark.yaml --budget 5 --report html=run.html
  toolmark run --resume                            go on with the newest run
  toolmark run toolmark.yaml --rerun fail          run what failed again
  toolmark runs                                    the runs that are kept";

/// The word for the newest run.
const LAST: &str = "last";

/// Run the agents of a spec on its cases, and grade what they did
#[derive(Debug, Args)]
#[command(after_help = after_help())]
#[command(mut_arg("format", format_of::<RunResult<Printable>>), mut_arg("reports", report_of::<RunResult<Printable>>))]
pub(crate) struct Run {
    /// The spec; the dialect is detected
    #[arg(value_name = "SPEC", required_unless_present_any = ["resume", "rerun", "eval_spec"])]
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
    keep: Option<Keep>,
    /// Exit with 0 whatever the result
    #[arg(long)]
    exit_zero: bool,
    /// Directory of the run [default: a new one in .toolmark/runs]
    #[arg(long, alias = "output-dir", value_name = "DIR", help_heading = "Runs")]
    out: Option<PathBuf>,
    /// Resume a run: run trials that are missing or could not run [default: the newest]
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = LAST, help_heading = "Runs")]
    resume: Option<PathBuf>,
    /// Run trials of an earlier run again: fail, unknown or all
    #[arg(long, value_enum, value_name = "WHICH", help_heading = "Runs")]
    rerun: Option<Rerun>,
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

fn rule(text: &str) -> Result<PassRule, String> {
    PassRule::parse(text)
        .ok_or_else(|| "write all, any, a number, or a share such as 80%".to_owned())
}

fn time(text: &str) -> Result<Duration, String> {
    let parsed = units::Duration::parse(text).map(|time| time.millis / 1000.0);
    let parsed = parsed.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    parsed
        .filter(|time| !time.is_zero())
        .ok_or_else(|| "write a time such as 90s or 10m".to_owned())
}

fn money(text: &str) -> Result<f64, String> {
    let amount = text.trim_start_matches('$').parse::<f64>().ok();
    amount
        .filter(|usd| usd.is_finite() && *usd >= 0.0)
        .ok_or_else(|| "write an amount such as 2.50".to_owned())
}

fn isolation(text: &str) -> Result<Isolation, String> {
    Isolation::from_word(text).ok_or_else(|| "one of none, copy, bwrap".to_owned())
}

fn keep(text: &str) -> Result<Keep, String> {
    Keep::from_word(text).ok_or_else(|| "one of never, failure, always".to_owned())
}

impl Run {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let started = Instant::now();
        let earlier = self.earlier()?;
        let path = self.spec_path(earlier.as_ref())?;
        let options = self.loading.options().load_options(&path)?;
        let mut spec = open_spec(&path, &options, &self.loading.options().key(), printer)?;
        let mut plans = vec![std::mem::replace(&mut spec.plan, empty_plan())];
        self.selection.selection().select(&mut plans, |plan| plan)?;
        let plan = plans.pop().ok_or_else(|| Failure::usage("nothing is left to run"))?;
        let files = EnvFiles::read(&plan.run.env_files);
        let lookup = |name: &str| std::env::var_os(name).or_else(|| files.get(name));
        let matrix = Matrix::new(plan, &self.overrides(), &lookup).map_err(|error| {
            let failure = Failure::usage(format!("{}: {}", path.display(), error.message));
            failure.hints(error.hint)
        })?;
        // Workspaces that are kept must not be those of a later process with our id.
        let time = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ");
        let id = format!("{time}-{}", std::process::id());
        let work = match &self.work_dir {
            Some(directory) => directory.join(id),
            None => work_root(&lookup, &id),
        };
        let work = std::path::absolute(&work).unwrap_or(work);
        let _cleaned = WorkDirectory(work.clone());
        let ready = Ready::check(&matrix, &work, &lookup).map_err(|found| {
            let failure = Failure::usage(format!("{} cannot be run", path.display()));
            failure.causes(found)
        })?;
        if self.dry_run {
            dry_run::print(&matrix, &ready, &spec, &work, &lookup, printer)?;
            return Ok(Exit::Ok);
        }
        if printer.verbosity > Verbosity::Quiet {
            for note in matrix.skipped.iter().chain(&ready.notes) {
                let note = printer.redact(note.as_str());
                printer.notice(&Line::of(style::WARN, "note: ").with(style::PLAIN, note))?;
            }
        }
        let plans = vec![(path.clone(), matrix.plan)];
        let judge = self.graders.options().open_judge(&plans, printer)?;
        let [(_, plan)]: [_; 1] =
            plans.try_into().map_err(|_| Failure::usage("more than one spec"))?;
        let matrix = Matrix { plan, ..matrix };
        let selection = Selection { timelines: self.report.wants("html"), traces: false };
        let environment = self.graders.options().environment(judge.as_ref());
        let grading = Grading::new(&matrix.plan, None, environment, selection);
        let store = self.store(earlier)?;
        let failed = |error: std::io::Error| Failure::write(store.root(), &error);
        let Some(_lock) = store.lock().map_err(failed)? else {
            let message = format!("{} is in use by another toolmark run", store.root().display());
            return Err(Failure::usage(message).into());
        };
        let done = resume::done(
            &store,
            &matrix,
            &ready,
            &grading,
            &spec.key,
            self.rerun.map(Into::into),
            self.graders_matter(),
        )
        .map_err(Stop::from)?;
        let before: Vec<Used> = done.iter().map(|(_, _, record, _)| record.used.clone()).collect();
        assemble::begin(&store, &spec, &matrix, &ready).map_err(failed)?;
        let view = View::new(&matrix, done.len(), printer);
        let stop = interrupt::watch();
        let batches = Batches::new(&matrix);
        let run_id = store.id();
        let schedule = Schedule {
            matrix: &matrix,
            store: &store,
            grading: &grading,
            grade_key: &spec.key,
            grades: !self.no_grade,
            shared: Shared {
                ready: &ready,
                work: &work,
                ledger: &Ledger::new(matrix.budget, &before),
                observer: &view as &dyn Observer,
                stop: &stop,
                lookup: &lookup,
                has_budget: matrix.budget != Budget::default(),
                batches: &batches,
                run: &run_id,
            },
        };
        let ran = schedule.run(done).map_err(failed)?;
        view.finish();
        if let Some(judge) = &judge {
            self.graders.judge.finish(judge, printer)?;
        }
        let keeps_traces =
            self.include_trace || self.report.wants("vally") || self.report.wants("agentv");
        let wants = assemble::Wanted { traces: keeps_traces, timelines: self.report.wants("html") };
        let mut notes = matrix.skipped.clone();
        if spec.is_changed() {
            notes.push(format!("{} was changed while it ran", path.display()));
        }
        let result = assemble::finish(&store, &grading, ran, &wants, notes).map_err(failed)?;
        let result = result.redact(printer.redactor);
        assemble::write_summary(&store, &result, &schedule.shared.ledger.spent())
            .map_err(failed)?;
        self.report.write(&result, started, printer)?;
        printer.flush()?;
        if printer.verbosity > Verbosity::Quiet {
            let name = printer.redact(store.root().to_string_lossy());
            let line = Line::of(style::DIM, printable!("kept in {}", name));
            printer.notice(&line)?;
            if stop.pressed() > 0 {
                let line = printable!("go on with: toolmark run --resume {}", name);
                printer.notice(&Line::of(style::DIM, line))?;
            }
        }
        Ok(if self.exit_zero { Exit::Ok } else { Exit::of(result.summary.verdict, false) })
    }

    /// Whether the trials are graded.
    fn graders_matter(&self) -> bool {
        !self.no_grade
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
                budget: Budget { usd: self.budget, tokens: None },
                jobs: self.jobs.map(number),
                isolate: self.isolate,
                ..RunSettings::default()
            },
            models: self.models.clone(),
            keep: self.keep,
        }
    }

    /// The earlier run to resume.
    fn earlier(&self) -> Result<Option<Store>, Failure> {
        let named = self.resume.as_ref().filter(|path| path.as_os_str() != LAST);
        let named = named.or(self.out.as_ref().filter(|out| out.join("run.json").is_file()));
        match (named, &self.resume, self.rerun) {
            (Some(path), resume, rerun) if resume.is_some() || rerun.is_some() => {
                Store::open(path).map(Some).ok_or_else(|| {
                    Failure::usage(format!("{} is not a run", path.display()))
                        .hint("`toolmark runs` lists them")
                })
            }
            (Some(path), ..) => Err(Failure::usage(format!("{} is a run already", path.display()))
                .hint("--resume goes on with it, --rerun runs it again")),
            (None, None, None) => Ok(None),
            (None, ..) => {
                let spec = self.spec.as_ref().or(self.eval_spec.as_ref());
                let wanted = spec.and_then(|spec| std::path::absolute(spec).ok());
                let runs = self.out.clone().unwrap_or_else(|| PathBuf::from(RUNS));
                let is_wanted = |spec: &Path| wanted.as_ref().is_none_or(|one| one == spec);
                Store::newest(&runs, |info| is_wanted(&info.spec_absolute)).map(Some).ok_or_else(
                    || {
                        Failure::usage(format!(
                            "there is no run in {} to go on with",
                            runs.display()
                        ))
                    },
                )
            }
        }
    }

    fn spec_path(&self, earlier: Option<&Store>) -> Result<PathBuf, Failure> {
        if let Some(spec) = self.spec.as_ref().or(self.eval_spec.as_ref()) {
            return Ok(spec.clone());
        }
        let info = earlier.and_then(|store| store.info().ok());
        let info = info.ok_or_else(|| Failure::usage("name a spec"))?;
        if info.spec.is_file() { Ok(info.spec) } else { Ok(info.spec_absolute) }
    }

    fn store(&self, earlier: Option<Store>) -> Result<Store, Failure> {
        if let Some(store) = earlier {
            return Ok(store);
        }
        let made = match &self.out {
            Some(out) => Store::at(out),
            None => Store::create(Path::new(RUNS)),
        };
        made.map_err(|error| {
            let at = self.out.clone().unwrap_or_else(|| PathBuf::from(RUNS));
            Failure::write(&at, &error)
        })
    }
}

/// The directory for workspaces. When dropped, removes the repository clones, and the directory if
/// it is empty.
struct WorkDirectory(PathBuf);

impl Drop for WorkDirectory {
    fn drop(&mut self) {
        // Clones can be made again; workspaces that are kept stay.
        for n in 0.. {
            let clone = self.0.join(format!("clone-{n}"));
            if !clone.is_dir() || std::fs::remove_dir_all(clone).is_err() {
                break;
            }
        }
        let _ = std::fs::remove_dir(&self.0);
    }
}
