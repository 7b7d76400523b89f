//! Keys that identify equal trials: if any part differs, the result of one trial does not apply to
//! the other.

use crate::matrix::{MatrixCell, RunTarget};
use crate::workspace::hex;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};
use toolmark_grade::run_plan::{Runner, Variable, VariableValue};

/// Configuration of a trial. The parts are separate, so that a difference can be named; all except
/// the version are hashes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunKey {
    /// Hash of the prompts.
    pub case: String,
    /// Hash of the target.
    pub target: String,
    /// Version of the agent.
    pub version: String,
    /// Hash of the initial files.
    pub workspace: String,
    /// Hash of the limits.
    pub limits: String,
}

impl RunKey {
    /// Returns the key of a cell.
    #[must_use]
    pub fn new(cell: &MatrixCell, target: &RunTarget, version: &str, workspace: &str) -> Self {
        let runner = match &target.target.runner {
            Runner::Agent { id, executable, args } => json!(["agent", id, executable, args]),
            Runner::Command { line, trace, needs_success } => {
                json!(["command", format!("{line:?}"), format!("{trace:?}"), needs_success])
            }
            Runner::Replay(recordings) => {
                json!(["replay", recordings.path, recordings.agent, recordings.named])
            }
            Runner::Unsupported(what) => json!(["unsupported", what]),
        };
        let one = &target.target;
        Self {
            case: hash(&json!(cell.prompts)),
            target: hash(&json!({
                "runner": runner,
                "model": target.model,
                "permissions": one.permissions.word(),
                "home": one.home.word(),
                "env": key_of(&one.env),
                "isolate": cell.isolate.word(),
                "directory": one.directory,
                "files_format": one.files_format,
                "args": cell.args,
                "batches": one.batches,
            })),
            version: version.to_owned(),
            workspace: workspace.to_owned(),
            limits: hash(&json!({
                "timeout": cell.timeout.as_millis() as u64,
                "turns": cell.limits.turns,
                "calls": cell.limits.calls,
                "tokens": cell.limits.tokens,
                "usd": cell.limits.usd,
            })),
        }
    }

    /// Returns the names of the differing parts.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let mut found = Vec::new();
        for (what, own, others) in [
            ("the prompt", &self.case, &other.case),
            ("the target", &self.target, &other.target),
            ("the workspace", &self.workspace, &other.workspace),
            ("the limits", &self.limits, &other.limits),
        ] {
            if own != others {
                found.push(what.to_owned());
            }
        }
        if self.version != other.version {
            found.push(format!(
                "the version of the agent ({} before, {} now)",
                self.version, other.version
            ));
        }
        found
    }
}

/// Represents variables in a key: literal values of the spec are included, because another value is
/// another run; inherited variables are represented by their names, because a new API key is not.
pub(crate) fn key_of(variables: &[Variable]) -> Vec<String> {
    let one = |variable: &Variable| match &variable.value {
        VariableValue::Literal(value) => format!("{}={value:?}", variable.name),
        VariableValue::Inherited { name, .. } => format!("{}=${name}", variable.name),
    };
    variables.iter().map(one).collect()
}

/// Returns the hash of a value.
#[must_use]
pub fn hash(value: &serde_json::Value) -> String {
    let digest = Sha256::digest(value.to_string().as_bytes());
    hex(digest.get(..12).unwrap_or_default())
}
