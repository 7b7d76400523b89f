//! The result records of Vally, as JSON lines.

use crate::jsonl::lines;
use crate::{Report, ReportError, ReportOptions};
use std::io::Write;
use toolmark_peers::vally::report::records;

pub(crate) fn write(
    report: &Report<'_>,
    options: &ReportOptions,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let Some(run) = report.graded else { return Ok(()) };
    lines(&records(run, options.generated_at), out)
}

#[cfg(test)]
mod tests {
    use crate::testing;
    use serde_json::{Value, json};

    fn records() -> Vec<Value> {
        testing::report("vally").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn records_have_the_fields_of_vally() {
        let records = records();
        insta::assert_json_snapshot!([&records[2], records.last().unwrap()]);
    }

    #[test]
    fn what_cannot_be_told_is_an_error_and_no_verdict() {
        let records = records();
        let seen: Vec<(&str, &Value)> = records[..7]
            .iter()
            .map(|record| (record["status"].as_str().unwrap(), &record["gradeResult"]))
            .collect();
        assert_eq!(seen[0].0, "success");
        assert_eq!(seen[0].1["passed"], true);
        assert_eq!((seen[3].0, &seen[3].1["status"]), ("error", &json!("error")));
        assert_eq!(seen[3].1["details"][0]["passed"], true);
        assert_eq!(seen[3].1["details"][1]["status"], "error");
        assert_eq!(seen[3].1["details"][1]["score"], Value::Null);
        assert_eq!((seen[5].0, seen[5].1), ("skipped", &Value::Null));
        assert_eq!((seen[6].0, seen[6].1), ("error", &Value::Null));
    }
}
