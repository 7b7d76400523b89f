//! OpenHands (V0) events: a list of actions and observations, on its own or as the `history`
//! of a line of an evaluation's `output.jsonl`.
//!
//! - An action that the model requested with a function call has `tool_call_metadata`
//!   with the whole `model_response`; an observation repeats it and contains the ID of
//!   its action in `cause`. Without function calling, only `cause` links the two. In
//!   output of the issue resolver, whose events have neither IDs nor sources and their
//!   arguments inlined, only their order does.
//! - Evaluations of 2024 hold pairs of action and observation.
//! - `message`, `system`, `recall` and changes of state are not tool calls;
//!   `finish` and `think` are tool calls if the model called them as functions.
//! - A model response is recorded only inside `tool_call_metadata`: a plain
//!   message of the agent belongs to no step.
//! - An exit code of -1 means that the command is still running.

use super::shared::chat;
use super::shared::declared;
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{
    Actor, Cost, DeclaredOutcome, EventKind, Fact, Fidelity, Payload, Status, StatusLevel, Text,
    ToolDefinition, ToolName, Usage, time,
};
use jiff::Timestamp;
use std::collections::HashMap;
use toolmark_scan::Value;

/// OpenHands V0 events.
pub(crate) struct OpenHands;

static INFO: FormatInfo = FormatInfo {
    id: "openhands",
    title: "OpenHands events (V0)",
    origin: "OpenHands trajectories (--save-trajectory-path), evaluation and resolver output.jsonl",
    versions: "0.x",
    looks_for: "events with source and action or observation, or lines whose history contains them",
    fidelity: Fidelity::FULL,
};

impl Format for OpenHands {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let is_output = |r: Value<'_>| {
            let first = r.get("history").and_then(|h| h.items().next());
            // Pairs of action and observation are in lists of their own.
            first.is_some_and(|e| is_event(e) || e.items().next().is_some_and(is_event))
        };
        if probe.any(is_output) {
            return 100;
        }
        let is_listed = |r: Value<'_>| is_event(r) && r.has("source") && r.has("timestamp");
        if probe.any(is_listed) { 95 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<EventReader>::default()
    }
}

/// Returns whether the value is an event. An action or an observation has a one-word kind, and
/// an observation has content. Other programs keep a `history` with prose under these keys.
fn is_event(value: Value<'_>) -> bool {
    let names = |key: &str| {
        let kind = value.get(key).and_then(|kind| kind.str());
        kind.is_some_and(|kind| {
            !kind.is_empty() && kind.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
        })
    };
    let tells = || ["content", "extras", "message"].iter().any(|key| value.has(key));
    (names("action") || names("observation") && tells()) && !value.has("role") && !value.has("kind")
}

#[derive(Default)]
struct EventReader {
    /// Run whose events are the records themselves.
    bare: Option<OpenhandsRun>,
}

impl Reader for EventReader {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        let Some(value) = record.json() else { return };
        match value.get("history") {
            Some(history) => {
                let mut run = OpenhandsRun::new(out);
                for event in history.items() {
                    run.read(record, event);
                }
                run.describe(record, value);
                out.push(run.finish());
            }
            None if value.is_object() || value.is_array() => {
                self.bare.get_or_insert_with(|| OpenhandsRun::new(out)).read(record, value);
            }
            None => out.skip(&record.at(), "not an OpenHands event: expected an object"),
        }
    }

    fn finish(&mut self, out: &mut Out) {
        if let Some(run) = self.bare.take() {
            out.push(run.finish());
        }
    }

    fn spans_records(&self) -> bool {
        self.bare.is_some()
    }
}

struct OpenhandsRun {
    b: TrajectoryBuilder,
    /// Call of each action, by the action's ID.
    call_by_action: HashMap<i64, u32>,
    /// Last call that no ID links to its result.
    open: Option<u32>,
}

/// Actions that are calls even without a function call of the model.
const ENVIRONMENT_ACTIONS: [&str; 12] = [
    "run",
    "run_ipython",
    "browse",
    "browse_interactive",
    "read",
    "write",
    "edit",
    "delegate",
    "call_tool_mcp",
    "mcp",
    "task_tracking",
    "kill",
];

impl OpenhandsRun {
    fn new(out: &Out) -> Self {
        let mut b = out.builder(&OpenHands).with_repeating_ids();
        b.run.agent.name = Some(Text::owned("openhands"));
        Self { b, call_by_action: HashMap::new(), open: None }
    }

    fn finish(mut self) -> crate::model::Trajectory {
        if self.b.run.usage.is_none() {
            self.b.add_usage_of_steps();
        }
        // Without responses it is unknown which calls came together.
        if self.b.run.steps.is_empty() && !self.b.run.calls.is_empty() {
            self.b.run.fidelity.lose(Fact::Parallel);
        }
        self.b.finish()
    }

    fn read(&mut self, record: &Record<'_>, event: Value<'_>) {
        if !event.is_array() {
            self.read_event(record, event);
            return;
        }
        // The second of a pair answers the first, whatever their ids say.
        for part in event.items() {
            let before = self.b.run.calls.len();
            self.read_event(record, part);
            if self.b.run.calls.len() > before {
                self.open = Some(before as u32);
            }
        }
        self.open = None;
    }

    fn read_event(&mut self, record: &Record<'_>, event: Value<'_>) {
        let name = |key: &str| event.get(key).and_then(Value::inner);
        let time = event.get("timestamp").and_then(time::from_value);
        match (name("action"), name("observation")) {
            (Some(action), _) => self.read_action(record, event, action, time),
            (None, Some(observation)) => {
                self.read_observation(record, event, observation, time);
            }
            (None, None) => self.b.unknown("event", record.at_value(event)),
        }
    }

    fn read_action(
        &mut self,
        record: &Record<'_>,
        event: Value<'_>,
        action: &str,
        time: Option<Timestamp>,
    ) {
        let at = record.at_value(event);
        let args = event.get("args").filter(|a| a.is_object());
        let source = event.get("source").and_then(Value::inner);
        if let Some(metadata) = event.get("tool_call_metadata").filter(|m| m.is_object()) {
            let call = self.read_function_call(record, event, metadata, time);
            self.remember(event, call);
            return;
        }
        let b = &mut self.b;
        let detail = |key: &str| {
            let value = args.unwrap_or(event).get(key)?;
            (!value.is("")).then(|| record.payload(value))
        };
        match action {
            "message" => {
                let text = detail("content");
                // Events without a source begin with the task.
                match source {
                    Some("user") => b.user(text, time, at),
                    None if b.run.user_turns == 0 => b.user(text, time, at),
                    Some("environment") => b.context(text, time, at),
                    _ => b.event(EventKind::Message, text, None, time, at),
                }
            }
            "system" => {
                b.context(detail("content"), time, at);
                read_system(b, record, args.unwrap_or(event));
            }
            "think" => b.event(EventKind::Reasoning, detail("thought"), None, time, at),
            "finish" | "reject" => {
                b.run.outcome = Some(Text::owned(action));
                let text = detail("final_thought").or_else(|| detail("thought"));
                b.event(EventKind::Message, text, None, time, at);
            }
            "condensation" => {
                b.event(EventKind::Compaction, detail("summary"), None, time, at);
            }
            "recall"
            | "change_agent_state"
            | "null"
            | "pause"
            | "resume"
            | "stop"
            | "condensation_request"
            | "loop_recovery" => {
                b.event(EventKind::Note(Text::owned(action)), None, None, time, at);
            }
            _ if ENVIRONMENT_ACTIONS.contains(&action) => {
                if let Some(thought) = detail("thought") {
                    b.event(EventKind::Message, Some(thought), None, time, at.clone());
                }
                let call = b.call(NewCall {
                    id: None,
                    name: ToolName::new(action),
                    args: Some(record.payload(args.unwrap_or(event))),
                    step: None,
                    time,
                    at,
                });
                if source == Some("user") {
                    b.run.calls[call as usize].actor = Actor::User;
                }
                self.remember(event, call);
            }
            other => b.unknown(Text::owned(format!("action/{other}")), at),
        }
    }

    fn remember(&mut self, event: Value<'_>, call: u32) {
        match event.get("id").and_then(Value::as_i64) {
            Some(id) => {
                self.call_by_action.insert(id, call);
            }
            None => self.open = Some(call),
        }
    }

    /// Reads an action for which the model called a function.
    fn read_function_call(
        &mut self,
        record: &Record<'_>,
        event: Value<'_>,
        metadata: Value<'_>,
        time: Option<Timestamp>,
    ) -> u32 {
        let b = &mut self.b;
        let at = record.at_value(event);
        let response = metadata.get("model_response");
        let step = b.step(response.and_then(|r| record.text_at(r, "id")), time, at.clone());
        let this = &mut b.run.steps[step as usize];
        if let Some(response) = response {
            this.model = record.text_at(response, "model");
            this.usage = response.get("usage").and_then(chat::usage);
        }
        let id = metadata.get("tool_call_id");
        let args = event.get("args");
        if let Some(thought) = args.and_then(|a| a.get("thought")).filter(|t| !t.is("")) {
            b.message(step, record.payload(thought), time, record.at_value(thought));
        }
        // The model's own arguments are more complete than the parsed ones.
        let written = response.and_then(|r| written_arguments(r, id?));
        let name = record.text_at(metadata, "function_name");
        let name = name.or_else(|| record.text_at(event, "action"));
        b.call(NewCall {
            id: id.and_then(|id| record.text(id)),
            name: ToolName::or_empty(name),
            args: written.or(args).map(|a| record.payload(a)),
            step: Some(step),
            time,
            at,
        })
    }

    fn read_observation(
        &mut self,
        record: &Record<'_>,
        event: Value<'_>,
        kind: &str,
        time: Option<Timestamp>,
    ) {
        let at = record.at_value(event);
        let content = record.payload_at(event, "content");
        if let Some(call) = self.call_of(event) {
            let answer = status(event, kind, ReaderResult::new(content, at).time(time));
            self.b.answer_call(call, answer);
            return;
        }
        let b = &mut self.b;
        let extra = |key: &str| event.at(&["extras", key]);
        match kind {
            "agent_state_changed" => {
                let state = extra("agent_state").and_then(|s| record.text(s));
                let failed = state.as_ref().is_some_and(|s| s.is("error"));
                // The agent may be told to go on after an error.
                if failed || b.run.outcome.as_ref().is_some_and(|o| o.is("error")) {
                    b.run.outcome = state.clone();
                }
                let kind = if failed {
                    EventKind::Error
                } else {
                    EventKind::Note(Text::owned("agent_state_changed"))
                };
                b.event(kind, state.map(Payload::text), None, time, at);
            }
            // The model's call was refused before it became an action, or the agent failed.
            "error" => b.event(EventKind::Error, content, None, time, at),
            "recall" => b.context(content, time, at),
            "agent_condensation" | "condense" => {
                b.event(EventKind::Compaction, content, None, time, at);
            }
            "null" | "success" | "think" | "message" | "chat" | "loop_detection" => {
                b.event(EventKind::Note(Text::owned(kind)), content, None, time, at);
            }
            _ => b.orphan(ReaderResult::new(content, at).time(time)),
        }
    }

    /// Returns the call that an observation answers: by the model's ID, by the action that caused
    /// it, or, without any IDs, the previous one.
    fn call_of(&mut self, event: Value<'_>) -> Option<u32> {
        let cause = event.get("cause").and_then(Value::as_i64);
        if let Some(call) = cause.and_then(|id| self.call_by_action.get(&id)) {
            return Some(*call);
        }
        let id = event.at(&["tool_call_metadata", "tool_call_id"]).and_then(Value::str);
        if let Some(call) = id.and_then(|id| self.b.find(&id)) {
            return Some(call);
        }
        match cause {
            Some(_) => None,
            None => self.open.take(),
        }
    }

    /// Reads the evaluation's metadata about the run.
    fn describe(&mut self, record: &Record<'_>, output: Value<'_>) {
        let b = &mut self.b;
        let label = |path: &[&str]| output.at(path).and_then(|v| record.label(v));
        b.run.id = label(&["instance_id"]).or_else(|| label(&["issue", "number"]));
        b.run.name = label(&["issue", "title"]);
        if b.run.agent.model.is_none() && b.run.steps.iter().all(|s| s.model.is_none()) {
            b.run.agent.model = label(&["metadata", "llm_config", "model"]);
        }
        let task = output.get("instruction").filter(|i| i.is_string());
        if let (0, Some(task)) = (b.run.user_turns, task) {
            b.user(Some(record.payload(task)), None, record.at_value(task));
        }
        for part in [Some(output), output.get("test_result"), output.at(&["test_result", "report"])]
        {
            part.into_iter().for_each(|part| declared::members(&mut b.run, record, part));
        }
        if let Some(success) = output.get("success").and_then(Value::as_bool) {
            b.run.outcome = Some(Text::owned(if success { "success" } else { "failure" }));
        }
        if let Some(error) = output.get("error").filter(|e| !e.is("")) {
            let text = Some(record.payload(error));
            b.run.outcome = Some(Text::owned("error"));
            let failed = DeclaredOutcome::Failed;
            declared::declare(&mut b.run, record, failed, "error", error);
            b.event(EventKind::Error, text, None, None, record.at_value(error));
        }
        let Some(metrics) = output.get("metrics") else { return };
        let usd = metrics.get("accumulated_cost").and_then(Value::as_f64);
        b.run.cost = usd.and_then(Cost::from_usd);
        let usage: Option<Usage> = metrics.get("accumulated_token_usage").and_then(chat::usage);
        b.run.usage = usage;
    }
}

/// Returns the arguments of the call with this ID in a model's response.
fn written_arguments<'a>(response: Value<'a>, id: Value<'_>) -> Option<Value<'a>> {
    let id = id.str()?;
    let calls = response.get("choices")?.items().next()?.at(&["message", "tool_calls"])?;
    let call = calls.items().find(|c| c.field_is("id", &id))?;
    call.at(&["function", "arguments"])
}

/// Sets the status of a call from its observation.
fn status(event: Value<'_>, kind: &str, answer: ReaderResult) -> ReaderResult {
    let extra = |path: &[&str]| event.get("extras").and_then(|e| e.at(path));
    match kind {
        "error" => return answer.protocol(true),
        "user_rejected" => return answer.status(Status::Denied, StatusLevel::Denial),
        _ => {}
    }
    let code = extra(&["metadata", "exit_code"])
        .or_else(|| extra(&["exit_code"]))
        .or_else(|| event.get("exit_code"))
        .and_then(Value::as_i64);
    if let Some(code) = code {
        // The command still runs: neither success nor failure.
        return answer.exit_code((code != -1).then_some(code));
    }
    let failed = extra(&["error"]).or_else(|| event.get("error")).and_then(Value::as_bool);
    let success = event.get("success").and_then(Value::as_bool);
    match failed.or_else(|| success.map(|s| !s)) {
        Some(failed) => answer.protocol(failed),
        None => answer,
    }
}

/// Reads the system message, which describes the agent and its tools.
fn read_system(b: &mut TrajectoryBuilder, record: &Record<'_>, args: Value<'_>) {
    b.run.agent.version = record.text_at(args, "openhands_version");
    if let Some(class) = record.text_at(args, "agent_class") {
        b.run.agent.name = Some(class);
    }
    let Some(tools) = args.get("tools").filter(|t| t.is_array()) else { return };
    let definition = |tool: Value<'_>| {
        let function = tool.get("function").unwrap_or(tool);
        Some(ToolDefinition {
            name: record.text_at(function, "name")?,
            description: record.text_at(function, "description"),
            schema: record.payload_at(function, "parameters"),
        })
    };
    b.run.tools = Some(tools.items().filter_map(definition).collect());
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_text, read_text_error, sketch};

    #[test]
    fn a_history_of_something_else() {
        for text in [
            r#"{"history":[{"attempt":1,"observation":"PASS","verdict":"PASS"}]}"#,
            r#"{"history":[{"attempt":1,"observation":"passed","verdict":"PASS"}]}"#,
            r#"{"history":[{"action":"Move to the left","reward":1}]}"#,
        ] {
            let error = read_text_error(text);
            assert!(error.contains("unrecognized trace format"), "{error}");
        }
    }

    fn event(id: u32, rest: &str) -> String {
        format!(r#"{{"id":{id},"timestamp":"2025-01-01T00:00:{id:02}","source":"agent",{rest}}}"#)
    }

    fn metadata(id: &str, response: &str) -> String {
        format!(
            r#""tool_call_metadata":{{"function_name":"execute_bash","tool_call_id":"{id}","total_calls_in_response":2,"model_response":{{"id":"{response}","model":"m","usage":{{"prompt_tokens":4,"completion_tokens":1}},"choices":[{{"message":{{"tool_calls":[{{"id":"{id}","function":{{"name":"execute_bash","arguments":"{{\"command\":\"{id}\"}}"}}}}]}}}}]}}}}"#
        )
    }

    #[test]
    fn a_list_of_events() {
        let events = [
            event(1, r#""action":"system","args":{"content":"sys","openhands_version":"0.30","agent_class":"CodeActAgent","tools":[{"type":"function","function":{"name":"execute_bash"}}]}"#),
            r#"{"id":2,"timestamp":"2025-01-01T00:00:02","source":"user","action":"message","args":{"content":"go"}}"#.to_owned(),
            event(3, r#""action":"recall","args":{"query":"go"}"#),
            event(4, &format!(r#""action":"run","args":{{"command":"a","thought":"first"}},{}"#, metadata("a", "r1"))),
            event(5, &format!(r#""action":"run","args":{{"command":"b","thought":""}},{}"#, metadata("b", "r1"))),
            event(6, &format!(r#""observation":"run","cause":4,"content":"no","extras":{{"metadata":{{"exit_code":1}}}},"success":false,{}"#, metadata("a", "r1"))),
            event(7, &format!(r#""observation":"run","cause":5,"content":"wait","extras":{{"metadata":{{"exit_code":-1}}}},"success":false,{}"#, metadata("b", "r1"))),
            event(8, r#""observation":"error","content":"bad call""#),
            event(9, &format!(r#""action":"run","args":{{}},{}"#, metadata("c", "r2"))),
            event(10, r#""observation":"user_rejected","cause":9,"content":"no!""#),
            event(11, r#""observation":"run","cause":77,"content":"whose?""#),
            event(12, r#""action":"dance","args":{}"#),
            event(13, r#""action":"message","args":{"content":"done"}"#),
            event(14, r#""observation":"agent_state_changed","extras":{"agent_state":"finished"}"#),
            event(15, &format!(r#""action":"finish","args":{{"thought":""}},{}"#, metadata("d", "r3"))),
        ];
        let read = read_text(&format!("[{}]", events.join(",")));
        assert_eq!(read.format, "openhands");
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "context: sys\nuser: go\nnote recall\n0 message: first\n\
             0 call execute_bash {\"command\":\"a\"} -> failed(exitcode) exit 1: no\n\
             0 call execute_bash {\"command\":\"b\"} -> unknown(absent): wait\n\
             error: bad call\n\
             1 call execute_bash {\"command\":\"c\"} -> denied(denial): no!\n\
             orphanresult: whose?\nunknown action/dance\nmessage: done\nnote agent_state_changed\n\
             2 call execute_bash {\"command\":\"d\"} -> unanswered(absent): \n"
        );
        assert_eq!(run.usage.unwrap().recorded.input, 12);
        assert_eq!(run.calls[0].duration.unwrap().as_secs(), 2);
        assert_eq!(run.agent.version.as_ref().unwrap(), "0.30");
    }

    #[test]
    fn pairs_and_inlined_arguments() {
        let read = read_text(
            r#"{"instance_id":"x","instruction":"fix","metrics":{"accumulated_cost":0.5,"accumulated_token_usage":{"prompt_tokens":9,"completion_tokens":2,"cache_read_tokens":3}},"error":null,"history":[[{"id":1,"source":"agent","action":"run","args":{"command":"ls"}},{"id":2,"observation":"run","cause":1,"content":"a","extras":{"exit_code":0}}],[{"id":8,"source":"agent","action":"read","args":{}},{"observation":"read","content":"b"}],[{"id":3,"source":"agent","action":"finish","args":{"thought":"ok"}},{}]]}
{"issue":{"number":7,"title":"t"},"success":true,"error":"","history":[{"action":"message","content":"task"},{"action":"run","command":"pwd","thought":"where"},{"observation":"run","content":"/","exit_code":0},{"observation":"run","content":"again"},{"action":"finish","thought":"bye"},5]}
{"history":7}
"#,
        );
        assert_eq!(read.runs.len(), 3);
        assert_eq!(
            sketch(&read.runs[0]),
            "call run {\"command\":\"ls\"} -> succeeded(exitcode) exit 0: a\ncall read {} -> unknown(absent): b\nmessage: ok\nunknown event\nuser: fix\n"
        );
        assert_eq!(read.runs[0].usage.unwrap().recorded.cache_read, 3);
        assert_eq!(
            sketch(&read.runs[1]),
            "user: task\nmessage: where\n\
             call run {\"action\":\"run\",\"command\":\"pwd\",\"thought\":\"where\"} -> succeeded(exitcode) exit 0: /\n\
             orphanresult: again\nmessage: bye\nunknown event\n"
        );
        assert_eq!(read.runs[1].outcome.as_ref().unwrap(), "success");
    }
}
