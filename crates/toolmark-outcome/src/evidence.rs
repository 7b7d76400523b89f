//! Pointers into the trace: what decided a verdict.

use crate::place::TracePlace;
use serde::Serialize;
use std::fmt;
use toolmark_base::text::excerpt_of;
use toolmark_redact::{Harmless, Printable, Redactor, Untrusted, printable};
use toolmark_trace::Call;

/// What a piece of evidence says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It is what was asked for.
    Matched,
    /// It should be there and is not.
    Missing,
    /// It should not be there.
    Violation,
    /// It was not asked for.
    Extra,
    /// It is nearly what was asked for.
    Mismatch,
    /// It helps to understand the verdict.
    Context,
}

impl Role {
    /// All of them, in order.
    pub const ALL: &[Self] = &[
        Self::Matched,
        Self::Missing,
        Self::Violation,
        Self::Extra,
        Self::Mismatch,
        Self::Context,
    ];

    /// The word for it.
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

/// A call as evidence names it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallRef<T = Untrusted> {
    /// Its place among the calls of the trajectory, from 0. Texts count from 1:
    /// [`Self::number`].
    pub index: usize,
    /// The step it belongs to, from 0. Texts count from 1: [`Self::step_number`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// Its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<T>,
    /// The tool.
    pub tool: T,
    /// The beginning of its arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<T>,
    /// How it ended.
    pub status: &'static str,
    /// Where it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<TracePlace<T>>,
}

/// One pointer into the trace with what it shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evidence<T = Untrusted> {
    /// What it says.
    pub role: Role,
    /// In words.
    pub text: T,
    /// The call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<CallRef<T>>,
    /// The place, where it is no call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<TracePlace<T>>,
    /// The words of the trace it points at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<T>,
}

impl CallRef {
    /// A call by its index, and the place it stands at.
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

    /// It as it may be printed.
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
    /// The number that texts give it: calls are counted from 1.
    #[must_use]
    pub fn number(&self) -> usize {
        self.index + 1
    }

    /// The number that texts give its step: steps are counted from 1.
    #[must_use]
    pub fn step_number(&self) -> Option<u32> {
        self.step.map(|step| step + 1)
    }
}

impl CallRef<Printable> {
    /// The call on one line: `#3 Bash [failed] {"command":"make"}`.
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
    /// Where it points.
    #[must_use]
    pub fn location(&self) -> Option<&TracePlace<T>> {
        self.place.as_ref().or_else(|| self.call.as_ref()?.place.as_ref())
    }
}

impl Evidence<Printable> {
    /// It in words, on one line.
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
    /// About a call.
    #[must_use]
    pub fn call(role: Role, text: impl Into<Untrusted>, call: CallRef) -> Self {
        Self { call: Some(call), ..Self::words(role, text) }
    }

    /// About something that is not in the trace.
    #[must_use]
    pub fn absence(text: impl Into<Untrusted>) -> Self {
        Self::words(Role::Missing, text)
    }

    /// About something that is no call: a budget, a file, a text.
    #[must_use]
    pub fn words(role: Role, text: impl Into<Untrusted>) -> Self {
        Self { role, text: text.into(), call: None, place: None, excerpt: None }
    }

    /// With the place it points at.
    #[must_use]
    pub fn at(mut self, place: impl Into<TracePlace>) -> Self {
        self.place = Some(place.into());
        self
    }

    /// With the words it points at.
    #[must_use]
    pub fn with_excerpt(mut self, text: &str) -> Self {
        self.excerpt = Some(excerpt_of(text).into());
        self
    }

    /// It as it may be printed.
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
