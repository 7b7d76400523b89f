//! Hook protocol of Copilot CLI: `preToolUse`, `postToolUse`, `postToolUseFailure` and
//! `permissionRequest`.
//!
//! The payloads of tool events do not name the event and are distinguished by their fields.
//! Hooks configured under Pascal case names receive snake case fields instead, which are read
//! as well. A deny is sent twice, as JSON and as exit code 2, because some versions treated
//! the JSON alone as a question.

use crate::protocol::{HookOutput, PayloadShape, Protocol, response};
use crate::{Args, GuardAnswer, HookEvent, Moment, PayloadError};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use toolmark_shell::Decision;

/// Copilot CLI.
#[derive(Debug)]
pub(super) struct CopilotCli;

/// Payload on standard input.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CopilotCliPayload<'a> {
    #[serde(borrow, default, alias = "hook_event_name")]
    hook_name: Option<Cow<'a, str>>,
    #[serde(borrow, default, alias = "session_id")]
    session_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    cwd: Option<Cow<'a, str>>,
    #[serde(borrow, default, alias = "tool_name")]
    tool_name: Option<Cow<'a, str>>,
    #[serde(default, alias = "toolInput", alias = "tool_input")]
    tool_args: Option<Value>,
    #[serde(borrow, default, alias = "tool_result")]
    tool_result: Option<ToolResult<'a>>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolResult<'a> {
    #[serde(borrow, default, alias = "result_type")]
    result_type: Option<Cow<'a, str>>,
    #[serde(borrow, default, alias = "text_result_for_llm")]
    text_result_for_llm: Option<&'a RawValue>,
}

impl Protocol for CopilotCli {
    fn detect(&self, shape: &PayloadShape) -> u8 {
        let in_snake_case = shape.hook_event_name.is_some()
            && shape.timestamp.is_some()
            && shape.transcript_path.is_none();
        if shape.session_id_camel.is_some() || in_snake_case { 80 } else { 0 }
    }

    fn read<'a>(&self, payload: &'a [u8]) -> Result<HookEvent<'a>, PayloadError> {
        let payload: CopilotCliPayload<'a> = serde_json::from_slice(payload)?;
        let moment = moment(&payload);
        let Some(tool) = payload.tool_name.or((moment == Moment::Other).then(|| "".into())) else {
            return Err(PayloadError::new("the payload names no tool"));
        };
        let name = payload.hook_name.unwrap_or(match moment {
            Moment::After => "postToolUse".into(),
            _ => "preToolUse".into(),
        });
        let failed = match (&payload.tool_result, payload.error) {
            (_, Some(_)) => Some(true),
            (Some(result), None) => result.result_type.as_deref().map(|kind| kind != "success"),
            (None, None) => None,
        };
        let text = payload.tool_result.and_then(|result| result.text_result_for_llm);
        Ok(HookEvent {
            session: payload.session_id,
            cwd: payload.cwd,
            args: payload.tool_args.map_or(Args::None, arguments),
            result: text.or(payload.error).map(response::text),
            failed,
            name,
            ..HookEvent::new(moment, super::ID, tool)
        })
    }

    fn sample(&self, command: &str, cwd: &str, session: &str) -> Value {
        json!({
            "sessionId": session, "timestamp": 0, "cwd": cwd, "toolName": "bash",
            "toolArgs": {"command": command},
        })
    }

    fn answer(&self, event: Option<&HookEvent<'_>>, verdict: &GuardAnswer) -> HookOutput {
        let moment = event.map_or(Moment::Before, |event| event.moment);
        let words = || json!(verdict.words());
        let mut said = Map::new();
        match (moment, verdict.decision) {
            (Moment::Before, Decision::Deny) => {
                said.insert("permissionDecision".into(), json!("deny"));
                said.insert("permissionDecisionReason".into(), words());
            }
            (Moment::Before, Decision::Ask) => {
                said.insert("permissionDecision".into(), json!("ask"));
                said.insert("permissionDecisionReason".into(), words());
            }
            // It would skip the user's own prompt.
            (Moment::Before, Decision::Allow) if verdict.approves => {
                said.insert("permissionDecision".into(), json!("allow"));
            }
            (Moment::Permission, Decision::Deny) => {
                said.insert("behavior".into(), json!("deny"));
                said.insert("message".into(), words());
            }
            (Moment::Permission, Decision::Allow) if verdict.approves => {
                said.insert("behavior".into(), json!("allow"));
            }
            _ => {}
        }
        if let (Moment::Before | Moment::After, Some(context)) = (moment, &verdict.context) {
            said.insert("additionalContext".into(), json!(context));
        }
        if said.is_empty() {
            return HookOutput::default();
        }
        let denies = moment == Moment::Before && verdict.decision == Decision::Deny;
        let stderr = if denies { verdict.words() + "\n" } else { String::new() };
        HookOutput { stderr, exit: if denies { 2 } else { 0 }, ..HookOutput::json(&said.into()) }
    }
}

fn moment(payload: &CopilotCliPayload<'_>) -> Moment {
    match payload.hook_name.as_deref() {
        Some("permissionRequest" | "PermissionRequest") => Moment::Permission,
        Some("PreToolUse" | "preToolUse") => Moment::Before,
        Some("PostToolUse" | "PostToolUseFailure" | "postToolUse" | "postToolUseFailure") => {
            Moment::After
        }
        Some(_) => Moment::Other,
        None if payload.tool_name.is_none() && payload.tool_args.is_none() => Moment::Other,
        None if payload.tool_result.is_some() || payload.error.is_some() => Moment::After,
        None => Moment::Before,
    }
}

/// Converts the arguments, which older versions sent as JSON text.
fn arguments(value: Value) -> Args {
    match value {
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(value) => Args::Json(value),
            Err(_) => Args::Text(text),
        },
        value => Args::Json(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{answered, seen, verdict};

    const BEFORE: &str = r#"{"sessionId":"s","timestamp":1794812551168,"cwd":"/w",
        "toolName":"bash","toolArgs":{"command":"ls","mode":"sync"}}"#;

    #[test]
    fn payloads() {
        let ls = Args::Json(json!({"command": "ls", "mode": "sync"}));
        let text = BEFORE.replace(
            r#"{"command":"ls","mode":"sync"}"#,
            r#""{\"command\":\"ls\",\"mode\":\"sync\"}""#,
        );
        let pascal = r#"{"hook_event_name":"PreToolUse","session_id":"s","timestamp":"2026-01-01T00:00:00Z",
            "cwd":"/w","tool_name":"bash","tool_input":{"command":"ls","mode":"sync"}}"#;
        for payload in [BEFORE, &text, pascal] {
            let event = seen("copilot-cli", payload);
            assert_eq!((event.moment, &*event.tool), (Moment::Before, "bash"), "{payload}");
            assert_eq!((&event.args, event.session.as_deref()), (&ls, Some("s")), "{payload}");
        }

        let after = r#"{"sessionId":"s","timestamp":1,"cwd":"/w","toolName":"db-drop","toolArgs":{},
            "toolResult":{"resultType":"success","textResultForLlm":"gone"}}"#;
        let event = seen("copilot-cli", after);
        assert_eq!((event.moment, event.failed), (Moment::After, Some(false)));
        assert_eq!(event.result.as_deref(), Some("gone"));

        let failed = r#"{"sessionId":"s","timestamp":1,"cwd":"/w","toolName":"view","toolArgs":{},
            "error":"no such file"}"#;
        let event = seen("copilot-cli", failed);
        assert_eq!((event.moment, event.failed), (Moment::After, Some(true)));
        assert_eq!(event.result.as_deref(), Some("no such file"));

        let asked = r#"{"hookName":"permissionRequest","sessionId":"s","timestamp":1,"cwd":"/w",
            "toolName":"db/drop","toolInput":{"key":"all"},"permissionSuggestions":[]}"#;
        let event = seen("copilot-cli", asked);
        assert_eq!((event.moment, &*event.tool), (Moment::Permission, "db/drop"));
        assert_eq!(event.args, Args::Json(json!({"key": "all"})));

        let other = r#"{"sessionId":"s","timestamp":1,"cwd":"/w","source":"new"}"#;
        assert_eq!(seen("copilot-cli", other).moment, Moment::Other);
        let odd = br#"{"sessionId":"s","cwd":"/w","toolArgs":{}}"#;
        assert!(CopilotCli.read(odd).is_err(), "a call without a tool is no other event");
    }

    #[test]
    fn answers() {
        let event = seen("copilot-cli", BEFORE);
        let denied = CopilotCli.answer(Some(&event), &verdict(Decision::Deny));
        assert_eq!(denied.exit, 2);
        let said = answered(&denied).unwrap();
        assert_eq!(said["permissionDecision"], "deny");
        assert_eq!(said["permissionDecisionReason"], "toolmark guard (effect): why. instead");

        let asked = CopilotCli.answer(None, &verdict(Decision::Ask));
        assert_eq!((asked.exit, asked.stderr.as_str()), (0, ""));
        assert_eq!(answered(&asked).unwrap()["permissionDecision"], "ask");

        assert_eq!(
            CopilotCli.answer(Some(&event), &verdict(Decision::Allow)),
            HookOutput::default(),
            "`allow` would skip the user's own prompt"
        );

        let mut found = verdict(Decision::Allow);
        found.context = Some("look again".into());
        let after = HookEvent::new(Moment::After, "copilot-cli", "bash");
        let said = answered(&CopilotCli.answer(Some(&after), &found)).unwrap();
        assert_eq!(said, json!({"additionalContext": "look again"}));
    }
}
