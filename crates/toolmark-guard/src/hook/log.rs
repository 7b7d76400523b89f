//! Logging of every decision of the hook, which answers even if the record cannot be written.

use crate::audit::{self, AuditRecord};
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use toolmark_hosts::{GuardAnswer, HookEvent, HookOutput, Host, Moment};
use toolmark_shell::LeftState;

/// Basis of a decision.
pub(super) struct Basis {
    /// Path of the log; `None` if logging is disabled.
    pub(super) place: io::Result<Option<PathBuf>>,
    pub(super) limits: audit::AuditLimits,
    /// State that the call leaves behind.
    pub(super) left: Option<LeftState>,
    /// Settings that would have loosened the policy.
    pub(super) ignored: Option<String>,
    pub(super) took: Duration,
}

/// Returns the answer to a host. The decision is recorded before it is sent; a failure to record it
/// is a note in the answer.
pub(super) fn answer(
    host: &Host,
    event: Option<&HookEvent<'_>>,
    verdict: &GuardAnswer,
    basis: Basis,
) -> HookOutput {
    let mut answer = host.answer(event, verdict);
    let Basis { place, limits, left, ignored, took } = basis;
    let record = AuditRecord { ignored, left, ..AuditRecord::of(host.id, event, verdict, took) };
    if let Err(error) = keep(&record, place, limits) {
        if !answer.stderr.is_empty() && !answer.stderr.ends_with('\n') {
            answer.stderr.push('\n');
        }
        answer.stderr.push_str(&format!("toolmark guard: the decision was not logged: {error}\n"));
    }
    answer
}

fn keep(
    record: &AuditRecord<'_>,
    place: io::Result<Option<PathBuf>>,
    limits: audit::AuditLimits,
) -> io::Result<()> {
    if record.event.is_some_and(|event| event.moment == Moment::Other) {
        return Ok(());
    }
    let Some(path) = place? else { return Ok(()) };
    audit::append(&path, limits, record)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}
