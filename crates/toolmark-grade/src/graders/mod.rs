//! The graders, and the list of them.
//!
//! One grader, one file (a family of near-identical ones shares a file): its
//! configuration, its page of the reference, its code and its tests. It becomes
//! known by its line in [`GRADERS`].

mod futureagi;
pub mod units;
mod vally;

use crate::grader::GraderInfo;

/// Every grader, in the order the reference lists them.
pub static GRADERS: &[&GraderInfo] = &[
    &vally::budget::TOKEN_BUDGET,
    &vally::budget::TOOL_CALL_COUNT,
    &vally::budget::TURN_COUNT,
    &vally::budget::STEP_COUNT,
    &vally::budget::ERROR_COUNT,
    &vally::budget::WALL_TIME,
    &futureagi::function_name_match::INFO,
    &futureagi::parameter_validation::INFO,
    &futureagi::function_call_accuracy::INFO,
    &futureagi::function_call_exact_match::INFO,
];

/// The grader with this type, or one of its other names.
#[must_use]
pub fn grader_by_id(id: &str) -> Option<&'static GraderInfo> {
    GRADERS.iter().copied().find(|info| info.id == id || info.aliases.contains(&id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn words_are_unique_and_everything_is_documented() {
        let mut words = BTreeSet::new();
        for info in GRADERS {
            for word in std::iter::once(&info.id).chain(info.aliases) {
                assert!(words.insert(*word), "two graders are called {word}");
            }
            assert!(!info.summary.ends_with('.'), "{}: a summary is a fragment", info.id);
            assert!(info.docs.len() > 80, "{} has no page", info.id);
            assert!(info.example.contains("type:"), "{} has no example", info.id);
        }
    }
}
