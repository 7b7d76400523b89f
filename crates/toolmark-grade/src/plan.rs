//! The plan of a spec in any dialect: cases with graders.

use crate::grader::{Determinism, Grader, GraderInfo};
use crate::run_plan::{RunPlan, RunSettings};
use crate::stored::StoredCases;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;
use toolmark_base::SortedMap;
use toolmark_outcome::Profile;
use toolmark_outcome::judging::Effort;
use toolmark_outcome::{CaseContext, Missing, SpecPlace};
use toolmark_outcome::{CaseScoring, PassRule};

/// A grader with its settings in a case.
#[derive(Clone)]
pub struct Planned {
    /// Name, unique within the case.
    pub name: String,
    /// Type as written in the spec.
    pub type_word: String,
    /// Description of the grader.
    pub info: &'static GraderInfo,
    /// Profile that the grader follows.
    pub profile: Profile,
    /// Weight in the score of the case.
    pub weight: f64,
    /// Whether the grader must pass, regardless of the others.
    pub required: bool,
    /// Minimum score; without one, the grader's own verdict decides.
    pub min_score: Option<f64>,
    /// Whether the verdict is inverted.
    pub negate: bool,
    /// Turn to which the grader is restricted, from 0.
    pub turn: Option<u32>,
    /// The grader.
    pub grader: Arc<dyn Grader>,
    /// Source position in the spec.
    pub place: SpecPlace,
}

impl Planned {
    /// Whether the grader may call a judge.
    #[must_use]
    pub fn asks_judge(&self) -> bool {
        self.info.taxonomy.determinism == Determinism::Judge || self.grader.asks_judge()
    }
}

/// Criteria for the trajectories of a case.
#[derive(Debug, Clone, Default)]
pub struct Match {
    /// IDs or names of matching trajectories, including the ID of the case.
    pub ids: Vec<String>,
    /// First prompts of matching trajectories.
    pub prompts: Vec<String>,
    /// Trace files that the spec names.
    pub traces: Vec<PathBuf>,
}

/// A test case.
#[derive(Clone)]
pub struct Case {
    /// ID, unique within the plan.
    pub id: String,
    /// Tags for filtering: keys with values; a plain tag is a key without values.
    pub tags: SortedMap<String, Vec<String>>,
    /// Criteria for its trajectories.
    pub matches: Match,
    /// Context for graders.
    pub context: Arc<CaseContext>,
    /// Graders of the case.
    pub graders: Vec<Planned>,
    /// Rules for combining the outcomes.
    pub scoring: CaseScoring,
    /// Number of requested trials.
    pub trials: Option<u32>,
    /// Run settings that differ from those of the other cases.
    pub run: RunSettings,
    /// Target of the run, once chosen.
    pub target: Option<String>,
    /// Source position in the spec.
    pub place: SpecPlace,
}

/// Conditions for the run as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Gate {
    /// Minimum mean score over all cases.
    pub threshold: Option<f64>,
}

/// Everything that a spec defines.
pub struct Plan {
    /// The spec file.
    pub spec: Arc<str>,
    /// ID of the dialect.
    pub dialect: &'static str,
    /// Name of the spec.
    pub name: Option<String>,
    /// The cases, in the order of the spec.
    pub cases: Vec<Case>,
    /// Cases that stay in their file, instead of `cases`; only if
    /// [`LoadOptions::stores_cases`](crate::LoadOptions) allows it.
    pub stored: Option<Arc<StoredCases>>,
    /// Template for cases: if a spec lists none, every trajectory is a case.
    pub every: Option<Box<Case>>,
    /// Conditions for the run as a whole.
    pub gate: Gate,
    /// Aggregates over all cases that the spec requests.
    pub aggregates: Vec<Arc<dyn Aggregate>>,
    /// Default judge.
    pub judge: UsualJudge,
    /// Run settings.
    pub run: RunPlan,
}

impl Plan {
    /// Returns the number of trials of a case that must pass.
    #[must_use]
    pub fn pass_rule(&self, case: &Case) -> PassRule {
        case.run.pass.or(self.run.settings.pass).unwrap_or_default()
    }
}

/// A case of a plan, in memory or from its file.
pub enum CaseRef<'p> {
    /// A case in memory.
    Held(&'p Case),
    /// A case read from its file.
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
    /// Returns the number of cases.
    #[must_use]
    pub fn len(&self) -> usize {
        self.stored.as_ref().map_or(self.cases.len(), |stored| stored.len())
    }

    /// Whether there are no cases.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a case by index. `None` if it does not exist, or if its file has changed in the
    /// meantime.
    #[must_use]
    pub fn case(&self, index: usize) -> Option<CaseRef<'_>> {
        match &self.stored {
            Some(stored) => stored.case(index).map(CaseRef::Read),
            None => self.cases.get(index).map(CaseRef::Held),
        }
    }

    /// Returns the ID of a case.
    #[must_use]
    pub fn id(&self, index: usize) -> &str {
        match &self.stored {
            Some(stored) => stored.id(index),
            None => self.cases.get(index).map_or("", |case| &case.id),
        }
    }

    /// Returns the index of the case with this ID.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<usize> {
        match &self.stored {
            Some(stored) => stored.find(id),
            None => self.cases.iter().position(|case| case.id == id),
        }
    }

    /// Returns the trace files that the cases name.
    #[must_use]
    pub fn traces(&self) -> Vec<PathBuf> {
        match &self.stored {
            Some(stored) => stored.traces().to_vec(),
            None => self.cases.iter().flat_map(|case| case.matches.traces.clone()).collect(),
        }
    }

    /// Whether any grader may call a judge.
    #[must_use]
    pub fn asks_judge(&self) -> bool {
        let cases = self.cases.iter().chain(self.every.as_deref());
        self.stored.as_ref().is_some_and(|stored| stored.asks_judge())
            || cases.flat_map(|case| &case.graders).any(Planned::asks_judge)
    }

    /// Keeps only the cases that `is_wanted` accepts. Stored cases are then loaded into memory.
    pub fn retain(&mut self, is_wanted: impl Fn(&Case) -> bool) {
        if let Some(stored) = self.stored.take() {
            let all = (0..stored.len()).filter_map(|index| stored.case(index));
            self.cases = all.filter(|case| is_wanted(case)).map(Arc::unwrap_or_clone).collect();
        } else {
            self.cases.retain(is_wanted);
        }
    }
}

/// The default judge of a spec, for graders that name none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UsualJudge {
    /// The model.
    pub model: Option<String>,
    /// Reasoning effort.
    pub effort: Option<Effort>,
}

/// A number over all cases that a spec requests.
pub trait Aggregate: Send + Sync {
    /// Returns its name.
    fn name(&self) -> &str;
    /// Returns its value, or the reason why there is none.
    fn value(&self, results: &[toolmark_outcome::CaseResult])
    -> Result<serde_json::Value, Missing>;
}
