//! Reads the last decision of each host from the log.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use toolmark_guard::policy::LogLocation;
use toolmark_guard::{Args, Guard, HookEvent, Moment};
use toolmark_redact::MASK;

/// Number of bytes read from the end of the log.
const TAIL: u64 = 4 << 20;

/// Session ID of calls that only test the hook.
pub const TRIAL: &str = "toolmark-guard-doctor";

/// A decision and its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LastDecision {
    /// Time of the decision.
    pub time: String,
    /// The decision.
    pub decision: String,
}

#[derive(Deserialize)]
struct LastDecisionRow {
    host: String,
    time: String,
    decision: String,
    #[serde(default)]
    session: Option<String>,
}

/// A command that the guard stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    /// The command, as the log has it.
    pub command: String,
    /// Whether the log has all of it: it leaves out secrets and the ends of long commands.
    pub is_whole: bool,
}

/// Returns the last command that was stopped in a directory or below it.
#[must_use]
pub fn stopped(guard: &Guard, log: &Path, root: &Path) -> Option<Stopped> {
    let text = end_of(log)?;
    let rows = text.lines().rev().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    rows.filter_map(|row| {
        let text = |key: &str| row.get(key)?.as_str().map(str::to_owned);
        let is_stop = text("moment")? == "before" && text("decision")? != "allow";
        let is_here = Path::new(&text("cwd")?).starts_with(root);
        if !is_stop || !is_here || text("session").as_deref() == Some(TRIAL) {
            return None;
        }
        let mut event = HookEvent::new(Moment::Before, text("host")?, text("tool")?);
        event.args = Args::Json(row.get("args")?.clone());
        let command = guard.command(&event)?;
        let is_whole = !command.contains(MASK) && !command.contains("… [");
        Some(Stopped { command, is_whole })
    })
    .next()
}

fn end_of(path: &Path) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let start = file.metadata().ok()?.len().saturating_sub(TAIL);
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the last decisions by host; empty if there is no log.
#[must_use]
pub fn of_hosts(log: &LogLocation) -> BTreeMap<String, LastDecision> {
    let text = log.place().ok().flatten().and_then(|path| end_of(&path)).unwrap_or_default();
    let rows = text.lines().filter_map(|line| serde_json::from_str::<LastDecisionRow>(line).ok());
    rows.filter(|row| row.session.as_deref() != Some(TRIAL))
        .map(|LastDecisionRow { host, time, decision, .. }| (host, LastDecision { time, decision }))
        .collect()
}
