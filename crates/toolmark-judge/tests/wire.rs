//! Every wire format against a scripted server, complete and streamed: the requests sent and the
//! replies read from the responses.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say so")]

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use toolmark_judge::config::{Auth, KeySource, Model, ProviderKind, Structured, TokenLimit};
use toolmark_judge::providers::{
    AttemptTokens, FaultKind, Prompt, ProviderFault, Reply, TOOL, connect,
};
use toolmark_outcome::judging::Effort;
use toolmark_testing::http::unused_address;
use toolmark_testing::stand_in::{
    Act, FAULTS, INPUT, ModelRequest, OUTPUT, ResponseScript, StandIn,
};

const KINDS: [ProviderKind; 3] =
    [ProviderKind::Anthropic, ProviderKind::Openai, ProviderKind::OpenaiChat];

fn model(kind: ProviderKind, stream: bool, base_url: String) -> Model {
    Model {
        name: "judge".into(),
        kind,
        model: "model-1".into(),
        base_url,
        query: BTreeMap::new(),
        key: KeySource::Command(vec!["printf".into(), "sk-wire-0123456789".into()]),
        auth: if kind == ProviderKind::Anthropic { Auth::XApiKey } else { Auth::Bearer },
        command: Vec::new(),
        directory: PathBuf::from("."),
        effort: None,
        temperature: None,
        max_tokens: 77,
        token_limit: TokenLimit::MaxTokens,
        structured: Structured::Tool,
        stream,
        timeout: Duration::from_secs(20),
        price: None,
    }
}

fn schema() -> Value {
    json!({
        "type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"],
        "additionalProperties": false,
    })
}

fn ask(model: &Model) -> Result<Reply, ProviderFault> {
    let schema = schema();
    connect(model).ask(&Prompt::new("be fair", "how many?", &schema))
}

/// Sends one request for every wire format, complete and streamed.
fn each(
    script: impl Into<ResponseScript>,
    mut check: impl FnMut(&Model, Result<Reply, ProviderFault>, ModelRequest),
) {
    let script = script.into();
    for kind in KINDS {
        for stream in [false, true] {
            let server = StandIn::start(script.clone());
            let model = model(kind, stream, server.base_url());
            let got = ask(&model);
            check(&model, got, server.requests().pop().unwrap());
        }
    }
}

/// Returns the tokens of every answer of the stand-in.
fn spent() -> AttemptTokens {
    AttemptTokens { input: INPUT.iter().sum(), output: OUTPUT }
}

fn said(answers: &[&str], text: &str) -> Reply {
    let answers = answers.iter().map(|answer| (*answer).to_owned()).collect();
    Reply { answers, text: text.into(), tokens: spent(), ..Reply::default() }
}

fn case(model: &Model) -> String {
    format!("{} stream: {}", model.kind.word(), model.stream)
}

#[test]
fn answers() {
    let other = "(called \"ls\", which is not a tool here)";
    for (act, want) in [
        (Act::Answer, said(&[r#"{"n":0}"#], "")),
        (Act::Twice, said(&[r#"{"n":0}"#, r#"{"second":true}"#], "")),
        (Act::Talk, said(&[], "I would rather talk: é€😀.")),
        (Act::OtherTool, said(&[r#"{"n":0}"#], other)),
    ] {
        each(act.clone(), |model, got, _| {
            assert_eq!(got.as_ref(), Ok(&want), "{act:?} {}", case(model));
        });
    }
}

#[test]
fn arguments_that_are_no_json_are_handed_on() {
    each(Act::NotJson, |model, got, _| {
        // Anthropic gives arguments as JSON, unless they come bit by bit.
        let is_parsed = model.kind == ProviderKind::Anthropic && !model.stream;
        let want = if is_parsed { "{}" } else { "{\"n\": oops" };
        assert_eq!(got, Ok(said(&[want], "")), "{}", case(model));
    });
}

#[test]
fn what_is_cut_is_told() {
    each(Act::Cut, |model, got, _| {
        let is_parsed = model.kind == ProviderKind::Anthropic && !model.stream;
        let want = Reply { is_cut: true, ..said(&[if is_parsed { "{}" } else { "{\"n" }], "") };
        assert_eq!(got, Ok(want), "{}", case(model));
    });
}

#[test]
fn refusals() {
    for (act, words) in [
        (Act::Refuse, ["I cannot help with that."; 3]),
        (Act::Filtered, ["no reason given", "content filter", "content filter"]),
    ] {
        each(act.clone(), |model, got, _| {
            let words = words[KINDS.iter().position(|kind| *kind == model.kind).unwrap()];
            let want = Reply { refusal: Some(words.to_owned()), ..said(&[], "") };
            assert_eq!(got, Ok(want), "{act:?} {}", case(model));
        });
    }
}

#[test]
fn a_schema_instead_of_a_tool() {
    for kind in KINDS {
        for stream in [false, true] {
            let server = StandIn::start(Act::Answer);
            let mut model = model(kind, stream, server.base_url());
            model.structured = Structured::Schema;
            assert_eq!(ask(&model), Ok(said(&[r#"{"n":0}"#], "")), "{}", case(&model));
            let request = server.requests().pop().unwrap();
            assert_eq!((request.schema(), request.has_tools()), (&schema(), false));
            let place = match kind {
                ProviderKind::Anthropic => "/output_config/format/type",
                ProviderKind::Openai => "/text/format/type",
                _ => "/response_format/type",
            };
            assert_eq!(request.body.pointer(place), Some(&json!("json_schema")));
        }
    }
}

#[test]
fn faults() {
    use FaultKind as K;
    let status = |status, body: &str| Act::Status(status, Vec::new(), body.to_owned());
    let page = "<html><head><title>502 Bad Gateway</title></head><body>x</body></html>";
    let garble = "not JSON: expected";
    for (act, kinds, words) in [
        (Act::Busy("retry-after", "7"), [K::Busy; 3], "answered 429: too many requests, slow down"),
        (Act::Failed, [K::Server; 3], "127.0.0.1 answered 500: something broke"),
        (Act::Overloaded, [K::Busy; 3], "answered 529: overloaded"),
        (Act::Denied, [K::Key; 3], "answered 401: invalid key"),
        (status(403, "plain words"), [K::Key; 3], "answered 403: plain words"),
        (status(408, ""), [K::Timeout; 3], "answered 408"),
        (status(409, ""), [K::Busy; 3], "answered 409"),
        (status(502, page), [K::Server; 3], "answered 502: 502 Bad Gateway"),
        (status(404, r#"{"error": "no model"}"#), [K::Request; 3], "answered 404: no model"),
        (Act::Break, [K::Network; 3], "the connection failed"),
        (Act::Garble, [K::Garbled; 3], garble),
        (Act::OtherShape, [K::Garbled; 3], "the answer has no"),
        (Act::EndEarly, [K::Garbled; 3], ""),
        // Chat has no word for it but that the server failed.
        (Act::ErrorInside, [K::Busy, K::Busy, K::Server], "the server reports"),
    ] {
        each(act.clone(), |model, got, _| {
            let fault = got.unwrap_err();
            let at = KINDS.iter().position(|kind| *kind == model.kind).unwrap();
            let kind = match (&act, model.stream) {
                // Without a stream the type of the error is all there is.
                (Act::ErrorInside, false) if at == 1 => K::Server,
                _ => kinds[at],
            };
            assert_eq!(fault.kind, kind, "{act:?} {}: {fault}", case(model));
            assert!(fault.message.contains(words), "{act:?} {}: {fault}", case(model));
            assert!(!fault.message.contains('\n') && fault.message.chars().count() <= 301);
        });
    }
    each(Act::EndEarly, |model, got, _| {
        let want = if model.stream { "the stream ended before" } else { "not JSON" };
        assert!(got.unwrap_err().message.contains(want), "{}", case(model));
    });
}

#[test]
fn what_was_used_before_a_fault_is_counted() {
    for act in [Act::Break, Act::EndEarly, Act::ErrorInside] {
        let server = StandIn::start(act.clone());
        let fault = ask(&model(ProviderKind::Anthropic, true, server.base_url())).unwrap_err();
        assert_eq!(fault.tokens, AttemptTokens { input: INPUT.iter().sum(), output: 1 }, "{act:?}");
    }
}

#[test]
fn waiting_times_are_handed_on() {
    for (name, value, want) in [
        ("retry-after", "7", Some(7000)),
        ("retry-after", "0.5", Some(500)),
        ("retry-after-ms", "123", Some(123)),
        ("x-other", "1", None),
    ] {
        each(Act::Busy(name, value), |model, got, _| {
            let wait = got.unwrap_err().retry_after;
            assert_eq!(wait, want.map(Duration::from_millis), "{name} {}", case(model));
        });
    }
    let later = jiff::Timestamp::now() + Duration::from_secs(100);
    let date = jiff::fmt::rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&later);
    let act = Act::Status(503, vec![("retry-after", date.unwrap())], String::new());
    each(act, |model, got, _| {
        let wait = got.unwrap_err().retry_after.unwrap().as_secs();
        assert!((90..=100).contains(&wait), "{}: {wait}", case(model));
    });
}

#[test]
fn time_is_for_the_whole_attempt() {
    for act in [Act::Hang, Act::Stall] {
        for kind in KINDS {
            for stream in [false, true] {
                let server = StandIn::start(act.clone());
                let mut model = model(kind, stream, server.base_url());
                model.timeout = Duration::from_millis(300);
                let start = Instant::now();
                let fault = ask(&model).unwrap_err();
                assert_eq!(fault.kind, FaultKind::Timeout, "{act:?} {}: {fault}", case(&model));
                let took = start.elapsed();
                assert!(took >= model.timeout && took.as_secs() < 5, "{act:?} {took:?}");
            }
        }
    }
}

#[test]
fn nobody_is_there() {
    let closed = format!("http://{}/v1", unused_address());
    for kind in KINDS {
        let fault = ask(&model(kind, false, closed.clone())).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Network, "{fault}");
        let fault = ask(&model(kind, false, "http://bad host/v1".into())).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Request, "{fault}");
    }
}

#[test]
fn redirects_are_not_followed() {
    let other = StandIn::start(Act::Answer);
    for status in [301, 302, 303, 307, 308] {
        let to = format!("{}/messages?token=private", other.base_url());
        each(Act::Status(status, vec![("location", to)], String::new()), |model, got, _| {
            let fault = got.unwrap_err();
            assert_eq!(fault.kind, FaultKind::Request, "{status} {}: {fault}", case(model));
            assert!(fault.message.contains("not followed"), "{fault}");
            assert!(!fault.message.contains("private"), "{fault}");
        });
    }
    assert_eq!(other.requests().len(), 0);
}

#[test]
fn what_is_sent() {
    each(Act::Answer, |model, _, request| {
        let what = case(model);
        assert_eq!(request.method, "POST");
        assert_eq!(request.header("content-type"), "application/json", "{what}");
        assert!(request.header("user-agent").starts_with("toolmark/"), "{what}");
        assert_eq!(
            (request.schema(), request.user()),
            (&schema(), "how many?".to_owned()),
            "{what}"
        );
        let mut want = match model.kind {
            ProviderKind::Anthropic => json!({
                "model": "model-1", "max_tokens": 77,
                "system": [{
                    "type": "text", "text": "be fair", "cache_control": {"type": "ephemeral"},
                }],
                "messages": [{"role": "user", "content": [{"type": "text", "text": "how many?"}]}],
                "tools": [{
                    "name": TOOL, "input_schema": schema(),
                    "description": "Submit the verdict. Call this exactly once.",
                }],
                "tool_choice": {"type": "tool", "name": TOOL, "disable_parallel_tool_use": true},
            }),
            ProviderKind::Openai => json!({
                "model": "model-1", "max_output_tokens": 77, "instructions": "be fair",
                "input": "how many?", "store": false, "parallel_tool_calls": false,
                "tools": [{
                    "type": "function", "name": TOOL, "parameters": schema(), "strict": true,
                    "description": "Submit the verdict. Call this exactly once.",
                }],
                "tool_choice": {"type": "function", "name": TOOL},
            }),
            _ => json!({
                "model": "model-1", "max_tokens": 77,
                "messages": [
                    {"role": "system", "content": "be fair"},
                    {"role": "user", "content": "how many?"},
                ],
                "tools": [{"type": "function", "function": {
                    "name": TOOL, "parameters": schema(),
                    "description": "Submit the verdict. Call this exactly once.",
                }}],
                "tool_choice": {"type": "function", "function": {"name": TOOL}},
            }),
        };
        if model.stream {
            want["stream"] = true.into();
            if model.kind == ProviderKind::OpenaiChat {
                want["stream_options"] = json!({"include_usage": true});
            }
        }
        assert_eq!(request.body, want, "{what}");
        let (header, value) = match model.kind {
            ProviderKind::Anthropic => ("x-api-key", "sk-wire-0123456789"),
            _ => ("authorization", "Bearer sk-wire-0123456789"),
        };
        assert_eq!(request.header(header), value, "{what}");
        if model.kind == ProviderKind::Anthropic {
            assert_eq!(request.header("anthropic-version"), "2023-06-01");
            assert_eq!(request.header("authorization"), "");
        }
    });
}

#[test]
fn what_is_configured_is_sent() {
    for kind in KINDS {
        let server = StandIn::start(Act::Answer);
        let mut model = model(kind, false, format!("{}/", server.base_url()));
        model.effort = Some(Effort::Xhigh);
        model.temperature = Some(0.25);
        model.auth = Auth::ApiKey;
        model.query = BTreeMap::from([
            ("api-version".into(), "2026-01-01 preview".into()),
            ("b&c".into(), "é/=".into()),
        ]);
        ask(&model).unwrap();
        let request = server.requests().pop().unwrap();
        let query = "?api-version=2026-01-01%20preview&b%26c=%C3%A9%2F%3D";
        assert!(request.path.ends_with(query), "{}", request.path);
        assert_eq!(request.body["temperature"], 0.25);
        let effort = match kind {
            ProviderKind::Anthropic => "/output_config/effort",
            ProviderKind::Openai => "/reasoning/effort",
            _ => "/reasoning_effort",
        };
        assert_eq!(request.body.pointer(effort), Some(&json!("xhigh")), "{}", kind.word());
        assert_eq!(request.header("api-key"), "sk-wire-0123456789");
        assert_eq!((request.header("x-api-key"), request.header("authorization")), ("", ""));
    }
}

#[test]
fn one_way_serves_many_questions_at_once() {
    let server = StandIn::start(ResponseScript::Share(250, FAULTS.to_vec()));
    let mut counts = BTreeMap::<&str, usize>::new();
    for kind in KINDS {
        let provider = connect(&model(kind, kind == ProviderKind::Openai, server.base_url()));
        let schema = schema();
        let prompt = Prompt::new("s", "u", &schema);
        let many = std::thread::scope(|scope| {
            let ask = || (0..25).map(|_| provider.ask(&prompt)).collect::<Vec<_>>();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        for result in many {
            let word = match result {
                Ok(reply) if reply.answers.len() == 1 => "answer",
                Ok(_) => "other",
                Err(fault) if fault.kind.is_temporary() => "fault",
                Err(_) => "end",
            };
            *counts.entry(word).or_default() += 1;
        }
    }
    assert_eq!(counts, BTreeMap::from([("answer", 225), ("fault", 75)]));
    assert_eq!((server.requests().len(), server.given()), (300, (225, 225)));
}

#[test]
fn clouds_are_asked_at_their_own_addresses() {
    let versioned = BTreeMap::from([("api-version".to_owned(), "2024-10-21".to_owned())]);
    let deployed = "/v1/openai/deployments/claude%40x%3A0/chat/completions?api-version=2024-10-21";
    let none = BTreeMap::new();
    for (kind, stream, query, path, version) in [
        (
            ProviderKind::Bedrock,
            false,
            &none,
            "/v1/model/claude%40x%3A0/invoke",
            "bedrock-2023-05-31",
        ),
        (
            ProviderKind::Vertex,
            false,
            &none,
            "/v1/publishers/anthropic/models/claude@x%3A0:rawPredict",
            "vertex-2023-10-16",
        ),
        (
            ProviderKind::Vertex,
            true,
            &none,
            "/v1/publishers/anthropic/models/claude@x%3A0:streamRawPredict",
            "vertex-2023-10-16",
        ),
        (ProviderKind::Azure, false, &none, "/v1/openai/v1/chat/completions", ""),
        (ProviderKind::Azure, true, &versioned, deployed, ""),
        (ProviderKind::Ollama, false, &none, "/v1/chat/completions", ""),
    ] {
        let server = StandIn::start(Act::Answer);
        let mut model = model(kind, stream, server.base_url());
        model.model = "claude@x:0".to_owned();
        model.query = query.clone();
        model.auth = kind.auth();
        model.token_limit = TokenLimit::of(kind, &model.base_url, &model.model);
        let reply = ask(&model).unwrap();
        assert_eq!(reply.answers, [r#"{"n":0}"#], "{kind:?}");
        let request = server.requests().remove(0);
        assert_eq!(request.path, path);
        assert_eq!(request.key(), "sk-wire-0123456789");
        let is_messages = matches!(kind, ProviderKind::Bedrock | ProviderKind::Vertex);
        assert_eq!(request.body["anthropic_version"].as_str().unwrap_or_default(), version);
        assert_eq!(request.body["model"].is_string(), !is_messages, "{kind:?}");
        let header = if kind == ProviderKind::Azure { "api-key" } else { "authorization" };
        assert!(!request.header(header).is_empty(), "{kind:?}");
        assert!(request.header("anthropic-version").is_empty());
        let limit =
            if kind == ProviderKind::Azure { "max_completion_tokens" } else { "max_tokens" };
        assert_eq!(request.body[limit], 77, "{kind:?}");
    }
}

#[test]
fn what_is_asked_again_may_be_kept_by_the_provider() {
    let server = StandIn::start(Act::Answer);
    let schema = schema();
    let provider = connect(&model(ProviderKind::Anthropic, false, server.base_url()));
    let once = Prompt::new("be fair", "how many?", &schema);
    let again = Prompt { reminder: Some(" That was wrong."), is_repeated: true, ..once };
    provider.ask(&once).unwrap();
    provider.ask(&again).unwrap();
    let kept = json!({"type": "ephemeral"});
    let requests = server.requests();
    let content = |n: usize| requests[n].body["messages"][0]["content"].clone();
    assert!(requests.iter().all(|request| request.body["system"][0]["cache_control"] == kept));
    assert_eq!(content(0)[0].get("cache_control"), None);
    assert_eq!(content(1)[0]["cache_control"], kept);
    assert_eq!(content(1)[1], json!({"type": "text", "text": " That was wrong."}));
    assert_eq!(requests[1].user(), "how many? That was wrong.");
}
