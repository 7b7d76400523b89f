//! Facts about a run as a whole.

use super::reading::is_agentv;
use toolmark_outcome::Profile;
use toolmark_outcome::{Missing, TrajectoryView};
use toolmark_trace::{Fact, UsageTokens};

fn whole(view: &TrajectoryView<'_>) -> Result<(), Missing> {
    match view.turn_index() {
        None => Ok(()),
        Some(_) => Err(Missing::new("the trace records this for the whole run only")),
    }
}

/// Returns the duration in milliseconds. AgentV uses the stated duration; the time from
/// the first to the last record is equivalent.
pub(super) fn duration(view: &TrajectoryView<'_>, profile: Profile) -> Result<f64, Missing> {
    whole(view)?;
    let run = view.trajectory();
    let measured = || Some(run.ended?.duration_since(run.started?));
    let stated = run.stated.duration;
    let duration = if is_agentv(profile) { stated } else { stated.or_else(measured) };
    duration
        .map(|duration| duration.as_secs_f64() * 1000.0)
        .ok_or_else(|| Missing::new("the trace does not record how long the run took"))
}

/// Returns the cost in US dollars.
pub(super) fn cost(view: &TrajectoryView<'_>) -> Result<f64, Missing> {
    whole(view)?;
    let cost = view.trajectory().cost;
    cost.map(|cost| cost.usd()).ok_or_else(|| Missing::new("the trace does not record the cost"))
}

/// Number of tokens used.
pub(super) struct SpentTokens {
    pub(super) input: u64,
    pub(super) output: u64,
    /// Input and output.
    pub(super) total: u64,
    /// Sum used by AgentV's `token-usage`, which adds cached tokens once more.
    pub(super) with_cache: u64,
}

/// Returns the number of tokens: AgentV uses the numbers as recorded, toolmark interprets
/// them by the conventions of their source.
pub(super) fn tokens(view: &TrajectoryView<'_>, profile: Profile) -> Result<SpentTokens, Missing> {
    whole(view)?;
    let missing = || Missing::new("the trace does not record token usage");
    let usage = view.trajectory().usage.ok_or_else(missing)?;
    if is_agentv(profile) {
        let UsageTokens { input, output, cache_read, .. } = usage.recorded;
        let total = input.saturating_add(output);
        return Ok(SpentTokens {
            input,
            output,
            total,
            with_cache: total.saturating_add(cache_read),
        });
    }
    let all = usage.normalised();
    let input = all.uncached_input.saturating_add(all.cache_read).saturating_add(all.cache_write);
    let total = usage.total();
    Ok(SpentTokens { input, output: all.output, total, with_cache: total })
}

/// Returns the number of model responses.
pub(super) fn responses(view: &TrajectoryView<'_>) -> Result<usize, Missing> {
    if view.trajectory().fidelity.lacks(Fact::Steps) {
        return Err(Missing::new("the trace does not record model responses"));
    }
    Ok(view.steps().len())
}
