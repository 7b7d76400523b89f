//! Alignment of expectations and calls.

use crate::evidence::CallRef;
use serde::Serialize;
use toolmark_redact::{Printable, Redactor, Untrusted};

/// State of an expectation, a call or a pair of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RowState {
    /// Expected and called.
    Matched,
    /// Called with the right tool, but something else about the call is wrong.
    Mismatched,
    /// Expected and not called.
    Missing,
    /// Optional and not called.
    Skipped,
    /// Called and not expected.
    Extra,
    /// Called and forbidden.
    Forbidden,
    /// Undecidable: the call may or may not meet the expectation.
    Unknown,
}

impl RowState {
    /// Returns the word used in every output.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Matched => "matched",
            Self::Mismatched => "mismatched",
            Self::Missing => "missing",
            Self::Skipped => "skipped",
            Self::Extra => "extra",
            Self::Forbidden => "forbidden",
            Self::Unknown => "unknown",
        }
    }
}

/// A row of an alignment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExplanationRow<T = Untrusted> {
    /// Description of the expectation in this row, if any.
    pub expected: Option<T>,
    /// The call in this row, if any.
    pub call: Option<CallRef<T>>,
    /// State of the row.
    pub state: RowState,
    /// Description of the mismatch, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<T>,
}

impl ExplanationRow {
    fn redact(self, redactor: Redactor) -> ExplanationRow<Printable> {
        ExplanationRow {
            expected: self.expected.map(|expected| redactor.apply(expected)),
            call: self.call.map(|call| call.redact(redactor)),
            state: self.state,
            why: self.why.map(|why| redactor.apply(why)),
        }
    }
}

/// The alignment that decided the verdict, its first divergence, and the smallest change that
/// would make it pass.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Explanation<T = Untrusted> {
    /// Expectations and calls, in order. Long runs of extra calls may be omitted; `elided`
    /// counts them.
    pub rows: Vec<ExplanationRow<T>>,
    /// Number of extra calls without a row.
    #[serde(skip_serializing_if = "is_zero")]
    pub elided: usize,
    /// Index in `rows` of the first row that contradicts the expectations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divergence: Option<usize>,
    /// Changes that would make the verdict pass, one entry each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub repair: Vec<T>,
}

impl Explanation {
    /// Returns the printable explanation.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> Explanation<Printable> {
        Explanation {
            rows: self.rows.into_iter().map(|row| row.redact(redactor)).collect(),
            elided: self.elided,
            divergence: self.divergence,
            repair: redactor.apply_all(self.repair),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}
