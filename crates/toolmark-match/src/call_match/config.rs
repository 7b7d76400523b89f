//! Configuration of a call: a name, or a map.

use super::args::ArgsMatch;
use super::condition::{Condition, ConditionConfig, Conditions, Needle, compile_all};
use super::name::NamePattern;
use super::path::KeyPath;
use super::slashes::{self, TextReading, regex_between_slashes};
use super::{ArgsRule, CallPattern, CallPosition, ExpectedArgs, ResultRule, TypedConditions};
use crate::Building;
use crate::units::Duration;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use toolmark_config::{Node, NodeEntry, NodeKind, NodeSpan, Problem, Spanned, did_you_mean};
use toolmark_hosts::toolset::{ArgClass, CLASS_PREFIX, ToolClass};
use toolmark_trace::Status;

/// Makes a type that is written as text or as a map of `$fields`.
#[macro_export]
/// Defines a type that is written as text or as a map of `$fields`.
macro_rules! text_or_map {
    ($(#[$doc:meta])* $vis:vis $name:ident, $title:literal, $fields:ty, $text:ident => $from_text:expr, $words:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        $vis struct $name($vis $fields);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Either;
                impl<'de> Visitor<'de> for Either {
                    type Value = $name;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($words)
                    }
                    fn visit_str<E: Error>(self, $text: &str) -> Result<$name, E> {
                        Ok($name($from_text))
                    }
                    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<$name, A::Error> {
                        <$fields>::deserialize(MapAccessDeserializer::new(map)).map($name)
                    }
                }
                deserializer.deserialize_any(Either)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                $title.into()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "anyOf": [
                        { "type": "string", "description": $words },
                        generator.subschema_for::<$fields>(),
                    ]
                })
            }
        }
    };
}

/// A regular expression for names.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct NameFields {
    /// A regular expression that must match anywhere in the name.
    regex: Spanned<String>,
    /// The name as text, if it is not a regular expression.
    #[serde(skip)]
    word: Option<String>,
}

text_or_map!(
    /// The name of a tool: an exact name, a glob with `*` or `?`, or a regular expression
    /// between slashes.
    pub Name, "ToolName", NameFields,
    text => name_of(text).0,
    "the name of a tool, a glob with * or ?, or a /regular expression/"
);

impl Name {
    /// Compiles the name.
    pub fn compile(&self, span: NodeSpan, building: &mut Building<'_>) -> Option<NamePattern> {
        match &self.0.word {
            Some(word) if word.trim().is_empty() => {
                building.reject(span, "empty-name", "the name of a tool is empty");
                None
            }
            Some(word) => match word.strip_prefix(CLASS_PREFIX) {
                Some(class) => class_pattern(class, span, building),
                None => Some(NamePattern::word(word)),
            },
            None => {
                let known = self.0.regex.span.known().unwrap_or(span);
                let source = Spanned { value: self.0.regex.value.clone(), span: known };
                let pattern = building.pattern(&source)?;
                if pattern.matches_everything() {
                    let message = format!("/{pattern}/ matches every name");
                    let problem = Problem::warning("matches-everything", message).at(known);
                    building.problems.push(problem.help("for any tool write \"*\""));
                }
                Some(NamePattern::Regex(pattern))
            }
        }
    }
}

/// Returns the pattern of a class of tools.
fn class_pattern(word: &str, span: NodeSpan, building: &mut Building<'_>) -> Option<NamePattern> {
    if let Some(class) = ToolClass::from_word(word) {
        return Some(NamePattern::Class(class));
    }
    let words = || ToolClass::ALL.iter().map(|class| class.word());
    let problem = Problem::error("unknown-class", format!("unknown class of tools {word:?}"));
    let help = match did_you_mean(word, words()) {
        Some(near) => format!("did you mean `{CLASS_PREFIX}{near}`?"),
        None => format!("the classes are {}", words().collect::<Vec<_>>().join(", ")),
    };
    building.problems.push(problem.at(span).help(help));
    None
}

/// Expected result of a call.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct ResultFields {
    /// A regular expression that must match anywhere in the text of the result.
    #[serde(default)]
    regex: Option<Spanned<String>>,
    /// Text that the result contains, or `$name` for a value that a call binds.
    #[serde(default)]
    contains: Option<Spanned<String>>,
    /// Conditions on values inside a JSON result, by path.
    #[serde(default, rename = "where")]
    conditions: Option<Spanned<Conditions>>,
}

text_or_map!(
    /// Expected result of a call: a regular expression, or a map.
    pub ResultConfig, "ResultCondition", ResultFields,
    text => ResultFields { regex: Some(text.to_owned().into()), ..ResultFields::default() },
    "a regular expression that is found in the text of the result"
);

/// Status of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StatusWord {
    /// The source states or implies that the call succeeded.
    Succeeded,
    /// The tool reported an error.
    Failed,
    /// A person, a hook or a policy denied the call.
    Denied,
    /// The call was started and interrupted.
    Interrupted,
    /// The trace does not contain a result for the call.
    Unanswered,
    /// The trace does not show whether the call failed.
    Unknown,
    /// Any status.
    Any,
}

impl StatusWord {
    fn status(self) -> Option<Status> {
        Some(match self {
            Self::Succeeded => Status::Succeeded,
            Self::Failed => Status::Failed,
            Self::Denied => Status::Denied,
            Self::Interrupted => Status::Interrupted,
            Self::Unanswered => Status::Unanswered,
            Self::Unknown => Status::Unknown,
            Self::Any => return None,
        })
    }
}

/// One status, or a list of accepted ones.
#[derive(Debug, Clone)]
pub struct StatusConfig(Vec<StatusWord>);

impl<'de> Deserialize<'de> for StatusConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = StatusConfig;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a status or a list of them")
            }
            fn visit_str<E: Error>(self, word: &str) -> Result<StatusConfig, E> {
                let word = StatusWord::deserialize(serde::de::value::StrDeserializer::new(word))?;
                Ok(StatusConfig(vec![word]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<StatusConfig, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(seq)).map(StatusConfig)
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl JsonSchema for StatusConfig {
    fn schema_name() -> Cow<'static, str> {
        "StatusCondition".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let word = generator.subschema_for::<StatusWord>();
        json_schema!({ "anyOf": [word.clone(), { "type": "array", "items": word, "minItems": 1 }] })
    }
}

/// Limit on the duration of a call.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub struct DurationFields {
    /// Maximum duration: `500ms`, `30s`, `2m`.
    max: Duration,
}

/// Makes a type of the fields that describe a call, and more of its own.
#[macro_export]
/// Defines a type with the fields that describe a call, and additional fields.
macro_rules! call_fields {
    (
        $(#[$doc:meta])* $vis:vis $name:ident { tool: $tool:ty, $($(#[$meta:meta])* $field:ident: $type:ty,)* }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        $vis struct $name {
            /// The name of the tool (alias: `name`): an exact name, a glob with
            /// `*` or `?`, or a regular expression between slashes or as
            /// `{regex: …}`.
            #[serde(alias = "name")]
            $vis tool: $tool,
            /// Arguments with the values they must have; a text between slashes is a
            /// regular expression that is found in the value.
            #[serde(default)]
            $vis args: Option<Spanned<Node>>,
            /// Comparison mode for `args`: `contains` (the call may have more),
            /// `exact`, `within` (the call may have fewer) or `ignore`.
            #[serde(default)]
            $vis args_match: Option<Spanned<ArgsMatch>>,
            /// Paths of arguments that are not compared: IDs, timestamps.
            #[serde(default)]
            $vis ignore: Option<Spanned<Vec<Spanned<String>>>>,
            /// Conditions on arguments, by path: `a.b[0].c`.
            #[serde(default, rename = "where")]
            $vis conditions: Option<Spanned<Conditions>>,
            /// Expected result.
            #[serde(default)]
            $vis result: Option<ResultConfig>,
            /// Required status of the call. By default, failed,
            /// denied, interrupted and unanswered calls do not count as done.
            #[serde(default)]
            $vis status: Option<Spanned<StatusConfig>>,
            /// Limit on the duration of the call.
            #[serde(default)]
            $vis duration: Option<DurationFields>,
            /// Step (model response) of the call, from 0.
            #[serde(default)]
            $vis at_step: Option<u32>,
            /// The call must be in a step before this one, from 0.
            #[serde(default)]
            $vis before_step: Option<u32>,
            /// Whether no call may come before it.
            #[serde(default)]
            $vis first: bool,
            /// Whether no call may come after it.
            #[serde(default)]
            $vis last: bool,
            $($(#[$meta])* $vis $field: $type,)*
        }

        impl $name {
            /// Returns the description of the call, for this tool.
            #[must_use]
            $vis fn call<'c>(&'c self, tool: &'c Spanned<Name>) -> ConfiguredCall<'c> {
                ConfiguredCall {
                    tool,
                    args: self.args.as_ref(),
                    args_match: self.args_match.as_ref(),
                    ignore: self.ignore.as_ref(),
                    conditions: self.conditions.as_ref(),
                    result: self.result.as_ref(),
                    status: self.status.as_ref(),
                    duration: self.duration,
                    at_step: self.at_step,
                    before_step: self.before_step,
                    first: self.first,
                    last: self.last,
                    reading: $crate::call_match::TextReading::default(),
                }
            }

            /// Creates a call with only a tool name.
            #[must_use]
            $vis fn named(tool: $tool) -> Self {
                Self {
                    tool,
                    args: None,
                    args_match: None,
                    ignore: None,
                    conditions: None,
                    result: None,
                    status: None,
                    duration: None,
                    at_step: None,
                    before_step: None,
                    first: false,
                    last: false,
                    $($field: Default::default(),)*
                }
            }
        }
    };
}
call_fields! {
    /// One call.
    pub CallFields { tool: Spanned<Name>, }
}

/// Description of a call in a configuration.
#[derive(Clone, Copy)]
pub struct ConfiguredCall<'c> {
    /// Tool name.
    pub tool: &'c Spanned<Name>,
    /// Expected arguments.
    pub args: Option<&'c Spanned<Node>>,
    /// Comparison mode for arguments.
    pub args_match: Option<&'c Spanned<ArgsMatch>>,
    /// Argument paths that are not compared.
    pub ignore: Option<&'c Spanned<Vec<Spanned<String>>>>,
    /// Conditions on argument paths.
    pub conditions: Option<&'c Spanned<Conditions>>,
    /// Expected result.
    pub result: Option<&'c ResultConfig>,
    /// Expected status.
    pub status: Option<&'c Spanned<StatusConfig>>,
    /// Allowed duration.
    pub duration: Option<DurationFields>,
    /// Step that the call must belong to.
    pub at_step: Option<u32>,
    /// Step that the call must precede.
    pub before_step: Option<u32>,
    /// Whether no call may precede it.
    pub first: bool,
    /// Whether no call may follow it.
    pub last: bool,
    /// Reading of its texts.
    pub reading: TextReading<'c>,
}

impl<'c> ConfiguredCall<'c> {
    /// With values between slashes as plain text.
    #[must_use]
    pub fn literally(self) -> Self {
        Self { reading: TextReading { is_literal: true, ..self.reading }, ..self }
    }

    /// With `$name` for the values that calls bind to these names.
    #[must_use]
    pub fn with_bound(self, bound: &'c [String]) -> Self {
        Self { reading: TextReading { bound, ..self.reading }, ..self }
    }

    /// Compiles the description; errors are added to the problems. `span` is
    /// the position of the whole call.
    pub fn compile(&self, span: NodeSpan, building: &mut Building<'_>) -> Option<CallPattern> {
        let span = self.tool.span.known().unwrap_or(span);
        let name = self.tool.compile(span, building);
        let is_class = matches!(name, Some(NamePattern::Class(_)));
        let mut typed = Vec::new();
        let args = match self.args.filter(|_| is_class).map(|args| self.typed(args, building)) {
            None => self.compile_args(self.args, building),
            Some(None) => None,
            Some(Some((conditions, left))) => {
                typed = conditions;
                self.compile_args(left.as_ref(), building)
            }
        };
        let conditions = match self.conditions {
            None => Some(Vec::new()),
            Some(config) => compile_all(config, config.span, self.reading, building),
        };
        let conditions = conditions.map(|mut all| {
            if is_class {
                let class = |path: &KeyPath| ArgClass::from_word(&path.to_string());
                let own = all.extract_if(.., |(path, _)| class(path).is_some());
                typed.extend(own.filter_map(|(path, c)| Some((class(&path)?, c))));
            }
            all
        });
        let result = match self.result {
            None => Some(None),
            Some(config) => config.compile(span, self.reading, building).map(Some),
        };
        let status = self.compile_status(building);
        let positions = [
            self.at_step.map(CallPosition::AtStep),
            self.before_step.map(CallPosition::BeforeStep),
            self.first.then_some(CallPosition::First),
            self.last.then_some(CallPosition::Last),
        ];
        if self.before_step == Some(0) {
            let message = "no call comes before the first step (before_step: 0)";
            building.reject(span, "empty-range", message);
            return None;
        }
        let (args, mut patterns) = args?;
        patterns.extend(conditions?);
        Some(
            CallPattern::new(
                name?,
                args,
                patterns,
                result?,
                status?,
                self.duration.map(|duration| duration.max.millis),
                positions.into_iter().flatten().collect(),
            )
            .with_typed(typed),
        )
    }

    /// Splits the arguments of a class of tools: those that hosts name differently, and the rest.
    fn typed(
        &self,
        args: &Spanned<Node>,
        building: &mut Building<'_>,
    ) -> Option<(TypedConditions, Option<Spanned<Node>>)> {
        let (mut typed, mut left) = (Vec::new(), Vec::new());
        let mut is_good = true;
        for entry in args.value.entries() {
            let (Some(class), Some(text)) = (ArgClass::from_word(&entry.key), entry.value.as_str())
            else {
                left.push(NodeEntry::clone(entry));
                continue;
            };
            let config = ConditionConfig::Equals(NodeKind::Text(text.into()).into());
            match config.compile(entry.value.span, self.reading, building) {
                Some(condition) => typed.push((class, condition)),
                None => is_good = false,
            }
        }
        let how = self.args_match.map(|how| how.value).unwrap_or_default();
        if !typed.is_empty() && matches!(how, ArgsMatch::Exact | ArgsMatch::Within) {
            let message = "the arguments of a class have other names for every host: \
                           they cannot be compared as a whole";
            let span = self.args_match.map_or(args.span, |how| how.span);
            let problem = Problem::error("invalid-comparison", message).at(span);
            building.problems.push(problem.help("remove `args_match`, or name the tool"));
            is_good = false;
        }
        let is_empty = left.is_empty() && !typed.is_empty();
        let node = || Node::new(NodeKind::Map(left), args.value.span);
        let left = (!is_empty).then(|| Spanned { value: node(), span: args.span });
        is_good.then_some((typed, left))
    }

    /// Compiles the expected arguments and the conditions written among them.
    fn compile_args(
        &self,
        args: Option<&Spanned<Node>>,
        building: &mut Building<'_>,
    ) -> Option<(ArgsRule, Vec<(KeyPath, Condition)>)> {
        let how = self.args_match.map(|how| how.value).unwrap_or_default();
        let mut ignore = Vec::new();
        let mut is_good = true;
        for place in self.ignore.iter().flat_map(|places| &places.value) {
            match KeyPath::parse(place) {
                Ok(path) => ignore.push(path),
                Err(error) => {
                    let message = format!("not a key path: {error}");
                    building.reject(place.span, "invalid-key-path", message);
                    is_good = false;
                }
            }
        }
        let nothing = |building: &mut Building<'_>, span: NodeSpan, key: &str| {
            let message = format!("`{key}` needs `args` to compare");
            let problem = Problem::warning("no-arguments", message).at(span);
            building.problems.push(problem.help("give `args`, or leave it out"));
        };
        match (args, self.args_match, self.ignore) {
            (None, Some(how), _) if how.value != ArgsMatch::Ignore => {
                nothing(building, how.span, "args_match");
            }
            (None, None, Some(ignore)) => nothing(building, ignore.span, "ignore"),
            (Some(args), Some(how), _) if how.value == ArgsMatch::Ignore => {
                let message = "these arguments are not compared: `args_match` is `ignore`";
                building
                    .problems
                    .push(Problem::warning("ignored-arguments", message).at(args.span));
            }
            _ => {}
        }
        let mut expected = args.map(|args| args.value.clone());
        let mut conditions = Vec::new();
        if let Some(args) = args.filter(|_| !self.reading.is_literal) {
            let split = slashes::split(&args.value, how, self.reading, building)?;
            ignore.extend(split.places);
            conditions = split.conditions;
            // Nothing else may be there, even where nothing is left to compare.
            let is_closed = matches!(how, ArgsMatch::Exact | ArgsMatch::Within);
            let none = || is_closed.then(|| NodeKind::Map(Vec::new()).into());
            expected = split.plain.or_else(none);
        }
        let expected = expected.map(ExpectedArgs::new);
        is_good.then_some((ArgsRule { expected, how, ignore }, conditions))
    }

    fn compile_status(&self, building: &mut Building<'_>) -> Option<Option<Vec<Status>>> {
        let Some(status) = self.status else { return Some(None) };
        if status.0.is_empty() {
            building.reject(
                status.span,
                "empty-list",
                "the list is empty: add a status, or remove the key",
            );
            return None;
        }
        let all = || Status::ALL.to_vec();
        let words: Option<Vec<Status>> = status.0.iter().map(|word| word.status()).collect();
        Some(Some(words.unwrap_or_else(all)))
    }
}

impl ResultConfig {
    fn compile(
        &self,
        span: NodeSpan,
        reading: TextReading<'_>,
        building: &mut Building<'_>,
    ) -> Option<ResultRule> {
        let mut needle = self.0.contains.as_ref().map(|text| match reading.bound(text) {
            Some(name) => Needle::Bound(name.into()),
            None => Needle::Text(text.value.clone()),
        });
        let regex = match &self.0.regex {
            None => Some(None),
            Some(name) if reading.bound(name).is_some() => {
                needle = reading.bound(name).map(|name| Needle::Bound(name.into()));
                Some(None)
            }
            // The slashes around a regular expression are accepted, as they are elsewhere.
            Some(regex) => {
                let inner = reading.regex(regex).unwrap_or(regex);
                let source = Spanned { value: inner.to_owned(), span: regex.span };
                building.pattern(&source).map(Some)
            }
        };
        if let Some(Some(pattern)) = &regex
            && pattern.matches_everything()
        {
            let message = format!("/{pattern}/ matches every result");
            let problem = Problem::warning("matches-everything", message).at(span);
            building.problems.push(problem);
        }
        let conditions = match &self.0.conditions {
            None => Some(Vec::new()),
            Some(config) => compile_all(config, config.span, reading, building),
        };
        let (regex, conditions) = (regex?, conditions?);
        if regex.is_none() && conditions.is_empty() && needle.is_none() {
            building.reject(span, "empty-condition", "the condition on the result is empty");
            return None;
        }
        Some(ResultRule { regex, needle, conditions })
    }
}

text_or_map!(
    /// A call: the name of a tool, or a map.
    pub CallConfig, "Call", CallFields,
    text => CallFields::named(Spanned::from(name_of(text))),
    "the name of a tool, a glob with * or ?, or a /regular expression/"
);

/// Returns the name that a text represents.
#[must_use]
pub fn name_of(text: &str) -> Name {
    Name(match regex_between_slashes(text) {
        Some(regex) => NameFields { regex: regex.to_owned().into(), word: None },
        None => NameFields { regex: Spanned::default(), word: Some(text.to_owned()) },
    })
}
