//! Detects the AgentV versions for which a file was written.

use super::keys::{CASES, EVALUATORS, SKILL_CASES};
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
    // The key of the first files, where there is nothing else to tell by.
    let is_first_fragment = is_fragment(root)
        && [Some(root), root.get("execution")]
            .into_iter()
            .flatten()
            .any(|n| has(n, &["evaluators"]));
    let first = is_first_fragment
        || has(root, &["evalcases", "eval_cases"])
        || cases(root).any(|case| has(case, FIRST));
    if first { Profile::AgentV1 } else { Profile::AgentV2 }
}

/// Returns whether a file has evaluators and no tests, as the examples of AgentV's pages.
pub(super) fn is_fragment(root: &Node) -> bool {
    let is_typed = |item: &Node| item.get("type").is_some_and(|word| word.as_str().is_some());
    let has_cases =
        CASES.iter().chain(&["scenarios", SKILL_CASES]).any(|key| root.get(key).is_some());
    let mut own = evaluators(root).peekable();
    !has_cases && own.peek().is_some() && own.all(is_typed)
}

/// Returns the confidence that a file is an AgentV file.
pub(super) fn confidence(root: &Node) -> u8 {
    if root.get("evalcases").is_some() {
        return 95;
    }
    let evals = root.get(SKILL_CASES).map(Node::items).into_iter().flatten();
    if evals.take(MAX_INSPECTED_CASES).any(|case| case.get("prompt").is_some()) {
        return 85;
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
        _ if is_fragment(root) => 70,
        _ => 0,
    }
}
