//! Checks tool arguments against a JSON Schema.
//!
//! Tool schemas are nearly always flat objects. Those are checked directly;
//! all other schemas go to a full validator, which is built only for them.

use crate::{Mismatch, MismatchKind, Patterns, Validator};
use serde_json::{Map, Value};

/// A mistake in one argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Kind of mistake.
    pub kind: ViolationKind,
    /// Argument name.
    pub argument: String,
    /// Description of the mistake, as a fragment that follows the argument's name.
    pub message: String,
}

/// Kinds of mistakes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ViolationKind {
    /// The tool does not have this argument.
    Unknown,
    /// A required argument is missing.
    Missing,
    /// The value has the wrong type.
    Type,
    /// The value is outside the allowed range.
    Range,
}

impl ViolationKind {
    /// Returns the name of the kind.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Missing => "missing",
            Self::Type => "type",
            Self::Range => "range",
        }
    }
}

/// Maximum number of mistakes reported per call.
const MAX_VIOLATIONS: usize = 8;

/// A tool's argument schema, prepared for checking.
pub enum Arguments {
    /// A flat object.
    Flat(Flat),
    /// Any other schema.
    Full(Box<Validator>),
}

impl Arguments {
    /// Prepares a schema; `None` if the schema cannot be used.
    #[must_use]
    pub fn new(schema: &Value) -> Option<Self> {
        if let Some(flat) = Flat::new(schema) {
            return Some(Self::Flat(flat));
        }
        let built = Validator::new(schema, Patterns::Linear);
        built.ok().map(|validator| Self::Full(Box::new(validator)))
    }

    /// Returns the mistakes in `args`, at most 8.
    #[must_use]
    pub fn check(&self, args: &Value) -> Vec<Violation> {
        match self {
            Self::Flat(flat) => flat.check(args, MAX_VIOLATIONS),
            Self::Full(validator) => {
                validator.mismatches(args, MAX_VIOLATIONS).into_iter().map(violation).collect()
            }
        }
    }
}

fn violation(mismatch: Mismatch) -> Violation {
    let place = mismatch.path.into_iter().next().unwrap_or_default();
    let (kind, argument, message) = match mismatch.kind {
        MismatchKind::Undeclared(names) => {
            let name = names.into_iter().next().unwrap_or(place);
            (ViolationKind::Unknown, name, "is unknown".to_owned())
        }
        MismatchKind::Missing(name) => {
            let name = if name.is_empty() { place } else { name };
            (ViolationKind::Missing, name, "is missing".to_owned())
        }
        MismatchKind::Type => (ViolationKind::Type, place, short(&mismatch.message)),
        MismatchKind::TooManySteps | MismatchKind::Other => {
            (ViolationKind::Range, place, short(&mismatch.message))
        }
    };
    Violation { kind, argument, message }
}

fn short(text: &str) -> String {
    toolmark_base::text::excerpt(text)
}

/// An object schema whose properties are checked one by one.
pub struct Flat {
    required: Vec<String>,
    properties: Vec<(String, Property)>,
    closed: bool,
}

#[derive(Default)]
struct Property {
    types: Vec<String>,
    options: Option<Vec<Value>>,
    least: Option<f64>,
    above: Option<f64>,
    most: Option<f64>,
    shortest: Option<u64>,
    fewest: Option<u64>,
    largest: Option<u64>,
    items: Option<String>,
}

/// Whether a schema keyword does not affect validation.
fn is_remark(key: &str) -> bool {
    matches!(key, "description" | "title" | "default" | "examples" | "$schema")
}

impl Flat {
    fn new(schema: &Value) -> Option<Self> {
        let schema = schema.as_object()?;
        let mut flat = Self { required: Vec::new(), properties: Vec::new(), closed: false };
        let mut is_object = false;
        for (key, value) in schema {
            match key.as_str() {
                "type" => is_object = value == "object",
                "required" => flat.required = strings(value)?,
                "additionalProperties" => flat.closed = !value.as_bool()?,
                "properties" => {
                    for (name, property) in value.as_object()? {
                        flat.properties.push((name.clone(), Property::new(property.as_object()?)?));
                    }
                }
                key if is_remark(key) => {}
                _ => return None,
            }
        }
        is_object.then_some(flat)
    }

    fn check(&self, args: &Value, most: usize) -> Vec<Violation> {
        let Value::Object(args) = args else {
            let message = format!("are {}, not an object", type_of(args));
            let argument = "arguments".to_owned();
            return vec![Violation { kind: ViolationKind::Type, argument, message }];
        };
        let mut found = Vec::new();
        for name in &self.required {
            // Calls have few arguments: to compare them is quicker than to hash a name.
            if !args.keys().any(|key| key == name) {
                found.push((ViolationKind::Missing, name, "is missing".to_owned()));
            }
        }
        for (name, value) in args {
            if found.len() >= most {
                break;
            }
            match self.properties.iter().find(|(known, _)| known == name) {
                Some((_, property)) => {
                    found.extend(property.check(value).map(|(kind, why)| (kind, name, why)));
                }
                None if self.closed => {
                    found.push((ViolationKind::Unknown, name, "is unknown".to_owned()));
                }
                None => {}
            }
        }
        let violation = |(kind, name, message): (_, &String, _)| Violation {
            kind,
            argument: name.clone(),
            message,
        };
        found.into_iter().map(violation).collect()
    }
}

impl Property {
    fn new(schema: &Map<String, Value>) -> Option<Self> {
        let mut property = Self::default();
        for (key, value) in schema {
            match key.as_str() {
                "type" => {
                    property.types = match value {
                        Value::String(one) => vec![one.clone()],
                        several => strings(several)?,
                    }
                }
                "enum" => property.options = Some(value.as_array()?.clone()),
                "minimum" => property.least = Some(value.as_f64()?),
                "exclusiveMinimum" => property.above = Some(value.as_f64()?),
                "maximum" => property.most = Some(value.as_f64()?),
                "minLength" => property.shortest = Some(value.as_u64()?),
                "minItems" => property.fewest = Some(value.as_u64()?),
                "maxItems" => property.largest = Some(value.as_u64()?),
                "items" => {
                    let items = value.as_object()?;
                    let keys: Vec<&String> = items.keys().filter(|key| !is_remark(key)).collect();
                    property.items = match keys.as_slice() {
                        [] => None,
                        [one] if *one == "type" => Some(items["type"].as_str()?.to_owned()),
                        _ => return None,
                    }
                }
                key if is_remark(key) => {}
                _ => return None,
            }
        }
        Some(property)
    }

    fn check(&self, value: &Value) -> Option<(ViolationKind, String)> {
        if !self.types.is_empty() && !self.types.iter().any(|wanted| is_a(value, wanted)) {
            let why = format!("is {}, not {}", type_of(value), self.types.join(" or "));
            return Some((ViolationKind::Type, why));
        }
        if let (Some(wanted), Value::Array(items)) = (&self.items, value)
            && let Some(wrong) = items.iter().find(|item| !is_a(item, wanted))
        {
            let why = format!("holds {}, not only {wanted}", type_of(wrong));
            return Some((ViolationKind::Type, why));
        }
        self.out_of_range(value).map(|why| (ViolationKind::Range, why))
    }

    fn out_of_range(&self, value: &Value) -> Option<String> {
        if let Some(options) = &self.options
            && !options.contains(value)
        {
            let options: Vec<String> = options.iter().map(ToString::to_string).collect();
            return Some(format!(
                "is {}, not one of {}",
                short(&value.to_string()),
                options.join(", ")
            ));
        }
        match value {
            Value::Number(number) => {
                let number = number.as_f64()?;
                let below = self.least.is_some_and(|least| number < least)
                    || self.above.is_some_and(|above| number <= above);
                if below {
                    return Some(format!("is {value}, which is too small"));
                }
                self.most
                    .is_some_and(|most| number > most)
                    .then(|| format!("is {value}, which is too large"))
            }
            Value::String(text) => {
                let shortest = usize::try_from(self.shortest?).ok()?;
                let is_short =
                    text.len() < shortest || text.chars().take(shortest).count() < shortest;
                is_short.then(|| {
                    if text.is_empty() { "is empty".into() } else { "is too short".into() }
                })
            }
            Value::Array(items) => {
                let count = items.len() as u64;
                if self.fewest.is_some_and(|fewest| count < fewest) {
                    return Some(format!("has {count} items, which is too few"));
                }
                self.largest
                    .is_some_and(|largest| count > largest)
                    .then(|| format!("has {count} items, which is too many"))
            }
            _ => None,
        }
    }
}

fn strings(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}

fn is_a(value: &Value, wanted: &str) -> bool {
    match (wanted, value) {
        ("string", Value::String(_))
        | ("number", Value::Number(_))
        | ("boolean", Value::Bool(_))
        | ("array", Value::Array(_))
        | ("object", Value::Object(_))
        | ("null", Value::Null) => true,
        ("integer", Value::Number(number)) => {
            number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|n| n.fract() == 0.0)
        }
        _ => false,
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Value {
        json!({
            "type": "object", "description": "x", "required": ["path"], "additionalProperties": false,
            "properties": {
                "path": {"type": "string", "minLength": 1},
                "mode": {"type": "string", "enum": ["a", "b"]},
                "offset": {"type": "number", "minimum": 0},
                "limit": {"type": "integer", "exclusiveMinimum": 0, "maximum": 10},
                "list": {"type": ["array", "null"], "items": {"type": "string"}, "minItems": 1, "maxItems": 2},
            }
        })
    }

    #[test]
    fn the_short_way_agrees_with_the_long_one() {
        let schema = schema();
        let flat = Arguments::new(&schema).unwrap();
        assert!(matches!(flat, Arguments::Flat(_)));
        let full = Arguments::Full(Box::new(Validator::new(&schema, Patterns::Linear).unwrap()));
        for (args, want) in [
            (json!({"path": "x"}), None),
            (json!({"path": "x", "mode": "a", "offset": 0, "limit": 10, "list": ["y"]}), None),
            (json!({"path": "x", "list": null, "offset": 1.5, "limit": 2.0}), None),
            (json!({}), Some((ViolationKind::Missing, "path"))),
            (json!({"path": ""}), Some((ViolationKind::Range, "path"))),
            (json!({"path": 7}), Some((ViolationKind::Type, "path"))),
            (json!({"path": "x", "more": 1}), Some((ViolationKind::Unknown, "more"))),
            (json!({"path": "x", "mode": "c"}), Some((ViolationKind::Range, "mode"))),
            (json!({"path": "x", "offset": -1}), Some((ViolationKind::Range, "offset"))),
            (json!({"path": "x", "limit": 0}), Some((ViolationKind::Range, "limit"))),
            (json!({"path": "x", "limit": 11}), Some((ViolationKind::Range, "limit"))),
            (json!({"path": "x", "limit": 1.5}), Some((ViolationKind::Type, "limit"))),
            (json!({"path": "x", "list": []}), Some((ViolationKind::Range, "list"))),
            (json!({"path": "x", "list": ["a", "b", "c"]}), Some((ViolationKind::Range, "list"))),
            (json!({"path": "x", "list": [1]}), Some((ViolationKind::Type, "list"))),
        ] {
            for way in [&flat, &full] {
                let found = way.check(&args);
                let found = found.first().map(|v| (v.kind, v.argument.as_str()));
                assert_eq!(found, want, "{args}");
            }
        }
        assert_eq!(flat.check(&json!([])).len(), 1);
    }

    #[test]
    fn what_is_not_flat_goes_the_long_way() {
        let schema = json!({"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]});
        let full = Arguments::new(&schema).unwrap();
        assert!(matches!(full, Arguments::Full(_)));
        assert!(full.check(&json!({"b": 1})).is_empty());
        assert!(!full.check(&json!({})).is_empty());
        assert!(Arguments::new(&json!({"type": 7})).is_none());
    }
}
