//! Names, numbers and changes of measures over time, for reports for people.

use crate::model::{PrintableChange, Series};
use crate::terminal::human;
use jiff::SignedDuration;
use toolmark_feed::trend::{Better, NumberUnit};
use toolmark_outcome::{Printable, printable};

/// The name of a measure, with its tool.
pub(crate) fn name(series: &Series) -> Printable {
    let measure = Printable::compose(format_args!("{}", series.measure));
    match &series.tool {
        Some(tool) => printable!("{} of {}", measure, tool),
        None => measure,
    }
}

/// Formats a number with its unit.
pub(crate) fn number(unit: NumberUnit, value: f64) -> Printable {
    match unit {
        NumberUnit::Share => printable!("{:.1} %", value * 100.0),
        NumberUnit::Per100 => printable!("{:.2}", value),
        NumberUnit::Milliseconds if value < 1000.0 => printable!("{:.0}ms", value),
        NumberUnit::Milliseconds => {
            human::duration(SignedDuration::from_millis(value.round() as i64))
        }
        NumberUnit::Tokens => human::count(value.round() as u64),
        NumberUnit::Usd => human::usd(value),
    }
}

/// Whether a change is for the worse; `None` for measures without a good direction.
pub(crate) fn is_worse(series: &Series, change: &PrintableChange) -> Option<bool> {
    match series.better {
        Better::Higher => Some(change.after < change.before),
        Better::Lower => Some(change.after > change.before),
        Better::Neither => None,
    }
}

/// Formats a change: `since 2026-W12: 10.0 % → 50.0 % (p 0.001)`.
pub(crate) fn change(series: &Series, change: &PrintableChange) -> Printable {
    printable!(
        "since {}: {} \u{2192} {} (p {:.3})",
        &change.at,
        number(series.unit, change.before),
        number(series.unit, change.after),
        change.p
    )
}

/// Other changes at the same time: `version a 1.0 → a 1.1; model m first seen`.
pub(crate) fn suspects(change: &PrintableChange) -> Option<Printable> {
    let one = |suspect: &toolmark_feed::trend::Suspect<Printable>| match &suspect.from {
        Some(from) => printable!("{} {} \u{2192} {}", suspect.what, from, &suspect.to),
        None => printable!("{} {} first seen", suspect.what, &suspect.to),
    };
    let all: Vec<Printable> = change.suspects.iter().map(one).collect();
    (!all.is_empty()).then(|| Printable::join(&all, "; "))
}
