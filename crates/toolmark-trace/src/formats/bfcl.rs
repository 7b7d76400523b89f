//! Berkeley Function Calling Leaderboard result files: one line per test entry,
//! `{id, result, input_token_count, output_token_count, latency}`; early files have a numeric
//! `idx` in place of the ID.
//!
//! `result` is the model's answer, in the format of its handler:
//!
//! - `[{"name": args}]` from function-calling APIs, the arguments as an object
//!   or as JSON text;
//! - Python calls in one string, `[f(x=1), g()]`, or `f(x=1); g();`;
//! - `<tool_call>{…}</tool_call>`, `{"tool_calls": […]}` or `{…}; {…}` as text,
//!   from open models that were instructed to call in that syntax;
//! - prose: a refusal, a question back, an error of the provider;
//! - a list of turns, each a list of responses in one of these formats, for
//!   multi-turn entries.
//!
//! Text that consists entirely of calls in a syntax that the leaderboard requests is read as
//! calls. Tools are not run, so calls have no results, and the user's prompt is in the test
//! set, not in this file.

use super::shared::declared::{self, Full};
use super::shared::readers::each_record;
use super::shared::{python, text_calls};
use crate::builder::{NewCall, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::input::buffers;
use crate::model::{
    At, Convention, DeclaredOutcome, EventKind, Fact, Fidelity, Payload, Text, ToolName, Usage,
    UsageTokens,
};
use toolmark_scan::{JsonKind, Value};

/// BFCL result files.
pub(crate) struct Bfcl;

static INFO: FormatInfo = FormatInfo {
    id: "bfcl",
    title: "Berkeley Function Calling Leaderboard results",
    origin: "ShishirPatil/gorilla, berkeley-function-call-leaderboard/result/**/*_result.json",
    versions: "v1 to v4",
    looks_for: "lines with id or idx and result, beside input_token_count and latency",
    fidelity: Fidelity::lacking(&[
        Fact::CallIds,
        Fact::Results,
        Fact::Status,
        Fact::ExitCodes,
        Fact::Times,
        Fact::Durations,
        Fact::UserTurns,
        Fact::Cost,
        Fact::Model,
        Fact::ToolDefinitions,
        Fact::WorkingDirectory,
    ]),
};

impl Format for Bfcl {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        const KNOWN: [&str; 9] = [
            "id",
            "idx",
            "result",
            "input_token_count",
            "output_token_count",
            "latency",
            "reasoning_content",
            "inference_log",
            "traceback",
        ];
        let is_entry = |r: Value<'_>| {
            r.get("id").is_some_and(|i| i.is_string())
                && r.get("result").is_some_and(|v| v.is_string() || v.is_array())
        };
        if probe.any(|r| is_entry(r) && (r.has("input_token_count") || r.has("inference_log"))) {
            return 100;
        }
        let only_known = |r: Value<'_>| {
            r.fields().all(|(key, _)| KNOWN.iter().any(|k| key.is(k)))
                && r.get("id").and_then(Value::inner).is_some_and(is_entry_id)
        };
        if probe.any(|r| is_entry(r) && only_known(r)) {
            return 90;
        }
        let is_early = |r: Value<'_>| {
            r.get("idx").is_some_and(|i| i.as_u64().is_some())
                && r.fields().all(|(key, _)| KNOWN.iter().any(|k| key.is(k)))
                && r.get("result").is_some_and(|result| {
                    r.has("input_token_count") || r.has("latency") || holds_calls(result)
                })
        };
        if probe.any(is_early) { 80 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        each_record(read_record)
    }
}

/// Returns whether a result consists of calls rather than prose. A number and a text are not
/// enough to identify a file.
fn holds_calls(result: Value<'_>) -> bool {
    match result.kind() {
        JsonKind::String => calls_in_text(&result.str().unwrap_or_default()).is_some(),
        JsonKind::Array => result.items().next().is_some_and(|first| {
            first.fields().next().is_some_and(|(_, args)| args.is_object() || args.is_string())
        }),
        _ => false,
    }
}

/// Returns whether a text is an entry ID. Entries are numbered within their category:
/// `parallel_multiple_17`, since v3 also `live_simple_3-0-1`.
fn is_entry_id(id: &str) -> bool {
    id.rsplit_once('_').is_some_and(|(category, number)| {
        !category.is_empty()
            && number.starts_with(|c: char| c.is_ascii_digit())
            && number.bytes().all(|b| b.is_ascii_digit() || b == b'-')
    })
}

fn read_record(record: &Record<'_>, out: &mut Out) {
    let entry = record.json().filter(|v| v.is_object());
    let Some((entry, result)) = entry.and_then(|e| Some((e, e.get("result")?))) else {
        out.skip(&record.at(), "not a BFCL result: expected an object with id and result");
        return;
    };
    let mut b = out.builder(&Bfcl);
    let id = entry.get("id").or_else(|| entry.get("idx"));
    b.run.id = id.and_then(|id| record.label(id));
    if let Some(reasoning) = entry.get("reasoning_content").filter(|r| !r.is("")) {
        let text = Some(record.payload(reasoning));
        b.event(EventKind::Reasoning, text, None, None, record.at_value(reasoning));
    }
    read_result(&mut b, record, result);
    for key in ["inference_log", "traceback"] {
        if let Some(value) = entry.get(key) {
            let kind = EventKind::Note(Text::owned(key));
            b.event(kind, Some(record.payload(value)), None, None, record.at_value(value));
        }
    }
    if let Some(valid) = entry.get("valid") {
        declared::verdict(&mut b.run, record, "valid", valid, Full::OnlyOne);
    }
    let thrown = result.str().filter(|text| is_provider_error(text)).map(|_| result);
    if let Some(thrown) = entry.get("traceback").or(thrown) {
        let failed = DeclaredOutcome::Failed;
        declared::declare(&mut b.run, record, failed, "error during inference", thrown);
    }
    b.run.usage = usage(entry);
    if let (Some(usage), [step]) = (b.run.usage, &mut b.run.steps[..]) {
        step.usage = Some(usage);
    }
    out.push(b.finish());
}

fn read_result(b: &mut TrajectoryBuilder, record: &Record<'_>, result: Value<'_>) {
    let is_multi_turn = result.items().next().is_some_and(|turn| turn.is_array());
    if !is_multi_turn {
        read_response(b, record, result);
        return;
    }
    for turn in result.items() {
        if turn.is_array() {
            for response in turn.items() {
                read_response(b, record, response);
            }
        } else {
            read_response(b, record, turn);
        }
    }
}

/// Reads one response of the model.
fn read_response(b: &mut TrajectoryBuilder, record: &Record<'_>, response: Value<'_>) {
    let at = record.at_value(response);
    let step = b.step(None, None, at.clone());
    match response.kind() {
        JsonKind::String => read_text(b, record, response, step),
        JsonKind::Array => {
            for item in response.items() {
                if item.is_string() {
                    read_text(b, record, item, step);
                } else {
                    read_named_args(b, record, item, step);
                }
            }
        }
        JsonKind::Object => read_named_args(b, record, response, step),
        _ => b.message(step, record.payload(response), None, at),
    }
}

/// Reads `{"name": args}`, possibly with several calls in one object.
fn read_named_args(b: &mut TrajectoryBuilder, record: &Record<'_>, item: Value<'_>, step: u32) {
    if !item.is_object() {
        b.message(step, record.payload(item), None, record.at_value(item));
        return;
    }
    for (name, args) in item.fields() {
        let at = record.at_value(name);
        let name = record.text(name).unwrap_or_else(|| Text::owned(""));
        push_call(b, name, (!args.is_null()).then(|| record.payload(args)), step, at);
    }
}

fn push_call(b: &mut TrajectoryBuilder, name: Text, args: Option<Payload>, step: u32, at: At) {
    let name = ToolName::new(name);
    b.call(NewCall { id: None, name, args, step: Some(step), time: None, at });
}

/// Reads calls in one of the textual syntaxes, or otherwise prose.
fn read_text(b: &mut TrajectoryBuilder, record: &Record<'_>, value: Value<'_>, step: u32) {
    let at = record.at_value(value);
    let text = value.str().unwrap_or_default();
    let Some(found) = calls_in_text(&text) else {
        if is_provider_error(&text) {
            b.event(EventKind::Error, Some(record.payload(value)), Some(step), None, at);
        } else {
            b.message(step, record.payload(value), None, at);
        }
        return;
    };
    for (name, args) in found {
        push_call(b, Text::owned(name), args, step, at.clone());
    }
}

/// Parses a text that consists of calls, in one of the syntaxes that the leaderboard requests.
fn calls_in_text(text: &str) -> Option<TextCall> {
    tagged_calls(text).or_else(|| json_calls(text)).or_else(|| python_calls(text))
}

/// Returns whether the text is an API error, which handlers write in place of the answer.
fn is_provider_error(text: &str) -> bool {
    text == "Error"
        || ["Error during inference:", "Parsing error:", "Internal error occurred"]
            .iter()
            .any(|start| text.starts_with(start))
}

/// Name and arguments of calls found in a text.
type TextCall = Vec<(String, Option<Payload>)>;

/// Parses consecutive `<tool_call>{"name": …, "arguments": …}</tool_call>`.
fn tagged_calls(text: &str) -> Option<TextCall> {
    let mut found = Vec::new();
    for part in text.split("<tool_call>").skip(1) {
        let body = part.split_once("</tool_call>").map_or(part, |(body, _)| body).trim();
        found.push(text_calls::one(body)?);
    }
    (!found.is_empty()).then_some(found)
}

/// Prefixes that open models write before their calls.
const OPENINGS: [&str; 4] = ["<|python_tag|>", "<function_call>", "<functioncall>", "functools"];

/// Parses calls as JSON: one value, or several separated by semicolons, as Llama was trained
/// to write parallel calls.
fn json_calls(text: &str) -> Option<TextCall> {
    let text = text.trim();
    let text = OPENINGS.iter().find_map(|o| text.strip_prefix(o)).unwrap_or(text).trim();
    if !text.starts_with(['{', '[']) {
        return None;
    }
    if let Some(found) = json_list(text) {
        return Some(found);
    }
    let found: Option<Vec<TextCall>> =
        python::split(text, b';').into_iter().map(|part| json_list(part.trim())).collect();
    Some(found?.into_iter().flatten().collect())
}

/// Parses `{"tool_calls": [{"name": …, "arguments": …}]}`, only such a list, or only one call.
fn json_list(text: &str) -> Option<TextCall> {
    let found = buffers::with_json(text, |root| {
        let list = root.get("tool_calls").filter(|c| c.is_array()).unwrap_or(root);
        match list.kind() {
            JsonKind::Array => list.items().map(text_calls::named).collect(),
            _ => text_calls::named(list).map(|call| vec![call]),
        }
    });
    found?.filter(|calls: &TextCall| !calls.is_empty())
}

/// Parses `[f(x=1), g()]`.
fn python_calls(text: &str) -> Option<TextCall> {
    let calls = python::calls(text)?;
    let args = |call: &python::PythonCall<'_>| match python::keywords_to_json(call.args) {
        Some(json) => Payload::json(Text::owned(json)),
        None => Payload::text(Text::owned(call.args)),
    };
    Some(calls.iter().map(|call| (call.name.to_owned(), Some(args(call)))).collect())
}

/// Reads token counts: numbers, or (nested) lists of numbers for several turns.
fn usage(entry: Value<'_>) -> Option<Usage> {
    let count = |key: &str| entry.get(key).map(sum);
    let (input, output) = (count("input_token_count"), count("output_token_count"));
    if input.is_none() && output.is_none() {
        return None;
    }
    let recorded = UsageTokens {
        input: input.unwrap_or(0),
        output: output.unwrap_or(0),
        ..UsageTokens::default()
    };
    Some(Usage::new(recorded, Convention::INCLUSIVE))
}

fn sum(count: Value<'_>) -> u64 {
    let mut total = 0u64;
    let mut open = vec![count];
    while let Some(value) = open.pop() {
        if value.is_array() {
            open.extend(value.items());
        } else {
            total = total.saturating_add(value.as_u64().unwrap_or(0));
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_text, read_text_error, sketch};

    #[test]
    fn early_files_number_their_entries() {
        let read = read_text(
            "{\"idx\":0,\"result\":\"[f(x=1)]\"}\n{\"idx\":1,\"result\":\"I cannot.\"}\n",
        );
        assert_eq!(read.format, "bfcl");
        let [first, second] = &read.runs[..] else { panic!("two runs") };
        assert_eq!(sketch(first), "0 call f {\"x\":1} -> unanswered(absent): \n");
        assert_eq!(sketch(second), "0 message: I cannot.\n");
        assert_eq!(second.id.as_ref().unwrap(), "1");
        let other = read_text_error("{\"idx\":0,\"result\":\"fine\"}\n");
        assert!(other.contains("unrecognized"), "{other}");
    }

    fn sketches(lines: &str) -> Vec<String> {
        let read = read_text(lines);
        assert_eq!(read.format, "bfcl");
        read.runs.iter().map(sketch).collect()
    }

    #[test]
    fn the_shapes_of_a_result() {
        let got = sketches(
            r#"{"id":"simple_0","result":[{"area":{"b":1}},{"area":"{\"b\":2}"}],"input_token_count":5,"output_token_count":2,"latency":1.5}
{"id":"simple_1","result":"[a.b(x=1, y='z'), c(2)]"}
{"id":"simple_2","result":"<tool_call>\n{\"arguments\": {\"n\": 1}, \"name\": \"f\"}\n</tool_call>\n<tool_call>\n{'name': 'g', 'arguments': {'t': True}}"}
{"id":"simple_3","result":"\n{\"tool_calls\": [{\"name\": \"f\", \"arguments\": {}}]}"}
{"id":"simple_4","result":"I cannot (really) do that."}
{"id":"simple_5","result":"Error during inference: 500"}
{"id":"simple_6","result":"\n[]"}
{"id":"simple_7","result":"f(x=1);\ng(path: '/;');"}
{"id":"simple_8","result":"<|python_tag|>{\"name\": \"f\", \"parameters\": {\"s\": \"a;b\"}}; {\"name\": \"g\", \"parameters\": {}}"}
{"id":"simple_9","result":"{\"answer\": 1}; {\"name\": \"g\"}"}
"#,
        );
        assert_eq!(
            got,
            [
                "0 call area {\"b\":1} -> unanswered(absent): \n0 call area {\"b\":2} -> unanswered(absent): \n",
                "0 call a.b {\"x\":1,\"y\":\"z\"} -> unanswered(absent): \n0 call c 2 -> unanswered(absent): \n",
                "0 call f {\"n\": 1} -> unanswered(absent): \n0 call g {\"t\": true} -> unanswered(absent): \n",
                "0 call f {} -> unanswered(absent): \n",
                "0 message: I cannot (really) do that.\n",
                "0 error: Error during inference: 500\n",
                "0 message: \n[]\n",
                "0 call f {\"x\":1} -> unanswered(absent): \n0 call g path: '/;' -> unanswered(absent): \n",
                "0 call f {\"s\": \"a;b\"} -> unanswered(absent): \n0 call g {} -> unanswered(absent): \n",
                "0 message: {\"answer\": 1}; {\"name\": \"g\"}\n",
            ]
        );
    }

    #[test]
    fn turns_hold_responses() {
        let read = read_text(
            r#"{"id":"multi_turn_base_0","result":[[[{"cd":"{\"d\":\"x\"}"}],"done"],["[ls(a=True)]"],[]],"input_token_count":[[10,20],[30],[]],"output_token_count":[[1,2],[3],[]],"latency":[[1,1],[1],[]]}"#,
        );
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "0 call cd {\"d\":\"x\"} -> unanswered(absent): \n1 message: done\n2 call ls {\"a\":true} -> unanswered(absent): \n"
        );
        let tokens = run.usage.unwrap().recorded;
        assert_eq!((tokens.input, tokens.output), (60, 6));
    }

    #[test]
    fn wrong_types_are_harmless() {
        let read = read_text(
            r#"{"id":"simple_0","result":[5,null,"f(x=1)",{"g":null}],"input_token_count":"many"}
{"id":"simple_1","result":7}
{"id":"simple_2","result":{}}
[1]
{"id":"simple_3"}
"#,
        );
        assert_eq!((read.runs.len(), read.skipped), (3, 2));
        assert_eq!(read.runs[0].calls.len(), 2);
    }
}
