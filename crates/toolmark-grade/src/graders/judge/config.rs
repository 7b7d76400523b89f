//! Configuration of `judge`, and its validation.

use schemars::JsonSchema;
use serde::Deserialize;
use toolmark_config::{Node, Problem, Spanned, did_you_mean, quoted};
use toolmark_outcome::judging::{Aggregation, Effort, FIELDS, Field, Panel, Scale};

/// A rubric that a model scores.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct JudgeConfig {
    /// Display name of the rubric in reports.
    #[serde(default)]
    pub(super) name: Option<String>,
    /// Rubric: a text, a list of criteria, or the name of a built-in rubric.
    #[serde(default)]
    pub(super) rubric: Option<Node>,
    /// Alias of `rubric`.
    #[serde(default)]
    pub(super) grading_criteria: Option<Node>,
    /// Scale of the marks; by default the scale that the rubric mentions, otherwise `1-5`.
    #[serde(default)]
    pub(super) scale: Option<Scale>,
    /// Hand-scored examples for the judge: `text`, `mark` and `reason`.
    #[serde(default)]
    pub(super) examples: Option<Node>,
    /// Inputs of the judge: names and the fields that they show.
    #[serde(default)]
    inputs: Option<Node>,
    /// Alias of `inputs`.
    #[serde(default)]
    input_mapping: Option<Node>,
    /// Calls to judge; the whole run by default.
    #[serde(default)]
    pub(super) calls: Option<Spanned<JudgedCalls>>,
    /// Minimum share that passes, from 0 to 1; 0.5 by default.
    #[serde(default)]
    threshold: Option<Spanned<f64>>,
    /// Model of the judge.
    #[serde(default)]
    model: Option<Spanned<String>>,
    /// Models of a panel of judges.
    #[serde(default)]
    models: Option<Spanned<Vec<Spanned<String>>>>,
    /// Number of votes per model; 1 by default.
    #[serde(default)]
    votes: Option<Spanned<u32>>,
    /// Method for combining the votes; by majority by default.
    #[serde(default)]
    aggregation: Option<Aggregation>,
    /// Minimum number of decided votes, otherwise the verdict is unknown; more than half by
    /// default.
    #[serde(default)]
    quorum: Option<Spanned<u32>>,
    /// Reasoning effort of the models.
    #[serde(default)]
    effort: Option<Effort>,
    /// Method for combining the results of several calls; all must pass by default.
    #[serde(default)]
    pub(super) over: Option<Over>,
    /// Verdict if no call was selected; unknown by default.
    #[serde(default)]
    pub(super) if_none: Option<If>,
}

/// Method for combining the results of several calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Over {
    /// All must pass.
    #[default]
    All,
    /// Their mean must reach the threshold.
    Mean,
    /// The lowest must reach the threshold.
    Min,
}

/// Verdict if there is nothing to judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum If {
    /// The verdict is unknown.
    #[default]
    Unknown,
    /// The grader passes.
    Pass,
}

/// Calls to judge.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(super) struct JudgedCalls {
    /// Tools, by name or pattern: one, or a list.
    #[serde(default)]
    pub(super) tool: Option<Node>,
    /// Codes of `toolmark check` rules, or prefixes of codes: one, or a list.
    #[serde(default)]
    pub(super) finding: Option<Node>,
    /// Status of the call.
    #[serde(default)]
    pub(super) status: Option<StatusFilter>,
    /// Maximum number of calls, sampled deterministically.
    #[serde(default)]
    pub(super) sample: Option<Spanned<u32>>,
}

/// Status of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum StatusFilter {
    /// The call failed, was denied or was interrupted.
    Failed,
    /// The call succeeded.
    Succeeded,
}

impl JudgeConfig {
    /// Returns the configured inputs of the judge, if any.
    pub(super) fn inputs(&self, problems: &mut Vec<Problem>) -> Option<Vec<(String, String)>> {
        let node = match (&self.inputs, &self.input_mapping) {
            (Some(node), None) | (None, Some(node)) => node,
            (Some(_), Some(twice)) => {
                let message = "only one of inputs and input_mapping is allowed: they mean the same";
                problems.push(Problem::error("conflicting-keys", message).at(twice.span));
                return None;
            }
            (None, None) => return None,
        };
        let entries = node.as_map().filter(|entries| !entries.is_empty());
        let Some(entries) = entries else {
            let message = format!("expected a map of names to fields, found {}", node.word());
            problems.push(Problem::error("wrong-type", message).at(node.span));
            return None;
        };
        let mut inputs = Vec::with_capacity(entries.len());
        for entry in entries {
            match entry.value.as_str() {
                Some(path) => {
                    if Field::of(path.trim_end_matches('?')).is_none() {
                        problems.push(unknown_field(path, &entry.value));
                    }
                    inputs.push((entry.key.to_string(), path.to_owned()));
                }
                None => {
                    let message =
                        format!("expected the name of a field, found {}", entry.value.word());
                    problems.push(Problem::error("wrong-type", message).at(entry.value.span));
                }
            }
        }
        Some(inputs)
    }

    /// Warns if fields of a call are inputs but no calls are selected.
    pub(super) fn warn_of_every_call(&self, problems: &mut Vec<Problem>) {
        let Some(node) = self.inputs.as_ref().or(self.input_mapping.as_ref()) else { return };
        let message = "`calls` is missing: the judge is asked about every call with these fields";
        let problem = Problem::warning("missing-calls", message).at(node.span);
        problems.push(problem.help("`calls: {tool: …}` selects the calls to judge"));
    }

    /// Returns the panel of judges.
    pub(super) fn panel(&self, problems: &mut Vec<Problem>) -> Panel {
        let mut wrong = |span, code, message: &str| {
            problems.push(Problem::error(code, message).at(span));
        };
        let models: Vec<&Spanned<String>> = match (&self.model, &self.models) {
            (Some(_), Some(models)) => {
                wrong(models.span, "conflicting-keys", "only one of model and models is allowed");
                Vec::new()
            }
            (Some(model), None) => vec![model],
            (None, Some(models)) => {
                if models.value.is_empty() {
                    wrong(models.span, "empty-list", "a panel needs at least one model");
                }
                models.value.iter().collect()
            }
            (None, None) => Vec::new(),
        };
        for model in &models {
            if model.value.trim().is_empty() {
                wrong(model.span, "empty-text", "the model has no name");
            }
        }
        let votes = self.votes.map_or(1, |votes| {
            if !(1..=99).contains(&votes.value) {
                wrong(votes.span, "out-of-range", "expected 1 to 99 votes");
            }
            votes.value
        });
        let asked = models.len().max(1).saturating_mul(votes as usize);
        if let Some(quorum) = self.quorum
            && !(1..=asked).contains(&(quorum.value as usize))
        {
            let message = format!("expected a quorum from 1 to {asked}, the number of votes");
            wrong(quorum.span, "out-of-range", &message);
        }
        Panel {
            models: models.into_iter().map(|model| model.value.clone()).collect(),
            votes,
            quorum: self.quorum.map(|quorum| quorum.value),
            effort: self.effort,
            aggregation: self.aggregation.unwrap_or_default(),
        }
    }

    pub(super) fn threshold(&self, problems: &mut Vec<Problem>) -> Option<f64> {
        let threshold = self.threshold?;
        if !(0.0..=1.0).contains(&threshold.value) {
            let message = "expected a threshold from 0 to 1, whatever the scale";
            problems.push(Problem::error("out-of-range", message).at(threshold.span));
        }
        Some(threshold.value)
    }
}

fn unknown_field(path: &str, node: &Node) -> Problem {
    let message = format!("unknown field {}", quoted(path));
    let problem = Problem::error("unknown-field", message).at(node.span);
    let first = path.split('.').next().unwrap_or(path);
    let names = FIELDS.iter().flat_map(|field| std::iter::once(&field.name).chain(field.aliases));
    match did_you_mean(first, names.copied()) {
        Some(near) => problem.help(format!("did you mean {}?", quoted(near))),
        None => problem.help("`toolmark judge fields` lists them"),
    }
}
