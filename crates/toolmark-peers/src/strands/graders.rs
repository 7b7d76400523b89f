//! Strands' three scorers of trajectories, over names.

use crate::scores::matching::{by_position, paired, same_name, share, walk};
use crate::scores::system::{Answered, ComparisonMode, ModeAnswer, ModeInput, NoAnswer, System};
use toolmark_base::SortedSet;
use toolmark_outcome::Profile;

pub(crate) static SYSTEM: System = System {
    profile: Profile::Strands,
    version: "strands-agents-evals 1.7.0",
    threshold: 1.0,
    options: &[],
    modes: &[
        ComparisonMode { word: "exact", aliases: &["strict"], own: Some("exact"), score: exact },
        ComparisonMode { word: "in_order", aliases: &[], own: Some("in_order"), score: in_order },
        ComparisonMode {
            word: "any_order",
            aliases: &["superset"],
            own: Some("any_order"),
            score: any_order,
        },
    ],
};

/// Returns the share of correct positions; calls after the last position are ignored.
fn exact(asked: &ModeInput<'_>) -> Answered {
    if asked.expected.is_empty() {
        return Err(NoAnswer::raised("division by zero: nothing is expected"));
    }
    let pairs = by_position(asked, &same_name);
    Ok(ModeAnswer::of(share(paired(&pairs), asked.expected.len())).paired(pairs))
}

fn in_order(asked: &ModeInput<'_>) -> Answered {
    let pairs = walk(asked, &same_name);
    let score = if pairs.is_empty() { 1.0 } else { share(paired(&pairs), pairs.len()) };
    Ok(ModeAnswer::of(score).paired(pairs))
}

/// Returns the size of the common set divided by the length of the list.
fn any_order(asked: &ModeInput<'_>) -> Answered {
    if asked.expected.is_empty() {
        return Ok(ModeAnswer::of(1.0));
    }
    let expected: SortedSet<&str> = asked.expected.iter().map(|call| call.name.as_str()).collect();
    let made: SortedSet<&str> = asked.made.iter().map(|call| &*call.name).collect();
    Ok(ModeAnswer::of(share(expected.intersection(&made).count(), asked.expected.len())))
}

#[cfg(test)]
mod tests {
    use crate::scores::testing::{names, scores};
    use serde_json::json;
    use toolmark_outcome::Profile::Strands;

    #[test]
    fn names_only() {
        for (mode, reference, made, score) in [
            ("exact", "ab", "abx", Some(1.0)),
            ("exact", "ab", "xab", Some(0.0)),
            ("exact", "", "a", None),
            ("in_order", "abc", "bc", Some(0.0)),
            ("in_order", "abc", "axb", Some(2.0 / 3.0)),
            ("in_order", "", "a", Some(1.0)),
            ("any_order", "aa", "aa", Some(0.5)),
            ("any_order", "ab", "b", Some(0.5)),
        ] {
            let config = json!({"mode": mode, "reference": names(reference)});
            assert_eq!(scores(Strands, config, &names(made)).0, score, "{mode} {reference} {made}");
        }
    }
}
