//! YAML and JSON that people write: what a configuration is before it has a type: a tree that knows where in
//! its text everything stands, and problems that point there.
//!
//! A spec file is first parsed into [`Node`]s, whatever its notation. Each part
//! is then read into the type of whoever it configures with [`read()`], which
//! finds every mistake of that part in one go instead of stopping at the first.
//!
//! ```
//! use toolmark_config::{Node, read};
//!
//! #[derive(serde::Deserialize)]
//! struct Budget {
//!     max: u64,
//! }
//!
//! let node = Node::from_json(&serde_json::json!({"max": -1, "mix": 2})).unwrap();
//! let mut problems = Vec::new();
//! assert!(read::<Budget>(&node, &mut problems).is_none());
//! let said: Vec<_> = problems.iter().map(|p| p.message.as_str()).collect();
//! assert_eq!(
//!     said,
//!     ["expected a whole number of 0 or more, found -1", "unknown key \"mix\""]
//! );
//! ```

#![forbid(unsafe_code)]

mod de;
mod fault;
mod fill;
pub mod json;
mod node;
mod parse;
mod problem;
mod read;
mod render;
pub mod scalar;
mod source;
mod spanned;
mod syntax;
mod words;
pub mod yaml;

pub use compact_str::CompactString;
pub use node::{Entry, Kind, MAX_DEPTH, Node, Span};
pub use parse::{Parsed, parse};
pub use problem::{Problem, Severity};
pub use read::read;
pub use render::{Style, problems_json, render};
pub use source::{Place, Source};
pub use spanned::Spanned;
pub use words::{did_you_mean, quoted};
