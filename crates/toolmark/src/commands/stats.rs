//! `toolmark stats`: the counts of many traces, a row each.
//!
//! Each file is read as a stream: a trajectory is counted and dropped.

use crate::Stop;
use crate::args::InputArgs;
use crate::exit::Exit;
use crate::human;
use crate::inputs::expand;
use crate::printer::{Layout, Line, Printer, Verbosity, style, to_json};
use crate::reading::{Next, Runs};
use crate::table::{Cell, Column, Give, Table};
use anstyle::Style;
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::collections::BTreeSet;
use std::io;
use toolmark_redact::{Printable, Redactor, printable};
use toolmark_trace::{Fidelity, Summary, TokenCounts};

const EXAMPLES: &str = "\
Examples:
  toolmark stats session.jsonl other.json
  toolmark stats runs/                      every trace below a directory
  toolmark stats 'runs/**/*.jsonl' --format csv > runs.csv
  zcat session.jsonl.gz | toolmark stats -
  toolmark stats runs/ --format jsonl | jq 'select(.tool_errors > 0) | .file'

A missing number (null, or \u{2013} in the table) is not recorded by the format.";

/// Count calls, failures, turns and tokens of traces
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_arg("traces", |arg| arg.required(true)))]
pub(crate) struct Stats {
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    format: Output,
    #[command(flatten)]
    input: InputArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    Table,
    Json,
    Jsonl,
    Csv,
}

impl Stats {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let reader = self.input.files.reader(printer);
        let inputs = expand(&self.input.traces);
        let mut rows = Vec::new();
        let redactor = printer.redactor;
        let work = |runs: &mut Runs<'_>| count(runs, redactor);
        let walked = reader.each(&inputs, printer, work, |row| {
            rows.push(row.unwrap_or_else(|unreadable| Row {
                file: redactor.apply(unreadable.file),
                error: Some(redactor.apply(unreadable.error)),
                ..Row::default()
            }));
            Ok(Next::More)
        })?;
        match self.format {
            Output::Table => print_table(printer, &rows)?,
            Output::Json => print_json(printer, &rows)?,
            Output::Jsonl => {
                for row in &rows {
                    printer.raw(&(to_json(row, Layout::Compact)? + "\n"))?;
                }
            }
            Output::Csv => print_csv(printer, &rows)?,
        }
        if rows.is_empty() {
            return Err(walked.nothing_read(&self.input.traces).into());
        }
        walked.print_note(printer)?;
        Ok(if walked.unread { Exit::Unread } else { Exit::Ok })
    }
}

/// The counts of one file, in the names and the order of the JSON output.
/// `None` means that the format does not record it, or that the file could not
/// be read.
#[derive(Debug, Default, Serialize)]
struct Row {
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
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Printable>,
}

fn count(runs: &mut Runs<'_>, redactor: Redactor) -> Option<Row> {
    let runs = runs.bare();
    let summary = Summary::of(runs);
    let (file, format) = (redactor.apply(runs.file()), runs.format().info().id);
    let tool_names = summary.tools.keys().map(|name| redactor.apply(name)).collect();
    let row = Row::new(file, format, runs.skipped(), &summary);
    Some(Row { tool_names: Some(tool_names), ..row })
}

impl Row {
    fn new(file: Printable, format: &'static str, bad_lines: u64, summary: &Summary) -> Self {
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
            error: None,
        }
    }

    /// All rows together: sums of what is known.
    fn total(rows: &[Self]) -> Self {
        let sum = |field: fn(&Self) -> Option<u64>| {
            rows.iter().filter_map(field).reduce(u64::saturating_add)
        };
        let names = rows.iter().filter_map(|r| r.tool_names.as_ref());
        let names = names.fold(None, |all: Option<BTreeSet<Printable>>, one| {
            let mut all = all.unwrap_or_default();
            all.extend(one.iter().cloned());
            Some(all)
        });
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
            tool_names: names,
            tokens,
            bad_lines: sum(|r| r.bad_lines),
            unknown_records: sum(|r| r.unknown_records),
            fidelity_gaps: rows.iter().filter_map(|r| r.fidelity_gaps).reduce(Fidelity::union),
            error: None,
        }
    }
}

fn print_json(printer: &mut Printer, rows: &[Row]) -> io::Result<()> {
    printer.raw("[")?;
    for (at, row) in rows.iter().enumerate() {
        printer.raw(if at == 0 { "\n" } else { ",\n" })?;
        printer.raw(&to_json(row, Layout::Compact)?)?;
    }
    printer.raw("\n]\n")
}

fn print_csv(printer: &mut Printer, rows: &[Row]) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record([
        "file",
        "format",
        "trajectories",
        "tool_calls",
        "tool_results",
        "tool_errors",
        "unanswered",
        "orphans",
        "assistant_turns",
        "user_turns",
        "max_parallel",
        "tool_names",
        "tokens_input",
        "tokens_output",
        "tokens_cache_read",
        "tokens_cache_write",
        "tokens_reasoning",
        "tokens_total",
        "bad_lines",
        "unknown_records",
        "fidelity_gaps",
        "error",
    ])?;
    for row in rows {
        writer.write_record(csv_record(row).iter().map(|cell| cell.as_bytes()))?;
    }
    let text = writer.into_inner().map_err(|e| io::Error::other(e.to_string()))?;
    printer.raw(&String::from_utf8_lossy(&text))
}

fn csv_record(row: &Row) -> Vec<Printable> {
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
        row.error.clone().unwrap_or_default(),
    ]
}

/// Names as a JSON list: a name may have blanks and commas in it.
fn as_list<'p>(names: impl Iterator<Item = &'p Printable>) -> Printable {
    let quote = |name: &Printable| name.reshape(|name| serde_json::Value::from(name).to_string());
    let names: Vec<Printable> = names.map(quote).collect();
    printable!("[{}]", Printable::join(&names, ","))
}

fn print_table(printer: &mut Printer, rows: &[Row]) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(vec![
        Column::words("file").gives(Give::Start),
        Column::words("format").leaves(9),
        Column::numbers("runs").leaves(8),
        Column::numbers("calls"),
        Column::numbers("results").leaves(4),
        Column::numbers("failed"),
        Column::numbers("unanswered").leaves(5),
        Column::numbers("orphans").leaves(3),
        Column::numbers("steps"),
        Column::numbers("turns"),
        Column::numbers("parallel").leaves(6),
        Column::numbers("tools").leaves(7),
        Column::numbers("tokens"),
        Column::numbers("skipped").leaves(2),
        Column::numbers("gaps").leaves(1),
    ]);
    for row in rows {
        table.row(table_row(row, style::PLAIN));
    }
    table.total(table_row(&Row::total(rows), style::STRONG));
    let limit = printer.terminal_width();
    let left_out = table.print(printer, limit)?;
    if !left_out.is_empty() && printer.verbosity > Verbosity::Quiet {
        let left_out: Vec<Printable> = left_out.into_iter().map(Into::into).collect();
        let words = printable!(
            "hidden columns: {}; use a wider terminal or --format csv",
            Printable::join(&left_out, ", ")
        );
        printer.notice(&Line::of(style::DIM, words))?;
    }
    Ok(())
}

fn table_row(row: &Row, tone: Style) -> Vec<Cell> {
    let number = |n: Option<u64>, alarm: Style| match n {
        None => (style::DIM, "\u{2013}".into()),
        Some(0) => (style::DIM, "0".into()),
        Some(n) => (alarm, printable!("{}", n)),
    };
    if row.error.is_some() {
        return vec![(style::PLAIN, row.file.clone()), (style::BAD, "unreadable".into())];
    }
    let gaps = row.fidelity_gaps.map(|f| f.missing().count() as u64);
    vec![
        (tone, row.file.clone()),
        (tone, row.format.unwrap_or_default().into()),
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
        match row.tokens {
            Some(tokens) => (tone, human::count(tokens.total)),
            None => (style::DIM, "\u{2013}".into()),
        },
        number(row.bad_lines, style::WARN),
        number(gaps, tone),
    ]
}
