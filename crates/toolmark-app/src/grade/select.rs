//! Case selection.

use crate::Failure;
use toolmark_base::SortedMap;
use toolmark_grade::Plan;

/// The cases of a spec to use.
#[derive(Debug, Clone, Default)]
pub struct CaseSelection {
    /// Patterns of IDs; empty for all.
    pub cases: Vec<String>,
    /// Tags, alone or with a value, all of which a case must have.
    pub tags: Vec<String>,
    /// Number of cases to choose at random, of those that remain.
    pub sample: Option<usize>,
    /// Whether the cases are taken in random order.
    pub shuffle: bool,
    /// Seed of both: the same seed chooses the same cases.
    pub seed: u64,
}

impl CaseSelection {
    /// Keeps only the selected cases; plans without selected cases are removed.
    pub fn select<T>(
        &self,
        plans: &mut Vec<T>,
        plan_of: fn(&mut T) -> &mut Plan,
    ) -> Result<(), Failure> {
        self.filter(plans, plan_of)?;
        if let Some(count) = self.sample {
            let mut ranks: Vec<u64> = Vec::new();
            for plan in plans.iter_mut() {
                let plan = plan_of(plan);
                ranks.extend((0..plan.len()).map(|at| self.rank(plan.id(at))));
            }
            ranks.sort_unstable();
            if let Some(last) = ranks.get(count.saturating_sub(1)).copied() {
                plans.retain_mut(|plan| {
                    let plan = plan_of(plan);
                    plan.retain(|case| self.rank(&case.id) <= last);
                    !plan.is_empty()
                });
            }
        }
        if self.shuffle {
            for plan in plans.iter_mut() {
                plan_of(plan).cases.sort_by_cached_key(|case| self.rank(&case.id));
            }
        }
        Ok(())
    }

    /// Place of a case in the random order of the seed.
    fn rank(&self, id: &str) -> u64 {
        // FNV-1a, mixed so that similar IDs are far apart.
        let start = 0xcbf2_9ce4_8422_2325 ^ self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let sum = id
            .bytes()
            .fold(start, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        let mixed = (sum ^ (sum >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Keeps the cases with these IDs and tags.
    fn filter<T>(
        &self,
        plans: &mut Vec<T>,
        plan_of: fn(&mut T) -> &mut Plan,
    ) -> Result<(), Failure> {
        if self.cases.is_empty() && self.tags.is_empty() {
            return Ok(());
        }
        let patterns: Vec<glob::Pattern> = self
            .cases
            .iter()
            .map(|case| glob::Pattern::new(case))
            .collect::<Result<_, _>>()
            .map_err(|error| Failure::usage("--case is not a valid pattern").because(&error))?;
        let mut before = 0;
        plans.retain_mut(|plan| {
            let plan = plan_of(plan);
            before += plan.len();
            plan.retain(|case| {
                let by_id = patterns.is_empty() || patterns.iter().any(|p| p.matches(&case.id));
                by_id && self.tags.iter().all(|tag| has_tag(&case.tags, tag))
            });
            !plan.is_empty()
        });
        if plans.is_empty() {
            let message = format!("--case and --tag leave none of the {before} cases");
            return Err(Failure::usage(message));
        }
        Ok(())
    }
}

/// Matches `key` alone, or `key=value` with any of the values `a,b`.
fn has_tag(tags: &SortedMap<String, Vec<String>>, wanted: &str) -> bool {
    match wanted.split_once('=') {
        None => tags.contains_key(wanted) || tags.values().any(|v| v.iter().any(|v| v == wanted)),
        Some((key, values)) => tags
            .get(key)
            .is_some_and(|has| values.split(',').any(|value| has.iter().any(|v| v == value))),
    }
}
