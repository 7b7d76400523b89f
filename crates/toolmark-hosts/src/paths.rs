//! File locations of a host.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// File locations of a host.
#[derive(Debug)]
pub struct Paths {
    /// Directory below the home directory of the user: `.claude`.
    pub directory: &'static str,
    /// Environment variable that overrides the directory.
    pub moved_by: Option<MovedBy>,
    /// File with the hooks of the user, relative to that directory.
    pub user_hooks: &'static str,
    /// File with the hooks of a project, relative to the directory of the project.
    pub project_hooks: &'static str,
    /// Files and directories with permissions and hooks, in the home directory or in a
    /// project. A directory includes everything below it; a `*` matches any part of a name.
    pub settings: &'static [&'static str],
    /// Other files that later sessions follow: instructions, commands, memories.
    pub lasting: &'static [&'static str],
    /// Files with keys and tokens.
    pub credentials: &'static [&'static str],
    /// Directories in which the host stores its own plans and notes, relative to its
    /// directory.
    pub notes: &'static [&'static str],
    /// Location of the sessions.
    pub sessions: Option<HostSessions>,
}

/// Environment variable that overrides a directory, by its meaning.
#[derive(Debug, Clone, Copy)]
pub enum MovedBy {
    /// The variable contains the directory of the host.
    Directory(&'static str),
    /// The variable contains the home directory in which the host's directory is located.
    Home(&'static str),
}

impl MovedBy {
    /// Returns the name of the variable.
    #[must_use]
    pub fn variable(self) -> &'static str {
        match self {
            Self::Directory(name) | Self::Home(name) => name,
        }
    }
}

/// Location of the sessions of a host.
#[derive(Debug)]
pub struct HostSessions {
    /// Folder, relative to the directory of the host.
    pub folder: &'static str,
    /// Returns the id of the session in a file of the folder; `None` for other files.
    pub id: fn(&Path) -> Option<String>,
}

impl Paths {
    /// Returns the directory on this machine; `None` if neither the home directory nor the
    /// variable is known.
    #[must_use]
    pub fn directory(
        &self,
        home: Option<&Path>,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Option<PathBuf> {
        let value = |name| variable(name).filter(|value| !value.is_empty());
        let moved = match self.moved_by {
            Some(MovedBy::Directory(name)) => value(name).map(PathBuf::from),
            Some(MovedBy::Home(name)) => {
                value(name).map(|home| Path::new(&home).join(self.directory))
            }
            None => None,
        };
        moved.or_else(|| home.map(|home| home.join(self.directory)))
    }

    /// Whether a path is in a directory for the host's own notes.
    #[must_use]
    pub fn is_own_note(&self, path: &str) -> bool {
        let folders = self.notes.iter().copied().chain(self.sessions.iter().map(|s| s.folder));
        let mut below = path.match_indices(self.directory).filter_map(|(at, directory)| {
            let rest = path.get(at + directory.len()..)?.strip_prefix('/')?;
            path.get(..at)?.ends_with('/').then_some(rest)
        });
        below.any(|rest| folders.clone().any(|folder| rest.starts_with(folder)))
    }
}

/// Returns the file name without one of these suffixes.
pub(crate) fn stem<'p>(path: &'p Path, endings: &[&str]) -> Option<&'p str> {
    let name = path.file_name()?.to_str()?;
    endings.iter().find_map(|ending| name.strip_suffix(ending))
}
