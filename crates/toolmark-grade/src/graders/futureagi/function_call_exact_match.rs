//! `function_call_exact_match`: were exactly the expected calls made?

use super::alignment::{self, Expected, Made, Pair, Sides};
use super::material::Material;
use super::settings::{Config, Settings};
use super::{Metric, build};
use crate::engine::{Grid, TooLarge, assign};
use crate::grader::{GraderInfo, Taxonomy, schema_of};
use crate::outcome::{Outcome, Verdict};
use crate::profile::Profile;

pub(in crate::graders) static INFO: GraderInfo = GraderInfo {
    id: "function_call_exact_match",
    aliases: &["function-call-exact-match"],
    origin: "futureagi",
    summary: "were exactly the expected calls made, arguments included",
    docs: "Were exactly the expected calls made, with the same arguments, and no others?

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
    schema: schema_of::<Config>,
    build: |building| build(Metric::ExactMatch, building),
};

pub(super) fn grade(settings: &Settings, material: &Material<'_>) -> Outcome {
    let sides = match Sides::of(settings, material, true) {
        Ok(sides) => sides,
        Err(unknown) => return *unknown,
    };
    let Ok(calls) = pair_up(&sides, settings) else { return alignment::too_large(&sides) };
    let matched = calls.iter().flatten().count();
    let mut pairs: Vec<Option<Pair>> =
        calls.into_iter().map(|call| call.map(|call| Pair { call, score: 1.0 })).collect();
    pair_leftovers(&sides, settings.order_matters, &mut pairs);
    let verdict = Verdict::of(matched == sides.most());
    let score = sides.share(matched as f64);
    alignment::outcome(&sides, settings, &pairs, verdict, score)
}

/// The calls that are as expected, for as many expected ones as can be.
fn pair_up(sides: &Sides<'_>, settings: &Settings) -> Result<Vec<Option<usize>>, TooLarge> {
    sides.check_work()?;
    let fits = |gold: &Expected, made: &Made<'_>| {
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

/// An expected call that was not made is shown beside a call of the same tool
/// that nobody expected: what is wrong is then its arguments. Where order
/// matters, only beside one that stands where it should.
fn pair_leftovers(sides: &Sides<'_>, ordered: bool, pairs: &mut [Option<Pair>]) {
    let groups = sides.groups();
    let near = |call: usize| Some(Pair { call, score: 0.0 });
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
