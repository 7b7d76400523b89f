//! Logging of every decision of the hook, which answers even if the record cannot be written.

use crate::audit::{self, Record};
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use toolmark_hosts::{Answer, Event, Host, Moment, Verdict};
use toolmark_shell::Left;

/// Basis of a decision.
pub(super) struct Basis {
    /// Path of the log; `None` if logging is disabled.
    pub(super) place: io::Result<Option<PathBuf>>,
    pub(super) limits: audit::Limits,
    /// State that the call leaves behind.
    pub(super) left: Option<Left>,
    /// Settings that would have loosened the policy.
    pub(super) ignored: Option<String>,
    pub(super) took: Duration,
}

/// Returns the answer to a host. The decision is recorded before it is sent; a failure to record it
/// is a note in the answer.
pub(super) fn answer(
    host: &Host,
    event: Option<&Event<'_>>,
    verdict: &Verdict,
    basis: Basis,
) -> Answer {
    let mut answer = host.answer(event, verdict);
    let Basis { place, limits, left, ignored, took } = basis;
    let record = Record { ignored, left, ..Record::of(host.id, event, verdict, took) };
    if let Err(error) = keep(&record, place, limits) {
        if !answer.stderr.is_empty() && !answer.stderr.ends_with('\n') {
            answer.stderr.push('\n');
        }
        answer.stderr.push_str(&format!("toolmark guard: the decision was not logged: {error}\n"));
    }
    answer
}

fn keep(
    record: &Record<'_>,
    place: io::Result<Option<PathBuf>>,
    limits: audit::Limits,
) -> io::Result<()> {
    if record.event.is_some_and(|event| event.moment == Moment::Other) {
        return Ok(());
    }
    let Some(path) = place? else { return Ok(()) };
    audit::append(&path, limits, record)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}
