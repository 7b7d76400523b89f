//! Tests of toolmark's own reading, and of behaviour common to all readings.

use super::{PROFILES, SYSTEMS, TOOLMARK};
use crate::scores::testing::{call, names, outcome, scores, trace};
use crate::testing::{complaints, grade, warnings};
use serde_json::json;
use toolmark_outcome::{Cause, Profile, Verdict};

const ID: &str = "trajectory-match";

#[test]
fn modes() {
    for (mode, reference, made, verdict, score) in [
        ("exact", "ab", "ab", "pass", 1.0),
        ("exact", "ab", "abx", "fail", 2.0 / 3.0),
        ("exact", "ab", "ba", "fail", 0.5),
        ("exact", "", "", "pass", 1.0),
        ("exact", "", "a", "fail", 0.0),
        ("in_order", "ab", "axb", "pass", 1.0),
        ("in_order", "abc", "bc", "fail", 2.0 / 3.0),
        ("any_order", "ab", "bxa", "pass", 1.0),
        ("any_order", "aa", "a", "fail", 0.5),
        ("unordered", "ab", "ba", "pass", 1.0),
        ("unordered", "aab", "abb", "fail", 2.0 / 3.0),
        ("within", "ab", "b", "pass", 1.0),
        ("within", "ab", "bb", "fail", 0.5),
        ("within", "ab", "", "pass", 1.0),
    ] {
        let config = json!({"mode": mode, "reference": names(reference)});
        let answer = scores(Profile::Toolmark, config, &names(made));
        assert_eq!(answer, (Some(score), verdict), "{mode} {reference} {made}");
    }
}

#[test]
fn arguments_and_results() {
    let made = json!([{"tool": "s", "input": {"q": "x", "n": 1.0}, "output": "ok"}]);
    for (options, reference, verdict) in [
        (json!({}), json!(["s"]), "pass"),
        (json!({}), json!([call("s", json!({"n": 1, "q": "x"}))]), "pass"),
        (json!({}), json!([call("s", json!({"q": "x"}))]), "fail"),
        (json!({"args_match": "superset"}), json!([call("s", json!({"q": "x"}))]), "pass"),
        (json!({"args_match": "subset"}), json!([call("s", json!({"q": "x"}))]), "fail"),
        (json!({"args_match": "ignore"}), json!([call("s", json!({"q": "z"}))]), "pass"),
        (
            json!({"args_match_overrides": {"s": ["n"]}}),
            json!([call("s", json!({"n": 1}))]),
            "pass",
        ),
        (
            json!({"args_match_overrides": {"s": ["z"]}}),
            json!([call("s", json!({"n": 1}))]),
            "fail",
        ),
        (json!({}), json!([call("s", json!({"n": true, "q": "x"}))]), "fail"),
        (json!({}), json!([{"name": "s", "output": "ok"}]), "pass"),
        (json!({}), json!([{"name": "s", "output": "bad"}]), "fail"),
    ] {
        let mut config = options.clone();
        config["reference"] = reference.clone();
        assert_eq!(scores(Profile::Toolmark, config, &made).1, verdict, "{options} {reference}");
    }
}

#[test]
fn a_call_that_failed_is_made_and_not_done() {
    let made = json!([{"tool": "a", "status": "error"}, {"tool": "a", "output": "1"}]);
    let config = |mode: &str| json!({"mode": mode, "reference": ["a"]});
    assert_eq!(scores(Profile::Toolmark, config("any_order"), &made).1, "pass");
    assert_eq!(scores(Profile::Toolmark, config("exact"), &made).1, "fail");
    let failed = json!([{"tool": "a", "status": "error"}]);
    assert_eq!(scores(Profile::Toolmark, config("any_order"), &failed).1, "fail");
    assert_eq!(scores(Profile::Strands, config("any_order"), &failed).1, "pass");
}

#[test]
fn calls_of_one_step_have_no_order() {
    let step = json!([{"tool": "b", "input": {}}, {"tool": "a", "input": {}}]);
    let row = json!({"id": "t", "output_messages": [{"role": "assistant", "tool_calls": step}]});
    let outcome = grade(ID, json!({"reference": ["a", "b"]}), &row.to_string());
    assert_eq!(outcome.verdict, Verdict::Pass, "{}", outcome.reason.raw());
}

#[test]
fn evidence_names_what_is_missing_and_what_is_extra() {
    let outcome = outcome(Profile::Toolmark, json!({"reference": ["a", "b"]}), &names("ax"));
    assert_eq!(outcome.reason, "2 calls expected, 2 made, 1 as expected");
    let texts: Vec<String> = outcome.evidence.iter().map(|e| e.text.raw().to_owned()).collect();
    assert_eq!(texts, ["b was not called", "not expected", "a"]);
    assert_eq!(outcome.explanation.unwrap().repair, ["call b"]);
}

#[test]
fn nothing_said_is_unknown_and_no_call_is_an_answer() {
    let outcome = grade(ID, json!({}), &trace(&names("a")));
    assert_eq!(outcome.verdict, Verdict::Unknown(Cause::MissingEvidence));
    let row = |expected| json!({"id": "r", "output": [{"name": "a"}], "expected": expected});
    assert_eq!(grade(ID, json!({}), &row(json!([])).to_string()).verdict, Verdict::Fail);
    assert_eq!(grade(ID, json!({}), &row(json!(["a"])).to_string()).verdict, Verdict::Pass);
}

#[test]
fn every_system_has_modes_and_names_the_own_ones() {
    let mut profiles: Vec<Profile> = SYSTEMS.iter().map(|system| system.profile).collect();
    assert_eq!(profiles.remove(0), Profile::Toolmark);
    assert_eq!(profiles, PROFILES);
    for system in SYSTEMS {
        for mode in system.modes {
            assert!(mode.own.is_none_or(|own| TOOLMARK.mode(own).is_some()), "{}", mode.word);
            let words = std::iter::once(&mode.word).chain(mode.aliases);
            for word in words {
                let found = system.mode(word).map(|found| found.word);
                assert_eq!(found, Some(mode.word), "{} {word}", system.profile);
            }
            assert!(super::DOCS.contains(mode.word), "{} {}", system.profile, mode.word);
        }
        let version = system.version.rsplit(' ').next().unwrap_or_default();
        assert!(super::DOCS.contains(version.trim_end_matches(')')), "{}", system.version);
    }
}

#[test]
fn mistakes() {
    for (config, complaint) in [
        (json!({"reference": ["a"], "mode": "exakt"}), "unknown mode"),
        (json!({"reference": [{"args": {}}]}), "needs a \"name\""),
        (json!({"reference": [{"name": "a", "arg": {}}]}), "unknown key \"arg\""),
        (json!({"reference": [1]}), "a tool or a map"),
        (json!({"reference": [], "mode": "any_order"}), "always passes"),
        (json!({"reference": ["a"], "threshold": 2}), "from 0 to 1"),
        (json!({"reference": ["a"], "args_match_overrides": {"a": 1}}), "list of paths"),
        (json!({"refrence": ["a"]}), "unknown key"),
    ] {
        let said = complaints(ID, &config).join("; ");
        assert!(said.contains(complaint), "{config}: {said}");
    }
    let said = warnings(ID, &json!({"reference": ["a"], "ignore_args": true})).join("; ");
    assert!(said.contains("\"ignore_args\" has no effect"), "{said}");
}
