//! Commands of this program that the web page can call.

use crate::commands::guard;
use crate::exit::Failure;
use serde_json::Value;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use toolmark_app::check::promote;
use toolmark_app::compare;
use toolmark_check::promote::Case;
use toolmark_compare::{Comparison, Grouping};
use toolmark_guard::Guard;
use toolmark_guard::files::{self, Trust};
use toolmark_redact::Redactor;
use toolmark_report::{ReportOptions, format_by_id};
use toolmark_serve::{CommandError, Commands, HostStatus};

/// The commands of this program.
pub(super) struct Lent {
    guard_log: Option<PathBuf>,
}

impl Lent {
    pub(super) fn new() -> Self {
        let log = toolmark_app::guard::here().guard.policy().log();
        Self { guard_log: log.place().ok().flatten() }
    }
}

fn words(failure: Failure) -> CommandError {
    let mut words = failure.message;
    for cause in failure.causes {
        words.push_str(": ");
        words.push_str(&cause);
    }
    CommandError(words)
}

fn failed(error: impl ToString) -> CommandError {
    CommandError(error.to_string())
}

impl Commands for Lent {
    fn guard_log(&self) -> Option<PathBuf> {
        self.guard_log.clone()
    }

    fn guard_status(&self) -> Vec<HostStatus> {
        guard::installed()
    }

    fn guard_with(&self, policy: &str) -> Result<Guard, CommandError> {
        let folder = tempfile::tempdir().map_err(failed)?;
        let file = folder.path().join("policy.yaml");
        fs::write(&file, policy).map_err(failed)?;
        let opened =
            files::open(None, Trust::Fixed(Some(&file)), Some(&toolmark_app::guard::READERS));
        let opened = opened.checked();
        let shown = |words: String| words.replace(&*file.to_string_lossy(), "the policy");
        match opened.broken() {
            Some((_, words)) => Err(CommandError(shown(words))),
            None => Ok(opened.guard),
        }
    }

    fn compare(&self, a: &Path, b: &Path, redactor: Redactor) -> Result<Value, CommandError> {
        let before = compare::read(a, redactor).map_err(words)?;
        let after = compare::read(b, redactor).map_err(words)?;
        let comparison = Comparison::new(&before, &after, Grouping::Case).map_err(failed)?;
        let format = format_by_id("json").ok_or_else(|| failed("no JSON"))?;
        let text = format.to_text(&comparison, &ReportOptions::default()).map_err(failed)?;
        serde_json::from_str(&text).map_err(failed)
    }

    fn write_cases(&self, cases: &[Case], to: &Path, redactor: Redactor) -> io::Result<()> {
        promote::write(cases, to, redactor).map(drop)
    }
}
