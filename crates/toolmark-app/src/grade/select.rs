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
}

impl CaseSelection {
    /// Keeps only the selected cases; plans without selected cases are removed.
    pub fn select<T>(
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
