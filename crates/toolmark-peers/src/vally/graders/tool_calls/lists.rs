//! `required` and `disallowed`: checks of completed calls, each on its own.

use super::ListResults;
use super::entry::{EntryCalls, EntryFit, ToolCallEntry};
use toolmark_outcome::IndexedCall;
use toolmark_outcome::{Cause, Verdict};
use toolmark_outcome::{Evidence, EvidenceRole};

/// Maximum number of near misses shown per entry.
const NEAR: usize = 3;

/// An undecided question about a potentially decisive call.
struct CallDoubt<'a> {
    seen: &'a IndexedCall<'a>,
    cause: Cause,
    why: String,
}

/// Calls that meet an entry, and calls that may meet it.
struct Sorted<'a> {
    met: Vec<&'a IndexedCall<'a>>,
    doubts: Vec<CallDoubt<'a>>,
    /// Calls of the right tool that differ otherwise.
    near: Vec<(&'a IndexedCall<'a>, String)>,
    /// Calls that would meet the entry but were not carried out.
    attempts: Vec<&'a IndexedCall<'a>>,
    /// Whether one of the undecided questions is an error that decides the result regardless of the
    /// others.
    is_refused: bool,
}

fn sort<'a>(entry: &ToolCallEntry, calls: &EntryCalls<'a>) -> Sorted<'a> {
    let mut sorted = Sorted {
        met: Vec::new(),
        doubts: Vec::new(),
        near: Vec::new(),
        attempts: Vec::new(),
        is_refused: false,
    };
    for (at, seen) in calls.all.iter().enumerate() {
        let completed = calls.is_completed(seen);
        if completed != Some(false)
            && let Some(why) = entry.refusal(calls, seen)
        {
            sorted.doubts.push(CallDoubt { seen, cause: Cause::Configuration, why });
            sorted.is_refused = true;
            continue;
        }
        let fit = entry.fits(calls, at, completed != Some(false));
        match (fit, completed) {
            (EntryFit::No(None), _) => {}
            (EntryFit::No(Some(why)), _) if sorted.near.len() < NEAR => {
                sorted.near.push((seen, why))
            }
            (EntryFit::No(Some(_)), _) => {}
            (EntryFit::Yes, Some(true)) => sorted.met.push(seen),
            (EntryFit::Yes, Some(false)) => sorted.attempts.push(seen),
            (EntryFit::Yes, None) => {
                let why = "the trace does not record what came of calls".to_owned();
                sorted.doubts.push(CallDoubt { seen, cause: Cause::MissingEvidence, why });
            }
            // What was not carried out decides nothing, however it would fit.
            (EntryFit::Unknown(..), Some(false)) => {}
            (EntryFit::Unknown(cause, why), _) => {
                sorted.doubts.push(CallDoubt { seen, cause, why })
            }
        }
    }
    sorted
}

/// Checks an entry of `required`: enough calls must meet it.
pub(super) fn required(entry: &ToolCallEntry, calls: &EntryCalls<'_>, findings: &mut ListResults) {
    let sorted = sort(entry, calls);
    let words = entry.words();
    let last = calls.all.last().map(|seen| seen.index);
    let is_last = |seen: &IndexedCall<'_>| Some(seen.index) == last;
    let enough = |n: usize| n as u64 >= entry.min_count;
    let met_last = sorted.met.iter().any(|seen| is_last(seen));
    let may_last = met_last || sorted.doubts.iter().any(|doubt| is_last(doubt.seen));
    let certain = enough(sorted.met.len()) && (met_last || !entry.is_final) && !sorted.is_refused;
    let possible = sorted.is_refused
        || enough(sorted.met.len() + sorted.doubts.len()) && (may_last || !entry.is_final);
    let count = sorted.met.len();
    let wanted = match entry.min_count {
        1 => words.clone(),
        count => format!("{count} × {words}"),
    };
    if certain {
        findings.part(entry.title(), Verdict::Pass, format!("{wanted} was called"));
    } else if possible {
        doubtful(entry, &sorted, calls, findings);
    } else {
        let reason = match (count, entry.is_final && enough(count)) {
            (_, true) => format!("{words}: another call came later"),
            (0, _) => format!("{wanted} was not called"),
            (count, _) => format!("{wanted} was called {count} times only"),
        };
        findings.show(Evidence::absence(reason.clone()));
        findings.part(entry.title(), Verdict::Fail, reason);
    }
    for seen in sorted.met.iter().take(entry.min_count.min(100) as usize) {
        let role = if certain { EvidenceRole::Matched } else { EvidenceRole::Context };
        findings.show(calls.view.evidence(role, format!("meets {words}"), **seen));
    }
    if !certain {
        for (seen, why) in &sorted.near {
            findings.show(calls.view.evidence(EvidenceRole::Mismatch, why.clone(), **seen));
        }
        for seen in sorted.attempts.iter().take(NEAR) {
            let text = format!("would meet {words}, but was never completed");
            findings.show(calls.view.evidence(EvidenceRole::Mismatch, text, **seen));
        }
        if entry.is_final
            && enough(count)
            && let Some(seen) = calls.all.last()
        {
            findings.show(calls.view.evidence(EvidenceRole::Context, "the last call", *seen));
        }
    }
    if certain {
        overlooked(&sorted, findings);
        if sorted.met.iter().all(|seen| seen.call.status.is_error()) {
            findings.note(format!("every call that meets {words} failed"));
        }
    }
}

/// Checks an entry of `disallowed`: no call may meet it.
pub(super) fn disallowed(
    entry: &ToolCallEntry,
    calls: &EntryCalls<'_>,
    findings: &mut ListResults,
) {
    let sorted = sort(entry, calls);
    let words = entry.words();
    if !sorted.met.is_empty() && !sorted.is_refused {
        let reason = match sorted.met.len() {
            1 => format!("{words} was called"),
            count => format!("{words} was called {count} times"),
        };
        findings.part(entry.title(), Verdict::Fail, reason);
        for seen in &sorted.met {
            let text = format!("meets {words}, which is not allowed");
            findings.show(calls.view.evidence(EvidenceRole::Violation, text, **seen));
        }
    } else if !sorted.doubts.is_empty() {
        doubtful(entry, &sorted, calls, findings);
    } else if let Some(open) = sorted.attempts.iter().find(|seen| calls.may_be_completed(seen)) {
        let reason = format!(
            "{words}: call {} was attempted, and the trace has no result of it",
            open.number()
        );
        findings.part(entry.title(), Verdict::Unknown(Cause::MissingEvidence), reason);
    } else {
        findings.part(entry.title(), Verdict::Pass, format!("{words} was not called"));
    }
    for seen in &sorted.attempts {
        let status = seen.call.status.word();
        let text = format!("attempted ({status}), never completed: {words}");
        findings.show(calls.view.evidence(EvidenceRole::Context, text, **seen));
    }
    match sorted.attempts.len() {
        0 => {}
        1 => findings.note(format!("a call of {words} was attempted and never completed")),
        n => findings.note(format!("{n} calls of {words} were attempted and never completed")),
    }
}

/// Records that the entry depends on undecided calls.
fn doubtful(
    entry: &ToolCallEntry,
    sorted: &Sorted<'_>,
    calls: &EntryCalls<'_>,
    findings: &mut ListResults,
) {
    // A mistake in the configuration comes first: it can be mended.
    let first = sorted.doubts.iter().find(|doubt| doubt.cause == Cause::Configuration);
    let Some(doubt) = first.or(sorted.doubts.first()) else { return };
    let reason = format!("{}: {}", entry.words(), doubt.why);
    findings.part(entry.title(), Verdict::Unknown(doubt.cause), reason);
    for doubt in sorted.doubts.iter().take(NEAR) {
        findings.show(calls.view.evidence(EvidenceRole::Context, doubt.why.clone(), *doubt.seen));
    }
}

/// Adds a note about undecided questions that do not affect the result.
fn overlooked(sorted: &Sorted<'_>, findings: &mut ListResults) {
    for doubt in sorted.doubts.iter().filter(|doubt| doubt.cause == Cause::Configuration).take(NEAR)
    {
        findings.note(doubt.why.clone());
    }
}
