//! Messages of LangChain and LangGraph in their three forms: plain (`{type:"ai",content,…}`),
//! wrapped (`{type,data}`) and as constructors (`{lc:1,id:[…,"AIMessage"],kwargs}`).
//!
//! Stored as a list, one message per line, and under `messages` of a document or of the values
//! of a graph's state. Calls are in `tool_calls` with parsed arguments; calls whose arguments
//! did not parse are in `invalid_tool_calls`. The provider's copies in `additional_kwargs` and
//! in content blocks repeat the same calls and are used only in files older than `tool_calls`.
//! Chunks of a stream that share an ID are one message, whose call arguments are spread over
//! them as text.

use super::shared::chat_message;
use super::shared::conversation::{self, Conversations, MessageDialect};
use super::shared::positional::Positional;
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Reader, Record};
use crate::model::{
    Convention, EventKind, Fact, Fidelity, Payload, Text, ToolName, Usage, UsageTokens,
};
use std::collections::BTreeMap;
use toolmark_scan::Value;

/// Messages of LangChain.
pub(crate) struct Langchain;

static INFO: FormatInfo = FormatInfo {
    id: "langchain",
    title: "LangChain messages",
    origin: "message lists and graph states that LangChain and LangGraph serialise",
    versions: "0.0 to 1.x",
    looks_for: "messages of type human and ai, or constructors with lc and kwargs",
    fidelity: Fidelity::lacking(&[Fact::ExitCodes]),
};

impl Format for Langchain {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let sample = conversation::sample(probe);
        let is_sure = |value: &Value<'_>| {
            LangchainMessage::new(*value).is_some_and(|m| {
                matches!(m.kind, LangchainKind::Human | LangchainKind::Ai)
                    && m.fields.has("content")
            })
        };
        if sample.iter().any(is_sure) { 60 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<Conversations<LangchainDialect>>::default()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LangchainKind {
    Human,
    Ai,
    Tool,
    Function,
    System,
    /// A message with an explicit role.
    Chat,
    /// A command to the graph to remove a message.
    Remove,
}

/// A message in any of the three forms.
#[derive(Clone, Copy)]
struct LangchainMessage<'a> {
    kind: LangchainKind,
    is_chunk: bool,
    fields: Value<'a>,
}

impl<'a> LangchainMessage<'a> {
    fn new(value: Value<'a>) -> Option<Self> {
        let name = value.get("type").and_then(Value::inner)?;
        let (name, fields) = match name {
            "constructor" => {
                let class = value.get("id")?.items().last()?.inner()?;
                (class, value.get("kwargs")?)
            }
            _ if value.get("role").is_some() => return None,
            _ => (name, value.get("data").filter(|d| d.is_object()).unwrap_or(value)),
        };
        let (bare, is_chunk) = match name.strip_suffix("Chunk") {
            Some(bare) => (bare, true),
            None => (name, false),
        };
        let kind = match bare {
            "human" | "HumanMessage" => LangchainKind::Human,
            "ai" | "AIMessage" => LangchainKind::Ai,
            "tool" | "ToolMessage" => LangchainKind::Tool,
            "function" | "FunctionMessage" => LangchainKind::Function,
            "system" | "SystemMessage" | "developer" => LangchainKind::System,
            "chat" | "ChatMessage" => LangchainKind::Chat,
            "remove" | "RemoveMessage" => LangchainKind::Remove,
            _ => return None,
        };
        Some(Self { kind, is_chunk, fields })
    }
}

#[derive(Default)]
struct LangchainDialect {
    open: Positional,
    /// Arguments that arrive in pieces: the call and its text, by step and index.
    pieces: BTreeMap<(u32, u64), (u32, String)>,
}

impl MessageDialect for LangchainDialect {
    const FORMAT: &'static dyn Format = &Langchain;

    fn message(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, value: Value<'_>) {
        let at = record.at_value(value);
        let Some(message) = LangchainMessage::new(value) else {
            let kind = value.word("type");
            b.unknown(format!("message/{kind}"), at);
            return;
        };
        let content = message.fields.get("content");
        let text = content.map(|c| record.payload(c));
        let time = conversation::stated_time(message.fields);
        match message.kind {
            LangchainKind::Human => b.user(text, time, at),
            LangchainKind::System => b.context(text, time, at),
            LangchainKind::Ai => self.ai(b, record, message, value),
            LangchainKind::Tool | LangchainKind::Function => self.result(b, record, message.fields),
            LangchainKind::Remove => {
                b.event(EventKind::Note(Text::owned("remove")), None, None, time, at)
            }
            LangchainKind::Chat => match message.fields.get("role").and_then(Value::inner) {
                Some("user" | "human") => b.user(text, time, at),
                Some("assistant" | "ai") => self.ai(b, record, message, value),
                _ => b.context(text, time, at),
            },
        }
    }

    fn close(&mut self, b: &mut TrajectoryBuilder) {
        for (call, text) in std::mem::take(&mut self.pieces).into_values() {
            if let Some(call) = b.run.calls.get_mut(call as usize).filter(|_| !text.is_empty()) {
                call.args = Some(Payload::text(Text::owned(text)));
            }
        }
    }
}

impl LangchainDialect {
    fn ai(
        &mut self,
        b: &mut TrajectoryBuilder,
        record: &Record<'_>,
        message: LangchainMessage<'_>,
        whole: Value<'_>,
    ) {
        let fields = message.fields;
        let time = conversation::stated_time(fields);
        let id = record.text_at(fields, "id");
        let at = record.at_value(whole);
        // Only the chunks of a stream repeat the id of a message.
        let step = b.step(id.clone().filter(|_| message.is_chunk), time, at);
        let this = &mut b.run.steps[step as usize];
        this.id = this.id.take().or(id);
        let about = fields.get("response_metadata");
        let model = about.and_then(|m| m.get("model_name").or_else(|| m.get("model")));
        this.model = this.model.take().or_else(|| record.text(model?));
        let spent = usage(fields);
        if let Some(spent) = spent {
            this.usage.get_or_insert(spent);
            b.add_usage(spent);
        }
        if let Some(content) = fields.get("content") {
            words(b, record, content, step, time);
        }
        let kept = fields.at(&["additional_kwargs", "reasoning_content"]);
        if let Some(text) = kept.filter(|r| r.inner() != Some("")) {
            b.reasoning(step, Some(record.payload(text)), time, record.at_value(text));
        }
        let before = b.run.calls.len();
        self.calls(b, record, message, step);
        if let Some(agent) = record.text_at(fields, "name") {
            for call in b.run.calls.iter_mut().skip(before) {
                call.agent = Some(agent.clone());
            }
        }
    }

    fn calls(
        &mut self,
        b: &mut TrajectoryBuilder,
        record: &Record<'_>,
        message: LangchainMessage<'_>,
        step: u32,
    ) {
        let fields = message.fields;
        let pieces = fields.get("tool_call_chunks").filter(|_| message.is_chunk);
        if let Some(pieces) = pieces.filter(|p| p.items().next().is_some()) {
            for piece in pieces.items() {
                self.piece(b, record, piece, step);
            }
            return;
        }
        if fields.has("tool_calls") || fields.has("invalid_tool_calls") {
            for key in ["tool_calls", "invalid_tool_calls"] {
                for call in fields.items_at(key) {
                    self.call(b, record, call, step);
                }
            }
            return;
        }
        let Some(own) = fields.get("additional_kwargs") else { return };
        let calls = own.items_at("tool_calls");
        for call in calls.chain(own.get("function_call")) {
            self.call(b, record, call, step);
        }
    }

    fn call(
        &mut self,
        b: &mut TrajectoryBuilder,
        record: &Record<'_>,
        call: Value<'_>,
        step: u32,
    ) -> u32 {
        let inner = call.get("function").unwrap_or(call);
        let args = inner.get("args").or_else(|| inner.get("arguments"));
        let index = b.call(NewCall {
            id: record.text_at(call, "id").filter(|id| !id.is_empty()),
            name: ToolName::or_empty(record.text_at(inner, "name")),
            args: args.map(|a| record.payload(a)),
            step: Some(step),
            time: None,
            at: record.at_value(call),
        });
        self.open.add(step, index);
        index
    }

    /// Reads a piece of a call: the first has its ID and name, all have some text.
    fn piece(
        &mut self,
        b: &mut TrajectoryBuilder,
        record: &Record<'_>,
        piece: Value<'_>,
        step: u32,
    ) {
        let number = piece.get("index").and_then(Value::as_u64).unwrap_or(0);
        let has_name = piece.get("name").is_some_and(|n| n.inner() != Some(""));
        if has_name {
            let call = self.call(b, record, piece, step);
            b.run.calls[call as usize].args = None;
            self.pieces.insert((step, number), (call, String::new()));
        }
        let text = piece.get("args").and_then(Value::str);
        if let (Some((_, args)), Some(text)) = (self.pieces.get_mut(&(step, number)), text) {
            args.push_str(&text);
        }
    }

    fn result(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, fields: Value<'_>) {
        let content = fields.get("content").map(|c| record.payload(c));
        let mut answer = ReaderResult::new(content, record.at_value(fields))
            .time(conversation::stated_time(fields));
        match fields.get("status").and_then(Value::inner) {
            Some("error") => answer = answer.protocol(true),
            Some("success") => answer = answer.protocol(false),
            _ => {}
        }
        self.open.answer(b, fields.get("tool_call_id"), fields.get("name"), answer);
    }
}

/// Reads the text and the reasoning of a message's content.
fn words(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    content: Value<'_>,
    step: u32,
    time: Option<jiff::Timestamp>,
) {
    if content.is_string() {
        if content.inner() != Some("") {
            b.message(step, record.payload(content), time, record.at_value(content));
        }
        return;
    }
    for block in content.items() {
        let at = record.at_value(block);
        if block.is_string() {
            b.message(step, record.payload(block), time, at);
            continue;
        }
        let text = |key| record.payload_at(block, key);
        match block.word("type") {
            "text" => {
                if let Some(text) = text("text") {
                    b.message(step, text, time, at);
                }
            }
            "thinking" => b.reasoning(step, text("thinking"), time, at),
            "reasoning" => {
                b.reasoning(step, text("reasoning").or_else(|| text("summary")), time, at);
            }
            // Copies of what is in `tool_calls`.
            "tool_use" | "input_json_delta" | "function_call" | "tool_call" => {}
            other => b.event(
                EventKind::Unknown(Text::owned(format!("content/{other}"))),
                Some(record.payload(block)),
                Some(step),
                time,
                at,
            ),
        }
    }
}

/// Reads the usage in LangChain's format, or otherwise in the provider's.
fn usage(fields: Value<'_>) -> Option<Usage> {
    let Some(usage) = fields.get("usage_metadata").filter(|u| u.is_object()) else {
        return chat_message::usage(fields.at(&["response_metadata", "token_usage"])?);
    };
    let count = |path: &[&str]| usage.at(path).and_then(Value::as_u64);
    let tokens = UsageTokens {
        input: count(&["input_tokens"]).unwrap_or(0),
        output: count(&["output_tokens"]).unwrap_or(0),
        cache_read: count(&["input_token_details", "cache_read"]).unwrap_or(0),
        cache_write: count(&["input_token_details", "cache_creation"]).unwrap_or(0),
        cache_write_1h: 0,
        reasoning: count(&["output_token_details", "reasoning"]).unwrap_or(0),
    };
    let stated_total = count(&["total_tokens"]);
    Some(Usage { recorded: tokens, stated_total, convention: Convention::INCLUSIVE })
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_text, sketch};

    fn sketched(text: &str) -> String {
        let read = read_text(text);
        assert_eq!(read.format, "langchain");
        read.runs.iter().map(sketch).collect::<Vec<_>>().join("--\n")
    }

    #[test]
    fn three_forms_of_one_run() {
        let want = "user: go\n\
             0 message: I look\n\
             0 call ls {\"p\":1} -> succeeded(protocol): x\n\
             0 call rm {} -> failed(protocol): no\n";
        let ai = r#""content":[{"type":"text","text":"I look"},{"type":"tool_use","id":"a","name":"ls","input":{"p":1}}],"additional_kwargs":{"tool_calls":[{"id":"a","function":{"name":"ls","arguments":"{\"p\":1}"}}]},"tool_calls":[{"name":"ls","args":{"p":1},"id":"a","type":"tool_call"},{"name":"rm","args":{},"id":"b"}],"usage_metadata":{"input_tokens":5,"output_tokens":2,"total_tokens":7,"input_token_details":{"cache_read":3}}"#;
        let (x, no) = (
            r#""content":"x","tool_call_id":"a","status":"success""#,
            r#""content":"no","tool_call_id":"b","status":"error""#,
        );
        let plain = format!(
            r#"{{"values":{{"messages":[{{"type":"human","content":"go"}},{{"type":"ai",{ai}}},{{"type":"tool",{x}}},{{"type":"tool",{no}}}]}}}}"#
        );
        let wrapped = format!(
            r#"[{{"type":"human","data":{{"content":"go"}}}},{{"type":"ai","data":{{{ai}}}}},{{"type":"tool","data":{{{x}}}}},{{"type":"tool","data":{{{no}}}}}]"#
        );
        let lc = |class: &str, inner: &str| {
            format!(
                r#"{{"lc":1,"type":"constructor","id":["langchain","schema","messages","{class}"],"kwargs":{{{inner}}}}}"#
            )
        };
        let built = [
            lc("HumanMessage", r#""content":"go""#),
            lc("AIMessage", ai),
            lc("ToolMessage", x),
            lc("ToolMessage", no),
        ]
        .join("\n");
        for text in [plain, wrapped, built] {
            assert_eq!(sketched(&text), want, "{text}");
            let run = &read_text(&text).runs[0];
            let usage = run.usage.unwrap();
            assert_eq!((usage.total(), usage.normalised().uncached_input), (7, 2));
        }
    }

    #[test]
    fn invalid_calls_old_calls_orphans_and_strangers() {
        assert_eq!(
            sketched(
                r#"{"messages":[{"type":"system","content":"s"},
                {"type":"ai","name":"planner","content":"","tool_calls":[],"invalid_tool_calls":[{"name":"f","args":"{oops","id":"i","error":"bad"}]},
                {"type":"ai","content":"","additional_kwargs":{"function_call":{"name":"g","arguments":"{}"}}},
                {"type":"function","name":"g","content":"1"},
                {"type":"tool","tool_call_id":"z","content":"lost"},
                {"type":"remove","id":"q"},{"type":"hologram"},7]}"#
            ),
            "context: s\n\
             0 call f {oops -> unanswered(absent): \n\
             1 call g {} -> unknown(absent): 1\n\
             orphanresult: lost\n\
             note remove\n\
             unknown message/hologram\n\
             unknown message/\n"
        );
    }

    #[test]
    fn chunks_are_one_message() {
        assert_eq!(
            sketched(
                r#"{"type":"human","content":"go"}
{"type":"AIMessageChunk","id":"r","content":"","tool_calls":[{"name":"ls","args":{},"id":"a"}],"tool_call_chunks":[{"name":"ls","args":"","id":"a","index":0}]}
{"type":"AIMessageChunk","id":"r","content":"","tool_calls":[],"tool_call_chunks":[{"name":null,"args":"{\"p\":","id":null,"index":0}]}
{"type":"AIMessageChunk","id":"r","content":"","tool_calls":[],"tool_call_chunks":[{"name":null,"args":"1}","id":null,"index":0}]}
{"type":"tool","tool_call_id":"a","content":"x"}
"#
            ),
            "user: go\n0 call ls {\"p\":1} -> unknown(absent): x\n"
        );
    }
}
