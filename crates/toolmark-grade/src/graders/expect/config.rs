//! Configuration of `expect`.

use super::links::Order;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use toolmark_config::{Node, Spanned};
use toolmark_hosts::toolset::ArgClass;
use toolmark_match::call_match::config::{
    ConfiguredCall, DurationFields, Name, ResultConfig, StatusConfig, name_of,
};
use toolmark_match::call_match::{Agents, ArgsMatch, ConditionConfig, Conditions, Parallel};
use toolmark_shell::results::ResultKind;

/// Expected calls: a map, or a list of calls in this order.
#[derive(Debug)]
pub(super) struct ExpectConfig(pub(super) ExpectFields);

impl<'de> Deserialize<'de> for ExpectConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = ExpectConfig;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map such as {calls: […], forbidden: […]}, or a list of calls")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<ExpectConfig, A::Error> {
                let calls: Vec<_> = Vec::deserialize(SeqAccessDeserializer::new(seq))?;
                let fields = ExpectFields { sequence: Some(calls.into()), ..Default::default() };
                Ok(ExpectConfig(fields))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ExpectConfig, A::Error> {
                ExpectFields::deserialize(MapAccessDeserializer::new(map)).map(ExpectConfig)
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl JsonSchema for ExpectConfig {
    fn schema_name() -> Cow<'static, str> {
        "Expected".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let element = generator.subschema_for::<ElementConfig>();
        json_schema!({
            "description": "Expected calls: a map, or a list of calls in this order.",
            "anyOf": [
                { "type": "array", "items": element, "minItems": 1 },
                generator.subschema_for::<ExpectFields>(),
            ]
        })
    }
}

/// Expected calls. At least one key is required, and all given conditions
/// must hold.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ExpectFields {
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
    pub(super) forbidden: Option<Spanned<Vec<Spanned<RuleCall>>>>,
    /// Calls that must not follow one another: lists of calls, or
    /// `{calls: […], contiguous: true}`.
    #[serde(default)]
    pub(super) forbidden_sequences: Option<Spanned<Vec<Spanned<ForbiddenConfig>>>>,
    /// Calls that must not be made before another call is done, or after it.
    #[serde(default)]
    pub(super) never: Option<Spanned<Vec<Spanned<NeverConfig>>>>,
    /// Whether calls of one model response have an order.
    #[serde(default)]
    pub(super) parallel: Parallel,
    /// Whether failed, denied, interrupted and unanswered calls count as done.
    #[serde(default)]
    pub(super) failed_calls: FailedCalls,
    /// Agents whose calls are checked. By default, expected calls are those of the agent
    /// itself, and prohibitions apply to its sub-agents too.
    #[serde(default)]
    pub(super) agents: Option<Agents>,
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

/// Defines the fields of a call in an expectation: those of any call, what follows from the tool
/// and the result, and additional fields.
macro_rules! expected_call {
    (
        $(#[$doc:meta])* $name:ident { tool: $tool:ty, $($(#[$meta:meta])* $field:ident: $type:ty,)* }
    ) => {
        toolmark_match::call_fields! {
            $(#[$doc])*
            pub(super) $name {
                tool: $tool,
                /// Condition on the command line, whatever the tool calls it.
                #[serde(default)]
                command: Option<Spanned<ConditionConfig>>,
                /// Condition on a file or directory that the call names, whatever the tool
                /// calls it; for a patch, on one of its files.
                #[serde(default)]
                path: Option<Spanned<ConditionConfig>>,
                /// Condition on the text or pattern that is searched for.
                #[serde(default)]
                query: Option<Spanned<ConditionConfig>>,
                /// Condition on the address.
                #[serde(default)]
                url: Option<Spanned<ConditionConfig>>,
                /// Condition on the exit code of the command.
                #[serde(default)]
                exit_code: Option<Spanned<ConditionConfig>>,
                /// Meaning of the result, such as `passed` or `failed`; or a list of them.
                #[serde(default)]
                result_kind: Option<Spanned<KindsConfig>>,
                /// Names for values of the call, which other calls refer to as `$name`.
                #[serde(default)]
                bind: Option<Spanned<BTreeMap<String, Spanned<BindSource>>>>,
                $($(#[$meta])* $field: $type,)*
            }
        }

        impl $name {
            /// Returns what is asked beyond the fields of any call.
            pub(super) fn asked(&self) -> CallExtras<'_> {
                CallExtras {
                    typed: [
                        (ArgClass::Command, self.command.as_ref()),
                        (ArgClass::Path, self.path.as_ref()),
                        (ArgClass::Query, self.query.as_ref()),
                        (ArgClass::Url, self.url.as_ref()),
                    ],
                    exit_code: self.exit_code.as_ref(),
                    kinds: self.result_kind.as_ref(),
                    binds: self.bind.as_ref(),
                }
            }
        }
    };
}

/// Conditions of an expectation on a call beyond the fields of any call.
pub(super) struct CallExtras<'c> {
    pub(super) typed: [(ArgClass, Option<&'c Spanned<ConditionConfig>>); 4],
    pub(super) exit_code: Option<&'c Spanned<ConditionConfig>>,
    pub(super) kinds: Option<&'c Spanned<KindsConfig>>,
    pub(super) binds: Option<&'c Spanned<BTreeMap<String, Spanned<BindSource>>>>,
}

/// Defines the fields of a call that may be placed before or after others.
macro_rules! related_call {
    (
        $(#[$doc:meta])* $name:ident { $($(#[$meta:meta])* $field:ident: $type:ty,)* }
    ) => {
        expected_call! {
            $(#[$doc])*
            $name {
                tool: Option<Spanned<Name>>,
                /// A call that must be done before this one.
                #[serde(default)]
                after: Option<Box<Spanned<OtherCall>>>,
                /// A call that must not be done before this one.
                #[serde(default)]
                not_after: Option<Box<Spanned<OtherCall>>>,
                /// A call that must not be done after this one, nor at the same time: this one
                /// comes after the last of them.
                #[serde(default)]
                after_last: Option<Box<Spanned<OtherCall>>>,
                /// A call that must be done after this one.
                #[serde(default)]
                before: Option<Box<Spanned<OtherCall>>>,
                /// A call that must not be done after this one.
                #[serde(default)]
                not_before: Option<Box<Spanned<OtherCall>>>,
                /// Values of this call that must be in the result of an earlier call:
                /// `{flight_id: search_flights}`.
                #[serde(default)]
                from: Option<Spanned<BTreeMap<String, Spanned<OtherCall>>>>,
                $($(#[$meta])* $field: $type,)*
            }
        }

        impl $name {
            /// Returns the calls to which this one is related.
            pub(super) fn related(&self) -> Related<'_> {
                Related {
                    others: [
                        (Order::After, self.after.as_deref()),
                        (Order::NotAfter, self.not_after.as_deref()),
                        (Order::AfterLast, self.after_last.as_deref()),
                        (Order::Before, self.before.as_deref()),
                        (Order::NotBefore, self.not_before.as_deref()),
                    ],
                    from: self.from.as_ref(),
                }
            }
        }
    };
}

/// The calls to which a call is related.
pub(super) struct Related<'c> {
    pub(super) others: [(Order, Option<&'c Spanned<OtherCall>>); 5],
    pub(super) from: Option<&'c Spanned<BTreeMap<String, Spanned<OtherCall>>>>,
}

impl Related<'_> {
    /// No other calls.
    pub(super) const NONE: Self = Related {
        others: [
            (Order::After, None),
            (Order::NotAfter, None),
            (Order::AfterLast, None),
            (Order::Before, None),
            (Order::NotBefore, None),
        ],
        from: None,
    };
}

expected_call! {
    /// One call.
    PlainFields { tool: Spanned<Name>, }
}

expected_call! {
    /// A call to which another one is related.
    OtherFields {
        tool: Option<Spanned<Name>>,
        /// Alternatives: any of these calls.
        #[serde(default)]
        one_of: Option<Spanned<Vec<Spanned<PlainCall>>>>,
    }
}

related_call! {
    /// A forbidden call.
    RuleFields {
        /// Alternatives: any of these calls.
        #[serde(default)]
        one_of: Option<Spanned<Vec<Spanned<PlainCall>>>>,
    }
}

related_call! {
    /// A call expected in any order.
    WantFields {
        /// Alternatives: any of these calls.
        #[serde(default)]
        one_of: Option<Spanned<Vec<Spanned<PlainCall>>>>,
        /// Count: a number of separate calls, or `{min, max}`.
        #[serde(default)]
        count: Option<Spanned<CountConfig>>,
    }
}

related_call! {
    /// A call inside a group.
    GroupFields {
        /// Alternatives: any of these calls.
        #[serde(default)]
        one_of: Option<Spanned<Vec<Spanned<PlainCall>>>>,
        /// Count: a number of separate calls, or `{min}`.
        #[serde(default)]
        count: Option<Spanned<CountConfig>>,
        /// Whether the call may be missing.
        #[serde(default)]
        optional: bool,
    }
}

related_call! {
    /// A part of a sequence: a call (`tool`), a group (`any_order`) or
    /// alternatives (`one_of`).
    ElementFields {
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

/// Meanings of results that are accepted.
#[derive(Debug, Clone)]
pub(super) struct KindsConfig(pub(super) Vec<ResultKind>);

impl<'de> Deserialize<'de> for KindsConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = KindsConfig;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a result kind such as passed or failed, or a list of them")
            }
            fn visit_str<E: Error>(self, word: &str) -> Result<KindsConfig, E> {
                Ok(KindsConfig(vec![kind(word)?]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<KindsConfig, A::Error> {
                let mut kinds = Vec::new();
                while let Some(word) = seq.next_element::<String>()? {
                    kinds.push(kind(&word)?);
                }
                Ok(KindsConfig(kinds))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

fn kind<E: Error>(word: &str) -> Result<ResultKind, E> {
    ResultKind::from_word(word).ok_or_else(|| {
        let words: Vec<&str> = ResultKind::ALL.iter().map(|kind| kind.word()).collect();
        E::custom(format!("{word:?} is not a result kind: {}", words.join(", ")))
    })
}

impl JsonSchema for KindsConfig {
    fn schema_name() -> Cow<'static, str> {
        "ResultKinds".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words: Vec<&str> = ResultKind::ALL.iter().map(|kind| kind.word()).collect();
        let word = serde_json::json!({ "enum": words });
        json_schema!({ "anyOf": [word.clone(), { "type": "array", "items": word, "minItems": 1 }] })
    }
}

/// Location of a bound value.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BindFields {
    /// A regular expression; its first group in the text of the result is the value.
    pub(super) result: Spanned<String>,
    /// The place as text, if it is not a regular expression.
    #[serde(skip)]
    pub(super) place: Option<String>,
}

toolmark_match::text_or_map!(
    /// Location of a bound value: `args.id`, `path`, `command`, `query`, `url`, `result`,
    /// `result.id`, or `{result: /order (\w+)/}`.
    pub(super) BindSource, "BindSource", BindFields,
    text => BindFields { result: String::new().into(), place: Some(text.to_owned()) },
    "a place such as args.id, path or result.id"
);

toolmark_match::text_or_map!(
    /// One call: the name of a tool, or a map.
    pub(super) PlainCall, "PlainCall", PlainFields,
    text => PlainFields::named(name_of(text).into()),
    "the name or class of a tool, a glob with * or ?, or a /regular expression/"
);

toolmark_match::text_or_map!(
    /// A call to which another one is related: the name of a tool, or a map.
    pub(super) OtherCall, "OtherCall", OtherFields,
    text => OtherFields::named(Some(name_of(text).into())),
    "the name or class of a tool, a glob with * or ?, or a /regular expression/"
);

toolmark_match::text_or_map!(
    /// A forbidden call: the name of a tool, or a map.
    pub(super) RuleCall, "ForbiddenCall", RuleFields,
    text => RuleFields::named(Some(name_of(text).into())),
    "the name or class of a tool, a glob with * or ?, or a /regular expression/"
);

toolmark_match::text_or_map!(
    /// A call expected in any order: the name of a tool, or a map.
    pub(super) WantConfig, "ExpectedCall", WantFields,
    text => WantFields::named(Some(name_of(text).into())),
    "the name of a tool, a glob with * or ?, or a /regular expression/"
);

toolmark_match::text_or_map!(
    /// A call inside a group: the name of a tool, or a map.
    pub(super) GroupConfig, "GroupedCall", GroupFields,
    text => GroupFields::named(Some(name_of(text).into())),
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
    pub(super) calls: Spanned<Vec<Spanned<RuleCall>>>,
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
        let call = generator.subschema_for::<RuleCall>();
        json_schema!({
            "description": "Calls that must not follow one another.",
            "anyOf": [
                { "type": "array", "items": call, "minItems": 1 },
                generator.subschema_for::<ForbiddenFields>(),
            ]
        })
    }
}

/// A call that must not be made before another one is done, or after it was.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NeverConfig {
    /// Call that must not be made.
    pub(super) call: Spanned<RuleCall>,
    /// Call that must be done first.
    #[serde(default)]
    pub(super) before: Option<Spanned<OtherCall>>,
    /// Call after which it must not be made.
    #[serde(default)]
    pub(super) after: Option<Spanned<OtherCall>>,
}
