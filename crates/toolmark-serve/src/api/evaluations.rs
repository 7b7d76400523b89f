//! Answers of evaluators: totals by evaluator, the answers themselves, and requests to evaluate
//! again.

use super::query::{Paging, Params};
use super::{ApiAnswer, ApiError, App, JsonResponse, blocking};
use crate::model::Time;
use crate::view::Evaluation;
use axum::body::Bytes;
use axum::extract::State;
use rusqlite::params;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Debug, Default, Deserialize)]
pub(super) struct EvaluationListQuery {
    evaluator: Option<String>,
    verdict: Option<String>,
    limit: Option<u32>,
    cursor: Option<String>,
}

/// Totals of one version of an evaluator.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EvaluatorRow {
    /// Name of the evaluator.
    pub evaluator: String,
    /// Version of the evaluator.
    pub version: String,
    /// Number of passes.
    pub pass: u64,
    /// Number of failures.
    pub fail: u64,
    /// Number of undecided answers.
    pub unknown: u64,
    /// Mean of the known scores.
    pub score: Option<f64>,
    /// Time of the last answer.
    pub at: Option<Time>,
}

/// One answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EvaluationRow {
    /// ID of the session.
    pub session: String,
    /// ID of the call; null for the whole session.
    pub call_id: Option<String>,
    /// The answer.
    #[serde(flatten)]
    pub answer: Evaluation,
}

/// Answers with totals by evaluator.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Evaluations {
    /// Totals by evaluator and version.
    pub evaluators: Vec<EvaluatorRow>,
    /// The answers, the newest first.
    pub items: Vec<EvaluationRow>,
    /// Value of `cursor` for the next page.
    pub next: Option<String>,
    /// Total number of answers.
    pub total: u64,
}

pub(super) async fn list(
    State(app): State<Arc<App>>,
    Params(query): Params<EvaluationListQuery>,
) -> ApiAnswer<Evaluations> {
    blocking(&app, move |app| {
        let paging = Paging::new(query.limit, query.cursor);
        let given = |text: Option<String>| text.filter(|text| !text.is_empty());
        let (evaluator, verdict) = (given(query.evaluator), given(query.verdict));
        let offset = i64::try_from(paging.offset()?).unwrap_or(i64::MAX);
        let (evaluators, items, total) = app.store.read(|db| {
            let mut sums = db.prepare_cached(
                "SELECT evaluator, version, sum(verdict = 'pass'), sum(verdict = 'fail'),
                   sum(verdict = 'unknown'), avg(score), max(at)
                 FROM evaluation GROUP BY evaluator, version ORDER BY evaluator, version",
            )?;
            let sums = sums.query_map([], |row| {
                let count = |at| row.get::<_, i64>(at).map(i64::unsigned_abs);
                Ok(EvaluatorRow {
                    evaluator: row.get(0)?,
                    version: row.get(1)?,
                    pass: count(2)?,
                    fail: count(3)?,
                    unknown: count(4)?,
                    score: row.get(5)?,
                    at: Time::from_millisecond(row.get(6)?),
                })
            })?;
            let sums = sums.collect::<rusqlite::Result<Vec<_>>>()?;
            const CONDITION: &str = "(?1 IS NULL OR evaluator = ?1) AND (?2 IS NULL OR evaluation.verdict = ?2)";
            let total: i64 = db.query_row(
                &format!("SELECT count(*) FROM evaluation WHERE {CONDITION}"),
                params![evaluator, verdict],
                |row| row.get(0),
            )?;
            let mut rows = db.prepare_cached(&format!(
                "SELECT id, call, evaluator, evaluation.version, evaluation.verdict, score, reason, at
                 FROM evaluation JOIN session ON session.key = evaluation.session
                 WHERE {CONDITION} ORDER BY at DESC, id, call, evaluator LIMIT ?3 OFFSET ?4"
            ))?;
            let rows = rows.query_map(params![evaluator, verdict, paging.limit(), offset], |row| {
                Ok(EvaluationRow {
                    session: row.get(0)?,
                    call_id: row.get::<_, Option<String>>(1)?.filter(|call| !call.is_empty()),
                    answer: Evaluation {
                        evaluator: row.get(2)?,
                        version: row.get(3)?,
                        verdict: row.get(4)?,
                        score: row.get(5)?,
                        reason: row.get(6)?,
                        at: Time::from_millisecond(row.get(7)?),
                    },
                })
            })?;
            Ok((sums, rows.collect::<rusqlite::Result<Vec<_>>>()?, total.unsigned_abs()))
        })?;
        let next = paging.next(items.len(), total)?;
        Ok(JsonResponse(Evaluations { evaluators, items, next, total }))
    })
    .await
}

/// Sessions to evaluate again.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EvaluateBody {
    /// ID of a session; all if missing.
    session: Option<String>,
}

/// Number of queued sessions.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Queued {
    /// Number of sessions.
    pub queued: u64,
}

pub(super) async fn start(State(app): State<Arc<App>>, body: Bytes) -> ApiAnswer<Queued> {
    blocking(&app, move |app| {
        let body: EvaluateBody = match body.is_empty() {
            true => EvaluateBody::default(),
            false => serde_json::from_slice(&body)
                .map_err(|error| ApiError::invalid(format!("the body is invalid: {error}")))?,
        };
        if !app.has_evaluators {
            return Err(ApiError::invalid("nothing is configured to evaluate")
                .hint("write `serve: {evaluate: …}` in toolmark.yaml"));
        }
        let ids: Vec<String> = app.store.read(|db| {
            let mut all =
                db.prepare_cached("SELECT id FROM session WHERE ?1 IS NULL OR id = ?1")?;
            let rows = all.query_map([&body.session], |row| row.get(0))?;
            rows.collect()
        })?;
        if let (Some(session), true) = (&body.session, ids.is_empty()) {
            return Err(ApiError::not_found("session", session));
        }
        Ok(JsonResponse(Queued { queued: app.queue.add(ids) }))
    })
    .await
}
