//! Plots as drawings inside the page: scores, graders and budgets.

use super::safe;
use crate::model::{GraderResult, RunResult, Summary};
use crate::shown;
use maud::{Markup, html};
use std::collections::BTreeMap;
use toolmark_outcome::Verdict;

/// How many columns the scores are counted in.
const BINS: usize = 10;
/// How many graders a plot shows.
const MOST: usize = 30;
/// How finely the use of a budget is drawn.
const TICKS: usize = 50;

/// What there is something to draw of.
pub(super) fn all(run: &RunResult) -> Markup {
    html! { (scores(run)) (graders(run)) (budgets(run)) }
}

/// Part of a whole in percent, with one digit where it is needed.
fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "–".to_owned();
    }
    let value = part as f64 * 100.0 / whole as f64;
    // Nothing is called 100 % or 0 % that is not.
    match (part, value.round() as u64) {
        (part, 100) if part < whole => format!("{:.1} %", value.min(99.9)),
        (part, 0) if part > 0 => format!("{:.1} %", value.max(0.1)),
        (_, rounded) => format!("{rounded} %"),
    }
}

/// Lengths laid end to end: class, start and length of each that is not empty.
fn stacked<'c>(parts: &[(u64, &'c str)], scale: f64, least: f64) -> Vec<(&'c str, f64, f64)> {
    let mut start = 0.0;
    let parts = parts.iter().filter(|(n, _)| *n > 0);
    parts
        .map(|(n, class)| {
            let length = (*n as f64 * scale).max(least);
            start += length;
            (*class, start - length, length)
        })
        .collect()
}

/// A bar of lengths end to end.
fn bar(parts: &[(u64, &str)]) -> Markup {
    let whole: u64 = parts.iter().map(|(n, _)| n).sum();
    html! {
        svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true" {
            @for (class, start, length) in stacked(parts, 100.0 / whole.max(1) as f64, 0.0) {
                rect class=(class) x=(coordinate(start)) y="0" width=(coordinate(length)) height="10" {}
            }
        }
    }
}

/// Two digits are finer than any screen.
pub(super) fn coordinate(value: f64) -> String {
    format!("{value:.2}")
}

/// One number over time, for a line of [`over_time`].
pub(super) struct Mark {
    /// The number; none is a gap in the line.
    pub(super) value: Option<f64>,
    /// The interval around it.
    pub(super) interval: Option<(f64, f64)>,
    /// What it says when it is pointed at.
    pub(super) words: String,
    /// Does something change here?
    pub(super) is_change: bool,
}

/// Numbers over time: a line with its points, its intervals and its changes.
pub(super) fn over_time(label: &str, marks: &[Mark]) -> Markup {
    const WIDTH: f64 = 320.0;
    const HEIGHT: f64 = 90.0;
    let ends = marks
        .iter()
        .flat_map(|mark| mark.value.into_iter().chain(mark.interval.map(|(_, high)| high)));
    let most = ends.fold(0.0, f64::max);
    let most = if most > 0.0 { most } else { 1.0 };
    let x = |at: usize| (at as f64 + 0.5) * WIDTH / marks.len().max(1) as f64;
    let y = |value: f64| HEIGHT - 4.0 - (value / most).clamp(0.0, 1.0) * (HEIGHT - 12.0);
    // A gap ends the line: nothing is known there.
    let mut path = String::new();
    let mut is_drawn = false;
    for (at, mark) in marks.iter().enumerate() {
        if let Some(value) = mark.value {
            let letter = if is_drawn { 'L' } else { 'M' };
            path.push_str(&format!("{letter}{} {}", coordinate(x(at)), coordinate(y(value))));
        }
        is_drawn = mark.value.is_some();
    }
    html! {
        svg class="series" viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(label) {
            @for (at, mark) in marks.iter().enumerate() {
                @if let Some((low, high)) = mark.interval {
                    line class="axis" x1=(coordinate(x(at))) x2=(coordinate(x(at)))
                        y1=(coordinate(y(low))) y2=(coordinate(y(high))) {}
                }
                @if mark.is_change {
                    @let border = coordinate(x(at) - 0.5 * WIDTH / marks.len().max(1) as f64);
                    line class="limit" x1=(border) x2=(border) y1="2" y2=(HEIGHT) {}
                }
            }
            path d=(path) fill="none" stroke="currentColor" stroke-width="1.5" {}
            @for (at, mark) in marks.iter().enumerate() {
                @if let Some(value) = mark.value {
                    circle class="unknown" cx=(coordinate(x(at))) cy=(coordinate(y(value))) r="2.5" {
                        title { (safe(&mark.words)) }
                    }
                }
            }
            line class="axis" x1="0" x2=(WIDTH) y1=(HEIGHT - 0.5) y2=(HEIGHT - 0.5) {}
        }
    }
}

/// Passed, failed and unknown in one bar.
pub(super) fn proportions(summary: &Summary) -> Markup {
    if summary.outcomes == 0 {
        return Markup::default();
    }
    bar(&[(summary.passed, "pass"), (summary.unknown, "unknown"), (summary.failed, "fail")])
}

/// How the scores are distributed.
fn scores(run: &RunResult) -> Markup {
    let mut bins = [[0u64; 3]; BINS];
    let mut without = 0;
    for outcome in &run.outcomes {
        let Some(score) = outcome.score else {
            without += 1;
            continue;
        };
        let bin = (score.clamp(0.0, 1.0) * BINS as f64) as usize;
        let kind = match outcome.verdict {
            Verdict::Fail => 0,
            Verdict::Unknown(_) => 1,
            Verdict::Pass => 2,
        };
        bins[bin.min(BINS - 1)][kind] += 1;
    }
    let highest = bins.iter().map(|bin| bin.iter().sum::<u64>()).max().unwrap_or(0);
    if highest == 0 {
        return Markup::default();
    }
    let (top, floor, step) = (16.0, 120.0, 32.0);
    let scale = (floor - top) / highest as f64;
    html! {
        div class="panel plot" {
            h2 { "Scores" span class="dim" { "of outcomes" } }
            svg class="histogram" viewBox="0 0 320 140" role="img" aria-label="Distribution of scores" {
                @for (at, bin) in bins.iter().enumerate() {
                    @let x = at as f64 * step + 2.0;
                    @let total: u64 = bin.iter().sum();
                    @let [fail, unknown, pass] = *bin;
                    @let kinds = [(fail, "fail"), (unknown, "unknown"), (pass, "pass")];
                    @let column = stacked(&kinds, scale, 1.5);
                    @for (class, start, height) in &column {
                        @let y = coordinate(floor - start - height);
                        rect class=(class) x=(coordinate(x)) y=(y) width="28" height=(coordinate(*height)) rx="1.5" {}
                    }
                    @if let Some((_, start, height)) = column.last() {
                        @let y = coordinate(floor - start - height - 4.0);
                        text class="count" x=(coordinate(x + 14.0)) y=(y) { (total) }
                    }
                }
                line class="axis" x1="0" y1="120.5" x2="320" y2="120.5" {}
                @if let Some(threshold) = run.summary.threshold {
                    @let x = coordinate(threshold.clamp(0.0, 1.0) * 320.0);
                    line class="limit" x1=(x) y1="4" x2=(x) y2="120" {}
                }
                @for (x, word, class) in [("2", "0", "start"), ("160", "0.5", "middle"), ("318", "1", "end")] {
                    text class={ "tick " (class) } x=(x) y="135" { (word) }
                }
            }
            @if without > 0 {
                p class="dim" { (shown::things(without, "outcome")) " without a score" }
            }
        }
    }
}

/// The graders of a run by name, in the order of the spec.
fn by_grader(run: &RunResult) -> Vec<(&str, Vec<&GraderResult>)> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut list: Vec<(&str, Vec<&GraderResult>)> = Vec::new();
    for grader in run.outcomes.iter().flat_map(|outcome| &outcome.graders) {
        let at = *places.entry(&grader.name).or_insert_with(|| {
            list.push((&grader.name, Vec::new()));
            list.len() - 1
        });
        if let Some((_, results)) = list.get_mut(at) {
            results.push(grader);
        }
    }
    list
}

/// How often each grader passes, the worst on top.
fn graders(run: &RunResult) -> Markup {
    let mut rows: Vec<(&str, [u64; 3])> = by_grader(run)
        .into_iter()
        .map(|(name, results)| {
            let count = |word: &str| {
                results.iter().filter(|g| g.outcome.verdict.word() == word).count() as u64
            };
            (name, [count("pass"), count("unknown"), count("fail")])
        })
        .collect();
    if rows.is_empty() {
        return Markup::default();
    }
    rows.sort_by(|(_, a), (_, b)| {
        let rate = |n: &[u64; 3]| n[0] as f64 / n.iter().sum::<u64>().max(1) as f64;
        rate(a).total_cmp(&rate(b))
    });
    let more = rows.len().saturating_sub(MOST);
    html! {
        div class="panel plot" {
            h2 { "Graders" span class="dim" { "how often they pass" } }
            div class="rows" {
                @for (name, [pass, unknown, fail]) in rows.into_iter().take(MOST) {
                    @let total = pass + unknown + fail;
                    @let words = format!("{pass} passed, {fail} failed, {unknown} unknown");
                    span class="name" title=(safe(name)) { (safe(name)) }
                    span class="drawing" role="img" aria-label=(words) title=(words) {
                        (bar(&[(pass, "pass"), (unknown, "unknown"), (fail, "fail")]))
                    }
                    span class="num" { (percent(pass, total)) }
                }
            }
            @if more > 0 { p class="dim" { "… " (more) " more" } }
        }
    }
}

/// What part of its budget an outcome used.
fn used(grader: &GraderResult) -> Option<f64> {
    let number = |name: &str| grader.outcome.metrics.get(name)?.as_f64();
    let (value, max) = (number("value")?, number("max")?);
    // Nothing may be used of nothing: whatever is, is too much.
    let ratio = if max > 0.0 {
        value / max
    } else if value > 0.0 {
        2.0
    } else {
        0.0
    };
    ratio.is_finite().then_some(ratio)
}

/// How much of their budgets the outcomes used, up to twice.
fn budgets(run: &RunResult) -> Markup {
    let rows: Vec<(&str, Vec<f64>)> = by_grader(run)
        .into_iter()
        .map(|(name, results)| (name, results.into_iter().filter_map(used).collect()))
        .filter(|(_, ratios): &(_, Vec<f64>)| !ratios.is_empty())
        .collect();
    if rows.is_empty() {
        return Markup::default();
    }
    let more = rows.len().saturating_sub(MOST);
    html! {
        div class="panel plot" {
            h2 { "Budgets" span class="dim" { "how much of them is used" } }
            div class="rows" {
                @for (name, ratios) in rows.into_iter().take(MOST) {
                    @let over = ratios.iter().filter(|ratio| **ratio > 1.0).count();
                    @let words = format!("{over} of {} over the budget", ratios.len());
                    span class="name" title=(safe(name)) { (safe(name)) }
                    span class="drawing" role="img" aria-label=(words) title=(words) { (strip(&ratios)) }
                    span class="num" { (percent((ratios.len() - over) as u64, ratios.len() as u64)) }
                }
                span class="name" {}
                span class="scale" { span { "0" } span { "budget" } span { "twice" } }
                span {}
            }
            @if more > 0 { p class="dim" { "… " (more) " more" } }
        }
    }
}

/// A stroke where outcomes are, the darker the more.
fn strip(ratios: &[f64]) -> Markup {
    let mut ticks = [0u64; TICKS];
    for ratio in ratios {
        let at = (ratio.clamp(0.0, 2.0) / 2.0 * TICKS as f64) as usize;
        // What is over the budget is drawn beyond it, however little it is.
        let at = if *ratio > 1.0 { at.max(TICKS / 2 + 1) } else { at.min(TICKS / 2) };
        ticks[at.min(TICKS - 1)] += 1;
    }
    let highest = ticks.iter().copied().max().unwrap_or(1).max(1);
    html! {
        svg class="bar strip" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true" {
            @for (at, n) in ticks.iter().enumerate() {
                @if *n > 0 {
                    @let class = if at > TICKS / 2 { "fail" } else { "pass" };
                    @let strength = 0.35 + 0.65 * *n as f64 / highest as f64;
                    rect class=(class) x=(2 * at) y="0" width="2" height="10" fill-opacity=(coordinate(strength)) {}
                }
            }
            line class="limit" x1="52" y1="0" x2="52" y2="10" {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_all_of_it_is_100_percent() {
        for (part, whole, want) in [
            (0, 0, "–"),
            (0, 5, "0 %"),
            (5, 5, "100 %"),
            (1, 3, "33 %"),
            (9999, 10_000, "99.9 %"),
            (1, 10_000, "0.1 %"),
        ] {
            assert_eq!(percent(part, whole), want);
        }
    }

    #[test]
    fn a_gap_ends_the_line() {
        let mark = |value: Option<f64>| Mark {
            value,
            interval: None,
            words: "<b>".to_owned(),
            is_change: false,
        };
        let drawn = over_time("x", &[1.0, 2.0].map(Some).map(mark)).into_string();
        assert_eq!((drawn.matches('M').count(), drawn.matches('L').count()), (1, 1), "{drawn}");
        let drawn = over_time("x", &[Some(1.0), None, Some(2.0)].map(mark)).into_string();
        assert_eq!((drawn.matches('M').count(), drawn.matches('L').count()), (2, 0), "{drawn}");
        assert!(!drawn.contains("<b>") && !drawn.contains("NaN"), "{drawn}");
        assert!(!over_time("x", &[]).into_string().contains("NaN"));
    }

    #[test]
    fn strokes_stand_on_their_side_of_the_budget() {
        let drawn = strip(&[1.0, 1.000_01, 7.0]).into_string();
        assert!(drawn.contains(r#"class="pass" x="50""#), "{drawn}");
        assert!(drawn.contains(r#"class="fail" x="52""#), "{drawn}");
        assert!(drawn.contains(r#"class="fail" x="98""#), "{drawn}");
    }
}
