//! The bench: answers the questions of graders.
//!
//! A question goes to every model of its panel as often as it votes. An answer
//! that is kept is taken from there; the same question asked twice in one run is
//! asked once. What fails for the moment is tried again; what cannot be used is
//! complained about, twice; what cannot be proven is discarded. Whatever happens,
//! every question gets its ruling, and none is a guess.

use crate::answer::{Complaint, Submitted, read};
use crate::cache::{Cache, Kept, Key};
use crate::config::{Model, Settings};
use crate::permits::Permits;
use crate::prompt::{self, SYSTEM, Written};
use crate::providers::{Fault, FaultKind, Prompt, Provider, Reply, Tokens};
use crate::purse::{self, Purse};
use crate::retry::{PATIENCE, wait};
use crate::shown::{Redact, Shown};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use toolmark_outcome::Cause;
use toolmark_outcome::judging::{
    Answer, Effort, Judge, Question, Rubric, Ruling, Unanswered, Vote,
};

/// How often a judge is told what is wrong with its answer.
const REMINDERS: u32 = 2;

/// Where answers may come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// From the cache, else from the model.
    #[default]
    Usual,
    /// Only from the cache.
    Offline,
    /// Only from the model; the cache is written anew.
    Refresh,
}

/// What was done, in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Answers that models gave.
    pub asked: u64,
    /// Answers that were there.
    pub kept: u64,
    /// Attempts that were repeated.
    pub retried: u64,
    /// Questions without an answer, the next ones included.
    pub unanswered: u64,
    /// Questions that were not asked because the budget was spent.
    pub over_budget: u64,
    /// Answers that could not be kept.
    pub not_kept: u64,
    /// Tokens that were used.
    pub tokens: u64,
    /// What they cost in millionths of a dollar, where prices are known.
    pub micro_usd: Option<u64>,
}

#[derive(Debug, Default)]
struct Counts {
    asked: AtomicU64,
    kept: AtomicU64,
    retried: AtomicU64,
    unanswered: AtomicU64,
    over_budget: AtomicU64,
    not_kept: AtomicU64,
}

/// A model that is asked, and whether it still is.
#[derive(Debug)]
struct Seat {
    model: Model,
    provider: Arc<dyn Provider>,
    /// Why nobody needs to ask it any more: its key was refused.
    refused: OnceLock<String>,
}

type Said = Result<Kept, Unanswered>;

/// Who is wanted: a name, empty for the usual one, and how hard it is to think.
type Wanted = (String, Option<&'static str>);

/// Why a judge may not be asked about a rubric.
pub type Objection = Box<dyn Fn(&Model, &Rubric) -> Option<String> + Send + Sync>;

/// Answers the questions of graders.
pub struct Bench {
    settings: Settings,
    connect: fn(&Model) -> Arc<dyn Provider>,
    cache: Option<Cache>,
    mode: Mode,
    redact: Redact,
    purse: Purse,
    permits: Permits,
    seats: Mutex<BTreeMap<Wanted, Result<Arc<Seat>, String>>>,
    said: Mutex<BTreeMap<Key, Arc<OnceLock<Said>>>>,
    counts: Counts,
    objection: Option<Objection>,
    watch: Option<Box<dyn Fn() + Send + Sync>>,
}

impl fmt::Debug for Bench {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bench").field("mode", &self.mode).finish_non_exhaustive()
    }
}

impl Bench {
    /// A bench as it is configured. `redact` takes the secrets of a trace out of
    /// everything that is sent or kept.
    #[must_use]
    pub fn new(
        settings: Settings,
        connect: fn(&Model) -> Arc<dyn Provider>,
        redact: Redact,
    ) -> Self {
        Self {
            cache: settings.cache.clone().map(Cache::new),
            purse: Purse::new(settings.budget),
            permits: Permits::new(settings.concurrency),
            mode: Mode::default(),
            redact,
            connect,
            settings,
            seats: Mutex::default(),
            said: Mutex::default(),
            counts: Counts::default(),
            objection: None,
            watch: None,
        }
    }

    /// Where answers may come from.
    #[must_use]
    pub fn mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    /// With a say in who may be asked what.
    #[must_use]
    pub fn objecting(self, objection: Objection) -> Self {
        Self { objection: Some(objection), ..self }
    }

    /// Calls this whenever a question is done with.
    #[must_use]
    pub fn watched(self, watch: impl Fn() + Send + Sync + 'static) -> Self {
        Self { watch: Some(Box::new(watch)), ..self }
    }

    /// What was done so far.
    #[must_use]
    pub fn tally(&self) -> Tally {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let (tokens, micro_usd) = self.purse.spent();
        Tally {
            asked: of(&self.counts.asked),
            kept: of(&self.counts.kept),
            retried: of(&self.counts.retried),
            unanswered: of(&self.counts.unanswered),
            over_budget: of(&self.counts.over_budget),
            not_kept: of(&self.counts.not_kept),
            tokens,
            micro_usd,
        }
    }

    /// All answers that were used, by their names.
    #[must_use]
    pub fn answers(&self) -> Vec<Kept> {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.values().filter_map(|slot| slot.get()?.as_ref().ok()).cloned().collect()
    }

    fn seat(&self, word: Option<&str>, effort: Option<Effort>) -> Result<Arc<Seat>, String> {
        let name = word.unwrap_or_default().to_owned();
        let mut seats = self.seats.lock().unwrap_or_else(PoisonError::into_inner);
        let seat = seats.entry((name, effort.map(Effort::word))).or_insert_with(|| {
            let mut model = match word {
                Some(word) => self.settings.model(word)?,
                None => {
                    let none = || "no model is configured to judge".to_owned();
                    self.settings.usual.clone().ok_or_else(none)?
                }
            };
            model.effort = effort.or(model.effort);
            let provider = (self.connect)(&model);
            Ok(Arc::new(Seat { model, provider, refused: OnceLock::new() }))
        });
        seat.clone()
    }

    fn vote(&self, question: &Question, word: Option<&str>, vote: u32) -> Vote {
        let seat = match self.seat(word, question.panel.effort) {
            Ok(seat) => seat,
            Err(reason) => {
                let model = word.unwrap_or("none").to_owned();
                let answer = Err(self.unanswered(Cause::NeedsJudge, reason));
                return Vote { model, answer };
            }
        };
        let model = seat.model.name.clone();
        let rubric = &*question.rubric;
        if let Some(why) = self.objection.as_ref().and_then(|object| object(&seat.model, rubric)) {
            return Vote { model, answer: Err(self.unanswered(Cause::Calibration, why)) };
        }
        let shown = Shown::new(&question.materials, self.redact);
        let written = prompt::write(rubric, &shown);
        let key = key(&seat.model, &written, vote);
        let slot = {
            let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(said.entry(key.clone()).or_default())
        };
        let said = slot.get_or_init(|| self.answer(&seat, rubric, &shown, &written, &key));
        let answer = match said {
            Err(why) => Err(why.clone()),
            Ok(kept) => match &kept.answer {
                Some(submitted) => Ok(Answer {
                    marks: submitted.marks(&shown),
                    summary: Some(submitted.summary.clone()).filter(|text| !text.is_empty()),
                    spent: kept.spent,
                }),
                None => {
                    let words = kept.refusal.as_deref().unwrap_or_default();
                    let reason = format!("the judge refused to answer: {words}");
                    Err(Unanswered { cause: Cause::Judge, reason })
                }
            },
        };
        Vote { model, answer }
    }

    fn unanswered(&self, cause: Cause, reason: impl Into<String>) -> Unanswered {
        self.counts.unanswered.fetch_add(1, Ordering::Relaxed);
        Unanswered { cause, reason: reason.into() }
    }

    fn answer(
        &self,
        seat: &Seat,
        rubric: &Rubric,
        shown: &Shown<'_>,
        written: &Written,
        key: &Key,
    ) -> Said {
        let kept = self.cache.as_ref().filter(|_| self.mode != Mode::Refresh);
        if let Some(kept) = kept.and_then(|cache| cache.get(key)) {
            self.counts.kept.fetch_add(1, Ordering::Relaxed);
            return Ok(kept);
        }
        if self.mode == Mode::Offline {
            let reason = "no answer is kept, and --offline asks nobody";
            return Err(self.unanswered(Cause::Judge, reason));
        }
        if self.settings.budget.micro_usd.is_some() && seat.model.price.is_none() {
            let name = &seat.model.name;
            let reason = format!("the budget is in dollars, and the price of {name} is not known");
            return Err(self.unanswered(Cause::Budget, reason));
        }
        let _permit = self.permits.take();
        let mut tokens = Tokens::default();
        let (said, used) = self.converse(seat, rubric, shown, written, key, &mut tokens);
        if said.is_err() && !used {
            self.counts.unanswered.fetch_add(1, Ordering::Relaxed);
        }
        let said = match said {
            Ok(answer) => Ok(answer),
            // A refusal is an answer, and was paid for.
            Err(why) if used => Err(why.reason),
            Err(why) => return Err(why),
        };
        let spent = purse::spent(&seat.model, tokens);
        let kept = Kept::new(key, &seat.model, rubric.name.clone(), said, spent);
        self.counts.asked.fetch_add(1, Ordering::Relaxed);
        if let Some(cache) = &self.cache
            && cache.put(&kept).is_err()
        {
            self.counts.not_kept.fetch_add(1, Ordering::Relaxed);
        }
        Ok(kept)
    }

    /// Asks, complains and asks again. The flag says that an error is a refusal.
    fn converse(
        &self,
        seat: &Seat,
        rubric: &Rubric,
        shown: &Shown<'_>,
        written: &Written,
        key: &Key,
        tokens: &mut Tokens,
    ) -> (Result<Submitted, Unanswered>, bool) {
        let mut unproven: Option<Submitted> = None;
        let mut complaint: Option<Complaint> = None;
        for _ in 0..=REMINDERS {
            let user = match &complaint {
                None => written.user.clone(),
                Some(Complaint(words)) => prompt::again(&written.user, words),
            };
            let prompt = Prompt { system: SYSTEM, user: &user, schema: &written.schema };
            let reply = match self.attempt(seat, &prompt, key, tokens) {
                Ok(reply) => self.redacted(reply),
                Err(why) => match unproven {
                    // What there is has been paid for.
                    Some(answer) => return (Ok(answer), false),
                    None => return (Err(why), false),
                },
            };
            if let Some(reason) = reply.refusal.filter(|_| reply.answers.is_empty()) {
                return (Err(Unanswered { cause: Cause::Judge, reason }), true);
            }
            let reply = Reply { refusal: None, ..reply };
            match read(&reply, rubric) {
                Ok(answer) => match answer.unproven(shown) {
                    None => return (Ok(answer), false),
                    Some(words) => {
                        unproven = Some(answer);
                        complaint = Some(words);
                    }
                },
                Err(words) => complaint = Some(words),
            }
        }
        if let Some(answer) = unproven {
            return (Ok(answer), false);
        }
        let words = complaint.map(|Complaint(words)| words).unwrap_or_default();
        let tries = REMINDERS + 1;
        let reason = format!("no answer that can be used in {tries} tries: {words}");
        (Err(Unanswered { cause: Cause::Judge, reason }), false)
    }

    /// What a model says may hold what it should not: it is masked like a trace.
    fn redacted(&self, mut reply: Reply) -> Reply {
        let hide = |text: &mut String| {
            if let std::borrow::Cow::Owned(masked) = (self.redact)(text) {
                *text = masked;
            }
        };
        reply.answers.iter_mut().for_each(|answer| {
            match serde_json::from_str(answer) {
                // Text by text, so that it stays JSON.
                Ok(mut value) => {
                    hide_in(&mut value, &hide);
                    *answer = value.to_string();
                }
                Err(_) => hide(answer),
            }
        });
        hide(&mut reply.text);
        reply.refusal.iter_mut().for_each(hide);
        reply
    }

    /// Makes attempts until one is answered, or none can be.
    fn attempt(
        &self,
        seat: &Seat,
        prompt: &Prompt<'_>,
        key: &Key,
        tokens: &mut Tokens,
    ) -> Result<Reply, Unanswered> {
        let model = &seat.model;
        let bytes = prompt.system.len() + prompt.user.len();
        let no = |cause, reason: String| Unanswered { cause, reason };
        let mut n = 0;
        loop {
            if let Some(why) = seat.refused.get() {
                return Err(no(Cause::Judge, why.clone()));
            }
            let Some(reserved) = self.purse.reserve(model, bytes) else {
                self.counts.over_budget.fetch_add(1, Ordering::Relaxed);
                let reason = "the budget for judges does not allow another question".to_owned();
                return Err(no(Cause::Budget, reason));
            };
            let asked = seat.provider.ask(prompt);
            let used = match &asked {
                Ok(reply) => reply.tokens,
                Err(fault) => fault.tokens,
            };
            self.purse.settle(reserved, model, used);
            tokens.input += used.input;
            tokens.output += used.output;
            let fault: Fault = match asked {
                Ok(reply) => return Ok(reply),
                Err(fault) => fault,
            };
            if fault.kind == FaultKind::Key {
                let why = format!("{} cannot be asked: {fault}", model.name);
                return Err(no(Cause::Judge, seat.refused.get_or_init(|| why).clone()));
            }
            if !fault.kind.passes() {
                return Err(no(Cause::Judge, format!("{} refused: {fault}", model.name)));
            }
            if n >= self.settings.retries {
                let tries = n + 1;
                let reason = format!("{} gave no answer in {tries} attempts: {fault}", model.name);
                return Err(no(Cause::Judge, reason));
            }
            let pause = wait(n, fault.retry_after, key.word());
            if pause > PATIENCE {
                let seconds = pause.as_secs();
                let reason = format!("{} wants {seconds} s of waiting: {fault}", model.name);
                return Err(no(Cause::Judge, reason));
            }
            self.counts.retried.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(pause);
            n += 1;
        }
    }
}

fn hide_in(value: &mut serde_json::Value, hide: &impl Fn(&mut String)) {
    use serde_json::Value;
    match value {
        Value::String(text) => hide(text),
        Value::Array(items) => items.iter_mut().for_each(|item| hide_in(item, hide)),
        Value::Object(map) => map.values_mut().for_each(|value| hide_in(value, hide)),
        _ => {}
    }
}

/// The name of an answer: everything that could make it another one. Keys,
/// ports, limits of time and tokens cannot.
fn key(model: &Model, written: &Written, vote: u32) -> Key {
    let place = place(&model.base_url);
    let query: Vec<String> = model.query.iter().map(|(k, v)| format!("{k}={v}")).collect();
    let effort = model.effort.map_or("", Effort::word);
    let temperature = model.temperature.map(|t| t.to_string()).unwrap_or_default();
    let structured = format!("{:?}", model.structured);
    let (command, query) = (model.command.join("\u{0}"), query.join("&"));
    let (version, vote) = (prompt::VERSION.to_string(), vote.to_string());
    let schema = written.schema.to_string();
    Key::of([
        version.as_str(),
        model.kind.word(),
        &model.model,
        &place,
        &query,
        &command,
        effort,
        &temperature,
        &structured,
        SYSTEM,
        &written.outline,
        &schema,
        &vote,
    ])
}

/// Host and path of an address: the port of a server on this machine is another
/// one tomorrow.
fn place(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    format!("{host}/{path}")
}

impl Judge for Bench {
    fn judge(&self, questions: &[Question]) -> Vec<Ruling> {
        let mut tasks: Vec<(usize, Option<&str>, u32)> = Vec::new();
        for (n, question) in questions.iter().enumerate() {
            let votes = question.panel.votes.max(1);
            match question.panel.models.as_slice() {
                [] => tasks.extend((0..votes).map(|vote| (n, None, vote))),
                models => {
                    let words = models.iter().map(|model| Some(model.as_str()));
                    tasks
                        .extend(words.flat_map(|word| (0..votes).map(move |vote| (n, word, vote))));
                }
            }
        }
        let done: Vec<OnceLock<Vote>> = tasks.iter().map(|_| OnceLock::new()).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some((task, slot)) = {
                let at = next.fetch_add(1, Ordering::Relaxed);
                tasks.get(at).zip(done.get(at))
            } {
                let (n, word, vote) = *task;
                if let Some(question) = questions.get(n) {
                    let _ = slot.set(self.vote(question, word, vote));
                }
                if let Some(watch) = &self.watch {
                    watch();
                }
            }
        };
        match tasks.len().min(self.settings.concurrency) {
            0 | 1 => work(),
            threads => std::thread::scope(|scope| {
                for _ in 1..threads {
                    scope.spawn(work);
                }
                work();
            }),
        }
        let mut rulings: Vec<Ruling> = questions.iter().map(|_| Ruling::default()).collect();
        for ((n, ..), vote) in tasks.iter().zip(done) {
            if let (Some(ruling), Some(vote)) = (rulings.get_mut(*n), vote.into_inner()) {
                ruling.votes.push(vote);
            }
        }
        rulings
    }
}

#[cfg(test)]
mod tests;
