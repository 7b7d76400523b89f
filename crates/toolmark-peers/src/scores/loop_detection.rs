//! `loop-detection`: checks that the agent did not loop.

use super::calls::made;
use super::python::rounded;
use super::question::{build, check_share, reading, warn_of_idle_keys};
use crate::deepeval::graders::loops::{self, Checks};
use crate::reading::{ReadingQuestion, count};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolmark_config::Spanned;
use toolmark_grade::{GraderInfo, Taxonomy, schema_of};
use toolmark_outcome::{
    Cause, EvidenceRole, NumberRules, Outcome, Profile, Subject, Verdict, equal,
};
use toolmark_trace::Fact;

const PROFILES: &[Profile] = &[Profile::DeepEval];

/// Maximum number of listed calls; the rest are only counted.
const MAX_SHOWN: usize = 20;

/// Maximum number of calls that are compared with one another.
const MAX_CALLS: usize = 20_000;

/// Thresholds above which repeated calls are a loop.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "LoopDetectionConfig")]
struct LoopDetectionConfig {
    /// Number of equal calls that is a loop; 3 by default.
    #[serde(default)]
    repetition_threshold: Option<Spanned<usize>>,
    /// Minimum score under a profile; 0.5 by default.
    #[serde(default)]
    threshold: Option<Spanned<f64>>,
    /// `deepeval`: minimum similarity of consecutive messages that count as the same; 0.85 by
    /// default.
    #[serde(default)]
    similarity_threshold: Option<Spanned<f64>>,
    /// `deepeval`: whether calls are checked.
    #[serde(default)]
    check_tool_repetition: Option<bool>,
    /// `deepeval`: whether messages are checked.
    #[serde(default)]
    check_reasoning_stagnation: Option<bool>,
    /// `deepeval`: whether calls of sub-agents are checked.
    #[serde(default)]
    check_call_graph_cycles: Option<bool>,
    /// `deepeval`: whether any score below 1 becomes 0.
    #[serde(default, alias = "strict_mode")]
    strict: Option<bool>,
}

const IDLE: &[&str] = &[
    "threshold",
    "similarity_threshold",
    "check_tool_repetition",
    "check_reasoning_stagnation",
    "check_call_graph_cycles",
    "strict",
    "strict_mode",
];

pub(crate) static INFO: GraderInfo = GraderInfo {
    id: "loop-detection",
    aliases: &["agent_loop_detection"],
    origin: "toolmark",
    summary: "fails if the agent repeated calls without a new result",
    docs: "Fails if the agent looped. A call is repeated where one with the same tool and the same arguments \
gave the same result before, anywhere in the run; polling that gives something new is none. It passes where no call was \
made `repetition_threshold` times (3) or more. The score is 1, or what is allowed divided by what was done. Where the \
trace does not record results, repeated calls are unknown.

| profile | version | what is particular |
|---|---|---|
| `deepeval` | 4.3.1, AgentLoopDetectionMetric | 0.4 for calls (0.5 from the threshold on, 0 from twice of it on, results do not matter), 0.35 for neighbouring messages of 20 words or more that are alike, 0.25 for calls that lead to themselves through sub-agents; passes from 0.5 |",
    example: "type: loop-detection\nconfig:\n  repetition_threshold: 4",
    taxonomy: Taxonomy::TRAJECTORY,
    profiles: PROFILES,
    schema: schema_of::<LoopDetectionConfig>,
    build: |building| {
        let config = building.read::<LoopDetectionConfig>()?;
        let mut good = check_share(building, "threshold", config.threshold.as_ref());
        good &= check_share(building, "similarity", config.similarity_threshold.as_ref());
        if let Some(most) = config.repetition_threshold.as_ref().filter(|most| most.value < 2) {
            building.reject(most.span, "invalid-value", "a loop is 2 or more equal calls");
            good = false;
        }
        if reading(building.profile, PROFILES) == Profile::Toolmark {
            warn_of_idle_keys(building, Profile::Toolmark, |key| IDLE.contains(&key));
        }
        if !good {
            return None;
        }
        let enabled = [
            config.check_tool_repetition,
            config.check_reasoning_stagnation,
            config.check_call_graph_cycles,
        ];
        let question = LoopDetection {
            checks: Checks {
                repetition_threshold: config.repetition_threshold.map_or(3, |most| most.value),
                similarity_threshold: config.similarity_threshold.map_or(0.85, |least| least.value),
                enabled: enabled.map(|enabled| enabled.unwrap_or(true)),
            },
            threshold: config.threshold.map_or(0.5, |threshold| threshold.value),
            strict: config.strict.unwrap_or(false),
        };
        build(building, PROFILES, question)
    },
};

struct LoopDetection {
    checks: Checks,
    threshold: f64,
    strict: bool,
}

impl LoopDetection {
    fn theirs(&self, subject: &Subject<'_>) -> Outcome {
        let Some((score, [calls, words, cycles])) = loops::score(&self.checks, &subject.view)
        else {
            return Outcome::unknown(Cause::Limit, "the messages are too long to compare");
        };
        let threshold = if self.strict { 1.0 } else { self.threshold };
        // Sums of shares: what is nearly 0.8 is 0.8.
        let score = rounded(score, 12);
        let score = if self.strict && score < threshold { 0.0 } else { score };
        let reason = format!("calls {calls}, messages {words}, calls within themselves {cycles}");
        let breakdown = json!({
            "tool_repetition": calls,
            "reasoning_stagnation": words,
            "call_graph_cycles": cycles,
        });
        Outcome::scored(Verdict::of(score >= threshold), score, reason)
            .with_metric("breakdown", breakdown)
    }

    fn ours(&self, subject: &Subject<'_>) -> Outcome {
        let view = &subject.view;
        let made = made(view);
        if made.len() > MAX_CALLS {
            return Outcome::unknown(Cause::Limit, "there are too many calls to compare");
        }
        let results = !view.trajectory().fidelity.lacks(Fact::Results);
        let is_same = |a: &Option<_>, b: &Option<_>| match (a, b) {
            (Some(a), Some(b)) => equal(a, b, NumberRules::Json),
            (a, b) => a.is_none() && b.is_none(),
        };
        // The calls that repeat one another, by the first of them.
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (at, call) in made.iter().enumerate() {
            let repeats = |group: &&mut Vec<usize>| {
                let first = &made[group[0]];
                first.name == call.name
                    && is_same(&first.args, &call.args)
                    && is_same(&first.output, &call.output)
            };
            match groups.iter_mut().find(repeats) {
                Some(group) => group.push(at),
                None => groups.push(vec![at]),
            }
        }
        let limit = self.checks.repetition_threshold;
        let loops: Vec<&Vec<usize>> = groups.iter().filter(|group| group.len() >= limit).collect();
        let most = groups.iter().map(Vec::len).max().unwrap_or(0);
        if !loops.is_empty() && !results {
            let reason = format!(
                "the trace does not record results: {} may or may not be a loop",
                count(most, "equal call")
            );
            return Outcome::unknown(Cause::MissingEvidence, reason);
        }
        let score = if loops.is_empty() { 1.0 } else { (limit - 1) as f64 / most as f64 };
        let reason = match loops.len() {
            0 => format!("no call was repeated {limit} times"),
            n => format!("{} repeated, the most {} times", count(n, "call"), most),
        };
        let mut outcome = Outcome::scored(Verdict::of(loops.is_empty()), score, reason)
            .with_metric("repeats", most);
        for at in loops.iter().flat_map(|group| group.iter()).take(MAX_SHOWN) {
            let text = "same call, same result";
            outcome.evidence.push(view.evidence(EvidenceRole::Violation, text, made[*at].seen));
        }
        outcome
    }
}

impl ReadingQuestion for LoopDetection {
    fn answer(&self, subject: &Subject<'_>, profile: Profile) -> Outcome {
        match profile {
            Profile::DeepEval => self.theirs(subject),
            _ => self.ours(subject),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::scores::testing::{own, theirs};
    use crate::testing::{complaints, grade_as};
    use serde_json::{Value, json};
    use toolmark_outcome::Profile::DeepEval;

    const ID: &str = "loop-detection";

    fn polls(outputs: &[&str]) -> Value {
        outputs.iter().map(|o| json!({"tool": "poll", "input": {"id": 1}, "output": o})).collect()
    }

    #[test]
    fn results_make_the_difference() {
        for (outputs, ours, deepeval) in [
            (vec!["wait", "wait"], 1.0, 1.0),
            (vec!["wait", "wait", "wait"], 2.0 / 3.0, 0.8),
            (vec!["10%", "50%", "done"], 1.0, 0.8),
            (vec!["w"; 6], 1.0 / 3.0, 0.6),
        ] {
            let made = polls(&outputs);
            assert_eq!(own(ID, json!({}), &made).score, Some(ours), "{outputs:?}");
            let outcome = theirs(ID, DeepEval, json!({}), &made);
            assert_eq!(outcome.score, Some(deepeval), "{outputs:?}");
        }
        let only = json!({"check_reasoning_stagnation": false, "check_call_graph_cycles": false});
        assert_eq!(theirs(ID, DeepEval, only, &polls(&["w"; 6])).score, Some(0.0));
        assert!(complaints(ID, &json!({"repetition_threshold": 1})).join("").contains("2 or more"));
    }

    #[test]
    fn words_that_do_not_move() {
        let words: Vec<String> = (0..30).map(|n| format!("word{n}")).collect();
        let message = |text: &str| json!({"role": "assistant", "content": text});
        for (second, score) in [
            (words.join(" "), 0.65),
            (words[..25].join(" "), 0.825),
            ((40..70).map(|n| format!("other{n}")).collect::<Vec<_>>().join(" "), 1.0),
            ("short".to_owned(), 1.0),
        ] {
            let messages = [message(&words.join(" ")), message(&second)];
            let row = json!({"id": "t", "output_messages": messages}).to_string();
            let outcome = grade_as(ID, DeepEval, json!({}), &row);
            assert_eq!(outcome.score, Some(score), "{second}");
        }
    }
}
