//! Results as table rows: one row per outcome and finding, or per grader and call. There is no row
//! of totals, lists are JSON, and unknown values are empty. `docs/tables.md` lists the columns.

use crate::model::{
    CallRow, CaseResult, GraderResult, Issue, PrintableFinding, PrintableListing, Series, TrendRun,
};
use crate::terminal::text::sanitize;
use crate::trends::suspects;
use crate::{Report, ReportError, ReportOptions, RowContent};
use std::io::{self, Write};
use toolmark_outcome::Printable;

/// Version of all tables. Adding a column keeps the version; removing, renaming or redefining one
/// increments it.
pub(crate) const VERSION: u32 = 1;

/// Type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// UTF-8.
    Text,
    /// An integer.
    Whole,
    /// A number.
    Real,
    /// A boolean.
    Flag,
}

/// A cell; `None` is an unknown value.
#[derive(Debug, Clone, PartialEq)]
pub enum TableCell {
    /// Text.
    Text(Option<String>),
    /// An integer.
    Whole(Option<i64>),
    /// A number.
    Real(Option<f64>),
    /// A boolean.
    Flag(Option<bool>),
}

impl TableCell {
    /// Returns a cell with redacted text.
    #[must_use]
    pub fn printable(text: Option<&Printable>) -> Self {
        some_text(text.map(|text| &**text))
    }

    /// Returns a cell with an integer.
    #[must_use]
    pub fn count(number: Option<u64>) -> Self {
        whole(number)
    }
}

/// The cells of one row, with their columns.
pub type TableRow = Vec<(&'static str, TableCell)>;

/// Rows that are created on demand; some are read from a file.
type BoxedRows<'r> = Box<dyn Iterator<Item = io::Result<TableRow>> + 'r>;

/// A table whose rows are created while they are written.
pub struct RowTable<'r> {
    /// Name of the rows: `findings`, `calls`, `outcomes` …
    pub(crate) name: String,
    /// The columns, in order.
    pub(crate) columns: Vec<(&'static str, ColumnKind)>,
    rows: BoxedRows<'r>,
}

impl<'r> RowTable<'r> {
    /// Returns a table with these rows.
    #[must_use]
    pub fn of(
        name: &str,
        columns: &[(&'static str, ColumnKind)],
        rows: impl IntoIterator<Item = TableRow, IntoIter: 'r>,
    ) -> Self {
        let rows = Box::new(rows.into_iter().map(Ok));
        Self { name: name.to_owned(), columns: columns.to_vec(), rows }
    }

    /// Writes the table as Parquet.
    pub fn write_parquet(
        self,
        options: &ReportOptions,
        out: &mut dyn Write,
    ) -> Result<(), ReportError> {
        crate::parquet::write_table(self, options, out)
    }

    /// Returns the table of a report.
    pub(crate) fn new(report: &Report<'r>, options: &ReportOptions) -> io::Result<Self> {
        let mut table = Self::of("", &[], []);
        if let Some(run) = report.graded {
            match options.rows {
                RowContent::Graders => {
                    let rows = run.outcomes.iter().flat_map(graders);
                    table.add("graders", GRADER, rows.map(Ok));
                }
                _ => table.add("outcomes", OUTCOME, run.outcomes.iter().map(outcome).map(Ok)),
            }
        }
        if let Some(run) = report.checked {
            match options.rows {
                RowContent::Calls => {
                    let rows = run.calls()?.map(|one| one.map(|one| call(&one)));
                    table.add("calls", CALL, rows);
                }
                _ => {
                    let rows = run.findings()?.map(|one| one.map(|one| finding(&one)));
                    table.add("findings", FINDING, rows);
                }
            }
        }
        if let Some(run) = report.feed {
            match &run.occurrences {
                Some(all) => {
                    table.add("occurrences", OCCURRENCE, all.iter().map(occurrence).map(Ok));
                }
                None => table.add("issues", ISSUE, run.issues.iter().map(issue).map(Ok)),
            }
        }
        if let Some(run) = report.trend {
            let rows = run.series.iter().flat_map(|series| points(series, run));
            table.add("trend", TREND, rows.map(Ok));
        }
        Ok(table)
    }

    /// Adds rows with their own columns. A table with rows of several kinds has a combined name.
    fn add(
        &mut self,
        name: &str,
        columns: &[(&'static str, ColumnKind)],
        rows: impl Iterator<Item = io::Result<TableRow>> + 'r,
    ) {
        self.name = if self.name.is_empty() { name } else { "mixed" }.to_owned();
        self.columns.extend(columns);
        let before = std::mem::replace(&mut self.rows, Box::new(std::iter::empty()));
        self.rows = Box::new(before.chain(rows));
    }

    /// The rows, with their cells.
    pub(crate) fn into_rows(self) -> impl Iterator<Item = io::Result<TableRow>> + 'r {
        self.rows
    }
}

/// Returns the cell of a row in a column; `None` if the row does not have the column.
pub(crate) fn cell_of<'c>(row: &'c TableRow, name: &str) -> Option<&'c TableCell> {
    row.iter().find(|(column, _)| *column == name).map(|(_, cell)| cell)
}

pub(crate) const OUTCOME: &[(&str, ColumnKind)] = &[
    ("case", ColumnKind::Text),
    ("trial", ColumnKind::Whole),
    ("verdict", ColumnKind::Text),
    ("score", ColumnKind::Real),
    ("reason", ColumnKind::Text),
    ("trajectory", ColumnKind::Text),
];

const GRADER: &[(&str, ColumnKind)] = &[
    ("case", ColumnKind::Text),
    ("trial", ColumnKind::Whole),
    ("trajectory", ColumnKind::Text),
    ("grader", ColumnKind::Text),
    ("type", ColumnKind::Text),
    ("profile", ColumnKind::Text),
    ("verdict", ColumnKind::Text),
    ("score", ColumnKind::Real),
    ("weight", ColumnKind::Real),
    ("required", ColumnKind::Flag),
    ("reason", ColumnKind::Text),
];

const FINDING: &[(&str, ColumnKind)] = &[
    ("code", ColumnKind::Text),
    ("name", ColumnKind::Text),
    ("axis", ColumnKind::Text),
    ("severity", ColumnKind::Text),
    ("confidence", ColumnKind::Text),
    ("tool", ColumnKind::Text),
    ("bucket", ColumnKind::Text),
    ("message", ColumnKind::Text),
    ("remedy", ColumnKind::Text),
    ("session", ColumnKind::Text),
    ("file", ColumnKind::Text),
    ("line", ColumnKind::Whole),
    ("call", ColumnKind::Whole),
    ("step", ColumnKind::Whole),
    ("fingerprint", ColumnKind::Text),
    ("new", ColumnKind::Flag),
];

const CALL: &[(&str, ColumnKind)] = &[
    ("session", ColumnKind::Text),
    ("file", ColumnKind::Text),
    ("line", ColumnKind::Whole),
    ("call", ColumnKind::Whole),
    ("step", ColumnKind::Whole),
    ("turn", ColumnKind::Whole),
    ("tool", ColumnKind::Text),
    ("status", ColumnKind::Text),
    ("result_kind", ColumnKind::Text),
    ("masked", ColumnKind::Flag),
    ("program", ColumnKind::Text),
    ("exit_code", ColumnKind::Whole),
    ("started", ColumnKind::Text),
    ("duration_ms", ColumnKind::Whole),
    ("tokens", ColumnKind::Whole),
    ("output_tokens", ColumnKind::Whole),
    ("findings", ColumnKind::Text),
];

const ISSUE: &[(&str, ColumnKind)] = &[
    ("id", ColumnKind::Text),
    ("state", ColumnKind::Text),
    ("kind", ColumnKind::Text),
    ("category", ColumnKind::Text),
    ("subtype", ColumnKind::Text),
    ("code", ColumnKind::Text),
    ("title", ColumnKind::Text),
    ("role", ColumnKind::Text),
    ("template", ColumnKind::Text),
    ("count", ColumnKind::Whole),
    ("sessions", ColumnKind::Whole),
    ("first_seen", ColumnKind::Text),
    ("last_seen", ColumnKind::Text),
    ("tools", ColumnKind::Text),
    ("models", ColumnKind::Text),
    ("agents", ColumnKind::Text),
    ("projects", ColumnKind::Text),
    ("recovery", ColumnKind::Real),
    ("tokens", ColumnKind::Whole),
    ("output_tokens", ColumnKind::Whole),
    ("duration_ms", ColumnKind::Whole),
    ("file", ColumnKind::Text),
    ("line", ColumnKind::Whole),
    ("fix_target", ColumnKind::Text),
    ("fix_file", ColumnKind::Text),
    ("fix", ColumnKind::Text),
];

const OCCURRENCE: &[(&str, ColumnKind)] = &[
    ("issue", ColumnKind::Text),
    ("session", ColumnKind::Text),
    ("call_id", ColumnKind::Text),
    ("file", ColumnKind::Text),
    ("line", ColumnKind::Whole),
    ("column", ColumnKind::Whole),
    ("time", ColumnKind::Text),
    ("kind", ColumnKind::Text),
    ("recovery", ColumnKind::Text),
];

const TREND: &[(&str, ColumnKind)] = &[
    ("measure", ColumnKind::Text),
    ("tool", ColumnKind::Text),
    ("bucket", ColumnKind::Text),
    ("value", ColumnKind::Real),
    ("unit", ColumnKind::Text),
    ("of", ColumnKind::Whole),
    ("low", ColumnKind::Real),
    ("high", ColumnKind::Real),
    ("sessions", ColumnKind::Whole),
    ("change", ColumnKind::Flag),
    ("p", ColumnKind::Real),
    ("suspects", ColumnKind::Text),
];

/// A text on one line with all characters visible.
fn text(text: &str) -> TableCell {
    some_text(Some(text))
}

fn some_text(text: Option<&str>) -> TableCell {
    TableCell::Text(text.map(|text| sanitize(text).into_owned()))
}

fn whole<N: TryInto<i64>>(number: Option<N>) -> TableCell {
    TableCell::Whole(number.and_then(|number| number.try_into().ok()))
}

pub(crate) fn outcome(result: &CaseResult) -> TableRow {
    vec![
        ("case", text(&result.case)),
        ("trial", whole(Some(result.trial.saturating_add(1)))),
        ("verdict", text(result.verdict.word())),
        ("score", TableCell::Real(result.score)),
        ("reason", text(&result.reason)),
        ("trajectory", some_text(result.trajectory.as_ref().map(|source| &*source.source))),
    ]
}

/// One row per grader of an outcome.
fn graders(result: &CaseResult) -> impl Iterator<Item = TableRow> {
    let row = |grader: &GraderResult| {
        vec![
            ("case", text(&result.case)),
            ("trial", whole(Some(result.trial.saturating_add(1)))),
            ("trajectory", some_text(result.trajectory.as_ref().map(|source| &*source.source))),
            ("grader", text(&grader.name)),
            ("type", text(&grader.type_word)),
            ("profile", text(grader.profile.word())),
            ("verdict", text(grader.outcome.verdict.word())),
            ("score", TableCell::Real(grader.outcome.score)),
            ("weight", TableCell::Real(Some(grader.weight))),
            ("required", TableCell::Flag(Some(grader.required))),
            ("reason", text(&grader.outcome.reason)),
        ]
    };
    result.graders.iter().map(row)
}

fn finding(finding: &PrintableFinding) -> TableRow {
    let call = finding.evidence.first().and_then(|evidence| evidence.call.as_ref());
    vec![
        ("code", text(finding.code)),
        ("name", text(finding.name)),
        ("axis", text(finding.axis.word())),
        ("severity", text(finding.severity.word())),
        ("confidence", text(finding.confidence.word())),
        ("tool", text(&finding.tool)),
        ("bucket", some_text(finding.bucket.as_deref())),
        ("message", text(&finding.message)),
        ("remedy", text(&finding.remedy)),
        ("session", some_text(finding.session.as_deref())),
        ("file", text(&finding.place.file)),
        ("line", whole(Some(finding.place.line))),
        ("call", whole(call.map(|call| call.number()))),
        ("step", whole(call.and_then(|call| call.step_number()))),
        ("fingerprint", text(&finding.fingerprint)),
        ("new", TableCell::Flag(finding.new)),
    ]
}

fn call(call: &CallRow) -> TableRow {
    let codes = serde_json::Value::from(call.codes.clone()).to_string();
    vec![
        ("session", some_text(call.session.as_deref())),
        ("file", text(&call.place.file)),
        ("line", whole(Some(call.place.line))),
        ("call", whole(Some(call.number))),
        ("step", whole(call.step)),
        ("turn", whole(Some(call.turn))),
        ("tool", text(&call.tool)),
        ("status", text(call.status)),
        ("result_kind", text(call.result_kind.word())),
        ("masked", TableCell::Flag(Some(call.masked))),
        ("program", some_text(call.program.as_deref())),
        ("exit_code", whole(call.exit_code)),
        ("started", some_text(call.started.as_deref())),
        ("duration_ms", whole(call.spent.milliseconds())),
        ("tokens", whole(call.spent.tokens())),
        ("output_tokens", whole(call.spent.output_tokens())),
        ("findings", text(&codes)),
    ]
}

fn issue(issue: &Issue) -> TableRow {
    let names = |all: &[toolmark_feed::NameTally<Printable>]| {
        let names: Vec<&str> = all.iter().map(|one| &*one.name).collect();
        text(&serde_json::Value::from(names).to_string())
    };
    let place = issue.representative.as_ref().map(|one| &one.place);
    let fix = issue.fix.as_ref();
    let time = |time: Option<jiff::Timestamp>| TableCell::Text(time.map(|time| time.to_string()));
    vec![
        ("id", text(&issue.id.to_string())),
        ("state", text(issue.state.word())),
        ("kind", text(issue.kind.word())),
        ("category", text(issue.category.word())),
        ("subtype", text(issue.subtype)),
        ("code", some_text(issue.code)),
        ("title", text(&issue.title)),
        ("role", text(&issue.role)),
        ("template", text(&issue.template)),
        ("count", whole(Some(issue.count))),
        ("sessions", whole(Some(issue.sessions))),
        ("first_seen", time(issue.first_seen)),
        ("last_seen", time(issue.last_seen)),
        ("tools", names(&issue.tools)),
        ("models", names(&issue.models)),
        ("agents", names(&issue.agents)),
        ("projects", names(&issue.projects)),
        ("recovery", TableCell::Real(issue.recovery.and_then(|recovery| recovery.rate))),
        ("tokens", whole(issue.lost.tokens)),
        ("output_tokens", whole(issue.lost.output_tokens)),
        ("duration_ms", whole(issue.lost.duration_ms)),
        ("file", some_text(place.map(|place| &*place.file))),
        ("line", whole(place.map(|place| place.line))),
        ("fix_target", some_text(fix.map(|fix| fix.target.word()))),
        ("fix_file", some_text(fix.and_then(|fix| fix.file))),
        ("fix", some_text(fix.map(|fix| &*fix.text))),
    ]
}

fn occurrence(one: &PrintableListing) -> TableRow {
    vec![
        ("issue", text(&one.issue.to_string())),
        ("session", text(&one.session)),
        ("call_id", text(&one.call_id)),
        ("file", text(&one.place.file)),
        ("line", whole(Some(one.place.line))),
        ("column", whole(Some(one.place.column))),
        ("time", TableCell::Text(one.time.map(|time| time.to_string()))),
        ("kind", text(one.kind.word())),
        ("recovery", text(one.recovery.word())),
    ]
}

/// One row per time bucket; missing values are empty.
fn points(series: &Series, run: &TrendRun) -> Vec<TableRow> {
    let rows = run.buckets.iter().zip(&series.points).enumerate();
    rows.map(|(at, (bucket, point))| {
        let change = series.changes.iter().find(|change| change.bucket == at);
        let interval = point.and_then(|point| point.interval);
        vec![
            ("measure", text(&series.measure)),
            ("tool", some_text(series.tool.as_deref())),
            ("bucket", text(&bucket.name)),
            ("value", TableCell::Real(point.map(|point| point.value))),
            ("unit", text(series.unit.word())),
            ("of", whole(point.map(|point| point.of))),
            ("low", TableCell::Real(interval.map(|(low, _)| low))),
            ("high", TableCell::Real(interval.map(|(_, high)| high))),
            ("sessions", whole(Some(bucket.sessions))),
            ("change", TableCell::Flag(Some(change.is_some()))),
            ("p", TableCell::Real(change.map(|change| change.p))),
            ("suspects", some_text(change.and_then(suspects).as_deref())),
        ]
    })
    .collect()
}
