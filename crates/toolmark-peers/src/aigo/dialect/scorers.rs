//! Converts the scorers of a task to graders: one for all rows, or
//! one per row if values are taken from the row.

use super::metrics::{self, Metric};
use super::placeholders::unfilled_in;
use super::task::Task;
use crate::GRADERS;
use serde_json::Value;
use toolmark_base::SortedSet;
use toolmark_config::{Node, NodeKind, NodeSpan, Problem, Spanned, did_you_mean, quoted};
use toolmark_dataset::DatasetRow;
use toolmark_dataset::template::{Template, TemplateError, is_template};
use toolmark_grade::{GraderInfo, Planned};
use toolmark_grade::{ListedGrader, Loading};
use toolmark_outcome::{Profile, SpecPlace};

/// Scorers that only a judge or the platform can run.
pub(super) const ELSEWHERE: &[&str] = &[
    "model_as_a_judge_classifier",
    "model_as_a_judge_scorer",
    "labeler_via_model",
    "rag_checker",
    "python",
    "python_all_samples",
    "bleu",
];

/// Placeholder grader for these scorers.
const STANDS_FOR: &str = "aigo_scorer";

/// Common keys of scorers.
pub(super) const COMMON: &[&str] = &["type", "key", "purpose", "display_name", "metrics"];

/// Keys whose templates produce a list; others produce text.
const LISTS: &[&str] = &["function_calls", "function_names", "disallowed_functions", "choices"];

/// Other names of the final answer, which is compared in any case.
const ANSWER: &[&str] = &[
    "solver_output.output",
    "trace.get_last_assistant_text()",
    "model_output.choices[0].message.content",
];

/// Maximum number of rows with the same mistake that are reported.
const MAX_ROWS: usize = 10;

/// A scorer of a task.
pub(super) struct Scorer {
    type_word: Spanned<String>,
    /// Name of the scorer.
    pub(super) name: String,
    /// Whether the scorer only monitors quality.
    pub(super) is_qa: bool,
    config: Node,
    /// Values filled in from rows.
    filled: Vec<Filled>,
    span: NodeSpan,
    /// Metrics over all samples.
    pub(super) metrics: Vec<Metric>,
}

/// A configuration key whose value comes from a template.
struct Filled {
    key: String,
    template: Template,
    span: NodeSpan,
    is_list: bool,
}

impl Scorer {
    /// Whether the scorer takes values from the row.
    pub(super) fn needs_row(&self) -> bool {
        !self.filled.is_empty()
    }
}

/// Iterates over the graders that correspond to a scorer of AI GO!.
pub(super) fn own() -> impl Iterator<Item = &'static GraderInfo> {
    GRADERS.iter().copied().filter(|info| info.origin == "aigo" && info.id != STANDS_FOR)
}

/// Reads the scorers of a task. Problems are reported.
pub(super) fn read(task: &Task<'_>, loading: &mut Loading<'_>) -> Vec<Scorer> {
    let mut names = SortedSet::new();
    let mut scorers = Vec::new();
    for node in task.scorers {
        if let Some(mut scorer) = read_one(node, loading) {
            let plain = scorer.name.clone();
            let mut n = 2;
            while !names.insert(scorer.name.clone()) {
                scorer.name = format!("{plain} {n}");
                n += 1;
            }
            scorer.metrics = metrics::read(node.get("metrics"), &scorer.name, loading);
            scorers.push(scorer);
        }
    }
    scorers
}

fn read_one(node: &Node, loading: &mut Loading<'_>) -> Option<Scorer> {
    if node.as_map().is_none() {
        let message = format!("expected a scorer, found {}", node.word());
        loading.error("wrong-type", node.span, message);
        return None;
    }
    let Some(kind) = node.get("type") else {
        // A reference that leads nowhere was reported.
        if node.get("$ref").is_none() {
            loading.error("missing-key", node.span, "a scorer needs a `type`");
        }
        return None;
    };
    let Some(word) = kind.as_str() else {
        let message = format!("expected the type of a scorer, found {}", kind.word());
        loading.error("wrong-type", kind.span, message);
        return None;
    };
    let text = |key: &str| node.get(key).and_then(Node::as_str).map(str::to_owned);
    let is_qa = is_qa(node, loading);
    let name = text("key").or_else(|| text("display_name")).unwrap_or_else(|| word.to_owned());
    let is_own = own().any(|info| info.id == word || info.aliases.contains(&word));
    let mut scorer = Scorer {
        type_word: Spanned { value: word.to_owned(), span: kind.span },
        name,
        is_qa,
        config: node.without(COMMON),
        filled: Vec::new(),
        span: node.span,
        metrics: Vec::new(),
    };
    if is_own {
        read_templates(&mut scorer, loading)?;
        return Some(scorer);
    }
    if ELSEWHERE.contains(&word) {
        return Some(scorer);
    }
    let words = own().flat_map(|info| std::iter::once(info.id).chain(info.aliases.iter().copied()));
    let near = did_you_mean(word, words.chain(ELSEWHERE.iter().copied()));
    let message = format!("unknown scorer type {}", quoted(word));
    let problem = Problem::error("unknown-scorer-type", message).at(kind.span);
    loading.problems.push(match near {
        Some(near) => problem.help(format!("did you mean {}?", quoted(near))),
        None => {
            let all: Vec<&str> =
                own().map(|info| info.id).chain(ELSEWHERE.iter().copied()).collect();
            problem.help(format!("the types are {}", all.join(", ")))
        }
    });
    None
}

fn is_qa(node: &Node, loading: &mut Loading<'_>) -> bool {
    let Some(purpose) = node.get("purpose").filter(|purpose| !purpose.is_null()) else {
        return false;
    };
    match purpose.as_str() {
        Some("qa") => true,
        Some("score") => false,
        _ => {
            let problem =
                Problem::error("unknown-purpose", "unknown purpose: expected `score` or `qa`");
            loading.problems.push(problem.at(purpose.span));
            false
        }
    }
}

/// Finds the values filled in from rows; lists in text without templates are
/// filled in immediately.
fn read_templates(scorer: &mut Scorer, loading: &mut Loading<'_>) -> Option<()> {
    let NodeKind::Map(entries) = &mut scorer.config.kind else { return Some(()) };
    let mut is_good = true;
    let mut dropped = None;
    for entry in entries.iter_mut() {
        if let Some((name, span)) = unfilled_in(&entry.value) {
            let message = format!("the value `config.{name}` is not given");
            let problem = Problem::error("missing-config-value", message).at(span);
            let help =
                format!("give it a `default_value` in `config_spec`, or use --param {name}=…");
            loading.problems.push(problem.help(help));
            is_good = false;
            continue;
        }
        let Some(text) = entry.value.as_str() else { continue };
        let span = entry.value.span;
        let is_list = LISTS.contains(&entry.key.as_str());
        if !is_list && !is_template(text) {
            continue;
        }
        let template = match Template::new(text) {
            Ok(template) => template,
            Err(error) => {
                loading.problems.push(problem(&error, text, span, None, loading));
                is_good = false;
                continue;
            }
        };
        if entry.key == "value" && is_the_answer(text) {
            dropped = Some(entry.key.clone());
            continue;
        }
        if let Some(name) = template.variables().iter().find(|name| *name != "sample") {
            let message = format!("the template uses `{name}`, which only AI GO! has");
            loading.error("unknown-variable", span, message);
            is_good = false;
            continue;
        }
        if is_template(text) {
            scorer.filled.push(Filled { key: entry.key.to_string(), template, span, is_list });
            continue;
        }
        match template.value(&Value::Null).map(|value| Node::from_json(&value)) {
            Ok(Some(mut list)) => {
                list.span = span;
                entry.value = list;
            }
            Ok(None) => {
                loading.error("too-deep", span, "the list nests too deep");
                is_good = false;
            }
            Err(error) => {
                let message =
                    error.message.replace("the template does not give a list", "not a list");
                loading.error("invalid-list", span, message);
                is_good = false;
            }
        }
    }
    if let Some(key) = dropped {
        scorer.config.remove(&key);
    }
    is_good.then_some(())
}

fn is_the_answer(template: &str) -> bool {
    let inner = template.trim().strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
    inner.is_some_and(|inner| ANSWER.contains(&inner.trim()))
}

/// Creates a problem of a template at its position in the file.
fn problem(
    error: &TemplateError,
    template: &str,
    span: NodeSpan,
    row: Option<&SpecPlace>,
    loading: &Loading<'_>,
) -> Problem {
    let exact = error.range.as_ref().and_then(|range| {
        let written = loading.text.get(span.start as usize..span.end as usize)?;
        let start = span.start as usize + written.find(template)?;
        Some(NodeSpan::new(start + range.start, start + range.end))
    });
    let mut message = match exact {
        Some(_) => error.message.clone(),
        None => error.to_string(),
    };
    if let Some(row) = row {
        message = format!("{message}, for {}", place_words(row));
    }
    Problem::error("invalid-template", message).at(exact.unwrap_or(span))
}

fn place_words(row: &SpecPlace) -> String {
    format!("{}:{}", row.file.raw(), row.line)
}

/// The graders of all scorers, built for one row after the other.
pub(super) struct ScorerGraders<'a> {
    scorers: &'a [Scorer],
    /// Graders that do not depend on rows.
    fixed: Vec<Option<Planned>>,
    /// Number of rows with problems, by scorer.
    trouble: Vec<usize>,
}

impl<'a> ScorerGraders<'a> {
    pub(super) fn new(scorers: &'a [Scorer], loading: &mut Loading<'_>) -> Self {
        let fixed =
            scorers
                .iter()
                .map(|scorer| {
                    if scorer.needs_row() { None } else { planned(scorer, &scorer.config, loading) }
                })
                .collect();
        Self { scorers, fixed, trouble: vec![0; scorers.len()] }
    }

    /// Returns the graders if there are no rows.
    pub(super) fn without_row(self) -> Vec<Planned> {
        self.fixed.into_iter().flatten().collect()
    }

    /// Returns the graders of a row. Problems are reported for the first
    /// rows with the same mistake.
    pub(super) fn of_row(
        &mut self,
        row: &DatasetRow,
        place: &SpecPlace,
        loading: &mut Loading<'_>,
    ) -> Vec<Planned> {
        let mut graders = Vec::with_capacity(self.scorers.len());
        for ((scorer, fixed), trouble) in
            self.scorers.iter().zip(&self.fixed).zip(&mut self.trouble)
        {
            if !scorer.needs_row() {
                graders.extend(fixed.clone());
                continue;
            }
            let before = loading.problems.len();
            let grader = fill(scorer, row, place, loading)
                .and_then(|config| planned(scorer, &config, loading));
            graders.extend(grader);
            if loading.problems.len() > before {
                *trouble += 1;
                if *trouble > MAX_ROWS {
                    // One error is enough to refuse the plan; the first ones are kept.
                    loading.problems.truncate(before);
                }
                let named = format!(", for {}", place_words(place));
                for problem in loading.problems.iter_mut().skip(before) {
                    if !problem.message.ends_with(&named) {
                        problem.message.push_str(&named);
                    }
                }
            }
        }
        graders
    }
}

/// Returns the configuration of a scorer for a row.
fn fill(
    scorer: &Scorer,
    row: &DatasetRow,
    place: &SpecPlace,
    loading: &mut Loading<'_>,
) -> Option<Node> {
    let mut config = scorer.config.clone();
    let NodeKind::Map(entries) = &mut config.kind else { return Some(config) };
    let mut is_good = true;
    for filled in &scorer.filled {
        let value = match filled.is_list {
            true => filled.template.value(&row.value),
            false => filled.template.text(&row.value).map(Value::String),
        };
        let node = match value {
            Ok(value) => match Node::from_json(&value) {
                Some(node) => node,
                None => {
                    loading.error("too-deep", filled.span, "the value nests too deep");
                    is_good = false;
                    continue;
                }
            },
            Err(error) => {
                let source = filled.template.source();
                let problem = problem(&error, source, filled.span, Some(place), loading);
                loading.problems.push(problem);
                is_good = false;
                continue;
            }
        };
        if let Some(entry) = entries.iter_mut().find(|entry| entry.key == filled.key) {
            entry.value = Node::new(node.kind, filled.span);
        }
    }
    is_good.then_some(config)
}

fn planned(scorer: &Scorer, config: &Node, loading: &mut Loading<'_>) -> Option<Planned> {
    let stand_in;
    let (word, config) = if ELSEWHERE.contains(&scorer.type_word.value.as_str()) {
        stand_in = Node::from_json(&serde_json::json!({ "scorer": scorer.type_word.value }))?;
        (Spanned { value: STANDS_FOR.to_owned(), span: scorer.type_word.span }, &stand_in)
    } else {
        (scorer.type_word.clone(), config)
    };
    let entry = ListedGrader {
        name: Some(scorer.name.clone()),
        contrast: Some(Profile::AiGo),
        weight: if scorer.is_qa { 0.0 } else { 1.0 },
        ..ListedGrader::new(word, config, scorer.span)
    };
    let mut planned = loading.grader(entry)?;
    planned.type_word.clone_from(&scorer.type_word.value);
    Some(planned)
}
