//! Builds one grader from a question that has several readings.

use std::sync::Arc;
use toolmark_grade::Grader;
use toolmark_match::Mention;
use toolmark_outcome::{Contrast, Outcome, Profile, Subject, Untrusted, Verdict};

/// A question that has several readings.
pub(crate) trait ReadingQuestion: Send + Sync {
    /// Answers under one reading.
    fn answer(&self, subject: &Subject<'_>, profile: Profile) -> Outcome;

    /// Returns the tools that the question mentions.
    fn mentions(&self) -> Vec<Mention> {
        Vec::new()
    }

    /// Whether an additional call may turn a pass into a fail.
    fn forbids(&self) -> bool {
        true
    }

    /// Whether a fail means that an upper limit was exceeded.
    fn is_upper_limit(&self) -> bool {
        false
    }
}

struct SystemReading<Q> {
    question: Q,
    profile: Profile,
    contrast: Option<Profile>,
}

/// Builds a grader that answers under one reading and mentions where another one differs.
pub(crate) fn grader<Q: ReadingQuestion + 'static>(
    question: Q,
    profile: Profile,
    contrast: Option<Profile>,
) -> Arc<dyn Grader> {
    Arc::new(SystemReading { question, profile, contrast })
}

impl<Q: ReadingQuestion> Grader for SystemReading<Q> {
    fn mentions(&self) -> Vec<Mention> {
        self.question.mentions()
    }

    fn forbids(&self) -> bool {
        self.question.forbids()
    }

    fn is_upper_limit(&self) -> bool {
        self.question.is_upper_limit()
    }

    fn grade(&self, subject: &Subject<'_>) -> Outcome {
        let outcome = self.question.answer(subject, self.profile);
        match self.contrast {
            None => outcome,
            Some(profile) => {
                let other = self.question.answer(subject, profile);
                let (verdict, score, reason) = (other.verdict, other.score, other.reason);
                contrasted(outcome, profile, verdict, score, reason)
            }
        }
    }
}

/// Adds a note about another reading if its answer differs.
pub(crate) fn contrasted(
    mut outcome: Outcome,
    profile: Profile,
    verdict: Verdict,
    score: Option<f64>,
    reason: Untrusted,
) -> Outcome {
    let same_score = match (outcome.score, score) {
        (Some(a), Some(b)) => (a - b).abs() < 1e-9,
        (a, b) => a == b,
    };
    let differs = outcome.verdict != verdict || !same_score;
    outcome.contrast = differs.then_some(Contrast { profile, verdict, score, reason });
    outcome
}

/// Formats a count with its noun.
pub(crate) fn count(n: usize, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}
