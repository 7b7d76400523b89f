//! What the file system says about the paths a call names: is it there, does
//! version control have it. Looked up only where a verdict hangs on it, and only
//! inside the work tree; where an answer would take longer than the budget, it
//! is not known.

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use toolmark_shell::Facts;

/// All look-ups together may take so long.
const BUDGET: Duration = Duration::from_millis(2);
/// So many directories upwards may hold the root of the work tree.
const UPWARDS: usize = 64;
/// A larger index is not searched.
const LARGEST_INDEX: u64 = 16 << 20;

/// Facts about a work tree on this machine.
#[derive(Debug)]
pub struct Disk {
    cwd: PathBuf,
    until: Instant,
    tree: OnceCell<Option<Tree>>,
}

/// A work tree of git and its index.
#[derive(Debug)]
struct Tree {
    root: PathBuf,
    index: Vec<u8>,
}

impl Disk {
    /// Facts as seen from a directory; none where there is no such directory,
    /// as when a call of another machine is analyzed.
    #[must_use]
    pub fn at(cwd: &str) -> Option<Self> {
        let cwd = PathBuf::from(cwd);
        let is_here = cwd.is_absolute() && cwd.is_dir();
        is_here.then(|| Self { cwd, until: Instant::now() + BUDGET, tree: OnceCell::new() })
    }

    fn is_late(&self) -> bool {
        Instant::now() >= self.until
    }

    fn tree(&self) -> Option<&Tree> {
        self.tree.get_or_init(|| Tree::around(&self.cwd)).as_ref()
    }

    /// The path, where it lies in the work tree and can be looked up.
    fn inside(&self, path: &str) -> Option<PathBuf> {
        let path = PathBuf::from(path);
        let has_pattern = path.to_str().is_none_or(|text| text.contains(['*', '?', '[', '$']));
        let root = || self.tree().map_or(self.cwd.as_path(), |tree| tree.root.as_path());
        (!self.is_late() && !has_pattern && path.starts_with(root())).then_some(path)
    }
}

impl Facts for Disk {
    fn root(&self) -> Option<String> {
        let mut upwards = self.cwd.ancestors().take(UPWARDS);
        let root = upwards.find(|directory| directory.join(".git").exists())?;
        root.to_str().map(str::to_owned)
    }

    fn tracked(&self, path: &str) -> Option<bool> {
        let path = self.inside(path)?;
        let tree = self.tree()?;
        let relative = path.strip_prefix(&tree.root).ok()?.to_str()?;
        if relative.is_empty() {
            return None;
        }
        Some(tree.has(relative))
    }

    fn exists(&self, path: &str) -> Option<bool> {
        let path = self.inside(path)?;
        match fs::symlink_metadata(&path) {
            Ok(_) => Some(true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(false),
            Err(_) => None,
        }
    }
}

impl Tree {
    /// The work tree a directory lies in.
    fn around(cwd: &Path) -> Option<Self> {
        let root = cwd.ancestors().find(|dir| dir.join(".git").exists())?.to_path_buf();
        let index = index_of(&root.join(".git"))?;
        let size = fs::metadata(&index).ok()?.len();
        if size > LARGEST_INDEX {
            return None;
        }
        let index = fs::read(index).ok()?;
        // From version 4 on, paths are written in parts.
        let version = index.get(4..8)?;
        (index.starts_with(b"DIRC") && matches!(version, [0, 0, 0, 2 | 3]))
            .then_some(Self { root, index })
    }

    /// Does the index have this file, or something below this directory?
    fn has(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/').as_bytes();
        memchr::memmem::find_iter(&self.index, path).any(|at| {
            let Some(flags) = at.checked_sub(2).and_then(|from| self.index.get(from..at)) else {
                return false;
            };
            // An entry has the length of its whole path before it.
            let length = usize::from(u16::from_be_bytes([flags[0], flags[1]]) & 0xfff);
            let rest = self.index.get(at..).unwrap_or_default();
            let whole = memchr::memchr(0, rest).unwrap_or(0);
            let is_all = matches!(rest.get(path.len()), Some(0 | b'/'));
            is_all && length == whole.min(0xfff)
        })
    }
}

/// Where the index lies; `.git` is a file in further work trees of a repository.
fn index_of(git: &Path) -> Option<PathBuf> {
    if git.is_dir() {
        return Some(git.join("index"));
    }
    let text = fs::read_to_string(git).ok()?;
    let dir = text.strip_prefix("gitdir:")?.trim();
    Some(git.parent()?.join(dir).join("index"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An index with entries of these paths: a header, then for each 62 bytes of
    /// which the last two are flags, the path, and zeros up to a multiple of 8.
    fn index(paths: &[&str]) -> Vec<u8> {
        let mut out = b"DIRC\0\0\0\x02\0\0\0\x01".to_vec();
        for path in paths {
            let start = out.len();
            out.extend([0_u8; 60]);
            out.extend((path.len() as u16).to_be_bytes());
            out.extend(path.as_bytes());
            let padding = 8 - (out.len() - start) % 8;
            out.extend(vec![0; padding]);
        }
        out
    }

    #[test]
    fn paths_of_an_index() {
        let tree = Tree { root: "/w".into(), index: index(&["a.rs", "src/deep/main.rs", "z"]) };
        for (path, has) in [
            ("a.rs", true),
            ("src", true),
            ("src/deep", true),
            ("src/deep/main.rs", true),
            ("deep", false),
            ("main.rs", false),
            ("sr", false),
            ("a", false),
            ("a.r", false),
            ("z", true),
            ("zz", false),
        ] {
            assert_eq!(tree.has(path), has, "{path}");
        }
    }

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
            toolmark_hosts::Event::new(toolmark_hosts::Moment::Before, "claude-code", "Edit");
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
        fs::write(git.join("index"), index(&["kept.rs"])).unwrap();
        fs::write(root.path().join("new.rs"), "").unwrap();
        let disk = Disk::at(root.path().to_str().unwrap()).unwrap();
        let path = |name: &str| root.path().join(name).to_str().unwrap().to_owned();
        assert_eq!(disk.tracked(&path("kept.rs")), Some(true));
        assert_eq!(disk.tracked(&path("new.rs")), Some(false));
        assert_eq!(disk.exists(&path("new.rs")), Some(true));
        assert_eq!(disk.exists(&path("kept.rs")), Some(false));
        assert_eq!(disk.exists(&path("*.rs")), None);
        assert_eq!(disk.exists("/etc/passwd"), None);
        assert_eq!(disk.tracked(root.path().to_str().unwrap()), None);
    }
}
