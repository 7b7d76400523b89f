//! The client that answers the questions of graders by asking models.
//!
//! A question goes to every model of its panel, once per vote. Cached answers are reused, and the
//! same question is asked only once per run. Temporary faults are retried; an answer that cannot be
//! used is sent back with a complaint, twice at most; a mark without proof is discarded. Every
//! question gets a ruling, and no ruling is a guess.

use crate::answer::{Complaint, Submission, read};
use crate::budget::{self, JudgeBudget};
use crate::cache::{Cache, CacheKey, CachedAnswer, Refusal};
use crate::config::{JudgeSettings, Model, ModelError};
use crate::materials::{Redact, RedactedMaterials};
use crate::prompt::{self, SYSTEM, WrittenQuestion};
use crate::providers::{AttemptTokens, FaultKind, Prompt, Provider, ProviderFault, Reply};
use crate::retry::{MAX_RETRY_WAIT, wait};
use crate::semaphore::Semaphore;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use toolmark_outcome::Cause;
use toolmark_outcome::judging::{
    Effort, Judge, JudgeAnswer, JudgeQuestion, JudgeRuling, Rubric, Unanswered, Vote,
};

/// Maximum number of complaints sent to a model about its answer.
const MAX_REMINDERS: u32 = 2;

/// Source of answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JudgeMode {
    /// The cache, otherwise the model.
    #[default]
    CacheFirst,
    /// Only the cache.
    Offline,
    /// Only the model; cached answers are replaced.
    Refresh,
    /// None: the questions are recorded instead.
    Explain,
}

/// A question that would be asked, with its exact text.
#[derive(Debug, Clone, PartialEq)]
pub struct ExplainedQuestion {
    /// Model to which it would be sent.
    pub model: String,
    /// System prompt.
    pub system: String,
    /// Text of the question.
    pub user: String,
    /// JSON Schema of the answer.
    pub schema: serde_json::Value,
    /// Estimated number of tokens of the question.
    pub input_tokens: u64,
    /// Maximum number of tokens of the answer.
    pub output_tokens: u64,
    /// Maximum cost in millionths of a dollar, if the price is known.
    pub micro_usd: Option<u64>,
    /// Whether the answer is cached and therefore free.
    pub is_cached: bool,
}

/// Counts of the work done so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JudgeTally {
    /// Answers from models.
    pub asked: u64,
    /// Answers from the cache.
    pub kept: u64,
    /// Attempts that were retried.
    pub retried: u64,
    /// Questions without an answer, including those over the budget.
    pub unanswered: u64,
    /// Questions that were not asked because the budget was spent.
    pub over_budget: u64,
    /// Answers that could not be written to the cache.
    pub not_kept: u64,
    /// Attempts with estimated token counts, because the server sent none or never answered.
    pub estimated: u64,
    /// Tokens used.
    pub tokens: u64,
    /// Cost in millionths of a dollar, if prices are known.
    pub micro_usd: Option<u64>,
}

#[derive(Debug, Default)]
struct JudgeCounts {
    asked: AtomicU64,
    kept: AtomicU64,
    retried: AtomicU64,
    unanswered: AtomicU64,
    over_budget: AtomicU64,
    not_kept: AtomicU64,
    estimated: AtomicU64,
}

/// A model and whether it can still be asked.
#[derive(Debug)]
struct JudgeModel {
    model: Model,
    provider: Arc<dyn Provider>,
    /// Reason why the model is no longer asked: its key was refused.
    refused: OnceLock<String>,
}

type AnswerResult = Result<CachedAnswer, Unanswered>;

/// One question to one model.
struct Asking<'a> {
    rubric: &'a Rubric,
    shown: &'a RedactedMaterials<'a>,
    written: &'a WrittenQuestion,
    /// Whether the same question will be asked again.
    is_repeated: bool,
}

/// A name, empty for the default model, and an effort.
type ModelKey = (String, Option<&'static str>);

/// Returns the reason why a model must not be asked a question, if there is one.
pub type Objection = Box<dyn Fn(&Model, &JudgeQuestion) -> Option<String> + Send + Sync>;

/// Callback with the current counts, called after every vote.
pub type Watcher = Box<dyn Fn(&JudgeTally) + Send + Sync>;

/// A client that answers the questions of graders by asking models.
pub struct JudgeClient {
    settings: JudgeSettings,
    connect: fn(&Model) -> Arc<dyn Provider>,
    cache: Option<Cache>,
    mode: JudgeMode,
    redact: Redact,
    budget: JudgeBudget,
    semaphore: Semaphore,
    models: Mutex<BTreeMap<ModelKey, Result<Arc<JudgeModel>, ModelError>>>,
    said: Mutex<BTreeMap<CacheKey, Arc<OnceLock<AnswerResult>>>>,
    counts: JudgeCounts,
    objection: Option<Objection>,
    watcher: Option<Watcher>,
    explained: Mutex<Vec<ExplainedQuestion>>,
}

impl fmt::Debug for JudgeClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JudgeClient").field("mode", &self.mode).finish_non_exhaustive()
    }
}

impl JudgeClient {
    /// Creates a client with these settings. `redact` removes the secrets of a trace from
    /// everything that is sent or cached.
    #[must_use]
    pub fn new(
        settings: JudgeSettings,
        connect: fn(&Model) -> Arc<dyn Provider>,
        redact: Redact,
    ) -> Self {
        Self {
            cache: settings.cache.clone().map(Cache::new),
            budget: JudgeBudget::new(settings.budget),
            semaphore: Semaphore::new(settings.concurrency),
            mode: JudgeMode::default(),
            redact,
            connect,
            settings,
            models: Mutex::default(),
            said: Mutex::default(),
            counts: JudgeCounts::default(),
            objection: None,
            watcher: None,
            explained: Mutex::default(),
        }
    }

    /// Sets the source of answers.
    #[must_use]
    pub fn mode(self, mode: JudgeMode) -> Self {
        Self { mode, ..self }
    }

    /// Sets the callback that decides which models may be asked about which rubrics.
    #[must_use]
    pub fn with_objection(self, objection: Objection) -> Self {
        Self { objection: Some(objection), ..self }
    }

    /// Sets the callback that receives the current counts after every vote.
    #[must_use]
    pub fn with_watcher(self, watcher: Watcher) -> Self {
        Self { watcher: Some(watcher), ..self }
    }

    /// Returns the questions that would be asked, in order, if the mode is to explain them.
    #[must_use]
    pub fn explained(&self) -> Vec<ExplainedQuestion> {
        self.explained.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the counts of the work done so far.
    #[must_use]
    pub fn tally(&self) -> JudgeTally {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let (tokens, micro_usd) = self.budget.spent();
        JudgeTally {
            asked: of(&self.counts.asked),
            kept: of(&self.counts.kept),
            retried: of(&self.counts.retried),
            unanswered: of(&self.counts.unanswered),
            over_budget: of(&self.counts.over_budget),
            not_kept: of(&self.counts.not_kept),
            estimated: of(&self.counts.estimated),
            tokens,
            micro_usd,
        }
    }

    /// Returns all answers that were used, sorted by key.
    #[must_use]
    pub fn answers(&self) -> Vec<CachedAnswer> {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.values().filter_map(|slot| slot.get()?.as_ref().ok()).cloned().collect()
    }

    fn find_model(
        &self,
        word: Option<&str>,
        effort: Option<Effort>,
    ) -> Result<Arc<JudgeModel>, ModelError> {
        let name = word.unwrap_or_default().to_owned();
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        let judge = models.entry((name, effort.map(Effort::word))).or_insert_with(|| {
            let mut model = match word {
                Some(word) => self.settings.model(word)?,
                None => self.settings.default_model.clone().ok_or(ModelError::None)?,
            };
            model.effort = effort.or(model.effort);
            let provider = (self.connect)(&model);
            Ok(Arc::new(JudgeModel { model, provider, refused: OnceLock::new() }))
        });
        judge.clone()
    }

    fn vote(&self, question: &JudgeQuestion, word: Option<&str>, vote: u32) -> Vote {
        let judge = match self.find_model(word, question.panel.effort) {
            Ok(judge) => judge,
            Err(error) => {
                let model = word.unwrap_or("none").to_owned();
                let answer = Err(self.unanswered(Cause::NeedsJudge, error.to_string()));
                return Vote { model, answer };
            }
        };
        let model = judge.model.name.clone();
        let rubric = &*question.rubric;
        if let Some(why) = self.objection.as_ref().and_then(|object| object(&judge.model, question))
        {
            return Vote { model, answer: Err(self.unanswered(Cause::Calibration, why)) };
        }
        let shown = RedactedMaterials::new(&question.materials, self.redact);
        let written = prompt::write(rubric, &shown);
        let key = key(&judge.model, &written, vote);
        let is_repeated = question.panel.votes > 1;
        let slot = {
            let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(said.entry(key.clone()).or_default())
        };
        let said = slot.get_or_init(|| {
            let asking = Asking { rubric, shown: &shown, written: &written, is_repeated };
            self.answer(&judge, &asking, &key)
        });
        let answer = match said {
            Err(why) => Err(why.clone()),
            Ok(kept) => match &kept.answer {
                Some(submitted) => Ok(JudgeAnswer {
                    marks: submitted.marks(&shown, &written.code),
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

    fn answer(&self, judge: &JudgeModel, asking: &Asking<'_>, key: &CacheKey) -> AnswerResult {
        if self.mode == JudgeMode::Explain {
            return Err(self.explain(judge, asking, key));
        }
        let kept = self.cache.as_ref().filter(|_| self.mode != JudgeMode::Refresh);
        if let Some(kept) = kept.and_then(|cache| cache.get(key)) {
            self.counts.kept.fetch_add(1, Ordering::Relaxed);
            return Ok(kept);
        }
        if self.mode == JudgeMode::Offline {
            let reason = "no cached answer, and --offline asks no model";
            return Err(self.unanswered(Cause::Judge, reason));
        }
        if self.settings.budget.micro_usd.is_some() && judge.model.price.is_none() {
            let name = &judge.model.name;
            let reason = format!("the budget is in dollars, and the price of {name} is not known");
            return Err(self.unanswered(Cause::Budget, reason));
        }
        let _permit = self.semaphore.acquire();
        let mut tokens = AttemptTokens::default();
        let (said, used) = self.converse(judge, asking, key, &mut tokens);
        if said.is_err() && !used {
            self.counts.unanswered.fetch_add(1, Ordering::Relaxed);
        }
        let said = match said {
            Ok(answer) => Ok(answer),
            // A refusal is an answer, and was paid for.
            Err(why) if used => Err(Refusal(why.reason)),
            Err(why) => return Err(why),
        };
        let spent = budget::spent(&judge.model, tokens);
        let kept = CachedAnswer::new(key, &judge.model, asking.rubric.name.clone(), said, spent);
        self.counts.asked.fetch_add(1, Ordering::Relaxed);
        if let Some(cache) = &self.cache
            && cache.put(&kept).is_err()
        {
            self.counts.not_kept.fetch_add(1, Ordering::Relaxed);
        }
        Ok(kept)
    }

    /// Records a question instead of asking it.
    fn explain(&self, judge: &JudgeModel, asking: &Asking<'_>, key: &CacheKey) -> Unanswered {
        let (model, written) = (&judge.model, asking.written);
        let schema = written.schema.to_string();
        let input = budget::estimate(SYSTEM.len() + written.user.len() + schema.len());
        let tokens = AttemptTokens { input, output: u64::from(model.max_tokens) };
        let cached = self.cache.as_ref().and_then(|cache| cache.get(key));
        let one = ExplainedQuestion {
            model: model.name.clone(),
            system: SYSTEM.to_owned(),
            user: written.user.clone(),
            schema: written.schema.clone(),
            input_tokens: tokens.input,
            output_tokens: tokens.output,
            micro_usd: model.price.map(|price| budget::cost(price, tokens)),
            is_cached: cached.is_some(),
        };
        self.explained.lock().unwrap_or_else(PoisonError::into_inner).push(one);
        let reason = "the prompt was explained, and no judge was asked".to_owned();
        Unanswered { cause: Cause::Judge, reason }
    }

    /// Asks, complains and asks again. The flag is set if an error is a refusal.
    fn converse(
        &self,
        judge: &JudgeModel,
        asking: &Asking<'_>,
        key: &CacheKey,
        tokens: &mut AttemptTokens,
    ) -> (Result<Submission, Unanswered>, bool) {
        let Asking { rubric, shown, written, is_repeated } = *asking;
        let mut unproven: Option<Submission> = None;
        let mut complaint: Option<Complaint> = None;
        for _ in 0..=MAX_REMINDERS {
            let reminder = complaint.as_ref().map(|Complaint(words)| prompt::remind(words));
            let prompt = Prompt {
                system: SYSTEM,
                user: &written.user,
                reminder: reminder.as_deref(),
                schema: &written.schema,
                is_repeated: is_repeated || reminder.is_some(),
            };
            let reply = match self.attempt(judge, &prompt, key, tokens) {
                Ok(reply) => self.redact_reply(reply),
                Err(why) => match unproven {
                    // The answer before has been paid for.
                    Some(answer) => return (Ok(answer), false),
                    None => return (Err(why), false),
                },
            };
            if let Some(reason) = reply.refusal.filter(|_| reply.answers.is_empty()) {
                return (Err(Unanswered { cause: Cause::Judge, reason }), true);
            }
            let reply = Reply { refusal: None, ..reply };
            match read(&reply, rubric) {
                Ok(answer) => match answer.check_quotes(shown, &written.code) {
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
        let tries = MAX_REMINDERS + 1;
        let reason = format!("no answer that can be used in {tries} tries: {words}");
        (Err(Unanswered { cause: Cause::Judge, reason }), false)
    }

    /// Redacts a reply, because a model may repeat secrets.
    fn redact_reply(&self, mut reply: Reply) -> Reply {
        let hide = |text: &mut String| {
            let masked = (self.redact)("", text).into_owned();
            *text = masked;
        };
        reply.answers.iter_mut().for_each(|answer| {
            match serde_json::from_str(answer) {
                // String by string, so that it stays JSON.
                Ok(mut value) => {
                    redact_strings(&mut value, &hide);
                    *answer = value.to_string();
                }
                Err(_) => hide(answer),
            }
        });
        hide(&mut reply.text);
        reply.refusal.iter_mut().for_each(hide);
        reply
    }

    /// Returns the tokens of an attempt: as counted by the server, otherwise estimated. An attempt
    /// that timed out may have used the maximum.
    fn tokens_used(
        &self,
        asked: &Result<Reply, ProviderFault>,
        bytes: usize,
        most: AttemptTokens,
    ) -> AttemptTokens {
        let none = AttemptTokens::default();
        let guess = match asked {
            Ok(reply) if reply.tokens == none => {
                let said = reply.answers.iter().chain([&reply.text]).chain(&reply.refusal);
                let said: usize = said.map(String::len).sum();
                AttemptTokens { input: budget::estimate(bytes), output: budget::estimate(said) }
            }
            Ok(reply) => return reply.tokens,
            Err(fault) if fault.kind == FaultKind::Timeout && fault.tokens == none => most,
            Err(fault) => return fault.tokens,
        };
        self.counts.estimated.fetch_add(1, Ordering::Relaxed);
        guess
    }

    /// Retries until there is a reply or a retry cannot succeed.
    fn attempt(
        &self,
        judge: &JudgeModel,
        prompt: &Prompt<'_>,
        key: &CacheKey,
        tokens: &mut AttemptTokens,
    ) -> Result<Reply, Unanswered> {
        let model = &judge.model;
        let reminder = prompt.reminder.map_or(0, str::len);
        let bytes = prompt.system.len() + prompt.user.len() + reminder;
        let no = |cause, reason: String| Unanswered { cause, reason };
        let mut n = 0;
        loop {
            if let Some(why) = judge.refused.get() {
                return Err(no(Cause::Judge, why.clone()));
            }
            let Some(reserved) = self.budget.reserve(model, bytes) else {
                self.counts.over_budget.fetch_add(1, Ordering::Relaxed);
                let reason = "the budget for judges does not allow another question".to_owned();
                return Err(no(Cause::Budget, reason));
            };
            let asked = judge.provider.ask(prompt);
            let used = self.tokens_used(&asked, bytes, reserved.most());
            reserved.settle(model, used);
            tokens.input += used.input;
            tokens.output += used.output;
            let fault: ProviderFault = match asked {
                Ok(reply) => return Ok(reply),
                Err(fault) => fault,
            };
            if fault.kind == FaultKind::Key {
                let why = format!("{} cannot be asked: {fault}", model.name);
                return Err(no(Cause::Judge, judge.refused.get_or_init(|| why).clone()));
            }
            if !fault.kind.is_temporary() {
                return Err(no(Cause::Judge, format!("{} refused: {fault}", model.name)));
            }
            if n >= self.settings.retries {
                let tries = n + 1;
                let reason = format!("{} gave no answer in {tries} attempts: {fault}", model.name);
                return Err(no(Cause::Judge, reason));
            }
            let pause = wait(n, fault.retry_after, key.word());
            if pause > MAX_RETRY_WAIT {
                let seconds = pause.as_secs();
                let reason = format!("{} asked to retry after {seconds} s: {fault}", model.name);
                return Err(no(Cause::Judge, reason));
            }
            self.counts.retried.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(pause);
            n += 1;
        }
    }
}

fn redact_strings(value: &mut serde_json::Value, hide: &impl Fn(&mut String)) {
    use serde_json::Value;
    match value {
        Value::String(text) => hide(text),
        Value::Array(items) => items.iter_mut().for_each(|item| redact_strings(item, hide)),
        Value::Object(map) => map.values_mut().for_each(|value| redact_strings(value, hide)),
        _ => {}
    }
}

/// Returns the cache key of an answer: everything that could change it. API keys, ports, timeouts
/// and token limits cannot.
fn key(model: &Model, written: &WrittenQuestion, vote: u32) -> CacheKey {
    let place = place(&model.base_url);
    let query: Vec<String> = model.query.iter().map(|(k, v)| format!("{k}={v}")).collect();
    let effort = model.effort.map_or("", Effort::word);
    let temperature = model.temperature.map(|t| t.to_string()).unwrap_or_default();
    let structured = format!("{:?}", model.structured);
    let (command, query) = (model.command.join("\u{0}"), query.join("&"));
    let (version, vote) = (prompt::VERSION.to_string(), vote.to_string());
    let schema = written.schema.to_string();
    CacheKey::of([
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

/// Returns host and path of an address, without the port, which changes for local servers.
pub(crate) fn place(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    format!("{host}/{path}")
}

impl Judge for JudgeClient {
    fn judge(&self, questions: &[JudgeQuestion]) -> Vec<JudgeRuling> {
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
                    if let Some(watcher) = &self.watcher {
                        watcher(&self.tally());
                    }
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
        let mut rulings: Vec<JudgeRuling> =
            questions.iter().map(|_| JudgeRuling::default()).collect();
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
