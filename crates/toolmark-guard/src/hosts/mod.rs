//! The protocols of the hosts. A host is one file here and one line in
//! [`HOSTS`].

mod claude_code;
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
pub static HOSTS: &[&dyn Host] = &[&claude_code::ClaudeCode, &plain::Plain];

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
    /// The tool.
    pub tool_name: Option<serde::de::IgnoredAny>,
}
