//! Checks before a run: all missing prerequisites are reported at once.

use crate::error::ProgramError;
use crate::key::{RunKey, hash, key_of};
use crate::matrix::{MatrixCell, RunMatrix, RunTarget};
use crate::placeholders;
use crate::variables::{Environ, VariableLookup};
use crate::workspace::{HookContext, clone_at, commit_of, content_hash};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use toolmark_grade::run_plan::{
    CommandLine, FileSource, Isolation, Runner, TrialHook, Variable, WorkspacePlan,
};
use toolmark_hosts::launch::Launch;
use toolmark_pattern::Glob;
use toolmark_process::{ProcessProgram, run};

/// Time limit for the version query of an agent.
const VERSION_TIME: Duration = Duration::from_secs(30);

/// Kind of sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sandbox {
    /// Bubblewrap.
    Bwrap,
    /// Landlock.
    Landlock,
}

/// Results of successful checks.
#[derive(Debug, Default)]
pub struct Ready {
    /// Versions of the targets; empty if unknown.
    pub versions: Vec<String>,
    /// Programs of the targets that are agents.
    pub programs: Vec<Option<PathBuf>>,
    /// Clones of repositories, by address and ref.
    clones: BTreeMap<(String, Option<String>), PathBuf>,
    /// Hash of the files of each cell.
    pub workspaces: Vec<String>,
    /// Sandbox for agents, if isolation is requested.
    pub sandbox: Option<Sandbox>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// Reported problems.
#[derive(Debug, Default)]
struct PreflightProblems(Vec<String>);

impl PreflightProblems {
    fn add(&mut self, words: String) {
        if !self.0.contains(&words) {
            self.0.push(words);
        }
    }
}

impl Ready {
    /// Checks all prerequisites. `work` is the directory for clones of repositories.
    ///
    /// # Errors
    ///
    /// Returns messages about everything that is missing.
    pub fn check(
        matrix: &RunMatrix,
        work: &Path,
        lookup: VariableLookup<'_>,
    ) -> Result<Self, Vec<String>> {
        let mut ready = Self::default();
        let mut found = PreflightProblems::default();
        for target in &matrix.targets {
            ready.target(target, lookup, &mut found);
        }
        let mut hashes: Vec<(&WorkspacePlan, String)> = Vec::new();
        for cell in &matrix.cells {
            let known = hashes.iter().find(|(plan, _)| **plan == cell.workspace);
            let hash = match known {
                Some((_, hash)) => hash.clone(),
                None => {
                    let hash = ready.workspace(&cell.workspace, work, lookup, &mut found);
                    hashes.push((&cell.workspace, hash.clone()));
                    hash
                }
            };
            ready.workspaces.push(with_attachments(hash, cell));
            ready.cell(cell, matrix, &mut found);
        }
        if matrix.cells.iter().any(|cell| cell.isolate == Isolation::Sandbox) {
            ready.sandbox(&mut found);
        }
        if found.0.is_empty() { Ok(ready) } else { Err(found.0) }
    }

    /// Returns the key of a cell.
    #[must_use]
    pub fn key(&self, matrix: &RunMatrix, at: usize) -> Option<RunKey> {
        let cell = matrix.cells.get(at)?;
        let target = matrix.targets.get(cell.target)?;
        let version = self.versions.get(cell.target).map_or("", String::as_str);
        Some(RunKey::new(cell, target, version, self.workspaces.get(at)?))
    }

    /// Returns the clone of a workspace's repository.
    #[must_use]
    pub fn clone_of(&self, plan: &WorkspacePlan) -> Option<&Path> {
        let git = plan.git.as_ref()?;
        self.clones.get(&(git.url.clone(), git.reference.clone())).map(PathBuf::as_path)
    }

    fn target(
        &mut self,
        target: &RunTarget,
        lookup: VariableLookup<'_>,
        found: &mut PreflightProblems,
    ) {
        let name = &target.name;
        for problem in &target.target.problems {
            found.add(format!("target {name}: {problem}"));
        }
        self.notes.extend(target.target.notes.iter().map(|note| format!("target {name}: {note}")));
        for variable in missing(&target.target.env, lookup) {
            found.add(format!("target {name}: the variable {variable} is not set"));
        }
        if let Some(health) = &target.target.health
            && let Err(why) = healthy(health, target, lookup)
        {
            found.add(format!("target {name}: {why}"));
        }
        let (mut version, mut program) = (String::new(), None);
        match &target.target.runner {
            Runner::Agent { executable, .. } => {
                let launch = target.host.and_then(|host| host.launch);
                let usual = launch.map_or("", |launch| launch.program);
                let wanted = executable.as_deref().unwrap_or(usual);
                match find_program(wanted, lookup) {
                    None => {
                        let hint = match executable {
                            Some(_) => "",
                            None => "; install it, or set `executable`",
                        };
                        found.add(format!("target {name}: there is no program {wanted}{hint}"));
                    }
                    Some(path) => {
                        match version_of(&path) {
                            Ok(said) => version = said,
                            Err(why) => found.add(format!("target {name}: {wanted}: {why}")),
                        }
                        if let Some(launch) = launch {
                            self.notes.extend(older(name, launch, &version));
                        }
                        program = Some(path);
                    }
                }
            }
            Runner::Command { line, .. } => {
                for problem in unknown_placeholders(line, placeholders::NAMES) {
                    found.add(format!("target {name}: {problem}"));
                }
                if let CommandLine::Words(words) = line
                    && let Some(first) = words.first()
                    && !first.contains(['/', '{'])
                    && find_program(first, lookup).is_none()
                {
                    found.add(format!("target {name}: there is no program {first}"));
                }
            }
            Runner::Replay(recordings) => {
                if !recordings.path.exists() {
                    let path = recordings.path.display();
                    found.add(format!("target {name}: {path} does not exist"));
                }
            }
            Runner::Unsupported(what) => {
                self.notes.push(format!("target {name} cannot be run: {what}"));
            }
        }
        self.versions.push(version);
        self.programs.push(program);
    }

    fn cell(&mut self, cell: &MatrixCell, matrix: &RunMatrix, found: &mut PreflightProblems) {
        let Some(target) = matrix.targets.get(cell.target) else { return };
        let launch = target.host.and_then(|host| host.launch);
        let (case, name) = (&cell.case, &target.name);
        for problem in &cell.problems {
            found.add(format!("case {case}: {problem}"));
        }
        for note in &cell.notes {
            if !self.notes.contains(note) {
                self.notes.push(note.clone());
            }
        }
        for file in &cell.attachments {
            if !file.path.is_file() {
                found.add(format!("case {case}: {} is not a file", file.path.display()));
            }
        }
        if let Some(directory) = target.target.directory.as_ref().filter(|path| !path.is_dir()) {
            found.add(format!("target {name}: {} is not a directory", directory.display()));
        }
        if cell.prompts.len() > 1 && !launch.is_some_and(|launch| launch.resumes) {
            let why = "has several turns, which the target cannot be asked one after the other";
            found.add(format!("case {case} {why} ({name})"));
        }
        if cell.isolate == Isolation::None && cell.workspace.from.is_none() {
            let why = "isolate: none needs a workspace: set `from`";
            found.add(format!("case {case}: {why}"));
        }
        if cell.limits.usd.is_some()
            && target.target.price.is_none()
            && launch.is_none_or(|launch| launch.program != "claude")
        {
            let note = format!(
                "target {name}: limits.usd can only be enforced where costs are known; set `price`, or limit tokens"
            );
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }

    /// Returns the hash of the files of a workspace, and reports missing files.
    fn workspace(
        &mut self,
        plan: &WorkspacePlan,
        work: &Path,
        lookup: VariableLookup<'_>,
        found: &mut PreflightProblems,
    ) -> String {
        let mut parts = Vec::new();
        let mut add = |path: &Path, found: &mut PreflightProblems| match content_hash(path) {
            Ok(hash) => parts.push(hash),
            Err(error) => found.add(format!("workspace: {error}")),
        };
        if let Some(from) = &plan.from {
            if from.is_dir() {
                add(from, found);
            } else {
                found.add(format!("workspace: {} is not a directory", from.display()));
            }
        }
        for file in &plan.files {
            if let FileSource::Path(path) = &file.source {
                add(path, found);
            }
        }
        for variable in missing(&plan.env, lookup) {
            found.add(format!("workspace: the variable {variable} is not set"));
        }
        if let Some(git) = &plan.git {
            let key = (git.url.clone(), git.reference.clone());
            if !self.clones.contains_key(&key) {
                let to = work.join(format!("clone-{}", self.clones.len()));
                let cloned = fs::create_dir_all(work)
                    .map_err(ProgramError::from)
                    .and_then(|()| clone_at(git, &to));
                match cloned {
                    Ok(()) => drop(self.clones.insert(key.clone(), to)),
                    Err(why) => found.add(format!("workspace: failed to clone {}: {why}", git.url)),
                }
            }
            if let Some(clone) = self.clones.get(&key) {
                parts.extend(commit_of(clone));
            }
        }
        for hook in plan.setup.iter().chain(&plan.teardown) {
            for problem in unknown_placeholders(&hook.line, HookContext::NAMES) {
                found.add(format!("workspace: {problem}"));
            }
        }
        let patterns =
            plan.artifacts.iter().flat_map(|rules| rules.include.iter().chain(&rules.exclude));
        for pattern in patterns {
            if let Err(why) = Glob::new(pattern) {
                found.add(format!("artifacts: {pattern}: {why}"));
            }
        }
        let line = |hook: &TrialHook| format!("{:?}", hook.line);
        let texts: Vec<_> = plan
            .files
            .iter()
            .map(|file| match &file.source {
                FileSource::Text(text) => json!([file.dest, text]),
                FileSource::Path(_) => json!([file.dest]),
            })
            .collect();
        let setup: Vec<_> = plan.setup.iter().map(line).collect();
        hash(&json!([parts, texts, setup, key_of(&plan.env)]))
    }

    fn sandbox(&mut self, found: &mut PreflightProblems) {
        let mut program = ProcessProgram::new("bwrap", std::env::temp_dir());
        let probe = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-pid"];
        program.args = probe.iter().map(|word| (*word).to_owned()).collect();
        program.args.push("true".into());
        let works = run(program).is_ok_and(|finished| finished.code == Some(0));
        if works {
            self.sandbox = Some(Sandbox::Bwrap);
            return;
        }
        #[cfg(target_os = "linux")]
        if toolmark_process::can_confine() {
            self.sandbox = Some(Sandbox::Landlock);
            self.notes.push("bwrap does not work here: Landlock confines the agents".to_owned());
            return;
        }
        found.add("isolate: bwrap: neither bwrap nor Landlock works here".to_owned());
    }
}

/// Returns the hash of the files of a cell and of its attachments.
fn with_attachments(workspace: String, cell: &MatrixCell) -> String {
    if cell.attachments.is_empty() {
        return workspace;
    }
    // What is not there is found elsewhere.
    let files: Vec<_> =
        cell.attachments.iter().map(|file| content_hash(&file.path).unwrap_or_default()).collect();
    hash(&json!([workspace, files]))
}

/// Returns messages about unknown placeholders of a command line.
fn unknown_placeholders(line: &CommandLine, known: &[&str]) -> Vec<String> {
    let unknown = placeholders::unknown(line, known).into_iter();
    let names: Vec<String> = known.iter().map(|name| format!("{{{name}}}")).collect();
    let known = names.join(", ");
    unknown.map(|name| format!("unknown placeholder {{{name}}}; known: {known}")).collect()
}

/// Returns the variables that are not set.
fn missing(variables: &[Variable], lookup: VariableLookup<'_>) -> Vec<String> {
    Environ::default().add(variables, lookup)
}

/// Finds a program: a path, or a name in `PATH`.
fn find_program(name: &str, lookup: VariableLookup<'_>) -> Option<PathBuf> {
    if name.contains('/') {
        let path = std::path::absolute(name).ok()?;
        return path.is_file().then_some(path);
    }
    let path = lookup("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|file| file.is_file())
}

/// Returns the version of a program: the first word of its output that contains a digit and a dot.
fn version_of(program: &Path) -> Result<String, ProgramError> {
    let mut asked = ProcessProgram::new(program.to_string_lossy(), std::env::temp_dir());
    asked.args = vec!["--version".into()];
    asked.timeout = VERSION_TIME;
    let finished = run(asked)?;
    if finished.timed_out {
        return Err(ProgramError::VersionTime);
    }
    let said = format!("{}\n{}", finished.stdout, finished.stderr);
    let is_version =
        |word: &&str| word.contains('.') && word.starts_with(|c: char| c.is_ascii_digit());
    let words = said.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ','));
    let version =
        words.map(|word| word.trim_start_matches('v').trim_end_matches('.')).find(is_version);
    match (version, finished.code) {
        (Some(version), _) => Ok(version.to_owned()),
        (None, Some(0)) => Ok(String::new()),
        (None, _) => Err(ProgramError::NoVersion),
    }
}

/// Returns a note if a version is older than the tested one.
fn older(name: &str, launch: &Launch, version: &str) -> Option<String> {
    let numbers = |version: &str| {
        let parts = version.split(['.', '-', '+']).map_while(|part| part.parse::<u64>().ok());
        parts.collect::<Vec<_>>()
    };
    let (own, tried) = (numbers(version), numbers(launch.tried));
    (!own.is_empty() && own < tried).then(|| {
        format!(
            "target {name}: {} {version} is older than the tried {}",
            launch.program, launch.tried
        )
    })
}

/// Runs the health check of a target, if it has one.
fn healthy(
    line: &CommandLine,
    target: &RunTarget,
    lookup: VariableLookup<'_>,
) -> Result<(), ProgramError> {
    let value = |name: &str| match name {
        "target" => target.name.clone(),
        "model" => target.model.clone().unwrap_or_default(),
        _ => String::new(),
    };
    let mut words = placeholders::fill(line, &value)
        .into_iter()
        .map(|word| word.to_string_lossy().into_owned());
    let mut program =
        ProcessProgram::new(words.next().unwrap_or_default(), std::env::current_dir()?);
    program.args = words.collect();
    let mut environ = Environ::default();
    environ.add(&target.target.env, lookup);
    program.env = environ.pairs();
    let finished = run(program)?;
    match finished.code {
        Some(0) => Ok(()),
        _ if finished.timed_out => Err(ProgramError::HealthTime),
        _ => {
            let said = finished.stderr.lines().last().unwrap_or_default().trim().to_owned();
            Err(ProgramError::Unhealthy(said))
        }
    }
}
