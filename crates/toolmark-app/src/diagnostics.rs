//! The diagnostics of a file that are worth showing.

use toolmark_report::Verbosity;
use toolmark_trace::{Diagnostic, DiagnosticSeverity};

/// Maximum number of diagnostics per file without --verbose.
const MAX_SHOWN: usize = 5;

/// The diagnostics of one file that will be printed.
#[derive(Debug, Default)]
pub struct FileDiagnostics {
    /// Diagnostics to show.
    pub shown: Vec<Diagnostic>,
    /// Number of further records that were skipped.
    pub more: u64,
}

impl FileDiagnostics {
    /// Selects the diagnostics to print.
    pub fn of(diagnostics: &[Diagnostic], skipped: u64, verbosity: Verbosity) -> Self {
        let (least, most) = match verbosity {
            Verbosity::Quiet => (DiagnosticSeverity::Error, MAX_SHOWN),
            Verbosity::Normal => (DiagnosticSeverity::Skipped, MAX_SHOWN),
            Verbosity::Verbose => (DiagnosticSeverity::Note, usize::MAX),
        };
        let shown: Vec<Diagnostic> =
            diagnostics.iter().filter(|d| d.severity >= least).take(most).cloned().collect();
        let counted =
            shown.iter().filter(|d| d.severity == DiagnosticSeverity::Skipped).count() as u64;
        let more =
            if least > DiagnosticSeverity::Skipped { 0 } else { skipped.saturating_sub(counted) };
        Self { shown, more }
    }

    /// Returns the diagnostic of a file that could not be read at all.
    pub fn error(diagnostic: Diagnostic) -> Self {
        Self { shown: vec![diagnostic], more: 0 }
    }

    /// Whether there is nothing to print.
    pub fn is_empty(&self) -> bool {
        self.shown.is_empty() && self.more == 0
    }
}
