//! JavaScript regular expressions.
//!
//! Patterns in specs are JavaScript's, whoever runs them: `\d`, `\w` and `\b`
//! are ASCII, `.` stops at four line ends, a group forgets its text with each
//! iteration of a loop around it. [`Pattern`] reads that syntax and keeps that
//! meaning, in its `u` reading: a character is a code point, and case is
//! folded as Unicode does it for single characters.
//!
//! A pattern runs on the cheapest engine that gives JavaScript's answer:
//! comparison for a literal, an automaton in linear time for what is regular,
//! and a backtracking match under a step limit for look-around and
//! backreferences. A search that reaches the limit says so ([`StepLimit`]);
//! it never says that nothing matched.
//!
//! A group of flags at the very start, such as `(?i)` or `(?ms)`, applies to
//! the whole pattern. Further in, flags are written for a group: `(?i:…)`.
//!
//! ```
//! use toolmark_pattern::Pattern;
//!
//! let pattern = Pattern::new(r"(?i)rm -rf (?<what>\S+)")?;
//! assert!(pattern.is_match("RM -RF build").unwrap());
//! assert!(pattern.is_linear());
//! # Ok::<(), toolmark_pattern::PatternError>(())
//! ```

#![forbid(unsafe_code)]

mod ast;
mod backtrack;
mod glob;
mod lower;
mod parse;
mod program;
mod set;
#[cfg(test)]
mod tests;
mod units;
mod wildcard;

pub use glob::{Glob, stays_inside};
pub use units::UnitPattern;
pub use wildcard::{has_wildcards, is_agentv_match, is_wildcard_match};

use ast::{Assert, Facts, Node};
use backtrack::Begin;
use memchr::memmem;
use parse::{Flags, Parsed};
use program::Program;
use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// How large the program of a pattern may be, in instructions.
const MAX_PROGRAM: usize = 200_000;

/// A JavaScript regular expression.
///
/// Reading one is cheap; its engine is built when it first meets a text.
/// Clones share it.
#[derive(Clone)]
pub struct Pattern(Arc<Inner>);

struct Inner {
    source: String,
    flags: String,
    node: Node,
    groups: usize,
    facts: Facts,
    sticky: bool,
    literal: Option<Literal>,
    /// Empty when the pattern is not regular, or its automaton too large.
    automaton: OnceLock<Option<Regex>>,
    program: OnceLock<Program>,
}

/// Where a group, or the whole match, lies in the text, in bytes.
pub type Span = Range<usize>;

impl Pattern {
    /// Reads a pattern.
    pub fn new(source: &str) -> Result<Pattern, PatternError> {
        Pattern::with_flags(source, "")
    }

    /// Reads a pattern with JavaScript's flags: `i`, `m`, `s` and `y` mean what
    /// they do there, `u` is always on, and `d` and `g` change nothing here.
    pub fn with_flags(source: &str, flags: &str) -> Result<Pattern, PatternError> {
        let mut known = Flags::default();
        for (at, letter) in flags.char_indices() {
            if flags.get(..at).is_some_and(|before| before.contains(letter)) {
                return Err(PatternError::new(0, format!("flag `{letter}` is given twice")));
            }
            if !known.set(letter, true) && !"udgy".contains(letter) {
                return Err(PatternError::new(0, format!("unknown flag `{letter}`"))
                    .hint("the flags are i, m, s, u, y, and without effect d and g"));
            }
        }
        let Parsed { node, groups } = parse::parse(source, known)?;
        let facts = Facts::of(&node);
        if facts.cost > MAX_PROGRAM {
            return Err(PatternError::new(
                0,
                "pattern is too large once its counts are written out",
            )
            .hint("use smaller numbers in `{…}`"));
        }
        let sticky = flags.contains('y');
        Ok(Pattern(Arc::new(Inner {
            source: source.to_owned(),
            flags: flags.to_owned(),
            literal: Literal::of(&node, sticky),
            node,
            groups,
            facts,
            sticky,
            automaton: OnceLock::new(),
            program: OnceLock::new(),
        })))
    }

    /// The pattern as it was written, leading flags included.
    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// Whether the pattern matches somewhere in a text.
    pub fn is_match(&self, text: &str) -> Result<bool, StepLimit> {
        let inner = &*self.0;
        if let Some(literal) = &inner.literal {
            return Ok(literal.find(text).is_some());
        }
        match inner.automaton_for(text) {
            // A search that stops at the earliest match may stop between two
            // bytes of a character, discard that, and go on behind a real one.
            Some(automaton) if inner.facts.inside_words && !text.is_ascii() => {
                Ok(automaton.find(inner.input(text)).is_some())
            }
            Some(automaton) => Ok(automaton.is_match(inner.input(text))),
            None => Ok(inner.backtrack(text)?.is_some()),
        }
    }

    /// The first match in a text.
    pub fn find(&self, text: &str) -> Result<Option<Span>, StepLimit> {
        let inner = &*self.0;
        if let Some(literal) = &inner.literal {
            return Ok(literal.find(text));
        }
        match inner.automaton_for(text) {
            Some(automaton) if inner.facts.same_span => {
                Ok(automaton.find(inner.input(text)).map(|found| found.range()))
            }
            _ => Ok(inner.backtrack(text)?.and_then(|slots| span(&slots, 0))),
        }
    }

    /// The first match in a text with its groups: the whole match, then every
    /// group in the order of their opening, absent where it took no part.
    pub fn captures(&self, text: &str) -> Result<Option<Vec<Option<Span>>>, StepLimit> {
        let inner = &*self.0;
        if let Some(literal) = &inner.literal {
            return Ok(literal.find(text).map(|found| vec![Some(found)]));
        }
        match inner.automaton_for(text) {
            Some(automaton) if inner.facts.same_groups => {
                let mut found = automaton.create_captures();
                automaton.search_captures(&inner.input(text), &mut found);
                let group = |index| found.get_group(index).map(|span| span.range());
                Ok(found.is_match().then(|| (0..=inner.groups).map(group).collect()))
            }
            _ => Ok(inner
                .backtrack(text)?
                .map(|slots| (0..=inner.groups).map(|group| span(&slots, group)).collect())),
        }
    }

    /// Whether the pattern matches the empty text.
    pub fn matches_empty(&self) -> bool {
        self.is_match("").unwrap_or(false)
    }

    /// Whether the pattern matches whatever line it is held against, so that it
    /// says nothing. It is asked about the empty text, every character of ASCII and
    /// a line that has them all; what looks around is taken to say something.
    pub fn matches_everything(&self) -> bool {
        if !self.0.facts.regular || !self.matches_empty() {
            return false;
        }
        let printable = || (' '..='~').chain(['é', '\u{65e5}']);
        let line: String = printable().chain(printable()).collect();
        let matches = |text: &str| self.is_match(text).unwrap_or(false);
        matches(&line) && printable().all(|c| matches(c.encode_utf8(&mut [0; 4])))
    }

    /// Whether [`Pattern::is_match`] needs no backtracking, whatever the text.
    pub fn is_linear(&self) -> bool {
        let inner = &*self.0;
        let Facts { lines, folded_words, .. } = inner.facts;
        inner.literal.is_some() || !lines && !folded_words && inner.automaton().is_some()
    }
}

impl Inner {
    fn input<'t>(&self, text: &'t str) -> Input<'t> {
        let anchored = if self.sticky { Anchored::Yes } else { Anchored::No };
        Input::new(text).anchored(anchored)
    }

    fn automaton(&self) -> Option<&Regex> {
        let build = || if self.facts.regular { lower::lower(&self.node) } else { None };
        self.automaton.get_or_init(build).as_ref()
    }

    /// The automaton, if it sees this text as JavaScript does: it knows one
    /// line end only, and no word characters beyond ASCII.
    fn automaton_for(&self, text: &str) -> Option<&Regex> {
        let automaton = self.automaton()?;
        let has = |chars: &[char]| chars.iter().any(|c| text.contains(*c));
        let lines = self.facts.lines && has(&['\r', '\u{2028}', '\u{2029}']);
        let words = self.facts.folded_words && has(&set::FOLD_TO_ASCII);
        (!lines && !words).then_some(automaton)
    }

    /// Searches as JavaScript does. An automaton that finds other groups still
    /// knows whether there is a match and where it begins.
    fn backtrack(&self, text: &str) -> Result<Option<Vec<usize>>, StepLimit> {
        let begin = match self.automaton_for(text) {
            Some(automaton) => match automaton.find(self.input(text)) {
                Some(found) => Begin::At(found.start()),
                None => return Ok(None),
            },
            None if self.sticky => Begin::At(0),
            None => Begin::Anywhere,
        };
        backtrack::search(self.program(), text, begin)
    }

    fn program(&self) -> &Program {
        self.program.get_or_init(|| Program::new(&self.node, self.groups))
    }
}

fn span(slots: &[usize], group: usize) -> Option<Span> {
    let (start, end) = (*slots.get(2 * group)?, *slots.get(2 * group + 1)?);
    (start != backtrack::UNSET && end != backtrack::UNSET).then_some(start..end)
}

/// A pattern that is plain text, possibly anchored: what most tool names are.
struct Literal {
    text: String,
    at_start: bool,
    at_end: bool,
}

impl Literal {
    fn of(node: &Node, sticky: bool) -> Option<Literal> {
        let one = std::slice::from_ref(node);
        let mut items = match node {
            Node::Empty => &[],
            Node::Concat(items) => items.as_slice(),
            _ => one,
        };
        let (mut at_start, mut at_end) = (sticky, false);
        if let [Node::Assert(Assert::Start), rest @ ..] = items {
            (at_start, items) = (true, rest);
        }
        if let [rest @ .., Node::Assert(Assert::End)] = items {
            (at_end, items) = (true, rest);
        }
        let char = |item: &Node| match item {
            Node::Char(c) => Some(*c),
            _ => None,
        };
        let text = items.iter().map(char).collect::<Option<String>>()?;
        Some(Literal { text, at_start, at_end })
    }

    fn find(&self, text: &str) -> Option<Span> {
        let (literal, size) = (self.text.as_str(), self.text.len());
        match (self.at_start, self.at_end) {
            (true, true) => (text == literal).then_some(0..size),
            (true, false) => text.starts_with(literal).then_some(0..size),
            (false, true) => text.ends_with(literal).then(|| text.len() - size..text.len()),
            (false, false) => {
                let start = memmem::find(text.as_bytes(), literal.as_bytes())?;
                Some(start..start + size)
            }
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.source)
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}/{}", self.0.source, self.0.flags)
    }
}

/// Why a text is no pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternError {
    /// What is wrong.
    pub message: String,
    /// Where in the source, in bytes.
    pub offset: usize,
    /// What to write instead.
    pub hint: Option<String>,
}

impl PatternError {
    fn new(offset: usize, message: impl Into<String>) -> PatternError {
        PatternError { message: message.into(), offset, hint: None }
    }

    fn hint(mut self, hint: impl Into<String>) -> PatternError {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid pattern at byte {}: {}", self.offset, self.message)
    }
}

impl std::error::Error for PatternError {}

/// A search gave up: whether the pattern matches is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepLimit {
    /// The steps it took.
    pub steps: u64,
}

impl fmt::Display for StepLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pattern was given up after {} steps of backtracking", self.steps)
    }
}

impl std::error::Error for StepLimit {}
