//! Rows of a dataset with the calls of a model: `{"id", "output", "expected"?,
//! "function_definitions"?}`, as users of function-call metrics keep them.
//!
//! `output` (or `response`) is a call, a list of calls, or text that contains calls, in any of
//! the shapes of `call_shapes.rs`. Every row is a run of one response. An `output` with a
//! `trajectory`, as in Future AGI's agents suite, is a run with one response per step. The
//! whole row is kept, for graders that need its other columns.

use super::shared::declared;
use super::shared::readers::each_record;
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::call_shapes::{NotCalls, calls_in};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{Fact, Fidelity, Payload, Text, ToolName};
use toolmark_scan::Value;

/// Rows with calls.
pub(crate) struct CallRows;

static INFO: FormatInfo = FormatInfo {
    id: "call-rows",
    title: "Rows with calls",
    origin: "datasets of function-call metrics such as Future AGI's",
    versions: "any",
    looks_for: "objects with output or response, and with id, expected or function_definitions",
    fidelity: Fidelity::lacking(&[
        Fact::CallIds,
        Fact::Results,
        Fact::Status,
        Fact::ExitCodes,
        Fact::Times,
        Fact::Durations,
        Fact::Reasoning,
        Fact::Tokens,
        Fact::Cost,
        Fact::Model,
        Fact::SubAgents,
        Fact::ToolDefinitions,
        Fact::WorkingDirectory,
    ]),
};

/// Allowed keys of a row; a file with other keys has another format.
const KEYS: [&str; 16] = [
    "id",
    "name",
    "output",
    "response",
    "expected",
    "expected_response",
    "expected_output",
    "function_definitions",
    "tools",
    "input",
    "prompt",
    "question",
    "metadata",
    "tags",
    "config",
    "metric",
];

impl Format for CallRows {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let records = probe.records();
        if !records.is_empty() && records.iter().all(|record| is_suite_input(*record)) {
            return 70;
        }
        let is_row = |row: &Value<'_>| {
            let known = |key: Value<'_>| key.inner().is_some_and(|key| KEYS.contains(&key));
            row.is_object()
                && (row.has("output") || row.has("response"))
                && ["id", "name", "expected", "expected_response", "function_definitions"]
                    .iter()
                    .any(|key| row.has(key))
                && row.fields().all(|(key, _)| known(key))
        };
        if !records.is_empty() && records.iter().all(is_row) { 60 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        each_record(read_record)
    }
}

fn read_record(record: &Record<'_>, out: &mut Out) {
    let Some(row) = out.object(record, "a row") else { return };
    let mut b = out.builder(&CallRows);
    b.run.name = record.text_at(row, "id").or_else(|| record.text_at(row, "name"));
    if b.run.name.is_none() {
        // Ids may be numbers.
        let id = row.get("id").filter(|id| !id.is_object() && !id.is_array());
        b.run.name = id.map(|id| Text::owned(id.raw()));
    }
    for key in ["input", "prompt", "question"] {
        if let Some(asked) = row.get(key).filter(|asked| asked.is_string()) {
            b.user(Some(record.payload(asked)), None, record.at_value(asked));
            break;
        }
    }
    if is_suite_input(row) {
        trajectory(&mut b, record, row);
    } else if let Some(output) = row.get("output").or_else(|| row.get("response")) {
        match output.get("trajectory").filter(|steps| steps.is_array()) {
            Some(_) => {
                declared::members(&mut b.run, record, output);
                trajectory(&mut b, record, output);
            }
            None => response(&mut b, record, output, out),
        }
    }
    b.run.stated.row = Some(record.payload(row));
    out.push(b.finish());
}

/// Reads the steps of a run: the thought, action and observation of each.
fn trajectory(b: &mut TrajectoryBuilder, record: &Record<'_>, output: Value<'_>) {
    for fact in [Fact::Results, Fact::Status, Fact::Reasoning] {
        b.run.fidelity.gain(fact);
    }
    let words = |step: Value<'_>, key: &str| {
        let text = step.get(key).filter(|text| text.is_string())?;
        Some((record.payload(text), record.at_value(text)))
    };
    if let Some(asked) = output.get("task").and_then(|task| words(task, "description")) {
        b.user(Some(asked.0), None, asked.1);
    }
    for item in output.items_at("trajectory").filter(|item| item.is_object()) {
        step(b, record, item);
    }
    b.run.stated.output = output
        .get("final_result")
        .filter(|result| !result.is_null())
        .map(|result| record.payload(result));
}

/// Returns whether an object is a step: what the agent did, and the tool it used.
pub(super) fn is_step(item: Value<'_>) -> bool {
    (item.has("tool_used") || item.has("tool_calls")) && (item.has("action") || item.has("thought"))
}

/// Returns whether an object is a run of the agents suite that is not a column of a row.
fn is_suite_input(object: Value<'_>) -> bool {
    let has_task = ["task", "final_result", "available_tools"].iter().any(|key| object.has(key));
    has_task && object.items_at("trajectory").next().is_some_and(is_step)
}

/// Reads a step: its thought, its action, and its calls. `tool_used` and `tool_args` are the
/// only call of a step.
pub(super) fn step(b: &mut TrajectoryBuilder, record: &Record<'_>, item: Value<'_>) {
    let words = |step: Value<'_>, key: &str| {
        let text = step.get(key).filter(|text| text.is_string())?;
        Some((record.payload(text), record.at_value(text)))
    };
    let step = b.step(None, None, record.at_value(item));
    if let Some((thought, at)) = words(item, "thought") {
        b.reasoning(step, Some(thought), None, at);
    }
    if let Some((action, at)) = words(item, "action") {
        b.message(step, action, None, at);
    }
    for call in item.items_at("tool_calls").filter(|call| call.is_object()) {
        let at = record.at_value(call);
        let name = ToolName::new(record.text_at(call, "name").unwrap_or_else(|| Text::owned("")));
        let args = record.payload_at(call, "arguments");
        let index =
            b.call(NewCall { id: None, name, args, step: Some(step), time: None, at: at.clone() });
        let result = ["result", "error"]
            .iter()
            .find_map(|key| Some(record.payload(call.get(key).filter(|value| !value.is_null())?)));
        let success = call.get("success").and_then(Value::as_bool);
        if result.is_some() || success.is_some() {
            let answer = ReaderResult::new(result, at);
            let answer = match success {
                Some(success) => answer.protocol(!success),
                None => answer,
            };
            b.answer_call(index, answer);
        }
    }
    only_call(b, record, item, step);
}

/// Reads the call of a step that has one at most.
fn only_call(b: &mut TrajectoryBuilder, record: &Record<'_>, item: Value<'_>, step: u32) {
    let known = |key: &str| item.get(key).filter(|value| !value.is_null());
    let Some(tool) = known("tool_used").filter(|tool| !tool.is("")) else { return };
    let at = record.at_value(item);
    let index = b.call(NewCall {
        id: None,
        name: ToolName::new(record.label(tool).unwrap_or_else(|| Text::owned(""))),
        args: known("tool_args").map(|args| record.payload(args)),
        step: Some(step),
        time: None,
        at: at.clone(),
    });
    let (result, error) = (known("tool_result"), known("error"));
    if result.or(error).is_some() || item.has("error") {
        let payload = result.or(error).map(|value| record.payload(value));
        let answer = ReaderResult::new(payload, at);
        // Without the member, nothing says whether the call failed.
        let answer = if item.has("error") { answer.protocol(error.is_some()) } else { answer };
        b.answer_call(index, answer);
    }
}

/// Reads the only response of the row.
fn response(b: &mut TrajectoryBuilder, record: &Record<'_>, output: Value<'_>, out: &mut Out) {
    let at = record.at_value(output);
    let payload = record.payload(output);
    let step = b.step(None, None, at.clone());
    let value = serde_json::from_str(output.raw()).unwrap_or_default();
    match calls_in(&value) {
        Ok(calls) => {
            for call in calls {
                let args = call.args.as_ref().map(Payload::value);
                let name = ToolName::new(Text::owned(call.name));
                b.call(NewCall {
                    id: None,
                    name,
                    args,
                    step: Some(step),
                    time: None,
                    at: at.clone(),
                });
            }
        }
        Err(NotCalls::Words) => b.message(step, payload, None, at),
        Err(NotCalls::Shape(why)) => {
            out.note(&at, format!("{why}: the row is read as a run without calls"));
            b.message(step, payload, None, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, sketch};

    #[test]
    fn rows() {
        let read = read_fixture("call-rows.jsonl");
        assert_eq!(read.format, "call-rows");
        let names: Vec<String> =
            read.runs.iter().map(|run| run.name.as_ref().unwrap().to_string()).collect();
        assert_eq!(names, ["a", "2", "c", "d", "e", "f"]);
        assert_eq!(sketch(&read.runs[0]), "0 call f {\"x\":1} -> unanswered(absent): \n");
        assert_eq!(
            sketch(&read.runs[1]),
            "user: go\n0 call f {\"x\":-1} -> unanswered(absent): \n"
        );
        assert_eq!(sketch(&read.runs[2]), "0 message: I would rather not\n");
        assert_eq!(read.runs[3].calls.len(), 0);
        assert_eq!(read.runs[4].calls.len(), 2);
        assert_eq!(
            sketch(&read.runs[5]),
            "user: mend it\n0 reasoning: look first\n0 call read {\"f\":1} -> failed(protocol): no file\n1 message: done\n"
        );
        let row = read.runs[2].stated.row.as_ref().unwrap();
        assert_eq!(row.parsed().unwrap()["expected"], serde_json::json!([]));
    }
}
