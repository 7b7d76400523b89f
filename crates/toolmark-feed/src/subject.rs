//! Subjects of failures: the missing program, the file, the flag. Titles and fixes name them.

use crate::class::{Classified, FailedCall, FailureClass};
use crate::language::Language;
use crate::role::KeyRole;
use toolmark_session::shell::CommandLine;

/// Mark after the first of several commands, when it is unknown which one failed.
pub(crate) const CHAIN: &str = " && …";

/// Mark after the first command of a pipe, whose exit code is that of the last one.
pub(crate) const PIPE: &str = " | …";

/// Maximum length of a name.
const MAX_NAME: usize = 160;

/// Subject of a failure.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Subject {
    /// Program, library, file or tool.
    pub what: String,
    /// Detail: a flag, the intended name, the timeout.
    pub detail: String,
}

/// Returns the subject of a failed call; `path` is the file it names, in display form.
#[must_use]
pub(crate) fn of(
    failed: &FailedCall<'_>,
    classified: &Classified<'_>,
    path: Option<&str>,
) -> Subject {
    let is_shell = KeyRole::of(failed.role, failed.tool) == KeyRole::Shell;
    let line = classified.salient.map_or("", |salient| salient.line);
    let sent_for = || failed.errand().unwrap_or_default();
    let (what, detail) = match classified.class {
        FailureClass::Dependency => match classified.language {
            Language::Program => (missing_program(failed.text), String::new()),
            language => (missing_library(failed.text, language), String::new()),
        },
        FailureClass::BadArguments if is_shell => {
            let flag = flag(line);
            let detail = if flag.is_empty() { refused_word(line) } else { flag };
            (chained(before(command_words(failed), &detail), failed), detail)
        }
        FailureClass::BadArguments => (failed.tool.to_owned(), named(line)),
        FailureClass::Exit if is_shell => (chained(sent_for(), failed), String::new()),
        FailureClass::MissingPath if is_shell => (missing_path(line), String::new()),
        FailureClass::MissingPath => (owned(path), proposed(failed.text)),
        _ if is_shell => (sent_for(), String::new()),
        FailureClass::Error | FailureClass::Exit => match path {
            Some(path) => (path.to_owned(), named(line)),
            None => (failed.tool.to_owned(), named(line)),
        },
        _ => (owned(path), String::new()),
    };
    Subject { what: bounded(what.trim().to_owned()), detail: bounded(detail) }
}

fn owned(text: Option<&str>) -> String {
    text.unwrap_or_default().to_owned()
}

fn bounded(text: String) -> String {
    if text.len() > MAX_NAME || text.contains('\n') { String::new() } else { text }
}

/// Returns the program that a shell did not find.
fn missing_program(text: &str) -> String {
    for line in text.lines().take(40) {
        let line = line.trim();
        let name = line
            .split_once("command not found: ")
            .map(|(_, name)| name)
            .or_else(|| line.strip_suffix(": command not found").map(last_part))
            .or_else(|| line.strip_suffix(": not found").map(last_part));
        if let Some(name) = name.filter(|name| is_name(name)) {
            return name.trim().to_owned();
        }
    }
    String::new()
}

fn last_part(text: &str) -> &str {
    text.rsplit(": ").next().unwrap_or(text)
}

fn is_name(name: &str) -> bool {
    let name = name.trim();
    !name.is_empty() && name.len() <= 60 && !name.contains(char::is_whitespace)
}

/// Returns the library that an interpreter did not find, without its modules.
fn missing_library(text: &str, language: Language) -> String {
    const MARKS: &[&str] = &[
        "No module named ",
        "Cannot find module ",
        "Cannot find package ",
        "no required module provides package ",
        "cannot load such file -- ",
        "error while loading shared libraries: ",
    ];
    let found = MARKS.iter().find_map(|mark| Some(text.split_once(mark)?.1));
    let Some(found) = found else { return String::new() };
    let found = found.trim_start_matches(['\'', '"', '`']);
    let end = found.find(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '`' | ';' | ':'));
    let name = &found[..end.unwrap_or(found.len())];
    let name = match language {
        Language::Python => name.split('.').next().unwrap_or(name),
        // A file of the project is not a package.
        _ if name.starts_with(['.', '/']) => "",
        Language::JavaScript if name.starts_with('@') => {
            let end = name.match_indices('/').nth(1).map_or(name.len(), |(at, _)| at);
            &name[..end]
        }
        Language::JavaScript => name.split('/').next().unwrap_or(name),
        _ => name,
    };
    name.to_owned()
}

/// Returns the program of a command and its sub-command words: `gh pr diff`.
fn command_words(failed: &FailedCall<'_>) -> String {
    let Some(command) = failed.command else { return String::new() };
    let Some(sent_for) = failed.errand() else { return String::new() };
    let name = sent_for.split(' ').next().unwrap_or_default();
    let words = command.split(|c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|'));
    let mut words = words.skip_while(|word| word.rsplit('/').next() != Some(name));
    words.next();
    let is_verb = |word: &&str| {
        !word.is_empty()
            && word.len() <= 20
            && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
            && !word.starts_with('-')
    };
    let verbs: Vec<&str> = words.take_while(is_verb).take(2).collect();
    let mut out = name.to_owned();
    for verb in verbs {
        out.push(' ');
        out.push_str(verb);
    }
    out
}

/// Returns the flag or word that a program rejected.
fn flag(line: &str) -> String {
    let mut words = line.split(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '`' | ','));
    let flag = words.find(|word| word.len() > 1 && word.starts_with('-') && *word != "--");
    let flag = flag.map(|flag| flag.trim_end_matches(['.', ':', ')'])).unwrap_or_default();
    let name = flag.split('=').next().unwrap_or(flag);
    // A pattern that starts with a dash is not a flag.
    let is_flag = name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    if is_flag { name.to_owned() } else { String::new() }
}

/// Returns the words of a command before the rejected one.
fn before(words: String, refused: &str) -> String {
    let mut kept = words.split(' ').take_while(|word| *word != refused);
    let first = kept.next().unwrap_or_default().to_owned();
    kept.fold(first, |all, word| format!("{all} {word}"))
}

/// Returns the errand of a command line, with a mark if other commands follow that may have failed.
fn chained(errand: String, failed: &FailedCall<'_>) -> String {
    const PREPARES: &[&str] = &["cd", "export", "source", ".", "set", "echo", "sleep", "true"];
    let command = failed.command.unwrap_or_default();
    // The standard input of a command is not a command.
    let command = command.split("<<").next().unwrap_or(command);
    let commands = command
        .split("&&")
        .flat_map(|part| part.split([';', '\n']))
        .filter_map(|part| part.split_whitespace().next())
        .filter(|word| !PREPARES.contains(word) && !word.starts_with(['#', ')', '}']));
    let line = CommandLine::new(failed.command.unwrap_or_default());
    let items = line.parsed().map(|script| script.items.as_slice()).unwrap_or_default();
    let is_pipe = items.iter().any(|item| item.pipeline.stages.len() > 1);
    let errand = errand.trim();
    match commands.count() {
        _ if errand.is_empty() => String::new(),
        2.. if items.len() != 1 => format!("{errand}{CHAIN}"),
        _ if is_pipe => format!("{errand}{PIPE}"),
        _ => errand.to_owned(),
    }
}

/// Returns the errand of a subject, without the mark for following commands.
pub(crate) fn without_mark(what: &str) -> &str {
    what.trim_end_matches(CHAIN).trim_end_matches(PIPE)
}

/// Returns the word that a program does not know, not the one that it suggests.
fn refused_word(line: &str) -> String {
    let start = line.to_ascii_lowercase().find("did you mean").unwrap_or(line.len());
    let line = line.get(..start).unwrap_or(line);
    let quoted = quoted(line);
    if !quoted.is_empty() {
        return quoted;
    }
    let mark = ["nknown command: ", "nknown subcommand: ", "issing script: ", "nknown command "];
    let word = mark.iter().find_map(|mark| line.split_once(mark)?.1.split_whitespace().last());
    word.map(|word| word.trim_end_matches(['.', ','])).unwrap_or_default().to_owned()
}

/// Returns the name of a missing object in messages of hosts without quotes; else the first text in
/// quotes.
fn named(line: &str) -> String {
    const MARKS: &[&str] = &["Unknown skill: ", "No such tool available: "];
    let name = MARKS.iter().find_map(|mark| {
        let rest = line.split_once(mark)?.1;
        let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '<' | ',' | '"'));
        Some(rest[..end.unwrap_or(rest.len())].trim_end_matches('.').to_owned())
    });
    name.unwrap_or_else(|| quoted(line))
}

/// Returns the first text in quotes.
fn quoted(line: &str) -> String {
    for mark in ['`', '\'', '"'] {
        let mut parts = line.split(mark);
        if let (Some(_), Some(inside), Some(_)) = (parts.next(), parts.next(), parts.next())
            && !inside.is_empty()
            && inside.len() <= 60
        {
            return inside.to_owned();
        }
    }
    String::new()
}

/// Returns the path that a command did not find.
fn missing_path(line: &str) -> String {
    let before = line.to_ascii_lowercase().find("no such file").map_or(line.len(), |at| at);
    let (before, after) = line.split_at(before);
    let after = after.split_once(": ").map(|(_, path)| path);
    let behind_cd = line.split_once("can't cd to ").map(|(_, path)| path);
    let path = behind_cd.or(after).unwrap_or_else(|| {
        let before = before.trim_end_matches([':', ' ']);
        before.rsplit([' ']).next().unwrap_or(before)
    });
    let path = path.trim().trim_matches(['\'', '"', '`', ':', '\u{2018}', '\u{2019}']);
    path.to_owned()
}

/// Returns the name that the host suggests instead.
fn proposed(text: &str) -> String {
    let Some((_, rest)) = text.split_once("Did you mean ") else { return String::new() };
    let end = rest.find(['?', '<', '\n']).unwrap_or(rest.len());
    rest[..end].trim_matches(['\'', '"', '`', ' ']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::classify;
    use toolmark_hosts::toolset::ToolRole;

    #[test]
    fn what_failures_are_about() {
        let shell = ToolRole::RunsShell;
        for (role, command, text, what, detail) in [
            (shell, "ponyc a", "Exit code 127\nbash: ponyc: command not found", "ponyc", ""),
            (shell, "jq .", "Exit code 127\n(eval):1: command not found: jq", "jq", ""),
            (shell, "python a.py", "ModuleNotFoundError: No module named 'yaml.x'", "yaml", ""),
            (shell, "node a", "Error: Cannot find module '@a/b/c'\n", "@a/b", ""),
            (
                shell,
                "gh pr diff 88 --stat",
                "Exit code 1\nunknown flag: --stat\n",
                "gh pr diff",
                "--stat",
            ),
            (
                shell,
                "ls src/lib",
                "ls: cannot access 'src/lib': No such file or directory",
                "src/lib",
                "",
            ),
            (shell, "cd a/b && make", "(eval):cd:1: no such file or directory: a/b", "a/b", ""),
            (shell, "git push", "fatal: no upstream", "git push", ""),
            (shell, "cd a && git push", "fatal: no upstream", "git push", ""),
            (shell, "git add a && git commit", "fatal: no", "git add && …", ""),
            (shell, "find . | xargs grep x", "fatal: no", "find | …", ""),
            (shell, "grep 'a|b' c", "fatal: no", "grep", ""),
            (shell, "rtk bun run", "error: unrecognized subcommand 'bun'", "rtk", "bun"),
            (shell, "x enabl", "Unknown command: x enabl. Did you mean \"enable\"?", "x", "enabl"),
            (ToolRole::Other, "", "Unknown skill: commit", "a.yml", "commit"),
            (ToolRole::Reads, "", "File does not exist. Did you mean a.yaml?", "a.yml", "a.yaml"),
        ] {
            let failed = FailedCall {
                role,
                tool: "Tool",
                args: None,
                command: Some(command),
                exit_code: None,
                is_denied: false,
                is_interrupted: false,
                error: None,
                text,
            };
            let subject = of(&failed, &classify(&failed), Some("a.yml"));
            assert_eq!((&*subject.what, &*subject.detail), (what, detail), "{text}");
        }
    }
}
