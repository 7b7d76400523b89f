//! Reads one case of a file.

use super::keys;
use super::suite::{Suite, listed, share};
use crate::agentv::graders::{EvaluatorEntry as GraderEntry, entries, judged, opposite};
use serde_json::Value;
use std::sync::Arc;
use toolmark_base::{SortedMap, SortedSet};
use toolmark_config::{Node, NodeKind, NodeSpan, Problem};
use toolmark_grade::run_plan::RunSettings;
use toolmark_grade::{Case, Match, Planned};
use toolmark_grade::{ListedGrader, Loading};
use toolmark_outcome::{CaseContext, CaseScoring, GateRule, Profile};

/// Reads a case. `n` is its index in the list, `vars` are additional variables.
pub(super) fn case(
    node: &Node,
    n: usize,
    suite: &Suite<'_>,
    vars: Option<&Node>,
    loading: &mut Loading<'_>,
) -> Option<Case> {
    if node.as_map().is_none() {
        let message = format!("expected a test, found {}", node.word());
        loading.error("invalid-case", node.span, message);
        return None;
    }
    keys::check(node, keys::CASE, loading);
    let execution = ["execution", "experiment", "run"].map(|key| node.get(key));
    for block in execution.into_iter().flatten() {
        keys::check(block, keys::EXECUTION, loading);
    }
    let id = id(node, n, suite, loading)?;
    let fact = |keys: &[&str]| {
        let own = keys.iter().find_map(|key| node.get(key));
        let vars = [node.get("vars"), vars, suite.vars];
        let told = || {
            let vars = vars.into_iter().flatten();
            vars.flat_map(|vars| keys.iter().filter_map(move |key| vars.get(key))).next()
        };
        own.or_else(told).filter(|value| !value.is_null())
    };
    let criteria = fact(&["criteria", "expected_outcome", "outcome"]);
    let criteria_text = criteria.and_then(Node::as_str).map(str::to_owned);
    let input = fact(&["input", "input_messages"]);
    let turns: Vec<&Node> = node.get("turns").into_iter().flat_map(Node::items).collect();
    let asked = input.into_iter().chain(turns.iter().filter_map(|turn| turn.get("input")));
    let prompts: Vec<String> = asked.flat_map(prompts).collect();
    let skips = execution
        .into_iter()
        .flatten()
        .any(|block| block.get("skip_defaults").and_then(Node::as_bool) == Some(true));

    let mut planned = Planning::new(suite, loading);
    let own = listed(node, planned.loading);
    let in_block = execution.into_iter().flatten().find_map(|b| listed(b, planned.loading));
    if let (Some(own), Some(other)) = (own, in_block) {
        let message = "the test lists evaluators twice: use one list";
        planned.loading.error("two-lists", other.span.to(own.span), message);
    }
    let own = own.or(in_block);
    if let Some(list) = own {
        planned.list(list, None);
    }
    let rubrics = node.get("rubrics").filter(|rubrics| !rubrics.is_null());
    if let Some(rubrics) = rubrics {
        planned.rubrics(rubrics);
    }
    for (turn, node) in turns.iter().enumerate() {
        keys::check(node, keys::TURN, planned.loading);
        if let Some(list) = listed(node, planned.loading) {
            planned.list(list, u32::try_from(turn).ok());
        }
    }
    if !(skips || suite.replaces && own.is_some()) {
        for list in &suite.evaluators {
            planned.list(list, None);
        }
    }
    if planned.graders.is_empty() && !planned.failed {
        match criteria {
            // AgentV asks a model whether the criteria are met.
            Some(criteria) => planned.judge(criteria),
            None => {
                let message = "the test has neither evaluators nor criteria";
                planned.loading.warn("no-evaluators", node.span, message);
            }
        }
    }
    let graders = planned.graders;
    let said = execution.into_iter().flatten().find_map(|block| block.get("threshold"));
    let said = node.get("threshold").or(said);
    let own = said.and_then(|node| share(node, loading));
    let threshold = loading.options.threshold.or(own).unwrap_or(suite.threshold);
    let rubric = rubrics.into_iter().flat_map(Node::items).filter_map(|item| {
        let text = item.as_str().or_else(|| item.get("outcome")?.as_str());
        text.map(str::to_owned)
    });
    let context = CaseContext {
        case: id.clone(),
        input: input.map(Node::to_json),
        criteria: criteria_text,
        expected_output: fact(&["expected_output", "expected_messages", "reference_answer"])
            .map(Node::to_json),
        rubric: rubric.collect(),
        row: None,
        spec: Some(Arc::new(node.to_json())),
        workspace: None,
        directory: loading.directory.to_owned(),
        prompts: prompts.clone(),
    };
    Some(Case {
        tags: tags(node),
        matches: Match {
            ids: vec![id.clone()],
            prompts: prompts.into_iter().take(1).collect(),
            traces: Vec::new(),
        },
        context: Arc::new(context),
        graders,
        scoring: CaseScoring {
            rule: rule(node, threshold, loading),
            profile: loading.options.profile.unwrap_or(Profile::Toolmark),
        },
        trials: suite.trials,
        run: super::running::settings(node, loading),
        target: None,
        place: loading.place(node.span),
        id,
    })
}

/// Returns the case that applies to every trajectory, of a file without tests.
pub(super) fn every(span: NodeSpan, suite: &Suite<'_>, loading: &mut Loading<'_>) -> Case {
    let mut planned = Planning::new(suite, loading);
    for list in &suite.evaluators {
        planned.list(list, None);
    }
    let graders = planned.graders;
    let context = CaseContext { directory: loading.directory.to_owned(), ..CaseContext::default() };
    Case {
        id: String::new(),
        tags: SortedMap::new(),
        matches: Match::default(),
        context: Arc::new(context),
        graders,
        scoring: CaseScoring {
            rule: GateRule::Threshold(suite.threshold),
            profile: loading.options.profile.unwrap_or(Profile::Toolmark),
        },
        trials: None,
        run: RunSettings::default(),
        target: None,
        place: loading.place(span),
    }
}

/// Returns how the turns of a case are combined: all graders are weighed together, or one of the
/// turns decides.
fn rule(node: &Node, threshold: f64, loading: &mut Loading<'_>) -> GateRule {
    let Some(how) = node.get("aggregation").filter(|how| !how.is_null()) else {
        return GateRule::Threshold(threshold);
    };
    match how.as_str() {
        Some("mean") => GateRule::Threshold(threshold),
        Some("min") => GateRule::LowestTurn(threshold),
        Some("max") => GateRule::HighestTurn(threshold),
        _ => {
            loading.error("unknown-aggregation", how.span, "aggregation is mean, min or max");
            GateRule::Threshold(threshold)
        }
    }
}

fn id(node: &Node, n: usize, suite: &Suite<'_>, loading: &mut Loading<'_>) -> Option<String> {
    match node.get("id").map(|id| (id, &id.kind)) {
        Some((_, NodeKind::Text(id))) if !id.trim().is_empty() => return Some(id.to_string()),
        Some((_, NodeKind::Int(id))) => return Some(id.to_string()),
        Some((id, kind)) if !matches!(kind, NodeKind::Null) => {
            loading.error("invalid-id", id.span, "the id of a test must be text");
            return None;
        }
        _ => {}
    }
    // Only the newest files may leave it out.
    if suite.era == Profile::AgentV5 {
        let named = ["description", "name"].iter().find_map(|key| node.get(key)?.as_str());
        return Some(named.map_or_else(|| format!("test-{}", n + 1), str::to_owned));
    }
    loading.error("missing-id", node.span, "a test needs an \"id\": traces are found by it");
    None
}

/// Returns the user's prompts: a text, or the texts of messages.
fn prompts(input: &Node) -> Vec<String> {
    if let Some(text) = input.as_str() {
        return vec![text.to_owned()];
    }
    let messages = input.as_list().unwrap_or(std::slice::from_ref(input));
    let is_users = |message: &&Node| {
        message.get("role").and_then(Node::as_str).is_none_or(|role| role == "user")
    };
    messages.iter().filter(is_users).filter_map(|m| words(m.get("content")?)).collect()
}

/// Returns the text of a message: a text, or a list with texts in it.
fn words(content: &Node) -> Option<String> {
    if let Some(text) = content.as_str() {
        return Some(text.to_owned());
    }
    let part = |item: &Node| {
        let is_text = item.get("type").and_then(Node::as_str).is_none_or(|kind| kind == "text");
        let text = item.get("value").or_else(|| item.get("text"))?.as_str()?;
        is_text.then(|| text.to_owned())
    };
    let parts: Vec<String> = content.items().filter_map(part).collect();
    (!parts.is_empty()).then(|| parts.join("\n"))
}

/// Returns the tags and categories of a test.
fn tags(node: &Node) -> SortedMap<String, Vec<String>> {
    let mut tags = SortedMap::new();
    for tag in node.get("tags").into_iter().flat_map(Node::items).filter_map(Node::as_str) {
        tags.insert(tag.to_owned(), Vec::new());
    }
    for key in ["suite", "category", "dataset"] {
        if let Some(value) = node.get(key).and_then(Node::as_str) {
            tags.insert(key.to_owned(), vec![value.to_owned()]);
        }
    }
    for entry in node.get("metadata").into_iter().flat_map(Node::entries) {
        let texts: Vec<String> = match entry.value.to_json() {
            Value::String(text) => vec![text],
            Value::Array(items) => {
                items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
            }
            Value::Number(number) => vec![number.to_string()],
            Value::Bool(flag) => vec![flag.to_string()],
            _ => continue,
        };
        tags.insert(entry.key.to_string(), texts);
    }
    tags
}

/// Builds the graders of a case.
struct Planning<'p, 'a> {
    loading: &'p mut Loading<'a>,
    contrast: Option<Profile>,
    graders: Vec<Planned>,
    names: SortedSet<String>,
    /// Whether a grader could not be built. The case is then not treated as one without graders.
    failed: bool,
}

impl<'p, 'a> Planning<'p, 'a> {
    fn new(suite: &Suite<'_>, loading: &'p mut Loading<'a>) -> Self {
        Self {
            loading,
            contrast: Some(suite.era),
            graders: Vec::new(),
            names: SortedSet::new(),
            failed: false,
        }
    }

    /// Adds the evaluators of a list.
    fn list(&mut self, list: &Node, turn: Option<u32>) {
        let list = super::files::with_includes(list, self.loading);
        let before = self.loading.problems.len();
        let entries = entries(&list, &mut self.loading.problems);
        self.failed |= self.loading.problems[before..].iter().any(Problem::is_error);
        for entry in entries {
            self.add(entry, turn);
        }
    }

    /// Adds criteria that a case has in addition to its evaluators.
    fn rubrics(&mut self, rubrics: &Node) {
        if rubrics.as_list().is_none_or(<[Node]>::is_empty) {
            let message = "expected a list of one or more criteria";
            self.loading.error("invalid-rubrics", rubrics.span, message);
            self.failed = true;
            return;
        }
        let mut entry = judged(rubrics.items().cloned().collect(), rubrics.span);
        entry.type_word.value = "rubrics".into();
        entry.weight = 1.0;
        self.add(entry, None);
    }

    /// Adds a judge for the criteria of a case that has no evaluators.
    fn judge(&mut self, criteria: &Node) {
        let mut entry = judged(vec![criteria.clone()], criteria.span);
        entry.type_word.value = "llm-grader".into();
        self.add(entry, None);
    }

    fn add(&mut self, entry: GraderEntry, turn: Option<u32>) {
        let contrast = self.contrast.filter(|_| self.loading.options.profile.is_none());
        let negate = entry.negate;
        let planned = self.loading.grader_of_any_type(ListedGrader {
            name: entry.name,
            contrast,
            weight: entry.weight,
            required: entry.required,
            min_score: entry.min_score,
            turn,
            ..ListedGrader::new(entry.type_word, &entry.config, entry.span)
        });
        let Some(mut planned) = planned else {
            self.failed = true;
            return;
        };
        if negate {
            planned.grader = opposite(planned.grader, planned.profile, contrast);
        }
        planned.name = self.unique(planned.name);
        self.graders.push(planned);
    }

    /// Returns a name that is unique within the case.
    fn unique(&mut self, name: String) -> String {
        let mut unique = name.clone();
        let mut n = 2;
        while !self.names.insert(unique.clone()) {
            unique = format!("{name} {n}");
            n += 1;
        }
        unique
    }
}
