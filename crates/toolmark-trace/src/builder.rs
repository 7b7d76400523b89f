//! Builds a [`Trajectory`] from events in the order they are read.
//!
//! All readers pair calls with results, count turns and find the ends of runs
//! in the same way, because they all do it here.

use crate::format::FormatInfo;
use crate::ids::{ById, Id};
use crate::model::{
    Actor, At, Call, CallResult, Event, EventKind, Fact, Level, Payload, Status, Step, Text,
    ToolName, Trajectory, Usage,
};
use foldhash::{HashMap, HashMapExt, HashSet};
use jiff::{SignedDuration, Timestamp};
use std::cell::Cell;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// Builds one trajectory.
///
/// Fields that need no bookkeeping (`id`, `cwd`, `agent`, `usage`, …) are set
/// directly on [`Builder::run`].
#[derive(Debug)]
pub struct Builder {
    /// The trajectory so far.
    pub run: Trajectory,
    by_id: ById<SameId>,
    /// All calls before this one have their result.
    open_from: Cell<usize>,
    steps_by_id: ById<u32>,
    ids_repeat: bool,
    /// Results whose calls have not come yet, with their event.
    early: HashMap<String, (usize, Answer)>,
    /// Events of results that turned out to be of a later call.
    moved: Vec<usize>,
}

/// The calls of one id, in order; those before `open_from` are answered.
#[derive(Debug)]
struct SameId {
    first: u32,
    /// Nearly always there are none.
    later: Vec<u32>,
    open_from: Cell<usize>,
}

impl SameId {
    fn new(first: u32) -> Self {
        Self { first, later: Vec::new(), open_from: Cell::new(0) }
    }

    fn get(&self, at: usize) -> Option<u32> {
        match at.checked_sub(1) {
            None => Some(self.first),
            Some(later) => self.later.get(later).copied(),
        }
    }

    /// From the last to the first.
    fn rev(&self) -> impl Iterator<Item = u32> {
        self.later.iter().rev().copied().chain([self.first])
    }
}

/// Room for more calls than this is not made before they come.
const MOST_ROOM: usize = 64;

/// A call, as a reader found it.
#[derive(Debug)]
pub struct NewCall {
    /// The id that ties it to its result.
    pub id: Option<Text>,
    /// The tool.
    pub name: ToolName,
    /// The arguments.
    pub args: Option<Payload>,
    /// The step it belongs to.
    pub step: Option<u32>,
    /// When it was asked for.
    pub time: Option<Timestamp>,
    /// Where it is.
    pub at: At,
}

/// A result, as a reader found it.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The result itself.
    pub payload: Option<Payload>,
    /// How the call ended.
    pub status: Status,
    /// What the status was read from.
    pub level: Level,
    /// The exit code, if known.
    pub exit_code: Option<i64>,
    /// When it came.
    pub time: Option<Timestamp>,
    /// How long the call took, where the source says so.
    pub duration: Option<SignedDuration>,
    /// Where it is.
    pub at: At,
}

impl Answer {
    /// A result of which only the payload and the place are known: its status
    /// is [`Status::Unknown`] until the reader says more.
    #[must_use]
    pub fn new(payload: Option<Payload>, at: At) -> Self {
        Self {
            payload,
            status: Status::Unknown,
            level: Level::Absent,
            exit_code: None,
            time: None,
            duration: None,
            at,
        }
    }

    /// With a status read from a field made for it.
    #[must_use]
    pub fn protocol(mut self, failed: bool) -> Self {
        self.status = if failed { Status::Failed } else { Status::Succeeded };
        self.level = Level::Protocol;
        self
    }

    /// With a status and the level it was read from.
    #[must_use]
    pub fn status(mut self, status: Status, level: Level) -> Self {
        self.status = status;
        self.level = level;
        self
    }

    /// With an exit code. Decides the status only where nothing stronger has.
    #[must_use]
    pub fn exit_code(mut self, code: Option<i64>) -> Self {
        self.exit_code = code;
        if let (Some(code), Level::Absent) = (code, self.level) {
            self.status = if code == 0 { Status::Succeeded } else { Status::Failed };
            self.level = Level::ExitCode;
        }
        self
    }

    /// With the time it came.
    #[must_use]
    pub fn time(mut self, time: Option<Timestamp>) -> Self {
        self.time = time;
        self
    }

    /// With the duration the source states.
    #[must_use]
    pub fn duration(mut self, duration: Option<SignedDuration>) -> Self {
        self.duration = duration;
        self
    }
}

impl Builder {
    /// An empty trajectory of a format, in a file.
    #[must_use]
    pub fn new(format: &FormatInfo, file: Arc<str>) -> Self {
        Self {
            run: Trajectory::empty(format.id, file, format.fidelity),
            by_id: ById::default(),
            open_from: Cell::new(0),
            steps_by_id: ById::default(),
            ids_repeat: false,
            early: HashMap::new(),
            moved: Vec::new(),
        }
    }

    /// Says that call ids are used again within one run: a call with a known id
    /// is then a new call as soon as the earlier one is answered, and a result
    /// never waits for its call. Without this it also has to be of another
    /// response, as far as there are any: sources repeat calls.
    #[must_use]
    pub fn with_repeating_ids(mut self) -> Self {
        self.ids_repeat = true;
        self
    }

    /// Makes room for so many model responses with a call and a result each, within
    /// reason.
    pub fn reserve(&mut self, responses: usize) {
        let responses = responses.min(MOST_ROOM);
        self.run.steps.reserve(responses);
        self.run.calls.reserve(responses);
        self.run.events.reserve(2 * responses);
        self.by_id.reserve(responses);
    }

    /// Has nothing happened yet?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.run.events.is_empty()
    }

    /// Takes note of a time, for the first and last of the run.
    pub fn seen(&mut self, time: Option<Timestamp>) {
        let Some(time) = time else { return };
        if self.run.started.is_none_or(|t| time < t) {
            self.run.started = Some(time);
        }
        if self.run.ended.is_none_or(|t| time > t) {
            self.run.ended = Some(time);
        }
    }

    /// Adds an event that needs no bookkeeping.
    pub fn event(
        &mut self,
        kind: EventKind,
        text: Option<Payload>,
        step: Option<u32>,
        time: Option<Timestamp>,
        at: At,
    ) {
        self.seen(time);
        self.run.events.push(Event { kind, text, label: None, time, step, at });
    }

    /// The source's own word for the last event.
    pub fn label(&mut self, label: impl Into<Text>) {
        if let Some(event) = self.run.events.last_mut() {
            event.label = Some(label.into());
        }
    }

    /// A user's message: a new turn starts.
    pub fn user(&mut self, text: Option<Payload>, time: Option<Timestamp>, at: At) {
        self.run.user_turns += 1;
        self.event(EventKind::User, text, None, time, at);
    }

    /// The user message at this event did not start a turn after all. No step
    /// may have come since.
    pub fn withdraw_turn(&mut self, event: usize) {
        if let Some(event) = self.run.events.get_mut(event)
            && event.kind == EventKind::User
        {
            event.kind = EventKind::Context;
            self.run.user_turns = self.run.user_turns.saturating_sub(1);
        }
    }

    /// Text given to the model that nobody typed.
    pub fn context(&mut self, text: Option<Payload>, time: Option<Timestamp>, at: At) {
        self.event(EventKind::Context, text, None, time, at);
    }

    /// The step with this id, or a new one: records that repeat the id of a
    /// response belong to it. Without an id, always a new step.
    pub fn step(&mut self, id: Option<Text>, time: Option<Timestamp>, at: At) -> u32 {
        self.seen(time);
        let next = self.run.steps.len() as u32;
        if let Some(id) = &id {
            // Nearly always the record before this one belonged to the same response.
            if self.run.steps.last().is_some_and(|s| s.id.as_ref() == Some(id)) {
                return next - 1;
            }
            let known = *self.steps_by_id.entry(Id::of(id)).or_insert(next);
            if known != next {
                return known;
            }
        }
        let turn = self.run.user_turns;
        let (model, usage) = (None, None);
        self.run.steps.push(Step { id, model, time, usage, turn, complete: true, at });
        next
    }

    /// The last step, if there is one.
    #[must_use]
    pub fn last_step(&self) -> Option<u32> {
        (self.run.steps.len() as u32).checked_sub(1)
    }

    /// The model's words.
    pub fn message(&mut self, step: u32, text: Payload, time: Option<Timestamp>, at: At) {
        self.event(EventKind::Message, Some(text), Some(step), time, at);
    }

    /// The model's reasoning; without text where it is withheld.
    pub fn reasoning(&mut self, step: u32, text: Option<Payload>, time: Option<Timestamp>, at: At) {
        self.event(EventKind::Reasoning, text, Some(step), time, at);
    }

    /// A tool call; returns its index. A call that is already there (same id,
    /// tool and arguments) is not added again, unless it is answered and this one
    /// is of a later response.
    pub fn call(&mut self, new: NewCall) -> u32 {
        self.seen(new.time);
        let next = self.run.calls.len() as u32;
        if let Some(id) = &new.id {
            match self.by_id.entry(Id::of(id)) {
                Entry::Vacant(place) => {
                    place.insert(SameId::new(next));
                }
                Entry::Occupied(mut known) => {
                    // A copy follows its original closely; a file that uses one id for
                    // everything must not be compared with itself over and over.
                    for i in known.get().rev().take(8) {
                        let call = &self.run.calls[i as usize];
                        let reused = call.result.is_some()
                            && (self.ids_repeat || is_of_later_response(call, &new));
                        if !reused && call.name == new.name && call.args == new.args {
                            return i;
                        }
                    }
                    known.get_mut().later.push(next);
                }
            }
        }
        let early = new.id.as_ref().filter(|_| !self.early.is_empty());
        let early = early.and_then(|id| self.early.remove(&*id.get()));
        self.run.events.push(Event {
            kind: EventKind::Call(next),
            text: None,
            label: None,
            time: new.time,
            step: new.step,
            at: new.at.clone(),
        });
        self.run.calls.push(Call {
            id: new.id,
            name: new.name,
            args: new.args,
            result: None,
            status: Status::Unanswered,
            level: Level::Absent,
            exit_code: None,
            started: new.time,
            duration: None,
            duration_stated: false,
            step: new.step,
            actor: Actor::Agent,
            agent: None,
            spawned: None,
            at: new.at,
        });
        if let Some((event, answer)) = early {
            self.moved.push(event);
            self.run.orphans = self.run.orphans.saturating_sub(1);
            let failed = u32::from(answer.status.is_error());
            self.run.failed_orphans = self.run.failed_orphans.saturating_sub(failed);
            self.answer_call(next, answer);
        }
        next
    }

    /// The call with this id: the first that has no result yet, else the last.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<u32> {
        let known = self.by_id.get(id)?;
        let is_answered = |i: u32| self.run.calls[i as usize].result.is_some();
        let mut from = known.open_from.get();
        while known.get(from).is_some_and(is_answered) {
            from += 1;
        }
        known.open_from.set(from);
        known.get(from).or(known.rev().next())
    }

    /// The first call without a result that `test` accepts: for formats that
    /// pair by position.
    #[must_use]
    pub fn first_open(&self, test: impl Fn(&Call) -> bool) -> Option<u32> {
        // Far more than any run has open at once, far less than a hostile file could.
        const MAX_LOOKED_AT: usize = 10_000;
        let calls = &self.run.calls;
        let mut from = self.open_from.get();
        while calls.get(from).is_some_and(|c| c.result.is_some()) {
            from += 1;
        }
        self.open_from.set(from);
        let window = calls.iter().enumerate().skip(from).take(MAX_LOOKED_AT);
        let mut open = window.filter(|(_, c)| c.result.is_none());
        open.find(|(_, c)| test(c)).map(|(i, _)| i as u32)
    }

    /// The result of the call with this id; an orphan without an id. So is one
    /// without a call that has it, until the call comes.
    pub fn answer<'i>(&mut self, id: impl Into<Option<&'i str>>, answer: Answer) -> Option<u32> {
        let id = id.into();
        let found = id.and_then(|id| self.find(id));
        if let (None, Some(id), false) = (found, id, self.ids_repeat) {
            let event = self.run.events.len();
            self.early.entry(id.to_owned()).or_insert_with(|| (event, answer.clone()));
        }
        self.answer_call(found, answer);
        found
    }

    /// The result of the call with this index; an orphan where none was found.
    /// The first result stays; one that repeats it is counted.
    pub fn answer_call(&mut self, index: impl Into<Option<u32>>, answer: Answer) {
        let Some(index) = index.into() else { return self.orphan(answer) };
        self.seen(answer.time);
        let Some(call) = self.run.calls.get_mut(index as usize) else { return };
        if call.result.is_some() {
            self.run.repeated_results += 1;
            return;
        }
        call.status = answer.status;
        call.level = answer.level;
        call.exit_code = answer.exit_code.or(call.exit_code);
        call.duration_stated |= answer.duration.is_some();
        call.duration = answer.duration.or(call.duration).or_else(|| {
            let span = answer.time?.duration_since(call.started?);
            (!span.is_negative()).then_some(span)
        });
        call.result =
            Some(CallResult { payload: answer.payload, time: answer.time, at: answer.at.clone() });
        let step = call.step;
        self.run.events.push(Event {
            kind: EventKind::Result(index),
            text: None,
            label: None,
            time: answer.time,
            step,
            at: answer.at,
        });
    }

    /// A result that answers no call.
    pub fn orphan(&mut self, answer: Answer) {
        self.run.orphans += 1;
        self.run.failed_orphans += u32::from(answer.status.is_error());
        self.event(EventKind::OrphanResult, answer.payload, None, answer.time, answer.at);
    }

    /// A record of a kind this version does not know.
    pub fn unknown(&mut self, kind: impl Into<Text>, at: At) {
        self.event(EventKind::Unknown(kind.into()), None, None, None, at);
    }

    /// Adds to the run's usage; the first call decides the convention.
    pub fn add_usage(&mut self, usage: Usage) {
        match &mut self.run.usage {
            Some(sum) => sum.add(&usage),
            None => self.run.usage = Some(usage),
        }
    }

    /// Adds the usage of every step: for sources that state none for the run.
    pub fn add_usage_of_steps(&mut self) {
        for at in 0..self.run.steps.len() {
            if let Some(usage) = self.run.steps[at].usage {
                self.add_usage(usage);
            }
        }
    }

    /// The usage of a step, which is also of the run. A stream states it again
    /// while it grows: the last one counts.
    pub fn set_step_usage(&mut self, step: u32, usage: Usage) {
        let Some(step) = self.run.steps.get_mut(step as usize) else { return };
        let before = step.usage.replace(usage);
        if let (Some(before), Some(sum)) = (before, &mut self.run.usage) {
            sum.subtract(&before);
        }
        self.add_usage(usage);
    }

    /// Closes the trajectory.
    #[must_use]
    pub fn finish(mut self) -> Trajectory {
        let run = &mut self.run;
        if !self.moved.is_empty() {
            let moved: HashSet<usize> = self.moved.drain(..).collect();
            let mut index = 0..;
            run.events.retain(|_| index.next().is_none_or(|i| !moved.contains(&i)));
        }
        if run.started.is_none() {
            run.fidelity.lose(Fact::Times);
        }
        if run.usage.is_none() {
            run.fidelity.lose(Fact::Tokens);
        }
        if run.cost.is_none() {
            run.fidelity.lose(Fact::Cost);
        }
        if run.tools.is_none() {
            run.fidelity.lose(Fact::ToolDefinitions);
        }
        if run.cwd.is_none() {
            run.fidelity.lose(Fact::WorkingDirectory);
        }
        if !run.calls.is_empty() {
            if run.calls.iter().all(|c| c.duration.is_none()) {
                run.fidelity.lose(Fact::Durations);
            }
            if run.calls.iter().all(|c| c.args.is_none()) {
                run.fidelity.lose(Fact::Arguments);
            }
            if run.calls.iter().all(|c| c.result.as_ref().is_none_or(|r| r.payload.is_none())) {
                run.fidelity.lose(Fact::Results);
            }
        }
        if run.agent.model.is_none() {
            run.agent.model = run.steps.iter().find_map(|s| s.model.clone());
        }
        if run.agent.model.is_none() {
            run.fidelity.lose(Fact::Model);
        }
        self.run
    }
}

/// Is a call with the id of an answered one a new call? In the same response it
/// is a copy; without responses the clock has to tell.
fn is_of_later_response(known: &Call, new: &NewCall) -> bool {
    match (known.step, new.step) {
        (Some(known), Some(new)) => known != new,
        (None, None) => {
            let answered = known.result.as_ref().and_then(|r| r.time);
            answered.zip(new.time).is_some_and(|(answered, asked)| asked > answered)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_text, sketch};

    fn claude(lines: &[&str]) -> String {
        let line = |(n, line): (usize, &&str)| {
            let (kind, message) = line.split_once(' ').unwrap();
            format!(
                r#"{{"type":"{kind}","uuid":"{n}","parentUuid":null,"sessionId":"s","message":{message}}}"#
            )
        };
        lines.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
    }

    const CALL: &str = r#"assistant {"id":"m1","content":[{"type":"tool_use","id":"t","name":"Edit","input":{}}]}"#;
    const AGAIN: &str = r#"assistant {"id":"m2","content":[{"type":"tool_use","id":"t","name":"Edit","input":{}}]}"#;
    const RESULT: &str =
        r#"user {"content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]}"#;

    #[test]
    fn ids_that_come_again_and_results_that_come_early() {
        let one = "0 call Edit {} -> succeeded(protocol): ok\n";
        let two = format!("{one}1 call Edit {{}} -> succeeded(protocol): ok\n");
        for (lines, want, repeated) in [
            (&[CALL, RESULT][..], one, 0),
            (&[CALL, CALL, RESULT, CALL], one, 0),
            (&[CALL, RESULT, RESULT], one, 1),
            (&[CALL, RESULT, AGAIN, RESULT], &two, 0),
            // A copy that another response makes before there is a result.
            (&[CALL, AGAIN, RESULT], one, 0),
            (&[RESULT, CALL], one, 0),
            (&[RESULT, CALL, RESULT], one, 1),
            (&[RESULT, CALL, AGAIN, RESULT], &two, 0),
        ] {
            let read = read_text(&claude(lines));
            let run = &read.runs[0];
            assert_eq!(sketch(run), want, "{lines:?}");
            assert_eq!((run.orphans, run.repeated_results), (0, repeated), "{lines:?}");
        }
        let read = read_text(&claude(&[RESULT]));
        assert_eq!(
            (sketch(&read.runs[0]).as_str(), read.runs[0].orphans),
            ("orphanresult: ok\n", 1)
        );
    }

    #[test]
    fn the_last_usage_of_a_stream_counts() {
        let said = |usage: &str| {
            format!(
                r#"assistant {{"id":"m1","content":[{{"type":"thinking","thinking":"a"}}],"usage":{usage}}}"#
            )
        };
        let first = said(r#"{"input_tokens":9,"output_tokens":1}"#);
        let last = said(r#"{"input_tokens":4,"cache_read_input_tokens":5,"output_tokens":7}"#);
        let cut = said(r#"{"input_tokens":0,"output_tokens":0}"#);
        let read = read_text(&claude(&[&first, &last, &cut]));
        let usage = read.runs[0].usage.unwrap().recorded;
        assert_eq!((usage.input, usage.cache_read, usage.output), (4, 5, 7));

        let messages = [first.clone(), last]
            .map(|m| m["assistant ".len()..].replacen('{', r#"{"role":"assistant","#, 1));
        let read = read_text(&format!(r#"{{"messages":[{}]}}"#, messages.join(",")));
        let usage = read.runs[0].usage.unwrap().recorded;
        assert_eq!((usage.input, usage.cache_read, usage.output), (4, 5, 7));
    }
}
