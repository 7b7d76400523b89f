//! Cases against graders, one sign each.

use super::{anchor, badge, safe};
use crate::model::GraderResult;
use crate::shown::{self, Shown};
use crate::terminal::text::cut;
use maud::{Markup, html};
use std::collections::BTreeMap;
use toolmark_outcome::{Verdict, printable};

/// More columns than this are drawn by type of grader instead of by name.
const MOST_NAMES: usize = 24;
/// No more columns than this.
const MOST_COLUMNS: usize = 60;
/// No more rows than this; what did not pass comes first.
const MOST_ROWS: usize = 2000;
/// More columns than this stand upright.
const FLAT: usize = 6;
/// How many characters of a reason a cell says.
const REASON: usize = 160;

pub(super) fn table(outcomes: &[Shown<'_>]) -> Markup {
    let by_name = columns(outcomes, |grader| &grader.name);
    let (key, keys): (fn(&GraderResult) -> &str, _) = if by_name.len() <= MOST_NAMES {
        (|grader| &grader.name, by_name)
    } else {
        (|grader| &grader.type_word, columns(outcomes, |grader| &grader.type_word))
    };
    let mut rows: Vec<usize> = (0..outcomes.len()).collect();
    if rows.len() > MOST_ROWS {
        rows.sort_by_key(|at| outcomes[*at].result.verdict == Verdict::Pass);
        rows.truncate(MOST_ROWS);
        rows.sort_unstable();
    }
    let columns = &keys[..keys.len().min(MOST_COLUMNS)];
    html! {
        section aria-label="Cases and graders" class="panel matrix" {
            // It takes the focus so that arrow keys can move it.
            div class="scroll tall" tabindex="0" role="region" aria-label="Cases and graders" {
                table class=(if columns.len() > FLAT { "upright" } else { "flat" }) {
                    thead { tr {
                        th scope="col" class="case-name" { "case" }
                        th scope="col" { span { "verdict" } }
                        th scope="col" { span { "score" } }
                        @for name in columns {
                            th scope="col" title=(safe(name)) { span { (safe(&cut(name, 40))) } }
                        }
                    } }
                    tbody { @for at in &rows { (row(*at, &outcomes[*at], columns, key)) } }
                }
            }
            @if outcomes.len() > rows.len() {
                p class="dim" { "… " (outcomes.len() - rows.len()) " more passed" }
            }
            @if keys.len() > columns.len() {
                p class="dim" { "… " (keys.len() - columns.len()) " more types of graders" }
            }
        }
    }
}

/// The columns in the order of the spec.
fn columns<'r>(outcomes: &[Shown<'r>], key: fn(&'r GraderResult) -> &'r str) -> Vec<&'r str> {
    let mut seen = BTreeMap::new();
    for grader in outcomes.iter().flat_map(|shown| &shown.result.graders) {
        let next = seen.len();
        seen.entry(key(grader)).or_insert(next);
    }
    let mut columns: Vec<(&str, usize)> = seen.into_iter().collect();
    columns.sort_by_key(|(_, place)| *place);
    columns.into_iter().map(|(name, _)| name).collect()
}

fn row(at: usize, shown: &Shown<'_>, columns: &[&str], key: fn(&GraderResult) -> &str) -> Markup {
    let result = shown.result;
    let mut cells: BTreeMap<&str, Vec<&GraderResult>> = BTreeMap::new();
    for grader in &result.graders {
        cells.entry(key(grader)).or_default().push(grader);
    }
    html! {
        tr class={ "case " (result.verdict.word()) } {
            th scope="row" class="case-name" title=(safe(&shown.title)) {
                a href={ "#" (anchor(at)) } { (safe(&cut(&shown.title, 60))) }
            }
            td { (badge(result.verdict)) }
            td class="num" { (result.score.map_or("–".into(), shown::score)) }
            @for column in columns { (cell(cells.get(column).map_or(&[], Vec::as_slice))) }
        }
    }
}

/// The answers of the graders of one column, of which the worst is shown.
fn cell(graders: &[&GraderResult]) -> Markup {
    let Some(worst) = graders.iter().min_by_key(|grader| match grader.outcome.verdict {
        Verdict::Fail => 0,
        Verdict::Unknown(_) => 1,
        Verdict::Pass => 2,
    }) else {
        return html! { td {} };
    };
    let verdict = worst.outcome.verdict;
    let reason = printable!("{}: {}", worst.name, worst.outcome.reason);
    html! {
        td title=(safe(&cut(&reason, REASON))) {
            span class={ "sign " (verdict.word()) } { (shown::sign(verdict)) }
            @if graders.len() > 1 { span class="dim" { (graders.len()) } }
        }
    }
}
