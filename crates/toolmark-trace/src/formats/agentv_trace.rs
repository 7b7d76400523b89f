//! AgentV trace artifacts (`agentv.trace.v1`): one document with the spans of one run. Their
//! attributes are plain objects with the names of OpenTelemetry and OpenInference.
//!
//! `invoke_agent` spans are agents: the outermost is the run, others are its sub-agents.
//! `chat` spans are model responses, `execute_tool` spans are calls; both belong to the agent
//! among their ancestors.

use super::shared::agentv;
use super::shared::declared;
use super::shared::readers::each_record;
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{
    At, Convention, EventKind, Fact, Fidelity, MAX_DEPTH, Parent, Payload, Status, StatusLevel,
    Text, ToolName, Usage, UsageTokens, time,
};
use jiff::Timestamp;
use std::collections::HashMap;
use toolmark_scan::Value;

/// AgentV trace artifacts.
pub(crate) struct AgentvTrace;

static INFO: FormatInfo = FormatInfo {
    id: "agentv-trace",
    title: "AgentV trace artifact",
    origin: "AgentV: trace.json of a run",
    versions: "agentv.trace.v1",
    looks_for: "schema_version agentv.trace.v1 and trace.spans",
    fidelity: Fidelity::lacking(&[Fact::ToolDefinitions]),
};

impl Format for AgentvTrace {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let is_trace = |r: Value<'_>| agentv::schema(r).starts_with("agentv.trace");
        if probe.any(is_trace) { 100 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        each_record(read_record)
    }
}

fn read_record(record: &Record<'_>, out: &mut Out) {
    let Some(artifact) = out.object(record, "a trace artifact") else { return };
    let mut root = out.builder(&AgentvTrace).with_distinct_calls();
    header(&mut root, record, artifact);
    let spans = artifact.at(&["trace", "spans"]).or_else(|| artifact.get("spans"));
    if !spans.is_some_and(Value::is_array) {
        root.run.fidelity.lose(Fact::Calls);
    }
    let mut tree = AgentvTree::new(root, spans.into_iter().flat_map(Value::items), out);
    for span in tree.order() {
        tree.read(record, span);
    }
    out.push(tree.finish());
}

fn header(b: &mut TrajectoryBuilder, record: &Record<'_>, artifact: Value<'_>) {
    if let Some(eval) = artifact.get("eval") {
        b.run.id = agentv::text(record, eval, &["run_id"]);
        b.run.name = agentv::text(record, eval, &["test_id"]);
        b.run.agent.name = agentv::text(record, eval, &["target", "source_target"]);
        b.run.outcome = agentv::text(record, eval, &["execution_status"]);
        declared::members(&mut b.run, record, eval);
    }
    if let Some(source) = artifact.get("source") {
        agentv::source(b, record, source);
    }
    if b.run.id.is_none() {
        b.run.id = artifact.at(&["trace", "trace_id"]).and_then(|t| record.label(t));
    }
}

/// Role of a span.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AgentvSpanRole {
    Agent,
    Response,
    Call,
    Other,
}

/// A span, with its agent and step.
struct AgentvSpan<'a> {
    value: Value<'a>,
    attributes: Option<Value<'a>>,
    role: AgentvSpanRole,
    parent: Option<usize>,
    start: Option<Timestamp>,
    end: Option<Timestamp>,
    /// Agent of the span.
    lane: usize,
    /// Step of a response.
    step: Option<u32>,
}

impl<'a> AgentvSpan<'a> {
    fn new(value: Value<'a>) -> Self {
        let mut span = Self {
            value,
            attributes: None,
            role: AgentvSpanRole::Other,
            parent: None,
            start: None,
            end: None,
            lane: 0,
            step: None,
        };
        for (key, value) in value.fields() {
            match key.inner().unwrap_or("") {
                "attributes" => span.attributes = Some(value),
                "start_time_unix_nano" => span.start = nanos(value),
                "end_time_unix_nano" => span.end = nanos(value),
                _ => {}
            }
        }
        let operation = span.attribute("gen_ai.operation.name").and_then(Value::inner);
        let kind = span.attribute("openinference.span.kind").and_then(Value::inner);
        span.role = match (operation.unwrap_or(""), kind.unwrap_or("")) {
            ("invoke_agent" | "create_agent", _) | ("", "AGENT") => AgentvSpanRole::Agent,
            ("chat" | "text_completion" | "generate_content", _) | ("", "LLM") => {
                AgentvSpanRole::Response
            }
            ("execute_tool", _) | ("", "TOOL") => AgentvSpanRole::Call,
            _ => AgentvSpanRole::Other,
        };
        span
    }

    fn attribute(&self, key: &str) -> Option<Value<'a>> {
        self.attributes?.get(key)
    }

    fn first(&self, keys: &[&str]) -> Option<Value<'a>> {
        keys.iter().find_map(|key| self.attribute(key))
    }
}

fn nanos(value: Value<'_>) -> Option<Timestamp> {
    let exact = value.inner().unwrap_or_else(|| value.raw()).parse().ok();
    exact.and_then(time::from_nanos).or_else(|| time::from_value(value))
}

/// An agent of the trace.
struct Lane {
    b: TrajectoryBuilder,
    /// Index of the parent agent, and the call that started this agent.
    owner: usize,
    depth: usize,
    spawn: Option<Text>,
    /// Usage stated by an agent, if its responses state none.
    stated: Option<Usage>,
}

struct AgentvTree<'a> {
    spans: Vec<AgentvSpan<'a>>,
    lanes: Vec<Lane>,
}

impl<'a> AgentvTree<'a> {
    fn new(root: TrajectoryBuilder, spans: impl Iterator<Item = Value<'a>>, out: &Out) -> Self {
        let mut spans: Vec<AgentvSpan<'a>> =
            spans.filter(|s| s.is_object()).map(AgentvSpan::new).collect();
        let by_id: HashMap<&str, usize> = spans
            .iter()
            .enumerate()
            .filter_map(|(i, s)| Some((s.value.get("span_id")?.inner()?, i)))
            .collect();
        for span in &mut spans {
            let parent = span.value.get("parent_span_id").and_then(Value::inner);
            span.parent = parent.and_then(|p| by_id.get(p)).copied();
        }
        let root = Lane { b: root, owner: 0, depth: 0, spawn: None, stated: None };
        let mut tree = Self { spans, lanes: vec![root] };
        tree.give_lanes(out);
        tree
    }

    /// Assigns every span to the nearest agent above it. The outermost agent is the run; a second
    /// one beside it is treated as a sub-agent.
    fn give_lanes(&mut self, out: &Out) {
        let mut own: Vec<Option<usize>> = vec![None; self.spans.len()];
        let mut has_root = false;
        for index in self.order() {
            let above = self.nearest(index, &own).unwrap_or(0);
            if self.spans[index].role != AgentvSpanRole::Agent {
                continue;
            }
            let depth = self.lanes[above].depth + 1;
            if !has_root {
                has_root = true;
                own[index] = Some(0);
            } else if depth <= MAX_DEPTH {
                own[index] = Some(self.lanes.len());
                let b = out.builder(&AgentvTrace).with_distinct_calls();
                self.lanes.push(Lane { b, owner: above, depth, spawn: None, stated: None });
            }
        }
        for index in 0..self.spans.len() {
            let lane = own[index].or_else(|| self.nearest(index, &own));
            self.spans[index].lane = lane.unwrap_or(0);
        }
    }

    fn nearest(&self, index: usize, own: &[Option<usize>]) -> Option<usize> {
        self.above(index).find_map(|i| own[i])
    }

    /// Iterates over the ancestors of a span, nearest first. A cycle of parents ends the
    /// iteration.
    fn above(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        const MAX_ANCESTORS: usize = 64;
        std::iter::successors(self.spans[index].parent, |i| self.spans[*i].parent)
            .take(MAX_ANCESTORS)
    }

    /// Returns the spans in the order of their start times; spans without a time keep their
    /// position.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.spans.len()).collect();
        if self.spans.iter().all(|s| s.start.is_some()) {
            order.sort_by_key(|i| self.spans[*i].start);
        }
        order
    }

    fn read(&mut self, record: &Record<'_>, index: usize) {
        let span = &self.spans[index];
        let at = record.at_value(span.value);
        match span.role {
            AgentvSpanRole::Agent => self.agent(record, index, at),
            AgentvSpanRole::Response => self.response(record, index, at),
            AgentvSpanRole::Call => self.call(record, index, at),
            AgentvSpanRole::Other => {
                let name = record.text_at(span.value, "name");
                let name = name.unwrap_or_else(|| Text::owned("span"));
                let kind = match span.attribute("gen_ai.operation.name") {
                    Some(operation) => EventKind::Unknown(record.label(operation).unwrap_or(name)),
                    None => EventKind::Note(name),
                };
                let b = &mut self.lanes[span.lane].b;
                b.event(kind, None, None, span.start, at);
                b.seen(span.end);
            }
        }
    }

    fn agent(&mut self, record: &Record<'_>, index: usize, at: At) {
        let span = &self.spans[index];
        let text = |keys: &[&str]| span.first(keys).and_then(|v| record.label(v));
        let spawn = text(&["agentv.parent_tool_call_id"]).or_else(|| {
            let call = self.above(index).find(|i| self.spans[*i].role == AgentvSpanRole::Call)?;
            self.spans[call].first(CALL_ID).and_then(|v| record.label(v))
        });
        let lane = &mut self.lanes[span.lane];
        let run = &mut lane.b.run;
        if let Some(name) = text(&["gen_ai.agent.name", "agent.name"]) {
            run.agent.name = Some(name);
        }
        run.agent.model = run.agent.model.take().or_else(|| text(MODEL));
        if span.lane != 0 {
            run.id = record.text_at(span.value, "span_id");
            lane.spawn = spawn;
        }
        lane.stated = usage(span);
        lane.b.seen(span.start);
        lane.b.seen(span.end);
        if let Some(input) = span.first(&["input.value", "gen_ai.input.messages"]) {
            let text = Some(record.payload(input));
            if span.lane == 0 {
                lane.b.user(text, span.start, at.clone());
            } else {
                lane.b.context(text, span.start, at.clone());
            }
        }
        if is_error(span) {
            let why = span.value.at(&["status", "message"]).map(|m| record.payload(m));
            lane.b.event(EventKind::Error, why, None, span.end, at);
        }
    }

    fn response(&mut self, record: &Record<'_>, index: usize, at: At) {
        let span = &mut self.spans[index];
        let b = &mut self.lanes[span.lane].b;
        let step = b.step(record.text_at(span.value, "span_id"), span.start, at.clone());
        span.step = Some(step);
        let this = &mut b.run.steps[step as usize];
        this.model = span.first(MODEL).and_then(|m| record.label(m));
        this.usage = usage(span);
        b.seen(span.end);
        if let Some(words) = span.first(&["gen_ai.output.messages", "output.value"]) {
            b.message(step, record.payload(words), span.end.or(span.start), at);
        }
    }

    fn call(&mut self, record: &Record<'_>, index: usize, at: At) {
        let span = &self.spans[index];
        let above = self.above(index).take_while(|i| self.spans[*i].role != AgentvSpanRole::Agent);
        let step = above.filter_map(|i| self.spans[i].step).next();
        let b = &mut self.lanes[span.lane].b;
        let name = span.first(&["gen_ai.tool.name", "tool.name"]).and_then(|n| record.label(n));
        let call = b.call(NewCall {
            id: span.first(CALL_ID).and_then(|i| record.label(i)),
            name: ToolName::or_empty(name),
            args: payload(record, span, &["gen_ai.tool.call.arguments", "input.value"]),
            step,
            time: span.start,
            at: at.clone(),
        });
        if step.is_none() {
            b.run.fidelity.lose(Fact::Parallel);
        }
        let result = payload(record, span, &["gen_ai.tool.call.result", "output.value"]);
        let code = span.value.at(&["status", "code"]).and_then(Value::inner);
        if result.is_none() && code.is_none() {
            return;
        }
        let answer = ReaderResult::new(result, at).time(span.end);
        b.answer_call(
            call,
            match code.unwrap_or("") {
                "ERROR" | "STATUS_CODE_ERROR" => {
                    answer.status(Status::Failed, StatusLevel::Protocol)
                }
                "OK" | "STATUS_CODE_OK" => answer.status(Status::Succeeded, StatusLevel::Protocol),
                _ => answer,
            },
        );
    }

    /// Sums up the usage and attaches every sub-agent to its owner.
    fn finish(mut self) -> crate::model::Trajectory {
        for lane in &mut self.lanes {
            lane.b.add_usage_of_steps();
            if lane.b.run.usage.is_none() {
                lane.b.run.usage = lane.stated;
            }
        }
        while self.lanes.len() > 1 {
            let Some(lane) = self.lanes.pop() else { break };
            let owner = &mut self.lanes[lane.owner].b;
            let spawn = lane.spawn.as_ref().and_then(|id| owner.find(&id.get()));
            if let Some(call) = spawn {
                owner.run.calls[call as usize].spawned.clone_from(&lane.b.run.id);
            }
            let mut child = close(lane.b);
            child.parent = Some(Parent { trajectory: owner.run.id.clone(), call: lane.spawn });
            owner.run.children.push(child);
        }
        let root = self.lanes.swap_remove(0);
        close(root.b)
    }
}

fn close(mut b: TrajectoryBuilder) -> crate::model::Trajectory {
    // Sub-agents were attached last first.
    b.run.children.reverse();
    b.finish()
}

const CALL_ID: &[&str] = &["gen_ai.tool.call.id", "tool.id"];
const MODEL: &[&str] = &["gen_ai.response.model", "gen_ai.request.model", "llm.model_name"];

fn payload(record: &Record<'_>, span: &AgentvSpan<'_>, keys: &[&str]) -> Option<Payload> {
    span.first(keys).map(|v| record.payload(v))
}

fn is_error(span: &AgentvSpan<'_>) -> bool {
    let code = span.value.at(&["status", "code"]).and_then(Value::inner);
    code.is_some_and(|c| c.ends_with("ERROR"))
}

fn usage(span: &AgentvSpan<'_>) -> Option<Usage> {
    let count = |keys: &[&str]| span.first(keys).and_then(Value::as_u64);
    let input = count(&["gen_ai.usage.input_tokens", "llm.token_count.prompt"]);
    let output = count(&["gen_ai.usage.output_tokens", "llm.token_count.completion"]);
    if input.is_none() && output.is_none() {
        return None;
    }
    let cached = ["gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens"];
    let tokens = UsageTokens {
        input: input.unwrap_or(0),
        output: output.unwrap_or(0),
        cache_read: count(&cached).unwrap_or(0),
        ..UsageTokens::default()
    };
    Some(Usage::new(tokens, Convention::INCLUSIVE))
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_text, sketch};

    #[test]
    fn spans_become_agents_steps_and_calls() {
        let span = |id: &str, parent: &str, code: &str, attributes: &str| {
            format!(
                r#"{{"span_id":"{id}","parent_span_id":"{parent}","start_time_unix_nano":"178152480001000000{}","end_time_unix_nano":"1781524800200000000","status":{{"code":"{code}"}},"attributes":{{{attributes}}}}}"#,
                id.len()
            )
        };
        let tool = |id: &str, name: &str, more: &str| {
            format!(
                r#""gen_ai.operation.name":"execute_tool","gen_ai.tool.name":"{name}","gen_ai.tool.call.id":"{id}"{more}"#
            )
        };
        let chat = r#""gen_ai.operation.name":"chat","gen_ai.request.model":"m","gen_ai.usage.input_tokens":7,"gen_ai.output.messages":"hm""#;
        let agent = r#""gen_ai.operation.name":"invoke_agent","gen_ai.agent.name":"n""#;
        let spans = [
            span("a", "", "OK", agent),
            span("bb", "a", "OK", chat),
            span(
                "ccc",
                "bb",
                "OK",
                &tool(
                    "c1",
                    "Task",
                    r#","gen_ai.tool.call.arguments":{"t":1},"gen_ai.tool.call.result":"ok""#,
                ),
            ),
            span("dddd", "bb", "ERROR", &tool("c2", "Read", "")),
            span("eeeee", "ccc", "OK", agent),
            span("ffffff", "eeeee", "OK", chat),
            span("ggggggg", "ffffff", "UNSET", &tool("c3", "Grep", "")),
            span("circle", "circle", "OK", ""),
            "7".to_owned(),
        ];
        let text = format!(
            r#"{{"schema_version":"agentv.trace.v1","eval":{{"test_id":"t","run_id":"r","target":"x"}},"trace":{{"spans":[{}]}}}}"#,
            spans.join(",")
        );
        let read = read_text(&text);
        assert_eq!(read.format, "agentv-trace");
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "0 message: hm\n\
             0 call Task {\"t\":1} -> succeeded(protocol): ok\n\
             0 call Read  -> failed(protocol): \n\
             note span\n\
             sub-agent eeeee\n  \
             0 message: hm\n  \
             0 call Grep  -> unknown(absent): \n"
        );
        assert_eq!(run.calls[0].spawned.as_ref().unwrap(), "eeeee");
        assert_eq!(run.usage.unwrap().recorded.input, 7);
        assert_eq!(run.name.as_ref().unwrap(), "t");
        assert_eq!(run.children[0].parent.as_ref().unwrap().call.as_ref().unwrap(), "c1");
    }
}
