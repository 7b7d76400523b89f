//! Grok CLI chat histories: one message per line, without IDs and times.
//!
//! Types are `system`, `user` (with `synthetic_reason` if the client wrote it), `reasoning`,
//! `assistant` (content, `tool_calls` with arguments as JSON text), `tool_result` and
//! `backend_tool_call`, which the provider ran itself. Reasoning and provider calls come
//! before the message of their response. Failures of calls are not recorded.

use super::shared::events::words;
use super::shared::exit_code;
use super::shared::readers::{OneRun, one_run};
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Reader, Record};
use crate::model::{Actor, Fact, Fidelity, ToolName};
use toolmark_scan::Value;

/// Grok CLI chat histories.
pub(crate) struct Grok;

static INFO: FormatInfo = FormatInfo {
    id: "grok",
    title: "Grok CLI chat history",
    origin: "~/.grok/sessions/<session>/chat_history.jsonl",
    versions: "chat format 1",
    looks_for: "lines with prompt_index, synthetic_reason or model_fingerprint",
    fidelity: Fidelity::lacking(&[
        Fact::Status,
        Fact::Times,
        Fact::Durations,
        Fact::Tokens,
        Fact::Cost,
        Fact::SubAgents,
        Fact::ToolDefinitions,
        Fact::WorkingDirectory,
    ]),
};

impl Format for Grok {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let is = |r: Value<'_>, kind: &str| r.field_is("type", kind);
        let own = |r: Value<'_>| {
            let user = r.get("prompt_index").is_some() || r.get("synthetic_reason").is_some();
            let assistant = r.get("model_fingerprint").is_some() || r.get("model_id").is_some();
            is(r, "user") && user && r.get("content").is_some()
                || is(r, "assistant") && assistant && r.has("tool_calls")
                || is(r, "backend_tool_call") && r.get("kind").is_some()
        };
        if probe.any(own) {
            return 100;
        }
        let result = |r: Value<'_>| is(r, "tool_result") && r.get("tool_call_id").is_some();
        let prompt = |r: Value<'_>| {
            is(r, "system") && r.get_str("content").is_some_and(|c| c.starts_with("You are Grok"))
        };
        if probe.any(result) || probe.first().is_some_and(prompt) { 60 } else { 0 }
    }

    fn answers_calls(&self) -> bool {
        true
    }

    fn reader(&self) -> Box<dyn Reader> {
        one_run::<GrokHistory>(&Grok, "grok", "a message")
    }
}

#[derive(Default)]
struct GrokHistory {
    /// Response whose message has not been read yet.
    step: Option<u32>,
}

impl OneRun for GrokHistory {
    fn record(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, line: Value<'_>) {
        let text = || line.get("content").and_then(|c| words(record, c));
        match line.word("type") {
            "system" => b.context(text(), None, record.at()),
            "user" if line.get("synthetic_reason").is_some() => {
                b.context(text(), None, record.at());
            }
            "user" => {
                self.step = None;
                b.user(text(), None, record.at());
            }
            "reasoning" => {
                let step = *self.step.get_or_insert_with(|| b.step(None, None, record.at()));
                let text = line.get("summary").and_then(|s| words(record, s));
                b.reasoning(step, text, None, record.at());
            }
            "assistant" => {
                let open = self.step.take();
                let step = open.unwrap_or_else(|| b.step(None, None, record.at()));
                assistant(b, record, line, step);
            }
            "tool_result" => tool_result(b, record, line),
            "backend_tool_call" => {
                let step = *self.step.get_or_insert_with(|| b.step(None, None, record.at()));
                provider_call(b, record, line, step);
            }
            other => b.unknown(other, record.at()),
        }
    }
}

fn assistant(b: &mut TrajectoryBuilder, record: &Record<'_>, line: Value<'_>, step: u32) {
    b.run.steps[step as usize].model = record.text_at(line, "model_id");
    if let Some(text) = line.get("content").and_then(|c| words(record, c)) {
        b.message(step, text, None, record.at());
    }
    for call in line.items_at("tool_calls") {
        b.call(NewCall {
            id: record.text_at(call, "id"),
            name: ToolName::or_empty(record.text_at(call, "name")),
            args: record.payload_at(call, "arguments"),
            step: Some(step),
            time: None,
            at: record.at_value(call),
        });
    }
}

fn tool_result(b: &mut TrajectoryBuilder, record: &Record<'_>, line: Value<'_>) {
    let content = line.get("content");
    let code = content.and_then(Value::str).and_then(|text| exit_code::in_header(&text));
    let payload = content.and_then(|c| words(record, c));
    let answer = ReaderResult::new(payload, record.at()).exit_code(code);
    b.answer(line.get_str("tool_call_id").as_deref(), answer);
}

/// Reads a tool run by the provider: the line is call and result in one.
fn provider_call(b: &mut TrajectoryBuilder, record: &Record<'_>, line: Value<'_>, step: u32) {
    let Some(kind) = line.get("kind") else {
        b.unknown("backend_tool_call without kind", record.at());
        return;
    };
    let name = record.text_at(kind, "name").or_else(|| record.text_at(kind, "tool_type"));
    let call = b.call(NewCall {
        id: record.text_at(kind, "call_id").or_else(|| record.text_at(kind, "id")),
        name: ToolName::or_empty(name),
        args: record.payload_at(kind, "action").or_else(|| record.payload_at(kind, "input")),
        step: Some(step),
        time: None,
        at: record.at(),
    });
    b.run.calls[call as usize].actor = Actor::Provider;
    let answer = ReaderResult::new(None, record.at());
    match kind.get("status").and_then(Value::inner) {
        Some("completed") => b.answer_call(call, answer.protocol(false)),
        Some("failed" | "error") => b.answer_call(call, answer.protocol(true)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::model::{Actor, Fact};
    use crate::testing::{read_fixture, sketch};

    #[test]
    fn a_history() {
        let read = read_fixture("grok.jsonl");
        assert_eq!(read.format, "grok");
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "context: You are Grok.\n\
             context: <user_info>\n\
             user: go\n\
             0 reasoning: hm\n\
             0 call web_search {\"query\":\"q\"} -> succeeded(protocol): \n\
             0 call x_user_search {\"q\":2} -> unanswered(absent): \n\
             0 message: I look\n\
             0 call read {\"p\":1} -> unknown(absent): text\n\
             0 call run {} -> failed(exitcode) exit 4: Exit code: 4\nno\n\
             0 call run { -> unanswered(absent): \n\
             orphanresult: ?\n\
             unknown other\n"
        );
        assert_eq!(run.calls[0].actor, Actor::Provider);
        assert!(run.fidelity.lacks(Fact::Status));
        assert_eq!((run.steps.len(), run.user_turns), (2, 1));
    }
}
