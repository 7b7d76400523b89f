//! Table-driven tests of the grader.

use crate::testing::OWN;
use serde_json::{Value, json};
use toolmark_outcome::Profile;
use toolmark_outcome::RowState;
use toolmark_outcome::testing::vally;
use toolmark_outcome::{Cause, Outcome, Verdict};

const PASS: Verdict = Verdict::Pass;
const FAIL: Verdict = Verdict::Fail;
const OPEN: Verdict = Verdict::Unknown(Cause::MissingEvidence);

/// Builds a run: steps, each a list of calls, each the name of a tool, or
/// `(tool, arguments)`. A name that starts with `!` is a failed call, with `-` an
/// unanswered call.
fn run(steps: &Value) -> String {
    let mut events = vec![("user_message", json!({"content": "go"}))];
    let mut number = 0;
    for (turn, step) in steps.as_array().unwrap().iter().enumerate() {
        let turn = format!("t{turn}");
        events.push(("turn_start", json!({"turnId": turn})));
        let mut results = Vec::new();
        for call in step.as_array().unwrap() {
            let (name, args) = match call {
                Value::String(name) => (name.as_str(), json!({})),
                pair => (pair[0].as_str().unwrap(), pair[1].clone()),
            };
            let tool = name.trim_start_matches(['!', '-']);
            let id = format!("c{number}");
            number += 1;
            let call = json!({"toolName": tool, "toolCallId": id, "arguments": args});
            events.push(("tool_call", call));
            if !name.starts_with('-') {
                let result = json!({"toolCallId": id, "success": !name.starts_with('!'),
                    "result": format!("did {tool}")});
                results.push(("tool_result", result));
            }
        }
        events.extend(results);
        events.push(("turn_end", json!({"turnId": turn})));
    }
    vally(&events)
}

/// Builds a run with one call per step.
fn one_by_one(calls: &Value) -> String {
    let steps: Vec<Value> = calls.as_array().unwrap().iter().map(|call| json!([call])).collect();
    run(&json!(steps))
}

fn expect(config: Value, trace: &str) -> Outcome {
    OWN.grade("expect", config, trace)
}

fn table(rows: &[(Value, Value, Verdict, f64)]) {
    for (n, (config, calls, verdict, score)) in rows.iter().enumerate() {
        let outcome = expect(config.clone(), &one_by_one(calls));
        let got = (outcome.verdict, outcome.score);
        assert_eq!(
            got,
            (*verdict, Some(*score)),
            "row {n}: {config} {calls} {}",
            outcome.reason.raw()
        );
    }
}

#[test]
fn the_same_input_read_honestly() {
    let seq = |calls: Value| json!({"sequence": calls});
    let exact = |calls: Value| json!({"sequence": calls, "extras": "forbid"});
    let any = |calls: Value| json!({"calls": calls});
    let none = || json!({"none": true});
    let args = |value: Value| json!({"calls": [{"tool": "a", "args": {"x": value}}]});
    let third = 1.0 / 3.0;
    table(&[
        // Extra calls are not exact, and each is one more thing wrong.
        (exact(json!(["a", "b"])), json!(["a", "b", "x"]), FAIL, 2.0 * third),
        (exact(json!(["a", "b"])), json!(["a", "b"]), PASS, 1.0),
        (seq(json!(["a", "b"])), json!(["a", "b", "x"]), PASS, 1.0),
        // Nothing expected is a thing one can say.
        (none(), json!(["a"]), FAIL, 0.0),
        (none(), json!(["!a"]), FAIL, 0.0),
        (none(), json!([]), PASS, 1.0),
        // Repeated calls are calls of their own.
        (any(json!(["a", "a"])), json!(["a", "a"]), PASS, 1.0),
        (any(json!(["a", "a"])), json!(["a"]), FAIL, 0.5),
        (seq(json!(["a", "a"])), json!(["a"]), FAIL, 0.5),
        (any(json!([{"tool": "a", "count": 2}])), json!(["a"]), FAIL, 0.5),
        // What comes after a missing call still counts.
        (seq(json!(["a", "b", "c"])), json!(["b", "c"]), FAIL, 2.0 * third),
        (seq(json!(["a", "b", "c"])), json!(["c", "b", "a"]), FAIL, third),
        // Numbers are numbers.
        (args(json!(1)), json!([["a", {"x": 1.0}]]), PASS, 1.0),
        (args(json!(1)), json!([["a", {"x": "1"}]]), FAIL, 0.0),
        (args(json!(1)), json!([["a", {"x": true}]]), FAIL, 0.0),
        (args(json!({"p": 1, "q": 2})), json!([["a", {"x": {"q": 2, "p": 1}}]]), PASS, 1.0),
        // One key more than expected.
        (args(json!(1)), json!([["a", {"x": 1, "y": 2}]]), PASS, 1.0),
        (
            json!({"calls": [{"tool": "a", "args": {"x": 1}, "args_match": "exact"}]}),
            json!([["a", {"x": 1, "y": 2}]]),
            FAIL,
            0.0,
        ),
    ]);
}

#[test]
fn an_open_expectation_does_not_steal_a_call() {
    let specific = json!({"tool": "a", "args": {"x": 1}});
    table(&[
        (json!({"calls": ["a", specific]}), json!([["a", {"x": 1}], "a"]), PASS, 1.0),
        (
            json!({"sequence": ["a", specific]}),
            json!([["a", {"x": 2}], ["a", {"x": 1}]]),
            PASS,
            1.0,
        ),
        // The first call with the wrong arguments is not used up.
        (
            json!({"sequence": [specific, "b"]}),
            json!([["a", {"x": 2}], ["a", {"x": 1}], "b"]),
            PASS,
            1.0,
        ),
        (json!({"calls": ["a", specific]}), json!([["a", {"x": 1}]]), FAIL, 0.5),
    ]);
}

#[test]
fn parts_of_a_sequence() {
    let groups = json!({"sequence": ["a", {"any_order": ["b", "c"]}, "d"]});
    let ways = json!({"sequence": ["a", {"one_of": ["b", ["c", "d"]]}, "e"]});
    let may = json!({"sequence": ["a", {"tool": "b", "optional": true}, "c"]});
    let twice = json!({"sequence": ["a", {"tool": "b", "count": 2}, "c"]});
    let least = json!({"sequence": [{"tool": "a", "count": {"min": 2}}, "b"], "extras": "forbid"});
    let whole = json!({"sequence": [{"any_order": ["a", "b"], "optional": true}, "c"]});
    table(&[
        (groups.clone(), json!(["a", "b", "c", "d"]), PASS, 1.0),
        (groups.clone(), json!(["a", "c", "x", "b", "d"]), PASS, 1.0),
        (groups.clone(), json!(["a", "c", "d", "b"]), FAIL, 0.75),
        (groups, json!(["b", "a", "c", "d"]), FAIL, 0.75),
        (ways.clone(), json!(["a", "b", "e"]), PASS, 1.0),
        (ways.clone(), json!(["a", "c", "d", "e"]), PASS, 1.0),
        // Both ways lack one call; the one with more of it made is taken.
        (ways.clone(), json!(["a", "d", "c", "e"]), FAIL, 0.75),
        (ways, json!(["a", "e"]), FAIL, 2.0 / 3.0),
        (may.clone(), json!(["a", "b", "c"]), PASS, 1.0),
        (may.clone(), json!(["a", "c"]), PASS, 1.0),
        (may, json!(["a", "b"]), FAIL, 0.5),
        (twice.clone(), json!(["a", "b", "b", "c"]), PASS, 1.0),
        (twice, json!(["a", "b", "c", "b"]), FAIL, 0.75),
        (least.clone(), json!(["a", "a", "a", "b"]), PASS, 1.0),
        (least.clone(), json!(["a", "a", "b", "a"]), FAIL, 0.75),
        (least, json!(["a", "b"]), FAIL, 2.0 / 3.0),
        (whole.clone(), json!(["c"]), PASS, 1.0),
        (whole.clone(), json!(["b", "a", "c"]), PASS, 1.0),
        (whole, json!(["b", "c"]), PASS, 1.0),
    ]);
}

#[test]
fn calls_of_one_response_have_no_order() {
    let order = json!({"sequence": ["a", "b", "c"]});
    let strict = json!({"sequence": ["a", "b", "c"], "parallel": "in_order"});
    let mixed = run(&json!([["b", "a"], ["c"]]));
    let late = run(&json!([["c"], ["b", "a"]]));
    assert_eq!(expect(order.clone(), &mixed).verdict, PASS);
    assert_eq!(expect(strict, &mixed).verdict, FAIL);
    assert_eq!(expect(order, &late).verdict, FAIL);
    // A group goes over several responses, and shares one with its neighbours.
    let group = json!({"sequence": ["a", {"any_order": ["b", "c"]}, "d"]});
    assert_eq!(expect(group.clone(), &run(&json!([["d", "b", "a", "c"]]))).verdict, PASS);
    assert_eq!(expect(group.clone(), &run(&json!([["b", "a"], ["d", "c"]]))).verdict, PASS);
    assert_eq!(expect(group, &run(&json!([["b", "a", "d"], ["c"]]))).verdict, FAIL);
    // Side by side is not one after the other.
    let never = json!({"forbidden_sequences": [["a", "b"]]});
    assert_eq!(expect(never.clone(), &run(&json!([["a", "b"]]))).verdict, PASS);
    assert_eq!(expect(never, &run(&json!([["a"], ["b"]]))).verdict, FAIL);
}

#[test]
fn a_message_of_a_whole_run_is_in_order() {
    let row = |calls: &[&str]| {
        let calls: Vec<Value> =
            calls.iter().map(|tool| json!({"tool": tool, "input": {}, "output": "ok"})).collect();
        json!({"test_id": "t", "target": "x", "message_index": 0, "role": "assistant",
            "content": "", "tool_calls": calls})
        .to_string()
    };
    let config = json!({"sequence": ["a", "b"]});
    assert_eq!(expect(config.clone(), &row(&["a", "b"])).verdict, PASS);
    assert_eq!(expect(config, &row(&["b", "a"])).verdict, FAIL);
}

#[test]
fn what_must_not_be() {
    let forbidden =
        json!({"forbidden": ["rm", {"tool": "get_*", "where": {"id": {"type": "string"}}}]});
    let only = json!({"only": ["a", "get_*"]});
    let contiguous = json!({"forbidden_sequences": [{"calls": ["a", "b"], "contiguous": true}]});
    let gaps = json!({"forbidden_sequences": [["a", "b"]]});
    let never = json!({"never": [{"call": "delete", "before": "confirm"}]});
    let failed = json!({"forbidden": [{"tool": "a", "status": "failed"}]});
    table(&[
        (forbidden.clone(), json!(["a"]), PASS, 1.0),
        (forbidden.clone(), json!(["!rm"]), FAIL, 0.5),
        (forbidden.clone(), json!([["get_x", {"id": 1}]]), PASS, 1.0),
        (forbidden, json!([["get_x", {"id": "1"}], "rm"]), FAIL, 0.0),
        (only.clone(), json!(["a", "get_b"]), PASS, 1.0),
        (only.clone(), json!([]), PASS, 1.0),
        (only, json!(["a", "-b"]), FAIL, 0.0),
        (contiguous.clone(), json!(["a", "x", "b"]), PASS, 1.0),
        (contiguous, json!(["x", "a", "b"]), FAIL, 0.0),
        (gaps.clone(), json!(["a", "x", "b"]), FAIL, 0.0),
        (gaps, json!(["b", "a"]), PASS, 1.0),
        (never.clone(), json!(["confirm", "delete"]), PASS, 1.0),
        (never.clone(), json!(["delete", "confirm"]), FAIL, 0.0),
        (never.clone(), json!(["delete"]), FAIL, 0.0),
        (never.clone(), json!(["!confirm", "delete"]), FAIL, 0.0),
        (never.clone(), json!(["!delete", "confirm"]), FAIL, 0.0),
        (never, json!([]), PASS, 1.0),
        (failed.clone(), json!(["a"]), PASS, 1.0),
        (failed, json!(["!a"]), FAIL, 0.0),
        // The call that must come first is not before itself.
        (json!({"never": [{"call": "*", "before": "login"}]}), json!(["login", "a"]), PASS, 1.0),
        (json!({"never": [{"call": "*", "before": "login"}]}), json!(["a", "login"]), FAIL, 0.0),
    ]);
}

#[test]
fn counts_bound_all_calls_that_fit() {
    let range = json!({"calls": [{"tool": "a", "count": {"min": 1, "max": 2}}]});
    let most = json!({"calls": [{"tool": "a", "count": {"max": 1}}]});
    table(&[
        (range.clone(), json!([]), FAIL, 0.5),
        (range.clone(), json!(["a", "a"]), PASS, 1.0),
        (range, json!(["a", "a", "a"]), FAIL, 0.5),
        (most.clone(), json!([]), PASS, 1.0),
        (most, json!(["a", "a"]), FAIL, 0.0),
    ]);
}

#[test]
fn failed_is_not_done() {
    let plain = json!({"sequence": ["a", "b"]});
    let counts = json!({"sequence": ["a", "b"], "failed_calls": "count"});
    let retry = json!({"sequence": [{"tool": "a", "status": "failed"}, {"tool": "a", "status": "succeeded"}]});
    let exact = json!({"sequence": ["a", "b"], "extras": "forbid"});
    table(&[
        (plain.clone(), json!(["!a", "b"]), FAIL, 0.5),
        (plain.clone(), json!(["-a", "b"]), FAIL, 0.5),
        (plain, json!(["!a", "a", "b"]), PASS, 1.0),
        (counts, json!(["!a", "-b"]), PASS, 1.0),
        (retry.clone(), json!(["!a", "a"]), PASS, 1.0),
        (retry, json!(["a", "!a"]), FAIL, 0.5),
        (
            json!({"sequence": ["a"], "extras": "forbid", "failed_calls": "count"}),
            json!(["!a", "a"]),
            FAIL,
            0.5,
        ),
        // A failed attempt at an expected call is not an extra call; others are.
        (exact.clone(), json!(["!a", "a", "b"]), PASS, 1.0),
        (exact, json!(["a", "!x", "b"]), FAIL, 2.0 / 3.0),
    ]);
    let outcome = expect(json!({"calls": ["a"]}), &one_by_one(&json!(["!a"])));
    let explanation = outcome.explanation.unwrap();
    assert_eq!(explanation.rows[0].state, RowState::Mismatched);
    assert_eq!(
        explanation.repair,
        ["change status of call 1 `a` from failed to one that counts as done"]
    );
}

#[test]
fn what_the_trace_does_not_record_is_unknown() {
    // Hooks keep no times; this trace of chat messages says nothing of failure.
    let chat = [
        json!({"role": "user", "content": "go"}),
        json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "a", "arguments": "{\"x\": 1}"}}]}),
        json!({"role": "tool", "tool_call_id": "1", "content": "ok"}),
    ];
    let chat = json!({"messages": chat}).to_string();
    for (config, verdict) in [
        (json!({"calls": ["a"]}), PASS),
        (json!({"calls": [{"tool": "a", "status": "succeeded"}]}), OPEN),
        (json!({"forbidden": [{"tool": "a", "status": "failed"}]}), OPEN),
        (json!({"calls": [{"tool": "a", "duration": {"max": "1s"}}]}), OPEN),
        // A definite no decides.
        (json!({"calls": [{"tool": "a", "status": "succeeded", "args": {"x": 2}}]}), FAIL),
        (json!({"calls": [{"tool": "a", "status": "succeeded"}, "b"]}), FAIL),
        (json!({"calls": [{"tool": "a", "status": ["succeeded", "unknown"]}]}), PASS),
        (json!({"calls": ["a", {"tool": "a", "status": "failed", "count": {"max": 1}}]}), PASS),
    ] {
        let outcome = expect(config.clone(), &chat);
        assert_eq!(outcome.verdict, verdict, "{config} {}", outcome.reason.raw());
        assert_eq!(outcome.score.is_none(), verdict == OPEN, "{config}");
    }
    let outcome = expect(json!({"calls": [{"tool": "a", "status": "succeeded"}]}), &chat);
    assert_eq!(
        outcome.reason,
        "cannot be told whether call 1 `a` is `a` that succeeded: \
         the trace does not say whether the call failed"
    );
    assert_eq!(outcome.parts[0].verdict, OPEN);
    assert_eq!(outcome.explanation.unwrap().rows[0].state, RowState::Unknown);
}

#[test]
fn explanations_name_the_smallest_change() {
    let book = json!({"tool": "book", "args": {"city": "Paris"}});
    let config = json!({"sequence": ["search", book, "pay"]});
    let trace = one_by_one(&json!(["search", ["book", {"city": "London"}], "x", "pay"]));
    let outcome = expect(config.clone(), &trace);
    let explanation = outcome.explanation.unwrap();
    assert_eq!(
        explanation.repair,
        ["change argument city of call 2 `book` from \"London\" to \"Paris\""]
    );
    let states: Vec<_> = explanation.rows.iter().map(|row| row.state.word()).collect();
    assert_eq!(states, ["matched", "mismatched", "extra", "matched"]);
    assert_eq!(explanation.divergence, Some(1));
    let why = explanation.rows[1].why.as_ref().map(|text| text.raw());
    assert_eq!(why, Some("argument city is \"London\", expected \"Paris\""));
    assert_eq!(outcome.metrics["missing"], 1);
    assert_eq!(outcome.metrics["extra"], 2);

    let outcome = expect(config.clone(), &one_by_one(&json!(["search", "pay"])));
    let explanation = outcome.explanation.unwrap();
    assert_eq!(explanation.repair, ["call `book` with city = \"Paris\" after call 1 `search`"]);
    assert_eq!(explanation.divergence, Some(1));
    assert!(outcome.evidence.iter().any(|e| e.call.is_none()), "what is absent is evidence too");

    let trace = one_by_one(&json!([["book", {"city": "Paris"}], "search", "pay"]));
    let explanation = expect(config, &trace).explanation.unwrap();
    assert_eq!(explanation.rows[0].state, RowState::Missing);
    assert_eq!(
        explanation.rows[0].why.as_ref().map(|text| text.raw()),
        Some("call 2 `search` comes too late")
    );
    assert_eq!(explanation.repair, ["call `search` before call 1 `book`"]);

    let exact = json!({"sequence": ["a"], "extras": "forbid", "forbidden": ["rm"]});
    let explanation = expect(exact, &one_by_one(&json!(["a", "rm", "b"]))).explanation.unwrap();
    assert_eq!(explanation.repair, ["remove call 2 `rm`", "remove call 3 `b`"]);
}

#[test]
fn metrics_and_notes() {
    let config = json!({"calls": ["a", "b", "c"]});
    let outcome = expect(config, &one_by_one(&json!(["a", "b", "x", "!c"])));
    assert_eq!(
        Value::Object((*outcome.metrics).clone()),
        json!({"required": 3, "matched": 2, "missing": 1, "extra": 1, "forbidden": 0, "calls": 4,
            "precision": 0.667, "recall": 0.667, "f1": 0.667})
    );
    assert_eq!(
        outcome.notes,
        [
            "1 call was not expected: call 3 `x`",
            "1 call that did not succeed did not count as done"
        ]
    );
    assert_eq!(outcome.reason, "2 of 3 expected calls were made; `c`: not made");
}

#[test]
fn sequence_and_calls_share_calls_but_not_within() {
    let exact =
        json!({"sequence": ["a"], "calls": [{"tool": "a", "args": {"x": 1}}], "extras": "forbid"});
    table(&[
        (json!({"sequence": ["a"], "calls": ["a"]}), json!(["a"]), PASS, 1.0),
        // The sequence leaves to `calls` what only `calls` needs.
        (exact.clone(), json!([["a", {"x": 1}], ["a", {"x": 2}]]), PASS, 1.0),
        (exact, json!([["a", {"x": 1}], ["a", {"x": 2}], "a"]), FAIL, 2.0 / 3.0),
    ]);
}

#[test]
fn names_with_and_without_servers() {
    let trace = one_by_one(&json!(["mcp__web__search"]));
    for (config, verdict) in [
        (json!({"calls": ["search"]}), PASS),
        (json!({"calls": ["web/search"]}), PASS),
        (json!({"calls": ["mcp__web__search"]}), PASS),
        (json!({"calls": ["web/*"]}), PASS),
        (json!({"calls": ["/^mcp__/"]}), PASS),
        (json!({"calls": [{"name": {"regex": "search$"}}]}), PASS),
        (json!({"calls": ["sea"]}), FAIL),
        (json!({"only": ["search"]}), FAIL),
        (json!({"only": ["web/search"]}), PASS),
        (json!({"forbidden": ["search"]}), FAIL),
    ] {
        assert_eq!(expect(config.clone(), &trace).verdict, verdict, "{config}");
    }
}

#[test]
fn mistakes_in_configurations() {
    for (config, said) in [
        (json!({}), "nothing is expected"),
        (json!({"none": false}), "`none: false` expects nothing"),
        (json!({"extras": "forbid"}), "`extras` needs"),
        (json!({"forbidden": ["a"], "extras": "forbid"}), "`extras` needs"),
        (json!({"sequence": []}), "the sequence is empty"),
        (json!({"calls": []}), "the list is empty"),
        (json!({"only": []}), "the list is empty"),
        (json!({"forbidden": []}), "the list is empty"),
        (json!({"none": true, "calls": ["a"]}), "contradicts `calls`"),
        (json!({"calls": ["a"], "forbidden": ["a"]}), "`a` is expected and forbidden at once"),
        (
            json!({"sequence": [{"tool": "a", "args": {"x": 1}}],
                "forbidden": [{"tool": "a", "args": {"x": 1.0}}]}),
            "is expected and forbidden at once",
        ),
        (json!({"calls": [{"tool": "a", "count": {"min": 3, "max": 2}}]}), "`min` is above `max`"),
        (json!({"calls": [{"tool": "a", "count": 0}]}), "a count of 0"),
        (json!({"calls": [{"tool": "a", "count": -1}]}), "a count is not below 0"),
        (
            json!({"sequence": [{"tool": "a", "count": {"max": 2}}]}),
            "`max` cannot be used in a sequence",
        ),
        (json!({"sequence": [{"any_order": []}]}), "the group is empty"),
        (json!({"sequence": [{"one_of": [[]]}]}), "an empty alternative"),
        (json!({"sequence": [{"tool": "a", "one_of": ["b"]}]}), "exactly one of `tool`"),
        (json!({"sequence": [{"optional": true}]}), "exactly one of `tool`"),
        (json!({"sequence": [{"any_order": ["a"], "args": {}}]}), "`args` describes a call"),
        (json!({"calls": [{"tool": "a", "arg": {}}]}), "unknown key \"arg\""),
        (json!({"calls": [{"tool": "a", "where": {"a[": 1}}]}), "not a key path"),
        (json!({"calls": [{"tool": "a", "where": {"a": {}}}]}), "the condition is empty"),
        (json!({"calls": [{"tool": "a", "where": {"a": {"one_of": []}}}]}), "the list is empty"),
        (
            json!({"calls": [{"tool": "a", "where": {"a": {"regex": "("}}}]}),
            "not a regular expression",
        ),
        (json!({"calls": [{"tool": "a", "where": {"a": {"range": {}}}}]}), "a range needs"),
        (
            json!({"calls": [{"tool": "a", "where": {"a": {"schema": {"$ref": "#"}}}}]}),
            "it refers to itself",
        ),
        (
            json!({"calls": [{"tool": "a", "where": {"a": {"schema": {"$ref": "http://x/y"}}}}]}),
            "does not point into this schema",
        ),
        (
            json!({"calls": [{"tool": "a", "where": {"a": {"schema": {"type": 7}}}}]}),
            "not a JSON Schema",
        ),
        (json!({"calls": [{"tool": ""}]}), "the name of a tool is empty"),
        (json!({"calls": ["/(/"]}), "not a regular expression"),
        (json!({"calls": [{"tool": "a", "status": "fine"}]}), "fine"),
        (json!({"calls": [{"tool": "a", "status": []}]}), "the list is empty"),
        (json!({"calls": [{"args": {}}]}), "tool"),
        (json!({"forbidden_sequences": [[]]}), "the sequence is empty"),
        (json!({"never": [{"call": "a", "before": "a"}]}), "a call is never before itself"),
        (json!({"never": [{"call": "a"}]}), "before"),
    ] {
        let found = OWN.complaints("expect", &config);
        assert!(found.iter().any(|one| one.contains(said)), "{config}: {found:?}");
    }
}

#[test]
fn all_mistakes_are_found_at_once() {
    let config = json!({
        "calls": [{"tool": "/(/", "count": 0}, {"tool": "b", "where": {"x[": {"regex": "["}}}],
        "never": []
    });
    let found = OWN.complaints("expect", &config);
    assert!(found.len() >= 4, "{found:?}");
}

#[test]
fn the_schema_speaks_of_both_shapes() {
    let mut generator = schemars::SchemaGenerator::default();
    let schema = (super::EXPECT.schema)(&mut generator).to_value();
    let all = json!({"schema": schema, "definitions": generator.definitions()}).to_string();
    for word in ["any_order", "one_of", "\"type\":\"string\"", "args_match", "contiguous"] {
        assert!(all.contains(word), "{word}");
    }
}

#[test]
fn large_questions_end() {
    let calls = 100_000;
    let step = |n: usize| format!("t{}", n % 50);
    let mut trace = String::from("{\"messages\":[{\"role\":\"user\",\"content\":\"go\"}");
    for n in 0..calls {
        let tool = step(n * 7 + n / 13);
        trace.push_str(&format!(
            ",{{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{{\"id\":\"c{n}\",\"type\":\"function\",\"function\":{{\"name\":\"{tool}\",\"arguments\":\"{{\\\"n\\\": {n}}}\"}}}}]}},{{\"role\":\"tool\",\"tool_call_id\":\"c{n}\",\"content\":\"ok\"}}"
        ));
    }
    trace.push_str("]}");
    let run = toolmark_outcome::testing::runs(&trace).remove(0);
    assert_eq!(run.calls.len(), calls);
    let plain: Vec<Value> = (0..1000)
        .map(|n| if n % 10 == 9 { json!("never_called") } else { json!(step(n * 3)) })
        .collect();
    let with_args: Vec<Value> =
        (0..1000).map(|n| json!({"tool": "t*", "args": {"n": n * 97}})).collect();
    let optional: Vec<Value> = (0..1000)
        .map(|n| json!({"tool": if n % 10 == 9 { "gone".into() } else { step(n * 3) }, "optional": n % 3 == 0}))
        .collect();
    let groups: Vec<Value> = (0..200)
        .map(|n| json!({"any_order": [step(n), step(n + 7), "gone", step(n + 1)]}))
        .collect();
    for (what, config, verdict) in [
        ("plain", json!({"sequence": plain}), FAIL),
        ("plain, no extras", json!({"sequence": plain, "extras": "forbid"}), FAIL),
        ("any order", json!({"calls": plain}), FAIL),
        ("any order with arguments", json!({"calls": with_args}), PASS),
        ("with arguments", json!({"sequence": with_args}), PASS),
        ("optional", json!({"sequence": optional}), FAIL),
        ("groups", json!({"sequence": groups}), FAIL),
        (
            "at least",
            json!({"sequence": [{"tool": "t*", "count": {"min": 1}}], "extras": "forbid"}),
            PASS,
        ),
        ("anything", json!({"calls": vec!["*"; 1000]}), PASS),
    ] {
        let grader = OWN.build("expect", Profile::Toolmark, &config).unwrap();
        let start = toolmark_testing::CpuWatch::start();
        let outcome = crate::testing::ask(&*grader, &run);
        // Far below that in a release build.
        assert!(start.elapsed().as_secs() < 20, "{what}: {:?}", start.elapsed());
        assert_eq!(outcome.verdict, verdict, "{what}: {}", outcome.reason.raw());
    }
}

#[test]
fn the_tools_that_must_be_called_are_mentioned() {
    let config = json!({
        "sequence": ["search", "web/fetch"], "calls": ["get_*"], "forbidden": ["delete"],
    });
    let grader = OWN.build("expect", Profile::Toolmark, &config).expect("a good configuration");
    let mentions = grader.mentions();
    let words: Vec<_> =
        mentions.iter().map(|mention| (mention.word.as_str(), mention.is_prohibited)).collect();
    let wanted = [("search", false), ("web/fetch", false), ("get_*", false), ("delete", true)];
    assert_eq!(words, wanted);
    assert!(mentions[1].means("fetch") && mentions[2].means("get_all"));
    assert!(!mentions[0].means("research"));
}

#[test]
fn values_between_slashes_are_patterns() {
    let call = |args: Value| one_by_one(&json!([["Shell", args]]));
    let wipe =
        json!({"command": "sudo rm -rf /srv", "opts": {"cwd": "/srv/a", "tags": ["x1", "y"]}});
    for (call_config, want) in [
        (json!({"args": {"command": "/rm -rf/"}}), true),
        (json!({"where": {"command": "/rm -rf/"}}), true),
        (json!({"where": {"command": {"not": "/rm -rf/"}}}), false),
        (json!({"args": {"command": "/^rm -rf/"}}), false),
        (json!({"args": {"command": "/rm -rf"}}), false),
        (json!({"where": {"command": {"equals": "/rm -rf/"}}}), false),
        (json!({"args": {"comand": "/rm -rf/"}}), false),
        // Inside of others, and beside plain values.
        (json!({"args": {"opts": {"cwd": "/^.srv/"}}}), true),
        (json!({"args": {"opts": {"cwd": "/^.etc/"}}}), false),
        (json!({"args": {"opts": {"cwd": "/srv", "tags": ["/x[0-9]/", "y"]}}}), false),
        (json!({"args": {"opts": {"cwd": "/srv/a", "tags": ["/x[0-9]/", "y"]}}}), true),
        (json!({"args": {"opts": {"tags": ["/x[0-9]/", "z"]}}}), false),
        (json!({"args": {"opts": {"tags": ["/x[0-9]/"]}}}), false),
        // However the rest is compared.
        (json!({"args": {"command": "/rm/"}, "args_match": "exact"}), false),
        (json!({"args": {"command": "/rm/"}, "args_match": "exact", "ignore": ["opts"]}), true),
        (json!({"args": {"command": "/rm/", "opts": "/srv/"}, "args_match": "exact"}), true),
        (
            json!({"args": {"command": "/rm/", "opts": "/srv/", "user": "/a/"}, "args_match": "within"}),
            true,
        ),
        (json!({"args": {"command": "/cp/", "opts": "/srv/"}, "args_match": "within"}), false),
        (json!({"args": {"command": "/rm/"}, "args_match": "within"}), false),
    ] {
        let mut config = call_config;
        config["tool"] = "Shell".into();
        let called = expect(json!({"calls": [config.clone()]}), &call(wipe.clone()));
        assert_eq!(called.verdict, if want { PASS } else { FAIL }, "{config}");
        let forbidden = expect(json!({"forbidden": [config.clone()]}), &call(wipe.clone()));
        assert_eq!(forbidden.verdict, if want { FAIL } else { PASS }, "{config}");
    }
    let outcome = expect(
        json!({"forbidden": [{"tool": "Shell", "args": {"command": "/rm -rf/"}}]}),
        &call(wipe),
    );
    assert!(outcome.reason.raw().contains("command matching /rm -rf/"), "{:?}", outcome.reason);
    let config = |value: &str| json!({"calls": [{"tool": "Shell", "args": {"x": value}}]});
    assert_eq!(OWN.complaints("expect", &config("/(/")).len(), 1);
    assert_eq!(OWN.warnings("expect", &config("/rm -rf/")), [""; 0]);
    let path = OWN.warnings("expect", &config("/home/mira/"));
    assert!(path[0].contains("is read as a regular expression, not as a path"), "{path:?}");
}
