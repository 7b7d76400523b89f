//! Lowers a pattern without look-around and backreferences to the linear-time
//! engine of `regex-automata`.

use super::ast::{Assert, AstNode};
use regex_automata::meta::{Config, Regex};
use regex_syntax::hir::{Capture, Class, Hir, Look, Repetition};

/// Maximum size of an automaton, in bytes.
const AUTOMATON_LIMIT: usize = 2 << 20;

/// Builds the automaton of a pattern; returns `None` if it would be too large.
pub(super) fn lower(node: &AstNode) -> Option<Regex> {
    let config = Config::new().nfa_size_limit(Some(AUTOMATON_LIMIT));
    Regex::builder().configure(config).build_from_hir(&hir(node)?).ok()
}

/// Returns the equivalent expression, or `None` if the node is not regular.
fn hir(node: &AstNode) -> Option<Hir> {
    Some(match node {
        AstNode::Empty => Hir::empty(),
        AstNode::Char(c) => Hir::literal(c.encode_utf8(&mut [0; 4]).as_bytes()),
        AstNode::Set(set) => Hir::class(Class::Unicode(set.class().clone())),
        AstNode::Concat(items) => Hir::concat(items.iter().map(hir).collect::<Option<_>>()?),
        AstNode::Alt(branches) => {
            Hir::alternation(branches.iter().map(hir).collect::<Option<_>>()?)
        }
        AstNode::Group(index, body) => {
            let index = u32::try_from(*index).ok()?;
            Hir::capture(Capture { index, name: None, sub: Box::new(hir(body)?) })
        }
        AstNode::Assert(assert) => Hir::look(match assert {
            Assert::Start => Look::Start,
            Assert::End => Look::End,
            Assert::LineStart => Look::StartLF,
            Assert::LineEnd => Look::EndLF,
            Assert::Word { negate: false, .. } => Look::WordAscii,
            Assert::Word { negate: true, .. } => Look::WordAsciiNegate,
        }),
        AstNode::Repeat(repeat) => Hir::repetition(Repetition {
            min: repeat.min,
            max: repeat.max,
            greedy: repeat.greedy,
            sub: Box::new(hir(&repeat.body)?),
        }),
        AstNode::Look { .. } | AstNode::Backref { .. } => return None,
    })
}
