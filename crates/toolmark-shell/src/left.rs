//! What a command line leaves behind for the commands after it: files it makes, branches
//! it works on, programs it copies. Whoever keeps it can tell later what a session may
//! take back, and what it runs that it wrote itself.

use crate::context::Command;
use crate::expand::Arg;
use serde::{Deserialize, Serialize};

/// So many of each kind are kept.
const MAX_EACH: usize = 64;

/// What one command line leaves behind. Paths are absolute.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Left {
    /// Files and directories that it writes or makes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub made: Vec<String>,
    /// Files that it changes and that were there before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// Files whose changes it shows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<String>,
    /// Where it moves or links to something that it did not make.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub brought: Vec<String>,
    /// Branches that it makes or pushes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub branches: Vec<String>,
    /// The branch that it checks out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// Where it commits to the branch that is checked out, or pushes it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<String>,
    /// How many stashes it makes, less those it takes away.
    #[serde(skip_serializing_if = "is_zero")]
    pub stashes: i32,
    /// Programs that it starts in the background, with their arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub started: Vec<String>,
    /// Programs that it puts under another name: where, and which.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<(String, String)>,
    /// Files that it downloads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub downloads: Vec<String>,
    /// Files that it puts a secret into.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(number: &i32) -> bool {
    *number == 0
}

impl Left {
    /// Is there anything?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn make(&mut self, path: &str) {
        add(&mut self.made, path);
    }

    pub(crate) fn show(&mut self, path: &str) {
        add(&mut self.shown, path);
    }

    pub(crate) fn change(&mut self, path: &str) {
        add(&mut self.changed, path);
    }

    /// Was something moved or linked to this path, below it or above it?
    pub(crate) fn has_brought(&self, path: &str) -> bool {
        self.brought.iter().any(|other| is_below(other, path) || is_below(path, other))
    }

    pub(crate) fn bring(&mut self, path: &str) {
        add(&mut self.brought, path);
    }

    pub(crate) fn branch(&mut self, name: &str) {
        add(&mut self.branches, name);
    }

    /// A program runs on when the command line has ended.
    pub fn start(&mut self, command: &Command) {
        /// So much of a command line is kept.
        const LONGEST: usize = 200;
        let words = command.args.iter().map(|arg| arg.text.as_str());
        let words = std::iter::once(command.program.as_str()).chain(words);
        let line: String = words.collect::<Vec<_>>().join(" ").chars().take(LONGEST).collect();
        add(&mut self.started, &line);
    }

    pub(crate) fn program(&mut self, path: &str, name: &str) {
        if self.programs.len() < MAX_EACH {
            self.programs.push((path.to_owned(), name.to_owned()));
        }
    }

    /// What `git SUB …` does to branches and stashes.
    pub(crate) fn git(&mut self, sub: &str, args: &[Arg], at: Option<&str>) {
        let at = at.unwrap_or("");
        let words: Vec<&str> =
            args.iter().filter(|arg| !arg.dynamic).map(|arg| arg.text.as_str()).collect();
        let after = |flags: &[&str]| {
            let at = words.iter().position(|word| flags.contains(word))?;
            words.get(at + 1).copied()
        };
        let operands: Vec<&str> =
            words.iter().copied().filter(|word| !word.starts_with('-')).collect();
        match sub {
            "checkout" | "switch" => {
                let made = after(&["-b", "-B", "-c", "-C", "--create", "--orphan"]);
                if let Some(name) = made {
                    self.branch(name);
                }
                let only = match operands[..] {
                    [name] if !words.contains(&"--") => Some(name),
                    _ => None,
                };
                self.head = made.or(only).map(str::to_owned).or(self.head.take());
            }
            "worktree" => after(&["-b", "-B"]).into_iter().for_each(|name| self.branch(name)),
            "branch" if operands.len() == words.len() => {
                operands.first().into_iter().for_each(|name| self.branch(name));
            }
            "commit" | "rebase" | "cherry-pick" | "am" | "revert" | "merge" => {
                add(&mut self.commits, at);
            }
            "push" => {
                let is_plain = |word: &&str| {
                    let is_force = word.starts_with("--f") || *word == "-f" || *word == "-d";
                    !is_force && !word.starts_with("--del") && !word.starts_with("--mir")
                };
                if !words.iter().all(is_plain) {
                    return;
                }
                if operands.len() < 2 {
                    add(&mut self.commits, at);
                }
                for name in operands.iter().skip(1).filter(|name| !name.starts_with([':', '+'])) {
                    let name = name.rsplit(':').next().unwrap_or(name);
                    match name {
                        "HEAD" => add(&mut self.commits, at),
                        name => self.branch(name.strip_prefix("refs/heads/").unwrap_or(name)),
                    }
                }
            }
            "stash" => match operands.first().copied() {
                None | Some("push" | "save") => self.stashes += 1,
                Some("pop" | "drop") => self.stashes -= 1,
                _ => {}
            },
            _ => {}
        }
    }
}

fn is_below(path: &str, directory: &str) -> bool {
    let directory = directory.trim_end_matches('/');
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn add(list: &mut Vec<String>, text: &str) {
    if list.len() < MAX_EACH && !list.iter().any(|known| known == text) {
        list.push(text.to_owned());
    }
}

/// Is it a branch that others work on too, by its name?
#[must_use]
pub fn is_shared_branch(name: &str) -> bool {
    let first = name.split(['/', '-', '_']).next().unwrap_or(name);
    matches!(
        name,
        "main"
            | "master"
            | "develop"
            | "development"
            | "dev"
            | "trunk"
            | "next"
            | "stable"
            | "staging"
            | "production"
            | "prod"
            | "gh-pages"
            | "HEAD"
    ) || matches!(first, "release" | "releases" | "hotfix" | "stable")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Context, analyze};

    fn left(command: &str) -> Left {
        let context = Context { cwd: Some("/w"), ..Context::default() };
        analyze(command, &context).left
    }

    #[test]
    fn files() {
        for (command, made) in [
            ("mkdir -p a/b && echo x > c", &["/w/a/b", "/w/c"][..]),
            ("cd sub; touch x", &["/w/sub/x"]),
            ("cp a b", &["/w/b", "/w/b/a"]),
            ("git clone https://h/r.git", &["/w/r"]),
            ("git worktree add ../wt -b x", &["/wt"]),
            ("echo x | tee log.txt", &["/w/log.txt"]),
            ("ls", &[]),
            ("echo $X > $Y", &[]),
        ] {
            assert_eq!(left(command).made, made, "{command}");
        }
        assert_eq!(left("python3 -m http.server & sleep 1").started, ["python3 -m http.server"]);
        assert_eq!(left("sed -i s/a/b/ x").changed, ["/w/x"]);
        assert_eq!(left("mv ~/x y").brought, ["/w/y", "/w/y/x"]);
        assert_eq!(left("ln -s ~ home").brought, ["/w/home", "/w/home/~"]);
        assert_eq!(left("cp /bin/rm x").programs, [("/w/x".to_owned(), "rm".to_owned())]);
        assert_eq!(left("curl -o x.sh https://h/x").downloads, ["/w/x.sh"]);
    }

    #[test]
    fn branches() {
        let of = |command| {
            let Left { branches, head, commits, stashes, .. } = left(command);
            (branches.join(" "), head.unwrap_or_default(), !commits.is_empty(), stashes)
        };
        for (command, want) in [
            ("git checkout -b x", ("x", "x", false, 0)),
            ("git switch main", ("", "main", false, 0)),
            ("git checkout -- a", ("", "", false, 0)),
            ("git branch y", ("y", "", false, 0)),
            ("git branch -D y", ("", "", false, 0)),
            ("git push -u origin feat/z", ("feat/z", "", false, 0)),
            ("git push", ("", "", true, 0)),
            ("git push --force-with-lease origin z", ("", "", false, 0)),
            ("git push origin :z", ("", "", false, 0)),
            ("git commit -m 'a b' && git stash", ("", "", true, 1)),
            ("git stash pop", ("", "", false, -1)),
        ] {
            let (branches, head, commits, stashes) = of(command);
            assert_eq!((&*branches, &*head, commits, stashes), want, "{command}");
        }
        assert!(is_shared_branch("main") && is_shared_branch("release/1.2"));
        assert!(!is_shared_branch("feat/main") && !is_shared_branch("me/developing"));
    }
}
