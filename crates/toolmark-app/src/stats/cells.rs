//! Table cells shared by both tables of `toolmark stats`.

use anstyle::Style;
use jiff::SignedDuration;
use toolmark_feed::usage::{Spend, Usd};
use toolmark_redact::{Printable, printable};
use toolmark_report::terminal::human;
use toolmark_report::terminal::style;
use toolmark_report::terminal::table::{StyledCell, TableColumn};

/// A placeholder for an unknown value.
fn unknown() -> StyledCell {
    (style::DIM, "\u{2013}".into())
}

/// A count.
pub(super) fn number(n: Option<u64>, tone: Style) -> StyledCell {
    match n {
        None => unknown(),
        Some(0) => (style::DIM, "0".into()),
        Some(n) => (tone, printable!("{}", n)),
    }
}

/// A large count with a unit letter.
pub(super) fn count_of(n: Option<u64>, tone: Style) -> StyledCell {
    n.map_or_else(unknown, |n| (tone, human::count(n)))
}

/// A duration.
pub(super) fn time(milliseconds: Option<u64>, tone: Style) -> StyledCell {
    match milliseconds {
        Some(ms) => {
            let took = SignedDuration::from_millis(ms.try_into().unwrap_or(i64::MAX));
            (tone, human::duration(took))
        }
        None => unknown(),
    }
}

/// Cost columns of a table: those with at least one known value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Money {
    has_cost: bool,
    has_recorded: bool,
}

impl Money {
    pub(super) fn of(total: &Spend, recorded: Option<Usd>) -> Self {
        Self { has_cost: total.known_usd().is_some(), has_recorded: recorded.is_some() }
    }

    pub(super) fn columns(self) -> impl Iterator<Item = TableColumn> {
        let cost = self.has_cost.then(|| TableColumn::numbers("cost").leaves(16));
        let recorded = self.has_recorded.then(|| TableColumn::numbers("recorded").leaves(16));
        cost.into_iter().chain(recorded)
    }

    pub(super) fn cells(
        self,
        spend: &Spend,
        recorded_usd: Option<Usd>,
        tone: Style,
    ) -> impl Iterator<Item = StyledCell> {
        let spent = self.has_cost.then(|| cost(spend, tone));
        spent.into_iter().chain(self.has_recorded.then(|| recorded(recorded_usd, tone)))
    }
}

/// Cost of tokens; a lower bound if some of them have no price.
fn cost(spend: &Spend, tone: Style) -> StyledCell {
    match (spend.usd(), spend.known_usd()) {
        (Some(Usd(usd)), _) => (tone, human::usd(usd)),
        (None, Some(Usd(usd))) if usd > 0.0 => {
            (style::WARN, printable!("\u{2265} {}", human::usd(usd)))
        }
        _ => unknown(),
    }
}

/// Cost recorded in a trace.
fn recorded(usd: Option<Usd>, tone: Style) -> StyledCell {
    usd.map_or_else(unknown, |Usd(usd)| (tone, human::usd(usd)))
}

/// An amount for a spreadsheet; empty if unknown.
pub(super) fn money(usd: Option<Usd>) -> Printable {
    usd.map(|Usd(usd)| printable!("{:.6}", usd)).unwrap_or_default()
}
