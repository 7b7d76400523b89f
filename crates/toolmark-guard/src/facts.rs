//! Facts from the file system about the paths in a call: whether they exist and whether version
//! control has them. Facts are looked up only if a verdict depends on them, and only inside the
//! work tree; the existence of a file also beside it, in the home directory and in `/tmp`. If a
//! look-up would exceed the time budget, the fact is unknown.

use crate::git_index::{GitTree, git_directory};
use std::cell::{Cell, OnceCell};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use toolmark_shell::FileFacts;

/// Maximum number of look-ups; further paths of a call are not looked up.
const MAX_LOOK_UPS: u32 = 128;
/// Maximum number of parts of paths that may be links: they are looked up without the budget,
/// so that a call does not get past by naming many files.
const MAX_LINK_LOOK_UPS: u32 = 16 << 10;
/// Time limit of all look-ups after the start, in case a disk hangs.
const BUDGET: Duration = Duration::from_millis(50);
/// Time limit for determining whether a work tree has changes; few calls need it.
const LONG_BUDGET: Duration = Duration::from_millis(20);
/// A directory with more names is not listed.
const MAX_NAMES: usize = 2048;
/// Maximum number of parent directories searched for the root of the work tree.
const UPWARDS: usize = 64;

/// Facts about a work tree on this machine.
#[derive(Debug)]
pub struct Disk {
    cwd: PathBuf,
    until: Instant,
    look_ups: Cell<u32>,
    links: Cell<u32>,
    tree: OnceCell<Option<GitTree>>,
}

impl Disk {
    /// Returns facts as seen from a directory; `None` if the directory does not exist, as when a
    /// call of another machine is analyzed.
    #[must_use]
    pub fn at(cwd: &str) -> Option<Self> {
        let cwd = PathBuf::from(cwd);
        let is_here = cwd.is_absolute() && cwd.is_dir();
        is_here.then(|| Self {
            cwd,
            until: Instant::now() + BUDGET,
            look_ups: Cell::new(0),
            links: Cell::new(0),
            tree: OnceCell::new(),
        })
    }

    fn is_late(&self) -> bool {
        self.look_ups.set(self.look_ups.get() + 1);
        self.look_ups.get() > MAX_LOOK_UPS || Instant::now() >= self.until
    }

    fn tree(&self) -> Option<&GitTree> {
        self.tree.get_or_init(|| GitTree::around(&self.cwd)).as_ref()
    }

    /// Returns the path if it is in the work tree and can be looked up.
    fn inside(&self, path: &str) -> Option<PathBuf> {
        let path = PathBuf::from(path);
        let has_pattern = path.to_str().is_none_or(|text| text.contains(['*', '?', '[', '$']));
        let root = || self.tree().map_or(self.cwd.as_path(), |tree| tree.root());
        (!self.is_late() && !has_pattern && path.starts_with(root())).then_some(path)
    }
}

impl Disk {
    /// Returns the path if it is beside the work tree, in the home directory or in
    /// `/tmp`; other paths may be on a network disk that hangs.
    fn near(&self, path: &str) -> Option<PathBuf> {
        let has_pattern = path.contains(['*', '?', '[', '$']);
        let home = crate::files::system_home();
        let root = self.root();
        let beside = root.as_deref().and_then(|root| Path::new(root).parent());
        let beside = beside.filter(|parent| parent.components().count() > 2);
        let is_near = beside.is_some_and(|parent| Path::new(path).starts_with(parent))
            || path.starts_with("/tmp/")
            || home.is_some_and(|home| Path::new(path).starts_with(home));
        (is_near && !has_pattern && !self.is_late()).then(|| PathBuf::from(path))
    }

    /// Returns the branch checked out in a directory.
    #[must_use]
    pub fn head(&self, directory: Option<&str>) -> Option<String> {
        let from = directory.map_or(self.cwd.as_path(), Path::new);
        let mut upwards = from.ancestors().take(UPWARDS);
        let root = upwards.find(|directory| directory.join(".git").exists())?;
        let mut text = String::new();
        let head = fs::File::open(git_directory(&root.join(".git"))?.join("HEAD")).ok()?;
        std::io::Read::read_to_string(&mut std::io::Read::take(head, 1 << 10), &mut text).ok()?;
        Some(text.trim().strip_prefix("ref: refs/heads/")?.to_owned())
    }
}

impl Disk {
    /// Whether the repository has a local or remote branch of this name; `None` if unknown.
    #[must_use]
    pub fn has_branch(&self, name: &str) -> Option<bool> {
        /// Maximum number of bytes read from the list of packed references.
        const MAX_PACKED: u64 = 4 << 20;
        if name.is_empty() || name.starts_with('/') || name.split('/').any(|part| part == "..") {
            return None;
        }
        let git = git_directory(&PathBuf::from(self.root()?).join(".git"))?;
        // A linked work tree has its references where the repository is.
        let common = fs::read_to_string(git.join("commondir")).ok();
        let git = common.map_or_else(|| git.clone(), |path| git.join(path.trim()));
        let is_there = |start: &Path| start.join(name).exists();
        let mut remotes = fs::read_dir(git.join("refs/remotes")).into_iter().flatten().flatten();
        if is_there(&git.join("refs/heads")) || remotes.any(|remote| is_there(&remote.path())) {
            return Some(true);
        }
        let packed = match fs::File::open(git.join("packed-refs")) {
            Ok(file) if file.metadata().is_ok_and(|about| about.len() > MAX_PACKED) => return None,
            Ok(mut file) => {
                let mut text = String::new();
                std::io::Read::read_to_string(&mut file, &mut text).ok()?;
                text
            }
            Err(_) => String::new(),
        };
        let is_name = |line: &str| {
            let reference = line.split_once(' ').map_or("", |(_, reference)| reference);
            let of_remote = || reference.strip_prefix("refs/remotes/")?.split_once('/');
            reference.strip_prefix("refs/heads/").or(of_remote().map(|(_, name)| name))
                == Some(name)
        };
        Some(packed.lines().any(is_name))
    }
}

impl FileFacts for Disk {
    fn is_clean(&self, directory: &str, paths: &[String], staged: bool) -> Option<bool> {
        let until = Instant::now() + LONG_BUDGET;
        let directory = Path::new(directory);
        match self.tree().filter(|tree| directory.starts_with(tree.root())) {
            // A repository inside the repository has files of its own.
            Some(tree) if !is_nested(directory, tree.root()) => tree.is_clean(paths, staged, until),
            _ => GitTree::around(directory)?.is_clean(paths, staged, until),
        }
    }

    fn is_here(&self) -> bool {
        true
    }

    fn behind_link(&self, path: &str, follows: bool) -> Option<String> {
        let path = Path::new(path);
        let named = if follows { path } else { path.parent()? };
        let roots = [self.root().map(PathBuf::from), Some(self.cwd.clone())];
        let temp = ["/tmp", "/var/tmp"].map(|temp| Some(PathBuf::from(temp)));
        let mut bases = roots.into_iter().chain(temp).flatten();
        let base = bases.find(|base| named.starts_with(base))?;
        let mut at = base.clone();
        for part in named.strip_prefix(&base).ok()?.components() {
            at.push(part);
            self.links.set(self.links.get() + 1);
            if self.links.get() > MAX_LINK_LOOK_UPS {
                return None;
            }
            if !fs::symlink_metadata(&at).ok()?.is_symlink() {
                continue;
            }
            let real = fs::canonicalize(&at).ok()?;
            // What is in the work tree keeps the way it is written there.
            let of_base = fs::canonicalize(&base).ok()?;
            let real = real.strip_prefix(of_base).map_or(real.clone(), |rest| base.join(rest));
            let rest = path.strip_prefix(&at).ok()?;
            let whole = if rest.as_os_str().is_empty() { real } else { real.join(rest) };
            let whole = whole.to_str()?.to_owned();
            let further = (whole != path.to_str()?).then(|| self.behind_link(&whole, follows));
            return Some(further.flatten().unwrap_or(whole));
        }
        None
    }

    fn names(&self, directory: &str) -> Option<Vec<String>> {
        let path = self.inside(directory).or_else(|| self.near(directory))?;
        let entries = match fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) => {
                let is_missing = error.kind() == std::io::ErrorKind::NotFound;
                return is_missing.then(Vec::new);
            }
        };
        let mut names = Vec::new();
        for entry in entries {
            if names.len() == MAX_NAMES {
                return None;
            }
            names.push(entry.ok()?.file_name().to_string_lossy().into_owned());
        }
        Some(names)
    }

    fn root(&self) -> Option<String> {
        let mut upwards = self.cwd.ancestors().take(UPWARDS);
        let root = upwards.find(|directory| directory.join(".git").exists())?;
        root.to_str().map(str::to_owned)
    }

    fn tracked(&self, path: &str) -> Option<bool> {
        let path = self.inside(path)?;
        let tree = self.tree()?;
        let relative = path.strip_prefix(tree.root()).ok()?.to_str()?;
        if relative.is_empty() {
            return None;
        }
        Some(tree.has(relative))
    }

    fn exists(&self, path: &str) -> Option<bool> {
        let path = self.inside(path).or_else(|| self.near(path))?;
        match fs::symlink_metadata(&path) {
            Ok(_) => Some(true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(false),
            Err(_) => None,
        }
    }
}

/// Whether there is a repository between a directory and the root of another.
fn is_nested(directory: &Path, root: &Path) -> bool {
    let between = directory.ancestors().take(UPWARDS).take_while(|at| *at != root);
    between.into_iter().any(|at| at.join(".git").exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_of_another_machine_has_no_facts() {
        assert!(Disk::at("/no/such/directory").is_none());
        assert!(Disk::at("relative").is_none());
    }

    #[test]
    fn a_session_below_the_root() {
        let root = tempfile::tempdir().unwrap();
        let docs = root.path().join("docs");
        fs::create_dir_all(root.path().join(".git")).unwrap();
        fs::create_dir_all(&docs).unwrap();
        let disk = Disk::at(docs.to_str().unwrap()).unwrap();
        assert_eq!(disk.root().as_deref(), root.path().to_str());
        let mut event =
            toolmark_hosts::HookEvent::new(toolmark_hosts::Moment::Before, "claude-code", "Edit");
        let path = root.path().join("README.md");
        event.args = toolmark_hosts::Args::Json(serde_json::json!({
            "file_path": path.to_str(), "old_string": "a", "new_string": "b"
        }));
        event.cwd = docs.to_str().map(Into::into);
        let verdict = crate::Guard::default().decide(&event, Some(&disk));
        assert_eq!(verdict.decision, toolmark_shell::Decision::Allow, "{}", verdict.reason);
    }

    #[test]
    fn a_tree_on_disk() {
        let root = tempfile::tempdir().unwrap();
        let git = root.path().join(".git");
        fs::create_dir(&git).unwrap();
        let index = crate::git_index::tests::index(&["kept.rs"]);
        fs::write(git.join("index"), index).unwrap();
        fs::write(root.path().join("new.rs"), "").unwrap();
        let disk = Disk::at(root.path().to_str().unwrap()).unwrap();
        let path = |name: &str| root.path().join(name).to_str().unwrap().to_owned();
        assert_eq!(disk.tracked(&path("kept.rs")), Some(true));
        assert_eq!(disk.tracked(&path("new.rs")), Some(false));
        assert_eq!(disk.exists(&path("new.rs")), Some(true));
        assert_eq!(disk.exists(&path("kept.rs")), Some(false));
        assert_eq!(disk.exists(&path("*.rs")), None);
        assert_eq!(disk.exists("/srv/somewhere"), None);
        assert_eq!(disk.tracked(root.path().to_str().unwrap()), None);
    }
}
