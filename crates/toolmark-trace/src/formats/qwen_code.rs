//! Qwen Code sessions: Gemini parts inside lines like those of Claude Code.
//!
//! Each line has `sessionId`, `uuid` and `parentUuid`; types are `user`, `assistant`,
//! `tool_result` and `system` (with a `subtype` and its `systemPayload`). Lines of one
//! response repeat its UUID. The structured copy of a result, `toolCallResult`, holds the
//! status. Lines form a tree: after a rewind, a new branch starts, and the old one stays part
//! of the run.

use super::shared::events::{note, set_once, words};
use super::shared::gemini;
use super::shared::pairing::OpenCalls;
use super::shared::readers::{OneRun, one_run};
use crate::builder::TrajectoryBuilder;
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Reader, Record};
use crate::model::{EventKind, Fact, Fidelity, Payload, Status, StatusLevel, time};
use jiff::Timestamp;
use toolmark_scan::Value;

/// Qwen Code session files.
pub(crate) struct QwenCode;

static INFO: FormatInfo = FormatInfo {
    id: "qwen-code",
    title: "Qwen Code session",
    origin: "~/.qwen/projects/<project>/chats/<session>.jsonl",
    versions: "0.5 to 0.21",
    looks_for: "lines with sessionId, uuid and parentUuid whose message has parts",
    fidelity: Fidelity::lacking(&[Fact::Cost, Fact::ToolDefinitions, Fact::SubAgents]),
};

impl Format for QwenCode {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let is_line = |r: Value<'_>| {
            let own = r.get("systemPayload").is_some()
                || r.at(&["message", "parts"]).is_some_and(Value::is_array);
            own && r.get("uuid").is_some() && r.get("sessionId").is_some()
        };
        if probe.any(is_line) { 100 } else { 0 }
    }

    fn answers_calls(&self) -> bool {
        true
    }

    fn reader(&self) -> Box<dyn Reader> {
        one_run::<QwenCodeSession>(&QwenCode, "qwen-code", "a session line")
    }
}

#[derive(Default)]
struct QwenCodeSession {
    open: OpenCalls,
}

impl OneRun for QwenCodeSession {
    fn record(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, line: Value<'_>) {
        set_once(&mut b.run.id, record, line, "sessionId");
        set_once(&mut b.run.cwd, record, line, "cwd");
        set_once(&mut b.run.agent.version, record, line, "version");
        let time = line.get("timestamp").and_then(time::from_value);
        match line.word("type") {
            "assistant" => self.assistant(b, record, line, time),
            "tool_result" => self.tool_result(b, record, line, time),
            "user" => self.user(b, record, line, time),
            "system" => system(b, record, line, time),
            other => b.unknown(other, record.at()),
        }
    }

    fn finish(&mut self, b: &mut TrajectoryBuilder) {
        b.add_usage_of_steps();
    }
}

impl QwenCodeSession {
    fn assistant(
        &mut self,
        b: &mut TrajectoryBuilder,
        record: &Record<'_>,
        line: Value<'_>,
        time: Option<Timestamp>,
    ) {
        let step = b.step(record.text_at(line, "uuid"), time, record.at());
        let this = &mut b.run.steps[step as usize];
        set_once(&mut this.model, record, line, "model");
        let usage = line.get("usageMetadata").map(gemini::usage);
        if let Some(usage) = usage.filter(|u| !u.recorded.is_zero()) {
            this.usage = Some(usage);
        }
        if let Some(parts) = line.at(&["message", "parts"]) {
            gemini::model_parts(b, &mut self.open, record, parts, step, time);
        }
    }

    fn tool_result(
        &mut self,
        b: &mut TrajectoryBuilder,
        record: &Record<'_>,
        line: Value<'_>,
        time: Option<Timestamp>,
    ) {
        let parts = line.at(&["message", "parts"]);
        let mut answered = None;
        let responses = parts.into_iter().flat_map(Value::items);
        for response in responses.filter_map(|p| p.get("functionResponse")) {
            answered = gemini::answer(b, &mut self.open, record, response, time).or(answered);
        }
        let Some(twin) = line.get("toolCallResult") else { return };
        let by_id = twin.get_str("callId").and_then(|id| b.find(&id));
        let Some(call) = by_id.or(answered) else { return };
        let call = &mut b.run.calls[call as usize];
        if call.result.is_none() || call.level == StatusLevel::Denial {
            return;
        }
        (call.status, call.level) = match twin.get("status").and_then(Value::inner) {
            Some("success") => (Status::Succeeded, StatusLevel::Protocol),
            Some("error") => (Status::Failed, StatusLevel::Protocol),
            Some("cancelled") => (Status::Interrupted, StatusLevel::Denial),
            _ => return,
        };
    }

    fn user(
        &mut self,
        b: &mut TrajectoryBuilder,
        record: &Record<'_>,
        line: Value<'_>,
        time: Option<Timestamp>,
    ) {
        let parts = line.at(&["message", "parts"]);
        if parts.is_some_and(|p| gemini::responses(b, &mut self.open, record, p, time)) {
            return;
        }
        let subtype = line.word("subtype");
        if matches!(subtype, "notification" | "cron") {
            b.context(parts.and_then(|p| words(record, p)), time, record.at());
            return;
        }
        // Hooks add their context as parts of their own behind what was typed.
        let hooks = parts.into_iter().flat_map(Value::items).filter(|p| is_hook_context(*p));
        let hooks: Vec<Payload> =
            hooks.filter_map(|p| p.get("text").map(|t| record.payload(t))).collect();
        let typed = match parts {
            Some(parts) if hooks.is_empty() => words(record, parts),
            Some(parts) => {
                let first = parts.items().find(|p| !is_hook_context(*p));
                first.and_then(|p| p.get("text")).map(|t| record.payload(t))
            }
            None => record.payload_at(line, "message"),
        };
        b.user(typed, time, record.at());
        for hook in hooks {
            b.context(Some(hook), time, record.at());
        }
    }
}

fn system(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    line: Value<'_>,
    time: Option<Timestamp>,
) {
    let payload = line.get("systemPayload");
    let text = payload.map(|p| record.payload(p));
    let subtype = line.word("subtype");
    match subtype {
        "chat_compression" => {
            b.event(EventKind::Compaction, text, None, time, record.at());
        }
        "custom_title" => {
            b.run.name = payload.and_then(|p| record.text_at(p, "customTitle"));
            note(b, "system/custom_title", None, time, record.at());
        }
        "ui_telemetry" if payload.is_some_and(is_api_error) => {
            let message = payload.and_then(|p| p.at(&["uiEvent", "error_message"]));
            let text = message.map(|m| record.payload(m));
            b.event(EventKind::Error, text, None, time, record.at());
        }
        other => note(b, &format!("system/{other}"), text, time, record.at()),
    }
}

/// Returns whether the payload is a failed request; a failed tool call has its own line.
fn is_api_error(payload: Value<'_>) -> bool {
    payload.get("uiEvent").is_some_and(|event| {
        event.get("error_message").is_some() && event.get("function_name").is_none()
    })
}

fn is_hook_context(part: Value<'_>) -> bool {
    part.get("text")
        .and_then(Value::inner)
        .is_some_and(|t| t.starts_with("<qwen:user-prompt-submit-context>"))
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, read_text, sketch};

    #[test]
    fn a_session() {
        let read = read_fixture("qwen-code.jsonl");
        assert_eq!(read.format, "qwen-code");
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: go\n\
             context: <qwen:user-prompt-submit-context>x\n\
             0 reasoning: hm\n\
             0 call read {} -> succeeded(protocol): text\n\
             0 call edit {} -> failed(protocol): odd\n\
             0 call run {} -> denied(denial): [Operation Cancelled] Reason: User did not allow tool call\n\
             0 call run {} -> unanswered(absent): \n\
             orphanresult: ?\n\
             compaction: {}\n\
             note system/custom_title\n\
             context: done in background\n\
             unknown later\n"
        );
        assert_eq!(run.steps.len(), 1);
        assert_eq!(run.usage.unwrap().normalised().output, 4);
        assert_eq!(run.name.as_ref().unwrap(), "T");
    }

    #[test]
    fn a_first_line_without_a_message_is_not_claude_code() {
        let read = read_text(
            r#"{"uuid":"1","parentUuid":null,"sessionId":"s","type":"system","subtype":"slash_command","systemPayload":{"rawCommand":"/about"}}
"#,
        );
        assert_eq!(read.format, "qwen-code");
    }
}
