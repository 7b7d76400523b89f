//! Ragas' `ToolCallAccuracy` and `ToolCallF1`.

use crate::scores::calls::object;
use crate::scores::matching::{f1 as harmonic, share};
use crate::scores::python::{rounded, same, text};
use crate::scores::system::{Answered, ComparisonMode, ModeAnswer, ModeInput, NoAnswer, System};
use serde_json::{Map, Value};
use std::borrow::Cow;
use toolmark_outcome::Profile;

pub(crate) static SYSTEM: System = System {
    profile: Profile::Ragas,
    version: "ragas 0.4.3",
    threshold: 1.0,
    options: &[],
    modes: &[
        ComparisonMode {
            word: "accuracy_strict",
            aliases: &["exact", "strict"],
            own: Some("exact"),
            score: |asked| accuracy(asked, true),
        },
        ComparisonMode {
            word: "accuracy_flexible",
            aliases: &["unordered"],
            own: Some("unordered"),
            score: |asked| accuracy(asked, false),
        },
        ComparisonMode { word: "f1", aliases: &[], own: Some("unordered"), score: f1 },
    ],
};

/// A call with its index in its list.
struct RagasCall<'a> {
    place: usize,
    name: &'a str,
    args: Cow<'a, Map<String, Value>>,
}

impl RagasCall<'_> {
    /// Returns the sort key of calls if order is free.
    fn key(&self) -> Vec<String> {
        let mut args: Vec<(&String, &Value)> = self.args.iter().collect();
        args.sort_by_key(|(name, _)| *name);
        let args = args.into_iter().flat_map(|(name, value)| [name.clone(), text(value)]);
        std::iter::once(self.name.to_owned()).chain(args).collect()
    }
}

fn list<'a>(
    calls: impl Iterator<Item = (&'a str, Option<&'a Value>)>,
) -> Result<Vec<RagasCall<'a>>, NoAnswer> {
    let call = |(place, (name, args)): (usize, (&'a str, Option<&'a Value>))| {
        let args = object(args).ok_or_else(|| NoAnswer::raised("arguments must be an object"))?;
        Ok(RagasCall { place, name, args })
    };
    calls.enumerate().map(call).collect()
}

fn sides<'a>(
    asked: &'a ModeInput<'_>,
) -> Result<(Vec<RagasCall<'a>>, Vec<RagasCall<'a>>), NoAnswer> {
    let made = asked.made.iter().map(|call| (&*call.name, call.args.as_ref()));
    let expected = asked.expected.iter().map(|call| (call.name.as_str(), call.args.as_ref()));
    Ok((list(made)?, list(expected)?))
}

fn accuracy(asked: &ModeInput<'_>, strict: bool) -> Answered {
    let (mut made, mut expected) = sides(asked)?;
    match (made.len(), expected.len()) {
        (0, 0) => return Ok(ModeAnswer::of(1.0)),
        (0, _) | (_, 0) => return Ok(ModeAnswer::of(0.0)),
        _ => {}
    }
    if !strict {
        made.sort_by_key(RagasCall::key);
        expected.sort_by_key(RagasCall::key);
    }
    let names = |calls: &[RagasCall<'_>]| calls.iter().map(|call| call.name.to_owned()).collect();
    let (made_names, expected_names): (Vec<String>, Vec<String>) = (names(&made), names(&expected));
    // Other names, or another number of them, are worth nothing.
    if made_names != expected_names {
        return Ok(ModeAnswer::of(0.0));
    }
    let mut pairs = vec![None; expected.len()];
    let mut sum = 0.0;
    for (expected, made) in expected.iter().zip(&made) {
        sum += arguments(&made.args, &expected.args);
        pairs[expected.place] = Some(made.place);
    }
    Ok(ModeAnswer::of(sum / expected.len() as f64).paired(pairs))
}

/// Returns the share of expected arguments with the same text.
fn arguments(made: &Map<String, Value>, expected: &Map<String, Value>) -> f64 {
    if expected.is_empty() {
        return f64::from(u8::from(made.is_empty()));
    }
    let same = |(name, value): &(&String, &Value)| {
        made.get(*name).is_some_and(|other| text(other) == text(value))
    };
    share(expected.iter().filter(same).count(), expected.len())
}

fn is_same(a: &RagasCall<'_>, b: &RagasCall<'_>) -> bool {
    let has =
        |(name, value): (&String, &Value)| b.args.get(name).is_some_and(|other| same(value, other));
    a.name == b.name && a.args.len() == b.args.len() && a.args.iter().all(has)
}

/// Removes duplicate calls.
fn set(calls: Vec<RagasCall<'_>>) -> Vec<RagasCall<'_>> {
    let mut kept: Vec<RagasCall<'_>> = Vec::new();
    for call in calls {
        if !kept.iter().any(|other| is_same(other, &call)) {
            kept.push(call);
        }
    }
    kept
}

/// Computes F1 over sets: repeated calls count once.
fn f1(asked: &ModeInput<'_>) -> Answered {
    let (made, expected) = sides(asked)?;
    let (made, expected) = (set(made), set(expected));
    let common =
        made.iter().filter(|call| expected.iter().any(|other| is_same(call, other))).count();
    let score = harmonic(share(common, made.len()), share(common, expected.len()));
    Ok(ModeAnswer::of(rounded(score, 4)))
}

#[cfg(test)]
mod tests {
    use crate::scores::testing::{call, calls, scores};
    use serde_json::json;
    use toolmark_outcome::Profile::Ragas;

    #[test]
    fn accuracy_and_f1() {
        let number = json!([call("s", json!({"n": 1, "q": "x"}))]);
        let word = json!([call("s", json!({"n": "1", "q": "y", "more": 2}))]);
        for (mode, reference, made, score) in [
            ("accuracy_strict", &calls("ab"), &calls("ab"), 1.0),
            ("accuracy_strict", &calls("ab"), &calls("ba"), 0.0),
            ("accuracy_flexible", &calls("ab"), &calls("ba"), 1.0),
            ("accuracy_strict", &number, &word, 0.5),
            ("accuracy_strict", &calls("ab"), &calls("a"), 0.0),
            ("accuracy_strict", &json!([]), &json!([]), 1.0),
            ("f1", &json!([]), &json!([]), 0.0),
            ("f1", &calls("aab"), &calls("ab"), 1.0),
            ("f1", &calls("ab"), &calls("ac"), 0.5),
            (
                "f1",
                &json!([call("s", json!({"n": 1}))]),
                &json!([call("s", json!({"n": true}))]),
                1.0,
            ),
        ] {
            let config = json!({"mode": mode, "reference": reference});
            assert_eq!(scores(Ragas, config, made).0, Some(score), "{mode} {reference} {made}");
        }
    }
}
