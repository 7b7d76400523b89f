//! A cursor over JSON that is written plainly: no escapes, no keys that come twice,
//! no numbers that need care. That is nearly all of it, and it is read without a tree.
//! Whatever else there is ends the reading (`None`), and whoever reads asks
//! [`json`](crate::json) instead, which knows everything and says what is wrong.

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
    fn add(&mut self, key: &'t str) -> Option<()> {
        let seen = self.seen.get(..self.len)?;
        if seen.contains(&key) {
            return None;
        }
        *self.seen.get_mut(self.len)? = key;
        self.len += 1;
        Some(())
    }
}

impl<'t> Plain<'t> {
    /// At this byte of a text.
    #[must_use]
    pub fn new(text: &'t str, at: usize) -> Self {
        Self { text, at }
    }

    /// The byte it is at.
    #[must_use]
    pub fn at(&self) -> usize {
        self.at
    }

    /// The next byte that is no white space.
    pub fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        loop {
            match *bytes.get(self.at)? {
                b' ' | b'\n' | b'\t' | b'\r' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    /// Goes over this byte.
    pub fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// Is nothing left but white space?
    pub fn is_done(&mut self) -> bool {
        self.peek().is_none()
    }

    /// The inside of a string without escapes.
    pub fn string(&mut self) -> Option<&'t str> {
        self.take(b'"')?;
        let start = self.at;
        let bytes = self.text.as_bytes();
        // Strings of specs are short: eight bytes at a time are enough.
        let end = loop {
            let Some(eight) = bytes.get(self.at..self.at + 8) else {
                let is_end = |b: &u8| matches!(b, b'"' | b'\\') || *b < 0x20;
                break self.at + bytes.get(self.at..)?.iter().position(is_end)?;
            };
            let word = u64::from_le_bytes(eight.try_into().ok()?);
            match ends(word) {
                0 => self.at += 8,
                found => break self.at + found.trailing_zeros() as usize / 8,
            }
        };
        if bytes.get(end) != Some(&b'"') {
            return None;
        }
        self.at = end + 1;
        self.text.get(start..end)
    }

    /// The next key of an object, with the colon behind it; `None` inside where the
    /// object ends. `keys` are those before it.
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

/// A bit in every byte of `word` that ends a string or makes it less than plain, and
/// none in the bytes before the first of them.
fn ends(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    // A byte of these is zero where it is what is looked for. A borrow may mark bytes
    // behind the first only.
    let quote = word ^ (ONES * b'"' as u64);
    let slash = word ^ (ONES * b'\\' as u64);
    let zero = |word: u64| word.wrapping_sub(ONES) & !word;
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    (zero(quote) | zero(slash) | control) & HIGH
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn is_plain(text: &str) -> bool {
        let mut cursor = Plain::new(text, 0);
        cursor.skip().is_some() && cursor.is_done()
    }

    #[test]
    fn what_is_plain() {
        for text in [
            "{}",
            "[]",
            " [ 1 , -2.5 , true , false , null , \"\" ] ",
            r#"{"a": {"b": ["c", {"d": 0}]}, "é": "日本"}"#,
            r#""a string of more than eight bytes and one""#,
        ] {
            assert!(is_plain(text), "{text}");
            serde_json::from_str::<serde_json::Value>(text).unwrap();
        }
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
            let mut cursor = Plain::new(&text, 0);
            if let Some(string) = cursor.string() {
                prop_assert!(!string.contains(['"', '\\', '\n']), "{}", string);
                prop_assert_eq!(text.trim_start().get(1..=string.len()), Some(string));
            }
        }
    }
}
