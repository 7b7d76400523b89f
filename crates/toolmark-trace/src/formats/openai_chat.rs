//! Conversations in the format of OpenAI chat completions: messages with a role, calls in the
//! assistant's `tool_calls`, results in messages of role `tool`.
//!
//! Stored as a list, one message per line, documents with `messages` (a run each), stored
//! requests with their responses, and bare responses. The old `function_call` with its
//! results of role `function`, custom tools, and the parts written by the Vercel AI SDK are
//! also read. Of stored requests that repeat one growing conversation, only the last is the
//! run.
//!
//! The API has no field for a failed call; some clients add `is_error`, `status` or `error`
//! to the result. Without such a field, the status is unknown.

use super::shared::chat_message::{self, Chat};
use super::shared::conversation::{self, Conversations, MessageDialect};
use crate::builder::TrajectoryBuilder;
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Reader, Record};
use crate::model::{EventKind, Fact, Fidelity, Text};
use toolmark_scan::Value;

/// Conversations in the OpenAI chat format.
pub(crate) struct OpenaiChat;

static INFO: FormatInfo = FormatInfo {
    id: "openai-chat",
    title: "OpenAI chat messages",
    origin: "stored requests, fine-tuning files and message lists of chat clients",
    versions: "function_call, tool_calls and custom tools",
    looks_for: "messages with a role and content or tool_calls",
    fidelity: Fidelity::lacking(&[Fact::ExitCodes, Fact::SubAgents]),
};

impl Format for OpenaiChat {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let sample = conversation::sample(probe);
        if conversation::has_owner(probe) || sample.iter().any(|m| is_other_dialect(*m)) {
            return 0;
        }
        if sample.iter().any(|m| is_response(*m) || has_call_or_result(*m)) {
            return 60;
        }
        // A conversation in which nothing was said is one.
        if sample.is_empty() && probe.any(|r| r.get("messages").is_some_and(Value::is_array)) {
            return 50;
        }
        let plain = sample.iter().filter(|m| is_plain_message(**m)).count();
        match plain {
            0 => 0,
            n if n * 2 > sample.len() => 50,
            _ => 30,
        }
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<Conversations<ChatDialect>>::default()
    }
}

fn is_plain_message(value: Value<'_>) -> bool {
    let role = value.get("role").and_then(Value::inner);
    matches!(role, Some("system" | "developer" | "user" | "assistant" | "tool" | "function"))
        && value.has("content")
}

fn has_call_or_result(value: Value<'_>) -> bool {
    let Some(role) = value.get("role").and_then(Value::inner) else { return false };
    match role {
        "assistant" => {
            let mut calls = value.items_at("tool_calls");
            let is_call =
                |c: Value<'_>| ["function", "custom"].iter().any(|k| c.at(&[k, "name"]).is_some());
            let mut parts = value.items_at("content");
            calls.any(is_call)
                || value.at(&["function_call", "name"]).is_some()
                || parts.any(|p| p.field_is("type", "tool-call"))
        }
        "tool" => value.get("tool_call_id").is_some(),
        "function" => value.get("name").is_some(),
        _ => false,
    }
}

fn is_response(value: Value<'_>) -> bool {
    let first = value.get("choices").and_then(|c| c.items().next());
    value.field_is("object", "chat.completion")
        || first.is_some_and(|c| c.at(&["message", "role"]).is_some())
}

/// Returns whether the message has members that only other chat formats have.
fn is_other_dialect(value: Value<'_>) -> bool {
    let kind = value.word("type");
    if value.has("parts") || value.has("lc") || value.has("message_type") {
        return true;
    }
    if kind.ends_with("_call") || kind.ends_with("_call_output") {
        return true;
    }
    let mut blocks = value.items_at("content");
    let mut calls = value.items_at("tool_calls");
    blocks.any(|block| {
        let kind = block.word("type");
        matches!(kind, "tool_use" | "tool_result" | "input_text" | "server_tool_use")
            || (kind == "text" && block.has("content") && !block.has("text"))
    }) || calls.any(|call| {
        call.get("function").is_some_and(Value::is_string)
            || call.has("tool")
            || call.has("requestor")
            || call.has("function_name")
    })
}

#[derive(Default)]
struct ChatDialect {
    chat: Chat,
}

impl MessageDialect for ChatDialect {
    const FORMAT: &'static dyn Format = &OpenaiChat;

    fn message(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, message: Value<'_>) {
        if !message.is_object() {
            b.unknown("message that is not an object", record.at_value(message));
        } else if message.get("role").is_none() && message.get("choices").is_some() {
            self.response(b, record, message);
        } else {
            self.chat.message(b, record, message, None);
        }
    }

    fn after(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, document: Value<'_>) {
        let response = document.get("response").or_else(|| document.get("completion"));
        let response = response.and_then(|r| r.get("body").or(Some(r)));
        match response {
            Some(text) if text.is_string() => {
                let at = record.at_value(text);
                let step = b.step(None, None, at.clone());
                b.message(step, record.payload(text), None, at);
            }
            Some(response) => self.response_once(b, record, document, response),
            None if document.get("choices").is_some() => {
                self.response_once(b, record, document, document);
            }
            // Some loggers put the usage of the whole conversation beside it.
            None => {
                if let Some(usage) = document.get("usage").and_then(chat_message::usage) {
                    b.run.usage.get_or_insert(usage);
                }
            }
        }
    }
}

impl ChatDialect {
    /// Reads the response to a request, unless the list of messages already ends with it.
    fn response_once(
        &mut self,
        b: &mut TrajectoryBuilder,
        record: &Record<'_>,
        document: Value<'_>,
        response: Value<'_>,
    ) {
        let print = |message: Option<Value<'_>>| message.map(conversation::fingerprint);
        let last = conversation::messages(document).and_then(|list| list.items().last());
        let answer = first_message(response);
        if answer.is_some() && print(last) == print(answer) {
            if let Some(step) = b.last_step() {
                about(b, record, response, step);
            }
            return;
        }
        self.response(b, record, response);
    }

    fn response(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, response: Value<'_>) {
        let time = conversation::stated_time(response);
        let Some(message) = first_message(response) else {
            b.unknown("response without message", record.at_value(response));
            return;
        };
        if let Some(step) = self.chat.message(b, record, message, time) {
            about(b, record, response, step);
        }
        for choice in response.items_at("choices").skip(1) {
            let kind = EventKind::Note(Text::owned("other choice"));
            b.event(kind, Some(record.payload(choice)), None, time, record.at_value(choice));
        }
    }
}

fn first_message(response: Value<'_>) -> Option<Value<'_>> {
    let choice = response.get("choices").and_then(|c| c.items().next());
    let message = choice.and_then(|c| c.get("message")).or_else(|| response.get("message"));
    message.or_else(|| response.get("role").map(|_| response))
}

/// Reads the metadata of a response: ID, model, usage, stop reason.
fn about(b: &mut TrajectoryBuilder, record: &Record<'_>, response: Value<'_>, step: u32) {
    let usage = response.get("usage").and_then(chat_message::usage);
    let this = &mut b.run.steps[step as usize];
    this.id = this.id.take().or_else(|| record.text_at(response, "id"));
    this.model = this.model.take().or_else(|| record.text_at(response, "model"));
    if let Some(usage) = usage {
        b.set_step_usage(step, usage);
    }
    let choice = response.get("choices").and_then(|c| c.items().next());
    b.run.outcome = choice.and_then(|c| record.text_at(c, "finish_reason"));
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_text, sketch};

    fn sketched(text: &str) -> String {
        let read = read_text(text);
        assert_eq!(read.format, "openai-chat");
        read.runs.iter().map(sketch).collect::<Vec<_>>().join("--\n")
    }

    #[test]
    fn calls_and_results() {
        assert_eq!(
            sketched(
                r#"[{"role":"system","content":"be good"},
                {"role":"user","content":[{"type":"text","text":"go"}]},
                {"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[
                    {"id":"a","type":"function","function":{"name":"ls","arguments":"{\"p\":1}"}},
                    {"id":"b","type":"custom","custom":{"name":"patch","input":"*** Begin"}},
                    {"id":"c","type":"function","function":{"name":"rm","arguments":"{"}}]},
                {"role":"tool","tool_call_id":"b","content":"bad","is_error":true},
                {"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"x"}]},
                {"role":"tool","tool_call_id":"z","content":"lost"},
                {"role":"narrator","content":"meanwhile"},
                {"role":"assistant","content":"done"}]"#
            ),
            "context: be good\n\
             user: go\n\
             0 reasoning: hm\n\
             0 call ls {\"p\":1} -> unknown(absent): x\n\
             0 call patch *** Begin -> failed(protocol): bad\n\
             0 call rm { -> unanswered(absent): \n\
             orphanresult: lost\n\
             unknown role/narrator\n\
             1 message: done\n"
        );
    }

    #[test]
    fn old_functions_pair_by_position() {
        assert_eq!(
            sketched(
                r#"{"role":"user","content":"a"}
{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}}
{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{\"n\":2}"}}
{"role":"function","name":"f","content":"two"}
{"role":"function","name":"f","content":"none"}
"#
            ),
            "user: a\n\
             0 call f {} -> unanswered(absent): \n\
             1 call f {\"n\":2} -> unknown(absent): two\n\
             orphanresult: none\n"
        );
    }

    #[test]
    fn repeated_ids_are_new_calls() {
        let read = read_text(
            r#"{"role":"assistant","tool_calls":[{"id":"call_0","function":{"name":"f","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"call_0","content":"1"}
{"role":"assistant","tool_calls":[{"id":"call_0","function":{"name":"f","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"call_0","content":"2"}
"#,
        );
        let run = &read.runs[0];
        assert_eq!((run.calls.len(), run.repeated_results), (2, 0));
    }

    #[test]
    fn documents_are_runs_and_growing_requests_one() {
        let two = sketched(
            r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}
{"messages":[{"role":"user","content":"c"},{"role":"assistant","content":"d"}]}
"#,
        );
        assert_eq!(two, "user: a\n0 message: b\n--\nuser: c\n0 message: d\n");
        let read = read_text(
            r#"{"messages":[{"role":"system","content":"s"},{"role":"user","content":"a"}],"response":{"id":"r1","model":"m","choices":[{"message":{"role":"assistant","content":"b"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":1,"total_tokens":6}},"cost":0.5,"kwargs":{"tools":[{"type":"function","function":{"name":"f","parameters":{}}}]}}
{"messages":[{"role":"system","content":"s"},{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"text","text":"b","cache_control":{}}]},{"role":"user","content":"more"}],"response":{"id":"r2","model":"m","choices":[{"message":{"role":"assistant","content":"c"},"finish_reason":"length"}],"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}},"cost":0.25}
"#,
        );
        assert_eq!(read.runs.len(), 1);
        let run = &read.runs[0];
        assert_eq!(sketch(run), "context: s\nuser: a\n0 message: b\nuser: more\n1 message: c\n");
        let usage = run.usage.unwrap();
        assert_eq!((usage.recorded.input, usage.recorded.cache_read, usage.total()), (14, 4, 17));
        assert_eq!(run.cost.unwrap().usd(), 0.75);
        assert_eq!(run.steps[1].id.as_ref().unwrap(), "r2");
        assert_eq!(run.outcome.as_ref().unwrap(), "length");
    }

    #[test]
    fn exports_for_training() {
        let read = read_text(
            r#"[{"conversations":[{"content":"go","role":"user"},{"content":"done","role":"assistant"}],"agent":"a","model":"m","run_id":"r1"},
            {"conversations":[{"content":"stop","role":"user"},{"content":"ok","role":"assistant"}],"run_id":"r2"}]"#,
        );
        assert_eq!((read.format, read.runs.len()), ("openai-chat", 2));
        assert_eq!(sketch(&read.runs[0]), "user: go\n0 message: done\n");
        assert_eq!(read.runs[1].id.as_ref().unwrap(), "r2");
    }

    #[test]
    fn wrong_types_lose_nothing_else() {
        assert_eq!(
            sketched(
                r#"{"messages":[7,{"role":5,"content":1},{"role":"assistant","tool_calls":{"id":1},"content":{"a":1}},
                {"role":"assistant","tool_calls":[3,{"id":4,"function":{"name":["x"],"arguments":{"k":1}}}]},
                {"role":"tool","tool_call_id":"4","content":null}],"tools":"none","response":[]}"#
            ),
            "unknown message that is not an object\n\
             unknown message without role\n\
             0 message: {\"a\":1}\n\
             unknown tool_calls that are not a list\n\
             1 call   -> unanswered(absent): \n\
             1 call  {\"k\":1} -> unknown(absent): \n\
             unknown response without message\n"
        );
    }

    #[test]
    fn parts_of_the_vercel_sdk() {
        assert_eq!(
            sketched(
                r#"[{"role":"assistant","content":[{"type":"text","text":"look"},{"type":"tool-call","toolCallId":"t","toolName":"ls","input":{"p":"."}}]},
                {"role":"tool","content":[{"type":"tool-result","toolCallId":"t","toolName":"ls","output":{"type":"error-text","value":"no"}}]}]"#
            ),
            "0 message: look\n0 call ls {\"p\":\".\"} -> failed(protocol): no\n"
        );
    }
}
