//! Takes the secrets out of results before any report sees them.

use crate::redact::Veil;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;
use toolmark_outcome::{CallRef, Evidence, Outcome, RunResult};

/// Masks every text that comes from a trace.
pub(crate) fn redact(result: &mut RunResult, veil: Veil) {
    let hide = |text: &mut String| {
        if let Cow::Owned(shown) = veil.shown(text) {
            *text = shown;
        }
    };
    for outcome in &mut result.outcomes {
        hide(&mut outcome.reason);
        for grader in &mut outcome.graders {
            hide_outcome(&mut grader.outcome, &hide);
        }
        for entry in outcome.timeline.iter_mut().flat_map(|timeline| &mut timeline.entries) {
            entry.text.iter_mut().chain(&mut entry.result).for_each(hide);
            entry.call.iter_mut().for_each(|call| hide_call(call, &hide));
        }
        if let Some(trace) = &mut outcome.trace {
            hide_value(Arc::make_mut(trace), &hide);
        }
    }
}

fn hide_outcome(outcome: &mut Outcome, hide: &impl Fn(&mut String)) {
    hide(&mut outcome.reason);
    outcome.notes.iter_mut().for_each(hide);
    for Evidence { text, call, excerpt, .. } in &mut outcome.evidence {
        hide(text);
        excerpt.iter_mut().for_each(hide);
        call.iter_mut().for_each(|call| hide_call(call, hide));
    }
    for part in &mut outcome.parts {
        hide(&mut part.text);
        part.reason.iter_mut().for_each(hide);
    }
    if let Some(contrast) = &mut outcome.contrast {
        hide(&mut contrast.reason);
    }
    if let Some(explanation) = &mut outcome.explanation {
        explanation.repair.iter_mut().for_each(hide);
        for row in &mut explanation.rows {
            row.expected.iter_mut().chain(&mut row.why).for_each(hide);
            row.call.iter_mut().for_each(|call| hide_call(call, hide));
        }
    }
    for value in outcome.metrics.values_mut() {
        hide_value(value, hide);
    }
}

fn hide_call(call: &mut CallRef, hide: &impl Fn(&mut String)) {
    call.args.iter_mut().for_each(hide);
}

/// Values come from parsers that bound nesting, so the recursion is bounded too.
pub(crate) fn hide_value(value: &mut Value, hide: &impl Fn(&mut String)) {
    match value {
        Value::String(text) => hide(text),
        Value::Array(items) => items.iter_mut().for_each(|item| hide_value(item, hide)),
        Value::Object(map) => map.values_mut().for_each(|value| hide_value(value, hide)),
        _ => {}
    }
}
