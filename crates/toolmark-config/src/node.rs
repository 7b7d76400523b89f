//! The tree of a configuration file, with the position of every value.

use compact_str::CompactString;
use serde_json::{Map, Value};

/// Maximum nesting depth of lists and maps. Code that builds a tree enforces it, so that
/// code that walks a tree may recurse.
pub const MAX_DEPTH: usize = 64;

/// A range of bytes in the source text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, PartialOrd, Ord, Hash)]
pub struct NodeSpan {
    /// First byte.
    pub start: u32,
    /// Byte after the last one.
    pub end: u32,
}

impl NodeSpan {
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
    pub kind: NodeKind,
    /// Source position; the default span if there is no text.
    pub span: NodeSpan,
}

/// Content of a [`Node`].
#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    /// `null`, `~` or nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A whole number above [`i64::MAX`]; smaller numbers are [`NodeKind::Int`].
    UInt(u64),
    /// Any other number, including infinities and NaN.
    Float(f64),
    /// A string.
    Text(CompactString),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping, in source order. Keys are unique.
    Map(Vec<NodeEntry>),
}

/// One key of a map with its value.
#[derive(Clone, Debug)]
pub struct NodeEntry {
    /// The key; keys that are not strings are converted to text.
    pub key: CompactString,
    /// Source position of the key.
    pub key_span: NodeSpan,
    /// Value of the key.
    pub value: Node,
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

impl PartialEq for NodeEntry {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key && self.value == other.value
    }
}

impl From<NodeKind> for Node {
    /// Creates a value without a position.
    fn from(kind: NodeKind) -> Self {
        Self { kind, span: NodeSpan::default() }
    }
}

impl Node {
    /// Returns the same value at another position, for values that are read in one place and
    /// shown where they are used.
    #[must_use]
    pub fn moved(&self, span: NodeSpan) -> Self {
        let kind = match &self.kind {
            NodeKind::List(items) => {
                NodeKind::List(items.iter().map(|item| item.moved(span)).collect())
            }
            NodeKind::Map(entries) => {
                let moved = |entry: &NodeEntry| NodeEntry {
                    key: entry.key.clone(),
                    key_span: span,
                    value: entry.value.moved(span),
                };
                NodeKind::Map(entries.iter().map(moved).collect())
            }
            other => other.clone(),
        };
        Self::new(kind, span)
    }

    /// Creates a value at a position.
    #[must_use]
    pub fn new(kind: NodeKind, span: NodeSpan) -> Self {
        Self { kind, span }
    }

    /// Returns the value under `key` of a map, even if it is null.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// Returns the entry of `key` of a map, with the position of the key.
    #[must_use]
    pub fn entry(&self, key: &str) -> Option<&NodeEntry> {
        self.entries().find(|entry| entry.key == key)
    }

    /// Iterates over the entries of a map; empty for other kinds.
    pub fn entries(&self) -> std::slice::Iter<'_, NodeEntry> {
        self.as_map().unwrap_or_default().iter()
    }

    /// Iterates over the elements of a list; empty for other kinds.
    pub fn items(&self) -> std::slice::Iter<'_, Self> {
        self.as_list().unwrap_or_default().iter()
    }

    /// Whether the value is null.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self.kind, NodeKind::Null)
    }

    /// Returns the text of a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match &self.kind {
            NodeKind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the value of a boolean.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self.kind {
            NodeKind::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the value of a whole number.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match self.kind {
            NodeKind::Int(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the value of a whole number that is not negative.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        match self.kind {
            NodeKind::Int(value) => u64::try_from(value).ok(),
            NodeKind::UInt(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the value of a number.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        match self.kind {
            NodeKind::Int(value) => Some(value as f64),
            NodeKind::UInt(value) => Some(value as f64),
            NodeKind::Float(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the elements of a list.
    #[must_use]
    pub fn as_list(&self) -> Option<&[Self]> {
        match &self.kind {
            NodeKind::List(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the entries of a map.
    #[must_use]
    pub fn as_map(&self) -> Option<&[NodeEntry]> {
        match &self.kind {
            NodeKind::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// Removes `key` from a map and returns its value.
    pub fn remove(&mut self, key: &str) -> Option<Self> {
        let NodeKind::Map(entries) = &mut self.kind else { return None };
        let at = entries.iter().position(|entry| entry.key == key)?;
        Some(entries.remove(at).value)
    }

    /// Returns a copy of the map without `keys`; other kinds are copied unchanged.
    #[must_use]
    pub fn without(&self, keys: &[&str]) -> Self {
        let kind = match &self.kind {
            NodeKind::Map(entries) => NodeKind::Map(
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
            NodeKind::Null => "nothing",
            NodeKind::Bool(true) => "true",
            NodeKind::Bool(false) => "false",
            NodeKind::Int(_) | NodeKind::UInt(_) | NodeKind::Float(_) => "a number",
            NodeKind::Text(_) => "text",
            NodeKind::List(_) => "a list",
            NodeKind::Map(_) => "a map",
        }
    }

    /// Converts the value to JSON. Infinities and NaN, which JSON lacks, become
    /// null, as in `JSON.stringify`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match &self.kind {
            NodeKind::Null => Value::Null,
            NodeKind::Bool(value) => Value::from(*value),
            NodeKind::Int(value) => Value::from(*value),
            NodeKind::UInt(value) => Value::from(*value),
            NodeKind::Float(value) => Value::from(*value),
            NodeKind::Text(value) => Value::from(value.as_str()),
            NodeKind::List(items) => items.iter().map(Self::to_json).collect(),
            NodeKind::Map(entries) => {
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
            Value::Null => NodeKind::Null,
            Value::Bool(value) => NodeKind::Bool(*value),
            Value::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(value), _) => NodeKind::Int(value),
                (None, Some(value)) => NodeKind::UInt(value),
                (None, None) => NodeKind::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            Value::String(text) => NodeKind::Text(text.as_str().into()),
            Value::Array(items) => {
                let depth = depth.checked_sub(1)?;
                let items = items.iter().map(|item| Self::from_json_within(item, depth));
                NodeKind::List(items.collect::<Option<_>>()?)
            }
            Value::Object(fields) => {
                let depth = depth.checked_sub(1)?;
                let entries = fields.iter().map(|(key, value)| {
                    let value = Self::from_json_within(value, depth)?;
                    Some(NodeEntry {
                        key: key.as_str().into(),
                        key_span: NodeSpan::default(),
                        value,
                    })
                });
                NodeKind::Map(entries.collect::<Option<_>>()?)
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
        assert_eq!(node.get("big").unwrap().kind, NodeKind::UInt(u64::MAX));
        assert_eq!(node.get("big").unwrap().as_i64(), None);
        assert_eq!(node.span.known(), None);
    }

    #[test]
    fn numbers_json_does_not_have_become_null() {
        assert_eq!(Node::from(NodeKind::Float(f64::INFINITY)).to_json(), Value::Null);
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
        assert_eq!(NodeSpan::new(3, 5).to(NodeSpan::new(1, 2)), NodeSpan { start: 1, end: 5 });
        assert_eq!(NodeSpan::new(7, 2), NodeSpan { start: 7, end: 7 });
        assert_eq!(NodeSpan::new(usize::MAX, usize::MAX).end, u32::MAX);
    }
}
