//! The meaning of the output of a command line, whatever its exit code: which of its programs passed,
//! failed, found nothing, rejected its arguments, or never ran.
//!
//! The facts about programs are data, in `packs`. A line is only compared with the patterns of
//! programs that the command line runs and whose output it does not hide, so the content of a file
//! that is printed is not a message.

mod echo;
mod exit;
mod line;
mod message;
mod packs;
mod program;
mod source;
mod table;

pub use message::{kind_of_message, kind_of_object};

use crate::ir::{IrNode, Operator, Script, Simple};
use crate::walk::{commands, masks_failure};
use program::ProgramPurpose;
use source::{CommandProgram, Later, sources};
use table::{FoundLiterals, Match, ProgramId};

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultReading<'t> {
    /// Meaning of the result.
    pub kind: ResultKind,
    /// The line that shows it, if one does.
    pub line: Option<&'t str>,
    /// Name of the program that it is about, if it is not about the line as a whole.
    pub program: Option<String>,
    /// Whether the exit code does not tell it.
    pub is_masked: bool,
}

/// The meaning of a line of output, and the program that has written it.
#[derive(Debug, Clone, Copy)]
struct Statement<'s, 't> {
    kind: ResultKind,
    line: &'t str,
    program: Option<&'s str>,
}

/// Trust in the end that the host reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// The line succeeded.
    Succeeded,
    /// The line failed, with this exit code if it is known.
    Failed(Option<i64>),
    /// The end does not tell.
    Hidden,
}

/// Reads the result of a command line; of a long text, its start and its end.
#[must_use]
pub fn read<'t>(script: &Script, ending: Ending, text: [&'t str; 2]) -> ResultReading<'t> {
    let inner = inner_scripts(script);
    let scripts = || std::iter::once(script).chain(&inner);
    let sources: Vec<_> = scripts().flat_map(sources).collect();
    let code = scripts().find_map(|script| exit::printed_code(script, text));
    let is_masked = code.is_none() && scripts().any(masks_failure);
    let trust = match (code, ending) {
        (Some(0), _) => Trust::Succeeded,
        (Some(code), _) => Trust::Failed(Some(code)),
        (None, Ending::Failed(code)) => Trust::Failed(code),
        (None, Ending::Succeeded) if !is_masked => Trust::Succeeded,
        _ => Trust::Hidden,
    };
    let said = said(&sources, trust, text)
        .or_else(|| answered(&sources, text))
        .or_else(|| fell_back(script, &sources, text));
    let kind = match said {
        Some(said) => said.kind,
        None => unsaid(&sources, trust, &rest_of(script, text)),
    };
    // A status that nothing hides weighs more than a line that looks like success.
    let is_green = matches!(kind, ResultKind::Passed | ResultKind::Unknown);
    let (kind, said) = match trust {
        Trust::Failed(_) if is_green && said.is_some() => (ResultKind::Failed, None),
        _ => (kind, said),
    };
    let program = match said {
        Some(said) => said.program,
        None => last_work(&sources).map(|source| source.name),
    };
    let program = program.filter(|name| !name.is_empty()).map(str::to_owned);
    ResultReading { kind, line: said.map(|said| said.line), program, is_masked }
}

/// Returns the last program that does more than to filter or to print a text, rather not one whose
/// output is a part of another command.
fn last_work<'a, 's>(sources: &'a [CommandProgram<'s>]) -> Option<&'a CommandProgram<'s>> {
    let works = |source: &&CommandProgram<'_>| {
        source.work() != ProgramPurpose::Nothing && !source.is_filter
    };
    let mut all = sources.iter().rev().filter(works);
    all.clone().find(|source| !source.is_nested).or_else(|| all.next())
}

/// Returns the command lines that other programs run: `bash -c '…'`, `ssh host '…'`.
fn inner_scripts(script: &Script) -> Vec<Script> {
    const SHELLS: &[&str] = &["bash", "sh", "zsh", "dash", "pwsh", "powershell", "su", "fish"];
    let of_command = |simple: &Simple| {
        let words: Vec<_> = simple.words.iter().filter_map(crate::ir::Word::fixed).collect();
        let at = words.iter().position(|word| {
            let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
            SHELLS.contains(&name.strip_suffix(".exe").unwrap_or(name))
        });
        let is_command = |word: &str| {
            matches!(word, "-c" | "-lc" | "-ic" | "-ec" | "-lec" | "-xc" | "-Command" | "-command")
        };
        let of_shell = at.and_then(|at| {
            let rest = words.get(at + 1..)?;
            rest.get(rest.iter().position(|word| is_command(word))? + 1)
        });
        let is_remote = matches!(words.first().map(AsRef::as_ref), Some("ssh"));
        let remote = || words.last().filter(|word| is_remote && word.contains(' '));
        Some(crate::parse(of_shell.or_else(remote)?))
    };
    commands(script).into_iter().filter_map(|visit| of_command(visit.command)).collect()
}

/// Returns the most important message of the programs.
fn said<'s, 't>(
    sources: &[CommandProgram<'s>],
    trust: Trust,
    text: [&'t str; 2],
) -> Option<Statement<'s, 't>> {
    let literals = FoundLiterals::new(text);
    let of_shell = literals.of(ProgramId::SHELL, None);
    let mut heard: Vec<_> = sources
        .iter()
        .filter(|source| source.is_heard)
        .map(|source| (source, literals.of(source.program, source.parent)))
        .filter(|(_, candidates)| !candidates.is_empty())
        .collect();
    let key = |source: &CommandProgram<'_>| (source.program, source.is_covered, source.decides);
    heard.dedup_by(|a, b| key(a.0) == key(b.0) && a.0.name == b.0.name);
    if heard.is_empty() && of_shell.is_empty() {
        return None;
    }
    let facts = LineFacts::new(sources, trust);
    let (mut found, mut tested): (Option<Statement<'_, '_>>, Option<Statement<'_, '_>>) =
        (None, None);
    let mut has_content = false;
    for line in text.iter().flat_map(|part| part.lines()) {
        let plain = line::plain(line);
        let line = line.trim();
        let shell = of_shell.find("", &plain).map(|found| facts.of_shell(found.kind));
        let shell = shell.filter(|kind| facts.may_be_of_shell(*kind));
        let shell = shell.map(|kind| Statement { kind, line, program: None });
        let programs = heard.iter().filter_map(|(source, candidates)| {
            let found = candidates.find(source.name, &plain)?;
            let said = Statement { kind: found.kind, line, program: Some(source.name) };
            if found.kind == ResultKind::Passed && source.work() == ProgramPurpose::Tests {
                tested = tested.or(Some(said));
            }
            facts.counts(source, found).then_some(said)
        });
        match programs.chain(shell).min_by_key(|said| said.kind) {
            Some(said) if found.is_none_or(|before| said.kind < before.kind) => found = Some(said),
            None => has_content |= !plain.is_empty(),
            Some(_) => {}
        }
    }
    match found?.kind {
        // One of several packages may have no tests.
        ResultKind::NothingTested if tested.is_some() => tested,
        // One of several looks found something.
        ResultKind::NotFound | ResultKind::NothingMatched
            if has_content && facts.may_miss() && trust == Trust::Hidden =>
        {
            None
        }
        _ => found,
    }
}

/// Facts about a line that decide which messages count.
struct LineFacts {
    trust: Trust,
    /// Whether it has a command that does more than look.
    works: bool,
    /// Number of commands that look.
    looks: usize,
    /// Whether the success of the line is that of all its commands.
    is_covered: bool,
    /// Whether one of its commands is about files.
    is_about_files: bool,
}

impl LineFacts {
    fn new(sources: &[CommandProgram<'_>], trust: Trust) -> Self {
        let works = |source: &&CommandProgram<'_>| {
            !source.is_look() && source.work() != ProgramPurpose::Nothing
        };
        Self {
            trust,
            works: sources.iter().any(|source| works(&source)),
            looks: sources.iter().filter(|source| source.is_look() && source.is_first).count(),
            is_about_files: sources.iter().any(|source| source.program.is_about_files()),
            is_covered: sources
                .iter()
                .all(|source| source.is_covered || source.work() == ProgramPurpose::Nothing),
        }
    }

    /// Whether the line only looks, at several things.
    fn may_miss(&self) -> bool {
        self.looks > 1 && !self.works
    }

    /// Returns the meaning of a message of a shell: a pattern without matches keeps the shell from
    /// running the command, which is an answer only if the command looks for files.
    fn of_shell(&self, kind: ResultKind) -> ResultKind {
        match kind {
            ResultKind::NothingMatched if !self.is_about_files => ResultKind::UsageError,
            kind => kind,
        }
    }

    /// Whether a message of a shell counts: not one about something else than the commands of a line
    /// that succeeded.
    fn may_be_of_shell(&self, kind: ResultKind) -> bool {
        !(kind.is_failure() && self.trust == Trust::Succeeded && self.is_covered)
    }

    /// Whether a message of a program counts.
    fn counts(&self, source: &CommandProgram<'_>, Match { kind, is_count }: Match) -> bool {
        // A look around before the work may miss.
        let is_look = matches!(source.work(), ProgramPurpose::Shows | ProgramPurpose::Searches)
            && !source.decides;
        // A wrapper may lose the code of a test or a build, and a service answers with words.
        let may_lose = match source.work() {
            ProgramPurpose::Tests | ProgramPurpose::Builds | ProgramPurpose::Carries => is_count,
            work => work == ProgramPurpose::Fetches,
        };
        match kind {
            _ if source.asks_help => false,
            ResultKind::NotFound if self.works && is_look => false,
            ResultKind::NothingMatched => {
                // Programs that had nothing to do fail.
                let did = self.trust == Trust::Succeeded && source.is_covered;
                !(did && source.work() == ProgramPurpose::Acts)
            }
            _ if kind.is_failure() => {
                self.trust != Trust::Succeeded || !source.is_covered || may_lose
            }
            ResultKind::Passed | ResultKind::StillRunning => {
                !matches!(self.trust, Trust::Failed(_))
            }
            _ => true,
        }
    }
}

/// Returns the meaning of the answer of a service: an object that reports an error.
fn answered<'s, 't>(
    sources: &[CommandProgram<'s>],
    text: [&'t str; 2],
) -> Option<Statement<'s, 't>> {
    let fetches =
        |source: &&CommandProgram<'_>| source.work() == ProgramPurpose::Fetches && source.is_heard;
    let source = sources.iter().find(fetches)?;
    let [start, end] = text;
    let start = start.trim();
    // Headers and progress stand before the body.
    let last = if end.is_empty() { start } else { end }.trim_end().lines().last()?;
    let body = [start, last.trim()].into_iter().find(|body| body.starts_with('{'))?;
    let (kind, line) = (kind_of_object(body)?, body.lines().next()?);
    Some(Statement { kind, line, program: Some(source.name) })
}

/// Returns the kind of a line whose fallback was printed: `… || echo "none"`.
fn fell_back<'s, 't>(
    script: &Script,
    sources: &[CommandProgram<'s>],
    text: [&'t str; 2],
) -> Option<Statement<'s, 't>> {
    let [.., before, last] = &script.items[..] else { return None };
    let [IrNode::Simple(echo)] = &last.pipeline.stages[..] else { return None };
    if before.after != Operator::Or || !echo::is_echo(echo) {
        return None;
    }
    // `test && echo yes || echo no` is a question.
    let is_question =
        matches!(&before.pipeline.stages[..], [IrNode::Simple(echo)] if echo::is_echo(echo));
    if is_question {
        // Both answers are answers, unless a program is asked for.
        let only_looks = sources.iter().all(|s| s.is_look() || s.work() == ProgramPurpose::Nothing);
        let line = text[0].lines().next()?;
        return only_looks.then_some(Statement { kind: ResultKind::Passed, line, program: None });
    }
    let said = echo::text(echo)?;
    let line = text.iter().flat_map(|part| part.lines()).find(|line| line.trim() == said.trim())?;
    let works = sources
        .iter()
        .filter(|source| source.work() != ProgramPurpose::Nothing && !source.is_filter);
    let mut works = works.rev();
    let (failed, other) = (works.next()?, works.next());
    if other.is_some_and(|other| !other.is_look()) {
        return None;
    }
    let is_missing = is_locator(failed.name);
    let kind = match failed.work() {
        _ if is_missing => ResultKind::MissingProgram,
        _ if failed.later == Later::Selects => ResultKind::NothingMatched,
        ProgramPurpose::Searches => ResultKind::NothingMatched,
        ProgramPurpose::Shows => ResultKind::NotFound,
        ProgramPurpose::Tests
        | ProgramPurpose::Builds
        | ProgramPurpose::Acts
        | ProgramPurpose::Carries => ResultKind::Failed,
        ProgramPurpose::Fetches | ProgramPurpose::Nothing => return None,
    };
    Some(Statement { kind, line, program: Some(failed.name) })
}

/// Returns the output without the lines that the command line prints by itself.
fn rest_of<'t>(script: &Script, [text, _]: [&'t str; 2]) -> Vec<&'t str> {
    let echoed: Vec<String> = commands(script)
        .iter()
        .filter(|visit| echo::is_echo(visit.command) && visit.position.stages == 1)
        .filter_map(|visit| echo::text(visit.command))
        .collect();
    let is_own = |line: &str| echoed.iter().any(|own| own.lines().any(|own| own.trim() == line));
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !is_own(line)).collect()
}

/// Returns the meaning of a result that has no known message, from the lines that the command line
/// does not print by itself.
fn unsaid(sources: &[CommandProgram<'_>], trust: Trust, lines: &[&str]) -> ResultKind {
    let is_empty = lines.is_empty();
    let mut works = sources.iter().filter(|source| source.work() != ProgramPurpose::Nothing);
    let last = last_work(sources);
    let selects = |source: &CommandProgram<'_>| {
        source.later == Later::Selects || source.work() == ProgramPurpose::Searches
    };
    let only_looks = works.clone().all(|source| source.is_look() || source.is_filter);
    let locates = is_empty && last.is_some_and(|source| is_locator(source.name));
    match trust {
        Trust::Failed(_) | Trust::Hidden if locates => ResultKind::MissingProgram,
        Trust::Failed(code) => match code {
            Some(127) => ResultKind::MissingProgram,
            Some(126) => ResultKind::Refused,
            Some(124) => ResultKind::CutOff,
            // The answer of a comparison.
            Some(1) if last.is_some_and(|source| matches!(source.name, "diff" | "cmp")) => {
                ResultKind::Passed
            }
            code => {
                let only_acts = works.all(|source| {
                    source.is_look() || source.is_filter || source.work() == ProgramPurpose::Acts
                });
                match complaint(lines).filter(|_| only_acts) {
                    Some(kind) => kind,
                    None if matches!(code, Some(1) | None) && last.is_some_and(selects) => {
                        ResultKind::NothingMatched
                    }
                    // The reason is thrown away, and these programs have only one.
                    None if matches!(code, Some(1 | 2) | None)
                        && last.is_some_and(|s| s.hides_errors && s.program.is_about_files()) =>
                    {
                        ResultKind::NotFound
                    }
                    None if is_empty && code == Some(1) && last.is_some_and(asks_value) => {
                        ResultKind::NothingMatched
                    }
                    None => ResultKind::Failed,
                }
            }
        },
        _ if is_empty && only_looks && works.clone().any(selects) => ResultKind::NothingMatched,
        Trust::Succeeded => ResultKind::Passed,
        Trust::Hidden if is_empty => match last {
            Some(last) if last.later == Later::Selects => ResultKind::NothingMatched,
            Some(last) if only_looks && (last.hides_errors || last.is_piped) => {
                ResultKind::NothingMatched
            }
            // Silence is the answer of a program that would have complained.
            Some(last)
                if matches!(last.work(), ProgramPurpose::Builds | ProgramPurpose::Acts)
                    && last.program != ProgramId::OTHER
                    && last.is_heard
                    && !last.hides_errors =>
            {
                ResultKind::Passed
            }
            _ => ResultKind::Unknown,
        },
        Trust::Hidden if only_looks => ResultKind::Passed,
        Trust::Hidden if works.all(|source| source.is_look() || would_say(source, lines)) => {
            ResultKind::Passed
        }
        Trust::Hidden => ResultKind::Unknown,
    }
}

/// Whether a program tells where a program is.
fn is_locator(name: &str) -> bool {
    matches!(name, "which" | "command" | "type" | "where" | "whereis")
}

/// Whether a program is asked for one value.
fn asks_value(source: &CommandProgram<'_>) -> bool {
    source.work() == ProgramPurpose::Shows && source.name == "git" && !source.hides_errors
}

/// Returns the kind of a short message of a failed line.
fn complaint(lines: &[&str]) -> Option<ResultKind> {
    /// Maximum number of lines of a message.
    const MAX_LINES: usize = 6;
    let ends = [lines.last(), lines.first()].into_iter().flatten();
    ends.filter(|_| lines.len() <= MAX_LINES).find_map(|line| kind_of_message(line))
}

/// Whether a program would have said at its end that it failed, and that end is shown.
fn would_say(source: &CommandProgram<'_>, lines: &[&str]) -> bool {
    /// Number of lines from which `head` may have cut off the end.
    const FEW: usize = 5;
    let is_shown = match source.later {
        Later::ShowsEnd => true,
        Later::ShowsStart => lines.len() < FEW,
        Later::Selects | Later::Changes => false,
    };
    let reports = matches!(
        source.work(),
        ProgramPurpose::Builds | ProgramPurpose::Acts | ProgramPurpose::Carries
    );
    let is_known = source.program != ProgramId::OTHER;
    (source.is_filter || reports && is_known && is_shown) && source.is_heard && !source.hides_errors
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
            // Content is not a message.
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
