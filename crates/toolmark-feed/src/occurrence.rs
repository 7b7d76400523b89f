//! One failed call or one finding of one session, with what its issue needs of it.

use crate::key::{IssueId, Key};
use crate::subject::Subject;
use jiff::Timestamp;
use std::collections::HashMap;
use std::sync::Arc;
use toolmark_base::word_enum;
use toolmark_check::Spent;
use toolmark_session::recovery::Verdict;

word_enum! {
    /// What an issue is made of.
    pub enum Kind {
        /// Calls that failed.
        Failure = "failure",
        /// What rules found.
        Finding = "finding",
    }
}

word_enum! {
    /// What came of a failure.
    pub enum Recovery {
        /// There was nothing to recover from, or nobody can tell.
        NotAsked = "not-asked",
        /// The calls that followed decide nothing.
        Open = "open",
        /// The wrong move.
        Failed = "failed",
        /// Half of it.
        Partial = "partial",
        /// As it should be.
        Recovered = "recovered",
    }
}

impl From<Verdict> for Recovery {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Recovered => Self::Recovered,
            Verdict::Partial => Self::Partial,
            Verdict::Failed(_) | Verdict::Evaded => Self::Failed,
            Verdict::Open => Self::Open,
        }
    }
}

/// What all occurrences of a session have in common.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin {
    /// The session's id; the name of the file where it has none.
    pub session: Arc<str>,
    /// The file.
    pub file: Arc<str>,
    /// The directory it works in.
    pub project: Option<Arc<str>>,
    /// The model.
    pub model: Option<Arc<str>>,
    /// The agent's name.
    pub agent: Arc<str>,
    /// The agent's version.
    pub version: Option<Arc<str>>,
    /// The host, as toolsets call it.
    pub host: Arc<str>,
    /// When it started.
    pub started: Option<Timestamp>,
}

/// One failed call or one finding.
#[derive(Debug, Clone)]
pub struct Occurrence {
    /// Its issue.
    pub issue: IssueId,
    /// What it is.
    pub kind: Kind,
    /// Which of the origins of its batch it has.
    pub origin: usize,
    /// The id of the call.
    pub call_id: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// The byte, from 0.
    pub byte: u64,
    /// When it happened.
    pub time: Option<Timestamp>,
    /// The tool.
    pub tool: Arc<str>,
    /// What it is about.
    pub subject: Subject,
    /// What came of it.
    pub recovery: Recovery,
    /// What the call cost.
    pub spent: Spent,
}

/// What one occurrence looks like, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// The tool and what it was asked for.
    pub call: String,
    /// What came back, or what the rule says.
    pub said: String,
    /// What the agent did next.
    pub followed: Option<String>,
    /// What it is told apart by: the shortest that is complete is shown.
    pub rank: Rank,
}

/// The order of examples: complete ones first, then the shortest, then by place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    /// Is a part of it missing?
    pub is_incomplete: bool,
    /// How long it is.
    pub length: usize,
    /// The session.
    pub session: Arc<str>,
    /// The call.
    pub call_id: String,
    /// The file.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// The byte, from 0.
    pub byte: u64,
}

/// What is said of an issue by the first of its occurrences.
#[derive(Debug, Clone)]
pub struct About {
    /// Its key.
    pub key: Key,
    /// What the rule says to do; nothing for failures.
    pub remedy: Option<String>,
    /// The shortest occurrence that is complete.
    pub example: Option<Example>,
}

/// The occurrences of one file.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// Where they come from.
    pub origins: Vec<Origin>,
    /// Them.
    pub occurrences: Vec<Occurrence>,
    /// Their issues.
    pub about: HashMap<IssueId, About>,
    /// How many sessions there were, with or without occurrences.
    pub sessions: u64,
    /// How many calls.
    pub calls: u64,
    /// How many sessions have no record of their calls.
    pub unrecorded: u64,
}
