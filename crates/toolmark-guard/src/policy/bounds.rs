//! Limits on a project's policy, which comes with a repository and which the hook reads before
//! every call.

use toolmark_config::{Node, NodeKind, Problem};

/// Maximum number of values.
const MAX_VALUES: usize = 1500;
/// Maximum length of one text, in bytes.
const MAX_TEXT: usize = 1024;
/// Maximum total cost of its regular expressions.
const MAX_PATTERN_COST: usize = 8 << 10;

/// Returns the limit that a project's part exceeds, if any.
pub(super) fn exceeded(part: &Node) -> Option<Problem> {
    let mut count = BoundCount::default();
    count.add(part, false)
}

#[derive(Default)]
struct BoundCount {
    values: usize,
    patterns: usize,
}

impl BoundCount {
    fn add(&mut self, node: &Node, is_pattern: bool) -> Option<Problem> {
        self.values += 1;
        if self.values > MAX_VALUES {
            return Some(too_much(node, format!("more than {MAX_VALUES} values")));
        }
        if let NodeKind::Map(entries) = &node.kind {
            let found = entries.iter().find_map(|entry| {
                self.add(&entry.value, is_pattern || matches!(&*entry.key, "regex" | "pattern"))
            });
            return found;
        }
        if let NodeKind::List(items) = &node.kind {
            return items.iter().find_map(|item| self.add(item, is_pattern));
        }
        let text = node.as_str()?;
        if text.len() > MAX_TEXT {
            return Some(too_much(node, format!("a text of more than {MAX_TEXT} bytes")));
        }
        // The name of a tool may be `/a regular expression/`.
        if is_pattern || (text.len() > 1 && text.starts_with('/') && text.ends_with('/')) {
            self.patterns = self.patterns.saturating_add(cost(text));
            if self.patterns > MAX_PATTERN_COST {
                return Some(too_much(node, "regular expressions that are too large".to_owned()));
            }
        }
        None
    }
}

fn too_much(node: &Node, what: String) -> Problem {
    let message = format!("the policy of a project has {what}");
    let help = "make it smaller, or move it to the user's policy";
    Problem::error("too-large", message).at(node.span).help(help)
}

/// Returns the approximate compiled size of a regular expression: repetitions multiply what they
/// repeat, and character classes have many ranges.
fn cost(pattern: &str) -> usize {
    let mut size = 0_usize;
    let mut factor = 1_usize;
    let mut rest = pattern;
    while let Some(at) = rest.find(['\\', '{', '.', '[']) {
        let (_, found) = rest.split_at(at);
        let mut after = found.chars();
        match after.next() {
            Some('\\') if after.next().is_some_and(|c| "wWdDsSpPbB".contains(c)) => size += CLASS,
            Some('{') => {
                let inside = found.split('}').next().unwrap_or_default();
                let numbers = inside.split(|c: char| !c.is_ascii_digit());
                let most = numbers.filter_map(|digits| digits.parse::<usize>().ok()).max();
                factor = factor.saturating_mul(most.unwrap_or(1).max(1));
            }
            Some(_) => size += 8,
            None => {}
        }
        rest = after.as_str();
    }
    size.saturating_add(pattern.len()).saturating_mul(factor)
}

/// Cost of a character class.
const CLASS: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn code(part: Value) -> Option<String> {
        exceeded(&Node::from_json(&part).unwrap()).map(|problem| problem.message)
    }

    #[test]
    fn what_is_too_much() {
        let rule = |regex: &str| json!({"rules": [{"command": {"regex": regex}}]});
        for fine in [
            json!({"protected": vec!["secrets/**"; 500]}),
            rule(r"^npm (test|run lint)( -- \S+)?$"),
            rule(r"(?i)\bprod(uction)?\b.{0,40}\bdrop\b"),
        ] {
            assert_eq!(code(fine.clone()), None, "{fine}");
        }
        for (bad, words) in [
            (json!({"protected": vec!["a"; 5_000]}), "values"),
            (json!({"protected": ["a".repeat(2_000)]}), "bytes"),
            (rule(r"(\w{100}){100}"), "regular"),
            (rule(r"((a{50}){50}){50}"), "regular"),
            (json!({"rules": vec![json!({"tool": "/\\w{90}/"}); 200]}), "regular"),
        ] {
            let found = code(bad.clone()).unwrap_or_default();
            assert!(found.contains(words), "{bad}: {found}");
        }
    }
}
