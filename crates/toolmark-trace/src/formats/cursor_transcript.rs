//! Cursor's agent transcripts: `{role, message{content[]}}`, one per line.
//!
//! There are no call IDs in results, no times, no tokens, and often no results at all. A
//! result answers the first open call with its name, or otherwise the first open call.
//! Sub-agents have files of their own.

use super::shared::events::{note, words};
use super::shared::pairing::OpenCalls;
use super::shared::readers::{OneRun, one_run};
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Reader, Record};
use crate::model::{EventKind, Fact, Fidelity, Text, ToolName};
use toolmark_scan::Value;

/// Cursor's agent transcripts.
pub(crate) struct CursorTranscript;

static INFO: FormatInfo = FormatInfo {
    id: "cursor-transcript",
    title: "Cursor agent transcript",
    origin: "~/.cursor/projects/<project>/agent-transcripts/**.jsonl",
    versions: "2025 to 2026",
    looks_for: "lines that contain only role and message.content",
    fidelity: Fidelity::lacking(&[
        Fact::CallIds,
        Fact::Status,
        Fact::ExitCodes,
        Fact::Times,
        Fact::Durations,
        Fact::Tokens,
        Fact::Cost,
        Fact::SubAgents,
        Fact::ToolDefinitions,
        Fact::WorkingDirectory,
    ]),
};

impl Format for CursorTranscript {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let is_line = |r: Value<'_>| {
            r.get("role").is_some_and(|role| role.is("user") || role.is("assistant"))
                && r.at(&["message", "content"]).is_some_and(Value::is_array)
                && ["type", "uuid", "sessionId", "session_id", "timestamp", "kind"]
                    .iter()
                    .all(|k| !r.has(k))
        };
        if probe.first().is_some_and(is_line) { 80 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        one_run::<CursorTranscriptRun>(&CursorTranscript, "cursor", "a transcript line")
    }
}

#[derive(Default)]
struct CursorTranscriptRun {
    open: OpenCalls,
}

impl OneRun for CursorTranscriptRun {
    fn record(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, line: Value<'_>) {
        let content = line.at(&["message", "content"]);
        match line.get("role").and_then(Value::inner) {
            Some("user") => user(b, &mut self.open, record, content),
            Some("assistant") => assistant(b, &mut self.open, record, line, content),
            Some("system") => {
                b.context(content.and_then(|c| words(record, c)), None, record.at());
            }
            _ if line.field_is("type", "turn_ended") => {
                b.run.outcome = record.text_at(line, "status");
                note(b, "turn_ended", None, None, record.at());
            }
            role => {
                let kind = line.get("type").and_then(Value::inner).or(role).unwrap_or("");
                b.unknown(kind, record.at());
            }
        }
    }
}

fn kind(block: Value<'_>) -> &str {
    block.word("type")
}

fn user(
    b: &mut TrajectoryBuilder,
    open: &mut OpenCalls,
    record: &Record<'_>,
    content: Option<Value<'_>>,
) {
    let mut results = 0;
    for block in content.into_iter().flat_map(Value::items) {
        if matches!(kind(block), "tool_result" | "tool-result") {
            results += 1;
            result(b, open, record, block);
        }
    }
    if results == 0 {
        // A call without a result before the next user message will not get one.
        open.clear();
        b.user(content.and_then(|c| words(record, c)), None, record.at());
    }
}

fn result(b: &mut TrajectoryBuilder, open: &mut OpenCalls, record: &Record<'_>, block: Value<'_>) {
    let payload = block.get("content").and_then(|c| words(record, c));
    let mut answer = ReaderResult::new(payload, record.at_value(block));
    if let Some(failed) = block.get("is_error").and_then(Value::as_bool) {
        answer = answer.protocol(failed);
    }
    let by_id = block.get_str("tool_use_id").and_then(|id| b.find(&id));
    let by_name = || open.named(b, &block.get_str("name")?);
    b.answer_call(by_id.or_else(by_name).or_else(|| open.first(b)), answer);
}

fn assistant(
    b: &mut TrajectoryBuilder,
    open: &mut OpenCalls,
    record: &Record<'_>,
    line: Value<'_>,
    content: Option<Value<'_>>,
) {
    let step = b.step(None, None, record.at());
    b.run.steps[step as usize].model = record.text_at(line, "model");
    if let Some(text) = content.filter(|c| c.is_string()).and_then(|c| words(record, c)) {
        b.message(step, text, None, record.at());
    }
    for block in content.into_iter().flat_map(Value::items) {
        let at = record.at_value(block);
        match kind(block) {
            "text" => {
                if let Some(text) = record.payload_at(block, "text") {
                    b.message(step, text, None, at);
                }
            }
            "thinking" | "redacted_thinking" => {
                b.reasoning(step, record.payload_at(block, "thinking"), None, at);
            }
            "tool_use" | "tool_call" => {
                let name = record.text_at(block, "name").unwrap_or_else(|| Text::owned(""));
                let call = b.call(NewCall {
                    id: record.text_at(block, "id"),
                    name: ToolName::new(name),
                    args: record.payload_at(block, "input"),
                    step: Some(step),
                    time: None,
                    at,
                });
                open.add(b, call);
            }
            other => {
                let kind = EventKind::Unknown(Text::owned(format!("content/{other}")));
                b.event(kind, Some(record.payload(block)), Some(step), None, at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::model::Fact;
    use crate::testing::{read_fixture, sketch};

    #[test]
    fn results_answer_by_name_or_in_order() {
        let read = read_fixture("cursor-transcript.jsonl");
        assert_eq!(read.format, "cursor-transcript");
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: go\n\
             0 reasoning: hm\n\
             0 call Read {} -> unknown(absent): body\n\
             0 call Grep {} -> unknown(absent): found\n\
             0 call Shell {} -> unanswered(absent): \n\
             user: more\n\
             orphanresult: late\n\
             unknown content/mystery\n\
             1 message: 5\n\
             unknown \n\
             note turn_ended\n"
        );
        assert!(run.fidelity.lacks(Fact::Status));
        assert_eq!(run.outcome.as_ref().unwrap(), "success");
    }
}
