//! OTLP JSON with the GenAI conventions of OpenTelemetry: one export request per
//! trajectory, each on its own line.
//!
//! A run is an `invoke_agent` span with a `chat` span per step and an `execute_tool` span per
//! call; the `invoke_agent` span of a sub-agent is below the call that started it. A `chat`
//! span contains only what is new since the previous one, not the whole conversation. Data
//! without an attribute in the conventions is under `toolmark.`; everything that is not a
//! span is an event of the run's span. IDs are hashes, so the same trajectory gives the same
//! spans.

use super::json::JsonMembers;
use super::rows::{ConversationRow, ConversationRows, ModelResponse};
use super::shared::{starters, words};
use super::{ExportInfo, Exporter, Losses, TrajectoryPart, openai};
use crate::model::{Actor, Call, Event, EventKind, Form, Payload, Status, Text, Trajectory, Usage};
use jiff::Timestamp;
use std::borrow::Cow;
use std::io;

/// OTLP JSON.
pub(super) struct Otlp;

static INFO: ExportInfo = ExportInfo {
    id: "otlp",
    title: "OTLP JSON, OpenTelemetry GenAI spans",
    extension: "jsonl",
    lacks: &[
        TrajectoryPart::WithheldReasoning,
        TrajectoryPart::WordTimes,
        TrajectoryPart::InputTimes,
        TrajectoryPart::Convention,
        TrajectoryPart::RepeatedResults,
        TrajectoryPart::Positions,
        TrajectoryPart::Declared,
    ],
};

impl Exporter for Otlp {
    fn info(&self) -> &'static ExportInfo {
        &INFO
    }

    fn export(&self, run: &Trajectory, out: &mut dyn io::Write) -> io::Result<Losses> {
        let mut losses = Losses::default();
        let trace = trace_id(run);
        let agents = agents(run, trace, &mut losses);
        let spans = agents.iter().flat_map(OtlpAgent::spans);
        let service = run.agent.name.as_ref().map_or(Cow::Borrowed(run.format), Text::get);
        JsonMembers::line(out, |w| {
            w.array("resourceSpans", [spans], |w, spans| {
                w.object("resource", |w| {
                    let mut attributes = Attributes::default();
                    attributes.text("service.name", Some(Cow::Borrowed(&*service)));
                    attributes.write(w)
                })?;
                w.array("scopeSpans", [spans], |w, spans| {
                    w.object("scope", |w| {
                        w.put("name", "toolmark")?;
                        w.put("version", env!("CARGO_PKG_VERSION"))
                    })?;
                    w.array("spans", spans, |w, span| span.write(w, trace, &mut losses))
                })
            })
        })?;
        Ok(losses)
    }
}

/// A run in the tree of sub-agents.
struct OtlpAgent<'a> {
    run: &'a Trajectory,
    rows: ConversationRows<'a>,
    ids: Ids,
    parent: Option<u64>,
}

/// Span IDs of one run.
struct Ids {
    trace: u128,
    run: usize,
}

impl Ids {
    fn span(&self, kind: &str, index: usize) -> u64 {
        let hash = Hash::new().text(kind).number(self.trace).number(self.run as u128);
        // A span id of zero means none.
        ((hash.number(index as u128).0 >> 64) as u64).max(1)
    }

    fn agent(&self) -> u64 {
        self.span("agent", 0)
    }

    fn chat(&self, response: usize) -> u64 {
        self.span("chat", response)
    }

    fn tool(&self, call: usize) -> u64 {
        self.span("tool", call)
    }
}

/// FNV-1a with 128 bits: well known, short, and stable across releases.
struct Hash(u128);

impl Hash {
    fn new() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }

    fn bytes(self, bytes: &[u8]) -> Self {
        const PRIME: u128 = (1 << 88) + 0x13b;
        Self(bytes.iter().fold(self.0, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME)))
    }

    fn number(self, number: u128) -> Self {
        self.bytes(&number.to_le_bytes())
    }

    /// Hashes the length as well, so that adjacent texts cannot be confused.
    fn text(self, text: &str) -> Self {
        self.number(text.len() as u128).bytes(text.as_bytes())
    }
}

/// Returns the trace ID. The same run read from the same place has the same ID.
fn trace_id(run: &Trajectory) -> u128 {
    let text = |text: &Option<Text>| text.as_ref().map(ToString::to_string).unwrap_or_default();
    let byte = run.events.first().map_or(0, |e| e.at.location().byte);
    let hash = Hash::new().text(run.format).text(&run.file);
    hash.text(&text(&run.id)).text(&text(&run.name)).number(u128::from(byte)).0.max(1)
}

/// Returns the run and all its sub-agents, parents first.
fn agents<'a>(run: &'a Trajectory, trace: u128, losses: &mut Losses) -> Vec<OtlpAgent<'a>> {
    let mut agents: Vec<OtlpAgent<'a>> = Vec::new();
    let mut waiting = std::collections::VecDeque::from([(run, None)]);
    while let Some((run, parent)) = waiting.pop_front() {
        losses.count_run(run, INFO.lacks);
        let ids = Ids { trace, run: agents.len() };
        for (child, call) in run.children.iter().zip(starters(run)) {
            waiting.push_back((child, Some(call.map_or_else(|| ids.agent(), |c| ids.tool(c)))));
        }
        agents.push(OtlpAgent { run, rows: ConversationRows::of(run, losses), ids, parent });
    }
    agents
}

/// A span of a run.
enum OtlpSpan<'s> {
    /// The run, with the messages after the last response.
    Agent(&'s OtlpAgent<'s>, Vec<OtlpInput<'s>>),
    /// A response, with the messages since the previous one.
    Chat {
        agent: &'s OtlpAgent<'s>,
        index: usize,
        inputs: Vec<OtlpInput<'s>>,
        clock: Option<Timestamp>,
    },
    Tool {
        agent: &'s OtlpAgent<'s>,
        index: usize,
        call: &'s Call,
        clock: Option<Timestamp>,
    },
}

/// A message given to the model: its role and its event.
type OtlpInput<'s> = (&'static str, &'s Event);

impl OtlpAgent<'_> {
    /// Returns the spans of the run, its own first. `clock` is the last time before each span.
    fn spans(&self) -> Vec<OtlpSpan<'_>> {
        let mut spans = Vec::new();
        let mut inputs = Vec::new();
        let mut clock = self.run.started;
        for row in &self.rows.rows {
            match row {
                ConversationRow::User(event) => inputs.push(("user", *event)),
                ConversationRow::Context(event) => inputs.push(("system", *event)),
                ConversationRow::Response(index) => {
                    let response = &self.rows.responses[*index];
                    clock = response.time().or(clock);
                    // A call that belongs to no step came from no response.
                    if response.step.is_some() || response.calls.is_empty() {
                        let inputs = std::mem::take(&mut inputs);
                        spans.push(OtlpSpan::Chat { agent: self, index: *index, inputs, clock });
                    }
                    for (index, call) in &response.calls {
                        clock = call.started.or(clock);
                        spans.push(OtlpSpan::Tool { agent: self, index: *index, call, clock });
                    }
                }
                ConversationRow::Orphan(event) | ConversationRow::Other(event) => {
                    clock = event.time.or(clock)
                }
            }
        }
        spans.insert(0, OtlpSpan::Agent(self, inputs));
        spans
    }

    fn conversation(&self) -> Option<Cow<'_, str>> {
        self.run.id.as_ref().map(Text::get)
    }
}

impl OtlpSpan<'_> {
    fn write(&self, w: &mut JsonMembers<'_>, trace: u128, losses: &mut Losses) -> io::Result<()> {
        let agent = match self {
            Self::Agent(agent, _) | Self::Chat { agent, .. } | Self::Tool { agent, .. } => agent,
        };
        let (id, parent) = match self {
            Self::Agent(..) => (agent.ids.agent(), agent.parent),
            Self::Chat { index, .. } => (agent.ids.chat(*index), Some(agent.ids.agent())),
            Self::Tool { index, .. } => (agent.ids.tool(*index), Some(agent.ids.agent())),
        };
        w.put("traceId", &format!("{trace:032x}"))?;
        w.put("spanId", &format!("{id:016x}"))?;
        w.opt("parentSpanId", parent.map(|parent| format!("{parent:016x}")))?;
        match self {
            Self::Agent(agent, inputs) => agent_span(w, agent, inputs, losses),
            Self::Chat { index, inputs, clock, .. } => {
                chat_span(w, agent, &agent.rows.responses[*index], inputs, *clock, losses)
            }
            Self::Tool { call, clock, .. } => tool_span(w, agent, call, *clock, losses),
        }
    }
}

/// Writes the members that all spans have.
fn frame(
    w: &mut JsonMembers<'_>,
    name: &str,
    kind: u8,
    start: Option<Timestamp>,
    end: Option<Timestamp>,
) -> io::Result<()> {
    let end = end.filter(|end| start.is_none_or(|start| *end >= start)).or(start);
    w.put("name", name)?;
    w.put("kind", &kind)?;
    w.put("startTimeUnixNano", &nanos(start))?;
    w.put("endTimeUnixNano", &nanos(end))
}

const INTERNAL: u8 = 1;
const CLIENT: u8 = 3;

fn nanos(time: Option<Timestamp>) -> String {
    time.map_or(0, |t| t.as_nanosecond().max(0)).to_string()
}

fn agent_span(
    w: &mut JsonMembers<'_>,
    agent: &OtlpAgent<'_>,
    inputs: &[OtlpInput<'_>],
    losses: &mut Losses,
) -> io::Result<()> {
    let run = agent.run;
    let name = run.agent.name.as_ref().map_or(Cow::Borrowed(run.format), Text::get);
    frame(w, &format!("invoke_agent {name}"), INTERNAL, run.started, run.ended)?;
    let model = run.agent.model.as_ref().map(Text::get);
    let text = |text: &Option<Text>| text.as_ref().map(|t| Cow::Owned(t.to_string()));
    let mut attributes = Attributes::default();
    attributes.text("gen_ai.operation.name", Some("invoke_agent".into()));
    attributes.text("gen_ai.provider.name", provider(model.as_deref()));
    attributes.text("gen_ai.agent.name", text(&run.agent.name));
    attributes.text("gen_ai.agent.version", text(&run.agent.version));
    attributes.text("gen_ai.conversation.id", agent.conversation());
    attributes.text("gen_ai.request.model", model);
    attributes.usage(run.usage.as_ref());
    let stated = run.usage.and_then(|usage| usage.stated_total);
    attributes.number("toolmark.run.stated_total_tokens", stated.map(i128::from));
    if let Some(tools) = &run.tools {
        let tools = JsonMembers::text_of_array(tools, openai::tool_definition)?;
        attributes.text("gen_ai.tool.definitions", Some(tools.into()));
    }
    if !inputs.is_empty() {
        let messages = input_messages(inputs, losses)?;
        attributes.text("gen_ai.input.messages", Some(messages.into()));
    }
    attributes.text("toolmark.run.name", text(&run.name));
    attributes.text("toolmark.run.cwd", text(&run.cwd));
    attributes.text("toolmark.run.outcome", text(&run.outcome));
    let parent = run.parent.as_ref();
    attributes.text("toolmark.run.parent_trajectory", parent.and_then(|p| text(&p.trajectory)));
    attributes.text("toolmark.run.parent_call", parent.and_then(|p| text(&p.call)));
    attributes.number("toolmark.run.cost_nano_usd", run.cost.map(|c| i128::from(c.nano_usd)));
    attributes.text("toolmark.run.format", Some(run.format.into()));
    attributes.text("toolmark.run.file", Some(Cow::Borrowed(&*run.file)));
    let gaps: Vec<&str> = run.fidelity.missing().map(crate::Fact::word).collect();
    attributes.text("toolmark.run.fidelity_gaps", Some(gaps.join(",").into()));
    attributes.write(w)?;
    let other = |row: &ConversationRow<'_>| {
        matches!(row, ConversationRow::Orphan(_) | ConversationRow::Other(_))
    };
    w.array("events", agent.rows.rows.iter().filter(|row| other(row)), |w, row| match row {
        ConversationRow::Orphan(event) | ConversationRow::Other(event) => {
            span_event(w, event, losses)
        }
        _ => Ok(()),
    })?;
    w.object("status", |_| Ok(()))
}

/// Writes an event of a run that is not a span.
fn span_event(w: &mut JsonMembers<'_>, event: &Event, losses: &mut Losses) -> io::Result<()> {
    w.put("timeUnixNano", &nanos(event.time))?;
    let text = event.text.as_ref().map(|text| words(text, losses));
    let mut attributes = Attributes::default();
    let (name, key) = match &event.kind {
        EventKind::Error => (Cow::Borrowed("exception"), "exception.message"),
        kind => (Cow::Owned(format!("toolmark.{}", kind.word())), "toolmark.text"),
    };
    if let EventKind::Unknown(record) | EventKind::Note(record) = &event.kind {
        attributes.text("toolmark.record", Some(record.get()));
    }
    attributes.text(key, text);
    w.put("name", &name)?;
    attributes.write(w)
}

fn chat_span(
    w: &mut JsonMembers<'_>,
    agent: &OtlpAgent<'_>,
    response: &ModelResponse<'_>,
    inputs: &[OtlpInput<'_>],
    clock: Option<Timestamp>,
    losses: &mut Losses,
) -> io::Result<()> {
    losses.add(TrajectoryPart::AbsentTimes, usize::from(response.time().is_none()));
    let model = response.step.and_then(|s| s.model.as_ref()).map(Text::get);
    let name = model.as_ref().map_or(Cow::Borrowed("chat"), |m| format!("chat {m}").into());
    frame(w, &name, CLIENT, clock, clock)?;
    let mut attributes = Attributes::default();
    attributes.text("gen_ai.operation.name", Some("chat".into()));
    attributes.text("toolmark.step.input", Some("new".into()));
    attributes.text("gen_ai.provider.name", provider(model.as_deref()));
    attributes.text("gen_ai.conversation.id", agent.conversation());
    attributes.text("gen_ai.request.model", model.clone());
    attributes.text("gen_ai.response.model", model);
    attributes.text("gen_ai.response.id", response.step.and_then(|s| s.id.as_ref()).map(Text::get));
    let usage = response.step.and_then(|s| s.usage.as_ref());
    attributes.usage(usage);
    losses.add(
        TrajectoryPart::StatedTotal,
        usize::from(usage.is_some_and(|u| u.stated_total.is_some())),
    );
    if !inputs.is_empty() {
        let messages = input_messages(inputs, losses)?;
        attributes.text("gen_ai.input.messages", Some(messages.into()));
    }
    attributes.text("gen_ai.output.messages", Some(output_message(response, losses)?.into()));
    attributes.write(w)?;
    w.object("status", |_| Ok(()))
}

fn input_messages(inputs: &[OtlpInput<'_>], losses: &mut Losses) -> io::Result<String> {
    JsonMembers::text_of_array(inputs, |w, (role, event)| {
        w.put("role", role)?;
        w.array("parts", &event.text, |w, text| said(w, "text", text, losses))
    })
}

fn said(
    w: &mut JsonMembers<'_>,
    kind: &str,
    text: &Payload,
    losses: &mut Losses,
) -> io::Result<()> {
    w.put("type", kind)?;
    w.put("content", &words(text, losses))
}

fn output_message(response: &ModelResponse<'_>, losses: &mut Losses) -> io::Result<String> {
    enum ResponsePart<'a> {
        Words(&'static str, &'a Payload),
        Call(&'a Call),
    }
    let reasoning = response.reasoning.iter().map(|text| ResponsePart::Words("reasoning", text));
    let messages = response.messages.iter().map(|text| ResponsePart::Words("text", text));
    let calls = response.calls.iter().map(|(_, call)| ResponsePart::Call(call));
    let parts: Vec<_> = reasoning.chain(messages).chain(calls).collect();
    JsonMembers::text_of_array([parts], |w, parts| {
        w.put("role", "assistant")?;
        w.array("parts", parts, |w, part| match part {
            ResponsePart::Words(kind, text) => said(w, kind, text, losses),
            ResponsePart::Call(call) => {
                w.put("type", "tool_call")?;
                w.opt("id", call.id.as_ref())?;
                w.put("name", &call.name.full())?;
                call.args.as_ref().map_or(Ok(()), |args| w.payload("arguments", args))
            }
        })?;
        w.put("finish_reason", if response.calls.is_empty() { "stop" } else { "tool_call" })
    })
}

fn tool_span(
    w: &mut JsonMembers<'_>,
    agent: &OtlpAgent<'_>,
    call: &Call,
    clock: Option<Timestamp>,
    losses: &mut Losses,
) -> io::Result<()> {
    losses.add(TrajectoryPart::AbsentTimes, usize::from(call.started.is_none()));
    let result = call.result.as_ref();
    let payload = result.and_then(|r| r.payload.as_ref());
    let as_text = |p: &Payload| p.form() == Form::Json;
    losses.add(TrajectoryPart::JsonAsText, usize::from(payload.is_some_and(as_text)));
    let of_no_response = call.step.is_none() && call.args.as_ref().is_some_and(as_text);
    losses.add(TrajectoryPart::ArgumentForms, usize::from(of_no_response));
    let after = |start: Timestamp| start.checked_add(call.duration?).ok();
    let end = result.and_then(|r| r.time).or_else(|| after(clock?));
    frame(w, &format!("execute_tool {}", call.name.full()), INTERNAL, clock, end)?;
    let text = |text: &Option<Text>| text.as_ref().map(|t| Cow::Owned(t.to_string()));
    let kind = if call.actor == Actor::Provider { "extension" } else { "function" };
    let mut attributes = Attributes::default();
    attributes.text("gen_ai.operation.name", Some("execute_tool".into()));
    attributes.text("gen_ai.conversation.id", agent.conversation());
    attributes.text("gen_ai.tool.name", Some(call.name.full()));
    attributes.text("gen_ai.tool.call.id", call.id.as_ref().map(Text::get));
    attributes.text("gen_ai.tool.type", Some(kind.into()));
    attributes.text("gen_ai.agent.name", text(&call.agent));
    attributes.text("gen_ai.tool.call.arguments", call.args.as_ref().map(Payload::raw));
    attributes.text("gen_ai.tool.call.result", payload.map(Payload::raw));
    let error = call.status.is_error().then(|| call.status.word().into());
    attributes.text("error.type", error);
    attributes.text("toolmark.call.status", Some(call.status.word().into()));
    attributes.text("toolmark.call.level", Some(call.level.word().into()));
    let answered = if result.is_some() { "true" } else { "false" };
    attributes.text("toolmark.call.answered", Some(answered.into()));
    attributes.text("toolmark.call.actor", Some(call.actor.word().into()));
    attributes.text("toolmark.call.namespace", text(&call.name.namespace));
    attributes.text("toolmark.call.spawned", text(&call.spawned));
    attributes.number("toolmark.call.exit_code", call.exit_code.map(i128::from));
    let measured = clock.zip(end).map(|(start, end)| end.duration_since(start));
    let stated = call.duration.filter(|duration| Some(*duration) != measured);
    attributes.number("toolmark.call.duration_ns", stated.map(|d| d.as_nanos()));
    attributes.write(w)?;
    w.object("status", |w| match call.status {
        Status::Succeeded => w.put("code", &1),
        status if status.is_error() => w.put("code", &2),
        _ => Ok(()),
    })
}

/// Returns the model's provider, with the name that the conventions define.
fn provider(model: Option<&str>) -> Option<Cow<'static, str>> {
    const MODELS: [(&str, &str); 9] = [
        ("claude", "anthropic"),
        ("gpt", "openai"),
        ("o1", "openai"),
        ("o3", "openai"),
        ("o4", "openai"),
        ("gemini", "gcp.gemini"),
        ("mistral", "mistral_ai"),
        ("deepseek", "deepseek"),
        ("grok", "x_ai"),
    ];
    let model = model?;
    let known = MODELS.iter().find(|(prefix, _)| model.starts_with(prefix));
    known.map(|(_, provider)| Cow::Borrowed(*provider))
}

/// The attributes of a span.
#[derive(Default)]
struct Attributes<'a>(Vec<(&'static str, Attribute<'a>)>);

enum Attribute<'a> {
    Text(Cow<'a, str>),
    /// A number. Numbers of 64 bits are written as text.
    Number(i128),
}

impl<'a> Attributes<'a> {
    fn text(&mut self, key: &'static str, value: Option<Cow<'a, str>>) {
        self.0.extend(value.map(|value| (key, Attribute::Text(value))));
    }

    fn number(&mut self, key: &'static str, value: Option<i128>) {
        let fits = |n: i128| n.clamp(i128::from(i64::MIN), i128::from(i64::MAX));
        self.0.extend(value.map(|value| (key, Attribute::Number(fits(value)))));
    }

    /// Adds usage. Input includes tokens read from and written to a cache.
    fn usage(&mut self, usage: Option<&Usage>) {
        let Some(n) = usage.map(Usage::normalised) else { return };
        let input = n.uncached_input.saturating_add(n.cache_read).saturating_add(n.cache_write);
        for (key, count) in [
            ("gen_ai.usage.input_tokens", input),
            ("gen_ai.usage.output_tokens", n.output),
            ("gen_ai.usage.cache_read.input_tokens", n.cache_read),
            ("gen_ai.usage.cache_creation.input_tokens", n.cache_write),
            ("gen_ai.usage.reasoning.output_tokens", n.reasoning),
        ] {
            self.number(key, Some(i128::from(count)));
        }
    }

    fn write(&self, w: &mut JsonMembers<'_>) -> io::Result<()> {
        w.array("attributes", &self.0, |w, (key, value)| {
            w.put("key", key)?;
            w.object("value", |w| match value {
                Attribute::Text(text) => w.put("stringValue", text),
                Attribute::Number(number) => w.put("intValue", &number.to_string()),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::testing::{everything, export, lines};
    use serde_json::Value;
    use std::collections::BTreeSet;

    fn spans(run: &Trajectory) -> (Vec<Value>, Losses) {
        let (text, losses) = export(&Otlp, run);
        let requests = lines(&text);
        assert_eq!(requests.len(), 1);
        let spans = &requests[0]["resourceSpans"][0]["scopeSpans"][0]["spans"];
        (spans.as_array().unwrap().clone(), losses)
    }

    fn attribute(span: &Value, key: &str) -> Value {
        let all = span["attributes"].as_array().unwrap();
        let found = all.iter().find(|a| a["key"] == key);
        found.map_or(Value::Null, |a| {
            a["value"].as_object().unwrap().values().next().unwrap().clone()
        })
    }

    #[test]
    fn spans_form_a_tree() {
        let (spans, losses) = spans(&everything());
        let names: Vec<&str> = spans.iter().map(|s| s["name"].as_str().unwrap()).collect();
        assert_eq!(
            names,
            [
                "invoke_agent claude-code",
                "chat claude-x",
                "execute_tool Bash",
                "execute_tool Read",
                "execute_tool mcp__web__search",
                "chat",
                "execute_tool Task",
                "execute_tool Bash",
                "execute_tool Bash",
                "invoke_agent claude-code",
                "chat",
                "execute_tool Grep",
            ]
        );
        let ids: BTreeSet<&str> = spans.iter().map(|s| s["spanId"].as_str().unwrap()).collect();
        assert_eq!(ids.len(), spans.len());
        for span in &spans {
            assert_eq!(span["traceId"].as_str().unwrap().len(), 32);
            assert_eq!(span["spanId"].as_str().unwrap().len(), 16);
            let parent = span["parentSpanId"].as_str();
            assert!(parent.is_none_or(|p| ids.contains(p)));
            let nanos = |key: &str| span[key].as_str().unwrap().parse::<u64>().unwrap();
            assert!(nanos("startTimeUnixNano") <= nanos("endTimeUnixNano"));
        }
        assert_eq!(spans[9]["parentSpanId"], spans[6]["spanId"]);
        assert_eq!(spans[11]["parentSpanId"], spans[9]["spanId"]);
        assert_eq!(losses.count(TrajectoryPart::InputTimes), 3);
    }

    #[test]
    fn spans_carry_the_conventions_attributes() {
        let (spans, _) = spans(&everything());
        assert_eq!(attribute(&spans[0], "gen_ai.operation.name"), "invoke_agent");
        assert_eq!(attribute(&spans[0], "toolmark.run.cost_nano_usd"), "123456789");
        let events: Vec<&str> = spans[0]["events"]
            .as_array()
            .unwrap()
            .iter()
            .map(|e| e["name"].as_str().unwrap())
            .collect();
        assert_eq!(
            events,
            [
                "toolmark.note",
                "toolmark.skill",
                "toolmark.orphan_result",
                "toolmark.compaction",
                "exception",
                "toolmark.unknown"
            ]
        );
        let chat = &spans[1];
        assert_eq!(attribute(chat, "gen_ai.provider.name"), "anthropic");
        assert_eq!(attribute(chat, "gen_ai.usage.input_tokens"), "153");
        let input = attribute(chat, "gen_ai.input.messages");
        assert_eq!(
            input,
            r#"[{"role":"system","parts":[{"type":"text","content":"Be careful."}]},{"role":"user","parts":[{"type":"text","content":"fix it"}]}]"#
        );
        let output = attribute(chat, "gen_ai.output.messages");
        let output: Value = serde_json::from_str(output.as_str().unwrap()).unwrap();
        assert_eq!(output[0]["parts"][0]["type"], "reasoning");
        assert_eq!(output[0]["parts"][3]["arguments"]["command"], "ls");
        assert_eq!(output[0]["finish_reason"], "tool_call");
        let tool = &spans[2];
        assert_eq!(attribute(tool, "gen_ai.tool.call.id"), "c1");
        assert_eq!(attribute(tool, "gen_ai.tool.call.result"), "Exit code 2\nno");
        assert_eq!(attribute(tool, "error.type"), "failed");
        assert_eq!(attribute(tool, "toolmark.call.exit_code"), "2");
        assert_eq!(tool["status"]["code"], 2);
        assert_eq!(spans[3]["status"]["code"], 1);
        assert_eq!(spans[4]["status"].get("code"), None);
        assert_eq!(tool["startTimeUnixNano"], "1772600768250000000");
        assert_eq!(tool["endTimeUnixNano"], "1772600771250000000");
        assert_eq!(attribute(&spans[8], "toolmark.call.status"), "unanswered");
    }

    #[test]
    fn ids_depend_on_the_run() {
        let (first, _) = spans(&everything());
        let mut other = everything();
        other.id = Some("another".into());
        let (second, _) = spans(&other);
        assert_ne!(first[0]["traceId"], second[0]["traceId"]);
    }
}
