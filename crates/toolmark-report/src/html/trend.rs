//! Measures over time on a page: a plot each, with its changes below.

use super::plots::{Mark, over_time};
use super::{Section, notes, safe};
use crate::model::{Series, TrendRun};
use crate::shown;
use crate::trends::{change, name, number, suspects};
use maud::{Markup, html};

pub(super) fn section(run: &TrendRun) -> Section {
    let sessions = shown::things(run.sessions, "session");
    let buckets = shown::things(run.buckets.len() as u64, run.by.word());
    Section {
        title: "toolmark trend".to_owned(),
        header: html! {
            header {
                h1 { "toolmark trend" }
                p { (sessions.to_string()) " in " (buckets.to_string()) }
                @if let Some(prices) = &run.prices {
                    p class="dim" { "costs at the prices of " (prices.date) " in " (safe(&prices.file)) }
                }
            }
        },
        has_script: false,
        content: html! {
            (notes(&run.notes))
            div class="plots" { @for series in &run.series { (one(series, run)) } }
        },
    }
}

fn one(series: &Series, run: &TrendRun) -> Markup {
    let title = name(series);
    let marks: Vec<Mark> = run
        .buckets
        .iter()
        .zip(&series.points)
        .enumerate()
        .map(|(at, (bucket, point))| Mark {
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
        div class="panel plot" {
            h2 { (safe(&title)) span class="dim" { (series.unit.word()) } }
            (over_time(&safe(&title), &marks))
            p class="dim" { (number(series.unit, series.total.value).to_string()) " in all" }
            @for found in &series.changes {
                p {
                    (safe(&change(series, found)))
                    @if let Some(suspects) = suspects(found) { span class="dim" { ", with " (safe(&suspects)) } }
                }
            }
        }
    }
}
