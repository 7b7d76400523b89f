//! Quantities in configurations, with units.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error};
use std::borrow::Cow;

/// A duration with its unit: `500ms`, `30s`, `2m`, `1.5h`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Duration {
    /// Number of milliseconds.
    pub millis: f64,
}

impl Duration {
    /// Parses a number with a unit.
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

/// A count, with `k` for thousands and `M` for millions: `500k`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Amount(pub u64);

impl Amount {
    /// Parses a number, optionally with a unit.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (number, scale) = match text.as_bytes().last()? {
            b'k' | b'K' => (text.get(..text.len() - 1)?, 1e3),
            b'm' | b'M' => (text.get(..text.len() - 1)?, 1e6),
            _ => (text, 1.0),
        };
        let number = number.trim();
        if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
            return None;
        }
        let amount = number.parse::<f64>().ok()? * scale;
        (amount.fract() == 0.0 && amount < 9.0e15).then_some(Self(amount as u64))
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Amount;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a whole number, such as 40, 500k or 5M")
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Amount, E> {
                Ok(Amount(number))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Amount, E> {
                let wrong = || E::invalid_value(serde::de::Unexpected::Signed(number), &self);
                u64::try_from(number).map(Amount).map_err(|_| wrong())
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Amount, E> {
                let wrong = || E::invalid_value(serde::de::Unexpected::Str(text), &self);
                Amount::parse(text).ok_or_else(wrong)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for Amount {
    fn schema_name() -> Cow<'static, str> {
        "Amount".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["integer", "string"],
            "minimum": 0,
            "pattern": r"^\s*[0-9.]+\s*[kKmM]?\s*$",
            "description": "A whole number, possibly with k or M: 40, 500k, 5M."
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_may_have_a_unit() {
        for (text, amount) in [
            ("40", Some(40)),
            ("500k", Some(500_000)),
            ("1.5M", Some(1_500_000)),
            ("0.5", None),
            ("-1", None),
            ("k", None),
            ("5G", None),
        ] {
            assert_eq!(Amount::parse(text).map(|amount| amount.0), amount, "{text}");
        }
    }

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
