//! `toolmark lint`: reports all errors in specs before anything is graded.

use crate::args::FileArgs;
use crate::commands::serve;
use crate::exit::{Exit, Failure};
use crate::grading::linting::{LintFindings, LintFormat};
use crate::printer::Printer;
use clap::Args;
use std::io;
use std::path::{Path, PathBuf};
use toolmark_app::Stop;
use toolmark_app::check::config;
use toolmark_app::grade::spec::{check_dataset, lacks_dataset};
use toolmark_app::grade::{specs, types};
use toolmark_app::guard;
use toolmark_app::inputs::expand;
use toolmark_app::judge;
use toolmark_app::lint::{always_passing, unseen_tools};
use toolmark_app::pool::Emit;
use toolmark_app::reading::{Continuation, Runs};
use toolmark_base::SortedMap;
use toolmark_grade::LoadOptions;
use toolmark_grade::Plan;
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
        let mut findings = LintFindings::new(self.format, printer);
        for path in &specs {
            if let Some(plan) = lint(path, &options, &mut findings)? {
                if !runs.is_empty() {
                    findings.add_remarks(&unseen_tools(&plan, &runs))?;
                }
                if self.vacuity {
                    findings.add_remarks(&always_passing(&plan, &runs))?;
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

    fn params(&self) -> Result<SortedMap<String, String>, Failure> {
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
            Ok(Continuation::More)
        })?;
        walked.report_note(printer)?;
        Ok((all, walked.unread))
    }
}

/// Reports all problems of a spec, and returns its plan if there are none.
fn lint(
    path: &Path,
    options: &LoadOptions,
    findings: &mut LintFindings<'_>,
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
