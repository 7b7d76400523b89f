//! Microsoft Vally's eval specs: `stimuli`, each with graders and constraints.

mod constraints;
mod graders;
mod running;
mod schema;
mod scoring;
mod stimulus;
mod substitution;
#[cfg(test)]
mod tests;

use graders::GraderNames;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use stimulus::{Gathered, StimulusDefaults};
use toolmark_base::SortedMap;
use toolmark_config::{Node, NodeSpan, Problem, Spanned, did_you_mean, quoted, read};
use toolmark_grade::Loading;
use toolmark_grade::schema::Section;
use toolmark_grade::{Dialect, DialectInfo};
use toolmark_grade::{Gate, Plan, UsualJudge};
use toolmark_match::units::Duration;
use toolmark_outcome::judging::Effort;

/// Microsoft Vally.
pub struct VallyDialect;

const TITLE: &str = "Vally eval spec";

static INFO: DialectInfo = DialectInfo {
    id: "vally",
    title: TITLE,
    looks_for: "a list of stimuli, each with a name, a prompt and graders",
    keys: &["stimuli"],
};

/// Supported top-level keys of a file.
const KEYS: &[&str] = &[
    "name",
    "description",
    "version",
    "type",
    "tags",
    "environment",
    "agent_environment",
    "defaults",
    "config",
    "stimuli",
    "scoring",
    "graders",
    "metadata",
];

/// Maximum total number of shared graders and tags over all stimuli of a file.
const MAX_SHARED: usize = 2_000_000;

/// Default settings of stimuli. Only `runs` matters for
/// grading.
#[derive(Debug, Deserialize, JsonSchema)]
struct Defaults {
    /// Number of runs of each stimulus.
    #[serde(default)]
    runs: Option<u32>,
    /// Maximum duration of a run, with a unit.
    #[serde(default)]
    timeout: Option<Node>,
    /// Model of the agent.
    #[serde(default, rename = "model")]
    _model: Option<Node>,
    /// Reasoning effort of the agent's model.
    #[serde(default, rename = "reasoning_effort")]
    _reasoning_effort: Option<Node>,
    /// Model of judges.
    #[serde(default)]
    judge_model: Option<Spanned<String>>,
    /// Reasoning effort of the judges' model.
    #[serde(default)]
    judge_reasoning_effort: Option<Effort>,
    /// Provider of the judges' model.
    #[serde(default)]
    judge_provider: Option<Node>,
    /// Executor that runs the agent.
    #[serde(default, rename = "executor")]
    _executor: Option<Node>,
}

const DEFAULTS_KEYS: &[&str] = &[
    "runs",
    "timeout",
    "model",
    "reasoning_effort",
    "judge_model",
    "judge_reasoning_effort",
    "judge_provider",
    "executor",
];

impl Dialect for VallyDialect {
    fn info(&self) -> &'static DialectInfo {
        &INFO
    }

    fn detect(&self, root: &Node) -> u8 {
        match root.get("stimuli") {
            Some(stimuli) if stimuli.as_list().is_some() => 95,
            Some(_) => 60,
            None => 0,
        }
    }

    fn load(&self, root: &Node, loading: &mut Loading<'_>) -> Option<Plan> {
        if root.as_map().is_none() {
            let message = format!("expected a map with stimuli, found {}", root.word());
            loading.error("wrong-type", root.span, message);
            return None;
        }
        let root = substitution::substituted(root, loading);
        check_keys(&root, KEYS, "a Vally spec", loading);
        check_type(&root, loading);
        let (trials, judge) = defaults(&root, loading);
        let (threshold, weights) = scoring::scoring(root.get("scoring"), loading);
        let mut gathered = Gathered { weights: weights.unwrap_or_default(), ..Gathered::default() };
        let tags = root.get("tags").map(|tags| stimulus::tags_of(tags, loading));
        let asked = root.get("graders").map(|list| graders::entries(list, loading));
        let asked = asked.unwrap_or_default();
        gathered.names = GraderNames::of_shared(&asked, loading);
        let graders = asked.iter().map(|asked| graders::build(asked, loading)).collect();
        let tags = tags.unwrap_or_default();
        let root_environment = running::environments(&root);
        let shared = StimulusDefaults { threshold, trials, root_environment, tags, asked, graders };
        let stimuli = stimuli(&root, loading);
        let each = shared.asked.len() + shared.tags.values().map(|v| v.len() + 1).sum::<usize>();
        if each.saturating_mul(stimuli.len()) > MAX_SHARED {
            let message = "too many graders and tags for too many stimuli";
            loading.error("too-large", root.span, message);
            return None;
        }
        let mut cases = Vec::new();
        for node in stimuli {
            cases.extend(stimulus::case(node, &shared, &mut gathered, loading));
        }
        check_names(&root, loading);
        gathered.weights.check_used(loading);
        Some(Plan {
            run: running::plan(&root, loading),
            spec: Arc::clone(&loading.file),
            dialect: INFO.id,
            name: root.get("name").and_then(Node::as_str).map(str::to_owned),
            cases,
            stored: None,
            every: None,
            gate: Gate { threshold },
            aggregates: Vec::new(),
            judge,
        })
    }

    fn schema(&self, _: &[Section]) -> Value {
        schema::file()
    }
}

/// Returns the stimuli of a file, which must have at least one.
fn stimuli<'n>(root: &'n Node, loading: &mut Loading<'_>) -> &'n [Node] {
    let Some(stimuli) = root.get("stimuli") else {
        let message = "a Vally spec needs stimuli";
        loading.error("missing-key", root.span, message);
        return &[];
    };
    match stimuli.as_list() {
        Some([]) => loading.error("empty-list", stimuli.span, "the list of stimuli is empty"),
        None => {
            let message = format!("expected a list of stimuli, found {}", stimuli.word());
            loading.error("wrong-type", stimuli.span, message);
        }
        Some(_) => {}
    }
    stimuli.as_list().unwrap_or_default()
}

/// Reports unknown keys as warnings, because files may have custom keys.
fn check_keys(node: &Node, known: &[&str], what: &str, loading: &mut Loading<'_>) {
    for entry in node.entries().filter(|entry| !known.contains(&entry.key.as_str())) {
        let message = format!("unknown key {} in {what}", quoted(&entry.key));
        let problem = Problem::warning("unknown-key", message).at(entry.key_span);
        loading.problems.push(match did_you_mean(&entry.key, known.iter().copied()) {
            Some(near) => problem.help(format!("did you mean {}?", quoted(near))),
            None => problem,
        });
    }
}

/// Checks `type`, the purpose of a file, and `name`.
fn check_type(root: &Node, loading: &mut Loading<'_>) {
    if let Some(kind) = root.get("type").filter(|kind| !kind.is_null())
        && !matches!(kind.as_str(), Some("capability" | "regression"))
    {
        loading.warn("unknown-type", kind.span, "the type is capability or regression");
    }
    for key in ["name", "description"] {
        if let Some(value) = root.get(key).filter(|value| !value.is_null())
            && value.as_str().is_none()
        {
            let message = format!("expected text, found {}", value.word());
            loading.error("wrong-type", value.span, message);
        }
    }
}

/// Reads the number of runs and the judge of stimuli from `defaults` or its
/// old name.
fn defaults(root: &Node, loading: &mut Loading<'_>) -> (Option<u32>, UsualJudge) {
    let none = (None, UsualJudge::default());
    let node = match (root.entry("defaults"), root.entry("config")) {
        (Some(defaults), Some(config)) => {
            let message = "only one of config and defaults is allowed: config is the old name";
            let problem = Problem::error("config-and-defaults", message).at(config.key_span);
            loading.problems.push(problem.note(defaults.key_span, "defaults"));
            &defaults.value
        }
        (Some(defaults), None) => &defaults.value,
        (None, Some(config)) => {
            let message = "config is the old name of defaults";
            let problem = Problem::warning("deprecated-key", message).at(config.key_span);
            loading.problems.push(problem.help("rename it to defaults"));
            &config.value
        }
        (None, None) => return none,
    };
    if node.is_null() {
        return none;
    }
    check_keys(node, DEFAULTS_KEYS, "defaults", loading);
    let unknown: Vec<&str> =
        node.entries().map(|e| e.key.as_str()).filter(|key| !DEFAULTS_KEYS.contains(key)).collect();
    let read = read::<Defaults>(&node.without(&unknown), &mut loading.problems);
    let Some(defaults) = read else { return none };
    if let Some(timeout) = &defaults.timeout
        && !timeout.is_null()
        && timeout.as_str().and_then(Duration::parse).is_none()
    {
        let message = "a timeout is a number and a unit (ms, s, m, h), such as \"2m\"";
        loading.warn("invalid-timeout", timeout.span, message);
    }
    if let Some(provider) = &defaults.judge_provider
        && !provider.is_null()
    {
        let problem = Problem::warning("not-used", "where the judge is says the judge part");
        let help = "write it under judge: in a toolmark.yaml, and name that with --judge-config";
        loading.problems.push(problem.at(provider.span).help(help));
    }
    let judge = UsualJudge {
        model: defaults.judge_model.map(|model| model.value),
        effort: defaults.judge_reasoning_effort,
    };
    (defaults.runs.filter(|runs| *runs > 0), judge)
}

/// Checks that names of stimuli are unique, so that runs can be distinguished.
fn check_names(root: &Node, loading: &mut Loading<'_>) {
    let mut seen: SortedMap<&str, NodeSpan> = SortedMap::new();
    let stimuli = root.get("stimuli").map(Node::items).into_iter().flatten();
    for name in stimuli.filter_map(|stimulus| stimulus.get("name")) {
        let Some(text) = name.as_str() else { continue };
        if let Some(first) = seen.get(text) {
            let message = format!("two stimuli have the name {}", quoted(text));
            let problem = Problem::error("duplicate-stimulus-name", message).at(name.span);
            loading.problems.push(problem.note(*first, "the first one"));
        } else {
            seen.insert(text, name.span);
        }
    }
}
