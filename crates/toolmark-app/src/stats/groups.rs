//! A row of usage per day, month, project, model or tool.

use super::cells::{self, Money};
use anstyle::Style;
use toolmark_feed::usage::{GroupBy, UsageGroup};
use toolmark_redact::{Printable, printable};
use toolmark_report::Kind;
use toolmark_report::terminal::style;
use toolmark_report::terminal::table::{Cell, Column, Give, Table};

/// A redacted row.
pub type Group = UsageGroup<Printable>;

/// Returns the table of the groups with their sum.
#[must_use]
pub fn table(by: GroupBy, groups: &[Group], total: &Group) -> Table {
    let money = Money::of(&total.spend, total.recorded.usd());
    let mut columns = vec![
        Column::words(by.word()).gives(Give::Start),
        Column::numbers("sessions").leaves(4),
        Column::numbers("calls"),
        Column::numbers("failed"),
        Column::numbers("steps").leaves(2),
        Column::numbers("turns").leaves(1),
        Column::numbers("tokens"),
        Column::numbers("output").leaves(3),
        Column::numbers("time").leaves(5),
    ];
    columns.extend(money.columns());
    let mut table = Table::new(columns);
    for group in groups {
        table.row(row(group, group.name.clone(), money, style::PLAIN));
    }
    table.total(row(total, Some("total".into()), money, style::STRONG));
    table
}

fn row(group: &Group, name: Option<Printable>, money: Money, tone: Style) -> Vec<Cell> {
    let mut cells = vec![
        name.map_or((style::DIM, "not recorded".into()), |name| (tone, name)),
        cells::number(Some(group.sessions), tone),
        cells::number(Some(group.calls), tone),
        cells::number(group.failed, style::BAD),
        cells::number(group.steps, tone),
        cells::number(group.turns, tone),
        cells::count_of(group.tokens.map(|tokens| tokens.total), tone),
        cells::count_of(group.tokens.map(|tokens| tokens.kinds.output), tone),
        cells::time(group.milliseconds, tone),
    ];
    cells.extend(money.cells(&group.spend, group.recorded.usd(), tone));
    cells
}

/// The columns of the machine-readable rows.
pub fn columns(by: GroupBy) -> [(&'static str, Kind); 15] {
    [
        (by.word(), Kind::Text),
        ("sessions", Kind::Whole),
        ("calls", Kind::Whole),
        ("failed", Kind::Whole),
        ("steps", Kind::Whole),
        ("turns", Kind::Whole),
        ("tokens_uncached_input", Kind::Whole),
        ("tokens_cache_read", Kind::Whole),
        ("tokens_cache_write", Kind::Whole),
        ("tokens_output", Kind::Whole),
        ("tokens_reasoning", Kind::Whole),
        ("tokens_total", Kind::Whole),
        ("duration_ms", Kind::Whole),
        ("cost_usd", Kind::Real),
        ("recorded_cost_usd", Kind::Real),
    ]
}

/// The cells of a row, in column order; unknown values are empty.
pub fn record(group: &Group) -> Vec<Printable> {
    let number = |n: Option<u64>| n.map(|n| printable!("{}", n)).unwrap_or_default();
    let tokens = group.tokens;
    let kinds = tokens.map(|tokens| tokens.kinds);
    vec![
        group.name.clone().unwrap_or_default(),
        number(Some(group.sessions)),
        number(Some(group.calls)),
        number(group.failed),
        number(group.steps),
        number(group.turns),
        number(kinds.map(|kinds| kinds.uncached_input)),
        number(kinds.map(|kinds| kinds.cache_read)),
        number(kinds.map(|kinds| kinds.cache_write)),
        number(kinds.map(|kinds| kinds.output)),
        number(kinds.map(|kinds| kinds.reasoning)),
        number(tokens.map(|tokens| tokens.total)),
        number(group.milliseconds),
        cells::money(group.cost()),
        cells::money(group.recorded.usd()),
    ]
}
