//! `max-repeat`: checks that the agent does not repeat the same action too often.

use super::repeats::{Repeats, Same};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;
use toolmark_config::Spanned;
use toolmark_grade::{Grader, GraderInfo, Taxonomy, schema_of};
use toolmark_outcome::EvidenceRole;
use toolmark_outcome::Profile;
use toolmark_outcome::Subject;
use toolmark_outcome::{Cause, Outcome};

/// Limit on consecutive repetitions of the same action.
#[derive(Debug, Deserialize, JsonSchema)]
struct MaxRepeatConfig {
    /// Maximum number of times in a row, at least 1.
    max: Spanned<u64>,
    /// Criterion for the same action: the same tool and result
    /// (`observation`, the default), the same tool (`name`), or the same tool
    /// and arguments (`name-args`).
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

pub(crate) static MAX_REPEAT: GraderInfo = GraderInfo {
    id: "max-repeat",
    aliases: &[],
    origin: "vally",
    summary: "fails if the agent repeated an action more than N times in a row",
    docs: "Passes if no action was taken more than `max` times in a row.

What makes two calls the same action is `match`: the same tool gave the same result (`observation`, the default), the \
same tool (`name`), or the same tool with equal arguments (`name-args`; the order of keys does not count). Calls of \
different tools are never the same, and a call that was never answered gave no result that could be.

`tools` restricts the look to some tools: other calls are skipped and do not interrupt a run. With \
`max_cycle_period: 3`, cycles of up to three actions count too: A B A B A B is the cycle A B three times.",
    example: "type: max-repeat\nconfig:\n  max: 3\n  match: name-args",
    taxonomy: Taxonomy::TRAJECTORY,
    profiles: &[Profile::Vally],
    schema: schema_of::<MaxRepeatConfig>,
    build: |building| {
        let config = building.read::<MaxRepeatConfig>()?;
        if config.max.value == 0 {
            building.reject(config.max.span, "out-of-range", "every call is made at least once");
        }
        let same = config.same.unwrap_or(Same::Observation);
        let repeats =
            Repeats::build(same, config.tools.as_ref(), config.max_cycle_period, building)?;
        Some(Arc::new(MaxRepeat { max: config.max.value, repeats }))
    },
};

struct MaxRepeat {
    max: u64,
    repeats: Repeats,
}

impl Grader for MaxRepeat {
    fn is_upper_limit(&self) -> bool {
        true
    }

    fn grade(&self, subject: &Subject<'_>) -> Outcome {
        let view = &subject.view;
        let calls = match self.repeats.looked_at(view) {
            Ok(calls) => calls,
            Err(missing) => return Outcome::unknown(Cause::MissingEvidence, missing.0),
        };
        let run = self.repeats.longest(view, &calls);
        let holds = run.times as u64 <= self.max;
        let words = run.words(&calls);
        let reason = match holds {
            true => format!("{words} (at most {} allowed)", self.max),
            false => format!("{words} exceeds max of {}", self.max),
        };
        let role = if holds { EvidenceRole::Context } else { EvidenceRole::Violation };
        let evidence = if run.times > 1 { run.evidence(view, &calls, role) } else { Vec::new() };
        Outcome::binary(holds, reason)
            .with_evidence(evidence)
            .with_metric("value", run.times as u64)
            .with_metric("max", self.max)
            .with_metric("period", run.period as u64)
            .with_metric("match", self.repeats.same.word())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{complaints, grade, vally};
    use serde_json::{Value, json};
    use toolmark_outcome::{Cause, Verdict};

    /// Builds a trace of calls, each `(tool, arguments, result)`.
    pub(super) fn calls(calls: &[(&str, Value, Value)]) -> String {
        let mut events = vec![("turn_start", json!({"turnId": "0"}))];
        for (n, (tool, args, result)) in calls.iter().enumerate() {
            let id = n.to_string();
            events.push((
                "tool_call",
                json!({"toolName": tool, "toolCallId": id, "arguments": args}),
            ));
            if !result.is_null() {
                events.push((
                    "tool_result",
                    json!({"toolCallId": id, "success": true, "result": result}),
                ));
            }
        }
        vally(&events)
    }

    #[test]
    fn a_run_longer_than_max_fails() {
        let a = ("poll", json!({"n": 1, "m": 2}), json!("busy"));
        let b = ("poll", json!({"m": 2, "n": 1}), json!("busy"));
        let c = ("poll", json!({"n": 2}), json!("busy"));
        let d = ("poll", json!({"n": 1, "m": 2}), json!("done"));
        let e = ("view", json!({"n": 1, "m": 2}), json!("busy"));
        let open = ("poll", json!({}), Value::Null);
        for (config, made, verdict, value) in [
            (json!({"max": 3}), vec![&a, &b, &c], Verdict::Pass, 3),
            (json!({"max": 2}), vec![&a, &b, &c], Verdict::Fail, 3),
            (json!({"max": 2}), vec![&a, &d, &a], Verdict::Pass, 1),
            (json!({"max": 2}), vec![&a, &b, &e, &c, &a], Verdict::Pass, 2),
            (json!({"max": 1, "match": "name"}), vec![&a, &d, &c], Verdict::Fail, 3),
            (json!({"max": 1, "match": "name"}), vec![&a, &e], Verdict::Pass, 1),
            (json!({"max": 1, "match": "name-args"}), vec![&a, &b], Verdict::Fail, 2),
            (json!({"max": 1, "match": "name-args"}), vec![&a, &c], Verdict::Pass, 1),
            (json!({"max": 1, "match": "name-args"}), vec![&a, &d], Verdict::Fail, 2),
            (json!({"max": 1}), vec![&open, &open], Verdict::Pass, 1),
            (json!({"max": 2, "tools": ["poll"]}), vec![&a, &e, &b, &e, &c], Verdict::Fail, 3),
            (json!({"max": 1}), vec![], Verdict::Pass, 0),
        ] {
            let made: Vec<_> = made.into_iter().cloned().collect();
            let outcome = grade("max-repeat", config.clone(), &calls(&made));
            assert_eq!(outcome.verdict, verdict, "{config} {made:?}");
            assert_eq!(outcome.metrics["value"], value, "{config} {made:?}");
        }
    }

    #[test]
    fn cycles_count_up_to_the_longest_asked_for() {
        let made: Vec<_> = "ababab"
            .chars()
            .map(|c| (["a", "b"][usize::from(c == 'b')], json!({}), json!(c.to_string())))
            .collect();
        for (period, verdict, value) in
            [(1, Verdict::Pass, 1), (2, Verdict::Fail, 3), (3, Verdict::Fail, 3)]
        {
            let config = json!({"max": 2, "max_cycle_period": period});
            let outcome = grade("max-repeat", config, &calls(&made));
            assert_eq!(
                (outcome.verdict, outcome.metrics["value"].clone()),
                (verdict, json!(value))
            );
        }
        let outcome = grade("max-repeat", json!({"max": 2, "max_cycle_period": 2}), &calls(&made));
        assert_eq!(outcome.reason, "the cycle a, b 3 times in a row exceeds max of 2");
        assert_eq!(outcome.evidence.len(), 6);
    }

    #[test]
    fn results_that_are_not_recorded_are_unknown() {
        let trace = r#"{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]}"#;
        let outcome = grade("max-repeat", json!({"max": 1}), trace);
        assert_eq!(outcome.verdict, Verdict::Unknown(Cause::MissingEvidence));
    }

    #[test]
    fn mistakes() {
        for (config, complaint) in [
            (json!({}), "max"),
            (json!({"max": 0}), "at least once"),
            (json!({"max": 1, "match": "args"}), "unknown value"),
            (json!({"max": 1, "max_cycle_period": 0}), "between 1 and 10"),
            (json!({"max": 1, "max_cycle_period": 11}), "between 1 and 10"),
            (json!({"max": 1, "tools": []}), "count nothing"),
            (json!({"max": 1, "tools": ["("]}), "regular expression"),
        ] {
            let said = complaints("max-repeat", &config).join("; ");
            assert!(said.contains(complaint), "{config}: {said}");
        }
    }
}
