//! The JSON Schema validator, without its type parameters.

use jsonschema::error::ValidationErrorKind;
use jsonschema::paths::LocationSegment;
use jsonschema::{PatternOptions, ValidationError};
use serde_json::Value;

/// Engine that runs the patterns of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patterns {
    /// Linear time; look-around and backreferences are errors.
    Linear,
    /// Supports look-around and backreferences, with this maximum number of backtracking steps.
    Backtracking(usize),
}

/// Reason why a schema cannot be used.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct InvalidSchema(#[from] ValidationError<'static>);

/// A compiled schema.
#[derive(Debug)]
pub struct Validator(jsonschema::Validator);

/// A part of a value that the schema does not allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Kind of mismatch.
    pub kind: MismatchKind,
    /// Property names and indices that lead to the mismatch.
    pub path: Vec<String>,
    /// Whether the first step of the path is a property rather than an index.
    pub is_in_property: bool,
    /// The path as a JSON Pointer.
    pub pointer: String,
    /// Description of the mismatch.
    pub message: String,
}

/// Kinds of mismatches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MismatchKind {
    /// Undeclared properties.
    Undeclared(Vec<String>),
    /// A missing required property.
    Missing(String),
    /// The value has the wrong type.
    Type,
    /// A pattern exceeded its step limit, so the result is unknown.
    TooManySteps,
    /// Any other mismatch.
    Other,
}

impl Validator {
    /// Compiles a schema.
    ///
    /// # Errors
    ///
    /// The schema is invalid, or refers to other documents.
    pub fn new(schema: &Value, patterns: Patterns) -> Result<Self, InvalidSchema> {
        let options = jsonschema::options().offline();
        let built = match patterns {
            Patterns::Linear => options.with_pattern_options(PatternOptions::regex()).build(schema),
            Patterns::Backtracking(limit) => options
                .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(limit))
                .build(schema),
        };
        Ok(Self(built?))
    }

    /// Whether the value is valid.
    #[must_use]
    pub fn is_valid(&self, value: &Value) -> bool {
        self.0.is_valid(value)
    }

    /// Returns at most `limit` mismatches of `value`.
    #[must_use]
    pub fn mismatches(&self, value: &Value, limit: usize) -> Vec<Mismatch> {
        if self.0.is_valid(value) {
            return Vec::new();
        }
        self.0.iter_errors(value).take(limit).map(mismatch).collect()
    }
}

/// Checks that a value is a valid JSON Schema.
///
/// # Errors
///
/// The schema is invalid.
pub fn check_schema(schema: &Value) -> Result<(), InvalidSchema> {
    Ok(jsonschema::draft202012::new(schema).map(|_| ())?)
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
