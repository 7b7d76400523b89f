//! A comparison: both runs side by side, regressions first.

use super::{HtmlSection, safe, table, verdict};
use crate::compared::{self, ARROW, signed};
use crate::json::compared::shape;
use crate::shown;
use crate::{ReportError, ReportOptions};
use maud::{Markup, html};
use toolmark_compare::{CaseChange, CaseSide, Comparison, VerdictChange};

/// Maximum number of rows per table without a script.
const MAX_ROWS: usize = 500;

pub(super) fn part(
    comparison: &Comparison,
    options: &ReportOptions,
) -> Result<HtmlSection, ReportError> {
    let title = format!("{} {ARROW} {}", safe(&comparison.before), safe(&comparison.after));
    Ok(HtmlSection {
        page: "compare",
        data: vec![("/api/v1/compare", serde_json::to_value(shape(comparison, options))?)],
        // The page shows them beside the gates.
        notes: Vec::new(),
        tables: tables(comparison, &title),
        title: format!("{title} \u{b7} toolmark"),
    })
}

fn tables(comparison: &Comparison, title: &str) -> Markup {
    html! {
        h1 { (title) }
        @for gate in &comparison.gates {
            p { (verdict(gate.verdict)) " " (gate.fail_on.option()) ": " (safe(&gate.reason)) }
        }
        (super::notes(&comparison.notes))
        @if let Some(graded) = &comparison.graded {
            p {
                (graded.total.regressions) " regressions, " (graded.total.improvements) " improvements"
                @if let Some(score) = &graded.total.score { "; " (compared::score_line(score)) }
                @if let Some(line) = compared::mcnemar_line(&graded.total) { "; " (line) }
            }
            @let changed: Vec<&CaseChange> =
                [VerdictChange::Regression, VerdictChange::Unknown, VerdictChange::Improvement, VerdictChange::Same]
                    .into_iter().flat_map(|change| graded.changed(change)).collect();
            @let rows: Vec<Markup> = changed.iter().take(MAX_ROWS).map(|case| pair(case)).collect();
            @if rows.is_empty() { p { "No case of both runs differs." } } @else {
                (table(&["case", "before", "after", "difference"], &rows, changed.len() - rows.len()))
            }
        }
        @if let Some(checked) = &comparison.checked {
            @for (word, findings) in [("new", &checked.new), ("gone", &checked.gone)] {
                @let rows: Vec<Markup> = findings.iter().take(MAX_ROWS).map(|finding| html! {
                    tr {
                        td { (word) }
                        td { (safe(&finding.code)) " " (safe(&finding.tool)) }
                        th scope="row" { (safe(&finding.message)) }
                    }
                }).collect();
                @if !rows.is_empty() {
                    (table(&["", "rule", "finding"], &rows, findings.len() - rows.len()))
                }
            }
        }
    }
}

fn pair(case: &CaseChange) -> Markup {
    html! {
        tr {
            th scope="row" { (safe(&case.label())) }
            td { (side(&case.before)) }
            td { (side(&case.after)) }
            td { @if let Some(difference) = case.difference { (signed(difference)) } }
        }
    }
}

fn side(side: &CaseSide) -> Markup {
    html! {
        (verdict(side.verdict))
        @if let Some(score) = side.score { " " (shown::score(score)) }
        @if side.trials > 1 { " " (side.passed) " of " (side.trials) " trials" }
    }
}
