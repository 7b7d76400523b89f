//! `toolmark.yaml`: the native spec, which holds graders of every system.
//!
//! ```yaml
//! name: bookings
//! threshold: 0.8          # per case; without it every grader must pass
//! gate: {threshold: 0.9}  # on the mean of all cases
//! graders:                # asked of every case
//!   - type: error-count
//!     config: {max: 0}
//! cases:
//!   - id: paris
//!     prompt: Book a flight to Paris
//!     expect:             # short for a grader of type expect
//!       sequence: [search, {tool: book, args: {city: Paris}}]
//! ```
//!
//! `run:` and `targets:` configure how `toolmark run` runs the cases, and on which agents.
//! `check:`, `guard:` and `serve:` are read by the commands of the same name, and `judge:`
//! by the commands that call judges; these sections are skipped here.
//!
//! A file that is nothing but a list of graders is read as the value of `graders`.
//!
//! Without `cases` every trajectory is a case of its own. `cases` may be the
//! path of a file with one case per line.

mod case;
mod entry;
mod running;
mod schema;
mod stored;

use case::{Defaults, read_case};
use entry::{CheckedMap, read_graders};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use toolmark_base::SortedMap;
use toolmark_config::{Node, NodeEntry, NodeKind, NodeSpan, Problem, quoted};
use toolmark_grade::Loading;
use toolmark_grade::schema::Section;
use toolmark_grade::{Case, Gate, Plan, RunPlan, StoredCases, UsualJudge, is_lines};
use toolmark_grade::{Dialect, DialectInfo};
use toolmark_outcome::Profile;

/// The native dialect.
pub(crate) struct ToolmarkDialect;

static INFO: DialectInfo = DialectInfo {
    id: "toolmark",
    title: "toolmark.yaml",
    looks_for: "graders, cases or expect at the top, or a list of graders",
    keys: &["graders", "cases", "expect"],
};

/// Top-level keys that other commands read.
const SECTIONS: &[&str] = &["check", "guard", "judge", "serve", "tools"];

/// Top-level keys of the file.
const KEYS: &[&str] = &[
    "version",
    "name",
    "description",
    "profile",
    "threshold",
    "gate",
    "grader_types",
    "graders",
    "expect",
    "dataset",
    "cases",
    "run",
    "targets",
    "check",
    "guard",
    "judge",
    "serve",
    "tools",
    "order",
];

impl Dialect for ToolmarkDialect {
    fn info(&self) -> &'static DialectInfo {
        &INFO
    }

    fn detect(&self, root: &Node) -> u8 {
        let has = |key| root.get(key).is_some();
        if is_list_of_graders(root) {
            return 60;
        }
        match (has("cases"), has("graders") || has("expect")) {
            (true, _) => 90,
            (false, true) => 60,
            // A file that only says how to check or what is allowed.
            // A list of tools belongs to another system.
            _ if SECTIONS
                .iter()
                .any(|key| root.get(key).is_some_and(|p| p.as_list().is_none())) =>
            {
                50
            }
            _ => 0,
        }
    }

    fn load(&self, root: &Node, loading: &mut Loading<'_>) -> Option<Plan> {
        let wrapped = is_list_of_graders(root).then(|| under_graders(root));
        let root = wrapped.as_ref().unwrap_or(root);
        let top = CheckedMap::map(root, KEYS, "the spec", loading)?;
        if let Some(version) = top.get("version")
            && version.as_i64() != Some(1)
        {
            loading.error("unknown-version", version.span, "unsupported version: expected 1");
        }
        let profile = entry::profile(&top, loading).unwrap_or(Profile::Toolmark);
        let threshold = entry::share(&top, "threshold", loading);
        let graders = read_graders(&top, None, loading);
        let defaults = Defaults::new(profile, threshold, &graders, loading);
        let parts: Vec<_> = SECTIONS.iter().filter_map(|key| Some((*key, top.get(key)?))).collect();
        for (key, part) in &parts {
            // An empty guard part is for the guard to complain about.
            let is_empty = *key == "guard" && part.is_null();
            if part.as_map().is_none() && !is_empty {
                let message = format!("expected a map, found {}", part.word());
                loading.error("wrong-type", part.span, message);
            }
        }
        let gate = gate(&top, loading);
        let run = run_plan(&top, loading);
        let rows = dataset(&top, loading);
        let stored = stored_cases(&top, &defaults, &rows, loading);
        let cases = match stored {
            Some(_) => Vec::new(),
            None => cases(&top, &defaults, &rows, loading),
        };
        let only_checks = !parts.is_empty() && !defaults.has_graders;
        let every = if top.get("cases").is_none() && rows.is_empty() && !only_checks {
            every(root, &defaults, loading)
        } else {
            None
        };
        Some(Plan {
            spec: loading.file.clone(),
            dialect: INFO.id,
            name: entry::text(&top, "name", loading),
            cases,
            stored,
            every,
            gate,
            aggregates: Vec::new(),
            judge: UsualJudge::default(),
            run,
        })
    }

    fn schema(&self, sections: &[Section]) -> Value {
        schema::schema(sections)
    }
}

fn is_list_of_graders(root: &Node) -> bool {
    let is_grader = |item: &Node| item.get("type").and_then(Node::as_str).is_some();
    root.as_list().is_some_and(|list| !list.is_empty() && list.iter().all(is_grader))
}

/// Returns the spec that a list of graders stands for.
fn under_graders(list: &Node) -> Node {
    let entry = NodeEntry { key: "graders".into(), key_span: list.span, value: list.clone() };
    Node::new(NodeKind::Map(vec![entry]), list.span)
}

/// Reads how the cases are run.
fn run_plan(top: &CheckedMap<'_>, loading: &mut Loading<'_>) -> RunPlan {
    let settings = top.get("run").map(|node| running::settings(node, loading));
    let targets = top.get("targets").map(|node| running::targets(node, loading));
    RunPlan {
        settings: settings.unwrap_or_default(),
        targets: targets.unwrap_or_default(),
        ..RunPlan::default()
    }
}

fn gate(top: &CheckedMap<'_>, loading: &mut Loading<'_>) -> Gate {
    let Some(node) = top.get("gate") else { return Gate::default() };
    if node.as_list().is_some() {
        let problem = Problem::error("wrong-type", "expected a map with a threshold, found a list");
        let help = "gates of `toolmark check` belong to `check:`, under `gates:`";
        loading.problems.push(problem.at(node.span).help(help));
        return Gate::default();
    }
    let Some(gate) = CheckedMap::map(node, &["threshold"], "gate", loading) else {
        return Gate::default();
    };
    Gate { threshold: entry::share(&gate, "threshold", loading) }
}

/// Returns the case that applies to every trajectory, if the file has no `cases`.
fn every(root: &Node, defaults: &Defaults, loading: &mut Loading<'_>) -> Option<Box<Case>> {
    if !defaults.has_graders {
        // Graders that cannot be read have been complained about.
        let is_listed = root.get("graders").is_some_and(|list| list.items().len() > 0);
        if is_listed || root.get("expect").is_some() {
            return None;
        }
        loading.problems.push(
            Problem::error("nothing-to-grade", "the spec has neither cases nor graders")
                .at(root.span)
                .help("add `graders:` for every trajectory, or `cases:`"),
        );
        return None;
    }
    let case = case::every(root.span, defaults, loading);
    Some(Box::new(case))
}

/// Reads the rows of the dataset, with their IDs.
fn dataset(top: &CheckedMap<'_>, loading: &mut Loading<'_>) -> Vec<(String, Arc<Value>)> {
    let named = top.get("dataset").and_then(|node| Some((node, node.as_str()?)));
    let (path, span): (PathBuf, NodeSpan) = match (&loading.options.dataset, named) {
        (Some(path), _) => (path.clone(), NodeSpan::default()),
        (None, Some((node, path))) => (loading.path(path), node.span),
        (None, None) => {
            if let Some(node) = top.get("dataset") {
                let message = format!("expected the path of a file, found {}", node.word());
                loading.error("wrong-type", node.span, message);
            }
            return Vec::new();
        }
    };
    match toolmark_dataset::read(&path) {
        Ok(rows) => rows
            .into_iter()
            .enumerate()
            .map(|(n, row)| (row_id(&row.value).unwrap_or_else(|| n.to_string()), row.value))
            .collect(),
        Err(error) => {
            for message in error.messages() {
                loading.error("unreadable-dataset", span, message);
            }
            Vec::new()
        }
    }
}

/// Returns the ID of a row, under one of its common names.
fn row_id(row: &Value) -> Option<String> {
    match ["id", "sample_id", "test_id", "case", "key"].iter().find_map(|key| row.get(*key))? {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

/// Opens a file of cases for reading on demand, if that is possible. If there is a problem or a
/// warning about the cases, the file has to be loaded as a whole.
fn stored_cases(
    top: &CheckedMap<'_>,
    defaults: &Defaults,
    rows: &[(String, Arc<Value>)],
    loading: &Loading<'_>,
) -> Option<Arc<StoredCases>> {
    let path = loading.path(top.get("cases")?.as_str()?);
    let may_stay = loading.options.stores_cases && rows.is_empty() && is_lines(&path);
    if may_stay { stored::open(&path, defaults, loading) } else { None }
}

fn cases(
    top: &CheckedMap<'_>,
    defaults: &Defaults,
    rows: &[(String, Arc<Value>)],
    loading: &mut Loading<'_>,
) -> Vec<Case> {
    let by_id: SortedMap<&str, &Value> =
        rows.iter().map(|(id, row)| (id.as_str(), &**row)).collect();
    let mut cases = Vec::new();
    match top.get("cases") {
        None => {
            for (id, row) in rows {
                cases.extend(case::of_row(id, row, defaults, loading));
            }
        }
        Some(node) => match (node.as_list(), node.as_str()) {
            (Some([]), _) => {
                let problem = Problem::error("empty-list", "the list of cases is empty");
                let help = "add a case, or remove `cases` to grade every trajectory";
                loading.problems.push(problem.at(node.span).help(help));
            }
            (Some(list), _) => {
                let read = |case| read_case(case, defaults, &by_id, loading);
                cases.extend(list.iter().filter_map(read));
            }
            (None, Some(path)) => {
                let path = loading.path(path);
                loading.include(&path, node.span, |node, loading| {
                    cases.extend(read_case(node, defaults, &by_id, loading));
                });
            }
            (None, None) => {
                let message = format!(
                    "expected a list of cases or the path of a file, found {}",
                    node.word()
                );
                loading.error("wrong-type", node.span, message);
            }
        },
    }
    reject_duplicates(&cases, top, loading);
    cases
}

fn reject_duplicates(cases: &[Case], top: &CheckedMap<'_>, loading: &mut Loading<'_>) {
    let mut seen: SortedMap<&str, &Case> = SortedMap::new();
    let whole = top.get("cases").map_or(NodeSpan::default(), |node| node.span);
    for case in cases {
        if let Some(first) = seen.insert(&case.id, case) {
            let id = quoted(&case.id);
            let problem = match (loading.span(&first.place), loading.span(&case.place)) {
                (Some(first), Some(second)) => {
                    let message = format!("two cases have the id {id}");
                    let problem = Problem::error("duplicate-case", message).at(second);
                    problem.note(first, "the first one")
                }
                // The cases are in another file.
                _ => {
                    let (first, second) = (first.place.line, case.place.line);
                    let message =
                        format!("two cases have the id {id}: line {first} and line {second}");
                    Problem::error("duplicate-case", message).at(whole)
                }
            };
            loading.problems.push(problem.help("give each case an id of its own"));
        }
    }
}
