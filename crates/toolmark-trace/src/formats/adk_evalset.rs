//! Eval sets of Google's Agent Development Kit: the *expected* runs, one per eval case.
//! Eval results, which hold the actual runs, have the same shape and are also read.
//!
//! A conversation is a list of invocations: the user's message, the expected tool calls
//! (`intermediate_data` with `tool_uses` and `tool_responses`, or a list of
//! `invocation_events`), and the final answer. Model responses are not recorded separately:
//! the calls of an invocation count as one step. Old files are lists of
//! `{name,data,initial_session}`.

use super::shared::adk;
use super::shared::declared;
use super::shared::readers::each_record;
use crate::builder::TrajectoryBuilder;
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{DeclaredOutcome, Fact, Fidelity};
use toolmark_scan::Value;

/// Eval sets of the Agent Development Kit.
pub(crate) struct AdkEvalset;

static INFO: FormatInfo = FormatInfo {
    id: "adk-evalset",
    title: "Google ADK eval set",
    origin: "*.evalset.json, *.test.json and eval results of Google's Agent Development Kit",
    versions: "lists of data, eval_cases with intermediate_data or invocation_events",
    looks_for: "eval_cases with conversations",
    fidelity: Fidelity::lacking(&[
        Fact::ExitCodes,
        Fact::Durations,
        Fact::Steps,
        Fact::Tokens,
        Fact::Cost,
        Fact::Model,
        Fact::ToolDefinitions,
    ]),
};

impl Format for AdkEvalset {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let holds = |value: Option<Value<'_>>, key| {
            let mut items = value.into_iter().flat_map(Value::items).take(4);
            items.any(|item| adk::get(item, key).is_some())
        };
        let is_set = |r: Value<'_>| {
            holds(adk::get(r, "eval_cases"), "eval_id")
                || holds(adk::get(r, "eval_cases"), "conversation")
                || holds(adk::get(r, "eval_case_results"), "eval_id")
                || holds(r.get("data"), "expected_tool_use")
        };
        if probe.any(is_set) {
            return 95;
        }
        let is_empty_set = |r: Value<'_>| {
            adk::get(r, "eval_set_id").is_some() && adk::get(r, "eval_cases").is_some()
        };
        if probe.any(is_empty_set) { 90 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        each_record(read_record)
    }
}

fn read_record(record: &Record<'_>, out: &mut Out) {
    let Some(set) = out.object(record, "an eval set") else { return };
    for case in adk::get(set, "eval_cases").into_iter().flat_map(Value::items) {
        let mut b = new_case(record, case, out);
        let conversation = case.items_at("conversation");
        let mut parts = adk::AdkParts::default();
        conversation.for_each(|i| invocation(&mut b, &mut parts, record, i));
        out.push(b.finish());
    }
    for case in adk::get(set, "eval_case_results").into_iter().flat_map(Value::items) {
        out.push(result(record, case, out).finish());
    }
    if set.get("data").is_some_and(Value::is_array) {
        let mut b = out.builder(&AdkEvalset);
        b.run.name = record.text_at(set, "name");
        let turns = set.items_at("data");
        turns.for_each(|turn| adk::old_turn(&mut b, record, turn));
        out.push(b.finish());
    }
}

fn new_case(record: &Record<'_>, case: Value<'_>, out: &Out) -> TrajectoryBuilder {
    let mut b = out.builder(&AdkEvalset);
    b.run.id = adk::get(case, "eval_id").and_then(|id| record.text(id));
    b.run.name.clone_from(&b.run.id);
    let input = adk::get(case, "session_input");
    let app = input.and_then(|i| adk::get(i, "app_name"));
    b.run.agent.name = app.and_then(|a| record.text(a));
    b
}

/// Reads the run behind the result of a case; the expected run is in the eval set.
fn result(record: &Record<'_>, case: Value<'_>, out: &Out) -> TrajectoryBuilder {
    let mut b = new_case(record, case, out);
    if let Some(session) = adk::get(case, "session_id").and_then(|s| record.text(s)) {
        b.run.id = Some(session);
    }
    b.run.outcome = adk::get(case, "final_eval_status").and_then(|s| record.label(s));
    if let Some(status) = adk::get(case, "final_eval_status") {
        eval_status(&mut b, record, status);
    }
    let mut parts = adk::AdkParts::default();
    let list = adk::get(case, "eval_metric_result_per_invocation");
    let list = list.into_iter().flat_map(Value::items);
    for actual in list.filter_map(|i| adk::get(i, "actual_invocation")) {
        invocation(&mut b, &mut parts, record, actual);
    }
    b
}

/// The status of an evaluation: a word, or the number of one (3 is not evaluated).
fn eval_status(b: &mut TrajectoryBuilder, record: &Record<'_>, status: Value<'_>) {
    let outcome = match (status.as_i64(), status.inner()) {
        (Some(1), _) | (_, Some("PASSED" | "passed")) => DeclaredOutcome::Passed,
        (Some(2), _) | (_, Some("FAILED" | "failed")) => DeclaredOutcome::Failed,
        _ => return,
    };
    let says = format!("final_eval_status {}", outcome.word());
    declared::declare(&mut b.run, record, outcome, says, status);
}

/// Reads one exchange: the user's message, the calls and the answer.
fn invocation(
    b: &mut TrajectoryBuilder,
    parts: &mut adk::AdkParts,
    record: &Record<'_>,
    invocation: Value<'_>,
) {
    let at = record.at_value(invocation);
    if !invocation.is_object() {
        b.unknown("invocation that is not an object", at);
        return;
    }
    let time = adk::stated_time(invocation, "creation_timestamp");
    let user = adk::get(invocation, "user_content");
    b.user(adk::user_text(record, user), time, at.clone());
    let id = adk::get(invocation, "invocation_id").and_then(|id| record.text(id));
    let step = b.step(None, time, at);
    b.run.steps[step as usize].id = id;
    let between = adk::get(invocation, "intermediate_data");
    let lists = |key| between.and_then(|d| adk::get(d, key)).into_iter().flat_map(Value::items);
    for call in lists("tool_uses") {
        parts.call(b, record, call, step, None);
    }
    for response in lists("tool_responses") {
        parts.response(b, record, response, None);
    }
    // Pairs of an author and its parts.
    for said in lists("intermediate_responses") {
        for part in said.items().flat_map(Value::items) {
            parts.part(b, record, part, Some(step), None);
        }
    }
    for event in lists("invocation_events") {
        let before = b.run.calls.len();
        for part in adk::parts(event.get("content")) {
            parts.part(b, record, part, Some(step), None);
        }
        let author = record.text_at(event, "author");
        for call in b.run.calls.iter_mut().skip(before) {
            call.agent.clone_from(&author);
        }
    }
    for part in adk::parts(adk::get(invocation, "final_response")) {
        parts.part(b, record, part, Some(step), None);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_text, sketch};

    fn sketched(text: &str) -> String {
        let read = read_text(text);
        assert_eq!(read.format, "adk-evalset");
        read.runs.iter().map(sketch).collect::<Vec<_>>().join("--\n")
    }

    #[test]
    fn cases_are_runs() {
        assert_eq!(
            sketched(
                r#"{"eval_set_id":"s","eval_cases":[
                {"eval_id":"one","conversation":[{"invocation_id":"i","user_content":{"parts":[{"text":"go"}]},
                    "intermediate_data":{"tool_uses":[{"id":"a","name":"ls","args":{"p":1}},{"id":null,"name":"rm","args":{}},{"name":"cp","args":{}}],
                        "tool_responses":[{"id":"a","name":"ls","response":{"is_error":true}},{"name":"cp","response":{}},{"id":"z","name":"mv","response":{}}],
                        "intermediate_responses":[["bot",[{"text":"wait"}]]]},
                    "final_response":{"parts":[{"text":"done","function_call":null}]}},7]},
                {"eval_id":"two","conversation":[]}]}"#
            ),
            "user: go\n\
             0 call ls {\"p\":1} -> failed(protocol): {\"is_error\":true}\n\
             0 call rm {} -> unanswered(absent): \n\
             0 call cp {} -> unknown(absent): {}\n\
             orphanresult: {}\n\
             0 message: wait\n\
             0 message: done\n\
             unknown invocation that is not an object\n\
             --\n"
        );
    }

    #[test]
    fn events_in_camel_case() {
        assert_eq!(
            sketched(
                r#"{"evalSetId":"s","evalCases":[{"evalId":"one","conversation":[{"userContent":{"parts":[{"text":"go"}]},
                "intermediateData":{"invocationEvents":[{"author":"bot","content":{"parts":[{"functionCall":{"id":"a","name":"ls","args":{}}}]}},
                    {"author":"bot","content":{"parts":[{"functionResponse":{"id":"a","name":"ls","response":{"result":"x"}}}]}}]},
                "finalResponse":{"parts":[{"text":"done"}]}}]}]}"#
            ),
            "user: go\n0 call ls {} -> unknown(absent): {\"result\":\"x\"}\n0 message: done\n"
        );
    }

    #[test]
    fn old_sets_and_results() {
        assert_eq!(
            sketched(
                r#"[{"name":"one","data":[{"query":"go","expected_tool_use":[{"tool_name":"ls","tool_input":{},"mock_tool_output":"x"}],"reference":"done"}],"initial_session":{}}]"#
            ),
            "user: go\n0 call ls {} -> unknown(absent): x\n0 message: done\n"
        );
        assert_eq!(
            sketched(
                r#"{"eval_set_result_id":"r","eval_case_results":[{"eval_id":"one","final_eval_status":1,"session_id":"t","eval_metric_result_per_invocation":[
                {"actual_invocation":{"user_content":{"parts":[{"text":"go"}]},"intermediate_data":{"tool_uses":[{"name":"ls","args":{}}]}},
                 "expected_invocation":{"user_content":{"parts":[{"text":"go"}]}}}]}]}"#
            ),
            "user: go\n0 call ls {} -> unanswered(absent): \n"
        );
    }
}
