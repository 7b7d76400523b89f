//! `goal-progress`: scores the progress of the run towards its goal.

use super::config::{SuiteConfig, SuiteSettings};
use super::input::SuiteInput;
use super::task_completion::PROFILES;
use crate::futureagi::graders::agents;
use crate::reading::ReadingQuestion;
use crate::scores::question::build;
use toolmark_grade::{GraderInfo, Taxonomy, schema_of};
use toolmark_outcome::{Cause, Outcome, Profile, Subject, Verdict};

pub(crate) static INFO: GraderInfo = GraderInfo {
    id: "goal-progress",
    aliases: &["goal_progress"],
    origin: "toolmark",
    summary: "scores progress towards the goal; needs a judge",
    docs: "Scores whether the run made progress towards its goal. Words in common do not show progress, so toolmark answers unknown: only a judge can tell (`type: judge`, or `trajectory:goal-success`).

The profile `futureagi` (ai-evaluation 1.1.0) counts the words of the goal that occur in each step, never fewer than \
before: 0.3 of the mean, 0.5 of the last and 0.2 of the highest share. A goal without words is 0.5. It passes from 0.5 on.",
    example: "type: goal-progress\nprofile: futureagi\nconfig:\n  task: {description: repair the parser tests}",
    taxonomy: Taxonomy::TRAJECTORY,
    profiles: PROFILES,
    schema: schema_of::<SuiteConfig>,
    build: |building| {
        let settings = SuiteSettings::read(building, PROFILES, &["task", "threshold"])?;
        build(building, PROFILES, GoalProgress { settings })
    },
};

struct GoalProgress {
    settings: SuiteSettings,
}

impl ReadingQuestion for GoalProgress {
    fn answer(&self, subject: &Subject<'_>, profile: Profile) -> Outcome {
        if profile != Profile::FutureAgi {
            return Outcome::unknown(Cause::NeedsJudge, "only a judge can tell what is progress");
        }
        let score = agents::goal_progress(&SuiteInput::theirs(&self.settings, subject));
        let verdict = Verdict::of(score >= self.settings.threshold(profile));
        Outcome::scored(verdict, score, format!("goal progress {score}"))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{grade, grade_as};
    use serde_json::json;
    use toolmark_outcome::Profile::FutureAgi;

    #[test]
    fn words_of_the_goal() {
        for (steps, description, score) in [
            (json!([]), "fix tests", 0.0),
            (json!([{"thought": "x"}]), "to be", 0.5),
            (json!([{}]), "fix tests", 0.2),
            (
                json!([{"thought": "look at tests"}, {"tool_calls": [{"name": "fix"}]}]),
                "fix tests",
                0.5,
            ),
            (json!([{"action": "hm"}, {"observation": "fix the tests"}]), "fix tests", 0.85),
        ] {
            let output = json!({"trajectory": steps, "task": {"description": description}});
            let row = json!({"id": "r", "output": output}).to_string();
            let outcome = grade_as("goal-progress", FutureAgi, json!({}), &row);
            assert_eq!(outcome.score, Some(score), "{row}");
            assert_eq!(grade("goal-progress", json!({}), &row).verdict.word(), "unknown");
        }
    }
}
