//! `tool-selection`: was it the right tool?
//!
//! In doubt is every call on which a rule about selection has a finding that is
//! not of high confidence, also where the finding is kept from the report. Such
//! a finding rests on a guess that a reader can check: which tools there were,
//! whether a command does exactly what a tool does, what the reading was for.
//!
//! The rules say 0 where the finding is in the report. Where it is kept from
//! it they cannot tell. Of several findings on one call, the surest speaks.

use super::{Candidate, Kind, Scene};
use crate::recorder::Unsure;
use std::cmp::Reverse;
use toolmark_outcome::Axis;

pub(super) static KIND: Kind = Kind {
    rubric: "tool-selection",
    measure: "judged.tool-selection",
    axis: Axis::Selection,
    rules: &["S"],
    instead: &[],
    find,
};

fn find(scene: &Scene<'_, '_>, out: &mut Vec<Candidate>) {
    let mut unsure: Vec<&Unsure> =
        scene.unsure.iter().filter(|one| one.rule.axis == Axis::Selection).collect();
    unsure.sort_by_key(|one| (one.index, Reverse(one.confidence), one.rule.code));
    unsure.dedup_by_key(|one| one.index);
    for one in unsure {
        let (code, confidence) = (one.rule.code, one.confidence);
        let rests = match one.is_kept {
            true => format!("{code} finds it with {confidence} confidence"),
            false => format!("{code} finds it with {confidence} confidence, and keeps it back"),
        };
        out.push(Candidate {
            index: one.index,
            rules_say: one.is_kept.then_some(0.0),
            why: format!("{}; {rests}", one.message),
            bucket: one.bucket.clone(),
            finding: Some(code),
        });
    }
}
