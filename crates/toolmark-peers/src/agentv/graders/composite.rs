//! `composite`: combines several graders.

use super::code_grader::GraderCommand;
use super::entry::{entries, repeated};
use super::opposite::opposite;
use super::reading::{PASSING, PROFILES, contrasted, is_agentv, number, word};
use crate::{ALL, grader_by_id};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use toolmark_base::SortedSet;
use toolmark_config::{Node, NodeKind, Problem, did_you_mean, quoted};
use toolmark_grade::{
    Determinism, Grader, GraderInfo, Taxonomy, ask, declared, schema_of, unknown_type,
};
use toolmark_match::Building;
use toolmark_outcome::Evidence;
use toolmark_outcome::Profile;
use toolmark_outcome::judging::{
    JudgeQuestion, Material, Panel, Rubric, Scale, TextPiece, ask as ask_judge,
};
use toolmark_outcome::{CaseScoring, GateRule, ScoredGrader, reaches, rounded};
use toolmark_outcome::{Cause, Outcome, OutcomePart, Verdict};
use toolmark_outcome::{Subject, Untrusted};

/// Evaluators, and how their results are combined.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "members are evaluators of every kind and are read by hand")]
struct CompositeConfig {
    /// The evaluators; aliases: `evaluators`, `assert`.
    #[schemars(schema_with = "members_schema")]
    assertions: Node,
    /// Method for combining the results.
    #[schemars(schema_with = "aggregator_schema", default)]
    aggregator: Option<Node>,
    /// Minimum weighted mean of the members, if there is no aggregator.
    #[schemars(default)]
    threshold: Option<f64>,
}

fn members_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array", "items": {"type": ["object", "string"]}, "minItems": 1})
}

fn aggregator_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "properties": {
            "type": {"enum": KINDS},
            "weights": {"type": "object", "additionalProperties": {"type": "number", "minimum": 0}},
            "threshold": {"type": "number", "minimum": 0, "maximum": 1},
            "path": {"type": "string"},
            "cwd": {"type": "string"},
            "prompt": {"type": "string"},
            "model": {"type": "string"},
        },
        "required": ["type"],
        "additionalProperties": false,
    })
}

const KINDS: &[&str] = &[
    "weighted_average",
    "threshold",
    "code-grader",
    "code_grader",
    "code-judge",
    "code_judge",
    "llm-grader",
    "llm_grader",
    "llm-judge",
    "llm_judge",
];

pub(crate) static COMPOSITE: GraderInfo = GraderInfo {
    id: "composite",
    aliases: &["assert-set"],
    origin: "agentv",
    summary: "combines several graders into one verdict",
    docs: "Checks whether the `assertions` (also `evaluators`, `assert`), taken together, pass. `aggregator` says how they are taken:

- `weighted_average`: the mean of their scores by `weights` (names to numbers), else by their own `weight`; 0.8 passes;
- `threshold`: the share of them that pass must reach `threshold`;
- `code-grader`: the program at `path` gets `{\"results\": …}` and answers with a score;
- `llm-grader`: a model is shown their answers and decides by `prompt`; marks go from 0 to 10, and 0.8 of the way passes.

Without an aggregator the weighted mean must reach `threshold`, or 0.8. A member that is unknown makes the whole unknown, unless the others decide. AgentV's readings up to version 4 do not look at the `weight` of a member, only at `weights`.",
    example: "type: composite\nconfig:\n  assertions:\n    - { name: short, type: latency, threshold: 5000 }\n    - { name: done, type: contains, value: done }\n  aggregator: { type: weighted_average, weights: { done: 3 } }",
    taxonomy: Taxonomy::TRAJECTORY,
    profiles: PROFILES,
    schema: schema_of::<CompositeConfig>,
    build,
};

struct CompositeMember {
    name: String,
    type_word: String,
    weight: f64,
    grader: Arc<dyn Grader>,
}

enum Aggregator {
    Mean(f64),
    Share(f64),
    Program(GraderCommand),
    Judge { prompt: String, panel: Panel },
}

struct Composite {
    members: Vec<CompositeMember>,
    aggregator: Aggregator,
    profile: Profile,
}

fn build(building: &mut Building<'_>) -> Option<Arc<dyn Grader>> {
    let ours = whole(building)?;
    // Programs are not run twice for a comparison.
    let contrast = building.contrast.filter(|contrast| is_agentv(*contrast) && !ours.runs());
    let theirs = contrast.and_then(|profile| {
        let mut problems = Vec::new();
        whole(&mut Building {
            config: building.config,
            profile,
            contrast: None,
            directory: building.directory,
            schemas: building.schemas,
            problems: &mut problems,
        })
    });
    Some(Arc::new(ComparedComposite { ours, theirs }))
}

fn whole(building: &mut Building<'_>) -> Option<Composite> {
    let config = building.config;
    let before = building.problems.len();
    let known = ["assertions", "evaluators", "assert", "aggregator", "threshold", "config"];
    super::value::keys(config, &known, building.problems);
    let Some(list) = ["assertions", "evaluators", "assert"].iter().find_map(|key| config.get(key))
    else {
        building.reject(config.span, "missing-key", "missing key \"assertions\"");
        return None;
    };
    let (aggregator, weights) = aggregator(building, config)?;
    let members = members(building, list, weights);
    if members.is_empty() && building.problems.len() == before {
        building.reject(list.span, "empty-list", "one evaluator at least is needed");
    }
    for entry in weights.into_iter().flat_map(Node::entries) {
        if !members.iter().any(|member| member.name == entry.key) {
            let names = members.iter().map(|member| member.name.as_str());
            let message = format!("no evaluator has the name {}", quoted(&entry.key));
            let problem = Problem::error("unknown-name", message).at(entry.key_span);
            building.problems.push(match did_you_mean(&entry.key, names) {
                Some(near) => problem.help(format!("did you mean {}?", quoted(near))),
                None => problem,
            });
        }
    }
    if building.problems[before..].iter().any(Problem::is_error) {
        return None;
    }
    Some(Composite { members, aggregator, profile: building.profile })
}

/// A composite, and its counterpart under AgentV.
struct ComparedComposite {
    ours: Composite,
    theirs: Option<Composite>,
}

impl Grader for ComparedComposite {
    fn asks_judge(&self) -> bool {
        self.ours.asks_judge()
    }

    fn grade(&self, subject: &Subject<'_>) -> Outcome {
        let outcome = self.ours.grade(subject);
        match &self.theirs {
            None => outcome,
            Some(composite) => {
                let theirs = composite.grade(subject);
                let (verdict, score) = (theirs.verdict, theirs.score);
                contrasted(outcome, composite.profile, verdict, score, theirs.reason)
            }
        }
    }
}

fn members(
    building: &mut Building<'_>,
    list: &Node,
    weights: Option<&Node>,
) -> Vec<CompositeMember> {
    let profile = building.profile;
    let mut names = SortedSet::new();
    let mut members = Vec::new();
    for entry in entries(list, building.problems) {
        let word = &entry.type_word;
        let grader = match grader_by_id(&word.value) {
            Some(info) => (info.build)(&mut Building {
                config: &entry.config,
                profile,
                // The whole is compared, not its members.
                contrast: None,
                directory: building.directory,
                schemas: building.schemas,
                problems: building.problems,
            }),
            // A type of the user's own.
            None => {
                building.problems.push(unknown_type(word, ALL));
                Some(declared(&word.value))
            }
        };
        let name = entry.name.unwrap_or_else(|| word.value.clone());
        if !names.insert(name.clone()) {
            building.problems.push(repeated(&name, entry.span));
        }
        let Some(grader) = grader else { continue };
        let grader = if entry.negate { opposite(grader, profile, None) } else { grader };
        let said = weights.and_then(|weights| weights.get(&name)).and_then(Node::as_f64);
        let own = match profile {
            Profile::AgentV1 | Profile::AgentV2 => 1.0,
            _ => entry.weight,
        };
        let weight = said.unwrap_or(own);
        members.push(CompositeMember { name, type_word: entry.type_word.value, weight, grader });
    }
    members
}

/// Reads the aggregator, and the weights that it sets.
fn aggregator<'n>(
    building: &mut Building<'_>,
    config: &'n Node,
) -> Option<(Aggregator, Option<&'n Node>)> {
    let share = |building: &mut Building<'_>, node: &Node| {
        let value = node.as_f64().filter(|v| (0.0..=1.0).contains(v));
        if value.is_none() {
            building.reject(node.span, "invalid-threshold", "threshold must be from 0 to 1");
        }
        value
    };
    let Some(node) = config.get("aggregator").filter(|node| !node.is_null()) else {
        let mark = match config.get("threshold") {
            None => PASSING,
            Some(node) => share(building, node)?,
        };
        return Some((Aggregator::Mean(mark), None));
    };
    let word = node.get("type").and_then(Node::as_str).unwrap_or("");
    let known: &[&str] = &["type", "weights", "threshold", "path", "cwd", "prompt", "model"];
    super::value::keys(node, known, building.problems);
    let weights = node.get("weights").filter(|node| !node.is_null());
    let is_weights = |node: &&Node| {
        matches!(node.kind, NodeKind::Map(_))
            && node.entries().all(|e| e.value.as_f64().is_some_and(|w| w.is_finite() && w >= 0.0))
    };
    if let Some(wrong) = weights.filter(|node| !is_weights(node)) {
        building.reject(
            wrong.span,
            "invalid-weights",
            "weights must be numbers of 0 or more by name",
        );
        return None;
    }
    let aggregator = match word {
        "weighted_average" => Aggregator::Mean(PASSING),
        "threshold" => match node.get("threshold") {
            Some(mark) => Aggregator::Share(share(building, mark)?),
            None => {
                building.reject(node.span, "missing-key", "missing key \"threshold\"");
                return None;
            }
        },
        "code-grader" | "code_grader" | "code-judge" | "code_judge" => {
            let Some(path) = node.get("path").and_then(Node::as_str) else {
                building.reject(node.span, "missing-key", "missing key \"path\"");
                return None;
            };
            let cwd = node.get("cwd").and_then(Node::as_str);
            Aggregator::Program(GraderCommand::line(path, cwd, building.directory))
        }
        "llm-grader" | "llm_grader" | "llm-judge" | "llm_judge" => {
            let text = |key: &str| node.get(key).and_then(Node::as_str).map(str::trim);
            let prompt = text("prompt").filter(|prompt| !prompt.is_empty());
            let prompt = prompt
                .unwrap_or("The answers of the graders, taken together, say that the run is good");
            let models = text("model").map(str::to_owned).into_iter().collect();
            let prompt =
                prompt.replace("{{EVALUATOR_RESULTS_JSON}}", "(see the data called results)");
            Aggregator::Judge { prompt, panel: Panel { models, ..Panel::default() } }
        }
        other => {
            let message = match node.get("type") {
                None => "an aggregator needs a \"type\"".to_owned(),
                Some(_) => format!("unknown aggregator {}", quoted(other)),
            };
            let problem = Problem::error("unknown-aggregator", message).at(node.span);
            building.problems.push(match did_you_mean(other, KINDS.iter().copied()) {
                Some(near) => problem.help(format!("did you mean {}?", quoted(near))),
                None => problem.help("use weighted_average, threshold, code-grader or llm-grader"),
            });
            return None;
        }
    };
    Some((aggregator, weights))
}

impl Grader for Composite {
    fn asks_judge(&self) -> bool {
        matches!(self.aggregator, Aggregator::Judge { .. })
            || self.members.iter().any(|member| {
                let info = grader_by_id(&member.type_word);
                info.is_some_and(|info| info.taxonomy.determinism == Determinism::Judge)
                    || member.grader.asks_judge()
            })
    }

    fn grade(&self, subject: &Subject<'_>) -> Outcome {
        let answers: Vec<Outcome> =
            self.members.iter().map(|member| ask(&*member.grader, subject)).collect();
        let mut outcome = match &self.aggregator {
            Aggregator::Mean(mark) => self.mean(&answers, *mark),
            Aggregator::Share(mark) => share(&answers, *mark),
            Aggregator::Program(command) => self.ask(&answers, command, subject),
            Aggregator::Judge { prompt, panel } => {
                let results = Value::Object(self.results(&answers)).to_string();
                let question = JudgeQuestion {
                    rubric: Arc::new(Rubric::of_text(prompt.clone(), Scale::ZeroToTen)),
                    // The answers quote the trace: they are data, as it is.
                    materials: vec![Material::of_trace("results", vec![TextPiece::new(results)])],
                    panel: panel.clone(),
                    threshold: PASSING,
                };
                ask_judge(subject, question)
            }
        };
        let mut evidence: Vec<Evidence> = Vec::new();
        for (member, answer) in self.members.iter().zip(answers) {
            let part = OutcomePart {
                text: member.name.clone().into(),
                verdict: answer.verdict,
                score: answer.score,
                reason: Some(answer.reason),
            };
            outcome.parts.push(part);
            evidence.extend(answer.evidence);
            let named = |note: &Untrusted| format!("{}: {}", member.name, note.raw()).into();
            outcome.notes.extend(answer.notes.iter().map(named));
        }
        evidence.truncate(20);
        outcome.evidence = evidence;
        if let Some(score) = outcome.score {
            let said = match outcome.verdict {
                Verdict::Fail if word(score, self.profile) == "borderline" => "borderline",
                verdict => verdict.word(),
            };
            outcome.metrics.insert("verdict".into(), said.into());
        }
        outcome
    }
}

impl Composite {
    /// Whether any member runs programs.
    fn runs(&self) -> bool {
        let is_program =
            |word: &str| grader_by_id(word).is_some_and(|info| info.id == "code-grader");
        matches!(self.aggregator, Aggregator::Program(_))
            || self.members.iter().any(|m| is_program(&m.type_word) || m.type_word == "composite")
    }

    fn mean(&self, answers: &[Outcome], mark: f64) -> Outcome {
        let scored: Vec<ScoredGrader<'_>> = self
            .members
            .iter()
            .zip(answers)
            .map(|(member, answer)| ScoredGrader {
                name: &member.name,
                verdict: answer.verdict,
                score: answer.score,
                weight: member.weight,
                required: false,
                min_score: None,
                turn: None,
            })
            .collect();
        let scoring = CaseScoring { rule: GateRule::Threshold(mark), profile: self.profile };
        let decision = scoring.decide(&scored);
        let mut outcome = Outcome::scored(decision.verdict, 0.0, decision.reason);
        outcome.score = decision.score;
        outcome
    }

    /// Returns the results by the names of the members.
    fn results(&self, answers: &[Outcome]) -> Map<String, Value> {
        self.members
            .iter()
            .zip(answers)
            .map(|(member, answer)| {
                let lines: Vec<Value> = answer
                    .parts
                    .iter()
                    .map(|part| {
                        json!({"text": part.text.raw(), "passed": part.verdict == Verdict::Pass})
                    })
                    .collect();
                let answer = json!({
                    "type": member.type_word,
                    "score": answer.score,
                    "verdict": answer.verdict.word(),
                    "reasoning": answer.reason.raw(),
                    "assertions": lines,
                });
                (member.name.clone(), answer)
            })
            .collect()
    }

    fn ask(&self, answers: &[Outcome], command: &GraderCommand, subject: &Subject<'_>) -> Outcome {
        command.ask(&json!({ "results": self.results(answers) }), subject, self.profile)
    }
}

/// Returns the share of members that pass. An unknown member may pass or fail.
fn share(answers: &[Outcome], mark: f64) -> Outcome {
    let all = answers.len().max(1) as f64;
    let passed = answers.iter().filter(|answer| answer.verdict == Verdict::Pass).count();
    let unknown = answers.iter().find_map(|answer| answer.verdict.cause());
    let open = answers.iter().filter(|answer| answer.verdict.cause().is_some()).count();
    let (low, high) = (passed as f64 / all, (passed + open) as f64 / all);
    let verdict = match unknown {
        Some(cause) if reaches(high, mark) && !reaches(low, mark) => Verdict::Unknown(cause),
        _ => Verdict::of(reaches(low, mark)),
    };
    let reason = format!(
        "{passed} of {} evaluators passed ({}), {} asked for",
        answers.len(),
        rounded(low),
        number(mark)
    );
    let mut outcome = Outcome::scored(verdict, low, reason);
    outcome.score = (open == 0).then_some(low);
    outcome
}

/// Returns the outcome of a failed program: 0 under AgentV.
pub(super) fn zero(profile: Profile, why: String) -> Outcome {
    if is_agentv(profile) {
        let outcome = Outcome::scored(Verdict::Fail, 0.0, why);
        return outcome.with_metric("error", true).with_metric("verdict", "fail");
    }
    Outcome::unknown(Cause::Program, why)
}

#[cfg(test)]
mod tests {
    use crate::testing::{agentv_with, build, complaints, grade, grade_as, judged};
    use serde_json::{Value, json};
    use toolmark_outcome::judging::JudgeQuestion;
    use toolmark_outcome::{CaseContext, Cause, Profile, Verdict};

    fn members() -> Value {
        json!([
            {"name": "fast", "type": "latency", "threshold": 10, "weight": 3},
            {"name": "done", "type": "contains", "value": "done"},
        ])
    }

    #[test]
    fn a_judge_is_shown_the_answers() {
        let made = agentv_with(json!([]), json!({}));
        let config = json!({
            "assertions": [{"name": "j", "type": "is-json"}],
            "aggregator": {"type": "llm-grader", "prompt": "by {{EVALUATOR_RESULTS_JSON}}"},
        });
        let good: fn(&JudgeQuestion) -> Option<f64> = |question| {
            let shown = &question.materials[0];
            assert!(shown.name == "results" && shown.pieces[0].text.contains("is-json"));
            Some(10.0)
        };
        let poor: fn(&JudgeQuestion) -> Option<f64> = |_| Some(5.0);
        for (judge, verdict) in [(good, Verdict::Pass), (poor, Verdict::Fail)] {
            let outcome =
                judged("composite", config.clone(), &made, &CaseContext::default(), judge);
            assert_eq!(outcome.verdict, verdict);
        }
        let outcome = grade("composite", config.clone(), &made);
        assert_eq!(outcome.verdict, Verdict::Unknown(Cause::NeedsJudge));
        let member =
            json!({"type": "composite", "assertions": [{"type": "llm-grader", "prompt": "x"}]});
        for (config, asks) in [
            (config, true),
            (json!({"assertions": [member]}), true),
            (json!({"assertions": [{"type": "is-json"}]}), false),
        ] {
            let grader = build("composite", Profile::Toolmark, &config).unwrap();
            assert_eq!(grader.asks_judge(), asks, "{config}");
        }
    }

    #[test]
    fn answers_make_one() {
        let made = agentv_with(json!([]), json!({"duration_ms": 50}));
        // (aggregator, toolmark, AgentV 2): fast fails, done passes.
        for (aggregator, ours, theirs) in [
            (json!({"type": "weighted_average"}), (Verdict::Fail, 0.25), (Verdict::Fail, 0.5)),
            (
                json!({"type": "weighted_average", "weights": {"done": 4, "fast": 1}}),
                (Verdict::Pass, 0.8),
                (Verdict::Pass, 0.8),
            ),
            (
                json!({"type": "threshold", "threshold": 0.5}),
                (Verdict::Pass, 0.5),
                (Verdict::Pass, 0.5),
            ),
            (
                json!({"type": "threshold", "threshold": 0.6}),
                (Verdict::Fail, 0.5),
                (Verdict::Fail, 0.5),
            ),
        ] {
            let config = json!({"assertions": members(), "aggregator": aggregator});
            let outcome = grade("composite", config.clone(), &made);
            assert_eq!((outcome.verdict, outcome.score), (ours.0, Some(ours.1)), "{aggregator}");
            assert_eq!(outcome.parts.len(), 2);
            let outcome = grade_as("composite", Profile::AgentV2, config, &made);
            assert_eq!(
                (outcome.verdict, outcome.score),
                (theirs.0, Some(theirs.1)),
                "{aggregator}"
            );
        }
        let config = json!({"assert": members(), "threshold": 0.25});
        assert_eq!(grade("assert-set", config, &made).verdict, Verdict::Pass);
    }

    #[test]
    fn what_is_unknown_stays_so_unless_others_decide() {
        let made = agentv_with(json!([]), json!({}));
        let config = |mark: f64| json!({"assertions": members(), "aggregator": {"type": "threshold", "threshold": mark}});
        assert_eq!(grade("composite", config(0.5), &made).verdict, Verdict::Pass);
        let unknown = Verdict::Unknown(Cause::MissingEvidence);
        assert_eq!(grade("composite", config(0.9), &made).verdict, unknown);
        let config = json!({"assertions": members(), "aggregator": {"type": "llm-grader"}});
        let outcome = grade("composite", config, &made);
        assert_eq!(outcome.verdict, Verdict::Unknown(Cause::NeedsJudge));
    }

    #[test]
    fn members_may_be_turned() {
        let made = agentv_with(json!([]), json!({}));
        let config = json!({"assertions": [{"type": "not-contains", "value": "done"}]});
        assert_eq!(grade("composite", config, &made).verdict, Verdict::Fail);
    }

    #[test]
    fn mistakes() {
        for (config, complaint) in [
            (json!({}), "assertions"),
            (json!({"assertions": []}), "one evaluator"),
            (json!({"assertions": [{"type": "latency"}]}), "threshold"),
            (
                json!({"assertions": members(), "aggregator": {"type": "mean"}}),
                "unknown aggregator",
            ),
            (json!({"assertions": members(), "aggregator": {"type": "threshold"}}), "threshold"),
            (
                json!({"assertions": members(), "aggregator": {"type": "weighted_average", "weights": {"fats": 1}}}),
                "no evaluator has the name",
            ),
            (json!({"assertions": [members()[0], members()[0]]}), "two evaluators"),
            (json!({"assertions": members(), "agregator": {}}), "unknown key"),
        ] {
            let said = complaints("composite", &config).join("; ");
            assert!(said.contains(complaint), "{config}: {said}");
        }
    }
}
