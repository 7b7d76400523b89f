//! Keeps a record of every decision of the hook, and answers all the same where
//! it cannot be kept.

use crate::audit::{self, Record};
use crate::policy::Log;
use std::io;
use std::time::Duration;
use toolmark_hosts::{Answer, Event, Host, Moment, Verdict};

/// What a decision was made by.
pub(super) struct Basis<'a> {
    pub(super) log: &'a Log,
    /// What would have loosened the policy.
    pub(super) ignored: Option<String>,
    pub(super) took: Duration,
}

/// The answer to a host. The decision is recorded before anybody hears of it;
/// that it could not be is a note beside the answer.
pub(super) fn answer(
    host: &Host,
    event: Option<&Event<'_>>,
    verdict: &Verdict,
    basis: Basis<'_>,
) -> Answer {
    let mut answer = host.answer(event, verdict);
    let Basis { log, ignored, took } = basis;
    let record = Record { ignored, ..Record::of(host.id, event, verdict, took) };
    if let Err(error) = keep(&record, log) {
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
    let Some(path) = log.place()? else { return Ok(()) };
    audit::append(&path, log.limits(), record)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}
