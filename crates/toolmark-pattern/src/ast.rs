//! The syntax tree of a pattern, and the properties that can be derived from it.
//!
//! Flags are resolved while parsing: a node already reflects the flags that apply at its
//! position.

use super::set::Set;
use std::ops::Range;
use std::sync::Arc;

/// A node of the syntax tree.
#[derive(Debug)]
pub(super) enum AstNode {
    /// The empty text.
    Empty,
    /// One character, exactly.
    Char(char),
    /// One character of a set; case folding is already in the set.
    Set(Arc<Set>),
    /// Nodes in sequence.
    Concat(Vec<AstNode>),
    /// The first alternative that lets the rest match.
    Alt(Vec<AstNode>),
    /// A capture group, counted from 1.
    Group(usize, Box<AstNode>),
    /// A condition on a position.
    Assert(Assert),
    /// A condition on the text after or before a position.
    Look { behind: bool, negate: bool, body: Box<AstNode> },
    /// The text that a group captured.
    Backref { group: usize, fold: bool },
    /// A quantifier.
    Repeat(Box<Repeat>),
}

/// A quantified node.
#[derive(Debug)]
pub(super) struct Repeat {
    pub(super) body: AstNode,
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

impl AstNode {
    /// Returns whether the node can match the empty text somewhere. Nested quantifiers store
    /// their result, so that each node is visited only once.
    pub(super) fn nullable(&self) -> bool {
        match self {
            AstNode::Char(_) | AstNode::Set(_) => false,
            AstNode::Empty
            | AstNode::Assert(_)
            | AstNode::Look { .. }
            | AstNode::Backref { .. } => true,
            AstNode::Concat(items) => items.iter().all(AstNode::nullable),
            AstNode::Alt(branches) => branches.iter().any(AstNode::nullable),
            AstNode::Group(_, body) => body.nullable(),
            AstNode::Repeat(repeat) => repeat.min == 0 || repeat.nullable,
        }
    }
}

/// Properties that determine which engine can run a pattern.
#[derive(Debug)]
pub(super) struct PatternFacts {
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

impl PatternFacts {
    /// Computes the properties of a whole pattern.
    pub(super) fn of(node: &AstNode) -> PatternFacts {
        let mut facts = PatternFacts {
            regular: true,
            lines: false,
            folded_words: false,
            inside_words: false,
            same_span: true,
            same_groups: true,
            cost: 0,
        };
        facts.cost = facts.visit(node, AstPosition { looped: false, optional: false });
        facts.same_groups &= facts.same_span;
        facts
    }

    fn visit(&mut self, node: &AstNode, place: AstPosition) -> usize {
        match node {
            AstNode::Empty | AstNode::Char(_) | AstNode::Set(_) => 1,
            AstNode::Concat(items) => self.visit_all(items, place),
            AstNode::Alt(branches) => self
                .visit_all(branches, AstPosition { optional: true, ..place })
                .saturating_add(branches.len() * 2),
            AstNode::Group(_, body) => {
                self.same_groups &= !(place.looped && place.optional);
                self.visit(body, place).saturating_add(2)
            }
            AstNode::Assert(assert) => {
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
            AstNode::Look { body, .. } => {
                self.regular = false;
                self.visit(body, place).saturating_add(2)
            }
            AstNode::Backref { .. } => {
                self.regular = false;
                1
            }
            AstNode::Repeat(repeat) => {
                let varies = repeat.max != Some(repeat.min);
                self.same_span &= !(repeat.nullable && varies);
                // An optional group outside of every loop keeps its capture.
                let place = AstPosition {
                    optional: place.looped && (place.optional || repeat.min == 0),
                    looped: place.looped || repeat.max.is_none_or(|max| max > 1),
                };
                let body = self.visit(&repeat.body, place);
                match repeat.body {
                    AstNode::Char(_) | AstNode::Set(_) => 2,
                    _ => {
                        let copies = repeat.max.unwrap_or(repeat.min.saturating_add(1));
                        body.saturating_add(5).saturating_mul(copies as usize)
                    }
                }
            }
        }
    }

    fn visit_all(&mut self, nodes: &[AstNode], place: AstPosition) -> usize {
        nodes.iter().fold(0, |cost: usize, node| cost.saturating_add(self.visit(node, place)))
    }
}

/// Position of a node in the tree.
#[derive(Clone, Copy)]
struct AstPosition {
    /// Whether the node is inside a loop.
    looped: bool,
    /// Whether the node is inside something that an iteration may skip.
    optional: bool,
}
