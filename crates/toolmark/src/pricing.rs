//! The price file: its location, and the tokens without a price.

use crate::Stop;
use crate::exit::Failure;
use crate::grading::spec::print;
use crate::human;
use crate::printer::{Line, Printer, Verbosity, style};
use clap::Args;
use std::env;
use std::io;
use std::path::{Path, PathBuf};
use toolmark_config::Source;
use toolmark_feed::usage::{Prices, Spend};

/// Default path of the price file, below the configuration directory.
const FILE: &str = "toolmark/prices.yaml";

/// Maximum number of reasons for missing prices in a note.
const MAX_REASONS: usize = 5;

/// Options for prices.
#[derive(Debug, Args)]
pub(crate) struct PriceArgs {
    /// File of prices per model [default: ~/.config/toolmark/prices.yaml]
    #[arg(long, value_name = "FILE")]
    pub(crate) prices: Option<PathBuf>,
}

impl PriceArgs {
    /// Reads the prices; `None` if no file is named and the default file does not exist.
    pub(crate) fn open(&self, printer: &mut Printer) -> Result<Option<Prices>, Stop> {
        match (&self.prices, default_file()) {
            (Some(path), _) => read(path, printer).map(Some),
            (None, Some(path)) if path.is_file() => read(&path, printer).map(Some),
            _ => Ok(None),
        }
    }
}

/// Path of the default price file.
pub(crate) fn default_file() -> Option<PathBuf> {
    let settings = env::var_os("XDG_CONFIG_HOME").filter(|value| !value.is_empty());
    let settings = settings.map(PathBuf::from);
    settings.or_else(|| Some(env::home_dir()?.join(".config"))).map(|folder| folder.join(FILE))
}

fn read(path: &Path, printer: &mut Printer) -> Result<Prices, Stop> {
    let source = Source::open_named(path)?;
    let (prices, problems) = Prices::read(&source);
    print(printer, &source, &problems)?;
    let errors = problems.iter().filter(|problem| problem.is_error()).count() as u64;
    prices.ok_or_else(|| {
        let errors = human::things(errors, "error");
        Failure::usage(format!("{} has {errors}; no cost is known", path.display())).into()
    })
}

/// Prints which tokens have no cost, and why.
pub(crate) fn print_unpriced(
    spend: &Spend,
    prices: Option<&Prices>,
    printer: &mut Printer,
) -> io::Result<()> {
    let Some(prices) = prices.filter(|_| printer.verbosity > Verbosity::Quiet) else {
        return Ok(());
    };
    let words = format!("note: costs at the prices of {} in {}", prices.date, prices.file);
    printer.notice(&Line::of(style::DIM, printer.redact(words)))?;
    let unpriced = spend.unpriced();
    if unpriced.is_empty() {
        return Ok(());
    }
    let tokens: u64 = unpriced.values().sum();
    let mut reasons: Vec<String> = unpriced
        .iter()
        .take(MAX_REASONS)
        .map(|(why, tokens)| format!("{why} ({})", human::things(*tokens, "token")))
        .collect();
    if unpriced.len() > MAX_REASONS {
        reasons.push(format!("{} more", unpriced.len() - MAX_REASONS));
    }
    let tokens = human::things(tokens, "token");
    let words = format!("note: {tokens} without a cost: {}", reasons.join("; "));
    printer.notice(&Line::of(style::WARN, printer.redact(words)))
}
