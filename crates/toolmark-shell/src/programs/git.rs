//! `git`: the work tree, the index, and the programs that its own options may start. References,
//! history and remotes are in `git_refs`.

use super::git_config::{config, setting};
use super::{git_options, git_refs};
use crate::effects::{Certainty, Kind, Reversibility, Scope};
use crate::expand::Arg;
use crate::options::{Grammar, Parsed};
use crate::run::Run;
use crate::secrets::Secrecy;
use Reversibility::{R1, R2, R3, R4};

/// Analyzes `git-reset` and similar commands.
pub(super) fn dashed(run: &mut Run<'_, '_>) {
    let sub = run.name.strip_prefix("git-").unwrap_or("").to_owned();
    subcommand(run, &sub, 0);
}

pub(super) fn run(run: &mut Run<'_, '_>) {
    let grammar = Grammar {
        short: "Cc",
        long: &["git-dir", "work-tree", "namespace", "exec-path", "super-prefix", "config-env"],
        ..Grammar::default()
    };
    let (parsed, at) = grammar.parse_until(run.args, true);
    if parsed.informs() {
        return;
    }
    for given in &parsed.options {
        let Some(value) = given.value else { continue };
        match given.name {
            "c" => setting(run, value),
            "exec-path" if value.contains('/') && !value.starts_with("/usr") => {
                run.effect(
                    Kind::ExecuteUntrusted,
                    value,
                    Scope::Unknown,
                    R1,
                    "runs git's programs from another directory",
                );
            }
            _ => {}
        }
    }
    environment(run);
    let saved = run.analyzer.cwd.clone();
    if let Some(given) = parsed.last("C", "") {
        run.analyzer.cwd = match given.value {
            Some(path) if !given.dynamic => Some(run.analyzer.place(path).path),
            _ => None,
        };
    }
    if let Some(sub) = run.args.get(at) {
        let sub = sub.text.clone();
        subcommand(run, &sub, at + 1);
    }
    run.analyzer.cwd = saved;
}

/// Analyzes settings in the environment: `GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0='!…'`.
fn environment(run: &mut Run<'_, '_>) {
    let mut settings = Vec::new();
    for (name, key) in &run.call.env {
        if let Some(number) = name.strip_prefix("GIT_CONFIG_KEY_") {
            let value = run.env(&format!("GIT_CONFIG_VALUE_{number}")).unwrap_or("");
            settings.push(format!("{}={value}", key.text));
        } else if name == "GIT_CONFIG_PARAMETERS" {
            settings
                .extend(key.text.split('\'').filter(|part| part.contains('=')).map(str::to_owned));
        }
    }
    for text in settings {
        setting(run, &text);
    }
}

const GRAMMAR: Grammar = Grammar {
    short: "mFCcstbBUXSGuOjnMAW",
    long: &[
        "message",
        "file",
        "author",
        "date",
        "source",
        "pathspec-from-file",
        "conflict",
        "orphan",
        "unified",
        "exclude",
        "template",
        "cleanup",
        "fixup",
        "squash",
        "strategy",
        "strategy-option",
        "onto",
        "upstream",
        "format",
        "pretty",
        "since",
        "until",
        "grep",
        "max-count",
        "branch",
        "track-branch",
        "repo",
        "receive-pack",
        "push-option",
        "reason",
        "contains",
        "sort",
        "points-at",
    ],
    single_dash: false,
};

fn grammar(short: &'static str) -> Grammar {
    Grammar { short, ..GRAMMAR }
}

/// Analyzes options of subcommands whose value is a command.
fn programs_of_options(run: &mut Run<'_, '_>, sub: &str, args: &[Arg]) {
    for (at, arg) in args.iter().enumerate() {
        let text = arg.text.as_str();
        let next = || args.get(at + 1).map(|next| next.text.as_str());
        let value = match (text, text.split_once('=')) {
            ("--", _) => return,
            (_, Some(("--upload-pack" | "--receive-pack" | "--exec" | "--extcmd", value))) => {
                Some(value)
            }
            ("--upload-pack" | "--receive-pack" | "--exec" | "--extcmd", _) => next(),
            ("-u", _) if matches!(sub, "clone" | "ls-remote") => next(),
            ("-x", _) if matches!(sub, "difftool" | "rebase") => next(),
            (_, Some(("--open-files-in-pager", value))) if sub == "grep" => Some(value),
            _ if sub == "grep" => text.strip_prefix("-O").filter(|value| !value.is_empty()),
            _ => None,
        };
        if let Some(value) = value {
            run.shell_text(value);
        }
    }
}

/// Whether the command is `git SUB -h`, which prints its usage.
fn is_usage(args: &[Arg]) -> bool {
    matches!(args, [only] if only.text == "-h")
}

/// Remembers the directory that `git clone` makes, whose programs were not inspected.
fn remember_clone(run: &mut Run<'_, '_>, args: &[Arg]) {
    let parsed =
        Grammar { short: "bcjou", long: &["branch", "depth", "origin", "filter"], ..GRAMMAR }
            .parse(args);
    let from = parsed.operands.first().map_or("", |arg| arg.text.as_str());
    let name = from.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or("");
    let name = name.strip_suffix(".git").unwrap_or(name);
    let to = parsed.operands.get(1).map_or(name, |arg| arg.text.as_str());
    if to.is_empty() {
        return;
    }
    let path = run.analyzer.place(to).path;
    run.analyzer.left.make(&path);
    if from.contains("://") {
        run.analyzer.made.clone_of(&path);
    }
}

/// Remembers the directories that `git init` and `git worktree add` make.
fn remember_trees(run: &mut Run<'_, '_>, sub: &str, args: &[Arg]) {
    let parsed = grammar("bB").parse(args);
    let words: Vec<&Arg> = parsed.operands.iter().copied().filter(|arg| !arg.dynamic).collect();
    let made = match (sub, words.as_slice()) {
        ("init", [path]) => path,
        ("worktree", [verb, path, ..]) if verb.text == "add" => path,
        _ => return,
    };
    let path = run.analyzer.place(&made.text).path;
    run.analyzer.left.make(&path);
}

/// Whether files of the work tree may be replaced because the session changed them itself, or
/// because they are unchanged in version control.
fn can_take_back(run: &Run<'_, '_>, paths: &[&str], staged: bool) -> bool {
    let is_one = |path: &str| !path.contains(['*', '?', '[']) && !matches!(path, "." | "./" | ":/");
    let is_made_anew = |path: &str| {
        is_one(path) && (is_lock(path) || run.analyzer.place(path).scope == Scope::TreeArtefact)
    };
    if !paths.is_empty() && paths.iter().all(|path| is_made_anew(path)) {
        return true;
    }
    let Some(facts) = run.analyzer.context.facts else { return false };
    let places: Vec<String> = paths.iter().map(|path| run.analyzer.place(path).path).collect();
    let is_own = |(path, place): (&&str, &String)| {
        is_made_anew(path) || is_one(path) && (facts.made(place) || facts.changed(place))
    };
    let own = !paths.is_empty() && paths.iter().zip(&places).all(is_own);
    let has_pattern = |path: &&str| path.contains(['*', '?', '[', ':', '$']);
    let directory = run.analyzer.cwd.as_deref().filter(|_| !paths.iter().any(has_pattern));
    own || directory.and_then(|at| facts.is_clean(at, &places, staged)) == Some(true)
}

/// Whether a file is one that a package manager regenerates.
fn is_lock(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    matches!(name, "go.sum" | "package-lock.json" | "pnpm-lock.yaml" | "npm-shrinkwrap.json")
        || name.ends_with(".lock")
        || name.ends_with(".lockb")
}

/// Reports files of the work tree being replaced by another version.
fn replace_files(run: &mut Run<'_, '_>, paths: &[&str], staged: bool) {
    let level = if can_take_back(run, paths, staged) { R2 } else { R4 };
    discard(run, &paths.join(" "), level, "overwrites the work tree with an old version");
}

fn subcommand(run: &mut Run<'_, '_>, sub: &str, at: usize) {
    let args = run.args.get(at..).unwrap_or_default();
    let complete = git_options::complete(sub, args);
    let informs = complete.as_ref().map_or_else(
        || args.iter().take_while(|arg| arg.text != "--").any(|arg| arg.text == "--help"),
        |complete| complete.informs,
    );
    if informs || is_usage(args) {
        return;
    }
    let args = complete.as_ref().map_or(args, |complete| &complete.args);
    programs_of_options(run, sub, args);
    if sub == "clone" {
        remember_clone(run, args);
    }
    remember_trees(run, sub, args);
    run.analyzer.left.git(sub, args);
    // `ext::` names a command instead of an address.
    for text in args.iter().filter_map(|arg| arg.text.strip_prefix("ext::")) {
        // A blank inside a word is written behind a percent sign there.
        let marked = text.replace("% ", "\u{1}");
        let words = marked.split(' ').map(|word| Arg::plain(&word.replace('\u{1}', " ")));
        run.inner(words.collect(), crate::pipes::Flow::None);
    }
    if let Some(alias) = run.analyzer.made.git_alias(sub).map(str::to_owned) {
        let rest: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
        run.shell_text(&format!("{alias} {}", rest.join(" ")));
        return;
    }
    match sub {
        "delete" if run.name == "hub" => run.remote("a repository", "deletes a repository"),
        "checkout" => checkout(run, &grammar("bBUs").parse(args), args),
        "switch" => {
            let parsed = grammar("cCU").parse(args);
            if !parsed.informs() && (parsed.on("f", "force") || parsed.exact("discard-changes")) {
                discard(run, "the work tree", R4, "discards local changes");
            }
        }
        "restore" => restore(run, &grammar("sU").parse(args)),
        "reset" => reset(run, &grammar("U").parse(args)),
        "clean" => clean(run, &grammar("e").parse(args)),
        "rm" => remove(run, &grammar("").parse(args)),
        "stash" => {
            let words = super::plain_words(args);
            match words.first() {
                // A stash of the session's own holds what was not committed before it, too.
                Some(&"drop") => discard(run, "a stash", R3, "drops stashed work"),
                Some(&"clear") => discard(run, "all stashes", R4, "drops all stashed work"),
                _ => {}
            }
        }
        "worktree" => {
            let words = super::plain_words(args);
            let parsed = grammar("").parse(args);
            // One made in a temp directory goes with it.
            let passing = parsed
                .operands
                .iter()
                .any(|arg| arg.temporary || run.analyzer.place(&arg.text).scope == Scope::Temp)
                || is_own_tree(run, &parsed);
            if words.first() == Some(&"remove") && parsed.on("f", "force") && !passing {
                discard(
                    run,
                    words.get(1).unwrap_or(&""),
                    R4,
                    "removes a work tree with its changes",
                );
            }
        }
        "submodule" => {
            let parsed = grammar("").parse(args);
            match super::plain_words(args).first() {
                Some(&"deinit") if parsed.on("f", "force") => {
                    discard(run, "a submodule", R4, "discards changes in a submodule")
                }
                Some(&"foreach") => {
                    if let Some(at) = args.iter().position(|arg| arg.text == "foreach") {
                        let words: Vec<&str> = args
                            .iter()
                            .skip(at + 1)
                            .filter(|arg| arg.text != "--recursive" && arg.text != "-q")
                            .map(|arg| arg.text.as_str())
                            .collect();
                        run.shell_text(&words.join(" "));
                    }
                }
                Some(&"update") if parsed.on("f", "force") => {
                    discard(run, "submodules", R3, "discards changes in submodules")
                }
                _ => {}
            }
        }
        "bisect" => {
            if args.first().is_some_and(|arg| arg.text == "run") {
                run.inner(args.get(1..).unwrap_or_default().to_vec(), crate::pipes::Flow::None);
            }
        }
        "apply" => {
            let parsed = grammar("pC").parse(args);
            let looks =
                ["check", "stat", "numstat", "summary"].iter().any(|flag| parsed.exact(flag));
            // A patch that is made of the work tree and taken off again is all that changed in it.
            let is_made =
                parsed.operands.iter().all(|arg| arg.text == "-" || arg.text.contains("/dev/fd/"));
            if parsed.has("R", "reverse") && is_made && !looks {
                discard(run, "the work tree", R4, "takes off what a patch adds");
            }
        }
        "checkout-index" => {
            if grammar("").parse(args).has("f", "force") {
                discard(run, "the work tree", R4, "overwrites the work tree with the index");
            }
        }
        "read-tree" => {
            let parsed = grammar("").parse(args);
            if parsed.exact("reset") && parsed.has("u", "") {
                discard(run, "the work tree", R4, "overwrites the work tree with a tree");
            }
        }
        "commit" | "merge" | "am" | "rebase" | "cherry-pick" | "revert" | "pull" => {
            let parsed = grammar("mFCctXSsu").parse(args);
            let no_hooks = sub != "merge" && sub != "pull" && parsed.exact("no-verify")
                || (sub == "commit" && parsed.has("n", ""));
            if no_hooks {
                run.effect(Kind::Persist, "hooks", Scope::VcsMetadata, R1, "bypasses the hooks");
            }
            if matches!(sub, "commit") {
                let call = run.call;
                if let Some(path) = parsed.value("F", "file").filter(|path| *path != "-") {
                    run.analyzer.read_file(&Arg::plain(path), "git", call);
                }
            }
        }
        "add" | "stage" => {
            for arg in args.iter().filter(|arg| !arg.text.starts_with('-') && !arg.dynamic) {
                let is_copy = run.analyzer.is_copy(&run.analyzer.place(&arg.text).path);
                if is_copy || run.analyzer.context.secrecy(&arg.text) == Some(Secrecy::Secret) {
                    let why = "puts a secret under version control";
                    run.effect(Kind::SendOut, &arg.text, Scope::VcsMetadata, R1, why);
                }
            }
        }
        "credential"
        | "credential-store"
        | "credential-cache"
        | "credential-manager"
        | "credential-osxkeychain"
        | "credential-libsecret" => {
            if matches!(super::plain_words(args).first(), Some(&("fill" | "get"))) {
                run.effect(Kind::ReadSecret, sub, Scope::Home, R1, "prints a secret");
            }
        }
        "config" => config(run, args),
        "log" | "show" | "diff" | "format-patch" => {
            if let Some(path) =
                (Grammar { short: "o", long: &["output", "output-directory"], ..GRAMMAR })
                    .parse(args)
                    .value("", "output")
            {
                let call = run.call;
                run.analyzer.write_file(&Arg::plain(path), false, "git", call);
            }
            let call = run.call;
            for arg in
                args.iter().filter(|arg| arg.text.contains(':') && !arg.text.starts_with('-'))
            {
                let path = arg.text.rsplit(':').next().unwrap_or("");
                run.analyzer.read_file(&Arg::plain(path), "git", call);
            }
        }
        "annex" | "lfs" => {
            if args.first().is_some_and(|arg| {
                matches!(arg.text.as_str(), "drop" | "prune" | "dropunused" | "uninit")
            }) && !super::only_informs(args)
            {
                discard(run, "large files", R3, "removes local copies of large files");
            }
        }
        "filter-repo" | "filter-branch" | "push" | "send-pack" | "http-push" | "branch" | "tag"
        | "update-ref" | "reflog" | "gc" | "prune" | "remote" | "replace" | "notes"
        | "symbolic-ref" | "repack" | "svn" | "p4" | "send-email" | "fetch" => {
            git_refs::run(run, sub, args)
        }
        _ => {}
    }
}

/// Whether the session made the work tree that `git worktree remove` names.
fn is_own_tree(run: &Run<'_, '_>, parsed: &Parsed<'_>) -> bool {
    let facts = run.analyzer.context.facts;
    let mut paths = parsed.operands.iter().skip(1).peekable();
    paths.peek().is_some()
        && paths.all(|arg| {
            let path = run.analyzer.place(&arg.text).path;
            !arg.dynamic && facts.is_some_and(|facts| facts.made(&path))
        })
}

pub(super) fn discard(
    run: &mut Run<'_, '_>,
    target: &str,
    level: Reversibility,
    why: &'static str,
) {
    let level = if run.analyzer.cwd.as_deref().is_some_and(|cwd| in_temp(run, cwd)) && level >= R3 {
        R2
    } else {
        level
    };
    run.effect(Kind::DiscardVcs, target, Scope::TreeTracked, level, why);
}

fn in_temp(run: &Run<'_, '_>, cwd: &str) -> bool {
    run.analyzer.context.place(None, cwd).scope == Scope::Temp
}

fn checkout(run: &mut Run<'_, '_>, parsed: &Parsed<'_>, args: &[Arg]) {
    if parsed.informs() || parsed.on("p", "patch") {
        return;
    }
    let creates = parsed.has("b", "")
        || parsed.has("B", "")
        || parsed.exact("orphan")
        || parsed.has("t", "track");
    if parsed.on("f", "force") {
        discard(run, "the work tree", R4, "discards local changes");
        return;
    }
    if creates {
        return;
    }
    let operands = &parsed.operands;
    if parsed.has("", "ours") || parsed.has("", "theirs") {
        // Every word is a path then, because no version can be named.
        let paths: Vec<&str> = operands.iter().map(|arg| arg.text.as_str()).collect();
        let target =
            if paths.is_empty() { "conflicting files".to_owned() } else { paths.join(" ") };
        // The other side is in the commit that is merged.
        discard(run, &target, R2, "takes one side of a conflict");
        return;
    }
    let paths: Vec<&str> = match parsed.before_dashes {
        Some(before) => operands.iter().skip(before).map(|arg| arg.text.as_str()).collect(),
        None if operands.len() > 1 => {
            operands.iter().skip(1).map(|arg| arg.text.as_str()).collect()
        }
        None => Vec::new(),
    };
    let dashes_last = args.last().is_some_and(|arg| arg.text == "--");
    if !paths.is_empty() {
        // Behind a version, what is only in the index goes too.
        let staged = parsed.before_dashes != Some(0);
        replace_files(run, &paths, staged);
    } else if parsed.exact("pathspec-from-file") {
        discard(run, "listed files", R4, "overwrites the work tree with an old version");
    } else if let [only] = operands.as_slice()
        && !dashes_last
    {
        let text = only.text.as_str();
        if text == "."
            || text.starts_with("./")
            || text.starts_with(":/")
            || text.ends_with('/')
            || text == "*"
        {
            replace_files(run, &[text], false);
        } else if looks_like_file(text) && !only.dynamic {
            let level = if can_take_back(run, &[text], false) { R2 } else { R4 };
            run.sure(
                Kind::DiscardVcs,
                text,
                Scope::TreeTracked,
                level,
                Certainty::Likely,
                "overwrites a file with an old version",
            );
        }
    }
}

/// Whether a word is far more likely to be a file than a reference.
fn looks_like_file(text: &str) -> bool {
    let name = text.rsplit('/').next().unwrap_or(text);
    let Some((stem, ending)) = name.rsplit_once('.') else {
        return matches!(name, "Makefile" | "Dockerfile" | "LICENSE" | "README");
    };
    !stem.is_empty()
        && matches!(
            ending,
            "rs" | "py"
                | "js"
                | "ts"
                | "tsx"
                | "jsx"
                | "go"
                | "java"
                | "rb"
                | "php"
                | "c"
                | "h"
                | "cpp"
                | "hpp"
                | "cc"
                | "cs"
                | "swift"
                | "kt"
                | "md"
                | "txt"
                | "json"
                | "toml"
                | "yaml"
                | "yml"
                | "lock"
                | "css"
                | "scss"
                | "html"
                | "sh"
                | "sql"
                | "xml"
                | "cfg"
                | "ini"
                | "vue"
                | "svelte"
                | "ex"
                | "exs"
                | "lua"
                | "csv"
                | "ipynb"
                | "mjs"
                | "cjs"
                | "proto"
                | "tf"
        )
        || text.contains('*')
}

fn restore(run: &mut Run<'_, '_>, parsed: &Parsed<'_>) {
    if parsed.informs() || parsed.on("p", "patch") {
        return;
    }
    let staged = parsed.on("S", "staged");
    let worktree = parsed.on("W", "worktree");
    if staged && !worktree {
        return;
    }
    let paths: Vec<&str> = parsed.operands.iter().map(|arg| arg.text.as_str()).collect();
    if parsed.exact("pathspec-from-file") {
        discard(run, "listed files", R4, "overwrites the work tree with an old version");
    } else if !paths.is_empty() {
        replace_files(run, &paths, staged);
    }
}

fn reset(run: &mut Run<'_, '_>, parsed: &Parsed<'_>) {
    if parsed.informs() {
        return;
    }
    if parsed.has("", "hard") || parsed.has("", "merge") {
        let target = parsed.operands.first().map_or("HEAD", |arg| arg.text.as_str()).to_owned();
        // Commits stay in the log of references.
        let level = if can_take_back(run, &[], true) { R2 } else { R4 };
        discard(run, &target, level, "discards local changes");
    } else if parsed.has("", "keep") {
        discard(run, "HEAD", R3, "moves the branch and its files");
    }
}

fn clean(run: &mut Run<'_, '_>, parsed: &Parsed<'_>) {
    if parsed.informs() || parsed.on("n", "dry-run") || parsed.on("i", "interactive") {
        return;
    }
    let unguarded = run
        .args
        .iter()
        .any(|arg| arg.text.to_ascii_lowercase().replace(' ', "") == "clean.requireforce=false");
    if parsed.on("f", "force") || unguarded {
        let targets: Vec<&str> = parsed.operands.iter().map(|arg| arg.text.as_str()).collect();
        let artefacts = !targets.is_empty()
            && targets.iter().all(|target| run.analyzer.place(target).scope == Scope::TreeArtefact);
        if artefacts {
            run.effect(
                Kind::Delete,
                &targets.join(" "),
                Scope::TreeArtefact,
                R2,
                "deletes regenerable files",
            );
        } else {
            let target =
                if targets.is_empty() { "untracked files".to_owned() } else { targets.join(" ") };
            discard(run, &target, R4, "deletes files that are not under version control");
        }
    }
}

fn remove(run: &mut Run<'_, '_>, parsed: &Parsed<'_>) {
    if parsed.informs() || parsed.on("n", "dry-run") || parsed.on("", "cached") {
        return;
    }
    let targets: Vec<&str> = parsed.operands.iter().map(|arg| arg.text.as_str()).collect();
    let wide = parsed.operands.iter().any(|arg| {
        arg.glob || arg.text.contains('*') || matches!(arg.text.as_str(), "." | "./" | "/" | ":/")
    });
    let forced = parsed.on("f", "force");
    if forced {
        discard(run, &targets.join(" "), R3, "removes files with their local changes");
    } else if wide {
        discard(run, &targets.join(" "), R3, "removes many files");
    }
}

#[cfg(test)]
mod tests {
    use crate::programs::check;

    #[test]
    fn the_work_tree() {
        check(
            &[
                "git reset --hard",
                "git reset --har HEAD~1",
                "git-reset --hard",
                "git -C /repo reset --hard",
                "git clean -fdx",
                "git clean -xdf",
                "git clean --forc",
                "git reset --h",
                "git reset --ha HEAD~1",
                "git clean --dry-run --no-dry-run -f",
                "git clean -n --no-dry-run -f",
                "git clean -fe --help",
                "git checkout --f",
                "git restore --staged --no-staged a",
                "git checkout --pathspec-from-f=list",
                "git worktree remove --f w",
                "git gc --pru=now",
                "git -c clean.requireForce=false clean",
                "git checkout -- .",
                "git checkout HEAD -- a.txt",
                "git checkout main a.txt",
                "git checkout -f",
                "git checkout -qf main",
                "git switch -f x",
                "git switch --discard-changes x",
                "git restore a",
                "git restore -SW a",
                "git restore --staged --worktree .",
                "git stash clear",
                "git checkout .",
                "git worktree remove --force w",
                "git worktree remove --force ../w",
                "git -c alias.x='!rm -rf /' x",
                "git reset --merge",
                "/usr/bin/git reset --hard",
                "FOO=1 git reset --hard",
                "git submodule foreach 'git reset --hard'",
            ],
            &[
                "git stash drop",
                "git rm -f x",
                "git rm --cached --no-cached --force f",
                "git rm --dry-run --no-dry-run -f f",
                "git rm -r .",
                "git checkout src/main.rs",
                "git commit --no-verify -m x",
                "git commit -n -m x",
                "git -c core.sshCommand=./x fetch",
                "git --exec-path=./h show",
            ],
            &[
                "git status",
                "git checkout main",
                "git checkout -b x",
                "git checkout -bfeature",
                "git checkout --conflict merge x",
                "git switch -c x",
                "git restore --staged .",
                "git restore package-lock.json",
                "git checkout HEAD -- web/yarn.lock Cargo.lock",
                "git restore -p a",
                "git reset",
                "git reset --soft HEAD~1",
                "git reset --so HEAD~1",
                "git reset --hard --help",
                "git reset --he",
                "git clean --dry -f",
                "git clean --no-dry-run --dry-run -f",
                "git rm --ca -f x",
                "git restore --st a",
                "git reset -- --hard",
                "git clean -n",
                "git clean -nfd",
                "git clean -fdn",
                "git rm --cached -r .",
                "git rm README.md",
                "git stash",
                "git stash pop",
                "git commit -m 'git reset --hard'",
                "git log --grep='reset --hard'",
                "git help reset",
                "git reset --help",
                "git checkout v1.2.3",
                "git checkout feature/a-b",
                "git -c core.pager=cat log",
                "git commit -F - <<'E'\nrm -rf /\nE",
                "git rm -n -f x",
                "git checkout --orphan gh-pages",
                "cd /tmp/x && git reset --hard",
                "git merge x",
                "git clean -fd build",
                "W=$(mktemp -d); git worktree remove --force \"$W\"",
                "git rebase --abort",
            ],
        );
    }
}
