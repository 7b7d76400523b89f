//! What a spec says about running its cases: targets, trials, workspaces, limits.
//!
//! Every dialect makes the same types of its own words, as it makes a
//! [`Plan`](crate::Plan) of its cases. Nothing here runs anything.

use std::path::PathBuf;
use std::time::Duration;
use toolmark_outcome::{PassRule, SpecPlace};

/// What a spec says about running its cases.
#[derive(Debug, Clone, Default)]
pub struct RunPlan {
    /// What counts for every case, unless the case says otherwise.
    pub settings: RunSettings,
    /// The agents that can be run.
    pub targets: Vec<Target>,
    /// Files of variables (`.env`) that stand in for those that are not set.
    pub env_files: Vec<PathBuf>,
    /// What is wrong, where that only matters once something is to be run.
    pub problems: Vec<String>,
}

/// How cases are run. What is not said is `None`: a case says less than its file, and
/// a command line less than that.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunSettings {
    /// The targets, by name; all there are where none is named.
    pub targets: Vec<String>,
    /// How often each case is run.
    pub trials: Option<u32>,
    /// How many of the trials must pass.
    pub pass: Option<PassRule>,
    /// Are trials left out once the rule is decided?
    pub early_stop: Option<bool>,
    /// How long a trial may take.
    pub timeout: Option<Duration>,
    /// What one trial may use.
    pub limits: Limits,
    /// What the whole run may spend.
    pub budget: Budget,
    /// How often a trial is tried again that could not run.
    pub retries: Option<u32>,
    /// How many trials run at once.
    pub jobs: Option<u32>,
    /// What keeps a trial apart from everything else.
    pub isolate: Option<Isolation>,
    /// The files a trial starts with.
    pub workspace: Option<WorkspacePlan>,
    /// Variables of the agent besides those of its target and workspace.
    pub env: Vec<Variable>,
    /// Whether workspaces are kept, unless a workspace says so itself.
    pub keep: Option<Keep>,
    /// The targets a case can be run on, by name or by agent; any where none is named.
    pub only_on: Vec<String>,
    /// What else the spec says of a case, for programs that prepare its workspace.
    pub metadata: Option<serde_json::Value>,
    /// Files the prompt speaks of.
    pub attachments: Vec<Attachment>,
    /// What the spec asks for that cannot be done: nothing is started.
    pub problems: Vec<String>,
    /// What the spec asks for that is done in another way, or not needed.
    pub notes: Vec<String>,
}

/// A file that a prompt speaks of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// The file.
    pub path: PathBuf,
    /// Is it about how the work is done rather than what it is done on?
    pub is_guideline: bool,
}

impl RunSettings {
    /// These, and what they do not say as others say it.
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

/// Everything that is in either, once.
fn both<T: Clone + PartialEq>(mut own: Vec<T>, others: &[T]) -> Vec<T> {
    for other in others {
        if !own.contains(other) {
            own.push(other.clone());
        }
    }
    own
}

/// What one trial may use before it is stopped.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Limits {
    /// Model responses.
    pub turns: Option<u64>,
    /// Tool calls.
    pub calls: Option<u64>,
    /// Tokens.
    pub tokens: Option<u64>,
    /// US dollars.
    pub usd: Option<f64>,
}

impl Limits {
    fn over(self, others: Self) -> Self {
        Self {
            turns: self.turns.or(others.turns),
            calls: self.calls.or(others.calls),
            tokens: self.tokens.or(others.tokens),
            usd: self.usd.or(others.usd),
        }
    }
}

/// What a whole run may spend.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Budget {
    /// US dollars.
    pub usd: Option<f64>,
    /// Tokens.
    pub tokens: Option<u64>,
}

impl Budget {
    fn over(self, others: Self) -> Self {
        Self { usd: self.usd.or(others.usd), tokens: self.tokens.or(others.tokens) }
    }
}

toolmark_base::word_enum! {
    /// What keeps a trial apart from everything else.
    pub enum Isolation {
        /// Nothing: the agent works in the source itself.
        None = "none" | "in-place",
        /// A copy of the source, a home of its own, a cleared environment.
        Copy = "copy",
        /// That, and a file system in which only the copy can be written.
        Sandbox = "bwrap" | "sandbox",
    }
}

toolmark_base::word_enum! {
    /// What an agent may do without being asked.
    pub enum Permissions {
        /// Read and answer.
        Read = "read",
        /// Work in its workspace.
        Workspace = "workspace",
        /// Everything.
        Full = "full",
    }
}

toolmark_base::word_enum! {
    /// The home directory of an agent.
    pub enum Home {
        /// An empty one, for every trial.
        Fresh = "fresh",
        /// That of whoever runs toolmark, with its settings and logins.
        Inherit = "inherit",
    }
}

toolmark_base::word_enum! {
    /// Whether the files of a trial are kept.
    pub enum Keep {
        /// Never.
        Never = "never",
        /// Where it did not pass.
        Failure = "failure" | "on-failure",
        /// Always.
        Always = "always",
    }
}

/// An agent that can be run.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// What the spec calls it.
    pub name: String,
    /// What is run.
    pub runner: Runner,
    /// The models it is run with, one after the other; its own default where there
    /// is none.
    pub models: Vec<String>,
    /// What it may do.
    pub permissions: Permissions,
    /// Its home directory.
    pub home: Home,
    /// Its variables.
    pub env: Vec<Variable>,
    /// How long a trial may take, unless the case says otherwise.
    pub timeout: Option<Duration>,
    /// A program that says whether it can be run.
    pub health: Option<CommandLine>,
    /// What its tokens cost, where its traces do not say.
    pub price: Option<TokenPrice>,
    /// Another target that is run in its place, by its name; it may be a variable.
    pub stands_for: Option<String>,
    /// Where a command is run, where that is not the workspace.
    pub directory: Option<PathBuf>,
    /// Files and programs that its trials have besides those of their cases.
    pub workspace: Option<WorkspacePlan>,
    /// How a file of `{FILES}` is written: `{path}` and `{basename}` stand for it.
    pub files_format: Option<String>,
    /// Does one command answer all cases, one line of its output each?
    pub batches: bool,
    /// How many of its trials run at once, where that is less than in all.
    pub jobs: Option<u32>,
    /// What is wrong with it: it cannot be run.
    pub problems: Vec<String>,
    /// What is said of it that has no effect.
    pub notes: Vec<String>,
    /// Where the spec has it.
    pub place: SpecPlace,
}

impl Target {
    /// A target of which nothing else is said.
    #[must_use]
    pub fn new(name: impl Into<String>, runner: Runner) -> Self {
        Self {
            name: name.into(),
            runner,
            models: Vec::new(),
            permissions: Permissions::Workspace,
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

/// What is run.
#[derive(Debug, Clone, PartialEq)]
pub enum Runner {
    /// An agent that toolmark knows how to start.
    Agent {
        /// Its id: `claude-code`, `codex` …
        id: String,
        /// Its program, where that is not the usual one.
        executable: Option<String>,
        /// More arguments.
        args: Vec<String>,
    },
    /// Any program.
    Command {
        /// Its command line.
        line: CommandLine,
        /// Where its trace is.
        trace: TraceSource,
        /// Does an exit code other than 0 mean that it could not run?
        needs_success: bool,
    },
    /// Traces of earlier runs.
    Replay(Recordings),
    /// Something the spec asks for that cannot be run here, and why.
    Unsupported(String),
}

/// Traces of earlier runs, which stand in for an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recordings {
    /// A file, or a directory of files named after cases.
    pub path: PathBuf,
    /// The agent whose runs count, where a file has those of several.
    pub agent: Option<String>,
    /// Must a run of a file name its case? Otherwise the only run of a file is a run
    /// of every case.
    pub named: bool,
}

impl Recordings {
    /// Those of a file or directory, of which nothing else is said.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), agent: None, named: false }
    }
}

/// A command line, with placeholders such as `{prompt_file}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandLine {
    /// A program and its arguments, as they are.
    Words(Vec<String>),
    /// A line for the shell. The values of placeholders are quoted.
    Shell(String),
    /// The same, but only names in capitals are placeholders: `{PROMPT}`.
    Capitals(String),
    /// A program and its arguments, in which only `{{name}}` is a placeholder. A name
    /// that nobody knows stays as it is.
    DoubleBraces(Vec<String>),
}

/// Where the trace of a program is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum TraceSource {
    /// What it prints.
    #[default]
    Stdout,
    /// A file or a pattern for files, in its workspace.
    Files(String),
    /// The file that `{output_file}` names: a trace, or an answer as plain text.
    OutputFile,
}

/// A variable of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: VariableValue,
}

/// The value of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VariableValue {
    /// As the spec has it.
    Literal(String),
    /// That of a variable of whoever runs toolmark.
    Inherited {
        /// Its name there.
        name: String,
        /// Is it an error if it is not set?
        required: bool,
    },
}

impl Variable {
    /// A variable and its value as specs write it: `${{ NAME }}` and `${NAME}`, as
    /// the whole value, stand for a variable of whoever runs toolmark.
    #[must_use]
    pub fn new(name: impl Into<String>, value: &str) -> Self {
        let value = match inherited(value) {
            Some(name) => VariableValue::Inherited { name: name.to_owned(), required: true },
            None => VariableValue::Literal(value.to_owned()),
        };
        Self { name: name.into(), value }
    }

    /// A variable that is passed on as it is.
    #[must_use]
    pub fn inherited(name: impl Into<String>) -> Self {
        let name = name.into();
        Self { value: VariableValue::Inherited { name: name.clone(), required: true }, name }
    }
}

/// The variable that a value stands for.
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

/// What a million tokens cost, in US dollars.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TokenPrice {
    /// Input that is not cached.
    pub input: f64,
    /// Output.
    pub output: f64,
    /// Input read from a cache; as `input` where nothing is said.
    pub cache_read: Option<f64>,
    /// Input written to a cache; as `input` where nothing is said.
    pub cache_write: Option<f64>,
}

/// The files a trial starts with, and what is run before and after.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WorkspacePlan {
    /// A directory to copy.
    pub from: Option<PathBuf>,
    /// A repository to clone.
    pub git: Option<GitSource>,
    /// More files.
    pub files: Vec<WorkspaceFile>,
    /// Programs that prepare it. They run in it, and get JSON on stdin.
    pub setup: Vec<Hook>,
    /// Programs that clean up after the trial was graded.
    pub teardown: Vec<Hook>,
    /// Variables of the agent and of these programs.
    pub env: Vec<Variable>,
    /// Whether it is kept.
    pub keep: Option<Keep>,
    /// Directories of skills, which are put where the agent looks for them.
    pub skills: Vec<PathBuf>,
    /// Files of sub-agents, which are put where the agent looks for them.
    pub agents: Vec<PathBuf>,
    /// MCP servers, as a JSON object of their names.
    pub mcp_servers: Option<String>,
    /// Which files of it are kept with the result, whatever becomes of the rest.
    pub artifacts: Option<ArtifactRules>,
}

/// Files that are kept with the result of a trial, by patterns. What is excluded is
/// not kept, even if it is included.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ArtifactRules {
    /// What is kept.
    pub include: Vec<String>,
    /// What is not.
    pub exclude: Vec<String>,
}

impl WorkspacePlan {
    /// This, and what another adds to it: its source where there is none here, its files
    /// and variables, its programs as the inner ones.
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
    /// Its address, or a path.
    pub url: String,
    /// A branch, a tag or a commit; what is checked out there where there is none.
    pub reference: Option<String>,
    /// Where it is put, in the workspace; the workspace itself where nothing is said.
    pub dest: Option<PathBuf>,
}

/// A file that is put into a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceFile {
    /// What is put there.
    pub source: FileSource,
    /// Where, in the workspace.
    pub dest: PathBuf,
}

/// What a file is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileSource {
    /// A file or a directory to copy.
    Path(PathBuf),
    /// A text.
    Text(String),
}

/// A program that is run before or after a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// Its command line.
    pub line: CommandLine,
    /// How long it may take.
    pub timeout: Duration,
    /// Where it is run, where that is not the workspace.
    pub directory: Option<PathBuf>,
}

impl Hook {
    /// How long a hook may take where nothing is said.
    pub const TIMEOUT: Duration = Duration::from_secs(60);

    /// A hook with the usual time.
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
            limits: Limits { calls: Some(5), turns: Some(9), ..Limits::default() },
            ..RunSettings::default()
        };
        let case = RunSettings {
            limits: Limits { calls: Some(1), ..Limits::default() },
            ..RunSettings::default()
        };
        let both = case.over(&file);
        assert_eq!(
            (both.trials, both.limits.calls, both.limits.turns),
            (Some(3), Some(1), Some(9))
        );
    }
}
