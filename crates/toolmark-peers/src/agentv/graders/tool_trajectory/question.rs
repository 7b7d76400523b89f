//! The modes, and their results.

use super::super::calls::{CallsByTool, are_recorded};
use super::super::reading::{
    CheckLines, ReadingQuestion, count, decided, is_agentv, number, thrown,
};
use super::{ExpectationState, ToolTrajectory, TrajectoryItem, TrajectoryMode, peer, sound};
use crate::explain::{VerdictEvidence, explain};
use toolmark_match::Mention;
use toolmark_outcome::EvidenceRole;
use toolmark_outcome::Profile;
use toolmark_outcome::Subject;
use toolmark_outcome::TrajectoryView;
use toolmark_outcome::{Cause, Outcome, Verdict};

/// AgentV's code threw.
pub(super) struct Throws;

/// Results of the expectations of a sequence.
pub(super) struct Sequence {
    /// Result of each expectation.
    pub(super) states: Vec<ExpectationState>,
    /// Calls that meet no expectation, if they matter.
    pub(super) extras: Vec<usize>,
}

/// Results of the duration limits of a sequence.
#[derive(Default)]
struct Latency {
    kept: usize,
    skipped: Vec<String>,
    asked: usize,
}

impl ReadingQuestion for ToolTrajectory {
    fn mentions(&self) -> Vec<Mention> {
        let counted = self.minimums.iter().map(|(tool, _)| tool);
        let tools = counted.chain(self.items.iter().map(|item| &item.tool));
        tools.map(|tool| Mention::exact(tool)).collect()
    }

    fn forbids(&self) -> bool {
        !matches!(
            self.mode,
            TrajectoryMode::AnyOrder | TrajectoryMode::InOrder | TrajectoryMode::Superset
        )
    }

    fn answer(&self, subject: &Subject<'_>, profile: Profile) -> Outcome {
        let view = &subject.view;
        if !is_agentv(profile) && !are_recorded(view) {
            return Outcome::unknown(
                Cause::MissingEvidence,
                "the trace does not record tool calls",
            );
        }
        let tools = self.items.iter().map(|item| item.tool.as_str());
        let tools = tools.chain(self.minimums.iter().map(|(tool, _)| tool.as_str()));
        let calls = CallsByTool::new(view, tools, profile);
        let answer = match self.mode {
            TrajectoryMode::AnyOrder => Ok(self.any_order(view, &calls)),
            TrajectoryMode::Subset => self.subset(view, &calls),
            TrajectoryMode::InOrder | TrajectoryMode::Exact | TrajectoryMode::Superset => {
                self.sequence(view, &calls)
            }
        };
        let mut outcome = match answer {
            Ok(outcome) => outcome,
            Err(Throws) => {
                thrown(profile, "a call has null for arguments, which its code cannot compare")
            }
        };
        outcome.metrics.insert("mode".into(), self.mode.word().into());
        // An allow-list looks at calls that failed too: they were made.
        outcome
            .notes
            .extend(calls.note().map(Into::into).filter(|_| self.mode != TrajectoryMode::Subset));
        outcome
    }
}

impl ToolTrajectory {
    fn any_order(&self, view: &TrajectoryView<'_>, calls: &CallsByTool<'_>) -> Outcome {
        if self.minimums.is_empty() {
            return nothing_expected(calls.profile, "no tool is asked for");
        }
        let (mut lines, mut found) = (CheckLines::default(), VerdictEvidence::default());
        for (tool, minimum) in &self.minimums {
            let made: Vec<usize> =
                calls.of(tool).iter().copied().filter(|at| calls.counts(*at)).collect();
            let enough = made.len() as f64 >= *minimum;
            let asked = number(*minimum);
            lines.add(enough, || {
                format!("{tool}: called {}, expected at least {asked}", count(made.len(), "time"))
            });
            if !enough {
                found.missing(format!(
                    "{tool} was called {}, not {asked}",
                    count(made.len(), "time")
                ));
            }
            for at in made {
                found.matched(view, tool, at);
            }
        }
        let (met, all) = (lines.hits, self.minimums.len());
        let reason = format!("{met} of {} called often enough", count(all, "tool"));
        let score = met as f64 / all as f64;
        with(lines.outcome(calls.profile, score, all, reason), found)
    }

    fn subset(
        &self,
        view: &TrajectoryView<'_>,
        calls: &CallsByTool<'_>,
    ) -> Result<Outcome, Throws> {
        let made = calls.seen.len();
        if made == 0 {
            let reason = "no call was made, so none that is not allowed";
            return Ok(nothing_expected(calls.profile, reason));
        }
        let (mut lines, mut found) = (CheckLines::default(), VerdictEvidence::default());
        if self.items.is_empty() {
            let reason = format!("{} made, none is allowed", count(made, "call"));
            lines.add(false, || reason.clone());
            for at in 0..made {
                found.against(view, EvidenceRole::Violation, "no call is allowed".into(), at);
            }
            return Ok(with(lines.outcome(calls.profile, 0.0, made, reason), found));
        }
        let allowed = sound::allowed(self, view, calls)?;
        for (at, seen) in calls.seen.iter().enumerate() {
            let (holds, tool) = (allowed.get(at) == Some(&true), seen.call.name.full());
            let not = if holds { "is" } else { "is not" };
            lines.add(holds, || format!("call {}: {tool} {not} among the expected", seen.number()));
            if holds {
                found.matched(view, "allowed", at);
            } else {
                found.against(
                    view,
                    EvidenceRole::Violation,
                    format!("{tool} is not allowed so"),
                    at,
                );
            }
        }
        let hits = lines.hits;
        let reason = format!("{hits} of {} allowed", count(made, "call"));
        let score = hits as f64 / made as f64;
        let outcome = with(lines.outcome(calls.profile, score, made, reason), found);
        let violated = !is_agentv(calls.profile) && hits < made;
        Ok(if violated { decided(outcome, Verdict::Fail) } else { outcome })
    }

    fn sequence(
        &self,
        view: &TrajectoryView<'_>,
        calls: &CallsByTool<'_>,
    ) -> Result<Outcome, Throws> {
        let profile = calls.profile;
        let agentv = is_agentv(profile);
        if self.items.is_empty()
            && (agentv || self.mode != TrajectoryMode::Exact || calls.seen.is_empty())
        {
            return Ok(nothing_expected(profile, "no call is asked for"));
        }
        let sequence = match (self.mode, agentv) {
            (TrajectoryMode::Exact, true) => Some(peer::exact(self, view, calls)?),
            (TrajectoryMode::Superset, true) => Some(peer::superset(self, view, calls)?),
            (_, true) => Some(peer::in_order(self, view, calls)?),
            (TrajectoryMode::Superset, false) => sound::superset(self, view, calls)?,
            (mode, false) => sound::aligned(self, view, calls, mode == TrajectoryMode::Exact)?,
        };
        let Some(sequence) = sequence else {
            let why = "too many calls and expectations to compare";
            return Ok(Outcome::unknown(Cause::Limit, why));
        };
        let texts: Vec<String> = self.items.iter().map(TrajectoryItem::text).collect();
        let (mut lines, mut found) = (CheckLines::default(), VerdictEvidence::default());
        let (made, expected) = (calls.seen.len(), self.items.len());
        if self.mode == TrajectoryMode::Exact && agentv && made != expected {
            lines.add(false, || format!("{} expected, {made} made", count(expected, "call")));
        }
        found.states(view, &texts, &sequence.states);
        let mut latency = Latency::default();
        for (n, (item, state)) in self.items.iter().zip(&sequence.states).enumerate() {
            let text = &texts[n];
            lines.add(state.is_met(), || match state {
                ExpectationState::Met(at) => format!("{text}: call {}", calls.number(*at)),
                ExpectationState::Wrong(at, why) => {
                    format!("{text}: call {}, but {why}", calls.number(*at))
                }
                ExpectationState::Missing => format!("{text}: not called"),
            });
            if self.mode != TrajectoryMode::Superset {
                latency.check(item, state, view, calls, &mut lines, &mut found);
            }
        }
        let hits = sequence.states.iter().filter(|state| state.is_met()).count();
        let extras = sequence.extras.len();
        for at in &sequence.extras {
            let tool = calls.seen.get(*at).map(|seen| seen.call.name.full().into_owned());
            let tool = tool.unwrap_or_default();
            lines.add(false, || format!("call {}: {tool} is not expected", calls.number(*at)));
            found.against(view, EvidenceRole::Extra, "not expected".into(), *at);
        }
        let aspects = expected + latency.asked - latency.skipped.len() + extras;
        let score = if aspects == 0 { 1.0 } else { (hits + latency.kept) as f64 / aspects as f64 };
        let mut reason = format!("{hits} of {} made", count(expected, "expected call"));
        if extras > 0 {
            reason.push_str(&format!(", {} not expected", count(extras, "call")));
        }
        if latency.asked > latency.skipped.len() {
            let checked = latency.asked - latency.skipped.len();
            reason.push_str(&format!(", {} of {} kept", latency.kept, count(checked, "limit")));
        }
        let mut outcome = with(lines.outcome(profile, score, aspects, reason), found);
        if self.mode != TrajectoryMode::Superset {
            outcome.explanation = Some(explain(view, &texts, &sequence.states));
        }
        if !latency.skipped.is_empty() {
            outcome.metrics.insert("latency_skipped".into(), latency.skipped.len().into());
            outcome.notes.extend(latency.skipped.into_iter().map(Into::into));
        }
        if self.mode == TrajectoryMode::Exact && !agentv && (hits < expected || extras > 0) {
            outcome = decided(outcome, Verdict::Fail);
        }
        Ok(outcome)
    }
}

impl Latency {
    fn check(
        &mut self,
        item: &TrajectoryItem,
        state: &ExpectationState,
        view: &TrajectoryView<'_>,
        calls: &CallsByTool<'_>,
        lines: &mut CheckLines,
        found: &mut VerdictEvidence,
    ) {
        let Some(limit) = item.limit else { return };
        self.asked += 1;
        let ExpectationState::Met(at) = state else { return };
        let call = calls.seen.get(*at).map(|seen| seen.call);
        // AgentV knows only durations that are stated; the time between two
        // stamps is as good.
        let duration = call
            .filter(|call| call.duration_stated || !is_agentv(calls.profile))
            .and_then(|call| call.duration);
        let (tool, asked) = (&item.tool, number(limit));
        let Some(duration) = duration else {
            self.skipped.push(format!(
                "{tool}: the trace does not say how long call {} took, so its limit of {asked} ms counts neither way",
                calls.number(*at)
            ));
            return;
        };
        let took = duration.as_secs_f64() * 1000.0;
        let kept = took <= limit;
        let took = number(took);
        lines.add(kept, || format!("{tool}: {took} ms, at most {asked} ms"));
        if kept {
            self.kept += 1;
        } else {
            found.against(
                view,
                EvidenceRole::Violation,
                format!("took {took} ms, at most {asked} ms"),
                *at,
            );
        }
    }
}

fn with(mut outcome: Outcome, found: VerdictEvidence) -> Outcome {
    let (evidence, note) = found.finish();
    outcome.evidence = evidence;
    outcome.notes.extend(note.map(Into::into));
    outcome
}

fn nothing_expected(profile: Profile, reason: &str) -> Outcome {
    let mut lines = CheckLines::default();
    lines.add(true, || reason.to_owned());
    lines.outcome(profile, 1.0, 0, reason)
}
