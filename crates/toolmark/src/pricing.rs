//! The options for prices.

use crate::printer::Printer;
use clap::Args;
use std::path::PathBuf;
use toolmark_app::Stop;
use toolmark_app::prices;
use toolmark_feed::usage::Prices;

/// Options for prices.
#[derive(Debug, Args)]
pub(crate) struct PriceArgs {
    /// File of prices per model, which take precedence over list prices [default:
    /// ~/.config/toolmark/prices.yaml]
    #[arg(long, value_name = "FILE")]
    pub(crate) prices: Option<PathBuf>,
}

impl PriceArgs {
    /// Reads the prices.
    pub(crate) fn open(&self, printer: &mut Printer) -> Result<Prices, Stop> {
        prices::open(self.prices.as_deref(), printer)
    }
}
