//! `tool-retries`: checks that failing tools were not retried too often.

use super::calls::{ActualCall, made};
use super::question::build;
use crate::mastra::graders::retries::{patterns, score};
use crate::reading::{ReadingQuestion, count};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolmark_grade::{GraderInfo, Taxonomy, schema_of};
use toolmark_outcome::{EvidenceRole, NumberRules, Outcome, Profile, Subject, Verdict, equal};

const PROFILES: &[Profile] = &[Profile::Mastra];

/// Maximum number of listed calls; the rest are only counted.
const MAX_SHOWN: usize = 20;

/// Limit on retries of a failing tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "ToolRetriesConfig")]
struct ToolRetriesConfig {
    /// Maximum number of retries in a row; 2 by default.
    #[serde(default, alias = "maxRetriesPerTool")]
    max_retries: Option<usize>,
}

pub(crate) static INFO: GraderInfo = GraderInfo {
    id: "tool-retries",
    aliases: &["tool_retries"],
    origin: "toolmark",
    summary: "fails if a failing tool was retried too often",
    docs: "Fails if a failing tool was retried too often. A retry is a call with the same tool and the same arguments right \
after one that failed; a call with other arguments is another attempt. It passes where no row of retries is longer than \
`max_retries` (2). The score is 1, less 0.2 for every retry beyond.

The profile `mastra` (1.10.2, tool failures) counts every call of the same tool after one that failed, whatever its \
arguments, and lists the rows as `patterns`: tool, retries, whether it succeeded in the end, whether another tool was \
tried instead.",
    example: "type: tool-retries\nconfig:\n  max_retries: 1",
    taxonomy: Taxonomy::TRAJECTORY,
    profiles: PROFILES,
    schema: schema_of::<ToolRetriesConfig>,
    build: |building| {
        let config = building.read::<ToolRetriesConfig>()?;
        let max_retries = config.max_retries.unwrap_or(2);
        build(building, PROFILES, ToolRetries { max_retries })
    },
};

struct ToolRetries {
    max_retries: usize,
}

/// Returns the indices of calls that repeat a call that failed directly before, grouped in
/// sequences.
fn retries(made: &[ActualCall<'_>]) -> Vec<Vec<usize>> {
    let same_args = |a: &ActualCall<'_>, b: &ActualCall<'_>| match (&a.args, &b.args) {
        (Some(a), Some(b)) => equal(a, b, NumberRules::Json),
        (a, b) => a.is_none() && b.is_none(),
    };
    let mut rows: Vec<Vec<usize>> = Vec::new();
    for at in 1..made.len() {
        let (before, call) = (&made[at - 1], &made[at]);
        if before.failed && before.name == call.name && same_args(before, call) {
            match rows.last_mut() {
                Some(row) if row.last() == Some(&(at - 1)) => row.push(at),
                _ => rows.push(vec![at]),
            }
        }
    }
    rows
}

impl ReadingQuestion for ToolRetries {
    fn answer(&self, subject: &Subject<'_>, profile: Profile) -> Outcome {
        let view = &subject.view;
        let made = made(view);
        if profile == Profile::Mastra {
            let patterns = patterns(&made);
            let score = score(&patterns, self.max_retries);
            let total: usize = patterns.iter().map(|pattern| pattern.retries).sum();
            let list: Vec<_> = patterns
                .iter()
                .map(|p| json!([p.tool, p.retries, p.succeeded, p.fell_back]))
                .collect();
            let mut outcome = Outcome::scored(Verdict::of(score >= 1.0), score, String::new())
                .with_metric("totalRetries", total)
                .with_metric("patterns", json!(list));
            outcome.reason = format!("{total} calls after one of the same tool that failed").into();
            for pattern in patterns.iter().take(MAX_SHOWN) {
                let text = format!("{}: tried again {} times", pattern.tool, pattern.retries);
                outcome.evidence.push(view.evidence(
                    EvidenceRole::Context,
                    text,
                    made[pattern.last].seen,
                ));
            }
            return outcome;
        }
        let rows = retries(&made);
        let excess: usize = rows.iter().map(|row| row.len().saturating_sub(self.max_retries)).sum();
        let total: usize = rows.iter().map(Vec::len).sum();
        let reason = match total {
            0 => "no failed call was repeated".to_owned(),
            _ => format!("{} repeat a failed call, {excess} too many", count(total, "call")),
        };
        let score = (1.0 - 0.2 * excess as f64).max(0.0);
        let mut outcome = Outcome::scored(Verdict::of(excess == 0), score, reason)
            .with_metric("retries", total)
            .with_metric("excess", excess);
        let wrong = rows.iter().flat_map(|row| row.iter().skip(self.max_retries));
        for at in wrong.take(MAX_SHOWN) {
            let text = "the same call failed right before";
            outcome.evidence.push(view.evidence(EvidenceRole::Violation, text, made[*at].seen));
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use crate::scores::testing::{own, theirs};
    use serde_json::{Value, json};
    use toolmark_outcome::Profile::Mastra;

    const ID: &str = "tool-retries";

    /// Builds a call for every word: its argument, with `!` for a failed call.
    fn tries(words: &str) -> Value {
        let one = |word: &str| {
            let status = if word.ends_with('!') { "error" } else { "ok" };
            json!({"tool": "t", "input": {"x": word.trim_end_matches('!')}, "status": status})
        };
        words.split_whitespace().map(one).collect()
    }

    #[test]
    fn the_same_again_or_something_else() {
        for (words, ours, mastra) in [
            ("a! a! a", 1.0, 1.0),
            ("a! a! a! a", 0.8, 0.8),
            ("a! b! c! d", 1.0, 0.8),
            ("a a a", 1.0, 1.0),
            ("", 1.0, 1.0),
        ] {
            assert_eq!(own(ID, json!({}), &tries(words)).score, Some(ours), "{words}");
            let outcome = theirs(ID, Mastra, json!({}), &tries(words));
            assert_eq!(outcome.score, Some(mastra), "{words}");
        }
        let outcome = theirs(ID, Mastra, json!({}), &tries("a! a!"));
        assert_eq!(outcome.metrics["patterns"], json!([["t", 1, false, false]]));
    }
}
