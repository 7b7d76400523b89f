//! Findings about calls that several files have: a session that is resumed or forked repeats
//! the records before, with the ids of their calls.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use toolmark_outcome::{EvidenceRole, Finding};

/// Shorter ids (`call_1`, `0`) are counted anew in every session.
const SHORTEST_ID: usize = 20;

/// The findings that were counted, by what they are about.
#[derive(Default)]
pub struct Repeated {
    /// By rule and id of the call: the file.
    seen: HashMap<u64, u64>,
    /// Number of findings that repeat one of an earlier file.
    pub count: u64,
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

impl Repeated {
    /// Removes the findings that an earlier file has too.
    pub fn remove<T: Hash>(&mut self, findings: &mut Vec<Finding<T>>, length: fn(&T) -> usize) {
        findings.retain(|finding| {
            let is_new = self.is_new(finding, length);
            self.count += u64::from(!is_new);
            is_new
        });
    }

    fn is_new<T: Hash>(&mut self, finding: &Finding<T>, length: fn(&T) -> usize) -> bool {
        let about = finding.evidence.iter().find(|piece| piece.role == EvidenceRole::Violation);
        let id = about.and_then(|piece| piece.call.as_ref()?.id.as_ref());
        let Some(id) = id.filter(|id| length(id) >= SHORTEST_ID) else { return true };
        let file = hash(&finding.place.file);
        // One call may have several findings of a rule, all of them in one file.
        *self.seen.entry(hash((finding.code, id))).or_insert(file) == file
    }
}
