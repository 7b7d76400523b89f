//! # What it does
//!
//! Finds sub-agents that were started for a task of one call: the trace of the
//! sub-agent shows that it made at most one call before it finished.
//!
//! # Why
//!
//! A sub-agent starts with an empty context, reads its instructions and sends
//! back a report. For a single call, that costs many times as much as the call.
//!
//! # What to do
//!
//! Make the call directly. Use sub-agents for work of many steps, or for
//! results that are too long for the context.
//!
//! # Examples
//!
//! ```fires
//! Task {"description":"read it","prompt":"Read a.rs","subagent_type":"general-purpose"} -> "It has one line."
//! > Read {"file_path":"/w/a.rs"} -> "1\tx"
//! ```
//!
//! ```fires
//! Task {"description":"find it","prompt":"Find main","subagent_type":"Explore"} -> "In main.rs."
//! > Grep {"pattern":"main"} -> "main.rs"
//! Read {"file_path":"/w/main.rs"} -> "1\tx"
//! ```
//!
//! The sub-agent made no call at all:
//!
//! ```fires
//! Task {"description":"think","prompt":"What is a monad?","subagent_type":"general-purpose"} -> "A monoid."
//! > assistant: A monoid.
//! ```
//!
//! ```quiet
//! Task {"description":"look","prompt":"Look around","subagent_type":"Explore"} -> "Done."
//! > Grep {"pattern":"main"} -> "main.rs"
//! > Read {"file_path":"/w/main.rs"} -> "1\tx"
//! ```
//!
//! The calls of the sub-agent are not recorded:
//!
//! ```quiet
//! Task {"description":"look","prompt":"Look around","subagent_type":"Explore"} -> "Done."
//! ```
//!
//! The sub-agent failed or was stopped:
//!
//! ```quiet
//! Task {"description":"look","prompt":"Look around","subagent_type":"Explore"} !> "interrupted"
//! > Grep {"pattern":"main"} -> "main.rs"
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use std::collections::HashMap;
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_outcome::{CallRef, Evidence, EvidenceRole};
use toolmark_session::session::{Ended, Session};
use toolmark_trace::{EventKind, Trajectory};

pub(crate) static RULE: Rule = Rule {
    code: "S106",
    name: "idle-sub-agent",
    axis: Axis::Selection,
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "starts a sub-agent for a task of one call",
    remedy: "make the call directly",
    source: page!("s106_idle_sub_agent.rs"),
    check,
};

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    let mut children: HashMap<String, &Trajectory> = HashMap::new();
    for child in &session.trajectory().children {
        let call = child.parent.as_ref().and_then(|parent| parent.call.as_ref());
        if let Some(call) = call {
            children.insert(call.get().into_owned(), child);
        }
    }
    if children.is_empty() {
        return;
    }
    for call in session.calls().iter().filter(|call| call.role == ToolRole::Dispatches) {
        let id = call.call.id.as_ref().map(|id| id.get());
        let Some(child) = id.and_then(|id| children.get(&*id)) else { continue };
        // Only a sub-agent that finished shows the size of its task.
        let has_said = child.events.iter().any(|event| event.kind == EventKind::Message);
        if call.ended != Ended::Ok || (child.calls.is_empty() && !has_said) {
            continue;
        }
        recorder.count_opportunity(call);
        if child.calls.len() > 1 || !child.children.is_empty() {
            continue;
        }
        let message = match child.calls.first() {
            Some(one) => {
                format!(
                    "a sub-agent was started and made one call, of {}",
                    one.name.canonical().tool
                )
            }
            None => "a sub-agent was started and made no call".to_owned(),
        };
        let mut draft = Draft::new(call, message);
        if let Some(one) = child.calls.first() {
            let place = session.place(&one.at);
            draft = draft.evidence(Evidence::call(
                EvidenceRole::Context,
                "all it did",
                CallRef::new(0, one, Some(place)),
            ));
        }
        recorder.find(draft);
    }
}
