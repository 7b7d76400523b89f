//! One failed call or one finding of one session, with the data its issue needs.

use crate::key::{IssueId, IssueKey};
use crate::subject::Subject;
use jiff::Timestamp;
use std::collections::HashMap;
use std::sync::Arc;
use toolmark_base::word_enum;
use toolmark_check::CallCost;
use toolmark_session::recovery::RecoveryStatus;

word_enum! {
    /// Kind of the occurrences of an issue.
    pub enum OccurrenceKind {
        /// Failed calls.
        Failure = "failure",
        /// Findings of rules.
        Finding = "finding",
    }
}

word_enum! {
    /// Recovery from a failure.
    pub enum Recovery {
        /// No recovery was needed, or it cannot be determined.
        NotAsked = "not-asked",
        /// The following calls are inconclusive.
        Open = "open",
        /// The next action was wrong.
        Failed = "failed",
        /// A partial recovery.
        Partial = "partial",
        /// A full recovery.
        Recovered = "recovered",
    }
}

impl From<RecoveryStatus> for Recovery {
    fn from(verdict: RecoveryStatus) -> Self {
        match verdict {
            RecoveryStatus::Recovered => Self::Recovered,
            RecoveryStatus::Partial => Self::Partial,
            RecoveryStatus::Failed(_) | RecoveryStatus::Evaded => Self::Failed,
            RecoveryStatus::Open => Self::Open,
        }
    }
}

/// Common properties of all occurrences of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionOrigin {
    /// Session ID; the file name if there is none.
    pub session: Arc<str>,
    /// File.
    pub file: Arc<str>,
    /// Working directory of the session.
    pub project: Option<Arc<str>>,
    /// Model.
    pub model: Option<Arc<str>>,
    /// Name of the agent.
    pub agent: Arc<str>,
    /// Version of the agent.
    pub version: Option<Arc<str>>,
    /// Host, by its name in toolsets.
    pub host: Arc<str>,
    /// Start time.
    pub started: Option<Timestamp>,
}

/// One failed call or one finding.
#[derive(Debug, Clone)]
pub struct Occurrence {
    /// Issue.
    pub issue: IssueId,
    /// Kind.
    pub kind: OccurrenceKind,
    /// Index of the origin in the batch.
    pub origin: usize,
    /// Call ID.
    pub call_id: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// Byte offset, from 0.
    pub byte: u64,
    /// Time of the call.
    pub time: Option<Timestamp>,
    /// Tool.
    pub tool: Arc<str>,
    /// Subject.
    pub subject: Subject,
    /// Recovery.
    pub recovery: Recovery,
    /// Cost of the call.
    pub spent: CallCost,
}

/// An example of an occurrence for users.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OccurrenceExample {
    /// Tool and arguments of the call.
    pub call: String,
    /// Result of the call, or the message of the rule.
    pub said: String,
    /// Next action of the agent.
    pub followed: Option<String>,
    /// Rank among examples: the shortest complete one is shown.
    pub rank: Rank,
}

/// Order of examples: complete ones first, then the shortest, then by position.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    /// Whether a part is missing.
    pub is_incomplete: bool,
    /// Length.
    pub length: usize,
    /// Session.
    pub session: Arc<str>,
    /// Call ID.
    pub call_id: String,
    /// File.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// Byte offset, from 0.
    pub byte: u64,
}

/// Data about an issue from one of its occurrences.
#[derive(Debug, Clone)]
pub struct About {
    /// Key.
    pub key: IssueKey,
    /// Remedy given by the rule; `None` for failures.
    pub remedy: Option<String>,
    /// Shortest complete occurrence.
    pub example: Option<OccurrenceExample>,
}

/// The occurrences of one file.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// Origins of the occurrences.
    pub origins: Vec<SessionOrigin>,
    /// Failed calls and findings.
    pub occurrences: Vec<Occurrence>,
    /// Issues.
    pub about: HashMap<IssueId, About>,
    /// Number of sessions, with or without occurrences.
    pub sessions: u64,
    /// Number of calls.
    pub calls: u64,
    /// Number of sessions without a record of their calls.
    pub unrecorded: u64,
}
