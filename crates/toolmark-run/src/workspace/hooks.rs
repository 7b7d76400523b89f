//! Hooks that prepare a workspace or clean it up.

use crate::error::ProgramError;
use crate::matrix::MatrixCell;
use crate::placeholders;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::Path;
use toolmark_grade::run_plan::{CommandLine, TrialHook};
use toolmark_process::{ProcessProgram, run};

/// Context of a hook, passed as JSON on stdin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HookContext<'a> {
    /// `setup` or `teardown`.
    pub moment: &'static str,
    /// ID of the run.
    pub run: &'a str,
    /// Cell of the trial.
    pub cell: &'a MatrixCell,
    /// Name of the target.
    pub target: &'a str,
    /// Number of the trial, from 1.
    pub trial: u32,
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// Working directory.
    pub workspace: &'a Path,
    /// Verdict of the trial, if it is finished.
    pub verdict: Option<&'static str>,
}

impl HookContext<'_> {
    /// The placeholders of a hook.
    pub(crate) const NAMES: &'static [&'static str] =
        &["workspace", "case", "eval_id", "target", "trial", "attempt", "prompt", "spec_dir"];

    fn prompt(&self) -> &str {
        self.cell.prompts.first().map_or("", String::as_str)
    }

    /// Returns the value of a placeholder, by toolmark's name or AgentV's.
    fn value(&self, name: &str) -> Option<String> {
        Some(match name {
            "workspace" | "workspace_path" => self.workspace.to_string_lossy().into_owned(),
            "case" | "eval_id" | "test_id" => self.cell.case.clone(),
            "target" => self.target.to_owned(),
            "trial" => self.trial.to_string(),
            "attempt" => self.attempt.to_string(),
            "prompt" | "case_input" => self.prompt().to_owned(),
            "spec_dir" => self.cell.directory.to_string_lossy().into_owned(),
            "eval_run_id" => self.run.to_owned(),
            "case_metadata" => self.cell.metadata.as_ref().map_or(String::new(), Value::to_string),
            _ => return None,
        })
    }

    /// Returns the input of a hook.
    fn input(&self) -> Value {
        json!({
            "event": self.moment,
            "run": self.run,
            "case": self.cell.case,
            "target": self.target,
            "trial": self.trial,
            "attempt": self.attempt,
            "workspace": self.workspace,
            "prompt": self.prompt(),
            "metadata": self.cell.metadata,
            "verdict": self.verdict,
            // As AgentV calls them.
            "test_id": self.cell.case,
            "eval_run_id": self.run,
            "workspace_path": self.workspace,
            "case_input": self.prompt(),
            "case_metadata": self.cell.metadata,
        })
    }
}

/// Runs hooks one after another; the first failure is an error.
pub(crate) fn run_hooks(
    hooks: &[TrialHook],
    context: &HookContext<'_>,
    env: &[(OsString, OsString)],
) -> Result<(), ProgramError> {
    for hook in hooks {
        let mut words = placeholders::fill_known(&hook.line, &|name| context.value(name))
            .into_iter()
            .map(|word| word.to_string_lossy().into_owned());
        let Some(first) = words.next() else { continue };
        let mut program =
            ProcessProgram::new(first, hook.directory.as_deref().unwrap_or(context.workspace));
        program.args = words.collect();
        program.env = env.to_vec();
        program.timeout = hook.timeout;
        program.stdin = Some(format!("{}\n", context.input()).into_bytes());
        let name = match &hook.line {
            CommandLine::Shell(line) | CommandLine::Capitals(line) => line.clone(),
            CommandLine::Words(words) | CommandLine::DoubleBraces(words) => words.join(" "),
        };
        let finished =
            run(program).map_err(|error| ProgramError::HookStart(context.moment, error))?;
        let why = match finished.code {
            Some(0) => continue,
            _ if finished.timed_out => "took too long".to_owned(),
            Some(code) => format!("ended with exit code {code}"),
            None => "was killed".to_owned(),
        };
        let said = finished.stderr.lines().last().unwrap_or_default().trim();
        let said = if said.is_empty() { String::new() } else { format!(": {said}") };
        return Err(ProgramError::Hook(format!("{} `{name}` {why}{said}", context.moment)));
    }
    Ok(())
}
