//! The last decision about each host, from the log.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use toolmark_guard::policy::Log;

/// So much of the end of the log is looked at.
const TAIL: u64 = 4 << 20;

/// The session of calls that only try the hook.
pub(super) const TRIAL: &str = "toolmark-guard-doctor";

/// A decision, and when it was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Last {
    pub(super) time: String,
    pub(super) decision: String,
}

#[derive(Deserialize)]
struct Row {
    host: String,
    time: String,
    decision: String,
    #[serde(default)]
    session: Option<String>,
}

/// The last decisions by host; none where there is no log.
pub(super) fn of_hosts(log: &Log) -> BTreeMap<String, Last> {
    let text = log.place().ok().flatten().and_then(|path| {
        let mut file = File::open(path).ok()?;
        let start = file.metadata().ok()?.len().saturating_sub(TAIL);
        file.seek(SeekFrom::Start(start)).ok()?;
        let mut bytes = Vec::new();
        file.take(TAIL).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    });
    let text = text.unwrap_or_default();
    let rows = text.lines().filter_map(|line| serde_json::from_str::<Row>(line).ok());
    rows.filter(|row| row.session.as_deref() != Some(TRIAL))
        .map(|Row { host, time, decision, .. }| (host, Last { time, decision }))
        .collect()
}
