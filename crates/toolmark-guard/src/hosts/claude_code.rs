//! Claude Code: `PreToolUse`, `PostToolUse` and `PermissionRequest` hooks.
//!
//! An allowed call is not answered with `allow`, which would skip the user's
//! own permission prompts, unless the policy approves of it explicitly. Exit
//! code 0 always: any other code but 2 would let the call pass.

use super::{Answer, Host, Shape, response};
use crate::event::{Args, Event, Fault, Moment};
use crate::verdict::Verdict;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use toolmark_shell::Decision;

/// Claude Code.
#[derive(Debug)]
pub(super) struct ClaudeCode;

/// What arrives on the standard input.
#[derive(Deserialize)]
struct Payload<'a> {
    #[serde(borrow)]
    hook_event_name: Cow<'a, str>,
    #[serde(borrow, default)]
    session_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    cwd: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    agent_type: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    tool_name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    tool_use_id: Option<Cow<'a, str>>,
    #[serde(default)]
    tool_input: Option<Value>,
    #[serde(borrow, default)]
    tool_response: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<Cow<'a, str>>,
}

impl Host for ClaudeCode {
    fn id(&self) -> &'static str {
        "claude-code"
    }

    fn title(&self) -> &'static str {
        "Claude Code"
    }

    fn sends(&self, shape: &Shape) -> bool {
        shape.hook_event_name.is_some()
    }

    fn read<'a>(&self, payload: &'a [u8]) -> Result<Event<'a>, Fault> {
        let payload: Payload<'a> = serde_json::from_slice(payload)?;
        let moment = match &*payload.hook_event_name {
            "PreToolUse" => Moment::Before,
            "PostToolUse" | "PostToolUseFailure" => Moment::After,
            "PermissionRequest" => Moment::Permission,
            _ => Moment::Other,
        };
        let Some(tool) = payload.tool_name.or((moment == Moment::Other).then(|| "".into())) else {
            return Err(Fault::new("the payload names no tool"));
        };
        let failed =
            (moment == Moment::After).then_some(payload.hook_event_name == "PostToolUseFailure");
        Ok(Event {
            session: payload.session_id,
            cwd: payload.cwd,
            agent: payload.agent_type,
            call_id: payload.tool_use_id,
            args: payload.tool_input.map_or(Args::None, Args::Json),
            result: payload.error.or_else(|| payload.tool_response.map(response::text)),
            failed,
            name: payload.hook_event_name,
            ..Event::new(moment, self.id(), tool)
        })
    }

    fn answer(&self, event: Option<&Event<'_>>, verdict: &Verdict) -> Answer {
        let moment = event.map_or(Moment::Before, |event| event.moment);
        let name = event.map_or("PreToolUse", |event| &event.name);
        let mut specific = Map::new();
        match moment {
            Moment::Before => {
                let decision = match verdict.decision {
                    Decision::Allow => verdict.approves.then_some("allow"),
                    Decision::Ask => Some("ask"),
                    Decision::Deny => Some("deny"),
                };
                if let Some(decision) = decision {
                    specific.insert("permissionDecision".into(), json!(decision));
                    specific.insert("permissionDecisionReason".into(), json!(verdict.words()));
                }
            }
            Moment::Permission => match verdict.decision {
                Decision::Allow if verdict.approves => {
                    specific.insert("decision".into(), json!({"behavior": "allow"}));
                }
                Decision::Deny => {
                    let words = verdict.words();
                    specific
                        .insert("decision".into(), json!({"behavior": "deny", "message": words}));
                }
                // The user is about to be asked anyway.
                Decision::Allow | Decision::Ask => {}
            },
            Moment::After | Moment::Other => {}
        }
        if let Some(context) = verdict.context.as_ref().filter(|_| moment != Moment::Permission) {
            specific.insert("additionalContext".into(), json!(context));
        }
        if specific.is_empty() {
            return Answer::default();
        }
        specific.insert("hookEventName".into(), json!(name));
        Answer::json(&json!({"hookSpecificOutput": specific}))
    }
}
