//! What makes text of a trace printable: secrets are redacted, and what a
//! terminal or a browser would obey is taken out or made visible.
//!
//! ```
//! use toolmark_redact::{redact, sanitize};
//!
//! let shown = redact("GITHUB_TOKEN=ghp_x1Y2z3A4b5C6d7E8f9G0h1I2j3K4l5M6n7O8");
//! assert_eq!(shown, "GITHUB_TOKEN=[redacted]");
//! assert_eq!(sanitize("a\u{1b}[31mb"), "ab");
//! ```

#![forbid(unsafe_code)]

mod mask;
mod sanitize;
pub mod secrets;
mod shapes;

pub use mask::{MASK, moved, redact, redact_named};
pub use sanitize::{is_obeyed, sanitize, visible};
