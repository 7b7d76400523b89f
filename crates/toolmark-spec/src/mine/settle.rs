//! Decides which expectations hold, and how certain they are.

use crate::mine::item::{MinedItem, SpecPart};
use crate::mine::panel::Panel;
use crate::mine::sample::MinedRun;
use toolmark_base::{SortedMap, SortedSet};
use toolmark_grade::vacuity::{FindingKind, probe};
use toolmark_outcome::{Environment, Verdict};

/// Maximum number of calls of a run that is altered to test whether an expectation can fail:
/// longer runs take long, and a shorter one is nearly always available.
const MAX_PROBED_CALLS: usize = 400;

/// Status of an expectation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ExpectationStatus {
    /// The expectation does not hold, or could not fail.
    Dropped,
    /// The expectation is written as a comment.
    Comment(ExpectationDoubt),
    /// The expectation is written.
    Expected,
}

/// Reason why an expectation that holds is only a comment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ExpectationDoubt {
    /// The expectation is weak by its nature, or does not hold in every run.
    Weak,
    /// Too few runs support the expectation.
    FewRuns,
    /// The expectation, mined from a part of the runs, did not hold on the rest.
    HeldOut(usize, usize),
    /// Expectations of the same kind did not hold on the rest.
    Kind(usize, usize),
}

/// Results of an expectation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ExpectationResult {
    /// Passing runs in which the expectation holds.
    pub(crate) held: usize,
    /// Passing runs in which the expectation fails.
    pub(crate) failed: usize,
    /// Passing runs for which the result is unknown.
    pub(crate) undecided: usize,
    /// Failing runs that the expectation rejects.
    pub(crate) rejected: usize,
    pub(crate) state: ExpectationStatus,
}

impl ExpectationResult {
    pub(crate) fn is_expected(&self) -> bool {
        self.state == ExpectationStatus::Expected
    }

    pub(crate) fn is_dropped(&self) -> bool {
        self.state == ExpectationStatus::Dropped
    }

    pub(crate) fn doubt(&mut self, doubt: ExpectationDoubt) {
        if self.is_expected() {
            self.state = ExpectationStatus::Comment(doubt);
        }
    }
}

/// Tests every expectation on every run. `more` is the number of additional runs that are held out.
pub(crate) fn settle(
    items: &[MinedItem],
    passing: &[&MinedRun<'_>],
    failing: &[&MinedRun<'_>],
    more: usize,
) -> Vec<ExpectationResult> {
    let panel = Panel::new(&items.iter().collect::<Vec<_>>());
    let none = ExpectationResult {
        held: 0,
        failed: 0,
        undecided: 0,
        rejected: 0,
        state: ExpectationStatus::Dropped,
    };
    let mut all = vec![none; items.len()];
    for sample in passing {
        for (judged, verdict) in all.iter_mut().zip(panel.ask(sample.run)) {
            match verdict {
                Some(Verdict::Pass) => judged.held += 1,
                Some(Verdict::Fail) => judged.failed += 1,
                _ => judged.undecided += 1,
            }
        }
    }
    for sample in failing {
        for (judged, verdict) in all.iter_mut().zip(panel.ask(sample.run)) {
            judged.rejected += usize::from(verdict == Some(Verdict::Fail));
        }
    }
    let mut has_sequence = false;
    for (judged, item) in all.iter_mut().zip(items) {
        let support = item.relevant.unwrap_or(judged.held).min(judged.held);
        judged.state = match (judged.held, judged.failed) {
            (0, _) => ExpectationStatus::Dropped,
            (_, 0) if item.is_doubtful => ExpectationStatus::Comment(ExpectationDoubt::Weak),
            (_, 0) if support + more < item.least => {
                ExpectationStatus::Comment(ExpectationDoubt::FewRuns)
            }
            (_, 0) => ExpectationStatus::Expected,
            _ if item.is_doubtful => ExpectationStatus::Comment(ExpectationDoubt::Weak),
            _ => ExpectationStatus::Dropped,
        };
        // Of several sequences the first that holds is the most telling.
        if matches!(item.part, SpecPart::Sequence(_)) && !judged.is_dropped() {
            if has_sequence {
                judged.state = ExpectationStatus::Dropped;
            }
            has_sequence = true;
        }
    }
    all
}

/// Drops expectations that could not fail: passing runs are altered in many ways, also with
/// calls of these tools, and an expectation that still holds on all of them is useless.
pub(crate) fn drop_vacuous(
    items: &[MinedItem],
    judged: &mut [ExpectationResult],
    passing: &[&MinedRun<'_>],
    tools: &SortedSet<String>,
) {
    let mut by_run: SortedMap<usize, Vec<usize>> = SortedMap::new();
    for (at, item) in items.iter().enumerate().filter(|(at, _)| !judged[*at].is_dropped()) {
        let speaks = |sample: &&MinedRun<'_>| {
            // Where calls may be missing from the trace, a missing call fails nothing.
            sample.is_complete()
                && sample.calls.len() <= MAX_PROBED_CALLS
                && item.tools.iter().all(|tool| sample.calls_tool(tool))
        };
        let speaking = passing.iter().enumerate().filter(|(_, sample)| speaks(sample));
        // By what they are, not by where they come: any order of runs gives the same.
        let key = |sample: &MinedRun<'_>| {
            let calls = sample.calls.len();
            (sample.calls.is_empty(), calls, sample.tools().map(str::to_owned).collect::<Vec<_>>())
        };
        let best = match item.part {
            // Many times as many calls are too many where a run had many.
            SpecPart::Budget(_) => speaking.max_by_key(|(_, sample)| sample.calls.len()),
            _ => speaking.min_by_key(|(_, sample)| key(sample)),
        };
        if let Some((run, _)) = best {
            by_run.entry(run).or_default().push(at);
        }
    }
    for (at, places) in by_run {
        let asked: Vec<&MinedItem> = places.iter().map(|place| &items[*place]).collect();
        let panel = Panel::new(&asked);
        let Some(case) = panel.case() else { continue };
        for finding in probe(case, passing[at].run, &Environment::default(), tools) {
            let place = finding.grader.parse::<usize>().ok().and_then(|n| places.get(n));
            if let (FindingKind::CannotFail, None, Some(place)) =
                (finding.kind, finding.item, place)
            {
                judged[*place].state = ExpectationStatus::Dropped;
            }
        }
    }
}
