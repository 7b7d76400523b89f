//! Facts about a running session: the files of this machine, and the session's earlier actions from
//! the log. The log is read only if a decision depends on it.

use crate::facts::Disk;
use crate::history::FileHistory;
use crate::{audit, transcript};
use jiff::Timestamp;
use std::cell::OnceCell;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use toolmark_hosts::HookEvent;
use toolmark_session::past::Past;
use toolmark_shell::{FileFacts, LeftState};

/// Maximum size of a script that the session did not write, in bytes; larger ones are not read.
const MAX_SCRIPT: u64 = 64 << 10;
/// Maximum number of bytes read from a script that the session wrote.
const MAX_OWN_SCRIPT: u64 = 256 << 10;

/// A session that runs on this machine.
#[derive(Debug)]
pub struct Live<'a> {
    disk: Disk,
    log: Option<&'a Path>,
    id: Option<&'a str>,
    past: OnceCell<Past>,
    transcript: Option<SessionTranscript<'a>>,
}

/// The file in which a host keeps the session.
#[derive(Debug, Clone, Copy)]
struct SessionTranscript<'a> {
    path: &'a Path,
    host: &'a str,
    cwd: Option<&'a str>,
}

impl<'a> Live<'a> {
    /// Creates the session with this ID, whose decisions are in this log.
    #[must_use]
    pub fn new(disk: Disk, log: Option<&'a Path>, id: Option<&'a str>) -> Self {
        Self { disk, log, id, past: OnceCell::new(), transcript: None }
    }

    /// With the file in which the host keeps the session.
    #[must_use]
    pub fn with_transcript(self, event: &'a HookEvent<'_>) -> Self {
        let path = event.transcript.as_deref().map(Path::new).filter(|path| path.is_absolute());
        let (host, cwd) = (&*event.host, event.cwd.as_deref());
        Self { transcript: path.map(|path| SessionTranscript { path, host, cwd }), ..self }
    }

    fn past(&self) -> &Past {
        self.past.get_or_init(|| match (self.log, self.id) {
            (Some(log), Some(id)) => audit::past(log, id),
            _ => Past::default(),
        })
    }

    /// Reduces the state that a call will leave behind to what is remembered: only files that do
    /// not exist yet will belong to the session, and only a file without other changes may be
    /// restored.
    #[must_use]
    pub fn refine(&self, left: LeftState) -> LeftState {
        let LeftState { made, changed, branches, .. } = left;
        let (new, there): (Vec<String>, Vec<String>) =
            made.into_iter().partition(|path| is_missing(path));
        let changed = there.into_iter().chain(changed);
        let changed = changed.filter(|path| self.has_no_other_changes(path)).collect();
        // A branch that is there already is not made, whatever a command says.
        let is_new = |name: &String| self.disk.has_branch(name) == Some(false);
        let branches = branches.into_iter().filter(is_new).collect();
        LeftState { made: new, changed, branches, head: None, ..left }
    }

    fn has_no_other_changes(&self, path: &str) -> bool {
        let directory = Path::new(path).parent().and_then(Path::to_str);
        let is_clean =
            || directory.and_then(|at| self.disk.is_clean(at, &[path.to_owned()], false));
        self.disk.tracked(path) == Some(true)
            && (is_clean() == Some(true) || self.past().changed(path))
    }

    /// Returns whether only the session changed a file that it made, judged by modification times.
    /// Background programs may change the file at any time.
    fn is_unchanged_by_others(&self, path: &str, history: impl FnOnce() -> FileHistory) -> bool {
        let about = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file);
        let changed = about.and_then(|about| Timestamp::try_from(about.modified().ok()?).ok());
        changed.is_none_or(|time| self.past().has_started() || history().is_own_change(time))
    }

    /// Returns whether the transcript shows that the session made a file. Only untracked files of
    /// the work tree are looked up, so that little depends on the transcript.
    fn has_written(&self, path: &str) -> bool {
        let Some(SessionTranscript { path: transcript, host, cwd }) = self.transcript else {
            return false;
        };
        if self.disk.tracked(path) != Some(false) || !self.is_plain_file(path) {
            return false;
        }
        let history = transcript::history(transcript, host, cwd, path);
        history.made.is_some() && self.is_unchanged_by_others(path, || history)
    }

    /// Returns whether the path is a regular file in the work tree, with no link on the way to it.
    fn is_plain_file(&self, path: &str) -> bool {
        let root = self.disk.root().and_then(|root| fs::canonicalize(root).ok());
        let real = fs::canonicalize(path).ok();
        let is_file = fs::symlink_metadata(path).is_ok_and(|about| about.is_file());
        let is_inside = real.zip(root).is_some_and(|(real, root)| {
            let relative = self.disk.root().and_then(|given| {
                Path::new(path).strip_prefix(given).ok().map(|rest| root.join(rest))
            });
            relative == Some(real)
        });
        is_file && is_inside
    }

    /// Whether no part of a path that the session made is a symbolic link.
    fn is_straight(&self, path: &str) -> bool {
        let parent = |path: &'_ str| path.rsplit_once('/').map(|(parent, _)| parent.to_owned());
        // A pattern may stand for a link, unless it is the last part.
        if parent(path).is_some_and(|parent| parent.contains(['*', '?', '['])) {
            return false;
        }
        let mut part = Some(path.to_owned());
        while let Some(path) = part.filter(|path| self.past().made(path)) {
            if fs::symlink_metadata(&path).is_ok_and(|about| about.is_symlink()) {
                return false;
            }
            part = parent(&path);
        }
        true
    }
}

fn is_missing(path: &str) -> bool {
    let is_absolute = path.starts_with('/');
    is_absolute
        && fs::symlink_metadata(path)
            .is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

impl FileFacts for Live<'_> {
    fn is_here(&self) -> bool {
        true
    }

    fn root(&self) -> Option<String> {
        self.disk.root()
    }

    fn tracked(&self, path: &str) -> Option<bool> {
        self.disk.tracked(path)
    }

    fn exists(&self, path: &str) -> Option<bool> {
        self.disk.exists(path)
    }

    fn behind_link(&self, path: &str, follows: bool) -> Option<String> {
        self.disk.behind_link(path, follows)
    }

    fn names(&self, directory: &str) -> Option<Vec<String>> {
        self.disk.names(directory)
    }

    fn made(&self, path: &str) -> bool {
        if !self.past().made(path) {
            return self.has_written(path);
        }
        let history = || match (self.log, self.id) {
            (Some(log), Some(id)) => audit::history(log, id, path),
            _ => FileHistory::default(),
        };
        self.is_straight(path) && self.is_unchanged_by_others(path, history)
    }

    fn changed(&self, path: &str) -> bool {
        self.past().changed(path)
    }

    fn is_clean(&self, directory: &str, paths: &[String], staged: bool) -> Option<bool> {
        self.disk.is_clean(directory, paths, staged)
    }

    fn is_own_branch(&self, directory: Option<&str>, name: Option<&str>) -> bool {
        match name {
            Some(name) => self.past().is_own_branch(directory, Some(name)),
            None => {
                let head = self.disk.head(directory);
                head.is_some_and(|name| self.past().is_own_branch(directory, Some(&name)))
            }
        }
    }

    fn started(&self, text: &str) -> bool {
        self.past().started(text)
    }

    /// Returns a script that the session wrote, or any other small text whose current content is
    /// not under version control.
    fn script(&self, path: &str) -> Option<String> {
        let about = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        let is_own = || self.past().made(path) || self.past().changed(path);
        let is_committed = || {
            let at = Path::new(path).parent().and_then(Path::to_str);
            let is_clean = at.and_then(|at| self.disk.is_clean(at, &[path.to_owned()], false));
            self.disk.tracked(path) == Some(true) && is_clean != Some(false)
        };
        if !is_own() && (about.len() > MAX_SCRIPT || is_committed()) {
            return None;
        }
        let mut bytes = Vec::new();
        File::open(path).ok()?.take(MAX_OWN_SCRIPT).read_to_end(&mut bytes).ok()?;
        let is_text = memchr::memchr(0, &bytes).is_none();
        is_text.then(|| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Returns the program behind a copy that the session made, or behind a link.
    fn program(&self, path: &str) -> Option<String> {
        let link = || {
            let target: PathBuf = fs::read_link(path).ok()?;
            Some(target.file_name()?.to_str()?.to_ascii_lowercase())
        };
        self.past().program(path).or_else(link)
    }

    fn downloaded(&self, path: &str) -> bool {
        self.past().downloaded(path)
    }

    fn holds_secret(&self, path: &str) -> bool {
        self.past().holds_secret(path)
    }
}
