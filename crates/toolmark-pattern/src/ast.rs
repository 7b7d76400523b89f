//! The syntax tree of a pattern, and the properties that can be derived from it.
//!
//! Flags are resolved while parsing: a node already reflects the flags that apply at its
//! position.

use super::set::Set;
use std::ops::Range;
use std::sync::Arc;

/// A node of the syntax tree.
#[derive(Debug)]
pub(super) enum Node {
    /// The empty text.
    Empty,
    /// One character, exactly.
    Char(char),
    /// One character of a set; case folding is already in the set.
    Set(Arc<Set>),
    /// Nodes in sequence.
    Concat(Vec<Node>),
    /// The first alternative that lets the rest match.
    Alt(Vec<Node>),
    /// A capture group, counted from 1.
    Group(usize, Box<Node>),
    /// A condition on a position.
    Assert(Assert),
    /// A condition on the text after or before a position.
    Look { behind: bool, negate: bool, body: Box<Node> },
    /// The text that a group captured.
    Backref { group: usize, fold: bool },
    /// A quantifier.
    Repeat(Box<Repeat>),
}

/// A quantified node.
#[derive(Debug)]
pub(super) struct Repeat {
    pub(super) body: Node,
    pub(super) min: u32,
    /// Maximum number of iterations; `None` for no upper bound.
    pub(super) max: Option<u32>,
    pub(super) greedy: bool,
    /// The groups inside the body; every iteration clears their captures.
    pub(super) groups: Range<usize>,
    /// Whether the body can match the empty text.
    pub(super) nullable: bool,
}

/// A condition on a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Assert {
    Start,
    End,
    LineStart,
    LineEnd,
    /// `\b`, or `\B` if negated. With `fold`, the word characters include those that fold to
    /// ASCII letters.
    Word {
        negate: bool,
        fold: bool,
    },
}

impl Node {
    /// Returns whether the node can match the empty text somewhere. Nested quantifiers store
    /// their result, so that each node is visited only once.
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

/// Properties that determine which engine can run a pattern.
#[derive(Debug)]
pub(super) struct Facts {
    /// Whether there are no look-arounds and no backreferences.
    pub(super) regular: bool,
    /// Whether `^` or `$` occurs in multi-line mode.
    pub(super) lines: bool,
    /// Whether `\b` or `\B` occurs under case folding.
    pub(super) folded_words: bool,
    /// Whether `\B` occurs, which also holds between the bytes of one character.
    pub(super) inside_words: bool,
    /// Whether automata find the same text. JavaScript rejects an optional iteration that
    /// matches nothing and automata do not; without such iterations, the results are equal.
    pub(super) same_span: bool,
    /// Whether automata also find the same groups: there is no group that one iteration of a
    /// loop sets and the next may skip.
    pub(super) same_groups: bool,
    /// Approximate number of instructions of the backtracking program.
    pub(super) cost: usize,
}

impl Facts {
    /// Computes the properties of a whole pattern.
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
                // An optional group outside of every loop keeps its capture.
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

/// Position of a node in the tree.
#[derive(Clone, Copy)]
struct Place {
    /// Whether the node is inside a loop.
    looped: bool,
    /// Whether the node is inside something that an iteration may skip.
    optional: bool,
}
