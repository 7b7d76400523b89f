//! Titles of issues: the problem in one line of plain English.

use crate::class::FailureClass;
use crate::facts::IssueFacts;
use crate::key::IssueKey;
use crate::language::Language;
use crate::role::KeyRole;
use crate::subject::{CHAIN, without_mark};
use crate::template::{as_written, with_gaps};
use toolmark_check::rule_by_code;

/// Maximum length of a message in a title.
const MAX_MESSAGE: usize = 100;

/// Returns the title of an issue.
#[must_use]
pub(crate) fn title(facts: &IssueFacts<'_>) -> String {
    // Some models write their call into the name of the tool.
    if facts.tool.contains(['"', '<', '\n']) {
        let name = facts.tool.split(['"', '<', '\n']).next().unwrap_or_default();
        return format!("A call is malformed: its arguments are in the name of the tool {name}");
    }
    let title = match facts.key {
        IssueKey::Failure { role, class, template } => failure(facts, role, *class, template),
        IssueKey::Finding { code, tool, template } => finding(facts, code, tool, template),
    };
    // Names of tools come from traces, and may have line breaks.
    let words: Vec<&str> = title.split_whitespace().collect();
    words.join(" ")
}

fn failure(facts: &IssueFacts<'_>, role: &KeyRole, class: FailureClass, template: &str) -> String {
    let tool = facts.tool;
    let about = |words: &str| with_subject(facts, words);
    let language = Language::from_word(template).unwrap_or(Language::None).title();
    match class {
        FailureClass::Cancelled => "A call was cancelled before it finished".into(),
        FailureClass::RefusedByUser => match role {
            KeyRole::Shell => with_names(facts, "The user refused a command"),
            KeyRole::Edit => with_names(facts, "The user refused an edit"),
            _ if tool == "ExitPlanMode" => "The user refused a plan".into(),
            _ => format!("The user refused {tool}"),
        },
        FailureClass::RefusedByPolicy => match role {
            KeyRole::Shell => with_names(facts, "A rule or hook refused a command"),
            _ => with_names(facts, &format!("A rule or hook refused {tool}")),
        },
        FailureClass::EditNoMatch => about("An edit's text to replace is not in the file"),
        FailureClass::EditAmbiguous => {
            about("An edit's text to replace is in the file more than once")
        }
        FailureClass::EditNotRead => about("A file was edited before it was read"),
        FailureClass::EditChanged => about("A file changed between reading and editing"),
        FailureClass::EditNoChange => about("An edit changes nothing"),
        FailureClass::MissingPath if template == "cd" => {
            about("`cd` into a directory that does not exist")
        }
        FailureClass::MissingPath => match role {
            KeyRole::Read => about("Read of a file that does not exist"),
            KeyRole::Edit => about("Edit of a file that does not exist"),
            KeyRole::Search => about("Search in a path that does not exist"),
            KeyRole::Shell => about("A command names a path that does not exist"),
            _ => about("A path does not exist"),
        },
        FailureClass::TooLarge => about("A file is too large to read at once"),
        FailureClass::NothingFound => "A search or comparison found nothing".into(),
        FailureClass::Dependency if template == Language::Program.word() => {
            with_names(facts, "A program is not installed")
        }
        FailureClass::Dependency => {
            with_names(facts, &format!("A {language} dependency is missing"))
        }
        FailureClass::Build => check(facts, language, "build fails"),
        FailureClass::Lint => check(facts, language, "linter reports problems"),
        FailureClass::Tests => check(facts, language, "tests fail"),
        FailureClass::BadArguments | FailureClass::Exit | FailureClass::Error => {
            error(facts, role, template)
        }
    }
}

/// Returns the title of an error: its source and its message.
fn error(facts: &IssueFacts<'_>, role: &KeyRole, template: &str) -> String {
    let subject = facts.main_subject().map(|subject| subject.what.as_str());
    let who = match role {
        KeyRole::Shell => subject.unwrap_or(facts.tool),
        _ => facts.tool,
    };
    // A command without an error message is identified by its errand.
    let errand = subject.map(without_mark);
    if template.is_empty() || errand == Some(template.trim_end()) {
        let is_silent = facts.said.is_empty() || facts.said.starts_with("Exit code ");
        return match is_silent {
            true => format!("{who} fails without a message"),
            // A single occurrence is shown with its output if that is short.
            false if facts.count == 1 && facts.said.len() <= MAX_MESSAGE + MAX_MESSAGE / 2 => {
                format!("{who} ends with an error code: {}", facts.said)
            }
            false => format!("{who} ends with an error code"),
        };
    }
    if template.starts_with("conflict ") {
        return "git: merge conflict".into();
    }
    // A single occurrence is shown with its values.
    let written = match facts.said.lines().next() {
        Some(said) if facts.count == 1 => said.to_owned(),
        _ => as_written(template, facts.said),
    };
    let text = crate::template::cut(&written, MAX_MESSAGE);
    let end = if text.len() < written.len() { "…" } else { "" };
    let text = format!("{}{end}", text.trim_end());
    let first = template.split(' ').next().unwrap_or_default();
    let is_label = matches!(
        first,
        "fatal:" | "error:" | "errors:" | "warning:" | "failed:" | "failure:" | "hint:" | "usage:"
    );
    let is_program = first.strip_suffix(':').is_some_and(|name| {
        name.len() > 1 && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
    });
    match () {
        // Of several commands, it is git that says `fatal:`.
        () if first == "fatal:" && who.starts_with("git ") => format!("git: {text}"),
        () if is_label && who.starts_with("git ") && !who.ends_with(CHAIN) => {
            format!("git: {text}")
        }
        () if template.contains("no matches found") || template.starts_with("parse error") => {
            format!("The shell: {text}")
        }
        () if is_program && !is_label && *role == KeyRole::Shell => text,
        () => format!("{who}: {text}"),
    }
}

/// Returns the title of a failed check: `Go tests fail (go test, mise run)`.
fn check(facts: &IssueFacts<'_>, language: &str, what: &str) -> String {
    let words = match language {
        "" => {
            let mut letters = what.chars();
            let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
            format!("{first}{}", letters.as_str())
        }
        language => format!("{language} {what}"),
    };
    with_names(facts, &words)
}

/// Appends the subject of most occurrences.
fn with_subject(facts: &IssueFacts<'_>, words: &str) -> String {
    match facts.main_subject() {
        Some(subject) => format!("{words}: {}", subject.what),
        None => words.to_owned(),
    }
}

/// Appends the most frequent subjects.
fn with_names(facts: &IssueFacts<'_>, words: &str) -> String {
    let names: Vec<&str> = facts.names(3).into_iter().map(|(name, _)| name).collect();
    match &names[..] {
        [] => words.to_owned(),
        [one] => format!("{words}: {one}"),
        names => format!("{words} ({})", names.join(", ")),
    }
}

fn finding(facts: &IssueFacts<'_>, code: &str, tool: &str, template: &str) -> String {
    let Some(rule) = rule_by_code(code) else { return template.to_owned() };
    let common = facts.main_subject().map(|subject| subject.what.as_str());
    // The name of a tool may look like a path.
    let (start, rest) = match facts.said.strip_prefix(tool) {
        Some(rest) => (tool, rest),
        None => ("", facts.said),
    };
    let gap = if rest.starts_with(' ') && !start.is_empty() { " " } else { "" };
    // A single occurrence is shown with its values.
    let rest = match facts.count {
        1 => rest.trim().to_owned(),
        _ => with_gaps(rest, common),
    };
    let said = format!("{start}{gap}{rest}");
    // The message says more than the rule, unless most of it is values.
    let words =
        said.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count();
    match words {
        0..3 => format!("{tool} {}", rule.summary),
        _ if said.starts_with(tool) => said,
        _ => format!("{tool}: {said}"),
    }
}
