//! `copilot -p --output-format json` in its flat dialect: a stream of records named like the
//! blocks of Anthropic messages (`message`, `tool_use`, `tool_result`, `usage`).
//!
//! The dialect depends on the model; the other one is the event log that `copilot-cli` reads.
//! Responses of the model are not delimited: text and calls belong together until a result
//! arrives.

use super::shared::anthropic;
use super::shared::readers::{OneRun, one_run};
use crate::builder::{NewCall, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Reader, Record};
use crate::model::{Convention, EventKind, Fact, Fidelity, Text, ToolName, Usage, time};
use jiff::Timestamp;
use toolmark_scan::Value;

/// The flat stream of `copilot -p`.
pub(crate) struct CopilotPrint;

static INFO: FormatInfo = FormatInfo {
    id: "copilot-print",
    title: "GitHub Copilot CLI printed stream",
    origin: "`copilot -p --output-format json`, flat dialect",
    versions: "1.0",
    looks_for: "records of type tool_use with id, name and input, or tool_result with tool_use_id",
    fidelity: Fidelity::lacking(&[Fact::Cost, Fact::ToolDefinitions, Fact::SubAgents]),
};

impl Format for CopilotPrint {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let kind_is = |r: Value<'_>, kind: &str| r.field_is("type", kind);
        let is_block = |r: Value<'_>| {
            (kind_is(r, "tool_use") && r.get("id").is_some() && r.get("name").is_some())
                || (kind_is(r, "tool_result") && r.get("tool_use_id").is_some())
        };
        if probe.any(is_block) {
            return 75;
        }
        let is_message = |r: Value<'_>| kind_is(r, "message") && r.get("role").is_some();
        let is_usage = |r: Value<'_>| {
            kind_is(r, "usage") && r.get("usage").unwrap_or(r).get("input_tokens").is_some()
        };
        if probe.any(is_message) && probe.any(is_usage) { 65 } else { 0 }
    }

    fn answers_calls(&self) -> bool {
        true
    }

    fn reader(&self) -> Box<dyn Reader> {
        one_run::<CopilotPrintRun>(&CopilotPrint, "copilot-cli", "a stream record")
    }
}

#[derive(Default)]
struct CopilotPrintRun {
    /// Response to which text and calls are added.
    open: Option<u32>,
}

impl OneRun for CopilotPrintRun {
    fn record(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, value: Value<'_>) {
        let time = value.get("timestamp").and_then(time::from_value);
        let at = record.at();
        let kind = value.word("type");
        if b.run.id.is_none() {
            let id = value.get("session_id").or_else(|| value.get("sessionId"));
            b.run.id = id.and_then(|i| record.text(i));
        }
        match kind {
            "message" => self.open = message(b, record, value, self.open, time),
            "text" | "thinking" | "reasoning" => {
                let step = response(b, self.open, None, time, record);
                self.open = Some(step);
                let text = ["text", "thinking", "content"].iter().find_map(|k| value.get(k));
                let text = text.map(|t| record.payload(t));
                match (kind, text) {
                    ("text", Some(text)) => b.message(step, text, time, at),
                    ("text", None) => {}
                    (_, text) => b.reasoning(step, text, time, at),
                }
            }
            "tool_use" => {
                let step = response(b, self.open, None, time, record);
                self.open = Some(step);
                let name = record.text_at(value, "name");
                b.call(NewCall {
                    id: record.text_at(value, "id"),
                    name: ToolName::or_empty(name),
                    args: record.payload_at(value, "input"),
                    step: Some(step),
                    time,
                    at,
                });
            }
            "tool_result" => {
                self.open = None;
                anthropic::tool_result(b, record, value, time);
            }
            "usage" => usage(b, record, value, time),
            "error" => {
                let text = record.payload_at(value, "message");
                let text = text.or_else(|| record.payload_at(value, "error"));
                b.event(EventKind::Error, text, None, time, at);
            }
            "result" | "system" | "init" | "session" | "status" => {
                for (key, value) in value.fields() {
                    match key.inner().unwrap_or("") {
                        "subtype" if kind == "result" => b.run.outcome = record.text(value),
                        "model" => b.run.agent.model = record.text(value),
                        "cwd" => b.run.cwd = record.text(value),
                        _ => {}
                    }
                }
                b.event(EventKind::Note(Text::owned(kind)), None, None, time, at);
            }
            other => b.unknown(other, at),
        }
    }
}

/// Returns the open response, or a new one.
fn response(
    b: &mut TrajectoryBuilder,
    open: Option<u32>,
    id: Option<Text>,
    time: Option<Timestamp>,
    record: &Record<'_>,
) -> u32 {
    open.unwrap_or_else(|| b.step(id, time, record.at()))
}

/// Reads a message; returns the response that is open after it.
fn message(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    message: Value<'_>,
    open: Option<u32>,
    time: Option<Timestamp>,
) -> Option<u32> {
    let content = message.get("content");
    let is_delta = message.is_true("delta");
    match message.get("role").and_then(Value::inner).unwrap_or("assistant") {
        "assistant" => {
            let open = open.filter(|_| is_delta);
            let step = response(b, open, record.text_at(message, "id"), time, record);
            let this = &mut b.run.steps[step as usize];
            if this.model.is_none() {
                this.model = record.text_at(message, "model");
            }
            if let Some(content) = content {
                anthropic::assistant(b, record, content, step, time);
            }
            if let Some(usage) = message.get("usage") {
                count(b, step, usage);
            }
            Some(step)
        }
        "user" => {
            let blocks = content.into_iter().flat_map(Value::items);
            let mut results = 0;
            for block in blocks.filter(|b| b.get("tool_use_id").is_some()) {
                results += 1;
                anthropic::tool_result(b, record, block, time);
            }
            if results == 0 {
                b.user(content.map(|c| record.payload(c)), time, record.at());
            }
            None
        }
        "system" | "developer" => {
            b.context(content.map(|c| record.payload(c)), time, record.at());
            open
        }
        other => {
            b.unknown(format!("message/{other}"), record.at());
            open
        }
    }
}

fn usage(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    value: Value<'_>,
    time: Option<Timestamp>,
) {
    b.event(EventKind::Note(Text::owned("usage")), None, None, time, record.at());
    let usage = value.get("usage").filter(|u| u.is_object()).unwrap_or(value);
    match b.last_step() {
        Some(step) => count(b, step, usage),
        None => b.add_usage(Usage::new(anthropic::usage(usage), Convention::ANTHROPIC)),
    }
}

fn count(b: &mut TrajectoryBuilder, step: u32, usage: Value<'_>) {
    let usage = Usage::new(anthropic::usage(usage), Convention::ANTHROPIC);
    b.add_usage(usage);
    match &mut b.run.steps[step as usize].usage {
        Some(sum) => sum.add(&usage),
        none => *none = Some(usage),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, sketch};

    #[test]
    fn calls_belong_together_until_a_result() {
        let read = read_fixture("copilot-print.jsonl");
        assert_eq!(read.format, "copilot-print");
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "note system\n\
             user: go\n\
             0 message: looking\n\
             0 call view {\"path\":\"a\"} -> succeeded(protocol): A\n\
             0 call bash {\"command\":\"false\"} -> failed(protocol): no\n\
             note usage\n\
             1 call edit  -> unanswered(absent): \n\
             orphanresult: ?\n\
             unknown surprise\n\
             note usage\n\
             note result\n"
        );
        let usage = run.usage.unwrap();
        assert_eq!((usage.recorded.input, usage.recorded.output, usage.total()), (5, 6, 14));
        assert_eq!(run.outcome.as_ref().unwrap(), "success");
    }
}
