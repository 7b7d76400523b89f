//! `git`: its own options, its settings and aliases, and the programs that options start. The
//! commands are in the files of this folder.
//!
//! ```denied
//! git -C /repo reset --hard
//! git-reset --hard
//! /usr/bin/git reset --hard
//! FOO=1 git reset --hard
//! git -c alias.x='!rm -rf /' x
//! git -c alias.nuke=reset nuke --hard
//! git config alias.nuke 'reset --hard'; git nuke
//! export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0='!rm -rf /etc'; git x
//! GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0='clean -f' git x
//! ```
//! ```asked
//! git -c core.sshCommand=./x fetch
//! git --exec-path=./h show
//! ```
//! ```allowed
//! git status
//! git log --grep='reset --hard'
//! git help reset
//! git -c core.pager=cat log
//! git -c alias.x='!rm -rf /' status
//! GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.st GIT_CONFIG_VALUE_0=status git st
//! git bisect run cargo test
//! ```

pub(super) mod commits;
pub(super) mod refs;
pub(super) mod remotes;
pub(super) mod settings;
pub(super) mod work_tree;

use crate::effects::{EffectKind, EffectScope, Reversibility};
use crate::expand::Arg;
use crate::options::ParsedOptions;
use crate::pipes::Flow;
use crate::program::{Does, Program, Syntax};
use crate::run::CommandRun;
use Reversibility::{R1, R2, R3};

/// The code of a command.
type Code = fn(&mut CommandRun<'_, '_>, &ParsedOptions<'_>);

/// Options of `git` itself.
pub(super) static PROGRAMS: &[Program] = &[
    Program {
        names: "git",
        options: "C= c= p/paginate P/no-pager git-dir= work-tree= namespace= exec-path=? \
                  super-prefix= config-env= list-cmds= attr-source= bare no-replace-objects \
                  no-lazy-fetch no-optional-locks no-advice literal-pathspecs glob-pathspecs \
                  noglob-pathspecs icase-pathspecs html-path man-path info-path v/version h/help",
        syntax: Syntax::Plain,
        ..Program::NONE
    },
    Program {
        names: "git bisect run",
        syntax: Syntax::GitScript,
        code: Some(|run, parsed| {
            let words = parsed.operands.iter().map(|arg| (*arg).clone()).collect();
            run.inner(words, Flow::None);
        }),
        ..GIT
    },
];

/// Commands that git has itself, which no alias replaces, where no file of this folder names them.
const BUILTIN: &[&str] = &[
    "status",
    "blame",
    "annotate",
    "bisect",
    "cat-file",
    "cherry",
    "count-objects",
    "describe",
    "for-each-ref",
    "fsck",
    "help",
    "hash-object",
    "ls-files",
    "ls-tree",
    "merge-base",
    "name-rev",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show-branch",
    "show-ref",
    "stash",
    "submodule",
    "update-index",
    "var",
    "version",
    "whatchanged",
    "worktree",
    "write-tree",
    "reflog",
    "remote",
    "notes",
    "maintenance",
    "sparse-checkout",
    "range-diff",
    "rerere",
    "mergetool",
    "bundle",
];

/// All commands.
const ALL: &[&[Program]] = &[
    work_tree::PROGRAMS,
    refs::PROGRAMS,
    remotes::PROGRAMS,
    commits::PROGRAMS,
    settings::PROGRAMS,
    PROGRAMS,
];

/// A command with code of its own.
const fn command(names: &'static str, options: &'static str, code: Option<Code>) -> Program {
    Program { names, options, code, ..GIT }
}

/// A command whose effects are data.
const fn effects(names: &'static str, options: &'static str, effects: &'static [Does]) -> Program {
    Program { names, options, effects, ..GIT }
}

const GIT: Program = Program { syntax: Syntax::Git, names: "", ..Program::NONE };

impl Program {
    /// Whether this is the command `git FIRST SECOND`, or `git FIRST` for an empty second word.
    fn is_command(&self, first: &str, second: &str) -> bool {
        self.names.split('|').filter_map(|name| name.strip_prefix("git ")).any(|name| {
            match name.split_once(' ') {
                Some((one, two)) => one == first && two == second,
                None => second.is_empty() && name == first,
            }
        })
    }
}

fn find(first: &str, second: &str) -> Option<&'static Program> {
    ALL.iter().flat_map(|list| *list).find(|program| program.is_command(first, second))
}

/// Returns a command and the words behind its name.
fn find_command<'a>(sub: &str, args: &'a [Arg]) -> Option<(&'static Program, &'a [Arg])> {
    let verb = args.iter().position(|arg| !arg.text.starts_with('-'));
    let of_verb = verb.and_then(|at| {
        let program = find(sub, &args.get(at)?.text)?;
        Some((program, args.get(at + 1..).unwrap_or_default()))
    });
    of_verb.or_else(|| Some((find(sub, "")?, args)))
}

/// Analyzes `git-reset` and similar commands.
pub(super) fn dashed(run: &mut CommandRun<'_, '_>) {
    let sub = run.name.strip_prefix("git-").unwrap_or("").to_owned();
    subcommand(run, &sub, run.args);
}

pub(super) fn run(run: &mut CommandRun<'_, '_>) {
    let [own, ..] = PROGRAMS else { return };
    let (parsed, at) = own.parse_until(run.args, true);
    if parsed.informs() {
        return;
    }
    let known = run.analyzer.made.count_git_settings();
    settings::of_environment(run);
    for given in &parsed.options {
        let Some(value) = given.value else { continue };
        match given.name {
            "c" => settings::remember(run, value),
            "exec-path" if value.contains('/') && !value.starts_with("/usr") => {
                let why = "runs git's programs from another directory";
                run.effect(EffectKind::ExecuteUntrusted, value, EffectScope::Unknown, R1, why);
            }
            _ => {}
        }
    }
    let given = settings::apply(run, known);
    let saved = run.analyzer.cwd.clone();
    if let Some(given) = parsed.last("C", "") {
        run.analyzer.cwd = match given.value {
            Some(path) if !given.dynamic => Some(run.analyzer.place(path).path),
            _ => None,
        };
    }
    if let Some((sub, args)) = run.args.get(at..).and_then(<[Arg]>::split_first) {
        subcommand(run, &sub.text, args);
    }
    run.analyzer.cwd = saved;
    run.analyzer.made.forget_git_settings(known, given);
}

fn subcommand(run: &mut CommandRun<'_, '_>, sub: &str, args: &[Arg]) {
    let found = find_command(sub, args);
    let is_own = found.is_some() || find(sub, "").is_some() || BUILTIN.contains(&sub);
    if !is_own && let Some(alias) = run.analyzer.made.git_alias(sub) {
        let rest = args.iter().map(|arg| crate::words::quoted(&arg.text));
        let words: Vec<String> = std::iter::once(alias).chain(rest).collect();
        return run.shell_text(&words.join(" "));
    }
    addresses_that_run(run, args);
    let Some((program, rest)) = found else {
        if sub == "delete" && run.name == "hub" {
            run.remote("a repository", "deletes a repository");
        }
        return;
    };
    let Some(parsed) = program.read(run, rest) else { return };
    programs_of_options(run, &parsed);
    run.analyzer.left.git(sub, &parsed);
    program.apply(run, &parsed);
}

/// Analyzes addresses that name a command: `ext::`.
fn addresses_that_run(run: &mut CommandRun<'_, '_>, args: &[Arg]) {
    for text in args.iter().filter_map(|arg| arg.text.strip_prefix("ext::")) {
        // A blank inside a word is written behind a percent sign there.
        let marked = text.replace("% ", "\u{1}");
        let words = marked.split(' ').map(|word| Arg::plain(&word.replace('\u{1}', " ")));
        run.inner(words.collect(), Flow::None);
    }
}

/// Analyzes options whose value is a command.
fn programs_of_options(run: &mut CommandRun<'_, '_>, parsed: &ParsedOptions<'_>) {
    let runs = ["upload-pack", "receive-pack", "exec", "extcmd", "open-files-in-pager"];
    for given in parsed.options.iter().filter(|given| runs.contains(&given.name)) {
        if let Some(text) = given.value {
            run.shell_text(text);
        }
    }
}

/// Reports the loss of work. In a temp directory it goes with the repository.
pub(super) fn discard(
    run: &mut CommandRun<'_, '_>,
    target: &str,
    level: Reversibility,
    why: &'static str,
) {
    let level = if level >= R3 && run.is_in_temp() { R2 } else { level };
    run.effect(EffectKind::DiscardVcs, target, EffectScope::TreeTracked, level, why);
}

/// Returns the file whose version a command prints: `git show HEAD:FILE`.
pub(crate) fn printed_version<'a>(name: &str, args: &'a [Arg]) -> Option<&'a str> {
    let at = args.iter().position(|arg| matches!(&*arg.text, "show" | "cat-file"))?;
    let mut words = args.get(at + 1..)?.iter().filter(|_| name == "git");
    let named = words.rfind(|arg| !arg.text.starts_with('-') && !arg.dynamic)?;
    let (_, path) = named.text.split_once(':')?;
    (!path.is_empty() && !path.starts_with('/')).then(|| path.strip_prefix("./").unwrap_or(path))
}

impl CommandRun<'_, '_> {
    /// Whether the working directory is in a temp directory.
    pub(crate) fn is_in_temp(&self) -> bool {
        let at = self.analyzer.cwd.as_deref();
        at.is_some_and(|cwd| self.analyzer.context.place(None, cwd).scope == EffectScope::Temp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Options of other versions of git are listed too.
    #[test]
    fn the_lists_are_what_git_has() {
        for program in ALL
            .iter()
            .flat_map(|list| *list)
            .filter(|program| program.syntax == Syntax::Git && !program.is_open)
        {
            let Some(name) =
                program.names.split('|').next().and_then(|name| name.strip_prefix("git "))
            else {
                continue;
            };
            let mut git = std::process::Command::new("git");
            git.args(name.split(' ')).arg("--git-completion-helper-all");
            let Ok(output) = git.current_dir("/").output() else { return };
            let listed = String::from_utf8_lossy(&output.stdout).into_owned();
            let names = listed.split_whitespace().filter_map(|word| word.strip_prefix("--"));
            let names = names.map(|name| name.trim_end_matches('='));
            let unknown: Vec<&str> = names
                .filter(|name| !name.is_empty() && *name != "git-completion-helper-all")
                .filter(|name| {
                    let args = [Arg::plain(&format!("--{name}=1"))];
                    program.parse(&args).is_incomplete
                })
                .collect();
            assert!(unknown.is_empty(), "{name}: {unknown:?}");
        }
    }
}
