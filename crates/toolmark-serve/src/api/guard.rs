//! The guard: its decisions, its installations, and a replay with another policy.

use super::query::{Paging, Params, moment};
use super::{ApiAnswer, ApiError, App, JsonResponse, blocking};
use crate::model::ListPage;
use crate::sessions::{self as stored, Filter};
use crate::view::GuardWord;
use axum::body::Bytes;
use axum::extract::State;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;
use toolmark_check::Checker;
use toolmark_guard::replay::Replay;
use toolmark_report::terminal::headline_of;
use toolmark_trace::{Payload, Text};

/// Number of bytes read from the end of the log.
const MAX_LOG: u64 = 8 << 20;

/// Maximum number of replayed sessions, the newest first.
const MAX_SESSIONS: u32 = 200;

/// Maximum number of listed stopped calls.
const MAX_STOPS: usize = 500;

#[derive(Debug, Default, Deserialize)]
pub(super) struct GuardListQuery {
    since: Option<String>,
    host: Option<String>,
    decision: Option<String>,
    limit: Option<u32>,
    cursor: Option<String>,
}

/// A decision of the guard.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct GuardRow {
    /// Time of the decision.
    pub at: Option<String>,
    /// Name of the host.
    pub host: Option<String>,
    /// ID of the session.
    pub session: Option<String>,
    /// Name of the tool.
    pub tool: Option<String>,
    /// Summary of the call.
    pub title: String,
    /// `allow`, `ask` or `deny`.
    pub decision: String,
    /// Rule that decided.
    pub rule: Option<String>,
    /// Reason.
    pub reason: Option<String>,
    /// Permission mode of the agent.
    pub mode: Option<String>,
}

pub(super) async fn list(
    State(app): State<Arc<App>>,
    Params(query): Params<GuardListQuery>,
) -> ApiAnswer<ListPage<GuardRow>> {
    blocking(&app, move |app| {
        let paging = Paging::new(query.limit, query.cursor);
        let since = moment(query.since.as_deref(), Timestamp::now())?;
        let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let (host, decision) = (given(&query.host), given(&query.decision));
        let text = app.commands.guard_log().map(|path| tail(&path)).unwrap_or_default();
        let text_of =
            |row: &Value, name: &str| row.get(name).and_then(Value::as_str).map(str::to_owned);
        let takes = |row: &Value| {
            let time = text_of(row, "time").and_then(|time| time.parse::<Timestamp>().ok());
            row.get("decision").is_some()
                && host.as_ref().is_none_or(|host| text_of(row, "host").as_ref() == Some(host))
                && decision
                    .as_ref()
                    .is_none_or(|one| text_of(row, "decision").as_ref() == Some(one))
                && since.is_none_or(|since| time.is_some_and(|time| time >= since))
        };
        let rows = text.lines().rev().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let rows: Vec<Value> = rows.filter(takes).collect();
        let total = rows.len() as u64;
        let offset = usize::try_from(paging.offset()?).unwrap_or(usize::MAX);
        let hide = |text: Option<String>| text.map(|text| app.redactor.apply(text).into());
        let shown = rows.iter().skip(offset).take(paging.limit() as usize).map(|row| {
            let args = row.get("args").map(|args| match args {
                Value::String(text) => Payload::text(Text::owned(text.as_str())),
                other => Payload::json(Text::owned(other.to_string())),
            });
            let cwd = text_of(row, "cwd");
            let title = args.map(|args| headline_of(&args, cwd.as_deref(), app.redactor).main);
            GuardRow {
                at: text_of(row, "time"),
                host: hide(text_of(row, "host")),
                session: hide(text_of(row, "session")),
                tool: hide(text_of(row, "tool")),
                title: title.map(String::from).unwrap_or_default(),
                decision: text_of(row, "decision").unwrap_or_default(),
                rule: hide(text_of(row, "rule")),
                reason: hide(text_of(row, "reason")),
                mode: hide(text_of(row, "mode")),
            }
        });
        let items: Vec<GuardRow> = shown.collect();
        let next = paging.next(items.len(), total)?;
        Ok(JsonResponse(ListPage { items, next, total }))
    })
    .await
}

/// Returns the end of the log, beginning with the first complete line.
fn tail(path: &std::path::Path) -> String {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let start = file.metadata()?.len().saturating_sub(MAX_LOG);
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        file.take(MAX_LOG).read_to_end(&mut bytes)?;
        if start > 0 {
            let line =
                bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
            bytes.drain(..line);
        }
        Ok(bytes)
    };
    String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
}

/// Returns the guard's decision about a call, by its ID.
pub(super) fn word(app: &App, session: &str, call_id: &str) -> Option<GuardWord> {
    let text = tail(&app.commands.guard_log()?);
    let with_id = text.lines().rev().filter(|line| line.contains(call_id));
    let mut rows = with_id.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let row = rows.find(|row| {
        let is = |name: &str, value: &str| row.get(name).is_some_and(|one| one == value);
        is("call_id", call_id) && is("session", session) && row.get("decision").is_some()
    })?;
    let text_of = |name: &str| {
        let text = row.get(name).and_then(Value::as_str).map(str::to_owned);
        text.map(|text| String::from(app.redactor.apply(text)))
    };
    Some(GuardWord {
        decision: text_of("decision")?,
        rule: text_of("rule"),
        reason: text_of("reason"),
    })
}

/// Installations of the guard, as in `toolmark guard status --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct GuardStatus {
    /// Settings files of the hosts.
    pub hosts: Vec<HostStatus>,
}

/// One settings file of a host.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HostStatus {
    /// Name of the host.
    pub host: String,
    /// Whether the guard is in the settings.
    pub installed: bool,
    /// Path of the settings file.
    pub settings: String,
    /// Whether the host runs the hook; null if unknown.
    pub accepted: Option<bool>,
    /// Last decision about a call of the host.
    pub last_decision: Option<String>,
    /// Problem that prevents the guard from working.
    pub problem: Option<String>,
}

pub(super) async fn status(State(app): State<Arc<App>>) -> ApiAnswer<GuardStatus> {
    blocking(&app, |app| Ok(JsonResponse(GuardStatus { hosts: app.commands.guard_status() }))).await
}

/// A policy to replay.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReplayBody {
    /// The policy, as YAML.
    policy: String,
}

/// Result of a replay.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Replayed {
    /// Number of calls.
    pub calls: u64,
    /// Number of calls that would have been denied.
    pub stopped: u64,
    /// Number of calls that would have prompted the user.
    pub asked: u64,
    /// Calls that would have been stopped.
    pub rows: Vec<ReplayedRow>,
}

/// A call that would have been stopped.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReplayedRow {
    /// ID of the session.
    pub session: String,
    /// Number of the call.
    pub call: u64,
    /// Name of the tool.
    pub tool: String,
    /// Summary of the call.
    pub title: String,
    /// `ask` or `deny`.
    pub decision: String,
    /// Rule that decided.
    pub rule: String,
    /// Reason.
    pub reason: String,
}

pub(super) async fn replay(State(app): State<Arc<App>>, body: Bytes) -> ApiAnswer<Replayed> {
    blocking(&app, move |app| {
        let body: ReplayBody = serde_json::from_slice(&body)
            .map_err(|error| ApiError::invalid(format!("the body is invalid: {error}")))?;
        let guard = app
            .commands
            .guard_with(&body.policy)
            .map_err(|problems| ApiError::invalid(format!("the policy is invalid: {problems}")))?;
        let now = Timestamp::now();
        let (sessions, _) =
            app.store.read(|db| stored::list(db, &Filter::default(), MAX_SESSIONS, 0, now))?;
        let checker = Checker::default();
        let mut all = Replayed::default();
        for session in sessions {
            let Some(found) = app.store.read(|db| stored::find(db, &session.id, now))? else {
                continue;
            };
            // A session that is gone stopped nothing.
            let Ok(book) = app.library.open(&app.store, &found) else { continue };
            let view = crate::view::SessionView::new(&book, app.redactor);
            let replayed: Replay = guard.replay(book.run(), &checker);
            all.calls += replayed.calls();
            all.stopped += replayed.deny;
            all.asked += replayed.ask;
            for stop in replayed.stops {
                if all.rows.len() >= MAX_STOPS {
                    break;
                }
                let place = stop.call.place.as_ref();
                let number = place.and_then(|place| view.call_at(place));
                let number = number.unwrap_or(stop.call.number() as u64);
                let hide = |text: String| String::from(app.redactor.apply(text));
                let decision = stop.verdict.observed.unwrap_or(stop.verdict.decision);
                all.rows.push(ReplayedRow {
                    session: session.id.clone(),
                    call: number,
                    tool: hide(stop.call.tool.raw().to_owned()),
                    title: view.title_of(number).unwrap_or_default(),
                    decision: decision.word().to_owned(),
                    rule: hide(stop.verdict.rule.to_string()),
                    reason: hide(stop.verdict.reason.to_string()),
                });
            }
        }
        Ok(JsonResponse(all))
    })
    .await
}
