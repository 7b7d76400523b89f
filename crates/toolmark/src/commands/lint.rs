//! `toolmark lint`: reports all errors in specs before anything is graded.

use crate::args::FileArgs;
use crate::commands::serve;
use crate::exit::{Exit, Failure};
use crate::grading::linting::{Findings, LintFormat};
use crate::printer::Printer;
use clap::Args;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use toolmark_app::Stop;
use toolmark_app::check::config;
use toolmark_app::grade::spec::{check_dataset, lacks_dataset};
use toolmark_app::grade::{specs, types};
use toolmark_app::guard;
use toolmark_app::inputs::expand;
use toolmark_app::judge;
use toolmark_app::pool::Emit;
use toolmark_app::reading::{Next, Runs};
use toolmark_config::did_you_mean;
use toolmark_grade::LoadOptions;
use toolmark_grade::vacuity::{self, FindingKind};
use toolmark_grade::{Case, Grading, Plan, Selection};
use toolmark_outcome::{Environment, Verdict};
use toolmark_report::lint::Level;
use toolmark_spec::load;
use toolmark_trace::Trajectory;

const EXAMPLES: &str = "\
Examples:
  toolmark lint evals/                                    every spec of a directory
  toolmark lint toolmark.yaml --traces runs/              also: tools that no trace calls
  toolmark lint toolmark.yaml --traces runs/ --vacuity    also: expectations that cannot fail
  toolmark lint evals/ --format sarif > lint.sarif        for code scanning";

/// Find errors in specs: keys, patterns, names, and checks that cannot fail
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Lint {
    /// Specs to check, or directories of them
    #[arg(required = true, value_name = "SPEC")]
    specs: Vec<PathBuf>,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    format: LintFormat,
    /// Traces to check tool names against
    #[arg(long, value_name = "TRACE", num_args = 1..)]
    traces: Vec<PathBuf>,
    /// Report graders that still pass when passing traces are altered
    #[arg(long, requires = "traces")]
    vacuity: bool,
    /// Treat warnings as errors
    #[arg(long)]
    strict: bool,
    /// Dataset with the cases: JSONL, JSON, CSV or Parquet
    #[arg(long, value_name = "FILE")]
    dataset: Option<PathBuf>,
    /// Grader type of a plugin: not run here, so unknown; may be given several times
    #[arg(long = "grader-type", value_name = "NAME")]
    grader_types: Vec<String>,
    /// Value for ${NAME} in the spec; may be given several times
    #[arg(long = "param", value_name = "NAME=VALUE")]
    params: Vec<String>,
    #[command(flatten)]
    files: FileArgs,
}

impl Lint {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let options = LoadOptions {
            params: self.params()?,
            dataset: self.dataset.clone(),
            grader_types: self.declared()?,
            is_lint: true,
            ..LoadOptions::default()
        };
        check_dataset(&options)?;
        let specs = specs::find(&self.specs)?;
        let (runs, unread) = self.traces(printer)?;
        let mut findings = Findings::new(self.format, printer);
        for path in &specs {
            if let Some(plan) = lint(path, &options, &mut findings)? {
                if !runs.is_empty() {
                    unseen_tools(&plan, &runs, &mut findings)?;
                }
                if self.vacuity {
                    vacuous(&plan, &runs, &mut findings)?;
                }
            }
        }
        let unread_specs = findings.unread;
        let (errors, warnings) = findings.finish(specs.len())?;
        let unread = unread || unread_specs > 0;
        Ok(match (errors - unread_specs, warnings) {
            (1.., _) => Exit::Usage,
            (0, 1..) if self.strict => Exit::Usage,
            _ if unread => Exit::Unread,
            _ => Exit::Ok,
        })
    }

    /// The grader types declared on the command line and in the files beside the specs.
    fn declared(&self) -> Result<Vec<String>, Failure> {
        let mut all = self.grader_types.clone();
        for spec in &self.specs {
            all = types::declared(spec, &all)?;
        }
        Ok(all)
    }

    fn params(&self) -> Result<BTreeMap<String, String>, Failure> {
        self.params
            .iter()
            .map(|text| match text.split_once('=') {
                Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
                None => Err(Failure::usage(format!("--param {text}: write NAME=VALUE"))),
            })
            .collect()
    }

    /// Reads the trajectories to check against. Also returns whether something could not be read.
    fn traces(&self, printer: &mut Printer) -> io::Result<(Vec<Trajectory>, bool)> {
        let mut all = Vec::new();
        let work = |runs: &mut Runs<'_>, emit: &mut Emit<'_, Trajectory>| {
            let _ = runs.bare().try_for_each(emit);
        };
        let reader = self.files.reader(printer);
        let walked = reader.stream(&expand(&self.traces), printer, work, |run| {
            all.extend(run);
            Ok(Next::More)
        })?;
        walked.report_note(printer)?;
        Ok((all, walked.unread))
    }
}

/// Reports all problems of a spec, and returns its plan if there are none.
fn lint(
    path: &Path,
    options: &LoadOptions,
    findings: &mut Findings<'_>,
) -> io::Result<Option<Plan>> {
    let loaded = match load(path, options) {
        Ok(loaded) => loaded,
        Err(error) => {
            findings.add_unread(error)?;
            return Ok(None);
        }
    };
    if options.dataset.is_some() && lacks_dataset(&loaded) {
        findings.unread += 1;
    }
    let source = &loaded.source;
    findings.add(source, &loaded.problems)?;
    for included in &loaded.includes {
        findings.add(&included.source, &included.problems)?;
    }
    findings.add(source, &config::lint(source))?;
    findings.add(source, &judge::config::lint(path, source))?;
    findings.add(source, &guard::lint(path, source))?;
    findings.add(source, &serve::evaluators::lint(path, source))?;
    Ok(loaded.plan)
}

/// Reports graders that pass for every altered copy of a passing trace.
fn vacuous(plan: &Plan, runs: &[Trajectory], findings: &mut Findings<'_>) -> io::Result<()> {
    let grading = Grading::new(plan, None, Environment::default(), Selection::default());
    let mut seen = BTreeSet::new();
    let tools = called_tools(runs);
    for run in runs {
        let Ok(result) = grading.grade(run) else { continue };
        if result.verdict != Verdict::Pass || !seen.insert(result.case.raw().to_owned()) {
            continue;
        }
        let case = match &plan.every {
            Some(every) => every,
            None => match plan.cases.get(result.case_index) {
                Some(case) => case,
                None => continue,
            },
        };
        for finding in vacuity::probe(case, run, &Environment::default(), &tools) {
            let planned = case.graders.iter().find(|planned| planned.name == finding.grader);
            let place = planned.map_or(&case.place, |planned| &planned.place);
            let item = finding.item.map(|item| format!(" {item}")).unwrap_or_default();
            let words =
                format!("case {}: {}{item}: {}", result.case.raw(), finding.grader, finding.words);
            let (level, code) = match finding.kind {
                FindingKind::NotProbed => (Level::Note, "not-probed"),
                FindingKind::CannotFail => (Level::Warning, "vacuous-grader"),
            };
            findings.add_at(place, level, code, &words, None)?;
        }
    }
    Ok(())
}

fn cases(plan: &Plan) -> impl Iterator<Item = &Case> {
    plan.cases.iter().chain(plan.every.as_deref())
}

/// The tools called in the traces, under their recorded names.
fn called_tools(runs: &[Trajectory]) -> BTreeSet<String> {
    let calls = runs.iter().flat_map(Trajectory::flatten).flat_map(|run| &run.calls);
    calls.map(|call| call.name.full().into_owned()).collect()
}

/// Reports tool names of the spec that occur in no trace.
fn unseen_tools(plan: &Plan, runs: &[Trajectory], findings: &mut Findings<'_>) -> io::Result<()> {
    let mut tools = called_tools(runs);
    for run in runs.iter().flat_map(Trajectory::flatten) {
        tools.extend(run.calls.iter().map(|call| call.name.canonical().tool));
        // A tool that was offered and never called is spelled right.
        tools.extend(run.tools.iter().flatten().map(|tool| tool.name.get().into_owned()));
    }
    let mut said = BTreeSet::new();
    for case in cases(plan) {
        for planned in &case.graders {
            for mention in planned.grader.mentions() {
                if tools.iter().any(|tool| mention.means(tool))
                    || !said.insert(mention.word.clone())
                {
                    continue;
                }
                let words = format!("no trace calls the tool {}", mention.word);
                let near = did_you_mean(&mention.word, tools.iter().map(String::as_str));
                let help = near.map(|near| format!("did you mean {near}?"));
                let level = Level::Warning;
                findings.add_at(&planned.place, level, "unseen-tool", &words, help.as_deref())?;
            }
        }
    }
    Ok(())
}
