//! Antigravity CLI transcripts: one step of the conversation per line.
//!
//! `PLANNER_RESPONSE` is a model response with `tool_calls` that have no IDs and whose
//! argument values are JSON-encoded twice. The following lines with source `MODEL` and
//! another type (`LIST_DIRECTORY`, `RUN_COMMAND`, …) are the results of the calls, in their
//! order; because the types change between versions, every one is treated as a result.
//! `status` gives the outcome, but for a command only that it ended; its first line has the
//! exit code.

use super::shared::events::{note, words};
use super::shared::exit_code::leading_number;
use super::shared::pairing::OpenCalls;
use super::shared::readers::{OneRun, one_run};
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Reader, Record};
use crate::model::{EventKind, Fact, Fidelity, Status, StatusLevel, Text, ToolName, time};
use jiff::Timestamp;
use toolmark_scan::Value;

/// Antigravity CLI transcripts.
pub(crate) struct Antigravity;

static INFO: FormatInfo = FormatInfo {
    id: "antigravity",
    title: "Antigravity CLI transcript",
    origin: "~/.gemini/antigravity-cli/brain/<conversation>/…/transcript.jsonl",
    versions: "2026",
    looks_for: "lines with step_index, source, type and status",
    fidelity: Fidelity::lacking(&[
        Fact::CallIds,
        Fact::Model,
        Fact::Tokens,
        Fact::Cost,
        Fact::SubAgents,
        Fact::ToolDefinitions,
        Fact::WorkingDirectory,
    ]),
};

impl Format for Antigravity {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let is_step = |r: Value<'_>| {
            ["step_index", "source", "type", "status"].iter().all(|k| r.get(k).is_some())
        };
        if probe.any(is_step) { 100 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        one_run::<AntigravityTranscript>(&Antigravity, "antigravity", "a step")
    }
}

#[derive(Default)]
struct AntigravityTranscript {
    open: OpenCalls,
}

impl OneRun for AntigravityTranscript {
    fn record(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, line: Value<'_>) {
        let time = line.get("created_at").and_then(time::from_value);
        let text = line.get("content").and_then(|c| words(record, c));
        let kind = line.word("type");
        match kind {
            "USER_INPUT" => b.user(text, time, record.at()),
            "PLANNER_RESPONSE" => response(b, &mut self.open, record, line, time),
            "SYSTEM_MESSAGE" => b.context(text, time, record.at()),
            "CHECKPOINT" => b.event(EventKind::Compaction, text, None, time, record.at()),
            "ERROR_MESSAGE" => b.event(EventKind::Error, text, None, time, record.at()),
            "CONVERSATION_HISTORY" | "EPHEMERAL_MESSAGE" | "KNOWLEDGE_ARTIFACTS" => {
                note(b, kind, text, time, record.at());
            }
            "" => b.unknown("", record.at()),
            _ if line.field_is("source", "SYSTEM") => {
                b.unknown(kind, record.at());
            }
            _ => result(b, &mut self.open, record, line, kind, time),
        }
    }
}

fn response(
    b: &mut TrajectoryBuilder,
    open: &mut OpenCalls,
    record: &Record<'_>,
    line: Value<'_>,
    time: Option<Timestamp>,
) {
    // The model goes on only when the calls before are done with.
    open.clear();
    let step = b.step(None, time, record.at());
    if let Some(thought) = line.get("thinking").and_then(|t| words(record, t)) {
        b.reasoning(step, Some(thought), time, record.at());
    }
    if let Some(text) = line.get("content").and_then(|c| words(record, c)) {
        b.message(step, text, time, record.at());
    }
    for call in line.items_at("tool_calls") {
        let name = record.text_at(call, "name").unwrap_or_else(|| Text::owned(""));
        let call = b.call(NewCall {
            id: record.text_at(call, "id"),
            name: ToolName::new(name),
            args: record.payload_at(call, "args"),
            step: Some(step),
            time,
            at: record.at_value(call),
        });
        open.add(b, call);
    }
}

fn result(
    b: &mut TrajectoryBuilder,
    open: &mut OpenCalls,
    record: &Record<'_>,
    line: Value<'_>,
    kind: &str,
    time: Option<Timestamp>,
) {
    let content = line.get("content");
    let answer = ReaderResult::new(content.and_then(|c| words(record, c)), record.at()).time(time);
    let code = content.and_then(Value::str).and_then(|text| command_exit_code(&text));
    let answer = match line.get("status").and_then(Value::inner) {
        // A command is done whatever it returned.
        Some("DONE") if code.is_some() => answer,
        Some("DONE") => answer.protocol(false),
        Some("ERROR" | "FAILED") => answer.protocol(true),
        Some("REJECTED" | "DENIED") => answer.status(Status::Denied, StatusLevel::Denial),
        Some("CANCELED" | "CANCELLED" | "INTERRUPTED") => {
            answer.status(Status::Interrupted, StatusLevel::Denial)
        }
        // Not there yet: a later line has the result.
        Some("RUNNING" | "PENDING" | "WAITING" | "GENERATING") => {
            note(b, kind, answer.payload, time, record.at());
            return;
        }
        _ => answer,
    };
    let answer = answer.exit_code(code);
    // The type is the tool's name in capitals, sometimes with another ending.
    let named = open.named(b, &kind.to_ascii_lowercase());
    b.answer_call(named.or_else(|| open.first(b)), answer);
}

/// Returns the exit code in the first lines of a command's result.
fn command_exit_code(text: &str) -> Option<i64> {
    text.lines().take(4).find_map(|line| {
        if line.starts_with("The command completed successfully") {
            return Some(0);
        }
        leading_number(line.strip_prefix("The command failed with exit code: ")?)
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, sketch};

    #[test]
    fn a_transcript() {
        let read = read_fixture("antigravity.jsonl");
        assert_eq!(read.format, "antigravity");
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: go\n\
             note CONVERSATION_HISTORY\n\
             0 reasoning: hm\n\
             0 call list_dir {\"DirectoryPath\":\"\\\"/w\\\"\"} -> failed(protocol): no such\n\
             0 call run_command {} -> failed(exitcode) exit 2: The command failed with exit code: 2\nOutput:\nno\n\
             0 call view_file {} -> unanswered(absent): \n\
             1 message: done\n\
             orphanresult: late\n\
             compaction: compacted\n\
             unknown LATER\n\
             unknown \n"
        );
        assert_eq!(run.calls[1].duration.unwrap().as_secs(), 2);
    }
}
