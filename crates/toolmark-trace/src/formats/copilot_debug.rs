//! The debug logs of Copilot Chat in VS Code: one entry per line, written when the operation
//! has ended (`ts` is the start, `dur` the duration). A `tool_call` holds arguments and
//! result as text, both truncated if they are long. Sub-agents have files of their own beside
//! it.

use super::shared::events::{note, open_step, set_once};
use super::shared::readers::{OneRun, one_run};
use super::shared::spans::{MessageAuthor, MessagePart, messages};
use super::shared::turn;
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Reader, Record};
use crate::model::{
    Convention, EventKind, Fact, Fidelity, Text, ToolName, Usage, UsageTokens, time,
};
use jiff::Timestamp;
use toolmark_scan::{Scanner, Value};

/// Debug logs of Copilot Chat.
pub(crate) struct CopilotDebug;

static INFO: FormatInfo = FormatInfo {
    id: "copilot-debug",
    title: "Copilot Chat debug log",
    origin: "GitHub.copilot-chat/debug-logs/<session>/main.jsonl of VS Code",
    versions: "2026",
    looks_for: "entries with sid, spanId, ts, type and attrs",
    fidelity: Fidelity::lacking(&[Fact::CallIds, Fact::ExitCodes, Fact::SubAgents, Fact::Cost]),
};

impl Format for CopilotDebug {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let is_entry = |r: Value<'_>| {
            r.get("attrs").is_some_and(Value::is_object)
                && ["sid", "spanId", "ts", "type"].iter().all(|key| r.has(key))
        };
        if probe.any(is_entry) { 95 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        one_run::<CopilotDebugLog>(&CopilotDebug, "copilot-chat", "a log entry")
    }
}

#[derive(Default)]
struct CopilotDebugLog {
    step: Option<u32>,
}

impl OneRun for CopilotDebugLog {
    fn record(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, entry: Value<'_>) {
        let start = entry.get("ts").and_then(time::from_value);
        set_once(&mut b.run.id, record, entry, "sid");
        let Some(attrs) = entry.get("attrs") else {
            b.unknown("entry without attrs", record.at());
            return;
        };
        let kind = entry.word("type");
        match kind {
            "session_start" => {
                b.seen(start);
                set_once(&mut b.run.cwd, record, attrs, "cwd");
                set_once(&mut b.run.agent.version, record, attrs, "copilotVersion");
            }
            "user_message" => {
                let text = attrs.get("content").or_else(|| attrs.get("userRequest"));
                b.user(text.map(|t| record.payload(t)), start, record.at());
                self.step = None;
            }
            "llm_request" => self.request(b, record, entry, attrs, start),
            "agent_response" => self.response(b, record, attrs, start),
            "tool_call" => self.call(b, record, entry, attrs, start),
            "error" => {
                let text =
                    ["error", "message"].iter().find_map(|key| record.payload_at(attrs, key));
                b.event(EventKind::Error, text, None, start, record.at());
            }
            "turn_start" | "turn_end" | "subagent" | "generic" | "discovery" | "hook"
            | "child_session_ref" | "models" | "session_end" => {
                note(b, kind, record.payload_at(attrs, "details"), start, record.at());
            }
            other => b.unknown(other, record.at()),
        }
    }
}

impl CopilotDebugLog {
    fn request(
        &mut self,
        b: &mut TrajectoryBuilder,
        record: &Record<'_>,
        entry: Value<'_>,
        attrs: Value<'_>,
        start: Option<Timestamp>,
    ) {
        let step = b.step(record.text_at(entry, "spanId"), start, record.at());
        self.step = Some(step);
        b.run.steps[step as usize].model = record.text_at(attrs, "model");
        let count = |key: &str| attrs.get(key).and_then(Value::as_u64);
        if let (Some(input), None) = (count("inputTokens"), b.run.steps[step as usize].usage) {
            let recorded = UsageTokens {
                input,
                output: count("outputTokens").unwrap_or(0),
                cache_read: count("cachedTokens").unwrap_or(0),
                ..UsageTokens::default()
            };
            let usage = Usage::new(recorded, Convention::INCLUSIVE);
            b.run.steps[step as usize].usage = Some(usage);
            b.add_usage(usage);
        }
        if let Some(error) = attrs.get("error") {
            b.event(EventKind::Error, Some(record.payload(error)), Some(step), start, record.at());
        }
    }

    /// Reads the text of a response. Its calls follow as separate entries.
    fn response(
        &mut self,
        b: &mut TrajectoryBuilder,
        record: &Record<'_>,
        attrs: Value<'_>,
        start: Option<Timestamp>,
    ) {
        let step = open_step(&mut self.step, b, None, start, record.at());
        if let Some(text) = attrs.get("reasoning") {
            b.reasoning(step, Some(record.payload(text)), start, record.at());
        }
        let Some(response) = attrs.get("response") else { return };
        let text = response.str().unwrap_or_default();
        let mut scanner = Scanner::new();
        let Ok(doc) = scanner.parse(&text) else {
            // Cut off in the middle.
            b.message(step, record.payload(response), start, record.at());
            return;
        };
        let parts =
            messages::all(doc.root(), MessageAuthor::Assistant).into_iter().flat_map(|m| m.parts);
        for part in parts {
            match part {
                MessagePart::Text(text) => b.message(step, text, start, record.at()),
                MessagePart::Reasoning(text) => b.reasoning(step, text, start, record.at()),
                _ => {}
            }
        }
    }

    fn call(
        &mut self,
        b: &mut TrajectoryBuilder,
        record: &Record<'_>,
        entry: Value<'_>,
        attrs: Value<'_>,
        start: Option<Timestamp>,
    ) {
        let step = open_step(&mut self.step, b, None, start, record.at());
        let call = b.call(NewCall {
            id: None,
            name: ToolName::or_empty(record.text_at(entry, "name")),
            args: record.payload_at(attrs, "args"),
            step: Some(step),
            time: start,
            at: record.at(),
        });
        let duration = entry.get("dur").and_then(Value::as_f64).and_then(time::millis);
        let end = start.zip(duration).and_then(|(start, took)| start.checked_add(took).ok());
        let payload = ["result", "error"].iter().find_map(|key| record.payload_at(attrs, key));
        let answer = ReaderResult::new(payload, record.at()).time(end).duration(duration);
        b.answer_call(call, turn::status(answer, entry.word("status")));
        let spawned = record.text_at(attrs, "childSessionId");
        b.run.calls[call as usize].spawned = spawned.filter(|id: &Text| !id.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, sketch};

    #[test]
    fn a_log() {
        let read = read_fixture("copilot-debug.jsonl");
        assert_eq!((read.format, read.skipped), ("copilot-debug", 0));
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: fix it\n\
             0 message: I look\n\
             0 call read_file {\"filePath\":\"/a\"} -> succeeded(protocol): text\n\
             0 call run_in_terminal {\"command\":\"ls\"} -> failed(protocol): no shell\n\
             1 message: [{\"role\":\"assistant\",\"parts\":[{\"type\":\"te[truncated]\n\
             note turn_end\n\
             unknown strange\n"
        );
        assert_eq!(run.calls[1].duration.unwrap().as_millis(), 250);
        assert_eq!(run.usage.unwrap().total(), 27);
        assert_eq!(run.agent.model.as_ref().unwrap(), "gpt");
    }
}
