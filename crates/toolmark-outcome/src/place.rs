//! Places in traces and specs that results point at.

use serde::Serialize;
use toolmark_redact::{Name, Printable, Redactor, Untrusted};
use toolmark_trace::Location;

/// A place in a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TracePlace<T = Untrusted> {
    /// The file as it was named on input.
    pub file: Name<T>,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// The byte in the decompressed file, from 0.
    pub byte: u64,
}

impl From<Location> for TracePlace {
    fn from(place: Location) -> Self {
        let Location { file, line, column, byte } = place;
        Self { file: file.into(), line, column, byte }
    }
}

impl TracePlace {
    /// It as it may be printed.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> TracePlace<Printable> {
        let Self { file, line, column, byte } = self;
        TracePlace { file: redactor.name(file), line, column, byte }
    }
}

/// A place in the spec.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct SpecPlace<T = Untrusted> {
    /// The file.
    pub file: Name<T>,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl SpecPlace {
    /// It as it may be printed.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> SpecPlace<Printable> {
        let Self { file, line, column } = self;
        SpecPlace { file: redactor.name(file), line, column }
    }
}
