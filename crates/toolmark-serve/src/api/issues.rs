//! Issues: recurring failures, the decisions about them, and their fixes.

use super::query::{InPath, Paging, Params, moment};
use super::{ApiAnswer, ApiError, App, JsonResponse, blocking};
use crate::issues::{Filter, Grouped, Weeks};
use crate::model::{ListPage, Time};
use crate::sessions as stored;
use crate::view::SessionView;
use axum::body::Bytes;
use axum::extract::State;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use toolmark_feed::{DecisionEvent, Issue, IssueId, ListedOccurrence, Representative};
use toolmark_hosts::install::unified_diff;
use toolmark_outcome::TracePlace;

/// Maximum number of listed agents and models.
const MAX_WEEK_ROWS: usize = 200;

#[derive(Debug, Default, Deserialize)]
pub(super) struct IssueListQuery {
    project: Option<String>,
    agent: Option<String>,
    since: Option<String>,
    state: Option<String>,
    kind: Option<String>,
    q: Option<String>,
    sort: Option<String>,
    limit: Option<u32>,
    cursor: Option<String>,
}

/// A page of issues. An issue has the format of `toolmark feed --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct IssuePage {
    /// The issues.
    pub items: Vec<Value>,
    /// Value of `cursor` for the next page.
    pub next: Option<String>,
    /// Total number of issues.
    pub total: u64,
    /// Number of sessions that match project, agent and time.
    pub of_sessions: u64,
}

fn given(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

impl App {
    fn all_issues(&self) -> Result<Arc<Grouped>, ApiError> {
        Ok(self.issues.grouped(&self.store, &Filter::default(), self.hub.seq())?)
    }

    fn issue_json(&self, issue: &Issue) -> Map<String, Value> {
        match serde_json::to_value(issue.clone().redact(self.redactor)) {
            Ok(Value::Object(map)) => map,
            _ => Map::new(),
        }
    }
}

pub(super) async fn list(
    State(app): State<Arc<App>>,
    Params(query): Params<IssueListQuery>,
) -> ApiAnswer<IssuePage> {
    blocking(&app, move |app| {
        let now = Timestamp::now();
        let paging = Paging::new(query.limit, query.cursor);
        let since = moment(query.since.as_deref(), now)?;
        let (project, agent) = (given(query.project), given(query.agent));
        let filter = Filter {
            project: project.clone(),
            agent: agent.clone(),
            // Whole minutes, so that the same question is the same one for a while.
            since: since.map(|since| since.as_millisecond() / 60_000 * 60_000),
        };
        let grouped = app.issues.grouped(&app.store, &filter, app.hub.seq())?;
        let words = given(query.q).map(|words| words.to_lowercase());
        let (state, kind) = (given(query.state), given(query.kind));
        let takes = |issue: &&Issue| {
            let is_word = |words: &String| {
                issue.title.raw().to_lowercase().contains(words)
                    || issue.template.raw().to_lowercase().contains(words)
                    || issue.id.to_string().starts_with(words)
                    || issue.code.is_some_and(|code| code.to_lowercase() == *words)
                    || issue.subtype.contains(words)
            };
            let is_state = |state: &String| match state.as_str() {
                "open" => issue.state.is_open(),
                state => state.split(',').any(|one| one == issue.state.word()),
            };
            state.as_ref().is_none_or(is_state)
                && kind.as_ref().is_none_or(|kind| kind == issue.kind.word())
                && words.as_ref().is_none_or(is_word)
        };
        let mut issues: Vec<&Issue> = grouped.issues.iter().filter(takes).collect();
        match query.sort.as_deref().unwrap_or_default() {
            "" => {}
            "count" => issues.sort_by_key(|issue| std::cmp::Reverse(issue.count)),
            "sessions" => issues.sort_by_key(|issue| std::cmp::Reverse(issue.sessions)),
            "last_seen" => issues.sort_by_key(|issue| std::cmp::Reverse(issue.last_seen)),
            _ => {
                return Err(ApiError::invalid("there is no such `sort`")
                    .hint("one of count, sessions and last_seen"));
            }
        }
        let total = issues.len() as u64;
        let offset = usize::try_from(paging.offset()?).unwrap_or(usize::MAX);
        let items = issues.into_iter().skip(offset).take(paging.limit() as usize);
        let items: Vec<Value> = items.map(|issue| Value::Object(app.issue_json(issue))).collect();
        let sessions = stored::Filter { project, agent, since, ..stored::Filter::default() };
        let (_, of_sessions) = app.store.read(|db| stored::list(db, &sessions, 1, 0, now))?;
        let next = paging.next(items.len(), total)?;
        Ok(JsonResponse(IssuePage { items, next, total, of_sessions }))
    })
    .await
}

/// Location of an occurrence on the page: its session, and the number of the call.
struct PageLocation {
    session: String,
    number: Option<u64>,
}

/// The sessions that show occurrences, by session and file.
type Owners<'o> = HashMap<(&'o str, &'o str), String>;

fn shown(
    app: &App,
    owners: &Owners<'_>,
    session: &str,
    place: &TracePlace,
) -> Result<PageLocation, ApiError> {
    let Some(id) = owners.get(&(session, &**place.file.raw())) else {
        return Ok(PageLocation { session: session.to_owned(), number: None });
    };
    let byte = place.byte.cast_signed();
    let numbers: Vec<i64> = app.store.read(|db| {
        let mut rows = db.prepare_cached(
            "SELECT number FROM call WHERE session = (SELECT key FROM session WHERE id = ?1)
             AND byte = ?2",
        )?;
        let rows = rows.query_map((id, byte), |row| row.get(0))?;
        rows.collect()
    })?;
    // The same byte in the file of a sub-agent is another call: only a look at it tells.
    let number = match &numbers[..] {
        [] => None,
        [one] => Some(one.unsigned_abs()),
        _ => {
            let found = app.store.read(|db| stored::find(db, id, Timestamp::now()))?;
            let book = found.and_then(|found| app.library.open(&app.store, &found).ok());
            book.and_then(|book| SessionView::new(&book, app.redactor).call_at(place))
        }
    };
    Ok(PageLocation { session: id.clone(), number })
}

/// Returns the location of the representative occurrence of an issue.
fn shown_one(app: &App, one: &Representative) -> Result<PageLocation, ApiError> {
    let (session, file) = (one.session.raw(), one.place.file.raw());
    let owners = app.issues.owners([(session, &**file)].into_iter());
    shown(app, &owners, session, &one.place)
}

fn find<'g>(grouped: &'g Grouped, id: &str) -> Result<&'g Issue, ApiError> {
    grouped.find(id).ok_or_else(|| ApiError::not_found("issue", id))
}

fn weeks_json(weeks: &BTreeMap<String, u64>) -> Vec<Value> {
    weeks.iter().map(|(week, count)| json!({"week": week, "count": count})).collect()
}

fn detail(app: &App, grouped: &Grouped, issue: &Issue) -> Result<Map<String, Value>, ApiError> {
    let mut map = app.issue_json(issue);
    if let Some(one) = &issue.representative {
        let shown = shown_one(app, one)?;
        if let Some(Value::Object(one)) = map.get_mut("representative") {
            one.insert("session".to_owned(), shown.session.into());
            one.insert("number".to_owned(), json!(shown.number));
        }
    }
    let (by_version, by_model): (Weeks, Weeks) = app.issues.weeks(issue.id, grouped);
    let by_version: Vec<Value> = by_version
        .iter()
        .take(MAX_WEEK_ROWS)
        .map(|((agent, version), weeks)| {
            json!({"agent": agent, "version": version, "weeks": weeks_json(weeks)})
        })
        .collect();
    let by_model: Vec<Value> = by_model
        .iter()
        .take(MAX_WEEK_ROWS)
        .map(|((model, _), weeks)| json!({"model": model, "weeks": weeks_json(weeks)}))
        .collect();
    map.insert("by_version".to_owned(), by_version.into());
    map.insert("by_model".to_owned(), by_model.into());
    // The grader as text, which a spec takes as it is.
    if let Some(case) = map.get_mut("case") {
        *case = case.to_string().into();
    }
    Ok(map)
}

pub(super) async fn one(
    State(app): State<Arc<App>>,
    InPath(id): InPath<String>,
) -> ApiAnswer<Value> {
    blocking(&app, move |app| {
        let grouped = app.all_issues()?;
        let issue = find(&grouped, &id)?;
        Ok(JsonResponse(Value::Object(detail(app, &grouped, issue)?)))
    })
    .await
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct PageQuery {
    limit: Option<u32>,
    cursor: Option<String>,
}

/// One occurrence of an issue.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OccurrenceRow {
    /// ID of the issue.
    pub issue: String,
    /// ID of the session.
    pub session: String,
    /// ID of the call.
    pub call_id: Option<String>,
    /// Number of the call.
    pub call: Option<u64>,
    /// Source position in the trace.
    pub place: crate::view::TracePosition,
    /// Time of the occurrence.
    pub at: Option<Time>,
    /// Working directory.
    pub project: Option<String>,
    /// Name of the model.
    pub model: Option<String>,
    /// Name of the agent.
    pub agent: Option<String>,
    /// Start of the first user message of the session.
    pub excerpt: Option<String>,
}

pub(super) async fn occurrences(
    State(app): State<Arc<App>>,
    InPath(id): InPath<String>,
    Params(query): Params<PageQuery>,
) -> ApiAnswer<ListPage<OccurrenceRow>> {
    blocking(&app, move |app| {
        let paging = Paging::new(query.limit, query.cursor);
        let grouped = app.all_issues()?;
        let issue = find(&grouped, &id)?;
        let all = app.issues.occurrences(issue.id, &grouped);
        let total = all.len() as u64;
        let offset = usize::try_from(paging.offset()?).unwrap_or(usize::MAX);
        let rows = || all.iter().skip(offset).take(paging.limit() as usize);
        let origins = rows().map(|one| (one.session.raw(), &**one.place.file.raw()));
        let owners = app.issues.owners(origins);
        let items: Vec<OccurrenceRow> =
            rows().map(|one| row(app, &owners, one)).collect::<Result<_, ApiError>>()?;
        let next = paging.next(items.len(), total)?;
        Ok(JsonResponse(ListPage { items, next, total }))
    })
    .await
}

fn row(app: &App, owners: &Owners<'_>, one: &ListedOccurrence) -> Result<OccurrenceRow, ApiError> {
    let shown = shown(app, owners, one.session.raw(), &one.place)?;
    let now = Timestamp::now();
    let about = app.store.read(|db| stored::find(db, &shown.session, now))?;
    let about = about.map(|found| found.row).unwrap_or_default();
    let hide = |text: &str| String::from(app.redactor.apply(text.to_owned()));
    Ok(OccurrenceRow {
        issue: one.issue.to_string(),
        session: shown.session,
        call_id: Some(hide(one.call_id.raw())).filter(|id| !id.is_empty()),
        call: shown.number,
        place: crate::view::TracePosition {
            file: hide(one.place.file.raw()),
            line: one.place.line,
            column: one.place.column,
        },
        at: one.time.map(Time),
        project: about.project,
        model: about.model,
        agent: about.agent,
        excerpt: about.request,
    })
}

/// A fix and its diff.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FixPreview {
    /// Kind of target: `instructions`, `permission`, `setting`, `set-up`.
    pub target: &'static str,
    /// File to change; null for fixes that are commands to run.
    pub file: Option<String>,
    /// Diff of the change, if the file can be read.
    pub diff: String,
    /// Text to paste.
    pub text: String,
    /// Rationale.
    pub why: String,
}

/// Returns the change that the fix of an issue would make, without writing it.
pub(super) async fn fix(
    State(app): State<Arc<App>>,
    InPath(id): InPath<String>,
) -> ApiAnswer<Option<FixPreview>> {
    blocking(&app, move |app| {
        let grouped = app.all_issues()?;
        let Some(fix) = find(&grouped, &id)?.fix.clone() else { return Ok(JsonResponse(None)) };
        let project = fix.project.as_ref().map(|project| project.raw().to_owned());
        let fix = fix.redact(app.redactor);
        let file = fix.file.map(|file| match &project {
            Some(project) => FilePath::new(project).join(file),
            None => PathBuf::from(file),
        });
        let before = file.as_ref().and_then(|file| fs::read_to_string(file).ok());
        let diff = match (&file, fix.apply_to(before.as_deref().unwrap_or_default())) {
            (Some(file), Ok(after)) => {
                let diff = unified_diff(file, before.as_deref(), Some(&after));
                String::from(app.redactor.apply(diff))
            }
            _ => String::new(),
        };
        Ok(JsonResponse(Some(FixPreview {
            target: fix.target.word(),
            file: file.map(|file| file.to_string_lossy().into_owned()),
            diff,
            text: fix.text.to_string(),
            why: fix.why.to_string(),
        })))
    })
    .await
}

/// A decision about an issue.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DecisionBody {
    /// `resolve`, `ignore`, `reopen`, `merge` or `note`.
    action: String,
    /// End time, for `ignore`.
    until: Option<String>,
    /// Number of further occurrences before the end, for `ignore`.
    more: Option<u64>,
    /// Whether to ignore only until the issue escalates, for `ignore`.
    until_escalating: Option<bool>,
    /// Target issue, for `merge`.
    into: Option<String>,
    /// Text, for `note`.
    text: Option<String>,
    /// Agent version with the fix, for `resolve`.
    version: Option<String>,
}

impl DecisionBody {
    fn event(self, now: Timestamp) -> Result<DecisionEvent, ApiError> {
        Ok(match self.action.as_str() {
            "resolve" => DecisionEvent::Resolve { version: given(self.version) },
            "ignore" => DecisionEvent::Ignore {
                until: match self.until.as_deref() {
                    None | Some("") => None,
                    // A duration is from now on, and not back.
                    Some(text) => match super::query::duration(text) {
                        Some(ahead) => now.checked_add(ahead).ok(),
                        None => moment(Some(text), now)?,
                    },
                },
                more: self.more,
                escalating: self.until_escalating.unwrap_or(false),
            },
            "reopen" => DecisionEvent::Reopen,
            "merge" => {
                let into = self.into.as_deref().and_then(IssueId::parse);
                let into = into.ok_or_else(|| ApiError::invalid("`into` is not an issue"))?;
                DecisionEvent::Merge { into }
            }
            "note" => {
                let text = given(self.text).filter(|text| !text.trim().is_empty());
                let text = text.ok_or_else(|| ApiError::invalid("`text` is missing"))?;
                DecisionEvent::Note { text }
            }
            _ => {
                return Err(ApiError::invalid("there is no such `action`")
                    .hint("one of resolve, ignore, reopen, merge and note"));
            }
        })
    }
}

fn parse<T: for<'de> Deserialize<'de>>(body: &[u8]) -> Result<T, ApiError> {
    serde_json::from_slice(body)
        .map_err(|error| ApiError::invalid(format!("the body is invalid: {error}")))
}

pub(super) async fn decide(
    State(app): State<Arc<App>>,
    InPath(id): InPath<String>,
    body: Bytes,
) -> ApiAnswer<Value> {
    blocking(&app, move |app| {
        let event = parse::<DecisionBody>(&body)?.event(Timestamp::now())?;
        let id = {
            let grouped = app.all_issues()?;
            let known = find(&grouped, &id)?;
            if let DecisionEvent::Merge { into } = &event {
                if *into == known.id {
                    return Err(ApiError::invalid("an issue cannot be merged into itself"));
                }
                find(&grouped, &into.to_string())?;
            }
            // What was merged is reopened under its own id.
            IssueId::parse(&id).unwrap_or(known.id)
        };
        let user = std::env::var("USER").ok().filter(|user| !user.is_empty());
        app.issues.decide(id, event, user).map_err(|error| {
            ApiError::new(
                axum::http::StatusCode::INTERNAL_SERVER_ERROR,
                "unwritten",
                format!("the decision could not be written: {error}"),
            )
        })?;
        app.hub.issue();
        let grouped = app.all_issues()?;
        let issue = find(&grouped, &id.to_string())?;
        Ok(JsonResponse(Value::Object(detail(app, &grouped, issue)?)))
    })
    .await
}

/// Destination of a case.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PromoteBody {
    /// A new directory; if missing, the case is only returned.
    to: Option<String>,
}

/// A regression case created from an issue.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Promoted {
    /// Written files.
    pub files: Vec<String>,
    /// The spec.
    pub case: String,
}

pub(super) async fn promote(
    State(app): State<Arc<App>>,
    InPath(id): InPath<String>,
    body: Bytes,
) -> ApiAnswer<Promoted> {
    blocking(&app, move |app| {
        let body = match body.is_empty() {
            true => PromoteBody::default(),
            false => parse(&body)?,
        };
        let grouped = app.all_issues()?;
        let issue = find(&grouped, &id)?;
        let no_case = || {
            ApiError::new(axum::http::StatusCode::CONFLICT, "no_case", "no case can be made of it")
                .hint("the session that shows it is gone, or has only a part of the call")
        };
        let one = issue.representative.as_ref().ok_or_else(no_case)?;
        let shown = shown_one(app, one)?;
        let found = app.store.read(|db| stored::find(db, &shown.session, Timestamp::now()))?;
        let found = found.ok_or_else(no_case)?;
        let book = app.library.open(&app.store, &found)?;
        let run = book.run();
        let case = run.flatten().into_iter().find_map(|one| issue.case_in(one, run));
        let case = case.ok_or_else(no_case)?;
        let failed = |error: std::io::Error| {
            ApiError::new(
                axum::http::StatusCode::BAD_REQUEST,
                "unwritten",
                format!("the case could not be written: {error}"),
            )
        };
        let temporary = tempfile::tempdir().map_err(failed)?;
        let directory = match &body.to {
            Some(to) => below_here(to)?,
            None => temporary.path().join("case"),
        };
        if directory.join("toolmark.yaml").exists() {
            let message = format!("{} already exists", directory.join("toolmark.yaml").display());
            return Err(ApiError::invalid(message).hint("promote to a new directory"));
        }
        app.commands.write_cases(&[case], &directory, app.redactor).map_err(failed)?;
        let text = fs::read_to_string(directory.join("toolmark.yaml")).map_err(failed)?;
        let mut files = Vec::new();
        if body.to.is_some() {
            for entry in fs::read_dir(&directory).map_err(failed)?.flatten() {
                files.push(entry.path().to_string_lossy().into_owned());
            }
            files.sort();
        }
        Ok(JsonResponse(Promoted { files, case: text }))
    })
    .await
}

/// Resolves a directory below the working directory of the server: permission to decide about
/// issues does not include writing to arbitrary directories.
fn below_here(to: &str) -> Result<PathBuf, ApiError> {
    let path = PathBuf::from(to);
    let is_below = !to.is_empty()
        && path.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    is_below.then_some(path).ok_or_else(|| {
        ApiError::invalid("`to` must be a directory below the one the server was started in")
    })
}
