//! What the guard would have said about the calls of a session, knowing what the session
//! did before each: how many it would have let through, and those it would not.

use serde::Serialize;
use toolmark_outcome::{CallRef, Printable, Redactor, Untrusted};
use toolmark_session::past::{Past, left_by};
use toolmark_session::session::Session;
use toolmark_shell::Decision;

/// A call that would not have run without a question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stop<T = Untrusted> {
    /// The session's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<T>,
    /// The decision.
    pub decision: Decision,
    /// Why.
    pub reason: T,
    /// The call.
    pub call: CallRef<T>,
}

impl Stop {
    fn redact(self, redactor: Redactor) -> Stop<Printable> {
        Stop {
            session: self.session.map(|session| redactor.apply(session)),
            decision: self.decision,
            reason: redactor.apply(self.reason),
            call: self.call.redact(redactor),
        }
    }
}

/// The decisions about all calls.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Decisions<T = Untrusted> {
    /// Calls that nothing speaks against.
    pub allow: u64,
    /// Calls a person should look at.
    pub ask: u64,
    /// Calls that destroy what cannot be brought back.
    pub deny: u64,
    /// The calls that are asked about or denied, where they are kept.
    pub stops: Vec<Stop<T>>,
}

impl<T> Default for Decisions<T> {
    fn default() -> Self {
        Self { allow: 0, ask: 0, deny: 0, stops: Vec::new() }
    }
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

    /// They as they may be printed.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> Decisions<Printable> {
        Decisions {
            allow: self.allow,
            ask: self.ask,
            deny: self.deny,
            stops: self.stops.into_iter().map(|stop| stop.redact(redactor)).collect(),
        }
    }

    /// The decisions about a session.
    pub(crate) fn of(session: &Session<'_>, keeps_stops: bool) -> Self {
        let mut all = Self::default();
        let mut past = Past::default();
        for call in session.calls() {
            let plain = call.analysis();
            let hangs_on_past = plain.is_some_and(|analysis| {
                analysis.decision != Decision::Allow
                    || call.command().is_some_and(|command| past.concerns(&command))
            });
            let again = hangs_on_past.then(|| call.analyze_knowing(&past)).flatten();
            let analysis = again.as_ref().or(plain);
            let decision = analysis.map_or(Decision::Allow, |analysis| analysis.decision);
            past.follow(call, analysis.map(|analysis| left_by(&call.as_input(), analysis)));
            all.count(decision);
            let Some(analysis) = analysis.filter(|_| keeps_stops) else { continue };
            if decision != Decision::Allow {
                let id = session.trajectory().id.as_ref();
                all.stops.push(Stop {
                    session: id.map(|id| id.get().into()),
                    decision,
                    reason: analysis.reason.clone().into(),
                    call: session.call_ref(call),
                });
            }
        }
        all
    }
}
