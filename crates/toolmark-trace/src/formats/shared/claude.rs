//! Code shared by Claude Code's session files, its stream and its hooks.

use super::anthropic;
use crate::builder::TrajectoryBuilder;
use crate::format::Record;
use crate::model::{
    At, Convention, Ending, EventKind, Payload, Status, StatusLevel, Text, Usage, time,
};
use jiff::Timestamp;
use toolmark_scan::Value;

/// Reads a message of the assistant: a model response, or an error message that the client
/// wrote in its place.
pub(crate) fn assistant(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    message: Value<'_>,
    is_api_error: bool,
    time: Option<Timestamp>,
    at: At,
) {
    let (mut id, mut model, mut content, mut usage) = (None, None, None, None);
    let mut is_cut = false;
    for (key, value) in message.fields().filter(|(_, v)| !v.is_null()) {
        match key.inner().unwrap_or("") {
            "id" => id = record.text(value),
            "model" => model = Some(value),
            "content" => content = Some(value),
            "usage" => usage = Some(anthropic::usage(value)),
            "stop_reason" => is_cut = Ending::of(value.inner().unwrap_or("")) != Ending::Done,
            _ => {}
        }
    }
    if is_api_error || model.is_some_and(|m| m.is("<synthetic>")) {
        let block = content.and_then(|content| content.items().next());
        if block.is_some_and(|block| block.field_is("text", "No response requested.")) {
            b.event(EventKind::Note(Text::owned("no response requested")), None, None, time, at);
            return;
        }
        b.event(EventKind::Error, content.map(|c| record.payload(c)), None, time, at);
        return;
    }
    let step = b.step(id, time, at);
    let this = &mut b.run.steps[step as usize];
    this.complete &= !is_cut;
    if this.model.is_none() {
        this.model = model.and_then(|m| record.text(m));
    }
    // Each line repeats the usage; some are snapshots taken while it grew.
    if let Some(tokens) = usage.filter(|t| this.usage.is_none() || !t.is_zero()) {
        this.usage = Some(Usage::new(tokens, Convention::ANTHROPIC));
    }
    if let Some(content) = content {
        let before = b.run.calls.len();
        anthropic::assistant(b, record, content, step, time);
        for index in before..b.run.calls.len() {
            skill_event(b, index, time);
        }
    }
}

/// Adds a skill event for a call of the `Skill` tool.
pub(crate) fn skill_event(b: &mut TrajectoryBuilder, index: usize, time: Option<Timestamp>) {
    let call = &b.run.calls[index];
    if !call.name.original.is("Skill") {
        return;
    }
    let name = call.args.as_ref().and_then(Payload::parsed).and_then(|args| {
        let name = args.get("skill").or_else(|| args.get("command"))?.as_str()?;
        Some(Payload::text(Text::owned(name)))
    });
    let (step, at) = (call.step, call.at.clone());
    b.event(EventKind::Skill, name, step, time, at);
}

/// Adds the data of the structured copy of a result.
pub(crate) fn enrich(b: &mut TrajectoryBuilder, record: &Record<'_>, call: u32, result: Value<'_>) {
    if !result.is_object() {
        return;
    }
    let call = &mut b.run.calls[call as usize];
    for (key, value) in result.fields() {
        match key.inner().unwrap_or("") {
            "durationMs" | "totalDurationMs" => {
                call.duration = value.as_f64().and_then(time::millis).or(call.duration);
            }
            "agentId" => call.spawned = record.text(value),
            "interrupted" if value.as_bool() == Some(true) && call.status == Status::Failed => {
                call.status = Status::Interrupted;
                call.level = StatusLevel::Protocol;
            }
            _ => {}
        }
    }
}

/// Returns the event kind of a system line, by its subtype.
pub(crate) fn system_kind(subtype: &str) -> EventKind {
    match subtype {
        "compact_boundary" | "microcompact_boundary" => EventKind::Compaction,
        "api_error" | "api_refusal" => EventKind::Error,
        other => EventKind::Note(Text::owned(format!("system/{other}"))),
    }
}
