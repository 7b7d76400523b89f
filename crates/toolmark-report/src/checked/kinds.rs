//! Text about kinds of findings compared with the previous run.

use crate::model::{Changes, KindChange};
use toolmark_check::changes::{FindingTrend, RuleCounts};
use toolmark_outcome::{Printable, printable};

/// Maximum number of kinds, unless all are requested.
pub(crate) const MAX_ROWS: usize = 20;

/// Explanation of the rows.
pub(crate) const LEGEND: &str = "kinds of findings of other sessions, now and in the baseline: findings per calls the rule \
     could decide about";

/// Returns the kinds that changed, the worst first.
pub(crate) fn changed(changes: &Changes) -> Vec<&KindChange> {
    let mut changed: Vec<_> =
        changes.kinds.iter().filter(|kind| kind.trend != FindingTrend::Same).collect();
    changed.sort_by_key(|kind| kind.trend);
    changed
}

/// Formats `S101 Read`, with the bucket if there is one.
pub(crate) fn subject(kind: &KindChange) -> Printable {
    match &kind.bucket {
        Some(bucket) => printable!("{} {}.{}", kind.code, kind.tool, bucket),
        None => printable!("{} {}", kind.code, kind.tool),
    }
}

/// Formats `3 of 40, before 0 of 35, p 0.12`.
pub(crate) fn rates(kind: &KindChange) -> Printable {
    let part = |RuleCounts { found, of }: RuleCounts| printable!("{} of {}", found, of);
    let (now, before) = (part(kind.now), part(kind.before));
    match kind.p {
        Some(p) if p < 0.01 => printable!("{}, before {}, p < 0.01", now, before),
        Some(p) => printable!("{}, before {}, p {:.2}", now, before, p),
        None => printable!("{}, before {}", now, before),
    }
}
