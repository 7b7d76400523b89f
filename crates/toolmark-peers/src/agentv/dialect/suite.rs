//! Settings that apply to all cases of a file.

use super::era;
use super::keys::{self, EVALUATORS};
use toolmark_config::Node;
use toolmark_grade::Loading;
use toolmark_outcome::Profile;

/// Default minimum score of a case.
const THRESHOLD: f64 = 0.8;

/// Settings that apply to all cases of a file.
pub(super) struct Suite<'n> {
    /// Profile of the versions for which the file was written.
    pub(super) era: Profile,
    /// Evaluators for every case.
    pub(super) evaluators: Vec<&'n Node>,
    /// Minimum score of a case.
    pub(super) threshold: f64,
    /// Number of requested trials per case.
    pub(super) trials: Option<u32>,
    /// Whether a case with its own evaluators ignores those of the file.
    pub(super) replaces: bool,
    /// Variables for all cases.
    pub(super) vars: Option<&'n Node>,
}

impl<'n> Suite<'n> {
    /// Reads the settings that apply to all cases of a file.
    pub(super) fn read(root: &'n Node, loading: &mut Loading<'_>) -> Self {
        keys::check(root, keys::ROOT, loading);
        let blocks = ["execution", "experiment"].map(|key| root.get(key));
        for block in blocks.into_iter().flatten() {
            keys::check(block, keys::EXECUTION, loading);
        }
        let default = root.get("default_test").filter(|node| node.as_map().is_some());
        if let Some(default) = default {
            keys::check(default, keys::DEFAULT_TEST, loading);
        }
        let era = era::era(root);
        // Whose rules hold: those that were asked for, else those of its time.
        let rules = match loading.options.profile {
            Some(profile @ (Profile::AgentV1 | Profile::AgentV2 | Profile::AgentV5)) => profile,
            _ => era,
        };
        let mut evaluators = Vec::new();
        evaluators.extend(listed(root, loading));
        for block in [blocks[0], blocks[1], default].into_iter().flatten() {
            evaluators.extend(listed(block, loading));
        }
        let said = [default, Some(root), blocks[0], blocks[1]];
        let said = said.into_iter().flatten().find_map(|node| node.get("threshold"));
        let threshold = loading.options.threshold.or_else(|| share(said?, loading));
        let vars = default.and_then(|node| node.get("vars")).or_else(|| root.get("vars"));
        Self {
            era,
            evaluators,
            threshold: threshold.unwrap_or(THRESHOLD),
            trials: trials(root, loading),
            replaces: rules == Profile::AgentV1,
            vars,
        }
    }
}

/// Returns the evaluators of a node. AgentV reads only one list and would ignore the
/// others, so more than one is an error.
pub(super) fn listed<'n>(node: &'n Node, loading: &mut Loading<'_>) -> Option<&'n Node> {
    let mut found = EVALUATORS.iter().filter_map(|key| node.entry(key));
    let first = found.next()?;
    if let Some(second) = found.next() {
        let message = format!("{} is listed beside {}: use one of them", second.key, first.key);
        loading.error("two-lists", second.key_span, message);
    }
    (!first.value.is_null()).then_some(&first.value)
}

/// Reads a number from 0 to 1.
pub(super) fn share(node: &Node, loading: &mut Loading<'_>) -> Option<f64> {
    let value = node.as_f64().filter(|value| (0.0..=1.0).contains(value));
    if value.is_none() && !node.is_null() {
        loading.error("invalid-threshold", node.span, "threshold must be a number from 0 to 1");
    }
    value
}

/// Returns the number of requested trials per case.
fn trials(root: &Node, loading: &mut Loading<'_>) -> Option<u32> {
    let at = |path: [&str; 2]| root.get(path[0])?.get(path[1]);
    let said = [
        ["execution", "trials"],
        ["execution", "repeat"],
        ["execution", "runs"],
        ["experiment", "repeat"],
        ["experiment", "runs"],
        ["evaluate_options", "repeat"],
    ];
    let node = said.into_iter().find_map(at)?;
    let count = node.get("count").unwrap_or(node);
    let trials = count.as_u64().and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0);
    if trials.is_none() {
        loading.error("invalid-trials", count.span, "expected a whole number of 1 or more");
    }
    trials
}
