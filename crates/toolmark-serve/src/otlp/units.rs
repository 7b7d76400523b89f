//! Sessions from telemetry, evaluated once all records have probably arrived.

use crate::access::IngestKey;
use crate::evaluate::Evaluator;
use crate::evaluators::{Queue, call_key};
use crate::library::of_telemetry;
use crate::live::Hub;
use crate::model::SessionSource;
use crate::sessions;
use crate::store::{SessionStore, StoreError};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use toolmark_trace::Trajectory;

/// Interval of checks for due sessions.
const TICK: Duration = Duration::from_millis(500);

/// Maximum number of sessions evaluated per check.
const MAX_AT_ONCE: u32 = 20;

/// State of the evaluation thread.
pub(crate) struct Units {
    pub(crate) store: Arc<SessionStore>,
    pub(crate) evaluator: Arc<Evaluator>,
    pub(crate) hub: Arc<Hub>,
    /// Telemetry keys with their tools.
    pub(crate) keys: Vec<IngestKey>,
    /// Queue of the evaluators, if there are any.
    pub(crate) queue: Option<Arc<Queue>>,
    pub(crate) stop: Arc<AtomicBool>,
}

impl Units {
    /// Evaluates until it is stopped.
    pub(crate) fn run(self) {
        while !self.stop.load(Ordering::Relaxed) {
            let now = Timestamp::now().as_millisecond();
            let count = self.evaluate_due(now).unwrap_or_default();
            if count > 0 {
                self.hub.sessions(count);
            } else {
                std::thread::sleep(TICK);
            }
        }
    }

    /// Evaluates due sessions; returns their number.
    pub(super) fn evaluate_due(&self, now: i64) -> Result<u64, StoreError> {
        let due: Vec<(String, i64)> = self.store.read(|db| {
            let mut due = db.prepare_cached(
                "SELECT id, last FROM unit WHERE root_due <= ?1
                 UNION SELECT id, last FROM unit WHERE quiet_due <= ?1 LIMIT ?2",
            )?;
            let rows = due.query_map((now, MAX_AT_ONCE), |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        })?;
        for (unit, last) in &due {
            self.evaluate(unit, *last)?;
        }
        Ok(due.len() as u64)
    }

    fn evaluate(&self, unit: &str, last: i64) -> Result<(), StoreError> {
        // What no reader understands stays in the store; nothing is concluded from it.
        let run = of_telemetry(&self.store, unit).ok().flatten();
        let run =
            run.filter(|run| !run.calls.is_empty() || !run.steps.is_empty() || run.user_turns > 0);
        let evaluated = run.as_ref().map(|run| self.evaluator.evaluate(run, SessionSource::Otlp));
        let calls: Vec<(String, String)> =
            run.iter().flat_map(Trajectory::flatten).fold(Vec::new(), |mut calls, one| {
                let facts = one.calls.iter().map(|c| (call_key(c), c.name.full().into_owned()));
                calls.extend(facts);
                calls
            });
        let is_known = evaluated.is_some();
        if let Some(evaluated) = evaluated {
            sessions::put_telemetry(&self.store, unit, last, evaluated)?;
            self.hold_against_key(unit, calls, last)?;
        }
        let name = unit.to_owned();
        self.store.write_derived(move |db| {
            // What came meanwhile is evaluated again.
            db.prepare_cached(
                "UPDATE unit SET root_due = NULL,
                   quiet_due = CASE WHEN last = ?2 THEN NULL ELSE quiet_due END WHERE id = ?1",
            )?
            .execute((&name, last))
            .map(drop)
        })?;
        if let Some(queue) = self.queue.as_ref().filter(|_| is_known) {
            queue.add([unit.to_owned()]);
        }
        Ok(())
    }

    /// Records for each call whether its key allows the tool.
    fn hold_against_key(
        &self,
        unit: &str,
        calls: Vec<(String, String)>,
        at: i64,
    ) -> Result<(), StoreError> {
        let name: Option<String> = self.store.read(|db| {
            db.prepare_cached("SELECT ingest_key FROM unit WHERE id = ?1")?
                .query_row([unit], |row| row.get::<_, Option<String>>(0))
                .optional()
                .map(Option::flatten)
        })?;
        let Some(key) = self.keys.iter().find(|key| Some(&key.name) == name.as_ref()) else {
            return Ok(());
        };
        if key.allowed.is_empty() && key.denied.is_empty() {
            return Ok(());
        }
        for calls in sessions::parts(calls) {
            let (key, unit) = (key.clone(), unit.to_owned());
            self.store.write_derived(move |db| put_verdicts(db, &unit, &key, &calls, at))?;
        }
        Ok(())
    }
}

fn put_verdicts(
    db: &Connection,
    unit: &str,
    key: &IngestKey,
    calls: &[(String, String)],
    at: i64,
) -> rusqlite::Result<()> {
    let mut insert = db.prepare_cached(
        "INSERT OR REPLACE INTO evaluation
         SELECT key, ?2, ?3, ?4, ?5, NULL, ?6, ?7 FROM session WHERE id = ?1",
    )?;
    let (evaluator, version) = (format!("key:{}", key.name), key.version());
    for (call, tool) in calls {
        let (verdict, reason) = match key.allows(tool) {
            true => ("pass", format!("the key {} allows {tool}", key.name)),
            false => ("fail", format!("the key {} does not allow {tool}", key.name)),
        };
        insert.execute(params![unit, call, evaluator, version, verdict, reason, at])?;
    }
    Ok(())
}
