//! Properties of shell commands for rules, based on the parser and the analysis of
//! `toolmark_shell`. They are in one module, so that the parsing of commands can change
//! without affecting any rule.
//!
//! A script with more than a list of simple commands (substitutions, here-documents, compound
//! commands) is *opaque*: nothing is assumed about the files that it does not touch.

mod command_line;
mod script_edit;
pub mod stand_in;

use crate::path::resolve;
pub use command_line::CommandLine;
use toolmark_shell::commands;
use toolmark_shell::ir::{self, IrNode, Operator, RedirectionKind, Word, WordPart};

/// A command with its words and the files that its output is written to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Simple {
    /// Words without quotes; variables are kept as written.
    pub words: Vec<String>,
    /// Variables that are set for this command alone, or for the rest of the script.
    pub assigned: Vec<String>,
    /// Files that the output is written to.
    pub outputs: Vec<String>,
}

/// Commands of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShellScript {
    /// Simple commands, in order.
    pub commands: Vec<Simple>,
    /// Whether the script contains more than these commands.
    pub opaque: bool,
}

/// Splits a script into its simple commands.
fn simple_commands(script: &ir::Script) -> ShellScript {
    let all = commands(script);
    let mut out = ShellScript { opaque: script.partial.is_some(), ..ShellScript::default() };
    for stage in script.items.iter().flat_map(|item| &item.pipeline.stages) {
        match stage {
            IrNode::Simple(command) => out.commands.push(simple(command)),
            IrNode::Compound(_) => out.opaque = true,
        }
    }
    out.opaque |= all.iter().any(|visit| {
        let mut redirections = visit.command.redirections.iter();
        visit.position.nested || redirections.any(|r| r.kind == RedirectionKind::HereDocument)
    });
    out
}

fn simple(command: &ir::Simple) -> Simple {
    let outputs = command.redirections.iter().filter(|redirection| {
        matches!(redirection.kind, RedirectionKind::Write | RedirectionKind::Append)
    });
    Simple {
        words: command.words.iter().map(shown).collect(),
        assigned: command.assignments.iter().map(|assignment| assignment.name.clone()).collect(),
        outputs: outputs.map(|redirection| shown(&redirection.target)).collect(),
    }
}

/// Returns a word without its quotes.
fn shown(word: &Word) -> String {
    let mut out = String::new();
    for part in &word.parts {
        match part {
            WordPart::Text { text, .. } => out.push_str(text),
            WordPart::Parameter { name, .. } => {
                out.push('$');
                out.push_str(name);
            }
            WordPart::Command { .. } | WordPart::Process { .. } | WordPart::Arithmetic(_) => {
                out.push_str("$()")
            }
        }
    }
    out
}

/// Programs that change no file, whatever their arguments.
const READ_ONLY_PROGRAMS: &[&str] = &[
    ":",
    "[",
    "basename",
    "break",
    "cat",
    "cd",
    "cmp",
    "column",
    "comm",
    "continue",
    "cut",
    "date",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "egrep",
    "env",
    "exit",
    "expr",
    "false",
    "fgrep",
    "file",
    "fold",
    "free",
    "grep",
    "head",
    "hexdump",
    "hostname",
    "id",
    "jq",
    "ls",
    "lsof",
    "md5sum",
    "nl",
    "nproc",
    "od",
    "paste",
    "pgrep",
    "printenv",
    "printf",
    "ps",
    "pwd",
    "read",
    "readlink",
    "realpath",
    "rev",
    "rg",
    "seq",
    "set",
    "sha1sum",
    "sha256sum",
    "sleep",
    "stat",
    "strings",
    "tac",
    "tail",
    "test",
    "tr",
    "tree",
    "true",
    "type",
    "uname",
    "uniq",
    "wait",
    "wc",
    "which",
    "whoami",
    "zcat",
];

/// Git commands that change neither files nor history.
const LOOKING_GIT: &[&str] = &[
    "blame",
    "cat-file",
    "count-objects",
    "describe",
    "diff",
    "for-each-ref",
    "grep",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "merge-base",
    "name-rev",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "show-ref",
    "status",
];

/// Whether a script certainly changes no file.
fn only_looks(script: &ir::Script) -> bool {
    if script.partial.is_some() {
        return false;
    }
    let into_files = |redirections: &[ir::Redirection]| {
        redirections.iter().any(|redirection| {
            let writes =
                matches!(redirection.kind, RedirectionKind::Write | RedirectionKind::Append);
            writes && redirection.target.fixed().is_none_or(|file| !is_sink(&file))
        })
    };
    let compound = script.items.iter().flat_map(|item| &item.pipeline.stages).any(
        |stage| matches!(stage, IrNode::Compound(compound) if into_files(&compound.redirections)),
    );
    let visits = commands(script);
    !compound
        && visits.iter().all(|visit| {
            // A compound command inside another may send its output anywhere.
            !into_files(&visit.command.redirections) && looks(&simple(visit.command))
        })
        && !nested_output(script)
}

/// Whether a compound command inside another may write its output to a file. Their
/// redirections are not distinguished, so any output counts.
fn nested_output(script: &ir::Script) -> bool {
    let mut open: Vec<(&ir::Script, bool)> = vec![(script, false)];
    while let Some((script, inside)) = open.pop() {
        for stage in script.items.iter().flat_map(|item| &item.pipeline.stages) {
            let IrNode::Compound(compound) = stage else { continue };
            if inside && !compound.redirections.is_empty() {
                return true;
            }
            match &compound.kind {
                ir::CompoundKind::Subshell(inner) | ir::CompoundKind::Group(inner) => {
                    open.push((inner, true));
                }
                ir::CompoundKind::Branches(inner)
                | ir::CompoundKind::Loop { parts: inner, .. }
                | ir::CompoundKind::Case { arms: inner, .. } => {
                    open.extend(inner.iter().map(|inner| (inner, true)));
                }
                ir::CompoundKind::For { body, .. } => open.push((body, true)),
                // The effects of a function depend on its calls.
                ir::CompoundKind::Function { .. } => return true,
                ir::CompoundKind::Test(_) => {}
            }
        }
    }
    false
}

fn is_sink(file: &str) -> bool {
    matches!(file, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty")
}

fn looks(command: &Simple) -> bool {
    // Variables may select the programs that other programs start.
    let names_program = |name: &String| {
        name.starts_with("GIT_") || name.starts_with("LD_") || name.ends_with("PAGER")
    };
    if command.assigned.iter().any(|name| names_program(name) || name == "PATH") {
        return false;
    }
    let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
    looking_words(&words)
}

fn looking_words(words: &[&str]) -> bool {
    match words {
        [] => true,
        ["git", rest @ ..] => looking_git(rest),
        ["find", rest @ ..] => !rest.iter().any(|word| {
            matches!(*word, "-delete" | "-exec" | "-execdir" | "-ok" | "-okdir")
                || word.starts_with("-fprint")
                || word.starts_with("-fls")
        }),
        ["sed", rest @ ..] => !rest
            .iter()
            .any(|w| w.starts_with("-i") || w.starts_with("--in-place") || w.contains('w')),
        ["awk" | "gawk" | "mawk", rest @ ..] => {
            !rest.iter().any(|w| w.contains(['>', '|']) || w.contains("system") || *w == "-i")
        }
        ["sort", rest @ ..] => {
            !rest.iter().any(|w| w.starts_with("-o") || w.starts_with("--output"))
        }
        ["rg", rest @ ..] => !rest.iter().any(|w| w.starts_with("--pre")),
        ["tree", rest @ ..] => !rest.contains(&"-o"),
        ["xargs", rest @ ..] => {
            let inner = rest.iter().position(|w| !w.starts_with('-')).unwrap_or(rest.len());
            let plain = rest.iter().take(inner).all(|w| matches!(*w, "-0" | "-r" | "-t"));
            plain && looking_words(rest.get(inner..).unwrap_or_default())
        }
        ["timeout", limit, rest @ ..] if limit.starts_with(|c: char| c.is_ascii_digit()) => {
            !rest.is_empty() && looking_words(rest)
        }
        ["command", "-v", ..] => true,
        ["time", rest @ ..] => looking_words(rest),
        ["env", _, ..] => false,
        [name, ..] => READ_ONLY_PROGRAMS.contains(name),
    }
}

fn looking_git(words: &[&str]) -> bool {
    let mut rest = words.iter().copied();
    let mut verb = rest.next();
    loop {
        match verb {
            Some("-C") => {
                rest.next();
                verb = rest.next();
            }
            Some("--no-pager" | "--no-optional-locks") => verb = rest.next(),
            _ => break,
        }
    }
    let rest: Vec<&str> = rest.collect();
    if rest.iter().any(|word| word.starts_with("--output") || *word == "-o" || *word == "-O") {
        return false;
    }
    match (verb, rest.as_slice()) {
        (Some("branch"), rest) => rest.iter().all(|word| {
            matches!(*word, "-a" | "-r" | "-v" | "-vv" | "--list" | "--all" | "--show-current")
        }),
        (Some("remote"), ["-v" | "--verbose"] | []) => true,
        (Some("remote"), ["show" | "get-url", ..]) => true,
        (Some("stash" | "worktree"), ["list", ..]) | (Some("stash"), ["show", ..]) => true,
        (Some("reflog"), [] | ["show", ..]) => true,
        (Some("reflog"), [first, ..]) => first.starts_with('-'),
        (Some("config"), ["--get" | "--list" | "-l" | "--get-all", ..]) => true,
        (Some("tag"), [] | ["-l" | "--list", ..]) => true,
        (Some(verb), _) => LOOKING_GIT.contains(&verb) || verb == "--version",
        (None, _) => true,
    }
}

/// Whether a command may have replaced many files: checked out another commit, run a
/// formatter or a generator.
fn rewrites_many(text: &str, script: &ShellScript) -> bool {
    // Commands inside of loops and conditions are only searched for in the text.
    let is_inside = |words: &str| script.opaque && text.contains(words);
    ["git stash", "git checkout", "git reset"].iter().any(|words| is_inside(words))
        || script.commands.iter().any(|simple| {
            let words: Vec<&str> = simple.words.iter().map(String::as_str).collect();
            rewriting_words(&words)
        })
}

fn rewriting_words(words: &[&str]) -> bool {
    const FORMATTERS: &[&str] = &[
        "fmt",
        "gofmt",
        "goimports",
        "rustfmt",
        "prettier",
        "black",
        "format",
        "--write",
        "--fix",
        "generate",
        "codegen",
        "gen",
        "lint:fix",
        "format:fix",
        "isort",
        "autopep8",
    ];
    match words {
        ["git", rest @ ..] => {
            let mut rest = rest.iter().copied().skip_while(|word| word.starts_with('-'));
            let verb = rest.next().unwrap_or("");
            let next = rest.next().unwrap_or("");
            match verb {
                "checkout" | "switch" => !matches!(next, "-b" | "-B" | "-c" | "-C"),
                "stash" => !matches!(next, "list" | "show"),
                "pull" | "merge" | "rebase" | "reset" | "restore" | "cherry-pick" | "apply"
                | "revert" | "am" | "clean" => true,
                _ => false,
            }
        }
        words => words.iter().take(6).any(|word| {
            let name = word.rsplit('/').next().unwrap_or(word);
            FORMATTERS.contains(&name)
        }),
    }
}

/// Certain effect of a successful command on a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileEffect {
    /// The file exists; its content is unknown.
    Written(String),
    /// The file does not exist.
    Removed(String),
}

/// Returns the certain effects of a command on files, with paths as written; paths after a
/// `cd` are relative to the directory in which the script starts. Commands that may not run
/// are ignored.
fn file_effects(script: &ir::Script) -> Vec<FileEffect> {
    let mut effects = Vec::new();
    if script.partial.is_some() || commands(script).iter().any(|visit| visit.position.nested) {
        return effects;
    }
    let mut directory: Option<String> = None;
    let mut before = Operator::Then;
    for item in &script.items {
        let (after, stages) = (item.after, &item.pipeline.stages);
        let is_sure = !matches!(before, Operator::Or) && after != Operator::Background;
        before = after;
        for stage in stages {
            let IrNode::Simple(command) = stage else { return effects };
            let command = simple(command);
            let Some((name, words)) = command.words.split_first() else {
                continue;
            };
            match (name.as_str(), words) {
                ("cd", [to]) if is_plain(to) && after == Operator::And && stages.len() == 1 => {
                    directory = Some(resolve(directory.as_deref(), to));
                    continue;
                }
                // The directory of the remaining commands is unknown.
                ("cd" | "pushd" | "popd", _) => return effects,
                _ => {}
            }
            if !is_sure {
                continue;
            }
            let here = |file: &String| resolve_from(directory.as_deref(), file);
            let written = command.outputs.iter().filter(|file| !file.starts_with("/dev/"));
            let written = written.filter(|f| is_plain(f));
            effects.extend(written.map(|file| FileEffect::Written(here(file))));
            let files = words.iter().filter(|word| !word.starts_with('-') && is_plain(word));
            match name.as_str() {
                "rm" | "unlink" => effects.extend(files.map(|f| FileEffect::Removed(here(f)))),
                "touch" | "tee" => effects.extend(files.map(|f| FileEffect::Written(here(f)))),
                _ => {}
            }
        }
    }
    effects
}

fn is_plain(word: &str) -> bool {
    !word.contains(['*', '?', '[', '{', '$', '~'])
}

fn resolve_from(directory: Option<&str>, file: &str) -> String {
    match directory {
        Some(directory) => resolve(Some(directory), file),
        None => file.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn simple_commands(text: &str) -> ShellScript {
        CommandLine::new(text).simple_commands().clone()
    }

    fn only_looks(text: &str) -> bool {
        CommandLine::new(text).only_looks()
    }

    fn rewrites_many(text: &str) -> bool {
        CommandLine::new(text).rewrites_many()
    }

    fn file_effects(text: &str) -> Vec<FileEffect> {
        CommandLine::new(text).file_effects().to_vec()
    }

    #[test]
    fn words_and_outputs() {
        let script = simple_commands("cd '/a b' && echo \"x y\"\\ z > out.txt 2>&1 | wc -l # no");
        let words: Vec<_> = script.commands.iter().map(|c| c.words.join("|")).collect();
        assert_eq!(words, ["cd|/a b", "echo|x y z", "wc|-l"]);
        assert_eq!(script.commands[1].outputs, ["out.txt"]);
        assert!(!script.opaque);
        assert!(simple_commands("cat <<EOF\nx\nEOF").opaque);
        assert!(simple_commands("echo \"$(rm x)\"").opaque);
        assert!(simple_commands("for x in 1 2; do rm $x; done").opaque);
        let script = simple_commands("A=1 make \"$X\"/y");
        assert_eq!(script.commands[0].words, ["make", "$X/y"]);
        assert_eq!(script.commands[0].assigned, ["A"]);
    }

    #[test]
    fn what_is_done_to_files() {
        let written = |file: &str| FileEffect::Written(file.into());
        let removed = |file: &str| FileEffect::Removed(file.into());
        for (text, want) in [
            ("echo x > a.txt", vec![written("a.txt")]),
            ("rm -f a b", vec![removed("a"), removed("b")]),
            ("ls | tee out 2>/dev/null", vec![written("out")]),
            ("cat > a.py <<'E'\nrm b\nE", vec![written("a.py")]),
            ("cd x && rm a", vec![removed("x/a")]),
            ("cd /x && cd y && rm a /b", vec![removed("/x/y/a"), removed("/b")]),
            ("cd x; rm a", vec![]),
            ("rm *.o $X", vec![]),
            ("echo $(rm a)", vec![]),
            ("test -e a || rm a", vec![]),
            ("if x; then rm a; fi", vec![]),
        ] {
            assert_eq!(file_effects(text), want, "{text}");
        }
    }

    #[test]
    fn what_puts_other_versions_in_place() {
        for text in ["git stash", "cd a && git pull", "mise run fmt", "npx prettier --write ."] {
            assert!(rewrites_many(text), "{text}");
        }
        for text in ["git stash list", "git checkout -b x", "git log --format=%H", "go test ./..."]
        {
            assert!(!rewrites_many(text), "{text}");
        }
    }

    #[test]
    fn what_surely_changes_nothing() {
        for text in [
            "ls -la",
            "cat a | head -3",
            "git status && git log -3",
            "git -C /w diff",
            "git --no-pager branch -a",
            "find . -name '*.rs'",
            "grep -rn x . 2>/dev/null",
            "sed -n '1,20p' a.rs",
            "cd /w; pwd",
            "sort a | uniq -c",
            "rg 'a|b' src",
            "echo $(cat a)",
            "for f in a b; do cat $f; done",
            "find . -name x | xargs grep y",
            "N=3; head -$N a",
            "cat <<E\nrm a\nE",
        ] {
            assert!(only_looks(text), "{text}");
        }
        for text in [
            "rm a",
            "cargo fmt",
            "echo x > a",
            "cat a >> b",
            "git checkout .",
            "git branch x",
            "git stash",
            "find . -delete",
            "sed -i s/a/b/ x",
            "sort -o a a",
            "env rm a",
            "echo `rm a`",
            "echo $(rm a)",
            "ls & cargo fmt",
            "ls\nmake",
            "cat <<E > a\nE",
            "cat <<E\n$(rm a)\nE",
            "{ cat a; } > b",
            "if true; then (cat a) > b; fi",
            "echo x >| a",
            "echo x &> a",
            "sed -n 'w out' a",
            "git diff --output=a",
            "find . | xargs rm",
            "X=1 make",
            "GIT_PAGER=x git log",
        ] {
            assert!(!only_looks(text), "{text}");
        }
        assert!(!only_looks(&"ls;".repeat(100_000)));
    }
}
