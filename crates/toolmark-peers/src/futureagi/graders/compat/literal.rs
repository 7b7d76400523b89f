//! Values that the library compares: those of JSON, and additional ones of Python call
//! expressions.

use serde_json::{Number, Value};
use toolmark_base::{SortedMap, SortedSet};

/// Failure modes of the library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PythonFailure {
    /// The input validation rejects the record: the score is 0.
    Invalid(String),
    /// The library raises an exception: there is no score.
    Raised(String),
}

/// A Python value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Literal {
    None,
    Bool(bool),
    Int(i128),
    /// A whole number outside [`i128`], as the nearest float; infinite if it is too large for a
    /// float.
    Huge(f64),
    Float(f64),
    Imaginary(f64),
    Text(String),
    Bytes(String),
    Ellipsis,
    List(Vec<Self>),
    Tuple(Vec<Self>),
    /// A set, by the keys of its elements.
    Set(SortedSet<LiteralKey>),
    /// A dict, by the keys of its keys.
    Dict(SortedMap<LiteralKey, Self>),
    /// A dict or set with a key or element of this unhashable type.
    Unhashable(&'static str),
    /// A value that equals no other, with its type: an expression that the library
    /// converts to a text with a memory address, or a dict or set with
    /// such a text as a key.
    Opaque(&'static str),
}

/// Key under which hashable Python values are equal: `1`, `1.0` and `True` share one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LiteralKey(String);

impl LiteralKey {
    /// Returns the key of a text.
    pub(super) fn text(text: &str) -> Self {
        Self(format!("t{}:{text}", text.len()))
    }
}

/// Converts a whole float to an integer if the conversion is exact.
fn whole(float: f64) -> Option<i128> {
    (float.fract() == 0.0 && float.abs() < 1e38).then_some(float as i128)
}

impl Literal {
    /// An expression that is not a constant.
    pub(super) const OPAQUE: Self = Self::Opaque("str");

    /// Converts a JSON value. Values come from parsers that bound
    /// nesting, so the recursion is bounded too.
    pub(super) fn from_json(value: &Value) -> Self {
        match value {
            Value::Null => Self::None,
            Value::Bool(flag) => Self::Bool(*flag),
            Value::Number(number) => Self::from_number(number),
            Value::String(text) => Self::Text(text.clone()),
            Value::Array(items) => Self::List(items.iter().map(Self::from_json).collect()),
            Value::Object(map) => Self::Dict(
                map.iter()
                    .map(|(key, value)| (LiteralKey::text(key), Self::from_json(value)))
                    .collect(),
            ),
        }
    }

    fn from_number(number: &Number) -> Self {
        if let Some(whole) = number.as_i64() {
            return Self::Int(whole.into());
        }
        match number.as_u64() {
            Some(whole) => Self::Int(whole.into()),
            None => number.as_f64().map_or(Self::OPAQUE, Self::Float),
        }
    }

    /// Returns the key of a value; `None` if Python cannot hash it.
    pub(super) fn key(&self) -> Option<LiteralKey> {
        Some(LiteralKey(match self {
            Self::None => "none".to_owned(),
            Self::Ellipsis => "ellipsis".to_owned(),
            Self::Bool(flag) => format!("n{}", u8::from(*flag)),
            Self::Int(int) => format!("n{int}"),
            Self::Huge(float) => format!("n{float}"),
            Self::Float(float) => match whole(*float) {
                Some(int) => format!("n{int}"),
                None => format!("n{float}"),
            },
            Self::Imaginary(float) => format!("i{float}"),
            Self::Text(text) => return Some(LiteralKey::text(text)),
            Self::Bytes(bytes) => format!("b{}:{bytes}", bytes.len()),
            Self::Tuple(items) => {
                let mut key = format!("({}", items.len());
                for item in items {
                    key.push(',');
                    key.push_str(&item.key()?.0);
                }
                key
            }
            // Its text is unlike any other; what has it as a key is opaque as a whole.
            Self::Opaque("str") => "opaque".to_owned(),
            Self::List(_)
            | Self::Set(_)
            | Self::Dict(_)
            | Self::Unhashable(_)
            | Self::Opaque(_) => {
                return None;
            }
        }))
    }

    /// Whether an opaque text is part of the key.
    pub(super) fn is_opaque_key(&self) -> bool {
        match self {
            Self::Opaque(_) => true,
            Self::Tuple(items) => items.iter().any(Self::is_opaque_key),
            _ => false,
        }
    }

    /// Returns the type of an unhashable value in a position that requires a hashable one.
    pub(super) fn unhashable(&self) -> Option<&'static str> {
        match self {
            Self::Unhashable(type_word) => Some(type_word),
            Self::List(items) | Self::Tuple(items) => items.iter().find_map(Self::unhashable),
            Self::Dict(entries) => entries.values().find_map(Self::unhashable),
            _ => None,
        }
    }

    /// Returns the number of contained values, including itself.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::List(items) | Self::Tuple(items) => {
                1 + items.iter().map(Self::size).sum::<usize>()
            }
            Self::Dict(entries) => 1 + entries.values().map(Self::size).sum::<usize>(),
            Self::Set(keys) => 1 + keys.len(),
            _ => 1,
        }
    }

    /// Returns the name of its Python type.
    pub(super) fn type_word(&self) -> &'static str {
        match self {
            Self::None => "NoneType",
            Self::Bool(_) => "bool",
            Self::Int(_) | Self::Huge(_) => "int",
            Self::Float(_) => "float",
            Self::Imaginary(_) => "complex",
            Self::Text(_) => "str",
            Self::Opaque(type_word) => type_word,
            Self::Bytes(_) => "bytes",
            Self::Ellipsis => "ellipsis",
            Self::List(_) => "list",
            Self::Tuple(_) => "tuple",
            Self::Set(_) => "set",
            Self::Dict(_) | Self::Unhashable(_) => "dict",
        }
    }

    /// Returns the number as a float, as the library compares it; an error if the number is too
    /// large.
    fn as_float(&self) -> Option<Result<f64, PythonFailure>> {
        Some(match self {
            Self::Bool(flag) => Ok(f64::from(u8::from(*flag))),
            Self::Int(int) => Ok(*int as f64),
            Self::Huge(float) if float.is_infinite() => {
                Err(PythonFailure::Raised("an integer is too large to be a float".to_owned()))
            }
            Self::Huge(float) | Self::Float(float) => Ok(*float),
            _ => return None,
        })
    }
}

/// Whether the library treats two argument values as equal. With `strict`, only if
/// their Python types are the same at every level.
pub(super) fn same(
    actual: &Literal,
    expected: &Literal,
    strict: bool,
) -> Result<bool, PythonFailure> {
    use Literal::{Bool, Dict, List, None as Nothing};
    if strict && actual.type_word() != expected.type_word() {
        return Ok(false);
    }
    match (actual, expected) {
        (Nothing, Nothing) => return Ok(true),
        (Nothing, _) | (_, Nothing) => return Ok(false),
        (Bool(a), Bool(b)) => return Ok(a == b),
        (Bool(_), _) | (_, Bool(_)) => return Ok(false),
        _ => {}
    }
    match (actual, expected) {
        (List(a), List(b)) => {
            if a.len() != b.len() {
                return Ok(false);
            }
            for (a, b) in a.iter().zip(b) {
                if !same(a, b, strict)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Dict(a), Dict(b)) => {
            if !a.keys().eq(b.keys()) {
                return Ok(false);
            }
            for (a, b) in a.values().zip(b.values()) {
                if !same(a, b, strict)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        _ => match (actual.as_float(), expected.as_float()) {
            (Some(a), Some(b)) => Ok(a? == b?),
            (None, None) => {
                Ok(actual.type_word() == expected.type_word() && python_equal(actual, expected))
            }
            _ => Ok(false),
        },
    }
}

/// Whether two values are equal under Python's `==`.
pub(super) fn python_equal(a: &Literal, b: &Literal) -> bool {
    match (a, b) {
        (Literal::Opaque(_), _) | (_, Literal::Opaque(_)) => false,
        (Literal::List(a), Literal::List(b)) | (Literal::Tuple(a), Literal::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| python_equal(a, b))
        }
        (Literal::Dict(a), Literal::Dict(b)) => {
            a.len() == b.len()
                && a.iter()
                    .zip(b)
                    .all(|((a_key, a), (b_key, b))| a_key == b_key && python_equal(a, b))
        }
        (Literal::Set(a), Literal::Set(b)) => a == b,
        _ => match (a.key(), b.key()) {
            (Some(a), Some(b)) => a == b,
            _ => false,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn equality_of_the_library() {
        for (a, b, loose, strict) in [
            (json!(1), json!(1.0), true, false),
            (json!(1), json!(true), false, false),
            (json!(9_007_199_254_740_993_i64), json!(9_007_199_254_740_992_i64), true, true),
            (json!("1"), json!(1), false, false),
            (json!("a"), json!("A"), false, false),
            (json!(null), json!(null), true, true),
            (json!(null), json!(0), false, false),
            (json!([1, [2]]), json!([1.0, [2.0]]), true, false),
            (json!({"a": 1, "b": 2}), json!({"b": 2, "a": 1}), true, true),
            (json!({"a": 1}), json!({"a": 1, "b": null}), false, false),
        ] {
            let (left, right) = (Literal::from_json(&a), Literal::from_json(&b));
            assert_eq!(same(&left, &right, false), Ok(loose), "{a} {b}");
            assert_eq!(same(&left, &right, true), Ok(strict), "{a} {b} strictly");
        }
        assert_eq!(same(&Literal::OPAQUE, &Literal::OPAQUE, false), Ok(false));
        let huge = Literal::Huge(f64::INFINITY);
        assert!(same(&huge, &Literal::Int(1), false).is_err());
        assert_eq!(same(&huge, &Literal::None, false), Ok(false));
    }

    #[test]
    fn tuples_forget_what_a_bool_is() {
        let tuple = |item| Literal::Tuple(vec![item]);
        let one = tuple(Literal::Int(1));
        assert_eq!(same(&one, &tuple(Literal::Bool(true)), false), Ok(true));
        assert_eq!(same(&one, &Literal::List(vec![Literal::Int(1)]), false), Ok(false));
        assert_eq!(same(&one, &tuple(Literal::Float(1.5)), false), Ok(false));
        assert_eq!(one.key(), tuple(Literal::Float(1.0)).key());
        assert_eq!(Literal::List(Vec::new()).key(), None);
    }
}
