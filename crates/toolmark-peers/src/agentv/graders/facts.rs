//! What is known about a run as a whole.

use super::reading::is_agentv;
use toolmark_outcome::Profile;
use toolmark_outcome::{Missing, View};
use toolmark_trace::{Fact, Tokens};

fn whole(view: &View<'_>) -> Result<(), Missing> {
    match view.turn_index() {
        None => Ok(()),
        Some(_) => Err(Missing::new("the trace records this for the whole run only")),
    }
}

/// How long it took, in milliseconds. AgentV takes what is stated; the time from
/// the first to the last record is as good.
pub(super) fn duration(view: &View<'_>, profile: Profile) -> Result<f64, Missing> {
    whole(view)?;
    let run = view.trajectory();
    let measured = || Some(run.ended?.duration_since(run.started?));
    let stated = run.stated.duration;
    let duration = if is_agentv(profile) { stated } else { stated.or_else(measured) };
    duration
        .map(|duration| duration.as_secs_f64() * 1000.0)
        .ok_or_else(|| Missing::new("the trace does not record how long the run took"))
}

/// What it cost, in dollars.
pub(super) fn cost(view: &View<'_>) -> Result<f64, Missing> {
    whole(view)?;
    let cost = view.trajectory().cost;
    cost.map(|cost| cost.usd()).ok_or_else(|| Missing::new("the trace does not record the cost"))
}

/// How many tokens it took.
pub(super) struct Spent {
    pub(super) input: u64,
    pub(super) output: u64,
    /// Input and output.
    pub(super) total: u64,
    /// What AgentV's `token-usage` adds up: the cache once more.
    pub(super) with_cache: u64,
}

/// How many tokens it took: AgentV takes the numbers as they stand, toolmark for
/// what their source means by them.
pub(super) fn tokens(view: &View<'_>, profile: Profile) -> Result<Spent, Missing> {
    whole(view)?;
    let missing = || Missing::new("the trace does not record token usage");
    let usage = view.trajectory().usage.ok_or_else(missing)?;
    if is_agentv(profile) {
        let Tokens { input, output, cache_read, .. } = usage.recorded;
        let total = input.saturating_add(output);
        return Ok(Spent { input, output, total, with_cache: total.saturating_add(cache_read) });
    }
    let all = usage.normalised();
    let input = all.uncached_input.saturating_add(all.cache_read).saturating_add(all.cache_write);
    let total = usage.total();
    Ok(Spent { input, output: all.output, total, with_cache: total })
}

/// How many times the model answered.
pub(super) fn responses(view: &View<'_>) -> Result<usize, Missing> {
    if view.trajectory().fidelity.lacks(Fact::Steps) {
        return Err(Missing::new("the trace does not record model responses"));
    }
    Ok(view.steps().len())
}
