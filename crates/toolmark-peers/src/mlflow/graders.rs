//! MLflow's `ToolCallCorrectness` with exact matching.

use crate::scores::matching::by_position;
use crate::scores::python::sorted_dumps;
use crate::scores::system::{Answered, ComparisonMode, ModeAnswer, ModeInput, NoAnswer, System};
use serde_json::Value;
use toolmark_base::SortedSet;
use toolmark_outcome::Profile;

pub(crate) static SYSTEM: System = System {
    profile: Profile::Mlflow,
    version: "mlflow 3.17.2",
    threshold: 1.0,
    options: &[],
    modes: &[
        ComparisonMode {
            word: "exact_ordered",
            aliases: &["exact", "strict"],
            own: Some("exact"),
            score: ordered,
        },
        ComparisonMode {
            word: "exact_unordered",
            aliases: &["unordered"],
            own: Some("unordered"),
            score: unordered,
        },
    ],
};

/// Returns a call as text: 1 and 1.0 are different texts.
fn signature(name: &str, args: Option<&Value>, with_args: bool) -> Result<String, NoAnswer> {
    if !with_args {
        return Ok(name.to_owned());
    }
    match args {
        None | Some(Value::Null) => Ok(format!("{name}({{}})")),
        Some(args @ Value::Object(_)) => Ok(format!("{name}({})", sorted_dumps(args))),
        Some(_) => Err(NoAnswer::raised("arguments must be an object")),
    }
}

struct Signatures {
    expected: Vec<String>,
    made: Vec<String>,
}

/// Returns the calls of both sides as text; `None` if their numbers differ.
fn signatures(asked: &ModeInput<'_>) -> Result<Option<Signatures>, NoAnswer> {
    if asked.expected.is_empty() {
        return Err(NoAnswer::raised("exact matching needs expected calls"));
    }
    // One expected call without arguments is enough to compare none.
    let with_args = asked.expected.iter().all(|call| call.args.is_some());
    if asked.expected.len() != asked.made.len() {
        return Ok(None);
    }
    let expected = asked
        .expected
        .iter()
        .map(|call| signature(&call.name, call.args.as_ref(), with_args))
        .collect::<Result<_, _>>()?;
    let made = asked
        .made
        .iter()
        .map(|call| signature(&call.name, call.args.as_ref(), with_args))
        .collect::<Result<_, _>>()?;
    Ok(Some(Signatures { expected, made }))
}

fn rating(holds: bool) -> ModeAnswer {
    ModeAnswer::binary(holds).with("value", if holds { "yes" } else { "no" })
}

fn ordered(asked: &ModeInput<'_>) -> Answered {
    let Some(Signatures { expected, made }) = signatures(asked)? else {
        return Ok(rating(false));
    };
    let pairs: Vec<Option<usize>> = by_position(asked, &|_, _| true)
        .into_iter()
        .map(|pair| pair.filter(|at| expected[*at] == made[*at]))
        .collect();
    Ok(rating(expected == made).paired(pairs))
}

fn unordered(asked: &ModeInput<'_>) -> Answered {
    let Some(Signatures { expected, made }) = signatures(asked)? else {
        return Ok(rating(false));
    };
    let set = |all: Vec<String>| all.into_iter().collect::<SortedSet<_>>();
    Ok(rating(set(expected) == set(made)))
}

#[cfg(test)]
mod tests {
    use crate::scores::testing::{call, calls, scores};
    use serde_json::json;
    use toolmark_outcome::Profile::Mlflow;

    #[test]
    fn texts_of_calls() {
        let (one, float) =
            (json!([call("a", json!({"x": 1}))]), json!([call("a", json!({"x": 1.0}))]));
        for (mode, reference, made, score) in [
            ("exact_ordered", &one, &one, Some(1.0)),
            ("exact_ordered", &one, &float, Some(0.0)),
            ("exact_ordered", &json!(["a"]), &float, Some(1.0)),
            ("exact_ordered", &calls("aab"), &calls("abb"), Some(0.0)),
            ("exact_unordered", &calls("aab"), &calls("abb"), Some(1.0)),
            ("exact_unordered", &calls("ab"), &calls("abb"), Some(0.0)),
            ("exact_ordered", &json!([]), &json!([]), None),
        ] {
            let config = json!({"mode": mode, "reference": reference});
            assert_eq!(scores(Mlflow, config, made).0, score, "{mode} {reference} {made}");
        }
    }
}
