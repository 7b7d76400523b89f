//! The command line: its commands, their common options and the help.

use crate::commands::{
    check, compare, completions, convert, feed, formats, grade, graders, guard, help, init, judge,
    lint, man, mcp, mine, prices, rules, run, runs, schema, serve, show, stats, trend,
};
use crate::exit::Exit;
use crate::printer::{Color, Printer, Verbosity};
use anstyle::{AnsiColor, Style};
use clap::builder::{PossibleValuesParser, Styles, TypedValueParser};
use clap::{ArgAction, Args, Parser, Subcommand};
use toolmark_app::pool::Pool;
use toolmark_app::reading::FileReader;
use toolmark_redact::Redactor;
use toolmark_trace::{FORMATS, Format, ReadOptions, format_by_id};

const STYLES: Styles = Styles::styled()
    .header(Style::new().bold())
    .usage(Style::new().bold())
    .literal(AnsiColor::Cyan.on_default())
    .placeholder(Style::new().dimmed())
    .valid(AnsiColor::Green.on_default())
    .invalid(AnsiColor::Yellow.on_default())
    .error(AnsiColor::Red.on_default().bold());

const EXAMPLES: &str = "\
Examples:
  toolmark show                       the newest sessions on this machine
  toolmark show session.jsonl         one run as a timeline
  toolmark stats --by day             calls, tokens, time and cost of each day
  toolmark convert run.json --to atif the same run in another tool's format
  toolmark check                      findings in the newest sessions
  toolmark feed                       what keeps going wrong, and the fix
  toolmark trend                      what changed, and since when
  toolmark serve                      the same as a page that stays up to date
  toolmark grade spec.yaml runs/      traces against a spec
  toolmark run spec.yaml              agents on the cases of a spec, graded
  toolmark compare old.json new.json  what changed between two runs
  toolmark lint spec.yaml             all errors in a spec
  toolmark mine runs/                 a spec from runs that passed
  toolmark formats                    the formats that can be read
  toolmark help tutorial              a page of the book; `toolmark help` lists them";

/// Reads what an AI agent did, and says with evidence whether its tool calls were right.
#[derive(Debug, Parser)]
#[command(name = "toolmark", version, styles = STYLES, arg_required_else_help = true)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", Exit::help()))]
#[command(disable_help_subcommand = true, propagate_version = false)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: CliCommand,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    Show(show::Show),
    Stats(stats::Stats),
    Convert(convert::Convert),
    Check(Box<check::CheckCommand>),
    Feed(Box<feed::Feed>),
    Trend(Box<trend::TrendCommand>),
    Serve(Box<serve::Serve>),
    Mcp(mcp::McpCommand),
    Grade(Box<grade::Grade>),
    Run(Box<run::RunTrialsCommand>),
    Runs(runs::Runs),
    Compare(compare::Compare),
    Lint(lint::Lint),
    Mine(mine::Mine),
    Judge(Box<judge::Judge>),
    Guard(guard::Guard),
    Init(init::Init),
    Graders(graders::GradersCommand),
    Rules(rules::RulesCommand),
    Prices(prices::ShowPrices),
    Schema(schema::SchemaCommand),
    Formats(formats::Formats),
    Completions(completions::Completions),
    Man(man::Man),
    Help(help::Help),
}

/// Options of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// When to use colour: auto, always or never
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value = "auto")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    pub(crate) color: Color,
    /// Print errors and results only
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Print all details about what was read
    #[arg(short, long, global = true)]
    verbose: bool,
    /// Show secrets instead of masking them
    #[arg(long = "no-redact", global = true, action = ArgAction::SetFalse)]
    redacts: bool,
}

impl OutputArgs {
    /// Returns a printer with these options.
    pub(crate) fn printer(&self) -> Printer {
        let verbosity = match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (_, true) => Verbosity::Verbose,
            _ => Verbosity::Normal,
        };
        Printer::new(self.color, verbosity, Redactor::new(self.redacts))
    }
}

/// Options for reading traces.
#[derive(Debug, Args)]
pub(crate) struct ReadingArgs {
    /// Read as this format instead of detecting it (see `toolmark formats`)
    #[arg(id = "as", long, value_name = "FORMAT", value_parser = format_id(), hide_possible_values = true)]
    format: Option<&'static str>,
}

impl ReadingArgs {
    /// The requested format.
    pub(crate) fn format(&self) -> Option<&'static dyn Format> {
        self.format.and_then(format_by_id)
    }

    /// Returns a reader that reads one file at a time.
    pub(crate) fn reader(&self, printer: &Printer) -> FileReader {
        self.reader_with(Pool::new(None), printer)
    }

    /// Returns a reader with the given threads.
    pub(crate) fn reader_with(&self, pool: Pool, printer: &Printer) -> FileReader {
        let options = ReadOptions { force: self.format(), ..ReadOptions::default() };
        FileReader::new(options, pool, printer.verbosity)
    }
}

/// Accepts the ID of a format; clap suggests the nearest one for any other word.
pub(crate) fn format_id() -> impl TypedValueParser<Value = &'static str> {
    let ids = FORMATS.iter().map(|f| f.info().id);
    PossibleValuesParser::new(ids)
        .map(|id| format_by_id(&id).map_or("", |format: &'static dyn Format| format.info().id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
