//! DeepEval's `ToolCorrectnessMetric`, without the judge of available tools.

use crate::scores::calls::{ActualCall, ScoredCall};
use crate::scores::matching::{by_position, paired};
use crate::scores::python::{same, same_option};
use crate::scores::system::{
    Answered, ComparisonMode, ModeAnswer, ModeInput, NoAnswer, System, SystemOptions,
};
use serde_json::{Map, Value};
use toolmark_match::engine::weigh_in_order;
use toolmark_outcome::Profile;

pub(crate) static SYSTEM: System = System {
    profile: Profile::DeepEval,
    version: "deepeval 4.3.1",
    threshold: 0.5,
    options: &["evaluation_params", "strict"],
    modes: &[
        ComparisonMode {
            word: "default",
            aliases: &["any_order", "superset"],
            own: Some("any_order"),
            score: |asked| answer(asked, default),
        },
        ComparisonMode {
            word: "exact",
            aliases: &["strict"],
            own: Some("exact"),
            score: |asked| answer(asked, exact),
        },
        ComparisonMode {
            word: "ordering",
            aliases: &["in_order"],
            own: Some("in_order"),
            score: |asked| answer(asked, ordering),
        },
    ],
};

/// A score between 0 and 1, and its pairs.
type ScoredPairs = Result<(f64, Vec<Option<usize>>), NoAnswer>;

/// Returns the score; in strict mode, any score below 1 becomes 0.
fn answer(asked: &ModeInput<'_>, score: fn(&ModeInput<'_>) -> ScoredPairs) -> Answered {
    let (score, pairs) = match (asked.expected.len(), asked.made.len()) {
        (0, 0) => (1.0, Vec::new()),
        (0, _) => (0.0, Vec::new()),
        _ => score(asked)?,
    };
    let threshold = if asked.options.strict { 1.0 } else { asked.options.threshold.unwrap_or(0.5) };
    let score = if asked.options.strict && score < threshold { 0.0 } else { score };
    Ok(ModeAnswer { passed: Some(score >= threshold), ..ModeAnswer::of(score).paired(pairs) })
}

fn exact(asked: &ModeInput<'_>) -> ScoredPairs {
    let options = asked.options;
    let pairs = by_position(asked, &|expected: &ScoredCall, made: &ActualCall<'_>| {
        expected.name == made.name
            && (!options.compare_args || same_option(expected.args.as_ref(), made.args.as_ref()))
            && (!options.compare_output
                || same_option(expected.output.as_ref(), made.output.as_ref()))
    });
    let holds = asked.made.len() == pairs.len() && paired(&pairs) == pairs.len();
    Ok((f64::from(u8::from(holds)), pairs))
}

/// Returns the value of a call for an expected call of the same name.
fn worth(
    options: &SystemOptions,
    expected: &ScoredCall,
    made: &ActualCall<'_>,
) -> Result<f64, NoAnswer> {
    if expected.name != made.name {
        return Ok(0.0);
    }
    let outputs_differ = !same_option(expected.output.as_ref(), made.output.as_ref());
    let worth = match options.compare_args {
        true => arguments(expected.args.as_ref(), made.args.as_ref())?,
        false => 1.0,
    };
    Ok(if options.compare_output && outputs_differ { 0.0 } else { worth })
}

/// Returns the share of all keys whose values are equal; nested objects count partially.
fn arguments(expected: Option<&Value>, made: Option<&Value>) -> Result<f64, NoAnswer> {
    if same_option(expected, made) {
        return Ok(1.0);
    }
    match (expected, made) {
        (Some(Value::Object(expected)), Some(Value::Object(made))) => Ok(objects(expected, made)),
        _ => Err(NoAnswer::raised("input parameters that are no object are compared by key")),
    }
}

fn objects(expected: &Map<String, Value>, made: &Map<String, Value>) -> f64 {
    let all = made.len() + expected.keys().filter(|key| !made.contains_key(*key)).count();
    let mut sum = 0.0;
    for (key, value) in expected {
        let part = match (value, made.get(key)) {
            (_, None) => 0.0,
            (value, Some(other)) if same(value, other) => 1.0,
            (Value::Object(value), Some(Value::Object(other))) => objects(value, other),
            _ => 0.0,
        };
        sum += part / all as f64;
    }
    sum
}

fn table(asked: &ModeInput<'_>) -> Result<Vec<Vec<f64>>, NoAnswer> {
    let row = |expected: &ScoredCall| {
        asked.made.iter().map(|made| worth(asked.options, expected, made)).collect()
    };
    asked.expected.iter().map(row).collect()
}

/// Assigns the best unused call. Used calls are identified by value, so the second
/// of two equal calls is never found.
fn default(asked: &ModeInput<'_>) -> ScoredPairs {
    let worth = table(asked)?;
    let is_same = |a: &ActualCall<'_>, b: &ActualCall<'_>| {
        a.name == b.name
            && same_option(a.args.as_ref(), b.args.as_ref())
            && same_option(a.output.as_ref(), b.output.as_ref())
    };
    let mut used: Vec<usize> = Vec::new();
    let mut pairs = Vec::with_capacity(worth.len());
    let mut sum = 0.0;
    for row in &worth {
        let mut best: Option<usize> = None;
        for (at, score) in row.iter().enumerate() {
            let is_used = used.iter().any(|other| is_same(&asked.made[*other], &asked.made[at]));
            if !is_used && *score > best.map_or(0.0, |best| row[best]) {
                best = Some(at);
            }
        }
        if let Some(best) = best {
            sum += row[best];
            used.push(best);
        }
        pairs.push(best);
    }
    Ok((sum / worth.len() as f64, pairs))
}

fn ordering(asked: &ModeInput<'_>) -> ScoredPairs {
    let worth = table(asked)?;
    let pairs = weigh_in_order(asked.expected.len(), asked.made.len(), |expected, made| {
        Some(worth[expected][made]).filter(|worth| *worth > 0.0)
    })?;
    let sum: f64 =
        pairs.iter().zip(&worth).filter_map(|(pair, row)| pair.map(|made| row[made])).sum();
    Ok((sum / worth.len() as f64, pairs))
}

#[cfg(test)]
mod tests {
    use crate::scores::testing::{call, calls, names, scores};
    use serde_json::json;
    use toolmark_outcome::Profile::DeepEval;

    #[test]
    fn names_only() {
        for (mode, reference, made, score) in [
            ("default", "ab", "bxa", 1.0),
            ("default", "aa", "aa", 0.5),
            ("exact", "ab", "ab", 1.0),
            ("exact", "ab", "abx", 0.0),
            ("ordering", "abc", "bc", 2.0 / 3.0),
            ("ordering", "aa", "aa", 1.0),
            ("default", "", "", 1.0),
            ("default", "", "a", 0.0),
        ] {
            let config = json!({"mode": mode, "reference": names(reference)});
            assert_eq!(
                scores(DeepEval, config, &names(made)).0,
                Some(score),
                "{mode} {reference} {made}"
            );
        }
        let config = json!({"reference": calls("ab"), "strict": true});
        assert_eq!(scores(DeepEval, config, &calls("a")).0, Some(0.0));
    }

    #[test]
    fn arguments_in_part() {
        let params = json!(["input_parameters"]);
        let expected = json!({"a": 1, "b": {"c": 1, "d": 2}});
        for (mode, made, score) in [
            ("default", json!({"a": 1, "b": {"c": 1, "d": 3}}), Some(0.75)),
            ("ordering", json!({"a": true}), Some(0.5)),
            ("exact", json!({"a": 1}), Some(0.0)),
            ("default", json!(null), None),
        ] {
            let reference = json!([call("s", expected.clone())]);
            let config = json!({"mode": mode, "reference": reference, "evaluation_params": params});
            let answer = scores(DeepEval, config, &json!([call("s", made.clone())]));
            assert_eq!(answer.0, score, "{mode} {made}");
        }
    }
}
