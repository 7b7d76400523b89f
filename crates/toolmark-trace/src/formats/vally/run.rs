//! Builds a trajectory from the events of one trial.

use super::super::shared::{copilot, exit_code};
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::Record;
use crate::model::{
    At, Convention, Event, EventKind, Fact, Payload, Text, ToolName, Trajectory, Usage, time,
};
use jiff::Timestamp;
use toolmark_scan::Value;

/// Maximum number of turns of a stimulus: a higher number is treated as invalid.
pub(super) const MAX_TURNS: u64 = 1000;

/// A trajectory under construction from its events.
pub(super) struct VallyRun {
    pub(super) b: TrajectoryBuilder,
    /// Prompts of the stimulus, one per turn.
    pub(super) prompts: Vec<(Payload, At)>,
    /// Number of user turns that have started.
    turns: u64,
    /// Placeholder event of a user message that has not been read yet.
    awaited: Option<usize>,
    /// Open model response.
    open: Option<u32>,
    /// Last response opened by a `turn_start`.
    started: Option<u32>,
    /// Whether a result has been read since the open response began.
    is_answered: bool,
    /// Whether the source marks the end of responses.
    has_ends: bool,
    /// Usage whose message has not been read yet.
    usage: Option<(Usage, Option<Text>)>,
}

impl VallyRun {
    pub(super) fn new(b: TrajectoryBuilder) -> Self {
        Self {
            b,
            prompts: Vec::new(),
            turns: 0,
            awaited: None,
            open: None,
            started: None,
            is_answered: false,
            has_ends: false,
            usage: None,
        }
    }

    pub(super) fn finish(mut self) -> Trajectory {
        let run = &mut self.b.run;
        if !self.has_ends {
            run.steps.iter_mut().for_each(|step| step.complete = true);
        }
        let spoke = run.events.iter().any(|e| e.kind == EventKind::Message);
        if self.started.is_none() && (spoke || !run.calls.is_empty()) {
            run.fidelity.lose(Fact::Steps);
        }
        if run.usage.is_none() {
            // Without metrics, the calls of the model add up to the run.
            self.b.add_usage_of_steps();
            // Events with usage need no turn to belong to.
            if let Some((usage, _)) = self.usage.take() {
                self.b.add_usage(usage);
            }
        }
        self.b.finish()
    }

    pub(super) fn event(&mut self, record: &Record<'_>, event: Value<'_>) {
        let (mut kind, mut time, mut data, mut turn) = (None, None, None, None);
        for (key, value) in event.fields() {
            match key.inner().unwrap_or("") {
                "type" => kind = Some(value),
                "timestamp" => time = time::from_value(value),
                "data" => data = Some(value),
                "turn" => turn = value.as_u64().filter(|turn| *turn < MAX_TURNS),
                _ => {}
            }
        }
        let at = record.at_value(event);
        let name = kind.and_then(Value::inner).unwrap_or("");
        let data = data.unwrap_or(event);
        let text = |key| record.payload_at(data, key);
        if name == "user_message" {
            return self.user_message(text("content"), turn, time, at);
        }
        if let Some(turn) = turn {
            self.reach(turn + 1, &at);
        }
        match name {
            "turn_start" => {
                let step = self.b.step(None, time, at);
                let this = &mut self.b.run.steps[step as usize];
                this.id = record.text_at(data, "turnId");
                this.complete = false;
                self.begin(step);
                self.started = Some(step);
            }
            "turn_end" => {
                if let Some(step) = self.open.or(self.started) {
                    self.b.run.steps[step as usize].complete = true;
                    self.has_ends = true;
                }
                self.open = None;
                self.note(record, kind, time, event);
            }
            "assistant_message" => {
                let step = self.step(time, record, event);
                match data.get("content").filter(|c| c.inner() != Some("")) {
                    Some(content) => self.b.message(step, record.payload(content), time, at),
                    None => self.note(record, kind, time, event),
                }
            }
            "reasoning" => {
                let step = self.step(time, record, event);
                self.b.reasoning(step, text("content"), time, at);
            }
            "token_usage" => self.usage(record, data, kind, time, event),
            "tool_call" => self.call(record, data, time, event),
            "tool_result" => self.result(record, data, time, event),
            "skill_activation" => {
                self.b.event(EventKind::Skill, text("name"), self.open, time, at);
            }
            "error" => self.b.event(EventKind::Error, text("message"), self.open, time, at),
            "system" => {
                // Converters name the event; where they do not, its words have to do.
                let is_compaction = match data.get("eventType").and_then(Value::inner) {
                    Some(kind) => kind.contains("compact"),
                    None => data.raw().contains("compact"),
                };
                let kind = if is_compaction { EventKind::Compaction } else { EventKind::Context };
                self.b.event(kind, text("content"), None, time, at);
                if let Some(label) = record.text_at(data, "eventType") {
                    self.b.label(label);
                }
            }
            "custom" => self.note(record, kind, time, event),
            other => self.b.unknown(other, at),
        }
    }

    /// Reads a message of the user, or one that the host wrote with the user role.
    fn user_message(
        &mut self,
        text: Option<Payload>,
        turn: Option<u64>,
        time: Option<Timestamp>,
        at: At,
    ) {
        match turn {
            Some(turn) if turn >= self.turns => self.reach(turn, &at),
            Some(turn) if turn + 1 == self.turns && self.awaited.is_some() => {
                let awaited = self.awaited.take();
                if let Some(event) = awaited.and_then(|at| self.b.run.events.get_mut(at)) {
                    *event = Event { text, time, at, ..event.clone() };
                }
                self.b.seen(time);
                return;
            }
            Some(_) => return self.b.context(text, time, at),
            None if text.as_ref().is_some_and(|t| t.raw().starts_with("<skill-context")) => {
                self.b.user(text, time, at);
                self.b.label(Event::INJECTED);
                return;
            }
            None => {}
        }
        self.open = None;
        self.awaited = None;
        self.turns += 1;
        self.b.user(text, time, at);
    }

    /// Starts turns until `turns` have started. A turn whose message has not been read yet starts
    /// with the prompt of the stimulus.
    fn reach(&mut self, turns: u64, at: &At) {
        while self.turns < turns {
            let prompt = self.prompts.get(self.turns as usize).cloned();
            let (text, at) = match prompt {
                Some((text, at)) => (Some(text), at),
                None => (None, at.clone()),
            };
            self.awaited = Some(self.b.run.events.len());
            self.open = None;
            self.turns += 1;
            self.b.user(text, None, at);
        }
    }

    fn begin(&mut self, step: u32) {
        self.open = Some(step);
        self.is_answered = false;
    }

    fn note(
        &mut self,
        record: &Record<'_>,
        kind: Option<Value<'_>>,
        time: Option<Timestamp>,
        event: Value<'_>,
    ) {
        let kind = kind.and_then(|k| record.text(k)).unwrap_or_else(|| Text::owned(""));
        self.b.event(EventKind::Note(kind), None, None, time, record.at_value(event));
    }

    /// Returns the open response; converters without turns get one per message.
    fn step(&mut self, time: Option<Timestamp>, record: &Record<'_>, event: Value<'_>) -> u32 {
        let step = match self.open {
            Some(step) => step,
            None => {
                let step = self.b.step(None, time, record.at_value(event));
                self.begin(step);
                step
            }
        };
        if let Some((usage, model)) = self.usage.take() {
            self.give_usage(step, usage, model);
        }
        step
    }

    fn give_usage(&mut self, step: u32, usage: Usage, model: Option<Text>) {
        let step = &mut self.b.run.steps[step as usize];
        match &mut step.usage {
            Some(sum) => sum.add(&usage),
            None => step.usage = Some(usage),
        }
        step.model = model.or(step.model.take());
    }

    fn usage(
        &mut self,
        record: &Record<'_>,
        data: Value<'_>,
        kind: Option<Value<'_>>,
        time: Option<Timestamp>,
        event: Value<'_>,
    ) {
        let usage = Usage::new(copilot::tokens(data), Convention::INCLUSIVE);
        let model = record.text_at(data, "model");
        match self.open {
            Some(step) => self.give_usage(step, usage, model),
            None => match &mut self.usage {
                Some((sum, _)) => sum.add(&usage),
                None => self.usage = Some((usage, model)),
            },
        }
        self.note(record, kind, time, event);
    }

    fn call(
        &mut self,
        record: &Record<'_>,
        data: Value<'_>,
        time: Option<Timestamp>,
        event: Value<'_>,
    ) {
        let name = record.text_at(data, "toolName");
        let step = self.response(record.text_at(data, "turnId"), time, record.at_value(event));
        self.b.call(NewCall {
            id: record.text_at(data, "toolCallId"),
            name: ToolName::or_empty(name),
            args: record.payload_at(data, "arguments"),
            step,
            time,
            at: record.at_value(event),
        });
    }

    /// Returns the response that makes a call. If there are turns, they determine the response;
    /// `turnId` identifies calls that were made together. Without it, a call after a result may or
    /// may not belong to the same response.
    fn response(&mut self, id: Option<Text>, time: Option<Timestamp>, at: At) -> Option<u32> {
        let open = self.open.and_then(|step| self.b.run.steps.get_mut(step as usize));
        match (id, open) {
            (Some(id), Some(step)) if step.id.is_none() && self.started.is_none() => {
                step.id = Some(id);
            }
            (Some(id), open) if self.started.is_none() => {
                if open.is_none_or(|step| step.id.as_ref() != Some(&id)) {
                    let step = self.b.step(Some(id), time, at);
                    self.begin(step);
                }
            }
            (Some(id), Some(step)) => {
                if step.id.as_ref().is_some_and(|open| *open != id) {
                    self.b.run.fidelity.lose(Fact::Parallel);
                }
            }
            (None, Some(_)) if !self.is_answered => {}
            _ => self.b.run.fidelity.lose(Fact::Parallel),
        }
        self.open.or(self.started)
    }

    fn result(
        &mut self,
        record: &Record<'_>,
        data: Value<'_>,
        time: Option<Timestamp>,
        event: Value<'_>,
    ) {
        let result = data.get("result").or_else(|| data.get("error"));
        let content = result.and_then(|r| r.get("content")).filter(|c| c.is_string());
        let payload = result.map(|r| record.payload(r));
        self.is_answered = true;
        let answer = ReaderResult::new(payload, record.at_value(event)).time(time);
        let answer = match data.get("success").and_then(Value::as_bool) {
            Some(success) => answer.protocol(!success),
            None => answer,
        };
        let text = content.or(result).and_then(Value::inner);
        let answer = answer.exit_code(text.and_then(exit_code::in_last_line));
        self.b.answer(data.get("toolCallId").and_then(Value::str).as_deref(), answer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{read_text, sketch};

    #[test]
    fn responses_without_an_end_were_cut_off_where_others_have_one() {
        let start = r#"{"type":"turn_start","data":{"turnId":"0"}}"#;
        let end = r#"{"type":"turn_end","data":{"turnId":"0"}}"#;
        let user = r#"{"type":"user_message","data":{"content":"x"}}"#;
        for (events, complete) in [
            (vec![start, end, start], vec![true, false]),
            (vec![start, start], vec![true, true]),
            (vec![start, user, end], vec![true]),
        ] {
            let events = events.join(",");
            let read = read_text(&format!(r#"{{"stimulus":{{}},"events":[{events}]}}"#));
            let steps = read.runs[0].steps.iter().map(|s| s.complete).collect::<Vec<_>>();
            assert_eq!(steps, complete, "{events}");
        }
    }

    fn events(events: &str) -> Trajectory {
        let text = format!(
            r#"{{"stimulus":{{"name":"s","turns":["one",{{"prompt":"two"}}]}},"events":[{events}]}}"#
        );
        read_text(&text).runs.remove(0)
    }

    #[test]
    fn turns_of_the_stimulus_start_with_their_first_event() {
        // The second message of a turn is not typed; the message of the second turn
        // is missing; that of the third comes behind its first event.
        let run = events(
            r#"{"type":"user_message","turn":0,"data":{"content":"one!"}},
{"type":"turn_start","turn":0,"data":{"turnId":"0"}},
{"type":"tool_call","turn":0,"data":{"toolName":"skill","toolCallId":"1"}},
{"type":"user_message","turn":0,"data":{"content":"text of a skill"}},
{"type":"tool_call","turn":0,"data":{"toolName":"a","toolCallId":"2"}},
{"type":"turn_start","turn":1,"data":{"turnId":"1"}},
{"type":"tool_call","turn":1,"data":{"toolName":"b","toolCallId":"3"}},
{"type":"turn_start","turn":2,"data":{"turnId":"2"}},
{"type":"user_message","turn":2,"data":{"content":"three"}},
{"type":"tool_call","turn":2,"data":{"toolName":"c","toolCallId":"4"}}"#,
        );
        assert_eq!(
            sketch(&run),
            "user: one!\n\
             0 call skill  -> unanswered(absent): \n\
             context: text of a skill\n\
             0 call a  -> unanswered(absent): \n\
             user: two\n\
             1 call b  -> unanswered(absent): \n\
             user: three\n\
             2 call c  -> unanswered(absent): \n"
        );
        assert_eq!(run.user_turns, 3);
    }

    #[test]
    fn turns_without_any_message_are_told_by_their_numbers() {
        let run = events(
            r#"{"type":"turn_start","turn":0,"data":{}},{"type":"turn_start","turn":3,"data":{}},
{"type":"turn_start","turn":99999999999,"data":{}}"#,
        );
        assert_eq!(sketch(&run), "user: one\nuser: two\nuser: \nuser: \n");
    }

    #[test]
    fn the_text_of_a_skill_starts_no_turn() {
        let run = events(
            r#"{"type":"user_message","data":{"content":"go"}},
{"type":"turn_start","data":{"turnId":"0"}},
{"type":"user_message","data":{"content":"<skill-context name=\"pdf\">"}},
{"type":"tool_call","data":{"toolName":"a","toolCallId":"1"}}"#,
        );
        let starts: Vec<bool> = run
            .events
            .iter()
            .filter(|e| e.kind == EventKind::User)
            .map(|e| e.starts_turn())
            .collect();
        assert_eq!(starts, [true, false]);
        assert_eq!(run.user_turns, 2, "the format counts it");
        assert_eq!(run.calls[0].step, Some(0), "the response goes on");
    }

    #[test]
    fn the_type_of_a_system_event_is_its_label() {
        let run = events(
            r#"{"type":"system","data":{"eventType":"context_compaction","content":"x"}},
{"type":"system","data":{"eventType":"model_switch"}},{"type":"system","data":{"content":"compacted"}}"#,
        );
        let labels: Vec<_> = run
            .events
            .iter()
            .map(|e| (e.kind.word(), e.label.as_ref().map(ToString::to_string)))
            .collect();
        assert_eq!(
            labels,
            [
                ("compaction", Some("context_compaction".to_owned())),
                ("context", Some("model_switch".to_owned())),
                ("compaction", None),
            ]
        );
    }

    #[test]
    fn calls_of_one_turn_id_are_of_one_response() {
        let call = |tool: &str, turn: &str| {
            format!(
                r#"{{"type":"tool_call","data":{{"toolName":"{tool}","toolCallId":"{tool}"{turn}}}}}"#
            )
        };
        let result =
            r#"{"type":"tool_result","data":{"toolCallId":"a","success":true,"result":1}}"#;
        let start = r#"{"type":"turn_start","data":{"turnId":"x"}}"#;
        let (x, y) = (r#","turnId":"x""#, r#","turnId":"y""#);
        for (made, steps, knows_parallel) in [
            (vec![start.to_owned(), call("a", ""), call("b", "")], vec![Some(0), Some(0)], true),
            // Behind a result: of the same response or not?
            (
                vec![start.to_owned(), call("a", ""), result.to_owned(), call("b", "")],
                vec![Some(0), Some(0)],
                false,
            ),
            (
                vec![start.to_owned(), call("a", x), result.to_owned(), call("b", x)],
                vec![Some(0), Some(0)],
                true,
            ),
            (vec![start.to_owned(), call("a", x), call("b", y)], vec![Some(0), Some(0)], false),
            // Without turns, the ids are all there is.
            (vec![call("a", x), result.to_owned(), call("b", x)], vec![Some(0), Some(0)], true),
            (vec![call("a", x), call("b", y)], vec![Some(0), Some(1)], true),
            (vec![call("a", ""), call("b", "")], vec![None, None], false),
        ] {
            let made = made.join(",");
            let run = events(&made);
            assert_eq!(run.calls.iter().map(|c| c.step).collect::<Vec<_>>(), steps, "{made}");
            assert_eq!(!run.fidelity.lacks(Fact::Parallel), knows_parallel, "{made}");
            assert_eq!(run.fidelity.lacks(Fact::Steps), !made.contains("turn_start"), "{made}");
        }
    }
}
