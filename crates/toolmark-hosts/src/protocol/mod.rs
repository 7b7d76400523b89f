//! What the hooks of hosts send and understand.

pub(crate) mod arguments;
pub(crate) mod response;

use crate::{Event, Fault, Verdict};
use serde::Deserialize;

/// How the hooks of a host speak.
pub trait Protocol: Sync {
    /// How sure it is that a payload is its own: 0 that it is not, 100 where a
    /// mark that no other host sets says so.
    fn detect(&self, shape: &Shape) -> u8;

    /// Reads a payload.
    ///
    /// # Errors
    ///
    /// A payload that is broken or misses what no decision can do without.
    fn read<'a>(&self, payload: &'a [u8]) -> Result<Event<'a>, Fault>;

    /// A payload as the host sends it before it runs a command, to try a hook with.
    fn sample(&self, command: &str, cwd: &str, session: &str) -> serde_json::Value {
        serde_json::json!({
            "hook_event_name": "PreToolUse", "session_id": session, "transcript_path": "",
            "cwd": cwd, "permission_mode": "default", "tool_name": "Bash",
            "tool_input": {"command": command}, "tool_use_id": "sample",
        })
    }

    /// Why nobody would be asked about a call if the host was told to ask; `None`
    /// where somebody would.
    fn unasked(&self, event: &Event<'_>) -> Option<String> {
        let _ = event;
        None
    }

    /// The answer the host understands. Without an event the payload was not
    /// readable.
    fn answer(&self, event: Option<&Event<'_>>, verdict: &Verdict) -> Answer;
}

/// What the process says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// On the standard output.
    pub stdout: String,
    /// On the standard error.
    pub stderr: String,
    /// The exit code.
    pub exit: u8,
}

impl Answer {
    /// Does it keep a call from running, at least until somebody was asked?
    #[must_use]
    pub fn stops(&self) -> bool {
        let words = ["\"deny\"", "\"ask\""];
        self.exit == 2 || words.iter().any(|word| self.stdout.contains(word))
    }

    /// A JSON document on the standard output and exit code 0.
    #[must_use]
    pub fn json(value: &serde_json::Value) -> Self {
        Self { stdout: format!("{value}\n"), ..Self::default() }
    }
}

/// The keys that distinguish hosts.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Shape {
    /// Claude Code's name of the event, taken over by others.
    pub hook_event_name: Option<String>,
    /// Where the transcript lies.
    pub transcript_path: Option<serde::de::IgnoredAny>,
    /// When it happened: Gemini CLI and Copilot CLI.
    pub timestamp: Option<serde::de::IgnoredAny>,
    /// The turn: Codex.
    pub turn_id: Option<serde::de::IgnoredAny>,
    /// The version of Cursor.
    pub cursor_version: Option<serde::de::IgnoredAny>,
    /// The session as Copilot CLI writes it.
    #[serde(rename = "sessionId")]
    pub session_id_camel: Option<serde::de::IgnoredAny>,
}

/// The words where a question has to be a no, and why it has to.
pub(crate) fn cannot_ask(verdict: &Verdict, why: &str) -> String {
    format!(
        "{}. {why}, so it was stopped: a person has to run it, or to allow it in the policy",
        verdict.words()
    )
}

/// Modes of sessions in which nobody is asked, as hosts call them.
const UNATTENDED: &[&str] = &["bypassPermissions", "dontAsk", "auto", "unattended"];

/// Why nobody is asked in the mode of a session.
pub(crate) fn unasked_by_mode(event: &Event<'_>, title: &str) -> Option<String> {
    let mode = event.mode.as_deref().filter(|mode| UNATTENDED.contains(mode))?;
    Some(format!("{title} asks nobody in the mode {mode}"))
}

/// Is there a terminal at which somebody could be asked?
pub(crate) fn is_attended() -> bool {
    let terminal = if cfg!(windows) { "CONIN$" } else { "/dev/tty" };
    std::fs::File::open(terminal).is_ok()
}
