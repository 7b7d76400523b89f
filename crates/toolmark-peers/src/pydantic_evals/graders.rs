//! Pydantic Evals' `TrajectoryMatch` and `ToolCorrectness`, over names.

use crate::scores::calls::ActualCall;
use crate::scores::matching::{Fits, f1, greedy, longest, paired, same_name, share};
use crate::scores::system::{Answered, ComparisonMode, ModeAnswer, ModeInput, NoAnswer, System};
use toolmark_outcome::Profile;

pub(crate) static SYSTEM: System = System {
    profile: Profile::PydanticEvals,
    version: "pydantic-evals 2.62.0",
    threshold: 1.0,
    options: &["allow_extra", "include_failed"],
    modes: &[
        ComparisonMode { word: "in_order", aliases: &[], own: Some("in_order"), score: in_order },
        ComparisonMode { word: "exact", aliases: &["strict"], own: Some("exact"), score: exact },
        ComparisonMode {
            word: "any_order",
            aliases: &[],
            own: Some("unordered"),
            score: any_order,
        },
        ComparisonMode {
            word: "tool_correctness",
            aliases: &["ToolCorrectness", "unordered"],
            own: Some("unordered"),
            score: tool_correctness,
        },
    ],
};

/// Whether a call counts. Failed attempts do not count unless they are included.
pub(crate) fn counts(made: &ActualCall<'_>, include_failed: bool) -> bool {
    include_failed || !made.failed
}

type PydanticPairs = Result<Vec<Option<usize>>, NoAnswer>;

/// Returns the pairs among the calls that count, and the number of those calls.
fn pairs(
    asked: &ModeInput<'_>,
    pair: fn(&ModeInput<'_>, Fits<'_>) -> PydanticPairs,
) -> Result<(Vec<Option<usize>>, usize), NoAnswer> {
    let failed = asked.options.include_failed;
    let counted = asked.made.iter().filter(|made| counts(made, failed)).count();
    let pairs = pair(asked, &|expected, made| counts(made, failed) && same_name(expected, made))?;
    Ok((pairs, counted))
}

fn score(pairs: Vec<Option<usize>>, made: usize) -> ModeAnswer {
    let (overlap, expected) = (paired(&pairs), pairs.len());
    let score = match (expected, made) {
        (0, 0) => 1.0,
        _ => f1(share(overlap, made), share(overlap, expected)),
    };
    ModeAnswer::of(score)
        .with("precision", share(overlap, made))
        .with("recall", share(overlap, expected))
        .paired(pairs)
}

fn exact(asked: &ModeInput<'_>) -> Answered {
    let (pairs, made) = pairs(asked, |asked, fits| Ok(longest(asked, fits)?))?;
    let holds = made == pairs.len() && paired(&pairs) == made;
    Ok(ModeAnswer::of(f64::from(u8::from(holds))).paired(pairs))
}

fn in_order(asked: &ModeInput<'_>) -> Answered {
    let (pairs, made) = pairs(asked, |asked, fits| Ok(longest(asked, fits)?))?;
    Ok(score(pairs, made))
}

fn any_order(asked: &ModeInput<'_>) -> Answered {
    let (pairs, made) = pairs(asked, |asked, fits| Ok(greedy(asked, fits)))?;
    Ok(score(pairs, made))
}

fn tool_correctness(asked: &ModeInput<'_>) -> Answered {
    let (pairs, made) = pairs(asked, |asked, fits| Ok(greedy(asked, fits)))?;
    let found = paired(&pairs);
    let holds = found == pairs.len() && (asked.options.allow_extra || found == made);
    Ok(ModeAnswer::binary(holds).paired(pairs))
}

#[cfg(test)]
mod tests {
    use crate::scores::testing::{names, scores};
    use serde_json::json;
    use toolmark_outcome::Profile::PydanticEvals;

    #[test]
    fn names_only() {
        for (mode, reference, made, score) in [
            ("exact", "ab", "ab", 1.0),
            ("exact", "ab", "ba", 0.0),
            ("exact", "", "", 1.0),
            ("in_order", "abc", "bc", 0.8),
            ("in_order", "ab", "ba", 0.5),
            ("any_order", "ab", "ba", 1.0),
            ("any_order", "aa", "a", 2.0 / 3.0),
            ("any_order", "a", "", 0.0),
            ("tool_correctness", "aa", "aa", 1.0),
            ("tool_correctness", "a", "ab", 0.0),
        ] {
            let config = json!({"mode": mode, "reference": names(reference)});
            let answer = scores(PydanticEvals, config, &names(made));
            assert_eq!(answer.0, Some(score), "{mode} {reference} {made}");
        }
        let failed = json!([{"tool": "a", "status": "error"}, {"tool": "b", "output": "1"}]);
        for (options, score) in [(json!({}), 1.0), (json!({"include_failed": true}), 0.0)] {
            let mut config = json!({"mode": "exact", "reference": ["b"]});
            config.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
            assert_eq!(scores(PydanticEvals, config, &failed).0, Some(score));
        }
    }
}
