//! Gemini contents: the messages of the Gemini API, as stored by `/chat save`, request logs
//! and SDK programs.
//!
//! Either a list of `{role, parts}`, or objects that hold such a list under `contents`
//! (requests, with `systemInstruction` and `tools`) or `history` (saved chats). A list is one
//! run; of several objects, each is one run. There are no times, and failures show only by
//! the convention that a response holds `error` instead of `output`.

use super::shared::events::{lose_unmarked_status, words};
use super::shared::gemini;
use super::shared::pairing::OpenCalls;
use crate::builder::TrajectoryBuilder;
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{Fact, Fidelity, ToolDefinition, time};
use toolmark_scan::Value;

/// Lists of Gemini contents.
pub(crate) struct GeminiContents;

static INFO: FormatInfo = FormatInfo {
    id: "gemini-contents",
    title: "Gemini contents",
    origin: "Gemini CLI /chat save, Gemini API requests",
    versions: "v1, v1beta",
    looks_for: "a list of {role, parts}, bare or under contents or history",
    fidelity: Fidelity::lacking(&[
        Fact::Times,
        Fact::Durations,
        Fact::Cost,
        Fact::SubAgents,
        Fact::WorkingDirectory,
    ]),
};

/// Keys that hold a list of contents.
const LISTS: [&str; 3] = ["contents", "clientHistory", "history"];

impl Format for GeminiContents {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        match probe.first() {
            Some(first) if is_content(first) => 90,
            Some(first) if contents(first).is_some() => 90,
            _ => 0,
        }
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<ContentsReader>::default()
    }
}

fn is_content(value: Value<'_>) -> bool {
    value.get("role").is_some_and(Value::is_string) && has_parts(value)
}

/// Returns whether the value has Gemini parts, which are recognized by their keys; lists of
/// parts with a `type` are another dialect.
fn has_parts(value: Value<'_>) -> bool {
    let parts = value.get("parts").filter(|p| p.is_array());
    parts.is_some_and(|p| p.items().next().is_none_or(|first| first.get("type").is_none()))
}

/// Returns the list of contents of an object.
fn contents(value: Value<'_>) -> Option<Value<'_>> {
    let lists = LISTS.iter().filter_map(|key| value.get(key));
    lists.into_iter().find(|list| list.items().next().is_some_and(has_parts))
}

#[derive(Default)]
struct ContentsReader {
    /// Run whose contents are the records themselves.
    bare: Option<GeminiContentsRun>,
}

struct GeminiContentsRun {
    b: TrajectoryBuilder,
    open: OpenCalls,
}

impl Reader for ContentsReader {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        let Some(value) = out.object(record, "a content") else { return };
        match contents(value) {
            Some(list) => {
                let mut run = GeminiContentsRun::new(out);
                run.request(record, value);
                for content in list.items() {
                    run.content(record, content);
                }
                run.close(out);
            }
            None => {
                self.bare.get_or_insert_with(|| GeminiContentsRun::new(out)).content(record, value)
            }
        }
    }

    fn finish(&mut self, out: &mut Out) {
        if let Some(run) = self.bare.take() {
            run.close(out);
        }
    }
}

impl GeminiContentsRun {
    fn new(out: &Out) -> Self {
        Self { b: out.builder(&GeminiContents), open: OpenCalls::default() }
    }

    fn close(mut self, out: &mut Out) {
        lose_unmarked_status(&mut self.b);
        out.push(self.b.finish());
    }

    /// Reads the other members of a request or a saved chat.
    fn request(&mut self, record: &Record<'_>, request: Value<'_>) {
        let b = &mut self.b;
        let model = request.get("model").or_else(|| request.at(&["meta", "model"]));
        b.run.agent.model = model.and_then(|m| record.text(m));
        for key in ["start_time", "startTime", "lastUpdated"] {
            b.seen(request.get(key).and_then(time::from_value));
        }
        let config = request.get("config");
        let field = |key: &str| request.get(key).or_else(|| config?.get(key));
        if let Some(system) = field("systemInstruction").or_else(|| field("system_instruction")) {
            let text = system.get("parts").unwrap_or(system);
            b.context(words(record, text), None, record.at_value(system));
        }
        if let Some(tools) = field("tools") {
            b.run.tools = Some(definitions(record, tools));
        }
        if let Some(usage) = request.get("usageMetadata") {
            b.add_usage(gemini::usage(usage));
        }
    }

    fn content(&mut self, record: &Record<'_>, content: Value<'_>) {
        let b = &mut self.b;
        let at = record.at_value(content);
        let role = content.get("role").and_then(Value::inner).unwrap_or("user");
        let Some(parts) = content.get("parts") else {
            b.unknown(format!("content/{role} without parts"), at);
            return;
        };
        let time = ["ts", "timestamp"].iter().find_map(|k| content.get(k));
        let time = time.and_then(time::from_value);
        match role {
            "model" | "assistant" | "gemini" => {
                let step = b.step(None, time, at);
                gemini::model_parts(b, &mut self.open, record, parts, step, time);
            }
            "system" => b.context(words(record, parts), time, at),
            "user" | "function" | "tool" => {
                if gemini::responses(b, &mut self.open, record, parts, time) {
                    return;
                }
                let text = words(record, parts);
                if is_set_up(parts) {
                    b.context(text, time, at);
                } else {
                    b.user(text, time, at);
                }
            }
            other => b.unknown(format!("content/{other}"), at),
        }
    }
}

/// Returns whether the parts are the description of the machine with which Gemini CLI starts
/// every chat.
fn is_set_up(parts: Value<'_>) -> bool {
    let text = parts.items().find_map(|p| p.get("text")?.str()).unwrap_or_default();
    let text = text.trim_start();
    text.starts_with("This is the Gemini CLI. We are setting up the context")
        || text.starts_with("<session_context>")
}

fn definitions(record: &Record<'_>, tools: Value<'_>) -> Vec<ToolDefinition> {
    let lists = tools
        .items()
        .filter_map(|t| t.get("functionDeclarations").or_else(|| t.get("function_declarations")));
    let declared = lists.flat_map(Value::items).filter_map(|d| {
        let schema = ["parameters", "parametersJsonSchema"].iter().find_map(|k| d.get(k));
        Some(ToolDefinition {
            name: record.text_at(d, "name")?,
            description: record.text_at(d, "description"),
            schema: schema.map(|s| record.payload(s)),
        })
    });
    declared.collect()
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, read_text, sketch};

    #[test]
    fn a_bare_list_pairs_by_name_in_order() {
        let read = read_fixture("gemini-contents.json");
        assert_eq!(read.format, "gemini-contents");
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: go\n\
             0 reasoning: hm\n\
             0 call read {\"p\":1} -> succeeded(protocol): one\n\
             0 call read {\"p\":2} -> unknown(absent): {\"result\":\"two\"}\n\
             0 call glob {} -> failed(protocol): bad\n\
             0 call open {} -> unanswered(absent): \n\
             orphanresult: {}\n\
             1 call code_execution {\"language\":\"PYTHON\",\"code\":\"1/0\"} -> failed(protocol): oops\n\
             unknown part/videoMetadata\n\
             user: not a list\n\
             unknown part/text\n\
             2 message: done\n"
        );
        assert_eq!(run.calls[4].actor, crate::model::Actor::Provider);
    }

    #[test]
    fn requests_and_saved_chats() {
        let read = read_text(
            r#"{"model":"g","systemInstruction":{"parts":[{"text":"be brief"}]},"tools":[{"functionDeclarations":[{"name":"f","description":"d"}]}],"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"alien","parts":[]}]}
{"history":[{"role":"user","parts":[{"text":"This is the Gemini CLI. We are setting up the context for our chat."}]},{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{"output":"ok"}}}]}]}
"#,
        );
        assert_eq!(read.runs.len(), 2);
        assert_eq!(sketch(&read.runs[0]), "context: be brief\nuser: hi\nunknown content/alien\n");
        assert_eq!(read.runs[0].tools.as_ref().unwrap()[0].name, "f");
        assert_eq!(
            sketch(&read.runs[1]),
            "context: This is the Gemini CLI. We are setting up the context for our chat.\n\
             0 call f {} -> succeeded(protocol): ok\n"
        );
    }
}
