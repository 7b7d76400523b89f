//! The JSON object of a comparison.

use crate::ReportOptions;
use serde::Serialize;
use toolmark_compare::Comparison;
use toolmark_outcome::Verdict;

#[derive(Serialize)]
pub(crate) struct ComparedShape<'r> {
    r#type: &'static str,
    /// Schema version.
    schema_version: u32,
    /// Version of toolmark, and creation time.
    toolmark: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    generated_at: Option<String>,
    /// Verdict of the gates; `null` if there are none.
    verdict: Option<Verdict>,
    #[serde(flatten)]
    comparison: &'r Comparison,
}

pub(crate) fn shape<'r>(comparison: &'r Comparison, options: &ReportOptions) -> ComparedShape<'r> {
    ComparedShape {
        r#type: "comparison",
        schema_version: super::SCHEMA_VERSION,
        toolmark: env!("CARGO_PKG_VERSION"),
        generated_at: options.generated_at.map(|time| time.to_string()),
        verdict: (!comparison.gates.is_empty()).then(|| comparison.verdict()),
        comparison,
    }
}
