//! Events that hosts report, independent of their protocols.

use serde_json::Value;
use std::borrow::Cow;

/// Moment at which a host calls the hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// A call is about to run.
    Before,
    /// A call has run.
    After,
    /// The host is about to ask its user for permission to run a call.
    Permission,
    /// Any other event, which the guard does not decide.
    Other,
}

/// Arguments of a call.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Args {
    /// No arguments.
    #[default]
    None,
    /// A JSON value.
    Json(Value),
    /// Text that is not JSON.
    Text(String),
}

impl Args {
    /// Returns the value, if it is JSON.
    #[must_use]
    pub fn json(&self) -> Option<&Value> {
        match self {
            Self::Json(value) => Some(value),
            Self::None | Self::Text(_) => None,
        }
    }
}

/// Names of arguments that were replaced with `null` because they are too large.
pub type LeftOut = Vec<String>;

/// An event reported by a host.
#[derive(Debug, Clone)]
pub struct HookEvent<'a> {
    /// Moment of the event.
    pub moment: Moment,
    /// Host's own name of the event, used in the answer.
    pub name: Cow<'a, str>,
    /// Id of the host's toolset: `claude-code`, `codex`, …
    pub host: Cow<'a, str>,
    /// Id of the session.
    pub session: Option<Cow<'a, str>>,
    /// The file in which the host keeps the session.
    pub transcript: Option<Cow<'a, str>>,
    /// Working directory.
    pub cwd: Option<Cow<'a, str>>,
    /// Sub-agent that makes the call, if the host names it.
    pub agent: Option<Cow<'a, str>>,
    /// Mode of the session that controls when the user is asked, in the host's own term:
    /// `bypassPermissions`.
    pub mode: Option<Cow<'a, str>>,
    /// Id of the call.
    pub call_id: Option<Cow<'a, str>>,
    /// Name of the tool as the host writes it: `Bash`, `mcp__server__tool`.
    pub tool: Cow<'a, str>,
    /// Arguments of the call.
    pub args: Args,
    /// Names of arguments that are too large to be analyzed.
    pub left_out: LeftOut,
    /// Text of the result, after the call.
    pub result: Option<Cow<'a, str>>,
    /// Whether the call failed; `None` if the host does not report it.
    pub failed: Option<bool>,
}

impl<'a> HookEvent<'a> {
    /// Creates an event with only a moment and a tool.
    #[must_use]
    pub fn new(
        moment: Moment,
        host: impl Into<Cow<'a, str>>,
        tool: impl Into<Cow<'a, str>>,
    ) -> Self {
        Self {
            moment,
            name: Cow::Borrowed(""),
            host: host.into(),
            session: None,
            transcript: None,
            cwd: None,
            agent: None,
            mode: None,
            call_id: None,
            tool: tool.into(),
            args: Args::None,
            left_out: LeftOut::new(),
            result: None,
            failed: None,
        }
    }
}

/// Reason why a payload could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PayloadError(pub String);

impl PayloadError {
    /// Creates a fault with this message.
    pub fn new(words: impl Into<String>) -> Self {
        Self(words.into())
    }
}

impl From<serde_json::Error> for PayloadError {
    fn from(error: serde_json::Error) -> Self {
        Self(format!("the payload is not what the host sends: {error}"))
    }
}
