//! The programs of a command line whose messages its output can have.

use super::program::Work;
use super::table::{ProgramId, by_name};
use crate::ir::{RedirectionKind, Script, Simple, Word};
use crate::walk::{Visit, commands};
use std::borrow::Cow;

/// A program that a command line runs.
#[derive(Debug)]
pub(super) struct Source<'s> {
    /// Name as the program writes it before its messages.
    pub(super) name: &'s str,
    /// Entry in the table, if the program is known.
    pub(super) program: Option<ProgramId>,
    /// Whether its messages reach the output.
    pub(super) is_heard: bool,
    /// Whether it only filters the output of another program.
    pub(super) is_filter: bool,
    /// Whether the rest of the line depends on its success.
    pub(super) decides: bool,
    /// Whether it was asked for its help.
    pub(super) asks_help: bool,
}

impl Source<'_> {
    /// Purpose of the program.
    pub(super) fn work(&self) -> Work {
        match self.asks_help {
            true => Work::Shows,
            false => self.program.map_or(Work::Acts, ProgramId::work),
        }
    }
}

/// Returns the programs of a script, in order.
pub(super) fn sources(script: &Script) -> Vec<Source<'_>> {
    let visits = commands(script);
    let all = visits.iter().enumerate();
    all.flat_map(|(at, visit)| of_command(visit, later_stages(&visits, at))).flatten().collect()
}

/// Returns the stages after a command in its pipeline.
fn later_stages<'v, 's>(visits: &'v [Visit<'s>], at: usize) -> &'v [Visit<'s>] {
    let rest = visits.get(at + 1..).unwrap_or_default();
    let stage = visits.get(at).map_or(0, |visit| visit.position.stage);
    let is_later = |next: &&Visit<'_>| next.position.stage > stage && !next.position.nested;
    rest.get(..rest.iter().take_while(is_later).count()).unwrap_or_default()
}

/// Returns the program of a command, and the one that only runs it if that has messages too.
fn of_command<'s>(visit: &Visit<'s>, later: &[Visit<'s>]) -> [Option<Source<'s>>; 2] {
    let words: Vec<&'s str> = visit.command.words.iter().map_while(borrowed).take(12).collect();
    let inner = innermost(&words);
    let outer = (inner.len() < words.len()).then(|| source(&words, visit, later)).flatten();
    [outer.filter(|outer| outer.program.is_some()), source(inner, visit, later)]
}

fn source<'s>(words: &[&'s str], visit: &Visit<'s>, later: &[Visit<'s>]) -> Option<Source<'s>> {
    let (first, rest) = words.split_first()?;
    let name = program_name(first);
    let operand = rest.iter().find(|word| !word.starts_with('-'));
    let both = operand.and_then(|operand| by_name(&format!("{name} {operand}")));
    // Commands of PowerShell begin with their verb.
    let verb = || name.starts_with("Get-").then(|| by_name("Get-Content")).flatten();
    Some(Source {
        name,
        program: both.or_else(|| by_name(name)).or_else(verb),
        is_heard: is_heard(visit.command, later),
        is_filter: visit.position.stage > 0 && passes_lines(visit),
        decides: visit.position.after == crate::ir::Operator::And,
        asks_help: rest.iter().any(|word| matches!(*word, "--help" | "-h" | "-?" | "help")),
    })
}

fn borrowed(word: &Word) -> Option<&str> {
    match word.fixed() {
        Some(Cow::Borrowed(text)) => Some(text),
        // The rest of the word does not matter here.
        _ => Some(""),
    }
}

/// Returns a program's name without its directory and its extension.
fn program_name(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    [".exe", ".cmd", ".bat", ".ps1"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
}

/// Programs that only run another program.
const WRAPPERS: &[&str] = &[
    "npx",
    "bunx",
    "uvx",
    "time",
    "nice",
    "env",
    "sudo",
    "exec",
    "timeout",
    "gtimeout",
    "xvfb-run",
    "stdbuf",
    "rtk",
    "nohup",
    "command",
    "builtin",
    "caffeinate",
    "dotenv",
    "pnpx",
    "doas",
    "unbuffer",
    "setsid",
    "ionice",
    "chronic",
    "xargs",
];

/// Programs with a subcommand that runs another program.
const RUNNERS: &[(&str, &[&str])] = &[
    ("poetry", &["run"]),
    ("uv", &["run"]),
    ("pipenv", &["run"]),
    ("hatch", &["run"]),
    ("rye", &["run"]),
    ("pdm", &["run"]),
    ("conda", &["run"]),
    ("bundle", &["exec"]),
    ("pnpm", &["exec", "dlx"]),
    ("npm", &["exec"]),
    ("yarn", &["exec", "dlx"]),
    ("bun", &["x"]),
    ("mise", &["exec", "x"]),
    ("fvm", &["exec"]),
    ("xcrun", &[]),
];

/// Options of interpreters before the name of a module that is run.
const MODULES: &[(&str, &str)] = &[("python", "-m"), ("python3", "-m"), ("py", "-m")];

/// Returns the words of the program that wrappers run.
fn innermost<'w, 't>(words: &'w [&'t str]) -> &'w [&'t str] {
    let mut words = words;
    while let [first, rest @ ..] = words {
        let name = program_name(first);
        let is_option = |word: &&&str| {
            word.starts_with('-')
                || word.contains('=')
                || word.starts_with(|c: char| c.is_ascii_digit())
        };
        let runs = RUNNERS.iter().find(|(runner, _)| *runner == name);
        let inner = if WRAPPERS.contains(&name) {
            Some(rest)
        } else if let (Some((_, verbs)), Some(verb)) = (runs, rest.first())
            && verbs.contains(verb)
        {
            rest.get(1..)
        } else if MODULES.iter().any(|(program, _)| *program == name) {
            rest.iter().position(|word| *word == "-m").and_then(|at| rest.get(at + 1..))
        } else {
            None
        };
        let Some(inner) = inner else { break };
        let skipped = inner.iter().take_while(is_option).count();
        match inner.get(skipped..) {
            Some(inner) if !inner.is_empty() => words = inner,
            _ => break,
        }
    }
    words
}

/// Whether the messages of a command reach the output: nothing hides its errors, or the later
/// stages of its pipeline pass its lines.
fn is_heard(command: &Simple, later: &[Visit<'_>]) -> bool {
    let writes = |r: &crate::ir::Redirection| {
        matches!(r.kind, RedirectionKind::Write | RedirectionKind::Append)
    };
    let hides = |descriptor: u32| {
        command.redirections.iter().any(|r| writes(r) && r.descriptor.unwrap_or(1) == descriptor)
    };
    let joins = command
        .redirections
        .iter()
        .any(|r| r.kind == RedirectionKind::Duplicate && r.descriptor == Some(2));
    let is_out = !hides(1) && later.iter().all(passes_lines);
    let is_err = !hides(2) && !joins;
    is_out || is_err
}

/// Whether a stage prints lines of its input as they are.
fn passes_lines(visit: &Visit<'_>) -> bool {
    let words: Vec<&str> = visit.command.words.iter().filter_map(borrowed).collect();
    let Some((first, rest)) = words.split_first() else { return false };
    let has = |letters: &[char]| {
        rest.iter().any(|word| {
            word.strip_prefix('-').is_some_and(|o| !o.starts_with('-') && o.contains(letters))
        })
    };
    match program_name(first) {
        "head" | "tail" | "cat" | "tee" | "less" | "more" | "sort" | "uniq" | "nl" | "ts"
        | "sed" | "Select-Object" | "Sort-Object" | "Format-Table" | "Out-String"
        | "Select-String" | "Where-Object" => true,
        "grep" | "egrep" | "rg" => !has(&['c', 'q', 'l', 'L', 'o']),
        _ => false,
    }
}
