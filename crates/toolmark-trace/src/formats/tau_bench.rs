//! tau-bench results: one array, one element per simulated conversation
//! (`task_id`, `trial`, `reward`, `traj`).
//!
//! `traj` is a list of OpenAI chat messages. The user is simulated by a model but never calls
//! tools. Failed calls are not marked: the environment answers with text that starts with
//! `Error`.

use super::shared::chat;
use super::shared::declared::{self, Full};
use super::shared::readers::each_record;
use crate::builder::{ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{Fact, Fidelity, Status, StatusLevel, Text};
use toolmark_scan::Value;

/// tau-bench results.
pub(crate) struct TauBench;

static INFO: FormatInfo = FormatInfo {
    id: "tau-bench",
    title: "tau-bench results",
    origin: "sierra-research/tau-bench, results/*.json",
    versions: "2024 and later, tool-calling agents",
    looks_for: "an array of objects with task_id, reward and traj",
    fidelity: Fidelity::lacking(&[
        Fact::ExitCodes,
        Fact::Times,
        Fact::Durations,
        Fact::Tokens,
        Fact::Model,
        Fact::ToolDefinitions,
        Fact::WorkingDirectory,
    ]),
};

impl Format for TauBench {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let has_traj = |r: Value<'_>| r.get("traj").is_some_and(|t| t.is_array());
        if probe.any(|r| has_traj(r) && r.has("task_id") && r.has("reward")) {
            return 100;
        }
        if probe.any(has_traj) { 30 } else { 0 }
    }

    fn answers_calls(&self) -> bool {
        true
    }

    fn reader(&self) -> Box<dyn Reader> {
        each_record(read_record)
    }
}

fn read_record(record: &Record<'_>, out: &mut Out) {
    let run = record.json().filter(|v| v.is_object());
    let Some((run, messages)) = run.and_then(|r| Some((r, r.get("traj")?))) else {
        out.skip(&record.at(), "not a tau-bench result: expected an object with traj");
        return;
    };
    // Ids were seen to repeat within one conversation.
    let mut b = out.builder(&TauBench).with_repeating_ids();
    describe(&mut b, record, run);
    for message in messages.items() {
        read_message(&mut b, record, message);
    }
    out.push(b.finish());
}

fn describe(b: &mut TrajectoryBuilder, record: &Record<'_>, run: Value<'_>) {
    let task = run.get("task_id").and_then(|t| record.label(t));
    let trial = run.get("trial").and_then(|t| record.label(t));
    b.run.id = match (&task, &trial) {
        (Some(task), Some(trial)) => Some(Text::owned(format!("{task}/{trial}"))),
        _ => task.clone(),
    };
    b.run.name = task;
    b.run.outcome = run.get("reward").and_then(|r| {
        let reward = record.label(r)?;
        Some(Text::owned(format!("reward {reward}")))
    });
    if let Some(reward) = run.get("reward") {
        declared::verdict(&mut b.run, record, "reward", reward, Full::OnlyOne);
    }
    let task = run.at(&["info", "task"]).filter(|task| task.has("actions"));
    if let Some(task) = task {
        let (actions, answers) = (task.items_at("actions"), task.items_at("outputs"));
        declared::expect(&mut b.run, record, actions, answers);
    }
    let usd = run.at(&["info", "total_cost"]).and_then(Value::as_f64);
    b.run.cost = usd.and_then(crate::model::Cost::from_usd);
}

fn read_message(b: &mut TrajectoryBuilder, record: &Record<'_>, message: Value<'_>) {
    let at = record.at_value(message);
    let content = message.get("content");
    let payload = content.map(|c| record.payload(c));
    match message.word("role") {
        "system" | "developer" => b.context(payload, None, at),
        "user" => b.user(payload, None, at),
        "assistant" => {
            let step = b.step(None, None, at);
            if let Some(content) = content {
                chat::words(b, record, content, Some(step), None);
            }
            for call in message.items_at("tool_calls") {
                b.call(chat::new_call(record, call, Some(step), None));
            }
        }
        "tool" => {
            let failed = content.and_then(Value::inner).is_some_and(|t| t.starts_with("Error"));
            // An error says so in words; everything else is the tool's answer.
            let status = if failed { Status::Failed } else { Status::Succeeded };
            let answer = ReaderResult::new(payload, at).status(status, StatusLevel::Prose);
            b.answer(message.get("tool_call_id").and_then(Value::str).as_deref(), answer);
        }
        other => b.unknown(format!("message/{other}"), at),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, read_text, sketch};

    #[test]
    fn each_element_is_a_run() {
        let read = read_fixture("tau-bench.json");
        assert_eq!(read.format, "tau-bench");
        assert_eq!((read.runs.len(), read.skipped), (2, 1));
        assert_eq!(
            sketch(&read.runs[0]),
            "context: policy\nuser: book it\n\
             0 call find {\"x\":1} -> failed(prose): Error: none left\n\
             0 call book {} -> unanswered(absent): \n\
             orphanresult: lost\nunknown message/narrator\n1 message: sorry\n"
        );
        assert_eq!(read.runs[0].id.as_ref().unwrap(), "3/0");
        assert_eq!(read.runs[1].steps.len(), 1);
    }

    #[test]
    fn ids_used_again_pair_in_order() {
        let read = read_text(
            r#"[{"task_id":1,"reward":0,"traj":[
              {"role":"assistant","tool_calls":[{"id":"c","function":{"name":"ls","arguments":"{}"}}]},
              {"role":"tool","tool_call_id":"c","content":"one"},
              {"role":"assistant","tool_calls":[{"id":"c","function":{"name":"ls","arguments":"{}"}}]},
              {"role":"tool","tool_call_id":"c","content":"two"}]}]"#,
        );
        assert_eq!(
            sketch(&read.runs[0]),
            "0 call ls {} -> succeeded(prose): one\n1 call ls {} -> succeeded(prose): two\n"
        );
    }
}
