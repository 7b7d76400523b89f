//! Helpers shared by the graders of scores: selecting the reading, and converting an answer to an
//! outcome.

use super::calls::{ActualCall, ScoredCall};
use super::system::ModeAnswer;
use crate::explain::{ExpectationState, VerdictEvidence, explain};
use crate::reading::{ReadingQuestion, count, grader};
use std::sync::Arc;
use toolmark_config::{Problem, Spanned};
use toolmark_grade::Grader;
use toolmark_match::Building;
use toolmark_outcome::{EvidenceRole, Outcome, Profile, TrajectoryView, Verdict};

/// Returns the reading for a profile: toolmark's own if the grader does not support the profile.
pub(in crate::scores) fn reading(profile: Profile, known: &[Profile]) -> Profile {
    if known.contains(&profile) { profile } else { Profile::Toolmark }
}

/// Builds a grader that answers under the requested reading and mentions where toolmark's own
/// differs.
pub(in crate::scores) fn build<Q: ReadingQuestion + 'static>(
    building: &Building<'_>,
    known: &[Profile],
    question: Q,
) -> Option<Arc<dyn Grader>> {
    let profile = reading(building.profile, known);
    let contrast = building.contrast.map(|other| reading(other, known));
    Some(grader(question, profile, contrast.filter(|other| *other != profile)))
}

/// Reports a threshold that is not between 0 and 1.
pub(in crate::scores) fn check_share(
    building: &mut Building<'_>,
    what: &str,
    value: Option<&Spanned<f64>>,
) -> bool {
    let Some(value) = value.filter(|value| !(0.0..=1.0).contains(&value.value)) else {
        return true;
    };
    let message = format!("expected a {what} from 0 to 1, found {}", value.value);
    building.reject(value.span, "invalid-value", message);
    false
}

/// Warns about keys without effect under a profile.
pub(in crate::scores) fn warn_of_idle_keys(
    building: &mut Building<'_>,
    profile: Profile,
    is_idle: impl Fn(&str) -> bool,
) {
    for entry in building.config.entries().filter(|entry| is_idle(&entry.key)) {
        let message = format!("\"{}\" has no effect under the profile {profile}", entry.key);
        building.problems.push(Problem::warning("no-effect", message).at(entry.key_span));
    }
}

/// Converts an answer to an outcome with the decisive calls.
pub(in crate::scores) fn outcome(
    view: &TrajectoryView<'_>,
    expected: &[ScoredCall],
    made: &[ActualCall<'_>],
    answer: ModeAnswer,
    threshold: f64,
) -> Outcome {
    let passed = answer.passed.unwrap_or(answer.score >= threshold);
    let mut outcome = Outcome::scored(Verdict::of(passed), answer.score, String::new());
    for (name, value) in answer.metrics {
        outcome.metrics.insert(name.to_owned(), value);
    }
    let counts = format!("{} expected, {} made", count(expected.len(), "call"), made.len());
    let Some(pairs) = answer.pairs else {
        outcome.reason = counts.into();
        return outcome;
    };
    let matched = pairs.iter().flatten().count();
    outcome.reason = format!("{counts}, {matched} as expected").into();
    let texts: Vec<String> = expected.iter().map(ScoredCall::text).collect();
    let states: Vec<ExpectationState> = pairs
        .iter()
        .map(|pair| pair.map_or(ExpectationState::Missing, ExpectationState::Met))
        .collect();
    let mut found = VerdictEvidence::default();
    found.states(view, &texts, &states);
    let mut taken = vec![false; made.len()];
    for at in pairs.iter().flatten() {
        taken[*at] = true;
    }
    for (at, _) in taken.iter().enumerate().filter(|(_, taken)| !**taken) {
        found.against(view, EvidenceRole::Extra, "not expected".to_owned(), at);
    }
    let (evidence, note) = found.finish();
    outcome.evidence = evidence;
    outcome.notes.extend(note.map(Into::into));
    // Rows follow the calls, which pairs in any order do not.
    if pairs.iter().flatten().is_sorted() {
        outcome.explanation = Some(explain(view, &texts, &states));
    }
    outcome
}
