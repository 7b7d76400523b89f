//! What the readings have in common: how lines make a score, and a score a
//! verdict.

pub(super) use crate::reading::Question;
pub(super) use crate::reading::{contrasted, count};
use serde_json::Value;
use std::sync::Arc;
use toolmark_config::{Problem, Severity};
use toolmark_grade::Grader;
use toolmark_match::Building;
use toolmark_outcome::Profile;
use toolmark_outcome::{Cause, Outcome, Part, Verdict};
use toolmark_outcome::{Subject, Untrusted};

/// The score from which AgentV says pass, whatever the threshold of the case.
pub(super) const PASSING: f64 = 0.8;

/// The score from which its first versions said borderline.
const BORDERLINE: f64 = 0.6;

/// Lines kept of a grader that checks very many things.
const MOST_LINES: usize = 500;

/// Is this a reading of AgentV's?
pub(super) fn is_agentv(profile: Profile) -> bool {
    matches!(profile, Profile::AgentV1 | Profile::AgentV2 | Profile::AgentV5)
}

/// Does a reading follow AgentV's or promptfoo's code? Their trajectory assertions are
/// the same.
pub(super) fn follows(profile: Profile) -> bool {
    is_agentv(profile) || profile == Profile::Promptfoo
}

/// The readings of the trajectory assertions.
pub(super) const TRAJECTORY_PROFILES: &[Profile] =
    &[Profile::AgentV1, Profile::AgentV2, Profile::AgentV5, Profile::Promptfoo];

/// The readings of AgentV.
pub(super) const PROFILES: &[Profile] = &[Profile::AgentV1, Profile::AgentV2, Profile::AgentV5];

/// A grader that answers under the reading asked for, and says where the other
/// one differs.
pub(super) fn reading<Q: Question + 'static>(
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

/// What AgentV does where its code throws: the runner gives 0. toolmark cannot tell.
pub(super) fn thrown(profile: Profile, why: impl Into<String>) -> Outcome {
    let why = why.into();
    if is_agentv(profile) {
        let mut outcome = Outcome::scored(Verdict::Fail, 0.0, format!("AgentV stops here: {why}"));
        outcome.parts.push(Part::new(why, Verdict::Fail));
        return outcome.with_metric("error", true).with_metric("verdict", "fail");
    }
    Outcome::unknown(Cause::Configuration, why)
}

/// The word AgentV has for a score.
pub(super) fn word(score: f64, profile: Profile) -> &'static str {
    match profile {
        _ if score >= PASSING => "pass",
        Profile::AgentV1 if score >= BORDERLINE => "borderline",
        _ => "fail",
    }
}

/// The checks of a grader, one line each.
#[derive(Default)]
pub(super) struct Lines {
    parts: Vec<Part>,
    pub(super) hits: usize,
    pub(super) misses: usize,
}

impl Lines {
    /// One check.
    pub(super) fn add(&mut self, holds: bool, text: impl FnOnce() -> String) {
        *(if holds { &mut self.hits } else { &mut self.misses }) += 1;
        // Failures are what people look for: they get a line of their own longer.
        let room = if holds { MOST_LINES } else { 2 * MOST_LINES };
        if self.parts.len() < room {
            self.parts.push(Part::new(text(), Verdict::of(holds)));
        }
    }

    /// The outcome they make, with this score over so many aspects.
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

    /// The outcome of one check that holds or not.
    pub(super) fn single(profile: Profile, holds: bool, reason: String) -> Outcome {
        let mut lines = Self::default();
        lines.add(holds, || reason.clone());
        lines.outcome(profile, f64::from(u8::from(holds)), 1, reason)
    }
}

/// Sets the verdict, and the word for it.
pub(super) fn decided(mut outcome: Outcome, verdict: Verdict) -> Outcome {
    outcome.verdict = verdict;
    outcome.metrics.insert("verdict".into(), Value::from(verdict.word()));
    outcome
}

/// A number as people write it: whole where it is.
pub(super) fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 9e15 {
        return format!("{}", value as i64);
    }
    format!("{}", (value * 1e6).round() / 1e6)
}

/// What AgentV throws on whatever it is shown.
pub(super) struct Throws(pub(super) String);

impl Question for Throws {
    fn answer(&self, _: &Subject<'_>, profile: Profile) -> Outcome {
        thrown(profile, self.0.clone())
    }
}

/// A grader whose configuration AgentV stumbles over only when it grades: under
/// its readings the problem is a warning, and the score 0.
pub(super) fn throws(
    building: &mut Building<'_>,
    problem: Problem,
    why: String,
) -> Option<Arc<dyn Grader>> {
    building.problems.push(Problem { severity: Severity::Warning, ..problem });
    reading(building, Throws(why))
}
