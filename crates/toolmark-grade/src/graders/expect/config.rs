//! How expectations are written down.

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

/// What calls are expected. At least one key is needed, and all that is given
/// must hold.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ExpectConfig {
    /// Calls in this order; others may come in between.
    #[serde(default)]
    pub(super) sequence: Option<Spanned<Vec<Spanned<ElementConfig>>>>,
    /// Calls in any order, each a call of its own.
    #[serde(default)]
    pub(super) calls: Option<Spanned<Vec<Spanned<WantConfig>>>>,
    /// No call at all is right.
    #[serde(default)]
    pub(super) none: Option<Spanned<bool>>,
    /// The only tools that may be called.
    #[serde(default)]
    pub(super) only: Option<Spanned<Vec<Spanned<Name>>>>,
    /// Whether calls that `sequence` and `calls` have no use for are allowed.
    #[serde(default)]
    pub(super) extras: Option<Spanned<ExtrasWord>>,
    /// Calls that must not be made, however they end.
    #[serde(default)]
    pub(super) forbidden: Option<Spanned<Vec<Spanned<CallConfig>>>>,
    /// Calls that must not follow one another: lists of calls, or
    /// `{calls: […], contiguous: true}`.
    #[serde(default)]
    pub(super) forbidden_sequences: Option<Spanned<Vec<Spanned<ForbiddenConfig>>>>,
    /// Calls that must not be made before another one is done.
    #[serde(default)]
    pub(super) never: Option<Spanned<Vec<Spanned<NeverConfig>>>>,
    /// Whether calls of one model response have an order.
    #[serde(default)]
    pub(super) parallel: Parallel,
    /// Whether failed, denied, interrupted and unanswered calls count as done.
    #[serde(default)]
    pub(super) failed_calls: FailedCalls,
    /// Whose calls are looked at.
    #[serde(default)]
    pub(super) agents: Agents,
}

/// Whether calls that nobody expected are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ExtrasWord {
    /// They are, and are reported.
    Allow,
    /// They are not.
    Forbid,
}

/// Whether calls that did not succeed count as done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum FailedCalls {
    /// They do not, unless an expectation has a `status`.
    #[default]
    Skip,
    /// They do.
    Count,
}

/// The least and the most.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
pub(super) struct CountFields {
    /// The least; 1 where nothing is said, 0 where only `max` is.
    #[serde(default)]
    pub(super) min: Option<usize>,
    /// The most: all calls that fit are counted.
    #[serde(default)]
    pub(super) max: Option<usize>,
}

/// How often: a number, or `{min, max}`.
#[derive(Debug, Clone, Copy)]
pub(super) enum CountConfig {
    /// So many different calls; further ones are extra.
    Times(usize),
    /// At least and at most so many.
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
    /// A call that is expected in any order.
    pub(super) WantFields {
        tool: Spanned<Name>,
        /// How often: a number of different calls, or `{min, max}`.
        #[serde(default)]
        count: Option<Spanned<CountConfig>>,
    }
}

toolmark_match::call_fields! {
    /// A call inside a group.
    pub(super) GroupFields {
        tool: Spanned<Name>,
        /// How often: a number of different calls, or `{min}`.
        #[serde(default)]
        count: Option<Spanned<CountConfig>>,
        /// May it be missing?
        #[serde(default)]
        optional: bool,
    }
}

toolmark_match::call_fields! {
    /// A part of a sequence: a call (`tool`), a group (`any_order`) or
    /// alternatives (`one_of`).
    pub(super) ElementFields {
        tool: Option<Spanned<Name>>,
        /// How often: a number of different calls, or `{min}`.
        #[serde(default)]
        count: Option<Spanned<CountConfig>>,
        /// May it be missing?
        #[serde(default)]
        optional: bool,
        /// Calls that all belong here, in any order.
        #[serde(default)]
        any_order: Option<Spanned<Vec<Spanned<GroupConfig>>>>,
        /// Alternatives, one of which is enough: each a call, or a list of parts.
        #[serde(default)]
        one_of: Option<Spanned<Vec<Spanned<BranchConfig>>>>,
    }
}

toolmark_match::text_or_map!(
    /// A call that is expected in any order: the name of a tool, or a map.
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

/// One of several ways: a part of a sequence, or a list of them.
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
    /// Only where nothing is in between?
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
    /// What must not be called.
    pub(super) call: Spanned<CallConfig>,
    /// What must be done first.
    pub(super) before: Spanned<CallConfig>,
}
