//! Sessions in the store: inserting, finding and listing them.

use crate::evaluate::{CallFact, Evaluated};
use crate::model::{SessionRow, SessionSource, Time};
use crate::store::{SessionStore, StoreError};
use jiff::Timestamp;
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::HashSet;

/// Maximum age in milliseconds of the last change of a live session.
const LIVE_FOR: i64 = 2 * 60 * 1000;

/// Numbers of calls according to telemetry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Telemetry {
    pub(crate) calls: Option<u64>,
    pub(crate) failed: Option<u64>,
}

impl Telemetry {
    pub(crate) fn of(row: &SessionRow) -> Self {
        Self { calls: row.calls, failed: row.failed }
    }

    /// Describes the differences between telemetry and file.
    fn gap(self, row: &SessionRow) -> Option<String> {
        let mut parts = Vec::new();
        for (name, told, known) in
            [("calls", self.calls, row.calls), ("failures", self.failed, row.failed)]
        {
            match (told, known) {
                (Some(told), Some(known)) if told != known => {
                    parts.push(format!("{told} {name} where the file has {known}"));
                }
                (None, Some(known)) => {
                    parts.push(format!("no {name} recorded where the file has {known}"));
                }
                _ => {}
            }
        }
        (!parts.is_empty()).then(|| format!("telemetry has {}", parts.join(", ")))
    }
}

/// Returns the ID of a session: its own ID, unless another file already uses it.
fn own_id(
    db: &Connection,
    wanted: &str,
    path: Option<&str>,
    run: usize,
) -> rusqlite::Result<String> {
    let named = |salt: &str| {
        let hash = Sha256::digest(format!("{}\0{run}\0{salt}", path.unwrap_or_default()));
        hash.iter().take(4).fold(String::new(), |id, byte| format!("{id}{byte:02x}"))
    };
    if wanted.is_empty() {
        return Ok(format!("s-{}", named("")));
    }
    let owner: Option<(Option<String>, i64)> = db
        .prepare_cached("SELECT path, run FROM session WHERE id = ?1")?
        .query_row([wanted], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    Ok(match owner {
        Some((Some(owner), at)) if path.is_some_and(|path| path != owner || at != run as i64) => {
            format!("{wanted}~{}", named(wanted))
        }
        _ => wanted.to_owned(),
    })
}

/// Maximum number of rows per transaction, so that requests do not wait long.
pub(crate) const MAX_ROWS: usize = 500;

/// Replaces the sessions of a file; each session has its position in the file. `seen` records at
/// the end that the file was read, so that an interrupted file is read again.
pub(crate) fn put_file(
    store: &SessionStore,
    path: &str,
    changed: i64,
    sessions: Vec<(usize, Evaluated)>,
    seen: impl FnOnce(&Connection) -> rusqlite::Result<()> + Send + 'static,
) -> Result<(), StoreError> {
    let mut kept = HashSet::new();
    for (run, mut one) in sessions {
        kept.insert(run as i64);
        let path = path.to_owned();
        let calls = std::mem::take(&mut one.calls);
        put_parts(store, calls, move |db| {
            let id = own_id(db, &one.row.id, Some(&path), run)?;
            let told: Option<Option<String>> = db
                .prepare_cached("SELECT telemetry FROM session WHERE id = ?1")?
                .query_row([&id], |row| row.get(0))
                .optional()?;
            one.row.id = id;
            one.row.path = Some(path);
            put(db, one, run, changed, told.flatten()).map(Some)
        })?;
    }
    let path = path.to_owned();
    store.write_derived(move |db| {
        // A file that was rewritten may hold fewer.
        let mut had = db.prepare_cached("SELECT key, run FROM session WHERE path = ?1")?;
        let had = had.query_map([&path], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let had = had.collect::<rusqlite::Result<Vec<(i64, i64)>>>()?;
        for (key, _) in had.into_iter().filter(|(_, run)| !kept.contains(run)) {
            db.prepare_cached("DELETE FROM session WHERE key = ?1")?.execute([key])?;
        }
        seen(db)
    })
}

/// Returns the IDs of the sessions of a file.
pub(crate) fn ids_of(db: &Connection, path: &str) -> rusqlite::Result<Vec<String>> {
    let mut ids = db.prepare_cached("SELECT id FROM session WHERE path = ?1")?;
    let rows = ids.query_map([path], |row| row.get(0))?;
    rows.collect()
}

/// Stores a session from telemetry. If its file is present, the file takes precedence and only the
/// counts of the telemetry are stored.
pub(crate) fn put_telemetry(
    store: &SessionStore,
    unit: &str,
    changed: i64,
    mut one: Evaluated,
) -> Result<(), StoreError> {
    let unit = unit.to_owned();
    let calls = std::mem::take(&mut one.calls);
    put_parts(store, calls, move |db| {
        let told = serde_json::to_string(&Telemetry::of(&one.row)).unwrap_or_default();
        let path: Option<Option<String>> = db
            .prepare_cached("SELECT path FROM session WHERE id = ?1")?
            .query_row([&unit], |row| row.get(0))
            .optional()?;
        if let Some(Some(_)) = path {
            db.prepare_cached("UPDATE session SET telemetry = ?2 WHERE id = ?1")?
                .execute(params![unit, told])?;
            return Ok(None);
        }
        one.row.id = unit;
        put(db, one, 0, changed, Some(told)).map(Some)
    })
}

/// Writes a session and its calls in parts. `put` writes the row of the session and returns its
/// key; `None` skips the calls.
fn put_parts(
    store: &SessionStore,
    calls: Vec<CallFact>,
    put: impl FnOnce(&Connection) -> rusqlite::Result<Option<i64>> + Send + 'static,
) -> Result<(), StoreError> {
    let count = calls.len();
    let mut parts = parts(calls);
    let first = parts.next().unwrap_or_default();
    let (tell, told) = std::sync::mpsc::channel();
    store.write_derived(move |db| {
        let Some(key) = put(db)? else { return Ok(()) };
        db.prepare_cached("DELETE FROM call WHERE session = ?1 AND number > ?2")?
            .execute((key, count as i64))?;
        put_calls(db, key, &first)?;
        let _ = tell.send(key);
        Ok(())
    })?;
    let Ok(key) = told.recv() else { return Ok(()) };
    parts.try_for_each(|part| store.write_derived(move |db| put_calls(db, key, &part)))
}

/// Splits rows into the parts of separate transactions.
pub(crate) fn parts<T>(rows: Vec<T>) -> impl Iterator<Item = Vec<T>> {
    let mut rows = rows.into_iter().peekable();
    std::iter::from_fn(move || {
        rows.peek()?;
        Some(rows.by_ref().take(MAX_ROWS).collect())
    })
}

/// Writes changed calls only: most calls of a session that grew are unchanged.
fn put_calls(db: &Connection, key: i64, calls: &[CallFact]) -> rusqlite::Result<()> {
    let mut insert = db.prepare_cached(
        "INSERT INTO call SELECT ?1,?2,?3,?4,?5,?6,?7,?8,?9 WHERE EXISTS
           (SELECT 1 FROM session WHERE key = ?1)
         ON CONFLICT(session, number) DO UPDATE SET tool=excluded.tool, status=excluded.status,
           ms=excluded.ms, at=excluded.at, byte=excluded.byte, class=excluded.class,
           recovery=excluded.recovery
         WHERE (tool, status, ms, at, byte, class, recovery) IS NOT (excluded.tool,
           excluded.status, excluded.ms, excluded.at, excluded.byte, excluded.class,
           excluded.recovery)",
    )?;
    for call in calls {
        insert.execute(params![
            key,
            call.number as i64,
            call.tool,
            call.status,
            call.ms,
            call.at,
            call.byte,
            call.class,
            call.recovery,
        ])?;
    }
    Ok(())
}

/// Writes the row of a session and its occurrences; returns its key.
fn put(
    db: &Connection,
    one: Evaluated,
    run: usize,
    changed: i64,
    telemetry: Option<String>,
) -> rusqlite::Result<i64> {
    let Evaluated { row, batch, .. } = one;
    let number = |count: Option<u64>| count.and_then(|count| i64::try_from(count).ok());
    let time = |time: Option<Time>| time.map(|Time(time)| time.as_millisecond());
    let words = [&row.id, row.request.as_deref().unwrap_or_default()].join(" ").to_lowercase();
    let findings = row.findings.error + row.findings.warning + row.findings.note;
    let key: i64 = db
        .prepare_cached(
            "INSERT INTO session(id, path, run, agent, version, model, project, started, ended,
               changed, verdict, calls, failed, tokens, cost, findings, words, body, telemetry)
             VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19)
             ON CONFLICT(id) DO UPDATE SET path=?2, run=?3, agent=?4, version=?5, model=?6,
               project=?7, started=?8, ended=?9, changed=?10, verdict=?11, calls=?12, failed=?13,
               tokens=?14, cost=?15, findings=?16, words=?17, body=?18, telemetry=?19
             RETURNING key",
        )?
        .query_row(
            params![
                row.id,
                row.path,
                run as i64,
                row.agent,
                row.version,
                row.model,
                row.project,
                time(row.started),
                time(row.ended),
                changed,
                row.verdict,
                number(row.calls),
                number(row.failed),
                number(row.tokens.total),
                row.cost_usd.map(|usd| (usd * 1e9) as i64),
                findings as i64,
                words,
                serde_json::to_string(&row).unwrap_or_default(),
                telemetry,
            ],
            |row| row.get(0),
        )?;
    let evaluated: i64 = db
        .prepare_cached("UPDATE sequence SET value = value + 1 RETURNING value")?
        .query_row([], |row| row.get(0))?;
    db.prepare_cached("INSERT OR REPLACE INTO session_feed VALUES (?1, ?2, ?3, ?4)")?.execute((
        key,
        &row.id,
        evaluated,
        batch.to_bytes(),
    ))?;
    Ok(key)
}

/// Filter and order of sessions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    pub(crate) project: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) tool: Option<String>,
    pub(crate) verdict: Option<String>,
    pub(crate) words: Option<String>,
    pub(crate) since: Option<Timestamp>,
    pub(crate) until: Option<Timestamp>,
    pub(crate) live: bool,
    pub(crate) sort: Option<String>,
}

/// The columns that lists can be sorted by.
const SORTS: &[(&str, &str)] = &[
    ("changed", "changed"),
    ("started", "started"),
    ("failed", "failed"),
    ("findings", "findings"),
    ("calls", "calls"),
    ("tokens", "tokens"),
    ("cost", "cost"),
    // Of a session without times, it is not known.
    ("duration", "ended - started"),
];

impl Filter {
    /// Returns the sort column; `None` for an unknown one.
    pub(crate) fn order(&self) -> Option<&'static str> {
        let Some(sort) = &self.sort else { return Some("changed") };
        SORTS.iter().find(|(name, _)| name == sort).map(|(_, column)| *column)
    }

    /// Returns the SQL condition with its parameters.
    pub(crate) fn condition(&self, now: Timestamp) -> (String, Vec<Sql>) {
        let mut parts = vec!["1".to_owned()];
        let mut values = Vec::new();
        let mut add = |part: &str, value: Sql| {
            values.push(value);
            parts.push(part.replace('?', &format!("?{}", values.len())));
        };
        for (column, value) in [
            ("project", &self.project),
            ("agent", &self.agent),
            ("model", &self.model),
            ("version", &self.version),
            ("verdict", &self.verdict),
        ] {
            if let Some(value) = value {
                add(&format!("{column} = ?"), value.clone().into());
            }
        }
        if let Some(tool) = &self.tool {
            let part = "EXISTS (SELECT 1 FROM call WHERE call.session = session.key AND tool = ?)";
            add(part, tool.clone().into());
        }
        if let Some(words) = self.words.as_deref().filter(|words| !words.is_empty()) {
            add("instr(words, ?) > 0", words.to_lowercase().into());
        }
        if let Some(since) = self.since {
            add("coalesce(ended, started, changed) >= ?", since.as_millisecond().into());
        }
        if let Some(until) = self.until {
            add("coalesce(started, changed) < ?", until.as_millisecond().into());
        }
        if self.live {
            add("changed >= ?", (now.as_millisecond() - LIVE_FOR).into());
        }
        (parts.join(" AND "), values)
    }
}

/// Whether a session has telemetry, evaluated or not.
const HAS_TELEMETRY: &str = "(telemetry IS NOT NULL OR EXISTS (SELECT 1 FROM unit WHERE unit.id = session.id)) has_telemetry";

fn read_row(row: &rusqlite::Row<'_>, now: Timestamp) -> rusqlite::Result<Option<SessionRow>> {
    let body: String = row.get("body")?;
    let Ok(mut session) = serde_json::from_str::<SessionRow>(&body) else { return Ok(None) };
    let changed: i64 = row.get("changed")?;
    session.live = now.as_millisecond() - changed < LIVE_FOR;
    let told: Option<String> = row.get("telemetry")?;
    let told: Option<Telemetry> = told.and_then(|told| serde_json::from_str(&told).ok());
    if session.path.is_some() && row.get("has_telemetry")? {
        session.source = SessionSource::Both;
        // Telemetry is compared only when it is probably complete.
        session.gap = told.and_then(|told| told.gap(&session));
    }
    Ok(Some(session))
}

/// Returns one page of sessions, and their total number.
pub(crate) fn list(
    db: &Connection,
    filter: &Filter,
    limit: u32,
    offset: u64,
    now: Timestamp,
) -> rusqlite::Result<(Vec<SessionRow>, u64)> {
    let (condition, mut values) = filter.condition(now);
    let order = filter.order().unwrap_or("changed");
    let total: i64 = db.query_row(
        &format!("SELECT count(*) FROM session WHERE {condition}"),
        params_from_iter(&values),
        |row| row.get(0),
    )?;
    values.push(i64::from(limit).into());
    values.push(i64::try_from(offset).unwrap_or(i64::MAX).into());
    let (at, from) = (values.len() - 1, values.len());
    let mut statement = db.prepare(&format!(
        "SELECT body, changed, telemetry, {HAS_TELEMETRY} FROM session WHERE {condition}
         ORDER BY {order} DESC NULLS LAST, key DESC LIMIT ?{at} OFFSET ?{from}"
    ))?;
    let rows = statement.query_map(params_from_iter(&values), |row| read_row(row, now))?;
    let rows = rows.filter_map(Result::transpose).collect::<rusqlite::Result<Vec<_>>>()?;
    Ok((rows, u64::try_from(total).unwrap_or_default()))
}

/// A session with its file and the position of its run in the file.
pub(crate) struct StoredSession {
    pub(crate) key: i64,
    pub(crate) row: SessionRow,
    pub(crate) run: usize,
    pub(crate) changed: i64,
}

/// Finds the session with this ID.
pub(crate) fn find(
    db: &Connection,
    id: &str,
    now: Timestamp,
) -> rusqlite::Result<Option<StoredSession>> {
    let found = db
        .prepare_cached(&format!(
            "SELECT key, run, body, changed, telemetry, {HAS_TELEMETRY} FROM session WHERE id = ?1"
        ))?
        .query_row([id], |row| {
            let (key, run): (i64, i64) = (row.get("key")?, row.get("run")?);
            let changed = row.get("changed")?;
            let run = usize::try_from(run).unwrap_or_default();
            Ok(read_row(row, now)?.map(|row| StoredSession { key, row, run, changed }))
        })
        .optional()?;
    Ok(found.flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gap_is_named() {
        let row = SessionRow { calls: Some(4), failed: Some(1), ..SessionRow::default() };
        for (calls, failed, want) in [
            (Some(4), Some(1), None),
            (Some(3), Some(1), Some("telemetry has 3 calls where the file has 4")),
            (
                Some(3),
                Some(0),
                Some("telemetry has 3 calls where the file has 4, 0 failures where the file has 1"),
            ),
            (None, Some(1), Some("telemetry has no calls recorded where the file has 4")),
        ] {
            assert_eq!(Telemetry { calls, failed }.gap(&row).as_deref(), want);
        }
    }
}
