//! One tool call with its result.

use super::{At, Level, Payload, Status, Text, ToolName};
use jiff::{SignedDuration, Timestamp};
use toolmark_base::word_enum;

word_enum! {
    /// Who made a call.
    #[derive(Default)]
    pub enum Actor {
        /// The agent's model.
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
    /// The id that ties call and result together.
    pub id: Option<Text>,
    /// The tool.
    pub name: ToolName,
    /// The arguments, where the source has them.
    pub args: Option<Payload>,
    /// What came back.
    pub result: Option<CallResult>,
    /// How it ended.
    pub status: Status,
    /// What [`Call::status`] was read from.
    pub level: Level,
    /// The exit code, where the source or the text of the result gives one.
    pub exit_code: Option<i64>,
    /// When it was asked for.
    pub started: Option<Timestamp>,
    /// How long it took: stated, or from call to result.
    pub duration: Option<SignedDuration>,
    /// Does the source itself state [`Call::duration`]? Some systems use only stated ones.
    pub duration_stated: bool,
    /// The step (model response) it belongs to; calls of one step are parallel.
    pub step: Option<u32>,
    /// Who made it.
    pub actor: Actor,
    /// The sub-agent inside this trajectory that made it, where the source
    /// keeps several agents in one stream and does not nest them.
    pub agent: Option<Text>,
    /// The id of the sub-agent's run it started; its trajectory is among the
    /// children where the source has it.
    pub spawned: Option<Text>,
    /// Where the call is in the trace.
    pub at: At,
}

/// What came back from a call.
#[derive(Debug, Clone)]
pub struct CallResult {
    /// The result as the source has it; `None` where it only says that there was one.
    pub payload: Option<Payload>,
    /// When it came.
    pub time: Option<Timestamp>,
    /// Where it is in the trace.
    pub at: At,
}
