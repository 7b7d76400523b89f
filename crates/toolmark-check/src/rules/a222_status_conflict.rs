//! # What it does
//!
//! Finds a change of a thing whose last seen status shows that the change cannot
//! apply. The tool names the status that it needs (`exchange_delivered_items`,
//! `modify_pending_order`), or the thing already is what the call makes of it
//! (`cancel_order` of a cancelled order). The status is that of the last result
//! that contains the identifier from the arguments in the same object.
//!
//! # Why
//!
//! The agent had read the status. The call fails, or it changes something that
//! was settled.
//!
//! # What to do
//!
//! Read the status before the call, and tell the user if the change is not
//! possible.
//!
//! # Examples
//!
//! ```fires
//! host: openai
//! get_order {"order_id":"W1"} -> "{\"order_id\":\"W1\",\"status\":\"pending\"}"
//! exchange_delivered_order_items {"order_id":"W1","item_ids":["1"]} -> "Error: non-delivered order cannot be exchanged"
//! ```
//!
//! ```fires
//! host: openai
//! get_order {"order_id":"W5"} -> "{\"order_id\":\"W5\",\"status\":\"pending\"}"
//! exchange_delivered_order_items {"order_id":"W5","item_ids":["4"]} -> "Error: non-delivered order cannot be exchanged"
//! ```
//!
//! ```fires
//! host: openai
//! get_booking {"booking_id":"B7"} -> "{\"booking_id\":\"B7\",\"status\":\"cancelled\"}"
//! cancel_booking {"booking_id":"B7"} -> "ok"
//! ```
//!
//! ```fires
//! host: openai
//! list_orders {} -> "[{\"order_id\":\"W1\",\"status\":\"delivered\"},{\"order_id\":\"W2\",\"status\":\"processed\"}]"
//! modify_pending_order_address {"order_id":"W2","city":"Bonn"} !> "Error: not pending"
//! ```
//!
//! The status fits, is unknown, or has changed:
//!
//! ```quiet
//! host: openai
//! get_order {"order_id":"W1"} -> "{\"order_id\":\"W1\",\"status\":\"delivered\"}"
//! exchange_delivered_order_items {"order_id":"W1","item_ids":["1"]} -> "ok"
//! ```
//!
//! ```quiet
//! host: openai
//! exchange_delivered_order_items {"order_id":"W1","item_ids":["1"]} -> "ok"
//! ```
//!
//! ```quiet
//! host: openai
//! get_order {"order_id":"W1"} -> "{\"order_id\":\"W1\",\"status\":\"pending\"}"
//! get_order {"order_id":"W1"} -> "{\"order_id\":\"W1\",\"status\":\"delivered\"}"
//! return_delivered_order_items {"order_id":"W1","item_ids":["1"]} -> "ok"
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use serde_json::Value;
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::{Axis, Confidence, EvidenceRole, Severity};
use toolmark_session::session::{Session, SessionCall};
use toolmark_session::tool_effect::ToolEffect;

pub(crate) static RULE: Rule = Rule {
    code: "A222",
    name: "status-conflict",
    axis: Axis::Arguments,
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "changes a thing whose last seen status does not allow it",
    remedy: "read the status before the call",
    source: page!("a222_status_conflict.rs"),
    check,
};

/// Words of tool names that are the status that the tool needs.
const NEEDED: &[&str] = &[
    "pending",
    "delivered",
    "active",
    "open",
    "closed",
    "draft",
    "unpaid",
    "paid",
    "confirmed",
    "scheduled",
    "suspended",
    "shipped",
    "expired",
];
/// Verbs, with the stem of the status after them.
const RESULTS: &[(&str, &str)] = &[
    ("cancel", "cancel"),
    ("refund", "refunded"),
    ("return", "returned"),
    ("close", "closed"),
    ("activate", "active"),
    ("suspend", "suspended"),
    ("approve", "approved"),
    ("archive", "archived"),
];
/// Maximum number of earlier calls to search.
const MAX_CALLS: usize = 100;
/// Maximum length of a result to parse.
const MAX_RESULT: usize = 256 << 10;
/// Maximum number of values of a result to visit.
const MAX_VALUES: usize = 5000;

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    for call in session.calls().iter().filter(|call| call.role == ToolRole::Other) {
        if !call.tool_effect().is_some_and(ToolEffect::is_change) {
            continue;
        }
        let name = call.call.name.full().to_lowercase();
        let words: Vec<&str> = name.split(|c: char| !c.is_ascii_alphanumeric()).collect();
        let needed = needed_status(&words);
        let result = RESULTS.iter().find(|(verb, _)| words.contains(verb)).map(|(_, stem)| *stem);
        if needed.is_none() && result.is_none() {
            continue;
        }
        let Some((id, seen, status)) = last_status(session, call) else { continue };
        recorder.count_opportunity(call);
        let status = status.to_lowercase();
        let conflicts = match needed {
            Some(needed) => !status.contains(needed),
            None => result.is_some_and(|stem| status.starts_with(stem)),
        };
        if conflicts {
            let message =
                format!("{} is called for {id}, whose last seen status is {status}", call.tool);
            recorder.find(
                Draft::new(call, message).bucket("status").evidence(session.result_evidence(
                    EvidenceRole::Context,
                    "the status",
                    seen,
                )),
            );
        }
    }
}

/// Returns the status that the name of a tool needs: the word behind its verb. Some verbs set the
/// status instead.
fn needed_status<'w>(words: &[&'w str]) -> Option<&'w str> {
    let at = words.iter().skip(1).position(|word| NEEDED.contains(word))?;
    let verb = words.get(at)?;
    let sets = matches!(*verb, "set" | "mark" | "make" | "create" | "add" | "start");
    words.get(at + 1).copied().filter(|_| !sets)
}

/// Returns the status of the thing that a call names, from the last result that shows it.
fn last_status<'s, 'a>(
    session: &'s Session<'a>,
    call: &SessionCall<'_>,
) -> Option<(String, &'s SessionCall<'a>, String)> {
    let args = call.args()?.as_object()?;
    let is_id = |key: &str| key == "id" || key.ends_with("_id") || key.ends_with("Id");
    let mut ids = args.iter().filter(|(key, _)| is_id(key)).filter_map(|(_, value)| value.as_str());
    // Of several identifiers, it is unknown which one the status belongs to.
    let id = ids.next().filter(|id| id.len() > 1)?;
    let earlier = session
        .before(call)
        .filter(|other| other.call.step != call.call.step || call.call.step.is_none());
    for other in earlier.take(MAX_CALLS) {
        let Some(text) = other.result().filter(|text| text.len() < MAX_RESULT && text.contains(id))
        else {
            continue;
        };
        let is_change = other.tool_effect() != Some(ToolEffect::Read);
        let found = serde_json::from_str(&text).ok().and_then(|value| status_of(&value, id));
        match found {
            Some(status) => return Some((id.to_owned(), other, status)),
            // A change without a status leaves it unknown.
            None if is_change => return None,
            None => {}
        }
    }
    None
}

/// Returns the status in the object that has the identifier as one of its own values.
fn status_of(value: &Value, id: &str) -> Option<String> {
    let mut open = vec![value];
    let mut visited = 0;
    while let Some(value) = open.pop() {
        visited += 1;
        if visited > MAX_VALUES {
            return None;
        }
        match value {
            Value::Object(map) => {
                let has_id = map.iter().any(|(key, value)| {
                    value.as_str() == Some(id)
                        && (key == "id" || key.ends_with("id") || key.ends_with("Id"))
                });
                if has_id && let Some(status) = map.get("status").and_then(Value::as_str) {
                    return Some(status.to_owned());
                }
                open.extend(map.values());
            }
            Value::Array(list) => open.extend(list),
            _ => {}
        }
    }
    None
}
