//! `function_call_accuracy`: how near are the calls to the expected ones?

use super::alignment::{self, Expected, Made, Pair, Sides};
use super::material::Material;
use super::settings::{Config, Settings};
use super::{Metric, build};
use crate::engine::{TooLarge, weigh, weigh_in_order};
use crate::gate::reaches;
use crate::grader::{GraderInfo, Taxonomy, schema_of};
use crate::outcome::{Outcome, Verdict};
use crate::profile::Profile;

pub(in crate::graders) static INFO: GraderInfo = GraderInfo {
    id: "function_call_accuracy",
    aliases: &["function-call-accuracy"],
    origin: "futureagi",
    summary: "how near are the calls made to the expected ones",
    docs: "How near are the calls made to the expected ones?

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
    schema: schema_of::<Config>,
    build: |building| build(Metric::Accuracy, building),
};

pub(super) fn grade(settings: &Settings, material: &Material<'_>) -> Outcome {
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
        outcome.reason.push_str(&format!("; {score:.3} is below {}", settings.threshold));
    }
    outcome.with_metric("threshold", settings.threshold)
}

/// What a pair of calls of the same tool is worth.
fn worth(gold: &Expected, made: &Made<'_>, settings: &Settings) -> f64 {
    let shared = gold.key.shared(&made.key);
    let either = shared.gold + shared.made - shared.common;
    let all = if settings.ignore_extra_params { shared.gold } else { either };
    let share = |part: usize, of: usize| if of == 0 { 1.0 } else { part as f64 / of as f64 };
    let [name, presence, value] = settings.shares();
    name + presence * share(shared.common, all) + value * share(shared.equal, shared.gold)
}

fn pair_up(sides: &Sides<'_>, settings: &Settings) -> Result<Vec<Option<Pair>>, TooLarge> {
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
    Ok(pairs.map(|(gold, call)| call.map(|call| Pair { call, score: worth(gold, call) })).collect())
}
