//! AgentDojo runs: one document with `messages` and the benchmark's results (`utility`,
//! `security`), or only the messages, as an array.
//!
//! Calls are `{function: "name", args: {…}, id}` and content blocks keep their text under
//! `content`. A tool message repeats the call it answers and has `error`, which is null if
//! the call succeeded. Some providers give no IDs: results then follow the order of the
//! calls.

use super::shared::chat;
use super::shared::declared::{self, Full};
use crate::builder::{ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{EventKind, Fact, Fidelity, Text, ToolDefinition};
use std::collections::VecDeque;
use toolmark_scan::Value;

/// AgentDojo runs.
pub(crate) struct AgentDojo;

static INFO: FormatInfo = FormatInfo {
    id: "agentdojo",
    title: "AgentDojo run",
    origin: "ethz-spylab/agentdojo and its forks, runs/**/*.json",
    versions: "0.1 and later",
    looks_for: "tool_calls whose function is a name and whose args are an object",
    fidelity: Fidelity::lacking(&[
        Fact::ExitCodes,
        Fact::Times,
        Fact::Durations,
        Fact::Tokens,
        Fact::Cost,
        Fact::WorkingDirectory,
    ]),
};

impl Format for AgentDojo {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let is_run = |r: Value<'_>| {
            let mut messages = r.items_at("messages").peekable();
            let is_named = r.has("suite_name") && r.has("pipeline_name");
            messages.peek().is_some() && (is_named || messages.any(has_named_call))
        };
        if probe.any(is_run) {
            return 100;
        }
        if probe.any(has_named_call) { 95 } else { 0 }
    }

    fn answers_calls(&self) -> bool {
        true
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<RunReader>::default()
    }
}

/// Returns whether this message has a call in AgentDojo's own format.
fn has_named_call(message: Value<'_>) -> bool {
    message.items_at("tool_calls").any(|call| {
        call.get("function").is_some_and(|f| f.is_string())
            && call.get("args").is_some_and(|a| a.is_object())
    })
}

#[derive(Default)]
struct RunReader {
    /// Run whose messages are the records themselves.
    bare: Option<AgentdojoConversation>,
}

impl Reader for RunReader {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        let Some(value) = out.object(record, "an AgentDojo run") else { return };
        if let Some(messages) = value.get("messages") {
            let mut conversation = AgentdojoConversation::new(out);
            describe(&mut conversation.b, record, value);
            for message in messages.items() {
                conversation.read(record, message);
            }
            if let Some(error) = value.get("error") {
                let text = Some(record.payload(error));
                let at = record.at_value(error);
                conversation.b.event(EventKind::Error, text, None, None, at);
            }
            out.push(conversation.b.finish());
        } else {
            self.bare.get_or_insert_with(|| AgentdojoConversation::new(out)).read(record, value);
        }
    }

    fn finish(&mut self, out: &mut Out) {
        if let Some(conversation) = self.bare.take() {
            out.push(conversation.b.finish());
        }
    }

    fn spans_records(&self) -> bool {
        self.bare.is_some()
    }
}

fn describe(b: &mut TrajectoryBuilder, record: &Record<'_>, run: Value<'_>) {
    let text = |key: &str| run.get(key).and_then(|v| record.label(v));
    b.run.id = text("run_id");
    b.run.agent.name = text("pipeline_name");
    let task = text("user_task_id").or_else(|| text("task_id"));
    let name: Vec<String> = [text("suite_name"), task, text("injection_task_id")]
        .into_iter()
        .flatten()
        .map(|t| t.to_string())
        .collect();
    b.run.name = (!name.is_empty()).then(|| Text::owned(name.join("/")));
    b.run.outcome = outcome(run);
    let found = run.get("evaluation").filter(|e| e.is_object()).unwrap_or(run);
    if let Some(utility) = found.get("utility") {
        declared::verdict(&mut b.run, record, "utility", utility, Full::OnlyOne);
    }
    let tools = run.get("available_tools").or_else(|| run.get("tools"));
    b.run.tools = tools.filter(|t| t.is_array()).map(|tools| {
        let name = |t: Value<'_>| record.text(t).or_else(|| record.text_at(t, "name"));
        let definition = |t| {
            Some(ToolDefinition {
                name: name(t)?,
                description: record.text_at(t, "description"),
                schema: record.payload_at(t, "parameters"),
            })
        };
        tools.items().filter_map(definition).collect()
    });
}

/// Returns the benchmark's result: whether the agent completed the user's task, and whether
/// it resisted the injected one.
fn outcome(run: Value<'_>) -> Option<Text> {
    let found = run.get("evaluation").filter(|e| e.is_object()).unwrap_or(run);
    let parts: Vec<String> = ["utility", "security"]
        .iter()
        .filter_map(|key| Some(format!("{key} {}", found.get(key)?.as_bool()?)))
        .collect();
    (!parts.is_empty()).then(|| Text::owned(parts.join(", ")))
}

struct AgentdojoConversation {
    b: TrajectoryBuilder,
    /// Calls without an ID that wait for their result.
    open: VecDeque<u32>,
}

impl AgentdojoConversation {
    fn new(out: &Out) -> Self {
        Self { b: out.builder(&AgentDojo).with_repeating_ids(), open: VecDeque::new() }
    }

    fn read(&mut self, record: &Record<'_>, message: Value<'_>) {
        let b = &mut self.b;
        let at = record.at_value(message);
        let content = message.get("content");
        let payload = content.map(|c| record.payload(c));
        match message.word("role") {
            "system" => b.context(payload, None, at),
            "user" => b.user(payload, None, at),
            "assistant" => {
                let step = b.step(None, None, at);
                if let Some(content) = content {
                    chat::words(b, record, content, Some(step), None);
                }
                for call in message.items_at("tool_calls") {
                    let call = chat::new_call(record, call, Some(step), None);
                    let has_id = call.id.is_some();
                    let index = b.call(call);
                    if !has_id {
                        self.open.push_back(index);
                    }
                }
            }
            "tool" => self.read_result(record, message),
            other => b.unknown(Text::owned(format!("message/{other}")), at),
        }
    }

    fn read_result(&mut self, record: &Record<'_>, message: Value<'_>) {
        let error = message.get("error");
        // The error is beside an empty content.
        let content = message.get("content").filter(|c| error.is_none() || has_words(*c));
        let payload = content.or(error).map(|p| record.payload(p));
        let answer = ReaderResult::new(payload, record.at_value(message)).protocol(error.is_some());
        let id = message.get("tool_call_id").or_else(|| message.at(&["tool_call", "id"]));
        match id.and_then(Value::str).filter(|id| !id.is_empty()) {
            Some(id) => {
                self.b.answer(&*id, answer);
            }
            None => self.b.answer_call(self.open.pop_front(), answer),
        }
    }
}

fn has_words(content: Value<'_>) -> bool {
    match content.inner() {
        Some(text) => !text.is_empty(),
        None => content.items().any(|block| block.get("content").is_some_and(|c| !c.is(""))),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, read_text, sketch};

    #[test]
    fn a_run() {
        let read = read_fixture("agentdojo.json");
        assert_eq!(read.format, "agentdojo");
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "context: be good\nuser: pay\n0 message: on it\n\
             0 call read {\"f\":\"a\"} -> succeeded(protocol): bill\n\
             0 call send {\"n\":2} -> failed(protocol): ValueError: no\n\
             0 call stop {} -> unanswered(absent): \n\
             orphanresult: x\nunknown message/critic\n"
        );
        assert_eq!(run.name.as_ref().unwrap(), "bank/user_task_1/injection_task_2");
        assert_eq!(run.outcome.as_ref().unwrap(), "utility true, security false");
    }

    #[test]
    fn bare_messages_without_ids_pair_in_order() {
        let read = read_text(
            r#"[{"role":"user","content":"go"},
            {"role":"assistant","content":null,"tool_calls":[{"function":"a","args":{},"id":null},{"function":"b","args":{},"id":""}]},
            {"role":"tool","content":"one","tool_call_id":null,"error":null},
            {"role":"tool","content":"two","tool_call_id":"","error":null},
            {"role":"tool","content":"three","error":null}, 4]"#,
        );
        assert_eq!(
            sketch(&read.runs[0]),
            "user: go\n0 call a {} -> succeeded(protocol): one\n0 call b {} -> succeeded(protocol): two\norphanresult: three\n"
        );
        assert_eq!(read.skipped, 1);
    }
}
