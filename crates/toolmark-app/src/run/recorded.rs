//! Stored runs that are graded again: `toolmark grade DIR`.

use std::collections::BTreeMap;
use toolmark_grade::run_plan::RunSettings;
use toolmark_grade::{Case, Plan};
use toolmark_run::TrialRecord;
use toolmark_run::store::RunStore;

/// The trials of a run and the plan to grade them: one case per target.
pub struct RecordedRun {
    /// The plan, with one case per case and target.
    pub plan: Plan,
    /// The trials, each with the index of its case.
    pub trials: Vec<(usize, TrialRecord)>,
    /// Trials whose case is not in the plan.
    pub homeless: Vec<String>,
}

impl RecordedRun {
    /// Assigns the trials of a run to the cases of a plan.
    pub fn new(store: &RunStore, mut plan: Plan) -> Self {
        let mut records = store.records();
        records.sort_by_key(|record| record.trial);
        let targets = store.info().map(|info| info.targets).unwrap_or_default();
        let mut names: Vec<String> = targets.into_iter().map(|target| target.name).collect();
        // A run that went on with some of its targets has the trials of the others too.
        for record in &records {
            if !names.contains(&record.target) {
                names.push(record.target.clone());
            }
        }
        let planned = planned(store);
        let mut cases: Vec<Case> = Vec::new();
        let mut trials = Vec::new();
        let originals = std::mem::take(&mut plan.cases);
        // Runs have thousands of trials: each is looked for once.
        let mut by_cell: BTreeMap<(String, String), Vec<TrialRecord>> = BTreeMap::new();
        for record in records {
            let cell = (record.case.clone(), record.target.clone());
            by_cell.entry(cell).or_default().push(record);
        }
        for case in &originals {
            for target in &names {
                let cell = (case.id.clone(), target.clone());
                let Some(mine) = by_cell.remove(&cell) else { continue };
                let key = (target.clone(), case.id.clone());
                let many = planned.get(&key).copied().unwrap_or(mine.len() as u32);
                let run: RunSettings = case.run.over(&plan.run.settings);
                let index = cases.len();
                cases.push(Case {
                    target: Some(target.clone()),
                    trials: Some(many.max(mine.len() as u32)),
                    run,
                    ..case.clone()
                });
                trials.extend(mine.into_iter().map(|record| (index, record)));
            }
        }
        let left = by_cell.into_values().flatten();
        let homeless = left.map(|record| record.case).collect();
        plan.cases = cases;
        Self { plan, trials, homeless }
    }
}

/// Number of planned trials of each cell.
fn planned(store: &RunStore) -> BTreeMap<(String, String), u32> {
    let text = std::fs::read_to_string(store.root().join("plan.jsonl")).unwrap_or_default();
    let mut planned = BTreeMap::new();
    for line in text.lines() {
        let Ok(line) = serde_json::from_str::<serde_json::Value>(line) else { continue };
        let text = |key: &str| Some(line.get(key)?.as_str()?.to_owned());
        if let (Some(target), Some(case)) = (text("target"), text("case")) {
            *planned.entry((target, case)).or_insert(0) += 1;
        }
    }
    planned
}
