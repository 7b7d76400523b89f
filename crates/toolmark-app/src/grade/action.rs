//! Grading of traces, or of the trials of a run, against specs.

use super::dump;
use super::options::{GraderOptions, SpecOptions};
use super::read::{UnmatchedRun, grade};
use super::select::CaseSelection;
use super::stream::{KeptOutcomes, Ordered, RenderedOutcome, StreamTarget};
use super::{spec, specs};
use crate::inputs::{InputFile, expand};
use crate::judge::OpenJudge;
use crate::pool::{Emit, Pool};
use crate::reading::{Continuation, FileReader, Runs};
use crate::run::assemble::{RequiredParts, decorate};
use crate::run::recorded::RecordedRun;
use crate::run::{empty_plan, open_spec};
use crate::select::NamedTraces;
use crate::{ActionEvents, Failure, Stop, Tone, Verbosity, human};
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::Arc;
use toolmark_base::{ReadFileError, read_file};
use toolmark_grade::{Grading, Plan, RunSelection, Unpaired, merge};
use toolmark_judge::JudgeClient;
use toolmark_outcome::{CaseResult, Environment, Printable, RunResult, Untrusted, Verdict};
use toolmark_report::ReportError;
use toolmark_run::RunStore;
use toolmark_trace::{Format, ReadOptions};

/// Maximum size of a diff, in bytes.
const MAX_DIFF: u64 = 256 << 20;

/// Options of grading.
pub struct GradeOptions {
    /// The spec, a directory of specs, or a stored run.
    pub spec: PathBuf,
    /// The cases to use.
    pub selection: CaseSelection,
    /// Loading of the spec.
    pub loading: SpecOptions,
    /// Programs and judges of graders.
    pub graders: GraderOptions,
    /// The traces; without names, those of the spec.
    pub traces: NamedTraces,
    /// Number of threads.
    pub jobs: Option<NonZeroUsize>,
    /// Format of the traces; detected if there is none.
    pub format: Option<&'static dyn Format>,
    /// Case of traces that match none by themselves.
    pub stimulus: Option<String>,
    /// Directory with the agent's files.
    pub workspace: Option<PathBuf>,
    /// Unified diff of the workspace.
    pub diff_file: Option<PathBuf>,
    /// Directory with artifacts.
    pub artifact_dir: Option<PathBuf>,
    /// Directory for the graded traces.
    pub dump_traces: Option<PathBuf>,
    /// Whether results keep their trace.
    pub include_trace: bool,
    /// Whether traces are kept until they are dumped or reported.
    pub keeps_traces: bool,
    /// Whether results have timelines.
    pub timelines: bool,
    /// Whether the first failure ends grading.
    pub fail_fast: bool,
}

/// The opened specs, inputs and judge.
pub struct Prepared {
    /// The plans with the paths of their specs.
    pub plans: Vec<(PathBuf, Plan)>,
    /// The judge, if a grader needs one.
    pub judge: Option<OpenJudge>,
    inputs: Vec<InputFile>,
    forced: Option<(usize, usize)>,
    environment: Environment,
    selection: RunSelection,
}

impl Prepared {
    /// Returns a grading per plan.
    #[must_use]
    pub fn gradings(&self) -> Vec<Grading<'_>> {
        self.plans
            .iter()
            .enumerate()
            .map(|(n, (_, plan))| {
                let forced = self.forced.filter(|(spec, _)| *spec == n).map(|(_, case)| case);
                Grading::new(plan, forced, self.environment.clone(), self.selection)
            })
            .collect()
    }
}

/// The inputs of grading.
struct GradingWork<'w> {
    inputs: &'w [InputFile],
    plans: &'w [(PathBuf, Plan)],
    gradings: &'w [Grading<'w>],
    judge: Option<&'w OpenJudge>,
}

impl<'w> GradingWork<'w> {
    fn new(prepared: &'w Prepared, gradings: &'w [Grading<'w>]) -> Self {
        let Prepared { inputs, plans, judge, .. } = prepared;
        Self { inputs, plans, gradings, judge: judge.as_ref() }
    }
}

/// A result whose outcomes are in the rendered chunks of reports.
pub struct Streamed<'g> {
    /// The redacted result without outcomes.
    pub run: RunResult<Printable>,
    /// The outcomes in order.
    pub outcomes: Ordered<'g>,
    /// Whether something could not be read.
    pub is_unread: bool,
}

/// Result of grading the trials of a run again.
pub enum GradedAgain {
    /// The redacted result.
    Result(Box<RunResult<Printable>>),
    /// The judge with the questions, which are not asked.
    Questions(Arc<JudgeClient>),
}

/// Wraps the error of a report that could not be created.
fn failed_report(error: ReportError) -> io::Error {
    match error {
        ReportError::Write(error) => error,
        error => io::Error::other(error),
    }
}

impl GradeOptions {
    /// Opens the specs, finds the traces and opens the judge.
    ///
    /// # Errors
    ///
    /// If a spec is invalid, or there are no traces.
    pub fn prepare(&self, events: &mut dyn ActionEvents) -> Result<Prepared, Stop> {
        let mut options = self.loading.load_options(&self.spec)?;
        options.stores_cases = true;
        let mut plans = Vec::new();
        for path in specs::find(slice::from_ref(&self.spec))? {
            let spec = spec::open(&path, &options, events)?;
            let failure = spec.failure(&path, "nothing was graded");
            let plan = spec.loaded.plan.ok_or(failure)?;
            plans.push((path, plan));
        }
        self.selection.select(&mut plans, |(_, plan)| plan)?;
        let inputs = self.inputs(&plans)?;
        let forced = match self.forced(&plans)? {
            None if has_lone_case(&plans) && self.has_lone_run(&inputs, events)? => Some((0, 0)),
            forced => forced,
        };
        let judge = self.graders.open_judge(&plans, events)?;
        let environment = self.environment(judge.as_ref())?;
        let selection = RunSelection { timelines: self.timelines, traces: self.keeps_traces };
        Ok(Prepared { plans, judge, inputs, forced, environment, selection })
    }

    /// Grades and streams the reports; only rows and chunks of reports are kept in memory. `None` if
    /// judges are only explained.
    ///
    /// # Errors
    ///
    /// If nothing was graded, or a report could not be made.
    pub fn stream<'g>(
        &self,
        prepared: &'g Prepared,
        gradings: &'g [Grading<'g>],
        targets: &[StreamTarget],
        events: &mut dyn ActionEvents,
    ) -> Result<Option<Streamed<'g>>, Stop> {
        let work = &GradingWork::new(prepared, gradings);
        let ([grading], [(_, plan)]) = (gradings, prepared.plans.as_slice()) else {
            return Ok(None);
        };
        let redactor = events.redactor();
        let mut kept = KeptOutcomes::new(grading, plan, redactor);
        let make = |outcome: CaseResult| RenderedOutcome::of(outcome, targets, redactor);
        let (notes, unread) = self.grade(work, make, events, |_, made| {
            let made = made.map_err(failed_report)?;
            kept.add(&made)?;
            Ok(made.standing.verdict)
        })?;
        if self.ends_with_questions(work, events)? {
            return Ok(None);
        }
        let has_none = kept.is_empty();
        let (run, outcomes) = kept.finish(targets, notes).map_err(failed_report)?;
        // A part of the files may have no trace of a case.
        if has_none && self.traces.shard.is_none() {
            return Err(nothing_graded(&run, unread).into());
        }
        let run = run.redact(redactor);
        Ok(Some(Streamed { run, outcomes, is_unread: unread }))
    }

    /// Grades with all outcomes in memory, for reports that need them. Returns the redacted result,
    /// and whether something could not be read; `None` if judges are only explained.
    ///
    /// # Errors
    ///
    /// If nothing was graded.
    pub fn whole(
        &self,
        prepared: &Prepared,
        gradings: &[Grading<'_>],
        events: &mut dyn ActionEvents,
    ) -> Result<Option<(RunResult<Printable>, bool)>, Stop> {
        let work = &GradingWork::new(prepared, gradings);
        let mut outcomes: Vec<Vec<CaseResult>> = vec![Vec::new(); work.gradings.len()];
        let (notes, unread) = self.grade(
            work,
            |outcome| outcome,
            events,
            |spec, outcome| {
                let verdict = outcome.verdict;
                outcomes[spec].push(outcome);
                Ok(verdict)
            },
        )?;
        let results = work.gradings.iter().zip(outcomes);
        let results = results.map(|(grading, outcomes)| grading.finish(outcomes, Vec::new()));
        let mut result = merge(&self.spec.to_string_lossy(), results.collect());
        result.notes.extend(notes);
        if self.ends_with_questions(work, events)? {
            return Ok(None);
        }
        let has_none = result.outcomes.iter().all(|outcome| outcome.trajectory.is_none());
        if has_none && self.traces.shard.is_none() {
            return Err(nothing_graded(&result, unread).into());
        }
        if let Some(directory) = &self.dump_traces {
            self.dump(&mut result, directory, events)?;
        }
        Ok(Some((result.redact(events.redactor()), unread)))
    }

    /// Reports what the judge was asked. Returns true if its questions are to be printed instead.
    fn ends_with_questions(
        &self,
        work: &GradingWork<'_>,
        events: &mut dyn ActionEvents,
    ) -> Result<bool, Stop> {
        match work.judge {
            Some(judge) => self.graders.judge.ends_with_questions(judge, events),
            None => Ok(false),
        }
    }

    /// Returns the run of `toolmark run` to grade again and the spec for it: the named one, that of
    /// the run, or its copy in the run directory.
    ///
    /// # Errors
    ///
    /// If the description of the run cannot be read.
    pub fn recorded_run(&self) -> Result<Option<(PathBuf, RunStore)>, Failure> {
        if let Some(store) = RunStore::open(&self.spec) {
            let info = store.info().map_err(|error| ReadFileError::io(&self.spec, error))?;
            let named = [info.spec_absolute, store.root().join(info.spec_copy)];
            let spec = named.into_iter().find(|path| path.is_file());
            return Ok(spec.map(|spec| (spec, store)));
        }
        match self.traces.traces.as_slice() {
            [only] => Ok(RunStore::open(only).map(|store| (self.spec.clone(), store))),
            _ => Ok(None),
        }
    }

    /// Grades the trials of a run again, without running any agent.
    ///
    /// # Errors
    ///
    /// If the spec is invalid or has none of the cases.
    pub fn grade_again(
        &self,
        spec: &Path,
        store: &RunStore,
        events: &mut dyn ActionEvents,
    ) -> Result<GradedAgain, Stop> {
        let options = self.loading.load_options(spec)?;
        let mut opened = open_spec(spec, &options, &self.loading.key(), events)?;
        let mut plans = vec![std::mem::replace(&mut opened.plan, empty_plan())];
        self.selection.select(&mut plans, |plan| plan)?;
        let plan = plans.pop().unwrap_or_else(empty_plan);
        let recorded = RecordedRun::new(store, plan);
        if recorded.trials.is_empty() {
            let message = format!("{} holds no trial of these cases", store.root().display());
            return Err(Failure::usage(message).into());
        }
        let plans = vec![(spec.to_owned(), recorded.plan)];
        let judge = self.graders.open_judge(&plans, events)?;
        let environment = self.environment(judge.as_ref())?;
        let wanted = RequiredParts { traces: self.keeps_traces, timelines: self.timelines };
        let selection = RunSelection { timelines: wanted.timelines, traces: false };
        let Some((_, plan)) = plans.first() else {
            return Err(Failure::usage("the spec has no plan").into());
        };
        let grading = Grading::new(plan, None, environment, selection);
        let pool = Pool::new(self.jobs);
        let outcomes = pool.map(&recorded.trials, |(index, record)| {
            let mut result = record.regrade(&grading, *index)?;
            decorate(record, &mut result, &wanted, &grading);
            Some(result)
        });
        if let Some(judge) = &judge
            && self.graders.judge.ends_with_questions(judge, events)?
        {
            return Ok(GradedAgain::Questions(Arc::clone(&judge.client)));
        }
        let mut notes = Vec::new();
        if !recorded.homeless.is_empty() {
            let mut names = recorded.homeless.clone();
            names.dedup();
            let message = format!("the spec has no case for trials of {}", names.join(", "));
            notes.push(Untrusted::from(message));
        }
        let mut result = grading.finish(outcomes.into_iter().flatten().collect(), notes);
        if let Some(directory) = &self.dump_traces {
            self.dump(&mut result, directory, events)?;
        }
        Ok(GradedAgain::Result(Box::new(result.redact(events.redactor()))))
    }

    /// Finds the case named by the user: the index of its spec, and its index in the spec.
    fn forced(&self, plans: &[(PathBuf, Plan)]) -> Result<Option<(usize, usize)>, Failure> {
        let Some(name) = &self.stimulus else { return Ok(None) };
        let found = plans.iter().enumerate().find_map(|(n, (_, plan))| Some((n, plan.find(name)?)));
        let all = plans.iter().flat_map(|(_, plan)| (0..plan.len()).map(|index| plan.id(index)));
        let ids: Vec<&str> = all.take(10).collect();
        match found {
            Some(found) => Ok(Some(found)),
            None => Err(Failure::usage(format!("the spec has no case {name}"))
                .hint(format!("its cases: {}", ids.join(", ")))),
        }
    }

    /// Whether the input is one file with one trajectory.
    fn has_lone_run(
        &self,
        inputs: &[InputFile],
        events: &mut dyn ActionEvents,
    ) -> io::Result<bool> {
        let [input] = inputs else { return Ok(false) };
        if !input.is_named_file() {
            return Ok(false);
        }
        let options = ReadOptions { force: self.format, ..ReadOptions::default() };
        let reader = FileReader::new(options, Pool::new(self.jobs), Verbosity::Quiet);
        let work = |runs: &mut Runs<'_>, emit: &mut Emit<'_, ()>| {
            let _ = runs.bare().take(2).try_for_each(|_| emit(()));
        };
        let mut count = 0;
        reader.stream(inputs, events, work, |found| {
            count += found.into_iter().count();
            Ok(if count > 1 { Continuation::Enough } else { Continuation::More })
        })?;
        Ok(count == 1)
    }

    fn inputs(&self, plans: &[(PathBuf, Plan)]) -> Result<Vec<InputFile>, Failure> {
        if let Some(inputs) = self.traces.inputs()? {
            return Ok(inputs);
        }
        let named: Vec<PathBuf> = plans.iter().flat_map(|(_, plan)| plan.traces()).collect();
        if named.is_empty() {
            return Err(Failure::usage("no traces: none on the command line, none in the spec")
                .hint("run `toolmark grade SPEC TRACE…`"));
        }
        let mut inputs = expand(&named);
        self.traces.keep_part(&mut inputs);
        Ok(inputs)
    }

    fn environment(&self, judge: Option<&OpenJudge>) -> Result<Environment, Failure> {
        let diff = match &self.diff_file {
            None => None,
            Some(path) => {
                let text = match read_file::read_text(path, MAX_DIFF) {
                    // Nothing changed.
                    Err(error) if error.is_empty() => String::new(),
                    text => text?,
                };
                Some(Arc::from(text))
            }
        };
        Ok(Environment {
            workspace: self.workspace.clone(),
            diff,
            artifacts: self.artifact_dir.clone(),
            ..self.graders.environment(judge)
        })
    }

    /// Grades the input, converts every outcome and passes it on with the number of its spec.
    /// Returns notes, and whether something could not be read.
    fn grade<T: Send>(
        &self,
        work: &GradingWork<'_>,
        make: impl Fn(CaseResult) -> T + Sync,
        events: &mut dyn ActionEvents,
        mut take: impl FnMut(usize, T) -> io::Result<Verdict>,
    ) -> Result<(Vec<Untrusted>, bool), Stop> {
        // A thread that waits for a judge needs no core.
        let judge = work.judge;
        let waiting = judge.and_then(|judge| {
            let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
            NonZeroUsize::new(judge.concurrency.max(cores))
        });
        let pool = Pool::new(self.jobs.or(waiting));
        let pool = if self.fail_fast { pool.one_at_a_time() } else { pool };
        let options = ReadOptions { force: self.format, ..ReadOptions::default() };
        let reader = FileReader::new(options, pool, events.verbosity());
        let reader = reader.with_status(judge.map(|judge| judge.status.clone()));
        let keeps_traces = self.keeps_traces;
        let read = |runs: &mut Runs<'_>, emit: &mut Emit<'_, _>| {
            grade(runs, work.gradings, keeps_traces, reader.pool(), &make, emit);
        };
        let mut unpaired = Vec::new();
        let walked = reader.stream(work.inputs, events, read, |graded| {
            for one in graded.into_iter().flatten() {
                match one {
                    Err(one) => unpaired.push(one),
                    Ok(results) => {
                        let mut fails = false;
                        for (spec, outcome) in results {
                            fails |= take(spec, outcome)? == Verdict::Fail;
                        }
                        if fails && self.fail_fast {
                            return Ok(Continuation::Enough);
                        }
                    }
                }
            }
            Ok(Continuation::More)
        })?;
        let mut notes = notes(work.plans, &unpaired);
        notes.extend(walked.note(events.verbosity()).map(Into::into));
        Ok((notes, walked.unread))
    }

    fn dump(
        &self,
        result: &mut RunResult,
        directory: &Path,
        events: &mut dyn ActionEvents,
    ) -> Result<(), Stop> {
        let written = dump::write(&result.outcomes, directory)
            .map_err(|error| Failure::write(directory, &error))?;
        if !self.include_trace {
            result.outcomes.iter_mut().for_each(|outcome| outcome.trace = None);
        }
        if events.verbosity() > Verbosity::Quiet {
            let traces = human::things(written as u64, "trace");
            let words =
                events.redactor().apply(format!("{traces} written to {}", directory.display()));
            events.note(Tone::Note, words)?;
        }
        Ok(())
    }
}

/// Whether there is one case, which says nothing about the trace that belongs to it.
fn has_lone_case(plans: &[(PathBuf, Plan)]) -> bool {
    let [(_, plan)] = plans else { return false };
    let case = (plan.len() == 1 && plan.every.is_none()).then(|| plan.case(0)).flatten();
    case.is_some_and(|case| {
        let matches = &case.matches;
        let has_no_other_name = matches.ids.iter().all(|id| *id == case.id);
        has_no_other_name && matches.prompts.is_empty() && matches.traces.is_empty()
    })
}

/// Notes about traces that match no case.
fn notes(plans: &[(PathBuf, Plan)], unpaired: &[UnmatchedRun]) -> Vec<Untrusted> {
    const MAX_NAMED: usize = 5;
    let mut notes = Vec::new();
    let none: Vec<&str> = unpaired
        .iter()
        .filter(|run| run.why == Unpaired::None)
        .map(|run| run.name.as_str())
        .collect();
    if !none.is_empty() {
        let more = none.len().saturating_sub(MAX_NAMED);
        let mut words = none[..none.len().min(MAX_NAMED)].join(", ");
        if more > 0 {
            words += &format!(" and {more} more");
        }
        let traces = human::things(none.len() as u64, "trajectory");
        let how = "by id, name, file name or prompt";
        let hint = "--for CASE grades them as trials of a case";
        notes.push(format!("{traces} matched no case {how}: {words}; {hint}").into());
    }
    for UnmatchedRun { name, spec, why } in unpaired {
        if let (Unpaired::Ambiguous(cases), Some((_, plan))) = (why, plans.get(*spec)) {
            let ids: Vec<&str> = cases.iter().map(|index| plan.id(*index)).collect();
            let ids = ids.join(", ");
            let words = "matches several cases by prompt";
            notes.push(format!("{name} {words} ({ids}); --for chooses one").into());
        }
    }
    notes
}

/// Failure when nothing was graded: neither a pass nor a failure of the agent.
fn nothing_graded(result: &RunResult, unread: bool) -> Failure {
    let cases = human::things(result.summary.cases, "case");
    let message = format!("no trajectory was graded: none of {cases} has a trace");
    let failure = if unread { Failure::unread(message) } else { Failure::usage(message) };
    match result.notes.as_slice() {
        [] => failure.hint("`toolmark formats` lists what can be read"),
        notes => failure.hints(notes.iter().map(|note| note.raw().to_owned())),
    }
}
