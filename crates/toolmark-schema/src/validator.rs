//! The validator, without its type parameters.

use jsonschema::error::ValidationErrorKind;
use jsonschema::paths::LocationSegment;
use jsonschema::{PatternOptions, ValidationError};
use serde_json::Value;

/// Which engine patterns of a schema run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patterns {
    /// Linear time; look-around and backreferences are errors.
    Linear,
    /// Look-around and backreferences, with at most this many steps back.
    Backtracking(usize),
}

/// A schema that is ready.
#[derive(Debug)]
pub struct Validator(jsonschema::Validator);

/// What a value has that the schema does not allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// What kind of mismatch it is.
    pub kind: MismatchKind,
    /// The names and indices that lead to it.
    pub path: Vec<String>,
    /// Is the first step of the path a property (not an index)?
    pub is_in_property: bool,
    /// The path as a JSON Pointer.
    pub pointer: String,
    /// What is wrong, in words.
    pub message: String,
}

/// The kinds of mismatches that are told apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MismatchKind {
    /// These properties are not declared.
    Undeclared(Vec<String>),
    /// This property is missing.
    Missing(String),
    /// The value is of another type.
    Type,
    /// A pattern took too many steps: nothing is known.
    TooManySteps,
    /// Anything else.
    Other,
}

impl Validator {
    /// Makes a schema ready; why it cannot be otherwise.
    pub fn new(schema: &Value, patterns: Patterns) -> Result<Self, String> {
        let options = jsonschema::options().offline();
        let built = match patterns {
            Patterns::Linear => options.with_pattern_options(PatternOptions::regex()).build(schema),
            Patterns::Backtracking(limit) => options
                .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(limit))
                .build(schema),
        };
        built.map(Self).map_err(|error| error.to_string())
    }

    /// Does the value fit?
    #[must_use]
    pub fn is_valid(&self, value: &Value) -> bool {
        self.0.is_valid(value)
    }

    /// What does not fit, at most `limit` of it.
    #[must_use]
    pub fn mismatches(&self, value: &Value, limit: usize) -> Vec<Mismatch> {
        if self.0.is_valid(value) {
            return Vec::new();
        }
        self.0.iter_errors(value).take(limit).map(mismatch).collect()
    }
}

/// Is it a JSON Schema? Why not, otherwise.
pub fn check_schema(schema: &Value) -> Result<(), String> {
    jsonschema::draft202012::new(schema).map(|_| ()).map_err(|error| error.to_string())
}

fn mismatch(error: ValidationError<'_>) -> Mismatch {
    let kind = match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            MismatchKind::Undeclared(unexpected.clone())
        }
        ValidationErrorKind::Required { property } => {
            MismatchKind::Missing(property.as_str().unwrap_or_default().to_owned())
        }
        ValidationErrorKind::Type { .. } => MismatchKind::Type,
        ValidationErrorKind::BacktrackLimitExceeded { .. }
        | ValidationErrorKind::RegexEngineFailure { .. } => MismatchKind::TooManySteps,
        _ => MismatchKind::Other,
    };
    let step = |segment: LocationSegment<'_>| match segment {
        LocationSegment::Property(name) => name.to_string(),
        LocationSegment::Index(index) => index.to_string(),
    };
    let path = error.instance_path();
    Mismatch {
        kind,
        is_in_property: matches!(path.iter().next(), Some(LocationSegment::Property(_))),
        path: path.iter().map(step).collect(),
        pointer: path.to_string(),
        message: error.to_string(),
    }
}
