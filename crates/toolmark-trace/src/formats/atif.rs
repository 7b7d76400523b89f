//! ATIF, the Agent Trajectory Interchange Format of Harbor: one document with a list of
//! steps, each by the system, the user or the agent.
//!
//! An agent step is one model response; its calls are in `tool_calls`, and their results in
//! the `observation` of the same step, linked by `source_call_id`. By the definition of the
//! format, a result without that ID does not come from a tool call, and is kept as context.
//!
//! Producers are less strict than the schema. The reader also accepts: a version of just
//! `1.4`; JSON lines with or without a header line; `agent.model`; calls keyed `id` and
//! `name`; an object as content; a whole request as message; results in a later or even an
//! earlier step than their call; and one result as the observation itself, with its call
//! named in the message.
//!
//! The format has no error field. Converters add one in `extra`: `tool_result_is_error`
//! (from Claude Code) and `success` (from Copilot).
//!
//! A continuation repeats earlier steps, marked `is_copied_context`. They count if the file
//! holds no other copy of them: a sub-agent's trajectory, or a later document of the same
//! session, keeps them as context.

use super::shared::{anthropic, declared, exit_code, positional::Positional, tool_definitions};
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{
    Actor, Convention, Cost, EventKind, Fact, Fidelity, MAX_DEPTH, Parent, Status, StatusLevel,
    Text, ToolName, Trajectory, Usage, UsageTokens, time,
};
use jiff::Timestamp;
use std::collections::{HashMap, HashSet};
use toolmark_scan::Value;

/// ATIF trajectories.
pub(crate) struct Atif;

static INFO: FormatInfo = FormatInfo {
    id: "atif",
    title: "ATIF trajectory",
    origin: "Harbor's trajectory.json and other writers of the Agent Trajectory Interchange Format",
    versions: "1.0 to 1.8",
    looks_for: "schema_version ATIF-v…, or steps with step_id and source",
    fidelity: Fidelity::lacking(&[Fact::ExitCodes]),
};

impl Format for Atif {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let is_versioned = |r: Value<'_>| {
            r.get("schema_version").and_then(Value::inner).is_some_and(|v| v.starts_with("ATIF"))
        };
        if probe.any(is_versioned) {
            return 100;
        }
        let holds_steps =
            |r: Value<'_>| r.get("steps").is_some_and(|s| s.items().take(4).any(is_step));
        if probe.any(holds_steps) {
            return 90;
        }
        if probe.any(is_step) { 85 } else { 0 }
    }

    fn answers_calls(&self) -> bool {
        true
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<AtifReader>::default()
    }
}

fn is_step(value: Value<'_>) -> bool {
    let source = value.get("source").and_then(Value::inner);
    value.get("step_id").is_some() && matches!(source, Some("system" | "user" | "agent"))
}

#[derive(Default)]
struct AtifReader {
    /// Run of a file with one step per line.
    lines: Option<AtifRun>,
    /// Sessions of which a document has been read.
    sessions: HashSet<String>,
}

impl Reader for AtifReader {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        let Some(value) = out.object(record, "a trajectory or a step") else { return };
        if value.get("steps").is_some_and(Value::is_array) {
            self.document(record, value, out);
            return;
        }
        let is_header = value.has("__header__") || value.get("schema_version").is_some();
        if is_header {
            self.finish(out);
        }
        let run = self.lines.get_or_insert_with(|| {
            let mut run = AtifRun::new(out.builder(&Atif), false);
            // Until there is a step: a header alone says nothing about calls.
            run.b.run.fidelity.lose(Fact::Calls);
            run
        });
        if !is_header && (value.get("step_id").is_some() || value.get("source").is_some()) {
            run.b.run.fidelity.gain(Fact::Calls);
            run.step(record, value);
        } else {
            run.root(record, value);
        }
    }

    fn finish(&mut self, out: &mut Out) {
        if let Some(run) = self.lines.take() {
            out.push(run.finish());
        }
    }

    fn spans_records(&self) -> bool {
        self.lines.is_some()
    }
}

impl AtifReader {
    /// Reads one document and the sub-agents' documents inside it, which may be nested further.
    /// Uses a list instead of recursion.
    fn document(&mut self, record: &Record<'_>, root: Value<'_>, out: &mut Out) {
        let session = root.get("session_id").and_then(Value::str);
        let is_later = session.is_some_and(|s| !self.sessions.insert(s.into_owned()));
        let mut found =
            vec![EmbeddedDocument { value: root, parent: None, holder: None, depth: 0 }];
        let mut runs: Vec<(Option<usize>, Trajectory)> = Vec::new();
        let mut links: Vec<HashMap<String, Option<Text>>> = Vec::new();
        let mut next = 0;
        while let Some(&EmbeddedDocument { value, parent, holder, depth }) = found.get(next) {
            let mut run = AtifRun::new(out.builder(&Atif), is_later || parent.is_some());
            run.root(record, value);
            for step in value.items_at("steps") {
                run.step(record, step);
            }
            if let Some(parent) = parent {
                let keys = [value.get("trajectory_id"), value.get("session_id")];
                let link = keys.into_iter().flatten().find_map(|k| links[parent].get(&*k.str()?));
                run.b.run.parent = Some(Parent {
                    trajectory: runs[parent].1.id.clone(),
                    call: link.cloned().flatten(),
                });
            }
            let holder_of_next = if depth < MAX_DEPTH { Some(next) } else { holder };
            let embedded = value.items_at("subagent_trajectories");
            found.extend(embedded.filter(|d| d.is_object()).map(|value| EmbeddedDocument {
                value,
                parent: Some(next),
                holder: holder_of_next,
                depth: depth + 1,
            }));
            links.push(std::mem::take(&mut run.links));
            runs.push((holder, run.finish()));
            next += 1;
        }
        // Children come after their parents, so the last one is always complete.
        while let Some((holder, mut run)) = runs.pop() {
            run.children.reverse();
            match holder.and_then(|h| runs.get_mut(h)) {
                Some((_, holder)) => holder.children.push(run),
                None => out.push(run),
            }
        }
    }
}

/// A document inside another one.
#[derive(Clone, Copy)]
struct EmbeddedDocument<'a> {
    value: Value<'a>,
    /// Index of the parent run.
    parent: Option<usize>,
    /// Index of the run that gets this one as a child.
    holder: Option<usize>,
    depth: usize,
}

/// Reader state of one trajectory.
struct AtifRun {
    b: TrajectoryBuilder,
    /// Whether the file holds the originals of copied steps.
    originals_known: bool,
    /// Results whose call has not been read yet.
    waiting: Vec<(String, ReaderResult)>,
    /// Calls without IDs.
    unnumbered: Positional,
    /// Call behind each reference to a sub-agent's trajectory.
    links: HashMap<String, Option<Text>>,
    final_metrics: Option<AtifMetrics>,
    step_metrics: AtifMetrics,
    /// Whether toolmark wrote the file. Values that it does not state are then unknown.
    is_own: bool,
}

/// Token counts and cost of a step or a run; the two use different names.
#[derive(Default, Clone, Copy)]
struct AtifMetrics {
    input: Option<u64>,
    output: Option<u64>,
    cached: Option<u64>,
    cost: Option<Cost>,
}

impl AtifMetrics {
    fn read(value: Value<'_>) -> Self {
        let mut metrics = Self::default();
        for (key, value) in value.fields() {
            match key.inner().unwrap_or("") {
                "total_prompt_tokens" | "prompt_tokens" => metrics.input = value.as_u64(),
                "total_completion_tokens" | "completion_tokens" => metrics.output = value.as_u64(),
                "total_cached_tokens" | "cached_tokens" => metrics.cached = value.as_u64(),
                "total_cost_usd" | "cost_usd" => {
                    metrics.cost = value.as_f64().and_then(Cost::from_usd);
                }
                _ => {}
            }
        }
        metrics
    }

    fn add(&mut self, other: Self) {
        for (sum, more) in [
            (&mut self.input, other.input),
            (&mut self.output, other.output),
            (&mut self.cached, other.cached),
        ] {
            if let Some(more) = more {
                *sum = Some(sum.unwrap_or(0).saturating_add(more));
            }
        }
        if let Some(more) = other.cost {
            let sum = self.cost.unwrap_or_default().nano_usd.saturating_add(more.nano_usd);
            self.cost = Some(Cost { nano_usd: sum });
        }
    }

    /// Fills missing values from `other`.
    fn or(self, other: Self) -> Self {
        Self {
            input: self.input.or(other.input),
            output: self.output.or(other.output),
            cached: self.cached.or(other.cached),
            cost: self.cost.or(other.cost),
        }
    }

    fn usage(self) -> Option<Usage> {
        self.input.or(self.output).or(self.cached)?;
        let tokens = UsageTokens {
            input: self.input.unwrap_or(0),
            output: self.output.unwrap_or(0),
            cache_read: self.cached.unwrap_or(0),
            ..UsageTokens::default()
        };
        Some(Usage::new(tokens, Convention::INCLUSIVE))
    }
}

/// The members of a step, read in one pass.
#[derive(Default)]
struct AtifStep<'a> {
    id: Option<Value<'a>>,
    source: &'a str,
    time: Option<Timestamp>,
    message: Option<Value<'a>>,
    reasoning: Option<Value<'a>>,
    model: Option<Value<'a>>,
    calls: Option<Value<'a>>,
    observation: Option<Value<'a>>,
    metrics: Option<Value<'a>>,
    extra: Option<Value<'a>>,
    is_copy: bool,
}

impl<'a> AtifStep<'a> {
    fn new(value: Value<'a>) -> Self {
        let mut step = Self::default();
        for (key, value) in value.fields().filter(|(_, v)| !v.is_null()) {
            match key.inner().unwrap_or("") {
                "step_id" => step.id = Some(value),
                "source" => step.source = value.inner().unwrap_or(""),
                "timestamp" => step.time = time::from_value(value),
                "message" => step.message = Some(value),
                "reasoning_content" => step.reasoning = Some(value),
                "model_name" => step.model = Some(value),
                "tool_calls" => step.calls = Some(value),
                "observation" => step.observation = Some(value),
                "metrics" => step.metrics = Some(value),
                "extra" => step.extra = Some(value),
                "is_copied_context" => step.is_copy = value.as_bool() == Some(true),
                _ => {}
            }
        }
        step
    }

    /// Returns the event kind written by toolmark's exporter, for events without an ATIF
    /// equivalent.
    fn event(&self) -> &'a str {
        self.extra.and_then(|e| e.get("event")).and_then(Value::inner).unwrap_or("")
    }

    /// Returns the sub-agent that a converter merged into this trajectory.
    fn merged_agent(&self, record: &Record<'_>) -> Option<Text> {
        let extra = self.extra?;
        extra.get("is_sidechain").filter(|s| s.as_bool() == Some(true))?;
        record.text_at(extra, "agent_id")
    }
}

fn is_empty(value: Value<'_>) -> bool {
    value.inner() == Some("") || (value.is_array() && value.items().next().is_none())
}

impl AtifRun {
    fn new(b: TrajectoryBuilder, originals_known: bool) -> Self {
        Self {
            b,
            originals_known,
            waiting: Vec::new(),
            unnumbered: Positional::default(),
            links: HashMap::new(),
            final_metrics: None,
            step_metrics: AtifMetrics::default(),
            is_own: false,
        }
    }

    /// Reads the run metadata of a document, a header line or a closing line.
    fn root(&mut self, record: &Record<'_>, root: Value<'_>) {
        let mut session = None;
        let mut is_known = false;
        for (key, value) in root.fields().filter(|(_, v)| !v.is_null()) {
            let key = key.inner().unwrap_or("");
            match key {
                "session_id" => session = record.text(value),
                "trajectory_id" => self.b.run.id = record.text(value),
                "agent" => self.agent(record, value),
                "final_metrics" => {
                    declared::members(&mut self.b.run, record, value);
                    let extra = value.get("extra");
                    extra.into_iter().for_each(|e| declared::members(&mut self.b.run, record, e));
                    self.final_metrics = Some(AtifMetrics::read(value));
                }
                "extra" if value.get("source_format").is_none() => {
                    declared::members(&mut self.b.run, record, value);
                    continue;
                }
                "created_at" => self.b.seen(time::from_value(value)),
                "notes" | "continued_trajectory_ref" => self.b.event(
                    EventKind::Note(Text::owned(key)),
                    Some(record.payload(value)),
                    None,
                    None,
                    record.at_value(value),
                ),
                "extra" if value.get("source_format").is_some() => self.exported(record, value),
                "schema_version" | "__header__" | "__footer__" | "steps" => {}
                _ => continue,
            }
            is_known = true;
        }
        let run = &mut self.b.run;
        run.id = run.id.take().or(session);
        if !is_known {
            self.b.unknown("line without step_id", record.at_value(root));
        }
    }

    /// Reads the run metadata written by toolmark's exporter, for values without an ATIF field.
    fn exported(&mut self, record: &Record<'_>, extra: Value<'_>) {
        self.is_own = true;
        let run = &mut self.b.run;
        run.name = record.text_at(extra, "name");
        run.outcome = record.text_at(extra, "outcome");
        let trajectory = record.text_at(extra, "parent_trajectory");
        let call = record.text_at(extra, "parent_call");
        if trajectory.is_some() || call.is_some() {
            run.parent = Some(Parent { trajectory, call });
        }
        for key in ["started_at", "completed_at"] {
            self.b.seen(extra.get(key).and_then(time::from_value));
        }
    }

    fn agent(&mut self, record: &Record<'_>, agent: Value<'_>) {
        let run = &mut self.b.run;
        run.agent.name = record.text_at(agent, "name");
        run.agent.version = record.text_at(agent, "version");
        run.agent.model =
            record.text_at(agent, "model_name").or_else(|| record.text_at(agent, "model"));
        run.tools = agent.get("tool_definitions").and_then(|t| tool_definitions::read(record, t));
        let Some(extra) = agent.get("extra") else { return };
        let cwds = extra.get("cwds").and_then(|c| c.items().next());
        run.cwd = extra.get("cwd").or(cwds).and_then(|c| record.text(c));
        if let Some(parent) = record.text_at(extra, "parent_session_id") {
            run.parent = Some(Parent { trajectory: Some(parent), call: None });
        }
    }

    fn step(&mut self, record: &Record<'_>, value: Value<'_>) {
        let at = record.at_value(value);
        if !value.is_object() {
            self.b.unknown("step that is not an object", at);
            return;
        }
        let step = AtifStep::new(value);
        if step.is_copy && self.originals_known {
            self.b.context(Some(record.payload(value)), step.time, at);
            return;
        }
        let text = step.message.filter(|m| !is_empty(*m)).map(|m| record.payload(m));
        let mut number = None;
        match step.source {
            "user" => self.b.user(text, step.time, at),
            "agent" | "assistant" => number = Some(self.agent_step(record, &step, at)),
            "system" => match step.event() {
                "compaction" => self.b.event(EventKind::Compaction, text, None, step.time, at),
                "error" => self.b.event(EventKind::Error, text, None, step.time, at),
                _ if text.is_some() || (self.is_own && step.observation.is_none()) => {
                    self.b.context(text, step.time, at);
                }
                _ => {}
            },
            other => self.b.unknown(format!("source/{other}"), at),
        }
        if let Some(observation) = step.observation {
            self.observation(record, &step, observation, number);
        }
    }

    fn agent_step(
        &mut self,
        record: &Record<'_>,
        step: &AtifStep<'_>,
        at: crate::model::At,
    ) -> u32 {
        let number = self.b.step(None, step.time, at);
        let metrics = step.metrics.map(AtifMetrics::read).unwrap_or_default();
        if !step.is_copy {
            self.step_metrics.add(metrics);
        }
        let this = &mut self.b.run.steps[number as usize];
        // Two steps with one number are still two responses.
        this.id = step.id.and_then(|id| record.label(id));
        this.model = step.model.and_then(|m| record.text(m));
        this.usage = metrics.usage();
        if self.b.run.cwd.is_none() {
            self.b.run.cwd = step.extra.and_then(|e| record.text_at(e, "cwd"));
        }
        // Some writers put the whole response where its words belong.
        let response = step.message.filter(|m| m.is_object() && m.get("role").is_some());
        let reasoning = step.reasoning.or_else(|| {
            let response = response?;
            response.get("reasoning_content").or_else(|| response.get("reasoning"))
        });
        if let Some(text) = reasoning.filter(|r| !is_empty(*r)) {
            let at = record.at_value(text);
            self.b.reasoning(number, Some(record.payload(text)), step.time, at);
        }
        let message = match response {
            Some(response) => response.get("content"),
            None => step.message,
        };
        if let Some(message) = message.filter(|m| !is_empty(*m)) {
            let at = record.at_value(message);
            self.b.message(number, record.payload(message), step.time, at);
        }
        let calls = step.calls.or_else(|| response?.get("tool_calls"));
        let agent = step.merged_agent(record);
        for call in calls.into_iter().flat_map(Value::items) {
            let index = self.call(record, call, number, step.time);
            self.b.run.calls[index as usize].agent.clone_from(&agent);
        }
        number
    }

    fn call(
        &mut self,
        record: &Record<'_>,
        call: Value<'_>,
        step: u32,
        time: Option<Timestamp>,
    ) -> u32 {
        let (mut id, mut name, mut args, mut extra) = (None, None, None, None);
        let inner = call.get("function").filter(|f| f.is_object());
        let inner = inner.into_iter().flat_map(Value::fields);
        for (key, value) in inner.chain(call.fields()).filter(|(_, v)| !v.is_null()) {
            match key.inner().unwrap_or("") {
                "tool_call_id" | "id" | "call_id" => id = record.label(value),
                "function_name" | "name" | "tool_name" => name = record.text(value),
                "arguments" | "args" | "input" => args = Some(record.payload(value)),
                "extra" => extra = Some(value),
                _ => {}
            }
        }
        // A value that was not an object was wrapped, because ATIF requires one.
        if extra.is_some_and(|e| e.get("raw_arguments").is_some()) {
            args = call.at(&["arguments", "input"]).map(|v| record.payload(v)).or(args);
        }
        let time = extra.and_then(|e| e.get("started_at")).and_then(time::from_value).or(time);
        let has_id = id.is_some();
        let index = self.b.call(NewCall {
            id,
            name: ToolName::or_empty(name),
            args,
            step: Some(step),
            time,
            at: record.at_value(call),
        });
        if !has_id {
            self.unnumbered.add(step, index);
        }
        if let Some(extra) = extra {
            let call = &mut self.b.run.calls[index as usize];
            call.name.namespace = record.text_at(extra, "namespace").or(call.name.namespace.take());
            let word = |actor: &&Actor| extra.get("actor").is_some_and(|a| a.is(actor.word()));
            call.actor = Actor::ALL.iter().find(word).copied().unwrap_or(call.actor);
            if let Some((status, level)) = stated_status(extra) {
                (call.status, call.level) = (status, level);
            }
        }
        index
    }

    fn observation(
        &mut self,
        record: &Record<'_>,
        step: &AtifStep<'_>,
        observation: Value<'_>,
        number: Option<u32>,
    ) {
        if let Some(results) = observation.get("results") {
            for result in results.items() {
                self.result(record, step, result, None, number);
            }
        } else if observation.is_array() {
            for result in observation.items() {
                self.result(record, step, result, None, number);
            }
        } else {
            let message = step.message.and_then(Value::inner).unwrap_or("");
            let named = message.strip_prefix("Tool result for ");
            self.result(record, step, observation, named, number);
        }
    }

    /// Reads one result; `named` is the call named in the surrounding message.
    fn result(
        &mut self,
        record: &Record<'_>,
        step: &AtifStep<'_>,
        result: Value<'_>,
        named: Option<&str>,
        number: Option<u32>,
    ) {
        let id = result.get("source_call_id").or_else(|| result.get("tool_call_id"));
        let id = id.and_then(Value::str).or(named.map(Into::into));
        let content = if result.is_object() { result.get("content") } else { Some(result) };
        let answer = ReaderResult::new(content.map(|c| record.payload(c)), record.at_value(result));
        let mut answer = with_status(answer, result, content);
        let known = id.as_deref().map(|id| self.b.find(id));
        let call = match known {
            Some(call) => call,
            None => self.unnumbered.take(&self.b, None),
        };
        // A step has one time: it says nothing about how long its own calls took.
        if call.is_none_or(|c| self.b.run.calls[c as usize].step != number) {
            answer.time = step.time;
        }
        let spawned = result.at(&["extra", "spawned"]).and_then(|s| record.text(s));
        if let (Some(call), Some(run)) = (call, spawned) {
            self.b.run.calls[call as usize].spawned = Some(run);
        }
        self.references(record, result, call);
        match (call, id) {
            (Some(call), _) => self.b.answer_call(call, answer),
            (None, Some(id)) => self.waiting.push((id.into_owned(), answer)),
            (None, None) if step.event() == "orphan_result" => {
                answer.time = step.time;
                self.b.orphan(answer);
            }
            (None, None) => {
                let kind = EventKind::Context;
                self.b.event(kind, answer.payload, number, answer.time, answer.at);
            }
        }
    }

    /// Links sub-agents to the call whose result refers to them.
    fn references(&mut self, record: &Record<'_>, result: Value<'_>, call: Option<u32>) {
        let Some(list) = result.get("subagent_trajectory_ref") else { return };
        let single = list.is_object().then_some(list);
        for reference in list.items().chain(single) {
            let keys = ["trajectory_id", "session_id", "trajectory_path"];
            for key in keys.iter().filter_map(|k| reference.get(k)) {
                let Some(name) = record.text(key) else { continue };
                let call = call.map(|c| &mut self.b.run.calls[c as usize]);
                let call_id = call.and_then(|call| {
                    call.spawned.get_or_insert_with(|| name.clone());
                    call.id.clone()
                });
                self.links.entry(name.get().into_owned()).or_insert(call_id);
            }
        }
    }

    fn finish(mut self) -> Trajectory {
        for (id, answer) in std::mem::take(&mut self.waiting) {
            self.b.answer(&*id, answer);
        }
        let totals = self.final_metrics.unwrap_or_default();
        let totals = if self.is_own { totals } else { totals.or(self.step_metrics) };
        if let Some(usage) = totals.usage() {
            self.b.add_usage(usage);
        }
        let run = &mut self.b.run;
        run.cost = totals.cost;
        if run.calls.iter().all(|c| c.level == StatusLevel::Absent) {
            run.fidelity.lose(Fact::Status);
        }
        self.b.finish()
    }
}

/// Sets the status of a result: from a converter's field, or else from an exit code in the
/// text.
fn with_status(
    answer: ReaderResult,
    result: Value<'_>,
    content: Option<Value<'_>>,
) -> ReaderResult {
    let text = content.map(anthropic::first_text).unwrap_or_default();
    let answer = match failure_mark(result) {
        Some(true) => match anthropic::refusal(&text) {
            Some(status) => answer.status(status, StatusLevel::Denial),
            None => answer.protocol(true),
        },
        Some(false) => answer.protocol(false),
        None => answer,
    };
    let extra = result.get("extra");
    let code = extra.and_then(|e| e.get("exit_code")).and_then(Value::as_i64);
    let mut answer = answer.exit_code(code.or_else(|| exit_code::in_header(&text)));
    if let Some((status, level)) = extra.and_then(stated_status) {
        (answer.status, answer.level) = (status, level);
    }
    answer
}

/// Returns the status as toolmark writes it, with its evidence.
fn stated_status(extra: Value<'_>) -> Option<(Status, StatusLevel)> {
    let level = StatusLevel::from_word(extra.word("status_level"))?;
    Some((Status::from_word(extra.word("status"))?, level))
}

/// Returns whether the call failed, according to a field added by the writer.
fn failure_mark(result: Value<'_>) -> Option<bool> {
    let mut failed = None;
    let extra = result.get("extra").into_iter().flat_map(Value::fields);
    let inner = result.get("result").into_iter().flat_map(Value::fields);
    for (key, value) in result.fields().chain(inner).chain(extra) {
        match key.inner().unwrap_or("") {
            "tool_result_is_error" | "is_error" => failed = value.as_bool().or(failed),
            "success" => failed = value.as_bool().map(|s| !s).or(failed),
            // Harbor keeps Claude's own result here, where no mark means success.
            "tool_result_metadata" => failed = failed.or(Some(false)),
            _ => {}
        }
    }
    failed
}

#[cfg(test)]
mod tests {
    use crate::model::{Fact, MAX_DEPTH};
    use crate::testing::{read_text, sketch};

    fn sketched(text: &str) -> String {
        let read = read_text(text);
        assert_eq!(read.format, "atif");
        read.runs.iter().map(sketch).collect::<Vec<_>>().join("--\n")
    }

    #[test]
    fn steps_calls_and_marks() {
        let text = r#"{"schema_version":"ATIF-v1.7","session_id":"s","agent":{"name":"claude-code","version":"2","model_name":"m","extra":{"cwds":["/w"]},
            "tool_definitions":[{"type":"function","function":{"name":"ls","parameters":{}}}]},"steps":[
            {"step_id":1,"source":"system","message":"be good"},
            {"step_id":2,"source":"user","message":[{"type":"text","text":"go"}],"timestamp":"2026-01-01T00:00:00Z"},
            {"step_id":3,"source":"agent","message":"I look","reasoning_content":"hm","timestamp":"2026-01-01T00:00:01Z","tool_calls":[
                {"tool_call_id":"a","function_name":"ls","arguments":{"p":1}},
                {"tool_call_id":"b","function_name":"rm","arguments":{}},
                {"tool_call_id":"c","function_name":"cp","arguments":{}},
                {"tool_call_id":"d","function_name":"mv","arguments":{}}],
             "observation":{"results":[
                {"source_call_id":"a","content":"x","extra":{"tool_result_metadata":{}}},
                {"source_call_id":"b","content":"no","extra":{"tool_result_metadata":{},"tool_result_is_error":true}},
                {"source_call_id":"c","content":"User rejected","extra":{"success":false}},
                {"source_call_id":"z","content":"lost"},
                {"content":"the screen"}]},
             "metrics":{"prompt_tokens":9,"completion_tokens":2,"cached_tokens":4,"cost_usd":0.5}},
            {"step_id":4,"source":"oracle","message":"?"},5],
            "final_metrics":{"total_prompt_tokens":10,"total_completion_tokens":2}}"#;
        assert_eq!(
            sketched(text),
            "context: be good\n\
             user: go\n\
             0 reasoning: hm\n\
             0 message: I look\n\
             0 call ls {\"p\":1} -> succeeded(protocol): x\n\
             0 call rm {} -> failed(protocol): no\n\
             0 call cp {} -> denied(denial): User rejected\n\
             0 call mv {} -> unanswered(absent): \n\
             0 context: the screen\n\
             unknown source/oracle\n\
             unknown step that is not an object\n\
             orphanresult: lost\n"
        );
        let run = &read_text(text).runs[0];
        let usage = run.usage.unwrap().recorded;
        assert_eq!((usage.input, usage.output, usage.cache_read), (10, 2, 4));
        assert_eq!(run.cost.unwrap().usd(), 0.5);
        assert_eq!(run.cwd.as_ref().unwrap(), "/w");
        assert!(run.calls[0].duration.is_none());
        assert_eq!(run.tools.as_ref().unwrap()[0].name, "ls");
        assert!(!run.fidelity.lacks(Fact::Status));
    }

    #[test]
    fn loose_forms() {
        // A bare version, other keys, a result before its call and one after it.
        assert_eq!(
            sketched(
                r#"{"schema_version":"1.4","agent":{"name":"x","model":"m"},"steps":[
                {"step_id":1,"source":"system","message":"Tool result for a","observation":{"type":"tool_result","content":"Exit code 1","result":{"success":false}}},
                {"step_id":2,"source":"agent","message":{"role":"assistant","content":null,"reasoning":"hm"},"tool_calls":[{"id":"a","name":"Bash","arguments":{}},{"id":"b","function":{"name":"f","arguments":"{}"}}]},
                {"step_id":3,"source":"system","message":null,"observation":{"results":[{"source_call_id":"b","content":{"k":1}}]}},
                {"step_id":4,"source":"agent","message":"","tool_calls":[{"function_name":"g"}],"observation":{"results":[{"content":"by position"}]}},
                {"step_id":5,"source":"user","message":[{"role":"user","content":"again"}],"observation":"plain"}],
                "final_metrics":{"prompt_tokens":3,"completion_tokens":1}}"#
            ),
            "context: Tool result for a\n\
             0 reasoning: hm\n\
             0 call Bash {} -> failed(protocol) exit 1: Exit code 1\n\
             0 call f {} -> unknown(absent): {\"k\":1}\n\
             1 call g  -> unknown(absent): by position\n\
             user: again\n\
             context: plain\n"
        );
    }

    #[test]
    fn lines_with_a_header_and_without() {
        let read = read_text(
            r#"{"__header__":true,"schema_version":"ATIF-v1.4","session_id":"one","agent":{"name":"x"}}
{"step_id":1,"source":"user","message":"go"}
{"__header__":true,"schema_version":"ATIF-v1.4","session_id":"two","agent":{"name":"x"}}
{"step_id":1,"source":"user","message":"more"}
{"hologram":1}
"#,
        );
        assert_eq!(read.runs.len(), 2);
        assert_eq!(read.runs[1].id.as_ref().unwrap(), "two");
        assert_eq!(sketch(&read.runs[1]), "user: more\nunknown line without step_id\n");
        assert_eq!(
            sketched(r#"{"step_id":12,"source":"agent","message":"late"}"#),
            "0 message: late\n"
        );
    }

    #[test]
    fn sub_agents_and_copied_steps() {
        let text = r#"{"schema_version":"ATIF-v1.7","session_id":"s","trajectory_id":"top","agent":{"name":"x"},"steps":[
            {"step_id":1,"source":"agent","is_copied_context":true,"message":"","tool_calls":[{"tool_call_id":"o","function_name":"old","arguments":{}}]},
            {"step_id":2,"source":"agent","message":"","tool_calls":[{"tool_call_id":"a","function_name":"Task","arguments":{}}],
             "observation":{"results":[{"source_call_id":"a","content":"ok","subagent_trajectory_ref":[{"trajectory_id":"sub"}]}]}}],
            "subagent_trajectories":[
              {"schema_version":"ATIF-v1.7","trajectory_id":"sub","agent":{"name":"y"},"steps":[
                {"step_id":1,"source":"agent","is_copied_context":true,"message":"","tool_calls":[{"tool_call_id":"o","function_name":"old","arguments":{}}]},
                {"step_id":2,"source":"agent","message":"mine"}],
               "subagent_trajectories":[{"trajectory_id":"deep","agent":{},"steps":[]}]},
              {"trajectory_id":"other","agent":{},"steps":[]}]}"#;
        let read = read_text(text);
        let run = &read.runs[0];
        assert_eq!((read.runs.len(), run.calls.len()), (1, 2));
        assert_eq!(run.calls[1].spawned.as_ref().unwrap(), "sub");
        let sub = &run.children[0];
        assert_eq!((sub.calls.len(), sub.steps.len(), sub.events.len()), (0, 1, 2));
        let parent = sub.parent.as_ref().unwrap();
        assert_eq!(parent.trajectory.as_ref().unwrap(), "top");
        assert_eq!(parent.call.as_ref().unwrap(), "a");
        assert_eq!(sub.children[0].id.as_ref().unwrap(), "deep");
        assert!(run.children[1].parent.as_ref().unwrap().call.is_none());
    }

    #[test]
    fn a_deep_chain_of_sub_agents_is_only_memory() {
        let depth = 3000;
        let open = r#"{"schema_version":"ATIF-v1.7","steps":[],"subagent_trajectories":["#;
        let text = open.repeat(depth) + &"]}".repeat(depth);
        let read = read_text(&text);
        assert_eq!(read.runs.len(), 1);
        assert_eq!(read.runs[0].flatten().len(), depth);
        let mut levels = 0;
        let mut run = &read.runs[0];
        while let Some(child) = run.children.first() {
            (levels, run) = (levels + 1, child);
        }
        assert_eq!(levels, MAX_DEPTH);
    }
}
