//! Gemini CLI sessions: one JSON document, or JSON lines since version 0.40.
//!
//! A document holds the header and `messages`. The lines are a log of changes: a header, then
//! messages (a message with a known ID replaces the earlier version; this adds results to
//! calls), `message_update`, `{"$set":{…}}` (header fields, sometimes a completely new list of
//! messages) and `{"$rewindTo":id}`. Messages that were rewound are also part of the run and
//! are kept.
//!
//! A message of type `gemini` is one model response; its `toolCalls` hold call and result
//! together, and their time is that of the result. Tokens are counted per message, input
//! includes the cache, thoughts are not part of the output.

use super::shared::events::{note, set_once, unknown_member, words};
use super::shared::gemini;
use super::shared::pairing::OpenCalls;
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::join::{files_in, missing_sub_agents};
use crate::model::{
    Convention, EventKind, Fact, Fidelity, Parent, Payload, Status, StatusLevel, Text, ToolName,
    Trajectory, Usage, UsageTokens, time,
};
use jiff::Timestamp;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use toolmark_scan::Value;

/// Gemini CLI session files.
pub(crate) struct GeminiCli;

static INFO: FormatInfo = FormatInfo {
    id: "gemini-cli",
    title: "Gemini CLI session",
    origin: "~/.gemini/tmp/<project>/chats/session-*.json and .jsonl",
    versions: "0.1 to 0.61",
    looks_for: "sessionId and projectHash beside messages, or in a first line before them",
    fidelity: Fidelity::lacking(&[Fact::Cost, Fact::ToolDefinitions, Fact::SubAgents]),
};

impl Format for GeminiCli {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let header = |r: Value<'_>| r.get("sessionId").is_some() && r.get("projectHash").is_some();
        let patch = |r: Value<'_>| r.get("$set").is_some() || r.get("$rewindTo").is_some();
        let response = |r: Value<'_>| {
            r.field_is("type", "gemini") && r.get("id").is_some() && r.get("content").is_some()
        };
        if probe.any(header) {
            100
        } else if probe.any(|r| patch(r) || response(r)) {
            70
        } else {
            0
        }
    }

    fn answers_calls(&self) -> bool {
        true
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<GeminiCliReader>::default()
    }

    /// Returns the files of sub-agents: in a folder named after the full ID of their session, or,
    /// in older versions, beside it and named after the start of their own ID.
    fn companions(&self, path: &Path, run: &Trajectory) -> Vec<PathBuf> {
        let Some(directory) = path.parent() else { return Vec::new() };
        let is_session = |name: &str| name.ends_with(".json") || name.ends_with(".jsonl");
        let id = run.id.as_ref().map(ToString::to_string).unwrap_or_default();
        let is_name = |id: &str| !id.is_empty() && !id.contains(['/', '\\', '.']);
        let mut files = match is_name(&id) {
            true => files_in(&directory.join(&id), is_session),
            false => Vec::new(),
        };
        let missing = missing_sub_agents(run);
        if files.is_empty() && !missing.is_empty() {
            let starts: Vec<&str> = missing.iter().filter_map(|id| id.get(..8)).collect();
            files = files_in(directory, |name| {
                let stem = name.split('.').next().unwrap_or("");
                is_session(name) && starts.iter().any(|start| stem.ends_with(start))
            });
        }
        files.retain(|file| file != path);
        files
    }
}

#[derive(Default)]
struct GeminiCliReader {
    session: Option<GeminiCliSession>,
}

/// Reader state of one run, and its known messages.
struct GeminiCliSession {
    b: TrajectoryBuilder,
    open: OpenCalls,
    messages: HashMap<String, EarlierContent>,
}

/// Content read from earlier versions of a message.
#[derive(Default, Clone, Copy)]
struct EarlierContent {
    /// Whether its content has been read.
    said: bool,
    /// Event that holds its text.
    words: Option<usize>,
    thoughts: usize,
}

impl Reader for GeminiCliReader {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        let Some(value) = out.object(record, "a session record") else { return };
        let is_header = value.get("sessionId").is_some() && value.get("projectHash").is_some();
        if is_header && self.is_other_run(value) {
            self.finish(out);
        }
        let session = self.session.get_or_insert_with(|| GeminiCliSession::new(out));
        if is_header {
            session.header(record, value);
        } else if let Some(patch) = value.get("$set") {
            session.header(record, patch);
        } else if value.get("$rewindTo").is_some() {
            note(&mut session.b, "$rewindTo", None, None, record.at());
        } else if value.field_is("type", "message_update") {
            let inner = ["message", "update", "data"].iter().find_map(|k| value.get(k));
            session.message(record, inner.filter(|i| i.is_object()).unwrap_or(value));
        } else {
            session.message(record, value);
        }
    }

    fn finish(&mut self, out: &mut Out) {
        let Some(GeminiCliSession { mut b, .. }) = self.session.take() else { return };
        // A header without any messages says nothing about what was done.
        if b.run.events.is_empty() {
            b.run.fidelity.lose(Fact::Calls);
        }
        b.add_usage_of_steps();
        out.push(b.finish());
    }
}

impl GeminiCliReader {
    fn is_other_run(&self, header: Value<'_>) -> bool {
        let known = self.session.as_ref().and_then(|s| s.b.run.id.as_ref());
        known.is_some_and(|id| !header.get("sessionId").is_some_and(|s| s.is(&id.get())))
    }
}

impl GeminiCliSession {
    fn new(out: &Out) -> Self {
        let mut b = out.builder(&GeminiCli);
        b.run.agent.name = Some(Text::owned("gemini-cli"));
        Self { b, open: OpenCalls::default(), messages: HashMap::new() }
    }

    /// Reads the header, or a later change of it.
    fn header(&mut self, record: &Record<'_>, header: Value<'_>) {
        let b = &mut self.b;
        set_once(&mut b.run.id, record, header, "sessionId");
        if let Some(name) = record.text_at(header, "summary") {
            b.run.name = Some(name);
        }
        if b.run.cwd.is_none() {
            let first = header.get("directories").and_then(|d| d.items().next());
            b.run.cwd = first.and_then(|d| record.text(d));
        }
        if header.field_is("kind", "subagent") {
            b.run.parent = Some(Parent { trajectory: None, call: None });
        }
        for key in ["startTime", "lastUpdated"] {
            b.seen(header.get(key).and_then(time::from_value));
        }
        for message in header.items_at("messages") {
            self.message(record, message);
        }
    }

    fn message(&mut self, record: &Record<'_>, message: Value<'_>) {
        let at = record.at_value(message);
        let time = message.get("timestamp").and_then(time::from_value);
        let id = message.get("id").or_else(|| message.get("messageId")).and_then(Value::str);
        let known = id.as_deref().and_then(|id| self.messages.get(id)).copied();
        let content = ["content", "parts"].iter().find_map(|k| message.get(k));
        let kind = message.word("type");
        let now = match kind {
            "gemini" | "model" => self.response(record, message, content, known, time),
            // An update of calls only: the message is already there.
            "" | "message_update" if known.is_some() => {
                self.response(record, message, content, known, time)
            }
            _ if known.is_some() => return,
            "user" => {
                self.user(record, content, time, &at);
                EarlierContent::default()
            }
            "error" => {
                let text = content.and_then(|c| words(record, c));
                self.b.event(EventKind::Error, text, None, time, at);
                EarlierContent::default()
            }
            "info" | "warning" => {
                let text = content.and_then(|c| words(record, c));
                note(&mut self.b, kind, text, time, at);
                EarlierContent::default()
            }
            other => {
                self.b.unknown(other, at);
                EarlierContent::default()
            }
        };
        if let Some(id) = id {
            self.messages.insert(id.into_owned(), now);
        }
    }

    fn user(
        &mut self,
        record: &Record<'_>,
        content: Option<Value<'_>>,
        time: Option<Timestamp>,
        at: &crate::model::At,
    ) {
        let b = &mut self.b;
        if content.is_some_and(|c| gemini::responses(b, &mut self.open, record, c, time)) {
            return;
        }
        b.user(content.and_then(|c| words(record, c)), time, at.clone());
    }

    /// Reads a model response, or a later version of one.
    fn response(
        &mut self,
        record: &Record<'_>,
        message: Value<'_>,
        content: Option<Value<'_>>,
        known: Option<EarlierContent>,
        time: Option<Timestamp>,
    ) -> EarlierContent {
        let b = &mut self.b;
        let at = record.at_value(message);
        let id = record.text_at(message, "id").or_else(|| record.text_at(message, "messageId"));
        let step = b.step(id, time, at);
        let this = &mut b.run.steps[step as usize];
        if let Some(model) = record.text_at(message, "model") {
            this.model = Some(model);
        }
        if let Some(tokens) = message.get("tokens") {
            this.usage = Some(usage(tokens));
        }
        let mut now = known.unwrap_or_default();
        if let Some(thoughts) = message.get("thoughts") {
            for thought in thoughts.items().skip(now.thoughts) {
                let at = record.at_value(thought);
                b.reasoning(step, thought_text(record, thought), time, at);
                now.thoughts += 1;
            }
        }
        if let Some(content) = content {
            if !now.said {
                let next = b.run.events.len();
                gemini::model_parts(b, &mut self.open, record, content, step, time);
                let added = b.run.events.iter().enumerate().skip(next);
                let mut words = added.filter(|(_, e)| e.kind == EventKind::Message);
                now.words = words.next().map(|(at, _)| at);
                now.said = b.run.events.len() > next;
            } else if let (Some(event), Some(text)) =
                (now.words.and_then(|at| b.run.events.get_mut(at)), words(record, content))
            {
                event.text = Some(text);
            }
        }
        for (key, value) in message.fields() {
            match key.inner().unwrap_or("") {
                "toolCalls" => {
                    value.items().for_each(|call| tool_call(b, record, call, step, time));
                }
                key => unknown_member(b, record, key, value, Some(step)),
            }
        }
        now
    }
}

fn thought_text(record: &Record<'_>, thought: Value<'_>) -> Option<Payload> {
    if thought.is_string() {
        return Some(record.payload(thought));
    }
    let subject = thought.get_str("subject").filter(|s| !s.is_empty());
    match (subject, thought.get_str("description")) {
        (Some(subject), Some(text)) => {
            Some(Payload::text(Text::owned(format!("{subject}\n{text}"))))
        }
        (None, Some(_)) => record.payload_at(thought, "description"),
        (Some(_), None) => record.payload_at(thought, "subject"),
        (None, None) => record.payload_at(thought, "text"),
    }
}

fn usage(tokens: Value<'_>) -> Usage {
    let count = |key: &str| tokens.get(key).and_then(Value::as_u64);
    let recorded = UsageTokens {
        input: count("input").unwrap_or(0),
        output: count("output").unwrap_or(0),
        cache_read: count("cached").unwrap_or(0),
        cache_write: 0,
        cache_write_1h: 0,
        reasoning: count("thoughts").unwrap_or(0),
    };
    Usage { recorded, stated_total: count("total"), convention: Convention::GEMINI }
}

fn tool_call(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    call: Value<'_>,
    step: u32,
    time: Option<Timestamp>,
) {
    let at = record.at_value(call);
    let before = b.run.calls.len();
    let index = b.call(NewCall {
        id: record.text_at(call, "id"),
        name: ToolName::or_empty(record.text_at(call, "name")),
        args: record.payload_at(call, "args"),
        step: Some(step),
        time,
        at: at.clone(),
    });
    if b.run.calls.len() > before && call.field_is("name", "activate_skill") {
        let skill = call.at(&["args", "name"]).map(|n| record.payload(n));
        b.event(EventKind::Skill, skill, Some(step), time, at);
    }
    let Some(known) = b.run.calls.get_mut(index as usize) else { return };
    if known.spawned.is_none() {
        known.spawned = record.text_at(call, "agentId");
    }
    // A later version of the message repeats the result.
    if known.result.is_some() {
        return;
    }
    if let Some(answer) = call_answer(record, call) {
        let done = call.get("timestamp").and_then(time::from_value);
        b.answer_call(index, answer.time(done));
    }
}

/// Returns the result inside a call; `None` while the call is still running.
fn call_answer(record: &Record<'_>, call: Value<'_>) -> Option<ReaderResult> {
    let result = call.get("result");
    let status = call.word("status");
    let mut responses = result.into_iter().flat_map(Value::items);
    let first = responses.next().and_then(|r| r.get("functionResponse"));
    let answer = match (first, result) {
        (Some(response), _) if responses.next().is_none() => {
            gemini::response_answer(record, response)
        }
        (_, Some(result)) => {
            ReaderResult::new(Some(record.payload(result)), record.at_value(result))
        }
        (_, None) => {
            ReaderResult::new(record.payload_at(call, "resultDisplay"), record.at_value(call))
        }
    };
    match status {
        "success" => Some(mark(answer, Status::Succeeded)),
        "error" => Some(mark(answer, Status::Failed)),
        // Refused before it ran, or cut off: the text says which.
        "cancelled" if answer.level == StatusLevel::Denial => Some(answer),
        "cancelled" => Some(answer.status(Status::Interrupted, StatusLevel::Denial)),
        _ => result.map(|_| answer),
    }
}

/// Sets the status of a call. The call's own status is stronger evidence; a refusal is more
/// specific than "error".
fn mark(answer: ReaderResult, status: Status) -> ReaderResult {
    if status == Status::Failed && answer.level == StatusLevel::Denial {
        return answer;
    }
    answer.status(status, StatusLevel::Protocol)
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, read_text, sketch};

    #[test]
    fn a_document() {
        let read = read_fixture("gemini-cli.json");
        assert_eq!(read.format, "gemini-cli");
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: go\n\
             0 reasoning: Plan\nlook first\n\
             0 call run_shell_command {\"command\":\"x\"} -> succeeded(protocol) exit 2: Command: x\nOutput: no\nExit Code: 2\nSignal: 0\n\
             0 call write_file {} -> denied(denial): [Operation Cancelled] Reason: User denied execution.\n\
             0 call read_file {} -> failed(protocol): no such file\n\
             0 call glob {} -> unanswered(absent): \n\
             note info\n\
             unknown brand-new\n\
             unknown \n\
             1 message: done\n"
        );
        let usage = run.usage.unwrap();
        assert_eq!((usage.recorded.input, usage.recorded.reasoning, usage.total()), (30, 3, 36));
        assert_eq!(run.calls[0].duration.unwrap().as_secs(), 2);
        assert_eq!(run.agent.model.as_ref().unwrap(), "g-1");
    }

    #[test]
    fn lines_replace_messages() {
        let read = read_text(
            r#"{"sessionId":"s1","projectHash":"p","kind":"main","directories":["/w"]}
{"id":"a","type":"user","content":[{"text":"go"}]}
{"id":"b","type":"gemini","content":"","toolCalls":[{"id":"c1","name":"glob","args":{},"status":"executing"}],"tokens":{"input":5,"output":1}}
{"$set":{"lastUpdated":"2026-01-01T00:00:09Z","summary":"a glob"}}
{"id":"b","type":"gemini","content":"found","toolCalls":[{"id":"c1","name":"glob","args":{},"status":"success","result":[{"functionResponse":{"id":"c1","response":{"output":"a.rs"}}}]}],"tokens":{"input":5,"output":4}}
{"id":"b","type":"gemini","content":"found it","toolCalls":[{"id":"c1","name":"glob","args":{},"status":"success","result":[{"functionResponse":{"id":"c1","response":{"output":"a.rs"}}}]}],"tokens":{"input":5,"output":4}}
{"type":"message_update","id":"b","tokens":{"input":5,"output":6}}
{"$rewindTo":"b"}
{"$set":{"messages":[{"id":"a","type":"user","content":"go"},{"id":"e","type":"user","content":"again"}]}}
"#,
        );
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: go\n\
             0 call glob {} -> succeeded(protocol): a.rs\n\
             0 message: found it\n\
             note $rewindTo\n\
             user: again\n"
        );
        assert_eq!(run.usage.unwrap().recorded.output, 6);
        assert_eq!((run.user_turns, run.repeated_results, run.steps.len()), (2, 0, 1));
        assert_eq!(run.name.as_ref().unwrap(), "a glob");
        assert_eq!(run.cwd.as_ref().unwrap(), "/w");
    }

    #[test]
    fn responses_in_user_messages_answer_by_name() {
        let read = read_text(
            r#"{"sessionId":"s1","projectHash":"p","messages":[]}
{"id":"b","type":"gemini","content":[{"functionCall":{"name":"a","args":{}}},{"functionCall":{"name":"b","args":{}}}]}
{"id":"c","type":"user","content":[{"functionResponse":{"name":"b","response":{"output":"B"}}},{"functionResponse":{"name":"z","response":{"output":"Z"}}}]}
"#,
        );
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "0 call a {} -> unanswered(absent): \n\
             0 call b {} -> succeeded(protocol): B\n\
             orphanresult: Z\n"
        );
        assert_eq!(run.user_turns, 0);
    }
}
