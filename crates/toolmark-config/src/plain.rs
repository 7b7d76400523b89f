//! A cursor over JSON that is written plainly: no escapes, no keys that come twice,
//! no numbers that need care. That is nearly all of it, and it is read without a tree.
//! Whatever else there is ends the reading (`None`), and whoever reads asks
//! [`json`](crate::json) instead, which knows everything and says what is wrong.

use std::ops::Range;

/// Nested deeper than this is not plain.
const MAX_DEPTH: usize = 16;

/// Objects with more keys than this are not plain: all of them are compared with
/// each other.
const MAX_KEYS: usize = 16;

/// Numbers with more digits than this are not plain.
const MAX_DIGITS: usize = 15;

/// A place in JSON text.
#[derive(Debug, Clone, Copy)]
pub struct Plain<'t> {
    text: &'t str,
    at: usize,
}

/// The keys of an object that was read so far.
#[derive(Debug, Default)]
pub struct Keys {
    /// Where they are in the text.
    seen: [(u32, u32); MAX_KEYS],
    len: usize,
    /// A bit for every key, by its length and ends: where it is not set, a key is new.
    marks: u64,
}

impl Keys {
    /// A further key, unless it was there before or there are too many.
    #[inline]
    fn add(&mut self, bytes: &[u8], start: usize, end: usize) -> Option<()> {
        let key = bytes.get(start..end)?;
        let ends = match key {
            [] => 0,
            [first, .., last] => u32::from(*first) ^ u32::from(*last) << 3,
            [only] => u32::from(*only),
        };
        let mark = 1_u64 << ((ends ^ key.len() as u32) & 63);
        if self.marks & mark != 0 && self.has(bytes, key) {
            return None;
        }
        self.marks |= mark;
        *self.seen.get_mut(self.len)? = (start as u32, end as u32);
        self.len += 1;
        Some(())
    }

    fn has(&self, bytes: &[u8], key: &[u8]) -> bool {
        let seen = self.seen.iter().take(self.len);
        let mut keys = seen.map(|(start, end)| bytes.get(*start as usize..*end as usize));
        keys.any(|other| other == Some(key))
    }
}

impl<'t> Plain<'t> {
    /// At the start of a text, unless it holds an escape or a control character before
    /// its end: then not all strings of it are plain.
    #[must_use]
    pub fn new(text: &'t str) -> Option<Self> {
        let text = text.trim_end_matches(['\n', '\r']);
        let (words, rest) = text.as_bytes().as_chunks::<8>();
        let odd = words.iter().fold(0, |odd, word| odd | odd_bytes(u64::from_le_bytes(*word)));
        let is_odd = |byte: &u8| *byte < 0x20 || *byte == b'\\';
        let is_plain = odd == 0 && !rest.iter().any(is_odd) && u32::try_from(text.len()).is_ok();
        is_plain.then_some(Self { text, at: 0 })
    }

    /// At the start of a part of such a text.
    #[must_use]
    pub fn part(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// The byte it is at.
    #[must_use]
    pub fn at(&self) -> usize {
        self.at
    }

    /// The next byte that is no white space.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        self.at = after_space(bytes, self.at);
        bytes.get(self.at).copied()
    }

    /// Goes over this byte.
    #[inline]
    pub fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// Is nothing left but white space?
    pub fn is_done(&mut self) -> bool {
        self.peek().is_none()
    }

    /// The inside of a string.
    #[inline]
    pub fn string(&mut self) -> Option<&'t str> {
        self.take(b'"')?;
        let start = self.at;
        let end = end_of_string(self.text.as_bytes(), start)?;
        self.at = end + 1;
        self.text.get(start..end)
    }

    /// The next key of an object, with the colon behind it; `None` inside where the
    /// object ends. `keys` are those before it.
    #[inline]
    pub fn key(&mut self, keys: &mut Keys) -> Option<Option<&'t str>> {
        Some(match next_key(self.text.as_bytes(), self.at, keys)? {
            (at, None) => {
                self.at = at;
                None
            }
            (at, Some(key)) => {
                self.at = at;
                Some(self.text.get(key)?)
            }
        })
    }

    /// Is there another item in a list of which `before` were read? Goes over the
    /// comma, or over the end.
    #[inline]
    pub fn item(&mut self, before: usize) -> Option<bool> {
        let (at, is_there) = next_item(self.text.as_bytes(), self.at, before == 0)?;
        self.at = at;
        Some(is_there)
    }

    /// Goes over a value.
    #[inline]
    pub fn skip(&mut self) -> Option<()> {
        self.at = value(self.text.as_bytes(), self.at, MAX_DEPTH)?;
        Some(())
    }

    /// Goes over an object, and shows where its own keys are.
    #[inline]
    pub fn skip_object(&mut self, show: impl FnMut(Range<usize>)) -> Option<()> {
        self.take(b'{')?;
        self.at = object(self.text.as_bytes(), self.at, MAX_DEPTH - 1, show)?;
        Some(())
    }

    /// A number without exponent, as it is written.
    #[inline]
    pub fn number(&mut self) -> Option<&'t str> {
        let start = self.at;
        self.at = number(self.text.as_bytes(), start)?;
        self.text.get(start..self.at)
    }
}

// What follows goes over bytes and says where it got to. Every byte of a file of cases
// passes here, more than once: places stay in registers, and strings are bytes.

/// Where the white space ends that may begin at `at`.
#[inline(always)]
fn after_space(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at) == Some(&b' ') {
        at += 1;
    }
    at
}

/// The place behind the value at `at`.
fn value(bytes: &[u8], at: usize, depth: usize) -> Option<usize> {
    let at = after_space(bytes, at);
    match *bytes.get(at)? {
        b'"' => Some(end_of_string(bytes, at + 1)? + 1),
        b'{' => object(bytes, at + 1, depth.checked_sub(1)?, |_| {}),
        b'[' => {
            let depth = depth.checked_sub(1)?;
            let (mut at, mut is_first) = (at + 1, true);
            loop {
                let (next, is_there) = next_item(bytes, at, is_first)?;
                if !is_there {
                    return Some(next);
                }
                at = value(bytes, next, depth)?;
                is_first = false;
            }
        }
        b't' => word(bytes, at, b"true"),
        b'f' => word(bytes, at, b"false"),
        b'n' => word(bytes, at, b"null"),
        _ => number(bytes, at),
    }
}

/// The place behind the object whose inside begins at `at`.
#[inline]
fn object(
    bytes: &[u8],
    mut at: usize,
    depth: usize,
    mut show: impl FnMut(Range<usize>),
) -> Option<usize> {
    let mut keys = Keys::default();
    loop {
        match next_key(bytes, at, &mut keys)? {
            (end, None) => return Some(end),
            (next, Some(key)) => {
                show(key);
                at = value(bytes, next, depth)?;
            }
        }
    }
}

/// The next key of an object and the place behind its colon, or the place behind the
/// object where it has no more.
#[inline(always)]
fn next_key(bytes: &[u8], at: usize, keys: &mut Keys) -> Option<(usize, Option<Range<usize>>)> {
    let mut at = after_space(bytes, at);
    match (*bytes.get(at)?, keys.len) {
        (b'}', _) => return Some((at + 1, None)),
        (_, 0) => {}
        (b',', _) => at = after_space(bytes, at + 1),
        _ => return None,
    }
    if *bytes.get(at)? != b'"' {
        return None;
    }
    let start = at + 1;
    let end = end_of_string(bytes, start)?;
    let colon = after_space(bytes, end + 1);
    if *bytes.get(colon)? != b':' {
        return None;
    }
    keys.add(bytes, start, end)?;
    Some((colon + 1, Some(start..end)))
}

/// Where the next item of a list begins, or the place behind the list and false.
#[inline(always)]
fn next_item(bytes: &[u8], at: usize, is_first: bool) -> Option<(usize, bool)> {
    let at = after_space(bytes, at);
    match (*bytes.get(at)?, is_first) {
        (b']', _) => Some((at + 1, false)),
        (_, true) => Some((at, true)),
        (b',', false) => {
            let at = after_space(bytes, at + 1);
            // Nothing may follow but a value.
            (*bytes.get(at)? != b']').then_some((at, true))
        }
        _ => None,
    }
}

#[inline]
fn word(bytes: &[u8], at: usize, word: &[u8]) -> Option<usize> {
    bytes.get(at..)?.starts_with(word).then_some(at + word.len())
}

/// The place behind the number at `at`, which has no exponent.
#[inline]
fn number(bytes: &[u8], start: usize) -> Option<usize> {
    let digits = |from: usize| {
        let mut at = from;
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at - from
    };
    let mut at = start + usize::from(bytes.get(start) == Some(&b'-'));
    let whole = digits(at);
    if whole == 0 || whole > MAX_DIGITS || (whole > 1 && bytes.get(at) == Some(&b'0')) {
        return None;
    }
    at += whole;
    if bytes.get(at) == Some(&b'.') {
        let part = digits(at + 1);
        if part == 0 || whole + part > MAX_DIGITS {
            return None;
        }
        at += 1 + part;
    }
    (!matches!(bytes.get(at), Some(b'e' | b'E'))).then_some(at)
}

/// Where the string ends whose inside begins at `at`.
#[inline(always)]
fn end_of_string(bytes: &[u8], mut at: usize) -> Option<usize> {
    // Strings of specs are short: eight bytes at a time are enough.
    while let Some(eight) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        match quotes(u64::from_le_bytes(*eight)) {
            0 => at += 8,
            found => return Some(at + found.trailing_zeros() as usize / 8),
        }
    }
    Some(at + bytes.get(at..)?.iter().position(|b| *b == b'"')?)
}

/// Something where a byte of `word` is a backslash or a control character.
#[inline]
fn odd_bytes(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    let slash = word ^ (ONES * b'\\' as u64);
    let slash = slash.wrapping_sub(ONES) & !slash;
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    (slash | control) & (ONES << 7)
}

/// A bit in every byte of `word` that is a quote, and none in the bytes before the first.
#[inline]
fn quotes(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    // Such a byte is zero here. A borrow may mark bytes behind the first only.
    let zero = word ^ (ONES * b'"' as u64);
    zero.wrapping_sub(ONES) & !zero & (ONES << 7)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn is_plain(text: &str) -> bool {
        let Some(mut cursor) = Plain::new(text) else { return false };
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
        let mut cursor = Plain::new(text).unwrap();
        cursor.skip_object(|key| keys.push(&text[key])).unwrap();
        assert!(cursor.is_done());
        assert_eq!(keys, ["a", "é, {", "long name of it"]);
        assert!(Plain::part("{\"a\":1").skip_object(|_| {}).is_none());
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

    proptest! {
        /// Keys that come twice are found, whatever they look like.
        #[test]
        fn keys_are_told_apart(keys in prop::collection::vec("[abé]{0,3}", 0..=MAX_KEYS)) {
            let fields: Vec<String> = keys.iter().map(|key| format!("\"{key}\": 1")).collect();
            let different: std::collections::BTreeSet<&String> = keys.iter().collect();
            let text = format!("{{{}}}", fields.join(","));
            prop_assert_eq!(is_plain(&text), different.len() == keys.len(), "{}", text);
        }

        /// What it takes for JSON is JSON, and strings end where they end.
        #[test]
        fn it_takes_nothing_else(text in r#"[\[\]{}:,"a\\ 01.e-]{0,12}|"[a-zé\\\n"]{0,20}""#) {
            if is_plain(&text) {
                prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{}", text);
            }
            let Some(mut cursor) = Plain::new(&text) else { return Ok(()) };
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
