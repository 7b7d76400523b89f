//! Checks that small files of many formats are recognized by their own reader and give the
//! expected calls.

use std::fmt::Write;
use std::path::Path;
use toolmark_testing::{assert_compared, find_shared};
use toolmark_trace::{ReadOptions, read_path};

/// File, format, and the calls as `tool status`, preceded by the tokens if the file states
/// them.
const TABLE: &[(&str, &str, &str)] = &[
    ("min_phoenix.json", "phoenix", "get_weather failed"),
    ("min_phoenix_df.json", "phoenix", "get_weather failed"),
    ("min_phoenix_kind.json", "phoenix", "get_weather failed"),
    ("probe/converse.json", "bedrock-converse", "get_weather failed"),
    ("cline_xml.json", "cline", "read_file succeeded, attempt_completion unanswered"),
    ("probe/goose.jsonl", "goose", "developer__shell succeeded"),
    ("probe/aisdk_ui.json", "ai-sdk-ui", "getWeather succeeded, bad failed"),
    ("probe/pydantic_ai.json", "pydantic-ai", "(8 tokens) get_weather succeeded"),
    ("probe/autogen.json", "autogen", "(8 tokens) get failed"),
    ("probe/continue.json", "continue", "builtin_read_file succeeded"),
    ("probe/zed.json", "zed", "read_file failed"),
    ("probe/amp.json", "amp", "(12 tokens) Bash succeeded"),
    ("probe/chatgpt.json", "chatgpt", "python unanswered"),
    ("probe/agents_sdk_trace.jsonl", "openai-agents", "get_weather succeeded"),
    ("probe/mlflow.json", "mlflow", "get_weather failed"),
    ("probe/braintrust.jsonl", "braintrust", "get_weather succeeded"),
    ("probe/weave.jsonl", "weave", "get_weather succeeded"),
    ("probe/datadog.json", "datadog", "get_weather failed"),
    ("probe/langgraph_ckpt.json", "langchain", "get unanswered"),
    ("probe/aisdk_core.json", "openai-chat", "getWeather failed"),
    ("probe/cohere_like.json", "openai-chat", "g unknown"),
];

fn sketch(path: &Path) -> (String, String) {
    let mut runs = match read_path(path, &ReadOptions::default()) {
        Ok(runs) => runs,
        Err(error) => return (error.to_string(), String::new()),
    };
    let mut calls = String::new();
    for run in runs.by_ref() {
        for run in run.flatten() {
            if let Some(usage) = run.usage {
                let _ = write!(calls, "({} tokens) ", usage.total());
            }
            for call in &run.calls {
                let separator = if calls.is_empty() || calls.ends_with(' ') { "" } else { ", " };
                let _ = write!(calls, "{separator}{} {}", call.name.full(), call.status.word());
            }
        }
    }
    (runs.format().info().id.to_owned(), calls)
}

#[test]
fn every_probe_is_read_as_what_it_is() {
    let Some(dir) = find_shared("repro/readers") else { return };
    let mut wrong = Vec::new();
    for (file, format, calls) in TABLE {
        let got = sketch(&dir.join(file));
        if got != ((*format).to_owned(), (*calls).to_owned()) {
            wrong.push(format!("{file}: {got:?}, not {format}: {calls}"));
        }
    }
    assert_compared(TABLE.len(), TABLE.len(), "probes");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
