//! Expected arguments, and a comparison that builds no tree of the actual arguments.
//!
//! Most calls are compared with one expectation, and most of the cost would be
//! building JSON values that are used only once. [`ExpectedArgs`] keeps
//! the expectation as the spec's tree or, for a file of JSON lines, as its text; it
//! builds a tree or a JSON value only for explanations, and otherwise compares with
//! the text of a call in place.

use super::args::ArgsMatch;
use serde_json::Value;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use toolmark_config::plain::{JsonCursor, ObjectKeys};
use toolmark_config::{Node, NodeEntry, NodeKind, json};
use toolmark_scan::{JsonKind as Scanned, Scanner, Value as Found};

/// Expected arguments in a spec.
#[derive(Debug, Clone)]
pub struct ExpectedArgs {
    written: Option<PlainObject>,
    node: OnceLock<Box<Node>>,
    value: OnceLock<Box<Value>>,
}

/// A plain object in a text, as read by [`JsonCursor`].
#[derive(Debug, Clone)]
struct PlainObject {
    text: Arc<str>,
    range: Range<u32>,
    /// Positions of its keys in the text.
    keys: KeySpans,
}

/// Positions of keys in a text.
pub type KeySpans = SmallVec<[Range<u32>; 4]>;

impl PlainObject {
    fn object(&self) -> &str {
        let Range { start, end } = self.range;
        self.text.get(start as usize..end as usize).unwrap_or_default()
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        let Range { start, end } = self.range;
        self.text.as_bytes().get(start as usize..end as usize).unwrap_or_default()
    }

    /// Whether the first difference between an object and this one is the text value of an
    /// argument. Then the objects do not match in any comparison mode. Returns `false` also
    /// if a full comparison is needed.
    fn has_other_text(&self, found: &str) -> bool {
        let (bytes, other) = (self.bytes(), found.as_bytes());
        let same = common_prefix(bytes, other);
        // Escapes may stand for what is expected.
        if !matches!((bytes.get(same), other.get(same)), (Some(_), Some(byte)) if *byte != b'\\') {
            return false;
        }
        let start = self.range.start as usize;
        let places = self.keys.iter().map(|key| (key.start as usize, key.end as usize));
        let places =
            places.map(|(from, to)| (from.saturating_sub(start), to.saturating_sub(start)));
        // A key ends with a quote, and a colon and the quote of a text follow it.
        let Some((from, to)) = places.take_while(|(_, to)| to + 3 <= same).last() else {
            return false;
        };
        let is_text = bytes.get(to + 1..to + 3) == Some(b":\"");
        let inside = bytes.get(to + 3..same).unwrap_or_default();
        let (key, rest) = (bytes.get(from..to), other.get(same..));
        // Another value of the same key might follow, and be written with escapes.
        let is_only = key.zip(rest).is_some_and(|(key, rest)| {
            // Mostly the rest has no byte that would have to be looked at.
            key.first().is_some_and(|first| memchr::memchr2(*first, b'\\', rest).is_none())
                || (!holds(rest, key) && memchr::memchr(b'\\', rest).is_none())
        });
        is_text && !inside.contains(&b'"') && is_only
    }
}

impl ExpectedArgs {
    /// Creates the expectation from a node of the spec.
    #[must_use]
    pub fn new(node: Node) -> Self {
        let node = OnceLock::from(Box::new(node));
        Self { written: None, node, value: OnceLock::new() }
    }

    /// The object at this place of a text, which [`JsonCursor`] has gone over.
    pub fn written(text: &Arc<str>, range: Range<u32>, keys: KeySpans) -> Self {
        let written = Some(PlainObject { text: Arc::clone(text), range, keys });
        Self { written, node: OnceLock::new(), value: OnceLock::new() }
    }

    /// Returns the expectation as JSON.
    pub fn value(&self) -> &Value {
        self.value.get_or_init(|| {
            let written = self.written.as_ref().map(PlainObject::object);
            // To the tree, -0 is 0.
            let plain = written.filter(|object| !object.contains("-0"));
            let value = plain.and_then(|object| serde_json::from_str(object).ok());
            Box::new(value.unwrap_or_else(|| self.node().to_json()))
        })
    }

    /// Returns the expectation as a node of the spec.
    fn node(&self) -> &Node {
        self.node.get_or_init(|| {
            let object = self.written.as_ref().map_or("", PlainObject::object);
            // What is plain has a tree.
            let node = json::tree(object);
            Box::new(node.unwrap_or_else(|| NodeKind::Null.into()))
        })
    }

    /// Passes the names of the arguments to `see`, if the expectation is an object.
    pub(super) fn each_key<'s>(&'s self, see: &mut dyn FnMut(&'s str)) {
        match &self.written {
            Some(PlainObject { text, keys, .. }) => {
                let key = |span: &Range<u32>| text.get(span.start as usize..span.end as usize);
                keys.iter().for_each(|span| see(key(span).unwrap_or_default()));
            }
            None => self.node().entries().for_each(|entry| see(entry.key.as_str())),
        }
    }

    /// Whether the JSON object in `text` matches the expectation. `None` if only a tree
    /// can decide: text that is not a JSON object, duplicate keys, or numbers that JSON
    /// lacks.
    pub(super) fn is_met(
        &self,
        how: ArgsMatch,
        text: &str,
        scanner: &RefCell<Scanner>,
    ) -> Option<bool> {
        if !text.starts_with('{') {
            return None;
        }
        let mut cursor = ArgumentCursor { text, at: 0 };
        let is_met = match &self.written {
            // Written alike, it is the same: nothing in a plain text is in doubt.
            Some(written) if written.bytes() == text.as_bytes() => return Some(true),
            Some(written) if written.has_other_text(text) => return Some(false),
            Some(written) => cursor.like(&mut JsonCursor::part(written.object()), how),
            None => cursor.compare(self.node(), how),
        };
        if let Some(is_met) = is_met
            && (!is_met || cursor.at == text.len())
        {
            return Some(is_met);
        }
        let mut scanner = scanner.borrow_mut();
        let doc = scanner.parse(text).ok()?;
        compare(self.node(), doc.root(), how)
    }
}

/// Parses JSON and compares it on the way. Supports the plain cases, which are
/// nearly all, and returns `None` for the rest, which need full parsing.
struct ArgumentCursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> ArgumentCursor<'t> {
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        loop {
            match *bytes.get(self.at)? {
                byte if byte > b' ' => return Some(byte),
                b' ' | b'\n' | b'\t' | b'\r' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    #[inline]
    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// Reads a string without escapes and returns its content.
    fn string(&mut self) -> Option<&'t str> {
        self.take(b'"')?;
        let (bytes, start) = (self.text.as_bytes(), self.at);
        let end = quote_or_slash(bytes, start)?;
        self.at = end + 1;
        self.text.get(start..end).filter(|_| bytes.get(end) == Some(&b'"'))
    }

    fn word(&mut self) -> &'t str {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let ends = |b: &u8| !b.is_ascii_alphanumeric() && !matches!(b, b'-' | b'+' | b'.');
        let end = rest.as_bytes().iter().position(ends).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    /// Compares with a node. The recursion is bounded by the depth of the spec's tree.
    fn compare(&mut self, expected: &Node, how: ArgsMatch) -> Option<bool> {
        Some(match (&expected.kind, self.peek()?) {
            (NodeKind::Map(entries), b'{') => return self.fields(entries, how),
            (NodeKind::List(items), b'[') => return self.items(items, how),
            (NodeKind::Text(text), b'"') => self.string()? == text,
            (NodeKind::Int(number), b'-' | b'0'..=b'9') => {
                let word = self.word();
                let digits = word.strip_prefix('-').unwrap_or(word);
                let is_whole = digits.bytes().all(|b| b.is_ascii_digit())
                    && (digits.len() == 1 || !digits.starts_with('0'));
                if !is_whole {
                    return None;
                }
                word.parse::<i64>().ok()? == *number
            }
            (NodeKind::Bool(true), b't') => self.word() == "true",
            (NodeKind::Bool(false), b'f') => self.word() == "false",
            (NodeKind::Null, b'n') => self.word() == "null",
            (NodeKind::UInt(_) | NodeKind::Float(_), _) => return None,
            // The value has another kind, or is not JSON.
            _ => false,
        })
    }

    /// Compares with expected text, whose nesting is bounded by [`JsonCursor`].
    fn like(&mut self, expected: &mut JsonCursor<'_, '_>, how: ArgsMatch) -> Option<bool> {
        Some(match (expected.peek()?, self.peek()?) {
            (b'{', b'{') => return self.like_fields(expected, how),
            (b'[', b'[') => return self.like_items(expected, how),
            (b'"', b'"') => expected.string()? == self.string()?,
            (b'-' | b'0'..=b'9', b'-' | b'0'..=b'9') => {
                let (wanted, found) = (expected.number()?, self.word());
                if wanted != found && !(is_whole(wanted) && is_whole(found)) {
                    return None;
                }
                wanted == found
            }
            (wanted @ (b't' | b'f' | b'n'), found) if wanted == found => {
                expected.skip()?;
                matches!(self.word(), "true" | "false" | "null")
            }
            // The value has another kind, or is not JSON.
            _ => false,
        })
    }

    fn like_items(&mut self, expected: &mut JsonCursor<'_, '_>, how: ArgsMatch) -> Option<bool> {
        expected.take(b'[')?;
        self.take(b'[')?;
        let mut items = 0;
        while expected.item(items)? {
            match self.peek()? {
                b']' => return Some(false),
                b',' if items > 0 => self.at += 1,
                _ if items > 0 => return None,
                _ => {}
            }
            if !self.like(expected, how)? {
                return Some(false);
            }
            items += 1;
        }
        match self.peek()? {
            b']' => {
                self.at += 1;
                Some(true)
            }
            b',' => Some(false),
            _ if items == 0 => Some(false),
            _ => None,
        }
    }

    fn like_fields(&mut self, expected: &mut JsonCursor<'_, '_>, how: ArgsMatch) -> Option<bool> {
        expected.take(b'{')?;
        self.take(b'{')?;
        let mut keys = ObjectKeys::default();
        let mut next = 0;
        while let Some(key) = expected.key(&mut keys)? {
            match self.peek()? {
                b'}' => {
                    self.at += 1;
                    return Some(how == ArgsMatch::Within);
                }
                b',' if next > 0 => self.at += 1,
                _ if next > 0 => return None,
                _ => {}
            }
            if self.string()?.as_bytes() != key {
                return None;
            }
            self.take(b':')?;
            // Another value of the same key might follow.
            if !self.like(expected, how)? {
                let rest = self.text.as_bytes().get(self.at..)?;
                let again = holds(rest, key);
                return if again { None } else { Some(false) };
            }
            next += 1;
        }
        self.take(b'}')?;
        Some(true)
    }

    fn items(&mut self, items: &[Node], how: ArgsMatch) -> Option<bool> {
        self.take(b'[')?;
        for (n, item) in items.iter().enumerate() {
            match self.peek()? {
                b']' => return Some(false),
                b',' if n > 0 => self.at += 1,
                _ if n > 0 => return None,
                _ => {}
            }
            if !self.compare(item, how)? {
                return Some(false);
            }
        }
        match self.peek()? {
            b']' => {
                self.at += 1;
                Some(true)
            }
            b',' => Some(false),
            _ if items.is_empty() => Some(false),
            _ => None,
        }
    }

    fn fields(&mut self, entries: &[NodeEntry], how: ArgsMatch) -> Option<bool> {
        self.take(b'{')?;
        // Keys are mostly in the order in which they were written.
        let mut next = 0;
        for entry in entries {
            match self.peek()? {
                b'}' => break,
                b',' if next > 0 => self.at += 1,
                _ if next > 0 => return None,
                _ => {}
            }
            if self.string()? != entry.key {
                return None;
            }
            self.take(b':')?;
            // Another value of the same key might follow.
            if !self.compare(&entry.value, how)? {
                let again = self.text.get(self.at..)?.contains(entry.key.as_str());
                return if again { None } else { Some(false) };
            }
            next += 1;
        }
        self.take(b'}')?;
        Some(how == ArgsMatch::Within || next == entries.len())
    }
}

/// Returns the position of the first quote or backslash from `at` on. Arguments are short, so eight
/// bytes at a time are enough.
#[inline]
fn quote_or_slash(bytes: &[u8], mut at: usize) -> Option<usize> {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    // A borrow may mark bytes behind the first only.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & (ONES << 7);
    while let Some(eight) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*eight);
        let found = zeros(word ^ (ONES * b'"' as u64)) | zeros(word ^ (ONES * b'\\' as u64));
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    let rest = bytes.get(at..)?;
    Some(at + rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?)
}

/// Returns the length of the common prefix in bytes.
fn common_prefix(one: &[u8], other: &[u8]) -> usize {
    let (ones, others) = (one.as_chunks::<8>().0, other.as_chunks::<8>().0);
    let whole = ones.iter().zip(others).take_while(|(one, other)| one == other).count() * 8;
    let rest = one.iter().zip(other).skip(whole);
    whole + rest.take_while(|(one, other)| one == other).count()
}

/// Whether a short text contains a word.
fn holds(text: &[u8], word: &[u8]) -> bool {
    let Some(first) = word.first() else { return true };
    let mut starts = memchr::memchr_iter(*first, text);
    starts.any(|at| text.get(at..).is_some_and(|rest| rest.starts_with(word)))
}

/// Whether a text is a whole number in canonical form, so that a different text is a different
/// number.
fn is_whole(word: &str) -> bool {
    let digits = word.strip_prefix('-').unwrap_or(word);
    let is_plain = digits.len() == 1 || !digits.starts_with('0');
    is_plain
        && (1..=18).contains(&digits.len())
        && word != "-0"
        && digits.bytes().all(|b| b.is_ascii_digit())
}

/// Compares with a found value. The recursion is bounded by the depth of the spec's tree.
fn compare(expected: &Node, found: Found<'_>, how: ArgsMatch) -> Option<bool> {
    Some(match (&expected.kind, found.kind()) {
        (NodeKind::Map(entries), Scanned::Object) => return fields(entries, found, how),
        (NodeKind::List(items), Scanned::Array) => {
            let mut rest = found.items();
            for item in items {
                let Some(found) = rest.next() else { return Some(false) };
                if !compare(item, found, how)? {
                    return Some(false);
                }
            }
            rest.next().is_none()
        }
        (NodeKind::Text(text), Scanned::String) => found.is(text),
        (NodeKind::Float(number), Scanned::Number | Scanned::Null) if !number.is_finite() => {
            return None;
        }
        (NodeKind::Int(_) | NodeKind::UInt(_) | NodeKind::Float(_), Scanned::Number) => {
            return is_number(expected, found);
        }
        (NodeKind::Null, Scanned::Null)
        | (NodeKind::Bool(true), Scanned::True)
        | (NodeKind::Bool(false), Scanned::False) => true,
        _ => false,
    })
}

/// Compares whole numbers exactly, others as 64-bit floats.
fn is_number(expected: &Node, found: Found<'_>) -> Option<bool> {
    let raw = found.raw();
    if !raw.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'-' | b'+' | b'.' | b'e' | b'E')) {
        return None;
    }
    Some(match (&expected.kind, raw.parse::<i64>(), raw.parse::<u64>()) {
        (NodeKind::Int(number), Ok(found), _) => *number == found,
        (NodeKind::UInt(number), _, Ok(found)) => *number == found,
        (NodeKind::Int(_), _, Ok(_)) | (NodeKind::UInt(_), Ok(_), _) => false,
        _ => expected.as_f64()? == raw.parse::<f64>().ok()?,
    })
}

fn fields(entries: &[NodeEntry], found: Found<'_>, how: ArgsMatch) -> Option<bool> {
    if entries.len() > 64 {
        return None;
    }
    let mut seen = 0_u64;
    for (key, value) in found.fields() {
        let Some(at) = entries.iter().position(|entry| key.is(&entry.key)) else {
            match how {
                ArgsMatch::Contains => continue,
                _ => return Some(false),
            }
        };
        if seen & (1 << at) != 0 {
            return None;
        }
        seen |= 1 << at;
        if !compare(&entries[at].value, value, how)? {
            let again = found.fields().filter(|(key, _)| key.is(&entries[at].key)).count() > 1;
            return if again { None } else { Some(false) };
        }
    }
    Some(how == ArgsMatch::Within || seen.count_ones() as usize == entries.len())
}

#[cfg(test)]
mod tests {
    use super::super::args::ArgsComparison;
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;
    use toolmark_config::plain::PlainText;

    impl ExpectedArgs {
        fn keys(&self) -> Vec<&str> {
            let mut all = Vec::new();
            self.each_key(&mut |key| all.push(key));
            all
        }
    }

    fn quick(expected: &Value, text: &str, how: ArgsMatch) -> Option<bool> {
        let tree = ExpectedArgs::new(Node::from_json(expected).unwrap());
        let met = tree.is_met(how, text, &RefCell::default());
        // What is written plainly is compared as text, with the same answer.
        let written: Arc<str> = expected.to_string().into();
        if PlainText::new(&written).is_some_and(|text| text.start().skip().is_some()) {
            let mut keys = KeySpans::new();
            let add = |key: Range<usize>| keys.push(key.start as u32..key.end as u32);
            JsonCursor::part(&written).skip_object(add).unwrap();
            let same = ExpectedArgs::written(&written, 0..written.len() as u32, keys);
            assert_eq!(same.value(), expected);
            assert_eq!(same.keys(), tree.keys());
            let quick = same.is_met(how, text, &RefCell::default());
            // Only an identical text is certain to match.
            assert!(quick == met || *text == *written, "{expected} {text} {how:?}");
        }
        met
    }

    #[test]
    fn what_only_a_tree_can_tell() {
        let one = json!({"a": 1});
        for text in ["", "x", "[1]", r#"{"a":2,"a":1}"#, r#"{"a":1,"a":2}"#, r#"{"a":NaN}"#] {
            assert_eq!(quick(&one, text, ArgsMatch::Exact), None, "{text}");
        }
    }

    #[test]
    fn numbers_and_escapes() {
        for (expected, text, want) in [
            (json!({"a": 1}), r#"{"a":1.0}"#, true),
            (json!({"a": 1.0}), r#"{"a":1}"#, true),
            (json!({"a": 1}), r#"{"a":10e-1}"#, true),
            (json!({"a": 0}), r#"{"a":-0}"#, true),
            (json!({"a": 1}), r#"{"a":true}"#, false),
            (json!({"a": 9_007_199_254_740_993_i64}), r#"{"a":9007199254740992}"#, false),
            (json!({"a": u64::MAX}), r#"{"a":18446744073709551615}"#, true),
            (json!({"a": u64::MAX}), r#"{"a":-1}"#, false),
            (json!({"é": "\n"}), r#"{"\u00e9":"\n"}"#, true),
            (json!({"a": null}), r#"{"a":null}"#, true),
            (json!({"a": null}), "{}", false),
            (json!({}), "{ }", true),
        ] {
            assert_eq!(quick(&expected, text, ArgsMatch::Exact), Some(want), "{expected} {text}");
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(json!(null)),
            Just(json!(true)),
            prop::sample::select(vec![json!(0), json!(-0.0), json!(1), json!(1.0), json!(2.5)]),
            prop::sample::select(vec![json!("a"), json!("1"), json!("")]),
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
                prop::collection::vec(("[ab]", inner), 0..3)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_says_what_the_trees_say(
            a in value(),
            b in value(),
            how in prop::sample::select(vec![
                ArgsMatch::Contains, ArgsMatch::Exact, ArgsMatch::Within,
            ]),
        ) {
            let (a, b) = (json!({"k": a}), json!({"k": b}));
            let slow = ArgsComparison { how, ignore: &[] }.holds(&a, &b);
            prop_assert_eq!(quick(&a, &b.to_string(), how), Some(slow));
            prop_assert_eq!(quick(&a, &a.to_string(), how), Some(true));
        }
    }
}
