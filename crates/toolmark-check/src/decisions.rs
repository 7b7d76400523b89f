//! What the guard would have said about the calls of a session: how many it
//! would have let through, and those it would not.

use crate::session::Session;
use serde::Serialize;
use toolmark_outcome::CallRef;
use toolmark_shell::Decision;

/// A call that would not have run without a question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stop {
    /// The session's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The decision.
    pub decision: Decision,
    /// Why.
    pub reason: String,
    /// The call.
    pub call: CallRef,
}

/// The decisions about all calls.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Decisions {
    /// Calls that nothing speaks against.
    pub allow: u64,
    /// Calls a person should look at.
    pub ask: u64,
    /// Calls that destroy what cannot be brought back.
    pub deny: u64,
    /// The calls that are asked about or denied, where they are kept.
    pub stops: Vec<Stop>,
}

impl Decisions {
    /// Counts a decision.
    pub fn count(&mut self, decision: Decision) {
        *match decision {
            Decision::Allow => &mut self.allow,
            Decision::Ask => &mut self.ask,
            Decision::Deny => &mut self.deny,
        } += 1;
    }

    /// Adds those about something else.
    pub fn merge(&mut self, other: Self) {
        self.allow += other.allow;
        self.ask += other.ask;
        self.deny += other.deny;
        self.stops.extend(other.stops);
    }

    /// The decisions about a session.
    pub(crate) fn of(session: &Session<'_>, keeps_stops: bool) -> Self {
        let mut all = Self::default();
        for call in session.calls() {
            let analysis = call.analysis();
            let decision = analysis.map_or(Decision::Allow, |analysis| analysis.decision);
            all.count(decision);
            let Some(analysis) = analysis.filter(|_| keeps_stops) else { continue };
            if decision != Decision::Allow {
                let id = session.trajectory().id.as_ref();
                all.stops.push(Stop {
                    session: id.map(|id| id.get().into_owned()),
                    decision,
                    reason: analysis.reason.clone(),
                    call: session.call_ref(call),
                });
            }
        }
        all
    }
}
