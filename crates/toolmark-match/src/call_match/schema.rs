//! The JSON Schemas of conditions.

use serde_json::Value;
use std::fmt;
use std::sync::Arc;
use toolmark_schema::{InvalidSchema, Patterns, Validator};

/// Maximum number of parts of a schema, including followed references. Validating larger
/// schemas could take very long.
const MAX_PARTS: usize = 20_000;

/// Reason why a JSON Schema cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// The value is not a JSON Schema.
    #[error(transparent)]
    Invalid(#[from] InvalidSchema),
    /// The references expand to too many parts.
    #[error("it refers to itself or is too large")]
    TooLarge,
    /// A reference leads out of the schema.
    #[error("{0:?} does not point into this schema (#/…)")]
    Outside(String),
    /// The keyword is not supported.
    #[error("{0} is not supported")]
    Unsupported(String),
    /// The program does not contain the validator.
    #[error("this program has no validator")]
    NoValidator,
}

/// Compiles a JSON Schema, or returns the reason why it cannot be used.
///
/// The compiler is passed in because the validator is larger than everything else that
/// conditions need: a program that never uses a schema need not contain it.
pub type SchemaCompiler = fn(&Value) -> Result<Arc<dyn CompiledSchema>, SchemaError>;

/// A compiled JSON Schema.
pub trait CompiledSchema: fmt::Debug + Send + Sync {
    /// Whether the value is valid.
    fn is_valid(&self, value: &Value) -> bool;
}

impl CompiledSchema for Validator {
    fn is_valid(&self, value: &Value) -> bool {
        Self::is_valid(self, value)
    }
}

/// Compiles schemas with the validator.
///
/// # Errors
///
/// The value is not a JSON Schema, or its references go outside, in circles, or expand
/// to too many parts.
pub fn compile_schema(source: &Value) -> Result<Arc<dyn CompiledSchema>, SchemaError> {
    check_size(source)?;
    Ok(Arc::new(Validator::new(source, Patterns::Linear)?))
}

/// Rejects schemas whose references go outside, in circles, or expand to too many parts.
fn check_size(schema: &Value) -> Result<(), SchemaError> {
    let mut open = vec![schema];
    let mut parts = 0;
    while let Some(value) = open.pop() {
        parts += 1;
        if parts > MAX_PARTS {
            return Err(SchemaError::TooLarge);
        }
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(fields) => {
                for (key, value) in fields {
                    match (key.as_str(), value.as_str()) {
                        ("$ref", Some(reference)) => {
                            let inside = reference.strip_prefix('#');
                            let target = inside.and_then(|pointer| schema.pointer(pointer));
                            let outside = || SchemaError::Outside(reference.to_owned());
                            open.push(target.ok_or_else(outside)?);
                        }
                        ("$dynamicRef" | "$recursiveRef", Some(_)) => {
                            return Err(SchemaError::Unsupported(key.clone()));
                        }
                        _ => open.push(value),
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}
