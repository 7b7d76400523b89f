//! AgentV's normalized transcripts, `agentv.normalized_transcript.v1`: one document with the turns
//! of a test, whose blocks are text, thinking, and calls with their results.

use super::shared::agentv;
use super::shared::readers::each_record;
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{
    Convention, EventKind, Fact, Fidelity, Status, StatusLevel, Text, ToolName, Usage, UsageTokens,
    time,
};
use jiff::Timestamp;
use toolmark_scan::Value;

/// AgentV's normalized transcripts.
pub(crate) struct AgentvNormalized;

const SCHEMA: &str = "agentv.normalized_transcript";

static INFO: FormatInfo = FormatInfo {
    id: "agentv-normalized",
    title: "AgentV normalized transcript",
    origin: "AgentV: transcript.json of a sample",
    versions: "agentv.normalized_transcript.v1",
    looks_for: "schema_version agentv.normalized_transcript.v1, and turns",
    fidelity: Fidelity::lacking(&[Fact::ExitCodes, Fact::SubAgents, Fact::ToolDefinitions]),
};

impl Format for AgentvNormalized {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        if probe.any(|r| agentv::schema(r).starts_with(SCHEMA)) { 100 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        each_record(read_transcript)
    }
}

fn read_transcript(record: &Record<'_>, out: &mut Out) {
    let Some(transcript) = out.object(record, "a transcript") else { return };
    let mut b = out.builder(&AgentvNormalized).with_distinct_calls();
    b.run.agent.name = record.text_at(transcript, "provider_id");
    b.run.name = record.text_at(transcript, "target");
    transcript.items_at("turns").for_each(|item| turn(&mut b, record, item));
    b.add_usage_of_steps();
    out.push(b.finish());
}

fn turn(b: &mut TrajectoryBuilder, record: &Record<'_>, turn: Value<'_>) {
    let (at, kind) = (record.at_value(turn), turn.word("type"));
    let time = turn.get("ts").and_then(time::from_value);
    if !matches!(kind, "assistant" | "user" | "system") {
        return b.unknown(format!("message/{kind}"), at);
    }
    let step = (kind == "assistant").then(|| {
        let step = b.step(record.text_at(turn, "id"), time, at);
        let this = &mut b.run.steps[step as usize];
        this.model = record.text_at(turn, "model");
        this.usage = usage(turn);
        step
    });
    if let Some(text) = turn.get("content").filter(|content| content.is_string()) {
        return words(b, record, text, step, kind, time);
    }
    turn.items_at("content").for_each(|item| block(b, record, item, step, kind, time));
}

fn usage(turn: Value<'_>) -> Option<Usage> {
    let input = turn.get("input_tokens").and_then(Value::as_u64);
    let output = turn.get("output_tokens").and_then(Value::as_u64);
    input.or(output)?;
    let tokens = UsageTokens {
        input: input.unwrap_or(0),
        output: output.unwrap_or(0),
        ..UsageTokens::default()
    };
    Some(Usage::new(tokens, Convention::INCLUSIVE))
}

fn words(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    text: Value<'_>,
    step: Option<u32>,
    kind: &str,
    time: Option<Timestamp>,
) {
    let (at, text) = (record.at_value(text), record.payload(text));
    match (step, kind) {
        (Some(step), _) => b.message(step, text, time, at),
        (None, "user") => b.user(Some(text), time, at),
        (None, _) => b.context(Some(text), time, at),
    }
}

fn block(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    block: Value<'_>,
    step: Option<u32>,
    kind: &str,
    time: Option<Timestamp>,
) {
    let text = block.get("text").filter(|text| text.is_string());
    match (block.word("type"), text, step) {
        ("text", Some(text), _) => words(b, record, text, step, kind, time),
        ("thinking", text, Some(step)) => {
            let payload = text.map(|text| record.payload(text));
            b.reasoning(step, payload, time, record.at_value(block));
        }
        ("tool_use", ..) => call(b, record, block, step, time),
        ("image", ..) => {
            let note = EventKind::Note(Text::owned("image"));
            b.event(note, None, step, time, record.at_value(block));
        }
        (other, ..) => {
            let unknown = EventKind::Unknown(Text::owned(format!("content/{other}")));
            let payload = Some(record.payload(block));
            b.event(unknown, payload, step, time, record.at_value(block));
        }
    }
}

/// Reads a call. `name` is the name that the agent used, `tool_name` AgentV's word for it.
fn call(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    block: Value<'_>,
    step: Option<u32>,
    time: Option<Timestamp>,
) {
    let at = record.at_value(block);
    let name = record.text_at(block, "name").or_else(|| record.text_at(block, "tool_name"));
    let index = b.call(NewCall {
        id: record.text_at(block, "id"),
        name: ToolName::or_empty(name),
        args: block.get("input").map(|input| record.payload(input)),
        step,
        time,
        at: at.clone(),
    });
    let Some(result) = block.get("result").filter(|result| result.is_object()) else { return };
    let output = result.get("output").filter(|output| !output.is_null());
    let duration = result.get("duration_ms").and_then(Value::as_f64).and_then(time::millis);
    let answer =
        ReaderResult::new(output.map(|output| record.payload(output)), at).duration(duration);
    b.answer_call(
        index,
        match result.word("status") {
            "success" => answer.protocol(false),
            "error" => answer.protocol(true),
            "cancelled" => answer.status(Status::Interrupted, StatusLevel::Protocol),
            _ => answer,
        },
    );
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, sketch};

    #[test]
    fn turns_and_their_blocks() {
        let read = read_fixture("agentv-normalized.json");
        assert_eq!((read.format, read.runs.len()), ("agentv-normalized", 1));
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: Inspect the package\n\
             0 reasoning: the manifest first\n\
             0 message: Reading package.json\n\
             0 call Read {\"path\": \"package.json\"} -> succeeded(protocol): {\"name\": \"demo\"}\n\
             0 call shell {\"command\": \"npm test\"} -> failed(protocol): exit 1\n"
        );
        assert_eq!(run.calls[0].duration.unwrap().as_millis(), 25);
        assert_eq!(run.usage.unwrap().total(), 14);
    }
}
