//! Where the project is: the one answer to "does this path belong to the work
//! of the session?", for the rules and for the guard.
//!
//! A trace does not say where the root of the repository is. The project is the
//! directory the session works in, every directory it moved to, the checkout
//! that a worktree belongs to, and the worktrees the session made.

use crate::path::resolve;
use std::borrow::Cow;
pub use toolmark_base::path::is_below;

/// Directories in which tools keep the worktrees of a repository.
const WORKTREES: &[&str] = &["/.worktrees/", "/.claude/worktrees/", "/.git/worktrees/"];

/// Ends of directories beside a repository that hold its worktrees.
const WORKTREES_BESIDE: &[&str] = &["__worktrees/", ".worktrees/", "-worktrees/", "_worktrees/"];

/// Directories for temporary files.
const TEMPORARY: &[&str] =
    &["/tmp/", "/private/tmp/", "/var/folders/", "/private/var/", "/var/tmp/"];

/// The checkout a directory belongs to, where it is one of its worktrees.
#[must_use]
pub fn checkout_of(directory: &str) -> &str {
    // Most directories are none, and all of these end alike.
    if !directory.contains("worktrees/") {
        return directory;
    }
    let inside = WORKTREES.iter().filter_map(|part| directory.find(part));
    inside.min().and_then(|at| directory.get(..at)).filter(|d| !d.is_empty()).unwrap_or(directory)
}

/// May a directory be the root of a project? A home directory, one for
/// temporary files and the top of the file system are not.
pub fn is_project(directory: &str) -> bool {
    let mut parts = directory.split('/').filter(|part| !part.is_empty());
    !matches!(
        (parts.next(), parts.next(), parts.next()),
        (None, ..)
            | (Some("tmp" | "home" | "Users" | "root"), None, _)
            | (Some("home" | "Users"), Some(_), None)
    )
}

/// Does a path lie in a directory for temporary files?
pub fn is_temporary(path: &str) -> bool {
    TEMPORARY.iter().any(|start| path.starts_with(start))
}

/// The directories that make up the project of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Project {
    roots: Vec<String>,
}

impl Project {
    /// The project of a session that worked in these directories.
    pub fn new<'d>(directories: impl Iterator<Item = Cow<'d, str>>) -> Self {
        let mut project = Self::default();
        for directory in directories {
            let directory = resolve(None, &directory);
            let is_first = project.roots.is_empty();
            if directory.starts_with('/') && (is_first || !is_temporary(&directory)) {
                project.add(checkout_of(&directory));
            }
        }
        project
    }

    /// Takes in a directory that may be the root of a project.
    pub fn add(&mut self, directory: &str) {
        if is_project(directory) && !self.holds(directory) {
            self.roots.retain(|root| !is_below(root, directory));
            self.roots.push(directory.to_owned());
        }
    }

    /// Does the path belong to the project?
    #[must_use]
    pub fn holds(&self, path: &str) -> bool {
        self.roots.iter().any(|root| {
            let beside = || {
                let rest = path.strip_prefix(root.trim_end_matches('/'))?;
                WORKTREES_BESIDE.iter().find(|end| rest.starts_with(*end))
            };
            is_below(path, root) || beside().is_some()
        })
    }

    /// The directories.
    #[must_use]
    pub fn roots(&self) -> &[String] {
        &self.roots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_a_project() {
        let project = |all: &[&'static str]| Project::new(all.iter().map(|d| Cow::Borrowed(*d)));
        for (directories, path, want) in [
            (&["/home/me/app"][..], "/home/me/app/src/a.rs", true),
            (&["/home/me/app"], "/home/me/application/a.rs", false),
            (&["/home/me/app"], "/home/me/app__worktrees/docs/a.md", true),
            (&["/home/me/app/.worktrees/2"], "/home/me/app/src/a.rs", true),
            (&["/home/me/mono/packages/a", "/home/me/mono"], "/home/me/mono/apps/b.ts", true),
            (&["/home/me/app", "/tmp/x"], "/tmp/x/a", false),
            (&["/tmp/x"], "/tmp/x/a", true),
            (&["/home/me"], "/home/me/notes.md", false),
            (&[], "/a", false),
        ] {
            assert_eq!(project(directories).holds(path), want, "{directories:?} {path}");
        }
    }
}
