//! A comparison: both runs side by side, what got worse on top.

use super::{Section, badge, notes, safe};
use crate::Options;
use crate::compared::{self, ARROW, signed};
use crate::model::FindingRef;
use crate::shown;
use maud::{Markup, html};
use toolmark_compare::{
    CaseChange, CaseRef, CaseSide, Change, CheckedChange, Comparison, GradedChange, Group,
};
use toolmark_outcome::{Printable, Verdict};

/// So many rows of one table are shown.
const MOST_ROWS: usize = 2000;

pub(super) fn section(comparison: &Comparison, options: &Options) -> Section {
    let title = format!("{} {ARROW} {}", safe(&comparison.before), safe(&comparison.after));
    Section {
        header: header(comparison, &title, options),
        title: format!("{title} · toolmark"),
        has_script: false,
        content: html! {
            (notes(&comparison.notes))
            @if let Some(graded) = &comparison.graded { (cases(graded, comparison)) }
            @if let Some(checked) = &comparison.checked { (findings(checked, comparison)) }
        },
    }
}

fn header(comparison: &Comparison, title: &str, options: &Options) -> Markup {
    let verdict = comparison.verdict();
    let tile = |n: u64, word: &str, class: &str| {
        html! {
            div class={ "tile " (if n > 0 { class } else { "none" }) } {
                b { (n) } span { (word) }
            }
        }
    };
    html! {
        header class=(verdict.word()) {
            div class="title" {
                h1 { (title) }
                @if !comparison.gates.is_empty() {
                    span class={ "verdict " (verdict.word()) } {
                        (shown::sign(verdict)) " " (verdict.word())
                    }
                }
            }
            p class="about" {
                "toolmark compare"
                @if let Some(time) = options.generated_at { " · " (time.to_string()) }
            }
            @for gate in &comparison.gates {
                p class="about" {
                    (badge(gate.verdict)) " " (gate.fail_on.option()) ": " (safe(&gate.reason))
                }
            }
            div class="tiles" {
                @if let Some(graded) = &comparison.graded {
                    (tile(graded.total.regressions, "regressions", "fail"))
                    (tile(graded.total.improvements, "improvements", "pass"))
                    (tile(graded.total.unknown, "unknown in one run", "unknown"))
                    @if let Some(score) = &graded.total.score {
                        div class="tile" {
                            b { (signed(score.difference)) }
                            span {
                                "mean score"
                                @if let Some(range) = score.interval {
                                    ", 95 % interval " (compared::interval(range))
                                }
                            }
                        }
                    }
                }
                @if let Some(checked) = &comparison.checked {
                    (tile(checked.new.len() as u64, "new findings", "fail"))
                    (tile(checked.gone.len() as u64, "gone findings", "pass"))
                }
            }
        }
    }
}

fn cases(graded: &GradedChange, comparison: &Comparison) -> Markup {
    let changed: Vec<&CaseChange> =
        [Change::Regression, Change::Unknown, Change::Improvement, Change::Same]
            .into_iter()
            .flat_map(|change| graded.changed(change))
            .collect();
    let same: Vec<&CaseChange> = graded.cases.iter().filter(|case| case.is_same()).collect();
    html! {
        (totals(&graded.total))
        (groups(graded))
        @if changed.is_empty() {
            p { "No case of both runs differs." }
        } @else {
            (pairs(&changed, comparison))
        }
        (only(&graded.only_before, &comparison.before))
        (only(&graded.only_after, &comparison.after))
        @if !same.is_empty() {
            details class="panel trials" {
                summary { "Unchanged " span class="dim" { (shown::things(same.len() as u64, "case")) } }
                (pairs(&same, comparison))
            }
        }
    }
}

/// Both runs side by side, a row per case.
fn pairs(cases: &[&CaseChange], comparison: &Comparison) -> Markup {
    html! {
        div class="panel scroll" {
            table class="sides" {
                thead { tr {
                    th scope="col" { "case" }
                    th scope="col" { (safe(&comparison.before)) }
                    th scope="col" { (safe(&comparison.after)) }
                    th scope="col" class="num" { "difference" }
                } }
                tbody {
                    @for case in cases.iter().take(MOST_ROWS) {
                        tr class=(case.change.word()) {
                            th scope="row" { (safe(&case.label())) }
                            td { (side(&case.before)) }
                            td { (side(&case.after)) }
                            td class="num" {
                                @match case.difference {
                                    Some(difference) => (signed(difference)),
                                    None => span class="dim" { "–" },
                                }
                            }
                        }
                    }
                }
            }
        }
        @if cases.len() > MOST_ROWS {
            p class="more dim" { "… " (cases.len() - MOST_ROWS) " more; --format json has all" }
        }
    }
}

fn side(side: &CaseSide) -> Markup {
    html! {
        (badge(side.verdict))
        @if let Some(score) = side.score { " " (shown::score(score)) }
        @if side.trials > 1 {
            " " span class="dim" { (side.passed) " of " (side.trials) " trials" }
        }
        @if side.verdict != Verdict::Pass && !side.reason.is_empty() {
            div class="dim" { (safe(&side.reason)) }
        }
    }
}

fn totals(total: &Group) -> Markup {
    html! {
        div class="panel scroll" {
            table {
                thead { tr {
                    th scope="col" { (shown::things(total.cases, "case")) " in both" }
                    th scope="col" class="num" { "before" } th scope="col" class="num" { "after" }
                    th scope="col" { "difference" }
                } }
                tbody {
                    tr {
                        th scope="row" { "passed" }
                        td class="num" { (total.passed_before) } td class="num" { (total.passed_after) }
                        td { (compared::mcnemar_line(total).unwrap_or_default()) }
                    }
                    @if let Some(score) = &total.score {
                        tr {
                            th scope="row" { "score" }
                            td class="num" { (shown::score(score.before)) }
                            td class="num" { (shown::score(score.after)) }
                            td { (signed(score.difference)) @if let Some(range) = score.interval {
                                ", 95 % interval " (compared::interval(range))
                            } @else { ", too few cases for an interval" } }
                        }
                    }
                    @for row in compared::measures(&total.measures) {
                        tr {
                            th scope="row" { (row.name) }
                            td class="num" { (row.before) } td class="num" { (row.after) }
                            td { (row.difference) @if row.of != total.cases {
                                ", recorded in " (row.of) " of " (shown::things(total.cases, "case"))
                            } }
                        }
                    }
                }
            }
        }
    }
}

fn groups(graded: &GradedChange) -> Markup {
    if graded.groups.is_empty() {
        return Markup::default();
    }
    html! {
        div class="panel scroll" {
            table {
                thead { tr {
                    th scope="col" { (graded.by.word()) }
                    @for word in ["cases", "passed", "score", "difference", "95 % interval", "p", "only before", "only after"] {
                        th scope="col" class="num" { (word) }
                    }
                } }
                tbody {
                    @for group in graded.groups.iter().take(MOST_ROWS) {
                        tr {
                            th scope="row" { (group.name.as_deref().map_or("–".to_owned(), safe)) }
                            td class="num" { (group.cases) }
                            td class="num" { (group.passed_before) " " (ARROW) " " (group.passed_after) }
                            @if let Some(score) = &group.score {
                                td class="num" {
                                    (shown::score(score.before)) " " (ARROW) " " (shown::score(score.after))
                                }
                                td class="num" { (signed(score.difference)) }
                                td class="num" { (score.interval.map(compared::interval).unwrap_or_default()) }
                            } @else { td class="num" { "–" } td {} td {} }
                            td class="num" {
                                (group.mcnemar.map(|test| compared::probability(test.p)).unwrap_or_default())
                            }
                            td class="num" { (group.only_before) } td class="num" { (group.only_after) }
                        }
                    }
                }
            }
        }
    }
}

fn only(cases: &[CaseRef], name: &Printable) -> Markup {
    html! {
        @if !cases.is_empty() {
            details class="panel trials" open {
                summary {
                    "Only in " (safe(name)) " "
                    span class="dim" { (shown::things(cases.len() as u64, "case")) }
                }
                ul class="findings" {
                    @for case in cases.iter().take(MOST_ROWS) {
                        li class="item" {
                            (badge(case.verdict)) " " (safe(&case.label()))
                            @if let Some(score) = case.score { " " span class="dim" { (shown::score(score)) } }
                        }
                    }
                }
                @if cases.len() > MOST_ROWS { p class="more dim" { "… " (cases.len() - MOST_ROWS) " more" } }
            }
        }
    }
}

/// New and gone findings side by side.
fn findings(checked: &CheckedChange, comparison: &Comparison) -> Markup {
    html! {
        div class="plots" {
            (finding_list("New", &checked.new))
            (finding_list("Gone", &checked.gone))
        }
        @if !checked.kinds.is_empty() {
            div class="panel scroll" {
                table {
                    thead { tr {
                        th scope="col" { "kind" } th scope="col" { "trend" }
                        th scope="col" class="num" { "before" } th scope="col" class="num" { "after" }
                        th scope="col" class="num" { "p" }
                    } }
                    tbody {
                        @for kind in checked.kinds.iter().take(MOST_ROWS) {
                            tr {
                                th scope="row" {
                                    (safe(&kind.code)) " " (safe(&kind.tool))
                                    @if let Some(bucket) = &kind.bucket { "." (safe(bucket)) }
                                }
                                td { (kind.trend.word()) }
                                td class="num" { (kind.before.found) " of " (kind.before.of) }
                                td class="num" { (kind.now.found) " of " (kind.now.of) }
                                td class="num" { (kind.p.map(compared::probability).unwrap_or_default()) }
                            }
                        }
                    }
                }
            }
        }
        div class="panel scroll" {
            table {
                thead { tr {
                    th scope="col" { "all sessions" }
                    th scope="col" class="num" { "before" } th scope="col" class="num" { "after" }
                    th scope="col" class="num" { "difference" }
                } }
                tbody {
                    @for (name, change) in [("faults", checked.faults), ("faults per 100 calls", checked.per_100_calls)] {
                        @if let Some(change) = change {
                            tr {
                                th scope="row" { (name) }
                                td class="num" { (shown::score(change.before)) }
                                td class="num" { (shown::score(change.after)) }
                                td class="num" { (signed(change.difference)) }
                            }
                        }
                    }
                    @for row in compared::measures(&checked.measures) {
                        tr {
                            th scope="row" { (row.name) }
                            td class="num" { (row.before) } td class="num" { (row.after) }
                            td class="num" { (row.difference) }
                        }
                    }
                    @for gate in checked.changed_gates() {
                        tr {
                            th scope="row" {
                                "gate " (safe(&gate.gate))
                                @for part in [&gate.tool, &gate.bucket].into_iter().flatten() { " " (safe(part)) }
                            }
                            @for verdict in [gate.before, gate.after] {
                                td class="num" { (verdict.map_or("missing", Verdict::word)) }
                            }
                            td {}
                        }
                    }
                }
            }
        }
        @for (sessions, name) in [(&checked.only_before, &comparison.before), (&checked.only_after, &comparison.after)] {
            @if let Some(sessions) = sessions.as_ref().filter(|sessions| !sessions.is_empty()) {
                details class="panel trials" {
                    summary {
                        "Only in " (safe(name)) " "
                        span class="dim" { (shown::things(sessions.len() as u64, "session")) }
                    }
                    ul class="findings" {
                        @for session in sessions.iter().take(MOST_ROWS) {
                            li class="item" { code { (safe(session.id.as_ref().unwrap_or(&session.file))) } }
                        }
                    }
                }
            }
        }
    }
}

fn finding_list(title: &str, findings: &[FindingRef]) -> Markup {
    html! {
        div class="panel" {
            ul class="findings" aria-label=(title) {
                li class="item" { b { (title) } " " span class="dim" { (findings.len()) } }
                @for finding in findings.iter().take(MOST_ROWS) {
                    li class="item" {
                        b { (safe(&finding.code)) } " " (finding.severity.word()) " " code { (safe(&finding.tool)) }
                        div { (safe(&finding.message)) }
                        @if let Some(place) = compared::place(finding) { div class="dim" { code { (safe(&place)) } } }
                    }
                }
            }
            @if findings.len() > MOST_ROWS { p class="more dim" { "… " (findings.len() - MOST_ROWS) " more" } }
        }
    }
}
