//! The files an agent left behind.
//!
//! A workspace is where whoever runs the grading says, else where the trace
//! says. Files are found and read within limits, and what could not be looked
//! at is named, so that a grader never takes it for absent.

use std::collections::VecDeque;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use toolmark_outcome::Subject;
use toolmark_outcome::{Cause, Outcome};
use toolmark_pattern::Glob;

/// How many entries of directories are looked at.
const ENTRIES: usize = 500_000;

/// How many directories deep.
const DEPTH: usize = 100;

/// How many matching files are looked at.
const FILES: usize = 10_000;

/// How many bytes of one file are read.
const FILE_BYTES: u64 = 32 << 20;

/// How many bytes of all files one question reads.
const TOTAL_BYTES: u64 = 512 << 20;

/// Why a grader cannot tell: a cause and a reason, for [`Outcome::unknown`].
#[derive(Debug)]
pub(crate) struct Untold(Cause, String);

impl Untold {
    /// What the grader needs is not there.
    pub(crate) fn missing(why: impl Into<String>) -> Self {
        Self(Cause::MissingEvidence, why.into())
    }

    /// In words.
    pub(crate) fn reason(self) -> String {
        self.1
    }

    /// A program did not do its part, or may not be run.
    pub(crate) fn program(why: impl Into<String>) -> Self {
        Self(Cause::Program, why.into())
    }
}

impl From<Untold> for Outcome {
    fn from(Untold(cause, reason): Untold) -> Self {
        Self::unknown(cause, reason)
    }
}

/// Where the files of a run are.
pub(crate) struct Workspace {
    root: PathBuf,
}

/// What a pattern found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Paths from the root, with slashes, in order.
    pub(crate) files: Vec<String>,
    /// What could not be looked at, in words.
    pub(crate) unreadable: Vec<String>,
    /// Why the search ended early.
    pub(crate) stopped: Option<String>,
}

/// How much may still be read.
pub(crate) struct Allowance(u64);

impl Default for Allowance {
    fn default() -> Self {
        Self(TOTAL_BYTES)
    }
}

impl Workspace {
    /// The workspace of what is graded; why there is none otherwise.
    pub(crate) fn of(subject: &Subject<'_>) -> Result<Self, Untold> {
        let trajectory = subject.view.trajectory();
        if let Some(turn) = subject.view.turn_index()
            && turn + 1 < trajectory.user_turns
        {
            let why = format!("the workspace is as the last turn left it, not as turn {turn} did");
            return Err(Untold::missing(why));
        }
        if let Some(given) = subject.workspace() {
            return Self::at(given).map_err(Untold::missing);
        }
        if trajectory.stated.workspace.as_ref().is_some_and(|status| status.is("remote")) {
            return Err(Untold::missing("the workspace is remote: its files are not here"));
        }
        match trajectory.cwd.as_ref().map(|cwd| cwd.get()).filter(|cwd| !cwd.is_empty()) {
            None => Err(Untold::missing("the trace does not say where the workspace is")),
            Some(cwd) => Self::at(Path::new(&*cwd)).map_err(Untold::missing),
        }
    }

    /// The workspace in this directory.
    pub(crate) fn at(root: &Path) -> Result<Self, String> {
        match root.canonicalize() {
            Ok(root) if root.is_dir() => Ok(Self { root }),
            Ok(_) => Err(format!("the workspace {} is no directory", root.display())),
            Err(error) => Err(format!("the workspace {} is not there: {error}", root.display())),
        }
    }

    /// Its directory.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A directory below it; what is wrong with the path otherwise. Links that
    /// lead out of it are not followed.
    pub(crate) fn below(&self, sub_path: &str) -> Result<PathBuf, String> {
        let path = self.resolved(sub_path).map_err(|error| format!("{sub_path}: {error}"))?;
        if path.is_dir() { Ok(path) } else { Err(format!("{sub_path} is no directory")) }
    }

    /// The real path of something in it.
    fn resolved(&self, path: &str) -> Result<PathBuf, String> {
        toolmark_pattern::stays_inside(path)?;
        let real = self.root.join(path).canonicalize().map_err(|error| error.to_string())?;
        if real.starts_with(&self.root) {
            Ok(real)
        } else {
            Err("leads out of the workspace".into())
        }
    }

    /// The files a path or pattern names. A path that is there just as it is
    /// written is not taken for a pattern; only such a path may name a directory.
    pub(crate) fn find(&self, path: &str, glob: &Glob) -> Found {
        let plain = path.trim_end_matches('/').trim_start_matches("./");
        let exact = self.root.join(plain);
        match exact.metadata() {
            Ok(about) if about.is_dir() || !path.ends_with('/') => {
                return Found { files: vec![plain.to_owned()], ..Found::default() };
            }
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                return Found { unreadable: vec![format!("{plain}: {error}")], ..Found::default() };
            }
            _ if Glob::is_plain(path) => return Found::default(),
            _ => {}
        }
        let mut found = self.walk(glob);
        found.files.sort_unstable();
        found.unreadable.sort_unstable();
        found
    }

    fn walk(&self, glob: &Glob) -> Found {
        let mut found = Found::default();
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

    /// Linked files are files; linked directories are not entered, since links
    /// may go in circles.
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

    /// The text of a file, bytes that are no UTF-8 replaced; why it cannot be
    /// read otherwise.
    pub(crate) fn text(&self, path: &str, allowance: &mut Allowance) -> Result<String, String> {
        let say = |why: String| format!("{path}: {why}");
        read_text(&self.resolved(path).map_err(say)?, allowance).map_err(say)
    }
}

/// Reads a file within limits.
pub(crate) fn read_text(path: &Path, allowance: &mut Allowance) -> Result<String, String> {
    let about = fs::metadata(path).map_err(|error| error.to_string())?;
    if !about.is_file() {
        // Reading a pipe or a device might never end.
        return Err("is no file".into());
    }
    let limit = FILE_BYTES.min(allowance.0);
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(|error| error.to_string())?;
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > limit {
        return Err(format!("is larger than the {limit} bytes that are read"));
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
        let said = workspace.text("a.txt", &mut Allowance(3)).unwrap_err();
        assert!(said.contains("a.txt: is larger"), "{said}");
        fs::write(dir.path().join("b"), b"\xffx").unwrap();
        assert_eq!(workspace.text("b", &mut Allowance::default()).unwrap(), "\u{fffd}x");
        assert!(workspace.text("../x", &mut Allowance::default()).unwrap_err().contains(".."));
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
        assert!(workspace.below("out").unwrap_err().contains("leads out"));
        assert!(workspace.below("../").is_err());
        assert!(workspace.below("/").is_err());
        assert_eq!(workspace.below("inner").unwrap(), workspace.root().join("in"));
        let said = workspace.text("link", &mut Allowance::default()).unwrap_err();
        assert!(said.contains("leads out"), "{said}");
        assert_eq!(find(&workspace, "**/*.txt"), ["in/a.txt"]);
    }
}
