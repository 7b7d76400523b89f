//! JSON Schema of a tool, as text.

use super::ToolsetName;
use serde::Deserialize;
use serde::de::Deserializer;
use serde_json::Value;

/// A JSON Schema. It is parsed only to validate arguments, which a hook never does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSchema(pub(crate) ToolsetName);

impl ToolSchema {
    /// Parses the schema into a value.
    #[must_use]
    pub fn parse(&self) -> Value {
        serde_json::from_str(&self.0).unwrap_or_default()
    }
}

impl<'de> Deserialize<'de> for ToolSchema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Value::deserialize(deserializer)?.to_string().into()))
    }
}
