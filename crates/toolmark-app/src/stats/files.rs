//! A row of counts per file.
//!
//! Each file is read as a stream: a trajectory is counted and dropped.

use super::cells::{Money, count_of, money, number, time};
use crate::reading::Runs;
use anstyle::Style;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;
use std::collections::BTreeSet;
use toolmark_feed::usage::{Prices, RecordedCost, SessionUsage, Spend, Usd, session_duration};
use toolmark_redact::{Printable, Redactor, printable};
use toolmark_report::ColumnKind;
use toolmark_report::terminal::human;
use toolmark_report::terminal::style;
use toolmark_report::terminal::table::{Give, StyledCell, TableColumn, TerminalTable};
use toolmark_trace::{Fidelity, FileSummary, TokenCounts, Trajectory};

/// The counts of one file; names and order are those of the JSON output. `None` means that the
/// format does not record the value, or that the file could not be read.
#[derive(Debug, Default, Serialize)]
pub struct FileRow {
    file: Printable,
    format: Option<&'static str>,
    trajectories: Option<u64>,
    tool_calls: Option<u64>,
    tool_results: Option<u64>,
    tool_errors: Option<u64>,
    unanswered: Option<u64>,
    orphans: Option<u64>,
    assistant_turns: Option<u64>,
    user_turns: Option<u64>,
    max_parallel: Option<u64>,
    tool_names: Option<BTreeSet<Printable>>,
    tokens: Option<TokenCounts>,
    bad_lines: Option<u64>,
    unknown_records: Option<u64>,
    fidelity_gaps: Option<Fidelity>,
    projects: Option<BTreeSet<Printable>>,
    models: Option<BTreeSet<Printable>>,
    started: Option<String>,
    duration_ms: Option<u64>,
    cost_usd: Option<Usd>,
    recorded_cost_usd: Option<Usd>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Printable>,
    /// Cost of the tokens, and the tokens without a price.
    #[serde(skip)]
    pub spend: Spend,
    #[serde(skip)]
    recorded: RecordedCost,
}

/// Counts in addition to the summary.
#[derive(Default)]
struct Besides {
    projects: BTreeSet<String>,
    models: BTreeSet<String>,
    started: Option<Timestamp>,
    milliseconds: Option<u64>,
    spend: Spend,
    recorded: RecordedCost,
}

impl Besides {
    fn add(&mut self, run: &Trajectory, prices: &Prices) {
        let usage = SessionUsage::of(run);
        self.projects.extend(usage.owner.project.as_deref().map(str::to_owned));
        self.models.extend(usage.owner.model.as_deref().map(str::to_owned));
        let mut last = None;
        for part in &usage.parts {
            // One response after the other is of the same model.
            let model = part.model.as_deref();
            if model != last {
                self.models.extend(model.map(str::to_owned));
                last = model;
            }
            if let Some(tokens) = part.usage.as_ref() {
                self.spend.add(prices.cost(part.model.as_deref(), tokens), tokens.total());
            }
        }
        // What a host writes in place of an answer is of no model.
        self.models.remove("<synthetic>");
        self.started = self.started.into_iter().chain(usage.started).min();
        if let Some(more) = session_duration(run) {
            self.milliseconds = Some(self.milliseconds.unwrap_or(0).saturating_add(more));
        }
        self.recorded.merge(usage.recorded);
    }
}

/// Counts a file. With `joins`, also counts sub-agents in files beside it.
pub fn count(
    runs: &mut Runs<'_>,
    joins: bool,
    prices: &Prices,
    redactor: Redactor,
) -> Option<FileRow> {
    let (mut summary, mut besides) = (FileSummary::default(), Besides::default());
    while let Some(run) = if joins { runs.next() } else { runs.next_bare() } {
        summary.add(&run);
        besides.add(&run, prices);
    }
    if summary.trajectories == 0 && runs.is_filtered() {
        return None;
    }
    let bare = runs.bare();
    summary.end(bare);
    let names = |all: BTreeSet<String>| all.into_iter().map(|name| redactor.apply(name)).collect();
    let (file, format) = (redactor.apply(bare.file()), bare.format().info().id);
    let tool_names = summary.tools.keys().map(|name| redactor.apply(name)).collect();
    let row = FileRow::new(file, format, bare.skipped(), &summary);
    let spend = besides.spend.redact(redactor);
    Some(FileRow {
        tool_names: Some(tool_names),
        projects: Some(names(besides.projects)),
        models: Some(names(besides.models)),
        started: besides.started.map(|time| time.to_string()),
        duration_ms: besides.milliseconds,
        cost_usd: spend.usd(),
        recorded_cost_usd: besides.recorded.usd(),
        spend,
        recorded: besides.recorded,
        ..row
    })
}

impl FileRow {
    /// Returns the row of a file that could not be read, with the error.
    pub fn unreadable(file: Printable, error: Printable) -> Self {
        Self { file, error: Some(error), ..Self::default() }
    }

    fn new(file: Printable, format: &'static str, bad_lines: u64, summary: &FileSummary) -> Self {
        Self {
            file,
            format: Some(format),
            trajectories: Some(summary.trajectories),
            tool_calls: summary.known_calls(),
            tool_results: Some(summary.tool_results),
            tool_errors: summary.tool_errors,
            unanswered: Some(summary.unanswered),
            orphans: Some(summary.orphans),
            assistant_turns: summary.assistant_turns,
            user_turns: summary.user_turns,
            max_parallel: summary.max_parallel,
            tool_names: None,
            tokens: summary.tokens,
            bad_lines: Some(bad_lines),
            unknown_records: Some(summary.unknown_records),
            fidelity_gaps: Some(summary.fidelity),
            ..Self::default()
        }
    }

    /// Returns the sums of the known values of all rows.
    fn total(rows: &[Self]) -> Self {
        let sum = |field: fn(&Self) -> Option<u64>| {
            rows.iter().filter_map(field).reduce(u64::saturating_add)
        };
        let names = |field: fn(&Self) -> Option<&BTreeSet<Printable>>| {
            let names = rows.iter().filter_map(field);
            names.fold(None, |all: Option<BTreeSet<Printable>>, one| {
                let mut all = all.unwrap_or_default();
                all.extend(one.iter().cloned());
                Some(all)
            })
        };
        let (mut spend, mut recorded) = (Spend::default(), RecordedCost::default());
        for row in rows {
            spend.merge(&row.spend);
            recorded.merge(row.recorded);
        }
        let tokens = rows.iter().filter_map(|r| r.tokens).reduce(|mut sum, one| {
            sum.recorded.add(one.recorded);
            sum.total = sum.total.saturating_add(one.total);
            sum
        });
        Self {
            file: "total".into(),
            format: None,
            trajectories: sum(|r| r.trajectories),
            tool_calls: sum(|r| r.tool_calls),
            tool_results: sum(|r| r.tool_results),
            tool_errors: sum(|r| r.tool_errors),
            unanswered: sum(|r| r.unanswered),
            orphans: sum(|r| r.orphans),
            assistant_turns: sum(|r| r.assistant_turns),
            user_turns: sum(|r| r.user_turns),
            max_parallel: rows.iter().filter_map(|r| r.max_parallel).max(),
            tool_names: names(|r| r.tool_names.as_ref()),
            tokens,
            bad_lines: sum(|r| r.bad_lines),
            unknown_records: sum(|r| r.unknown_records),
            fidelity_gaps: rows.iter().filter_map(|r| r.fidelity_gaps).reduce(Fidelity::union),
            projects: names(|r| r.projects.as_ref()),
            models: names(|r| r.models.as_ref()),
            started: None,
            duration_ms: sum(|r| r.duration_ms),
            cost_usd: spend.usd(),
            recorded_cost_usd: recorded.usd(),
            error: None,
            spend,
            recorded,
        }
    }
}

/// The columns of the machine-readable rows.
pub const COLUMNS: &[(&str, ColumnKind)] = &[
    ("file", ColumnKind::Text),
    ("format", ColumnKind::Text),
    ("trajectories", ColumnKind::Whole),
    ("tool_calls", ColumnKind::Whole),
    ("tool_results", ColumnKind::Whole),
    ("tool_errors", ColumnKind::Whole),
    ("unanswered", ColumnKind::Whole),
    ("orphans", ColumnKind::Whole),
    ("assistant_turns", ColumnKind::Whole),
    ("user_turns", ColumnKind::Whole),
    ("max_parallel", ColumnKind::Whole),
    ("tool_names", ColumnKind::Text),
    ("tokens_input", ColumnKind::Whole),
    ("tokens_output", ColumnKind::Whole),
    ("tokens_cache_read", ColumnKind::Whole),
    ("tokens_cache_write", ColumnKind::Whole),
    ("tokens_reasoning", ColumnKind::Whole),
    ("tokens_total", ColumnKind::Whole),
    ("bad_lines", ColumnKind::Whole),
    ("unknown_records", ColumnKind::Whole),
    ("fidelity_gaps", ColumnKind::Text),
    ("projects", ColumnKind::Text),
    ("models", ColumnKind::Text),
    ("started", ColumnKind::Text),
    ("duration_ms", ColumnKind::Whole),
    ("cost_usd", ColumnKind::Real),
    ("recorded_cost_usd", ColumnKind::Real),
    ("error", ColumnKind::Text),
];

/// The cells of a row, in column order; unknown values are empty.
pub fn record(row: &FileRow) -> Vec<Printable> {
    let number = |n: Option<u64>| n.map(|n| printable!("{}", n)).unwrap_or_default();
    let tokens = |field: fn(&TokenCounts) -> u64| number(row.tokens.as_ref().map(field));
    let gaps = row
        .fidelity_gaps
        .map(|f| f.missing().map(|fact| Printable::from(fact.word())).collect::<Vec<_>>());
    vec![
        row.file.clone(),
        row.format.unwrap_or_default().into(),
        number(row.trajectories),
        number(row.tool_calls),
        number(row.tool_results),
        number(row.tool_errors),
        number(row.unanswered),
        number(row.orphans),
        number(row.assistant_turns),
        number(row.user_turns),
        number(row.max_parallel),
        row.tool_names.as_ref().map(|names| as_list(names.iter())).unwrap_or_default(),
        tokens(|t| t.recorded.input),
        tokens(|t| t.recorded.output),
        tokens(|t| t.recorded.cache_read),
        tokens(|t| t.recorded.cache_write),
        tokens(|t| t.recorded.reasoning),
        tokens(|t| t.total),
        number(row.bad_lines),
        number(row.unknown_records),
        gaps.map(|gaps| as_list(gaps.iter())).unwrap_or_default(),
        row.projects.as_ref().map(|names| as_list(names.iter())).unwrap_or_default(),
        row.models.as_ref().map(|names| as_list(names.iter())).unwrap_or_default(),
        row.started
            .as_deref()
            .map(|time| Printable::compose(format_args!("{time}")))
            .unwrap_or_default(),
        number(row.duration_ms),
        money(row.cost_usd),
        money(row.recorded_cost_usd),
        row.error.clone().unwrap_or_default(),
    ]
}

/// Formats names as a JSON list, because a name may contain spaces and commas.
fn as_list<'p>(names: impl Iterator<Item = &'p Printable>) -> Printable {
    let quote = |name: &Printable| name.reshape(|name| serde_json::Value::from(name).to_string());
    let names: Vec<Printable> = names.map(quote).collect();
    printable!("[{}]", Printable::join(&names, ","))
}

/// Returns the table of all rows with their sums; `None` without rows.
#[must_use]
pub fn table(rows: &[FileRow]) -> Option<TerminalTable> {
    if rows.is_empty() {
        return None;
    }
    let total = FileRow::total(rows);
    let money = Money::of(&total.spend, total.recorded_cost_usd);
    let format = TableColumn::words("format");
    // The column is needed to mark files that could not be read.
    let is_needed = rows.iter().any(|row| row.error.is_some());
    let mut columns = vec![
        TableColumn::words("file").gives(Give::Start),
        if is_needed { format } else { format.leaves(9) },
        TableColumn::words("date").leaves(15),
        TableColumn::words("project").leaves(10),
        TableColumn::words("model").leaves(13),
        TableColumn::numbers("runs").leaves(8),
        TableColumn::numbers("calls"),
        TableColumn::numbers("results").leaves(4),
        TableColumn::numbers("failed"),
        TableColumn::numbers("unanswered").leaves(5),
        TableColumn::numbers("orphans").leaves(3),
        TableColumn::numbers("steps").leaves(12),
        TableColumn::numbers("turns").leaves(11),
        TableColumn::numbers("parallel").leaves(6),
        TableColumn::numbers("tools").leaves(7),
        TableColumn::numbers("tokens"),
        TableColumn::numbers("time").leaves(14),
    ];
    columns.extend(money.columns());
    columns.extend([
        TableColumn::numbers("skipped").leaves(2),
        TableColumn::numbers("gaps").leaves(1),
    ]);
    let mut table = TerminalTable::new(columns);
    for row in rows {
        table.row(table_row(row, money, style::PLAIN));
    }
    table.total(table_row(&total, money, style::STRONG));
    Some(table)
}

fn table_row(row: &FileRow, money: Money, tone: Style) -> Vec<StyledCell> {
    if row.error.is_some() {
        return vec![(style::PLAIN, row.file.clone()), (style::BAD, "unreadable".into())];
    }
    let gaps = row.fidelity_gaps.map(|f| f.missing().count() as u64);
    let mut cells = vec![
        (tone, row.file.clone()),
        (tone, row.format.unwrap_or_default().into()),
        date(row.started.as_deref(), tone),
        named(row.projects.as_ref(), "project", tone),
        named(row.models.as_ref(), "model", tone),
        number(row.trajectories, tone),
        number(row.tool_calls, tone),
        number(row.tool_results, tone),
        number(row.tool_errors, style::BAD),
        number(row.unanswered, style::WARN),
        number(row.orphans, style::WARN),
        number(row.assistant_turns, tone),
        number(row.user_turns, tone),
        number(row.max_parallel, tone),
        number(row.tool_names.as_ref().map(|t| t.len() as u64), tone),
        count_of(row.tokens.map(|tokens| tokens.total), tone),
        time(row.duration_ms, tone),
    ];
    cells.extend(money.cells(&row.spend, row.recorded_cost_usd, tone));
    cells.extend([number(row.bad_lines, style::WARN), number(gaps, tone)]);
    cells
}

/// The start date, in UTC.
fn date(started: Option<&str>, tone: Style) -> StyledCell {
    let time = started.and_then(|time| time.parse::<Timestamp>().ok());
    match time {
        Some(time) => {
            let day = time.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d");
            (tone, Printable::compose(format_args!("{day}")))
        }
        None => (style::DIM, "".into()),
    }
}

/// The only name (for a project, its last directory), or the number of names.
fn named(names: Option<&BTreeSet<Printable>>, what: &'static str, tone: Style) -> StyledCell {
    let names = names.map(|names| (names.first(), names.len()));
    match names {
        Some((Some(only), 1)) => {
            let is_path = only.starts_with('/') || only.contains('\\');
            let end = |name: &str| match is_path {
                true => name.rsplit(['/', '\\']).next().unwrap_or(name).to_owned(),
                false => name.to_owned(),
            };
            (tone, only.reshape(end))
        }
        Some((_, count @ 2..)) => (style::DIM, human::things(count as u64, what)),
        _ => (style::DIM, "\u{2013}".into()),
    }
}
