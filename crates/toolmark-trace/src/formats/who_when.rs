//! Failure logs of agents that talk to each other, as in the Who&When dataset: one document with
//! the question, the `history` of messages, and who made the mistake. Histories of Magentic-One
//! have the agent as the role (`Orchestrator (-> WebSurfer)`), generated ones as the `name`.
//!
//! Agents act by text and code blocks; no calls are recorded.

use super::shared::readers::each_record;
use crate::builder::TrajectoryBuilder;
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{DeclaredOutcome, Fact, Fidelity, RunDeclaration, Text};
use toolmark_scan::Value;

/// Failure logs of several agents.
pub(crate) struct WhoWhen;

static INFO: FormatInfo = FormatInfo {
    id: "who-when",
    title: "Who&When failure log",
    origin: "the Who&When dataset, and histories of Magentic-One in its shape",
    versions: "hand-crafted and generated logs",
    looks_for: "history with content and role, and mistake_agent or question_ID",
    fidelity: Fidelity::lacking(&[
        Fact::Calls,
        Fact::CallIds,
        Fact::Arguments,
        Fact::Results,
        Fact::Status,
        Fact::ExitCodes,
        Fact::Times,
        Fact::Durations,
        Fact::Parallel,
        Fact::Tokens,
        Fact::Cost,
        Fact::Model,
        Fact::SubAgents,
        Fact::ToolDefinitions,
        Fact::WorkingDirectory,
    ]),
};

impl Format for WhoWhen {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let is_log = |log: Value<'_>| {
            let is_message = |m: Value<'_>| m.has("content") && (m.has("role") || m.has("name"));
            log.items_at("history").next().is_some_and(is_message)
                && ["mistake_agent", "mistake_step", "question_ID"].iter().any(|key| log.has(key))
        };
        if probe.any(is_log) { 97 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        each_record(read_log)
    }
}

fn read_log(record: &Record<'_>, out: &mut Out) {
    let Some(log) = out.object(record, "a failure log") else { return };
    let mut b = out.builder(&WhoWhen);
    b.run.id = record.text_at(log, "question_ID");
    let is_correct = log.get("is_correct").or_else(|| log.get("is_corrected"));
    if let Some(correct) = is_correct.and_then(Value::as_bool) {
        b.run.declared = Some(RunDeclaration {
            outcome: if correct { DeclaredOutcome::Passed } else { DeclaredOutcome::Failed },
            says: Text::owned(format!("is_correct {correct}")),
            at: record.at_value(log),
        });
    }
    let has_question = log.items_at("history").next().is_some_and(is_of_person);
    if let Some(question) = log.get("question").filter(|_| !has_question) {
        b.user(Some(record.payload(question)), None, record.at_value(question));
    }
    log.items_at("history").for_each(|item| message(&mut b, record, item));
    b.run.stated.row = Some(record.payload(log));
    out.push(b.finish());
}

fn is_of_person(message: Value<'_>) -> bool {
    message.get("name").is_none() && matches!(message.word("role"), "human" | "user")
}

fn message(b: &mut TrajectoryBuilder, record: &Record<'_>, message: Value<'_>) {
    let at = record.at_value(message);
    let Some(content) = message.get("content") else {
        return b.unknown("message/without content", at);
    };
    let text = record.payload(content);
    if is_of_person(message) {
        return b.user(Some(text), None, at);
    }
    // Agents differ by name; a message from one to another is part of the run.
    let role = message.word("role");
    let step = b.step(None, None, at.clone());
    if role.contains("(thought)") {
        b.reasoning(step, Some(text), None, at);
    } else {
        b.message(step, text, None, at);
    }
    let agent = ["name", "role"].iter().find_map(|key| record.text_at(message, key));
    if let Some(agent) = agent {
        b.label(agent);
    }
}

#[cfg(test)]
mod tests {
    use crate::model::RecordedCalls;
    use crate::testing::{read_fixture, sketch};

    #[test]
    fn logs() {
        let read = read_fixture("who-when.jsonl");
        assert_eq!((read.format, read.runs.len()), ("who-when", 2));
        assert_eq!(
            sketch(&read.runs[0]),
            "user: How tall is the tower?\n\
             0 reasoning: ask the browser\n\
             1 message: search for the tower\n\
             2 message: It is 12 m.\n"
        );
        assert_eq!(
            sketch(&read.runs[1]),
            "user: Sum the list\n0 message: ```python\nprint(6)\n```\n1 message: 6\n"
        );
        assert_eq!(read.runs[0].calls_recorded(), RecordedCalls::Not);
    }
}
