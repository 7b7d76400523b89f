//! A concrete change that prevents an issue: a line for the agent's instructions, a
//! rule, a setting, something to install. From tables per class and rule, filled with what
//! the occurrences name; where nothing concrete follows, there is none.

mod apply;
mod failures;
mod findings;
pub mod worded;

use crate::facts::Facts;
use crate::key::Key;
use serde::Serialize;
use toolmark_base::word_enum;
use toolmark_outcome::{Printable, Redactor, Untrusted};

word_enum! {
    /// What is changed.
    pub enum Target {
        /// A line in the file of instructions that the agent reads.
        Instructions = "instructions",
        /// A rule in the permissions of the host.
        Permission = "permission",
        /// A setting of the host.
        Setting = "setting",
        /// A command in the set-up of the machine or the container.
        SetUp = "set-up",
    }
}

/// A change that prevents an issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fix<T = Untrusted> {
    /// What is changed.
    pub target: Target,
    /// The file, from the project; nothing for what is run and not written.
    pub file: Option<&'static str>,
    /// Where in a file of settings the text belongs, as names of its keys.
    pub key: Option<&'static str>,
    /// The project that the file is of, where the fix names things of one.
    pub project: Option<T>,
    /// The text to paste.
    pub text: T,
    /// Why it helps, in one line.
    pub why: T,
}

impl Fix {
    /// It as it may be printed.
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

    fn line(facts: &Facts<'_>, text: String, why: String) -> Self {
        Self {
            target: Target::Instructions,
            file: Some(instructions(facts.host)),
            key: None,
            project: None,
            text: format!("- {text}").into(),
            why: why.into(),
        }
    }
}

/// The file of instructions that a host reads.
#[must_use]
pub fn instructions(host: &str) -> &'static str {
    match host {
        "claude-code" => "CLAUDE.md",
        "gemini-cli" => "GEMINI.md",
        _ => "AGENTS.md",
    }
}

/// The fix of an issue, where a concrete one follows.
#[must_use]
pub(crate) fn fix(facts: &Facts<'_>) -> Option<Fix> {
    match facts.key {
        Key::Failure { role, class, template } => failures::fix(facts, role, *class, template),
        Key::Finding { code, tool, .. } => findings::fix(facts, code, tool),
    }
}

/// Names in code marks, joined by commas.
fn listed(names: &[(&str, u64)]) -> String {
    let names: Vec<String> = names.iter().map(|(name, _)| format!("`{name}`")).collect();
    names.join(", ")
}

/// `3 times`.
fn times(count: u64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}
