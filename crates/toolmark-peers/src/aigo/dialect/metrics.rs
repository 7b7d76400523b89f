//! Metrics of a task: numbers over the scores of all samples.
//!
//! Samples are the trials of all cases. A sample whose scorer is undecided, or
//! lacks the field, is skipped; the number then is an object
//! with the count of skipped samples. The standard deviation is that of the
//! population, because the samples are complete.

use super::scorers::Scorer;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use toolmark_base::{SortedMap, SortedSet};
use toolmark_config::{Node, Problem, did_you_mean, quoted, read as read_config};
use toolmark_grade::Aggregate;
use toolmark_grade::Loading;
use toolmark_outcome::{CaseResult, Missing};

/// Names of the kinds.
const TYPES: &[&str] = &[
    "mean",
    "min",
    "max",
    "std_dev",
    "frequency",
    "precision",
    "recall",
    "f1_score",
    "binary-classification",
    "multiclass-classification",
    "python",
    "weighted_average",
];

/// A metric of one field.
#[derive(Debug, Deserialize)]
struct OfField {
    #[serde(rename = "type")]
    kind: String,
    field: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    key: Option<String>,
}

/// A metric of counts.
#[derive(Debug, Deserialize)]
struct OfCounts {
    #[serde(rename = "type")]
    kind: String,
    num_true_positives_field: String,
    #[serde(default)]
    num_false_positives_field: Option<String>,
    #[serde(default)]
    num_false_negatives_field: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    key: Option<String>,
}

/// A report on labels.
#[derive(Debug, Deserialize)]
struct OfLabels {
    #[serde(rename = "type")]
    kind: String,
    field_gt: String,
    field_pred: String,
    #[serde(default)]
    positive_answer: Option<String>,
    #[serde(default)]
    negative_answer: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    key: Option<String>,
}

/// Formula of a metric.
#[derive(Debug, Clone)]
enum MetricFormula {
    Mean(String),
    Min(String),
    Max(String),
    StdDev(String),
    Frequency(String),
    Precision { hits: String, wrong: String },
    Recall { hits: String, missed: String },
    F1 { hits: String, wrong: String, missed: String },
    Binary { truth: String, guess: String, positive: String, negative: String },
    Multiclass { truth: String, guess: String },
}

/// A metric over all samples.
#[derive(Debug, Clone)]
pub(super) struct Metric {
    name: String,
    scorer: String,
    how: MetricFormula,
}

/// Reads the metrics of a scorer. Problems are reported.
pub(super) fn read(node: Option<&Node>, scorer: &str, loading: &mut Loading<'_>) -> Vec<Metric> {
    let Some(node) = node.filter(|node| !node.is_null()) else { return Vec::new() };
    if node.as_list().is_none() {
        let message = format!("expected a list of metrics, found {}", node.word());
        loading.error("wrong-type", node.span, message);
        return Vec::new();
    }
    let metrics = node.items().filter_map(|item| {
        let (name, how) = read_one(item, loading)?;
        Some(Metric { name, scorer: scorer.to_owned(), how })
    });
    metrics.collect()
}

/// Returns all metrics of a task. Metrics with the same name are distinguished by scorer.
pub(super) fn aggregates(scorers: &[Scorer]) -> Vec<Arc<dyn Aggregate>> {
    let all: Vec<&Metric> = scorers.iter().flat_map(|scorer| &scorer.metrics).collect();
    let mut taken = SortedSet::new();
    let mut aggregates: Vec<Arc<dyn Aggregate>> = Vec::with_capacity(all.len());
    for metric in &all {
        let is_shared = all.iter().filter(|other| other.name == metric.name).count() > 1;
        let base = match is_shared {
            true => format!("{}: {}", metric.scorer, metric.name),
            false => metric.name.clone(),
        };
        let mut name = base.clone();
        let mut n = 2;
        while !taken.insert(name.clone()) {
            name = format!("{base} {n}");
            n += 1;
        }
        aggregates.push(Arc::new(Metric { name, ..(*metric).clone() }));
    }
    aggregates
}

fn read_one(node: &Node, loading: &mut Loading<'_>) -> Option<(String, MetricFormula)> {
    let Some(kind) = node.get("type").and_then(Node::as_str) else {
        loading.error("missing-key", node.span, "a metric needs a `type`");
        return None;
    };
    // Both spellings are around.
    match kind.replace('-', "_").as_str() {
        "mean" | "min" | "max" | "std_dev" | "frequency" => {
            let OfField { kind, field, name, key } = read_config(node, &mut loading.problems)?;
            let name = name.or(key).unwrap_or_else(|| format!("{field}_{kind}"));
            let how = match kind.as_str() {
                "mean" => MetricFormula::Mean,
                "min" => MetricFormula::Min,
                "max" => MetricFormula::Max,
                "frequency" => MetricFormula::Frequency,
                _ => MetricFormula::StdDev,
            };
            Some((name, how(field)))
        }
        "precision" | "recall" | "f1_score" => of_counts(node, loading),
        "binary_classification" | "multiclass_classification" => of_labels(node, loading),
        "python" | "weighted_average" => {
            let message = format!("metrics of type {} are not computed here", quoted(kind));
            loading.warn("not-computed", node.span, message);
            None
        }
        _ => {
            let message = format!("unknown metric type {}", quoted(kind));
            let span = node.get("type").map_or(node.span, |kind| kind.span);
            let problem = Problem::error("unknown-metric-type", message).at(span);
            loading.problems.push(match did_you_mean(kind, TYPES.iter().copied()) {
                Some(near) => problem.help(format!("did you mean {}?", quoted(near))),
                None => problem.help(format!("the types are {}", TYPES.join(", "))),
            });
            None
        }
    }
}

fn of_counts(node: &Node, loading: &mut Loading<'_>) -> Option<(String, MetricFormula)> {
    let metric: OfCounts = read_config(node, &mut loading.problems)?;
    let name = metric.name.or(metric.key).unwrap_or_else(|| metric.kind.clone());
    let hits = metric.num_true_positives_field;
    let mut needed = |field: Option<String>, key: &str| {
        if field.is_none() {
            loading.error("missing-key", node.span, format!("missing key {}", quoted(key)));
        }
        field
    };
    let how = match metric.kind.as_str() {
        "precision" => {
            let wrong = needed(metric.num_false_positives_field, "num_false_positives_field")?;
            MetricFormula::Precision { hits, wrong }
        }
        "recall" => {
            let missed = needed(metric.num_false_negatives_field, "num_false_negatives_field")?;
            MetricFormula::Recall { hits, missed }
        }
        _ => {
            let wrong = needed(metric.num_false_positives_field, "num_false_positives_field");
            let missed = needed(metric.num_false_negatives_field, "num_false_negatives_field");
            MetricFormula::F1 { hits, wrong: wrong?, missed: missed? }
        }
    };
    Some((name, how))
}

fn of_labels(node: &Node, loading: &mut Loading<'_>) -> Option<(String, MetricFormula)> {
    let metric: OfLabels = read_config(node, &mut loading.problems)?;
    let name = metric.name.or(metric.key).unwrap_or_else(|| metric.kind.clone());
    let (truth, guess) = (metric.field_gt, metric.field_pred);
    if metric.kind.starts_with("multiclass") {
        return Some((name, MetricFormula::Multiclass { truth, guess }));
    }
    let mut needed = |answer: Option<String>, key: &str| {
        if answer.is_none() {
            loading.error("missing-key", node.span, format!("missing key {}", quoted(key)));
        }
        answer
    };
    let positive = needed(metric.positive_answer, "positive_answer");
    let negative = needed(metric.negative_answer, "negative_answer");
    Some((name, MetricFormula::Binary { truth, guess, positive: positive?, negative: negative? }))
}

impl Aggregate for Metric {
    fn name(&self) -> &str {
        &self.name
    }

    fn value(&self, results: &[CaseResult]) -> Result<Value, Missing> {
        let samples = results
            .iter()
            .filter_map(|result| result.graders.iter().find(|grader| grader.name == *self.scorer));
        let samples: Vec<SampleFields<'_>> = samples
            .map(|grader| SampleFields {
                metrics: &grader.outcome.metrics,
                score: grader.outcome.score,
            })
            .collect();
        let (value, used) = self.how.over(&samples)?;
        let left_out = samples.len() - used;
        Ok(match left_out {
            0 => value,
            _ => json!({ "value": value, "samples": used, "left_out": left_out }),
        })
    }
}

/// Fields that a scorer returns for a sample.
struct SampleFields<'a> {
    metrics: &'a Map<String, Value>,
    score: Option<f64>,
}

impl SampleFields<'_> {
    fn value(&self, field: &str) -> Option<Value> {
        match self.metrics.get(field) {
            Some(value) if !value.is_null() => Some(value.clone()),
            Some(_) => None,
            None if field == "score" => self.score.map(Value::from),
            None => None,
        }
    }

    fn number(&self, field: &str) -> Option<f64> {
        match self.value(field)? {
            Value::Bool(flag) => Some(f64::from(u8::from(flag))),
            value => value.as_f64(),
        }
    }

    /// Returns a value in Python's notation, for comparing labels.
    fn label(&self, field: &str) -> Option<String> {
        Some(match self.value(field)? {
            Value::String(text) => text,
            Value::Bool(true) => "True".into(),
            Value::Bool(false) => "False".into(),
            other => other.to_string(),
        })
    }
}

impl MetricFormula {
    /// Returns the value, and the number of samples used.
    fn over(&self, samples: &[SampleFields<'_>]) -> Result<(Value, usize), Missing> {
        match self {
            Self::Mean(field) => numbers(samples, field).map(|n| (json!(mean(&n)), n.len())),
            Self::Min(field) => extreme(samples, field, f64::min),
            Self::Max(field) => extreme(samples, field, f64::max),
            Self::StdDev(field) => {
                let n = numbers(samples, field)?;
                let middle = mean(&n);
                let spread: Vec<f64> = n.iter().map(|x| (x - middle).powi(2)).collect();
                Ok((json!(mean(&spread).sqrt()), n.len()))
            }
            Self::Frequency(field) => {
                let labels: Vec<String> = samples.iter().filter_map(|s| s.label(field)).collect();
                let mut counts: SortedMap<String, u64> = SortedMap::new();
                for label in &labels {
                    *counts.entry(label.clone()).or_default() += 1;
                }
                let total = some(labels.len(), field)?;
                let shares = counts.into_iter().map(|(label, count)| {
                    (format!("{field}_{label}"), json!(count as f64 / total as f64))
                });
                Ok((Value::Object(shares.collect()), total))
            }
            Self::Precision { hits, wrong } => {
                let ([hits, wrong], used) = sums(samples, [hits, wrong])?;
                ratio(hits, hits + wrong).map(|value| (value, used))
            }
            Self::Recall { hits, missed } => {
                let ([hits, missed], used) = sums(samples, [hits, missed])?;
                ratio(hits, hits + missed).map(|value| (value, used))
            }
            Self::F1 { hits, wrong, missed } => {
                let ([hits, wrong, missed], used) = sums(samples, [hits, wrong, missed])?;
                ratio(2.0 * hits, 2.0 * hits + wrong + missed).map(|value| (value, used))
            }
            Self::Binary { truth, guess, positive, negative } => {
                let mut pairs = pairs(samples, truth, guess);
                let known = |label: &String| label == positive || label == negative;
                pairs.retain(|(truth, guess)| known(truth) && known(guess));
                let used = some(pairs.len(), truth)?;
                let count = |truth: &String, guess: &String| {
                    pairs.iter().filter(|pair| pair.0 == *truth && pair.1 == *guess).count()
                };
                let (tp, fp) = (count(positive, positive), count(negative, positive));
                let (tn, missed) = (count(negative, negative), count(positive, negative));
                let share = |a: usize, b: usize| ratio(a as f64, b as f64).unwrap_or(Value::Null);
                let report = json!({
                    "accuracy": share(tp + tn, used),
                    "precision": share(tp, tp + fp),
                    "recall": share(tp, tp + missed),
                    "f1_score": share(2 * tp, 2 * tp + fp + missed),
                    "true_positives": tp,
                    "false_positives": fp,
                    "false_negatives": missed,
                    "true_negatives": tn,
                });
                Ok((report, used))
            }
            Self::Multiclass { truth, guess } => {
                let pairs = pairs(samples, truth, guess);
                let used = some(pairs.len(), truth)?;
                Ok((by_class(&pairs), used))
            }
        }
    }
}

/// Returns the accuracy, and precision, recall and F1 of every class and over classes.
fn by_class(pairs: &[(String, String)]) -> Value {
    let classes: SortedSet<&String> = pairs.iter().flat_map(|(t, g)| [t, g]).collect();
    let count = |which: &dyn Fn(&(String, String)) -> bool| {
        pairs.iter().filter(|pair| which(pair)).count() as f64
    };
    let right = count(&|(truth, guess)| truth == guess);
    let mut report = Map::new();
    report.insert("accuracy".into(), json!(right / pairs.len() as f64));
    let mut sums = [0.0; 3];
    for class in &classes {
        let tp = count(&|(truth, guess)| truth == *class && guess == *class);
        let guessed = count(&|(_, guess)| guess == *class);
        let true_ones = count(&|(truth, _)| truth == *class);
        // A class without predictions or without members scores 0, as usual.
        let part = |a: f64, b: f64| if b > 0.0 { a / b } else { 0.0 };
        let values = [part(tp, guessed), part(tp, true_ones), part(2.0 * tp, guessed + true_ones)];
        for ((sum, value), word) in
            sums.iter_mut().zip(values).zip(["precision", "recall", "f1_score"])
        {
            *sum += value;
            report.insert(format!("{class}_{word}"), json!(value));
        }
    }
    for (sum, word) in sums.iter().zip(["precision", "recall", "f1_score"]) {
        report.insert(format!("macro_{word}"), json!(sum / classes.len() as f64));
    }
    Value::Object(report)
}

fn some(count: usize, field: &str) -> Result<usize, Missing> {
    match count {
        0 => Err(Missing(format!("no sample has a value for {field}"))),
        count => Ok(count),
    }
}

fn numbers(samples: &[SampleFields<'_>], field: &str) -> Result<Vec<f64>, Missing> {
    let numbers: Vec<f64> = samples.iter().filter_map(|sample| sample.number(field)).collect();
    some(numbers.len(), field)?;
    Ok(numbers)
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

fn extreme(
    samples: &[SampleFields<'_>],
    field: &str,
    pick: fn(f64, f64) -> f64,
) -> Result<(Value, usize), Missing> {
    let numbers = numbers(samples, field)?;
    let value = numbers.iter().copied().reduce(pick);
    Ok((json!(value), numbers.len()))
}

/// Returns the sums of several fields over the samples that have all of them.
fn sums<const N: usize>(
    samples: &[SampleFields<'_>],
    fields: [&String; N],
) -> Result<([f64; N], usize), Missing> {
    let mut sums = [0.0; N];
    let mut used = 0;
    for sample in samples {
        let numbers: Vec<f64> = fields.iter().filter_map(|field| sample.number(field)).collect();
        if numbers.len() == N {
            used += 1;
            for (sum, number) in sums.iter_mut().zip(numbers) {
                *sum += number;
            }
        }
    }
    let field = fields.first().map_or("", |field| field.as_str());
    some(used, field)?;
    Ok((sums, used))
}

fn ratio(part: f64, whole: f64) -> Result<Value, Missing> {
    match whole > 0.0 {
        true => Ok(json!(part / whole)),
        false => Err(Missing::new("there is nothing to divide by")),
    }
}

fn pairs(samples: &[SampleFields<'_>], truth: &str, guess: &str) -> Vec<(String, String)> {
    let pairs = samples.iter().filter_map(|s| Some((s.label(truth)?, s.label(guess)?)));
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(how: MetricFormula, rows: &[Value]) -> Result<(Value, usize), Missing> {
        let maps: Vec<Map<String, Value>> =
            rows.iter().map(|row| row.as_object().unwrap().clone()).collect();
        let samples: Vec<SampleFields<'_>> =
            maps.iter().map(|metrics| SampleFields { metrics, score: Some(0.25) }).collect();
        how.over(&samples)
    }

    #[test]
    fn of_numbers() {
        let f = || "x".to_owned();
        let rows = [json!({"x": 1}), json!({"x": 3.0}), json!({"x": true}), json!({})];
        for (how, want) in [
            (MetricFormula::Mean(f()), Ok((json!(5.0 / 3.0), 3))),
            (MetricFormula::Min(f()), Ok((json!(1.0), 3))),
            (MetricFormula::Max(f()), Ok((json!(3.0), 3))),
            // The population's: ((2/3)² + (4/3)² + (2/3)²) / 3 = 24/27.
            (MetricFormula::StdDev(f()), Ok((json!((24.0_f64 / 27.0).sqrt()), 3))),
            (MetricFormula::Mean("score".into()), Ok((json!(0.25), 4))),
            (MetricFormula::Mean("y".into()), Err(Missing::new("no sample has a value for y"))),
        ] {
            let got = over(how.clone(), &rows);
            match (&got, &want) {
                (Ok((got, n)), Ok((want, m))) => {
                    let (got, want) = (got.as_f64().unwrap(), want.as_f64().unwrap());
                    assert!((got - want).abs() < 1e-12 && n == m, "{how:?} {got} {want}");
                }
                _ => assert_eq!(got, want, "{how:?}"),
            }
        }
    }

    #[test]
    fn of_counts_and_labels() {
        let s = |text: &str| text.to_owned();
        let counts = [json!({"tp": 3, "fp": 1, "fn": 2}), json!({"tp": 1, "fp": 0, "fn": 0})];
        let labels = [
            json!({"t": "yes", "p": "yes"}),
            json!({"t": "yes", "p": "no"}),
            json!({"t": "no", "p": "no"}),
            json!({"t": "no", "p": "other"}),
        ];
        for (how, rows, want) in [
            (MetricFormula::Precision { hits: s("tp"), wrong: s("fp") }, &counts[..], json!(0.8)),
            (
                MetricFormula::Recall { hits: s("tp"), missed: s("fn") },
                &counts[..],
                json!(4.0 / 6.0),
            ),
            (
                MetricFormula::F1 { hits: s("tp"), wrong: s("fp"), missed: s("fn") },
                &counts[..],
                json!(8.0 / 11.0),
            ),
            (MetricFormula::Frequency(s("t")), &labels[..], json!({"t_no": 0.5, "t_yes": 0.5})),
            (
                MetricFormula::Binary {
                    truth: s("t"),
                    guess: s("p"),
                    positive: s("yes"),
                    negative: s("no"),
                },
                &labels[..],
                json!({
                    "accuracy": 2.0 / 3.0, "precision": 1.0, "recall": 0.5, "f1_score": 2.0 / 3.0,
                    "true_positives": 1, "false_positives": 0, "false_negatives": 1,
                    "true_negatives": 1,
                }),
            ),
            (
                MetricFormula::Multiclass { truth: s("t"), guess: s("p") },
                &labels[..3],
                json!({
                    "accuracy": 2.0 / 3.0,
                    "no_precision": 0.5, "no_recall": 1.0, "no_f1_score": 2.0 / 3.0,
                    "yes_precision": 1.0, "yes_recall": 0.5, "yes_f1_score": 2.0 / 3.0,
                    "macro_precision": 0.75, "macro_recall": 0.75, "macro_f1_score": 2.0 / 3.0,
                }),
            ),
        ] {
            let (got, _) = over(how.clone(), rows).unwrap();
            assert_eq!(got, want, "{how:?}");
        }
        let none = over(
            MetricFormula::Precision { hits: s("tp"), wrong: s("fp") },
            &[json!({"tp": 0, "fp": 0})],
        );
        assert_eq!(none, Err(Missing::new("there is nothing to divide by")));
    }
}
