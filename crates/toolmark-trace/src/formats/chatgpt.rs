//! The data export of ChatGPT: one object per conversation whose `mapping` is a tree of
//! messages. A message to a `recipient` other than `all` is a call; the message of role
//! `tool` below it is the result. Regenerated answers are branches: they are also part of the
//! run and are kept.

use super::shared::positional::Positional;
use super::shared::readers::each_record;
use super::shared::turn::{Author, TurnMessage, author};
use crate::builder::{ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{Fact, Fidelity, Payload, Text, ToolName, time};
use std::collections::{HashMap, HashSet};
use toolmark_scan::Value;

/// The data export of ChatGPT.
pub(crate) struct ChatGpt;

static INFO: FormatInfo = FormatInfo {
    id: "chatgpt",
    title: "ChatGPT data export",
    origin: "conversations.json of a data export from ChatGPT",
    versions: "2023 and later",
    looks_for: "conversations with a mapping of messages that have author and content_type",
    fidelity: Fidelity::lacking(&[
        Fact::CallIds,
        Fact::ExitCodes,
        Fact::SubAgents,
        Fact::Tokens,
        Fact::Cost,
        Fact::ToolDefinitions,
        Fact::WorkingDirectory,
    ]),
};

impl Format for ChatGpt {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let is_node = |node: Value<'_>| node.has("message") && node.has("parent");
        let is_own = |r: Value<'_>| {
            let mut nodes = r.get("mapping").into_iter().flat_map(Value::fields);
            nodes.next().is_some_and(|(_, node)| is_node(node) || node.has("children"))
        };
        if probe.any(is_own) { 100 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        each_record(read_conversation)
    }
}

fn read_conversation(record: &Record<'_>, out: &mut Out) {
    let Some(conversation) = out.object(record, "a conversation") else { return };
    let mut b = out.builder(&ChatGpt);
    let run = &mut b.run;
    run.agent.name = Some(Text::owned("chatgpt"));
    run.agent.model = record.text_at(conversation, "default_model_slug");
    let id = ["conversation_id", "id"].iter().find_map(|key| record.text_at(conversation, key));
    run.id = id;
    run.name = record.text_at(conversation, "title");
    b.seen(conversation.get("create_time").and_then(time::from_value));
    let nodes: HashMap<_, _> = conversation
        .get("mapping")
        .into_iter()
        .flat_map(Value::fields)
        .filter_map(|(id, node)| Some((id.str()?, node)))
        .collect();
    let is_root = |node: &Value<'_>| {
        node.get("parent").and_then(Value::str).is_none_or(|parent| !nodes.contains_key(&parent))
    };
    let all = conversation.get("mapping").into_iter().flat_map(Value::fields);
    let mut todo: Vec<_> = all.map(|(_, node)| node).filter(is_root).collect();
    todo.reverse();
    let mut open = Positional::default();
    let mut seen = HashSet::new();
    while let Some(node) = todo.pop() {
        if !seen.insert(node.span()) {
            continue;
        }
        if let Some(message) = node.get("message") {
            read_message(&mut b, &mut open, record, message);
        }
        let children = node.items_at("children").filter_map(|c| nodes.get(&c.str()?).copied());
        let children: Vec<_> = children.collect();
        todo.extend(children.into_iter().rev());
    }
    if seen.len() < nodes.len() {
        out.skip(&record.at(), "messages that no path leads to");
    }
    out.push(b.finish());
}

fn read_message(
    b: &mut TrajectoryBuilder,
    open: &mut Positional,
    record: &Record<'_>,
    message: Value<'_>,
) {
    let at = record.at_value(message);
    let role = message.at(&["author", "role"]).and_then(Value::inner).unwrap_or("");
    let Some(author) = author(role) else {
        b.unknown(format!("role/{role}"), at);
        return;
    };
    let time = message.get("create_time").and_then(time::from_value);
    let content = message.get("content");
    let kind = content.map_or("", |c| c.word("content_type"));
    // Text that the client adds with the user role is hidden.
    let is_hidden = message.at(&["metadata", "is_visually_hidden_from_conversation"]);
    let is_context = matches!(kind, "user_editable_context" | "model_editable_context")
        || is_hidden.and_then(Value::as_bool) == Some(true);
    let author = if is_context && author == Author::User { Author::System } else { author };
    let text = content.and_then(|c| words(record, c));
    let mut turn = TurnMessage::new(b, open, record, message, author, None, time);
    let model = message.at(&["metadata", "model_slug"]).and_then(|m| record.text(m));
    turn.about(model, None);
    let recipient = record.text_at(message, "recipient").filter(|to| !to.is("all"));
    match (author, recipient) {
        (Author::Assistant, Some(tool)) => {
            turn.made_call(None, ToolName::new(tool), text, at);
        }
        (Author::Tool, _) => {
            let outcome = message.at(&["metadata", "aggregate_result", "status"]);
            let outcome = outcome.and_then(Value::inner).unwrap_or("");
            let answer = ReaderResult::new(text, at);
            let answer = match outcome {
                "success" => answer.protocol(false),
                _ if outcome.starts_with("failed") || kind == "system_error" => {
                    answer.protocol(true)
                }
                _ => answer,
            };
            let name = message.at(&["author", "name"]).and_then(Value::str).unwrap_or_default();
            turn.result_named(&name, answer);
        }
        (Author::Assistant, None) if matches!(kind, "thoughts" | "reasoning_recap") => {
            turn.reasoning(
                message,
                content.and_then(|c| c.get("thoughts").or_else(|| c.get("content"))),
            );
        }
        _ => {
            if let Some(text) = text {
                turn.words(text, at);
            }
            turn.finish(None);
        }
    }
}

/// Returns the text of a content: its only part, its parts, or its text; `None` if all of
/// these are empty.
fn words(record: &Record<'_>, content: Value<'_>) -> Option<Payload> {
    let parts = content.get("parts").filter(|p| p.is_array());
    let mut items = parts.into_iter().flat_map(Value::items).filter(|p| p.inner() != Some(""));
    match (items.next(), items.next()) {
        (Some(only), None) => Some(record.payload(only)),
        (Some(_), Some(_)) => parts.map(|p| record.payload(p)),
        _ => ["text", "result"]
            .iter()
            .find_map(|key| content.get(key))
            .filter(|text| text.inner() != Some(""))
            .map(|text| record.payload(text)),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, read_text, sketch};

    #[test]
    fn a_conversation() {
        let read = read_fixture("chatgpt.json");
        assert_eq!((read.format, read.skipped, read.runs.len()), ("chatgpt", 0, 1));
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "context: about me\n\
             user: add\n\
             0 call python 1+1 -> succeeded(protocol): 2\n\
             1 message: two\n\
             2 call python 1/0 -> failed(protocol): ZeroDivisionError\n"
        );
        assert_eq!(run.agent.model.as_ref().unwrap(), "gpt-4o");
    }

    #[test]
    fn a_circle_ends() {
        let read = read_text(
            r#"[{"mapping":{"a":{"id":"a","parent":"b","children":["b"],"message":null},"b":{"id":"b","parent":"a","children":["a"],"message":null},"c":{"id":"c","parent":null,"children":["c","c"]}}}]"#,
        );
        assert_eq!((read.format, read.skipped, read.runs.len()), ("chatgpt", 1, 1));
    }
}
