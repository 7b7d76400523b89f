//! Sessions: lists, and a single session with its timeline and its calls.

use super::guard;
use super::info::Items;
use super::query::{InPath, Paging, Params, moment};
use super::{ApiAnswer, ApiError, App, JsonResponse, blocking};
use crate::evaluators::WHOLE;
use crate::library::Book;
use crate::model::{ListPage, SessionRow, Time};
use crate::sessions::{self as stored, Filter, StoredSession};
use crate::view::{
    CallDetail, CallTick, DiffRow, Evaluation, Hit, SessionView, SubAgent, TurnText,
    ViewTimelineEntry,
};
use axum::extract::State;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Maximum number of timeline entries per response.
const MAX_ENTRIES: usize = 1000;

#[derive(Debug, Default, Deserialize)]
pub(super) struct SessionListQuery {
    project: Option<String>,
    agent: Option<String>,
    model: Option<String>,
    version: Option<String>,
    tool: Option<String>,
    since: Option<String>,
    until: Option<String>,
    verdict: Option<String>,
    live: Option<String>,
    q: Option<String>,
    sort: Option<String>,
    limit: Option<u32>,
    cursor: Option<String>,
}

fn given(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

pub(super) async fn list(
    State(app): State<Arc<App>>,
    Params(query): Params<SessionListQuery>,
) -> ApiAnswer<ListPage<SessionRow>> {
    blocking(&app, move |app| {
        let now = Timestamp::now();
        let paging = Paging::new(query.limit, query.cursor);
        let verdict = given(query.verdict);
        if verdict
            .as_ref()
            .is_some_and(|word| !["fail", "warn", "ok", "unknown"].contains(&&**word))
        {
            return Err(ApiError::invalid("`verdict` is one of fail, warn, ok and unknown"));
        }
        let filter = Filter {
            project: given(query.project),
            agent: given(query.agent),
            model: given(query.model),
            version: given(query.version),
            tool: given(query.tool),
            verdict,
            words: given(query.q),
            since: moment(query.since.as_deref(), now)?,
            until: moment(query.until.as_deref(), now)?,
            live: query.live.is_some_and(|live| live == "1" || live == "true"),
            sort: given(query.sort),
        };
        if filter.order().is_none() {
            return Err(ApiError::invalid("there is no such `sort`").hint(
                "one of changed, started, failed, findings, calls, tokens, cost and duration",
            ));
        }
        let offset = paging.offset()?;
        let (items, total) =
            app.store.read(|db| stored::list(db, &filter, paging.limit(), offset, now))?;
        let next = paging.next(items.len(), total)?;
        Ok(JsonResponse(ListPage { items, next, total }))
    })
    .await
}

/// A session with all its turns, agents and calls.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SessionDetail {
    /// The session, as in lists.
    #[serde(flatten)]
    pub row: SessionRow,
    /// User turns, and context that the client inserted.
    pub turns_list: Vec<TurnText>,
    /// Sub-agents.
    pub agents_list: Vec<SubAgent>,
    /// Facts that the format does not record.
    pub fidelity: Vec<&'static str>,
    /// All calls, in short form.
    pub strip: Vec<CallTick>,
    /// Answers of evaluators about the whole session.
    pub evaluations: Vec<Evaluation>,
}

/// Returns the session with an ID, and its trajectory.
fn open(app: &App, id: &str) -> Result<(StoredSession, Arc<Book>), ApiError> {
    let found = app.store.read(|db| stored::find(db, id, Timestamp::now()))?;
    let found = found.ok_or_else(|| ApiError::not_found("session", id))?;
    let book = app.library.open(&app.store, &found)?;
    Ok((found, book))
}

pub(super) async fn one(
    State(app): State<Arc<App>>,
    InPath(id): InPath<String>,
) -> ApiAnswer<SessionDetail> {
    blocking(&app, move |app| {
        let (found, book) = open(app, &id)?;
        let view = SessionView::new(&book, app.redactor);
        let evaluations = evaluations(app, found.key, None)?;
        Ok(JsonResponse(SessionDetail {
            row: found.row,
            evaluations,
            turns_list: view.turns(),
            agents_list: view.agents(),
            fidelity: view.fidelity(),
            strip: view.strip(),
        }))
    })
    .await
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct TimelineQuery {
    from: Option<u64>,
    limit: Option<usize>,
    agent: Option<String>,
    around: Option<u64>,
}

/// A part of a timeline.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Timeline")]
pub(crate) struct TimelinePage {
    /// The entries.
    pub items: Vec<ViewTimelineEntry>,
    /// Total number of entries.
    pub total: u64,
    /// Value of `from` for the next part; null at the end.
    pub next: Option<u64>,
    /// ID of the sub-agent; null for the main conversation.
    pub agent: Option<String>,
}

pub(super) async fn timeline(
    State(app): State<Arc<App>>,
    InPath(id): InPath<String>,
    Params(query): Params<TimelineQuery>,
) -> ApiAnswer<TimelinePage> {
    blocking(&app, move |app| {
        let (_, book) = open(app, &id)?;
        let view = SessionView::new(&book, app.redactor);
        let limit = query.limit.unwrap_or(200).clamp(1, MAX_ENTRIES);
        let (at, from) = match query.around {
            Some(call) => {
                let (at, n) = view
                    .entry_of(call)
                    .ok_or_else(|| ApiError::not_found("call", &call.to_string()))?;
                (at, n.saturating_sub(limit as u64 / 2).max(1))
            }
            None => {
                let name = query.agent.unwrap_or_default();
                let at = view
                    .agent(Some(&name))
                    .ok_or_else(|| ApiError::not_found("sub-agent", &name))?;
                (at, query.from.unwrap_or(1).max(1))
            }
        };
        let items = view.timeline(at, from, limit);
        let total = view.length(at);
        let end = from + items.len() as u64;
        let next = (end <= total && !items.is_empty()).then_some(end);
        Ok(JsonResponse(TimelinePage { items, total, next, agent: view.agent_name(at) }))
    })
    .await
}

pub(super) async fn call(
    State(app): State<Arc<App>>,
    InPath((id, call)): InPath<(String, u64)>,
) -> ApiAnswer<CallDetail> {
    blocking(&app, move |app| {
        let (found, book) = open(app, &id)?;
        let view = SessionView::new(&book, app.redactor);
        let missing = || ApiError::not_found("call", &call.to_string());
        let mut detail = view.call(call).ok_or_else(missing)?;
        detail.evaluations = evaluations(app, found.key, view.call_key(call).as_deref())?;
        // The id is compared as the log has it: with its secrets.
        let key = view.call_key(call).filter(|key| !key.starts_with('@'));
        let own = book.run().id.as_ref().map(|id| id.get().into_owned());
        detail.guard = key.and_then(|key| guard::word(app, own.as_ref().unwrap_or(&id), &key));
        Ok(JsonResponse(detail))
    })
    .await
}

/// Returns the answers of evaluators about a call, or about the whole session.
fn evaluations(app: &App, session: i64, call: Option<&str>) -> Result<Vec<Evaluation>, ApiError> {
    let rows = app.store.read(|db| {
        let mut rows = db.prepare_cached(
            "SELECT evaluator, version, verdict, score, reason, at FROM evaluation
             WHERE session = ?1 AND call = ?2 ORDER BY evaluator, at DESC",
        )?;
        let rows = rows.query_map((session, call.unwrap_or(WHOLE)), |row| {
            Ok(Evaluation {
                evaluator: row.get(0)?,
                version: row.get(1)?,
                verdict: row.get(2)?,
                score: row.get(3)?,
                reason: row.get(4)?,
                at: Time::from_millisecond(row.get(5)?),
            })
        })?;
        rows.collect()
    })?;
    Ok(rows)
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct SearchQuery {
    q: Option<String>,
}

pub(super) async fn search(
    State(app): State<Arc<App>>,
    InPath(id): InPath<String>,
    Params(query): Params<SearchQuery>,
) -> ApiAnswer<Items<Hit>> {
    blocking(&app, move |app| {
        let (_, book) = open(app, &id)?;
        let view = SessionView::new(&book, app.redactor);
        Ok(JsonResponse(Items { items: view.search(query.q.as_deref().unwrap_or_default()) }))
    })
    .await
}

/// Two sessions side by side.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Diff {
    /// The calls, aligned.
    pub rows: Vec<DiffRow>,
}

pub(super) async fn diff(
    State(app): State<Arc<App>>,
    InPath((a, b)): InPath<(String, String)>,
) -> ApiAnswer<Diff> {
    blocking(&app, move |app| {
        let ((_, left), (_, right)) = (open(app, &a)?, open(app, &b)?);
        let (left, right) =
            (SessionView::new(&left, app.redactor), SessionView::new(&right, app.redactor));
        Ok(JsonResponse(Diff { rows: left.diff_with(&right) }))
    })
    .await
}
