//! Telemetry records in the store.

use super::split::Records;
use rusqlite::{Connection, OptionalExtension, params};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

/// Delay in milliseconds between the root span of a session and its evaluation.
const AFTER_ROOT: i64 = 10_000;

/// Delay in milliseconds between the last record and the evaluation, without a root span.
const AFTER_SILENCE: i64 = 120_000;

/// Unit of records without a session or a trace.
const UNATTRIBUTED: &str = "unattributed";

/// Stores the records of a request. Records that are already stored are ignored.
pub(crate) fn put(
    db: &Connection,
    records: &Records,
    key: Option<&str>,
    now: i64,
) -> rusqlite::Result<()> {
    let origins = origins(db, &records.origins)?;
    // A trace belongs to the session that any of its records names.
    let mut units: HashMap<&str, String> = HashMap::new();
    let named_spans = records.spans.iter().map(|span| (&span.trace, &span.session));
    let named_logs = records.logs.iter().map(|log| (&log.trace, &log.session));
    for (trace, session) in named_spans.chain(named_logs) {
        if let Some(session) = session.as_ref().filter(|_| !trace.is_empty()) {
            units.insert(trace, session.clone());
        }
    }
    for (trace, unit) in &units {
        name_trace(db, trace, unit)?;
    }
    let unit_of = |db: &Connection, trace: &'_ str, session: &Option<String>| {
        if let Some(session) = session {
            return Ok(session.clone());
        }
        if trace.is_empty() {
            return Ok(UNATTRIBUTED.to_owned());
        }
        db.prepare_cached("SELECT unit FROM trace_unit WHERE trace = ?1")?
            .query_row([trace], |row| row.get::<_, String>(0))
            .optional()
            .map(|unit| unit.unwrap_or_else(|| trace.to_owned()))
    };
    // What came for each session: was anything new, was a root among it?
    let mut touched: BTreeMap<String, bool> = BTreeMap::new();
    for span in &records.spans {
        let unit = unit_of(db, &span.trace, &span.session)?;
        let origin = origins.get(span.origin).copied().unwrap_or_default();
        let added = db
            .prepare_cached("INSERT OR IGNORE INTO span VALUES (?1,?2,?3,?4,?5,?6)")?
            .execute(params![span.trace, span.span, unit, origin, now, span.body])?;
        if added > 0 {
            *touched.entry(unit).or_default() |= span.is_root;
        }
    }
    for log in &records.logs {
        let unit = unit_of(db, &log.trace, &log.session)?;
        let origin = origins.get(log.origin).copied().unwrap_or_default();
        let added = db
            .prepare_cached("INSERT OR IGNORE INTO log VALUES (?1,?2,?3,?4,?5,?6)")?
            .execute(params![unit, log.sequence, log.trace, origin, now, log.body])?;
        if added > 0 {
            touched.entry(unit).or_default();
        }
    }
    for metric in &records.metrics {
        db.prepare_cached("INSERT OR IGNORE INTO metric VALUES (?1,?2,?3)")?.execute(params![
            Sha256::digest(metric).to_vec(),
            now,
            metric
        ])?;
    }
    for (unit, has_root) in touched.iter().filter(|(unit, _)| *unit != UNATTRIBUTED) {
        db.prepare_cached(
            "INSERT INTO unit(id, ingest_key, last, root_due, quiet_due) VALUES (?1,?2,?3,?4,?5)
             ON CONFLICT(id) DO UPDATE SET last = ?3, quiet_due = ?5,
               ingest_key = coalesce(?2, ingest_key), root_due = coalesce(?4, root_due)",
        )?
        .execute(params![
            unit,
            key,
            now,
            has_root.then_some(now + AFTER_ROOT),
            now + AFTER_SILENCE
        ])?;
    }
    Ok(())
}

fn origins(db: &Connection, bodies: &[String]) -> rusqlite::Result<Vec<i64>> {
    let id = |body: &String| -> rusqlite::Result<i64> {
        let hash = Sha256::digest(body).to_vec();
        db.prepare_cached("INSERT OR IGNORE INTO origin(hash, body) VALUES (?1, ?2)")?
            .execute(params![hash, body])?;
        db.prepare_cached("SELECT id FROM origin WHERE hash = ?1")?
            .query_row([hash], |row| row.get(0))
    };
    bodies.iter().map(id).collect()
}

/// Assigns a trace to a session, including the records received before the session was known.
fn name_trace(db: &Connection, trace: &str, unit: &str) -> rusqlite::Result<()> {
    let added = db
        .prepare_cached("INSERT OR IGNORE INTO trace_unit VALUES (?1, ?2)")?
        .execute([trace, unit])?;
    if added > 0 && trace != unit {
        db.prepare_cached("UPDATE span SET unit = ?2 WHERE trace = ?1 AND unit = ?1")?
            .execute([trace, unit])?;
        db.prepare_cached("UPDATE OR IGNORE log SET unit = ?2 WHERE trace = ?1 AND unit = ?1")?
            .execute([trace, unit])?;
        db.prepare_cached("DELETE FROM unit WHERE id = ?1")?.execute([trace])?;
        db.prepare_cached("DELETE FROM session WHERE id = ?1 AND path IS NULL")?
            .execute([trace])?;
    }
    Ok(())
}

/// Returns all records of a session as lines of OTLP in JSON; empty without records.
pub(crate) fn of_unit(db: &Connection, unit: &str) -> rusqlite::Result<String> {
    let mut origins: HashMap<i64, (String, String)> = HashMap::new();
    let mut text = String::new();
    for (table, order, [resources, scopes, records]) in [
        ("span", "span", ["resourceSpans", "scopeSpans", "spans"]),
        ("log", "sequence", ["resourceLogs", "scopeLogs", "logRecords"]),
    ] {
        let mut rows = db.prepare_cached(&format!(
            "SELECT origin, body FROM {table} WHERE unit = ?1 ORDER BY received, {order}"
        ))?;
        let mut rows = rows.query([unit])?;
        while let Some(row) = rows.next()? {
            let (origin, body): (i64, String) = (row.get(0)?, row.get(1)?);
            let (resource, scope) = match origins.get(&origin) {
                Some(known) => known.clone(),
                None => {
                    let read = origin_parts(db, origin)?;
                    origins.insert(origin, read.clone());
                    read
                }
            };
            let _ = writeln!(
                text,
                "{{\"{resources}\":[{{\"resource\":{resource},\"{scopes}\":[{{\"scope\":{scope},\
                 \"{records}\":[{body}]}}]}}]}}"
            );
        }
    }
    Ok(text)
}

fn origin_parts(db: &Connection, id: i64) -> rusqlite::Result<(String, String)> {
    let body: Option<String> = db
        .prepare_cached("SELECT body FROM origin WHERE id = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    let parts: Option<serde_json::Value> =
        body.and_then(|body: String| serde_json::from_str(&body).ok());
    let parts = parts.unwrap_or_default();
    Ok((parts["resource"].to_string(), parts["scope"].to_string()))
}
