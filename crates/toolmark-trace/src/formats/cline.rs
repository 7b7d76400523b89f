//! Tasks of Cline and its forks (Roo Code, Kilo Code), as stored for the model:
//! `api_conversation_history.json`, a list of Anthropic messages.
//!
//! Calls are `tool_use` blocks, or in the older style XML in the model's text
//! (`<read_file><path>a</path></read_file>`). Results are `tool_result` blocks or texts that
//! begin with `[read_file for 'a'] Result:`, in either style. The user's input is in
//! `<task>`, `<feedback>` or `<user_message>`; all other text of user messages is written by
//! the client. The outcome of a call is determined by the first words of its result.

use super::shared::conversation::{self, Conversations, MessageDialect};
use super::shared::positional::Positional;
use super::shared::turn::{self, Author, TurnMessage};
use super::shared::{anthropic, exit_code};
use crate::builder::{ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Reader, Record};
use crate::model::{
    Convention, Fact, Fidelity, Payload, Status, StatusLevel, Text, ToolName, Usage, UsageTokens,
};
use serde_json::{Map, Value as Json};
use toolmark_scan::Value;

/// Tasks of Cline.
pub(crate) struct Cline;

static INFO: FormatInfo = FormatInfo {
    id: "cline",
    title: "Cline, Roo Code and Kilo Code task",
    origin: "tasks/<id>/api_conversation_history.json in the global storage of the extension",
    versions: "tool calls as XML and as tool_use blocks",
    looks_for: "user messages with <task> or <environment_details>, results that begin with [tool] Result:",
    fidelity: Fidelity::lacking(&[Fact::SubAgents, Fact::ToolDefinitions, Fact::WorkingDirectory]),
};

/// Tools that models call in XML. Other elements are part of the model's text.
const TOOLS: [&str; 37] = [
    "access_mcp_resource",
    "apply_diff",
    "apply_patch",
    "ask_followup_question",
    "attempt_completion",
    "browser_action",
    "codebase_search",
    "condense",
    "delete_file",
    "edit_file",
    "execute_command",
    "fetch_instructions",
    "generate_explanation",
    "generate_image",
    "insert_content",
    "list_code_definition_names",
    "list_files",
    "load_mcp_documentation",
    "new_rule",
    "new_task",
    "plan_mode_respond",
    "read_file",
    "replace_in_file",
    "report_bug",
    "run_slash_command",
    "search_and_replace",
    "search_files",
    "search_replace",
    "simple_read_file",
    "summarize_task",
    "switch_mode",
    "update_todo_list",
    "use_mcp_tool",
    "use_skill",
    "web_fetch",
    "web_search",
    "write_to_file",
];

/// Elements that contain the user's input.
const TYPED: [&str; 4] = ["task", "feedback", "user_message", "answer"];

impl Format for Cline {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let sample = conversation::sample(probe);
        let is_own = |message: &Value<'_>| {
            message.field_is("role", "user")
                && texts(message.get("content")).any(|text| {
                    let raw = text.inner().unwrap_or("");
                    ["<task>", "<environment_details>", "<user_message>\\n"]
                        .iter()
                        .any(|mark| raw.starts_with(mark))
                        || raw.starts_with('[') && raw.contains("] Result:")
                })
        };
        if sample.iter().any(is_own) { 85 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<Conversations<ClineDialect>>::default()
    }
}

/// Returns the texts of a content, which is a string or a list of blocks.
fn texts(content: Option<Value<'_>>) -> impl Iterator<Item = Value<'_>> {
    let alone = content.filter(|c| c.is_string());
    let blocks = content.into_iter().flat_map(Value::items);
    alone.into_iter().chain(blocks.filter_map(|b| b.get("text").filter(|t| t.is_string())))
}

#[derive(Default)]
struct ClineDialect {
    open: Positional,
}

impl MessageDialect for ClineDialect {
    const FORMAT: &'static dyn Format = &Cline;

    fn message(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, message: Value<'_>) {
        let time = message.get("ts").and_then(crate::model::time::from_value);
        let time = time.or_else(|| conversation::stated_time(message));
        let content = message.get("content");
        match turn::author(message.word("role")) {
            Some(Author::Assistant) => {
                let mut turn = TurnMessage::new(
                    b,
                    &mut self.open,
                    record,
                    message,
                    Author::Assistant,
                    None,
                    time,
                );
                let model = message.at(&["modelInfo", "modelId"]).and_then(|m| record.text(m));
                turn.about(model, message.at(&["metrics", "tokens"]).and_then(usage));
                if let Some(text) = content.filter(|c| c.is_string()) {
                    words(&mut turn, record, text);
                }
                for block in content.into_iter().flat_map(Value::items) {
                    assistant_block(&mut turn, record, block);
                }
            }
            Some(_) => {
                // Only text in one of the client's elements is the user's.
                let mut turn = TurnMessage::new(
                    b,
                    &mut self.open,
                    record,
                    message,
                    Author::System,
                    None,
                    time,
                );
                user(&mut turn, record, content);
            }
            None => b.unknown("message without role", record.at_value(message)),
        }
    }
}

fn usage(tokens: Value<'_>) -> Option<Usage> {
    let count = |key: &str| tokens.get(key).and_then(Value::as_u64);
    let recorded = UsageTokens {
        input: count("prompt")?,
        output: count("completion").unwrap_or(0),
        cache_read: count("cached").unwrap_or(0),
        ..UsageTokens::default()
    };
    Some(Usage::new(recorded, Convention::INCLUSIVE))
}

fn assistant_block(turn: &mut TurnMessage<'_, '_>, record: &Record<'_>, block: Value<'_>) {
    match block.word("type") {
        "text" => {
            if let Some(text) = block.get("text") {
                words(turn, record, text);
            }
        }
        "thinking" | "redacted_thinking" | "reasoning" => {
            turn.reasoning(block, block.get("thinking").or_else(|| block.get("text")));
        }
        "tool_use" => {
            turn.call(block, block.get("id"), block.get("name"), block.get("input"));
        }
        "image" => turn.attachment(block),
        other => turn.unknown(other, block),
    }
}

/// Reads the model's text, with the calls in it.
fn words(turn: &mut TurnMessage<'_, '_>, record: &Record<'_>, value: Value<'_>) {
    let text = value.str().unwrap_or_default();
    let at = record.at_value(value);
    let mut rest: &str = &text;
    let mut has_calls = false;
    while let Some(call) = next_call(rest) {
        has_calls = true;
        said(turn, call.before, &at);
        let args = Payload::value(&Json::Object(parameters(call.body)));
        turn.made_call(None, ToolName::new(call.name), Some(args), at.clone());
        rest = call.after;
    }
    if has_calls {
        said(turn, rest, &at);
    } else {
        turn.text(value);
    }
}

fn said(turn: &mut TurnMessage<'_, '_>, text: &str, at: &crate::model::At) {
    if !text.trim().is_empty() {
        turn.words(Payload::text(Text::owned(text.trim())), at.clone());
    }
}

struct XmlCall<'a> {
    before: &'a str,
    name: &'a str,
    body: &'a str,
    after: &'a str,
}

/// Returns the first call in a text: the element of a tool at the start of a line. An
/// unclosed element extends to the end, as in the client.
fn next_call(text: &str) -> Option<XmlCall<'_>> {
    let mut from = 0;
    for line in text.split_inclusive('\n') {
        let start = from + line.len() - line.trim_start().len();
        from += line.len();
        let Some(name) = tag(&text[start..]).filter(|name| TOOLS.binary_search(name).is_ok())
        else {
            continue;
        };
        let inside = &text[start + name.len() + 2..];
        let close = format!("</{name}>");
        let (body, after) = inside.split_once(close.as_str()).unwrap_or((inside, ""));
        return Some(XmlCall { before: &text[..start], name, body, after });
    }
    None
}

/// Returns the name of the tag at the start of a text.
fn tag(text: &str) -> Option<&str> {
    let inside = text.strip_prefix('<')?;
    let length = inside.bytes().take_while(|b| b.is_ascii_lowercase() || *b == b'_').count();
    (length > 0 && inside[length..].starts_with('>')).then(|| &inside[..length])
}

/// Parses the parameters of a call: consecutive elements. The text of a file or a diff may
/// itself contain the closing tag, so the last one counts.
fn parameters(body: &str) -> Map<String, Json> {
    let mut found = Map::new();
    let mut rest = body;
    while let Some(start) = rest.find('<') {
        let Some(name) = tag(&rest[start..]) else {
            rest = &rest[start + 1..];
            continue;
        };
        let inside = &rest[start + name.len() + 2..];
        let close = format!("</{name}>");
        let end = match name {
            "content" | "diff" => inside.rfind(&close),
            _ => inside.find(&close),
        };
        let value = &inside[..end.unwrap_or(inside.len())];
        let value = value.strip_prefix('\n').unwrap_or(value);
        let value = value.strip_suffix('\n').unwrap_or(value);
        found.insert(name.to_owned(), Json::from(value));
        rest = end.map_or("", |end| &inside[end + close.len()..]);
    }
    found
}

/// An announced result whose text is in the following blocks.
struct AnnouncedResult<'a> {
    name: String,
    at: Value<'a>,
    text: Option<Payload>,
}

fn user(turn: &mut TurnMessage<'_, '_>, record: &Record<'_>, content: Option<Value<'_>>) {
    let marked = texts(content).any(|text| {
        let text = text.str().unwrap_or_default();
        typed(&text).is_some() || announcement(&text).is_some() || is_of_client(&text)
    });
    let has_results = content.is_some_and(|c| c.items().any(|b| b.field_is("type", "tool_result")));
    let mut pending: Option<AnnouncedResult<'_>> = None;
    let alone = content.filter(|c| c.is_string());
    for block in alone.into_iter().chain(content.into_iter().flat_map(Value::items)) {
        if block.field_is("type", "tool_result") {
            settle(turn, record, pending.take());
            let answer = anthropic::result_answer(record, block);
            let text = block.get("content").map(anthropic::first_text).unwrap_or_default();
            let answer = if answer.status == Status::Succeeded {
                status_by_words(answer, &text)
            } else {
                answer
            };
            turn.result(block.get("tool_use_id"), None, answer);
            continue;
        }
        let Some(value) = Some(block).filter(|b| b.is_string()).or_else(|| block.get("text"))
        else {
            match block.word("type") {
                "image" => turn.attachment(block),
                other => turn.unknown(other, block),
            }
            continue;
        };
        let text = value.str().unwrap_or_default();
        let at = record.at_value(value);
        if let Some((name, rest)) = announcement(&text) {
            settle(turn, record, pending.take());
            let body = Some(rest.trim_start()).filter(|rest| !rest.is_empty());
            let text = body.map(|body| Payload::text(Text::owned(body)));
            pending = Some(AnnouncedResult { name: name.to_owned(), at: value, text });
        } else if let Some(inner) = typed(&text) {
            settle(turn, record, pending.take());
            turn.b.user(Some(Payload::text(Text::owned(inner))), turn.time, at);
        } else if is_of_client(&text) {
            settle(turn, record, pending.take());
            turn.text(value);
        } else if let Some(AnnouncedResult { text: text @ None, .. }) = &mut pending {
            *text = Some(record.payload(value));
        } else if marked || has_results {
            turn.text(value);
        } else {
            turn.b.user(Some(record.payload(value)), turn.time, at);
        }
    }
    settle(turn, record, pending);
}

/// Adds a result whose text is complete. Some tools have other names in announcements; if
/// there is no open call with this name, the result belongs to the next open call.
fn settle(
    turn: &mut TurnMessage<'_, '_>,
    record: &Record<'_>,
    announced: Option<AnnouncedResult<'_>>,
) {
    let Some(announced) = announced else { return };
    let words = announced.text.as_ref().map(|t| t.plain().into_owned()).unwrap_or_default();
    let answer = ReaderResult::new(announced.text, record.at_value(announced.at));
    turn.result_named(&announced.name, status_by_words(answer, &words));
}

/// Parses `[tool for 'x'] Result:` and returns the rest as well.
fn announcement(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix('[')?;
    let (head, rest) = inside.split_once("] Result:")?;
    let length = head.bytes().take_while(|b| b.is_ascii_lowercase() || *b == b'_').count();
    (length > 0).then(|| (&head[..length], rest))
}

/// Returns the user's input without the surrounding element.
fn typed(text: &str) -> Option<&str> {
    let text = text.trim();
    let name = tag(text).filter(|name| TYPED.contains(name))?;
    let inside = &text[name.len() + 2..];
    let close = format!("</{name}>");
    Some(inside.rfind(&close).map_or(inside, |end| &inside[..end]).trim())
}

fn is_of_client(text: &str) -> bool {
    ["<environment_details>", "[ERROR] ", "[TASK RESUMPTION]", "# task_progress", "<hook_context"]
        .iter()
        .any(|mark| text.trim_start().starts_with(mark))
}

/// Sets the status by the words that the client puts before a result: errors and refusals
/// have fixed texts.
fn status_by_words(answer: ReaderResult, text: &str) -> ReaderResult {
    let text = text.trim_start();
    let code = exit_code::in_header(text);
    if text.starts_with("The user denied this operation")
        || text.starts_with("{\"status\":\"denied\"")
    {
        return answer.status(Status::Denied, StatusLevel::Denial);
    }
    let failed = ["The tool execution failed", "<error", "Error:", "{\"status\":\"error\""];
    if failed.iter().any(|mark| text.starts_with(mark)) {
        return answer.status(Status::Failed, StatusLevel::Prose);
    }
    match code {
        Some(_) => answer.status(Status::Unknown, StatusLevel::Absent).exit_code(code),
        None => answer.status(Status::Succeeded, StatusLevel::Prose),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{read_fixture, read_text, sketch};

    #[test]
    fn tools_are_in_order() {
        assert!(TOOLS.is_sorted());
    }

    #[test]
    fn calls_as_xml() {
        let read = read_fixture("cline.json");
        assert_eq!((read.format, read.skipped), ("cline", 0));
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: fix it\n\
             context: <environment_details>\n# Mode\n</environment_details>\n\
             0 message: I look.\n\
             0 call read_file {\"path\":\"a.ts\"} -> succeeded(prose): 1 | x\n\
             1 call write_to_file {\"path\":\"b.ts\",\"content\":\"<content>x</content>\"} -> denied(denial): The user denied this operation.\n\
             user: use c.ts\n\
             2 call execute_command {\"command\":\"npm test\"} -> failed(exitcode) exit 1: Exit code: 1\nOutput:\nboom\n\
             3 call list_files {\"path\":\".\"} -> failed(prose): The tool execution failed with the following error:\nno\n\
             4 message: Done, use `<read_file>` to see.\n\
             4 call attempt_completion {\"result\":\"fixed\"} -> unanswered(absent): \n"
        );
        assert_eq!(run.user_turns, 2);
        assert_eq!(run.usage.unwrap().total(), 12);
    }

    #[test]
    fn blocks_with_results_as_text() {
        let read = read_text(
            r#"[{"role":"user","content":[{"type":"text","text":"<task>\ngo\n</task>"},{"type":"text","text":"Files attached"}],"ts":1777073160794},
            {"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"tool_use","id":"t1","name":"use_subagents","input":{"prompt_1":"x"}},{"type":"tool_use","id":"t2","name":"read_file","input":{"path":"a"}}]},
            {"role":"user","content":[{"type":"text","text":"[subagents] Result:\nall done"},{"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"The tool execution failed with the following error:\nno file"}]}]}]"#,
        );
        assert_eq!(read.format, "cline");
        assert_eq!(
            sketch(&read.runs[0]),
            "user: go\n\
             context: Files attached\n\
             0 reasoning: hm\n\
             0 call use_subagents {\"prompt_1\":\"x\"} -> succeeded(prose): all done\n\
             0 call read_file {\"path\":\"a\"} -> failed(prose): The tool execution failed with the following error:\nno file\n"
        );
    }

    #[test]
    fn an_element_that_is_cut_off() {
        let call = next_call("x\n <read_file>\n<path>a").unwrap();
        assert_eq!((call.before, call.name, call.after), ("x\n ", "read_file", ""));
        assert_eq!(parameters(call.body)["path"], "a");
        assert!(next_call("see <read_file>").is_none());
    }
}
