//! Reads the last decision of each host from the log.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use toolmark_guard::policy::Log;

/// Number of bytes read from the end of the log.
const TAIL: u64 = 4 << 20;

/// Session ID of calls that only test the hook.
pub const TRIAL: &str = "toolmark-guard-doctor";

/// A decision and its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Last {
    /// Time of the decision.
    pub time: String,
    /// The decision.
    pub decision: String,
}

#[derive(Deserialize)]
struct Row {
    host: String,
    time: String,
    decision: String,
    #[serde(default)]
    session: Option<String>,
}

/// Returns the last decisions by host; empty if there is no log.
#[must_use]
pub fn of_hosts(log: &Log) -> BTreeMap<String, Last> {
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
