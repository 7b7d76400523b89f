//! Watched session folders: changed files are read again after a short delay.
//!
//! System notifications make this fast; a scan every half minute finds changes that they miss
//! (network file systems, new folders, overflowing queues). The store keeps the state of each file:
//! inode, size, the end of its complete lines, and a hash of its beginning, so that no data are
//! read twice after a restart.

use crate::evaluate::{Evaluated, Evaluator};
use crate::evaluators::Queue;
use crate::live::Hub;
use crate::model::{SessionRow, SessionSource, Time};
use crate::sessions;
use crate::store::{SessionStore, StoreError, lock};
use jiff::{SignedDuration, Timestamp};
use notify::{RecursiveMode, Watcher};
use rusqlite::{OptionalExtension, params};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{File, Metadata};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, UNIX_EPOCH};
use toolmark_trace::{ReadError, ReadOptions, load_path};
use walkdir::WalkDir;

/// Interval of full scans.
const POLL: Duration = Duration::from_secs(30);

/// Minimum delay before a changed file is read.
const MIN_REST: Duration = Duration::from_millis(300);

/// File size per additional second of delay, so that reading a growing file repeatedly takes only a
/// fraction of the time.
const BYTES_PER_SECOND: u64 = 64 << 20;

/// Maximum delay.
const MAX_REST: Duration = Duration::from_secs(30);

/// Delay before a failed write is retried.
const RETRY: Duration = Duration::from_secs(2);

/// Size above which a file is read by a separate thread: its memory is released when the thread
/// ends.
const LARGE: u64 = 1 << 20;

/// Number of bytes at the beginning of a file that show whether it was rewritten.
const PREFIX: u64 = 4 << 10;

/// A watched folder.
#[derive(Debug, Clone)]
pub struct Folder {
    /// Path of the folder, or of a file.
    pub path: PathBuf,
    /// Host of the sessions.
    pub host: Option<&'static str>,
    /// Returns the ID of the session in a file; `None` for other files.
    pub session: fn(&Path) -> Option<String>,
}

/// State of a watched folder.
#[derive(Debug, Clone, Default)]
pub(crate) struct FolderState {
    pub(crate) exists: bool,
    pub(crate) files: u64,
    pub(crate) last_change: Option<i64>,
    pub(crate) problem: Option<String>,
}

/// State of the watch thread.
pub(crate) struct WatchState {
    pub(crate) folders: Vec<Folder>,
    pub(crate) store: Arc<SessionStore>,
    pub(crate) evaluator: Arc<Evaluator>,
    pub(crate) hub: Arc<Hub>,
    pub(crate) states: Arc<Mutex<Vec<FolderState>>>,
    /// Queue of the evaluators, if there are any.
    pub(crate) queue: Option<Arc<Queue>>,
    /// Age above which sessions are ignored.
    pub(crate) retention: Option<SignedDuration>,
    pub(crate) stop: Arc<AtomicBool>,
}

/// A changed file that waits to be read.
struct Due {
    at: Instant,
    /// Time of the first change since the file was read.
    since: Instant,
    /// Changed files of sub-agents.
    companions: BTreeSet<PathBuf>,
}

/// State of a file in the store.
struct StoredFileState {
    inode: u64,
    size: u64,
    modified: i64,
}

impl WatchState {
    /// Watches until it is stopped.
    pub(crate) fn run(self) {
        let (tell, told) = channel();
        let mut watcher = watcher(tell);
        let mut watched = vec![false; self.folders.len()];
        let mut due: BTreeMap<PathBuf, Due> = BTreeMap::new();
        let mut next_poll = Instant::now();
        while !self.stop.load(Ordering::Relaxed) {
            if Instant::now() >= next_poll {
                self.subscribe(watcher.as_mut(), &mut watched);
                self.poll(&mut due);
                next_poll = Instant::now() + POLL;
            }
            self.take_notices(&told, &due, next_poll).into_iter().for_each(|path| {
                self.note(&path, &mut due);
            });
            self.read_due(&mut due);
        }
    }

    /// Subscribes to notifications, also for folders that appeared later.
    fn subscribe(&self, watcher: Option<&mut impl Watcher>, watched: &mut [bool]) {
        let Some(watcher) = watcher else { return };
        for (at, (folder, is_watched)) in self.folders.iter().zip(watched).enumerate() {
            if !folder.path.exists() {
                if std::mem::take(is_watched) {
                    let _ = watcher.unwatch(&folder.path);
                }
            } else if !*is_watched {
                let result = watcher.watch(&folder.path, RecursiveMode::Recursive);
                *is_watched = result.is_ok();
                self.state(at, |state| {
                    state.problem = result
                        .err()
                        .map(|error| format!("changes are only noticed every 30 s: {error}"));
                });
            }
        }
    }

    fn state(&self, at: usize, change: impl FnOnce(&mut FolderState)) {
        if let Some(state) = lock(&self.states).get_mut(at) {
            change(state);
        }
    }

    /// Collects notifications until a file is due.
    fn take_notices(
        &self,
        told: &Receiver<PathBuf>,
        due: &BTreeMap<PathBuf, Due>,
        next_poll: Instant,
    ) -> Vec<PathBuf> {
        const LONGEST: Duration = Duration::from_millis(250);
        let first = due.values().map(|due| due.at).min().unwrap_or(next_poll).min(next_poll);
        let wait = first.saturating_duration_since(Instant::now()).min(LONGEST);
        let mut paths = match told.recv_timeout(wait) {
            Ok(path) => vec![path],
            Err(RecvTimeoutError::Timeout) => Vec::new(),
            // There is no watcher: polling goes on.
            Err(RecvTimeoutError::Disconnected) => {
                std::thread::sleep(wait);
                Vec::new()
            }
        };
        paths.extend(told.try_iter());
        paths
    }

    /// Queues the session that a changed file belongs to.
    fn note(&self, path: &Path, due: &mut BTreeMap<PathBuf, Due>) {
        let Some(session) = self.session_of(path) else { return };
        let now = Instant::now();
        let size = std::fs::metadata(&session).map_or(0, |data| data.len());
        let rest = MIN_REST + Duration::from_secs_f64(size as f64 / BYTES_PER_SECOND as f64);
        let due = due.entry(session.clone()).or_insert_with(|| Due {
            at: now,
            since: now,
            companions: BTreeSet::new(),
        });
        // A file that is written all the time is read all the same.
        due.at = (now + rest.min(MAX_REST)).min(due.since + 3 * rest);
        if session != path {
            due.companions.insert(path.to_owned());
        }
    }

    /// Returns the session file that a file belongs to: itself, or the file that its folder is
    /// named after (sub-agents).
    fn session_of(&self, path: &Path) -> Option<PathBuf> {
        let folder = self.folders.iter().find(|folder| path.starts_with(&folder.path))?;
        if (folder.session)(path).is_some() {
            return path.is_file().then(|| path.to_owned());
        }
        let above = path.ancestors().skip(1).take_while(|one| one.starts_with(&folder.path));
        above.map(|one| one.with_extension("jsonl")).find(|file| file.is_file())
    }

    /// Scans all folders.
    fn poll(&self, due: &mut BTreeMap<PathBuf, Due>) {
        let known = self.known();
        let mut found: Vec<(i64, PathBuf)> = Vec::new();
        for (at, folder) in self.folders.iter().enumerate() {
            let mut state = FolderState {
                exists: folder.path.exists(),
                problem: lock(&self.states).get(at).and_then(|state| state.problem.clone()),
                ..FolderState::default()
            };
            let entries = WalkDir::new(&folder.path)
                .into_iter()
                .filter_entry(|entry| entry.file_name() != ".git")
                .filter_map(Result::ok);
            for entry in entries.filter(|entry| entry.file_type().is_file()) {
                if self.stop.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(data) = entry.metadata() else { continue };
                let is_session = (folder.session)(entry.path()).is_some();
                state.files += u64::from(is_session);
                state.last_change = state.last_change.max(Some(modified(&data)));
                if data.len() == 0 {
                    continue;
                }
                let path = entry.into_path();
                let is_known = known.get(&*path.to_string_lossy()).is_some_and(|known| {
                    known.size == data.len()
                        && known.modified == modified(&data)
                        && known.inode == inode(&data)
                });
                if !is_known && !is_session {
                    self.note(&path, due);
                } else if !is_known && !due.contains_key(&path) {
                    found.push((modified(&data), path));
                }
            }
            if !state.exists && lock(&self.states).get(at).is_some_and(|old| old.files > 0) {
                state.problem = Some("the folder is gone; its sessions are still shown".to_owned());
            }
            self.state(at, |old| {
                // What was there before it disappeared is remembered.
                let files = if state.exists { state.files } else { old.files };
                *old = FolderState { files, ..state };
            });
        }
        // What is new is seen first.
        found.sort_unstable_by(|a, b| b.cmp(a));
        let now = Instant::now();
        for (rank, (_, path)) in (0..).zip(found) {
            let at = now + Duration::from_micros(rank);
            due.insert(path, Due { at, since: now, companions: BTreeSet::new() });
        }
    }

    fn known(&self) -> HashMap<String, StoredFileState> {
        let read = self.store.read(|db| {
            let mut all =
                db.prepare_cached("SELECT path, inode, size, modified FROM source_file")?;
            let rows = all.query_map([], |row| {
                let number = |at| row.get::<_, i64>(at).map(i64::cast_unsigned);
                let known =
                    StoredFileState { inode: number(1)?, size: number(2)?, modified: row.get(3)? };
                Ok((row.get(0)?, known))
            })?;
            rows.collect()
        });
        read.unwrap_or_default()
    }

    /// Reads the files whose delay is over, the longest due first.
    fn read_due(&self, due: &mut BTreeMap<PathBuf, Due>) {
        /// Maximum time between two collections of notifications.
        const SLICE: Duration = Duration::from_millis(200);
        let began = Instant::now();
        let mut ready: Vec<(Instant, PathBuf)> = due
            .iter()
            .filter(|(_, due)| due.at <= began)
            .map(|(path, due)| (due.at, path.clone()))
            .collect();
        ready.sort_unstable();
        for (_, path) in ready {
            if began.elapsed() > SLICE || self.stop.load(Ordering::Relaxed) {
                return;
            }
            let Some(Due { companions, .. }) = due.remove(&path) else { continue };
            match self.read_file(&path, &companions) {
                Ok(0) => {}
                Ok(count) => self.hub.sessions(count),
                // A failed write is retried; the page shows the error.
                Err(StoreError::Closed) => return,
                Err(_) => {
                    let now = Instant::now();
                    due.insert(path, Due { at: now + RETRY, since: now, companions });
                }
            }
        }
    }

    /// Whether the retention period of a session is over.
    fn is_old(&self, row: &SessionRow) -> bool {
        let ended = row.ended.map(|Time(ended)| ended.duration_until(Timestamp::now()));
        self.retention.zip(ended).is_some_and(|(age, ago)| ago > age)
    }

    /// Returns the sessions of a file with their positions in it, and the read error, if any.
    fn evaluate(&self, path: &Path) -> (Vec<(usize, Evaluated)>, Option<String>) {
        match load_path(path, &ReadOptions::default()) {
            Ok(loaded) => {
                let evaluated = loaded
                    .runs
                    .iter()
                    .map(|run| self.evaluator.evaluate(run, SessionSource::File))
                    .enumerate()
                    .filter(|(_, one)| !self.is_old(&one.row))
                    .collect();
                let skipped = loaded.skipped;
                let problem = (skipped > 0).then(|| format!("{skipped} records could not be read"));
                (evaluated, problem)
            }
            // Not everything in a folder is a trace.
            Err(ReadError::UnknownFormat { .. }) => (Vec::new(), None),
            Err(ReadError::File(error)) if error.is_empty() => (Vec::new(), None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        }
    }

    /// Reads a file and stores its sessions; returns their number.
    fn read_file(&self, path: &Path, companions: &BTreeSet<PathBuf>) -> Result<u64, StoreError> {
        let Ok(mut file) = File::open(path) else { return Ok(0) };
        let Ok(data) = file.metadata() else { return Ok(0) };
        let name = path.to_string_lossy().into_owned();
        let (prefix, offset) = (prefix(&mut file), whole_lines(&mut file, data.len()));
        let old: Option<(i64, i64, Vec<u8>)> = self.store.read(|db| {
            db.prepare_cached("SELECT inode, offset, prefix FROM source_file WHERE path = ?1")?
                .query_row([&name], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
                .optional()
        })?;
        let inode = inode(&data).cast_signed();
        // Only the start of a line was added: it is read when the rest is there.
        let is_partial = old.as_ref().is_some_and(|(old_inode, old_offset, old_prefix)| {
            *old_inode == inode && *old_offset == offset.cast_signed() && *old_prefix == prefix
        });
        let is_lines = path.extension().is_some_and(|ending| ending == "jsonl");
        let size = data.len().cast_signed();
        let changed = modified(&data);
        let seen = move |db: &rusqlite::Connection, name: &str, problem: Option<String>| {
            db.prepare_cached("INSERT OR REPLACE INTO source_file VALUES (?1,?2,?3,?4,?5,?6,?7)")?
                .execute(params![name, inode, size, changed, offset.cast_signed(), prefix, problem])
                .map(drop)
        };
        if is_partial && is_lines && companions.is_empty() {
            self.store.write_derived(move |db| seen(db, &name, None))?;
            return Ok(0);
        }
        let (sessions, problem) = match data.len() > LARGE {
            true => std::thread::scope(|scope| scope.spawn(|| self.evaluate(path)).join())
                .unwrap_or_else(|_| (Vec::new(), Some("evaluating it failed".to_owned()))),
            false => self.evaluate(path),
        };
        let count = sessions.len() as u64;
        let beside: Vec<(String, i64, i64, i64)> = companions
            .iter()
            .filter_map(|path| {
                let data = std::fs::metadata(path).ok()?;
                let (inode, size) = (self::inode(&data), data.len());
                let name = path.to_string_lossy().into_owned();
                Some((name, inode.cast_signed(), size.cast_signed(), modified(&data)))
            })
            .collect();
        let file = name.clone();
        sessions::put_file(&self.store, &name, changed, sessions, move |db| {
            for (name, inode, size, modified) in beside {
                db.prepare_cached(
                    "INSERT OR REPLACE INTO source_file VALUES (?1,?2,?3,?4,0,'',NULL)",
                )?
                .execute(params![name, inode, size, modified])?;
            }
            seen(db, &file, problem)
        })?;
        if let Some(queue) = self.queue.as_ref().filter(|_| count > 0) {
            queue.add(self.store.read(|db| sessions::ids_of(db, &path.to_string_lossy()))?);
        }
        Ok(count)
    }
}

fn watcher(tell: Sender<PathBuf>) -> Option<notify::RecommendedWatcher> {
    let handler = move |event: notify::Result<notify::Event>| {
        let Ok(event) = event else { return };
        if event.kind.is_access() {
            return;
        }
        for path in event.paths {
            let _ = tell.send(path);
        }
    };
    notify::recommended_watcher(handler).ok()
}

/// Modification time of a file, in milliseconds.
fn modified(data: &Metadata) -> i64 {
    let time = data.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    time.and_then(|time| i64::try_from(time.as_millis()).ok())
        .unwrap_or_else(|| Timestamp::now().as_millisecond())
}

fn inode(data: &Metadata) -> u64 {
    #[cfg(unix)]
    {
        std::os::unix::fs::MetadataExt::ino(data)
    }
    #[cfg(not(unix))]
    {
        let _ = data;
        0
    }
}

/// A hash of the beginning of a file.
fn prefix(file: &mut File) -> Vec<u8> {
    let mut start = Vec::new();
    let _ = file.take(PREFIX).read_to_end(&mut start);
    // A beginning that still grows would be another one each time.
    let whole = start.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    start.truncate(whole);
    Sha256::digest(&start).to_vec()
}

/// Number of bytes in complete lines of a file.
fn whole_lines(file: &mut File, size: u64) -> u64 {
    const BLOCK: u64 = 64 << 10;
    /// Maximum length of a line whose start is searched for.
    const MAX_LINE: u64 = 64 << 20;
    let mut end = size;
    let mut block = Vec::new();
    while end > size.saturating_sub(MAX_LINE) {
        let start = end.saturating_sub(BLOCK);
        block.clear();
        let read = file
            .seek(SeekFrom::Start(start))
            .and_then(|_| file.by_ref().take(end - start).read_to_end(&mut block));
        if read.is_err() {
            return size;
        }
        if let Some(at) = block.iter().rposition(|byte| *byte == b'\n') {
            return start + at as u64 + 1;
        }
        end = start;
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_complete_up_to_the_last_line_end() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        let long = "x".repeat(200_000);
        for (text, want) in [
            ("", 0),
            ("{}", 0),
            ("{}\n", 3),
            ("{}\n{\"a\":", 3),
            (&*format!("{{}}\n{long}"), 3),
            (&*format!("{long}\n{long}\n{long}"), 400_002),
        ] {
            std::fs::write(&path, text).unwrap();
            let mut file = File::open(&path).unwrap();
            assert_eq!(whole_lines(&mut file, text.len() as u64), want);
        }
    }
}
