//! Pairing strategies for expected calls and actual calls.

use super::calls::{ActualCall, ScoredCall};
use super::system::ModeInput;
use toolmark_match::engine::{Grid, TooLarge, align};

/// Predicate for whether a call matches an expected call.
pub(crate) type Fits<'f> = &'f dyn Fn(&ScoredCall, &ActualCall<'_>) -> bool;

/// Whether the names are the same.
pub(crate) fn same_name(expected: &ScoredCall, made: &ActualCall<'_>) -> bool {
    expected.name == made.name
}

/// Assigns to every expected call the first free matching call, in the order of expectations.
pub(crate) fn greedy(asked: &ModeInput<'_>, fits: Fits<'_>) -> Vec<Option<usize>> {
    let mut taken = vec![false; asked.made.len()];
    let take = |expected: &ScoredCall| {
        let mut free = asked.made.iter().enumerate().filter(|(at, _)| !taken[*at]);
        let found = free.find(|(_, made)| fits(expected, made)).map(|(at, _)| at);
        if let Some(at) = found {
            taken[at] = true;
        }
        found
    };
    asked.expected.iter().map(take).collect()
}

/// Walks through the calls once: after a missing expected call, no later one is matched.
pub(crate) fn walk(asked: &ModeInput<'_>, fits: Fits<'_>) -> Vec<Option<usize>> {
    let mut pairs = vec![None; asked.expected.len()];
    let mut next = 0;
    for (at, made) in asked.made.iter().enumerate() {
        if let Some(expected) = asked.expected.get(next)
            && fits(expected, made)
        {
            pairs[next] = Some(at);
            next += 1;
        }
    }
    pairs
}

/// Pairs by position: the first expected call with the first actual call, and so on.
pub(crate) fn by_position(asked: &ModeInput<'_>, fits: Fits<'_>) -> Vec<Option<usize>> {
    let fit = |at: usize| asked.made.get(at).is_some_and(|made| fits(&asked.expected[at], made));
    (0..asked.expected.len()).map(|at| fit(at).then_some(at)).collect()
}

/// Returns as many pairs as possible in the expected order.
pub(crate) fn longest(
    asked: &ModeInput<'_>,
    fits: Fits<'_>,
) -> Result<Vec<Option<usize>>, TooLarge> {
    align(&Grid::from_fn(asked.made.len(), asked.expected.len(), |made, expected| {
        fits(&asked.expected[expected], &asked.made[made])
    }))
}

/// Returns the number of pairs.
pub(crate) fn paired(pairs: &[Option<usize>]) -> usize {
    pairs.iter().flatten().count()
}

/// Returns the harmonic mean; 0 if both are 0.
pub(crate) fn f1(precision: f64, recall: f64) -> f64 {
    if precision + recall > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 }
}

/// Returns the share `part / whole`; 0 if `whole` is 0.
pub(crate) fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
