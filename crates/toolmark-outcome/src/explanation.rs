//! How expectations and calls were laid side by side.

use crate::evidence::CallRef;
use serde::Serialize;
use toolmark_redact::{Printable, Redactor, Untrusted};

/// What became of one expectation, one call, or the pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RowState {
    /// Expected and made.
    Matched,
    /// The right tool, but something else about the call is wrong.
    Mismatched,
    /// Expected and not made.
    Missing,
    /// Expected if it happens, and it did not.
    Skipped,
    /// Made and not expected.
    Extra,
    /// Made and forbidden.
    Forbidden,
    /// It cannot be told whether the call meets the expectation.
    Unknown,
}

impl RowState {
    /// The word used in every output.
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

/// One line of an alignment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row<T = Untrusted> {
    /// The expectation in words, if there is one on this line.
    pub expected: Option<T>,
    /// The call, if there is one on this line.
    pub call: Option<CallRef<T>>,
    /// What became of them.
    pub state: RowState,
    /// What exactly is wrong, where something is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<T>,
}

impl Row {
    fn redact(self, redactor: Redactor) -> Row<Printable> {
        Row {
            expected: self.expected.map(|expected| redactor.apply(expected)),
            call: self.call.map(|call| call.redact(redactor)),
            state: self.state,
            why: self.why.map(|why| redactor.apply(why)),
        }
    }
}

/// The alignment that decided, its first divergence, and the smallest change
/// that would have made it pass.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Explanation<T = Untrusted> {
    /// Expectations and calls, in order. Long runs of extra calls may be left
    /// out: `elided` counts them.
    pub rows: Vec<Row<T>>,
    /// Extra calls that have no row.
    #[serde(skip_serializing_if = "is_zero")]
    pub elided: usize,
    /// The first row that decided against, by its place in `rows`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divergence: Option<usize>,
    /// What would have to be different, one change each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub repair: Vec<T>,
}

impl Explanation {
    /// It as it may be printed.
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
