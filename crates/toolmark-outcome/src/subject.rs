//! Input of a grader.

use crate::judging::Judge;
use crate::view::TrajectoryView;
use serde_json::Value;
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;
use toolmark_trace::Trajectory;

/// Data of a case besides its graders.
#[derive(Debug, Clone, Default)]
pub struct CaseContext {
    /// Id of the case.
    pub case: String,
    /// Prompts to the agent, one per turn.
    pub prompts: Vec<String>,
    /// Input as written in the spec: a text, messages or a mapping.
    pub input: Option<Value>,
    /// Description of success.
    pub criteria: Option<String>,
    /// The reference answer.
    pub expected_output: Option<Value>,
    /// Criteria for a judge.
    pub rubric: Vec<String>,
    /// Dataset row from which the case was generated.
    pub row: Option<Arc<Value>>,
    /// The case as written in the spec, for programs that receive it.
    pub spec: Option<Arc<Value>>,
    /// Directory of the spec; the base of relative paths.
    pub directory: PathBuf,
    /// Directory of the agent's files, unless overridden on the command line.
    pub workspace: Option<PathBuf>,
}

/// Permissions and services that the caller of a grading provides.
#[derive(Debug, Clone)]
pub struct Environment {
    /// Directory of the agent's files, overriding the one in the trace.
    pub workspace: Option<PathBuf>,
    /// Unified diff of the workspace, read from a file.
    pub diff: Option<Arc<str>>,
    /// Directory of artifacts, overriding the one in the trace.
    pub artifacts: Option<PathBuf>,
    /// Whether graders may run programs. A spec names these programs and may be untrusted.
    pub may_run: bool,
    /// Judge for questions; without one, their verdicts are unknown.
    pub judge: Option<Arc<dyn Judge>>,
    /// Source of rule findings.
    pub findings: Option<Arc<dyn FindingSource>>,
}

/// Finds the calls of a trajectory that rules report.
pub trait FindingSource: Send + Sync + Debug {
    /// Returns the codes of the rules, each with the index of its call.
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

/// Input of a grader.
pub struct Subject<'a> {
    /// The trajectory, or the turn to which the grader is restricted.
    pub view: TrajectoryView<'a>,
    /// Data of the case.
    pub context: &'a CaseContext,
    /// Permissions and services.
    pub environment: &'a Environment,
}

impl Subject<'_> {
    /// Returns the directory of the agent's files, if the command line or the spec sets it.
    #[must_use]
    pub fn workspace(&self) -> Option<&PathBuf> {
        self.environment.workspace.as_ref().or(self.context.workspace.as_ref())
    }
}
