//! Evidence: the parts of a trace that decided a verdict.

use crate::place::TracePlace;
use serde::Serialize;
use std::fmt;
use toolmark_base::text::excerpt_of;
use toolmark_redact::{Harmless, Printable, Redactor, Untrusted, printable};
use toolmark_trace::Call;

/// Role of a piece of evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceRole {
    /// The call meets an expectation.
    Matched,
    /// Something expected is missing.
    Missing,
    /// The call or text is forbidden.
    Violation,
    /// The call was not expected.
    Extra,
    /// The call nearly meets an expectation.
    Mismatch,
    /// Background that helps to understand the verdict.
    Context,
}

impl EvidenceRole {
    /// All roles, in order.
    pub const ALL: &[Self] = &[
        Self::Matched,
        Self::Missing,
        Self::Violation,
        Self::Extra,
        Self::Mismatch,
        Self::Context,
    ];

    /// Returns the word used in every output.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Matched => "matched",
            Self::Missing => "missing",
            Self::Violation => "violation",
            Self::Extra => "extra",
            Self::Mismatch => "mismatch",
            Self::Context => "context",
        }
    }
}

/// Reference to a call in evidence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallRef<T = Untrusted> {
    /// Index among the calls of the trajectory, from 0. Messages count from 1, see
    /// [`Self::number`].
    pub index: usize,
    /// Step of the call, from 0. Messages count from 1, see [`Self::step_number`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// Id of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<T>,
    /// Name of the tool.
    pub tool: T,
    /// Excerpt of the arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<T>,
    /// Status of the call.
    pub status: &'static str,
    /// Position in the trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<TracePlace<T>>,
}

/// A piece of evidence: a reference into the trace with a description.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evidence<T = Untrusted> {
    /// Role of the evidence.
    pub role: EvidenceRole,
    /// Description.
    pub text: T,
    /// The call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<CallRef<T>>,
    /// Position in the trace, if the evidence is not about a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<TracePlace<T>>,
    /// Excerpt of the trace at that position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<T>,
}

impl CallRef {
    /// Creates a reference to a call from its index and its position.
    #[must_use]
    pub fn new(index: usize, call: &Call, place: Option<TracePlace>) -> Self {
        Self {
            index,
            step: call.step,
            id: call.id.as_ref().map(|id| id.get().into()),
            tool: call.name.full().into(),
            args: call.args.as_ref().map(|args| excerpt_of(&args.raw()).into()),
            status: call.status.word(),
            place,
        }
    }

    /// Returns the printable reference.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> CallRef<Printable> {
        CallRef {
            index: self.index,
            step: self.step,
            id: self.id.map(|id| redactor.apply(id)),
            tool: redactor.apply(self.tool),
            args: self.args.map(|args| redactor.apply(args)),
            status: self.status,
            place: self.place.map(|place| place.redact(redactor)),
        }
    }
}

impl<T> CallRef<T> {
    /// Returns the number used in messages: calls are counted from 1.
    #[must_use]
    pub fn number(&self) -> usize {
        self.index + 1
    }

    /// Returns the number of the step used in messages: steps are counted from 1.
    #[must_use]
    pub fn step_number(&self) -> Option<u32> {
        self.step.map(|step| step + 1)
    }
}

impl CallRef<Printable> {
    /// Returns the call on one line: `#3 Bash [failed] {"command":"make"}`.
    #[must_use]
    pub fn summary(&self) -> Printable {
        let mut words = printable!("#{} {}", self.number(), self.tool);
        if !matches!(self.status, "succeeded" | "unknown") {
            words = printable!("{} [{}]", words, self.status);
        }
        match &self.args {
            Some(args) => printable!("{} {}", words, args),
            None => words,
        }
    }
}

impl fmt::Display for CallRef<Printable> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "call {}", self.number())?;
        if let Some(step) = self.step_number() {
            write!(f, " (step {step})")?;
        }
        write!(f, " {}", self.tool)?;
        if let Some(args) = &self.args {
            write!(f, " {args}")?;
        }
        Ok(())
    }
}

impl Harmless for CallRef<Printable> {}

impl<T> Evidence<T> {
    /// Returns the position that the evidence refers to.
    #[must_use]
    pub fn location(&self) -> Option<&TracePlace<T>> {
        self.place.as_ref().or_else(|| self.call.as_ref()?.place.as_ref())
    }
}

impl Evidence<Printable> {
    /// Returns a description on one line.
    #[must_use]
    pub fn summary(&self) -> Printable {
        let mut words = self.text.clone();
        if let Some(made) = &self.call {
            let colon = if words.is_empty() { "" } else { ": " };
            words = printable!("{}{}{}", words, colon, made.summary());
        }
        match &self.excerpt {
            Some(excerpt) => printable!("{} \u{201c}{}\u{201d}", words, excerpt),
            None => words,
        }
    }
}

impl Evidence {
    /// Creates evidence about a call.
    #[must_use]
    pub fn call(role: EvidenceRole, text: impl Into<Untrusted>, call: CallRef) -> Self {
        Self { call: Some(call), ..Self::words(role, text) }
    }

    /// Creates evidence about something that is missing from the trace.
    #[must_use]
    pub fn absence(text: impl Into<Untrusted>) -> Self {
        Self::words(EvidenceRole::Missing, text)
    }

    /// Creates evidence about something other than a call: a budget, a file, a text.
    #[must_use]
    pub fn words(role: EvidenceRole, text: impl Into<Untrusted>) -> Self {
        Self { role, text: text.into(), call: None, place: None, excerpt: None }
    }

    /// Sets the position.
    #[must_use]
    pub fn at(mut self, place: impl Into<TracePlace>) -> Self {
        self.place = Some(place.into());
        self
    }

    /// Sets the excerpt.
    #[must_use]
    pub fn with_excerpt(mut self, text: &str) -> Self {
        self.excerpt = Some(excerpt_of(text).into());
        self
    }

    /// Returns the printable evidence.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> Evidence<Printable> {
        Evidence {
            role: self.role,
            text: redactor.apply(self.text),
            call: self.call.map(|call| call.redact(redactor)),
            place: self.place.map(|place| place.redact(redactor)),
            excerpt: self.excerpt.map(|excerpt| redactor.apply(excerpt)),
        }
    }
}
