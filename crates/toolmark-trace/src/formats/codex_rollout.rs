//! Codex rollouts: the session files of the Codex CLI, one record per line.
//!
//! Every record is `{timestamp, type, payload}`, and the run is recorded twice:
//! `response_item` records the input and output of the model, `event_msg` the display of the
//! interface. Calls, results and messages are read from the first view; the second adds data
//! that only it has (durations, success, exit codes, token counts, and which user messages
//! were typed). Since the introduction of paginated history, the second view is
//! `event_msg/item_completed`.
//!
//! A model response has no ID. It is followed by a `token_count` with changed totals (up to
//! about version 0.4, it is preceded by it); a response without one was cut off. In a file
//! without token counts, responses cannot be distinguished: each message of the model is then
//! a step and calls belong to no step.
//!
//! Before about version 0.2, the items are bare, without times or token counts, between lines
//! of `{"record_type":"state"}`. `compacted.replacement_history` repeats items and is not
//! read. Forks hold several `session_meta`; the first is their own.

use super::shared::codex::{self, CodexOutcome, NOTED_EVENTS, Totals};
use super::shared::{codex_script, exit_code};
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::join::{files_in, missing_sub_agents};
use crate::model::{
    Actor, Call, Convention, EventKind, Fact, Fidelity, Parent, Payload, Status, StatusLevel, Text,
    ToolName, Trajectory, Usage, time,
};
use jiff::Timestamp;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use toolmark_scan::Value;

/// Codex rollouts.
pub(crate) struct CodexRollout;

static INFO: FormatInfo = FormatInfo {
    id: "codex-rollout",
    title: "Codex rollout",
    origin: "~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl, also .jsonl.zst",
    versions: "0.1 to 0.16x, bare, current and paginated",
    looks_for: "lines {timestamp, type, payload} with type session_meta, response_item or event_msg",
    fidelity: Fidelity::lacking(&[Fact::Cost]),
};

/// The kinds of records that carry a payload.
const RECORDS: [&str; 10] = [
    "session_meta",
    "response_item",
    "event_msg",
    "turn_context",
    "compacted",
    "world_state",
    "inter_agent_communication",
    "inter_agent_communication_metadata",
    "security_risk_score",
    "token_usage_record",
];

impl Format for CodexRollout {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let is_record = |r: Value<'_>| {
            let kind = r.word("type");
            r.get("payload").is_some_and(Value::is_object) && RECORDS.contains(&kind)
        };
        let is_state = |r: Value<'_>| r.field_is("record_type", "state");
        if probe.any(|r| is_record(r) || is_state(r)) {
            return 100;
        }
        let is_old_head = |r: Value<'_>| {
            r.has("instructions") && r.get("id").is_some() && r.get("timestamp").is_some()
        };
        match probe.first() {
            Some(first) if is_old_head(first) && !first.has("type") => 70,
            _ => 0,
        }
    }

    fn answers_calls(&self) -> bool {
        true
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(RolloutReader { run: None })
    }

    /// Returns the rollouts of the threads that calls started: in the folder of the same day, or
    /// of another.
    fn companions(&self, path: &Path, run: &Trajectory) -> Vec<PathBuf> {
        let missing = missing_sub_agents(run);
        let Some(day) = path.parent().filter(|_| !missing.is_empty()) else { return Vec::new() };
        let is_wanted = |name: &str| {
            let stem = name.strip_suffix(".zst").unwrap_or(name).strip_suffix(".jsonl");
            stem.is_some_and(|stem| missing.iter().any(|id| stem.ends_with(id.as_str())))
        };
        let mut files = files_in(day, is_wanted);
        if files.len() < missing.len()
            && let Some(month) = day.parent()
        {
            let is_day = |name: &str| name.len() == 2 && name.bytes().all(|b| b.is_ascii_digit());
            for other in files_in(month, is_day).into_iter().filter(|other| other != day) {
                files.extend(files_in(&other, is_wanted));
            }
        }
        files.retain(|file| file != path);
        files
    }
}

struct RolloutReader {
    run: Option<CodexRolloutRun>,
}

impl Reader for RolloutReader {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        let Some(value) = out.object(record, "a rollout line") else { return };
        let run = self.run.get_or_insert_with(|| CodexRolloutRun::new(out.builder(&CodexRollout)));
        run.line(record, value);
    }

    fn finish(&mut self, out: &mut Out) {
        if let Some(run) = self.run.take() {
            out.push(run.finish().finish());
        }
    }
}

/// The relevant members of a response item, read in one pass.
#[derive(Default)]
struct RolloutItem<'a> {
    kind: Option<Value<'a>>,
    id: Option<Value<'a>>,
    call_id: Option<Value<'a>>,
    name: Option<Value<'a>>,
    namespace: Option<Value<'a>>,
    role: Option<Value<'a>>,
    content: Option<Value<'a>>,
    args: Option<Value<'a>>,
    output: Option<Value<'a>>,
    status: Option<Value<'a>>,
    summary: Option<Value<'a>>,
}

impl<'a> RolloutItem<'a> {
    fn new(value: Value<'a>) -> Self {
        let mut item = Self::default();
        for (key, value) in value.fields() {
            if value.is_null() {
                continue;
            }
            let slot = match key.inner().unwrap_or("") {
                "type" => &mut item.kind,
                "id" => &mut item.id,
                "call_id" => &mut item.call_id,
                "name" => &mut item.name,
                "namespace" => &mut item.namespace,
                "role" => &mut item.role,
                "content" | "message" => &mut item.content,
                "arguments" | "input" | "action" => &mut item.args,
                "output" | "tools" | "result" => &mut item.output,
                "status" => &mut item.status,
                "summary" => &mut item.summary,
                // A drifted shape keeps the name where the chat API has it.
                "function" => {
                    item.name = value.get("name");
                    continue;
                }
                _ => continue,
            };
            *slot = Some(value);
        }
        item
    }
}

/// Position of the token counts relative to their response.
#[derive(Clone, Copy, PartialEq)]
enum TokenCountPosition {
    /// Not determined yet by a response of this turn.
    Unknown,
    InFront,
    Behind,
}

/// Reader state of one run.
struct CodexRolloutRun {
    b: TrajectoryBuilder,
    /// Whether a session record has set the run's ID.
    has_meta: bool,
    model: Option<Text>,
    /// Current response.
    step: Option<u32>,
    counts: TokenCountPosition,
    totals: Option<Totals>,
    /// Events of user messages that have not been confirmed by the other view.
    unconfirmed: VecDeque<usize>,
    /// Number of user messages that have not appeared in the first view yet.
    awaited: u32,
    has_user_events: bool,
    /// Calls without an ID, which are answered in their order.
    without_id: VecDeque<u32>,
}

impl CodexRolloutRun {
    fn new(mut b: TrajectoryBuilder) -> Self {
        b.run.agent.name = Some(Text::owned("codex"));
        Self {
            b,
            has_meta: false,
            model: None,
            step: None,
            counts: TokenCountPosition::Unknown,
            totals: None,
            unconfirmed: VecDeque::new(),
            awaited: 0,
            has_user_events: false,
            without_id: VecDeque::new(),
        }
    }

    fn line(&mut self, record: &Record<'_>, value: Value<'_>) {
        let (mut kind, mut payload, mut stamp, mut state) = (None, None, None, None);
        for (key, value) in value.fields() {
            match key.inner().unwrap_or("") {
                "type" => kind = Some(value),
                "payload" if value.is_object() => payload = Some(value),
                "timestamp" | "created_at" => stamp = Some(value),
                "record_type" => state = Some(value),
                _ => {}
            }
        }
        let time = stamp.and_then(time::from_value);
        let Some(payload) = payload else {
            match (kind, state) {
                (_, Some(state)) => self.note(record, state, None, time),
                (None, None) if !value.has("role") => self.meta(record, value, time),
                _ => self.item(record, value, time),
            }
            return;
        };
        match kind.and_then(Value::inner).unwrap_or("") {
            "response_item" => self.item(record, payload, time),
            "event_msg" => self.event(record, payload, time),
            "session_meta" => self.meta(record, payload, time),
            "turn_context" => self.turn_context(record, payload, kind, time),
            "compacted" => {
                self.cut_step();
                let text = payload.get("message").filter(|m| m.inner() != Some(""));
                let text = text.map(|m| record.payload(m));
                self.b.event(EventKind::Compaction, text, None, time, record.at());
            }
            // A message from one agent of a group to another.
            "inter_agent_communication" => {
                let text = payload.get("content").or(payload.get("message"));
                self.b.context(text.map(|t| record.payload(t)), time, record.at());
            }
            other => match kind {
                Some(kind) if RECORDS.contains(&other) => self.note(record, kind, None, time),
                _ => self.b.unknown(other, record.at()),
            },
        }
    }

    /// Keeps a record that contains nothing about the run, under its own kind.
    fn note(
        &mut self,
        record: &Record<'_>,
        kind: Value<'_>,
        text: Option<Payload>,
        time: Option<Timestamp>,
    ) {
        let kind = record.text(kind).unwrap_or_else(|| Text::owned(""));
        self.b.event(EventKind::Note(kind), text, None, time, record.at());
    }

    /// Reads the first record of a session, which is bare in old files.
    fn meta(&mut self, record: &Record<'_>, meta: Value<'_>, time: Option<Timestamp>) {
        let kind = EventKind::Note(Text::owned("session_meta"));
        self.b.event(kind, None, None, time, record.at());
        // Further ones are of the thread this one was forked from.
        if std::mem::replace(&mut self.has_meta, true) {
            return;
        }
        let (mut parent, mut nickname, mut role, mut instructions) = (None, None, None, None);
        let run = &mut self.b.run;
        for (key, value) in meta.fields() {
            match key.inner().unwrap_or("") {
                "id" => run.id = record.text(value),
                "cwd" => run.cwd = record.text(value),
                "cli_version" => run.agent.version = record.text(value),
                "source" => parent = codex::spawning_thread(value).or(parent),
                "parent_thread_id" => parent = Some(value).filter(|v| v.is_string()).or(parent),
                "agent_nickname" => nickname = record.text(value),
                "agent_role" => role = record.text(value),
                "dynamic_tools" => run.tools = Some(codex::tool_definitions(record, value)),
                "instructions" => instructions = instructions.or(Some(value)),
                "base_instructions" => instructions = value.get("text").or(Some(value)),
                _ => {}
            }
        }
        if let Some(parent) = parent.and_then(|p| record.text(p)) {
            run.parent = Some(Parent { trajectory: Some(parent), call: None });
        }
        if let Some(name) = nickname.or(role) {
            run.agent.name = Some(name);
        }
        if let Some(text) = instructions.filter(|t| t.is_string()) {
            self.b.context(Some(record.payload(text)), time, record.at_value(text));
        }
    }

    fn turn_context(
        &mut self,
        record: &Record<'_>,
        context: Value<'_>,
        kind: Option<Value<'_>>,
        time: Option<Timestamp>,
    ) {
        if let Some(model) = record.text_at(context, "model") {
            self.b.run.agent.model.get_or_insert_with(|| model.clone());
            self.model = Some(model);
        }
        if self.b.run.cwd.is_none() {
            self.b.run.cwd = record.text_at(context, "cwd");
        }
        if let Some(kind) = kind {
            self.note(record, kind, None, time);
        }
    }

    fn item(&mut self, record: &Record<'_>, value: Value<'_>, time: Option<Timestamp>) {
        let item = RolloutItem::new(value);
        let kind = item.kind.and_then(Value::inner).unwrap_or("");
        match kind {
            "message" | "" if item.role.is_some() => self.message(record, &item, value, time),
            "reasoning" => {
                let step = self.open_step(record, time);
                let full = item.content.or(item.summary);
                let text = full.filter(|t| t.items().next().is_some());
                self.b.reasoning(step, text.map(|t| record.payload(t)), time, record.at());
            }
            "function_call"
            | "custom_tool_call"
            | "tool_call"
            | "local_shell_call"
            | "tool_search_call"
            | "web_search_call"
            | "image_generation_call" => self.call(record, &item, kind, time),
            "function_call_output"
            | "custom_tool_call_output"
            | "local_shell_call_output"
            | "tool_search_output"
            | "tool_result"
            | "function_result" => self.output(record, &item, time),
            // A message between agents, not one of this agent's own.
            "agent_message" => {
                self.b.context(item.content.map(|c| record.payload(c)), time, record.at());
            }
            "ghost_snapshot" | "compaction" | "compaction_summary" | "context_compaction"
            | "compaction_trigger" | "other" => {
                if let Some(kind) = item.kind {
                    self.note(record, kind, None, time);
                }
            }
            other => {
                let kind = EventKind::Unknown(Text::owned(format!("response_item/{other}")));
                self.b.event(kind, Some(record.payload(value)), None, time, record.at());
            }
        }
    }

    fn message(
        &mut self,
        record: &Record<'_>,
        item: &RolloutItem<'_>,
        value: Value<'_>,
        time: Option<Timestamp>,
    ) {
        let text = item.content.map(|c| record.payload(c));
        match item.role.and_then(Value::inner).unwrap_or("") {
            "assistant" => {
                let step = self.open_step(record, time);
                if let Some(text) = text {
                    self.b.message(step, text, time, record.at_value(value));
                }
            }
            "user" => match codex::injected(item.content) {
                Some(codex::Injected::Skill(name)) => {
                    let name = Payload::text(Text::owned(name));
                    self.b.event(EventKind::Skill, Some(name), None, time, record.at());
                }
                Some(codex::Injected::Context) => self.b.context(text, time, record.at()),
                None if self.awaited > 0 => self.awaited -= 1,
                None => {
                    self.unconfirmed.push_back(self.b.run.events.len());
                    let request = item.content.and_then(codex::request).or(text);
                    self.b.user(request, time, record.at());
                }
            },
            _ => self.b.context(text, time, record.at()),
        }
    }

    /// Reads a user message as displayed by the interface.
    fn user_event(&mut self, record: &Record<'_>, text: Option<Payload>, time: Option<Timestamp>) {
        self.has_user_events = true;
        self.cut_step();
        if self.unconfirmed.pop_front().is_none() {
            self.awaited += 1;
            self.b.user(text, time, record.at());
        }
    }

    /// Called before the model answers: determines which messages with the user role were typed.
    /// If the interface shows some, the others were not typed.
    fn settle_users(&mut self) {
        self.awaited = 0;
        for index in self.unconfirmed.drain(..) {
            if self.has_user_events {
                self.b.run.events[index].kind = EventKind::Context;
                self.b.run.user_turns -= 1;
            }
        }
    }

    /// Returns the current response, or a new one.
    fn open_step(&mut self, record: &Record<'_>, time: Option<Timestamp>) -> u32 {
        if let Some(step) = self.step {
            return step;
        }
        self.settle_users();
        let step = self.b.step(None, time, record.at());
        let this = &mut self.b.run.steps[step as usize];
        this.complete = false;
        this.model = self.model.clone();
        self.step = Some(step);
        step
    }

    /// Ends the current response, so that what follows belongs to a new one.
    fn cut_step(&mut self) {
        self.step = None;
        self.counts = TokenCountPosition::Unknown;
    }

    fn call(
        &mut self,
        record: &Record<'_>,
        item: &RolloutItem<'_>,
        kind: &str,
        time: Option<Timestamp>,
    ) {
        let step = self.open_step(record, time);
        let from_server = matches!(kind, "web_search_call" | "image_generation_call");
        let name = match item.name.and_then(|n| record.text(n)) {
            Some(name) => name,
            None => Text::owned(kind.strip_suffix("_call").unwrap_or(kind)),
        };
        let id = item.call_id.or(item.id).and_then(|id| record.text(id));
        let args = item.args.map(|a| record.payload(a));
        let is_script = kind == "custom_tool_call" && name.is("exec");
        let scripted = args.as_ref().filter(|_| is_script);
        let scripted = scripted.and_then(|script| codex_script::only_call(&script.raw()));
        let (name, args) = match scripted {
            Some(inner) => (Text::owned(inner.name), inner.args.or(args)),
            None => (name, args),
        };
        let index = self.b.call(NewCall {
            name: ToolName {
                original: name,
                namespace: item.namespace.and_then(|n| record.text(n)),
            },
            args,
            step: Some(step),
            time,
            at: record.at(),
            id: id.filter(|id| !id.is_empty()),
        });
        if !from_server {
            if item.call_id.is_none() {
                self.without_id.push_back(index);
            }
            return;
        }
        let call = &mut self.b.run.calls[index as usize];
        call.actor = Actor::Provider;
        let status = item.status.and_then(codex::status_word);
        if let Some((status, level)) = status {
            (call.status, call.level) = (status, level);
        }
        if let Some(result) = item.output.filter(|r| r.inner() != Some("")) {
            let (status, level) = status.unwrap_or((Status::Unknown, StatusLevel::Absent));
            let answer = ReaderResult::new(Some(record.payload(result)), record.at_value(result));
            self.b.answer_call(index, answer.status(status, level).time(time));
        }
    }

    fn output(&mut self, record: &Record<'_>, item: &RolloutItem<'_>, time: Option<Timestamp>) {
        let inner = item.output.map(codex::first_inner).unwrap_or("");
        let header = exit_code::codex_header(inner);
        let mut answer = ReaderResult::new(item.output.map(|o| record.payload(o)), record.at())
            .time(time)
            .duration(header.wall);
        if let Some(success) = item.output.and_then(|o| o.get("success")).and_then(Value::as_bool) {
            answer = answer.protocol(!success);
        }
        answer = answer.exit_code(header.code);
        let id = item.call_id.and_then(Value::str).filter(|id| !id.is_empty());
        let call = match &id {
            Some(id) => self.b.find(id),
            None => self.without_id.pop_front(),
        };
        if answer.level == StatusLevel::Absent {
            if let Some(status) = codex::refusal(inner) {
                answer = answer.status(status, StatusLevel::Denial);
            } else if let Some(state) = item.status.and_then(codex::status_word) {
                answer = answer.status(state.0, state.1);
            } else if let Some(status) = codex::own_statement(inner) {
                answer = answer.status(status, StatusLevel::Prose);
            }
        }
        let Some(call) = call else {
            self.b.answer(id.as_deref(), answer);
            return;
        };
        // The interface may have said before how it ended.
        let known = &self.b.run.calls[call as usize];
        let is_stronger =
            known.level == StatusLevel::Protocol || answer.level == StatusLevel::Absent;
        if is_stronger && known.level != StatusLevel::Absent {
            answer = answer.status(known.status, known.level);
        }
        // The interface's clock is finer than that of the header.
        answer.duration = known.duration.or(answer.duration);
        self.b.answer_call(call, answer);
    }

    fn event(&mut self, record: &Record<'_>, event: Value<'_>, time: Option<Timestamp>) {
        let Some(kind) = event.get("type") else {
            self.b.unknown("event_msg", record.at());
            return;
        };
        let name = kind.inner().unwrap_or("");
        match name {
            "user_message" => {
                let text = event.get("message");
                let text = text.and_then(codex::request).or(text.map(|m| record.payload(m)));
                self.user_event(record, text, time);
            }
            "token_count" => {
                self.token_count(record, event, time);
                self.note(record, kind, None, time);
            }
            "task_complete" | "turn_complete" | "turn_aborted" => {
                self.turn_end(record, event, kind, time);
            }
            "task_started" | "turn_started" => {
                self.cut_step();
                self.note(record, kind, None, time);
            }
            "error" | "stream_error" => {
                let text = event.get("message").map(|m| record.payload(m));
                self.b.event(EventKind::Error, text, None, time, record.at());
            }
            "item_completed" => self.item_completed(record, event, kind, time),
            "exec_command_end"
            | "patch_apply_end"
            | "mcp_tool_call_end"
            | "dynamic_tool_call_response"
            | "image_generation_end"
            | "collab_agent_spawn_end"
            | "collab_agent_interaction_end"
            | "collab_waiting_end"
            | "collab_close_end"
            | "collab_resume_end" => {
                let id = event.get("call_id").and_then(Value::str);
                self.mark(record, id.as_deref(), event);
                self.note(record, kind, None, time);
            }
            _ if NOTED_EVENTS.contains(&name) => self.note(record, kind, None, time),
            other => {
                let kind = EventKind::Unknown(Text::owned(format!("event_msg/{other}")));
                self.b.event(kind, Some(record.payload(event)), None, time, record.at());
            }
        }
    }

    fn item_completed(
        &mut self,
        record: &Record<'_>,
        event: Value<'_>,
        kind: Value<'_>,
        time: Option<Timestamp>,
    ) {
        let Some(item) = event.get("item") else { return self.note(record, kind, None, time) };
        let item_kind = item.get("type").unwrap_or(kind);
        if item_kind.is("UserMessage") {
            let text = item.get("content");
            let text = text.and_then(codex::request).or(text.map(|c| record.payload(c)));
            return self.user_event(record, text, time);
        }
        let id = item.get("id").and_then(Value::str);
        self.mark(record, id.as_deref(), item);
        self.note(record, item_kind, None, time);
    }

    /// Adds the interface's information about a call.
    fn mark(&mut self, record: &Record<'_>, id: Option<&str>, event: Value<'_>) {
        let Some(index) = id.and_then(|id| self.b.find(id)) else { return };
        let mark = CodexOutcome::new(event);
        let call = &mut self.b.run.calls[index as usize];
        call.duration = mark.duration.or(call.duration);
        call.exit_code = call.exit_code.or(mark.exit_code);
        if let (StatusLevel::Absent, Some((status, level))) = (call.level, mark.status) {
            (call.status, call.level) = (status, level);
        }
        if let Some(thread) = mark.new_thread {
            call.spawned = record.text(thread);
        }
    }

    fn turn_end(
        &mut self,
        record: &Record<'_>,
        event: Value<'_>,
        kind: Value<'_>,
        time: Option<Timestamp>,
    ) {
        self.cut_step();
        let mut outcome = match event.get("reason") {
            Some(reason) => record.text(reason),
            None if kind.is("turn_aborted") => Some(Text::owned("aborted")),
            None => Some(Text::owned("completed")),
        };
        if let Some(error) = event.get("error") {
            let text = error.get("message").unwrap_or(error);
            self.b.event(EventKind::Error, Some(record.payload(text)), None, time, record.at());
            outcome = Some(Text::owned("error"));
        }
        self.b.run.outcome = outcome;
        self.note(record, kind, None, time);
    }

    /// Reads the totals so far. If they have changed, a response is complete.
    fn token_count(&mut self, record: &Record<'_>, event: Value<'_>, time: Option<Timestamp>) {
        let info = event.get("info");
        let Some(totals) = info.and_then(|i| i.get("total_token_usage")).map(Totals::new) else {
            return;
        };
        if self.totals == Some(totals) || totals.is_zero() {
            return;
        }
        self.b.add_usage(totals.since(self.totals));
        self.totals = Some(totals);
        if self.counts == TokenCountPosition::Unknown {
            self.counts = if self.step.is_none() {
                TokenCountPosition::InFront
            } else {
                TokenCountPosition::Behind
            };
        }
        let is_in_front = self.counts == TokenCountPosition::InFront;
        if is_in_front {
            self.step = None;
        }
        let step = self.open_step(record, time);
        if !is_in_front {
            self.step = None;
        }
        let this = &mut self.b.run.steps[step as usize];
        this.complete = true;
        this.usage = info.and_then(|i| i.get("last_token_usage")).map(|u| {
            let last = Totals::new(u);
            Usage { stated_total: last.total, ..Usage::new(last.tokens, Convention::INCLUSIVE) }
        });
    }

    fn finish(mut self) -> TrajectoryBuilder {
        self.settle_users();
        for call in self.b.run.calls.iter_mut().filter(|c| c.spawned.is_none()) {
            call.spawned = started_thread(call);
        }
        if self.totals.is_none() {
            codex::messages_as_steps(&mut self.b);
            self.b.run.fidelity.lose(Fact::Parallel);
        }
        self.b
    }
}

/// Returns the thread of the agent that a call started, if only the result names it.
fn started_thread(call: &Call) -> Option<Text> {
    if !call.name.original.is("spawn_agent") {
        return None;
    }
    let result = call.result.as_ref()?.payload.as_ref()?.parsed()?;
    let id = ["agent_id", "thread_id", "new_thread_id"].iter().find_map(|key| result.get(key))?;
    Some(Text::owned(id.as_str()?))
}

#[cfg(test)]
mod tests {
    use crate::model::{Actor, Fact, Trajectory};
    use crate::summary::FileSummary;
    use crate::testing::{read_text, sketch};

    /// Builds a file from `kind payload` lines, one second apart.
    fn rollout(lines: &str) -> Trajectory {
        let mut text = String::new();
        for (second, line) in lines.lines().enumerate() {
            let (kind, payload) = line.split_once(' ').unwrap();
            text += &format!(
                "{{\"timestamp\":\"2026-01-01T00:00:{second:02}Z\",\"type\":\"{kind}\",\"payload\":{payload}}}\n"
            );
        }
        let mut read = read_text(&text);
        assert_eq!(read.format, "codex-rollout");
        read.runs.remove(0)
    }

    fn assistant_turns(run: &Trajectory) -> u64 {
        let mut summary = FileSummary::default();
        summary.add(run);
        summary.assistant_turns.unwrap()
    }

    #[test]
    fn both_views_are_one_run() {
        let run = rollout(
            r##"session_meta {"id":"r1","cwd":"/w","cli_version":"0.140.0","source":"cli","base_instructions":{"text":"be good"}}
event_msg {"type":"task_started","turn_id":"1"}
response_item {"type":"message","role":"developer","content":[{"type":"input_text","text":"rules"}]}
response_item {"type":"message","role":"user","content":[{"type":"input_text","text":"# AGENTS.md instructions for /w"}]}
turn_context {"model":"gpt-x","cwd":"/w"}
response_item {"type":"message","role":"user","content":[{"type":"input_text","text":"fix it"}]}
event_msg {"type":"user_message","message":"fix it"}
response_item {"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"x"}
event_msg {"type":"agent_message","message":"on it"}
response_item {"type":"message","role":"assistant","content":[{"type":"output_text","text":"on it"}]}
response_item {"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls\"}","call_id":"c1"}
response_item {"type":"function_call","name":"_get","namespace":"mcp__gh","arguments":"{}","call_id":"c2"}
response_item {"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch","call_id":"c3","status":"completed"}
event_msg {"type":"mcp_tool_call_end","call_id":"c2","duration":{"secs":1,"nanos":500000000},"result":{"Ok":{"content":[],"isError":true}}}
event_msg {"type":"patch_apply_end","call_id":"c3","success":true,"changes":{}}
response_item {"type":"function_call_output","call_id":"c1","output":"Chunk ID: a\nWall time: 0.5 seconds\nProcess exited with code 2\nOutput:\nno"}
response_item {"type":"function_call_output","call_id":"c2","output":"Wall time: 1 seconds\nOutput:\nbad"}
response_item {"type":"custom_tool_call_output","call_id":"c3","output":"Success"}
event_msg {"type":"token_count","info":{"total_token_usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":2,"reasoning_output_tokens":1,"total_tokens":12},"last_token_usage":{"input_tokens":10,"output_tokens":2,"total_tokens":12}}}
event_msg {"type":"token_count","info":{"total_token_usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":2,"reasoning_output_tokens":1,"total_tokens":12}}}
response_item {"type":"function_call","name":"exec_command","arguments":"{","call_id":"c4"}
event_msg {"type":"turn_aborted","reason":"interrupted"}
"##,
        );
        assert_eq!(
            sketch(&run),
            "note session_meta\n\
             context: be good\n\
             note task_started\n\
             context: rules\n\
             context: # AGENTS.md instructions for /w\n\
             note turn_context\n\
             user: fix it\n\
             0 reasoning: hm\n\
             note agent_message\n\
             0 message: on it\n\
             0 call exec_command {\"cmd\":\"ls\"} -> failed(exitcode) exit 2: Chunk ID: a\nWall time: 0.5 seconds\nProcess exited with code 2\nOutput:\nno\n\
             0 call mcp__gh_get {} -> failed(protocol): Wall time: 1 seconds\nOutput:\nbad\n\
             0 call apply_patch *** Begin Patch -> succeeded(protocol): Success\n\
             note mcp_tool_call_end\n\
             note patch_apply_end\n\
             note token_count\n\
             note token_count\n\
             1 call exec_command { -> unanswered(absent): \n\
             note turn_aborted\n"
        );
        assert_eq!(run.user_turns, 1);
        assert_eq!(run.usage.unwrap().total(), 12);
        assert_eq!(run.steps[0].model.as_ref().unwrap(), "gpt-x");
        assert_eq!(run.calls[1].duration.unwrap().as_millis(), 1500);
        assert_eq!(run.calls[0].duration.unwrap().as_millis(), 500);
        assert_eq!(run.outcome.as_ref().unwrap(), "interrupted");
        assert_eq!((run.steps.len(), assistant_turns(&run)), (2, 1));
        assert_eq!(run.calls[1].name.canonical().server.as_deref(), Some("gh"));
    }

    #[test]
    fn bare_items_of_old_versions() {
        let read = read_text(
            r#"{"id":"r0","timestamp":"2025-01-01T00:00:00Z","instructions":"be good"}
{"record_type":"state"}
{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}
{"type":"reasoning","summary":[]}
{"type":"function_call","name":"shell","arguments":"{}","call_id":"c1"}
{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"no\",\"metadata\":{\"exit_code\":1,\"duration_seconds\":0.2}}"}
{"type":"function_call_output","call_id":"c9","output":"late"}
{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}
"#,
        );
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "note session_meta\n\
             context: be good\n\
             note state\n\
             user: go\n\
             reasoning: \n\
             call shell {} -> failed(exitcode) exit 1: {\"output\":\"no\",\"metadata\":{\"exit_code\":1,\"duration_seconds\":0.2}}\n\
             orphanresult: late\n\
             0 message: done\n"
        );
        assert_eq!(run.id.as_ref().unwrap(), "r0");
        assert!(run.fidelity.lacks(Fact::Parallel) && !run.fidelity.lacks(Fact::Steps));
        assert_eq!(assistant_turns(run), 1);
    }

    #[test]
    fn paginated_history_and_injected_messages() {
        let run = rollout(
            r#"session_meta {"id":"r2","source":{"subagent":{"thread_spawn":{"parent_thread_id":"r1","depth":1}}},"agent_nickname":"Ada","dynamic_tools":[{"type":"namespace","name":"n","tools":[{"name":"t1","inputSchema":{}}]},{"name":"t2"}]}
event_msg {"type":"item_completed","item":{"type":"UserMessage","id":"u1","content":[{"type":"text","text":"go"}]}}
response_item {"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}
response_item {"type":"message","role":"user","content":[{"type":"input_text","text":"<skill>\n<name>pdf</name>"}]}
response_item {"type":"message","role":"user","content":[{"type":"input_text","text":"some new kind of injection"}]}
response_item {"type":"function_call","name":"exec_command","arguments":"{}","call_id":"c1"}
response_item {"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"Wall time: 30 seconds\nProcess running with session ID 5\nOutput:\n"}]}
event_msg {"type":"item_completed","item":{"type":"CommandExecution","id":"c1","exit_code":3,"status":"failed","duration":{"secs":40,"nanos":0}}}
compacted {"message":"","replacement_history":[{"type":"function_call","name":"exec_command","arguments":"{}","call_id":"old"}]}
event_msg {"type":"context_compacted"}
"#,
        );
        assert_eq!(
            sketch(&run),
            "note session_meta\n\
             user: go\n\
             skill: pdf\n\
             context: some new kind of injection\n\
             call exec_command {} -> failed(exitcode) exit 3: Wall time: 30 seconds\nProcess running with session ID 5\nOutput:\n\n\
             note CommandExecution\n\
             compaction: \n\
             note context_compacted\n"
        );
        assert_eq!(run.user_turns, 1);
        assert_eq!(run.calls[0].duration.unwrap().as_secs(), 40);
        assert_eq!(run.parent.as_ref().unwrap().trajectory.as_ref().unwrap(), "r1");
        assert_eq!(run.agent.name.as_ref().unwrap(), "Ada");
        assert_eq!(run.tools.as_ref().unwrap().len(), 2);
    }

    #[test]
    fn server_calls_refusals_and_restarted_totals() {
        let run = rollout(
            r#"session_meta {"id":"r3"}
session_meta {"id":"parent-of-fork"}
response_item {"type":"web_search_call","id":"ws1","status":"completed","action":{"query":"q"}}
response_item {"type":"tool_search_call","call_id":"c1","status":"completed","arguments":{"query":"x"}}
response_item {"type":"local_shell_call","call_id":"c2","action":{"command":["rm"]}}
response_item {"type":"function_call","name":"spawn_agent","arguments":"{}","call_id":"c3"}
response_item {"type":"tool_search_output","call_id":"c1","status":"completed","tools":[]}
response_item {"type":"function_call_output","call_id":"c2","output":"exec command rejected by user"}
event_msg {"type":"collab_agent_spawn_end","call_id":"c3","new_thread_id":"th"}
response_item {"type":"function_call_output","call_id":"c3","output":"aborted by user after 2.0s"}
event_msg {"type":"token_count","info":{"total_token_usage":{"input_tokens":10,"output_tokens":2,"total_tokens":12}}}
event_msg {"type":"token_count","info":null}
event_msg {"type":"token_count","info":{"total_token_usage":{"input_tokens":5,"output_tokens":1,"total_tokens":6}}}
event_msg {"type":"error","message":"stream lost"}
event_msg {"type":"levitated"}
response_item {"type":"levitation"}
"#,
        );
        assert_eq!(
            sketch(&run),
            "note session_meta\n\
             note session_meta\n\
             0 call web_search {\"query\":\"q\"} -> succeeded(protocol): \n\
             0 call tool_search {\"query\":\"x\"} -> succeeded(protocol): []\n\
             0 call local_shell {\"command\":[\"rm\"]} -> denied(denial): exec command rejected by user\n\
             0 call spawn_agent {} -> interrupted(denial): aborted by user after 2.0s\n\
             note collab_agent_spawn_end\n\
             note token_count\n\
             note token_count\n\
             note token_count\n\
             error: stream lost\n\
             unknown event_msg/levitated\n\
             unknown response_item/levitation\n"
        );
        assert_eq!(run.id.as_ref().unwrap(), "r3");
        assert_eq!(run.calls[0].actor, Actor::Provider);
        assert!(run.calls[0].result.is_none());
        assert_eq!(run.calls[3].spawned.as_ref().unwrap(), "th");
        assert_eq!(run.usage.unwrap().total(), 18);
        assert_eq!(assistant_turns(&run), 2);
    }

    #[test]
    fn token_counts_in_front_of_the_items() {
        let run = rollout(
            r#"event_msg {"type":"user_message","message":"go"}
event_msg {"type":"token_count","info":{"total_token_usage":{"total_tokens":5},"last_token_usage":{"total_tokens":5}}}
response_item {"type":"function_call","name":"shell","arguments":"{}","call_id":"c1"}
response_item {"type":"function_call_output","call_id":"c1","output":"{\"output\": \"\", \"metadata\": {\"exit_code\": 1}}"}
event_msg {"type":"token_count","info":{"total_token_usage":{"total_tokens":12},"last_token_usage":{"total_tokens":7}}}
response_item {"type":"message","role":"assistant","content":"done"}
event_msg {"type":"user_message","message":"more"}
response_item {"type":"message","role":"assistant","content":"since an update"}
event_msg {"type":"token_count","info":{"total_token_usage":{"total_tokens":13},"last_token_usage":{"total_tokens":1}}}
"#,
        );
        assert_eq!(
            sketch(&run),
            "user: go\n\
             note token_count\n\
             0 call shell {} -> failed(exitcode) exit 1: {\"output\": \"\", \"metadata\": {\"exit_code\": 1}}\n\
             note token_count\n\
             1 message: done\n\
             user: more\n\
             2 message: since an update\n\
             note token_count\n"
        );
        assert_eq!((run.steps.len(), assistant_turns(&run)), (3, 3));
        let totals: Vec<u64> = run.steps.iter().map(|s| s.usage.unwrap().total()).collect();
        assert_eq!(totals, [5, 7, 1]);
    }

    #[test]
    fn drifted_and_wrong_shapes_are_harmless() {
        let read = read_text(
            r#"{"timestamp":5,"type":"session_meta","payload":{"id":[],"source":7,"dynamic_tools":3}}
{"created_at":"2025-09-10T12:00:00Z","role":"user","message":"hi"}
{"type":"function_call","function":{"name":"tr"},"arguments":{"a":1}}
{"type":"function_result","name":"tr","result":"hola"}
{"type":"function_result","name":"tr","result":"again"}
{"type":"event_msg","payload":{"type":[]}}
{"type":"event_msg","payload":{"type":"item_completed"}}
{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":"x"}}}
{"type":"response_item","payload":{"type":"function_call_output"}}
{"type":"response_item","payload":[]}
[]
"#,
        );
        assert_eq!(read.skipped, 1);
        assert_eq!(
            sketch(&read.runs[0]),
            "note session_meta\n\
             user: hi\n\
             call tr {\"a\":1} -> unknown(absent): hola\n\
             orphanresult: again\n\
             unknown event_msg/\n\
             note item_completed\n\
             note token_count\n\
             orphanresult: \n\
             unknown response_item/response_item\n"
        );
    }
}
