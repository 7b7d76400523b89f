//! Tests of the rules on the reference page, each with a name.

use crate::grader_by_id;
use crate::testing::{ask, build, complaints, grade, runs, vally};
use serde_json::{Value, json};
use toolmark_config::ProblemSeverity;
use toolmark_match::Building;
use toolmark_outcome::EvidenceRole;
use toolmark_outcome::Profile;
use toolmark_outcome::RowState;
use toolmark_outcome::{CaseContext, Environment, Subject, TrajectoryView};
use toolmark_outcome::{Cause, Outcome, Verdict};

use Verdict::{Fail, Pass};
const CONFIG: Verdict = Verdict::Unknown(Cause::Configuration);
const MISSING: Verdict = Verdict::Unknown(Cause::MissingEvidence);

type TestEvents = Vec<(&'static str, Value)>;

fn start(id: &str) -> TestEvents {
    vec![("turn_start", json!({"turnId": id}))]
}

fn ask_for(id: &str, tool: &str, args: Value) -> TestEvents {
    vec![("tool_call", json!({"toolName": tool, "toolCallId": id, "arguments": args}))]
}

fn answer(id: &str, success: bool, result: Value) -> TestEvents {
    vec![("tool_result", json!({"toolCallId": id, "success": success, "result": result}))]
}

/// Builds a call with its result.
fn done(id: &str, tool: &str, args: Value) -> TestEvents {
    [ask_for(id, tool, args), answer(id, true, json!("ok"))].concat()
}

fn trace(events: &[TestEvents]) -> String {
    vally(&events.concat())
}

fn judged(config: &Value, trace: &str) -> Outcome {
    grade("tool-calls", config.clone(), trace)
}

#[track_caller]
fn check(trace: &str, cases: &[(Value, Verdict)]) {
    for (config, verdict) in cases {
        let outcome = judged(config, trace);
        assert_eq!(outcome.verdict, *verdict, "{config}: {}", outcome.reason.raw());
        let score = match verdict {
            Pass => Some(1.0),
            Fail => Some(0.0),
            Verdict::Unknown(_) => None,
        };
        assert_eq!(outcome.score, score, "{config}");
        assert!(!outcome.parts.is_empty() && !outcome.reason.raw().is_empty(), "{config}");
    }
}

fn sample() -> String {
    trace(&[
        start("0"),
        done("1", "view", json!({"path": "src/a.ts"})),
        start("1"),
        done("2", "bash", json!({"command": "npm test -- --watch", "timeout": 5})),
        start("2"),
        done("3", "create", json!({"path": "b.txt", "text": "secret.env"})),
    ])
}

#[test]
fn required_tools_must_be_called() {
    check(
        &sample(),
        &[
            (json!({"required": ["create"]}), Pass),
            (json!({"required": ["create", "bash"]}), Pass),
            (json!({"required": ["create", "delete"]}), Fail),
        ],
    );
}

#[test]
fn disallowed_tools_must_not_be_called() {
    check(
        &sample(),
        &[
            (json!({"disallowed": ["delete"]}), Pass),
            (json!({"disallowed": ["view"]}), Fail),
            (json!({"disallowed": ["delete", "create"]}), Fail),
            (json!({"disallowed": [{"name": "view", "path": "\\.env$"}]}), Pass),
            (json!({"disallowed": [{"name": "view", "path": "\\.ts$"}]}), Fail),
            (json!({"required": ["bash"], "disallowed": ["view"]}), Fail),
        ],
    );
}

#[test]
fn a_string_is_short_for_a_name_and_names_are_unanchored() {
    check(
        &sample(),
        &[
            (json!({"required": ["rea"]}), Pass),
            (json!({"required": [{"name": "rea"}]}), Pass),
            (json!({"required": ["^rea"]}), Fail),
            (json!({"required": ["^create$"]}), Pass),
            (json!({"required": ["^(bash|powershell)$"]}), Pass),
            (json!({"required": ["Create"]}), Fail),
            (json!({"required": ["(?i)Create"]}), Pass),
        ],
    );
}

#[test]
fn command_path_and_args_are_unanchored_patterns() {
    check(
        &sample(),
        &[
            (json!({"required": [{"name": "bash", "command": "npm test"}]}), Pass),
            (json!({"required": [{"name": "bash", "command": "^npm test$"}]}), Fail),
            (json!({"required": [{"name": "view", "path": "src/.*\\.ts$"}]}), Pass),
            (json!({"required": [{"name": "bash", "args": {"command": "watch$"}}]}), Pass),
            (json!({"required": [{"name": "create", "args": {"path": "b", "text": "env"}}]}), Pass),
            (json!({"required": [{"name": "create", "args": {"path": "b", "text": "no"}}]}), Fail),
        ],
    );
}

#[test]
fn an_absent_argument_is_no_match_for_args() {
    check(
        &sample(),
        &[
            (json!({"required": [{"name": ".*", "args": {"query": "x"}}]}), Fail),
            (json!({"disallowed": [{"name": ".*", "args": {"query": "x"}}]}), Pass),
            (json!({"required": [{"name": ".*", "args": {"command": "npm"}}]}), Pass),
        ],
    );
}

#[test]
fn an_absent_command_or_path_is_a_mistake_in_the_configuration() {
    let trace = trace(&[
        done("1", "bash", json!({"command": "ls"})),
        done("2", "read_bash", json!({"shellId": "7"})),
    ]);
    check(
        &trace,
        &[
            // The call without the argument decides.
            (json!({"required": [{"name": "bash", "command": "npm test"}]}), CONFIG),
            (json!({"disallowed": [{"name": "bash", "command": "rm -rf"}]}), CONFIG),
            (json!({"sequence": ["bash", {"name": "bash", "command": "npm"}]}), CONFIG),
            (json!({"required": [{"name": "read", "path": "x"}]}), CONFIG),
            // Something else decides.
            (json!({"required": [{"name": "bash", "command": "ls"}]}), Pass),
            (json!({"disallowed": [{"name": "bash", "command": "ls"}]}), Fail),
            (json!({"required": [{"name": "^bash$", "command": "npm test"}]}), Fail),
            (json!({"required": [{"name": "bash", "command": "x", "args": {"y": "z"}}]}), Fail),
            (json!({"required": [{"name": "view", "path": "x"}]}), Fail),
        ],
    );
    let config = json!({"required": [{"name": "bash", "command": "npm test"}]});
    let outcome = judged(&config, &trace);
    assert!(outcome.reason.raw().contains("call 2 of read_bash"), "{}", outcome.reason.raw());
    assert!(outcome.evidence.iter().any(|e| e.call.as_ref().is_some_and(|c| c.index == 1)));
}

#[test]
fn a_required_entry_that_is_met_anyway_mentions_the_mistake() {
    let trace = trace(&[
        done("1", "bash", json!({"command": "ls"})),
        done("2", "read_bash", json!({"shellId": "7"})),
    ]);
    let outcome = judged(&json!({"required": [{"name": "bash", "command": "ls"}]}), &trace);
    assert!(outcome.notes[0].raw().contains("anchor the name"), "{:?}", outcome.notes);
}

#[test]
fn only_text_arguments_can_match() {
    let args = json!({"n": 5, "b": true, "o": {"x": "5"}, "l": ["5"], "command": 5, "s": "5"});
    let trace = trace(&[done("1", "tool", args)]);
    for key in ["n", "b", "o", "l"] {
        check(&trace, &[(json!({"required": [{"name": "tool", "args": {key: "."}}]}), Fail)]);
    }
    check(
        &trace,
        &[
            (json!({"required": [{"name": "tool", "args": {"s": "5"}}]}), Pass),
            (json!({"required": [{"name": "tool", "command": "5"}]}), CONFIG),
        ],
    );
}

#[test]
fn arguments_that_are_no_mapping_have_no_members() {
    let trace =
        trace(&[done("1", "patch", json!("*** Begin Patch")), done("2", "list", json!([1]))]);
    check(
        &trace,
        &[
            (json!({"required": [{"name": "patch", "args": {"x": "."}}]}), Fail),
            (json!({"required": [{"name": "patch", "pattern": "Begin"}]}), Pass),
            (json!({"required": [{"name": "list", "pattern": "^\\[1\\]$"}]}), Pass),
        ],
    );
}

#[test]
fn pattern_sees_all_arguments_as_compact_json() {
    let trace =
        trace(&[done("1", "t", json!({"z": 1, "a": {"b": "x\ny"}})), ask_for("2", "u", json!({}))]);
    check(
        &trace,
        &[
            (
                json!({"required": [{"name": "t", "pattern": "^\\{\"z\":1,\"a\":\\{\"b\":\"x\\\\ny\"\\}\\}$"}]}),
                Pass,
            ),
            (json!({"required": [{"name": "t", "pattern": "\"z\": 1"}]}), Fail),
            (
                json!({"sequence": [{"name": "t", "pattern": "\"z\":1"}, {"name": "u", "pattern": "\\{\\}"}]}),
                Pass,
            ),
        ],
    );
}

#[test]
fn result_is_searched_as_text_or_json() {
    let trace = trace(&[
        ask_for("1", "bash", json!({"command": "npm run build"})),
        answer("1", true, json!("... BUILD SUCCEEDED in 3s")),
        ask_for("2", "api", json!({})),
        answer("2", true, json!({"state": "open", "n": 3})),
        ask_for("3", "view", json!({})),
        answer("3", true, json!({"content": "short", "detailedContent": "the long text"})),
    ]);
    let build =
        |result: &str| json!({"name": "^bash$", "command": "npm run build", "result": result});
    check(
        &trace,
        &[
            (json!({"required": [build("BUILD SUCCEEDED")]}), Pass),
            (json!({"required": [build("^BUILD SUCCEEDED")]}), Fail),
            (json!({"disallowed": [build("SUCCEEDED")]}), Fail),
            (json!({"disallowed": [build("FAILED")]}), Pass),
            (json!({"required": [{"name": "api", "result": "\"n\":3"}]}), Pass),
            (json!({"required": [{"name": "view", "result": "long text"}]}), Pass),
            (json!({"required": [{"name": "view", "result": "\"content\":\"short\""}]}), Pass),
        ],
    );
}

#[test]
fn min_count_counts_completed_calls() {
    let upload = |id: &str, n: &str| done(id, "upload", json!({"file": n}));
    let trace = trace(&[upload("1", "a"), upload("2", "b"), ask_for("3", "upload", json!({}))]);
    check(
        &trace,
        &[
            (json!({"required": [{"name": "^upload$", "min_count": 1}]}), Pass),
            (json!({"required": [{"name": "^upload$", "min_count": 2}]}), Pass),
            (json!({"required": [{"name": "^upload$", "min_count": 3}]}), Fail),
            (
                json!({"required": [{"name": "^upload$", "args": {"file": "a"}, "min_count": 2}]}),
                Fail,
            ),
        ],
    );
    let outcome = judged(&json!({"required": [{"name": "upload", "min_count": 2}]}), &trace);
    let named: Vec<_> =
        outcome.evidence.iter().filter_map(|e| Some(e.call.as_ref()?.index)).collect();
    assert_eq!(named, [0, 1]);
}

#[test]
fn final_is_the_last_call_of_the_run() {
    let report = |id: &str| done(id, "report_result", json!({}));
    let view = |id: &str| done(id, "view", json!({}));
    let wanted = json!({"required": [{"name": "^report_result$", "final": true}]});
    for (events, verdict) in [
        (vec![view("1"), report("2")], Pass),
        (vec![report("1"), view("2")], Fail),
        (vec![report("1"), view("2"), report("3")], Pass),
        // The last call was never answered: it is the last, and it is another.
        (vec![report("1"), ask_for("2", "view", json!({}))], Fail),
        (vec![report("1"), ask_for("2", "report_result", json!({}))], Fail),
        (vec![], Fail),
    ] {
        check(&trace(&events), &[(wanted.clone(), verdict)]);
    }
    let twice = json!({"required": [{"name": "report", "final": true, "min_count": 2}]});
    check(&trace(&[report("1"), view("2"), report("3")]), &[(twice.clone(), Pass)]);
    check(&trace(&[view("2"), report("3")]), &[(twice, Fail)]);
}

#[test]
fn a_step_is_a_turn_start_counted_from_0() {
    let entry = |tool: &str, key: &str, n: u64| json!({"required": [{"name": tool, key: n}]});
    check(
        &sample(),
        &[
            (entry("view", "at_step", 0), Pass),
            (entry("view", "at_step", 1), Fail),
            (entry("bash", "at_step", 1), Pass),
            (entry("create", "at_step", 2), Pass),
            (entry("bash", "before_step", 1), Fail),
            (entry("bash", "before_step", 2), Pass),
            (entry("view", "before_step", 1), Pass),
            (json!({"required": [{"name": "bash", "at_step": 1, "before_step": 2}]}), Pass),
        ],
    );
}

#[test]
fn the_step_is_that_of_the_call_not_of_its_result() {
    let trace = trace(&[
        start("0"),
        ask_for("1", "slow", json!({})),
        start("1"),
        answer("1", true, json!("late")),
    ]);
    check(
        &trace,
        &[
            (json!({"required": [{"name": "slow", "at_step": 0}]}), Pass),
            (json!({"required": [{"name": "slow", "at_step": 1}]}), Fail),
        ],
    );
}

#[test]
fn a_trajectory_without_turns_is_one_step_0() {
    let say = vec![("assistant_message", json!({"content": "hm"}))];
    let user = vec![("user_message", json!({"content": "more"}))];
    let events = [say.clone(), done("1", "a", json!({})), user, say, done("2", "b", json!({}))];
    check(
        &trace(&events),
        &[
            (json!({"required": [{"name": "b", "at_step": 0}]}), Pass),
            (json!({"required": [{"name": "b", "before_step": 1}]}), Pass),
            (json!({"required": [{"name": "b", "at_step": 1}]}), Fail),
        ],
    );
}

#[test]
fn a_trace_that_does_not_record_steps_cannot_tell() {
    let trace = r#"{"schema":"toolmark.trajectory.v1","format":"bfcl","fidelity_gaps":["steps"],"calls":[{"name":"f","args":{"json":{}},"result":{"payload":{"text":"ok"}},"status":"succeeded"}],"events":[{"kind":"call","call":0}]}"#;
    check(
        trace,
        &[
            (json!({"required": [{"name": "f", "at_step": 0}]}), MISSING),
            (json!({"required": [{"name": "g", "at_step": 0}]}), Fail),
            (json!({"required": ["f"]}), Pass),
        ],
    );
    let config = json!({"required": [{"name": "f", "at_step": 0}]});
    let grader = build("tool-calls", Profile::Vally, &config).unwrap();
    assert_eq!(ask(&*grader, &runs(trace)[0]).verdict, Pass);
}

#[test]
fn positions_and_counts_hold_together() {
    let trace = trace(&[
        start("0"),
        done("1", "a", json!({})),
        start("1"),
        done("2", "a", json!({})),
        start("2"),
        done("3", "a", json!({})),
    ]);
    check(
        &trace,
        &[
            (json!({"required": [{"name": "a", "before_step": 2, "min_count": 2}]}), Pass),
            (json!({"required": [{"name": "a", "before_step": 2, "min_count": 3}]}), Fail),
            (json!({"required": [{"name": "a", "at_step": 2, "final": true}]}), Pass),
        ],
    );
}

#[test]
fn what_was_never_answered_is_not_completed() {
    let trace =
        trace(&[done("1", "view", json!({})), ask_for("2", "deploy", json!({"command": "x"}))]);
    check(
        &trace,
        &[
            (json!({"required": ["deploy"]}), Fail),
            // It may have been carried out before the trace ended.
            (json!({"disallowed": ["deploy"]}), MISSING),
            (json!({"disallowed": [{"name": "deploy", "result": "y"}]}), MISSING),
            (json!({"sequence": ["view", "deploy"]}), Pass),
            // Not carried out, so its arguments decide nothing.
            (json!({"disallowed": [{"name": "deploy", "path": "y"}]}), Pass),
        ],
    );
    let config = json!({"disallowed": ["deploy"]});
    let vally = build("tool-calls", Profile::Vally, &config).unwrap();
    assert_eq!(ask(&*vally, &runs(&trace)[0]).verdict, Pass);
    let outcome = judged(&config, &trace);
    assert!(outcome.notes[0].raw().contains("attempted and never completed"));
    let attempt = outcome.evidence.iter().find(|e| e.role == EvidenceRole::Context).unwrap();
    assert_eq!(attempt.call.as_ref().unwrap().index, 1);
}

#[test]
fn a_failed_call_is_completed() {
    let trace = trace(&[ask_for("1", "bash", json!({})), answer("1", false, json!("no"))]);
    check(
        &trace,
        &[(json!({"required": ["bash"]}), Pass), (json!({"disallowed": ["bash"]}), Fail)],
    );
    let outcome = judged(&json!({"required": ["bash"]}), &trace);
    assert!(outcome.notes[0].raw().contains("failed"), "{:?}", outcome.notes);
}

#[test]
fn a_refused_call_did_not_happen_unless_vally_is_asked() {
    let trace = r#"{"schema":"toolmark.trajectory.v1","format":"claude-code","steps":[{"turn":0}],"calls":[{"name":"Bash","args":{"json":{"command":"rm"}},"result":{"payload":{"text":"refused"}},"status":"denied","step":0}],"events":[{"kind":"call","call":0,"step":0}]}"#;
    let run = &runs(trace)[0];
    for (config, ours, theirs) in
        [(json!({"disallowed": ["Bash"]}), Pass, Fail), (json!({"required": ["Bash"]}), Fail, Pass)]
    {
        let grader = build("tool-calls", Profile::Toolmark, &config).unwrap();
        assert_eq!(ask(&*grader, run).verdict, ours, "{config}");
        let grader = build("tool-calls", Profile::Vally, &config).unwrap();
        assert_eq!(ask(&*grader, run).verdict, theirs, "{config}");
    }
}

#[test]
fn another_reading_is_mentioned_where_it_differs() {
    let trace = r#"{"schema":"toolmark.trajectory.v1","format":"claude-code","steps":[{"turn":0}],"calls":[{"name":"Bash","args":{"json":{}},"result":{"payload":{"text":"refused"}},"status":"denied","step":0}]}"#;
    let config = toolmark_config::Node::from_json(&json!({"disallowed": ["Bash"]})).unwrap();
    let grader = (grader_by_id("tool-calls").unwrap().build)(&mut Building {
        config: &config,
        profile: Profile::Toolmark,
        contrast: Some(Profile::Vally),
        directory: std::path::Path::new("."),
        schemas: toolmark_match::call_match::compile_schema,
        problems: &mut Vec::new(),
    });
    let contrast = ask(&*grader.unwrap(), &runs(trace)[0]).contrast.unwrap();
    assert_eq!((contrast.profile, contrast.verdict), (Profile::Vally, Fail));
}

#[test]
fn a_trace_without_results_cannot_tell_what_was_completed() {
    let trace = r#"{"role":"user","content":"hi"}
{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]}"#;
    check(
        trace,
        &[
            (json!({"required": ["f"]}), MISSING),
            (json!({"disallowed": ["f"]}), MISSING),
            (json!({"required": ["g"]}), Fail),
            (json!({"disallowed": ["g"]}), Pass),
            (json!({"sequence": ["f"]}), Pass),
        ],
    );
}

fn letters(calls: &str) -> String {
    let call = |(n, c): (usize, char)| {
        let id = n.to_string();
        [start(&id), done(&id, &c.to_string(), json!({}))].concat()
    };
    trace(&calls.chars().enumerate().map(call).collect::<Vec<_>>())
}

#[test]
fn sequence_is_an_ordered_subsequence() {
    let of = |entries: &[&str]| json!({"sequence": entries});
    for (made, wanted, verdict) in [
        ("abc", of(&["a", "b", "c"]), Pass),
        ("xaybzc", of(&["a", "b", "c"]), Pass),
        ("acb", of(&["a", "b", "c"]), Fail),
        ("ba", of(&["a", "b"]), Fail),
        ("bab", of(&["a", "b"]), Pass),
        ("p", of(&["p", "p"]), Fail),
        ("pxp", of(&["p", "p"]), Pass),
        ("pp", of(&["p", "p", "p"]), Fail),
        ("aab", of(&["[ab]", "a", "b"]), Pass),
        ("", of(&["a"]), Fail),
    ] {
        check(&letters(made), &[(wanted, verdict)]);
    }
}

#[test]
fn a_failing_sequence_is_explained() {
    let outcome = judged(&json!({"sequence": ["a", "b", "c"]}), &letters("xbac"));
    let explanation = outcome.explanation.unwrap();
    let states: Vec<_> = explanation.rows.iter().map(|row| row.state).collect();
    let missing = explanation.rows.iter().position(|row| row.state == RowState::Missing).unwrap();
    assert_eq!(explanation.divergence, Some(missing));
    assert_eq!(states.iter().filter(|state| **state == RowState::Matched).count(), 2);
    assert_eq!(explanation.repair.len(), 1);
    let why = explanation.rows[missing].why.as_ref().map(|text| text.raw()).unwrap();
    assert!(why.contains("meets it, but comes"), "{why}");
    assert_eq!(outcome.parts.len(), 3);
    assert_eq!(outcome.parts.iter().filter(|part| part.verdict == Fail).count(), 1);

    let none = judged(&json!({"sequence": ["a", "z"]}), &letters("a")).explanation.unwrap();
    assert_eq!(
        none.rows.last().unwrap().why.as_ref().map(|text| text.raw()),
        Some("no call meets it")
    );
    assert_eq!(none.repair, ["call /z/ after call 1 (a)"]);
}

#[test]
fn a_long_trace_is_explained_briefly() {
    let outcome = judged(&json!({"sequence": ["a", "b"]}), &letters(&"x".repeat(55)));
    let explanation = outcome.explanation.unwrap();
    assert_eq!((explanation.rows.len(), explanation.elided), (32, 25));
}

#[test]
fn parallel_needs_one_response() {
    let both = json!({"parallel": ["a", "b"]});
    let batch = [
        start("0"),
        ask_for("1", "a", json!({})),
        ask_for("2", "b", json!({})),
        answer("1", true, json!(1)),
        answer("2", true, json!(1)),
    ];
    let apart = [start("0"), done("1", "a", json!({})), start("1"), done("2", "b", json!({}))];
    let one = [start("0"), done("1", "ab", json!({}))];
    let between = [start("0"), done("1", "a", json!({})), done("2", "b", json!({}))];
    let with_turn = |id: &str, tool: &str| {
        let call = json!({"toolName": tool, "toolCallId": id, "arguments": {}, "turnId": "0"});
        [vec![("tool_call", call)], answer(id, true, json!(1))].concat()
    };
    let told = [start("0"), with_turn("1", "a"), with_turn("2", "b")];
    let told_without_turns = [with_turn("1", "a"), with_turn("2", "b")];
    check(&trace(&batch), &[(both.clone(), Pass), (json!({"parallel": ["a", "a"]}), Fail)]);
    check(&trace(&apart), &[(both.clone(), Fail)]);
    check(&trace(&one), &[(both.clone(), Fail)]);
    // A result between them, and nothing says that they came together.
    check(&trace(&between), &[(both.clone(), MISSING), (json!({"parallel": ["a", "c"]}), Fail)]);
    check(&trace(&told), &[(both.clone(), Pass)]);
    check(&trace(&told_without_turns), &[(both, Pass)]);
}

#[test]
fn parallel_finds_the_assignment() {
    let events = [start("0"), ask_for("1", "ab", json!({})), ask_for("2", "b", json!({}))];
    check(&trace(&events), &[(json!({"parallel": ["b", "a"]}), Pass)]);
}

#[test]
fn reading_and_writing_are_known_for_known_tools() {
    let trace = trace(&[
        done("1", "view", json!({})),
        done("2", "edit", json!({})),
        done("3", "bash", json!({})),
    ]);
    let entry = |name: &str, key: &str| json!([{"name": name, key: true}]);
    check(
        &trace,
        &[
            (json!({"required": entry("view", "read_only")}), Pass),
            (json!({"required": entry("view", "write_only")}), Fail),
            (json!({"disallowed": entry("view|edit", "write_only")}), Fail),
            (json!({"disallowed": entry("view", "write_only")}), Pass),
            (json!({"disallowed": entry("bash", "write_only")}), MISSING),
            (json!({"required": entry("bash", "read_only")}), MISSING),
            (json!({"disallowed": entry(".*", "write_only")}), Fail),
            (json!({"required": [{"name": "edit", "read_only": false}]}), Pass),
        ],
    );
}

#[test]
fn a_turn_is_graded_by_itself() {
    let user = |text: &str| vec![("user_message", json!({"content": text}))];
    let trace = trace(&[
        user("one"),
        start("0"),
        done("1", "a", json!({})),
        user("two"),
        start("1"),
        done("2", "b", json!({})),
        start("2"),
        done("3", "c", json!({})),
    ]);
    let runs = runs(&trace);
    for (turn, config, verdict) in [
        (0, json!({"required": ["a"], "disallowed": ["b"]}), Pass),
        (1, json!({"required": ["a"]}), Fail),
        (1, json!({"required": [{"name": "b", "at_step": 0}]}), Pass),
        (1, json!({"required": [{"name": "c", "at_step": 1}]}), Pass),
        (0, json!({"required": [{"name": "a", "final": true}]}), Pass),
    ] {
        let grader = build("tool-calls", Profile::Toolmark, &config).unwrap();
        let outcome = grader.grade(&Subject {
            view: TrajectoryView::turn(&runs[0], turn).unwrap(),
            context: &CaseContext::default(),
            environment: &Environment::default(),
        });
        assert_eq!(outcome.verdict, verdict, "{turn} {config}");
    }
}

#[test]
fn an_empty_run_breaks_no_prohibition() {
    check(&trace(&[]), &[(json!({"disallowed": ["a"]}), Pass), (json!({"required": ["a"]}), Fail)]);
}

#[test]
fn evidence_is_bounded_and_says_so() {
    let events: Vec<TestEvents> = (0..50).map(|n| done(&n.to_string(), "rm", json!({}))).collect();
    let outcome = judged(&json!({"disallowed": ["rm"]}), &trace(&events));
    assert_eq!(outcome.evidence.len(), 20);
    assert!(outcome.notes[0].raw().contains("30 more"), "{:?}", outcome.notes);
    assert!(outcome.reason.raw().contains("50 times"), "{}", outcome.reason.raw());
}

#[test]
fn the_tools_that_were_called_are_listed() {
    let outcome = judged(&json!({"required": ["x"]}), &letters("bab"));
    assert_eq!(outcome.metrics["tools"], json!(["a", "b"]));
}

#[test]
fn a_near_miss_is_shown() {
    let outcome = judged(&json!({"required": [{"name": "bash", "command": "yarn"}]}), &sample());
    let near = outcome.evidence.iter().find(|e| e.role == EvidenceRole::Mismatch).unwrap();
    assert_eq!(near.text, "command does not match /yarn/");
}

#[test]
fn mistakes_in_a_configuration() {
    let required = |entry: Value| json!({"required": [entry]});
    for (config, complaint) in [
        (json!({}), "the config is empty"),
        (json!({"required": []}), "empty list"),
        (json!({"required": ["a"], "sequence": []}), "empty list"),
        (json!({"required": [7]}), "name of a tool"),
        (json!({"required": "a"}), "list"),
        (json!({"forbidden": ["a"]}), "unknown key"),
        (required(json!({"command": "x"})), "name"),
        (required(json!({"name": "a", "cmd": "x"})), "unknown key"),
        (required(json!({"name": ""})), "name is empty"),
        (required(json!({"name": "("})), "regular expression"),
        (required(json!({"name": "a", "args": {"x": "("}})), "regular expression"),
        (required(json!({"name": "a", "args": {"x": 5}})), "text"),
        (required(json!({"name": "a", "args": {}})), "names no argument"),
        (required(json!({"name": "a", "min_count": 0})), "at least 1"),
        (required(json!({"name": "a", "min_count": -1})), "0 or more"),
        (required(json!({"name": "a", "min_count": 1.5})), "whole number"),
        (required(json!({"name": "a", "before_step": 0})), "at least 1"),
        (required(json!({"name": "a", "at_step": 2, "before_step": 2})), "less than before_step"),
        (required(json!({"name": "a", "at_step": 3, "before_step": 2})), "less than before_step"),
        (required(json!({"name": "a", "read_only": true, "write_only": true})), "no tool both"),
        (json!({"disallowed": [{"name": "a", "at_step": 0}]}), "at_step is for required"),
        (json!({"sequence": [{"name": "a", "before_step": 1}]}), "before_step is for required"),
        (json!({"disallowed": [{"name": "a", "min_count": 2}]}), "min_count is for required"),
        (json!({"sequence": [{"name": "a", "final": true}]}), "final is for required"),
        (
            json!({"sequence": [{"name": "a", "result": "x"}]}),
            "result is for required and disallowed",
        ),
        (
            json!({"parallel": [{"name": "a", "result": "x"}]}),
            "result is for required and disallowed",
        ),
    ] {
        let said = complaints("tool-calls", &config).join("; ");
        assert!(said.contains(complaint), "{config}: {said}");
    }
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let config = json!({
        "required": [{"name": "("}, {"name": "a", "min_count": 0}],
        "sequence": [{"name": "b", "result": "x"}],
    });
    assert_eq!(complaints("tool-calls", &config).len(), 3);
}

#[test]
fn a_pattern_that_matches_everything_is_warned_about() {
    for (config, warned) in [
        (json!({"required": [{"name": "bash", "command": "x*"}]}), true),
        (json!({"required": ["bash|"]}), true),
        (json!({"disallowed": [".*"]}), false),
        (json!({"required": [{"name": "bash", "command": "x+"}]}), false),
    ] {
        let node = toolmark_config::Node::from_json(&config).unwrap();
        let mut problems = Vec::new();
        let grader = (grader_by_id("tool-calls").unwrap().build)(&mut Building {
            config: &node,
            profile: Profile::Toolmark,
            contrast: None,
            directory: std::path::Path::new("."),
            schemas: toolmark_match::call_match::compile_schema,
            problems: &mut problems,
        });
        assert!(grader.is_some(), "{config}");
        let is_warning =
            problems.iter().any(|problem| problem.severity == ProblemSeverity::Warning);
        assert_eq!(is_warning, warned, "{config}");
    }
}

#[test]
fn the_use_cases_of_the_page_are_accepted() {
    for config in [
        json!({"required": ["create"]}),
        json!({"required": [{"name": "bash", "command": "npm test"}]}),
        json!({"required": [{"name": "^(bash|powershell)$"}]}),
        json!({"disallowed": [{"name": "view", "path": "\\.env$"}]}),
        json!({"required": [{"name": "edit", "path": "src/.*\\.ts$"}], "disallowed": [{"name": "bash", "command": "rm -rf"}]}),
        json!({"sequence": [{"name": "^validate_.*"}, {"name": "^(create|update)_.*"}]}),
        json!({"required": [{"name": "^load_skill$", "before_step": 3}]}),
        json!({"required": [{"name": "^validate$", "at_step": 0}]}),
        json!({"required": [{"name": "^upload$", "min_count": 2}]}),
        json!({"required": [{"name": "^web_search$", "args": {"query": "release notes"}}]}),
        json!({"required": [{"name": "^report_result$", "final": true}]}),
    ] {
        assert_eq!(complaints("tool-calls", &config), Vec::<String>::new(), "{config}");
    }
}

/// In Vally, a call that lacks the argument is an error regardless of the other calls.
#[test]
fn an_absent_command_is_a_mistake_to_vally_even_where_another_call_fits() {
    let made = trace(&[
        done("1", "read_bash", json!({"shellId": "1"})),
        done("2", "bash", json!({"command": "npm test"})),
        done("3", "bash", json!({"command": "rm -rf x"})),
    ]);
    for (config, ours, theirs) in [
        (json!({"required": [{"name": "bash", "command": "npm test"}]}), Pass, CONFIG),
        (json!({"required": [{"name": "^bash$", "command": "npm test"}]}), Pass, Pass),
        (json!({"required": [{"name": "bash", "path": "x", "args": {"none": "x"}}]}), Fail, CONFIG),
        (json!({"disallowed": [{"name": "bash", "command": "rm -rf"}]}), Fail, CONFIG),
        (
            json!({"sequence": [{"name": "bash", "command": "npm"}, {"name": "bash", "command": "rm"}]}),
            Pass,
            CONFIG,
        ),
        (json!({"required": ["bash"]}), Pass, Pass),
    ] {
        assert_eq!(judged(&config, &made).verdict, ours, "{config}");
        let outcome = crate::testing::grade_as("tool-calls", Profile::Vally, config.clone(), &made);
        assert_eq!(outcome.verdict, theirs, "{config}");
    }
}

#[test]
fn a_result_of_null_is_the_word() {
    let made = trace(&[ask_for("1", "a", json!({})), answer("1", true, Value::Null)]);
    check(
        &made,
        &[
            (json!({"required": [{"name": "a", "result": "^null$"}]}), Pass),
            (json!({"required": [{"name": "a", "result": "^$"}]}), Fail),
        ],
    );
}
