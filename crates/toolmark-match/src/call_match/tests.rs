//! Table-driven tests of patterns and calls.

use super::config::CallConfig;
use super::{Agents, CallPattern, CallTable, Parallel, Prefixes, Truth, fits};
use crate::Building;
use serde_json::{Value, json};
use std::path::Path;
use toolmark_config::{Node, NodeSpan, Problem, read};
use toolmark_outcome::Profile;
use toolmark_outcome::TrajectoryView;
use toolmark_outcome::testing::{runs, vally};
use toolmark_trace::{Fact, Fidelity, Trajectory};

fn pattern(config: Value) -> CallPattern {
    let node = Node::from_json(&config).unwrap();
    let mut problems: Vec<Problem> = Vec::new();
    let call: CallConfig = read(&node, &mut problems).unwrap_or_else(|| panic!("{problems:?}"));
    let mut building = Building {
        config: &node,
        profile: Profile::Toolmark,
        contrast: None,
        directory: Path::new("."),
        schemas: crate::call_match::compile_schema,
        problems: &mut problems,
    };
    let pattern = call.0.call(&call.0.tool).compile(NodeSpan::default(), &mut building);
    pattern.unwrap_or_else(|| panic!("{problems:?}"))
}

/// Builds a run with one call of `a` with these arguments and this result, in the second of three
/// steps.
fn run(args: Value, result: Value) -> Trajectory {
    let call = |id: &str, tool: &str, args: &Value| {
        ("tool_call", json!({"toolName": tool, "toolCallId": id, "arguments": args}))
    };
    let answer = |id: &str, result: &Value| {
        ("tool_result", json!({"toolCallId": id, "success": true, "result": result}))
    };
    let step =
        |id: &str| [("turn_start", json!({"turnId": id})), ("turn_end", json!({"turnId": id}))];
    let mut events = Vec::new();
    for (id, tool, args, result) in [
        ("1", "x", &json!({}), &json!("")),
        ("2", "a", &args, &result),
        ("3", "y", &json!({}), &json!("")),
    ] {
        let [start, end] = step(id);
        events.extend([start, call(id, tool, args), answer(id, result), end]);
    }
    runs(&vally(&events)).remove(0)
}

fn lay(config: Value, run: &Trajectory) -> Truth {
    let pattern = pattern(config);
    let view = TrajectoryView::whole(run);
    let table = CallTable::of(&view, Agents::Main, Parallel::Free);
    let truth = pattern.fits(&table, 1);
    // The table over many calls says the same.
    let found = fits(&[&pattern], &table, Prefixes::MayBeLeftOut).unwrap();
    let is_named = table.names().fitting(pattern.name(), Prefixes::MayBeLeftOut).yes.contains(&1);
    assert_eq!(found.sure[0].get(1), is_named && truth == Truth::Yes);
    assert_eq!(found.possible(0).get(1), is_named && truth != Truth::No);
    // And the differences are there exactly where the answer is no.
    assert_eq!(pattern.differences(&table, 1).is_empty(), truth != Truth::No);
    truth
}

#[test]
fn conditions_on_arguments() {
    let args = json!({"city": "Paris", "n": 3, "deep": {"list": [{"id": "x1"}, 2]}, "a.b": true,
        "f": 2.0, "none": null, "tags": ["p", 1]});
    let made = run(args, json!("ok"));
    for (place, condition, holds) in [
        ("city", json!("Paris"), true),
        ("city", json!("paris"), false),
        ("city", json!({"equals": "Paris"}), true),
        ("city", json!({"not": "Paris"}), false),
        ("city", json!({"not": {"regex": "^L"}}), true),
        ("city", json!({"regex": "ri"}), true),
        ("city", json!({"regex": "^ri"}), false),
        ("n", json!({"regex": "^3$"}), true),
        ("city", json!({"one_of": ["London", "Paris"]}), true),
        ("n", json!({"one_of": [1, 3.0]}), true),
        ("n", json!({"one_of": ["3"]}), false),
        ("n", json!({"range": {"min": 1, "max": 3}}), true),
        ("n", json!({"range": {"min": 3.5}}), false),
        ("city", json!({"range": {"min": 0}}), false),
        ("n", json!({"type": "integer"}), true),
        ("f", json!({"type": "integer"}), true),
        ("f", json!({"type": "number"}), true),
        ("n", json!({"type": "string"}), false),
        ("none", json!({"type": "null"}), true),
        ("none", json!({"equals": null}), true),
        ("none", json!({"present": true}), true),
        ("gone", json!({"equals": null}), false),
        ("gone", json!({"absent": true}), true),
        ("gone", json!({"present": false}), true),
        ("gone", json!({"not": true}), true),
        ("gone", json!({"regex": ""}), false),
        ("city", json!({"absent": true}), false),
        ("deep.list[0].id", json!({"regex": "^x"}), true),
        ("deep.list[5].id", json!({"present": true}), false),
        ("\"a.b\"", json!(true), true),
        ("\"a.b\"", json!(1), false),
        ("city", json!({"contains": "ar"}), true),
        ("tags", json!({"contains": "p"}), true),
        ("tags", json!({"contains": 1.0}), true),
        ("tags", json!({"contains": "q"}), false),
        ("tags", json!(["p", 1]), true),
        ("deep", json!({"schema": {"type": "object", "required": ["list"]}}), true),
        ("deep", json!({"schema": {"type": "object", "required": ["other"]}}), false),
        (
            "deep.list",
            json!({"schema": {"$defs": {"e": {"type": ["object", "number"]}}, "items": {"$ref": "#/$defs/e"}}}),
            true,
        ),
        ("city", json!({"regex": "P", "not": "Paris"}), false),
    ] {
        let config = json!({"tool": "a", "where": {place: condition}});
        assert_eq!(lay(config.clone(), &made), Truth::of(holds), "{config}");
    }
}

#[test]
fn results_statuses_durations_and_positions() {
    let made = run(json!({}), json!({"ok": true, "rows": [1, 2]}));
    for (config, holds) in [
        (json!({"result": "rows"}), true),
        (json!({"result": "^rows"}), false),
        (json!({"result": {"where": {"rows[1]": 2}}}), true),
        (json!({"result": {"where": {"rows[1]": 3}}}), false),
        (json!({"result": {"regex": "ok", "where": {"ok": {"not": false}}}}), true),
        (json!({"status": "succeeded"}), true),
        (json!({"status": "failed"}), false),
        (json!({"status": ["failed", "succeeded"]}), true),
        (json!({"status": "any"}), true),
        (json!({"duration": {"max": "1s"}}), true),
        (json!({"duration": {"max": "999ms"}}), false),
        (json!({"at_step": 1}), true),
        (json!({"at_step": 0}), false),
        (json!({"before_step": 2}), true),
        (json!({"before_step": 1}), false),
        (json!({"first": true}), false),
        (json!({"last": true}), false),
    ] {
        let mut config = config;
        config["tool"] = json!("a");
        assert_eq!(lay(config.clone(), &made), Truth::of(holds), "{config}");
    }
}

#[test]
fn what_is_not_recorded_is_unknown() {
    let mut made = run(json!({"x": 1}), json!("ok"));
    made.fidelity = Fidelity::lacking(&[
        Fact::Arguments,
        Fact::Results,
        Fact::Status,
        Fact::Durations,
        Fact::Steps,
    ]);
    for call in &mut made.calls {
        call.args = None;
        call.result = None;
        call.duration = None;
        call.step = None;
        call.status = toolmark_trace::Status::Unanswered;
    }
    for config in [
        json!({"args": {"x": 1}}),
        json!({"where": {"x": 1}}),
        json!({"where": {"x": {"absent": true}}}),
        json!({"result": "ok"}),
        json!({"status": "succeeded"}),
        json!({"duration": {"max": "1s"}}),
        json!({"at_step": 1}),
        json!({"before_step": 1}),
    ] {
        let mut config = config;
        config["tool"] = json!("a");
        assert!(matches!(lay(config.clone(), &made), Truth::Unknown(_)), "{config}");
    }
    // The tool is known, and so is the position in the list.
    assert_eq!(lay(json!("a"), &made), Truth::Yes);
    assert_eq!(lay(json!({"tool": "a", "first": true}), &made), Truth::No);
    let view = TrajectoryView::whole(&made);
    let table = CallTable::of(&view, Agents::Main, Parallel::Free);
    assert_eq!(table.undone().count(), 0, "without results nobody knows what was not answered");
}

#[test]
fn arguments_that_are_no_object() {
    let mut made = run(json!({}), json!("ok"));
    made.calls[1].args = Some(toolmark_trace::Payload::value(&json!("*** patch")));
    assert_eq!(lay(json!({"tool": "a", "args": {"x": 1}}), &made), Truth::No);
    assert_eq!(lay(json!({"tool": "a", "where": {"x": {"absent": true}}}), &made), Truth::Yes);
    assert_eq!(lay(json!({"tool": "a", "args": "*** patch"}), &made), Truth::Yes);
    made.calls[1].args = None;
    assert_eq!(lay(json!({"tool": "a", "args": {}, "args_match": "exact"}), &made), Truth::Yes);
    assert_eq!(lay(json!({"tool": "a", "args": {"x": 1}}), &made), Truth::No);
}

#[test]
fn sub_agents_stand_behind_the_call_that_started_them() {
    let call =
        |id: &str, tool: &str| json!({"type": "tool_use", "id": id, "name": tool, "input": {}});
    let line = |uuid: &str, side: bool, parent: Option<&str>, content: Value, role: &str| {
        json!({"type": role, "uuid": uuid, "isSidechain": side, "parentUuid": parent,
            "sessionId": "s", "timestamp": "2026-01-01T00:00:00Z",
            "message": {"id": uuid, "role": role, "content": content}})
        .to_string()
    };
    let result = |id: &str| json!([{"type": "tool_result", "tool_use_id": id, "content": "ok"}]);
    let trace = [
        line("1", false, None, json!("go"), "user"),
        line("2", false, Some("1"), json!([call("c1", "Task")]), "assistant"),
        line("3", false, Some("2"), result("c1"), "user"),
        line("4", false, Some("3"), json!([call("c2", "Read")]), "assistant"),
        line("5", false, Some("4"), result("c2"), "user"),
    ];
    let mut main = runs(&trace.join("\n")).remove(0);
    let child = [
        line("a", false, None, json!("sub"), "user"),
        line("b", false, Some("a"), json!([call("d1", "Grep")]), "assistant"),
        line("c", false, Some("b"), result("d1"), "user"),
    ];
    let mut child = runs(&child.join("\n")).remove(0);
    child.parent = Some(toolmark_trace::Parent { trajectory: None, call: Some("c1".into()) });
    main.children.push(child.clone());
    child.parent = None;
    main.children.push(child);
    let view = TrajectoryView::whole(&main);
    let names = |table: &CallTable<'_>| -> Vec<String> {
        table.calls().iter().map(|made| table.names().get(made.name).into_owned()).collect()
    };
    let own = CallTable::of(&view, Agents::Main, Parallel::Free);
    assert_eq!((names(&own), own.left_out()), (vec!["Task".into(), "Read".into()], 2));
    let all = CallTable::of(&view, Agents::All, Parallel::Free);
    assert_eq!(names(&all), ["Task", "Grep", "Read", "Grep"]);
    assert_eq!(all.left_out(), 0);
    assert_eq!(all.title(1), "call 1 `Grep` of sub-agent 1");
}

#[test]
fn words() {
    for (config, words) in [
        (json!("a"), "`a`"),
        (json!({"tool": "a", "args": {"x": 1, "y": "p"}}), "`a` with x = 1 and y = \"p\""),
        (json!({"tool": "/a/", "where": {"x": {"range": {"min": 1}}}}), "`/a/` with x at least 1"),
        (
            json!({"tool": "a", "status": "failed", "result": "no"}),
            "`a` and a result matching /no/ that failed",
        ),
        (
            json!({"tool": "a", "duration": {"max": "2s"}, "last": true}),
            "`a` within 2000 ms after all other calls",
        ),
        (json!({"tool": "a", "args": {"x": 1}, "args_match": "ignore"}), "`a`"),
    ] {
        assert_eq!(pattern(config).to_string(), words);
    }
}

#[test]
fn the_same_question() {
    let same = |a: Value, b: Value| pattern(a).is(&pattern(b));
    assert!(same(json!("a"), json!({"name": "a"})));
    assert!(same(
        json!({"tool": "a", "args": {"x": 1, "y": 2}}),
        json!({"tool": "a", "args": {"y": 2.0, "x": 1}})
    ));
    assert!(!same(json!("a"), json!("b")));
    assert!(!same(json!("a*"), json!("/a*/")));
    assert!(!same(json!("a"), json!({"tool": "a", "status": "failed"})));
    assert!(!same(json!("a"), json!({"tool": "a", "args": {"x": 1}})));
    assert!(same(
        json!({"tool": "a", "where": {"x": {"regex": "y"}}}),
        json!({"tool": "a", "where": {"x": {"regex": "y"}}})
    ));
    assert!(!same(
        json!({"tool": "a", "where": {"x": {"regex": "y"}}}),
        json!({"tool": "a", "where": {"x": "y"}})
    ));
}
