//! Hook protocol of Claude Code: `PreToolUse`, `PostToolUse` and `PermissionRequest`.
//!
//! An allowed call is not answered with `allow`, which would skip the user's own permission
//! prompts, unless the policy approves it explicitly. The exit code is always 0: any other
//! code except 2 would let the call pass.

use crate::protocol::{HookOutput, PayloadShape, Protocol, arguments, response, unasked_by_mode};
use crate::{GuardAnswer, HookEvent, Moment, PayloadError};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, json};
use std::borrow::Cow;
use toolmark_shell::Decision;

/// Claude Code.
#[derive(Debug)]
pub(super) struct ClaudeCode;

/// Payload on standard input. Codex sends the same payload.
#[derive(Deserialize)]
pub(crate) struct ClaudeCodePayload<'a> {
    #[serde(borrow)]
    hook_event_name: Cow<'a, str>,
    #[serde(borrow, default)]
    session_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    transcript_path: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    cwd: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    permission_mode: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    agent_type: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    tool_name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    tool_use_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    tool_input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_response: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<Cow<'a, str>>,
}

impl<'a> ClaudeCodePayload<'a> {
    pub(crate) fn parse(payload: &'a [u8]) -> Result<Self, PayloadError> {
        Ok(serde_json::from_slice(payload)?)
    }

    /// Converts the payload to an event of this host.
    pub(crate) fn event(self, host: &'static str) -> Result<HookEvent<'a>, PayloadError> {
        let moment = match &*self.hook_event_name {
            "PreToolUse" => Moment::Before,
            "PostToolUse" | "PostToolUseFailure" => Moment::After,
            "PermissionRequest" => Moment::Permission,
            _ => Moment::Other,
        };
        let Some(tool) = self.tool_name.or((moment == Moment::Other).then(|| "".into())) else {
            return Err(PayloadError::new("the payload names no tool"));
        };
        let failed =
            (moment == Moment::After).then_some(self.hook_event_name == "PostToolUseFailure");
        let (args, left_out) = match self.tool_input {
            Some(input) => arguments::read(input)?,
            None => Default::default(),
        };
        Ok(HookEvent {
            session: self.session_id,
            transcript: self.transcript_path.filter(|path| !path.is_empty()),
            cwd: self.cwd,
            agent: self.agent_type,
            mode: self.permission_mode,
            call_id: self.tool_use_id,
            args,
            left_out,
            result: self.error.or_else(|| self.tool_response.map(response::text)),
            failed,
            name: self.hook_event_name,
            ..HookEvent::new(moment, host, tool)
        })
    }
}

impl Protocol for ClaudeCode {
    fn detect(&self, shape: &PayloadShape) -> u8 {
        // Other hosts have adopted its event name.
        if shape.hook_event_name.is_some() { 10 } else { 0 }
    }

    fn read<'a>(&self, payload: &'a [u8]) -> Result<HookEvent<'a>, PayloadError> {
        ClaudeCodePayload::parse(payload)?.event(super::ID)
    }

    fn unasked(&self, event: &HookEvent<'_>) -> Option<String> {
        unasked_by_mode(event, "Claude Code")
    }

    fn answer(&self, event: Option<&HookEvent<'_>>, verdict: &GuardAnswer) -> HookOutput {
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
            return HookOutput::default();
        }
        specific.insert("hookEventName".into(), json!(name));
        // At the start of a session, the user reads it too.
        match verdict.context.as_ref().filter(|_| moment == Moment::Other) {
            Some(words) => {
                HookOutput::json(&json!({"systemMessage": words, "hookSpecificOutput": specific}))
            }
            None => HookOutput::json(&json!({"hookSpecificOutput": specific})),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Args;
    use crate::tests::{answered, seen, verdict};

    const BEFORE: &str = r#"{"session_id":"s","transcript_path":"/t","cwd":"/w","prompt_id":"p",
        "permission_mode":"default","effort":{"level":"medium"},"hook_event_name":"PreToolUse",
        "tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"c1"}"#;

    #[test]
    fn payloads() {
        let event = seen("claude-code", BEFORE);
        assert_eq!((event.moment, &*event.tool), (Moment::Before, "Bash"));
        assert_eq!(event.args, Args::Json(json!({"command": "ls"})));

        let failed = r#"{"session_id":"s","transcript_path":"/t","cwd":"/w",
            "hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_input":{},
            "tool_use_id":"c","error":"Exit code 1","is_interrupt":false,"duration_ms":12}"#;
        let event = seen("claude-code", failed);
        assert_eq!((event.moment, event.failed), (Moment::After, Some(true)));
        assert_eq!(event.result.as_deref(), Some("Exit code 1"));

        let mcp = r#"{"session_id":"s","transcript_path":"/t","cwd":"/w",
            "hook_event_name":"PostToolUse","tool_name":"mcp__db__drop","tool_input":{},
            "tool_use_id":"c","tool_response":[{"type":"text","text":"gone"}],
            "mcp_server":{"name":"db","source":"dynamic"}}"#;
        let event = seen("claude-code", mcp);
        assert_eq!((&*event.tool, event.failed), ("mcp__db__drop", Some(false)));
    }

    #[test]
    fn modes_in_which_nobody_is_asked() {
        for (mode, unasked) in [
            ("default", false),
            ("plan", false),
            ("acceptEdits", false),
            ("bypassPermissions", true),
            ("dontAsk", true),
            ("auto", true),
        ] {
            let payload = BEFORE.replace("default", mode);
            let event = seen("claude-code", &payload);
            let why = ClaudeCode.unasked(&event);
            assert_eq!(why.is_some_and(|why| why.ends_with(mode)), unasked, "{mode}");
        }
    }

    #[test]
    fn answers() {
        let event = seen("claude-code", BEFORE);
        for (decision, said) in
            [(Decision::Allow, None), (Decision::Ask, Some("ask")), (Decision::Deny, Some("deny"))]
        {
            let answer = ClaudeCode.answer(Some(&event), &verdict(decision));
            assert_eq!((answer.exit, answer.stderr.as_str()), (0, ""));
            let answer = answered(&answer);
            let specific = answer.as_ref().map(|answer| &answer["hookSpecificOutput"]);
            assert_eq!(specific.and_then(|s| s["permissionDecision"].as_str()), said);
            assert_eq!(
                specific.is_some_and(|s| s["hookEventName"] == "PreToolUse"),
                said.is_some()
            );
        }
        let mut approved = verdict(Decision::Allow);
        approved.approves = true;
        let answer = answered(&ClaudeCode.answer(Some(&event), &approved)).unwrap();
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "allow");
    }
}
