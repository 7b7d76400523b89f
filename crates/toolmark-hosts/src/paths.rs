//! Where a host keeps things.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where a host keeps things: its directory, its hooks, its sessions.
#[derive(Debug)]
pub struct Paths {
    /// Its directory below the home directory of the user: `.claude`.
    pub directory: &'static str,
    /// The variable that moves that directory.
    pub moved_by: Option<MovedBy>,
    /// The file with its hooks, in that directory.
    pub user_hooks: &'static str,
    /// The file with the hooks of a project, in the directory of the project.
    pub project_hooks: &'static str,
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
}

/// The name of a file without one of these endings.
pub(crate) fn stem<'p>(path: &'p Path, endings: &[&str]) -> Option<&'p str> {
    let name = path.file_name()?.to_str()?;
    endings.iter().find_map(|ending| name.strip_suffix(ending))
}
