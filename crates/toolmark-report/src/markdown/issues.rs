//! Issues in Markdown, for a weekly report: a table, then each issue with its example and fix.

use super::graded::{MAX_BYTES, code, words};
use crate::model::{FeedRun, Issue};
use crate::shown;
use crate::{ReportError, ReportOptions};
use std::fmt::Write as _;
use std::io::Write;

pub(super) fn write(
    run: &FeedRun,
    _: &ReportOptions,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let mut page = String::from("## toolmark feed\n\n");
    let issues = shown::things(run.issues.len() as u64, "issue");
    let _ = writeln!(page, "**{issues}** \u{b7} {}\n", shown::things(run.sessions, "session"));
    if !run.issues.is_empty() {
        page.push_str(
            "| issue | state | count | sessions | weeks | what |\n|---|---|---|---|---|---|\n",
        );
    }
    let mut left_out = 0;
    for issue in &run.issues {
        let Issue { id, state, count, sessions, .. } = issue;
        let (line, title) = (issue.sparkline(), words(&issue.title));
        let row = format!("| `{id}` | {state} | {count} | {sessions} | {line} | {title} |\n");
        if page.len() + row.len() > MAX_BYTES / 2 {
            left_out += 1;
        } else {
            page.push_str(&row);
        }
    }
    for issue in run.issues.iter().filter(|issue| issue.state.is_open()) {
        let text = details(issue);
        if page.len() + text.len() > MAX_BYTES {
            left_out += 1;
        } else {
            page.push_str(&text);
        }
    }
    if left_out > 0 {
        let _ = writeln!(
            page,
            "\n_{} left out: this page would be too large._",
            shown::things(left_out, "entry")
        );
    }
    for note in &run.notes {
        let _ = writeln!(page, "\n_{}_", words(note));
    }
    out.write_all(page.as_bytes())?;
    Ok(())
}

fn details(issue: &Issue) -> String {
    let mut text = format!("\n### {}\n\n`{}`", words(&issue.title), issue.id);
    let _ = write!(text, " \u{b7} {} \u{b7} {}", issue.category, issue.subtype);
    if let Some(rate) = issue.recovery.and_then(|recovery| recovery.rate) {
        let _ = write!(text, " \u{b7} {:.0} % recovered", rate * 100.0);
    }
    text.push_str("\n\n");
    if let Some(one) = &issue.representative {
        let _ = writeln!(text, "- call: {}", code(&one.call));
        let _ = writeln!(text, "- said: {}", code(&one.said));
        if let Some(followed) = &one.followed {
            let _ = writeln!(text, "- then: {}", code(followed));
        }
        let _ = writeln!(text, "- at: {}", code(&format!("{}:{}", one.place.file, one.place.line)));
    }
    if let Some(fix) = &issue.fix {
        let _ =
            writeln!(text, "- fix in {}: {}", fix.file.unwrap_or("the set-up"), code(&fix.text));
    }
    text
}
