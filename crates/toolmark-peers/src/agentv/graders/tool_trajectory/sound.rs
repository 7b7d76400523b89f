//! Compares sequences as toolmark does: as many expectations as possible are met,
//! each by a separate call.

use super::super::arguments::{self, ArgumentFit};
use super::super::calls::CallsByTool;
use super::super::reading::is_agentv;
use super::question::{Sequence, Throws};
use super::{ToolTrajectory, TrajectoryItem};
use crate::explain::ExpectationState;
use toolmark_match::engine::{Grid, align, assign};
use toolmark_outcome::TrajectoryView;

/// Maximum number of compared pairs.
const MAX_PAIRS: usize = 1 << 29;

/// Whether a call of the right tool has the right arguments.
fn fits(
    trajectory: &ToolTrajectory,
    item: &TrajectoryItem,
    at: usize,
    view: &TrajectoryView<'_>,
    calls: &CallsByTool<'_>,
) -> Result<bool, Throws> {
    let (Some(args), Some(seen)) = (&item.args, calls.seen.get(at)) else { return Ok(true) };
    let agentv = is_agentv(calls.profile);
    let given = arguments::given(seen.call, view.trajectory(), agentv);
    let rule = trajectory.rule(item, calls.profile);
    match arguments::fit(args, given.as_deref(), &rule, agentv) {
        ArgumentFit::Yes => Ok(true),
        ArgumentFit::No => Ok(false),
        ArgumentFit::Throws => Err(Throws),
    }
}

/// Returns a grid of the calls that meet each expectation.
fn grid(
    trajectory: &ToolTrajectory,
    view: &TrajectoryView<'_>,
    calls: &CallsByTool<'_>,
) -> Result<Option<Grid>, Throws> {
    let (made, expected) = (calls.seen.len(), trajectory.items.len());
    if made.saturating_mul(expected) > MAX_PAIRS {
        return Ok(None);
    }
    let mut grid = Grid::new(made, expected);
    for (n, item) in trajectory.items.iter().enumerate() {
        for &at in calls.of(&item.tool) {
            if calls.counts(at) && fits(trajectory, item, at, view, calls)? {
                grid.set(at, n);
            }
        }
    }
    Ok(Some(grid))
}

/// Aligns in order, with gaps; `None` if the input is too large. With `whole`,
/// unmatched calls are counted.
pub(super) fn aligned(
    trajectory: &ToolTrajectory,
    view: &TrajectoryView<'_>,
    calls: &CallsByTool<'_>,
    whole: bool,
) -> Result<Option<Sequence>, Throws> {
    let Some(grid) = grid(trajectory, view, calls)? else { return Ok(None) };
    let Ok(of_item) = align(&grid) else { return Ok(None) };
    let mut taken = vec![false; calls.seen.len()];
    for at in of_item.iter().flatten() {
        taken[*at] = true;
    }
    // A call of the right tool in the gap where one is missing is nearly it.
    let mut next = 0;
    let mut states = Vec::with_capacity(of_item.len());
    for (n, item) in trajectory.items.iter().enumerate() {
        let state = match of_item[n] {
            Some(at) => ExpectationState::Met(at),
            None => {
                let end = of_item[n..].iter().flatten().next().copied();
                let end = end.unwrap_or(calls.seen.len());
                let places = calls.of(&item.tool);
                let near = places.get(places.partition_point(|at| *at < next)).copied();
                match near.filter(|at| *at < end && !taken[*at]) {
                    Some(at) => {
                        taken[at] = true;
                        ExpectationState::Wrong(at, wrong(item, at, view, calls))
                    }
                    None => ExpectationState::Missing,
                }
            }
        };
        if let ExpectationState::Met(at) | ExpectationState::Wrong(at, _) = state {
            next = at + 1;
        }
        states.push(state);
    }
    let extras =
        if whole { (0..taken.len()).filter(|at| !taken[*at]).collect() } else { Vec::new() };
    Ok(Some(Sequence { states, extras }))
}

/// Matches in any order; `None` if the input is too large.
pub(super) fn superset(
    trajectory: &ToolTrajectory,
    view: &TrajectoryView<'_>,
    calls: &CallsByTool<'_>,
) -> Result<Option<Sequence>, Throws> {
    let Some(grid) = grid(trajectory, view, calls)? else { return Ok(None) };
    let states = assign(&grid)
        .into_iter()
        .map(|at| at.map_or(ExpectationState::Missing, ExpectationState::Met));
    Ok(Some(Sequence { states: states.collect(), extras: Vec::new() }))
}

/// Returns for each call whether it is expected.
pub(super) fn allowed(
    trajectory: &ToolTrajectory,
    view: &TrajectoryView<'_>,
    calls: &CallsByTool<'_>,
) -> Result<Vec<bool>, Throws> {
    let mut allowed = vec![false; calls.seen.len()];
    for item in &trajectory.items {
        for &at in calls.of(&item.tool) {
            if !allowed[at] {
                allowed[at] = fits(trajectory, item, at, view, calls)?;
            }
        }
    }
    Ok(allowed)
}

fn wrong(
    item: &TrajectoryItem,
    at: usize,
    view: &TrajectoryView<'_>,
    calls: &CallsByTool<'_>,
) -> String {
    if !calls.counts(at) {
        return "it failed".into();
    }
    let given = calls
        .seen
        .get(at)
        .and_then(|seen| arguments::given(seen.call, view.trajectory(), is_agentv(calls.profile)));
    match &item.args {
        Some(args) => arguments::difference(args, given.as_deref()),
        None => "it is not in its place".into(),
    }
}
