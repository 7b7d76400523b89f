//! `toolmark grade`: grades traces against a spec of any dialect.

use crate::args::{GradedRun, InputArgs, ReportArgs, format_of, report_of};
use crate::exit::{Exit, Failure};
use crate::grading::options::{GraderArgs, SpecArgs};
use crate::grading::select::CaseArgs;
use crate::human;
use crate::printer::{Line, Printer, Verbosity, style};
use clap::{Args, ValueEnum};
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::Arc;
use std::time::Instant;
use toolmark_app::Stop;
use toolmark_app::compare;
use toolmark_app::grade::read::{Homeless, grade};
use toolmark_app::grade::stream::{Kept, Made, Target};
use toolmark_app::grade::{dump, spec, specs};
use toolmark_app::inputs::{Input, expand};
use toolmark_app::judge::OpenJudge;
use toolmark_app::pool::{Emit, Pool};
use toolmark_app::reading::{Next, Runs};
use toolmark_app::run::assemble::{Wanted, decorate};
use toolmark_app::run::recorded::Recorded;
use toolmark_app::run::{empty_plan, open_spec};
use toolmark_base::{ReadFileError, read_file};
use toolmark_compare::{Comparison, Run};
use toolmark_grade::{Grading, Plan, Selection, Unpaired, merge};
use toolmark_outcome::{CaseResult, Environment, Printable, RunResult, Untrusted, Verdict};
use toolmark_report::{ReportError, Rows};
use toolmark_run::Store;

/// Maximum size of a diff, in bytes.
const MAX_DIFF: u64 = 256 << 20;

const EXAMPLES: &str = "\
Examples:
  toolmark grade toolmark.yaml runs/                 traces against a spec
  toolmark grade evals/ runs/                        every spec of a directory
  toolmark grade .toolmark/runs/ID                   a run again, by its spec as it is now
  toolmark grade evals/eval.yaml results.jsonl       a Vally spec on its own results
  toolmark grade page.yaml traces.jsonl --profile agentv@1
                                                     the scores AgentV would give
  toolmark grade spec.yaml runs/ --report junit=out.xml --report html=out.html
  toolmark grade spec.yaml runs/ --judge-model claude-sonnet-4-6
                                                     with a judge model
  toolmark grade spec.yaml runs/ --baseline main.json  fail only on what got worse
  toolmark grade spec.yaml runs/ --format jsonl | jq 'select(.verdict == \"fail\")'

A trace is graded by the case that has its id, name, file name or prompt.";

const TRACES: &str =
    "Trace files, directories, patterns, or - for stdin [default: the traces of the spec]";

/// Grade traces against a spec: toolmark's own, Vally's, AgentV's or AI GO!'s
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("traces", |arg| arg.help(TRACES)))]
#[command(mut_arg("format", format_of::<RunResult<Printable>>), mut_arg("reports", report_of::<RunResult<Printable>>))]
pub(crate) struct Grade {
    /// The spec, a directory of specs, or a run of `toolmark run`; the dialect is detected
    #[arg(value_name = "SPEC")]
    spec: PathBuf,
    #[command(flatten)]
    report: ReportArgs,
    /// Content of the rows in the formats csv and parquet
    #[arg(long, value_enum, value_name = "KIND", default_value = "outcomes")]
    rows: RowKind,
    #[command(flatten)]
    selection: CaseArgs,
    /// Stop at the first failure
    #[arg(long)]
    fail_fast: bool,
    #[command(flatten)]
    loading: SpecArgs,
    /// Fail only on regressions against this report or run
    #[arg(long, value_name = "RUN")]
    baseline: Option<PathBuf>,
    /// Exit with 0 whatever the result
    #[arg(long)]
    exit_zero: bool,
    #[command(flatten)]
    input: InputArgs,
    /// Case of traces that match none by id, name or file name
    #[arg(long, visible_alias = "for", value_name = "CASE", help_heading = "Pairing")]
    stimulus: Option<String>,
    /// Directory with the agent's files; overrides the trace
    #[arg(long, value_name = "DIR", help_heading = "Environment")]
    workspace: Option<PathBuf>,
    /// Unified diff of the workspace
    #[arg(long, value_name = "FILE", help_heading = "Environment")]
    diff_file: Option<PathBuf>,
    /// Directory with artifacts of the run
    #[arg(long, value_name = "DIR", help_heading = "Environment")]
    artifact_dir: Option<PathBuf>,
    /// Write every graded trace to a file in this directory [default: .toolmark/traces]
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".toolmark/traces", help_heading = "Traces")]
    dump_traces: Option<PathBuf>,
    /// Include the whole trace in every result
    #[arg(long, help_heading = "Traces")]
    include_trace: bool,
    #[command(flatten)]
    graders: GraderArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RowKind {
    Outcomes,
    Graders,
}

/// The inputs of grading.
struct Work<'w> {
    inputs: &'w [Input],
    plans: &'w [(PathBuf, Plan)],
    gradings: &'w [Grading<'w>],
    judge: Option<OpenJudge>,
}

/// Wraps the error of a report that could not be created.
fn failed_report(error: ReportError) -> io::Error {
    match error {
        ReportError::Write(error) => error,
        error => io::Error::other(error),
    }
}

impl Grade {
    pub(crate) fn run(mut self, printer: &mut Printer) -> Result<Exit, Stop> {
        let started = Instant::now();
        if self.rows == RowKind::Graders {
            self.report.set_rows(Rows::Graders, "graders")?;
        }
        let baseline = self.baseline.as_deref();
        let baseline =
            baseline.map(|run| compare::read_baseline(run, printer.redactor)).transpose()?;
        if let Some((spec, store)) = self.recorded_run()? {
            return self.grade_again(&spec, &store, baseline.as_ref(), started, printer);
        }
        let mut options = self.loading.load_options(&self.spec)?;
        options.stores_cases = true;
        let mut plans = Vec::new();
        for path in specs::find(slice::from_ref(&self.spec))? {
            let spec = spec::open(&path, &options, printer)?;
            let failure = spec.failure(&path, "nothing was graded");
            let plan = spec.loaded.plan.ok_or(failure)?;
            plans.push((path, plan));
        }
        self.selection.selection().select(&mut plans, |(_, plan)| plan)?;
        let forced = self.forced(&plans)?;
        let inputs = self.inputs(&plans)?;
        let judge = self.graders.open_judge(&plans, printer)?;
        let environment = self.environment(judge.as_ref())?;
        let selection =
            Selection { timelines: self.report.wants("html"), traces: self.keeps_traces() };
        let gradings: Vec<Grading<'_>> = plans
            .iter()
            .enumerate()
            .map(|(n, (_, plan))| {
                let forced = forced.filter(|(spec, _)| *spec == n).map(|(_, case)| case);
                Grading::new(plan, forced, environment.clone(), selection)
            })
            .collect();
        let work = Work { inputs: &inputs, plans: &plans, gradings: &gradings, judge };
        let streams = self.streams(&plans, printer);
        let verdict = match (&streams, gradings.as_slice(), plans.as_slice()) {
            (Some(targets), [grading], [(_, plan)]) => {
                self.stream(&work, grading, plan, targets, started, printer)?
            }
            _ => self.whole(&work, baseline.as_ref(), started, printer)?,
        };
        let Some((verdict, unread)) = verdict else { return Ok(Exit::Ok) };
        Ok(if self.exit_zero { Exit::Ok } else { Exit::of(verdict, unread) })
    }

    /// Returns the report targets if every report can be streamed: outcomes of a single spec
    /// without cases can be, but sums over cases need all outcomes.
    fn streams(&self, plans: &[(PathBuf, Plan)], printer: &Printer) -> Option<Vec<Target>> {
        let is_simple = |(_, plan): &(PathBuf, Plan)| {
            plan.every.is_none()
                && self.rows == RowKind::Outcomes
                && plan.aggregates.is_empty()
                && self.dump_traces.is_none()
                && self.baseline.is_none()
        };
        if plans.len() == 1 && plans.iter().all(is_simple) {
            self.report.streams(printer)
        } else {
            None
        }
    }

    /// Grades and streams the reports; only rows and chunks of reports are kept in memory. Returns
    /// the verdict and whether something could not be read; `None` if judges are only explained.
    fn stream(
        &self,
        work: &Work<'_>,
        grading: &Grading<'_>,
        plan: &Plan,
        targets: &[Target],
        started: Instant,
        printer: &mut Printer,
    ) -> Result<Option<(Verdict, bool)>, Stop> {
        let redactor = printer.redactor;
        let mut kept = Kept::new(grading, plan, redactor);
        let make = |outcome: CaseResult| Made::of(outcome, targets, redactor);
        let (notes, unread) = self.grade(work, make, printer, |_, made| {
            let made = made.map_err(failed_report)?;
            kept.add(&made)?;
            Ok(made.standing.verdict)
        })?;
        if self.explained(work, printer)? {
            return Ok(None);
        }
        let has_none = kept.is_empty();
        let (run, mut outcomes) = kept.finish(targets, notes).map_err(failed_report)?;
        // A part of the files may have no trace of a case.
        if has_none && !self.input.is_part() {
            return Err(nothing_graded(&run, unread).into());
        }
        let run = run.redact(redactor);
        self.report.write_streams(targets, &run, &mut outcomes, started, printer)?;
        Ok(Some((run.summary.verdict, unread)))
    }

    /// Grades with all outcomes in memory, for reports that need them.
    fn whole(
        &self,
        work: &Work<'_>,
        baseline: Option<&Run>,
        started: Instant,
        printer: &mut Printer,
    ) -> Result<Option<(Verdict, bool)>, Stop> {
        let mut outcomes: Vec<Vec<CaseResult>> = vec![Vec::new(); work.gradings.len()];
        let (notes, unread) = self.grade(
            work,
            |outcome| outcome,
            printer,
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
        if self.explained(work, printer)? {
            return Ok(None);
        }
        let has_none = result.outcomes.iter().all(|outcome| outcome.trajectory.is_none());
        if has_none && !self.input.is_part() {
            return Err(nothing_graded(&result, unread).into());
        }
        if let Some(directory) = &self.dump_traces {
            self.dump(&mut result, directory, printer)?;
        }
        let result = result.redact(printer.redactor);
        let verdict = self.finish(result, baseline, started, printer)?;
        Ok(Some((verdict, unread)))
    }

    /// Prints the questions to judges. Returns true if only these were requested.
    fn explained(&self, work: &Work<'_>, printer: &mut Printer) -> Result<bool, Stop> {
        let Some(judge) = &work.judge else { return Ok(false) };
        self.graders.judge.finish(judge, printer)
    }

    /// Reports the result, and compares it with a baseline.
    fn finish(
        &self,
        result: RunResult<Printable>,
        baseline: Option<&Run>,
        started: Instant,
        printer: &mut Printer,
    ) -> Result<Verdict, Stop> {
        let comparison = baseline.map(|before| compare::with_baseline(before, &result));
        let comparison = comparison.transpose()?;
        let verdict = comparison.as_ref().map_or(result.summary.verdict, Comparison::verdict);
        self.report.write(&GradedRun { result, comparison }, started, printer)?;
        Ok(verdict)
    }

    /// Returns the run of `toolmark run` to grade again and the spec for it: the named one, that of
    /// the run, or its copy in the run directory.
    fn recorded_run(&self) -> Result<Option<(PathBuf, Store)>, Failure> {
        if let Some(store) = Store::open(&self.spec) {
            let info = store.info().map_err(|error| ReadFileError::io(&self.spec, error))?;
            let named = [info.spec_absolute, store.root().join(info.spec_copy)];
            let spec = named.into_iter().find(|path| path.is_file());
            return Ok(spec.map(|spec| (spec, store)));
        }
        match self.input.traces.as_slice() {
            [only] => Ok(Store::open(only).map(|store| (self.spec.clone(), store))),
            _ => Ok(None),
        }
    }

    /// Grades the trials of a run again, without running any agent.
    fn grade_again(
        &self,
        spec: &Path,
        store: &Store,
        baseline: Option<&Run>,
        started: Instant,
        printer: &mut Printer,
    ) -> Result<Exit, Stop> {
        let options = self.loading.load_options(spec)?;
        let mut opened = open_spec(spec, &options, &self.loading.key(), printer)?;
        let mut plans = vec![std::mem::replace(&mut opened.plan, empty_plan())];
        self.selection.selection().select(&mut plans, |plan| plan)?;
        let plan = plans.pop().unwrap_or_else(empty_plan);
        let recorded = Recorded::new(store, plan);
        if recorded.trials.is_empty() {
            let message = format!("{} holds no trial of these cases", store.root().display());
            return Err(Failure::usage(message).into());
        }
        let plans = vec![(spec.to_owned(), recorded.plan)];
        let judge = self.graders.open_judge(&plans, printer)?;
        let environment = self.environment(judge.as_ref())?;
        let wanted = Wanted { traces: self.keeps_traces(), timelines: self.report.wants("html") };
        let selection = Selection { timelines: wanted.timelines, traces: false };
        let Some((_, plan)) = plans.first() else { return Ok(Exit::Usage) };
        let grading = Grading::new(plan, None, environment, selection);
        let pool = Pool::new(self.input.files.jobs);
        let outcomes = pool.map(&recorded.trials, |(index, record)| {
            let mut result = record.regrade(&grading, *index)?;
            decorate(record, &mut result, &wanted, &grading);
            Some(result)
        });
        if let Some(judge) = &judge {
            if self.graders.judge.finish(judge, printer)? {
                return Ok(Exit::Ok);
            }
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
            self.dump(&mut result, directory, printer)?;
        }
        let result = result.redact(printer.redactor);
        let verdict = self.finish(result, baseline, started, printer)?;
        Ok(if self.exit_zero { Exit::Ok } else { Exit::of(verdict, false) })
    }

    fn keeps_traces(&self) -> bool {
        self.include_trace || self.dump_traces.is_some()
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

    fn inputs(&self, plans: &[(PathBuf, Plan)]) -> Result<Vec<Input>, Failure> {
        if let Some(inputs) = self.input.named().inputs()? {
            return Ok(inputs);
        }
        let named: Vec<PathBuf> = plans.iter().flat_map(|(_, plan)| plan.traces()).collect();
        if named.is_empty() {
            return Err(Failure::usage("no traces: none on the command line, none in the spec")
                .hint("run `toolmark grade SPEC TRACE…`"));
        }
        let mut inputs = expand(&named);
        self.input.named().keep_part(&mut inputs);
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
        work: &Work<'_>,
        make: impl Fn(CaseResult) -> T + Sync,
        printer: &mut Printer,
        mut take: impl FnMut(usize, T) -> io::Result<Verdict>,
    ) -> Result<(Vec<Untrusted>, bool), Stop> {
        // A thread that waits for a judge needs no core.
        let judge = work.judge.as_ref();
        let waiting = judge.and_then(|judge| {
            let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
            NonZeroUsize::new(judge.concurrency.max(cores))
        });
        let pool = Pool::new(self.input.files.jobs.or(waiting));
        let pool = if self.fail_fast { pool.one_at_a_time() } else { pool };
        let reader = self.input.files.reader_with(pool, printer);
        let reader = reader.with_status(judge.map(|judge| judge.status.clone()));
        let keeps_traces = self.keeps_traces();
        let read = |runs: &mut Runs<'_>, emit: &mut Emit<'_, _>| {
            grade(runs, work.gradings, keeps_traces, reader.pool(), &make, emit);
        };
        let mut unpaired = Vec::new();
        let walked = reader.stream(work.inputs, printer, read, |graded| {
            for one in graded.into_iter().flatten() {
                match one {
                    Err(one) => unpaired.push(one),
                    Ok(results) => {
                        let mut fails = false;
                        for (spec, outcome) in results {
                            fails |= take(spec, outcome)? == Verdict::Fail;
                        }
                        if fails && self.fail_fast {
                            return Ok(Next::Enough);
                        }
                    }
                }
            }
            Ok(Next::More)
        })?;
        let mut notes = notes(work.plans, &unpaired);
        notes.extend(walked.note(printer.verbosity).map(Into::into));
        Ok((notes, walked.unread))
    }

    fn dump(
        &self,
        result: &mut RunResult,
        directory: &Path,
        printer: &mut Printer,
    ) -> Result<(), Stop> {
        let written = dump::write(&result.outcomes, directory)
            .map_err(|error| Failure::write(directory, &error))?;
        if !self.include_trace {
            result.outcomes.iter_mut().for_each(|outcome| outcome.trace = None);
        }
        if printer.verbosity > Verbosity::Quiet {
            let traces = human::things(written as u64, "trace");
            let words = printer.redact(format!("{traces} written to {}", directory.display()));
            printer.notice(&Line::of(style::DIM, words))?;
        }
        Ok(())
    }
}

/// Notes about traces that match no case.
fn notes(plans: &[(PathBuf, Plan)], unpaired: &[Homeless]) -> Vec<Untrusted> {
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
        notes.push(format!("{traces} matched no case {how}: {words}").into());
    }
    for Homeless { name, spec, why } in unpaired {
        if let (Unpaired::Ambiguous(cases), Some((_, plan))) = (why, plans.get(*spec)) {
            let ids: Vec<&str> = cases.iter().map(|index| plan.id(*index)).collect();
            let ids = ids.join(", ");
            let words = "matches several cases by prompt";
            notes.push(format!("{name} {words} ({ids}); --stimulus chooses one").into());
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
