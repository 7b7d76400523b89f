//! Location of the file that a fix changes.

use std::env;
use std::path::{Path, PathBuf};

/// Location of the file of a fix.
pub struct FixPlace {
    /// The directory that the name of the file starts from; empty for the current one.
    pub directory: PathBuf,
    /// Whether the current directory is in another repository than that of the issue.
    pub is_foreign: bool,
}

impl FixPlace {
    /// The place of a fix for a project, unless the repository is given.
    #[must_use]
    pub fn of(project: Option<&str>, repository: Option<&Path>) -> Self {
        let at = |directory: &Path, is_foreign| Self { directory: directory.into(), is_foreign };
        let current = Path::new("");
        let (project, here) = match (repository, project, env::current_dir()) {
            (Some(given), ..) => return at(given, false),
            (None, Some(project), Ok(here)) => (Path::new(project), here),
            _ => return at(current, false),
        };
        // It is unknown whether a directory of another machine is this one.
        let Ok(real) = project.canonicalize() else { return at(current, true) };
        let here = here.canonicalize().unwrap_or(here);
        match real == here {
            true => at(current, false),
            false => at(project, repository_of(&real) != repository_of(&here)),
        }
    }
}

/// The repository that a directory is in, or the directory itself.
fn repository_of(directory: &Path) -> &Path {
    directory.ancestors().find(|one| one.join(".git").exists()).unwrap_or(directory)
}
