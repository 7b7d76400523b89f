//! What a spec of any dialect comes down to: cases with graders.

use crate::grader::{Determinism, Grader, GraderInfo};
use crate::run_plan::{RunPlan, RunSettings};
use crate::stored::StoredCases;
use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;
use toolmark_outcome::Profile;
use toolmark_outcome::judging::Effort;
use toolmark_outcome::{Context, SpecPlace};
use toolmark_outcome::{PassRule, Scoring};

/// A grader with its part in a case.
#[derive(Clone)]
pub struct Planned {
    /// Its name, unique within the case.
    pub name: String,
    /// The word the spec used for its type.
    pub type_word: String,
    /// What it says about itself.
    pub info: &'static GraderInfo,
    /// Whose reading it follows.
    pub profile: Profile,
    /// Its weight in the score of the case.
    pub weight: f64,
    /// Must it hold whatever the others say?
    pub required: bool,
    /// The score it must reach; its own verdict decides where there is none.
    pub min_score: Option<f64>,
    /// Is the opposite wanted?
    pub negate: bool,
    /// The turn it is restricted to, from 0.
    pub turn: Option<u32>,
    /// The question.
    pub grader: Arc<dyn Grader>,
    /// Where the spec asks it.
    pub place: SpecPlace,
}

impl Planned {
    /// May it ask a judge?
    #[must_use]
    pub fn asks_judge(&self) -> bool {
        self.info.taxonomy.determinism == Determinism::Judge || self.grader.asks_judge()
    }
}

/// Which trajectories belong to a case.
#[derive(Debug, Clone, Default)]
pub struct Match {
    /// Ids or names a trajectory may have; the id of the case is one of them.
    pub ids: Vec<String>,
    /// What the user said first.
    pub prompts: Vec<String>,
    /// Trace files the spec itself names.
    pub traces: Vec<PathBuf>,
}

/// One thing expected.
#[derive(Clone)]
pub struct Case {
    /// Unique within the plan.
    pub id: String,
    /// For filtering: keys with values; a plain tag is a key without values.
    pub tags: BTreeMap<String, Vec<String>>,
    /// Which trajectories belong to it.
    pub matches: Match,
    /// What graders may want to know.
    pub context: Arc<Context>,
    /// The questions.
    pub graders: Vec<Planned>,
    /// How their answers make one.
    pub scoring: Scoring,
    /// How many trials were asked for.
    pub trials: Option<u32>,
    /// How it is run, where that differs from the other cases.
    pub run: RunSettings,
    /// The target it is run on, once that is settled.
    pub target: Option<String>,
    /// Where the spec has it.
    pub place: SpecPlace,
}

/// What must hold for the whole.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Gate {
    /// The mean score over cases must reach this.
    pub threshold: Option<f64>,
}

/// Everything a spec asks.
pub struct Plan {
    /// The spec file.
    pub spec: Arc<str>,
    /// Whose file shape it is.
    pub dialect: &'static str,
    /// Its name.
    pub name: Option<String>,
    /// The cases, in the order of the spec.
    pub cases: Vec<Case>,
    /// Cases that stay in their file, instead of those; only where
    /// [`LoadOptions::stores_cases`](crate::LoadOptions) allows it.
    pub stored: Option<Arc<StoredCases>>,
    /// A pattern for cases: where a spec lists none, every trajectory is one.
    pub every: Option<Box<Case>>,
    /// What must hold for the whole.
    pub gate: Gate,
    /// Sums over cases the spec asks for: a name and how to make it.
    pub aggregates: Vec<Arc<dyn Aggregate>>,
    /// Who judges where a grader names nobody.
    pub judge: UsualJudge,
    /// How its cases are run.
    pub run: RunPlan,
}

impl Plan {
    /// How many trials of a case must pass.
    #[must_use]
    pub fn pass_rule(&self, case: &Case) -> PassRule {
        case.run.pass.or(self.run.settings.pass).unwrap_or_default()
    }
}

/// A case of a plan, wherever it is.
pub enum CaseRef<'p> {
    /// The plan has it.
    Held(&'p Case),
    /// It was read.
    Read(Arc<Case>),
}

impl Deref for CaseRef<'_> {
    type Target = Case;

    fn deref(&self) -> &Case {
        match self {
            Self::Held(case) => case,
            Self::Read(case) => case,
        }
    }
}

impl Plan {
    /// How many cases there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.stored.as_ref().map_or(self.cases.len(), |stored| stored.len())
    }

    /// Is there no case?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A case by its place. `None` where there is none, or where the file it stays in
    /// is another by now.
    #[must_use]
    pub fn case(&self, index: usize) -> Option<CaseRef<'_>> {
        match &self.stored {
            Some(stored) => stored.case(index).map(CaseRef::Read),
            None => self.cases.get(index).map(CaseRef::Held),
        }
    }

    /// The id of a case.
    #[must_use]
    pub fn id(&self, index: usize) -> &str {
        match &self.stored {
            Some(stored) => stored.id(index),
            None => self.cases.get(index).map_or("", |case| &case.id),
        }
    }

    /// The case with this id.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<usize> {
        match &self.stored {
            Some(stored) => stored.find(id),
            None => self.cases.iter().position(|case| case.id == id),
        }
    }

    /// The trace files that its cases name.
    #[must_use]
    pub fn traces(&self) -> Vec<PathBuf> {
        match &self.stored {
            Some(stored) => stored.traces().to_vec(),
            None => self.cases.iter().flat_map(|case| case.matches.traces.clone()).collect(),
        }
    }

    /// May a grader ask a judge?
    #[must_use]
    pub fn asks_judge(&self) -> bool {
        let cases = self.cases.iter().chain(self.every.as_deref());
        self.stored.as_ref().is_some_and(|stored| stored.asks_judge())
            || cases.flat_map(|case| &case.graders).any(Planned::asks_judge)
    }

    /// Leaves only cases that are wanted. Those that stayed in their file are held then.
    pub fn retain(&mut self, is_wanted: impl Fn(&Case) -> bool) {
        if let Some(stored) = self.stored.take() {
            let all = (0..stored.len()).filter_map(|index| stored.case(index));
            self.cases = all.filter(|case| is_wanted(case)).map(Arc::unwrap_or_clone).collect();
        } else {
            self.cases.retain(is_wanted);
        }
    }
}

/// Who judges where a grader names nobody, as the spec says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UsualJudge {
    /// The model.
    pub model: Option<String>,
    /// How hard it thinks.
    pub effort: Option<Effort>,
}

/// A number over all cases that a spec asks for.
pub trait Aggregate: Send + Sync {
    /// Its name.
    fn name(&self) -> &str;
    /// Its value, or why there is none.
    fn value(&self, results: &[toolmark_outcome::CaseResult]) -> Result<serde_json::Value, String>;
}
