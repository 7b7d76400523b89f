//! The tree a configuration file is read into, with the place of everything.

use compact_str::CompactString;
use serde_json::{Map, Value};

/// How deep lists and maps may nest. Whoever builds a tree keeps to it, so that
/// whoever walks one may recurse.
pub const MAX_DEPTH: usize = 64;

/// A range of bytes in the source text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl Span {
    /// The bytes from `start` to before `end`; positions no file has are cut to
    /// the largest there is.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Self {
        let cut = |at| u32::try_from(at).unwrap_or(u32::MAX);
        Self { start: cut(start), end: cut(end.max(start)) }
    }

    /// The smallest span that holds both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// `None` for the default span, which values that come from no text have.
    #[must_use]
    pub fn known(self) -> Option<Self> {
        (self != Self::default()).then_some(self)
    }
}

/// One value with its place.
///
/// Two nodes are equal when their values are, wherever they stand.
#[derive(Clone, Debug)]
pub struct Node {
    /// The value.
    pub kind: Kind,
    /// Where it stands; the default span where there is no text.
    pub span: Span,
}

/// What a [`Node`] holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// `null`, `~` or nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A whole number above [`i64::MAX`], and only such.
    UInt(u64),
    /// Any other number; infinities and NaN included.
    Float(f64),
    /// A string.
    Text(CompactString),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping, in the order of its text. Keys are unique.
    Map(Vec<Entry>),
}

/// One key of a map with its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key; keys that are no strings are their text.
    pub key: CompactString,
    /// Where the key stands.
    pub key_span: Span,
    /// What it is set to.
    pub value: Node,
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key && self.value == other.value
    }
}

impl From<Kind> for Node {
    /// A value that stands nowhere.
    fn from(kind: Kind) -> Self {
        Self { kind, span: Span::default() }
    }
}

impl Node {
    /// The same value at another place: what was read elsewhere is shown where it is
    /// used.
    #[must_use]
    pub fn moved(&self, span: Span) -> Self {
        let kind = match &self.kind {
            Kind::List(items) => Kind::List(items.iter().map(|item| item.moved(span)).collect()),
            Kind::Map(entries) => {
                let moved = |entry: &Entry| Entry {
                    key: entry.key.clone(),
                    key_span: span,
                    value: entry.value.moved(span),
                };
                Kind::Map(entries.iter().map(moved).collect())
            }
            other => other.clone(),
        };
        Self::new(kind, span)
    }

    /// A value at a place.
    #[must_use]
    pub fn new(kind: Kind, span: Span) -> Self {
        Self { kind, span }
    }

    /// The value under `key` of a map, be it null.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The entry of `key` of a map, for the place of the key.
    #[must_use]
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().find(|entry| entry.key == key)
    }

    /// The entries of a map; none for other kinds.
    pub fn entries(&self) -> std::slice::Iter<'_, Entry> {
        self.as_map().unwrap_or_default().iter()
    }

    /// The elements of a list; none for other kinds.
    pub fn items(&self) -> std::slice::Iter<'_, Self> {
        self.as_list().unwrap_or_default().iter()
    }

    /// Is this null?
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self.kind, Kind::Null)
    }

    /// The text of a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// `true` or `false`.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self.kind {
            Kind::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// A whole number.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match self.kind {
            Kind::Int(value) => Some(value),
            _ => None,
        }
    }

    /// A whole number that is not below zero.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        match self.kind {
            Kind::Int(value) => u64::try_from(value).ok(),
            Kind::UInt(value) => Some(value),
            _ => None,
        }
    }

    /// A number.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        match self.kind {
            Kind::Int(value) => Some(value as f64),
            Kind::UInt(value) => Some(value as f64),
            Kind::Float(value) => Some(value),
            _ => None,
        }
    }

    /// The elements of a list.
    #[must_use]
    pub fn as_list(&self) -> Option<&[Self]> {
        match &self.kind {
            Kind::List(items) => Some(items),
            _ => None,
        }
    }

    /// The entries of a map.
    #[must_use]
    pub fn as_map(&self) -> Option<&[Entry]> {
        match &self.kind {
            Kind::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// Takes `key` out of a map.
    pub fn remove(&mut self, key: &str) -> Option<Self> {
        let Kind::Map(entries) = &mut self.kind else { return None };
        let at = entries.iter().position(|entry| entry.key == key)?;
        Some(entries.remove(at).value)
    }

    /// The same map without `keys`; other kinds as they are.
    #[must_use]
    pub fn without(&self, keys: &[&str]) -> Self {
        let kind = match &self.kind {
            Kind::Map(entries) => Kind::Map(
                entries.iter().filter(|e| !keys.contains(&e.key.as_str())).cloned().collect(),
            ),
            other => other.clone(),
        };
        Self { kind, span: self.span }
    }

    /// What kind of value this is, in words that fit behind "found".
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self.kind {
            Kind::Null => "nothing",
            Kind::Bool(true) => "true",
            Kind::Bool(false) => "false",
            Kind::Int(_) | Kind::UInt(_) | Kind::Float(_) => "a number",
            Kind::Text(_) => "text",
            Kind::List(_) => "a list",
            Kind::Map(_) => "a map",
        }
    }

    /// The value as JSON. Infinities and NaN, which JSON does not have, become
    /// null, as `JSON.stringify` writes them.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(value) => Value::from(*value),
            Kind::Int(value) => Value::from(*value),
            Kind::UInt(value) => Value::from(*value),
            Kind::Float(value) => Value::from(*value),
            Kind::Text(value) => Value::from(value.as_str()),
            Kind::List(items) => items.iter().map(Self::to_json).collect(),
            Kind::Map(entries) => {
                let fields = entries.iter().map(|e| (e.key.to_string(), e.value.to_json()));
                Value::Object(fields.collect::<Map<_, _>>())
            }
        }
    }

    /// A tree without places; `None` when `value` is nested deeper than
    /// [`MAX_DEPTH`].
    #[must_use]
    pub fn from_json(value: &Value) -> Option<Self> {
        Self::from_json_within(value, MAX_DEPTH)
    }

    fn from_json_within(value: &Value, depth: usize) -> Option<Self> {
        let kind = match value {
            Value::Null => Kind::Null,
            Value::Bool(value) => Kind::Bool(*value),
            Value::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(value), _) => Kind::Int(value),
                (None, Some(value)) => Kind::UInt(value),
                (None, None) => Kind::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            Value::String(text) => Kind::Text(text.as_str().into()),
            Value::Array(items) => {
                let depth = depth.checked_sub(1)?;
                let items = items.iter().map(|item| Self::from_json_within(item, depth));
                Kind::List(items.collect::<Option<_>>()?)
            }
            Value::Object(fields) => {
                let depth = depth.checked_sub(1)?;
                let entries = fields.iter().map(|(key, value)| {
                    let value = Self::from_json_within(value, depth)?;
                    Some(Entry { key: key.as_str().into(), key_span: Span::default(), value })
                });
                Kind::Map(entries.collect::<Option<_>>()?)
            }
        };
        Some(kind.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn json_there_and_back() {
        let value = json!({
            "a": [1, -2, 2.5, true, null, "x"],
            "big": u64::MAX,
            "edge": i64::MIN,
            "deep": {"empty": {}, "none": []},
        });
        let node = Node::from_json(&value).unwrap();
        assert_eq!(node.to_json(), value);
        assert_eq!(node.get("big").unwrap().kind, Kind::UInt(u64::MAX));
        assert_eq!(node.get("big").unwrap().as_i64(), None);
        assert_eq!(node.span.known(), None);
    }

    #[test]
    fn numbers_json_does_not_have_become_null() {
        assert_eq!(Node::from(Kind::Float(f64::INFINITY)).to_json(), Value::Null);
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth| (0..depth).fold(json!(1), |inner, _| json!([inner]));
        assert!(Node::from_json(&nested(MAX_DEPTH)).is_some());
        assert!(Node::from_json(&nested(MAX_DEPTH + 1)).is_none());
    }

    #[test]
    fn maps_are_looked_up_and_cut() {
        let mut node = Node::from_json(&json!({"a": 1, "b": null, "c": 3})).unwrap();
        assert!(node.get("b").unwrap().is_null());
        assert!(node.get("d").is_none());
        assert_eq!(node.without(&["a", "c"]).to_json(), json!({"b": null}));
        assert_eq!(node.remove("a").unwrap().as_i64(), Some(1));
        assert_eq!(node.remove("a"), None);
        assert_eq!(node.entries().map(|e| e.key.as_str()).collect::<Vec<_>>(), ["b", "c"]);
        assert_eq!(node.items().count(), 0);
    }

    #[test]
    fn spans_join() {
        assert_eq!(Span::new(3, 5).to(Span::new(1, 2)), Span { start: 1, end: 5 });
        assert_eq!(Span::new(7, 2), Span { start: 7, end: 7 });
        assert_eq!(Span::new(usize::MAX, usize::MAX).end, u32::MAX);
    }
}
