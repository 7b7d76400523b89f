//! Conditions on one value inside arguments or results.

use super::args::shown;
use super::path::KeyPath;
use super::schema::CompiledSchema;
use super::slashes::{self, TextReading};
use super::truth::{Lack, Truth};
use crate::Building;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use toolmark_config::{CompactString, Node, NodeKind, NodeSpan, Spanned};
use toolmark_outcome::{NumberRules, equal};
use toolmark_pattern::Pattern;

/// Conditions for one value. If several operators are given, all must hold.
#[derive(Debug, Clone, Deserialize, JsonSchema, Default)]
#[serde(deny_unknown_fields)]
#[schemars(extend("minProperties" = 1))]
pub struct Operators {
    /// The value must equal this value. 1 equals 1.0; true does not equal 1.
    #[serde(default, deserialize_with = "given")]
    equals: Option<Node>,
    /// This value or condition must not hold. A missing value does not
    /// equal any value.
    #[serde(default)]
    not: Option<Box<ConditionConfig>>,
    /// A regular expression that must match anywhere in the text. Values that are not text
    /// are converted to JSON.
    #[serde(default)]
    regex: Option<Spanned<String>>,
    /// The value must be one of these.
    #[serde(default)]
    one_of: Option<Spanned<Vec<Node>>>,
    /// A number within these bounds, inclusive.
    #[serde(default)]
    range: Option<Spanned<Range>>,
    /// The value must be of this kind.
    #[serde(default, rename = "type")]
    kind: Option<ValueKind>,
    /// A JSON Schema that the value must match. The schema may refer to its own parts, but not
    /// in circles, and not to other files.
    #[serde(default)]
    schema: Option<Spanned<Node>>,
    /// Text that contains this text, or a list that contains this value.
    #[serde(default, deserialize_with = "given")]
    contains: Option<Node>,
    /// Whether the value must be present (true) or absent (false).
    #[serde(default)]
    present: Option<bool>,
    /// Whether the value must be absent (true) or present (false).
    #[serde(default)]
    absent: Option<bool>,
}

/// Deserializes null as a value rather than as a missing key.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Node>, D::Error> {
    Node::deserialize(deserializer).map(Some)
}

/// Bounds of a number.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Range {
    /// Minimum.
    min: Option<f64>,
    /// Maximum.
    max: Option<f64>,
}

/// The kinds of JSON values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ValueKind {
    /// Text.
    String,
    /// Any number.
    Number,
    /// A number without a fraction, including 2.0.
    Integer,
    /// True or false.
    Boolean,
    /// Null.
    Null,
    /// A list.
    Array,
    /// A map.
    Object,
}

impl ValueKind {
    fn word(self) -> &'static str {
        match self {
            Self::String => "a string",
            Self::Number => "a number",
            Self::Integer => "an integer",
            Self::Boolean => "a boolean",
            Self::Null => "null",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }

    fn is(self, value: &Value) -> bool {
        match self {
            Self::String => value.is_string(),
            Self::Number => value.is_number(),
            Self::Integer => {
                value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|n| n.fract() == 0.0)
            }
            Self::Boolean => value.is_boolean(),
            Self::Null => value.is_null(),
            Self::Array => value.is_array(),
            Self::Object => value.is_object(),
        }
    }
}

/// An expected value, or operators.
#[derive(Debug, Clone)]
pub enum ConditionConfig {
    /// An expected value.
    Equals(Node),
    /// Operators.
    Operators(Box<Operators>),
}

impl<'de> Deserialize<'de> for ConditionConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ConditionVisitor)
    }
}

struct ConditionVisitor;

impl<'de> Visitor<'de> for ConditionVisitor {
    type Value = ConditionConfig;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value or operators such as `regex`, `one_of` or `range`")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<ConditionConfig, E> {
        Ok(ConditionConfig::Equals(NodeKind::Bool(value).into()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<ConditionConfig, E> {
        Ok(ConditionConfig::Equals(NodeKind::Int(value).into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<ConditionConfig, E> {
        let kind = i64::try_from(value).map_or(NodeKind::UInt(value), NodeKind::Int);
        Ok(ConditionConfig::Equals(kind.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<ConditionConfig, E> {
        Ok(ConditionConfig::Equals(NodeKind::Float(value).into()))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<ConditionConfig, E> {
        Ok(ConditionConfig::Equals(NodeKind::Text(value.into()).into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<ConditionConfig, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(ConditionConfig::Equals(NodeKind::List(items).into()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ConditionConfig, A::Error> {
        let operators = Operators::deserialize(MapAccessDeserializer::new(map))?;
        Ok(ConditionConfig::Operators(Box::new(operators)))
    }
}

impl JsonSchema for ConditionConfig {
    fn schema_name() -> Cow<'static, str> {
        "Condition".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A value to be equal to, or operators that must all hold.",
            "anyOf": [
                { "type": ["string", "number", "boolean", "array"] },
                generator.subschema_for::<Operators>(),
            ]
        })
    }
}

/// Conditions by the path of the value, such as `address.city`.
#[derive(Debug, Clone, Default)]
pub struct Conditions(Vec<(Spanned<String>, ConditionConfig)>);

impl<'de> Deserialize<'de> for Conditions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ConditionsVisitor)
    }
}

struct ConditionsVisitor;

impl<'de> Visitor<'de> for ConditionsVisitor {
    type Value = Conditions;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map of places to conditions")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Conditions, A::Error> {
        let mut all = Vec::new();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            all.push((key, map.next_value()?));
        }
        Ok(Conditions(all))
    }
}

impl JsonSchema for Conditions {
    fn schema_name() -> Cow<'static, str> {
        "Conditions".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Conditions by the place of the value: a.b[0].c; a key that holds dots is put in quotes.",
            "type": "object",
            "additionalProperties": generator.subschema_for::<ConditionConfig>(),
        })
    }
}

/// Compiles conditions, each with the path to which it applies.
pub(super) fn compile_all(
    config: &Conditions,
    span: NodeSpan,
    reading: TextReading<'_>,
    building: &mut Building<'_>,
) -> Option<Vec<(KeyPath, Condition)>> {
    if config.0.is_empty() {
        building.reject(span, "empty-list", "the list of conditions is empty");
        return None;
    }
    let all: Vec<_> = config
        .0
        .iter()
        .map(|(place, condition)| {
            let path = match KeyPath::parse(place) {
                Ok(path) => Some(path),
                Err(error) => {
                    let message = format!("not a key path: {error}");
                    building.reject(place.span, "invalid-key-path", message);
                    None
                }
            };
            Some((path, compile(condition, place.span, reading, building)?))
        })
        .collect();
    all.into_iter().map(|one| one.and_then(|(path, condition)| Some((path?, condition)))).collect()
}

/// A compiled condition on one value.
#[derive(Debug, Clone)]
pub struct Condition {
    tests: Vec<ConditionTest>,
}

#[derive(Debug, Clone)]
enum ConditionTest {
    Equals(Value),
    Not(Box<Condition>),
    Regex(Pattern),
    OneOf(Vec<Value>),
    Range(Range),
    Kind(ValueKind),
    Schema {
        schema: Arc<dyn CompiledSchema>,
        source: Value,
    },
    Contains(Value),
    Present(bool),
    /// Equal to the value that a call binds to this name.
    Bound(CompactString),
    /// Contains the value that a call binds to this name.
    ContainsBound(CompactString),
    /// Text that contains one of these values as a word of its own.
    ContainsWord(Vec<Value>),
}

impl ConditionConfig {
    /// Compiles the condition, which is written at `span`.
    pub fn compile(
        &self,
        span: NodeSpan,
        reading: TextReading<'_>,
        building: &mut Building<'_>,
    ) -> Option<Condition> {
        compile(self, span, reading, building)
    }
}

fn compile(
    config: &ConditionConfig,
    span: NodeSpan,
    reading: TextReading<'_>,
    building: &mut Building<'_>,
) -> Option<Condition> {
    let operators = match config {
        ConditionConfig::Equals(value) => {
            if let NodeKind::Text(text) = &value.kind {
                if let Some(name) = reading.bound(text) {
                    return Some(Condition::bound(name));
                }
                if let Some(regex) = reading.regex(text) {
                    let span = value.span.known().unwrap_or(span);
                    return slashes::pattern(regex, span, building).map(Condition::found);
                }
            }
            return Some(Condition { tests: vec![ConditionTest::Equals(value.to_json())] });
        }
        ConditionConfig::Operators(operators) => operators,
    };
    let mut tests = Vec::new();
    let mut is_good = true;
    // `{equals: …}` is the text itself, but a name that is bound is always the value.
    tests.extend(operators.equals.iter().map(|value| match value.as_str() {
        Some(text) if reading.bound(text).is_some() => ConditionTest::Bound(text[1..].into()),
        _ => ConditionTest::Equals(value.to_json()),
    }));
    if let Some(inner) = &operators.not {
        let inner = compile(inner, span, reading, building);
        is_good &= inner.is_some();
        tests.extend(inner.map(|inner| ConditionTest::Not(Box::new(inner))));
    }
    if let Some(regex) = &operators.regex {
        let pattern = building.pattern(regex);
        is_good &= pattern.is_some();
        tests.extend(pattern.map(ConditionTest::Regex));
    }
    if let Some(values) = &operators.one_of {
        if values.is_empty() {
            building.reject(
                values.span,
                "empty-list",
                "the list is empty: add a value, or remove the key",
            );
            is_good = false;
        }
        tests.push(ConditionTest::OneOf(values.iter().map(Node::to_json).collect()));
    }
    if let Some(range) = &operators.range {
        is_good &= check_range(range, building);
        tests.push(ConditionTest::Range(range.value));
    }
    tests.extend(operators.kind.map(ConditionTest::Kind));
    if let Some(schema) = &operators.schema {
        let test = compile_schema(schema, building);
        is_good &= test.is_some();
        tests.extend(test);
    }
    tests.extend(operators.contains.iter().map(|value| match value.as_str() {
        Some(text) if reading.bound(text).is_some() => {
            ConditionTest::ContainsBound(text[1..].into())
        }
        _ => ConditionTest::Contains(value.to_json()),
    }));
    tests.extend(operators.present.map(ConditionTest::Present));
    tests.extend(operators.absent.map(|absent| ConditionTest::Present(!absent)));
    // A condition with an unknown operator is not also reported as empty.
    let is_typo = building.problems.iter().any(|problem| problem.code == "unknown-key");
    if tests.is_empty() && is_good && !is_typo {
        building.reject(
            span,
            "empty-condition",
            "the condition is empty: add an operator, or remove it",
        );
        return None;
    }
    is_good.then_some(Condition { tests })
}

fn check_range(range: &Spanned<Range>, building: &mut Building<'_>) -> bool {
    let wrong = match (range.min, range.max) {
        (None, None) => "a range needs `min` or `max`",
        (Some(min), Some(max)) if min > max => "`min` is above `max`: no number is in this range",
        _ => return true,
    };
    building.reject(range.span, "empty-range", wrong);
    false
}

fn compile_schema(schema: &Spanned<Node>, building: &mut Building<'_>) -> Option<ConditionTest> {
    let source = schema.value.to_json();
    match (building.schemas)(&source) {
        Ok(schema) => Some(ConditionTest::Schema { schema, source }),
        Err(error) => {
            let message = format!("not a JSON Schema that can be used: {error}");
            building.reject(schema.span, "invalid-schema", message);
            None
        }
    }
}

impl Condition {
    /// The pattern is found in the value.
    pub(super) fn found(pattern: Pattern) -> Self {
        Self { tests: vec![ConditionTest::Regex(pattern)] }
    }

    /// The value is the one that a call binds to this name.
    pub(super) fn bound(name: &str) -> Self {
        Self { tests: vec![ConditionTest::Bound(name.into())] }
    }

    /// The condition holds, or there is no value.
    pub(super) fn if_present(self) -> Self {
        let not = |tests| ConditionTest::Not(Box::new(Self { tests }));
        let is_another = not(self.tests);
        Self { tests: vec![not(vec![ConditionTest::Present(true), is_another])] }
    }

    /// Adds the names of bound values that the condition asks about.
    pub(super) fn references(&self, names: &mut Vec<CompactString>) {
        for test in &self.tests {
            match test {
                ConditionTest::Bound(name) | ConditionTest::ContainsBound(name) => {
                    names.push(name.clone())
                }
                ConditionTest::Not(inner) => inner.references(names),
                _ => {}
            }
        }
    }

    /// Returns the condition with values in place of the names to which they are bound.
    #[must_use]
    pub fn with(&self, values: &Values) -> Self {
        let of =
            |name: &str| values.iter().find(|(bound, _)| bound == name).map(|(_, v)| v.clone());
        let tests = self.tests.iter().map(|test| match test {
            ConditionTest::Bound(name) => {
                of(name).map_or_else(|| test.clone(), ConditionTest::OneOf)
            }
            ConditionTest::ContainsBound(name) => {
                of(name).map_or_else(|| test.clone(), ConditionTest::ContainsWord)
            }
            ConditionTest::Not(inner) => ConditionTest::Not(Box::new(inner.with(values))),
            other => other.clone(),
        });
        Self { tests: tests.collect() }
    }

    /// Whether the condition holds for a thing that can be written in several ways: for one of
    /// them, or, where something is excluded, for all of them.
    #[must_use]
    pub fn holds_for(&self, spellings: &[Value]) -> Truth {
        Truth::all(self.tests.iter().map(|test| match test {
            ConditionTest::Not(inner) => inner.holds_for(spellings).negated(),
            test => Truth::any(spellings.iter().map(|value| test.holds(Some(value)))),
        }))
    }

    /// Whether the condition holds for a value, or for a missing value.
    #[must_use]
    pub fn holds(&self, value: Option<&Value>) -> Truth {
        Truth::all(self.tests.iter().map(|test| test.holds(value)))
    }

    /// Whether both conditions are the same.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.tests.len() == other.tests.len()
            && self.tests.iter().zip(&other.tests).all(|(a, b)| a.is(b))
    }
}

impl ConditionTest {
    fn holds(&self, value: Option<&Value>) -> Truth {
        match (self, value) {
            (Self::Not(inner), value) => inner.holds(value).negated(),
            (Self::Present(wanted), value) => Truth::of(value.is_some() == *wanted),
            (_, None) => Truth::No,
            (Self::Equals(wanted), Some(value)) => {
                Truth::of(equal(wanted, value, NumberRules::Json))
            }
            (Self::OneOf(values), Some(value)) => {
                Truth::of(values.iter().any(|wanted| equal(wanted, value, NumberRules::Json)))
            }
            (Self::Regex(pattern), Some(value)) => {
                let text = match value {
                    Value::String(text) => Cow::Borrowed(text.as_str()),
                    other => Cow::Owned(other.to_string()),
                };
                found(pattern, &text)
            }
            (Self::Range(range), Some(value)) => Truth::of(value.as_f64().is_some_and(|number| {
                range.min.is_none_or(|min| number >= min)
                    && range.max.is_none_or(|max| number <= max)
            })),
            (Self::Kind(kind), Some(value)) => Truth::of(kind.is(value)),
            (Self::Schema { schema, .. }, Some(value)) => Truth::of(schema.is_valid(value)),
            // Any value may be the bound one.
            (Self::Bound(_) | Self::ContainsBound(_), Some(_)) => Truth::Yes,
            (Self::ContainsWord(values), Some(value)) => {
                let has = |wanted: &Value| match value {
                    Value::Array(items) => {
                        items.iter().any(|i| equal(wanted, i, NumberRules::Json))
                    }
                    other => contains_word(&plain(other), &plain(wanted)),
                };
                Truth::of(values.iter().any(has))
            }
            (Self::Contains(wanted), Some(value)) => Truth::of(match (value, wanted) {
                (Value::String(text), Value::String(part)) => text.contains(part.as_str()),
                (Value::Array(items), wanted) => {
                    items.iter().any(|item| equal(wanted, item, NumberRules::Json))
                }
                _ => false,
            }),
        }
    }

    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Equals(a), Self::Equals(b)) | (Self::Contains(a), Self::Contains(b)) => {
                equal(a, b, NumberRules::Json)
            }
            (Self::Not(a), Self::Not(b)) => a.is(b),
            (Self::Regex(a), Self::Regex(b)) => a.source() == b.source(),
            (Self::OneOf(a), Self::OneOf(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b, NumberRules::Json))
            }
            (Self::Range(a), Self::Range(b)) => (a.min, a.max) == (b.min, b.max),
            (Self::Kind(a), Self::Kind(b)) => a == b,
            (Self::Schema { source: a, .. }, Self::Schema { source: b, .. }) => a == b,
            (Self::Present(a), Self::Present(b)) => a == b,
            (Self::Bound(a), Self::Bound(b)) | (Self::ContainsBound(a), Self::ContainsBound(b)) => {
                a == b
            }
            _ => false,
        }
    }
}

/// A text that a result contains.
#[derive(Debug, Clone, PartialEq)]
pub enum Needle {
    /// This text.
    Text(String),
    /// The value that a call binds to this name.
    Bound(CompactString),
    /// This value, as a word of its own, in one of these spellings.
    Words(Vec<String>),
}

impl Needle {
    /// One of these values.
    #[must_use]
    pub fn words(values: &[Value]) -> Self {
        Self::Words(values.iter().map(|value| plain(value).into_owned()).collect())
    }

    /// Whether a text contains it.
    #[must_use]
    pub fn is_in(&self, text: &str) -> bool {
        match self {
            Self::Text(part) => text.contains(part),
            Self::Bound(_) => true,
            Self::Words(words) => words.iter().any(|word| contains_word(text, word)),
        }
    }

    /// Returns the text with values in place of the name to which they are bound.
    pub(super) fn with(&self, values: &Values) -> Self {
        match self {
            Self::Bound(name) => match values.iter().find(|(bound, _)| bound == name) {
                Some((_, values)) => Self::words(values),
                None => self.clone(),
            },
            other => other.clone(),
        }
    }
}

impl fmt::Display for Needle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "containing {text:?}"),
            Self::Words(words) => {
                write!(f, "containing {:?}", words.first().map_or("", String::as_str))
            }
            Self::Bound(name) => write!(f, "containing ${name}"),
        }
    }
}

/// Values by the names to which calls bind them, each in all of its spellings.
pub type Values = [(CompactString, Vec<Value>)];

/// The text of a value inside other texts.
fn plain(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

/// Whether a text contains a word that no letter or digit continues: 12 is not in 3123.
pub(super) fn contains_word(text: &str, word: &str) -> bool {
    let goes_on = |c: Option<char>, end: Option<char>| {
        let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        is_word(c) && is_word(end)
    };
    let (first, last) = (word.chars().next(), word.chars().next_back());
    first.is_some()
        && text.match_indices(word).any(|(at, _)| {
            let (before, after) = (&text[..at], &text[at + word.len()..]);
            !goes_on(before.chars().next_back(), first) && !goes_on(after.chars().next(), last)
        })
}

/// Whether a pattern matches anywhere in a text.
pub(super) fn found(pattern: &Pattern, text: &str) -> Truth {
    match pattern.is_match(text) {
        Ok(found) => Truth::of(found),
        Err(_) => Truth::Unknown(Lack::Pattern),
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, test) in self.tests.iter().enumerate() {
            if n > 0 {
                f.write_str(" and ")?;
            }
            write!(f, "{test}")?;
        }
        Ok(())
    }
}

impl fmt::Display for ConditionTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equals(value) => write!(f, "= {}", shown(value)),
            Self::Not(inner) => write!(f, "not ({inner})"),
            Self::Regex(pattern) => write!(f, "matching /{pattern}/"),
            Self::OneOf(values) => {
                let values: Vec<String> = values.iter().take(5).map(shown).collect();
                write!(f, "one of {}", values.join(", "))
            }
            Self::Range(Range { min: Some(min), max: Some(max) }) => {
                write!(f, "between {min} and {max}")
            }
            Self::Range(Range { min: Some(min), .. }) => write!(f, "at least {min}"),
            Self::Range(Range { max, .. }) => write!(f, "at most {}", max.unwrap_or_default()),
            Self::Kind(kind) => f.write_str(kind.word()),
            Self::Schema { .. } => f.write_str("fitting its schema"),
            Self::Contains(value) => write!(f, "containing {}", shown(value)),
            Self::Bound(name) => write!(f, "= ${name}"),
            Self::ContainsBound(name) => write!(f, "containing ${name}"),
            Self::ContainsWord(values) => {
                write!(f, "containing {}", shown(values.first().unwrap_or(&Value::Null)))
            }
            Self::Present(true) => f.write_str("there"),
            Self::Present(false) => f.write_str("not there"),
        }
    }
}
