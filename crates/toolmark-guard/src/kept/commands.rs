//! Git commands in a command line: the repository they work on, and the references they name.

use super::plan::{Discards, paths};
use std::path::{Path, PathBuf};

/// Characters of words whose value is known only at run time.
const DYNAMIC: [char; 8] = ['$', '`', '*', '?', '[', '{', '(', '<'];
/// Subcommands of git that make no commit and no stash that a later command could lose.
const NO_COMMITS: &[&str] = &[
    "checkout",
    "switch",
    "status",
    "log",
    "diff",
    "show",
    "branch",
    "tag",
    "fetch",
    "pull",
    "worktree",
    "remote",
    "rev-parse",
    "rev-list",
    "for-each-ref",
    "show-ref",
    "reflog",
    "stash",
    "update-ref",
    "ls-files",
    "symbolic-ref",
    "merge-base",
    "describe",
];
/// Programs that do nothing to a repository.
const QUIET: &[&str] = &[
    "cd", "echo", "printf", "ls", "pwd", "true", "cat", "head", "tail", "grep", "rg", "wc", "sort",
    "uniq", "sed", "awk", "jq", "tee", "sleep", "date", "test", "[", "set", "rm", "mkdir",
];

/// References to keep before a command.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// Directory in the work tree.
    pub(super) directory: PathBuf,
    /// Names as written, or prefixes that end in a slash.
    pub(super) words: Vec<String>,
    /// Whether stashes are kept.
    pub(super) stashes: bool,
    /// Whether the call depends on it: it is asked about otherwise.
    pub(super) is_needed: bool,
}

impl Wanted {
    /// Whether a word of the command names this reference.
    pub(super) fn names(&self, reference: &str) -> bool {
        self.words.iter().any(|word| match word.strip_suffix('/') {
            Some(_) => reference.starts_with(word.as_str()),
            None => {
                let rest = reference.strip_suffix(word.as_str());
                let starts = ["", "refs/", "refs/heads/", "refs/tags/", "refs/remotes/"];
                rest.is_some_and(|rest| starts.contains(&rest))
            }
        })
    }

    /// Adds the references of another command of the same repository.
    fn add(&mut self, other: Self) -> bool {
        if !self.directory.as_os_str().is_empty() && self.directory != other.directory {
            return false;
        }
        self.directory = other.directory;
        self.words.extend(other.words);
        self.stashes |= other.stashes;
        self.is_needed |= other.is_needed;
        true
    }
}

/// One git command: its directory, its subcommand and the words after it.
#[derive(Debug)]
struct Git<'a> {
    directory: PathBuf,
    sub: &'a str,
    words: Vec<&'a str>,
}

impl<'a> Git<'a> {
    /// Parses one command of a command line that runs in a directory.
    fn parse(own: &'a str, directory: &Path) -> Option<Self> {
        let unquoted = |word: &'a str| word.trim_matches(['\'', '"']);
        let mut words = own.split_ascii_whitespace().map(unquoted);
        words.find(|word| *word == "git" || word.ends_with("/git"))?;
        let mut directory = directory.to_owned();
        loop {
            match words.next()? {
                "-C" => {
                    let [path] = &paths(words.next()?, directory.to_str()?)?[..] else {
                        return None;
                    };
                    directory = path.clone();
                }
                "--no-pager" | "-P" | "--no-optional-locks" => {}
                option if option.starts_with('-') => return None,
                sub => return Some(Self { directory, sub, words: words.collect() }),
            }
        }
    }

    fn has(&self, options: &[&str]) -> bool {
        self.words.iter().any(|word| options.contains(word))
    }

    fn operands(&self) -> impl Iterator<Item = &'a str> {
        self.words.iter().copied().filter(|word| !word.starts_with('-') && !word.starts_with('>'))
    }
}

/// Returns the directory in which the git commands of a command line run; `None` if unknown.
fn directory(command: &str, cwd: &str) -> Option<PathBuf> {
    let elsewhere = ["--git-dir", "--work-tree", "GIT_", "pushd", "--recurse"];
    if elsewhere.iter().any(|word| command.contains(word)) {
        return None;
    }
    let Some(rest) = command.trim_start().strip_prefix("cd ") else {
        return (!command.contains("cd ")).then(|| PathBuf::from(cwd));
    };
    let end = rest.find("&&").into_iter().chain(rest.find([';', '\n'])).min()?;
    let (to, rest) = rest.split_at_checked(end)?;
    let to = to.trim().trim_matches(['\'', '"']);
    let is_plain = !to.contains(DYNAMIC) && !to.contains([' ', '|', '&']) && !to.starts_with('-');
    if !is_plain || rest.contains("cd ") {
        return None;
    }
    paths(to, cwd)?.pop()
}

/// Returns which states of the work tree a git command discards, and in which directory.
pub(super) fn discards(
    span: (usize, usize),
    target: &str,
    command: &str,
    cwd: &str,
) -> Option<(&'static [Discards], PathBuf)> {
    let at = directory(command, cwd)?;
    let own = command.get(span.0..span.1)?;
    let git = Git::parse(own, &at)?;
    // A command before it may have added files that git does not know yet.
    let is_alone = own.trim() == command.trim();
    let discards: &[Discards] = match git.sub {
        "clean" if is_alone => &[Discards::Untracked],
        "restore" if is_alone => &[Discards::Changes],
        "reset" if is_alone && target == "HEAD" => &[Discards::Changes],
        "checkout" if is_alone && target != "the work tree" => &[Discards::Changes],
        // The files of another commit replace those of the same name that git does not know.
        "reset" | "checkout" | "restore" | "switch" | "clean" => {
            &[Discards::Changes, Discards::Untracked]
        }
        _ => return None,
    };
    Some((discards, git.directory))
}

/// Returns the work tree that `git worktree remove` removes.
pub(super) fn removed_tree(span: (usize, usize), command: &str, cwd: &str) -> Option<PathBuf> {
    let git = Git::parse(command.get(span.0..span.1)?, &directory(command, cwd)?)?;
    let mut operands = git.operands();
    let (verb, path) = (operands.next()?, operands.next()?);
    if git.sub != "worktree" || verb != "remove" || path.contains(DYNAMIC) {
        return None;
    }
    paths(path, git.directory.to_str()?)?.pop()
}

/// Adds the references that a command deletes or moves; false if they are not known.
pub(super) fn add_refs(
    wanted: &mut Wanted,
    span: (usize, usize),
    command: &str,
    cwd: &str,
) -> bool {
    let found = || {
        let own = command.get(span.0..span.1)?;
        let git = Git::parse(own, &directory(command, cwd)?)?;
        let found = refs_of(&git)?;
        let is_last = commands(command).all(|other| other.contains(own.trim()) || is_quiet(other));
        is_last.then_some(Wanted { is_needed: true, ..found })
    };
    found().is_some_and(|found| wanted.add(found))
}

/// Returns the references that a git command may lose.
fn refs_of(git: &Git<'_>) -> Option<Wanted> {
    let names = || git.operands().map(str::to_owned).collect::<Vec<_>>();
    let is_dynamic = git.words.iter().any(|word| word.contains(DYNAMIC));
    let words = match git.sub {
        // All stashes are kept, whichever is named.
        "stash" => {
            let stashes = matches!(git.operands().next(), Some("drop" | "clear"));
            let directory = git.directory.clone();
            return stashes.then(|| Wanted { directory, stashes, ..Wanted::default() });
        }
        _ if is_dynamic => return None,
        "branch" | "tag" => names(),
        "update-ref" if !git.has(&["--stdin"]) => names().into_iter().take(1).collect(),
        "checkout" | "switch" if git.has(&["-B", "-C", "--force-create"]) => {
            names().into_iter().take(1).collect()
        }
        "notes" => vec!["refs/notes/".to_owned()],
        "replace" => vec!["refs/replace/".to_owned()],
        _ => return None,
    };
    Some(Wanted { directory: git.directory.clone(), words, ..Wanted::default() })
}

/// Returns the references that a command line moves although it is not asked about, and whether it
/// moves the branch that is checked out.
pub(super) fn moves(command: &str, cwd: &str) -> Option<(Wanted, bool)> {
    if !command.contains("git") {
        return None;
    }
    let mut found: Option<(Wanted, bool)> = None;
    for own in commands(command) {
        let is_moving = ["-B", "-C", "create", "update-ref", "--hard"];
        if !own.contains("git") || !is_moving.iter().any(|word| own.contains(word)) {
            continue;
        }
        let Some(git) = directory(command, cwd).and_then(|at| Git::parse(own, &at)) else {
            continue;
        };
        let resets = git.sub == "reset" && git.has(&["--hard"]);
        let resets = resets && git.operands().any(|word| word != "HEAD");
        let checks_out =
            matches!(git.sub, "checkout" | "switch") && git.has(&["-B", "-C", "--force-create"]);
        let wanted = match () {
            () if resets => Wanted { directory: git.directory.clone(), ..Wanted::default() },
            () if checks_out || git.sub == "update-ref" => refs_of(&git)?,
            () => continue,
        };
        let (known, moves) = found.get_or_insert_default();
        known.add(wanted);
        *moves |= resets || checks_out;
    }
    found
}

/// Returns the files that a command line links to before it does something else: what is written to
/// the link changes them.
pub(super) fn linked(command: &str, cwd: &str) -> Vec<PathBuf> {
    if !command.contains("ln ") {
        return Vec::new();
    }
    let links = commands(command).filter_map(|own| own.strip_prefix("ln "));
    let words = links.flat_map(str::split_ascii_whitespace);
    let words = words.map(|word| word.trim_matches(['\'', '"']));
    let found = words.filter(|word| !word.starts_with('-') && !word.contains(DYNAMIC));
    found
        .flat_map(|word| paths(word, cwd).unwrap_or_default())
        .filter(|path| path.is_file())
        .collect()
}

/// Returns the commands of a command line. Quotes are not looked at: a part of a text is then taken
/// for a command.
fn commands(line: &str) -> impl Iterator<Item = &str> {
    line.split(['\n', ';', '|', '&']).map(str::trim).filter(|own| !own.is_empty())
}

/// Whether a command makes neither commits nor stashes.
fn is_quiet(own: &str) -> bool {
    match Git::parse(own, Path::new("/")) {
        Some(git) if own.starts_with("git ") => {
            let verb = git.operands().next();
            let pushes = git.sub == "stash"
                && !matches!(verb, Some("drop" | "clear" | "list" | "show" | "apply"));
            NO_COMMITS.contains(&git.sub) && !pushes
        }
        _ => own.split_ascii_whitespace().next().is_some_and(|name| {
            // What is left of a redirection such as `2>&1`.
            QUIET.contains(&name) || name.bytes().all(|byte| byte.is_ascii_digit())
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(command: &str) -> Option<(String, Vec<String>, bool)> {
        let start = command.rfind("git").unwrap();
        let mut wanted = Wanted::default();
        let is_known = add_refs(&mut wanted, (start, command.len()), command, "/w");
        is_known.then(|| (wanted.directory.display().to_string(), wanted.words, wanted.stashes))
    }

    #[test]
    fn references_of_commands() {
        for (command, want) in [
            ("git branch -D a b", Some(("/w", &["a", "b"][..], false))),
            ("cd x && git tag -d v1", Some(("/w/x", &["v1"], false))),
            ("git checkout main && git branch -D a", Some(("/w", &["a"], false))),
            ("git -C ../r branch -D a", Some(("/r", &["a"], false))),
            ("git update-ref refs/heads/a HEAD~1", Some(("/w", &["refs/heads/a"], false))),
            ("git stash drop stash@{1}", Some(("/w", &[], true))),
            ("git stash clear", Some(("/w", &[], true))),
            ("git stash && git stash drop", None),
            ("git commit -m x && git branch -D a", None),
            ("./run.sh; git branch -D a", None),
            ("git branch -D $X", None),
            ("git -c a.b=c branch -D a", None),
            ("pushd x; git branch -D a", None),
            ("git update-ref --stdin", None),
        ] {
            let want = want.map(|(at, words, stashes)| {
                (at.to_owned(), words.iter().map(|word| (*word).to_owned()).collect(), stashes)
            });
            assert_eq!(wanted(command), want, "{command}");
        }
    }

    #[test]
    fn commands_that_move_a_branch() {
        for (command, want) in [
            ("git reset --hard origin/main", Some((0, true))),
            ("git reset --hard HEAD", None),
            ("git reset HEAD a.rs", None),
            ("git checkout -B a main", Some((1, true))),
            ("git checkout -b a main", None),
            ("git update-ref refs/heads/a HEAD", Some((1, false))),
            ("ls", None),
        ] {
            let found = moves(command, "/w").map(|(wanted, moves)| (wanted.words.len(), moves));
            assert_eq!(found, want, "{command}");
        }
    }

    #[test]
    fn names_of_references() {
        let words = ["a", "origin/b", "refs/notes/"].map(str::to_owned).to_vec();
        let wanted = Wanted { words, ..Wanted::default() };
        for (name, want) in [
            ("refs/heads/a", true),
            ("refs/tags/a", true),
            ("refs/heads/x/a", false),
            ("refs/heads/ba", false),
            ("refs/remotes/origin/b", true),
            ("refs/heads/b", false),
            ("refs/notes/commits", true),
        ] {
            assert_eq!(wanted.names(name), want, "{name}");
        }
    }
}
