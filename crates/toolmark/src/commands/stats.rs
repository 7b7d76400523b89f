//! `toolmark stats`: counts per trace, or per day, month, project, model or tool.

use crate::args::{InputArgs, SessionArgs, now};
use crate::exit::{Exit, Failure};
use crate::pricing::PriceArgs;
use crate::printer::{Printer, StyledLine, Verbosity, style};
use clap::{Args, ValueEnum};
use std::io::{self, IsTerminal};
use toolmark_app::Stop;
use toolmark_app::prices::note_unpriced;
use toolmark_app::reading::{Continuation, Runs};
use toolmark_app::stats::files::FileRow;
use toolmark_app::stats::rows::{RowFormat, RowWriter};
use toolmark_app::stats::{files, groups};
use toolmark_feed::usage::{GroupBy, SessionUsage, Spend, UsageTable};
use toolmark_redact::{Printable, printable};
use toolmark_report::ColumnKind;

const EXAMPLES: &str = "\
Examples:
  toolmark stats                            the newest sessions of this machine
  toolmark stats --by day --since 30d       what was used on each day
  toolmark stats --by tool --since yesterday  what each tool used since then
  toolmark stats runs/                      every trace below a directory
  toolmark stats 'runs/**/*.jsonl' --format csv > runs.csv
  zcat session.jsonl.gz | toolmark stats -
  toolmark stats runs/ --format jsonl | jq 'select(.tool_errors > 0) | .file'

A missing number (null, or \u{2013} in the table) is not recorded by the format. Costs
are made of tokens and prices (see `toolmark prices`); models without a price have no cost.";

/// Count calls, failures, tokens, time and cost of sessions
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_arg("traces", SessionArgs::by_default))]
#[command(mut_arg("limit", |limit| limit.help(
    "At most this many sessions, the newest first [default without traces: 50, or all with --by]"
)))]
pub(crate) struct Stats {
    /// A row per day, week, month, session, project, agent, model or tool instead of one per file
    #[arg(long, value_enum, value_name = "WHAT")]
    by: Option<StatsGrouping>,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    format: StatsOutput,
    #[command(flatten)]
    prices: PriceArgs,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    sessions: SessionArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StatsGrouping {
    Day,
    Week,
    Month,
    Session,
    Project,
    Agent,
    Model,
    Tool,
}

impl From<StatsGrouping> for GroupBy {
    fn from(by: StatsGrouping) -> Self {
        match by {
            StatsGrouping::Day => Self::Day,
            StatsGrouping::Week => Self::Week,
            StatsGrouping::Month => Self::Month,
            StatsGrouping::Session => Self::Session,
            StatsGrouping::Project => Self::Project,
            StatsGrouping::Agent => Self::Agent,
            StatsGrouping::Model => Self::Model,
            StatsGrouping::Tool => Self::Tool,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StatsOutput {
    Table,
    Json,
    Jsonl,
    Csv,
    Parquet,
}

impl Stats {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        match self.by {
            Some(by) => self.by_group(by.into(), printer),
            None => self.by_file(printer),
        }
    }

    fn by_file(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let prices = self.prices.open(printer)?;
        let named = self.input.names();
        let selected = self.sessions.select(&self.input)?;
        let reader = self.input.files.reader(printer).within(selected.project.clone());
        // Sub-agents in files of their own have rows of their own, where they are named.
        let joins = named.is_empty();
        let mut writer = self.writer("stats", files::COLUMNS, printer)?;
        let is_on_terminal = writer.is_some() && io::stdout().is_terminal();
        let reader = if is_on_terminal { reader.without_progress() } else { reader };
        let (mut rows, mut count, mut spend) = (Vec::new(), 0, Spend::default());
        let redactor = printer.redactor;
        let work = |runs: &mut Runs<'_>| files::count(runs, joins, &prices, redactor);
        let walked = reader.each(&selected.inputs, printer, work, |row| {
            let row = row.unwrap_or_else(|unreadable| {
                FileRow::unreadable(
                    redactor.apply(unreadable.file),
                    redactor.apply(unreadable.error),
                )
            });
            count += 1;
            spend.merge(&row.spend);
            match &mut writer {
                Some(writer) => writer.push(&row, || files::record(&row))?,
                None => rows.push(row),
            }
            Ok(if selected.limit == Some(count) {
                Continuation::Enough
            } else {
                Continuation::More
            })
        })?;
        match writer {
            Some(writer) => writer.finish()?,
            None => {
                if let Some(table) = files::table(&rows) {
                    let hidden = printer.table(&table, printer.terminal_width())?;
                    print_hidden(hidden, printer)?;
                }
            }
        }
        // A part of the files may have none.
        if count == 0 && !self.input.is_part() {
            return Err(selected.nothing_left(&reader, &walked, &named).into());
        }
        print_notes(&selected.notes, printer)?;
        note_unpriced(&spend, &prices, printer)?;
        walked.report_note(printer)?;
        Ok(if walked.unread { Exit::Unread } else { Exit::Ok })
    }

    /// Returns a row writer, unless the output is a table for people.
    fn writer<'c>(
        &self,
        name: &str,
        columns: &'c [(&'static str, ColumnKind)],
        printer: &mut Printer,
    ) -> Result<Option<RowWriter<'c>>, Stop> {
        let format = match self.format {
            StatsOutput::Table => return Ok(None),
            StatsOutput::Json => RowFormat::Json,
            StatsOutput::Jsonl => RowFormat::Jsonl,
            StatsOutput::Csv => RowFormat::Csv,
            StatsOutput::Parquet if io::stdout().is_terminal() => {
                let failure = Failure::usage("parquet is not text");
                return Err(failure.hint("write it to a file: > stats.parquet").into());
            }
            StatsOutput::Parquet => RowFormat::Parquet,
        };
        let out = Box::new(printer.sink()?);
        RowWriter::new(format, name, columns, now(), out).map(Some)
    }

    fn by_group(self, by: GroupBy, printer: &mut Printer) -> Result<Exit, Stop> {
        let prices = self.prices.open(printer)?;
        let mut selected = self.sessions.select_all(&self.input)?;
        let reader = self.input.files.reader(printer).within(selected.project.clone());
        let work = |runs: &mut Runs<'_>| {
            let sessions: Vec<SessionUsage> = runs.map(|run| SessionUsage::of(&run)).collect();
            (!sessions.is_empty()).then_some(sessions)
        };
        let mut table = UsageTable::new(by);
        let from = (&reader, &self.input.named());
        let (_, walked) = selected.each(from, printer, work, |sessions| {
            sessions.into_iter().for_each(|one| table.add(one, &prices));
        })?;
        if table.repeated > 0 {
            let again = crate::human::things(table.repeated, "response");
            selected.notes.push(format!("{again} met again in other files and counted once"));
        }
        let (groups, total) = table.finish();
        let redactor = printer.redactor;
        let groups: Vec<groups::StatsGroup> =
            groups.into_iter().map(|group| group.redact(redactor)).collect();
        let total = total.redact(redactor);
        let columns = groups::columns(by);
        match self.writer("usage", &columns, printer)? {
            Some(mut writer) => {
                for group in &groups {
                    writer.push(group, || groups::record(group))?;
                }
                writer.finish()?;
            }
            None => {
                let hidden =
                    printer.table(&groups::table(by, &groups, &total), printer.terminal_width())?;
                print_hidden(hidden, printer)?;
            }
        }
        print_notes(&selected.notes, printer)?;
        note_unpriced(&total.spend, &prices, printer)?;
        walked.report_note(printer)?;
        Ok(if walked.unread { Exit::Unread } else { Exit::Ok })
    }
}

/// Prints the names of the dropped columns of a table.
fn print_hidden(hidden: Vec<&'static str>, printer: &mut Printer) -> io::Result<()> {
    if hidden.is_empty() || printer.verbosity == Verbosity::Quiet {
        return Ok(());
    }
    let hidden: Vec<Printable> = hidden.into_iter().map(Into::into).collect();
    let words = printable!(
        "hidden columns: {}; use a wider terminal or --format csv",
        Printable::join(&hidden, ", ")
    );
    printer.notice(&StyledLine::of(style::DIM, words))
}

fn print_notes(notes: &[String], printer: &mut Printer) -> io::Result<()> {
    if printer.verbosity == Verbosity::Quiet {
        return Ok(());
    }
    for note in notes {
        let words = printer.redact(format!("note: {note}"));
        printer.notice(&StyledLine::of(style::DIM, words))?;
    }
    Ok(())
}
