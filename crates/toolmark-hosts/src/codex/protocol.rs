//! Hook protocol of Codex: `PreToolUse`, `PostToolUse` and `PermissionRequest`.
//!
//! The payloads are those of Claude Code plus a `turn_id`, but the answers differ. Codex
//! rejects an answer with an unknown key and then runs the call, and does the same with
//! `ask`, for which it has no dialogue. Therefore a call is stopped with exit code 2 and the
//! reason on standard error, whose meaning is the same in all versions, and calls that need a
//! question are stopped as well.

use crate::claude_code::ClaudeCodePayload;
use crate::protocol::{HookOutput, PayloadShape, Protocol, cannot_ask};
use crate::{GuardAnswer, HookEvent, Moment, PayloadError};
use serde_json::{Value, json};
use toolmark_shell::Decision;

const CANNOT_ASK: &str = "Codex cannot ask about a call";

/// Codex.
#[derive(Debug)]
pub(super) struct Codex;

impl Protocol for Codex {
    fn detect(&self, shape: &PayloadShape) -> u8 {
        if shape.hook_event_name.is_some() && shape.turn_id.is_some() { 90 } else { 0 }
    }

    fn read<'a>(&self, payload: &'a [u8]) -> Result<HookEvent<'a>, PayloadError> {
        let mut event = ClaudeCodePayload::parse(payload)?.event(super::ID)?;
        // The event is also sent for failed commands, without marking them.
        event.failed = None;
        Ok(event)
    }

    fn sample(&self, command: &str, cwd: &str, session: &str) -> Value {
        json!({
            "hook_event_name": "PreToolUse", "session_id": session, "turn_id": "sample",
            "transcript_path": null, "cwd": cwd, "permission_mode": "default",
            "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "sample",
        })
    }

    fn unasked(&self, _: &HookEvent<'_>) -> Option<String> {
        Some(CANNOT_ASK.to_owned())
    }

    fn answer(&self, event: Option<&HookEvent<'_>>, verdict: &GuardAnswer) -> HookOutput {
        let moment = event.map_or(Moment::Before, |event| event.moment);
        let stops = match (moment, verdict.decision) {
            (Moment::Before | Moment::Permission, Decision::Deny) => Some(verdict.words()),
            (Moment::Before, Decision::Ask) => Some(cannot_ask(verdict, CANNOT_ASK)),
            _ => None,
        };
        if let Some(mut words) = stops {
            if let Some(context) = &verdict.context {
                words.push('\n');
                words.push_str(context);
            }
            return HookOutput { stderr: words + "\n", exit: 2, ..HookOutput::default() };
        }
        let name = event.map_or("PreToolUse", |event| &event.name);
        match (moment, verdict.decision, &verdict.context) {
            (Moment::Permission, Decision::Allow, _) if verdict.approves => HookOutput::json(
                &json!({"hookSpecificOutput": {"hookEventName": name, "decision": {"behavior": "allow"}}}),
            ),
            (Moment::Before | Moment::After, _, Some(context)) => HookOutput::json(
                &json!({"hookSpecificOutput": {"hookEventName": name, "additionalContext": context}}),
            ),
            _ => HookOutput::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Args;
    use crate::tests::{answered, seen, verdict};

    const BEFORE: &str = r#"{"session_id":"s","turn_id":"t","transcript_path":null,"cwd":"/w",
        "hook_event_name":"PreToolUse","model":"m","permission_mode":"default",
        "tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"c1"}"#;

    #[test]
    fn payloads() {
        let event = seen("codex", BEFORE);
        assert_eq!((event.moment, &*event.tool, &*event.host), (Moment::Before, "Bash", "codex"));
        assert_eq!(event.args, Args::Json(json!({"command": "ls"})));
        assert_eq!((event.cwd.as_deref(), event.call_id.as_deref()), (Some("/w"), Some("c1")));

        let after = r#"{"session_id":"s","turn_id":"t","cwd":"/w","hook_event_name":"PostToolUse",
            "tool_name":"mcp__db__drop","tool_input":{},"tool_use_id":"c",
            "tool_response":{"content":[{"type":"text","text":"gone"}]}}"#;
        let event = seen("codex", after);
        assert_eq!((event.moment, event.failed), (Moment::After, None));
        assert!(event.result.unwrap().contains("gone"));

        let asked = r#"{"session_id":"s","turn_id":"t","cwd":"/w","agent_type":"helper",
            "hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"ls"}}"#;
        let event = seen("codex", asked);
        assert_eq!((event.moment, event.agent.as_deref()), (Moment::Permission, Some("helper")));
    }

    #[test]
    fn answers() {
        let event = seen("codex", BEFORE);
        let denied = Codex.answer(Some(&event), &verdict(Decision::Deny));
        assert_eq!((denied.exit, denied.stdout.as_str()), (2, ""));
        assert_eq!(denied.stderr, "toolmark guard (effect): why. instead\n");

        // Calls that need a question must not run, because Codex cannot ask.
        let asked = Codex.answer(Some(&event), &verdict(Decision::Ask));
        assert_eq!((asked.exit, asked.stdout.as_str()), (2, ""));
        assert!(asked.stderr.contains("why") && asked.stderr.contains("cannot ask"), "{asked:?}");
        assert_eq!(Codex.answer(None, &verdict(Decision::Ask)).exit, 2);

        // Codex rejects `allow`.
        let mut approved = verdict(Decision::Allow);
        approved.approves = true;
        assert_eq!(Codex.answer(Some(&event), &approved), HookOutput::default());
        assert_eq!(Codex.answer(Some(&event), &verdict(Decision::Allow)), HookOutput::default());
    }

    #[test]
    fn no_key_is_said_that_codex_does_not_know() {
        let known: &[&[&str]] = &[
            &["hookSpecificOutput"],
            &["hookEventName", "additionalContext", "decision"],
            &["behavior"],
        ];
        for name in ["PreToolUse", "PostToolUse", "PermissionRequest"] {
            let payload = BEFORE.replace("PreToolUse", name);
            let event = seen("codex", &payload);
            for decision in [Decision::Allow, Decision::Ask, Decision::Deny] {
                let mut verdict = verdict(decision);
                (verdict.context, verdict.approves) = (Some("words".into()), true);
                let answer = Codex.answer(Some(&event), &verdict);
                let Some(answer) = answered(&answer) else { continue };
                let mut level = vec![&answer];
                for keys in known {
                    let objects: Vec<_> = level.iter().filter_map(|v| v.as_object()).collect();
                    for key in objects.iter().flat_map(|o| o.keys()) {
                        assert!(keys.contains(&key.as_str()), "{name} {decision:?}: {key}");
                    }
                    level = objects.iter().flat_map(|o| o.values()).collect();
                }
            }
        }
    }
}
