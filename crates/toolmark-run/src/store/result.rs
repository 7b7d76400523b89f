//! What a trial came to, as it is kept: `result.json`.

use super::{VERSION, write_json};
use crate::key::RunKey;
use crate::usage::Used;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use toolmark_outcome::CaseResult;

/// What one trial came to.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TrialRecord {
    /// The version of these files.
    pub version: u32,
    /// The target.
    pub target: String,
    /// The case.
    pub case: String,
    /// The trial, from 0.
    pub trial: u32,
    /// What it was run with.
    pub key: RunKey,
    /// What it was graded by.
    pub grade_key: String,
    /// `completed`, `limit`, or the cause for which it is unknown.
    pub ended: String,
    /// The limit it ran into.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// What a reader should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What it used, all attempts together.
    pub used: Used,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// The attempts.
    pub attempts: Vec<AttemptRecord>,
    /// Its trace, from the directory of the trial.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<PathBuf>,
    /// Its workspace, where that was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<PathBuf>,
    /// The verdict and why, as reports have it.
    pub outcome: Value,
    /// Where it is.
    #[serde(skip)]
    pub directory: PathBuf,
}

/// One try at a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttemptRecord {
    /// Its number, from 1.
    pub number: u32,
    /// `completed`, `limit`, or the cause for which it is unknown.
    pub ended: String,
    /// Why, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
}

impl TrialRecord {
    /// Reads the result of a trial; `None` where it is not done, or was written by a
    /// version that we do not know.
    #[must_use]
    pub fn read(directory: &Path) -> Option<Self> {
        let text = fs::read(directory.join("result.json")).ok()?;
        let mut record: Self = serde_json::from_slice(&text).ok()?;
        directory.clone_into(&mut record.directory);
        (record.version == VERSION).then_some(record)
    }

    /// Writes it: from now on the trial is done.
    pub fn write(&self) -> io::Result<()> {
        write_json(&self.directory.join("result.json"), self)
    }

    /// The outcome, as graders and reports have it.
    #[must_use]
    pub fn outcome(&self) -> Option<CaseResult> {
        CaseResult::restore(&self.outcome)
    }

    /// The verdict's word.
    #[must_use]
    pub fn verdict(&self) -> &str {
        self.outcome.get("verdict").and_then(Value::as_str).unwrap_or("unknown")
    }

    /// Its trace.
    #[must_use]
    pub fn trace_path(&self) -> Option<PathBuf> {
        self.trace.as_ref().map(|trace| self.directory.join(trace))
    }

    /// As a line of `results.jsonl`.
    #[must_use]
    pub fn line(&self) -> Value {
        let mut line = serde_json::to_value(self).unwrap_or_default();
        if let Some(fields) = line.as_object_mut() {
            fields.remove("key");
        }
        line
    }
}
