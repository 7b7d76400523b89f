//! Where a host keeps things.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where a host keeps things.
#[derive(Debug)]
pub struct Paths {
    /// Its directory below the home directory of the user: `.claude`.
    pub directory: &'static str,
    /// The variable that moves that directory.
    pub moved_by: Option<MovedBy>,
    /// The file with the hooks of the user, in that directory.
    pub user_hooks: &'static str,
    /// The file with the hooks of a project, in the directory of the project.
    pub project_hooks: &'static str,
    /// Files and directories that say what it may do and which hooks it runs, in
    /// the home directory or in a project. What lies below a directory counts too;
    /// a `*` stands for any part of a name.
    pub settings: &'static [&'static str],
    /// Others that later sessions follow: instructions, commands, memories.
    pub lasting: &'static [&'static str],
    /// Files with keys and tokens.
    pub credentials: &'static [&'static str],
    /// Where it writes for itself, in its directory: plans, notes.
    pub notes: &'static [&'static str],
    /// Its sessions.
    pub sessions: Option<Sessions>,
}

/// What a variable moves.
#[derive(Debug, Clone, Copy)]
pub enum MovedBy {
    /// The directory itself.
    Directory(&'static str),
    /// The home directory in which it lies.
    Home(&'static str),
}

impl MovedBy {
    /// The name of the variable.
    #[must_use]
    pub fn variable(self) -> &'static str {
        match self {
            Self::Directory(name) | Self::Home(name) => name,
        }
    }
}

/// Where the sessions of a host lie.
#[derive(Debug)]
pub struct Sessions {
    /// The folder, in the directory of the host.
    pub folder: &'static str,
    /// The id of the session that a file in it holds; `None` for other files.
    pub id: fn(&Path) -> Option<String>,
}

impl Paths {
    /// Its directory on this machine; `None` where no home directory is known
    /// and no variable says where it is.
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

    /// Does a path lie where the host writes for itself?
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

/// The name of a file without one of these endings.
pub(crate) fn stem<'p>(path: &'p Path, endings: &[&str]) -> Option<&'p str> {
    let name = path.file_name()?.to_str()?;
    endings.iter().find_map(|ending| name.strip_suffix(ending))
}
