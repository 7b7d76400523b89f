//! Calls with findings of rules, for graders that select calls by them.

use std::fmt;
use toolmark_check::{Checker, default_rules};
use toolmark_hosts::toolset::Toolsets;
use toolmark_outcome::Confidence;
use toolmark_outcome::FindingSource;
use toolmark_trace::Trajectory;

/// Findings of the rules of `toolmark check`, at any confidence.
pub struct ByRules(Checker);

impl Default for ByRules {
    fn default() -> Self {
        Self(Checker::new(default_rules().collect(), Confidence::Low, Toolsets::default()))
    }
}

impl fmt::Debug for ByRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ByRules")
    }
}

impl FindingSource for ByRules {
    fn of(&self, trajectory: &Trajectory) -> Vec<(usize, &'static str)> {
        let found = self.0.check_alone(trajectory).findings;
        let place = |finding: &toolmark_outcome::Finding| {
            Some((finding.evidence.first()?.call.as_ref()?.index, finding.code))
        };
        found.iter().filter_map(place).collect()
    }
}
