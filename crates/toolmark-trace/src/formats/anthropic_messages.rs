//! Conversations of the Anthropic Messages API: content blocks, calls as `tool_use` in the
//! assistant's messages, results as `tool_result` in the next user message. Results of server
//! tools are inside the assistant's own message.
//!
//! Stored as a list, one message per line, requests `{messages,system,tools}` with or without
//! their response, bare responses, and batch results.

use super::shared::anthropic;
use super::shared::conversation::{self, Conversations, MessageDialect};
use crate::builder::TrajectoryBuilder;
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Reader, Record};
use crate::model::{Convention, EventKind, Fact, Fidelity, Text, Usage};
use toolmark_scan::Value;

/// Conversations of the Anthropic Messages API.
pub(crate) struct AnthropicMessages;

static INFO: FormatInfo = FormatInfo {
    id: "anthropic-messages",
    title: "Anthropic messages",
    origin: "stored requests, responses and message lists of the Anthropic Messages API",
    versions: "2023-06-01, with server tools, MCP tools and thinking",
    looks_for: "messages whose content has tool_use or tool_result blocks",
    fidelity: Fidelity::lacking(&[Fact::ExitCodes, Fact::SubAgents]),
};

impl Format for AnthropicMessages {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        if conversation::has_owner(probe) {
            return 0;
        }
        let sample = conversation::sample(probe);
        if sample.iter().any(|m| has_own_block(*m) || is_response(*m)) {
            return 60;
        }
        let is_request = |r: Value<'_>| {
            let parts = [Some(r), r.get("request"), r.get("body"), r.get("params")];
            parts.into_iter().flatten().any(|p| {
                let mut tools = p.items_at("tools");
                tools.any(|t| t.get("input_schema").is_some() && t.get("function").is_none())
                    || (p.get("system").is_some() && p.get("max_tokens").is_some())
            })
        };
        let has_role = sample.iter().any(|m| m.get("role").is_some() && m.has("content"));
        if has_role && probe.any(is_request) { 60 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<Conversations<MessagesDialect>>::default()
    }
}

fn has_own_block(message: Value<'_>) -> bool {
    let is_own = |block: Value<'_>| {
        let kind = block.get("type").and_then(Value::inner);
        matches!(
            kind,
            Some("tool_use" | "tool_result" | "thinking" | "redacted_thinking" | "server_tool_use")
        )
    };
    let role = message.get("role").and_then(Value::inner);
    matches!(role, Some("user" | "assistant"))
        && message.get("content").is_some_and(|c| c.items().any(is_own))
}

fn is_response(value: Value<'_>) -> bool {
    let message = value.at(&["result", "message"]).unwrap_or(value);
    message.field_is("type", "message")
        && message.field_is("role", "assistant")
        && (message.has("stop_reason") || message.at(&["usage", "input_tokens"]).is_some())
}

#[derive(Default)]
struct MessagesDialect;

impl MessageDialect for MessagesDialect {
    const FORMAT: &'static dyn Format = &AnthropicMessages;

    fn before(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, document: Value<'_>) {
        let parts = [Some(document), document.get("request"), document.get("body")];
        if let Some(system) = parts.into_iter().flatten().find_map(|p| p.get("system")) {
            b.context(Some(record.payload(system)), None, record.at_value(system));
        }
    }

    fn message(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, message: Value<'_>) {
        let message = message.at(&["result", "message"]).unwrap_or(message);
        let time = conversation::stated_time(message);
        let content = message.get("content");
        let at = record.at_value(message);
        match message.get("role").and_then(Value::inner) {
            Some("assistant") => assistant(b, record, message),
            Some("user") => user(b, record, message),
            Some("system") => b.context(content.map(|c| record.payload(c)), time, at),
            Some(other) => {
                let kind = EventKind::Unknown(Text::owned(format!("role/{other}")));
                b.event(kind, content.map(|c| record.payload(c)), None, time, at);
            }
            None if message.field_is("type", "error") => {
                let text = message.get("error").map(|e| record.payload(e));
                b.event(EventKind::Error, text, None, time, at);
            }
            None => b.unknown("message without role", at),
        }
    }

    fn after(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, document: Value<'_>) {
        let response = document.get("response").or_else(|| document.get("completion"));
        let Some(response) = response.and_then(|r| r.get("body").or(Some(r))) else { return };
        let last = conversation::messages(document).and_then(|list| list.items().last());
        let is_known = last.is_some_and(|last| {
            conversation::fingerprint(last) == conversation::fingerprint(response)
        });
        match (is_known, b.last_step()) {
            (true, Some(step)) => about(b, record, response, step),
            _ => self.message(b, record, response),
        }
    }
}

fn assistant(b: &mut TrajectoryBuilder, record: &Record<'_>, message: Value<'_>) {
    let time = conversation::stated_time(message);
    let step = b.step(record.text_at(message, "id"), time, record.at_value(message));
    about(b, record, message, step);
    match message.get("content") {
        Some(odd) if odd.is_object() => {
            b.message(step, record.payload(odd), time, record.at_value(odd));
        }
        Some(content) => anthropic::assistant(b, record, content, step, time),
        None => {}
    }
}

/// Reads the metadata of a response: model, usage, stop reason.
fn about(b: &mut TrajectoryBuilder, record: &Record<'_>, message: Value<'_>, step: u32) {
    let this = &mut b.run.steps[step as usize];
    this.model = this.model.take().or_else(|| record.text_at(message, "model"));
    let usage = message.get("usage").filter(|u| u.is_object());
    if let Some(tokens) = usage.map(anthropic::usage).filter(|t| !t.is_zero()) {
        b.set_step_usage(step, Usage::new(tokens, Convention::ANTHROPIC));
    }
    if let Some(reason) = record.text_at(message, "stop_reason") {
        b.run.outcome = Some(reason);
    }
}

/// Reads a user's message. It starts a turn unless it contains results: text beside results
/// is written by the client.
fn user(b: &mut TrajectoryBuilder, record: &Record<'_>, message: Value<'_>) {
    let time = conversation::stated_time(message);
    let content = message.get("content");
    let is_result = |block: &Value<'_>| {
        let kind = block.get("type").and_then(Value::inner);
        kind.is_some_and(|k| k == "tool_result" || k.ends_with("_tool_result"))
    };
    let mut others = Vec::new();
    let mut results = 0;
    for block in content.into_iter().flat_map(Value::items) {
        if is_result(&block) {
            results += 1;
            anthropic::tool_result(b, record, block, time);
        } else {
            others.push(block);
        }
    }
    if results == 0 {
        b.user(content.map(|c| record.payload(c)), time, record.at_value(message));
        return;
    }
    for block in others {
        let text = block.get("text").unwrap_or(block);
        b.context(Some(record.payload(text)), time, record.at_value(block));
    }
}

#[cfg(test)]
mod tests {
    use crate::model::Actor;
    use crate::testing::{read_text, sketch};

    fn sketched(text: &str) -> String {
        let read = read_text(text);
        assert_eq!(read.format, "anthropic-messages");
        read.runs.iter().map(sketch).collect::<Vec<_>>().join("--\n")
    }

    #[test]
    fn calls_and_results() {
        assert_eq!(
            sketched(
                r#"{"model":"claude","system":"be good","tools":[{"name":"ls","input_schema":{}}],"messages":[
                {"role":"user","content":"go"},
                {"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"I look"},
                    {"type":"tool_use","id":"a","name":"ls","input":{"p":1}},
                    {"type":"tool_use","id":"b","name":"rm","input":{}},
                    {"type":"tool_use","id":"c","name":"cp","input":{}}]},
                {"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"The user doesn't want to proceed with this tool use","is_error":true},
                    {"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"x"}]},
                    {"type":"tool_result","tool_use_id":"z","content":"lost"},
                    {"type":"text","text":"a reminder"}]},
                {"role":"assistant","content":[{"type":"hologram"}]},
                {"role":"narrator","content":"meanwhile"}]}"#
            ),
            "context: be good\n\
             user: go\n\
             0 reasoning: hm\n\
             0 message: I look\n\
             0 call ls {\"p\":1} -> succeeded(protocol): x\n\
             0 call rm {} -> denied(denial): The user doesn't want to proceed with this tool use\n\
             0 call cp {} -> unanswered(absent): \n\
             orphanresult: lost\n\
             context: a reminder\n\
             unknown content/hologram\n\
             unknown role/narrator\n"
        );
    }

    #[test]
    fn a_bare_response() {
        let read = read_text(
            r#"{"id":"msg_1","type":"message","role":"assistant","model":"claude","stop_reason":"end_turn","content":[
            {"type":"server_tool_use","id":"s","name":"web_search","input":{"query":"q"}},
            {"type":"web_search_tool_result","tool_use_id":"s","content":[{"type":"web_search_result","title":"t"}]},
            {"type":"text","text":"found"}],"usage":{"input_tokens":3,"cache_read_input_tokens":7,"output_tokens":2}}"#,
        );
        assert_eq!(read.format, "anthropic-messages");
        let run = &read.runs[0];
        assert_eq!(run.calls[0].actor, Actor::Provider);
        assert!(run.calls[0].result.is_some());
        assert_eq!(run.usage.unwrap().total(), 12);
        assert_eq!(run.outcome.as_ref().unwrap(), "end_turn");
        assert_eq!(run.agent.model.as_ref().unwrap(), "claude");
    }

    #[test]
    fn a_response_that_the_list_already_has_is_not_added() {
        let read = read_text(
            r#"{"request":{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"ls","input":{}}]}]},
            "response":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"a","name":"ls","input":{}}],"usage":{"input_tokens":1}}}"#,
        );
        let run = &read.runs[0];
        assert_eq!((run.steps.len(), run.calls.len()), (1, 1));
        assert_eq!(run.usage.unwrap().recorded.input, 1);
    }

    #[test]
    fn wrong_types_lose_nothing_else() {
        assert_eq!(
            sketched(
                r#"{"messages":[5,{"role":"assistant","content":{"x":1}},{"role":"user","content":[{"type":"tool_result","tool_use_id":9}]},
                {"role":"assistant","content":[{"type":"tool_use","id":3,"name":4,"input":"text"}]}]}"#
            ),
            "unknown message without role\n\
             0 message: {\"x\":1}\n\
             orphanresult: \n\
             1 call  text -> unanswered(absent): \n"
        );
    }
}
