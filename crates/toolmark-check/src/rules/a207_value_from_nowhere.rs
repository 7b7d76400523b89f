//! # What it does
//!
//! Finds identifiers (UUIDs and long hashes) in the arguments of a call that
//! appeared nowhere before: not in the user's messages, and not in the results
//! or arguments of earlier calls.
//!
//! A change by a business tool that fails is held to more: an id in it that no
//! earlier result contains was never looked up, even if the user named it.
//!
//! Calls that succeeded are not reported: the identifier may be meant to be
//! new. If it is unknown whether the call succeeded, the finding has low
//! confidence. Tools whose arguments are content (files to write, edits,
//! commands) are not checked, and neither are sessions that do not record what
//! the user said.
//!
//! # Why
//!
//! An identifier cannot be guessed. One that appeared nowhere is invented or
//! mistyped, and the call acts on the wrong thing or on nothing.
//!
//! # What to do
//!
//! Have the agent look the identifier up first, and copy it from the result.
//!
//! # Examples
//!
//! The call failed as well:
//!
//! ```fires
//! user: close the ticket about the login
//! mcp__tracker__close {"id":"7f9c24e5-2d1b-4b3e-9a61-0c8c6a1f0d22"} !> "not found"
//! ```
//!
//! ```fires
//! user: close it
//! mcp__tracker__list {} -> "11111111-2d1b-4b3e-9a61-0c8c6a1f0d22 login"
//! mcp__tracker__close {"id":"11111111-2d1b-4b3e-9a61-0c8c6a1f0d23"} !> "not found"
//! ```
//!
//! The user read the id off a page, and the tool does not know it:
//!
//! ```fires
//! host: openai
//! user: swap it for 7750021436 please
//! get_order {"order_id":"W81"} ?> "{\"items\": [{\"item_id\": \"5512049981\"}]}"
//! exchange_order_item {"order_id":"W81","new_item_id":"7750021436"} ?> "Error: item not found"
//! ```
//!
//! ```fires
//! user: what changed?
//! mcp__git__show {"commit":"3f786850e387550fdab836ed7e6dc881de23001b"} !> "bad object"
//! ```
//!
//! ```quiet
//! mcp__tracker__list {} -> "7f9c24e5-2d1b-4b3e-9a61-0c8c6a1f0d22 login"
//! mcp__tracker__close {"id":"7F9C24E5-2d1b-4b3e-9a61-0c8c6a1f0d22"} !> "locked"
//! ```
//!
//! ```quiet
//! user: close 7f9c24e5-2d1b-4b3e-9a61-0c8c6a1f0d22
//! mcp__tracker__close {"id":"7f9c24e5-2d1b-4b3e-9a61-0c8c6a1f0d22"} !> "locked"
//! ```
//!
//! A new object gets a new identifier, and the call succeeded:
//!
//! ```quiet
//! mcp__tracker__create {"id":"7f9c24e5-2d1b-4b3e-9a61-0c8c6a1f0d22","title":"x"} -> "ok"
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use foldhash::{HashSet, HashSetExt};
use serde_json::Value;
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::error_class::{ErrorClass, classify};
use toolmark_session::session::{Ended, Session, SessionCall};
use toolmark_session::tool_effect::ToolEffect;
use toolmark_trace::{Event, EventKind};

pub(crate) static RULE: Rule = Rule {
    code: "A207",
    name: "value-from-nowhere",
    axis: Axis::Arguments,
    severity: Severity::Info,
    confidence: Confidence::Low,
    summary: "the arguments contain an identifier that appeared nowhere before",
    remedy: "look the identifier up and copy it from the result",
    source: page!("a207_value_from_nowhere.rs"),
    check,
};

/// Maximum number of bytes per session to search.
const SEARCHED: usize = 256 << 20;
/// Maximum number of values per call to examine.
const VALUES: usize = 256;

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    unverified_ids(session, recorder);
    // Most sessions have no identifiers in arguments and need no search.
    let candidates: Vec<(&SessionCall<'_>, Vec<Identifier<'_>>)> = session
        .calls()
        .iter()
        .filter(|call| is_free(call.role))
        .filter_map(|call| {
            let found = identifiers(call.args()?);
            (!found.is_empty()).then_some((call, found))
        })
        .collect();
    let (Some((first, _)), Some((last, _))) = (candidates.first(), candidates.last()) else {
        return;
    };
    // Without the user's messages, the user may have named the identifier.
    let before = session.events().get(..first.event).unwrap_or_default();
    if !before.iter().any(Event::starts_turn) {
        return;
    }
    let mut wanted: Vec<_> = candidates.iter().map(|(call, found)| (*call, found)).collect();
    wanted.reverse();
    let mut seen: HashSet<u64> = HashSet::new();
    let mut left = SEARCHED;
    for (at, event) in session.events().iter().enumerate().take(last.event + 1) {
        while let Some((call, found)) = wanted.pop_if(|(call, _)| call.event <= at) {
            look_up(recorder, call, found, &seen);
        }
        let calls = &session.trajectory().calls;
        let text = match event.kind {
            EventKind::Call(index) => {
                calls.get(index as usize).and_then(|c| c.args.as_ref()).map(|args| args.raw())
            }
            EventKind::Result(index) => {
                let result = calls.get(index as usize).and_then(|c| c.result.as_ref());
                result.and_then(|result| result.payload.as_ref()).map(|payload| payload.plain())
            }
            _ => event.text.as_ref().map(|text| text.plain()),
        };
        let Some(text) = text else { continue };
        let Some(rest) = left.checked_sub(text.len()) else { return };
        left = rest;
        runs(&text).for_each(|run| {
            seen.insert(key(run));
            // In escaped text, a letter may precede the identifier.
            seen.extend(run.get(1..).map(key));
        });
    }
}

/// Whether the arguments are inputs, rather than content that the agent writes itself.
fn is_free(role: ToolRole) -> bool {
    matches!(role, ToolRole::Other)
}

fn look_up(
    recorder: &mut Recorder<'_, '_>,
    call: &SessionCall<'_>,
    found: &[Identifier<'_>],
    seen: &HashSet<u64>,
) {
    let new = found.iter().find(|id| !seen.contains(&key(id.text)));
    match new {
        None => recorder.count_opportunity(call),
        Some(id) => {
            let confidence = match call.ended {
                // In a successful call the identifier was right, or meant to be new.
                Ended::Ok => return,
                Ended::Failed => Confidence::Medium,
                Ended::Unknown => Confidence::Low,
            };
            let message = format!("{} {} was not named before", id.kind, id.text);
            recorder.find(Draft::new(call, message).confidence(confidence).bucket(id.kind));
        }
    }
}

/// Words of an error that say that an id is unknown to the tool.
const UNKNOWN: &[&str] =
    &["not found", "does not exist", "doesn't exist", "no such", "unknown", "invalid"];
/// Maximum number of bytes of an error to read.
const MAX_ERROR: usize = 400;
/// Minimum length of an id that says which thing is meant.
const MIN_ID: usize = 5;

/// Reports failed changes with an id that no result had contained before.
fn unverified_ids(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    let is_failed_change = |call: &&SessionCall<'_>| {
        call.tool_effect().is_some_and(ToolEffect::is_change)
            && matches!(
                classify(call),
                Some(ErrorClass::Missing | ErrorClass::ToolError | ErrorClass::Other)
            )
            && call.result_start(MAX_ERROR).is_some_and(|text| {
                let text = text.to_ascii_lowercase();
                UNKNOWN.iter().any(|words| text.contains(words))
            })
    };
    let calls = session.calls();
    for call in calls.iter().filter(is_failed_change).take(VALUES) {
        let Some(Value::Object(args)) = call.args() else { continue };
        let is_returned = |id: &str| {
            calls.iter().take(call.index).any(|before| {
                classify(before).is_none()
                    && before.result().is_some_and(|text| contains_ignoring_case(&text, id))
            })
        };
        let fields = args.iter().filter(|(key, _)| is_id_key(key));
        let mut ids = fields.flat_map(|(_, value)| texts(value)).filter(|id| is_id(id));
        if let Some(id) = ids.find(|id| !is_returned(id)) {
            let message = format!("no result had shown the id {id}, and the tool does not know it");
            let draft =
                Draft::new(call, message).confidence(Confidence::Medium).bucket("unverified");
            recorder.find(draft);
        }
    }
}

fn contains_ignoring_case(text: &str, id: &str) -> bool {
    text.as_bytes().windows(id.len()).any(|part| part.eq_ignore_ascii_case(id.as_bytes()))
}

/// Whether an argument holds ids: `item_id`, `new_item_ids`, `orderId`.
fn is_id_key(key: &str) -> bool {
    ["id", "ids"].contains(&key)
        || ["_id", "_ids", "Id", "Ids"].iter().any(|end| key.ends_with(end))
}

fn is_id(text: &str) -> bool {
    text.len() >= MIN_ID
        && text.bytes().any(|b| b.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'#'))
}

fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(list) => list.iter().filter_map(Value::as_str).take(VALUES).collect(),
        _ => Vec::new(),
    }
}

/// A value that cannot be guessed.
struct Identifier<'v> {
    kind: &'static str,
    text: &'v str,
}

/// Returns the identifiers among the values of arguments, without recursion.
fn identifiers(args: &Value) -> Vec<Identifier<'_>> {
    let mut found = Vec::new();
    let mut open = vec![args];
    let mut looked_at = 0;
    while let Some(value) = open.pop() {
        looked_at += 1;
        if looked_at > VALUES {
            break;
        }
        match value {
            Value::String(text) => found.extend(identifier(text)),
            Value::Array(list) => open.extend(list.iter().take(VALUES)),
            Value::Object(map) => open.extend(map.values().take(VALUES)),
            _ => {}
        }
    }
    found
}

fn identifier(text: &str) -> Option<Identifier<'_>> {
    // Nearly all texts are shorter or longer.
    if !matches!(text.len(), 32 | 36 | 40 | 64) {
        return None;
    }
    let is_hex = |part: &str| part.bytes().all(|b| b.is_ascii_hexdigit());
    let has_both =
        text.bytes().any(|b| b.is_ascii_digit()) && text.bytes().any(|b| b.is_ascii_alphabetic());
    let parts: Vec<usize> = text.split('-').take(6).map(str::len).collect();
    if parts == [8, 4, 4, 4, 12] && is_hex(&text.replace('-', "")) {
        // The nil UUID means no value.
        return text
            .bytes()
            .any(|b| b != b'0' && b != b'-')
            .then_some(Identifier { kind: "id", text });
    }
    let is_hash = matches!(text.len(), 32 | 40 | 64) && is_hex(text) && has_both;
    is_hash.then_some(Identifier { kind: "hash", text })
}

/// Returns the runs of letters, digits and hyphens in a text that may be identifiers.
fn runs(text: &str) -> impl Iterator<Item = &str> {
    text.as_bytes()
        .split(|b| !b.is_ascii_alphanumeric() && *b != b'-')
        .filter(|run| run.len() >= 32)
        .filter_map(|run| std::str::from_utf8(run).ok())
        .map(|run| run.trim_matches('-'))
        .filter(|run| (32..=65).contains(&run.len()))
}

/// Returns a key that is equal for different spellings of one identifier.
fn key(text: &str) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    text.to_ascii_lowercase().hash(&mut hasher);
    hasher.finish()
}
