//! Detects the AgentV versions for which a file was written.

use super::keys::{CASES, EVALUATORS};
use toolmark_config::Node;
use toolmark_outcome::Profile;

/// Keys that only the newest files have.
const NEWEST: &[&str] = &["prompts", "providers", "scenarios", "default_test", "evaluate_options"];

/// Keys that only the first files had.
const FIRST: &[&str] = &["input_messages", "expected_messages", "expected_outcome"];

/// Types that only the newest versions support.
const NEWEST_TYPES: &[&str] =
    &["assert-set", "skill-used", "javascript", "python", "webhook", "similar", "llm-rubric"];

/// Number of cases inspected to detect the schema version; a file has one version, and the first
/// cases show which.
const MAX_INSPECTED_CASES: usize = 200;

fn cases(root: &Node) -> impl Iterator<Item = &Node> {
    let lists = CASES.iter().filter_map(|key| root.get(key));
    lists.flat_map(Node::items).take(MAX_INSPECTED_CASES)
}

/// Iterates over the evaluators of a node, under any of their keys.
fn evaluators(node: &Node) -> impl Iterator<Item = &Node> {
    let blocks = [Some(node), node.get("execution"), node.get("default_test")];
    let lists = blocks
        .into_iter()
        .flatten()
        .flat_map(|block| EVALUATORS.iter().filter_map(move |key| block.get(key)));
    lists.flat_map(Node::items).take(MAX_INSPECTED_CASES)
}

fn types(root: &Node) -> impl Iterator<Item = &str> {
    let all = evaluators(root).chain(cases(root).flat_map(evaluators));
    all.filter_map(|evaluator| evaluator.get("type")?.as_str())
}

fn is_newest_type(word: &str) -> bool {
    let word = word.strip_prefix("not-").unwrap_or(word);
    word.starts_with("trajectory:") || NEWEST_TYPES.contains(&word)
}

/// Returns the profile of the versions for which a file was written.
pub(super) fn era(root: &Node) -> Profile {
    let has = |node: &Node, keys: &[&str]| keys.iter().any(|key| node.get(key).is_some());
    if has(root, NEWEST) || types(root).any(is_newest_type) {
        return Profile::AgentV5;
    }
    let first = has(root, &["evalcases", "eval_cases"]) || cases(root).any(|case| has(case, FIRST));
    if first { Profile::AgentV1 } else { Profile::AgentV2 }
}

/// Returns the confidence that a file is an AgentV file.
pub(super) fn confidence(root: &Node) -> u8 {
    if root.get("evalcases").is_some() {
        return 95;
    }
    let asks = |case: &Node| {
        let says = ["criteria", "input", "expected_outcome", "input_messages", "vars", "turns"];
        case.get("id").is_some() && says.iter().any(|key| case.get(key).is_some())
            || EVALUATORS.iter().any(|key| case.get(key).is_some())
    };
    if cases(root).any(asks) && (root.get("tests").is_some() || root.get("eval_cases").is_some()) {
        return 85;
    }
    let newest = NEWEST.iter().any(|key| root.get(key).is_some());
    match root.get("tests") {
        Some(_) if newest => 80,
        Some(tests) if tests.as_str().is_some() || tests.as_list().is_some() => 50,
        _ if root.get("scenarios").is_some() => 60,
        _ => 0,
    }
}
