//! Assigns a separate call to as many expectations as possible: maximum bipartite
//! matching by Hopcroft and Karp, in O(pairs × √expectations).

use super::grid::Grid;
use std::collections::VecDeque;

const FREE: u32 = u32::MAX;

/// Returns the call assigned to each expectation. The number of assignments is maximal.
#[must_use]
pub fn assign(grid: &Grid) -> Vec<Option<usize>> {
    let (items, calls) = (grid.items(), grid.calls());
    let mut edges: Vec<Vec<u32>> = vec![Vec::new(); items];
    for call in 0..calls {
        for (word, &bits) in grid.row(call).iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                let calls = &mut edges[word * 64 + bits.trailing_zeros() as usize];
                if calls.len() < items {
                    calls.push(call as u32);
                }
                bits &= bits - 1;
            }
        }
    }
    assign_choices(&edges, calls)
}

/// Like [`assign`], with the candidates of every expectation as a list of calls. The lists may be
/// cut to as many calls as there are expectations, because the other expectations can occupy all
/// but one of them.
#[must_use]
pub fn assign_choices(edges: &[impl AsRef<[u32]>], calls: usize) -> Vec<Option<usize>> {
    let items = edges.len();
    let mut of_item = vec![FREE; items];
    let mut of_call = vec![FREE; calls];
    // Most of it is easy: the first free call.
    for (item, edges) in edges.iter().enumerate() {
        let mut choice = edges.as_ref().iter();
        if let Some(&call) = choice.find(|call| of_call[**call as usize] == FREE) {
            of_item[item] = call;
            of_call[call as usize] = item as u32;
        }
    }
    let mut level = vec![0u32; items];
    while layer(edges, &of_item, &of_call, &mut level) {
        let mut next = vec![0usize; items];
        for item in 0..items {
            if of_item[item] == FREE {
                augment(item, edges, &mut of_item, &mut of_call, &mut level, &mut next);
            }
        }
    }
    of_item.iter().map(|&call| (call != FREE).then_some(call as usize)).collect()
}

/// Searches breadth first from the expectations without a call. Returns whether a free call is
/// reachable.
fn layer(edges: &[impl AsRef<[u32]>], of_item: &[u32], of_call: &[u32], level: &mut [u32]) -> bool {
    let mut queue = VecDeque::new();
    for (item, &call) in of_item.iter().enumerate() {
        level[item] = if call == FREE { 0 } else { FREE };
        if call == FREE {
            queue.push_back(item);
        }
    }
    let mut found = false;
    while let Some(item) = queue.pop_front() {
        for &call in edges[item].as_ref() {
            let owner = of_call[call as usize];
            if owner == FREE {
                found = true;
            } else if level[owner as usize] == FREE {
                level[owner as usize] = level[item] + 1;
                queue.push_back(owner as usize);
            }
        }
    }
    found
}

/// Searches depth first along the layers, with an explicit stack because paths may be long.
fn augment(
    start: usize,
    edges: &[impl AsRef<[u32]>],
    of_item: &mut [u32],
    of_call: &mut [u32],
    level: &mut [u32],
    next: &mut [usize],
) {
    let mut path = vec![start];
    while let Some(&item) = path.last() {
        let Some(&call) = edges[item].as_ref().get(next[item]) else {
            level[item] = FREE;
            path.pop();
            continue;
        };
        next[item] += 1;
        let owner = of_call[call as usize];
        if owner == FREE {
            // Everyone on the path takes the call they looked at last.
            for &item in &path {
                let call = edges[item].as_ref()[next[item] - 1];
                of_item[item] = call;
                of_call[call as usize] = item as u32;
            }
            return;
        }
        if level[owner as usize] == level[item] + 1 {
            path.push(owner as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(calls: usize, items: usize, pairs: &[(usize, usize)]) -> Grid {
        Grid::from_fn(calls, items, |call, item| pairs.contains(&(call, item)))
    }

    #[test]
    fn an_open_expectation_makes_room_for_a_specific_one() {
        // The first expectation takes any call, the second only the first call.
        let got = assign(&grid(2, 2, &[(0, 0), (1, 0), (0, 1)]));
        assert_eq!(got, [Some(1), Some(0)]);
    }

    #[test]
    fn long_chains_are_rearranged() {
        // Expectation i takes call i or i + 1, the last one only call 0.
        let n = 500;
        let grid = Grid::from_fn(n, n, |call, item| {
            if item == n - 1 { call == 0 } else { call == item || call == item + 1 }
        });
        assert!(assign(&grid).iter().all(Option::is_some));
    }

    #[test]
    fn what_cannot_be_is_left_out() {
        assert_eq!(assign(&grid(1, 2, &[(0, 0), (0, 1)])), [Some(0), None]);
        assert_eq!(assign(&grid(0, 1, &[])), [None]);
        assert_eq!(assign(&grid(1, 0, &[])), [] as [Option<usize>; 0]);
    }
}
