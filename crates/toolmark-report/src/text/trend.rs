//! The terminal report of measures over time: one line each, with the changes.

use super::page::TextPage;
use crate::model::{Series, TrendRun};
use crate::terminal::text::TextLayout;
use crate::terminal::{StyledLine, human, style};
use crate::trends::{change, is_worse, name, number, suspects};
use crate::{ReportError, ReportOptions, Verbosity};
use std::io::Write;
use toolmark_outcome::{Printable, printable};

/// Maximum number of time buckets in a sparkline.
const MAX_SIGNS: usize = 24;

/// Maximum number of tools, unless all are requested.
const MAX_TOOLS: usize = 3;

pub(super) fn write(
    run: &TrendRun,
    options: &ReportOptions,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let mut page = TextPage::new(options);
    let shown = shown(run, page.is(Verbosity::Verbose));
    let names: Vec<Printable> = shown.iter().map(|series| name(series)).collect();
    let width = names.iter().map(TextLayout::width).max().unwrap_or(0);
    for (series, name) in shown.iter().zip(&names) {
        page.line(line(series, name, width));
        for one in &series.changes {
            let tone = match is_worse(series, one) {
                Some(true) => style::BAD,
                Some(false) => style::GOOD,
                None => style::WARN,
            };
            page.line(StyledLine::indent(4).with(tone, change(series, one)));
            if let Some(suspects) = suspects(one) {
                page.words(6, (style::DIM, "with "), style::PLAIN, &suspects);
            }
        }
    }
    if !page.is(Verbosity::Quiet) {
        page.gap();
        page.wrapped(0, style::STRONG, &summary(run));
        let hidden = run.series.len() - shown.len();
        if hidden > 0 {
            let more = human::things(hidden as u64, "more measure");
            page.line(StyledLine::of(style::DIM, printable!("{}; --verbose shows them", more)));
        }
        for note in &run.notes {
            page.words(0, (style::DIM, "note: "), style::DIM, note);
        }
    }
    out.write_all(page.out.as_bytes())?;
    Ok(())
}

/// Returns the shown series: measures of all tools, those that change, and the most used tools.
fn shown(run: &TrendRun, is_all: bool) -> Vec<&Series> {
    let mut tools: Vec<&Printable> = Vec::new();
    for tool in run.series.iter().filter_map(|series| series.tool.as_ref()) {
        if !tools.contains(&tool) && tools.len() < MAX_TOOLS {
            tools.push(tool);
        }
    }
    let is_shown = |series: &&Series| {
        let is_detail = series.tool.is_none() && series.measure.contains('.');
        is_all
            || !series.changes.is_empty()
            || match &series.tool {
                Some(tool) => tools.contains(&tool),
                None => !is_detail,
            }
    };
    run.series.iter().filter(is_shown).collect()
}

fn line(series: &Series, name: &Printable, width: usize) -> StyledLine {
    let mut line = StyledLine::of(style::STRONG, name);
    line.pad(width + 2);
    let signs = series.sparkline(MAX_SIGNS);
    line.push(style::USER, Printable::compose(format_args!("{signs}")));
    line.push(style::PLAIN, "  ");
    let last = series.points.iter().rev().flatten().next();
    if let Some(last) = last {
        line.push(style::PLAIN, number(series.unit, last.value));
    }
    let unit = match series.unit {
        toolmark_feed::trend::NumberUnit::Per100 => " per 100 calls",
        _ => "",
    };
    // Two numbers side by side need to say which is which.
    let unit = if last.is_some() { printable!("{} last", unit) } else { unit.into() };
    line.push(
        style::DIM,
        printable!("{}, {} in all", unit, number(series.unit, series.total.value)),
    );
    line
}

fn summary(run: &TrendRun) -> Printable {
    let sessions = human::things(run.sessions, "session");
    let buckets = human::things(run.buckets.len() as u64, run.by.word());
    let changes: usize = run.series.iter().map(|series| series.changes.len()).sum();
    let changes = human::things(changes as u64, "change");
    let span = match (run.buckets.first(), run.buckets.last()) {
        (Some(first), Some(last)) if run.buckets.len() > 1 => {
            printable!(" ({} to {})", &first.name, &last.name)
        }
        _ => Printable::default(),
    };
    let looked = printable!(
        "{} more than chance (at most {:.0} reports in 100 mark any where nothing changes)",
        changes,
        run.level * 100.0
    );
    printable!("{} in {}{}, {}", sessions, buckets, span, looked)
}
