//! SWE-agent trajectories (`.traj`): one document with `trajectory`, `history` and `info`.
//!
//! Each step of `trajectory` has the model's `response`, its `thought`, one `action` and the
//! `observation`. An action is a line for the agent's shell, whose own commands (`open`,
//! `edit`, `submit`) are shell functions, so its first word is the tool. Since 1.0, the model
//! may call functions; `action` is then their rendered form and `history` has the call
//! itself. Both are the same call, which is read from `trajectory`. Some files have only
//! `history`, in which demonstrations (`is_demo`) are text for the model and not calls of
//! this run. Failures of actions are not recorded.

use super::shared::chat;
use super::shared::declared;
use super::shared::readers::each_record;
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{
    Convention, Cost, EventKind, Fact, Fidelity, Payload, Text, ToolName, Usage, UsageTokens, time,
};
use toolmark_scan::{Scanner, Value};

/// SWE-agent trajectories.
pub(crate) struct SweAgent;

static INFO: FormatInfo = FormatInfo {
    id: "swe-agent",
    title: "SWE-agent trajectory",
    origin: "SWE-agent/SWE-agent, trajectories/**/*.traj",
    versions: "0.x and 1.x",
    looks_for: "trajectory with action and observation, or history with message_type",
    fidelity: Fidelity::lacking(&[
        Fact::Status,
        Fact::ExitCodes,
        Fact::Times,
        Fact::ToolDefinitions,
    ]),
};

impl Format for SweAgent {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let has_steps = |r: Value<'_>| {
            let first = r.get("trajectory").and_then(|t| t.items().next());
            first.is_some_and(|s| s.has("action") && s.has("observation"))
        };
        let has_history = |r: Value<'_>| {
            let history = r.get("history");
            history.into_iter().flat_map(Value::items).take(4).any(|m| {
                m.has("role") && m.has("content") && (m.has("message_type") || m.has("agent"))
            })
        };
        if probe.any(|r| has_steps(r) || has_history(r)) { 100 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        each_record(read_record)
    }
}

fn read_record(record: &Record<'_>, out: &mut Out) {
    let Some(document) = out.object(record, "a SWE-agent trajectory") else { return };
    let mut b = out.builder(&SweAgent);
    b.run.agent.name = Some(Text::owned("swe-agent"));
    b.run.id = record.text_at(document, "instance_id");
    let history = document.get("history");
    let steps = document.get("trajectory").filter(|t| t.items().next().is_some());
    if let Some(steps) = steps {
        let until = |m: &Value<'_>| !is_assistant(*m) || is_demo(*m);
        for message in history.into_iter().flat_map(Value::items).take_while(until) {
            read_prompt(&mut b, record, message);
        }
        for step in steps.items() {
            read_step(&mut b, record, step);
        }
    } else {
        if history.is_none() {
            b.run.fidelity.lose(Fact::Calls);
        }
        let mut open = None;
        for message in history.into_iter().flat_map(Value::items) {
            read_history(&mut b, record, message, &mut open);
        }
    }
    if let Some(info) = document.get("info") {
        read_info(&mut b, record, info);
    }
    out.push(b.finish());
}

fn is_assistant(message: Value<'_>) -> bool {
    message.field_is("role", "assistant")
}

fn is_demo(message: Value<'_>) -> bool {
    message.is_true("is_demo")
}

/// Reads a message before the model's first answer.
fn read_prompt(b: &mut TrajectoryBuilder, record: &Record<'_>, message: Value<'_>) {
    let text = record.payload_at(message, "content");
    let at = record.at_value(message);
    if message.field_is("role", "user") && !is_demo(message) {
        b.user(text, None, at);
    } else {
        b.context(text, None, at);
    }
}

fn read_step(b: &mut TrajectoryBuilder, record: &Record<'_>, item: Value<'_>) {
    let at = record.at_value(item);
    let step = b.step(None, None, at.clone());
    let says = |key: &str| item.get(key).filter(|t| t.is_string() && !t.is(""));
    let action = says("action");
    let words = says("thought").or_else(|| says("response").filter(|_| action.is_none()));
    if let Some(words) = words {
        b.message(step, record.payload(words), None, record.at_value(words));
    }
    if b.run.cwd.is_none() {
        b.run.cwd = item.get("state").and_then(|state| working_dir(record, state));
    }
    let observation = item.get("observation");
    let Some(action) = action else {
        if !item.has("action") {
            let kind = EventKind::Unknown(Text::owned("step without action"));
            b.event(kind, None, Some(step), None, at);
        }
        if let Some(text) = observation.filter(|o| !o.is("")) {
            b.context(Some(record.payload(text)), None, record.at_value(text));
        }
        return;
    };
    let call = b.call(action_call(record, action, step));
    if let Some(observation) = observation {
        let seconds = item.get("execution_time").and_then(Value::as_f64);
        let answer =
            ReaderResult::new(Some(record.payload(observation)), record.at_value(observation))
                .duration(seconds.and_then(|s| time::millis(s * 1e3)));
        b.answer_call(call, answer);
    }
}

/// Returns an action as a call: its first word is the tool, the whole action is the argument.
fn action_call(record: &Record<'_>, action: Value<'_>, step: u32) -> NewCall {
    let text = action.str().unwrap_or_default();
    let name = text.split_whitespace().next().unwrap_or("");
    NewCall {
        id: None,
        name: ToolName::new(name),
        args: Some(record.payload(action)),
        step: Some(step),
        time: None,
        at: record.at_value(action),
    }
}

/// Returns the environment's directory after a step; `state` is JSON text in old files.
fn working_dir(record: &Record<'_>, state: Value<'_>) -> Option<Text> {
    if state.is_object() {
        return record.text_at(state, "working_dir").filter(|d| !d.is_empty());
    }
    let text = state.str()?;
    let mut scanner = Scanner::new();
    let directory = scanner.parse(&text).ok()?.root().get_str("working_dir")?;
    (!directory.is_empty()).then(|| Text::owned(directory))
}

/// Reads a message of a file without `trajectory`. `open` is the last call made in text, which
/// the next message of the environment answers.
fn read_history(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    message: Value<'_>,
    open: &mut Option<u32>,
) {
    let at = record.at_value(message);
    let payload = record.payload_at(message, "content");
    if is_demo(message) {
        b.context(payload, None, at);
        return;
    }
    match message.word("role") {
        "system" => b.context(payload, None, at),
        "assistant" => *open = read_assistant(b, record, message),
        "tool" => {
            let mut ids = message.items_at("tool_call_ids");
            let id = ids.next().or_else(|| message.get("tool_call_id")).and_then(Value::str);
            let answer = ReaderResult::new(payload, at);
            match (id, open.take()) {
                (Some(id), _) => {
                    b.answer(&*id, answer);
                }
                (None, Some(call)) => b.answer_call(call, answer),
                (None, None) => b.orphan(answer),
            }
        }
        "user" => match open.take() {
            Some(call) => b.answer_call(call, ReaderResult::new(payload, at)),
            None if b.run.steps.is_empty() => b.user(payload, None, at),
            None => b.context(payload, None, at),
        },
        other => b.unknown(Text::owned(format!("history/{other}")), at),
    }
}

/// Returns the call that the next message answers by position.
fn read_assistant(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    message: Value<'_>,
) -> Option<u32> {
    let step = b.step(None, None, record.at_value(message));
    let action = message.get("action").filter(|a| a.is_string() && !a.is(""));
    let thought = message.get("thought").filter(|t| t.is_string());
    if let Some(words) = thought.or_else(|| message.get("content")) {
        chat::words(b, record, words, Some(step), None);
    }
    let mut last = None;
    for call in message.items_at("tool_calls") {
        let call = chat::new_call(record, call, Some(step), None);
        last = Some(b.call(call));
    }
    last.or_else(|| action.map(|action| b.call(action_call(record, action, step))))
}

fn read_info(b: &mut TrajectoryBuilder, record: &Record<'_>, info: Value<'_>) {
    b.run.outcome = record.text_at(info, "exit_status");
    declared::members(&mut b.run, record, info);
    b.run.agent.version = record.text_at(info, "swe_agent_version");
    if let Some(submission) = info.get("submission") {
        let text: Payload = record.payload(submission);
        let kind = EventKind::Note(Text::owned("submission"));
        b.event(kind, Some(text), None, None, record.at_value(submission));
    }
    let Some(stats) = info.get("model_stats").filter(|s| s.is_object()) else { return };
    b.run.cost = stats.get("instance_cost").and_then(Value::as_f64).and_then(Cost::from_usd);
    let count = |key: &str| stats.get(key).and_then(Value::as_u64);
    if let (Some(input), Some(output)) = (count("tokens_sent"), count("tokens_received")) {
        let recorded = UsageTokens { input, output, ..UsageTokens::default() };
        b.run.usage = Some(Usage::new(recorded, Convention::INCLUSIVE));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, read_text, sketch};

    #[test]
    fn a_step_is_one_call() {
        let read = read_fixture("swe-agent.json");
        assert_eq!(read.format, "swe-agent");
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "context: sys\ncontext: a demo\ncontext: demo answer\nuser: fix it\n\
             0 message: look\n0 call ls ls -F\n -> unknown(absent): a.py\n\
             1 message: hm\ncontext: try again\n\
             2 call submit submit -> unanswered(absent): \nnote submission\n"
        );
        assert_eq!(run.cwd.as_ref().unwrap(), "/repo");
        assert_eq!(run.calls[0].duration.unwrap().as_millis(), 500);
        assert_eq!(run.usage.unwrap().total(), 12);
        assert_eq!(run.outcome.as_ref().unwrap(), "submitted");
    }

    #[test]
    fn history_alone() {
        let read = read_text(
            r#"{"history":[
              {"role":"system","content":"sys","agent":"main","message_type":"system_prompt"},
              {"role":"user","content":"task","agent":"main","message_type":"observation"},
              {"role":"assistant","content":"x","thought":"go","action":"ls","agent":"main","message_type":"action","tool_calls":[
                {"id":"1","type":"function","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}},
                {"id":"2","type":"function","function":{"name":"find_file","arguments":"{}"}}]},
              {"role":"tool","content":"a","tool_call_ids":["1"],"message_type":"observation"},
              {"role":"tool","content":"lost","tool_call_ids":["7"],"message_type":"observation"},
              {"role":"assistant","content":"again","action":"pwd","message_type":"action"},
              {"role":"user","content":"/w","message_type":"observation"},
              {"role":"tool","content":"odd"},
              {"role":"judge","content":3}, 4]}"#,
        );
        assert_eq!(
            sketch(&read.runs[0]),
            "context: sys\nuser: task\n0 message: go\n\
             0 call bash {\"command\":\"ls\"} -> unknown(absent): a\n\
             0 call find_file {} -> unanswered(absent): \n\
             orphanresult: lost\n1 message: again\n\
             1 call pwd pwd -> unknown(absent): /w\n\
             orphanresult: odd\nunknown history/judge\nunknown history/\n"
        );
    }
}
