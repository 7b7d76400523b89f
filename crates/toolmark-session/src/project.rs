//! Boundaries of the project: decides for the rules and for the guard whether a path belongs
//! to the work of the session.
//!
//! A trace does not record the root of the repository. The project consists of the directory
//! in which the session works, every directory it moved to, the checkout to which a worktree
//! belongs, and the worktrees that the session created.

use crate::path::resolve;
use std::borrow::Cow;
pub use toolmark_base::path::is_below;

/// Directories in which tools keep the worktrees of a repository.
const WORKTREES: &[&str] = &["/.worktrees/", "/.claude/worktrees/", "/.git/worktrees/"];

/// Suffixes of directories beside a repository that contain its worktrees.
const WORKTREES_BESIDE: &[&str] = &["__worktrees/", ".worktrees/", "-worktrees/", "_worktrees/"];

/// Directories for temporary files.
const TEMPORARY: &[&str] =
    &["/tmp/", "/private/tmp/", "/var/folders/", "/private/var/", "/var/tmp/"];

/// Returns the checkout to which a directory belongs if it is a worktree.
#[must_use]
pub fn checkout_of(directory: &str) -> &str {
    // Most directories are not worktrees; the paths of all worktrees contain this part.
    if !directory.contains("worktrees/") {
        return directory;
    }
    let inside = WORKTREES.iter().filter_map(|part| directory.find(part));
    inside.min().and_then(|at| directory.get(..at)).filter(|d| !d.is_empty()).unwrap_or(directory)
}

/// Whether a directory may be the root of a project. A home directory, one for
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

/// Whether a path is in a directory for temporary files.
pub fn is_temporary(path: &str) -> bool {
    TEMPORARY.iter().any(|start| path.starts_with(start))
}

/// Directories of the project of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Project {
    roots: Vec<String>,
}

impl Project {
    /// Creates the project of a session that worked in these directories.
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

    /// Adds a directory if it can be the root of a project.
    pub fn add(&mut self, directory: &str) {
        if is_project(directory) && !self.holds(directory) {
            self.roots.retain(|root| !is_below(root, directory));
            self.roots.push(directory.to_owned());
        }
    }

    /// Whether the path belongs to the project.
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

    /// Returns the directories.
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
