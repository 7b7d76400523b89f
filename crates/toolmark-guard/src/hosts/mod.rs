//! The protocols of the hosts. A host is one file here and one line in
//! [`HOSTS`].

mod arguments;
mod claude_code;
mod codex;
mod copilot_cli;
mod cursor;
mod gemini_cli;
mod plain;
mod response;

use crate::event::{Event, Fault};
use crate::verdict::Verdict;
use serde::Deserialize;

/// An agent that asks hooks about its calls.
pub trait Host: Sync {
    /// Its id, which is the id of its toolset where it has one.
    fn id(&self) -> &'static str;

    /// What people call it.
    fn title(&self) -> &'static str;

    /// Could this payload be from it?
    fn sends(&self, shape: &Shape) -> bool;

    /// Reads a payload.
    ///
    /// # Errors
    ///
    /// A payload that is broken or misses what no decision can do without.
    fn read<'a>(&self, payload: &'a [u8]) -> Result<Event<'a>, Fault>;

    /// The answer it understands. Without an event the payload was not readable.
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
    /// A JSON document on the standard output and exit code 0.
    #[must_use]
    pub fn json(value: &serde_json::Value) -> Self {
        Self { stdout: format!("{value}\n"), ..Self::default() }
    }
}

/// The hosts, in the order they are tried where none is named. The last takes
/// anything.
pub static HOSTS: &[&dyn Host] = &[
    &cursor::Cursor,
    &codex::Codex,
    &copilot_cli::CopilotCli,
    &gemini_cli::GeminiCli,
    &claude_code::ClaudeCode,
    &plain::Plain,
];

/// The host with this id.
#[must_use]
pub fn by_id(id: &str) -> Option<&'static dyn Host> {
    HOSTS.iter().copied().find(|host| host.id() == id)
}

/// The host a payload looks like.
#[must_use]
pub fn detect(payload: &[u8]) -> &'static dyn Host {
    let shape: Shape = serde_json::from_slice(payload).unwrap_or_default();
    HOSTS.iter().copied().find(|host| host.sends(&shape)).unwrap_or(&plain::Plain)
}

/// The keys hosts are told apart by.
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
fn cannot_ask(verdict: &Verdict, why: &str) -> String {
    format!(
        "{}. {why}, so it was stopped: a person has to run it, or to allow it in the policy",
        verdict.words()
    )
}

/// Is there a terminal at which somebody could be asked?
fn is_attended() -> bool {
    let terminal = if cfg!(windows) { "CONIN$" } else { "/dev/tty" };
    std::fs::File::open(terminal).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolmark_shell::Decision;

    /// The event of a payload, which must be known by its shape and read alike
    /// by the host that is named.
    pub(super) fn seen<'a>(id: &str, payload: &'a str) -> Event<'a> {
        assert_eq!(detect(payload.as_bytes()).id(), id, "{payload}");
        by_id(id).unwrap().read(payload.as_bytes()).unwrap()
    }

    pub(super) fn verdict(decision: Decision) -> Verdict {
        let mut verdict = Verdict::new(decision, "effect", "why");
        verdict.suggestion = Some("instead".to_owned());
        verdict
    }

    /// The JSON that was said, if anything.
    pub(super) fn answered(answer: &Answer) -> Option<serde_json::Value> {
        (!answer.stdout.is_empty()).then(|| serde_json::from_str(&answer.stdout).unwrap())
    }

    #[test]
    fn no_host_lets_a_denied_or_unread_call_pass() {
        for host in HOSTS.iter().filter(|host| host.id() != "plain") {
            for event in [None, Some(Event::new(crate::Moment::Before, host.id(), "x"))] {
                let answer = host.answer(event.as_ref(), &verdict(Decision::Deny));
                let text = format!("{}{}", answer.stdout, answer.stderr);
                let says_no = answer.exit == 2 || text.contains("\"deny\"");
                assert!(says_no && text.contains("why"), "{}: {answer:?}", host.id());
            }
        }
    }

    #[test]
    fn ids_are_unique_and_the_last_takes_anything() {
        let mut ids: Vec<_> = HOSTS.iter().map(|host| host.id()).collect();
        assert_eq!(ids.last(), Some(&"plain"));
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all);
        for broken in ["", "[]", "{", "null", "{\"hook_event_name\":1}"] {
            assert_eq!(detect(broken.as_bytes()).id(), "plain", "{broken}");
        }
    }
}
