//! `task-completion`: scores whether the task was completed.

use super::config::{SuiteConfig, SuiteSettings};
use super::input::SuiteInput;
use crate::futureagi::graders::agents;
use crate::reading::ReadingQuestion;
use crate::scores::question::build;
use serde_json::Value;
use toolmark_grade::{GradeScope, GraderInfo, Reference, Taxonomy, schema_of};
use toolmark_outcome::{
    Cause, NumberRules, Outcome, OutcomePart, Profile, Subject, Verdict, equal, excerpt,
};

pub(super) const PROFILES: &[Profile] = &[Profile::FutureAgi];

pub(crate) static INFO: GraderInfo = GraderInfo {
    id: "task-completion",
    aliases: &["task_completion"],
    origin: "toolmark",
    summary: "checks whether the run ended with the expected result",
    docs: "Checks whether the task was completed. Checked are: that the run ended with an answer; that the answer is `expected_result` (of the \
configuration, of the row, of the case), the same value, or a text that contains it in any case; and `success_criteria` \
of the task, which only a judge can decide: they are unknown here (`type: judge` asks one). Where nothing says what is \
expected, the verdict is unknown. The score is the share of checks that hold.

The profile `futureagi` (ai-evaluation 1.1.0) adds up: 0.2 for a final step; half of the match with the expected result \
(0.9 where one text contains the other, so that an empty answer matches nearly; else the share of words), or 0.3 for any \
result; 0.3 for criteria of which half the words occur anywhere, thoughts included, or 0.2 where there are none. It \
passes from 0.5 on.",
    example: "type: task-completion\nconfig:\n  expected_result: \"42\"",
    taxonomy: Taxonomy { reference: Reference::Based, scope: GradeScope::End, ..Taxonomy::TRAJECTORY },
    profiles: PROFILES,
    schema: schema_of::<SuiteConfig>,
    build: |building| {
        let used = &["task", "expected_result", "threshold"];
        let settings = SuiteSettings::read(building, PROFILES, used)?;
        build(building, PROFILES, TaskCompletion { settings })
    },
};

struct TaskCompletion {
    settings: SuiteSettings,
}

impl ReadingQuestion for TaskCompletion {
    fn answer(&self, subject: &Subject<'_>, profile: Profile) -> Outcome {
        if profile == Profile::FutureAgi {
            let input = SuiteInput::theirs(&self.settings, subject);
            let score = agents::task_completion(&input);
            let verdict = Verdict::of(score >= self.settings.threshold(profile));
            return Outcome::scored(verdict, score, format!("task completion {score}"));
        }
        ours(&SuiteInput::ours(&self.settings, subject))
    }
}

fn is_answer(result: &Value, expected: &Value) -> bool {
    let normal =
        |words: &str| words.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    match (result, expected) {
        (Value::String(result), Value::String(expected)) => {
            let (result, expected) = (normal(result), normal(expected));
            !result.is_empty() && !expected.is_empty() && result.contains(&expected)
        }
        (Value::String(result), expected) => {
            let parsed: Option<Value> = serde_json::from_str(result).ok();
            parsed.is_some_and(|result| equal(&result, expected, NumberRules::Json))
        }
        (result, expected) => equal(result, expected, NumberRules::Json),
    }
}

/// Grades completion from the trace.
pub(super) fn ours(input: &SuiteInput) -> Outcome {
    let criteria = input.task.success_criteria.as_deref().unwrap_or_default();
    if input.expected_result.is_none() && criteria.is_empty() {
        let why = "nothing says what is expected: there is no expected_result";
        return Outcome::unknown(Cause::MissingEvidence, why);
    }
    let result = input.final_result.as_ref().filter(|result| !result.is_null() && *result != "");
    let ends = input.trajectory.last().is_some_and(|step| step.is_final);
    let mut parts = vec![OutcomePart::new(
        "the run ended with an answer",
        Verdict::of(ends && result.is_some()),
    )];
    if let Some(expected) = &input.expected_result {
        let text = format!("the answer is {}", excerpt(&expected.to_string()));
        let holds = result.is_some_and(|result| is_answer(result, expected));
        parts.push(OutcomePart::new(text, Verdict::of(holds)));
    }
    for criterion in criteria {
        parts.push(OutcomePart::new(criterion.clone(), Verdict::Unknown(Cause::NeedsJudge)));
    }
    let verdict = parts.iter().fold(Verdict::Pass, |all, part| all.and(part.verdict));
    let held = parts.iter().filter(|part| part.verdict == Verdict::Pass).count();
    let reason = format!("{held} of {} checks hold", parts.len());
    let mut outcome = match verdict {
        Verdict::Unknown(cause) => {
            Outcome::unknown(cause, format!("{reason}, criteria need a judge"))
        }
        verdict => Outcome::scored(verdict, held as f64 / parts.len() as f64, reason),
    };
    outcome.parts = parts;
    outcome
}

#[cfg(test)]
mod tests {
    use crate::scores::testing::{names, own, trace};
    use crate::testing::grade_as;
    use serde_json::json;
    use toolmark_outcome::Profile::FutureAgi;

    const ID: &str = "task-completion";

    #[test]
    fn what_the_trace_can_tell() {
        for (config, verdict) in [
            (json!({"expected_result": "DONE"}), "pass"),
            (json!({"expected_result": "42"}), "fail"),
            (json!({}), "unknown"),
            (json!({"task": {"success_criteria": ["tests pass"]}}), "unknown"),
            (json!({"expected_result": "42", "task": {"success_criteria": ["x"]}}), "fail"),
        ] {
            assert_eq!(own(ID, config.clone(), &names("a")).verdict.word(), verdict, "{config}");
        }
    }

    #[test]
    fn the_library_counts_words() {
        let steps = json!([{"step_number": 1, "thought": "run the tests", "is_final": true}]);
        for (final_result, expected, criteria, score) in [
            (json!("ok"), json!(null), json!(null), 0.7),
            (json!("ok"), json!("OK "), json!(null), 0.9),
            (json!(""), json!("42"), json!(null), 0.85),
            (json!("alpha beta"), json!("alpha gamma"), json!(null), 0.65),
            (json!("x"), json!("x"), json!(["the tests run", "files deleted"]), 0.85),
        ] {
            let output = json!({
                "trajectory": steps,
                "task": {"description": "d", "success_criteria": criteria},
                "final_result": final_result,
                "expected_result": expected,
            });
            let row = json!({"id": "r", "output": output}).to_string();
            let outcome = grade_as(ID, FutureAgi, json!({}), &row);
            assert_eq!(outcome.score, Some(score), "{output}");
        }
        let outcome =
            grade_as(ID, FutureAgi, json!({"expected_result": "done"}), &trace(&names("a")));
        assert_eq!(outcome.score, Some(0.9));
    }
}
