//! Names of an argument across the versions of a tool.

use super::{ToolsetList, ToolsetName};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;

/// Names of one argument, written as a single name or a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArgumentKeys(pub(crate) ToolsetList<ToolsetName>);

impl ArgumentKeys {
    /// Returns the value of the first of these names in the arguments.
    #[must_use]
    pub fn get<'v>(&self, args: &'v Value) -> Option<&'v Value> {
        self.0.iter().find_map(|key| argument(args, key))
    }

    /// Returns all of these values that are text.
    pub fn texts<'v>(&self, args: &'v Value) -> impl Iterator<Item = &'v str> {
        self.0.iter().filter_map(|key| argument(args, key)?.as_str())
    }

    /// Returns the first value if it is text.
    #[must_use]
    pub fn text<'v>(&self, args: &'v Value) -> Option<&'v str> {
        self.get(args)?.as_str()
    }

    /// Returns the first value if it is a whole number.
    #[must_use]
    pub fn number(&self, args: &Value) -> Option<i64> {
        self.get(args)?.as_i64()
    }

    /// Whether the tool has no such argument.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the names, the usual one first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|name| &**name)
    }

    /// Whether this is one of the names.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.0.iter().any(|known| known == name)
    }
}

/// Returns the argument with a name. Calls have few arguments, so comparing names is faster
/// than hashing.
fn argument<'v>(args: &'v Value, name: &str) -> Option<&'v Value> {
    const FEW: usize = 12;
    match args {
        Value::Object(all) if all.len() <= FEW => {
            all.iter().find(|(key, _)| *key == name).map(|(_, value)| value)
        }
        _ => args.get(name),
    }
}

impl JsonSchema for ArgumentKeys {
    fn schema_name() -> Cow<'static, str> {
        "ArgumentNames".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["string", "array"], "items": {"type": "string"}})
    }
}

impl<'de> Deserialize<'de> for ArgumentKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMore;

        impl<'de> Visitor<'de> for OneOrMore {
            type Value = ArgumentKeys;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of an argument, or a list of names")
            }

            fn visit_str<E>(self, name: &str) -> Result<ArgumentKeys, E> {
                Ok(ArgumentKeys(vec![name.to_owned().into()].into()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<ArgumentKeys, A::Error> {
                let mut names = Vec::new();
                while let Some(name) = list.next_element()? {
                    names.push(name);
                }
                Ok(ArgumentKeys(Cow::Owned(names)))
            }
        }

        deserializer.deserialize_any(OneOrMore)
    }
}
