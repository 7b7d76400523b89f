//! Values that keep their source position through serde.
//!
//! Serde has no concept of positions. [`Spanned`] and [`Node`] request a newtype
//! with a name that only this crate's deserializer recognizes; the deserializer returns the
//! position and the value, or the tree itself. Every other deserializer sees a plain newtype,
//! and the position stays unknown.

use super::{Node, NodeSpan};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IntoDeserializer, SeqAccess, Visitor,
};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

/// Newtype name with which a type requests its position.
pub(super) const SPANNED: &str = "$toolmark::Spanned";

/// Newtype name with which a type requests the tree itself.
pub(super) const NODE: &str = "$toolmark::Node";

thread_local! {
    /// The tree on its way from the deserializer, which announces it as a unit, to the type that
    /// requested it: serde passes on only the types of its data model.
    static HANDED: RefCell<Option<Node>> = const { RefCell::new(None) };
}

/// Passes the tree itself to a type that requested it.
pub(super) fn hand_over<'de, V: Visitor<'de>, E: Error>(
    node: &Node,
    visitor: V,
) -> Result<V::Value, E> {
    HANDED.set(Some(node.clone()));
    visitor.visit_unit()
}

/// A value of a configuration with its position, for errors found after reading.
///
/// Equality compares the value only.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Source position; the default span if it is unknown.
    pub span: NodeSpan,
}

impl<T> Deref for Spanned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> From<T> for Spanned<T> {
    fn from(value: T) -> Self {
        Self { value, span: NodeSpan::default() }
    }
}

impl<T: PartialEq> PartialEq for Spanned<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Serialize> Serialize for Spanned<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

impl<T: JsonSchema> JsonSchema for Spanned<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

impl JsonSchema for Node {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "AnyValue".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        true.into()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Spanned<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(SPANNED, SpannedVisitor(PhantomData))
    }
}

struct SpannedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for SpannedVisitor<T> {
    type Value = Spanned<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<Self::Value, D::Error> {
        T::deserialize(inner).map(Spanned::from)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let span = read_span(&mut seq)?;
        let value = seq.next_element()?.ok_or_else(|| A::Error::invalid_length(2, &self))?;
        Ok(Spanned { value, span })
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(NODE, NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<Node, D::Error> {
        let value = serde_json::Value::deserialize(inner)?;
        Node::from_json(&value).ok_or_else(|| D::Error::custom("nested too deeply"))
    }

    fn visit_unit<E: Error>(self) -> Result<Node, E> {
        HANDED.take().ok_or_else(|| E::custom("a value was announced and not handed over"))
    }
}

fn read_span<'de, A: SeqAccess<'de>>(seq: &mut A) -> Result<NodeSpan, A::Error> {
    let mut next = || Ok(seq.next_element::<u32>()?.unwrap_or_default());
    Ok(NodeSpan { start: next()?, end: next()? })
}

/// The sequence returned for [`SPANNED`]: start, end, value.
pub(super) struct SpanSeq<D> {
    span: NodeSpan,
    step: u8,
    value: Option<D>,
}

impl<D> SpanSeq<D> {
    pub(super) fn new(span: NodeSpan, value: D) -> Self {
        Self { span, step: 0, value: Some(value) }
    }
}

impl<'de, D: Deserializer<'de>> SeqAccess<'de> for SpanSeq<D> {
    type Error = D::Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, D::Error> {
        self.step = self.step.saturating_add(1);
        match self.step {
            1 => seed.deserialize(self.span.start.into_deserializer()).map(Some),
            2 => seed.deserialize(self.span.end.into_deserializer()).map(Some),
            _ => self.value.take().map(|value| seed.deserialize(value)).transpose(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NodeKind, read};
    use serde_json::json;

    #[derive(serde::Deserialize, JsonSchema, Debug)]
    struct SpannedConfig {
        max: Spanned<u32>,
        rest: Node,
        names: Vec<Spanned<String>>,
        maybe: Option<Spanned<bool>>,
    }

    fn placed() -> Node {
        let mut next = 0;
        let mut node = Node::from_json(&json!({
            "max": 3, "rest": {"a": [1, 2.5, null, "x", true, u64::MAX]}, "names": ["p", "q"]
        }))
        .unwrap();
        place(&mut node, &mut next);
        node
    }

    fn place(node: &mut Node, next: &mut u32) {
        node.span = another(next);
        match &mut node.kind {
            NodeKind::List(items) => items.iter_mut().for_each(|item| place(item, next)),
            NodeKind::Map(entries) => {
                for entry in entries {
                    entry.key_span = another(next);
                    place(&mut entry.value, next);
                }
            }
            _ => {}
        }
    }

    fn another(next: &mut u32) -> NodeSpan {
        *next += 10;
        NodeSpan { start: *next, end: *next + 3 }
    }

    #[test]
    fn places_survive_our_reader() {
        let node = placed();
        let mut problems = Vec::new();
        let config: SpannedConfig = read(&node, &mut problems).unwrap();
        assert!(problems.is_empty());
        assert_eq!((*config.max, config.max.span), (3, node.get("max").unwrap().span));
        assert_eq!(config.names[1].span, node.get("names").unwrap().as_list().unwrap()[1].span);
        assert!(config.maybe.is_none());
        assert_eq!(format!("{:?}", config.rest), format!("{:?}", node.get("rest").unwrap()));
    }

    #[test]
    fn other_deserializers_see_plain_values() {
        let config: SpannedConfig = serde_json::from_value(placed().to_json()).unwrap();
        assert_eq!((*config.max, config.max.span.known()), (3, None));
        assert_eq!(&config.rest, placed().get("rest").unwrap());
        assert_eq!(config.names, ["p".to_owned().into(), "q".to_owned().into()]);
        let deep = (0..80).fold(json!(1), |inner, _| json!([inner]));
        assert!(serde_json::from_value::<Node>(deep).is_err());
    }

    #[test]
    fn the_schema_is_that_of_the_value() {
        let schema = schemars::schema_for!(SpannedConfig).to_value();
        let max = schemars::schema_for!(u32).to_value();
        assert_eq!(schema["properties"]["max"]["type"], max["type"]);
        assert_eq!(schema["properties"]["rest"], json!(true));
        assert_eq!(serde_json::to_value(Spanned::from(3)).unwrap(), json!(3));
    }
}
