//! The output of `pi --mode json`: the header of a session, then events. Messages have the
//! format of the session file and are complete in `message_end`; all other events with a
//! message (`message_update`, `turn_end`, `agent_end`) repeat it.

use super::pi;
use super::shared::events::set_once;
use super::shared::readers::{OneRun, one_run};
use crate::builder::TrajectoryBuilder;
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Reader, Record};
use crate::model::{EventKind, Fact, Fidelity, time};
use toolmark_scan::Value;

/// The event stream of pi.
pub(crate) struct PiStream;

static INFO: FormatInfo = FormatInfo {
    id: "pi-stream",
    title: "pi --mode json",
    origin: "pi --mode json, also with -p",
    versions: "session version 3",
    looks_for: "agent_start, turn_start, message_end and tool_execution_end lines",
    fidelity: Fidelity::lacking(&[Fact::ToolDefinitions, Fact::SubAgents]),
};

impl Format for PiStream {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let is_event = |r: Value<'_>| match r.word("type") {
            "agent_start" | "turn_start" => r.fields().count() == 1,
            "message_start" | "message_end" => r.at(&["message", "role"]).is_some(),
            "message_update" => r.has("assistantMessageEvent"),
            "tool_execution_start" | "tool_execution_end" => r.has("toolCallId"),
            _ => false,
        };
        if probe.any(is_event) { 95 } else { 0 }
    }

    fn answers_calls(&self) -> bool {
        true
    }

    fn reader(&self) -> Box<dyn Reader> {
        one_run::<PiStreamRun>(&PiStream, "pi", "an event")
    }
}

#[derive(Default)]
struct PiStreamRun;

impl OneRun for PiStreamRun {
    fn record(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, event: Value<'_>) {
        match event.word("type") {
            "session" => {
                b.seen(event.get("timestamp").and_then(time::from_value));
                set_once(&mut b.run.id, record, event, "id");
                set_once(&mut b.run.cwd, record, event, "cwd");
            }
            "message_end" => {
                let time = event.at(&["message", "timestamp"]).and_then(time::from_value);
                pi::message(b, record, event, time);
            }
            "compaction_end" | "auto_compaction_end" => {
                let summary = event.at(&["result", "summary"]).map(|s| record.payload(s));
                b.event(EventKind::Compaction, summary, None, None, record.at());
            }
            "extension_error" => {
                let text = record.payload_at(event, "error");
                b.event(EventKind::Error, text, None, None, record.at());
            }
            // The beginnings of things, and what other events repeat.
            "agent_start"
            | "agent_end"
            | "turn_start"
            | "turn_end"
            | "message_start"
            | "message_update"
            | "tool_execution_start"
            | "tool_execution_update"
            | "tool_execution_end"
            | "compaction_start"
            | "auto_compaction_start"
            | "auto_retry_start"
            | "auto_retry_end"
            | "queue_update"
            | "extension_ui_request" => {}
            other => b.unknown(other, record.at()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, sketch};

    #[test]
    fn a_run() {
        let read = read_fixture("pi-stream.jsonl");
        assert_eq!((read.format, read.skipped), ("pi-stream", 0));
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: go\n\
             0 message: I look\n\
             0 call bash {\"command\":\"ls\"} -> failed(protocol): no\n\
             unknown strange\n\
             1 message: done\n"
        );
        assert_eq!(run.cwd.as_ref().unwrap(), "/w");
        assert_eq!(run.usage.unwrap().total(), 13);
    }
}
