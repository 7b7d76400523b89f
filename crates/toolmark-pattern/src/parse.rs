//! Parses JavaScript pattern syntax into a tree.
//!
//! Characters are parsed as with the `u` flag (code points, `\u{…}`, `\p{…}`). Everything
//! else is parsed leniently, as without the flag: an unknown escape is the character
//! itself, and unmatched `]`, `}` and `{` are literal.

use super::PatternError;
use super::ast::{Assert, AstNode, Repeat};
use super::set::{self, NoProperty, Set};
use regex_syntax::hir::ClassUnicode;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum nesting depth of groups.
const MAX_DEPTH: usize = 200;
/// Maximum length of a pattern, in bytes.
const MAX_SOURCE: usize = 256 * 1024;
/// Maximum number of ranges of all character classes of a pattern together, including the
/// ranges needed to fold them.
const MAX_RANGES: usize = 500_000;

/// Flags that affect what a part of the pattern matches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Flags {
    pub(super) fold: bool,
    pub(super) lines: bool,
    pub(super) dot_all: bool,
}

impl Flags {
    /// Sets a flag by its letter; returns false for an unknown letter.
    pub(super) fn set(&mut self, letter: char, on: bool) -> bool {
        match letter {
            'i' => self.fold = on,
            'm' => self.lines = on,
            's' => self.dot_all = on,
            _ => return false,
        }
        true
    }
}

/// A parsed pattern.
pub(super) struct ParsedPattern {
    pub(super) node: AstNode,
    /// Number of capture groups, without the whole match.
    pub(super) groups: usize,
}

/// Parses a pattern. A group of flags at its very start adds to `flags`.
pub(super) fn parse(source: &str, flags: Flags) -> Result<ParsedPattern, PatternError> {
    if source.len() > MAX_SOURCE {
        let message = format!("pattern is longer than {} kB", MAX_SOURCE / 1024);
        return Err(PatternError::new(0, message));
    }
    let (start, flags) = leading_flags(source, flags);
    let mut parser = PatternParser {
        source,
        at: start,
        flags,
        depth: 0,
        opened: 0,
        declared: CaptureGroups::scan(source, start),
        properties: BTreeMap::new(),
        ranges: 0,
    };
    let node = parser.disjunction()?;
    if parser.peek().is_some() {
        return Err(
            PatternError::new(parser.at, "unmatched `)`").hint("write `\\)` for the character")
        );
    }
    Ok(ParsedPattern { node, groups: parser.opened })
}

/// Parses `(?i)`, `(?ms)` and the like at the very start: returns the start of the rest, and
/// the resulting flags.
fn leading_flags(source: &str, flags: Flags) -> (usize, Flags) {
    let mut with = flags;
    let Some(letters) = source.strip_prefix("(?") else { return (0, flags) };
    for (at, letter) in letters.char_indices() {
        match letter {
            ')' if at > 0 => return (2 + at + 1, with),
            _ if with.set(letter, true) => {}
            _ => break,
        }
    }
    (0, flags)
}

/// The capture groups of a pattern, collected in advance: a reference may precede its group,
/// and the meaning of `\2` depends on the number of groups.
struct CaptureGroups<'a> {
    count: usize,
    /// First group of each name.
    names: BTreeMap<&'a str, usize>,
}

impl<'a> CaptureGroups<'a> {
    fn scan(source: &'a str, start: usize) -> CaptureGroups<'a> {
        let mut declared = CaptureGroups { count: 0, names: BTreeMap::new() };
        let mut rest = source.get(start..).unwrap_or_default().chars();
        let mut in_class = false;
        while let Some(c) = rest.next() {
            match c {
                '\\' => drop(rest.next()),
                '[' => in_class = true,
                ']' => in_class = false,
                '(' if !in_class => match rest.as_str().strip_prefix('?') {
                    None => declared.count += 1,
                    Some(kind) => {
                        let Some(name) = kind.strip_prefix('<') else { continue };
                        if !name.starts_with(['=', '!']) {
                            declared.count += 1;
                            if let Some(name) = identifier(name) {
                                declared.names.entry(name).or_insert(declared.count);
                            }
                        }
                    }
                },
                _ => {}
            }
        }
        declared
    }
}

/// Parses the name that a `>` closes at the start of a text.
fn identifier(text: &str) -> Option<&str> {
    let inner = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let end = text.find(|c| !inner(c))?;
    let (name, rest) = text.split_at_checked(end)?;
    let named = !name.is_empty() && !name.starts_with(char::is_numeric);
    (named && rest.starts_with('>')).then_some(name)
}

struct PatternParser<'a> {
    source: &'a str,
    at: usize,
    flags: Flags,
    depth: usize,
    /// Number of capture groups opened so far.
    opened: usize,
    declared: CaptureGroups<'a>,
    /// Cache of Unicode properties: a pattern may repeat a large one often.
    properties: BTreeMap<&'a str, ClassUnicode>,
    ranges: usize,
}

type Result<T, E = PatternError> = std::result::Result<T, E>;

/// Meaning of an escape or of a member of a class.
enum Atom {
    /// A code point. A lone surrogate cannot occur in a text and matches nothing.
    Code(u32),
    /// A set that already reflects the current flags.
    Class(ClassUnicode),
}

impl<'a> PatternParser<'a> {
    fn rest(&self) -> &'a str {
        self.source.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    fn disjunction(&mut self) -> Result<AstNode> {
        let first = self.alternative()?;
        if self.peek() != Some('|') {
            return Ok(first);
        }
        let mut branches = vec![first];
        while self.eat("|") {
            branches.push(self.alternative()?);
        }
        Ok(AstNode::Alt(branches))
    }

    fn alternative(&mut self) -> Result<AstNode> {
        let mut items = Vec::new();
        while !matches!(self.peek(), None | Some('|' | ')')) {
            items.push(self.term()?);
        }
        Ok(match items.len() {
            0 => AstNode::Empty,
            1 => items.pop().unwrap_or(AstNode::Empty),
            _ => AstNode::Concat(items),
        })
    }

    fn term(&mut self) -> Result<AstNode> {
        let start = self.at;
        let first_group = self.opened + 1;
        let body = self.atom()?;
        let quantifier = self.at;
        let Some((min, max)) = self.quantifier()? else { return Ok(body) };
        // The web's grammar lets a lookahead be repeated, but no other condition.
        if matches!(body, AstNode::Assert(_) | AstNode::Look { behind: true, .. }) {
            let what = self.source.get(start..quantifier).unwrap_or_default();
            return Err(PatternError::new(quantifier, "nothing to repeat")
                .hint(format!("`{what}` is a condition and takes no quantifier")));
        }
        let greedy = !self.eat("?");
        if let Some(c @ ('*' | '+')) = self.peek() {
            return Err(PatternError::new(self.at, "nothing to repeat").hint(format!(
                "JavaScript has no possessive quantifiers; write `\\{c}` for the character"
            )));
        }
        let nullable = body.nullable();
        let groups = first_group..self.opened + 1;
        Ok(AstNode::Repeat(Box::new(Repeat { body, min, max, greedy, groups, nullable })))
    }

    /// Parses `*`, `+`, `?` or a braced count, if there is one at this position.
    fn quantifier(&mut self) -> Result<Option<(u32, Option<u32>)>> {
        let bounds = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => {
                let Some((length, min, max)) = braced(self.rest()) else { return Ok(None) };
                if max.is_some_and(|max| max < min) {
                    return Err(PatternError::new(
                        self.at,
                        "numbers of a quantifier are out of order",
                    ));
                }
                self.at += length;
                return Ok(Some((min, max)));
            }
            _ => return Ok(None),
        };
        self.at += 1;
        Ok(Some(bounds))
    }

    fn atom(&mut self) -> Result<AstNode> {
        let start = self.at;
        let Some(c) = self.next() else { return Ok(AstNode::Empty) };
        match c {
            '^' if self.flags.lines => Ok(AstNode::Assert(Assert::LineStart)),
            '^' => Ok(AstNode::Assert(Assert::Start)),
            '$' if self.flags.lines => Ok(AstNode::Assert(Assert::LineEnd)),
            '$' => Ok(AstNode::Assert(Assert::End)),
            '.' if self.flags.dot_all => self.set(set::any()),
            '.' => self.set(set::not_line_end()),
            '(' => self.group(start),
            '[' => self.class(start),
            '\\' => self.escape(start),
            '*' | '+' | '?' => Err(PatternError::new(start, "nothing to repeat")
                .hint(format!("write `\\{c}` for the character"))),
            '{' if braced(self.source.get(start..).unwrap_or_default()).is_some() => {
                Err(PatternError::new(start, "nothing to repeat")
                    .hint("write `\\{` for the character"))
            }
            _ => self.code(c as u32),
        }
    }

    /// Returns the node of one code point under the current flags.
    fn code(&mut self, code: u32) -> Result<AstNode> {
        let class = set::class([(code, code)]);
        let class = self.folded(class)?;
        match class.ranges() {
            [one] if one.start() == one.end() => Ok(AstNode::Char(one.start())),
            _ => self.set(class),
        }
    }

    fn set(&mut self, class: ClassUnicode) -> Result<AstNode> {
        self.count_ranges(class.ranges().len())?;
        Ok(AstNode::Set(Arc::new(Set::new(class))))
    }

    /// Applies the current flags to a class.
    fn folded(&mut self, class: ClassUnicode) -> Result<ClassUnicode> {
        if !self.flags.fold {
            return Ok(class);
        }
        self.count_ranges(set::fold_cost(&class))?;
        Ok(set::folded(class))
    }

    fn count_ranges(&mut self, ranges: usize) -> Result<()> {
        self.ranges += ranges;
        if self.ranges > MAX_RANGES {
            return Err(PatternError::new(self.at, "pattern has too many large character classes"));
        }
        Ok(())
    }

    /// Parses a group; `(` has been read, at `start`.
    fn group(&mut self, start: usize) -> Result<AstNode> {
        if self.depth == MAX_DEPTH {
            let message = format!("groups nest more than {MAX_DEPTH} deep");
            return Err(PatternError::new(start, message));
        }
        self.depth += 1;
        let flags = self.flags;
        let node = if !self.eat("?") {
            self.opened += 1;
            let group = self.opened;
            AstNode::Group(group, Box::new(self.disjunction()?))
        } else if self.eat(":") {
            self.disjunction()?
        } else if let Some((behind, negate)) = self.look() {
            let body = Box::new(self.disjunction()?);
            AstNode::Look { behind, negate, body }
        } else if self.eat("<") {
            self.name()?;
            self.opened += 1;
            let group = self.opened;
            AstNode::Group(group, Box::new(self.disjunction()?))
        } else {
            self.flags = self.modifiers(start)?;
            self.disjunction()?
        };
        self.flags = flags;
        self.depth -= 1;
        if !self.eat(")") {
            return Err(PatternError::new(start, "group is not closed")
                .hint("write `\\(` for the character"));
        }
        // A group without captures is one atom to the quantifier after it,
        // also when it holds a condition only.
        Ok(match node {
            AstNode::Assert(_) => AstNode::Concat(vec![node]),
            AstNode::Look { behind: true, .. } if !self.is_look(start) => {
                AstNode::Concat(vec![node])
            }
            node => node,
        })
    }

    fn is_look(&self, start: usize) -> bool {
        let rest = self.source.get(start..).unwrap_or_default();
        rest.starts_with("(?<=") || rest.starts_with("(?<!")
    }

    /// Parses the start of a look-around, if there is one: whether it looks behind, and whether
    /// it is negated.
    fn look(&mut self) -> Option<(bool, bool)> {
        let kinds = [
            ("=", (false, false)),
            ("!", (false, true)),
            ("<=", (true, false)),
            ("<!", (true, true)),
        ];
        kinds.into_iter().find_map(|(text, kind)| self.eat(text).then_some(kind))
    }

    /// Parses a group's name; `(?<` has been read.
    fn name(&mut self) -> Result<()> {
        let Some(name) = identifier(self.rest()) else {
            return Err(PatternError::new(self.at, "group has no proper name")
                .hint("write `(?<name>…)`, the name being letters, digits, `_` and `$`"));
        };
        if self.declared.names.get(name) != Some(&(self.opened + 1)) {
            return Err(PatternError::new(self.at, format!("two groups are named `{name}`")));
        }
        self.at += name.len() + 1;
        Ok(())
    }

    /// Parses `i-ms:` after `(?`; returns the flags inside the group.
    fn modifiers(&mut self, start: usize) -> Result<Flags> {
        let mut flags = self.flags;
        let mut on = true;
        let mut seen = String::new();
        loop {
            let at = self.at;
            match self.next() {
                Some(':') if !seen.is_empty() => return Ok(flags),
                Some('-') if on => on = false,
                Some(')') if !seen.is_empty() => {
                    return Err(PatternError::new(start, "flags inside a pattern").hint(format!(
                        "put `(?{seen})` at the very start, or write `(?{seen}:…)` around what it is for"
                    )));
                }
                Some(c) if !seen.contains(c) && flags.set(c, on) => seen.push(c),
                c => {
                    let hint = match c {
                        Some('P') => "a named group is `(?<name>…)`, a reference to it `\\k<name>`",
                        Some('>') => "JavaScript has no atomic groups",
                        Some('#') => "JavaScript patterns have no comments",
                        Some('x') => "JavaScript patterns have no free-spacing mode",
                        _ => "the flags of a group are i, m and s",
                    };
                    return Err(PatternError::new(at, "unknown kind of group").hint(hint));
                }
            }
        }
    }

    /// Parses an escape outside a class; the backslash has been read, at `start`.
    fn escape(&mut self, start: usize) -> Result<AstNode> {
        let fold = self.flags.fold;
        match self.peek() {
            Some('b') => {
                self.at += 1;
                Ok(AstNode::Assert(Assert::Word { negate: false, fold }))
            }
            Some('B') => {
                self.at += 1;
                Ok(AstNode::Assert(Assert::Word { negate: true, fold }))
            }
            Some('k') if !self.declared.names.is_empty() => {
                self.at += 1;
                let Some(name) = self.rest().strip_prefix('<').and_then(identifier) else {
                    return Err(PatternError::new(start, "reference has no group name")
                        .hint("write `\\k<name>`"));
                };
                let Some(&group) = self.declared.names.get(name) else {
                    return Err(PatternError::new(start, format!("no group is named `{name}`")));
                };
                self.at += name.len() + 2;
                Ok(AstNode::Backref { group, fold })
            }
            Some('1'..='9') => {
                let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
                let number = self.rest().get(..digits).and_then(|n| n.parse::<usize>().ok());
                match number {
                    Some(group) if group <= self.declared.count => {
                        self.at += digits;
                        Ok(AstNode::Backref { group, fold })
                    }
                    _ => self.escaped(start),
                }
            }
            _ => self.escaped(start),
        }
    }

    fn escaped(&mut self, start: usize) -> Result<AstNode> {
        match self.escaped_atom(start, false)? {
            Atom::Code(code) => self.code(code),
            Atom::Class(class) => self.set(class),
        }
    }

    /// Parses an escape, inside or outside a class, and returns its meaning.
    fn escaped_atom(&mut self, start: usize, in_class: bool) -> Result<Atom> {
        let Some(c) = self.next() else {
            return Err(PatternError::new(start, "pattern ends with a backslash")
                .hint("write `\\\\` for the character"));
        };
        let words = || {
            let words = set::words();
            if self.flags.fold { set::folded(words) } else { words }
        };
        Ok(match c {
            'd' => Atom::Class(set::digits()),
            'D' => Atom::Class(set::negated(set::digits())),
            's' => Atom::Class(set::spaces()),
            'S' => Atom::Class(set::negated(set::spaces())),
            'w' => Atom::Class(words()),
            'W' => Atom::Class(set::negated(words())),
            'p' | 'P' if self.peek() == Some('{') => Atom::Class(self.property(start, c == 'P')?),
            'b' if in_class => Atom::Code(8),
            't' => Atom::Code(9),
            'n' => Atom::Code(10),
            'v' => Atom::Code(11),
            'f' => Atom::Code(12),
            'r' => Atom::Code(13),
            'c' => match self.peek() {
                Some(letter)
                    if letter.is_ascii_alphabetic()
                        || in_class && (letter.is_ascii_digit() || letter == '_') =>
                {
                    self.at += 1;
                    Atom::Code(letter as u32 % 32)
                }
                // The backslash is literal, and so is the `c`, which is read next.
                _ => {
                    self.at -= 1;
                    Atom::Code('\\' as u32)
                }
            },
            'x' => Atom::Code(self.hex(2).unwrap_or('x' as u32)),
            'u' => Atom::Code(self.unicode(start)?),
            '0'..='7' => {
                self.at -= 1;
                Atom::Code(self.octal())
            }
            other => Atom::Code(other as u32),
        })
    }

    /// Parses exactly `digits` hexadecimal digits.
    fn hex(&mut self, digits: usize) -> Option<u32> {
        let text = self.rest().get(..digits)?;
        if !text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        self.at += digits;
        u32::from_str_radix(text, 16).ok()
    }

    /// Parses up to three octal digits, up to 255.
    fn octal(&mut self) -> u32 {
        let mut code = 0;
        for _ in 0..3 {
            match self.peek().and_then(|c| c.to_digit(8)) {
                Some(digit) if code * 8 + digit <= 255 => {
                    code = code * 8 + digit;
                    self.at += 1;
                }
                _ => break,
            }
        }
        code
    }

    /// Parses what follows `\u`: four digits (two such escapes may form one character), or a
    /// code point in braces. Anything else is the letter.
    fn unicode(&mut self, start: usize) -> Result<u32> {
        if let Some(rest) = self.rest().strip_prefix('{') {
            let digits = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
            let closed = digits > 0 && rest.as_bytes().get(digits) == Some(&b'}');
            if closed {
                let text = rest.get(..digits).unwrap_or_default().trim_start_matches('0');
                let code = if text.is_empty() { Ok(0) } else { u32::from_str_radix(text, 16) };
                return match code {
                    Ok(code) if code <= char::MAX as u32 => {
                        self.at += digits + 2;
                        Ok(code)
                    }
                    _ => Err(PatternError::new(start, "no such Unicode code point")),
                };
            }
        }
        let Some(high) = self.hex(4) else { return Ok('u' as u32) };
        if (0xd800..0xdc00).contains(&high) {
            let before = self.at;
            if self.eat("\\u") {
                if let Some(low @ 0xdc00..0xe000) = self.hex(4) {
                    return Ok(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
                }
                self.at = before;
            }
        }
        Ok(high)
    }

    /// Parses `{name}` after `\p` or `\P`.
    fn property(&mut self, start: usize, negate: bool) -> Result<ClassUnicode> {
        let name = self.rest().strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let Some((name, after)) = name else {
            return Err(PatternError::new(start, "Unicode property is not closed"));
        };
        let class = match self.properties.get(name) {
            Some(class) => class.clone(),
            None => {
                let class = set::property(name).map_err(|no| {
                    let error = PatternError::new(start, format!("no Unicode property `{name}`"));
                    match no {
                        NoProperty::Unknown => error,
                        NoProperty::BareScript => {
                            error.hint(format!("a script is written `\\p{{Script={name}}}`"))
                        }
                    }
                })?;
                self.properties.insert(name, class.clone());
                class
            }
        };
        self.count_ranges(class.ranges().len())?;
        self.at = self.source.len() - after.len();
        let class = if negate { set::negated(class) } else { class };
        self.folded(class)
    }

    /// Parses a class; `[` has been read, at `start`.
    fn class(&mut self, start: usize) -> Result<AstNode> {
        let negate = self.eat("^");
        let mut ranges = Vec::new();
        let mut sets = Vec::new();
        let mut add = |atom: Atom| match atom {
            Atom::Code(code) => ranges.push((code, code)),
            Atom::Class(class) => sets.extend_from_slice(class.ranges()),
        };
        let mut spans = Vec::new();
        while !self.eat("]") {
            let at = self.at;
            let low = self.member(start)?;
            if !self.rest().starts_with('-') || self.rest().starts_with("-]") {
                add(low);
                continue;
            }
            self.at += 1;
            match (low, self.member(start)?) {
                (Atom::Code(low), Atom::Code(high)) if low <= high => spans.push((low, high)),
                (Atom::Code(_), Atom::Code(_)) => {
                    return Err(PatternError::new(at, "range of a class is out of order")
                        .hint("write `\\-` for the character"));
                }
                // A set cannot be the end of a range: the dash is one more member.
                (low, high) => {
                    add(low);
                    add(Atom::Code('-' as u32));
                    add(high);
                }
            }
        }
        ranges.append(&mut spans);
        self.count_ranges(ranges.len())?;
        let class = set::class(ranges);
        let mut class = self.folded(class)?;
        class.union(&ClassUnicode::new(sets));
        self.set(if negate { set::negated(class) } else { class })
    }

    /// Parses a member of a class.
    fn member(&mut self, class: usize) -> Result<Atom> {
        let start = self.at;
        match self.next() {
            None => Err(PatternError::new(class, "class is not closed")
                .hint("write `\\[` for the character")),
            Some('\\') => self.escaped_atom(start, true),
            Some(c) => Ok(Atom::Code(c as u32)),
        }
    }
}

/// Parses a braced count at the start of a text: returns its length in bytes, and the
/// bounds. A bound too large for the machine counts as no bound.
fn braced(text: &str) -> Option<(usize, u32, Option<u32>)> {
    let inner = text.strip_prefix('{')?;
    let end = inner.find(|c: char| !c.is_ascii_digit() && c != ',')?;
    let (inner, rest) = inner.split_at_checked(end)?;
    if !rest.starts_with('}') {
        return None;
    }
    let number = |digits: &str| {
        let plain = !digits.is_empty() && !digits.contains(',');
        plain.then(|| digits.parse::<u32>().unwrap_or(u32::MAX))
    };
    let (min, max) = match inner.split_once(',') {
        None => (number(inner)?, Some(number(inner)?)),
        Some((min, "")) => (number(min)?, None),
        Some((min, max)) => (number(min)?, Some(number(max)?)),
    };
    Some((inner.len() + 2, min, max.filter(|&max| max < u32::MAX || min == u32::MAX)))
}
