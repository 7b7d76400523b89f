//! Earlier actions of a session from the log: the fields `left` of its records within the end of
//! the log.

use crate::history::{Edge, FileHistory};
use jiff::Timestamp;
use serde::Deserialize;
use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use toolmark_session::past::Past;
use toolmark_shell::LeftState;

/// Number of bytes read from the end of the log.
const TAIL: u64 = 2 << 20;
/// Maximum number of records used.
const MAX_RECORDS: usize = 4096;

#[derive(Deserialize)]
struct AuditRow<'r> {
    #[serde(borrow, default)]
    session: Option<Cow<'r, str>>,
    #[serde(default)]
    left: Option<LeftState>,
}

/// Returns the earlier actions of a session from the log.
pub fn past(log: &Path, session: &str) -> Past {
    let mut past = Past::default();
    let mut records = 0;
    for bytes in ends(log) {
        for line in bytes.split(|byte| *byte == b'\n') {
            if records == MAX_RECORDS || memchr::memmem::find(line, b"\"left\":{").is_none() {
                continue;
            }
            let Ok(row) = serde_json::from_slice::<AuditRow<'_>>(line) else { continue };
            if let Some(left) = row.left.filter(|_| row.session.as_deref() == Some(session)) {
                records += 1;
                past.add(left);
            }
        }
    }
    past
}

/// The end of the log, with that of the log which was put aside last before it: it may hold
/// the begin of the session.
fn ends(log: &Path) -> [Vec<u8>; 2] {
    let size = fs::metadata(log).map_or(0, |about| about.len());
    let mut aside = log.as_os_str().to_owned();
    aside.push(".1");
    let before = if size < TAIL { tail(Path::new(&aside), TAIL - size) } else { Vec::new() };
    [before, tail(log, TAIL)]
}

#[derive(Deserialize)]
struct TimedRow<'r> {
    #[serde(borrow)]
    time: Cow<'r, str>,
    #[serde(borrow, default)]
    session: Option<Cow<'r, str>>,
    #[serde(borrow, default)]
    moment: Option<Cow<'r, str>>,
    #[serde(borrow, default)]
    call_id: Option<Cow<'r, str>>,
    #[serde(borrow, default)]
    decision: Option<Cow<'r, str>>,
    #[serde(default)]
    left: Option<LeftState>,
}

/// When a session made a file, or a directory that it is in, and when its calls ran.
pub(crate) fn history(log: &Path, session: &str, path: &str) -> FileHistory {
    let mut history = FileHistory::default();
    for bytes in ends(log) {
        for line in bytes.split(|byte| *byte == b'\n') {
            // Most lines of a log may be those of other sessions.
            if memchr::memmem::find(line, session.as_bytes()).is_none() {
                continue;
            }
            let Ok(row) = serde_json::from_slice::<TimedRow<'_>>(line) else { continue };
            if row.session.as_deref() != Some(session) {
                continue;
            }
            let Ok(time) = row.time.parse::<Timestamp>() else { continue };
            let made = row.left.iter().flat_map(|left| &left.made);
            if made.into_iter().any(|made| Path::new(path).starts_with(made)) {
                history.make(time);
            }
            let moment = row.moment.as_deref();
            let runs = moment == Some("before") && row.decision.as_deref() != Some("deny");
            if runs || moment == Some("after") {
                let call = row.call_id.map(Cow::into_owned);
                let is_asked = row.decision.as_deref() == Some("ask");
                history.edges.push(Edge { time, call, is_end: !runs, is_asked });
            }
        }
    }
    history
}

/// Reads the end of a file; empty if the file cannot be read.
pub(crate) fn tail(path: &Path, most: u64) -> Vec<u8> {
    let read = || {
        let about = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
        let mut file = File::open(path).ok()?;
        file.seek(SeekFrom::Start(about.len().saturating_sub(most))).ok()?;
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    };
    read().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use toolmark_shell::FileFacts;

    #[test]
    fn only_records_of_the_session_count() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("guard.jsonl");
        let row = |session: &str, made: &str| {
            json!({"toolmark_guard": 1, "session": session, "left": {"made": [made]}}).to_string()
        };
        fs::write(dir.path().join("guard.jsonl.1"), row("s", "/x/old") + "\n").unwrap();
        let lines = [row("s", "/x/a"), row("t", "/x/b"), "{\"left\":{".to_owned()];
        fs::write(&log, lines.join("\n")).unwrap();
        let past = past(&log, "s");
        assert!(past.made("/x/a") && past.made("/x/a/b") && past.made("/x/old"));
        assert!(!past.made("/x/b") && !past.made("/x"));
        assert!(!super::past(&dir.path().join("none"), "s").made("/x/a"));
    }
}
