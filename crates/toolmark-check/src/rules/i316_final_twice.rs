//! # What it does
//!
//! Finds a call of a named tool that is final or moves money (a payment, a
//! booking, a cancellation) and is made a second time with the same arguments,
//! although the first one succeeded and the user did not write in between.
//!
//! # Why
//!
//! The second payment is a real payment. Services rarely notice that it was
//! meant as the first one.
//!
//! # What to do
//!
//! Read the result of the first call. Give the tool an idempotency key.
//!
//! # Examples
//!
//! ```fires
//! host: openai
//! user: pay the bill
//! pay_bill {"bill":"7","amount":20} -> "{\"receipt\":\"R1\"}"
//! pay_bill {"bill":"7","amount":20} -> "{\"receipt\":\"R2\"}"
//! ```
//!
//! ```fires
//! host: openai
//! user: refund the order
//! refund_order {"order_id":"W1"} -> "ok"
//! get_order {"order_id":"W1"} -> "{\"status\":\"refunded\"}"
//! refund_order {"order_id":"W1"} -> "ok"
//! ```
//!
//! ```fires
//! host: openai
//! user: book it
//! book_flight {"flight":"HA1","seats":1} -> "{\"reservation\":\"A\"}"
//! think {"thought":"did it work?"} -> ""
//! book_flight {"seats":1,"flight":"HA1"} -> "{\"reservation\":\"B\"}"
//! ```
//!
//! The first one failed, the arguments differ, or the user asked again:
//!
//! ```quiet
//! host: openai
//! user: pay the bill
//! pay_bill {"bill":"7","amount":20} !> "Error: try again"
//! pay_bill {"bill":"7","amount":20} -> "{\"receipt\":\"R1\"}"
//! ```
//!
//! ```quiet
//! host: openai
//! user: pay the bills
//! pay_bill {"bill":"7","amount":20} -> "ok"
//! pay_bill {"bill":"8","amount":20} -> "ok"
//! ```
//!
//! ```quiet
//! host: openai
//! user: pay the bill
//! pay_bill {"bill":"7","amount":20} -> "ok"
//! user: and the same again for my sister
//! pay_bill {"bill":"7","amount":20} -> "ok"
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use toolmark_outcome::{Axis, Confidence, EvidenceRole, Severity};
use toolmark_session::error_class::classify;
use toolmark_session::session::{Ended, Session, SessionCall};
use toolmark_session::tool_effect::ToolEffect;

pub(crate) static RULE: Rule = Rule {
    code: "I316",
    name: "final-twice",
    axis: Axis::Irreversibility,
    severity: Severity::Error,
    confidence: Confidence::Medium,
    summary: "repeats a final call that had succeeded",
    remedy: "read the result of the first call",
    source: page!("i316_final_twice.rs"),
    check,
};

/// Maximum number of final calls per session to compare.
const MAX_CALLS: usize = 200;

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    let is_final = |call: &&SessionCall<'_>| {
        call.tool_effect().is_some_and(ToolEffect::is_final)
            && call.ended != Ended::Failed
            && call.has_result()
            && classify(call).is_none()
    };
    let calls: Vec<_> = session.calls().iter().filter(is_final).take(MAX_CALLS).collect();
    for (at, call) in calls.iter().enumerate() {
        recorder.count_opportunity(call);
        let is_first = |other: &&&SessionCall<'_>| {
            other.turn == call.turn
                && other.tool == call.tool
                && other.call.agent == call.call.agent
                && other.args().is_some_and(|args| Some(args) == call.args())
        };
        let Some(first) = calls.iter().take(at).find(is_first) else { continue };
        let message = format!("{} was made again after it had succeeded", call.tool);
        recorder.find(
            Draft::new(call, message).about("the second call").evidence(session.result_evidence(
                EvidenceRole::Context,
                "the first call",
                first,
            )),
        );
    }
}
