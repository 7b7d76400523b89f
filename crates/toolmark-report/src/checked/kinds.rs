//! The words for kinds of findings beside those of the run before.

use crate::model::{Changes, KindChange};
use toolmark_check::baseline::{Found, Trend};
use toolmark_outcome::{Printable, printable};

/// So many kinds are shown unless all are asked for.
pub(crate) const MAX_ROWS: usize = 20;

/// What the rows say.
pub(crate) const LEGEND: &str = "kinds of findings of other sessions, now and in the baseline: findings per calls the rule \
     could decide about";

/// The kinds that changed, the worst first.
pub(crate) fn changed(changes: &Changes) -> Vec<&KindChange> {
    let mut changed: Vec<_> =
        changes.kinds.iter().filter(|kind| kind.trend != Trend::Same).collect();
    changed.sort_by_key(|kind| kind.trend);
    changed
}

/// `S101 Read`, with its bucket where it has one.
pub(crate) fn subject(kind: &KindChange) -> Printable {
    match &kind.bucket {
        Some(bucket) => printable!("{} {}.{}", kind.code, kind.tool, bucket),
        None => printable!("{} {}", kind.code, kind.tool),
    }
}

/// `3 of 40, before 0 of 35, p 0.12`
pub(crate) fn rates(kind: &KindChange) -> Printable {
    let part = |Found { found, of }: Found| printable!("{} of {}", found, of);
    let (now, before) = (part(kind.now), part(kind.before));
    match kind.p {
        Some(p) if p < 0.01 => printable!("{}, before {}, p < 0.01", now, before),
        Some(p) => printable!("{}, before {}, p {:.2}", now, before, p),
        None => printable!("{}, before {}", now, before),
    }
}
