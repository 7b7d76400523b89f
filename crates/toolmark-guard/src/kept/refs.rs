//! References that a git command deletes or moves: branches, tags, notes and stashes, with the
//! objects that only they reach. The objects are kept in a pack inside the entry, so that nothing
//! in the repository changes.

use super::commands::Wanted;
use super::copy::KeepError;
use super::store::Draft;
use crate::git_index::git_directory;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Maximum number of references of a repository.
const MAX_REFS: usize = 20_000;
/// Maximum number of references whose objects are left out of a pack.
const MAX_EXCLUDED: usize = 500;
/// Time limit for making a pack.
const MAX_PACK_TIME: Duration = Duration::from_secs(1);
/// Name of the kept configuration.
pub(super) const CONFIG: &str = "config";
/// Name of the kept list of stashes.
pub(super) const STASHES: &str = "stashes";
/// Prefix of kept packs.
pub(super) const PACK: &str = "pack";
/// Reference of the newest stash.
pub(super) const STASH: &str = "refs/stash";

/// References as they were.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Refs {
    /// Root of the work tree.
    pub root: PathBuf,
    /// The references that the call may delete or move.
    pub refs: Vec<Ref>,
    /// Whether the list of stashes is kept.
    pub stashes: bool,
}

/// One reference.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ref {
    /// Full name.
    pub name: String,
    /// Object that it names.
    pub value: String,
    /// Name of its kept log in the entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
}

/// State in which a call left references.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct LeftRefs {
    pub(super) refs: Vec<(String, Option<String>)>,
    pub(super) stashes: Option<String>,
}

/// The directories of a repository.
#[derive(Debug)]
pub(super) struct Repository {
    pub(super) root: PathBuf,
    git: PathBuf,
    /// Directory that all work trees share.
    pub(super) common: PathBuf,
}

impl Repository {
    pub(super) fn around(directory: &Path) -> Option<Self> {
        let root = directory.ancestors().find(|at| at.join(".git").exists())?.to_owned();
        let git = git_directory(&root.join(".git"))?;
        let common = fs::read_to_string(git.join("commondir")).ok();
        let common = common.map_or_else(|| git.clone(), |path| git.join(path.trim()));
        Some(Self { root, git, common })
    }

    /// Returns all references and the objects that they name; symbolic ones are left out.
    pub(super) fn refs(&self) -> Result<Vec<(String, String)>, KeepError> {
        if self.common.join("reftable").exists() {
            return Err(KeepError::RefFormat);
        }
        let mut all = Vec::new();
        let mut pending = vec!["refs".to_owned()];
        while let Some(name) = pending.pop() {
            for entry in fs::read_dir(self.common.join(&name)).into_iter().flatten().flatten() {
                let Ok(part) = entry.file_name().into_string() else { continue };
                let name = format!("{name}/{part}");
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    pending.push(name);
                } else if let Ok(value) = fs::read_to_string(entry.path())
                    && is_object(value.trim())
                {
                    all.push((name, value.trim().to_owned()));
                }
                if all.len() + pending.len() > MAX_REFS {
                    return Err(KeepError::TooManyRefs(MAX_REFS));
                }
            }
        }
        let loose = all.len();
        let packed = fs::read_to_string(self.common.join("packed-refs")).unwrap_or_default();
        for (value, name) in packed.lines().filter_map(|line| line.split_once(' ')) {
            let is_loose = || all.iter().take(loose).any(|(known, _)| known == name);
            if is_object(value) && !is_loose() {
                all.push((name.to_owned(), value.to_owned()));
            }
            if all.len() > MAX_REFS {
                return Err(KeepError::TooManyRefs(MAX_REFS));
            }
        }
        Ok(all)
    }

    /// Returns the object that one reference names.
    pub(super) fn value(&self, name: &str) -> Option<String> {
        if let Ok(text) = fs::read_to_string(self.common.join(name)) {
            return Some(text.trim().to_owned());
        }
        let packed = fs::read_to_string(self.common.join("packed-refs")).ok()?;
        let mut lines = packed.lines().filter_map(|line| line.split_once(' '));
        lines.find(|(_, known)| *known == name).map(|(value, _)| value.to_owned())
    }

    pub(super) fn log(&self, name: &str) -> PathBuf {
        self.common.join("logs").join(name)
    }

    /// Returns the commit of `HEAD`.
    fn head(&self) -> Option<String> {
        let text = fs::read_to_string(self.git.join("HEAD")).ok()?;
        match text.trim().strip_prefix("ref: ") {
            Some(name) => self.value(name),
            None => Some(text.trim().to_owned()),
        }
    }
}

fn is_object(value: &str) -> bool {
    value.len() >= 40 && value.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the objects of a log of stashes, the oldest first, with their messages.
pub(super) fn stashes(log: &str) -> impl DoubleEndedIterator<Item = (&str, &str)> {
    log.lines().filter_map(|line| {
        let (about, message) = line.split_once('\t').unwrap_or((line, ""));
        Some((about.split(' ').nth(1).filter(|value| is_object(value))?, message))
    })
}

/// Keeps the references that a command names; `None` if there are none of these names.
pub(super) fn keep(wanted: &Wanted, draft: &Draft) -> Result<Option<Refs>, KeepError> {
    let at = Repository::around(&wanted.directory).ok_or(KeepError::NoRepository)?;
    let all = at.refs()?;
    let (touched, others): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|(name, _)| wanted.names(name));
    let log = match wanted.stashes {
        true => fs::read_to_string(at.log(STASH)).ok(),
        false => None,
    };
    if touched.is_empty() && log.is_none() {
        return Ok(None);
    }
    let why = KeepError::at(&at.common);
    let head = at.head();
    let mut tips: Vec<&str> = touched.iter().map(|(_, value)| value.as_str()).collect();
    tips.extend(log.iter().flat_map(|log| stashes(log)).map(|(value, _)| value));
    // The log of `HEAD` keeps its commit.
    tips.retain(|value| Some(*value) != head.as_deref());
    tips.sort_unstable();
    tips.dedup();
    let excluded = others.iter().filter(|(name, _)| name != STASH).map(|(_, value)| value);
    let excluded = excluded.take(MAX_EXCLUDED).chain(&head).map(String::as_str);
    pack(&at.root, &tips, excluded, draft)?;
    if let Some(log) = &log {
        fs::write(draft.directory.join(STASHES), log).map_err(&why)?;
    }
    let mut refs = Vec::new();
    for (number, (name, value)) in touched.into_iter().enumerate() {
        let file = format!("log-{number}");
        let log = fs::copy(at.log(&name), draft.directory.join(&file)).is_ok().then_some(file);
        refs.push(Ref { name, value, log });
    }
    if refs.iter().any(|known| known.name.starts_with("refs/heads/")) {
        fs::copy(at.common.join("config"), draft.directory.join(CONFIG)).map_err(&why)?;
    }
    Ok(Some(Refs { root: at.root, refs, stashes: log.is_some() }))
}

/// Writes the objects that only these references reach into the entry.
fn pack<'a>(
    root: &Path,
    tips: &[&str],
    excluded: impl Iterator<Item = &'a str>,
    draft: &Draft,
) -> Result<(), KeepError> {
    if tips.is_empty() {
        return Ok(());
    }
    let mut wanted = tips.join("\n");
    for value in excluded {
        wanted.push_str("\n^");
        wanted.push_str(value);
    }
    wanted.push('\n');
    let mut command = git(root);
    command.args(["pack-objects", "--revs", "--quiet", "--threads=1", "--no-reuse-delta"]);
    command.args(["--window=0"]).arg(draft.directory.join(PACK));
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(KeepError::Git)?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(wanted.as_bytes()).map_err(KeepError::Git)?;
    }
    let until = Instant::now() + MAX_PACK_TIME;
    let status = loop {
        match child.try_wait().map_err(KeepError::Git)? {
            Some(status) => break status,
            None if Instant::now() < until => std::thread::sleep(Duration::from_millis(1)),
            None => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(KeepError::SlowPack);
            }
        }
    };
    if status.success() { Ok(()) } else { Err(KeepError::NoPack) }
}

/// Returns a command that runs git without the programs that a repository configures.
pub(super) fn git(root: &Path) -> Command {
    let mut command = Command::new("git");
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"] {
        command.env_remove(name);
    }
    command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_OPTIONAL_LOCKS", "0");
    command.arg("-C").arg(root).args(["-c", "core.hooksPath=/dev/null"]);
    command.args(["-c", "core.fsmonitor=false"]).stdin(Stdio::null());
    command
}

impl Refs {
    /// Returns what the references are now.
    pub(super) fn now(&self) -> Option<LeftRefs> {
        let at = Repository::around(&self.root)?;
        let refs = self.refs.iter().map(|known| (known.name.clone(), at.value(&known.name)));
        let stashes = self.stashes.then(|| fs::read_to_string(at.log(STASH)).unwrap_or_default());
        Some(LeftRefs { refs: refs.collect(), stashes })
    }
}
