//! `toolmark grade`: grades traces against a spec of any dialect.

use crate::args::{GradedRun, InputArgs, ReportArgs, format_of, report_of};
use crate::commands::watch::watch;
use crate::exit::Exit;
use crate::grading::options::{GraderArgs, SpecArgs};
use crate::grading::select::CaseArgs;
use crate::printer::Printer;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Instant;
use toolmark_app::grade::action::{GradeOptions, GradedAgain, Prepared};
use toolmark_app::grade::stream::StreamTarget;
use toolmark_app::{Stop, compare};
use toolmark_compare::{ComparedRun, Comparison};
use toolmark_judge::JudgeClient;
use toolmark_outcome::{Printable, RunResult, Verdict};
use toolmark_report::RowContent;

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
    /// Grade again whenever the spec or a trace changes
    #[arg(long)]
    watch: bool,
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

impl Grade {
    pub(crate) fn run(mut self, printer: &mut Printer) -> Result<Exit, Stop> {
        if self.watch {
            let mut paths = self.input.traces.clone();
            paths.push(self.spec.clone());
            return watch(&paths, printer);
        }
        let started = Instant::now();
        if self.rows == RowKind::Graders {
            self.report.set_rows(RowContent::Graders, "graders")?;
        }
        let baseline = self.baseline.as_deref();
        let baseline =
            baseline.map(|run| compare::read_baseline(run, printer.redactor)).transpose()?;
        let options = self.options();
        if let Some((spec, store)) = options.recorded_run()? {
            let result = match options.grade_again(&spec, &store, printer)? {
                GradedAgain::Result(result) => *result,
                GradedAgain::Questions(judge) => return self.explain(&judge, printer),
            };
            let verdict = self.finish(result, baseline.as_ref(), started, printer)?;
            return Ok(self.exit(verdict, false));
        }
        let prepared = options.prepare(printer)?;
        let gradings = prepared.gradings();
        let graded = match self.streams(&prepared, printer) {
            Some(targets) => match options.stream(&prepared, &gradings, &targets, printer)? {
                Some(mut done) => {
                    let outcomes = &mut done.outcomes;
                    self.report.write_streams(&targets, &done.run, outcomes, started, printer)?;
                    Some((done.run.summary.verdict, done.is_unread))
                }
                None => None,
            },
            None => match options.whole(&prepared, &gradings, printer)? {
                Some((result, is_unread)) => {
                    Some((self.finish(result, baseline.as_ref(), started, printer)?, is_unread))
                }
                None => None,
            },
        };
        match (graded, &prepared.judge) {
            (Some((verdict, is_unread)), _) => Ok(self.exit(verdict, is_unread)),
            (None, Some(judge)) => self.explain(&judge.client, printer),
            (None, None) => Ok(Exit::Ok),
        }
    }

    fn options(&self) -> GradeOptions {
        GradeOptions {
            spec: self.spec.clone(),
            selection: self.selection.selection(),
            loading: self.loading.options(),
            graders: self.graders.options(),
            traces: self.input.named(),
            jobs: self.input.files.jobs,
            format: self.input.files.format(),
            stimulus: self.stimulus.clone(),
            workspace: self.workspace.clone(),
            diff_file: self.diff_file.clone(),
            artifact_dir: self.artifact_dir.clone(),
            dump_traces: self.dump_traces.clone(),
            include_trace: self.include_trace,
            keeps_traces: self.include_trace || self.dump_traces.is_some(),
            timelines: self.report.wants("html"),
            fail_fast: self.fail_fast,
        }
    }

    fn exit(&self, verdict: Verdict, is_unread: bool) -> Exit {
        if self.exit_zero { Exit::Ok } else { Exit::of(verdict, is_unread) }
    }

    fn explain(&self, judge: &JudgeClient, printer: &mut Printer) -> Result<Exit, Stop> {
        self.graders.judge.explain(judge, printer)?;
        Ok(Exit::Ok)
    }

    /// Returns the report targets if every report can be streamed: outcomes of a single spec
    /// without cases can be, but sums over cases need all outcomes.
    fn streams(&self, prepared: &Prepared, printer: &Printer) -> Option<Vec<StreamTarget>> {
        let [(_, plan)] = prepared.plans.as_slice() else { return None };
        let is_simple = plan.every.is_none()
            && self.rows == RowKind::Outcomes
            && plan.aggregates.is_empty()
            && self.dump_traces.is_none()
            && self.baseline.is_none();
        if is_simple { self.report.streams(printer) } else { None }
    }

    /// Reports the result, and compares it with a baseline.
    fn finish(
        &self,
        result: RunResult<Printable>,
        baseline: Option<&ComparedRun>,
        started: Instant,
        printer: &mut Printer,
    ) -> Result<Verdict, Stop> {
        let comparison = baseline.map(|before| compare::with_baseline(before, &result));
        let comparison = comparison.transpose()?;
        let verdict = comparison.as_ref().map_or(result.summary.verdict, Comparison::verdict);
        self.report.write(&GradedRun { result, comparison }, started, printer)?;
        Ok(verdict)
    }
}
