//! Scoring shared by the readings: from checks to a score, and from a score to a
//! verdict.

pub(super) use crate::reading::ReadingQuestion;
pub(super) use crate::reading::{contrasted, count};
use serde_json::Value;
use std::sync::Arc;
use toolmark_config::{Problem, ProblemSeverity};
use toolmark_grade::Grader;
use toolmark_match::Building;
use toolmark_outcome::Profile;
use toolmark_outcome::{Cause, Outcome, OutcomePart, Verdict};
use toolmark_outcome::{Subject, Untrusted};

/// Minimum score for AgentV's pass verdict, regardless of the threshold of the case.
pub(super) const PASSING: f64 = 0.8;

/// Minimum score for the borderline verdict of its first versions.
const BORDERLINE: f64 = 0.6;

/// Maximum number of lines kept for a grader with very many checks.
const MAX_LINES: usize = 500;

/// Whether this is one of AgentV's profiles.
pub(super) fn is_agentv(profile: Profile) -> bool {
    matches!(profile, Profile::AgentV1 | Profile::AgentV2 | Profile::AgentV5)
}

/// Whether a profile follows AgentV's or promptfoo's code, whose trajectory assertions are
/// the same.
pub(super) fn follows(profile: Profile) -> bool {
    is_agentv(profile) || profile == Profile::Promptfoo
}

/// Profiles of the trajectory assertions.
pub(super) const TRAJECTORY_PROFILES: &[Profile] =
    &[Profile::AgentV1, Profile::AgentV2, Profile::AgentV5, Profile::Promptfoo];

/// AgentV's profiles.
pub(super) const PROFILES: &[Profile] = &[Profile::AgentV1, Profile::AgentV2, Profile::AgentV5];

/// Builds a grader that answers under the requested reading and mentions where the other
/// one differs.
pub(super) fn reading<Q: ReadingQuestion + 'static>(
    building: &Building<'_>,
    question: Q,
) -> Option<Arc<dyn Grader>> {
    let profile = building.profile;
    let differs = |other: &Profile| match (follows(profile), follows(*other)) {
        (false, true) => true,
        // The dialect of AgentV says by itself what its own reading leaves out.
        (true, false) => !is_agentv(profile),
        _ => false,
    };
    Some(crate::reading::grader(question, profile, building.contrast.filter(differs)))
}

/// Returns the outcome if AgentV's code throws: the runner scores 0, toolmark's verdict is unknown.
pub(super) fn thrown(profile: Profile, why: impl Into<String>) -> Outcome {
    let why = why.into();
    if is_agentv(profile) {
        let mut outcome = Outcome::scored(Verdict::Fail, 0.0, format!("AgentV stops here: {why}"));
        outcome.parts.push(OutcomePart::new(why, Verdict::Fail));
        return outcome.with_metric("error", true).with_metric("verdict", "fail");
    }
    Outcome::unknown(Cause::Configuration, why)
}

/// Returns AgentV's verdict word for a score.
pub(super) fn word(score: f64, profile: Profile) -> &'static str {
    match profile {
        _ if score >= PASSING => "pass",
        Profile::AgentV1 if score >= BORDERLINE => "borderline",
        _ => "fail",
    }
}

/// Checks of a grader, one line each.
#[derive(Default)]
pub(super) struct CheckLines {
    parts: Vec<OutcomePart>,
    pub(super) hits: usize,
    pub(super) misses: usize,
}

impl CheckLines {
    /// Adds a check.
    pub(super) fn add(&mut self, holds: bool, text: impl FnOnce() -> String) {
        *(if holds { &mut self.hits } else { &mut self.misses }) += 1;
        // Failures are what people look for: they get a line of their own longer.
        let room = if holds { MAX_LINES } else { 2 * MAX_LINES };
        if self.parts.len() < room {
            self.parts.push(OutcomePart::new(text(), Verdict::of(holds)));
        }
    }

    /// Returns the outcome of the checks, with this score over the given number of aspects.
    pub(super) fn outcome(
        self,
        profile: Profile,
        score: f64,
        aspects: usize,
        reason: impl Into<Untrusted>,
    ) -> Outcome {
        let left = self.hits + self.misses - self.parts.len();
        let mut outcome = Outcome::scored(Verdict::of(score >= PASSING), score, reason)
            .with_metric("hits", self.hits)
            .with_metric("misses", self.misses)
            .with_metric("aspects", aspects)
            .with_metric("verdict", word(score, profile));
        outcome.parts = self.parts;
        if left > 0 {
            outcome.notes.push(format!("{left} more checks are not listed").into());
        }
        outcome
    }

    /// Returns the outcome of a single check.
    pub(super) fn single(profile: Profile, holds: bool, reason: String) -> Outcome {
        let mut lines = Self::default();
        lines.add(holds, || reason.clone());
        lines.outcome(profile, f64::from(u8::from(holds)), 1, reason)
    }
}

/// Sets the verdict and its word.
pub(super) fn decided(mut outcome: Outcome, verdict: Verdict) -> Outcome {
    outcome.verdict = verdict;
    outcome.metrics.insert("verdict".into(), Value::from(verdict.word()));
    outcome
}

/// Formats a number, without a fraction if it is whole.
pub(super) fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 9e15 {
        return format!("{}", value as i64);
    }
    format!("{}", (value * 1e6).round() / 1e6)
}

/// Marks a configuration on which AgentV throws for every run.
pub(super) struct Throws(pub(super) String);

impl ReadingQuestion for Throws {
    fn answer(&self, _: &Subject<'_>, profile: Profile) -> Outcome {
        thrown(profile, self.0.clone())
    }
}

/// Builds a grader whose invalid configuration AgentV only detects when it grades: under
/// its profiles the problem is a warning, and the score is 0.
pub(super) fn throws(
    building: &mut Building<'_>,
    problem: Problem,
    why: String,
) -> Option<Arc<dyn Grader>> {
    building.problems.push(Problem { severity: ProblemSeverity::Warning, ..problem });
    reading(building, Throws(why))
}
