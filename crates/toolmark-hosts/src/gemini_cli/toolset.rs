//! The table of `toolset.yaml`, written by
//! `UPDATE_TABLES=1 cargo test -p toolmark-hosts tables`.

use crate::toolset::{ArgumentKeys, KeepsDirectory, Tool, ToolRole, ToolSchema, Toolset};
use std::borrow::Cow::Borrowed as B;

#[rustfmt::skip]
pub(crate) static TOOLSET: Toolset = Toolset {
    id: B("gemini-cli"), title: B("Gemini CLI"),
    formats: B(&[B("gemini-cli"), B("gemini-stream"), B("qwen-code")]),
    agents: B(&[B("gemini-cli"), B("qwen-code")]),
    tools: B(&[
        Tool { name: B("activate_skill"), role: ToolRole::Other, results: B(&[(B("not-found"), B(&[B("^Skill \"*\" not found")]))]), ..Tool::NONE },
        Tool { name: B("ask_user"), role: ToolRole::AsksUser, ..Tool::NONE },
        Tool { name: B("delegate_to_agent"), role: ToolRole::Dispatches, aliases: B(&[B("task")]), ..Tool::NONE },
        Tool { name: B("glob"), role: ToolRole::SearchesNames, path: ArgumentKeys(B(&[B("dir_path"), B("path")])), pattern: ArgumentKeys(B(&[B("pattern")])), results: B(&[(B("nothing-matched"), B(&[B("^No files found")]))]), schema: Some(ToolSchema(B(r#"{"type":"object","required":["pattern"],"properties":{"pattern":{"type":"string","minLength":1},"dir_path":{"type":"string"},"path":{"type":"string"},"case_sensitive":{"type":"boolean"},"respect_git_ignore":{"type":"boolean"}}}"#))), ..Tool::NONE },
        Tool { name: B("google_web_search"), role: ToolRole::FetchesWeb, results: B(&[(B("nothing-matched"), B(&[B("^No search results or information found")]))]), schema: Some(ToolSchema(B(r#"{"type":"object","required":["query"],"properties":{"query":{"type":"string","minLength":1}}}"#))), ..Tool::NONE },
        Tool { name: B("grep_search"), role: ToolRole::SearchesContent, aliases: B(&[B("search_file_content")]), path: ArgumentKeys(B(&[B("dir_path"), B("path")])), pattern: ArgumentKeys(B(&[B("pattern")])), results: B(&[(B("nothing-matched"), B(&[B("^No matches found")]))]), schema: Some(ToolSchema(B(r#"{"type":"object","required":["pattern"],"properties":{"pattern":{"type":"string"},"dir_path":{"type":"string"},"path":{"type":"string"},"include":{"type":"string"}}}"#))), ..Tool::NONE },
        Tool { name: B("list_directory"), role: ToolRole::Lists, path: ArgumentKeys(B(&[B("dir_path"), B("path")])), schema: Some(ToolSchema(B(r#"{"type":"object","properties":{"dir_path":{"type":"string"},"path":{"type":"string"},"ignore":{"type":"array"}},"anyOf":[{"required":["dir_path"]},{"required":["path"]}]}"#))), ..Tool::NONE },
        Tool { name: B("read_file"), role: ToolRole::Reads, path: ArgumentKeys(B(&[B("file_path"), B("absolute_path"), B("path")])), offset: ArgumentKeys(B(&[B("start_line")])), schema: Some(ToolSchema(B(r#"{"type":"object","properties":{"file_path":{"type":"string","minLength":1},"absolute_path":{"type":"string","minLength":1},"path":{"type":"string","minLength":1},"offset":{"type":"number","minimum":0},"limit":{"type":"number","exclusiveMinimum":0},"start_line":{"type":"number","minimum":1},"end_line":{"type":"number","minimum":1}},"anyOf":[{"required":["file_path"]},{"required":["absolute_path"]},{"required":["path"]}]}"#))), ..Tool::NONE },
        Tool { name: B("read_many_files"), role: ToolRole::Other, ..Tool::NONE },
        Tool { name: B("replace"), role: ToolRole::Edits, aliases: B(&[B("edit")]), path: ArgumentKeys(B(&[B("file_path")])), old: ArgumentKeys(B(&[B("old_string")])), new: ArgumentKeys(B(&[B("new_string")])), all: ArgumentKeys(B(&[B("allow_multiple"), B("replace_all")])), count: ArgumentKeys(B(&[B("expected_replacements")])), results: B(&[(B("failed"), B(&[B("0 occurrences found for old_string"), B("could not find the string to replace")])), (B("not-found"), B(&[B("^File not found")])), (B("usage-error"), B(&[B("Expected 1 occurrence but found"), B("Expected * occurrences but found"), B("No changes to apply")]))]), schema: Some(ToolSchema(B(r#"{"type":"object","required":["file_path","old_string","new_string"],"properties":{"file_path":{"type":"string","minLength":1},"old_string":{"type":"string"},"new_string":{"type":"string"},"instruction":{"type":"string"},"expected_replacements":{"type":"number","minimum":1},"allow_multiple":{"type":"boolean"},"replace_all":{"type":"boolean"}}}"#))), ..Tool::NONE },
        Tool { name: B("run_shell_command"), role: ToolRole::RunsShell, command: ArgumentKeys(B(&[B("command")])), directory: ArgumentKeys(B(&[B("dir_path"), B("directory")])), schema: Some(ToolSchema(B(r#"{"type":"object","required":["command"],"properties":{"command":{"type":"string","minLength":1},"description":{"type":"string"},"directory":{"type":"string"},"dir_path":{"type":"string"},"is_background":{"type":"boolean"}}}"#))), ..Tool::NONE },
        Tool { name: B("save_memory"), role: ToolRole::Other, ..Tool::NONE },
        Tool { name: B("web_fetch"), role: ToolRole::FetchesWeb, ..Tool::NONE },
        Tool { name: B("write_file"), role: ToolRole::Writes, path: ArgumentKeys(B(&[B("file_path"), B("path")])), content: ArgumentKeys(B(&[B("content")])), schema: Some(ToolSchema(B(r#"{"type":"object","required":["file_path","content"],"properties":{"file_path":{"type":"string","minLength":1},"path":{"type":"string"},"content":{"type":"string"}}}"#))), ..Tool::NONE },
        Tool { name: B("write_todos"), role: ToolRole::Plans, aliases: B(&[B("todo_write")]), ..Tool::NONE },
    ]),
    confusable: B(&[
        [B("read_file"), B("glob")],
        [B("grep_search"), B("glob")],
        [B("replace"), B("write_file")],
        [B("run_shell_command"), B("read_file")],
    ]),
    results: B(&[(B("cut-off"), B(&[B("^[Operation Cancelled]"), B("^Command was cancelled by user before it could complete"), B("^User cancelled"), B("^Tool call cancelled"), B("^Command was automatically cancelled because it exceeded the timeout")])), (B("refused"), B(&[B("^Tool execution denied by policy"), B("^Tool execution * denied"), B("^Command rejected because"), B("^[Operation Cancelled] Reason: User did not allow tool call"), B("^User did not allow")])), (B("still-running"), B(&[B("^Command moved to background"), B("^Command is running in background")])), (B("usage-error"), B(&[B("^params must have required property"), B("^params/"), B("^Tool \"*\" not found in registry")]))]),
    keeps_directory: KeepsDirectory::Never,
};
