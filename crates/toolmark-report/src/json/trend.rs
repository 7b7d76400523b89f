//! Measures over time as JSON.

use crate::ReportOptions;
use crate::model::TrendRun;
use serde::Serialize;

/// Identifier of this format.
const FORMAT: &str = "toolmark.trend.v1";

/// All measures.
#[derive(Serialize)]
pub(super) struct TrendShape<'r> {
    schema_version: u32,
    format: &'static str,
    version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    generated_at: Option<String>,
    #[serde(flatten)]
    run: &'r TrendRun,
}

pub(super) fn shape<'r>(run: &'r TrendRun, options: &ReportOptions) -> TrendShape<'r> {
    TrendShape {
        schema_version: super::SCHEMA_VERSION,
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION"),
        generated_at: options.generated_at.map(|time| time.to_string()),
        run,
    }
}
