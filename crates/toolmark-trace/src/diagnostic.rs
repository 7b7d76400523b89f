//! Diagnostics for content that could not be read, with source positions.

use crate::model::{At, Location};
use std::sync::Arc;
use toolmark_base::word_enum;

word_enum! {
    /// Severity of a [`Diagnostic`].
    pub enum DiagnosticSeverity {
        /// Everything was read; for information only.
        Note = "note",
        /// A part of the file could not be read and was left out.
        Skipped = "skipped",
        /// The file could not be read at all.
        Error = "error",
    }
}

/// A problem found while reading.
#[derive(Debug, Clone)]
pub struct Diagnostic {
    /// Severity.
    pub severity: DiagnosticSeverity,
    /// Description, as a lower-case fragment.
    pub message: String,
    /// Suggested fix.
    pub hint: Option<String>,
    /// Location; for a whole file, its name with line 0.
    pub location: Location,
    /// Excerpt of the affected text.
    pub excerpt: Option<String>,
    /// Byte offset of the problem in [`Diagnostic::excerpt`].
    pub caret: usize,
}

impl Diagnostic {
    /// Creates a diagnostic about a position in a file.
    pub(crate) fn at(severity: DiagnosticSeverity, at: &At, message: impl Into<String>) -> Self {
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

    /// Creates a diagnostic about a whole file.
    pub(crate) fn file(
        severity: DiagnosticSeverity,
        file: &Arc<str>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            severity,
            message: message.into(),
            hint: None,
            location: Location { file: Arc::clone(file), line: 0, column: 0, byte: 0 },
            excerpt: None,
            caret: 0,
        }
    }

    /// Adds a suggested fix.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
