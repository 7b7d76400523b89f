//! Runs of `toolmark run`, and comparisons of two of them.

use super::info::Items;
use super::query::{InPath, Params};
use super::{ApiAnswer, ApiError, App, JsonResponse, blocking};
use crate::model::Time;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use toolmark_run::RunStore;
use toolmark_run::store::TrialRecord;

/// Maximum number of listed runs, the newest first.
const MAX_RUNS: usize = 500;

/// A run.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RunRow {
    /// ID of the run.
    pub id: String,
    /// Path of the run directory.
    pub dir: String,
    /// Path of the spec.
    pub spec: Option<String>,
    /// Start time.
    pub started: Option<String>,
    /// End time; null if the run is in progress or was stopped.
    pub ended: Option<Time>,
    /// Names of the targets.
    pub targets: Vec<String>,
    /// Number of cases with a trial.
    pub cases: u64,
    /// Number of trials.
    pub trials: u64,
    /// Number of passed trials.
    pub passed: u64,
    /// Number of failed trials.
    pub failed: u64,
    /// Number of undecided trials.
    pub unknown: u64,
    /// Cost in US dollars.
    pub cost_usd: Option<f64>,
}

/// A run with its trials.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RunDetail {
    /// The run, as in the list.
    #[serde(flatten)]
    pub row: RunRow,
    /// Trials by case and target.
    pub matrix: TrialMatrix,
}

/// Trials by case and target.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Matrix")]
pub(crate) struct TrialMatrix {
    /// IDs of the cases.
    pub cases: Vec<String>,
    /// Names of the targets.
    pub targets: Vec<String>,
    /// The trials of each case on each target.
    pub cells: Vec<RunCell>,
}

/// The trials of a case on a target.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Cell")]
pub(crate) struct RunCell {
    /// ID of the case.
    pub case: String,
    /// Name of the target.
    pub target: String,
    /// The trials.
    pub trials: Vec<TrialRow>,
}

/// A trial.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Trial")]
pub(crate) struct TrialRow {
    /// Number, from 1.
    pub n: u32,
    /// `pass`, `fail` or `unknown`.
    pub verdict: String,
    /// Reason.
    pub reason: Option<String>,
    /// Score, from 0 to 1.
    pub score: Option<f64>,
    /// Path of the trial directory.
    pub path: String,
}

fn stores(app: &App) -> Vec<RunStore> {
    let mut all: Vec<RunStore> = app
        .runs
        .iter()
        .flat_map(|dir| match RunStore::open(dir) {
            Some(store) => vec![store],
            None => RunStore::list(dir),
        })
        .collect();
    all.sort_by_key(|store| std::cmp::Reverse(store.id()));
    all
}

fn row(app: &App, store: &RunStore, records: &[TrialRecord]) -> RunRow {
    let hide = |text: String| String::from(app.redactor.apply(text));
    let info = store.info().ok();
    let count =
        |verdict: &str| records.iter().filter(|record| record.verdict() == verdict).count() as u64;
    let (passed, failed) = (count("pass"), count("fail"));
    let costs: Vec<f64> = records.iter().filter_map(|record| record.used.usd).collect();
    let cases: BTreeSet<&str> = records.iter().map(|record| record.case.as_str()).collect();
    let summary = std::fs::metadata(store.root().join("summary.json")).ok();
    let ended = summary.and_then(|data| data.modified().ok());
    RunRow {
        id: store.id(),
        dir: store.root().to_string_lossy().into_owned(),
        spec: info.as_ref().map(|info| hide(info.spec.to_string_lossy().into_owned())),
        started: info.as_ref().map(|info| info.started.clone()),
        ended: ended.and_then(|time| jiff::Timestamp::try_from(time).ok()).map(Time),
        targets: info.iter().flat_map(|info| &info.targets).map(|t| hide(t.name.clone())).collect(),
        cases: cases.len() as u64,
        trials: records.len() as u64,
        passed,
        failed,
        unknown: records.len() as u64 - passed - failed,
        cost_usd: (!costs.is_empty()).then(|| costs.iter().sum()),
    }
}

pub(super) async fn list(State(app): State<Arc<App>>) -> ApiAnswer<Items<RunRow>> {
    blocking(&app, |app| {
        let all = stores(app).into_iter().take(MAX_RUNS);
        let items = all.map(|store| row(app, &store, &store.records())).collect();
        Ok(JsonResponse(Items { items }))
    })
    .await
}

fn find(app: &App, id: &str) -> Result<RunStore, ApiError> {
    let found = stores(app).into_iter().find(|store| store.id() == id);
    found.ok_or_else(|| ApiError::not_found("run", id))
}

pub(super) async fn one(
    State(app): State<Arc<App>>,
    InPath(id): InPath<String>,
) -> ApiAnswer<RunDetail> {
    blocking(&app, move |app| {
        let store = find(app, &id)?;
        let records = store.records();
        let hide = |text: &str| String::from(app.redactor.apply(text.to_owned()));
        let mut cells: BTreeMap<(String, String), Vec<TrialRow>> = BTreeMap::new();
        let (mut cases, mut targets): (Vec<String>, Vec<String>) = Default::default();
        for record in &records {
            let (case, target) = (hide(&record.case), hide(&record.target));
            for (list, name) in [(&mut cases, &case), (&mut targets, &target)] {
                if !list.contains(name) {
                    list.push(name.clone());
                }
            }
            cells.entry((case, target)).or_default().push(TrialRow {
                n: record.trial + 1,
                verdict: record.verdict().to_owned(),
                reason: record.outcome.get("reason").and_then(Value::as_str).map(hide),
                score: record.outcome.get("score").and_then(Value::as_f64),
                path: record.directory.to_string_lossy().into_owned(),
            });
        }
        let cells = cells.into_iter().map(|((case, target), mut trials)| {
            trials.sort_by_key(|trial| trial.n);
            RunCell { case, target, trials }
        });
        let matrix = TrialMatrix { cases, targets, cells: cells.collect() };
        Ok(JsonResponse(RunDetail { row: row(app, &store, &records), matrix }))
    })
    .await
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct CompareQuery {
    a: Option<String>,
    b: Option<String>,
}

/// Compares two runs; the response has the format of `toolmark compare --format json`.
pub(super) async fn compare(
    State(app): State<Arc<App>>,
    Params(query): Params<CompareQuery>,
) -> ApiAnswer<Value> {
    blocking(&app, move |app| {
        let (Some(a), Some(b)) = (query.a, query.b) else {
            return Err(ApiError::invalid("`a` and `b` are the ids of two runs"));
        };
        // Only runs that are listed: an id is not a path.
        let (a, b) = (find(app, &a)?, find(app, &b)?);
        let compared = app.commands.compare(a.root(), b.root(), app.redactor);
        compared.map(JsonResponse).map_err(|error| {
            ApiError::new(axum::http::StatusCode::CONFLICT, "not_comparable", error.to_string())
        })
    })
    .await
}
