//! Run settings of a spec: targets, trials, workspaces, limits.
//!
//! Every dialect converts its own format to these types, as it does for
//! [`Plan`](crate::Plan). This module does not run anything.

use std::path::PathBuf;
use std::time::Duration;
use toolmark_outcome::{Cause, PassRule, SpecPlace};

/// Run settings of a spec.
#[derive(Debug, Clone, Default)]
pub struct RunPlan {
    /// Default settings for every case.
    pub settings: RunSettings,
    /// Agents that can be run.
    pub targets: Vec<AgentTarget>,
    /// Files of variables (`.env`), used for variables that are not set.
    pub env_files: Vec<PathBuf>,
    /// Problems that only matter when cases are run.
    pub problems: Vec<String>,
}

/// Settings for running cases. Unset values are `None` and are inherited: a case inherits from
/// its file, and the command line overrides both.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunSettings {
    /// Target names; all targets if empty.
    pub targets: Vec<String>,
    /// Number of trials per case.
    pub trials: Option<u32>,
    /// Number of trials that must pass.
    pub pass: Option<PassRule>,
    /// Whether trials are skipped once the result is decided.
    pub early_stop: Option<bool>,
    /// Timeout of a trial.
    pub timeout: Option<Duration>,
    /// Limits of one trial.
    pub limits: TrialLimits,
    /// Budget of the whole run.
    pub budget: RunBudget,
    /// Number of retries of a trial that could not run.
    pub retries: Option<u32>,
    /// Causes for which a trial is retried; those that pass by themselves if unspecified.
    pub retry_on: Option<Vec<Cause>>,
    /// Maximum number of concurrent trials.
    pub jobs: Option<u32>,
    /// Isolation of a trial.
    pub isolate: Option<Isolation>,
    /// Initial files of a trial.
    pub workspace: Option<WorkspacePlan>,
    /// Environment variables of the agent, in addition to those of its target and workspace.
    pub env: Vec<Variable>,
    /// Whether workspaces are kept, unless a workspace has its own setting.
    pub keep: Option<KeepFiles>,
    /// Targets on which a case can be run, by name or by agent; any target if empty.
    pub only_on: Vec<String>,
    /// Other data of the case, for programs that prepare its workspace.
    pub metadata: Option<serde_json::Value>,
    /// Files that the prompt references.
    pub attachments: Vec<Attachment>,
    /// Unsupported requests of the spec, which prevent the run.
    pub problems: Vec<String>,
    /// Requests of the spec that are handled differently, or not needed.
    pub notes: Vec<String>,
}

/// A file that a prompt references.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// Path of the file.
    pub path: PathBuf,
    /// Whether the file is an instruction file rather than input.
    pub is_guideline: bool,
}

impl RunSettings {
    /// Returns these settings, with unset values taken from `others`.
    #[must_use]
    pub fn over(&self, others: &Self) -> Self {
        let own = self.clone();
        Self {
            targets: if own.targets.is_empty() { others.targets.clone() } else { own.targets },
            trials: own.trials.or(others.trials),
            pass: own.pass.or(others.pass),
            early_stop: own.early_stop.or(others.early_stop),
            timeout: own.timeout.or(others.timeout),
            limits: own.limits.over(others.limits),
            budget: own.budget.over(others.budget),
            retries: own.retries.or(others.retries),
            retry_on: own.retry_on.or_else(|| others.retry_on.clone()),
            jobs: own.jobs.or(others.jobs),
            isolate: own.isolate.or(others.isolate),
            workspace: own.workspace.or_else(|| others.workspace.clone()),
            // The last value of a variable counts.
            env: [others.env.clone(), own.env].concat(),
            keep: own.keep.or(others.keep),
            only_on: if own.only_on.is_empty() { others.only_on.clone() } else { own.only_on },
            metadata: own.metadata.or_else(|| others.metadata.clone()),
            attachments: both(own.attachments, &others.attachments),
            problems: both(own.problems, &others.problems),
            notes: both(own.notes, &others.notes),
        }
    }
}

/// Returns the union without duplicates.
fn both<T: Clone + PartialEq>(mut own: Vec<T>, others: &[T]) -> Vec<T> {
    for other in others {
        if !own.contains(other) {
            own.push(other.clone());
        }
    }
    own
}

/// Limits of one trial, which is stopped when it exceeds them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TrialLimits {
    /// Model responses.
    pub turns: Option<u64>,
    /// Tool calls.
    pub calls: Option<u64>,
    /// Tokens.
    pub tokens: Option<u64>,
    /// US dollars.
    pub usd: Option<f64>,
}

impl TrialLimits {
    fn over(self, others: Self) -> Self {
        Self {
            turns: self.turns.or(others.turns),
            calls: self.calls.or(others.calls),
            tokens: self.tokens.or(others.tokens),
            usd: self.usd.or(others.usd),
        }
    }
}

/// Budget of a whole run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RunBudget {
    /// US dollars.
    pub usd: Option<f64>,
    /// Tokens.
    pub tokens: Option<u64>,
}

impl RunBudget {
    fn over(self, others: Self) -> Self {
        Self { usd: self.usd.or(others.usd), tokens: self.tokens.or(others.tokens) }
    }
}

toolmark_base::word_enum! {
    /// Isolation of a trial.
    pub enum Isolation {
        /// No isolation: the agent works in the source itself.
        None = "none" | "in-place",
        /// A copy of the source, a separate home directory, and a cleared environment.
        Copy = "copy",
        /// Like `copy`, with a file system in which only the copy is writable.
        Sandbox = "bwrap" | "sandbox",
    }
}

toolmark_base::word_enum! {
    /// Permissions of an agent without confirmation.
    pub enum TrialPermissions {
        /// Read and answer.
        Read = "read",
        /// Change files in its workspace.
        Workspace = "workspace",
        /// Everything.
        Full = "full",
    }
}

toolmark_base::word_enum! {
    /// The home directory of an agent.
    pub enum Home {
        /// An empty home directory for every trial.
        Fresh = "fresh",
        /// The home directory of the user who runs toolmark, with its settings and logins.
        Inherit = "inherit",
    }
}

toolmark_base::word_enum! {
    /// Whether the files of a trial are kept.
    pub enum KeepFiles {
        /// Never.
        Never = "never",
        /// If the trial did not pass.
        Failure = "failure" | "on-failure",
        /// Always.
        Always = "always",
    }
}

/// An agent that can be run.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentTarget {
    /// Name in the spec.
    pub name: String,
    /// Program to run.
    pub runner: Runner,
    /// Models to run one after the other; the agent's default if empty.
    pub models: Vec<String>,
    /// Permissions of the agent.
    pub permissions: TrialPermissions,
    /// Home directory of the agent.
    pub home: Home,
    /// Environment variables of the agent.
    pub env: Vec<Variable>,
    /// Timeout of a trial, unless the case sets one.
    pub timeout: Option<Duration>,
    /// Program that checks whether the target can be run.
    pub health: Option<CommandLine>,
    /// Token price, for traces without costs.
    pub price: Option<TokenPrice>,
    /// Name of another target that is run instead; it may be a variable.
    pub stands_for: Option<String>,
    /// Working directory of a command, if not the workspace.
    pub directory: Option<PathBuf>,
    /// Files and programs for its trials, in addition to those of the cases.
    pub workspace: Option<WorkspacePlan>,
    /// Format of each file in `{FILES}`, with the placeholders `{path}` and `{basename}`.
    pub files_format: Option<String>,
    /// Whether one command answers all cases, with one output line each.
    pub batches: bool,
    /// Maximum number of its concurrent trials, if less than the total.
    pub jobs: Option<u32>,
    /// Problems that prevent the target from being run.
    pub problems: Vec<String>,
    /// Settings that have no effect.
    pub notes: Vec<String>,
    /// Source position in the spec.
    pub place: SpecPlace,
}

impl AgentTarget {
    /// Creates a target with default settings.
    #[must_use]
    pub fn new(name: impl Into<String>, runner: Runner) -> Self {
        Self {
            name: name.into(),
            runner,
            models: Vec::new(),
            permissions: TrialPermissions::Workspace,
            home: Home::Fresh,
            env: Vec::new(),
            timeout: None,
            health: None,
            price: None,
            stands_for: None,
            directory: None,
            workspace: None,
            files_format: None,
            batches: false,
            jobs: None,
            problems: Vec::new(),
            notes: Vec::new(),
            place: SpecPlace::default(),
        }
    }
}

/// Program to run.
#[derive(Debug, Clone, PartialEq)]
pub enum Runner {
    /// An agent that toolmark can start.
    Agent {
        /// Agent ID: `claude-code`, `codex` …
        id: String,
        /// Program of the agent, if not the usual one.
        executable: Option<String>,
        /// Additional arguments.
        args: Vec<String>,
    },
    /// Any program.
    Command {
        /// Command line.
        line: CommandLine,
        /// Location of the trace.
        trace: TraceSource,
        /// Whether an exit code other than 0 means that the command could not run.
        needs_success: bool,
    },
    /// Traces of earlier runs.
    Replay(Recordings),
    /// An unsupported runner, with the reason.
    Unsupported(String),
}

/// Traces of earlier runs, used instead of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recordings {
    /// File, or directory of files named after cases.
    pub path: PathBuf,
    /// Agent whose runs are used, if a file contains those of several agents.
    pub agent: Option<String>,
    /// Whether a run in a file must name its case. Otherwise the only run of a file is a run
    /// of every case.
    pub named: bool,
}

impl Recordings {
    /// Creates recordings from a file or directory, with default settings.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), agent: None, named: false }
    }
}

/// A command line, with placeholders such as `{prompt_file}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandLine {
    /// A program and its arguments.
    Words(Vec<String>),
    /// A shell command line. The values of placeholders are quoted.
    Shell(String),
    /// A shell command line in which only upper-case names are placeholders: `{PROMPT}`.
    Capitals(String),
    /// A program and its arguments, in which only `{{name}}` is a placeholder. Unknown names
    /// are kept as they are.
    DoubleBraces(Vec<String>),
}

/// Location of a program's trace.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum TraceSource {
    /// Standard output.
    #[default]
    Stdout,
    /// A file or a glob pattern, in the workspace.
    Files(String),
    /// The file passed as `{output_file}`: a trace, or an answer as plain text.
    OutputFile,
}

/// An environment variable of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Name of the variable.
    pub name: String,
    /// Value of the variable.
    pub value: VariableValue,
}

/// Value of an environment variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VariableValue {
    /// The value in the spec.
    Literal(String),
    /// The value of a variable in toolmark's own environment.
    Inherited {
        /// Name of that variable.
        name: String,
        /// Whether it is an error if the variable is not set.
        required: bool,
    },
}

impl Variable {
    /// Creates a variable from a value in a spec: `${{ NAME }}` and `${NAME}`, as
    /// the whole value, refer to a variable in toolmark's own environment.
    #[must_use]
    pub fn new(name: impl Into<String>, value: &str) -> Self {
        let value = match inherited(value) {
            Some(name) => VariableValue::Inherited { name: name.to_owned(), required: true },
            None => VariableValue::Literal(value.to_owned()),
        };
        Self { name: name.into(), value }
    }

    /// Creates a variable that is passed on unchanged.
    #[must_use]
    pub fn inherited(name: impl Into<String>) -> Self {
        let name = name.into();
        Self { value: VariableValue::Inherited { name: name.clone(), required: true }, name }
    }
}

/// Returns the name of the variable to which a value refers.
#[must_use]
pub fn inherited(value: &str) -> Option<&str> {
    let value = value.trim();
    let inner = value
        .strip_prefix("${{")
        .and_then(|rest| rest.strip_suffix("}}"))
        .or_else(|| value.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')))?
        .trim();
    let is_name =
        !inner.is_empty() && inner.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    is_name.then_some(inner)
}

/// Price of a million tokens, in US dollars.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TokenPrice {
    /// Input that is not cached.
    pub input: f64,
    /// Output.
    pub output: f64,
    /// Input read from a cache; defaults to `input`.
    pub cache_read: Option<f64>,
    /// Input written to a cache; defaults to `input`.
    pub cache_write: Option<f64>,
}

/// Initial files of a trial, and programs that run before and after it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WorkspacePlan {
    /// A directory to copy.
    pub from: Option<PathBuf>,
    /// A repository to clone.
    pub git: Option<GitSource>,
    /// Additional files.
    pub files: Vec<WorkspaceFile>,
    /// Programs that prepare the workspace. They run in it, and get JSON on stdin.
    pub setup: Vec<TrialHook>,
    /// Programs that clean up after the trial was graded.
    pub teardown: Vec<TrialHook>,
    /// Environment variables of the agent and of these programs.
    pub env: Vec<Variable>,
    /// Whether the workspace is kept.
    pub keep: Option<KeepFiles>,
    /// Directories of skills, copied to the agent's skill directory.
    pub skills: Vec<PathBuf>,
    /// Files of sub-agents, copied to the agent's directory for sub-agents.
    pub agents: Vec<PathBuf>,
    /// MCP servers, as a JSON object keyed by name.
    pub mcp_servers: Option<String>,
    /// Files kept with the result, even if the workspace is removed.
    pub artifacts: Option<ArtifactRules>,
}

/// Patterns for files that are kept with the result of a trial. Excluded files are
/// not kept, even if they are included.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ArtifactRules {
    /// Patterns of included files.
    pub include: Vec<String>,
    /// Patterns of excluded files.
    pub exclude: Vec<String>,
}

impl WorkspacePlan {
    /// Returns this plan extended by another: the other's source if this plan has none, the files
    /// and variables of both, and the other's programs run inside those of this plan.
    #[must_use]
    pub fn with(mut self, other: &Self) -> Self {
        if self.from.is_none() && self.git.is_none() {
            (self.from, self.git) = (other.from.clone(), other.git.clone());
        }
        self.files.extend(other.files.iter().cloned());
        self.setup.extend(other.setup.iter().cloned());
        self.teardown.splice(0..0, other.teardown.iter().cloned());
        self.env.extend(other.env.iter().cloned());
        self.keep = self.keep.or(other.keep);
        self.skills.extend(other.skills.iter().cloned());
        self.agents.extend(other.agents.iter().cloned());
        self.mcp_servers = self.mcp_servers.or_else(|| other.mcp_servers.clone());
        self.artifacts = self.artifacts.or_else(|| other.artifacts.clone());
        self
    }
}

/// A repository at a ref.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitSource {
    /// URL or path.
    pub url: String,
    /// Branch, tag or commit; by default, what is checked out in the source.
    pub reference: Option<String>,
    /// Destination in the workspace; by default, the workspace itself.
    pub dest: Option<PathBuf>,
}

/// A file to create in a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceFile {
    /// Source of the file.
    pub source: FileSource,
    /// Destination in the workspace.
    pub dest: PathBuf,
}

/// Source of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileSource {
    /// A file or a directory to copy.
    Path(PathBuf),
    /// A text.
    Text(String),
}

/// A program that is run before or after a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialHook {
    /// Command line.
    pub line: CommandLine,
    /// Maximum duration.
    pub timeout: Duration,
    /// Working directory, if not the workspace.
    pub directory: Option<PathBuf>,
}

impl TrialHook {
    /// Default timeout of a hook.
    pub const TIMEOUT: Duration = Duration::from_secs(60);

    /// Creates a hook with the default timeout.
    #[must_use]
    pub fn new(line: CommandLine) -> Self {
        Self { line, timeout: Self::TIMEOUT, directory: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_value_stands_for_a_variable() {
        for (value, name) in [
            ("${{ KEY }}", Some("KEY")),
            ("${{KEY}}", Some("KEY")),
            ("${KEY}", Some("KEY")),
            ("x${KEY}", None),
            ("${{ A B }}", None),
            ("$KEY", None),
            ("", None),
        ] {
            assert_eq!(inherited(value), name, "{value}");
        }
    }

    #[test]
    fn a_case_says_less_than_its_file() {
        let file = RunSettings {
            trials: Some(3),
            limits: TrialLimits { calls: Some(5), turns: Some(9), ..TrialLimits::default() },
            ..RunSettings::default()
        };
        let case = RunSettings {
            limits: TrialLimits { calls: Some(1), ..TrialLimits::default() },
            ..RunSettings::default()
        };
        let both = case.over(&file);
        assert_eq!(
            (both.trials, both.limits.calls, both.limits.turns),
            (Some(3), Some(1), Some(9))
        );
    }
}
