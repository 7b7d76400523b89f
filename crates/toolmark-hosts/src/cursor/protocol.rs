//! Hook protocol of Cursor: `beforeShellExecution`, `beforeMCPExecution`, `beforeReadFile`,
//! `preToolUse` and the subsequent events.
//!
//! Only `beforeShellExecution` can ask. In other events Cursor treats `ask` as `allow`, so
//! calls that need a question are stopped there. An event about a pending call is always
//! answered with a JSON object, because Cursor treats empty standard output as a failed hook.

use crate::protocol::{HookOutput, PayloadShape, Protocol, cannot_ask, response};
use crate::{Args, GuardAnswer, HookEvent, Moment, PayloadError};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use toolmark_shell::Decision;

/// Cursor.
#[derive(Debug)]
pub(super) struct CursorProtocol;

/// The only event that can ask.
const ASKS: &str = "beforeShellExecution";
const CANNOT_ASK: &str = "Cursor cannot ask about such a call";

/// Maximum length of text for the agent; Cursor drops longer text.
const CONTEXT: usize = 10_000;

/// Payload on standard input.
#[derive(Deserialize)]
struct CursorPayload<'a> {
    #[serde(borrow)]
    hook_event_name: Cow<'a, str>,
    #[serde(borrow, default, alias = "session_id")]
    conversation_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    cwd: Option<Cow<'a, str>>,
    #[serde(default)]
    workspace_roots: Vec<String>,
    #[serde(borrow, default)]
    command: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    file_path: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    tool_name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    tool_use_id: Option<Cow<'a, str>>,
    #[serde(default)]
    tool_input: Option<Value>,
    #[serde(borrow, default)]
    mcp_server_name: Option<Cow<'a, str>>,
    #[serde(borrow, default, alias = "output", alias = "result_json")]
    tool_output: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error_message: Option<Cow<'a, str>>,
}

impl Protocol for CursorProtocol {
    fn detect(&self, shape: &PayloadShape) -> u8 {
        if shape.hook_event_name.is_some() && shape.cursor_version.is_some() { 100 } else { 0 }
    }

    fn read<'a>(&self, payload: &'a [u8]) -> Result<HookEvent<'a>, PayloadError> {
        let payload: CursorPayload<'a> = serde_json::from_slice(payload)?;
        let (moment, tool) = match &*payload.hook_event_name {
            "beforeShellExecution" => (Moment::Before, Some("Shell".into())),
            "afterShellExecution" => (Moment::After, Some("Shell".into())),
            "beforeReadFile" => (Moment::Before, Some("Read".into())),
            "beforeMCPExecution" => (Moment::Before, of_server(&payload)),
            "afterMCPExecution" => (Moment::After, of_server(&payload)),
            "preToolUse" => (Moment::Before, payload.tool_name.clone()),
            "postToolUse" | "postToolUseFailure" => (Moment::After, payload.tool_name.clone()),
            _ => (Moment::Other, Some("".into())),
        };
        let tool = tool.ok_or_else(|| PayloadError::new("the payload names no tool"))?;
        let args = match (&*payload.hook_event_name, payload.tool_input) {
            ("beforeShellExecution" | "afterShellExecution", _) => {
                let command = payload
                    .command
                    .ok_or_else(|| PayloadError::new("the payload has no command"))?;
                Args::Json(json!({"command": command}))
            }
            ("beforeReadFile", _) => {
                let path = payload
                    .file_path
                    .ok_or_else(|| PayloadError::new("the payload has no file_path"))?;
                Args::Json(json!({"file_path": path}))
            }
            // Events about MCP send the arguments as text of JSON.
            (_, Some(Value::String(text))) => match serde_json::from_str(&text) {
                Ok(value) => Args::Json(value),
                Err(_) => Args::Text(text),
            },
            (_, Some(value)) => Args::Json(value),
            (_, None) => Args::None,
        };
        let failed = match &*payload.hook_event_name {
            "postToolUse" => Some(false),
            "postToolUseFailure" => Some(true),
            _ => None,
        };
        let cwd = payload.cwd.filter(|cwd| !cwd.is_empty());
        Ok(HookEvent {
            session: payload.conversation_id,
            cwd: cwd.or_else(|| payload.workspace_roots.into_iter().next().map(Cow::Owned)),
            call_id: payload.tool_use_id,
            args,
            result: payload.error_message.or_else(|| payload.tool_output.map(response::text)),
            failed,
            name: payload.hook_event_name,
            ..HookEvent::new(moment, super::ID, tool)
        })
    }

    fn sample(&self, command: &str, cwd: &str, session: &str) -> Value {
        json!({
            "hook_event_name": ASKS, "conversation_id": session, "cursor_version": "sample",
            "cwd": cwd, "command": command,
        })
    }

    fn unasked(&self, event: &HookEvent<'_>) -> Option<String> {
        (event.name != ASKS).then(|| CANNOT_ASK.to_owned())
    }

    fn answer(&self, event: Option<&HookEvent<'_>>, verdict: &GuardAnswer) -> HookOutput {
        let moment = event.map_or(Moment::Before, |event| event.moment);
        let asks = event.is_some_and(|event| event.name == ASKS);
        let mut said = Map::new();
        if moment == Moment::Before {
            let spoken = match verdict.decision {
                Decision::Allow => None,
                Decision::Ask if asks => Some(("ask", verdict.words())),
                Decision::Ask => Some(("deny", cannot_ask(verdict, CANNOT_ASK))),
                Decision::Deny => Some(("deny", verdict.words())),
            };
            if let Some((permission, words)) = spoken {
                said.insert("permission".into(), json!(permission));
                said.insert("user_message".into(), json!(words));
                said.insert("agent_message".into(), json!(words));
            }
        }
        if let (Moment::Before | Moment::After, Some(context)) = (moment, &verdict.context) {
            said.insert("additional_context".into(), json!(head(context)));
        }
        HookOutput::json(&said.into())
    }
}

/// Returns the beginning of the text, up to the length that Cursor accepts.
fn head(text: &str) -> &str {
    let mut end = text.len().min(CONTEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Returns the name of an MCP tool, including its server if the payload names it.
fn of_server<'a>(payload: &CursorPayload<'a>) -> Option<Cow<'a, str>> {
    let tool = payload.tool_name.clone()?;
    Some(match &payload.mcp_server_name {
        Some(server) => format!("mcp__{server}__{tool}").into(),
        None => tool,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{answered, seen, verdict};

    /// Returns a test payload with the common fields.
    fn payload(name: &str, more: &str) -> String {
        format!(
            r#"{{"conversation_id":"s","generation_id":"g","model":"m","hook_event_name":"{name}",
                "cursor_version":"3.0","workspace_roots":["/w"],"user_email":null,
                "transcript_path":null,{more}}}"#
        )
    }

    #[test]
    fn payloads() {
        for (name, more, moment, tool, args) in [
            (
                "beforeShellExecution",
                r#""command":"ls","cwd":"/w/sub","sandbox":false"#,
                Moment::Before,
                "Shell",
                json!({"command": "ls"}),
            ),
            (
                "preToolUse",
                r#""tool_name":"Write","tool_input":{"file_path":"/w/a","content":"x"},"tool_use_id":"c""#,
                Moment::Before,
                "Write",
                json!({"file_path": "/w/a", "content": "x"}),
            ),
            (
                "preToolUse",
                r#""tool_name":"MCP:drop","tool_input":{"key":"all"},"tool_use_id":"c""#,
                Moment::Before,
                "MCP:drop",
                json!({"key": "all"}),
            ),
            (
                "beforeMCPExecution",
                r#""tool_name":"drop","tool_input":"{\"key\":\"all\"}","mcp_server_name":"db","command":"x""#,
                Moment::Before,
                "mcp__db__drop",
                json!({"key": "all"}),
            ),
            (
                "beforeReadFile",
                r#""file_path":"/w/.env","content":"KEY=1","attachments":[]"#,
                Moment::Before,
                "Read",
                json!({"file_path": "/w/.env"}),
            ),
        ] {
            let payload = payload(name, more);
            let event = seen("cursor", &payload);
            assert_eq!((event.moment, &*event.tool), (moment, tool), "{payload}");
            assert_eq!(event.args, Args::Json(args), "{payload}");
            assert_eq!(event.session.as_deref(), Some("s"));
        }
        let shell = payload("beforeShellExecution", r#""command":"ls","cwd":"""#);
        assert_eq!(seen("cursor", &shell).cwd.as_deref(), Some("/w"), "empty is not a place");
        let failed = payload(
            "postToolUseFailure",
            r#""tool_name":"Read","tool_input":{},"error_message":"no file","failure_type":"error""#,
        );
        let event = seen("cursor", &failed);
        assert_eq!((event.failed, event.result.as_deref()), (Some(true), Some("no file")));
        assert_eq!(seen("cursor", &payload("stop", r#""status":"x""#)).moment, Moment::Other);
        let odd = payload("beforeShellExecution", r#""cwd":"/w""#);
        assert!(CursorProtocol.read(odd.as_bytes()).is_err());
    }

    #[test]
    fn answers() {
        let shell = payload("beforeShellExecution", r#""command":"ls","cwd":"/w""#);
        let write = payload("preToolUse", r#""tool_name":"Write","tool_input":{}"#);
        for (payload, decision, permission) in [
            (&shell, Decision::Allow, None),
            (&shell, Decision::Ask, Some("ask")),
            (&shell, Decision::Deny, Some("deny")),
            (&write, Decision::Allow, None),
            (&write, Decision::Ask, Some("deny")),
            (&write, Decision::Deny, Some("deny")),
        ] {
            let event = seen("cursor", payload);
            let answer = CursorProtocol.answer(Some(&event), &verdict(decision));
            assert_eq!(answer.exit, 0);
            let said = answered(&answer).unwrap();
            assert_eq!(said["permission"].as_str(), permission, "{} {decision:?}", event.name);
            let words = said["agent_message"].as_str();
            assert_eq!(words.is_some_and(|words| words.contains("why")), permission.is_some());
        }
        // An unreadable payload may be about anything: it does not pass.
        let broken = answered(&CursorProtocol.answer(None, &verdict(Decision::Ask))).unwrap();
        assert_eq!(broken["permission"], "deny");

        let mut found = verdict(Decision::Allow);
        found.context = Some("ä".repeat(CONTEXT));
        let after = HookEvent::new(Moment::After, "cursor", "Shell");
        let said = answered(&CursorProtocol.answer(Some(&after), &found)).unwrap();
        assert_eq!(said["additional_context"].as_str().unwrap().len(), CONTEXT);
    }
}
