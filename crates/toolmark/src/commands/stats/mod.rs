//! `toolmark stats`: the counts of many traces, a row for each, or for each day, month,
//! project, model or tool.

mod cells;
mod files;
mod groups;
mod rows;

use crate::Stop;
use crate::args::{InputArgs, SessionArgs};
use crate::exit::Exit;
use crate::pricing::{PriceArgs, print_unpriced};
use crate::printer::{Line, Printer, Verbosity, style};
use crate::reading::{Next, Runs};
use clap::{Args, ValueEnum};
use files::Row;
use rows::Records;
use std::io;
use toolmark_feed::usage::{GroupBy, SessionUsage, Spend, UsageTable};
use toolmark_redact::{Printable, printable};

const EXAMPLES: &str = "\
Examples:
  toolmark stats                            the newest sessions of this machine
  toolmark stats --by day --since 30d       what was used on each day
  toolmark stats --by project --prices prices.yaml
  toolmark stats runs/                      every trace below a directory
  toolmark stats 'runs/**/*.jsonl' --format csv > runs.csv
  zcat session.jsonl.gz | toolmark stats -
  toolmark stats runs/ --format jsonl | jq 'select(.tool_errors > 0) | .file'

A missing number (null, or \u{2013} in the table) is not recorded by the format. A cost is
made of tokens and the prices of a file (see `toolmark prices`); what has no price there
has no cost.";

/// Count calls, failures, tokens, time and cost of sessions
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_arg("traces", SessionArgs::by_default))]
pub(crate) struct Stats {
    /// A row per day, month, project, model or tool instead of one per file
    #[arg(long, value_enum, value_name = "WHAT")]
    by: Option<By>,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    format: Output,
    #[command(flatten)]
    prices: PriceArgs,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    sessions: SessionArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    Day,
    Month,
    Project,
    Model,
    Tool,
}

impl From<By> for GroupBy {
    fn from(by: By) -> Self {
        match by {
            By::Day => Self::Day,
            By::Month => Self::Month,
            By::Project => Self::Project,
            By::Model => Self::Model,
            By::Tool => Self::Tool,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
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
        let mut rows: Vec<Row> = Vec::new();
        let redactor = printer.redactor;
        let work = |runs: &mut Runs<'_>| files::count(runs, joins, prices.as_ref(), redactor);
        let walked = reader.each(&selected.inputs, printer, work, |row| {
            rows.push(row.unwrap_or_else(|unreadable| {
                Row::unreadable(redactor.apply(unreadable.file), redactor.apply(unreadable.error))
            }));
            Ok(if selected.limit == Some(rows.len() as u64) { Next::Enough } else { Next::More })
        })?;
        let records = |rows: &[Row]| Records {
            name: "stats",
            columns: files::COLUMNS,
            rows: rows.iter().map(files::record).collect(),
        };
        match self.format {
            Output::Table => {
                let hidden = files::print_table(printer, &rows)?;
                print_hidden(hidden, printer)?;
            }
            Output::Json => rows::print_json(printer, &rows)?,
            Output::Jsonl => rows::print_jsonl(printer, &rows)?,
            Output::Csv => records(&rows).print_csv(printer)?,
            Output::Parquet => records(&rows).print_parquet(printer)?,
        }
        // A part of the files may have none.
        if rows.is_empty() && !self.input.list.is_part() {
            return Err(selected.nothing_left(&reader, &walked, &named).into());
        }
        let mut spend = Spend::default();
        rows.iter().for_each(|row| spend.merge(&row.spend));
        print_notes(&selected.notes, printer)?;
        print_unpriced(&spend, prices.as_ref(), printer)?;
        walked.print_note(printer)?;
        Ok(if walked.unread { Exit::Unread } else { Exit::Ok })
    }

    fn by_group(self, by: GroupBy, printer: &mut Printer) -> Result<Exit, Stop> {
        let prices = self.prices.open(printer)?;
        let mut selected = self.sessions.select_at_most(&self.input, None)?;
        let reader = self.input.files.reader(printer).within(selected.project.clone());
        let work = |runs: &mut Runs<'_>| {
            let sessions: Vec<SessionUsage> = runs.map(|run| SessionUsage::of(&run)).collect();
            (!sessions.is_empty()).then_some(sessions)
        };
        let (mut table, mut files) = (UsageTable::new(by), 0);
        let walked = reader.each(&selected.inputs, printer, work, |sessions| {
            if let Ok(sessions) = sessions {
                files += 1;
                sessions.into_iter().for_each(|one| table.add(one, prices.as_ref()));
            }
            Ok(if selected.limit == Some(files) { Next::Enough } else { Next::More })
        })?;
        // A part of the files may have none.
        if files == 0 && !self.input.list.is_part() {
            return Err(selected.nothing_left(&reader, &walked, &self.input.names()).into());
        }
        if table.repeated > 0 {
            let again = crate::human::things(table.repeated, "response");
            selected.notes.push(format!("{again} met again in other files and counted once"));
        }
        let (groups, total) = table.finish();
        let redactor = printer.redactor;
        let groups: Vec<groups::Group> =
            groups.into_iter().map(|group| group.redact(redactor)).collect();
        let total = total.redact(redactor);
        let columns = groups::columns(by);
        let records = |groups: &[groups::Group]| Records {
            name: "usage",
            columns: &columns,
            rows: groups.iter().map(groups::record).collect(),
        };
        match self.format {
            Output::Table => {
                let hidden = groups::print_table(printer, by, &groups, &total)?;
                print_hidden(hidden, printer)?;
            }
            Output::Json => rows::print_json(printer, &groups)?,
            Output::Jsonl => rows::print_jsonl(printer, &groups)?,
            Output::Csv => records(&groups).print_csv(printer)?,
            Output::Parquet => records(&groups).print_parquet(printer)?,
        }
        print_notes(&selected.notes, printer)?;
        print_unpriced(&total.spend, prices.as_ref(), printer)?;
        walked.print_note(printer)?;
        Ok(if walked.unread { Exit::Unread } else { Exit::Ok })
    }
}

/// Says which columns of a table found no place.
fn print_hidden(hidden: Vec<&'static str>, printer: &mut Printer) -> io::Result<()> {
    if hidden.is_empty() || printer.verbosity == Verbosity::Quiet {
        return Ok(());
    }
    let hidden: Vec<Printable> = hidden.into_iter().map(Into::into).collect();
    let words = printable!(
        "hidden columns: {}; use a wider terminal or --format csv",
        Printable::join(&hidden, ", ")
    );
    printer.notice(&Line::of(style::DIM, words))
}

fn print_notes(notes: &[String], printer: &mut Printer) -> io::Result<()> {
    if printer.verbosity == Verbosity::Quiet {
        return Ok(());
    }
    for note in notes {
        let words = printer.redact(format!("note: {note}"));
        printer.notice(&Line::of(style::DIM, words))?;
    }
    Ok(())
}
