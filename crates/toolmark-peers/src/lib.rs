//! The evaluation systems that toolmark supports, one folder each: the dialect of its specs, its
//! graders under its own reading, and the format of its reports. Trajectory scores that many
//! systems compute have one shared grader each (`scores`); the differences of a system are in its
//! folder.
//!
//! A system is registered by listing its graders in [`GRADERS`]; its dialect
//! and its report are listed by the crates of specs and of reports.
//!
//! ```
//! use std::path::Path;
//! use toolmark_config::SourceText;
//! use toolmark_grade::{LoadOptions, load_source};
//! use toolmark_peers::{ALL, AgentV, grader_by_id};
//!
//! let spec = SourceText::new(
//!     "evals.yaml",
//!     "tests:
//!   - id: book
//!     input: Book a flight
//!     assertions:
//!       - {type: tool-trajectory, mode: any_order, minimums: {search: 1}}
//! ",
//! );
//! let loaded = load_source(spec, Path::new("."), &LoadOptions::default(), &[&AgentV], ALL);
//! assert_eq!(loaded.plan.unwrap().cases[0].id, "book");
//! assert_eq!(grader_by_id("tool_trajectory").unwrap().origin, "agentv");
//! ```
//!
//! This crate does not print.

#![forbid(unsafe_code)]

mod adk;
mod agentevals;
pub mod agentv;
mod aigo;
mod azure;
mod bfcl;
mod deepeval;
mod explain;
mod futureagi;
mod mastra;
mod mlflow;
mod openevals;
mod promptfoo;
mod pydantic_evals;
mod ragas;
mod reading;
mod scores;
mod strands;
#[cfg(test)]
mod testing;
mod uipath;
pub mod vally;

pub use agentv::dialect::AgentV;
pub use aigo::dialect::AiGo;
pub use vally::dialect::VallyDialect;

use toolmark_grade::{GraderInfo, Graders};

/// All graders, including toolmark's own, in the order of the reference.
pub const GRADERS: &[&GraderInfo] = &[
    &agentv::graders::tool_trajectory::TOOL_TRAJECTORY,
    &agentv::graders::tool_used::TOOL_USED,
    &agentv::graders::tool_sequence::TOOL_SEQUENCE,
    &agentv::graders::tool_args::TOOL_ARGS_MATCH,
    &agentv::graders::step_count::STEP_COUNT,
    &toolmark_grade::graders::EXPECT,
    &vally::graders::tool_calls::TOOL_CALLS,
    &vally::graders::skill_invocation::SKILL_INVOCATION,
    &vally::graders::system_event::SYSTEM_EVENT,
    &vally::graders::max_repeat::MAX_REPEAT,
    &vally::graders::loop_outcome::LOOP_OUTCOME,
    &vally::graders::text::OUTPUT_CONTAINS,
    &vally::graders::text::OUTPUT_NOT_CONTAINS,
    &vally::graders::text::OUTPUT_MATCHES,
    &vally::graders::text::OUTPUT_NOT_MATCHES,
    &vally::graders::text::TRANSCRIPT_CONTAINS,
    &vally::graders::text::TRANSCRIPT_NOT_CONTAINS,
    &vally::graders::text::TRANSCRIPT_MATCHES,
    &vally::graders::text::TRANSCRIPT_NOT_MATCHES,
    &vally::graders::assistant_echo::ASSISTANT_CONTAINS_TOOL_OUTPUT,
    &vally::graders::completed::COMPLETED,
    &vally::graders::completed::EXIT_SUCCESS,
    &toolmark_grade::graders::JUDGE,
    &vally::graders::judge::PROMPT,
    &vally::graders::judge::PANEL,
    &vally::graders::judge::PAIRWISE,
    &agentv::graders::llm::GOAL_SUCCESS,
    &agentv::graders::execution_metrics::EXECUTION_METRICS,
    &agentv::graders::limits::LATENCY,
    &agentv::graders::limits::COST,
    &agentv::graders::limits::TOKEN_USAGE,
    &agentv::graders::skill::SKILL_TRIGGER,
    &agentv::graders::skill::SKILL_USED,
    &agentv::graders::field_accuracy::FIELD_ACCURACY,
    &agentv::graders::text::CONTAINS,
    &agentv::graders::text::CONTAINS_ANY,
    &agentv::graders::text::CONTAINS_ALL,
    &agentv::graders::text::ICONTAINS,
    &agentv::graders::text::ICONTAINS_ANY,
    &agentv::graders::text::ICONTAINS_ALL,
    &agentv::graders::text::STARTS_WITH,
    &agentv::graders::text::ENDS_WITH,
    &agentv::graders::text::EQUALS,
    &agentv::graders::text::REGEX,
    &agentv::graders::text::IS_JSON,
    &agentv::graders::code_grader::CODE_GRADER,
    &agentv::graders::composite::COMPOSITE,
    &agentv::graders::llm::LLM_GRADER,
    &agentv::graders::llm::RUBRICS,
    &agentv::graders::llm::LLM_RUBRIC,
    &agentv::graders::judges::SIMILAR,
    &agentv::graders::inline_code::JAVASCRIPT,
    &agentv::graders::inline_code::PYTHON,
    &agentv::graders::judges::WEBHOOK,
    &vally::graders::budget::TOKEN_BUDGET,
    &vally::graders::budget::TOOL_CALL_COUNT,
    &vally::graders::budget::TURN_COUNT,
    &vally::graders::budget::STEP_COUNT,
    &vally::graders::budget::ERROR_COUNT,
    &vally::graders::budget::WALL_TIME,
    &vally::graders::file::FILE_EXISTS,
    &vally::graders::file::FILE_NOT_EXISTS,
    &vally::graders::file::FILE_CONTAINS,
    &vally::graders::file::FILE_NOT_CONTAINS,
    &vally::graders::file::FILE_MATCHES,
    &vally::graders::file::FILE_NOT_MATCHES,
    &vally::graders::diff::DIFF_CONTAINS,
    &vally::graders::diff::DIFF_NOT_CONTAINS,
    &vally::graders::diff::DIFF_EMPTY,
    &vally::graders::run_command::RUN_COMMAND,
    &vally::graders::program::PROGRAM,
    &vally::graders::custom_metrics::CUSTOM_METRICS,
    &aigo::graders::function_call_coverage::FUNCTION_CALL_COVERAGE,
    &aigo::graders::function_call_disallowed::FUNCTION_CALL_DISALLOWED,
    &aigo::graders::function_call_output::FUNCTION_CALL_OUTPUT_CONTAINS,
    &aigo::graders::function_call_output::FUNCTION_CALL_OUTPUT_NOT_CONTAINS,
    &aigo::graders::string_equals::STRING_EQUALS,
    &aigo::graders::string_equals::STRING_EQUALS_MCQA,
    &aigo::graders::elsewhere::SCORER_ELSEWHERE,
    &futureagi::graders::function_name_match::INFO,
    &futureagi::graders::parameter_validation::INFO,
    &futureagi::graders::function_call_accuracy::INFO,
    &futureagi::graders::function_call_exact_match::INFO,
    &scores::trajectory_match::INFO,
    &scores::call_arguments::INFO,
    &scores::call_counts::INFO,
    &scores::tool_call_f1::INFO,
    &scores::tool_permission::INFO,
    &scores::tool_retries::INFO,
    &scores::loop_detection::INFO,
    &scores::suite::task_completion::INFO,
    &scores::suite::step_efficiency::INFO,
    &scores::suite::tool_selection::INFO,
    &scores::suite::trajectory_score::INFO,
    &scores::suite::goal_progress::INFO,
    &scores::suite::action_safety::INFO,
    &scores::suite::reasoning_quality::INFO,
];

/// All graders, for lookup.
pub const ALL: Graders = Graders(GRADERS);

/// Returns the grader with this type or alias.
#[must_use]
pub fn grader_by_id(id: &str) -> Option<&'static GraderInfo> {
    ALL.by_id(id)
}

#[cfg(test)]
mod schema_tests {
    use super::*;
    use serde_json::{Map, Value, json};
    use toolmark_grade::schema::{Placement, finish, generator, grader_entry};

    fn entry(placement: Placement) -> Value {
        let mut generator = generator();
        let common = Map::from_iter([("name".to_owned(), json!({ "type": "string" }))]);
        let budgets = GRADERS.iter().filter(|info| info.id.ends_with("-budget"));
        let entry = grader_entry(&mut generator, budgets, placement, &common);
        finish(generator, "test", entry)
    }

    #[test]
    fn a_configuration_stands_under_its_key_or_beside() {
        let under = entry(Placement::Under("config"));
        assert_eq!(under["properties"]["type"]["enum"], json!(["token-budget"]));
        let shape = &under["allOf"][0]["then"];
        assert_eq!(shape["required"], json!(["type", "config"]));
        assert_eq!(shape["additionalProperties"], false);
        let name = shape["properties"]["config"]["$ref"].as_str().unwrap().rsplit('/').next();
        assert_eq!(under["$defs"][name.unwrap()]["required"], json!(["max"]));
        let beside = entry(Placement::Beside);
        let keys: Vec<&String> =
            beside["allOf"][0]["then"]["properties"].as_object().unwrap().keys().collect();
        assert_eq!(keys, ["type", "name", "max"]);
        assert_eq!(beside["allOf"][0]["then"]["required"], json!(["type", "max"]));
    }

    #[test]
    fn every_grader_has_a_shape_and_its_words_are_in_one_list() {
        let mut generator = generator();
        let placement = Placement::Under("config");
        let entry = grader_entry(&mut generator, GRADERS, placement, &Map::new());
        assert_eq!(entry["allOf"].as_array().unwrap().len(), GRADERS.len());
        let words: Vec<&str> = ALL.words().collect();
        assert_eq!(entry["properties"]["type"]["enum"], json!(words));
    }
}
