//! A run on disk.
//!
//! ```text
//! .toolmark/runs/<utc>-<id>/
//!   run.json  plan.jsonl  lock  spec/  results.jsonl  summary.json
//!   trials/<target>/<case>/<n>/result.json  trajectory.json  workspace.patch  artifacts/
//!                              attempt-<a>/argv.json stdout stderr exit.json session/
//! ```
//!
//! `result.json` appears whole or not at all, and a trial is done when it is there.
//! Everything else can be made again from it, or is there to be looked at. No value of a
//! variable is ever written, only names.

mod lock;
mod names;
mod result;

pub use lock::Locked;
pub use names::file_name;
pub use result::{AttemptRecord, TrialRecord};

use crate::workspace::hex;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fs::{self};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
pub(crate) use toolmark_base::file::write_whole;
use toolmark_base::file::write_with;

/// The version of these files.
pub const VERSION: u32 = 1;

/// Where runs lie, from the directory toolmark is started in.
pub const RUNS: &str = ".toolmark/runs";

/// What a run is about: `run.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// The version of these files.
    pub version: u32,
    /// Its id: the name of its directory.
    pub id: String,
    /// The version of toolmark.
    pub toolmark: String,
    /// When it started.
    pub started: String,
    /// The spec, as it was named.
    pub spec: PathBuf,
    /// The same from the root.
    pub spec_absolute: PathBuf,
    /// The copy of the spec in `spec/`.
    pub spec_copy: PathBuf,
    /// The name of the spec.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The targets, with the versions of their agents.
    pub targets: Vec<TargetInfo>,
}

/// A target of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetInfo {
    /// Its name.
    pub name: String,
    /// What is run.
    pub runner: String,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The version of the agent.
    pub version: String,
}

/// A run on disk.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
}

impl Store {
    /// A new run below a directory.
    pub fn create(runs: &Path) -> io::Result<Self> {
        let started = Timestamp::now();
        let mut hash = Sha256::new();
        hash.update(started.as_nanosecond().to_le_bytes());
        hash.update(std::process::id().to_le_bytes());
        let id = hex(hash.finalize().get(..3).unwrap_or_default());
        let time = started.strftime("%Y%m%dT%H%M%SZ");
        Self::at(&runs.join(format!("{time}-{id}")))
    }

    /// A new run in this very directory.
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

    /// A run that is there.
    #[must_use]
    pub fn open(root: &Path) -> Option<Self> {
        root.join("run.json").is_file().then(|| Self { root: root.to_owned() })
    }

    /// The newest run below a directory for which a condition holds.
    #[must_use]
    pub fn newest(runs: &Path, is_wanted: impl Fn(&RunInfo) -> bool) -> Option<Self> {
        let mut all = Self::list(runs);
        all.reverse();
        all.into_iter().find(|store| store.info().is_ok_and(|info| is_wanted(&info)))
    }

    /// The runs below a directory, the oldest first.
    #[must_use]
    pub fn list(runs: &Path) -> Vec<Self> {
        let entries = fs::read_dir(runs).into_iter().flatten().flatten();
        let mut all: Vec<Self> = entries.filter_map(|entry| Self::open(&entry.path())).collect();
        all.sort_by(|a, b| a.root.cmp(&b.root));
        all
    }

    /// Its directory.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The name of its directory.
    #[must_use]
    pub fn id(&self) -> String {
        self.root.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// What it is about.
    pub fn info(&self) -> io::Result<RunInfo> {
        let text = fs::read_to_string(self.root.join("run.json"))?;
        serde_json::from_str(&text).map_err(io::Error::other)
    }

    /// Says what it is about.
    pub fn write_info(&self, info: &RunInfo) -> io::Result<()> {
        write_json(&self.root.join("run.json"), info)
    }

    /// Keeps a copy of the spec and of what it includes. The copy of the spec itself.
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

    /// Writes what is to be run, one trial per line.
    pub fn write_plan(&self, lines: &[Value]) -> io::Result<()> {
        write_lines(&self.root.join("plan.jsonl"), lines)
    }

    /// Writes what it all came to.
    pub fn write_summary(&self, summary: &impl Serialize) -> io::Result<()> {
        write_json(&self.root.join("summary.json"), summary)
    }

    /// What it all came to, where it is over.
    #[must_use]
    pub fn summary(&self) -> Option<Value> {
        serde_json::from_str(&fs::read_to_string(self.root.join("summary.json")).ok()?).ok()
    }

    /// Writes all results again, in their order.
    pub fn write_results(&self, records: &[&TrialRecord]) -> io::Result<()> {
        let lines: Vec<Value> = records.iter().map(|record| record.line()).collect();
        write_lines(&self.root.join("results.jsonl"), &lines)
    }

    /// The directory of a trial, from 0.
    #[must_use]
    pub fn trial(&self, target: &str, case: &str, trial: u32) -> PathBuf {
        let number = trial.saturating_add(1).to_string();
        self.root.join("trials").join(file_name(target)).join(file_name(case)).join(number)
    }

    /// The number of the next attempt at a trial, from 1.
    #[must_use]
    pub fn next_attempt(&self, trial: &Path) -> u32 {
        let entries = fs::read_dir(trial).into_iter().flatten().flatten();
        let numbers = entries.filter_map(|entry| {
            entry.file_name().to_str()?.strip_prefix("attempt-")?.parse::<u32>().ok()
        });
        numbers.max().unwrap_or(0).saturating_add(1)
    }

    /// The trials that are done. What cannot be read is not.
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

/// Writes a value as JSON, whole or not at all.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    write_whole(path, text.as_bytes())
}

/// Writes a value as JSON that nothing depends on: whether it survives a power cut does
/// not matter.
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
