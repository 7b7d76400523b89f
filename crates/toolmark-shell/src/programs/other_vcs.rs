//! Version control systems other than git. One row per command that loses work: the program, the
//! words it begins with, an option required for the loss, and the effect.
//!
//! ```denied
//! hg strip -r 0 --no-backup
//! hg --config extensions.strip= strip tip
//! hg update -C tip
//! hg purge --all
//! jj op abandon ..@-
//! jj git push --deleted --all
//! fossil clean -f
//! p4 obliterate -y //depot/...
//! cvs update -C
//! sl goto --clean main
//! darcs obliterate --all
//! ```
//! ```asked
//! hg revert --all
//! svn revert -R .
//! svn delete https://h/repo/trunk
//! jj abandon 'mutable()'
//! jj op restore @-
//! p4 revert //...
//! ```
//! ```allowed
//! hg status
//! hg pull -u
//! svn rm old.txt
//! svn update
//! hg strip --help
//! jj git push -b feature
//! jj op log
//! jj new
//! p4 sync
//! fossil commit -m x
//! ```

use super::git::discard;
use crate::effects::{EffectKind, EffectScope, Reversibility};
use crate::expand::Arg;
use crate::lookup::{NameLookup, column};
use crate::run::CommandRun;
use Reversibility::{R3, R4, R5};

/// A command that loses work.
struct VcsCommandRow {
    programs: &'static [&'static str],
    /// Words of the command, each with its aliases.
    words: &'static [&'static [&'static str]],
    /// Options of which one is required for the loss; empty means that the command always loses
    /// work.
    options: &'static [&'static str],
    level: Reversibility,
    why: &'static str,
}

const HG: &[&str] = &["hg", "sl", "chg"];
const BZR: &[&str] = &["bzr", "brz"];

macro_rules! row {
    ($programs:expr, [$($words:expr),*], [$($option:literal),*], $level:ident, $why:literal) => {
        VcsCommandRow { programs: $programs, words: &[$(&$words),*], options: &[$($option),*], level: $level, why: $why }
    };
}

const ROWS: &[VcsCommandRow] = &[
    // Mercurial and Sapling
    row!(HG, [["strip", "debugstrip"]], [], R4, "removes commits"),
    row!(HG, [["prune", "hide", "obsolete", "undo"]], [], R3, "hides commits"),
    row!(HG, [["purge", "clean"]], [], R4, "deletes untracked files"),
    row!(
        HG,
        [["update", "up", "checkout", "co", "goto", "go"]],
        ["-C", "--clean"],
        R4,
        "discards local changes"
    ),
    row!(HG, [["revert"]], [], R3, "discards local changes"),
    row!(HG, [["rollback", "uncommit"]], [], R3, "removes the last commit"),
    row!(HG, [["histedit"]], [], R3, "rewrites commits"),
    row!(HG, [["shelve", "unshelve"]], ["-d", "--delete", "--cleanup"], R3, "drops shelved work"),
    row!(HG, [["push"]], ["-f", "--force"], R5, "overwrites the history of a remote"),
    // Subversion
    row!(&["svn"], [["revert"]], [], R3, "discards local changes"),
    row!(
        &["svn"],
        [["cleanup"]],
        ["--remove-unversioned", "--remove-ignored"],
        R4,
        "deletes untracked files"
    ),
    row!(&["svn"], [["switch", "sw", "update", "up"]], ["--force"], R3, "replaces local files"),
    row!(&["svn"], [["delete", "del", "rm", "remove"]], ["--force"], R3, "deletes local changes"),
    row!(
        &["svnadmin"],
        [["setrevprop", "rmlocks", "rmtxns", "recover"]],
        [],
        R4,
        "changes recorded history"
    ),
    // Jujutsu
    row!(&["jj"], [["abandon"]], [], R3, "abandons commits"),
    row!(&["jj"], [["restore"]], [], R3, "discards changes"),
    row!(&["jj"], [["undo"]], [], R3, "takes back operations"),
    row!(
        &["jj"],
        [["op", "operation"], ["restore", "revert", "undo"]],
        [],
        R3,
        "takes back operations"
    ),
    row!(
        &["jj"],
        [["op", "operation"], ["abandon"]],
        [],
        R4,
        "drops the log that undoes operations"
    ),
    row!(&["jj"], [["util"], ["gc"]], [], R3, "drops unreferenced commits"),
    row!(
        &["jj"],
        [["bookmark", "b", "tag"], ["delete", "d", "forget", "f"]],
        [],
        R3,
        "deletes a bookmark"
    ),
    row!(&["jj"], [["workspace"], ["forget"]], [], R3, "forgets a workspace"),
    row!(
        &["jj"],
        [["git"], ["push"]],
        ["--deleted", "--all", "-d"],
        R5,
        "replaces or deletes the branches of a remote"
    ),
    // Fossil
    row!(&["fossil"], [["revert"]], [], R3, "discards local changes"),
    row!(&["fossil"], [["clean"]], [], R4, "deletes untracked files"),
    row!(&["fossil"], [["purge", "scrub", "shun"]], [], R4, "removes recorded history"),
    row!(&["fossil"], [["update", "checkout", "co"]], ["--force"], R4, "discards local changes"),
    // Perforce
    row!(&["p4"], [["revert"]], [], R3, "discards local changes"),
    row!(&["p4"], [["clean"]], [], R4, "discards local changes"),
    row!(&["p4"], [["sync", "update"]], ["-f"], R4, "discards local changes"),
    row!(&["p4"], [["obliterate"]], ["-y"], R5, "removes recorded history"),
    row!(&["p4"], [["delete"]], [], R3, "deletes files of the depot"),
    row!(
        &["p4"],
        [["client", "workspace", "branch", "label", "user", "depot"]],
        ["-d", "-df", "-f"],
        R4,
        "deletes a specification"
    ),
    // Bazaar, Darcs, CVS, Pijul, Plastic
    row!(BZR, [["revert"]], ["--no-backup"], R4, "discards local changes"),
    row!(BZR, [["revert"]], [], R3, "discards local changes"),
    row!(BZR, [["uncommit"]], [], R3, "removes the last commit"),
    row!(BZR, [["clean-tree"]], [], R4, "deletes untracked files"),
    row!(BZR, [["push"]], ["--overwrite"], R5, "overwrites the history of a remote"),
    row!(&["darcs"], [["obliterate", "unpull", "unrecord"]], [], R4, "removes recorded history"),
    row!(&["darcs"], [["revert", "clean"]], [], R3, "discards local changes"),
    row!(&["cvs"], [["update", "up"]], ["-C"], R4, "discards local changes"),
    row!(&["cvs"], [["remove", "rm", "delete"]], ["-f"], R3, "deletes files"),
    row!(&["pijul"], [["reset", "unrecord"]], [], R4, "discards local changes"),
    row!(&["cm"], [["undo", "undochange"]], [], R3, "discards local changes"),
];

const PROGRAMS: [&[&str]; ROWS.len()] = column!(ROWS.programs, &[] as &[&str]);
static KNOWN: NameLookup<64> = NameLookup::new(&PROGRAMS);

/// Returns the names of the programs.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    KNOWN.names()
}

pub(super) fn knows(name: &str) -> bool {
    KNOWN.has(name)
}

/// Whether an option before the command takes a value.
fn takes_value(option: &str) -> bool {
    matches!(
        option,
        "--config"
            | "--cwd"
            | "-R"
            | "--repository"
            | "--at-op"
            | "--at-operation"
            | "-c"
            | "-p"
            | "--color"
            | "-u"
    )
}

/// Splits the words of a command from its options, which are returned by name.
fn parse(args: &[Arg]) -> (Vec<&str>, Vec<&str>) {
    let (mut words, mut options) = (Vec::new(), Vec::new());
    let mut args = args.iter().map(|arg| arg.text.as_str());
    while let Some(text) = args.next() {
        if text.starts_with('-') && text.len() > 1 {
            options.push(text.split('=').next().unwrap_or(text));
            if words.is_empty() && takes_value(text) {
                args.next();
            }
        } else {
            words.push(text);
        }
    }
    (words, options)
}

/// Whether one of a row's options is given. Single letters may be clustered, and long names may be
/// abbreviated.
fn has_option(row: &VcsCommandRow, options: &[&str]) -> bool {
    options.iter().any(|given| {
        row.options.iter().any(|option| match option.strip_prefix("--") {
            Some(long) => given
                .strip_prefix("--")
                .is_some_and(|own| own == long || own.len() > 3 && long.starts_with(own)),
            None => {
                !given.starts_with("--")
                    && option.strip_prefix('-').is_some_and(|letter| given.contains(letter))
            }
        })
    })
}

pub(super) fn run(run: &mut CommandRun<'_, '_>) {
    let (words, options) = parse(run.args);
    let rehearses =
        |option: &&str| matches!(*option, "-n" | "--dry-run" | "--help" | "-h" | "--print");
    if options.iter().any(rehearses) && words.first() != Some(&"abandon") {
        return;
    }
    let target = words.join(" ");
    let begins = |row: &&VcsCommandRow| {
        row.programs.contains(&run.name)
            && row
                .words
                .iter()
                .enumerate()
                .all(|(at, names)| words.get(at).is_some_and(|word| names.contains(word)))
    };
    let found = ROWS
        .iter()
        .filter(begins)
        .filter(|row| row.options.is_empty() || has_option(row, &options))
        .max_by_key(|row| row.level);
    match found {
        Some(row) if row.level == R5 => run.remote(&target, row.why),
        Some(row) => discard(run, &target, row.level, row.why),
        // A deletion by address takes effect at once.
        None if matches!(
            words.first(),
            Some(&("delete" | "del" | "rm" | "remove" | "mv" | "move"))
        ) && words.iter().any(|word| word.contains("://")) =>
        {
            run.ask(
                EffectKind::RemoteState,
                &target,
                EffectScope::Remote,
                "deletes in the repository",
            );
        }
        None => {}
    }
}
