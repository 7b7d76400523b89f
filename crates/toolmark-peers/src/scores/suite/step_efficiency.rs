//! `step-efficiency`: scores how few steps were wasted.

use super::config::{SuiteConfig, SuiteSettings};
use super::input::SuiteInput;
use crate::futureagi::graders::agents;
use crate::mastra::graders::efficiency::{self, EfficiencyUsage};
use crate::reading::ReadingQuestion;
use crate::scores::calls::made;
use crate::scores::question::build;
use toolmark_grade::{GraderInfo, Taxonomy, schema_of};
use toolmark_outcome::{
    Cause, EvidenceRole, NumberRules, Outcome, Profile, Subject, TrajectoryView, Verdict, equal,
};

const PROFILES: &[Profile] = &[Profile::FutureAgi, Profile::Mastra];

/// Maximum number of listed calls; the rest are only counted.
const MAX_SHOWN: usize = 20;

/// Maximum number of calls that are compared with one another.
const MAX_CALLS: usize = 20_000;

pub(crate) static INFO: GraderInfo = GraderInfo {
    id: "step-efficiency",
    aliases: &["step_efficiency"],
    origin: "toolmark",
    summary: "scores the share of steps that were not wasted",
    docs: "Scores the share of steps that were not wasted. A call is wasted where one with the same tool and arguments gave the same result before. The \
score is the share of calls that are not; where the run has a budget (`max_steps` of calls, `max_total_tokens`, \
`max_total_duration_ms`) it is the mean with the share of each budget that was kept. It passes where nothing was wasted \
and every budget kept, or from `threshold` on. A budget for something the trace does not record is unknown.

| profile | version | what is particular |
|---|---|---|
| `futureagi` | ai-evaluation 1.1.0, StepEfficiency | 0.4 × `expected_steps` (or `max_steps` of the task, or 10) / steps + 0.3 × (1 − repeated calls / steps) + 0.3 × (1 − failed / calls): repeats are counted by call, so it may be below 0; passes from 0.5 |
| `mastra` | 1.10.2, efficiency | the mean of the budgets and of 1 − 0.2 for every call that repeats the one right before, to two decimals |",
    example: "type: step-efficiency\nconfig:\n  max_steps: 12",
    taxonomy: Taxonomy::TRAJECTORY,
    profiles: PROFILES,
    schema: schema_of::<SuiteConfig>,
    build: |building| {
        let used = match building.profile {
            Profile::FutureAgi => &[
                "task",
                "expected_steps",
                "threshold",
                "expected_step_weight",
                "redundancy_weight",
                "failure_weight",
            ][..],
            _ => &[
                "max_steps",
                "maxSteps",
                "max_total_tokens",
                "maxTotalTokens",
                "max_total_duration_ms",
                "maxTotalDurationMs",
                "no_redundant_calls",
                "noRedundantCalls",
                "threshold",
            ],
        };
        let settings = SuiteSettings::read(building, PROFILES, used)?;
        build(building, PROFILES, StepEfficiency { settings })
    },
};

struct StepEfficiency {
    settings: SuiteSettings,
}

/// Returns the recorded resource usage of a run. If the run has no duration, the durations of its
/// calls are added up.
fn spent(view: &TrajectoryView<'_>) -> EfficiencyUsage {
    let usage = view.trajectory().usage.filter(|_| view.turn_index().is_none());
    let calls: Option<Vec<f64>> =
        view.calls().iter().map(|seen| Some(seen.call.duration?.as_secs_f64())).collect();
    let of_calls = calls.filter(|calls| !calls.is_empty()).map(|calls| calls.iter().sum::<f64>());
    let seconds = view.duration().map(|duration| duration.as_secs_f64()).or(of_calls);
    EfficiencyUsage {
        tokens: usage.map(|usage| usage.total() as f64),
        duration_ms: seconds.map(|seconds| seconds * 1000.0),
    }
}

impl ReadingQuestion for StepEfficiency {
    fn answer(&self, subject: &Subject<'_>, profile: Profile) -> Outcome {
        let view = &subject.view;
        let settings = &self.settings;
        let threshold = settings.threshold(profile);
        let scored = |score: f64, reason: String| {
            Outcome::scored(Verdict::of(score >= threshold), score, reason)
        };
        match profile {
            Profile::FutureAgi => {
                let input = SuiteInput::theirs(settings, subject);
                let score = agents::step_efficiency(&input, settings.efficiency_weights);
                scored(score, format!("{} steps", input.trajectory.len()))
            }
            Profile::Mastra => {
                let made = made(view);
                match efficiency::score(&settings.budgets, &made, &spent(view)) {
                    Err(why) => {
                        let reason = format!("Mastra raises an error: {why}");
                        Outcome::unknown(Cause::MissingEvidence, reason)
                    }
                    Ok((score, redundant)) => {
                        let reason = format!("{} calls, {} redundant", made.len(), redundant.len());
                        let mut outcome =
                            scored(score, reason).with_metric("redundant", redundant.len());
                        for at in redundant.iter().take(MAX_SHOWN) {
                            let text = "the same call as the one before";
                            let evidence =
                                view.evidence(EvidenceRole::Violation, text, made[*at].seen);
                            outcome.evidence.push(evidence);
                        }
                        outcome
                    }
                }
            }
            _ => ours(settings, view),
        }
    }
}

/// Grades wasted calls and budgets from the trace.
pub(super) fn ours(settings: &SuiteSettings, view: &TrajectoryView<'_>) -> Outcome {
    let made = made(view);
    if made.len() > MAX_CALLS {
        return Outcome::unknown(Cause::Limit, "there are too many calls to compare");
    }
    let same = |a: &Option<_>, b: &Option<_>| match (a, b) {
        (Some(a), Some(b)) => equal(a, b, NumberRules::Json),
        (a, b) => a.is_none() && b.is_none(),
    };
    let is_wasted = |at: &usize| {
        let call = &made[*at];
        made[..*at].iter().any(|before| {
            before.name == call.name
                && same(&before.args, &call.args)
                && before.output.is_some()
                && same(&before.output, &call.output)
        })
    };
    let wasted: Vec<usize> = (0..made.len()).filter(is_wasted).collect();
    let useful = match made.len() {
        0 => 1.0,
        all => (all - wasted.len()) as f64 / all as f64,
    };
    let mut parts = vec![useful];
    let spent = spent(view);
    let budgets = &settings.budgets;
    for (what, max, had) in [
        ("calls", budgets.max_steps, Some(made.len() as f64)),
        ("tokens", budgets.max_total_tokens, spent.tokens),
        ("milliseconds", budgets.max_total_duration_ms, spent.duration_ms),
    ] {
        let Some(max) = max else { continue };
        let Some(had) = had else {
            let why = format!("the trace does not record how many {what} were spent");
            return Outcome::unknown(Cause::MissingEvidence, why);
        };
        parts.push(if had > max { max / had } else { 1.0 });
    }
    let score = parts.iter().sum::<f64>() / parts.len() as f64;
    let reason = format!("{} calls, {} wasted", made.len(), wasted.len());
    let verdict = Verdict::of(score >= settings.threshold(Profile::Toolmark));
    let mut outcome = Outcome::scored(verdict, score, reason).with_metric("wasted", wasted.len());
    for at in wasted.iter().take(MAX_SHOWN) {
        let text = "the same call gave the same result before";
        outcome.evidence.push(view.evidence(EvidenceRole::Violation, text, made[*at].seen));
    }
    outcome
}

#[cfg(test)]
mod tests {
    use crate::scores::testing::{call, own, theirs};
    use crate::testing::complaints;
    use serde_json::{Value, json};
    use toolmark_outcome::Profile::{FutureAgi, Mastra};

    const ID: &str = "step-efficiency";

    fn reads(files: &str) -> Value {
        let read = |c: char| json!({"tool": "read", "input": {"f": c.to_string()}, "output": "x"});
        files.chars().map(read).collect()
    }

    #[test]
    fn three_readings() {
        for (made, ours, mastra) in
            [("abc", 1.0, 1.0), ("aab", 2.0 / 3.0, 0.8), ("aba", 2.0 / 3.0, 1.0)]
        {
            assert_eq!(own(ID, json!({}), &reads(made)).score, Some(ours), "{made}");
            assert_eq!(theirs(ID, Mastra, json!({}), &reads(made)).score, Some(mastra), "{made}");
        }
        // Four steps: three calls and the answer; one repeats another.
        assert_eq!(theirs(ID, FutureAgi, json!({}), &reads("aba")).score, Some(0.925));
        let budget = json!({"max_steps": 2});
        assert_eq!(own(ID, budget.clone(), &reads("abcd")).score, Some(0.75));
        assert_eq!(theirs(ID, Mastra, budget, &reads("abc")).score, Some(0.75));
        let unrecorded = json!({"max_total_tokens": 5});
        assert_eq!(own(ID, unrecorded.clone(), &reads("a")).verdict.word(), "unknown");
        assert_eq!(theirs(ID, Mastra, unrecorded, &reads("a")).verdict.word(), "unknown");
        assert!(complaints(ID, &json!({"max_steps": 0})).join("").contains("above 0"));
    }

    #[test]
    fn polling_is_no_waste() {
        let made = json!([call("poll", json!({})), call("poll", json!({}))]);
        assert_eq!(own(ID, json!({}), &made).score, Some(1.0));
    }
}
