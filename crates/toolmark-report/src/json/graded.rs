//! The JSON object of grading.

use crate::ReportOptions;
use crate::model::{CaseResult, CaseSummary, PrintableSummary, RunResult};
use serde::Serialize;
use toolmark_outcome::Printable;

#[derive(Serialize)]
pub(super) struct JsonGradedShape<'r> {
    /// Schema version.
    schema_version: u32,
    /// Version of toolmark.
    toolmark: &'static str,
    spec: &'r str,
    dialect: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    generated_at: Option<String>,
    outcomes: &'r [CaseResult],
    cases: &'r [CaseSummary],
    summary: &'r PrintableSummary,
    notes: &'r [Printable],
}

pub(super) fn shape<'r>(run: &'r RunResult, options: &ReportOptions) -> JsonGradedShape<'r> {
    JsonGradedShape {
        schema_version: super::SCHEMA_VERSION,
        toolmark: env!("CARGO_PKG_VERSION"),
        spec: &run.spec,
        dialect: run.dialect,
        name: run.name.as_deref(),
        generated_at: options.generated_at.map(|time| time.to_string()),
        outcomes: &run.outcomes,
        cases: &run.cases,
        summary: &run.summary,
        notes: &run.notes,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing;
    use serde_json::Value;

    #[test]
    fn says_all_of_it() {
        let run = testing::sample();
        let report: Value = serde_json::from_str(&testing::report("json")).unwrap();
        assert_eq!(report["outcomes"].as_array().unwrap().len(), run.outcomes.len());
        assert_eq!(report["summary"]["failed"], run.summary.failed);
        assert_eq!(report["notes"][0], *run.notes[0]);
        assert!(report.get("generated_at").is_none());
        // What a terminal would obey is escaped, not lost.
        let hostile = report["outcomes"].as_array().unwrap();
        let named = hostile.iter().any(|o| o["case"] == testing::HOSTILE);
        assert!(named, "the hostile name is another one");
    }
}
