//! The three wire formats, according to their public documentation.

use super::{Act, INPUT, ModelRequest, OUTPUT, TOOL, WireFamily};
use serde_json::{Value, json};
use std::fmt::Write;

/// Stop reason of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StopReason {
    Called,
    Said,
    Refused,
    Filtered,
    Cut,
}

/// Output of a model, independent of the wire format.
pub(super) struct Spoken {
    model: Value,
    calls: Vec<(String, String)>,
    text: String,
    refusal: String,
    stop: StopReason,
}

impl Spoken {
    pub(super) fn of(act: &Act, request: &ModelRequest, answer: &str) -> Self {
        let call = |arguments: &str| (TOOL.to_owned(), arguments.to_owned());
        let mut spoken = Self {
            model: request.body["model"].clone(),
            calls: vec![call(answer)],
            text: String::new(),
            refusal: String::new(),
            stop: StopReason::Called,
        };
        match act {
            Act::Twice => spoken.calls.push(call(r#"{"second":true}"#)),
            Act::Talk => {
                spoken.calls.clear();
                spoken.text = "I would rather talk: é€😀.".to_owned();
            }
            Act::OtherTool => spoken.calls.insert(0, ("ls".to_owned(), "{}".to_owned())),
            Act::NotJson => spoken.calls = vec![call("{\"n\": oops")],
            Act::Refuse | Act::Filtered => {
                spoken.calls.clear();
                let is_filter = *act == Act::Filtered;
                spoken.stop = if is_filter { StopReason::Filtered } else { StopReason::Refused };
                spoken.refusal = if is_filter { "" } else { "I cannot help with that." }.into();
            }
            Act::Cut => {
                let half = answer.get(..answer.len() / 2).unwrap_or_default();
                spoken.calls = vec![call(half)];
                spoken.stop = StopReason::Cut;
            }
            Act::EchoInAnswer => {
                let key = request.key();
                spoken.calls = vec![call(&json!({"n": key}).to_string())];
                spoken.text = format!("your key is {key}");
            }
            _ => {}
        }
        // Without a tool the arguments are what is said.
        if !request.has_tools() {
            for (_, arguments) in std::mem::take(&mut spoken.calls) {
                spoken.text.push_str(&arguments);
            }
        }
        if spoken.calls.is_empty() && spoken.stop == StopReason::Called {
            spoken.stop = StopReason::Said;
        }
        spoken
    }

    fn anthropic_stop(&self) -> (Value, Value) {
        let explained = json!({"type": "refusal", "category": null, "explanation": self.refusal});
        match self.stop {
            StopReason::Called => (json!("tool_use"), Value::Null),
            StopReason::Said => (json!("end_turn"), Value::Null),
            StopReason::Cut => (json!("max_tokens"), Value::Null),
            StopReason::Refused => (json!("refusal"), explained),
            StopReason::Filtered => (json!("refusal"), Value::Null),
        }
    }

    fn chat_finish(&self) -> &'static str {
        match self.stop {
            StopReason::Called => "tool_calls",
            StopReason::Said | StopReason::Refused => "stop",
            StopReason::Cut => "length",
            StopReason::Filtered => "content_filter",
        }
    }
}

/// The body of an error.
pub(super) fn error(family: WireFamily, status: u16, words: &str) -> Value {
    let anthropic = match status {
        401 => "authentication_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    };
    let openai = match status {
        429 => "rate_limit_exceeded",
        500.. => "server_error",
        _ => "invalid_request_error",
    };
    match family {
        WireFamily::Anthropic => json!({
            "type": "error",
            "error": {"type": anthropic, "message": words},
            "request_id": "req_1",
        }),
        _ => json!({"error": {
            "message": words, "type": openai, "param": null,
            "code": if status == 429 { json!("rate_limit_exceeded") } else { Value::Null },
        }}),
    }
}

/// Returns a complete answer.
pub(super) fn whole(family: WireFamily, spoken: &Spoken) -> Value {
    match family {
        WireFamily::Anthropic => anthropic(spoken),
        WireFamily::Responses => response(spoken),
        WireFamily::Chat => json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1_700_000_000,
            "model": spoken.model, "system_fingerprint": null, "service_tier": "default",
            "choices": [{
                "index": 0, "logprobs": null, "finish_reason": spoken.chat_finish(),
                "message": chat_message(spoken),
            }],
            "usage": chat_usage(),
        }),
    }
}

fn anthropic(spoken: &Spoken) -> Value {
    let mut content = Vec::new();
    if !spoken.text.is_empty() {
        content.push(json!({"type": "text", "text": spoken.text, "citations": null}));
    }
    for (n, (name, arguments)) in spoken.calls.iter().enumerate() {
        // The provider parses what the model writes, as far as it goes.
        let input: Value = serde_json::from_str(arguments).unwrap_or_else(|_| json!({}));
        content.push(json!({
            "type": "tool_use", "id": format!("toolu_{n}"), "name": name, "input": input,
        }));
    }
    let (reason, details) = spoken.anthropic_stop();
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": spoken.model,
        "content": content, "stop_reason": reason, "stop_details": details,
        "stop_sequence": null, "usage": anthropic_usage(OUTPUT),
    })
}

fn anthropic_usage(output: u64) -> Value {
    let [plain, written, read] = INPUT;
    json!({
        "input_tokens": plain, "cache_creation_input_tokens": written,
        "cache_read_input_tokens": read, "output_tokens": output, "service_tier": "standard",
    })
}

fn response_items(spoken: &Spoken) -> Vec<Value> {
    let mut items = vec![json!({"type": "reasoning", "id": "rs_1", "summary": []})];
    let mut parts = Vec::new();
    if !spoken.text.is_empty() {
        parts.push(json!({
            "type": "output_text", "text": spoken.text, "annotations": [], "logprobs": [],
        }));
    }
    if !spoken.refusal.is_empty() {
        parts.push(json!({"type": "refusal", "refusal": spoken.refusal}));
    }
    if !parts.is_empty() {
        items.push(json!({
            "type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
            "content": parts,
        }));
    }
    let status = if spoken.stop == StopReason::Cut { "incomplete" } else { "completed" };
    for (n, (name, arguments)) in spoken.calls.iter().enumerate() {
        items.push(json!({
            "type": "function_call", "id": format!("fc_{n}"), "call_id": format!("call_{n}"),
            "name": name, "arguments": arguments, "status": status,
        }));
    }
    items
}

fn response(spoken: &Spoken) -> Value {
    let (status, details) = match spoken.stop {
        StopReason::Cut => ("incomplete", json!({"reason": "max_output_tokens"})),
        StopReason::Filtered => ("incomplete", json!({"reason": "content_filter"})),
        _ => ("completed", Value::Null),
    };
    let input: u64 = INPUT.iter().sum();
    let mut response = begun(spoken);
    response["status"] = status.into();
    response["incomplete_details"] = details;
    response["output"] = response_items(spoken).into();
    response["usage"] = json!({
        "input_tokens": input, "input_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 0},
        "output_tokens": OUTPUT, "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": input + OUTPUT,
    });
    response
}

fn begun(spoken: &Spoken) -> Value {
    json!({
        "id": "resp_1", "object": "response", "created_at": 1_700_000_000,
        "status": "in_progress", "error": null, "incomplete_details": null,
        "instructions": null, "metadata": {}, "model": spoken.model, "output": [],
        "parallel_tool_calls": false, "temperature": 1.0, "tool_choice": "auto", "tools": [],
        "top_p": 1.0, "usage": null,
    })
}

fn chat_message(spoken: &Spoken) -> Value {
    let nothing_or = |text: &str| if text.is_empty() { Value::Null } else { json!(text) };
    let mut message = json!({
        "role": "assistant", "content": nothing_or(&spoken.text),
        "refusal": nothing_or(&spoken.refusal), "annotations": [],
    });
    let calls = spoken.calls.iter().enumerate().map(|(n, (name, arguments))| {
        json!({
            "id": format!("call_{n}"), "type": "function",
            "function": {"name": name, "arguments": arguments},
        })
    });
    let calls: Vec<Value> = calls.collect();
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    message
}

fn chat_usage() -> Value {
    let input: u64 = INPUT.iter().sum();
    json!({
        "prompt_tokens": input, "completion_tokens": OUTPUT, "total_tokens": input + OUTPUT,
        "prompt_tokens_details": {"cached_tokens": 3},
    })
}

/// Splits a text into pieces of a few characters.
fn bits(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(5).map(|piece| piece.iter().collect()).collect()
}

/// Returns a streamed answer, as the text of its stream.
pub(super) fn events(family: WireFamily, spoken: &Spoken, act: &Act) -> String {
    let mut events = match family {
        WireFamily::Anthropic => anthropic_events(spoken),
        WireFamily::Responses => response_events(spoken),
        WireFamily::Chat => chat_events(spoken),
    };
    if *act == Act::ErrorInside {
        events.truncate(events.len() / 2);
        events.push(match family {
            WireFamily::Responses => json!({
                "type": "error", "code": "server_is_overloaded", "message": "overloaded",
                "param": null, "sequence_number": 99,
            }),
            _ => error(family, 529, "overloaded"),
        });
    }
    let mut text = String::new();
    for (n, mut event) in events.into_iter().enumerate() {
        match family {
            WireFamily::Chat => {}
            WireFamily::Responses => event["sequence_number"] = n.into(),
            WireFamily::Anthropic => {}
        }
        if family != WireFamily::Chat {
            let _ = writeln!(text, "event: {}", event["type"].as_str().unwrap_or("error"));
        }
        let _ = write!(text, "data: {event}\n\n");
        // Comments keep connections open.
        if n == 1 {
            text.push_str(": keep-alive\n\n");
        }
    }
    if family == WireFamily::Chat && *act != Act::ErrorInside {
        text.push_str("data: [DONE]\n\n");
    }
    text
}

fn anthropic_events(spoken: &Spoken) -> Vec<Value> {
    let mut message = anthropic(spoken);
    message["content"] = json!([]);
    message["stop_reason"] = Value::Null;
    message["stop_details"] = Value::Null;
    message["usage"] = anthropic_usage(1);
    let mut events =
        vec![json!({"type": "message_start", "message": message}), json!({"type": "ping"})];
    let mut index = 0;
    let mut block = |start: Value, deltas: Vec<Value>| {
        let of = |kind: &str| json!({"type": kind, "index": index});
        let mut begin = of("content_block_start");
        begin["content_block"] = start;
        events.push(begin);
        for delta in deltas {
            let mut event = of("content_block_delta");
            event["delta"] = delta;
            events.push(event);
        }
        events.push(of("content_block_stop"));
        index += 1;
    };
    if !spoken.text.is_empty() {
        let delta = |bit| json!({"type": "text_delta", "text": bit});
        let deltas = bits(&spoken.text).into_iter().map(delta).collect();
        block(json!({"type": "text", "text": ""}), deltas);
    }
    for (n, (name, arguments)) in spoken.calls.iter().enumerate() {
        let delta = |bit| json!({"type": "input_json_delta", "partial_json": bit});
        let mut deltas = vec![delta(String::new())];
        deltas.extend(bits(arguments).into_iter().map(delta));
        let id = format!("toolu_{n}");
        block(json!({"type": "tool_use", "id": id, "name": name, "input": {}}), deltas);
    }
    let (reason, details) = spoken.anthropic_stop();
    events.push(json!({
        "type": "message_delta", "usage": {"output_tokens": OUTPUT},
        "delta": {"stop_reason": reason, "stop_details": details, "stop_sequence": null},
    }));
    events.push(json!({"type": "message_stop"}));
    events
}

fn response_events(spoken: &Spoken) -> Vec<Value> {
    let mut events = vec![
        json!({"type": "response.created", "response": begun(spoken)}),
        json!({"type": "response.in_progress", "response": begun(spoken)}),
    ];
    for (n, item) in response_items(spoken).into_iter().enumerate() {
        let mut start = item.clone();
        start["status"] = "in_progress".into();
        let id = item["id"].clone();
        let mut push = |kind: &str, more: Value| {
            let mut event = json!({"type": kind, "output_index": n, "item_id": id});
            event.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
            events.push(event);
        };
        match item["type"].as_str() {
            Some("function_call") => {
                start["arguments"] = "".into();
                push("response.output_item.added", json!({"item": start}));
                let arguments = item["arguments"].as_str().unwrap();
                for bit in bits(arguments) {
                    push("response.function_call_arguments.delta", json!({"delta": bit}));
                }
                let done = json!({"arguments": arguments, "name": item["name"]});
                push("response.function_call_arguments.done", done);
            }
            Some("message") => {
                start["content"] = json!([]);
                push("response.output_item.added", json!({"item": start}));
                for (m, part) in item["content"].as_array().unwrap().iter().enumerate() {
                    let is_text = part["type"] == "output_text";
                    let key = if is_text { "text" } else { "refusal" };
                    let kind = if is_text { "output_text" } else { "refusal" };
                    let mut empty = part.clone();
                    empty[key] = "".into();
                    let added = json!({"content_index": m, "part": empty});
                    push("response.content_part.added", added);
                    for bit in bits(part[key].as_str().unwrap()) {
                        let delta = json!({"content_index": m, "delta": bit, "logprobs": []});
                        push(&format!("response.{kind}.delta"), delta);
                    }
                    let done = json!({"content_index": m, key: part[key], "logprobs": []});
                    push(&format!("response.{kind}.done"), done);
                    let done = json!({"content_index": m, "part": part});
                    push("response.content_part.done", done);
                }
            }
            _ => push("response.output_item.added", json!({"item": start})),
        }
        push("response.output_item.done", json!({"item": item}));
    }
    let response = response(spoken);
    let kind = format!("response.{}", response["status"].as_str().unwrap());
    events.push(json!({"type": kind, "response": response}));
    events
}

fn chat_events(spoken: &Spoken) -> Vec<Value> {
    let chunk = |delta: Value, finish: Value| {
        json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_700_000_000,
            "model": spoken.model, "system_fingerprint": null, "usage": null,
            "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}],
        })
    };
    let first = json!({"role": "assistant", "content": null, "refusal": null});
    let mut events = vec![chunk(first, Value::Null)];
    for bit in bits(&spoken.text) {
        events.push(chunk(json!({"content": bit}), Value::Null));
    }
    for bit in bits(&spoken.refusal) {
        events.push(chunk(json!({"refusal": bit}), Value::Null));
    }
    for (n, (name, arguments)) in spoken.calls.iter().enumerate() {
        let start = json!({
            "index": n, "id": format!("call_{n}"), "type": "function",
            "function": {"name": name, "arguments": ""},
        });
        events.push(chunk(json!({"tool_calls": [start]}), Value::Null));
        for bit in bits(arguments) {
            let more = json!({"index": n, "function": {"arguments": bit}});
            events.push(chunk(json!({"tool_calls": [more]}), Value::Null));
        }
    }
    events.push(chunk(json!({}), spoken.chat_finish().into()));
    let mut last = chunk(json!({}), Value::Null);
    last["choices"] = json!([]);
    last["usage"] = chat_usage();
    events.push(last);
    events
}
