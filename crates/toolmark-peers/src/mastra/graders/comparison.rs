//! Trajectory comparison of Mastra: a share of the expected steps, with a penalty for extra steps.

use super::{rounded, same_text};
use crate::scores::calls::{ActualCall, ScoredCall};
use crate::scores::matching::{by_position, greedy, paired, share};
use crate::scores::system::{Answered, ComparisonMode, ModeAnswer, ModeInput, System};
use serde_json::Value;
use toolmark_base::{SortedMap, SortedSet};
use toolmark_outcome::Profile;

pub(crate) static SYSTEM: System = System {
    profile: Profile::Mastra,
    version: "@mastra/evals 1.10.2",
    threshold: 1.0,
    options: &["allow_repeated"],
    modes: &[
        ComparisonMode {
            word: "relaxed",
            aliases: &["in_order"],
            own: Some("in_order"),
            score: relaxed,
        },
        ComparisonMode { word: "strict", aliases: &["exact"], own: Some("exact"), score: strict },
        ComparisonMode {
            word: "unordered",
            aliases: &["any_order"],
            own: Some("any_order"),
            score: |asked| Ok(answer(asked, greedy(asked, &matches), Vec::new(), 0.0)),
        },
    ],
};

/// Whether the name and the other fields of an expected step match.
fn matches(expected: &ScoredCall, made: &ActualCall<'_>) -> bool {
    let same = |wanted: Option<&Value>, had: Option<&Value>| match (wanted, had) {
        (None, _) => true,
        (Some(wanted), Some(had)) => same_text(wanted, had),
        (Some(_), None) => false,
    };
    expected.name == made.name
        && same(expected.args.as_ref(), made.args.as_ref())
        && same(expected.output.as_ref(), made.output.as_ref())
}

fn names<'a>(asked: &'a ModeInput<'_>) -> SortedSet<&'a str> {
    asked.expected.iter().map(|call| call.name.as_str()).collect()
}

fn answer(
    asked: &ModeInput<'_>,
    pairs: Vec<Option<usize>>,
    out_of_order: Vec<String>,
    penalty: f64,
) -> ModeAnswer {
    let names = names(asked);
    let extra: Vec<&str> =
        asked.made.iter().map(|made| &*made.name).filter(|name| !names.contains(name)).collect();
    let missing: Vec<&str> = asked
        .expected
        .iter()
        .zip(&pairs)
        .filter(|(_, pair)| pair.is_none())
        .map(|(call, _)| call.name.as_str())
        .collect();
    let missing = Value::from(missing);
    let mut counts: SortedMap<&str, usize> = SortedMap::new();
    for made in asked.made {
        *counts.entry(&made.name).or_default() += 1;
    }
    let repeated = counts.values().filter(|count| **count > 1).count();
    let score = if asked.expected.is_empty() {
        f64::from(u8::from(asked.made.is_empty()))
    } else {
        let mut score = (share(paired(&pairs), pairs.len()) - penalty).max(0.0);
        if !asked.options.allow_repeated {
            score -= repeated as f64 * 0.1;
        }
        rounded(score)
    };
    ModeAnswer::of(score)
        .with("missing", missing)
        .with("extra", extra)
        .with("out_of_order", out_of_order)
        .paired(pairs)
}

fn strict(asked: &ModeInput<'_>) -> Answered {
    let pairs = by_position(asked, &matches);
    let names = names(asked);
    let is_elsewhere = |at: &usize| {
        let made = &asked.made[*at].name;
        asked.expected.get(*at).is_none_or(|call| call.name != *made) && names.contains(&**made)
    };
    let out_of_order = (0..asked.made.len())
        .filter(is_elsewhere)
        .map(|at| asked.made[at].name.to_string())
        .collect();
    let surplus = asked.made.len().saturating_sub(asked.expected.len());
    Ok(answer(asked, pairs, out_of_order, 0.5 * share(surplus, asked.expected.len())))
}

/// Assigns to every expected step the first matching step after the previous match; a missing
/// step does not affect the others.
fn relaxed(asked: &ModeInput<'_>) -> Answered {
    let mut next = 0;
    let mut pairs = Vec::with_capacity(asked.expected.len());
    let mut out_of_order = Vec::new();
    for expected in asked.expected {
        let found = (next..asked.made.len()).find(|at| matches(expected, &asked.made[*at]));
        match found {
            Some(at) => next = at + 1,
            None if asked.made.iter().any(|made| made.name == expected.name) => {
                out_of_order.push(expected.name.clone());
            }
            None => {}
        }
        pairs.push(found);
    }
    Ok(answer(asked, pairs, out_of_order, 0.0))
}

#[cfg(test)]
mod tests {
    use crate::scores::testing::{call, names, scores};
    use serde_json::json;
    use toolmark_outcome::Profile::Mastra;

    #[test]
    fn shares_of_steps() {
        for (mode, reference, made, score) in [
            ("strict", "ab", "ab", 1.0),
            ("strict", "ab", "abx", 0.75),
            ("strict", "abc", "ab", 0.67),
            ("strict", "a", "axxx", 0.0),
            ("relaxed", "abc", "bc", 0.67),
            ("relaxed", "ab", "ba", 0.5),
            ("unordered", "ab", "ba", 1.0),
            ("unordered", "", "", 1.0),
            ("unordered", "", "a", 0.0),
        ] {
            let config = json!({"mode": mode, "reference": names(reference)});
            assert_eq!(
                scores(Mastra, config, &names(made)).0,
                Some(score),
                "{mode} {reference} {made}"
            );
        }
        let config =
            json!({"mode": "unordered", "reference": names("ab"), "allow_repeated": false});
        assert_eq!(scores(Mastra, config, &names("aab")).0, Some(0.9));
    }

    #[test]
    fn the_order_of_keys_matters() {
        let config = json!({"reference": [call("s", json!({"a": 1, "b": 2}))]});
        for (made, score) in [(json!({"a": 1.0, "b": 2}), 1.0), (json!({"b": 2, "a": 1}), 0.0)] {
            let answer = scores(Mastra, config.clone(), &json!([call("s", made.clone())]));
            assert_eq!(answer.0, Some(score), "{made}");
        }
    }
}
