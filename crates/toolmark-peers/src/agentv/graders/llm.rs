//! AgentV's graders that call a model: `llm-grader`, `rubrics`, `llm-rubric` and
//! `trajectory:goal-success`.
//!
//! The prompt is toolmark's, so that trace text stays data and quotes can be
//! verified; criteria, weights and thresholds are AgentV's: 0.8 passes, and a failed
//! required criterion fails the whole grader. A failing judge makes the verdict unknown,
//! whereas AgentV skips it.

use super::code_grader::GraderCommand;
use super::llm_rubric;
use schemars::{Schema, json_schema};
use std::sync::Arc;
use toolmark_config::{Node, NodeKind, Problem, quoted};
use toolmark_grade::{
    AnswerCost, Determinism, GradeScope, Grader, GraderInfo, Reference, Taxonomy,
};
use toolmark_match::Building;
use toolmark_outcome::Subject;
use toolmark_outcome::judging::{
    Effort, Focus, JudgeQuestion, Material, Panel, Rubric, Scale, ask, materials, scale_of_words,
};
use toolmark_outcome::{Cause, Outcome};

/// Minimum score.
const THRESHOLD: f64 = 0.8;

const TAXONOMY: Taxonomy = Taxonomy {
    determinism: Determinism::Judge,
    cost: AnswerCost::High,
    reference: Reference::Free,
    scope: GradeScope::Trajectory,
};

pub(crate) static LLM_GRADER: GraderInfo = GraderInfo {
    id: "llm-grader",
    aliases: &["llm_grader", "llm-judge", "llm_judge", "agent-judge", "agent_judge"],
    origin: "agentv",
    summary: "scores the answer with a model",
    docs: "Scores with a model how well the run meets the criteria of the case, or those of `prompt` (a text, or a file beside the spec, or a map with the `command` of a program that writes it). Marks go from 0 to 10, unless the prompt's own \
words use 0 to 1, and 0.8 of the way passes. Names in braces (`{{output}}`, `{{input}}`, `{{expected_output}}`, \
`{{criteria}}`, `{{tool_calls}}`, `{{file_changes}}`) stand for what the judge is shown under them; any other name is \
refused. With `rubrics`, each criterion is marked on its own, as by `rubrics`. `model` or `target` names the judge; \
`config`, which AgentV hands to templates, is not used and warned about.",
    example: "type: llm-grader\nconfig:\n  prompt: Is the answer friendly?",
    taxonomy: TAXONOMY,
    profiles: &[],
    schema: |_| schema(&["prompt", "rubrics", "criteria", "value"]),
    build: |building| {
        let asked = match building.config.get("rubrics").or_else(|| building.config.get("criteria"))
        {
            Some(list) if list.as_list().is_some() => {
                JudgeCriteria::Rubric(read_rubric(list, building)?)
            }
            _ => prompt(building)?.unwrap_or(JudgeCriteria::Criteria),
        };
        let keys = ["prompt", "rubrics", "criteria", "value"];
        build(building, asked, &keys, TOLD, Scale::ZeroToTen)
    },
};

pub(crate) static RUBRICS: GraderInfo = GraderInfo {
    id: "rubrics",
    aliases: &["rubric"],
    origin: "agentv",
    summary: "scores the run with a model, criterion by criterion",
    docs: "Scores with a model whether the `criteria` are met, one by one. A criterion is a text, which must hold, or a map of `id`, \
`outcome`, `weight`, `required` (true unless said), `min_score`, and `score_ranges`, which say what marks from 0 to 10 \
mean. The score is the weighted mean, and 0.8 passes; a criterion that must hold and does not fails all of it.",
    example: "type: rubrics\nconfig:\n  criteria:\n    - names the order\n    - {id: short, outcome: is short, weight: 2, required: false}",
    taxonomy: TAXONOMY,
    profiles: &[],
    schema: |_| schema(&["criteria", "rubrics", "value"]),
    build: |building| {
        let keys = ["criteria", "rubrics", "value"];
        let Some(list) = keys.iter().find_map(|key| building.config.get(key)) else {
            let span = building.config.span;
            building.reject(span, "missing-key", "rubrics needs a list of criteria");
            return None;
        };
        let rubric = read_rubric(list, building)?;
        build(building, JudgeCriteria::Rubric(rubric), &keys, TOLD, Scale::Binary)
    },
};

pub(crate) static LLM_RUBRIC: GraderInfo = GraderInfo {
    id: "llm-rubric",
    aliases: &["g-eval"],
    origin: "agentv",
    summary: "scores the run with a model by a rubric",
    docs: "Scores with a model whether the rubric in `value` (or `prompt`) is met: a text, or a list of criteria. Without either it is what the case says success is. It is met or not; with a \
`threshold` the marks go from 0 to 10, and that share of the way passes. The same type is promptfoo's.",
    example: "type: llm-rubric\nconfig:\n  value: names the order",
    taxonomy: TAXONOMY,
    profiles: &[],
    schema: |_| schema(&["value", "prompt", "rubricPrompt", "provider"]),
    build: |building| {
        let config = building.config;
        let Some(value) = config.get("value") else {
            let asked = prompt(building)?.unwrap_or(JudgeCriteria::Criteria);
            return build(building, asked, &["prompt", "provider"], TOLD, Scale::Binary);
        };
        let asked = match (value.as_str(), value.as_list()) {
            (Some(text), _) if !text.trim().is_empty() => {
                JudgeCriteria::Text(text.trim().to_owned())
            }
            (None, Some(_)) => JudgeCriteria::Rubric(read_rubric(value, building)?),
            _ => {
                let message = format!("value is a text or a list of them, found {}", value.word());
                building.reject(value.span, "wrong-type", message);
                return None;
            }
        };
        let keys = ["value", "prompt", "rubricPrompt", "provider"];
        build(building, asked, &keys, TOLD, Scale::Binary)
    },
};

pub(crate) static GOAL_SUCCESS: GraderInfo = GraderInfo {
    id: "trajectory:goal-success",
    aliases: &[],
    origin: "agentv",
    summary: "checks with a model whether the agent reached its goal",
    docs: "Passes if a model finds, looking at every step and at the answer, that the goal in `value` (a text, or a map with `goal`) was reached. promptfoo's type of this name asks the same; there the judge is shown the first and the last twelve \
steps without their arguments, here all of them with their arguments.",
    example: "type: trajectory:goal-success\nconfig:\n  value: the order is cancelled",
    taxonomy: TAXONOMY,
    profiles: &[],
    schema: |_| schema(&["value", "goal", "provider"]),
    build: |building| {
        let config = building.config;
        let node = config.get("value").or_else(|| config.get("goal"));
        let goal = node.and_then(|node| node.get("goal").unwrap_or(node).as_str());
        let Some(goal) = goal.map(str::trim).filter(|goal| !goal.is_empty()) else {
            let span = node.map_or(config.span, |node| node.span);
            building.reject(span, "missing-key", "goal-success needs the goal, as text");
            return None;
        };
        let text = format!("By the end of the run the agent had reached this goal: {goal}");
        let keys = ["value", "goal", "provider"];
        build(building, JudgeCriteria::Text(text), &keys, STEPS, Scale::Binary)
    },
};

/// Inputs of a judge of answers.
const TOLD: &[(&str, &str)] = &[
    ("input", "user_request?"),
    ("output", "output"),
    ("expected_output", "case.expected_output?"),
    ("steps", "steps?"),
];

/// Inputs of a judge of goals.
const STEPS: &[(&str, &str)] =
    &[("input", "user_request?"), ("steps", "steps"), ("output", "output?")];

/// Keys that select the judge.
const WHO: &[&str] = &["model", "target", "effort", "reasoning_effort", "threshold", "config"];

fn schema(keys: &[&str]) -> Schema {
    let all: serde_json::Map<_, _> =
        keys.iter().chain(WHO).map(|key| ((*key).to_owned(), serde_json::json!({}))).collect();
    json_schema!({"type": "object", "properties": all})
}

fn read_rubric(list: &Node, building: &mut Building<'_>) -> Option<Rubric> {
    match list.as_list() {
        Some(items) if !items.is_empty() => llm_rubric::read(items, building.problems),
        _ => {
            let message = "expected a list of one or more criteria";
            building.reject(list.span, "invalid-rubrics", message);
            None
        }
    }
}

/// Reads the text of `prompt` or `value`: the text itself, or the file that it names.
fn prompt(building: &mut Building<'_>) -> Option<Option<JudgeCriteria>> {
    let Some(node) = building.config.get("prompt").or_else(|| building.config.get("value")) else {
        return Some(None);
    };
    if let Some(command) = node.get("command").or_else(|| node.get("script")) {
        let cwd = node.get("cwd").and_then(Node::as_str);
        let read = GraderCommand::read(command, cwd, building.directory);
        if read.is_none() {
            let message = "command must be a line, or a list of a program and its arguments";
            building.reject(command.span, "invalid-command", message);
        }
        return read.map(|command| Some(JudgeCriteria::Program(command)));
    }
    let text = match &node.kind {
        NodeKind::Text(text) => text.trim().to_owned(),
        NodeKind::List(items) => {
            let texts: Vec<&str> = items.iter().filter_map(Node::as_str).collect();
            texts.join("\n")
        }
        _ => String::new(),
    };
    if text.is_empty() {
        let message = format!("the prompt is text, found {}", node.word());
        building.reject(node.span, "wrong-type", message);
        return None;
    }
    let named = text.strip_prefix("file://").unwrap_or(&text);
    let is_file = !named.contains('\n')
        && [".md", ".txt", ".j2", ".hbs"].iter().any(|end| named.ends_with(end));
    if !is_file {
        return Some(Some(JudgeCriteria::Text(text)));
    }
    match std::fs::read_to_string(building.directory.join(named)) {
        Ok(text) if !text.trim().is_empty() => Some(Some(JudgeCriteria::Text(text))),
        Ok(_) => {
            building.reject(node.span, "empty-text", "the file of the prompt is empty");
            None
        }
        Err(error) => {
            let message = format!("failed to read the prompt {}: {error}", quoted(named));
            building.reject(node.span, "unreadable-file", message);
            None
        }
    }
}

/// Source of the criteria.
enum JudgeCriteria {
    /// One text.
    Text(String),
    /// Criteria.
    Rubric(Rubric),
    /// The output of a program that gets a description of the run.
    Program(GraderCommand),
    /// The success criteria of the case.
    Criteria,
}

struct Llm {
    asked: JudgeCriteria,
    /// Scale for a text that does not mention another one.
    scale: Scale,
    inputs: Vec<(String, String)>,
    threshold: Option<f64>,
    panel: Panel,
}

fn build(
    building: &mut Building<'_>,
    asked: JudgeCriteria,
    keys: &[&str],
    inputs: &[(&str, &str)],
    scale: Scale,
) -> Option<Arc<dyn Grader>> {
    let before = building.problems.len();
    let config = building.config;
    if let Some(unused) = config.get("config") {
        let message = "`config` of a judge is not used: the prompt is toolmark's";
        let problem = Problem::warning("unused-key", message).at(unused.span);
        building.problems.push(problem.help("`model`, `effort` and `threshold` go beside it"));
    }
    let mut inputs: Vec<(String, String)> =
        inputs.iter().map(|(name, path)| ((*name).into(), (*path).into())).collect();
    if let JudgeCriteria::Text(text) = &asked {
        for name in placeholders(text) {
            match PLACEHOLDERS.iter().find(|(known, _)| *known == name) {
                Some((name, path)) if inputs.iter().all(|(input, _)| input != name) => {
                    inputs.push(((*name).to_owned(), (*path).to_owned()));
                }
                Some(_) => {}
                None => {
                    let message = format!("unknown name {} in the prompt", quoted(&name));
                    let problem = Problem::error("unknown-placeholder", message).at(config.span);
                    let known: Vec<&str> = PLACEHOLDERS.iter().map(|(name, _)| *name).collect();
                    building.problems.push(problem.help(format!("known: {}", known.join(", "))));
                }
            }
        }
    }
    for entry in config.entries() {
        let key = entry.key.as_str();
        if !keys.contains(&key) && !WHO.contains(&key) {
            let message = format!("unknown key {}", quoted(key));
            let problem = Problem::warning("unknown-key", message).at(entry.key_span);
            building.problems.push(problem.help("it is not used here"));
        }
    }
    let mut number = |key: &str| {
        let node = config.get(key)?;
        let value = node.as_f64().filter(|value| (0.0..=1.0).contains(value));
        if value.is_none() {
            building.reject(node.span, "out-of-range", format!("{key} is a number from 0 to 1"));
        }
        value
    };
    let threshold = number("threshold");
    let model = ["model", "provider", "target"].iter().find_map(|key| config.get(key)?.as_str());
    let effort = ["effort", "reasoning_effort"].iter().find_map(|key| config.get(key)?.as_str());
    let effort = effort.and_then(|word| {
        let all = [Effort::Low, Effort::Medium, Effort::High, Effort::Xhigh];
        let found = all.into_iter().find(|effort| effort.word() == word);
        if found.is_none() {
            let message = format!("unknown effort {}", quoted(word));
            let problem = Problem::error("unknown-word", message).at(config.span);
            building.problems.push(problem.help("expected low, medium, high or xhigh"));
        }
        found
    });
    let panel = Panel {
        models: model.map(str::to_owned).into_iter().collect(),
        effort,
        ..Panel::default()
    };
    let is_good = building.problems[before..].iter().all(|problem| !problem.is_error());
    is_good.then(|| Arc::new(Llm { asked, scale, inputs, threshold, panel }) as Arc<dyn Grader>)
}

impl Llm {
    fn rubric(&self, subject: &Subject<'_>) -> Result<Rubric, (Cause, String)> {
        let scale = match (&self.asked, self.threshold) {
            (JudgeCriteria::Criteria, _) | (_, Some(_)) => Scale::ZeroToTen,
            _ => self.scale,
        };
        let of_text = |text: &str| {
            let instructions = criteria(subject);
            // AgentV's own marks end at 10, and its scores at 1: a prompt may mean either.
            let scale = scale_of_words([text]).filter(|own| *own == Scale::Unit).unwrap_or(scale);
            Rubric { instructions, ..Rubric::of_text(without_braces(text), scale) }
        };
        match &self.asked {
            JudgeCriteria::Rubric(rubric) => Ok(rubric.clone()),
            JudgeCriteria::Text(text) => Ok(of_text(text)),
            JudgeCriteria::Program(command) => {
                let said = command.text(subject);
                said.map(|text| of_text(&text)).map_err(|error| (Cause::Program, error.to_string()))
            }
            JudgeCriteria::Criteria => {
                let text = subject.context.criteria.as_deref().map(str::trim);
                match text.filter(|text| !text.is_empty()) {
                    Some(text) => Ok(Rubric::of_text(format!("The run meets this: {text}"), scale)),
                    None => Err((
                        Cause::Configuration,
                        "neither the case nor the grader says what to judge by".to_owned(),
                    )),
                }
            }
        }
    }
}

fn criteria(subject: &Subject<'_>) -> String {
    match subject.context.criteria.as_deref().map(str::trim) {
        Some(text) if !text.is_empty() => format!("What success means in this case: {text}"),
        _ => String::new(),
    }
}

/// Placeholders and the fields that they show. A case need
/// not have an expected output or criteria; calls and changes must be known.
const PLACEHOLDERS: &[(&str, &str)] = &[
    ("input", "user_request?"),
    ("output", "output"),
    ("expected_output", "case.expected_output?"),
    ("criteria", "case.criteria?"),
    ("tool_calls", "tool_calls"),
    ("file_changes", "diff"),
];

/// Returns the names in braces.
fn placeholders(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    replace_braces(text, |name| {
        names.push(name.to_owned());
        String::new()
    });
    names
}

/// Replaces placeholders in braces by their names: their values are
/// shown as data.
fn without_braces(text: &str) -> String {
    replace_braces(text, |name| format!("(see the data called {name})"))
}

fn replace_braces(text: &str, mut replace: impl FnMut(&str) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("{{") {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let Some(end) = after.find("}}") else {
            out.push_str(after);
            return out;
        };
        let name = after.get(2..end).unwrap_or_default().trim();
        let name = match name {
            "answer" | "candidate_answer" | "output_text" => "output",
            "question" | "input_text" => "input",
            "reference_answer" | "expected_output_text" => "expected_output",
            "expected_outcome" => "criteria",
            name => name,
        };
        out.push_str(&replace(name));
        rest = after.get(end + 2..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

impl Grader for Llm {
    fn grade(&self, subject: &Subject<'_>) -> Outcome {
        let rubric = match self.rubric(subject) {
            Ok(rubric) => rubric,
            Err((cause, why)) => return Outcome::unknown(cause, why),
        };
        let focus = Focus { subject, call: None };
        let mut materials = match materials(&self.inputs, focus) {
            Ok(materials) => materials,
            Err(missing) => return Outcome::unknown(Cause::MissingEvidence, missing.0),
        };
        if let JudgeCriteria::Text(text) = &self.asked {
            // What a prompt refers to is there, if only to say that there is none.
            for name in placeholders(text) {
                if materials.iter().all(|material| material.name != name) {
                    materials.push(Material::of_spec(name, "(the case has none)"));
                }
            }
        }
        let (rubric, panel) = (Arc::new(rubric), self.panel.clone());
        let threshold = self.threshold.unwrap_or(THRESHOLD);
        ask(subject, JudgeQuestion { rubric, materials, panel, threshold })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{agentv, complaints, grade, judged, warnings};
    use serde_json::json;
    use toolmark_outcome::CaseContext;
    use toolmark_outcome::Verdict;

    fn run() -> String {
        agentv(json!([{"tool": "cancel_order", "input": {"id": 7}, "output": "ok"}]))
    }

    fn case() -> CaseContext {
        CaseContext { criteria: Some("the order is cancelled".into()), ..CaseContext::default() }
    }

    #[test]
    fn every_type_asks_its_question() {
        let context = case();
        let outcome = judged("llm_judge", json!({}), &run(), &context, |question| {
            assert!(question.rubric.criteria[0].text.contains("the order is cancelled"));
            Some(8.0)
        });
        assert_eq!((outcome.verdict, outcome.score), (Verdict::Pass, Some(0.8)));
        let outcome = judged(
            "llm-grader",
            json!({"prompt": "Is {{ output }} kind, given {{input}}?", "model": "m"}),
            &run(),
            &context,
            |question| {
                let text = &question.rubric.criteria[0].text;
                assert_eq!(
                    text,
                    "Is (see the data called output) kind, given (see the data called input)?"
                );
                assert_eq!(question.panel.models, ["m"]);
                Some(0.0)
            },
        );
        assert_eq!(outcome.verdict, Verdict::Fail);
        let config = json!({"value": {"goal": "order 7 is cancelled"}});
        let outcome = judged("trajectory:goal-success", config, &run(), &context, |question| {
            let steps = &question.materials[0];
            assert!(steps.pieces.iter().any(|piece| piece.text.contains("cancel_order")));
            Some(1.0)
        });
        assert_eq!(outcome.verdict, Verdict::Pass);
        let config = json!({"value": "is kind", "threshold": 0.6});
        let outcome = judged("llm-rubric", config, &run(), &context, |question| {
            assert_eq!(question.rubric.scale, Scale::ZeroToTen);
            Some(6.0)
        });
        assert_eq!((outcome.verdict, outcome.score), (Verdict::Pass, Some(0.6)));
    }

    #[test]
    fn names_in_braces_are_filled() {
        let prompt = "Do {{tool_calls}} meet {{criteria}}? Compare {{ reference_answer }}.";
        let outcome =
            judged("llm-grader", json!({"prompt": prompt}), &run(), &case(), |question| {
                assert_eq!(question.rubric.scale, Scale::ZeroToTen);
                let text = |name: &str| {
                    let found = question.materials.iter().find(|m| m.name == name);
                    found.map(|m| m.pieces[0].text.clone()).unwrap()
                };
                assert!(text("tool_calls").starts_with("cancel_order"));
                assert_eq!(text("criteria"), "the order is cancelled");
                assert_eq!(text("expected_output"), "(the case has none)");
                Some(9.0)
            });
        assert_eq!((outcome.verdict, outcome.score), (Verdict::Pass, Some(0.9)));
        let config = json!({"prompt": "Are {{file_changes}} small?"});
        let outcome = judged("llm-grader", config, &run(), &case(), |_| Some(9.0));
        assert_eq!(outcome.verdict, Verdict::Unknown(Cause::MissingEvidence));
    }

    #[test]
    fn a_prompt_may_use_marks_from_0_to_1() {
        let config = json!({"prompt": "1.0 = kind, 0.5 = neutral, 0.0 = rude"});
        let outcome = judged("llm-grader", config, &run(), &case(), |question| {
            assert_eq!(question.rubric.scale, Scale::Unit);
            Some(0.5)
        });
        assert_eq!((outcome.verdict, outcome.score), (Verdict::Fail, Some(0.5)));
    }

    #[test]
    fn a_criterion_that_must_hold_fails_all_of_it() {
        let config =
            json!({"criteria": ["is kind", {"id": "b", "outcome": "x", "required": false}]});
        let outcome = judged("rubrics", config.clone(), &run(), &case(), |_| Some(0.0));
        assert_eq!((outcome.verdict, outcome.score), (Verdict::Fail, Some(0.0)));
        assert!(outcome.reason.raw().contains("must hold"));
        let silent = judged("rubrics", config, &run(), &case(), |_| None);
        assert_eq!(silent.verdict, Verdict::Unknown(Cause::Judge));
    }

    #[test]
    fn without_a_judge_or_criteria_it_is_unknown() {
        let outcome = grade("rubrics", json!({"criteria": ["is kind"]}), &run());
        assert_eq!(outcome.verdict, Verdict::Unknown(Cause::NeedsJudge));
        assert!(outcome.reason.raw().contains("is kind"));
        let outcome = grade("llm-grader", json!({}), &run());
        assert_eq!(outcome.verdict, Verdict::Unknown(Cause::Configuration));
    }

    #[test]
    fn mistakes() {
        for (id, config, complaint) in [
            ("rubrics", json!({}), "list of criteria"),
            ("rubrics", json!({"criteria": []}), "one or more"),
            ("llm-rubric", json!({"prompt": {"command": []}}), "list of a program"),
            ("llm-rubric", json!({"value": 7}), "found a number"),
            ("trajectory:goal-success", json!({"value": {}}), "needs the goal"),
            ("llm-grader", json!({"prompt": "no/such/file.md"}), "failed to read"),
            ("llm-rubric", json!({"value": "x", "threshold": 5}), "from 0 to 1"),
            ("llm-rubric", json!({"value": "x", "effort": "extreme"}), "unknown effort"),
            ("llm-grader", json!({"prompt": "Is {{ outptu }} kind?"}), "unknown name"),
        ] {
            let said = complaints(id, &config).join("; ");
            assert!(said.contains(complaint), "{id} {config}: {said}");
        }
        let said = warnings("llm-grader", &json!({"prompt": "x y", "config": {"a": 1}}));
        assert!(said.join("; ").contains("is not used"), "{said:?}");
    }
}
