//! The HTML page of a check: every finding with its evidence, the sessions, their counts, the
//! scorecard, and the gates.

use super::sessions::{self, HtmlSessions};
use super::{HtmlSection, safe, table, verdict};
use crate::ReportOptions;
use crate::checked::{alike, gates, judged, kinds, overview};
use crate::model::{
    CheckRun, DestructiveCall, PrintableEvidence, PrintableFinding, PrintableGroup, Refined,
};
use crate::shown;
use crate::terminal::text::cut;
use maud::{Markup, html};
use serde_json::{Value, json};
use std::io;
use toolmark_check::ToolCard;
use toolmark_outcome::{Severity, printable};

/// Maximum number of findings per rule: more would make the page too large to open.
const OF_A_RULE: usize = 100;
/// Maximum number of evidence items per finding.
const MAX_EVIDENCE: usize = 4;
/// Maximum length of a text.
const MAX_WORDS: usize = 400;
/// Maximum number of destructive calls, those that were not named first.
const MAX_DESTRUCTIVE: usize = 200;
/// Maximum number of rows for tools and for groups of an overview.
const MAX_ROWS: usize = 500;
/// Maximum number of findings in the table without a script.
const MAX_IN_TABLE: usize = 500;

pub(super) fn part(run: &CheckRun, options: &ReportOptions) -> io::Result<HtmlSection> {
    let sessions = HtmlSessions::new(run);
    Ok(HtmlSection {
        page: "check",
        title: format!("{} toolmark check", shown::sign(run.verdict())),
        data: vec![
            ("/api/v1/check", check(run, &sessions, options)?),
            ("/api/v1/sessions", sessions.rows(run)?),
        ],
        notes: run.notes.clone(),
        tables: tables(run)?,
    })
}

fn check(
    run: &CheckRun,
    sessions: &HtmlSessions<'_>,
    options: &ReportOptions,
) -> io::Result<Value> {
    let (mut rules, mut shown) = (Vec::new(), Vec::new());
    let mut findings = run.new_findings()?.peekable();
    while let Some(alike) = alike(&mut findings, OF_A_RULE)? {
        rules.push(json!({
            "code": alike.code,
            "name": alike.name,
            "severity": severity(alike.severity),
            "axis": alike.axis.word(),
            "count": alike.count,
            "shown": alike.examples.len(),
        }));
        shown.extend(alike.examples.iter().map(|finding| found(finding, sessions)));
    }
    let card = &run.checked.scorecard;
    let counts = overview::of(run);
    let mut groups = vec![group("all", "", &counts.total)];
    for (word, parts) in overview::parts(&counts) {
        groups.extend(parts.iter().take(MAX_ROWS).map(|g| group(word, &overview::name(g), g)));
    }
    let tools = card.by_use();
    let tool = |name: &str, card: &ToolCard| {
        json!({
            "tool": name,
            "calls": card.calls,
            "axes": sessions::axes(card),
            "destructive": gates::destructive(card),
        })
    };
    let mut destroyed: Vec<&DestructiveCall> = run.checked.destructive.iter().collect();
    destroyed.sort_by_key(|call| call.announced);
    let mut data = json!({
        "verdict": run.verdict().word(),
        "sessions": card.sessions,
        "sub_agents": card.sub_agents,
        "calls": card.total().calls,
        "files": run.files,
        "elapsed": options.elapsed.map(shown::seconds),
        "rates": overview::headline(run),
        "declared": run.checked.declared,
        "counts": {
            "error": run.count(Severity::Error),
            "warning": run.count(Severity::Warning),
            "note": run.count(Severity::Info),
            "known": run.changes.as_ref().map(|changes| changes.known),
            "gone": run.changes.as_ref().map(|changes| changes.gone),
        },
        "rules": rules,
        "findings": shown,
        "total": tool("all tools", &card.total()),
        "tools": tools.iter().take(MAX_ROWS).map(|(name, card)| tool(name, card)).collect::<Vec<_>>(),
        "legend": gates::LEGEND,
        "gates": run.gates.iter().map(|row| json!({
            "verdict": row.verdict.word(),
            "gate": format!("{} {} {}", &*row.subject(), row.op, row.threshold),
            "value": gates::value(row),
            "besides": gates::besides(row),
        })).collect::<Vec<_>>(),
        "changes": run.changes.iter().flat_map(kinds::changed).map(|kind| json!({
            "trend": kind.trend.word(),
            "kind": kinds::subject(kind),
            "rates": kinds::rates(kind),
        })).collect::<Vec<_>>(),
        "groups": groups,
        "destructive": {
            "total": destroyed.len(),
            "items": destroyed.iter().take(MAX_DESTRUCTIVE).map(|call| destructive(call)).collect::<Vec<_>>(),
        },
    });
    if let (Some(judged), Some(data)) = (&run.checked.judged, data.as_object_mut()) {
        data.insert("judge".to_owned(), judge(judged));
    }
    Ok(data)
}

/// Name of a severity on the page.
fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

fn found(finding: &PrintableFinding, sessions: &HtmlSessions<'_>) -> Value {
    let session = sessions.of(finding);
    json!({
        "code": finding.code,
        "title": finding.name,
        "severity": severity(finding.severity),
        "axis": finding.axis.word(),
        "confidence": finding.confidence.word(),
        "tool": finding.tool,
        "message": cut(&finding.message, MAX_WORDS),
        "fix": finding.remedy,
        "objection": judged::objection(finding),
        "session": session.map(sessions::id),
        "session_name": session.map(|at| sessions.name(at)),
        "place": finding.place,
        "show": sessions::show_command(finding),
        "evidence": proofs(&finding.evidence),
    })
}

fn proofs(evidence: &[PrintableEvidence]) -> Vec<Value> {
    evidence.iter().take(MAX_EVIDENCE).map(proof).collect()
}

fn proof(piece: &PrintableEvidence) -> Value {
    // The result of a call is more informative than its arguments, if only one fits.
    let words = match &piece.excerpt {
        Some(excerpt) => printable!("{}: {}", piece.text, excerpt),
        None => piece.summary(),
    };
    json!({
        "role": piece.role.word(),
        "call": piece.call.as_ref().map(|call| call.number()),
        "place": piece.location(),
        "excerpt": cut(&words, MAX_WORDS),
    })
}

fn group(by: &str, name: &str, group: &PrintableGroup) -> Value {
    json!({
        "by": by,
        "name": name,
        "sessions": group.sessions,
        "affected": group.affected,
        "calls": group.calls.calls,
        "faults": group.faults,
        "per_100_calls": group.per_100_calls(),
        "per_session": group.per_session(),
        "failed": printable!("{} ({})", group.failed.calls, overview::cost(group.failed)),
        "repeated": printable!("{} ({})", group.repeated.calls, overview::cost(group.repeated)),
    })
}

fn destructive(call: &DestructiveCall) -> Value {
    json!({
        "announced": call.announced.word(),
        "effect": call.effect,
        "place": call.call.place,
        "call": cut(&call.call.summary(), MAX_WORDS),
        "said": call.said.as_ref().map(|said| said.summary()),
    })
}

/// Answers of a judge about uncertain calls.
fn judge(all: &[Refined]) -> Value {
    let news: Vec<&Refined> = judged::news(all).collect();
    let counts = judged::counts(all);
    let items = news.iter().take(OF_A_RULE).map(|one| {
        json!({
            "title": printable!("{} {}: {}", one.rubric, one.tool, judged::both(one)),
            "place": one.place,
            "why": judged::why(one),
            "reason": one.reason,
            "evidence": proofs(&one.evidence),
        })
    });
    json!({
        "counts": counts.iter().map(|count| json!({
            "rubric": count.rubric,
            "of": count.of,
            "agrees": count.agrees,
            "disagrees": count.disagrees,
            "alone": count.alone,
            "unknown": count.unknown,
        })).collect::<Vec<_>>(),
        "total": news.len(),
        "items": items.collect::<Vec<_>>(),
    })
}

fn tables(run: &CheckRun) -> io::Result<Markup> {
    let card = &run.checked.scorecard;
    let found: usize = run.groups().iter().map(|group| group.count).sum();
    let shown = run.new_findings()?.take(MAX_IN_TABLE);
    let rows = shown.map(|finding| Ok(row(&*finding?))).collect::<io::Result<Vec<Markup>>>()?;
    let gates: Vec<Markup> = run
        .gates
        .iter()
        .map(|row| {
            html! {
                tr {
                    td { (verdict(row.verdict)) }
                    td { (safe(&row.subject())) " " (row.op) " " (row.threshold) }
                    td { (gates::value(row)) }
                    td { (safe(&gates::besides(row).unwrap_or_default())) }
                }
            }
        })
        .collect();
    Ok(html! {
        h1 { "toolmark check " (verdict(run.verdict())) }
        p {
            (shown::things(card.sessions, "session")) ", " (shown::things(card.total().calls, "call"))
            ", " (shown::things(run.files, "file")) "; "
            (safe(&overview::headline(run)))
        }
        @if !rows.is_empty() {
            (table(&["", "rule", "finding", "where"], &rows, found - rows.len()))
        }
        @if !gates.is_empty() { (table(&["", "gate", "value", ""], &gates, 0)) }
        @if found == 0 && card.total().calls == 0 { p { "There is nothing to report." } }
    })
}

fn row(finding: &PrintableFinding) -> Markup {
    html! {
        tr {
            td { (finding.severity.word()) }
            td { (finding.code) " " (finding.name) }
            th scope="row" { (safe(&cut(&finding.message, MAX_WORDS))) }
            td { code { (safe(&shown::in_trace(&finding.place))) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::checked::tests::report;
    use crate::testing::inlined;

    #[test]
    fn the_page_has_the_findings_and_what_proves_them() {
        let text = report("html");
        let data = inlined(&text);
        assert_eq!(data["page"], "check");
        insta::assert_json_snapshot!(data["data"]);
    }

    #[test]
    fn nothing_hostile_is_obeyed_and_nothing_is_fetched() {
        let text = report("html");
        assert!(text.contains("Content-Security-Policy"));
        let body = text.split("<main id=\"static\">").nth(1).unwrap();
        let (tables, data) = body.split_once("</main>").unwrap();
        for payload in ["<script", "src=", "href=", "https://e.vil\""] {
            assert!(!tables.contains(payload), "{payload}");
        }
        assert!(tables.contains("a\u{241b}[2J.rs"), "{tables}");
        assert!(data.contains("shop/\\u003cscript\\u003ealert(1)"), "the payload is nowhere");
    }
}
