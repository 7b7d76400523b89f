//! The parts of a task file.

use super::beside;
use super::placeholders::unfilled;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toolmark_config::{Node, NodeSpan, Problem, did_you_mean, quoted};
use toolmark_config::{SourceText, parse};
use toolmark_dataset::{self, DatasetRow};
use toolmark_grade::Loading;

/// Top-level keys of a task file.
const TASK_KEYS: &[&str] = &[
    "key",
    "display_name",
    "name",
    "description",
    "long_description",
    "tasks",
    "evaluated_entity_type",
    "config",
    "config_spec",
    "definition",
    "tags",
];

/// Keys of the definition; files without a definition have these keys at the top level.
pub(super) const DEFINITION_KEYS: &[&str] = &[
    "type",
    "evaluated_entity_type",
    "dataset",
    "solver",
    "model",
    "scorers",
    "trials",
    "actions",
    "evaluation",
];

/// A task file.
pub(super) struct Task<'a> {
    root: &'a Node,
    definition: &'a Node,
    /// The scorers as written.
    pub(super) scorers: &'a [Node],
}

/// Source of the rows.
pub(super) enum Dataset {
    /// Rows from a file.
    Rows {
        /// Name of the file.
        file: Arc<str>,
        /// Rows of the file.
        rows: Vec<DatasetRow>,
    },
    /// No dataset, and none is needed.
    None,
    /// An unusable dataset, which has been reported.
    Bad,
}

impl<'a> Task<'a> {
    /// Reads the parts of a file. Problems are reported.
    pub(super) fn read(root: &'a Node, loading: &mut Loading<'_>) -> Option<Self> {
        let definition = root.get("definition").filter(|node| node.as_map().is_some());
        match definition {
            Some(definition) => {
                unknown_keys(root, &[TASK_KEYS], loading);
                unknown_keys(definition, &[DEFINITION_KEYS], loading);
            }
            None => unknown_keys(root, &[TASK_KEYS, DEFINITION_KEYS], loading),
        }
        let definition = definition.unwrap_or(root);
        let Some(scorers) = definition.get("scorers") else {
            loading.error("missing-key", definition.span, "a task needs `scorers`");
            return None;
        };
        let Some(list) = scorers.as_list() else {
            let message = format!("expected a list of scorers, found {}", scorers.word());
            loading.error("wrong-type", scorers.span, message);
            return None;
        };
        if list.is_empty() {
            loading.error("empty-list", scorers.span, "the list of scorers is empty");
            return None;
        }
        let task = Self { root, definition, scorers: list };
        task.check_trials_and_actions(loading);
        Some(task)
    }

    fn check_trials_and_actions(&self, loading: &mut Loading<'_>) {
        if let Some(actions) = self.definition.entry("actions")
            && !actions.value.items().as_slice().is_empty()
        {
            let message = "actions are not applied: metrics cover all samples";
            loading.warn("not-applied", actions.key_span, message);
        }
        let trials = self.definition.get("trials");
        if let Some(trials) = trials {
            let number = trials.get("num_trials").unwrap_or(trials);
            let is_given = trials.as_map().is_none() || trials.get("num_trials").is_some();
            if is_given && number.as_u64().is_none_or(|number| number == 0) {
                let message = "expected a whole number of 1 or more";
                loading.error("invalid-trials", number.span, message);
            }
        }
    }

    /// Returns the name of the task.
    pub(super) fn name(&self) -> Option<String> {
        let name =
            ["display_name", "name", "key"].iter().find_map(|key| self.root.get(key)?.as_str());
        name.map(str::to_owned)
    }

    /// Returns the tags.
    pub(super) fn tags(&self) -> Vec<String> {
        let tags = self.root.get("tags").into_iter().flat_map(|tags| tags.items());
        tags.filter_map(|tag| tag.as_str().map(str::to_owned)).collect()
    }

    /// Returns the number of requested trials.
    pub(super) fn trials(&self) -> Option<u32> {
        let trials = self.definition.get("trials")?;
        let number = trials.as_u64().or_else(|| trials.get("num_trials")?.as_u64());
        number.and_then(|number| u32::try_from(number).ok())
    }

    /// Returns the aggregators of trials.
    pub(super) fn aggregators(&self) -> impl Iterator<Item = &'a Node> {
        let trials = self.definition.get("trials");
        let list = trials.and_then(|trials| trials.get("score_aggregators"));
        list.into_iter().flat_map(|list| list.as_list().unwrap_or(std::slice::from_ref(list)))
    }

    /// Returns the solver.
    pub(super) fn solver(&self) -> Option<&'a Node> {
        self.definition.get("solver")
    }

    /// Returns the ID column, if the task names one.
    pub(super) fn id_field(&self) -> Option<&'a str> {
        let dataset = self.definition.get("dataset")?;
        ["id_field", "id_column"].iter().find_map(|key| dataset.get(key)?.as_str())
    }

    /// Returns the rows. A dataset that only the platform has is an error if
    /// scorers need rows, and a warning otherwise.
    pub(super) fn dataset(&self, needs_rows: bool, loading: &mut Loading<'_>) -> Dataset {
        let written = self.definition.get("dataset");
        let span = written.map_or(self.definition.span, |node| node.span);
        if let Some(path) = loading.options.dataset.clone() {
            return read_rows(&path, NodeSpan::default(), loading);
        }
        let named = written.and_then(file_of).filter(|path| unfilled(path).is_none());
        if let Some(path) = named.map(|path| beside(loading, path)) {
            return read_rows(&path, span, loading);
        }
        let key = written.and_then(|node| node.get("key")).and_then(Node::as_str);
        let known = match key {
            Some(key) => format!("the dataset {} is known to AI GO! only", quoted(key)),
            None => "the task has no dataset".to_owned(),
        };
        if needs_rows {
            let message = format!("{known}, but scorers use values of its rows");
            let problem = match loading.options.is_lint {
                true => Problem::warning("missing-dataset", message),
                false => Problem::error("missing-dataset", message),
            };
            loading.problems.push(problem.at(span).help("name its file with --dataset"));
            return Dataset::Bad;
        }
        if key.is_some() {
            let problem =
                Problem::warning("missing-dataset", format!("{known}: every trace is a case"));
            let help = "name its file with --dataset to make each row a case";
            loading.problems.push(problem.at(span).help(help));
        }
        Dataset::None
    }
}

/// Returns the file named by a dataset entry.
fn file_of(node: &Node) -> Option<&str> {
    let named = |node: &'_ Node, key: &str| node.get(key).and_then(Node::as_str).is_some();
    if let Some(path) = node.as_str() {
        return Some(path);
    }
    let source = node.get("source").filter(|source| named(source, "file_path"));
    let holder = source.unwrap_or(node);
    ["file_path", "path", "file"].iter().find_map(|key| holder.get(key)?.as_str())
}

fn read_rows(path: &Path, span: NodeSpan, loading: &mut Loading<'_>) -> Dataset {
    let path = match described(path, span, loading) {
        Ok(path) => path,
        Err(problem) => {
            loading.problems.push(*problem);
            return Dataset::Bad;
        }
    };
    match toolmark_dataset::read(&path) {
        Ok(rows) => {
            let file: Arc<str> = path.to_string_lossy().into();
            if rows.is_empty() {
                let problem = Problem::warning("empty-dataset", format!("{file} has no rows"));
                loading.problems.push(problem.at(span));
            }
            Dataset::Rows { file, rows }
        }
        Err(error) => {
            let problems = error
                .messages()
                .into_iter()
                .map(|message| Problem::error("invalid-dataset", message).at(span));
            loading.problems.extend(problems);
            Dataset::Bad
        }
    }
}

/// Returns the file of rows described by an AI GO! dataset file; other files contain
/// the rows themselves.
fn described(path: &Path, span: NodeSpan, loading: &Loading<'_>) -> Result<PathBuf, Box<Problem>> {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    if !matches!(extension, "yaml" | "yml") {
        return Ok(path.to_path_buf());
    }
    let source = SourceText::open(path).map_err(|error| Problem::from(&error).at(span))?;
    let parsed = parse(&source);
    let file = parsed.node.as_ref().and_then(file_of);
    match file {
        Some(file) => Ok(path.parent().unwrap_or(loading.directory).join(file)),
        None => {
            let message = format!("{} names no file of rows", path.display());
            let problem = Problem::error("invalid-dataset", message).at(span);
            Err(Box::new(problem.help("a dataset file has `source` with `file_path`")))
        }
    }
}

/// Reports unknown keys as warnings, because newer versions may have more.
fn unknown_keys(node: &Node, known: &[&[&str]], loading: &mut Loading<'_>) {
    for entry in node.entries() {
        if known.iter().any(|keys| keys.contains(&entry.key.as_str())) {
            continue;
        }
        let message = format!("unknown key {} has no effect", quoted(&entry.key));
        let problem = Problem::warning("unknown-key", message).at(entry.key_span);
        let near = did_you_mean(&entry.key, known.iter().flat_map(|keys| keys.iter().copied()));
        loading.problems.push(match near {
            Some(near) => problem.help(format!("did you mean {}?", quoted(near))),
            None => problem,
        });
    }
}
