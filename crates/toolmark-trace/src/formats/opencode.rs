//! OpenCode: `opencode run --format json`, `opencode export`, and the JSON files of its
//! storage.
//!
//! All three have the same structure. A session has messages, a message has parts, and a part
//! of type `tool` holds a call with its result and both times. A message of the assistant
//! holds one or several model responses, between `step-start` and `step-finish`; the latter
//! has tokens and cost. Input is counted without the cache, and reasoning separately from the
//! output.
//!
//! The lines of `run` wrap parts in events. A storage file is one session, one message or one
//! part; several of them in sequence are joined by their IDs. Exports may have redacted
//! arguments and results, whose placeholders have other types. Sub-agents are sessions with a
//! `parentID`.

use super::shared::events::{note, set_once};
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::join::{begins_with_any, files_in, missing_sub_agents};
use crate::model::{
    Convention, Cost, EventKind, Fact, Fidelity, Parent, Status, StatusLevel, Text, ToolName,
    Trajectory, Usage, UsageTokens, time,
};
use jiff::Timestamp;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use toolmark_scan::Value;

/// OpenCode sessions.
pub(crate) struct OpenCode;

static INFO: FormatInfo = FormatInfo {
    id: "opencode",
    title: "OpenCode session",
    origin: "opencode run --format json, opencode export, ~/.local/share/opencode/storage",
    versions: "0.1 to 1.3",
    looks_for: "events with sessionID and part, {info, messages[{info, parts}]}, or storage files",
    fidelity: Fidelity::lacking(&[Fact::ToolDefinitions]),
};

/// Convention: input without the cache, reasoning separate from the output.
const CONVENTION: Convention =
    Convention { input_includes_cache: false, output_includes_reasoning: false };

/// Type of a record.
#[derive(Clone, Copy, PartialEq)]
enum OpencodeRecord {
    Export,
    Event,
    Session,
    Message,
    Part,
}

impl OpencodeRecord {
    fn of(value: Value<'_>) -> Option<Self> {
        let text = |key: &str| value.get(key).is_some_and(Value::is_string);
        if value.get("messages").is_some_and(Value::is_array) && value.get("info").is_some() {
            Some(Self::Export)
        } else if text("sessionID") && text("type") && value.get("timestamp").is_some() {
            Some(Self::Event)
        } else if text("sessionID") && text("role") && text("id") {
            Some(Self::Message)
        } else if text("projectID") && text("directory") && text("id") {
            Some(Self::Session)
        } else if text("id") && text("type") && (text("messageID") || is_timed(value)) {
            Some(Self::Part)
        } else {
            None
        }
    }
}

/// Returns whether a part has times. Parts of old storage contain neither session nor message
/// ID; their times are pairs.
fn is_timed(part: Value<'_>) -> bool {
    part.at(&["time", "start"]).is_some()
}

impl Format for OpenCode {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let Some(first) = probe.records().iter().find(|r| OpencodeRecord::of(**r).is_some()) else {
            return 0;
        };
        match OpencodeRecord::of(*first) {
            Some(OpencodeRecord::Export) => {
                let parts = first.get("messages").and_then(|m| m.items().next());
                let own = parts.is_none_or(|m| m.get("info").is_some() && m.get("parts").is_some());
                let named = first.at(&["info", "id"]).is_some();
                if own && named { 95 } else { 0 }
            }
            Some(OpencodeRecord::Event) if first.get("part").is_some() => 100,
            Some(OpencodeRecord::Event) => 60,
            Some(OpencodeRecord::Session | OpencodeRecord::Message) => 90,
            Some(OpencodeRecord::Part) if first.get("messageID").is_some() => 90,
            Some(OpencodeRecord::Part) => 60,
            None => 0,
        }
    }

    fn answers_calls(&self) -> bool {
        true
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<StoreReader>::default()
    }

    /// Returns the sessions of sub-agents, exported beside this one.
    fn companions(&self, path: &Path, run: &Trajectory) -> Vec<PathBuf> {
        let missing = missing_sub_agents(run);
        let (Some(directory), Some(id)) = (path.parent(), run.id.as_ref()) else {
            return Vec::new();
        };
        if missing.is_empty() {
            return Vec::new();
        }
        let marks = [format!("\"parentID\":\"{id}\""), format!("\"parentID\": \"{id}\"")];
        let is_session = |name: &str| name.ends_with(".json") || name.ends_with(".jsonl");
        let mut files = files_in(directory, is_session);
        files.truncate(MAX_LOOKED_AT);
        files.retain(|file| {
            let name = file.file_name().and_then(|n| n.to_str()).unwrap_or("");
            file != path
                && (missing.iter().any(|id| name.contains(id.as_str()))
                    || begins_with_any(file, &marks))
        });
        files
    }
}

/// Maximum number of files beside a session that are opened to check whether they belong to
/// it.
const MAX_LOOKED_AT: usize = 2_000;

#[derive(Default)]
struct StoreReader {
    sessions: Vec<OpencodeSession>,
    by_id: HashMap<String, usize>,
}

struct OpencodeSession {
    b: TrajectoryBuilder,
    messages: Vec<OpencodeMessage>,
    by_id: HashMap<String, usize>,
}

/// A message whose parts may follow later.
struct OpencodeMessage {
    role: OpencodeRole,
    /// Response that its parts currently belong to.
    step: Option<u32>,
    /// Whether that response has had its `step-start`.
    started: bool,
    /// Event of the user message, until its text is known.
    wordless: Option<usize>,
    /// Usage stated by the message itself; usage stated by its parts is preferred.
    usage: Option<(Usage, Option<Cost>)>,
}

#[derive(Clone, Copy, PartialEq)]
enum OpencodeRole {
    User,
    Assistant,
    /// A part whose message is not in the file.
    Unknown,
}

impl Reader for StoreReader {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        let Some(value) = out.object(record, "a session record") else { return };
        let shape = OpencodeRecord::of(value);
        let id = match shape {
            Some(OpencodeRecord::Export) => value.at(&["info", "id"]),
            Some(OpencodeRecord::Session) => value.get("id"),
            _ => value.get("sessionID"),
        };
        let session = self.session(id.and_then(Value::str).as_deref(), out);
        match shape {
            Some(OpencodeRecord::Export) => session.export(record, value),
            Some(OpencodeRecord::Event) => session.event(record, value),
            Some(OpencodeRecord::Session) => session.info(record, value),
            Some(OpencodeRecord::Message) => session.message(record, value, true),
            Some(OpencodeRecord::Part) => session.part(record, value, OpencodeRole::Unknown),
            None => {
                let kind = value.get("type").and_then(|t| record.text(t));
                session.b.unknown(kind.unwrap_or_else(|| Text::owned("")), record.at());
            }
        }
    }

    fn finish(&mut self, out: &mut Out) {
        let mut runs: Vec<_> = std::mem::take(&mut self.sessions)
            .into_iter()
            .map(|session| Some(session.close()))
            .collect();
        let spawns: HashMap<String, Text> =
            runs.iter().flatten().flat_map(spawning_calls).collect();
        // Sub-agents go to the call that started them, one level deep.
        for at in 0..runs.len() {
            let parent = runs[at].as_ref().and_then(|run| run.parent.as_ref()?.trajectory.clone());
            let Some(parent) = parent.and_then(|p| self.by_id.get(&*p.get()).copied()) else {
                continue;
            };
            let is_root = runs.get(parent).is_some_and(|run| {
                run.as_ref().is_some_and(|run| run.parent.is_none()) && parent != at
            });
            if !is_root {
                continue;
            }
            let Some(mut child) = runs[at].take() else { continue };
            let Some(root) = &mut runs[parent] else { continue };
            let call = child.id.as_ref().and_then(|id| spawns.get(&*id.get()).cloned());
            child.parent = Some(Parent { trajectory: root.id.clone(), call });
            root.children.push(child);
        }
        for run in runs.into_iter().flatten() {
            out.push(run);
        }
    }
}

/// Returns the sub-agent sessions that a run started, with the calls that started them.
fn spawning_calls(run: &Trajectory) -> impl Iterator<Item = (String, Text)> {
    run.calls.iter().filter_map(|c| Some((c.spawned.as_ref()?.get().into_owned(), c.id.clone()?)))
}

impl StoreReader {
    /// Returns the session with this ID; without an ID, the previous one.
    fn session(&mut self, id: Option<&str>, out: &Out) -> &mut OpencodeSession {
        let next = self.sessions.len();
        let at = match id {
            Some(id) => *self.by_id.entry(id.to_owned()).or_insert(next),
            None => next.saturating_sub(1),
        };
        if at == next {
            let mut b = out.builder(&OpenCode);
            b.run.id = id.map(Text::owned);
            b.run.agent.name = Some(Text::owned("opencode"));
            self.sessions.push(OpencodeSession { b, messages: Vec::new(), by_id: HashMap::new() });
        }
        &mut self.sessions[at]
    }
}

impl OpencodeSession {
    fn export(&mut self, record: &Record<'_>, export: Value<'_>) {
        if let Some(info) = export.get("info") {
            self.info(record, info);
        }
        for message in export.items_at("messages") {
            let info = message.get("info").unwrap_or(message);
            let parts = message.get("parts");
            // Words that the client wrote in the user's name are all synthetic.
            let mut texts = parts.into_iter().flat_map(Value::items).filter(|p| is_text(*p));
            let typed = texts.clone().next().is_none() || texts.any(|p| !is_synthetic(p));
            self.message(record, info, typed);
            for part in parts.into_iter().flat_map(Value::items) {
                self.part_of(record, part, info.get("id").and_then(Value::str).as_deref());
            }
        }
    }

    /// Reads the metadata of a session.
    fn info(&mut self, record: &Record<'_>, info: Value<'_>) {
        let run = &mut self.b.run;
        set_once(&mut run.name, record, info, "title");
        set_once(&mut run.cwd, record, info, "directory");
        set_once(&mut run.agent.version, record, info, "version");
        if let Some(parent) = record.text_at(info, "parentID") {
            run.parent = Some(Parent { trajectory: Some(parent), call: None });
        }
        for key in ["created", "updated"] {
            self.b.seen(info.at(&["time", key]).and_then(time::from_value));
        }
    }

    fn message(&mut self, record: &Record<'_>, info: Value<'_>, typed: bool) {
        let at = record.at_value(info);
        let time = info.at(&["time", "created"]).and_then(time::from_value);
        let id = info.get("id").and_then(Value::str);
        if id.as_deref().is_some_and(|id| self.by_id.contains_key(id)) {
            return;
        }
        let mut message = OpencodeMessage::new(OpencodeRole::Unknown);
        match info.word("role") {
            "user" => {
                message.role = OpencodeRole::User;
                message.wordless = Some(self.b.run.events.len());
                if typed {
                    self.b.user(None, time, at);
                } else {
                    self.b.context(None, time, at);
                }
            }
            "assistant" => {
                message.role = OpencodeRole::Assistant;
                self.assistant(record, info, &mut message, time);
            }
            other => self.b.unknown(format!("message/{other}"), at),
        }
        let next = self.messages.len();
        self.by_id.insert(id.unwrap_or_default().into_owned(), next);
        self.messages.push(message);
    }

    fn assistant(
        &mut self,
        record: &Record<'_>,
        info: Value<'_>,
        message: &mut OpencodeMessage,
        time: Option<Timestamp>,
    ) {
        let b = &mut self.b;
        let at = record.at_value(info);
        let step = b.step(record.text_at(info, "id"), time, at.clone());
        message.step = Some(step);
        message.usage = info.get("tokens").map(|t| (usage(t), cost(info)));
        let this = &mut b.run.steps[step as usize];
        let model = info.get("modelID").or_else(|| info.at(&["model", "modelID"]));
        this.model = model.and_then(|m| record.text(m));
        if let Some(path) = info.get("path") {
            set_once(&mut b.run.cwd, record, path, "cwd");
        }
        b.seen(info.at(&["time", "completed"]).and_then(time::from_value));
        if info.is_true("summary") {
            b.event(EventKind::Compaction, None, Some(step), time, at.clone());
        }
        if let Some(error) = info.get("error") {
            let text = error.at(&["data", "message"]).unwrap_or(error);
            b.event(EventKind::Error, Some(record.payload(text)), Some(step), time, at);
        }
    }

    /// Reads a line of `opencode run`.
    fn event(&mut self, record: &Record<'_>, event: Value<'_>) {
        let time = event.get("timestamp").and_then(time::from_value);
        self.b.seen(time);
        let kind = event.word("type");
        match (kind, event.get("part")) {
            ("user", part) => {
                let text = part.and_then(|p| p.get("text")).map(|t| record.payload(t));
                self.b.user(text, time, record.at());
            }
            ("error", _) => {
                let error = event.get("error");
                let text = error.map(|e| e.at(&["data", "message"]).unwrap_or(e));
                let text = text.map(|t| record.payload(t));
                self.b.event(EventKind::Error, text, None, time, record.at());
            }
            (_, Some(part)) if part.get("type").is_some() => {
                self.part(record, part, OpencodeRole::Assistant);
            }
            (other, _) => self.b.unknown(other, record.at()),
        }
    }

    fn part(&mut self, record: &Record<'_>, part: Value<'_>, role: OpencodeRole) {
        let id = part.get("messageID").and_then(Value::str);
        let key = id.as_deref().unwrap_or_default();
        if !self.by_id.contains_key(key) {
            self.by_id.insert(key.to_owned(), self.messages.len());
            self.messages.push(OpencodeMessage::new(role));
        }
        self.part_of(record, part, Some(key));
    }

    fn part_of(&mut self, record: &Record<'_>, part: Value<'_>, message: Option<&str>) {
        let index = self.by_id.get(message.unwrap_or_default());
        let Some(message) = index.and_then(|&i| self.messages.get_mut(i)) else { return };
        let b = &mut self.b;
        let at = record.at_value(part);
        let time = part.at(&["time", "start"]).and_then(time::from_value);
        let kind = part.word("type");
        match kind {
            "text" => text(b, record, part, message),
            "reasoning" => {
                let step = message.step(b, record, part, time);
                b.reasoning(step, record.payload_at(part, "text"), time, at);
            }
            "tool" => {
                let step = message.step(b, record, part, time);
                tool(b, record, part, step);
            }
            "step-start" => {
                if message.started || message.step.is_none() {
                    message.step = Some(b.step(record.text_at(part, "id"), time, at));
                }
                message.started = true;
            }
            "step-finish" => {
                let step = message.step(b, record, part, time);
                message.usage = None;
                if let Some(usage) = part.get("tokens").map(usage) {
                    b.run.steps[step as usize].usage = Some(usage);
                    b.add_usage(usage);
                }
                add_cost(b, cost(part));
            }
            "compaction" => b.event(EventKind::Compaction, None, None, time, at),
            "retry" => {
                let error = part.get("error").map(|e| e.at(&["data", "message"]).unwrap_or(e));
                b.event(EventKind::Error, error.map(|e| record.payload(e)), None, time, at);
            }
            "file" | "patch" | "snapshot" | "agent" | "subtask" => {
                note(b, kind, Some(record.payload(part)), time, at);
            }
            other => {
                let kind = EventKind::Unknown(Text::owned(format!("part/{other}")));
                let step = message.step.filter(|_| message.role != OpencodeRole::User);
                b.event(kind, None, step, time, at);
            }
        }
    }

    fn close(mut self) -> Trajectory {
        for (usage, cost) in self.messages.iter_mut().filter_map(|m| m.usage.take()) {
            self.b.add_usage(usage);
            add_cost(&mut self.b, cost);
        }
        if self.messages.iter().any(|m| m.role == OpencodeRole::Unknown) {
            // Parts without their message: it is unknown whose words they are.
            self.b.run.fidelity.lose(Fact::UserTurns);
        }
        self.b.finish()
    }
}

impl OpencodeMessage {
    fn new(role: OpencodeRole) -> Self {
        Self { role, step: None, started: false, wordless: None, usage: None }
    }

    /// Returns the response that the message's parts belong to.
    fn step(
        &mut self,
        b: &mut TrajectoryBuilder,
        record: &Record<'_>,
        part: Value<'_>,
        time: Option<Timestamp>,
    ) -> u32 {
        *self.step.get_or_insert_with(|| {
            b.step(record.text_at(part, "messageID"), time, record.at_value(part))
        })
    }
}

fn is_text(part: Value<'_>) -> bool {
    part.field_is("type", "text")
}

fn is_synthetic(part: Value<'_>) -> bool {
    part.is_true("synthetic")
}

fn text(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    part: Value<'_>,
    message: &mut OpencodeMessage,
) {
    let at = record.at_value(part);
    let time = part.at(&["time", "start"]).and_then(time::from_value);
    let Some(words) = record.payload_at(part, "text") else { return };
    match message.role {
        OpencodeRole::Assistant => {
            let step = message.step(b, record, part, time);
            b.message(step, words, time, at);
        }
        OpencodeRole::Unknown => b.event(EventKind::Message, Some(words), None, time, at),
        OpencodeRole::User => {
            let own = message.wordless.take_if(|event| {
                let kind = b.run.events.get(*event).map(|e| &e.kind);
                !is_synthetic(part) || kind == Some(&EventKind::Context)
            });
            match own.and_then(|event| b.run.events.get_mut(event)) {
                Some(event) => event.text = Some(words),
                None => b.context(Some(words), time, at),
            }
        }
    }
}

fn tool(b: &mut TrajectoryBuilder, record: &Record<'_>, part: Value<'_>, step: u32) {
    let state = part.get("state");
    let field = |key: &str| state.and_then(|s| s.get(key));
    let when = |key: &str| state.and_then(|s| s.at(&["time", key])).and_then(time::from_value);
    let index = b.call(NewCall {
        id: record.text_at(part, "callID").or_else(|| record.text_at(part, "id")),
        name: ToolName::or_empty(record.text_at(part, "tool")),
        args: field("input").map(|i| record.payload(i)),
        step: Some(step),
        time: when("start"),
        at: record.at_value(part),
    });
    let metadata = field("metadata");
    if part.field_is("tool", "skill") {
        let name = field("input").and_then(|i| i.get("name")).map(|n| record.payload(n));
        b.event(EventKind::Skill, name, Some(step), when("start"), record.at_value(part));
    }
    let call = &mut b.run.calls[index as usize];
    if call.spawned.is_none() {
        let child = metadata.and_then(|m| m.get("sessionId").or_else(|| m.get("sessionID")));
        call.spawned = child.and_then(|c| record.text(c));
    }
    if call.result.is_some() {
        return;
    }
    let payload = field("output").or_else(|| field("error")).map(|p| record.payload(p));
    let answer = ReaderResult::new(payload, record.at_value(part)).time(when("end"));
    let answer = match field("status").and_then(Value::inner) {
        Some("completed" | "success") => answer.protocol(false),
        Some("error") => {
            let error = field("error").and_then(Value::str).unwrap_or_default();
            match refusal(&error) {
                Some(status) => answer.status(status, StatusLevel::Denial),
                None => answer.protocol(true),
            }
        }
        _ => return,
    };
    let exit = metadata.and_then(|m| m.get("exit")).and_then(Value::as_i64);
    b.answer_call(index, answer.exit_code(exit));
}

/// Returns the status if the text of an error means that the call was refused or interrupted.
fn refusal(error: &str) -> Option<Status> {
    if error.starts_with("The user rejected permission")
        || error.starts_with("The user has specified a rule which prevents")
    {
        return Some(Status::Denied);
    }
    error.starts_with("Tool execution aborted").then_some(Status::Interrupted)
}

fn usage(tokens: Value<'_>) -> Usage {
    let count = |keys: &[&str]| tokens.at(keys).and_then(Value::as_u64);
    let recorded = UsageTokens {
        input: count(&["input"]).unwrap_or(0),
        output: count(&["output"]).unwrap_or(0),
        cache_read: count(&["cache", "read"]).unwrap_or(0),
        cache_write: count(&["cache", "write"]).unwrap_or(0),
        cache_write_1h: 0,
        reasoning: count(&["reasoning"]).unwrap_or(0),
    };
    Usage { recorded, stated_total: count(&["total"]), convention: CONVENTION }
}

fn cost(holder: Value<'_>) -> Option<Cost> {
    let cost = holder.get("cost")?;
    cost.as_f64().or_else(|| cost.get("usd")?.as_f64()).and_then(Cost::from_usd)
}

fn add_cost(b: &mut TrajectoryBuilder, cost: Option<Cost>) {
    if let Some(cost) = cost {
        let sum = b.run.cost.get_or_insert_default();
        sum.nano_usd = sum.nano_usd.saturating_add(cost.nano_usd);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, read_text, sketch};

    #[test]
    fn events_of_a_run() {
        let read = read_fixture("opencode.jsonl");
        assert_eq!(read.format, "opencode");
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "0 call bash {\"command\":\"ls\"} -> succeeded(protocol) exit 1: no\n\
             0 call edit {\"redacted\":\"x\"} -> denied(denial): The user rejected permission to use this specific tool call.\n\
             0 call read {} -> failed(protocol): no such file\n\
             0 call task {} -> unanswered(absent): \n\
             1 message: done\n\
             unknown part/hologram\n\
             error: quota\n\
             unknown something\n"
        );
        let usage = run.usage.unwrap();
        assert_eq!((usage.total(), usage.normalised().output), (19, 5));
        assert_eq!(run.cost.unwrap().usd(), 0.5);
        assert_eq!(run.calls[0].duration.unwrap().as_millis(), 500);
        assert_eq!(run.calls[3].spawned.as_ref().unwrap(), "child");
    }

    #[test]
    fn an_export() {
        let read = read_text(
            r#"{"info":{"id":"s","title":"T","directory":"/w","version":"1.0","parentID":"up","time":{"created":1730000000000}},
            "messages":[
            {"info":{"id":"m1","sessionID":"s","role":"user","time":{"created":1730000000000}},"parts":[{"type":"text","text":"go"},{"type":"text","text":"file body","synthetic":true},{"type":"file","filename":"a"}]},
            {"info":{"id":"m2","sessionID":"s","role":"assistant","modelID":"x","tokens":{"input":7,"output":1},"cost":0.1,"error":{"name":"MessageAbortedError","data":{"message":"aborted"}}},"parts":[{"type":"reasoning","text":"hm"},{"type":"text","text":"ok"}]},
            {"info":{"id":"m3","sessionID":"s","role":"user"},"parts":[{"type":"text","text":"Continue","synthetic":true}]},
            {"info":{"id":"m4","sessionID":"s","role":"robot"},"parts":"none"}]}"#,
        );
        assert_eq!(read.format, "opencode");
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: go\n\
             context: file body\n\
             note file\n\
             0 error: aborted\n\
             0 reasoning: hm\n\
             0 message: ok\n\
             context: Continue\n\
             unknown message/robot\n"
        );
        assert_eq!(run.usage.unwrap().total(), 8);
        assert_eq!(run.user_turns, 1);
        assert_eq!(run.agent.model.as_ref().unwrap(), "x");
        assert_eq!(run.parent.as_ref().unwrap().trajectory.as_ref().unwrap(), "up");
    }

    #[test]
    fn storage_files_in_a_row() {
        let read = read_text(
            r#"{"id":"s","projectID":"p","directory":"/w","title":"T","time":{"created":1730000000000}}
{"id":"k","projectID":"p","directory":"/w","parentID":"s","time":{"created":1730000000000}}
{"id":"m1","sessionID":"s","role":"user","time":{"created":1730000000000}}
{"id":"m2","sessionID":"s","role":"assistant","time":{"created":1730000001000}}
{"id":"m3","sessionID":"k","role":"assistant","time":{"created":1730000001000}}
{"id":"p1","sessionID":"s","messageID":"m1","type":"text","text":"go"}
{"id":"p2","sessionID":"s","messageID":"m2","type":"tool","callID":"c1","tool":"task","state":{"status":"completed","input":{},"output":"ok","metadata":{"sessionId":"k"}}}
{"id":"p3","sessionID":"k","messageID":"m3","type":"text","text":"sub"}
"#,
        );
        let run = &read.runs[0];
        assert_eq!(read.runs.len(), 1);
        assert_eq!(
            sketch(run),
            "user: go\n0 call task {} -> succeeded(protocol): ok\nsub-agent k\n  0 message: sub\n"
        );
        let parent = run.children[0].parent.as_ref().unwrap();
        assert_eq!(parent.call.as_ref().unwrap(), "c1");
    }

    #[test]
    fn one_part_alone() {
        let read =
            read_text(r#"{"id":"p","type":"text","text":"hi","time":{"start":1730000001000}}"#);
        assert_eq!(read.format, "opencode");
        assert_eq!(sketch(&read.runs[0]), "message: hi\n");
    }
}
