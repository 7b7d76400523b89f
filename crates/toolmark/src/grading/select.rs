//! Case selection: `--case` and `--tag`.

use clap::Args;
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
}

impl CaseArgs {
    /// The selection of the command line.
    pub(crate) fn selection(&self) -> CaseSelection {
        CaseSelection { cases: self.cases.clone(), tags: self.tags.clone() }
    }
}
