//! AgentV transcripts: `agentv.transcript.v1`, one line per message.
//!
//! A model response is one assistant message; each of its calls has its own output, status
//! and times. Data about the whole transcript is repeated on every line, as AgentV's
//! importers do.

use super::json::JsonMembers;
use super::rows::{ConversationRow, ConversationRows, ModelResponse};
use super::shared::{Argument, call_id, joined, words};
use super::{ExportInfo, Exporter, Losses, TrajectoryPart};
use crate::model::{Call, Event, Status, Text, Trajectory, Usage};
use std::borrow::Cow;
use std::io;

/// AgentV transcripts.
pub(super) struct AgentV;

static INFO: ExportInfo = ExportInfo {
    id: "agentv",
    title: "AgentV transcript",
    extension: "jsonl",
    lacks: &[
        TrajectoryPart::Status(Status::Denied),
        TrajectoryPart::Levels,
        TrajectoryPart::ExitCodes,
        TrajectoryPart::Reasoning,
        TrajectoryPart::SubAgents,
        TrajectoryPart::Skills,
        TrajectoryPart::Compactions,
        TrajectoryPart::Errors,
        TrajectoryPart::UnknownRecords,
        TrajectoryPart::Notes,
        TrajectoryPart::Actors,
        TrajectoryPart::CallAgents,
        TrajectoryPart::Spawned,
        TrajectoryPart::Namespaces,
        TrajectoryPart::AbsentCallIds,
        TrajectoryPart::AbsentContent,
        TrajectoryPart::UnansweredStatus,
        TrajectoryPart::WordTimes,
        TrajectoryPart::StepIds,
        TrajectoryPart::StepModels,
        TrajectoryPart::CacheWrites,
        TrajectoryPart::StatedTotal,
        TrajectoryPart::Convention,
        TrajectoryPart::ToolDefinitions,
        TrajectoryPart::Outcome,
        TrajectoryPart::Parent,
        TrajectoryPart::RepeatedResults,
        TrajectoryPart::FidelityGaps,
        TrajectoryPart::Positions,
        TrajectoryPart::Declared,
    ],
};

impl Exporter for AgentV {
    fn info(&self) -> &'static ExportInfo {
        &INFO
    }

    fn export(&self, run: &Trajectory, out: &mut dyn io::Write) -> io::Result<Losses> {
        let mut losses = Losses::of(run, INFO.lacks);
        let rows = ConversationRows::of(run, &mut losses);
        let mut index = 0;
        for row in &rows.rows {
            let message = match row {
                ConversationRow::User(event) => AgentvMessage::Said("user", event),
                ConversationRow::Context(event) => AgentvMessage::Said("system", event),
                ConversationRow::Orphan(event) => AgentvMessage::Said("tool", event),
                ConversationRow::Response(index) => {
                    AgentvMessage::Assistant(&rows.responses[*index])
                }
                ConversationRow::Other(_) => continue,
            };
            JsonMembers::line(&mut *out, |w| {
                head(w, run, index)?;
                message.write(w, &mut losses)?;
                whole(w, run)
            })?;
            index += 1;
        }
        // A transcript has at least one message.
        if index == 0 {
            JsonMembers::line(out, |w| {
                head(w, run, 0)?;
                w.put("role", "assistant")?;
                whole(w, run)
            })?;
        }
        Ok(losses)
    }
}

enum AgentvMessage<'a> {
    Said(&'static str, &'a Event),
    Assistant(&'a ModelResponse<'a>),
}

fn target(run: &Trajectory) -> Cow<'_, str> {
    run.agent.name.as_ref().map_or(Cow::Borrowed(run.format), Text::get)
}

fn head(w: &mut JsonMembers<'_>, run: &Trajectory, index: usize) -> io::Result<()> {
    let test = run.name.as_ref().or(run.id.as_ref());
    w.put("schema_version", "agentv.transcript.v1")?;
    w.put("test_id", &test.map_or(Cow::Borrowed(&*run.file), Text::get))?;
    w.put("target", &target(run))?;
    w.put("message_index", &index)
}

/// Writes the data about the whole transcript that every line repeats.
fn whole(w: &mut JsonMembers<'_>, run: &Trajectory) -> io::Result<()> {
    tokens(w, "transcript_token_usage", run.usage.as_ref())?;
    let span = run.started.zip(run.ended).map(|(from, to)| to.duration_since(from));
    w.opt("transcript_duration_ms", span.map(|span| span.as_millis().max(0)))?;
    w.put("transcript_cost_usd", &run.cost.map(crate::model::Cost::usd))?;
    w.object("capture", |w| {
        w.put("content", "full")?;
        w.put("redaction_level", "none")
    })?;
    w.object("source", |w| {
        w.put("kind", "imported_transcript")?;
        w.put("provider", &target(run))?;
        w.opt("session_id", run.id.as_ref())?;
        w.put("format", run.format)?;
        w.opt("model", run.agent.model.as_ref())?;
        w.time("timestamp", run.started)?;
        w.opt("cwd", run.cwd.as_ref())?;
        w.opt("version", run.agent.version.as_ref())?;
        w.object("metadata", |w| w.put("raw_log", &*run.file))
    })
}

/// Writes token counts. AgentV's input includes the cache.
fn tokens(w: &mut JsonMembers<'_>, key: &str, usage: Option<&Usage>) -> io::Result<()> {
    let Some(n) = usage.map(Usage::normalised) else { return Ok(()) };
    w.object(key, |w| {
        let input = n.uncached_input.saturating_add(n.cache_read).saturating_add(n.cache_write);
        w.put("input", &input)?;
        w.put("output", &n.output)?;
        w.put("cached", &n.cache_read)?;
        w.opt("reasoning", (n.reasoning > 0).then_some(n.reasoning))
    })
}

impl AgentvMessage<'_> {
    fn write(&self, w: &mut JsonMembers<'_>, losses: &mut Losses) -> io::Result<()> {
        match self {
            Self::Said(role, event) => {
                w.put("role", role)?;
                let content = event.text.as_ref().map(|text| words(text, losses));
                w.put("content", &content.unwrap_or_default())?;
                w.time("start_time", event.time)
            }
            Self::Assistant(response) => {
                w.put("role", "assistant")?;
                w.opt("content", joined(&response.messages, losses))?;
                if !response.calls.is_empty() {
                    w.array("tool_calls", &response.calls, |w, (index, call)| {
                        tool_call(w, *index, call, losses)
                    })?;
                }
                w.time("start_time", response.time())?;
                tokens(w, "token_usage", response.step.and_then(|s| s.usage.as_ref()))
            }
        }
    }
}

fn tool_call(
    w: &mut JsonMembers<'_>,
    index: usize,
    call: &Call,
    losses: &mut Losses,
) -> io::Result<()> {
    w.put("tool", &call.name.full())?;
    match call.args.as_ref().map(|args| Argument::of(args, losses)) {
        Some(Argument::Json(json)) => w.raw("input", &json)?,
        Some(Argument::Text(text)) => w.put("input", &text)?,
        None => {}
    }
    w.put("id", &call_id(call, index))?;
    if let Some(result) = &call.result {
        match &result.payload {
            Some(payload) => w.payload("output", payload)?,
            None => w.put("output", "")?,
        }
        w.opt("status", status(call.status))?;
    }
    w.time("start_time", call.started)?;
    w.time("end_time", call.result.as_ref().and_then(|r| r.time))?;
    w.opt("duration_ms", call.duration.map(|d| d.as_secs_f64() * 1e3))
}

/// Returns AgentV's word for a status; `None` for a call without a result.
fn status(status: Status) -> Option<&'static str> {
    match status {
        Status::Succeeded => Some("ok"),
        Status::Failed | Status::Denied => Some("error"),
        Status::Interrupted => Some("cancelled"),
        Status::Unknown => Some("unknown"),
        Status::Unanswered => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::testing::{everything, export, lines};
    use serde_json::json;

    #[test]
    fn one_line_per_message() {
        let (text, losses) = export(&AgentV, &everything());
        let rows = lines(&text);
        let roles: Vec<&str> = rows.iter().map(|r| r["role"].as_str().unwrap()).collect();
        assert_eq!(
            roles,
            ["system", "user", "assistant", "assistant", "tool", "user", "assistant", "assistant"]
        );
        for (i, row) in rows.iter().enumerate() {
            assert_eq!(row["schema_version"], "agentv.transcript.v1");
            assert_eq!(row["message_index"], i);
            assert_eq!(row["test_id"], "fix the build");
            assert_eq!(row["source"]["format"], "claude-code");
            assert_eq!(row["transcript_token_usage"]["input"], 153);
        }
        let calls = rows[2]["tool_calls"].as_array().unwrap();
        assert_eq!(calls.len(), 3);
        assert_eq!(calls[0]["status"], "error");
        assert_eq!(calls[0]["duration_ms"], 3000.0);
        assert_eq!(calls[1]["input"], json!({"path": "a"}));
        assert_eq!(calls[1]["output"][0]["text"], "line");
        assert_eq!(
            (&calls[2]["status"], calls[2].get("output")),
            (&json!("unknown"), Some(&json!("")))
        );
        assert_eq!(rows[6]["tool_calls"][0]["status"], "cancelled");
        let open = &rows[7]["tool_calls"][0];
        assert_eq!((open.get("output"), open.get("status")), (None, None));
        assert_eq!(losses.count(TrajectoryPart::Reasoning), 1);
        assert_eq!(losses.count(TrajectoryPart::Status(Status::Denied)), 1);
        assert_eq!(losses.count(TrajectoryPart::ArgumentForms), 2);
    }
}
