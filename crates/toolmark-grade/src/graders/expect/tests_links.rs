//! Tests of classes, typed arguments, and of what calls have to do with each other.

use crate::testing::OWN;
use serde_json::{Value, json};
use toolmark_outcome::testing::vally;
use toolmark_outcome::{Outcome, Profile, Verdict};

const PASS: Option<bool> = Some(true);
const FAIL: Option<bool> = Some(false);
const OPEN: Option<bool> = None;

/// Builds a run with one call per step, each as `[tool, arguments, result]`. A tool that starts
/// with `!` failed.
fn run(calls: &Value) -> String {
    let mut events = vec![("user_message", json!({"content": "go"}))];
    for (turn, call) in calls.as_array().unwrap().iter().enumerate() {
        let (turn, id) = (format!("t{turn}"), format!("c{turn}"));
        let name = call[0].as_str().unwrap();
        let tool = name.trim_start_matches('!');
        let args = call.get(1).cloned().unwrap_or_else(|| json!({}));
        let result = call.get(2).cloned().unwrap_or_else(|| json!("done"));
        events.push(("turn_start", json!({"turnId": turn})));
        events.push(("tool_call", json!({"toolName": tool, "toolCallId": id, "arguments": args})));
        events.push((
            "tool_result",
            json!({"toolCallId": id, "success": !name.starts_with('!'), "result": result}),
        ));
        events.push(("turn_end", json!({"turnId": turn})));
    }
    vally(&events)
}

fn expect(config: &Value, calls: &Value) -> Outcome {
    OWN.grade("expect", config.clone(), &run(calls))
}

fn table(rows: &[(Value, Value, Option<bool>)]) {
    for (config, calls, want) in rows {
        let outcome = expect(config, calls);
        let got = match outcome.verdict {
            Verdict::Pass => PASS,
            Verdict::Fail => FAIL,
            Verdict::Unknown(_) => OPEN,
        };
        assert_eq!(got, *want, "{config} {calls} {}", outcome.reason.raw());
    }
}

#[test]
fn classes_mean_the_same_for_every_host() {
    let sequence = json!([
        {"tool": "class:read", "path": "/a\\.rs$/"},
        {"tool": "class:edit", "path": "src/a.rs"},
        {"tool": "class:shell", "args": {"command": "/cargo test/"}},
    ]);
    let hosts = [
        json!([["Read", {"file_path": "src/a.rs"}], ["Edit", {"file_path": "src/a.rs", "old_string": "a", "new_string": "b"}], ["Bash", {"command": "cargo test -q"}]]),
        json!([["read_file", {"file_path": "src/a.rs"}], ["apply_patch", {"input": "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-a\n+b\n*** End Patch"}], ["exec_command", {"cmd": "cargo test"}]]),
        json!([["read_file", {"absolute_path": "src/a.rs"}], ["replace", {"file_path": "src/a.rs"}], ["run_shell_command", {"command": "cargo test"}]]),
        json!([["read", {"filePath": "src/a.rs"}], ["edit", {"filePath": "src/a.rs"}], ["bash", {"command": "cargo test"}]]),
        json!([["readToolCall", {"path": "src/a.rs"}], ["editToolCall", {"path": "src/a.rs"}], ["shellToolCall", {"command": "cargo test"}]]),
    ];
    for calls in &hosts {
        table(&[
            (sequence.clone(), calls.clone(), PASS),
            (json!({"forbidden": ["class:shell"]}), calls.clone(), FAIL),
            (json!({"forbidden": ["class:web"]}), calls.clone(), PASS),
            (json!({"only": ["class:read", "class:edit", "class:shell"]}), calls.clone(), PASS),
            (json!({"only": ["class:read", "class:edit"]}), calls.clone(), FAIL),
            (
                json!({"forbidden": [{"tool": "class:edit", "path": {"not": "/^src\\//"}}]}),
                calls.clone(),
                PASS,
            ),
            (
                json!({"forbidden": [{"tool": "class:edit", "path": "/^src\\//"}]}),
                calls.clone(),
                FAIL,
            ),
            (json!({"forbidden": [{"command": "/cargo test/"}]}), calls.clone(), FAIL),
        ]);
    }
    // A tool of that name is not the class, and a tool that no toolset describes may be of it.
    table(&[
        (json!({"forbidden": ["shell"]}), hosts[0].clone(), PASS),
        (json!({"forbidden": ["class:shell"]}), json!([["run_it", {"command": "ls"}]]), OPEN),
        (json!({"forbidden": ["class:shell"]}), json!([["add", {"a": 1}]]), PASS),
    ]);
}

#[test]
fn names_that_look_alike_are_not_passed() {
    for name in ["bash", "BASH", "Ba\u{200b}sh", "Bаsh"] {
        let outcome = expect(&json!({"forbidden": ["Bash"]}), &json!([[name, {"command": "ls"}]]));
        assert!(matches!(outcome.verdict, Verdict::Unknown(_)), "{name}");
        assert!(outcome.notes[0].raw().contains("did you mean"), "{:?}", outcome.notes);
    }
    let outcome =
        expect(&json!({"forbidden": ["Bash"]}), &json!([["exec_command", {"cmd": "ls"}]]));
    assert_eq!(outcome.verdict, Verdict::Pass);
    assert!(outcome.notes[0].raw().contains("`exec_command`"), "{:?}", outcome.notes);
    assert!(outcome.notes[0].raw().contains("`class:shell`"), "{:?}", outcome.notes);
}

#[test]
fn order_of_other_calls() {
    let test = |more: Value| {
        let mut call = json!({"tool": "class:shell", "command": "/test/"});
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"calls": [call]})
    };
    let edit = || json!(["Edit", {"file_path": "/a"}]);
    let check = || json!(["Bash", {"command": "npm test"}]);
    let last = test(json!({"after_last": "class:edit"}));
    let after = test(json!({"after": "class:edit"}));
    let not_after = test(json!({"not_after": "class:edit"}));
    let before = test(json!({"before": {"one_of": ["class:edit", "Deploy"]}}));
    let not_before = test(json!({"not_before": "class:edit"}));
    table(&[
        (last.clone(), json!([edit(), check()]), PASS),
        (last.clone(), json!([edit(), check(), edit()]), FAIL),
        (last.clone(), json!([edit(), check(), edit(), check()]), PASS),
        (last.clone(), json!([check()]), PASS),
        (last, json!([edit(), check(), ["!Edit", {"file_path": "/a"}]]), PASS),
        (after.clone(), json!([check(), edit()]), FAIL),
        (after, json!([edit(), check()]), PASS),
        (not_after.clone(), json!([check(), edit()]), PASS),
        (not_after, json!([edit(), check()]), FAIL),
        (before.clone(), json!([check(), edit()]), PASS),
        (before, json!([edit(), check()]), FAIL),
        (not_before.clone(), json!([edit(), check()]), PASS),
        (not_before, json!([check(), edit()]), FAIL),
    ]);
    let never = |key: &str| json!({"never": [{"call": "Edit", key: "Bash"}]});
    table(&[
        (never("before"), json!([edit(), check()]), FAIL),
        (never("before"), json!([check(), edit()]), PASS),
        (never("after"), json!([check(), edit()]), FAIL),
        (never("after"), json!([edit(), check()]), PASS),
        (
            json!({"forbidden": [{"tool": "Deploy", "not_after": {"tool": "Bash", "exit_code": 0}}]}),
            json!([["!Bash", {"command": "npm test"}, "Exit code 1"], ["Deploy"]]),
            FAIL,
        ),
        (
            json!({"forbidden": [{"tool": "Deploy", "not_after": {"tool": "Bash", "exit_code": 0}}]}),
            json!([check(), ["Deploy"]]),
            PASS,
        ),
    ]);
}

#[test]
fn values_go_from_call_to_call() {
    let same = json!([
        {"tool": "Read", "bind": {"file": "args.file_path"}},
        {"tool": "Edit", "args": {"file_path": "$file"}},
    ]);
    let read = |file: &str| json!(["Read", {"file_path": file}]);
    let edit = |file: &str| json!(["Edit", {"file_path": file}]);
    table(&[
        (same.clone(), json!([read("/a"), edit("/a")]), PASS),
        (same.clone(), json!([read("/a"), edit("/b")]), FAIL),
        (same.clone(), json!([read("/a"), read("/b"), edit("/b")]), PASS),
        (same, json!([edit("/b"), read("/b")]), FAIL),
    ]);
    let unread = json!({"forbidden": [
        {"tool": "class:edit", "bind": {"f": "path"}, "not_after": {"tool": "class:read", "path": "$f"}},
    ]});
    let never = json!({"never": [
        {"call": {"tool": "class:edit", "bind": {"f": "path"}}, "before": {"tool": "class:read", "path": "$f"}},
    ]});
    for rule in [unread, never] {
        table(&[
            (rule.clone(), json!([read("/a"), edit("/a"), read("/b"), edit("/b")]), PASS),
            (rule.clone(), json!([read("/a"), edit("/a"), edit("/b")]), FAIL),
            (rule.clone(), json!([edit("/a"), read("/a")]), FAIL),
            (
                rule,
                json!([["read_file", {"file_path": "a"}], ["apply_patch", {"input": "*** Begin Patch\n*** Update File: a\n@@\n-a\n+b\n*** Update File: b\n@@\n-a\n+b\n*** End Patch"}]]),
                FAIL,
            ),
        ]);
    }
    let pay = json!([
        {"tool": "order", "bind": {"id": "result.id"}},
        {"tool": "pay", "args": {"order": "$id"}},
    ]);
    let created = |id: u32| json!(["order", {}, {"id": id}]);
    table(&[
        (pay.clone(), json!([created(7), ["pay", {"order": 7}]]), PASS),
        (pay.clone(), json!([created(7), ["pay", {"order": 8}]]), FAIL),
        (pay, json!([created(7), created(8), ["pay", {"order": 8}]]), PASS),
    ]);
    let text = json!([
        {"tool": "order", "bind": {"id": {"result": "/created (\\w+)/"}}},
        {"tool": "pay", "args": {"order": "$id"}},
    ]);
    table(&[
        (text.clone(), json!([["order", {}, "created A7."], ["pay", {"order": "A7"}]]), PASS),
        (text, json!([["order", {}, "created A7."], ["pay", {"order": "A8"}]]), FAIL),
    ]);
    let flow = json!({"calls": [{"tool": "book", "from": {"flight": "search"}}]});
    let search = || json!(["search", {}, "flights: LH12, LH340"]);
    table(&[
        (flow.clone(), json!([search(), ["book", {"flight": "LH340"}]]), PASS),
        (flow.clone(), json!([search(), ["book", {"flight": "LH34"}]]), FAIL),
        (flow.clone(), json!([["book", {"flight": "LH12"}], search()]), FAIL),
        (flow, json!([search(), ["book", {}]]), FAIL),
    ]);
    let back = json!({"forbidden_sequences": [[
        {"tool": "write", "bind": {"f": "args.path"}}, {"tool": "delete", "args": {"path": "$f"}},
    ]]});
    table(&[
        (back.clone(), json!([["write", {"path": "a"}], ["delete", {"path": "b"}]]), PASS),
        (
            back,
            json!([["write", {"path": "a"}], ["write", {"path": "b"}], ["delete", {"path": "b"}]]),
            FAIL,
        ),
    ]);
}

#[test]
fn results_have_a_meaning() {
    let kind = |kind: Value| json!({"calls": [{"tool": "class:shell", "result_kind": kind}]});
    let call = |name: &str, text: &str| json!([[name, {"command": "cat a.txt"}, text]]);
    let missing = "cat: a.txt: No such file or directory";
    table(&[
        (kind(json!("passed")), call("Bash", "hello"), PASS),
        (
            json!({"forbidden": [{"tool": "Bash", "result_kind": ["not-found", "failed"]}]}),
            call("!Bash", missing),
            FAIL,
        ),
        (
            json!({"forbidden": [{"tool": "Bash", "result_kind": "not-found"}]}),
            call("Bash", "hello"),
            PASS,
        ),
        (
            json!({"calls": [{"tool": "Bash", "result": {"contains": "hello"}}]}),
            call("Bash", "hello"),
            PASS,
        ),
        (json!({"calls": [{"tool": "Bash", "result": "/^hel/"}]}), call("Bash", "hello"), PASS),
        (
            json!({"calls": [{"tool": "Bash", "result": {"contains": "bye"}}]}),
            call("Bash", "hello"),
            FAIL,
        ),
    ]);
}

#[test]
fn alternatives_stand_where_calls_stand() {
    let either = || json!({"one_of": ["a", {"tool": "b", "args": {"x": 1}}]});
    table(&[
        (json!({"forbidden": [either()]}), json!([["b", {"x": 1}]]), FAIL),
        (json!({"forbidden": [either()]}), json!([["b", {"x": 2}]]), PASS),
        (json!({"calls": [either(), either()]}), json!([["a"], ["b", {"x": 1}]]), PASS),
        (json!({"calls": [either(), either()]}), json!([["a"], ["b", {"x": 2}]]), FAIL),
        (json!({"calls": [either()]}), json!([["!a"]]), FAIL),
        (json!([{"any_order": [either(), "c"]}]), json!([["c"], ["a"]]), PASS),
        (json!({"never": [{"call": either(), "before": "c"}]}), json!([["a"], ["c"]]), FAIL),
        (json!({"forbidden_sequences": [[either(), "c"]]}), json!([["a"], ["c"]]), FAIL),
    ]);
}

#[test]
fn mistakes_are_named() {
    for (config, code) in [
        (json!({"forbidden": ["class:shel"]}), "unknown-class"),
        (
            json!({"forbidden": [{"tool": "a", "args": {"x": "$f"}}], "calls": [{"tool": "b", "bind": {"f": "args.x"}}]}),
            "unbound-value",
        ),
        (json!({"calls": [{"tool": "b", "bind": {"f": "argz.x"}}]}), "invalid-value"),
        (json!({"calls": [{"one_of": ["a"], "args": {"x": 1}}]}), "invalid-element"),
        (json!({"calls": [{"count": 2}]}), "missing-key"),
        (json!({"never": [{"call": "a"}]}), "invalid-element"),
        (
            json!({"calls": [{"tool": "class:shell", "args": {"command": "ls"}, "args_match": "exact"}]}),
            "invalid-comparison",
        ),
        (json!({"calls": [{"tool": "a", "result_kind": "fine"}]}), "invalid-value"),
        (json!([]), "empty-list"),
    ] {
        let problems = OWN.build("expect", Profile::Toolmark, &config).err().unwrap_or_default();
        assert!(problems.iter().any(|problem| problem.code == code), "{config}: {problems:?}");
    }
}
