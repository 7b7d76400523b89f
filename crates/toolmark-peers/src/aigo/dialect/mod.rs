//! LatticeFlow AI GO!: a task file with scorers over the rows of a dataset.
//!
//! A task names its dataset by a key of the platform. Here its rows come from a
//! file: the one passed as `--dataset`, or the `file_path` of the task's `dataset`.
//! Every row is a case, and values that scorers take from the row
//! (`{{ sample.function_calls }}`) are filled in while the task is loaded. A task
//! whose scorers take nothing from rows needs no dataset: every trajectory is a case.
//!
//! A case passes if every scorer passes. Scorers with `purpose: qa` are run
//! and shown, but do not count. `metrics` are numbers over all samples.

mod aggregators;
mod metrics;
mod placeholders;
mod references;
mod rows;
mod running;
mod schema;
mod scorers;
mod task;
#[cfg(test)]
mod tests;

use scorers::Scorer;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use task::Task;
use toolmark_base::SortedMap;
use toolmark_config::Node;
use toolmark_grade::Loading;
use toolmark_grade::schema::Section;
use toolmark_grade::{Case, Gate, Match, Plan, Planned, UsualJudge};
use toolmark_grade::{Dialect, DialectInfo};
use toolmark_outcome::{CaseContext, CaseScoring, GateRule, Profile, SpecPlace};

/// AI GO! task files.
pub struct AiGo;

static INFO: DialectInfo = DialectInfo {
    id: "aigo",
    title: "LatticeFlow AI GO! tasks",
    looks_for: "a list of scorers, at the top or under definition",
    keys: &["scorers", "definition"],
};

impl Dialect for AiGo {
    fn info(&self) -> &'static DialectInfo {
        &INFO
    }

    fn detect(&self, root: &Node) -> u8 {
        let has_scorers = |node: &Node| {
            node.get("scorers").is_some_and(|scorers| {
                scorers
                    .as_list()
                    .is_some_and(|list| list.iter().all(|scorer| scorer.as_map().is_some()))
            })
        };
        match root.get("definition") {
            Some(definition) if has_scorers(definition) => 95,
            // The key is of no other dialect, so its value is a mistake in this one.
            Some(definition) if definition.get("scorers").is_some() => 50,
            _ if has_scorers(root) => 85,
            _ => 0,
        }
    }

    fn load(&self, root: &Node, loading: &mut Loading<'_>) -> Option<Plan> {
        let root = references::resolve(root, loading);
        let root = placeholders::fill(&root, loading);
        let task = Task::read(&root, loading)?;
        let scorers = scorers::read(&task, loading);
        let needs_rows = scorers.iter().any(Scorer::needs_row);
        let dataset = task.dataset(needs_rows, loading);
        let mut plan = Plan {
            run: running::plan(&task, loading),
            spec: Arc::clone(&loading.file),
            dialect: INFO.id,
            name: task.name(),
            cases: Vec::new(),
            stored: None,
            every: None,
            gate: Gate::default(),
            aggregates: metrics::aggregates(&scorers)
                .into_iter()
                .chain(aggregators::read(&task, &scorers, loading))
                .collect(),
            judge: UsualJudge::default(),
        };
        let scoring = scoring(&scorers, loading);
        match dataset {
            task::Dataset::Rows { file, rows } => {
                let mut graders = scorers::ScorerGraders::new(&scorers, loading);
                let named = rows::named(&rows, &task, loading);
                for (row, row_case) in rows.iter().zip(named) {
                    let place = SpecPlace {
                        file: Arc::clone(&file).into(),
                        line: cut(row.line),
                        column: 1,
                    };
                    let built = graders.of_row(row, &place, loading);
                    let context = CaseContext {
                        case: row_case.id.clone(),
                        prompts: row_case.prompts.clone(),
                        input: row_case.input,
                        expected_output: row_case.expected,
                        row: Some(Arc::clone(&row.value)),
                        directory: loading.directory.to_path_buf(),
                        ..CaseContext::default()
                    };
                    let matches =
                        Match { ids: row_case.ids, prompts: row_case.prompts, traces: Vec::new() };
                    plan.cases.push(case(
                        row_case.id,
                        matches,
                        context,
                        built,
                        scoring,
                        &task,
                        place,
                    ));
                }
            }
            task::Dataset::None => {
                let place = loading.place(root.span);
                let built = scorers::ScorerGraders::new(&scorers, loading).without_row();
                let context = CaseContext {
                    directory: loading.directory.to_path_buf(),
                    ..CaseContext::default()
                };
                let id = task.name().unwrap_or_else(|| loading.file.to_string());
                let every = case(id, Match::default(), context, built, scoring, &task, place);
                plan.every = Some(Box::new(every));
            }
            task::Dataset::Bad => return None,
        }
        Some(plan)
    }

    fn schema(&self, _: &[Section]) -> Value {
        schema::schema()
    }
}

fn case(
    id: String,
    matches: Match,
    context: CaseContext,
    graders: Vec<Planned>,
    scoring: CaseScoring,
    task: &Task<'_>,
    place: SpecPlace,
) -> Case {
    let tags: SortedMap<String, Vec<String>> =
        task.tags().into_iter().map(|tag| (tag, Vec::new())).collect();
    Case {
        id,
        tags,
        matches,
        context: Arc::new(context),
        graders,
        scoring,
        trials: task.trials(),
        run: toolmark_grade::run_plan::RunSettings::default(),
        target: None,
        place,
    }
}

/// Requires every scorer to pass; quality scorers have no weight,
/// so that a mean of 1 means that all others passed.
fn scoring(scorers: &[Scorer], loading: &Loading<'_>) -> CaseScoring {
    let rule = match loading.options.threshold {
        Some(threshold) => GateRule::Threshold(threshold),
        None if scorers.iter().any(|scorer| scorer.is_qa) => GateRule::Threshold(1.0),
        None => GateRule::All,
    };
    CaseScoring { rule, profile: Profile::Toolmark }
}

fn cut(line: u64) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX)
}

/// Resolves a path of a spec relative to the spec's directory.
fn beside(loading: &Loading<'_>, path: &str) -> PathBuf {
    loading.path(path)
}
