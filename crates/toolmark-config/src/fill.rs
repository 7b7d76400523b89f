//! Substitutes for values that are missing or wrong. With a substitute, reading continues
//! with the surrounding values and finds the other mistakes; the result is discarded.

use super::fault::{AttemptFault, NodeId};
use super::spanned::{NODE, SPANNED, SpanSeq, hand_over};
use super::{Node, NodeKind, NodeSpan};
use serde::de::value::{MapDeserializer, SeqDeserializer, StrDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IntoDeserializer, VariantAccess, Visitor,
};

/// Deserializer that gives every type a value that most types accept: not zero, not empty text.
#[derive(Clone, Copy)]
pub(super) struct Filler {
    /// The node that is replaced, or the map in which the value is missing.
    pub(super) of: NodeId,
}

macro_rules! harmless {
    ($($method:ident $visit:ident $value:expr,)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, AttemptFault> {
            visitor.$visit($value).map_err(|fault: AttemptFault| fault.echo(self.of))
        }
    )*};
}

impl<'de> Deserializer<'de> for Filler {
    type Error = AttemptFault;

    harmless! {
        deserialize_any visit_str "x",
        deserialize_bool visit_bool false,
        deserialize_i8 visit_i64 1,
        deserialize_i16 visit_i64 1,
        deserialize_i32 visit_i64 1,
        deserialize_i64 visit_i64 1,
        deserialize_u8 visit_u64 1,
        deserialize_u16 visit_u64 1,
        deserialize_u32 visit_u64 1,
        deserialize_u64 visit_u64 1,
        deserialize_f32 visit_f64 1.0,
        deserialize_f64 visit_f64 1.0,
        deserialize_char visit_char 'x',
        deserialize_str visit_str "x",
        deserialize_string visit_str "x",
        deserialize_identifier visit_str "x",
        deserialize_bytes visit_bytes b"x",
        deserialize_byte_buf visit_bytes b"x",
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, AttemptFault> {
        visitor.visit_none()
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, AttemptFault> {
        visitor.visit_unit()
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(
        self,
        visitor: V,
    ) -> Result<V::Value, AttemptFault> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, AttemptFault> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, AttemptFault> {
        let read = match name {
            SPANNED => visitor.visit_seq(SpanSeq::new(NodeSpan::default(), self)),
            NODE => hand_over(&Node::from(NodeKind::Text("x".into())), visitor),
            _ => visitor.visit_newtype_struct(self),
        };
        read.map_err(|fault| fault.echo(self.of))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, AttemptFault> {
        self.deserialize_tuple(0, visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, AttemptFault> {
        let items = std::iter::repeat_n(self, length);
        visitor
            .visit_seq(SeqDeserializer::new(items))
            .map_err(|fault: AttemptFault| fault.echo(self.of))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, AttemptFault> {
        self.deserialize_tuple(length, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, AttemptFault> {
        let nothing = std::iter::empty::<(&str, Self)>();
        visitor
            .visit_map(MapDeserializer::new(nothing))
            .map_err(|fault: AttemptFault| fault.echo(self.of))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, AttemptFault> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, AttemptFault> {
        let read = match variants.first() {
            Some(name) => visitor.visit_enum(FirstVariant { name, filler: self }),
            None => Err(AttemptFault::custom("an enum without variants")),
        };
        read.map_err(|fault| fault.echo(self.of))
    }
}

impl<'de> IntoDeserializer<'de, AttemptFault> for Filler {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

struct FirstVariant {
    name: &'static str,
    filler: Filler,
}

impl<'de> EnumAccess<'de> for FirstVariant {
    type Error = AttemptFault;
    type Variant = Filler;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Filler), AttemptFault> {
        let name: StrDeserializer<'_, AttemptFault> = self.name.into_deserializer();
        Ok((seed.deserialize(name)?, self.filler))
    }
}

impl<'de> VariantAccess<'de> for Filler {
    type Error = AttemptFault;

    fn unit_variant(self) -> Result<(), AttemptFault> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<T::Value, AttemptFault> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, AttemptFault> {
        self.deserialize_tuple(length, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, AttemptFault> {
        self.deserialize_map(visitor)
    }
}
