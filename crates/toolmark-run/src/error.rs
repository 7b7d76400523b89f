//! Errors of this library.

use std::io;
use std::path::PathBuf;
use toolmark_process::RunError;
use toolmark_trace::ReadError;

/// Reason why a trial has no run.
#[derive(Debug, thiserror::Error)]
pub enum NoRun {
    /// The agent wrote no trace.
    #[error("it left no trace")]
    NoTrace,
    /// The trace is empty.
    #[error("the trace is empty")]
    Empty,
    /// The trace contains no run.
    #[error("the trace holds no run")]
    NoRun,
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] ReadError),
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] io::Error),
    /// The answer is too long.
    #[error("the answer is longer than {0} bytes")]
    TooLong(u64),
    /// The output has several runs, and none of the case.
    #[error("its output has no line with the id {0}")]
    NoLine(String),
    /// The output contains no run.
    #[error("its output holds no run")]
    NoRunInOutput,
    /// The answer is empty.
    #[error("it printed nothing")]
    NoAnswer,
    /// The trace made from an answer cannot be read.
    #[error("the answer could not be read")]
    Unread,
    /// There are fewer recordings than trials.
    #[error("{} {}", path.display(), recorded(*count, *trial))]
    NoRecording {
        /// File or directory of the recordings.
        path: PathBuf,
        /// Number of recordings of the case.
        count: usize,
        /// Trial, from 0.
        trial: u32,
    },
    /// The trace could not be collected, for this reason.
    #[error("{0}")]
    NotCollected(String),
}

fn recorded(count: usize, trial: u32) -> String {
    match count {
        0 => "has no recorded run of the case".to_owned(),
        1 => format!("has one recorded run of the case, none for trial {}", trial + 1),
        count => format!("has {count} recorded runs of the case, none for trial {}", trial + 1),
    }
}

/// Reason why a program that prepares or follows a trial failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProgramError {
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Directory(#[from] io::Error),
    #[error("took too long to say its version")]
    VersionTime,
    #[error("cannot be run: --version failed")]
    NoVersion,
    #[error("its health check took too long")]
    HealthTime,
    #[error("its health check failed: {0}")]
    Unhealthy(String),
    #[error("git took too long")]
    GitTime,
    #[error("{0}")]
    Git(String),
    #[error("{0} is not a ref")]
    NotARef(String),
    #[error("{url} has no {reference}: {source}")]
    NoRef { url: String, reference: String, source: Box<Self> },
    #[error("{0}: {1}")]
    HookStart(&'static str, RunError),
    #[error("{0}")]
    Hook(String),
}
