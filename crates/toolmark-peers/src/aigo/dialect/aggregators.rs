//! Score aggregators of a task: how the trials of a sample are combined into a number, and its
//! mean over all samples.

use super::scorers::Scorer;
use super::task::Task;
use serde_json::{Value, json};
use std::sync::Arc;
use toolmark_base::SortedMap;
use toolmark_config::{Node, Problem, did_you_mean, quoted};
use toolmark_grade::{Aggregate, Loading};
use toolmark_outcome::statistics::{mean, pass_at_k, pass_hat_k};
use toolmark_outcome::{CaseResult, Missing};

/// Names of the variants of [`TrialAggregation`].
const TYPES: &[&str] =
    &["mean", "min", "max", "median", "majority", "all", "any", "pass_at_k", "pass_hat_k"];

/// Method for combining trials.
#[derive(Debug, Clone, Copy, PartialEq)]
enum TrialAggregation {
    Mean,
    Min,
    Max,
    Median,
    /// Whether more than half of the trials passed.
    Majority,
    /// The probability that one of k trials passes; k defaults to the number of trials.
    PassAt(Option<u64>),
    /// The probability that all of k trials pass.
    PassHat(Option<u64>),
}

struct Aggregator {
    name: String,
    scorer: String,
    field: Option<String>,
    how: TrialAggregation,
}

/// Reads the aggregators of a task, one for each scorer. Problems are
/// reported.
pub(super) fn read(
    task: &Task<'_>,
    scorers: &[Scorer],
    loading: &mut Loading<'_>,
) -> Vec<Arc<dyn Aggregate>> {
    let mut all: Vec<Arc<dyn Aggregate>> = Vec::new();
    for node in task.aggregators() {
        let Some((word, how)) = how(node, loading) else { continue };
        let text = |key: &str| node.get(key).and_then(Node::as_str).map(str::to_owned);
        let field = text("field").or_else(|| text("score_name"));
        let own = text("name").or_else(|| text("key"));
        let only = text("scorer");
        for scorer in scorers.iter().filter(|one| only.as_ref().is_none_or(|key| *key == one.name))
        {
            let name = match (&own, &field, scorers.len()) {
                (Some(own), _, 1) => own.clone(),
                (Some(own), ..) => format!("{}: {own}", scorer.name),
                (None, Some(field), _) => format!("{}: {field} {word}", scorer.name),
                (None, None, _) => format!("{}: {word} of trials", scorer.name),
            };
            let scorer = scorer.name.clone();
            all.push(Arc::new(Aggregator { name, scorer, field: field.clone(), how }));
        }
    }
    all
}

fn how(node: &Node, loading: &mut Loading<'_>) -> Option<(String, TrialAggregation)> {
    let named =
        ["type", "aggregator", "aggregation"].iter().find_map(|key| node.get(key)?.as_str());
    let Some(word) = node.as_str().or(named) else {
        let problem = Problem::warning("not-applied", "the score aggregator is not applied");
        loading
            .problems
            .push(problem.at(node.span).help(format!("`type` is {}", TYPES.join(", "))));
        return None;
    };
    let k = node.get("k").filter(|k| !k.is_null());
    let number = k.and_then(Node::as_u64).filter(|k| *k > 0);
    if let Some(k) = k.filter(|_| number.is_none()) {
        loading.error("wrong-type", k.span, "k is a whole number of 1 or more");
        return None;
    }
    let how = match word.replace('-', "_").as_str() {
        "mean" | "average" | "avg" => TrialAggregation::Mean,
        "min" | "all" => TrialAggregation::Min,
        "max" | "any" => TrialAggregation::Max,
        "median" => TrialAggregation::Median,
        "majority" | "mode" | "majority_vote" => TrialAggregation::Majority,
        "pass_at_k" | "pass@k" => TrialAggregation::PassAt(number),
        "pass_hat_k" | "pass^k" | "pass_pow_k" => TrialAggregation::PassHat(number),
        _ => {
            let message = format!("the score aggregator {} is not applied", quoted(word));
            let problem = Problem::warning("not-applied", message).at(node.span);
            loading.problems.push(match did_you_mean(word, TYPES.iter().copied()) {
                Some(near) => problem.help(format!("did you mean {}?", quoted(near))),
                None => problem.help(format!("the types are {}", TYPES.join(", "))),
            });
            return None;
        }
    };
    Some((word.to_owned(), how))
}

impl Aggregate for Aggregator {
    fn name(&self) -> &str {
        &self.name
    }

    fn value(&self, results: &[CaseResult]) -> Result<Value, Missing> {
        let mut samples: SortedMap<usize, Vec<f64>> = SortedMap::new();
        let mut left_out = 0;
        for result in results {
            let grader = result.graders.iter().find(|grader| grader.name == *self.scorer);
            let Some(grader) = grader else { continue };
            let value = match &self.field {
                None => grader.outcome.score,
                Some(field) => match grader.outcome.metrics.get(field) {
                    Some(Value::Bool(flag)) => Some(f64::from(u8::from(*flag))),
                    value => value.and_then(Value::as_f64),
                },
            };
            match value {
                Some(value) => samples.entry(result.case_index).or_default().push(value),
                None => left_out += 1,
            }
        }
        let ones = samples.values_mut().map(|trials| self.how.of(trials));
        let ones = ones.collect::<Result<Vec<f64>, Missing>>()?;
        let value = mean(&ones).ok_or_else(|| Missing::new("no trial has this score"))?;
        Ok(match left_out {
            0 => json!(value),
            _ => json!({ "value": value, "samples": ones.len(), "left_out": left_out }),
        })
    }
}

impl TrialAggregation {
    /// Combines the trials of one sample into a number.
    fn of(self, trials: &mut [f64]) -> Result<f64, Missing> {
        trials.sort_by(f64::total_cmp);
        let n = trials.len() as u64;
        let passed = trials.iter().filter(|score| **score >= 1.0).count() as u64;
        let few = |k: u64| Missing(format!("a sample has {n} trials, fewer than {k}"));
        Ok(match self {
            Self::Mean => mean(trials).unwrap_or(0.0),
            Self::Min => trials.first().copied().unwrap_or(0.0),
            Self::Max => trials.last().copied().unwrap_or(0.0),
            Self::Median => match trials.len() {
                0 => 0.0,
                n if n % 2 == 1 => trials[n / 2],
                n => trials[n / 2 - 1].midpoint(trials[n / 2]),
            },
            Self::Majority => f64::from(u8::from(passed * 2 > n)),
            Self::PassAt(k) => {
                let k = k.unwrap_or(n);
                pass_at_k(n, passed, k).ok_or_else(|| few(k))?
            }
            Self::PassHat(k) => {
                let k = k.unwrap_or(n);
                pass_hat_k(n, passed, k).ok_or_else(|| few(k))?
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_make_one() {
        for (how, want) in [
            (TrialAggregation::Mean, Ok(0.8)),
            (TrialAggregation::Min, Ok(0.0)),
            (TrialAggregation::Max, Ok(1.0)),
            (TrialAggregation::Median, Ok(1.0)),
            (TrialAggregation::Majority, Ok(1.0)),
            (TrialAggregation::PassAt(Some(1)), Ok(0.8)),
            (TrialAggregation::PassAt(None), Ok(1.0)),
            (TrialAggregation::PassHat(Some(2)), Ok(0.6)),
            (
                TrialAggregation::PassHat(Some(6)),
                Err(Missing::new("a sample has 5 trials, fewer than 6")),
            ),
        ] {
            let got = how.of(&mut [1.0, 0.0, 1.0, 1.0, 1.0]);
            match (got, want) {
                (Ok(got), Ok(want)) => assert!((got - want).abs() < 1e-12, "{how:?}: {got}"),
                (got, want) => assert_eq!(got, want, "{how:?}"),
            }
        }
    }
}
