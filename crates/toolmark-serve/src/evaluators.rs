//! Evaluators: rules, graders and judges that evaluate calls and sessions as they arrive. An answer
//! is stored by its call, its evaluator and the evaluator's version.

use crate::config::{EvaluationUnit, On};
use crate::library::read_session;
use crate::live::Hub;
use crate::model::{SessionRow, SessionSource};
use crate::sessions::{self, StoredSession};
use crate::store::{SessionStore, StoreError, lock};
use jiff::Timestamp;
use rusqlite::{Connection, params};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};
use toolmark_redact::Redactor;
use toolmark_trace::{Call, Fact, Status, Trajectory};

/// Interval of checks for the stop signal.
const TICK: Duration = Duration::from_millis(250);

/// Time without changes after which a session is no longer live.
const LATER: Duration = Duration::from_secs(130);

/// Call key of the whole session.
pub(crate) const WHOLE: &str = "";

/// Subject of an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvaluationSubject {
    /// The whole session.
    Session,
    /// A call, by its index.
    Call(usize),
}

/// Answer of an evaluator.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluated {
    /// `pass`, `fail` or `unknown`.
    pub verdict: &'static str,
    /// Score, from 0 to 1.
    pub score: Option<f64>,
    /// Reason.
    pub reason: String,
}

/// An evaluator of calls or sessions.
pub trait CallEvaluator: Send + Sync {
    /// Name.
    fn name(&self) -> &str;

    /// Version: a new version evaluates everything again.
    fn version(&self) -> &str;

    /// Whether an answer costs money, so that it is never requested twice.
    fn is_costly(&self) -> bool;

    /// Returns the answers about parts of a run, in order.
    fn evaluate(&self, run: &Trajectory, parts: &[EvaluationSubject]) -> Vec<Evaluated>;
}

/// An evaluation rule: its subjects, its evaluators, and its sampling rate.
#[derive(Clone)]
pub struct Tag {
    /// Filter of calls or sessions.
    pub on: On,
    /// Evaluators.
    pub run: Vec<Arc<dyn CallEvaluator>>,
    /// Sampling rate.
    pub sample: f64,
}

/// Numbers of answers by verdict.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answers {
    /// Passes.
    pub pass: u64,
    /// Failures.
    pub fail: u64,
    /// Undecided answers.
    pub unknown: u64,
    /// Answers that were already stored.
    pub kept: u64,
}

/// Returns the key of a call, which does not depend on earlier calls: its ID, or its source
/// position.
pub(crate) fn call_key(call: &Call) -> String {
    match call.id.as_ref().map(|id| id.get()).filter(|id| !id.is_empty()) {
        Some(id) => id.into_owned(),
        None => format!("@{}", call.at.location().byte),
    }
}

/// Derives the version of an evaluator from its configuration.
#[must_use]
pub fn version_of(configuration: &str) -> String {
    let hash = Sha256::digest(configuration);
    hash.iter().take(4).fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

/// An answer as stored.
struct StoredAnswerRow {
    call: String,
    evaluator: String,
    version: String,
    answer: Evaluated,
}

impl Tag {
    fn takes_session(&self, row: &SessionRow) -> bool {
        let source = match row.source {
            SessionSource::Otlp => "otlp",
            SessionSource::File | SessionSource::Both => "file",
        };
        let is_service = On::is_any(&self.on.service, row.agent.as_deref())
            || On::is_any(&self.on.service, row.host.as_deref());
        is_service
            && On::is_any(&self.on.model, row.model.as_deref())
            && On::is_any(&self.on.version, row.version.as_deref())
            && On::is_any(&self.on.project, row.project.as_deref())
            && On::is_any(&self.on.source, Some(source))
    }

    fn takes_call(&self, call: &Call) -> bool {
        On::is_any(&self.on.tool, Some(&call.name.full()))
            && On::is_any(&self.on.status, Some(call.status.word()))
    }

    /// Whether a call is in the sample. The choice is deterministic.
    fn samples(&self, session: &str, call: &str) -> bool {
        let hash = Sha256::digest(format!("{session}\0{call}"));
        let first = u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]]);
        f64::from(first) < self.sample * (f64::from(u32::MAX) + 1.0)
    }

    /// Returns the parts of a run that are evaluated.
    fn parts(
        &self,
        row: &SessionRow,
        run: &Trajectory,
        is_main: bool,
    ) -> Vec<(EvaluationSubject, String)> {
        let session = &row.id;
        match self.on.kind {
            EvaluationUnit::Session => {
                let is_taken = is_main && self.samples(session, WHOLE);
                is_taken
                    .then(|| (EvaluationSubject::Session, WHOLE.to_owned()))
                    .into_iter()
                    .collect()
            }
            EvaluationUnit::Call => {
                let calls = run.calls.iter().enumerate().filter(|(_, call)| {
                    self.takes_call(call) && !(row.live && is_pending(run, call))
                });
                let calls = calls.map(|(at, call)| (EvaluationSubject::Call(at), call_key(call)));
                calls.filter(|(_, key)| self.samples(session, key)).collect()
            }
        }
    }
}

/// Whether the result of a call may still arrive. Such calls are not evaluated yet.
fn is_pending(run: &Trajectory, call: &Call) -> bool {
    let is_last = call.step.is_none_or(|step| step as usize + 1 >= run.steps.len());
    call.status == Status::Unanswered && is_last && !run.fidelity.lacks(Fact::Results)
}

/// Runs all evaluators on a session and stores their answers.
pub(crate) fn evaluate_session(
    store: &SessionStore,
    tags: &[Tag],
    found: &StoredSession,
    run: &Trajectory,
    redactor: Redactor,
    counts: &mut BTreeMap<(String, String), Answers>,
) -> Result<u64, StoreError> {
    let known: HashSet<(String, String, String)> = store.read(|db| {
        let mut rows = db
            .prepare_cached("SELECT call, evaluator, version FROM evaluation WHERE session = ?1")?;
        let rows =
            rows.query_map([found.key], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        rows.collect()
    })?;
    let mut rows: Vec<StoredAnswerRow> = Vec::new();
    for tag in tags.iter().filter(|tag| tag.takes_session(&found.row)) {
        for (at, one) in run.flatten().into_iter().enumerate() {
            let parts = tag.parts(&found.row, one, at == 0);
            for evaluator in &tag.run {
                let (name, version) = (evaluator.name().to_owned(), evaluator.version().to_owned());
                let count = counts.entry((name.clone(), version.clone())).or_default();
                let is_new = |(_, key): &&(EvaluationSubject, String)| {
                    let key = (key.clone(), name.clone(), version.clone());
                    !(evaluator.is_costly() && known.contains(&key))
                };
                let (new, old): (Vec<_>, Vec<_>) = parts.iter().partition(|part| is_new(part));
                count.kept += old.len() as u64;
                let asked: Vec<EvaluationSubject> = new.iter().map(|(part, _)| *part).collect();
                if asked.is_empty() {
                    continue;
                }
                for ((_, call), answer) in new.into_iter().zip(evaluator.evaluate(one, &asked)) {
                    match answer.verdict {
                        "pass" => count.pass += 1,
                        "fail" => count.fail += 1,
                        _ => count.unknown += 1,
                    }
                    let reason = redactor.apply(answer.reason.clone()).into();
                    rows.push(StoredAnswerRow {
                        call: call.clone(),
                        evaluator: name.clone(),
                        version: version.clone(),
                        answer: Evaluated { reason, ..answer },
                    });
                }
            }
        }
    }
    let count = rows.len() as u64;
    if count > 0 {
        let session = found.key;
        for rows in sessions::parts(rows) {
            store.write_derived(move |db| put(db, session, &rows))?;
        }
    }
    Ok(count)
}

fn put(db: &Connection, session: i64, rows: &[StoredAnswerRow]) -> rusqlite::Result<()> {
    let now = Timestamp::now().as_millisecond();
    // The same answer is the same row, with the time at which it was first given.
    let mut insert = db.prepare_cached(
        "INSERT INTO evaluation SELECT key, ?2, ?3, ?4, ?5, ?6, ?7, ?8 FROM session WHERE key = ?1
         ON CONFLICT(session, call, evaluator, version)
         DO UPDATE SET verdict = ?5, score = ?6, reason = ?7, at = ?8
         WHERE verdict <> ?5 OR score IS NOT ?6 OR reason <> ?7",
    )?;
    for row in rows {
        let Evaluated { verdict, score, reason } = &row.answer;
        let values =
            params![session, row.call, row.evaluator, row.version, verdict, score, reason, now];
        insert.execute(values)?;
    }
    Ok(())
}

/// Sessions waiting for evaluation.
#[derive(Default)]
pub(crate) struct Queue {
    waiting: Mutex<BTreeSet<String>>,
    changed: Condvar,
}

impl Queue {
    /// Adds sessions; a session is queued only once.
    pub(crate) fn add(&self, sessions: impl IntoIterator<Item = String>) -> u64 {
        let mut waiting = lock(&self.waiting);
        waiting.extend(sessions);
        self.changed.notify_one();
        waiting.len() as u64
    }

    fn next(&self) -> Option<String> {
        let mut waiting = lock(&self.waiting);
        if waiting.is_empty() {
            let waited = self.changed.wait_timeout(waiting, TICK);
            waiting = waited.map_or_else(|poisoned| poisoned.into_inner().0, |(guard, _)| guard);
        }
        waiting.pop_first()
    }
}

/// State of the evaluation thread.
pub(crate) struct Evaluating {
    pub(crate) store: Arc<SessionStore>,
    pub(crate) hub: Arc<Hub>,
    pub(crate) tags: Arc<[Tag]>,
    pub(crate) queue: Arc<Queue>,
    pub(crate) redactor: Redactor,
    pub(crate) stop: Arc<AtomicBool>,
}

impl Evaluating {
    /// Evaluates queued sessions until it is stopped. Judges may take long, so no other work waits
    /// for this thread.
    pub(crate) fn run(self) {
        // Sessions with a call whose result may still come, and when it comes no more.
        let mut later: Vec<(Instant, String)> = Vec::new();
        while !self.stop.load(Ordering::Relaxed) {
            let now = Instant::now();
            self.queue.add(later.extract_if(.., |(due, _)| *due <= now).map(|(_, id)| id));
            let Some(id) = self.queue.next() else { continue };
            // What cannot be read or written now is evaluated when it changes again.
            let (answers, is_pending) = self.evaluate(&id).unwrap_or_default();
            if answers > 0 {
                self.hub.sessions(1);
            }
            if is_pending && !later.iter().any(|(_, one)| *one == id) {
                later.push((Instant::now() + LATER, id));
            }
        }
    }

    /// Evaluates a session. Returns the number of answers, and whether further calls are pending.
    fn evaluate(&self, id: &str) -> Result<(u64, bool), StoreError> {
        let found = self.store.read(|db| sessions::find(db, id, Timestamp::now()))?;
        let Some(found) = found else { return Ok((0, false)) };
        let Ok(run) = read_session(&self.store, &found) else { return Ok((0, false)) };
        let runs = run.flatten();
        let is_open = runs.iter().any(|run| run.calls.iter().any(|call| is_pending(run, call)));
        let mut counts = BTreeMap::new();
        let (store, redactor) = (&self.store, self.redactor);
        let answers = evaluate_session(store, &self.tags, &found, &run, redactor, &mut counts)?;
        Ok((answers, is_open && found.row.live))
    }
}

/// Summary of an evaluation of the store.
#[derive(Debug, Default)]
pub struct EvaluatedStore {
    /// Number of evaluated sessions.
    pub sessions: u64,
    /// Sessions that could not be read, with the reason.
    pub unread: Vec<(String, String)>,
    /// Answers by evaluator and version.
    pub answers: BTreeMap<(String, String), Answers>,
}

/// Evaluates all sessions of a store, or those with these IDs.
pub fn evaluate_store(
    db: &Path,
    tags: &[Tag],
    only: &[String],
    redactor: Redactor,
) -> Result<EvaluatedStore, StoreError> {
    let store = SessionStore::open(db)?;
    let ids: Vec<String> = match only.is_empty() {
        false => only.to_vec(),
        true => store.read(|db| {
            let mut all = db.prepare_cached("SELECT id FROM session ORDER BY key")?;
            let rows = all.query_map([], |row| row.get(0))?;
            rows.collect()
        })?,
    };
    let mut evaluated = EvaluatedStore::default();
    for id in ids {
        let found = store.read(|db| sessions::find(db, &id, Timestamp::now()))?;
        let Some(found) = found else {
            evaluated.unread.push((id, "there is no such session".to_owned()));
            continue;
        };
        match read_session(&store, &found) {
            Ok(run) => {
                let answers = &mut evaluated.answers;
                evaluate_session(&store, tags, &found, &run, redactor, answers)?;
                evaluated.sessions += 1;
            }
            Err(error) => evaluated.unread.push((id, error.to_string())),
        }
    }
    store.close();
    Ok(evaluated)
}
