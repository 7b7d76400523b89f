//! Reads cases from the file itself and from files that it references.

use super::case::case;
use super::keys::{self, CASES};
use super::suite::Suite;
use std::path::{Path, PathBuf};
use toolmark_base::{ReadFileError, SortedMap};
use toolmark_config::{Node, NodeEntry, NodeKind, NodeSpan, Problem, quoted};
use toolmark_config::{SourceText, json, parse};
use toolmark_grade::Case;
use toolmark_grade::Loading;
use toolmark_outcome::SpecPlace;
use toolmark_pattern::{has_wildcards, is_wildcard_match};

/// Maximum number of files that a spec may include.
const MAX_FILES: usize = 10_000;

/// Maximum number of cases of a spec.
const MAX_CASES: usize = 1_000_000;

/// Maximum nesting depth of template includes.
const MAX_INCLUDES: usize = 3;

/// Reads all cases of a file.
pub(super) fn cases(root: &Node, suite: &Suite<'_>, loading: &mut Loading<'_>) -> Vec<Case> {
    let mut reading = FileReading { suite, cases: Vec::new(), files: 0 };
    for list in CASES.iter().filter_map(|key| root.get(key)) {
        reading.list(list, None, loading);
    }
    if let Some(evals) = root.get(keys::SKILL_CASES) {
        let kind = match &evals.kind {
            NodeKind::List(items) => NodeKind::List(items.iter().map(keys::of_skill).collect()),
            other => other.clone(),
        };
        reading.list(&Node::new(kind, evals.span), None, loading);
    }
    if let Some(scenarios) = root.get("scenarios") {
        for scenario in scenarios.as_list().unwrap_or(std::slice::from_ref(scenarios)) {
            reading.scenario(scenario, loading);
        }
    }
    if let Some(dataset) = &loading.options.dataset {
        let path = dataset.clone();
        reading.path(&path, root.span, loading);
    }
    reading.unique(loading)
}

struct FileReading<'s, 'n> {
    suite: &'s Suite<'n>,
    cases: Vec<Case>,
    files: usize,
}

impl FileReading<'_, '_> {
    /// Reads a list of cases, or a file that is named instead.
    fn list(&mut self, list: &Node, vars: Option<&Node>, loading: &mut Loading<'_>) {
        match &list.kind {
            NodeKind::Text(path) => {
                let path = located(path, loading);
                self.path(&path, list.span, loading);
            }
            NodeKind::List(items) => {
                for (n, item) in items.iter().enumerate() {
                    self.item(item, n, vars, loading);
                }
            }
            _ => {
                let message = format!("expected a list of tests or a file, found {}", list.word());
                loading.error("invalid-tests", list.span, message);
            }
        }
    }

    fn item(&mut self, item: &Node, n: usize, vars: Option<&Node>, loading: &mut Loading<'_>) {
        let include = item.get("include").filter(|_| item.get("id").is_none());
        let path = item.as_str().or_else(|| include?.as_str());
        if let Some(path) = path {
            if let Some(select) = item.get("select") {
                let message = "selecting among the tests of another file is not supported";
                loading.error("unsupported-select", select.span, message);
            }
            let path = located(path, loading);
            self.path(&path, item.span, loading);
            return;
        }
        if self.cases.len() >= MAX_CASES {
            if self.cases.len() == MAX_CASES {
                loading.error("too-many-cases", item.span, "the spec has too many tests");
            }
            return;
        }
        self.cases.extend(case(item, n, self.suite, vars, loading));
    }

    /// Reads a scenario: every set of values combined with every test.
    fn scenario(&mut self, scenario: &Node, loading: &mut Loading<'_>) {
        if let Some(path) = scenario.as_str() {
            let path = located(path, loading);
            for file in matching(&path, scenario.span, loading) {
                self.scenario_file(&file, scenario.span, loading);
            }
            return;
        }
        let sets: Vec<&Node> = scenario.get("config").into_iter().flat_map(Node::items).collect();
        let Some(tests) = scenario.get("tests") else {
            loading.error("missing-key", scenario.span, "a scenario needs \"tests\"");
            return;
        };
        if sets.is_empty() {
            self.list(tests, None, loading);
            return;
        }
        for (n, set) in sets.iter().enumerate() {
            let from = self.cases.len();
            self.list(tests, set.get("vars"), loading);
            // The same tests again: the set distinguishes them.
            if sets.len() > 1 {
                for case in &mut self.cases[from..] {
                    case.id = format!("{}-{}", case.id, n + 1);
                    case.matches.ids = vec![case.id.clone()];
                }
            }
        }
    }

    /// Reads a file of scenarios: a list, or a map that contains one.
    fn scenario_file(&mut self, path: &Path, span: NodeSpan, loading: &mut Loading<'_>) {
        let Some(source) = self.open(path, span, loading) else { return };
        let parsed = parse(&source);
        loading.problems.extend(parsed.problems.into_iter().map(|p| elsewhere(p, &source)));
        let Some(root) = parsed.node else { return };
        let listed = root.get("scenarios").unwrap_or(&root);
        let mut inner = inner(&source, loading);
        for scenario in listed.as_list().unwrap_or(std::slice::from_ref(listed)) {
            match scenario.as_str() {
                None => self.scenario(scenario, &mut inner),
                Some(_) => {
                    let message = "a file of scenarios must list them itself";
                    inner.error("nested-file", scenario.span, message);
                }
            }
        }
        let problems = std::mem::take(&mut inner.problems);
        loading.problems.extend(problems.into_iter().map(|p| elsewhere(p, &source)));
    }

    /// Opens a file that the spec includes.
    fn open(
        &mut self,
        path: &Path,
        span: NodeSpan,
        loading: &mut Loading<'_>,
    ) -> Option<SourceText> {
        self.files += 1;
        if self.files > MAX_FILES {
            if self.files == MAX_FILES + 1 {
                loading.error("too-many-files", span, "the spec draws in too many files");
            }
            return None;
        }
        match SourceText::open(path) {
            Ok(source) => Some(source),
            Err(error) => {
                loading.problems.push(Problem::from(&error).at(span));
                None
            }
        }
    }

    /// Reads a file, all files of a directory, or those matching a pattern.
    fn path(&mut self, path: &Path, span: NodeSpan, loading: &mut Loading<'_>) {
        if !path.is_dir() {
            for file in matching(path, span, loading) {
                match file.extension().is_some_and(|ext| ext == "csv") {
                    true => self.table(&file, span, loading),
                    false => self.file(&file, span, loading),
                }
            }
            return;
        }
        match files_of(path) {
            Ok(files) if files.is_empty() => {
                let message = format!("no tests in {}", path.display());
                loading.error("no-cases", span, message);
            }
            Ok(files) => {
                for file in files {
                    self.file(&file, span, loading);
                }
            }
            Err(error) => {
                let error = ReadFileError::io(path, error);
                loading.problems.push(Problem::from(&error).at(span));
            }
        }
    }

    fn file(&mut self, path: &Path, span: NodeSpan, loading: &mut Loading<'_>) {
        let Some(source) = self.open(path, span, loading) else { return };
        let mut problems = Vec::new();
        let mut nodes = Vec::new();
        if path.extension().is_some_and(|ext| ext == "jsonl") {
            json::lines(&source, &mut problems, |node| nodes.push(node));
        } else {
            let parsed = parse(&source);
            problems = parsed.problems;
            nodes.extend(parsed.node);
        }
        let mut inner = inner(&source, loading);
        inner.problems = problems;
        for (n, node) in nodes.iter().enumerate() {
            let lists: Vec<&Node> = CASES.iter().filter_map(|key| node.get(key)).collect();
            match &node.kind {
                NodeKind::List(_) => self.list(node, None, &mut inner),
                NodeKind::Map(_) if !lists.is_empty() => {
                    for list in lists {
                        // A file that names itself would never end.
                        match list.as_list() {
                            Some(_) => self.list(list, None, &mut inner),
                            None => {
                                let message = "a file of tests must list them itself";
                                inner.error("nested-file", list.span, message);
                            }
                        }
                    }
                }
                // A case in a separate directory is named after the directory.
                NodeKind::Map(_) if node.get("id").is_none() && is_case_file(path) => {
                    let name = path.parent().and_then(Path::file_name).unwrap_or_default();
                    let id = NodeKind::Text(name.to_string_lossy().as_ref().into());
                    let mut named = node.clone();
                    if let NodeKind::Map(entries) = &mut named.kind {
                        let value = Node::new(id, node.span);
                        entries.push(NodeEntry { key: "id".into(), key_span: node.span, value });
                    }
                    self.item(&named, n, None, &mut inner);
                }
                _ => self.item(node, n, None, &mut inner),
            }
        }
        let problems = std::mem::take(&mut inner.problems);
        loading.problems.extend(problems.into_iter().map(|p| elsewhere(p, &source)));
    }

    /// Reads a table of tests in promptfoo's format: each row is a test, and its columns are values
    /// and expectations.
    fn table(&mut self, path: &Path, span: NodeSpan, loading: &mut Loading<'_>) {
        let rows = match toolmark_dataset::read(path) {
            Ok(rows) => rows,
            Err(error) => {
                for message in error.messages() {
                    loading.error("invalid-tests", span, message);
                }
                return;
            }
        };
        for (n, row) in rows.iter().enumerate() {
            let test = super::table::test(&row.value, n);
            let Some(test) = Node::from_json(&test) else { continue };
            self.item(&test.moved(span), n, None, loading);
        }
    }

    /// Reports duplicate case IDs, and returns the cases.
    fn unique(self, loading: &mut Loading<'_>) -> Vec<Case> {
        let mut places: SortedMap<&str, &SpecPlace> = SortedMap::new();
        let mut problems = Vec::new();
        for case in &self.cases {
            let place = &case.place;
            let Some(first) = places.get(case.id.as_str()) else {
                places.insert(&case.id, place);
                continue;
            };
            let id = quoted(&case.id);
            let problem = match (loading.span(first), loading.span(place)) {
                (Some(first), Some(second)) => {
                    let message = format!("two tests have the id {id}");
                    let problem = Problem::error("duplicate-id", message).at(second);
                    problem.note(first, "the first one")
                }
                // One of them is in another file.
                _ => {
                    let place = |place: &SpecPlace| format!("{}:{}", place.file.raw(), place.line);
                    let (first, second) = (place(first), place(&case.place));
                    let message =
                        format!("{second}: two tests have the id {id}, the first at {first}");
                    Problem::error("duplicate-id", message)
                }
            };
            problems.push(problem.help("give each test an id of its own"));
        }
        loading.problems.extend(problems);
        self.cases
    }
}

/// Resolves a path of the spec relative to its directory.
fn located(path: &str, loading: &Loading<'_>) -> PathBuf {
    loading.path(path.strip_prefix("file://").unwrap_or(path))
}

/// Starts loading a file that the spec includes.
fn inner<'a>(source: &'a SourceText, loading: &Loading<'a>) -> Loading<'a> {
    Loading::new(
        source.name.clone(),
        source.text(),
        loading.directory,
        loading.options,
        loading.graders,
    )
}

fn is_case_file(path: &Path) -> bool {
    path.file_stem().is_some_and(|stem| stem == "case")
}

/// Returns the files that match a path whose last component may contain `*` and `?`.
fn matching(path: &Path, span: NodeSpan, loading: &mut Loading<'_>) -> Vec<PathBuf> {
    let pattern = path.file_name().unwrap_or_default().to_string_lossy();
    if !has_wildcards(&pattern) || path.exists() {
        return vec![path.to_owned()];
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let listed = std::fs::read_dir(directory.unwrap_or(Path::new(".")));
    let mut files: Vec<PathBuf> = listed
        .into_iter()
        .flatten()
        .take(MAX_FILES)
        .filter_map(|entry| Some(entry.ok()?.file_name()))
        .filter(|name| is_wildcard_match(&pattern, &name.to_string_lossy()))
        .map(|name| path.with_file_name(name))
        .filter(|file| file.is_file())
        .collect();
    files.sort();
    if files.is_empty() {
        let message = format!("no file fits {}", path.display());
        loading.warn("no-such-file", span, message);
    }
    files
}

/// Returns the files of a directory that may contain tests, and `case.yaml` of its subdirectories.
fn files_of(directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory)?.take(MAX_FILES + 1) {
        let path = entry?.path();
        let extension = path.extension().and_then(|ext| ext.to_str()).unwrap_or("");
        if matches!(extension, "yaml" | "yml" | "json" | "jsonl") && path.is_file() {
            files.push(path);
        } else if path.is_dir() {
            let names = ["case.yaml", "case.yml"].map(|name| path.join(name));
            files.extend(names.into_iter().filter(|path| path.is_file()));
        }
    }
    files.sort();
    Ok(files)
}

/// Converts a problem of another file, with its position as text.
fn elsewhere(problem: Problem, source: &SourceText) -> Problem {
    let place = match problem.span {
        Some(span) => {
            let place = source.place(span.start);
            format!("{}:{}:{}", source.name, place.line, place.column)
        }
        None => source.name.to_string(),
    };
    let is_placed = problem.span.is_none() && problem.message.starts_with(&*source.name);
    let message = if is_placed { problem.message } else { format!("{place}: {}", problem.message) };
    Problem { message, span: None, notes: Vec::new(), ..problem }
}

/// Returns a list of evaluators with its included templates.
pub(super) fn with_includes(list: &Node, loading: &mut Loading<'_>) -> Node {
    let Some(items) = list.as_list() else { return list.clone() };
    let mut all = Vec::with_capacity(items.len());
    for item in items {
        expand(item, MAX_INCLUDES, loading, &mut all);
    }
    Node::new(NodeKind::List(all), list.span)
}

fn expand(item: &Node, depth: usize, loading: &mut Loading<'_>, all: &mut Vec<Node>) {
    let include = item.get("include").filter(|_| item.get("type").is_none());
    let Some(name) = include.and_then(Node::as_str) else {
        all.push(item.clone());
        return;
    };
    let Some(depth) = depth.checked_sub(1) else {
        let message = format!("templates include each other more than {MAX_INCLUDES} deep");
        loading.error("deep-include", item.span, message);
        return;
    };
    let is_name = !name.starts_with('.') && !name.contains(['/', '\\']);
    let path = if is_name {
        loading.path(format!(".agentv/templates/{name}.yaml"))
    } else {
        located(name, loading)
    };
    let source = match SourceText::open(&path) {
        Ok(source) => source,
        Err(error) => {
            loading.problems.push(Problem::from(&error).at(item.span));
            return;
        }
    };
    let parsed = parse(&source);
    loading.problems.extend(parsed.problems.into_iter().map(|p| elsewhere(p, &source)));
    let Some(root) = parsed.node else { return };
    let Some(list) = keys::EVALUATORS.iter().find_map(|key| root.get(key)) else {
        let message = format!("{} lists no assertions", path.display());
        loading.error("invalid-template", item.span, message);
        return;
    };
    for inner in list.items() {
        // Places of another file would point anywhere: what is wrong with a
        // template is shown where it is included.
        expand(&inner.moved(item.span), depth, loading, all);
    }
}
