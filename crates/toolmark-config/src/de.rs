//! Serde deserializer for a [`Node`]. Strict: values are not converted between kinds, except
//! whole numbers to floats and floats without a fraction to whole numbers.

use super::fault::{AttemptFault, ConfigFaultKind, id, one_of};
use super::fill::Filler;
use super::read::{ReadContext, Remedy};
use super::spanned::{NODE, SPANNED, SpanSeq, hand_over};
use super::words::{plain, quoted};
use super::{Node, NodeEntry, NodeKind, NodeSpan};
use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, Expected, IntoDeserializer, MapAccess,
    SeqAccess, VariantAccess, Visitor,
};

/// Deserializer of one node.
#[derive(Clone, Copy)]
pub(super) struct De<'n> {
    node: &'n Node,
    context: &'n ReadContext,
    /// The map entry that holds this value, for a map whose allowed keys were not declared.
    unannounced: Option<&'n NodeEntry>,
}

/// Largest float up to which every whole number is exact.
const EXACT: f64 = 9_007_199_254_740_992.0;

impl<'n> De<'n> {
    pub(super) fn root(node: &'n Node, context: &'n ReadContext) -> Self {
        Self { node, context, unannounced: None }
    }

    fn wrong(self, expected: &dyn Expected) -> AttemptFault {
        self.not(plain(&expected.to_string()))
    }

    fn not(self, expected: String) -> AttemptFault {
        AttemptFault::from(ConfigFaultKind::Type { expected, found: self.node.word().to_owned() })
            .at(self.node)
    }

    fn entries<'de, V: Visitor<'de>>(
        self,
        entries: &'n [NodeEntry],
        announced: AllowedKeys,
        visitor: V,
    ) -> Result<V::Value, AttemptFault> {
        let map = MapWalk {
            of: self,
            rest: entries.iter(),
            announced,
            missing: 0,
            current: Current::Nothing,
        };
        visitor.visit_map(map).map_err(|fault| fault.at(self.node))
    }

    fn whole<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, AttemptFault> {
        match self.node.kind {
            NodeKind::Float(value) if value.fract() == 0.0 && value.abs() <= EXACT => {
                self.context.visited();
                visitor.visit_i64(value as i64).map_err(|fault: AttemptFault| fault.at(self.node))
            }
            _ => self.deserialize_any(visitor),
        }
    }
}

macro_rules! whole {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, AttemptFault> {
            self.whole(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for De<'_> {
    type Error = AttemptFault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, AttemptFault> {
        self.context.visited();
        let read = match &self.node.kind {
            NodeKind::Null => visitor.visit_unit(),
            NodeKind::Bool(value) => visitor.visit_bool(*value),
            NodeKind::Int(value) => visitor.visit_i64(*value),
            NodeKind::UInt(value) => visitor.visit_u64(*value),
            NodeKind::Float(value) => visitor.visit_f64(*value),
            NodeKind::Text(text) => visitor.visit_str(text),
            NodeKind::List(items) => {
                visitor.visit_seq(ListWalk { rest: items.iter(), context: self.context })
            }
            NodeKind::Map(entries) => return self.entries(entries, AllowedKeys::Nobody, visitor),
        };
        read.map_err(|fault| fault.at(self.node))
    }

    whole! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, AttemptFault> {
        if self.node.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, AttemptFault> {
        let read = match name {
            SPANNED => visitor.visit_seq(SpanSeq::new(self.node.span, self)),
            NODE => hand_over(self.node, visitor),
            _ => visitor.visit_newtype_struct(self),
        };
        read.map_err(|fault| fault.at(self.node))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, AttemptFault> {
        match &self.node.kind {
            NodeKind::Map(entries) => self.entries(entries, AllowedKeys::Any, visitor),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, AttemptFault> {
        match &self.node.kind {
            NodeKind::Map(entries) => self.entries(entries, AllowedKeys::Only(fields), visitor),
            // Derived visitors would take the elements of a list for the fields in order. Nothing
            // else is passed on either: it would be compiled for every struct.
            _ => {
                self.context.visited();
                Err(self.wrong(&visitor))
            }
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, AttemptFault> {
        self.context.visited();
        let read = match &self.node.kind {
            NodeKind::Text(name) => visitor.visit_enum(Variant { of: self, name, content: None }),
            NodeKind::Map(entries) => match entries.as_slice() {
                [entry] => {
                    let content = Some(entry);
                    visitor.visit_enum(Variant { of: self, name: &entry.key, content })
                }
                _ => {
                    let expected = format!("one key, {}", one_of(variants));
                    let found = format!("{} keys", entries.len());
                    Err(ConfigFaultKind::Type { expected, found }.into())
                }
            },
            _ => Err(self.not(one_of(variants))),
        };
        read.map_err(|fault| fault.at(self.node))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(
        self,
        visitor: V,
    ) -> Result<V::Value, AttemptFault> {
        if let Some(entry) = self.unannounced {
            self.context.unknown_key(entry, &[]);
        }
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        bool f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct
        identifier
    }
}

struct ListWalk<'n> {
    rest: std::slice::Iter<'n, Node>,
    context: &'n ReadContext,
}

impl<'de> SeqAccess<'de> for ListWalk<'_> {
    type Error = AttemptFault;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, AttemptFault> {
        // An element that was to blame is left out: lists seldom mind.
        let context = self.context;
        let Some(node) = self.rest.find(|node| context.remedy(node).is_none()) else {
            return Ok(None);
        };
        // Types that judge a value after reading it fail outside of the reader.
        seed.deserialize(De::root(node, context)).map(Some).map_err(|fault| fault.at(node))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

/// Keys that a map may have.
#[derive(Clone, Copy)]
enum AllowedKeys {
    /// Structs accept only these keys.
    Only(&'static [&'static str]),
    /// Maps accept any key.
    Any,
    /// Not declared: the type checks keys as it reads them.
    Nobody,
}

struct MapWalk<'n> {
    of: De<'n>,
    rest: std::slice::Iter<'n, NodeEntry>,
    announced: AllowedKeys,
    /// Number of missing keys that have been given substitutes so far.
    missing: usize,
    current: Current<'n>,
}

/// Entry of the key read last.
enum Current<'n> {
    Nothing,
    Entry(&'n NodeEntry),
    Missing,
}

/// The next key to read.
enum ConfigKey<'n> {
    Of(&'n NodeEntry),
    Missing(&'static str),
}

impl<'n> MapWalk<'n> {
    /// Returns the next key that is present or has a substitute. Not generic, because it would be
    /// compiled for every type.
    fn next_key(&mut self) -> Option<ConfigKey<'n>> {
        let context = self.of.context;
        for entry in self.rest.by_ref() {
            if context.remedy(&entry.value) == Some(Remedy::LeftOut) {
                continue;
            }
            if let AllowedKeys::Only(fields) = self.announced
                && !fields.contains(&entry.key.as_str())
            {
                context.unknown_key(entry, fields);
                continue;
            }
            self.current = Current::Entry(entry);
            return Some(ConfigKey::Of(entry));
        }
        let name = context.missing(self.of.node, self.missing)?;
        self.missing += 1;
        self.current = Current::Missing;
        Some(ConfigKey::Missing(name))
    }
}

impl<'de> MapAccess<'de> for MapWalk<'_> {
    type Error = AttemptFault;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, AttemptFault> {
        match self.next_key() {
            None => Ok(None),
            Some(ConfigKey::Of(entry)) => seed
                .deserialize(ConfigName { text: &entry.key, span: entry.key_span })
                .map(Some)
                .map_err(|fault| fault.at_key(entry)),
            Some(ConfigKey::Missing(name)) => seed
                .deserialize(name.into_deserializer())
                .map(Some)
                .map_err(|fault: AttemptFault| fault.echo(id(self.of.node))),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, AttemptFault> {
        let context = self.of.context;
        match std::mem::replace(&mut self.current, Current::Nothing) {
            Current::Entry(NodeEntry { value, .. }) if context.remedy(value).is_some() => {
                seed.deserialize(Filler { of: id(value) }).map_err(|fault| fault.echo(id(value)))
            }
            Current::Entry(entry) => {
                let unannounced = matches!(self.announced, AllowedKeys::Nobody).then_some(entry);
                seed.deserialize(De { node: &entry.value, context, unannounced })
                    .map_err(|fault| fault.at(&entry.value))
            }
            Current::Missing => {
                let of = id(self.of.node);
                seed.deserialize(Filler { of }).map_err(|fault| fault.echo(of))
            }
            Current::Nothing => Err(AttemptFault::custom("a value was asked for before its key")),
        }
    }
}

/// A key or the name of a variant.
#[derive(Clone, Copy)]
struct ConfigName<'n> {
    text: &'n str,
    span: NodeSpan,
}

impl<'n> ConfigName<'n> {
    fn text(self) -> StrDeserializer<'n, AttemptFault> {
        self.text.into_deserializer()
    }
}

impl<'de> Deserializer<'de> for ConfigName<'_> {
    type Error = AttemptFault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, AttemptFault> {
        visitor.visit_str(self.text)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, AttemptFault> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, AttemptFault> {
        match name {
            SPANNED => visitor.visit_seq(SpanSeq::new(self.span, self)),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, AttemptFault> {
        self.text().deserialize_enum(name, variants, visitor)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// An enum variant: its name, or a map from its name to its content.
struct Variant<'n> {
    of: De<'n>,
    name: &'n str,
    content: Option<&'n NodeEntry>,
}

impl<'n, 'de> EnumAccess<'de> for Variant<'n> {
    type Error = AttemptFault;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Self), AttemptFault> {
        let span = self.content.map_or(self.of.node.span, |entry| entry.key_span);
        let read = seed.deserialize(ConfigName { text: self.name, span });
        let variant = read.map_err(|fault| match self.content {
            Some(entry) => fault.at_key(entry),
            None => fault,
        })?;
        Ok((variant, self))
    }
}

impl<'n> Variant<'n> {
    /// Returns the content of the variant; a variant without content is an error.
    fn content(&self) -> Result<De<'n>, AttemptFault> {
        let needs = || AttemptFault::custom(format!("{} needs a value", quoted(self.name)));
        let entry = self.content.ok_or_else(needs)?;
        Ok(De::root(&entry.value, self.of.context))
    }

    /// Returns the substitute for the content if the content was at fault.
    fn stand_in(&self) -> Option<Filler> {
        let value = &self.content?.value;
        self.of.context.remedy(value).map(|_| Filler { of: id(value) })
    }
}

impl<'de> VariantAccess<'de> for Variant<'_> {
    type Error = AttemptFault;

    fn unit_variant(self) -> Result<(), AttemptFault> {
        match self.content {
            Some(entry) if !entry.value.is_null() && self.stand_in().is_none() => {
                Err(AttemptFault::custom(format!("{} takes no value", quoted(self.name)))
                    .at(&entry.value))
            }
            _ => Ok(()),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<T::Value, AttemptFault> {
        if let Some(filler) = self.stand_in() {
            return seed.deserialize(filler).map_err(|fault| fault.echo(filler.of));
        }
        let content = self.content()?;
        seed.deserialize(content).map_err(|fault| fault.at(content.node))
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, AttemptFault> {
        match self.stand_in() {
            Some(filler) => filler.deserialize_tuple(length, visitor),
            None => self.content()?.deserialize_seq(visitor),
        }
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, AttemptFault> {
        match self.stand_in() {
            Some(filler) => filler.deserialize_map(visitor),
            None => self.content()?.deserialize_struct("", fields, visitor),
        }
    }
}
