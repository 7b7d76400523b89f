//! Verification and export of the guard's log.

use crate::{Failure, Stop};
use serde_json::{Value, json};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use toolmark_base::read_file;
use toolmark_guard::audit::{files, verify};
use toolmark_guard::files::Trust;
use toolmark_guard::files::open;

/// Returns the log that is named, or the one of this machine.
///
/// # Errors
///
/// There is no log.
pub fn log_of(named: Option<PathBuf>) -> Result<PathBuf, Failure> {
    let usual = || open(None, Trust::Environment, None).guard.policy().log().place().ok().flatten();
    named.or_else(usual).ok_or_else(|| Failure::usage("there is no log").hint("name the file"))
}

/// Maximum size of a log.
const MAX_BYTES: u64 = 1 << 30;

/// Maximum number of faults that are reported.
const MAX_FAULTS: usize = 10;

/// Verifies a log; returns lines for the user, and whether it is as it was written.
///
/// # Errors
///
/// The log cannot be read.
pub fn verified(log: &Path) -> Result<(Vec<String>, bool), Failure> {
    check_text(log)?;
    let found = verify(log).map_err(|error| unread(log, &error))?;
    let first = format!("{} records in the chain, from number {}", found.linked, found.first);
    let mut lines = vec![first];
    if found.before > 0 {
        lines.push(format!("{} older records have no link and prove nothing", found.before));
    }
    lines.extend(found.faults.iter().take(MAX_FAULTS).cloned());
    if let Some(more) = found.faults.len().checked_sub(MAX_FAULTS + 1) {
        lines.push(format!("{} more", more + 1));
    }
    let is_whole = found.faults.is_empty();
    if is_whole {
        lines.push("no record was changed, added or removed".to_owned());
    }
    Ok((lines, is_whole))
}

/// Writes the records of a log with its rotated files, the oldest first: as they are, or as events.
///
/// # Errors
///
/// A file cannot be read, or the output cannot be written.
pub fn export(log: &Path, as_events: bool, out: &mut dyn Write) -> Result<(), Stop> {
    check_text(log)?;
    for path in files(log) {
        let text = fs::read(&path).map_err(|error| unread(&path, &error))?;
        for line in String::from_utf8_lossy(&text).lines().filter(|line| !line.is_empty()) {
            match as_events.then(|| ocsf(line)) {
                None => writeln!(out, "{line}")?,
                Some(Some(event)) => writeln!(out, "{event}")?,
                Some(None) => {}
            }
        }
    }
    Ok(out.flush()?)
}

/// Fails if a log is not a text file. A log that was just rotated may be empty.
fn check_text(log: &Path) -> Result<(), Failure> {
    match read_file::read_text(log, MAX_BYTES) {
        Err(error) if error.is_empty() && files(log).len() > 1 => Ok(()),
        read => Ok(read.map(drop)?),
    }
}

fn unread(log: &Path, error: &io::Error) -> Failure {
    Failure::unread(format!("failed to read {}", log.display())).because(error)
}

/// Returns a record as an event of the Open Cybersecurity Schema Framework, class API Activity;
/// `None` for a line that is not a record.
#[must_use]
pub fn ocsf(line: &str) -> Option<Value> {
    let row: Value = serde_json::from_str(line).ok()?;
    let text = |key: &str| row.get(key).and_then(Value::as_str);
    let time: jiff::Timestamp = text("time")?.parse().ok()?;
    let decision = text("decision")?;
    let (action, severity, status) = match decision {
        "allow" => ((1, "Allowed"), (1, "Informational"), (1, "Success")),
        "deny" => ((2, "Denied"), (4, "High"), (2, "Failure")),
        _ => ((99, "Other"), (3, "Medium"), (99, "Other")),
    };
    Some(json!({
        "activity_id": 99,
        "activity_name": text("moment"),
        "category_uid": 6,
        "category_name": "Application Activity",
        "class_uid": 6003,
        "class_name": "API Activity",
        "type_uid": 600_399,
        "time": time.as_millisecond(),
        "severity_id": severity.0,
        "severity": severity.1,
        "status_id": status.0,
        "status": status.1,
        "status_detail": text("reason"),
        "action_id": action.0,
        "action": action.1,
        "disposition": decision,
        "message": text("reason"),
        "metadata": {
            "version": "1.3.0",
            "product": {"name": "toolmark guard", "vendor_name": "toolmark",
                "version": env!("CARGO_PKG_VERSION")},
            "sequence": row.get("n"),
            "uid": text("call_id"),
        },
        "actor": {
            "app_name": text("host"),
            "session": {"uid": text("session")},
            "user": {"name": text("agent").unwrap_or("agent"), "type": "System", "type_id": 3},
            "process": {"pid": row.get("pid")},
        },
        "api": {"operation": text("tool").unwrap_or("unknown"),
            "request": {"uid": text("call_id").unwrap_or_default(), "data": row.get("args")}},
        "src_endpoint": {"name": "localhost"},
        "policy": {"name": text("rule")},
        "unmapped": {"cwd": text("cwd"), "mode": text("mode"), "effects": row.get("effects"),
            "suggestion": text("suggestion"), "prev": text("prev")},
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_as_events() {
        let line = r#"{"time":"2026-05-04T09:00:07.25Z","host":"codex","moment":"before",
            "tool":"Bash","args":{"command":"ls"},"decision":"deny","rule":"effect",
            "reason":"no","n":7}"#
            .replace('\n', "");
        let event = ocsf(&line).unwrap();
        assert_eq!(event["time"], 1_777_885_207_250_i64);
        assert_eq!((&event["class_uid"], &event["type_uid"]), (&json!(6003), &json!(600_399)));
        assert_eq!(
            (&event["action"], &event["metadata"]["sequence"]),
            (&json!("Denied"), &json!(7))
        );
        assert_eq!(ocsf("not a record"), None);
        assert_eq!(ocsf("{}"), None);
    }
}
