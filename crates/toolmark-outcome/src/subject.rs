//! What a grader is shown.

use crate::judging::Judge;
use crate::view::View;
use serde_json::Value;
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;
use toolmark_trace::Trajectory;

/// What a case knows besides its graders.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// The id of the case.
    pub case: String,
    /// What the agent was asked, turn by turn.
    pub prompts: Vec<String>,
    /// The input as the spec has it: a text, messages, a mapping.
    pub input: Option<Value>,
    /// What success means, in words.
    pub criteria: Option<String>,
    /// The reference answer.
    pub expected_output: Option<Value>,
    /// Criteria for a judge.
    pub rubric: Vec<String>,
    /// The row of the dataset this case was made of.
    pub row: Option<Arc<Value>>,
    /// The case as the spec has it, for programs that are handed it.
    pub spec: Option<Arc<Value>>,
    /// The directory of the spec; relative paths start here.
    pub directory: PathBuf,
    /// Where the agent's files are, unless the command line says otherwise.
    pub workspace: Option<PathBuf>,
}

/// What whoever runs the grading allows and provides.
#[derive(Debug, Clone)]
pub struct Environment {
    /// Where the agent's files are, instead of where the trace says.
    pub workspace: Option<PathBuf>,
    /// A unified diff of the workspace, read from a file.
    pub diff: Option<Arc<str>>,
    /// Where artifacts are, instead of where the trace says.
    pub artifacts: Option<PathBuf>,
    /// May graders run programs? A spec names them, and a spec may be a stranger's.
    pub may_run: bool,
    /// Who answers what only a reader can; questions stay unknown without one.
    pub judge: Option<Arc<dyn Judge>>,
    /// Who knows which calls a rule finds fault with.
    pub findings: Option<Arc<dyn Findings>>,
}

/// Knows which calls of a trajectory rules find fault with.
pub trait Findings: Send + Sync + Debug {
    /// The codes of the rules, each with the place of its call.
    fn of(&self, trajectory: &Trajectory) -> Vec<(usize, &'static str)>;
}

impl Default for Environment {
    fn default() -> Self {
        Self {
            workspace: None,
            diff: None,
            artifacts: None,
            may_run: true,
            judge: None,
            findings: None,
        }
    }
}

/// What a grader is shown.
pub struct Subject<'a> {
    /// The trajectory, or the turn the grader is restricted to.
    pub view: View<'a>,
    /// What the case knows.
    pub context: &'a Context,
    /// What is allowed and provided.
    pub environment: &'a Environment,
}

impl Subject<'_> {
    /// Where the agent's files are, where somebody says so besides the trace.
    #[must_use]
    pub fn workspace(&self) -> Option<&PathBuf> {
        self.environment.workspace.as_ref().or(self.context.workspace.as_ref())
    }
}
