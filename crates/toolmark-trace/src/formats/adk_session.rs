//! Sessions of Google's Agent Development Kit: `events` of the user, the agents and their
//! tools, each with a content of parts.
//!
//! Stored as a session document, as a list of events, or as one event per line, in snake or
//! camel case. An event marked `partial` is a piece of an event that follows as a whole. An
//! event written by an agent is one model response, except events that contain only results,
//! although their author is the agent. Calls of an agent other than the first carry its
//! name. Calls and results of old sessions have no IDs and are paired by tool and position.
//! Old sessions also keep the requests to the model in `event_logs`, which provide tools,
//! model and usage.

use super::shared::{adk, tool_definitions};
use crate::builder::TrajectoryBuilder;
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{EventKind, Fact, Fidelity, Text};
use std::collections::HashMap;
use toolmark_scan::Value;

/// Sessions of the Agent Development Kit.
pub(crate) struct AdkSession;

static INFO: FormatInfo = FormatInfo {
    id: "adk-session",
    title: "Google ADK session",
    origin: "session files and event lists of Google's Agent Development Kit",
    versions: "0.x and 1.x, snake and camel case",
    looks_for: "events with invocation_id and author",
    fidelity: Fidelity::lacking(&[Fact::ExitCodes, Fact::Cost]),
};

impl Format for AdkSession {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let holds_events =
            |r: Value<'_>| r.get("events").is_some_and(|e| e.items().take(4).any(is_event));
        if probe.any(holds_events) {
            return 95;
        }
        if probe.any(is_event) {
            return 90;
        }
        if probe.any(is_session) { 85 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<AdkSessionReader>::default()
    }
}

/// Returns whether the value is a session without events.
fn is_session(value: Value<'_>) -> bool {
    let has = |key: &str| adk::get(value, key).is_some();
    has("app_name")
        && has("user_id")
        && has("id")
        && (has("last_update_time") || value.get("state").is_some_and(Value::is_object))
        && value.get("events").is_none_or(|events| events.items().next().is_none())
}

fn is_event(value: Value<'_>) -> bool {
    adk::get(value, "invocation_id").is_some() && value.get("author").is_some()
}

#[derive(Default)]
struct AdkSessionReader {
    /// Run of a file with one event per record.
    loose: Option<AdkSessionRun>,
}

impl Reader for AdkSessionReader {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        let Some(value) = out.object(record, "a session or an event") else { return };
        let events = value.get("events").filter(|e| e.is_array());
        if events.is_none() && !is_session(value) {
            let session = self.loose.get_or_insert_with(|| AdkSessionRun::new(out));
            session.event(record, value, None);
            return;
        }
        let mut session = AdkSessionRun::new(out);
        if events.is_none() {
            session.b.run.fidelity.lose(Fact::Calls);
        }
        let run = &mut session.b.run;
        run.id = record.text_at(value, "id");
        run.name = adk::get(value, "app_name").and_then(|n| record.text(n));
        let first_log = adk::get(value, "event_logs").and_then(|logs| logs.items().next());
        if let Some(config) = first_log.and_then(request_config) {
            session.configure(record, config);
        }
        let logs = logs(value);
        for event in events.into_iter().flat_map(Value::items) {
            let id = event.get("id").and_then(Value::inner);
            session.event(record, event, id.and_then(|id| logs.get(id)).copied());
        }
        out.push(session.b.finish());
    }

    fn finish(&mut self, out: &mut Out) {
        if let Some(session) = self.loose.take() {
            out.push(session.b.finish());
        }
    }

    fn spans_records(&self) -> bool {
        self.loose.is_some()
    }
}

/// Returns the model requests and responses, by the ID of the event.
fn logs(session: Value<'_>) -> HashMap<&str, Value<'_>> {
    let logs = adk::get(session, "event_logs").into_iter().flat_map(Value::items);
    logs.filter_map(|log| Some((adk::get(log, "event_id")?.inner()?, log))).collect()
}

fn request_config(log: Value<'_>) -> Option<Value<'_>> {
    adk::get(log, "model_request")?.get("config")
}

struct AdkSessionRun {
    b: TrajectoryBuilder,
    parts: adk::AdkParts,
}

impl AdkSessionRun {
    fn new(out: &Out) -> Self {
        Self { b: out.builder(&AdkSession), parts: adk::AdkParts::default() }
    }

    /// Reads the instruction and the tools of a model request.
    fn configure(&mut self, record: &Record<'_>, config: Value<'_>) {
        self.b.run.tools = config.get("tools").and_then(|t| tool_definitions::read(record, t));
        if let Some(text) = adk::get(config, "system_instruction") {
            self.b.context(Some(record.payload(text)), None, record.at_value(text));
        }
    }

    fn event(&mut self, record: &Record<'_>, event: Value<'_>, log: Option<Value<'_>>) {
        let at = record.at_value(event);
        let time = adk::stated_time(event, "timestamp");
        let author = record.text_at(event, "author");
        let options = event.get("options");
        let partial = event.get("partial").or_else(|| options?.get("partial"));
        if !event.is_object() || author.is_none() {
            self.b.unknown("event without author", at);
            return;
        }
        if partial.and_then(Value::as_bool) == Some(true) {
            self.b.event(EventKind::Note(Text::owned("partial")), None, None, time, at);
            return;
        }
        let content = event.get("content");
        let is_user = author.as_ref().is_some_and(|a| a.is("user"));
        if is_user && !adk::parts(content).any(adk::is_response) {
            self.b.user(adk::user_text(record, content), time, at);
            return;
        }
        if !is_user && self.b.run.agent.name.is_none() {
            self.b.run.agent.name.clone_from(&author);
        }
        let is_output = adk::parts(content).any(|p| !adk::is_response(p));
        let step = (is_output && !is_user).then(|| self.step(record, event, log));
        let before = self.b.run.calls.len();
        for part in adk::parts(content) {
            self.parts.part(&mut self.b, record, part, step, time);
        }
        if self.b.run.agent.name != author {
            for call in self.b.run.calls.iter_mut().skip(before) {
                call.agent.clone_from(&author);
            }
        }
        self.rest(record, event);
    }

    /// Reads the remaining members of an event, besides its content.
    fn rest(&mut self, record: &Record<'_>, event: Value<'_>) {
        let at = record.at_value(event);
        let time = adk::stated_time(event, "timestamp");
        let error = adk::get(event, "error_message").or_else(|| adk::get(event, "error_code"));
        if let Some(error) = error {
            let text = Some(record.payload(error));
            self.b.event(EventKind::Error, text, None, time, at.clone());
        }
        let Some(actions) = event.get("actions") else { return };
        if let Some(summary) = actions.get("compaction") {
            let text = Some(record.payload(summary));
            self.b.event(EventKind::Compaction, text, None, time, at.clone());
        }
        if let Some(agent) = adk::get(actions, "transfer_to_agent") {
            let kind = EventKind::Note(Text::owned("transfer_to_agent"));
            self.b.event(kind, Some(record.payload(agent)), None, time, at);
        }
    }

    fn step(&mut self, record: &Record<'_>, event: Value<'_>, log: Option<Value<'_>>) -> u32 {
        let time = adk::stated_time(event, "timestamp");
        let step = self.b.step(None, time, record.at_value(event));
        let logged = log.and_then(|l| adk::get(l, "model_response"));
        let from_either = |key| adk::get(event, key).or_else(|| adk::get(logged?, key));
        let this = &mut self.b.run.steps[step as usize];
        this.id = record.text_at(event, "id");
        this.model = from_either("model_version").and_then(|m| record.text(m));
        if let Some(usage) = from_either("usage_metadata").filter(|u| u.is_object()) {
            let usage = adk::usage(usage);
            this.usage = Some(usage);
            self.b.add_usage(usage);
        }
        step
    }
}

#[cfg(test)]
mod tests {
    use crate::model::RecordedCalls;
    use crate::testing::{read_fixture, read_text, sketch};

    #[test]
    fn a_session_without_events() {
        for (events, recorded) in
            [(r#","events":[]"#, RecordedCalls::Fully), ("", RecordedCalls::Not)]
        {
            let read = read_text(&format!(
                r#"{{"id":"s","appName":"a","userId":"u","state":{{}},"lastUpdateTime":1.5{events}}}"#
            ));
            assert_eq!(read.format, "adk-session");
            let run = &read.runs[0];
            assert_eq!((run.id.as_ref().unwrap().to_string(), run.calls.len()), ("s".into(), 0));
            assert_eq!(run.calls_recorded(), recorded, "{events}");
        }
    }

    #[test]
    fn a_session() {
        let read = read_fixture("adk-session.json");
        assert_eq!(read.format, "adk-session");
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: go\n\
             note partial\n\
             0 reasoning: hm\n\
             0 message: I look\n\
             0 call ls {\"p\":1} -> unknown(absent): {\"result\":\"x\"}\n\
             0 call rm {} -> failed(protocol): {\"error\":\"no\"}\n\
             0 call cp {} -> unanswered(absent): \n\
             orphanresult: {}\n\
             note transfer_to_agent\n\
             1 call up {} -> unanswered(absent): \n\
             unknown part\n\
             error: slow down\n\
             unknown event without author\n\
             unknown event without author\n"
        );
        assert_eq!(run.calls[0].duration.unwrap().as_millis(), 2000);
        assert!(run.calls[0].agent.is_none());
        assert_eq!(run.calls[3].agent.as_ref().unwrap(), "helper");
        let usage = run.usage.unwrap();
        assert_eq!((usage.total(), usage.normalised().output), (14, 5));
    }

    #[test]
    fn results_without_ids_and_a_log() {
        let read = read_text(
            r#"{"id":"s","events":[
            {"id":"1","invocation_id":"i","author":"bot","content":{"parts":[{"function_call":{"name":"f","args":{"n":1}}},{"function_call":{"name":"g","args":{}}},{"function_call":{"name":"f","args":{"n":2}}}]}},
            {"id":"2","invocation_id":"i","author":"bot","content":{"parts":[{"function_response":{"name":"g","response":{}}},{"function_response":{"name":"f","response":{"n":1}}},{"function_response":{"name":"f","response":{"n":2}}}]}},
            {"id":"3","invocation_id":"i","author":"bot","content":{"parts":[{"executable_code":{"code":"1/0"}},{"code_execution_result":{"outcome":"OUTCOME_FAILED","output":"boom"}}]}}],
            "event_logs":[{"event_id":"1","model_request":{"model":"m","config":{"system_instruction":"be good","tools":[{"function_declarations":[{"name":"f"},{"name":"g"}]}]}},
                "model_response":{"model_version":"m-001","usage_metadata":{"prompt_token_count":5,"candidates_token_count":1,"total_token_count":6}}}]}"#,
        );
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "context: be good\n\
             0 call f {\"n\":1} -> unknown(absent): {\"n\":1}\n\
             0 call g {} -> unknown(absent): {}\n\
             0 call f {\"n\":2} -> unknown(absent): {\"n\":2}\n\
             1 call code_execution {\"code\":\"1/0\"} -> failed(protocol): boom\n"
        );
        assert_eq!(run.tools.as_ref().unwrap().len(), 2);
        assert_eq!(run.agent.model.as_ref().unwrap(), "m-001");
        assert_eq!(run.usage.unwrap().total(), 6);
    }

    #[test]
    fn events_on_lines() {
        let read = read_text(
            r#"{"id":"1","invocation_id":"i","author":"user","content":{"parts":[{"text":"go"}]}}
{"id":"2","invocation_id":"i","author":"bot","content":{"parts":[{"text":"done"},{"text":null}]}}
"#,
        );
        assert_eq!(sketch(&read.runs[0]), "user: go\n0 message: done\n");
    }
}
