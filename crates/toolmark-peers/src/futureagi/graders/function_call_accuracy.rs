//! `function_call_accuracy`: scores how closely the calls match the expected ones.

use super::alignment::{self, AlignedPair, AlignmentCall, AlignmentExpectation, Sides};
use super::material::Material;
use super::settings::{ComparisonSettings, FutureagiConfig};
use super::{Metric, build};
use toolmark_grade::{GraderInfo, Taxonomy, schema_of};
use toolmark_match::engine::{TooLarge, weigh, weigh_in_order};
use toolmark_outcome::Profile;
use toolmark_outcome::reaches;
use toolmark_outcome::{Outcome, Verdict};

pub(crate) static INFO: GraderInfo = GraderInfo {
    id: "function_call_accuracy",
    aliases: &["function-call-accuracy"],
    origin: "futureagi",
    summary: "scores how close the calls are to the expected ones",
    docs: "Scores how close the calls are to the expected ones.

The expected calls are `expected`, else those of the row (`expected` or `expected_response`), in \
any shape: objects of any API, lists, JSON or Python in a text. `[]` and `\"\"` mean that no call \
is right; where nothing is said, or null, the verdict is unknown.

Only calls of the same tool can be a pair. It is worth `name_weight` for the tool, `presence_weight` \
times the share of arguments that both have among all that either has, and `value_weight` times the \
share of expected arguments with the expected value; the weights are made to sum to 1. With \
`ignore_extra_params`, presence is the share among the expected arguments. Calls are paired one to \
one so that the pairs are worth most together; with `order_matters`, in order. The score is that \
sum divided by the number of calls on the larger side, 1 where both sides have none.

It passes where the score reaches `threshold` (0.5), every expected call found one of the same \
tool, and no call is extra. `metrics` has `matched`, `mismatched`, `missing`, `extra`, and the \
counts of each tool under `tools`.

The profile `futureagi` answers as the library does: a wrong tool keeps the share of its arguments, \
extra calls are free, one call may serve several expected ones, and no expected call is 0.",
    example: "type: function_call_accuracy\nconfig:\n  threshold: 0.8\n  expected:\n    \
              - {name: get_weather, arguments: {city: Rome}}\n    \
              - {name: get_time, arguments: {zone: CET}}",
    taxonomy: Taxonomy::EXPECTED,
    profiles: &[Profile::FutureAgi],
    schema: schema_of::<FutureagiConfig>,
    build: |building| build(Metric::Accuracy, building),
};

pub(super) fn grade(settings: &ComparisonSettings, material: &Material<'_>) -> Outcome {
    let sides = match Sides::of(settings, material, true) {
        Ok(sides) => sides,
        Err(unknown) => return *unknown,
    };
    let Ok(pairs) = pair_up(&sides, settings) else { return alignment::too_large(&sides) };
    let found = pairs.iter().flatten().count();
    let score = sides.share(pairs.iter().flatten().map(|pair| pair.score).sum());
    let passes = found == sides.most() && reaches(score, settings.threshold);
    let mut outcome = alignment::outcome(&sides, settings, &pairs, Verdict::of(passes), score);
    if !passes && found == sides.most() {
        let reason = outcome.reason.raw();
        outcome.reason = format!("{reason}; {score:.3} is below {}", settings.threshold).into();
    }
    outcome.with_metric("threshold", settings.threshold)
}

/// Returns the value of a pair of calls of the same tool.
fn worth(
    gold: &AlignmentExpectation,
    made: &AlignmentCall<'_>,
    settings: &ComparisonSettings,
) -> f64 {
    let shared = gold.key.shared(&made.key);
    let either = shared.gold + shared.made - shared.common;
    let all = if settings.ignore_extra_params { shared.gold } else { either };
    let share = |part: usize, of: usize| if of == 0 { 1.0 } else { part as f64 / of as f64 };
    let [name, presence, value] = settings.shares();
    name + presence * share(shared.common, all) + value * share(shared.equal, shared.gold)
}

fn pair_up(
    sides: &Sides<'_>,
    settings: &ComparisonSettings,
) -> Result<Vec<Option<AlignedPair>>, TooLarge> {
    sides.check_work()?;
    let worth = |gold: usize, made: usize| worth(&sides.gold[gold], &sides.made[made], settings);
    let mut calls = vec![None; sides.gold.len()];
    if settings.order_matters {
        calls = weigh_in_order(sides.gold.len(), sides.made.len(), |gold, made| {
            let same = sides.gold[gold].key.name == sides.made[made].key.name;
            same.then(|| worth(gold, made))
        })?;
    } else {
        for group in sides.groups().values() {
            // What pairs are worth is asked for again and again.
            let table: Vec<f64> = group
                .gold
                .iter()
                .flat_map(|gold| group.made.iter().map(|made| worth(*gold, *made)))
                .collect();
            let width = group.made.len();
            let found = weigh(group.gold.len(), width, |item, call| table[item * width + call])?;
            for (item, call) in found.into_iter().enumerate() {
                calls[group.gold[item]] = call.map(|call| group.made[call]);
            }
        }
    }
    let pairs = calls.into_iter().enumerate();
    Ok(pairs
        .map(|(gold, call)| call.map(|call| AlignedPair { call, score: worth(gold, call) }))
        .collect())
}

#[cfg(test)]
mod tests {
    use crate::futureagi::graders::testing::{answer, contrasted, f};
    use serde_json::{Value, json};
    use toolmark_outcome::{Cause, Verdict};

    const ID: &str = "function_call_accuracy";

    #[test]
    fn one_call() {
        for (config, gold, made, verdict, score) in [
            (json!({}), json!({"a": 1}), json!({"a": 1}), "pass", 1.0),
            (json!({}), json!({"a": 1}), json!({"a": 2}), "pass", 0.7),
            (json!({"threshold": 0.8}), json!({"a": 1}), json!({"a": 2}), "fail", 0.7),
            (json!({}), json!({"a": 1, "b": 2, "c": 3}), json!({"a": 1, "b": 9}), "pass", 0.7),
            (json!({}), json!({"a": 1}), json!({"a": 1, "z": 1}), "pass", 0.85),
            (
                json!({"ignore_extra_params": true}),
                json!({"a": 1}),
                json!({"a": 1, "z": 1}),
                "pass",
                1.0,
            ),
            (json!({}), json!({}), json!({"z": 1}), "pass", 0.7),
            (json!({"ignore_extra_params": true}), json!({}), json!({"z": 1}), "pass", 1.0),
            (json!({"strict_type_check": true}), json!({"a": 1}), json!({"a": 1.0}), "pass", 0.7),
            (
                json!({"name_weight": 1, "presence_weight": 1, "value_weight": 1}),
                json!({"a": 1}),
                json!({"a": 2}),
                "pass",
                0.667,
            ),
            (
                json!({"name_weight": 0, "presence_weight": 0, "value_weight": 5}),
                json!({"a": 1}),
                json!({"a": 2}),
                "fail",
                0.0,
            ),
        ] {
            let (word, got, _) =
                answer(ID, config.clone(), &f("go", made.clone()), &f("go", gold.clone()));
            assert_eq!((word, got), (verdict, Some(score)), "{config} {gold} {made}");
        }
    }

    #[test]
    fn several_calls() {
        let open = |id: u32| f("open", json!({"id": id}));
        let sum = |id: u32| f("sum", json!({"id": id}));
        for (ordered, gold, made, verdict, score) in [
            (false, vec![open(1), sum(1)], vec![sum(1), open(1)], "pass", 1.0),
            (true, vec![open(1), sum(1)], vec![sum(1), open(1)], "fail", 0.5),
            // A call of the wrong tool is never paired, whatever its arguments.
            (false, vec![open(1)], vec![sum(1)], "fail", 0.0),
            // Extra calls cost, and one call serves one expectation.
            (false, vec![open(1)], vec![open(1), open(1)], "fail", 0.5),
            (false, vec![open(1), open(1)], vec![open(1)], "fail", 0.5),
            (false, vec![open(1), sum(1)], vec![open(1), sum(1), open(2)], "fail", 0.667),
            // Taking the nearest call first would leave 0.7 twice.
            (false, vec![open(1), open(2)], vec![open(2), open(1)], "pass", 1.0),
            (true, vec![open(1), open(2)], vec![open(2), open(1)], "pass", 0.7),
            (false, vec![], vec![], "pass", 1.0),
            (false, vec![], vec![open(1)], "fail", 0.0),
            (false, vec![open(1)], vec![], "fail", 0.0),
        ] {
            let config = json!({"order_matters": ordered});
            let (word, got, _) = answer(ID, config, &json!(made), &json!(gold));
            assert_eq!((word, got), (verdict, Some(score)), "{ordered} {gold:?} {made:?}");
        }
    }

    #[test]
    fn many_calls() {
        let calls = |n: usize| -> Value { (0..n).map(|n| f("go", json!({"n": n}))).collect() };
        let (word, score, _) = answer(ID, json!({}), &calls(120), &calls(120));
        assert_eq!((word, score), ("pass", Some(1.0)));
        let (_, _, outcome) = answer(ID, json!({}), &calls(1000), &calls(1000));
        assert_eq!(outcome.verdict, Verdict::Unknown(Cause::Limit));
        // Many calls and few expectations are not too large.
        let (word, _, outcome) = answer(ID, json!({}), &calls(3000), &calls(2));
        assert_eq!(word, "fail");
        assert_eq!(outcome.evidence.len(), 20);
        assert_eq!(outcome.explanation.unwrap().elided, 2998 - 50);
    }

    #[test]
    fn a_wrong_tool_passes_in_the_library_only() {
        let outcome = contrasted(ID, &f("wipe", json!({"x": 1})), &f("list", json!({"x": 1})));
        assert_eq!(outcome.verdict, Verdict::Fail);
        let contrast = outcome.contrast.unwrap();
        assert_eq!((contrast.verdict, contrast.score), (Verdict::Pass, Some(0.6)));
    }
}
