//! The result rows of AgentV, as JSON lines.

use crate::jsonl::lines;
use crate::{Report, ReportError, ReportOptions};
use std::io::Write;
use toolmark_peers::agentv::report::rows;

pub(crate) fn write(
    report: &Report<'_>,
    options: &ReportOptions,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let Some(run) = report.graded else { return Ok(()) };
    lines(&rows(run, options.generated_at), out)
}

#[cfg(test)]
mod tests {
    use crate::testing;
    use serde_json::Value;

    #[test]
    fn rows_have_the_fields_of_agentv() {
        let report = testing::report("agentv");
        let rows: Vec<Value> =
            report.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let statuses: Vec<&str> =
            rows.iter().map(|row| row["execution_status"].as_str().unwrap()).collect();
        let (ok, failed, unknown) = ("ok", "quality_failure", "execution_error");
        assert_eq!(statuses, [ok, ok, failed, unknown, failed, unknown, unknown]);
        assert!(rows[0].get("attempt").is_none());
        insta::assert_json_snapshot!(rows[2]);
    }
}
