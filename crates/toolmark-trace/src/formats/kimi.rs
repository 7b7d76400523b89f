//! Kimi Code wire files: every change of a session's state, one record per line.
//!
//! The input and output of the model are in `context.append_message` and
//! `context.append_loop_event`, whose events are `step.begin`, `content.part`, `tool.call`,
//! `tool.result` and `step.end` (with the step's usage). `turn.prompt` and `turn.steer` repeat
//! the user's input; `usage.record` repeats the usage of steps and adds that of compactions.
//! Input is counted without the cache. A refused call is recognized by the approval record
//! before it. Each sub-agent has a file of its own, which is named in the result of the call
//! that started it.

use super::shared::events::{note, set_once, words};
use super::shared::exit_code::leading_number;
use super::shared::readers::{OneRun, one_run};
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Reader, Record};
use crate::model::{
    Convention, EventKind, Fact, Fidelity, Parent, Status, StatusLevel, Text, ToolDefinition,
    ToolName, Usage, UsageTokens, time,
};
use jiff::Timestamp;
use std::collections::HashSet;
use toolmark_scan::Value;

/// Kimi Code wire files.
pub(crate) struct Kimi;

static INFO: FormatInfo = FormatInfo {
    id: "kimi",
    title: "Kimi Code session",
    origin: "~/.kimi-code/sessions/<workspace>/<session>/agents/<agent>/wire.jsonl",
    versions: "protocol 1.4",
    looks_for: "a metadata line with protocol_version, or context.append_* records",
    fidelity: Fidelity::lacking(&[Fact::Cost, Fact::SubAgents]),
};

impl Format for Kimi {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let is_own = |r: Value<'_>| match r.get("type").and_then(Value::inner) {
            Some("metadata") => r.get("protocol_version").is_some(),
            Some(kind) => kind.starts_with("context.append_") && r.get("time").is_some(),
            None => false,
        };
        if probe.any(is_own) { 100 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        one_run::<Wire>(&Kimi, "kimi", "a wire record")
    }
}

#[derive(Default)]
struct Wire {
    /// Calls that the user refused.
    refused: HashSet<String>,
    /// Usage stated by the run's own records.
    stated: Option<Usage>,
}

impl OneRun for Wire {
    fn record(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, line: Value<'_>) {
        let time = line.get("time").or_else(|| line.get("created_at"));
        let time = time.and_then(time::from_value);
        b.seen(time);
        let kind = line.word("type");
        match kind {
            "context.append_message" => message(b, record, line, time),
            "context.append_loop_event" => self.loop_event(b, record, line, time),
            "config.update" | "profile.bind" => config(b, record, line, time),
            "tools.set_active_tools" => name_tools(b, record, line.get("names")),
            "llm.tools_snapshot" => define_tools(b, record, line.get("tools")),
            "llm.request" => {
                set_once(&mut b.run.agent.model, record, line, "model");
                note(b, kind, None, time, record.at());
            }
            "usage.record" => {
                if let Some(usage) = line.get("usage").map(usage) {
                    match &mut self.stated {
                        Some(sum) => sum.add(&usage),
                        None => self.stated = Some(usage),
                    }
                }
            }
            "permission.record_approval_result" => {
                let decision = line.at(&["result", "decision"]);
                if decision.is_some_and(|d| !d.is("approved")) {
                    self.refused.extend(line.get_str("toolCallId").map(|id| id.into_owned()));
                }
                note(b, kind, None, time, record.at());
            }
            "context.apply_compaction" => {
                let text = line.get("summary").and_then(|s| words(record, s));
                b.event(EventKind::Compaction, text, None, time, record.at());
            }
            "turn.ended" => {
                b.run.outcome = record.text_at(line, "reason");
                note(b, kind, None, time, record.at());
            }
            "turn.cancel" => {
                b.run.outcome = Some(Text::owned("cancelled"));
                note(b, kind, None, time, record.at());
            }
            _ if is_known(kind) => note(b, kind, None, time, record.at()),
            other => b.unknown(other, record.at()),
        }
    }

    fn finish(&mut self, b: &mut TrajectoryBuilder) {
        match self.stated.take() {
            Some(usage) => b.run.usage = Some(usage),
            None => b.add_usage_of_steps(),
        }
    }
}

impl Wire {
    fn loop_event(
        &mut self,
        b: &mut TrajectoryBuilder,
        record: &Record<'_>,
        line: Value<'_>,
        time: Option<Timestamp>,
    ) {
        let Some(event) = line.get("event") else {
            b.unknown("context.append_loop_event without event", record.at());
            return;
        };
        let kind = event.word("type");
        match kind {
            "step.begin" => {
                b.step(record.text_at(event, "uuid"), time, record.at());
            }
            "content.part" => {
                let step = step(b, record, event, time);
                part(b, record, event, step, time);
            }
            "tool.call" => {
                let step = step(b, record, event, time);
                tool_call(b, record, event, step, time);
            }
            "tool.result" => self.tool_result(b, record, event, time),
            "step.end" => {
                let step = b.step(record.text_at(event, "uuid"), time, record.at());
                let model = b.run.agent.model.clone();
                let this = &mut b.run.steps[step as usize];
                this.usage = event.get("usage").map(usage);
                this.model = model;
            }
            other => b.unknown(format!("loop/{other}"), record.at()),
        }
    }

    fn tool_result(
        &mut self,
        b: &mut TrajectoryBuilder,
        record: &Record<'_>,
        event: Value<'_>,
        time: Option<Timestamp>,
    ) {
        let result = event.get("result");
        let output = result.and_then(|r| r.get("output")).or(result);
        let failed =
            result.and_then(|r| r.get("isError")).is_some_and(|e| e.as_bool() == Some(true));
        let text = output.and_then(Value::str).unwrap_or_default();
        let id = event.get("toolCallId").or_else(|| event.get("parentUuid"));
        let id = id.and_then(Value::str);
        let answer =
            ReaderResult::new(output.and_then(|o| words(record, o)), record.at()).time(time);
        let refused = id.as_deref().is_some_and(|id| self.refused.contains(id));
        let answer = if refused {
            answer.status(Status::Denied, StatusLevel::Denial)
        } else {
            answer.protocol(failed).exit_code(exit_code(&text))
        };
        let Some(call) = b.answer(id.as_deref(), answer) else { return };
        // "agent_id: agent-0" in the first line of a sub-agent's report.
        let child = text.strip_prefix("agent_id: ").and_then(|rest| rest.lines().next());
        let slot = &mut b.run.calls[call as usize].spawned;
        *slot = slot.take().or_else(|| child.map(Text::owned));
    }
}

/// Returns whether a record kind is known to be irrelevant or redundant.
fn is_known(kind: &str) -> bool {
    const FAMILIES: [&str; 6] =
        ["plan_mode.", "full_compaction.", "permission.", "plugin.", "runtime.", "token_counting."];
    matches!(kind, "metadata" | "turn.prompt" | "turn.steer")
        || FAMILIES.iter().any(|family| kind.starts_with(family))
}

/// Returns the step that an event of the loop names.
fn step(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    event: Value<'_>,
    time: Option<Timestamp>,
) -> u32 {
    match (record.text_at(event, "stepUuid"), b.last_step()) {
        (None, Some(last)) => last,
        (id, _) => b.step(id, time, record.at()),
    }
}

fn part(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    event: Value<'_>,
    step: u32,
    time: Option<Timestamp>,
) {
    let Some(part) = event.get("part") else {
        b.unknown("content.part without part", record.at());
        return;
    };
    match part.word("type") {
        "text" => {
            if let Some(text) = record.payload_at(part, "text") {
                b.message(step, text, time, record.at());
            }
        }
        "think" => b.reasoning(step, record.payload_at(part, "think"), time, record.at()),
        "image_url" | "image" | "video_url" | "audio_url" => {
            b.message(step, record.payload(part), time, record.at());
        }
        other => b.unknown(format!("content/{other}"), record.at()),
    }
}

fn tool_call(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    event: Value<'_>,
    step: u32,
    time: Option<Timestamp>,
) {
    let id = event.get("toolCallId").or_else(|| event.get("uuid"));
    let name = record.text_at(event, "name").unwrap_or_else(|| Text::owned(""));
    let is_skill = name.is("Skill");
    let before = b.run.calls.len();
    b.call(NewCall {
        id: id.and_then(|id| record.text(id)),
        name: ToolName::new(name),
        args: record.payload_at(event, "args"),
        step: Some(step),
        time,
        at: record.at(),
    });
    if is_skill && b.run.calls.len() > before {
        let skill = event.get("args").and_then(|a| a.get("skill").or_else(|| a.get("name")));
        let skill = skill.map(|s| record.payload(s));
        b.event(EventKind::Skill, skill, Some(step), time, record.at());
    }
}

fn message(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    line: Value<'_>,
    time: Option<Timestamp>,
) {
    let Some(message) = line.get("message") else {
        b.unknown("context.append_message without message", record.at());
        return;
    };
    let text = message.get("content").and_then(|c| words(record, c));
    let origin = message.at(&["origin", "kind"]);
    match message.word("role") {
        "user" if origin.is_none_or(|o| o.is("user")) => b.user(text, time, record.at()),
        "user" | "system" => {
            let by = message.at(&["origin", "name"]);
            if by.is_some_and(|n| n.is("subagent")) && b.run.parent.is_none() {
                b.run.parent = Some(Parent { trajectory: None, call: None });
            }
            b.context(text, time, record.at());
        }
        "assistant" => {
            let step = b.step(None, time, record.at());
            if let Some(text) = text {
                b.message(step, text, time, record.at());
            }
        }
        other => b.unknown(format!("message/{other}"), record.at()),
    }
}

/// Reads the model, prompt and directory of the session, or a change of them.
fn config(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    line: Value<'_>,
    time: Option<Timestamp>,
) {
    set_once(&mut b.run.agent.model, record, line, "modelAlias");
    set_once(&mut b.run.cwd, record, line, "cwd");
    if let Some(place) = line.get("environmentDisclosure") {
        set_once(&mut b.run.cwd, record, place, "cwd");
    }
    if let Some(profile) = record.text_at(line, "profileName").filter(|p| !p.is("agent")) {
        b.run.agent.name = Some(profile);
    }
    name_tools(b, record, line.get("activeToolNames"));
    match line.get("systemPrompt").and_then(|p| words(record, p)) {
        Some(prompt) => b.context(Some(prompt), time, record.at()),
        None => note(b, "config.update", None, time, record.at()),
    }
}

/// Records the names of the tools if their definitions are unknown.
fn name_tools(b: &mut TrajectoryBuilder, record: &Record<'_>, names: Option<Value<'_>>) {
    let Some(names) = names.filter(|_| b.run.tools.is_none()) else { return };
    let named = names.items().filter_map(|n| {
        Some(ToolDefinition { name: record.text(n)?, description: None, schema: None })
    });
    b.run.tools = Some(named.collect());
}

fn define_tools(b: &mut TrajectoryBuilder, record: &Record<'_>, tools: Option<Value<'_>>) {
    let Some(tools) = tools.filter(|t| t.is_array()) else { return };
    let defined = tools.items().filter_map(|t| {
        Some(ToolDefinition {
            name: record.text_at(t, "name")?,
            description: record.text_at(t, "description"),
            schema: record.payload_at(t, "parameters"),
        })
    });
    b.run.tools = Some(defined.collect());
}

fn usage(usage: Value<'_>) -> Usage {
    let count = |key: &str| usage.get(key).and_then(Value::as_u64).unwrap_or(0);
    let recorded = UsageTokens {
        input: count("inputOther"),
        output: count("output"),
        cache_read: count("inputCacheRead"),
        cache_write: count("inputCacheCreation"),
        cache_write_1h: 0,
        reasoning: 0,
    };
    Usage::new(recorded, Convention::ANTHROPIC)
}

/// Returns the exit code in the last line of a failed command's output.
fn exit_code(text: &str) -> Option<i64> {
    let last = text.trim_end().lines().next_back()?;
    leading_number(last.strip_prefix("Command failed with exit code: ")?)
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, sketch};

    #[test]
    fn a_session() {
        let read = read_fixture("kimi.jsonl");
        assert_eq!(read.format, "kimi");
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "note metadata\n\
             context: You are Kimi.\n\
             note turn.prompt\n\
             user: go\n\
             context: reminder\n\
             0 reasoning: hm\n\
             note permission.record_approval_result\n\
             0 call Bash {\"command\":\"x\"} -> failed(protocol) exit 2: no\nCommand failed with exit code: 2.\n\
             0 call Bash {} -> denied(denial): rejected\n\
             0 call Agent {} -> succeeded(protocol): agent_id: agent-0\nstatus: completed\n\
             0 call Read {} -> unanswered(absent): \n\
             orphanresult: ?\n\
             compaction: short\n\
             note turn.ended\n\
             unknown unheard.of\n\
             unknown loop/\n"
        );
        assert_eq!(run.usage.unwrap().total(), 16);
        assert_eq!(run.calls[2].spawned.as_ref().unwrap(), "agent-0");
        assert_eq!(run.calls[0].duration.unwrap().as_secs(), 2);
        assert_eq!((run.user_turns, run.steps.len()), (1, 1));
    }
}
