//! The stored result of a trial: `result.json`.

use super::{VERSION, write_json};
use crate::key::RunKey;
use crate::usage::Used;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use toolmark_outcome::CaseResult;

/// Result of one trial.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TrialRecord {
    /// Version of the file formats.
    pub version: u32,
    /// Name of the target.
    pub target: String,
    /// ID of the case.
    pub case: String,
    /// Index of the trial, from 0.
    pub trial: u32,
    /// Configuration key.
    pub key: RunKey,
    /// Key of the graders.
    pub grade_key: String,
    /// `completed`, `limit`, or the cause of an unknown verdict.
    pub ended: String,
    /// Exceeded limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// The error that its agent ended with, where it was graded all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Notes for the reader.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Resource usage of all attempts together.
    pub used: Used,
    /// Duration, in milliseconds.
    pub duration_ms: u64,
    /// Attempts.
    pub attempts: Vec<AttemptRecord>,
    /// Path of the trace, relative to the directory of the trial.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<PathBuf>,
    /// Path of the workspace, if it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<PathBuf>,
    /// Verdict and reason, as in reports.
    pub outcome: Value,
    /// Directory of the trial.
    #[serde(skip)]
    pub directory: PathBuf,
}

/// One attempt at a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttemptRecord {
    /// Number, from 1.
    pub number: u32,
    /// `completed`, `limit`, or the cause of an unknown verdict.
    pub ended: String,
    /// Explanation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Duration, in milliseconds.
    pub duration_ms: u64,
}

impl TrialRecord {
    /// Reads the result of a trial; `None` if the trial is not complete, or was written by an
    /// unknown version.
    #[must_use]
    pub fn read(directory: &Path) -> Option<Self> {
        let text = fs::read(directory.join("result.json")).ok()?;
        let mut record: Self = serde_json::from_slice(&text).ok()?;
        directory.clone_into(&mut record.directory);
        (record.version == VERSION).then_some(record)
    }

    /// Writes the result, which completes the trial.
    pub fn write(&self) -> io::Result<()> {
        write_json(&self.directory.join("result.json"), self)
    }

    /// Returns the outcome in the form of graders and reports.
    #[must_use]
    pub fn outcome(&self) -> Option<CaseResult> {
        CaseResult::restore(&self.outcome)
    }

    /// Name of the verdict.
    #[must_use]
    pub fn verdict(&self) -> &str {
        self.outcome.get("verdict").and_then(Value::as_str).unwrap_or("unknown")
    }

    /// Path of the trace.
    #[must_use]
    pub fn trace_path(&self) -> Option<PathBuf> {
        self.trace.as_ref().map(|trace| self.directory.join(trace))
    }

    /// Returns the line of `results.jsonl`.
    #[must_use]
    pub fn line(&self) -> Value {
        let mut line = serde_json::to_value(self).unwrap_or_default();
        if let Some(fields) = line.as_object_mut() {
            fields.remove("key");
        }
        line
    }
}
