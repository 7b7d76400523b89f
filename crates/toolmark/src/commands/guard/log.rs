//! Keeps a record of every decision of the hook, and answers all the same where
//! it cannot be kept.

use std::env;
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use toolmark_guard::audit::{self, Limits, Record};
use toolmark_guard::policy::Log;
use toolmark_hosts::{Answer, Event, Host, Moment, Verdict};

/// The answer to a host. The decision is recorded before anybody hears of it;
/// that it could not be is a note beside the answer.
pub(super) fn answered(
    host: &Host,
    event: Option<&Event<'_>>,
    verdict: &Verdict,
    log: &Log,
    took: Duration,
) -> Answer {
    let mut answer = host.answer(event, verdict);
    if let Err(error) = keep(&Record::of(host.id, event, verdict, took), log) {
        if !answer.stderr.is_empty() && !answer.stderr.ends_with('\n') {
            answer.stderr.push('\n');
        }
        answer.stderr.push_str(&format!("toolmark guard: the decision was not logged: {error}\n"));
    }
    answer
}

fn keep(record: &Record<'_>, log: &Log) -> io::Result<()> {
    if record.event.is_some_and(|event| event.moment == Moment::Other) {
        return Ok(());
    }
    let Some(path) = place(log)? else { return Ok(()) };
    audit::append(&path, limits(log), record)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

/// Where the log is: the environment's word counts before the policy's.
pub(super) fn place(log: &Log) -> io::Result<Option<PathBuf>> {
    let is_named = env::var_os(audit::VARIABLE).is_some_and(|path| !path.is_empty());
    match log.path.as_deref().filter(|_| !is_named) {
        Some("off") => Ok(None),
        Some(path) => Ok(Some(path.into())),
        None => audit::place(|name| env::var_os(name)),
    }
}

/// How large the log may grow.
pub(super) fn limits(log: &Log) -> Limits {
    let usual = Limits::default();
    Limits { size: log.max_size.unwrap_or(usual.size), ..usual }
}
