//! What was checked: every finding with what proves it, the sessions, the counts of all of
//! them, the scorecard as a matrix, and the gates.

use super::sessions::{self, Sessions};
use super::{Section, badge, notes, safe};
use crate::Options;
use crate::checked::{examples, gates, judged, kinds, overview};
use crate::model::{CheckRun, Evidence, Finding, Group, Refined};
use crate::shown;
use crate::terminal::text::cut;
use maud::{Markup, html};
use toolmark_check::{Tally, ToolCard};
use toolmark_outcome::{Axis, Severity, Verdict, printable};

/// So many findings of a rule are on the page: the rest would make it too heavy to open.
const OF_A_RULE: usize = 100;
/// So many pieces of evidence of a finding are on the page.
const MAX_EVIDENCE: usize = 4;
/// So much of a text is on the page.
const MAX_WORDS: usize = 200;
/// Findings are spelled out until they take so many bytes, the worst first.
const MAX_DETAILS: usize = 600_000;
/// So many destructive calls are on the page, those that were not named first.
const MAX_DESTRUCTIVE: usize = 200;
/// So many tools have a row of their own.
const TOOLS: usize = 500;

pub(super) fn section(run: &CheckRun, options: &Options) -> Section {
    let findings: Vec<&Finding> = run.new_findings().collect();
    let alike = findings.chunk_by(|a, b| (a.code, a.severity) == (b.code, b.severity));
    let rules: Vec<(usize, Vec<&Finding>)> =
        alike.map(|alike| (alike.len(), examples(alike, OF_A_RULE))).collect();
    let shown: Vec<&Finding> = rules.iter().flat_map(|(_, shown)| shown).copied().collect();
    let sessions = Sessions::new(run, &shown);
    let (mut first, mut room) = (0, MAX_DETAILS);
    let mut numbered = |(count, shown): &(usize, Vec<&Finding>)| {
        let markup = rule(shown, *count, first, &sessions, &mut room);
        first += shown.len();
        markup
    };
    let rules: Vec<Markup> = rules.iter().map(&mut numbered).collect();
    Section {
        title: format!("{} toolmark check", shown::sign(run.verdict())),
        header: header(run, options),
        has_script: true,
        content: html! {
            (notes(&run.notes))
            @if !findings.is_empty() { (search()) }
            @for rule in &rules { (rule) }
            (sessions::section(&sessions))
            (overview(run))
            (destructive(run))
            (matrix(run))
            (gate_table(run))
            (kind_table(run))
            (judge(run))
        },
    }
}

fn search() -> Markup {
    html! {
        div class="search" role="search" {
            label for="search" { "Search" }
            input id="search" type="search" autocomplete="off"
                placeholder="words of a finding, a tool, a file or a session";
        }
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
            p class="about" { (overview::rates(&overview::of(run).total)) }
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

/// The findings of one rule, numbered from the first.
fn rule(
    alike: &[&Finding],
    count: usize,
    from: usize,
    sessions: &Sessions<'_>,
    room: &mut usize,
) -> Markup {
    let Some(first) = alike.first() else { return Markup::default() };
    let class = match first.severity {
        Severity::Error => Verdict::Fail.word(),
        Severity::Warning => "unknown",
        Severity::Info => Verdict::Pass.word(),
    };
    let lead = format!("{} {} {}", first.code, first.name, first.axis.word());
    html! {
        details class={ "panel case group " (class) } data-lead=(lead)
            open[first.severity == Severity::Error] {
            summary {
                span class={ "verdict " (class) } { (first.severity.word()) }
                b { (first.code) " " (first.name) }
                span class="dim" {
                    (first.axis.word()) " × " (count)
                    ", " (first.confidence.word()) " confidence"
                }
            }
            ol class="findings" {
                @for (at, finding) in alike.iter().enumerate() {
                    (found(finding, from + at, sessions, room))
                }
            }
            @if count > alike.len() {
                p class="dim more" { "and " (count - alike.len()) " more; --format json has them" }
            }
        }
    }
}

fn found(finding: &Finding, at: usize, sessions: &Sessions<'_>, room: &mut usize) -> Markup {
    let details = if *room > 0 { details(finding) } else { Markup::default() };
    *room = room.saturating_sub(details.0.len());
    html! {
        li class="item" id=(sessions::finding_id(at)) {
            b { (safe(&cut(&finding.message, MAX_WORDS))) }
            div class="dim" {
                @match sessions.of(finding) {
                    Some(session) => {
                        a href={ "#" (sessions::session_id(session)) } {
                            (safe(&sessions.name(session)))
                        }
                        ", line " (finding.place.line)
                    }
                    None => { code { (safe(&shown::in_trace(&finding.place))) } }
                }
            }
            (details)
        }
    }
}

/// What proves a finding, what to do about it, and how to open the call.
fn details(finding: &Finding) -> Markup {
    html! {
        ul { @for piece in finding.evidence.iter().take(MAX_EVIDENCE) { (proof(piece)) } }
        @if let Some(words) = judged::objection(finding) { div { (safe(&words)) } }
        div { "→ " (safe(&finding.remedy)) }
        @if let Some(command) = sessions::show_command(finding) {
            div class="dim" { "open the call: " code { (safe(&command)) } }
        }
    }
}

/// The counts of all sessions, and by model, agent, project and week.
fn overview(run: &CheckRun) -> Markup {
    let overview = overview::of(run);
    let row = |word: &str, name: &str, group: &Group| {
        html! {
            tr {
                td { (word) } th scope="row" { (safe(name)) }
                td class="num" { (group.sessions) } td class="num" { (group.affected) }
                td class="num" { (group.calls.calls) } td class="num" { (group.faults) }
                td class="num" { (overview::rate(group.per_100_calls())) }
                td class="num" { (overview::rate(group.per_session())) }
                td { (group.failed.calls) " (" (overview::cost(group.failed)) ")" }
                td { (group.repeated.calls) " (" (overview::cost(group.repeated)) ")" }
            }
        }
    };
    html! {
        section class="panel" aria-label="Overview" {
            div class="scroll" {
                table {
                    thead { tr {
                        th scope="col" { "by" } th scope="col" { "" }
                        th scope="col" { "sessions" } th scope="col" { "affected" }
                        th scope="col" { "calls" } th scope="col" { "faults" }
                        th scope="col" { "per 100 calls" } th scope="col" { "per session" }
                        th scope="col" { "failed calls" } th scope="col" { "repeated calls" }
                    } }
                    tbody {
                        (row("all", "", &overview.total))
                        @for (word, groups) in overview::parts(&overview) {
                            @for group in groups.iter().take(TOOLS) {
                                (row(word, &overview::name(group), group))
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The calls that destroy something for good, and what was said before each.
fn destructive(run: &CheckRun) -> Markup {
    let mut calls: Vec<_> = run.checked.destructive.iter().collect();
    calls.sort_by_key(|call| call.announced);
    html! {
        @if !calls.is_empty() {
            details class="panel case group" data-lead="destructive calls" {
                summary { b { "destructive calls" } span class="dim" { "× " (calls.len()) } }
                ol class="findings" {
                    @for call in calls.iter().take(MAX_DESTRUCTIVE) {
                        li class="item" {
                            b { (call.announced.word()) } ": " (safe(&call.effect))
                            @if let Some(place) = &call.call.place {
                                div class="dim" { code { (safe(&shown::in_trace(place))) } }
                            }
                            div { code { (safe(&cut(&call.call.summary(), MAX_WORDS))) } }
                            @if let Some(said) = &call.said { div { (safe(&said.summary())) } }
                        }
                    }
                }
                @if calls.len() > MAX_DESTRUCTIVE {
                    p class="dim more" {
                        "and " (calls.len() - MAX_DESTRUCTIVE) " more; --format json has them"
                    }
                }
            }
        }
    }
}

fn proof(piece: &Evidence) -> Markup {
    // What a call answered says more than what it was asked, where there is room for one.
    let words = match &piece.excerpt {
        Some(excerpt) => printable!("{}: {}", piece.text, excerpt),
        None => piece.summary(),
    };
    html! {
        li {
            @if let Some(place) = piece.location() {
                span class="dim" { "line " (place.line) " " }
            }
            (piece.role.word()) ": " code { (safe(&cut(&words, MAX_WORDS))) }
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
        assert_eq!(body.matches("<script").count(), 1, "only the page's own");
        for payload in ["src=", "https://e.vil\""] {
            assert!(!body.contains(payload), "{payload}");
        }
        let outside = body.split("href=\"").skip(1).find(|rest| !rest.starts_with('#'));
        assert_eq!(outside, None, "a link leads elsewhere");
        assert!(body.contains("&lt;script&gt;"), "{body}");
        let (body, _) = body.split_once("<script").unwrap();
        insta::assert_snapshot!(body.replace("><", ">\n<"));
    }

    #[test]
    fn findings_come_first_and_links_lead_somewhere() {
        let text = report("html");
        let at = |word: &str| text.find(word).unwrap();
        assert!(at("id=\"f0\"") < at("aria-label=\"Sessions\""), "{text}");
        assert!(at("aria-label=\"Sessions\"") < at("aria-label=\"Scorecard\""));
        let links: Vec<&str> =
            text.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert!(!links.is_empty());
        for link in links {
            assert!(text.contains(&format!("id=\"{link}\"")), "#{link} leads nowhere");
        }
    }
}
