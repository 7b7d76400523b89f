//! Anthropic's Messages API: Anthropic's own, and those of Amazon Bedrock and Vertex AI, which take
//! the model from the address and the version from the body.

use super::wire::{Assembly, ModelOutput, Wire, call, check_error, garbled, text, tokens};
use super::{AttemptTokens, Prompt, ProviderFault, TOOL, TOOL_PURPOSE};
use crate::config::{Model, Structured};
use crate::secret::percent_encode;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The wire format, by the service that provides it.
pub(super) enum Messages {
    Own,
    Bedrock,
    Vertex,
}

impl Messages {
    /// Returns the version sent in the body, if any.
    fn version(&self) -> Option<&'static str> {
        match self {
            Self::Own => None,
            Self::Bedrock => Some("bedrock-2023-05-31"),
            Self::Vertex => Some("vertex-2023-10-16"),
        }
    }
}

/// Marks the end of the part that the provider may cache for the next request.
fn cached(text: &str, is_kept: bool) -> Value {
    let mut block = json!({"type": "text", "text": text});
    if is_kept {
        block["cache_control"] = json!({"type": "ephemeral"});
    }
    block
}

impl Wire for Messages {
    fn path(&self, model: &Model) -> String {
        let name = percent_encode(&model.model);
        match self {
            Self::Own => "/messages".to_owned(),
            Self::Bedrock => format!("/model/{name}/invoke"),
            Self::Vertex => {
                // Versions of models begin with an @ there, which needs no escape.
                let name = name.replace("%40", "@");
                let method = if model.stream { "streamRawPredict" } else { "rawPredict" };
                format!("/publishers/anthropic/models/{name}:{method}")
            }
        }
    }

    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Own => &[("anthropic-version", "2023-06-01")],
            Self::Bedrock | Self::Vertex => &[],
        }
    }

    fn request(&self, model: &Model, prompt: &Prompt<'_>) -> Value {
        let mut content = vec![cached(prompt.user, prompt.is_repeated)];
        content.extend(prompt.reminder.map(|reminder| cached(reminder, false)));
        let mut body = json!({
            "max_tokens": model.max_tokens,
            "system": [cached(prompt.system, true)],
            "messages": [{"role": "user", "content": content}],
        });
        match self.version() {
            None => body["model"] = model.model.as_str().into(),
            Some(version) => body["anthropic_version"] = version.into(),
        }
        let mut output = Map::new();
        if let Some(effort) = model.effort {
            output.insert("effort".into(), effort.word().into());
        }
        match model.structured {
            Structured::Tool => {
                body["tools"] = json!([{
                    "name": TOOL,
                    "description": TOOL_PURPOSE,
                    "input_schema": prompt.schema,
                }]);
                body["tool_choice"] =
                    json!({"type": "tool", "name": TOOL, "disable_parallel_tool_use": true});
            }
            Structured::Schema => {
                let format = json!({"type": "json_schema", "schema": prompt.schema});
                output.insert("format".into(), format);
            }
        }
        if !output.is_empty() {
            body["output_config"] = output.into();
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
        spent(answer.get("usage"))
    }

    fn read(&self, answer: &Value) -> Result<ModelOutput, ProviderFault> {
        check_error(answer)?;
        let content = answer.get("content").and_then(Value::as_array);
        let content = content.ok_or_else(|| garbled("the answer has no content"))?;
        let mut said = ModelOutput::default();
        for block in content {
            match text(block, "type") {
                "text" => said.text.push_str(text(block, "text")),
                "tool_use" => said.calls.push(call(block, "input")?),
                // Thinking is not needed.
                _ => {}
            }
        }
        match text(answer, "stop_reason") {
            "max_tokens" | "model_context_window_exceeded" => said.is_cut = true,
            "refusal" => {
                let why = answer.get("stop_details").map_or("", |why| text(why, "explanation"));
                let why = if why.is_empty() { said.text.as_str() } else { why };
                said.refusal = Some(if why.is_empty() { "no reason given" } else { why }.into());
            }
            _ => {}
        }
        Ok(said)
    }

    fn assembly(&self) -> Box<dyn Assembly> {
        Box::new(AnthropicMessage::default())
    }
}

fn spent(usage: Option<&Value>) -> AttemptTokens {
    let input = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
    tokens(usage, &input, "output_tokens")
}

/// A streamed message.
#[derive(Default)]
struct AnthropicMessage {
    blocks: BTreeMap<u64, AnthropicBlock>,
    /// Token counts, which are cumulative: later ones replace earlier ones.
    usage: Map<String, Value>,
    /// Fields of the final `message_delta`.
    end: Map<String, Value>,
    is_over: bool,
}

struct AnthropicBlock {
    /// Block of the start event.
    start: Value,
    /// Text or JSON of the deltas.
    added: String,
}

impl AnthropicMessage {
    fn counts(&mut self, usage: Option<&Value>) {
        for (name, count) in usage.and_then(Value::as_object).into_iter().flatten() {
            if count.is_u64() {
                self.usage.insert(name.clone(), count.clone());
            }
        }
    }
}

impl Assembly for AnthropicMessage {
    fn take(&mut self, event: &Value) -> Result<bool, ProviderFault> {
        let index = event.get("index").and_then(Value::as_u64);
        match text(event, "type") {
            "message_start" => self.counts(event.get("message").and_then(|m| m.get("usage"))),
            "content_block_start" => {
                let (Some(index), Some(start)) = (index, event.get("content_block")) else {
                    return Err(garbled("a content block has no index"));
                };
                self.blocks
                    .insert(index, AnthropicBlock { start: start.clone(), added: String::new() });
            }
            "content_block_delta" => {
                let block = index.and_then(|index| self.blocks.get_mut(&index));
                let (Some(block), Some(delta)) = (block, event.get("delta")) else {
                    return Err(garbled("a content block continues before it began"));
                };
                match text(delta, "type") {
                    "text_delta" => block.added.push_str(text(delta, "text")),
                    "input_json_delta" => block.added.push_str(text(delta, "partial_json")),
                    _ => {}
                }
            }
            "message_delta" => {
                self.counts(event.get("usage"));
                let delta = event.get("delta").and_then(Value::as_object);
                self.end.extend(delta.cloned().unwrap_or_default());
            }
            "message_stop" => self.is_over = true,
            // `ping`, `content_block_stop`, and unknown events.
            _ => {}
        }
        Ok(self.is_over)
    }

    fn tokens(&self) -> AttemptTokens {
        spent(Some(&Value::Object(self.usage.clone())))
    }

    fn whole(self: Box<Self>) -> Option<Value> {
        if !self.is_over {
            return None;
        }
        let mut content = Vec::new();
        for AnthropicBlock { mut start, added } in self.blocks.into_values() {
            match text(&start, "type") {
                "text" => {
                    let whole = format!("{}{added}", text(&start, "text"));
                    start["text"] = whole.into();
                }
                "tool_use" if !added.trim().is_empty() => start["input"] = added.into(),
                _ => {}
            }
            content.push(start);
        }
        let mut whole = self.end;
        whole.insert("content".into(), content.into());
        whole.insert("usage".into(), self.usage.into());
        Some(whole.into())
    }
}
