//! mini-SWE-agent trajectories: a list of chat messages (v0), or a document with
//! `info`, `messages` and `trajectory_format` (v1 and v2).
//!
//! Until v1, the only tool is bash, and a call is the only fenced block of the assistant's
//! text; the next user message is its result. v2 has real `tool_calls`, answered by role
//! `tool`, and ends with role `exit`. Results state their exit code in `extra.returncode` or
//! as `<returncode>` in the text. The call that submits usually has no result.

use super::shared::chat;
use super::shared::declared;
use super::shared::exit_code::leading_number;
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{
    Cost, EventKind, Fact, Fidelity, Payload, Status, StatusLevel, Text, ToolName, time,
};
use jiff::Timestamp;
use std::borrow::Cow;
use toolmark_scan::Value;

/// mini-SWE-agent trajectories.
pub(crate) struct MiniSweAgent;

static INFO: FormatInfo = FormatInfo {
    id: "mini-swe-agent",
    title: "mini-SWE-agent trajectory",
    origin: "SWE-agent/mini-swe-agent, *.traj.json",
    versions: "v0 to v2 (mini-swe-agent-1, mini-swe-agent-1.1)",
    looks_for: "trajectory_format mini-swe-agent-*, or messages with a bash block and <returncode>",
    fidelity: Fidelity::lacking(&[Fact::ToolDefinitions]),
};

/// Opening lines of the block that holds the command.
const FENCES: [&str; 2] = ["```mswea_bash_command", "```bash"];

impl Format for MiniSweAgent {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let is_document = |r: Value<'_>| {
            let format = r.word("trajectory_format");
            format.starts_with("mini-swe-agent") || r.at(&["info", "mini_version"]).is_some()
        };
        if probe.any(is_document) {
            return 100;
        }
        let says = |r: Value<'_>, role: &str, test: &dyn Fn(&str) -> bool| {
            r.field_is("role", role) && r.get("content").and_then(Value::inner).is_some_and(test)
        };
        let calls = |text: &str| FENCES.iter().any(|fence| text.contains(fence));
        let answers = |text: &str| text.starts_with("<returncode>");
        let bare =
            probe.any(|r| says(r, "assistant", &calls)) && probe.any(|r| says(r, "user", &answers));
        if bare { 95 } else { 0 }
    }

    fn answers_calls(&self) -> bool {
        true
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<TrajectoryReader>::default()
    }
}

#[derive(Default)]
struct TrajectoryReader {
    /// Run whose messages are the records themselves.
    bare: Option<MiniSweConversation>,
}

impl Reader for TrajectoryReader {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        let Some(value) = out.object(record, "a mini-SWE-agent message") else { return };
        if let Some(messages) = value.get("messages") {
            let mut conversation = MiniSweConversation::new(out);
            for message in messages.items() {
                conversation.read(record, message);
            }
            describe(&mut conversation.b, record, value);
            out.push(conversation.finish());
        } else {
            self.bare.get_or_insert_with(|| MiniSweConversation::new(out)).read(record, value);
        }
    }

    fn finish(&mut self, out: &mut Out) {
        if let Some(conversation) = self.bare.take() {
            out.push(conversation.finish());
        }
    }

    fn spans_records(&self) -> bool {
        self.bare.is_some()
    }
}

fn describe(b: &mut TrajectoryBuilder, record: &Record<'_>, document: Value<'_>) {
    b.run.id = record.text_at(document, "instance_id");
    let Some(info) = document.get("info") else { return };
    let text = |path: &[&str]| info.at(path).and_then(|v| record.text(v));
    b.run.agent.version = text(&["mini_version"]);
    b.run.cwd = text(&["config", "environment", "cwd"]).filter(|d| !d.is_empty());
    if b.run.steps.iter().all(|s| s.model.is_none()) {
        b.run.agent.model = text(&["config", "model", "model_name"]);
    }
    declared::members(&mut b.run, record, info);
    let outcome = text(&["exit_status"]).filter(|o| !o.is_empty());
    b.run.outcome = outcome.or_else(|| b.run.outcome.take());
    let usd = info.at(&["model_stats", "instance_cost"]).and_then(Value::as_f64);
    b.run.cost = usd.and_then(Cost::from_usd).or(b.run.cost);
}

struct MiniSweConversation {
    b: TrajectoryBuilder,
    /// Call of a fenced block that waits for its result.
    open: Option<u32>,
}

impl MiniSweConversation {
    fn new(out: &Out) -> Self {
        let mut b = out.builder(&MiniSweAgent);
        b.run.agent.name = Some(Text::owned("mini-swe-agent"));
        Self { b, open: None }
    }

    fn finish(mut self) -> crate::model::Trajectory {
        self.b.add_usage_of_steps();
        self.b.finish()
    }

    fn read(&mut self, record: &Record<'_>, message: Value<'_>) {
        let b = &mut self.b;
        let at = record.at_value(message);
        let time = message.at(&["extra", "timestamp"]).and_then(time::from_value);
        let payload = record.payload_at(message, "content");
        let kind = message.get("role").or_else(|| message.get("type"));
        match kind.and_then(Value::inner).unwrap_or("") {
            "system" => b.context(payload, time, at),
            "user" => self.read_user(record, message, time),
            "assistant" => self.read_assistant(record, message, time),
            "tool" => read_tool(b, record, message, "tool_call_id", "content", time),
            "function_call_output" => read_tool(b, record, message, "call_id", "output", time),
            "exit" => {
                let extra = message.get("extra");
                let status = extra.and_then(|e| record.text_at(e, "exit_status"));
                b.run.outcome = status.or_else(|| b.run.outcome.take());
                let failed = extra.is_some_and(|e| e.get("exception_str").is_some());
                let kind =
                    if failed { EventKind::Error } else { EventKind::Note(Text::owned("exit")) };
                b.event(kind, payload, None, time, at);
            }
            _ if message.field_is("object", "response") => {
                self.read_response(record, message, time);
            }
            other => b.unknown(Text::owned(format!("message/{other}")), at),
        }
    }

    fn read_user(&mut self, record: &Record<'_>, message: Value<'_>, time: Option<Timestamp>) {
        let b = &mut self.b;
        let at = record.at_value(message);
        let payload = record.payload_at(message, "content");
        if let Some(call) = self.open.take() {
            let text = message.get("content").map(first_text).unwrap_or_default();
            let mut answer = ReaderResult::new(payload, at).exit_code(returncode(&text)).time(time);
            if answer.level == StatusLevel::Absent && text.contains("timed out and has been killed")
            {
                answer = answer.status(Status::Interrupted, StatusLevel::Prose);
            }
            b.answer_call(call, answer);
            return;
        }
        // A person may step in; every other later message is the scaffold's.
        let interrupt = message.at(&["extra", "interrupt_type"]).and_then(Value::inner);
        if b.run.steps.is_empty() || interrupt.is_some_and(|i| i.starts_with("User")) {
            b.user(payload, time, at);
        } else {
            b.context(payload, time, at);
        }
    }

    fn read_assistant(&mut self, record: &Record<'_>, message: Value<'_>, time: Option<Timestamp>) {
        let b = &mut self.b;
        let response = message.at(&["extra", "response"]);
        let time = time.or_else(|| response?.get("created").and_then(time::from_value));
        let step = b.step(None, time, record.at_value(message));
        let this = &mut b.run.steps[step as usize];
        if let Some(response) = response {
            this.id = record.text_at(response, "id");
            this.model = record.text_at(response, "model");
            this.usage = response.get("usage").and_then(chat::usage);
        }
        add_cost(b, message);
        if let Some(text) = message.get("reasoning_content").filter(|t| !t.is("")) {
            b.reasoning(step, Some(record.payload(text)), time, record.at_value(text));
        }
        let content = message.get("content");
        if let Some(content) = content {
            chat::words(b, record, content, Some(step), time);
        }
        self.open = None;
        let mut calls = message.items_at("tool_calls").peekable();
        if calls.peek().is_none() {
            let text = content.map(first_text).unwrap_or_default();
            self.open = fenced_command(&text).map(|command| {
                b.call(NewCall {
                    id: None,
                    name: ToolName::new("bash"),
                    args: Some(Payload::text(Text::owned(command))),
                    step: Some(step),
                    time,
                    at: record.at_value(message),
                })
            });
        }
        for call in calls {
            b.call(chat::new_call(record, call, Some(step), time));
        }
    }

    /// Reads a response object of OpenAI's Responses API, which v2 stores unchanged.
    fn read_response(&mut self, record: &Record<'_>, message: Value<'_>, time: Option<Timestamp>) {
        let b = &mut self.b;
        let step = b.step(record.text_at(message, "id"), time, record.at_value(message));
        let this = &mut b.run.steps[step as usize];
        this.model = record.text_at(message, "model");
        this.usage = message.get("usage").and_then(chat::usage);
        add_cost(b, message);
        for item in message.items_at("output") {
            let at = record.at_value(item);
            match item.word("type") {
                "message" => {
                    if let Some(content) = item.get("content") {
                        chat::words(b, record, content, Some(step), time);
                    }
                }
                "reasoning" => b.reasoning(step, record.payload_at(item, "summary"), time, at),
                "function_call" => {
                    let mut call = chat::new_call(record, item, Some(step), time);
                    call.id = record.text_at(item, "call_id").or(call.id);
                    b.call(call);
                }
                other => b.unknown(Text::owned(format!("output/{other}")), at),
            }
        }
    }
}

fn add_cost(b: &mut TrajectoryBuilder, message: Value<'_>) {
    let usd = message.at(&["extra", "cost"]).and_then(Value::as_f64);
    if let Some(cost) = usd.and_then(Cost::from_usd) {
        let sum = b.run.cost.unwrap_or_default().nano_usd.saturating_add(cost.nano_usd);
        b.run.cost = Some(Cost { nano_usd: sum });
    }
}

fn read_tool(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    message: Value<'_>,
    id_key: &str,
    content_key: &str,
    time: Option<Timestamp>,
) {
    let content = message.get(content_key);
    let code = message.at(&["extra", "returncode"]).and_then(Value::as_i64);
    let code = code.or_else(|| content.and_then(|c| returncode(&first_text(c))));
    let answer = ReaderResult::new(content.map(|c| record.payload(c)), record.at_value(message))
        .exit_code(code)
        .time(time);
    b.answer(message.get(id_key).and_then(Value::str).as_deref(), answer);
}

/// Returns the text of a content value: the string, or its first text block.
fn first_text(content: Value<'_>) -> Cow<'_, str> {
    match content.str() {
        Some(text) => text,
        None => content.items().find_map(|b| b.get("text")?.str()).unwrap_or_default(),
    }
}

/// Returns the exit code at the start of a result: `<returncode>1</returncode>`.
fn returncode(text: &str) -> Option<i64> {
    leading_number(text.trim_start().strip_prefix("<returncode>")?.trim_start())
}

/// Returns the command of a text with exactly one fenced block; with none or several, the
/// agent refuses to act.
fn fenced_command(text: &str) -> Option<&str> {
    let fence = FENCES.into_iter().find(|fence| text.contains(fence))?;
    let mut found = None;
    let mut rest = text;
    while let Some((_, after)) = rest.split_once(fence) {
        let Some((head, body)) = after.split_once('\n') else { break };
        rest = after;
        if !head.trim().is_empty() {
            continue;
        }
        let Some((command, after)) = body.split_once("\n```") else { break };
        if found.replace(command.trim()).is_some() {
            return None;
        }
        rest = after;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::fenced_command;
    use crate::testing::{read_fixture, read_text, sketch};

    #[test]
    fn one_block_is_one_command() {
        for (text, want) in [
            ("do\n\n```bash\nls -l\n```\n", Some("ls -l")),
            ("```mswea_bash_command\na &&\nb\n```", Some("a &&\nb")),
            ("```bash\na\n```\n```bash\nb\n```", None),
            ("```bash\nnever closed", None),
            ("```python\nx\n```", None),
            ("```bashful\nx\n```", None),
        ] {
            assert_eq!(fenced_command(text), want, "{text}");
        }
    }

    #[test]
    fn commands_in_text() {
        let read = read_text(
            r#"[{"role":"system","content":"sys"},{"role":"user","content":"fix it"},
            {"role":"assistant","content":"look\n```bash\nls x\n```"},
            {"role":"user","content":"<returncode>2</returncode>\n<output>\nno\n</output>"},
            {"role":"assistant","content":"no command"},
            {"role":"user","content":"Please always provide exactly one action"},
            {"role":"assistant","content":"```bash\nsleep 99\n```"},
            {"role":"user","content":"The last command timed out and has been killed."},
            {"role":"assistant","content":"```bash\necho COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\n```"},
            {"role":"user","content":""}, 7, {"role":"ghost"}]"#,
        );
        assert_eq!(read.format, "mini-swe-agent");
        let run = &read.runs[0];
        let events: Vec<String> =
            sketch(run).lines().filter(|l| l.contains(" call ")).map(str::to_owned).collect();
        assert_eq!(
            events,
            [
                "0 call bash ls x -> failed(exitcode) exit 2: <returncode>2</returncode>",
                "2 call bash sleep 99 -> interrupted(prose): The last command timed out and has been killed.",
                "3 call bash echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT -> unknown(absent): ",
            ]
        );
        assert_eq!((run.user_turns, run.steps.len(), read.skipped), (1, 4, 1));
        assert_eq!(run.unknown_records(), 1);
    }

    #[test]
    fn calls_by_function() {
        let read = read_fixture("mini-swe-agent.json");
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: task\n\
             0 call bash {\"command\":\"ls\"} -> succeeded(exitcode) exit 0: ok\n\
             0 call bash {\"command\":\"rm\"} -> unanswered(absent): \n\
             orphanresult: ?\n\
             1 call bash {} -> failed(exitcode) exit 1: <returncode>1</returncode>\n\
             1 message: hi\nnote exit\n"
        );
        assert_eq!(run.calls[0].duration.unwrap().as_millis(), 1000);
        let tokens = run.usage.unwrap();
        assert_eq!((tokens.recorded.input, tokens.recorded.cache_read, tokens.total()), (8, 2, 12));
        assert_eq!(run.outcome.as_ref().unwrap(), "Submitted");
        assert_eq!(run.cost.unwrap().usd(), 0.5);
    }
}
