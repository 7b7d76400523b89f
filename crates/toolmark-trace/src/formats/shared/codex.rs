//! Parts shared by several Codex formats: token totals, the outcome of calls, text that Codex
//! adds to user messages, and the first record of a session.

use crate::builder::TrajectoryBuilder;
use crate::format::Record;
use crate::model::{
    Convention, EventKind, Payload, Status, StatusLevel, Step, Text, ToolDefinition, Usage,
    UsageTokens, time,
};
use jiff::SignedDuration;
use toolmark_scan::{Value, unescape};

/// Events without additional information about the calls and messages of the other view.
pub(crate) const NOTED_EVENTS: &[&str] = &[
    "agent_message",
    "agent_message_delta",
    "agent_reasoning",
    "agent_reasoning_delta",
    "agent_reasoning_raw_content",
    "agent_reasoning_section_break",
    "apply_patch_approval_request",
    "background_event",
    "collab_agent_interaction_begin",
    "collab_agent_spawn_begin",
    "collab_close_begin",
    "collab_resume_begin",
    "collab_waiting_begin",
    "context_compacted",
    "deprecation_notice",
    "dynamic_tool_call_request",
    "elicitation_request",
    "entered_review_mode",
    "exec_approval_request",
    "exec_command_begin",
    "exec_command_output_delta",
    "exited_review_mode",
    "guardian_assessment",
    "image_generation_begin",
    "item_started",
    "list_skills_response",
    "mcp_startup_complete",
    "mcp_startup_update",
    "mcp_tool_call_begin",
    "model_reroute",
    "patch_apply_begin",
    "plan_delta",
    "plan_update",
    "raw_response_item",
    "request_permissions",
    "request_user_input",
    "session_configured",
    "shutdown_complete",
    "sub_agent_activity",
    "task_started",
    "terminal_interaction",
    "thread_goal_updated",
    "thread_name_updated",
    "thread_rolled_back",
    "thread_settings_applied",
    "turn_diff",
    "turn_started",
    "undo_completed",
    "undo_started",
    "view_image_tool_call",
    "warning",
    "web_search_begin",
    "web_search_end",
];

/// Cumulative token counts of a run, or the counts of one response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) tokens: UsageTokens,
    pub(crate) total: Option<u64>,
}

impl Totals {
    pub(crate) fn new(usage: Value<'_>) -> Self {
        let mut tokens = UsageTokens::default();
        let mut total = None;
        for (key, value) in usage.fields() {
            let slot = match key.inner().unwrap_or("") {
                "input_tokens" => &mut tokens.input,
                "cached_input_tokens" => &mut tokens.cache_read,
                "cache_write_input_tokens" => &mut tokens.cache_write,
                "output_tokens" => &mut tokens.output,
                "reasoning_output_tokens" => &mut tokens.reasoning,
                "total_tokens" => {
                    total = value.as_u64();
                    continue;
                }
                _ => continue,
            };
            *slot = value.as_u64().unwrap_or(0);
        }
        Self { tokens, total }
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.tokens.is_zero() && self.total.unwrap_or(0) == 0
    }

    /// Returns the usage since `before`. Totals that decreased were reset.
    pub(crate) fn since(self, before: Option<Self>) -> Usage {
        let all =
            |t: &Self| t.total.unwrap_or_else(|| t.tokens.input.saturating_add(t.tokens.output));
        let before = before.filter(|b| all(b) <= all(&self));
        let past = before.map(|b| b.tokens).unwrap_or_default();
        let now = self.tokens;
        let tokens = UsageTokens {
            input: now.input.saturating_sub(past.input),
            output: now.output.saturating_sub(past.output),
            cache_read: now.cache_read.saturating_sub(past.cache_read),
            cache_write: now.cache_write.saturating_sub(past.cache_write),
            cache_write_1h: 0,
            reasoning: now.reasoning.saturating_sub(past.reasoning),
        };
        let past_total = before.and_then(|b| b.total).unwrap_or(0);
        let stated_total = self.total.map(|t| t.saturating_sub(past_total));
        Usage { stated_total, ..Usage::new(tokens, Convention::INCLUSIVE) }
    }
}

/// Outcome of a call, read from an event about it.
#[derive(Default)]
pub(crate) struct CodexOutcome<'a> {
    pub(crate) status: Option<(Status, StatusLevel)>,
    pub(crate) exit_code: Option<i64>,
    pub(crate) duration: Option<SignedDuration>,
    /// Thread of the agent that the call started.
    pub(crate) new_thread: Option<Value<'a>>,
}

impl<'a> CodexOutcome<'a> {
    pub(crate) fn new(event: Value<'a>) -> Self {
        let mut mark = Self::default();
        let (mut word, mut failed) = (None, None);
        for (key, value) in event.fields() {
            if value.is_null() {
                continue;
            }
            match key.inner().unwrap_or("") {
                "exit_code" => mark.exit_code = value.as_i64(),
                "success" => failed = value.as_bool().map(|ok| !ok).or(failed),
                "status" => word = status_word(value),
                "duration" => mark.duration = duration(value),
                "duration_ms" => mark.duration = value.as_f64().and_then(time::millis),
                "result" => failed = mcp_failed(value).or(failed),
                "error" => failed = Some(true),
                "new_thread_id" => mark.new_thread = Some(value),
                _ => {}
            }
        }
        let by_code = mark.exit_code.map(|code| (outcome(code != 0), StatusLevel::ExitCode));
        let by_field = failed.map(|failed| (outcome(failed), StatusLevel::Protocol));
        let denied = word.filter(|(status, _)| *status == Status::Denied);
        mark.status = denied.or(by_field).or(by_code).or(word);
        mark
    }
}

fn outcome(failed: bool) -> Status {
    if failed { Status::Failed } else { Status::Succeeded }
}

/// Parses the values of a `status` field that give the outcome of a call.
pub(crate) fn status_word(status: Value<'_>) -> Option<(Status, StatusLevel)> {
    match status.inner()? {
        "completed" => Some((Status::Succeeded, StatusLevel::Protocol)),
        "failed" => Some((Status::Failed, StatusLevel::Protocol)),
        "declined" => Some((Status::Denied, StatusLevel::Denial)),
        _ => None,
    }
}

/// Parses `{"Ok":{…,"isError":true}}`, `{"Err":"…"}` or only the result.
fn mcp_failed(result: Value<'_>) -> Option<bool> {
    if result.get("Err").is_some() {
        return Some(true);
    }
    if !result.is_object() {
        return None;
    }
    let ok = result.get("Ok").unwrap_or(result);
    Some(ok.get("isError").and_then(Value::as_bool).unwrap_or(false))
}

/// Parses `{"secs":1,"nanos":5}`, or milliseconds.
fn duration(value: Value<'_>) -> Option<SignedDuration> {
    if !value.is_object() {
        return value.as_f64().and_then(time::millis);
    }
    let seconds = value.get("secs").and_then(Value::as_u64)?;
    let nanos = value.get("nanos").and_then(Value::as_u64).unwrap_or(0);
    time::millis(seconds as f64 * 1e3 + nanos as f64 / 1e6)
}

/// Returns the content of the first string of a content value, without decoding it.
pub(crate) fn first_inner(content: Value<'_>) -> &str {
    let content = match content.is_object() {
        true => content.get("content").or(content.get("text")).unwrap_or(content),
        false => content,
    };
    match content.inner() {
        Some(inner) => inner,
        None => content.items().find_map(|b| b.get("text")?.inner()).unwrap_or(""),
    }
}

/// Returns the status if a result means that the call was refused or interrupted. Only text
/// that Codex itself writes in place of a result counts, not the output of a tool.
pub(crate) fn refusal(inner: &str) -> Option<Status> {
    const BY_CODEX: [&str; 6] = [
        "exec_command failed",
        "exec command rejected",
        "execution error",
        "patch rejected",
        "rejected",
        "This action was rejected",
    ];
    if inner == "aborted" || inner.starts_with("aborted by user") {
        return Some(Status::Interrupted);
    }
    if !BY_CODEX.iter().any(|b| inner.starts_with(b)) {
        return None;
    }
    let start: &str = inner.split(r"\n").next().unwrap_or("");
    let refused = start.contains("rejected by user")
        || start.contains("rejected: ")
        || start.starts_with("This action was rejected");
    refused.then_some(Status::Denied)
}

/// Returns the status if a result without a status field is Codex's own statement about how the
/// call ended.
pub(crate) fn own_statement(inner: &str) -> Option<Status> {
    const FAILED: [&str; 6] = [
        "Script failed",
        "apply_patch verification failed",
        "exec_command failed",
        "write_stdin failed",
        "failed to parse function arguments",
        "unsupported call",
    ];
    if FAILED.iter().any(|start| inner.starts_with(start)) {
        return Some(Status::Failed);
    }
    inner.starts_with("Script completed").then_some(Status::Succeeded)
}

/// Text in a user message that the client wrote.
#[derive(Debug, PartialEq)]
pub(crate) enum Injected {
    Context,
    /// The instructions of a skill, by its name.
    Skill(String),
}

/// Returns the injected text if Codex itself wrote the content of a user message.
pub(crate) fn injected(content: Option<Value<'_>>) -> Option<Injected> {
    const CONTEXT: [&str; 13] = [
        "<environment_context>",
        "<user_instructions>",
        "# AGENTS.md instructions",
        "<INSTRUCTIONS>",
        "<turn_aborted>",
        "<user_shell_command>",
        "<subagent_notification>",
        "<permissions instructions>",
        "<collaboration_mode>",
        "<apps_instructions>",
        "<skills_instructions>",
        "<plugins_instructions>",
        "<model_switch>",
    ];
    let inner = content.map(first_inner).unwrap_or("").trim_start();
    if let Some(skill) = inner.strip_prefix("<skill>") {
        let name = skill.split_once("<name>").and_then(|(_, rest)| rest.split_once("</name>"));
        return Some(Injected::Skill(unescape(name.map_or("", |(n, _)| n)).into_owned()));
    }
    CONTEXT.iter().any(|mark| inner.starts_with(mark)).then_some(Injected::Context)
}

/// Returns the user's request in a message that starts with the editor's open files; `None`
/// if the message contains nothing else.
pub(crate) fn request(content: Value<'_>) -> Option<Payload> {
    const HEADING: &str = "## My request for Codex:";
    if !first_inner(content).trim_start_matches(r"\n").starts_with('#') {
        return None;
    }
    let text = content.str().or_else(|| content.items().find_map(|b| b.get("text")?.str()))?;
    let (before, request) = text.split_once(HEADING)?;
    let is_heading = before.is_empty() || before.ends_with('\n');
    let request = request.trim();
    (is_heading && !request.is_empty()).then(|| Payload::text(Text::owned(request)))
}

/// Returns the thread that started this one, from `source` of the session record.
pub(crate) fn spawning_thread(source: Value<'_>) -> Option<Value<'_>> {
    let spawn = source.at(&["subagent", "thread_spawn"])?;
    spawn.get("parent_thread_id").filter(|v| v.is_string())
}

/// Reads tools provided by the client, flat or grouped by namespace.
pub(crate) fn tool_definitions(record: &Record<'_>, tools: Value<'_>) -> Vec<ToolDefinition> {
    let mut found = Vec::new();
    let groups = if tools.is_object() { tools.get("tools").unwrap_or(tools) } else { tools };
    for group in groups.items() {
        let nested = group.get("tools").filter(|t| t.is_array());
        let single = nested.is_none().then_some(group);
        for tool in nested.into_iter().flat_map(Value::items).chain(single) {
            let Some(name) = record.text_at(tool, "name") else { continue };
            let schema = tool.get("inputSchema").or(tool.get("parameters"));
            found.push(ToolDefinition {
                name,
                description: record.text_at(tool, "description"),
                schema: schema.map(|s| record.payload(s)),
            });
        }
    }
    found
}

/// Marks each message as a step: without marked responses, only messages are known to belong
/// to different ones.
pub(crate) fn messages_as_steps(b: &mut TrajectoryBuilder) {
    let run = &mut b.run;
    let mut steps = Vec::new();
    for event in &mut run.events {
        let Some(old) = event.step.take().and_then(|s| run.steps.get(s as usize)) else { continue };
        if event.kind == EventKind::Message {
            event.step = Some(steps.len() as u32);
            let (time, at) = (event.time, event.at.clone());
            steps.push(Step { time, at, complete: true, ..old.clone() });
        }
    }
    for call in &mut run.calls {
        call.step = None;
    }
    run.steps = steps;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_that_fall_began_anew() {
        let at = |input, total| Totals {
            tokens: UsageTokens { input, ..UsageTokens::default() },
            total: Some(total),
        };
        assert_eq!(at(10, 12).since(None).total(), 12);
        assert_eq!(at(15, 20).since(Some(at(10, 12))).recorded.input, 5);
        assert_eq!(at(4, 6).since(Some(at(10, 12))).total(), 6);
    }

    #[test]
    fn a_request_is_not_the_open_tabs() {
        for (json, want) in [
            (r#""fix it""#, None),
            (r##""# A title\n\nmy words""##, None),
            (
                r##""# Context from my IDE setup:\n\n## Open tabs:\n- a.rs\n\n## My request for Codex:\nfix it\n""##,
                Some("fix it"),
            ),
            (
                r##"[{"type":"input_text","text":"# Files mentioned by the user:\n\n## My request for Codex:\ngo"}]"##,
                Some("go"),
            ),
            (r##""# Context from my IDE setup:\n\n## My request for Codex:\n""##, None),
        ] {
            let mut scanner = toolmark_scan::Scanner::new();
            let doc = scanner.parse(json).unwrap();
            let found = request(doc.root()).map(|r| r.plain().into_owned());
            assert_eq!(found.as_deref(), want, "{json}");
        }
    }

    #[test]
    fn refusals_are_codex_own_words() {
        for (inner, want) in [
            ("aborted by user after 3.2s", Some(Status::Interrupted)),
            (r"exec_command failed for `rm x`: rejected by user\nmore", Some(Status::Denied)),
            ("patch rejected by user", Some(Status::Denied)),
            ("the log says: rejected by user", None),
            ("exec_command failed: no such program", None),
        ] {
            assert_eq!(refusal(inner), want, "{inner}");
        }
    }

    #[test]
    fn own_statements() {
        for (inner, want) in [
            (r"Script failed\nWall time 0.1 seconds\nOutput:\n", Some(Status::Failed)),
            (r"Script completed\nWall time 0.1 seconds\nOutput:\n", Some(Status::Succeeded)),
            (r"Script running with cell ID 3\nOutput:\n", None),
            ("apply_patch verification failed: invalid hunk", Some(Status::Failed)),
            ("the script says: Script failed", None),
        ] {
            assert_eq!(own_statement(inner), want, "{inner}");
        }
    }
}
