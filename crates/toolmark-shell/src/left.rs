//! What a command line leaves behind for the commands after it: files it makes, branches
//! it works on, programs it copies. Whoever keeps it can tell later what a session may
//! take back, and what it runs that it wrote itself.

use crate::context::Command;
use crate::expand::Arg;
use serde::{Deserialize, Serialize};
use toolmark_base::path::is_below;

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
    /// Where it moves or links to something that it did not make.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub brought: Vec<String>,
    /// Branches that it makes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub branches: Vec<String>,
    /// The branch that it checks out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
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

impl Left {
    /// Is there anything?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn make(&mut self, path: &str) {
        add(&mut self.made, path);
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

    /// What `git SUB …` does to branches.
    ///
    /// A branch is the session's own only where the session made it. To commit to a branch,
    /// or to push it, does not make it so: it may be a colleague's.
    pub(crate) fn git(&mut self, sub: &str, args: &[Arg]) {
        let words: Vec<&str> =
            args.iter().filter(|arg| !arg.dynamic).map(|arg| arg.text.as_str()).collect();
        let after = |flags: &[&str]| {
            let at = words.iter().position(|word| flags.contains(word))?;
            words.get(at + 1).copied()
        };
        let operands: Vec<&str> =
            words.iter().copied().filter(|word| !word.starts_with('-')).collect();
        // `-b x origin/x` and `--track` take over a branch that is there.
        let is_new = |name: &str| {
            let is_same = |from: &&str| {
                let is_path = from.starts_with(['.', '/', '~']);
                !is_path && from.strip_suffix(name).is_some_and(|at| at.ends_with('/'))
            };
            !operands.iter().any(is_same)
                && !words.iter().any(|word| *word == "-t" || word.starts_with("--track"))
        };
        match sub {
            "checkout" | "switch" => {
                let made = after(&["-b", "-c", "--create", "--orphan"]);
                if let Some(name) = made.filter(|name| is_new(name)) {
                    self.branch(name);
                }
                let moved = || after(&["-B", "-C", "--force-create"]);
                let only = match operands[..] {
                    [name] if !words.contains(&"--") => Some(name),
                    _ => None,
                };
                let head = made.or_else(moved).or(only).map(str::to_owned);
                self.head = head.or(self.head.take());
            }
            "worktree" => {
                let made = after(&["-b"]).filter(|name| is_new(name));
                made.into_iter().for_each(|name| self.branch(name));
            }
            "branch" if operands.len() == words.len() => {
                let made = operands.first().filter(|name| is_new(name));
                made.into_iter().for_each(|name| self.branch(name));
            }
            _ => {}
        }
    }
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
        for (command, branches, head) in [
            ("git checkout -b x", &["x"][..], Some("x")),
            ("git checkout -B x", &[], Some("x")),
            ("git checkout -b x origin/x", &[], Some("x")),
            ("git checkout -b x origin/main", &["x"], Some("x")),
            ("git switch -c x --track origin/y", &[], Some("x")),
            ("git switch main", &[], Some("main")),
            ("git checkout -- a", &[], None),
            ("git branch y", &["y"], None),
            ("git branch y origin/y", &[], None),
            ("git branch -D y", &[], None),
            ("git worktree add -b w ../w", &["w"], None),
            ("git push -u origin feat/z", &[], None),
            ("git commit -m 'a b'", &[], None),
        ] {
            let left = left(command);
            assert_eq!(
                (&left.branches[..], left.head.as_deref()),
                (&branches.iter().map(|b| (*b).to_owned()).collect::<Vec<_>>()[..], head),
                "{command}"
            );
        }
        assert!(is_shared_branch("main") && is_shared_branch("release/1.2"));
        assert!(!is_shared_branch("feat/main") && !is_shared_branch("me/developing"));
    }
}
