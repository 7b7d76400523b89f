//! `prompt`, `panel` and the former `pairwise`: graders that need a model.
//!
//! Their configuration is read and validated like that of any other grader. Without
//! a judge the verdict is unknown, never a pass.

use crate::vally::graders::workspace::{Allowance, Workspace, read_text};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use toolmark_config::{Node, Problem, Spanned};
use toolmark_grade::{
    AnswerCost, Determinism, GradeScope, Grader, GraderInfo, Reference, Taxonomy, schema_of,
};
use toolmark_match::Building;
use toolmark_outcome::Missing;
use toolmark_outcome::Profile;
use toolmark_outcome::Subject;
use toolmark_outcome::judging::{
    Aggregation, Effort, Focus, JudgeQuestion, Material, Panel, Rubric, Scale, TextPiece, ask,
    drop_repeats, material_of,
};
use toolmark_outcome::{Cause, Outcome};
use toolmark_pattern::Glob;

/// Input of the judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum JudgeInput {
    /// The run.
    Trajectory,
    /// Changes in the workspace.
    Diff,
    /// The reference solution.
    GoldenPatch,
    /// Final state of the workspace.
    Repo,
}

/// Delivery of the output to the judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Delivery {
    /// In the prompt.
    Inline,
    /// As a file in its workspace.
    Workspace,
}

/// Configuration of a single judge.
#[derive(Debug, Default, Deserialize, JsonSchema)]
struct Prompt {
    /// Instructions in addition to the rubric of the case.
    #[serde(default)]
    prompt: Option<Spanned<String>>,
    /// Model of the judge.
    #[serde(default)]
    model: Option<Spanned<String>>,
    /// Reasoning effort.
    #[serde(default)]
    reasoning_effort: Option<Effort>,
    /// Answer scale; `scale_1_5` by default.
    #[serde(default)]
    scoring: Option<AnswerScale>,
    /// Minimum score, from 0 to 1; 0.5 by default.
    #[serde(default)]
    threshold: Option<Spanned<f64>>,
    /// Inputs of the judge; the trajectory by default.
    #[serde(default)]
    evidence: Option<Spanned<Vec<JudgeInput>>>,
    /// Delivery of the output to the judge; always in the prompt, whatever is configured.
    #[serde(default)]
    output_delivery: Option<Spanned<Delivery>>,
}

/// Configuration of a panel of judges.
#[derive(Debug, Deserialize, JsonSchema)]
struct PanelConfig {
    /// Models of the judges.
    models: Spanned<Vec<Spanned<String>>>,
    /// Method for combining their scores: `majority` (the default), `mean`, `median` or `min`.
    #[serde(default)]
    aggregation: Option<Aggregation>,
    /// Instructions in addition to the rubric of the case.
    #[serde(default)]
    prompt: Option<Spanned<String>>,
    /// Reasoning effort.
    #[serde(default)]
    reasoning_effort: Option<Effort>,
    /// Answer scale; `scale_1_5` by default.
    #[serde(default)]
    scoring: Option<AnswerScale>,
    /// Minimum score, from 0 to 1; 0.5 by default.
    #[serde(default)]
    threshold: Option<Spanned<f64>>,
    /// Inputs of the judges; the trajectory by default.
    #[serde(default)]
    evidence: Option<Spanned<Vec<JudgeInput>>>,
    /// Delivery of the output to the judges; always in the prompt, whatever is configured.
    #[serde(default)]
    output_delivery: Option<Spanned<Delivery>>,
}

const JUDGE: Taxonomy = Taxonomy {
    determinism: Determinism::Judge,
    cost: AnswerCost::High,
    reference: Reference::Free,
    scope: GradeScope::Trajectory,
};

pub(crate) static PROMPT: GraderInfo = GraderInfo {
    id: "prompt",
    aliases: &[],
    origin: "vally",
    summary: "scores the run with a model by the rubric of the case",
    docs: "A model judges the run by the criteria of the case's `rubric`; `prompt` adds instructions, it does not replace \
the rubric. Its answer (`scoring`) is brought to 0 to 1 and passes from `threshold` on.

The judge is shown what `evidence` names: the `trajectory` (the default), the `diff` of the workspace, the \
`golden_patch` of the stimulus, or the files of the workspace (`repo`). Without a rubric, `prompt` is the rubric. Every \
criterion becomes a part of the outcome. Marks must be proven by words of the trace, as with `judge`. What is shown is \
always in the prompt: `output_delivery: workspace` is a warning.

Without a judge the answer is unknown with cause `needs_judge`; a judge that gives no answer is unknown too, never 0.",
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
        warn_of_delivery(building, config.output_delivery);
        warn_of_words(building, config.prompt.as_ref(), config.scoring);
        good.iter().all(|good| *good).then(|| {
            let models = config.model.into_iter().map(|model| model.value).collect();
            let panel = Panel { models, effort: config.reasoning_effort, ..Panel::default() };
            let (prompt, scoring) = (config.prompt, config.scoring);
            VallyJudge::grader(prompt, scoring, config.threshold, config.evidence, panel)
        })
    },
};

pub(crate) static PANEL: GraderInfo = GraderInfo {
    id: "panel",
    aliases: &[],
    origin: "vally",
    summary: "scores the run with several models by the rubric of the case",
    docs: "Several `models` judge the run by the criteria of the case's `rubric`, and `aggregation` makes one score of \
theirs: `majority`, `mean`, `median` or `min`. The other options are those of `prompt`.

A judge that gives no answer does not sink the others; where the others are divided, or not more than half of the \
panel decides, the verdict is unknown.",
    example: "type: panel\nconfig:\n  models: [model-a, model-b, model-c]\n  aggregation: median",
    taxonomy: JUDGE,
    profiles: &[Profile::Vally],
    schema: schema_of::<PanelConfig>,
    build: |building| {
        let config = building.read::<PanelConfig>()?;
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
        warn_of_delivery(building, config.output_delivery);
        warn_of_words(building, config.prompt.as_ref(), config.scoring);
        good.iter().all(|good| *good).then(|| {
            let models = config.models.value.into_iter().map(|model| model.value).collect();
            let panel = Panel {
                models,
                effort: config.reasoning_effort,
                aggregation: config.aggregation.unwrap_or_default(),
                ..Panel::default()
            };
            let (prompt, scoring) = (config.prompt, config.scoring);
            VallyJudge::grader(prompt, scoring, config.threshold, config.evidence, panel)
        })
    },
};

pub(crate) static PAIRWISE: GraderInfo = GraderInfo {
    id: "pairwise",
    aliases: &[],
    origin: "vally",
    summary: "removed from Vally: compare two runs instead",
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

/// Checks that a text, if given, is not empty.
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

fn some_evidence(building: &mut Building<'_>, evidence: Option<&Spanned<Vec<JudgeInput>>>) -> bool {
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

/// Warns about workspace delivery, because the judge has no workspace in which to open a file.
fn warn_of_delivery(building: &mut Building<'_>, delivery: Option<Spanned<Delivery>>) {
    if let Some(delivery) = delivery.filter(|delivery| delivery.value == Delivery::Workspace) {
        let message = "the output is shown in the prompt: toolmark's judges have no workspace";
        let problem = Problem::warning("unsupported-value", message).at(delivery.span);
        building.problems.push(problem.help("remove it, or write `output_delivery: inline`"));
    }
}

/// Warns if the instructions describe another scale than the configured one.
fn warn_of_words(
    building: &mut Building<'_>,
    prompt: Option<&Spanned<String>>,
    scoring: Option<AnswerScale>,
) {
    let Some(prompt) = prompt else { return };
    let rubric = Rubric::of_text(prompt.value.as_str(), scoring.unwrap_or_default().scale());
    if let Some(message) = rubric.contradiction() {
        let problem = Problem::warning("scale-mismatch", message).at(prompt.span);
        building.problems.push(problem.help("change `scoring`, or what the prompt says"));
    }
}

struct Pairwise;

impl Grader for Pairwise {
    fn grade(&self, _: &Subject<'_>) -> Outcome {
        let why = "needs a judge and a second run: pairwise was removed from Vally";
        Outcome::unknown(Cause::NeedsJudge, why)
    }
}

/// Answer scale, in Vally's terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
enum AnswerScale {
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

impl AnswerScale {
    fn scale(self) -> Scale {
        match self {
            Self::Binary => Scale::Binary,
            Self::OneToFive => Scale::OneToFive,
            Self::OneToTen => Scale::OneToTen,
        }
    }
}

struct VallyJudge {
    /// Instructions in addition to the rubric.
    instructions: Option<String>,
    scale: Scale,
    threshold: f64,
    shown: Vec<JudgeInput>,
    panel: Panel,
}

/// Default criterion, if neither the case nor the grader has one.
const USUAL: &str = "The agent did what it was asked to do, correctly and completely.";

impl VallyJudge {
    fn grader(
        prompt: Option<Spanned<String>>,
        scoring: Option<AnswerScale>,
        threshold: Option<Spanned<f64>>,
        evidence: Option<Spanned<Vec<JudgeInput>>>,
        panel: Panel,
    ) -> Arc<dyn Grader> {
        Arc::new(Self {
            instructions: prompt.map(|prompt| prompt.value),
            scale: scoring.unwrap_or_default().scale(),
            threshold: threshold.map_or(0.5, |threshold| threshold.value),
            shown: evidence.map_or_else(|| vec![JudgeInput::Trajectory], |shown| shown.value),
            panel,
        })
    }

    /// Returns the criteria of the case; otherwise those of the grader, or the default.
    fn rubric(&self, subject: &Subject<'_>) -> Rubric {
        let instructions = self.instructions.as_deref();
        match (subject.context.rubric.as_slice(), instructions) {
            ([], Some(text)) => Rubric::of_text(text, self.scale),
            ([], None) => Rubric::of_text(USUAL, self.scale),
            (texts, instructions) => Rubric {
                instructions: instructions.unwrap_or_default().to_owned(),
                ..Rubric::of_texts(texts.iter().cloned(), self.scale)
            },
        }
    }

    fn materials(&self, subject: &Subject<'_>) -> Result<Vec<Material>, Missing> {
        let focus = Focus { subject, call: None };
        let mut all = Vec::new();
        all.extend(material_of("user_request", "user_request", focus).ok());
        for shown in &self.shown {
            match shown {
                JudgeInput::Trajectory => {
                    all.push(material_of("transcript", "transcript", focus)?);
                    all.extend(material_of("output", "output", focus).ok());
                }
                JudgeInput::Diff => all.push(material_of("diff", "diff", focus)?),
                JudgeInput::GoldenPatch => all.push(golden_patch(subject)?),
                JudgeInput::Repo => all.push(workspace_files(subject)?),
            }
        }
        drop_repeats(&mut all);
        Ok(all)
    }
}

/// Returns the reference solution of the stimulus.
fn golden_patch(subject: &Subject<'_>) -> Result<Material, Missing> {
    let none = || Missing::new("the stimulus has no golden_patch");
    let spec = subject.context.spec.as_ref().ok_or_else(none)?;
    let patch = spec.get("golden_patch").ok_or_else(none)?;
    if let Some(text) = patch.get("inline").and_then(Value::as_str) {
        return Ok(Material::of_spec("golden_patch", text));
    }
    let path = patch.get("path").and_then(Value::as_str).ok_or_else(none)?;
    let text = read_text(&subject.context.directory.join(path), &mut Allowance::default())
        .map_err(|why| Missing::new(format!("golden_patch: {why}")))?;
    Ok(Material::of_spec("golden_patch", text))
}

/// Maximum number of bytes of workspace files shown.
const FILES: usize = 200 << 10;

/// Returns the files that the agent left, without those of tools and libraries.
fn workspace_files(subject: &Subject<'_>) -> Result<Material, Missing> {
    let workspace = Workspace::of(subject).map_err(|untold| Missing::new(untold.reason()))?;
    let glob = Glob::new("**").map_err(|error| Missing::new(error.to_string()))?;
    let found = workspace.find("**", &glob);
    let is_foreign = |path: &str| {
        let foreign = ["node_modules", "target", "dist", "build", "vendor", "__pycache__"];
        path.split('/').any(|part| part.starts_with('.') || foreign.contains(&part))
    };
    let (mut pieces, mut used, mut left_out) = (Vec::new(), 0, found.unreadable.len());
    let mut allowance = Allowance::default();
    for path in found.files.iter().filter(|path| !is_foreign(path)) {
        match workspace.text(path, &mut allowance) {
            Ok(text) if used + text.len() <= FILES => {
                used += text.len();
                pieces.push(TextPiece::labelled(format!("file {path}"), text));
            }
            _ => left_out += 1,
        }
    }
    if pieces.is_empty() {
        return Err(Missing::new("the workspace has no files that can be shown"));
    }
    let mut material = Material::of_trace("repo", pieces);
    let words = format!("{left_out} files of the workspace were left out");
    material.left_out = (left_out > 0).then_some(words);
    Ok(material)
}

impl Grader for VallyJudge {
    fn grade(&self, subject: &Subject<'_>) -> Outcome {
        let materials = match self.materials(subject) {
            Ok(materials) => materials,
            Err(missing) => return Outcome::unknown(Cause::MissingEvidence, missing.0),
        };
        let rubric = Arc::new(self.rubric(subject));
        let (panel, threshold) = (self.panel.clone(), self.threshold);
        let outcome = ask(subject, JudgeQuestion { rubric, materials, panel, threshold });
        match subject.context.rubric.is_empty() && self.instructions.is_none() {
            true => {
                outcome.with_note(format!("the case has no rubric, so this was asked: {USUAL}"))
            }
            false => outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::USUAL;
    use crate::testing::{complaints, grade, judged, vally, warnings};
    use serde_json::json;
    use toolmark_outcome::CaseContext;
    use toolmark_outcome::{Cause, Verdict};

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
                    "evidence": ["trajectory"],
                }),
            ),
            ("panel", json!({"models": ["a", "b"], "aggregation": "min"})),
            ("pairwise", json!({"prompt": "which is better?"})),
        ] {
            let outcome = grade(id, config.clone(), &trace);
            assert_eq!(outcome.verdict, Verdict::Unknown(Cause::NeedsJudge), "{id} {config}");
            assert_eq!(outcome.score, None, "{id} {config}");
            assert!(outcome.reason.raw().starts_with("needs"), "{id}: {}", outcome.reason.raw());
        }
    }

    fn run() -> String {
        vally(&[
            ("user_message", json!({"content": "explain binary search"})),
            ("assistant_message", json!({"content": "It halves the range."})),
        ])
    }

    #[test]
    fn criteria_of_the_case_and_words_of_the_grader() {
        let context = CaseContext {
            rubric: vec!["mentions halving".into(), "is short".into()],
            ..CaseContext::default()
        };
        let config = json!({"prompt": "Be strict.", "scoring": "scale_1_10", "threshold": 0.5});
        let outcome = judged("prompt", config.clone(), &run(), &context, |question| {
            assert_eq!(question.rubric.instructions, "Be strict.");
            assert_eq!(question.rubric.criteria.len(), 2);
            Some(6.0)
        });
        assert_eq!(outcome.verdict, Verdict::Pass);
        assert_eq!(outcome.parts.len(), 2);
        let alone = judged("prompt", config, &run(), &CaseContext::default(), |question| {
            assert_eq!(question.rubric.criteria[0].text, "Be strict.");
            Some(5.0)
        });
        assert_eq!(alone.verdict, Verdict::Fail);
        let usual = judged("prompt", json!(null), &run(), &CaseContext::default(), |question| {
            assert_eq!(question.rubric.criteria[0].text, USUAL);
            Some(3.0)
        });
        assert_eq!((usual.verdict, usual.score), (Verdict::Pass, Some(0.5)));
        assert!(usual.notes[0].raw().contains("no rubric"));
    }

    #[test]
    fn a_panel_survives_a_judge() {
        let config = json!({"models": ["a", "b", "c"], "aggregation": "median"});
        let outcome = judged("panel", config, &run(), &CaseContext::default(), |_| Some(4.0));
        assert_eq!((outcome.verdict, outcome.score), (Verdict::Pass, Some(0.75)));
        assert_eq!(outcome.metrics["models"], json!(["a", "b", "c"]));
        let none =
            judged("panel", json!({"models": ["a"]}), &run(), &CaseContext::default(), |_| None);
        assert_eq!((none.verdict, none.score), (Verdict::Unknown(Cause::Judge), None));
    }

    #[test]
    fn evidence_that_is_not_there_is_missed() {
        for (shown, word) in
            [("diff", "diff"), ("golden_patch", "golden_patch"), ("repo", "workspace")]
        {
            let config = json!({"evidence": [shown]});
            let outcome = judged("prompt", config, &run(), &CaseContext::default(), |_| Some(5.0));
            assert_eq!(outcome.verdict, Verdict::Unknown(Cause::MissingEvidence), "{shown}");
            assert!(outcome.reason.raw().contains(word), "{shown}: {}", outcome.reason.raw());
        }
        let spec = json!({"golden_patch": {"inline": "-teh\n+the"}});
        let context =
            CaseContext { spec: Some(std::sync::Arc::new(spec)), ..CaseContext::default() };
        let config = json!({"evidence": ["trajectory", "golden_patch"]});
        let outcome = judged("prompt", config, &run(), &context, |question| {
            let last = question.materials.last().unwrap();
            assert!(!last.is_trace && last.pieces[0].text.contains("+the"));
            Some(5.0)
        });
        assert_eq!(outcome.verdict, Verdict::Pass);
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

    #[test]
    fn what_is_done_otherwise_is_warned_about() {
        for (id, config, complaint) in [
            ("prompt", json!({"output_delivery": "workspace"}), "shown in the prompt"),
            ("panel", json!({"models": ["a"], "output_delivery": "workspace"}), "in the prompt"),
            ("prompt", json!({"prompt": "1.0 = good, 0.5 = fair"}), "the mark 0.5"),
        ] {
            let said = warnings(id, &config).join("; ");
            assert!(said.contains(complaint), "{id} {config}: {said}");
        }
        assert_eq!(warnings("prompt", &json!({"output_delivery": "inline"})), [""; 0]);
    }
}
