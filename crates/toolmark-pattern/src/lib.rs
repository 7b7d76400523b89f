//! JavaScript regular expressions.
//!
//! Patterns in specs have JavaScript's semantics, whichever program runs them: `\d`,
//! `\w` and `\b` are ASCII, `.` excludes four line ends, and a group loses its capture
//! with each iteration of an enclosing loop. [`Pattern`] parses that syntax and keeps
//! these semantics, in `u` mode: a character is a code point, and case is folded with
//! Unicode's mapping of single characters.
//!
//! A pattern runs on the cheapest engine that gives JavaScript's result: comparison
//! for a literal, a linear-time automaton for a regular pattern, and backtracking
//! under a step limit for look-around and backreferences. A search that reaches the
//! limit returns [`StepLimit`] instead of reporting no match.
//!
//! A group of flags at the very start, such as `(?i)` or `(?ms)`, applies to
//! the whole pattern. Elsewhere, flags are written for a group: `(?i:…)`.
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
mod needed;
mod parse;
mod program;
mod set;
#[cfg(test)]
mod tests;
mod units;
mod wildcard;

pub use glob::{Glob, GlobError, stays_inside};
pub use units::UnitPattern;
pub use wildcard::{has_wildcards, is_agentv_match, is_wildcard_match};

use ast::{Assert, AstNode, PatternFacts};
use backtrack::Begin;
use memchr::memmem;
use needed::Needed;
use parse::{Flags, ParsedPattern};
use program::CompiledPattern;
use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Maximum size of the program of a pattern, in instructions.
const MAX_PROGRAM: usize = 200_000;

/// A JavaScript regular expression.
///
/// Parsing one is cheap; its engine is built on first use. Clones share the engine.
#[derive(Clone)]
pub struct Pattern(Arc<PatternEngine>);

struct PatternEngine {
    source: String,
    flags: String,
    node: AstNode,
    groups: usize,
    facts: PatternFacts,
    sticky: bool,
    literal: Option<Literal>,
    /// Texts of which every match of a regular pattern contains one.
    needed: Option<Needed>,
    /// Automaton; `None` if the pattern is not regular or its automaton is too large.
    automaton: OnceLock<Option<Regex>>,
    program: OnceLock<CompiledPattern>,
}

/// Byte range of a group, or of the whole match, in the text.
pub type MatchSpan = Range<usize>;

impl Pattern {
    /// Parses a pattern.
    pub fn new(source: &str) -> Result<Pattern, PatternError> {
        Pattern::with_flags(source, "")
    }

    /// Parses a pattern with JavaScript's flags: `i`, `m`, `s` and `y` have their JavaScript
    /// meaning, `u` is always on, and `d` and `g` have no effect.
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
        let ParsedPattern { node, groups } = parse::parse(source, known)?;
        let facts = PatternFacts::of(&node);
        if facts.cost > MAX_PROGRAM {
            return Err(PatternError::new(
                0,
                "pattern is too large once its counts are written out",
            )
            .hint("use smaller numbers in `{…}`"));
        }
        let sticky = flags.contains('y');
        Ok(Pattern(Arc::new(PatternEngine {
            source: source.to_owned(),
            flags: flags.to_owned(),
            literal: Literal::of(&node, sticky),
            needed: if facts.regular { Needed::of(&node) } else { None },
            node,
            groups,
            facts,
            sticky,
            automaton: OnceLock::new(),
            program: OnceLock::new(),
        })))
    }

    /// Returns the pattern as written, including leading flags.
    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// Returns whether the pattern matches somewhere in a text.
    pub fn is_match(&self, text: &str) -> Result<bool, StepLimit> {
        let inner = &*self.0;
        if let Some(literal) = &inner.literal {
            return Ok(literal.find(text).is_some());
        }
        if inner.rules_out(text) {
            return Ok(false);
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

    /// Returns the first match in a text.
    pub fn find(&self, text: &str) -> Result<Option<MatchSpan>, StepLimit> {
        let inner = &*self.0;
        if let Some(literal) = &inner.literal {
            return Ok(literal.find(text));
        }
        if inner.rules_out(text) {
            return Ok(None);
        }
        match inner.automaton_for(text) {
            Some(automaton) if inner.facts.same_span => {
                Ok(automaton.find(inner.input(text)).map(|found| found.range()))
            }
            _ => Ok(inner.backtrack(text)?.and_then(|slots| span(&slots, 0))),
        }
    }

    /// Returns the first match in a text with its groups: the whole match, then every group in
    /// the order of opening parentheses, `None` for a group that did not participate.
    pub fn captures(&self, text: &str) -> Result<Option<Vec<Option<MatchSpan>>>, StepLimit> {
        let inner = &*self.0;
        if let Some(literal) = &inner.literal {
            return Ok(literal.find(text).map(|found| vec![Some(found)]));
        }
        if inner.rules_out(text) {
            return Ok(None);
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

    /// Returns whether the pattern matches the empty text.
    pub fn matches_empty(&self) -> bool {
        self.is_match("").unwrap_or(false)
    }

    /// Returns whether the pattern matches any line, so that it has no effect as a check. It is
    /// tested on the empty text, every printable ASCII character, two others and a line with all
    /// of them; irregular patterns are assumed not to match everything.
    pub fn matches_everything(&self) -> bool {
        if !self.0.facts.regular || !self.matches_empty() {
            return false;
        }
        let printable = || (' '..='~').chain(['é', '\u{65e5}']);
        let line: String = printable().chain(printable()).collect();
        let matches = |text: &str| self.is_match(text).unwrap_or(false);
        matches(&line) && printable().all(|c| matches(c.encode_utf8(&mut [0; 4])))
    }

    /// Returns whether [`Pattern::is_match`] needs no backtracking, whatever the text.
    pub fn is_linear(&self) -> bool {
        let inner = &*self.0;
        let PatternFacts { lines, folded_words, .. } = inner.facts;
        inner.literal.is_some() || !lines && !folded_words && inner.automaton().is_some()
    }
}

impl PatternEngine {
    /// Whether a text cannot match because it lacks what every match contains. With an engine that
    /// is already built the search is as fast.
    fn rules_out(&self, text: &str) -> bool {
        self.automaton.get().is_none()
            && self.needed.as_ref().is_some_and(|needed| !needed.is_in(text))
    }

    fn input<'t>(&self, text: &'t str) -> Input<'t> {
        let anchored = if self.sticky { Anchored::Yes } else { Anchored::No };
        Input::new(text).anchored(anchored)
    }

    fn automaton(&self) -> Option<&Regex> {
        let build = || if self.facts.regular { lower::lower(&self.node) } else { None };
        self.automaton.get_or_init(build).as_ref()
    }

    /// Returns the automaton if it treats this text as JavaScript does: it recognizes only one
    /// kind of line end, and no word characters beyond ASCII.
    fn automaton_for(&self, text: &str) -> Option<&Regex> {
        let automaton = self.automaton()?;
        let has = |chars: &[char]| chars.iter().any(|c| text.contains(*c));
        let lines = self.facts.lines && has(&['\r', '\u{2028}', '\u{2029}']);
        let words = self.facts.folded_words && has(&set::FOLD_TO_ASCII);
        (!lines && !words).then_some(automaton)
    }

    /// Searches with JavaScript's semantics. An automaton that finds different groups can still
    /// tell whether there is a match and where it begins.
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

    fn program(&self) -> &CompiledPattern {
        self.program.get_or_init(|| CompiledPattern::new(&self.node, self.groups))
    }
}

fn span(slots: &[usize], group: usize) -> Option<MatchSpan> {
    let (start, end) = (*slots.get(2 * group)?, *slots.get(2 * group + 1)?);
    (start != backtrack::UNSET && end != backtrack::UNSET).then_some(start..end)
}

/// A pattern that is plain text, possibly anchored, as most tool names are.
struct Literal {
    text: String,
    at_start: bool,
    at_end: bool,
}

impl Literal {
    fn of(node: &AstNode, sticky: bool) -> Option<Literal> {
        let one = std::slice::from_ref(node);
        let mut items = match node {
            AstNode::Empty => &[],
            AstNode::Concat(items) => items.as_slice(),
            _ => one,
        };
        let (mut at_start, mut at_end) = (sticky, false);
        if let [AstNode::Assert(Assert::Start), rest @ ..] = items {
            (at_start, items) = (true, rest);
        }
        if let [rest @ .., AstNode::Assert(Assert::End)] = items {
            (at_end, items) = (true, rest);
        }
        let char = |item: &AstNode| match item {
            AstNode::Char(c) => Some(*c),
            _ => None,
        };
        let text = items.iter().map(char).collect::<Option<String>>()?;
        Some(Literal { text, at_start, at_end })
    }

    fn find(&self, text: &str) -> Option<MatchSpan> {
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

/// Error for an invalid pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternError {
    /// Description of the error.
    pub message: String,
    /// Byte offset in the source.
    pub offset: usize,
    /// Suggested replacement.
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

/// Error when a search reaches the step limit: whether the pattern matches is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepLimit {
    /// Number of steps taken.
    pub steps: u64,
}

impl fmt::Display for StepLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pattern was given up after {} steps of backtracking", self.steps)
    }
}

impl std::error::Error for StepLimit {}
