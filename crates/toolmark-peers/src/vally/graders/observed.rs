//! Output of a tool as text for regular expressions.

use std::borrow::Cow;
use toolmark_outcome::TrajectoryView;
use toolmark_trace::{Call, Fact, Payload};

/// Returns the result of a call as text: text as it is, anything else as compact
/// JSON. Hosts other than Vally's wrap the text of a result into blocks; then
/// the text is returned. `None` if the trace does not record the result.
pub(super) fn observed<'a>(view: &TrajectoryView<'_>, call: &'a Call) -> Option<Cow<'a, str>> {
    let is_vally = is_vally(view);
    match call.result.as_ref()?.payload.as_ref() {
        Some(payload) if is_vally => Some(stringified(payload)),
        Some(payload) if payload.plain() != payload.raw() => Some(payload.plain()),
        Some(payload) => Some(stringified(payload)),
        // Vally always writes a result; one that is nothing is written as null.
        None if is_vally => Some(Cow::Borrowed("null")),
        None if view.trajectory().fidelity.lacks(Fact::Results) => None,
        None => Some(Cow::Borrowed("")),
    }
}

/// Whether the run was recorded by Vally itself, which omits empty values: a call
/// without `arguments` has none, and one without a `tool_result` got none.
pub(super) fn is_vally(view: &TrajectoryView<'_>) -> bool {
    view.trajectory().format == "vally"
}

/// Returns a payload as `JSON.stringify` writes it, a string without its quotes.
fn stringified(payload: &Payload) -> Cow<'_, str> {
    match (payload.form(), payload.parsed()) {
        (toolmark_trace::Form::Text, _) => payload.raw(),
        (_, Some(serde_json::Value::String(text))) => Cow::Borrowed(text),
        (_, Some(value)) => Cow::Owned(value.to_string()),
        (_, None) => payload.raw(),
    }
}
