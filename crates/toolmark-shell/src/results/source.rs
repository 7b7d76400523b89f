//! The programs of a command line whose messages its output can have.

use super::program::ProgramPurpose;
use super::table::{ProgramId, by_name};
use crate::ir::{Operator, RedirectionKind, Script, Simple, Word, WordPart};
use crate::walk::{Visit, commands};
use std::borrow::Cow;

/// A program that a command line runs.
#[derive(Debug)]
pub(super) struct CommandProgram<'s> {
    /// Name as the program writes it before its messages.
    pub(super) name: &'s str,
    /// Entry in the table.
    pub(super) program: ProgramId,
    /// Entry of the program itself, if the other one is that of its subcommand.
    pub(super) parent: Option<ProgramId>,
    /// Whether its messages reach the output.
    pub(super) is_heard: bool,
    /// Whether its errors are thrown away.
    pub(super) hides_errors: bool,
    /// Use of the output by the later stages of the pipeline.
    pub(super) later: Later,
    /// Whether it is the first stage of a pipeline, or alone.
    pub(super) is_first: bool,
    /// Whether it is inside a substitution, a loop or a branch.
    pub(super) is_nested: bool,
    /// Whether it is a stage of a pipeline.
    pub(super) is_piped: bool,
    /// Whether it only filters the output of another program.
    pub(super) is_filter: bool,
    /// Whether the rest of the line depends on its success.
    pub(super) decides: bool,
    /// Whether the success of the line is also its success.
    pub(super) is_covered: bool,
    /// Whether it was asked for its help or version.
    pub(super) asks_help: bool,
    work: ProgramPurpose,
}

/// Use of the output of a command by the later stages of its pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Later {
    /// All of it, or its end, is shown.
    ShowsEnd,
    /// Its start is shown.
    ShowsStart,
    /// Some of its lines are shown.
    Selects,
    /// It is counted or changed.
    Changes,
}

impl CommandProgram<'_> {
    /// Purpose of the program.
    pub(super) fn work(&self) -> ProgramPurpose {
        self.work
    }

    /// Whether it only looks at what there is.
    pub(super) fn is_look(&self) -> bool {
        matches!(
            self.work,
            ProgramPurpose::Shows | ProgramPurpose::Searches | ProgramPurpose::Fetches
        )
    }
}

/// Returns the programs of a script, in order.
pub(super) fn sources(script: &Script) -> Vec<CommandProgram<'_>> {
    let visits = commands(script);
    let covered = covered(&visits);
    let all = visits.iter().zip(covered).enumerate();
    all.flat_map(|(at, (visit, is_covered))| {
        of_command(visit, later_stages(&visits, at), is_covered)
    })
    .flatten()
    .collect()
}

/// Returns for every command whether the success of the line is also its success: the last stages of
/// the last pipelines that are joined by `&&`.
fn covered(visits: &[Visit<'_>]) -> Vec<bool> {
    let mut covered = vec![false; visits.len()];
    let mut is_last = true;
    for (at, visit) in visits.iter().enumerate().rev() {
        let position = visit.position;
        if position.nested {
            continue;
        }
        let ends_pipeline = position.stage + 1 == position.stages;
        if ends_pipeline && !is_last && position.after != Operator::And {
            break;
        }
        is_last = false;
        if let Some(covered) = covered.get_mut(at) {
            *covered = ends_pipeline;
        }
    }
    covered
}

/// Returns the stages after a command in its pipeline.
fn later_stages<'v, 's>(visits: &'v [Visit<'s>], at: usize) -> &'v [Visit<'s>] {
    let rest = visits.get(at + 1..).unwrap_or_default();
    let stage = visits.get(at).map_or(0, |visit| visit.position.stage);
    let is_later = |next: &&Visit<'_>| next.position.stage > stage && !next.position.nested;
    rest.get(..rest.iter().take_while(is_later).count()).unwrap_or_default()
}

/// Returns the program of a command, and the one that only runs it if that has messages too.
fn of_command<'s>(
    visit: &Visit<'s>,
    later: &[Visit<'s>],
    is_covered: bool,
) -> [Option<CommandProgram<'s>>; 2] {
    let words: Vec<&'s str> = visit.command.words.iter().map(borrowed).take(12).collect();
    let words = assigned(visit.command, &words);
    let inner = innermost(words);
    let source = |words| source(words, visit, later, is_covered);
    let outer = (inner.len() < words.len()).then(|| source(words)).flatten();
    [outer.filter(|outer| outer.program != ProgramId::OTHER), source(inner)]
}

/// Returns the words of a command behind an assignment of PowerShell: `$lines = Get-Content a`.
fn assigned<'w, 's>(command: &Simple, words: &'w [&'s str]) -> &'w [&'s str] {
    let is_variable = |word: &Word| matches!(word.parts.first(), Some(WordPart::Parameter { .. }));
    match words {
        [_, "=" | "+=", rest @ ..] if command.words.first().is_some_and(is_variable) => rest,
        words => words,
    }
}

fn source<'s>(
    words: &[&'s str],
    visit: &Visit<'s>,
    later: &[Visit<'s>],
    is_covered: bool,
) -> Option<CommandProgram<'s>> {
    let (first, rest) = words.split_first()?;
    let name = program_name(first);
    let operand = rest.iter().find(|word| !word.starts_with('-'));
    let both = operand.and_then(|operand| by_name(&format!("{name} {operand}")));
    let program = both.or_else(|| by_name(name));
    let asks_help = asks_help(rest);
    let shows = || rest.iter().take(4).any(|word| SHOWING.contains(word));
    let work = match program {
        _ if asks_help => ProgramPurpose::Shows,
        Some(_) if name == "sed" && rest.iter().any(|word| word.starts_with("-i")) => {
            ProgramPurpose::Acts
        }
        Some(program) if both.is_none() && may_show(name, program.work()) && shows() => {
            ProgramPurpose::Shows
        }
        Some(program) => program.work(),
        None if name.is_empty() => ProgramPurpose::Nothing,
        None if is_value(name) || shows_by_verb(name) => ProgramPurpose::Shows,
        None if shows() => ProgramPurpose::Shows,
        None => ProgramPurpose::Acts,
    };
    Some(CommandProgram {
        name,
        program: program.unwrap_or(ProgramId::OTHER),
        parent: both.and_then(|both| by_name(name).filter(|own| *own != both)),
        is_heard: is_heard(visit.command, later),
        hides_errors: hides(visit.command, 2),
        later: later.iter().map(use_of_input).max().unwrap_or(Later::ShowsEnd),
        is_first: visit.position.stage == 0,
        is_nested: visit.position.nested,
        is_piped: visit.position.stages > 1,
        is_filter: visit.position.stage > 0 && use_of_input(visit) < Later::Changes,
        decides: visit.position.after == Operator::And,
        is_covered,
        asks_help,
        work,
    })
}

fn asks_help(words: &[&str]) -> bool {
    let is_help = |word: &&str| matches!(*word, "--help" | "-?" | "--version");
    words.iter().any(is_help)
        || matches!(words, ["-h" | "-V" | "version"] | ["help", ..] | [_, "-h" | "help"])
}

/// Subcommands by which programs print what there is.
const SHOWING: &[&str] = &[
    "list", "ls", "show", "get", "status", "info", "view", "describe", "print", "version", "doc",
    "docs", "log", "logs", "explain", "search", "find", "cat", "dump", "inspect", "whoami", "tree",
    "history", "diff", "ps", "env", "stats", "top", "outdated", "tags", "graph", "metadata",
    "linters", "why", "owner", "config", "paths", "audit", "query",
];

/// Whether subcommands of a program are named after what they do. Those of a task runner are names of
/// tasks.
fn may_show(name: &str, work: ProgramPurpose) -> bool {
    const MANAGERS: &[&str] = &[
        "npm", "pnpm", "yarn", "bun", "deno", "gem", "bundle", "composer", "nvm", "fnm", "volta",
        "wsl", "adb",
    ];
    match work {
        ProgramPurpose::Acts | ProgramPurpose::Builds => true,
        ProgramPurpose::Carries => MANAGERS.contains(&name),
        _ => false,
    }
}

/// Whether a command of PowerShell shows something, by its verb.
fn shows_by_verb(name: &str) -> bool {
    const VERBS: &[&str] = &[
        "Get",
        "Select",
        "Where",
        "ForEach",
        "Format",
        "Measure",
        "Test",
        "Sort",
        "Group",
        "Compare",
        "ConvertTo",
        "ConvertFrom",
        "Out",
        "Resolve",
        "Join",
        "Split",
        "Find",
        "Search",
        "Show",
        "Write",
    ];
    name.split_once('-').is_some_and(|(verb, noun)| {
        VERBS.contains(&verb) && noun.starts_with(|c: char| c.is_ascii_uppercase())
    })
}

/// Whether this is a value of PowerShell, which is printed: `$lines.Count`, `(…)`.
fn is_value(name: &str) -> bool {
    name.starts_with(['.', '[', '(', '@', ',']) && name != "."
}

/// Returns the part of a word that does not depend on variables; of a path, its end.
fn borrowed(word: &Word) -> &str {
    match word.fixed() {
        Some(Cow::Borrowed(text)) => text,
        _ => match word.parts.last() {
            Some(WordPart::Text { text, .. }) => text,
            _ => "",
        },
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
        let inner = if name == "command" && matches!(rest.first(), Some(&("-v" | "-V"))) {
            None
        } else if WRAPPERS.contains(&name) {
            Some(rest)
        } else if let Some((_, verbs)) = runs
            && let Some(at) = rest.iter().take(4).position(|word| verbs.contains(word))
        {
            rest.get(at + 1..)
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
    let joins = command
        .redirections
        .iter()
        .any(|r| r.kind == RedirectionKind::Duplicate && r.descriptor == Some(2));
    let is_out =
        !hides(command, 1) && later.iter().all(|stage| use_of_input(stage) < Later::Changes);
    let is_err = !hides(command, 2) && !joins;
    is_out || is_err
}

/// Whether a descriptor is redirected into a file.
fn hides(command: &Simple, descriptor: u32) -> bool {
    let writes = |kind| matches!(kind, RedirectionKind::Write | RedirectionKind::Append);
    let mut all = command.redirections.iter();
    all.any(|r| writes(r.kind) && r.descriptor.unwrap_or(1) == descriptor)
}

/// Returns the use that a stage makes of its input.
fn use_of_input(visit: &Visit<'_>) -> Later {
    let words: Vec<&str> = visit.command.words.iter().map(borrowed).collect();
    let Some((first, rest)) = words.split_first() else { return Later::Changes };
    let has = |letters: &[char]| {
        rest.iter().any(|word| {
            word.strip_prefix('-').is_some_and(|o| !o.starts_with('-') && o.contains(letters))
        })
    };
    match program_name(first) {
        "tail" | "cat" | "tee" | "less" | "more" | "sort" | "uniq" | "nl" | "ts"
        | "Sort-Object" | "Format-Table" | "Out-String" | "bat" | "column" | "fold" => {
            Later::ShowsEnd
        }
        "Select-Object" if rest.iter().any(|word| word.eq_ignore_ascii_case("-last")) => {
            Later::ShowsEnd
        }
        "head" | "Select-Object" => Later::ShowsStart,
        "sed" if !has(&['n']) => Later::ShowsEnd,
        "sed" => Later::ShowsStart,
        "Select-String" | "Where-Object" | "findstr" => Later::Selects,
        "grep" | "egrep" | "rg" | "ag" if !has(&['c', 'q', 'l', 'L', 'o']) => Later::Selects,
        _ => Later::Changes,
    }
}
