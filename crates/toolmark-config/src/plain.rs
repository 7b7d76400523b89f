//! A cursor over plain JSON: no escapes, no duplicate keys, no numbers that need special
//! treatment. Nearly all JSON is plain, and it is read without building a tree. Anything else
//! ends the reading (`None`), and the caller falls back to [`json`](crate::json), which
//! supports all of JSON and reports errors.

mod shape;

pub use shape::{ShapePieces, ShapePosition, ValueShape};

use std::ops::Range;

/// Maximum nesting depth of plain JSON.
const MAX_DEPTH: usize = 16;

/// Maximum number of keys of a plain object, because every key is compared with all others.
const MAX_KEYS: usize = 16;

/// Maximum number of digits of a plain number.
const MAX_DIGITS: usize = 15;

/// Text that may be plain, with the positions of its quotes.
#[derive(Debug)]
pub struct PlainText<'t> {
    text: &'t str,
    quotes: Vec<u64>,
}

/// A position in JSON text.
#[derive(Debug, Clone, Copy)]
pub struct JsonCursor<'t, 'q> {
    text: &'t str,
    quotes: &'q [u64],
    at: usize,
}

/// Keys of an object read so far.
#[derive(Debug, Default)]
pub struct ObjectKeys {
    /// Positions in the text at which the keys begin.
    starts: [u32; MAX_KEYS],
    len: usize,
    /// One bit per key, chosen by its length and its first and last bytes: if the bit is not set, a
    /// key is new.
    marks: u64,
}

impl ObjectKeys {
    /// Adds a key, unless it is a duplicate or there are too many keys.
    #[inline(always)]
    fn add(&mut self, text: Text<'_>, start: usize, end: usize) -> Option<()> {
        // The bytes of an empty key are its quotes.
        let (first, last) = (text.byte(start)?, text.byte(end - 1)?);
        let ends = u32::from(first) | u32::from(last) << 8 | ((end - start) as u32) << 16;
        let mark = 1_u64 << (ends.wrapping_mul(0x9e37_79b1) >> 26);
        if self.marks & mark != 0 && has(self.starts.get(..self.len)?, text.bytes, start, end) {
            return None;
        }
        self.marks |= mark;
        *self.starts.get_mut(self.len)? = start as u32;
        self.len += 1;
        Some(())
    }
}

/// Whether the key from `start` to `end` equals one of the keys that begin at `starts`.
#[cold]
#[inline(never)]
fn has(starts: &[u32], bytes: &[u8], start: usize, end: usize) -> bool {
    // With its closing quote, a key is not the beginning of another.
    let Some(key) = bytes.get(start..=end) else { return true };
    let rest = |start: &u32| bytes.get(*start as usize..).unwrap_or(key);
    starts.iter().any(|start| rest(start).starts_with(key))
}

impl<'t> PlainText<'t> {
    /// Indexes a text. `None` if the text contains an escape or a control character before its
    /// end, because then not all of its strings are plain.
    #[must_use]
    pub fn new(text: &'t str) -> Option<Self> {
        let text = text.trim_end_matches(['\n', '\r']);
        u32::try_from(text.len()).ok()?;
        Some(Self { text, quotes: toolmark_scan::quotes(text)? })
    }

    /// Returns a cursor at the start of the text.
    #[must_use]
    pub fn start(&self) -> JsonCursor<'t, '_> {
        JsonCursor { text: self.text, quotes: &self.quotes, at: 0 }
    }
}

impl<'t> JsonCursor<'t, '_> {
    /// Creates a cursor at the start of a short part of such a text.
    #[must_use]
    pub fn part(text: &'t str) -> Self {
        Self { text, quotes: &[], at: 0 }
    }

    #[inline(always)]
    fn text(&self) -> Text<'_> {
        Text { bytes: self.text.as_bytes(), quotes: self.quotes }
    }

    /// Returns the current byte position.
    #[must_use]
    pub fn at(&self) -> usize {
        self.at
    }

    /// Returns the next byte that is not white space.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        let (at, byte) = self.text().next(self.at)?;
        self.at = at;
        Some(byte)
    }

    /// Skips this byte.
    #[inline]
    pub fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// Whether only white space remains.
    pub fn is_done(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Reads a string and returns its content without the quotes.
    #[inline]
    pub fn string(&mut self) -> Option<&'t str> {
        self.take(b'"')?;
        let start = self.at;
        let end = self.text().end_of_string(start)?;
        self.at = end + 1;
        self.text.get(start..end)
    }

    /// Reads the next key of an object with the colon after it; the inner `None` is the end of
    /// the object. `keys` are the keys read before.
    #[inline]
    pub fn key(&mut self, keys: &mut ObjectKeys) -> Option<Option<&'t [u8]>> {
        let (at, key) = self.text().next_key(self.at, keys)?;
        self.at = at;
        Some(match key {
            None => None,
            Some(key) => Some(self.text.as_bytes().get(key)?),
        })
    }

    /// Whether the list has another item, after `before` items were read. Skips the comma or the
    /// end of the list.
    #[inline]
    pub fn item(&mut self, before: usize) -> Option<bool> {
        let (at, is_there) = self.text().next_item(self.at, before == 0)?;
        self.at = at;
        Some(is_there)
    }

    /// Skips a value.
    #[inline]
    pub fn skip(&mut self) -> Option<()> {
        self.at = value(self.text(), self.at, MAX_DEPTH)?;
        Some(())
    }

    /// Skips an object and passes the position of each of its own keys to `show`.
    #[inline]
    pub fn skip_object(&mut self, show: impl FnMut(Range<usize>)) -> Option<()> {
        self.take(b'{')?;
        self.at = object(self.text(), self.at, MAX_DEPTH - 1, show)?;
        Some(())
    }

    /// Reads a number without an exponent, as written.
    #[inline]
    pub fn number(&mut self) -> Option<&'t str> {
        let start = self.at;
        self.at = number(self.text.as_bytes(), start)?;
        self.text.get(start..self.at)
    }
}

// What follows goes over bytes and says where it got to. Every byte of a file of cases
// passes here, more than once: places stay in registers, and strings are bytes.

/// The bytes of a text and the positions of its quotes; without those positions, quotes are
/// searched for.
// Where it is not inlined, its parts are handed over, which fit into registers.
#[derive(Clone, Copy)]
struct Text<'a> {
    bytes: &'a [u8],
    quotes: &'a [u64],
}

impl Text<'_> {
    #[inline(always)]
    fn byte(self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    /// Returns the first byte from `at` on that is not white space, and its position.
    #[inline(always)]
    fn next(self, mut at: usize) -> Option<(usize, u8)> {
        loop {
            match self.byte(at)? {
                b' ' => at += 1,
                byte => return Some((at, byte)),
            }
        }
    }

    /// Returns the end of the string whose content begins at `at`.
    #[inline(always)]
    fn end_of_string(self, at: usize) -> Option<usize> {
        let rest = self.quotes.get(at / 64).map_or(0, |word| word >> (at % 64));
        match rest {
            0 => far_end(self.bytes, self.quotes, at),
            rest => Some(at + rest.trailing_zeros() as usize),
        }
    }

    /// Returns the next key of an object and the position after its colon, or the position after
    /// the object if it has no more keys.
    #[inline(always)]
    fn next_key(self, at: usize, keys: &mut ObjectKeys) -> Option<(usize, Option<Range<usize>>)> {
        let (mut at, mut byte) = self.next(at)?;
        if byte == b'}' {
            return Some((at + 1, None));
        }
        if keys.len != 0 {
            if byte != b',' {
                return None;
            }
            (at, byte) = self.next(at + 1)?;
        }
        if byte != b'"' {
            return None;
        }
        let start = at + 1;
        let end = self.end_of_string(start)?;
        let (colon, byte) = self.next(end + 1)?;
        if byte != b':' {
            return None;
        }
        keys.add(self, start, end)?;
        Some((colon + 1, Some(start..end)))
    }

    /// Returns the position of the next list item and `true`, or the position after the list and
    /// `false`.
    #[inline(always)]
    fn next_item(self, at: usize, is_first: bool) -> Option<(usize, bool)> {
        let (at, byte) = self.next(at)?;
        match (byte, is_first) {
            (b']', _) => Some((at + 1, false)),
            (_, true) => Some((at, true)),
            (b',', false) => {
                let (at, byte) = self.next(at + 1)?;
                // Nothing may follow but a value.
                (byte != b']').then_some((at, true))
            }
            _ => None,
        }
    }

    #[inline(always)]
    fn word(self, at: usize, word: &[u8]) -> Option<usize> {
        self.bytes.get(at..)?.starts_with(word).then_some(at + word.len())
    }
}

/// Returns the end of the string whose content begins at `at`, if the end is not within the
/// same 64 bytes.
#[inline(never)]
fn far_end(bytes: &[u8], quotes: &[u64], at: usize) -> Option<usize> {
    if quotes.is_empty() {
        return search_quote(bytes, at);
    }
    let block = at / 64 + 1;
    let far = block + quotes.get(block..)?.iter().position(|word| *word != 0)?;
    Some(far * 64 + quotes.get(far)?.trailing_zeros() as usize)
}

/// Returns the position after the number at `start`, which has no exponent.
#[inline(never)]
fn number(bytes: &[u8], start: usize) -> Option<usize> {
    let byte = |at: usize| bytes.get(at).copied();
    let mut at = start + usize::from(byte(start)? == b'-');
    let whole = digits(bytes, at);
    if whole == 0 || whole > MAX_DIGITS || (whole > 1 && byte(at)? == b'0') {
        return None;
    }
    at += whole;
    if byte(at) == Some(b'.') {
        let part = digits(bytes, at + 1);
        if part == 0 || whole + part > MAX_DIGITS {
            return None;
        }
        at += 1 + part;
    }
    (!matches!(byte(at), Some(b'e' | b'E'))).then_some(at)
}

/// Returns the number of digits from `from` on.
#[inline(always)]
fn digits(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(eight) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        match other_than_digits(u64::from_le_bytes(*eight)) {
            0 => at += 8,
            found => return at - from + found.trailing_zeros() as usize / 8,
        }
    }
    while bytes.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    at - from
}

/// Returns the position after the value at `at`.
#[inline(always)]
fn value(text: Text<'_>, at: usize, depth: usize) -> Option<usize> {
    let (at, byte) = text.next(at)?;
    match byte {
        b'"' => Some(text.end_of_string(at + 1)? + 1),
        b'{' => object_inside(text.bytes, text.quotes, at + 1, depth),
        b'[' => list_inside(text.bytes, text.quotes, at + 1, depth),
        b't' => text.word(at, b"true"),
        b'f' => text.word(at, b"false"),
        b'n' => text.word(at, b"null"),
        _ => number(text.bytes, at),
    }
}

/// Returns the position after the object whose content begins at `at`.
#[inline(never)]
fn object_inside(bytes: &[u8], quotes: &[u64], at: usize, depth: usize) -> Option<usize> {
    object(Text { bytes, quotes }, at, depth.checked_sub(1)?, |_| {})
}

/// Returns the position after the list whose content begins at `at`.
#[inline(never)]
fn list_inside(bytes: &[u8], quotes: &[u64], mut at: usize, depth: usize) -> Option<usize> {
    let text = Text { bytes, quotes };
    let depth = depth.checked_sub(1)?;
    let mut is_first = true;
    loop {
        let (next, is_there) = text.next_item(at, is_first)?;
        if !is_there {
            return Some(next);
        }
        at = value(text, next, depth)?;
        is_first = false;
    }
}

/// Returns the position after the object whose content begins at `at` and reports the
/// positions of its own keys.
#[inline(always)]
fn object(
    text: Text<'_>,
    mut at: usize,
    depth: usize,
    mut show: impl FnMut(Range<usize>),
) -> Option<usize> {
    let mut keys = ObjectKeys::default();
    loop {
        match text.next_key(at, &mut keys)? {
            (end, None) => return Some(end),
            (next, Some(key)) => {
                show(key);
                at = value(text, next, depth)?;
            }
        }
    }
}

/// Returns the position of the first quote from `at` on.
fn search_quote(bytes: &[u8], mut at: usize) -> Option<usize> {
    // Arguments in specs are short: eight bytes at a time are enough.
    while let Some(eight) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        match quotes(u64::from_le_bytes(*eight)) {
            0 => at += 8,
            found => return Some(at + found.trailing_zeros() as usize / 8),
        }
    }
    Some(at + bytes.get(at..)?.iter().position(|b| *b == b'"')?)
}

/// Sets a bit in every byte of `word` that is a quote; bytes before the first quote have no bit
/// set.
#[inline]
fn quotes(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    // Such a byte is zero here. A borrow may mark bytes behind the first only.
    let zero = word ^ (ONES * b'"' as u64);
    zero.wrapping_sub(ONES) & !zero & (ONES << 7)
}

/// Sets a bit in every byte of `word` that is not a digit.
#[inline]
fn other_than_digits(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    // Digits are 0 to 9 here, and of the others those that are ASCII get the highest bit
    // by the addition, which carries nothing on to the next byte.
    let value = word ^ (ONES * b'0' as u64);
    (((value & (ONES * 0x7f)) + ONES * 0x76) | value) & (ONES << 7)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn is_plain(text: &str) -> bool {
        let Some(whole) = PlainText::new(text) else { return false };
        let mut cursor = whole.start();
        cursor.skip().is_some() && cursor.is_done()
    }

    #[test]
    fn what_is_plain() {
        for text in [
            "{}",
            "[]",
            " [ 1 , -2.5 , true , false , null , \"\" ] \r\n",
            r#"{"a": {"b": ["c", {"d": 0}]}, "é": "日本"}"#,
            r#""a string of more than eight bytes and one""#,
        ] {
            assert!(is_plain(text), "{text}");
            serde_json::from_str::<serde_json::Value>(text).unwrap();
        }
    }

    #[test]
    fn keys_of_an_object() {
        let text = r#"{"a": {"b": ["c", {"d": 0}]}, "é, {": "x", "long name of it":[]} "#;
        let mut keys = Vec::new();
        let whole = PlainText::new(text).unwrap();
        let mut cursor = whole.start();
        cursor.skip_object(|key| keys.push(&text[key])).unwrap();
        assert!(cursor.is_done());
        assert_eq!(keys, ["a", "é, {", "long name of it"]);
        assert!(JsonCursor::part("{\"a\":1").skip_object(|_| {}).is_none());
    }

    #[test]
    fn what_is_left_to_others() {
        for text in [
            "",
            "{",
            "[1,]",
            "[,1]",
            "[1 2]",
            r#"{"a":1,}"#,
            r#"{,"a":1}"#,
            r#"{"a":1 "b":2}"#,
            r#"{"a" 1}"#,
            r#"{"a":1,"a":1}"#,
            r#""a\n""#,
            "\"a\tb\"",
            "[1,\t2]",
            "\"12345678\tb\"",
            "01",
            "1.",
            ".5",
            "1e3",
            "1234567890123456",
            "-",
            "NaN",
            "tru",
            "\"open",
            "1 2",
            "[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]",
        ] {
            assert!(!is_plain(text), "{text}");
        }
        let many: Vec<String> = (0..17).map(|n| format!("\"k{n}\":1")).collect();
        assert!(!is_plain(&format!("{{{}}}", many.join(","))));
    }

    #[test]
    fn strings_that_end_far_away() {
        for length in (0..200).chain([1000]) {
            let text = format!("{}[\"{}\", \"\"]", " ".repeat(length % 7), "é".repeat(length));
            assert!(is_plain(&text), "{text}");
            assert!(!is_plain(text.trim_end_matches("\"]")), "{text}");
        }
    }

    #[test]
    fn every_byte_is_a_digit_or_not() {
        for byte in 0..=255_u8 {
            for place in 0..8 {
                let mut word = *b"05927183";
                word[place] = byte;
                let bit = if byte.is_ascii_digit() { 0 } else { 0x80_u64 << (8 * place) };
                assert_eq!(other_than_digits(u64::from_le_bytes(word)), bit, "{byte}");
            }
        }
    }

    proptest! {
        /// Duplicate keys are found, whatever characters they contain.
        #[test]
        fn keys_are_told_apart(keys in prop::collection::vec("[abé]{0,3}", 0..=MAX_KEYS)) {
            let fields: Vec<String> = keys.iter().map(|key| format!("\"{key}\": 1")).collect();
            let different: std::collections::BTreeSet<&String> = keys.iter().collect();
            let text = format!("{{{}}}", fields.join(","));
            prop_assert_eq!(is_plain(&text), different.len() == keys.len(), "{}", text);
        }

        /// Everything that is accepted as JSON is JSON, and strings end at the right position.
        #[test]
        fn it_takes_nothing_else(text in r#"[\[\]{}:,"a\\ 01.e-]{0,12}|"[a-zé\\\n"]{0,20}""#) {
            if is_plain(&text) {
                prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{}", text);
            }
            let Some(whole) = PlainText::new(&text) else { return Ok(()) };
            let mut cursor = whole.start();
            // Without knowing the quotes it is the same.
            let mut part = JsonCursor::part(text.trim_end_matches(['\n', '\r']));
            prop_assert_eq!(part.skip().is_some() && part.is_done(), is_plain(&text));
            let mut again = cursor;
            let mut keys = Vec::new();
            if text.starts_with('{') && is_plain(&text) {
                prop_assert!(again.skip_object(|key| keys.push(text[key].to_owned())).is_some());
                prop_assert!(again.is_done());
                let value: serde_json::Value = serde_json::from_str(&text).unwrap();
                let mut own: Vec<_> = value.as_object().unwrap().keys().cloned().collect();
                keys.sort();
                own.sort();
                prop_assert_eq!(keys, own);
            }
            if let Some(string) = cursor.string() {
                prop_assert!(!string.contains(['"', '\\', '\n']), "{}", string);
                prop_assert_eq!(text.trim_start_matches(' ').get(1..=string.len()), Some(string));
            }
        }
    }
}
