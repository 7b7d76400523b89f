//! Detection of failed checks in command output: a failed build, test or linter, a missing
//! dependency, a rejected command line.

use crate::language::Language;
use aho_corasick::{AhoCorasick, MatchKind};
use std::sync::LazyLock;
use toolmark_session::error_class::ErrorClass;

/// Kind of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CheckKind {
    /// A build or type check.
    Build,
    /// A test run.
    Tests,
    /// A linter or formatter run.
    Lint,
}

type CheckMark = (&'static str, CheckKind, Language);

/// Texts printed by tools when a check failed. A mark is a text that occurs in no other output.
const MARKS: &[CheckMark] = &[
    // Builds and type checks.
    ("[build failed]", CheckKind::Build, Language::Go),
    (" (typecheck)", CheckKind::Build, Language::Go),
    ("declared and not used:", CheckKind::Build, Language::Go),
    ("\" imported and not used", CheckKind::Build, Language::Go),
    ("error[E0", CheckKind::Build, Language::Rust),
    ("error: could not compile", CheckKind::Build, Language::Rust),
    (": error TS", CheckKind::Build, Language::JavaScript),
    (" - error TS", CheckKind::Build, Language::JavaScript),
    ("Failed to compile.", CheckKind::Build, Language::JavaScript),
    ("COMPILATION ERROR", CheckKind::Build, Language::Java),
    ("error: cannot find symbol", CheckKind::Build, Language::Java),
    ("Execution failed for task ':compile", CheckKind::Build, Language::Java),
    (": fatal error: ", CheckKind::Build, Language::C),
    ("undefined reference to", CheckKind::Build, Language::C),
    ("collect2: error: ld", CheckKind::Build, Language::C),
    (": error CS", CheckKind::Build, Language::DotNet),
    // Tests.
    ("--- FAIL: ", CheckKind::Tests, Language::Go),
    ("\nFAIL\t", CheckKind::Tests, Language::Go),
    ("test result: FAILED", CheckKind::Tests, Language::Rust),
    (" short test summary info ", CheckKind::Tests, Language::Python),
    ("FAILED (failures=", CheckKind::Tests, Language::Python),
    ("FAILED (errors=", CheckKind::Tests, Language::Python),
    ("Test Suites: ", CheckKind::Tests, Language::JavaScript),
    (" Test Files  ", CheckKind::Tests, Language::JavaScript),
    ("Failed Tests ", CheckKind::Tests, Language::JavaScript),
    ("There are test failures", CheckKind::Tests, Language::Java),
    ("There were failing tests", CheckKind::Tests, Language::Java),
    (" examples, ", CheckKind::Tests, Language::Ruby),
    ("tests failed out of", CheckKind::Tests, Language::C),
    ("FAILURES!\nTests: ", CheckKind::Tests, Language::Php),
    // Linters and formatters.
    (" issues:\n* ", CheckKind::Lint, Language::Go),
    (" issues:\n[lint", CheckKind::Lint, Language::Go),
    ("golangci-lint run", CheckKind::Lint, Language::Go),
    (" (errcheck)", CheckKind::Lint, Language::Go),
    (" (staticcheck)", CheckKind::Lint, Language::Go),
    (" (revive)", CheckKind::Lint, Language::Go),
    (" (gosec)", CheckKind::Lint, Language::Go),
    ("clippy::", CheckKind::Lint, Language::Rust),
    ("Diff in ", CheckKind::Lint, Language::Rust),
    (" problems (", CheckKind::Lint, Language::JavaScript),
    (" problem (", CheckKind::Lint, Language::JavaScript),
    ("Code style issues found", CheckKind::Lint, Language::JavaScript),
    ("would be reformatted", CheckKind::Lint, Language::Python),
    ("Your code has been rated at", CheckKind::Lint, Language::Python),
    (" offenses detected", CheckKind::Lint, Language::Ruby),
    (" offense detected", CheckKind::Lint, Language::Ruby),
    ("(SC", CheckKind::Lint, Language::Shell),
    ("github.com/koalaman/shellcheck", CheckKind::Lint, Language::Shell),
    (" | P:  ", CheckKind::Lint, Language::Sql),
];

/// Messages of interpreters about a missing library.
const DEPENDENCIES: &[(&str, Language)] = &[
    ("ModuleNotFoundError: ", Language::Python),
    ("No module named ", Language::Python),
    ("ERR_MODULE_NOT_FOUND", Language::JavaScript),
    ("Error: Cannot find module ", Language::JavaScript),
    ("Error: Cannot find package ", Language::JavaScript),
    ("no required module provides package", Language::Go),
    ("cannot load such file -- ", Language::Ruby),
    ("Could not find gem ", Language::Ruby),
    ("cannot open shared object file", Language::C),
];

/// Number of bytes of an output that are searched, from its start and from its end.
const MAX_SEARCHED: usize = 8 << 10;

/// Findings in an output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OutputChecks {
    /// Failed check. A failed build takes precedence, because it makes tests and linters fail.
    pub(crate) check: Option<(CheckKind, Language)>,
    /// Language of a missing library.
    pub(crate) missing: Option<Language>,
}

static FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let marks = MARKS.iter().map(|(mark, ..)| mark);
    let all = marks.chain(DEPENDENCIES.iter().map(|(words, _)| words)).chain(GO_WORDS);
    AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(all).ok()
});

/// Returns the findings in the output, in one pass.
#[must_use]
pub(crate) fn shown(text: &str) -> OutputChecks {
    let mut shown = OutputChecks::default();
    let Some(finder) = FINDER.as_ref() else { return shown };
    let (start, end) = crate::salient::ends(text, MAX_SEARCHED);
    for part in [start, end] {
        for mark in finder.find_iter(part) {
            let at = mark.pattern().as_usize();
            let behind_marks = at.checked_sub(MARKS.len());
            if let Some((_, language)) = behind_marks.and_then(|at| DEPENDENCIES.get(at)) {
                shown.missing.get_or_insert(*language);
                continue;
            }
            let (check, language) = match MARKS.get(at) {
                Some((_, check, language)) => (check, language),
                None if is_behind_go_file(part, mark.start()) => (&CheckKind::Build, &Language::Go),
                None => continue,
            };
            // Tests that could not be set up say nothing about the code.
            let is_set_up = *check != CheckKind::Tests || !part.contains("[setup failed]");
            if is_set_up && shown.check.is_none_or(|(best, _)| *check < best) {
                shown.check = Some((*check, *language));
            }
        }
    }
    shown
}

/// Whether a recipe of a makefile failed.
#[must_use]
pub(crate) fn is_make(text: &str) -> bool {
    let (start, end) = crate::salient::ends(text, MAX_SEARCHED);
    let part = if end.is_empty() { start } else { end };
    part.lines().rev().take(5).any(|line| line.starts_with("make") && line.contains(": *** ["))
}

/// Messages of the Go compiler, which follow a position in a Go file.
const GO_WORDS: &[&str] = &[
    " undefined: ",
    " cannot use ",
    " not enough arguments in call",
    " too many arguments in call",
    "redeclared in this block",
    " missing return",
    " syntax error: ",
    " assignment mismatch",
    " undefined (type ",
];

/// Whether the name of a Go file precedes a position on its line.
fn is_behind_go_file(text: &str, at: usize) -> bool {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    text[start..at].contains(".go:")
}

/// Whether a shell reports a missing program.
#[must_use]
pub(crate) fn is_missing_program(text: &str, error: ErrorClass) -> bool {
    // A script that is not there has a path, a program has a name.
    let is_script = || {
        text.lines().take(20).any(|line| {
            let lower = line.to_ascii_lowercase();
            (lower.contains("no such file or directory") || lower.contains(": not found"))
                && line.contains('/')
                && !line.starts_with("/bin/sh: ")
                && !line.contains("command not found")
        })
    };
    error == ErrorClass::CommandNotFound && !is_script()
}

/// Whether a program rejects its command line.
#[must_use]
pub(crate) fn is_usage(line: &str) -> bool {
    const WORDS: &[&str] = &[
        "unknown flag",
        "unknown option",
        "unrecognized option",
        "unrecognized argument",
        "unrecognized flag",
        "unknown command",
        "unknown subcommand",
        "unexpected argument",
        "invalid option",
        "illegal option",
        "unknown shorthand flag",
        "no such option",
        "unknown argument",
        "accepts at most",
        "accepts between",
        "unknown json field",
        "required flag",
        "flag provided but not defined",
        "the following arguments are required",
        "invalid choice:",
        "unrecognized subcommand",
        "script not found",
        "missing script",
        "no rule to make target",
        "could not find `cargo.toml`",
        "no go files in",
        "cannot find module providing package",
    ];
    let lower = crate::template::cut(line, 400).to_ascii_lowercase();
    WORDS.iter().any(|words| lower.contains(words))
}

/// Whether a shell or a program reports a missing file or directory.
#[must_use]
pub(crate) fn is_missing_path(line: &str) -> bool {
    const WORDS: &[&str] = &[
        "no such file or directory",
        "cannot find the path",
        "can't cd to",
        "directory not found",
        "file or directory not found",
    ];
    let lower = crate::template::cut(line, 400).to_ascii_lowercase();
    // An exception has a line of its own that identifies it.
    !line.contains("Error: ")
        && !line.contains("Exception: ")
        && WORDS.iter().any(|words| lower.contains(words))
}

/// Whether `cd` did not find its directory.
#[must_use]
pub(crate) fn is_lost_directory(line: &str) -> bool {
    line.contains("cd:") || line.contains("can't cd to")
}

/// Whether the command runs a linter or a formatter.
#[must_use]
pub(crate) fn is_linter(command: &str) -> bool {
    const NAMES: &[&str] = &[
        "lint",
        "eslint",
        "ruff",
        "clippy",
        "fmt",
        "prettier",
        "biome",
        "flake8",
        "pylint",
        "shellcheck",
        "golangci-lint",
        "rubocop",
        "black",
        "format",
        "stylelint",
        "sqlfluff",
    ];
    let mut words = command.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    words.any(|word| NAMES.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_output_shows() {
        for (text, want) in [
            ("--- FAIL: TestX (0.1s)\nFAIL\nFAIL\tx\t0.1s", Some((CheckKind::Tests, Language::Go))),
            (
                "a_test.go:9:1: undefined: x\nFAIL\tx [build failed]",
                Some((CheckKind::Build, Language::Go)),
            ),
            ("a.go:3:4: undefined: y (typecheck)", Some((CheckKind::Build, Language::Go))),
            ("x.ts(1,2): error TS2304: no", Some((CheckKind::Build, Language::JavaScript))),
            ("2 issues:\n* errcheck: 1", Some((CheckKind::Lint, Language::Go))),
            ("✖ 3 problems (3 errors, 0 warnings)", Some((CheckKind::Lint, Language::JavaScript))),
            ("all good", None),
        ] {
            assert_eq!(shown(text).check, want, "{text}");
        }
    }
}
