//! Trees of YAML and JSON that keep the source position of every key and value, and
//! problems that refer to these positions.
//!
//! A file is first parsed into [`Node`]s, in either notation. Each part is then
//! read into the type it configures with [`read()`], which reports every problem of
//! that part at once instead of stopping at the first. [`render()`] shows problems
//! with the source text underlined, and [`problems_json`] returns them as JSON.
//!
//! ```
//! use toolmark_config::{SourceText, RenderStyle, parse, read, render};
//!
//! #[derive(serde::Deserialize)]
//! struct Budget {
//!     max: u64,
//! }
//!
//! let source = SourceText::new("budget.yaml", "max: -1\nmix: 2\n");
//! let mut parsed = parse(&source);
//! let budget: Option<Budget> = read(&parsed.node.unwrap(), &mut parsed.problems);
//! assert!(budget.is_none());
//! let messages: Vec<_> = parsed.problems.iter().map(|problem| problem.message.as_str()).collect();
//! assert_eq!(messages, ["expected a whole number of 0 or more, found -1", "unknown key \"mix\""]);
//! assert!(render(&source, &parsed.problems, RenderStyle::default()).contains("budget.yaml:2:1"));
//! ```

#![forbid(unsafe_code)]

mod de;
mod fault;
mod fill;
pub mod json;
mod node;
mod parse;
pub mod plain;
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
pub use node::{MAX_DEPTH, Node, NodeEntry, NodeKind, NodeSpan};
pub use parse::{ParsedTree, parse};
pub use problem::{Problem, ProblemSeverity};
pub use read::read;
pub use render::{RenderStyle, problems_json, render};
pub use source::{SourcePosition, SourceText};
pub use spanned::Spanned;
pub use words::{did_you_mean, quoted};
