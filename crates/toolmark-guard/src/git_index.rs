//! The index of a git work tree: the files it contains, and whether they are unchanged. Read from
//! the index file; git is not run, because it would run the programs that a repository configures.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Maximum size of an index that is searched, in bytes.
const LARGEST_INDEX: u64 = 16 << 20;

/// A git work tree and its index.
#[derive(Debug)]
pub(crate) struct GitTree {
    root: PathBuf,
    index: Vec<u8>,
    /// Modification time of the index.
    written: (u32, u32),
}

impl GitTree {
    /// Finds the work tree that contains a directory.
    pub(crate) fn around(cwd: &Path) -> Option<Self> {
        let root = cwd.ancestors().find(|dir| dir.join(".git").exists())?.to_path_buf();
        let index = git_directory(&root.join(".git"))?.join("index");
        let about = fs::metadata(&index).ok()?;
        if about.len() > LARGEST_INDEX {
            return None;
        }
        let written = modified(&about)?;
        let index = fs::read(index).ok()?;
        // From version 4 on, paths are written in parts.
        let version = index.get(4..8)?;
        (index.starts_with(b"DIRC") && matches!(version, [0, 0, 0, 2 | 3])).then_some(Self {
            root,
            index,
            written,
        })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Whether the index has this file, or a file below this directory.
    pub(crate) fn has(&self, path: &str) -> bool {
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

    /// Whether nothing would be lost if these files, or all, were replaced by the content of the
    /// index; `None` if that cannot be determined in time. With `staged`, content that is only in
    /// the index would be lost too.
    pub(crate) fn is_clean(&self, paths: &[String], staged: bool, until: Instant) -> Option<bool> {
        let mut wanted = Vec::new();
        for path in paths {
            let relative = Path::new(path).strip_prefix(&self.root).ok()?.to_str()?;
            wanted.push(relative.trim_end_matches('/'));
        }
        let mut found = vec![false; wanted.len()];
        let count = u32::from_be_bytes(self.index.get(8..12)?.try_into().ok()?);
        let mut at = ENTRIES;
        for number in 0..count {
            let entry = GitIndexEntry::at(&self.index, at)?;
            at += entry.size;
            let mut is_wanted = wanted.is_empty();
            for (want, found) in wanted.iter().zip(&mut found) {
                let rest = entry.path.strip_prefix(*want);
                if want.is_empty() || rest.is_some_and(|r| r.is_empty() || r.starts_with('/')) {
                    (is_wanted, *found) = (true, true);
                }
            }
            if !is_wanted {
                continue;
            }
            if number % 64 == 0 && Instant::now() >= until {
                return None;
            }
            if !entry.is_clean(&self.root, self.written)? {
                return Some(false);
            }
        }
        // A file that the index does not have is not replaced; what is meant is not known.
        if found.contains(&false) {
            return None;
        }
        if staged && !self.is_committed(at) {
            return None;
        }
        Some(true)
    }

    /// Returns the files of the index, in the order of their bytes, and whether each may differ
    /// from the index; `None` if that cannot be determined in time.
    pub(crate) fn files(&self, until: Instant) -> Option<Vec<(&str, bool)>> {
        let count = u32::from_be_bytes(self.index.get(8..12)?.try_into().ok()?);
        let mut files: Vec<(&str, bool)> = Vec::new();
        let mut at = ENTRIES;
        for number in 0..count {
            if number % 64 == 0 && Instant::now() >= until {
                return None;
            }
            let entry = GitIndexEntry::at(&self.index, at)?;
            at += entry.size;
            let may_differ = entry.is_clean(&self.root, self.written) != Some(true);
            match files.last_mut() {
                // A file in conflict has up to three entries.
                Some((path, differs)) if *path == entry.path => *differs |= may_differ,
                _ => files.push((entry.path, may_differ)),
            }
        }
        Some(files)
    }

    /// Whether the index is unchanged since the last commit or checkout. Git stores the tree it
    /// wrote then, and invalidates it when something is added.
    fn is_committed(&self, mut at: usize) -> bool {
        while let Some(name) = self.index.get(at..at + 4) {
            let Some(size) = self.index.get(at + 4..at + 8) else { return false };
            let size = u32::from_be_bytes([size[0], size[1], size[2], size[3]]) as usize;
            if name == b"TREE" {
                // The path of the root is empty; then the number of entries, or -1.
                let first = self.index.get(at + 9);
                return self.index.get(at + 8) == Some(&0) && first.is_some_and(u8::is_ascii_digit);
            }
            at += 8 + size;
        }
        false
    }
}

/// Offset of the first entry.
const ENTRIES: usize = 12;

/// One entry of the index.
struct GitIndexEntry<'i> {
    path: &'i str,
    modified: (u32, u32),
    mode: u32,
    length: u32,
    flags: u16,
    size: usize,
}

impl<'i> GitIndexEntry<'i> {
    /// Parses an entry: file metadata, 20 bytes of object name, flags, the path, zeros up to a
    /// multiple of 8.
    fn at(index: &'i [u8], at: usize) -> Option<Self> {
        const FIXED: usize = 62;
        let number = |offset: usize| {
            let bytes = index.get(at + offset..at + offset + 4)?;
            Some(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
        };
        let flags = index.get(at + FIXED - 2..at + FIXED)?;
        let flags = u16::from_be_bytes([flags[0], flags[1]]);
        let start = at + FIXED + if flags & 0x4000 != 0 { 2 } else { 0 };
        let rest = index.get(start..)?;
        let length = memchr::memchr(0, rest)?;
        if length.min(0xfff) != usize::from(flags & 0xfff) {
            return None;
        }
        let path = std::str::from_utf8(rest.get(..length)?).ok()?;
        let used = start - at + length;
        let size = used + 8 - used % 8;
        Some(Self {
            path,
            modified: (number(8)?, number(12)?),
            mode: number(24)?,
            length: number(36)?,
            flags,
            size,
        })
    }

    /// Whether the file is unchanged from the index, by size and time. A deleted file has nothing
    /// to lose.
    fn is_clean(&self, root: &Path, written: (u32, u32)) -> Option<bool> {
        const SUBMODULE: u32 = 0o160_000;
        const MARKS: u16 = 0x8000 | 0x4000;
        if self.mode == SUBMODULE {
            return Some(true);
        }
        // In a conflict, or marked so that git does not look at it.
        if self.flags & 0x3000 != 0 || self.flags & MARKS != 0 {
            return None;
        }
        let about = match fs::symlink_metadata(root.join(self.path)) {
            Ok(about) => about,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Some(true),
            Err(_) => return None,
        };
        let modified = modified(&about)?;
        let same_time = modified.0 == self.modified.0
            && (modified.1 == self.modified.1 || self.modified.1 == 0);
        if !same_time || about.len() as u32 != self.length {
            return Some(false);
        }
        // Changed in the moment the index was written, it may have the same time.
        (self.modified < written).then_some(true)
    }
}

/// Returns the modification time of a file: seconds and fractions.
#[cfg(unix)]
fn modified(about: &fs::Metadata) -> Option<(u32, u32)> {
    use std::os::unix::fs::MetadataExt;
    Some((about.mtime() as u32, about.mtime_nsec() as u32))
}

#[cfg(not(unix))]
fn modified(_: &fs::Metadata) -> Option<(u32, u32)> {
    None
}

/// Returns git's directory; `.git` is a file in additional work trees of a repository.
pub(crate) fn git_directory(git: &Path) -> Option<PathBuf> {
    if git.is_dir() {
        return Some(git.to_owned());
    }
    let mut text = String::new();
    let file = fs::File::open(git).ok()?;
    std::io::Read::read_to_string(&mut std::io::Read::take(file, 4 << 10), &mut text).ok()?;
    let dir = text.strip_prefix("gitdir:")?.trim();
    Some(git.parent()?.join(dir))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Builds an index with entries of these paths: a header, then for each entry 62 bytes of which
    /// the last two are flags, the path, and zeros up to a multiple of 8.
    pub(crate) fn index(paths: &[&str]) -> Vec<u8> {
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
        let index = index(&["a.rs", "src/deep/main.rs", "z"]);
        let tree = GitTree { root: "/w".into(), index, written: (0, 0) };
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
    fn changes_of_a_real_tree() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let git = |args: &[&str]| {
            let mut git = std::process::Command::new("git");
            git.current_dir(&root).args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(args);
            git.env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", &root);
            git.output().is_ok_and(|output| output.status.success())
        };
        if !git(&["init", "-q"]) {
            toolmark_testing::skip("git is not installed");
            return;
        }
        fs::create_dir(root.join("src")).unwrap();
        for name in ["a.rs", "src/b.rs"] {
            fs::write(root.join(name), "one\n").unwrap();
            let old = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
            fs::File::options()
                .append(true)
                .open(root.join(name))
                .unwrap()
                .set_modified(old)
                .unwrap();
        }
        assert!(git(&["add", "."]) && git(&["commit", "-q", "-m", "a"]));
        let clean = |paths: &[&str], staged| {
            let paths: Vec<String> =
                paths.iter().map(|path| root.join(path).to_str().unwrap().to_owned()).collect();
            let until = Instant::now() + std::time::Duration::from_secs(5);
            GitTree::around(&root).unwrap().is_clean(&paths, staged, until)
        };
        assert_eq!(clean(&[], true), Some(true));
        assert_eq!(clean(&["a.rs"], true), Some(true));
        assert_eq!(clean(&["new.rs"], false), None);
        fs::write(root.join("src/b.rs"), "two, and longer\n").unwrap();
        assert_eq!(clean(&[], true), Some(false));
        assert_eq!(clean(&["src"], false), Some(false));
        assert_eq!(clean(&["a.rs"], false), Some(true));
        let old = std::time::SystemTime::now() - std::time::Duration::from_secs(30);
        let file = fs::File::options().append(true).open(root.join("src/b.rs")).unwrap();
        file.set_modified(old).unwrap();
        assert!(git(&["add", "."]));
        assert_eq!(clean(&["src"], false), Some(true), "the index has it");
        assert_eq!(clean(&["src"], true), None, "it is not committed");
        fs::remove_file(root.join("a.rs")).unwrap();
        assert_eq!(clean(&["a.rs"], false), Some(true), "what is gone cannot be lost");
    }
}
