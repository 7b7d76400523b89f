//! Text of a trace at a glance.

use super::text::{Layout, head};
use toolmark_redact::{Printable, Redactor};
use toolmark_trace::{EventKind, Trajectory};

/// The text a one-line glance is taken from.
const GLANCE: usize = 8 << 10;

/// The start of a text as it may be printed, on one line.
#[must_use]
pub fn glance(redactor: Redactor, text: &str) -> Printable {
    redactor.apply(head(text, GLANCE)).squeezed()
}

/// The first words of the user, or of whatever was said first.
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
