//! Scoring of a spec: weights and a threshold.

use super::graders::RequestedGrader;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use std::borrow::Cow;
use toolmark_base::{SortedMap, SortedSet};
use toolmark_config::{Node, NodeSpan, Problem, Spanned, did_you_mean, quoted, read};
use toolmark_grade::Loading;
use toolmark_match::units::Duration;

/// Maximum number of unknown keys that get a suggestion.
const SUGGESTIONS: usize = 20;

/// Scoring of a spec.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct VallyScoring {
    /// Weights by type or name of graders; 1 by default.
    #[serde(default)]
    weights: Option<WeightMap>,
    /// Minimum score of each stimulus, and of their average: 0 to 1.
    /// By default every grader must pass.
    #[serde(default)]
    threshold: Option<Spanned<f64>>,
    /// Maximum duration of grading for one run, with a unit.
    #[serde(default)]
    timeout: Option<Spanned<Duration>>,
}

/// Weights by type or name, as written in the spec.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
struct WeightMap(Node);

impl JsonSchema for WeightMap {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Weights".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "additionalProperties": { "type": "number", "minimum": 0 }
        })
    }
}

/// Weights of graders, with a record of those that were used.
#[derive(Default)]
pub(super) struct Weights {
    entries: SortedMap<String, Weight>,
    /// Types and names of graders that were looked up, for suggestions.
    met: SortedSet<String>,
    /// Graders without a weight, each reported once.
    unweighted: SortedSet<String>,
    given: bool,
}

struct Weight {
    span: NodeSpan,
    value: f64,
    used: bool,
}

/// Reads `scoring:` and returns the threshold and the weights, if any.
pub(super) fn scoring(
    node: Option<&Node>,
    loading: &mut Loading<'_>,
) -> (Option<f64>, Option<Weights>) {
    let node = node.filter(|node| !node.is_null());
    let scoring = node.and_then(|node| read::<VallyScoring>(node, &mut loading.problems));
    let Some(scoring) = scoring else {
        return (loading.options.threshold, None);
    };
    if let Some(threshold) = &scoring.threshold
        && !(0.0..=1.0).contains(&threshold.value)
    {
        let message = format!("expected a threshold from 0 to 1, found {}", threshold.value);
        loading.error("invalid-threshold", threshold.span, message);
    }
    if let Some(timeout) = &scoring.timeout {
        let span = timeout.span;
        let message = "a time limit for all graders of a run is not supported";
        let problem = Problem::warning("not-kept", message).at(span);
        loading
            .problems
            .push(problem.help("graders that run programs have a timeout of their own"));
    }
    let weights = scoring.weights.map(|WeightMap(map)| {
        let mut weights = Weights::default();
        weights.read(&map, loading);
        weights
    });
    let threshold = scoring.threshold.map(|threshold| threshold.value);
    (loading.options.threshold.or(threshold), weights)
}

impl Weights {
    fn read(&mut self, map: &Node, loading: &mut Loading<'_>) {
        let Some(entries) = map.as_map() else {
            if !map.is_null() {
                let message = format!("expected weights by grader, found {}", map.word());
                loading.error("wrong-type", map.span, message);
            }
            return;
        };
        self.given = !entries.is_empty();
        for entry in entries {
            let value = entry.value.as_f64().filter(|value| value.is_finite() && *value >= 0.0);
            if value.is_none() {
                let found = match entry.value.as_f64() {
                    Some(number) => number.to_string(),
                    None => entry.value.word().to_owned(),
                };
                let message = format!("expected a weight of 0 or more, found {found}");
                loading.error("invalid-weight", entry.value.span, message);
            }
            let value = value.unwrap_or(1.0);
            let weight = Weight { span: entry.key_span, value, used: false };
            self.entries.insert(entry.key.to_string(), weight);
        }
    }

    /// Returns the weight of a grader: by its name, otherwise by its type, otherwise 1.
    pub(super) fn of(&mut self, asked: &RequestedGrader, loading: &mut Loading<'_>) -> f64 {
        if let Some(weight) = self.find(asked) {
            return weight;
        }
        let kind = &asked.type_word.value;
        if self.given && self.unweighted.insert(kind.clone()) {
            let message = format!("{} has no weight, so it weighs 1", quoted(kind));
            loading.warn("missing-weight", asked.type_word.span, message);
        }
        1.0
    }

    /// Returns the weight configured for a grader and marks it as used.
    pub(super) fn find(&mut self, asked: &RequestedGrader) -> Option<f64> {
        let name = asked.name.as_ref().map(|name| &name.value);
        let kind = &asked.type_word.value;
        self.met.extend(name.cloned());
        self.met.insert(kind.clone());
        let key = name.filter(|name| self.entries.contains_key(*name)).unwrap_or(kind);
        let weight = self.entries.get_mut(key)?;
        weight.used = true;
        Some(weight.value)
    }

    /// Reports graders of one stimulus that share a weight by their type.
    pub(super) fn check_shared(&self, asked: &[&RequestedGrader], loading: &mut Loading<'_>) {
        let mut first: SortedMap<&str, NodeSpan> = SortedMap::new();
        let mut told = SortedSet::new();
        for asked in asked {
            let has = |key: &str| self.entries.contains_key(key);
            let kind = asked.type_word.value.as_str();
            if asked.name.as_ref().is_some_and(|name| has(&name.value)) || !has(kind) {
                continue;
            }
            let span = asked.type_word.span;
            let Some(before) = first.get(kind) else {
                first.insert(kind, span);
                continue;
            };
            if told.insert(kind) {
                let message = format!("several graders of type {} share one weight", quoted(kind));
                let problem = Problem::warning("duplicate-grader-type-in-stimulus", message)
                    .at(span)
                    .note(*before, "the first one")
                    .help("give them names and weights by name");
                loading.problems.push(problem);
            }
        }
    }

    /// Reports weights that no grader uses.
    pub(super) fn check_used(&self, loading: &mut Loading<'_>) {
        let mut unused: Vec<_> = self.entries.iter().filter(|(_, weight)| !weight.used).collect();
        unused.sort_by_key(|(_, weight)| weight.span);
        for (n, (key, weight)) in unused.into_iter().enumerate() {
            let message = format!("no grader has the type or name {}", quoted(key));
            let problem = Problem::error("invalid-scoring-weight-key", message).at(weight.span);
            // To compare everything with everything would take long.
            let met = self.met.iter().map(String::as_str).filter(|_| n < SUGGESTIONS);
            let near = did_you_mean(key, met);
            loading.problems.push(match near {
                Some(near) => problem.help(format!("did you mean {}?", quoted(near))),
                None => problem,
            });
        }
        if self.given && self.entries.values().all(|weight| weight.used && weight.value == 0.0) {
            let span = self.entries.values().map(|weight| weight.span).min().unwrap_or_default();
            loading.warn("all-weights-zero", span, "all weights are 0");
        }
    }
}
