//! Text for gate rows and scorecard cells, for reports for people.

use crate::model::GateRow;
use toolmark_check::{Destructive, ScoreTally, ToolCard};
use toolmark_outcome::{Printable, Verdict, printable};

/// A share in percent; values just below 100 are not rounded up to it.
pub(crate) fn percent(share: f64) -> Printable {
    let whole = if share < 1.0 - 1e-9 { (share * 100.0).floor() } else { 100.0 };
    printable!("{:.0}%", whole)
}

/// Formats the value of a gate with its interval: `0.91 (0.62–0.98) of 12`.
pub(crate) fn value(row: &GateRow) -> Printable {
    match (row.value, row.interval) {
        (Some(value), Some((low, high))) => {
            // Rounded down, so that nothing seems to reach what it does not.
            let shown = (value * 1000.0 + 1e-6).floor() / 1000.0;
            printable!("{} ({:.2}\u{2013}{:.2}) of {}", shown, low, high, row.n)
        }
        _ => "unknown".into(),
    }
}

/// Additional text of a gate: why it is unknown, and how it compares with the previous run.
pub(crate) fn besides(row: &GateRow) -> Option<Printable> {
    match (&row.baseline, row.verdict) {
        (Some(compared), Verdict::Fail) if row.reason.contains("regression") => {
            Some(printable!("regression: {}", compared))
        }
        (Some(compared), Verdict::Unknown(_)) => {
            Some(printable!("{}; baseline: {}", row.reason, compared))
        }
        (Some(compared), _) => Some(printable!("baseline: {}", compared)),
        (None, Verdict::Unknown(_)) => Some(row.reason.clone()),
        _ => None,
    }
}

/// Explanation of the scorecard columns, as a sentence below a table.
pub(crate) const LEGEND: &str = "Share of the checked calls without a fault, how many calls were \
     checked, and the 95 % confidence interval. Irreversibility scores destructive calls: named \
     before 1, acknowledged only after 0.5, blind 0. \u{2013} means nothing to check";

/// Explanation for a terminal: one fact per line, each within 80 columns.
pub(crate) const LEGEND_LINES: [&str; 3] = [
    "selection: the right tool \u{b7} arguments: valid \u{b7} recovery: reacts well to errors",
    "irreversibility: destructive calls, named before 1, only after 0.5, blind 0",
    "\u{2013} = nothing to check, not a pass \u{b7} \u{2717} = error \u{b7} ! = warning",
];

/// The destructive calls by when they were named; `None` if there are none.
pub(crate) fn destructive(card: &ToolCard) -> Option<Printable> {
    let Destructive { named, acknowledged, blind } = card.destructive;
    (card.destructive.count() > 0).then(|| {
        printable!(
            "destructive calls: {} named before, {} acknowledged after, {} blind",
            named,
            acknowledged,
            blind
        )
    })
}

/// Formats a cell of the scorecard: `50% (9–90) of 2`; a dash if nothing was counted.
pub(crate) fn cell(tally: ScoreTally) -> Printable {
    match (tally.rate(), tally.interval()) {
        (Some(rate), Some((low, high))) => {
            let low = percent(low).reshape(|low| low.trim_end_matches('%'));
            printable!("{} ({}\u{2013}{}) of {}", percent(rate), low, percent(high), tally.of)
        }
        _ => "\u{2013}".into(),
    }
}
