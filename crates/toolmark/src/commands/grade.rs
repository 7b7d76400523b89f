//! `toolmark grade`: traces against a spec of any dialect.

use crate::Stop;
use crate::cli::Reading as ReadingArgs;
use crate::exit::{Exit, Failure};
use crate::grading::read::{Graded, Reading, grade_all};
use crate::grading::{dump, redact, spec};
use crate::human;
use crate::inputs::{Input, expand};
use crate::judging::{Asking, ByRules, JudgeArgs, Opened};
use crate::printer::{Line, Printer, Verbosity, style};
use crate::progress::Progress;
use crate::report_file;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use toolmark_grade::LoadOptions;
use toolmark_grade::{Determinism, Grading, Plan, Selection, Unpaired};
use toolmark_outcome::judging::Judge;
use toolmark_outcome::{Environment, Findings, Profile, RunResult, Verdict};
use toolmark_report::{FORMATS, Options as ReportOptions, ReportError, format_by_id};

const EXAMPLES: &str = "\
Examples:
  toolmark grade toolmark.yaml runs/                 traces against a spec
  toolmark grade evals/eval.yaml results.jsonl       a Vally spec on its own results
  toolmark grade page.yaml traces.jsonl --profile agentv@1
                                                     AgentV's numbers instead of the honest ones
  toolmark grade spec.yaml runs/ --report junit=out.xml --report html=out.html
  toolmark grade spec.yaml runs/ --judge-model claude-sonnet-4-6
                                                     with a judge for what no rule can decide
  toolmark grade spec.yaml runs/ --format jsonl | jq 'select(.verdict == \"fail\")'

A trace belongs to the case with its id, its name, its file name or its prompt.";

/// Grade traces against a spec: toolmark's own, Vally's, AgentV's or AI GO!'s
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Grade {
    /// The spec; its dialect is told from its content
    #[arg(value_name = "SPEC")]
    spec: PathBuf,
    /// Trace files, directories, patterns, - for stdin [default: those the spec names]
    #[arg(value_name = "TRACES")]
    traces: Vec<PathBuf>,
    /// How to print the results
    #[arg(long, value_name = "FORMAT", value_parser = report_id(), default_value = "text")]
    format: &'static str,
    /// Write a report to a file as well; may be given several times
    #[arg(long = "report", value_name = "FORMAT=FILE", value_parser = report_file)]
    reports: Vec<(&'static str, PathBuf)>,
    /// Grade only cases whose id matches this pattern (* and ?); may be given several times
    #[arg(long = "case", value_name = "ID")]
    cases: Vec<String>,
    /// Grade only cases with this tag; may be given several times
    #[arg(long = "tag", value_name = "TAG[=VALUE]")]
    tags: Vec<String>,
    /// The score every case must reach, instead of what the spec says
    #[arg(long, value_name = "0..1", value_parser = share)]
    threshold: Option<f64>,
    /// Stop at the first failure
    #[arg(long)]
    fail_fast: bool,
    /// How many files to read at once [default: one per core]
    #[arg(long, short, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Answer as another system would
    #[arg(long, value_name = "PROFILE", value_parser = profile())]
    profile: Option<Profile>,
    /// Exit with 0 whatever the verdicts are
    #[arg(long)]
    exit_zero: bool,
    /// The case of traces that no id, name or file name gives one
    #[arg(long, visible_alias = "for", value_name = "CASE", help_heading = "Pairing")]
    stimulus: Option<String>,
    /// A dataset of the cases: JSONL, JSON, CSV or Parquet
    #[arg(long, value_name = "FILE", help_heading = "Pairing")]
    dataset: Option<PathBuf>,
    /// A value for ${NAME} in the spec; may be given several times
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = pair, help_heading = "Pairing")]
    params: Vec<(String, String)>,
    /// Where the agent's files are, instead of where the trace says
    #[arg(long, value_name = "DIR", help_heading = "Environment")]
    workspace: Option<PathBuf>,
    /// A unified diff of the workspace
    #[arg(long, value_name = "FILE", help_heading = "Environment")]
    diff_file: Option<PathBuf>,
    /// Where artifacts of the run are
    #[arg(long, value_name = "DIR", help_heading = "Environment")]
    artifact_dir: Option<PathBuf>,
    /// Run none of the programs the spec names; graders that need one are unknown
    #[arg(long, help_heading = "Environment")]
    no_programs: bool,
    /// Write every graded trace to this directory, a file each
    #[arg(long, value_name = "DIR", help_heading = "Traces")]
    dump_traces: Option<PathBuf>,
    /// Put the whole trace into every result
    #[arg(long, help_heading = "Traces")]
    include_trace: bool,
    /// Ask no judge; graders that need one are unknown
    #[arg(long, conflicts_with_all = ["judge_model", "refresh", "offline"], help_heading = "Judge")]
    no_judge: bool,
    #[command(flatten)]
    judge: JudgeArgs,
    #[command(flatten)]
    reading: ReadingArgs,
}

fn report_id() -> impl TypedValueParser<Value = &'static str> {
    PossibleValuesParser::new(FORMATS.iter().map(|report| report.id))
        .map(|id| format_by_id(&id).map_or("", |report| report.id))
}

fn report_file(text: &str) -> Result<(&'static str, PathBuf), String> {
    report_file::parse(text, FORMATS.iter().map(|report| report.id), "junit=results.xml")
}

fn profile() -> impl TypedValueParser<Value = Profile> {
    PossibleValuesParser::new(Profile::ALL.iter().map(|profile| profile.word()))
        .map(|word| Profile::from_word(&word).unwrap_or_default())
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
        _ => Err("a number from 0 to 1".to_owned()),
    }
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write NAME=VALUE".to_owned()),
    }
}

impl Grade {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let started = Instant::now();
        let options = LoadOptions {
            params: self.params.iter().cloned().collect::<BTreeMap<_, _>>(),
            profile: self.profile,
            threshold: self.threshold,
            dataset: self.dataset.clone(),
        };
        let opened = spec::open(&self.spec, &options, printer)?;
        let Some(mut plan) = opened.loaded.and_then(|loaded| loaded.plan) else {
            let errors = human::things(opened.errors as u64, "error");
            let message = format!("{} has {errors}, nothing was graded", self.spec.display());
            return Err(Failure::usage(message).into());
        };
        self.select(&mut plan)?;
        let forced = self.forced(&plan)?;
        let inputs = self.inputs(&plan)?;
        let judge = self.judge(&plan, printer)?;
        let environment = self.environment(judge.as_ref())?;
        let selection = Selection { timelines: self.wants("html"), traces: self.keeps_traces() };
        let grading = Grading::new(&plan, forced, environment, selection);
        let graded = self.grade(&inputs, &grading, judge.as_ref(), printer)?;
        if let Some(judge) = &judge {
            self.judge.finish(judge, printer)?;
        }
        let (mut result, unread) = self.gather(&plan, &grading, graded, printer)?;
        if result.outcomes.iter().all(|outcome| outcome.trajectory.is_none()) {
            return Err(nothing_graded(&result, unread).into());
        }
        if let Some(directory) = &self.dump_traces {
            self.dump(&mut result, directory, printer)?;
        }
        redact::redact(&mut result, printer.veil);
        self.report(&result, started, printer)?;
        Ok(self.exit(&result, unread))
    }

    fn wants(&self, report: &str) -> bool {
        self.format == report || self.reports.iter().any(|(id, _)| *id == report)
    }

    fn keeps_traces(&self) -> bool {
        self.include_trace || self.dump_traces.is_some()
    }

    /// Leaves only the cases that were asked for.
    fn select(&self, plan: &mut Plan) -> Result<(), Failure> {
        if self.cases.is_empty() && self.tags.is_empty() {
            return Ok(());
        }
        let patterns: Vec<glob::Pattern> = self
            .cases
            .iter()
            .map(|case| glob::Pattern::new(case))
            .collect::<Result<_, _>>()
            .map_err(|error| Failure::usage(format!("--case: {error}")))?;
        let before = plan.cases.len();
        plan.cases.retain(|case| {
            let by_id = patterns.is_empty() || patterns.iter().any(|p| p.matches(&case.id));
            by_id && self.tags.iter().all(|tag| has_tag(&case.tags, tag))
        });
        if plan.cases.is_empty() {
            let message = format!("none of the {before} cases is left by --case and --tag");
            return Err(Failure::usage(message));
        }
        Ok(())
    }

    fn forced(&self, plan: &Plan) -> Result<Option<usize>, Failure> {
        let Some(name) = &self.stimulus else { return Ok(None) };
        let found = plan.cases.iter().position(|case| case.id == *name);
        let ids: Vec<&str> = plan.cases.iter().map(|case| case.id.as_str()).take(10).collect();
        match found {
            Some(index) => Ok(Some(index)),
            None => Err(Failure::usage(format!("the spec has no case {name}"))
                .hint(format!("its cases: {}", ids.join(", ")))),
        }
    }

    fn inputs(&self, plan: &Plan) -> Result<Vec<Input>, Failure> {
        if !self.traces.is_empty() {
            return Ok(expand(&self.traces));
        }
        let named: Vec<PathBuf> =
            plan.cases.iter().flat_map(|case| case.matches.traces.clone()).collect();
        if named.is_empty() {
            return Err(Failure::usage("no traces were given, and the spec names none")
                .hint("toolmark grade SPEC TRACES…; a directory, a pattern or - will do"));
        }
        Ok(expand(&named))
    }

    /// Who is asked, where something is to be asked.
    fn judge(&self, plan: &Plan, printer: &mut Printer) -> Result<Option<Opened>, Stop> {
        let cases = plan.cases.iter().chain(plan.every.as_deref());
        let mut graders = cases.flat_map(|case| &case.graders);
        let asks = graders.any(|one| one.info.taxonomy.determinism == Determinism::Judge);
        if !asks || self.no_judge {
            return Ok(None);
        }
        let asking = Asking {
            part_of: Some(&self.spec),
            usual: &plan.judge,
            may_run: !self.no_programs,
            gates: true,
        };
        self.judge.open(&asking, printer)
    }

    fn environment(&self, judge: Option<&Opened>) -> Result<Environment, Failure> {
        let diff = match &self.diff_file {
            None => None,
            Some(path) => {
                let text = fs::read_to_string(path).map_err(|error| {
                    Failure::usage(format!("failed to read {}: {error}", path.display()))
                })?;
                Some(Arc::from(text))
            }
        };
        Ok(Environment {
            workspace: self.workspace.clone(),
            diff,
            artifacts: self.artifact_dir.clone(),
            may_run: !self.no_programs,
            judge: judge.map(|opened| Arc::clone(&opened.client) as Arc<dyn Judge>),
            findings: judge.map(|_| Arc::new(ByRules::default()) as Arc<dyn Findings>),
        })
    }

    fn grade(
        &self,
        inputs: &[Input],
        grading: &Grading<'_>,
        judge: Option<&Opened>,
        printer: &Printer,
    ) -> Result<Vec<Graded>, Failure> {
        let options = self.reading.options();
        let reading = Reading {
            grading,
            options: &options,
            verbosity: printer.verbosity,
            keeps_traces: self.keeps_traces(),
        };
        let progress = Progress::new(inputs.len(), printer.verbosity);
        let work = || grade_all(inputs, &reading, self.fail_fast, || progress.bar.inc(1));
        // Whoever waits for a judge needs no core.
        let waiting = judge.and_then(|judge| {
            let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
            NonZeroUsize::new(judge.concurrency.max(cores))
        });
        let graded = match self.jobs.or(waiting) {
            None => work(),
            Some(n) => rayon::ThreadPoolBuilder::new()
                .num_threads(n.get())
                .build()
                .map_err(|error| Failure::usage(format!("failed to start {n} threads: {error}")))?
                .install(work),
        };
        progress.finish();
        Ok(graded)
    }

    /// Puts the results of all files together. Whether all could be read.
    fn gather(
        &self,
        plan: &Plan,
        grading: &Grading<'_>,
        graded: Vec<Graded>,
        printer: &mut Printer,
    ) -> Result<(RunResult, bool), Stop> {
        let (mut outcomes, mut unpaired, mut foreign) = (Vec::new(), Vec::new(), 0);
        let mut unread = false;
        for one in graded {
            one.findings.print(printer)?;
            unread |= one.skipped > 0;
            foreign += u64::from(one.is_foreign);
            outcomes.extend(one.outcomes);
            unpaired.extend(one.unpaired);
        }
        let notes = notes(plan, &unpaired, foreign);
        Ok((grading.finish(outcomes, notes), unread))
    }

    fn dump(
        &self,
        result: &mut RunResult,
        directory: &std::path::Path,
        printer: &mut Printer,
    ) -> Result<(), Stop> {
        let written = dump::write(&result.outcomes, directory).map_err(|error| {
            Failure::usage(format!("failed to write to {}: {error}", directory.display()))
        })?;
        if !self.include_trace {
            result.outcomes.iter_mut().for_each(|outcome| outcome.trace = None);
        }
        if printer.verbosity > Verbosity::Quiet {
            let traces = human::things(written as u64, "trace");
            let words = format!("{traces} written to {}", directory.display());
            printer.notice(&Line::of(style::DIM, &words))?;
        }
        Ok(())
    }

    fn report(
        &self,
        result: &RunResult,
        started: Instant,
        printer: &mut Printer,
    ) -> Result<(), Stop> {
        let options = |colour| ReportOptions {
            colour,
            width: printer.width(),
            verbosity: printer.verbosity,
            // Whoever compares outputs does not want to compare clocks.
            elapsed: (colour && io::stdout().is_terminal()).then(|| started.elapsed()),
            generated_at: None,
        };
        for (id, path) in &self.reports {
            let failed = |error: io::Error| {
                Failure::usage(format!("failed to write {}: {error}", path.display()))
            };
            let mut file = fs::File::create(path).map(io::BufWriter::new).map_err(failed)?;
            written(id, result, &options(false), &mut file)?;
            file.flush().map_err(failed)?;
        }
        if self.format == "text" {
            let mut text = Vec::new();
            written("text", result, &options(true), &mut text)?;
            printer.raw(&String::from_utf8_lossy(&text))?;
            return Ok(());
        }
        let options = options(false);
        let mut out = printer.sink()?;
        written(self.format, result, &options, &mut out)?;
        out.flush()?;
        Ok(())
    }

    fn exit(&self, result: &RunResult, unread: bool) -> Exit {
        match result.summary.verdict {
            _ if self.exit_zero => Exit::Ok,
            Verdict::Fail => Exit::Failed,
            Verdict::Unknown(_) => Exit::Unread,
            Verdict::Pass if unread => Exit::Unread,
            Verdict::Pass => Exit::Ok,
        }
    }
}

fn written(
    id: &str,
    result: &RunResult,
    options: &ReportOptions,
    out: &mut dyn Write,
) -> Result<(), Stop> {
    let report =
        format_by_id(id).ok_or_else(|| Failure::usage(format!("there is no report {id}")))?;
    (report.write)(result, options, out).map_err(|error| match error {
        ReportError::Write(error) => error.into(),
        error => Failure::usage(format!("failed to write the {id} report: {error}")).into(),
    })
}

/// `key` alone, or `key=value` with any of the values `a,b`.
fn has_tag(tags: &BTreeMap<String, Vec<String>>, wanted: &str) -> bool {
    match wanted.split_once('=') {
        None => tags.contains_key(wanted) || tags.values().any(|v| v.iter().any(|v| v == wanted)),
        Some((key, values)) => tags
            .get(key)
            .is_some_and(|has| values.split(',').any(|value| has.iter().any(|v| v == value))),
    }
}

/// What a reader should know about traces that no case took.
fn notes(plan: &Plan, unpaired: &[(String, Unpaired)], foreign: u64) -> Vec<String> {
    const SHOWN: usize = 5;
    let mut notes = Vec::new();
    let none: Vec<&str> = unpaired
        .iter()
        .filter(|(_, why)| *why == Unpaired::None)
        .map(|(name, _)| name.as_str())
        .collect();
    if !none.is_empty() {
        let more = none.len().saturating_sub(SHOWN);
        let mut words = none[..none.len().min(SHOWN)].join(", ");
        if more > 0 {
            words += &format!(" and {more} more");
        }
        let traces = human::things(none.len() as u64, "trajectory");
        notes.push(format!("{traces} matched no case by id, name, file name or prompt: {words}"));
    }
    for (name, why) in unpaired {
        if let Unpaired::Ambiguous(cases) = why {
            let ids: Vec<&str> = cases
                .iter()
                .filter_map(|index| plan.cases.get(*index))
                .map(|case| case.id.as_str())
                .collect();
            notes.push(format!(
                "{name} has the prompt of several cases ({}): --stimulus says which",
                ids.join(", ")
            ));
        }
    }
    if foreign > 0 {
        notes.push(human::skipped_files(foreign));
    }
    notes
}

/// Nothing at all was graded: that is no pass, and no failure of the agent.
fn nothing_graded(result: &RunResult, unread: bool) -> Failure {
    let cases = human::things(result.summary.cases, "case");
    let message = format!("no trajectory was graded: {cases}, none with a trace");
    let failure = if unread { Failure::unread(message) } else { Failure::usage(message) };
    match result.notes.first() {
        Some(note) => failure.hint(note.clone()),
        None => failure.hint("toolmark formats lists what can be read"),
    }
}
