//! OpenAI's Chat Completions API, and everything compatible with it.
//!
//! Other servers reject some of OpenAI's own parameters: they only get those that all of them
//! accept.

use super::wire::{Assembly, ModelOutput, Wire, call, check_error, garbled, list, text, tokens};
use super::{AttemptTokens, Prompt, ProviderFault, TOOL, TOOL_PURPOSE};
use crate::config::{Model, ProviderKind, Structured};
use crate::secret::percent_encode;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The wire format of Chat Completions.
pub(super) struct Chat;

impl Wire for Chat {
    fn path(&self, model: &Model) -> String {
        let is_resource = model.kind == ProviderKind::Azure && !model.base_url.contains("/openai");
        let between = match (is_resource, model.query.contains_key("api-version")) {
            (false, _) => String::new(),
            // Versioned by date, the deployment is part of the address.
            (true, true) => format!("/openai/deployments/{}", percent_encode(&model.model)),
            (true, false) => "/openai/v1".to_owned(),
        };
        format!("{between}/chat/completions")
    }

    fn request(&self, model: &Model, prompt: &Prompt<'_>) -> Value {
        let is_own = model.kind == ProviderKind::Azure
            || model.base_url == ProviderKind::OpenaiChat.base_url();
        let limit = model.token_limit.word();
        let mut body = json!({
            "model": model.model,
            "messages": [
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": prompt.question()},
            ],
            limit: model.max_tokens,
        });
        match model.structured {
            Structured::Tool => {
                let mut function = json!({
                    "name": TOOL,
                    "description": TOOL_PURPOSE,
                    "parameters": prompt.schema,
                });
                if is_own {
                    function["strict"] = true.into();
                    body["parallel_tool_calls"] = false.into();
                }
                body["tools"] = json!([{"type": "function", "function": function}]);
                body["tool_choice"] = json!({"type": "function", "function": {"name": TOOL}});
            }
            Structured::Schema => {
                body["response_format"] = json!({
                    "type": "json_schema",
                    "json_schema": {"name": TOOL, "schema": prompt.schema, "strict": true},
                });
            }
        }
        if let Some(effort) = model.effort {
            body["reasoning_effort"] = effort.word().into();
        }
        if let Some(temperature) = model.temperature {
            body["temperature"] = temperature.into();
        }
        if model.stream {
            body["stream"] = true.into();
            body["stream_options"] = json!({"include_usage": true});
        }
        body
    }

    fn spent(&self, answer: &Value) -> AttemptTokens {
        spent(answer.get("usage"))
    }

    fn read(&self, answer: &Value) -> Result<ModelOutput, ProviderFault> {
        check_error(answer)?;
        let choice = list(answer, "choices").first();
        let message = choice.and_then(|choice| choice.get("message"));
        let (Some(choice), Some(message)) = (choice, message.filter(|m| m.is_object())) else {
            return Err(garbled("the answer has no message"));
        };
        let mut said = ModelOutput::default();
        let mut refused = text(message, "refusal").to_owned();
        said.text.push_str(text(message, "content"));
        for part in list(message, "content") {
            said.text.push_str(text(part, "text"));
            refused.push_str(text(part, "refusal"));
        }
        for called in list(message, "tool_calls") {
            let function = called.get("function").or_else(|| called.get("custom"));
            let function = function.ok_or_else(|| garbled("a tool call has no function"))?;
            let arguments = if called.get("function").is_some() { "arguments" } else { "input" };
            said.calls.push(call(function, arguments)?);
        }
        match text(choice, "finish_reason") {
            "length" => said.is_cut = true,
            "content_filter" if refused.is_empty() => refused.push_str("content filter"),
            _ => {}
        }
        said.refusal = (!refused.is_empty()).then_some(refused);
        Ok(said)
    }

    fn assembly(&self) -> Box<dyn Assembly> {
        Box::new(Completion::default())
    }
}

fn spent(usage: Option<&Value>) -> AttemptTokens {
    tokens(usage, &["prompt_tokens"], "completion_tokens")
}

/// A streamed completion.
#[derive(Default)]
struct Completion {
    has_choice: bool,
    content: String,
    refusal: String,
    calls: Vec<Called>,
    /// Call to which the deltas of an index belong.
    places: BTreeMap<u64, usize>,
    finish_reason: String,
    usage: Value,
    is_done: bool,
}

#[derive(Default)]
struct Called {
    id: String,
    name: String,
    arguments: String,
}

impl Completion {
    fn add_call(&mut self, delta: &Value) {
        let (id, function) = (text(delta, "id"), delta.get("function"));
        let name = function.map_or("", |function| text(function, "name"));
        // Servers without an index send each call in one delta.
        let last = self.calls.len().saturating_sub(1) as u64;
        let unnumbered = if name.is_empty() { last } else { self.calls.len() as u64 };
        let index = delta.get("index").and_then(Value::as_u64).unwrap_or(unnumbered);
        let place = self.places.get(&index).copied();
        // Some give all calls the same index: another id with a name is another call.
        let is_other = |called: &Called| {
            !name.is_empty() && !id.is_empty() && !called.id.is_empty() && called.id != id
        };
        let place = place.filter(|at| !self.calls.get(*at).is_some_and(is_other));
        let place = place.unwrap_or_else(|| {
            self.calls.push(Called::default());
            self.calls.len() - 1
        });
        self.places.insert(index, place);
        let Some(called) = self.calls.get_mut(place) else { return };
        if called.id.is_empty() {
            id.clone_into(&mut called.id);
        }
        if called.name.is_empty() {
            name.clone_into(&mut called.name);
        }
        match function.and_then(|function| function.get("arguments")) {
            Some(Value::String(delta)) => called.arguments.push_str(delta),
            Some(json @ Value::Object(_)) => called.arguments.push_str(&json.to_string()),
            _ => {}
        }
    }
}

impl Assembly for Completion {
    fn take(&mut self, event: &Value) -> Result<bool, ProviderFault> {
        if let Some(usage) = event.get("usage").filter(|usage| usage.is_object()) {
            self.usage = usage.clone();
        }
        let choices = list(event, "choices").iter();
        let ours = choices.filter(|c| c.get("index").and_then(Value::as_u64).unwrap_or(0) == 0);
        for choice in ours {
            self.has_choice = true;
            if let Some(delta) = choice.get("delta") {
                self.content.push_str(text(delta, "content"));
                self.refusal.push_str(text(delta, "refusal"));
                for delta in list(delta, "tool_calls") {
                    self.add_call(delta);
                }
            }
            let reason = text(choice, "finish_reason");
            if !reason.is_empty() {
                reason.clone_into(&mut self.finish_reason);
            }
        }
        Ok(false)
    }

    fn done(&mut self) {
        self.is_done = true;
    }

    fn tokens(&self) -> AttemptTokens {
        spent(Some(&self.usage))
    }

    fn whole(self: Box<Self>) -> Option<Value> {
        // Not every server says that it is done, but all say why they stop.
        if !self.is_done && self.finish_reason.is_empty() {
            return None;
        }
        let calls = self.calls.into_iter().map(
            |called| json!({"function": {"name": called.name, "arguments": called.arguments}}),
        );
        let message = json!({
            "content": self.content,
            "refusal": self.refusal,
            "tool_calls": calls.collect::<Vec<_>>(),
        });
        let choice = json!({"message": message, "finish_reason": self.finish_reason});
        let choices = if self.has_choice { vec![choice] } else { Vec::new() };
        Some(json!({"choices": choices, "usage": self.usage}))
    }
}
