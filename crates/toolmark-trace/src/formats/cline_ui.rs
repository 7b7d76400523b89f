//! Tasks of Cline and its forks (Roo Code, Kilo Code), as displayed to the user:
//! `ui_messages.json`, also line by line from `cline --json`. Messages are statements of the
//! client (`say`) or questions to the user (`ask`).
//!
//! Tokens and cost are recorded here and not in the history for the model. For most tools
//! only the call is recorded; commands and MCP tools have their output in messages that
//! follow. The outcome of a call is not recorded.

use super::shared::events::note;
use super::shared::readers::{OneRun, one_run};
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Reader, Record};
use crate::model::{
    Convention, Cost, EventKind, Fact, Fidelity, Payload, Text, ToolName, Usage, UsageTokens, time,
};
use jiff::Timestamp;
use serde_json::{Value as Json, json};
use toolmark_scan::Value;

/// Tasks of Cline, as displayed to the user.
pub(crate) struct ClineUi;

static INFO: FormatInfo = FormatInfo {
    id: "cline-ui",
    title: "Cline, Roo Code and Kilo Code UI messages",
    origin: "tasks/<id>/ui_messages.json in the global storage of the extension, cline --json",
    versions: "claude_messages.json and ui_messages.json",
    looks_for: "messages of type say or ask with ts and a member of that name",
    fidelity: Fidelity::lacking(&[
        Fact::CallIds,
        Fact::Status,
        Fact::ExitCodes,
        Fact::SubAgents,
        Fact::ToolDefinitions,
        Fact::WorkingDirectory,
    ]),
};

impl Format for ClineUi {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let is_own = |r: Value<'_>| {
            let kind = r.word("type");
            matches!(kind, "say" | "ask") && r.get(kind).is_some_and(Value::is_string)
        };
        if probe.any(is_own) { 95 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        one_run::<OpenCall>(&ClineUi, "cline", "a message")
    }
}

#[derive(Default)]
struct OpenCall {
    step: Option<u32>,
    /// Command or MCP call whose output may follow, and the output so far.
    waiting: Option<u32>,
    output: Option<(String, Option<Timestamp>, crate::model::At)>,
}

impl OneRun for OpenCall {
    fn record(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, message: Value<'_>) {
        let time = message.get("ts").and_then(time::from_value);
        let kind = message.word("type");
        let what = message.word(kind);
        let text = message.get("text").filter(|t| t.inner() != Some(""));
        let words = || text.map(|t| record.payload(t));
        if what == "command_output"
            || what == "mcp_server_response"
            || what == "browser_action_result"
        {
            self.add_output(text, time, record);
            return;
        }
        self.settle(b);
        let at = record.at_value(message);
        match what {
            "task" | "user_feedback" => b.user(words(), time, at),
            // The task is the first thing that is shown.
            "text" if b.run.user_turns == 0 => b.user(words(), time, at),
            "api_req_started" | "api_req_finished" => self.request(b, record, message, text, time),
            "text" | "completion_result" | "followup" | "plan_mode_respond" => {
                if let Some(text) = words() {
                    let step = self.step(b, record, time);
                    b.message(step, text, time, at);
                }
            }
            "reasoning" => {
                let step = self.step(b, record, time);
                b.reasoning(step, words(), time, at);
            }
            "tool" | "use_mcp_server" | "browser_action" | "browser_action_launch" | "command" => {
                self.call(b, record, what, text, time);
            }
            "error"
            | "diff_error"
            | "api_req_failed"
            | "clineignore_error"
            | "rooignore_error"
            | "condense_context_error" => {
                b.event(EventKind::Error, words(), self.step, time, at);
            }
            "condense_context" => b.event(EventKind::Compaction, words(), None, time, at),
            "" if kind == "task_started" => {
                b.run.id = record.text_at(message, "taskId").or(b.run.id.take());
            }
            "" => b.unknown(format!("message/{kind}"), at),
            // Questions and states of the client: there is one for every button.
            other => note(b, other, words(), time, at),
        }
    }

    fn finish(&mut self, b: &mut TrajectoryBuilder) {
        self.settle(b);
    }
}

impl OpenCall {
    fn step(
        &mut self,
        b: &mut TrajectoryBuilder,
        record: &Record<'_>,
        time: Option<Timestamp>,
    ) -> u32 {
        *self.step.get_or_insert_with(|| b.step(None, time, record.at()))
    }

    /// Reads a request to the model. Its text is JSON to which the counts are added after the
    /// response; in older versions, the counts are in a second message.
    fn request(
        &mut self,
        b: &mut TrajectoryBuilder,
        record: &Record<'_>,
        message: Value<'_>,
        text: Option<Value<'_>>,
        time: Option<Timestamp>,
    ) {
        if message.field_is("say", "api_req_started") {
            self.step = Some(b.step(None, time, record.at()));
        }
        let step = self.step(b, record, time);
        let model = message.at(&["modelInfo", "modelId"]).and_then(|m| record.text(m));
        let this = &mut b.run.steps[step as usize];
        this.model = this.model.take().or(model);
        let info: Json = text
            .and_then(Value::str)
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default();
        let count = |key: &str| info.get(key).and_then(Json::as_u64);
        if let (Some(input), None) = (count("tokensIn"), this.usage) {
            let recorded = UsageTokens {
                input,
                output: count("tokensOut").unwrap_or(0),
                cache_read: count("cacheReads").unwrap_or(0),
                cache_write: count("cacheWrites").unwrap_or(0),
                cache_write_1h: 0,
                reasoning: 0,
            };
            let usage = Usage::new(recorded, Convention::ANTHROPIC);
            this.usage = Some(usage);
            b.add_usage(usage);
            let cost = info.get("cost").and_then(Json::as_f64).and_then(Cost::from_usd);
            if let Some(cost) = cost {
                let sum = b.run.cost.get_or_insert_default();
                sum.nano_usd = sum.nano_usd.saturating_add(cost.nano_usd);
            }
        }
    }

    fn call(
        &mut self,
        b: &mut TrajectoryBuilder,
        record: &Record<'_>,
        what: &str,
        text: Option<Value<'_>>,
        time: Option<Timestamp>,
    ) {
        let step = self.step(b, record, time);
        let words = text.and_then(Value::str).unwrap_or_default();
        let info: Json = serde_json::from_str(&words).unwrap_or_default();
        let word = |key: &str| info.get(key).and_then(Json::as_str).map(Text::owned);
        let (name, args) = match what {
            "command" => {
                (ToolName::new("execute_command"), Some(Payload::value(&json!({"command": words}))))
            }
            "use_mcp_server" => {
                let mut name = ToolName::or_empty(word("toolName").or_else(|| word("uri")));
                name.namespace = word("serverName").map(|s| Text::owned(format!("{s}__")));
                (name, info.get("arguments").map(Payload::value))
            }
            "tool" => (ToolName::or_empty(word("tool")), text.map(|t| record.payload(t))),
            _ => (ToolName::new("browser_action"), text.map(|t| record.payload(t))),
        };
        let call =
            b.call(NewCall { id: None, name, args, step: Some(step), time, at: record.at() });
        self.waiting = (what != "tool").then_some(call);
    }

    fn add_output(
        &mut self,
        text: Option<Value<'_>>,
        time: Option<Timestamp>,
        record: &Record<'_>,
    ) {
        let Some(text) = text.and_then(Value::str) else { return };
        match &mut self.output {
            Some((so_far, ..)) => {
                so_far.push('\n');
                so_far.push_str(&text);
            }
            None => self.output = Some((text.into_owned(), time, record.at())),
        }
    }

    /// Completes the result of the waiting call.
    fn settle(&mut self, b: &mut TrajectoryBuilder) {
        let Some((output, time, at)) = self.output.take() else { return };
        let answer = ReaderResult::new(Some(Payload::text(Text::owned(output))), at).time(time);
        b.answer_call(self.waiting.take(), answer);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, sketch};

    #[test]
    fn a_task() {
        let read = read_fixture("cline-ui.json");
        assert_eq!((read.format, read.skipped), ("cline-ui", 0));
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: fix it\n\
             0 reasoning: hm\n\
             0 message: I look\n\
             0 call readFile {\"tool\":\"readFile\",\"path\":\"a.ts\"} -> unanswered(absent): \n\
             1 call execute_command {\"command\":\"npm test\"} -> unknown(absent): a\nb\n\
             1 call github__get_issue {\"n\":1} -> unknown(absent): open\n\
             note checkpoint_created\n\
             user: go on\n\
             1 message: fixed\n"
        );
        assert_eq!(run.usage.unwrap().total(), 37);
        assert_eq!(run.cost.unwrap().nano_usd, 30_000_000);
    }
}
