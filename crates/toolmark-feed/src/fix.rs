//! Concrete changes that prevent an issue: a line for the agent's instructions, a rule, a setting,
//! an installation. Fixes are built from tables per class and rule, filled with the names in the
//! occurrences; if there is no concrete change, there is no fix.

mod apply;
mod failures;
mod findings;
pub mod worded;

use crate::facts::IssueFacts;
use crate::key::IssueKey;
use serde::Serialize;
use toolmark_base::word_enum;
use toolmark_outcome::{Printable, Redactor, Untrusted};

word_enum! {
    /// Target of a change.
    pub enum FixTarget {
        /// A line in the instructions file that the agent reads.
        Instructions = "instructions",
        /// A rule in the permissions of the host.
        Permission = "permission",
        /// A setting of the host.
        Setting = "setting",
        /// A command in the setup of the machine or the container.
        SetUp = "set-up",
    }
}

/// A change that prevents an issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fix<T = Untrusted> {
    /// Target of the change.
    pub target: FixTarget,
    /// File, relative to the project; `None` for a command that is run.
    pub file: Option<&'static str>,
    /// Location in a settings file, as key names.
    pub key: Option<&'static str>,
    /// Project of the file, if the fix names parts of one.
    pub project: Option<T>,
    /// Text to paste.
    pub text: T,
    /// Reason why the fix helps, in one line.
    pub why: T,
}

impl Fix {
    /// Returns the fix in printable form.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> Fix<Printable> {
        Fix {
            target: self.target,
            file: self.file,
            key: self.key,
            project: self.project.map(|project| redactor.apply(project)),
            text: redactor.apply(self.text),
            why: redactor.apply(self.why),
        }
    }

    fn line(facts: &IssueFacts<'_>, text: String, why: String) -> Self {
        Self {
            target: FixTarget::Instructions,
            file: Some(instructions(facts.host)),
            key: None,
            project: None,
            text: format!("- {text}").into(),
            why: why.into(),
        }
    }
}

/// Returns the instructions file that a host reads.
#[must_use]
pub fn instructions(host: &str) -> &'static str {
    match host {
        "claude-code" => "CLAUDE.md",
        "gemini-cli" => "GEMINI.md",
        _ => "AGENTS.md",
    }
}

/// Returns the fix of an issue, if there is a concrete one.
#[must_use]
pub(crate) fn fix(facts: &IssueFacts<'_>) -> Option<Fix> {
    match facts.key {
        IssueKey::Failure { role, class, template } => failures::fix(facts, role, *class, template),
        IssueKey::Finding { code, tool, .. } => findings::fix(facts, code, tool),
    }
}

/// Joins names in code marks with commas.
fn listed(names: &[(&str, u64)]) -> String {
    let names: Vec<String> = names.iter().map(|(name, _)| format!("`{name}`")).collect();
    names.join(", ")
}

/// Formats a count: `3 times`.
fn times(count: u64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}
