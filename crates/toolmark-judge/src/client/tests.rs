//! Tests of the client with scripted providers.

use super::*;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;
use toolmark_outcome::judging::{Aggregation, Material, Panel, Scale, TextPiece};

/// Scripted responses of a provider, by the name of its model.
#[derive(Debug)]
struct Scripted {
    script: String,
    count: AtomicU64,
}

fn submitted(mark: Value, quote: &str) -> Reply {
    let answer = json!({"criteria": [
        {"id": "rubric", "quotes": [quote], "reason": "because", "mark": mark}], "summary": "s"});
    let tokens = AttemptTokens { input: 10, output: 5 };
    Reply { answers: vec![answer.to_string()], tokens, ..Reply::default() }
}

const QUOTE: &str = "rm -rf build";

impl Provider for Scripted {
    fn ask(&self, prompt: &Prompt<'_>) -> Result<Reply, ProviderFault> {
        let n = self.count.fetch_add(1, Ordering::Relaxed);
        let good = || Ok(submitted(json!(1), QUOTE));
        let fault = |kind| ProviderFault {
            retry_after: Some(Duration::from_millis(1)),
            ..ProviderFault::new(kind, "a fault")
        };
        match self.script.as_str() {
            "good" => good(),
            "bad" => Ok(submitted(json!(0), QUOTE)),
            "busy-once" if n == 0 => Err(fault(FaultKind::Busy)),
            "garbled-once" if n == 0 => Err(fault(FaultKind::Garbled)),
            "down" => Err(fault(FaultKind::Server)),
            "patient" => {
                let retry_after = Some(Duration::from_secs(3600));
                Err(ProviderFault { retry_after, ..ProviderFault::new(FaultKind::Busy, "later") })
            }
            "no-key" => Err(fault(FaultKind::Key)),
            "wrong" => Err(fault(FaultKind::Request)),
            "refuses" => {
                Ok(Reply { refusal: Some("I would rather not".into()), ..Reply::default() })
            }
            "liar" => Ok(submitted(json!(1), "words that are not there")),
            "corrected" if n == 0 => Ok(submitted(json!(1), "words that are not there")),
            "corrected" if prompt.question().contains("not in the recording") => good(),
            "silent" => Ok(Reply { text: "hm".into(), ..Reply::default() }),
            "uncounted" => {
                Ok(Reply { tokens: AttemptTokens::default(), ..submitted(json!(1), QUOTE) })
            }
            "slow-once" if n == 0 => Err(fault(FaultKind::Timeout)),
            "secret" => Ok(submitted(json!(1), "the password is hunter2")),
            _ => good(),
        }
    }
}

fn connect(model: &Model) -> Arc<dyn Provider> {
    Arc::new(Scripted { script: model.model.clone(), count: AtomicU64::new(0) })
}

fn redact<'t>(_: &str, text: &'t str) -> Cow<'t, str> {
    if text.contains("hunter2") { text.replace("hunter2", "*").into() } else { text.into() }
}

fn settings(cache: Option<&Path>) -> JudgeSettings {
    let base = JudgeSettings::default().model("claude-x").unwrap();
    let model = Model { max_tokens: 100, ..base };
    JudgeSettings {
        default_model: Some(Model { model: "good".into(), name: "good".into(), ..model }),
        cache: cache.map(Path::to_path_buf),
        retries: 2,
        ..JudgeSettings::default()
    }
}

fn client(settings: JudgeSettings) -> JudgeClient {
    JudgeClient::new(settings, connect, redact)
}

fn question(models: &[&str], text: &str) -> JudgeQuestion {
    JudgeQuestion {
        rubric: Arc::new(Rubric::of_text("fine?", Scale::Binary)),
        materials: vec![Material::of_trace("t", vec![TextPiece::new(text)])],
        panel: Panel {
            models: models.iter().map(|model| (*model).to_owned()).collect(),
            aggregation: Aggregation::Majority,
            ..Panel::default()
        },
        threshold: 0.5,
    }
}

const TEXT: &str = "then it ran rm -rf build and the password is hunter2";

fn mark(client: &JudgeClient, model: &str) -> Result<Option<f64>, (Cause, String)> {
    let ruling = client.judge(&[question(&[model], TEXT)]).remove(0);
    match &ruling.votes[0].answer {
        Ok(answer) => Ok(answer.marks[0].mark),
        Err(why) => Err((why.cause, why.reason.clone())),
    }
}

#[test]
fn every_question_is_answered_retried_or_unknown_with_its_reason() {
    for (model, want, retried) in [
        ("good", Ok(Some(1.0)), 0),
        ("bad", Ok(Some(0.0)), 0),
        ("busy-once", Ok(Some(1.0)), 1),
        ("garbled-once", Ok(Some(1.0)), 1),
        ("corrected", Ok(Some(1.0)), 0),
        ("liar", Ok(None), 0),
        ("down", Err((Cause::Judge, "down gave no answer in 3 attempts: a fault")), 2),
        ("patient", Err((Cause::Judge, "patient asked to retry after 3600 s: later")), 0),
        ("no-key", Err((Cause::Judge, "no-key cannot be asked: a fault")), 0),
        ("wrong", Err((Cause::Judge, "wrong refused: a fault")), 0),
        ("refuses", Err((Cause::Judge, "the judge refused to answer: I would rather not")), 0),
        (
            "silent",
            Err((Cause::Judge, "no answer that can be used in 3 tries: nothing was submitted.")),
            0,
        ),
    ] {
        let client = client(settings(None));
        let want = want.map_err(|(cause, words)| (cause, words.to_owned()));
        assert_eq!(mark(&client, model), want, "{model}");
        assert_eq!(client.tally().retried, retried, "{model}");
    }
}

#[test]
fn a_judge_that_fails_does_not_sink_the_panel() {
    let client = client(settings(None));
    let rulings = client.judge(&[question(&["good", "down", "bad"], TEXT), question(&[], TEXT)]);
    let models: Vec<&str> = rulings[0].votes.iter().map(|vote| vote.model.as_str()).collect();
    assert_eq!(models, ["good", "down", "bad"]);
    assert!(rulings[0].votes[1].answer.is_err() && rulings[0].votes[2].answer.is_ok());
    assert_eq!(rulings[1].votes.len(), 1);
}

#[test]
fn what_was_answered_is_not_asked_again() {
    let directory = tempfile::tempdir().unwrap();
    let first = client(settings(Some(directory.path())));
    let questions =
        [question(&["good"], TEXT), question(&["good"], TEXT), question(&["refuses"], TEXT)];
    let said = first.judge(&questions);
    assert_eq!((first.tally().asked, first.tally().kept), (2, 0));
    assert_eq!(first.answers().len(), 2);
    let second = client(settings(Some(directory.path()))).mode(JudgeMode::Offline);
    assert_eq!(second.judge(&questions), said);
    assert_eq!((second.tally().asked, second.tally().kept, second.tally().tokens), (0, 2, 0));
    let other = mark(&second, "bad").unwrap_err();
    assert!(other.1.contains("--offline"), "{other:?}");
    let third = client(settings(Some(directory.path()))).mode(JudgeMode::Refresh);
    assert_eq!(third.judge(&questions), said);
    assert_eq!(third.tally().asked, 2);
}

#[test]
fn everything_that_matters_makes_another_question() {
    let default = settings(None).default_model.unwrap();
    let write = |text: &str| {
        let question = question(&[], text);
        prompt::write(&question.rubric, &RedactedMaterials::new(&question.materials, redact))
    };
    let base = key(&default, &write("a"), 0);
    let other = |change: fn(&mut Model)| {
        let mut model = default.clone();
        change(&mut model);
        key(&model, &write("a"), 0)
    };
    assert_eq!(key(&default, &write("a"), 0), base);
    assert_ne!(key(&default, &write("b"), 0), base);
    assert_ne!(key(&default, &write("a"), 1), base);
    assert_ne!(other(|model| model.model.push('x')), base);
    assert_ne!(other(|model| model.effort = Some(Effort::High)), base);
    assert_ne!(other(|model| model.temperature = Some(0.5)), base);
    assert_ne!(other(|model| model.base_url = "https://elsewhere/v1".into()), base);
    assert_eq!(other(|model| model.timeout = Duration::from_secs(1)), base);
    assert_eq!(other(|model| model.stream = true), base);
    assert_eq!(place("http://localhost:80/v1"), place("http://localhost:8080/v1"));
}

#[test]
fn the_budget_stops_cleanly_and_keeps_what_is_done() {
    let directory = tempfile::tempdir().unwrap();
    let mut limited = settings(Some(directory.path()));
    limited.budget.tokens = Some(1200);
    limited.concurrency = 1;
    let client = client(limited);
    let questions: Vec<JudgeQuestion> =
        (0..50).map(|n| question(&["good"], &format!("{n}: rm -rf build"))).collect();
    let rulings = client.judge(&questions);
    let answered = rulings.iter().filter(|ruling| ruling.votes[0].answer.is_ok()).count();
    assert!(answered > 0 && answered < 50, "{answered}");
    let stopped = rulings.iter().filter(|ruling| {
        ruling.votes[0].answer.as_ref().is_err_and(|why| why.cause == Cause::Budget)
    });
    assert_eq!(stopped.count() + answered, 50);
    assert!(client.tally().tokens <= 1200);
    assert_eq!(Cache::new(directory.path()).all().unwrap().len(), answered);
}

#[test]
fn a_budget_in_dollars_needs_a_price() {
    let mut priced = settings(None);
    priced.budget.micro_usd = Some(1_000_000);
    let client = client(priced);
    let (cause, reason) = mark(&client, "good").unwrap_err();
    assert_eq!(cause, Cause::Budget);
    assert!(reason.contains("the price of good is not known"), "{reason}");
    assert_eq!(client.tally().tokens, 0);
}

#[test]
fn a_refused_key_is_not_tried_again() {
    let client = client(settings(None));
    let questions: Vec<JudgeQuestion> =
        (0..20).map(|n| question(&["no-key"], &format!("{n}: rm -rf build"))).collect();
    let rulings = client.judge(&questions);
    assert!(rulings.iter().all(|ruling| ruling.votes[0].answer.is_err()));
    assert_eq!(client.tally().unanswered, 20);
}

#[test]
fn secrets_of_a_trace_are_neither_sent_nor_kept() {
    let directory = tempfile::tempdir().unwrap();
    let client = client(settings(Some(directory.path())));
    // The quote is masked like the trace, and so it is found.
    assert_eq!(mark(&client, "secret"), Ok(Some(1.0)));
    let mut lines = Vec::new();
    Cache::export(&client.answers(), &mut lines).unwrap();
    let lines = String::from_utf8(lines).unwrap();
    assert!(lines.contains("the password is *") && !lines.contains("hunter2"), "{lines}");
}

#[test]
fn an_objection_leaves_the_question_open() {
    let client = client(settings(None)).with_objection(Box::new(|model, _| {
        (model.model == "bad").then(|| "it agrees with nobody".to_owned())
    }));
    assert_eq!(mark(&client, "good"), Ok(Some(1.0)));
    let (cause, reason) = mark(&client, "bad").unwrap_err();
    assert_eq!((cause, reason.as_str()), (Cause::Calibration, "it agrees with nobody"));
}

#[test]
fn the_same_rulings_at_any_concurrency() {
    let all = |concurrency| {
        let client = client(JudgeSettings { concurrency, ..settings(None) });
        let models = ["good", "bad", "liar", "silent"];
        let questions: Vec<JudgeQuestion> =
            (0..40).map(|n| question(&[models[n % 4]], &format!("{n}: rm -rf build"))).collect();
        client.judge(&questions)
    };
    assert_eq!(all(1), all(16));
}

#[test]
fn tokens_nobody_counted_are_estimated() {
    let uncounted = client(settings(None));
    assert_eq!(mark(&uncounted, "uncounted"), Ok(Some(1.0)));
    let tally = uncounted.tally();
    // About four bytes each, of the prompt and of the answer.
    let prompt = (SYSTEM.len() / 4) as u64;
    assert!((prompt..2 * prompt).contains(&tally.tokens), "{tally:?}");
    assert_eq!(tally.estimated, 1);
    let slow = client(settings(None));
    assert_eq!(mark(&slow, "slow-once"), Ok(Some(1.0)));
    let tally = slow.tally();
    // An attempt that timed out may have used its 100 tokens of output, and the prompt.
    assert!(tally.tokens > 100 + prompt, "{tally:?}");
    assert_eq!((tally.estimated, tally.retried), (1, 1));
    let counted = client(settings(None));
    assert_eq!(mark(&counted, "good"), Ok(Some(1.0)));
    assert_eq!((counted.tally().tokens, counted.tally().estimated), (15, 0));
}

#[test]
fn questions_are_explained_once_and_not_asked() {
    let explained = client(settings(None)).mode(JudgeMode::Explain);
    for _ in 0..2 {
        assert!(mark(&explained, "good").is_err());
    }
    let all = explained.explained();
    assert_eq!(all.len(), 1);
    assert!(all[0].user.contains("rm -rf build") && !all[0].user.contains("hunter2"));
    assert_eq!((all[0].output_tokens, all[0].is_cached), (100, false));
    assert_eq!(explained.tally(), JudgeTally::default());
}
