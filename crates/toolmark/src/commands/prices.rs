//! `toolmark prices`: prints the price file, its date, and the models without a price.

use crate::args::{InputArgs, SessionArgs, TextFormat};
use crate::exit::Exit;
use crate::human;
use crate::pricing::PriceArgs;
use crate::printer::{Line, Printer, style};
use clap::Args;
use serde::Serialize;
use toolmark_app::Stop;
use toolmark_app::prices::{UnpricedModel, default_file, unpriced_models};
use toolmark_feed::usage::{ModelPrice, Prices};
use toolmark_redact::{Printable, printable};
use toolmark_report::terminal::table::{Cell, Column, Give, Table};

const EXAMPLES: &str = "\
Examples:
  toolmark prices                           the file in ~/.config/toolmark, and what it lacks
  toolmark prices --prices team.yaml runs/  another file, and the models of these traces
  toolmark prices --format json | jq .unpriced

A file of prices is YAML: `date: 2026-11-01`, and under `models:` a line per model such as
`some-model: {input: 3, output: 15, cache_read: 0.3, cache_write: 3.75}`, in US dollars
per million tokens. toolmark has no prices of its own and guesses none.";

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

#[derive(Serialize)]
struct Shape {
    file: Option<Printable>,
    date: Option<String>,
    source: Option<Printable>,
    models: Vec<Priced>,
    unpriced: Vec<UnpricedModel>,
}

/// Prices in US dollars per million tokens.
#[derive(Serialize)]
struct Priced {
    model: Printable,
    input: Option<f64>,
    output: Option<f64>,
    cache_read: Option<f64>,
    cache_write: Option<f64>,
}

impl ShowPrices {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let prices = self.prices.open(printer)?;
        let (unpriced, is_unread) = self.unpriced(prices.as_ref(), printer)?;
        let shape = Shape {
            file: prices.as_ref().map(|prices| printer.redact(prices.file.clone())),
            date: prices.as_ref().map(|prices| prices.date.to_string()),
            source: prices.as_ref().and_then(|prices| Some(printer.redact(prices.source.clone()?))),
            models: prices
                .iter()
                .flat_map(Prices::models)
                .map(|one| priced(one, printer))
                .collect(),
            unpriced,
        };
        match self.format {
            TextFormat::Json => printer.json(&shape)?,
            TextFormat::Text => print(&shape, printer)?,
        }
        Ok(if is_unread { Exit::Unread } else { Exit::Ok })
    }

    /// The models of the sessions that have no price, by tokens in descending order.
    fn unpriced(
        &self,
        prices: Option<&Prices>,
        printer: &mut Printer,
    ) -> Result<(Vec<UnpricedModel>, bool), Stop> {
        let selected = match self.sessions.select_all(&self.input) {
            Ok(selected) => selected,
            // A machine without sessions has no model without a price.
            Err(_) if self.input.names().is_empty() => return Ok((Vec::new(), false)),
            Err(failure) => return Err(failure.into()),
        };
        let reader = self.input.files.reader(printer);
        unpriced_models(&selected, reader, prices, printer)
    }
}

fn priced((model, price): (&str, &ModelPrice), printer: &Printer) -> Priced {
    let usd = |nano: Option<u64>| nano.map(|nano| nano as f64 / 1e9);
    Priced {
        model: printer.redact(model.to_owned()),
        input: usd(price.input),
        output: usd(price.output),
        cache_read: usd(price.cache_read),
        cache_write: usd(price.cache_write),
    }
}

fn print(shape: &Shape, printer: &mut Printer) -> Result<(), Stop> {
    match (&shape.file, &shape.date) {
        (Some(file), Some(date)) => {
            let date = Printable::compose(format_args!("{date}"));
            let head = printable!("prices of {} in {}", date, file);
            printer.line(&Line::of(style::STRONG, head))?;
            if let Some(source) = &shape.source {
                printer.line(&Line::of(style::DIM, printable!("from {}", source)))?;
            }
            let mut table = Table::new(vec![
                Column::words("model").gives(Give::End),
                Column::numbers("input"),
                Column::numbers("output"),
                Column::numbers("cache read"),
                Column::numbers("cache write"),
            ]);
            for one in &shape.models {
                let prices = [one.input, one.output, one.cache_read, one.cache_write];
                let mut cells: Vec<Cell> = vec![(style::PLAIN, one.model.clone())];
                cells.extend(prices.map(|usd| match usd {
                    Some(usd) => (style::PLAIN, printable!("{}", usd)),
                    None => (style::DIM, "\u{2013}".into()),
                }));
                table.row(cells);
            }
            let width = printer.terminal_width();
            printer.table(&table, width)?;
            printer.line(&Line::of(style::DIM, "US dollars per million tokens"))?;
        }
        _ => {
            let looked = default_file().map(|path| path.display().to_string());
            let words = format!(
                "no price file: costs are omitted (looked for {})",
                looked.unwrap_or_else(|| "prices.yaml in the configuration directory".to_owned())
            );
            printer.line(&Line::of(style::STRONG, printer.redact(words)))?;
        }
    }
    if shape.unpriced.is_empty() {
        return Ok(());
    }
    printer.line(&Line::new())?;
    printer.line(&Line::of(style::STRONG, "models without a price"))?;
    for one in &shape.unpriced {
        let model = one.model.clone().unwrap_or_else(|| "no model recorded".into());
        let tokens = human::count(one.tokens);
        let mut words = printable!("{}: {} tokens", model, tokens);
        if !one.kinds.is_empty() {
            let kinds: Vec<Printable> = one.kinds.iter().map(|kind| (*kind).into()).collect();
            words = printable!("{}, no price for {}", words, Printable::join(&kinds, ", "));
        }
        printer.line(&Line::indent(2).with(style::WARN, words))?;
    }
    Ok(())
}
