//! Inverts a grader, as AgentV does and in toolmark's own reading.

use super::reading::{PASSING, contrasted, is_agentv};
use serde_json::Value;
use std::sync::Arc;
use toolmark_grade::Grader;
use toolmark_outcome::Profile;
use toolmark_outcome::Subject;
use toolmark_outcome::{Outcome, Verdict};

/// Creates a grader with the opposite answer. AgentV subtracts the score from 1 and inverts
/// the verdict, so that half a sequence passes with 0.5; toolmark checks whether
/// the inverted score passes.
#[must_use]
pub fn opposite(
    grader: Arc<dyn Grader>,
    profile: Profile,
    contrast: Option<Profile>,
) -> Arc<dyn Grader> {
    let contrast = contrast.filter(|contrast| is_agentv(*contrast) && !is_agentv(profile));
    Arc::new(Opposite { grader, profile, contrast })
}

struct Opposite {
    grader: Arc<dyn Grader>,
    profile: Profile,
    contrast: Option<Profile>,
}

impl Grader for Opposite {
    fn asks_judge(&self) -> bool {
        self.grader.asks_judge()
    }

    fn grade(&self, subject: &Subject<'_>) -> Outcome {
        let mut outcome = self.grader.grade(subject);
        // What AgentV's code throws on is 0 whatever was asked.
        if outcome.metrics.get("error").is_some() {
            return outcome;
        }
        let theirs = match outcome.contrast.take() {
            Some(theirs) => (theirs.verdict, theirs.score),
            None => (outcome.verdict, outcome.score),
        };
        let turned = turn(outcome, self.profile);
        match self.contrast {
            None => turned,
            Some(contrast) => {
                let score = theirs.1.map(|score| 1.0 - score);
                let reason = "the verdict is swapped, not made anew of the score".into();
                contrasted(turned, contrast, theirs.0.negated(), score, reason)
            }
        }
    }
}

fn turn(outcome: Outcome, profile: Profile) -> Outcome {
    let mut turned = outcome.negated();
    if let (false, Some(score)) = (is_agentv(profile), turned.score) {
        turned.verdict = Verdict::of(score >= PASSING);
    }
    let (hits, misses) = (turned.metrics.remove("hits"), turned.metrics.remove("misses"));
    if let (Some(hits), Some(misses)) = (hits, misses) {
        turned.metrics.insert("hits".into(), misses);
        turned.metrics.insert("misses".into(), hits);
    }
    if turned.metrics.contains_key("verdict") {
        turned.metrics.insert("verdict".into(), Value::from(turned.verdict.word()));
    }
    turned
}
