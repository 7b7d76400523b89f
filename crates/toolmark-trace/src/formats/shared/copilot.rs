//! Parts of the events of GitHub Copilot: tool requests, tool names, token counts, pending
//! permission requests, and the kinds that are kept as notes.

use crate::builder::{NewCall, TrajectoryBuilder};
use crate::format::Record;
use crate::model::{EventKind, Text, ToolName, UsageTokens};
use jiff::Timestamp;
use std::collections::VecDeque;
use toolmark_scan::Value;

/// Reads a tool request of the model.
pub(crate) fn request_call(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    request: Value<'_>,
    step: u32,
    time: Option<Timestamp>,
) {
    let (mut id, mut name, mut args, mut server, mut tool) = (None, None, None, None, None);
    for (key, value) in request.fields() {
        match key.inner().unwrap_or("") {
            "toolCallId" => id = Some(value),
            "name" => name = Some(value),
            "arguments" => args = Some(value).filter(|a| !a.is_null()),
            "mcpServerName" => server = Some(value),
            "mcpToolName" => tool = Some(value),
            _ => {}
        }
    }
    let args = args.map(|a| record.payload(a));
    if let Some(index) = id.and_then(Value::str).and_then(|id| b.find(&id)) {
        let call = &b.run.calls[index as usize];
        if call.step.is_none() {
            adopt(b, index, step);
            return;
        }
        if call.result.is_none() || call.args == args {
            return;
        }
    }
    b.call(NewCall {
        id: id.and_then(|i| record.text(i)),
        name: tool_name(record, name, server, tool),
        args,
        step: Some(step),
        time,
        at: record.at_value(request),
    });
}

/// Assigns a call to a step. Some versions wrote the start of a call before the message that
/// requests it.
fn adopt(b: &mut TrajectoryBuilder, call: u32, step: u32) {
    const MAX_EVENTS_BACK: usize = 64;
    b.run.calls[call as usize].step = Some(step);
    let event = b
        .run
        .events
        .iter_mut()
        .rev()
        .take(MAX_EVENTS_BACK)
        .find(|e| e.kind == EventKind::Call(call));
    if let Some(event) = event {
        event.step = Some(step);
    }
}

/// Returns the name of a tool; a tool of an MCP server is written `server-tool`.
pub(crate) fn tool_name(
    record: &Record<'_>,
    name: Option<Value<'_>>,
    server: Option<Value<'_>>,
    tool: Option<Value<'_>>,
) -> ToolName {
    let split = || {
        let (server, tool) = (server?.inner()?, tool?);
        let separator = name?.inner()?.strip_prefix(server)?.strip_suffix(tool.inner()?)?;
        let namespace = Text::owned(format!("{server}{separator}"));
        Some(ToolName { original: record.text(name?)?, namespace: Some(namespace) })
    };
    split().unwrap_or_else(|| {
        let name = name.and_then(|n| record.text(n));
        ToolName::or_empty(name)
    })
}

/// Reads `inputTokens` and the related counts.
pub(crate) fn tokens(usage: Value<'_>) -> UsageTokens {
    let mut tokens = UsageTokens::default();
    for (key, value) in usage.fields() {
        let slot = match key.inner().unwrap_or("") {
            "inputTokens" => &mut tokens.input,
            "outputTokens" => &mut tokens.output,
            "cacheReadTokens" => &mut tokens.cache_read,
            "cacheWriteTokens" => &mut tokens.cache_write,
            "reasoningTokens" => &mut tokens.reasoning,
            _ => continue,
        };
        *slot = value.as_u64().unwrap_or(0);
    }
    tokens
}

/// Returns the tokens of all models, or those of the details if the models have none.
pub(crate) fn shutdown_tokens(data: Value<'_>) -> Option<UsageTokens> {
    let mut sum: Option<UsageTokens> = None;
    for (_, model) in data.get("modelMetrics").into_iter().flat_map(Value::fields) {
        if let Some(usage) = model.get("usage") {
            sum.get_or_insert_default().add(tokens(usage));
        }
    }
    sum.or_else(|| {
        let details = data.get("tokenDetails").filter(|d| d.is_object())?;
        let count = |key| details.at(&[key, "tokenCount"]).and_then(Value::as_u64).unwrap_or(0);
        let (cache_read, cache_write) = (count("cache_read"), count("cache_write"));
        // Here the input excludes tokens read from or written to the cache.
        let input = count("input").saturating_add(cache_read).saturating_add(cache_write);
        Some(UsageTokens {
            input,
            output: count("output"),
            cache_read,
            cache_write,
            cache_write_1h: 0,
            reasoning: 0,
        })
    })
}

/// Pending permission requests and hooks, with their calls.
#[derive(Default)]
pub(crate) struct Requests(VecDeque<(Text, Text)>);

impl Requests {
    /// Records the call of a request.
    pub(crate) fn put(
        &mut self,
        record: &Record<'_>,
        request: Option<Value<'_>>,
        call: Option<Value<'_>>,
    ) {
        const MAX_REQUESTS: usize = 256;
        let text = |v: Option<Value<'_>>| v.and_then(|v| record.text(v));
        let (Some(request), Some(call)) = (text(request), text(call)) else { return };
        if self.0.len() == MAX_REQUESTS {
            self.0.pop_front();
        }
        self.0.push_back((request, call));
    }

    /// Removes a request that is now decided, and returns its call.
    pub(crate) fn take(&mut self, request: Option<Value<'_>>) -> Option<Text> {
        let request = request?.str()?;
        let found = self.0.iter().rposition(|(known, _)| known.is(&request))?;
        self.0.remove(found).map(|(_, call)| call)
    }
}

/// Returns whether the event kind is known and adds nothing about the run.
#[rustfmt::skip]
pub(crate) fn is_note(kind: &str) -> bool {
    matches!(
        kind,
        "assistant.fusion_phase_activity" | "assistant.fusion_phase_completed"
        | "assistant.fusion_phase_failed" | "assistant.fusion_phase_started" | "assistant.idle"
        | "assistant.intent" | "assistant.message_delta" | "assistant.message_start"
        | "assistant.reasoning_delta" | "assistant.server_tool_progress"
        | "assistant.streaming_delta" | "assistant.tool_call_delta" | "assistant.turn_retry"
        | "assistant.turn_start" | "auto_mode_switch.completed" | "auto_mode_switch.requested"
        | "capabilities.changed" | "command.completed" | "command.execute" | "command.queued"
        | "commands.changed" | "elicitation.completed" | "elicitation.requested"
        | "exit_plan_mode.completed" | "exit_plan_mode.requested" | "external_tool.completed"
        | "external_tool.requested" | "factory.run_settled" | "factory.run_started"
        | "factory.run_updated" | "hook.progress" | "human_response.recorded"
        | "mcp.headers_refresh_completed" | "mcp.headers_refresh_required" | "mcp.oauth_completed"
        | "mcp.oauth_required" | "mcp.prompts.list_changed" | "mcp.resources.list_changed"
        | "mcp.tools.list_changed" | "mcp_app.tool_call_complete" | "model.call_final_result"
        | "model.call_finished" | "model.call_start" | "pending_messages.modified"
        | "permission.assentDetected" | "permission.carriedForward"
        | "permission.contextualAuthorization" | "permission.messageAuthorization"
        | "permission.messageAuthorizationDegraded" | "permission.messageAuthorizationRead"
        | "prompt_cache_break" | "sampling.completed" | "sampling.requested" | "sandbox.decision"
        | "session.auto_mode_resolved" | "session.auto_tier_recommendation"
        | "session.auto_tier_switch_failed" | "session.autopilot_objective_changed"
        | "session.background_tasks_changed" | "session.binary_asset" | "session.canvas.closed"
        | "session.canvas.opened" | "session.canvas.recorded" | "session.canvas.registry_changed"
        | "session.canvas.removed" | "session.canvas.unavailable" | "session.compaction_start"
        | "session.completion_receipt" | "session.context_cleared" | "session.custom_agents_updated"
        | "session.custom_notification" | "session.extensions.attachments_pushed"
        | "session.extensions_loaded" | "session.fusion_completed" | "session.fusion_resolved"
        | "session.fusion_route_failed" | "session.fusion_route_started" | "session.handoff"
        | "session.idle" | "session.import_legacy" | "session.indexed_search" | "session.info"
        | "session.managed_plugin_progress" | "session.managed_settings_enforced"
        | "session.managed_settings_resolved" | "session.mcp_server_needs_reconnect"
        | "session.mcp_server_removed" | "session.mcp_server_status_changed"
        | "session.mcp_servers_loaded" | "session.mode_changed" | "session.mode_notice_delivered"
        | "session.model_deselected" | "session.permission_recovery"
        | "session.permissions_changed" | "session.plan_changed" | "session.quota_observation"
        | "session.remote_steerable_changed" | "session.schedule_cancelled"
        | "session.schedule_created" | "session.schedule_rearmed"
        | "session.session_limits_changed" | "session.skills_loaded" | "session.snapshot_rewind"
        | "session.task_complete" | "session.todos_changed" | "session.tools_updated"
        | "session.usage_checkpoint" | "session.usage_info" | "session.warning"
        | "session.workspace_file_changed" | "session_limits_exhausted.completed"
        | "session_limits_exhausted.requested" | "skill.context_delivered"
        | "skill.context_delivered_ref" | "subagent.deselected" | "subagent.selected"
        | "tool.execution_partial_result" | "tool.execution_progress" | "tool.shell_output"
        | "tool_search.activated" | "ui.ephemeral_query" | "user_input.completed"
        | "user_input.requested" | "workflow.run_settled" | "workflow.run_started"
        | "workflow.run_updated"
    )
}
