//! The table of `toolset.yaml`, written by
//! `UPDATE_TABLES=1 cargo test -p toolmark-hosts tables`.

use crate::toolset::{ArgumentKeys, KeepsDirectory, Tool, ToolRole, ToolSchema, Toolset};
use std::borrow::Cow::Borrowed as B;

#[rustfmt::skip]
pub(crate) static TOOLSET: Toolset = Toolset {
    id: B("codex"), title: B("Codex"),
    formats: B(&[B("codex-rollout"), B("codex-exec")]),
    agents: B(&[B("codex")]),
    tools: B(&[
        Tool { name: B("apply_patch"), role: ToolRole::Patches, patch: ArgumentKeys(B(&[B("input"), B("patch"), B("command")])), results: B(&[(B("failed"), B(&[B("Failed to find expected lines"), B("Failed to find context")])), (B("not-found"), B(&[B("Failed to read file to update*No such file")]))]), ..Tool::NONE },
        Tool { name: B("command_execution"), role: ToolRole::RunsShell, command: ArgumentKeys(B(&[B("command")])), ..Tool::NONE },
        Tool { name: B("exec_command"), role: ToolRole::RunsShell, command: ArgumentKeys(B(&[B("cmd")])), directory: ArgumentKeys(B(&[B("workdir")])), schema: Some(ToolSchema(B(r#"{"type":"object","required":["cmd"],"properties":{"cmd":{"type":"string","minLength":1},"workdir":{"type":"string"},"shell":{"type":"string"},"login":{"type":"boolean"},"tty":{"type":"boolean"},"yield_time_ms":{"type":"number","minimum":0},"max_output_tokens":{"type":"number","minimum":0},"sandbox_permissions":{"type":"string"},"with_escalated_permissions":{"type":"boolean"},"justification":{"type":"string"}}}"#))), ..Tool::NONE },
        Tool { name: B("file_change"), role: ToolRole::Patches, ..Tool::NONE },
        Tool { name: B("grep_files"), role: ToolRole::SearchesContent, optional: true, path: ArgumentKeys(B(&[B("path")])), pattern: ArgumentKeys(B(&[B("pattern")])), schema: Some(ToolSchema(B(r#"{"type":"object","required":["pattern"],"properties":{"pattern":{"type":"string","minLength":1},"include":{"type":"string"},"path":{"type":"string"},"limit":{"type":"number","minimum":1}}}"#))), ..Tool::NONE },
        Tool { name: B("list_dir"), role: ToolRole::Lists, optional: true, path: ArgumentKeys(B(&[B("dir_path")])), schema: Some(ToolSchema(B(r#"{"type":"object","required":["dir_path"],"properties":{"dir_path":{"type":"string","minLength":1},"offset":{"type":"number","minimum":1},"limit":{"type":"number","minimum":1},"depth":{"type":"number","minimum":1}}}"#))), ..Tool::NONE },
        Tool { name: B("read_file"), role: ToolRole::Reads, optional: true, path: ArgumentKeys(B(&[B("file_path")])), offset: ArgumentKeys(B(&[B("offset")])), limit: ArgumentKeys(B(&[B("limit")])), line_marks: B(&[B(": ")]), results: B(&[(B("usage-error"), B(&[B("offset exceeds file length"), B("file_path must be an absolute path")]))]), schema: Some(ToolSchema(B(r#"{"type":"object","required":["file_path"],"properties":{"file_path":{"type":"string","minLength":1},"offset":{"type":"number","minimum":1},"limit":{"type":"number","minimum":1},"mode":{"type":"string"},"indentation":{"type":"object"}}}"#))), ..Tool::NONE },
        Tool { name: B("request_user_input"), role: ToolRole::AsksUser, ..Tool::NONE },
        Tool { name: B("shell"), role: ToolRole::RunsShell, aliases: B(&[B("container.exec"), B("local_shell")]), command: ArgumentKeys(B(&[B("command")])), directory: ArgumentKeys(B(&[B("workdir"), B("working_directory")])), schema: Some(ToolSchema(B(r#"{"type":"object","required":["command"],"properties":{"command":{"type":["array","string"],"items":{"type":"string"},"minItems":1},"workdir":{"type":["string","null"]},"working_directory":{"type":["string","null"]},"timeout":{"type":["number","null"],"minimum":0},"timeout_ms":{"type":["number","null"],"minimum":0},"sandbox_permissions":{"type":["string","null"]},"with_escalated_permissions":{"type":["boolean","null"]},"justification":{"type":["string","null"]}}}"#))), ..Tool::NONE },
        Tool { name: B("shell_command"), role: ToolRole::RunsShell, aliases: B(&[B("Bash")]), command: ArgumentKeys(B(&[B("command")])), directory: ArgumentKeys(B(&[B("workdir")])), schema: Some(ToolSchema(B(r#"{"type":"object","required":["command"],"properties":{"command":{"type":"string","minLength":1},"workdir":{"type":["string","null"]},"timeout_ms":{"type":["number","null"],"minimum":0},"login":{"type":["boolean","null"]},"with_escalated_permissions":{"type":["boolean","null"]},"justification":{"type":["string","null"]}}}"#))), ..Tool::NONE },
        Tool { name: B("spawn_agent"), role: ToolRole::Dispatches, ..Tool::NONE },
        Tool { name: B("todo_list"), role: ToolRole::Plans, ..Tool::NONE },
        Tool { name: B("tool_search"), role: ToolRole::Other, optional: true, ..Tool::NONE },
        Tool { name: B("update_plan"), role: ToolRole::Plans, schema: Some(ToolSchema(B(r#"{"type":"object","required":["plan"],"properties":{"explanation":{"type":["string","null"]},"plan":{"type":"array"}}}"#))), ..Tool::NONE },
        Tool { name: B("view_image"), role: ToolRole::Other, path: ArgumentKeys(B(&[B("path")])), results: B(&[(B("not-found"), B(&[B("^unable to locate image")]))]), schema: Some(ToolSchema(B(r#"{"type":"object","required":["path"],"properties":{"path":{"type":"string","minLength":1}}}"#))), ..Tool::NONE },
        Tool { name: B("wait"), role: ToolRole::TalksToShell, optional: true, ..Tool::NONE },
        Tool { name: B("web_search"), role: ToolRole::FetchesWeb, aliases: B(&[B("web_search_call")]), ..Tool::NONE },
        Tool { name: B("write_stdin"), role: ToolRole::TalksToShell, schema: Some(ToolSchema(B(r#"{"type":"object","required":["session_id"],"properties":{"session_id":{"type":["number","string"]},"chars":{"type":"string"},"yield_time_ms":{"type":"number","minimum":0},"max_output_tokens":{"type":"number","minimum":0}}}"#))), ..Tool::NONE },
    ]),
    confusable: B(&[
        [B("exec_command"), B("apply_patch")],
        [B("exec_command"), B("read_file")],
        [B("exec_command"), B("grep_files")],
    ]),
    results: B(&[(B("cut-off"), B(&[B("^aborted by user"), B("^aborted"), B("^command timed out after"), B("^execution interrupted"), B("^tool call was interrupted"), B("^tool call error*timed out")])), (B("failed"), B(&[B("^Script failed")])), (B("refused"), B(&[B("^patch rejected by user"), B("rejected by user"), B("^rejected: "), B("^exec_command failed: rejected"), B("was rejected by the user"), B("^sandbox denied exec"), B("^approval policy is"), B("^writing outside of the project; rejected by user approval settings")])), (B("still-running"), B(&[B("^Process running with session ID"), B("^Script running with cell ID")])), (B("usage-error"), B(&[B("^failed to parse function arguments"), B("^unsupported call"), B("^apply_patch verification failed*invalid"), B("^invalid patch"), B("^Unknown process id"), B("^write_stdin failed*Unknown process")]))]),
    keeps_directory: KeepsDirectory::Never,
};
