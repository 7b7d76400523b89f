//! `field-accuracy`: compares the fields of a JSON answer with the reference.

use super::dates::{self, DateOrder};
use super::reading::{CheckLines, PROFILES, ReadingQuestion, count, is_agentv, number, reading};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use toolmark_config::Spanned;
use toolmark_grade::{Grader, GraderInfo, Reference, Taxonomy, schema_of};
use toolmark_match::Building;
use toolmark_outcome::Profile;
use toolmark_outcome::Subject;
use toolmark_outcome::{Cause, Outcome};
use toolmark_outcome::{Evidence, EvidenceRole, excerpt};
use toolmark_outcome::{NumberRules, equal};

/// Fields to compare, and comparison methods.
#[derive(Debug, Deserialize, JsonSchema)]
struct FieldAccuracyConfig {
    /// Fields to compare.
    fields: Spanned<Vec<FieldConfig>>,
    /// Method for combining the fields into a score.
    #[serde(default)]
    aggregation: Aggregation,
}

/// Method for combining fields into a score.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Aggregation {
    /// The weighted share of correct fields.
    #[default]
    WeightedAverage,
    /// 1 if all fields are correct, otherwise 0.
    AllOrNothing,
}

/// One field.
#[derive(Debug, Deserialize, JsonSchema)]
struct FieldConfig {
    /// Path of the field: `invoice.items[0].amount`.
    path: Spanned<String>,
    /// Comparison method.
    #[serde(rename = "match")]
    how: FieldComparison,
    /// For numbers: the maximum difference.
    #[serde(default)]
    tolerance: Option<f64>,
    /// Whether the tolerance is a fraction of the expected number.
    #[serde(default)]
    relative: bool,
    /// For dates: the accepted formats, such as `DD/MM/YYYY`.
    #[serde(default)]
    formats: Option<Vec<String>>,
    /// Whether the answer must have the field (the default). Otherwise the field only counts if
    /// present.
    #[serde(default)]
    required: Option<bool>,
    /// Weight of the field; 1 by default.
    #[serde(default)]
    weight: Option<f64>,
}

/// Comparison method of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum FieldComparison {
    /// The same value.
    Exact,
    /// Numbers that differ by at most the tolerance.
    NumericTolerance,
    /// The same date, in any format.
    Date,
}

pub(crate) static FIELD_ACCURACY: GraderInfo = GraderInfo {
    id: "field-accuracy",
    aliases: &["field_accuracy"],
    origin: "agentv",
    summary: "scores the fields of a JSON answer against the reference",
    docs: "Scores the fields of the final answer, which must be JSON, against those of the case's `expected_output`. Each of `fields` is compared by `match`: `exact`; `numeric_tolerance`, within `tolerance` (`relative: true` makes it a share of the expected number); `date`, the same day in whatever notation.

The score is the share of the weight of fields that are right, or with `aggregation: all_or_nothing` 1 or 0; 0.8 passes. A field with `required: false` that the answer lacks does not count.

A case without a reference, or a reference without the field, leaves nothing to compare with: that is unknown. AgentV's readings fail the first and pass the second.",
    example: "type: field-accuracy\nconfig:\n  fields:\n    - { path: invoice.total, match: numeric_tolerance, tolerance: 0.01 }\n    - { path: invoice.date, match: date }",
    taxonomy: Taxonomy { reference: Reference::Based, ..Taxonomy::OUTPUT },
    profiles: PROFILES,
    schema: schema_of::<FieldAccuracyConfig>,
    build,
};

struct Field {
    path: String,
    how: FieldComparison,
    tolerance: f64,
    relative: bool,
    order: DateOrder,
    required: bool,
    weight: f64,
}

struct FieldAccuracy {
    fields: Vec<Field>,
    aggregation: Aggregation,
}

fn build(building: &mut Building<'_>) -> Option<Arc<dyn Grader>> {
    let config = building.read::<FieldAccuracyConfig>()?;
    if config.fields.value.is_empty() {
        building.reject(config.fields.span, "empty-list", "one field at least is needed");
        return None;
    }
    let mut fields = Vec::new();
    let mut wrong = false;
    for field in config.fields.value {
        let (span, path) = (field.path.span, field.path.value);
        let (tolerance, weight) = (field.tolerance.unwrap_or(0.0), field.weight.unwrap_or(1.0));
        for (what, value) in [("tolerance", tolerance), ("weight", weight)] {
            if !value.is_finite() || value < 0.0 {
                building.reject(span, "invalid-number", format!("{what} must be 0 or more"));
                wrong = true;
            }
        }
        if parts(&path).next().is_none() {
            building.reject(span, "empty-text", "the path is empty");
            wrong = true;
        }
        fields.push(Field {
            path,
            how: field.how,
            tolerance,
            relative: field.relative,
            order: field.formats.as_deref().map_or(DateOrder::Either, DateOrder::of),
            required: field.required != Some(false),
            weight,
        });
    }
    if wrong {
        return None;
    }
    reading(building, FieldAccuracy { fields, aggregation: config.aggregation })
}

fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split(['.', '[', ']']).filter(|part| !part.is_empty())
}

fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    parts(path).try_fold(value, |value, part| match value {
        Value::Array(items) => items.get(part.parse::<usize>().ok()?),
        other => other.get(part),
    })
}

/// Parses JSON in a text, also in a fence or as an object surrounded by other text.
fn json_of(text: &str) -> Option<Value> {
    let text = text.replace("```json\n", "").replace("```json", "").replace("```", "");
    let text = text.trim();
    let blob = match (text.find('{'), text.rfind('}')) {
        (Some(start), Some(end)) if start < end => &text[start..=end],
        _ => text,
    };
    serde_json::from_str(blob).ok()
}

/// Returns the reference: a value, or the last message of the assistant that contains one.
fn reference(expected: &Value) -> Option<Value> {
    let content = |content: &Value| match content {
        Value::String(text) => json_of(text),
        Value::Object(_) | Value::Array(_) => Some(content.clone()),
        _ => None,
    };
    let is_message = |value: &Value| value.get("role").is_some() && value.get("content").is_some();
    match expected {
        Value::Array(messages) if messages.iter().any(is_message) => {
            let said = messages.iter().rev().filter(|m| m["role"] == "assistant");
            said.filter_map(|message| content(message.get("content")?)).next()
        }
        message if is_message(message) => content(&message["content"]),
        other => content(other),
    }
}

/// Description of a difference between a found and an expected value.
struct Difference(String);

impl Field {
    fn compare(&self, found: &Value, wanted: &Value) -> Result<(), Difference> {
        let different = |text: String| Err(Difference(text));
        match self.how {
            FieldComparison::Exact => match equal(found, wanted, NumberRules::Json) {
                true => Ok(()),
                false => different(format!("is {}, expected {}", shown(found), shown(wanted))),
            },
            FieldComparison::NumericTolerance => {
                let (Some(a), Some(b)) = (numeric(found), numeric(wanted)) else {
                    return different(format!(
                        "is {}, expected {}: no numbers",
                        shown(found),
                        shown(wanted)
                    ));
                };
                let mut difference = (a - b).abs();
                if self.relative && b != 0.0 {
                    difference /= b.abs();
                }
                match difference <= self.tolerance {
                    true => Ok(()),
                    false => different(format!(
                        "is {}, expected {} ± {}",
                        number(a),
                        number(b),
                        number(self.tolerance)
                    )),
                }
            }
            FieldComparison::Date => {
                let day = |value: &Value| match value {
                    Value::String(text) => dates::day(text, self.order),
                    other => dates::day(&other.to_string(), self.order),
                };
                match (day(found), day(wanted)) {
                    (Some(a), Some(b)) if a == b => Ok(()),
                    (Some(a), Some(b)) => different(format!("is {a}, expected {b}")),
                    (None, _) => different(format!("{} is no date", shown(found))),
                    (_, None) => different(format!("the expected {} is no date", shown(wanted))),
                }
            }
        }
    }
}

fn shown(value: &Value) -> String {
    excerpt(&value.to_string())
}

/// Parses a number, or a text that begins with one.
fn numeric(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => {
            let text = text.trim_start();
            let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E');
            // No number that means anything is longer.
            let end = text.find(|c| !is_part(c)).unwrap_or(text.len()).min(400);
            // The longest beginning that is a number.
            (1..=end).rev().find_map(|end| text.get(..end)?.parse::<f64>().ok())
        }
        _ => None,
    }
    .filter(|number| number.is_finite())
}

impl ReadingQuestion for FieldAccuracy {
    fn answer(&self, subject: &Subject<'_>, profile: Profile) -> Outcome {
        let agentv = is_agentv(profile);
        let aspects = self.fields.len();
        let failed = |why: &str| {
            let mut lines = CheckLines::default();
            lines.add(false, || why.to_owned());
            lines.outcome(profile, 0.0, aspects, why)
        };
        let output = match subject.view.output() {
            Ok(output) => output,
            Err(_) if agentv => "".into(),
            Err(missing) => return Outcome::unknown(Cause::MissingEvidence, missing.0),
        };
        let Some(answer) = json_of(&output) else { return failed("the answer is not JSON") };
        let Some(wanted) = subject.context.expected_output.as_ref().and_then(reference) else {
            let why = "the case has no expected output to compare with";
            return if agentv {
                failed(why)
            } else {
                Outcome::unknown(Cause::MissingEvidence, why)
            };
        };
        let (mut right, mut total) = (0.0, 0.0);
        let mut lines = CheckLines::default();
        let mut evidence = Vec::new();
        for field in &self.fields {
            let path = &field.path;
            let (holds, text, weight) = match (at(&answer, path), at(&wanted, path)) {
                (_, None) if !agentv => {
                    let why = format!("the expected output has no {path} to compare with");
                    return Outcome::unknown(Cause::MissingEvidence, why);
                }
                (_, None) => (true, format!("{path}: nothing expected"), field.weight),
                (None, Some(_)) if field.required => {
                    (false, format!("{path} is missing"), field.weight)
                }
                (None, Some(_)) => (true, format!("{path} is missing, and may be"), 0.0),
                (Some(found), Some(wanted)) => match field.compare(found, wanted) {
                    Ok(()) => (true, format!("{path} is right"), field.weight),
                    Err(Difference(why)) => (false, format!("{path} {why}"), field.weight),
                },
            };
            total += weight;
            right += if holds { weight } else { 0.0 };
            if !holds && evidence.len() < 20 {
                evidence.push(Evidence::words(EvidenceRole::Mismatch, text.clone()));
            }
            lines.add(holds, || text);
        }
        let score = match self.aggregation {
            Aggregation::AllOrNothing => f64::from(u8::from(lines.misses == 0)),
            Aggregation::WeightedAverage if total > 0.0 => right / total,
            // Nothing weighs anything: AgentV gives 0.
            Aggregation::WeightedAverage if agentv => 0.0,
            Aggregation::WeightedAverage => {
                let why = "no field that counts is there to compare";
                return Outcome::unknown(Cause::MissingEvidence, why);
            }
        };
        let reason = format!("{} of {} right", lines.hits, count(aspects, "field"));
        lines.outcome(profile, score, aspects, reason).with_evidence(evidence)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{build, complaints, runs};
    use serde_json::{Value, json};
    use toolmark_outcome::Profile;
    use toolmark_outcome::TrajectoryView;
    use toolmark_outcome::{CaseContext, Environment, Subject};
    use toolmark_outcome::{Outcome, Verdict};

    fn ask(profile: Profile, config: Value, said: &str, expected: Option<Value>) -> Outcome {
        let row = json!({"id": "t", "output_messages": [{"role": "assistant", "content": said}]});
        let grader = build("field-accuracy", profile, &config).unwrap();
        let context = CaseContext { expected_output: expected, ..CaseContext::default() };
        let run = &runs(&row.to_string())[0];
        grader.grade(&Subject {
            view: TrajectoryView::whole(run),
            context: &context,
            environment: &Environment::default(),
        })
    }

    #[test]
    fn fields_by_kind() {
        let answer = r#"Here: ```json
{"name": "Ann", "total": 99.5, "text": "12 kg", "day": "15-JAN-2025", "items": [{"n": 1}]}
```"#;
        let expected = json!({"name": "Ann", "total": 100, "text": 12, "day": "2025-01-15", "items": [{"n": 1}], "gone": 1});
        for (field, score) in [
            (json!({"path": "name", "match": "exact"}), 1.0),
            (json!({"path": "total", "match": "exact"}), 0.0),
            (json!({"path": "total", "match": "numeric_tolerance", "tolerance": 0.5}), 1.0),
            (json!({"path": "total", "match": "numeric_tolerance", "tolerance": 0.4}), 0.0),
            (
                json!({"path": "total", "match": "numeric_tolerance", "tolerance": 0.005, "relative": true}),
                1.0,
            ),
            (json!({"path": "text", "match": "numeric_tolerance"}), 1.0),
            (json!({"path": "name", "match": "numeric_tolerance", "tolerance": 9}), 0.0),
            (json!({"path": "day", "match": "date"}), 1.0),
            (json!({"path": "name", "match": "date"}), 0.0),
            (json!({"path": "items[0].n", "match": "exact"}), 1.0),
            (json!({"path": "gone", "match": "exact"}), 0.0),
        ] {
            let config = json!({"fields": [field.clone()]});
            for profile in [Profile::Toolmark, Profile::AgentV2] {
                let outcome = ask(profile, config.clone(), answer, Some(expected.clone()));
                assert_eq!(outcome.score, Some(score), "{field} {profile}");
            }
        }
    }

    #[test]
    fn weights_and_what_may_be_missing() {
        let field =
            |path: &str, weight: f64| json!({"path": path, "match": "exact", "weight": weight});
        let optional = json!({"path": "c", "match": "exact", "required": false});
        let fields = json!([field("a", 3.0), field("b", 1.0), optional]);
        let expected = Some(json!([{"role": "assistant", "content": {"a": 1, "b": 2, "c": 3}}]));
        let config = json!({"fields": fields});
        let outcome = ask(Profile::Toolmark, config, "{\"a\": 1, \"b\": 0}", expected.clone());
        assert_eq!((outcome.score, outcome.verdict), (Some(0.75), Verdict::Fail));
        let config = json!({"fields": fields, "aggregation": "all_or_nothing"});
        let outcome = ask(Profile::Toolmark, config, "{\"a\": 1, \"b\": 0}", expected);
        assert_eq!(outcome.score, Some(0.0));
    }

    #[test]
    fn nothing_to_compare_with() {
        let config = json!({"fields": [{"path": "a", "match": "exact"}]});
        for (said, expected, ours, theirs) in [
            ("{\"a\": 1}", None, None, Some(0.0)),
            ("{\"a\": 1}", Some(json!({"b": 1})), None, Some(1.0)),
            ("no", Some(json!({"a": 1})), Some(0.0), Some(0.0)),
        ] {
            let outcome = ask(Profile::Toolmark, config.clone(), said, expected.clone());
            assert_eq!(outcome.score, ours, "{said} {expected:?}");
            let outcome = ask(Profile::AgentV2, config.clone(), said, expected.clone());
            assert_eq!(outcome.score, theirs, "{said} {expected:?}");
        }
    }

    #[test]
    fn mistakes() {
        for (config, complaint) in [
            (json!({}), "fields"),
            (json!({"fields": []}), "one field"),
            (json!({"fields": [{"path": "a", "match": "fuzzy"}]}), "fuzzy"),
            (json!({"fields": [{"path": ".", "match": "exact"}]}), "empty"),
            (json!({"fields": [{"path": "a", "match": "exact", "weight": -1}]}), "0 or more"),
        ] {
            let said = complaints("field-accuracy", &config).join("; ");
            assert!(said.contains(complaint), "{config}: {said}");
        }
    }
}
