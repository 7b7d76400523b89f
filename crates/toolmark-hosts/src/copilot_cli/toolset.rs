//! The table of `toolset.yaml`, written by
//! `UPDATE_TABLES=1 cargo test -p toolmark-hosts tables`.

use crate::toolset::{ArgumentKeys, KeepsDirectory, Tool, ToolRole, ToolSchema, Toolset};
use std::borrow::Cow::Borrowed as B;

#[rustfmt::skip]
pub(crate) static TOOLSET: Toolset = Toolset {
    id: B("copilot-cli"), title: B("Copilot CLI"),
    formats: B(&[B("copilot-cli"), B("copilot-print"), B("vscode-chat"), B("vscode-replay")]),
    agents: B(&[B("copilot-cli"), B("copilot"), B("vscode-copilot-chat")]),
    tools: B(&[
        Tool { name: B("apply_patch"), role: ToolRole::Patches, patch: ArgumentKeys(B(&[B("input"), B("patch")])), ..Tool::NONE },
        Tool { name: B("ask_user"), role: ToolRole::AsksUser, ..Tool::NONE },
        Tool { name: B("bash"), role: ToolRole::RunsShell, aliases: B(&[B("powershell"), B("local_shell")]), command: ArgumentKeys(B(&[B("command")])), schema: Some(ToolSchema(B(r#"{"type":"object","required":["command"],"properties":{"command":{"type":"string","minLength":1},"description":{"type":"string"},"sessionId":{"type":"string"},"shellId":{"type":"string"},"async":{"type":"boolean"},"mode":{"type":"string"},"detach":{"type":"boolean"},"timeout":{"type":"number","minimum":0},"initial_wait":{"type":"number","minimum":0}}}"#))), ..Tool::NONE },
        Tool { name: B("create"), role: ToolRole::Writes, path: ArgumentKeys(B(&[B("path")])), content: ArgumentKeys(B(&[B("file_text")])), results: B(&[(B("failed"), B(&[B("already exists")]))]), schema: Some(ToolSchema(B(r#"{"type":"object","required":["path"],"properties":{"path":{"type":"string","minLength":1},"file_text":{"type":"string"}}}"#))), ..Tool::NONE },
        Tool { name: B("create_file"), role: ToolRole::Writes, optional: true, path: ArgumentKeys(B(&[B("filePath")])), content: ArgumentKeys(B(&[B("content")])), schema: Some(ToolSchema(B(r#"{"type":"object","required":["filePath"],"properties":{"filePath":{"type":"string","minLength":1},"content":{"type":"string"}}}"#))), ..Tool::NONE },
        Tool { name: B("edit"), role: ToolRole::Edits, aliases: B(&[B("str_replace")]), path: ArgumentKeys(B(&[B("path")])), old: ArgumentKeys(B(&[B("old_str")])), new: ArgumentKeys(B(&[B("new_str")])), results: B(&[(B("failed"), B(&[B("^No match found"), B("No match found")])), (B("not-found"), B(&[B("^Path does not exist"), B("^Path * does not exist")])), (B("usage-error"), B(&[B("^Multiple matches found"), B("`new_str` and `old_str` must be different")]))]), schema: Some(ToolSchema(B(r#"{"type":"object","required":["path","old_str"],"properties":{"path":{"type":"string","minLength":1},"old_str":{"type":"string"},"new_str":{"type":"string"}}}"#))), ..Tool::NONE },
        Tool { name: B("fetch_webpage"), role: ToolRole::FetchesWeb, optional: true, ..Tool::NONE },
        Tool { name: B("file_search"), role: ToolRole::SearchesNames, optional: true, pattern: ArgumentKeys(B(&[B("query")])), ..Tool::NONE },
        Tool { name: B("get_terminal_output"), role: ToolRole::TalksToShell, ..Tool::NONE },
        Tool { name: B("glob"), role: ToolRole::SearchesNames, path: ArgumentKeys(B(&[B("path"), B("paths")])), pattern: ArgumentKeys(B(&[B("pattern")])), results: B(&[(B("nothing-matched"), B(&[B("^No files matched the pattern")]))]), schema: Some(ToolSchema(B(r#"{"type":"object","required":["pattern"],"properties":{"pattern":{"type":"string","minLength":1},"path":{"type":"string"},"paths":{"type":["string","array"]}}}"#))), ..Tool::NONE },
        Tool { name: B("grep"), role: ToolRole::SearchesContent, aliases: B(&[B("rg")]), path: ArgumentKeys(B(&[B("path"), B("paths")])), pattern: ArgumentKeys(B(&[B("pattern")])), results: B(&[(B("nothing-matched"), B(&[B("^No matches found")]))]), schema: Some(ToolSchema(B(r#"{"type":"object","required":["pattern"],"properties":{"pattern":{"type":"string"},"path":{"type":"string"},"paths":{"type":["string","array"]},"glob":{"type":"string"},"type":{"type":"string"},"output_mode":{"type":"string","enum":["content","files_with_matches","count"]},"-A":{"type":"number","minimum":0},"-B":{"type":"number","minimum":0},"-C":{"type":"number","minimum":0},"-n":{"type":"boolean"},"-i":{"type":"boolean"},"head_limit":{"type":"number","minimum":0},"multiline":{"type":"boolean"}}}"#))), ..Tool::NONE },
        Tool { name: B("grep_search"), role: ToolRole::SearchesContent, optional: true, pattern: ArgumentKeys(B(&[B("query")])), ..Tool::NONE },
        Tool { name: B("list_dir"), role: ToolRole::Lists, optional: true, path: ArgumentKeys(B(&[B("path")])), ..Tool::NONE },
        Tool { name: B("manage_todo_list"), role: ToolRole::Plans, optional: true, ..Tool::NONE },
        Tool { name: B("read_bash"), role: ToolRole::TalksToShell, aliases: B(&[B("read_powershell"), B("write_bash"), B("write_powershell"), B("stop_bash"), B("stop_powershell"), B("list_bash"), B("list_powershell")]), ..Tool::NONE },
        Tool { name: B("read_file"), role: ToolRole::Reads, optional: true, path: ArgumentKeys(B(&[B("filePath")])), schema: Some(ToolSchema(B(r#"{"type":"object","required":["filePath"],"properties":{"filePath":{"type":"string","minLength":1},"startLine":{"type":"number"},"endLine":{"type":"number"},"offset":{"type":"number"},"limit":{"type":"number"}}}"#))), ..Tool::NONE },
        Tool { name: B("replace_string_in_file"), role: ToolRole::Edits, optional: true, path: ArgumentKeys(B(&[B("filePath")])), old: ArgumentKeys(B(&[B("oldString")])), new: ArgumentKeys(B(&[B("newString")])), schema: Some(ToolSchema(B(r#"{"type":"object","required":["filePath","oldString","newString"],"properties":{"filePath":{"type":"string","minLength":1},"oldString":{"type":"string"},"newString":{"type":"string"},"explanation":{"type":"string"}}}"#))), ..Tool::NONE },
        Tool { name: B("report_intent"), role: ToolRole::Plans, schema: Some(ToolSchema(B(r#"{"type":"object","required":["intent"],"properties":{"intent":{"type":"string"}}}"#))), ..Tool::NONE },
        Tool { name: B("runSubagent"), role: ToolRole::Dispatches, optional: true, ..Tool::NONE },
        Tool { name: B("run_in_terminal"), role: ToolRole::RunsShell, optional: true, command: ArgumentKeys(B(&[B("command")])), schema: Some(ToolSchema(B(r#"{"type":"object","required":["command"],"properties":{"command":{"type":"string","minLength":1},"explanation":{"type":"string"},"isBackground":{"type":"boolean"},"goal":{"type":"string"},"timeout":{"type":"number"}}}"#))), ..Tool::NONE },
        Tool { name: B("semantic_search"), role: ToolRole::SearchesContent, optional: true, pattern: ArgumentKeys(B(&[B("query")])), ..Tool::NONE },
        Tool { name: B("skill"), role: ToolRole::Other, ..Tool::NONE },
        Tool { name: B("store_memory"), role: ToolRole::Other, ..Tool::NONE },
        Tool { name: B("str_replace_editor"), role: ToolRole::Other, selector: Some(B("command")), roles: B(&[(B("create"), ToolRole::Writes), (B("edit"), ToolRole::Edits), (B("insert"), ToolRole::Other), (B("str_replace"), ToolRole::Edits), (B("view"), ToolRole::Reads)]), path: ArgumentKeys(B(&[B("path")])), content: ArgumentKeys(B(&[B("file_text")])), old: ArgumentKeys(B(&[B("old_str")])), new: ArgumentKeys(B(&[B("new_str")])), range: ArgumentKeys(B(&[B("view_range")])), line_marks: B(&[B(". "), B("\t")]), results: B(&[(B("failed"), B(&[B("^No match found"), B("No match found")])), (B("not-found"), B(&[B("^Path does not exist"), B("^Path * does not exist")])), (B("usage-error"), B(&[B("^Multiple matches found"), B("`new_str` and `old_str` must be different")]))]), ..Tool::NONE },
        Tool { name: B("task"), role: ToolRole::Dispatches, ..Tool::NONE },
        Tool { name: B("update_todo"), role: ToolRole::Plans, ..Tool::NONE },
        Tool { name: B("view"), role: ToolRole::Reads, path: ArgumentKeys(B(&[B("path")])), range: ArgumentKeys(B(&[B("view_range")])), line_marks: B(&[B(". ")]), results: B(&[(B("not-found"), B(&[B("^Path does not exist"), B("^Path * does not exist")])), (B("usage-error"), B(&[B("File too large to read at once"), B("^Invalid `view_range`")]))]), schema: Some(ToolSchema(B(r#"{"type":"object","required":["path"],"properties":{"path":{"type":"string","minLength":1},"view_range":{"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":2},"forceReadLargeFiles":{"type":"boolean"}}}"#))), ..Tool::NONE },
        Tool { name: B("web_fetch"), role: ToolRole::FetchesWeb, ..Tool::NONE },
        Tool { name: B("web_search"), role: ToolRole::FetchesWeb, ..Tool::NONE },
    ]),
    confusable: B(&[
        [B("view"), B("glob")],
        [B("grep"), B("glob")],
        [B("edit"), B("create")],
        [B("bash"), B("view")],
        [B("bash"), B("grep")],
    ]),
    results: B(&[(B("cut-off"), B(&[B("^The execution of this tool, or a previous tool was interrupted"), B("^Command timed out"), B("^aborted by user")])), (B("refused"), B(&[B("^The user rejected this tool call"), B("^Permission denied and could not request permission from user"), B("^The tool call required approval from the user, but the user rejected it"), B("^Denied by")])), (B("still-running"), B(&[B("^<command with shellId: * is still running"), B("^<command with id: * is running in "), B("^<command started in detached background"), B("^<command started in background")])), (B("usage-error"), B(&[B("^Invalid inputs")]))]),
    keeps_directory: KeepsDirectory::Always,
};
