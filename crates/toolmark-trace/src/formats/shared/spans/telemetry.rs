//! Events that coding agents send: log records, not spans.
//!
//! Claude Code and Codex send an event per prompt, response, decision and result, each with
//! the ID of its session; events are linked only by that ID, the ID of the call and the time.
//! Each event becomes a span, so that it is ordered with the real ones; if a span describes
//! the same operation, the span is kept and completed with the data of the event.

use super::facts::{MarkKind, SpanFacts, SpanMark, SpanRole, fill};
use super::{Attributes, SpanEvent, TelemetrySpan};
use crate::formats::shared::exit_code;
use crate::model::{
    At, Convention, Cost, Fact, Fidelity, Form, Payload, Text, Usage, UsageTokens, time,
};
use std::collections::{HashMap, HashSet};

/// Claude Code sends no results, and nothing about a call that fails validation.
pub(super) const CLAUDE_CODE_LACKS: Fidelity = Fidelity::lacking(&[Fact::Calls]);

/// An agent that sends events.
#[derive(Clone, Copy, PartialEq)]
enum Sender {
    ClaudeCode,
    Codex,
}

/// Returns the sender of an event, and the event's name without the sender's prefix.
fn sender_of<'e>(name: &'e str, body: &'e str, scope: &str) -> Option<(Sender, &'e str)> {
    for full in [name, body] {
        if let Some(name) = full.strip_prefix("claude_code.") {
            return Some((Sender::ClaudeCode, name));
        }
        if let Some(name) = full.strip_prefix("codex.") {
            return Some((Sender::Codex, name));
        }
    }
    (scope.contains("claude_code") && !name.is_empty()).then_some((Sender::ClaudeCode, name))
}

/// Returns whether a coding agent sends events with this name, body and scope.
pub(crate) fn is_known(name: &str, body: &str, scope: &str) -> bool {
    sender_of(name, body, scope).is_some()
}

/// The events of a file.
#[derive(Debug, Default)]
pub(super) struct SpanEvents {
    spans: Vec<TelemetrySpan>,
    /// Identities of read events; events that are sent again are read once.
    seen: HashSet<String>,
}

impl SpanEvents {
    /// Adds an event; returns it if it is not from a coding agent.
    pub(super) fn add(
        &mut self,
        event: SpanEvent,
        scope: Option<&Text>,
        service: Option<&Text>,
        at: &At,
    ) -> Option<SpanEvent> {
        let body = event.body.as_ref().filter(|b| b.form() == Form::Text);
        let body = body.map(|b| b.raw().into_owned()).unwrap_or_default();
        let stated = event.attributes.str("event.name").map(|n| n.into_owned());
        let name = stated.unwrap_or_else(|| event.name.to_string());
        let scope = scope.map(ToString::to_string).unwrap_or_default();
        let Some((sender, kind)) = sender_of(&name, &body, &scope) else { return Some(event) };
        let a = &event.attributes;
        if !self.seen.insert(identity(sender, kind, &event)) {
            return None;
        }
        let mut span = TelemetrySpan::new(at.clone());
        span.name = Text::owned(match sender {
            Sender::ClaudeCode => format!("claude_code.{kind}"),
            Sender::Codex => format!("codex.{kind}"),
        });
        let session = a.text(&["session.id", "conversation.id"]);
        span.trace = format!("session/{}", session.as_ref().map(Text::get).unwrap_or_default());
        span.service = service.cloned();
        span.end = event.time.or_else(|| {
            let stamp = a.str("event.timestamp")?;
            stamp.parse().ok()
        });
        let took = a.number(&["duration_ms"]).and_then(time::millis);
        span.start = took.and_then(|took| span.end?.checked_sub(took).ok()).or(span.end);
        span.known.conversation = session;
        read(sender, kind, &event, &mut span);
        self.spans.push(span);
        None
    }

    /// Merges the events into the spans of the file, or adds them as spans.
    pub(super) fn join(self, spans: &mut Vec<TelemetrySpan>, facts: &mut Vec<SpanFacts>) {
        if self.spans.is_empty() {
            return;
        }
        let known = DescribedOperations::new(spans, facts);
        let results: HashSet<(String, String)> = self
            .spans
            .iter()
            .filter(|s| !is_decision(s))
            .filter_map(|s| call_of(&s.known))
            .collect();
        for mut span in self.spans {
            let mut own = std::mem::take(&mut span.known);
            let conversation = own.conversation.as_ref().map(ToString::to_string);
            let conversation = conversation.unwrap_or_default();
            match own.kind {
                Some(SpanRole::Tool) => {
                    let Some(call) = call_of(&own) else {
                        // Without ids, only what was refused has no result.
                        if !is_decision(&span) || own.denied {
                            push(spans, facts, span, own);
                        }
                        continue;
                    };
                    if let Some(&index) = known.calls.get(&call) {
                        own.tool = None;
                        facts[index].absorb(own);
                        continue;
                    }
                    if is_decision(&span) {
                        if results.contains(&call) {
                            continue;
                        }
                        // Allowed, and not heard of since.
                        if !own.denied {
                            span.start = span.end.take();
                        }
                    }
                }
                Some(SpanRole::Llm) if known.responses.contains(&conversation) => continue,
                _ => {}
            }
            if own.marks.iter().any(|m| m.kind == MarkKind::User) {
                for index in known.agents.get(&conversation).into_iter().flatten() {
                    facts[*index].input.clear();
                }
            }
            push(spans, facts, span, own);
        }
    }
}

fn push(
    spans: &mut Vec<TelemetrySpan>,
    facts: &mut Vec<SpanFacts>,
    span: TelemetrySpan,
    own: SpanFacts,
) {
    spans.push(span);
    facts.push(own);
}

fn is_decision(span: &TelemetrySpan) -> bool {
    span.name.get().ends_with(".tool_decision")
}

fn call_of(facts: &SpanFacts) -> Option<(String, String)> {
    let call = facts.call.as_ref()?.to_string();
    Some((facts.conversation.as_ref().map(ToString::to_string).unwrap_or_default(), call))
}

/// Operations that the spans of a file already describe.
#[derive(Default)]
struct DescribedOperations {
    /// Span of each call, by conversation and call ID.
    calls: HashMap<(String, String), usize>,
    /// Conversations whose responses have spans.
    responses: HashSet<String>,
    agents: HashMap<String, Vec<usize>>,
}

impl DescribedOperations {
    fn new(spans: &[TelemetrySpan], facts: &[SpanFacts]) -> Self {
        let mut by_trace: HashMap<&str, String> = HashMap::new();
        for (span, facts) in spans.iter().zip(facts) {
            if let Some(id) = &facts.conversation {
                by_trace.entry(&span.trace).or_insert_with(|| id.to_string());
            }
        }
        let mut known = Self::default();
        for (index, (span, facts)) in spans.iter().zip(facts).enumerate() {
            let conversation = by_trace.get(span.trace.as_str()).cloned().unwrap_or_default();
            match facts.kind {
                Some(SpanRole::Tool) if !span.name.get().ends_with(".execution") => {
                    if let Some(call) = &facts.call {
                        known.calls.entry((conversation, call.to_string())).or_insert(index);
                    }
                }
                Some(SpanRole::Llm) => {
                    known.responses.insert(conversation);
                }
                Some(SpanRole::Agent) => known.agents.entry(conversation).or_default().push(index),
                _ => {}
            }
        }
        known
    }
}

/// Returns a key that identifies an event.
fn identity(sender: Sender, kind: &str, event: &SpanEvent) -> String {
    let a = &event.attributes;
    let part = |key: &str| a.str(key).unwrap_or_default().into_owned();
    let time = event.time.map(|t| t.as_nanosecond()).unwrap_or_default();
    match sender {
        Sender::ClaudeCode if a.has("event.sequence") => {
            format!("{}/{}/{kind}", part("session.id"), part("event.sequence"))
        }
        Sender::ClaudeCode => {
            format!("{}/{time}/{kind}/{}", part("session.id"), part("tool_use_id"))
        }
        // A response is reported twice, the second time with what it used.
        Sender::Codex => format!(
            "{}/{}/{time}/{kind}/{}/{}/{}",
            part("conversation.id"),
            part("event.timestamp"),
            part("event.kind"),
            part("call_id"),
            part("input_token_count")
        ),
    }
}

fn read(sender: Sender, kind: &str, event: &SpanEvent, span: &mut TelemetrySpan) {
    let a = &event.attributes;
    let mark = |kind, text| SpanMark { kind, text, time: event.time };
    let facts = &mut span.known;
    facts.kind = Some(SpanRole::Part);
    if sender == Sender::ClaudeCode {
        facts.lacks = CLAUDE_CODE_LACKS;
    }
    match (sender, kind) {
        (_, "user_prompt") => facts.marks.push(mark(MarkKind::User, unredacted(a, "prompt"))),
        (_, "tool_result" | "tool_decision") => tool(sender, kind, a, facts),
        (Sender::ClaudeCode, "api_request") => {
            facts.kind = Some(SpanRole::Llm);
            facts.model = a.text(&["model"]);
            facts.response = a.text(&["request_id"]);
            facts.usage = claude_code_usage(a);
            facts.cost = a.number(&["cost_usd"]).and_then(Cost::from_usd);
        }
        (Sender::ClaudeCode, "assistant_response") => {
            if let Some(text) = unredacted(a, "response") {
                facts.marks.push(mark(MarkKind::Message, Some(text)));
            }
        }
        (Sender::ClaudeCode, "api_error") => {
            facts.marks.push(mark(MarkKind::Error, a.payload(&["error"])));
        }
        (Sender::Codex, "sse_event")
            if a.is("event.kind", "response.completed") && a.has("input_token_count") =>
        {
            facts.kind = Some(SpanRole::Llm);
            facts.model = a.text(&["model"]);
            facts.usage = codex_usage(a);
        }
        _ => {}
    }
}

fn tool(sender: Sender, kind: &str, a: &Attributes, facts: &mut SpanFacts) {
    facts.kind = Some(SpanRole::Tool);
    facts.unmarked = true;
    facts.tool = a.text(&["tool_name"]);
    facts.call = a.text(&["tool_use_id", "call_id"]);
    facts.denied = a.str("decision").is_some_and(|decision| is_refusal(&decision));
    facts.error = a.payload(&["error", "error_type"]);
    if sender == Sender::Codex {
        facts.args = a.payload(&["arguments"]);
        facts.result = a.payload(&["output"]);
        codex_success(facts, a);
    } else {
        claude_code_tool(a, facts);
    }
    if kind == "tool_result" {
        facts.duration = a.number(&["duration_ms"]).and_then(time::millis);
    }
}

fn is_refusal(decision: &str) -> bool {
    ["reject", "denied", "deny", "abort"].iter().any(|word| decision.starts_with(word))
}

fn claude_code_tool(a: &Attributes, facts: &mut SpanFacts) {
    facts.failed = a.flag("success").map(|success| !success);
    facts.args = a.payload(&["tool_input"]);
    let Some(parameters) = a.get("tool_parameters").and_then(Payload::parsed) else { return };
    let text = |key: &str| parameters.get(key).and_then(|v| v.as_str());
    if let (Some(server), Some(tool)) = (text("mcp_server_name"), text("mcp_tool_name")) {
        facts.tool = Some(Text::owned(format!("mcp__{server}__{tool}")));
    }
    fill(&mut facts.args, || {
        // The names of the event, not of the tool: `bash_command` is only its start
        // where there is also a `full_command`.
        let command = text("full_command").or_else(|| text("bash_command"));
        let mut args = parameters.as_object()?.clone();
        if let Some(command) = command {
            let command = command.to_owned();
            args.remove("bash_command");
            args.remove("full_command");
            args.insert("command".to_owned(), command.into());
        }
        Some(Payload::json(Text::owned(serde_json::Value::Object(args).to_string())))
    });
}

/// Sets the outcome of a Codex call. A command that ran counts as success, whatever its exit
/// code: only the text of its output contains the code.
pub(super) fn codex_success(facts: &mut SpanFacts, a: &Attributes) {
    const COMMANDS: [&str; 8] = [
        "exec_command",
        "write_stdin",
        "shell",
        "shell_command",
        "local_shell",
        "local_shell_call",
        "container.exec",
        "unified_exec",
    ];
    let success = a.flag("success");
    let is_command = facts.tool.as_ref().is_some_and(|t| COMMANDS.iter().any(|c| t.is(c)));
    if success == Some(false) || !is_command {
        fill(&mut facts.failed, || success.map(|success| !success));
    }
    fill(&mut facts.exit_code, || {
        // The header is read as it is in a file: escaped.
        let output = serde_json::Value::from(&*a.str("output")?).to_string();
        exit_code::codex_header(output.trim_matches('"')).code
    });
}

/// Returns text that the sender did not withhold.
pub(super) fn unredacted(a: &Attributes, key: &str) -> Option<Payload> {
    let is_text = |p: &Payload| !matches!(&*p.raw(), "" | "<REDACTED>" | "[REDACTED]");
    a.payload(&[key]).filter(is_text)
}

/// Returns the usage of a Claude Code response.
pub(super) fn claude_code_usage(a: &Attributes) -> Option<Usage> {
    let tokens = UsageTokens {
        input: a.count(&["input_tokens"])?,
        output: a.count(&["output_tokens"]).unwrap_or(0),
        cache_read: a.count(&["cache_read_tokens"]).unwrap_or(0),
        cache_write: a.count(&["cache_creation_tokens"]).unwrap_or(0),
        cache_write_1h: 0,
        reasoning: 0,
    };
    Some(Usage::new(tokens, Convention::ANTHROPIC))
}

fn codex_usage(a: &Attributes) -> Option<Usage> {
    let tokens = UsageTokens {
        input: a.count(&["input_token_count"])?,
        output: a.count(&["output_token_count"]).unwrap_or(0),
        cache_read: a.count(&["cached_token_count"]).unwrap_or(0),
        cache_write: a.count(&["cache_write_token_count"]).unwrap_or(0),
        cache_write_1h: 0,
        reasoning: a.count(&["reasoning_token_count"]).unwrap_or(0),
    };
    Some(Usage::new(tokens, Convention::INCLUSIVE))
}

#[cfg(test)]
mod tests {
    use crate::model::{Fact, RecordedCalls};
    use crate::testing::{read_text, sketch};

    fn attributes(pairs: &[(&str, &str)]) -> String {
        let one = |(key, value): &(&str, &str)| {
            let value = serde_json::Value::from(*value);
            format!(r#"{{"key":"{key}","value":{{"stringValue":{value}}}}}"#)
        };
        pairs.iter().map(one).collect::<Vec<_>>().join(",")
    }

    /// Returns a request with log records, one second apart.
    fn logs(records: &[&[(&str, &str)]]) -> String {
        let record = |(n, pairs): (usize, &&[(&str, &str)])| {
            let time = 1_767_225_600 + n;
            let pairs = attributes(pairs);
            format!(r#"{{"timeUnixNano":"{time}000000000","attributes":[{pairs}]}}"#)
        };
        let records: Vec<_> = records.iter().enumerate().map(record).collect();
        let records = records.join(",");
        format!(
            r#"{{"resourceLogs":[{{"resource":{{"attributes":[]}},"scopeLogs":[{{"scope":{{"name":"com.anthropic.claude_code.events"}},"logRecords":[{records}]}}]}}]}}"#
        )
    }

    #[test]
    fn events_of_claude_code() {
        let read = read_text(&logs(&[
            &[("event.name", "user_prompt"), ("session.id", "s"), ("prompt", "fix it")],
            &[
                ("event.name", "api_request"),
                ("session.id", "s"),
                ("model", "m"),
                ("input_tokens", "10"),
                ("output_tokens", "2"),
                ("cost_usd", "0.5"),
            ],
            &[
                ("event.name", "tool_decision"),
                ("session.id", "s"),
                ("decision", "accept"),
                ("tool_name", "Bash"),
                ("tool_use_id", "a"),
            ],
            &[
                ("event.name", "tool_result"),
                ("session.id", "s"),
                ("tool_name", "Bash"),
                ("tool_use_id", "a"),
                ("success", "false"),
                ("duration_ms", "100"),
                ("error", "exit 1"),
                ("tool_parameters", r#"{"bash_command":"npm","full_command":"npm test"}"#),
            ],
            &[
                ("event.name", "tool_decision"),
                ("session.id", "s"),
                ("decision", "reject"),
                ("tool_name", "Write"),
                ("tool_use_id", "b"),
            ],
            &[
                ("event.name", "tool_decision"),
                ("session.id", "s"),
                ("decision", "accept"),
                ("tool_name", "Read"),
                ("tool_use_id", "c"),
            ],
            &[
                ("event.name", "assistant_response"),
                ("session.id", "s"),
                ("response", "<REDACTED>"),
            ],
            &[("event.name", "assistant_response"), ("session.id", "s"), ("response", "done")],
        ]));
        assert_eq!(read.format, "otlp-json");
        let run = &read.runs[0];
        let told: Vec<_> =
            sketch(run).lines().filter(|l| !l.starts_with("note")).map(str::to_owned).collect();
        assert_eq!(
            told,
            [
                "user: fix it",
                "0 call Bash {\"command\":\"npm test\"} -> failed(protocol): exit 1",
                "0 call Write  -> denied(denial): ",
                "0 call Read  -> unanswered(absent): ",
                "0 message: done",
            ]
        );
        assert_eq!(run.id.as_ref().unwrap(), "s");
        assert_eq!(run.usage.unwrap().total(), 12);
        assert!(run.fidelity.lacks(Fact::Calls));
        assert_eq!(run.calls_recorded(), RecordedCalls::Partly);
    }

    #[test]
    fn events_of_codex_tell_by_their_output_how_a_command_ended() {
        let output = |code: &str| {
            format!(
                "Chunk ID: a\nWall time: 0.1 seconds\nProcess exited with code {code}\nOutput:\nx"
            )
        };
        let (two, zero) = (output("2"), output("0"));
        let result = |id, name, success, output| {
            [
                ("event.name", "codex.tool_result"),
                ("conversation.id", "c"),
                ("tool_name", name),
                ("call_id", id),
                ("success", success),
                ("arguments", "{}"),
                ("output", output),
            ]
        };
        let [a, b, c, d, e] = [
            result("1", "exec_command", "true", two.as_str()),
            result("2", "exec_command", "true", zero.as_str()),
            result("3", "exec_command", "true", "nothing"),
            result("4", "apply_patch", "true", "ok"),
            result("5", "apply_patch", "false", "no"),
        ];
        let request = logs(&[&a, &b, &c, &d, &e]);
        // Sent again, it is read once.
        let read = read_text(&format!("{request}\n{request}\n"));
        let run = &read.runs[0];
        let ends: Vec<_> = run.calls.iter().map(|c| (c.status.word(), c.exit_code)).collect();
        assert_eq!(
            ends,
            [
                ("failed", Some(2)),
                ("succeeded", Some(0)),
                ("unknown", None),
                ("succeeded", None),
                ("failed", None)
            ]
        );
        assert_eq!(run.calls_recorded(), RecordedCalls::Fully);
    }

    #[test]
    fn spans_and_events_of_one_call_are_one_call() {
        let span = |id: &str, parent: &str, name: &str, more: &[(&str, &str)]| {
            let pairs = attributes(&[&[("session.id", "s")], more].concat());
            format!(
                r#"{{"traceId":"aa","spanId":"{id}","parentSpanId":"{parent}","name":"{name}","startTimeUnixNano":"1767225602000000000","endTimeUnixNano":"1767225603000000000","attributes":[{pairs}]}}"#
            )
        };
        let spans = |list: &[String]| {
            format!(r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{}]}}]}}]}}"#, list.join(","))
        };
        let tool = span(
            "01",
            "00",
            "claude_code.tool",
            &[("tool_name", "Bash"), ("tool_use_id", "a"), ("full_command", "ls")],
        );
        let execution = span(
            "02",
            "01",
            "claude_code.tool.execution",
            &[("tool_use_id", "a"), ("success", "false"), ("error", "no")],
        );
        let event = logs(&[&[
            ("event.name", "tool_result"),
            ("session.id", "s"),
            ("tool_name", "Bash"),
            ("tool_use_id", "a"),
            ("success", "false"),
            ("tool_input", r#"{"command":"ls /"}"#),
        ]]);
        let call = |text: &str| {
            let read = read_text(text);
            let told = sketch(&read.runs[0]);
            told.lines().filter(|l| l.contains("call ")).map(str::to_owned).collect::<Vec<_>>()
        };
        let failed = r#"call Bash {"command":"ls"} -> failed(protocol): no"#;
        assert_eq!(call(&spans(&[tool.clone(), execution.clone()])), [failed]);
        assert_eq!(call(&spans(&[execution.clone(), tool.clone()])), [failed]);
        // Without the execution nothing says how it ended, and the other way round.
        assert_eq!(
            call(&spans(std::slice::from_ref(&tool))),
            [r#"call Bash {"command":"ls"} -> unknown(absent): "#]
        );
        assert_eq!(call(&spans(std::slice::from_ref(&execution))), [""; 0]);
        let both = format!("{}\n{event}\n", spans(&[tool, execution]));
        assert_eq!(call(&both), [failed]);
    }
}
