//! Compares sequences as AgentV does.

use super::super::arguments::{self, Fit};
use super::super::calls::Calls;
use super::question::{Sequence, Throws};
use super::{Item, ToolTrajectory};
use crate::explain::State;
use toolmark_outcome::View;

/// Compares a call of the right tool with an expectation.
fn of(
    trajectory: &ToolTrajectory,
    item: &Item,
    at: usize,
    view: &View<'_>,
    calls: &Calls<'_>,
) -> Result<State, Throws> {
    let (Some(args), Some(seen)) = (&item.args, calls.seen.get(at)) else {
        return Ok(State::Met(at));
    };
    let given = arguments::given(seen.call, view.trajectory(), true);
    let rule = trajectory.rule(item, calls.profile);
    match arguments::fit(args, given.as_deref(), &rule, true) {
        Fit::Yes => Ok(State::Met(at)),
        Fit::No => Ok(State::Wrong(at, arguments::difference(args, given.as_deref()))),
        Fit::Throws => Err(Throws),
    }
}

/// Scans the calls once. The first call of the right tool decides, and
/// if there is none, no calls remain.
pub(super) fn in_order(
    trajectory: &ToolTrajectory,
    view: &View<'_>,
    calls: &Calls<'_>,
) -> Result<Sequence, Throws> {
    let mut next = 0;
    let mut states = Vec::with_capacity(trajectory.items.len());
    for item in &trajectory.items {
        let places = calls.of(&item.tool);
        let state = match places.get(places.partition_point(|at| *at < next)) {
            None => {
                next = calls.seen.len();
                State::Missing
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
    view: &View<'_>,
    calls: &Calls<'_>,
) -> Result<Sequence, Throws> {
    let mut states = Vec::with_capacity(trajectory.items.len());
    for (at, item) in trajectory.items.iter().enumerate() {
        states.push(match calls.seen.get(at) {
            None => State::Missing,
            Some(seen) if seen.call.name.full() == item.tool => {
                of(trajectory, item, at, view, calls)?
            }
            Some(seen) => State::Wrong(at, format!("it is {}", seen.call.name.full())),
        });
    }
    Ok(Sequence { states, extras: Vec::new() })
}

/// Assigns the first free matching call to each expectation.
pub(super) fn superset(
    trajectory: &ToolTrajectory,
    view: &View<'_>,
    calls: &Calls<'_>,
) -> Result<Sequence, Throws> {
    let mut taken = vec![false; calls.seen.len()];
    let mut states = Vec::with_capacity(trajectory.items.len());
    for item in &trajectory.items {
        let mut found = State::Missing;
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
