//! CSV, for spreadsheets and data frames: a row per outcome and finding, or per call. There
//! is no row of totals, lists are JSON, and what is unknown is empty.
//!
//! Text that a spreadsheet would take for a formula starts with an apostrophe: traces are
//! written by others.

use crate::model::{CallRow, CaseResult, Finding};
use crate::terminal::text::sanitize;
use crate::{Options, Report, ReportError, Rows};
use std::io::{self, Write};

/// The cells of one row, with the columns they are in.
type Row = Vec<(&'static str, String)>;

pub(crate) fn write(
    report: &Report<'_>,
    options: &Options,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let graded = report.graded.iter().flat_map(|run| &run.outcomes).map(outcome);
    let mut rows: Vec<Row> = graded.collect();
    let mut columns: Vec<&'static str> = Vec::new();
    if report.graded.is_some() {
        columns.extend(OUTCOME);
    }
    if let Some(run) = report.checked {
        match options.rows {
            Rows::Findings => {
                columns.extend(FINDING);
                rows.extend(run.checked.findings.iter().map(finding));
            }
            Rows::Calls => {
                columns.extend(CALL);
                rows.extend(run.checked.calls.iter().map(call));
            }
        }
    }
    let mut writer = csv::Writer::from_writer(out);
    let failed = |error: csv::Error| io::Error::other(error);
    writer.write_record(&columns).map_err(failed)?;
    for row in rows {
        let cell = |column: &&'static str| {
            let found = row.iter().find(|(name, _)| name == column);
            found.map(|(_, text)| text.as_str()).unwrap_or_default()
        };
        writer.write_record(columns.iter().map(cell)).map_err(failed)?;
    }
    Ok(writer.flush()?)
}

const OUTCOME: &[&str] = &["case", "trial", "verdict", "score", "reason", "trajectory"];

const FINDING: &[&str] = &[
    "code",
    "name",
    "axis",
    "severity",
    "confidence",
    "tool",
    "bucket",
    "message",
    "remedy",
    "session",
    "file",
    "line",
    "call",
    "step",
    "fingerprint",
    "new",
];

const CALL: &[&str] = &[
    "session",
    "file",
    "line",
    "call",
    "step",
    "turn",
    "tool",
    "status",
    "exit_code",
    "started",
    "duration_ms",
    "tokens",
    "output_tokens",
    "findings",
];

/// A text as a cell: on one line, and never a formula.
fn text(text: &str) -> String {
    let plain = sanitize(text).into_owned();
    if plain.starts_with(['=', '+', '-', '@']) { format!("'{plain}") } else { plain }
}

/// What is known, as a cell.
fn known<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn outcome(result: &CaseResult) -> Row {
    let trajectory = result.trajectory.as_ref().map(|source| text(&source.source));
    vec![
        ("case", text(&result.case)),
        ("trial", result.trial.saturating_add(1).to_string()),
        ("verdict", result.verdict.word().to_owned()),
        ("score", known(result.score)),
        ("reason", text(&result.reason)),
        ("trajectory", trajectory.unwrap_or_default()),
    ]
}

fn finding(finding: &Finding) -> Row {
    let call = finding.evidence.first().and_then(|evidence| evidence.call.as_ref());
    vec![
        ("code", finding.code.to_owned()),
        ("name", finding.name.to_owned()),
        ("axis", finding.axis.word().to_owned()),
        ("severity", finding.severity.word().to_owned()),
        ("confidence", finding.confidence.word().to_owned()),
        ("tool", text(&finding.tool)),
        ("bucket", finding.bucket.as_deref().map(text).unwrap_or_default()),
        ("message", text(&finding.message)),
        ("remedy", text(&finding.remedy)),
        ("session", finding.session.as_deref().map(text).unwrap_or_default()),
        ("file", text(&finding.place.file)),
        ("line", finding.place.line.to_string()),
        ("call", known(call.map(|call| call.number()))),
        ("step", known(call.and_then(|call| call.step_number()))),
        ("fingerprint", finding.fingerprint.clone()),
        ("new", known(finding.new)),
    ]
}

fn call(call: &CallRow) -> Row {
    let codes = serde_json::Value::from(call.codes.clone());
    vec![
        ("session", call.session.as_deref().map(text).unwrap_or_default()),
        ("file", text(&call.place.file)),
        ("line", call.place.line.to_string()),
        ("call", call.number.to_string()),
        ("step", known(call.step)),
        ("turn", call.turn.to_string()),
        ("tool", text(&call.tool)),
        ("status", call.status.to_owned()),
        ("exit_code", known(call.exit_code)),
        ("started", known(call.started.as_deref())),
        ("duration_ms", known(call.spent.milliseconds())),
        ("tokens", known(call.spent.tokens())),
        ("output_tokens", known(call.spent.output_tokens())),
        ("findings", codes.to_string()),
    ]
}

#[cfg(test)]
mod tests {
    use crate::checked::tests::{report, sample};
    use crate::{Options, Rows, format_by_id};

    #[test]
    fn a_row_per_finding_and_none_of_totals() {
        let text = report("csv");
        assert_eq!(text.lines().count(), 1 + sample().checked.findings.len(), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_row_per_call() {
        let options = Options { rows: Rows::Calls, ..Options::default() };
        let text = format_by_id("csv").unwrap().to_text(&sample(), &options).unwrap();
        insta::assert_snapshot!(text);
    }

    #[test]
    fn nothing_is_a_formula() {
        for (words, cell) in [("=1+1", "'=1+1"), ("@x", "'@x"), ("a=b", "a=b"), ("a\nb", "a␊b")] {
            assert_eq!(super::text(words), cell);
        }
    }
}
