//! `reasoning-quality`: scores the quality of the agent's reasoning.

use super::config::{SuiteConfig, SuiteSettings};
use super::input::SuiteInput;
use super::task_completion::PROFILES;
use crate::futureagi::graders::agents;
use crate::reading::ReadingQuestion;
use crate::scores::question::build;
use toolmark_grade::{GraderInfo, Taxonomy, schema_of};
use toolmark_outcome::{Cause, Outcome, Profile, Subject, Verdict};

pub(crate) static INFO: GraderInfo = GraderInfo {
    id: "reasoning-quality",
    aliases: &["reasoning_quality"],
    origin: "toolmark",
    summary: "scores the agent's reasoning; needs a judge",
    docs: "Scores the reasoning of the agent. Length and connectives do not show quality, so toolmark answers unknown; only a judge can tell (`type: judge`).

The profile `futureagi` (ai-evaluation 1.1.0) adds up the mean length of thoughts (0.3; best from 10 to 29 words), \
connectives per thought (0.4; inside other words too) and the number of thoughts (0.3; three are enough). Without \
thoughts it is 0.5 where an action has a connective, else 0.3. It passes from 0.5 on.",
    example: "type: reasoning-quality\nprofile: futureagi\nconfig: {threshold: 0.7}",
    taxonomy: Taxonomy::TRAJECTORY,
    profiles: PROFILES,
    schema: schema_of::<SuiteConfig>,
    build: |building| {
        let settings = SuiteSettings::read(building, PROFILES, &["threshold"])?;
        build(building, PROFILES, ReasoningQuality { settings })
    },
};

struct ReasoningQuality {
    settings: SuiteSettings,
}

impl ReadingQuestion for ReasoningQuality {
    fn answer(&self, subject: &Subject<'_>, profile: Profile) -> Outcome {
        if profile != Profile::FutureAgi {
            return Outcome::unknown(
                Cause::NeedsJudge,
                "only a judge can tell good reasons from bad",
            );
        }
        let score = agents::reasoning_quality(&SuiteInput::theirs(&self.settings, subject));
        let verdict = Verdict::of(score >= self.settings.threshold(profile));
        Outcome::scored(verdict, score, format!("reasoning quality {score}"))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{grade, grade_as};
    use serde_json::json;
    use toolmark_outcome::Profile::FutureAgi;

    #[test]
    fn lengths_and_connectives() {
        for (steps, score) in [
            (json!([{}]), 0.3),
            (json!([{"action": "also that"}]), 0.5),
            (json!([{"thought": "go"}]), 0.22),
            (json!([{"thought": "first read it, then fix it"}]), 0.71),
        ] {
            let output = json!({"trajectory": steps, "task": {"description": "d"}});
            let row = json!({"id": "r", "output": output}).to_string();
            let outcome = grade_as("reasoning-quality", FutureAgi, json!({}), &row);
            assert_eq!(outcome.score, Some(score), "{row}");
            assert_eq!(grade("reasoning-quality", json!({}), &row).verdict.word(), "unknown");
        }
    }
}
