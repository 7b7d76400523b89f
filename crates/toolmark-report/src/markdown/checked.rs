//! Markdown for the summary of a CI job: the scorecard, the gates, and collapsible findings. Text
//! from a trace is never interpreted as markup.

use super::graded::{MAX_BYTES, code, emblem, words};
use crate::checked::{Alike, alike, gates, judged, kinds, overview, worst};
use crate::model::CheckRun;
use crate::shown;
use crate::terminal::text::cut;
use crate::{ReportError, ReportOptions};
use std::fmt::Write as _;
use std::io::{self, Write};
use toolmark_check::ToolCard;
use toolmark_outcome::{Axis, Severity};

/// Maximum number of rows for tools.
const TOOLS: usize = 200;
/// Maximum number of findings per rule that are printed in full.
const OF_A_RULE: usize = 20;
/// Maximum width of a text, in columns.
const WORDS: usize = 2000;
/// Maximum number of evidence items per finding.
const EVIDENCE: usize = 10;

pub(super) fn write(
    run: &CheckRun,
    options: &ReportOptions,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let mut page = String::new();
    head(&mut page, run, options)?;
    scorecard(&mut page, run);
    groups(&mut page, run);
    gate_table(&mut page, run);
    kind_table(&mut page, run);
    judge(&mut page, run);
    let mut left_out = 0;
    let mut findings = run.new_findings()?.peekable();
    while let Some(alike) = alike(&mut findings, OF_A_RULE)? {
        let text = details(&alike);
        if page.len() + text.len() <= MAX_BYTES {
            page.push_str(&text);
        } else {
            left_out += alike.count as u64;
        }
    }
    if left_out > 0 {
        let more = shown::things(left_out, "finding");
        let _ = writeln!(page, "_{more} left out: this page would be too large._");
    }
    while page.ends_with("\n\n") {
        page.pop();
    }
    out.write_all(page.as_bytes())?;
    Ok(())
}

fn head(page: &mut String, run: &CheckRun, options: &ReportOptions) -> io::Result<()> {
    let _ = writeln!(page, "## {} toolmark check\n", emblem(run.verdict()));
    let card = &run.checked.scorecard;
    let counts = Severity::ALL.iter().rev().map(|severity| (*severity, run.count(*severity)));
    let counts = counts.filter(|(_, n)| *n > 0).map(|(severity, n)| format!("{n} {severity}"));
    let counts: Vec<String> = counts.collect();
    let found = if counts.is_empty() { "no findings".to_owned() } else { counts.join(", ") };
    let mut totals = vec![
        format!("**{found}**"),
        shown::things(card.sessions, "session").into(),
        shown::things(card.total().calls, "call").into(),
    ];
    if let Some(changes) = &run.changes {
        let (new, known, gone) = (changes.new, changes.known, changes.gone);
        totals.push(format!("{new} new, {known} known, {gone} gone since the baseline"));
    }
    totals.extend(options.elapsed.map(shown::seconds).map(String::from));
    totals.extend(
        options.generated_at.map(|time| format!("toolmark {}, {time}", env!("CARGO_PKG_VERSION"))),
    );
    let _ = writeln!(page, "{}\n", totals.join(" \u{b7} "));
    let overview = overview::of(run);
    let _ = writeln!(page, "{}", words(&cut(&overview::headline(run), WORDS)));
    if let Some(costs) = overview::costs(&overview.total) {
        let _ = writeln!(page, "\n{costs}");
    }
    page.push('\n');
    for finding in worst(run)? {
        let message = words(&cut(&finding.message, WORDS));
        let place = code(&shown::in_trace(&finding.place));
        let _ = writeln!(page, "- {} **{}** {message} at {place}", finding.severity, finding.code);
    }
    page.push('\n');
    for note in &run.notes {
        let _ = writeln!(page, "- note: {}", words(note));
    }
    if !run.notes.is_empty() {
        page.push('\n');
    }
    Ok(())
}

fn scorecard(page: &mut String, run: &CheckRun) {
    let tools = run.checked.scorecard.by_use();
    if tools.is_empty() {
        return;
    }
    page.push_str("| tool | calls |");
    Axis::ALL.iter().for_each(|axis| page.push_str(&format!(" {axis} |")));
    page.push_str("\n|---|---:|---|---|---|---|\n");
    let mut row = |name: &str, card: &ToolCard| {
        let _ = write!(page, "| {name} | {} |", card.calls);
        for axis in Axis::ALL {
            let _ = write!(page, " {} |", gates::cell(card.axis(*axis)));
        }
        page.push('\n');
    };
    for (name, card) in tools.iter().take(TOOLS) {
        row(&words(&cut(name, WORDS)), card);
    }
    let total = run.checked.scorecard.total();
    row("**all tools**", &total);
    page.push('\n');
    let _ = writeln!(page, "_{}_\n", gates::LEGEND);
    if let Some(words) = gates::destructive(&total) {
        let _ = writeln!(page, "{words}\n");
    }
    if tools.len() > TOOLS {
        let more = shown::things((tools.len() - TOOLS) as u64, "more tool");
        let _ = writeln!(page, "_{more}: this table would be too large._\n");
    }
}

/// Writes the groups of sessions.
fn groups(page: &mut String, run: &CheckRun) {
    let overview = overview::of(run);
    let mut parts = overview::parts(&overview).peekable();
    if parts.peek().is_none() {
        return;
    }
    page.push_str("| | | sessions | affected | calls | faults | per 100 calls |\n");
    page.push_str("|---|---|---:|---:|---:|---:|---:|\n");
    for (word, groups) in parts {
        for group in groups.iter().take(TOOLS) {
            let (name, rate) = (overview::name(group), overview::rate(group.per_100_calls()));
            let (sessions, affected, faults) = (group.sessions, group.affected, group.faults);
            let (name, calls) = (words(&cut(&name, WORDS)), group.calls.calls);
            let _ = writeln!(
                page,
                "| {word} | {name} | {sessions} | {affected} | {calls} | {faults} | {rate} |"
            );
        }
    }
    page.push('\n');
}

fn gate_table(page: &mut String, run: &CheckRun) {
    if run.gates.is_empty() {
        return;
    }
    page.push_str("| | gate | value | |\n|---|---|---|---|\n");
    for row in &run.gates {
        let _ = writeln!(
            page,
            "| {} | {} {} {} | {} | {} |",
            emblem(row.verdict),
            words(&row.subject()),
            words(row.op),
            row.threshold,
            gates::value(row),
            words(&gates::besides(row).unwrap_or_default()),
        );
    }
    page.push('\n');
}

/// Writes the changes of each kind of findings since the previous run.
fn kind_table(page: &mut String, run: &CheckRun) {
    let changed: Vec<_> = run.changes.iter().flat_map(kinds::changed).collect();
    if changed.is_empty() {
        return;
    }
    page.push_str("| | kind | findings |\n|---|---|---|\n");
    for kind in changed.iter().take(kinds::MAX_ROWS) {
        let (subject, rates) = (words(&kinds::subject(kind)), kinds::rates(kind));
        let _ = writeln!(page, "| {} | {subject} | {rates} |", kind.trend.word());
    }
    let _ = writeln!(page, "\n_{}_\n", kinds::LEGEND);
}

/// Writes the answers of a judge about uncertain calls.
fn judge(page: &mut String, run: &CheckRun) {
    let Some(all) = &run.checked.judged else { return };
    page.push_str("| Judge | in doubt | agrees | disagrees | alone | unknown |\n");
    page.push_str("|---|---:|---:|---:|---:|---:|\n");
    for count in judged::counts(all) {
        let judged::AgreementCount { rubric, of, agrees, disagrees, alone, unknown } = count;
        let _ =
            writeln!(page, "| {rubric} | {of} | {agrees} | {disagrees} | {alone} | {unknown} |");
    }
    page.push('\n');
    let news: Vec<_> = judged::news(all).collect();
    if news.is_empty() {
        return;
    }
    let count = news.len();
    let _ =
        writeln!(page, "<details><summary>where the judge says more \u{d7} {count}</summary>\n");
    for one in news.iter().take(OF_A_RULE) {
        let place = code(&shown::in_trace(&one.place));
        let tool = words(&cut(&one.tool, WORDS));
        let _ = writeln!(page, "- {} {tool} at {place}: {}", one.rubric, judged::both(one));
        let _ = writeln!(page, "  - {}", words(&cut(&judged::why(one), WORDS)));
        let _ = writeln!(page, "  - judge: {}", words(&cut(&one.reason, WORDS)));
        for piece in one.evidence.iter().take(EVIDENCE) {
            let _ = writeln!(page, "  - {}", words(&cut(&piece.summary(), WORDS)));
        }
    }
    if count > OF_A_RULE {
        let _ = writeln!(page, "- and {} more", count - OF_A_RULE);
    }
    page.push_str("\n</details>\n\n");
}

/// Formats the findings of one rule.
fn details(alike: &Alike<'_>) -> String {
    let mut text = String::new();
    let Alike { severity, code: rule, name, count, examples, .. } = alike;
    let _ = writeln!(
        text,
        "<details><summary>{} <b>{} {}</b> \u{d7} {}</summary>\n",
        severity,
        rule,
        words(name),
        count
    );
    for finding in examples {
        let place = code(&shown::in_trace(&finding.place));
        let _ = writeln!(text, "- {} at {place}", words(&cut(&finding.message, WORDS)));
        for piece in finding.evidence.iter().take(EVIDENCE) {
            let at = piece.location().map(|place| format!("line {}: ", place.line));
            let shown = words(&cut(&piece.summary(), WORDS));
            let _ = writeln!(text, "  - {}{shown}", at.unwrap_or_default());
        }
        if let Some(objection) = judged::objection(finding) {
            let _ = writeln!(text, "  - {}", words(&cut(&objection, WORDS)));
        }
        let _ = writeln!(text, "  - to do: {}", words(&cut(&finding.remedy, WORDS)));
    }
    if *count > OF_A_RULE {
        let _ = writeln!(text, "- and {} more", count - OF_A_RULE);
    }
    text.push_str("\n</details>\n\n");
    text
}

#[cfg(test)]
mod tests {
    use crate::checked::tests::report;

    #[test]
    fn the_whole() {
        let text = report("markdown");
        for payload in ["<script", "@octocat", "](", "`"] {
            assert!(!text.contains(payload), "{payload} is still there:\n{text}");
        }
        insta::assert_snapshot!(text);
    }
}
