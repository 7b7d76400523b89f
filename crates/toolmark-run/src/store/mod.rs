//! The files of a run on disk.
//!
//! ```text
//! .toolmark/runs/<utc>-<id>/
//!   run.json  plan.jsonl  lock  spec/  results.jsonl  summary.json
//!   trials/<target>/<case>/<n>/result.json  trajectory.json  workspace.patch  artifacts/
//!                              attempt-<a>/argv.json stdout stderr exit.json session/
//! ```
//!
//! `result.json` is written atomically, and a trial is complete when the file exists. All other
//! files can be created again from it, or are for inspection only. Only names of variables are
//! written, never their values.

mod lock;
mod names;
mod result;

pub use lock::Locked;
pub use names::file_name;
pub use result::{AttemptRecord, TrialRecord};

use crate::workspace::{WorkspaceSnapshot, copy_tree, hex};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fs::{self};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
pub(crate) use toolmark_base::file::write_whole;
use toolmark_base::file::write_with;

/// Version of the file formats.
pub const VERSION: u32 = 1;

/// Default directory of runs, relative to the working directory.
pub const RUNS: &str = ".toolmark/runs";

/// Description of a run: `run.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// Version of the file formats.
    pub version: u32,
    /// ID: the name of the run directory.
    pub id: String,
    /// Version of toolmark.
    pub toolmark: String,
    /// Start time.
    pub started: String,
    /// Path of the spec, as given.
    pub spec: PathBuf,
    /// Absolute path of the spec.
    pub spec_absolute: PathBuf,
    /// Path of the copy of the spec in `spec/`.
    pub spec_copy: PathBuf,
    /// Name of the spec.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Targets, with the versions of their agents.
    pub targets: Vec<TargetInfo>,
    /// Directory for workspaces, to remove what a killed run left there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<PathBuf>,
}

/// A target of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetInfo {
    /// Name of the target.
    pub name: String,
    /// Kind of runner.
    pub runner: String,
    /// Name of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Version of the agent.
    pub version: String,
}

/// A run on disk.
#[derive(Debug, Clone)]
pub struct RunStore {
    root: PathBuf,
}

impl RunStore {
    /// Creates a run below a directory.
    pub fn create(runs: &Path) -> io::Result<Self> {
        let started = Timestamp::now();
        let mut hash = Sha256::new();
        hash.update(started.as_nanosecond().to_le_bytes());
        hash.update(std::process::id().to_le_bytes());
        let id = hex(hash.finalize().get(..3).unwrap_or_default());
        let time = started.strftime("%Y%m%dT%H%M%SZ");
        Self::at(&runs.join(format!("{time}-{id}")))
    }

    /// Creates a run in exactly this directory.
    pub fn at(root: &Path) -> io::Result<Self> {
        fs::create_dir_all(root.join("trials"))?;
        // Runs are not for version control.
        if let Some(runs) = root.parent().filter(|runs| runs.ends_with(RUNS)) {
            let ignore = runs.join(".gitignore");
            if !ignore.exists() {
                fs::write(ignore, "*\n")?;
            }
        }
        Ok(Self { root: root.to_owned() })
    }

    /// Opens an existing run.
    #[must_use]
    pub fn open(root: &Path) -> Option<Self> {
        root.join("run.json").is_file().then(|| Self { root: root.to_owned() })
    }

    /// Returns the newest run below a directory that meets a condition.
    #[must_use]
    pub fn newest(runs: &Path, is_wanted: impl Fn(&RunInfo) -> bool) -> Option<Self> {
        let mut all = Self::list(runs);
        all.reverse();
        all.into_iter().find(|store| store.info().is_ok_and(|info| is_wanted(&info)))
    }

    /// Returns the runs below a directory, the oldest first.
    #[must_use]
    pub fn list(runs: &Path) -> Vec<Self> {
        let entries = fs::read_dir(runs).into_iter().flatten().flatten();
        let mut all: Vec<Self> = entries.filter_map(|entry| Self::open(&entry.path())).collect();
        all.sort_by(|a, b| a.root.cmp(&b.root));
        all
    }

    /// Path of the run directory.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Name of the run directory.
    #[must_use]
    pub fn id(&self) -> String {
        self.root.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Reads the description of the run.
    pub fn info(&self) -> io::Result<RunInfo> {
        let text = fs::read_to_string(self.root.join("run.json"))?;
        serde_json::from_str(&text).map_err(io::Error::other)
    }

    /// Writes the description of the run.
    pub fn write_info(&self, info: &RunInfo) -> io::Result<()> {
        write_json(&self.root.join("run.json"), info)
    }

    /// Stores a copy of the spec and its included files. Returns the path of the copied spec.
    pub fn keep_spec(&self, files: &[(PathBuf, String)]) -> io::Result<PathBuf> {
        let directory = self.root.join("spec");
        fs::create_dir_all(&directory)?;
        let mut first = None;
        for (path, text) in files {
            let name = path.file_name().unwrap_or_default();
            let to = directory.join(name);
            write_whole(&to, text.as_bytes())?;
            first.get_or_insert_with(|| Path::new("spec").join(name));
        }
        Ok(first.unwrap_or_default())
    }

    /// Writes the plan, one trial per line.
    pub fn write_plan(&self, lines: &[Value]) -> io::Result<()> {
        write_lines(&self.root.join("plan.jsonl"), lines)
    }

    /// Writes the summary.
    pub fn write_summary(&self, summary: &impl Serialize) -> io::Result<()> {
        write_json(&self.root.join("summary.json"), summary)
    }

    /// Reads the summary, if the run is finished.
    #[must_use]
    pub fn summary(&self) -> Option<Value> {
        serde_json::from_str(&fs::read_to_string(self.root.join("summary.json")).ok()?).ok()
    }

    /// Writes all results again, in order.
    pub fn write_results(&self, records: &[&TrialRecord]) -> io::Result<()> {
        let lines: Vec<Value> = records.iter().map(|record| record.line()).collect();
        write_lines(&self.root.join("results.jsonl"), &lines)
    }

    /// Returns the directory of a trial, counted from 0.
    #[must_use]
    pub fn trial(&self, target: &str, case: &str, trial: u32) -> PathBuf {
        let number = trial.saturating_add(1).to_string();
        self.root.join("trials").join(file_name(target)).join(file_name(case)).join(number)
    }

    /// Copies a completed trial of another run. Returns false if this run has the trial already.
    pub fn adopt(&self, record: &TrialRecord) -> io::Result<bool> {
        let to = self.trial(&record.target, &record.case, record.trial);
        if to.join("result.json").exists() {
            return Ok(false);
        }
        copy_tree(&record.directory, &to, &mut WorkspaceSnapshot::default())
            .map_err(io::Error::other)?;
        // The workspace stays with the other run.
        let adopted = TrialRecord { directory: to, workspace: None, ..record.clone() };
        adopted.write()?;
        Ok(true)
    }

    /// Returns the number of the next attempt at a trial, from 1.
    #[must_use]
    pub fn next_attempt(&self, trial: &Path) -> u32 {
        let entries = fs::read_dir(trial).into_iter().flatten().flatten();
        let numbers = entries.filter_map(|entry| {
            entry.file_name().to_str()?.strip_prefix("attempt-")?.parse::<u32>().ok()
        });
        numbers.max().unwrap_or(0).saturating_add(1)
    }

    /// Returns the completed trials. Unreadable trials are not complete.
    #[must_use]
    pub fn records(&self) -> Vec<TrialRecord> {
        let below = |directory: &Path| -> Vec<PathBuf> {
            let entries = fs::read_dir(directory).into_iter().flatten().flatten();
            let mut all: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
            all.sort();
            all
        };
        let targets = below(&self.root.join("trials"));
        let trials: Vec<PathBuf> =
            targets.iter().flat_map(|target| below(target)).flat_map(|case| below(&case)).collect();
        // Thousands of small files: a core waits while another parses.
        let half = trials.len().div_ceil(2);
        let read = |paths: &[PathBuf]| -> Vec<TrialRecord> {
            paths.iter().filter_map(|path| TrialRecord::read(path)).collect()
        };
        let (first, second) = trials.split_at(half.min(trials.len()));
        std::thread::scope(|scope| {
            let other = scope.spawn(|| read(second));
            let mut all = read(first);
            all.extend(other.join().unwrap_or_default());
            all
        })
    }
}

/// Writes a value as JSON atomically.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    write_whole(path, text.as_bytes())
}

/// Writes a value as JSON without syncing, for files that may be lost in a power failure.
pub(crate) fn write_unsynced(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    fs::write(path, text)
}

fn write_lines(path: &Path, lines: &[Value]) -> io::Result<()> {
    write_with(path, |file| {
        let mut file = BufWriter::new(file);
        for line in lines {
            serde_json::to_writer(&mut file, line)?;
            file.write_all(b"\n")?;
        }
        file.flush()
    })
}
