//! The graders, and the list of them.
//!
//! One grader, one file (a family of near-identical ones shares a file): its
//! configuration, its page of the reference, its code and its tests. It becomes
//! known by its line in [`GRADERS`].

pub mod agentv;
mod aigo;
mod expect;
mod futureagi;
mod glob;
mod judge;
pub(crate) mod program;
pub mod units;
mod vally;
mod workspace;

pub use glob::Glob;

use crate::grader::GraderInfo;

/// Every grader, in the order the reference lists them.
pub static GRADERS: &[&GraderInfo] = &[
    &agentv::tool_trajectory::TOOL_TRAJECTORY,
    &agentv::tool_used::TOOL_USED,
    &agentv::tool_sequence::TOOL_SEQUENCE,
    &agentv::tool_args::TOOL_ARGS_MATCH,
    &agentv::step_count::STEP_COUNT,
    &expect::EXPECT,
    &vally::tool_calls::TOOL_CALLS,
    &vally::skill_invocation::SKILL_INVOCATION,
    &vally::system_event::SYSTEM_EVENT,
    &vally::max_repeat::MAX_REPEAT,
    &vally::loop_outcome::LOOP_OUTCOME,
    &vally::text::OUTPUT_CONTAINS,
    &vally::text::OUTPUT_NOT_CONTAINS,
    &vally::text::OUTPUT_MATCHES,
    &vally::text::OUTPUT_NOT_MATCHES,
    &vally::text::TRANSCRIPT_CONTAINS,
    &vally::text::TRANSCRIPT_NOT_CONTAINS,
    &vally::text::TRANSCRIPT_MATCHES,
    &vally::text::TRANSCRIPT_NOT_MATCHES,
    &vally::assistant_echo::ASSISTANT_CONTAINS_TOOL_OUTPUT,
    &vally::completed::COMPLETED,
    &vally::completed::EXIT_SUCCESS,
    &judge::JUDGE,
    &vally::judge::PROMPT,
    &vally::judge::PANEL,
    &vally::judge::PAIRWISE,
    &agentv::llm::GOAL_SUCCESS,
    &agentv::execution_metrics::EXECUTION_METRICS,
    &agentv::limits::LATENCY,
    &agentv::limits::COST,
    &agentv::limits::TOKEN_USAGE,
    &agentv::skill::SKILL_TRIGGER,
    &agentv::skill::SKILL_USED,
    &agentv::field_accuracy::FIELD_ACCURACY,
    &agentv::text::CONTAINS,
    &agentv::text::CONTAINS_ANY,
    &agentv::text::CONTAINS_ALL,
    &agentv::text::ICONTAINS,
    &agentv::text::ICONTAINS_ANY,
    &agentv::text::ICONTAINS_ALL,
    &agentv::text::STARTS_WITH,
    &agentv::text::ENDS_WITH,
    &agentv::text::EQUALS,
    &agentv::text::REGEX,
    &agentv::text::IS_JSON,
    &agentv::code_grader::CODE_GRADER,
    &agentv::composite::COMPOSITE,
    &agentv::llm::LLM_GRADER,
    &agentv::llm::RUBRICS,
    &agentv::llm::LLM_RUBRIC,
    &agentv::judges::SIMILAR,
    &agentv::judges::JAVASCRIPT,
    &agentv::judges::PYTHON,
    &agentv::judges::WEBHOOK,
    &vally::budget::TOKEN_BUDGET,
    &vally::budget::TOOL_CALL_COUNT,
    &vally::budget::TURN_COUNT,
    &vally::budget::STEP_COUNT,
    &vally::budget::ERROR_COUNT,
    &vally::budget::WALL_TIME,
    &vally::file::FILE_EXISTS,
    &vally::file::FILE_NOT_EXISTS,
    &vally::file::FILE_CONTAINS,
    &vally::file::FILE_NOT_CONTAINS,
    &vally::file::FILE_MATCHES,
    &vally::file::FILE_NOT_MATCHES,
    &vally::diff::DIFF_CONTAINS,
    &vally::diff::DIFF_NOT_CONTAINS,
    &vally::diff::DIFF_EMPTY,
    &vally::run_command::RUN_COMMAND,
    &vally::program::PROGRAM,
    &vally::custom_metrics::CUSTOM_METRICS,
    &aigo::function_call_coverage::FUNCTION_CALL_COVERAGE,
    &aigo::function_call_disallowed::FUNCTION_CALL_DISALLOWED,
    &aigo::function_call_output::FUNCTION_CALL_OUTPUT_CONTAINS,
    &aigo::function_call_output::FUNCTION_CALL_OUTPUT_NOT_CONTAINS,
    &aigo::string_equals::STRING_EQUALS,
    &aigo::string_equals::STRING_EQUALS_MCQA,
    &aigo::elsewhere::SCORER_ELSEWHERE,
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
