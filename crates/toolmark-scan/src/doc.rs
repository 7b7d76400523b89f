//! Second pass: the structural index becomes a flat list of nodes in document
//! order. Each node knows where its text is and which node follows its subtree,
//! so skipping a value is one addition and nothing is copied.

use crate::index::{self, IndexError};
use crate::number::token_kind;
use crate::unescape::unescape;
use std::borrow::Cow;

/// The kind of a JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
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

/// Where and why a text is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanError {
    /// Byte offset in the text.
    pub offset: usize,
    /// What was wrong there, as a fragment that fits behind "not JSON: ".
    pub problem: &'static str,
}

impl std::fmt::Display for ScanError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at byte {}", self.problem, self.offset)
    }
}

impl std::error::Error for ScanError {}

#[derive(Debug, Clone, Copy)]
struct Node {
    /// First byte of the value; for a string, the byte after the opening quote.
    start: u32,
    /// Byte after the value; for a string, the closing quote.
    end: u32,
    /// The node after this one's subtree.
    next: u32,
    kind: Kind,
}

/// Reusable buffers for parsing one text after another.
#[derive(Debug, Default)]
pub struct Scanner {
    index: Vec<u32>,
    nodes: Vec<Node>,
    open: Vec<u32>,
}

/// Buffers larger than this are given back after use, so that one giant record
/// does not decide the memory of the whole run.
const KEEP_ENTRIES: usize = 1 << 18;

impl Scanner {
    /// A scanner with empty buffers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Parses one JSON text.
    pub fn parse<'a>(&'a mut self, text: &'a str) -> Result<Doc<'a>, ScanError> {
        if u32::try_from(text.len()).is_err() {
            return Err(ScanError { offset: 0, problem: "value is larger than 4 GiB" });
        }
        for buffer in [&mut self.index, &mut self.open] {
            if buffer.capacity() > KEEP_ENTRIES && text.len() < KEEP_ENTRIES {
                *buffer = Vec::new();
            }
        }
        if self.nodes.capacity() > KEEP_ENTRIES && text.len() < KEEP_ENTRIES {
            self.nodes = Vec::new();
        }
        let count = index::build(text.as_bytes(), &mut self.index)
            .map_err(|e| index_error(e, text.len()))?;
        let index = &self.index[..count];
        let depth = build_nodes(text.as_bytes(), index, &mut self.nodes, &mut self.open)?;
        Ok(Doc { text, nodes: &self.nodes, depth })
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

/// What the grammar allows next.
#[derive(Clone, Copy, PartialEq)]
enum Expect {
    Value,
    /// A value, or `]` of an array that has none yet.
    ValueOrClose,
    Key,
    /// A key, or `}` of an object that has none yet.
    KeyOrClose,
    Colon,
    CommaOrClose,
    End,
}

/// Fills `nodes`; returns the depth of the deepest container.
fn build_nodes(
    bytes: &[u8],
    index: &[u32],
    nodes: &mut Vec<Node>,
    open: &mut Vec<u32>,
) -> Result<usize, ScanError> {
    nodes.clear();
    open.clear();
    let mut expect = Expect::Value;
    let mut depth = 0;
    let mut i = 0;
    while let Some(&at) = index.get(i) {
        i += 1;
        let fail = |problem| Err(ScanError { offset: at as usize, problem });
        let value_expected = matches!(expect, Expect::Value | Expect::ValueOrClose);
        match bytes[at as usize] {
            b'"' => {
                let Some(&end) = index.get(i) else {
                    return fail("unterminated string");
                };
                i += 1;
                let next = nodes.len() as u32 + 1;
                nodes.push(Node { start: at + 1, end, next, kind: Kind::String });
                expect = match expect {
                    Expect::Value | Expect::ValueOrClose => after_value(open),
                    Expect::Key | Expect::KeyOrClose => Expect::Colon,
                    Expect::End => return fail("unexpected text after the value"),
                    _ => return fail("unexpected string"),
                };
            }
            b':' => {
                if expect != Expect::Colon {
                    return fail("unexpected ':'");
                }
                expect = Expect::Value;
            }
            b',' => {
                if expect != Expect::CommaOrClose {
                    return fail("unexpected ','");
                }
                expect = match open.last().map(|&o| nodes[o as usize].kind) {
                    Some(Kind::Object) => Expect::Key,
                    _ => Expect::Value,
                };
            }
            byte @ (b'{' | b'[') => {
                if !value_expected {
                    return fail(if expect == Expect::End {
                        "unexpected text after the value"
                    } else {
                        "unexpected opening bracket"
                    });
                }
                let (kind, then) = if byte == b'{' {
                    (Kind::Object, Expect::KeyOrClose)
                } else {
                    (Kind::Array, Expect::ValueOrClose)
                };
                open.push(nodes.len() as u32);
                depth = depth.max(open.len());
                nodes.push(Node { start: at, end: at, next: 0, kind });
                expect = then;
            }
            byte @ (b'}' | b']') => {
                let (kind, empty) = if byte == b'}' {
                    (Kind::Object, Expect::KeyOrClose)
                } else {
                    (Kind::Array, Expect::ValueOrClose)
                };
                let Some(opened) = open.pop() else {
                    return fail("closing bracket without an opening one");
                };
                let next = nodes.len() as u32;
                let node = &mut nodes[opened as usize];
                if node.kind != kind || (expect != empty && expect != Expect::CommaOrClose) {
                    return fail("unexpected closing bracket");
                }
                node.end = at + 1;
                node.next = next;
                expect = after_value(open);
            }
            _ => {
                if !value_expected {
                    return fail(if expect == Expect::End {
                        "unexpected text after the value"
                    } else {
                        "unexpected literal"
                    });
                }
                let end = token_end(bytes, at as usize, index.get(i).map(|&n| n as usize));
                let Some(kind) = token_kind(&bytes[at as usize..end]) else {
                    return fail("invalid literal");
                };
                let next = nodes.len() as u32 + 1;
                nodes.push(Node { start: at, end: end as u32, next, kind });
                expect = after_value(open);
            }
        }
    }
    if expect == Expect::End {
        Ok(depth)
    } else {
        Err(ScanError { offset: bytes.len(), problem: "unexpected end of text" })
    }
}

#[inline(always)]
fn after_value(open: &[u32]) -> Expect {
    if open.is_empty() { Expect::End } else { Expect::CommaOrClose }
}

/// A bare token ends at the next structural byte or at white space before it.
fn token_end(bytes: &[u8], start: usize, next: Option<usize>) -> usize {
    let limit = next.unwrap_or(bytes.len());
    bytes[start..limit]
        .iter()
        .position(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r'))
        .map_or(limit, |n| start + n)
}

/// A parsed document, borrowed from its text and its scanner.
#[derive(Debug, Clone, Copy)]
pub struct Doc<'a> {
    text: &'a str,
    nodes: &'a [Node],
    depth: usize,
}

impl<'a> Doc<'a> {
    /// The outermost value.
    #[must_use]
    pub fn root(self) -> Value<'a> {
        Value { text: self.text, nodes: self.nodes, at: 0 }
    }

    /// How deep its brackets nest.
    #[must_use]
    pub fn depth(self) -> usize {
        self.depth
    }

    /// The text it was parsed from.
    #[must_use]
    pub fn text(self) -> &'a str {
        self.text
    }
}

/// One value of a [`Doc`]; copying it copies a pointer.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    text: &'a str,
    nodes: &'a [Node],
    at: u32,
}

impl std::fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.raw())
    }
}

impl<'a> Value<'a> {
    fn node(self) -> Node {
        self.nodes[self.at as usize]
    }

    /// What kind of value this is.
    #[must_use]
    pub fn kind(self) -> Kind {
        self.node().kind
    }

    /// True for `null`.
    #[must_use]
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// True for `{…}`.
    #[must_use]
    pub fn is_object(self) -> bool {
        self.kind() == Kind::Object
    }

    /// True for `[…]`.
    #[must_use]
    pub fn is_array(self) -> bool {
        self.kind() == Kind::Array
    }

    /// True for `"…"`.
    #[must_use]
    pub fn is_string(self) -> bool {
        self.kind() == Kind::String
    }

    /// The member `key` of an object; the last one where it stands twice, as
    /// other parsers do. `None` also for an explicit `null`: see [`Value::has`].
    #[must_use]
    pub fn get(self, key: &str) -> Option<Value<'a>> {
        let mut found = None;
        for (name, value) in self.fields() {
            if name.is(key) {
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

    /// Is there a member `key`, be it `null`?
    #[must_use]
    pub fn has(self, key: &str) -> bool {
        self.fields().any(|(name, _)| name.is(key))
    }

    /// The members of an object in document order; empty for other kinds.
    #[must_use]
    pub fn fields(self) -> Fields<'a> {
        let node = self.node();
        let (at, end) = if node.kind == Kind::Object { (self.at + 1, node.next) } else { (0, 0) };
        Fields { value: self, at, end }
    }

    /// The elements of an array in order; empty for other kinds.
    #[must_use]
    pub fn items(self) -> Items<'a> {
        let node = self.node();
        let (at, end) = if node.kind == Kind::Array { (self.at + 1, node.next) } else { (0, 0) };
        Items { value: self, at, end }
    }

    /// The decoded text of a string.
    #[must_use]
    pub fn str(self) -> Option<Cow<'a, str>> {
        self.inner().map(unescape)
    }

    /// The inside of a string as written, with its escapes.
    #[must_use]
    pub fn inner(self) -> Option<&'a str> {
        let node = self.node();
        (node.kind == Kind::String).then(|| &self.text[node.start as usize..node.end as usize])
    }

    /// Is this the string `want`?
    #[must_use]
    pub fn is(self, want: &str) -> bool {
        self.inner()
            .is_some_and(|raw| raw == want || (raw.len() > want.len() && unescape(raw) == want))
    }

    /// The string under `key`, decoded.
    #[must_use]
    pub fn get_str(self, key: &str) -> Option<Cow<'a, str>> {
        self.get(key)?.str()
    }

    /// The string under `key` as written, to compare with words that need no
    /// escapes; empty where there is none.
    #[must_use]
    pub fn word(self, key: &str) -> &'a str {
        self.get(key).and_then(Value::inner).unwrap_or("")
    }

    /// Is there a string `want` under `key`?
    #[must_use]
    pub fn field_is(self, key: &str, want: &str) -> bool {
        self.get(key).is_some_and(|value| value.is(want))
    }

    /// Is there a `true` under `key`?
    #[must_use]
    pub fn is_true(self, key: &str) -> bool {
        self.get(key).is_some_and(|value| value.kind() == Kind::True)
    }

    /// The elements of the array under `key`; none where there is no array.
    #[must_use]
    pub fn items_at(self, key: &str) -> Items<'a> {
        self.get(key).map_or(Items { value: self, at: 0, end: 0 }, Value::items)
    }

    /// A number, or a string that holds one, as an integer; fractions are cut.
    #[must_use]
    pub fn as_i64(self) -> Option<i64> {
        let raw = match self.kind() {
            Kind::Number => self.raw(),
            Kind::String => self.inner()?,
            _ => return None,
        };
        raw.parse::<i64>().ok().or_else(|| {
            let float = raw.parse::<f64>().ok()?;
            (float.is_finite() && float.abs() < 9.0e18).then_some(float as i64)
        })
    }

    /// As [`Value::as_i64`], but `None` below zero.
    #[must_use]
    pub fn as_u64(self) -> Option<u64> {
        match self.kind() {
            Kind::Number => self.raw().parse::<u64>().ok(),
            _ => None,
        }
        .or_else(|| self.as_i64().and_then(|n| u64::try_from(n).ok()))
    }

    /// A number, or a string that holds one.
    #[must_use]
    pub fn as_f64(self) -> Option<f64> {
        match self.kind() {
            Kind::Number => self.raw().parse().ok(),
            Kind::String => self.inner()?.parse().ok(),
            _ => None,
        }
    }

    /// `true` or `false`.
    #[must_use]
    pub fn as_bool(self) -> Option<bool> {
        match self.kind() {
            Kind::True => Some(true),
            Kind::False => Some(false),
            _ => None,
        }
    }

    /// The JSON text of this value, quotes included.
    #[must_use]
    pub fn raw(self) -> &'a str {
        let (start, end) = self.span();
        &self.text[start..end]
    }

    /// Where [`Value::raw`] is in the document's text.
    #[must_use]
    pub fn span(self) -> (usize, usize) {
        let node = self.node();
        let quotes = usize::from(node.kind == Kind::String);
        (node.start as usize - quotes, node.end as usize + quotes)
    }
}

/// Iterator over the members of an object.
#[derive(Debug, Clone)]
pub struct Fields<'a> {
    value: Value<'a>,
    at: u32,
    end: u32,
}

impl<'a> Iterator for Fields<'a> {
    type Item = (Value<'a>, Value<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.end {
            return None;
        }
        let key = Value { at: self.at, ..self.value };
        let value = Value { at: self.at + 1, ..self.value };
        self.at = value.node().next;
        Some((key, value))
    }
}

/// Iterator over the elements of an array.
#[derive(Debug, Clone)]
pub struct Items<'a> {
    value: Value<'a>,
    at: u32,
    end: u32,
}

impl<'a> Iterator for Items<'a> {
    type Item = Value<'a>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.end {
            return None;
        }
        let value = Value { at: self.at, ..self.value };
        self.at = value.node().next;
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rebuilt(value: Value<'_>) -> serde_json::Value {
        use serde_json::Value as V;
        match value.kind() {
            Kind::Object => V::Object(
                value.fields().map(|(k, v)| (k.str().unwrap().into_owned(), rebuilt(v))).collect(),
            ),
            Kind::Array => V::Array(value.items().map(rebuilt).collect()),
            Kind::String => V::String(value.str().unwrap().into_owned()),
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
            // A lone surrogate is the one text we read and serde does not.
            if ours != theirs {
                prop_assert!(ours && text.contains("\\u"), "{}", text);
            }
        }
    }
}
