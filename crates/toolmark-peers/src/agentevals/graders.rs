//! Trajectory comparison of agentevals and openevals.
//!
//! Every expected call takes the first free matching call. `strict` compares the
//! messages one by one, so that calls of one message must be calls of one message in
//! the reference too; messages without calls are treated as equal on both sides,
//! because a reference is a list of calls.

use crate::scores::calls::{ActualCall, ScoredCall};
use crate::scores::python::{same, same_option};
use crate::scores::system::{
    Answered, ArgsMatch, ModeAnswer, ModeInput, NoAnswer, Override, System, SystemOptions,
};
use serde_json::{Map, Value};
use std::sync::LazyLock;
use toolmark_outcome::Profile;

/// The modes of both packages: word, alias, own mode and function.
macro_rules! modes {
    ($rules:expr) => {
        &[
            modes!($rules, "strict", &["exact"], "exact", strict),
            modes!($rules, "unordered", &[], "unordered", unordered),
            modes!($rules, "subset", &["within"], "within", subset),
            modes!($rules, "superset", &["any_order"], "any_order", superset),
        ]
    };
    ($rules:expr, $word:literal, $aliases:expr, $own:literal, $score:ident) => {
        $crate::scores::system::ComparisonMode {
            word: $word,
            aliases: $aliases,
            own: Some($own),
            score: |asked| $crate::agentevals::graders::$score(asked, $rules),
        }
    };
}
pub(crate) use modes;

pub(crate) static SYSTEM: System = System {
    profile: Profile::AgentEvals,
    version: "agentevals 0.0.9",
    threshold: 1.0,
    options: &["args_match", "args_match_overrides"],
    modes: modes!(AGENTEVALS),
};

/// Differences between the two packages.
#[derive(Clone, Copy)]
pub(crate) struct PackageRules {
    /// Whether the arguments are swapped when the trajectories are.
    pub(crate) exchanges_roles: bool,
    /// Whether two paths are equal if both are missing or null.
    pub(crate) absent_is_equal: bool,
}

const AGENTEVALS: PackageRules = PackageRules { exchanges_roles: true, absent_is_equal: true };

/// A call of the trajectory or the reference.
#[derive(Clone, Copy)]
struct CallSide<'a> {
    name: &'a str,
    args: &'a Value,
}

static NO_ARGS: LazyLock<Value> = LazyLock::new(|| Value::Object(Map::new()));

fn expected<'a>(call: &'a ScoredCall) -> CallSide<'a> {
    CallSide { name: &call.name, args: call.args.as_ref().unwrap_or(&NO_ARGS) }
}

fn made<'a>(call: &'a ActualCall<'_>) -> CallSide<'a> {
    CallSide { name: &call.name, args: call.args.as_ref().unwrap_or(&NO_ARGS) }
}

/// Whether the arguments of a call match those of the reference.
fn fits(
    rules: PackageRules,
    options: &SystemOptions,
    tool: &str,
    call: &Value,
    reference: &Value,
) -> Result<bool, NoAnswer> {
    let mode = match options.overrides.get(tool) {
        Some(Override::Paths(paths)) => {
            let same = |path: &String| {
                let (call, reference) = (at(call, path), at(reference, path));
                match rules.absent_is_equal {
                    true => same_option(call, reference),
                    false => call.is_some() && reference.is_some() && same_option(call, reference),
                }
            };
            return Ok(paths.iter().all(same));
        }
        Some(Override::Mode(mode)) => *mode,
        None => options.args_match,
    };
    match mode {
        ArgsMatch::Exact => Ok(same(call, reference)),
        ArgsMatch::Ignore => Ok(true),
        ArgsMatch::Superset => within(reference, call),
        ArgsMatch::Subset => within(call, reference),
    }
}

fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    crate::scores::calls::at(value, path)
}

/// Whether every argument of `part` is in `whole`.
fn within(part: &Value, whole: &Value) -> Result<bool, NoAnswer> {
    let (Value::Object(part), Value::Object(whole)) = (part, whole) else {
        return Err(NoAnswer::raised("arguments that are no object are compared by key"));
    };
    let has = |(key, value): (&String, _)| whole.get(key).is_some_and(|other| same(other, value));
    Ok(part.iter().all(has))
}

/// Returns the index in `whole` of a separate call for every call of `part`, if each has one.
fn contains(
    whole: &[CallSide<'_>],
    part: &[CallSide<'_>],
    fits: &dyn Fn(CallSide<'_>, CallSide<'_>) -> Result<bool, NoAnswer>,
) -> Result<Vec<Option<usize>>, NoAnswer> {
    let mut taken = vec![false; whole.len()];
    let mut places = Vec::with_capacity(part.len());
    for call in part {
        let mut place = None;
        for (at, other) in whole.iter().enumerate() {
            if !taken[at] && other.name == call.name && fits(*other, *call)? {
                taken[at] = true;
                place = Some(at);
                break;
            }
        }
        places.push(place);
    }
    Ok(places)
}

fn sides<'a>(asked: &'a ModeInput<'_>) -> (Vec<CallSide<'a>>, Vec<CallSide<'a>>) {
    (asked.made.iter().map(made).collect(), asked.expected.iter().map(expected).collect())
}

fn is_whole(places: &[Option<usize>]) -> bool {
    places.iter().all(Option::is_some)
}

pub(crate) fn superset(asked: &ModeInput<'_>, rules: PackageRules) -> Answered {
    let (calls, reference) = sides(asked);
    let pairs = contains(&calls, &reference, &|call, reference| {
        fits(rules, asked.options, reference.name, call.args, reference.args)
    })?;
    Ok(ModeAnswer::binary(is_whole(&pairs)).paired(pairs))
}

/// Returns the reference index of each matched call.
fn places(asked: &ModeInput<'_>, rules: PackageRules) -> Result<Vec<Option<usize>>, NoAnswer> {
    let (calls, reference) = sides(asked);
    contains(&reference, &calls, &|reference, call| {
        let (first, second) = match rules.exchanges_roles {
            true => (reference, call),
            false => (call, reference),
        };
        fits(rules, asked.options, call.name, first.args, second.args)
    })
}

pub(crate) fn subset(asked: &ModeInput<'_>, rules: PackageRules) -> Answered {
    let places = places(asked, rules)?;
    let mut pairs = vec![None; asked.expected.len()];
    for (call, place) in places.iter().enumerate() {
        if let Some(place) = place {
            pairs[*place] = Some(call);
        }
    }
    Ok(ModeAnswer::binary(is_whole(&places)).paired(pairs))
}

pub(crate) fn unordered(asked: &ModeInput<'_>, rules: PackageRules) -> Answered {
    let answer = superset(asked, rules)?;
    let holds = answer.passed == Some(true) && is_whole(&places(asked, rules)?);
    Ok(ModeAnswer { passed: Some(holds), score: f64::from(u8::from(holds)), ..answer })
}

/// Returns the number of items in each run of neighbours with the same turn.
fn sizes<K: PartialEq>(keys: impl Iterator<Item = Option<K>>) -> Vec<usize> {
    let mut sizes: Vec<usize> = Vec::new();
    let mut last = None;
    for key in keys {
        match sizes.last_mut() {
            Some(size) if key.is_some() && last == key => *size += 1,
            _ => sizes.push(1),
        }
        last = key;
    }
    sizes
}

pub(crate) fn strict(asked: &ModeInput<'_>, rules: PackageRules) -> Answered {
    let steps = sizes(asked.made.iter().map(|made| made.seen.call.step));
    let turns = sizes(asked.expected.iter().map(|expected| expected.turn));
    let (calls, reference) = sides(asked);
    let mut pairs = vec![None; reference.len()];
    if steps != turns {
        return Ok(ModeAnswer::binary(false).paired(pairs));
    }
    let mut start = 0;
    for size in steps {
        let range = start..start + size;
        let places = contains(&reference[range.clone()], &calls[range], &|reference, call| {
            fits(rules, asked.options, call.name, call.args, reference.args)
        })?;
        for (call, place) in places.iter().enumerate() {
            if let Some(place) = place {
                pairs[start + place] = Some(start + call);
            }
        }
        if !is_whole(&places) {
            return Ok(ModeAnswer::binary(false).paired(pairs));
        }
        start += size;
    }
    Ok(ModeAnswer::binary(true).paired(pairs))
}

#[cfg(test)]
mod tests {
    use crate::scores::testing::{call, scores};
    use serde_json::json;
    use toolmark_outcome::Profile::{AgentEvals, OpenEvals};

    /// (mode, options, reference, calls, agentevals, openevals)
    #[test]
    fn the_two_packages() {
        let one = json!([call("s", json!({"q": "x"}))]);
        let more = json!([call("s", json!({"q": "x", "n": 5}))]);
        let twice = json!([call("s", json!({})), call("s", json!({"q": "x"}))]);
        let deep = json!([call("s", json!({"a": {"b": 1, "c": 2}}))]);
        let flat = json!([call("s", json!({"a": {"b": true}}))]);
        for (mode, options, reference, made, agentevals, openevals) in [
            ("strict", json!({}), &one, &one, 1.0, 1.0),
            ("strict", json!({}), &one, &more, 0.0, 0.0),
            ("superset", json!({"args_match": "superset"}), &one, &more, 1.0, 1.0),
            ("subset", json!({"args_match": "superset"}), &one, &more, 0.0, 1.0),
            ("subset", json!({"args_match": "subset"}), &one, &more, 1.0, 0.0),
            ("unordered", json!({"args_match": "superset"}), &one, &more, 0.0, 1.0),
            // The first takes the call that only the second could use otherwise.
            (
                "superset",
                json!({"args_match": "superset"}),
                &twice,
                &json!([one[0], call("s", json!({"r": 1}))]),
                0.0,
                0.0,
            ),
            ("strict", json!({"args_match_overrides": {"s": ["a.b"]}}), &deep, &flat, 1.0, 1.0),
            ("strict", json!({"args_match_overrides": {"s": ["a.z"]}}), &deep, &flat, 1.0, 0.0),
            ("strict", json!({"args_match_overrides": {"s": "ignore"}}), &deep, &one, 1.0, 1.0),
        ] {
            let config = |mut options: serde_json::Value| {
                options["mode"] = json!(mode);
                options["reference"] = reference.clone();
                options
            };
            let words = format!("{mode} {options} {reference} {made}");
            assert_eq!(
                scores(AgentEvals, config(options.clone()), made).0,
                Some(agentevals),
                "{words}"
            );
            assert_eq!(scores(OpenEvals, config(options), made).0, Some(openevals), "{words}");
        }
    }
}
