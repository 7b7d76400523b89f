//! Runs that are kept, graded again: `toolmark grade DIR`.

use toolmark_grade::run_plan::RunSettings;
use toolmark_grade::{Case, Plan};
use toolmark_run::TrialRecord;
use toolmark_run::store::Store;

/// The trials of a run with the plan they are graded by: a case for every target.
pub(crate) struct Recorded {
    pub(crate) plan: Plan,
    /// The trials, each with the place of its case.
    pub(crate) trials: Vec<(usize, TrialRecord)>,
    /// Trials of cases that the plan does not have.
    pub(crate) homeless: Vec<String>,
}

impl Recorded {
    /// Lays the trials of a run out over a plan.
    pub(crate) fn new(store: &Store, mut plan: Plan) -> Self {
        let mut records = store.records();
        records.sort_by_key(|record| record.trial);
        let names = store.info().map(|info| info.targets).unwrap_or_default();
        let planned = planned(store);
        let mut cases: Vec<Case> = Vec::new();
        let mut trials = Vec::new();
        let originals = std::mem::take(&mut plan.cases);
        for case in &originals {
            for target in &names {
                let of_cell =
                    |record: &&TrialRecord| record.case == case.id && record.target == target.name;
                let mine: Vec<&TrialRecord> = records.iter().filter(of_cell).collect();
                if mine.is_empty() {
                    continue;
                }
                let key = (target.name.clone(), case.id.clone());
                let many = planned.get(&key).copied().unwrap_or(mine.len() as u32);
                let run: RunSettings = case.run.over(&plan.run.settings);
                let index = cases.len();
                cases.push(Case {
                    target: Some(target.name.clone()),
                    trials: Some(many.max(mine.len() as u32)),
                    run,
                    ..case.clone()
                });
                trials.extend(mine.into_iter().map(|record| (index, record.clone())));
            }
        }
        let is_known = |record: &&TrialRecord| !originals.iter().any(|case| case.id == record.case);
        let homeless = records.iter().filter(is_known).map(|record| record.case.clone()).collect();
        plan.cases = cases;
        Self { plan, trials, homeless }
    }
}

/// How many trials of each cell were planned.
fn planned(store: &Store) -> std::collections::BTreeMap<(String, String), u32> {
    let text = std::fs::read_to_string(store.root().join("plan.jsonl")).unwrap_or_default();
    let mut planned = std::collections::BTreeMap::new();
    for line in text.lines() {
        let Ok(line) = serde_json::from_str::<serde_json::Value>(line) else { continue };
        let text = |key: &str| Some(line.get(key)?.as_str()?.to_owned());
        if let (Some(target), Some(case)) = (text("target"), text("case")) {
            *planned.entry((target, case)).or_insert(0) += 1;
        }
    }
    planned
}
