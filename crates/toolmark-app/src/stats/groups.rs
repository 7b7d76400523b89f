//! A row of usage per day, month, project, model or tool.

use super::cells::{self, Money};
use anstyle::Style;
use toolmark_feed::usage::{GroupBy, UsageGroup};
use toolmark_redact::{Printable, printable};
use toolmark_report::ColumnKind;
use toolmark_report::terminal::style;
use toolmark_report::terminal::table::{Give, StyledCell, TableColumn, TerminalTable};

/// A redacted row.
pub type StatsGroup = UsageGroup<Printable>;

/// Returns the table of the groups with their sum.
#[must_use]
pub fn table(by: GroupBy, groups: &[StatsGroup], total: &StatsGroup) -> TerminalTable {
    let money = Money::of(&total.spend, total.recorded.usd());
    let mut columns = vec![
        TableColumn::words(by.word()).gives(Give::Start),
        TableColumn::numbers("sessions").leaves(4),
        TableColumn::numbers("calls"),
        TableColumn::numbers("failed"),
        TableColumn::numbers("steps").leaves(2),
        TableColumn::numbers("turns").leaves(1),
        TableColumn::numbers("tokens"),
        TableColumn::numbers("output").leaves(3),
        TableColumn::numbers("time").leaves(5),
    ];
    columns.extend(money.columns());
    let mut table = TerminalTable::new(columns);
    for group in groups {
        table.row(row(group, group.name.clone(), money, style::PLAIN));
    }
    table.total(row(total, Some("total".into()), money, style::STRONG));
    table
}

fn row(group: &StatsGroup, name: Option<Printable>, money: Money, tone: Style) -> Vec<StyledCell> {
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
pub fn columns(by: GroupBy) -> [(&'static str, ColumnKind); 15] {
    [
        (by.word(), ColumnKind::Text),
        ("sessions", ColumnKind::Whole),
        ("calls", ColumnKind::Whole),
        ("failed", ColumnKind::Whole),
        ("steps", ColumnKind::Whole),
        ("turns", ColumnKind::Whole),
        ("tokens_uncached_input", ColumnKind::Whole),
        ("tokens_cache_read", ColumnKind::Whole),
        ("tokens_cache_write", ColumnKind::Whole),
        ("tokens_output", ColumnKind::Whole),
        ("tokens_reasoning", ColumnKind::Whole),
        ("tokens_total", ColumnKind::Whole),
        ("duration_ms", ColumnKind::Whole),
        ("cost_usd", ColumnKind::Real),
        ("recorded_cost_usd", ColumnKind::Real),
    ]
}

/// The cells of a row, in column order; unknown values are empty.
pub fn record(group: &StatsGroup) -> Vec<Printable> {
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
