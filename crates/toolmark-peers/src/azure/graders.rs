//! Azure's task navigation efficiency: names, or names with one set of parameters per tool.

use crate::scores::calls::object;
use crate::scores::matching::{f1, share};
use crate::scores::python::{sorted_dumps, text};
use crate::scores::system::{Answered, ComparisonMode, ModeAnswer, ModeInput, NoAnswer, System};
use serde_json::{Map, Value};
use toolmark_base::SortedMap;
use toolmark_outcome::Profile;

pub(crate) static SYSTEM: System = System {
    profile: Profile::Azure,
    version: "azure-ai-evaluation 1.18.10",
    threshold: 1.0,
    options: &["params"],
    modes: &[
        ComparisonMode {
            word: "exact_match",
            aliases: &["exact", "strict"],
            own: Some("exact"),
            score: |asked| answer(asked, |expected, made| expected == made),
        },
        ComparisonMode {
            word: "in_order_match",
            aliases: &["in_order"],
            own: Some("in_order"),
            score: |asked| answer(asked, in_order),
        },
        ComparisonMode {
            word: "any_order_match",
            aliases: &["any_order", "superset"],
            own: Some("any_order"),
            score: |asked| {
                answer(asked, |expected, made| {
                    let made = counts(made);
                    let mut wanted = counts(expected).into_iter();
                    wanted.all(|(step, n)| made.get(step).is_some_and(|had| *had >= n))
                })
            },
        },
    ],
};

/// A name and its parameters as text, sorted by name.
type AzureStep = (String, Vec<(String, String)>);

fn parameters(params: &Map<String, Value>) -> Vec<(String, String)> {
    let written = |value: &Value| match value {
        Value::Object(_) | Value::Array(_) => sorted_dumps(value),
        other => text(other),
    };
    let mut all: Vec<(String, String)> =
        params.iter().map(|(name, value)| (name.clone(), written(value))).collect();
    all.sort();
    all
}

fn counts(steps: &[AzureStep]) -> SortedMap<&AzureStep, usize> {
    let mut counts = SortedMap::new();
    for step in steps {
        *counts.entry(step).or_default() += 1;
    }
    counts
}

fn in_order(expected: &[AzureStep], made: &[AzureStep]) -> bool {
    let mut next = expected.iter().peekable();
    for step in made {
        next.next_if(|wanted| *wanted == step);
    }
    next.peek().is_none()
}

fn answer(asked: &ModeInput<'_>, holds: fn(&[AzureStep], &[AzureStep]) -> bool) -> Answered {
    if asked.expected.is_empty() {
        return Err(NoAnswer::raised("the ground truth is empty"));
    }
    let params = asked.options.params.as_ref();
    let of_tool = |name: &str| {
        let own = params.and_then(|params| params.get(name)).and_then(Value::as_object);
        own.map(parameters).unwrap_or_default()
    };
    let expected: Vec<AzureStep> = asked
        .expected
        .iter()
        .map(|call| (call.name.trim().to_owned(), of_tool(call.name.trim())))
        .collect();
    let mut made: Vec<AzureStep> = Vec::with_capacity(asked.made.len());
    for call in asked.made {
        let args = match (&call.args, params) {
            (Some(Value::String(_)), _) => {
                return Err(NoAnswer::raised("the arguments of a call are not JSON"));
            }
            (args, Some(_)) => object(args.as_ref()).map(|args| parameters(&args)),
            (_, None) => None,
        };
        made.push((call.name.trim().to_owned(), args.unwrap_or_default()));
    }
    let (of_expected, of_made) = (counts(&expected), counts(&made));
    let common: usize =
        of_made.iter().map(|(step, n)| of_expected.get(step).copied().unwrap_or(0).min(*n)).sum();
    let (precision, recall) = (share(common, made.len()), share(common, expected.len()));
    Ok(ModeAnswer::binary(holds(&expected, &made))
        .with("precision", precision)
        .with("recall", recall)
        .with("f1", f1(precision, recall)))
}

#[cfg(test)]
mod tests {
    use crate::scores::testing::{call, names, scores};
    use serde_json::json;
    use toolmark_outcome::Profile::Azure;

    #[test]
    fn names_and_parameters() {
        for (mode, reference, made, score) in [
            ("exact_match", "ab", "ab", Some(1.0)),
            ("exact_match", "ab", "ba", Some(0.0)),
            ("in_order_match", "ab", "axb", Some(1.0)),
            ("in_order_match", "ab", "ba", Some(0.0)),
            ("any_order_match", "ab", "bxa", Some(1.0)),
            ("any_order_match", "aa", "a", Some(0.0)),
            ("exact_match", "", "", None),
        ] {
            let config = json!({"mode": mode, "reference": names(reference)});
            let answer = scores(Azure, config, &names(made));
            assert_eq!(answer.0, score, "{mode} {reference} {made}");
        }
        for (params, made, score) in [
            (json!({"s": {"n": 1}}), json!({"n": "1"}), 1.0),
            (json!({"s": {"n": 1}}), json!({"n": 1.0}), 0.0),
            (json!({"s": {"n": {"b": 1, "a": 2}}}), json!({"n": {"a": 2, "b": 1}}), 1.0),
            (json!({"t": {}}), json!({"n": 1}), 0.0),
            (json!({"s": {"f": true}}), json!({"f": "True"}), 1.0),
        ] {
            let config = json!({"reference": ["s"], "params": params});
            let answer = scores(Azure, config, &json!([call("s", made.clone())]));
            assert_eq!(answer.0, Some(score), "{params} {made}");
        }
    }
}
