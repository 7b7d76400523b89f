//! What the guard would have said about the calls of a session, had it known
//! what the session made itself and which conflict it resolves: how many it
//! would have let through, and those it would not.

use crate::own::Own;
use crate::session::{Ended, Session};
use serde::Serialize;
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::{CallRef, Printable, Redactor, Untrusted};
use toolmark_shell::decision::decide_effect;
use toolmark_shell::{Analysis, Decision, Effect, Kind};

/// What is decided about a call, knowing the session: effects that are excused
/// decide nothing.
fn decide(analysis: &Analysis, is_excused: impl Fn(&Effect) -> bool) -> Decision {
    let objections = || analysis.effects.iter().filter(|e| decide_effect(e) != Decision::Allow);
    match analysis.decision {
        decision if objections().next().is_none() => decision,
        decision if objections().any(|effect| !is_excused(effect)) => decision,
        _ => Decision::Allow,
    }
}

/// Does it stop processes of one program that it names with its arguments?
fn is_named(effect: &Effect) -> bool {
    let target = effect.target.trim();
    effect.kind == Kind::StopService
        && effect.program == "pkill"
        && target.len() >= 8
        && target.contains([' ', '/', '.'])
}

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
        let mut own = Own::default();
        for call in session.calls() {
            let analysis = call.analysis();
            let is_excused = |effect: &Effect| own.holds(session, call, effect) || is_named(effect);
            let decision =
                analysis.map_or(Decision::Allow, |analysis| decide(analysis, is_excused));
            match analysis {
                Some(analysis) if call.ended != Ended::Failed && call.role != ToolRole::Reads => {
                    own.note(call, analysis);
                }
                _ => own.see(call),
            }
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
