//! Findings of rules: one fault of one call, with its evidence and a remedy.

use crate::Evidence;
use crate::place::TracePlace;
use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Ordering;
use toolmark_base::word_enum;
use toolmark_redact::{Harmless, Printable, Redactor, Untrusted};

word_enum! {
    /// Quality of a call that a rule checks.
    #[derive(JsonSchema)]
    #[schemars(rename_all = "snake_case")]
    pub enum Axis {
        /// Choice of the tool.
        Selection = "selection",
        /// Arguments of the call.
        Arguments = "arguments",
        /// Awareness of irreversible actions.
        Irreversibility = "irreversibility",
        /// Recovery from errors.
        Recovery = "recovery",
    }
}

word_enum! {
    /// Severity, in ascending order.
    #[derive(JsonSchema)]
    #[schemars(rename_all = "snake_case")]
    pub enum Severity {
        /// For information.
        Info = "info",
        /// Waste, or a risk.
        Warning = "warning",
        /// A fault.
        Error = "error",
    }
}

word_enum! {
    /// Confidence of the rule, in ascending order.
    #[derive(JsonSchema)]
    #[schemars(rename_all = "snake_case")]
    pub enum Confidence {
        /// Worth a look; omitted from reports by default.
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
    /// Returns the first letter of the rule codes of this axis.
    #[must_use]
    pub fn letter(self) -> char {
        match self {
            Self::Selection => 'S',
            Self::Arguments => 'A',
            Self::Irreversibility => 'I',
            Self::Recovery => 'R',
        }
    }

    /// Returns the digit after the letter.
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
    /// Code of the rule.
    pub code: &'static str,
    /// Name of the rule.
    pub name: &'static str,
    /// Axis of the rule.
    pub axis: Axis,
    /// Severity.
    pub severity: Severity,
    /// Confidence of the rule.
    pub confidence: Confidence,
    /// Name of the called tool.
    pub tool: T,
    /// Sub-category: the error class of a failed call, or the affected part of the arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bucket: Option<T>,
    /// Description of the fault, on one line.
    pub message: T,
    /// Suggested fix, on one line.
    pub remedy: T,
    /// Id of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<T>,
    /// Position of the call.
    pub place: TracePlace<T>,
    /// Calls that prove the fault; the first is the faulty call.
    pub evidence: Vec<Evidence<T>>,
    /// Identifier that is stable between runs; see [`crate::fingerprint`].
    pub fingerprint: String,
    /// Whether the finding is missing from the baseline; `None` without a baseline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<bool>,
    /// Opinion of a judge, if one was asked and could decide. It does not change any other
    /// field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<SecondOpinion<T>>,
}

/// Opinion of a judge on a finding.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SecondOpinion<T = Untrusted> {
    /// Score that the judge gave the call, from 0 to 1.
    pub score: Option<f64>,
    /// Reason that the judge gave.
    pub reason: T,
    /// Whether the judge also sees the fault.
    pub agrees: bool,
}

impl SecondOpinion {
    fn redact(self, redactor: Redactor) -> SecondOpinion<Printable> {
        let reason = redactor.apply(self.reason);
        SecondOpinion { score: self.score, reason, agrees: self.agrees }
    }
}

impl<T> Finding<T> {
    /// Whether the finding needs attention: it is new, or there is no baseline.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.new != Some(false)
    }
}

impl<T: Ord> Finding<T> {
    /// Compares by severity, worst first, then by code and position: the order of every
    /// report.
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
    /// Returns the printable finding.
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
