//! The rules of one axis, checked together.

use crate::{Checker, Toolsets, default_rules};
use toolmark_outcome::{Confidence, Finding};
use toolmark_trace::Trajectory;

/// Rules of one axis, for graders that check all of them at once.
pub struct AxisRules(Checker);

impl AxisRules {
    /// Selects the rules whose codes start with this letter, such as `I` for irreversible actions.
    #[must_use]
    pub fn new(letter: char) -> Self {
        let rules = default_rules().filter(|rule| rule.code.starts_with(letter)).collect();
        Self(Checker::new(rules, Confidence::Medium, Toolsets::default()))
    }

    /// Returns the findings in one trajectory, without its sub-agents.
    #[must_use]
    pub fn check(&self, run: &Trajectory) -> Vec<Finding> {
        self.0.check_alone(run).findings
    }
}
