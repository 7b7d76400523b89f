//! Keys of AgentV's files. Keys that grading does not use (how an agent
//! is run) are accepted; keys that no version supports are errors.

use toolmark_config::{Node, NodeKind, Problem, did_you_mean, quoted};
use toolmark_grade::Loading;

/// Keys of evaluator lists, in the order in which AgentV looks them up.
pub(super) const EVALUATORS: &[&str] = &["assertions", "assert", "evaluators"];

/// Keys of case lists.
pub(super) const CASES: &[&str] = &["tests", "evalcases", "eval_cases", "cases"];

/// Key of the case list of agent skills (`evals.json`), and the keys of its cases with AgentV's
/// words for them.
pub(super) const SKILL_CASES: &str = "evals";
const SKILL_KEYS: [(&str, &str); 3] =
    [("prompt", "input"), ("expected_output", "criteria"), ("files", "input_files")];

/// Returns a case of an agent skill with AgentV's keys.
pub(super) fn of_skill(case: &Node) -> Node {
    let mut case = case.clone();
    if let NodeKind::Map(entries) = &mut case.kind {
        for entry in entries {
            if let Some((_, ours)) = SKILL_KEYS.iter().find(|(theirs, _)| entry.key == *theirs) {
                entry.key = (*ours).into();
            }
        }
    }
    case
}

/// Keys of a file.
pub(super) const ROOT: &[&str] = &[
    "$schema",
    "name",
    "description",
    "category",
    "version",
    "author",
    "tags",
    "license",
    "requires",
    "governance",
    "defaults",
    "metadata",
    "note",
    "suite",
    "dataset",
    "input",
    "input_files",
    "tests",
    "evalcases",
    "eval_cases",
    "cases",
    "scenarios",
    "target",
    "targets",
    "providers",
    "prompts",
    "vars",
    "default_test",
    "evaluate_options",
    "execution",
    "experiment",
    "run",
    "assertions",
    "assert",
    "evaluators",
    "evaluator",
    "preprocessors",
    "workspace",
    "environment",
    "hooks",
    "extensions",
    "env",
    "imports",
    "dependencies",
    "policy",
    "threshold",
    "transform",
    "on_dependency_failure",
    // promptfoo's own, which say how its runs are made and shown.
    "tracing",
    "redteam",
    "sharing",
    "outputPath",
    "derivedMetrics",
    "nunjucksFilters",
    "commandLineOptions",
    "evaluateOptions",
    "writeLatestResults",
    // Agent skills.
    "skill_name",
    "evals",
];

/// Keys of a case.
pub(super) const CASE: &[&str] = &[
    "id",
    "name",
    "description",
    "note",
    "vars",
    "criteria",
    "expected_outcome",
    "outcome",
    "input",
    "input_messages",
    "input_files",
    "expected_output",
    "expected_messages",
    "reference_answer",
    "governance",
    "assertions",
    "assert",
    "evaluators",
    "evaluator",
    "rubrics",
    "execution",
    "experiment",
    "run",
    "workspace",
    "environment",
    "hooks",
    "metadata",
    "tags",
    "conversation_id",
    "suite",
    "dataset",
    "category",
    "depends_on",
    "dependencies",
    "on_dependency_failure",
    "mode",
    "turns",
    "aggregation",
    "on_turn_failure",
    "window_size",
    "threshold",
    "options",
    "prompts",
    "provider",
    "providers",
    "target",
    "targets",
    "preprocessors",
    "transform",
    "weight",
    "author",
    "version",
];

/// Keys of an `execution` (later `experiment`) block.
pub(super) const EXECUTION: &[&str] = &[
    "target",
    "targets",
    "workers",
    "assertions",
    "assert",
    "evaluators",
    "skip_defaults",
    "cache",
    "cache_path",
    "trials",
    "repeat",
    "runs",
    "early_exit",
    "budget_usd",
    "budgetUsd",
    "total_budget_usd",
    "fail_on_error",
    "failOnError",
    "threshold",
    "timeout_seconds",
    "timeout",
    "agent",
    "model",
    "agent_options",
    "sandbox",
    "workspace",
    "setup",
    "scripts",
    "verbose",
    "trace_file",
    "otel_file",
    "keep_workspaces",
    "pool_workspaces",
    "max_retries",
    "name",
    "env",
];

/// Keys of a turn.
pub(super) const TURN: &[&str] =
    &["input", "expected_output", "assertions", "assert", "evaluators", "criteria", "name"];

/// Keys of `default_test`.
pub(super) const DEFAULT_TEST: &[&str] = &[
    "assertions",
    "assert",
    "evaluators",
    "vars",
    "threshold",
    "options",
    "metadata",
    "description",
    "criteria",
    "input",
    "transform",
    "execution",
    "workspace",
    "environment",
    "provider",
    "tags",
];

/// Reports keys that no version supports.
pub(super) fn check(node: &Node, known: &[&str], loading: &mut Loading<'_>) {
    for entry in node.entries() {
        if !known.contains(&entry.key.as_str()) {
            let message = format!("unknown key {}", quoted(&entry.key));
            let problem = Problem::error("unknown-key", message).at(entry.key_span);
            loading.problems.push(match did_you_mean(&entry.key, known.iter().copied()) {
                Some(near) => problem.help(format!("did you mean {}?", quoted(near))),
                None => problem,
            });
        }
    }
}
