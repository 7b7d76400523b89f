//! Number of trials of a case that must pass.

use crate::outcome::Verdict;
use std::fmt;

/// Number of trials of a case that must pass.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum PassRule {
    /// All trials.
    #[default]
    All,
    /// At least one trial.
    Any,
    /// At least this many trials.
    AtLeast(u64),
    /// At least this share of the trials, from 0 to 1.
    Share(f64),
}

impl PassRule {
    /// Parses `all`, `any`, `2` or `80%`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text.trim() {
            "all" => Some(Self::All),
            "any" => Some(Self::Any),
            text => match text.strip_suffix('%') {
                Some(percent) => {
                    let percent: f64 = percent.trim().parse().ok()?;
                    (percent > 0.0 && percent <= 100.0).then_some(Self::Share(percent / 100.0))
                }
                None => text.parse().ok().filter(|n| *n > 0).map(Self::AtLeast),
            },
        }
    }

    /// Returns the number of trials that must pass out of `trials`.
    #[must_use]
    pub fn needed(self, trials: u64) -> u64 {
        match self {
            Self::All => trials,
            Self::Any => 1,
            Self::AtLeast(needed) => needed,
            // A share of nothing at all would pass without a trial.
            Self::Share(share) => {
                let needed = (share * trials as f64 - 1e-9).ceil().max(1.0);
                needed as u64
            }
        }
    }

    /// Returns the verdict once it no longer depends on the remaining trials, given how many
    /// of the planned ones have passed and failed. `None` if it still depends on them.
    #[must_use]
    pub fn decided(self, planned: u64, passed: u64, failed: u64) -> Option<Verdict> {
        let needed = self.needed(planned);
        if passed >= needed {
            Some(Verdict::Pass)
        } else if planned.saturating_sub(failed) < needed {
            Some(Verdict::Fail)
        } else {
            None
        }
    }
}

impl fmt::Display for PassRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Any => f.write_str("any"),
            Self::AtLeast(needed) => write!(f, "{needed}"),
            Self::Share(share) => write!(f, "{}%", (share * 1e9).round() / 1e7),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_and_written() {
        for (text, rule) in [
            ("all", Some(PassRule::All)),
            ("any", Some(PassRule::Any)),
            ("2", Some(PassRule::AtLeast(2))),
            ("80%", Some(PassRule::Share(0.8))),
            ("0", None),
            ("0%", None),
            ("101%", None),
            ("most", None),
            ("-1", None),
        ] {
            assert_eq!(PassRule::parse(text), rule, "{text}");
            if let Some(rule) = rule {
                assert_eq!(rule.to_string(), text);
            }
        }
    }

    #[test]
    fn a_rule_is_decided_as_soon_as_the_rest_cannot_change_it() {
        use PassRule::{All, Any, AtLeast, Share};
        let (pass, fail) = (Some(Verdict::Pass), Some(Verdict::Fail));
        for (rule, planned, passed, failed, verdict) in [
            (All, 3, 0, 1, fail),
            (All, 3, 2, 0, None),
            (All, 3, 3, 0, pass),
            (Any, 3, 1, 1, pass),
            (Any, 3, 0, 2, None),
            (Any, 3, 0, 3, fail),
            (AtLeast(2), 3, 2, 0, pass),
            (AtLeast(2), 3, 1, 1, None),
            (AtLeast(2), 3, 0, 2, fail),
            (Share(0.8), 5, 4, 0, pass),
            (Share(0.8), 5, 3, 1, None),
            (Share(0.8), 5, 3, 2, fail),
            (Share(0.7), 10, 7, 3, pass),
        ] {
            assert_eq!(rule.decided(planned, passed, failed), verdict, "{rule} {passed} {failed}");
        }
    }
}
