//! What holds, and how sure that is.

use crate::mine::item::{Item, Part};
use crate::mine::panel::Panel;
use crate::mine::sample::Sample;
use std::collections::{BTreeMap, BTreeSet};
use toolmark_grade::vacuity::{FindingKind, probe};
use toolmark_outcome::{Environment, Verdict};

/// Longer runs are not altered to see whether an expectation can fail: that takes long,
/// and a shorter one is there nearly always.
const MAX_PROBED_CALLS: usize = 400;

/// What became of an expectation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum State {
    /// It does not hold, or could not fail.
    Dropped,
    /// It is written as a comment.
    Comment(Doubt),
    /// It is expected.
    Expected,
}

/// Why something that holds is only a comment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Doubt {
    /// It is weak by its nature, or some run does not have it.
    Weak,
    /// Too few runs support it.
    FewRuns,
    /// Mined from a part of the runs, it did not hold on the rest.
    HeldOut(usize, usize),
    /// Expectations of its kind did not hold on the rest.
    Kind(usize, usize),
}

/// How an expectation fares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Judged {
    /// Passing runs in which it holds.
    pub(crate) held: usize,
    /// Passing runs in which it does not.
    pub(crate) failed: usize,
    /// Passing runs of which nobody can tell.
    pub(crate) undecided: usize,
    /// Failing runs that it rejects.
    pub(crate) rejected: usize,
    pub(crate) state: State,
}

impl Judged {
    pub(crate) fn is_expected(&self) -> bool {
        self.state == State::Expected
    }

    pub(crate) fn is_dropped(&self) -> bool {
        self.state == State::Dropped
    }

    pub(crate) fn doubt(&mut self, doubt: Doubt) {
        if self.is_expected() {
            self.state = State::Comment(doubt);
        }
    }
}

/// Asks every expectation of every run. `more` runs are known to exist that are held out.
pub(crate) fn settle(
    items: &[Item],
    passing: &[&Sample<'_>],
    failing: &[&Sample<'_>],
    more: usize,
) -> Vec<Judged> {
    let panel = Panel::new(&items.iter().collect::<Vec<_>>());
    let none = Judged { held: 0, failed: 0, undecided: 0, rejected: 0, state: State::Dropped };
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
            (0, _) => State::Dropped,
            (_, 0) if item.is_doubtful => State::Comment(Doubt::Weak),
            (_, 0) if support + more < item.least => State::Comment(Doubt::FewRuns),
            (_, 0) => State::Expected,
            _ if item.is_doubtful => State::Comment(Doubt::Weak),
            _ => State::Dropped,
        };
        // Of several sequences the first that holds is the most telling.
        if matches!(item.part, Part::Sequence(_)) && !judged.is_dropped() {
            if has_sequence {
                judged.state = State::Dropped;
            }
            has_sequence = true;
        }
    }
    all
}

/// Drops what could not fail: passing runs are altered in many ways, also with calls of
/// these tools, and what still holds on all of them says nothing.
pub(crate) fn drop_vacuous(
    items: &[Item],
    judged: &mut [Judged],
    passing: &[&Sample<'_>],
    tools: &BTreeSet<String>,
) {
    let mut by_run: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, item) in items.iter().enumerate().filter(|(at, _)| !judged[*at].is_dropped()) {
        let speaks = |sample: &&Sample<'_>| {
            // Where calls may be missing from the trace, a missing call fails nothing.
            sample.is_complete()
                && sample.calls.len() <= MAX_PROBED_CALLS
                && item.tools.iter().all(|tool| sample.calls_tool(tool))
        };
        let speaking = passing.iter().enumerate().filter(|(_, sample)| speaks(sample));
        // By what they are, not by where they come: any order of runs gives the same.
        let key = |sample: &Sample<'_>| {
            let calls = sample.calls.len();
            (sample.calls.is_empty(), calls, sample.tools().map(str::to_owned).collect::<Vec<_>>())
        };
        let best = match item.part {
            // Many times as many calls are too many where a run had many.
            Part::Budget(_) => speaking.max_by_key(|(_, sample)| sample.calls.len()),
            _ => speaking.min_by_key(|(_, sample)| key(sample)),
        };
        if let Some((run, _)) = best {
            by_run.entry(run).or_default().push(at);
        }
    }
    for (at, places) in by_run {
        let asked: Vec<&Item> = places.iter().map(|place| &items[*place]).collect();
        let panel = Panel::new(&asked);
        let Some(case) = panel.case() else { continue };
        for finding in probe(case, passing[at].run, &Environment::default(), tools) {
            let place = finding.grader.parse::<usize>().ok().and_then(|n| places.get(n));
            if let (FindingKind::CannotFail, None, Some(place)) =
                (finding.kind, finding.item, place)
            {
                judged[*place].state = State::Dropped;
            }
        }
    }
}
