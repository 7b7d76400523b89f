//! Tests mined expectations with the graders that will grade them later.

use crate::load_source;
use crate::mine::item::MinedItem;
use serde_json::{Value, json};
use std::path::Path;
use toolmark_config::SourceText;
use toolmark_grade::{Case, Grading, LoadOptions, Plan, RunSelection};
use toolmark_outcome::{Environment, Verdict};
use toolmark_trace::Trajectory;

/// Expectations as separate graders.
pub(crate) struct Panel {
    plan: Option<Plan>,
    /// Indices of the expectations that are tested.
    asked: Vec<usize>,
    count: usize,
}

impl Panel {
    /// Builds the graders of these expectations; those that cannot be built are skipped.
    pub(crate) fn new(items: &[&MinedItem]) -> Self {
        let all: Vec<Value> = items.iter().enumerate().map(question).collect();
        let mut asked: Vec<usize> = (0..items.len()).collect();
        let mut plan = plan_of(&all);
        if plan.is_none() {
            asked.retain(|at| plan_of(&all[*at..=*at]).is_some());
            let good: Vec<Value> = asked.iter().map(|at| all[*at].clone()).collect();
            plan = plan_of(&good);
        }
        Self { plan, asked, count: items.len() }
    }

    /// Returns the verdict of each expectation on a run; `None` if it cannot be tested.
    pub(crate) fn ask(&self, run: &Trajectory) -> Vec<Option<Verdict>> {
        let mut verdicts = vec![None; self.count];
        let Some(plan) = &self.plan else { return verdicts };
        let grading = Grading::new(plan, None, Environment::default(), RunSelection::default());
        let graded = grading.grade(run).map(|result| result.graders).unwrap_or_default();
        for (at, grader) in self.asked.iter().zip(graded) {
            verdicts[*at] = Some(grader.outcome.verdict);
        }
        verdicts
    }

    /// Returns all expectations as one case; each grader is named after the index of its
    /// expectation.
    pub(crate) fn case(&self) -> Option<&Case> {
        self.plan.as_ref()?.every.as_deref()
    }
}

fn question((at, item): (usize, &&MinedItem)) -> Value {
    json!({ "type": item.grader, "name": at.to_string(), "config": item.config })
}

fn plan_of(graders: &[Value]) -> Option<Plan> {
    if graders.is_empty() {
        return None;
    }
    let text = json!({ "version": 1, "graders": graders }).to_string();
    load_source(SourceText::new("mined.yaml", text), Path::new("."), &LoadOptions::default()).plan
}
