//! `prompt`, `panel` and what became of `pairwise`: questions only a model can answer.
//!
//! Their configuration is read and checked as that of any other grader. Without
//! a judge the answer is unknown, never a pass.

use crate::config::{Node, Problem, Spanned};
use crate::grader::{
    Building, Cost, Determinism, Grader, GraderInfo, Reference, Scope, Taxonomy, schema_of,
};
use crate::outcome::{Cause, Metrics, Outcome};
use crate::profile::Profile;
use crate::subject::Subject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;

/// How the judge answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
enum Scale {
    /// Yes or no.
    #[serde(rename = "binary")]
    Binary,
    /// 1 to 5.
    #[default]
    #[serde(rename = "scale_1_5")]
    OneToFive,
    /// 1 to 10.
    #[serde(rename = "scale_1_10")]
    OneToTen,
}

/// How hard the judge thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Effort {
    /// A little.
    Low,
    /// Some.
    Medium,
    /// Hard.
    High,
    /// As hard as it can.
    Xhigh,
}

/// What the judge is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Shown {
    /// The run.
    Trajectory,
    /// What changed in the workspace.
    Diff,
    /// The reference solution.
    GoldenPatch,
    /// The workspace as it is at the end.
    Repo,
}

/// How the judge is handed the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Delivery {
    /// In the prompt.
    Inline,
    /// As a file of its workspace.
    Workspace,
}

/// How the scores of several judges make one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Aggregation {
    /// What most of them say.
    #[default]
    Majority,
    /// Their mean.
    Mean,
    /// Their median.
    Median,
    /// The lowest.
    Min,
}

/// What one judge is asked.
#[derive(Debug, Default, Deserialize, JsonSchema)]
struct Prompt {
    /// Instructions in addition to the rubric of the case.
    #[serde(default)]
    prompt: Option<Spanned<String>>,
    /// The model that judges.
    #[serde(default)]
    model: Option<Spanned<String>>,
    /// How hard it thinks.
    #[serde(default)]
    reasoning_effort: Option<Effort>,
    /// How it answers; `scale_1_5` by default.
    #[serde(default)]
    scoring: Option<Scale>,
    /// The score that passes, from 0 to 1; 0.5 by default.
    #[serde(default)]
    threshold: Option<Spanned<f64>>,
    /// What it is shown; the trajectory by default.
    #[serde(default)]
    evidence: Option<Spanned<Vec<Shown>>>,
    /// How it is handed the output; in the prompt by default.
    #[serde(default)]
    output_delivery: Option<Delivery>,
}

/// What several judges are asked.
#[derive(Debug, Deserialize, JsonSchema)]
struct Panel {
    /// The models that judge.
    models: Spanned<Vec<Spanned<String>>>,
    /// How their scores make one: `majority` (the default), `mean`, `median` or `min`.
    #[serde(default)]
    aggregation: Option<Aggregation>,
    /// Instructions in addition to the rubric of the case.
    #[serde(default)]
    prompt: Option<Spanned<String>>,
    /// How hard they think.
    #[serde(default)]
    reasoning_effort: Option<Effort>,
    /// How they answer; `scale_1_5` by default.
    #[serde(default)]
    scoring: Option<Scale>,
    /// The score that passes, from 0 to 1; 0.5 by default.
    #[serde(default)]
    threshold: Option<Spanned<f64>>,
    /// What they are shown; the trajectory by default.
    #[serde(default)]
    evidence: Option<Spanned<Vec<Shown>>>,
    /// How they are handed the output; in the prompt by default.
    #[serde(default)]
    output_delivery: Option<Delivery>,
}

const JUDGE: Taxonomy = Taxonomy {
    determinism: Determinism::Judge,
    cost: Cost::High,
    reference: Reference::Free,
    scope: Scope::Trajectory,
};

pub(in crate::graders) static PROMPT: GraderInfo = GraderInfo {
    id: "prompt",
    aliases: &[],
    origin: "vally",
    summary: "what does a model say of the run, by the rubric of the case",
    docs: "A model judges the run by the criteria of the case's `rubric`; `prompt` adds instructions, it does not replace \
the rubric. Its answer (`scoring`) is brought to 0 to 1 and passes from `threshold` on.

This grader needs a judge. Without one the answer is unknown with cause `needs_judge`: neither pass nor fail.",
    example: "type: prompt\nconfig:\n  prompt: Judge the explanation, not the code.\n  scoring: scale_1_5\n  threshold: 0.7",
    taxonomy: JUDGE,
    profiles: &[Profile::Vally],
    schema: schema_of::<Prompt>,
    build: |building| {
        let config = match building.config.is_null() {
            true => Prompt::default(),
            false => building.read::<Prompt>()?,
        };
        let good = [
            said(building, config.prompt.as_ref()),
            said(building, config.model.as_ref()),
            between_0_and_1(building, config.threshold),
            some_evidence(building, config.evidence.as_ref()),
        ];
        let mut asked = Metrics::new();
        put(&mut asked, "model", config.model.as_ref());
        put(&mut asked, "scoring", Some(config.scoring.unwrap_or_default()));
        put(&mut asked, "threshold", Some(config.threshold.map_or(0.5, |t| t.value)));
        put(&mut asked, "reasoning_effort", config.reasoning_effort);
        put(&mut asked, "evidence", config.evidence.as_ref());
        put(&mut asked, "output_delivery", config.output_delivery);
        let good = good.iter().all(|good| *good);
        good.then(|| Arc::new(NeedsJudge { judges: 1, asked }) as Arc<dyn Grader>)
    },
};

pub(in crate::graders) static PANEL: GraderInfo = GraderInfo {
    id: "panel",
    aliases: &[],
    origin: "vally",
    summary: "what do several models say of the run, by the rubric of the case",
    docs: "Several `models` judge the run by the criteria of the case's `rubric`, and `aggregation` makes one score of \
theirs: `majority`, `mean`, `median` or `min`. The other options are those of `prompt`.

This grader needs judges. Without them the answer is unknown with cause `needs_judge`: neither pass nor fail.",
    example: "type: panel\nconfig:\n  models: [model-a, model-b, model-c]\n  aggregation: median",
    taxonomy: JUDGE,
    profiles: &[Profile::Vally],
    schema: schema_of::<Panel>,
    build: |building| {
        let config = building.read::<Panel>()?;
        let mut good = vec![
            said(building, config.prompt.as_ref()),
            between_0_and_1(building, config.threshold),
            some_evidence(building, config.evidence.as_ref()),
        ];
        if config.models.is_empty() {
            building.reject(config.models.span, "empty-list", "a panel needs at least one model");
            good.push(false);
        }
        good.extend(config.models.iter().map(|model| said(building, Some(model))));
        let judges = config.models.len();
        let mut asked = Metrics::new();
        put(&mut asked, "models", Some(&config.models));
        put(&mut asked, "aggregation", Some(config.aggregation.unwrap_or_default()));
        put(&mut asked, "scoring", Some(config.scoring.unwrap_or_default()));
        put(&mut asked, "threshold", Some(config.threshold.map_or(0.5, |t| t.value)));
        put(&mut asked, "reasoning_effort", config.reasoning_effort);
        put(&mut asked, "evidence", config.evidence.as_ref());
        put(&mut asked, "output_delivery", config.output_delivery);
        let good = good.iter().all(|good| *good);
        good.then(|| Arc::new(NeedsJudge { judges, asked }) as Arc<dyn Grader>)
    },
};

pub(in crate::graders) static PAIRWISE: GraderInfo = GraderInfo {
    id: "pairwise",
    aliases: &[],
    origin: "vally",
    summary: "gone from Vally: compare two runs instead",
    docs: "Vally removed this type by version 0.9: a grader sees one run, and which of two is better is a question about \
both. Use `prompt` for the quality of one run, and compare runs as such otherwise. A spec that still uses the type is \
warned, and the answer is always unknown.",
    example: "type: pairwise",
    taxonomy: JUDGE,
    profiles: &[Profile::Vally],
    schema: schema_of::<Node>,
    build: |building| {
        let message = "the type pairwise was removed from Vally";
        let problem = Problem::warning("removed-grader", message).at(building.config.span);
        building.problems.push(problem.help("use prompt, or compare two runs"));
        Some(Arc::new(Pairwise))
    },
};

/// Words, where there are any, that are not empty.
fn said(building: &mut Building<'_>, text: Option<&Spanned<String>>) -> bool {
    match text {
        Some(text) if text.value.trim().is_empty() => {
            building.reject(text.span, "empty-text", "the text is empty");
            false
        }
        _ => true,
    }
}

fn between_0_and_1(building: &mut Building<'_>, threshold: Option<Spanned<f64>>) -> bool {
    match threshold {
        Some(threshold) if !(0.0..=1.0).contains(&threshold.value) => {
            let message = "a threshold is between 0 and 1, whatever the scale";
            building.reject(threshold.span, "out-of-range", message);
            false
        }
        _ => true,
    }
}

fn some_evidence(building: &mut Building<'_>, evidence: Option<&Spanned<Vec<Shown>>>) -> bool {
    match evidence {
        Some(evidence) if evidence.is_empty() => {
            building.reject(
                evidence.span,
                "empty-list",
                "a judge that is shown nothing cannot judge",
            );
            false
        }
        _ => true,
    }
}

struct Pairwise;

impl Grader for Pairwise {
    fn grade(&self, _: &Subject<'_>) -> Outcome {
        let why = "needs a judge and a second run: pairwise was removed from Vally";
        Outcome::unknown(Cause::NeedsJudge, why)
    }
}

struct NeedsJudge {
    judges: usize,
    /// What would be asked of them.
    asked: Metrics,
}

fn put(asked: &mut Metrics, key: &str, value: Option<impl Serialize>) {
    if let Some(value) = value {
        asked.insert(key.to_owned(), json!(value));
    }
}

impl Grader for NeedsJudge {
    fn grade(&self, subject: &Subject<'_>) -> Outcome {
        let why = match self.judges {
            1 => "needs a judge: only a model can answer this".to_owned(),
            judges => format!("needs {judges} judges: only models can answer this"),
        };
        let mut outcome = Outcome::unknown(Cause::NeedsJudge, why);
        outcome.metrics = self.asked.clone();
        match subject.context.rubric.is_empty() {
            true => outcome.with_note("the case has no rubric to judge by"),
            false => outcome.with_metric("criteria", subject.context.rubric.len() as u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::outcome::{Cause, Verdict};
    use crate::testing::{complaints, grade, vally};
    use serde_json::json;

    #[test]
    fn without_a_judge_nothing_is_passed() {
        let trace = vally(&[]);
        for (id, config) in [
            ("prompt", json!(null)),
            ("prompt", json!({})),
            (
                "prompt",
                json!({
                    "prompt": "be fair", "model": "m", "reasoning_effort": "xhigh",
                    "scoring": "scale_1_10", "threshold": 1, "output_delivery": "workspace",
                    "evidence": ["trajectory", "diff", "golden_patch", "repo"],
                }),
            ),
            ("panel", json!({"models": ["a", "b"], "aggregation": "min"})),
            ("pairwise", json!({"prompt": "which is better?"})),
        ] {
            let outcome = grade(id, config.clone(), &trace);
            assert_eq!(outcome.verdict, Verdict::Unknown(Cause::NeedsJudge), "{id} {config}");
            assert_eq!(outcome.score, None, "{id} {config}");
            assert!(outcome.reason.starts_with("needs"), "{}", outcome.reason);
        }
    }

    #[test]
    fn what_would_be_asked_is_kept() {
        let config = json!({"models": ["a", "b"], "reasoning_effort": "high"});
        let outcome = grade("panel", config, &vally(&[]));
        assert_eq!(
            serde_json::Value::Object(outcome.metrics),
            json!({"models": ["a", "b"], "aggregation": "majority", "scoring": "scale_1_5",
                   "threshold": 0.5, "reasoning_effort": "high"})
        );
    }

    #[test]
    fn mistakes() {
        for (id, config, complaint) in [
            ("prompt", json!({"threshold": 1.5}), "between 0 and 1"),
            ("prompt", json!({"threshold": 70}), "between 0 and 1"),
            ("prompt", json!({"scoring": "scale_1_3"}), "unknown value"),
            ("prompt", json!({"reasoning_effort": "extreme"}), "unknown value"),
            ("prompt", json!({"evidence": []}), "shown nothing"),
            ("prompt", json!({"evidence": ["transcript"]}), "unknown value"),
            ("prompt", json!({"prompt": " "}), "empty"),
            ("prompt", json!({"rubric": ["x"]}), "unknown key"),
            ("panel", json!({}), "models"),
            ("panel", json!({"models": []}), "at least one"),
            ("panel", json!({"models": ["a"], "aggregation": "sum"}), "unknown value"),
        ] {
            let said = complaints(id, &config).join("; ");
            assert!(said.contains(complaint), "{id} {config}: {said}");
        }
    }
}
