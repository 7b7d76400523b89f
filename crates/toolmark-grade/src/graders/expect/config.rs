//! Configuration of `expect`.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use toolmark_config::{Node, Spanned};
use toolmark_match::call_match::config::{
    CallConfig, Described, DurationFields, Name, ResultConfig, StatusConfig, name_of,
};
use toolmark_match::call_match::{Agents, ArgsMatch, Conditions, Parallel};

/// Expected calls. At least one key is required, and all given conditions
/// must hold.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ExpectConfig {
    /// Calls in this order; other calls may come in between.
    #[serde(default)]
    pub(super) sequence: Option<Spanned<Vec<Spanned<ElementConfig>>>>,
    /// Calls in any order; each needs a separate call.
    #[serde(default)]
    pub(super) calls: Option<Spanned<Vec<Spanned<WantConfig>>>>,
    /// Whether no calls are allowed.
    #[serde(default)]
    pub(super) none: Option<Spanned<bool>>,
    /// The only tools that may be called.
    #[serde(default)]
    pub(super) only: Option<Spanned<Vec<Spanned<Name>>>>,
    /// Whether calls that match neither `sequence` nor `calls` are allowed.
    #[serde(default)]
    pub(super) extras: Option<Spanned<ExtrasWord>>,
    /// Calls that must not be made, regardless of their result.
    #[serde(default)]
    pub(super) forbidden: Option<Spanned<Vec<Spanned<CallConfig>>>>,
    /// Calls that must not follow one another: lists of calls, or
    /// `{calls: […], contiguous: true}`.
    #[serde(default)]
    pub(super) forbidden_sequences: Option<Spanned<Vec<Spanned<ForbiddenConfig>>>>,
    /// Calls that must not be made before another call is done.
    #[serde(default)]
    pub(super) never: Option<Spanned<Vec<Spanned<NeverConfig>>>>,
    /// Whether calls of one model response have an order.
    #[serde(default)]
    pub(super) parallel: Parallel,
    /// Whether failed, denied, interrupted and unanswered calls count as done.
    #[serde(default)]
    pub(super) failed_calls: FailedCalls,
    /// Agents whose calls are checked.
    #[serde(default)]
    pub(super) agents: Agents,
}

/// Whether unexpected calls are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ExtrasWord {
    /// Unexpected calls are allowed, and are reported.
    Allow,
    /// Unexpected calls are forbidden.
    Forbid,
}

/// Whether calls that did not succeed count as done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum FailedCalls {
    /// Such calls do not count, unless an expectation has a `status`.
    #[default]
    Skip,
    /// Such calls count.
    Count,
}

/// Bounds of a count.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
pub(super) struct CountFields {
    /// Minimum; 1 by default, 0 if only `max` is given.
    #[serde(default)]
    pub(super) min: Option<usize>,
    /// Maximum: all matching calls are counted.
    #[serde(default)]
    pub(super) max: Option<usize>,
}

/// Count: a number, or `{min, max}`.
#[derive(Debug, Clone, Copy)]
pub(super) enum CountConfig {
    /// Number of separate calls; further calls are extra.
    Times(usize),
    /// Minimum and maximum.
    Range(CountFields),
}

impl<'de> Deserialize<'de> for CountConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = CountConfig;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number or a map with min and max")
            }
            fn visit_u64<E: Error>(self, count: u64) -> Result<CountConfig, E> {
                let count =
                    usize::try_from(count).map_err(|_| E::custom("the count is too large"))?;
                Ok(CountConfig::Times(count))
            }
            fn visit_i64<E: Error>(self, count: i64) -> Result<CountConfig, E> {
                let count =
                    u64::try_from(count).map_err(|_| E::custom("a count is not below 0"))?;
                self.visit_u64(count)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<CountConfig, A::Error> {
                CountFields::deserialize(MapAccessDeserializer::new(map)).map(CountConfig::Range)
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl JsonSchema for CountConfig {
    fn schema_name() -> Cow<'static, str> {
        "Count".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A number of different calls, or the least and the most.",
            "anyOf": [
                { "type": "integer", "minimum": 1 },
                generator.subschema_for::<CountFields>(),
            ]
        })
    }
}

toolmark_match::call_fields! {
    /// A call expected in any order.
    pub(super) WantFields {
        tool: Spanned<Name>,
        /// Count: a number of separate calls, or `{min, max}`.
        #[serde(default)]
        count: Option<Spanned<CountConfig>>,
    }
}

toolmark_match::call_fields! {
    /// A call inside a group.
    pub(super) GroupFields {
        tool: Spanned<Name>,
        /// Count: a number of separate calls, or `{min}`.
        #[serde(default)]
        count: Option<Spanned<CountConfig>>,
        /// Whether the call may be missing.
        #[serde(default)]
        optional: bool,
    }
}

toolmark_match::call_fields! {
    /// A part of a sequence: a call (`tool`), a group (`any_order`) or
    /// alternatives (`one_of`).
    pub(super) ElementFields {
        tool: Option<Spanned<Name>>,
        /// Count: a number of separate calls, or `{min}`.
        #[serde(default)]
        count: Option<Spanned<CountConfig>>,
        /// Whether the part may be missing.
        #[serde(default)]
        optional: bool,
        /// Calls that must all be made, in any order.
        #[serde(default)]
        any_order: Option<Spanned<Vec<Spanned<GroupConfig>>>>,
        /// Alternatives, one of which must match: each a call, or a list of parts.
        #[serde(default)]
        one_of: Option<Spanned<Vec<Spanned<BranchConfig>>>>,
    }
}

toolmark_match::text_or_map!(
    /// A call expected in any order: the name of a tool, or a map.
    pub(super) WantConfig, "ExpectedCall", WantFields,
    text => WantFields::named(name_of(text).into()),
    "the name of a tool, a glob with * or ?, or a /regular expression/"
);

toolmark_match::text_or_map!(
    /// A call inside a group: the name of a tool, or a map.
    pub(super) GroupConfig, "GroupedCall", GroupFields,
    text => GroupFields::named(name_of(text).into()),
    "the name of a tool, a glob with * or ?, or a /regular expression/"
);

toolmark_match::text_or_map!(
    /// A part of a sequence: the name of a tool, or a map.
    pub(super) ElementConfig, "SequenceElement", ElementFields,
    text => ElementFields::named(Some(name_of(text).into())),
    "the name of a tool, a glob with * or ?, or a /regular expression/"
);

/// An alternative: a part of a sequence, or a list of them.
#[derive(Debug, Clone)]
pub(super) struct BranchConfig(pub(super) Vec<Spanned<ElementConfig>>);

impl<'de> Deserialize<'de> for BranchConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = BranchConfig;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a call or a list of calls")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<BranchConfig, E> {
                let fields = ElementFields::named(Some(name_of(text).into()));
                Ok(BranchConfig(vec![ElementConfig(fields).into()]))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<BranchConfig, A::Error> {
                let fields = ElementFields::deserialize(MapAccessDeserializer::new(map))?;
                Ok(BranchConfig(vec![ElementConfig(fields).into()]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<BranchConfig, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(seq)).map(BranchConfig)
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl JsonSchema for BranchConfig {
    fn schema_name() -> Cow<'static, str> {
        "Alternative".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let element = generator.subschema_for::<ElementConfig>();
        json_schema!({
            "description": "A part of a sequence, or a list of them.",
            "anyOf": [element.clone(), { "type": "array", "items": element }]
        })
    }
}

/// Calls that must not follow one another.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(super) struct ForbiddenFields {
    /// The calls, in order.
    pub(super) calls: Spanned<Vec<Spanned<CallConfig>>>,
    /// Whether only consecutive calls are forbidden.
    #[serde(default)]
    pub(super) contiguous: bool,
}

/// A list of calls, or a map.
#[derive(Debug, Clone)]
pub(super) struct ForbiddenConfig(pub(super) ForbiddenFields);

impl<'de> Deserialize<'de> for ForbiddenConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = ForbiddenConfig;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of calls, or a map with calls and contiguous")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<ForbiddenConfig, A::Error> {
                let calls: Vec<_> = Vec::deserialize(SeqAccessDeserializer::new(seq))?;
                Ok(ForbiddenConfig(ForbiddenFields { calls: calls.into(), contiguous: false }))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ForbiddenConfig, A::Error> {
                let fields = ForbiddenFields::deserialize(MapAccessDeserializer::new(map))?;
                Ok(ForbiddenConfig(fields))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl JsonSchema for ForbiddenConfig {
    fn schema_name() -> Cow<'static, str> {
        "ForbiddenSequence".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let call = generator.subschema_for::<CallConfig>();
        json_schema!({
            "description": "Calls that must not follow one another.",
            "anyOf": [
                { "type": "array", "items": call, "minItems": 1 },
                generator.subschema_for::<ForbiddenFields>(),
            ]
        })
    }
}

/// A call that must not be made before another one is done.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(super) struct NeverConfig {
    /// Call that must not be made.
    pub(super) call: Spanned<CallConfig>,
    /// Call that must be done first.
    pub(super) before: Spanned<CallConfig>,
}
