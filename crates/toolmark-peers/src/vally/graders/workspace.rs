//! Access to the files that an agent left.
//!
//! The workspace is the directory that the caller provides, otherwise the one in the
//! trace. Files are found and read within limits, and unreadable
//! files are reported, so that a grader never treats them as absent.

use std::collections::VecDeque;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use toolmark_outcome::Subject;
use toolmark_outcome::{Cause, Outcome};
use toolmark_pattern::{Glob, GlobError};

/// Maximum number of directory entries inspected.
const ENTRIES: usize = 500_000;

/// Maximum directory depth.
const DEPTH: usize = 100;

/// Maximum number of matching files inspected.
const FILES: usize = 10_000;

/// Maximum number of bytes read per file.
const FILE_BYTES: u64 = 32 << 20;

/// Maximum number of bytes read from all files per check.
const TOTAL_BYTES: u64 = 512 << 20;

/// Cause and reason of an unknown verdict, for [`Outcome::unknown`].
#[derive(Debug)]
pub(crate) struct Untold(Cause, String);

impl Untold {
    /// Creates the reason for missing input.
    pub(crate) fn missing(why: impl Into<String>) -> Self {
        Self(Cause::MissingEvidence, why.into())
    }

    /// Returns the reason.
    pub(crate) fn reason(self) -> String {
        self.1
    }

    /// Creates the reason for a program that failed or may not be run.
    pub(crate) fn program(why: impl Into<String>) -> Self {
        Self(Cause::Program, why.into())
    }
}

impl From<Untold> for Outcome {
    fn from(Untold(cause, reason): Untold) -> Self {
        Self::unknown(cause, reason)
    }
}

/// Reason why a file of a workspace, or the workspace, cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorkspaceError {
    #[error("the workspace {} is no directory", .0.display())]
    RootNotADirectory(PathBuf),
    #[error("the workspace {root} is not there: {1}", root = .0.display())]
    RootMissing(PathBuf, std::io::Error),
    #[error("{0}: {1}")]
    At(String, Box<Self>),
    #[error("{0} is no directory")]
    NotADirectory(String),
    #[error(transparent)]
    Path(#[from] GlobError),
    #[error(transparent)]
    Read(#[from] std::io::Error),
    #[error("leads out of the workspace")]
    Outside,
    #[error("is no file")]
    NotAFile,
    #[error("is larger than the {0} bytes that are read")]
    TooLarge(u64),
}

impl From<WorkspaceError> for Untold {
    fn from(error: WorkspaceError) -> Self {
        Self::missing(error.to_string())
    }
}

/// The directory with the files of a run.
pub(crate) struct Workspace {
    root: PathBuf,
}

/// Result of a search by pattern.
#[derive(Debug, Default)]
pub(crate) struct SearchResult {
    /// Paths relative to the root, with slashes, sorted.
    pub(crate) files: Vec<String>,
    /// Descriptions of unreadable entries.
    pub(crate) unreadable: Vec<String>,
    /// Reason if the search ended early.
    pub(crate) stopped: Option<String>,
}

/// Remaining number of bytes that may be read.
pub(crate) struct Allowance(u64);

impl Default for Allowance {
    fn default() -> Self {
        Self(TOTAL_BYTES)
    }
}

impl Workspace {
    /// Returns the workspace of the graded run, or the reason why there is none.
    pub(crate) fn of(subject: &Subject<'_>) -> Result<Self, Untold> {
        let trajectory = subject.view.trajectory();
        if let Some(turn) = subject.view.turn_index()
            && turn + 1 < trajectory.user_turns
        {
            let why = format!("the workspace is as the last turn left it, not as turn {turn} did");
            return Err(Untold::missing(why));
        }
        if let Some(given) = subject.workspace() {
            return Ok(Self::at(given)?);
        }
        if trajectory.stated.workspace.as_ref().is_some_and(|status| status.is("remote")) {
            return Err(Untold::missing("the workspace is remote: its files are not here"));
        }
        match trajectory.cwd.as_ref().map(|cwd| cwd.get()).filter(|cwd| !cwd.is_empty()) {
            None => Err(Untold::missing("the trace does not say where the workspace is")),
            Some(cwd) => Ok(Self::at(Path::new(&*cwd))?),
        }
    }

    /// Opens the workspace in this directory.
    pub(crate) fn at(root: &Path) -> Result<Self, WorkspaceError> {
        match root.canonicalize() {
            Ok(root) if root.is_dir() => Ok(Self { root }),
            Ok(_) => Err(WorkspaceError::RootNotADirectory(root.to_owned())),
            Err(error) => Err(WorkspaceError::RootMissing(root.to_owned(), error)),
        }
    }

    /// Returns the directory of the workspace.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns a subdirectory, or the reason why the path is invalid. Links that
    /// lead out of the workspace are not followed.
    pub(crate) fn below(&self, sub_path: &str) -> Result<PathBuf, WorkspaceError> {
        let path = self.resolved(sub_path).map_err(|error| error.at(sub_path))?;
        match path.is_dir() {
            true => Ok(path),
            false => Err(WorkspaceError::NotADirectory(sub_path.to_owned())),
        }
    }

    /// Returns the canonical path of a file in the workspace.
    fn resolved(&self, path: &str) -> Result<PathBuf, WorkspaceError> {
        toolmark_pattern::stays_inside(path)?;
        let real = self.root.join(path).canonicalize()?;
        match real.starts_with(&self.root) {
            true => Ok(real),
            false => Err(WorkspaceError::Outside),
        }
    }

    /// Returns the files that match a path or pattern. A path that exists literally
    /// is not treated as a pattern; only such a path may name a directory.
    pub(crate) fn find(&self, path: &str, glob: &Glob) -> SearchResult {
        let plain = path.trim_end_matches('/').trim_start_matches("./");
        let exact = self.root.join(plain);
        match exact.metadata() {
            Ok(about) if about.is_dir() || !path.ends_with('/') => {
                return SearchResult { files: vec![plain.to_owned()], ..SearchResult::default() };
            }
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                return SearchResult {
                    unreadable: vec![format!("{plain}: {error}")],
                    ..SearchResult::default()
                };
            }
            _ if Glob::is_plain(path) => return SearchResult::default(),
            _ => {}
        }
        let mut found = self.walk(glob);
        found.files.sort_unstable();
        found.unreadable.sort_unstable();
        found
    }

    fn walk(&self, glob: &Glob) -> SearchResult {
        let mut found = SearchResult::default();
        let mut entries = 0;
        let mut todo = VecDeque::from([(String::new(), glob.start(), 0)]);
        while let Some((directory, progress, depth)) = todo.pop_front() {
            let listed = fs::read_dir(self.root.join(&directory));
            let listed = match listed {
                Ok(listed) => listed,
                Err(error) => {
                    found.unreadable.push(format!("{}: {error}", shown(&directory)));
                    continue;
                }
            };
            for entry in listed {
                entries += 1;
                if entries > ENTRIES {
                    found.stopped = Some(format!("the workspace has more than {ENTRIES} entries"));
                    return found;
                }
                let entry = match entry {
                    Ok(entry) => entry,
                    Err(error) => {
                        found.unreadable.push(format!("{}: {error}", shown(&directory)));
                        continue;
                    }
                };
                let name = entry.file_name().to_string_lossy().into_owned();
                let here = glob.enter(&progress, &name);
                if here.is_empty() {
                    continue;
                }
                let path = match directory.as_str() {
                    "" => name,
                    directory => format!("{directory}/{name}"),
                };
                match self.kind(&entry, &path) {
                    EntryKind::Directory if depth < DEPTH => {
                        todo.push_back((path, here, depth + 1))
                    }
                    EntryKind::Directory => {
                        found.unreadable.push(format!("{path}: nested too deeply"));
                    }
                    EntryKind::File if glob.is_match(&here) => {
                        if found.files.len() == FILES {
                            found.stopped = Some(format!("more than {FILES} files match"));
                            return found;
                        }
                        found.files.push(path);
                    }
                    EntryKind::File | EntryKind::Other => {}
                }
            }
        }
        found
    }

    /// Returns the kind of an entry. Linked files are files; linked directories are not entered,
    /// because
    /// links may form cycles.
    fn kind(&self, entry: &fs::DirEntry, path: &str) -> EntryKind {
        let kind = match entry.file_type() {
            Ok(kind) if kind.is_symlink() => {
                return match fs::metadata(self.root.join(path)) {
                    Ok(target) if target.is_file() => EntryKind::File,
                    _ => EntryKind::Other,
                };
            }
            Ok(kind) => kind,
            // It went away meanwhile.
            Err(_) => return EntryKind::Other,
        };
        if kind.is_dir() {
            EntryKind::Directory
        } else if kind.is_file() {
            EntryKind::File
        } else {
            EntryKind::Other
        }
    }

    /// Reads a file as text with invalid UTF-8 replaced, or returns the reason why it cannot be
    /// read.
    pub(crate) fn text(
        &self,
        path: &str,
        allowance: &mut Allowance,
    ) -> Result<String, WorkspaceError> {
        let real = self.resolved(path);
        real.and_then(|real| read_text(&real, allowance)).map_err(|error| error.at(path))
    }
}

impl WorkspaceError {
    fn at(self, path: &str) -> Self {
        Self::At(path.to_owned(), Box::new(self))
    }
}

/// Reads a file within limits.
pub(crate) fn read_text(path: &Path, allowance: &mut Allowance) -> Result<String, WorkspaceError> {
    if !fs::metadata(path)?.is_file() {
        // Reading a pipe or a device might never end.
        return Err(WorkspaceError::NotAFile);
    }
    let limit = FILE_BYTES.min(allowance.0);
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(WorkspaceError::TooLarge(limit));
    }
    allowance.0 -= bytes.len() as u64;
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

enum EntryKind {
    Directory,
    File,
    Other,
}

fn shown(directory: &str) -> &str {
    if directory.is_empty() { "." } else { directory }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(files: &[&str]) -> (tempfile::TempDir, Workspace) {
        let dir = tempfile::tempdir().unwrap();
        for file in files {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("text of {file}")).unwrap();
        }
        let workspace = Workspace::at(dir.path()).unwrap();
        (dir, workspace)
    }

    fn find(workspace: &Workspace, path: &str) -> Vec<String> {
        workspace.find(path, &Glob::new(path).unwrap()).files
    }

    #[test]
    fn files_are_found() {
        let (_dir, workspace) =
            made(&["a.txt", ".env", "src/b.rs", "src/.hidden/c.rs", "app/[id].tsx"]);
        for (path, expected) in [
            ("a.txt", vec!["a.txt"]),
            ("./a.txt", vec!["a.txt"]),
            ("*", vec![".env", "a.txt"]),
            ("**/*.rs", vec!["src/.hidden/c.rs", "src/b.rs"]),
            ("app/[id].tsx", vec!["app/[id].tsx"]),
            ("src", vec!["src"]),
            ("src/", vec!["src"]),
            ("a.txt/", vec![]),
            ("nothing", vec![]),
            ("s*", vec![]),
        ] {
            assert_eq!(find(&workspace, path), expected, "{path}");
        }
    }

    #[test]
    fn texts_are_read_within_limits() {
        let (dir, workspace) = made(&["a.txt"]);
        assert_eq!(workspace.text("a.txt", &mut Allowance::default()).unwrap(), "text of a.txt");
        let said = workspace.text("a.txt", &mut Allowance(3)).unwrap_err().to_string();
        assert!(said.contains("a.txt: is larger"), "{said}");
        fs::write(dir.path().join("b"), b"\xffx").unwrap();
        assert_eq!(workspace.text("b", &mut Allowance::default()).unwrap(), "\u{fffd}x");
        let said = workspace.text("../x", &mut Allowance::default()).unwrap_err().to_string();
        assert!(said.contains(".."));
    }

    #[cfg(unix)]
    #[test]
    fn links_do_not_lead_out() {
        use std::os::unix::fs::symlink;
        let (dir, workspace) = made(&["in/a.txt"]);
        let (other, _) = made(&["secret"]);
        symlink(other.path(), dir.path().join("out")).unwrap();
        symlink(other.path().join("secret"), dir.path().join("link")).unwrap();
        symlink(dir.path().join("in"), dir.path().join("inner")).unwrap();
        symlink(dir.path(), dir.path().join("in/loop")).unwrap();
        assert!(workspace.below("out").unwrap_err().to_string().contains("leads out"));
        assert!(workspace.below("../").is_err());
        assert!(workspace.below("/").is_err());
        assert_eq!(workspace.below("inner").unwrap(), workspace.root().join("in"));
        let said = workspace.text("link", &mut Allowance::default()).unwrap_err().to_string();
        assert!(said.contains("leads out"), "{said}");
        assert_eq!(find(&workspace, "**/*.txt"), ["in/a.txt"]);
    }
}
