//! Claude Code session files: one JSON object per line, appended during the session.
//!
//! One API message is spread over several lines that share `message.id` and repeat its usage;
//! results are in lines of type `user`. Sub-agents are lines marked `isSidechain`: inline in
//! old files, in separate files since. Some versions also copy the actions of a sub-agent
//! into `progress` lines, which are the only record if the sub-agent's own file is missing.

use super::shared::claude_words::{UserWords, user_words};
use super::shared::{anthropic, claude};
use crate::builder::TrajectoryBuilder;
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::join::begins_with_any;
use crate::model::{EventKind, Fact, Fidelity, Move, Parent, Text, Trajectory, time};
use jiff::Timestamp;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::path::{Path, PathBuf};
use toolmark_scan::Value;

/// Maximum number of directory changes that are kept.
const MAX_MOVES: usize = 4096;

/// Claude Code session files.
pub(crate) struct ClaudeCode;

static INFO: FormatInfo = FormatInfo {
    id: "claude-code",
    title: "Claude Code session",
    origin: "~/.claude/projects/<project>/<session>.jsonl and its sub-agents' files",
    versions: "1.0 to 2.1",
    looks_for: "lines with sessionId, uuid and parentUuid",
    fidelity: Fidelity::lacking(&[Fact::Cost, Fact::ToolDefinitions]),
};

impl Format for ClaudeCode {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let is_in_tree = |r: Value<'_>| {
            r.get("uuid").is_some()
                && r.has("parentUuid")
                && r.get("message").is_none_or(|m| m.get("parts").is_none())
        };
        if probe.any(|r| r.get("sessionId").is_some() && is_in_tree(r)) {
            return 100;
        }
        // Tools that cut sessions down leave out whose they are.
        let is_message = |r: Value<'_>| r.at(&["message", "content"]).is_some();
        if probe.any(|r| is_in_tree(r) && is_message(r)) {
            return 90;
        }
        let summary = |r: Value<'_>| r.field_is("type", "summary") && r.get("leafUuid").is_some();
        let snapshot = |r: Value<'_>| r.field_is("type", "file-history-snapshot");
        if probe.any(|r| summary(r) || snapshot(r)) {
            return 80;
        }
        if probe.any(|r| r.get("sessionId").is_some() && r.get("type").is_some()) { 20 } else { 0 }
    }

    fn answers_calls(&self) -> bool {
        true
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<ClaudeCodeReader>::default()
    }

    fn companions(&self, path: &Path, run: &Trajectory) -> Vec<PathBuf> {
        agent_files(path, run)
    }
}

/// Returns the files of a session's sub-agents: in the `subagents` folder of the session, or
/// beside the session file in version 2.0.
fn agent_files(path: &Path, run: &Trajectory) -> Vec<PathBuf> {
    let is_agent = |p: &Path| {
        let name = p.file_name().and_then(|n| n.to_str()).unwrap_or("");
        name.starts_with("agent-") && name.ends_with(".jsonl")
    };
    if is_agent(path) {
        return Vec::new();
    }
    let list = |dir: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
        entries.map(|e| e.path()).filter(|p| is_agent(p)).collect()
    };
    let mut files = list(&path.with_extension("").join("subagents"));
    let session = run.id.as_ref().map(ToString::to_string).unwrap_or_default();
    let beside = list(path.parent().unwrap_or(Path::new("")));
    files.extend(beside.into_iter().filter(|p| is_of_session(p, &session)));
    files.sort();
    files
}

/// Returns whether the start of a sub-agent's file contains this session ID.
fn is_of_session(path: &Path, session: &str) -> bool {
    begins_with_any(path, &[format!("\"sessionId\":\"{session}\"")])
}

/// The relevant members of a line, read in one pass.
#[derive(Default)]
struct ClaudeCodeLine<'a> {
    kind: &'a str,
    kind_value: Option<Value<'a>>,
    subtype: &'a str,
    uuid: Option<&'a str>,
    parent_uuid: Option<&'a str>,
    session: Option<Value<'a>>,
    agent: Option<Value<'a>>,
    timestamp: Option<Value<'a>>,
    version: Option<Value<'a>>,
    cwd: Option<Value<'a>>,
    message: Option<Value<'a>>,
    result: Option<Value<'a>>,
    content: Option<Value<'a>>,
    is_sidechain: bool,
    is_injected: bool,
    is_api_error: bool,
    data: Option<Value<'a>>,
    parent_call: Option<Value<'a>>,
    origin: Option<Value<'a>>,
    attachment: Option<Value<'a>>,
}

impl<'a> ClaudeCodeLine<'a> {
    fn new(value: Value<'a>) -> Self {
        let mut line = Self::default();
        for (key, value) in value.fields() {
            match key.inner().unwrap_or("") {
                "type" => {
                    line.kind = value.inner().unwrap_or("");
                    line.kind_value = Some(value);
                }
                "subtype" => line.subtype = value.inner().unwrap_or(""),
                "uuid" => line.uuid = value.inner(),
                "parentUuid" => line.parent_uuid = value.inner(),
                "sessionId" => line.session = Some(value),
                "agentId" => line.agent = Some(value),
                "timestamp" => line.timestamp = Some(value),
                "version" => line.version = Some(value),
                "cwd" => line.cwd = Some(value),
                "message" => line.message = Some(value),
                "toolUseResult" => line.result = Some(value),
                "content" => line.content = Some(value),
                "isSidechain" => line.is_sidechain = value.as_bool() == Some(true),
                "isMeta" | "isCompactSummary" | "isVisibleInTranscriptOnly" => {
                    line.is_injected |= value.as_bool() == Some(true);
                }
                "data" => line.data = Some(value),
                "parentToolUseID" => line.parent_call = Some(value),
                "origin" => line.origin = Some(value),
                "attachment" => line.attachment = Some(value),
                "isApiErrorMessage" => line.is_api_error = value.as_bool() == Some(true),
                _ => {}
            }
        }
        line
    }

    fn time(&self) -> Option<Timestamp> {
        time::from_value(self.timestamp?)
    }

    /// Returns the action of a sub-agent in a progress line: the sub-agent's ID and its own line.
    fn relayed(&self) -> Option<(Value<'a>, ClaudeCodeLine<'a>)> {
        let data = self.data.filter(|_| self.kind == "progress")?;
        let agent = data.get("agentId").filter(|id| id.is_string())?;
        let inner = data.get("message").filter(|m| m.is_object())?;
        let mut line = ClaudeCodeLine::new(inner);
        line.timestamp = line.timestamp.or(self.timestamp);
        line.is_sidechain = true;
        Some((agent, line))
    }

    /// Returns input that was typed while the agent worked, which is stored as an attachment.
    fn queued_prompt(&self) -> Option<Value<'a>> {
        let queued = self.attachment.filter(|a| a.field_is("type", "queued_command"))?;
        let is_prompt = queued.get("commandMode").is_none_or(|mode| mode.is("prompt"));
        let is_typed = is_of_person(queued.get("origin")) && !queued.has("sourceAgentId");
        queued.get("prompt").filter(|_| is_prompt && is_typed)
    }
}

/// Returns whether a message with this origin is from a person. Most messages have no origin.
fn is_of_person(origin: Option<Value<'_>>) -> bool {
    let kind = origin.and_then(|o| o.get("kind"));
    kind.is_none_or(|kind| ["human", "user", "channel"].iter().any(|person| kind.is(person)))
}

#[derive(Default)]
struct ClaudeCodeReader {
    main: Option<TrajectoryBuilder>,
    /// Sub-agents whose lines are in this file, by agent ID or by their root.
    sides: Vec<TrajectoryBuilder>,
    side_by_key: HashMap<String, usize>,
    /// Sub-agents read from progress lines, with the call that started each.
    relayed: Vec<(TrajectoryBuilder, Option<Text>)>,
    relayed_by_id: HashMap<String, usize>,
    /// Hashes of lines already read: a resumed session repeats the earlier ones.
    seen: HashSet<u64, BuildHasherDefault<Hashed>>,
    /// Whether the file holds lines of the session itself.
    has_main: bool,
    is_agent_file: Option<Text>,
    /// Event of the turn that a slash command of an unknown kind started. If output of the client
    /// follows, the client executed the command and it did not start a turn.
    command_turn: Option<usize>,
}

impl Reader for ClaudeCodeReader {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        let Some(value) = out.object(record, "a session line") else { return };
        let line = ClaudeCodeLine::new(value);
        if let Some(uuid) = line.uuid
            && !self.seen.insert(hash(uuid))
        {
            return;
        }
        if let Some((agent, inner)) = line.relayed() {
            self.relay(record, &line, agent, &inner, out);
        }
        let before = match line.kind {
            "user" | "assistant" => self.command_turn.take(),
            _ => None,
        };
        let b = self.builder_for(&line, record, out);
        if b.run.id.is_none() {
            b.run.id = line.session.and_then(|s| record.text(s));
        }
        note_directory(b, record, &line);
        if b.run.agent.version.is_none() {
            b.run.agent.version = line.version.and_then(|v| record.text(v));
        }
        match line.kind {
            "assistant" => assistant_line(b, record, &line),
            "user" => {
                let command = user_line(b, record, &line, before);
                self.command_turn = command;
            }
            "attachment" if line.queued_prompt().is_some() => {
                user_text(b, record, &line, line.queued_prompt(), None);
            }
            "system" => system_line(b, record, &line),
            "summary"
            | "progress"
            | "file-history-snapshot"
            | "queue-operation"
            | "pr-link"
            | "attachment"
            | "permission-mode"
            | "mode"
            | "agent-name"
            | "custom-title"
            | "ai-title"
            | "last-prompt"
            | "frame-link"
            | "relocated"
            | "worktree-state"
            | "started"
            | "result"
            | "bridge-session"
            | "agent-setting"
            | "tag"
            | "saved_hook_context"
            | "content-replacement"
            | "speculation-accept"
            | "api-request"
            | "api-request-blob"
            | "api-request-shape"
            | "atis-latch"
            | "cost-state"
            | "tools-used" => {
                let kind = line.kind_value.and_then(|kind| record.text(kind));
                let kind = EventKind::Note(kind.unwrap_or_else(|| Text::owned(line.kind)));
                b.event(kind, None, None, line.time(), record.at());
            }
            other => b.unknown(other, record.at()),
        }
    }

    fn finish(&mut self, out: &mut Out) {
        let sides = std::mem::take(&mut self.sides);
        let relayed = std::mem::take(&mut self.relayed);
        let Some(mut main) = self.main.take() else { return };
        for mut side in sides {
            side.run.parent = Some(Parent { trajectory: main.run.id.clone(), call: None });
            side.add_usage_of_steps();
            main.run.children.push(side.finish());
        }
        for (mut agent, call) in relayed {
            let id = agent.run.id.as_ref().map(ToString::to_string).unwrap_or_default();
            let is_here = self.side_by_key.contains_key(&id);
            if is_here || has_own_file(&out.file, main.run.id.as_ref(), &id) {
                continue;
            }
            if let Some(index) = call.as_ref().and_then(|call| main.find(&call.get())) {
                let started_by = &mut main.run.calls[index as usize];
                started_by.spawned = started_by.spawned.take().or_else(|| agent.run.id.clone());
            }
            agent.run.parent = Some(Parent { trajectory: main.run.id.clone(), call });
            agent.add_usage_of_steps();
            main.run.children.push(agent.finish());
        }
        main.add_usage_of_steps();
        out.push(main.finish());
    }
}

/// Returns whether this sub-agent has a file at the location where the client writes them.
fn has_own_file(session_file: &str, session: Option<&Text>, agent: &str) -> bool {
    let is_plain =
        |id: &str| id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    if agent.is_empty() || !is_plain(agent) {
        return false;
    }
    let path = Path::new(session_file);
    let name = format!("agent-{agent}.jsonl");
    let beside = path.with_file_name(&name);
    let session = session.map(ToString::to_string).unwrap_or_default();
    path.with_extension("").join("subagents").join(&name).is_file()
        || beside.is_file() && is_of_session(&beside, &session)
}

impl ClaudeCodeReader {
    /// Reads a progress line about a sub-agent.
    fn relay(
        &mut self,
        record: &Record<'_>,
        line: &ClaudeCodeLine<'_>,
        agent: Value<'_>,
        inner: &ClaudeCodeLine<'_>,
        out: &Out,
    ) {
        if let Some(uuid) = inner.uuid
            && !self.seen.insert(hash(uuid))
        {
            return;
        }
        let id = agent.str().unwrap_or_default();
        let next = self.relayed.len();
        let index = *self.relayed_by_id.entry(id.into_owned()).or_insert(next);
        if index == next {
            let mut b = out.builder(&ClaudeCode);
            b.run.agent.name = Some(Text::owned("claude-code"));
            b.run.id = record.text(agent);
            b.run.relayed = true;
            b.run.cwd = line.cwd.and_then(|c| record.text(c));
            self.relayed.push((b, line.parent_call.and_then(|call| record.text(call))));
        }
        let b = &mut self.relayed[index].0;
        match inner.kind {
            "assistant" => assistant_line(b, record, inner),
            "user" => {
                user_line(b, record, inner, None);
            }
            other => b.unknown(other, record.at()),
        }
    }

    /// Returns the trajectory that a line belongs to.
    fn builder_for(
        &mut self,
        line: &ClaudeCodeLine<'_>,
        record: &Record<'_>,
        out: &Out,
    ) -> &mut TrajectoryBuilder {
        let new = || {
            let mut b = out.builder(&ClaudeCode);
            b.run.agent.name = Some(Text::owned("claude-code"));
            b
        };
        let conversation = matches!(line.kind, "user" | "assistant");
        if conversation && !line.is_sidechain && !self.has_main {
            self.has_main = true;
            self.own_lines_begin();
        }
        // A file whose first conversation line is a sub-agent's is that sub-agent's own.
        if line.is_sidechain && !self.has_main {
            let agent = line.agent.and_then(|a| record.text(a));
            let own = self.is_agent_file.get_or_insert_with(|| {
                agent.clone().unwrap_or_else(|| Text::owned(line.uuid.unwrap_or("")))
            });
            if agent.as_ref().is_none_or(|a| *a == *own) {
                let main = self.main.get_or_insert_with(new);
                if main.run.parent.is_none() {
                    main.run.parent = Some(Parent {
                        trajectory: line.session.and_then(|s| record.text(s)),
                        call: None,
                    });
                    main.run.id = agent;
                }
                if let (Some(uuid), None) = (line.uuid, line.agent) {
                    self.side_by_key.insert(uuid.to_owned(), 0);
                }
                return main;
            }
        }
        if !line.is_sidechain {
            return self.main.get_or_insert_with(new);
        }
        self.main.get_or_insert_with(new);
        let key = self.side_key(line);
        let next = self.sides.len();
        let index = *self.side_by_key.entry(key.clone()).or_insert(next);
        if let Some(uuid) = line.uuid {
            self.side_by_key.insert(uuid.to_owned(), index);
        }
        if index == next {
            let mut side = new();
            side.run.id = line.agent.and_then(|a| record.text(a)).or(Some(Text::owned(key)));
            self.sides.push(side);
        }
        &mut self.sides[index]
    }

    /// Handles the session's first own line. Lines of a sub-agent before it (old versions warmed
    /// one up) do not belong to the session.
    fn own_lines_begin(&mut self) {
        if let (Some(own), Some(mut side)) = (self.is_agent_file.take(), self.main.take()) {
            self.side_by_key.insert(own.to_string(), self.sides.len());
            side.run.id = Some(own);
            self.sides.push(side);
        }
    }

    /// Returns the key shared by the lines of one inline sub-agent: its ID, or the root of the
    /// chain of parents.
    fn side_key(&self, line: &ClaudeCodeLine<'_>) -> String {
        if let Some(agent) = line.agent.and_then(Value::str) {
            return agent.into_owned();
        }
        match line.parent_uuid.filter(|p| self.side_by_key.contains_key(*p)) {
            Some(parent) => parent.to_owned(),
            None => line.uuid.unwrap_or("").to_owned(),
        }
    }
}

/// Passes numbers that are already hashes through unchanged.
#[derive(Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

fn hash(text: &str) -> u64 {
    use foldhash::quality::RandomState;
    use std::hash::BuildHasher;
    thread_local!(static STATE: RandomState = RandomState::default());
    STATE.with(|state| state.hash_one(text))
}

/// Records the current directory. Every line contains it; the effect of a `cd` command shows
/// in the next line.
fn note_directory(b: &mut TrajectoryBuilder, record: &Record<'_>, line: &ClaudeCodeLine<'_>) {
    let Some(cwd) = line.cwd.and_then(|c| record.text(c)) else { return };
    let last = b.run.moves.last().map(|last| &last.to).or(b.run.cwd.as_ref());
    match last {
        None => (b.run.cwd, b.run.moves_recorded) = (Some(cwd), true),
        Some(last) if last.raw() == cwd.raw() => {}
        Some(_) if b.run.moves.len() >= MAX_MOVES => b.run.moves_recorded = false,
        Some(_) => b.run.moves.push(Move { call: b.run.calls.len(), to: cwd }),
    }
}

fn assistant_line(b: &mut TrajectoryBuilder, record: &Record<'_>, line: &ClaudeCodeLine<'_>) {
    match line.message {
        Some(message) => {
            claude::assistant(b, record, message, line.is_api_error, line.time(), record.at());
        }
        None => b.unknown("assistant without message", record.at()),
    }
}

/// Reads a user line. Returns the turn that a slash command started, for
/// [`ClaudeCodeReader::command_turn`].
fn user_line(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    line: &ClaudeCodeLine<'_>,
    command_before: Option<usize>,
) -> Option<usize> {
    let time = line.time();
    let content = line.message.and_then(|m| m.get("content"));
    let mut results = 0;
    for block in content.into_iter().flat_map(Value::items) {
        if block.field_is("type", "tool_result") {
            results += 1;
            let call = anthropic::tool_result(b, record, block, time);
            if let (Some(call), Some(result)) = (call, line.result) {
                claude::enrich(b, record, call, result);
            }
        } else if results > 0 {
            // Words beside a result are the client's ("[Request interrupted by user]").
            let text = block.get("text").unwrap_or(block);
            b.context(Some(record.payload(text)), time, record.at_value(block));
        }
    }
    if results > 0 {
        return None;
    }
    user_text(b, record, line, content, command_before)
}

/// Reads the text of a user line, which starts a turn only if it is a person's request.
fn user_text(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    line: &ClaudeCodeLine<'_>,
    content: Option<Value<'_>>,
    command_before: Option<usize>,
) -> Option<usize> {
    let (time, at) = (line.time(), record.at());
    // The client marks most of what it injects.
    let is_marked = line.is_injected || line.is_sidechain || !is_of_person(line.origin);
    let Some(content) = content.filter(|_| !is_marked) else {
        b.context(content.map(|c| record.payload(c)), time, at);
        return None;
    };
    match user_words(record, content) {
        UserWords::Request(text) => b.user(Some(text), time, at),
        UserWords::Command { typed, is_local: true } => b.context(Some(typed), time, at),
        UserWords::Command { typed, is_local: false } => {
            b.user(Some(typed), time, at);
            return Some(b.run.events.len() - 1);
        }
        UserWords::Client { is_output } => {
            if let Some(command) = command_before.filter(|_| is_output) {
                b.withdraw_turn(command);
            }
            b.context(Some(record.payload(content)), time, at);
        }
    }
    None
}

fn system_line(b: &mut TrajectoryBuilder, record: &Record<'_>, line: &ClaudeCodeLine<'_>) {
    let kind = claude::system_kind(line.subtype);
    let text = line.content.map(|c| record.payload(c));
    b.event(kind, text, None, line.time(), record.at());
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, read_text, sketch};

    #[test]
    fn one_message_over_several_lines_is_one_step() {
        let read = read_fixture("claude-code.jsonl");
        assert_eq!(read.format, "claude-code");
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: list it\n\
             0 call Bash {\"command\":\"ls\"} -> failed(protocol) exit 2: Exit code 2\nno\n\
             0 call Read {\"file_path\":\"/w/a\"} -> unanswered(absent): \n\
             orphanresult: ?\n\
             unknown brand-new\n"
        );
        assert_eq!(run.usage.unwrap().recorded.output, 9);
        assert_eq!(run.calls[0].duration.unwrap().as_millis(), 1500);
        assert_eq!(run.repeated_results, 0);
        let place = run.calls[1].at.location();
        assert_eq!((place.line, place.column), (3, 146));
    }

    const RELAYED: &str = r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"go"}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s","message":{"id":"m1","content":[{"type":"tool_use","id":"T","name":"Task","input":{}}]}}
{"type":"progress","uuid":"p0","parentUuid":"a1","sessionId":"s","parentToolUseID":"T","data":{"type":"agent_progress","agentId":"ab","message":{"type":"user","uuid":"x0","message":{"role":"user","content":"clean"}}}}
{"type":"progress","uuid":"p1","parentUuid":"a1","sessionId":"s","parentToolUseID":"T","data":{"type":"agent_progress","agentId":"ab","message":{"type":"assistant","uuid":"x1","message":{"id":"m2","content":[{"type":"tool_use","id":"B","name":"Bash","input":{"command":"rm x"}}]}}}}
{"type":"progress","uuid":"p2","parentUuid":"p1","sessionId":"s","parentToolUseID":"T","data":{"type":"agent_progress","agentId":"ab","message":{"type":"assistant","uuid":"x1","message":{"id":"m2","content":[{"type":"tool_use","id":"B","name":"Bash","input":{"command":"rm x"}}]}}}}
{"type":"progress","uuid":"p3","parentUuid":"p1","sessionId":"s","parentToolUseID":"T","data":{"type":"agent_progress","agentId":"ab","message":{"type":"user","uuid":"x2","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"B","content":"ok"}]}}}}
{"type":"progress","uuid":"p4","parentUuid":"p1","sessionId":"s","data":{"type":"bash_progress","output":"x"}}
"#;

    #[test]
    fn progress_lines_stand_in_for_a_sub_agent_without_a_file() {
        let read = read_text(RELAYED);
        let run = &read.runs[0];
        assert_eq!((run.calls.len(), run.user_turns), (1, 1));
        assert_eq!(run.calls[0].spawned.as_ref().unwrap(), "ab");
        let [agent] = &run.children[..] else { panic!("one sub-agent") };
        assert_eq!(
            sketch(agent),
            "context: clean\n0 call Bash {\"command\":\"rm x\"} -> succeeded(protocol): ok\n"
        );
        assert!(agent.relayed);
        assert_eq!(agent.parent.as_ref().unwrap().call.as_ref().unwrap(), "T");
    }

    #[test]
    fn a_sub_agent_with_a_file_is_not_read_from_progress_lines() {
        let dir = tempfile::tempdir().unwrap();
        let session = dir.path().join("s.jsonl");
        std::fs::write(&session, RELAYED).unwrap();
        let own = dir.path().join("s/subagents");
        std::fs::create_dir_all(&own).unwrap();
        std::fs::write(
            own.join("agent-ab.jsonl"),
            r#"{"type":"user","uuid":"x0","parentUuid":null,"isSidechain":true,"agentId":"ab","sessionId":"s","message":{"role":"user","content":"clean"}}"#,
        )
        .unwrap();
        let runs: Vec<_> =
            crate::read_path(&session, &crate::ReadOptions::default()).unwrap().collect();
        assert!(runs[0].children.is_empty());
        let loaded = crate::load_path(&session, &crate::ReadOptions::default()).unwrap();
        assert_eq!(loaded.runs[0].children.len(), 1);
        assert!(!loaded.runs[0].children[0].relayed);
    }

    #[test]
    fn a_turn_is_what_a_person_asked() {
        let user = |n: usize, rest: &str| {
            format!(r#"{{"type":"user","uuid":"{n}","parentUuid":null,"sessionId":"s",{rest}}}"#)
        };
        let text = |text: &str| format!(r#""message":{{"role":"user","content":"{text}"}}"#);
        let lines = [
            text("<command-name>/model</command-name><command-args>opus</command-args>"),
            text("<local-command-stdout>Set model</local-command-stdout>"),
            text("<command-name>/brand-new</command-name>"),
            text("<local-command-stdout>opened</local-command-stdout>"),
            text("<command-message>fix</command-message><command-name>/fix</command-name><command-args>it</command-args>"),
            format!(r#""origin":{{"kind":"task-notification"}},{}"#, text("done")),
            format!(r#""origin":{{"kind":"human"}},{}"#, text("now this")),
            r#""message":{"content":[{"type":"text","text":"<system-reminder>x</system-reminder>"},{"type":"text","text":"and that"}]}"#.to_owned(),
            r#""message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}"#.to_owned(),
        ];
        let mut file: Vec<String> = lines.iter().enumerate().map(|(n, l)| user(n, l)).collect();
        for (n, queued) in [
            r#""prompt":"also here","commandMode":"prompt","origin":{"kind":"human"}"#,
            r#""prompt":"<task-notification>x</task-notification>","commandMode":"task-notification""#,
        ]
        .iter()
        .enumerate()
        {
            file.push(format!(r#"{{"type":"attachment","uuid":"q{n}","parentUuid":null,"sessionId":"s","attachment":{{"type":"queued_command",{queued}}}}}"#));
        }
        let read = read_text(&file.join("\n"));
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "context: /model opus\n\
             context: <local-command-stdout>Set model</local-command-stdout>\n\
             context: /brand-new\n\
             context: <local-command-stdout>opened</local-command-stdout>\n\
             user: /fix it\n\
             context: done\n\
             user: now this\n\
             user: and that\n\
             context: [Request interrupted by user]\n\
             user: also here\n\
             note attachment\n"
        );
        assert_eq!(run.user_turns, 4);
    }

    #[test]
    fn a_sub_agent_before_the_first_prompt_is_not_the_session() {
        let read = read_text(
            r#"{"type":"user","uuid":"w","parentUuid":null,"isSidechain":true,"sessionId":"s","message":{"role":"user","content":"Warmup"}}
{"type":"assistant","uuid":"x","parentUuid":"w","isSidechain":true,"sessionId":"s","message":{"id":"m0","content":"ready"}}
{"type":"user","uuid":"a","parentUuid":null,"isSidechain":false,"sessionId":"s","message":{"role":"user","content":"go"}}
{"type":"assistant","uuid":"y","parentUuid":"x","isSidechain":true,"sessionId":"s","message":{"id":"m1","content":"still here"}}
"#,
        );
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: go\nsub-agent w\n  context: Warmup\n  0 message: ready\n  1 message: still here\n"
        );
        assert_eq!(run.id.as_ref().unwrap(), "s");
        assert!(run.parent.is_none());
    }

    #[test]
    fn lines_without_a_session_id() {
        let read = read_text(
            r#"{"type":"user","uuid":"1","parentUuid":null,"message":{"role":"user","content":"go"}}
{"type":"assistant","uuid":"2","parentUuid":"1","message":{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}]}}
{"type":"assistant","uuid":"3","parentUuid":"2","message":{"role":"assistant","content":"done"}}
"#,
        );
        assert_eq!(read.format, "claude-code");
        let want = "user: go\n0 call Bash {} -> unanswered(absent): \n1 message: done\n";
        assert_eq!(sketch(&read.runs[0]), want);
    }

    #[test]
    fn inline_sub_agents_are_children() {
        let read = read_text(
            r#"{"type":"user","uuid":"a","parentUuid":null,"isSidechain":false,"sessionId":"s","message":{"role":"user","content":"go"}}
{"type":"user","uuid":"b","parentUuid":null,"isSidechain":true,"sessionId":"s","message":{"role":"user","content":"sub task"}}
{"type":"assistant","uuid":"c","parentUuid":"b","isSidechain":true,"sessionId":"s","message":{"id":"m2","content":[{"type":"tool_use","id":"t3","name":"Grep","input":{}}]}}
"#,
        );
        assert_eq!(
            sketch(&read.runs[0]),
            "user: go\nsub-agent b\n  context: sub task\n  0 call Grep {} -> unanswered(absent): \n"
        );
        assert_eq!(read.runs[0].children[0].user_turns, 0);
    }
}
