//! Remarks about specs that follow from traces.

use toolmark_base::SortedSet;
use toolmark_config::{Problem, SourceText, did_you_mean};
use toolmark_grade::vacuity::{self, FindingKind};
use toolmark_grade::{Case, Grading, Plan, RunSelection};
use toolmark_hosts::toolset::{CLASS_PREFIX, ToolClass};
use toolmark_match::looks_alike;
use toolmark_outcome::{Environment, SpecPlace, Verdict};
use toolmark_redact::Redactor;
use toolmark_report::lint::{LintLevel, LintNote, LintProblem};
use toolmark_trace::Trajectory;

/// A remark about a place of a spec.
#[derive(Debug, Clone)]
pub struct LintRemark {
    /// The place.
    pub place: SpecPlace,
    /// Severity.
    pub level: LintLevel,
    /// Code of the remark.
    pub code: &'static str,
    /// Message.
    pub words: String,
    /// Suggestion.
    pub help: Option<String>,
}

/// Finds graders that pass for every altered copy of a passing trace.
#[must_use]
pub fn always_passing(plan: &Plan, runs: &[Trajectory]) -> Vec<LintRemark> {
    let mut remarks = Vec::new();
    let grading = Grading::new(plan, None, Environment::default(), RunSelection::default());
    let mut seen = SortedSet::new();
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
                FindingKind::NotProbed => (LintLevel::Note, "not-probed"),
                FindingKind::CannotFail => (LintLevel::Warning, "vacuous-grader"),
            };
            remarks.push(LintRemark { place: place.clone(), level, code, words, help: None });
        }
    }
    remarks
}

fn cases(plan: &Plan) -> impl Iterator<Item = &Case> {
    plan.cases.iter().chain(plan.every.as_deref())
}

/// The tools called in the traces, under their recorded names.
fn called_tools(runs: &[Trajectory]) -> SortedSet<String> {
    let calls = runs.iter().flat_map(Trajectory::flatten).flat_map(|run| &run.calls);
    calls.map(|call| call.name.full().into_owned()).collect()
}

/// Finds tool names of the spec that occur in no trace.
#[must_use]
pub fn unseen_tools(plan: &Plan, runs: &[Trajectory]) -> Vec<LintRemark> {
    let mut remarks = Vec::new();
    let mut tools = called_tools(runs);
    for run in runs.iter().flat_map(Trajectory::flatten) {
        tools.extend(run.calls.iter().map(|call| call.name.canonical().tool));
        // A tool that was offered and never called is spelled right.
        tools.extend(run.tools.iter().flatten().map(|tool| tool.name.get().into_owned()));
    }
    let mut said = SortedSet::new();
    for case in cases(plan) {
        for planned in &case.graders {
            for mention in planned.grader.mentions() {
                if tools.iter().any(|tool| mention.means(tool))
                    || !said.insert(mention.word.clone())
                {
                    continue;
                }
                let near = meant(&mention.word, &tools);
                // What must not happen is rightly absent, unless it has another name here.
                if mention.is_prohibited && near.is_none() {
                    continue;
                }
                let words = match mention.is_prohibited {
                    true => format!("{} never matched in these traces", mention.word),
                    false => format!("no trace calls the tool {}", mention.word),
                };
                let help = near.map(|near| format!("did you mean {near}?"));
                let level = LintLevel::Warning;
                let (place, code) = (planned.place.clone(), "unseen-tool");
                remarks.push(LintRemark { place, level, code, words, help });
            }
        }
    }
    remarks
}

/// Returns the called tool that may be meant by a name that no trace has: one that looks like it,
/// is spelled almost like it, or is the same tool of another host.
fn meant(word: &str, tools: &SortedSet<String>) -> Option<String> {
    let names = || tools.iter().map(String::as_str);
    let alike = names().find(|name| looks_alike(word, name));
    if let Some(near) = alike.or_else(|| did_you_mean(word, names())) {
        return Some(near.to_owned());
    }
    let class = ToolClass::from_word(word).or_else(|| ToolClass::of_name(word))?;
    let of_class = names().find(|name| class.has(name))?;
    Some(format!("{of_class}, or {CLASS_PREFIX}{class} for every such tool"))
}

/// Converts a problem for the JSON output.
#[must_use]
pub fn lint_problem(source: &SourceText, problem: &Problem, redactor: Redactor) -> LintProblem {
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let place = |byte: u32| {
        let place = source.place(byte);
        (number(place.line), number(place.column))
    };
    let start = problem.span.map(|span| place(span.start));
    let end = problem.span.map(|span| place(span.end));
    let notes = problem.notes.iter().map(|(span, words)| {
        let (line, column) = place(span.start);
        LintNote { line, column, message: redactor.apply(words.as_str()) }
    });
    LintProblem {
        file: redactor.name(source.name.clone().into()),
        line: start.map(|(line, _)| line),
        column: start.map(|(_, column)| column),
        end_line: end.map(|(line, _)| line),
        end_column: end.map(|(_, column)| column),
        code: problem.code,
        severity: if problem.is_error() { LintLevel::Error } else { LintLevel::Warning },
        message: redactor.apply(&problem.message),
        help: problem.help.as_ref().map(|help| redactor.apply(help)),
        notes: notes.collect(),
    }
}
