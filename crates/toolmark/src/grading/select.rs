//! Case selection: `--case` and `--tag`.

use crate::args::at_least_one;
use clap::Args;
use std::num::NonZeroUsize;
use toolmark_app::grade::select::CaseSelection;

/// Options that select cases.
#[derive(Debug, Args)]
pub(crate) struct CaseArgs {
    /// Only cases whose id matches this pattern (* and ?); may be given several times
    #[arg(long = "case", alias = "test-id", value_name = "ID")]
    cases: Vec<String>,
    /// Only cases with this tag; may be given several times
    #[arg(long = "tag", value_name = "TAG[=VALUE]")]
    tags: Vec<String>,
    /// Only this many cases, chosen at random
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    sample: Option<NonZeroUsize>,
    /// Take the cases in random order
    #[arg(long)]
    shuffle: bool,
    /// Seed of --sample and --shuffle
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    seed: u64,
}

impl CaseArgs {
    /// The selection of the command line.
    pub(crate) fn selection(&self) -> CaseSelection {
        CaseSelection {
            cases: self.cases.clone(),
            tags: self.tags.clone(),
            sample: self.sample.map(NonZeroUsize::get),
            shuffle: self.shuffle,
            seed: self.seed,
        }
    }
}
