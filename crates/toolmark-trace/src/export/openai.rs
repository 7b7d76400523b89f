//! OpenAI chat messages: one object `{model, messages, tools}` per trajectory.
//!
//! Results follow the response whose calls they answer, as the API requires. Chat messages
//! cannot represent reasoning, times, tokens or the status of a call.

use super::json::JsonMembers;
use super::rows::{ConversationRow, ConversationRows, ModelResponse};
use super::shared::{call_id, joined, words};
use super::{ExportInfo, Exporter, Losses, TrajectoryPart};
use crate::model::{Call, Event, Form, Payload, Status, ToolDefinition, Trajectory};
use std::borrow::Cow;
use std::io;

/// OpenAI chat messages.
pub(super) struct OpenAi;

static INFO: ExportInfo = ExportInfo {
    id: "openai",
    title: "OpenAI chat messages",
    extension: "jsonl",
    lacks: &[
        TrajectoryPart::Status(Status::Succeeded),
        TrajectoryPart::Status(Status::Failed),
        TrajectoryPart::Status(Status::Denied),
        TrajectoryPart::Status(Status::Interrupted),
        TrajectoryPart::Levels,
        TrajectoryPart::ExitCodes,
        TrajectoryPart::Reasoning,
        TrajectoryPart::SubAgents,
        TrajectoryPart::Skills,
        TrajectoryPart::Compactions,
        TrajectoryPart::Errors,
        TrajectoryPart::OrphanResults,
        TrajectoryPart::UnknownRecords,
        TrajectoryPart::Notes,
        TrajectoryPart::Actors,
        TrajectoryPart::CallAgents,
        TrajectoryPart::Spawned,
        TrajectoryPart::Namespaces,
        TrajectoryPart::AbsentCallIds,
        TrajectoryPart::AbsentArguments,
        TrajectoryPart::AbsentContent,
        TrajectoryPart::UnansweredStatus,
        TrajectoryPart::RunTimes,
        TrajectoryPart::StepTimes,
        TrajectoryPart::EventTimes,
        TrajectoryPart::CallTimes,
        TrajectoryPart::ResultTimes,
        TrajectoryPart::Durations,
        TrajectoryPart::Usage,
        TrajectoryPart::StepUsage,
        TrajectoryPart::Cost,
        TrajectoryPart::StepIds,
        TrajectoryPart::StepModels,
        TrajectoryPart::RunId,
        TrajectoryPart::Name,
        TrajectoryPart::AgentName,
        TrajectoryPart::AgentVersion,
        TrajectoryPart::WorkingDirectory,
        TrajectoryPart::Outcome,
        TrajectoryPart::Parent,
        TrajectoryPart::RepeatedResults,
        TrajectoryPart::FidelityGaps,
        TrajectoryPart::Source,
        TrajectoryPart::Positions,
        TrajectoryPart::Declared,
    ],
};

impl Exporter for OpenAi {
    fn info(&self) -> &'static ExportInfo {
        &INFO
    }

    fn export(&self, run: &Trajectory, out: &mut dyn io::Write) -> io::Result<Losses> {
        let mut losses = Losses::of(run, INFO.lacks);
        let rows = ConversationRows::of(run, &mut losses);
        let messages = rows.rows.iter().flat_map(|row| messages(row, &rows));
        JsonMembers::line(out, |w| {
            w.opt("model", run.agent.model.as_ref())?;
            w.array("messages", messages, |w, message| message.write(w, &mut losses))?;
            match &run.tools {
                Some(tools) => w.array("tools", tools, tool_definition),
                None => Ok(()),
            }
        })?;
        Ok(losses)
    }
}

/// A chat message.
enum OpenaiMessage<'a> {
    Said(&'static str, &'a Event),
    Assistant(&'a ModelResponse<'a>),
    Tool(usize, &'a Call, Option<&'a Payload>),
}

/// Returns the messages of a row: a response includes the results of its calls.
fn messages<'a>(
    row: &'a ConversationRow<'a>,
    rows: &'a ConversationRows<'a>,
) -> Vec<OpenaiMessage<'a>> {
    match row {
        ConversationRow::User(event) => vec![OpenaiMessage::Said("user", event)],
        ConversationRow::Context(event) => vec![OpenaiMessage::Said("system", event)],
        ConversationRow::Response(index) => {
            let response = &rows.responses[*index];
            let tool = |(index, call): &(usize, &'a Call)| {
                let result = call.result.as_ref()?;
                Some(OpenaiMessage::Tool(*index, call, result.payload.as_ref()))
            };
            let mut all = vec![OpenaiMessage::Assistant(response)];
            all.extend(response.calls.iter().filter_map(tool));
            all
        }
        ConversationRow::Orphan(_) | ConversationRow::Other(_) => Vec::new(),
    }
}

impl OpenaiMessage<'_> {
    fn write(&self, w: &mut JsonMembers<'_>, losses: &mut Losses) -> io::Result<()> {
        match self {
            Self::Said(role, event) => {
                w.put("role", role)?;
                let content = event.text.as_ref().map(|text| words(text, losses));
                w.put("content", &content.unwrap_or_default())
            }
            Self::Assistant(response) => {
                w.put("role", "assistant")?;
                let content = joined(&response.messages, losses);
                if response.calls.is_empty() {
                    return w.put("content", &content.unwrap_or_default());
                }
                w.put("content", &content)?;
                w.array("tool_calls", &response.calls, |w, (index, call)| {
                    w.put("id", &call_id(call, *index))?;
                    w.put("type", "function")?;
                    w.object("function", |w| function(w, call, losses))
                })
            }
            Self::Tool(index, call, payload) => {
                w.put("role", "tool")?;
                w.put("tool_call_id", &call_id(call, *index))?;
                let content = payload.map(|payload| words(payload, losses));
                w.put("content", &content.unwrap_or_default())
            }
        }
    }
}

/// Writes a function call; its arguments are JSON in text.
fn function(w: &mut JsonMembers<'_>, call: &Call, losses: &mut Losses) -> io::Result<()> {
    w.put("name", &call.name.full())?;
    let form = call.args.as_ref().map(Payload::form);
    losses.add(TrajectoryPart::ArgumentForms, usize::from(form == Some(Form::Json)));
    w.put("arguments", &call.args.as_ref().map_or(Cow::Borrowed("{}"), Payload::raw))
}

/// Writes the definition of an offered tool, in the form that ATIF and OpenTelemetry share.
pub(super) fn tool_definition(w: &mut JsonMembers<'_>, tool: &ToolDefinition) -> io::Result<()> {
    w.put("type", "function")?;
    w.object("function", |w| {
        w.put("name", &tool.name)?;
        w.opt("description", tool.description.as_ref())?;
        match &tool.schema {
            Some(schema) => w.payload("parameters", schema),
            None => Ok(()),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::testing::{everything, export, lines};

    #[test]
    fn results_follow_their_calls() {
        let (text, losses) = export(&OpenAi, &everything());
        let objects = lines(&text);
        assert_eq!(objects.len(), 1);
        let messages = objects[0]["messages"].as_array().unwrap();
        let roles: Vec<&str> = messages.iter().map(|m| m["role"].as_str().unwrap()).collect();
        let want = [
            "system",
            "user",
            "assistant",
            "tool",
            "tool",
            "tool",
            "assistant",
            "tool",
            "user",
            "assistant",
            "tool",
            "assistant",
        ];
        assert_eq!(roles, want);
        let calls = &messages[2]["tool_calls"];
        assert_eq!(calls[0]["type"], "function");
        assert_eq!(calls[0]["function"]["arguments"], r#"{"command":"ls","n":1.0}"#);
        assert_eq!(messages[3]["tool_call_id"], calls[0]["id"]);
        assert_eq!(messages[4]["content"], "line\ntwo");
        assert_eq!(messages[5]["content"], "");
        assert_eq!(messages[6]["content"], serde_json::Value::Null);
        assert_eq!(messages[6]["tool_calls"][0]["function"]["arguments"], "{}");
        assert_eq!(messages[10]["tool_call_id"], messages[9]["tool_calls"][0]["id"]);
        assert_eq!(objects[0]["model"], "claude-x");
        assert_eq!(objects[0]["tools"][0]["function"]["parameters"]["type"], "object");
        assert_eq!(losses.count(TrajectoryPart::Status(Status::Failed)), 1);
        assert_eq!(losses.count(TrajectoryPart::SubAgents), 1);
        assert!(losses.to_string().contains("reasoning: 1"), "{losses}");
    }
}
