//! `git`: commands that change the work tree and the index.
//!
//! ```denied
//! git reset --hard
//! git reset --h
//! git reset --ha HEAD~1
//! git reset --merge
//! git reset --soft --hard
//! git clean -fdx
//! git clean --forc
//! git clean --dry-run --no-dry-run -f
//! git clean -n --no-dry-run -f
//! git clean -fe --help
//! git checkout -- .
//! git checkout .
//! git checkout HEAD -- a.txt
//! git checkout main a.txt
//! git checkout -f
//! git checkout --f
//! git checkout -qf main
//! git checkout -tf main
//! git checkout --pathspec-from-f=list
//! git switch -f x
//! git switch --discard-changes x
//! git restore a
//! git restore -SW a
//! git restore --staged --worktree .
//! git restore --staged --no-staged a
//! git stash clear
//! git worktree remove --force w
//! git worktree remove --f ../w
//! git worktree remove -fa /tmp/wt
//! git submodule foreach 'git reset --hard'
//! git show HEAD:src/a.rs > src/a.rs
//! cd src && git cat-file -p HEAD:src/a.rs > a.rs
//! git show main:notes.md | tee notes.md
//! ```
//! ```asked
//! git stash drop
//! git rm -f x
//! git rm -r .
//! git rm --cached --no-cached --force f
//! git rm --dry-run --no-dry-run -f f
//! git checkout src/main.rs
//! git checkout -B main HEAD~3
//! git switch -C main HEAD~3
//! ```
//! ```allowed
//! git checkout main
//! git checkout -b x
//! git checkout -bfeature
//! git checkout -B topic
//! git checkout --conflict merge x
//! git checkout --inter-hunk-context 3 main
//! git checkout v1.2.3
//! git checkout feature/a-b
//! git checkout --orphan gh-pages
//! git checkout HEAD -- web/yarn.lock Cargo.lock
//! git switch -c x
//! git restore --staged .
//! git restore --st a
//! git restore --no-worktree a
//! git restore a -h
//! git restore package-lock.json
//! git restore -p a
//! git reset
//! git reset --soft HEAD~1
//! git reset --so HEAD~1
//! git reset --hard --soft HEAD~1
//! git reset --he
//! git reset -- --hard
//! git reset --hard --help
//! git clean -n
//! git clean -nfd
//! git clean --dry -f
//! git clean --no-dry-run --dry-run -f
//! git clean -fd build
//! git rm --ca -f x
//! git rm --cached -r .
//! git rm -n -f x
//! git rm README.md
//! git stash
//! git stash pop
//! git show HEAD:src/a.rs > /tmp/a.rs
//! cd /tmp/x && git reset --hard
//! W=$(mktemp -d); git worktree remove --force "$W"
//! ```

use super::{GIT, command, discard, effects, settings};
use crate::effects::{Certainty, EffectKind, EffectScope, Reversibility};
use crate::left::is_shared_branch;
use crate::options::ParsedOptions;
use crate::program::EffectTarget::Words;
use crate::program::{Program, Syntax, always, on};
use crate::run::CommandRun;
use Reversibility::{R2, R3, R4};

pub(crate) static PROGRAMS: &[Program] = &[
    command(
        "git reset",
        "q/quiet mixed! soft! hard! merge! keep! recurse-submodules=? p/patch N/intent-to-add \
         pathspec-from-file= pathspec-file-nul refresh U/unified= inter-hunk-context=",
        Some(reset),
    ),
    command("git clean", "d x X q/quiet n/dry-run f/force i/interactive e/exclude=!", Some(clean)),
    command(
        "git rm",
        "r n/dry-run q/quiet cached f/force ignore-unmatch sparse pathspec-from-file= \
         pathspec-file-nul",
        Some(remove),
    ),
    command(
        "git checkout",
        "b= B= l guess overlay q/quiet recurse-submodules=? progress m/merge conflict= d/detach \
         t/track f/force orphan= overwrite-ignore ignore-other-worktrees 2/ours! 3/theirs! \
         p/patch ignore-skip-worktree-bits pathspec-from-file= pathspec-file-nul U/unified= \
         inter-hunk-context=",
        Some(checkout),
    ),
    command(
        "git restore",
        "s/source= S/staged W/worktree ignore-unmerged overlay q/quiet recurse-submodules=? \
         progress m/merge conflict= 2/ours! 3/theirs! p/patch ignore-skip-worktree-bits \
         pathspec-from-file= pathspec-file-nul U/unified= inter-hunk-context=",
        Some(restore),
    ),
    command(
        "git switch",
        "c/create= C/force-create= guess discard-changes q/quiet recurse-submodules=? progress \
         m/merge conflict= d/detach t/track f/force orphan= overwrite-ignore \
         ignore-other-worktrees",
        Some(switch),
    ),
    // A stash of the session's own holds what was not committed before it, too.
    effects(
        "git stash drop",
        "q/quiet",
        &[always().to(Words("a stash")).discards(R3, "drops stashed work")],
    ),
    effects(
        "git stash clear",
        "",
        &[always().to(Words("all stashes")).discards(R4, "drops all stashed work")],
    ),
    command("git worktree remove", "f/force", Some(remove_tree)),
    command(
        "git worktree add",
        "b= B= f/force orphan d/detach checkout lock reason= q/quiet track guess-remote \
         relative-paths",
        Some(made),
    ),
    command(
        "git init",
        "template= bare shared=?! q/quiet separate-git-dir= b/initial-branch= object-format= \
         ref-format=",
        Some(made),
    ),
    effects(
        "git submodule deinit",
        "f/force all q/quiet",
        &[on("force").to(Words("a submodule")).discards(R4, "discards changes in a submodule")],
    ),
    effects(
        "git submodule update",
        "f/force i/init N/no-fetch! remote checkout merge rebase recursive q/quiet progress \
         reference= depth= j/jobs= single-branch filter= recommend-shallow",
        &[on("force").to(Words("submodules")).discards(R3, "discards changes in submodules")],
    ),
    Program {
        names: "git submodule foreach",
        syntax: Syntax::GitScript,
        options: "q/quiet recursive",
        code: Some(foreach),
        ..GIT
    },
    command(
        "git apply",
        "p= z C= exclude=! include=! stat allow-binary-replacement binary numstat summary check \
         index N/intent-to-add cached unsafe-paths apply 3/3way ours! theirs! union! \
         build-fake-ancestor= whitespace= ignore-space-change ignore-whitespace R/reverse \
         unidiff-zero reject allow-overlap v/verbose q/quiet inaccurate-eof recount directory= \
         allow-empty add",
        Some(apply_patch),
    ),
    effects(
        "git checkout-index",
        "z a/all ignore-skip-worktree-bits f/force q/quiet u/index stdin temp=? prefix= stage=! \
         create n/no-create!",
        &[on("force")
            .to(Words("the work tree"))
            .discards(R4, "overwrites the work tree with the index")],
    ),
    effects(
        "git read-tree",
        "m u i super-prefix= index-output=! empty v/verbose trivial aggressive reset prefix=! \
         exclude-per-directory=! n/dry-run debug-unpack recurse-submodules=? q/quiet \
         sparse-checkout",
        &[on("reset")
            .with("u")
            .unless("dry-run")
            .to(Words("the work tree"))
            .discards(R4, "overwrites the work tree with a tree")],
    ),
    Program { names: "git mv", options: "k v/verbose n/dry-run f/force sparse", ..GIT },
    Program {
        names: "git annex drop|git annex dropunused|git annex uninit",
        options: "force fast all auto from= key= in=",
        is_open: true,
        effects: &[always()
            .unless("dry-run")
            .to(Words("large files"))
            .discards(R3, "removes local copies of large files")],
        ..GIT
    },
    effects(
        "git lfs prune",
        "d/dry-run v/verbose force f verify-remote c/verify-remote! recent when-unverified=",
        &[always()
            .unless("dry-run")
            .to(Words("large files"))
            .discards(R3, "removes local copies of large files")],
    ),
];

fn foreach(run: &mut CommandRun<'_, '_>, parsed: &ParsedOptions<'_>) {
    run.shell_text(&parsed.words().join(" "));
}

/// Remembers the directories that `git init` and `git worktree add` make.
fn made(run: &mut CommandRun<'_, '_>, parsed: &ParsedOptions<'_>) {
    if let Some(path) = parsed.operands.first().filter(|arg| !arg.dynamic) {
        let path = run.analyzer.place(&path.text).path;
        run.analyzer.left.make(&path);
    }
}

fn apply_patch(run: &mut CommandRun<'_, '_>, parsed: &ParsedOptions<'_>) {
    // A patch that is made of the work tree and taken off again is all that changed in it.
    let is_made =
        parsed.operands.iter().all(|arg| arg.text == "-" || arg.text.contains("/dev/fd/"));
    if parsed.has("", "reverse") && is_made && !parsed.any("check stat numstat summary") {
        discard(run, "the work tree", R4, "takes off what a patch adds");
    }
}

/// Reports a shared branch being moved to another commit: `git checkout -B main HEAD~3`.
fn moves_branch(run: &mut CommandRun<'_, '_>, name: Option<&str>, parsed: &ParsedOptions<'_>) {
    let to = parsed.operands.first().map(|arg| arg.text.as_str());
    // The branch of the same name at a remote is where it belongs.
    let is_remote = |to: &str| name.is_some_and(|name| to.ends_with(&format!("/{name}")));
    if let Some(name) = name.filter(|name| is_shared_branch(name))
        && to.is_some_and(|to| !is_remote(to))
    {
        discard(run, name, R3, "moves a branch to another commit");
    }
}

fn switch(run: &mut CommandRun<'_, '_>, parsed: &ParsedOptions<'_>) {
    if parsed.any("force discard-changes") {
        return discard(run, "the work tree", R4, "discards local changes");
    }
    moves_branch(run, parsed.value("", "force-create"), parsed);
}

fn remove_tree(run: &mut CommandRun<'_, '_>, parsed: &ParsedOptions<'_>) {
    // One that was made for the moment goes with it.
    let passes = parsed.operands.iter().any(|arg| arg.temporary) || is_own_tree(run, parsed);
    if parsed.has("", "force") && !passes {
        let target = parsed.operands.first().map_or("", |arg| arg.text.as_str());
        run.effect(
            EffectKind::DiscardVcs,
            target,
            EffectScope::TreeTracked,
            R4,
            "removes a work tree with its changes",
        );
    }
}

/// Whether files of the work tree may be replaced because the session changed them itself, or
/// because they are unchanged in version control.
fn can_take_back(run: &CommandRun<'_, '_>, paths: &[&str], staged: bool) -> bool {
    let is_one = |path: &str| !path.contains(['*', '?', '[']) && !matches!(path, "." | "./" | ":/");
    let is_made_anew = |path: &str| {
        is_one(path)
            && (is_lock(path) || run.analyzer.place(path).scope == EffectScope::TreeArtefact)
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
pub(crate) fn replace_files(run: &mut CommandRun<'_, '_>, paths: &[&str], staged: bool) {
    let level = if can_take_back(run, paths, staged) { R2 } else { R4 };
    discard(run, &paths.join(" "), level, "overwrites the work tree with an old version");
}

/// Whether the session made the work tree that `git worktree remove` names.
fn is_own_tree(run: &CommandRun<'_, '_>, parsed: &ParsedOptions<'_>) -> bool {
    let facts = run.analyzer.context.facts;
    !parsed.operands.is_empty()
        && parsed.operands.iter().all(|arg| {
            let path = run.analyzer.place(&arg.text).path;
            let is_made = run.analyzer.left.made.contains(&path);
            !arg.dynamic && (is_made || facts.is_some_and(|facts| facts.made(&path)))
        })
}

fn checkout(run: &mut CommandRun<'_, '_>, parsed: &ParsedOptions<'_>) {
    if parsed.on("p", "patch") {
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
        return moves_branch(run, parsed.value("B", ""), parsed);
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
    let dashes_last = parsed.before_dashes == Some(operands.len());
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
                EffectKind::DiscardVcs,
                text,
                EffectScope::TreeTracked,
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

fn restore(run: &mut CommandRun<'_, '_>, parsed: &ParsedOptions<'_>) {
    let worktree = match parsed.has("", "staged") {
        true => parsed.has("", "worktree"),
        false => !parsed.off("worktree"),
    };
    if !worktree || parsed.has("", "patch") {
        return;
    }
    let staged = parsed.has("", "staged");
    let paths = parsed.words();
    if parsed.exact("pathspec-from-file") {
        discard(run, "listed files", R4, "overwrites the work tree with an old version");
    } else if !paths.is_empty() {
        replace_files(run, &paths, staged);
    }
}

fn reset(run: &mut CommandRun<'_, '_>, parsed: &ParsedOptions<'_>) {
    // The last mode counts.
    let is_mode = |name| matches!(name, "soft" | "mixed" | "hard" | "merge" | "keep");
    let mode = parsed.options.iter().rev().find(|given| is_mode(given.name) && !given.negated);
    let mode = mode.map_or("", |given| given.name);
    if matches!(mode, "hard" | "merge") {
        let target = parsed.operands.first().map_or("HEAD", |arg| arg.text.as_str()).to_owned();
        // Commits stay in the log of references.
        let level = if can_take_back(run, &[], true) { R2 } else { R4 };
        discard(run, &target, level, "discards local changes");
    } else if mode == "keep" {
        discard(run, "HEAD", R3, "moves the branch and its files");
    }
}

fn clean(run: &mut CommandRun<'_, '_>, parsed: &ParsedOptions<'_>) {
    if parsed.on("n", "dry-run") || parsed.on("i", "interactive") {
        return;
    }
    let unguarded = settings::is_off(run, "clean.requireforce");
    if parsed.on("f", "force") || unguarded {
        let targets: Vec<&str> = parsed.operands.iter().map(|arg| arg.text.as_str()).collect();
        let artefacts = !targets.is_empty()
            && targets
                .iter()
                .all(|target| run.analyzer.place(target).scope == EffectScope::TreeArtefact);
        if artefacts {
            run.effect(
                EffectKind::Delete,
                &targets.join(" "),
                EffectScope::TreeArtefact,
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

fn remove(run: &mut CommandRun<'_, '_>, parsed: &ParsedOptions<'_>) {
    if parsed.on("n", "dry-run") || parsed.on("", "cached") {
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
