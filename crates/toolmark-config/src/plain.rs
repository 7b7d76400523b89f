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
#[derive(Debug)]
pub struct Keys<'t> {
    seen: [&'t str; MAX_KEYS],
    len: usize,
}

impl Default for Keys<'_> {
    fn default() -> Self {
        Self { seen: [""; MAX_KEYS], len: 0 }
    }
}

impl<'t> Keys<'t> {
    /// A further key, unless it was there before or there are too many.
    #[inline]
    fn add(&mut self, key: &'t str) -> Option<()> {
        let seen = self.seen.get(..self.len)?;
        // Mostly the lengths or the first letters differ.
        let is_same = |other: &&str| {
            other.len() == key.len() && other.as_bytes().first() == key.as_bytes().first()
        };
        if seen.iter().filter(|other| is_same(other)).any(|other| *other == key) {
            return None;
        }
        *self.seen.get_mut(self.len)? = key;
        self.len += 1;
        Some(())
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
        (odd == 0 && !rest.iter().any(is_odd)).then_some(Self { text, at: 0 })
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
        loop {
            match *bytes.get(self.at)? {
                b' ' => self.at += 1,
                byte => return Some(byte),
            }
        }
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

    /// Goes over an object that was gone over before, and shows where its own keys are.
    pub fn skip_known(&mut self, mut show: impl FnMut(Range<usize>)) -> Option<()> {
        let bytes = self.text.as_bytes();
        let (mut at, mut depth, mut is_key) = (self.at, 0_usize, false);
        loop {
            match *bytes.get(at)? {
                b'"' => {
                    let end = end_of_string(bytes, at + 1)?;
                    if is_key && depth == 1 {
                        show(at + 1..end);
                        is_key = false;
                    }
                    at = end;
                }
                b'{' | b'[' => {
                    depth += 1;
                    is_key = depth == 1;
                }
                b'}' | b']' => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        self.at = at + 1;
                        return Some(());
                    }
                }
                b',' if depth == 1 => is_key = true,
                _ => {}
            }
            at += 1;
        }
    }

    /// The next key of an object, with the colon behind it; `None` inside where the
    /// object ends. `keys` are those before it.
    #[inline]
    pub fn key(&mut self, keys: &mut Keys<'t>) -> Option<Option<&'t str>> {
        match self.peek()? {
            b'}' => {
                self.at += 1;
                return Some(None);
            }
            b',' if keys.len > 0 => self.at += 1,
            b'"' if keys.len == 0 => {}
            _ => return None,
        }
        let key = self.string()?;
        self.take(b':')?;
        keys.add(key)?;
        Some(Some(key))
    }

    /// Is there another item in a list of which `before` were read? Goes over the
    /// comma, or over the end.
    #[inline]
    pub fn item(&mut self, before: usize) -> Option<bool> {
        match self.peek()? {
            b']' if before == 0 => {
                self.at += 1;
                Some(false)
            }
            _ if before == 0 => Some(true),
            b']' => {
                self.at += 1;
                Some(false)
            }
            b',' => {
                self.at += 1;
                // Nothing may follow but a value.
                (self.peek()? != b']').then_some(true)
            }
            _ => None,
        }
    }

    /// Goes over a value.
    pub fn skip(&mut self) -> Option<()> {
        self.skip_within(MAX_DEPTH)
    }

    fn skip_within(&mut self, depth: usize) -> Option<()> {
        match self.peek()? {
            b'"' => self.string().map(|_| ()),
            b'{' => {
                let depth = depth.checked_sub(1)?;
                self.at += 1;
                let mut keys = Keys::default();
                while self.key(&mut keys)?.is_some() {
                    self.skip_within(depth)?;
                }
                Some(())
            }
            b'[' => {
                let depth = depth.checked_sub(1)?;
                self.at += 1;
                let mut items = 0;
                while self.item(items)? {
                    self.skip_within(depth)?;
                    items += 1;
                }
                Some(())
            }
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            _ => self.number().map(|_| ()),
        }
    }

    fn word(&mut self, word: &str) -> Option<()> {
        let rest = self.text.as_bytes().get(self.at..)?;
        rest.starts_with(word.as_bytes()).then(|| self.at += word.len())
    }

    /// A number without exponent, as it is written.
    #[inline]
    pub fn number(&mut self) -> Option<&'t str> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let mut at = start + usize::from(bytes.get(start) == Some(&b'-'));
        let digits = |from: usize| {
            let rest = bytes.get(from..).unwrap_or_default();
            rest.iter().take_while(|b| b.is_ascii_digit()).count()
        };
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
        if matches!(bytes.get(at), Some(b'e' | b'E')) {
            return None;
        }
        self.at = at;
        self.text.get(start..at)
    }
}

/// Where the string ends whose inside begins at `at`.
#[inline]
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
    fn keys_of_what_is_known() {
        let text = r#"{"a": {"b": ["c", {"d": 0}]}, "é, {": "x", "long name of it":[]} "#;
        let mut keys = Vec::new();
        let mut cursor = Plain::new(text).unwrap();
        cursor.skip_known(|key| keys.push(&text[key])).unwrap();
        assert!(cursor.is_done());
        assert_eq!(keys, ["a", "é, {", "long name of it"]);
        assert!(Plain::part("{\"a\":1").skip_known(|_| {}).is_none());
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
        /// What it takes for JSON is JSON, and strings end where they end.
        #[test]
        fn it_takes_nothing_else(text in r#"[\[\]{}:,"a\\ 01.e-]{0,12}|"[a-zé\\\n"]{0,20}""#) {
            if is_plain(&text) {
                prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{}", text);
            }
            let Some(mut cursor) = Plain::new(&text) else { return Ok(()) };
            let mut known = cursor;
            let mut keys = Vec::new();
            if text.starts_with('{') && is_plain(&text) {
                prop_assert!(known.skip_known(|key| keys.push(text[key].to_owned())).is_some());
                prop_assert!(known.is_done());
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
