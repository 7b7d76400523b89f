//! The HTML page of issues.

use super::{HtmlSection, safe, table};
use crate::ReportError;
use crate::model::{FeedRun, Issue, PrintableListing};
use crate::shown;
use maud::{Markup, html};
use serde_json::{Value, json};

/// Maximum number of issues.
const MAX_ISSUES: usize = 1000;
/// Maximum number of occurrences of all issues together.
const MAX_OCCURRENCES: usize = 20_000;

pub(super) fn part(run: &FeedRun) -> Result<HtmlSection, ReportError> {
    let issues = &run.issues[..run.issues.len().min(MAX_ISSUES)];
    let mut data = vec![(
        "/api/v1/issues",
        json!({
            "items": serde_json::to_value(issues)?,
            "next": null,
            "total": run.issues.len(),
            "of_sessions": run.sessions,
        }),
    )];
    if let Some(listed) = &run.occurrences {
        let items: Vec<Value> = listed.iter().take(MAX_OCCURRENCES).map(occurrence).collect();
        data.push(("/api/v1/occurrences", json!({ "items": items, "total": listed.len() })));
    }
    Ok(HtmlSection {
        page: "feed",
        title: "toolmark feed".to_owned(),
        data,
        notes: run.notes.clone(),
        tables: tables(run, issues),
    })
}

/// An occurrence in the page's data.
fn occurrence(one: &PrintableListing) -> Value {
    json!({
        "issue": one.issue.to_string(),
        "session": one.session,
        "call_id": one.call_id,
        "call": null,
        "place": one.place,
        "at": one.time.map(|time| time.to_string()),
        "project": null,
        "model": null,
        "agent": null,
        "excerpt": null,
    })
}

fn tables(run: &FeedRun, issues: &[Issue]) -> Markup {
    let rows: Vec<Markup> = issues.iter().map(row).collect();
    let head = ["state", "count", "sessions", "issue", "last seen", "fix"];
    html! {
        h1 { "toolmark feed" }
        p {
            (shown::things(run.issues.len() as u64, "issue")) " in "
            (shown::things(run.sessions, "session"))
        }
        (table(&head, &rows, run.issues.len() - issues.len()))
    }
}

fn row(issue: &Issue) -> Markup {
    html! {
        tr {
            td { (issue.state.word()) }
            td { (issue.count) }
            td { (issue.sessions) }
            th scope="row" { (safe(&issue.title)) }
            td { @if let Some(last) = issue.last_seen { (last.strftime("%Y-%m-%d").to_string()) } }
            td {
                @if let Some(fix) = &issue.fix {
                    (fix.file.unwrap_or("set-up")) ": " code { (safe(&fix.text)) }
                }
            }
        }
    }
}
