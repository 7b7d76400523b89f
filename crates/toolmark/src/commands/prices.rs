//! `toolmark prices`: prints the price file, its date, and the models without a price.

use crate::args::{InputArgs, SessionArgs, TextFormat};
use crate::exit::Exit;
use crate::human;
use crate::pricing::PriceArgs;
use crate::printer::{Printer, StyledLine, style};
use clap::Args;
use toolmark_app::Stop;
use toolmark_app::prices::{
    ModelRates, PriceReport, SessionModels, UnpricedModel, models_of_sessions,
};
use toolmark_feed::usage::Prices;
use toolmark_redact::{Printable, printable};
use toolmark_report::terminal::table::{Give, StyledCell, TableColumn, TerminalTable};

const EXAMPLES: &str = "\
Examples:
  toolmark prices                           prices of the models in your sessions, and what has none
  toolmark prices --prices team.yaml runs/  another file, and the models of these traces
  toolmark prices --format json | jq .unpriced

The binary contains the list prices of the providers. A file of prices takes precedence; it is
YAML: `date: 2026-11-01`, and under `models:` a line per model such as
`some-model: {input: 3, output: 15, cache_read: 0.3, cache_write: 3.75}`, in US dollars
per million tokens. No price is guessed.";

/// Show the prices that costs are computed with, and the models that have none
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("traces", SessionArgs::all_by_default), mut_arg("limit", SessionArgs::unlimited))]
pub(crate) struct ShowPrices {
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    format: TextFormat,
    #[command(flatten)]
    prices: PriceArgs,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    sessions: SessionArgs,
}

impl ShowPrices {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let prices = self.prices.open(printer)?;
        let models = self.models(&prices, printer)?;
        let is_unread = models.is_unread;
        let report = PriceReport::new(&prices, models, printer.redactor);
        match self.format {
            TextFormat::Json => printer.json(&report)?,
            TextFormat::Text => print(&report, printer)?,
        }
        Ok(if is_unread { Exit::Unread } else { Exit::Ok })
    }

    fn models(&self, prices: &Prices, printer: &mut Printer) -> Result<SessionModels, Stop> {
        let selected = match self.sessions.select_all(&self.input) {
            Ok(selected) => selected,
            // A machine without sessions has no model without a price.
            Err(_) if self.input.names().is_empty() => return Ok(SessionModels::default()),
            Err(failure) => return Err(failure.into()),
        };
        let reader = self.input.files.reader(printer);
        models_of_sessions(&selected, reader, prices, printer)
    }
}

fn print(report: &PriceReport, printer: &mut Printer) -> Result<(), Stop> {
    if let (Some(file), Some(date)) = (&report.file, &report.date) {
        let date = Printable::compose(format_args!("{date}"));
        let head = printable!("prices of {} in {}", date, file);
        print_table(head, report.source.as_ref(), &report.models, printer)?;
        printer.line(&StyledLine::new())?;
    }
    let head = printable!("list prices of {}", report.list.date);
    let source = Printable::from(report.list.source);
    print_table(head, Some(&source), &report.list.models, printer)?;
    printer.line(&StyledLine::of(style::DIM, printable!("US dollars per million tokens")))?;
    print_unpriced(&report.unpriced, printer)
}

fn print_table(
    head: Printable,
    source: Option<&Printable>,
    models: &[ModelRates],
    printer: &mut Printer,
) -> Result<(), Stop> {
    printer.line(&StyledLine::of(style::STRONG, head))?;
    if let Some(source) = source {
        printer.line(&StyledLine::of(style::DIM, printable!("from {}", source)))?;
    }
    if models.is_empty() {
        return Ok(());
    }
    let mut table = TerminalTable::new(vec![
        TableColumn::words("model").gives(Give::End),
        TableColumn::numbers("input"),
        TableColumn::numbers("output"),
        TableColumn::numbers("cache read"),
        TableColumn::numbers("cache write"),
        TableColumn::numbers("for 1 h"),
    ]);
    for one in models {
        let prices = [one.input, one.output, one.cache_read, one.cache_write, one.cache_write_1h];
        let mut cells: Vec<StyledCell> = vec![(style::PLAIN, one.model.clone())];
        cells.extend(prices.map(|usd| match usd {
            Some(usd) => (style::PLAIN, printable!("{}", usd)),
            None => (style::DIM, "\u{2013}".into()),
        }));
        table.row(cells);
    }
    let width = printer.terminal_width();
    printer.table(&table, width)?;
    Ok(())
}

fn print_unpriced(unpriced: &[UnpricedModel], printer: &mut Printer) -> Result<(), Stop> {
    if unpriced.is_empty() {
        return Ok(());
    }
    printer.line(&StyledLine::new())?;
    printer.line(&StyledLine::of(style::STRONG, "models without a price"))?;
    for one in unpriced {
        let model = one.model.clone().unwrap_or_else(|| "no model recorded".into());
        let tokens = human::count(one.tokens);
        let mut words = printable!("{}: {} tokens", model, tokens);
        if !one.kinds.is_empty() {
            let kinds: Vec<Printable> = one.kinds.iter().map(|kind| (*kind).into()).collect();
            words = printable!("{}, no price for {}", words, Printable::join(&kinds, ", "));
        }
        printer.line(&StyledLine::indent(2).with(style::WARN, words))?;
    }
    Ok(())
}
