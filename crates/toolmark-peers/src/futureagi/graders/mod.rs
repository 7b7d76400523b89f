//! Future AGI: the four function-call metrics, and the evals of its platform.
//!
//! Each compares the calls of a model with expected ones, or with the
//! definitions of the functions. By default calls and expectations are paired
//! one to one, missing and extra calls lower the score, and no call is a valid
//! answer; the profile `futureagi` answers as the library does (`compat`).

pub(crate) mod agents;
mod alignment;
mod checks;
mod compat;
mod definition;
pub(crate) mod function_call_accuracy;
pub(crate) mod function_call_exact_match;
pub(crate) mod function_name_match;
mod keys;
mod material;
pub(crate) mod parameter_validation;
pub(crate) mod platform;
mod schema_cost;
mod settings;
#[cfg(test)]
mod testing;

use material::Material;
use settings::ComparisonSettings;
use std::sync::Arc;
use toolmark_grade::Grader;
use toolmark_match::{Building, Mention};
use toolmark_outcome::Profile;
use toolmark_outcome::Subject;
use toolmark_outcome::{Contrast, Outcome};

/// Maximum amount of listed evidence; the rest is only counted.
const MAX_EVIDENCE: usize = 20;
/// Maximum difference of equal scores: the library rounds to four decimals.
const SAME_SCORE: f64 = 0.0001;

/// The four metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Metric {
    NameMatch,
    ExactMatch,
    Accuracy,
    ParameterValidation,
}

impl Metric {
    fn id(self) -> &'static str {
        match self {
            Self::NameMatch => function_name_match::INFO.id,
            Self::ExactMatch => function_call_exact_match::INFO.id,
            Self::Accuracy => function_call_accuracy::INFO.id,
            Self::ParameterValidation => parameter_validation::INFO.id,
        }
    }
}

/// Source of the answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AnswerSource {
    Ours,
    Theirs,
}

impl From<Profile> for AnswerSource {
    fn from(profile: Profile) -> Self {
        if profile == Profile::FutureAgi { Self::Theirs } else { Self::Ours }
    }
}

struct CallMetric {
    metric: Metric,
    settings: ComparisonSettings,
    reading: AnswerSource,
    contrast: Option<Profile>,
}

fn build(metric: Metric, building: &mut Building<'_>) -> Option<Arc<dyn Grader>> {
    let settings = ComparisonSettings::read(metric, building)?;
    let reading = AnswerSource::from(building.profile);
    let contrast = building.contrast.filter(|other| AnswerSource::from(*other) != reading);
    Some(Arc::new(CallMetric { metric, settings, reading, contrast }))
}

impl CallMetric {
    fn answer(&self, reading: AnswerSource, material: &Material<'_>) -> Outcome {
        if reading == AnswerSource::Theirs {
            return compat::grade(self.metric, &self.settings, material);
        }
        if let Some(unread) = material.unread_output() {
            return unread;
        }
        let grade = match self.metric {
            Metric::NameMatch => function_name_match::grade,
            Metric::ExactMatch => function_call_exact_match::grade,
            Metric::Accuracy => function_call_accuracy::grade,
            Metric::ParameterValidation => parameter_validation::grade,
        };
        let outcome = grade(&self.settings, material);
        if material.is_null_output() {
            return outcome.with_note("the row's output is null, which is read as no call");
        }
        outcome
    }
}

impl Grader for CallMetric {
    fn grade(&self, subject: &Subject<'_>) -> Outcome {
        let material = Material::new(&self.settings, subject);
        let mut outcome = self.answer(self.reading, &material);
        if let Some(profile) = self.contrast {
            let other = self.answer(AnswerSource::from(profile), &material);
            let near = match (outcome.score, other.score) {
                (Some(ours), Some(theirs)) => (ours - theirs).abs() <= SAME_SCORE,
                (ours, theirs) => ours == theirs,
            };
            if outcome.verdict != other.verdict || !near {
                outcome.contrast = Some(Contrast {
                    profile,
                    verdict: other.verdict,
                    score: other.score,
                    reason: other.reason,
                });
            }
        }
        outcome
    }

    fn mentions(&self) -> Vec<Mention> {
        let calls =
            self.settings.expected.as_ref().and_then(|gold| material::gold_calls(gold).ok());
        let mut names: Vec<String> =
            calls.unwrap_or_default().into_iter().map(|call| call.name).collect();
        names.sort_unstable();
        names.dedup();
        names.iter().map(|name| Mention::exact(name)).collect()
    }
}
