//! One thing that is wrong with a configuration.

use super::Span;

/// How much a [`Problem`] matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The configuration cannot be used.
    Error,
    /// It can, and probably does not mean what was wanted.
    Warning,
}

impl Severity {
    /// `error` or `warning`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// One thing that is wrong, where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// How much it matters.
    pub severity: Severity,
    /// Its kind, in kebab case: `unknown-key`.
    pub code: &'static str,
    /// What is wrong, as a lower-case fragment without a full stop.
    pub message: String,
    /// Where, if it is about a place.
    pub span: Option<Span>,
    /// Words that stand at the underlined text.
    pub label: Option<String>,
    /// What to do about it.
    pub help: Option<String>,
    /// Other places that belong to it, each with words.
    pub notes: Vec<(Span, String)>,
}

impl Problem {
    /// A problem that makes the configuration unusable.
    #[must_use]
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            code,
            message: message.into(),
            span: None,
            label: None,
            help: None,
            notes: Vec::new(),
        }
    }

    /// A problem that leaves it usable.
    #[must_use]
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, message) }
    }

    /// Says where. The default span, which means nowhere, is left out.
    #[must_use]
    pub fn at(mut self, span: Span) -> Self {
        self.span = span.known();
        self
    }

    /// Puts words at the underlined text.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Says what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds another place that belongs to it.
    #[must_use]
    pub fn note(mut self, span: Span, words: impl Into<String>) -> Self {
        self.notes.extend(span.known().map(|span| (span, words.into())));
        self
    }

    /// Does it make the configuration unusable?
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
