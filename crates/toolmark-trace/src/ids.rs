//! Tables keyed by the IDs of calls and responses in a trace.

use crate::model::Text;
use std::borrow::{Borrow, Cow};
use std::collections::HashMap;
use std::hash::{Hash, Hasher};

/// A table by ID. IDs are looked up for every call of a trace, so they use a fast hash, and
/// the text of an ID is not copied.
pub(crate) type ById<T> = HashMap<TraceId, T, foldhash::quality::RandomState>;

/// An ID in a trace, without escapes.
#[derive(Debug)]
pub(crate) struct TraceId(Text);

impl TraceId {
    pub(crate) fn of(id: &Text) -> Self {
        match id.get() {
            Cow::Borrowed(_) => Self(id.clone()),
            Cow::Owned(decoded) => Self(Text::owned(decoded)),
        }
    }
}

impl Borrow<str> for TraceId {
    fn borrow(&self) -> &str {
        self.0.raw()
    }
}

impl Hash for TraceId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.raw().hash(state);
    }
}

impl PartialEq for TraceId {
    fn eq(&self, other: &Self) -> bool {
        self.0.raw() == other.0.raw()
    }
}

impl Eq for TraceId {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Block;
    use toolmark_scan::Shared;

    #[test]
    #[allow(clippy::mutable_key_type, reason = "the text of a block never changes")]
    fn ids_are_found_however_they_are_written() {
        let raw = r"caf\u00e9 x\ty";
        let block = Shared::new(Block::new(raw.into(), 0, 1, 0, "f".into()));
        let mut table: ById<u32> = ById::default();
        table.insert(TraceId::of(&Text::escaped(&block, 0, raw.len())), 1);
        table.insert(TraceId::of(&Text::owned("plain")), 2);
        assert_eq!(table.get("caf\u{e9} x\ty"), Some(&1));
        assert_eq!(table.get("plain"), Some(&2));
        assert_eq!(table.get(raw), None);
        assert!(table.contains_key(&TraceId::of(&Text::owned("caf\u{e9} x\ty"))));
    }
}
