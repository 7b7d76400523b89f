//! `sequence` and `parallel`: checks of several calls, in order or in parallel.

use super::ListResults;
use super::entry::{EntryCalls, EntryFit, ToolCallEntry};
use std::ops::Range;
use toolmark_match::engine::{Grid, align, assign};
use toolmark_outcome::{Cause, Verdict};
use toolmark_outcome::{Evidence, EvidenceRole};
use toolmark_outcome::{Explanation, ExplanationRow, RowState};
use toolmark_trace::{EventKind, Fact};

/// Maximum number of calls between matched ones that an explanation shows.
const EXTRAS: usize = 30;

/// Grids of the calls that meet each entry, and that may meet it.
struct Grids {
    sure: Grid,
    maybe: Grid,
    /// The first undecided question.
    doubt: Option<(Cause, String)>,
}

/// Returns the grids of a range of calls.
fn grids(entries: &[ToolCallEntry], calls: &EntryCalls<'_>, range: Range<usize>) -> Grids {
    let mut sure = Grid::new(range.len(), entries.len());
    let mut maybe = Grid::new(range.len(), entries.len());
    let mut doubt = None;
    for (row, at) in range.enumerate() {
        for (item, entry) in entries.iter().enumerate() {
            match entry.fits(calls, at, false) {
                EntryFit::Yes => {
                    sure.set(row, item);
                    maybe.set(row, item);
                }
                EntryFit::No(_) => {}
                EntryFit::Unknown(cause, why) => {
                    maybe.set(row, item);
                    doubt.get_or_insert((cause, why));
                }
            }
        }
    }
    Grids { sure, maybe, doubt }
}

/// Whether Vally rejects the entries of a list; records why.
fn is_refused(
    list: &str,
    entries: &[ToolCallEntry],
    calls: &EntryCalls<'_>,
    findings: &mut ListResults,
) -> bool {
    let pairs = entries.iter().flat_map(|entry| calls.all.iter().map(move |seen| (entry, seen)));
    let mut refusals = pairs.filter_map(|(entry, seen)| Some((entry.refusal(calls, seen)?, seen)));
    let Some((why, seen)) = refusals.next() else { return false };
    findings.show(calls.view.evidence(EvidenceRole::Context, why.clone(), *seen));
    findings.part(list.to_owned(), Verdict::Unknown(Cause::Configuration), why);
    true
}

/// Checks `sequence`: its entries must be met by calls in this order.
pub(super) fn sequence(
    entries: &[ToolCallEntry],
    calls: &EntryCalls<'_>,
    findings: &mut ListResults,
) {
    if is_refused("sequence", entries, calls, findings) {
        return;
    }
    let grids = grids(entries, calls, 0..calls.all.len());
    let (Ok(sure), Ok(maybe)) = (align(&grids.sure), align(&grids.maybe)) else {
        let why = "the sequence and the calls are too long to be compared";
        findings.part("sequence".to_owned(), Verdict::Unknown(Cause::Limit), why);
        return;
    };
    if sure.iter().all(Option::is_some) {
        report(entries, calls, &sure, Verdict::Fail, "", findings);
        return;
    }
    if maybe.iter().all(Option::is_some)
        && let Some((cause, why)) = grids.doubt
    {
        report(entries, calls, &sure, Verdict::Unknown(cause), &why, findings);
        return;
    }
    report(entries, calls, &sure, Verdict::Fail, "", findings);
    findings.explanation = Some(explain(entries, calls, &grids.sure, &sure));
}

/// Adds a part for every entry, and evidence for those with a call.
fn report(
    entries: &[ToolCallEntry],
    calls: &EntryCalls<'_>,
    got: &[Option<usize>],
    without: Verdict,
    why: &str,
    findings: &mut ListResults,
) {
    for (nth, (entry, call)) in entries.iter().zip(got).enumerate() {
        let words = entry.words();
        match call.and_then(|at| calls.all.get(at)) {
            Some(seen) => {
                let text = format!("meets {words}, number {} of the order", nth + 1);
                findings.show(calls.view.evidence(EvidenceRole::Matched, text, *seen));
                findings.part(entry.title(), Verdict::Pass, format!("{words} was called in order"));
            }
            None => {
                let reason = match without {
                    Verdict::Unknown(_) => format!("{words}: {why}"),
                    _ => format!("{words} was not called in order"),
                };
                findings.show(Evidence::absence(reason.clone()));
                findings.part(entry.title(), without, reason);
            }
        }
    }
}

/// Explains expectations and calls side by side, including missing entries.
fn explain(
    entries: &[ToolCallEntry],
    calls: &EntryCalls<'_>,
    grid: &Grid,
    got: &[Option<usize>],
) -> Explanation {
    let mut explanation = Explanation::default();
    let mut next = 0;
    let mut extras = 0;
    let mut extra = |explanation: &mut Explanation, range: Range<usize>| {
        for seen in calls.all.get(range).unwrap_or_default() {
            if extras == EXTRAS {
                explanation.elided += 1;
                continue;
            }
            extras += 1;
            let call = Some(calls.view.call_ref(*seen));
            let state = RowState::Extra;
            explanation.rows.push(ExplanationRow { expected: None, call, state, why: None });
        }
    };
    for (item, (entry, call)) in entries.iter().zip(got).enumerate() {
        let expected = Some(entry.words());
        if let Some(at) = *call {
            extra(&mut explanation, next..at);
            next = at + 1;
            let call = calls.all.get(at).map(|seen| calls.view.call_ref(*seen));
            let state = RowState::Matched;
            explanation.rows.push(ExplanationRow {
                expected: expected.map(Into::into),
                call,
                state,
                why: None,
            });
            continue;
        }
        explanation.divergence.get_or_insert(explanation.rows.len());
        let elsewhere = (0..grid.calls()).find(|call| grid.get(*call, item));
        let before = got.iter().take(item).rev().flatten().next();
        let seen = elsewhere.and_then(|at| calls.all.get(at));
        let place = match (elsewhere, before) {
            (Some(at), Some(before)) if at < *before => "too early",
            (Some(_), _) => "out of order",
            (None, _) => "",
        };
        let why = match seen {
            Some(seen) => format!("call {} meets it, but comes {place}", seen.number()),
            None => "no call meets it".to_owned(),
        };
        explanation.repair.push(repair(entry, calls, before.copied(), elsewhere).into());
        let state = RowState::Missing;
        explanation.rows.push(ExplanationRow {
            expected: expected.map(Into::into),
            call: None,
            state,
            why: Some(why.into()),
        });
    }
    extra(&mut explanation, next..calls.all.len());
    explanation
}

/// Suggests a change for a missing entry.
fn repair(
    entry: &ToolCallEntry,
    calls: &EntryCalls<'_>,
    after: Option<usize>,
    made: Option<usize>,
) -> String {
    let what = match made.and_then(|at| calls.all.get(at)) {
        Some(seen) => format!("move call {} ({})", seen.number(), seen.call.name.full()),
        None => format!("call {}", entry.words()),
    };
    match after.and_then(|at| calls.all.get(at)) {
        Some(seen) => format!("{what} after call {} ({})", seen.number(), seen.call.name.full()),
        None => format!("{what} before the others"),
    }
}

/// Checks `parallel`: all entries must be met by different calls of one response.
pub(super) fn parallel(
    entries: &[ToolCallEntry],
    calls: &EntryCalls<'_>,
    findings: &mut ListResults,
) {
    if is_refused("parallel", entries, calls, findings) {
        return;
    }
    let batches = batches(calls, true);
    let mut best: Option<(usize, Vec<Option<usize>>)> = None;
    let mut doubt = None;
    for batch in &batches {
        let grids = grids(entries, calls, batch.clone());
        let of_item: Vec<Option<usize>> =
            assign(&grids.sure).into_iter().map(|row| row.map(|row| batch.start + row)).collect();
        let met = of_item.iter().flatten().count();
        if best.as_ref().is_none_or(|(most, _)| met > *most) {
            best = Some((met, of_item));
        }
        if met == entries.len() {
            break;
        }
        if doubt.is_none() && assign(&grids.maybe).iter().all(Option::is_some) {
            doubt = grids.doubt;
        }
    }
    let (met, got) = best.unwrap_or_else(|| (0, vec![None; entries.len()]));
    if met < entries.len() && doubt.is_none() && is_untold(entries, calls) {
        let why = "the trace does not say which calls were made by one response";
        doubt = Some((Cause::MissingEvidence, why.to_owned()));
    }
    let (without, why) = match doubt {
        Some((cause, why)) => (Verdict::Unknown(cause), why),
        None => (Verdict::Fail, String::new()),
    };
    for (entry, call) in entries.iter().zip(&got) {
        let words = entry.words();
        match call.and_then(|at| calls.all.get(at)) {
            Some(seen) => {
                let text = format!("meets {words}, together with others");
                findings.show(calls.view.evidence(EvidenceRole::Matched, text, *seen));
                findings.part(entry.title(), Verdict::Pass, format!("{words} was called"));
            }
            None => {
                let reason = match without {
                    Verdict::Unknown(_) => format!("{words}: {why}"),
                    _ => format!("{words} was not called together with the others"),
                };
                findings.show(Evidence::absence(reason.clone()));
                findings.part(entry.title(), without, reason);
            }
        }
    }
}

/// Whether the entries would be met if all calls of one step were parallel.
fn is_untold(entries: &[ToolCallEntry], calls: &EntryCalls<'_>) -> bool {
    if !calls.view.trajectory().fidelity.lacks(Fact::Parallel) {
        return false;
    }
    batches(calls, false).into_iter().any(|batch| {
        let grids = grids(entries, calls, batch);
        assign(&grids.maybe).iter().all(Option::is_some)
    })
}

/// Returns ranges of calls that one response made. If the trace does not record responses, only
/// calls without a result between them certainly belong to one (`strict`).
fn batches(calls: &EntryCalls<'_>, strict: bool) -> Vec<Range<usize>> {
    let trajectory = calls.view.trajectory();
    let split_at_results = strict && trajectory.fidelity.lacks(Fact::Parallel);
    let breaks = if split_at_results { first_after_results(calls) } else { Vec::new() };
    let mut batches: Vec<Range<usize>> = Vec::new();
    for (at, seen) in calls.all.iter().enumerate() {
        let same = at > 0
            && calls.all.get(at - 1).is_some_and(|before| before.call.step == seen.call.step)
            && breaks.binary_search(&seen.index).is_err();
        match batches.last_mut() {
            Some(batch) if same => batch.end = at + 1,
            _ => batches.push(at..at + 1),
        }
    }
    batches
}

/// Returns the indices of the first calls after each result, in order.
fn first_after_results(calls: &EntryCalls<'_>) -> Vec<usize> {
    let mut first = Vec::new();
    let mut is_answered = false;
    for event in calls.view.events() {
        match event.kind {
            EventKind::Result(_) => is_answered = true,
            EventKind::Call(index) if is_answered => {
                is_answered = false;
                first.push(index as usize);
            }
            _ => {}
        }
    }
    first.sort_unstable();
    first
}
