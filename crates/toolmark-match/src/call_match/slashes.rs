//! `/…/` where a value is expected: a regular expression, as it is for names of tools.

use super::args::ArgsMatch;
use super::condition::Condition;
use super::path::{KeyPath, KeyStep, written};
use crate::Building;
use toolmark_config::{Node, NodeEntry, NodeKind, NodeSpan, Problem, Spanned};
use toolmark_pattern::Pattern;

/// The regular expression that a text between slashes is.
pub(super) fn regex_between_slashes(text: &str) -> Option<&str> {
    text.strip_prefix('/')?.strip_suffix('/').filter(|regex| !regex.is_empty())
}

/// Reading of the texts of a call.
#[derive(Debug, Clone, Copy, Default)]
pub struct TextReading<'c> {
    /// Whether values between slashes are plain text.
    pub is_literal: bool,
    /// Names of values that calls bind: `$name` stands for the value.
    pub bound: &'c [String],
}

impl<'c> TextReading<'c> {
    /// The regular expression that a text is.
    pub(super) fn regex<'t>(&self, text: &'t str) -> Option<&'t str> {
        regex_between_slashes(text).filter(|_| !self.is_literal)
    }

    /// The name of the bound value that a text stands for.
    pub(super) fn bound(&self, text: &str) -> Option<&'c str> {
        if self.bound.is_empty() {
            return None;
        }
        let name = text.strip_prefix('$')?;
        self.bound.iter().find(|bound| *bound == name).map(String::as_str)
    }
}

/// The pattern of a regular expression between slashes, which stands at `span`.
pub(super) fn pattern(regex: &str, span: NodeSpan, building: &mut Building<'_>) -> Option<Pattern> {
    let pattern = building.pattern(&Spanned { value: regex.to_owned(), span })?;
    let is_of_path = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_');
    if regex.contains('/') && regex.chars().all(is_of_path) {
        let message = format!("/{regex}/ is read as a regular expression, not as a path");
        let problem = Problem::warning("regex-like-path", message).at(span);
        let help = format!("for the path itself write `where` with {{equals: /{regex}/}}");
        building.problems.push(problem.help(help));
    } else if pattern.matches_everything() {
        let message = format!("/{pattern}/ matches every value");
        building.problems.push(Problem::warning("matches-everything", message).at(span));
    }
    Some(pattern)
}

/// Expected arguments, with the patterns between slashes removed.
pub(super) struct Split {
    /// Arguments to compare literally; `None` if only patterns were given.
    pub(super) plain: Option<Node>,
    /// Paths of the patterns; these are not compared literally.
    pub(super) places: Vec<KeyPath>,
    /// Conditions that replace the patterns.
    pub(super) conditions: Vec<(KeyPath, Condition)>,
}

/// Takes the texts between slashes, and those that stand for a bound value, out of expected
/// arguments. `None` where one of them is not a regular expression.
pub(super) fn split(
    args: &Node,
    how: ArgsMatch,
    reading: TextReading<'_>,
    building: &mut Building<'_>,
) -> Option<Split> {
    let mut found = Vec::new();
    let plain = take(args, reading, &mut Vec::new(), &mut found);
    let mut split = Split { plain, places: Vec::new(), conditions: Vec::new() };
    let mut is_good = true;
    for SlashPattern { place, text, span, is_bound } in found {
        let condition = match is_bound {
            true => Some(Condition::bound(&text)),
            false => pattern(&text, span, building).map(Condition::found),
        };
        let (Ok(path), Some(condition)) = (KeyPath::parse(&place), condition) else {
            is_good = false;
            continue;
        };
        split.places.push(path.clone());
        match how {
            ArgsMatch::Contains | ArgsMatch::Exact => split.conditions.push((path, condition)),
            ArgsMatch::Within => split.conditions.push((path, condition.if_present())),
            ArgsMatch::Ignore => {}
        }
    }
    is_good.then_some(split)
}

/// A place with the regular expression or the name of a bound value that was there.
struct SlashPattern {
    place: String,
    text: String,
    span: NodeSpan,
    is_bound: bool,
}

/// A value without its texts between slashes; `None` where it is one.
fn take<'n>(
    node: &'n Node,
    reading: TextReading<'_>,
    steps: &mut Vec<KeyStep<'n>>,
    found: &mut Vec<SlashPattern>,
) -> Option<Node> {
    let kind = match &node.kind {
        NodeKind::Text(text) if !steps.is_empty() => {
            let bound = reading.bound(text);
            let Some(text) = bound.or_else(|| reading.regex(text)) else {
                return Some(node.clone());
            };
            let (text, is_bound) = (text.to_owned(), bound.is_some());
            found.push(SlashPattern { place: written(steps), text, span: node.span, is_bound });
            return None;
        }
        NodeKind::Map(entries) => {
            let before = found.len();
            let mut left = Vec::with_capacity(entries.len());
            for entry in entries {
                steps.push(KeyStep::Key(&entry.key));
                let value = take(&entry.value, reading, steps, found);
                steps.pop();
                left.extend(value.map(|value| NodeEntry { value, ..entry.clone() }));
            }
            // A map of nothing else has nothing to compare.
            if left.is_empty() && found.len() > before && steps.is_empty() {
                return None;
            }
            NodeKind::Map(left)
        }
        NodeKind::List(items) => {
            let mut left = Vec::with_capacity(items.len());
            for (index, item) in items.iter().enumerate() {
                steps.push(KeyStep::Index(index));
                // Its place stays, so that the others keep theirs.
                left.push(
                    take(item, reading, steps, found).unwrap_or_else(|| NodeKind::Null.into()),
                );
                steps.pop();
            }
            NodeKind::List(left)
        }
        _ => return Some(node.clone()),
    };
    Some(Node { kind, span: node.span })
}
