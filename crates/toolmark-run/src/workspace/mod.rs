//! The files of a trial: their sources, their preparation, and their changes.

mod artifacts;
mod copy;
mod diff;
mod git;
mod hooks;
mod snapshot;

pub(crate) use artifacts::keep as keep_artifacts;
pub(crate) use copy::hex;
pub(crate) use copy::{CopyError, content_hash, copy_tree};
pub(crate) use git::{clone_at, commit_of};
pub(crate) use hooks::{HookContext, run_hooks};
pub(crate) use snapshot::WorkspaceSnapshot;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use toolmark_grade::run_plan::{FileSource, WorkspacePlan};

/// The directories of one attempt.
#[derive(Debug, Clone)]
pub(crate) struct AttemptDirectories {
    /// Parent directory of the others.
    pub root: PathBuf,
    /// Working directory of the agent.
    pub workspace: PathBuf,
    /// Home directory of the agent.
    pub home: PathBuf,
    /// Directory for temporary files.
    pub tmp: PathBuf,
}

impl AttemptDirectories {
    /// Creates the directories of an attempt.
    pub(crate) fn create(root: PathBuf) -> io::Result<Self> {
        let places = Self {
            workspace: root.join("workspace"),
            home: root.join("home"),
            tmp: root.join("tmp"),
            root,
        };
        // Ignore leftovers of an earlier attempt.
        if places.root.exists() {
            fs::remove_dir_all(&places.root)?;
        }
        for directory in [&places.workspace, &places.home, &places.tmp] {
            fs::create_dir_all(directory)?;
        }
        Ok(places)
    }

    /// Removes the directories, including those that an agent made inaccessible.
    pub(crate) fn remove(&self) {
        if fs::remove_dir_all(&self.root).is_err() {
            open_up(&self.root);
            let _ = fs::remove_dir_all(&self.root);
        }
    }
}

/// Makes every directory below accessible.
#[cfg(unix)]
fn open_up(directory: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let mut todo = vec![directory.to_owned()];
    while let Some(directory) = todo.pop() {
        let _ = fs::set_permissions(&directory, fs::Permissions::from_mode(0o700));
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                todo.push(entry.path());
            }
        }
    }
}

#[cfg(not(unix))]
fn open_up(_: &Path) {}

/// Copies the files of a plan into an empty workspace, and records which are identical to the
/// source. `cloned` is the clone of its repository.
pub(crate) fn fill(
    plan: &WorkspacePlan,
    cloned: Option<&Path>,
    workspace: &Path,
) -> Result<WorkspaceSnapshot, CopyError> {
    let mut snapshot = WorkspaceSnapshot::default();
    let below = plan.git.as_ref().and_then(|git| git.dest.as_ref());
    match (cloned, below) {
        (Some(clone), None) => copy_tree(clone, workspace, &mut snapshot)?,
        (Some(clone), Some(below)) => {
            copy_tree(clone, &workspace.join(below), &mut WorkspaceSnapshot::default())?;
        }
        (None, _) => {}
    }
    if let Some(from) = &plan.from {
        copy_tree(from, workspace, &mut snapshot)?;
    }
    for file in &plan.files {
        let to = workspace.join(&file.dest);
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent).map_err(|error| CopyError::at(parent, error))?;
        }
        match &file.source {
            FileSource::Text(text) => {
                fs::write(&to, text).map_err(|error| CopyError::at(&to, error))?;
            }
            FileSource::Path(from) if from.is_dir() => {
                copy_tree(from, &to, &mut WorkspaceSnapshot::default())?;
            }
            FileSource::Path(from) => {
                fs::copy(from, &to).map_err(|error| CopyError::at(from, error))?;
            }
        }
    }
    Ok(snapshot)
}
