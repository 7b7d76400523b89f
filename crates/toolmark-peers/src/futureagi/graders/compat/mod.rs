//! The metrics as Future AGI's library computes them, quirks included.
//!
//! The library receives the values of a row as written, and so does this module.
//! Not reproduced: `NaN` and `Infinity` in JSON texts, characters by name
//! (`\N{…}`) in Python texts, whole numbers in JSON
//! beyond 64 bits under `strict_type_check`, and the memory addresses that the library writes
//! into values that are expressions: here such a value equals no other, in the library
//! two of them may be equal by chance.

mod definitions;
mod expression;
mod literal;
mod normalise;
mod scores;
mod token;

use super::Metric;
use super::material::Material;
use super::settings::ComparisonSettings;
use literal::PythonFailure;
use normalise::typed;
use scores::{DescribedScore, Flags};
use serde_json::Value;
use toolmark_outcome::EvidenceRole;
use toolmark_outcome::{Cause, Outcome, Verdict};

/// Minimum passing score, which the library uses regardless of the configuration.
const PASS_MARK: f64 = 0.5;

/// Grades as the library does.
pub(super) fn grade(
    metric: Metric,
    settings: &ComparisonSettings,
    material: &Material<'_>,
) -> Outcome {
    let flags = Flags {
        strict: settings.strict_type_check,
        ignore_extra: settings.ignore_extra_params,
        ordered: settings.order_matters,
        weights: settings.weights(),
    };
    let response = material.response();
    let expected = material.gold().map_or(&Value::Null, |(gold, _)| gold);
    let definitions = material.listed_definitions().unwrap_or(&Value::Null);
    let outcome = match score(metric, flags, &response, expected, definitions) {
        Ok((score, reason)) => Outcome::scored(Verdict::of(score >= PASS_MARK), score, reason),
        Err(PythonFailure::Invalid(reason)) => Outcome::scored(Verdict::Fail, 0.0, reason),
        Err(PythonFailure::Raised(reason)) => {
            Outcome::unknown(Cause::Configuration, format!("the library raises: {reason}"))
        }
    };
    let calls = material.view.calls().iter().take(super::MAX_EVIDENCE);
    outcome.with_evidence(
        calls.map(|seen| material.view.evidence(EvidenceRole::Context, "compared", *seen)),
    )
}

fn score(
    metric: Metric,
    flags: Flags,
    response: &Value,
    expected: &Value,
    definitions: &Value,
) -> DescribedScore {
    if response.is_null() {
        return Err(PythonFailure::Invalid(
            "the input check turns response down: it is null".to_owned(),
        ));
    }
    let response = typed(response, "response")?;
    let expected = typed(expected, "expected_response")?;
    let definitions = definitions::declared(definitions)?;
    let none = |whose: &str| Ok((0.0, format!("no call can be read from the {whose}")));
    match metric {
        Metric::Accuracy => {
            let (actual, expected) = (response.all()?, expected.all()?);
            match (actual.is_empty(), expected.is_empty()) {
                (true, _) => none("response"),
                (_, true) => none("expected response"),
                _ => scores::accuracy(&actual, &expected, flags),
            }
        }
        Metric::ParameterValidation => match response.single()? {
            None => none("response"),
            Some(_) if definitions.is_empty() => Ok((0.0, "there are no definitions".to_owned())),
            Some(actual) => Ok(scores::validation(&actual, &definitions, flags)),
        },
        Metric::NameMatch | Metric::ExactMatch => match (response.single()?, expected.single()?) {
            (None, _) => none("response"),
            (_, None) => none("expected response"),
            (Some(actual), Some(expected)) if metric == Metric::NameMatch => {
                Ok(scores::name_match(&actual, &expected))
            }
            (Some(actual), Some(expected)) => scores::exact_match(&actual, &expected, flags),
        },
    }
}
