//! Checks that damage to a trace turns no verdict into a pass: for every fixture of a reader, every
//! kind of damage and every grader.
//!
//! `TOOLMARK_DAMAGE=all` takes every place of a file and every grader with every kind of damage;
//! without it, the places and the graders of the examples take turns.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "helpers of tests")]

use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use toolmark_config::{Node, SourceText, parse};
use toolmark_grade::testing::Kit;
use toolmark_grade::{Grader, ask};
use toolmark_outcome::{CaseContext, Environment, Profile, Subject, TrajectoryView, Verdict};
use toolmark_peers::GRADERS;
use toolmark_testing::files_below;
use toolmark_trace::{Payload, ReadOptions, Text, ToolName, Trajectory, load_path};

/// Places of a file that are damaged in one way, unless all are.
const PLACES: usize = 4;

/// Graders that run programs of the user and do not inspect calls.
const PROGRAMS: &[&str] =
    &["run-command", "program", "code-grader", "javascript", "python", "webhook"];

/// A grader with the words that name it in a message.
struct NamedGrader {
    grader: Arc<dyn Grader>,
    profile: Profile,
    name: String,
}

/// Configurations for a tool that is called. Nearly all fail on the whole run.
fn configurations(tool: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("expect", json!({"forbidden": [tool]})),
        ("expect", json!({"forbidden": ["not-called"]})),
        ("expect", json!({"none": true})),
        ("expect", json!({"only": ["another"]})),
        ("expect", json!({"only": [tool]})),
        ("expect", json!({"calls": [{"tool": tool, "count": {"max": 0}}]})),
        ("expect", json!({"calls": [{"tool": tool, "count": {"max": 1}}]})),
        ("expect", json!({"forbidden": [{"tool": tool, "status": "failed"}]})),
        ("expect", json!({"forbidden": [{"tool": tool, "result": "/./"}]})),
        ("expect", json!({"calls": [{"tool": tool, "status": "succeeded"}], "only": [tool]})),
        ("tool-calls", json!({"disallowed": [tool]})),
        ("tool-calls", json!({"required": [{"name": tool, "final": true}]})),
        ("tool-call-count", json!({"max": 0})),
        ("tool-call-count", json!({"max": 1})),
        ("error-count", json!({"max": 0})),
        ("max-repeat", json!({"max": 1})),
        ("turn-count", json!({"max": 1})),
        ("tool-trajectory", json!({"mode": "exact", "expected": []})),
        ("tool-trajectory", json!({"mode": "exact", "expected": [{"tool": tool}]})),
        ("tool-trajectory", json!({"mode": "subset", "expected": [{"tool": "another"}]})),
        ("trajectory:tool-used", json!({"name": tool, "max": 0})),
        ("function_call_disallowed", json!({"disallowed_function_calls": [tool]})),
        ("execution-metrics", json!({"max_tool_calls": 0})),
        ("output-not-matches", json!({"pattern": "."})),
    ]
}

fn built(kit: &Kit, id: &'static str, config: &Value) -> Vec<NamedGrader> {
    let Some(info) = GRADERS.iter().find(|info| info.id == id) else { return Vec::new() };
    let profiles = info.profiles.iter().copied().chain([Profile::Toolmark]);
    let graders = profiles.filter_map(|profile| {
        let grader = kit.build(id, profile, config).ok()?;
        Some(NamedGrader { grader, profile, name: format!("{id} {config} under {profile:?}") })
    });
    graders.collect()
}

/// The graders of the examples on their pages.
fn examples(kit: &Kit) -> Vec<NamedGrader> {
    let without_programs = GRADERS.iter().filter(|info| !PROGRAMS.contains(&info.id));
    let graders = without_programs.flat_map(|info| {
        let node = parse(&SourceText::new("example", info.example)).node;
        let config = node.as_ref().and_then(|node| node.get("config"));
        built(kit, info.id, &config.map_or_else(|| json!({}), Node::to_json))
    });
    graders.collect()
}

fn verdict(grader: &dyn Grader, run: &Trajectory) -> Verdict {
    let (context, environment) = (CaseContext::default(), Environment::default());
    let subject =
        Subject { view: TrajectoryView::whole(run), context: &context, environment: &environment };
    ask(grader, &subject).verdict
}

/// Every n-th of these, so that at most [`PLACES`] remain.
fn spread<T>(all: Vec<T>, is_thorough: bool) -> Vec<T> {
    let step = if is_thorough { 1 } else { all.len().div_ceil(PLACES).max(1) };
    all.into_iter().step_by(step).collect()
}

/// A file as JSON values: its lines, or the one document in it.
struct File {
    text: String,
    values: Vec<Value>,
    is_lines: bool,
}

impl File {
    fn new(text: String) -> Self {
        let lines: Option<Vec<Value>> = text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .map(|line| serde_json::from_str(line).ok())
            .collect();
        match (lines, serde_json::from_str(&text)) {
            (Some(values), _) if values.len() > 1 => Self { text, values, is_lines: true },
            (_, Ok(value)) => Self { text, values: vec![value], is_lines: false },
            _ => Self { text, values: Vec::new(), is_lines: false },
        }
    }

    fn write(&self, values: &[Value]) -> String {
        values.iter().map(|value| format!("{value}\n")).collect()
    }
}

/// Visits every value below these, parents first.
fn visit(values: &mut [Value], mut each: impl FnMut(&mut Value)) {
    let mut open: Vec<&mut Value> = values.iter_mut().collect();
    while let Some(value) = open.pop() {
        each(value);
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(map) => open.extend(map.values_mut()),
            _ => {}
        }
    }
}

fn contains(value: &Value, words: &BTreeSet<String>) -> bool {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) if words.contains(text) => return true,
            Value::Array(items) => open.extend(items),
            Value::Object(map) => open.extend(map.values()),
            _ => {}
        }
    }
    false
}

/// Cuts the text inside of its records.
fn cut(file: &File, is_thorough: bool) -> Vec<(String, String)> {
    // A text without a syntax may end anywhere.
    if file.values.is_empty() {
        return Vec::new();
    }
    let places: Vec<usize> = (1..20).map(|part| file.text.len() * part / 20).collect();
    let cuts = spread(places, is_thorough).into_iter().filter_map(|at| {
        let text = file.text.get(..at)?;
        // A cut between two lines leaves no trace of what was lost.
        let last = text.rsplit('\n').next()?.trim();
        let is_whole = file.is_lines && serde_json::from_str::<Value>(last).is_ok();
        (!last.is_empty() && !is_whole).then(|| (format!("cut at {at}"), text.to_owned()))
    });
    cuts.collect()
}

/// Makes records unreadable.
fn skip(file: &File, is_thorough: bool) -> Vec<(String, String)> {
    if !file.is_lines {
        return Vec::new();
    }
    let lines: Vec<&str> = file.text.lines().collect();
    let places = (0..lines.len()).filter(|at| !lines[*at].trim().is_empty()).collect();
    let damaged = spread(places, is_thorough).into_iter().map(|at| {
        let mut lines = lines.clone();
        let half = lines[at].char_indices().nth(lines[at].chars().count() / 2).unwrap().0;
        lines[at] = &lines[at][..half];
        (format!("skip line {}", at + 1), lines.join("\n"))
    });
    damaged.collect()
}

/// Gives records, blocks and messages a kind that nobody knows.
fn rename(file: &File, is_thorough: bool) -> Vec<(String, String)> {
    const KINDS: [&str; 4] = ["type", "kind", "role", "event"];
    let mut values = file.values.clone();
    let mut words = BTreeSet::new();
    visit(&mut values, |value| {
        let kinds = KINDS.iter().filter_map(|kind| value.get(kind)?.as_str());
        words.extend(kinds.map(ToOwned::to_owned));
    });
    let damaged = spread(words.into_iter().collect(), is_thorough).into_iter().map(|word| {
        let mut values = file.values.clone();
        visit(&mut values, |value| {
            for kind in KINDS {
                if let Some(value) = value.get_mut(kind).filter(|value| **value == *word) {
                    *value = json!(format!("brand-new-{word}"));
                }
            }
        });
        (format!("rename {word}"), file.write(&values))
    });
    damaged.collect()
}

/// Gives all calls of a run the ID of the first.
fn share_ids(file: &File, runs: &[Trajectory]) -> Option<(String, String)> {
    let calls = runs.first()?.calls.iter();
    let ids: Vec<String> = calls.filter_map(|call| Some(call.id.as_ref()?.to_string())).collect();
    let (first, others) = ids.split_first()?;
    let others: BTreeSet<String> = others.iter().filter(|id| *id != first).cloned().collect();
    let mut values = file.values.clone();
    visit(&mut values, |value| {
        if value.as_str().is_some_and(|text| others.contains(text)) {
            *value = json!(first);
        }
    });
    (!others.is_empty()).then(|| ("share ids".to_owned(), file.write(&values)))
}

/// Drops what has the ID of a call and not its name.
fn drop_results(file: &File, runs: &[Trajectory]) -> Option<(String, String)> {
    let calls = || runs.first().into_iter().flat_map(|run| &run.calls);
    let ids: BTreeSet<String> =
        calls().filter_map(|call| Some(call.id.as_ref()?.to_string())).collect();
    let names: BTreeSet<String> = calls().map(|call| call.name.original.to_string()).collect();
    let is_result = |value: &Value| contains(value, &ids) && !contains(value, &names);
    let mut values = file.values.clone();
    let before = values.len();
    values.retain(|value| !is_result(value));
    let mut is_dropped = values.len() < before;
    visit(&mut values, |value| {
        if let Value::Array(items) = value {
            let before = items.len();
            items.retain(|item| !item.is_object() || !is_result(item));
            is_dropped |= items.len() < before;
        }
    });
    (is_dropped && !values.is_empty()).then(|| ("drop results".to_owned(), file.write(&values)))
}

/// Runs that were damaged behind their readers.
fn of_model(run: &Trajectory) -> Vec<(&'static str, Trajectory)> {
    let mut failed = run.clone();
    failed.completeness.declared_error = Some("exit code 1".into());
    let mut stopped = run.clone();
    stopped.outcome = Some("max_turns".into());
    let (mut nameless, mut broken) = (run.clone(), run.clone());
    for call in &mut nameless.calls {
        call.name = ToolName::new(Text::owned(""));
    }
    for call in &mut broken.calls {
        call.args = Some(Payload::text(Text::owned("{\"command\": \"rm -r")));
    }
    vec![
        ("declare error", failed),
        ("stop", stopped),
        ("nameless calls", nameless),
        ("broken arguments", broken),
    ]
}

/// Compares the verdicts about damaged runs with those about whole ones.
struct Comparison {
    compared: usize,
    green: Vec<String>,
}

impl Comparison {
    fn compare(
        &mut self,
        place: &str,
        asked: &NamedGrader,
        whole: &[Trajectory],
        damaged: &[Trajectory],
    ) {
        let is_answered = |run: &Trajectory| run.calls.iter().any(|call| call.result.is_some());
        for (at, run) in damaged.iter().enumerate() {
            // Where no call has a result, another system answers as it does for its own traces.
            if asked.profile != Profile::Toolmark && !is_answered(run) {
                continue;
            }
            self.compared += 1;
            if verdict(&*asked.grader, run) != Verdict::Pass {
                continue;
            }
            // Where runs are missing, it is unknown which of the whole runs this one is.
            let originals = match whole.len() == damaged.len() {
                true => &whole[at..=at],
                false => whole,
            };
            let passes = |run: &Trajectory| verdict(&*asked.grader, run) == Verdict::Pass;
            if !originals.iter().any(passes) {
                self.green.push(format!("{place}: {}", asked.name));
            }
        }
    }
}

#[test]
fn damage_turns_no_verdict_green() {
    let is_thorough = std::env::var_os("TOOLMARK_DAMAGE").is_some_and(|value| value == "all");
    let kit = Kit(toolmark_peers::ALL);
    let examples = examples(&kit);
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../toolmark-trace/tests/fixtures/readers");
    let scratch = tempfile::tempdir().unwrap();
    let mut comparison = Comparison { compared: 0, green: Vec::new() };
    let mut turn = 0;
    for path in files_below(&folder) {
        let whole = load_path(&path, &ReadOptions::default()).unwrap().runs;
        let Some(call) = whole.iter().find_map(|run| run.calls.first()) else { continue };
        let tool = call.name.original.to_string();
        let of_tool = configurations(&tool);
        let of_tool: Vec<NamedGrader> =
            of_tool.iter().flat_map(|(id, config)| built(&kit, id, config)).collect();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let mut ask_all = |way: &str, whole: &[Trajectory], damaged: &[Trajectory]| {
            let place = format!("{name}, {way}");
            of_tool.iter().for_each(|asked| comparison.compare(&place, asked, whole, damaged));
            for asked in &examples {
                turn += 1;
                if is_thorough || turn % 16 == 0 {
                    comparison.compare(&place, asked, whole, damaged);
                }
            }
        };
        for run in whole.iter().take(2) {
            for (way, damaged) in of_model(run) {
                ask_all(way, std::slice::from_ref(run), &[damaged]);
            }
        }
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let file = File::new(text);
        let mut damaged = cut(&file, is_thorough);
        damaged.extend(skip(&file, is_thorough));
        damaged.extend(rename(&file, is_thorough));
        damaged.extend(share_ids(&file, &whole));
        damaged.extend(drop_results(&file, &whole));
        for (way, text) in damaged {
            let copy = scratch.path().join(&name);
            std::fs::write(&copy, text).unwrap();
            let Ok(loaded) = load_path(&copy, &ReadOptions::default()) else { continue };
            // A call whose record is its own result is gone with it, without a trace.
            let calls = |runs: &[Trajectory]| runs.iter().map(|run| run.calls.len()).sum::<usize>();
            if way == "drop results" && calls(&loaded.runs) < calls(&whole) {
                continue;
            }
            ask_all(&way, &whole, &loaded.runs);
        }
    }
    let Comparison { compared, mut green } = comparison;
    green.dedup();
    assert!(compared > 40_000, "only {compared} verdicts were compared");
    assert!(green.is_empty(), "{} turn green:\n{}", green.len(), green.join("\n"));
}
