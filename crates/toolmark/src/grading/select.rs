//! Case selection: `--case` and `--tag`.

use crate::exit::Failure;
use clap::Args;
use std::collections::BTreeMap;
use toolmark_grade::Plan;

/// Options that select cases.
#[derive(Debug, Args)]
pub(crate) struct CaseArgs {
    /// Only cases whose id matches this pattern (* and ?); may be given several times
    #[arg(long = "case", alias = "test-id", value_name = "ID")]
    cases: Vec<String>,
    /// Only cases with this tag; may be given several times
    #[arg(long = "tag", value_name = "TAG[=VALUE]")]
    tags: Vec<String>,
}

impl CaseArgs {
    /// Keeps only the selected cases; plans without selected cases are removed.
    pub(crate) fn select<T>(
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
fn has_tag(tags: &BTreeMap<String, Vec<String>>, wanted: &str) -> bool {
    match wanted.split_once('=') {
        None => tags.contains_key(wanted) || tags.values().any(|v| v.iter().any(|v| v == wanted)),
        Some((key, values)) => tags
            .get(key)
            .is_some_and(|has| values.split(',').any(|value| has.iter().any(|v| v == value))),
    }
}
