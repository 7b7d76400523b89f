//! Measures over time as HTML: one plot each, with its changes below.

use super::{HtmlSection, safe};
use crate::model::{Series, TrendRun};
use crate::shown;
use crate::trends::{change, name, number, suspects};
use maud::{Markup, html};

pub(super) fn part(run: &TrendRun) -> HtmlSection {
    let sessions = shown::things(run.sessions, "session");
    let buckets = shown::things(run.buckets.len() as u64, run.by.word());
    HtmlSection {
        page: "trend",
        title: "toolmark trend".to_owned(),
        data: Vec::new(),
        notes: run.notes.clone(),
        tables: html! {
            h1 { "toolmark trend" }
            p { (sessions.to_string()) " in " (buckets.to_string()) }
            @if let Some(prices) = &run.prices {
                @match (&prices.file, &prices.date) {
                    (Some(file), Some(date)) => p {
                        "costs at the prices of " (date) " in " (safe(file))
                        ", of other models at the list prices of " (prices.list_date)
                    },
                    _ => p { "costs at the list prices of " (prices.list_date) },
                }
            }
            div class="plots" { @for series in &run.series { (one(series, run)) } }
        },
    }
}

fn one(series: &Series, run: &TrendRun) -> Markup {
    let title = name(series);
    let marks: Vec<TrendMark> = run
        .buckets
        .iter()
        .zip(&series.points)
        .enumerate()
        .map(|(at, (bucket, point))| TrendMark {
            value: point.map(|point| point.value),
            interval: point.and_then(|point| point.interval),
            words: match point {
                Some(point) => {
                    let value = number(series.unit, point.value);
                    format!("{}: {value} of {}", &*bucket.name, point.of)
                }
                None => String::new(),
            },
            is_change: series.changes.iter().any(|change| change.bucket == at),
        })
        .collect();
    html! {
        section {
            h2 { (safe(&title)) span { (series.unit.word()) } }
            (over_time(&safe(&title), &marks))
            p { (number(series.unit, series.total.value).to_string()) " in all" }
            @for found in &series.changes {
                p {
                    (safe(&change(series, found)))
                    @if let Some(suspects) = suspects(found) { span { ", with " (safe(&suspects)) } }
                }
            }
        }
    }
}

/// Formats a coordinate with two digits, which is finer than any screen.
fn coordinate(value: f64) -> String {
    format!("{value:.2}")
}

/// A point of a line in [`over_time`].
struct TrendMark {
    /// Value; `None` is a gap in the line.
    value: Option<f64>,
    /// Confidence interval.
    interval: Option<(f64, f64)>,
    /// Tooltip.
    words: String,
    /// Whether the measure changes at this point.
    is_change: bool,
}

/// Plots numbers over time: a line with its points, intervals and changes.
fn over_time(label: &str, marks: &[TrendMark]) -> Markup {
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
                    circle cx=(coordinate(x(at))) cy=(coordinate(y(value))) r="2.5" {
                        title { (safe(&mark.words)) }
                    }
                }
            }
            line class="axis" x1="0" x2=(WIDTH) y1=(HEIGHT - 0.5) y2=(HEIGHT - 0.5) {}
        }
    }
}
