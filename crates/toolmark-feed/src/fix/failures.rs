//! Fixes of failures, by class.

use super::{Fix, FixTarget, listed, times};
use crate::class::FailureClass;
use crate::facts::IssueFacts;
use crate::language::Language;
use crate::role::KeyRole;
use crate::subject::{CHAIN, Subject, without_mark};

/// Maximum number of names in a line.
const MAX_NAMES: usize = 5;

/// Minimum number of occurrences of a subject for a line of its own.
const REPEATED: u64 = 2;

/// Number of refusals by the user from which a rule is suggested.
const REFUSED: u64 = 3;

/// Number of failures of a kind from which they count as a habit, if no single file stands out.
const HABIT: u64 = 5;

pub(super) fn fix(
    facts: &IssueFacts<'_>,
    role: &KeyRole,
    class: FailureClass,
    template: &str,
) -> Option<Fix> {
    match class {
        FailureClass::Dependency => dependency(facts, template),
        FailureClass::BadArguments if *role == KeyRole::Shell => refused_flag(facts, template),
        FailureClass::BadArguments | FailureClass::Error => refused_name(facts, template),
        FailureClass::MissingPath if template == "cd" => lost_directory(facts),
        FailureClass::MissingPath => missing_path(facts),
        FailureClass::TooLarge => too_large(facts),
        FailureClass::RefusedByUser if *role == KeyRole::Shell => refused_by_user(facts),
        FailureClass::EditNoMatch
        | FailureClass::EditChanged
        | FailureClass::EditAmbiguous
        | FailureClass::EditNotRead => edit(facts, class),
        FailureClass::Exit => exit(facts, template),
        _ => None,
    }
}

/// Python modules with a different package name.
const PYTHON_PACKAGES: &[(&str, &str)] = &[
    ("yaml", "pyyaml"),
    ("cv2", "opencv-python"),
    ("PIL", "pillow"),
    ("bs4", "beautifulsoup4"),
    ("sklearn", "scikit-learn"),
    ("dotenv", "python-dotenv"),
    ("dateutil", "python-dateutil"),
    ("git", "gitpython"),
    ("jwt", "pyjwt"),
    ("docx", "python-docx"),
    ("pptx", "python-pptx"),
    ("fitz", "pymupdf"),
    ("serial", "pyserial"),
    ("attr", "attrs"),
    ("google", ""),
    ("src", ""),
    ("tests", ""),
    ("app", ""),
];

fn dependency(facts: &IssueFacts<'_>, language: &str) -> Option<Fix> {
    let language = Language::from_word(language).unwrap_or(Language::None);
    // A library that was missing once may have been looked for in the wrong directory.
    let least = if language == Language::Program { 1 } else { REPEATED };
    let mut names = facts.names(MAX_NAMES);
    names.retain(|(_, count)| *count >= least);
    let first: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
    if first.is_empty() {
        return None;
    }
    let set_up = |text: String, why: String| {
        let (text, why) = (text.into(), why.into());
        Some(Fix { target: FixTarget::SetUp, file: None, key: None, project: None, text, why })
    };
    let missing =
        format!("{} missing {}", listed(&names), times(names.iter().map(|(_, n)| n).sum()));
    match language {
        Language::Python => {
            let package = |name: &&str| {
                let known = PYTHON_PACKAGES.iter().find(|(module, _)| module == name);
                known.map_or((*name).to_owned(), |(_, package)| (*package).to_owned())
            };
            let packages: Vec<String> =
                first.iter().map(package).filter(|name| !name.is_empty()).collect();
            (!packages.is_empty())
                .then(|| set_up(format!("pip install {}", packages.join(" ")), missing))
                .flatten()
        }
        Language::JavaScript => set_up(format!("npm install {}", first.join(" ")), missing),
        Language::Go => set_up(format!("go get {}", first.join(" ")), missing),
        Language::Ruby => set_up(format!("gem install {}", first.join(" ")), missing),
        Language::Program => {
            let text = match aliases(&first) {
                Some(text) => text,
                None => format!(
                    "{} {} not installed on this machine; do not call {}.",
                    listed(&names),
                    if names.len() == 1 { "is" } else { "are" },
                    if names.len() == 1 { "it" } else { "them" }
                ),
            };
            Some(Fix::line(facts, text, missing))
        }
        _ => None,
    }
}

/// Returns the advice for missing programs with an alternative.
fn aliases(names: &[&str]) -> Option<String> {
    match names {
        ["python"] => Some("There is no `python` on this machine; call `python3`.".into()),
        ["pip"] => Some("There is no `pip` on this machine; call `python3 -m pip`.".into()),
        ["timeout"] => Some(
            "There is no `timeout` on this machine (macOS); use the time limit of the tool.".into(),
        ),
        _ => None,
    }
}

fn refused_flag(facts: &IssueFacts<'_>, template: &str) -> Option<Fix> {
    let lacks = if template.contains("script") { "has no script" } else { "does not know" };
    let known: Vec<&(Subject, u64)> = facts
        .subjects
        .iter()
        .filter(|(subject, _)| !subject.what.is_empty() && !subject.detail.is_empty())
        // Of several commands, which one refused it is not known.
        .filter(|(subject, _)| !subject.what.ends_with(CHAIN))
        .take(MAX_NAMES)
        .collect();
    let words: Vec<String> = known
        .iter()
        .map(|(subject, _)| {
            format!("`{}` {lacks} `{}`", without_mark(&subject.what), subject.detail)
        })
        .collect();
    let sum: u64 = known.iter().map(|(_, count)| count).sum();
    (!words.is_empty()).then(|| {
        let why = format!("refused {}", times(sum));
        Fix::line(facts, format!("{}.", words.join("; ")), why)
    })
}

/// Returns the fix for a tool, a skill or a sub-agent that rejects a name.
fn refused_name(facts: &IssueFacts<'_>, template: &str) -> Option<Fix> {
    let why = format!("failed {}", times(facts.count));
    let said = facts.said;
    let line = |text: String| Some(Fix::line(facts, text, why.clone()));
    if template.starts_with("eisdir") {
        let names = facts.names(MAX_NAMES);
        let (is, them) =
            if names.len() == 1 { ("is a directory", "it") } else { ("are directories", "them") };
        return (!names.is_empty())
            .then(|| line(format!("{} {is}: list {them}, do not read {them}.", listed(&names))))
            .flatten();
    }
    let subject = facts.main_subject()?;
    if template.contains("unexpected parameter") && !subject.detail.is_empty() {
        return line(format!("`{}` has no parameter `{}`.", subject.what, subject.detail));
    }
    let kinds = [
        ("Unknown skill: ", "skill"),
        ("Agent type '", "sub-agent type"),
        ("No such tool available: ", "tool"),
    ];
    let kind = kinds.iter().find(|(mark, _)| said.contains(mark)).map(|(_, kind)| *kind)?;
    let names = facts.details(MAX_NAMES);
    (!names.is_empty()).then(|| line(format!("There is no {kind} {}.", listed(&names)))).flatten()
}

fn lost_directory(facts: &IssueFacts<'_>) -> Option<Fix> {
    let names = facts.names(MAX_NAMES);
    let (first, _) = names.first()?;
    let text = format!(
        "The shell keeps its directory between commands: run `cd` with an absolute path, or not at all (`cd {first}` failed)."
    );
    Some(Fix::line(facts, text, format!("`cd` failed {}", times(facts.count))))
}

fn missing_path(facts: &IssueFacts<'_>) -> Option<Fix> {
    // The host's suggestion is the name of the file.
    let proposed: Vec<String> = facts
        .subjects
        .iter()
        .filter(|(subject, _)| !subject.what.is_empty() && !subject.detail.is_empty())
        .map(|(subject, _)| format!("`{}` does not exist, `{}` does", subject.what, subject.detail))
        .take(MAX_NAMES)
        .collect();
    if !proposed.is_empty() {
        let why = format!("a path did not exist {}", times(facts.count));
        return Some(Fix::line(facts, format!("{}.", proposed.join("; ")), why));
    }
    let repeated: Vec<(&str, u64)> = facts
        .names(MAX_NAMES)
        .into_iter()
        .filter(|(name, count)| *count >= REPEATED && !name.starts_with("/tmp/"))
        .collect();
    (!repeated.is_empty()).then(|| {
        let sum: u64 = repeated.iter().map(|(_, count)| count).sum();
        let (is, s) = if repeated.len() == 1 { ("does", "") } else { ("do", "s") };
        let text = format!("{} {is} not exist; search for the name{s} instead.", listed(&repeated));
        Fix::line(facts, text, format!("looked for {}", times(sum)))
    })
}

fn too_large(facts: &IssueFacts<'_>) -> Option<Fix> {
    let names = facts.names(MAX_NAMES);
    (!names.is_empty()).then(|| {
        let text = format!("Read {} in parts (`offset`, `limit`) or search in it.", listed(&names));
        Fix::line(facts, text, format!("too large to read at once, {}", times(facts.count)))
    })
}

/// Returns the fix for calls that the user refused: the host asks already, so the agent is
/// instructed about the expected answer.
fn refused_by_user(facts: &IssueFacts<'_>) -> Option<Fix> {
    let repeated: Vec<(&str, u64)> =
        facts.names(MAX_NAMES).into_iter().filter(|(_, count)| *count >= REFUSED).collect();
    (!repeated.is_empty()).then(|| {
        let sum: u64 = repeated.iter().map(|(_, count)| count).sum();
        let text = format!("Do not run {} unless the user asks for it.", listed(&repeated));
        Fix::line(facts, text, format!("the user refused {}", times(sum)))
    })
}

fn edit(facts: &IssueFacts<'_>, class: FailureClass) -> Option<Fix> {
    let repeated: Vec<(&str, u64)> =
        facts.names(MAX_NAMES).into_iter().filter(|(_, count)| *count >= REPEATED).collect();
    let tool = facts.tool;
    let what = match class {
        FailureClass::EditNoMatch => "copy the text to replace from a fresh read",
        FailureClass::EditChanged => {
            "read it again right before the edit: the user or a formatter changes it meanwhile"
        }
        FailureClass::EditAmbiguous => {
            "give enough lines around the text to replace to make it unique"
        }
        _ => "read it in the same session first",
    };
    let why = format!("{tool} failed {}", times(facts.count));
    if !repeated.is_empty() {
        let text = format!("Before you edit {}, {what}.", listed(&repeated));
        return Some(Fix::line(facts, text, why));
    }
    (facts.count >= HABIT)
        .then(|| Fix::line(facts, format!("Before you call `{tool}` on a file, {what}."), why))
}

fn exit(facts: &IssueFacts<'_>, template: &str) -> Option<Fix> {
    let subject = facts.main_subject();
    let why = format!("failed {}", times(facts.count));
    if template.contains("timed out") {
        let what = &subject?.what;
        let text = format!(
            "`{what}` takes longer than the default limit: give it a longer `timeout` or run it in the background."
        );
        return Some(Fix::line(facts, text, format!("timed out {}", times(facts.count))));
    }
    if template.starts_with("conflict") || template.contains("merge conflict") {
        return None;
    }
    if template.contains("is already used by worktree") || template.contains("already checked out")
    {
        let text = "Do not check out a branch that another worktree uses: `git fetch`, then merge `origin/<branch>`.";
        return Some(Fix::line(facts, text.into(), why));
    }
    if template.contains("not a git repository") {
        return Some(Fix::line(facts, "Run git in the repository: `git -C <dir> …`.".into(), why));
    }
    if template.contains("parse error near") || template.contains("no matches found") {
        let text = "The shell is zsh: quote patterns with `*`, `?`, `(` and `[`.";
        return Some(Fix::line(facts, text.into(), why));
    }
    None
}
