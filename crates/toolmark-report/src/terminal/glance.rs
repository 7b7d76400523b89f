//! One-line excerpts of trace text.

use super::text::{TextLayout, head};
use toolmark_redact::{Printable, Redactor};
use toolmark_trace::{EventKind, Trajectory};

/// Number of bytes that an excerpt is taken from.
const GLANCE: usize = 8 << 10;

/// Returns the redacted start of a text on one line.
#[must_use]
pub fn glance(redactor: Redactor, text: &str) -> Printable {
    redactor.apply(head(text, GLANCE)).squeezed()
}

/// Returns the start of the first user message, or of the first message.
#[must_use]
pub fn first_words(run: &Trajectory, redactor: Redactor) -> Printable {
    let said = |kind: &EventKind| {
        let events = run.events.iter().filter(|e| e.kind == *kind);
        events
            .filter_map(|e| e.text.as_ref())
            .map(|t| glance(redactor, &t.plain()))
            .find(|t| !t.is_empty())
    };
    said(&EventKind::User)
        .or_else(|| said(&EventKind::Message))
        .or_else(|| said(&EventKind::Context))
        .unwrap_or_default()
}
