//! Plain JSON for any other caller: a call in, the verdict out.
//!
//! ```json
//! {"tool": "Bash", "args": {"command": "ls"}, "cwd": "/w", "host": "claude-code"}
//! ```

use crate::protocol::{HookOutput, PayloadShape, Protocol, unasked_by_mode};
use crate::{Args, GuardAnswer, HookEvent, Moment, PayloadError};
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;

/// Id of the host if the payload names none; tools are then recognized by name.
const UNNAMED: &str = "";

/// Plain JSON protocol.
#[derive(Debug)]
pub(crate) struct PlainProtocol;

/// Payload on standard input.
#[derive(Deserialize)]
struct PlainPayload<'a> {
    #[serde(borrow)]
    tool: Cow<'a, str>,
    #[serde(default)]
    args: Option<Value>,
    #[serde(borrow, default)]
    cwd: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    host: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    session: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    agent: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    mode: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    result: Option<Cow<'a, str>>,
    #[serde(default)]
    failed: Option<bool>,
}

impl Protocol for PlainProtocol {
    fn detect(&self, _: &PayloadShape) -> u8 {
        0
    }

    fn read<'a>(&self, payload: &'a [u8]) -> Result<HookEvent<'a>, PayloadError> {
        let payload: PlainPayload<'a> = serde_json::from_slice(payload)?;
        let moment = if payload.result.is_some() { Moment::After } else { Moment::Before };
        Ok(HookEvent {
            name: "call".into(),
            session: payload.session,
            cwd: payload.cwd,
            agent: payload.agent,
            mode: payload.mode,
            call_id: payload.id,
            args: match payload.args {
                None => Args::None,
                Some(Value::String(text)) => Args::Text(text),
                Some(args) => Args::Json(args),
            },
            result: payload.result,
            failed: payload.failed,
            ..HookEvent::new(moment, payload.host.unwrap_or(UNNAMED.into()), payload.tool)
        })
    }

    fn sample(&self, command: &str, cwd: &str, session: &str) -> Value {
        json!({
            "tool": "Bash", "args": {"command": command}, "cwd": cwd, "session": session,
        })
    }

    fn unasked(&self, event: &HookEvent<'_>) -> Option<String> {
        unasked_by_mode(event, "the host")
    }

    fn answer(&self, _: Option<&HookEvent<'_>>, verdict: &GuardAnswer) -> HookOutput {
        match serde_json::to_value(verdict) {
            Ok(value) => HookOutput::json(&value),
            Err(error) => {
                HookOutput { stderr: error.to_string(), exit: 2, ..HookOutput::default() }
            }
        }
    }
}
