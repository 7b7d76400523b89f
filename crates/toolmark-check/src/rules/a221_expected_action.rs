//! # What it does
//!
//! Compares the changes that a run made with the actions that its own record
//! expects, as in files of tau-bench and tau2-bench. It reports a change with
//! another argument, a change that was not expected, an expected change that was
//! never made, and an expected value that no message to the user contains. Only
//! runs that failed by their own record are compared, because a task may be
//! solved in another way. Calls that only read, and calls that failed, do not
//! count as changes.
//!
//! # Why
//!
//! A reward of 0 says that a run failed. The difference to the expected actions
//! says which call and which argument made it fail.
//!
//! # What to do
//!
//! Correct the argument in the finding, or find out why the call was made or
//! left out.
//!
//! # Examples
//!
//! ```fires
//! host: openai
//! expected: cancel_order {"order_id":"W1","reason":"no longer needed"}
//! cancel_order {"order_id":"W1","reason":"ordered by mistake"} -> "ok"
//! ```
//!
//! ```fires
//! host: openai
//! expected: cancel_order {"order_id":"W1"}
//! get_order {"order_id":"W1"} -> "pending"
//! ```
//!
//! ```fires
//! host: openai
//! expected: cancel_order {"order_id":"W1"}
//! cancel_order {"order_id":"W1"} -> "ok"
//! cancel_order {"order_id":"W2"} -> "ok"
//! ```
//!
//! The run made what was expected, or nothing is expected:
//!
//! ```quiet
//! host: openai
//! expected: cancel_order {"order_id":"W1"}
//! get_order {"order_id":"W1"} -> "pending"
//! cancel_order {"order_id":"W1"} -> "ok"
//! ```
//!
//! ```quiet
//! host: openai
//! cancel_order {"order_id":"W2"} -> "ok"
//! ```
//!
//! Calls that only read are not compared:
//!
//! ```quiet
//! host: openai
//! expected: get_order {"order_id":"W1"}
//! get_order {"order_id":"W2"} -> "pending"
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use serde_json::Value;
use toolmark_outcome::{Axis, Confidence, Evidence, EvidenceRole, Severity};
use toolmark_session::session::{Ended, Session, SessionCall};
use toolmark_session::tool_effect::ToolEffect;
use toolmark_trace::{DeclaredOutcome, EventKind, ExpectedCall};

pub(crate) static RULE: Rule = Rule {
    code: "A221",
    name: "expected-action",
    axis: Axis::Arguments,
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "differs from the actions that the record of a failed run expects",
    remedy: "compare the call with the expected action",
    source: page!("a221_expected_action.rs"),
    check,
};

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    let run = session.trajectory();
    let has_failed = run.declared_outcome().is_some_and(|it| it.outcome == DeclaredOutcome::Failed);
    let Some(expected) = run.stated.expected.as_ref().filter(|_| has_failed) else { return };
    let changes = |name: &str| ToolEffect::of_name(name).is_some_and(|it| it != ToolEffect::Read);
    let mut made: Vec<&SessionCall<'_>> = session
        .calls()
        .iter()
        .filter(|call| call.ended != Ended::Failed && changes(&call.call.name.full()))
        .collect();
    let mut missing: Vec<&ExpectedCall> =
        expected.calls.iter().filter(|it| changes(&it.name.get())).collect();
    made.iter().for_each(|call| recorder.count_opportunity(call));
    missing.retain(|expected| {
        let same =
            made.iter().position(|call| differing(expected, call).is_some_and(|it| it.is_empty()));
        same.map(|at| made.remove(at)).is_none()
    });
    for expected in missing {
        let nearest = made
            .iter()
            .enumerate()
            .filter_map(|(at, call)| Some((differing(expected, call)?, at)))
            .min_by_key(|(fields, at)| (fields.len(), *at));
        match nearest {
            Some((fields, at)) => {
                let call = made.remove(at);
                let message = format!(
                    "{} differs from the expected action in {}",
                    call.tool,
                    fields.join(", ")
                );
                recorder.find(
                    Draft::new(call, message).bucket("argument").evidence(shown(session, expected)),
                );
            }
            None => report_missing(session, recorder, expected),
        }
    }
    for answer in expected.answers.iter().filter(|answer| !is_answered(session, &answer.get())) {
        let Some(last) = session.calls().last() else { return };
        let message = format!("no message contains the expected {}", answer.get());
        recorder.find(Draft::new(last, message).about("the last call").bucket("answer"));
    }
    for call in made {
        let message = format!("{} is not among the expected actions", call.tool);
        recorder.find(Draft::new(call, message).bucket("unexpected"));
    }
}

/// Whether a message of the agent contains an expected answer. Digits may be grouped.
fn is_answered(session: &Session<'_>, answer: &str) -> bool {
    let plain = |text: &str| text.replace(',', "").to_lowercase();
    let answer = plain(answer);
    let said = session.events().iter().filter(|event| event.kind == EventKind::Message);
    said.filter_map(|event| event.text.as_ref()).any(|text| plain(&text.plain()).contains(&answer))
}

/// Reports an expected action that was never made, at the last call.
fn report_missing(session: &Session<'_>, recorder: &mut Recorder<'_, '_>, expected: &ExpectedCall) {
    let Some(last) = session.calls().last() else { return };
    let message = format!("the expected {} was never made", expected.name.get());
    let draft = Draft::new(last, message).about("the last call").bucket("missing");
    recorder.find(draft.evidence(shown(session, expected)));
}

fn shown(session: &Session<'_>, expected: &ExpectedCall) -> Evidence {
    let words = format!("expected: {} {}", expected.name.get(), expected.args.to_value());
    Evidence::words(EvidenceRole::Context, words).at(session.place(&expected.at))
}

/// Returns the arguments in which a call differs from an expected one; `None` for another tool.
fn differing(expected: &ExpectedCall, call: &SessionCall<'_>) -> Option<Vec<String>> {
    if expected.name.get() != call.call.name.full() {
        return None;
    }
    let none = Value::Null;
    let (wanted, made) = (expected.args.parsed().unwrap_or(&none), call.args().unwrap_or(&none));
    let keys = |value: &Value| -> Vec<String> {
        value.as_object().map(|map| map.keys().cloned().collect()).unwrap_or_default()
    };
    let mut names = keys(wanted);
    names.extend(keys(made));
    names.sort();
    names.dedup();
    if let Some(compared) = &expected.compared {
        names.retain(|name| compared.iter().any(|it| it.get() == name.as_str()));
    }
    // A text for a person is written in the agent's own words.
    let is_free = ToolEffect::of_name(&call.call.name.full())
        .is_some_and(|it| matches!(it, ToolEffect::HandOff | ToolEffect::Send));
    names.retain(|name| {
        let is_text = FREE_TEXTS.contains(&name.as_str());
        !is_text && !is_free && !is_same(wanted.get(name), made.get(name))
    });
    Some(names)
}

/// Arguments with text in the agent's own words.
const FREE_TEXTS: &[&str] =
    &["summary", "message", "note", "notes", "comment", "description", "body"];

/// Whether two arguments are the same. A missing argument is the same as none, and lists of
/// plain values are compared without their order.
fn is_same(one: Option<&Value>, two: Option<&Value>) -> bool {
    match (one, two) {
        (None | Some(Value::Null), None | Some(Value::Null)) => true,
        (Some(Value::Number(one)), Some(Value::Number(two))) => one.as_f64() == two.as_f64(),
        (Some(Value::Array(one)), Some(Value::Array(two))) => {
            let sorted = |list: &[Value]| {
                let mut texts: Vec<String> = list.iter().map(Value::to_string).collect();
                texts.sort();
                texts
            };
            one == two || one.iter().all(|it| !it.is_object()) && sorted(one) == sorted(two)
        }
        (Some(one), Some(two)) => one == two,
        _ => false,
    }
}
