//! Specs from runs that passed.

use crate::grade::spec;
use crate::inputs::{InputFile, expand};
use crate::pool::Emit;
use crate::reading::{Continuation, FileReader, Runs};
use crate::{ActionEvents, Failure, Stop, human};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toolmark_grade::{Grading, LoadOptions, Plan, RunSelection};
use toolmark_outcome::{Environment, Verdict};
use toolmark_redact::Printable;
use toolmark_run::RunStore;
use toolmark_spec::mine::{MineSettings, Mined, MinedSpecResult, Observed, mine as mine_runs};
use toolmark_spec::mine_policy::{JudgedRun, mine_policy};
use toolmark_trace::{DeclaredOutcome, Trajectory};

/// Options for mining.
#[derive(Debug, Clone)]
pub struct MineOptions {
    /// Traces of runs that passed, or runs that record their verdicts.
    pub traces: Vec<PathBuf>,
    /// Traces of runs that failed.
    pub failed: Vec<PathBuf>,
    /// Spec that decides which of the traces passed.
    pub pass_if: Option<PathBuf>,
    /// Whether the graders of that spec may run programs.
    pub may_run: bool,
    /// Whether conditions on calls of named tools are mined instead.
    pub policy: bool,
    /// Grouping and validation.
    pub mining: MineSettings,
}

/// A mined spec.
#[derive(Debug)]
pub struct MinedSpec {
    /// Text of the spec.
    pub text: Printable,
    /// Summary in a few lines.
    pub summary: Vec<Printable>,
    /// Whether something could not be read.
    pub is_unread: bool,
}

/// The runs, and counts of those that could not be used.
#[derive(Default)]
struct ReadRuns {
    observed: Vec<Observed>,
    /// Runs whose verdict is not known.
    undecided: u64,
    unread: bool,
}

/// Case and verdict of a trial, by trace file.
type Trials = BTreeMap<String, (String, String)>;

/// Mines a spec from runs.
///
/// # Errors
///
/// If the deciding spec is invalid, no run passed, or nothing is supported by enough runs.
pub fn mine(
    options: &MineOptions,
    reader: &FileReader,
    events: &mut dyn ActionEvents,
) -> Result<MinedSpec, Stop> {
    if options.policy {
        return mine_conditions(options, reader, events);
    }
    let read = read_runs(options, reader, events)?;
    let mined = mine_runs(&read.observed, &options.mining);
    if mined.is_empty() {
        return Err(nothing(&read, &mined).into());
    }
    let text = events.redactor().apply(mined.to_yaml());
    let checked = mined.check(&text, &read.observed);
    if let Some(problem) = checked.problems.iter().find(|problem| problem.is_error()) {
        let failure = Failure::unread("the mined spec is invalid, which is a bug of toolmark");
        return Err(failure.problem(problem).into());
    }
    let summary = summary(&read, &mined, &checked);
    Ok(MinedSpec { text, summary, is_unread: read.unread })
}

/// Mines conditions on calls of named tools: the `tools:` section of `toolmark.yaml`.
fn mine_conditions(
    options: &MineOptions,
    reader: &FileReader,
    events: &mut dyn ActionEvents,
) -> Result<MinedSpec, Stop> {
    let read = read_runs(options, reader, events)?;
    let judges = options.pass_if.is_some() || !options.failed.is_empty();
    let runs = read.observed.into_iter().map(|Observed { run, passed, .. }| {
        // A run that says that it failed has failed.
        let own = run.declared_outcome().map(|own| own.outcome);
        let own = own.map(|outcome| outcome == DeclaredOutcome::Passed);
        let passed = own.or((judges || !passed).then_some(passed));
        JudgedRun { run, passed }
    });
    let runs: Vec<JudgedRun> = runs.collect();
    let mined = mine_policy(&runs);
    if mined.effects.is_empty() {
        let failure = Failure::usage("no run calls a tool that changes something");
        return Err(failure
            .hint("conditions are mined for tools that are not those of a host")
            .into());
    }
    let text = events.redactor().apply(mined.to_yaml());
    let shown = mined.terms.iter().filter(|term| term.is_shown()).count() as u64;
    let (passed, failed, unknown) = mined.runs;
    let summary = format!(
        "{}, {} that would have stopped a fault; {passed} runs passed, {failed} failed, {unknown} \
         without a result",
        &*human::things(mined.terms.len() as u64, "condition"),
        shown
    );
    let summary = vec![events.redactor().apply(summary)];
    Ok(MinedSpec { text, summary, is_unread: read.unread })
}

/// Reads the runs to mine from, those that passed and those that failed.
fn read_runs(
    options: &MineOptions,
    reader: &FileReader,
    events: &mut dyn ActionEvents,
) -> Result<ReadRuns, Stop> {
    let plan = options.pass_if.as_deref().map(|path| open(path, events)).transpose()?;
    let mut read = ReadRuns::default();
    read_passing(options, reader, plan.as_ref(), &mut read, events)?;
    take(reader, &expand(&options.failed), &mut read, events, |run, read| {
        read.observed.push(Observed { run, case: None, passed: false });
    })?;
    Ok(read)
}

fn read_passing(
    options: &MineOptions,
    reader: &FileReader,
    plan: Option<&Plan>,
    read: &mut ReadRuns,
    events: &mut dyn ActionEvents,
) -> Result<(), Stop> {
    let (inputs, trials) = inputs(&options.traces);
    let environment = Environment { may_run: options.may_run, ..Environment::default() };
    let grading = plan.map(|plan| Grading::new(plan, None, environment, RunSelection::default()));
    take(reader, &inputs, read, events, |run, read| {
        let trial = trials.get(&*run.file);
        let mut case = trial.map(|(case, _)| case.clone());
        let passed = match (&grading, trial) {
            (Some(grading), _) => grading.grade(&run).ok().and_then(|result| {
                if result.case_index != usize::MAX {
                    case = Some(result.case.raw().to_owned());
                }
                match result.verdict {
                    Verdict::Pass => Some(true),
                    Verdict::Fail => Some(false),
                    Verdict::Unknown(_) => None,
                }
            }),
            (None, Some((_, verdict))) => match verdict.as_str() {
                "pass" => Some(true),
                "fail" => Some(false),
                _ => None,
            },
            (None, None) => Some(true),
        };
        match passed {
            Some(passed) => read.observed.push(Observed { run, case, passed }),
            None => read.undecided += 1,
        }
    })
}

/// Returns the files to read; for a run of `toolmark run`, also the recorded cases and verdicts.
fn inputs(named: &[PathBuf]) -> (Vec<InputFile>, Trials) {
    let (mut files, mut trials) = (Vec::new(), Trials::new());
    for path in named {
        let Some(store) = RunStore::open(path) else {
            files.push(path.clone());
            continue;
        };
        for record in store.records() {
            let Some(trace) = record.trace_path() else { continue };
            let verdict = record.verdict().to_owned();
            trials.insert(trace.to_string_lossy().into_owned(), (record.case, verdict));
            files.push(trace);
        }
    }
    (expand(&files), trials)
}

/// Reads runs with their sub-agents, in file order.
fn take(
    reader: &FileReader,
    inputs: &[InputFile],
    read: &mut ReadRuns,
    events: &mut dyn ActionEvents,
    mut one: impl FnMut(Trajectory, &mut ReadRuns),
) -> Result<(), Stop> {
    let work = |runs: &mut Runs<'_>, emit: &mut Emit<'_, Trajectory>| {
        let _ = runs.try_for_each(emit);
    };
    let walked = reader.stream(inputs, events, work, |run| {
        if let Ok(run) = run {
            one(run, read);
        }
        Ok(Continuation::More)
    })?;
    read.unread |= walked.unread;
    walked.report_note(events)?;
    Ok(())
}

/// Reads the plan of the spec that decides which runs passed.
fn open(path: &Path, events: &mut dyn ActionEvents) -> Result<Plan, Stop> {
    let spec = spec::open(path, &LoadOptions::default(), events)?;
    let failure = spec.failure(path, "nothing was mined");
    Ok(spec.loaded.plan.ok_or(failure)?)
}

fn nothing(read: &ReadRuns, mined: &Mined) -> Failure {
    let passed = read.observed.iter().filter(|one| one.passed).count() as u64;
    if passed == 0 {
        let message = "no run passed, so there is nothing to mine from";
        let failure = match read.unread {
            true => Failure::unread(message),
            false => Failure::usage(message),
        };
        return match read.undecided {
            0 => failure,
            many => failure.hint(format!("{} could not be decided", &*human::things(many, "run"))),
        };
    }
    let failure = Failure::usage("no expectation is supported by enough runs");
    let comments: usize = mined.cases.iter().map(toolmark_spec::mine::MinedCase::comments).sum();
    let failure = match comments {
        0 => failure,
        many => {
            let what = human::things(many as u64, "expectation");
            failure.hint(format!("{what} with too little support"))
        }
    };
    match (mined.unrecorded, mined.alone) {
        (0, 0) => failure,
        (0, _) => failure.hint("no two runs were asked the same; `--by all` takes them together"),
        (many, _) => {
            failure.hint(format!("{} record no calls", &*human::things(many as u64, "run")))
        }
    }
}

/// Summarizes the mined spec in a few lines.
fn summary(read: &ReadRuns, mined: &Mined, checked: &MinedSpecResult) -> Vec<Printable> {
    let things = |count: usize, one: &'static str| human::things(count as u64, one);
    let sum = |of: fn(&toolmark_spec::mine::MinedCase) -> usize| {
        mined.cases.iter().map(of).sum::<usize>()
    };
    let mut lines = vec![toolmark_redact::printable!(
        "{}, {} commented out; accepts {} of {} that passed, rejects {} of {} that failed",
        things(sum(|case| case.expected()), "expectation"),
        sum(|case| case.comments()),
        checked.accepted.held,
        things(checked.accepted.of, "run"),
        checked.rejected.held,
        checked.rejected.of
    )];
    let held = sum(|case| case.held_out.accepted.held);
    let of = sum(|case| case.held_out.accepted.of);
    if of > 0 {
        lines.push(toolmark_redact::printable!(
            "cross-validation: specs mined from a subset accept {} of {} held-out runs",
            held,
            of
        ));
    }
    let notes = [
        (
            mined.unrecorded,
            "left out because it records no calls",
            "left out because they record no calls",
        ),
        (
            mined.alone,
            "left out because no other was asked the same (--by all)",
            "left out because no others were asked the same (--by all)",
        ),
        (
            read.undecided as usize,
            "left out because its verdict is unknown",
            "left out because their verdicts are unknown",
        ),
        (
            checked.unpaired,
            "will not be paired with its case by id, name or prompt (--stimulus)",
            "will not be paired with their case by id, name or prompt (--stimulus)",
        ),
    ];
    for (count, one, many) in notes.into_iter().filter(|(count, ..)| *count > 0) {
        let words = Printable::from(if count == 1 { one } else { many });
        lines.push(toolmark_redact::printable!("note: {} {}", things(count, "run"), words));
    }
    if mined.failed > 0 {
        let cases = things(mined.failed, "case");
        lines.push(toolmark_redact::printable!("note: {} without a run that passed", cases));
    }
    lines
}
