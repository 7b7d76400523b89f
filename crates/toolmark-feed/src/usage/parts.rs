//! The usage of a session in parts: one for each model response, so that each counts on its day and
//! with its model.

use super::spend::RecordedCost;
use jiff::Timestamp;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use toolmark_trace::{Call, Fact, Text, Trajectory, Usage, UsageTokens};

/// One call, with the data relevant to usage.
#[derive(Debug, Clone)]
pub struct CallUsage {
    /// Tool, by the name the model used.
    pub tool: Arc<str>,
    /// Whether the call failed; `None` if the trace does not contain it.
    pub is_failed: Option<bool>,
    /// Duration, if known.
    pub milliseconds: Option<u64>,
}

/// One response, or the usage that belongs to none.
#[derive(Debug, Clone)]
pub struct UsagePart {
    /// Identity by which the response is recognized in another file.
    pub(super) identity: Option<u64>,
    /// Time of the response.
    pub time: Option<Timestamp>,
    /// Model that answered.
    pub model: Option<Arc<str>>,
    /// Number of responses: one or zero. `None` if the trace has no responses.
    pub steps: Option<u64>,
    /// Tokens.
    pub usage: Option<Usage>,
    /// Calls.
    pub calls: Vec<CallUsage>,
}

/// Properties of a session by which its usage is grouped.
#[derive(Debug, Clone, Default)]
pub struct Owner {
    /// Session ID, that of the parent session, or the file.
    pub session: Arc<str>,
    /// Working directory.
    pub project: Option<Arc<str>>,
    /// Program that ran the model.
    pub agent: Option<Arc<str>>,
    /// First model.
    pub model: Option<Arc<str>>,
}

/// Usage of a session, including its sub-agents.
#[derive(Debug, Clone)]
pub struct SessionUsage {
    /// Properties by which the session is grouped.
    pub owner: Owner,
    /// Start time.
    pub started: Option<Timestamp>,
    /// Duration from the first record to the last.
    pub milliseconds: Option<u64>,
    /// Number of messages of the user.
    pub turns: Option<u64>,
    /// Cost recorded in the trace.
    pub recorded: RecordedCost,
    /// Parts.
    pub parts: Vec<UsagePart>,
}

fn shared(text: Option<&Text>) -> Option<Arc<str>> {
    text.map(|text| text.get().as_ref().into())
}

/// Names of a run, each stored once.
#[derive(Default)]
struct RunNames(Vec<Arc<str>>);

impl RunNames {
    /// Maximum number of names kept for sharing.
    const MAX: usize = 32;

    fn share(&mut self, text: &Text) -> Arc<str> {
        let name = text.get();
        if let Some(known) = self.0.iter().find(|known| ***known == *name) {
            return Arc::clone(known);
        }
        let new: Arc<str> = name.as_ref().into();
        if self.0.len() < Self::MAX {
            self.0.push(Arc::clone(&new));
        }
        new
    }
}

/// Returns the duration of a call, if known.
#[must_use]
pub fn call_milliseconds(call: &Call) -> Option<u64> {
    u64::try_from(call.duration?.as_millis()).ok()
}

/// Returns the duration of a run: as stated by its source, else from its first record to its last.
#[must_use]
pub fn session_duration(run: &Trajectory) -> Option<u64> {
    let measured = || Some(run.ended?.duration_since(run.started?));
    let duration = run.stated.duration.or_else(measured)?;
    u64::try_from(duration.as_millis()).ok()
}

impl SessionUsage {
    /// Returns the usage of a run and its sub-agents. Sub-agents that are only reported by their
    /// parent are omitted: their own files contain their usage.
    #[must_use]
    pub fn of(run: &Trajectory) -> Self {
        let parent = run.parent.as_ref();
        let of_parent = parent.and_then(|parent| shared(parent.trajectory.as_ref()));
        let own = shared(run.id.as_ref());
        // A sub-agent's turns and time are those of the session it works for.
        let is_own = parent.is_none();
        Self {
            owner: Owner {
                session: of_parent.or(own).unwrap_or_else(|| run.file.clone()),
                project: shared(run.cwd.as_ref()),
                agent: shared(run.agent.name.as_ref()).or_else(|| Some(run.format.into())),
                model: shared(run.agent.model.as_ref()),
            },
            started: run.started,
            milliseconds: session_duration(run).filter(|_| is_own),
            turns: (is_own && !run.fidelity.lacks(Fact::UserTurns))
                .then_some(u64::from(run.user_turns)),
            recorded: RecordedCost::of(run),
            parts: run
                .flatten()
                .into_iter()
                .filter(|one| !one.relayed)
                .flat_map(|one| parts(one, run.agent.model.as_ref()))
                .collect(),
        }
    }
}

/// Returns the parts of one run without its sub-agents.
fn parts(run: &Trajectory, usual: Option<&Text>) -> Vec<UsagePart> {
    let usual = run.agent.model.as_ref().or(usual);
    let has_steps = !run.fidelity.lacks(Fact::Steps);
    let (mut models, mut tools) = (RunNames::default(), RunNames::default());
    let mut parts: Vec<UsagePart> = run
        .steps
        .iter()
        .map(|step| {
            let model = step.model.as_ref().or(usual);
            UsagePart {
                identity: identity(step.id.as_ref(), step.time, model, step.usage.as_ref()),
                time: step.time.or(run.started),
                model: model.map(|model| models.share(model)),
                steps: has_steps.then_some(u64::from(step.complete)),
                usage: step.usage,
                calls: Vec::new(),
            }
        })
        .collect();
    let mut rest = UsagePart {
        identity: None,
        time: run.started,
        model: only_model(&parts).unwrap_or_else(|| shared(usual)),
        steps: has_steps.then_some(0),
        usage: None,
        calls: Vec::new(),
    };
    if let Some(whole) = &run.usage {
        match left(whole, &parts) {
            Some(left) => rest.usage = left,
            // The responses do not add up: only the sum is believed.
            None => {
                parts.iter_mut().for_each(|part| part.usage = None);
                rest.usage = Some(*whole);
            }
        }
    }
    let knows_status = !run.fidelity.lacks(Fact::Status);
    for call in &run.calls {
        let of_step = call.step.and_then(|step| parts.get_mut(step as usize));
        of_step.unwrap_or(&mut rest).calls.push(CallUsage {
            tool: tools.share(&call.name.original),
            is_failed: knows_status.then_some(call.status.is_error()),
            milliseconds: call_milliseconds(call),
        });
    }
    if rest.usage.is_some() || !rest.calls.is_empty() || parts.is_empty() {
        parts.push(rest);
    }
    parts
}

/// Returns the model of usage without a response: known if all responses have the same. The outer
/// `None` means that there is no response, the inner one that the models differ.
fn only_model(parts: &[UsagePart]) -> Option<Option<Arc<str>>> {
    let mut models = parts
        .iter()
        .filter(|part| part.usage.is_none_or(|usage| !usage.recorded.is_zero()))
        .filter_map(|part| part.model.as_ref());
    let first = models.next()?;
    let is_only = models.all(|model| Arc::ptr_eq(model, first) || model == first);
    Some(is_only.then(|| Arc::clone(first)))
}

/// Returns the usage that remains besides its responses; `None` if their sum exceeds it.
fn left(whole: &Usage, parts: &[UsagePart]) -> Option<Option<Usage>> {
    let (mut sum, mut total) = (UsageTokens::default(), 0_u64);
    for usage in parts.iter().filter_map(|part| part.usage) {
        if usage.convention != whole.convention {
            return None;
        }
        sum.add(usage.recorded);
        total = total.saturating_add(usage.total());
    }
    let all = whole.recorded;
    let recorded = UsageTokens {
        input: all.input.checked_sub(sum.input)?,
        output: all.output.checked_sub(sum.output)?,
        cache_read: all.cache_read.checked_sub(sum.cache_read)?,
        cache_write: all.cache_write.checked_sub(sum.cache_write)?,
        cache_write_1h: all.cache_write_1h.saturating_sub(sum.cache_write_1h),
        reasoning: all.reasoning.checked_sub(sum.reasoning)?,
    };
    let more = whole.total().checked_sub(total)?;
    let is_stated = whole.stated_total.is_some();
    let rest =
        Usage { recorded, stated_total: is_stated.then_some(more), convention: whole.convention };
    // Zero tokens that are recorded are not the same as none recorded.
    let is_all = parts.iter().any(|part| part.usage.is_some()) && rest.total() == 0;
    Some((!is_all).then_some(rest))
}

/// Returns the identity by which a response is recognized. A resumed session repeats those of the
/// session before, with their IDs and times.
fn identity(
    id: Option<&Text>,
    time: Option<Timestamp>,
    model: Option<&Text>,
    usage: Option<&Usage>,
) -> Option<u64> {
    let (id, time) = (id?, time?);
    let mut hasher = DefaultHasher::new();
    id.get().hash(&mut hasher);
    time.as_nanosecond().hash(&mut hasher);
    model.map(Text::get).hash(&mut hasher);
    let tokens = usage.map(|usage| {
        let tokens = usage.recorded;
        (tokens.input, tokens.output, tokens.cache_read, tokens.cache_write, tokens.reasoning)
    });
    tokens.hash(&mut hasher);
    Some(hasher.finish())
}
