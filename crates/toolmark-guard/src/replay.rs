//! Verdicts that the guard would have given on the calls of a recorded session.
//!
//! A stop without a finding of `toolmark check` is a candidate for a false alarm: the call was
//! announced before it was made, undid something the session itself had made, or was requested by
//! the user.

use crate::guard::Guard;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use toolmark_check::{CallDecisions, Checker};
use toolmark_hosts::GuardAnswer;
use toolmark_hosts::{Args, HookEvent, Moment};
use toolmark_outcome::{Axis, Finding};
use toolmark_outcome::{CallRef, Printable, Redactor, Untrusted, excerpt};
use toolmark_session::Session;
use toolmark_session::effects::Arguments;
use toolmark_session::past::Past;
use toolmark_session::session::SessionCall;
use toolmark_shell::Decision;
use toolmark_trace::Trajectory;

/// A call that would have been stopped or asked about.
#[derive(Debug, Clone, Serialize)]
pub struct Stopped<T = Untrusted> {
    /// Session ID.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<T>,
    /// Host whose tools made the call.
    pub host: &'static str,
    /// Verdict of the guard.
    #[serde(flatten)]
    pub verdict: GuardAnswer,
    /// The call, and its recorded outcome.
    pub call: CallRef<T>,
    /// Last text of the agent before the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub said: Option<T>,
    /// Findings of `toolmark check` about the call.
    pub findings: BTreeSet<&'static str>,
    /// Whether the stop is a candidate for a false alarm.
    pub false_alarm: bool,
    /// Number of stops with the same rule and reason.
    pub alike: u64,
}

/// Result of replaying sessions.
#[derive(Debug, Serialize)]
pub struct Replay<T = Untrusted> {
    /// Number of allowed calls.
    pub allow: u64,
    /// Number of calls that need the user's approval.
    pub ask: u64,
    /// Number of denied calls.
    pub deny: u64,
    /// Calls that were not allowed, candidates for false alarms first.
    pub stops: Vec<Stopped<T>>,
}

impl<T> Default for Replay<T> {
    fn default() -> Self {
        Self { allow: 0, ask: 0, deny: 0, stops: Vec::new() }
    }
}

impl Replay {
    /// Adds the result of another replay.
    pub fn merge(&mut self, other: Self) {
        self.allow += other.allow;
        self.ask += other.ask;
        self.deny += other.deny;
        self.stops.extend(other.stops);
    }

    /// Returns the result in printable form.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> Replay<Printable> {
        let stops = self.stops.into_iter().map(|stop| stop.redact(redactor));
        Replay { allow: self.allow, ask: self.ask, deny: self.deny, stops: stops.collect() }
    }

    /// Counts similar stops and sorts them: candidates for false alarms first, the most frequent
    /// first, denials before questions.
    pub fn finish(&mut self) {
        let mut alike: BTreeMap<String, u64> = BTreeMap::new();
        for stop in &self.stops {
            *alike.entry(stop.group()).or_default() += 1;
        }
        for stop in &mut self.stops {
            stop.alike = alike.get(&stop.group()).copied().unwrap_or(1);
        }
        // The sort keeps the order of the sessions and of their calls.
        self.stops.sort_by_cached_key(|stop| {
            let rank = (!stop.false_alarm, std::cmp::Reverse(stop.alike));
            (rank, stop.group(), std::cmp::Reverse(stop.verdict.decision))
        });
    }
}

impl<T> Replay<T> {
    /// Returns the number of calls.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.allow + self.ask + self.deny
    }
}

impl Stopped {
    fn redact(self, redactor: Redactor) -> Stopped<Printable> {
        Stopped {
            session: self.session.map(|session| redactor.apply(session)),
            host: self.host,
            verdict: self.verdict.redact(redactor),
            call: self.call.redact(redactor),
            said: self.said.map(|said| redactor.apply(said)),
            findings: self.findings,
            false_alarm: self.false_alarm,
            alike: self.alike,
        }
    }

    /// Returns the grouping key of similar stops: the rule and the effect.
    fn group(&self) -> String {
        let worst = self.verdict.analysis.as_ref().and_then(|analysis| {
            let effects = analysis.effects.iter();
            effects.max_by_key(|effect| toolmark_shell::decision::decide_effect(effect))
        });
        match worst {
            Some(effect) => format!("{} {} {}", self.verdict.rule, effect.program, effect.why),
            None => format!("{} {}", self.verdict.rule, self.call.tool.raw()),
        }
    }
}

impl Guard {
    /// Decides about every call of a recorded run and its sub-agents. `checker` determines which
    /// stops are likely false alarms.
    #[must_use]
    pub fn replay(&self, run: &Trajectory, checker: &Checker) -> Replay {
        let mut replay = Replay::default();
        for (n, one) in run.flatten().into_iter().enumerate() {
            replay.merge(self.replayed(one, checker, n > 0));
        }
        replay
    }

    /// Decides about every call of a recorded run without its sub-agents.
    #[must_use]
    pub fn replay_alone(&self, run: &Trajectory, checker: &Checker) -> Replay {
        self.replayed(run, checker, false)
    }

    fn replayed(&self, run: &Trajectory, checker: &Checker, is_sub_agent: bool) -> Replay {
        let session = Session::new(run, self.toolsets());
        let mut decisions = CallDecisions::default();
        let mut stops = Vec::new();
        let mut past = Past::default();
        for call in session.calls() {
            let event = event(&session, call, is_sub_agent);
            let verdict = self.verdict(&event, &call.as_input(), Some(&past));
            past.follow(call, verdict.analysis.as_ref().map(|effects| effects.left.clone()));
            let decision = verdict.observed.unwrap_or(verdict.decision);
            decisions.count(decision);
            if decision != Decision::Allow {
                stops.push((call, verdict));
            }
        }
        let findings = match stops.is_empty() {
            true => Vec::new(),
            false => checker.check_alone(run).findings,
        };
        let stops = stops.into_iter();
        Replay {
            allow: decisions.allow,
            ask: decisions.ask,
            deny: decisions.deny,
            stops: stops
                .map(|(call, verdict)| stopped(&session, call, verdict, &findings))
                .collect(),
        }
    }
}

/// Builds the event that a host would have sent.
fn event<'a>(session: &Session<'a>, call: &SessionCall<'a>, is_sub_agent: bool) -> HookEvent<'a> {
    let run = session.trajectory();
    let text = |text: &'a toolmark_trace::Text| text.get();
    HookEvent {
        session: run.id.as_ref().map(text),
        cwd: run.cwd.as_ref().map(text),
        agent: run.agent.name.as_ref().filter(|_| is_sub_agent).map(text),
        call_id: call.call.id.as_ref().map(text),
        args: match call.as_input().args {
            Arguments::None => Args::None,
            Arguments::Json(value) => Args::Json(value.clone()),
            Arguments::Text(text) => Args::Text(text.into_owned()),
        },
        ..HookEvent::new(Moment::Before, &*session.host().id, call.call.name.full())
    }
}

fn stopped(
    session: &Session<'_>,
    call: &SessionCall<'_>,
    verdict: GuardAnswer,
    findings: &[Finding],
) -> Stopped {
    let about = findings.iter().filter(|finding| {
        let first = finding.evidence.first().and_then(|evidence| evidence.call.as_ref());
        finding.axis == Axis::Irreversibility && first.is_some_and(|it| it.index == call.index)
    });
    let findings: BTreeSet<_> = about.map(|finding| finding.code).collect();
    let said = session.said_in_turn(call).next().and_then(|event| event.text.as_ref());
    Stopped {
        session: session.trajectory().id.as_ref().map(|id| id.get().into()),
        host: &session.host().id,
        false_alarm: findings.is_empty(),
        verdict,
        call: session.call_ref(call),
        said: said.map(|text| excerpt(&text.plain()).into()),
        findings,
        alike: 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolmark_session::notation;

    fn replay(trace: &str) -> Replay {
        let run = notation::parse(trace).unwrap();
        let mut replay = Guard::default().replay(&run, &Checker::default());
        replay.finish();
        replay
    }

    #[test]
    fn stops_with_their_context() {
        let replay = replay(
            r#"Bash {"command":"ls"} -> "a"
               Bash {"command":"git push --force"} -> "ok"
               assistant: I will now throw away the work tree with git reset --hard.
               Bash {"command":"git reset --hard"} -> "HEAD is now""#,
        );
        assert_eq!((replay.allow, replay.ask, replay.deny), (1, 0, 2));
        let [named, blind] = &replay.stops[..] else { panic!("{replay:?}") };
        assert!(named.false_alarm && named.said.as_ref().unwrap().raw().contains("throw away"));
        assert!(!blind.false_alarm && blind.findings.contains("I301"), "{blind:?}");
    }

    #[test]
    fn agrees_with_check() {
        let trace = r#"
            Bash {"command":"rm -rf ~"} -> "ok"
            Read {"file_path":"/w/.env"} -> "KEY=1"
            Write {"file_path":"/etc/passwd","content":"x"} -> "ok"
            WebFetch {"url":"https://xn--ggle-0nda.com/x"} -> "ok"
            Bash {"command":"ls"} -> "a""#;
        let run = notation::parse(trace).unwrap();
        let checked = Checker::default().keep_sessions().check(&run).decisions;
        let replayed = replay(trace);
        let counts = |allow, ask, deny| (allow, ask, deny);
        assert_eq!(
            counts(replayed.allow, replayed.ask, replayed.deny),
            counts(checked.allow, checked.ask, checked.deny)
        );
        assert_eq!(counts(1, 2, 2), counts(checked.allow, checked.ask, checked.deny));
    }
}
