//! # What it does
//!
//! Finds calls that do not meet a condition of the `tools:` or `order:` section of
//! `toolmark.yaml`: a value that an earlier result must have (`needs`), the source of
//! an argument (`from`), a call that must come before (`after`, `order`) or must not
//! (`not_with`), and the number of calls (`limit`). Agreement of the user and repeated
//! calls are reported by [I317](I317.md).
//!
//! Without such a section the rule finds nothing. A condition that the trace cannot
//! decide, because a result is missing or is not JSON, is reported with low
//! confidence.
//!
//! # Why
//!
//! Many tools accept a call that the rules of the business forbid. The results that
//! the agent had read show that the call was wrong.
//!
//! # What to do
//!
//! Read the result in the finding, and make the call only if the condition holds.
//!
//! # Examples
//!
//! ```fires
//! host: openai
//! policy: exchange_items {"needs": {"get_order.status": "delivered"}}
//! get_order {"order_id":"W1"} -> "{\"status\":\"pending\"}"
//! exchange_items {"order_id":"W1"} -> "ok"
//! ```
//!
//! ```fires
//! host: openai
//! policy: refund_order {"from": {"card": "get_user.cards"}}
//! get_user {"user_id":"u1"} -> "{\"cards\":[\"c1\"]}"
//! refund_order {"order_id":"W1","card":"c2"} -> "ok"
//! ```
//!
//! ```fires
//! host: openai
//! policy: cancel_order {"after": ["find_user"]}
//! cancel_order {"order_id":"W1"} -> "ok"
//! ```
//!
//! The conditions hold, or there are none:
//!
//! ```quiet
//! host: openai
//! policy: exchange_items {"needs": {"get_order.status": "delivered"}}
//! get_order {"order_id":"W1"} -> "{\"status\":\"delivered\"}"
//! exchange_items {"order_id":"W1"} -> "ok"
//! ```
//!
//! ```quiet
//! host: openai
//! policy: refund_order {"from": {"card": ["get_user.cards", "user"]}}
//! user: refund it to my card c2
//! refund_order {"order_id":"W1","card":"c2"} -> "ok"
//! ```
//!
//! ```quiet
//! host: openai
//! cancel_order {"order_id":"W1"} -> "ok"
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use toolmark_outcome::{Axis, Confidence, EvidenceRole, Severity};
use toolmark_session::session::Session;
use toolmark_session::tool_rules::{Condition, SessionPast, breaches};

pub(crate) static RULE: Rule = Rule {
    code: "A223",
    name: "tool-policy",
    axis: Axis::Arguments,
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "does not meet a condition of the policy for its tool",
    remedy: "make the call only if the condition of the policy holds",
    source: page!("a223_tool_policy.rs"),
    check,
};

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    report(session, recorder, |condition| {
        !matches!(condition, Condition::Confirm | Condition::Once)
    });
}

/// Reports calls that do not meet conditions of the policy.
pub(super) fn report(
    session: &Session<'_>,
    recorder: &mut Recorder<'_, '_>,
    is_own: fn(Condition) -> bool,
) {
    let policy = session.policy();
    if policy.is_empty() {
        return;
    }
    for call in session.calls() {
        let tool = call.call.name.full();
        if !policy.concerns(&tool) {
            continue;
        }
        recorder.count_opportunity(call);
        let past = SessionPast::before(session, call);
        let found = breaches(policy, &tool, call.args(), &past);
        for breach in found.into_iter().filter(|breach| is_own(breach.condition)) {
            let confidence = match breach.is_shown {
                true => Confidence::High,
                false => Confidence::Low,
            };
            let message = format!("{} {}", call.tool, breach.words);
            let draft = Draft::new(call, message).bucket(breach.condition.word());
            let earlier = breach.earlier.and_then(|at| past.call(at));
            let evidence = earlier.map(|other| {
                session.result_evidence(EvidenceRole::Context, "the earlier call", other)
            });
            let draft = draft.confidence(confidence);
            recorder.find(evidence.into_iter().fold(draft, Draft::evidence));
        }
    }
}
