//! The output of `claude -p --output-format stream-json` (or `json`) and of the Agent SDK:
//! events in snake case, from `system/init` to `result`.
//!
//! As in session files, one API message is spread over several `assistant` events that share
//! its ID and repeat its usage. Events of a sub-agent carry the ID of the call that started
//! it (`parent_tool_use_id`). The stream does not contain the prompt, and only recent streams
//! contain times. `result` states usage, cost and refused calls; wrappers sometimes drop it,
//! and plain `json` prints nothing else. Logs of CI jobs contain noise between the events or
//! print all of them as one array; some tools wrap the body of an event in `message`.

use super::shared::claude_words::{UserWords, user_words};
use super::shared::{anthropic, claude, declared};
use crate::builder::TrajectoryBuilder;
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{
    Convention, Cost, DeclaredOutcome, EventKind, Fact, Fidelity, MAX_DEPTH, Parent, Payload,
    Status, StatusLevel, Text, ToolDefinition, Trajectory, Usage, time,
};
use jiff::Timestamp;
use std::collections::HashMap;
use toolmark_scan::Value;

/// Claude's stream-json.
pub(crate) struct ClaudeStream;

static INFO: FormatInfo = FormatInfo {
    id: "claude-stream",
    title: "Claude stream-json",
    origin: "claude -p --output-format stream-json or json, the Agent SDK, CI logs of both",
    versions: "1.0 to 2.1",
    looks_for: "events system/init, assistant, user and result with session_id",
    fidelity: Fidelity::FULL,
};

impl Format for ClaudeStream {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let mut best = 0;
        for &record in probe.records() {
            // The same events, but tool calls in events of their own: Cursor.
            if record.field_is("type", "tool_call") {
                return best.min(40);
            }
            let event = if record.is_array() { record.items().next() } else { Some(record) };
            best = best.max(event.map_or(0, confidence));
        }
        best
    }

    fn answers_calls(&self) -> bool {
        true
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(StreamReader { session: None })
    }
}

/// Returns the confidence that a single event is Claude's.
fn confidence(event: Value<'_>) -> Confidence {
    let body = event.get("message").filter(|m| m.is_object());
    let is_session_line = event.get("sessionId").is_some();
    match event.word("type") {
        _ if is_session_line => 0,
        "system" => {
            let init = body.filter(|m| m.get("subtype").is_some()).unwrap_or(event);
            let marks = ["tools", "mcp_servers", "claude_code_version", "slash_commands"];
            let is_init = init.field_is("subtype", "init");
            match is_init && marks.iter().any(|m| init.get(m).is_some()) {
                true => 100,
                false if event.get("session_id").is_some() && is_init => 60,
                false => 0,
            }
        }
        "assistant" | "user" => {
            let is_message = body.is_some_and(|m| m.get("content").is_some());
            let is_answer = || {
                let usage = body.and_then(|m| m.get("usage"));
                usage.is_some_and(|u| u.get("input_tokens").is_some())
            };
            match is_message && event.get("session_id").is_some() {
                true if event.has("parent_tool_use_id") => 95,
                true => 60,
                // The rest of an event that a wrapper stripped.
                false if is_message && is_answer() && !event.has("uuid") => 55,
                false => 0,
            }
        }
        "result" => {
            let event = body.unwrap_or(event);
            let marks = ["total_cost_usd", "permission_denials", "num_turns", "modelUsage"];
            let count = marks.iter().filter(|m| event.get(m).is_some()).count();
            match count {
                0 => 0,
                1 => 70,
                _ => 95,
            }
        }
        "stream_event" if event.get("session_id").is_some() => 80,
        _ => 0,
    }
}

/// The relevant members of an event, read in one pass.
#[derive(Default)]
struct ClaudeStreamLine<'a> {
    kind: &'a str,
    message: Option<Value<'a>>,
    session: Option<Value<'a>>,
    parent: Option<Value<'a>>,
    timestamp: Option<Value<'a>>,
    result: Option<Value<'a>>,
    is_synthetic: bool,
}

impl<'a> ClaudeStreamLine<'a> {
    fn new(value: Value<'a>) -> Self {
        let mut line = Self::default();
        for (key, value) in value.fields() {
            match key.inner().unwrap_or("") {
                "type" => line.kind = value.inner().unwrap_or(""),
                "message" => line.message = Some(value),
                "session_id" => line.session = Some(value),
                "parent_tool_use_id" => line.parent = Some(value).filter(|v| v.is_string()),
                "timestamp" => line.timestamp = Some(value),
                "tool_use_result" => line.result = Some(value),
                "isSynthetic" | "isMeta" => line.is_synthetic |= value.as_bool() == Some(true),
                _ => {}
            }
        }
        line
    }

    fn time(&self) -> Option<Timestamp> {
        time::from_value(self.timestamp?)
    }
}

struct StreamReader {
    session: Option<ClaudeStreamSession>,
}

impl Reader for StreamReader {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        let Some(value) = record.json() else { return };
        if !value.is_array() {
            return self.event(record, value, out);
        }
        // A line of a log that holds the whole stream.
        for event in value.items() {
            self.event(record, event, out);
        }
    }

    fn finish(&mut self, out: &mut Out) {
        if let Some(session) = self.session.take() {
            out.push(session.finish());
        }
    }
}

impl StreamReader {
    fn event(&mut self, record: &Record<'_>, event: Value<'_>, out: &mut Out) {
        if !event.is_object() {
            out.skip(&record.at_value(event), "not an event: expected an object");
            return;
        }
        let line = ClaudeStreamLine::new(event);
        // Some tools put what belongs to the event itself into `message`.
        let wrapped =
            line.message.filter(|m| m.is_object() && !matches!(line.kind, "assistant" | "user"));
        let body = wrapped.unwrap_or(event);
        let id = line.session.or(body.get("session_id")).and_then(|s| record.text(s));
        let is_init = line.kind == "system" && body.field_is("subtype", "init");
        let other = |s: &ClaudeStreamSession| {
            s.main.run.id.is_some() && id.is_some() && s.main.run.id != id
        };
        if is_init && self.session.as_ref().is_some_and(other) {
            self.finish(out);
        }
        let session = self
            .session
            .get_or_insert_with(|| ClaudeStreamSession::new(out.builder(&ClaudeStream)));
        if session.main.run.id.is_none() {
            session.main.run.id = id;
        }
        let at = record.at_value(event);
        match line.kind {
            "system" => session.system(record, body, &line),
            "assistant" => assistant(session.builder_for(&line, out), record, event, &line),
            "user" => user(session.builder_for(&line, out), record, event, &line),
            "result" => session.result(record, body, &line),
            "stream_event"
            | "tool_progress"
            | "tool_use_summary"
            | "rate_limit_event"
            | "auth_status"
            | "control_request"
            | "control_response"
            | "keep_alive"
            | "prompt_suggestion"
            | "streamlined_text"
            | "streamlined_tool_use_summary" => {
                let kind = EventKind::Note(Text::owned(line.kind));
                session.builder_for(&line, out).event(kind, None, None, line.time(), at);
            }
            other => {
                let kind = EventKind::Unknown(Text::owned(other));
                session.main.event(kind, Some(record.payload(event)), None, line.time(), at);
            }
        }
    }
}

struct ClaudeStreamSession {
    main: TrajectoryBuilder,
    /// Sub-agents, in order of appearance, by the ID of the call that started them.
    agents: Vec<(String, TrajectoryBuilder)>,
    agent_by_call: HashMap<String, usize>,
    usage: Option<Usage>,
    /// Cost stated by the last `result`; it is cumulative within a process.
    last_cost: Option<Cost>,
    denied: Vec<String>,
    /// Whether the file is a stream from its beginning.
    has_init: bool,
}

fn new_builder(mut b: TrajectoryBuilder) -> TrajectoryBuilder {
    b.run.agent.name = Some(Text::owned("claude-code"));
    b
}

impl ClaudeStreamSession {
    fn new(main: TrajectoryBuilder) -> Self {
        Self {
            main: new_builder(main),
            agents: Vec::new(),
            agent_by_call: HashMap::new(),
            usage: None,
            last_cost: None,
            denied: Vec::new(),
            has_init: false,
        }
    }

    /// Returns the trajectory that an event belongs to.
    fn builder_for(&mut self, line: &ClaudeStreamLine<'_>, out: &Out) -> &mut TrajectoryBuilder {
        let Some(call) = line.parent.and_then(Value::str) else { return &mut self.main };
        let next = self.agents.len();
        let index = match self.agent_by_call.get(&*call) {
            Some(&known) => known,
            None => {
                self.agent_by_call.insert(call.to_string(), next);
                self.agents.push((call.into_owned(), new_builder(out.builder(&ClaudeStream))));
                next
            }
        };
        &mut self.agents[index].1
    }

    fn system(&mut self, record: &Record<'_>, body: Value<'_>, line: &ClaudeStreamLine<'_>) {
        let subtype = body.word("subtype");
        let kind = match subtype {
            "init" => {
                self.has_init = true;
                self.init(record, body);
                EventKind::Note(Text::owned("system/init"))
            }
            "permission_denied" => {
                self.denied.extend(body.get_str("tool_use_id").map(|id| id.into_owned()));
                EventKind::Note(Text::owned("system/permission_denied"))
            }
            other => claude::system_kind(other),
        };
        let text = body.get("content").or(body.get("compact_metadata")).or(body.get("error"));
        let text = text.map(|t| record.payload(t));
        self.main.event(kind, text, None, line.time(), record.at_value(body));
    }

    fn init(&mut self, record: &Record<'_>, body: Value<'_>) {
        let run = &mut self.main.run;
        for (key, value) in body.fields() {
            match key.inner().unwrap_or("") {
                "cwd" => run.cwd = record.text(value),
                "model" => run.agent.model = record.text(value),
                "claude_code_version" => run.agent.version = record.text(value),
                "tools" if value.is_array() => {
                    let named = |tool: Value<'_>| {
                        let name = record.text(tool).or(record.text_at(tool, "name"))?;
                        Some(ToolDefinition { name, description: None, schema: None })
                    };
                    run.tools = Some(value.items().filter_map(named).collect());
                }
                _ => {}
            }
        }
    }

    fn result(&mut self, record: &Record<'_>, body: Value<'_>, line: &ClaudeStreamLine<'_>) {
        let (mut text, mut failed) = (None, false);
        for (key, value) in body.fields() {
            match key.inner().unwrap_or("") {
                "subtype" => self.main.run.outcome = record.text(value),
                "is_error" => failed = value.as_bool() == Some(true),
                "total_cost_usd" | "cost_usd" => self.cost(value.as_f64().and_then(Cost::from_usd)),
                "usage" => self.add_usage(value),
                "modelUsage" if self.main.run.agent.model.is_none() => {
                    let model = value.fields().next().and_then(|(name, _)| record.text(name));
                    self.main.run.agent.model = model;
                }
                "permission_denials" => {
                    let id = |d: Value<'_>| d.get_str("tool_use_id").map(|id| id.into_owned());
                    self.denied.extend(value.items().filter_map(id));
                }
                "result" | "errors" => text = Some(value).filter(|v| !v.is_null()).or(text),
                _ => {}
            }
        }
        self.main.run.completeness.declared_error = failed.then(|| {
            let words = text.and_then(|text| record.text(text));
            words
                .or_else(|| self.main.run.outcome.clone())
                .unwrap_or_else(|| Text::owned("is_error"))
        });
        // Every prompt of a process has a result; the last one decides. A failure of the API
        // has the subtype of a success.
        let run = &mut self.main.run;
        run.declared = None;
        if failed && run.outcome.as_ref().is_none_or(|o| o.is("success")) {
            let says = body.get("is_error").unwrap_or(body);
            declared::declare(run, record, DeclaredOutcome::Failed, "is_error true", says);
        }
        let text = text.map(|t| record.payload(t));
        let kind = if failed {
            EventKind::Error
        } else if self.main.run.steps.is_empty() {
            // The answer is nowhere else.
            EventKind::Message
        } else {
            EventKind::Note(Text::owned("result"))
        };
        self.main.event(kind, text, None, line.time(), record.at_value(body));
    }

    /// Adds a stated cost. Each prompt of a process states the cumulative cost; a new process
    /// starts at zero.
    fn cost(&mut self, stated: Option<Cost>) {
        let Some(stated) = stated else { return };
        let before = self.last_cost.filter(|b| *b <= stated).unwrap_or_default();
        let sum = self.main.run.cost.unwrap_or_default().nano_usd;
        let nano_usd = sum.saturating_add(stated.nano_usd.saturating_sub(before.nano_usd));
        self.main.run.cost = Some(Cost { nano_usd });
        self.last_cost = Some(stated);
    }

    fn add_usage(&mut self, usage: Value<'_>) {
        let tokens = anthropic::usage(usage);
        if tokens.is_zero() {
            return;
        }
        let usage = Usage::new(tokens, Convention::ANTHROPIC);
        match &mut self.usage {
            Some(sum) => sum.add(&usage),
            None => self.usage = Some(usage),
        }
    }

    fn finish(mut self) -> Trajectory {
        let owners = self.owners();
        for id in std::mem::take(&mut self.denied) {
            deny(&mut self.main, &id);
            if let Some(&agent) = owners.get(&id) {
                deny(&mut self.agents[agent].1, &id);
            }
        }
        self.hang_up_agents(&owners);
        let mut main = self.main;
        main.run.children.reverse();
        match self.usage {
            Some(usage) => main.run.usage = Some(usage),
            None => main.add_usage_of_steps(),
        }
        // Only `json` output has nothing but the result.
        if main.run.steps.is_empty() && main.run.calls.is_empty() && main.run.outcome.is_some() {
            for fact in [Fact::Steps, Fact::Parallel, Fact::UserTurns, Fact::SubAgents] {
                main.run.fidelity.lose(fact);
            }
            if !self.has_init {
                main.run.fidelity.lose(Fact::Calls);
            }
        }
        main.finish()
    }

    /// Returns the index of the sub-agent that made each call, by the call's ID.
    fn owners(&self) -> HashMap<String, usize> {
        let mut owners = HashMap::new();
        for (index, (_, agent)) in self.agents.iter().enumerate() {
            for id in agent.run.calls.iter().filter_map(|c| c.id.as_ref()) {
                owners.entry(id.get().into_owned()).or_insert(index);
            }
        }
        owners
    }

    /// Makes every sub-agent a child of the run whose call started it, or of the main run if
    /// there is no such call or the nesting is too deep.
    fn hang_up_agents(&mut self, owners: &HashMap<String, usize>) {
        let mut depths: Vec<usize> = Vec::with_capacity(self.agents.len());
        let mut parents = Vec::with_capacity(self.agents.len());
        for (call, _) in &self.agents {
            let owner =
                owners.get(call).filter(|&&o| self.main.find(call).is_none() && o < depths.len());
            let owner = owner.copied().filter(|&o| depths[o] < MAX_DEPTH);
            depths.push(owner.map_or(0, |o| depths[o] + 1));
            parents.push(owner);
        }
        // From the last to the first: each has its own children by then.
        while let (Some((call, agent)), Some(parent)) = (self.agents.pop(), parents.pop()) {
            let main_id = self.main.run.id.clone();
            let owner = match parent.and_then(|p| self.agents.get_mut(p)) {
                Some((_, owner)) => owner,
                None => &mut self.main,
            };
            hang_up(owner, main_id, call, agent);
        }
    }
}

/// Makes the sub-agent that `call` started a child of `owner`.
fn hang_up(
    owner: &mut TrajectoryBuilder,
    main_id: Option<Text>,
    call: String,
    mut agent: TrajectoryBuilder,
) {
    agent.add_usage_of_steps();
    agent.run.children.reverse();
    let mut id = Text::owned(call.as_str());
    if let Some(index) = owner.find(&call) {
        let started_by = &mut owner.run.calls[index as usize];
        id = started_by.spawned.get_or_insert(id).clone();
        let args = started_by.args.as_ref().and_then(Payload::parsed);
        if let Some(role) = args.and_then(|a| a.get("subagent_type")).and_then(|r| r.as_str()) {
            agent.run.agent.name = Some(Text::owned(role));
        }
    }
    agent.run.id = Some(id);
    agent.run.parent = Some(Parent { trajectory: main_id, call: Some(Text::owned(call)) });
    owner.run.children.push(agent.finish());
}

fn deny(b: &mut TrajectoryBuilder, id: &str) {
    if let Some(index) = b.find(id) {
        let call = &mut b.run.calls[index as usize];
        (call.status, call.level) = (Status::Denied, StatusLevel::Denial);
    }
}

fn assistant(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    event: Value<'_>,
    line: &ClaudeStreamLine<'_>,
) {
    let at = record.at_value(event);
    match line.message.filter(|m| m.is_object()) {
        Some(message) => claude::assistant(b, record, message, false, line.time(), at),
        None => b.unknown("assistant without message", at),
    }
}

fn user(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    event: Value<'_>,
    line: &ClaudeStreamLine<'_>,
) {
    let (time, at) = (line.time(), record.at_value(event));
    let content = line.message.and_then(|m| if m.is_string() { Some(m) } else { m.get("content") });
    let mut results = 0;
    for block in content.into_iter().flat_map(Value::items) {
        if block.field_is("type", "tool_result") {
            results += 1;
            let call = anthropic::tool_result(b, record, block, time);
            if let (Some(call), Some(twin)) = (call, line.result) {
                claude::enrich(b, record, call, twin);
            }
        }
    }
    if results > 0 {
        return;
    }
    let is_injected = line.is_synthetic || line.parent.is_some();
    let words = content.filter(|_| !is_injected).map(|c| user_words(record, c));
    match words {
        Some(UserWords::Request(text)) => b.user(Some(text), time, at),
        Some(UserWords::Command { typed, is_local: false }) => b.user(Some(typed), time, at),
        Some(UserWords::Command { typed, is_local: true }) => b.context(Some(typed), time, at),
        Some(UserWords::Client { .. }) | None => {
            b.context(content.map(|c| record.payload(c)), time, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::model::Fact;
    use crate::testing::{read_text, sketch};

    const INIT: &str = r#"{"type":"system","subtype":"init","session_id":"s","cwd":"/w","tools":["Bash","Task"],"model":"m","mcp_servers":[],"claude_code_version":"2.1.0"}"#;
    const RESULT: &str = r#"{"type":"result","subtype":"success","is_error":false,"num_turns":3,"session_id":"s","total_cost_usd":0.5,"usage":{"input_tokens":7,"output_tokens":8},"result":"done","permission_denials":[{"tool_name":"Bash","tool_use_id":"t2","tool_input":{}}]}"#;
    const EVENTS: &str = r#"{"type":"assistant","session_id":"s","parent_tool_use_id":null,"message":{"id":"m1","model":"m","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}],"usage":{"input_tokens":1,"output_tokens":1}}}
{"type":"assistant","session_id":"s","parent_tool_use_id":null,"message":{"id":"m1","model":"m","content":[{"type":"tool_use","id":"t2","name":"Bash","input":{"command":"rm x"}}],"usage":{"input_tokens":1,"output_tokens":4}}}
{"type":"user","session_id":"s","parent_tool_use_id":null,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"Exit code 2","is_error":true}]}}
{"type":"user","session_id":"s","parent_tool_use_id":null,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"not now","is_error":true}]}}
{"type":"user","session_id":"s","parent_tool_use_id":null,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t9","content":"?"}]}}
{"type":"brand_new","session_id":"s"}"#;
    const SKETCH: &str = "note system/init\n\
        0 call Bash {\"command\":\"ls\"} -> failed(protocol) exit 2: Exit code 2\n\
        0 call Bash {\"command\":\"rm x\"} -> denied(denial): not now\n\
        orphanresult: ?\n\
        unknown brand_new\n\
        note result\n";

    #[test]
    fn lines_noise_and_arrays_read_the_same() {
        let lines = format!("starting\n[DEBUG] x\n{INIT}\n{EVENTS}\nwarning\n{RESULT}\n");
        let all = [INIT, EVENTS, RESULT].join("\n").lines().collect::<Vec<_>>().join(",\n ");
        let pretty = format!("[\n {all}\n]\n");
        let one_line = format!("npm notice\n[{}]\nend\n", all.replace('\n', ""));
        for text in [&lines, &pretty, &one_line] {
            let read = read_text(text);
            assert_eq!(read.format, "claude-stream");
            let run = &read.runs[0];
            assert_eq!(sketch(run), SKETCH, "{text}");
            assert_eq!(run.usage.unwrap().total(), 15);
            assert_eq!(run.cost.unwrap().usd(), 0.5);
            assert_eq!(run.outcome.as_ref().unwrap(), "success");
            assert_eq!(run.tools.as_ref().unwrap().len(), 2);
            assert_eq!(run.id.as_ref().unwrap(), "s");
        }
    }

    #[test]
    fn without_a_result_usage_is_the_sum_of_the_messages() {
        let read = read_text(&format!("{INIT}\n{EVENTS}\n"));
        assert_eq!(read.runs[0].usage.unwrap().total(), 5);
        assert!(read.runs[0].cost.is_none());
    }

    #[test]
    fn wrapped_events() {
        let read = read_text(
            r#"{"type":"system","message":{"subtype":"init","tools":["Bash"],"model":"m","session_id":"s"},"timestamp":"2026-01-01T00:00:00.123456789+00:00"}
{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"hi"}]},"timestamp":"2026-01-01T00:00:01+00:00"}
"#,
        );
        assert_eq!(read.format, "claude-stream");
        assert_eq!(sketch(&read.runs[0]), "note system/init\n0 message: hi\n");
        assert_eq!(read.runs[0].id.as_ref().unwrap(), "s");
        assert!(read.runs[0].started.is_some());
    }

    #[test]
    fn sub_agents_hang_on_the_call_that_started_them() {
        let read = read_text(&format!(
            "{INIT}\n{}",
            r#"{"type":"assistant","session_id":"s","parent_tool_use_id":null,"message":{"id":"m1","content":[{"type":"tool_use","id":"a","name":"Task","input":{"subagent_type":"Explore"}},{"type":"tool_use","id":"b","name":"Task","input":{}}]}}
{"type":"user","session_id":"s","parent_tool_use_id":"a","message":{"role":"user","content":[{"type":"text","text":"look"}]}}
{"type":"assistant","session_id":"s","parent_tool_use_id":"a","message":{"id":"m2","content":[{"type":"tool_use","id":"c","name":"Task","input":{}}]}}
{"type":"assistant","session_id":"s","parent_tool_use_id":"b","message":{"id":"m3","content":[{"type":"text","text":"second"}]}}
{"type":"assistant","session_id":"s","parent_tool_use_id":"c","message":{"id":"m4","content":[{"type":"text","text":"deep"}]}}
{"type":"user","session_id":"s","parent_tool_use_id":null,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"ok"}]},"tool_use_result":{"agentId":"ag7","totalDurationMs":5}}
"#
        ));
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "note system/init\n\
             0 call Task {\"subagent_type\":\"Explore\"} -> unanswered(absent): \n\
             0 call Task {} -> succeeded(protocol): ok\n\
             sub-agent a\n\
             \u{20} context: look\n\
             \u{20} 0 call Task {} -> unanswered(absent): \n\
             \u{20} sub-agent c\n\
             \u{20}   0 message: deep\n\
             sub-agent ag7\n\
             \u{20} 0 message: second\n"
        );
        assert_eq!(run.calls[0].spawned.as_ref().unwrap(), "a");
        assert_eq!(run.children[0].agent.name.as_ref().unwrap(), "Explore");
        assert_eq!(run.children[1].parent.as_ref().unwrap().call.as_ref().unwrap(), "b");
    }

    #[test]
    fn a_result_alone() {
        let read = read_text(RESULT);
        let run = &read.runs[0];
        assert_eq!(sketch(run), "message: done\n");
        assert!(run.fidelity.lacks(Fact::Steps));
        assert_eq!(run.usage.unwrap().total(), 15);
    }

    #[test]
    fn sessions_one_after_the_other() {
        let second = INIT.replace("\"s\"", "\"z\"");
        let again = RESULT.replace("0.5", "0.75");
        let read = read_text(&format!("{INIT}\n{RESULT}\n{INIT}\n{again}\n{second}\n{RESULT}\n"));
        assert_eq!(read.runs.len(), 2);
        assert_eq!(read.runs[0].cost.unwrap().usd(), 0.75);
        assert_eq!(read.runs[0].usage.unwrap().total(), 30);
        assert_eq!(read.runs[1].id.as_ref().unwrap(), "z");
    }

    #[test]
    fn wrong_types_are_harmless() {
        let read = read_text(&format!(
            "{INIT}\n{}",
            r#"{"type":"assistant","message":7}
{"type":"assistant","message":{"id":[],"content":{"a":1},"usage":"x"}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":4}]}}
{"type":"result","usage":[],"total_cost_usd":"a lot","permission_denials":3}
7
"#
        ));
        assert_eq!(read.skipped, 1);
        assert_eq!(
            sketch(&read.runs[0]),
            "note system/init\nunknown assistant without message\norphanresult: \nnote result\n"
        );
    }
}
