//! tau2-bench results: `{info, tasks, simulations}` in one document, or only the simulations,
//! as an array.
//!
//! Each simulation is a conversation between the agent and a simulated user, who may also call
//! tools: such calls have `user` as their `requestor` and are in the user's messages. Results
//! repeat the call's ID and carry `error`; results of parallel calls may be grouped under
//! `tool_messages`.

use super::shared::chat;
use super::shared::declared::{self, Full};
use super::shared::readers::each_record;
use crate::builder::{ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{Actor, Cost, Fact, Fidelity, Text, time};
use jiff::Timestamp;
use toolmark_scan::Value;

/// tau2-bench results.
pub(crate) struct Tau2Bench;

static INFO: FormatInfo = FormatInfo {
    id: "tau2-bench",
    title: "tau2-bench results",
    origin: "sierra-research/tau2-bench, data/simulations/*.json",
    versions: "2025 and later, text conversations",
    looks_for: "simulations, or objects with messages and termination_reason",
    fidelity: Fidelity::lacking(&[Fact::ExitCodes, Fact::ToolDefinitions, Fact::WorkingDirectory]),
};

impl Format for Tau2Bench {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let is_file = |r: Value<'_>| {
            r.get("simulations").is_some_and(|s| s.is_array())
                && (r.has("info") || r.has("tasks") || r.has("timestamp"))
        };
        if probe.any(|r| is_file(r) || is_simulation(r)) { 100 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        each_record(read_record)
    }
}

fn is_simulation(value: Value<'_>) -> bool {
    value.get("messages").is_some_and(|m| m.is_array())
        && value.has("termination_reason")
        && value.has("task_id")
}

fn read_record(record: &Record<'_>, out: &mut Out) {
    let Some(value) = out.object(record, "a tau2-bench result") else { return };
    match value.get("simulations") {
        Some(simulations) => {
            for simulation in simulations.items() {
                if simulation.is_object() {
                    read_simulation(record, simulation, Some(value), out);
                } else {
                    out.skip_run(&record.at_value(simulation), "not a simulation");
                }
            }
        }
        None if value.has("messages") => read_simulation(record, value, None, out),
        None => out.skip(&record.at(), "not a simulation: expected messages"),
    }
}

fn read_simulation(
    record: &Record<'_>,
    simulation: Value<'_>,
    file: Option<Value<'_>>,
    out: &mut Out,
) {
    let mut b = out.builder(&Tau2Bench).with_repeating_ids();
    if !simulation.get("messages").is_some_and(Value::is_array) {
        b.run.fidelity.lose(Fact::Calls);
    }
    let text = |key: &str| simulation.get(key).and_then(|v| record.label(v));
    b.run.id = text("id");
    b.run.name = text("task_id");
    b.run.outcome = text("termination_reason");
    let reward = simulation.get("reward_info").map(|info| info.get("reward").unwrap_or(info));
    if let Some(reward) = reward.or_else(|| simulation.get("reward")) {
        declared::verdict(&mut b.run, record, "reward", reward, Full::OnlyOne);
    }
    let usd = simulation.get("agent_cost").and_then(Value::as_f64);
    b.run.cost = usd.and_then(Cost::from_usd);
    for key in ["start_time", "end_time"] {
        b.seen(simulation.get(key).and_then(time::from_value));
    }
    expect_actions(&mut b, record, simulation, file);
    if let Some(info) = file.and_then(|file| file.get("info")) {
        let at = |path: &[&str]| info.at(path).and_then(|v| record.text(v));
        b.run.agent.name = at(&["agent_info", "implementation"]);
        b.run.agent.model = at(&["agent_info", "llm"]);
        // The agent's system prompt is built from it and recorded nowhere else.
        if let Some(policy) = info.at(&["environment_info", "policy"]).filter(|p| p.is_string()) {
            b.context(Some(record.payload(policy)), None, record.at_value(policy));
        }
    }
    for message in simulation.items_at("messages") {
        read_message(&mut b, record, message);
    }
    b.add_usage_of_steps();
    out.push(b.finish());
}

/// Adds the actions that the task expects. They are beside the reward, or with the task.
fn expect_actions(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    simulation: Value<'_>,
    file: Option<Value<'_>>,
) {
    let reward = simulation.get("reward_info");
    let id = simulation.get("task_id").and_then(|id| record.label(id));
    let is_task = |task: &Value<'_>| {
        let task = task.get("id").and_then(|id| record.label(id));
        task.zip(id.as_ref()).is_some_and(|(task, id)| task.get() == id.get())
    };
    let task = file.and_then(|file| file.items_at("tasks").find(is_task));
    let criteria = task.and_then(|task| task.get("evaluation_criteria"));
    match reward.filter(|reward| reward.get("action_checks").is_some_and(|it| it.is_array())) {
        Some(reward) => {
            let actions = reward.items_at("action_checks").filter_map(|check| check.get("action"));
            // The task with the same id may be another version.
            let checks = reward.items_at("communicate_checks");
            let answers = checks.filter_map(|check| check.get("info"));
            declared::expect(&mut b.run, record, actions, answers);
        }
        None => {
            let Some(criteria) = criteria.filter(|it| it.has("actions")) else { return };
            let answers = criteria.items_at("communicate_info");
            declared::expect(&mut b.run, record, criteria.items_at("actions"), answers);
        }
    }
}

fn read_message(b: &mut TrajectoryBuilder, record: &Record<'_>, message: Value<'_>) {
    let at = record.at_value(message);
    let time = message.get("timestamp").and_then(time::from_value);
    let content = message.get("content");
    let payload = content.map(|c| record.payload(c));
    match message.word("role") {
        "system" => b.context(payload, time, at),
        "user" => {
            b.user(payload, time, at);
            read_calls(b, record, message, None, Actor::User, time);
        }
        "assistant" => {
            let step = b.step(None, time, at);
            b.run.steps[step as usize].usage = message.get("usage").and_then(chat::usage);
            if let Some(content) = content {
                chat::words(b, record, content, Some(step), time);
            }
            read_calls(b, record, message, Some(step), Actor::Agent, time);
        }
        "tool" => match message.get("tool_messages") {
            Some(group) => {
                for result in group.items() {
                    let own = result.get("timestamp").and_then(time::from_value);
                    read_result(b, record, result, own.or(time));
                }
            }
            None => read_result(b, record, message, time),
        },
        other => b.unknown(Text::owned(format!("message/{other}")), at),
    }
}

fn read_calls(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    message: Value<'_>,
    step: Option<u32>,
    by_role: Actor,
    time: Option<Timestamp>,
) {
    for call in message.items_at("tool_calls") {
        let actor = match call.get("requestor").and_then(Value::inner) {
            Some("user") => Actor::User,
            Some("assistant") => Actor::Agent,
            _ => by_role,
        };
        let index = b.call(chat::new_call(record, call, step, time));
        b.run.calls[index as usize].actor = actor;
    }
}

fn read_result(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    result: Value<'_>,
    time: Option<Timestamp>,
) {
    let mut answer =
        ReaderResult::new(record.payload_at(result, "content"), record.at_value(result)).time(time);
    if let Some(failed) = result.get("error").and_then(Value::as_bool) {
        answer = answer.protocol(failed);
    }
    b.answer(
        result.get("id").or_else(|| result.get("tool_call_id")).and_then(Value::str).as_deref(),
        answer,
    );
}

#[cfg(test)]
mod tests {
    use crate::model::Actor;
    use crate::testing::{read_text, sketch};

    const MESSAGES: &str = r#"[
      {"role":"assistant","content":"Hi!","timestamp":"2026-01-01T00:00:00"},
      {"role":"user","content":"no network","timestamp":"2026-01-01T00:00:01","usage":{"prompt_tokens":9,"completion_tokens":9}},
      {"role":"assistant","content":"","tool_calls":[
        {"id":"a","name":"look","arguments":{"n":1},"requestor":"assistant"},
        {"id":"b","name":"look","arguments":{"n":2},"requestor":"assistant"}],
        "usage":{"prompt_tokens":5,"completion_tokens":2},"timestamp":"2026-01-01T00:00:02"},
      {"role":"tool","tool_messages":[
        {"role":"tool","id":"a","content":"ok","error":false,"requestor":"assistant"},
        {"role":"tool","id":"b","content":"bad","error":true,"requestor":"assistant"}]},
      {"role":"user","content":null,"tool_calls":[{"id":"u","name":"toggle","arguments":{},"requestor":"user"}]},
      {"role":"tool","id":"u","content":"on","error":false,"requestor":"user","timestamp":"2026-01-01T00:00:09"},
      {"role":"tool","id":"nobody","content":"?","error":false},
      {"role":"stage","content":"x"},
      {"role":"assistant","tool_calls":[{"id":"z","name":"wait","arguments":"{"}]}]"#;

    #[test]
    fn the_user_calls_tools_too() {
        let text = format!(
            r#"{{"timestamp":"t","info":{{"agent_info":{{"implementation":"llm_agent","llm":"m"}}}},
            "tasks":[],"simulations":[{{"id":"s1","task_id":"7","termination_reason":"user_stop","agent_cost":0.5,"messages":{MESSAGES}}}, 3]}}"#
        );
        let read = read_text(&text);
        assert_eq!(read.format, "tau2-bench");
        assert_eq!((read.runs.len(), read.skipped), (1, 1));
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "0 message: Hi!\nuser: no network\n\
             1 call look {\"n\":1} -> succeeded(protocol): ok\n\
             1 call look {\"n\":2} -> failed(protocol): bad\n\
             user: \ncall toggle {} -> succeeded(protocol): on\n\
             orphanresult: ?\nunknown message/stage\n\
             2 call wait { -> unanswered(absent): \n"
        );
        assert_eq!(run.calls[2].actor, Actor::User);
        assert_eq!((run.user_turns, run.steps.len()), (2, 3));
        assert_eq!(run.usage.unwrap().recorded.input, 5);
        assert_eq!(run.outcome.as_ref().unwrap(), "user_stop");
        assert_eq!(run.agent.model.as_ref().unwrap(), "m");
    }

    #[test]
    fn simulations_may_stand_alone() {
        let text = format!(
            r#"[{{"task_id":"7","termination_reason":"max_steps","messages":{MESSAGES}}},
                {{"task_id":"8","termination_reason":null,"messages":[{{"role":"user"}},{{}}]}}]"#
        );
        let read = read_text(&text);
        assert_eq!(read.runs.len(), 2);
        assert_eq!(read.runs[0].calls.len(), 4);
    }
}
