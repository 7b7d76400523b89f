//! A parsed document and its values, all borrowed from the text.

use crate::index::{self, IndexError};
use crate::lines::TextLines;
use crate::nodes::{self, JsonNode};
use crate::unescape::unescape;
use std::borrow::Cow;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// The kind of a JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonKind {
    /// `{…}`
    Object,
    /// `[…]`
    Array,
    /// `"…"`
    String,
    /// A number, `NaN` or an infinity.
    Number,
    /// `true`
    True,
    /// `false`
    False,
    /// `null`
    Null,
}

/// Error for text that is not valid JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanError {
    /// Byte offset in the text.
    pub offset: usize,
    /// Description of the error, as a fragment that fits behind "not JSON: ".
    pub problem: &'static str,
}

impl std::fmt::Display for ScanError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at byte {}", self.problem, self.offset)
    }
}

impl std::error::Error for ScanError {}

/// Reusable buffers for parsing one text after another.
#[derive(Debug, Default)]
pub struct Scanner {
    index: Vec<u32>,
    nodes: Vec<JsonNode>,
    open: Vec<u32>,
    /// Nesting depth of the document that was parsed last.
    depth: usize,
}

/// Buffers larger than this are freed after use, so that one huge record does not
/// determine the memory use of the whole run.
const KEEP_ENTRIES: usize = 1 << 18;

impl Scanner {
    /// Creates a scanner with empty buffers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Parses one JSON text.
    pub fn parse<'a>(&'a mut self, text: &'a str) -> Result<Doc<'a>, ScanError> {
        if u32::try_from(text.len()).is_err() {
            return Err(ScanError { offset: 0, problem: "value is larger than 4 GiB" });
        }
        self.give_back(text.len());
        self.nodes.clear();
        if self.index.capacity() > KEEP_ENTRIES && text.len() < KEEP_ENTRIES {
            self.index = Vec::new();
        }
        let count = index::build(text.as_bytes(), &mut self.index)
            .map_err(|e| index_error(e, text.len()))?;
        let index = &self.index[..count];
        self.depth = nodes::build(text.as_bytes(), 0, index, &mut self.nodes, &mut self.open)?;
        Ok(Doc { text, nodes: &self.nodes, depth: self.depth })
    }

    /// Parses `text`, which begins at byte `start` of the text in which `lines` were found
    /// and is its line number `line` (without leading white space).
    pub fn parse_line<'a>(
        &'a mut self,
        text: &'a str,
        start: usize,
        lines: &TextLines,
        line: usize,
    ) -> Result<Doc<'a>, ScanError> {
        // Parsing the line alone finds the reason why it is not JSON.
        let Some(index) = lines.index_of(line) else { return self.parse(text) };
        self.give_back(text.len());
        self.depth = nodes::build(text.as_bytes(), start, index, &mut self.nodes, &mut self.open)?;
        Ok(Doc { text, nodes: &self.nodes, depth: self.depth })
    }

    /// Returns the document that was parsed last, without parsing it again; `None` after an
    /// error. `text` must be the text it was parsed from: with another text, lookups return
    /// nothing or meaningless values.
    #[must_use]
    pub fn again<'a>(&'a self, text: &'a str) -> Option<Doc<'a>> {
        let is_sound = !self.nodes.is_empty() && self.nodes.iter().all(|node| node.fits(text));
        is_sound.then_some(Doc { text, nodes: &self.nodes, depth: self.depth })
    }

    /// Frees buffer space that only a much larger text needed.
    fn give_back(&mut self, length: usize) {
        if length < KEEP_ENTRIES {
            if self.nodes.capacity() > KEEP_ENTRIES {
                self.nodes = Vec::new();
            }
            if self.open.capacity() > KEEP_ENTRIES {
                self.open = Vec::new();
            }
        }
    }
}

fn index_error(error: IndexError, len: usize) -> ScanError {
    match error {
        IndexError::Control(offset) => {
            ScanError { offset, problem: "unexpected control character" }
        }
        IndexError::Escape(offset) => ScanError { offset, problem: "invalid escape" },
        IndexError::OpenString => ScanError { offset: len, problem: "unterminated string" },
    }
}

/// A parsed document, borrowed from its text and its scanner.
#[derive(Debug, Clone, Copy)]
pub struct Doc<'a> {
    text: &'a str,
    /// Nodes in document order. Never empty: a text without a value does not parse.
    nodes: &'a [JsonNode],
    depth: usize,
}

impl<'a> Doc<'a> {
    /// Returns the outermost value.
    #[must_use]
    #[inline]
    pub fn root(self) -> Value<'a> {
        let (text, nodes) = (self.text.as_bytes(), self.nodes);
        Value {
            text: NonNull::from(text).cast(),
            node: NonNull::from(nodes).cast(),
            borrowed: PhantomData,
        }
    }

    /// Returns the maximum nesting depth of its containers.
    #[must_use]
    pub fn depth(self) -> usize {
        self.depth
    }

    /// Returns the text the document was parsed from.
    #[must_use]
    pub fn text(self) -> &'a str {
        self.text
    }
}

/// One value of a [`Doc`]; copying it copies two pointers.
///
/// Both point into what the document borrows for `'a`: the start of its text, and one of
/// its nodes. The nodes of a document are built by a single successful pass. Therefore,
/// for every node, `start <= end` are offsets in the text on character boundaries, and the
/// `size` nodes from the node on are its subtree. All `unsafe` below relies on that.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    text: NonNull<u8>,
    node: NonNull<JsonNode>,
    borrowed: PhantomData<(&'a str, &'a [JsonNode])>,
}

// SAFETY: a value is two shared references to data that never changes while it lives.
unsafe impl Send for Value<'_> {}
// SAFETY: as above.
unsafe impl Sync for Value<'_> {}

impl std::fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.raw())
    }
}

impl<'a> Value<'a> {
    #[inline]
    fn node(self) -> &'a JsonNode {
        // SAFETY: it points to a node that is borrowed for `'a`.
        unsafe { self.node.as_ref() }
    }

    /// Returns the text between two offsets of one node, or one byte further to include its quotes.
    #[inline]
    fn slice(self, start: usize, end: usize) -> &'a str {
        // SAFETY: a node's places are in order, in the text and between characters;
        // so are those of its quotes, which are bytes of their own.
        unsafe {
            let start_of_text = self.text.as_ptr().add(start);
            let bytes = std::slice::from_raw_parts(start_of_text, end - start);
            std::str::from_utf8_unchecked(bytes)
        }
    }

    /// Returns the kind of this value.
    #[must_use]
    #[inline]
    pub fn kind(self) -> JsonKind {
        self.node().kind
    }

    /// Returns whether the value is `null`.
    #[must_use]
    #[inline]
    pub fn is_null(self) -> bool {
        self.kind() == JsonKind::Null
    }

    /// Returns whether the value is an object.
    #[must_use]
    #[inline]
    pub fn is_object(self) -> bool {
        self.kind() == JsonKind::Object
    }

    /// Returns whether the value is an array.
    #[must_use]
    #[inline]
    pub fn is_array(self) -> bool {
        self.kind() == JsonKind::Array
    }

    /// Returns whether the value is a string.
    #[must_use]
    #[inline]
    pub fn is_string(self) -> bool {
        self.kind() == JsonKind::String
    }

    /// Returns the member `key` of an object, or the last one if the key is repeated, as
    /// other parsers do. `None` also for an explicit `null`: see [`Value::has`].
    #[must_use]
    pub fn get(self, key: &str) -> Option<Value<'a>> {
        let mut found = None;
        for (name, value) in self.fields() {
            if name.is_text(key) {
                found = Some(value);
            }
        }
        found.filter(|v| !v.is_null())
    }

    /// Follows `keys` through nested objects.
    #[must_use]
    pub fn at(self, keys: &[&str]) -> Option<Value<'a>> {
        keys.iter().try_fold(self, |value, key| value.get(key))
    }

    /// Returns whether there is a member `key`, even if it is `null`.
    #[must_use]
    pub fn has(self, key: &str) -> bool {
        self.fields().any(|(name, _)| name.is_text(key))
    }

    /// Iterates over the members of an object in document order; empty for other kinds.
    #[must_use]
    #[inline]
    pub fn fields(self) -> ObjectFields<'a> {
        ObjectFields(self.children(JsonKind::Object))
    }

    /// Iterates over the elements of an array in order; empty for other kinds.
    #[must_use]
    #[inline]
    pub fn items(self) -> Items<'a> {
        Items(self.children(JsonKind::Array))
    }

    /// Returns the nodes inside a container of this kind; empty for other kinds.
    #[inline]
    fn children(self, kind: JsonKind) -> SiblingWalk<'a> {
        let size = if self.kind() == kind { self.node().size as usize } else { 1 };
        // SAFETY: the nodes of its subtree follow the node, and the end is at most
        // the end of all nodes.
        let (first, end) = unsafe { (self.node.add(1), self.node.add(size)) };
        SiblingWalk { next: Value { node: first, ..self }, end }
    }

    /// Returns the decoded text of a string.
    #[must_use]
    pub fn str(self) -> Option<Cow<'a, str>> {
        self.inner().map(unescape)
    }

    /// Returns the content of a string as written, with its escapes.
    #[must_use]
    #[inline]
    pub fn inner(self) -> Option<&'a str> {
        let node = self.node();
        (node.kind == JsonKind::String).then(|| self.slice(node.start as usize, node.end as usize))
    }

    /// Returns whether this is the string `want`.
    #[must_use]
    #[inline]
    pub fn is(self, want: &str) -> bool {
        self.is_string() && self.is_text(want)
    }

    /// Returns whether this string equals `want`. The length or the first byte nearly always
    /// rules it out.
    #[inline]
    fn is_text(self, want: &str) -> bool {
        let node = self.node();
        let length = (node.end - node.start) as usize;
        if length < want.len() {
            return false;
        }
        let raw = self.slice(node.start as usize, node.end as usize);
        let (first, wanted) = (raw.as_bytes().first(), want.as_bytes().first());
        if length == want.len() {
            return first == wanted && raw == want;
        }
        (first == wanted || first == Some(&b'\\')) && is_escaped(raw, want)
    }

    /// Returns the decoded string under `key`.
    #[must_use]
    pub fn get_str(self, key: &str) -> Option<Cow<'a, str>> {
        self.get(key)?.str()
    }

    /// Returns the string under `key` as written, for comparison with words that need no
    /// escapes; empty if there is none.
    #[must_use]
    #[inline]
    pub fn word(self, key: &str) -> &'a str {
        self.get(key).and_then(Value::inner).unwrap_or("")
    }

    /// Returns whether the string under `key` is `want`.
    #[must_use]
    #[inline]
    pub fn field_is(self, key: &str, want: &str) -> bool {
        self.get(key).is_some_and(|value| value.is(want))
    }

    /// Returns whether the value under `key` is `true`.
    #[must_use]
    pub fn is_true(self, key: &str) -> bool {
        self.get(key).is_some_and(|value| value.kind() == JsonKind::True)
    }

    /// Iterates over the elements of the array under `key`; empty if there is no array.
    #[must_use]
    pub fn items_at(self, key: &str) -> Items<'a> {
        let none = Items(SiblingWalk { next: self, end: self.node });
        self.get(key).map_or(none, Value::items)
    }

    /// Returns a number, or a string that holds one, as an integer, truncating fractions.
    #[must_use]
    pub fn as_i64(self) -> Option<i64> {
        let raw = match self.kind() {
            JsonKind::Number => self.raw(),
            JsonKind::String => self.inner()?,
            _ => return None,
        };
        raw.parse::<i64>().ok().or_else(|| {
            let float = raw.parse::<f64>().ok()?;
            (float.is_finite() && float.abs() < 9.0e18).then_some(float as i64)
        })
    }

    /// Like [`Value::as_i64`], but `None` for negative numbers.
    #[must_use]
    pub fn as_u64(self) -> Option<u64> {
        match self.kind() {
            JsonKind::Number => self.raw().parse::<u64>().ok(),
            _ => None,
        }
        .or_else(|| self.as_i64().and_then(|n| u64::try_from(n).ok()))
    }

    /// Returns a number, or a string that holds one, as a float.
    #[must_use]
    pub fn as_f64(self) -> Option<f64> {
        match self.kind() {
            JsonKind::Number => short_whole(self.raw()).or_else(|| self.raw().parse().ok()),
            JsonKind::String => self.inner()?.parse().ok(),
            _ => None,
        }
    }

    /// Returns the value of `true` or `false`.
    #[must_use]
    pub fn as_bool(self) -> Option<bool> {
        match self.kind() {
            JsonKind::True => Some(true),
            JsonKind::False => Some(false),
            _ => None,
        }
    }

    /// Returns the JSON text of this value, including quotes.
    #[must_use]
    #[inline]
    pub fn raw(self) -> &'a str {
        let (start, end) = self.span();
        self.slice(start, end)
    }

    /// Returns the byte range of [`Value::raw`] in the document's text.
    #[must_use]
    #[inline]
    pub fn span(self) -> (usize, usize) {
        let node = self.node();
        let quotes = usize::from(node.kind == JsonKind::String);
        (node.start as usize - quotes, node.end as usize + quotes)
    }
}

/// Parses an integer of a few digits, as nearly all numbers are: a float represents it exactly.
fn short_whole(raw: &str) -> Option<f64> {
    let digits = raw.as_bytes();
    let is_short = (1..=15).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    is_short.then(|| digits.iter().fold(0_u64, |n, digit| 10 * n + u64::from(digit - b'0')) as f64)
}

/// Returns whether the longer `raw` is an escaped form of `want`. Only an escape makes a
/// text longer, so both are equal up to the first escape.
#[cold]
fn is_escaped(raw: &str, want: &str) -> bool {
    for (byte, wanted) in raw.bytes().zip(want.bytes()) {
        if byte == b'\\' {
            return unescape(raw) == want;
        }
        if byte != wanted {
            return false;
        }
    }
    false
}

/// Iterator over sibling nodes, up to the end of their container.
#[derive(Debug, Clone)]
struct SiblingWalk<'a> {
    next: Value<'a>,
    end: NonNull<JsonNode>,
}

impl<'a> SiblingWalk<'a> {
    /// Returns the next value, which must exist.
    #[inline]
    fn step(&mut self) -> Value<'a> {
        let value = self.next;
        // SAFETY: behind the subtree of a value comes its neighbour, or the end.
        self.next.node = unsafe { value.node.add(value.node().size as usize) };
        value
    }

    /// Returns the next value, which must be a key, and moves on to its value.
    #[inline]
    fn step_over_key(&mut self) -> Value<'a> {
        let key = self.next;
        // SAFETY: a key is a string, which is one node, and behind it is its value.
        self.next.node = unsafe { key.node.add(1) };
        key
    }

    #[inline]
    fn is_at_end(&self) -> bool {
        self.next.node >= self.end
    }
}

/// Iterator over the members of an object.
#[derive(Debug, Clone)]
pub struct ObjectFields<'a>(SiblingWalk<'a>);

impl<'a> Iterator for ObjectFields<'a> {
    type Item = (Value<'a>, Value<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        (!self.0.is_at_end()).then(|| (self.0.step_over_key(), self.0.step()))
    }
}

/// Iterator over the elements of an array.
#[derive(Debug, Clone)]
pub struct Items<'a>(SiblingWalk<'a>);

impl<'a> Iterator for Items<'a> {
    type Item = Value<'a>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        (!self.0.is_at_end()).then(|| self.0.step())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rebuilt(value: Value<'_>) -> serde_json::Value {
        use serde_json::Value as V;
        match value.kind() {
            JsonKind::Object => V::Object(
                value.fields().map(|(k, v)| (k.str().unwrap().into_owned(), rebuilt(v))).collect(),
            ),
            JsonKind::Array => V::Array(value.items().map(rebuilt).collect()),
            JsonKind::String => V::String(value.str().unwrap().into_owned()),
            _ => serde_json::from_str(value.raw()).unwrap(),
        }
    }

    #[test]
    fn walks_a_document() {
        let mut scanner = Scanner::new();
        let doc = scanner
            .parse(r#" {"a":[1,"x\ny",{"b":null}],"c":true,"a2":{},"n":"12","a\u0062":7} "#)
            .unwrap();
        let root = doc.root();
        assert_eq!(root.get("a").unwrap().items().count(), 3);
        assert_eq!(root.get("a").unwrap().items().nth(1).unwrap().str().unwrap(), "x\ny");
        assert!(root.get("a").unwrap().items().nth(2).unwrap().get("b").is_none());
        assert!(root.get("a").unwrap().items().nth(2).unwrap().has("b"));
        assert_eq!(root.get("n").unwrap().as_i64(), Some(12));
        assert_eq!(root.get("ab").unwrap().as_i64(), Some(7));
        assert_eq!(root.get("a2").unwrap().raw(), "{}");
        assert_eq!(root.at(&["c"]).unwrap().as_bool(), Some(true));
        assert_eq!(doc.depth(), 3);
    }

    #[test]
    fn the_last_of_two_equal_keys_wins() {
        let mut scanner = Scanner::new();
        let doc = scanner.parse(r#"{"a":1,"a":2}"#).unwrap();
        assert_eq!(doc.root().get("a").unwrap().as_i64(), Some(2));
    }

    #[test]
    fn deep_nesting_is_only_memory() {
        let text = "[".repeat(100_000) + &"]".repeat(100_000);
        let mut scanner = Scanner::new();
        assert_eq!(scanner.parse(&text).unwrap().depth(), 100_000);
        assert!(scanner.parse(&text[..150_000]).is_err());
    }

    #[test]
    fn broken_texts_say_where() {
        let mut scanner = Scanner::new();
        for (text, offset) in [
            ("", 0),
            (r#"{"a":1"#, 6),
            (r#"{"a" 1}"#, 5),
            (r#"{"a":1,}"#, 7),
            ("[1 2]", 3),
            ("[1]]", 3),
            (r#"{"a":tru}"#, 5),
            ("{} {}", 3),
            (r#"["a\x"]"#, 4),
            ("[\"a\u{1}\"]", 3),
        ] {
            assert_eq!(scanner.parse(text).map(|_| ()).unwrap_err().offset, offset, "{text}");
        }
    }

    #[test]
    fn a_document_is_there_again() {
        let mut scanner = Scanner::new();
        let text = r#"{"a":["x\ny é",1],"b":{}}"#;
        assert!(scanner.again(text).is_none());
        assert!(scanner.parse(text).is_ok());
        let again = scanner.again(text).unwrap();
        assert_eq!(rebuilt(again.root()), serde_json::from_str::<serde_json::Value>(text).unwrap());
        assert_eq!(again.depth(), 2);
        // Texts of other documents: too short, without quotes, cut inside a character.
        for other in ["", "{}", &"x".repeat(text.len()), &"é".repeat(text.len())] {
            assert!(scanner.again(other).is_none(), "{other}");
        }
        for broken in ["{", "\"open", ""] {
            assert!(scanner.parse(text).is_ok());
            assert!(scanner.parse(broken).is_err());
            assert!(scanner.again(text).is_none(), "{broken}");
        }
    }

    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            r#"[ -~"\\\n\té😀]{0,80}"#.prop_map(Into::into),
        ];
        leaf.prop_recursive(5, 64, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
                prop::collection::btree_map("[a-z\"\\\\]{0,6}", inner, 0..6)
                    .prop_map(|m| serde_json::Value::Object(m.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn reads_what_serde_wrote(value in json(), pretty in any::<bool>()) {
            let text = if pretty {
                serde_json::to_string_pretty(&value).unwrap()
            } else {
                value.to_string()
            };
            let mut scanner = Scanner::new();
            let doc = scanner.parse(&text).unwrap();
            prop_assert_eq!(rebuilt(doc.root()), value);
        }

        #[test]
        fn refuses_what_serde_refuses(text in r#"[ "\\{}\[\]:,aeu1-]{0,24}"#) {
            let mut scanner = Scanner::new();
            let ours = scanner.parse(&text).is_ok();
            let theirs = serde_json::from_str::<serde_json::Value>(&text).is_ok();
            // A lone surrogate is the only text that this parser accepts and serde rejects.
            if ours != theirs {
                prop_assert!(ours && text.contains("\\u"), "{}", text);
            }
        }
    }
}
