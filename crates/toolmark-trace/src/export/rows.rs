//! Groups a trajectory into the rows of a conversation.
//!
//! A trajectory lists single events; chat-like targets need one row per model response, with
//! all its text and calls, and the results next to their calls.

use super::losses::{Losses, TrajectoryPart};
use crate::model::{Call, Event, EventKind, Payload, Step, Trajectory};
use jiff::Timestamp;

/// A row of a conversation.
pub(super) enum ConversationRow<'a> {
    /// A user message.
    User(&'a Event),
    /// Text given to the model that was not typed by a user.
    Context(&'a Event),
    /// A model response, by its index in [`ConversationRows::responses`].
    Response(usize),
    /// A result without a call.
    Orphan(&'a Event),
    /// Any other event.
    Other(&'a Event),
}

/// A model response.
#[derive(Default)]
pub(super) struct ModelResponse<'a> {
    /// Step, if the source has steps.
    pub(super) step: Option<&'a Step>,
    /// Time of its first event.
    first: Option<Timestamp>,
    pub(super) messages: Vec<&'a Payload>,
    pub(super) reasoning: Vec<&'a Payload>,
    /// Calls with their index in the trajectory.
    pub(super) calls: Vec<(usize, &'a Call)>,
}

impl ModelResponse<'_> {
    /// Returns the start time of the response.
    pub(super) fn time(&self) -> Option<Timestamp> {
        self.step.and_then(|s| s.time).or(self.first)
    }
}

/// The rows of a conversation and their responses, both in order.
pub(super) struct ConversationRows<'a> {
    pub(super) rows: Vec<ConversationRow<'a>>,
    pub(super) responses: Vec<ModelResponse<'a>>,
}

/// Position of the response of a step or call.
#[derive(Clone, Copy)]
struct Seat {
    row: usize,
    response: usize,
}

struct ConversationTable<'a> {
    run: &'a Trajectory,
    rows: Vec<ConversationRow<'a>>,
    responses: Vec<ModelResponse<'a>>,
    seat_of_step: Vec<Option<Seat>>,
    seat_of_call: Vec<Option<Seat>>,
    /// Whether each step has text or calls.
    spoken: Vec<bool>,
    /// Number of leading steps that have their rows.
    seated: usize,
    /// Last row that is part of the conversation.
    last: usize,
    moved: usize,
}

impl<'a> ConversationRows<'a> {
    /// Groups the events of a trajectory into rows. Text and calls of a step join its first row;
    /// events that thereby move past another row are counted.
    pub(super) fn of(run: &'a Trajectory, losses: &mut Losses) -> Self {
        let mut table = ConversationTable {
            run,
            rows: Vec::with_capacity(run.events.len()),
            responses: Vec::with_capacity(run.steps.len()),
            seat_of_step: vec![None; run.steps.len()],
            seat_of_call: vec![None; run.calls.len()],
            spoken: vec![false; run.steps.len()],
            seated: 0,
            last: 0,
            moved: 0,
        };
        for event in run.events.iter().filter(|e| is_of_response(&e.kind)) {
            let spoken = event.step.and_then(|s| table.spoken.get_mut(s as usize));
            spoken.into_iter().for_each(|s| *s = true);
        }
        for event in &run.events {
            table.take(event);
        }
        table.seat_silent_steps(run.steps.len());
        losses.add(TrajectoryPart::Order, table.moved);
        Self { rows: table.rows, responses: table.responses }
    }
}

fn is_of_response(kind: &EventKind) -> bool {
    matches!(kind, EventKind::Message | EventKind::Reasoning | EventKind::Call(_))
}

impl<'a> ConversationTable<'a> {
    fn take(&mut self, event: &'a Event) {
        match &event.kind {
            EventKind::User => self.push(ConversationRow::User(event)),
            EventKind::Context => self.push(ConversationRow::Context(event)),
            EventKind::OrphanResult => self.push(ConversationRow::Orphan(event)),
            EventKind::Message => {
                let seat = self.seat(event);
                self.responses[seat.response].messages.extend(&event.text);
            }
            EventKind::Reasoning => {
                let seat = self.seat(event);
                self.responses[seat.response].reasoning.extend(&event.text);
            }
            EventKind::Call(index) => {
                let index = *index as usize;
                let Some(call) = self.run.calls.get(index) else { return };
                let seat = self.seat(event);
                self.responses[seat.response].calls.push((index, call));
                self.seat_of_call[index] = Some(seat);
            }
            EventKind::Result(index) => {
                let seat = self.seat_of_call.get(*index as usize).copied().flatten();
                self.moved += usize::from(seat.is_some_and(|seat| seat.row != self.last));
            }
            _ => self.rows.push(ConversationRow::Other(event)),
        }
    }

    fn push(&mut self, row: ConversationRow<'a>) {
        self.last = self.rows.len();
        self.rows.push(row);
    }

    /// Returns the position of the response that an event belongs to, creating one if necessary.
    fn seat(&mut self, event: &Event) -> Seat {
        let step = event.step.map(|s| s as usize).filter(|s| *s < self.run.steps.len());
        if let Some(seat) = step.and_then(|s| self.seat_of_step[s]) {
            self.moved += usize::from(seat.row != self.last);
            return seat;
        }
        self.seat_silent_steps(step.unwrap_or(0));
        self.new_seat(step, event.time)
    }

    fn new_seat(&mut self, step: Option<usize>, first: Option<Timestamp>) -> Seat {
        let seat = Seat { row: self.rows.len(), response: self.responses.len() };
        let of_step = step.and_then(|s| self.run.steps.get(s));
        self.responses.push(ModelResponse { step: of_step, first, ..ModelResponse::default() });
        self.push(ConversationRow::Response(seat.response));
        if let Some(step) = step {
            self.seat_of_step[step] = Some(seat);
        }
        seat
    }

    /// Adds rows for the steps before `end` that have neither text nor calls.
    fn seat_silent_steps(&mut self, end: usize) {
        for step in self.seated..end {
            if !self.spoken[step] {
                self.new_seat(Some(step), None);
            }
        }
        self.seated = self.seated.max(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::read_text;

    #[test]
    fn a_split_response_is_one_row_and_late_results_count_as_moved() {
        let read = read_text(
            r#"{"type":"assistant","uuid":"1","parentUuid":null,"sessionId":"s","message":{"id":"m1","content":[]}}
{"type":"assistant","uuid":"2","parentUuid":"1","sessionId":"s","message":{"id":"m2","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}
{"type":"user","uuid":"3","parentUuid":"2","sessionId":"s","message":{"role":"user","content":"wait"}}
{"type":"assistant","uuid":"4","parentUuid":"3","sessionId":"s","message":{"id":"m2","content":[{"type":"text","text":"b"}]}}
{"type":"user","uuid":"5","parentUuid":"4","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"c"}]}}
"#,
        );
        let mut losses = Losses::default();
        let rows = ConversationRows::of(&read.runs[0], &mut losses);
        assert_eq!(rows.rows.len(), 3);
        assert!(rows.responses[0].messages.is_empty());
        assert_eq!((rows.responses[1].messages.len(), rows.responses[1].calls.len()), (2, 1));
        assert!(matches!(rows.rows[2], ConversationRow::User(_)));
        assert_eq!(losses.count(TrajectoryPart::Order), 2);
    }
}
