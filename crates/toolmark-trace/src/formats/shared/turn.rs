//! One message made of parts. Its author determines the meaning of its text: a turn of the
//! user, the model's message, or context beside results.

use super::positional::Positional;
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::Record;
use crate::model::{At, EventKind, Payload, Status, Text, ToolName, Usage};
use jiff::Timestamp;
use toolmark_scan::Value;

/// Author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Author {
    User,
    Assistant,
    Tool,
    /// Text given to the model that was not typed by a user.
    System,
}

/// Returns the author of a role.
pub(crate) fn author(role: &str) -> Option<Author> {
    Some(match role {
        "user" | "human" => Author::User,
        "assistant" | "model" | "ai" => Author::Assistant,
        "tool" | "function" => Author::Tool,
        "system" | "developer" => Author::System,
        _ => return None,
    })
}

/// A message that is being read.
pub(crate) struct TurnMessage<'t, 'r> {
    pub(crate) b: &'t mut TrajectoryBuilder,
    open: &'t mut Positional,
    record: &'t Record<'r>,
    author: Author,
    pub(crate) time: Option<Timestamp>,
    at: At,
    step: Option<u32>,
    /// Text of the user; a turn only if the message has no results.
    words: Vec<(Payload, At)>,
    has_results: bool,
    is_step_used: bool,
}

impl<'t, 'r> TurnMessage<'t, 'r> {
    /// Starts a message. Messages of assistants get a step, the one of `id` if it is known.
    pub(crate) fn new(
        b: &'t mut TrajectoryBuilder,
        open: &'t mut Positional,
        record: &'t Record<'r>,
        message: Value<'_>,
        author: Author,
        id: Option<Text>,
        time: Option<Timestamp>,
    ) -> Self {
        let at = record.at_value(message);
        let step = (author == Author::Assistant).then(|| b.step(id, time, at.clone()));
        let (words, has_results, is_step_used) = (Vec::new(), false, false);
        Self { b, open, record, author, time, at, step, words, has_results, is_step_used }
    }

    /// Sets the model and the usage of the response, if stated.
    pub(crate) fn about(&mut self, model: Option<Text>, usage: Option<Usage>) {
        let Some(step) = self.step.and_then(|s| self.b.run.steps.get_mut(s as usize)) else {
            return;
        };
        step.model = step.model.take().or(model);
        if let (Some(usage), None) = (usage, step.usage) {
            step.usage = Some(usage);
            self.b.add_usage(usage);
        }
    }

    /// Starts the next response inside one message.
    pub(crate) fn next_step(&mut self) {
        if self.is_step_used && self.step.is_some() {
            self.step = Some(self.b.step(None, self.time, self.at.clone()));
            self.is_step_used = false;
        }
    }

    /// Adds text from any kind of value.
    pub(crate) fn text(&mut self, value: Value<'_>) {
        if value.is_null() || value.inner() == Some("") {
            return;
        }
        self.words(self.record.payload(value), self.record.at_value(value));
    }

    /// Adds text that is not a value of the file.
    pub(crate) fn words(&mut self, text: Payload, at: At) {
        self.is_step_used = true;
        match (self.author, self.step) {
            (Author::Assistant, Some(step)) => self.b.message(step, text, self.time, at),
            (Author::User, _) => self.words.push((text, at)),
            _ => self.b.context(Some(text), self.time, at),
        }
    }

    /// Adds reasoning, without text if it is withheld.
    pub(crate) fn reasoning(&mut self, part: Value<'_>, text: Option<Value<'_>>) {
        self.is_step_used = true;
        let text = text.filter(|t| !t.is_null() && t.inner() != Some(""));
        let text = text.map(|t| self.record.payload(t));
        let at = self.record.at_value(part);
        self.b.event(EventKind::Reasoning, text, self.step, self.time, at);
    }

    /// Adds a call, with its part, ID, tool and arguments. Returns its index.
    pub(crate) fn call(
        &mut self,
        part: Value<'_>,
        id: Option<Value<'_>>,
        name: Option<Value<'_>>,
        args: Option<Value<'_>>,
    ) -> u32 {
        let name = ToolName::or_empty(name.and_then(|n| self.record.text(n)));
        let id = id.and_then(|id| self.record.label(id)).filter(|id| !id.is_empty());
        self.made_call(id, name, args.map(|a| self.record.payload(a)), self.record.at_value(part))
    }

    /// Adds a call whose parts are not values of the file.
    pub(crate) fn made_call(
        &mut self,
        id: Option<Text>,
        name: ToolName,
        args: Option<Payload>,
        at: At,
    ) -> u32 {
        self.is_step_used = true;
        let (step, time) = (self.step, self.time);
        let call = self.b.call(NewCall { id, name, args, step, time, at });
        self.open.add(step.unwrap_or(u32::MAX), call);
        call
    }

    /// Adds a result to the call with this ID; without an ID, to the next open call of this tool,
    /// or of any tool.
    pub(crate) fn result(
        &mut self,
        id: Option<Value<'_>>,
        name: Option<Value<'_>>,
        answer: ReaderResult,
    ) {
        self.has_results = true;
        let answer = if answer.time.is_none() { answer.time(self.time) } else { answer };
        self.open.answer(self.b, id, name, answer);
    }

    /// Adds a result to the next open call of a tool, or of any tool if it has none.
    pub(crate) fn result_named(&mut self, name: &str, answer: ReaderResult) {
        self.has_results = true;
        let call = self.open.take(self.b, Some(name)).or_else(|| self.open.take(self.b, None));
        self.b.answer_call(call, answer.time(self.time));
    }

    /// Adds the result of the call with this index.
    pub(crate) fn answer(&mut self, call: u32, answer: ReaderResult) {
        self.b.answer_call(call, answer.time(self.time));
    }

    /// Returns whether the call with this ID has its result already.
    pub(crate) fn is_answered(&self, id: Option<Value<'_>>) -> bool {
        let call = id.and_then(Value::str).and_then(|id| self.b.find(&id));
        call.is_some_and(|call| self.b.run.calls[call as usize].result.is_some())
    }

    /// Adds an image, a file or a source, unchanged.
    pub(crate) fn attachment(&mut self, part: Value<'_>) {
        self.text(part);
    }

    /// Adds a part that contains nothing about the run.
    pub(crate) fn note(&mut self, kind: &str, part: Value<'_>) {
        let at = self.record.at_value(part);
        self.b.event(EventKind::Note(Text::owned(kind)), None, self.step, self.time, at);
    }

    /// Adds a part of an unknown kind.
    pub(crate) fn unknown(&mut self, kind: &str, part: Value<'_>) {
        let text = Some(self.record.payload(part));
        let kind = EventKind::Unknown(Text::owned(format!("content/{kind}")));
        self.b.event(kind, text, self.step, self.time, self.record.at_value(part));
    }

    /// Finishes the message. `whole` is the source of the user's text if it consists of several
    /// parts.
    pub(crate) fn finish(mut self, whole: Option<Value<'_>>) {
        if self.author != Author::User {
            return;
        }
        if self.has_results {
            for (text, at) in std::mem::take(&mut self.words) {
                self.b.context(Some(text), self.time, at);
            }
            return;
        }
        let text = match (self.words.len(), whole) {
            (1, _) | (_, None) => self.words.pop().map(|(text, _)| text),
            (_, Some(whole)) => Some(self.record.payload(whole)),
        };
        self.b.user(text, self.time, self.at);
    }
}

/// Sets the status from a word that clients use.
pub(crate) fn status(answer: ReaderResult, word: &str) -> ReaderResult {
    use crate::model::StatusLevel;
    match word {
        "success" | "ok" | "OK" | "done" | "completed" | "complete" => answer.protocol(false),
        "error" | "errored" | "failed" | "failure" => answer.protocol(true),
        "denied" | "rejected" | "rejected-by-user" | "declined" => {
            answer.status(Status::Denied, StatusLevel::Denial)
        }
        "cancelled" | "canceled" | "aborted" => {
            answer.status(Status::Interrupted, StatusLevel::Denial)
        }
        _ => answer,
    }
}
