//! The events that `codex exec --json` prints.
//!
//! A thread has turns, and a turn has items; a tool call is an item that is started, possibly
//! updated, and completed under one ID. Some items are only completed. IDs (`item_3`) restart
//! with every process, so a resumed thread reuses them. There are no times, no prompts, no
//! model and no names of the built-in tools: the kind of the item is used instead
//! (`command_execution`). Responses are not delimited; each message of the model is a step.
//! `turn.completed` states the cumulative tokens of its process.

use super::shared::codex::{Totals, status_word};
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{EventKind, Fact, Fidelity, Payload, Status, StatusLevel, Text, ToolName};
use std::collections::HashMap;
use toolmark_scan::Value;

/// Events of `codex exec --json`.
pub(crate) struct CodexExec;

static INFO: FormatInfo = FormatInfo {
    id: "codex-exec",
    title: "codex exec --json",
    origin: "standard output of `codex exec --json`",
    versions: "0.3x to 0.16x",
    looks_for: "events thread.started, turn.started, item.completed",
    fidelity: Fidelity::lacking(&[
        Fact::Times,
        Fact::Durations,
        Fact::Parallel,
        Fact::Cost,
        Fact::Model,
        Fact::ToolDefinitions,
        Fact::WorkingDirectory,
    ]),
};

impl Format for CodexExec {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let is_thread =
            |r: Value<'_>| kind_of(r) == "thread.started" && r.get("thread_id").is_some();
        let is_item = |r: Value<'_>| {
            kind_of(r).starts_with("item.") && r.get("item").is_some_and(|i| item_kind(i).is_some())
        };
        if probe.any(|r| is_thread(r) || is_item(r)) {
            return 100;
        }
        let is_turn =
            |r: Value<'_>| matches!(kind_of(r), "turn.started" | "turn.completed" | "turn.failed");
        if probe.any(|r| is_turn(r) && r.get("data").is_none()) { 60 } else { 0 }
    }

    fn answers_calls(&self) -> bool {
        true
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(ExecReader { run: None })
    }
}

struct ExecReader {
    run: Option<CodexExecRun>,
}

impl Reader for ExecReader {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        let Some(event) = out.object(record, "an event") else { return };
        let kind = kind_of(event);
        if kind == "thread.started" {
            self.thread_started(record, event, out);
        }
        let run = self.run.get_or_insert_with(|| CodexExecRun::new(out.builder(&CodexExec)));
        match kind {
            "thread.started" => {}
            "turn.started" => run.b.user(None, None, record.at()),
            "turn.completed" => run.turn_completed(record, event),
            "turn.failed" => {
                let error = event.get("error").unwrap_or(event);
                run.error(record, error);
                run.b.run.completeness.declared_error =
                    Some(record.text_at(error, "message").unwrap_or_else(|| Text::owned(kind)));
                run.b.run.outcome = Some(Text::owned("failed"));
            }
            "error" => run.error(record, event),
            "item.started" | "item.updated" | "item.completed" => match event.get("item") {
                Some(item) => run.item(record, item, kind == "item.completed"),
                None => run.b.unknown(kind, record.at()),
            },
            // An item may be what the model said.
            other if event.get("item").is_some() => {
                run.b.unknown(format!("message/{other}"), record.at());
            }
            other => run.b.unknown(other, record.at()),
        }
    }

    fn finish(&mut self, out: &mut Out) {
        if let Some(run) = self.run.take() {
            out.push(run.b.finish());
        }
    }
}

impl ExecReader {
    /// Handles the start of a process, which either resumes the thread or starts a new one.
    fn thread_started(&mut self, record: &Record<'_>, event: Value<'_>, out: &mut Out) {
        let id = record.text_at(event, "thread_id");
        if self.run.as_ref().is_some_and(|r| r.b.run.id.is_some() && r.b.run.id != id) {
            self.finish(out);
        }
        let run = self.run.get_or_insert_with(|| CodexExecRun::new(out.builder(&CodexExec)));
        run.b.run.id = id;
        run.totals = None;
        run.open.clear();
        run.b.event(EventKind::Note(Text::owned("thread.started")), None, None, None, record.at());
    }
}

struct CodexExecRun {
    b: TrajectoryBuilder,
    /// Started calls, by the ID of their item.
    open: HashMap<String, u32>,
    totals: Option<Totals>,
}

fn kind_of(event: Value<'_>) -> &str {
    event.word("type")
}

/// Returns the kind of an item; one short-lived version used another key.
fn item_kind(item: Value<'_>) -> Option<Value<'_>> {
    item.get("type").or(item.get("item_type")).filter(|k| k.is_string())
}

impl CodexExecRun {
    fn new(b: TrajectoryBuilder) -> Self {
        let mut b = b.with_repeating_ids();
        b.run.agent.name = Some(Text::owned("codex"));
        Self { b, open: HashMap::new(), totals: None }
    }

    fn turn_completed(&mut self, record: &Record<'_>, event: Value<'_>) {
        if let Some(usage) = event.get("usage") {
            let totals = Totals::new(usage);
            self.b.add_usage(totals.since(self.totals));
            self.totals = Some(totals);
        }
        self.b.run.outcome = Some(Text::owned("completed"));
        self.b.run.completeness.declared_error = None;
        let kind = EventKind::Note(Text::owned("turn.completed"));
        self.b.event(kind, None, None, None, record.at());
    }

    fn error(&mut self, record: &Record<'_>, error: Value<'_>) {
        let text = error.get("message").unwrap_or(error);
        self.b.event(EventKind::Error, Some(record.payload(text)), None, None, record.at());
    }

    fn item(&mut self, record: &Record<'_>, item: Value<'_>, completed: bool) {
        let kind = item_kind(item).and_then(Value::inner).unwrap_or("");
        let text = || item.get("text").map(|t| record.payload(t));
        match kind {
            "agent_message" | "assistant_message" if completed => {
                let step = self.b.step(None, None, record.at());
                if let Some(text) = text() {
                    self.b.message(step, text, None, record.at_value(item));
                }
            }
            "reasoning" if completed => {
                self.b.event(EventKind::Reasoning, text(), None, None, record.at());
            }
            "error" if completed => self.error(record, item),
            "todo_list" | "agent_message" | "assistant_message" | "reasoning" | "error" => {
                let note = EventKind::Note(Text::owned(kind));
                let words = item.get("items").map(|i| record.payload(i));
                self.b.event(note, words, None, None, record.at());
            }
            "command_execution" | "file_change" | "mcp_tool_call" | "collab_tool_call"
            | "web_search" | "image_generation" => {
                let call = self.call(record, item, kind);
                if completed {
                    self.completed(record, item, call);
                }
            }
            other => {
                let kind = EventKind::Unknown(Text::owned(format!("item/{other}")));
                self.b.event(kind, Some(record.payload(item)), None, None, record.at());
            }
        }
    }

    /// Returns the call of an item, creating it if it was not started before.
    fn call(&mut self, record: &Record<'_>, item: Value<'_>, kind: &str) -> u32 {
        let id = record.text_at(item, "id");
        if let Some(&known) = id.as_ref().and_then(|id| self.open.get(&*id.get())) {
            return known;
        }
        let index = self.b.call(NewCall {
            id: id.clone(),
            name: tool_name(record, item, kind),
            args: arguments(record, item, kind),
            step: None,
            time: None,
            at: record.at_value(item),
        });
        if let Some(id) = id {
            self.open.insert(id.get().into_owned(), index);
        }
        index
    }

    fn completed(&mut self, record: &Record<'_>, item: Value<'_>, call: u32) {
        if let Some(id) = item.get_str("id") {
            self.open.remove(&*id);
        }
        let payload = ["aggregated_output", "result", "error", "agents_states", "action"]
            .iter()
            .find_map(|key| record.payload_at(item, key));
        let exit_code = item.get("exit_code").and_then(Value::as_i64);
        let failed = item.get("error").is_some()
            || item
                .at(&["result", "isError"])
                .or(item.at(&["result", "is_error"]))
                .is_some_and(|e| e.as_bool() == Some(true));
        let word = item.get("status").and_then(status_word);
        let answer = ReaderResult::new(payload, record.at());
        let answer = match word {
            Some((Status::Denied, level)) => answer.status(Status::Denied, level),
            _ if failed => answer.protocol(true),
            // A command may be "completed" and still have failed.
            Some((Status::Succeeded, _)) if exit_code.is_some_and(|c| c != 0) => answer,
            Some((status, level)) => answer.status(status, level),
            // A search is completed when it is over; it has no status of its own.
            None => answer.status(Status::Unknown, StatusLevel::Absent),
        };
        self.b.answer_call(call, answer.exit_code(exit_code));
        let spawned = item.get("receiver_thread_ids").and_then(|ids| ids.items().next());
        if item.field_is("tool", "spawn_agent") {
            self.b.run.calls[call as usize].spawned = spawned.and_then(|id| record.text(id));
        }
    }
}

fn tool_name(record: &Record<'_>, item: Value<'_>, kind: &str) -> ToolName {
    let tool = record.text_at(item, "tool").filter(|_| kind.ends_with("_tool_call"));
    let server = item.get_str("server").filter(|_| kind == "mcp_tool_call");
    ToolName {
        original: tool.unwrap_or_else(|| Text::owned(kind)),
        namespace: server.map(|server| Text::owned(format!("mcp__{server}__"))),
    }
}

/// Returns the arguments of an item, or builds them from the members that describe the
/// request.
fn arguments(record: &Record<'_>, item: Value<'_>, kind: &str) -> Option<Payload> {
    if kind == "mcp_tool_call" {
        return record.payload_at(item, "arguments");
    }
    let mut json = String::from("{");
    for (key, value) in item.fields() {
        let asked = matches!(
            key.inner().unwrap_or(""),
            "command" | "changes" | "query" | "prompt" | "receiver_thread_ids"
        );
        if asked && !value.is_null() {
            json += if json.len() > 1 { "," } else { "" };
            json += key.raw();
            json += ":";
            json += value.raw();
        }
    }
    json += "}";
    (json.len() > 2).then(|| Payload::json(Text::owned(json)))
}

#[cfg(test)]
mod tests {
    use crate::model::Fact;
    use crate::testing::{read_fixture, read_text, sketch};

    #[test]
    fn items_are_calls() {
        let read = read_fixture("codex-exec.jsonl");
        assert_eq!(read.format, "codex-exec");
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "note thread.started\n\
             user: \n\
             reasoning: hm\n\
             call command_execution {\"command\":\"ls\"} -> failed(protocol) exit 2: no\n\
             call mcp__gh__get {\"n\":1} -> succeeded(protocol): {\"content\":[]}\n\
             call command_execution {\"command\":\"rm x\"} -> denied(denial): \n\
             call file_change {\"changes\":[{\"path\":\"a\",\"kind\":\"add\"}]} -> succeeded(protocol): \n\
             call web_search {\"query\":\"q\"} -> unanswered(absent): \n\
             unknown item/telepathy\n\
             0 message: done\n\
             note turn.completed\n"
        );
        assert_eq!(run.usage.unwrap().total(), 13);
        assert_eq!(run.outcome.as_ref().unwrap(), "completed");
        assert!(run.fidelity.lacks(Fact::Parallel));
    }

    #[test]
    fn ids_begin_anew_when_a_thread_is_resumed() {
        let turn = |thread: &str, output: &str| {
            format!(
                r#"{{"type":"thread.started","thread_id":"{thread}"}}
{{"type":"turn.started"}}
{{"type":"item.completed","item":{{"id":"item_0","type":"command_execution","command":"date","aggregated_output":"{output}","exit_code":0,"status":"completed"}}}}
{{"type":"turn.completed","usage":{{"input_tokens":5,"output_tokens":1}}}}
"#
            )
        };
        let read = read_text(&(turn("a", "one") + &turn("a", "two") + &turn("b", "three")));
        assert_eq!(read.runs.len(), 2);
        assert_eq!(read.runs[0].calls.len(), 2);
        assert_eq!(read.runs[0].user_turns, 2);
        assert_eq!(read.runs[0].usage.unwrap().total(), 12);
        assert_eq!(read.runs[1].calls.len(), 1);
    }

    #[test]
    fn wrong_types_and_failures() {
        let read = read_text(
            r#"{"type":"thread.started","thread_id":"t1"}
7
{"type":"item.completed","item":7}
{"type":"item.completed","item":{"type":"command_execution","id":5,"command":null,"exit_code":"x","status":[]}}
{"type":"turn.failed","error":{"message":"quota"}}
{"type":"brand.new"}
"#,
        );
        assert_eq!(read.skipped, 1);
        assert_eq!(
            sketch(&read.runs[0]),
            "note thread.started\n\
             unknown item/\n\
             call command_execution  -> unknown(absent): \n\
             error: quota\n\
             unknown brand.new\n"
        );
        assert_eq!(read.runs[0].outcome.as_ref().unwrap(), "failed");
    }
}
