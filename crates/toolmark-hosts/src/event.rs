//! What a host says is happening, whatever its protocol.

use serde_json::Value;
use std::borrow::Cow;

/// When a host asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// A call is about to run.
    Before,
    /// A call has run.
    After,
    /// The host is about to ask its user whether a call may run.
    Permission,
    /// Something the guard has no say in.
    Other,
}

/// The arguments of a call.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Args {
    /// None.
    #[default]
    None,
    /// A JSON value.
    Json(Value),
    /// Text that is no JSON.
    Text(String),
}

impl Args {
    /// The value, where it is JSON.
    #[must_use]
    pub fn json(&self) -> Option<&Value> {
        match self {
            Self::Json(value) => Some(value),
            Self::None | Self::Text(_) => None,
        }
    }
}

/// Names of arguments that stand as `null` because they are too large.
pub type LeftOut = Vec<String>;

/// One thing a host tells or asks.
#[derive(Debug, Clone)]
pub struct Event<'a> {
    /// When it is told.
    pub moment: Moment,
    /// The host's own name of the event, for the answer.
    pub name: Cow<'a, str>,
    /// The toolset of the host: `claude-code`, `codex`, …
    pub host: Cow<'a, str>,
    /// The session it belongs to.
    pub session: Option<Cow<'a, str>>,
    /// The working directory.
    pub cwd: Option<Cow<'a, str>>,
    /// The sub-agent that makes the call, where the host names it.
    pub agent: Option<Cow<'a, str>>,
    /// The mode of the session that says when its user is asked, in the host's
    /// own word: `bypassPermissions`.
    pub mode: Option<Cow<'a, str>>,
    /// The id of the call.
    pub call_id: Option<Cow<'a, str>>,
    /// The tool as the host writes it: `Bash`, `mcp__server__tool`.
    pub tool: Cow<'a, str>,
    /// The arguments.
    pub args: Args,
    /// The names of arguments that are too large to be looked at.
    pub left_out: LeftOut,
    /// The text of what came back, after the call.
    pub result: Option<Cow<'a, str>>,
    /// Did the call fail? `None` where the host does not say.
    pub failed: Option<bool>,
}

impl<'a> Event<'a> {
    /// An event with nothing but its moment and its tool.
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

/// Why a payload could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Fault(pub String);

impl Fault {
    /// A fault in these words.
    pub fn new(words: impl Into<String>) -> Self {
        Self(words.into())
    }
}

impl From<serde_json::Error> for Fault {
    fn from(error: serde_json::Error) -> Self {
        Self(format!("the payload is not what the host sends: {error}"))
    }
}
