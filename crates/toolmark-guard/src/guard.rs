//! The guard: what a call would do, held against the policy.

use crate::after::look_back;
use crate::event::{Event, Moment};
use crate::policy::Policy;
use crate::verdict::Verdict;
use std::borrow::Cow;
use toolmark_check::judging::Judged;
use toolmark_check::toolset::{Tool, Toolsets};
use toolmark_shell::Facts;
use toolmark_trace::ToolName;

/// Decides about calls.
#[derive(Debug, Default)]
pub struct Guard {
    policy: Policy,
    toolsets: Toolsets,
}

impl Guard {
    /// With a policy, and with toolsets of the user's own.
    #[must_use]
    pub fn new(policy: Policy, toolsets: Toolsets) -> Self {
        Self { policy, toolsets }
    }

    /// The policy.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Decides about a call that is about to run, and looks back at one that has.
    #[must_use]
    pub fn decide(&self, event: &Event<'_>, facts: Option<&dyn Facts>) -> Verdict {
        let tool = self.tool(event);
        let judged = Judged {
            tool: tool.as_deref(),
            args: event.args.as_arguments(),
            cwd: event.cwd.as_deref(),
        };
        match event.moment {
            Moment::Before | Moment::Permission => self.verdict(event, &judged, facts),
            Moment::After => look_back(event, &judged),
            Moment::Other => Verdict::allow(),
        }
    }

    /// The verdict about a call whose tool is known.
    pub(crate) fn verdict(
        &self,
        event: &Event<'_>,
        judged: &Judged<'_>,
        facts: Option<&dyn Facts>,
    ) -> Verdict {
        self.policy.verdict(event, judged, facts)
    }

    /// Toolsets of the user's own.
    #[must_use]
    pub fn toolsets(&self) -> &Toolsets {
        &self.toolsets
    }

    /// What is known about the tool of a call.
    fn tool(&self, event: &Event<'_>) -> Option<Cow<'_, Tool>> {
        self.toolsets.tool_of(&event.host, &ToolName::new(event.tool.as_ref()))
    }
}
