//! Fixes of findings, by rule.

use super::{Fix, FixTarget, listed, times};
use crate::facts::IssueFacts;

/// Maximum number of names in a line.
const MAX_NAMES: usize = 5;

/// Minimum number of occurrences of a subject for a line of its own.
const REPEATED: u64 = 2;

pub(super) fn fix(facts: &IssueFacts<'_>, code: &str, tool: &str) -> Option<Fix> {
    let names = facts.names(MAX_NAMES);
    let repeated: Vec<(&str, u64)> =
        names.iter().copied().filter(|(_, count)| *count >= REPEATED).collect();
    let why = format!("{code} {}", times(facts.count));
    let line = |text: String| Some(Fix::line(facts, text, why.clone()));
    let is_claude = facts.host == "claude-code";
    let deny = |rules: Vec<String>| {
        Some(Fix {
            target: FixTarget::Permission,
            file: Some(".claude/settings.json"),
            key: Some("permissions.deny"),
            project: None,
            text: rules.join(", ").into(),
            why: why.clone().into(),
        })
    };
    match code {
        "S101" if !repeated.is_empty() => line(format!(
            "{} {} often read again unchanged: work from the earlier result.",
            listed(&repeated),
            if repeated.len() == 1 { "is" } else { "are" }
        )),
        // The finding names the tool that is meant for it.
        "S102" => {
            let call = facts.remedy?.strip_prefix("call ")?.strip_suffix(" for it")?;
            let programs = facts.details(MAX_NAMES);
            (!programs.is_empty())
                .then(|| {
                    line(format!("Use `{call}` instead of {} in `{tool}`.", listed(&programs)))
                })
                .flatten()
        }
        "S103" | "S104" => line(format!("Instead of `{tool}`: {}.", facts.remedy?)),
        "S107" if !repeated.is_empty() => line(format!(
            "The answer of {} does not change by asking again: work from the first one.",
            listed(&repeated)
        )),
        "A203" if !repeated.is_empty() => line(format!(
            "When you edit {}, replace only the lines that change.",
            listed(&repeated)
        )),
        "A202" | "A208" if !repeated.is_empty() => {
            line(format!("Before you edit {}, read the lines around the place.", listed(&repeated)))
        }
        "A205" | "R406" if !repeated.is_empty() => line(format!(
            "{} {} not exist: search by name before you open a file.",
            listed(&repeated),
            if repeated.len() == 1 { "does" } else { "do" }
        )),
        "A220" => line(
            "The shell keeps its directory between commands: use absolute paths or `git -C`."
                .into(),
        ),
        "I303" if is_claude && !names.is_empty() => {
            let files = names.iter().filter(|(name, _)| name.contains(['.', '/']));
            let rules: Vec<String> = files.map(|(name, _)| format!("\"Read({name})\"")).collect();
            (!rules.is_empty()).then(|| deny(rules)).flatten()
        }
        "I301" | "I307" | "I310" | "I311" if is_claude && !repeated.is_empty() => {
            let rules = repeated.iter().map(|(name, _)| format!("\"Bash({name}:*)\""));
            let mut fix = deny(rules.collect())?;
            fix.key = Some("permissions.ask");
            Some(fix)
        }
        "R402" if !names.is_empty() => line(format!(
            "Let the exit code of {} through: no `|| true`, and `set -o pipefail` before a pipe.",
            listed(&names)
        )),
        _ => None,
    }
}
