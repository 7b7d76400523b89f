//! State that a command line leaves behind for later commands: files it makes, branches it works
//! on, programs it copies. The caller that keeps it can later determine what a session may undo,
//! and which programs that it runs it wrote itself.

use crate::context::PlannedCommand;
use crate::options::ParsedOptions;
use serde::{Deserialize, Serialize};
use toolmark_base::path::is_below;

/// Maximum number of items kept of each kind.
const MAX_EACH: usize = 64;

/// State that one command line leaves behind. Paths are absolute.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LeftState {
    /// Files and directories that the command line writes or makes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub made: Vec<String>,
    /// Existing files that the command line changes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// Paths to which it moves or links something that it did not make.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub brought: Vec<String>,
    /// Branches that the command line makes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub branches: Vec<String>,
    /// Branch that the command line checks out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// Programs started in the background, with their arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub started: Vec<String>,
    /// Programs put under another name: the path and the program.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<(String, String)>,
    /// Downloaded files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub downloads: Vec<String>,
    /// Files into which the command line puts a secret.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<String>,
}

impl LeftState {
    /// Whether nothing is left behind.
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

    /// Whether something was moved or linked to this path, below it or above it.
    pub(crate) fn has_brought(&self, path: &str) -> bool {
        self.brought.iter().any(|other| is_below(other, path) || is_below(path, other))
    }

    pub(crate) fn bring(&mut self, path: &str) {
        add(&mut self.brought, path);
    }

    pub(crate) fn branch(&mut self, name: &str) {
        add(&mut self.branches, name);
    }

    /// Records a program that keeps running after the command line has ended.
    pub fn start(&mut self, command: &PlannedCommand) {
        /// Maximum length kept of a command line, in bytes.
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

    /// Records the effects of `git SUB …` on branches.
    ///
    /// A branch belongs to the session only if the session made it. Committing to a branch or
    /// pushing it does not change the owner: the branch may be a colleague's.
    pub(crate) fn git(&mut self, sub: &str, parsed: &ParsedOptions<'_>) {
        let operands: Vec<&str> = parsed
            .operands
            .iter()
            .filter(|arg| !arg.dynamic)
            .map(|arg| arg.text.as_str())
            .collect();
        let value = |names: &[&str]| {
            let given = parsed.options.iter().find(|given| names.contains(&given.name));
            given.filter(|given| !given.dynamic && !given.negated)?.value
        };
        // `-b x origin/x` and `--track` take over a branch that is there.
        let is_new = |name: &str| {
            let is_same = |from: &&str| {
                let is_path = from.starts_with(['.', '/', '~']);
                !is_path && from.strip_suffix(name).is_some_and(|at| at.ends_with('/'))
            };
            !operands.iter().any(is_same) && !parsed.has("t", "track")
        };
        match sub {
            "checkout" | "switch" => {
                let made = value(&["b", "create", "orphan"]);
                if let Some(name) = made.filter(|name| is_new(name)) {
                    self.branch(name);
                }
                let moved = || value(&["B", "force-create"]);
                let only = match operands[..] {
                    [name] if parsed.before_dashes.is_none() => Some(name),
                    _ => None,
                };
                let head = made.or_else(moved).or(only).map(str::to_owned);
                self.head = head.or(self.head.take());
            }
            "worktree" => {
                let made = value(&["b"]).filter(|name| is_new(name));
                made.into_iter().for_each(|name| self.branch(name));
            }
            "branch" if parsed.options.is_empty() => {
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

/// Whether the name is that of a branch that others work on too.
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
    use crate::{ShellContext, analyze};

    fn left(command: &str) -> LeftState {
        let context = ShellContext { cwd: Some("/w"), ..ShellContext::default() };
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
