//! The configuration of `judge`, and the mistakes one can make with it.

use schemars::JsonSchema;
use serde::Deserialize;
use toolmark_config::{Node, Problem, Spanned, did_you_mean, quoted};
use toolmark_outcome::judging::{Aggregation, Effort, FIELDS, Field, Panel, Scale};

/// A rubric a model marks.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Config {
    /// What the rubric is called in reports.
    #[serde(default)]
    pub(super) name: Option<String>,
    /// What is asked: a text, a list of criteria, or the name of a built-in rubric.
    #[serde(default)]
    pub(super) rubric: Option<Node>,
    /// The same.
    #[serde(default)]
    pub(super) grading_criteria: Option<Node>,
    /// The marks; by default those the rubric's own words use, else `1-5`.
    #[serde(default)]
    pub(super) scale: Option<Scale>,
    /// Cases that were marked by hand, as a guide: `text`, `mark` and `reason`.
    #[serde(default)]
    pub(super) examples: Option<Node>,
    /// What the judge is shown: names and the fields they stand for.
    #[serde(default)]
    inputs: Option<Node>,
    /// The same.
    #[serde(default)]
    input_mapping: Option<Node>,
    /// The calls it is asked about; the whole run where it is not given.
    #[serde(default)]
    pub(super) calls: Option<Spanned<Calls>>,
    /// The share that passes, from 0 to 1; 0.5 by default.
    #[serde(default)]
    threshold: Option<Spanned<f64>>,
    /// The model that judges.
    #[serde(default)]
    model: Option<Spanned<String>>,
    /// The models of a panel.
    #[serde(default)]
    models: Option<Spanned<Vec<Spanned<String>>>>,
    /// How often each is asked; once by default.
    #[serde(default)]
    votes: Option<Spanned<u32>>,
    /// How their answers make one; by majority by default.
    #[serde(default)]
    aggregation: Option<Aggregation>,
    /// How many of the votes must decide, or the verdict is unknown; more than half by
    /// default.
    #[serde(default)]
    quorum: Option<Spanned<u32>>,
    /// How hard they think.
    #[serde(default)]
    effort: Option<Effort>,
    /// How several calls make one; all must pass by default.
    #[serde(default)]
    pub(super) over: Option<Over>,
    /// What it means that no call was chosen; unknown by default.
    #[serde(default)]
    pub(super) if_none: Option<If>,
}

/// How the answers for several calls make one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Over {
    /// All must pass.
    #[default]
    All,
    /// Their mean must reach the threshold.
    Mean,
    /// The lowest must.
    Min,
}

/// What it means that there is nothing to judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum If {
    /// It cannot be told.
    #[default]
    Unknown,
    /// It is fine.
    Pass,
}

/// Which calls a judge is asked about.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(super) struct Calls {
    /// Tools, by name or pattern: one, or a list.
    #[serde(default)]
    pub(super) tool: Option<Node>,
    /// Codes of rules of `toolmark check`, or what they begin with: one, or a list.
    #[serde(default)]
    pub(super) finding: Option<Node>,
    /// How the call ended.
    #[serde(default)]
    pub(super) status: Option<Wanted>,
    /// So many of them, the same ones every time.
    #[serde(default)]
    pub(super) sample: Option<Spanned<u32>>,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Wanted {
    /// With an error, a refusal or an interruption.
    Failed,
    /// Well.
    Succeeded,
}

impl Config {
    /// What the judge is shown, where it is said.
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

    /// Warns where fields of a call are shown and nothing chooses the calls.
    pub(super) fn warn_of_every_call(&self, problems: &mut Vec<Problem>) {
        let Some(node) = self.inputs.as_ref().or(self.input_mapping.as_ref()) else { return };
        let message = "`calls` is missing: the judge is asked about every call with these fields";
        let problem = Problem::warning("missing-calls", message).at(node.span);
        problems.push(problem.help("`calls: {tool: …}` selects the calls to judge"));
    }

    /// Who is asked.
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
