//! What people may see of a trace.

use crate::text::{head, squeezed};
use std::borrow::Cow;
use toolmark_redact::redact;

/// What people may see of a trace: all of it, or all but its secrets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Veil {
    redacts: bool,
}

/// The text a one-line glance is taken from.
const GLANCE: usize = 8 << 10;

impl Veil {
    pub(crate) fn new(redacts: bool) -> Self {
        Self { redacts }
    }

    /// Text as it may be seen.
    pub(crate) fn shown(self, text: &str) -> Cow<'_, str> {
        if self.redacts { redact(text) } else { Cow::Borrowed(text) }
    }

    /// The start of a text as it may be seen, on one line.
    pub(crate) fn glance(self, text: &str) -> String {
        squeezed(&self.shown(head(text, GLANCE)))
    }
}
