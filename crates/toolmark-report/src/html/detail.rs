//! One outcome: its graders, their evidence, and the way of the trajectory.

use super::{anchor, badge, safe, safe_lines};
use crate::alignment::{self, Drawn};
use crate::model::{CallRef, Evidence, Explanation, GraderResult, Row, Timeline, TimelineEntry};
use crate::shown::{self, Shown};
use maud::{Markup, html};
use std::collections::BTreeMap;
use toolmark_outcome::{Role, Verdict};

/// How many pieces of evidence a grader shows.
const EVIDENCE: usize = 40;
/// How many steps of the way are shown.
const ENTRIES: usize = 200;

/// How much of an outcome is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Depth {
    /// The reason.
    Reason,
    /// What the graders say as well.
    Graders,
    /// The way of the trajectory as well.
    Whole,
}

/// What the graders say about a call, by its index.
type Marks = BTreeMap<usize, Role>;

/// Of two roles the graver one is shown.
fn gravity(role: Role) -> u8 {
    match role {
        Role::Violation => 5,
        Role::Mismatch => 4,
        Role::Missing => 3,
        Role::Extra => 2,
        Role::Matched => 1,
        Role::Context => 0,
    }
}

fn marks(shown: &Shown<'_>) -> Marks {
    let mut marks = Marks::new();
    let evidence = shown.result.graders.iter().flat_map(|grader| &grader.outcome.evidence);
    for piece in evidence {
        if let Some(call) = &piece.call {
            let mark = marks.entry(call.index).or_insert(piece.role);
            if gravity(piece.role) > gravity(*mark) {
                *mark = piece.role;
            }
        }
    }
    marks
}

pub(super) fn outcome(at: usize, shown: &Shown<'_>, depth: Depth) -> Markup {
    let result = shown.result;
    let verdict = result.verdict;
    let timeline = result.timeline.as_ref().filter(|_| depth == Depth::Whole);
    html! {
        details class={ "case panel " (verdict.word()) } {
            summary {
                (badge(verdict))
                b { (safe(&shown.title)) }
                span class="why" { (safe(shown.first_reason())) }
                span class="score num" { (result.score.map_or("–".into(), shown::score)) }
            }
            // Links lead inside: a browser then opens what is folded.
            div class="inside" id=(anchor(at)) {
                p class="about" {
                    (safe_lines(&result.reason))
                    @if let Some(source) = &result.trajectory {
                        " · trace " code { (safe(&source.source)) }
                        @if let Some(id) = &source.id { " " code { (safe(id)) } }
                    }
                    @if let Some(place) = shown::in_spec(&result.place) {
                        " · spec " code { (safe(&place)) }
                    }
                }
                @if depth >= Depth::Graders {
                    @for result in shown.troubles().chain(shown.graders("pass")) {
                        (grader(result, at, timeline))
                    }
                }
                @if let Some(timeline) = timeline { (way(timeline, at, &marks(shown))) }
            }
        }
    }
}

fn grader(grader: &GraderResult, at: usize, timeline: Option<&Timeline>) -> Markup {
    let outcome = &grader.outcome;
    let standing = shown::standing(grader);
    html! {
        section class={ "grader " (outcome.verdict.word()) } {
            h2 {
                (badge(outcome.verdict)) (safe(&shown::grader(grader)))
                @if !standing.is_empty() { span class="dim" { (standing) } }
                @if let Some(cause) = outcome.verdict.cause() {
                    span class="dim" { (cause.word().replace('_', " ")) }
                }
                @if let Some(place) = shown::in_spec(&grader.place) {
                    code class="dim place" { (safe(&place)) }
                }
            }
            p { (safe_lines(&outcome.reason)) }
            @let parts = outcome.parts.iter().filter(|part| part.verdict != Verdict::Pass);
            @if parts.clone().next().is_some() {
                ul class="parts" {
                    @for part in parts.take(EVIDENCE) {
                        li {
                            (badge(part.verdict)) (safe(&part.text))
                            @if let Some(reason) = &part.reason { ": " (safe(reason)) }
                        }
                    }
                }
            }
            @if let Some(explanation) = &outcome.explanation { (aligned(explanation)) }
            @if !outcome.evidence.is_empty() {
                ul class="evidence" aria-label="Evidence" {
                    @for piece in outcome.evidence.iter().take(EVIDENCE) {
                        (evidence(piece, at, timeline))
                    }
                    @if outcome.evidence.len() > EVIDENCE {
                        li class="dim" { "… " (outcome.evidence.len() - EVIDENCE) " more" }
                    }
                }
            }
            @if !outcome.metrics.is_empty() {
                dl class="metrics" aria-label="Metrics" {
                    @for (name, value) in outcome.metrics.entries() {
                        div { dt { (safe(&name)) } dd { (safe(&value)) } }
                    }
                }
            }
            @if let Some(contrast) = shown::contrast(grader) {
                p class="contrast" { (safe_lines(&contrast)) }
            }
            @for note in &outcome.notes { p class="note dim" { (safe_lines(note)) } }
        }
    }
}

/// A call in its parts: place among the calls, tool, how it ended, arguments.
fn call(call: &CallRef) -> Markup {
    html! {
        span class="made" {
            span class="index" { "#" (call.number()) } " "
            b { (safe(&call.tool)) }
            @if !matches!(call.status, "succeeded" | "unknown") {
                " " span class="status" { (call.status) }
            }
            @if let Some(args) = &call.args { " " code { (safe(args)) } }
        }
    }
}

fn evidence(piece: &Evidence, at: usize, timeline: Option<&Timeline>) -> Markup {
    let drawn = |made: &CallRef| {
        timeline.is_some_and(|timeline| {
            let mut shown = timeline.entries.iter().take(ENTRIES);
            shown.any(|entry| entry.call.as_ref().is_some_and(|call| call.index == made.index))
        })
    };
    html! {
        li class=(piece.role.word()) {
            span class="role" { (piece.role.word()) } " "
            span { (safe_lines(&piece.text)) }
            @if let Some(made) = &piece.call {
                " "
                @if drawn(made) {
                    a href={ "#" (anchor(at)) "c" (made.number()) } { (call(made)) }
                } @else {
                    (call(made))
                }
            }
            @if let Some(excerpt) = &piece.excerpt { " " span class="excerpt" { (safe(excerpt)) } }
            @if let Some(place) = piece.location() {
                " " code class="dim place" { (safe(&shown::in_trace(place))) }
            }
        }
    }
}

fn aligned(explanation: &Explanation) -> Markup {
    html! {
        div class="scroll" {
            table class="aligned" {
                thead { tr {
                    th scope="col" { span class="unseen" { "state" } }
                    th scope="col" { "expected" }
                    th scope="col" { "made" }
                } }
                tbody {
                    @for drawn in alignment::drawn(explanation, false) {
                        @match drawn {
                            Drawn::Gap(rows, state) => tr class="gap" {
                                td {} td colspan="2" { (alignment::gap(rows, state)) }
                            },
                            Drawn::Row(line, first) => (row(line, first)),
                        }
                    }
                }
            }
        }
        @if let Some(more) = alignment::elided(explanation) { p class="dim" { (more) } }
        @if let Some(first) = alignment::divergence(explanation) {
            p class="dim" { "▸ " (safe(&first)) }
        }
        @if !explanation.repair.is_empty() {
            div class="repair" {
                b { "to pass" }
                ul { @for change in &explanation.repair { li { (safe_lines(change)) } } }
            }
        }
    }
}

fn row(row: &Row, first: bool) -> Markup {
    html! {
        tr class={ (row.state.word()) @if first { " first" } } {
            td class="mark" title=(row.state.word()) {
                @if first { "▸" } (alignment::sign(row.state))
                span class="unseen" { (row.state.word()) @if first { ", first divergence" } }
            }
            td { @if let Some(expected) = &row.expected { (safe(expected)) } }
            td {
                @if let Some(made) = &row.call { (call(made)) }
                @if let Some(why) = &row.why { div class="why" { (safe_lines(why)) } }
            }
        }
    }
}

fn way(timeline: &Timeline, at: usize, marks: &Marks) -> Markup {
    let more = timeline.elided + timeline.entries.len().saturating_sub(ENTRIES);
    html! {
        details class="way" {
            summary {
                "Timeline "
                span class="dim" { (shown::things(timeline.entries.len() as u64, "event")) }
            }
            ol {
                @for entry in timeline.entries.iter().take(ENTRIES) { (step(entry, at, marks)) }
                @if more > 0 { li class="dim" { "… " (more) " more" } }
            }
        }
    }
}

fn step(entry: &TimelineEntry, at: usize, marks: &Marks) -> Markup {
    let mark = entry.call.as_ref().and_then(|call| marks.get(&call.index)).copied();
    let id = entry.call.as_ref().map(|call| format!("{}c{}", anchor(at), call.number()));
    html! {
        li class={ (safe(entry.kind)) @if let Some(role) = mark { " marked " (role.word()) } }
            id=[id] {
            span class="kind" {
                (safe(entry.kind))
                @if let Some(step) = entry.step { span class="dim" { " " (step + 1) } }
            }
            div {
                @if let Some(made) = &entry.call {
                    (call(made))
                    @if let Some(role) = mark { " " span class="role" { (role.word()) } }
                    @if let Some(ms) = entry.duration_ms {
                        " " span class="dim num" { (shown::millis(ms)) }
                    }
                }
                @if let Some(text) = &entry.text { span class="words" { (safe_lines(text)) } }
                @if let Some(result) = &entry.result {
                    div class="result" { (safe_lines(result)) }
                }
            }
        }
    }
}
