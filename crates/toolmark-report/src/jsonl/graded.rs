//! One JSON line per outcome, then one with the summary.

use super::writer::JsonWriter;
use crate::model::{PrintableSummary, RunResult};
use crate::terminal::harmless_json;
use crate::{Outcomes, ReportError, ReportOptions, SCHEMA_VERSION};
use serde::Serialize;
use std::io::Write;
use toolmark_outcome::Printable;

#[derive(Serialize)]
struct GradedLastLine<'r> {
    r#type: &'static str,
    schema_version: u32,
    spec: &'r str,
    dialect: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    generated_at: Option<String>,
    #[serde(flatten)]
    summary: &'r PrintableSummary,
    #[serde(skip_serializing_if = "<[Printable]>::is_empty")]
    notes: &'r [Printable],
}

pub(super) fn write(
    run: &RunResult,
    options: &ReportOptions,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    for outcome in &run.outcomes {
        line(outcome, out)?;
    }
    last(run, options, out)
}

/// Text before the trial number, which is 0 in a chunk.
const TRIAL: &str = ",\"trial\":";

/// Writes the line of an outcome; the chunk is split at the trial number.
pub(crate) fn piece<T: Serialize>(
    outcome: &toolmark_outcome::CaseResult<T>,
    out: &mut Vec<u8>,
) -> Result<usize, ReportError> {
    let start = out.len();
    outcome.serialize(JsonWriter(out))?;
    let line = out.get(start..).unwrap_or_default();
    if !line.is_ascii() || memchr::memchr(0x7f, line).is_some() {
        let text = String::from_utf8_lossy(line).into_owned();
        out.truncate(start);
        out.extend_from_slice(harmless_json(text).as_bytes());
    }
    out.push(b'\n');
    // Inside strings quotes are escaped, so that the first is the key.
    let line = out.get(start..).unwrap_or_default();
    let key = memchr::memmem::find(line, TRIAL.as_bytes());
    Ok(key.unwrap_or_default() + TRIAL.len())
}

/// Writes the lines of outcomes and the summary.
pub(crate) fn write_pieces(
    run: &RunResult,
    outcomes: &mut dyn Outcomes,
    options: &ReportOptions,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let mut piece = Vec::new();
    for at in 0..outcomes.count() {
        let parted = outcomes.read(at, &mut piece)?;
        match outcomes.trial(at) {
            0 => out.write_all(&piece)?,
            trial => {
                out.write_all(piece.get(..parted).unwrap_or_default())?;
                write!(out, "{trial}")?;
                out.write_all(piece.get(parted + 1..).unwrap_or_default())?;
            }
        }
    }
    last(run, options, out)
}

/// The line with the summary.
fn last(run: &RunResult, options: &ReportOptions, out: &mut dyn Write) -> Result<(), ReportError> {
    let last = GradedLastLine {
        r#type: "summary",
        schema_version: SCHEMA_VERSION,
        spec: &run.spec,
        dialect: run.dialect,
        name: run.name.as_deref(),
        generated_at: options.generated_at.map(|time| time.to_string()),
        summary: &run.summary,
        notes: &run.notes,
    };
    line(&last, out)
}

/// Writes a value on its own line.
pub(crate) fn line(value: &impl Serialize, out: &mut dyn Write) -> Result<(), ReportError> {
    let text = harmless_json(serde_json::to_string(value)?);
    out.write_all(text.as_bytes())?;
    out.write_all(b"\n")?;
    Ok(())
}

/// Writes values, each on its own line.
pub(crate) fn lines(values: &[serde_json::Value], out: &mut dyn Write) -> Result<(), ReportError> {
    values.iter().try_for_each(|value| line(value, out))
}

#[cfg(test)]
mod tests {
    use crate::testing;
    use serde_json::Value;

    #[test]
    fn every_line_says_what_it_is() {
        let run = testing::sample();
        let report = testing::report("jsonl");
        let lines: Vec<Value> =
            report.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let (last, outcomes) = lines.split_last().unwrap();
        assert_eq!(outcomes.len(), run.outcomes.len());
        for (line, outcome) in outcomes.iter().zip(&run.outcomes) {
            assert_eq!(line["type"], "outcome");
            assert_eq!(line["case"], *outcome.case);
            assert_eq!(line["verdict"], outcome.verdict.word());
        }
        assert_eq!(last["type"], "summary");
        assert_eq!(last["unknown"], run.summary.unknown);
        assert_eq!(last["verdict"], "fail");
        assert_eq!(last["spec"], &*run.spec);
        insta::assert_snapshot!(report.lines().last().unwrap());
    }
}
