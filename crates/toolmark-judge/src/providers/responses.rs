//! OpenAI's Responses API.

use super::wire::{Assembly, ModelOutput, Wire, call, check_error, garbled, list, text, tokens};
use super::{AttemptTokens, FaultKind, Prompt, ProviderFault, TOOL, TOOL_PURPOSE};
use crate::config::{Model, Structured};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The wire format of the Responses API.
pub(super) struct Responses;

impl Wire for Responses {
    fn path(&self, _: &Model) -> String {
        "/responses".to_owned()
    }

    fn request(&self, model: &Model, prompt: &Prompt<'_>) -> Value {
        let mut body = json!({
            "model": model.model,
            "instructions": prompt.system,
            "input": prompt.question(),
            "max_output_tokens": model.max_tokens,
            // The trace may be private, so the provider should not store it.
            "store": false,
        });
        match model.structured {
            Structured::Tool => {
                body["tools"] = json!([{
                    "type": "function",
                    "name": TOOL,
                    "description": TOOL_PURPOSE,
                    "parameters": prompt.schema,
                    "strict": true,
                }]);
                body["tool_choice"] = json!({"type": "function", "name": TOOL});
                body["parallel_tool_calls"] = false.into();
            }
            Structured::Schema => {
                body["text"] = json!({"format": {
                    "type": "json_schema",
                    "name": TOOL,
                    "schema": prompt.schema,
                    "strict": true,
                }});
            }
        }
        if let Some(effort) = model.effort {
            body["reasoning"] = json!({"effort": effort.word()});
        }
        if let Some(temperature) = model.temperature {
            body["temperature"] = temperature.into();
        }
        if model.stream {
            body["stream"] = true.into();
        }
        body
    }

    fn spent(&self, answer: &Value) -> AttemptTokens {
        spent(answer)
    }

    fn read(&self, answer: &Value) -> Result<ModelOutput, ProviderFault> {
        check_error(answer)?;
        let output = answer.get("output").and_then(Value::as_array);
        let output = output.ok_or_else(|| garbled("the answer has no output"))?;
        let mut said = ModelOutput::default();
        let mut refused = String::new();
        for item in output {
            match text(item, "type") {
                "function_call" => said.calls.push(call(item, "arguments")?),
                "message" => {
                    for part in list(item, "content") {
                        said.text.push_str(text(part, "text"));
                        refused.push_str(text(part, "refusal"));
                    }
                }
                // Reasoning is not needed.
                _ => {}
            }
        }
        match text(answer, "status") {
            "completed" | "" => {}
            "incomplete" => {
                let why = answer.get("incomplete_details").map_or("", |why| text(why, "reason"));
                match why {
                    "content_filter" if refused.is_empty() => refused.push_str("content filter"),
                    "content_filter" => {}
                    _ => said.is_cut = true,
                }
            }
            "failed" => return Err(ProviderFault::new(FaultKind::Server, "the answer failed")),
            status => return Err(garbled(format!("the status of the answer is {status}"))),
        }
        said.refusal = (!refused.is_empty()).then_some(refused);
        Ok(said)
    }

    fn assembly(&self) -> Box<dyn Assembly> {
        Box::new(OpenaiResponse::default())
    }
}

fn spent(answer: &Value) -> AttemptTokens {
    tokens(answer.get("usage"), &["input_tokens"], "output_tokens")
}

/// A streamed response. Its last event holds the complete response; the deltas are for servers that
/// leave it empty there.
#[derive(Default)]
struct OpenaiResponse {
    items: BTreeMap<u64, ResponseItem>,
    end: Option<Value>,
    is_done: bool,
}

/// One item of the output.
#[derive(Default)]
struct ResponseItem {
    start: Value,
    whole: Option<Value>,
    arguments: String,
    text: String,
    refusal: String,
}

impl ResponseItem {
    /// Returns the item described by the events.
    fn value(self) -> Value {
        if let Some(whole) = self.whole {
            return whole;
        }
        let mut item = if self.start.is_object() { self.start } else { json!({}) };
        if text(&item, "type") == "function_call" {
            item["arguments"] = self.arguments.into();
            return item;
        }
        json!({"type": "message", "content": [
            {"type": "output_text", "text": self.text},
            {"type": "refusal", "refusal": self.refusal},
        ]})
    }
}

impl Assembly for OpenaiResponse {
    fn take(&mut self, event: &Value) -> Result<bool, ProviderFault> {
        let name = text(event, "type");
        match name {
            "error" => return Err(super::error::fault(event)),
            "response.completed" | "response.incomplete" | "response.failed" => {
                let response = event.get("response").filter(|response| response.is_object());
                let response = response.ok_or_else(|| garbled("the last event has no response"))?;
                self.end = Some(response.clone());
                return Ok(true);
            }
            _ => {}
        }
        let Some(index) = event.get("output_index").and_then(Value::as_u64) else {
            return Ok(false);
        };
        let item = self.items.entry(index).or_default();
        let delta = text(event, "delta");
        match name {
            "response.output_item.added" => {
                item.start = event.get("item").cloned().unwrap_or_default();
            }
            "response.output_item.done" => item.whole = event.get("item").cloned(),
            "response.function_call_arguments.delta" => item.arguments.push_str(delta),
            "response.function_call_arguments.done" => {
                text(event, "arguments").clone_into(&mut item.arguments);
            }
            "response.output_text.delta" => item.text.push_str(delta),
            "response.refusal.delta" => item.refusal.push_str(delta),
            _ => {}
        }
        Ok(false)
    }

    fn done(&mut self) {
        self.is_done = true;
    }

    fn tokens(&self) -> AttemptTokens {
        self.end.as_ref().map(spent).unwrap_or_default()
    }

    fn whole(self: Box<Self>) -> Option<Value> {
        let mut whole = match self.end {
            Some(end) => end,
            None if self.is_done && !self.items.is_empty() => json!({}),
            None => return None,
        };
        if list(&whole, "output").is_empty() {
            let items: Vec<Value> = self.items.into_values().map(ResponseItem::value).collect();
            whole["output"] = items.into();
        }
        Some(whole)
    }
}
