//! The table of `toolset.yaml`, written by
//! `UPDATE_TABLES=1 cargo test -p toolmark-hosts tables`.

use crate::toolset::{Keys, Schema, Tool, ToolRole, Toolset};
use std::borrow::Cow::Borrowed as B;

#[rustfmt::skip]
pub(crate) static TOOLSET: Toolset = Toolset {
    id: B("claude-code"), title: B("Claude Code"),
    formats: B(&[B("claude-code"), B("claude-stream"), B("claude-hooks")]),
    agents: B(&[B("claude-code")]),
    tools: B(&[
        Tool { name: B("AskUserQuestion"), role: ToolRole::AsksUser, schema: Some(Schema(B(r#"{"type":"object","required":["questions"],"properties":{"questions":{"type":"array","minItems":1}}}"#))), ..Tool::NONE },
        Tool { name: B("Bash"), role: ToolRole::RunsShell, command: Keys(B(&[B("command")])), schema: Some(Schema(B(r#"{"type":"object","required":["command"],"additionalProperties":false,"properties":{"command":{"type":"string","minLength":1},"description":{"type":"string"},"timeout":{"type":"number","minimum":0},"run_in_background":{"type":"boolean"},"sandbox":{"type":"boolean"},"shellExecutable":{"type":"string"},"dangerouslyDisableSandbox":{"type":"boolean"},"_simulatedSedEdit":{"type":"object"}}}"#))), ..Tool::NONE },
        Tool { name: B("BashOutput"), role: ToolRole::TalksToShell, aliases: B(&[B("TaskOutput"), B("AgentOutputTool")]), schema: Some(Schema(B(r#"{"type":"object","properties":{"bash_id":{"type":"string"},"shell_id":{"type":"string"},"task_id":{"type":"string"},"filter":{"type":"string"},"block":{"type":"boolean"},"timeout":{"type":"number"},"wait_up_to":{"type":"number"}}}"#))), ..Tool::NONE },
        Tool { name: B("Edit"), role: ToolRole::Edits, path: Keys(B(&[B("file_path")])), old: Keys(B(&[B("old_string")])), new: Keys(B(&[B("new_string")])), all: Keys(B(&[B("replace_all")])), schema: Some(Schema(B(r#"{"type":"object","required":["file_path","old_string","new_string"],"additionalProperties":false,"properties":{"file_path":{"type":"string","minLength":1},"old_string":{"type":"string"},"new_string":{"type":"string"},"replace_all":{"type":"boolean"}}}"#))), ..Tool::NONE },
        Tool { name: B("EnterPlanMode"), role: ToolRole::Plans, ..Tool::NONE },
        Tool { name: B("ExitPlanMode"), role: ToolRole::Plans, aliases: B(&[B("exit_plan_mode")]), ..Tool::NONE },
        Tool { name: B("Glob"), role: ToolRole::SearchesNames, optional_since: Some(B("2.1.117")), path: Keys(B(&[B("path")])), pattern: Keys(B(&[B("pattern")])), schema: Some(Schema(B(r#"{"type":"object","required":["pattern"],"additionalProperties":false,"properties":{"pattern":{"type":"string","minLength":1},"path":{"type":"string"}}}"#))), ..Tool::NONE },
        Tool { name: B("Grep"), role: ToolRole::SearchesContent, optional_since: Some(B("2.1.117")), path: Keys(B(&[B("path")])), pattern: Keys(B(&[B("pattern")])), schema: Some(Schema(B(r#"{"type":"object","required":["pattern"],"additionalProperties":false,"properties":{"pattern":{"type":"string"},"path":{"type":"string"},"glob":{"type":"string"},"include":{"type":"string"},"type":{"type":"string"},"output_mode":{"type":"string","enum":["content","files_with_matches","count"]},"-A":{"type":"number","minimum":0},"-B":{"type":"number","minimum":0},"-C":{"type":"number","minimum":0},"context":{"type":"number","minimum":0},"-n":{"type":"boolean"},"-i":{"type":"boolean"},"-o":{"type":"boolean"},"head_limit":{"type":"number","minimum":0},"offset":{"type":"number","minimum":0},"multiline":{"type":"boolean"}}}"#))), ..Tool::NONE },
        Tool { name: B("KillShell"), role: ToolRole::TalksToShell, aliases: B(&[B("KillBash"), B("TaskStop")]), schema: Some(Schema(B(r#"{"type":"object","properties":{"shell_id":{"type":"string"},"task_id":{"type":"string"}}}"#))), ..Tool::NONE },
        Tool { name: B("LS"), role: ToolRole::Lists, optional: true, path: Keys(B(&[B("path")])), schema: Some(Schema(B(r#"{"type":"object","required":["path"],"additionalProperties":false,"properties":{"path":{"type":"string"},"ignore":{"type":"array","items":{"type":"string"}}}}"#))), ..Tool::NONE },
        Tool { name: B("ListMcpResourcesTool"), role: ToolRole::Other, ..Tool::NONE },
        Tool { name: B("MultiEdit"), role: ToolRole::Edits, path: Keys(B(&[B("file_path")])), old: Keys(B(&[B("old_string")])), new: Keys(B(&[B("new_string")])), all: Keys(B(&[B("replace_all")])), edits: Keys(B(&[B("edits")])), schema: Some(Schema(B(r#"{"type":"object","required":["file_path","edits"],"additionalProperties":false,"properties":{"file_path":{"type":"string","minLength":1},"edits":{"type":"array","minItems":1,"items":{"type":"object","required":["old_string","new_string"],"additionalProperties":false,"properties":{"old_string":{"type":"string"},"new_string":{"type":"string"},"replace_all":{"type":"boolean"}}}}}}"#))), ..Tool::NONE },
        Tool { name: B("NotebookEdit"), role: ToolRole::Other, path: Keys(B(&[B("notebook_path")])), schema: Some(Schema(B(r#"{"type":"object","required":["notebook_path","new_source"],"additionalProperties":false,"properties":{"notebook_path":{"type":"string","minLength":1},"cell_id":{"type":"string"},"cell_number":{"type":"number"},"new_source":{"type":"string"},"cell_type":{"type":"string","enum":["code","markdown"]},"edit_mode":{"type":"string","enum":["replace","insert","delete"]}}}"#))), ..Tool::NONE },
        Tool { name: B("NotebookRead"), role: ToolRole::Other, path: Keys(B(&[B("notebook_path")])), schema: Some(Schema(B(r#"{"type":"object","required":["notebook_path"],"additionalProperties":false,"properties":{"notebook_path":{"type":"string","minLength":1},"cell_id":{"type":"string"}}}"#))), ..Tool::NONE },
        Tool { name: B("PowerShell"), role: ToolRole::RunsShell, optional: true, command: Keys(B(&[B("command")])), ..Tool::NONE },
        Tool { name: B("Read"), role: ToolRole::Reads, path: Keys(B(&[B("file_path")])), offset: Keys(B(&[B("offset")])), limit: Keys(B(&[B("limit")])), line_marks: B(&[B("→"), B("\t")]), schema: Some(Schema(B(r#"{"type":"object","required":["file_path"],"additionalProperties":false,"properties":{"file_path":{"type":"string","minLength":1},"offset":{"type":"number","minimum":0},"limit":{"type":"number","exclusiveMinimum":0},"pages":{"type":"string"}}}"#))), ..Tool::NONE },
        Tool { name: B("ReadMcpResourceTool"), role: ToolRole::Other, ..Tool::NONE },
        Tool { name: B("Skill"), role: ToolRole::Other, schema: Some(Schema(B(r#"{"type":"object","properties":{"skill":{"type":"string"},"command":{"type":"string"},"args":{"type":"string"}}}"#))), ..Tool::NONE },
        Tool { name: B("SlashCommand"), role: ToolRole::Other, ..Tool::NONE },
        Tool { name: B("Task"), role: ToolRole::Dispatches, aliases: B(&[B("Agent")]), schema: Some(Schema(B(r#"{"type":"object","required":["prompt"],"properties":{"description":{"type":"string"},"prompt":{"type":"string","minLength":1},"subagent_type":{"type":"string"},"model":{"type":"string"},"resume":{"type":"string"},"run_in_background":{"type":"boolean"},"max_turns":{"type":"integer","exclusiveMinimum":0}}}"#))), ..Tool::NONE },
        Tool { name: B("TaskCreate"), role: ToolRole::Plans, schema: Some(Schema(B(r#"{"type":"object","required":["subject"],"properties":{"subject":{"type":"string","minLength":1},"description":{"type":"string"}}}"#))), ..Tool::NONE },
        Tool { name: B("TaskGet"), role: ToolRole::Plans, ..Tool::NONE },
        Tool { name: B("TaskList"), role: ToolRole::Plans, ..Tool::NONE },
        Tool { name: B("TaskUpdate"), role: ToolRole::Plans, ..Tool::NONE },
        Tool { name: B("TodoRead"), role: ToolRole::Plans, ..Tool::NONE },
        Tool { name: B("TodoWrite"), role: ToolRole::Plans, schema: Some(Schema(B(r#"{"type":"object","required":["todos"],"properties":{"todos":{"type":"array"}}}"#))), ..Tool::NONE },
        Tool { name: B("ToolSearch"), role: ToolRole::Other, ..Tool::NONE },
        Tool { name: B("WebFetch"), role: ToolRole::FetchesWeb, schema: Some(Schema(B(r#"{"type":"object","required":["url"],"additionalProperties":false,"properties":{"url":{"type":"string","minLength":1},"prompt":{"type":"string"}}}"#))), ..Tool::NONE },
        Tool { name: B("WebSearch"), role: ToolRole::FetchesWeb, schema: Some(Schema(B(r#"{"type":"object","required":["query"],"additionalProperties":false,"properties":{"query":{"type":"string","minLength":1},"allowed_domains":{"type":"array","items":{"type":"string"}},"blocked_domains":{"type":"array","items":{"type":"string"}}}}"#))), ..Tool::NONE },
        Tool { name: B("Write"), role: ToolRole::Writes, path: Keys(B(&[B("file_path")])), content: Keys(B(&[B("content")])), schema: Some(Schema(B(r#"{"type":"object","required":["file_path","content"],"additionalProperties":false,"properties":{"file_path":{"type":"string","minLength":1},"content":{"type":"string"}}}"#))), ..Tool::NONE },
    ]),
    confusable: B(&[
        [B("Read"), B("Glob")],
        [B("Grep"), B("Glob")],
        [B("Edit"), B("Write")],
        [B("Bash"), B("Read")],
        [B("Bash"), B("Grep")],
        [B("Bash"), B("Glob")],
        [B("Bash"), B("Edit")],
    ]),
};
