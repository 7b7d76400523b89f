//! Builds a [`Trajectory`] from events in the order they are read.
//!
//! All readers share this code for pairing calls with results, counting turns and finding
//! the ends of runs.

use crate::format::FormatInfo;
use crate::ids::{ById, TraceId};
use crate::model::{
    Actor, At, Call, CallResult, Event, EventKind, Fact, Payload, Status, StatusLevel, Step, Text,
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
/// directly on [`TrajectoryBuilder::run`].
#[derive(Debug)]
pub struct TrajectoryBuilder {
    /// Trajectory built so far.
    pub run: Trajectory,
    by_id: ById<SameId>,
    /// Index before which all calls have their result.
    open_from: Cell<usize>,
    steps_by_id: ById<u32>,
    ids_repeat: bool,
    /// Whether every call that is added is one, whatever its id.
    calls_are_distinct: bool,
    /// Whether a call without a result did not come to its end.
    calls_are_answered: bool,
    /// Results whose calls have not been read yet, with their event.
    early: HashMap<String, (usize, ReaderResult)>,
    /// Events of results that turned out to belong to a later call.
    moved: Vec<usize>,
}

/// The calls that share an ID, in order; those before `open_from` are answered.
#[derive(Debug)]
struct SameId {
    first: u32,
    /// Further calls; nearly always empty.
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

    /// Iterates from the last call to the first.
    fn rev(&self) -> impl Iterator<Item = u32> {
        self.later.iter().rev().copied().chain([self.first])
    }
}

/// Maximum number of calls for which space is reserved in advance.
const MAX_ROOM: usize = 64;

/// A call found by a reader.
#[derive(Debug)]
pub struct NewCall {
    /// ID that connects the call with its result.
    pub id: Option<Text>,
    /// Tool name.
    pub name: ToolName,
    /// Arguments.
    pub args: Option<Payload>,
    /// Step that the call belongs to.
    pub step: Option<u32>,
    /// Time of the request.
    pub time: Option<Timestamp>,
    /// Source position.
    pub at: At,
}

/// A result found by a reader.
#[derive(Debug, Clone)]
pub struct ReaderResult {
    /// Content of the result.
    pub payload: Option<Payload>,
    /// Status of the call.
    pub status: Status,
    /// Evidence for the status.
    pub level: StatusLevel,
    /// Exit code, if known.
    pub exit_code: Option<i64>,
    /// Time of the result.
    pub time: Option<Timestamp>,
    /// Duration of the call, if the source states it.
    pub duration: Option<SignedDuration>,
    /// Source position.
    pub at: At,
}

impl ReaderResult {
    /// Creates a result of which only the payload and the position are known: its status is
    /// [`Status::Unknown`] until the reader sets it.
    #[must_use]
    pub fn new(payload: Option<Payload>, at: At) -> Self {
        Self {
            payload,
            status: Status::Unknown,
            level: StatusLevel::Absent,
            exit_code: None,
            time: None,
            duration: None,
            at,
        }
    }

    /// Sets the status from a dedicated field of the protocol.
    #[must_use]
    pub fn protocol(mut self, failed: bool) -> Self {
        self.status = if failed { Status::Failed } else { Status::Succeeded };
        self.level = StatusLevel::Protocol;
        self
    }

    /// Sets the status and its evidence.
    #[must_use]
    pub fn status(mut self, status: Status, level: StatusLevel) -> Self {
        self.status = status;
        self.level = level;
        self
    }

    /// Sets the exit code. It determines the status only if there is no stronger evidence.
    #[must_use]
    pub fn exit_code(mut self, code: Option<i64>) -> Self {
        self.exit_code = code;
        if let (Some(code), StatusLevel::Absent) = (code, self.level) {
            self.status = if code == 0 { Status::Succeeded } else { Status::Failed };
            self.level = StatusLevel::ExitCode;
        }
        self
    }

    /// Sets the time of the result.
    #[must_use]
    pub fn time(mut self, time: Option<Timestamp>) -> Self {
        self.time = time;
        self
    }

    /// Sets the duration stated by the source.
    #[must_use]
    pub fn duration(mut self, duration: Option<SignedDuration>) -> Self {
        self.duration = duration;
        self
    }
}

impl TrajectoryBuilder {
    /// Creates an empty trajectory of a format, in a file.
    #[must_use]
    pub fn new(format: &FormatInfo, file: Arc<str>) -> Self {
        Self {
            run: Trajectory::empty(format.id, file, format.fidelity),
            by_id: ById::default(),
            open_from: Cell::new(0),
            steps_by_id: ById::default(),
            ids_repeat: false,
            calls_are_distinct: false,
            calls_are_answered: false,
            early: HashMap::new(),
            moved: Vec::new(),
        }
    }

    /// Declares that call IDs are reused within one run: a call with a known ID is then a new
    /// call as soon as the earlier one is answered, and a result never waits for its call.
    /// Otherwise it must also belong to another response, if there are responses, because
    /// sources repeat calls.
    #[must_use]
    pub fn with_repeating_ids(mut self) -> Self {
        self.ids_repeat = true;
        self
    }

    /// Says that the source lists every call once: one with a known id is a new call,
    /// even with the same tool and arguments.
    #[must_use]
    pub fn with_distinct_calls(mut self) -> Self {
        self.calls_are_distinct = true;
        self
    }

    /// Says that the source has a result of every call that came to its end.
    #[must_use]
    pub(crate) fn with_answered_calls(mut self) -> Self {
        self.calls_are_answered = true;
        self
    }

    /// Reserves space for this many model responses with a call and a result each, within
    /// reason.
    pub fn reserve(&mut self, responses: usize) {
        let responses = responses.min(MAX_ROOM);
        self.run.steps.reserve(responses);
        self.run.calls.reserve(responses);
        self.run.events.reserve(2 * responses);
        self.by_id.reserve(responses);
    }

    /// Returns whether the trajectory has no content yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.run.events.is_empty()
    }

    /// Records a time, for the first and last time of the run.
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

    /// Sets the source's own label of the last event.
    pub fn label(&mut self, label: impl Into<Text>) {
        if let Some(event) = self.run.events.last_mut() {
            event.label = Some(label.into());
        }
    }

    /// Adds a user message, which starts a new turn.
    pub fn user(&mut self, text: Option<Payload>, time: Option<Timestamp>, at: At) {
        self.run.user_turns += 1;
        self.event(EventKind::User, text, None, time, at);
    }

    /// Declares that the user message at this event did not start a turn. No step may have
    /// been added since.
    pub fn withdraw_turn(&mut self, event: usize) {
        if let Some(event) = self.run.events.get_mut(event)
            && event.kind == EventKind::User
        {
            event.kind = EventKind::Context;
            self.run.user_turns = self.run.user_turns.saturating_sub(1);
        }
    }

    /// Adds text given to the model that was not typed by a user.
    pub fn context(&mut self, text: Option<Payload>, time: Option<Timestamp>, at: At) {
        self.event(EventKind::Context, text, None, time, at);
    }

    /// Returns the step with this ID, or a new one: records that repeat the ID of a response
    /// belong to it. Without an ID, always creates a new step.
    pub fn step(&mut self, id: Option<Text>, time: Option<Timestamp>, at: At) -> u32 {
        self.seen(time);
        let next = self.run.steps.len() as u32;
        if let Some(id) = &id {
            // Nearly always the record before this one belonged to the same response.
            if self.run.steps.last().is_some_and(|s| s.id.as_ref() == Some(id)) {
                return next - 1;
            }
            let known = *self.steps_by_id.entry(TraceId::of(id)).or_insert(next);
            if known != next {
                return known;
            }
        }
        let turn = self.run.user_turns;
        let (model, usage) = (None, None);
        self.run.steps.push(Step { id, model, time, usage, turn, complete: true, at });
        next
    }

    /// Returns the last step, if there is one.
    #[must_use]
    pub fn last_step(&self) -> Option<u32> {
        (self.run.steps.len() as u32).checked_sub(1)
    }

    /// Adds text of the model.
    pub fn message(&mut self, step: u32, text: Payload, time: Option<Timestamp>, at: At) {
        self.event(EventKind::Message, Some(text), Some(step), time, at);
    }

    /// Adds reasoning of the model; without text if it is withheld.
    pub fn reasoning(&mut self, step: u32, text: Option<Payload>, time: Option<Timestamp>, at: At) {
        self.event(EventKind::Reasoning, text, Some(step), time, at);
    }

    /// Adds a tool call and returns its index. A call that already exists (same ID, tool and
    /// arguments) is not added again, unless it is answered and this one belongs to a later
    /// response.
    pub fn call(&mut self, new: NewCall) -> u32 {
        self.seen(new.time);
        let next = self.run.calls.len() as u32;
        if let Some(id) = new.id.as_ref().filter(|id| !id.raw().is_empty()) {
            match self.by_id.entry(TraceId::of(id)) {
                Entry::Vacant(place) => {
                    place.insert(SameId::new(next));
                }
                Entry::Occupied(mut known) => {
                    // A copy follows its original closely; a file that uses one id for
                    // everything must not be compared with itself over and over.
                    let compared = if self.calls_are_distinct { 0 } else { 8 };
                    // Which of the two a result belongs to is not recorded.
                    let mut is_ambiguous = false;
                    for i in known.get().rev().take(compared) {
                        let call = &self.run.calls[i as usize];
                        let reused = call.result.is_some()
                            && (self.ids_repeat || is_of_later_response(call, &new));
                        if !reused && call.name == new.name && call.args == new.args {
                            return i;
                        }
                        is_ambiguous |= call.result.is_none();
                    }
                    self.run.completeness.shared_ids += u64::from(is_ambiguous);
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
            level: StatusLevel::Absent,
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

    /// Returns the call with this ID: the first without a result, or else the last.
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

    /// Returns the first call without a result that `test` accepts: for formats that pair by
    /// position.
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

    /// Adds the result of the call with this ID. Without an ID, the result is an orphan; with
    /// an ID that no call has, it is an orphan until the call is added.
    pub fn answer<'i>(
        &mut self,
        id: impl Into<Option<&'i str>>,
        answer: ReaderResult,
    ) -> Option<u32> {
        let id = id.into();
        if id == Some("") {
            // An empty ID names no call: results are in the order of the calls.
            let found = self.first_open(|call| call.id.as_ref().is_none_or(Text::is_empty));
            self.answer_call(found, answer);
            return found;
        }
        let found = id.and_then(|id| self.find(id));
        if let (None, Some(id), false) = (found, id, self.ids_repeat) {
            let event = self.run.events.len();
            self.early.entry(id.to_owned()).or_insert_with(|| (event, answer.clone()));
        }
        self.answer_call(found, answer);
        found
    }

    /// Adds the result of the call with this index; an orphan without an index. Only the first
    /// result is kept; repeated ones are counted.
    pub fn answer_call(&mut self, index: impl Into<Option<u32>>, answer: ReaderResult) {
        let Some(index) = index.into() else { return self.orphan(answer) };
        self.seen(answer.time);
        let Some(call) = self.run.calls.get_mut(index as usize) else { return };
        if let Some(known) = &call.result {
            self.run.repeated_results += 1;
            let says_other = answer.payload.is_some()
                && known.payload.is_some()
                && answer.payload != known.payload;
            self.run.completeness.shared_ids += u64::from(says_other);
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

    /// Adds a result without a call.
    pub fn orphan(&mut self, answer: ReaderResult) {
        self.run.orphans += 1;
        self.run.failed_orphans += u32::from(answer.status.is_error());
        self.event(EventKind::OrphanResult, answer.payload, None, answer.time, answer.at);
    }

    /// Adds a record of a kind that this version does not know.
    pub fn unknown(&mut self, kind: impl Into<Text>, at: At) {
        self.event(EventKind::Unknown(kind.into()), None, None, None, at);
    }

    /// Adds to the run's usage; the first call determines the convention.
    pub fn add_usage(&mut self, usage: Usage) {
        match &mut self.run.usage {
            Some(sum) => sum.add(&usage),
            None => self.run.usage = Some(usage),
        }
    }

    /// Sums the usage of all steps, for sources that state no usage of the run.
    pub fn add_usage_of_steps(&mut self) {
        for at in 0..self.run.steps.len() {
            if let Some(usage) = self.run.steps[at].usage {
                self.add_usage(usage);
            }
        }
    }

    /// Sets the usage of a step, and adds it to the run. Streams repeat a growing usage: the
    /// last value counts.
    pub fn set_step_usage(&mut self, step: u32, usage: Usage) {
        let Some(step) = self.run.steps.get_mut(step as usize) else { return };
        let before = step.usage.replace(usage);
        if let (Some(before), Some(sum)) = (before, &mut self.run.usage) {
            sum.subtract(&before);
        }
        self.add_usage(usage);
    }

    /// Finishes the trajectory.
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
            // An entry without a result says nothing about how the call ended.
            if self.calls_are_distinct && run.calls.iter().any(|c| c.result.is_none()) {
                run.fidelity.lose(Fact::Results);
            }
            let is_open = self.calls_are_answered && run.calls.iter().all(|c| c.result.is_none());
            let has_payload = |c: &Call| c.result.as_ref().is_some_and(|r| r.payload.is_some());
            if !is_open && !run.calls.iter().any(has_payload) {
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

/// Returns whether a call with the ID of an answered call is a new call. In the same
/// response, it is a copy; without responses, the times decide.
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
