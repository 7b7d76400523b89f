//! Runs of agents: the spec to run, trials of earlier runs, and the assembled results.

pub mod action;
pub mod assemble;
pub mod dry_run;
pub mod interrupt;
pub mod list;
pub mod options;
pub mod recorded;
pub mod resume;
pub mod stored;

use crate::ActionEvents;
use crate::Stop;
use crate::grade::spec;
use std::fs;
use std::path::{Path, PathBuf};
use toolmark_grade::{Gate, LoadOptions, Plan, RunPlan, UsualJudge};
use toolmark_run::hash;

/// A spec that was opened for a run.
pub struct OpenSpec {
    /// Path of the spec.
    pub path: PathBuf,
    /// Plan of the spec.
    pub plan: Plan,
    /// Paths and texts of the spec and its included files.
    pub files: Vec<(PathBuf, String)>,
    /// Key that identifies the graders and the options of the spec.
    pub key: String,
}

impl OpenSpec {
    /// Whether the file changed after it was read.
    pub fn is_changed(&self) -> bool {
        self.files
            .first()
            .is_some_and(|(path, text)| fs::read_to_string(path).is_ok_and(|now| now != *text))
    }
}

/// Opens a spec and prints its errors.
pub fn open_spec(
    path: &Path,
    options: &LoadOptions,
    options_key: &str,
    events: &mut dyn ActionEvents,
) -> Result<OpenSpec, Stop> {
    let opened = spec::open(path, options, events)?;
    let failure = opened.failure(path, "nothing was run");
    let loaded = opened.loaded;
    let mut files = vec![(path.to_owned(), loaded.source.text().to_owned())];
    for included in &loaded.includes {
        files.push((PathBuf::from(&*included.source.name), included.source.text().to_owned()));
    }
    let plan = loaded.plan.ok_or(failure)?;
    let texts: Vec<&str> = files.iter().map(|(_, text)| text.as_str()).collect();
    let key = hash(&serde_json::json!([texts, options_key]));
    Ok(OpenSpec { path: path.to_owned(), plan, files, key })
}

/// Returns an empty plan, to replace one that is moved.
pub fn empty_plan() -> Plan {
    Plan {
        spec: "".into(),
        dialect: "toolmark",
        name: None,
        cases: Vec::new(),
        every: None,
        gate: Gate::default(),
        aggregates: Vec::new(),
        judge: UsualJudge::default(),
        stored: None,
        run: RunPlan::default(),
    }
}
