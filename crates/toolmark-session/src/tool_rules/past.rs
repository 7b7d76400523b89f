//! The past of a recorded session, and that of a running one.

use super::{Approval, Past, is_agreement};
use crate::error_class::is_failed;
use crate::session::{Session, SessionCall};
use serde_json::Value;
use std::borrow::Cow;
use toolmark_trace::{Event, EventKind};

/// Starts of results that are errors, where the host does not mark them.
const ERRORS: &[&str] = &["Error", "error:", "ERROR", "{\"error\"", "{\"is_error\":true"];
/// Length of the start of a result that shows an error.
const START: usize = 32;

/// Calls and messages of a session before a call.
pub struct SessionPast<'s, 'a> {
    session: &'s Session<'a>,
    /// Number of calls before.
    end: usize,
    /// Number of events before.
    events: usize,
    /// Response that makes the new call.
    step: Option<u32>,
}

impl<'s, 'a> SessionPast<'s, 'a> {
    /// Creates the past of a recorded call.
    #[must_use]
    pub fn before(session: &'s Session<'a>, call: &SessionCall<'_>) -> Self {
        let end = session.calls().partition_point(|other| other.index < call.index);
        Self { session, end, events: call.event, step: call.call.step }
    }

    /// Creates the past of a call that the host is about to run. The host may have recorded it
    /// already, and with it other calls of the same response.
    #[must_use]
    pub fn of_pending(session: &'s Session<'a>, id: Option<&str>) -> Self {
        let is_it = |call: &&SessionCall<'_>| {
            id.is_some() && call.call.id.as_ref().map(|id| id.get()).as_deref() == id
        };
        match session.calls().iter().rfind(is_it) {
            Some(call) => Self::before(session, call),
            None => Self {
                session,
                end: session.calls().len(),
                events: session.events().len(),
                step: None,
            },
        }
    }

    /// Returns an earlier call.
    #[must_use]
    pub fn call(&self, at: usize) -> Option<&'s SessionCall<'a>> {
        self.session.calls().get(at).filter(|_| at < self.end)
    }

    /// Returns the messages of the user and of the agent, latest first.
    fn messages(&self) -> impl Iterator<Item = &'a Event> {
        let events = self.session.events().get(..self.events).unwrap_or_default();
        events.iter().rev().filter(|event| {
            event.starts_turn() || event.kind == EventKind::Message && event.text.is_some()
        })
    }
}

impl Past for SessionPast<'_, '_> {
    fn calls(&self) -> usize {
        self.end
    }

    fn tool(&self, at: usize) -> Cow<'_, str> {
        self.call(at).map(|call| call.call.name.full()).unwrap_or_default()
    }

    fn args(&self, at: usize) -> Option<&Value> {
        self.call(at)?.args()
    }

    fn result(&self, at: usize) -> Option<Cow<'_, str>> {
        // The agent had not seen results of calls in the same response.
        let is_same_response =
            |call: &&SessionCall<'_>| self.step.is_some() && call.call.step == self.step;
        self.call(at).filter(|call| !is_same_response(call))?.result()
    }

    fn has_failed(&self, at: usize) -> bool {
        self.call(at).is_some_and(|call| {
            let start = call.result_start(START);
            is_failed(call) || start.is_some_and(|text| says_error(&text))
        })
    }

    fn user_wrote(&self, text: &str) -> Option<bool> {
        let text = text.to_lowercase();
        let mut is_recorded = false;
        for event in self.messages().filter(|event| event.starts_turn()) {
            let Some(words) = &event.text else { continue };
            is_recorded = true;
            if words.plain().to_lowercase().contains(&text) {
                return Some(true);
            }
        }
        is_recorded.then_some(false)
    }

    fn was_given(&self, text: &str) -> bool {
        let events = self.session.events().get(..self.events).unwrap_or_default();
        let mut given = events.iter().filter(|event| event.kind == EventKind::Context);
        given.any(|event| {
            event.text.as_ref().is_some_and(|words| words.plain().to_lowercase().contains(text))
        })
    }

    fn approval(&self) -> Approval {
        let mut messages = self.messages().skip_while(|event| !event.starts_turn());
        let Some(last) = messages.next() else { return Approval::Unknown };
        let Some(words) = &last.text else { return Approval::Unknown };
        let is_answer = messages.next().is_some_and(|event| !event.starts_turn());
        match is_answer && is_agreement(&words.plain()) {
            true => Approval::Given,
            false => Approval::NotGiven,
        }
    }
}

/// Whether the start of a result reports an error.
fn says_error(text: &str) -> bool {
    let text = text.trim_start();
    ERRORS.iter().any(|start| text.starts_with(start))
}

/// A call that has run while a proxy was watching.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveCall {
    /// Full name of the tool.
    pub tool: String,
    /// Arguments.
    pub args: Value,
    /// Result, once it is there.
    pub result: Option<String>,
    /// Whether the server reported an error.
    pub has_failed: bool,
}

/// Calls that a proxy has seen. It sees no messages.
#[derive(Debug, Clone, Copy)]
pub struct LivePast<'c>(pub &'c [LiveCall]);

impl Past for LivePast<'_> {
    fn calls(&self) -> usize {
        self.0.len()
    }

    fn tool(&self, at: usize) -> Cow<'_, str> {
        self.0.get(at).map(|call| Cow::Borrowed(call.tool.as_str())).unwrap_or_default()
    }

    fn args(&self, at: usize) -> Option<&Value> {
        self.0.get(at).map(|call| &call.args)
    }

    fn result(&self, at: usize) -> Option<Cow<'_, str>> {
        self.0.get(at)?.result.as_deref().map(Cow::Borrowed)
    }

    fn has_failed(&self, at: usize) -> bool {
        self.0
            .get(at)
            .is_some_and(|call| call.has_failed || call.result.as_deref().is_some_and(says_error))
    }

    fn user_wrote(&self, _: &str) -> Option<bool> {
        None
    }

    fn approval(&self) -> Approval {
        Approval::Unknown
    }
}
