//! Compares sequences as AgentV does.

use super::super::arguments::{self, ArgumentFit};
use super::super::calls::CallsByTool;
use super::question::{Sequence, Throws};
use super::{ToolTrajectory, TrajectoryItem};
use crate::explain::ExpectationState;
use toolmark_outcome::TrajectoryView;

/// Compares a call of the right tool with an expectation.
fn of(
    trajectory: &ToolTrajectory,
    item: &TrajectoryItem,
    at: usize,
    view: &TrajectoryView<'_>,
    calls: &CallsByTool<'_>,
) -> Result<ExpectationState, Throws> {
    let (Some(args), Some(seen)) = (&item.args, calls.seen.get(at)) else {
        return Ok(ExpectationState::Met(at));
    };
    let given = arguments::given(seen.call, view.trajectory(), true);
    let rule = trajectory.rule(item, calls.profile);
    match arguments::fit(args, given.as_deref(), &rule, true) {
        ArgumentFit::Yes => Ok(ExpectationState::Met(at)),
        ArgumentFit::No => {
            Ok(ExpectationState::Wrong(at, arguments::difference(args, given.as_deref())))
        }
        ArgumentFit::Throws => Err(Throws),
    }
}

/// Scans the calls once. The first call of the right tool decides, and
/// if there is none, no calls remain.
pub(super) fn in_order(
    trajectory: &ToolTrajectory,
    view: &TrajectoryView<'_>,
    calls: &CallsByTool<'_>,
) -> Result<Sequence, Throws> {
    let mut next = 0;
    let mut states = Vec::with_capacity(trajectory.items.len());
    for item in &trajectory.items {
        let places = calls.of(&item.tool);
        let state = match places.get(places.partition_point(|at| *at < next)) {
            None => {
                next = calls.seen.len();
                ExpectationState::Missing
            }
            Some(&at) => {
                next = at + 1;
                of(trajectory, item, at, view, calls)?
            }
        };
        states.push(state);
    }
    Ok(Sequence { states, extras: Vec::new() })
}

/// Compares position by position. Calls after the last expectation are ignored.
pub(super) fn exact(
    trajectory: &ToolTrajectory,
    view: &TrajectoryView<'_>,
    calls: &CallsByTool<'_>,
) -> Result<Sequence, Throws> {
    let mut states = Vec::with_capacity(trajectory.items.len());
    for (at, item) in trajectory.items.iter().enumerate() {
        states.push(match calls.seen.get(at) {
            None => ExpectationState::Missing,
            Some(seen) if seen.call.name.full() == item.tool => {
                of(trajectory, item, at, view, calls)?
            }
            Some(seen) => ExpectationState::Wrong(at, format!("it is {}", seen.call.name.full())),
        });
    }
    Ok(Sequence { states, extras: Vec::new() })
}

/// Assigns the first free matching call to each expectation.
pub(super) fn superset(
    trajectory: &ToolTrajectory,
    view: &TrajectoryView<'_>,
    calls: &CallsByTool<'_>,
) -> Result<Sequence, Throws> {
    let mut taken = vec![false; calls.seen.len()];
    let mut states = Vec::with_capacity(trajectory.items.len());
    for item in &trajectory.items {
        let mut found = ExpectationState::Missing;
        for &at in calls.of(&item.tool) {
            if taken.get(at) == Some(&false) {
                let state = of(trajectory, item, at, view, calls)?;
                if state.is_met() {
                    taken[at] = true;
                    found = state;
                    break;
                }
            }
        }
        states.push(found);
    }
    Ok(Sequence { states, extras: Vec::new() })
}
