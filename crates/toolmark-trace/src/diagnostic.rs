//! What could not be read, and where.

use crate::model::{At, Location};
use std::sync::Arc;
use toolmark_base::word_enum;

word_enum! {
    /// How much a [`Diagnostic`] matters.
    pub enum Severity {
        /// Everything was read; this is worth knowing.
        Note = "note",
        /// A part of the file could not be read and was left out.
        Skipped = "skipped",
        /// The file could not be read at all.
        Error = "error",
    }
}

/// One thing that could not be read as it should.
#[derive(Debug, Clone)]
pub struct Diagnostic {
    /// How much it matters.
    pub severity: Severity,
    /// What happened, as a lower-case fragment.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Where; for a whole file, its name with line 0.
    pub location: Location,
    /// The offending text, cut.
    pub excerpt: Option<String>,
    /// The byte in [`Diagnostic::excerpt`] where the place is.
    pub caret: usize,
}

impl Diagnostic {
    /// A diagnostic about a place in a file.
    pub(crate) fn at(severity: Severity, at: &At, message: impl Into<String>) -> Self {
        let (excerpt, caret) = at.excerpt(200);
        Self {
            severity,
            message: message.into(),
            hint: None,
            location: at.location(),
            excerpt: Some(excerpt.to_owned()),
            caret,
        }
    }

    /// A diagnostic about a whole file.
    pub(crate) fn file(severity: Severity, file: &Arc<str>, message: impl Into<String>) -> Self {
        Self {
            severity,
            message: message.into(),
            hint: None,
            location: Location { file: Arc::clone(file), line: 0, column: 0, byte: 0 },
            excerpt: None,
            caret: 0,
        }
    }

    /// Adds what to do about it.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
