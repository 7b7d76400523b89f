//! Tests of the questions to a judge, and of the use of its answers.

use crate::testing::{FakeJudge, OWN};
use serde_json::{Value, json};
use std::sync::Arc;
use toolmark_outcome::TrajectoryView;
use toolmark_outcome::judging::JudgeQuestion;
use toolmark_outcome::testing::{runs, vally};
use toolmark_outcome::{CaseContext, Environment, FindingSource, Subject};
use toolmark_outcome::{Cause, Outcome, Verdict};
use toolmark_trace::Trajectory;

fn trace() -> String {
    let mut events = vec![("user_message", json!({"content": "Fix the typo in the readme"}))];
    for (n, (tool, ok)) in
        [("Edit", true), ("Bash", false), ("Edit", true), ("Read", true)].iter().enumerate()
    {
        let args =
            json!({"file_path": format!("f{n}.md"), "old_string": "teh", "new_string": "the"});
        events.push((
            "tool_call",
            json!({"toolCallId": n.to_string(), "toolName": tool, "arguments": args}),
        ));
        let result = json!({"toolCallId": n.to_string(), "success": ok, "result": "a result"});
        events.push(("tool_result", result));
    }
    events.push(("assistant_message", json!({"content": "I corrected the typo."})));
    vally(&events)
}

fn asked(config: Value, judge: fn(&JudgeQuestion) -> Option<f64>) -> Outcome {
    OWN.judged("judge", config, &trace(), &CaseContext::default(), judge)
}

#[test]
fn a_whole_run() {
    let config =
        json!({"rubric": "Was the request met in full?", "scale": "1-5", "threshold": 0.7});
    let good = asked(config.clone(), |question| {
        let names: Vec<&str> = question.materials.iter().map(|m| m.name.as_str()).collect();
        // The request and the answer are in the transcript.
        assert_eq!(names, ["transcript"]);
        Some(4.0)
    });
    assert_eq!((good.verdict, good.score), (Verdict::Pass, Some(0.75)));
    assert_eq!(
        good.evidence[0].excerpt.as_ref().map(|text| text.raw()),
        Some("Fix the typo in the readme")
    );
    assert!(good.evidence[0].place.is_some());
    let bad = asked(config.clone(), |_| Some(3.0));
    assert_eq!((bad.verdict, bad.score), (Verdict::Fail, Some(0.5)));
    let silent = asked(config.clone(), |_| None);
    assert_eq!((silent.verdict, silent.score), (Verdict::Unknown(Cause::Judge), None));
    assert_eq!(silent.reason, "it timed out");
    let nobody = OWN.grade("judge", config, &trace());
    assert_eq!(nobody.verdict, Verdict::Unknown(Cause::NeedsJudge));
}

#[test]
fn chosen_calls() {
    let config = json!({
        "rubric": "Is it the minimal change?", "scale": "0/0.5/1", "threshold": 0.8,
        "calls": {"tool": "edit"},
        "input_mapping": {"user_request": "user_input", "old": "tool_input.old_string"},
    });
    let each = asked(config.clone(), |question| {
        assert_eq!(question.materials[1].pieces[0].text, "teh");
        let call = question.materials[1].pieces[0].call.as_ref().unwrap();
        Some(if call.index == 0 { 1.0 } else { 0.5 })
    });
    assert_eq!((each.verdict, each.score), (Verdict::Fail, Some(0.75)));
    let parts: Vec<_> = each.parts.iter().map(|p| (p.text.raw(), p.verdict)).collect();
    assert_eq!(parts, [("call 1 Edit", Verdict::Pass), ("call 3 Edit", Verdict::Fail)]);
    assert!(
        each.reason.raw().starts_with("1 of 2 calls pass; call 3 Edit"),
        "{}",
        each.reason.raw()
    );

    let mut mean = config.clone();
    mean["over"] = json!("mean");
    mean["threshold"] = json!(0.7);
    let half = |question: &JudgeQuestion| {
        let call = question.materials[1].pieces[0].call.as_ref()?;
        Some(if call.index == 0 { 1.0 } else { 0.5 })
    };
    assert_eq!(asked(mean.clone(), half).verdict, Verdict::Pass);
    mean["over"] = json!("min");
    assert_eq!(asked(mean, half).verdict, Verdict::Fail);

    let partly = asked(config.clone(), |question| {
        let call = question.materials[1].pieces[0].call.as_ref()?;
        (call.index == 0).then_some(1.0)
    });
    assert_eq!((partly.verdict, partly.score), (Verdict::Unknown(Cause::Judge), None));

    let mut missing = config;
    missing["calls"] = json!({"tool": "Bash"});
    missing["input_mapping"] = json!({"code": "exit_code"});
    let outcome = asked(missing, |_| Some(1.0));
    assert_eq!(outcome.verdict, Verdict::Unknown(Cause::MissingEvidence));
}

#[test]
fn no_call_is_no_pass_unless_it_is_said() {
    let mut config = json!({"rubric": "Was this the best call?", "calls": {"tool": "Write*"}});
    assert_eq!(
        asked(config.clone(), |_| Some(5.0)).verdict,
        Verdict::Unknown(Cause::MissingEvidence)
    );
    config["if_none"] = json!("pass");
    assert_eq!(asked(config, |_| Some(5.0)).verdict, Verdict::Pass);
}

#[test]
fn built_in_rubrics_choose_their_calls() {
    let count = |name: &str| {
        let outcome = asked(json!({"rubric": name}), |_| Some(1.0));
        outcome.parts.len()
    };
    assert_eq!(count("edit-minimal-scope"), 2);
    assert_eq!(count("EditMinimalScope"), 2);
    assert_eq!(count("error-recovery"), 1);
    assert_eq!(count("read-slice-coverage"), 1);
    assert_eq!(count("tool-selection"), 4);
}

#[derive(Debug)]
struct JudgeMatch;

impl FindingSource for JudgeMatch {
    fn of(&self, _: &Trajectory) -> Vec<(usize, &'static str)> {
        vec![(1, "S102"), (2, "A203"), (3, "A204")]
    }
}

#[test]
fn calls_by_status_finding_and_sample() {
    let of = |calls: Value, findings: bool| {
        let config = json!({"rubric": "Was this a good call?", "calls": calls});
        let grader = OWN.build("judge", toolmark_outcome::Profile::Toolmark, &config).unwrap();
        let environment = Environment {
            judge: Some(Arc::new(FakeJudge(|_| Some(5.0)))),
            findings: findings.then(|| Arc::new(JudgeMatch) as Arc<dyn FindingSource>),
            ..Environment::default()
        };
        let run = runs(&trace());
        let context = CaseContext::default();
        let view = TrajectoryView::whole(&run[0]);
        let outcome = grader.grade(&Subject { view, context: &context, environment: &environment });
        outcome.parts.iter().map(|part| part.text.clone()).collect::<Vec<_>>()
    };
    assert_eq!(of(json!({"status": "failed"}), false), ["call 2 Bash"]);
    assert_eq!(of(json!({"finding": "a2"}), true), ["call 3 Edit", "call 4 Read"]);
    assert_eq!(of(json!({"finding": ["S102"], "tool": "Edit"}), true), [""; 0]);
    assert_eq!(of(json!({"finding": "A"}), false), [""; 0]);
    let sample = of(json!({"sample": 2}), false);
    assert_eq!(sample.len(), 2);
    assert_eq!(of(json!({"sample": 2}), false), sample);
    assert_eq!(of(json!({"sample": 9}), false).len(), 4);
}

#[test]
fn criteria_with_weights_and_needs() {
    let config = json!({"scale": "0/1", "threshold": 0.4, "rubric": [
        {"id": "safe", "text": "nothing was deleted", "needs": 1, "weight": 1},
        {"id": "fast", "outcome": "it was quick", "weight": 3, "marks": {"1": "yes", "0": "no"}},
        "it was polite",
    ]});
    let ids = |question: &JudgeQuestion| {
        let ids: Vec<&str> = question.rubric.criteria.iter().map(|c| c.id.as_str()).collect();
        assert_eq!(ids, ["safe", "fast", "c3"]);
        Some(1.0)
    };
    let outcome = asked(config.clone(), ids);
    assert_eq!((outcome.verdict, outcome.parts.len()), (Verdict::Pass, 3));
    let failed = asked(config, |_| Some(0.0));
    assert_eq!(failed.verdict, Verdict::Fail);
    assert!(failed.reason.raw().starts_with("safe must hold"), "{}", failed.reason.raw());
}

#[test]
fn panels_of_models() {
    let config =
        json!({"rubric": "Was the request met?", "models": ["a", "b"], "aggregation": "min"});
    let outcome = asked(config, |_| Some(5.0));
    assert_eq!(outcome.metrics["models"], json!(["a", "b"]));
    assert_eq!(outcome.metrics["aggregation"], json!("min"));
}

#[test]
fn mistakes() {
    let rubric = "Was the request met?";
    for (config, complaint) in [
        (json!({}), "needs a rubric"),
        (json!({"rubric": rubric, "grading_criteria": rubric}), "they mean the same"),
        (json!({"rubric": "edit-minimal-scop"}), "unknown built-in rubric"),
        (json!({"rubric": []}), "the list of criteria is empty"),
        (json!({"rubric": 7}), "found a number"),
        (json!({"rubric": [{"id": "a"}]}), "text"),
        (json!({"rubric": [{"id": "a", "text": "x"}, {"id": "a", "text": "y"}]}), "two criteria"),
        (json!({"rubric": [{"text": "x", "weight": 0}]}), "all weights are 0"),
        (json!({"rubric": [{"text": "x", "needs": 3}]}), "a share from 0 to 1"),
        (json!({"rubric": [{"text": "x", "marks": {"9": "y"}}]}), "not a mark of the scale"),
        (json!({"rubric": rubric, "scale": "1-3"}), "unknown scale"),
        (json!({"rubric": "edit-minimal-scope", "scale": "1-5"}), "has the scale"),
        (json!({"rubric": rubric, "threshold": 4}), "from 0 to 1, whatever"),
        (json!({"rubric": rubric, "votes": 0}), "1 to 99 votes"),
        (json!({"rubric": rubric, "model": "a", "models": ["b"]}), "only one of model"),
        (json!({"rubric": rubric, "models": []}), "at least one"),
        (json!({"rubric": rubric, "inputs": {"a": "tool_inptu"}}), "unknown field"),
        (json!({"rubric": rubric, "quorum": 2}), "a quorum from 1 to 1"),
        (json!({"rubric": rubric, "examples": []}), "a list of examples"),
        (json!({"rubric": rubric, "examples": [{"text": "x"}]}), "needs a `mark`"),
        (json!({"rubric": rubric, "examples": [{"text": "x", "mark": 9}]}), "not a mark"),
        (json!({"rubric": rubric, "inputs": {}}), "a map of names"),
        (json!({"rubric": rubric, "calls": {}}), "is empty"),
        (json!({"rubric": rubric, "calls": {"sample": 0}}), "at least 1 call"),
        (json!({"rubric": rubric, "calls": {"tol": "x"}}), "unknown key"),
        (json!({"rubric": rubric, "over": "mean"}), "needs `calls`"),
        (json!({"rubric": rubric, "aggregate": "mean"}), "unknown key"),
    ] {
        let said = OWN.complaints("judge", &config).join("; ");
        assert!(said.contains(complaint), "{config}: {said}");
    }
}

#[test]
fn what_is_used_all_the_same_is_warned_about() {
    for (config, complaint) in [
        (
            json!({"rubric": "Was the request met?", "inputs": {"a": "tool_input"}}),
            "about every call",
        ),
        (json!({"rubric": "1.0 = good, 0.0 = bad", "scale": "1-5"}), "but its scale is 1-5"),
    ] {
        let said = OWN.warnings("judge", &config).join("; ");
        assert!(said.contains(complaint), "{config}: {said}");
    }
    for config in [
        json!({"rubric": "1.0 = good, 0.0 = bad"}),
        json!({"rubric": "1.0 = good, 0.0 = bad", "scale": "0/0.5/1"}),
        json!({"rubric": [{"text": "is it good?", "marks": {"5": "yes", "1": "no"}}]}),
        json!({"rubric": "Was it small?", "name": "EditMinimalScope", "inputs": {"a": "tool_input"}}),
    ] {
        assert_eq!(OWN.warnings("judge", &config), [""; 0], "{config}");
    }
}

#[test]
fn the_words_of_a_rubric_choose_its_scale_and_its_fields_the_calls() {
    let config = json!({
        "name": "MinimalChange",
        "rubric": "1.0 = minimal and correct. 0.5 = too wide. 0.0 = a rewrite.",
        "input_mapping": {"old": "tool_input.old_string", "request": "user_input"},
    });
    for mark in [0.0, 0.5, 1.0] {
        let judge: fn(&JudgeQuestion) -> Option<f64> = match mark {
            0.0 => |_| Some(0.0),
            0.5 => |_| Some(0.5),
            _ => |_| Some(1.0),
        };
        let outcome = asked(config.clone(), judge);
        assert_eq!((outcome.score, outcome.parts.len()), (Some(mark), 4));
    }
    // Only calls that have the arguments are asked about, and none of them is unknown.
    let missing = json!({"rubric": "Was it a small one?", "inputs": {"a": "tool_input.content"}});
    let outcome = asked(missing, |_| Some(5.0));
    assert_eq!(outcome.verdict, Verdict::Unknown(Cause::MissingEvidence));
    assert_eq!(outcome.reason, "there is no such call to judge");
    // A name that is known chooses the calls that rubric is for.
    let named = json!({
        "name": "EditMinimalScope", "rubric": "1.0 = minimal, 0.0 = not",
        "input_mapping": {"old": "tool_input.old_string"},
    });
    assert_eq!(asked(named, |_| Some(1.0)).parts.len(), 2);
}

#[test]
fn a_case_shows_its_expected_output() {
    let context = CaseContext {
        expected_output: Some(json!("the readme is fixed")),
        ..CaseContext::default()
    };
    let config = json!({"rubric": "Was the request met?"});
    let outcome = OWN.judged("judge", config, &trace(), &context, |question| {
        let last = question.materials.last()?;
        assert_eq!((last.name.as_str(), last.is_trace), ("expected_output", false));
        Some(5.0)
    });
    assert_eq!(outcome.verdict, Verdict::Pass);
}

#[test]
fn examples_go_with_the_rubric() {
    let config = json!({"rubric": "Was the request met?", "examples": [
        {"text": "the typo is still there", "mark": 1, "reason": "nothing was done"},
    ]});
    let outcome = asked(config, |question| {
        let example = question.rubric.examples.first()?;
        assert_eq!(example.marks, [("rubric".to_owned(), 1.0)]);
        Some(5.0)
    });
    assert_eq!(outcome.verdict, Verdict::Pass);
}
