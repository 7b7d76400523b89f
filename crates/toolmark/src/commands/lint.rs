//! `toolmark lint`: all errors in specs, before anything is graded.

use crate::Stop;
use crate::args::FileArgs;
use crate::checking::config;
use crate::exit::{Exit, Failure};
use crate::grading::spec;
use crate::guarding;
use crate::human;
use crate::inputs::expand;
use crate::judging;
use crate::pool::Emit;
use crate::printer::{Line, Printer, Verbosity, style};
use crate::reading::{Next, Runs};
use clap::Args;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use toolmark_config::did_you_mean;
use toolmark_grade::LoadOptions;
use toolmark_grade::vacuity::{self, FindingKind};
use toolmark_grade::{Case, Grading, Plan, Selection};
use toolmark_outcome::{Environment, SpecPlace, Verdict};
use toolmark_trace::Trajectory;

const EXAMPLES: &str = "\
Examples:
  toolmark lint evals/*.yaml
  toolmark lint toolmark.yaml --traces runs/              also: tools that no trace calls
  toolmark lint toolmark.yaml --traces runs/ --vacuity    also: expectations that cannot fail";

/// Find errors in specs: keys, patterns, names, and checks that cannot fail
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Lint {
    /// Specs to check
    #[arg(required = true, value_name = "SPEC")]
    specs: Vec<PathBuf>,
    /// Traces to check tool names against
    #[arg(long, value_name = "TRACE", num_args = 1..)]
    traces: Vec<PathBuf>,
    /// Report graders that still pass when passing traces are altered
    #[arg(long, requires = "traces")]
    vacuity: bool,
    /// Treat warnings as errors
    #[arg(long)]
    strict: bool,
    /// Value for ${NAME} in the spec; may be given several times
    #[arg(long = "param", value_name = "NAME=VALUE")]
    params: Vec<String>,
    #[command(flatten)]
    files: FileArgs,
}

impl Lint {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let options = LoadOptions { params: self.params()?, ..LoadOptions::default() };
        let (runs, unread) = self.traces(printer)?;
        let (mut errors, mut warnings) = (0, 0);
        for path in &self.specs {
            let spec = spec::open(path, &options, printer)?;
            errors += spec.errors;
            warnings += spec.warnings;
            if let Some(loaded) = &spec.loaded {
                errors += config::lint(&loaded.source, printer)?;
                errors += judging::config::lint(path, &loaded.source, printer)?;
                let (wrong, doubtful) = guarding::lint(path, &loaded.source, printer)?;
                errors += wrong;
                warnings += doubtful;
            }
            let Some(plan) = spec.loaded.and_then(|loaded| loaded.plan) else { continue };
            if !runs.is_empty() {
                warnings += unseen_tools(&plan, &runs, printer)?;
            }
            if self.vacuity {
                warnings += self.vacuous(&plan, &runs, printer)?;
            }
        }
        if printer.verbosity > Verbosity::Quiet {
            let specs = human::things(self.specs.len() as u64, "spec");
            let counts = format!(
                "{specs}: {}, {}",
                human::things(errors as u64, "error"),
                human::things(warnings as u64, "warning")
            );
            let tone = if errors > 0 { style::BAD } else { style::PLAIN };
            printer.line(&Line::of(tone, &counts))?;
        }
        Ok(match (errors, warnings) {
            (1.., _) => Exit::Usage,
            (0, 1..) if self.strict => Exit::Usage,
            _ if unread => Exit::Unread,
            _ => Exit::Ok,
        })
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

    /// The trajectories to check against, and whether something could not be read.
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
        walked.print_note(printer)?;
        Ok((all, walked.unread))
    }

    /// Graders that no change of a passing trace makes fail.
    fn vacuous(
        &self,
        plan: &Plan,
        runs: &[Trajectory],
        printer: &mut Printer,
    ) -> io::Result<usize> {
        let grading = Grading::new(plan, None, Environment::default(), Selection::default());
        let mut seen = BTreeSet::new();
        let mut count = 0;
        for run in runs {
            let Ok(result) = grading.grade(run) else { continue };
            if result.verdict != Verdict::Pass || !seen.insert(result.case.clone()) {
                continue;
            }
            let case = match &plan.every {
                Some(every) => every,
                None => match plan.cases.get(result.case_index) {
                    Some(case) => case,
                    None => continue,
                },
            };
            for finding in vacuity::probe(case, run, &Environment::default()) {
                let planned = case.graders.iter().find(|planned| planned.name == finding.grader);
                let place = planned.map_or(&case.place, |planned| &planned.place);
                let item = finding.item.map(|item| format!(" {item}")).unwrap_or_default();
                let words =
                    format!("case {}: {}{item}: {}", result.case, finding.grader, finding.words);
                let code = match finding.kind {
                    FindingKind::NotProbed => "not-probed",
                    _ => "vacuous-grader",
                };
                count += usize::from(finding.kind != FindingKind::NotProbed);
                warn(printer, place, code, &words, None)?;
            }
        }
        Ok(count)
    }
}

fn cases(plan: &Plan) -> impl Iterator<Item = &Case> {
    plan.cases.iter().chain(plan.every.as_deref())
}

/// Names in the spec that no trace has.
fn unseen_tools(plan: &Plan, runs: &[Trajectory], printer: &mut Printer) -> io::Result<usize> {
    let mut tools = BTreeSet::new();
    for run in runs.iter().flat_map(Trajectory::flatten) {
        for call in &run.calls {
            tools.insert(call.name.full().into_owned());
            tools.insert(call.name.canonical().tool);
        }
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
                warn(printer, &planned.place, "unseen-tool", &words, help.as_deref())?;
            }
        }
    }
    Ok(said.len())
}

fn warn(
    printer: &mut Printer,
    place: &SpecPlace,
    code: &str,
    words: &str,
    help: Option<&str>,
) -> io::Result<()> {
    if printer.verbosity == Verbosity::Quiet {
        return Ok(());
    }
    let at = format!("{}:{}:{}: ", place.file, place.line, place.column);
    let mut line = Line::of(style::WARN.bold(), &format!("warning[{code}]"))
        .with(style::PLAIN, ": ")
        .with(style::STRONG, &at)
        .with(style::PLAIN, &printer.veil.shown(words));
    if let Some(help) = help {
        line.push(style::DIM, &format!(" ({help})"));
    }
    printer.notice(&line)
}
