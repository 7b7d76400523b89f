//! `function_name_match`: were the expected tools called, and no others?

use super::alignment::{self, Pair, Sides};
use super::material::Material;
use super::settings::{Config, Settings};
use super::{Metric, build};
use crate::grader::{GraderInfo, Taxonomy, schema_of};
use crate::outcome::{Outcome, Verdict};
use crate::profile::Profile;
use serde_json::Value;

pub(in crate::graders) static INFO: GraderInfo = GraderInfo {
    id: "function_name_match",
    aliases: &["function-name-match"],
    origin: "futureagi",
    summary: "were the expected tools called, each as often as expected, and no others",
    docs: "Were the expected tools called, each as often as expected, and no others? \
           Arguments do not matter.

The expected calls are `expected`, else those of the row (`expected` or `expected_response`), in \
any shape: objects of any API, lists, JSON or Python in a text. `[]` and `\"\"` mean that no call \
is right; where nothing is said, or null, the verdict is unknown.

Expected calls and calls made are paired one to one by name; with `order_matters`, in order. The \
score is the number of pairs divided by the number of calls on the larger side, 1 where both sides \
have none. It passes where everything is paired. `metrics` has `matched`, `missing`, `extra`, \
`precision`, `recall`, `f1`, and the counts of each tool under `tools`.

The profile `futureagi` answers as the library does: 1 where both sides are one call with the same \
name, else 0; lists are 0, no expected call is 0.",
    example: "type: function_name_match\nconfig:\n  expected:\n    name: get_weather\n    \
              arguments: {city: Rome}",
    taxonomy: Taxonomy::EXPECTED,
    profiles: &[Profile::FutureAgi],
    schema: schema_of::<Config>,
    build: |building| build(Metric::NameMatch, building),
};

pub(super) fn grade(settings: &Settings, material: &Material<'_>) -> Outcome {
    let sides = match Sides::of(settings, material, false) {
        Ok(sides) => sides,
        Err(unknown) => return *unknown,
    };
    let calls = if settings.order_matters {
        match sides.in_order(|_, _| true) {
            Ok(calls) => calls,
            Err(_) => return alignment::too_large(&sides),
        }
    } else {
        let mut calls = vec![None; sides.gold.len()];
        for group in sides.groups().values() {
            for (gold, made) in group.gold.iter().zip(&group.made) {
                calls[*gold] = Some(*made);
            }
        }
        calls
    };
    let pairs: Vec<Option<Pair>> =
        calls.into_iter().map(|call| call.map(|call| Pair { call, score: 1.0 })).collect();
    let matched = pairs.iter().flatten().count();
    let verdict = Verdict::of(matched == sides.most());
    let score = sides.share(matched as f64);
    let mut outcome = alignment::outcome(&sides, settings, &pairs, verdict, score);
    let (gold, made) = (sides.gold.len(), sides.made.len());
    // Where there is nothing to divide by, there is no number, unless nothing is right.
    let ratio = |of: usize, both: usize| match (of, both) {
        (0, 0) => Value::from(1.0),
        (0, _) => Value::Null,
        _ => Value::from(matched as f64 / of as f64),
    };
    let f1 = if gold + made == 0 { 1.0 } else { 2.0 * matched as f64 / (gold + made) as f64 };
    outcome = outcome.with_metric("precision", ratio(made, gold + made));
    outcome = outcome.with_metric("recall", ratio(gold, gold + made));
    outcome.with_metric("f1", f1)
}
