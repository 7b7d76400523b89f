//! All details of a step or a call.

use super::calls::status_mark;
use super::{Emit, Look, block};
use crate::terminal::human;
use crate::terminal::text::{TextLayout, width};
use crate::terminal::{StyledLine, style};
use serde_json::Value;
use std::io;
use toolmark_redact::{Printable, printable};
use toolmark_trace::{Actor, Call, Payload, StatusLevel, Step, Trajectory};

/// Formats `step 3 of 9 · turn 1 · model · 09:12:11 · 4.1k tokens` with the source position.
pub(super) fn step_header(
    run: &Trajectory,
    number: u32,
    step: &Step,
    look: Look,
    emit: Emit<'_>,
) -> io::Result<()> {
    let mut line =
        StyledLine::of(style::STRONG, printable!("step {} of {}", number, run.steps.len()));
    let mut add = |text: Printable| {
        line.push(style::DIM, " \u{b7} ");
        line.push(style::PLAIN, text);
    };
    if step.turn > 0 {
        add(printable!("turn {}", step.turn));
    }
    if let Some(model) = &step.model {
        add(look.redactor.apply(model.get()));
    }
    if let Some(time) = step.time {
        add(human::clock(time));
    }
    if let Some(usage) = &step.usage {
        add(printable!("{} tokens", human::count(usage.total())));
    }
    emit(line.fit(look.width))?;
    let place = step.at.location();
    let place = format!("{}:{}:{}", place.file, place.line, place.column);
    emit(StyledLine::of(style::DIM, look.redactor.apply(place)))?;
    emit(StyledLine::new())
}

/// Describes the source of a status.
fn level_words(level: StatusLevel) -> &'static str {
    match level {
        StatusLevel::Protocol => " (marked)",
        StatusLevel::ExitCode => " (by exit code)",
        StatusLevel::Denial => " (by the text of the refusal)",
        StatusLevel::Prose => " (by the text of the result)",
        StatusLevel::Absent => "",
    }
}

/// Status, source position, arguments and result of a call.
pub(super) fn call_details(call: &Call, look: Look) -> Vec<StyledLine> {
    let (_, tone) = status_mark(call.status);
    let mut status = StyledLine::of(style::PLAIN, "  ").with(tone, call.status.word());
    if let Some(code) = call.exit_code {
        status.push(tone, printable!(", exit {}", code));
    }
    status.push(style::DIM, level_words(call.level));
    match call.actor {
        Actor::Agent => {}
        Actor::User => status.push(style::DIM, ", called by the user"),
        Actor::Provider => status.push(style::DIM, ", run by the model provider"),
    }
    let place = call.at.location();
    status.push(style::DIM, printable!(" \u{b7} line {}:{}", place.line, place.column));
    let mut lines = vec![status];
    if let Some(args) = &call.args {
        lines.extend(arguments(args, look));
    }
    if let Some(result) = &call.result {
        lines.push(StyledLine::of(style::DIM, "  result"));
        match &result.payload {
            Some(payload) => lines.extend(result_text(payload, look)),
            None => lines.push(StyledLine::of(style::DIM, "  \u{2502} (not in the trace)")),
        }
    }
    lines.push(StyledLine::new());
    lines
}

/// Arguments by name; long ones are formatted as a block.
fn arguments(args: &Payload, look: Look) -> Vec<StyledLine> {
    let Some(Value::Object(map)) = args.parsed() else {
        let mut lines = vec![StyledLine::of(style::DIM, "  arguments")];
        lines.extend(block(&look.redactor.apply(args.raw()), look));
        return lines;
    };
    let indent = map.keys().map(|k| width(k)).filter(|w| *w <= 20).max().unwrap_or(0) + 4;
    let mut lines = Vec::new();
    for (key, value) in map {
        let text = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        // The redactor also uses the name, which shows whether the value is a secret.
        let text = look.redactor.apply_named(key, text);
        let mut line =
            StyledLine::of(style::PLAIN, "  ").with(style::USER, look.redactor.apply(key));
        if text.trim_end().contains('\n') {
            lines.push(line);
            lines.extend(block(&text, look));
            continue;
        }
        let wrapped = text.reshape(str::trim_end).wrap(look.width.saturating_sub(indent));
        for (at, part) in wrapped.into_iter().enumerate() {
            if at > 0 {
                line = StyledLine::new();
            }
            line.pad(indent);
            line.push(style::PLAIN, part);
            lines.push(line.clone());
        }
    }
    lines
}

fn result_text(payload: &Payload, look: Look) -> Vec<StyledLine> {
    let plain = payload.plain();
    if plain.trim().is_empty() {
        return vec![StyledLine::of(style::DIM, "  \u{2502} (empty)")];
    }
    block(&look.redactor.apply(plain), look)
}
