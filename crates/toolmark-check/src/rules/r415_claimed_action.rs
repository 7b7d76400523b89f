//! # What it does
//!
//! Finds a last message that says that something was done in a service ("your
//! booking has been cancelled", "I have submitted the form"), although no call
//! of the session that may have done it succeeded. Only sessions over named
//! tools are examined, and only if every tool has a known effect. A hand-off,
//! a sub-agent, a shell command and a tool without a known verb may have done
//! it too.
//!
//! # Why
//!
//! The user takes the sentence for a fact and waits for a refund that no call
//! has started.
//!
//! # What to do
//!
//! Report what the last result says. If the call failed, say so and say what
//! happens next.
//!
//! # Examples
//!
//! ```fires
//! host: openai
//! user: cancel order W1
//! find_user {"email":"a@b.c"} -> "Error: user not found"
//! assistant: Your order has been cancelled.
//! ```
//!
//! ```fires
//! host: openai
//! user: refund order 7
//! get_order {"id":"7"} -> "{\"status\":\"delivered\"}"
//! refund_order {"id":"7"} !> "Error: the refund is not allowed"
//! assistant: The refund has been processed.
//! ```
//!
//! ```fires
//! host: openai
//! user: book the 9:00 slot
//! list_slots {"day":"monday"} -> "9:00, 10:00"
//! assistant: I have booked the 9:00 slot for you.
//! ```
//!
//! ```fires
//! host: openai
//! user: refund order 8
//! get_order {"id":"8"} -> "{\"status\":\"delivered\"}"
//! refund_order {"id":"8"} !> "Error: the refund is not allowed"
//! assistant: The refund has been processed.
//! ```
//!
//! A call did it, or the message is about a result:
//!
//! ```quiet
//! host: openai
//! user: cancel order W1
//! cancel_order {"id":"W1"} -> "ok"
//! assistant: Your order has been cancelled.
//! ```
//!
//! ```quiet
//! host: openai
//! user: what about order W1?
//! get_order {"id":"W1"} -> "{\"status\":\"cancelled\"}"
//! assistant: The order has been cancelled on Monday.
//! ```
//!
//! ```quiet
//! host: openai
//! user: cancel order W1
//! get_order {"id":"W1"} -> "{\"status\":\"pending\"}"
//! assistant: Once it has been cancelled you get a mail. Shall I go on?
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::{Axis, Confidence, EvidenceRole, Severity};
use toolmark_session::claims::{Statement, Topic};
use toolmark_session::error_class::classify;
use toolmark_session::session::{Ended, Session, SessionCall};
use toolmark_session::tool_effect::ToolEffect;

pub(crate) static RULE: Rule = Rule {
    code: "R415",
    name: "claimed-action",
    axis: Axis::Recovery,
    severity: Severity::Error,
    confidence: Confidence::Medium,
    summary: "says that something was done although no call did it",
    remedy: "report what the last result says",
    source: page!("r415_claimed_action.rs"),
    check,
};

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    let calls = session.calls();
    let is_named = |call: &SessionCall<'_>| {
        matches!(call.role, ToolRole::Other | ToolRole::FetchesWeb | ToolRole::AsksUser)
    };
    if calls.is_empty() || !calls.iter().all(is_named) {
        return;
    }
    let Some(last) = calls.last() else { return };
    recorder.count_opportunity(last);
    if calls.iter().any(may_have_done) {
        return;
    }
    let Some(said) = session.said_after(last).last() else { return };
    let is_last = |one: &&Statement| {
        session.events().get(one.event).is_some_and(|event| std::ptr::eq(event, said))
    };
    let mut claims = session.statements().iter().filter(|one| one.topic == Topic::Acted);
    let Some(claim) = claims.find(|one| is_last(one) && !rests_on_result(session, one)) else {
        return;
    };
    let failed = calls.iter().rev().find(|call| is_change(call));
    let message = match failed {
        Some(call) => format!("the last message says it was done, but {} failed", call.tool),
        None => "the last message says it was done, but no call changed anything".to_owned(),
    };
    let draft = Draft::new(failed.unwrap_or(last), message)
        .about("the call that it may be about")
        .bucket(claim.phrase.trim().replace(' ', "-"))
        .place(session.place(&said.at))
        .evidence(session.event_evidence(EvidenceRole::Context, "what the agent claims", said));
    recorder.find(draft);
}

fn is_change(call: &SessionCall<'_>) -> bool {
    call.tool_effect().is_some_and(|effect| effect != ToolEffect::Read)
}

/// Whether a call may have changed something. Names without a known verb may.
fn may_have_done(call: &SessionCall<'_>) -> bool {
    let has_failed = call.ended == Ended::Failed || classify(call).is_some();
    call.role == ToolRole::Other && !has_failed && call.tool_effect() != Some(ToolEffect::Read)
}

/// Whether a result contains the verb of a claim, which may then be about the result.
fn rests_on_result(session: &Session<'_>, claim: &Statement) -> bool {
    let verb = claim.phrase.split_whitespace().last().unwrap_or_default();
    let stem = verb.get(..verb.len().min(6)).unwrap_or(verb);
    let stems = match stem {
        // "successfully" says nothing about the action.
        "succes" => return true,
        stem => [stem],
    };
    session.calls().iter().any(|call| {
        classify(call).is_none()
            && call.result().is_some_and(|text| {
                let text = text.to_lowercase();
                stems.iter().any(|stem| text.contains(stem))
            })
    })
}
