//! Any text as the answer of a model, submitted or only written: a mark counts only
//! with a quote from what the model was shown.

#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::{Arc, Mutex};
use toolmark_judge::JudgeClient;
use toolmark_judge::config::{Model, JudgeSettings};
use toolmark_judge::providers::{ProviderFault, Prompt, Provider, Reply};
use toolmark_outcome::judging::{Judge, Material, Panel, TextPiece, JudgeQuestion, Rubric, Scale};
use toolmark_redact::redact_named;

const SHOWN: &str = "the agent ran `cargo test` and 3 tests failed";

static ANSWER: Mutex<String> = Mutex::new(String::new());

#[derive(Debug)]
struct Scripted;

impl Provider for Scripted {
    fn ask(&self, _prompt: &Prompt<'_>) -> Result<Reply, ProviderFault> {
        let text = ANSWER.lock().map(|answer| answer.clone()).unwrap_or_default();
        Ok(match text.strip_prefix('w') {
            Some(written) => Reply { text: written.to_owned(), ..Reply::default() },
            None => Reply { answers: vec![text], ..Reply::default() },
        })
    }
}

fn connect(_model: &Model) -> Arc<dyn Provider> {
    Arc::new(Scripted)
}

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(mut answer) = ANSWER.lock() {
        text.clone_into(&mut answer);
    }
    let settings = JudgeSettings { cache: None, retries: 0, ..JudgeSettings::default() };
    let client = JudgeClient::new(settings, connect, redact_named);
    let question = JudgeQuestion {
        rubric: Arc::new(Rubric::of_text("Did it check its work?", Scale::default())),
        materials: vec![Material::of_trace("transcript", vec![TextPiece::new(SHOWN)])],
        panel: Panel { models: vec!["openai:fuzz".into()], ..Panel::default() },
        threshold: 0.5,
    };
    for ruling in client.judge(&[question]) {
        for answer in ruling.votes.iter().filter_map(|vote| vote.answer.as_ref().ok()) {
            for mark in answer.marks.iter().filter(|mark| mark.mark.is_some()) {
                assert!(!mark.quotes.is_empty(), "{mark:?}");
            }
        }
    }
});
