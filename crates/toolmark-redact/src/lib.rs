//! Makes text of a trace printable: secrets are redacted, and control sequences for a
//! terminal or a browser are removed or made visible.
//!
//! Text of a trace, a spec or a program is [`Untrusted`] until a [`Redactor`] makes
//! it [`Printable`]: nothing else can be printed.
//!
//! ```
//! use toolmark_redact::{redact, sanitize};
//!
//! let shown = redact("GITHUB_TOKEN=ghp_x1Y2z3A4b5C6d7E8f9G0h1I2j3K4l5M6n7O8");
//! assert_eq!(shown, "GITHUB_TOKEN=[redacted]");
//! assert_eq!(sanitize("a\u{1b}[2Jb"), "a␛[2Jb");
//! ```

#![forbid(unsafe_code)]

mod first_look;
mod mask;
mod names;
mod redactor;
mod scan;
mod shapes;
mod text;

pub use mask::{MASK, masked, moved, redact, redact_named};
pub use redactor::Redactor;
pub use scan::{Proof, Secret, secrets};
#[doc(hidden)]
pub use text::TextPart;
pub use text::{Harmless, Json, Printable, SharedName, Untrusted};
pub use toolmark_base::sanitize::{is_obeyed, sanitize, visible};
