//! The OpenAI Responses API: items of many types instead of messages.
//!
//! Stored as items (a list, or one per line), as response objects with `output`, as requests
//! with their responses, as the events of a stream, and as traces of the Open Responses
//! format (an object with `items`), on their own or as the `trace` of a row of a dataset.
//! Calls and results are linked by `call_id`, not by `id`. Tools of the provider (web search,
//! MCP, code interpreter …) are one item with call and result. An MCP call that needs approval
//! consists of a request, the person's answer and then the call, and is read as one call.
//!
//! Items do not mark the end of a response: the model's items up to the next result or user
//! message count as one step.

use super::shared::{chat_message, conversation};
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{
    Actor, EventKind, Fact, Fidelity, Payload, Status, StatusLevel, Text, ToolName,
};
use jiff::Timestamp;
use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};
use toolmark_scan::Value;

/// Items of the OpenAI Responses API.
pub(crate) struct OpenaiResponses;

static INFO: FormatInfo = FormatInfo {
    id: "openai-responses",
    title: "OpenAI Responses",
    origin: "stored requests, responses, items and event streams of the OpenAI Responses API",
    versions: "items as of 2025 and 2026",
    looks_for: "items of type function_call with call_id, objects of kind response, or traces with items",
    fidelity: Fidelity::lacking(&[Fact::SubAgents]),
};

impl Format for OpenaiResponses {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        if conversation::has_owner(probe) {
            return 0;
        }
        if probe
            .any(|r| ResponsesDocument::new(r).is_some_and(|d| d.response.is_some()) || is_event(r))
        {
            return 60;
        }
        if probe.any(|r| open_trace(r).is_some_and(|(trace, _)| trace.has("FORMAT"))) {
            return 60;
        }
        let mut has_words = false;
        for &record in probe.records() {
            let input = ResponsesDocument::new(record).and_then(|d| d.input);
            let input = input.or_else(|| open_trace(record).map(|(_, items)| items));
            for item in input.into_iter().flat_map(Value::items).take(100).chain([record]) {
                let kind = item.word("type");
                if is_call_kind(kind) && (item.get("call_id").is_some() || item.has("status")) {
                    return 58;
                }
                let mut blocks = item.items_at("content");
                has_words |= kind == "message"
                    && blocks.any(|b| {
                        b.get("type").is_some_and(|t| t.is("input_text") || t.is("output_text"))
                    });
            }
        }
        if has_words { 52 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<ResponsesReader>::default()
    }
}

fn is_call_kind(kind: &str) -> bool {
    kind.ends_with("_call") || kind.ends_with("_call_output")
}

/// Returns an event of a stream without its envelope.
fn event(value: Value<'_>) -> Value<'_> {
    value.get("data").filter(|d| d.is_object()).unwrap_or(value)
}

fn is_event(value: Value<'_>) -> bool {
    let event = event(value);
    let kind = event.word("type");
    kind.starts_with("response.") && (event.has("sequence_number") || event.has("response"))
}

/// Returns a trace of the Open Responses format with its items: the value itself, or the trace
/// in a row.
fn open_trace(value: Value<'_>) -> Option<(Value<'_>, Value<'_>)> {
    let found = |trace| Some((trace, trace_items(trace)?));
    found(value).or_else(|| found(value.get("trace")?))
}

/// Returns the items of a trace, which is recognized by its type or that of its first item.
fn trace_items(trace: Value<'_>) -> Option<Value<'_>> {
    let items = trace.get("items").filter(|items| items.is_array())?;
    let says = trace.field_is("FORMAT", "open_responses");
    let first = items.items().next().and_then(|item| item.get("type")).and_then(Value::inner);
    let is_item = |kind| matches!(kind, "message" | "reasoning") || is_call_kind(kind);
    (says || first.is_some_and(is_item)).then_some(items)
}

/// A request, a response, or both.
struct ResponsesDocument<'a> {
    input: Option<Value<'a>>,
    instructions: Option<Value<'a>>,
    response: Option<Value<'a>>,
    previous: Option<Value<'a>>,
}

impl<'a> ResponsesDocument<'a> {
    fn new(value: Value<'a>) -> Option<Self> {
        let inner = |key| {
            let part = value.get(key)?;
            Some(part.get("body").unwrap_or(part))
        };
        let is_response = |r: &Value<'a>| {
            r.field_is("object", "response")
                || (r.get("output").is_some_and(Value::is_array)
                    && (r.has("usage") || r.has("status")))
        };
        let response = inner("response").or(Some(value)).filter(is_response);
        let request = inner("request").or_else(|| value.get("body")).unwrap_or(value);
        let input = request.get("input").filter(|i| i.is_array() || i.is_string());
        let input = input.filter(|_| response.is_some() || request.get("model").is_some());
        if input.is_none() && response.is_none() {
            return None;
        }
        let from_both = |key| request.get(key).or_else(|| response?.get(key));
        Some(Self {
            input,
            instructions: from_both("instructions"),
            response,
            previous: from_both("previous_response_id"),
        })
    }
}

#[derive(Default)]
struct ResponsesReader {
    run: Option<OpenaiResponsesRun>,
}

impl Reader for ResponsesReader {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        let Some(value) = record.json().filter(|v| v.is_object() || v.is_array()) else {
            out.skip(&record.at(), "not an item: expected an object");
            return;
        };
        if value.is_array() {
            self.finish(out);
            let run = self.run.insert(OpenaiResponsesRun::new(out, true));
            value.items().for_each(|item| run.item(record, item, None));
        } else if let Some(document) = ResponsesDocument::new(value).filter(|_| !is_event(value)) {
            self.document(record, value, &document, out);
        } else if let Some((trace, items)) = open_trace(value) {
            self.finish(out);
            let run = self.run.insert(OpenaiResponsesRun::new(out, true));
            run.trace(record, value, trace, items);
        } else {
            if self.run.as_ref().is_some_and(|r| r.is_document) {
                self.finish(out);
            }
            let run = self.run.get_or_insert_with(|| OpenaiResponsesRun::new(out, false));
            if is_event(value) {
                run.event(record, event(value));
            } else {
                run.item(record, value, None);
            }
        }
    }

    fn finish(&mut self, out: &mut Out) {
        if let Some(run) = self.run.take() {
            out.push(run.b.finish());
        }
    }
}

impl ResponsesReader {
    /// Reads a document. It continues the previous one if it names that response as the previous
    /// one, and replaces it if it repeats its input and adds to it.
    fn document(
        &mut self,
        record: &Record<'_>,
        value: Value<'_>,
        document: &ResponsesDocument<'_>,
        out: &mut Out,
    ) {
        let prints: Vec<u64> =
            document.input.into_iter().flat_map(Value::items).map(print).collect();
        let previous = document.previous.and_then(Value::str).map(Cow::into_owned);
        let last = self.run.take();
        let run = match last {
            Some(last) if last.is_document && previous.is_some() && last.response == previous => {
                self.run.insert(last)
            }
            Some(last) if last.is_document && conversation::continues(&last.prints, &prints) => {
                let run = self.run.insert(OpenaiResponsesRun::new(out, true));
                conversation::carry_over(&mut run.b, &last.b);
                run
            }
            last => {
                if let Some(last) = last {
                    out.push(last.b.finish());
                }
                self.run.insert(OpenaiResponsesRun::new(out, true))
            }
        };
        run.prints = prints;
        run.document(record, value, document);
    }
}

/// Returns a fingerprint by which an item is recognized in a later request.
fn print(item: Value<'_>) -> u64 {
    if item.get("role").is_some() {
        return conversation::fingerprint(item);
    }
    let mut hasher = DefaultHasher::new();
    let id = item.get("call_id").or_else(|| item.get("id"));
    (item.get("type").map(Value::raw), id.map(Value::raw)).hash(&mut hasher);
    hasher.finish()
}

struct OpenaiResponsesRun {
    b: TrajectoryBuilder,
    is_document: bool,
    prints: Vec<u64>,
    /// Step that the model's next item belongs to.
    step: Option<u32>,
    /// ID of the last response.
    response: Option<String>,
    /// Whether the current response of a stream has provided single items.
    is_itemised: bool,
}

/// Context of an item: its text, its response, its time.
struct ItemContext {
    at: crate::model::At,
    time: Option<Timestamp>,
}

impl OpenaiResponsesRun {
    fn new(out: &Out, is_document: bool) -> Self {
        Self {
            b: out.builder(&OpenaiResponses),
            is_document,
            prints: Vec::new(),
            step: None,
            response: None,
            is_itemised: false,
        }
    }

    fn document(
        &mut self,
        record: &Record<'_>,
        value: Value<'_>,
        document: &ResponsesDocument<'_>,
    ) {
        conversation::describe(&mut self.b, record, value);
        if let Some(text) = document.instructions.filter(|_| self.b.is_empty()) {
            self.b.context(Some(record.payload(text)), None, record.at_value(text));
        }
        match document.input {
            Some(text) if text.is_string() => {
                self.step = None;
                self.b.user(Some(record.payload(text)), None, record.at_value(text));
            }
            Some(items) => items.items().for_each(|item| self.item(record, item, None)),
            None => {}
        }
        if let Some(response) = document.response {
            self.response(record, response, true);
        }
    }

    /// Reads a trace of the Open Responses format, and its row.
    fn trace(&mut self, record: &Record<'_>, row: Value<'_>, trace: Value<'_>, items: Value<'_>) {
        let ids = ["id", "sample_id", "key"];
        self.b.run.id = ids.iter().find_map(|key| record.label(row.get(key)?));
        conversation::describe(&mut self.b, record, row);
        if row.raw() != trace.raw() {
            self.b.run.stated.row = Some(record.payload(row));
        }
        items.items().for_each(|item| self.item(record, item, None));
    }

    /// Reads a response object; its items are skipped if the stream provided them.
    fn response(&mut self, record: &Record<'_>, response: Value<'_>, with_items: bool) {
        let time = conversation::stated_time(response);
        let id = record.text_at(response, "id");
        self.response = id.as_ref().map(|id| id.get().into_owned());
        let step = self.b.step(id, time, record.at_value(response));
        self.step = Some(step);
        let this = &mut self.b.run.steps[step as usize];
        this.model = this.model.take().or_else(|| record.text_at(response, "model"));
        let usage = response.get("usage").and_then(chat_message::usage);
        if let (Some(usage), None) = (usage, this.usage) {
            this.usage = Some(usage);
            self.b.add_usage(usage);
        }
        if self.b.run.tools.is_none() {
            let tools = response.get("tools");
            self.b.run.tools = tools.and_then(|t| super::shared::tool_definitions::read(record, t));
        }
        if with_items {
            for item in response.items_at("output") {
                self.step = Some(step);
                self.item(record, item, time);
            }
        }
        if let Some(error) = response.get("error") {
            let at = record.at_value(error);
            self.b.event(EventKind::Error, Some(record.payload(error)), Some(step), time, at);
        }
        if let Some(status) = record.text_at(response, "status") {
            self.b.run.outcome = Some(status);
        }
        self.step = None;
    }

    fn event(&mut self, record: &Record<'_>, event: Value<'_>) {
        let kind = event.word("type");
        match (kind, event.get("response"), event.get("item")) {
            ("response.created", Some(response), _) => {
                self.is_itemised = false;
                let time = conversation::stated_time(response);
                let id = record.text_at(response, "id");
                self.step = Some(self.b.step(id, time, record.at_value(response)));
            }
            ("response.completed" | "response.incomplete" | "response.failed", Some(r), _) => {
                self.response(record, r, !self.is_itemised);
            }
            ("response.output_item.done", _, Some(item)) => {
                self.is_itemised = true;
                self.item(record, item, None);
            }
            _ => {
                let kind = EventKind::Note(Text::owned(kind));
                self.b.event(kind, None, self.step, None, record.at());
            }
        }
    }

    fn item(&mut self, record: &Record<'_>, item: Value<'_>, time: Option<Timestamp>) {
        let place = ItemContext { at: record.at_value(item), time };
        let kind = item.get("type").and_then(Value::inner).unwrap_or("message");
        match kind {
            "message" => self.message(record, item, place),
            "reasoning" => {
                let has_text = |v: &Value<'_>| v.items().next().is_some();
                let text = item.get("summary").filter(has_text);
                let text = item.get("content").filter(has_text).or(text);
                let step = self.current_step(&place);
                self.b.reasoning(step, text.map(|t| record.payload(t)), time, place.at);
            }
            "compaction" | "compaction_summary" => {
                self.b.event(
                    EventKind::Compaction,
                    Some(record.payload(item)),
                    None,
                    time,
                    place.at,
                );
            }
            "mcp_list_tools" | "item_reference" => {
                let note = EventKind::Note(Text::owned(kind));
                self.b.event(note, Some(record.payload(item)), None, time, place.at);
            }
            "mcp_approval_request" => {
                self.call(record, item, kind, place);
            }
            "mcp_approval_response" => self.approval(record, item, place),
            "mcp_call" => self.mcp_call(record, item, place),
            "web_search_call"
            | "file_search_call"
            | "code_interpreter_call"
            | "image_generation_call" => {
                let call = self.call(record, item, kind, place);
                self.own_result(record, item, call);
            }
            _ if kind.ends_with("_call_output") => self.output(record, item, kind, place),
            _ if kind.ends_with("_call") && item.get("call_id").is_some() => {
                self.call(record, item, kind, place);
            }
            other => {
                let unknown = EventKind::Unknown(Text::owned(other));
                self.b.event(unknown, Some(record.payload(item)), self.step, time, place.at);
            }
        }
    }

    fn current_step(&mut self, place: &ItemContext) -> u32 {
        match self.step {
            Some(step) => step,
            None => {
                let step = self.b.step(None, place.time, place.at.clone());
                self.step = Some(step);
                step
            }
        }
    }

    fn message(&mut self, record: &Record<'_>, item: Value<'_>, place: ItemContext) {
        let content = item.get("content");
        let text = content.map(|c| record.payload(c));
        let role = item.word("role");
        if role == "assistant" {
            let step = self.current_step(&place);
            if let Some(text) = text {
                self.b.message(step, text, place.time, place.at);
            }
            return;
        }
        self.step = None;
        match role {
            "user" => self.b.user(text, place.time, place.at),
            "system" | "developer" => self.b.context(text, place.time, place.at),
            other => self.b.unknown(format!("role/{other}"), place.at),
        }
    }

    fn call(
        &mut self,
        record: &Record<'_>,
        item: Value<'_>,
        kind: &str,
        place: ItemContext,
    ) -> u32 {
        let step = self.current_step(&place);
        let id = record.text_at(item, "call_id").or_else(|| record.text_at(item, "id"));
        let call = self.b.call(NewCall {
            id,
            name: name(record, item, kind),
            args: arguments(record, item),
            step: Some(step),
            time: place.time,
            at: place.at,
        });
        if item.get("call_id").is_none() {
            self.b.run.calls[call as usize].actor = Actor::Provider;
        }
        call
    }

    fn output(&mut self, record: &Record<'_>, item: Value<'_>, kind: &str, place: ItemContext) {
        self.step = None;
        let output = item.get("output");
        let payload = output.map(|o| record.payload(o));
        let first = output.and_then(|o| o.items().next());
        let code = first.and_then(|o| o.at(&["outcome", "exit_code"])?.as_i64());
        let mut answer = ReaderResult::new(payload, place.at).time(place.time);
        answer = match item.get("status").and_then(Value::inner) {
            Some("failed") => answer.protocol(true),
            Some("incomplete") => answer.status(Status::Interrupted, StatusLevel::Protocol),
            // Elsewhere it says that the item is complete, not that all went well.
            Some("completed") if kind == "apply_patch_call_output" => answer.protocol(false),
            _ => answer,
        };
        let answer = answer.exit_code(code);
        let id = item.get("call_id").or_else(|| item.get("id"));
        self.b.answer(id.and_then(Value::str).as_deref(), answer);
    }

    /// Reads the person's answer to a request: a refusal ends the call.
    fn approval(&mut self, record: &Record<'_>, item: Value<'_>, place: ItemContext) {
        self.step = None;
        let id = item.get("approval_request_id").and_then(Value::str);
        let is_refused = item.get("approve").and_then(Value::as_bool) == Some(false);
        if let (Some(id), true) = (id, is_refused) {
            let answer = ReaderResult::new(record.payload_at(item, "reason"), place.at)
                .status(Status::Denied, StatusLevel::Denial);
            self.b.answer(&*id, answer);
        } else {
            let note = EventKind::Note(Text::owned("mcp_approval_response"));
            self.b.event(note, Some(record.payload(item)), None, place.time, place.at);
        }
    }

    fn mcp_call(&mut self, record: &Record<'_>, item: Value<'_>, place: ItemContext) {
        let asked = item.get("approval_request_id").and_then(Value::str);
        let call = match asked.and_then(|id| self.b.find(&id)) {
            Some(call) => call,
            None => self.call(record, item, "mcp_call", place),
        };
        self.own_result(record, item, call);
    }

    /// Reads the result inside the item of a provider's tool.
    fn own_result(&mut self, record: &Record<'_>, item: Value<'_>, call: u32) {
        let status = item.get("status").and_then(Value::inner);
        let error = item.get("error");
        let result = ["output", "results", "outputs", "result"].iter().find_map(|k| item.get(k));
        if matches!(status, Some("in_progress" | "searching" | "calling" | "interpreting"))
            && result.or(error).is_none()
        {
            return;
        }
        let payload: Option<Payload> = error.or(result).map(|r| record.payload(r));
        let answer = ReaderResult::new(payload, record.at_value(item));
        let answer = match (error, status) {
            (Some(_), _) | (None, Some("failed")) => answer.protocol(true),
            (None, Some("incomplete")) => answer.status(Status::Interrupted, StatusLevel::Protocol),
            (None, Some("completed")) => answer.protocol(false),
            // An MCP call has an error exactly when it failed.
            _ if item.has("error") => answer.protocol(false),
            _ => answer,
        };
        self.b.answer_call(call, answer);
    }
}

/// Returns the tool of a call: its name, or otherwise the type of tool of the item.
fn name(record: &Record<'_>, item: Value<'_>, kind: &str) -> ToolName {
    let tool = || Text::owned(kind.strip_suffix("_call").unwrap_or(kind));
    let original = record.text_at(item, "name").unwrap_or_else(tool);
    let server = item.get("server_label").and_then(Value::str);
    let namespace = match server {
        Some(server) => Some(Text::owned(format!("mcp__{server}__"))),
        None => record.text_at(item, "namespace"),
    };
    ToolName { original, namespace }
}

fn arguments(record: &Record<'_>, item: Value<'_>) -> Option<Payload> {
    const KEYS: [&str; 8] =
        ["arguments", "input", "action", "actions", "operation", "queries", "code", "query"];
    KEYS.iter().find_map(|key| record.payload_at(item, key))
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, read_text, sketch};

    fn sketched(text: &str) -> String {
        let read = read_text(text);
        assert_eq!(read.format, "openai-responses");
        read.runs.iter().map(sketch).collect::<Vec<_>>().join("--\n")
    }

    #[test]
    fn items() {
        assert_eq!(
            sketched(
                r#"{"role":"user","content":"go"}
{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"hm"}]}
{"type":"function_call","id":"fc_1","call_id":"a","name":"ls","arguments":"{}"}
{"type":"custom_tool_call","call_id":"b","name":"patch","input":"*** Begin"}
{"type":"shell_call","call_id":"c","action":{"commands":["false"]}}
{"type":"function_call_output","call_id":"a","output":"x"}
{"type":"shell_call_output","call_id":"c","output":[{"stdout":"","outcome":{"type":"exit","exit_code":1}}]}
{"type":"function_call_output","call_id":"z","output":"lost"}
{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}
{"type":"hologram"}
"#
            ),
            "user: go\n\
             0 reasoning: hm\n\
             0 call ls {} -> unknown(absent): x\n\
             0 call patch *** Begin -> unanswered(absent): \n\
             0 call shell {\"commands\":[\"false\"]} -> failed(exitcode) exit 1: [{\"stdout\":\"\",\"outcome\":{\"type\":\"exit\",\"exit_code\":1}}]\n\
             orphanresult: lost\n\
             1 message: done\n\
             unknown hologram\n"
        );
    }

    #[test]
    fn a_response_with_tools_of_the_provider() {
        let read = read_fixture("openai-responses.json");
        assert_eq!(read.format, "openai-responses");
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "context: be good\n\
             0 call web_search {\"type\":\"search\",\"query\":\"q\"} -> succeeded(protocol): \n\
             0 call mcp__wiki__ask {} -> failed(protocol): boom\n\
             0 call mcp__db__drop {} -> denied(denial): no\n\
             0 message: ok\n"
        );
        assert_eq!(run.usage.unwrap().recorded.cache_read, 4);
        assert_eq!(run.tools.as_ref().unwrap()[0].name, "web_search");
        assert_eq!(run.steps.len(), 1);
    }

    #[test]
    fn responses_that_follow_each_other_are_one_run() {
        let text = r#"{"request":{"model":"m","input":"go"},"response":{"id":"r1","object":"response","output":[{"type":"function_call","call_id":"a","name":"ls","arguments":"{}"}],"usage":{"input_tokens":1,"output_tokens":1}}}
{"request":{"model":"m","previous_response_id":"r1","input":[{"type":"function_call_output","call_id":"a","output":"x"}]},"response":{"id":"r2","object":"response","output":[],"usage":{"input_tokens":2,"output_tokens":1}}}
{"request":{"model":"m","input":"other"},"response":{"id":"r3","object":"response","output":[]}}
"#;
        assert_eq!(
            sketched(text),
            "user: go\n0 call ls {} -> unknown(absent): x\n--\nuser: other\n"
        );
        assert_eq!(read_text(text).runs[0].usage.unwrap().recorded.input, 3);
    }

    #[test]
    fn a_stream() {
        assert_eq!(
            sketched(
                r#"{"type":"response.created","sequence_number":0,"response":{"id":"r","object":"response","output":[]}}
{"type":"response.function_call_arguments.delta","sequence_number":1,"delta":"{"}
{"type":"response.output_item.done","sequence_number":2,"item":{"type":"function_call","call_id":"a","name":"ls","arguments":"{}"}}
{"type":"response.completed","sequence_number":3,"response":{"id":"r","object":"response","status":"completed","output":[{"type":"function_call","call_id":"a","name":"ls","arguments":"{}"}]}}
"#
            ),
            "note response.function_call_arguments.delta\n0 call ls {} -> unanswered(absent): \n"
        );
    }

    #[test]
    fn open_responses_traces() {
        let trace = r#"{"FORMAT":"open_responses","items":[{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]},{"type":"function_call","call_id":"a","name":"ls","arguments":"not json"},{"type":"function_call_output","call_id":"a","output":"x"}],"children":[{"items":[{"type":"function_call","call_id":"b","name":"rm","arguments":"{}"}]}]}"#;
        let sketch = "user: go\n0 call ls not json -> unknown(absent): x\n";
        assert_eq!(sketched(trace), sketch);
        let rows = format!(
            "{{\"id\":\"s1\",\"trace\":{trace}}}\n{{\"sample_id\":\"s2\",\"trace\":{trace}}}\n"
        );
        assert_eq!(sketched(&rows), [sketch, sketch].join("--\n"));
        let runs = read_text(&rows).runs;
        let ids: Vec<_> = runs.iter().map(|run| run.id.as_ref().unwrap().get()).collect();
        assert_eq!(ids, ["s1", "s2"]);
        assert!(runs[0].stated.row.is_some());
        let args = runs[0].calls[0].args.as_ref().unwrap();
        assert_eq!((args.raw().as_ref(), args.parsed()), ("not json", None));
    }

    #[test]
    fn wrong_types_lose_nothing_else() {
        assert_eq!(
            sketched(
                r#"[{"type":"function_call","call_id":5,"name":{},"arguments":{"a":1}},{"type":"message","role":9},{"type":"function_call_output","call_id":[],"output":{}}]"#
            ),
            "0 call function {\"a\":1} -> unanswered(absent): \nunknown role/\norphanresult: {}\n"
        );
    }
}
