//! Hook protocols: payloads and answers of hosts.

pub(crate) mod arguments;
pub(crate) mod response;

use crate::{GuardAnswer, HookEvent, PayloadError};
use serde::Deserialize;

/// Hook protocol of a host.
pub trait Protocol: Sync {
    /// Returns the confidence that a payload belongs to this host: 0 if it does not, 100 if
    /// it has a marker that no other host sets.
    fn detect(&self, shape: &PayloadShape) -> u8;

    /// Reads a payload.
    ///
    /// # Errors
    ///
    /// Fails if the payload is broken or lacks information that every decision needs.
    fn read<'a>(&self, payload: &'a [u8]) -> Result<HookEvent<'a>, PayloadError>;

    /// Returns a payload as the host sends it before it runs a command, for testing a hook.
    fn sample(&self, command: &str, cwd: &str, session: &str) -> serde_json::Value {
        serde_json::json!({
            "hook_event_name": "PreToolUse", "session_id": session, "transcript_path": "",
            "cwd": cwd, "permission_mode": "default", "tool_name": "Bash",
            "tool_input": {"command": command}, "tool_use_id": "sample",
        })
    }

    /// Returns the reason why an `ask` cannot prompt the user; `None` if the user would be
    /// prompted.
    fn unasked(&self, event: &HookEvent<'_>) -> Option<String> {
        let _ = event;
        None
    }

    /// Formats the answer for the host. Without an event, the payload was not readable.
    fn answer(&self, event: Option<&HookEvent<'_>>, verdict: &GuardAnswer) -> HookOutput;
}

/// Output of the hook process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookOutput {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Exit code.
    pub exit: u8,
}

impl HookOutput {
    /// Whether the answer prevents the call from running, at least until the user was asked.
    #[must_use]
    pub fn stops(&self) -> bool {
        let words = ["\"deny\"", "\"ask\""];
        self.exit == 2 || words.iter().any(|word| self.stdout.contains(word))
    }

    /// Creates an answer with a JSON document on standard output and exit code 0.
    #[must_use]
    pub fn json(value: &serde_json::Value) -> Self {
        Self { stdout: format!("{value}\n"), ..Self::default() }
    }
}

/// Keys that distinguish hosts.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct PayloadShape {
    /// Event name of Claude Code, adopted by other hosts.
    pub hook_event_name: Option<String>,
    /// Path of the transcript.
    pub transcript_path: Option<serde::de::IgnoredAny>,
    /// Time of the event: Gemini CLI and Copilot CLI.
    pub timestamp: Option<serde::de::IgnoredAny>,
    /// Id of the turn: Codex.
    pub turn_id: Option<serde::de::IgnoredAny>,
    /// Version of Cursor.
    pub cursor_version: Option<serde::de::IgnoredAny>,
    /// Session id in the spelling of Copilot CLI.
    #[serde(rename = "sessionId")]
    pub session_id_camel: Option<serde::de::IgnoredAny>,
}

/// Returns the message for a question that has to become a denial, with the reason.
pub(crate) fn cannot_ask(verdict: &GuardAnswer, why: &str) -> String {
    format!("{}. Blocked because {why}; run it yourself or allow it in the policy", verdict.words())
}

/// Names of session modes in which the user is never asked.
const UNATTENDED: &[&str] = &["bypassPermissions", "dontAsk", "auto", "unattended"];

/// Returns the reason why the user is not asked in the mode of a session.
pub(crate) fn unasked_by_mode(event: &HookEvent<'_>, title: &str) -> Option<String> {
    let mode = event.mode.as_deref().filter(|mode| UNATTENDED.contains(mode))?;
    Some(format!("{title} does not ask the user in the mode {mode}"))
}

/// Whether there is a terminal at which the user could be asked.
pub(crate) fn is_attended() -> bool {
    let terminal = if cfg!(windows) { "CONIN$" } else { "/dev/tty" };
    std::fs::File::open(terminal).is_ok()
}
