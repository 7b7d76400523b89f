//! Lowers a pattern without look-around and backreferences to the linear-time
//! engine of `regex-automata`.

use super::ast::{Assert, Node};
use regex_automata::meta::{Config, Regex};
use regex_syntax::hir::{Capture, Class, Hir, Look, Repetition};

/// Maximum size of an automaton, in bytes.
const AUTOMATON_LIMIT: usize = 2 << 20;

/// Builds the automaton of a pattern; returns `None` if it would be too large.
pub(super) fn lower(node: &Node) -> Option<Regex> {
    let config = Config::new().nfa_size_limit(Some(AUTOMATON_LIMIT));
    Regex::builder().configure(config).build_from_hir(&hir(node)?).ok()
}

/// Returns the equivalent expression, or `None` if the node is not regular.
fn hir(node: &Node) -> Option<Hir> {
    Some(match node {
        Node::Empty => Hir::empty(),
        Node::Char(c) => Hir::literal(c.encode_utf8(&mut [0; 4]).as_bytes()),
        Node::Set(set) => Hir::class(Class::Unicode(set.class().clone())),
        Node::Concat(items) => Hir::concat(items.iter().map(hir).collect::<Option<_>>()?),
        Node::Alt(branches) => Hir::alternation(branches.iter().map(hir).collect::<Option<_>>()?),
        Node::Group(index, body) => {
            let index = u32::try_from(*index).ok()?;
            Hir::capture(Capture { index, name: None, sub: Box::new(hir(body)?) })
        }
        Node::Assert(assert) => Hir::look(match assert {
            Assert::Start => Look::Start,
            Assert::End => Look::End,
            Assert::LineStart => Look::StartLF,
            Assert::LineEnd => Look::EndLF,
            Assert::Word { negate: false, .. } => Look::WordAscii,
            Assert::Word { negate: true, .. } => Look::WordAsciiNegate,
        }),
        Node::Repeat(repeat) => Hir::repetition(Repetition {
            min: repeat.min,
            max: repeat.max,
            greedy: repeat.greedy,
            sub: Box::new(hir(&repeat.body)?),
        }),
        Node::Look { .. } | Node::Backref { .. } => return None,
    })
}
