//! Matches expected calls in any order, each with separate calls, with counts.

use super::align::TooLarge;
use super::assign::assign_choices;
use super::column::CallColumn;
use super::sequence::MatchedCalls;
use smallvec::SmallVec;
use std::collections::VecDeque;

/// Maximum number of pairs of expectation and call: 256 MB.
const MAX_CHOICES: usize = 1 << 26;

/// Maximum number of calls inspected when calls are exchanged so that surplus calls are used.
const MAX_WORK: usize = 1 << 25;

/// A call expected in any order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Want {
    /// Index of the column with the calls that meet it.
    pub column: usize,
    /// Number of separate calls needed.
    pub count: usize,
    /// Whether it also takes every additional matching call.
    pub more: bool,
}

/// Assignment of calls to expectations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Covered {
    /// Calls assigned to each expectation, in order.
    pub calls: Vec<MatchedCalls>,
    /// Number of missing calls of each expectation.
    pub missing: Vec<usize>,
    /// All assigned calls.
    pub used: CallColumn,
}

/// Assigns as many calls to expectations as possible; among the maximal assignments, one that
/// leaves the fewest calls unassigned. `elsewhere` are calls that are
/// used elsewhere and may be left unassigned here.
pub fn cover(
    wants: &[Want],
    columns: &[CallColumn],
    elsewhere: &CallColumn,
) -> Result<Covered, TooLarge> {
    let calls = elsewhere.calls();
    // Who wants more takes whatever fits, so nothing of it is left over.
    let mut spare = elsewhere.clone();
    for want in wants.iter().filter(|want| want.more) {
        spare.include(&columns[want.column]);
    }
    let there: Vec<usize> =
        wants.iter().map(|want| want.count.min(columns[want.column].count())).collect();
    let copies: usize = there.iter().sum();
    if copies.saturating_mul(copies.min(calls)) > MAX_CHOICES {
        return Err(TooLarge);
    }
    let mut owners = Vec::with_capacity(copies);
    let mut choices: Vec<SmallVec<[u32; 4]>> = Vec::with_capacity(copies);
    for (at, want) in wants.iter().enumerate() {
        let choice: SmallVec<[u32; 4]> =
            columns[want.column].iter().take(copies).map(|call| call as u32).collect();
        owners.extend(std::iter::repeat_n(at, there[at]));
        choices.extend(std::iter::repeat_n(choice, there[at]));
    }
    let mut of_copy = assign_choices(&choices, calls);
    drop(choices);
    exchange(wants, columns, &owners, &mut of_copy, &spare);
    let mut covered = Covered {
        calls: vec![MatchedCalls::new(); wants.len()],
        missing: wants.iter().map(|want| want.count).collect(),
        used: CallColumn::new(calls),
    };
    for (&owner, call) in owners.iter().zip(&of_copy) {
        if let Some(call) = *call {
            covered.calls[owner].push(call);
            covered.missing[owner] -= 1;
            covered.used.set(call);
        }
    }
    for (at, want) in wants.iter().enumerate().filter(|(_, want)| want.more) {
        for call in columns[want.column].iter() {
            if !covered.used.get(call) {
                covered.calls[at].push(call);
                covered.used.set(call);
            }
        }
    }
    covered.calls.iter_mut().for_each(|calls| calls.sort_unstable());
    Ok(covered)
}

/// Exchanges assigned calls that are used elsewhere for calls that would be left over.
fn exchange(
    wants: &[Want],
    columns: &[CallColumn],
    owners: &[usize],
    of_copy: &mut [Option<usize>],
    spare: &CallColumn,
) {
    let mut could_go = of_copy.iter().flatten().filter(|call| spare.get(**call)).count();
    if could_go == 0 {
        return;
    }
    let calls = spare.calls();
    let mut of_call: Vec<Option<usize>> = vec![None; calls];
    for (copy, call) in of_copy.iter().enumerate() {
        if let Some(call) = *call {
            of_call[call] = Some(copy);
        }
    }
    let mut work = 0;
    for start in 0..calls {
        if could_go == 0 || work > MAX_WORK {
            return;
        }
        if of_call[start].is_some() || spare.get(start) {
            continue;
        }
        // From the call that is left over to one that may be: each copy on the
        // way changes its call for the one before.
        let mut from: Vec<Option<usize>> = vec![None; of_copy.len()];
        let mut queue = VecDeque::from([start]);
        let mut end = None;
        'search: while let Some(call) = queue.pop_front() {
            for (copy, &owner) in owners.iter().enumerate() {
                work += 1;
                let Some(held) = of_copy[copy] else { continue };
                if from[copy].is_some() || !columns[wants[owner].column].get(call) {
                    continue;
                }
                from[copy] = Some(call);
                if spare.get(held) {
                    end = Some((copy, held));
                    break 'search;
                }
                queue.push_back(held);
            }
        }
        let Some((mut copy, freed)) = end else { continue };
        of_call[freed] = None;
        could_go -= 1;
        while let Some(call) = from[copy] {
            let holder = of_call[call].replace(copy);
            of_copy[copy] = Some(call);
            match holder {
                Some(holder) => copy = holder,
                None => break,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(calls: usize, fits: &[&[usize]]) -> Vec<CallColumn> {
        fits.iter().map(|fits| CallColumn::from_fn(calls, |call| fits.contains(&call))).collect()
    }

    fn want(column: usize, count: usize, more: bool) -> Want {
        Want { column, count, more }
    }

    #[test]
    fn counts_are_calls_of_their_own() {
        let columns = columns(4, &[&[0, 1, 2], &[1]]);
        let covered =
            cover(&[want(0, 3, false), want(1, 1, false)], &columns, &CallColumn::new(4)).unwrap();
        assert_eq!(covered.missing.iter().sum::<usize>(), 1);
        let covered =
            cover(&[want(0, 2, false), want(1, 1, false)], &columns, &CallColumn::new(4)).unwrap();
        assert_eq!(
            covered.calls,
            [MatchedCalls::from_slice(&[0, 2]), MatchedCalls::from_slice(&[1])]
        );
        let covered = cover(&[want(0, 9, false)], &columns, &CallColumn::new(4)).unwrap();
        assert_eq!((covered.missing[0], covered.calls[0].len()), (6, 3));
    }

    #[test]
    fn what_would_be_left_over_is_taken_first() {
        // The first expectation takes call 0 or 2; call 0 belongs to the second
        // one, which takes all it can get.
        let columns = columns(3, &[&[0, 2], &[0, 1]]);
        let covered =
            cover(&[want(0, 1, false), want(1, 1, true)], &columns, &CallColumn::new(3)).unwrap();
        assert_eq!(
            covered.calls,
            [MatchedCalls::from_slice(&[2]), MatchedCalls::from_slice(&[0, 1])]
        );
        assert_eq!(covered.used.count(), 3);
        // A call that is used elsewhere may be left over.
        let elsewhere = CallColumn::from_fn(3, |call| call == 0);
        let covered = cover(&[want(0, 1, false)], &columns, &elsewhere).unwrap();
        assert_eq!(covered.calls, [MatchedCalls::from_slice(&[2])]);
    }
}
