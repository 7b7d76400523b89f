use crate::testing::{agentv, build, complaints, grade, grade_as, runs};
use serde_json::{Value, json};
use toolmark_outcome::Profile;
use toolmark_outcome::RowState;
use toolmark_outcome::{Cause, Outcome, Verdict};

/// Builds calls of these tools without arguments. A tool with `!` failed.
fn calls(tools: &str) -> Value {
    let call = |tool: &str| match tool.strip_suffix('!') {
        Some(tool) => json!({"tool": tool, "input": {}, "status": "error"}),
        None => json!({"tool": tool, "input": {}}),
    };
    tools.split_whitespace().map(call).collect()
}

fn expected(tools: &str) -> Value {
    tools.split_whitespace().map(|tool| json!({"tool": tool})).collect()
}

fn ask(mode: &str, wanted: &str, made: &str, profile: Profile) -> Outcome {
    let config = json!({"mode": mode, "expected": expected(wanted)});
    grade_as("tool-trajectory", profile, config, &agentv(calls(made)))
}

#[test]
fn the_two_readings() {
    use Verdict::{Fail, Pass};
    let third = 1.0 / 3.0;
    // (mode, expected, made, toolmark, AgentV 2)
    for (mode, wanted, made, ours, theirs) in [
        ("in_order", "a b c", "a x b c", (Pass, 1.0), (Pass, 1.0)),
        ("in_order", "a b c", "b c", (Fail, 2.0 * third), (Fail, 0.0)),
        // b is not found after a, and c is lost with it.
        ("in_order", "a b c", "b a c", (Fail, 2.0 * third), (Fail, third)),
        ("in_order", "a", "a!", (Fail, 0.0), (Pass, 1.0)),
        ("in_order", "a b", "a! a b", (Pass, 1.0), (Pass, 1.0)),
        ("in_order", "", "a", (Pass, 1.0), (Pass, 1.0)),
        ("exact", "a b", "a b", (Pass, 1.0), (Pass, 1.0)),
        ("exact", "a b", "a b x", (Fail, 2.0 * third), (Pass, 1.0)),
        ("exact", "a b", "a x b", (Fail, 2.0 * third), (Fail, 0.5)),
        ("exact", "a b c d e", "a b c d e x", (Fail, 5.0 / 6.0), (Pass, 1.0)),
        ("exact", "a b", "b a", (Fail, third), (Fail, 0.0)),
        ("exact", "a b", "a", (Fail, 0.5), (Fail, 0.5)),
        ("exact", "", "a", (Fail, 0.0), (Pass, 1.0)),
        ("exact", "", "", (Pass, 1.0), (Pass, 1.0)),
        ("superset", "a a", "a", (Fail, 0.5), (Fail, 0.5)),
        ("superset", "a b", "b a x", (Pass, 1.0), (Pass, 1.0)),
        ("subset", "a b", "a a", (Pass, 1.0), (Pass, 1.0)),
        ("subset", "a", "a a a a x", (Fail, 0.8), (Pass, 0.8)),
        ("subset", "a", "x!", (Fail, 0.0), (Fail, 0.0)),
        ("subset", "", "", (Pass, 1.0), (Pass, 1.0)),
        ("subset", "", "a", (Fail, 0.0), (Fail, 0.0)),
    ] {
        for (profile, (verdict, score)) in [(Profile::Toolmark, ours), (Profile::AgentV2, theirs)] {
            let outcome = ask(mode, wanted, made, profile);
            let got = outcome.score.unwrap();
            let told = format!("{mode} [{wanted}] [{made}] {profile}: {outcome:?}");
            assert_eq!(outcome.verdict, verdict, "{told}");
            assert!((got - score).abs() < 1e-12, "{told}");
            assert_eq!(outcome.metrics["verdict"], verdict.word(), "{told}");
        }
    }
}

#[test]
fn minimums() {
    let config = json!({"mode": "any_order", "minimums": {"a": 2, "b": 1, "c": 0, "d": 1}});
    let outcome = grade("tool-trajectory", config, &agentv(calls("a a! b d")));
    assert_eq!((outcome.verdict, outcome.score), (Verdict::Fail, Some(0.75)));
    assert_eq!(outcome.parts.len(), 4);
    assert_eq!(outcome.metrics["hits"], 3);
    assert_eq!(outcome.notes, ["1 call that failed did not count as made"]);
    assert_eq!(outcome.evidence[0].text, "a was called 1 time, not 2");
}

#[test]
fn arguments_by_reading() {
    let made = agentv(
        json!([{"tool": "s", "input": {"q": "y"}}, {"tool": "s", "input": {"q": "x", "n": 1}}]),
    );
    let wanted = |how: Value| {
        let mut config =
            json!({"mode": "in_order", "expected": [{"tool": "s", "args": {"q": "x"}}]});
        if !how.is_null() {
            config["args_match"] = how;
        }
        config
    };
    // (args_match, toolmark, AgentV 1, AgentV 2): the first call is not it, the
    // second is, but for its extra argument.
    for (how, scores) in [
        (json!(null), [1.0, 0.0, 0.0]),
        (json!("superset"), [1.0, 0.0, 0.0]),
        (json!("exact"), [0.0, 0.0, 0.0]),
        (json!("ignore"), [1.0, 0.0, 1.0]),
        (json!(["q"]), [1.0, 0.0, 0.0]),
    ] {
        for (profile, score) in
            [Profile::Toolmark, Profile::AgentV1, Profile::AgentV2].iter().zip(scores)
        {
            let got = grade_as("tool-trajectory", *profile, wanted(how.clone()), &made);
            assert_eq!(got.score, Some(score), "{how} {profile}");
        }
    }
    // An open expectation must not take the call of a specific one.
    let config =
        json!({"mode": "superset", "expected": [{"tool": "s"}, {"tool": "s", "args": {"q": "y"}}]});
    assert_eq!(grade("tool-trajectory", config.clone(), &made).score, Some(1.0));
    assert_eq!(grade_as("tool-trajectory", Profile::AgentV2, config, &made).score, Some(0.5));
}

#[test]
fn limits_are_aspects_of_their_own() {
    let config = json!({"mode": "in_order", "expected": [
        {"tool": "a", "max_duration_ms": 100},
        {"tool": "b", "max_duration_ms": 50},
        {"tool": "c"},
    ]});
    let made = |durations: Value| {
        agentv(json!([
            {"tool": "a", "input": {}, "duration_ms": durations[0]},
            {"tool": "b", "input": {}, "duration_ms": durations[1]},
            {"tool": "c", "input": {}},
        ]))
    };
    let outcome = grade("tool-trajectory", config.clone(), &made(json!([100, 51])));
    assert_eq!((outcome.verdict, outcome.score), (Verdict::Pass, Some(0.8)));
    assert_eq!(outcome.metrics["aspects"], 5);
    assert_eq!(outcome.evidence[0].text, "took 51 ms, at most 50 ms");
    let outcome = grade("tool-trajectory", config.clone(), &made(json!([100])));
    assert_eq!(outcome.score, Some(1.0));
    assert_eq!(outcome.metrics["latency_skipped"], 1);
    assert!(outcome.notes[0].raw().contains("counts neither way"), "{:?}", outcome.notes);
    // Two stamps make a duration, but not to AgentV.
    let stamps = agentv(
        json!([{"tool": "a", "input": {}, "start_time": "2026-01-01T00:00:00Z", "end_time": "2026-01-01T00:00:09Z"}]),
    );
    let config = json!({"mode": "exact", "expected": [{"tool": "a", "max_duration_ms": 1}]});
    assert_eq!(grade("tool-trajectory", config.clone(), &stamps).score, Some(0.5));
    assert_eq!(grade_as("tool-trajectory", Profile::AgentV2, config, &stamps).score, Some(1.0));
}

#[test]
fn verdicts_of_the_first_versions() {
    for (made, word, verdict) in [
        ("a b c d e", "pass", Verdict::Pass),
        ("a b c d", "pass", Verdict::Pass),
        ("a b c", "borderline", Verdict::Fail),
        ("a b", "fail", Verdict::Fail),
    ] {
        let outcome = ask("in_order", "a b c d e", made, Profile::AgentV1);
        assert_eq!((outcome.metrics["verdict"].as_str(), outcome.verdict), (Some(word), verdict));
    }
}

#[test]
fn null_for_arguments() {
    let made = agentv(json!([{"tool": "a", "input": null}, {"tool": "b"}]));
    let config = json!({"mode": "in_order", "args_match": "superset", "expected": [{"tool": "a", "args": {"q": 1}}, {"tool": "b"}]});
    let theirs = grade_as("tool-trajectory", Profile::AgentV2, config.clone(), &made);
    assert_eq!((theirs.verdict, theirs.score), (Verdict::Fail, Some(0.0)));
    assert_eq!(theirs.metrics["error"], true);
    assert_eq!(grade("tool-trajectory", config, &made).score, Some(0.5));
}

#[test]
fn rows_show_where_it_went_wrong() {
    let made = agentv(json!([
        {"tool": "x"}, {"tool": "a", "input": {"q": "no"}}, {"tool": "b"}, {"tool": "y"},
    ]));
    let config = json!({"mode": "in_order", "expected": [{"tool": "a", "args": {"q": "yes"}}, {"tool": "b"}, {"tool": "c"}]});
    let outcome = grade("tool-trajectory", config, &made);
    let explanation = outcome.explanation.unwrap();
    let states: Vec<RowState> = explanation.rows.iter().map(|row| row.state).collect();
    use RowState::{Extra, Matched, Mismatched, Missing};
    assert_eq!(states, [Extra, Mismatched, Matched, Missing, Extra]);
    assert_eq!(explanation.divergence, Some(1));
    assert_eq!(
        explanation.rows[1].why.as_ref().map(|text| text.raw()),
        Some("\"q\" is \"no\", expected \"yes\"")
    );
    assert_eq!(explanation.repair.len(), 2);
}

#[test]
fn another_reading_is_mentioned_where_it_differs() {
    use toolmark_config::Node;
    use toolmark_match::Building;
    let answer = |made: &str| {
        let info = crate::grader_by_id("tool_trajectory").unwrap();
        let config =
            Node::from_json(&json!({"mode": "exact", "expected": [{"tool": "a"}]})).unwrap();
        let grader = (info.build)(&mut Building {
            config: &config,
            profile: Profile::Toolmark,
            contrast: Some(Profile::AgentV1),
            directory: std::path::Path::new("."),
            schemas: toolmark_match::call_match::compile_schema,
            problems: &mut Vec::new(),
        });
        crate::testing::ask(&*grader.unwrap(), &runs(&agentv(calls(made)))[0])
    };
    let contrast = answer("a x").contrast.unwrap();
    assert_eq!(
        (contrast.profile, contrast.verdict, contrast.score),
        (Profile::AgentV1, Verdict::Pass, Some(1.0))
    );
    assert_eq!(answer("a").contrast, None);
}

#[test]
fn a_row_of_totals_is_no_evidence() {
    let row = r#"{"test_id":"t","target":"x","score":1,"trace":{"tool_calls_by_name":{"a":4}}}"#;
    let config = json!({"mode": "any_order", "minimums": {"a": 1}});
    let outcome = grade("tool-trajectory", config, row);
    assert_eq!(outcome.verdict, Verdict::Unknown(Cause::MissingEvidence));
}

#[test]
fn mistakes() {
    for (config, complaint) in [
        (json!({"mode": "sorted", "expected": []}), "sorted"),
        (json!({"mode": "any_order"}), "needs \"minimums\""),
        (json!({"mode": "in_order"}), "needs \"expected\""),
        (json!({"mode": "in_order", "expected": {}}), "list"),
        (json!({"mode": "any_order", "minimums": {"a": -1}}), "0 or more"),
        (json!({"mode": "any_order", "minimums": ["a"]}), "map"),
        (json!({"mode": "exact", "expected": ["a"]}), "map"),
        (json!({"mode": "exact", "expected": [{"args": {}}]}), "tool"),
        (json!({"mode": "exact", "expected": [{"tool": "a", "args": "some"}]}), "arguments or any"),
        (json!({"mode": "exact", "args_match": "fuzzy", "expected": []}), "fuzzy"),
        (json!({"mode": "exact", "args_match": [], "expected": []}), "one or more paths"),
        (
            json!({"mode": "exact", "expected": [{"tool": "a", "args": {"q": 1}, "args_match": ["z"]}]}),
            "nothing at \"z\"",
        ),
        (json!({"mode": "exact", "expected": [{"tool": "a", "max_duration_ms": -1}]}), "0 or more"),
        (json!({"mode": "exact", "expected": [], "minimum": {}}), "unknown key"),
    ] {
        let said = complaints("tool-trajectory", &config).join("; ");
        assert!(said.contains(complaint), "{config}: {said}");
    }
    // What AgentV drops with a warning is dropped under its readings.
    let config = json!({"mode": "exact", "args_match": "fuzzy", "expected": [{"tool": "a", "args": [], "max_duration_ms": "1"}, "b", {"args": {}}]});
    assert_eq!(complaints("tool-trajectory", &config).len(), 5);
    let outcome = grade_as("tool-trajectory", Profile::AgentV2, config, &agentv(calls("a")));
    assert_eq!(outcome.score, Some(1.0));
    let config = json!({"mode": "superset", "expected": []});
    assert!(build("tool-trajectory", Profile::AgentV1, &config).is_err());
    assert!(build("tool-trajectory", Profile::AgentV5, &config).is_err());
}
