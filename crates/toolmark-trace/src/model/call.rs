//! One tool call with its result.

use super::{At, Payload, Status, StatusLevel, Text, ToolName};
use jiff::{SignedDuration, Timestamp};
use toolmark_base::word_enum;

word_enum! {
    /// Actor that made a call.
    #[derive(Default)]
    pub enum Actor {
        /// The model of the agent.
        #[default]
        Agent = "agent",
        /// The user, or a simulated one (tau2, pi's own shell).
        User = "user",
        /// The model provider, on its own servers (web search).
        Provider = "provider",
    }
}

/// One tool call with its result, if any.
#[derive(Debug, Clone)]
pub struct Call {
    /// ID that connects call and result.
    pub id: Option<Text>,
    /// Tool name.
    pub name: ToolName,
    /// Arguments, if the source has them.
    pub args: Option<Payload>,
    /// Result of the call.
    pub result: Option<CallResult>,
    /// Status of the call.
    pub status: Status,
    /// Evidence for [`Call::status`].
    pub level: StatusLevel,
    /// Exit code, from the source or from the text of the result.
    pub exit_code: Option<i64>,
    /// Time of the request.
    pub started: Option<Timestamp>,
    /// Duration: stated, or from call to result.
    pub duration: Option<SignedDuration>,
    /// Whether the source itself states [`Call::duration`]. Some systems use only stated ones.
    pub duration_stated: bool,
    /// Step (model response) of the call; calls of one step are parallel.
    pub step: Option<u32>,
    /// Actor that made the call.
    pub actor: Actor,
    /// Sub-agent inside this trajectory that made the call, if the source stores several agents in
    /// one stream without nesting them.
    pub agent: Option<Text>,
    /// ID of the sub-agent's run that the call started; its trajectory is among the children if
    /// the source has it.
    pub spawned: Option<Text>,
    /// Source position of the call.
    pub at: At,
}

/// Result of a call.
#[derive(Debug, Clone)]
pub struct CallResult {
    /// Content of the result; `None` if the source only records that there was one.
    pub payload: Option<Payload>,
    /// Time of the result.
    pub time: Option<Timestamp>,
    /// Source position of the result.
    pub at: At,
}
