//! Sets of characters: the classes JavaScript predefines, Unicode properties,
//! and case folding.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};
use std::sync::LazyLock;

/// A set of characters with a fast path for ASCII.
#[derive(Debug)]
pub(super) struct Set {
    ascii: u128,
    class: ClassUnicode,
}

impl Set {
    pub(super) fn new(class: ClassUnicode) -> Set {
        let mut ascii = 0;
        for range in class.ranges() {
            let (start, end) = (range.start() as u32, (range.end() as u32).min(127));
            for code in start..=end {
                ascii |= 1 << code;
            }
        }
        Set { ascii, class }
    }

    pub(super) fn class(&self) -> &ClassUnicode {
        &self.class
    }

    pub(super) fn contains(&self, c: char) -> bool {
        if c.is_ascii() {
            return self.ascii >> (c as u32) & 1 == 1;
        }
        let ranges = self.class.ranges();
        let after = ranges.partition_point(|range| range.start() <= c);
        after.checked_sub(1).and_then(|at| ranges.get(at)).is_some_and(|range| c <= range.end())
    }
}

/// Builds a class of code point ranges. Surrogates are not characters of a text, so they
/// are removed from every range.
pub(super) fn class(ranges: impl IntoIterator<Item = (u32, u32)>) -> ClassUnicode {
    let ranges = ranges.into_iter().filter_map(|(start, end)| {
        let start = if (0xd800..0xe000).contains(&start) { 0xe000 } else { start };
        let end = if (0xd800..0xe000).contains(&end) { 0xd7ff } else { end };
        let (start, end) = (char::from_u32(start)?, char::from_u32(end)?);
        (start <= end).then(|| ClassUnicodeRange::new(start, end))
    });
    ClassUnicode::new(ranges)
}

fn of_chars(ranges: &[(char, char)]) -> ClassUnicode {
    ClassUnicode::new(ranges.iter().map(|&(start, end)| ClassUnicodeRange::new(start, end)))
}

/// Adds every character that differs from a member only in case.
pub(super) fn folded(mut class: ClassUnicode) -> ClassUnicode {
    // Folding goes through a class character by character. Of a large one, only
    // those with case are worth it.
    if size(&class) <= FEW {
        return fold_all(class);
    }
    let mut cased = class.clone();
    cased.intersect(&CASED);
    class.union(&fold_all(cased));
    class
}

/// Returns the maximum number of characters that folding a class visits.
pub(super) fn fold_cost(class: &ClassUnicode) -> usize {
    let size = size(class);
    if size <= FEW { size } else { MANY }
}

fn size(class: &ClassUnicode) -> usize {
    class.ranges().iter().map(ClassUnicodeRange::len).sum()
}

fn fold_all(mut class: ClassUnicode) -> ClassUnicode {
    // Without its table (a build option) folding would be left out.
    let _ = class.try_case_fold_simple();
    class
}

/// Maximum size of a class that is folded directly.
const FEW: usize = 128;
/// Approximate number of characters that have case.
const MANY: usize = 3000;

/// All characters with other case forms, and a few more.
static CASED: LazyLock<ClassUnicode> = LazyLock::new(|| {
    let mut cased = lookup("Changes_When_Casemapped").unwrap_or_else(any);
    cased.union(&lookup("Changes_When_Casefolded").unwrap_or_else(any));
    cased
});

/// Returns the complement of a class.
pub(super) fn negated(mut class: ClassUnicode) -> ClassUnicode {
    class.negate();
    class
}

/// Returns one character that represents all characters that differ from `c` in case only.
pub(super) fn fold(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_uppercase();
    }
    let class = folded(of_chars(&[(c, c)]));
    class.ranges().first().map_or(c, ClassUnicodeRange::start)
}

/// Returns whether the character ends a line.
pub(super) fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

/// Returns whether `\b` treats the character as part of a word. Two characters fold to ASCII
/// letters.
pub(super) fn is_word(c: char, fold: bool) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || fold && FOLD_TO_ASCII.contains(&c)
}

/// The long s and the Kelvin sign.
pub(super) const FOLD_TO_ASCII: [char; 2] = ['\u{17f}', '\u{212a}'];

/// Returns the set of `.` without the `s` flag.
pub(super) fn not_line_end() -> ClassUnicode {
    negated(of_chars(&[('\n', '\n'), ('\r', '\r'), ('\u{2028}', '\u{2029}')]))
}

/// Returns the set of `[^]`, and of `.` with the `s` flag.
pub(super) fn any() -> ClassUnicode {
    of_chars(&[('\0', char::MAX)])
}

/// Returns the set of `\d`.
pub(super) fn digits() -> ClassUnicode {
    of_chars(&[('0', '9')])
}

/// Returns the set of `\w`.
pub(super) fn words() -> ClassUnicode {
    of_chars(&[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')])
}

/// Returns the set of `\s`: JavaScript's white space and line ends.
pub(super) fn spaces() -> ClassUnicode {
    of_chars(&[
        ('\t', '\r'),
        (' ', ' '),
        ('\u{a0}', '\u{a0}'),
        ('\u{1680}', '\u{1680}'),
        ('\u{2000}', '\u{200a}'),
        ('\u{2028}', '\u{2029}'),
        ('\u{202f}', '\u{202f}'),
        ('\u{205f}', '\u{205f}'),
        ('\u{3000}', '\u{3000}'),
        ('\u{feff}', '\u{feff}'),
    ])
}

/// Reason why a property has no set.
pub(super) enum NoProperty {
    Unknown,
    /// A script name without `Script=`.
    BareScript,
}

/// Returns the members of `\p{name}`.
pub(super) fn property(name: &str) -> Result<ClassUnicode, NoProperty> {
    let word = |text: &str| {
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    match name.split_once('=') {
        Some((key, value)) => {
            let known = ["gc", "General_Category", "sc", "Script", "scx", "Script_Extensions"];
            if !known.contains(&key) || !word(value) {
                return Err(NoProperty::Unknown);
            }
        }
        None if !word(name) => return Err(NoProperty::Unknown),
        None if lookup(&format!("sc={name}")).is_some() => return Err(NoProperty::BareScript),
        None => {}
    }
    lookup(name).ok_or(NoProperty::Unknown)
}

fn lookup(name: &str) -> Option<ClassUnicode> {
    match regex_syntax::parse(&format!(r"\p{{{name}}}")).ok()?.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class),
        // A property of one character.
        HirKind::Literal(literal) => {
            let c = std::str::from_utf8(&literal.0).ok()?.chars().next()?;
            Some(of_chars(&[(c, c)]))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_that_folds_is_cased() {
        let cased = Set::new(CASED.clone());
        let mut partners = 0;
        for c in '\0'..=char::MAX {
            let alone = size(&fold_all(of_chars(&[(c, c)]))) == 1;
            assert!(alone || cased.contains(c), "{c:?} folds and is not cased");
            partners += usize::from(!alone);
        }
        assert!(partners > 2_000, "{partners} characters fold");
        let large = folded(of_chars(&[('\u{100}', '\u{2000}')]));
        assert!(Set::new(large).contains('s'), "the long s is among them");
    }

    #[test]
    fn membership() {
        let set = Set::new(of_chars(&[('a', 'c'), ('é', 'í'), ('😀', '😂')]));
        for c in ['a', 'c', 'é', 'ë', 'í', '😀', '😂'] {
            assert!(set.contains(c), "{c}");
        }
        for c in ['`', 'd', 'è', 'î', '\u{10ffff}', '\u{7f}', '\u{80}'] {
            assert!(!set.contains(c), "{c}");
        }
    }

    #[test]
    fn folding_one_character() {
        for group in ["kK\u{212a}", "sSſ", "σςΣ", "ßẞ", "éÉ", "ωΩ\u{2126}"] {
            let folds: Vec<char> = group.chars().map(fold).collect();
            assert!(folds.windows(2).all(|pair| pair[0] == pair[1]), "{group}: {folds:?}");
        }
        assert_ne!(fold('i'), fold('ı'));
    }
}
