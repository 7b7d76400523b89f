//! Doubtful permission rules: those that can never match, those overridden by another, and those
//! that match more or less than they seem to.

use super::syntax::Spec;
use super::{PermissionRule, PermissionRules, PermissionSettings};
use crate::policy::words_fit;
use serde::Serialize;
use toolmark_pattern::is_wildcard_match;
use toolmark_shell::Decision;

/// Severity of a finding about a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingLevel {
    /// The rule can never match.
    Never,
    /// The rule matches more than it seems to.
    Warning,
    /// The rule matches less than it seems to.
    Note,
}

impl FindingLevel {
    /// Returns the name used in output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// A finding about a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PermissionFinding {
    /// Severity.
    pub level: FindingLevel,
    /// File of the rule.
    pub file: String,
    /// List of the rule: `deny`, `ask` or `allow`.
    pub list: &'static str,
    /// Text of the rule.
    pub rule: String,
    /// Description of the problem.
    pub message: String,
    /// Suggested fix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl PermissionFinding {
    pub(super) fn never(
        settings: &PermissionSettings,
        decision: Decision,
        rule: &str,
        message: &str,
    ) -> Self {
        Self {
            level: FindingLevel::Never,
            file: settings.file.clone(),
            list: decision.word(),
            rule: rule.to_owned(),
            message: message.to_owned(),
            help: None,
        }
    }

    fn about(rule: &PermissionRule, level: FindingLevel, message: String) -> Self {
        Self {
            level,
            file: rule.file.clone(),
            list: rule.decision.word(),
            rule: rule.text.clone(),
            message,
            help: None,
        }
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl PermissionRules {
    /// Returns all findings about the rules, the worst first.
    #[must_use]
    pub fn findings(&self) -> Vec<PermissionFinding> {
        let mut all = self.findings.clone();
        for (at, rule) in self.rules.iter().enumerate() {
            all.extend(self.shadowed(at, rule));
            all.extend(too_wide(rule));
            all.extend(too_narrow(rule));
        }
        all.sort_by_key(|finding| finding.level);
        all
    }

    /// Reports a rule without effect because of a stricter or identical one.
    fn shadowed(&self, at: usize, rule: &PermissionRule) -> Option<PermissionFinding> {
        let covering = self.rules.iter().enumerate().find(|(other, by)| {
            let before =
                by.decision > rule.decision || (by.decision == rule.decision && *other < at);
            before && *other != at && covers(by, rule)
        });
        let (_, by) = covering?;
        let same = by.decision == rule.decision;
        let words = match same {
            true => format!("{} in {} says the same or more", by.text, by.file),
            false => {
                format!("the {} rule {} in {} comes first", by.decision.word(), by.text, by.file)
            }
        };
        let level = if same { FindingLevel::Note } else { FindingLevel::Never };
        Some(PermissionFinding::about(rule, level, words))
    }
}

/// Whether one rule matches everything that another matches.
fn covers(one: &PermissionRule, other: &PermissionRule) -> bool {
    let tools = is_wildcard_match(&one.tool, &other.tool);
    tools
        && match (&one.spec, &other.spec) {
            (Spec::Whole, _) => true,
            (_, Spec::Whole) => false,
            (Spec::Command(one), Spec::Command(other)) => words_fit(one, other),
            (Spec::Path { pattern: one, .. }, Spec::Path { pattern: other, .. }) => {
                one == other
                    || one.strip_suffix("/**").is_some_and(|directory| {
                        other.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
                    })
            }
            (Spec::Domain(one), Spec::Domain(other)) => is_wildcard_match(one, other),
            _ => false,
        }
}

/// Reports a wildcard that also allows other commands.
fn too_wide(rule: &PermissionRule) -> Option<PermissionFinding> {
    let Spec::Command(words) = &rule.spec else { return None };
    if rule.decision != Decision::Allow {
        return None;
    }
    let mut parts = words.split_whitespace();
    let program = parts.next()?;
    if program.contains('*') {
        let message = "the star stands for any program".to_owned();
        return Some(PermissionFinding::about(rule, FindingLevel::Warning, message));
    }
    if parts.next() == Some("*") && parts.next().is_some() {
        let message = format!("the star stands for every sub-command of {program}");
        let help = format!("name the sub-command: Bash({program} SUBCOMMAND …)");
        return Some(PermissionFinding::about(rule, FindingLevel::Warning, message).help(help));
    }
    None
}

/// Reports spellings that the host does not match.
fn too_narrow(rule: &PermissionRule) -> Option<PermissionFinding> {
    let Spec::Command(words) = &rule.spec else { return None };
    let program = words.split_whitespace().next()?;
    if program.contains('/') {
        let message = "only this spelling of the path matches".to_owned();
        let name = program.rsplit('/').next().unwrap_or(program);
        return Some(
            PermissionFinding::about(rule, FindingLevel::Note, message)
                .help(format!("name {name} alone")),
        );
    }
    if matches!(program, "bash" | "sh" | "zsh") && words.contains("-c") {
        let message = "what is inside the quotes is not looked at by Claude Code".to_owned();
        return Some(PermissionFinding::about(rule, FindingLevel::Note, message));
    }
    if rule.decision == Decision::Allow {
        return None;
    }
    let message = format!(
        "Claude Code does not match /usr/bin/{program}, nor {program} inside bash -c; the guard does"
    );
    Some(PermissionFinding::about(rule, FindingLevel::Note, message))
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;
    use super::*;
    use serde_json::json;

    #[test]
    fn doubtful_rules() {
        for (permissions, rule, level, words) in [
            (json!({"allow": ["Write(x)"]}), "Write(x)", FindingLevel::Never, "never looked at"),
            (
                json!({"allow": ["Bash(git * main)"]}),
                "Bash(git * main)",
                FindingLevel::Warning,
                "every sub-command",
            ),
            (
                json!({"allow": ["Bash(* --help)"]}),
                "Bash(* --help)",
                FindingLevel::Warning,
                "any program",
            ),
            (
                json!({"deny": ["Bash"], "allow": ["Bash(ls)"]}),
                "Bash(ls)",
                FindingLevel::Never,
                "comes first",
            ),
            (
                json!({"deny": ["Bash(git push:*)"], "allow": ["Bash(git push origin:*)"]}),
                "Bash(git push origin:*)",
                FindingLevel::Never,
                "comes first",
            ),
            (
                json!({"ask": ["mcp__db"], "allow": ["mcp__db__query"]}),
                "mcp__db__query",
                FindingLevel::Never,
                "comes first",
            ),
            (
                json!({"deny": ["Read(secrets/**)"], "allow": ["Read(secrets/a)"]}),
                "Read(secrets/a)",
                FindingLevel::Never,
                "comes first",
            ),
            (
                json!({"allow": ["Bash(ls:*)", "Bash(ls -a)"]}),
                "Bash(ls -a)",
                FindingLevel::Note,
                "same or more",
            ),
            (json!({"deny": ["Bash(rm:*)"]}), "Bash(rm:*)", FindingLevel::Note, "bash -c"),
            (
                json!({"allow": ["Bash(/bin/ls:*)"]}),
                "Bash(/bin/ls:*)",
                FindingLevel::Note,
                "only this spelling",
            ),
        ] {
            let findings = read(json!({ "permissions": permissions })).findings();
            let fits = |f: &&PermissionFinding| {
                f.rule == rule && f.level == level && f.message.contains(words)
            };
            assert_eq!(findings.iter().filter(fits).count(), 1, "{permissions}: {findings:?}");
        }
        let calm = json!({"permissions": {"allow": ["Bash(npm run test:*)", "Read(src/**)"], "deny": ["Read(./.env)"]}});
        assert_eq!(read(calm).findings(), []);
    }
}
