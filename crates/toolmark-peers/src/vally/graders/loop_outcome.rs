//! `loop-outcome`: checks whether the agent got stuck, against the expectation.

use super::repeats::{Repeats, Same};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;
use toolmark_config::Spanned;
use toolmark_grade::{Grader, GraderInfo, Taxonomy, schema_of};
use toolmark_outcome::Profile;
use toolmark_outcome::Subject;
use toolmark_outcome::TrajectoryView;
use toolmark_outcome::{Cause, Outcome};
use toolmark_outcome::{Evidence, EvidenceRole};

/// Whether a loop is expected, and the definition of a loop.
#[derive(Debug, Deserialize, JsonSchema)]
struct LoopOutcomeConfig {
    /// Whether a loop is expected. False by default.
    #[serde(default)]
    should_loop: bool,
    /// Maximum number of repetitions of an action that is not yet a loop.
    max_acceptable_retries: u64,
    /// Criterion for the same action: the same tool and arguments
    /// (`name-args`, the default), the same tool (`name`), or the same tool and
    /// result (`observation`).
    #[serde(default, rename = "match")]
    same: Option<Same>,
    /// Regular expressions: only calls of matching tools are inspected,
    /// as if there were no others.
    #[serde(default)]
    tools: Option<Spanned<Vec<Spanned<String>>>>,
    /// The longest cycle of actions that counts as repetition, from 1 to 10.
    #[serde(default)]
    max_cycle_period: Option<Spanned<u64>>,
}

pub(crate) static LOOP_OUTCOME: GraderInfo = GraderInfo {
    id: "loop-outcome",
    aliases: &[],
    origin: "vally",
    summary: "checks whether the agent looped, against `should_loop`",
    docs: "Checks whether the agent looped, and whether that was expected.

The same action N times in a row is N - 1 retries; more than `max_acceptable_retries` are a loop. A run that its host \
stopped for too many iterations looped as well. The grader passes when that equals `should_loop` (false by default).

`match` (here `name-args` by default), `tools` and `max_cycle_period` are those of `max-repeat`.",
    example: "type: loop-outcome\nconfig:\n  max_acceptable_retries: 2",
    taxonomy: Taxonomy::TRAJECTORY,
    profiles: &[Profile::Vally],
    schema: schema_of::<LoopOutcomeConfig>,
    build: |building| {
        let config = building.read::<LoopOutcomeConfig>()?;
        let same = config.same.unwrap_or(Same::NameArgs);
        let repeats =
            Repeats::build(same, config.tools.as_ref(), config.max_cycle_period, building)?;
        let max_retries = config.max_acceptable_retries;
        Some(Arc::new(LoopOutcome { should_loop: config.should_loop, max_retries, repeats }))
    },
};

struct LoopOutcome {
    should_loop: bool,
    max_retries: u64,
    repeats: Repeats,
}

impl Grader for LoopOutcome {
    fn grade(&self, subject: &Subject<'_>) -> Outcome {
        let view = &subject.view;
        let calls = match self.repeats.looked_at(view) {
            Ok(calls) => calls,
            Err(missing) => return Outcome::unknown(Cause::MissingEvidence, missing.0),
        };
        let run = self.repeats.longest(view, &calls);
        let retries = (run.times as u64).saturating_sub(1);
        let stopped = stopped(view);
        let looped = retries > self.max_retries || stopped.is_some();
        let holds = looped == self.should_loop;
        let words = match (&stopped, retries) {
            (Some(end), _) => format!("the run was stopped: {end}"),
            (None, 0) => "no action was repeated".to_owned(),
            (None, 1) => format!("{}, 1 retry", run.words(&calls)),
            (None, retries) => format!("{}, {retries} retries", run.words(&calls)),
        };
        let verdict = match (looped, self.should_loop) {
            (true, true) => "a loop, as expected",
            (true, false) => "a loop, and none was expected",
            (false, true) => "no loop, and one was expected",
            (false, false) => "no loop, as expected",
        };
        let role = match (looped, holds) {
            (true, true) => EvidenceRole::Matched,
            (true, false) => EvidenceRole::Violation,
            (false, _) => EvidenceRole::Context,
        };
        let mut outcome = Outcome::binary(holds, format!("{words}: {verdict}"));
        if run.times > 1 {
            outcome = outcome.with_evidence(run.evidence(view, &calls, role));
        }
        if let Some(end) = stopped {
            let text = format!("the run ended with {end}");
            outcome = outcome.with_evidence([Evidence::words(role, text)]);
        }
        outcome
            .with_metric("looped", looped)
            .with_metric("retries", retries)
            .with_metric("max_acceptable_retries", self.max_retries)
            .with_metric("period", run.period as u64)
    }
}

/// Returns how the run ended, if its host stopped it for too many iterations.
fn stopped(view: &TrajectoryView<'_>) -> Option<String> {
    let end = view.trajectory().outcome.as_ref()?.get().into_owned();
    let is_cap = end.to_ascii_lowercase().contains("iteration");
    (is_cap && view.turn_index().is_none()).then_some(end)
}

#[cfg(test)]
mod tests {
    use crate::testing::{complaints, grade, vally, vally_with};
    use serde_json::json;
    use toolmark_outcome::Verdict;

    fn same(n: usize) -> String {
        let call = |n| {
            let id = format!("c{n}");
            [
                (
                    "tool_call",
                    json!({"toolName": "retry", "toolCallId": id, "arguments": {"x": 1}}),
                ),
                ("tool_result", json!({"toolCallId": id, "success": false, "result": n})),
            ]
        };
        vally(&(0..n).flat_map(call).collect::<Vec<_>>())
    }

    #[test]
    fn n_calls_are_n_minus_one_retries() {
        for (made, should_loop, max, verdict) in [
            (3, false, 2, Verdict::Pass),
            (4, false, 2, Verdict::Fail),
            (4, true, 2, Verdict::Pass),
            (3, true, 2, Verdict::Fail),
            (1, false, 0, Verdict::Pass),
            (2, false, 0, Verdict::Fail),
            (0, false, 0, Verdict::Pass),
            (0, true, 0, Verdict::Fail),
        ] {
            let config = json!({"should_loop": should_loop, "max_acceptable_retries": max});
            let outcome = grade("loop-outcome", config, &same(made));
            assert_eq!(outcome.verdict, verdict, "{made} {should_loop} {max}");
        }
    }

    #[test]
    fn name_and_arguments_decide_unless_told_otherwise() {
        let config = json!({"max_acceptable_retries": 1});
        assert_eq!(grade("loop-outcome", config, &same(3)).verdict, Verdict::Fail);
        // The results differ.
        let config = json!({"max_acceptable_retries": 1, "match": "observation"});
        assert_eq!(grade("loop-outcome", config, &same(3)).verdict, Verdict::Pass);
    }

    #[test]
    fn a_run_stopped_for_its_iterations_looped() {
        let trace = vally_with(&[], json!({"endReason": "iteration_cap"}));
        let config = json!({"max_acceptable_retries": 9, "should_loop": true});
        assert_eq!(grade("loop-outcome", config, &trace).verdict, Verdict::Pass);
    }

    #[test]
    fn mistakes() {
        for (config, complaint) in [
            (json!({}), "max_acceptable_retries"),
            (json!({"max_acceptable_retries": -1}), "0 or more"),
            (json!({"max_acceptable_retries": 1, "max_cycle_period": 12}), "between 1 and 10"),
            (json!({"max_acceptable_retries": 1, "tools": []}), "count nothing"),
        ] {
            let said = complaints("loop-outcome", &config).join("; ");
            assert!(said.contains(complaint), "{config}: {said}");
        }
    }
}
