//! VS Code chat replay exports (`.chatreplay.json`): the log of Copilot Chat for each prompt,
//! in one document.
//!
//! The log of a prompt may be split: a group whose prompt was `hasSeen` continues the previous
//! one and is not a new turn. `request` entries are model responses, with usage and the
//! offered tools; `toolCall` entries hold a call with its result and are between the response
//! that made the call and the next one, which may be in the next group. Their time is when the
//! call completed.

use super::shared::readers::each_record;
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{
    Convention, EventKind, Fact, Fidelity, Payload, Text, ToolDefinition, ToolName, Usage,
    UsageTokens, time,
};
use toolmark_scan::Value;

/// VS Code chat replay exports.
pub(crate) struct VscodeReplay;

static INFO: FormatInfo = FormatInfo {
    id: "vscode-replay",
    title: "VS Code chat replay",
    origin: "VS Code: export of the Copilot Chat debug view",
    versions: "2025 and later",
    looks_for: "prompts whose logs have kind element, request and toolCall",
    fidelity: Fidelity::lacking(&[
        Fact::Status,
        Fact::ExitCodes,
        Fact::Cost,
        Fact::SubAgents,
        Fact::WorkingDirectory,
    ]),
};

impl Format for VscodeReplay {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let has_logs = |p: Value<'_>| p.get("prompt").is_some() && p.get("logs").is_some();
        let is_export = |r: Value<'_>| {
            let mut prompts = r.items_at("prompts");
            prompts.any(has_logs) || (r.get("exportedAt").is_some() && r.get("prompts").is_some())
        };
        if probe.any(is_export) {
            return 100;
        }
        if probe.any(has_logs) { 80 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        each_record(read_record)
    }
}

fn read_record(record: &Record<'_>, out: &mut Out) {
    let Some(export) = out.object(record, "a chat replay") else { return };
    let mut b = out.builder(&VscodeReplay);
    b.run.agent.name = Some(Text::owned("vscode-copilot-chat"));
    let mut asked = None;
    match export.get("prompts") {
        Some(prompts) => {
            for group in prompts.items() {
                prompt(&mut b, record, group, &mut asked);
            }
        }
        None => prompt(&mut b, record, export, &mut asked),
    }
    b.add_usage_of_steps();
    out.push(b.finish());
}

/// Reads a group of log entries under a prompt.
fn prompt(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    group: Value<'_>,
    asked: &mut Option<Text>,
) {
    let text = record.text_at(group, "prompt");
    let is_continued = group.is_true("hasSeen");
    if is_continued && text == *asked {
        let kind = EventKind::Note(Text::owned("prompt continued"));
        b.event(kind, None, None, None, record.at_value(group));
    } else {
        b.user(text.clone().map(Payload::text), None, record.at_value(group));
        *asked = text;
    }
    for entry in group.items_at("logs") {
        let at = record.at_value(entry);
        match entry.word("kind") {
            "element" => b.event(EventKind::Note(Text::owned("element")), None, None, None, at),
            "request" => request(b, record, entry),
            "toolCall" => tool_call(b, record, entry),
            "error" => {
                let text = record.payload_at(entry, "error");
                b.event(EventKind::Error, text, None, None, at);
            }
            other => b.unknown(other, at),
        }
    }
}

/// Reads one model response.
fn request(b: &mut TrajectoryBuilder, record: &Record<'_>, entry: Value<'_>) {
    let (mut model, mut tokens, mut start, mut end) = (None, None, None, None);
    for (key, value) in entry.get("metadata").into_iter().flat_map(Value::fields) {
        match key.inner().unwrap_or("") {
            "model" => model = record.text(value),
            "usage" => tokens = usage(value),
            "startTime" => start = time::from_value(value),
            "endTime" => end = time::from_value(value),
            "tools" if b.run.tools.is_none() => b.run.tools = tools(record, value),
            _ => {}
        }
    }
    let at = record.at_value(entry);
    if b.run.steps.is_empty() {
        system_prompt(b, record, entry);
    }
    let step = b.step(record.text_at(entry, "id"), start, at.clone());
    let this = &mut b.run.steps[step as usize];
    this.model = model;
    this.usage = tokens;
    b.seen(end);
    let response = entry.get("response");
    let kind = entry.get("type").and_then(Value::inner).unwrap_or("ChatMLSuccess");
    if kind != "ChatMLSuccess" {
        let why = response.map(|r| record.payload(r)).or_else(|| record.payload_at(entry, "type"));
        b.event(EventKind::Error, why, Some(step), end, at);
        return;
    }
    let words = response.and_then(|r| r.get("message"));
    let parts = words.into_iter().flat_map(Value::items).chain(words.filter(|w| w.is_string()));
    for part in parts.filter(|p| p.inner() != Some("")) {
        b.message(step, record.payload(part), end, record.at_value(part));
    }
}

/// Reads the system prompt, which is recorded once although every request repeats the
/// conversation so far.
fn system_prompt(b: &mut TrajectoryBuilder, record: &Record<'_>, entry: Value<'_>) {
    let messages = entry.at(&["requestMessages", "messages"]);
    for message in messages.into_iter().flat_map(Value::items) {
        let role = message.get("role");
        if role.is_some_and(|r| r.as_i64() == Some(0) || r.is("system")) {
            let content = record.payload_at(message, "content");
            b.context(content, None, record.at_value(message));
        }
    }
}

fn tool_call(b: &mut TrajectoryBuilder, record: &Record<'_>, entry: Value<'_>) {
    let (mut id, mut tool, mut args, mut response) = (None, None, None, None);
    let (mut done, mut thinking) = (None, None);
    for (key, value) in entry.fields() {
        if value.is_null() {
            continue;
        }
        match key.inner().unwrap_or("") {
            "id" => id = record.text(value),
            "tool" => tool = record.text(value),
            "args" => args = Some(record.payload(value)),
            "response" => response = Some(value),
            "time" => done = time::from_value(value),
            "thinking" => thinking = value.get("text"),
            _ => {}
        }
    }
    let at = record.at_value(entry);
    let step = b.last_step();
    if let (Some(step), Some(text)) = (step, thinking) {
        b.reasoning(step, Some(record.payload(text)), None, at.clone());
    }
    let call = b.call(NewCall {
        id,
        name: ToolName::or_empty(tool),
        args,
        step,
        time: None,
        at: at.clone(),
    });
    if let Some(response) = response {
        b.answer_call(call, ReaderResult::new(Some(record.payload(response)), at).time(done));
    }
}

fn usage(usage: Value<'_>) -> Option<Usage> {
    let count = |path: &[&str]| usage.at(path).and_then(Value::as_u64);
    let tokens = UsageTokens {
        input: count(&["prompt_tokens"])?,
        output: count(&["completion_tokens"]).unwrap_or(0),
        cache_read: count(&["prompt_tokens_details", "cached_tokens"]).unwrap_or(0),
        cache_write: 0,
        cache_write_1h: 0,
        reasoning: count(&["completion_tokens_details", "reasoning_tokens"]).unwrap_or(0),
    };
    Some(Usage::new(tokens, Convention::INCLUSIVE))
}

fn tools(record: &Record<'_>, tools: Value<'_>) -> Option<Vec<ToolDefinition>> {
    let tool = |tool: Value<'_>| {
        let function = tool.get("function").unwrap_or(tool);
        Some(ToolDefinition {
            name: record.text_at(function, "name")?,
            description: record.text_at(function, "description"),
            schema: record.payload_at(function, "parameters"),
        })
    };
    let tools: Vec<ToolDefinition> = tools.items().filter_map(tool).collect();
    (!tools.is_empty()).then_some(tools)
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, sketch};

    #[test]
    fn a_continued_prompt_is_no_new_turn() {
        let read = read_fixture("vscode-replay.json");
        assert_eq!(read.format, "vscode-replay");
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: write it\n\
             note element\n\
             context: be good\n\
             0 message: I will\n\
             note prompt continued\n\
             0 call create_file {\"p\":1} -> unknown(absent): done\n\
             0 call create_file {\"p\":2} -> unanswered(absent): \n\
             1 error: {\"type\":\"failed\"}\n\
             unknown novelty\n\
             user: write it\n"
        );
        assert_eq!(run.usage.unwrap().normalised().uncached_input, 6);
        assert_eq!(run.tools.as_ref().unwrap().len(), 1);
        assert_eq!(run.calls[0].name.canonical().tool, "create_file");
    }
}
