//! Information about the server and the stored data.

use super::{ApiAnswer, App, JsonResponse, Problem, Receivers, blocking};
use crate::access::IngestKey;
use crate::model::Time;
use crate::store::{SCHEMA_VERSION, StoreError, lock};
use axum::extract::State;
use jiff::Timestamp;
use rusqlite::OptionalExtension;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Information about the server.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Info {
    /// Version of toolmark.
    pub version: &'static str,
    /// Schema version of the store.
    pub schema_version: u32,
    /// Start time of the server.
    pub started_at: Time,
    /// Whether samples are shown.
    pub demo: bool,
    /// Watched folders.
    pub watched: Vec<WatchedFolder>,
    /// Addresses of the server.
    pub receivers: Receivers,
    /// Numbers of stored items.
    pub counts: StoredCounts,
    /// Whether changes are rejected.
    pub readonly: bool,
    /// Problems of the server.
    pub problems: Vec<Problem>,
}

/// A watched folder.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Watched")]
pub(crate) struct WatchedFolder {
    /// Path of the folder.
    pub path: String,
    /// Host of the sessions.
    pub host: Option<&'static str>,
    /// Whether the folder exists.
    pub exists: bool,
    /// Number of session files.
    pub sessions: u64,
    /// Time of the last change.
    pub last_change: Option<Time>,
    /// Problem with the folder.
    pub problem: Option<String>,
}

/// Numbers of stored items.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Counts")]
pub(crate) struct StoredCounts {
    /// Number of sessions.
    pub sessions: u64,
    /// Number of calls.
    pub calls: u64,
    /// Number of failed calls.
    pub failures: u64,
    /// Number of findings.
    pub findings: u64,
    /// Number of issues; null until they are grouped for the first time after the start.
    pub issues: Option<u64>,
}

pub(super) async fn info(State(app): State<Arc<App>>) -> ApiAnswer<Info> {
    blocking(&app, |app| {
        let (sessions, calls, failures, findings): (i64, i64, i64, i64) = app.store.read(|db| {
            db.query_row(
                "SELECT count(*), coalesce(sum(calls), 0), coalesce(sum(failed), 0),
                   coalesce(sum(findings), 0) FROM session",
                [],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
            )
        })?;
        let counts = StoredCounts {
            sessions: sessions.unsigned_abs(),
            calls: calls.unsigned_abs(),
            failures: failures.unsigned_abs(),
            findings: findings.unsigned_abs(),
            issues: app.issues.count(),
        };
        let mut problems = app.problems.clone();
        problems.extend(unread_files(app)?);
        problems.extend(app.store.problem().map(|error| Problem {
            since: Time(Timestamp::now()),
            text: format!("the last write failed: {error}"),
            hint: Some("free space on the disk; nothing that was acknowledged is lost".to_owned()),
        }));
        let states = lock(&app.states).clone();
        let watched = app.folders.iter().zip(states).map(|(folder, state)| WatchedFolder {
            path: folder.path.to_string_lossy().into_owned(),
            host: folder.host,
            exists: state.exists,
            sessions: state.files,
            last_change: state.last_change.and_then(Time::from_millisecond),
            problem: state.problem,
        });
        Ok(JsonResponse(Info {
            version: env!("CARGO_PKG_VERSION"),
            schema_version: SCHEMA_VERSION,
            started_at: app.started,
            demo: app.is_demo,
            watched: watched.collect(),
            receivers: app.receivers.clone(),
            counts,
            readonly: false,
            problems,
        }))
    })
    .await
}

/// Reports files that could not be read, or only in part.
fn unread_files(app: &App) -> Result<Option<Problem>, StoreError> {
    let (count, first): (i64, Option<(String, String, i64)>) = app.store.read(|db| {
        let count = db.query_row(
            "SELECT count(*) FROM source_file WHERE problem IS NOT NULL",
            [],
            |row| row.get(0),
        )?;
        let first = db
            .query_row(
                "SELECT path, problem, modified FROM source_file WHERE problem IS NOT NULL
                 ORDER BY modified DESC LIMIT 1",
                [],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            )
            .optional()?;
        Ok((count, first))
    })?;
    Ok(first.map(|(path, problem, modified)| Problem {
        since: Time::from_millisecond(modified).unwrap_or(app.started),
        text: format!(
            "{count} {} could not be read whole; the newest is {}: {}",
            if count == 1 { "file" } else { "files" },
            &*app.redactor.apply(path),
            &*app.redactor.apply(problem),
        ),
        hint: Some("`toolmark check FILE` says more; the rest of the file is shown".to_owned()),
    }))
}

/// A short list without pages.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Items<T> {
    /// The rows.
    pub items: Vec<T>,
}

/// A project and its number of sessions.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ProjectRow {
    /// Working directory.
    pub project: String,
    /// Number of sessions.
    pub sessions: u64,
}

/// An agent with its observed versions and models.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AgentRow {
    /// Name of the agent.
    pub agent: String,
    /// Observed versions.
    pub versions: BTreeSet<String>,
    /// Observed models.
    pub models: BTreeSet<String>,
    /// Number of sessions.
    pub sessions: u64,
}

/// A telemetry key.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct KeyRow {
    /// Name.
    pub name: String,
    /// Allowed tools; empty for all.
    pub allow: Vec<String>,
    /// Denied tools.
    pub deny: Vec<String>,
    /// Number of sessions with telemetry under this key.
    pub sessions: u64,
    /// Number of calls of tools that are not allowed.
    pub violations: u64,
    /// Equivalent policy of the guard, which stops such calls before they run.
    pub policy: String,
}

pub(super) async fn keys(State(app): State<Arc<App>>) -> ApiAnswer<Items<KeyRow>> {
    blocking(&app, |app| {
        let mut items = Vec::new();
        for key in &app.keys {
            let evaluator = format!("key:{}", key.name);
            let (sessions, violations): (i64, i64) = app.store.read(|db| {
                db.query_row(
                    "SELECT (SELECT count(*) FROM unit WHERE ingest_key = ?1),
                       (SELECT count(*) FROM evaluation
                        WHERE evaluator = ?2 AND version = ?3 AND verdict = 'fail')",
                    (&key.name, evaluator, key.version()),
                    |row| Ok((row.get(0)?, row.get(1)?)),
                )
            })?;
            items.push(KeyRow {
                name: key.name.clone(),
                allow: key.allowed.clone(),
                deny: key.denied.clone(),
                sessions: sessions.unsigned_abs(),
                violations: violations.unsigned_abs(),
                policy: policy(key),
            });
        }
        Ok(JsonResponse(Items { items }))
    })
    .await
}

/// Returns the tool lists of a key as a policy of the guard.
fn policy(key: &IngestKey) -> String {
    let mut text = "guard:\n  tools:\n".to_owned();
    for (word, tools) in [("allow", &key.allowed), ("deny", &key.denied)] {
        if !tools.is_empty() {
            // Texts in JSON are texts in YAML.
            let list = serde_json::to_string(tools).unwrap_or_default();
            text.push_str(&format!("    {word}: {list}\n"));
        }
    }
    text
}

pub(super) async fn projects(State(app): State<Arc<App>>) -> ApiAnswer<Items<ProjectRow>> {
    blocking(&app, |app| {
        let items = app.store.read(|db| {
            let mut rows = db.prepare_cached(
                "SELECT project, count(*) FROM session WHERE project IS NOT NULL
                 GROUP BY project ORDER BY 2 DESC, 1 LIMIT 1000",
            )?;
            let rows = rows.query_map([], |row| {
                let sessions: i64 = row.get(1)?;
                Ok(ProjectRow { project: row.get(0)?, sessions: sessions.unsigned_abs() })
            })?;
            rows.collect()
        })?;
        Ok(JsonResponse(Items { items }))
    })
    .await
}

pub(super) async fn agents(State(app): State<Arc<App>>) -> ApiAnswer<Items<AgentRow>> {
    type InfoRow = (String, Option<String>, Option<String>, i64);
    blocking(&app, |app| {
        let rows: Vec<InfoRow> = app.store.read(|db| {
            let mut rows = db.prepare_cached(
                "SELECT agent, version, model, count(*) FROM session WHERE agent IS NOT NULL
                 GROUP BY agent, version, model",
            )?;
            let rows =
                rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
            rows.collect()
        })?;
        let mut agents: BTreeMap<String, AgentRow> = BTreeMap::new();
        for (agent, version, model, count) in rows {
            let row = agents.entry(agent.clone()).or_insert_with(|| AgentRow {
                agent,
                versions: BTreeSet::new(),
                models: BTreeSet::new(),
                sessions: 0,
            });
            row.versions.extend(version);
            row.models.extend(model);
            row.sessions += count.unsigned_abs();
        }
        let mut items: Vec<AgentRow> = agents.into_values().collect();
        items.sort_by(|a, b| b.sessions.cmp(&a.sessions).then_with(|| a.agent.cmp(&b.agent)));
        Ok(JsonResponse(Items { items }))
    })
    .await
}
