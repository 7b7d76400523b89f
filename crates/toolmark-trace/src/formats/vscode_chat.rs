//! VS Code chat sessions: "Export Chat" files and the files of `chatSessions`.
//!
//! A session is a list of requests. The displayed part of an answer is in `response`; the
//! model's calls and their results are in `result.metadata` (`toolCallRounds`, one per model
//! response, and `toolCallResults` by call ID). Participants other than Copilot write no
//! metadata: then only the parts of the response are available, and the grouping into model
//! responses can only be guessed from their order.
//!
//! Newer builds write a log of mutations instead: the first line holds the session, and every
//! other line sets, appends or deletes something in it. The log is replayed into the session
//! it describes; positions in such a session refer to the replayed document.

use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{
    Block, Convention, EventKind, Fact, Fidelity, Payload, Status, StatusLevel, Text, ToolName,
    Trajectory, Usage, UsageTokens, time,
};
use jiff::Timestamp;
use serde_json::Value as Json;
use std::collections::HashMap;
use std::sync::Arc;
use toolmark_scan::{Scanner, Shared, Value};

/// VS Code chat sessions.
pub(crate) struct VscodeChat;

static INFO: FormatInfo = FormatInfo {
    id: "vscode-chat",
    title: "VS Code chat session",
    origin: "VS Code: Export Chat, workspaceStorage/<id>/chatSessions/*.json and *.jsonl",
    versions: "session versions 1 to 3, mutation logs",
    looks_for: "an object with requests and responderUsername, or a log that starts with one",
    fidelity: Fidelity::lacking(&[Fact::Cost, Fact::ToolDefinitions, Fact::WorkingDirectory]),
};

impl Format for VscodeChat {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let is_session = |r: Value<'_>| {
            let Some(requests) = r.get("requests").filter(|r| r.is_array()) else { return false };
            r.get("responderUsername").is_some()
                || r.get("requesterUsername").is_some()
                || (r.get("sessionId").is_some() && r.get("creationDate").is_some())
                || requests.items().any(|q| q.get("requestId").is_some() && q.has("response"))
        };
        let is_log = |r: Value<'_>| {
            r.get("kind").and_then(Value::as_i64) == Some(0) && r.get("v").is_some_and(is_session)
        };
        if probe.any(|r| is_session(r) || is_log(r)) { 100 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<ChatReader>::default()
    }
}

#[derive(Default)]
struct ChatReader {
    /// Current state of the session of a mutation log.
    replayed: Option<Json>,
}

impl Reader for ChatReader {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        let Some(value) = out.object(record, "a chat session") else { return };
        match value.get("kind").and_then(Value::as_i64) {
            Some(kind) if value.get("requests").is_none() => {
                if let Err(problem) = self.mutate(kind, value) {
                    out.skip(&record.at(), problem);
                }
            }
            _ => {
                let run = session(record, value, out);
                out.push(run);
            }
        }
    }

    fn finish(&mut self, out: &mut Out) {
        let Some(state) = self.replayed.take() else { return };
        let block = Block::new(state.to_string(), 0, 0, 0, Arc::clone(&out.file));
        let block = Shared::new(block);
        let mut scanner = Scanner::new();
        let Ok(doc) = scanner.parse(&block.text) else { return };
        let value = doc.root();
        let record =
            Record { value: Some(value), binary: &[], block: &block, offset: 0, entry: None };
        let run = session(&record, value, out);
        out.push(run);
    }
}

impl ChatReader {
    /// Applies one line of a mutation log.
    fn mutate(&mut self, kind: i64, line: Value<'_>) -> Result<(), &'static str> {
        /// Maximum path length, longer than any path of a session; keeps the replayed value
        /// shallow.
        const MAX_PATH: usize = 32;
        let parsed = match line.get("v") {
            Some(v) => Some(serde_json::from_str(v.raw()).map_err(|_| "value is nested too deep")?),
            None => None,
        };
        if kind == 0 {
            self.replayed = parsed;
            return Ok(());
        }
        let state = self.replayed.as_mut().ok_or("change before the first session")?;
        let path: Vec<Value<'_>> = line.items_at("k").collect();
        if path.len() > MAX_PATH {
            return Err("path is too long");
        }
        let Some((last, parents)) = path.split_last() else {
            return Err("change without a path");
        };
        let mut target = state;
        for key in parents {
            target = step_into(target, *key).ok_or("change to a value that does not exist")?;
        }
        match kind {
            1 => set(target, *last, parsed.unwrap_or(Json::Null)),
            2 => push(target, *last, parsed, line.get("i").and_then(Value::as_u64)),
            3 => delete(target, *last),
            _ => Err("an unknown kind of change"),
        }
    }
}

fn step_into<'j>(target: &'j mut Json, key: Value<'_>) -> Option<&'j mut Json> {
    match target {
        Json::Object(map) => map.get_mut(&*key.str()?),
        Json::Array(list) => list.get_mut(usize::try_from(key.as_u64()?).ok()?),
        _ => None,
    }
}

fn set(target: &mut Json, key: Value<'_>, value: Json) -> Result<(), &'static str> {
    match (target, key.str(), key.as_u64()) {
        (Json::Object(map), Some(key), _) => {
            map.insert(key.into_owned(), value);
        }
        (Json::Array(list), _, Some(index)) if index < list.len() as u64 => {
            list[index as usize] = value;
        }
        (Json::Array(list), _, Some(index)) if index == list.len() as u64 => list.push(value),
        _ => return Err("change to a value that does not exist"),
    }
    Ok(())
}

/// Truncates a list to `from` elements, then appends to it.
fn push(
    target: &mut Json,
    key: Value<'_>,
    values: Option<Json>,
    from: Option<u64>,
) -> Result<(), &'static str> {
    if step_into(target, key).is_none_or(|t| !t.is_array()) {
        set(target, key, Json::Array(Vec::new()))?;
    }
    let Some(Json::Array(list)) = step_into(target, key) else {
        return Err("change to a value that does not exist");
    };
    if let Some(from) = from.and_then(|n| usize::try_from(n).ok()) {
        list.truncate(from);
    }
    match values {
        Some(Json::Array(values)) => list.extend(values),
        Some(value) => list.push(value),
        None => {}
    }
    Ok(())
}

fn delete(target: &mut Json, key: Value<'_>) -> Result<(), &'static str> {
    match (target, key.str()) {
        (Json::Object(map), Some(key)) => {
            map.remove(&*key);
            Ok(())
        }
        (target, _) => set(target, key, Json::Null),
    }
}

/// Reads a whole session.
fn session(record: &Record<'_>, value: Value<'_>, out: &Out) -> Trajectory {
    let mut b = out.builder(&VscodeChat);
    let mut requests = None;
    for (key, value) in value.fields() {
        match key.inner().unwrap_or("") {
            "sessionId" => b.run.id = record.text(value),
            "customTitle" | "computedTitle" => {
                b.run.name = b.run.name.take().or_else(|| record.text(value));
            }
            "responderUsername" => b.run.agent.name = record.text(value),
            "creationDate" => b.seen(time::from_value(value)),
            "requests" => requests = Some(value),
            _ => {}
        }
    }
    for item in requests.into_iter().flat_map(Value::items) {
        if item.is_object() {
            request(&mut b, record, item);
        } else {
            b.unknown("request", record.at_value(item));
        }
    }
    b.finish()
}

/// The relevant members of a request.
#[derive(Default)]
struct ChatRequest<'a> {
    message: Option<Value<'a>>,
    response: Option<Value<'a>>,
    result: Option<Value<'a>>,
    model: Option<Text>,
    time: Option<Timestamp>,
    is_canceled: bool,
    error: Option<Value<'a>>,
}

/// Reads one user message and its response.
fn request(b: &mut TrajectoryBuilder, record: &Record<'_>, value: Value<'_>) {
    let mut request = ChatRequest::default();
    for (key, value) in value.fields() {
        match key.inner().unwrap_or("") {
            "message" => request.message = Some(value),
            "response" => request.response = Some(value),
            "result" => request.result = Some(value),
            "modelId" => request.model = record.text(value),
            "timestamp" => request.time = time::from_value(value),
            "isCanceled" => request.is_canceled = value.as_bool() == Some(true),
            "responseErrorDetails" => request.error = Some(value).filter(|e| !e.is_null()),
            _ => {}
        }
    }
    let at = record.at_value(value);
    let text = request.message.map(|m| record.payload(m.get("text").unwrap_or(m)));
    b.user(text, request.time, at.clone());

    let metadata = request.result.and_then(|r| r.get("metadata"));
    let before = b.run.steps.len();
    let rounds = metadata.and_then(|m| m.get("toolCallRounds")).filter(|r| r.items().count() > 0);
    match rounds {
        Some(rounds) => {
            let results = metadata.and_then(|m| m.get("toolCallResults"));
            read_rounds(b, record, rounds, results, request.time);
            let is_final = rounds.items().last().is_some_and(|r| calls_of(r).next().is_none());
            DisplayedParts::new(record, request.time, Some(is_final)).read(b, request.response);
        }
        None => DisplayedParts::new(record, request.time, None).read(b, request.response),
    }
    for step in b.run.steps.iter_mut().skip(before) {
        if step.model.is_none() {
            step.model.clone_from(&request.model);
        }
    }
    if let Some(usage) = usage(value, request.result, metadata) {
        b.add_usage(usage);
    }
    close(b, record, &request);
}

/// Reads the outcome of a request.
fn close(b: &mut TrajectoryBuilder, record: &Record<'_>, request: &ChatRequest<'_>) {
    let elapsed = request.result.and_then(|r| r.at(&["timings", "totalElapsed"]));
    let elapsed = elapsed.and_then(Value::as_f64).and_then(time::millis);
    let end = request.time.zip(elapsed).and_then(|(t, e)| t.checked_add(e).ok());
    b.seen(end);
    let error = request.result.and_then(|r| r.get("errorDetails")).or(request.error);
    if let Some(error) = error {
        let text = record.payload(error.get("message").unwrap_or(error));
        b.event(EventKind::Error, Some(text), None, end, record.at_value(error));
    }
    b.run.outcome = request.is_canceled.then(|| Text::owned("canceled"));
}

fn calls_of(round: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    round.items_at("toolCalls")
}

/// Reads the text and calls of each model response.
fn read_rounds(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    rounds: Value<'_>,
    results: Option<Value<'_>>,
    time: Option<Timestamp>,
) {
    let mut results: HashMap<&str, Value<'_>> = results
        .into_iter()
        .flat_map(Value::fields)
        .filter_map(|(id, result)| Some((id.inner()?, result)))
        .collect();
    for round in rounds.items() {
        let at = record.at_value(round);
        let stated = round.get("timestamp").and_then(time::from_value);
        let step = b.step(None, stated.or(time), at.clone());
        let this = &mut b.run.steps[step as usize];
        this.id = record.text_at(round, "id");
        this.model = record.text_at(round, "modelId");
        let thinking = round.get("thinking").map(|t| t.get("text").unwrap_or(t));
        if let Some(thinking) = thinking.filter(|t| !is_blank(*t)) {
            b.reasoning(step, Some(record.payload(thinking)), stated, record.at_value(thinking));
        }
        if let Some(words) = round.get("response").filter(|w| !is_blank(*w)) {
            b.message(step, record.payload(words), stated, record.at_value(words));
        }
        for call in calls_of(round) {
            let id = call.get("id");
            let index = b.call(NewCall {
                id: id.and_then(|i| record.text(i)),
                name: ToolName::or_empty(record.text_at(call, "name")),
                args: record.payload_at(call, "arguments"),
                step: Some(step),
                time: stated,
                at: record.at_value(call),
            });
            if let Some(result) = id.and_then(Value::inner).and_then(|id| results.remove(id)) {
                b.answer_call(index, answer(record, result));
            }
        }
    }
    // In the order of the document, not of the map.
    let mut left: Vec<Value<'_>> = results.into_values().collect();
    left.sort_by_key(|r| r.span().0);
    for result in left {
        b.orphan(answer(record, result));
    }
}

fn answer(record: &Record<'_>, result: Value<'_>) -> ReaderResult {
    let payload = result.get("content").unwrap_or(result);
    ReaderResult::new(Some(record.payload(payload)), record.at_value(result))
}

fn is_blank(text: Value<'_>) -> bool {
    text.inner().is_some_and(|t| t.trim().is_empty())
}

/// Reader of the displayed parts of a response.
struct DisplayedParts<'r> {
    record: &'r Record<'r>,
    time: Option<Timestamp>,
    /// Whether the rounds contain the last text; `None` if there are no rounds.
    rounds: Option<bool>,
    /// Response to which text and calls are added, and whether it has calls.
    open: Option<(u32, bool)>,
}

impl<'r> DisplayedParts<'r> {
    fn new(record: &'r Record<'r>, time: Option<Timestamp>, rounds: Option<bool>) -> Self {
        Self { record, time, rounds, open: None }
    }

    fn read(mut self, b: &mut TrajectoryBuilder, response: Option<Value<'_>>) {
        let parts: Vec<Value<'_>> = response.into_iter().flat_map(Value::items).collect();
        let last_tool = parts.iter().rposition(|p| is_tool(*p));
        for (index, part) in parts.iter().copied().enumerate() {
            // Rounds have the words already, unless the answer came after them.
            let has_words = match self.rounds {
                None => true,
                Some(is_final) => !is_final && last_tool.is_some_and(|tool| index > tool),
            };
            self.part(b, part, has_words);
        }
    }

    fn part(&mut self, b: &mut TrajectoryBuilder, part: Value<'_>, has_words: bool) {
        let record = self.record;
        let at = record.at_value(part);
        let kind = part.get("kind").and_then(Value::inner);
        let words = match kind {
            None if part.is_string() => Some(part),
            None => part.get("value"),
            Some("markdownContent" | "markdownVuln") => {
                part.get("content").map(|c| c.get("value").unwrap_or(c))
            }
            Some("thinking") => part.get("value"),
            Some(_) => None,
        };
        match (kind, words) {
            (Some("toolInvocationSerialized" | "toolInvocation"), _) => self.tool(b, part),
            (_, Some(words)) => {
                if !has_words || is_blank(words) {
                    return;
                }
                let step = self.step(b, part);
                let text = record.payload(words);
                if kind == Some("thinking") {
                    b.reasoning(step, Some(text), self.time, at);
                } else {
                    b.message(step, text, self.time, at);
                }
            }
            (Some("errorDetails" | "warning"), _) => {
                let text = part.get("content").or_else(|| part.get("message"));
                b.event(EventKind::Error, text.map(|t| record.payload(t)), None, self.time, at);
            }
            (Some(kind), _) if is_note(kind) => {
                b.event(EventKind::Note(Text::owned(kind)), None, None, self.time, at);
            }
            (kind, _) => b.unknown(format!("response/{}", kind.unwrap_or("")), at),
        }
    }

    /// Returns the current response. Text after a call opens the next one.
    fn step(&mut self, b: &mut TrajectoryBuilder, part: Value<'_>) -> u32 {
        match self.open {
            Some((step, false)) => step,
            _ => {
                let step = b.step(None, self.time, self.record.at_value(part));
                self.open = Some((step, false));
                step
            }
        }
    }

    fn tool(&mut self, b: &mut TrajectoryBuilder, part: Value<'_>) {
        let record = self.record;
        let id = part.get("toolCallId");
        let sub_agent = part.get("subAgentInvocationId").and_then(|s| record.text(s));
        if let Some(index) = id.and_then(Value::str).and_then(|id| b.find(&id)) {
            self.enrich(b, index, part);
            return;
        }
        if self.rounds.is_some() && sub_agent.is_none() {
            // Shown under an id of its own: the rounds know the call by another one.
            let kind = EventKind::Note(Text::owned("toolInvocation"));
            b.event(kind, None, None, self.time, record.at_value(part));
            return;
        }
        let step = match self.open {
            _ if sub_agent.is_some() => None,
            Some((step, _)) => Some(step),
            None => Some(self.step(b, part)),
        };
        if let Some(step) = step {
            self.open = Some((step, true));
            b.run.fidelity.lose(Fact::Parallel);
        }
        let name = record.text_at(part, "toolId");
        let index = b.call(NewCall {
            id: id.and_then(|i| record.text(i)),
            name: ToolName::or_empty(name),
            args: shown_arguments(record, part),
            step,
            time: self.time,
            at: record.at_value(part),
        });
        b.run.calls[index as usize].agent = sub_agent;
        self.enrich(b, index, part);
    }

    /// Adds the outcome of a call from its part.
    fn enrich(&self, b: &mut TrajectoryBuilder, index: u32, part: Value<'_>) {
        let record = self.record;
        let details = part.get("resultDetails").filter(|d| !d.is_null());
        let is_error = details.and_then(|d| d.get("isError")).and_then(Value::as_bool);
        let is_complete = part.is_true("isComplete");
        let status = if is_refused(part) {
            Some((Status::Denied, StatusLevel::Denial))
        } else {
            is_error.map(|failed| {
                (if failed { Status::Failed } else { Status::Succeeded }, StatusLevel::Protocol)
            })
        };
        let call = &b.run.calls[index as usize];
        if call.result.is_none() && (is_complete || details.is_some()) {
            let output = details.map(|d| d.get("output").unwrap_or(d));
            let payload = output.map(|o| record.payload(o));
            b.answer_call(index, ReaderResult::new(payload, record.at_value(part)));
        }
        let exit = part.at(&["toolSpecificData", "terminalCommandState", "exitCode"]);
        let call = &mut b.run.calls[index as usize];
        call.exit_code = exit.and_then(Value::as_i64).or(call.exit_code);
        if let Some((status, level)) = status {
            call.status = status;
            call.level = level;
        } else if let (Some(code), StatusLevel::Absent) = (call.exit_code, call.level) {
            call.status = if code == 0 { Status::Succeeded } else { Status::Failed };
            call.level = StatusLevel::ExitCode;
        }
    }
}

fn is_tool(part: Value<'_>) -> bool {
    part.get("kind").and_then(Value::inner).is_some_and(|k| k.starts_with("toolInvocation"))
}

/// Returns whether a person refused the call: `false`, or a reason of the kinds "denied" and
/// "skipped".
fn is_refused(part: Value<'_>) -> bool {
    const DENIED: i64 = 0;
    const SKIPPED: i64 = 5;
    let Some(confirmed) = part.get("isConfirmed") else { return false };
    confirmed.as_bool() == Some(false)
        || matches!(confirmed.get("type").and_then(Value::as_i64), Some(DENIED | SKIPPED))
}

/// Returns the displayed arguments: raw input, or a command.
fn shown_arguments(record: &Record<'_>, part: Value<'_>) -> Option<Payload> {
    let data = part.get("toolSpecificData");
    let shown = data.and_then(|d| d.get("rawInput").or_else(|| d.get("commandLine")));
    let input = part.at(&["resultDetails", "input"]);
    shown.or(input).map(|s| record.payload(s))
}

/// Reads the tokens of a request, under any of their names.
fn usage(
    request: Value<'_>,
    result: Option<Value<'_>>,
    metadata: Option<Value<'_>>,
) -> Option<Usage> {
    let places = [
        result.and_then(|r| r.get("usage")),
        metadata.and_then(|m| m.get("usage")),
        metadata,
        request.get("usage"),
        Some(request),
    ];
    let count = |place: Value<'_>, keys: [&str; 3]| {
        keys.iter().find_map(|key| place.get(key).and_then(Value::as_u64))
    };
    places.into_iter().flatten().find_map(|place| {
        let output = ["completionTokens", "outputTokens", "completion_tokens"];
        let tokens = UsageTokens {
            input: count(place, ["promptTokens", "inputTokens", "prompt_tokens"])?,
            output: count(place, output).unwrap_or(0),
            ..UsageTokens::default()
        };
        Some(Usage::new(tokens, Convention::INCLUSIVE))
    })
}

/// Returns whether a part of a response only concerns its display.
#[rustfmt::skip]
fn is_note(kind: &str) -> bool {
    matches!(
        kind,
        "textEditGroup" | "textEdit" | "notebookEditGroup" | "notebookEdit" | "workspaceEdit"
        | "inlineReference" | "reference" | "contentReference" | "codeCitation" | "codeblockUri"
        | "progressMessage" | "progressTask" | "progressTaskSerialized" | "prepareToolInvocation"
        | "mcpServersStarting" | "mcpServersStartingSerialized" | "mcpServersInteractionRequired"
        | "undoStop" | "confirmation" | "command" | "elicitation" | "elicitation2"
        | "elicitationSerialized" | "extensions" | "pullRequest" | "multiDiffData" | "treeData"
        | "move" | "clearToPreviousToolInvocation" | "questionCarousel" | "hook" | "markdownEdit"
        | "disabledClaudeHooks" | "usage" | "info" | "externalEdit" | "planReview"
    )
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_text, sketch};

    const ROUNDS: &str = r#"{"requesterUsername":"u","responderUsername":"GitHub Copilot","sessionId":"s","requests":[
 {"requestId":"r1","timestamp":1767225600000,"modelId":"copilot/m","message":{"text":"do it","parts":[]},
  "response":[{"value":"shown"},{"kind":"toolInvocationSerialized","toolCallId":"c2","toolId":"copilot_run","isConfirmed":{"type":0},"isComplete":true},{"kind":"textEditGroup"},{"kind":"hologram"}],
  "result":{"timings":{"totalElapsed":1500},"metadata":{"promptTokens":30,"outputTokens":4,
   "toolCallRounds":[{"id":"x","response":"first","toolCalls":[{"id":"c1","name":"read","arguments":"{\"f\":1}"},{"id":"c2","name":"run","arguments":"{}"}]},{"response":"second","toolCalls":[]}],
   "toolCallResults":{"c1":{"content":[{"value":"A"}]},"c9":{"content":"?"}}}}},
 {"requestId":"r2","message":"again","response":7,"isCanceled":true,"result":{"errorDetails":{"message":"stopped"}}},
 "odd"]}"#;

    #[test]
    fn rounds_hold_the_calls() {
        let read = read_text(ROUNDS);
        assert_eq!(read.format, "vscode-chat");
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: do it\n\
             0 message: first\n\
             0 call read {\"f\":1} -> unknown(absent): [{\"value\":\"A\"}]\n\
             0 call run {} -> denied(denial): \n\
             1 message: second\n\
             orphanresult: ?\n\
             note textEditGroup\n\
             unknown response/hologram\n\
             user: again\n\
             error: stopped\n\
             unknown request\n"
        );
        assert_eq!(run.usage.unwrap().total(), 34);
        assert_eq!(run.steps[1].model.as_ref().unwrap(), "copilot/m");
        assert_eq!(run.outcome.as_ref().unwrap(), "canceled");
    }

    #[test]
    fn without_rounds_the_parts_tell() {
        let read = read_text(
            r#"{"requests":[{"requestId":"r","message":{"text":"go"},"response":[{"value":"a"},{"kind":"toolInvocationSerialized","toolId":"run","toolCallId":"1","isConfirmed":true,"isComplete":true,"toolSpecificData":{"commandLine":"ls","terminalCommandState":{"exitCode":2}}},{"kind":"toolInvocationSerialized","toolId":"mcp","toolCallId":"2","isComplete":true,"resultDetails":{"input":"{}","output":"no","isError":true}},{"kind":"toolInvocationSerialized","toolId":"wait","toolCallId":"3"},{"kind":"thinking","value":"hm"},{"kind":"markdownContent","content":{"value":"b"}}]}]}"#,
        );
        assert_eq!(
            sketch(&read.runs[0]),
            "user: go\n\
             0 message: a\n\
             0 call run ls -> failed(exitcode) exit 2: \n\
             0 call mcp {} -> failed(protocol): no\n\
             0 call wait  -> unanswered(absent): \n\
             1 reasoning: hm\n\
             1 message: b\n"
        );
    }

    #[test]
    fn a_mutation_log_is_replayed() {
        let read = read_text(
            r#"{"kind":0,"v":{"version":3,"sessionId":"s","creationDate":1767225600000,"responderUsername":"x","requests":[]}}
{"kind":2,"k":["requests"],"v":[{"requestId":"r","message":{"text":"go"},"response":[{"value":"draft"}]}]}
{"kind":2,"k":["requests",0,"response"],"i":0,"v":[{"value":"final"}]}
{"kind":1,"k":["customTitle"],"v":"title"}
{"kind":3,"k":["responderUsername"]}
{"kind":1,"k":["requests",5,"x"],"v":1}
{"kind":2,"k":["requests",0,"followups"],"v":[]}
"#,
        );
        assert_eq!((read.format, read.skipped), ("vscode-chat", 1));
        let run = &read.runs[0];
        assert_eq!(sketch(run), "user: go\n0 message: final\n");
        assert_eq!(run.name.as_ref().unwrap(), "title");
        assert!(run.agent.name.is_none());
    }
}
