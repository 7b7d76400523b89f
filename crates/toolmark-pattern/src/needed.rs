//! Literal texts that every match of a pattern contains, so that a text without them needs no
//! engine: of a thousand patterns, few are ever built.

use super::ast::AstNode;
use memchr::memmem;

/// Maximum number of alternative texts.
const MAX_TEXTS: usize = 16;

/// Texts of which every match contains at least one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Needed(Vec<String>);

impl Needed {
    /// Returns the texts that a pattern needs; `None` if it needs none.
    pub(super) fn of(node: &AstNode) -> Option<Needed> {
        match node {
            AstNode::Char(c) => Some(Needed(vec![c.to_string()])),
            AstNode::Concat(items) => Needed::of_sequence(items),
            AstNode::Alt(branches) => {
                let mut texts = Vec::new();
                for branch in branches {
                    texts.extend(Needed::of(branch)?.0);
                    if texts.len() > MAX_TEXTS {
                        return None;
                    }
                }
                (!texts.is_empty()).then_some(Needed(texts))
            }
            AstNode::Group(_, body) => Needed::of(body),
            AstNode::Repeat(repeat) if repeat.min > 0 => Needed::of(&repeat.body),
            _ => None,
        }
    }

    /// Returns the texts that are the hardest to find: of a run of characters or of one item.
    fn of_sequence(items: &[AstNode]) -> Option<Needed> {
        let mut best: Option<Needed> = None;
        let mut consider = |needed: Needed| {
            if best.as_ref().is_none_or(|known| known.rank() < needed.rank()) {
                best = Some(needed);
            }
        };
        let mut run = String::new();
        for item in items {
            match item {
                AstNode::Char(c) => run.push(*c),
                // A position takes no text.
                AstNode::Assert(_) | AstNode::Empty => {}
                item => {
                    if !run.is_empty() {
                        consider(Needed(vec![std::mem::take(&mut run)]));
                    }
                    if let Some(needed) = Needed::of(item) {
                        consider(needed);
                    }
                }
            }
        }
        if !run.is_empty() {
            consider(Needed(vec![run]));
        }
        best
    }

    /// Rank by the length of the shortest text; fewer texts are better.
    fn rank(&self) -> (usize, usize) {
        let shortest = self.0.iter().map(String::len).min().unwrap_or(0);
        (shortest, MAX_TEXTS.saturating_sub(self.0.len()))
    }

    /// Whether a text contains one of the texts.
    pub(super) fn is_in(&self, text: &str) -> bool {
        self.0.iter().any(|needed| memmem::find(text.as_bytes(), needed.as_bytes()).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{self, Flags};

    #[test]
    fn what_a_match_contains() {
        for (source, needed) in [
            ("abc", Some("abc")),
            (r"^rm\s+-rf /srv", Some("-rf /srv")),
            (r"\bsvc1\b.*--force", Some("--force")),
            ("^(npm|pnpm) run deploy", Some(" run deploy")),
            ("(npm|yarn)", Some("npm yarn")),
            ("(npm|yarn)?", None),
            ("(npm|.)", None),
            ("x*", None),
            ("(xy)+z?", Some("xy")),
            ("(xy){0,2}", None),
            ("[ab]c", Some("c")),
            ("(?i)abc", None),
            ("(?=abc)", None),
            ("(?!abc)d", Some("d")),
            (r"(a)\1bc", Some("bc")),
            ("", None),
        ] {
            let node = parse::parse(source, Flags::default()).unwrap().node;
            let found = Needed::of(&node).map(|needed| needed.0.join(" "));
            assert_eq!(found.as_deref(), needed, "{source}");
        }
    }

    /// A text that is ruled out has no match in any engine.
    #[test]
    fn nothing_is_lost() {
        let sources =
            ["a(b|c)d", "(ab|cd)+e?", "x?ab*c", "(?:a|bc)(?:d|e)", "^ab|cd$", "(a|ab)(c|bcd)"];
        let letters = ["", "a", "b", "c", "d", "e", "x", "ab", "bc", "cd", "abcd", "xab"];
        for source in sources {
            let pattern = crate::Pattern::new(source).unwrap();
            let node = parse::parse(source, Flags::default()).unwrap().node;
            let Some(needed) = Needed::of(&node) else { continue };
            for one in letters {
                for other in letters {
                    let text = format!("{one}{other}");
                    // The engine is there after the first text that may match.
                    let found = pattern.find(&text).unwrap().is_some();
                    assert!(!found || needed.is_in(&text), "{source} {text}");
                }
            }
        }
    }
}
