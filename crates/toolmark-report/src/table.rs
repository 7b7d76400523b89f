//! Results as table rows: one row per outcome and finding, or per grader and call. There is no row
//! of totals, lists are JSON, and unknown values are empty. `docs/tables.md` lists the columns.

use crate::model::{CallRow, CaseResult, Finding, GraderResult, Issue, Listed, Series, TrendRun};
use crate::terminal::text::sanitize;
use crate::trends::suspects;
use crate::{Options, Report, ReportError, Rows};
use std::io::{self, Write};
use toolmark_outcome::Printable;

/// Version of all tables. Adding a column keeps the version; removing, renaming or redefining one
/// increments it.
pub(crate) const VERSION: u32 = 1;

/// Type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
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
pub enum Cell {
    /// Text.
    Text(Option<String>),
    /// An integer.
    Whole(Option<i64>),
    /// A number.
    Real(Option<f64>),
    /// A boolean.
    Flag(Option<bool>),
}

impl Cell {
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
pub type Row = Vec<(&'static str, Cell)>;

/// Rows that are created on demand; some are read from a file.
type BoxedRows<'r> = Box<dyn Iterator<Item = io::Result<Row>> + 'r>;

/// A table whose rows are created while they are written.
pub struct Table<'r> {
    /// Name of the rows: `findings`, `calls`, `outcomes` …
    pub(crate) name: String,
    /// The columns, in order.
    pub(crate) columns: Vec<(&'static str, Kind)>,
    rows: BoxedRows<'r>,
}

impl<'r> Table<'r> {
    /// Returns a table with these rows.
    #[must_use]
    pub fn of(
        name: &str,
        columns: &[(&'static str, Kind)],
        rows: impl IntoIterator<Item = Row, IntoIter: 'r>,
    ) -> Self {
        let rows = Box::new(rows.into_iter().map(Ok));
        Self { name: name.to_owned(), columns: columns.to_vec(), rows }
    }

    /// Writes the table as Parquet.
    pub fn write_parquet(self, options: &Options, out: &mut dyn Write) -> Result<(), ReportError> {
        crate::parquet::write_table(self, options, out)
    }

    /// Returns the table of a report.
    pub(crate) fn new(report: &Report<'r>, options: &Options) -> io::Result<Self> {
        let mut table = Self::of("", &[], []);
        if let Some(run) = report.graded {
            match options.rows {
                Rows::Graders => {
                    let rows = run.outcomes.iter().flat_map(graders);
                    table.add("graders", GRADER, rows.map(Ok));
                }
                _ => table.add("outcomes", OUTCOME, run.outcomes.iter().map(outcome).map(Ok)),
            }
        }
        if let Some(run) = report.checked {
            match options.rows {
                Rows::Calls => {
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
        columns: &[(&'static str, Kind)],
        rows: impl Iterator<Item = io::Result<Row>> + 'r,
    ) {
        self.name = if self.name.is_empty() { name } else { "mixed" }.to_owned();
        self.columns.extend(columns);
        let before = std::mem::replace(&mut self.rows, Box::new(std::iter::empty()));
        self.rows = Box::new(before.chain(rows));
    }

    /// The rows, with their cells.
    pub(crate) fn into_rows(self) -> impl Iterator<Item = io::Result<Row>> + 'r {
        self.rows
    }
}

/// Returns the cell of a row in a column; `None` if the row does not have the column.
pub(crate) fn cell_of<'c>(row: &'c Row, name: &str) -> Option<&'c Cell> {
    row.iter().find(|(column, _)| *column == name).map(|(_, cell)| cell)
}

pub(crate) const OUTCOME: &[(&str, Kind)] = &[
    ("case", Kind::Text),
    ("trial", Kind::Whole),
    ("verdict", Kind::Text),
    ("score", Kind::Real),
    ("reason", Kind::Text),
    ("trajectory", Kind::Text),
];

const GRADER: &[(&str, Kind)] = &[
    ("case", Kind::Text),
    ("trial", Kind::Whole),
    ("trajectory", Kind::Text),
    ("grader", Kind::Text),
    ("type", Kind::Text),
    ("profile", Kind::Text),
    ("verdict", Kind::Text),
    ("score", Kind::Real),
    ("weight", Kind::Real),
    ("required", Kind::Flag),
    ("reason", Kind::Text),
];

const FINDING: &[(&str, Kind)] = &[
    ("code", Kind::Text),
    ("name", Kind::Text),
    ("axis", Kind::Text),
    ("severity", Kind::Text),
    ("confidence", Kind::Text),
    ("tool", Kind::Text),
    ("bucket", Kind::Text),
    ("message", Kind::Text),
    ("remedy", Kind::Text),
    ("session", Kind::Text),
    ("file", Kind::Text),
    ("line", Kind::Whole),
    ("call", Kind::Whole),
    ("step", Kind::Whole),
    ("fingerprint", Kind::Text),
    ("new", Kind::Flag),
];

const CALL: &[(&str, Kind)] = &[
    ("session", Kind::Text),
    ("file", Kind::Text),
    ("line", Kind::Whole),
    ("call", Kind::Whole),
    ("step", Kind::Whole),
    ("turn", Kind::Whole),
    ("tool", Kind::Text),
    ("status", Kind::Text),
    ("result_kind", Kind::Text),
    ("masked", Kind::Flag),
    ("program", Kind::Text),
    ("exit_code", Kind::Whole),
    ("started", Kind::Text),
    ("duration_ms", Kind::Whole),
    ("tokens", Kind::Whole),
    ("output_tokens", Kind::Whole),
    ("findings", Kind::Text),
];

const ISSUE: &[(&str, Kind)] = &[
    ("id", Kind::Text),
    ("state", Kind::Text),
    ("kind", Kind::Text),
    ("category", Kind::Text),
    ("subtype", Kind::Text),
    ("code", Kind::Text),
    ("title", Kind::Text),
    ("role", Kind::Text),
    ("template", Kind::Text),
    ("count", Kind::Whole),
    ("sessions", Kind::Whole),
    ("first_seen", Kind::Text),
    ("last_seen", Kind::Text),
    ("tools", Kind::Text),
    ("models", Kind::Text),
    ("agents", Kind::Text),
    ("projects", Kind::Text),
    ("recovery", Kind::Real),
    ("tokens", Kind::Whole),
    ("output_tokens", Kind::Whole),
    ("duration_ms", Kind::Whole),
    ("file", Kind::Text),
    ("line", Kind::Whole),
    ("fix_target", Kind::Text),
    ("fix_file", Kind::Text),
    ("fix", Kind::Text),
];

const OCCURRENCE: &[(&str, Kind)] = &[
    ("issue", Kind::Text),
    ("session", Kind::Text),
    ("call_id", Kind::Text),
    ("file", Kind::Text),
    ("line", Kind::Whole),
    ("column", Kind::Whole),
    ("time", Kind::Text),
    ("kind", Kind::Text),
    ("recovery", Kind::Text),
];

const TREND: &[(&str, Kind)] = &[
    ("measure", Kind::Text),
    ("tool", Kind::Text),
    ("bucket", Kind::Text),
    ("value", Kind::Real),
    ("unit", Kind::Text),
    ("of", Kind::Whole),
    ("low", Kind::Real),
    ("high", Kind::Real),
    ("sessions", Kind::Whole),
    ("change", Kind::Flag),
    ("p", Kind::Real),
    ("suspects", Kind::Text),
];

/// A text on one line with all characters visible.
fn text(text: &str) -> Cell {
    some_text(Some(text))
}

fn some_text(text: Option<&str>) -> Cell {
    Cell::Text(text.map(|text| sanitize(text).into_owned()))
}

fn whole<N: TryInto<i64>>(number: Option<N>) -> Cell {
    Cell::Whole(number.and_then(|number| number.try_into().ok()))
}

pub(crate) fn outcome(result: &CaseResult) -> Row {
    vec![
        ("case", text(&result.case)),
        ("trial", whole(Some(result.trial.saturating_add(1)))),
        ("verdict", text(result.verdict.word())),
        ("score", Cell::Real(result.score)),
        ("reason", text(&result.reason)),
        ("trajectory", some_text(result.trajectory.as_ref().map(|source| &*source.source))),
    ]
}

/// One row per grader of an outcome.
fn graders(result: &CaseResult) -> impl Iterator<Item = Row> {
    let row = |grader: &GraderResult| {
        vec![
            ("case", text(&result.case)),
            ("trial", whole(Some(result.trial.saturating_add(1)))),
            ("trajectory", some_text(result.trajectory.as_ref().map(|source| &*source.source))),
            ("grader", text(&grader.name)),
            ("type", text(&grader.type_word)),
            ("profile", text(grader.profile.word())),
            ("verdict", text(grader.outcome.verdict.word())),
            ("score", Cell::Real(grader.outcome.score)),
            ("weight", Cell::Real(Some(grader.weight))),
            ("required", Cell::Flag(Some(grader.required))),
            ("reason", text(&grader.outcome.reason)),
        ]
    };
    result.graders.iter().map(row)
}

fn finding(finding: &Finding) -> Row {
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
        ("new", Cell::Flag(finding.new)),
    ]
}

fn call(call: &CallRow) -> Row {
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
        ("masked", Cell::Flag(Some(call.masked))),
        ("program", some_text(call.program.as_deref())),
        ("exit_code", whole(call.exit_code)),
        ("started", some_text(call.started.as_deref())),
        ("duration_ms", whole(call.spent.milliseconds())),
        ("tokens", whole(call.spent.tokens())),
        ("output_tokens", whole(call.spent.output_tokens())),
        ("findings", text(&codes)),
    ]
}

fn issue(issue: &Issue) -> Row {
    let names = |all: &[toolmark_feed::Tally<Printable>]| {
        let names: Vec<&str> = all.iter().map(|one| &*one.name).collect();
        text(&serde_json::Value::from(names).to_string())
    };
    let place = issue.representative.as_ref().map(|one| &one.place);
    let fix = issue.fix.as_ref();
    let time = |time: Option<jiff::Timestamp>| Cell::Text(time.map(|time| time.to_string()));
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
        ("recovery", Cell::Real(issue.recovery.and_then(|recovery| recovery.rate))),
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

fn occurrence(one: &Listed) -> Row {
    vec![
        ("issue", text(&one.issue.to_string())),
        ("session", text(&one.session)),
        ("call_id", text(&one.call_id)),
        ("file", text(&one.place.file)),
        ("line", whole(Some(one.place.line))),
        ("column", whole(Some(one.place.column))),
        ("time", Cell::Text(one.time.map(|time| time.to_string()))),
        ("kind", text(one.kind.word())),
        ("recovery", text(one.recovery.word())),
    ]
}

/// One row per time bucket; missing values are empty.
fn points(series: &Series, run: &TrendRun) -> Vec<Row> {
    let rows = run.buckets.iter().zip(&series.points).enumerate();
    rows.map(|(at, (bucket, point))| {
        let change = series.changes.iter().find(|change| change.bucket == at);
        let interval = point.and_then(|point| point.interval);
        vec![
            ("measure", text(&series.measure)),
            ("tool", some_text(series.tool.as_deref())),
            ("bucket", text(&bucket.name)),
            ("value", Cell::Real(point.map(|point| point.value))),
            ("unit", text(series.unit.word())),
            ("of", whole(point.map(|point| point.of))),
            ("low", Cell::Real(interval.map(|(low, _)| low))),
            ("high", Cell::Real(interval.map(|(_, high)| high))),
            ("sessions", whole(Some(bucket.sessions))),
            ("change", Cell::Flag(Some(change.is_some()))),
            ("p", Cell::Real(change.map(|change| change.p))),
            ("suspects", some_text(change.and_then(suspects).as_deref())),
        ]
    })
    .collect()
}
