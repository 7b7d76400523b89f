//! Sessions in the Session Trace Simple Format of the Hugging Face Hub: a header that names the
//! harness, then one message per line. Messages are those of chat completions with keys in
//! camel case (`toolCalls`, `toolCallId`, `reasoningContent`).

use super::shared::chat_message::Chat;
use super::shared::readers::{OneRun, one_run};
use crate::builder::TrajectoryBuilder;
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Reader, Record};
use crate::model::{Fact, Fidelity};
use toolmark_scan::Value;

/// Sessions of the Hugging Face Hub.
pub(crate) struct SessionTraces;

static INFO: FormatInfo = FormatInfo {
    id: "session-traces",
    title: "Hugging Face session trace",
    origin: "agents that write the Session Trace Simple Format, such as llama.app",
    versions: "any",
    looks_for: "a line with type session and harness, then lines with type message",
    fidelity: Fidelity::lacking(&[
        Fact::Status,
        Fact::ExitCodes,
        Fact::Tokens,
        Fact::Cost,
        Fact::SubAgents,
        Fact::ToolDefinitions,
        Fact::WorkingDirectory,
    ]),
};

impl Format for SessionTraces {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let is_header = |r: Value<'_>| {
            r.field_is("type", "session") && r.get("harness").is_some_and(|h| h.is_string())
        };
        if probe.any(is_header) { 96 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        one_run::<Session>(&SessionTraces, "agent", "a line of a session")
    }
}

#[derive(Default)]
struct Session {
    chat: Chat,
}

impl OneRun for Session {
    fn record(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, value: Value<'_>) {
        match value.word("type") {
            "session" => {
                b.run.id = record.text_at(value, "id").or(b.run.id.take());
                b.run.name = record.text_at(value, "name").or(b.run.name.take());
                b.run.agent.name = record.text_at(value, "harness").or(b.run.agent.name.take());
            }
            "message" => match value.get("message").filter(|message| message.is_object()) {
                Some(message) => {
                    self.chat.message(b, record, message, None);
                }
                None => b.unknown("message/absent", record.at()),
            },
            other => b.unknown(other, record.at()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, sketch};

    #[test]
    fn a_session() {
        let read = read_fixture("session-traces.jsonl");
        assert_eq!((read.format, read.runs.len()), ("session-traces", 1));
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: What is in the folder?\n\
             0 reasoning: a listing will do\n\
             0 call ls {\"path\":\".\"} -> unknown(absent): a.txt\n\
             1 message: There is a.txt.\n"
        );
        assert_eq!(run.id.as_ref().unwrap(), "s1");
        assert_eq!(run.name.as_ref().unwrap(), "Listing");
        assert_eq!(run.agent.name.as_ref().unwrap(), "my-agent");
        assert_eq!(run.agent.model.as_ref().unwrap(), "qwen");
        assert!(run.started.is_some());
    }
}
