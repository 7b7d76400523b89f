//! Profile of a session for people who are responsible for many sessions: its model, agent,
//! project and week, its number of faults, and the cost of its failed and repeated calls.
//!
//! Costs are known only if the trace records them, so every sum includes the number of calls
//! that it covers.

use crate::declared_runs::DeclaredRun;
use crate::scorecard::Scorecard;
use crate::stored::Stored;
use foldhash::quality::FixedState;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use std::collections::HashMap;
use toolmark_outcome::{Axis, Printable, Redactor, Untrusted};
use toolmark_session::call_key::CallKey;
use toolmark_session::session::{Ended, Session, SessionCall};
use toolmark_trace::Trajectory;

/// Cost of a set of calls, as far as the trace records it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallCost {
    /// Number of calls.
    pub calls: u64,
    /// Number of calls with a duration.
    pub timed: u64,
    /// Number of calls of responses with token usage.
    pub counted: u64,
    milliseconds: u64,
    tokens: u64,
    output_tokens: u64,
}

impl CallCost {
    /// Returns the total duration of the calls that have one.
    #[must_use]
    pub fn milliseconds(self) -> Option<u64> {
        (self.timed > 0 || self.calls == 0).then_some(self.milliseconds)
    }

    /// Returns the tokens of the responses that made the calls, divided equally between the
    /// calls of one response.
    #[must_use]
    pub fn tokens(self) -> Option<u64> {
        (self.counted > 0 || self.calls == 0).then_some(self.tokens)
    }

    /// Returns the output tokens among them.
    #[must_use]
    pub fn output_tokens(self) -> Option<u64> {
        (self.counted > 0 || self.calls == 0).then_some(self.output_tokens)
    }

    /// Adds another cost.
    pub fn merge(&mut self, other: Self) {
        self.calls += other.calls;
        self.timed += other.timed;
        self.counted += other.counted;
        self.milliseconds = self.milliseconds.saturating_add(other.milliseconds);
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
    }

    /// Returns the cost of one call: its duration, and its tokens with the output tokens
    /// among them, as far as they are known.
    #[must_use]
    pub fn of_call(milliseconds: Option<u64>, tokens: Option<(u64, u64)>) -> Self {
        let (all, output) = tokens.unwrap_or_default();
        Self {
            calls: 1,
            timed: milliseconds.is_some().into(),
            counted: tokens.is_some().into(),
            milliseconds: milliseconds.unwrap_or_default(),
            tokens: all,
            output_tokens: output,
        }
    }

    /// Returns the cost of one call of a response with `in_response` calls.
    #[must_use]
    pub fn of(run: &Trajectory, call: &SessionCall<'_>, in_response: u64) -> Self {
        let duration = call.call.duration.map(|duration| duration.as_millis());
        let step = call.call.step.and_then(|step| run.steps.get(step as usize));
        let share = in_response.max(1);
        let tokens = step
            .and_then(|step| step.usage.as_ref())
            .map(|usage| (usage.total() / share, usage.normalised().output / share));
        Self::of_call(duration.and_then(|ms| u64::try_from(ms).ok()), tokens)
    }
}

impl Stored for CallCost {
    fn write(&self, out: &mut Vec<u8>) {
        let Self { calls, timed, counted, milliseconds, tokens, output_tokens } = self;
        [calls, timed, counted, milliseconds, tokens, output_tokens]
            .iter()
            .for_each(|number| number.write(out));
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        Some(Self {
            calls: Stored::read(bytes)?,
            timed: Stored::read(bytes)?,
            counted: Stored::read(bytes)?,
            milliseconds: Stored::read(bytes)?,
            tokens: Stored::read(bytes)?,
            output_tokens: Stored::read(bytes)?,
        })
    }
}

impl Serialize for CallCost {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Spent", 6)?;
        out.serialize_field("calls", &self.calls)?;
        out.serialize_field("duration_ms", &self.milliseconds())?;
        out.serialize_field("timed", &self.timed)?;
        out.serialize_field("tokens", &self.tokens())?;
        out.serialize_field("output_tokens", &self.output_tokens())?;
        out.serialize_field("counted", &self.counted)?;
        out.end()
    }
}

/// Number of calls that a rule could judge, by axis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Assessed {
    /// Calls on the axis of selection.
    pub selection: u64,
    /// Calls on the axis of arguments.
    pub arguments: u64,
    /// Calls on the axis of irreversibility.
    pub irreversibility: u64,
    /// Calls on the axis of recovery.
    pub recovery: u64,
}

impl Assessed {
    /// Returns the sums over all tools of a scorecard.
    #[must_use]
    pub fn of(card: &Scorecard) -> Self {
        let sum = |axis| card.tools.values().map(|tool| tool.axis(axis).of).sum();
        Self {
            selection: sum(Axis::Selection),
            arguments: sum(Axis::Arguments),
            irreversibility: sum(Axis::Irreversibility),
            recovery: sum(Axis::Recovery),
        }
    }

    fn merge(&mut self, other: Self) {
        self.selection += other.selection;
        self.arguments += other.arguments;
        self.irreversibility += other.irreversibility;
        self.recovery += other.recovery;
    }
}

/// A session, including its sub-agents.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionProfile<T = Untrusted> {
    /// Id of the session.
    pub id: Option<T>,
    /// Ids of the sub-agents.
    pub sub_agents: Vec<T>,
    /// File from which the session was read.
    pub file: T,
    /// Working directory.
    pub project: Option<T>,
    /// Agent, with its version if that is recorded.
    pub agent: T,
    /// Model, the first one if it changed.
    pub model: Option<T>,
    /// Start time.
    pub started: Option<String>,
    /// ISO week of the start, in UTC: `2026-W07`.
    pub week: Option<T>,
    /// Outcome that the record of the session declares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declared: Option<DeclaredRun<T>>,
    /// Number of findings that are errors or warnings.
    pub faults: u64,
    /// Number of calls that a rule could judge, by axis; without any, the axis has no rate.
    pub assessed: Assessed,
    /// All calls.
    pub calls: CallCost,
    /// Calls that are known to have failed.
    pub failed: CallCost,
    /// Calls that only looked, had been made before in the same way, and got the same result.
    pub repeated: CallCost,
}

impl SessionProfile {
    /// Returns the profile of one trajectory without its sub-agents.
    pub(crate) fn new(session: &Session<'_>, faults: u64) -> Self {
        let run = session.trajectory();
        let text =
            |text: &Option<toolmark_trace::Text>| text.as_ref().map(|text| text.get().into_owned());
        let name = text(&run.agent.name).unwrap_or_else(|| run.format.to_owned());
        let agent = match text(&run.agent.version) {
            Some(version) => format!("{name} {version}"),
            None => name,
        };
        let project = session.project().roots().first().cloned().or_else(|| text(&run.cwd));
        let mut profile = Self {
            id: text(&run.id).map(Into::into),
            sub_agents: Vec::new(),
            file: (&*run.file).into(),
            project: project.map(Into::into),
            agent: agent.into(),
            model: text(&run.agent.model).map(Into::into),
            started: run.started.map(|time| time.to_string()),
            week: run.started.map(|time| week_of(time).into()),
            declared: DeclaredRun::of(run),
            faults,
            assessed: Assessed::default(),
            calls: CallCost::default(),
            failed: CallCost::default(),
            repeated: CallCost::default(),
        };
        let in_response = calls_by_response(session);
        let mut answers = Answers::default();
        for (call, key) in session.calls().iter().zip(session.keys()) {
            let of_step = call.call.step.and_then(|step| in_response.get(&step)).copied();
            let spent = CallCost::of(run, call, of_step.unwrap_or(1));
            profile.calls.merge(spent);
            if call.ended == Ended::Failed {
                profile.failed.merge(spent);
            } else if answers.repeats(call, *key) && call.only_looks() {
                profile.repeated.merge(spent);
            }
        }
        profile
    }

    /// Adds the calls and faults of a sub-agent.
    pub(crate) fn absorb(&mut self, other: &Self) {
        self.sub_agents.extend(other.id.clone());
        self.faults += other.faults;
        self.assessed.merge(other.assessed);
        self.calls.merge(other.calls);
        self.failed.merge(other.failed);
        self.repeated.merge(other.repeated);
    }

    /// Returns the printable profile.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> SessionProfile<Printable> {
        SessionProfile {
            id: self.id.map(|id| redactor.apply(id)),
            sub_agents: redactor.apply_all(self.sub_agents),
            file: redactor.apply(self.file),
            project: self.project.map(|project| redactor.apply(project)),
            agent: redactor.apply(self.agent),
            model: self.model.map(|model| redactor.apply(model)),
            started: self.started,
            week: self.week.map(|week| redactor.apply(week)),
            declared: self.declared.map(|declared| declared.redact(redactor)),
            faults: self.faults,
            assessed: self.assessed,
            calls: self.calls,
            failed: self.failed,
            repeated: self.repeated,
        }
    }
}

/// Counts the calls of each response.
#[must_use]
pub fn calls_by_response(session: &Session<'_>) -> HashMap<u32, u64> {
    let mut counts: HashMap<u32, u64> = HashMap::new();
    for step in session.calls().iter().filter_map(|call| call.call.step) {
        *counts.entry(step).or_default() += 1;
    }
    counts
}

/// Results of calls by request. A result is read only when its call is repeated.
#[derive(Default)]
struct Answers<'c, 'a> {
    last: HashMap<CallKey, &'c SessionCall<'a>, FixedState>,
}

impl<'c, 'a> Answers<'c, 'a> {
    /// Whether the same call was made before with the same result.
    fn repeats(&mut self, call: &'c SessionCall<'a>, key: CallKey) -> bool {
        let before = self.last.insert(key, call);
        before.is_some_and(|before| before.has_result_of(call) == Some(true))
    }
}

/// Returns the ISO week of a time, in UTC: `2026-W07`.
#[must_use]
pub fn week_of(time: jiff::Timestamp) -> String {
    let week = time.to_zoned(jiff::tz::TimeZone::UTC).date().iso_week_date();
    format!("{:04}-W{:02}", week.year(), week.week())
}

#[cfg(test)]
mod tests {
    use crate::Checker;
    use toolmark_session::notation;

    #[test]
    fn failed_and_repeated_calls_are_counted_apart() {
        let run = notation::parse(
            "Read {\"file_path\":\"/w/a.rs\"} -> \"1\\tone\"\n\
             Read {\"file_path\":\"/w/a.rs\"} -> \"1\\tone\"\n\
             Read {\"file_path\":\"/w/a.rs\"} -> \"1\\ttwo\"\n\
             Edit {\"file_path\":\"/w/b.rs\",\"old_string\":\"x\",\"new_string\":\"y\"} !> \"String to replace not found in file.\"\n\
             Bash {\"command\":\"git add -A\"} -> \"\"\n\
             Bash {\"command\":\"git add -A\"} -> \"\"",
        );
        let profile = Checker::default().check(&run.unwrap()).profiles.remove(0);
        assert_eq!(profile.calls.calls, 6);
        assert_eq!(profile.failed.calls, 1);
        // A different result is not a repetition, and neither is a command that changes
        // something.
        assert_eq!(profile.repeated.calls, 1);
        assert!(profile.faults > 0);
    }

    #[test]
    fn what_is_not_recorded_is_unknown_and_what_is_not_there_is_nothing() {
        let run = notation::parse("Read {\"file_path\":\"/w/a.rs\"} -> \"1\\tone\"").unwrap();
        let profile = Checker::default().check(&run).profiles.remove(0);
        let json = serde_json::to_value(profile.calls).unwrap();
        assert!(json["tokens"].is_null() && json["duration_ms"].is_null(), "{json}");
        let json = serde_json::to_value(profile.failed).unwrap();
        assert_eq!((&json["tokens"], &json["duration_ms"]), (&0.into(), &0.into()));
    }

    #[test]
    fn weeks_are_those_of_iso() {
        for (time, week) in [
            ("2026-02-12T10:00:00Z", "2026-W07"),
            ("2027-01-01T00:00:00Z", "2026-W53"),
            ("2024-12-30T00:00:00Z", "2025-W01"),
        ] {
            assert_eq!(super::week_of(time.parse().unwrap()), week);
        }
    }
}
