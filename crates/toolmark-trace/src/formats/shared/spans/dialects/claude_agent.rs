//! traceAI's spans of the Claude Agent SDK: `claude_agent.span_kind` and
//! `claude_agent.tool.*`. Tokens are under `gen_ai.usage.*` and use Anthropic's convention:
//! cached input is counted separately.

use super::super::facts::{
    MessageAuthor, MessagePart, SpanFacts, SpanMessage, SpanRole, fill, fill_list,
};
use super::super::{Attributes, TelemetrySpan};
use super::SpanDialect;
use crate::model::{Convention, Cost, Payload, Usage, UsageTokens, time};

pub(super) const DIALECT: SpanDialect = SpanDialect { kind, read };

fn read(span: &TelemetrySpan, kind: SpanRole, facts: &mut SpanFacts) {
    if self::kind(span).is_none() {
        return;
    }
    let a = &span.attributes;
    fill(&mut facts.usage, || usage(a));
    match kind {
        SpanRole::Tool => {
            fill(&mut facts.tool, || a.text(&["claude_agent.tool.name"]));
            fill(&mut facts.call, || a.text(&["claude_agent.tool.use_id"]));
            fill(&mut facts.args, || arguments(a));
            fill(&mut facts.result, || a.payload(&["claude_agent.tool.output"]));
            fill(&mut facts.failed, || a.flag("claude_agent.tool.is_error"));
            fill(&mut facts.error, || a.payload(&["claude_agent.tool.error_message"]));
            fill(&mut facts.exit_code, || Some(a.number(&["claude_agent.tool.exit_code"])? as i64));
            fill(&mut facts.duration, || {
                time::millis(a.number(&["claude_agent.tool.duration_ms"])?)
            });
        }
        SpanRole::Llm => {
            fill(&mut facts.model, || a.text(&["claude_agent.model"]));
            fill_list(&mut facts.output, || said(a).into_iter().collect());
        }
        SpanRole::Agent => {
            facts.is_sub_agent = is_sub_agent(span);
            fill(&mut facts.model, || a.text(&["claude_agent.model"]));
            fill(&mut facts.agent, || {
                a.text(&["claude_agent.subagent.name", "claude_agent.subagent.type"])
            });
            fill(&mut facts.cost, || Cost::from_usd(a.number(&["claude_agent.cost.total_usd"])?));
            fill(&mut facts.cwd, || a.text(&["claude_agent.cwd"]));
            let prompt = a.get("claude_agent.subagent.prompt").or(a.get("claude_agent.prompt"));
            let prompt = prompt.cloned();
            fill_list(&mut facts.input, || {
                let text = prompt.map(MessagePart::Text);
                text.map(|t| SpanMessage { role: MessageAuthor::User, parts: vec![t] })
                    .into_iter()
                    .collect()
            });
        }
        _ => {}
    }
}

/// Returns the input of a call, with the arguments that the instrumentation repeats beside it,
/// or keeps alone.
fn arguments(a: &Attributes) -> Option<Payload> {
    const REPEATED: [(&str, &str); 3] = [
        ("command", "claude_agent.tool.command"),
        ("file_path", "claude_agent.tool.file_path"),
        ("pattern", "claude_agent.tool.pattern"),
    ];
    let input = a.payload(&["claude_agent.tool.input"]);
    let mut map = match input.as_ref().map(|input| input.parsed()) {
        None | Some(Some(serde_json::Value::Null)) => serde_json::Map::new(),
        Some(Some(serde_json::Value::Object(map))) if map.is_empty() => serde_json::Map::new(),
        Some(_) => return input,
    };
    for (name, key) in REPEATED {
        if let Some(text) = a.text(&[key]) {
            map.insert(name.to_owned(), text.get().into_owned().into());
        }
    }
    if map.is_empty() { input } else { Some(Payload::value(&map.into())) }
}

/// Returns the text of a response, without the marks that stand for its calls.
fn said(a: &Attributes) -> Option<SpanMessage> {
    let text = a.payload(&["claude_agent.message.content"])?;
    let is_mark = |line: &str| line.starts_with("[Tool: ") && line.ends_with(']');
    let plain = text.plain();
    let has_words = plain.lines().any(|line| !line.trim().is_empty() && !is_mark(line.trim()));
    drop(plain);
    has_words.then(|| SpanMessage {
        role: MessageAuthor::Assistant,
        parts: vec![MessagePart::Text(text)],
    })
}

fn is_sub_agent(span: &TelemetrySpan) -> bool {
    span.attributes.is("claude_agent.span_kind", "subagent") || span.name == "claude_agent.subagent"
}

fn kind(span: &TelemetrySpan) -> Option<SpanRole> {
    let stated = span.attributes.str("claude_agent.span_kind");
    let name = span.name.get();
    let word = match &stated {
        Some(kind) => &**kind,
        None => name.strip_prefix("claude_agent.")?,
    };
    Some(match word {
        "conversation" | "subagent" => SpanRole::Agent,
        "assistant_turn" => SpanRole::Llm,
        "tool_execution" | "tool" | "mcp_tool" => SpanRole::Tool,
        _ if stated.is_some() => SpanRole::Unknown,
        _ => return None,
    })
}

fn usage(a: &Attributes) -> Option<Usage> {
    let input = a.count(&["gen_ai.usage.input_tokens"]);
    let output = a.count(&["gen_ai.usage.output_tokens"]);
    if input.is_none() && output.is_none() {
        return None;
    }
    let tokens = UsageTokens {
        input: input.unwrap_or(0),
        output: output.unwrap_or(0),
        cache_read: a.count(&["gen_ai.usage.cache_read_tokens"]).unwrap_or(0),
        cache_write: a.count(&["gen_ai.usage.cache_creation_tokens"]).unwrap_or(0),
        cache_write_1h: 0,
        reasoning: 0,
    };
    Some(Usage::new(tokens, Convention::ANTHROPIC))
}
