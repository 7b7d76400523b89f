//! Runs of agents on the cases of a spec.

use super::resume::Rerun;
use super::stored::LAST;
use super::{OpenSpec, assemble, empty_plan, interrupt, open_spec, resume};
use crate::grade::options::{GraderOptions, SpecOptions};
use crate::grade::select::CaseSelection;
use crate::{ActionEvents, Failure, Stop};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use toolmark_grade::run_plan::RunBudget;
use toolmark_grade::{Grading, RunSelection};
use toolmark_outcome::{Printable, RunResult};
use toolmark_run::store::{RUNS, RunStore};
use toolmark_run::{
    AttemptShared, Batches, EnvFiles, Ledger, Observer, Overrides, Ready, RunMatrix, Schedule,
    Used, work_root,
};

/// The spec of a run that names none.
pub const USUAL_SPEC: &str = "toolmark.yaml";

/// Options of a run.
pub struct RunOptions {
    /// The spec; that of the earlier run without one.
    pub spec: Option<PathBuf>,
    /// The cases to use.
    pub selection: CaseSelection,
    /// Loading of the spec.
    pub loading: SpecOptions,
    /// Programs and judges of graders.
    pub graders: GraderOptions,
    /// Options that override the spec.
    pub overrides: Overrides,
    /// Directory of the run.
    pub out: Option<PathBuf>,
    /// The run to go on with, or [`LAST`].
    pub resume: Option<PathBuf>,
    /// Trials of an earlier run to run again.
    pub rerun: Option<Rerun>,
    /// Whether trials of earlier runs with the same configuration are used.
    pub reuse: bool,
    /// Whether the trials are graded.
    pub grades: bool,
    /// Directory for workspaces.
    pub work_dir: Option<PathBuf>,
    /// Whether results keep their trace.
    pub keeps_traces: bool,
    /// Whether results have timelines.
    pub timelines: bool,
}

/// Shows the progress of a run.
pub trait RunView {
    /// The receiver of the events.
    fn observer(&self) -> &dyn Observer;

    /// Ends the display.
    fn finish(&self);
}

/// A run that is ready to start.
pub struct PreparedRun {
    /// The spec.
    pub spec: OpenSpec,
    /// The trials.
    pub matrix: RunMatrix,
    /// Programs and versions of this machine.
    pub ready: Ready,
    path: PathBuf,
    files: EnvFiles,
    work: WorkDirectory,
    earlier: Option<RunStore>,
}

impl PreparedRun {
    /// The directory for workspaces.
    #[must_use]
    pub fn work(&self) -> &Path {
        &self.work.0
    }

    /// Looks up a variable in the environment and in the files of the spec.
    #[must_use]
    pub fn lookup(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name).or_else(|| self.files.get(name))
    }

    /// Notes about what is skipped or missing.
    pub fn notes(&self) -> impl Iterator<Item = &String> {
        self.matrix.skipped.iter().chain(&self.ready.notes)
    }
}

/// A run that has ended.
pub struct FinishedRun {
    /// The redacted result.
    pub result: RunResult<Printable>,
    /// Directory of the run.
    pub directory: PathBuf,
    /// Whether the user stopped it.
    pub is_stopped: bool,
}

impl RunOptions {
    /// Opens the spec and checks that everything can be run.
    ///
    /// # Errors
    ///
    /// If the spec is invalid, or something is missing.
    pub fn prepare(&self, events: &mut dyn ActionEvents) -> Result<PreparedRun, Stop> {
        let earlier = self.earlier()?;
        let path = self.spec_path(earlier.as_ref())?;
        let options = self.loading.load_options(&path)?;
        let mut spec = open_spec(&path, &options, &self.loading.key(), events)?;
        let mut plans = vec![std::mem::replace(&mut spec.plan, empty_plan())];
        self.selection.select(&mut plans, |plan| plan)?;
        let plan = plans.pop().ok_or_else(|| Failure::usage("nothing is left to run"))?;
        let files = EnvFiles::read(&plan.run.env_files);
        let lookup = |name: &str| std::env::var_os(name).or_else(|| files.get(name));
        let matrix = RunMatrix::new(plan, &self.overrides, &lookup).map_err(|error| {
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
        let work = WorkDirectory(work);
        let ready = Ready::check(&matrix, &work.0, &lookup).map_err(|found| {
            let failure = Failure::usage(format!("{} cannot be run", path.display()));
            failure.causes(found)
        })?;
        Ok(PreparedRun { spec, matrix, ready, path, files, work, earlier })
    }

    /// Runs and grades the trials.
    ///
    /// # Errors
    ///
    /// If the run is in use, or cannot be written.
    pub fn run<V: RunView>(
        &self,
        prepared: PreparedRun,
        events: &mut dyn ActionEvents,
        view: impl FnOnce(&RunMatrix, usize) -> V,
    ) -> Result<FinishedRun, Stop> {
        let PreparedRun { spec, matrix, ready, path, files, work, earlier } = prepared;
        let lookup = |name: &str| std::env::var_os(name).or_else(|| files.get(name));
        let plans = vec![(path.clone(), matrix.plan)];
        let judge = self.graders.open_judge(&plans, events)?;
        let [(_, plan)]: [_; 1] =
            plans.try_into().map_err(|_| Failure::usage("more than one spec"))?;
        let matrix = RunMatrix { plan, ..matrix };
        let selection = RunSelection { timelines: self.timelines, traces: false };
        let environment = self.graders.environment(judge.as_ref());
        let grading = Grading::new(&matrix.plan, None, environment, selection);
        let store = self.store(earlier)?;
        let failed = |error: std::io::Error| Failure::write(store.root(), &error);
        let Some(_lock) = store.lock().map_err(failed)? else {
            let message = format!("{} is in use by another toolmark run", store.root().display());
            return Err(Failure::usage(message).into());
        };
        let mut notes = matrix.skipped.clone();
        if self.reuse {
            let reused = resume::reuse(&store, &matrix, &ready, Path::new(RUNS))?;
            if reused > 0 {
                let trials = crate::human::things(reused as u64, "trial");
                notes.push(format!("{trials} of earlier runs with the same configuration"));
            }
        }
        let done =
            resume::done(&store, &matrix, &ready, &grading, &spec.key, self.rerun, self.grades)
                .map_err(Stop::from)?;
        let before: Vec<Used> = done.iter().map(|(_, _, record, _)| record.used.clone()).collect();
        assemble::clear_work(&store, &work.0);
        assemble::begin(&store, &spec, &matrix, &ready, &work.0).map_err(failed)?;
        let view = view(&matrix, done.len());
        let stop = interrupt::watch();
        let batches = Batches::new(&matrix);
        let run_id = store.id();
        let schedule = Schedule {
            matrix: &matrix,
            store: &store,
            grading: &grading,
            grade_key: &spec.key,
            grades: self.grades,
            shared: AttemptShared {
                ready: &ready,
                work: &work.0,
                ledger: &Ledger::new(matrix.budget, &before),
                observer: view.observer(),
                stop: &stop,
                lookup: &lookup,
                has_budget: matrix.budget != RunBudget::default(),
                batches: &batches,
                run: &run_id,
            },
        };
        let ran = schedule.run(done).map_err(failed)?;
        view.finish();
        if let Some(judge) = &judge {
            self.graders.judge.finish(judge, events)?;
        }
        let wants =
            assemble::RequiredParts { traces: self.keeps_traces, timelines: self.timelines };
        if spec.is_changed() {
            notes.push(format!("{} was changed while it ran", path.display()));
        }
        let result = assemble::finish(&store, &grading, ran, &wants, notes).map_err(failed)?;
        let result = result.redact(events.redactor());
        assemble::write_summary(&store, &result, &schedule.shared.ledger.spent())
            .map_err(failed)?;
        let directory = store.root().to_owned();
        Ok(FinishedRun { result, directory, is_stopped: stop.pressed() > 0 })
    }

    /// The earlier run to resume.
    fn earlier(&self) -> Result<Option<RunStore>, Failure> {
        let named = self.resume.as_ref().filter(|path| path.as_os_str() != LAST);
        let named = named.or(self.out.as_ref().filter(|out| out.join("run.json").is_file()));
        match (named, &self.resume, self.rerun) {
            (Some(path), resume, rerun) if resume.is_some() || rerun.is_some() => {
                RunStore::open(path).map(Some).ok_or_else(|| {
                    Failure::usage(format!("{} is not a run", path.display()))
                        .hint("`toolmark runs` lists them")
                })
            }
            (Some(path), ..) => Err(Failure::usage(format!("{} is a run already", path.display()))
                .hint("--resume goes on with it, --rerun runs it again")),
            (None, None, None) => Ok(None),
            (None, ..) => {
                let spec = self.spec.as_ref();
                let wanted = spec.and_then(|spec| std::path::absolute(spec).ok());
                let runs = self.out.clone().unwrap_or_else(|| PathBuf::from(RUNS));
                let is_wanted = |spec: &Path| wanted.as_ref().is_none_or(|one| one == spec);
                RunStore::newest(&runs, |info| is_wanted(&info.spec_absolute)).map(Some).ok_or_else(
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

    fn spec_path(&self, earlier: Option<&RunStore>) -> Result<PathBuf, Failure> {
        if let Some(spec) = self.spec.as_ref() {
            return Ok(spec.clone());
        }
        let info = earlier.and_then(|store| store.info().ok());
        let Some(info) = info else {
            let usual = Path::new(USUAL_SPEC);
            if usual.is_file() {
                return Ok(usual.to_owned());
            }
            let message = format!("no spec is named, and there is no {USUAL_SPEC} here");
            return Err(Failure::usage(message).hint("`toolmark init --run` writes one"));
        };
        if info.spec.is_file() { Ok(info.spec) } else { Ok(info.spec_absolute) }
    }

    fn store(&self, earlier: Option<RunStore>) -> Result<RunStore, Failure> {
        if let Some(store) = earlier {
            return Ok(store);
        }
        let made = match &self.out {
            Some(out) => RunStore::at(out),
            None => RunStore::create(Path::new(RUNS)),
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
