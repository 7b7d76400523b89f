//! Hook protocol of Gemini CLI: `BeforeTool` and `AfterTool`.
//!
//! An `ask` opens a dialogue, even in the mode that never asks. If there is no user to answer
//! it, the agent waits forever, so without a terminal the call is stopped instead. Tools of
//! MCP servers arrive as `mcp_server_tool`, which cannot be split reliably; the payload names
//! the server and the tool separately.

use crate::protocol::{HookOutput, PayloadShape, Protocol, cannot_ask, is_attended, response};
use crate::{Args, GuardAnswer, HookEvent, Moment, PayloadError};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use toolmark_shell::Decision;

const UNATTENDED: &str = "no user can be asked";

/// Gemini CLI.
#[derive(Debug)]
pub(super) struct GeminiCli;

/// Payload on standard input.
#[derive(Deserialize)]
struct GeminiCliPayload<'a> {
    #[serde(borrow)]
    hook_event_name: Cow<'a, str>,
    #[serde(borrow, default)]
    session_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    cwd: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    tool_name: Option<Cow<'a, str>>,
    #[serde(default)]
    tool_input: Option<Value>,
    #[serde(borrow, default)]
    mcp_context: Option<McpContext<'a>>,
    #[serde(borrow, default)]
    tool_response: Option<ToolResponse<'a>>,
}

#[derive(Deserialize)]
struct McpContext<'a> {
    #[serde(borrow)]
    server_name: Cow<'a, str>,
    #[serde(borrow)]
    tool_name: Cow<'a, str>,
}

#[derive(Deserialize)]
struct ToolResponse<'a> {
    #[serde(borrow, default, rename = "llmContent")]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

impl Protocol for GeminiCli {
    fn detect(&self, shape: &PayloadShape) -> u8 {
        let is_it = shape.hook_event_name.is_some()
            && shape.timestamp.is_some()
            && shape.transcript_path.is_some();
        if is_it { 70 } else { 0 }
    }

    fn read<'a>(&self, payload: &'a [u8]) -> Result<HookEvent<'a>, PayloadError> {
        let payload: GeminiCliPayload<'a> = serde_json::from_slice(payload)?;
        let moment = match &*payload.hook_event_name {
            "BeforeTool" => Moment::Before,
            "AfterTool" => Moment::After,
            _ => Moment::Other,
        };
        let tool = match payload.mcp_context {
            Some(mcp) => Some(format!("mcp__{}__{}", mcp.server_name, mcp.tool_name).into()),
            None => payload.tool_name,
        };
        let Some(tool) = tool.or((moment == Moment::Other).then(|| "".into())) else {
            return Err(PayloadError::new("the payload names no tool"));
        };
        let response = payload.tool_response;
        Ok(HookEvent {
            session: payload.session_id,
            cwd: payload.cwd,
            args: payload.tool_input.map_or(Args::None, Args::Json),
            failed: response.as_ref().map(|response| response.error.is_some()),
            result: response.and_then(|r| r.content.or(r.error)).map(response::text),
            name: payload.hook_event_name,
            ..HookEvent::new(moment, super::ID, tool)
        })
    }

    fn sample(&self, command: &str, cwd: &str, session: &str) -> Value {
        json!({
            "hook_event_name": "BeforeTool", "session_id": session, "transcript_path": "",
            "timestamp": "1970-01-01T00:00:00Z", "cwd": cwd, "tool_name": "run_shell_command",
            "tool_input": {"command": command},
        })
    }

    fn unasked(&self, _: &HookEvent<'_>) -> Option<String> {
        (!is_attended()).then(|| UNATTENDED.to_owned())
    }

    fn answer(&self, event: Option<&HookEvent<'_>>, verdict: &GuardAnswer) -> HookOutput {
        let asks = verdict.decision == Decision::Ask;
        answer(event, verdict, asks && is_attended())
    }
}

/// Formats the answer, depending on whether a user can be asked.
fn answer(event: Option<&HookEvent<'_>>, verdict: &GuardAnswer, attended: bool) -> HookOutput {
    let moment = event.map_or(Moment::Before, |event| event.moment);
    let mut said = Map::new();
    if moment == Moment::Before {
        match verdict.decision {
            Decision::Allow => {}
            Decision::Ask if attended => {
                said.insert("decision".into(), json!("ask"));
                said.insert("reason".into(), json!(verdict.words()));
                // Text of the dialogue.
                said.insert("systemMessage".into(), json!(verdict.words()));
            }
            Decision::Ask => {
                let words = cannot_ask(verdict, UNATTENDED);
                said.insert("decision".into(), json!("deny"));
                said.insert("reason".into(), json!(words));
            }
            Decision::Deny => {
                said.insert("decision".into(), json!("deny"));
                said.insert("reason".into(), json!(verdict.words()));
            }
        }
    }
    if let (Moment::After, Some(context)) = (moment, &verdict.context) {
        said.insert("hookSpecificOutput".into(), json!({"additionalContext": context}));
    }
    if said.is_empty() { HookOutput::default() } else { HookOutput::json(&said.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{answered, seen, verdict};

    const BEFORE: &str = r#"{"session_id":"s","transcript_path":"/t","cwd":"/w",
        "hook_event_name":"BeforeTool","timestamp":"2026-01-01T00:00:00Z",
        "tool_name":"run_shell_command","tool_input":{"command":"ls"}}"#;

    #[test]
    fn payloads() {
        let event = seen("gemini-cli", BEFORE);
        assert_eq!((event.moment, &*event.tool), (Moment::Before, "run_shell_command"));
        assert_eq!(event.args, Args::Json(json!({"command": "ls"})));

        let mcp = r#"{"session_id":"s","transcript_path":"/t","cwd":"/w","timestamp":"x",
            "hook_event_name":"AfterTool","tool_name":"mcp_my_db_drop_all","tool_input":{},
            "tool_response":{"llmContent":[{"text":"gone"}],"returnDisplay":"gone"},
            "mcp_context":{"server_name":"my_db","tool_name":"drop_all","command":"x"}}"#;
        let event = seen("gemini-cli", mcp);
        assert_eq!((event.moment, event.failed), (Moment::After, Some(false)));
        assert_eq!(event.tool, "mcp__my_db__drop_all");
        assert_eq!(event.result.as_deref(), Some("gone"));

        let failed = BEFORE.replace("BeforeTool", "AfterTool").replace(
            r#""tool_input""#,
            r#""tool_response":{"llmContent":"boom","error":{"message":"boom"}},"tool_input""#,
        );
        let event = seen("gemini-cli", &failed);
        assert_eq!((event.failed, event.result.as_deref()), (Some(true), Some("boom")));
    }

    #[test]
    fn answers() {
        let event = seen("gemini-cli", BEFORE);
        let said = |decision, attended| {
            let answer = answer(Some(&event), &verdict(decision), attended);
            assert_eq!((answer.exit, answer.stderr.as_str()), (0, ""));
            answered(&answer)
        };
        let words = "toolmark guard (effect): why. instead";
        assert_eq!(said(Decision::Allow, true), None);
        let denied = json!({"decision": "deny", "reason": words});
        assert_eq!(said(Decision::Deny, true).unwrap(), denied);
        assert_eq!(said(Decision::Deny, false).unwrap(), denied);
        assert_eq!(
            said(Decision::Ask, true).unwrap(),
            json!({"decision": "ask", "reason": words, "systemMessage": words})
        );
        let unattended = said(Decision::Ask, false).unwrap();
        assert_eq!(unattended["decision"], "deny");
        assert!(
            unattended["reason"].as_str().unwrap().contains("no user can be asked"),
            "{unattended}"
        );

        let mut found = verdict(Decision::Allow);
        found.context = Some("look again".into());
        let after = HookEvent::new(Moment::After, "gemini-cli", "run_shell_command");
        assert_eq!(
            answered(&answer(Some(&after), &found, true)).unwrap(),
            json!({"hookSpecificOutput": {"additionalContext": "look again"}})
        );
    }
}
