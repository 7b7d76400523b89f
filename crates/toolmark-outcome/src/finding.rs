//! What a rule found: one fault of one call, with what proves it and what to
//! do about it.

use crate::Evidence;
use crate::place::TracePlace;
use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Ordering;
use toolmark_base::word_enum;
use toolmark_redact::{Harmless, Printable, Redactor, Untrusted};

word_enum! {
    /// What is asked of a call.
    #[derive(JsonSchema)]
    #[schemars(rename_all = "snake_case")]
    pub enum Axis {
        /// Was it the right tool?
        Selection = "selection",
        /// Were the arguments right?
        Arguments = "arguments",
        /// Was the agent aware of what cannot be undone?
        Irreversibility = "irreversibility",
        /// Did it learn from errors?
        Recovery = "recovery",
    }
}

word_enum! {
    /// How bad it is, the least first.
    #[derive(JsonSchema)]
    #[schemars(rename_all = "snake_case")]
    pub enum Severity {
        /// Good to know.
        Info = "info",
        /// Waste, or a risk.
        Warning = "warning",
        /// A fault.
        Error = "error",
    }
}

word_enum! {
    /// How sure the rule is, the least first.
    #[derive(JsonSchema)]
    #[schemars(rename_all = "snake_case")]
    pub enum Confidence {
        /// Worth a look; kept from reports unless asked for.
        Low = "low",
        /// Nearly always right.
        Medium = "medium",
        /// The trace proves it.
        High = "high",
    }
}

impl Harmless for Axis {}

impl Harmless for Severity {}

impl Harmless for Confidence {}

impl Axis {
    /// The letter the codes of its rules start with.
    #[must_use]
    pub fn letter(self) -> char {
        match self {
            Self::Selection => 'S',
            Self::Arguments => 'A',
            Self::Irreversibility => 'I',
            Self::Recovery => 'R',
        }
    }

    /// The digit after the letter.
    #[must_use]
    pub fn digit(self) -> char {
        match self {
            Self::Selection => '1',
            Self::Arguments => '2',
            Self::Irreversibility => '3',
            Self::Recovery => '4',
        }
    }
}

/// One fault of one call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding<T = Untrusted> {
    /// The rule's code.
    pub code: &'static str,
    /// The rule's name.
    pub name: &'static str,
    /// What was asked.
    pub axis: Axis,
    /// How bad it is.
    pub severity: Severity,
    /// How sure the rule is.
    pub confidence: Confidence,
    /// The tool of the call.
    pub tool: T,
    /// What kind of it: the error class of a failed call, the part of the arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bucket: Option<T>,
    /// What is wrong, in one line.
    pub message: T,
    /// What to do about it, in one line.
    pub remedy: T,
    /// The session's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<T>,
    /// Where the call stands.
    pub place: TracePlace<T>,
    /// The calls that prove it; the first is the call at fault.
    pub evidence: Vec<Evidence<T>>,
    /// What it is recognised by in the next run; see [`crate::fingerprint`].
    pub fingerprint: String,
    /// Was it not in the baseline? `None` where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<bool>,
    /// What a judge says to it, where one was asked and could tell. It changes
    /// nothing else of the finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<SecondOpinion<T>>,
}

/// What a judge says to a finding.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SecondOpinion<T = Untrusted> {
    /// The judge's score for the call, from 0 to 1.
    pub score: Option<f64>,
    /// Why, in its words.
    pub reason: T,
    /// Does it see the fault too?
    pub agrees: bool,
}

impl SecondOpinion {
    fn redact(self, redactor: Redactor) -> SecondOpinion<Printable> {
        let reason = redactor.apply(self.reason);
        SecondOpinion { score: self.score, reason, agrees: self.agrees }
    }
}

impl<T> Finding<T> {
    /// Is it one to act on: new, or of a run that is compared with none?
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.new != Some(false)
    }
}

impl<T: Ord> Finding<T> {
    /// The worst first, then by code and place: the order of every report.
    #[must_use]
    pub fn order(&self, other: &Self) -> Ordering {
        let index = |finding: &Self| {
            finding.evidence.first().and_then(|e| e.call.as_ref()).map_or(0, |call| call.index)
        };
        other
            .severity
            .cmp(&self.severity)
            .then_with(|| other.confidence.cmp(&self.confidence))
            .then_with(|| self.code.cmp(other.code))
            .then_with(|| self.place.file.cmp(&other.place.file))
            .then_with(|| self.place.byte.cmp(&other.place.byte))
            .then_with(|| index(self).cmp(&index(other)))
            .then_with(|| self.session.cmp(&other.session))
            .then_with(|| self.message.cmp(&other.message))
    }
}

impl Finding {
    /// It as it may be printed.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> Finding<Printable> {
        Finding {
            code: self.code,
            name: self.name,
            axis: self.axis,
            severity: self.severity,
            confidence: self.confidence,
            tool: redactor.apply(self.tool),
            bucket: self.bucket.map(|bucket| redactor.apply(bucket)),
            message: redactor.apply(self.message),
            remedy: redactor.apply(self.remedy),
            session: self.session.map(|session| redactor.apply(session)),
            place: self.place.redact(redactor),
            evidence: self.evidence.into_iter().map(|one| one.redact(redactor)).collect(),
            fingerprint: self.fingerprint,
            new: self.new,
            judge: self.judge.map(|judge| judge.redact(redactor)),
        }
    }
}
