//! What was checked: the scorecard as a matrix, the gates, and every finding with
//! what proves it.

use super::{Section, badge, notes, safe};
use crate::Options;
use crate::checked::{gates, judged, kinds};
use crate::model::{CheckRun, Evidence, Finding, Refined};
use crate::shown;
use maud::{Markup, html};
use toolmark_check::{Tally, ToolCard};
use toolmark_outcome::{Axis, Severity, Verdict};

/// So many findings of a rule are on the page.
const OF_A_RULE: usize = 500;
/// So many tools have a row of their own.
const TOOLS: usize = 500;

pub(super) fn section(run: &CheckRun, options: &Options) -> Section {
    let findings: Vec<&Finding> = run.new_findings().collect();
    Section {
        title: format!("{} toolmark check", shown::sign(run.verdict())),
        header: header(run, options),
        content: html! {
            (notes(&run.notes))
            (matrix(run))
            (gate_table(run))
            (kind_table(run))
            (judge(run))
            @for alike in findings.chunk_by(|a, b| (a.code, a.severity) == (b.code, b.severity)) {
                (rule(alike))
            }
        },
    }
}

fn header(run: &CheckRun, options: &Options) -> Markup {
    let verdict = run.verdict();
    let card = &run.checked.scorecard;
    let tile = |n: u64, word: &str, class: &str| {
        html! {
            div class={ "tile " (if n > 0 { class } else { "none" }) } { b { (n) } span { (word) } }
        }
    };
    html! {
        header class=(verdict.word()) {
            div class="title" {
                h1 { "toolmark check" }
                span class={ "verdict " (verdict.word()) } {
                    (shown::sign(verdict)) " " (verdict.word())
                }
            }
            p class="about" {
                (shown::things(card.sessions, "session"))
                @if card.sub_agents > 0 { ", " (shown::things(card.sub_agents, "sub-agent")) }
                " · " (shown::things(card.total().calls, "call"))
                " · " (shown::things(run.files, "file"))
                @if let Some(elapsed) = options.elapsed { " · " (shown::seconds(elapsed)) }
                " · toolmark " (env!("CARGO_PKG_VERSION"))
                @if let Some(time) = options.generated_at { " · " (time.to_string()) }
            }
            div class="tiles" {
                (tile(run.count(Severity::Error) as u64, "errors", "fail"))
                (tile(run.count(Severity::Warning) as u64, "warnings", "unknown"))
                (tile(run.count(Severity::Info) as u64, "infos", ""))
                @if let Some(changes) = &run.changes {
                    (tile(changes.known, "known", ""))
                    (tile(changes.gone, "gone", "pass"))
                }
            }
        }
    }
}

fn matrix(run: &CheckRun) -> Markup {
    let tools = run.checked.scorecard.by_use();
    if tools.is_empty() {
        return html! { p { "There is nothing to report." } };
    }
    let row = |name: &str, card: &ToolCard| {
        html! {
            tr {
                th scope="row" class="case-name" title=(safe(name)) { (safe(name)) }
                td class="num" { (card.calls) }
                @for axis in Axis::ALL { (cell(card.axis(*axis))) }
            }
        }
    };
    html! {
        section class="panel matrix" aria-label="Scorecard" {
            div class="scroll" {
                table class="flat" {
                    thead { tr {
                        th scope="col" class="case-name" { "tool" }
                        th scope="col" { "calls" }
                        @for axis in Axis::ALL { th scope="col" { span { (axis.word()) } } }
                    } }
                    tbody {
                        @for (name, card) in tools.iter().take(TOOLS) { (row(name, card)) }
                        (row("all tools", &run.checked.scorecard.total()))
                    }
                }
            }
            p class="dim" {
                (gates::LEGEND) "."
                @if let Some(words) = gates::destructive(&run.checked.scorecard.total()) { " " (words) "." }
                @if tools.len() > TOOLS { " " (tools.len() - TOOLS) " more tools." }
            }
        }
    }
}

/// A cell in the colour of its rate.
fn cell(tally: Tally) -> Markup {
    let class = match tally.rate() {
        None => "dim",
        Some(rate) if rate >= 1.0 => "verdict pass",
        Some(rate) if rate >= 0.9 => "verdict unknown",
        Some(_) => "verdict fail",
    };
    let rate = tally.rate().map_or("–".into(), gates::percent);
    html! {
        td class="num" title=(gates::cell(tally)) {
            span class=(class) { (rate) }
            @if let Some((low, high)) = tally.interval() {
                span class="dim" {
                    " " (gates::percent(low)) "–" (gates::percent(high)) " of " (tally.of)
                }
            }
        }
    }
}

/// What became of each kind of findings since the run before.
fn kind_table(run: &CheckRun) -> Markup {
    let changed: Vec<_> = run.changes.iter().flat_map(kinds::changed).collect();
    html! {
        @if !changed.is_empty() {
            section class="panel" aria-label="Changes" {
                div class="scroll" {
                    table {
                        thead { tr {
                            th scope="col" { "" } th scope="col" { "kind" }
                            th scope="col" { "findings" }
                        } }
                        tbody {
                            @for kind in &changed {
                                tr {
                                    td { (kind.trend.word()) }
                                    td { code { (safe(&kinds::subject(kind))) } }
                                    td { (safe(&kinds::rates(kind))) }
                                }
                            }
                        }
                    }
                }
                p class="dim" { (kinds::LEGEND) "." }
            }
        }
    }
}

fn gate_table(run: &CheckRun) -> Markup {
    html! {
        @if !run.gates.is_empty() {
            section class="panel" aria-label="Gates" {
                div class="scroll" {
                    table {
                        thead { tr {
                            th scope="col" { "" } th scope="col" { "gate" }
                            th scope="col" { "value" } th scope="col" { "" }
                        } }
                        tbody {
                            @for row in &run.gates {
                                tr {
                                    td { (badge(row.verdict)) }
                                    td { code { (safe(&row.subject())) } " " (row.op) " " (row.threshold) }
                                    td { (gates::value(row)) }
                                    td class="dim" { (safe(&gates::besides(row).unwrap_or_default())) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What a judge says where the rules are not sure.
fn judge(run: &CheckRun) -> Markup {
    let Some(all) = &run.checked.judged else { return Markup::default() };
    let news: Vec<&Refined> = judged::news(all).collect();
    html! {
        section class="panel" aria-label="Judge" {
            div class="scroll" {
                table {
                    thead { tr {
                        th scope="col" { "Judge" } th scope="col" { "in doubt" }
                        th scope="col" { "agrees" } th scope="col" { "disagrees" }
                        th scope="col" { "alone" } th scope="col" { "unknown" }
                    } }
                    tbody {
                        @for count in judged::counts(all) {
                            tr {
                                th scope="row" { (count.rubric) }
                                @for n in [count.of, count.agrees, count.disagrees, count.alone, count.unknown] {
                                    td class="num" { (n) }
                                }
                            }
                        }
                    }
                }
            }
            @if all.is_empty() { p class="dim" { "Nothing is in doubt." } }
            @if !news.is_empty() {
                details {
                    summary { "Where the judge says more × " (news.len()) }
                    div class="scroll" {
                        table { tbody {
                            @for one in news.iter().take(OF_A_RULE) { (answer(one)) }
                        } }
                    }
                    @if news.len() > OF_A_RULE {
                        p class="dim" { "and " (news.len() - OF_A_RULE) " more" }
                    }
                }
            }
        }
    }
}

fn answer(one: &Refined) -> Markup {
    html! {
        tr {
            td {
                b { (one.rubric) " " (safe(&one.tool)) ": " (judged::both(one)) }
                div class="dim" { code { (safe(&shown::in_trace(&one.place))) } }
                div { (safe(&judged::why(one))) }
                div { "judge: " (safe(&one.reason)) }
                ul { @for piece in &one.evidence { (proof(piece)) } }
            }
        }
    }
}

/// The findings of one rule.
fn rule(alike: &[&Finding]) -> Markup {
    let Some(first) = alike.first() else { return Markup::default() };
    let class = match first.severity {
        Severity::Error => Verdict::Fail.word(),
        Severity::Warning => "unknown",
        Severity::Info => Verdict::Pass.word(),
    };
    html! {
        details class={ "panel case " (class) } open[first.severity == Severity::Error] {
            summary {
                span class={ "verdict " (class) } { (first.severity.word()) }
                b { (first.code) " " (first.name) }
                span class="dim" {
                    (first.axis.word()) " × " (alike.len())
                    ", " (first.confidence.word()) " confidence"
                }
            }
            div class="scroll" {
                table {
                    tbody {
                        @for finding in alike.iter().take(OF_A_RULE) { (found(finding)) }
                    }
                }
            }
            @if alike.len() > OF_A_RULE {
                p class="dim" { "and " (alike.len() - OF_A_RULE) " more" }
            }
        }
    }
}

fn found(finding: &Finding) -> Markup {
    html! {
        tr {
            td {
                b { (safe(&finding.message)) }
                div class="dim" { code { (safe(&shown::in_trace(&finding.place))) } }
                ul {
                    @for piece in &finding.evidence { (proof(piece)) }
                }
                @if let Some(words) = judged::objection(finding) { div { (safe(&words)) } }
                div { "→ " (safe(&finding.remedy)) }
            }
        }
    }
}

fn proof(piece: &Evidence) -> Markup {
    html! {
        li {
            @if let Some(place) = piece.location() {
                span class="dim" { "line " (place.line) " " }
            }
            (piece.role.word()) ": " code { (safe(&piece.summary())) }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::checked::tests::report;

    #[test]
    fn nothing_hostile_is_obeyed_and_nothing_is_fetched() {
        let text = report("html");
        assert!(text.contains("Content-Security-Policy"));
        let body = text.split("</style>").nth(1).unwrap();
        for payload in ["<script", "src=", "href=", "https://e.vil\""] {
            assert!(!body.contains(payload), "{payload}");
        }
        assert!(body.contains("&lt;script&gt;"), "{body}");
        insta::assert_snapshot!(body.replace("><", ">\n<"));
    }
}
