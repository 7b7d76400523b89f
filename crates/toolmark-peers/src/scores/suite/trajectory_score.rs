//! `trajectory-score`: combines completion, efficiency and tool selection into one score.

use super::config::{SuiteConfig, SuiteSettings};
use super::input::SuiteInput;
use super::task_completion::PROFILES;
use super::{step_efficiency, task_completion, tool_selection};
use crate::futureagi::graders::agents;
use crate::reading::ReadingQuestion;
use crate::scores::question::build;
use serde_json::json;
use toolmark_grade::{GraderInfo, Taxonomy, schema_of};
use toolmark_outcome::{Outcome, OutcomePart, Profile, Subject, Verdict};

pub(crate) static INFO: GraderInfo = GraderInfo {
    id: "trajectory-score",
    aliases: &["trajectory_score"],
    origin: "toolmark",
    summary: "scores completion, efficiency and tool selection together",
    docs: "Scores the run as a whole. It combines `task-completion`, `step-efficiency` and `tool-selection`, with the same \
configuration. The score is their weighted mean (`completion_weight` 0.4, `efficiency_weight` 0.3, `tool_weight` 0.3). It \
passes where all three do, or from `threshold` on; where one of them is unknown, so is this.

The profile `futureagi` (ai-evaluation 1.1.0) adds up the library's own three scores, with weights as they are; an empty \
run is 0.3. It passes from 0.5 on.",
    example: "type: trajectory-score\nconfig:\n  expected_result: \"42\"\n  task: {required_tools: [calculator]}",
    taxonomy: Taxonomy::EXPECTED,
    profiles: PROFILES,
    schema: schema_of::<SuiteConfig>,
    build: |building| {
        let used = &[
            "task",
            "expected_result",
            "available_tools",
            "expected_steps",
            "threshold",
            "completion_weight",
            "efficiency_weight",
            "tool_weight",
        ];
        let settings = SuiteSettings::read(building, PROFILES, used)?;
        if building.profile != Profile::FutureAgi {
            let weights = settings.score_weights;
            let good = weights.iter().all(|weight| weight.is_finite() && *weight >= 0.0);
            if !good || weights.iter().sum::<f64>() <= 0.0 {
                let message = "weights must be 0 or more, and one of them above 0";
                building.reject(building.config.span, "invalid-value", message);
                return None;
            }
        }
        build(building, PROFILES, TrajectoryScore { settings })
    },
};

struct TrajectoryScore {
    settings: SuiteSettings,
}

const NAMES: [&str; 3] = ["task_completion", "step_efficiency", "tool_selection"];

impl ReadingQuestion for TrajectoryScore {
    fn answer(&self, subject: &Subject<'_>, profile: Profile) -> Outcome {
        let settings = &self.settings;
        let view = &subject.view;
        if profile == Profile::FutureAgi {
            let input = SuiteInput::theirs(settings, subject);
            let (score, parts) = agents::trajectory_score(&input, settings.score_weights);
            let verdict = Verdict::of(score >= settings.threshold(profile));
            let [completion, efficiency, tools] = parts;
            let reason = format!("completion {completion}, efficiency {efficiency}, tools {tools}");
            let scores = json!({"task_completion": completion, "step_efficiency": efficiency, "tool_selection": tools});
            return Outcome::scored(verdict, score, reason).with_metric("component_scores", scores);
        }
        let input = SuiteInput::ours(settings, subject);
        let outcomes = [
            task_completion::ours(&input),
            step_efficiency::ours(settings, view),
            tool_selection::ours(&input, view),
        ];
        let verdict = outcomes.iter().fold(Verdict::Pass, |all, one| all.and(one.verdict));
        let mut parts = Vec::new();
        for (name, one) in NAMES.iter().zip(&outcomes) {
            let mut part = OutcomePart::new(*name, one.verdict);
            part.score = one.score;
            part.reason = Some(one.reason.clone());
            parts.push(part);
        }
        let sum: f64 = settings.score_weights.iter().sum();
        let scores: Option<Vec<f64>> = outcomes.iter().map(|one| one.score).collect();
        let mut outcome = match (verdict, scores) {
            (Verdict::Unknown(cause), _) => Outcome::unknown(cause, "a part of it is unknown"),
            (verdict, None) => {
                Outcome { score: None, ..Outcome::scored(verdict, 0.0, "a part of it fails") }
            }
            (verdict, Some(scores)) => {
                let weighed = scores.iter().zip(settings.score_weights);
                let score = weighed.map(|(score, weight)| score * weight / sum).sum::<f64>();
                let verdict = match settings.threshold {
                    Some(threshold) => Verdict::of(score >= threshold),
                    None => verdict,
                };
                Outcome::scored(verdict, score, "completion, efficiency and choice of tools")
            }
        };
        outcome.evidence = outcomes.into_iter().flat_map(|one| one.evidence).collect();
        outcome.parts = parts;
        outcome
    }
}

#[cfg(test)]
mod tests {
    use crate::scores::testing::{names, own, theirs};
    use serde_json::json;
    use toolmark_outcome::Profile::FutureAgi;

    const ID: &str = "trajectory-score";

    #[test]
    fn the_three_together() {
        let config = json!({"expected_result": "done", "task": {"description": "d", "required_tools": ["a"]}});
        let outcome = own(ID, config.clone(), &names("a"));
        assert_eq!((outcome.verdict.word(), outcome.score), ("pass", Some(1.0)));
        assert_eq!(own(ID, config.clone(), &names("b")).verdict.word(), "fail");
        assert_eq!(own(ID, json!({}), &names("a")).verdict.word(), "unknown");
        // 0.9 × 0.4 + 0.3 + 0.3
        assert_eq!(theirs(ID, FutureAgi, config, &names("a")).score, Some(0.96));
    }
}
