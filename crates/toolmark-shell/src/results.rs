//! The meaning of the output of a command line, whatever its exit code: which of its programs passed,
//! failed, found nothing, rejected its arguments, or never ran.
//!
//! The facts about programs are data, in `packs`. A line is only compared with the patterns of
//! programs that the command line runs and whose output it does not hide, so the content of a file
//! that is printed is not a message.

mod line;
mod packs;
mod program;
mod source;
mod table;

use crate::ir::{Node, Part, Script};
use crate::walk::masks_failure;
use program::Work;
use source::{Source, sources};
use table::{FoundLiterals, ProgramId};

toolmark_base::word_enum! {
    /// Meaning of a result. The order is that of importance: the first of several counts.
    pub enum ResultKind {
        /// A guard, a policy or the operating system refused.
        Refused = "refused",
        /// A login or a credential is missing.
        NotAuthenticated = "not-authenticated",
        /// There were too many requests.
        RateLimited = "rate-limited",
        /// The program is not installed.
        MissingProgram = "missing-program",
        /// The program does not belong in this directory.
        WrongDirectory = "wrong-directory",
        /// The program or the shell rejects the command line.
        UsageError = "usage-error",
        /// A named file, branch, package or other resource does not exist.
        NotFound = "not-found",
        /// The command ran out of time, or its output was cut off.
        CutOff = "cut-off",
        /// The work of the program failed.
        Failed = "failed",
        /// Nothing was tested or checked.
        NothingTested = "nothing-tested",
        /// A search, a list or a query has no results.
        NothingMatched = "nothing-matched",
        /// The command runs in the background.
        StillRunning = "still-running",
        /// The work was done.
        Passed = "passed",
        /// The output does not tell.
        Unknown = "unknown",
    }
}

impl ResultKind {
    /// Whether the command did not do what it was run for.
    #[must_use]
    pub const fn is_failure(self) -> bool {
        matches!(
            self,
            Self::Refused
                | Self::NotAuthenticated
                | Self::RateLimited
                | Self::MissingProgram
                | Self::WrongDirectory
                | Self::UsageError
                | Self::NotFound
                | Self::CutOff
                | Self::Failed
        )
    }
}

/// End of a command, as the host reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// With success.
    Succeeded,
    /// With a failure, and the exit code if it is known.
    Failed(Option<i64>),
    /// It does not say.
    Unrecorded,
}

/// The meaning of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading<'t> {
    /// Meaning of the result.
    pub kind: ResultKind,
    /// The line that shows it, if one does.
    pub line: Option<&'t str>,
    /// Whether the exit code does not tell it.
    pub is_masked: bool,
}

/// Reads the result of a command line; of a long text, its start and its end.
#[must_use]
pub fn read<'t>(script: &Script, ending: Ending, text: [&'t str; 2]) -> Reading<'t> {
    let sources = sources(script);
    let (ending, is_masked) = match printed_code(script, text) {
        Some(0) => (Ending::Succeeded, false),
        Some(code) => (Ending::Failed(Some(code)), false),
        None => (ending, masks_failure(script)),
    };
    let said = said(&sources, text);
    let (kind, line) = match said {
        Some((kind, line)) => (kind, Some(line)),
        None => (unsaid(&sources, ending, is_masked, text), None),
    };
    // A status that nothing hides weighs more than a line that looks like success.
    let failed = matches!(ending, Ending::Failed(_)) && !is_masked;
    let kind = match kind {
        ResultKind::Passed | ResultKind::Unknown if failed => ResultKind::Failed,
        kind => kind,
    };
    Reading { kind, line, is_masked }
}

/// Returns the exit code that the command line itself prints at its end: `; echo "exit: $?"`. The
/// code of a pipeline is that of its last stage, and tells nothing.
fn printed_code(script: &Script, text: [&str; 2]) -> Option<i64> {
    let [.., before, last] = &script.items[..] else { return None };
    let [Node::Simple(echo)] = &last.pipeline.stages[..] else { return None };
    let is_code = |part: &Part| matches!(part, Part::Parameter { name, .. } if name == "?");
    let prints = matches!(echo.words.first()?.fixed()?.as_ref(), "echo" | "printf")
        && echo.words.iter().any(|word| word.parts.iter().any(is_code));
    if !prints || before.pipeline.stages.len() > 1 {
        return None;
    }
    let [start, end] = text;
    let line = if end.is_empty() { start } else { end }.trim_end().lines().last()?;
    let digits = line.rsplit(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok().filter(|code| (0..256).contains(code))
}

/// Returns the most important message of the programs.
fn said<'t>(sources: &[Source<'_>], text: [&'t str; 2]) -> Option<(ResultKind, &'t str)> {
    let literals = FoundLiterals::new(text);
    let of_shell = literals.of(ProgramId::SHELL);
    let mut heard: Vec<_> = sources
        .iter()
        .filter(|source| source.is_heard)
        .filter_map(|source| Some((source, literals.of(source.program?))))
        .filter(|(_, candidates)| !candidates.is_empty())
        .collect();
    heard.dedup_by(|a, b| a.0.program == b.0.program && a.0.name == b.0.name);
    if heard.is_empty() && of_shell.is_empty() {
        return None;
    }
    let works = sources.iter().any(|source| {
        matches!(source.work(), Work::Tests | Work::Builds | Work::Carries | Work::Acts)
    });
    let mut found: Option<(ResultKind, &str)> = None;
    let mut has_tested = None;
    for line in text.iter().flat_map(|part| part.lines()) {
        let plain = line::plain(line);
        let mut note = |kind: ResultKind| {
            if found.is_none_or(|(before, _)| kind < before) {
                found = Some((kind, line.trim()));
            }
        };
        if let Some(kind) = of_shell.kind_of("", &plain) {
            note(kind);
        }
        for (source, candidates) in &heard {
            // A look around before the work may miss.
            let is_look = matches!(source.work(), Work::Shows | Work::Searches) && !source.decides;
            match candidates.kind_of(source.name, &plain) {
                Some(ResultKind::NotFound) if works && is_look => {}
                Some(ResultKind::NothingMatched) if source.work() == Work::Shows => {}
                Some(_) if source.asks_help => {}
                Some(ResultKind::Passed) if source.work() == Work::Tests => {
                    has_tested = has_tested.or(Some(line.trim()));
                    note(ResultKind::Passed);
                }
                Some(kind) => note(kind),
                None => {}
            }
        }
    }
    // One of several packages may have no tests.
    match (found, has_tested) {
        (Some((ResultKind::NothingTested, _)), Some(line)) => Some((ResultKind::Passed, line)),
        (found, _) => found,
    }
}

/// Returns the meaning of a result that has no known message.
fn unsaid(
    sources: &[Source<'_>],
    ending: Ending,
    is_masked: bool,
    [text, _]: [&str; 2],
) -> ResultKind {
    let is_empty = text.trim().is_empty();
    let last =
        sources.iter().rev().find(|source| source.work() != Work::Nothing && !source.is_filter);
    let searches = last.is_some_and(|source| source.work() == Work::Searches);
    let shows =
        |source: &Source<'_>| matches!(source.work(), Work::Shows | Work::Searches | Work::Nothing);
    let only_shows = sources.iter().all(shows);
    match ending {
        Ending::Failed(code) if !is_masked => match code {
            Some(127) => ResultKind::MissingProgram,
            Some(126) => ResultKind::Refused,
            Some(124) => ResultKind::CutOff,
            Some(1) | None if searches && has_no_result(text) => ResultKind::NothingMatched,
            _ => ResultKind::Failed,
        },
        _ if is_empty
            && sources.iter().any(|source| source.work() == Work::Searches)
            && only_shows =>
        {
            ResultKind::NothingMatched
        }
        Ending::Succeeded if !is_masked => ResultKind::Passed,
        _ if !is_empty && only_shows => ResultKind::Passed,
        _ => ResultKind::Unknown,
    }
}

/// Whether a failed search printed nothing but the note of its host.
fn has_no_result(text: &str) -> bool {
    let text = text.trim();
    let rest = text.strip_prefix("Exit code 1").unwrap_or(text);
    rest.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::{Ending, ResultKind, packs, read, table};
    use crate::parse;

    /// The examples in the packs: the command after `$ `, its exit code after ` !`.
    #[test]
    fn the_examples_of_the_packs() {
        let mut count = 0;
        for (pack, source) in packs::SOURCES {
            let page: String = source
                .lines()
                .map_while(|line| line.strip_prefix("//!"))
                .map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line)))
                .collect();
            for block in page.split("```result ").skip(1) {
                let (kind, rest) = block.split_once('\n').unwrap();
                let (body, _) = rest.split_once("```").unwrap();
                let (command, output) = body.strip_prefix("$ ").unwrap().split_once('\n').unwrap();
                let (command, ending) = match command.rsplit_once(" !") {
                    Some((command, code)) => (command, Ending::Failed(code.parse().ok())),
                    None => (command, Ending::Succeeded),
                };
                let found = read(&parse(command), ending, [output, ""]);
                assert_eq!(found.kind.word(), kind, "{pack}: {command}\n{output}{found:?}");
                count += 1;
            }
        }
        assert!(count > 40, "{count} examples");
        assert!(table::names() > 250, "{} programs", table::names());
    }

    #[test]
    fn what_a_result_means() {
        let ok = Ending::Succeeded;
        for (command, ending, text, want) in [
            ("mkdir -p a/b", ok, "", ResultKind::Passed),
            ("cargo build", Ending::Failed(Some(101)), "strange", ResultKind::Failed),
            ("./x.sh", Ending::Failed(Some(127)), "", ResultKind::MissingProgram),
            ("grep x a.rs", Ending::Failed(Some(1)), "", ResultKind::NothingMatched),
            ("grep x a.rs", Ending::Failed(None), "Exit code 1", ResultKind::NothingMatched),
            ("cd a && rg x | head", ok, "", ResultKind::NothingMatched),
            ("./x.sh | tail -3", ok, "text", ResultKind::Unknown),
            ("cargo test || true", ok, "", ResultKind::Unknown),
            ("ls a b 2>/dev/null || true", ok, "a", ResultKind::Passed),
            // Content is no message.
            ("cat build.log", ok, "error: could not compile `x`", ResultKind::Passed),
            ("git log | head", ok, "fix: error TS2322", ResultKind::Passed),
            (
                "gh run view 7 --log-failed | tail -5",
                ok,
                "test\tnpm ERR! Test failed",
                ResultKind::Passed,
            ),
            // The output of the program is not shown.
            ("cargo test > log 2>&1; tail -3 log", ok, "test result: FAILED.", ResultKind::Passed),
            (
                "cargo test 2>&1 | tee log | tail -3",
                ok,
                "test result: FAILED. 1 passed; 1 failed",
                ResultKind::Failed,
            ),
            // A look around before the work.
            (
                "ls a; cargo test | tail -2",
                ok,
                "ls: a: No such file or directory\ntest result: ok. 3 passed; 0 failed",
                ResultKind::Passed,
            ),
            // Help was asked for.
            ("gh pr create --help | head -3", ok, "usage: gh pr create", ResultKind::Passed),
            // The line prints its exit code.
            ("./x; echo \"exit: $?\"", ok, "text\nexit: 2", ResultKind::Failed),
            ("./x; echo \"exit: $?\"", ok, "text\nexit: 0", ResultKind::Passed),
            ("./x | tail; echo $?", ok, "text\n0", ResultKind::Unknown),
            (
                "go test ./...",
                ok,
                "ok  \ta\t0.1s\nok  \tb\t0.1s [no tests to run]",
                ResultKind::Passed,
            ),
            // Programs behind others.
            (
                "timeout 60 npx vitest run | tail",
                ok,
                "Tests  1 failed | 3 passed (4)",
                ResultKind::Failed,
            ),
            (
                "cd a && env A=1 uv run pytest | tail",
                ok,
                "=== 2 failed, 3 passed in 0.2s ===",
                ResultKind::Failed,
            ),
            ("python -m pytest -q | tail", ok, "2 failed, 3 passed in 0.20s", ResultKind::Failed),
            ("npm test 2>&1 | tail -5", ok, "# tests 3\n# fail 1", ResultKind::Failed),
            ("make check; echo done", ok, "a.c:1:2: error: x\ndone", ResultKind::Failed),
        ] {
            let found = read(&parse(command), ending, [text, ""]);
            assert_eq!(found.kind, want, "{command} {text:?} {found:?}");
        }
    }
}
