//! Logs of hook payloads: the standard input of hooks of Claude Code (and of hosts that
//! copied its protocol), one object per line.
//!
//! A log may hold several interleaved sessions and any subset of the events, depending on the
//! configured hooks: `PostToolUse` alone is enough for a call. A payload with `agent_id`
//! belongs to that sub-agent. Loggers often wrap the payload to add a time. There are no
//! responses and no tokens; only `PostToolBatch` shows which calls were made in parallel.

use super::shared::claude::skill_event;
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{
    Call, EventKind, Fact, Fidelity, Parent, Status, StatusLevel, Text, ToolName, Trajectory, time,
};
use jiff::{SignedDuration, Timestamp};
use std::collections::{HashMap, VecDeque};
use toolmark_scan::Value;

/// Logs of hook payloads.
pub(crate) struct ClaudeHooks;

static INFO: FormatInfo = FormatInfo {
    id: "claude-hooks",
    title: "Claude hook payloads",
    origin: "a hook that appends its standard input to a file",
    versions: "Claude Code 1.0 to 2.1",
    looks_for: "objects with hook_event_name and session_id",
    fidelity: Fidelity::lacking(&[
        Fact::Steps,
        Fact::Parallel,
        Fact::ExitCodes,
        Fact::Messages,
        Fact::Reasoning,
        Fact::Tokens,
        Fact::Cost,
        Fact::ToolDefinitions,
    ]),
};

/// Known events without information about calls.
const NOTED: [&str; 24] = [
    "ConfigChange",
    "CwdChanged",
    "DirectoryAdded",
    "Elicitation",
    "ElicitationResult",
    "FileChanged",
    "InstructionsLoaded",
    "MessageDisplay",
    "Notification",
    "PermissionRequest",
    "PostCompact",
    "SessionEnd",
    "SessionStart",
    "Setup",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "TaskCompleted",
    "TaskCreated",
    "TeammateIdle",
    "UserPromptExpansion",
    "WorktreeCreate",
    "WorktreeRemove",
    "WorktreeChanged",
];

impl Format for ClaudeHooks {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let payloads = probe.records().iter().filter_map(|r| payload_of(*r));
        let mut best = 0;
        for payload in payloads {
            let own = payload.get("session_id").is_some()
                && (payload.get("transcript_path").is_some() || payload.get("cwd").is_some());
            best = best.max(if own { 95 } else { 55 });
        }
        best
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<HookReader>::default()
    }
}

/// Returns the payload of a line: the line itself, or the member in which a logger wrapped it.
fn payload_of(line: Value<'_>) -> Option<Value<'_>> {
    const WRAPPERS: [&str; 6] = ["payload", "input", "data", "event", "hook_input", "stdin"];
    let is_payload = |v: Value<'_>| v.get("hook_event_name").is_some_and(Value::is_string);
    if is_payload(line) {
        return Some(line);
    }
    WRAPPERS.iter().find_map(|key| line.get(key).filter(|v| is_payload(*v)))
}

#[derive(Default)]
struct HookReader {
    sessions: Vec<ClaudeHooksSession>,
    by_id: HashMap<String, usize>,
}

impl Reader for HookReader {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        let Some(line) = out.object(record, "a hook payload") else { return };
        let Some(payload) = payload_of(line) else {
            out.skip(&record.at(), "not a hook payload: it has no hook_event_name");
            return;
        };
        let stamp = ["timestamp", "time", "ts"]
            .iter()
            .find_map(|key| payload.get(key).or(line.get(key)))
            .and_then(time::from_value);
        let id = payload.get_str("session_id").unwrap_or_default();
        let next = self.sessions.len();
        let index = match self.by_id.get(&*id) {
            Some(&known) => known,
            None => {
                self.by_id.insert(id.to_string(), next);
                self.sessions.push(ClaudeHooksSession::new(out));
                next
            }
        };
        self.sessions[index].payload(record, payload, stamp, out);
    }

    fn finish(&mut self, out: &mut Out) {
        for session in self.sessions.drain(..) {
            out.push(session.finish());
        }
    }
}

struct ClaudeHooksSession {
    main: HooksAgent,
    /// Sub-agents in order of appearance.
    agents: Vec<HooksAgent>,
    by_id: HashMap<String, usize>,
}

/// An agent of a session.
struct HooksAgent {
    b: TrajectoryBuilder,
    /// Calls without an ID and without a result, by tool.
    waiting: HashMap<String, VecDeque<u32>>,
}

impl ClaudeHooksSession {
    fn new(out: &Out) -> Self {
        Self { main: HooksAgent::new(out), agents: Vec::new(), by_id: HashMap::new() }
    }

    fn payload(
        &mut self,
        record: &Record<'_>,
        payload: Value<'_>,
        time: Option<Timestamp>,
        out: &Out,
    ) {
        let run = &mut self.main.b.run;
        if run.id.is_none() {
            run.id = record.text_at(payload, "session_id");
        }
        if run.cwd.is_none() {
            run.cwd = record.text_at(payload, "cwd");
        }
        if run.agent.model.is_none() {
            run.agent.model = record.text_at(payload, "model");
        }
        if run.agent.name.is_none() {
            let path = payload.get_str("transcript_path").unwrap_or_default();
            run.agent.name = Some(Text::owned(host(&path)));
        }
        let agent = match payload.get("agent_id").and_then(|id| record.text(id)) {
            Some(id) => self.agent(id, record, payload, out),
            None => &mut self.main,
        };
        agent.event(record, payload, time);
    }

    fn agent(
        &mut self,
        id: Text,
        record: &Record<'_>,
        payload: Value<'_>,
        out: &Out,
    ) -> &mut HooksAgent {
        let next = self.agents.len();
        let index = *self.by_id.entry(id.get().into_owned()).or_insert(next);
        if index == next {
            let mut agent = HooksAgent::new(out);
            agent.b.run.id = Some(id);
            agent.b.run.cwd = record.text_at(payload, "cwd");
            agent.b.run.agent.name = record.text_at(payload, "agent_type");
            self.agents.push(agent);
        }
        &mut self.agents[index]
    }

    fn finish(self) -> Trajectory {
        let mut main = self.main.b;
        let started_by: HashMap<String, Option<Text>> = main
            .run
            .calls
            .iter()
            .filter_map(|c| Some((c.spawned.as_ref()?.get().into_owned(), c.id.clone())))
            .collect();
        for agent in self.agents {
            let mut child = agent.b;
            let call = child.run.id.as_ref().and_then(|id| started_by.get(&*id.get()));
            child.run.parent =
                Some(Parent { trajectory: main.run.id.clone(), call: call.cloned().flatten() });
            main.run.children.push(child.finish());
        }
        main.finish()
    }
}

/// Returns the host that wrote the payloads: other hosts use the same protocol.
fn host(transcript: &str) -> &'static str {
    match transcript {
        path if path.contains("/.codex/") => "codex",
        path if path.contains("/.gemini/") => "gemini-cli",
        path if path.contains("/.qwen/") => "qwen-code",
        _ => "claude-code",
    }
}

impl HooksAgent {
    fn new(out: &Out) -> Self {
        Self { b: out.builder(&ClaudeHooks), waiting: HashMap::new() }
    }

    fn event(&mut self, record: &Record<'_>, payload: Value<'_>, time: Option<Timestamp>) {
        let Some(kind) = payload.get("hook_event_name") else { return };
        let text = |key: &str| record.payload_at(payload, key);
        match kind.inner().unwrap_or("") {
            "PreToolUse" => {
                let index = self.call(record, payload, time);
                let call = &self.b.run.calls[index as usize];
                if call.id.is_none() {
                    let tool = call.name.original.get().into_owned();
                    self.waiting.entry(tool).or_default().push_back(index);
                }
            }
            "PostToolUse" => {
                let answer = responded(record, payload);
                self.answer(record, payload, answer, time);
            }
            "PostToolUseFailure" => {
                let cut_off = payload.is_true("is_interrupt");
                let answer = ReaderResult::new(text("error"), record.at());
                let answer = match cut_off {
                    true => answer.status(Status::Interrupted, StatusLevel::Protocol),
                    false => answer.protocol(true),
                };
                self.answer(record, payload, answer, time);
            }
            "PermissionDenied" => {
                let answer = ReaderResult::new(text("reason"), record.at());
                let answer = answer.status(Status::Denied, StatusLevel::Denial);
                self.answer(record, payload, answer, time);
            }
            "PostToolBatch" => self.batch(record, payload, time),
            "UserPromptSubmit" => self.b.user(text("prompt"), time, record.at()),
            "PreCompact" => {
                let why = text("custom_instructions").or(text("trigger"));
                self.b.event(EventKind::Compaction, why, None, time, record.at());
            }
            "StopFailure" => {
                self.b.event(EventKind::Error, text("error"), None, time, record.at());
            }
            known if NOTED.contains(&known) => {
                if known == "SessionEnd" {
                    self.b.run.outcome = record.text_at(payload, "reason");
                }
                let name = record.text(kind).unwrap_or_else(|| Text::owned(""));
                let words = text("last_assistant_message").or(text("message"));
                self.b.event(EventKind::Note(name), words, None, time, record.at());
            }
            other => {
                let kind = EventKind::Unknown(Text::owned(other));
                self.b.event(kind, Some(record.payload(payload)), None, time, record.at());
            }
        }
    }

    /// Returns the call that a payload announces or reports. `PreToolUse` is repeated if several
    /// hooks write to one log; repeated events are recognized by their ID.
    fn call(&mut self, record: &Record<'_>, payload: Value<'_>, time: Option<Timestamp>) -> u32 {
        let name = record.text_at(payload, "tool_name").unwrap_or_else(|| Text::owned(""));
        let before = self.b.run.calls.len();
        let index = self.b.call(NewCall {
            id: record.text_at(payload, "tool_use_id"),
            name: ToolName::new(name),
            args: record.payload_at(payload, "tool_input"),
            step: None,
            time,
            at: record.at(),
        });
        if self.b.run.calls.len() > before {
            skill_event(&mut self.b, before, time);
        }
        index
    }

    /// Records the result of the call in a payload; the call may not have been announced.
    fn answer(
        &mut self,
        record: &Record<'_>,
        payload: Value<'_>,
        answer: ReaderResult,
        time: Option<Timestamp>,
    ) {
        let ms = payload.get("duration_ms").and_then(Value::as_f64);
        let took: Option<SignedDuration> = ms.and_then(time::millis);
        let known = match payload.get_str("tool_use_id") {
            Some(id) => self.b.find(&id),
            None => {
                let tool = payload.get_str("tool_name").unwrap_or_default();
                self.waiting.get_mut(&*tool).and_then(VecDeque::pop_front)
            }
        };
        let index = known.unwrap_or_else(|| self.call(record, payload, None));
        self.b.answer_call(index, answer.time(time).duration(took));
        let call = &mut self.b.run.calls[index as usize];
        if call.spawned.is_none() {
            let agent = payload.get("tool_response").and_then(|r| r.get("agentId"));
            call.spawned = agent.and_then(|id| record.text(id));
        }
    }

    /// Reads the calls of one model response.
    fn batch(&mut self, record: &Record<'_>, payload: Value<'_>, time: Option<Timestamp>) {
        let step = self.b.step(None, time, record.at());
        self.b.run.fidelity.gain(Fact::Parallel);
        for element in payload.items_at("tool_calls") {
            let known = element.get_str("tool_use_id").and_then(|id| self.b.find(&id));
            let index = known.unwrap_or_else(|| self.call(record, element, time));
            let call: &mut Call = &mut self.b.run.calls[index as usize];
            call.step = Some(step);
            if call.result.is_none() && element.has("tool_response") {
                self.b.answer_call(index, responded(record, element).time(time));
            }
        }
        let kind = EventKind::Note(Text::owned("PostToolBatch"));
        self.b.event(kind, None, Some(step), time, record.at());
    }
}

/// Reads `tool_response`. The event alone means that the tool completed; the response of some
/// tools contains more.
fn responded(record: &Record<'_>, payload: Value<'_>) -> ReaderResult {
    let response = payload.get("tool_response");
    let answer = ReaderResult::new(response.map(|r| record.payload(r)), record.at());
    let says = |key: &str| response.and_then(|r| r.get(key)).and_then(Value::as_bool);
    if says("interrupted") == Some(true) {
        return answer.status(Status::Interrupted, StatusLevel::Protocol);
    }
    let failed = says("is_error").or(says("isError")).or(says("success").map(|ok| !ok));
    answer.protocol(failed.unwrap_or(false))
}

#[cfg(test)]
mod tests {
    use crate::model::Fact;
    use crate::testing::{read_fixture, read_text, sketch};

    #[test]
    fn before_and_after_are_one_call() {
        let read = read_fixture("claude-hooks.jsonl");
        assert_eq!(read.format, "claude-hooks");
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: go\n\
             call Bash {\"command\":\"ls\"} -> succeeded(protocol): {\"stdout\":\"a\",\"interrupted\":false}\n\
             call Write {} -> failed(protocol): disk full\n\
             call Edit {} -> denied(denial): policy\n\
             call Read {} -> unanswered(absent): \n\
             note Stop\n\
             unknown Levitate\n\
             note SessionEnd\n"
        );
        assert_eq!(run.calls[0].duration.unwrap().as_millis(), 12);
        assert_eq!(run.outcome.as_ref().unwrap(), "clear");
        assert_eq!(run.agent.name.as_ref().unwrap(), "claude-code");
        assert!(run.fidelity.lacks(Fact::Parallel));
    }

    #[test]
    fn without_ids_by_position() {
        let read = read_text(
            r#"{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"a"}}
{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"b"}}
{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Read","tool_input":{}}
{"hook_event_name":"PostToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"a"},"tool_response":"1"}
{"hook_event_name":"PostToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"b"},"tool_response":"2"}
{"hook_event_name":"PostToolUse","session_id":"s","tool_name":"Grep","tool_input":{},"tool_response":"3"}
{"hook_event_name":"PostToolUseFailure","session_id":"s","tool_name":"Read","tool_input":{},"error":"cut","is_interrupt":true}
"#,
        );
        assert_eq!(
            sketch(&read.runs[0]),
            "call Bash {\"command\":\"a\"} -> succeeded(protocol): 1\n\
             call Bash {\"command\":\"b\"} -> succeeded(protocol): 2\n\
             call Read {} -> interrupted(protocol): cut\n\
             call Grep {} -> succeeded(protocol): 3\n"
        );
    }

    #[test]
    fn sessions_are_mixed_and_sub_agents_nest() {
        let read = read_text(
            r#"{"time":"2026-01-01T00:00:00Z","payload":{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/w","tool_name":"Task","tool_input":{},"tool_use_id":"t1"}}
{"time":"2026-01-01T00:00:01Z","payload":{"hook_event_name":"PreToolUse","session_id":"z","cwd":"/v","tool_name":"Bash","tool_input":{},"tool_use_id":"t1"}}
{"time":"2026-01-01T00:00:02Z","payload":{"hook_event_name":"SubagentStart","session_id":"s","cwd":"/w","agent_id":"ag","agent_type":"Explore"}}
{"time":"2026-01-01T00:00:03Z","payload":{"hook_event_name":"PostToolUse","session_id":"s","cwd":"/w","agent_id":"ag","tool_name":"Grep","tool_input":{},"tool_use_id":"t2","tool_response":{"success":false}}}
{"time":"2026-01-01T00:00:04Z","payload":{"hook_event_name":"PostToolUse","session_id":"s","cwd":"/w","tool_name":"Task","tool_input":{},"tool_use_id":"t1","tool_response":{"agentId":"ag"}}}
"#,
        );
        assert_eq!(read.runs.len(), 2);
        assert_eq!(
            sketch(&read.runs[0]),
            "call Task {} -> succeeded(protocol): {\"agentId\":\"ag\"}\n\
             sub-agent ag\n\
             \u{20} note SubagentStart\n\
             \u{20} call Grep {} -> failed(protocol): {\"success\":false}\n"
        );
        let child = &read.runs[0].children[0];
        assert_eq!(child.agent.name.as_ref().unwrap(), "Explore");
        assert_eq!(child.parent.as_ref().unwrap().call.as_ref().unwrap(), "t1");
        assert_eq!(read.runs[0].calls[0].duration.unwrap().as_secs(), 4);
        assert_eq!(sketch(&read.runs[1]), "call Bash {} -> unanswered(absent): \n");
    }

    #[test]
    fn a_batch_is_a_parallel_round() {
        let read = read_text(
            r#"{"hook_event_name":"PostToolUse","session_id":"s","tool_name":"A","tool_input":{},"tool_use_id":"1","tool_response":"x"}
{"hook_event_name":"PostToolBatch","session_id":"s","tool_calls":[{"tool_name":"A","tool_input":{},"tool_use_id":"1","tool_response":"x"},{"tool_name":"B","tool_input":{},"tool_use_id":"2","tool_response":"y"}]}
"#,
        );
        let run = &read.runs[0];
        assert!(run.calls.iter().all(|c| c.step == Some(0) && c.result.is_some()));
        assert_eq!(run.calls.len(), 2);
        assert!(!run.fidelity.lacks(Fact::Parallel));
    }

    #[test]
    fn wrong_types_are_harmless() {
        let read = read_text(
            r#"{"hook_event_name":"PreToolUse","session_id":5,"tool_name":[],"tool_input":null,"tool_use_id":{}}
{"hook_event_name":"PostToolBatch","session_id":5,"tool_calls":{"a":1}}
{"hook_event_name":7}
[]
"#,
        );
        assert_eq!(read.skipped, 2);
        assert_eq!(sketch(&read.runs[0]), "call   -> unanswered(absent): \nnote PostToolBatch\n");
    }
}
