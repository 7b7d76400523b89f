//! Quantities as people write them in configurations.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error};
use std::borrow::Cow;

/// A duration with its unit: `500ms`, `30s`, `2m`, `1.5h`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Duration {
    /// In milliseconds.
    pub millis: f64,
}

impl Duration {
    /// Reads a number with a unit.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let unit_at = text.find(|c: char| c.is_ascii_alphabetic())?;
        let (number, unit) = text.split_at(unit_at);
        let scale = match unit {
            "ms" => 1.0,
            "s" => 1000.0,
            "m" => 60_000.0,
            "h" => 3_600_000.0,
            _ => return None,
        };
        let number = number.trim();
        if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
            return None;
        }
        let millis = number.parse::<f64>().ok()? * scale;
        millis.is_finite().then_some(Self { millis })
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            D::Error::custom(format!(
                "\"{text}\" is not a duration: a number and a unit (ms, s, m, h), such as \"30s\""
            ))
        })
    }
}

impl JsonSchema for Duration {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": r"^\s*[0-9.]+\s*(ms|s|m|h)\s*$",
            "description": "A number and a unit: 500ms, 30s, 2m, 1h."
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_need_a_unit() {
        for (text, millis) in [
            ("30s", Some(30_000.0)),
            ("2m", Some(120_000.0)),
            ("1.5h", Some(5_400_000.0)),
            ("500 ms", Some(500.0)),
            ("30", None),
            ("s", None),
            ("-1s", None),
            ("1 day", None),
            ("1e3s", None),
        ] {
            assert_eq!(Duration::parse(text).map(|d| d.millis), millis, "{text}");
        }
    }
}
