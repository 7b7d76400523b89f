//! What is allowed: the `guard:` part of `toolmark.yaml`. The default agrees
//! with `toolmark check`.

use crate::event::Event;
use crate::verdict::Verdict;
use toolmark_shell::{Decision, Judgement};

/// What the guard decides by.
#[derive(Debug, Default)]
pub struct Policy {}

impl Policy {
    /// The decision about a call, given what it would do.
    #[must_use]
    pub fn decide(&self, _event: &Event<'_>, judgement: Option<Judgement>) -> Verdict {
        let Some(judgement) = judgement else { return Verdict::allow() };
        let rule = if judgement.decision == Decision::Allow { "default" } else { "effect" };
        let mut verdict = Verdict::new(judgement.decision, rule, judgement.reason.clone());
        verdict.judgement = Some(judgement.into());
        verdict
    }
}
