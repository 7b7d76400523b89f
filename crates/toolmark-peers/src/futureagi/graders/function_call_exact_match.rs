//! `function_call_exact_match`: checks that exactly the expected calls were made.

use super::alignment::{self, AlignedPair, AlignmentCall, AlignmentExpectation, Sides};
use super::material::Material;
use super::settings::{ComparisonSettings, FutureagiConfig};
use super::{Metric, build};
use toolmark_grade::{GraderInfo, Taxonomy, schema_of};
use toolmark_match::engine::{Grid, TooLarge, assign};
use toolmark_outcome::Profile;
use toolmark_outcome::{Outcome, Verdict};

pub(crate) static INFO: GraderInfo = GraderInfo {
    id: "function_call_exact_match",
    aliases: &["function-call-exact-match"],
    origin: "futureagi",
    summary: "checks that exactly the expected calls were made, arguments included",
    docs: "Passes if exactly the expected calls were made, with the same arguments, and no others.

The expected calls are `expected`, else those of the row (`expected` or `expected_response`), in \
any shape: objects of any API, lists, JSON or Python in a text. `[]` and `\"\"` mean that no call \
is right; where nothing is said, or null, the verdict is unknown.

A call is as expected where the tool and all arguments are the same: keys in any order, lists in \
order, 1 the same as 1.0 unless `strict_type_check`, true never the same as 1. With \
`ignore_extra_params` a call may have more arguments than expected, though not inside of one. \
Expected calls and calls made are paired one to one, as many as can be; with `order_matters`, in \
order. The score is the number of pairs divided by the number of calls on the larger side, 1 where \
both sides have none. It passes where everything is paired. `metrics` has `matched`, `mismatched`, \
`missing`, `extra`, and the counts of each tool under `tools`.

The profile `futureagi` answers as the library does: 1 or 0 for one call against one; lists are 0, \
no expected call is 0.",
    example: "type: function_call_exact_match\nconfig:\n  expected: get_weather(city='Rome', days=3)",
    taxonomy: Taxonomy::EXPECTED,
    profiles: &[Profile::FutureAgi],
    schema: schema_of::<FutureagiConfig>,
    build: |building| build(Metric::ExactMatch, building),
};

pub(super) fn grade(settings: &ComparisonSettings, material: &Material<'_>) -> Outcome {
    let sides = match Sides::of(settings, material, true) {
        Ok(sides) => sides,
        Err(unknown) => return *unknown,
    };
    let Ok(calls) = pair_up(&sides, settings) else { return alignment::too_large(&sides) };
    let matched = calls.iter().flatten().count();
    let mut pairs: Vec<Option<AlignedPair>> =
        calls.into_iter().map(|call| call.map(|call| AlignedPair { call, score: 1.0 })).collect();
    pair_leftovers(&sides, settings.order_matters, &mut pairs);
    let verdict = Verdict::of(matched == sides.most());
    let score = sides.share(matched as f64);
    alignment::outcome(&sides, settings, &pairs, verdict, score)
}

/// Pairs as many expected calls as possible with fully matching calls.
fn pair_up(
    sides: &Sides<'_>,
    settings: &ComparisonSettings,
) -> Result<Vec<Option<usize>>, TooLarge> {
    sides.check_work()?;
    let fits = |gold: &AlignmentExpectation, made: &AlignmentCall<'_>| {
        gold.key.shared(&made.key).is_match(settings.ignore_extra_params)
    };
    if settings.order_matters {
        return sides.in_order(fits);
    }
    let mut calls = vec![None; sides.gold.len()];
    for group in sides.groups().values() {
        let grid = Grid::from_fn(group.made.len(), group.gold.len(), |call, item| {
            fits(&sides.gold[group.gold[item]], &sides.made[group.made[call]])
        });
        for (item, call) in assign(&grid).into_iter().enumerate() {
            calls[group.gold[item]] = call.map(|call| group.made[call]);
        }
    }
    Ok(calls)
}

/// Pairs a missing expected call with an unexpected call of the same tool, so that the
/// differences between their arguments are shown. If order
/// matters, only with a call at the right position.
fn pair_leftovers(sides: &Sides<'_>, ordered: bool, pairs: &mut [Option<AlignedPair>]) {
    let groups = sides.groups();
    let near = |call: usize| Some(AlignedPair { call, score: 0.0 });
    if ordered {
        // The first call that belongs to a later expectation.
        let mut until = vec![sides.made.len(); pairs.len()];
        for item in (1..pairs.len()).rev() {
            until[item - 1] = pairs[item].as_ref().map_or(until[item], |pair| pair.call);
        }
        let mut from = 0;
        for (item, pair) in pairs.iter_mut().enumerate() {
            if pair.is_none() {
                let calls = groups.get(&sides.gold[item].key.name).map_or(&[][..], |g| &g.made);
                let at = calls.partition_point(|call| *call < from);
                *pair = calls.get(at).filter(|call| **call < until[item]).and_then(|c| near(*c));
            }
            from = pair.as_ref().map_or(from, |pair| pair.call + 1);
        }
        return;
    }
    let mut taken = vec![false; sides.made.len()];
    for pair in pairs.iter().flatten() {
        taken[pair.call] = true;
    }
    for group in groups.values() {
        let mut free = group.made.iter().copied().filter(|call| !taken[*call]);
        for gold in &group.gold {
            if pairs[*gold].is_none() {
                pairs[*gold] = free.next().and_then(near);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::futureagi::graders::testing::{answer, contrasted, f};
    use serde_json::{Value, json};
    use toolmark_outcome::RowState;
    use toolmark_outcome::Verdict;

    const ID: &str = "function_call_exact_match";

    #[test]
    fn one_call() {
        let loose = json!({});
        let strict = json!({"strict_type_check": true});
        let more = json!({"ignore_extra_params": true});
        for (config, gold, made, verdict) in [
            (&loose, json!({"x": 1}), json!({"x": 1.0}), "pass"),
            (&strict, json!({"x": 1}), json!({"x": 1.0}), "fail"),
            (&loose, json!({"x": 1}), json!({"x": true}), "fail"),
            (&loose, json!({"x": 1}), json!({"x": "1"}), "fail"),
            (&loose, json!({"x": [1, 2]}), json!({"x": [2, 1]}), "fail"),
            (&loose, json!({"x": {"a": 1, "b": 2}}), json!({"x": {"b": 2, "a": 1}}), "pass"),
            (&loose, json!({"x": 1}), json!({"x": 1, "y": 2}), "fail"),
            (&more, json!({"x": 1}), json!({"x": 1, "y": 2}), "pass"),
            (&more, json!({"x": 1, "y": 2}), json!({"x": 1}), "fail"),
            (&more, json!({"x": {"a": 1}}), json!({"x": {"a": 1, "b": 2}}), "fail"),
            (&loose, json!({}), json!(null), "pass"),
            (&loose, json!("{\"x\": 1}"), json!({"x": 1}), "pass"),
        ] {
            let (word, score, _) =
                answer(ID, config.clone(), &f("go", made.clone()), &f("go", gold.clone()));
            let want = if verdict == "pass" { 1.0 } else { 0.0 };
            assert_eq!((word, score), (verdict, Some(want)), "{config} {gold} {made}");
        }
        let wrong_tool = answer(ID, json!({}), &f("a", json!({"x": 1})), &f("b", json!({"x": 1})));
        assert_eq!((wrong_tool.0, wrong_tool.1), ("fail", Some(0.0)));
        // The arguments of both API shapes count.
        let anthropic = json!({"name": "go", "input": {"x": 2}});
        assert_eq!(answer(ID, json!({}), &anthropic, &f("go", json!({"x": 1}))).0, "fail");
        assert_eq!(answer(ID, json!({}), &json!("go(x=-1)"), &f("go", json!({"x": -1}))).0, "pass");
    }

    /// Builds calls of one tool with these arguments.
    fn calls(args: &[Value]) -> Value {
        args.iter().map(|args| f("go", args.clone())).collect()
    }

    #[test]
    fn several_calls() {
        let (one, two, both) = (json!({"x": 1}), json!({"y": 2}), json!({"x": 1, "y": 2}));
        let more = json!({"ignore_extra_params": true});
        for (config, gold, made, verdict, score) in [
            (json!({}), vec![&one, &two], vec![&two, &one], "pass", 1.0),
            (json!({"order_matters": true}), vec![&one, &two], vec![&two, &one], "fail", 0.5),
            (json!({}), vec![&one, &one], vec![&one], "fail", 0.5),
            (json!({}), vec![&one], vec![&one, &one], "fail", 0.5),
            (json!({}), vec![&one], vec![&one, &two], "fail", 0.5),
            (json!({}), vec![], vec![], "pass", 1.0),
            (json!({}), vec![], vec![&one], "fail", 0.0),
            // The open expectation must leave the call that only the other can take.
            (more, vec![&one, &two], vec![&both, &one], "pass", 1.0),
        ] {
            let owned =
                |list: &[&Value]| calls(&list.iter().map(|v| (*v).clone()).collect::<Vec<_>>());
            let (word, got, _) = answer(ID, config.clone(), &owned(&made), &owned(&gold));
            assert_eq!((word, got), (verdict, Some(score)), "{config} {gold:?} {made:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let gold = calls(&[json!({"x": 1, "y": "a"}), json!({"x": 2})]);
        let made = calls(&[json!({"x": 2}), json!({"x": 1, "z": null})]);
        let (_, _, outcome) = answer(ID, json!({}), &made, &gold);
        assert_eq!(outcome.reason, "1 of 2 expected calls were made, 1 made with other arguments");
        let why = "y is missing; z (null) was not expected";
        assert_eq!(outcome.parts[0].reason.as_ref().map(|text| text.raw()), Some(why));
        assert_eq!(outcome.parts[1].verdict, Verdict::Pass);
        assert_eq!(outcome.evidence[0].call.as_ref().unwrap().index, 1);
        let states: Vec<RowState> =
            outcome.explanation.unwrap().rows.iter().map(|row| row.state).collect();
        assert_eq!(states, [RowState::Mismatched, RowState::Matched]);
    }

    #[test]
    fn in_order_a_near_miss_stays_in_its_place() {
        let ordered = json!({"order_matters": true});
        let gold = calls(&[json!({"x": 1}), json!({"x": 2}), json!({"x": 3})]);
        let made = calls(&[json!({"x": 1}), json!({"x": 9}), json!({"x": 3})]);
        let (_, score, outcome) = answer(ID, ordered.clone(), &made, &gold);
        assert_eq!(score, Some(0.667));
        assert_eq!(
            outcome.parts[1].reason.as_ref().map(|text| text.raw()),
            Some("x is 9 instead of 2")
        );
        let swapped = calls(&[json!({"x": 2}), json!({"x": 1}), json!({"x": 3})]);
        let (_, _, outcome) = answer(ID, ordered, &swapped, &gold);
        assert!(
            outcome
                .parts
                .iter()
                .all(|part| part.reason.as_ref().map(|text| text.raw()) != Some(""))
        );
    }

    #[test]
    fn the_library_does_not_see_the_arguments() {
        let (made, gold) = (
            json!({"name": "sh", "input": {"c": "ls"}}),
            json!({"name": "sh", "input": {"c": "rm"}}),
        );
        let outcome = contrasted(ID, &made, &gold);
        assert_eq!(outcome.verdict, Verdict::Fail);
        assert_eq!(outcome.contrast.unwrap().verdict, Verdict::Pass);
    }
}
