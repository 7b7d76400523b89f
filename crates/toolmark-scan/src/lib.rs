//! JSON scanner: a document is parsed once, and its values borrow from the text.
//!
//! Agent traces consist mainly of long source code inside JSON strings: an escape
//! every few dozen bytes, and few structural characters. Parsers that process each
//! escape are slow on them. This crate finds all structural characters with bit
//! masks, 64 bytes at a time ([`Scanner::parse`], first pass), then walks only
//! those ([`Doc`], second pass), so that the text inside strings is decoded only
//! on demand.
//!
//! Nothing recurses: a document nested 100,000 levels deep uses memory, not stack.
//!
//! ```
//! let mut scanner = toolmark_scan::Scanner::new();
//! let doc = scanner.parse(r#"{"tool":"Bash","input":{"command":"ls -l"}}"#)?;
//! let input = doc.root().get("input").unwrap();
//! assert_eq!(input.get("command").and_then(|c| c.str()).as_deref(), Some("ls -l"));
//! # Ok::<(), toolmark_scan::ScanError>(())
//! ```

#[cfg(feature = "allocator")]
mod allocator;
mod doc;
mod escape;
mod index;
mod kinds;
mod lines;
mod nodes;
mod number;
mod prefixes;
mod quotes;
mod shared;
mod split;
mod unescape;
mod utf8;
mod vector;

#[cfg(feature = "allocator")]
pub use allocator::Allocator;
pub use doc::{Doc, Items, JsonKind, ObjectFields, ScanError, Scanner, Value};
pub use escape::escape;
pub use kinds::Kinds;
pub use lines::TextLines;
pub use prefixes::{CandidatePositions, Prefixes};
pub use quotes::quotes;
pub use shared::Shared;
pub use split::{Split, value_end};
pub use unescape::unescape;
pub use utf8::{Utf8, into_utf8};
