//! The plan of a run: cases × targets × models × trials.

use crate::equipment::{self, Equipment};
use crate::resolve;
use crate::variables::VariableLookup;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;
use toolmark_config::did_you_mean;
use toolmark_grade::run_plan::{
    AgentTarget, Attachment, Isolation, KeepFiles, RunBudget, RunSettings, Runner, TrialLimits,
    WorkspacePlan,
};
use toolmark_grade::{Case, Plan};
use toolmark_hosts::{HOSTS, Host};
use toolmark_outcome::{Cause, PassRule};

/// Default time limit of a trial.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(600);

/// Default number of concurrent trials.
const JOBS: u32 = 2;

/// Default number of retries of a trial that could not run.
const RETRIES: u32 = 1;

/// Settings of the command line, which override the spec.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// Settings in the form of the spec.
    pub settings: RunSettings,
    /// Models for every target.
    pub models: Vec<String>,
    /// Whether workspaces are kept.
    pub keep: Option<KeepFiles>,
}

/// A target with one model.
#[derive(Clone)]
pub struct RunTarget {
    /// Name in reports.
    pub name: String,
    /// Target of the spec.
    pub target: AgentTarget,
    /// Name of the model.
    pub model: Option<String>,
    /// Host, if toolmark supports it.
    pub host: Option<&'static Host>,
}

/// A case on a target.
#[derive(Debug, Clone)]
pub struct MatrixCell {
    /// Index in the cases of the plan.
    pub index: usize,
    /// ID of the case.
    pub case: String,
    /// Index of the target.
    pub target: usize,
    /// Prompts, one per turn.
    pub prompts: Vec<String>,
    /// Directory of the spec.
    pub directory: PathBuf,
    /// Number of trials.
    pub trials: u32,
    /// Number of trials that must pass.
    pub rule: PassRule,
    /// Whether the remaining trials are skipped once the rule is decided.
    pub early_stop: bool,
    /// Time limit of a trial.
    pub timeout: Duration,
    /// Resource limits of a trial.
    pub limits: TrialLimits,
    /// Number of retries of a trial that could not run.
    pub retries: u32,
    /// Causes for which a trial is retried, if specified.
    pub retry_on: Option<Vec<Cause>>,
    /// Isolation of a trial.
    pub isolate: Isolation,
    /// Files of the workspace.
    pub workspace: WorkspacePlan,
    /// Whether the workspace is kept.
    pub keep: KeepFiles,
    /// Additional arguments of the agent, for skills, sub-agents and MCP servers of the case.
    pub args: Vec<String>,
    /// Files that the prompt mentions.
    pub attachments: Vec<Attachment>,
    /// Requirements of the spec that cannot be met.
    pub problems: Vec<String>,
    /// Settings of the spec without effect.
    pub notes: Vec<String>,
    /// Further metadata of the case, for programs that prepare its workspace.
    pub metadata: Option<serde_json::Value>,
}

/// The plan of a run.
pub struct RunMatrix {
    /// Grading plan, with a case for every target.
    pub plan: Plan,
    /// Targets with their models.
    pub targets: Vec<RunTarget>,
    /// Cells, in the order of the plan's cases.
    pub cells: Vec<MatrixCell>,
    /// Maximum number of concurrent trials.
    pub jobs: usize,
    /// Budget of the run.
    pub budget: RunBudget,
    /// Cases that are skipped on a target, with the reason.
    pub skipped: Vec<String>,
}

/// Error in the plan of a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct MatrixError {
    /// Description of the error.
    pub message: String,
    /// Suggested fix.
    pub hint: Option<String>,
}

impl MatrixError {
    pub(crate) fn new(message: impl Into<String>, hint: impl Into<Option<String>>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }
}

/// The agents that toolmark can run.
pub fn agents() -> impl Iterator<Item = &'static Host> {
    HOSTS.iter().copied().filter(|host| host.launch.is_some())
}

/// Returns the agent with this ID, or with the ID that other tools use for it.
#[must_use]
pub fn agent(id: &str) -> Option<&'static Host> {
    let id = match id {
        "claude" => "claude-code",
        "copilot" => "copilot-cli",
        "gemini" => "gemini-cli",
        id => id,
    };
    agents().find(|host| host.id == id)
}

impl RunMatrix {
    /// Creates the plan from a spec and a command line. Values of targets that name variables are
    /// looked up.
    pub fn new(
        mut plan: Plan,
        overrides: &Overrides,
        lookup: VariableLookup<'_>,
    ) -> Result<Self, MatrixError> {
        if !plan.run.problems.is_empty() {
            return Err(MatrixError::new(plan.run.problems.join("; "), None));
        }
        if plan.cases.is_empty() {
            let hint = "a case has an id and a prompt; `toolmark init --run` writes an example";
            return Err(MatrixError::new("the spec has no cases to run", hint.to_owned()));
        }
        let mut targets: Vec<RunTarget> = Vec::new();
        let (mut cases, mut cells, mut skipped) = (Vec::new(), Vec::new(), Vec::new());
        for case in std::mem::take(&mut plan.cases) {
            let settings = overrides.settings.over(&case.run).over(&plan.run.settings);
            if case.context.prompts.iter().all(|prompt| prompt.trim().is_empty()) {
                let message = format!("case {} has no prompt", case.id);
                return Err(MatrixError::new(message, None));
            }
            for target in chosen(&settings.targets, &plan, lookup)? {
                if !can_run(&settings.only_on, &target) {
                    let only = settings.only_on.join(", ");
                    let (case, name) = (&case.id, &target.name);
                    skipped.push(format!("case {case} is not run on {name}, only on {only}"));
                    continue;
                }
                for one in with_models(target, &overrides.models)? {
                    let at = targets.iter().position(|known| known.name == one.name);
                    let at = at.unwrap_or_else(|| {
                        targets.push(one);
                        targets.len() - 1
                    });
                    let cell = cell(cells.len(), &case, at, &settings, overrides, &targets)?;
                    cases.push(Case {
                        target: targets.get(at).map(|target| target.name.clone()),
                        trials: Some(cell.trials),
                        run: settings.clone(),
                        ..case.clone()
                    });
                    cells.push(cell);
                }
            }
        }
        if cells.is_empty() {
            return Err(MatrixError::new(format!("nothing to run: {}", skipped.join("; ")), None));
        }
        plan.cases = cases;
        let all = overrides.settings.over(&plan.run.settings);
        let in_place = cells.iter().any(|cell| cell.isolate == Isolation::None);
        // Two agents in one directory would undo each other's work.
        let jobs = if in_place { 1 } else { all.jobs.unwrap_or(JOBS) };
        let jobs = jobs.max(1) as usize;
        Ok(Self { plan, targets, cells, jobs, budget: all.budget, skipped })
    }

    /// All trials in start order: the first trial of every cell precedes the second trial of any
    /// cell.
    #[must_use]
    pub fn trials(&self) -> Vec<(usize, u32)> {
        let most = self.cells.iter().map(|cell| cell.trials).max().unwrap_or(0);
        let of = |trial: u32| {
            let cells = self.cells.iter().enumerate().filter(move |(_, cell)| trial < cell.trials);
            cells.map(move |(at, _)| (at, trial))
        };
        (0..most).flat_map(of).collect()
    }
}

/// Returns the targets with these names; all targets of the spec without names.
fn chosen(
    names: &[String],
    plan: &Plan,
    lookup: VariableLookup<'_>,
) -> Result<Vec<AgentTarget>, MatrixError> {
    let known = &plan.run.targets;
    if names.is_empty() {
        if known.is_empty() {
            let ids: Vec<&str> = agents().map(|host| host.id).collect();
            let hint = format!("add `targets:` to the spec, or --target {}", ids.join("|"));
            return Err(MatrixError::new("the spec has no targets", hint));
        }
        return known.iter().map(|one| resolve::target(one, known, lookup)).collect();
    }
    let mut targets = Vec::new();
    for name in names {
        let found = known.iter().find(|target| target.name == *name).cloned();
        // An agent needs no entry to be run as it is.
        let found = found.or_else(|| {
            let id = agent(name)?.id.to_owned();
            Some(AgentTarget::new(name, Runner::Agent { id, executable: None, args: Vec::new() }))
        });
        let Some(found) = found else {
            let names = known.iter().map(|target| target.name.as_str());
            let hint = match did_you_mean(name, names.clone()) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("targets of the spec: {}", names.collect::<Vec<_>>().join(", ")),
            };
            return Err(MatrixError::new(format!("there is no target {name}"), hint));
        };
        targets.push(resolve::target(&found, known, lookup)?);
    }
    Ok(targets)
}

/// Whether a case that is restricted to certain targets can run on this one.
fn can_run(only_on: &[String], target: &AgentTarget) -> bool {
    let agent = match &target.runner {
        Runner::Agent { id, .. } => id.as_str(),
        _ => "",
    };
    only_on.is_empty() || only_on.iter().any(|name| *name == target.name || name == agent)
}

/// Returns a target once for every model.
fn with_models(target: AgentTarget, overrides: &[String]) -> Result<Vec<RunTarget>, MatrixError> {
    let host = match &target.runner {
        Runner::Agent { id, .. } => {
            let Some(host) = agent(id) else {
                let ids: Vec<&str> = agents().map(|host| host.id).collect();
                let hint = match did_you_mean(id, ids.iter().copied()) {
                    Some(near) => format!("did you mean {near}?"),
                    None => format!("agents: {}, replay; or a command", ids.join(", ")),
                };
                let message = format!("target {}: there is no agent {id}", target.name);
                return Err(MatrixError::new(message, hint));
            };
            Some(host)
        }
        _ => None,
    };
    let models = if overrides.is_empty() { target.models.clone() } else { overrides.to_vec() };
    let one = |name: String, model| RunTarget { name, target: target.clone(), model, host };
    Ok(match models.as_slice() {
        [] => vec![one(target.name.clone(), None)],
        [model] => vec![one(target.name.clone(), Some(model.clone()))],
        models => {
            let name = |model: &String| format!("{}/{model}", target.name);
            let unique: BTreeSet<&String> = models.iter().collect();
            let models = models.iter().filter(|model| unique.contains(model));
            models.map(|model| one(name(model), Some(model.clone()))).collect()
        }
    })
}

fn cell(
    index: usize,
    case: &Case,
    target: usize,
    settings: &RunSettings,
    overrides: &Overrides,
    targets: &[RunTarget],
) -> Result<MatrixCell, MatrixError> {
    let run_target = targets.get(target);
    let of_target = run_target.and_then(|target| target.target.timeout);
    let trials = overrides.settings.trials.or(case.run.trials).or(case.trials);
    let trials = trials.or(settings.trials).unwrap_or(1);
    let rule = settings.pass.unwrap_or_default();
    if rule.needed(u64::from(trials)) > u64::from(trials) {
        let message = format!("case {}: {rule} of {trials} trials can never pass", case.id);
        return Err(MatrixError::new(message, None));
    }
    let mut workspace = settings.workspace.clone().unwrap_or_else(|| WorkspacePlan {
        from: case.context.workspace.clone(),
        ..WorkspacePlan::default()
    });
    if let Some(more) = run_target.and_then(|target| target.target.workspace.as_ref()) {
        workspace = workspace.with(more);
    }
    // What is said closer to the workspace comes last, and counts.
    workspace.env = [settings.env.clone(), workspace.env].concat();
    let Equipment { args, problems, workspace } =
        equipment::place(workspace, run_target.and_then(|target| target.host));
    let mut prompts = case.context.prompts.clone();
    if let Some(first) = prompts.first_mut() {
        for file in settings.attachments.iter().filter(|file| !file.is_guideline) {
            let path = std::path::absolute(&file.path).unwrap_or_else(|_| file.path.clone());
            first.push_str(&format!("\n<file: path=\"{}\">", path.display()));
        }
    }
    Ok(MatrixCell {
        index,
        case: case.id.clone(),
        target,
        prompts,
        directory: std::path::absolute(&case.context.directory).unwrap_or_default(),
        trials,
        rule,
        early_stop: settings.early_stop.unwrap_or(true),
        timeout: settings.timeout.or(of_target).unwrap_or(TIMEOUT),
        limits: settings.limits,
        retries: settings.retries.unwrap_or(RETRIES),
        retry_on: settings.retry_on.clone(),
        isolate: settings.isolate.unwrap_or(Isolation::Copy),
        keep: overrides.keep.or(workspace.keep).or(settings.keep).unwrap_or(KeepFiles::Failure),
        workspace,
        args,
        attachments: settings.attachments.clone(),
        problems: settings.problems.iter().cloned().chain(problems).collect(),
        notes: settings.notes.clone(),
        metadata: case.run.metadata.clone(),
    })
}
