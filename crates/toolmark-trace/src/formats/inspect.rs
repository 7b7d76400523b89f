//! Inspect evaluation logs: one `.json` document, or an `.eval` zip archive of
//! `header.json`, `samples/<id>_epoch_<n>.json` and summaries.
//!
//! - Each sample in each epoch is one run; its `messages` are the conversation.
//!   `events` provide times, token usage per response and the offered tools, and
//!   replace the messages only if a sample has none.
//! - A run that crashed leaves `_journal/start.json` and `_journal/summaries/`.
//!   A sample known only from its summary is a run with only an input, a usage and
//!   an outcome.
//! - Long strings are stored once, as `attachment://<hash>`; newer logs also store
//!   the messages of model events once, in `message_pool` or `events_data`, and
//!   refer to them by ranges (`input_refs`).
//! - A tool message has `error{type, message}`, or `tool_error` in old logs, if the
//!   call failed. Model events of scorers are not part of the run.
//! - Providers differ in whether `input_tokens` includes cached input and
//!   `output_tokens` includes reasoning; `total_tokens` determines which.

use super::shared::declared::{self, Full};
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::{
    Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record, RecordLayout,
};
use crate::model::{
    Actor, Cost, DeclaredOutcome, EventKind, Fact, Fidelity, Payload, Status, StatusLevel, Text,
    ToolDefinition, ToolName, Trajectory, Usage, UsageTokens, time,
};
use jiff::{SignedDuration, Timestamp};
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use toolmark_scan::Value;

/// Inspect evaluation logs.
pub(crate) struct Inspect;

static INFO: FormatInfo = FormatInfo {
    id: "inspect",
    title: "Inspect evaluation log",
    origin: "UKGovernmentBEIS/inspect_ai, logs/*.eval and logs/*.json",
    versions: "log version 2 and 3",
    looks_for: "a zip with header.json or _journal/start.json, or a document with eval and samples",
    fidelity: Fidelity::lacking(&[Fact::ExitCodes, Fact::WorkingDirectory]),
};

impl Format for Inspect {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        if probe.shape() == RecordLayout::Archive {
            let holds = |name: &str| probe.entries().iter().any(|e| e == name);
            let inside = |dir: &str| probe.entries().iter().any(|e| e.starts_with(dir));
            return match (holds("_journal/start.json"), holds("header.json")) {
                (true, _) => 100,
                (_, true) if inside("samples/") || inside("_journal/") => 100,
                (_, true) => 60,
                _ => 0,
            };
        }
        let is_log = |r: Value<'_>| {
            r.at(&["eval", "task"]).is_some()
                && r.at(&["eval", "model"]).is_some()
                && (r.has("version") || r.has("plan") || r.has("samples"))
        };
        if probe.first().is_some_and(is_log) { 100 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<LogReader>::default()
    }
}

/// Metadata of a log that applies to all its samples.
#[derive(Default)]
struct Header {
    task: Option<Text>,
    model: Option<Text>,
    solver: Option<Text>,
    usage: Option<Usage>,
}

impl Header {
    fn read(&mut self, record: &Record<'_>, log: Value<'_>) {
        if let Some(eval) = log.get("eval") {
            self.task = record.text_at(eval, "task");
            self.model = record.text_at(eval, "model");
            self.solver = record.text_at(eval, "solver");
        }
        if let Some(models) = log.at(&["stats", "model_usage"]) {
            self.usage = model_usage(models).map(|(usage, _)| usage);
        }
    }
}

#[derive(Default)]
struct LogReader {
    header: Header,
    /// Samples known from their summaries, by `<id>_epoch_<n>`.
    summaries: Vec<(String, Trajectory)>,
    read: HashSet<String>,
    summarised: HashSet<String>,
    /// Whether any run has its own usage.
    runs_have_usage: bool,
}

impl Reader for LogReader {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        let Some(value) = record.json() else { return };
        match record.entry() {
            None => self.read_log(record, value, out),
            Some(entry) => self.read_entry(record, entry, value, out),
        }
    }

    fn finish(&mut self, out: &mut Out) {
        for (key, run) in std::mem::take(&mut self.summaries) {
            if !self.read.contains(&key) {
                self.runs_have_usage |= run.usage.is_some();
                out.push(run);
            }
        }
        if let (Some(usage), false) = (self.header.usage, self.runs_have_usage) {
            out.unattributed(usage);
        }
    }

    fn spans_records(&self) -> bool {
        false
    }
}

impl LogReader {
    /// Reads a log in one document.
    fn read_log(&mut self, record: &Record<'_>, log: Value<'_>, out: &mut Out) {
        if !log.is_object() {
            out.skip(&record.at(), "not an Inspect log: expected an object");
            return;
        }
        self.header.read(record, log);
        let samples = log.get("samples");
        let count = samples.into_iter().flat_map(Value::items).count();
        for sample in samples.into_iter().flat_map(Value::items) {
            // The usage of the whole log is that of its only sample.
            let usage = self.header.usage.filter(|_| count == 1);
            self.read_sample(record, sample, usage, out);
        }
    }

    fn read_entry(&mut self, record: &Record<'_>, entry: &str, value: Value<'_>, out: &mut Out) {
        match entry {
            "header.json" => self.header.read(record, value),
            "_journal/start.json" if self.header.task.is_none() => {
                self.header.read(record, value);
            }
            _ if entry == "summaries.json" || entry.starts_with("_journal/summaries/") => {
                for summary in value.items() {
                    self.read_summary(record, summary, out);
                }
            }
            _ => match entry.strip_prefix("samples/") {
                Some(name) if !name.contains('/') => self.read_sample(record, value, None, out),
                Some(name) if name.ends_with("/sample.json") => {
                    out.note(&record.at(), "a sample in chunks: only its summary is read");
                    self.read_summary(record, value, out);
                }
                _ => {}
            },
        }
    }

    /// Reads the summary of a sample, which may be its only record.
    fn read_summary(&mut self, record: &Record<'_>, summary: Value<'_>, out: &mut Out) {
        if !summary.is_object() {
            out.skip_run(&record.at_value(summary), "not a sample's summary");
            return;
        }
        let sample = InspectSample::new(summary);
        let key = sample.key();
        if self.read.contains(&key) || !self.summarised.insert(key.clone()) {
            return;
        }
        let mut conversation = InspectConversation::new(record, &sample, out.builder(&Inspect));
        for fact in [
            Fact::CallIds,
            Fact::Arguments,
            Fact::Results,
            Fact::Status,
            Fact::Parallel,
            Fact::Steps,
            Fact::Messages,
            Fact::Reasoning,
        ] {
            conversation.b.run.fidelity.lose(fact);
        }
        conversation.read_input(&sample);
        conversation.describe(&sample, &self.header);
        self.summaries.push((key, conversation.b.finish()));
    }

    fn read_sample(
        &mut self,
        record: &Record<'_>,
        value: Value<'_>,
        fallback: Option<Usage>,
        out: &mut Out,
    ) {
        if !value.is_object() {
            out.skip_run(&record.at_value(value), "not a sample: expected an object");
            return;
        }
        let sample = InspectSample::new(value);
        self.read.insert(sample.key());
        let mut conversation = InspectConversation::new(record, &sample, out.builder(&Inspect));
        conversation.look_at_events(&sample);
        conversation.read_messages(&sample);
        conversation.read_events(&sample);
        conversation.describe(&sample, &self.header);
        let run = &mut conversation.b.run;
        run.usage = run.usage.or(fallback);
        self.runs_have_usage |= run.usage.is_some();
        out.push(conversation.b.finish());
    }
}

/// The relevant members of a sample, read in one pass.
#[derive(Default)]
struct InspectSample<'a> {
    id: Option<Value<'a>>,
    epoch: Option<Value<'a>>,
    uuid: Option<Value<'a>>,
    input: Option<Value<'a>>,
    messages: Option<Value<'a>>,
    output: Option<Value<'a>>,
    events: Option<Value<'a>>,
    pool: Option<Value<'a>>,
    attachments: Option<Value<'a>>,
    usage: Option<Value<'a>>,
    error: Option<Value<'a>>,
    limit: Option<Value<'a>>,
    scores: Option<Value<'a>>,
    started: Option<Value<'a>>,
    completed: Option<Value<'a>>,
}

impl<'a> InspectSample<'a> {
    fn new(value: Value<'a>) -> Self {
        let mut sample = Self::default();
        for (key, value) in value.fields() {
            let value = Some(value).filter(|v| !v.is_null());
            match key.inner().unwrap_or("") {
                "id" => sample.id = value,
                "epoch" => sample.epoch = value,
                "uuid" => sample.uuid = value,
                "input" => sample.input = value,
                "messages" => sample.messages = value,
                "output" => sample.output = value,
                "events" => sample.events = value,
                // The first logs of version 2 called it so.
                "transcript" => {
                    sample.events = sample.events.or_else(|| value?.get("events"));
                }
                "message_pool" => sample.pool = value,
                "events_data" => {
                    sample.pool = value.and_then(|d| d.get("messages")).or(sample.pool);
                }
                "attachments" => sample.attachments = value,
                "model_usage" => sample.usage = value,
                "error" => sample.error = value,
                "limit" => sample.limit = value,
                // Logs of the first versions have one score.
                "scores" | "score" => sample.scores = value,
                "started_at" => sample.started = value,
                "completed_at" => sample.completed = value,
                _ => {}
            }
        }
        sample
    }

    /// Returns the key of the sample, which names its archive entry.
    fn key(&self) -> String {
        let part = |value: Option<Value<'a>>| {
            value.map(|v| v.str().unwrap_or(v.raw().into())).unwrap_or_default()
        };
        format!("{}_epoch_{}", part(self.id), part(self.epoch))
    }

    fn events(&self) -> impl Iterator<Item = Value<'a>> + use<'a> {
        self.events.into_iter().flat_map(Value::items)
    }
}

/// Reads the scores of a sample. Letters are answers (correct, incorrect, no answer). A number may
/// measure anything, and counts only if there is no other scorer.
fn declare_scores(run: &mut Trajectory, record: &Record<'_>, scores: Value<'_>) {
    let is_single = scores.fields().count() == 1;
    let single = scores.get("value").map(|value| ("score", value));
    let by_scorer = scores
        .fields()
        .filter_map(|(name, score)| Some((name.inner()?, score.get("value").or(Some(score))?)));
    for (name, value) in single.map_or_else(|| by_scorer.collect(), |one| vec![one]) {
        let outcome = match value.inner() {
            Some("C") => DeclaredOutcome::Passed,
            Some("I" | "N") => DeclaredOutcome::Failed,
            _ if is_single || single.is_some() => {
                declared::verdict(run, record, &format!("score {name}"), value, Full::Ends);
                continue;
            }
            _ => continue,
        };
        let letter = value.inner().unwrap_or_default();
        declared::declare(run, record, outcome, format!("score {name} {letter}"), value);
    }
}

/// Data of a model event about its message.
#[derive(Default, Clone, Copy)]
struct InspectResponse {
    time: Option<Timestamp>,
    usage: Option<Usage>,
}

/// Data of a tool event about its call.
#[derive(Default, Clone, Copy)]
struct ToolRun {
    started: Option<Timestamp>,
    completed: Option<Timestamp>,
    worked: Option<SignedDuration>,
}

struct InspectConversation<'r, 'a> {
    record: &'r Record<'a>,
    b: TrajectoryBuilder,
    attachments: HashMap<&'a str, Value<'a>>,
    /// Remaining bytes that restoring attachments in JSON may use.
    budget: usize,
    responses: HashMap<&'a str, InspectResponse>,
    /// Tool events by ID; `None` if two events have the same ID.
    tool_runs: HashMap<&'a str, Option<ToolRun>>,
}

const ATTACHMENT: &str = "attachment://";

impl<'r, 'a> InspectConversation<'r, 'a> {
    fn new(record: &'r Record<'a>, sample: &InspectSample<'a>, b: TrajectoryBuilder) -> Self {
        let attachments = sample.attachments.into_iter().flat_map(Value::fields);
        Self {
            record,
            b: b.with_repeating_ids(),
            attachments: attachments.filter_map(|(k, v)| Some((k.inner()?, v))).collect(),
            budget: 64 << 20,
            responses: HashMap::new(),
            tool_runs: HashMap::new(),
        }
    }

    fn describe(&mut self, sample: &InspectSample<'a>, header: &Header) {
        let record = self.record;
        let run = &mut self.b.run;
        let uuid = sample.uuid.and_then(|u| record.text(u));
        run.id = uuid.or_else(|| Some(Text::owned(sample.key())));
        run.name = Some(Text::owned(match &header.task {
            Some(task) => format!("{task}/{}", sample.key()),
            None => sample.key(),
        }));
        run.agent.name = header.solver.clone();
        run.agent.model = header.model.clone();
        if let Some((usage, cost)) = sample.usage.and_then(model_usage) {
            run.usage = Some(usage);
            run.cost = cost;
        }
        let stop = sample.output.and_then(|o| o.get("choices")?.items().next()?.get("stop_reason"));
        run.outcome = match (sample.error, sample.limit) {
            (Some(_), _) => Some(Text::owned("error")),
            (None, Some(limit)) => {
                let kind = limit.get("type").unwrap_or(limit);
                record.label(kind).map(|kind| Text::owned(format!("{kind} limit")))
            }
            (None, None) => stop.and_then(|s| record.text(s)),
        };
        if let Some(scores) = sample.scores {
            declare_scores(run, record, scores);
        }
        if let (Some(error), None) = (sample.error, &run.declared) {
            declared::declare(run, record, DeclaredOutcome::Failed, "error", error);
        }
        for time in [sample.started, sample.completed] {
            self.b.seen(time.and_then(time::from_value));
        }
        if let Some(error) = sample.error {
            let text = error.get("message").unwrap_or(error);
            let text = Some(record.payload(text));
            self.b.event(EventKind::Error, text, None, None, record.at_value(error));
        }
    }

    /// Returns a value with its attachments restored.
    fn payload(&mut self, value: Value<'a>) -> Payload {
        let raw = value.raw();
        if !raw.contains(ATTACHMENT) {
            return self.record.payload(value);
        }
        if let Some(hash) = value.inner().and_then(|t| t.strip_prefix(ATTACHMENT)) {
            let whole = self.attachments.get(hash).copied().unwrap_or(value);
            return self.record.payload(whole);
        }
        if value.is_string() {
            return self.record.payload(value);
        }
        Payload::json(Text::owned(self.with_attachments(raw)))
    }

    /// Returns JSON with every reference replaced by its attachment.
    fn with_attachments(&mut self, raw: &str) -> String {
        let mut json = String::with_capacity(raw.len());
        let mut rest = raw;
        while let Some(at) = rest.find(ATTACHMENT) {
            let (before, found) = rest.split_at(at);
            let after = &found[ATTACHMENT.len()..];
            let length = after.bytes().take_while(u8::is_ascii_alphanumeric).count();
            // A string of its own: the quote before it is not an escaped one.
            let is_whole = before.ends_with('"')
                && !before.ends_with("\\\"")
                && after.as_bytes().get(length) == Some(&b'"');
            let content = self.attachments.get(&after[..length]).map(|v| v.raw());
            match content.filter(|c| is_whole && c.len() <= self.budget) {
                Some(content) => {
                    self.budget -= content.len();
                    json.push_str(&before[..before.len() - 1]);
                    json.push_str(content);
                    rest = &after[length + 1..];
                }
                None => {
                    json.push_str(before);
                    json.push_str(ATTACHMENT);
                    rest = after;
                }
            }
        }
        json.push_str(rest);
        json
    }

    /// Reads times, usage and tools, which only the events have.
    fn look_at_events(&mut self, sample: &InspectSample<'a>) {
        let mut scoring = ScorerEvents::default();
        for event in sample.events() {
            if scoring.covers(event) {
                continue;
            }
            let at = |key: &str| event.get(key).and_then(time::from_value);
            match event.word("event") {
                "model" => {
                    let output = event.get("output");
                    let message = output.and_then(first_choice);
                    if let Some(id) = message.and_then(|m| m.get("id")).and_then(Value::inner) {
                        let usage = output.and_then(|o| o.get("usage")).and_then(usage_of);
                        let time = at("completed").or_else(|| at("timestamp"));
                        self.responses.insert(id, InspectResponse { time, usage });
                    }
                    if self.b.run.tools.is_none() {
                        self.read_tools(event);
                    }
                }
                "tool" => {
                    let Some(id) = event.get("id").and_then(Value::inner) else { continue };
                    let seconds = event.get("working_time").and_then(Value::as_f64);
                    let run = ToolRun {
                        started: at("timestamp"),
                        completed: at("completed"),
                        worked: seconds.and_then(|s| time::millis(s * 1e3)),
                    };
                    let twice = self.tool_runs.contains_key(id);
                    self.tool_runs.insert(id, (!twice).then_some(run));
                }
                _ => {}
            }
        }
    }

    fn read_tools(&mut self, event: Value<'a>) {
        let Some(tools) = event.get("tools").filter(|t| t.is_array()) else { return };
        let mut definitions = Vec::new();
        for tool in tools.items() {
            let Some(name) = self.record.text_at(tool, "name") else { continue };
            let description = tool.get("description").map(|d| self.payload(d).source().clone());
            let schema = tool.get("parameters").map(|p| self.payload(p));
            definitions.push(ToolDefinition { name, description, schema });
        }
        self.b.run.tools = Some(definitions);
    }

    fn read_messages(&mut self, sample: &InspectSample<'a>) {
        let mut messages = sample.messages.into_iter().flat_map(Value::items).peekable();
        if messages.peek().is_some() {
            for message in messages {
                self.read_message(message);
            }
            return;
        }
        self.read_model_events(sample);
        if self.b.is_empty() {
            self.read_input(sample);
            if let Some(message) = sample.output.and_then(first_choice) {
                self.read_message(message);
            }
        }
    }

    /// Reads the conversation from the model events, each message once.
    fn read_model_events(&mut self, sample: &InspectSample<'a>) {
        let pool: Vec<Value<'a>> = sample.pool.into_iter().flat_map(Value::items).collect();
        let state = RandomState::new();
        let mut seen = HashSet::new();
        // Messages of the pool below this index were already taken.
        let mut taken = 0;
        let mut scoring = ScorerEvents::default();
        for event in sample.events() {
            if scoring.covers(event) || !event.field_is("event", "model") {
                continue;
            }
            let mut new: Vec<Value<'a>> = Vec::new();
            for range in event.items_at("input_refs") {
                let mut ends = range.items().filter_map(Value::as_u64);
                let (Some(start), Some(end)) = (ends.next(), ends.next()) else { continue };
                let end = usize::try_from(end).unwrap_or(pool.len()).min(pool.len());
                let start = usize::try_from(start).unwrap_or(end).max(taken);
                new.extend(pool.get(start..end).unwrap_or_default());
                taken = taken.max(end);
            }
            new.extend(event.items_at("input"));
            new.extend(event.get("output").and_then(first_choice));
            for message in new {
                let key = message.get("id").and_then(Value::inner).unwrap_or(message.raw());
                if seen.insert(state.hash_one(key)) {
                    self.read_message(message);
                }
            }
        }
    }

    fn read_input(&mut self, sample: &InspectSample<'a>) {
        let Some(input) = sample.input else { return };
        if input.is_array() {
            for message in input.items() {
                self.read_message(message);
            }
        } else {
            let text = self.payload(input);
            self.b.user(Some(text), None, self.record.at_value(input));
        }
    }

    fn read_message(&mut self, message: Value<'a>) {
        let at = self.record.at_value(message);
        match message.word("role") {
            "assistant" => self.read_assistant(message),
            "tool" => self.read_result(message),
            role @ ("system" | "user") => {
                let text = message.get("content").map(|c| self.payload(c));
                match role {
                    "user" => self.b.user(text, None, at),
                    _ => self.b.context(text, None, at),
                }
            }
            other => self.b.unknown(Text::owned(format!("message/{other}")), at),
        }
    }

    fn read_assistant(&mut self, message: Value<'a>) {
        let record = self.record;
        let id = message.get("id");
        let response = id.and_then(Value::inner).and_then(|id| self.responses.get(id));
        let InspectResponse { time, usage } = response.copied().unwrap_or_default();
        let step = self.b.step(id.and_then(|i| record.text(i)), time, record.at_value(message));
        let this = &mut self.b.run.steps[step as usize];
        this.model = record.text_at(message, "model");
        this.usage = usage;
        // Before content could hold it, reasoning stood beside it.
        if let Some(text) = message.get("reasoning").filter(|r| r.is_string()) {
            let words = self.payload(text);
            self.b.reasoning(step, Some(words), time, record.at_value(text));
        }
        if let Some(content) = message.get("content") {
            if content.is_string() {
                if !content.is("") {
                    let text = self.payload(content);
                    self.b.message(step, text, time, record.at_value(content));
                }
            } else {
                for block in content.items() {
                    self.read_block(block, step, time);
                }
            }
        }
        for call in message.items_at("tool_calls") {
            self.read_call(call, step);
        }
    }

    fn read_block(&mut self, block: Value<'a>, step: u32, time: Option<Timestamp>) {
        let at = self.record.at_value(block);
        match block.word("type") {
            "text" => {
                if let Some(text) = block.get("text").filter(|t| !t.is("")) {
                    let text = self.payload(text);
                    self.b.message(step, text, time, at);
                }
            }
            "reasoning" => {
                // A redacted text is the provider's cipher; its summary can be read.
                let redacted = block.is_true("redacted");
                let text = block.get("reasoning").filter(|t| !redacted && !t.is(""));
                let text = text.or_else(|| block.get("summary")).map(|t| self.payload(t));
                self.b.reasoning(step, text, time, at);
            }
            "tool_use" => self.read_provider_call(block, step, time),
            _ => {
                let text = self.payload(block);
                self.b.message(step, text, time, at);
            }
        }
    }

    fn read_call(&mut self, call: Value<'a>, step: u32) {
        let record = self.record;
        let id = call.get("id");
        let run = id.and_then(Value::inner).and_then(|id| self.tool_runs.get(id));
        let started = run.and_then(|r| r.as_ref()?.started);
        let name = record.text_at(call, "function").unwrap_or_else(|| Text::owned(""));
        let args = call.get("arguments").map(|a| self.payload(a));
        self.b.call(NewCall {
            id: id.and_then(|i| record.text(i)),
            name: ToolName::new(name),
            args,
            step: Some(step),
            time: started,
            at: record.at_value(call),
        });
    }

    /// Reads a tool call that the provider ran on its own servers.
    fn read_provider_call(&mut self, block: Value<'a>, step: u32, time: Option<Timestamp>) {
        let record = self.record;
        let name = block.get("name").or_else(|| block.get("tool_type"));
        let args = block.get("arguments").map(|a| self.payload(a));
        let call = self.b.call(NewCall {
            id: record.text_at(block, "id"),
            name: ToolName::or_empty(name.and_then(|n| record.text(n))),
            args,
            step: Some(step),
            time,
            at: record.at_value(block),
        });
        self.b.run.calls[call as usize].actor = Actor::Provider;
        let error = block.get("error");
        if let Some(result) = error.or_else(|| block.get("result")) {
            let text = self.payload(result);
            let answer = ReaderResult::new(Some(text), record.at_value(result));
            self.b.answer_call(call, answer.protocol(error.is_some()));
        }
    }

    fn read_result(&mut self, message: Value<'a>) {
        let id = message.get("tool_call_id");
        let run = id.and_then(Value::inner).and_then(|id| self.tool_runs.get(id).copied());
        let run = run.flatten().unwrap_or_default();
        let error = message.get("error").or_else(|| message.get("tool_error"));
        let content = message.get("content").filter(|c| error.is_none() || !c.is(""));
        let said = content.or_else(|| error.map(|e| e.get("message").unwrap_or(e)));
        let payload = said.map(|s| self.payload(s));
        let mut answer = ReaderResult::new(payload, self.record.at_value(message))
            .time(run.completed)
            .duration(run.worked);
        let kind = error.map(|e| e.word("type"));
        answer = match kind {
            None => answer.protocol(false),
            Some("approval") => answer.status(Status::Denied, StatusLevel::Denial),
            Some("timeout") => answer.status(Status::Interrupted, StatusLevel::Protocol),
            Some(_) => answer.protocol(true),
        };
        self.b.answer(id.and_then(Value::str).as_deref(), answer);
    }

    /// Reads events besides the conversation.
    fn read_events(&mut self, sample: &InspectSample<'a>) {
        for event in sample.events() {
            let at = self.record.at_value(event);
            let time = event.get("timestamp").and_then(time::from_value);
            self.b.seen(time);
            match event.word("event") {
                "compaction" => self.b.event(EventKind::Compaction, None, None, time, at),
                kind @ ("interrupt" | "sample_limit" | "approval" | "input" | "subtask") => {
                    let kind = EventKind::Note(Text::owned(kind));
                    let text = Some(self.record.payload(event));
                    self.b.event(kind, text, None, time, at);
                }
                // The machinery's own diary, and what the messages say already.
                "model" | "tool" | "sandbox" | "state" | "store" | "sample_init" | "span_begin"
                | "span_end" | "step" | "score" | "score_edit" | "info" | "logger" | "error"
                | "checkpoint" | "branch" | "anchor" => {}
                other => self.b.unknown(Text::owned(format!("event/{other}")), at),
            }
        }
    }
}

/// Detects the events of scorers, whose model calls are not part of the run.
#[derive(Default)]
struct ScorerEvents<'a> {
    spans: HashSet<&'a str>,
    /// Number of open scorer steps, in logs without spans.
    steps: usize,
}

impl<'a> ScorerEvents<'a> {
    /// Records an event; returns whether it is part of scoring.
    fn covers(&mut self, event: Value<'a>) -> bool {
        let text = |key: &str| event.word(key);
        match text("event") {
            "span_begin" => {
                let scores = matches!(text("type"), "scorer" | "scorers");
                let id = text("id");
                if !id.is_empty() && (scores || self.spans.contains(text("parent_id"))) {
                    self.spans.insert(id);
                }
            }
            "step" if text("type") == "scorer" => match text("action") {
                "begin" => self.steps += 1,
                _ => self.steps = self.steps.saturating_sub(1),
            },
            _ => {}
        }
        self.steps > 0 || self.spans.contains(text("span_id"))
    }
}

fn first_choice(output: Value<'_>) -> Option<Value<'_>> {
    output.get("choices")?.items().next()?.get("message")
}

/// Sums usage and cost over the models.
fn model_usage(models: Value<'_>) -> Option<(Usage, Option<Cost>)> {
    let mut sum: Option<Usage> = None;
    let mut cost: Option<Cost> = None;
    for (_, usage) in models.fields() {
        let Some(one) = usage_of(usage) else { continue };
        match &mut sum {
            Some(sum) => sum.add(&one),
            None => sum = Some(one),
        }
        let usd = usage.get("total_cost").and_then(Value::as_f64);
        if let Some(one) = usd.and_then(Cost::from_usd) {
            let before = cost.unwrap_or_default().nano_usd;
            cost = Some(Cost { nano_usd: before.saturating_add(one.nano_usd) });
        }
    }
    Some((sum?, cost))
}

fn usage_of(usage: Value<'_>) -> Option<Usage> {
    if !usage.is_object() {
        return None;
    }
    let count = |key: &str| usage.get(key).and_then(Value::as_u64);
    let recorded = UsageTokens {
        input: count("input_tokens").unwrap_or(0),
        output: count("output_tokens").unwrap_or(0),
        cache_read: count("input_tokens_cache_read").unwrap_or(0),
        cache_write: count("input_tokens_cache_write").unwrap_or(0),
        cache_write_1h: 0,
        reasoning: count("reasoning_tokens").unwrap_or(0),
    };
    Some(Usage::stated(recorded, count("total_tokens")))
}

#[cfg(test)]
mod tests {
    use crate::model::{Actor, Fact};
    use crate::testing::{TestRead, read_bytes, read_text, sketch};
    use std::io::{Cursor, Write};
    use zip::CompressionMethod;
    use zip::write::{SimpleFileOptions, ZipWriter};

    const HEADER: &str =
        r#""version":2,"status":"success","eval":{"task":"t","model":"m/x"},"plan":{}"#;

    fn log(samples: &str) -> TestRead {
        read_text(&format!("{{{HEADER},\"samples\":[{samples}]}}"))
    }

    fn archive(entries: &[(&str, &str)], method: CompressionMethod) -> TestRead {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().compression_method(method);
        for (name, text) in entries {
            zip.start_file(*name, options).unwrap();
            zip.write_all(text.as_bytes()).unwrap();
        }
        read_bytes(&zip.finish().unwrap().into_inner())
    }

    #[test]
    fn a_sample_is_a_run() {
        let read = log(r#"{"id":1,"epoch":2,"input":"go","messages":[
            {"role":"system","content":"sys"},{"role":"user","content":"attachment://ab1"},
            {"id":"m1","role":"assistant","content":[{"type":"reasoning","reasoning":"hm"},{"type":"text","text":"ok"}],"tool_calls":[
              {"id":"a","function":"bash","arguments":{"cmd":"attachment://cd2","n":1}},
              {"id":"b","function":"bash","arguments":{}},{"id":"c","function":"rm","arguments":{}},
              {"id":"d","function":"sleep","arguments":{}},{"id":"e","function":"last","arguments":{}}]},
            {"role":"tool","tool_call_id":"a","function":"bash","content":"out"},
            {"role":"tool","tool_call_id":"b","content":"","error":{"type":"permission","message":"not allowed"}},
            {"role":"tool","tool_call_id":"c","content":"no","error":{"type":"approval","message":"rejected"}},
            {"role":"tool","tool_call_id":"d","content":"","error":{"type":"timeout","message":"too long"}},
            {"role":"tool","tool_call_id":"zz","content":"lost"},{"role":"chorus"}],
            "events":[{"event":"model","timestamp":"2026-01-01T00:00:00Z","completed":"2026-01-01T00:00:02Z","tools":[{"name":"bash","description":"d","parameters":{}}],
              "output":{"choices":[{"message":{"id":"m1","role":"assistant","content":""}}],"usage":{"input_tokens":5,"output_tokens":1,"total_tokens":6}}},
              {"event":"tool","id":"a","timestamp":"2026-01-01T00:00:03Z","completed":"2026-01-01T00:00:05Z","working_time":1.5},
              {"event":"brand_new"}],
            "attachments":{"ab1":"the \"task\"","cd2":"ls\n"},"limit":{"type":"message","limit":9},
            "model_usage":{"m/x":{"input_tokens":10,"output_tokens":3,"input_tokens_cache_read":4,"total_tokens":17}}}, 5"#);
        assert_eq!(read.format, "inspect");
        assert_eq!((read.runs.len(), read.skipped), (1, 1));
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "context: sys\nuser: the \"task\"\n0 reasoning: hm\n0 message: ok\n\
             0 call bash {\"cmd\":\"ls\\n\",\"n\":1} -> succeeded(protocol): out\n\
             0 call bash {} -> failed(protocol): not allowed\n\
             0 call rm {} -> denied(denial): no\n\
             0 call sleep {} -> interrupted(protocol): too long\n\
             0 call last {} -> unanswered(absent): \n\
             orphanresult: lost\nunknown message/chorus\nunknown event/brand_new\n"
        );
        assert_eq!(run.calls[0].duration.unwrap().as_millis(), 1500);
        assert_eq!(run.steps[0].usage.unwrap().total(), 6);
        assert_eq!(run.tools.as_ref().unwrap().len(), 1);
        assert_eq!(run.name.as_ref().unwrap(), "t/1_epoch_2");
        assert_eq!(run.outcome.as_ref().unwrap(), "message limit");
        let usage = run.usage.unwrap();
        assert_eq!((usage.normalised().uncached_input, usage.total()), (10, 17));
    }

    #[test]
    fn old_errors_and_provider_tools() {
        let read = log(r#"{"id":"q","epoch":1,"messages":[{"role":"assistant","content":[
              {"type":"tool_use","tool_type":"web_search","id":"w","name":"web_search","arguments":"{}","result":"found","error":null}],
              "tool_calls":[{"id":"a","function":"f","arguments":{},"parse_error":"bad"}]},
            {"role":"tool","tool_call_id":"a","content":"","tool_error":"broke"}],"error":{"message":"crash","traceback":"…"}}"#);
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "0 call web_search {} -> succeeded(protocol): found\n\
             0 call f {} -> failed(protocol): broke\nerror: crash\n"
        );
        assert_eq!(run.calls[0].actor, Actor::Provider);
        assert_eq!(run.outcome.as_ref().unwrap(), "error");
    }

    #[test]
    fn events_stand_in_for_missing_messages() {
        let read = log(r#"{"id":1,"epoch":1,"input":"go","messages":[],
            "message_pool":[{"id":"u","role":"user","content":"go"},{"id":"m1","role":"assistant","content":"one"},{"id":"u2","role":"user","content":"more"}],
            "events":[
            {"event":"model","input":[],"input_refs":[[0,1]],"output":{"choices":[{"message":{"id":"m1","role":"assistant","content":"one"}}]}},
            {"event":"model","input":[],"input_refs":[[0,3],[9,2],["x"],[7,18446744073709551615]],"output":{"choices":[{"message":{"id":"m2","role":"assistant","content":"two"}}]}},
            {"event":"span_begin","id":"s","span_id":"s","type":"scorers"},
            {"event":"span_begin","id":"s2","span_id":"s2","parent_id":"s","type":"x"},
            {"event":"model","span_id":"s2","input":[{"role":"user","content":"grade it"}],"output":{"choices":[]}}]}"#);
        assert_eq!(sketch(&read.runs[0]), "user: go\n0 message: one\nuser: more\n1 message: two\n");
    }

    #[test]
    fn archives_of_both_compressions() {
        let header = format!("{{{HEADER},\"stats\":{{\"model_usage\":{{}}}}}}");
        let sample = |id| {
            format!(
                r#"{{"id":{id},"epoch":1,"input":"x","messages":[{{"role":"user","content":"hi"}},{{"role":"assistant","content":"yo"}}]}}"#
            )
        };
        for method in [CompressionMethod::Deflated, CompressionMethod::Zstd] {
            let read = archive(
                &[
                    ("_journal/start.json", &header),
                    ("samples/1_epoch_1.json", &sample(1)),
                    ("_journal/summaries/1.json", r#"[{"id":1,"epoch":1,"input":"x"}]"#),
                    ("samples/2_epoch_1.json", "{broken"),
                    ("summaries.json", r#"[{"id":1,"epoch":1,"input":"x"}]"#),
                    ("reductions.json", "[]"),
                    ("header.json", &header),
                ],
                method,
            );
            assert_eq!(read.format, "inspect");
            assert_eq!((read.runs.len(), read.skipped), (1, 1));
            assert_eq!(sketch(&read.runs[0]), "user: hi\n0 message: yo\n");
            assert_eq!(read.runs[0].agent.model.as_ref().unwrap(), "m/x");
        }
    }

    #[test]
    fn a_journal_tells_what_it_can() {
        let start = format!("{{{HEADER}}}");
        let read = archive(
            &[
                ("_journal/start.json", &start),
                (
                    "_journal/summaries/1.json",
                    r#"[{"id":"a","epoch":1,"input":"do","error":"crash","model_usage":{"m":{"input_tokens":2,"output_tokens":1,"total_tokens":3}}}, 4]"#,
                ),
            ],
            CompressionMethod::Deflated,
        );
        assert_eq!((read.runs.len(), read.skipped), (1, 1));
        let run = &read.runs[0];
        assert_eq!(sketch(run), "user: do\nerror: crash\n");
        assert_eq!(run.usage.unwrap().total(), 3);
        assert!(run.fidelity.lacks(Fact::Steps) && run.fidelity.lacks(Fact::Status));
    }

    #[test]
    fn wrong_types_are_harmless() {
        let read = log(
            r#"{"id":[],"epoch":{},"messages":{"a":1},"events":[3,{"event":7}],"attachments":[1],"output":4,"model_usage":[1],"input":5},
            {"messages":[{"role":"assistant","content":5,"tool_calls":[7,{"function":3,"arguments":"x"}]},{"role":"tool","tool_call_id":6}]}"#,
        );
        assert_eq!(read.runs.len(), 2);
        assert_eq!(read.runs[1].calls.len(), 2);
    }
}
