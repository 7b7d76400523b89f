//! `tool-selection`: whether the right tool was chosen.
//!
//! A question is every call with a finding about selection that is below high confidence,
//! even if the finding is omitted from the report. Such a finding depends on an assumption
//! that a judge can verify: which tools were available, whether a command does exactly what a
//! tool does, or the purpose of a read.
//!
//! The score of the rules is 0 if the finding is in the report. If it is omitted, the rules
//! cannot decide. Of several findings on one call, the one with the highest confidence
//! counts.

use super::{Candidate, DoubtKind, Scene};
use crate::recorder::Unsure;
use std::cmp::Reverse;
use toolmark_outcome::Axis;

pub(super) static KIND: DoubtKind = DoubtKind {
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
