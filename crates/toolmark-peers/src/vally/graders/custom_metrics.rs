//! `custom-metrics`: checks numbers that a run recorded about itself.
//!
//! A run may leave a file of named values, `custom_metrics.json`, among its
//! artifacts or in its workspace. Each assertion checks one of them. A missing file or
//! value makes the verdict unknown, because nothing was measured.

use crate::vally::graders::workspace::{Allowance, Untold, Workspace};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::path::Path;
use std::sync::Arc;
use toolmark_config::{Node, Spanned};
use toolmark_grade::{
    AnswerCost, Determinism, GradeScope, Grader, GraderInfo, Reference, Taxonomy, schema_of,
};
use toolmark_match::Building;
use toolmark_outcome::Profile;
use toolmark_outcome::Subject;
use toolmark_outcome::{Cause, Outcome, OutcomePart, Verdict};
use toolmark_outcome::{Evidence, EvidenceRole};
use toolmark_outcome::{NumberRules, equal};

/// Default name of the file.
const FILE: &str = "custom_metrics.json";

/// File, and assertions about its values.
#[derive(Debug, Deserialize, JsonSchema)]
struct CustomMetricsConfig {
    /// Path of the file, relative to the directory of artifacts or the workspace;
    /// `custom_metrics.json` by default.
    #[serde(default)]
    path: Option<Spanned<String>>,
    /// Assertions that must hold; at least one.
    assertions: Spanned<Vec<Spanned<Assertion>>>,
}

/// Assertion about one value. At least one of `equals`, `min` and `max` is required.
#[derive(Debug, Deserialize, JsonSchema)]
struct Assertion {
    /// Name of the value.
    metric: String,
    /// Expected number, text, `true` or `false`.
    #[serde(default)]
    equals: Option<Node>,
    /// Minimum.
    #[serde(default)]
    min: Option<f64>,
    /// Maximum.
    #[serde(default)]
    max: Option<f64>,
}

struct ExpectedValue {
    metric: String,
    equals: Option<Value>,
    min: Option<f64>,
    max: Option<f64>,
}

struct CustomMetrics {
    path: String,
    assertions: Vec<ExpectedValue>,
}

pub(crate) static CUSTOM_METRICS: GraderInfo = GraderInfo {
    id: "custom-metrics",
    aliases: &[],
    origin: "vally",
    summary: "checks the metrics that the run wrote to a file",
    docs: "Reads a JSON file of named values that the run left behind and checks each of \
           `assertions`: a `metric` by name with `equals`, `min` or `max`. All must hold.\n\n\
           The file is `custom_metrics.json`, or what `path` says, among the artifacts of the \
           run, else in its workspace. It is an object whose values are numbers, texts, `true` \
           or `false`; they may be under the key `values`.\n\n\
           If the file is missing or unreadable, or does not have the metric, the verdict is unknown.",
    example: "type: custom-metrics\nconfig:\n  assertions:\n    - metric: coverage\n      min: 0.8\n    - metric: linted\n      equals: true",
    taxonomy: Taxonomy {
        determinism: Determinism::Environment,
        cost: AnswerCost::Low,
        reference: Reference::Free,
        scope: GradeScope::End,
    },
    profiles: &[Profile::Vally],
    schema: schema_of::<CustomMetricsConfig>,
    build,
};

fn build(building: &mut Building<'_>) -> Option<Arc<dyn Grader>> {
    let config = building.read::<CustomMetricsConfig>()?;
    let before = building.problems.len();
    if let Some(path) = &config.path {
        super::run_command::path_is_inside(path, building);
    }
    if config.assertions.value.is_empty() {
        building.reject(config.assertions.span, "empty-list", "the list of assertions is empty");
    }
    let mut assertions = Vec::new();
    for Spanned { value: assertion, span } in config.assertions.value {
        let Assertion { metric, equals, min, max } = assertion;
        if equals.is_none() && min.is_none() && max.is_none() {
            building.reject(span, "missing-key", "one of equals, min and max is needed");
        }
        if let (Some(min), Some(max)) = (min, max)
            && min > max
        {
            let message = format!("no number is at least {min} and at most {max}");
            building.reject(span, "contradiction", message);
        }
        let equals = equals.map(|equals| (equals.to_json(), equals.span));
        if let Some((value, span)) = &equals
            && !is_plain(value)
        {
            let message = "a metric is a number, a text, true or false";
            building.reject(*span, "wrong-type", message);
        }
        assertions.push(ExpectedValue { metric, equals: equals.map(|(value, _)| value), min, max });
    }
    let path = config.path.map_or_else(|| FILE.to_owned(), |path| path.value);
    (building.problems.len() == before)
        .then(|| -> Arc<dyn Grader> { Arc::new(CustomMetrics { path, assertions }) })
}

fn is_plain(value: &Value) -> bool {
    value.is_number() || value.is_string() || value.is_boolean()
}

impl Grader for CustomMetrics {
    fn grade(&self, subject: &Subject<'_>) -> Outcome {
        let values = self.text(subject).and_then(|text| {
            values(&text).map_err(|why| {
                let reason = format!("{} cannot be used: {why}", self.path);
                Untold::missing(reason)
            })
        });
        match values {
            Ok(values) => self.judge(&values),
            Err(untold) => untold.into(),
        }
    }
}

impl CustomMetrics {
    /// Returns the text of the file: among the artifacts, otherwise in the workspace.
    fn text(&self, subject: &Subject<'_>) -> Result<String, Untold> {
        let stated = subject.view.trajectory().stated.artifacts.as_ref().map(|text| text.get());
        let artifacts = match (&subject.environment.artifacts, &stated) {
            (Some(given), _) => Some(given.as_path()),
            (None, Some(stated)) => Some(Path::new(&**stated)),
            (None, None) => None,
        };
        if let Some(artifacts) = artifacts
            && artifacts.join(&self.path).exists()
        {
            let artifacts = Workspace::at(artifacts)?;
            return Ok(artifacts.text(&self.path, &mut Allowance::default())?);
        }
        let workspace = Workspace::of(subject)?;
        Ok(workspace.text(&self.path, &mut Allowance::default())?)
    }

    fn judge(&self, values: &Map<String, Value>) -> Outcome {
        let parts: Vec<OutcomePart> =
            self.assertions.iter().map(|expected| expected.part(values)).collect();
        let verdict = parts.iter().fold(Verdict::Pass, |sum, part| sum.and(part.verdict));
        let reason = match verdict {
            Verdict::Pass => format!("all {} assertions hold", parts.len()),
            _ => {
                let deciding = parts.iter().filter(|part| part.verdict == verdict);
                let said: Vec<String> = deciding
                    .map(|part| part.reason.as_ref().unwrap_or(&part.text).raw().to_owned())
                    .collect();
                super::file::listed(&said)
            }
        };
        let mut outcome = match verdict {
            Verdict::Unknown(cause) => Outcome::unknown(cause, reason),
            decided => Outcome::binary(decided == Verdict::Pass, reason),
        };
        for expected in &self.assertions {
            if let Some(value) = values.get(&expected.metric) {
                outcome.metrics.insert(expected.metric.clone(), value.clone());
            }
        }
        for part in parts.iter().filter(|part| part.verdict != Verdict::Pass).take(20) {
            let role = match part.verdict {
                Verdict::Unknown(_) => EvidenceRole::Missing,
                _ => EvidenceRole::Violation,
            };
            let text = part.reason.clone().unwrap_or_else(|| part.text.clone());
            outcome.evidence.push(Evidence::words(role, text));
        }
        outcome.parts = parts;
        outcome
    }
}

/// Reason why a file has no values.
#[derive(Debug, thiserror::Error)]
enum ValuesError {
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error("it is no object")]
    NotAnObject,
}

/// Parses the values of a file.
fn values(text: &str) -> Result<Map<String, Value>, ValuesError> {
    let root: Value = serde_json::from_str(text)?;
    let Value::Object(mut root) = root else { return Err(ValuesError::NotAnObject) };
    match root.get_mut("values") {
        Some(Value::Object(values)) => Ok(std::mem::take(values)),
        _ => Ok(root),
    }
}

impl ExpectedValue {
    /// Describes the assertion.
    fn text(&self) -> String {
        let mut words = Vec::new();
        if let Some(equals) = &self.equals {
            words.push(format!("is {equals}"));
        }
        if let Some(min) = self.min {
            words.push(format!("is at least {min}"));
        }
        if let Some(max) = self.max {
            words.push(format!("is at most {max}"));
        }
        format!("{} {}", self.metric, words.join(" and "))
    }

    fn part(&self, values: &Map<String, Value>) -> OutcomePart {
        let (verdict, reason) = match values.get(&self.metric) {
            None => (
                Verdict::Unknown(Cause::MissingEvidence),
                Some(format!("there is no metric {}", self.metric)),
            ),
            Some(value) if !is_plain(value) => (
                Verdict::Unknown(Cause::MissingEvidence),
                Some(format!("{} must be a number, string or boolean", self.metric)),
            ),
            Some(value) => {
                let holds = self.holds(value);
                let reason = format!("{} is {value}, expected: {}", self.metric, self.text());
                (Verdict::of(holds), (!holds).then_some(reason))
            }
        };
        OutcomePart { reason: reason.map(Into::into), ..OutcomePart::new(self.text(), verdict) }
    }

    fn holds(&self, value: &Value) -> bool {
        let number = value.as_f64();
        self.equals.as_ref().is_none_or(|equals| equal(equals, value, NumberRules::Json))
            && self.min.is_none_or(|min| number.is_some_and(|number| number >= min))
            && self.max.is_none_or(|max| number.is_some_and(|number| number <= max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::complaints;
    use crate::vally::graders::testing::{Files, grade_in};
    use serde_json::json;
    use toolmark_outcome::Environment;

    const UNKNOWN: Verdict = Verdict::Unknown(Cause::MissingEvidence);

    #[test]
    fn verdicts() {
        let text = r#"{"n": 3, "ratio": 0.5, "ok": true, "word": "x", "list": []}"#;
        let files = Files::new(&[
            ("custom_metrics.json", text),
            ("under.json", r#"{"values": {"n": 7}, "n": 1}"#),
            ("broken.json", "{"),
            ("list.json", "[]"),
        ]);
        for (config, verdict, reason) in [
            (json!([{"metric": "n", "equals": 3}]), Verdict::Pass, "all 1"),
            (json!([{"metric": "n", "equals": 3.0}]), Verdict::Pass, "all 1"),
            (json!([{"metric": "n", "min": 3, "max": 3}]), Verdict::Pass, "all 1"),
            (
                json!([{"metric": "n", "min": 4}]),
                Verdict::Fail,
                "n is 3, expected: n is at least 4",
            ),
            (json!([{"metric": "ratio", "max": 0.4}]), Verdict::Fail, "ratio is 0.5"),
            (json!([{"metric": "ok", "equals": true}]), Verdict::Pass, "all 1"),
            (json!([{"metric": "ok", "min": 1}]), Verdict::Fail, "ok is true"),
            (json!([{"metric": "word", "equals": "y"}]), Verdict::Fail, "word is \"x\""),
            (json!([{"metric": "gone", "equals": 0}]), UNKNOWN, "no metric gone"),
            (json!([{"metric": "list", "equals": 0}]), UNKNOWN, "must be a number"),
            (
                json!([{"metric": "gone", "max": 1}, {"metric": "n", "max": 1}]),
                Verdict::Fail,
                "n is 3",
            ),
        ] {
            let config = json!({"assertions": config});
            let outcome = grade_in("custom-metrics", config.clone(), &files.environment());
            assert_eq!(outcome.verdict, verdict, "{config} {outcome:?}");
            assert!(outcome.reason.raw().contains(reason), "{config} {}", outcome.reason.raw());
        }
        for (path, verdict) in [
            ("under.json", Verdict::Pass),
            ("broken.json", UNKNOWN),
            ("list.json", UNKNOWN),
            ("gone.json", UNKNOWN),
        ] {
            let config = json!({"path": path, "assertions": [{"metric": "n", "equals": 7}]});
            let outcome = grade_in("custom-metrics", config, &files.environment());
            assert_eq!(outcome.verdict, verdict, "{path} {outcome:?}");
        }
    }

    #[test]
    fn artifacts_come_first() {
        let workspace = Files::new(&[("custom_metrics.json", r#"{"n": 1}"#)]);
        let artifacts = Files::new(&[("custom_metrics.json", r#"{"n": 2}"#)]);
        let empty = Files::new(&[]);
        let config = json!({"assertions": [{"metric": "n", "equals": 2}]});
        for (artifacts, verdict) in [(&artifacts, Verdict::Pass), (&empty, Verdict::Fail)] {
            let artifacts = Some(artifacts.root().to_owned());
            let environment = Environment { artifacts, ..workspace.environment() };
            let outcome = grade_in("custom-metrics", config.clone(), &environment);
            assert_eq!(outcome.verdict, verdict);
        }
    }

    #[test]
    fn mistakes() {
        for (config, complaint) in [
            (json!({}), "assertions"),
            (json!({"assertions": []}), "assertions is empty"),
            (json!({"assertions": [{"metric": "a"}]}), "one of equals"),
            (json!({"assertions": [{"equals": 1}]}), "metric"),
            (json!({"assertions": [{"metric": "a", "min": 2, "max": 1}]}), "at least 2"),
            (json!({"assertions": [{"metric": "a", "equals": [1]}]}), "a metric is"),
            (json!({"assertions": [{"metric": "a", "above": 1}]}), "unknown key"),
            (json!({"path": "/x", "assertions": [{"metric": "a", "min": 1}]}), "relative"),
        ] {
            let said = complaints("custom-metrics", &config).join("; ");
            assert!(said.contains(complaint), "{config}: {said}");
        }
    }
}
