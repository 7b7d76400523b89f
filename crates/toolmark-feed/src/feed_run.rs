//! What a run of `toolmark feed` came to.

use crate::issue::Issue;
use crate::key::IssueId;
use crate::occurrence::{Kind, Recovery};
use jiff::Timestamp;
use serde::Serialize;
use toolmark_outcome::{Printable, Redactor, TracePlace, Untrusted};

/// One occurrence, as it is listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listed<T = Untrusted> {
    /// Its issue.
    pub issue: IssueId,
    /// The session.
    pub session: T,
    /// The call.
    pub call_id: T,
    /// Where it stands.
    pub place: TracePlace<T>,
    /// When it happened.
    #[serde(skip)]
    pub time: Option<Timestamp>,
    /// A failure, or a finding.
    #[serde(skip)]
    pub kind: Kind,
    /// What came of it.
    #[serde(skip)]
    pub recovery: Recovery,
}

impl Listed {
    fn redact(self, redactor: Redactor) -> Listed<Printable> {
        Listed {
            issue: self.issue,
            session: redactor.apply(self.session),
            call_id: redactor.apply(self.call_id),
            place: self.place.redact(redactor),
            time: self.time,
            kind: self.kind,
            recovery: self.recovery,
        }
    }
}

/// Issues, and what they were made of.
#[derive(Debug)]
pub struct FeedRun<T = Untrusted> {
    /// The issues, those with most to do about first.
    pub issues: Vec<Issue<T>>,
    /// Every occurrence, where somebody asks for them.
    pub occurrences: Option<Vec<Listed<T>>>,
    /// How many files were read.
    pub files: u64,
    /// How many sessions.
    pub sessions: u64,
    /// How many calls they have.
    pub calls: u64,
    /// What the reader should know besides.
    pub notes: Vec<T>,
}

impl FeedRun {
    /// It as it may be printed.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> FeedRun<Printable> {
        let listed = |all: Vec<Listed>| all.into_iter().map(|one| one.redact(redactor)).collect();
        FeedRun {
            issues: self.issues.into_iter().map(|issue| issue.redact(redactor)).collect(),
            occurrences: self.occurrences.map(listed),
            files: self.files,
            sessions: self.sessions,
            calls: self.calls,
            notes: redactor.apply_all(self.notes),
        }
    }
}
