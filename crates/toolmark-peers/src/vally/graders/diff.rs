//! Three checks of the changes that an agent made: whether the diff of the workspace
//! contains something, does not contain it, or is empty.
//!
//! The diff is the one that the caller provides, otherwise the one in the
//! trace. Without a diff the verdict is unknown.

use super::file::{line_of, negated};
use crate::vally::graders::workspace::Untold;
use schemars::JsonSchema;
use serde::Deserialize;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use toolmark_config::Spanned;
use toolmark_grade::{
    AnswerCost, Determinism, GradeScope, Grader, GraderInfo, Reference, Taxonomy, schema_of,
};
use toolmark_match::Building;
use toolmark_outcome::Profile;
use toolmark_outcome::Subject;
use toolmark_outcome::{Cause, Outcome};
use toolmark_outcome::{Evidence, EvidenceRole, excerpt};
use toolmark_pattern::{Pattern, StepLimit};

/// Maximum number of changed files listed.
const LISTED: usize = 20;

/// Text that the diff must or must not contain: one of `pattern` and `value`.
#[derive(Debug, Deserialize, JsonSchema)]
struct Containing {
    /// A regular expression, which may match anywhere in the diff.
    #[serde(default)]
    pattern: Option<Spanned<String>>,
    /// A text, case-sensitive.
    #[serde(default)]
    value: Option<Spanned<String>>,
    /// Inverts the check.
    #[serde(default)]
    negate: Option<Spanned<bool>>,
}

/// No configuration.
#[derive(Debug, Deserialize, JsonSchema)]
struct DiffNoConfig {}

enum DiffExpectation {
    Text(String),
    Pattern(Pattern),
}

struct DiffContains {
    wanted: DiffExpectation,
    negate: bool,
}

struct DiffEmpty;

const TAXONOMY: Taxonomy = Taxonomy {
    determinism: Determinism::Environment,
    cost: AnswerCost::Low,
    reference: Reference::Free,
    scope: GradeScope::End,
};

macro_rules! diff_grader {
    ($static:ident, $id:literal, $summary:literal, $config:ty, $build:expr, $example:literal, $docs:literal) => {
        pub(crate) static $static: GraderInfo = GraderInfo {
            id: $id,
            aliases: &[],
            origin: "vally",
            summary: $summary,
            docs: concat!(
                $docs,
                "\n\nThe diff is a unified diff of the workspace against what it was before the ",
                "agent ran: the one given on the command line, else the one the trace keeps. ",
                "Without either the answer is unknown. A diff is of the whole run: of one turn of ",
                "several it says nothing, and the answer is unknown too."
            ),
            example: concat!("type: ", $id, $example),
            taxonomy: TAXONOMY,
            profiles: &[Profile::Vally],
            schema: schema_of::<$config>,
            build: |building| {
                let config = building.read::<$config>()?;
                let build: fn($config, &mut Building<'_>) -> Option<Arc<dyn Grader>> = $build;
                build(config, building)
            },
        };
    };
}

diff_grader!(
    DIFF_CONTAINS,
    "diff-contains",
    "checks that the agent's changes contain a text or match a pattern",
    Containing,
    |config, building| containing(config, false, building),
    "\nconfig:\n  pattern: '^\\+.*export function'",
    "Passes if the diff contains the text `value`, or matches the regular expression `pattern`. All of \
     the diff is looked at, removed lines and headers included: begin a pattern with `(?m)^\\+` \
     to ask for added lines."
);
diff_grader!(
    DIFF_NOT_CONTAINS,
    "diff-not-contains",
    "checks that the agent's changes do not contain a text or pattern",
    Containing,
    |config, building| containing(config, true, building),
    "\nconfig:\n  value: console.log",
    "Passes if the diff neither contains the text `value` nor matches the regular expression `pattern`. \
     All of the diff is looked at, removed lines and headers included."
);
diff_grader!(
    DIFF_EMPTY,
    "diff-empty",
    "checks that the agent changed nothing",
    DiffNoConfig,
    |_, _| Some(Arc::new(DiffEmpty)),
    "",
    "Passes if the agent left the workspace as it was. It has no configuration."
);

fn containing(
    config: Containing,
    not: bool,
    building: &mut Building<'_>,
) -> Option<Arc<dyn Grader>> {
    let negate = negated(not, config.negate, building);
    let span = building.config.span;
    let wanted = match (config.pattern, config.value) {
        (Some(pattern), None) => DiffExpectation::Pattern(building.pattern(&pattern)?),
        (None, Some(value)) if value.value.is_empty() => {
            building.reject(value.span, "empty-text", "every diff has the empty text");
            return None;
        }
        (None, Some(value)) => DiffExpectation::Text(value.value),
        (None, None) => {
            building.reject(span, "missing-key", "either pattern or value is needed");
            return None;
        }
        (Some(pattern), Some(_)) => {
            let message = "pattern and value cannot both be given";
            building.reject(pattern.span, "contradiction", message);
            return None;
        }
    };
    Some(Arc::new(DiffContains { wanted, negate: negate? }))
}

/// Returns the diff of the graded run, or the reason why there is none.
fn diff<'a>(subject: &'a Subject<'_>) -> Result<Cow<'a, str>, Untold> {
    let trajectory = subject.view.trajectory();
    if subject.view.turn_index().is_some() && trajectory.user_turns > 1 {
        return Err(Untold::missing("the diff is of the whole run, not of one turn"));
    }
    if let Some(diff) = &subject.environment.diff {
        return Ok(Cow::Borrowed(diff));
    }
    match &trajectory.stated.diff {
        Some(diff) => Ok(diff.plain()),
        None => Err(Untold::missing("there is no diff of the workspace")),
    }
}

impl Grader for DiffContains {
    fn reads_trace(&self) -> bool {
        false
    }

    fn grade(&self, subject: &Subject<'_>) -> Outcome {
        let diff = match diff(subject) {
            Ok(diff) => diff,
            Err(untold) => return untold.into(),
        };
        match self.wanted.find(&diff) {
            Err(_) => {
                let reason = format!("{} took too many steps on the diff", self.wanted);
                Outcome::unknown(Cause::Limit, reason)
            }
            Ok(None) => {
                let reason = format!("{} NOT found in the diff", self.wanted);
                let role = if self.negate { EvidenceRole::Context } else { EvidenceRole::Missing };
                let files = changed(&diff);
                let text = match files.len() {
                    0 => "the diff is empty".to_owned(),
                    _ => format!("the diff changes {}", super::file::listed(&files)),
                };
                Outcome::binary(self.negate, reason).with_evidence([Evidence::words(role, text)])
            }
            Ok(Some(at)) => {
                let (line, words) = line_of(&diff, at);
                let place = match file_at(&diff, at) {
                    Some(file) => format!("line {line} of the diff, in {file}"),
                    None => format!("line {line} of the diff"),
                };
                let reason = format!("{} found in the diff", self.wanted);
                let role =
                    if self.negate { EvidenceRole::Violation } else { EvidenceRole::Matched };
                Outcome::binary(!self.negate, reason)
                    .with_evidence([Evidence::words(role, place).with_excerpt(words)])
            }
        }
    }
}

impl Grader for DiffEmpty {
    fn reads_trace(&self) -> bool {
        false
    }

    fn grade(&self, subject: &Subject<'_>) -> Outcome {
        let diff = match diff(subject) {
            Ok(diff) => diff,
            Err(untold) => return untold.into(),
        };
        if diff.trim().is_empty() {
            return Outcome::binary(true, "the workspace was not changed");
        }
        let files = changed(&diff);
        let reason = match files.len() {
            0 => "the workspace was changed".to_owned(),
            _ => format!("changed: {}", super::file::listed(&files)),
        };
        Outcome::binary(false, reason).with_metric("files", files.len()).with_evidence(
            files.iter().take(LISTED).map(|file| Evidence::words(EvidenceRole::Violation, file)),
        )
    }
}

/// Returns the file of a diff header line.
fn header(line: &str) -> Option<&str> {
    let name = line.strip_prefix("diff --git ")?;
    // `a/name b/name`: the two differ only where the file was moved.
    Some(name.rsplit_once(" b/").map_or(name, |(_, name)| name))
}

/// Returns the files that a diff changes, in diff order.
fn changed(diff: &str) -> Vec<String> {
    let mut files: Vec<String> = diff.lines().filter_map(header).map(str::to_owned).collect();
    if files.is_empty() {
        // A diff of plain `diff -u`; a removed file has no new name.
        let new = diff.lines().filter_map(|line| line.strip_prefix("+++ "));
        let name = |line: &str| {
            let name = line.split('\t').next().unwrap_or(line);
            name.strip_prefix("b/").unwrap_or(name).to_owned()
        };
        files = new.map(name).collect();
    }
    files
}

/// Returns the file whose changes contain this byte of a diff.
fn file_at(diff: &str, at: usize) -> Option<String> {
    let end = diff.get(at..)?.find('\n').map_or(diff.len(), |line_end| at + line_end);
    changed(diff.get(..end)?).pop()
}

impl DiffExpectation {
    fn find(&self, diff: &str) -> Result<Option<usize>, StepLimit> {
        match self {
            Self::Text(text) => Ok(diff.find(text.as_str())),
            Self::Pattern(pattern) => Ok(pattern.find(diff)?.map(|range| range.start)),
        }
    }
}

impl fmt::Display for DiffExpectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "\"{}\"", excerpt(text)),
            Self::Pattern(pattern) => write!(f, "/{pattern}/"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{build, complaints, runs, vally};
    use crate::vally::graders::testing::{grade_in, grade_run, small_run};
    use serde_json::json;
    use toolmark_outcome::Environment;
    use toolmark_outcome::TrajectoryView;
    use toolmark_outcome::Verdict;
    use toolmark_trace::Payload;

    const DIFF: &str = "diff --git a/src/a.ts b/src/a.ts\n\
        --- a/src/a.ts\n+++ b/src/a.ts\n@@ -1 +1 @@\n-old line\n+new line\n\
        diff --git a/b.md b/b.md\n--- a/b.md\n+++ b/b.md\n@@ -1 +1 @@\n-x\n+Title\n";

    fn with(diff: &str) -> Environment {
        Environment { diff: Some(diff.into()), ..Environment::default() }
    }

    #[test]
    fn verdicts() {
        for (id, config, diff, verdict, reason) in [
            ("diff-contains", json!({"value": "new line"}), DIFF, Verdict::Pass, "\"new line\""),
            ("diff-contains", json!({"value": "New"}), DIFF, Verdict::Fail, "NOT found"),
            ("diff-contains", json!({"pattern": "\\+new"}), DIFF, Verdict::Pass, "/\\+new/"),
            ("diff-contains", json!({"pattern": "x", "negate": true}), DIFF, Verdict::Fail, "/x/"),
            ("diff-contains", json!({"value": "a"}), "", Verdict::Fail, "NOT found"),
            ("diff-not-contains", json!({"value": "old"}), DIFF, Verdict::Fail, "\"old\" found"),
            ("diff-not-contains", json!({"value": "zzz"}), DIFF, Verdict::Pass, "NOT found"),
            ("diff-empty", json!({}), " \n", Verdict::Pass, "not changed"),
            ("diff-empty", json!({}), DIFF, Verdict::Fail, "src/a.ts, b.md"),
            ("diff-empty", json!({}), "+++ b/x y\t2026", Verdict::Fail, "changed: x y"),
        ] {
            let outcome = grade_in(id, config.clone(), &with(diff));
            assert_eq!(outcome.verdict, verdict, "{id} {config}");
            assert!(
                outcome.reason.raw().contains(reason),
                "{id} {config} {}",
                outcome.reason.raw()
            );
        }
    }

    #[test]
    fn evidence_names_the_file() {
        for (value, place) in [
            ("Title", "line 12 of the diff, in b.md"),
            ("new line", "line 6 of the diff, in src/a.ts"),
            ("diff --git a/b", "line 7 of the diff, in b.md"),
        ] {
            let outcome = grade_in("diff-contains", json!({"value": value}), &with(DIFF));
            assert_eq!(outcome.evidence[0].text, place);
        }
    }

    #[test]
    fn without_a_diff_it_is_unknown() {
        for (id, config) in [
            ("diff-contains", json!({"value": "a"})),
            ("diff-not-contains", json!({"value": "a"})),
            ("diff-empty", json!({})),
        ] {
            let outcome = grade_in(id, config, &Environment::default());
            assert_eq!(outcome.verdict, Verdict::Unknown(Cause::MissingEvidence), "{id}");
        }
    }

    #[test]
    fn the_diff_of_the_trace_is_used_where_none_is_given() {
        let mut run = small_run();
        run.stated.diff = Some(Payload::text("diff --git a/x b/x\n".into()));
        let ask = |environment: &Environment| {
            grade_run("diff-empty", json!({}), &run, environment).verdict
        };
        assert_eq!(ask(&Environment::default()), Verdict::Fail);
        assert_eq!(ask(&with("")), Verdict::Pass);
    }

    #[test]
    fn one_turn_of_several_has_no_diff() {
        let user = |text: &str| ("user_message", json!({"content": text}));
        let grader = build("diff-empty", Profile::Vally, &json!({})).unwrap();
        let environment = with("");
        let context = toolmark_outcome::CaseContext::default();
        for (events, verdict) in [
            (vec![user("a"), user("b")], Verdict::Unknown(Cause::MissingEvidence)),
            (vec![user("a")], Verdict::Pass),
        ] {
            let run = &runs(&vally(&events))[0];
            let view = TrajectoryView::turn(run, 0).unwrap();
            let outcome =
                grader.grade(&Subject { view, context: &context, environment: &environment });
            assert_eq!(outcome.verdict, verdict);
        }
    }

    #[test]
    fn mistakes() {
        for (id, config, complaint) in [
            ("diff-contains", json!({}), "either pattern or value"),
            ("diff-contains", json!({"pattern": "a", "value": "b"}), "cannot both"),
            ("diff-contains", json!({"value": ""}), "empty text"),
            ("diff-not-contains", json!({"pattern": "("}), "regular expression"),
            ("diff-empty", json!({"value": "x"}), "unknown key"),
        ] {
            let said = complaints(id, &config).join("; ");
            assert!(said.contains(complaint), "{id} {config}: {said}");
        }
    }
}
