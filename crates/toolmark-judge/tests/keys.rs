//! The key is sent only to the server: it occurs in no fault, no reply and no debug output, for any
//! behavior of the server.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say so")]

use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use toolmark_judge::config::{Auth, KeySource, Model, ProviderKind, Structured};
use toolmark_judge::providers::{FaultKind, Prompt, ProviderFault, Reply, connect};
use toolmark_testing::stand_in::{Act, StandIn};

const KINDS: [ProviderKind; 3] =
    [ProviderKind::Anthropic, ProviderKind::Openai, ProviderKind::OpenaiChat];

/// A key with a different text in every encoding.
const KEY: &str = "sk-\"quoted\"/and+more\\0123456789";

/// Text that no output may contain: a part of the key that is the same in all encodings.
const CANARY: &str = "0123456789";

fn model(kind: ProviderKind, base_url: String, key: KeySource) -> Model {
    Model {
        name: "judge".into(),
        kind,
        model: "model-1".into(),
        base_url,
        query: BTreeMap::new(),
        key,
        auth: if kind == ProviderKind::Anthropic { Auth::XApiKey } else { Auth::Bearer },
        command: Vec::new(),
        directory: PathBuf::from("."),
        effort: None,
        temperature: None,
        token_limit: toolmark_judge::config::TokenLimit::MaxTokens,
        max_tokens: 100,
        structured: Structured::Tool,
        stream: false,
        timeout: Duration::from_secs(20),
        price: None,
    }
}

fn told(words: &[&str]) -> KeySource {
    KeySource::Command(words.iter().map(|word| (*word).to_owned()).collect())
}

fn ask(model: &Model) -> (Result<Reply, ProviderFault>, String) {
    let schema = json!({"type": "object"});
    let provider = connect(model);
    let got = provider.ask(&Prompt::new("s", "u", &schema));
    (got, format!("{provider:?} {provider:#?}"))
}

#[test]
fn it_arrives_and_nothing_else_has_it() {
    let escaped = serde_json::to_string(KEY).unwrap();
    let encoded = "sk-%22quoted%22%2Fand%2Bmore%5C0123456789";
    let status = |status: u16, body: String| Act::Status(status, Vec::new(), body);
    let redirect = format!("http://other/{encoded}/x");
    for act in [
        Act::Echo,
        Act::EchoInAnswer,
        Act::Denied,
        status(401, "you sent {key}".into()),
        status(500, format!("<p>{KEY}</p>")),
        status(400, format!("{{\"error\": {{\"message\": {escaped}}}}}")),
        status(400, format!("{{\"what\": {escaped}}}")),
        status(404, format!("no such page: ?key={encoded}&x={}", encoded.to_ascii_lowercase())),
        status(500, format!("{}{KEY}", "x".repeat(262))),
        Act::Status(302, vec![("location", redirect)], String::new()),
        Act::ErrorInside,
    ] {
        for kind in KINDS {
            for stream in [false, true] {
                let server = StandIn::start(act.clone());
                let source = told(&["printf", "%s\n", KEY]);
                let model = Model { stream, ..model(kind, server.base_url(), source) };
                let (got, debug) = ask(&model);
                assert_eq!(server.requests().pop().unwrap().key(), KEY, "{}", kind.word());
                let all = match &got {
                    Ok(reply) => format!("{reply:?}"),
                    Err(fault) => format!("{fault} {fault:?}"),
                };
                assert!(!format!("{all} {debug}").contains(CANARY), "{act:?}: {all} {debug}");
                // The key was there to be removed.
                if matches!(act, Act::Echo | Act::EchoInAnswer) {
                    assert!(all.contains("[key]"), "{act:?} {}: {all}", kind.word());
                }
                if act == Act::EchoInAnswer {
                    assert_eq!(got.unwrap().answers, [r#"{"n":"[key]"}"#]);
                }
            }
        }
    }
}

#[test]
fn a_variable_has_the_key() {
    // A variable every test has, since none can be set here.
    let source = KeySource::Env("CARGO_PKG_NAME".into());
    for kind in KINDS {
        let server = StandIn::start(Act::Echo);
        let (got, _) = ask(&model(kind, server.base_url(), source.clone()));
        assert_eq!(server.requests().pop().unwrap().key(), "toolmark-judge");
        let fault = got.unwrap_err().message;
        assert!(fault.contains("the header said [key]; is [key] a key?"), "{fault}");
    }
}

#[test]
fn without_a_key_nothing_is_sent() {
    for (source, words) in [
        (KeySource::Env("TOOLMARK_NO_SUCH_KEY".into()), "TOOLMARK_NO_SUCH_KEY"),
        (told(&["sh", "-c", "echo sk-0123456789 >&2; exit 4"]), "ended with code 4"),
        (told(&["true"]), "printed no key"),
    ] {
        for kind in KINDS {
            let server = StandIn::start(Act::Answer);
            let fault = ask(&model(kind, server.base_url(), source.clone())).0.unwrap_err();
            assert_eq!(fault.kind, FaultKind::Key);
            assert!(fault.message.contains(words) && !fault.message.contains(CANARY), "{fault}");
            assert_eq!(server.requests().len(), 0);
        }
    }
}

#[test]
fn none_is_sent_where_none_is_needed() {
    let server = StandIn::start(Act::Answer);
    for kind in KINDS {
        ask(&model(kind, server.base_url(), KeySource::None)).0.unwrap();
        assert_eq!(server.requests().pop().unwrap().key(), "");
    }
}

#[test]
fn a_program_that_judges_keeps_it_too() {
    let dir = tempfile::tempdir().unwrap();
    let run = |script: &str, timeout: u64| {
        let source = told(&["printf", "%s\n", KEY]);
        let mut model = model(ProviderKind::Command, String::new(), source);
        model.command = ["sh", "-c", script].map(str::to_owned).to_vec();
        model.directory = dir.path().to_owned();
        model.timeout = Duration::from_millis(timeout);
        let (got, debug) = ask(&model);
        assert!(!format!("{got:?} {debug}").contains(CANARY), "{got:?}");
        got
    };
    // Input of the program, and its source.
    let reply = run("cat > asked; echo '{\"m\": \"'$TOOLMARK_JUDGE_MODEL'\"}'", 20_000).unwrap();
    assert_eq!(reply.answers, [r#"{"m": "model-1"}"#]);
    let asked = std::fs::read_to_string(dir.path().join("asked")).unwrap();
    assert!(
        asked.starts_with("s\n\nu\n\n") && asked.ends_with("{\"type\":\"object\"}\n"),
        "{asked}"
    );

    let reply = run("printf 'key: %s {}' \"$TOOLMARK_JUDGE_KEY\"", 20_000).unwrap();
    assert_eq!((reply.answers, reply.text), (vec!["{}".to_owned()], "key: [key]".to_owned()));

    let failed = "echo 'first line' >&2; printf 'no: %s' \"$TOOLMARK_JUDGE_KEY\" >&2; exit 3";
    let fault = run(failed, 20_000).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Server);
    assert_eq!(fault.message, "the command \"sh\" ended with code 3: no: [key]");

    let fault = run("sleep 30 & sleep 30; wait", 300).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Timeout, "{fault}");
}
