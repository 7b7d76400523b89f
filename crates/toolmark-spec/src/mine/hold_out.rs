//! Mines from a part of the runs and tests the result on the remaining runs.

use crate::mine::item::{ExpectationFamily, MinedItem, SpecPart};
use crate::mine::panel::Panel;
use crate::mine::propose::RunEvidence;
use crate::mine::sample::MinedRun;
use crate::mine::settle::{ExpectationDoubt, ExpectationResult, settle};
use toolmark_base::{SortedMap, SortedSet};
use toolmark_outcome::Verdict;

/// Minimum share of held-out runs on which expectations about one slot must hold; others become
/// comments.
const SLOT_HOLDS: f64 = 0.8;

/// Minimum share of held-out runs on which expectations of one kind must hold; others become
/// comments.
const FAMILY_HOLDS: f64 = 0.75;

/// Minimum number of answers needed to judge a kind.
const MIN_ANSWERS: usize = 3;

/// Frequency with which something mined from a part of the runs held on the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Share {
    /// Number of times it held.
    pub held: usize,
    /// Number of times it was tested and could be decided.
    pub of: usize,
}

impl Share {
    pub(crate) fn add(&mut self, holds: bool) {
        self.held += usize::from(holds);
        self.of += 1;
    }

    fn reaches(self, least: f64) -> bool {
        self.held as f64 >= least * self.of as f64
    }
}

/// Results on held-out runs.
#[derive(Debug, Clone, Default)]
pub struct HeldOut {
    /// Number of parts into which the runs were divided.
    pub folds: usize,
    /// Passing runs that pass everything mined from the other runs.
    pub accepted: Share,
    /// Failing runs that fail something mined from the other runs.
    pub rejected: Share,
    /// Single expectations, by kind.
    pub families: SortedMap<ExpectationFamily, Share>,
    slots: SortedMap<String, Share>,
    /// Kinds of expectations that each run did not meet: first for the passing runs, then for
    /// the failing ones.
    unmet: (Vec<SortedSet<ExpectationFamily>>, Vec<SortedSet<ExpectationFamily>>),
}

impl HeldOut {
    /// Mines from all parts but one, for each part in turn. Runs are assigned to the parts
    /// round-robin, so that the same runs always give the same parts.
    pub(crate) fn new(evidence: &RunEvidence<'_, '_>, folds: usize) -> Self {
        let folds = folds.min(evidence.passing.len());
        let mut all = Self { folds, ..Self::default() };
        if folds < 2 {
            all.folds = 0;
            return all;
        }
        for fold in 0..folds {
            let (rest, passing) = split(&evidence.passing, fold, folds);
            let (rest_failing, failing) = split(&evidence.failing, fold, folds);
            let part = RunEvidence { passing, failing, ..*evidence };
            let items = part.propose();
            let judged = settle(&items, &part.passing, &part.failing, rest.len());
            all.ask(&items, &judged, &rest, &rest_failing);
        }
        all.sum_up();
        all
    }

    /// Computes the totals. Expectations that end up as comments neither accept nor reject runs.
    fn sum_up(&mut self) {
        let (passing, failing) = std::mem::take(&mut self.unmet);
        for unmet in passing {
            self.accepted.add(!unmet.into_iter().any(|family| self.trusts(family)));
        }
        for unmet in failing {
            self.rejected.add(unmet.into_iter().any(|family| self.trusts(family)));
        }
    }

    fn ask(
        &mut self,
        items: &[MinedItem],
        judged: &[ExpectationResult],
        passing: &[&MinedRun<'_>],
        failing: &[&MinedRun<'_>],
    ) {
        let panel = Panel::new(&items.iter().collect::<Vec<_>>());
        for sample in passing {
            let verdicts = panel.ask(sample.run);
            let mut unmet = SortedSet::new();
            for (at, (item, judged)) in items.iter().zip(judged).enumerate() {
                if judged.is_dropped() || item.is_doubtful {
                    continue;
                }
                if judged.is_expected() && verdicts[at] != Some(Verdict::Pass) {
                    unmet.insert(item.family);
                }
                // Missing calls are not an order violation.
                let is_made = |call: &usize| verdicts[*call] == Some(Verdict::Pass);
                if let SpecPart::Sequence(layers) = &item.part
                    && !layers.iter().flatten().all(is_made)
                {
                    continue;
                }
                let Some(holds) = decided(verdicts[at]) else { continue };
                // What is a comment anyway says nothing against its kind.
                if judged.is_expected() {
                    self.families.entry(item.family).or_default().add(holds);
                }
                self.slots.entry(item.slot.clone()).or_default().add(holds);
            }
            self.unmet.0.push(unmet);
        }
        for sample in failing {
            let verdicts = panel.ask(sample.run);
            let unmet = items.iter().zip(judged).zip(verdicts).filter(|((_, judged), verdict)| {
                judged.is_expected() && *verdict == Some(Verdict::Fail)
            });
            self.unmet.1.push(unmet.map(|((item, _), _)| item.family).collect());
        }
    }

    /// Whether expectations of this kind hold on held-out runs.
    pub(crate) fn trusts(&self, family: ExpectationFamily) -> bool {
        let share = self.families.get(&family).copied().unwrap_or_default();
        // A tool that some runs do not call is not expected in the end, and those that
        // all runs call are the least there is to say.
        family == ExpectationFamily::Tools || share.of < MIN_ANSWERS || share.reaches(FAMILY_HOLDS)
    }

    /// Turns expectations that did not hold on held-out runs into comments.
    pub(crate) fn doubt(&self, items: &[MinedItem], judged: &mut [ExpectationResult]) {
        for (item, judged) in items.iter().zip(judged) {
            let share = self.slots.get(&item.slot).copied().unwrap_or_default();
            if !share.reaches(SLOT_HOLDS) {
                judged.doubt(ExpectationDoubt::HeldOut(share.held, share.of));
            } else if !self.trusts(item.family) {
                let share = self.families.get(&item.family).copied().unwrap_or_default();
                judged.doubt(ExpectationDoubt::Kind(share.held, share.of));
            }
        }
    }
}

fn decided(verdict: Option<Verdict>) -> Option<bool> {
    match verdict? {
        Verdict::Pass => Some(true),
        Verdict::Fail => Some(false),
        Verdict::Unknown(_) => None,
    }
}

/// Returns the runs of a part, and the others.
fn split<'s, 't>(
    samples: &[&'s MinedRun<'t>],
    fold: usize,
    folds: usize,
) -> (Vec<&'s MinedRun<'t>>, Vec<&'s MinedRun<'t>>) {
    let is_in = |at: usize| at % folds == fold;
    let of = |wanted: bool| {
        let all = samples.iter().enumerate().filter(move |(at, _)| is_in(*at) == wanted);
        all.map(|(_, sample)| *sample).collect()
    };
    (of(true), of(false))
}
