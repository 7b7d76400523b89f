//! Programs that prepare a workspace, and that clean up.

use crate::placeholders;
use serde_json::json;
use std::ffi::OsString;
use std::path::Path;
use toolmark_grade::run_plan::{CommandLine, Hook};
use toolmark_process::{Program, run};

/// What a hook is told, as JSON on stdin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HookContext<'a> {
    /// `setup` or `teardown`.
    pub moment: &'static str,
    /// The case.
    pub case: &'a str,
    /// The target.
    pub target: &'a str,
    /// The trial, from 1.
    pub trial: u32,
    /// The attempt, from 1.
    pub attempt: u32,
    /// Where it runs.
    pub workspace: &'a Path,
    /// The prompt.
    pub prompt: &'a str,
    /// What the trial came to, where it is over.
    pub verdict: Option<&'static str>,
}

/// Runs hooks one after the other; the first that fails is an error.
pub(crate) fn run_hooks(
    hooks: &[Hook],
    context: &HookContext<'_>,
    env: &[(OsString, OsString)],
) -> Result<(), String> {
    for hook in hooks {
        let value = |name: &str| match name {
            "workspace" => context.workspace.to_string_lossy().into_owned(),
            "case" | "eval_id" => context.case.to_owned(),
            "target" => context.target.to_owned(),
            "trial" => context.trial.to_string(),
            "attempt" => context.attempt.to_string(),
            "prompt" => context.prompt.to_owned(),
            _ => String::new(),
        };
        let mut words = placeholders::fill(&hook.line, &value)
            .into_iter()
            .map(|word| word.to_string_lossy().into_owned());
        let Some(first) = words.next() else { continue };
        let mut program =
            Program::new(first, hook.directory.as_deref().unwrap_or(context.workspace));
        program.args = words.collect();
        program.env = env.to_vec();
        program.timeout = hook.timeout;
        let input = json!({
            "event": context.moment,
            "case": context.case,
            "target": context.target,
            "trial": context.trial,
            "attempt": context.attempt,
            "workspace": context.workspace,
            "prompt": context.prompt,
            "verdict": context.verdict,
            // As AgentV calls them.
            "test_id": context.case,
            "workspace_path": context.workspace,
            "case_input": context.prompt,
        });
        program.stdin = Some(format!("{input}\n").into_bytes());
        let name = match &hook.line {
            CommandLine::Shell(line) | CommandLine::Capitals(line) => line.clone(),
            CommandLine::Words(words) => words.join(" "),
        };
        let finished = run(program).map_err(|error| format!("{}: {error}", context.moment))?;
        let why = match finished.code {
            Some(0) => continue,
            _ if finished.timed_out => "took too long".to_owned(),
            Some(code) => format!("ended with exit code {code}"),
            None => "was killed".to_owned(),
        };
        let said = finished.stderr.lines().last().unwrap_or_default().trim();
        let said = if said.is_empty() { String::new() } else { format!(": {said}") };
        return Err(format!("{} `{name}` {why}{said}", context.moment));
    }
    Ok(())
}
