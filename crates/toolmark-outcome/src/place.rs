//! Positions in traces and specs that results refer to.

use serde::Serialize;
use toolmark_redact::{Printable, Redactor, SharedName, Untrusted};
use toolmark_trace::Location;

/// A position in a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TracePlace<T = Untrusted> {
    /// File name as given on input.
    pub file: SharedName<T>,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Byte offset in the decompressed file, from 0.
    pub byte: u64,
}

impl From<Location> for TracePlace {
    fn from(place: Location) -> Self {
        let Location { file, line, column, byte } = place;
        Self { file: file.into(), line, column, byte }
    }
}

impl TracePlace {
    /// Returns the printable position.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> TracePlace<Printable> {
        let Self { file, line, column, byte } = self;
        TracePlace { file: redactor.name(file), line, column, byte }
    }
}

/// A position in a spec.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct SpecPlace<T = Untrusted> {
    /// File name.
    pub file: SharedName<T>,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

impl SpecPlace {
    /// Returns the printable position.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> SpecPlace<Printable> {
        let Self { file, line, column } = self;
        SpecPlace { file: redactor.name(file), line, column }
    }
}
