//! The alignment of expectations and calls, side by side.

use crate::model::{Explanation, PrintableRow};
use crate::shown;
use crate::terminal::text::{TextLayout, width};
use crate::terminal::{StyledLine, style};
use anstyle::Style;
use toolmark_outcome::{Printable, RowState, printable};

/// Maximum length of a run of rows of the same kind that is not shortened.
const RUN: usize = 6;
/// Number of rows kept at the start and at the end of a shortened run.
const KEPT_ROWS: (usize, usize) = (2, 1);
/// Maximum number of drawn rows.
const MAX_ROWS: usize = 400;
/// Minimum width of a column.
const NARROWEST: usize = 12;

/// Content of one line.
#[derive(Debug, PartialEq)]
pub(crate) enum Drawn<'e> {
    /// A row, and whether it is the first divergence.
    Row(&'e PrintableRow, bool),
    /// Number of omitted rows, and their state if it is the same for all.
    Gap(usize, Option<RowState>),
}

/// Returns the rows to draw: long runs of the same kind are shortened, but never around the first
/// divergence.
pub(crate) fn drawn(explanation: &Explanation, all: bool) -> Vec<Drawn<'_>> {
    let rows = &explanation.rows;
    let divergence = explanation.divergence;
    let mut out = Vec::new();
    let mut at = 0;
    let is_first = |at: usize| divergence == Some(at);
    for run in rows.chunk_by(|a, b| a.state == b.state) {
        let end = at + run.len();
        let holds = divergence.is_some_and(|d| (at..end).contains(&d));
        let short = !all && run.len() > RUN && (!holds || is_first(at));
        let gap = at + KEPT_ROWS.0..end.saturating_sub(KEPT_ROWS.1);
        for (offset, row) in run.iter().enumerate() {
            let place = at + offset;
            if !short || !gap.contains(&place) {
                out.push(Drawn::Row(row, is_first(place)));
            } else if place == gap.start {
                out.push(Drawn::Gap(gap.len(), Some(row.state)));
            }
        }
        at = end;
    }
    if out.len() > MAX_ROWS {
        let more = out.len() - MAX_ROWS;
        out.truncate(MAX_ROWS);
        out.push(Drawn::Gap(more, None));
    }
    out
}

/// Symbol of a row state, unambiguous without colour.
pub(crate) fn sign(state: RowState) -> &'static str {
    match state {
        RowState::Matched => "\u{2713}",
        RowState::Mismatched => "\u{2260}",
        RowState::Missing => "\u{2212}",
        RowState::Skipped => "\u{b7}",
        RowState::Extra => "+",
        RowState::Forbidden => "\u{2717}",
        RowState::Unknown => "?",
    }
}

fn colour(state: RowState) -> Style {
    match state {
        RowState::Matched => style::GOOD,
        RowState::Mismatched | RowState::Missing | RowState::Forbidden => style::BAD,
        RowState::Extra | RowState::Unknown => style::WARN,
        RowState::Skipped => style::DIM,
    }
}

/// Text of a gap.
pub(crate) fn gap(rows: usize, state: Option<RowState>) -> Printable {
    match state {
        Some(state) => printable!("\u{2026} {} more {}", rows, state.word()),
        None => printable!("\u{2026} {}", shown::things(rows as u64, "more row")),
    }
}

/// Text about the calls without a row.
pub(crate) fn elided(explanation: &Explanation) -> Option<Printable> {
    (explanation.elided > 0).then(|| {
        printable!("\u{2026} {} not shown", shown::things(explanation.elided as u64, "extra call"))
    })
}

/// Source position of the first divergence in the trace.
pub(crate) fn divergence(explanation: &Explanation) -> Option<Printable> {
    let row = explanation.rows.get(explanation.divergence?)?;
    let at = row.call.as_ref().and_then(|call| call.place.as_ref()).map(shown::in_trace);
    Some(match at {
        Some(at) => printable!("first divergence, {}", at),
        None => "first divergence".into(),
    })
}

/// Formats the alignment in lines of at most `limit` columns:
///
/// ```text
///     expected      │ made
///   ✓ lookup        │ #1 lookup {"id":7}
/// ▸ ≠ refund 10     │ #2 refund {"amount":12}
///     amount is 12
/// ▸ first divergence, trace.jsonl:14
/// ```
pub(crate) fn lines(explanation: &Explanation, limit: usize, all: bool) -> Vec<StyledLine> {
    let rows = drawn(explanation, all);
    let widest = rows
        .iter()
        .filter_map(|drawn| match drawn {
            Drawn::Row(row, _) => Some(row.expected.as_ref()?.width()),
            Drawn::Gap(..) => None,
        })
        .max()
        .unwrap_or(0)
        .max(width("expected"));
    let room = limit.saturating_sub(7);
    let left = widest.min((room / 2).max(NARROWEST));
    let right = room.saturating_sub(left).max(NARROWEST);
    let mut lines = Vec::new();
    let mut head = StyledLine::of(style::DIM, "    expected");
    head.pad(4 + left);
    lines.push(head.with(style::DIM, " \u{2502} made"));
    for drawn in rows {
        let (row, first) = match drawn {
            Drawn::Gap(rows, state) => {
                lines.push(StyledLine::of(style::DIM, printable!("    {}", gap(rows, state))));
                continue;
            }
            Drawn::Row(row, first) => (row, first),
        };
        let tone = if first { style::STRONG } else { style::PLAIN };
        let mut line = StyledLine::of(style::BAD, if first { "\u{25b8} " } else { "  " })
            .with(colour(row.state), sign(row.state))
            .with(style::PLAIN, " ")
            .with(tone, row.expected.as_ref().map(|words| words.cut(left)).unwrap_or_default());
        line.pad(4 + left);
        line.push(style::DIM, " \u{2502} ");
        if let Some(call) = &row.call {
            line.push(tone, call.summary().cut(right));
        }
        lines.push(line);
        if let Some(why) = &row.why {
            for piece in why.wrap(limit.saturating_sub(6)) {
                lines.push(StyledLine::of(style::DIM, "      ").with(colour(row.state), piece));
            }
        }
    }
    lines.extend(
        elided(explanation).map(|words| StyledLine::of(style::DIM, printable!("    {}", words))),
    );
    if let Some(words) = divergence(explanation) {
        lines.push(StyledLine::of(style::BAD, "\u{25b8} ").with(style::DIM, words).fit(limit));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(state: RowState) -> PrintableRow {
        PrintableRow { expected: Some("a".into()), call: None, state, why: None }
    }

    #[test]
    fn long_runs_are_shortened_but_not_the_divergence() {
        let mut rows = vec![row(RowState::Matched); 10];
        rows.push(row(RowState::Missing));
        rows.extend(vec![row(RowState::Extra); 3]);
        let mut explanation =
            Explanation { rows, elided: 0, divergence: Some(10), repair: Vec::new() };
        let shape = |explanation: &Explanation, all| -> Vec<String> {
            drawn(explanation, all)
                .iter()
                .map(|drawn| match drawn {
                    Drawn::Row(row, first) => {
                        format!("{}{}", if *first { ">" } else { "" }, sign(row.state))
                    }
                    Drawn::Gap(n, _) => format!("..{n}"),
                })
                .collect()
        };
        assert_eq!(
            shape(&explanation, false),
            ["\u{2713}", "\u{2713}", "..7", "\u{2713}", ">\u{2212}", "+", "+", "+"]
        );
        assert_eq!(shape(&explanation, true).len(), 14);
        explanation.divergence = Some(5);
        assert_eq!(shape(&explanation, false).len(), 14, "the divergence is in the run");
        explanation.rows = (0..2000)
            .map(|n| row(if n % 2 == 0 { RowState::Matched } else { RowState::Extra }))
            .collect();
        assert_eq!(shape(&explanation, true).last().unwrap(), "..1600");
    }

    #[test]
    fn lines_keep_to_the_width() {
        let mut long = row(RowState::Mismatched);
        long.expected = Some(Printable::from("日本").reshape(|word| word.repeat(80)));
        long.why = Some(Printable::from("word ").reshape(|word| word.repeat(60)));
        let explanation =
            Explanation { rows: vec![long], elided: 3, divergence: Some(0), repair: Vec::new() };
        for limit in [40, 60, 100] {
            for line in lines(&explanation, limit, false) {
                assert!(line.width() <= limit, "{limit}: {line:?}");
            }
        }
    }
}
