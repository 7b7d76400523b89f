//! The tree of a configuration file, with the position of every value.

use compact_str::CompactString;
use serde_json::{Map, Value};

/// Maximum nesting depth of lists and maps. Code that builds a tree enforces it, so that
/// code that walks a tree may recurse.
pub const MAX_DEPTH: usize = 64;

/// A range of bytes in the source text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// Byte after the last one.
    pub end: u32,
}

impl Span {
    /// Creates the span from `start` to before `end`; positions beyond the supported maximum
    /// are clamped to it.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Self {
        let cut = |at| u32::try_from(at).unwrap_or(u32::MAX);
        Self { start: cut(start), end: cut(end.max(start)) }
    }

    /// Returns the smallest span that contains both spans.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Returns `None` for the default span, which is used for values without source text.
    #[must_use]
    pub fn known(self) -> Option<Self> {
        (self != Self::default()).then_some(self)
    }
}

/// One value with its source position.
///
/// Two nodes are equal if their values are equal, regardless of position.
#[derive(Clone, Debug)]
pub struct Node {
    /// The value.
    pub kind: Kind,
    /// Source position; the default span if there is no text.
    pub span: Span,
}

/// Content of a [`Node`].
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// `null`, `~` or nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A whole number above [`i64::MAX`]; smaller numbers are [`Kind::Int`].
    UInt(u64),
    /// Any other number, including infinities and NaN.
    Float(f64),
    /// A string.
    Text(CompactString),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping, in source order. Keys are unique.
    Map(Vec<Entry>),
}

/// One key of a map with its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key; keys that are not strings are converted to text.
    pub key: CompactString,
    /// Source position of the key.
    pub key_span: Span,
    /// Value of the key.
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
    /// Creates a value without a position.
    fn from(kind: Kind) -> Self {
        Self { kind, span: Span::default() }
    }
}

impl Node {
    /// Returns the same value at another position, for values that are read in one place and
    /// shown where they are used.
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

    /// Creates a value at a position.
    #[must_use]
    pub fn new(kind: Kind, span: Span) -> Self {
        Self { kind, span }
    }

    /// Returns the value under `key` of a map, even if it is null.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// Returns the entry of `key` of a map, with the position of the key.
    #[must_use]
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().find(|entry| entry.key == key)
    }

    /// Iterates over the entries of a map; empty for other kinds.
    pub fn entries(&self) -> std::slice::Iter<'_, Entry> {
        self.as_map().unwrap_or_default().iter()
    }

    /// Iterates over the elements of a list; empty for other kinds.
    pub fn items(&self) -> std::slice::Iter<'_, Self> {
        self.as_list().unwrap_or_default().iter()
    }

    /// Whether the value is null.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self.kind, Kind::Null)
    }

    /// Returns the text of a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the value of a boolean.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self.kind {
            Kind::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the value of a whole number.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match self.kind {
            Kind::Int(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the value of a whole number that is not negative.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        match self.kind {
            Kind::Int(value) => u64::try_from(value).ok(),
            Kind::UInt(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the value of a number.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        match self.kind {
            Kind::Int(value) => Some(value as f64),
            Kind::UInt(value) => Some(value as f64),
            Kind::Float(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the elements of a list.
    #[must_use]
    pub fn as_list(&self) -> Option<&[Self]> {
        match &self.kind {
            Kind::List(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the entries of a map.
    #[must_use]
    pub fn as_map(&self) -> Option<&[Entry]> {
        match &self.kind {
            Kind::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// Removes `key` from a map and returns its value.
    pub fn remove(&mut self, key: &str) -> Option<Self> {
        let Kind::Map(entries) = &mut self.kind else { return None };
        let at = entries.iter().position(|entry| entry.key == key)?;
        Some(entries.remove(at).value)
    }

    /// Returns a copy of the map without `keys`; other kinds are copied unchanged.
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

    /// Returns the name of the value's kind, in words that fit after "found".
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

    /// Converts the value to JSON. Infinities and NaN, which JSON lacks, become
    /// null, as in `JSON.stringify`.
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

    /// Creates a tree without positions; `None` if `value` is nested deeper than
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
