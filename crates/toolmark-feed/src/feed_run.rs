//! Result of a run of `toolmark feed`.

use crate::issue::Issue;
use crate::key::IssueId;
use crate::occurrence::{OccurrenceKind, Recovery};
use jiff::Timestamp;
use serde::Serialize;
use toolmark_outcome::{Printable, Redactor, TracePlace, Untrusted};

/// One occurrence in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedOccurrence<T = Untrusted> {
    /// Issue.
    pub issue: IssueId,
    /// Session.
    pub session: T,
    /// Call.
    pub call_id: T,
    /// Position in the file.
    pub place: TracePlace<T>,
    /// Time of the call.
    #[serde(skip)]
    pub time: Option<Timestamp>,
    /// Kind: a failure or a finding.
    #[serde(skip)]
    pub kind: OccurrenceKind,
    /// Recovery from the failure.
    #[serde(skip)]
    pub recovery: Recovery,
}

impl ListedOccurrence {
    fn redact(self, redactor: Redactor) -> ListedOccurrence<Printable> {
        ListedOccurrence {
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

/// Issues, and counts of the input.
#[derive(Debug)]
pub struct FeedRun<T = Untrusted> {
    /// Issues, sorted by state and number of occurrences.
    pub issues: Vec<Issue<T>>,
    /// Every occurrence, if requested.
    pub occurrences: Option<Vec<ListedOccurrence<T>>>,
    /// Number of files read.
    pub files: u64,
    /// Number of sessions.
    pub sessions: u64,
    /// Number of calls in the sessions.
    pub calls: u64,
    /// Further notes for the reader.
    pub notes: Vec<T>,
}

impl FeedRun {
    /// Returns the result in printable form.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> FeedRun<Printable> {
        let listed =
            |all: Vec<ListedOccurrence>| all.into_iter().map(|one| one.redact(redactor)).collect();
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
