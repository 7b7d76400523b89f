//! The tree of a pattern, and what can be known of a pattern by looking at it.
//!
//! Flags are resolved while parsing: a node already says what it matches under
//! the flags in force where it was written.

use super::set::Set;
use std::ops::Range;
use std::sync::Arc;

/// One piece of a pattern.
#[derive(Debug)]
pub(super) enum Node {
    /// The empty text.
    Empty,
    /// One character, exactly.
    Char(char),
    /// One character of a set; case folding is already in the set.
    Set(Arc<Set>),
    /// One after the other.
    Concat(Vec<Node>),
    /// The first that lets the rest match.
    Alt(Vec<Node>),
    /// A capture group, counted from 1.
    Group(usize, Box<Node>),
    /// A condition on a position.
    Assert(Assert),
    /// A condition on the text after or before a position.
    Look { behind: bool, negate: bool, body: Box<Node> },
    /// The text a group captured.
    Backref { group: usize, fold: bool },
    /// A quantifier.
    Repeat(Box<Repeat>),
}

/// A quantified piece.
#[derive(Debug)]
pub(super) struct Repeat {
    pub(super) body: Node,
    pub(super) min: u32,
    /// `None` for no upper bound.
    pub(super) max: Option<u32>,
    pub(super) greedy: bool,
    /// The groups inside; every iteration forgets what they captured.
    pub(super) groups: Range<usize>,
    /// The body can match the empty text.
    pub(super) nullable: bool,
}

/// A condition on a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Assert {
    Start,
    End,
    LineStart,
    LineEnd,
    /// `\b`, or `\B` when negated. With `fold`, the word characters include
    /// those that fold to ASCII letters.
    Word {
        negate: bool,
        fold: bool,
    },
}

impl Node {
    /// Whether the node can match the empty text somewhere. Nested quantifiers
    /// carry their answer, so that asking costs a visit of each node once.
    pub(super) fn nullable(&self) -> bool {
        match self {
            Node::Char(_) | Node::Set(_) => false,
            Node::Empty | Node::Assert(_) | Node::Look { .. } | Node::Backref { .. } => true,
            Node::Concat(items) => items.iter().all(Node::nullable),
            Node::Alt(branches) => branches.iter().any(Node::nullable),
            Node::Group(_, body) => body.nullable(),
            Node::Repeat(repeat) => repeat.min == 0 || repeat.nullable,
        }
    }
}

/// What decides which engine may answer for a pattern.
#[derive(Debug)]
pub(super) struct Facts {
    /// No look-around, no backreference.
    pub(super) regular: bool,
    /// `^` or `$` in multi-line mode.
    pub(super) lines: bool,
    /// `\b` or `\B` under case folding.
    pub(super) folded_words: bool,
    /// `\B`, which also holds between the bytes of one character.
    pub(super) inside_words: bool,
    /// JavaScript refuses an optional iteration that matches nothing, automata
    /// do not: without such iterations both find the same text.
    pub(super) same_span: bool,
    /// Both also find the same groups: no group that one iteration of a loop
    /// sets and the next may leave out.
    pub(super) same_groups: bool,
    /// Instructions of the backtracking program, roughly.
    pub(super) cost: usize,
}

impl Facts {
    /// Looks at a whole pattern.
    pub(super) fn of(node: &Node) -> Facts {
        let mut facts = Facts {
            regular: true,
            lines: false,
            folded_words: false,
            inside_words: false,
            same_span: true,
            same_groups: true,
            cost: 0,
        };
        facts.cost = facts.visit(node, Place { looped: false, optional: false });
        facts.same_groups &= facts.same_span;
        facts
    }

    fn visit(&mut self, node: &Node, place: Place) -> usize {
        match node {
            Node::Empty | Node::Char(_) | Node::Set(_) => 1,
            Node::Concat(items) => self.visit_all(items, place),
            Node::Alt(branches) => self
                .visit_all(branches, Place { optional: true, ..place })
                .saturating_add(branches.len() * 2),
            Node::Group(_, body) => {
                self.same_groups &= !(place.looped && place.optional);
                self.visit(body, place).saturating_add(2)
            }
            Node::Assert(assert) => {
                match assert {
                    Assert::LineStart | Assert::LineEnd => self.lines = true,
                    Assert::Word { fold, negate } => {
                        self.folded_words |= fold;
                        self.inside_words |= negate;
                    }
                    Assert::Start | Assert::End => {}
                }
                1
            }
            Node::Look { body, .. } => {
                self.regular = false;
                self.visit(body, place).saturating_add(2)
            }
            Node::Backref { .. } => {
                self.regular = false;
                1
            }
            Node::Repeat(repeat) => {
                let varies = repeat.max != Some(repeat.min);
                self.same_span &= !(repeat.nullable && varies);
                // What is optional outside of every loop stays as it was left.
                let place = Place {
                    optional: place.looped && (place.optional || repeat.min == 0),
                    looped: place.looped || repeat.max.is_none_or(|max| max > 1),
                };
                let body = self.visit(&repeat.body, place);
                match repeat.body {
                    Node::Char(_) | Node::Set(_) => 2,
                    _ => {
                        let copies = repeat.max.unwrap_or(repeat.min.saturating_add(1));
                        body.saturating_add(5).saturating_mul(copies as usize)
                    }
                }
            }
        }
    }

    fn visit_all(&mut self, nodes: &[Node], place: Place) -> usize {
        nodes.iter().fold(0, |cost: usize, node| cost.saturating_add(self.visit(node, place)))
    }
}

/// Where in the tree a node stands.
#[derive(Clone, Copy)]
struct Place {
    /// Inside something that may be repeated.
    looped: bool,
    /// Inside something that an iteration may leave out.
    optional: bool,
}
