//! Reads the `value:` of the `trajectory:*` assertions, which has many formats.
//!
//! AgentV validates it only when it grades, and throws if it is wrong: the
//! assertion then scores 0. Here a wrong value is an error of the spec; under
//! AgentV's profiles it scores as in AgentV.

use super::reading::{ReadingQuestion, Throws, follows, reading};
use std::sync::Arc;
use toolmark_config::{Node, Problem, ProblemSeverity, did_you_mean, quoted};
use toolmark_grade::Grader;
use toolmark_match::Building;
use toolmark_outcome::Profile;

/// Configuration shared by the assertions of the family.
pub(super) struct AssertionValue<'a> {
    /// Value of the assertion.
    pub(super) value: &'a Node,
    /// Whether the check is inverted.
    pub(super) negate: bool,
}

/// Code of problems on which AgentV throws; it ignores all others.
const THROWS: &str = "invalid-value";

/// Builds a question from `value:`.
pub(super) fn build<Q: ReadingQuestion + 'static>(
    building: &mut Building<'_>,
    question: impl FnOnce(&AssertionValue<'_>, Profile, &mut Vec<Problem>) -> Option<Q>,
) -> Option<Arc<dyn Grader>> {
    let config = building.config;
    let mut problems = Vec::new();
    keys(config, &["value", "negate"], &mut problems);
    let negate = match config.get("negate") {
        None => false,
        Some(node) => node.as_bool().unwrap_or_else(|| {
            let message = format!("negate must be true or false, found {}", node.word());
            problems.push(Problem::error("ignored-value", message).at(node.span));
            false
        }),
    };
    let Some(value) = config.get("value").filter(|value| !value.is_null()) else {
        problems.push(wrong(config, "missing key \"value\""));
        return finish(building, problems, None::<Q>);
    };
    let question = question(&AssertionValue { value, negate }, building.profile, &mut problems);
    finish(building, problems, question)
}

fn finish<Q: ReadingQuestion + 'static>(
    building: &mut Building<'_>,
    problems: Vec<Problem>,
    question: Option<Q>,
) -> Option<Arc<dyn Grader>> {
    let agentv = follows(building.profile);
    let counts = |p: &&Problem| p.is_error() && (!agentv || p.code == THROWS);
    let wrong = problems.iter().find(counts).map(|p| p.message.clone());
    if agentv {
        let warned =
            problems.into_iter().map(|p| Problem { severity: ProblemSeverity::Warning, ..p });
        building.problems.extend(warned);
        return match (question, wrong) {
            (Some(question), None) => reading(building, question),
            (_, wrong) => reading(building, Throws(wrong.unwrap_or_default())),
        };
    }
    building.problems.extend(problems);
    match wrong {
        Some(_) => None,
        None => reading(building, question?),
    }
}

/// Reports unknown keys of a map.
pub(super) fn keys(node: &Node, known: &[&str], problems: &mut Vec<Problem>) {
    for entry in node.entries() {
        if !known.contains(&entry.key.as_str()) {
            let message = format!("unknown key {}", quoted(&entry.key));
            let problem = Problem::error("unknown-key", message).at(entry.key_span);
            problems.push(match did_you_mean(&entry.key, known.iter().copied()) {
                Some(near) => problem.help(format!("did you mean {}?", quoted(near))),
                None => problem.help(format!("known keys are {}", known.join(", "))),
            });
        }
    }
}

/// Reads a number under a key.
pub(super) fn number(node: &Node, key: &str, problems: &mut Vec<Problem>) -> Option<f64> {
    let value = node.get(key).filter(|value| !value.is_null())?;
    let number = value.as_f64().filter(|n| n.is_finite());
    if number.is_none_or(|n| n < 0.0) {
        let message = format!("{key} must be a number of 0 or more");
        problems.push(Problem::error("ignored-value", message).at(value.span));
    }
    number
}

/// Creates a problem of the value.
pub(super) fn wrong(node: &Node, message: impl Into<String>) -> Problem {
    Problem::error(THROWS, message).at(node.span)
}
