//! Reads one case of the native spec.

use super::entry::{self, CheckedMap, GraderEntry, read_graders};
use super::running;
use serde_json::Value;
use std::sync::Arc;
use toolmark_base::SortedMap;
use toolmark_config::{Node, NodeSpan};
use toolmark_grade::run_plan::RunSettings;
use toolmark_grade::{Case, Match, Planned};
use toolmark_grade::{LoadOptions, Loading};
use toolmark_outcome::{CaseContext, CaseScoring, GateRule, Profile, SpecPlace};

const KEYS: &[&str] = &[
    "id",
    "prompt",
    "turns",
    "traces",
    "workspace",
    "tags",
    "graders",
    "expect",
    "skip_shared",
    "threshold",
    "trials",
    "run",
    "criteria",
    "expected_output",
    "rubric",
    "row",
    "description",
];

/// Settings of the spec that apply to all cases.
#[derive(Clone)]
pub(super) struct Defaults {
    pub(super) profile: Profile,
    pub(super) threshold: Option<f64>,
    /// Whether the spec lists graders for all cases, valid or not.
    pub(super) has_graders: bool,
    /// The valid ones among these graders, built once for all cases.
    pub(super) built: Vec<Planned>,
}

impl Defaults {
    /// Builds the graders that apply to every case.
    pub(super) fn new(
        profile: Profile,
        threshold: Option<f64>,
        graders: &[GraderEntry<'_>],
        loading: &mut Loading<'_>,
    ) -> Self {
        let built = build(graders, profile, loading);
        Self { profile, threshold, has_graders: !graders.is_empty(), built }
    }
}

pub(super) fn scoring(
    threshold: Option<f64>,
    defaults: &Defaults,
    options: &LoadOptions,
) -> CaseScoring {
    let threshold = options.threshold.or(threshold).or(defaults.threshold);
    CaseScoring {
        rule: threshold.map_or(GateRule::All, GateRule::Threshold),
        profile: options.profile.unwrap_or(defaults.profile),
    }
}

fn build(asked: &[GraderEntry<'_>], profile: Profile, loading: &mut Loading<'_>) -> Vec<Planned> {
    asked.iter().filter_map(|asked| loading.grader(asked.entry(profile))).collect()
}

/// Returns the case used for every trajectory if the spec lists no cases.
pub(super) fn every(span: NodeSpan, defaults: &Defaults, loading: &mut Loading<'_>) -> Case {
    let graders = named_apart(defaults.built.clone());
    let context = CaseContext { directory: loading.directory.to_owned(), ..CaseContext::default() };
    Case {
        id: String::new(),
        tags: SortedMap::new(),
        matches: Match::default(),
        context: Arc::new(context),
        graders,
        scoring: scoring(None, defaults, loading.options),
        trials: None,
        run: RunSettings::default(),
        target: None,
        place: loading.place(span),
    }
}

/// Builds a case from a row of the dataset.
pub(super) fn of_row(
    id: &str,
    row: &Value,
    defaults: &Defaults,
    loading: &mut Loading<'_>,
) -> Option<Case> {
    let mut case = every(NodeSpan::default(), defaults, loading);
    id.clone_into(&mut case.id);
    case.place = SpecPlace { line: 1, column: 1, ..case.place };
    let mut context = CaseContext { case: id.to_owned(), ..(*case.context).clone() };
    fill_from_row(&mut context, row);
    case.matches.prompts.clone_from(&context.prompts);
    case.context = Arc::new(context);
    Some(case)
}

/// Copies the values that a row has under commonly used names.
fn fill_from_row(context: &mut CaseContext, row: &Value) {
    let first = |keys: &[&str]| keys.iter().find_map(|key| row.get(key)).cloned();
    if context.expected_output.is_none() {
        context.expected_output = first(&["expected_output", "expected"]);
    }
    if context.prompts.is_empty() {
        let prompt = first(&["prompt", "input", "question"]);
        context.prompts.extend(prompt.and_then(|p| p.as_str().map(str::to_owned)));
    }
    context.row = Some(Arc::new(row.clone()));
}

/// Reads a case.
pub(super) fn read_case(
    node: &Node,
    defaults: &Defaults,
    rows: &SortedMap<&str, &Value>,
    loading: &mut Loading<'_>,
) -> Option<Case> {
    let map = CheckedMap::map(node, KEYS, "a case", loading)?;
    let Some(id) = id(&map, loading) else {
        loading.error("missing-key", node.span, "a case needs an id");
        return None;
    };
    let own = read_graders(&map, Some(&id), loading);
    let skips = map.get("skip_shared").and_then(Node::as_bool) == Some(true);
    let mut graders = build(&own, defaults.profile, loading);
    if !skips {
        graders.extend(defaults.built.iter().cloned());
    }
    if own.is_empty() && (skips || !defaults.has_graders) {
        let message = format!("case {id} has no graders: it will be unknown");
        loading.warn("no-graders", node.span, message);
    }
    let mut context = CaseContext {
        case: id.clone(),
        prompts: prompts(&map, loading),
        criteria: entry::text(&map, "criteria", loading),
        expected_output: map.get("expected_output").map(Node::to_json),
        rubric: texts(&map, "rubric", loading),
        row: map.get("row").map(|row| Arc::new(row.to_json())),
        directory: loading.directory.to_owned(),
        workspace: entry::text(&map, "workspace", loading).map(|path| loading.path(&path)),
        ..CaseContext::default()
    };
    if let (None, Some(row)) = (&context.row, rows.get(id.as_str())) {
        fill_from_row(&mut context, row);
    }
    let traces = texts(&map, "traces", loading);
    Some(Case {
        tags: tags(&map, loading),
        matches: Match {
            ids: Vec::new(),
            prompts: context.prompts.first().cloned().into_iter().collect(),
            traces: traces.iter().map(|path| loading.path(path)).collect(),
        },
        id,
        context: Arc::new(context),
        graders: named_apart(graders),
        scoring: scoring(entry::share(&map, "threshold", loading), defaults, loading.options),
        trials: map.get("trials").and_then(Node::as_i64).and_then(|n| u32::try_from(n).ok()),
        run: map.get("run").map(|node| running::settings(node, loading)).unwrap_or_default(),
        target: None,
        place: loading.place(node.span),
    })
}

/// Reads the case ID, which is a text; a number in YAML is converted to text.
fn id(map: &CheckedMap<'_>, loading: &mut Loading<'_>) -> Option<String> {
    let node = map.get("id")?;
    match (node.as_str(), node.as_i64()) {
        (Some(id), _) => Some(id.to_owned()),
        (None, Some(id)) => Some(id.to_string()),
        _ => {
            let message = format!("id is a text, found {}", node.word());
            loading.error("wrong-type", node.span, message);
            Some(String::new())
        }
    }
}

fn prompts(map: &CheckedMap<'_>, loading: &mut Loading<'_>) -> Vec<String> {
    match entry::text(map, "prompt", loading) {
        Some(prompt) => vec![prompt],
        None => texts(map, "turns", loading),
    }
}

/// Reads a text or a list of texts.
fn texts(map: &CheckedMap<'_>, key: &str, loading: &mut Loading<'_>) -> Vec<String> {
    let Some(node) = map.get(key) else { return Vec::new() };
    if let Some(text) = node.as_str() {
        return vec![text.to_owned()];
    }
    let mut texts = Vec::new();
    for item in node.as_list().unwrap_or(std::slice::from_ref(node)) {
        match item.as_str() {
            Some(text) => texts.push(text.to_owned()),
            None => {
                let message = format!("{key} holds texts, found {}", item.word());
                loading.error("wrong-type", item.span, message);
            }
        }
    }
    texts
}

/// Reads tags: a list of words, or keys with values.
fn tags(map: &CheckedMap<'_>, loading: &mut Loading<'_>) -> SortedMap<String, Vec<String>> {
    let Some(node) = map.get("tags") else { return SortedMap::new() };
    if node.as_map().is_some() {
        let pairs = CheckedMap { node };
        let keys = node.entries().map(|entry| entry.key.to_string());
        return keys.map(|key| (key.clone(), texts(&pairs, &key, loading))).collect();
    }
    texts(map, "tags", loading).into_iter().map(|tag| (tag, Vec::new())).collect()
}

/// Numbers graders that have the same name, so that a report can distinguish them.
pub(super) fn named_apart(mut graders: Vec<Planned>) -> Vec<Planned> {
    if graders.len() < 2 {
        return graders;
    }
    let mut seen: SortedMap<String, usize> = SortedMap::new();
    for grader in &mut graders {
        let count = seen.entry(grader.name.clone()).or_default();
        *count += 1;
        if *count > 1 {
            grader.name = format!("{}-{count}", grader.name);
        }
    }
    graders
}
