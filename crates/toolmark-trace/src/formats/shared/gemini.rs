//! The parts of Gemini contents, which Gemini CLI, its saved chats and Qwen Code write:
//! `{text}`, `{text, thought}`, `{functionCall}`, `{functionResponse}`, `{executableCode}`,
//! `{codeExecutionResult}`.
//!
//! Calls and responses have IDs only in newer files; without an ID, a response answers the
//! first open call of its name.

use super::exit_code;
use super::pairing::OpenCalls;
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::Record;
use crate::model::{
    Actor, Convention, EventKind, Status, StatusLevel, Text, ToolName, Usage, UsageTokens,
};
use jiff::Timestamp;
use toolmark_scan::Value;

/// Name of code that the model runs on the provider's servers.
const CODE_EXECUTION: &str = "code_execution";

/// Reads the model's text and calls in `parts` (a list, or a bare string).
pub(crate) fn model_parts(
    b: &mut TrajectoryBuilder,
    open: &mut OpenCalls,
    record: &Record<'_>,
    parts: Value<'_>,
    step: u32,
    time: Option<Timestamp>,
) {
    if parts.is_string() && parts.inner() != Some("") {
        b.message(step, record.payload(parts), time, record.at_value(parts));
    }
    for part in parts.items() {
        model_part(b, open, record, part, step, time);
    }
}

fn model_part(
    b: &mut TrajectoryBuilder,
    open: &mut OpenCalls,
    record: &Record<'_>,
    part: Value<'_>,
    step: u32,
    time: Option<Timestamp>,
) {
    let at = record.at_value(part);
    if let Some(call) = part.get("functionCall") {
        let call = b.call(NewCall {
            id: record.text_at(call, "id"),
            name: ToolName::or_empty(record.text_at(call, "name")),
            args: record.payload_at(call, "args"),
            step: Some(step),
            time,
            at,
        });
        open.add(b, call);
    } else if let Some(response) = part.get("functionResponse") {
        answer(b, open, record, response, time);
    } else if let Some(code) = part.get("executableCode") {
        let call = b.call(NewCall {
            id: record.text_at(code, "id"),
            name: ToolName::new(CODE_EXECUTION),
            args: Some(record.payload(code)),
            step: Some(step),
            time,
            at,
        });
        b.run.calls[call as usize].actor = Actor::Provider;
        open.add(b, call);
    } else if let Some(result) = part.get("codeExecutionResult") {
        code_result(b, open, record, result, time);
    } else if part.is_true("thought") {
        b.reasoning(step, record.payload_at(part, "text"), time, at);
    } else if let Some(text) = part.get("text").filter(|t| t.is_string()) {
        if text.inner() != Some("") {
            b.message(step, record.payload(text), time, at);
        }
    } else if part.get("inlineData").is_some() || part.get("fileData").is_some() {
        b.message(step, record.payload(part), time, at);
    } else if part.get("thoughtSignature").is_some() {
        b.reasoning(step, None, time, at);
    } else if part.is_string() {
        b.message(step, record.payload(part), time, at);
    } else {
        let kind = part.fields().next().and_then(|(k, _)| k.inner()).unwrap_or("");
        let kind = EventKind::Unknown(Text::owned(format!("part/{kind}")));
        b.event(kind, Some(record.payload(part)), Some(step), time, at);
    }
}

fn code_result(
    b: &mut TrajectoryBuilder,
    open: &mut OpenCalls,
    record: &Record<'_>,
    result: Value<'_>,
    time: Option<Timestamp>,
) {
    let failed = result.get("outcome").is_some_and(|o| !o.is("OUTCOME_OK"));
    let payload = record.payload_at(result, "output");
    let answer = ReaderResult::new(payload, record.at_value(result)).protocol(failed).time(time);
    b.answer_call(open.named(b, CODE_EXECUTION), answer);
}

/// Answers the calls whose responses are among `parts`; returns whether there were any.
pub(crate) fn responses(
    b: &mut TrajectoryBuilder,
    open: &mut OpenCalls,
    record: &Record<'_>,
    parts: Value<'_>,
    time: Option<Timestamp>,
) -> bool {
    let mut any = false;
    for response in parts.items().filter_map(|p| p.get("functionResponse")) {
        any = true;
        answer(b, open, record, response, time);
    }
    any
}

/// Adds the result of a `functionResponse` to its call: matched by ID, or otherwise to the
/// first open call of its name.
pub(crate) fn answer(
    b: &mut TrajectoryBuilder,
    open: &mut OpenCalls,
    record: &Record<'_>,
    response: Value<'_>,
    time: Option<Timestamp>,
) -> Option<u32> {
    let answer = response_answer(record, response).time(time);
    let name = response.get_str("name").unwrap_or_default();
    // An id that is not known says that the call is not here; no id says nothing.
    if response.get("id").is_some() {
        return b.answer(response.get_str("id").as_deref(), answer);
    }
    let call = open.named(b, &name);
    b.answer_call(call, answer);
    call
}

/// Reads the result of a `functionResponse`. By convention, its `response` holds `output` or
/// `error`; anything else is a result of unknown status.
pub(crate) fn response_answer(record: &Record<'_>, response: Value<'_>) -> ReaderResult {
    let at = record.at_value(response);
    let Some(body) = response.get("response") else {
        return ReaderResult::new(None, at);
    };
    if let Some(error) = body.get("error") {
        return match refusal(&error.str().unwrap_or_default()) {
            Some(status) => ReaderResult::new(Some(record.payload(error)), at)
                .status(status, StatusLevel::Denial),
            None => ReaderResult::new(Some(record.payload(error)), at).protocol(true),
        };
    }
    match body.get("output") {
        Some(output) => {
            let code = output.str().and_then(|text| shell_exit_code(&text));
            ReaderResult::new(Some(record.payload(output)), at).protocol(false).exit_code(code)
        }
        None => ReaderResult::new(Some(record.payload(body)), at),
    }
}

/// Returns the status if the text of an error means that a person or a policy stopped the
/// call.
pub(crate) fn refusal(text: &str) -> Option<Status> {
    let reason = text.strip_prefix("[Operation Cancelled]");
    let denied = ["denied", "did not allow", "rejected", "declined", "policy"];
    match reason {
        Some(reason) if denied.iter().any(|d| reason.contains(d)) => Some(Status::Denied),
        Some(_) => Some(Status::Interrupted),
        None if text.starts_with("Tool execution denied") => Some(Status::Denied),
        None => None,
    }
}

/// Returns the exit code in the report of the shell tool: one of the last lines, after the
/// command's output.
fn shell_exit_code(text: &str) -> Option<i64> {
    if !text.starts_with("Command: ") && !text.starts_with("Output: ") {
        return None;
    }
    let line = text.lines().rev().take(6).find_map(|l| l.strip_prefix("Exit Code: "))?;
    exit_code::leading_number(line)
}

/// Reads the `usageMetadata` of a response. Thoughts are not part of the output, unless the
/// stated total includes them in it.
pub(crate) fn usage(usage: Value<'_>) -> Usage {
    let mut tokens = UsageTokens::default();
    let mut total = None;
    for (key, value) in usage.fields() {
        let count = value.as_u64();
        match key.inner().unwrap_or("") {
            "promptTokenCount" => tokens.input = count.unwrap_or(0),
            "candidatesTokenCount" => tokens.output = count.unwrap_or(0),
            "cachedContentTokenCount" => tokens.cache_read = count.unwrap_or(0),
            "thoughtsTokenCount" => tokens.reasoning = count.unwrap_or(0),
            "totalTokenCount" => total = count,
            _ => {}
        }
    }
    let inclusive =
        tokens.reasoning > 0 && total == Some(tokens.input.saturating_add(tokens.output));
    let convention = if inclusive { Convention::INCLUSIVE } else { Convention::GEMINI };
    Usage { recorded: tokens, stated_total: total, convention }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_and_refusals() {
        let report = "Command: x\nDirectory: (root)\nOutput: Exit Code: 9\nError: (none)\nExit Code: 3\nSignal: 0\nBackground PIDs: (none)\nProcess Group PGID: 1";
        assert_eq!(shell_exit_code(report), Some(3));
        assert_eq!(shell_exit_code("Exit Code: 3"), None);
        assert_eq!(
            refusal("[Operation Cancelled] Reason: User cancelled the operation."),
            Some(Status::Interrupted)
        );
        assert_eq!(
            refusal("[Operation Cancelled] Reason: User denied execution."),
            Some(Status::Denied)
        );
        assert_eq!(refusal("Path must be absolute: ."), None);
    }
}
