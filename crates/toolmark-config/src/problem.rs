//! A problem of a configuration.

use super::NodeSpan;
use toolmark_base::{ReadFileError, ReadFileErrorKind};

/// Severity of a [`Problem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProblemSeverity {
    /// The configuration cannot be used.
    Error,
    /// The configuration can be used, but probably does not mean what was intended.
    Warning,
}

impl ProblemSeverity {
    /// Returns `error` or `warning`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// A problem, its position and a suggested fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Severity.
    pub severity: ProblemSeverity,
    /// Problem kind, in kebab case: `unknown-key`.
    pub code: &'static str,
    /// Description, as a lower-case fragment without a full stop.
    pub message: String,
    /// Source position, if the problem has one.
    pub span: Option<NodeSpan>,
    /// Label at the underlined text.
    pub label: Option<String>,
    /// Suggested fix.
    pub help: Option<String>,
    /// Related positions, each with a description.
    pub notes: Vec<(NodeSpan, String)>,
}

impl Problem {
    /// Creates a problem that makes the configuration unusable.
    #[must_use]
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            severity: ProblemSeverity::Error,
            code,
            message: message.into(),
            span: None,
            label: None,
            help: None,
            notes: Vec::new(),
        }
    }

    /// Creates a problem that leaves the configuration usable.
    #[must_use]
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self { severity: ProblemSeverity::Warning, ..Self::error(code, message) }
    }

    /// Sets the position. The default span means no position and is ignored.
    #[must_use]
    pub fn at(mut self, span: NodeSpan) -> Self {
        self.span = span.known();
        self
    }

    /// Sets the label at the underlined text.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Sets the suggested fix.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a related position.
    #[must_use]
    pub fn note(mut self, span: NodeSpan, words: impl Into<String>) -> Self {
        self.notes.extend(span.known().map(|span| (span, words.into())));
        self
    }

    /// Whether the problem makes the configuration unusable.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == ProblemSeverity::Error
    }
}

impl From<&ReadFileError> for Problem {
    fn from(error: &ReadFileError) -> Self {
        let code = match error.kind {
            ReadFileErrorKind::NotUtf8 { .. } | ReadFileErrorKind::Binary => "not-utf8",
            _ => "unreadable-file",
        };
        let problem = Self::error(code, error.to_string());
        // A path in a spec is relative to the spec, which the message shows.
        let help = error.hint().filter(|_| !error.is_missing());
        Self { help: help.map(str::to_owned), ..problem }
    }
}
