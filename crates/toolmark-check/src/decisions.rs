//! Decisions that the guard would have made about the calls of a session, given the earlier
//! calls of the session: the number of allowed calls, and the calls that would have been
//! stopped.

use serde::Serialize;
use toolmark_outcome::{CallRef, Printable, Redactor, Untrusted};
use toolmark_session::past::{Past, left_by};
use toolmark_session::session::Session;
use toolmark_shell::Decision;

/// A call that would have been asked about or denied.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StoppedCall<T = Untrusted> {
    /// Id of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<T>,
    /// Decision.
    pub decision: Decision,
    /// Reason for the decision.
    pub reason: T,
    /// The call.
    pub call: CallRef<T>,
}

impl StoppedCall {
    fn redact(self, redactor: Redactor) -> StoppedCall<Printable> {
        StoppedCall {
            session: self.session.map(|session| redactor.apply(session)),
            decision: self.decision,
            reason: redactor.apply(self.reason),
            call: self.call.redact(redactor),
        }
    }
}

/// Decisions about all calls.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallDecisions<T = Untrusted> {
    /// Number of calls without objections.
    pub allow: u64,
    /// Number of calls that the user should review.
    pub ask: u64,
    /// Number of calls that irreversibly destroy something.
    pub deny: u64,
    /// Calls that are asked about or denied, if they are kept.
    pub stops: Vec<StoppedCall<T>>,
}

impl<T> Default for CallDecisions<T> {
    fn default() -> Self {
        Self { allow: 0, ask: 0, deny: 0, stops: Vec::new() }
    }
}

impl CallDecisions {
    /// Counts a decision.
    pub fn count(&mut self, decision: Decision) {
        *match decision {
            Decision::Allow => &mut self.allow,
            Decision::Ask => &mut self.ask,
            Decision::Deny => &mut self.deny,
        } += 1;
    }

    /// Adds other decisions.
    pub fn merge(&mut self, other: Self) {
        self.allow += other.allow;
        self.ask += other.ask;
        self.deny += other.deny;
        self.stops.extend(other.stops);
    }

    /// Returns the printable decisions.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> CallDecisions<Printable> {
        CallDecisions {
            allow: self.allow,
            ask: self.ask,
            deny: self.deny,
            stops: self.stops.into_iter().map(|stop| stop.redact(redactor)).collect(),
        }
    }

    /// Returns the decisions about a session.
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
                all.stops.push(StoppedCall {
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
