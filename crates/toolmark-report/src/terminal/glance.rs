//! Text of a trace at a glance.

use super::text::{Layout, head};
use toolmark_redact::{Printable, Redactor};

/// The text a one-line glance is taken from.
const GLANCE: usize = 8 << 10;

/// The start of a text as it may be printed, on one line.
#[must_use]
pub fn glance(redactor: Redactor, text: &str) -> Printable {
    redactor.apply(head(text, GLANCE)).squeezed()
}
