//! Issues on a page: a row each, which opens to its example, its weeks and its fix.

use super::{Section, notes, safe};
use crate::model::{FeedRun, Issue};
use crate::shown;
use maud::{Markup, html};

/// So many issues are on the page.
const MOST: usize = 1000;

pub(super) fn section(run: &FeedRun) -> Section {
    let issues = shown::things(run.issues.len() as u64, "issue");
    let sessions = shown::things(run.sessions, "session");
    Section {
        title: "toolmark feed".to_owned(),
        header: html! {
            header {
                h1 { "toolmark feed" }
                p { (issues.to_string()) " in " (sessions.to_string()) }
            }
        },
        has_script: false,
        content: html! {
            (notes(&run.notes))
            @for issue in run.issues.iter().take(MOST) { (one(issue)) }
            @if run.issues.len() > MOST {
                p { (shown::things((run.issues.len() - MOST) as u64, "more issue").to_string()) }
            }
        },
    }
}

fn one(issue: &Issue) -> Markup {
    html! {
        details id=(issue.id.to_string()) {
            summary {
                span { (issue.state.word()) " " }
                strong { (issue.count) "\u{d7} " (safe(&issue.title)) }
                " " (weeks(issue))
            }
            p {
                code { (issue.id.to_string()) } " \u{b7} " (issue.category.word()) " \u{b7} " (issue.subtype)
                " \u{b7} " (shown::things(issue.sessions, "session").to_string())
                @if let (Some(first), Some(last)) = (issue.first_seen, issue.last_seen) {
                    " \u{b7} " (first.strftime("%Y-%m-%d").to_string()) " to " (last.strftime("%Y-%m-%d").to_string())
                }
                @if let Some(rate) = issue.recovery.and_then(|recovery| recovery.rate) {
                    " \u{b7} " (format!("{:.0} % recovered", rate * 100.0))
                }
            }
            @if let Some(example) = &issue.representative {
                dl {
                    dt { "call" } dd { code { (safe(&example.call)) } }
                    dt { "said" } dd { code { (safe(&example.said)) } }
                    @if let Some(followed) = &example.followed {
                        dt { "then" } dd { code { (safe(followed)) } }
                    }
                    dt { "at" } dd { (safe(&example.place.file)) ":" (example.place.line) }
                }
            }
            @if let Some(fix) = &issue.fix {
                p { "Fix in " (fix.file.unwrap_or("the set-up")) ": " code { (safe(&fix.text)) } }
            }
            @for note in &issue.notes { p { (safe(note)) } }
        }
    }
}

/// The weeks as a small plot.
fn weeks(issue: &Issue) -> Markup {
    const WEEKS: usize = 26;
    let weeks = &issue.weeks[issue.weeks.len().saturating_sub(WEEKS)..];
    let most = weeks.iter().map(|week| week.count).max().unwrap_or(1).max(1);
    html! {
        @if weeks.len() > 1 {
            svg width=(weeks.len() * 5) height="14" role="img" aria-label="occurrences per week" {
                @for (at, week) in weeks.iter().enumerate() {
                    @let height = (week.count * 14).div_ceil(most);
                    rect x=(at * 5) y=(14 - height) width="4" height=(height) {
                        title { (week.week) ": " (week.count) }
                    }
                }
            }
        }
    }
}
