//! Everything about a step or a call.

use super::calls::status_mark;
use super::{Emit, Look, block};
use crate::human;
use crate::printer::{Line, style};
use crate::text::{width, wrap};
use serde_json::Value;
use std::io;
use toolmark_trace::{Actor, Call, Level, Payload, Step, Trajectory};

/// `step 3 of 9 · turn 1 · model · 09:12:11 · 4.1k tokens`, and where it stands.
pub(super) fn step_header(
    run: &Trajectory,
    number: u32,
    step: &Step,
    look: Look,
    emit: Emit<'_>,
) -> io::Result<()> {
    let mut line = Line::of(style::STRONG, &format!("step {number} of {}", run.steps.len()));
    let mut add = |text: &str| {
        line.push(style::DIM, " \u{b7} ");
        line.push(style::PLAIN, text);
    };
    if step.turn > 0 {
        add(&format!("turn {}", step.turn));
    }
    if let Some(model) = &step.model {
        add(&model.get());
    }
    if let Some(time) = step.time {
        add(&human::clock(time));
    }
    if let Some(usage) = &step.usage {
        add(&format!("{} tokens", human::count(usage.total())));
    }
    emit(line.fit(look.width))?;
    let place = step.at.location();
    let place = format!("{}:{}:{}", place.file, place.line, place.column);
    emit(Line::of(style::DIM, &place))?;
    emit(Line::new())
}

/// What a status was read from, in words.
fn level_words(level: Level) -> &'static str {
    match level {
        Level::Protocol => " (marked)",
        Level::ExitCode => " (by exit code)",
        Level::Denial => " (by the text of the refusal)",
        Level::Prose => " (by the text of the result)",
        Level::Absent => "",
    }
}

/// Status, place, arguments and result of a call.
pub(super) fn call_details(call: &Call, look: Look) -> Vec<Line> {
    let (_, tone) = status_mark(call.status);
    let mut status = Line::of(style::PLAIN, "  ").with(tone, call.status.word());
    if let Some(code) = call.exit_code {
        status.push(tone, &format!(", exit {code}"));
    }
    status.push(style::DIM, level_words(call.level));
    match call.actor {
        Actor::Agent => {}
        Actor::User => status.push(style::DIM, ", called by the user"),
        Actor::Provider => status.push(style::DIM, ", run by the model provider"),
    }
    let place = call.at.location();
    status.push(style::DIM, &format!(" \u{b7} line {}:{}", place.line, place.column));
    let mut lines = vec![status];
    if let Some(args) = &call.args {
        lines.extend(arguments(args, look));
    }
    if let Some(result) = &call.result {
        lines.push(Line::of(style::DIM, "  result"));
        match &result.payload {
            Some(payload) => lines.extend(result_text(payload, look)),
            None => lines.push(Line::of(style::DIM, "  \u{2502} (not in the trace)")),
        }
    }
    lines.push(Line::new());
    lines
}

/// Arguments by name, long ones as a block.
fn arguments(args: &Payload, look: Look) -> Vec<Line> {
    let Some(Value::Object(map)) = args.parsed() else {
        let mut lines = vec![Line::of(style::DIM, "  arguments")];
        lines.extend(block(&args.raw(), look));
        return lines;
    };
    let indent = map.keys().map(|k| width(k)).filter(|w| *w <= 20).max().unwrap_or(0) + 4;
    let mut lines = Vec::new();
    for (key, value) in map {
        let text = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        // The name stays with the value: it says whether that is a secret.
        let hidden = look
            .veil
            .shown(&format!("{key}={text}"))
            .strip_prefix(&format!("{key}="))
            .map(str::to_owned);
        let text = hidden.unwrap_or(text);
        let mut line = Line::of(style::PLAIN, "  ").with(style::USER, key);
        if text.trim_end().contains('\n') {
            lines.push(line);
            lines.extend(block(&text, look));
            continue;
        }
        let wrapped = wrap(&look.veil.shown(text.trim_end()), look.width.saturating_sub(indent));
        for (at, part) in wrapped.iter().enumerate() {
            if at > 0 {
                line = Line::new();
            }
            line.pad(indent);
            line.push(style::PLAIN, part);
            lines.push(line.clone());
        }
    }
    lines
}

fn result_text(payload: &Payload, look: Look) -> Vec<Line> {
    let plain = payload.plain();
    if plain.trim().is_empty() {
        return vec![Line::of(style::DIM, "  \u{2502} (empty)")];
    }
    block(&plain, look)
}
