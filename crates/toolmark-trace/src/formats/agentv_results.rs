//! AgentV results: one object per test, with the agent's output.
//!
//! Reads the rows of result files (`test_id`, up to version 2.6 `eval_id`), the rows of
//! replay fixtures (`agentv.replay_fixture.v1`) and the output of a `cli` target (`output` or
//! `output_messages`, one object or a batch of them with `id`). Every row is a run. A row
//! without messages holds only counts of the run; no calls are derived from them.
//!
//! A target may also write `{text, trace}` with a flat list of events, which contains calls
//! and results but seldom model responses.

use super::shared::agentv;
use super::shared::declared;
use super::shared::readers::each_record;
use crate::builder::{ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{EventKind, Fact, Fidelity, time};
use toolmark_scan::Value;

/// AgentV results.
pub(crate) struct AgentvResults;

static INFO: FormatInfo = FormatInfo {
    id: "agentv-results",
    title: "AgentV results",
    origin: "AgentV: result rows, replay fixtures, output of a cli target",
    versions: "0.26 to 5.3",
    looks_for: "objects with test_id and score, or output_messages, or a trace of tool_call events",
    fidelity: Fidelity::lacking(&[Fact::Status, Fact::SubAgents, Fact::ToolDefinitions]),
};

impl Format for AgentvResults {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let best = probe.records().iter().map(|r| confidence(*r)).max();
        best.unwrap_or(0)
    }

    fn reader(&self) -> Box<dyn Reader> {
        each_record(read_record)
    }
}

fn confidence(row: Value<'_>) -> Confidence {
    match agentv::schema(row) {
        s if s.starts_with("agentv.transcript") || s.starts_with("agentv.trace") => return 0,
        "" => {}
        _ => return 100,
    }
    if row.get("message_index").is_some() {
        return 0;
    }
    let has = |keys: &[&str]| keys.iter().any(|k| row.get(k).is_some());
    if has(&["test_id", "eval_id"])
        && has(&["target", "source_target"])
        && has(&["score", "scores", "output", "output_messages", "execution_status"])
    {
        return 95;
    }
    let messages = |key| row.items_at(key);
    if messages("output_messages").any(|m| m.get("role").is_some()) {
        return 85;
    }
    let is_called = |m: Value<'_>| {
        let calls = m.get("tool_calls").or_else(|| m.get("toolCalls"));
        calls.into_iter().flat_map(Value::items).any(|c| c.get("tool").is_some())
    };
    if messages("output").any(|m| m.get("role").is_some() && is_called(m)) {
        return 80;
    }
    let is_event = |e: Value<'_>| {
        matches!(e.get("type").and_then(Value::inner), Some("tool_call" | "tool_result"))
            && e.get("name").is_some()
    };
    if messages("trace").any(is_event) { 75 } else { 0 }
}

fn read_record(record: &Record<'_>, out: &mut Out) {
    let Some(row) = out.object(record, "a result") else { return };
    let mut b = out.builder(&AgentvResults).with_distinct_calls();
    read(&mut b, record, row);
    out.push(b.finish());
}

fn read(b: &mut TrajectoryBuilder, record: &Record<'_>, row: Value<'_>) {
    b.run.name = agentv::text(record, row, &["test_id", "testId", "eval_id", "evalId", "id"]);
    b.run.agent.name = agentv::text(record, row, &["target", "source_target"]);
    b.run.outcome = agentv::text(record, row, &["execution_status", "executionStatus"]);
    declared::members(&mut b.run, record, row);
    let (mut output, mut answer, mut trace) = (None, None, None);
    for (key, value) in row.fields() {
        match key.inner().unwrap_or("") {
            "source" => agentv::source(b, record, value),
            "token_usage" | "tokenUsage" => agentv::usage(b, value),
            "cost_usd" | "costUsd" => agentv::cost(b, value),
            "duration_ms" | "durationMs" => agentv::duration(b, value),
            "timestamp" | "recorded_at" => b.seen(time::from_value(value)),
            "input" => input(b, record, value),
            "output" | "output_messages" | "outputMessages" => output = Some(value),
            "candidate_answer" => {
                answer = Some(value);
                b.run.stated.output =
                    Some(value).filter(|v| v.is_string()).map(|v| record.payload(v));
            }
            "text" => answer = Some(value),
            "trace" | "trace_summary" | "traceSummary" => trace = Some(value),
            _ => {}
        }
    }
    if b.run.id.is_none() {
        b.run.id = agentv::text(record, row, &["fixture_id", "conversation_id", "run_id"]);
    }
    let trace = trace.filter(|t| !t.is_null());
    let summary = trace.filter(|t| t.is_object());
    let messages = output
        .filter(|o| o.is_array())
        .or_else(|| summary.and_then(|t| t.get("messages")))
        .filter(|m| m.is_array());
    let events = trace.filter(|t| t.is_array());
    b.reserve(messages.into_iter().flat_map(Value::items).count());
    for message in messages.into_iter().flat_map(Value::items) {
        agentv::message(b, record, message);
    }
    if messages.is_none() {
        for event in events.into_iter().flat_map(Value::items) {
            trace_event(b, record, event);
        }
        let words = output.or(answer).filter(|a| a.is_string() && a.inner() != Some(""));
        if let Some(words) = words {
            let (text, at) = (record.payload(words), record.at_value(words));
            b.event(EventKind::Message, Some(text), None, None, at);
        }
        lose_what_is_missing(b, events.is_some());
    }
    if let Some(summary) = summary {
        totals(b, summary);
    }
    if let Some(error) = row.get("error") {
        agentv::error(b, record, error);
    }
}

/// Reads the prompt: a text, or messages.
fn input(b: &mut TrajectoryBuilder, record: &Record<'_>, input: Value<'_>) {
    if input.is_string() {
        b.user(Some(record.payload(input)), None, record.at_value(input));
    }
    for message in input.items().filter(|m| m.is_object()) {
        agentv::message(b, record, message);
    }
}

fn lose_what_is_missing(b: &mut TrajectoryBuilder, has_events: bool) {
    b.run.fidelity.lose(Fact::Parallel);
    if !has_events {
        for fact in [
            Fact::Calls,
            Fact::Arguments,
            Fact::Results,
            Fact::Steps,
            Fact::UserTurns,
            Fact::Messages,
            Fact::Reasoning,
        ] {
            b.run.fidelity.lose(fact);
        }
    }
}

/// Reads the totals that a row has besides or instead of its messages.
fn totals(b: &mut TrajectoryBuilder, summary: Value<'_>) {
    let usage = summary.get("token_usage").or_else(|| summary.get("tokenUsage"));
    if let (Some(usage), None) = (usage, b.run.usage) {
        agentv::usage(b, usage);
    }
    let cost = summary.get("cost_usd").or_else(|| summary.get("costUsd"));
    if let (Some(cost), None) = (cost, b.run.cost) {
        agentv::cost(b, cost);
    }
    let duration = summary.get("duration_ms").or_else(|| summary.get("durationMs"));
    if let (Some(duration), None) = (duration, b.run.stated.duration) {
        agentv::duration(b, duration);
    }
}

/// Reads one event of a flat trace.
fn trace_event(b: &mut TrajectoryBuilder, record: &Record<'_>, event: Value<'_>) {
    let at = record.at_value(event);
    let time = ["startTime", "start_time", "timestamp", "time"];
    let time = time.iter().find_map(|key| time::from_value(event.get(key)?));
    let text = event.get("text").or_else(|| event.get("content"));
    let text = text.map(|t| record.payload(t));
    match event.word("type") {
        "tool_call" => agentv::call(b, record, event, None),
        "tool_result" => {
            let result = event.get("output").or_else(|| event.get("result"));
            let answer = ReaderResult::new(result.map(|r| record.payload(r)), at).time(time);
            let id = event.get("id").and_then(Value::str);
            let name = event.get("name").and_then(Value::str);
            let call = match id {
                Some(id) => b.find(&id),
                None => name.and_then(|name| b.first_open(|c| c.name.original.is(&name))),
            };
            b.answer_call(call, answer);
        }
        "model_step" => {
            let step = b.step(None, time, at.clone());
            if let Some(text) = text {
                b.message(step, text, time, at);
            }
        }
        "message" => match event.get("role").and_then(Value::inner) {
            Some("user") => b.user(text, time, at),
            Some("system") => b.context(text, time, at),
            _ => b.event(EventKind::Message, text, None, time, at),
        },
        "reasoning" => b.event(EventKind::Reasoning, text, None, time, at),
        "error" => b.event(EventKind::Error, text, None, time, at),
        other => b.unknown(other, at),
    }
}

#[cfg(test)]
mod tests {
    use crate::model::Fact;
    use crate::testing::{read_fixture, read_text, sketch};

    #[test]
    fn every_row_is_a_run() {
        let read = read_fixture("agentv-results.jsonl");
        assert_eq!(read.format, "agentv-results");
        assert_eq!(read.skipped, 1);
        let [a, b, c] = &read.runs[..] else { panic!("three runs") };
        assert_eq!(
            sketch(a),
            "0 message: look\n\
             0 call Read {\"f\":1} -> unanswered(absent): \n\
             0 call Read {\"f\":2} -> unanswered(absent): \n\
             1 message: done\n"
        );
        assert_eq!(a.calls[0].duration.unwrap().as_millis(), 3);
        assert!(a.calls[0].duration_stated);
        assert_eq!(a.stated.duration.unwrap().as_millis(), 70);
        assert_eq!(a.usage.unwrap().total(), 6);
        assert_eq!(sketch(b), "error: no agent\n");
        assert_eq!(b.outcome.as_ref().unwrap(), "execution_error");
        assert!(b.fidelity.lacks(Fact::Steps) && !a.fidelity.lacks(Fact::Steps));
        assert_eq!(c.name.as_ref().unwrap(), "5");
        assert_eq!(sketch(c), "message: only words\n");
    }

    #[test]
    fn a_flat_trace_pairs_by_id_or_name() {
        let read = read_text(
            r#"{"text":"bye","trace":[{"type":"tool_call","id":"1","name":"find","input":{"q":"a"},"startTime":"2026-01-01T00:00:00Z"},{"type":"tool_result","id":"1","name":"find","output":["x"],"startTime":"2026-01-01T00:00:02Z"},{"type":"tool_call","name":"open"},{"type":"tool_result","name":"open","output":"o"},{"type":"tool_result","id":"7","output":"?"},{"type":"model_step","text":"hm"},{"type":"later"}]}"#,
        );
        assert_eq!(read.format, "agentv-results");
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "call find {\"q\":\"a\"} -> unknown(absent): x\n\
             call open  -> unknown(absent): o\n\
             orphanresult: ?\n\
             0 message: hm\n\
             unknown later\n\
             message: bye\n"
        );
        assert_eq!(run.calls[0].duration.unwrap().as_millis(), 2000);
    }

    #[test]
    fn what_the_row_says_about_the_whole_run_is_kept() {
        let read = read_text(
            r#"{"id":"e1","duration_ms":1250.5,"cost_usd":0.5,"token_usage":{"input":3,"output":4,"cached":2},"output_messages":[{"role":"assistant","content":"done","tool_calls":[{"tool":"a","input":null,"start_time":"2026-01-01T00:00:00Z","end_time":"2026-01-01T00:00:09Z"},{"tool":"b"}]}]}"#,
        );
        let run = &read.runs[0];
        assert_eq!(run.name.as_ref().unwrap(), "e1");
        assert_eq!(run.stated.duration.unwrap().as_micros(), 1_250_500);
        assert_eq!(run.usage.unwrap().recorded.cache_read, 2);
        let [a, b] = &run.calls[..] else { panic!("two calls") };
        // Nine seconds passed, but the row does not state a duration.
        assert_eq!(a.duration.unwrap().as_secs(), 9);
        assert!(!a.duration_stated);
        assert_eq!(a.args.as_ref().unwrap().raw(), "null");
        assert!(b.args.is_none());
    }
}
