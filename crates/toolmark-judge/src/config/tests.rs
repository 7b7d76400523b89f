//! Tests of valid settings of judges and of errors in them.

use super::*;
use serde_json::{Value, json};
use std::path::Path;
use toolmark_config::Node;

fn read_json(value: Value) -> (JudgeSettings, Vec<String>) {
    let mut problems = Vec::new();
    let node = Node::from_json(&value).unwrap();
    let settings = read_settings(&node, Path::new("/spec"), &mut problems);
    (settings, problems.into_iter().map(|p| format!("{}: {}", p.code, p.message)).collect())
}

#[test]
fn everything_at_once() {
    let (settings, problems) = read_json(json!({
        "provider": "anthropic", "model": "claude-x", "key_env": "MY_KEY", "effort": "high",
        "timeout": "90s", "retries": 2, "concurrency": 16, "stream": true, "max_tokens": 100,
        "budget": {"tokens": 1000, "usd": 0.5}, "price": {"input": 3, "output": 15.25},
        "cache": "answers", "calibration": "cal.json", "floor": {"kappa": 0.6},
        "models": {"local": {"base_url": "http://localhost:1/v1/", "model": "qwen",
                             "price": {"input": 0, "output": 0}},
                   "mine": {"command": ["./judge", "-x"], "price": {"input": 0, "output": 0}}},
    }));
    assert_eq!(problems, [""; 0]);
    let default = settings.default_model.as_ref().unwrap();
    assert_eq!(default.key, KeySource::Env("MY_KEY".into()));
    assert_eq!(default.price, Some(Price { input: 3_000_000, output: 15_250_000 }));
    assert_eq!((default.timeout, default.auth), (Duration::from_secs(90), Auth::XApiKey));
    assert_eq!(settings.budget, BudgetLimits { tokens: Some(1000), micro_usd: Some(500_000) });
    assert_eq!(settings.cache.as_deref(), Some(Path::new("/spec/answers")));
    let local = &settings.models["local"];
    assert_eq!(
        (local.kind, local.base_url.as_str()),
        (ProviderKind::OpenaiChat, "http://localhost:1/v1")
    );
    assert_eq!(local.key, KeySource::None);
    assert_eq!(settings.models["mine"].kind, ProviderKind::Command);
    assert_eq!(settings.models["mine"].model, "./judge");
}

#[test]
fn names_find_their_model() {
    let (settings, _) = read_json(json!({
        "provider": "openai-chat", "model": "base", "base_url": "http://gate/v1", "auth": "none",
    }));
    let found = |settings: &JudgeSettings, word: &str| {
        settings.model(word).map(|m| (m.kind.word(), m.base_url, m.model)).map_err(|_| ())
    };
    let at_gate = |model: &str| Ok(("openai-chat", "http://gate/v1".into(), model.into()));
    // A custom gateway serves every name.
    assert_eq!(found(&settings, "base"), at_gate("base"));
    assert_eq!(found(&settings, "other"), at_gate("other"));
    assert_eq!(found(&settings, "claude-x"), at_gate("claude-x"));
    // But a command line means the provider of the model it names.
    let on_line = |word: &str| {
        settings.model_on_command_line(word).map(|m| (m.kind.word(), m.base_url, m.auth)).unwrap()
    };
    let own = ("anthropic", "https://api.anthropic.com/v1".to_owned(), Auth::XApiKey);
    assert_eq!(on_line("claude-x"), own);
    assert_eq!(on_line("gpt-5").1, "https://api.openai.com/v1");
    assert_eq!(on_line("openai-chat:gpt-5").1, "http://gate/v1");
    assert_eq!(on_line("other").1, "http://gate/v1");
    assert_eq!(on_line("ollama:qwen3").1, "http://localhost:11434/v1");
    let error = settings.model_on_command_line("azure:mine").unwrap_err();
    assert!(error.to_string().contains("base_url"));
    let none = JudgeSettings::default();
    let claude = ("anthropic", "https://api.anthropic.com/v1".to_owned(), "claude-x".to_owned());
    assert_eq!(found(&none, "claude-x"), Ok(claude.clone()));
    assert_eq!(found(&none, "anthropic:messages:claude-x"), Ok(claude));
    assert_eq!(found(&none, "gpt-9").unwrap().0, "openai");
    assert_eq!(found(&none, "openai:chat:gpt-9").unwrap().0, "openai-chat");
    assert_eq!(found(&none, "mystery"), Err(()));
}

#[test]
fn a_key_in_place_of_its_name_is_not_repeated() {
    for key in ["sk-ant-123", "sk_live_0123456789abcdefABCDEF", "a81bc81bdead4e5dabff90865d1e13b1"]
    {
        let node = Node::from_json(&json!({"model": "claude-x", "key_env": key})).unwrap();
        let mut problems = Vec::new();
        let _ = read_settings(&node, Path::new("/spec"), &mut problems);
        assert!(!problems.is_empty() && problems.iter().all(|p| p.span.is_none()), "{problems:?}");
        assert!(!format!("{problems:?}").contains(key), "{problems:?}");
    }
    for name in ["ANTHROPIC_API_KEY", "MY_KEY_2", "openai_key", "K", "AZURE_OPENAI_API_KEY_EU1"] {
        let (settings, problems) = read_json(json!({"model": "claude-x", "key_env": name}));
        assert_eq!(problems, [""; 0]);
        assert_eq!(settings.default_model.unwrap().key, KeySource::Env(name.into()));
    }
}

#[test]
fn clouds_have_their_own_keys() {
    for (provider, url, env, auth) in [
        ("azure", "https://r.openai.azure.com", "AZURE_OPENAI_API_KEY", Auth::ApiKey),
        ("bedrock", "https://b.amazonaws.com", "AWS_BEARER_TOKEN_BEDROCK", Auth::Bearer),
    ] {
        let (settings, problems) =
            read_json(json!({"provider": provider, "model": "m", "base_url": url}));
        assert_eq!(problems, [""; 0]);
        let model = settings.default_model.unwrap();
        assert_eq!((model.key, model.auth), (KeySource::Env(env.into()), auth));
    }
    let (settings, problems) = read_json(json!({"provider": "ollama", "model": "qwen3"}));
    assert_eq!(problems, [""; 0]);
    let model = settings.default_model.unwrap();
    assert_eq!(
        (model.base_url.as_str(), model.key),
        ("http://localhost:11434/v1", KeySource::None)
    );
}

#[test]
fn the_limit_has_the_name_that_the_model_knows() {
    use TokenLimit::{MaxCompletionTokens, MaxTokens};
    for (model, base_url, want) in [
        ("qwen3", "http://localhost/v1", MaxTokens),
        ("gpt-4o", "http://localhost/v1", MaxTokens),
        ("gpt-4o", "https://api.openai.com/v1", MaxCompletionTokens),
        ("o3-mini", "http://localhost/v1", MaxCompletionTokens),
        ("openai/gpt-5.1", "http://localhost/v1", MaxCompletionTokens),
        ("gpt-oss-20b", "http://localhost/v1", MaxTokens),
        ("olmo-2", "http://localhost/v1", MaxTokens),
    ] {
        assert_eq!(
            TokenLimit::of(ProviderKind::OpenaiChat, base_url, model),
            want,
            "{model} {base_url}"
        );
    }
    let value = json!({"provider": "openai-chat", "model": "mine", "base_url": "http://localhost/v1",
                       "token_limit": "max_completion_tokens"});
    assert_eq!(read_json(value).0.default_model.unwrap().token_limit, MaxCompletionTokens);
}

#[test]
fn a_key_in_clear_is_warned_about() {
    let said = |url: &str, auth: &str| {
        let value = json!({"provider": "openai-chat", "model": "m", "base_url": url,
                           "key_env": "K", "auth": auth});
        let (settings, problems) = read_json(value);
        assert!(settings.default_model.is_some());
        problems.iter().any(|problem| problem.starts_with("key-in-clear"))
    };
    assert!(said("http://example.com/v1", "bearer"));
    assert!(!said("http://example.com/v1", "none"));
    assert!(!said("https://example.com/v1", "bearer"));
    assert!(!said("http://localhost:8000/v1", "bearer"));
    assert!(!said("http://127.0.0.1:8000/v1", "bearer"));
}

#[test]
fn mistakes() {
    for (value, want) in [
        (json!({}), "empty-config"),
        (json!([]), "wrong-type"),
        (json!({"model": "claude-x", "modle": 1}), "unknown-key"),
        (json!({"provider": "anthropic"}), "missing-key"),
        (json!({"model": "mystery"}), "missing-key"),
        (json!({"provider": "command"}), "missing-key"),
        (json!({"provider": "openai", "model": "m", "command": ["x"]}), "unknown-key"),
        (json!({"model": "claude-x", "key_env": "sk-ant-123"}), "invalid-name"),
        (json!({"model": "claude-x", "key_env": "sk_live_0123456789abcdefABCDEF"}), "invalid-name"),
        (
            json!({"model": "claude-x", "key_env": "a81bc81bdead4e5dabff90865d1e13b1"}),
            "invalid-name",
        ),
        (json!({"provider": "azure", "model": "m"}), "missing-key"),
        (json!({"provider": "bedrock", "model": "m"}), "missing-key"),
        (json!({"provider": "vertex", "model": "m", "base_url": "https://x"}), "missing-key"),
        (
            json!({"provider": "bedrock", "model": "m", "base_url": "https://x", "stream": true}),
            "unsupported-value",
        ),
        (json!({"model": "claude-x", "token_limit": "max_tokens"}), "unknown-key"),
        (
            json!({"model": "claude-x", "floor": {"steering": 2}, "calibration": "x"}),
            "out-of-range",
        ),
        (json!({"model": "claude-x", "key_env": "A", "key_command": ["b"]}), "conflicting"),
        (json!({"model": "claude-x", "timeout": "60"}), "invalid-duration"),
        (json!({"model": "claude-x", "timeout": "0s"}), "invalid-duration"),
        (json!({"model": "claude-x", "base_url": "localhost"}), "invalid-url"),
        (json!({"model": "claude-x", "budget": {"usd": 1}}), "missing-price"),
        (json!({"model": "claude-x", "concurrency": 0}), "out-of-range"),
        (json!({"model": "claude-x", "cache": true}), "wrong-type"),
        (json!({"model": "claude-x", "floor": {"kappa": 0.5}}), "missing-key"),
        (json!({"model": "claude-x", "floor": {}, "calibration": "x"}), "empty-config"),
        (json!({"model": "claude-x", "floor": {"kappa": 7}, "calibration": "x"}), "out-of-range"),
    ] {
        let (_, problems) = read_json(value.clone());
        assert!(problems.first().is_some_and(|p| p.starts_with(want)), "{value}: {problems:?}");
    }
}

#[test]
fn the_keys_of_the_section_are_those_that_are_read() {
    let schema = schema(&mut schemars::SchemaGenerator::default()).to_value();
    let keys = schema["properties"].as_object().unwrap();
    assert!(keys.len() > 20);
    for key in keys.keys() {
        // No key takes such a list: the reader must know it to find that wrong.
        let (_, problems) = read_json(json!({ key.as_str(): [[]] }));
        let is_unknown = |problem: &String| problem.starts_with("unknown-key");
        assert!(!problems.is_empty() && !problems.iter().any(is_unknown), "{key}: {problems:?}");
    }
}
