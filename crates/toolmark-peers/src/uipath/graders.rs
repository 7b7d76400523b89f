//! UiPath's evaluators of tool calls: order, arguments, outputs, counts.

use crate::scores::calls::{ActualCall, ScoredCall, object};
use crate::scores::matching::{greedy, longest, paired, share};
use crate::scores::python::{same, text};
use crate::scores::system::{Answered, ComparisonMode, ModeAnswer, ModeInput, System};
use serde_json::{Map, Value};
use toolmark_base::SortedMap;
use toolmark_outcome::Profile;

pub(crate) static SYSTEM: System = System {
    profile: Profile::UiPath,
    version: "uipath 2.14.44",
    threshold: 1.0,
    options: &["strict", "subset"],
    modes: &[
        ComparisonMode {
            word: "order",
            aliases: &["in_order"],
            own: Some("in_order"),
            score: order,
        },
        ComparisonMode {
            word: "args",
            aliases: &["any_order"],
            own: Some("any_order"),
            score: args,
        },
        ComparisonMode { word: "output", aliases: &[], own: Some("any_order"), score: output },
    ],
};

/// Sanitizes a name: spaces become underscores, and characters not allowed in tool names are
/// removed.
fn sanitized(name: &str) -> String {
    let joined = name.split_whitespace().collect::<Vec<_>>().join("_");
    let allowed = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    joined.chars().filter(allowed).take(64).collect()
}

fn same_name(expected: &ScoredCall, made: &ActualCall<'_>) -> bool {
    sanitized(&expected.name) == sanitized(&made.name)
}

/// Returns the answer if a side is empty.
fn empty(asked: &ModeInput<'_>) -> Option<ModeAnswer> {
    match (asked.expected.is_empty(), asked.made.is_empty()) {
        (true, true) => Some(ModeAnswer::of(1.0)),
        (true, false) | (false, true) => Some(ModeAnswer::of(0.0)),
        _ => None,
    }
}

fn shares(asked: &ModeInput<'_>, pairs: Vec<Option<usize>>) -> ModeAnswer {
    let found = paired(&pairs);
    let whole = found == pairs.len();
    let score = match asked.options.strict {
        true => f64::from(u8::from(whole)),
        false => share(found, pairs.len()),
    };
    ModeAnswer::of(score).paired(pairs)
}

fn order(asked: &ModeInput<'_>) -> Answered {
    if let Some(answer) = empty(asked) {
        return Ok(answer);
    }
    let pairs = longest(asked, &same_name)?;
    if asked.options.strict && asked.made.len() != asked.expected.len() {
        return Ok(ModeAnswer::of(0.0).paired(pairs));
    }
    Ok(shares(asked, pairs))
}

/// Compares only the expected arguments.
fn args(asked: &ModeInput<'_>) -> Answered {
    let fits = |expected: &ScoredCall, made: &ActualCall<'_>| {
        let (Some(wanted), Some(had)) =
            (object(expected.args.as_ref()), object(made.args.as_ref()))
        else {
            return false;
        };
        let has = |(name, value): (&String, &Value)| {
            had.get(name).is_some_and(|other| same(other, value))
        };
        same_name(expected, made) && wanted.iter().all(has)
    };
    Ok(empty(asked).unwrap_or_else(|| shares(asked, greedy(asked, &fits))))
}

/// Returns the output as text: of an object only its `content`.
fn output_text(output: Option<&Value>) -> String {
    let content = |fields: &Map<String, Value>| match fields.get("content") {
        None | Some(Value::Null) => String::new(),
        Some(content) => text(content),
    };
    match output {
        None | Some(Value::Null) => String::new(),
        Some(Value::Object(fields)) => content(fields),
        Some(Value::String(words)) => match serde_json::from_str(words) {
            Ok(Value::Object(fields)) => content(&fields),
            _ => words.clone(),
        },
        Some(other) => text(other),
    }
}

fn output(asked: &ModeInput<'_>) -> Answered {
    if let Some(answer) = empty(asked) {
        return Ok(answer);
    }
    let wanted = |expected: &ScoredCall| expected.output.as_ref().map(text).unwrap_or_default();
    let fits = |expected: &ScoredCall, made: &ActualCall<'_>| {
        same_name(expected, made) && wanted(expected) == output_text(made.output.as_ref())
    };
    let pairs = greedy(asked, &fits);
    // Strictly, a call of the right tool with another output ends it at once.
    let mut taken = vec![false; asked.made.len()];
    for (expected, pair) in asked.expected.iter().zip(&pairs).take_while(|_| asked.options.strict) {
        let end = pair.unwrap_or(asked.made.len());
        let other = |at: &usize| !taken[*at] && same_name(expected, &asked.made[*at]);
        if (0..end).any(|at| other(&at)) {
            return Ok(ModeAnswer::of(0.0).paired(pairs));
        }
        if let Some(at) = pair {
            taken[*at] = true;
        }
    }
    Ok(shares(asked, pairs))
}

/// Returns the number of calls of a tool: by its name, otherwise by its sanitized name.
pub(crate) fn count_of(counts: &SortedMap<&str, usize>, tool: &str) -> usize {
    let own = counts.get(tool).or_else(|| counts.get(sanitized(tool).as_str()));
    own.copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use crate::scores::testing::{call, names, scores};
    use serde_json::json;
    use toolmark_outcome::Profile::UiPath;

    #[test]
    fn order_arguments_and_outputs() {
        for (reference, made, strict, score) in [
            ("abc", "bc", false, 2.0 / 3.0),
            ("ab", "axb", false, 1.0),
            ("ab", "axb", true, 0.0),
            ("ab", "ab", true, 1.0),
            ("", "", false, 1.0),
            ("", "a", false, 0.0),
        ] {
            let config = json!({"mode": "order", "reference": names(reference), "strict": strict});
            assert_eq!(scores(UiPath, config, &names(made)).0, Some(score), "{reference} {made}");
        }
        let made = json!([call("my_tool", json!({"x": 1, "y": 2}))]);
        for (reference, score) in [
            (json!([call("my tool!", json!({"x": 1.0}))]), 1.0),
            (json!([call("my_tool", json!({"z": 1}))]), 0.0),
        ] {
            let config = json!({"mode": "args", "reference": reference});
            assert_eq!(scores(UiPath, config, &made).0, Some(score), "{reference}");
        }
        let made = json!([
            {"tool": "s", "output": "bad"},
            {"tool": "s", "output": "{\"content\": \"ok\"}"},
        ]);
        for (strict, score) in [(false, 1.0), (true, 0.0)] {
            let reference = json!([{"name": "s", "output": "ok"}]);
            let config = json!({"mode": "output", "reference": reference, "strict": strict});
            assert_eq!(scores(UiPath, config, &made).0, Some(score));
        }
    }
}
