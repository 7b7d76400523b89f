//! Keeps a record of every decision of the hook, and answers all the same where
//! it cannot be kept.

use std::env;
use std::io;
use std::time::Duration;
use toolmark_guard::audit::{self, Limits, Record};
use toolmark_guard::hosts::{Answer, Host};
use toolmark_guard::{Event, Moment, Verdict};

/// The answer to a host. The decision is recorded before anybody hears of it;
/// that it could not be is a note beside the answer.
pub(super) fn answered(
    host: &dyn Host,
    event: Option<&Event<'_>>,
    verdict: &Verdict,
    took: Duration,
) -> Answer {
    let mut answer = host.answer(event, verdict);
    if let Err(error) = keep(&Record::of(host.id(), event, verdict, took)) {
        if !answer.stderr.is_empty() && !answer.stderr.ends_with('\n') {
            answer.stderr.push('\n');
        }
        answer.stderr.push_str(&format!("toolmark guard: the decision was not logged: {error}\n"));
    }
    answer
}

fn keep(record: &Record<'_>) -> io::Result<()> {
    if record.event.is_some_and(|event| event.moment == Moment::Other) {
        return Ok(());
    }
    let Some(path) = audit::place(|name| env::var_os(name))? else { return Ok(()) };
    audit::append(&path, Limits::default(), record)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}
