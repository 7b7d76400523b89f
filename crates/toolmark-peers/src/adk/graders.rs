//! ADK's `tool_trajectory_avg_score`: 1 or 0 for every invocation, then the mean.

use crate::scores::calls::{ActualCall, ScoredCall};
use crate::scores::matching::{by_position, greedy, walk};
use crate::scores::python::same;
use crate::scores::system::{
    Answered, ArgsMatch, ComparisonMode, ModeAnswer, ModeInput, NoAnswer, System,
};
use toolmark_outcome::Profile;

pub(crate) static SYSTEM: System = System {
    profile: Profile::Adk,
    version: "google-adk 2.13.0",
    threshold: 1.0,
    options: &["ignore_args", "invocations"],
    modes: &[
        ComparisonMode {
            word: "EXACT",
            aliases: &["exact", "strict"],
            own: Some("exact"),
            score: exact,
        },
        ComparisonMode {
            word: "IN_ORDER",
            aliases: &["in_order"],
            own: Some("in_order"),
            score: in_order,
        },
        ComparisonMode {
            word: "ANY_ORDER",
            aliases: &["any_order", "superset"],
            own: Some("any_order"),
            score: any_order,
        },
    ],
};

type AdkPair = fn(&ModeInput<'_>) -> (Vec<Option<usize>>, bool);

fn exact(asked: &ModeInput<'_>) -> Answered {
    mean(asked, |turn| {
        let pairs = by_position(turn, &fits(turn));
        let holds = turn.made.len() == turn.expected.len() && pairs.iter().all(Option::is_some);
        (pairs, holds)
    })
}

fn in_order(asked: &ModeInput<'_>) -> Answered {
    mean(asked, |turn| whole(walk(turn, &fits(turn))))
}

fn any_order(asked: &ModeInput<'_>) -> Answered {
    mean(asked, |turn| whole(greedy(turn, &fits(turn))))
}

fn whole(pairs: Vec<Option<usize>>) -> (Vec<Option<usize>>, bool) {
    let holds = pairs.iter().all(Option::is_some);
    (pairs, holds)
}

/// Returns a predicate that compares calls. Missing arguments do not equal an empty object.
fn fits(asked: &ModeInput<'_>) -> impl Fn(&ScoredCall, &ActualCall<'_>) -> bool + use<> {
    let ignores = asked.options.args_match == ArgsMatch::Ignore;
    move |expected, made| {
        let same_args = || match (&expected.args, &made.args) {
            (Some(expected), Some(made)) => same(expected, made),
            (expected, made) => expected.is_none() && made.is_none(),
        };
        expected.name == made.name && (ignores || same_args())
    }
}

/// Returns the mean over the invocations.
fn mean(asked: &ModeInput<'_>, pair: AdkPair) -> Answered {
    if !asked.options.invocations {
        let (pairs, holds) = pair(asked);
        return Ok(ModeAnswer::of(f64::from(u8::from(holds))).paired(pairs));
    }
    let turn_of = |call: &ScoredCall| usize::try_from(call.turn.unwrap_or(0)).unwrap_or(0);
    let expected_turns = asked.expected.iter().map(turn_of).max().map_or(1, |turn| turn + 1);
    if expected_turns > asked.turns {
        let counts = format!("{} invocations, {expected_turns} expected", asked.turns);
        return Err(NoAnswer::raised(counts));
    }
    let mut pairs = vec![None; asked.expected.len()];
    let mut right = 0usize;
    for turn in 0..asked.turns {
        let expected: Vec<usize> =
            (0..asked.expected.len()).filter(|at| turn_of(&asked.expected[*at]) == turn).collect();
        let start = asked.made.partition_point(|made| made.turn < turn);
        let end = asked.made.partition_point(|made| made.turn <= turn);
        let calls: Vec<ScoredCall> =
            expected.iter().map(|at| asked.expected[*at].clone()).collect();
        let (of_turn, holds) =
            pair(&ModeInput { expected: &calls, made: &asked.made[start..end], ..*asked });
        right += usize::from(holds);
        for (at, made) in expected.iter().zip(of_turn) {
            pairs[*at] = made.map(|made| start + made);
        }
    }
    Ok(ModeAnswer::of(right as f64 / asked.turns as f64).paired(pairs))
}

#[cfg(test)]
mod tests {
    use crate::scores::testing::{call, calls, scores, turns};
    use serde_json::json;
    use toolmark_outcome::Profile::Adk;

    #[test]
    fn one_invocation() {
        for (mode, reference, made, score) in [
            ("EXACT", "ab", "ab", 1.0),
            ("EXACT", "ab", "abx", 0.0),
            ("EXACT", "", "a", 0.0),
            ("IN_ORDER", "ab", "axb", 1.0),
            ("IN_ORDER", "ab", "ba", 0.0),
            ("IN_ORDER", "", "a", 1.0),
            ("ANY_ORDER", "ab", "bxa", 1.0),
            ("ANY_ORDER", "aa", "a", 0.0),
        ] {
            let config = json!({"mode": mode, "reference": calls(reference)});
            let answer = scores(Adk, config, &calls(made));
            assert_eq!(answer.0, Some(score), "{mode} {reference} {made}");
        }
        let none = json!({"reference": ["a"]});
        assert_eq!(scores(Adk, none, &json!([call("a", json!({}))])).0, Some(0.0));
        let ignored = json!({"reference": [call("a", json!({"x": 1}))], "ignore_args": true});
        assert_eq!(scores(Adk, ignored, &json!([call("a", json!({"x": 2}))])).0, Some(1.0));
    }

    #[test]
    fn every_turn_by_itself() {
        let reference = json!([{"name": "a", "turn": 0}, {"name": "b", "turn": 1}]);
        let config = json!({"reference": reference, "invocations": true, "threshold": 0.5});
        let (score, verdict) = turns(Adk, config.clone(), &[json!(["a"]), json!(["c"])]);
        assert_eq!((score, verdict), (Some(0.5), "pass"));
        assert_eq!(turns(Adk, config, &[json!(["a", "b"])]).1, "unknown");
    }
}
