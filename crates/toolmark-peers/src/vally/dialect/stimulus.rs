//! Stimuli: the prompts of the agent, and their graders.

use super::constraints;
use super::graders::{GraderNames, RequestedGrader, build, entries, tell_apart};
use super::scoring::{Weights, scoring};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, Error};
use std::borrow::Cow;
use std::sync::Arc;
use toolmark_base::SortedMap;
use toolmark_config::{Node, Problem, Spanned, read};
use toolmark_grade::Loading;
use toolmark_grade::{Case, Match, Planned};
use toolmark_outcome::{CaseContext, CaseScoring, GateRule, Profile};

/// A stimulus: prompts of the agent, with graders.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Stimulus {
    /// Name of the stimulus, unique in the file. Runs are matched to it by name, otherwise by
    /// their prompt.
    name: Spanned<String>,
    /// Prompt of the agent.
    #[serde(default)]
    prompt: Option<Spanned<String>>,
    /// Prompts of the agent, turn by turn, instead of `prompt`.
    #[serde(default)]
    turns: Option<Spanned<Vec<StimulusTurn>>>,
    /// Description for readers.
    #[serde(default, rename = "description")]
    _description: Option<String>,
    /// The environment of the run, or the name of one. Not used for grading.
    #[serde(default, rename = "environment")]
    _environment: Option<Node>,
    /// The environment of the agent alone. Not used for grading.
    #[serde(default, rename = "agent_environment")]
    _agent_environment: Option<Node>,
    /// Graders of the stimulus.
    #[serde(default, rename = "graders")]
    #[schemars(schema_with = "super::schema::grader_list")]
    _graders: Option<Node>,
    /// Criteria for a judge.
    #[serde(default)]
    rubric: Option<Rubric>,
    /// Constraints of the run.
    #[serde(default, rename = "constraints")]
    #[schemars(with = "Option<constraints::Constraints>")]
    _constraints: Option<Node>,
    /// Tags for filtering.
    #[serde(default)]
    #[schemars(schema_with = "super::schema::tags")]
    tags: Option<Node>,
    /// Scoring, overriding that of the file.
    #[serde(default, rename = "scoring")]
    #[schemars(with = "Option<super::scoring::VallyScoring>")]
    _scoring: Option<Node>,
    /// Number of runs.
    #[serde(default)]
    runs: Option<u32>,
    /// Maximum duration of a run. Not used for grading.
    #[serde(default, rename = "timeout")]
    _timeout: Option<Node>,
    /// Settings of this stimulus; only `runs` is used.
    #[serde(default)]
    config: Option<Node>,
    /// Files passed to the agent. Not used for grading.
    #[serde(default, rename = "attachments")]
    _attachments: Option<Node>,
    /// Files that are kept. Not used for grading.
    #[serde(default, rename = "artifacts")]
    _artifacts: Option<Node>,
    /// A reference change. Not used for grading.
    #[serde(default, rename = "golden_patch")]
    _golden_patch: Option<Node>,
    /// A reference run. Not used for grading.
    #[serde(default, rename = "golden_trajectory")]
    _golden_trajectory: Option<Node>,
    /// A reference command. Not used for grading.
    #[serde(default, rename = "golden_command")]
    _golden_command: Option<Node>,
    /// Simulated tools. Not used for grading.
    #[serde(default, rename = "simulation")]
    _simulation: Option<Node>,
    /// Executors that can run the stimulus. Not used for grading.
    #[serde(default, rename = "supported_executors")]
    _supported_executors: Option<Node>,
    /// Arbitrary metadata. Not used for grading.
    #[serde(default, rename = "metadata")]
    _metadata: Option<Node>,
}

/// Prompt of one turn: a text, or a map with `prompt`.
#[derive(Debug)]
struct StimulusTurn(String);

impl<'de> Deserialize<'de> for StimulusTurn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let node = Node::deserialize(deserializer)?;
        let text = match node.as_map() {
            Some([only]) if only.key == "prompt" => only.value.as_str(),
            Some(_) => return Err(D::Error::custom("expected text or a map with only `prompt`")),
            None => node.as_str(),
        };
        match text {
            Some(text) => Ok(Self(text.to_owned())),
            None => Err(D::Error::custom("expected text or a map with `prompt`")),
        }
    }
}

impl JsonSchema for StimulusTurn {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Turn".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "oneOf": [
                { "type": "string" },
                {
                    "type": "object",
                    "properties": { "prompt": { "type": "string" } },
                    "required": ["prompt"]
                }
            ]
        })
    }
}

/// Criteria: a list of texts, or one.
#[derive(Debug)]
struct Rubric(Vec<String>);

impl<'de> Deserialize<'de> for Rubric {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let node = Node::deserialize(deserializer)?;
        let text = |node: &Node| node.as_str().map(str::to_owned);
        let texts = match node.as_list() {
            Some(items) => items.iter().map(text).collect::<Option<Vec<_>>>(),
            None => text(&node).map(|text| vec![text]),
        };
        texts.map(Self).ok_or_else(|| D::Error::custom("a rubric is a list of texts"))
    }
}

impl JsonSchema for Rubric {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Rubric".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "oneOf": [
                { "type": "string" },
                { "type": "array", "items": { "type": "string" } }
            ]
        })
    }
}

/// Settings common to all stimuli of a file.
pub(super) struct StimulusDefaults {
    pub(super) threshold: Option<f64>,
    pub(super) trials: Option<u32>,
    /// Environment of every stimulus.
    pub(super) root_environment: Option<Node>,
    pub(super) tags: SortedMap<String, Vec<String>>,
    /// Graders that apply to every stimulus, and the built graders.
    pub(super) asked: Vec<RequestedGrader>,
    pub(super) graders: Vec<Option<Planned>>,
}

/// Data collected from all stimuli of a file.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) weights: Weights,
    pub(super) names: GraderNames,
}

/// Builds a case from a stimulus.
pub(super) fn case(
    node: &Node,
    shared: &StimulusDefaults,
    gathered: &mut Gathered,
    loading: &mut Loading<'_>,
) -> Option<Case> {
    let stimulus = read::<Stimulus>(node, &mut loading.problems);
    // Its graders are looked at whatever else is wrong with it.
    let own = own_graders(node, loading);
    let _ = gathered.names.check(&own, loading);
    let built: Vec<Option<Planned>> = own.iter().map(|asked| build(asked, loading)).collect();
    let all: Vec<&RequestedGrader> = own.iter().chain(&shared.asked).collect();
    let (threshold, mut own_weights) = scoring(node.get("scoring"), loading);
    if own_weights.is_some() {
        // The weights of the file are none too many because one stimulus has its own.
        for asked in &all {
            let _ = gathered.weights.find(asked);
        }
    }
    let weights = own_weights.as_mut().unwrap_or(&mut gathered.weights);
    let mut planned = Vec::new();
    for (asked, built) in all.iter().zip(built.iter().chain(&shared.graders)) {
        let weight = weights.of(asked, loading);
        planned.extend(built.clone().map(|planned| Planned { weight, ..planned }));
    }
    weights.check_shared(&all, loading);
    if let Some(own) = &own_weights {
        own.check_used(loading);
    }
    let stimulus = stimulus?;
    let prompts = prompts(&stimulus, node, loading)?;
    check_turns(&all, prompts.len(), loading);
    if all.is_empty() {
        let message = format!("the stimulus {} has no graders", stimulus.name.value);
        let problem = Problem::warning("no-graders", message).at(stimulus.name.span);
        loading.problems.push(problem.help("its runs can neither pass nor fail"));
    }
    let rubric = stimulus.rubric.map(|rubric| rubric.0).unwrap_or_default();
    if !rubric.is_empty() && !planned.iter().any(Planned::asks_judge) && planned.len() == all.len()
    {
        let span = node.entry("rubric").map_or(node.span, |entry| entry.key_span);
        let message = "the rubric is for a judge, and no grader is one";
        loading.warn("rubric-without-llm-judge", span, message);
    }
    tell_apart(&mut planned);
    let mut tags = shared.tags.clone();
    tags.extend(stimulus.tags.as_ref().map(|tags| tags_of(tags, loading)).unwrap_or_default());
    let trials = stimulus.runs.or_else(|| own_runs(stimulus.config.as_ref(), loading));
    let name = stimulus.name.value;
    // Whichever way a run was started, its first message is one of these.
    let first = [stimulus.prompt.map(|prompt| prompt.value), prompts.first().cloned()];
    let mut first: Vec<String> = first.into_iter().flatten().collect();
    first.dedup();
    Some(Case {
        id: name.clone(),
        tags,
        matches: Match { ids: vec![name.clone()], prompts: first, traces: Vec::new() },
        context: Arc::new(CaseContext {
            case: name,
            prompts,
            rubric,
            spec: Some(Arc::new(node.to_json())),
            directory: loading.directory.to_owned(),
            ..CaseContext::default()
        }),
        graders: planned,
        scoring: CaseScoring {
            rule: threshold.or(shared.threshold).map_or(GateRule::All, GateRule::Threshold),
            profile: loading.options.profile.unwrap_or(Profile::Vally),
        },
        trials: trials.filter(|runs| *runs > 0).or(shared.trials),
        run: super::running::settings(node, shared.root_environment.as_ref(), loading),
        target: None,
        place: loading.place(stimulus.name.span),
    })
}

/// Returns the graders of a stimulus, those of its constraints last.
fn own_graders(node: &Node, loading: &mut Loading<'_>) -> Vec<RequestedGrader> {
    let mut asked = match node.get("graders") {
        Some(list) => entries(list, loading),
        None => Vec::new(),
    };
    if let Some(node) = node.get("constraints").filter(|node| !node.is_null()) {
        asked.extend(constraints::graders(node, loading));
    }
    asked
}

/// Returns the prompts of the agent, turn by turn.
fn prompts(stimulus: &Stimulus, node: &Node, loading: &mut Loading<'_>) -> Option<Vec<String>> {
    match (&stimulus.prompt, &stimulus.turns) {
        (_, Some(turns)) if turns.value.is_empty() => {
            loading.error("empty-list", turns.span, "a stimulus needs at least one turn");
            None
        }
        (prompt, Some(turns)) => {
            if let Some(prompt) = prompt {
                let message = "the stimulus has turns, so its prompt is not used";
                let problem = Problem::warning("prompt-and-turns", message);
                loading.problems.push(problem.at(prompt.span).note(turns.span, "the turns"));
            }
            Some(turns.value.iter().map(|turn| turn.0.clone()).collect())
        }
        (Some(prompt), None) => Some(vec![prompt.value.clone()]),
        (None, None) => {
            let message = format!("the stimulus {} needs a prompt or turns", stimulus.name.value);
            let span = stimulus.name.span.known().unwrap_or(node.span);
            loading.error("missing-key", span, message);
            None
        }
    }
}

/// Reports graders of turns that do not exist.
fn check_turns(asked: &[&RequestedGrader], turns: usize, loading: &mut Loading<'_>) {
    for turn in asked.iter().filter_map(|asked| asked.turn.as_ref()) {
        if turn.value as usize >= turns {
            let message = match turns {
                1 => "the stimulus has only turn 0: turns are counted from 0".to_owned(),
                _ => format!("the stimulus has only the turns 0 to {}", turns - 1),
            };
            loading.warn("no-such-turn", turn.span, message);
        }
    }
}

/// Reads `config.runs` of a stimulus; other keys do not affect grading.
fn own_runs(config: Option<&Node>, loading: &mut Loading<'_>) -> Option<u32> {
    let runs = config?.get("runs").filter(|runs| !runs.is_null())?;
    read::<u32>(runs, &mut loading.problems)
}

/// Reads tags: a map of texts or lists of texts, or a plain list.
pub(super) fn tags_of(node: &Node, loading: &mut Loading<'_>) -> SortedMap<String, Vec<String>> {
    let mut tags = SortedMap::new();
    if let Some(items) = node.as_list() {
        for item in items {
            match word(item) {
                Some(tag) => drop(tags.insert(tag, Vec::new())),
                None => loading.error("wrong-type", item.span, wrong_tag(item)),
            }
        }
        return tags;
    }
    let Some(entries) = node.as_map() else {
        if let Some(tag) = word(node) {
            tags.insert(tag, Vec::new());
        } else if !node.is_null() {
            let message = format!("expected tags, found {}", node.word());
            loading.error("wrong-type", node.span, message);
        }
        return tags;
    };
    for entry in entries {
        let values = match entry.value.as_list() {
            Some(items) => items.iter().collect(),
            None if entry.value.is_null() => Vec::new(),
            None => vec![&entry.value],
        };
        let mut words = Vec::new();
        for value in values {
            match word(value) {
                Some(word) => words.push(word),
                None => loading.error("wrong-type", value.span, wrong_tag(value)),
            }
        }
        tags.insert(entry.key.to_string(), words);
    }
    tags
}

fn wrong_tag(node: &Node) -> String {
    format!("a tag is a text, found {}", node.word())
}

/// Returns a scalar as text.
fn word(node: &Node) -> Option<String> {
    match node.to_json() {
        serde_json::Value::String(text) => Some(text),
        value @ (serde_json::Value::Number(_) | serde_json::Value::Bool(_)) => {
            Some(value.to_string())
        }
        _ => None,
    }
}
