//! ATIF 1.7, the trajectory interchange format of Harbor: one document per trajectory,
//! each on its own line.
//!
//! A model response is an `agent` step that contains its calls, and their results in its
//! observation. ATIF has no field for failed calls; as in Harbor's own converters, the
//! failure is stored in `extra.tool_result_is_error`, and `extra` holds everything else
//! without an ATIF field. Sub-agents are embedded, and referenced from the result of the
//! call that started them.

use super::json::JsonMembers;
use super::rows::{ConversationRow, ConversationRows, ModelResponse};
use super::shared::{Argument, call_id, joined, starters, words};
use super::{ExportInfo, Exporter, Losses, TrajectoryPart};
use crate::model::{
    Actor, Call, CallResult, Event, EventKind, MAX_DEPTH, Payload, Status, Text, Trajectory, Usage,
};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io;

/// The ATIF exporter.
pub(super) struct Atif;

static INFO: ExportInfo = ExportInfo {
    id: "atif",
    title: "ATIF 1.7 (Harbor)",
    extension: "json",
    lacks: &[
        TrajectoryPart::Skills,
        TrajectoryPart::UnknownRecords,
        TrajectoryPart::Notes,
        TrajectoryPart::WithheldReasoning,
        TrajectoryPart::WordTimes,
        TrajectoryPart::Convention,
        TrajectoryPart::CacheWrites,
        TrajectoryPart::ReasoningTokens,
        TrajectoryPart::StatedTotal,
        TrajectoryPart::RepeatedResults,
        TrajectoryPart::CallAgents,
        TrajectoryPart::AbsentCallIds,
        TrajectoryPart::AbsentArguments,
        TrajectoryPart::Positions,
        TrajectoryPart::Declared,
    ],
};

impl Exporter for Atif {
    fn info(&self) -> &'static ExportInfo {
        &INFO
    }

    fn export(&self, run: &Trajectory, out: &mut dyn io::Write) -> io::Result<Losses> {
        let mut writer = AtifWriter { session: run.id.as_ref(), losses: Losses::default() };
        JsonMembers::line(out, |w| writer.document(w, run, None, 0))?;
        Ok(writer.losses)
    }
}

struct AtifWriter<'a> {
    /// ID of the whole run, shared by its sub-agents.
    session: Option<&'a Text>,
    losses: Losses,
}

/// A sub-agent and its ID in the document.
struct Child<'a> {
    id: Cow<'a, str>,
    run: &'a Trajectory,
}

/// The sub-agents of a run.
#[derive(Default)]
struct AtifChildren<'a> {
    all: Vec<Child<'a>>,
    /// Sub-agents started by a call, by the call's index.
    started: HashMap<usize, Vec<usize>>,
}

impl AtifWriter<'_> {
    fn document(
        &mut self,
        w: &mut JsonMembers<'_>,
        run: &Trajectory,
        id: Option<&str>,
        depth: usize,
    ) -> io::Result<()> {
        self.losses.count_run(run, INFO.lacks);
        let children = children(run, depth);
        if children.all.is_empty() {
            self.losses.add(TrajectoryPart::SubAgents, run.flatten().len() - 1);
        }
        w.put("schema_version", "ATIF-v1.7")?;
        w.opt("session_id", self.session)?;
        w.opt("trajectory_id", id)?;
        w.object("agent", |w| agent(w, run))?;
        let rows = ConversationRows::of(run, &mut self.losses);
        let kept = rows.rows.iter().filter(|row| is_step(row));
        w.array("steps", kept.clone().enumerate(), |w, (i, row)| {
            w.put("step_id", &(i + 1))?;
            self.step(w, &rows, row, &children)
        })?;
        w.object("final_metrics", |w| final_metrics(w, run, kept.count()))?;
        if !children.all.is_empty() {
            w.array("subagent_trajectories", &children.all, |w, child| {
                self.document(w, child.run, Some(&child.id), depth + 1)
            })?;
        }
        w.object("extra", |w| root_extra(w, run))
    }

    fn step(
        &mut self,
        w: &mut JsonMembers<'_>,
        rows: &ConversationRows<'_>,
        row: &ConversationRow<'_>,
        children: &AtifChildren<'_>,
    ) -> io::Result<()> {
        match row {
            ConversationRow::User(event) => self.said(w, "user", event),
            ConversationRow::Context(event) => self.said(w, "system", event),
            ConversationRow::Response(index) => {
                self.agent_step(w, &rows.responses[*index], children)
            }
            ConversationRow::Orphan(event) => self.orphan(w, event),
            ConversationRow::Other(event) => {
                self.said(w, "system", event)?;
                w.object("extra", |w| w.put("event", event.kind.word()))
            }
        }
    }

    fn said(&mut self, w: &mut JsonMembers<'_>, source: &str, event: &Event) -> io::Result<()> {
        w.time("timestamp", event.time)?;
        w.put("source", source)?;
        let message = event.text.as_ref().map(|text| words(text, &mut self.losses));
        w.put("message", &message.unwrap_or_default())
    }

    /// Writes a result without a call, as an observation without a call ID.
    fn orphan(&mut self, w: &mut JsonMembers<'_>, event: &Event) -> io::Result<()> {
        w.time("timestamp", event.time)?;
        w.put("source", "system")?;
        w.put("message", "")?;
        w.object("observation", |w| {
            w.array("results", [&event.text], |w, text| self.content(w, text.as_ref()))
        })?;
        w.object("extra", |w| w.put("event", event.kind.word()))
    }

    fn agent_step(
        &mut self,
        w: &mut JsonMembers<'_>,
        response: &ModelResponse<'_>,
        children: &AtifChildren<'_>,
    ) -> io::Result<()> {
        let step = response.step;
        w.time("timestamp", response.time())?;
        w.put("source", "agent")?;
        w.opt("model_name", step.and_then(|s| s.model.as_ref()))?;
        w.put("message", &joined(&response.messages, &mut self.losses).unwrap_or_default())?;
        w.opt("reasoning_content", joined(&response.reasoning, &mut self.losses))?;
        if !response.calls.is_empty() {
            w.array("tool_calls", &response.calls, |w, (index, call)| self.call(w, *index, call))?;
        }
        let answered =
            || response.calls.iter().filter_map(|(i, c)| Some((*i, *c, c.result.as_ref()?)));
        if answered().next().is_some() {
            w.object("observation", |w| {
                w.array("results", answered(), |w, (index, call, result)| {
                    self.result(w, index, call, result, children)
                })
            })?;
        }
        if let Some(usage) = step.and_then(|s| s.usage.as_ref()) {
            w.object("metrics", |w| metrics(w, usage))?;
        }
        match (step, response.calls.first()) {
            (Some(_), _) => w.put("llm_call_count", &1)?,
            (None, Some((_, call))) if call.actor == Actor::User => w.put("llm_call_count", &0)?,
            _ => {}
        }
        match step.and_then(|s| s.id.as_ref()) {
            Some(id) => w.object("extra", |w| w.put("response_id", id)),
            None => Ok(()),
        }
    }

    fn call(&mut self, w: &mut JsonMembers<'_>, index: usize, call: &Call) -> io::Result<()> {
        w.put("tool_call_id", &call_id(call, index))?;
        w.put("function_name", &call.name.full())?;
        let argument = call.args.as_ref().map(|args| Argument::of(args, &mut self.losses));
        // Arguments must be an object: others are wrapped, as Harbor does.
        match &argument {
            None => w.object("arguments", |_| Ok(()))?,
            Some(Argument::Json(json)) if argument.as_ref().is_some_and(Argument::is_object) => {
                w.raw("arguments", json)?;
            }
            Some(Argument::Json(json)) => w.object("arguments", |w| w.raw("input", json))?,
            Some(Argument::Text(text)) => w.object("arguments", |w| w.put("input", text))?,
        }
        let wrapped = argument.as_ref().is_some_and(|a| !a.is_object());
        let plain = call.name.namespace.is_none() && call.actor == Actor::Agent;
        // A call may be known to have been refused without a result to say so.
        let stated = call.result.is_none() && call.status != Status::Unanswered;
        if plain && call.started.is_none() && !wrapped && !stated {
            return Ok(());
        }
        w.object("extra", |w| {
            w.opt("namespace", call.name.namespace.as_ref())?;
            w.time("started_at", call.started)?;
            w.opt("actor", (call.actor != Actor::Agent).then(|| call.actor.word()))?;
            w.opt("status", stated.then(|| call.status.word()))?;
            w.opt("status_level", stated.then(|| call.level.word()))?;
            w.opt("raw_arguments", call.args.as_ref().filter(|_| wrapped).map(Payload::raw))
        })
    }

    fn result(
        &mut self,
        w: &mut JsonMembers<'_>,
        index: usize,
        call: &Call,
        result: &CallResult,
        children: &AtifChildren<'_>,
    ) -> io::Result<()> {
        w.put("source_call_id", &call_id(call, index))?;
        self.content(w, result.payload.as_ref())?;
        if let Some(started) = children.started.get(&index) {
            w.array("subagent_trajectory_ref", started, |w, child| {
                w.put("trajectory_id", &children.all[*child].id)
            })?;
        }
        w.object("extra", |w| {
            if call.status != Status::Unknown {
                w.put("tool_result_is_error", &call.status.is_error())?;
            }
            w.put("status", call.status.word())?;
            w.put("status_level", call.level.word())?;
            w.opt("exit_code", call.exit_code)?;
            w.time("completed_at", result.time)?;
            w.opt("duration_ms", call.duration.map(|d| d.as_secs_f64() * 1e3))?;
            w.opt("spawned", call.spawned.as_ref())
        })
    }

    fn content(&mut self, w: &mut JsonMembers<'_>, payload: Option<&Payload>) -> io::Result<()> {
        w.opt("content", payload.map(|p| words(p, &mut self.losses)))
    }
}

/// Returns whether the row becomes a step. Notes, unknown records and skills (whose calls
/// are present) do not.
fn is_step(row: &ConversationRow<'_>) -> bool {
    match row {
        ConversationRow::Other(event) => {
            matches!(event.kind, EventKind::Compaction | EventKind::Error)
        }
        _ => true,
    }
}

/// Returns the sub-agents, each with a unique ID, generated if necessary.
fn children(run: &Trajectory, depth: usize) -> AtifChildren<'_> {
    let mut children = AtifChildren::default();
    if depth >= MAX_DEPTH {
        return children;
    }
    let mut used = HashSet::new();
    for (i, (run, call)) in run.children.iter().zip(starters(run)).enumerate() {
        let id = run.id.as_ref().map(Text::get).filter(|id| !id.is_empty());
        let id = id.filter(|id| used.insert(id.to_string()));
        let id = id.unwrap_or_else(|| Cow::Owned(format!("subagent-{}", i + 1)));
        children.all.push(Child { id, run });
        if let Some(call) = call {
            children.started.entry(call).or_default().push(i);
        }
    }
    children
}

fn agent(w: &mut JsonMembers<'_>, run: &Trajectory) -> io::Result<()> {
    let agent = &run.agent;
    w.put("name", &agent.name.as_ref().map_or(Cow::Borrowed(run.format), Text::get))?;
    w.put("version", &agent.version.as_ref().map_or(Cow::Borrowed("unknown"), Text::get))?;
    w.opt("model_name", agent.model.as_ref())?;
    if let Some(tools) = &run.tools {
        w.array("tool_definitions", tools, super::openai::tool_definition)?;
    }
    match &run.cwd {
        Some(cwd) => w.object("extra", |w| w.put("cwds", &[cwd])),
        None => Ok(()),
    }
}

/// Returns the prompt tokens, including tokens read from and written to a cache.
fn prompt_tokens(usage: &Usage) -> u64 {
    let n = usage.normalised();
    n.uncached_input.saturating_add(n.cache_read).saturating_add(n.cache_write)
}

fn metrics(w: &mut JsonMembers<'_>, usage: &Usage) -> io::Result<()> {
    let n = usage.normalised();
    w.put("prompt_tokens", &prompt_tokens(usage))?;
    w.put("completion_tokens", &n.output)?;
    w.put("cached_tokens", &n.cache_read)?;
    w.object("extra", |w| {
        w.put("cache_creation_input_tokens", &n.cache_write)?;
        w.put("cache_read_input_tokens", &n.cache_read)?;
        w.put("reasoning_tokens", &n.reasoning)
    })
}

fn final_metrics(w: &mut JsonMembers<'_>, run: &Trajectory, steps: usize) -> io::Result<()> {
    if let Some(usage) = &run.usage {
        w.put("total_prompt_tokens", &prompt_tokens(usage))?;
        w.put("total_completion_tokens", &usage.normalised().output)?;
        w.put("total_cached_tokens", &usage.normalised().cache_read)?;
    }
    w.opt("total_cost_usd", run.cost.map(crate::model::Cost::usd))?;
    w.put("total_steps", &steps)?;
    let Some(usage) = &run.usage else { return Ok(()) };
    w.object("extra", |w| {
        w.put("total_cache_creation_input_tokens", &usage.normalised().cache_write)?;
        w.put("total_cache_read_input_tokens", &usage.normalised().cache_read)?;
        w.put("total_reasoning_tokens", &usage.normalised().reasoning)
    })
}

fn root_extra(w: &mut JsonMembers<'_>, run: &Trajectory) -> io::Result<()> {
    w.put("source_format", run.format)?;
    w.put("source_file", &*run.file)?;
    w.opt("name", run.name.as_ref())?;
    w.opt("outcome", run.outcome.as_ref())?;
    w.time("started_at", run.started)?;
    w.time("completed_at", run.ended)?;
    if let Some(parent) = &run.parent {
        w.opt("parent_trajectory", parent.trajectory.as_ref())?;
        w.opt("parent_call", parent.call.as_ref())?;
    }
    w.put("fidelity_gaps", &run.fidelity)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::testing::{everything, export, lines};
    use serde_json::{Value, json};

    fn document() -> (Value, Losses) {
        let (text, losses) = export(&Atif, &everything());
        let mut documents = lines(&text);
        assert_eq!(documents.len(), 1);
        (documents.remove(0), losses)
    }

    /// Checks the requirements of Harbor's models.
    fn check(document: &Value) {
        assert_eq!(document["schema_version"], "ATIF-v1.7");
        assert!(document["agent"]["name"].is_string() && document["agent"]["version"].is_string());
        let steps = document["steps"].as_array().unwrap();
        for (i, step) in steps.iter().enumerate() {
            assert_eq!(step["step_id"], i + 1);
            assert!(step["message"].is_string(), "{step}");
            let of_agent = step["source"] == "agent";
            for field in ["model_name", "reasoning_content", "tool_calls", "metrics"] {
                assert!(of_agent || step.get(field).is_none(), "{field} in {step}");
                let modelless = step["llm_call_count"] == 0 && field != "tool_calls";
                assert!(!modelless || step.get(field).is_none(), "{field} in {step}");
            }
            let no_calls = Vec::new();
            let calls = step["tool_calls"].as_array().unwrap_or(&no_calls);
            for call in calls {
                assert!(call["arguments"].is_object());
                assert!(!call["function_name"].as_str().unwrap().is_empty());
            }
            for result in step["observation"]["results"].as_array().unwrap_or(&no_calls) {
                let id = result.get("source_call_id");
                assert!(id.is_none_or(|id| calls.iter().any(|c| c["tool_call_id"] == *id)));
                for reference in result["subagent_trajectory_ref"].as_array().unwrap_or(&no_calls) {
                    let children = document["subagent_trajectories"].as_array().unwrap();
                    let id = &reference["trajectory_id"];
                    assert!(id.is_string() && children.iter().any(|c| c["trajectory_id"] == *id));
                }
            }
        }
        for child in document["subagent_trajectories"].as_array().into_iter().flatten() {
            check(child);
        }
    }

    #[test]
    fn steps_hold_calls_with_their_results() {
        let (document, losses) = document();
        check(&document);
        let sources: Vec<&str> = document["steps"]
            .as_array()
            .unwrap()
            .iter()
            .map(|s| s["source"].as_str().unwrap())
            .collect();
        assert_eq!(
            sources,
            [
                "system", "user", "agent", "agent", "system", "system", "system", "user", "agent",
                "agent"
            ]
        );
        let step = &document["steps"][2];
        assert_eq!(step["message"], "I will look.\n\u{1f600} \"quoted\"\n\nNow.");
        assert_eq!(step["reasoning_content"], "Look first.");
        assert_eq!(step["tool_calls"][1]["arguments"], json!({"path": "a"}));
        assert_eq!(step["tool_calls"][2]["function_name"], "mcp__web__search");
        assert_eq!(step["tool_calls"][2]["arguments"], json!({"input": "{\"n\":NaN}"}));
        let results = &step["observation"]["results"];
        assert_eq!(results[0]["extra"]["tool_result_is_error"], true);
        assert_eq!(results[0]["extra"]["exit_code"], 2);
        assert_eq!(results[1]["content"], "line\ntwo");
        assert_eq!(results[1]["extra"]["tool_result_is_error"], false);
        assert_eq!(results[2]["extra"].get("tool_result_is_error"), None);
        assert_eq!(results[2].get("content"), None);
        assert_eq!(step["metrics"]["prompt_tokens"], 153);
        assert_eq!(document["final_metrics"]["total_steps"], 10);
        assert_eq!(document["final_metrics"]["total_cost_usd"], 0.123_456_789);
        assert_eq!(losses.count(TrajectoryPart::Skills), 1);
        assert_eq!(losses.count(TrajectoryPart::Wordless), 1);
        assert_eq!(losses.count(TrajectoryPart::AbsentArguments), 1);
    }

    #[test]
    fn sub_agents_are_embedded_and_referred_to() {
        let (document, _) = document();
        let result = &document["steps"][3]["observation"]["results"][0];
        assert_eq!(result["subagent_trajectory_ref"], json!([{"trajectory_id": "sub"}]));
        assert_eq!(document["subagent_trajectories"][0]["steps"][1]["message"], "Planned.");
        let mut run = everything();
        run.children.push(run.children[0].clone());
        let (text, _) = export(&Atif, &run);
        assert_eq!(lines(&text)[0]["subagent_trajectories"][1]["trajectory_id"], "subagent-2");
    }

    #[test]
    fn calls_nobody_answered_have_no_result() {
        let (document, _) = document();
        let last = &document["steps"][9];
        assert_eq!(last["llm_call_count"], 0);
        assert_eq!(last["tool_calls"][0]["tool_call_id"], "call-6");
        assert_eq!(last["tool_calls"][0]["arguments"], json!({"input": "make test"}));
        assert_eq!(last.get("observation"), None);
    }
}
