//! Checks values against a JSON Schema, within limits.
//!
//! The underlying validator is generic and large: this crate is its only user
//! and exposes plain types, so that it is compiled once. Nothing is fetched:
//! references to other documents are errors.
//!
//! ```
//! use serde_json::json;
//! use toolmark_schema::Arguments;
//!
//! let schema = json!({"type": "object", "required": ["path"], "properties": {"path": {"type": "string"}}});
//! let arguments = Arguments::new(&schema).unwrap();
//! assert!(arguments.check(&json!({"path": "/tmp"})).is_empty());
//! assert_eq!(arguments.check(&json!({}))[0].message, "is missing");
//! ```

#![forbid(unsafe_code)]

mod arguments;
mod validator;

pub use arguments::{Arguments, Violation, ViolationKind};
pub use validator::{InvalidSchema, Mismatch, MismatchKind, Patterns, Validator, check_schema};
