//! GitHub Copilot CLI sessions: an event log, one JSON object per event.
//!
//! Every event is `{type, data, id, timestamp, parentId}`, with `agentId` if a sub-agent
//! caused it. Recorded streams of the SDK have the same events, and also ephemeral ones
//! (`assistant.usage`, deltas) that are never written to disk.
//!
//! One tool call has up to five events: the model requests it
//! (`assistant.message.toolRequests`, the only record of which calls were parallel), a hook
//! receives it, a permission is requested, it starts, and it completes. All of them carry the
//! same call ID; hooks and permissions are kept as notes and only used to detect refusals. A
//! shell command that fails still completes with `success: true`; its exit code is in the
//! telemetry or in the last line of the result.
//!
//! Total tokens are in `session.shutdown`, which a session appends each time its process
//! ends, counting from the last resume: they are added up. Since about 1.0.9, each response
//! also writes a `session.usage_record`, which is the only source for a session that crashed.

use super::shared::{copilot, exit_code};
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{
    Actor, Convention, EventKind, Fact, Fidelity, MAX_DEPTH, Parent, Payload, Status, StatusLevel,
    Text, Trajectory, Usage, UsageTokens, time,
};
use jiff::Timestamp;
use std::collections::HashMap;
use toolmark_scan::Value;

/// Copilot CLI sessions.
pub(crate) struct CopilotCli;

static INFO: FormatInfo = FormatInfo {
    id: "copilot-cli",
    title: "GitHub Copilot CLI session",
    origin: "~/.copilot/session-state/<session>/events.jsonl, `copilot -p --output-format json`, recorded SDK events",
    versions: "0.0.3xx to 1.0",
    looks_for: "events with a dotted type, data, id and parentId",
    fidelity: Fidelity::lacking(&[Fact::Cost, Fact::ToolDefinitions]),
};

impl Format for CopilotCli {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let is_event = |r: Value<'_>| {
            r.get("type").and_then(Value::inner).is_some_and(|t| t.contains('.') || t == "abort")
                && r.get("data").is_some_and(Value::is_object)
                && r.get("id").is_some()
                && r.has("parentId")
        };
        let is_start = |r: Value<'_>| {
            r.field_is("type", "session.start") && r.at(&["data", "sessionId"]).is_some()
        };
        if probe.any(|r| is_event(r) || is_start(r)) {
            return 100;
        }
        let near = |r: Value<'_>| {
            r.get("data").is_some_and(Value::is_object)
                && r.get("type").and_then(Value::inner).is_some_and(is_handled)
        };
        if probe.any(near) { 60 } else { 0 }
    }

    fn answers_calls(&self) -> bool {
        true
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<CopilotCliReader>::default()
    }
}

/// Returns whether the kind alone identifies an event of this log.
fn is_handled(kind: &str) -> bool {
    matches!(
        kind,
        "user.message"
            | "assistant.message"
            | "assistant.turn_start"
            | "tool.execution_start"
            | "tool.execution_complete"
    )
}

/// The relevant members of an event and of its data, read in one pass.
#[derive(Default)]
struct CopilotCliLine<'a> {
    kind: Option<Value<'a>>,
    data: Option<Value<'a>>,
    agent: Option<Value<'a>>,
    time: Option<Timestamp>,
    // Of the data:
    parent_call: Option<Value<'a>>,
    call: Option<Value<'a>>,
    name: Option<Value<'a>>,
    arguments: Option<Value<'a>>,
    mcp_server: Option<Value<'a>>,
    mcp_tool: Option<Value<'a>>,
    model: Option<Value<'a>>,
    content: Option<Value<'a>>,
    requests: Option<Value<'a>>,
    message: Option<Value<'a>>,
    reasoning: Option<Value<'a>>,
    reasoning_withheld: bool,
    output_tokens: Option<Value<'a>>,
    is_later_chunk: bool,
    success: Option<bool>,
    result: Option<Value<'a>>,
    error: Option<Value<'a>>,
    telemetry: Option<Value<'a>>,
    is_by_user: bool,
    source: Option<Value<'a>>,
    is_continuation: bool,
}

impl<'a> CopilotCliLine<'a> {
    fn new(value: Value<'a>) -> Self {
        let mut line = Self::default();
        for (key, value) in value.fields() {
            match key.inner().unwrap_or("") {
                "type" => line.kind = Some(value),
                "data" => line.data = Some(value),
                "agentId" => line.agent = Some(value).filter(|v| v.is_string()),
                "timestamp" => line.time = time::from_value(value),
                _ => {}
            }
        }
        // Hooks repeat the whole input and output of tools: nothing to see there.
        let is_hook = line.kind().starts_with("hook.");
        if let (Some(data), false) = (line.data, is_hook) {
            line.read_data(data);
        }
        line
    }

    fn read_data(&mut self, data: Value<'a>) {
        for (key, value) in data.fields() {
            if value.is_null() {
                continue;
            }
            match key.inner().unwrap_or("") {
                "parentToolCallId" => self.parent_call = Some(value).filter(|v| v.is_string()),
                "toolCallId" => self.call = Some(value).filter(|v| v.is_string()),
                "toolName" => self.name = Some(value),
                "arguments" => self.arguments = Some(value),
                "mcpServerName" => self.mcp_server = Some(value),
                "mcpToolName" => self.mcp_tool = Some(value),
                "model" => self.model = Some(value),
                "content" => self.content = Some(value),
                "toolRequests" => self.requests = Some(value),
                "messageId" => self.message = Some(value),
                "reasoningText" => self.reasoning = Some(value),
                "reasoningOpaque" => self.reasoning_withheld = true,
                "outputTokens" => self.output_tokens = Some(value),
                "chunkIndex" => self.is_later_chunk = value.as_i64().is_some_and(|n| n > 0),
                "success" => self.success = value.as_bool(),
                "result" => self.result = Some(value),
                "error" => self.error = Some(value),
                "toolTelemetry" => self.telemetry = Some(value),
                "isUserRequested" => self.is_by_user = value.as_bool() == Some(true),
                "source" => self.source = Some(value),
                "isAutopilotContinuation" => {
                    self.is_continuation = value.as_bool() == Some(true);
                }
                _ => {}
            }
        }
    }

    fn kind(&self) -> &'a str {
        self.kind.and_then(Value::inner).unwrap_or("")
    }

    fn get(&self, key: &str) -> Option<Value<'a>> {
        self.data?.get(key)
    }
}

/// An agent of the session: the main agent, or a sub-agent.
struct Lane {
    b: TrajectoryBuilder,
    /// Call that started the sub-agent.
    spawn: Option<Text>,
    /// Whether `spawn` was only guessed from the sub-agent's ID.
    is_spawn_guessed: bool,
    /// Usage that is reported before the message it belongs to.
    usage: Option<Usage>,
    /// Reasoning that the next message may repeat.
    reasoning: Option<Text>,
}

#[derive(Default)]
struct CopilotCliReader {
    /// Agents of the session, the main agent first.
    lanes: Vec<Lane>,
    /// Sub-agents by agent ID and by the call that started them.
    lane_by_key: HashMap<String, usize>,
    /// Index of the agent that made each call.
    lane_by_call: HashMap<String, usize>,
    requests: copilot::Requests,
    /// Usage summed over all shutdowns; `kept` sums over response records, `streamed` over
    /// streamed events.
    at_shutdown: Option<Usage>,
    kept: Option<Usage>,
    streamed: Option<Usage>,
}

impl Reader for CopilotCliReader {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        let Some(value) = out.object(record, "a session event") else { return };
        let line = CopilotCliLine::new(value);
        if line.kind() == "session.start" && self.is_other_session(&line) {
            self.finish(out);
        }
        if self.lanes.is_empty() {
            self.lanes.push(Lane::new(out));
        }
        let index = self.lane_of(&line, record, out);
        match line.kind() {
            "assistant.message" => {
                let before = self.lanes[index].b.run.calls.len();
                self.lanes[index].assistant_message(record, &line);
                self.remember_calls(index, before);
            }
            "tool.execution_start" => {
                let before = self.lanes[index].b.run.calls.len();
                self.lanes[index].execution_start(record, &line);
                self.remember_calls(index, before);
            }
            "tool.execution_complete" => self.lanes[index].execution_complete(record, &line),
            "permission.requested" => {
                let call = line.get("permissionRequest").and_then(|r| r.get("toolCallId"));
                self.requests.put(record, line.get("requestId"), call);
                self.lanes[index].note(record, &line);
            }
            "permission.completed" => self.permission_completed(index, record, &line),
            "hook.start" => {
                let call = single_call_of_hook(&line);
                self.requests.put(record, line.get("hookInvocationId"), call);
                self.lanes[index].note(record, &line);
            }
            "hook.end" => self.hook_end(index, record, &line),
            "assistant.usage" | "session.usage_record" => self.usage(index, record, &line),
            "session.shutdown" => self.shutdown(record, &line),
            "subagent.started"
            | "subagent.configured"
            | "subagent.completed"
            | "subagent.failed" => self.sub_agent(index, record, &line, out),
            _ => self.lanes[index].other(record, &line),
        }
    }

    fn finish(&mut self, out: &mut Out) {
        let mut reader = std::mem::take(self);
        let Some(root) = reader.lanes.first_mut() else { return };
        root.b.run.usage = reader.at_shutdown.or(reader.kept).or(reader.streamed);
        out.push(reader.nest());
    }
}

impl CopilotCliReader {
    /// Returns whether this event starts another session.
    fn is_other_session(&self, line: &CopilotCliLine<'_>) -> bool {
        let Some(id) = line.get("sessionId").and_then(Value::str) else { return false };
        self.lanes.first().is_some_and(|l| l.b.run.id.as_ref().is_some_and(|known| !known.is(&id)))
    }

    /// Returns the agent that an event belongs to.
    fn lane_of(&mut self, line: &CopilotCliLine<'_>, record: &Record<'_>, out: &Out) -> usize {
        let (parent, agent) = (line.parent_call, line.agent);
        if parent.is_none() && agent.is_none() {
            // Results and permissions do not always say whose they are.
            let call = line.call.filter(|_| self.lanes.len() > 1).and_then(Value::inner);
            return call.and_then(|id| self.lane_by_call.get(id)).copied().unwrap_or(0);
        }
        if line.kind().starts_with("subagent.") {
            // Such an event is about the sub-agent, and belongs to its parent.
            return match parent.and_then(|p| self.known_lane(p)) {
                Some(lane) => lane,
                None => line
                    .call
                    .and_then(Value::inner)
                    .and_then(|id| self.lane_by_call.get(id))
                    .copied()
                    .unwrap_or(0),
            };
        }
        self.lane_with([parent, agent], record, out)
    }

    fn known_lane(&self, key: Value<'_>) -> Option<usize> {
        self.lane_by_key.get(key.inner()?).copied()
    }

    /// Returns the sub-agent identified by the call that started it or by its own ID.
    fn lane_with(
        &mut self,
        [spawn, agent]: [Option<Value<'_>>; 2],
        record: &Record<'_>,
        out: &Out,
    ) -> usize {
        let known = spawn.and_then(|k| self.known_lane(k)).or_else(|| self.known_lane(agent?));
        let index = known.unwrap_or(self.lanes.len());
        if known.is_none() {
            let mut lane = Lane::new(out);
            lane.b.run.id = agent.or(spawn).and_then(|a| record.text(a));
            self.lanes.push(lane);
        }
        for key in [spawn, agent].into_iter().flatten().filter_map(Value::inner) {
            if !self.lane_by_key.contains_key(key) {
                self.lane_by_key.insert(key.to_owned(), index);
            }
        }
        let lane = &mut self.lanes[index];
        if lane.spawn.is_none() || (lane.is_spawn_guessed && spawn.is_some()) {
            // The id of a sub-agent is often the id of the call that started it.
            lane.spawn = spawn.or(agent).and_then(|s| record.text(s));
            lane.is_spawn_guessed = spawn.is_none();
        }
        index
    }

    fn remember_calls(&mut self, index: usize, before: usize) {
        if index == 0 {
            return;
        }
        for call in self.lanes[index].b.run.calls.iter().skip(before) {
            if let Some(id) = &call.id {
                self.lane_by_call.insert(id.raw().to_owned(), index);
            }
        }
    }

    /// Returns the agent that made a call, and the call's index.
    fn find(&self, id: &Text) -> Option<(usize, u32)> {
        let root = self.lanes.first()?.b.find(&id.get()).map(|call| (0, call));
        root.or_else(|| {
            let lane = *self.lane_by_call.get(id.raw())?;
            Some((lane, self.lanes.get(lane)?.b.find(&id.get())?))
        })
    }

    fn permission_completed(
        &mut self,
        index: usize,
        record: &Record<'_>,
        line: &CopilotCliLine<'_>,
    ) {
        self.lanes[index].note(record, line);
        let asked = self.requests.take(line.get("requestId"));
        let kind = line.result.and_then(|r| r.get("kind")).and_then(Value::inner).unwrap_or("");
        if kind.starts_with("denied") || kind.starts_with("reject") {
            self.deny(line.call.and_then(|c| record.text(c)).or(asked));
        }
    }

    fn hook_end(&mut self, index: usize, record: &Record<'_>, line: &CopilotCliLine<'_>) {
        self.lanes[index].note(record, line);
        let call = self.requests.take(line.get("hookInvocationId"));
        let decision = line.data.and_then(|d| d.at(&["output", "permissionDecision"]));
        if decision.is_some_and(|d| d.is("deny")) {
            self.deny(call);
        }
    }

    /// Marks a call as refused: it may never start, or complete with an error.
    fn deny(&mut self, call: Option<Text>) {
        let Some((lane, call)) = call.and_then(|id| self.find(&id)) else { return };
        let call = &mut self.lanes[lane].b.run.calls[call as usize];
        if call.result.is_none() {
            call.status = Status::Denied;
            call.level = StatusLevel::Denial;
        }
    }

    fn usage(&mut self, index: usize, record: &Record<'_>, line: &CopilotCliLine<'_>) {
        let lane = &mut self.lanes[index];
        lane.note(record, line);
        let Some(data) = line.data else { return };
        let kept = data.get("usage").filter(|u| u.is_object());
        let sum = if kept.is_some() { &mut self.kept } else { &mut self.streamed };
        let usage = Usage::new(copilot::tokens(kept.unwrap_or(data)), Convention::INCLUSIVE);
        lane.usage = Some(usage);
        match sum {
            Some(sum) => sum.add(&usage),
            None => *sum = Some(usage),
        }
    }

    fn shutdown(&mut self, record: &Record<'_>, line: &CopilotCliLine<'_>) {
        let Some(root) = self.lanes.first_mut() else { return };
        root.note(record, line);
        let run = &mut root.b.run;
        if run.outcome.is_none() {
            run.outcome = line.get("shutdownType").and_then(|t| record.text(t));
        }
        if run.agent.model.is_none() {
            run.agent.model = line.get("currentModel").and_then(|m| record.text(m));
        }
        let Some(tokens) = line.data.and_then(copilot::shutdown_tokens) else { return };
        let usage = Usage::new(tokens, Convention::INCLUSIVE);
        match &mut self.at_shutdown {
            Some(sum) => sum.add(&usage),
            None => self.at_shutdown = Some(usage),
        }
    }

    fn sub_agent(
        &mut self,
        index: usize,
        record: &Record<'_>,
        line: &CopilotCliLine<'_>,
        out: &Out,
    ) {
        self.lanes[index].note(record, line);
        if line.call.is_none() && line.agent.is_none() {
            return;
        }
        // The agent of the event may be the one above, which has another call to it.
        let agent = line.agent.filter(|a| self.known_lane(*a) != Some(index));
        let lane = self.lane_with([line.call, agent], record, out);
        if lane == index {
            return;
        }
        let lane = &mut self.lanes[lane];
        let run = &mut lane.b.run;
        if let Some(name) = line.get("agentName").and_then(|n| record.text(n)) {
            run.agent.name = Some(name);
        }
        if run.agent.model.is_none() {
            run.agent.model = line.model.and_then(|m| record.text(m));
        }
        match line.kind() {
            "subagent.completed" => run.outcome = Some(Text::owned("completed")),
            "subagent.failed" => {
                run.outcome = Some(Text::owned("failed"));
                let error = line.error.map(|e| record.payload(e));
                lane.b.event(EventKind::Error, error, None, line.time, record.at());
            }
            _ => {}
        }
    }

    /// Attaches every sub-agent to the agent whose call started it.
    fn nest(mut self) -> Trajectory {
        let count = self.lanes.len();
        let mut owners = vec![0; count];
        let mut depth = vec![0; count];
        for index in 1..count {
            let Some(spawn) = self.lanes[index].spawn.clone() else { continue };
            let Some((owner, call)) = self.find(&spawn) else { continue };
            if owner < index && depth[owner] < MAX_DEPTH {
                owners[index] = owner;
                depth[index] = depth[owner] + 1;
            }
            let id = self.lanes[index].b.run.id.clone();
            self.lanes[owner].b.run.calls[call as usize].spawned = id;
        }
        for index in (1..count).rev() {
            let Some(lane) = self.lanes.pop() else { break };
            let owner = &mut self.lanes[owners[index]].b.run;
            let parent = Parent { trajectory: owner.id.clone(), call: lane.spawn.clone() };
            let mut child = lane.close();
            child.parent = Some(parent);
            owner.children.push(child);
        }
        let root = self.lanes.swap_remove(0);
        root.close()
    }
}

impl Lane {
    fn new(out: &Out) -> Self {
        let mut b = out.builder(&CopilotCli);
        b.run.agent.name = Some(Text::owned("copilot-cli"));
        Self { b, spawn: None, is_spawn_guessed: false, usage: None, reasoning: None }
    }

    fn close(mut self) -> Trajectory {
        // Sub-agents were attached last first.
        self.b.run.children.reverse();
        if let Some(usage) = self.usage.take() {
            self.give_usage(usage);
        }
        self.b.finish()
    }

    /// Adds usage that follows its message to the last response.
    fn give_usage(&mut self, usage: Usage) {
        let last = self.b.run.steps.last_mut();
        if let Some(step) = last.filter(|s| s.usage.is_none_or(|u| u.recorded.input == 0)) {
            step.usage = Some(usage);
        }
    }

    fn note(&mut self, record: &Record<'_>, line: &CopilotCliLine<'_>) {
        self.note_with(record, line, None);
    }

    fn note_with(&mut self, record: &Record<'_>, line: &CopilotCliLine<'_>, text: Option<Payload>) {
        let kind = line.kind.and_then(|k| record.text(k)).unwrap_or_else(|| Text::owned(""));
        self.b.event(EventKind::Note(kind), text, None, line.time, record.at());
    }

    fn assistant_message(&mut self, record: &Record<'_>, line: &CopilotCliLine<'_>) {
        let b = &mut self.b;
        let time = line.time;
        let id = line.message.and_then(|m| record.text(m));
        let step = match b.last_step() {
            Some(last) if line.is_later_chunk => last,
            _ => b.step(id, time, record.at()),
        };
        let this = &mut b.run.steps[step as usize];
        if this.model.is_none() {
            this.model = line.model.and_then(|m| record.text(m));
        }
        if let Some(usage) = self.usage.take() {
            this.usage = Some(usage);
        } else if let Some(output) = line.output_tokens.and_then(Value::as_u64) {
            // The log keeps only what the model wrote, not what it read.
            let tokens = UsageTokens { output, ..UsageTokens::default() };
            this.usage.get_or_insert(Usage::new(tokens, Convention::INCLUSIVE));
        }
        let reasoning = line.reasoning.and_then(|r| record.text(r)).filter(|r| !r.is_empty());
        let is_repeated = reasoning.is_some() && reasoning == self.reasoning;
        self.reasoning = None;
        if !is_repeated && (reasoning.is_some() || line.reasoning_withheld) {
            let at = line.reasoning.map_or_else(|| record.at(), |r| record.at_value(r));
            b.reasoning(step, reasoning.map(Payload::text), time, at);
        }
        if let Some(content) = line.content.filter(|c| c.inner() != Some("")) {
            b.message(step, record.payload(content), time, record.at_value(content));
        }
        for request in line.requests.into_iter().flat_map(Value::items) {
            copilot::request_call(b, record, request, step, time);
        }
    }

    fn execution_start(&mut self, record: &Record<'_>, line: &CopilotCliLine<'_>) {
        let b = &mut self.b;
        let args = line.arguments.map(|a| record.payload(a));
        if let Some(index) = line.call.and_then(Value::str).and_then(|id| b.find(&id)) {
            let call = &mut b.run.calls[index as usize];
            if call.result.is_none() || call.args == args {
                // From here on it runs; before, it waited for its turn.
                if call.result.is_none() {
                    call.started = line.time.or(call.started);
                }
                b.seen(line.time);
                return;
            }
        }
        b.call(NewCall {
            id: line.call.and_then(|c| record.text(c)),
            name: copilot::tool_name(record, line.name, line.mcp_server, line.mcp_tool),
            args,
            step: None,
            time: line.time,
            at: record.at(),
        });
    }

    fn execution_complete(&mut self, record: &Record<'_>, line: &CopilotCliLine<'_>) {
        let b = &mut self.b;
        let id = line.call.and_then(Value::str);
        let index = id.as_deref().and_then(|id| b.find(id));
        let was_denied = index.is_some_and(|i| b.run.calls[i as usize].status == Status::Denied);
        let answer = answer(record, line, was_denied);
        match index {
            Some(index) => {
                b.answer_call(index, answer);
                if line.is_by_user {
                    b.run.calls[index as usize].actor = Actor::User;
                }
            }
            None => {
                b.answer(id.as_deref(), answer);
            }
        }
    }

    /// Reads events that do not depend on other agents.
    fn other(&mut self, record: &Record<'_>, line: &CopilotCliLine<'_>) {
        let b = &mut self.b;
        let text = |key| line.get(key).map(|v| record.payload(v));
        let (time, at) = (line.time, record.at());
        match line.kind() {
            "user.message" => self.user_message(record, line),
            "assistant.reasoning" => {
                let text = line.content.and_then(|c| record.text(c));
                self.reasoning.clone_from(&text);
                let text = text.filter(|t| !t.is_empty()).map(Payload::text);
                b.event(EventKind::Reasoning, text, None, time, at);
            }
            "assistant.turn_end" => {
                if let Some(usage) = self.usage.take() {
                    self.give_usage(usage);
                }
                self.note(record, line);
            }
            "system.message" => b.context(text("content"), time, at),
            "system.notification" => b.context(text("content"), time, at),
            "skill.invoked" | "skill.invoked_ref" => {
                b.event(EventKind::Skill, text("name"), None, time, at);
            }
            "session.compaction_complete" => {
                b.event(EventKind::Compaction, text("summaryContent"), None, time, at);
            }
            "session.truncation" => b.event(EventKind::Compaction, None, None, time, at),
            "session.error" => b.event(EventKind::Error, text("message"), None, time, at),
            "model.call_failure" => b.event(EventKind::Error, text("errorMessage"), None, time, at),
            "tool.user_requested" => {
                let before = b.run.calls.len();
                self.execution_start(record, line);
                if let Some(call) = self.b.run.calls.get_mut(before) {
                    call.actor = Actor::User;
                }
            }
            "session.start"
            | "session.resume"
            | "session.context_changed"
            | "session.model_change"
            | "session.title_changed" => {
                self.session(record, line);
                self.note(record, line);
            }
            "abort" | "agent.interrupted" => {
                b.run.outcome = Some(Text::owned("aborted"));
                self.note_with(record, line, text("reason"));
            }
            // The last line of `copilot -p --output-format json`.
            "result" => {
                if b.run.id.is_none() {
                    b.run.id = line.get("sessionId").and_then(|s| record.text(s));
                }
                self.note(record, line);
            }
            kind if copilot::is_note(kind) => self.note(record, line),
            "" => b.unknown("event without a type", at),
            kind => b.unknown(kind, at),
        }
    }

    /// Reads a message of the user, or one that the client wrote with the user role.
    fn user_message(&mut self, record: &Record<'_>, line: &CopilotCliLine<'_>) {
        let text = line.content.map(|c| record.payload(c));
        let source = line.source.and_then(Value::inner).unwrap_or("user");
        let is_typed = !line.is_continuation
            && (matches!(source, "" | "user") || source.starts_with("command"));
        let is_sub_agent = self.spawn.is_some();
        let run = &mut self.b.run;
        if run.outcome.as_ref().is_some_and(|o| o.is("aborted")) {
            run.outcome = None;
        }
        if is_typed && !is_sub_agent {
            self.b.user(text, line.time, record.at());
        } else {
            self.b.context(text, line.time, record.at());
        }
    }

    /// Reads session metadata; the first value of each field is kept.
    fn session(&mut self, record: &Record<'_>, line: &CopilotCliLine<'_>) {
        let Some(data) = line.data else { return };
        let run = &mut self.b.run;
        let keep = |slot: &mut Option<Text>, value: Option<Value<'_>>| {
            if slot.is_none() {
                *slot = value.and_then(|v| record.text(v)).filter(|t| !t.is_empty());
            }
        };
        for (key, value) in data.fields() {
            match key.inner().unwrap_or("") {
                "sessionId" => keep(&mut run.id, Some(value)),
                "copilotVersion" => keep(&mut run.agent.version, Some(value)),
                "selectedModel" | "newModel" => keep(&mut run.agent.model, Some(value)),
                "context" => keep(&mut run.cwd, value.get("cwd")),
                "cwd" => keep(&mut run.cwd, Some(value)),
                // A title is refined as the session goes on.
                "title" => run.name = record.text(value).or(run.name.take()),
                _ => {}
            }
        }
    }
}

fn answer(record: &Record<'_>, line: &CopilotCliLine<'_>, was_denied: bool) -> ReaderResult {
    let content = line.result.and_then(|r| r.get("content"));
    let (text, code) = match line.error {
        Some(error) if error.is_object() => (error.get("message"), error.get("code")),
        other => (other, None),
    };
    let payload = content.or(text).or(line.result).or(line.error).map(|p| record.payload(p));
    let answer = ReaderResult::new(payload, record.at()).time(line.time);
    let failed = line.success.map(|s| !s).or(line.error.map(|_| true));
    let answer = match failed {
        Some(true) => match code.and_then(Value::inner) {
            Some("denied" | "rejected") => answer.status(Status::Denied, StatusLevel::Denial),
            Some("cancelled" | "canceled" | "aborted" | "interrupted") => {
                answer.status(Status::Interrupted, StatusLevel::Denial)
            }
            _ if was_denied => answer.status(Status::Denied, StatusLevel::Denial),
            _ => answer.protocol(true),
        },
        Some(false) => answer.protocol(false),
        None => answer,
    };
    let metrics = line.telemetry.and_then(|t| t.get("metrics"));
    let metric = |key| metrics.and_then(|m| m.get(key));
    let code = metric("exit_code").or_else(|| metric("exitCode")).and_then(Value::as_i64);
    let in_text = || content.and_then(Value::inner).and_then(exit_code::in_last_line);
    let duration = metric("durationMs").and_then(Value::as_f64).and_then(time::millis);
    answer.exit_code(code.or_else(in_text)).duration(duration)
}

/// Returns the call of a hook, if there is only one.
fn single_call_of_hook<'a>(line: &CopilotCliLine<'a>) -> Option<Value<'a>> {
    let data = line.data?;
    data.get("hookType").filter(|t| t.is("preToolUse"))?;
    let mut calls = data.at(&["input", "toolCalls"])?.items();
    let id = calls.next()?.get("id");
    id.filter(|_| calls.next().is_none())
}

#[cfg(test)]
mod tests {
    use crate::model::Actor;
    use crate::testing::{read_fixture, read_text, sketch};

    #[test]
    fn asked_for_started_and_completed_is_one_call() {
        let read = read_fixture("copilot-cli.jsonl");
        assert_eq!(read.format, "copilot-cli");
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "note session.start\n\
             context: be good\n\
             user: go\n\
             context: <skill>\n\
             0 reasoning: hm\n\
             0 call bash {\"command\":\"false\"} -> succeeded(protocol) exit 1: x\n<exited with exit code 1>\n\
             0 call srv-find {\"q\":1} -> failed(protocol) exit 3: broken\n\
             0 call view {} -> unanswered(absent): \n\
             note hook.start\n\
             orphanresult: \n\
             skill: pdf\n\
             unknown session.novelty\n\
             note session.shutdown\n\
             note session.shutdown\n"
        );
        assert_eq!(run.calls[0].duration.unwrap().as_secs(), 3);
        assert_eq!(run.calls[1].name.canonical().server.as_deref(), Some("srv"));
        let usage = run.usage.unwrap();
        assert_eq!((usage.recorded.input, usage.recorded.output), (14, 10));
        assert_eq!(usage.recorded.cache_read, 6);
        assert_eq!(run.cwd.as_ref().unwrap(), "/w");
        assert_eq!(run.outcome.as_ref().unwrap(), "routine");
    }

    #[test]
    fn refusals() {
        let read = read_text(
            r#"{"type":"assistant.message","data":{"messageId":"m1","content":"ok","toolRequests":[{"toolCallId":"a","name":"t"},{"toolCallId":"b","name":"t"},{"toolCallId":"c","name":"t"},{"toolCallId":"d","name":"t"}]},"id":"1","parentId":null}
{"type":"permission.requested","data":{"requestId":"r","permissionRequest":{"toolCallId":"a"}},"id":"2","parentId":"1"}
{"type":"permission.completed","data":{"requestId":"r","result":{"kind":"denied-interactively-by-user"}},"id":"3","parentId":"2"}
{"type":"permission.completed","data":{"requestId":"r2","toolCallId":"b","result":{"kind":"denied-by-rules"}},"id":"4","parentId":"3"}
{"type":"tool.execution_complete","data":{"toolCallId":"b","success":false,"error":{"message":"no"}},"id":"5","parentId":"4"}
{"type":"tool.execution_complete","data":{"toolCallId":"c","success":false,"error":{"message":"no","code":"rejected"}},"id":"6","parentId":"5"}
{"type":"hook.start","data":{"hookInvocationId":"h","hookType":"preToolUse","input":{"toolCalls":[{"id":"d"}]}},"id":"7","parentId":"6"}
{"type":"hook.end","data":{"hookInvocationId":"h","output":{"permissionDecision":"deny"}},"id":"8","parentId":"7"}
{"type":"abort","data":{"reason":"user initiated"},"id":"9","parentId":"8"}
"#,
        );
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "0 message: ok\n\
             0 call t  -> denied(denial): \n\
             0 call t  -> denied(denial): no\n\
             0 call t  -> denied(denial): no\n\
             0 call t  -> denied(denial): \n\
             note permission.requested\n\
             note permission.completed\n\
             note permission.completed\n\
             note hook.start\n\
             note hook.end\n\
             note abort\n"
        );
        assert_eq!(run.outcome.as_ref().unwrap(), "aborted");
    }

    #[test]
    fn sub_agents_are_nested_where_they_were_started() {
        let read = read_text(
            r#"{"type":"session.start","data":{"sessionId":"s"},"id":"1","parentId":null}
{"type":"assistant.message","data":{"messageId":"m1","content":"","toolRequests":[{"toolCallId":"task","name":"task"}]},"id":"2","parentId":"1"}
{"type":"subagent.started","data":{"toolCallId":"task","agentName":"explore"},"id":"3","parentId":"2"}
{"type":"user.message","agentId":"ag1","data":{"content":"look","parentToolCallId":"task"},"id":"4","parentId":"3"}
{"type":"assistant.message","agentId":"ag1","data":{"messageId":"m2","content":"on it","toolRequests":[{"toolCallId":"deep","name":"task"},{"toolCallId":"v","name":"view"}]},"id":"5","parentId":"4"}
{"type":"tool.execution_start","data":{"toolCallId":"v","toolName":"view","parentToolCallId":"deep"},"id":"6","parentId":"5"}
{"type":"tool.execution_complete","data":{"toolCallId":"deep","success":true,"result":"done"},"id":"7","parentId":"6"}
{"type":"subagent.failed","data":{"toolCallId":"task","error":"lost"},"id":"8","parentId":"7"}
{"type":"session.start","data":{"sessionId":"other"},"id":"9","parentId":null}
"#,
        );
        assert_eq!(read.runs.len(), 2);
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "note session.start\n\
             0 call task  -> unanswered(absent): \n\
             note subagent.started\n\
             note subagent.failed\n\
             sub-agent task\n  \
             context: look\n  \
             0 message: on it\n  \
             0 call task  -> succeeded(protocol): done\n  \
             0 call view  -> unanswered(absent): \n  \
             error: lost\n  \
             sub-agent deep\n    \
             call view  -> unanswered(absent): \n"
        );
        assert_eq!(run.calls[0].spawned.as_ref().unwrap(), "task");
        let child = &run.children[0];
        assert_eq!(child.agent.name.as_ref().unwrap(), "explore");
        assert_eq!((child.user_turns, run.user_turns), (0, 0));
    }

    #[test]
    fn a_crashed_session_keeps_the_usage_of_its_responses() {
        let read = read_text(
            r#"{"type":"session.start","data":{"sessionId":"s"},"id":"1","parentId":null}
{"type":"session.usage_record","data":{"usage":{"inputTokens":9,"outputTokens":2}},"id":"2","parentId":"1"}
{"type":"assistant.message","data":{"messageId":"m1","content":"","toolRequests":[{"toolCallId":"t","name":"task"}]},"id":"3","parentId":"2"}
{"type":"user.message","agentId":"ag","data":{"content":"look","source":"agent-s"},"id":"4","parentId":"3"}
{"type":"assistant.turn_start","agentId":"ag","data":{"parentToolCallId":"t"},"id":"5","parentId":"4"}
{"type":"session.usage_record","agentId":"ag","data":{"usage":{"inputTokens":4,"outputTokens":1}},"id":"6","parentId":"5"}
{"type":"assistant.message","agentId":"ag","data":{"messageId":"m2","content":"seen"},"id":"7","parentId":"6"}
"#,
        );
        let run = &read.runs[0];
        assert_eq!(run.unknown_records(), 0);
        assert_eq!(run.usage.unwrap().total(), 16);
        assert_eq!(run.steps[0].usage.unwrap().recorded.input, 9);
        assert_eq!(run.calls[0].spawned.as_ref().unwrap(), "ag");
        assert_eq!(run.children[0].steps[0].usage.unwrap().recorded.input, 4);
    }

    #[test]
    fn a_recorded_stream_has_usage_before_the_message() {
        let read = read_text(
            r#"{"type":"tool.execution_start","data":{"toolCallId":"e","toolName":"view","arguments":{}},"id":"1","parentId":null}
{"type":"assistant.reasoning","data":{"content":"hm"},"id":"2","parentId":"1"}
{"type":"assistant.usage","ephemeral":true,"data":{"inputTokens":9,"outputTokens":1,"cacheReadTokens":"x"},"id":"3","parentId":"2"}
{"type":"assistant.message","data":{"content":"a","reasoningText":"hm","toolRequests":[{"toolCallId":"e","name":"view","arguments":{}}]},"id":"4","parentId":"3"}
{"type":"assistant.message","data":[7],"id":"5","parentId":"4"}
{"type":"tool.user_requested","data":{"toolCallId":"u","toolName":"bash"},"id":"6","parentId":"5"}
{"type":"tool.execution_complete","data":{"toolCallId":"u","success":true,"result":{"content":"ok"}},"id":"7","parentId":"6"}
{"data":{},"id":"8","parentId":"7"}
3
"#,
        );
        assert_eq!(read.skipped, 1);
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "0 call view {} -> unanswered(absent): \n\
             reasoning: hm\n\
             note assistant.usage\n\
             0 message: a\n\
             call bash  -> succeeded(protocol): ok\n\
             unknown event without a type\n"
        );
        assert_eq!(run.steps.len(), 2);
        assert_eq!(run.steps[0].usage.unwrap().recorded.input, 9);
        assert_eq!(run.usage.unwrap().total(), 10);
        assert_eq!(run.calls[1].actor, Actor::User);
    }
}
