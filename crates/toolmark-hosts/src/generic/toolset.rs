//! The table of `toolset.yaml`, written by
//! `UPDATE_TABLES=1 cargo test -p toolmark-hosts tables`.

use crate::toolset::{Keys, Tool, ToolRole, Toolset};
use std::borrow::Cow::Borrowed as B;

#[rustfmt::skip]
pub(crate) static TOOLSET: Toolset = Toolset {
    id: B("generic"), title: B("other agents and MCP servers"),
    formats: B(&[]),
    agents: B(&[]),
    tools: B(&[
        Tool { name: B("apply_patch"), role: ToolRole::Patches, patch: Keys(B(&[B("patch"), B("input"), B("patchText")])), ..Tool::NONE },
        Tool { name: B("ask_user"), role: ToolRole::AsksUser, aliases: B(&[B("ask_followup_question"), B("ask_human")]), ..Tool::NONE },
        Tool { name: B("bash"), role: ToolRole::RunsShell, aliases: B(&[B("shell"), B("execute_command"), B("run_command"), B("execute_bash"), B("run_terminal_cmd"), B("terminal"), B("run_shell_command"), B("exec")]), command: Keys(B(&[B("command"), B("cmd"), B("script")])), directory: Keys(B(&[B("workdir"), B("cwd"), B("working_directory")])), ..Tool::NONE },
        Tool { name: B("delete_file"), role: ToolRole::Writes, aliases: B(&[B("remove_file"), B("deleteFile"), B("file_delete")]), path: Keys(B(&[B("path"), B("file_path"), B("filePath"), B("filename")])), ..Tool::NONE },
        Tool { name: B("edit_file"), role: ToolRole::Edits, aliases: B(&[B("editFile"), B("str_replace"), B("search_replace"), B("replace_in_file")]), path: Keys(B(&[B("path"), B("file_path"), B("filePath")])), old: Keys(B(&[B("old_string"), B("old_str"), B("oldText"), B("oldString")])), new: Keys(B(&[B("new_string"), B("new_str"), B("newText"), B("newString")])), all: Keys(B(&[B("replace_all"), B("replaceAll")])), edits: Keys(B(&[B("edits")])), ..Tool::NONE },
        Tool { name: B("grep"), role: ToolRole::SearchesContent, aliases: B(&[B("grep_search"), B("search_content"), B("search_code"), B("codebase_search"), B("ripgrep")]), path: Keys(B(&[B("path")])), pattern: Keys(B(&[B("pattern"), B("query"), B("regex")])), ..Tool::NONE },
        Tool { name: B("list_directory"), role: ToolRole::Lists, aliases: B(&[B("list_dir"), B("list_files"), B("ls"), B("directory_tree")]), path: Keys(B(&[B("path"), B("dir_path"), B("directory")])), ..Tool::NONE },
        Tool { name: B("move_file"), role: ToolRole::Writes, aliases: B(&[B("rename_file"), B("moveFile")]), path: Keys(B(&[B("source"), B("destination"), B("path"), B("new_path")])), ..Tool::NONE },
        Tool { name: B("read_file"), role: ToolRole::Reads, aliases: B(&[B("read_text_file"), B("readFile"), B("file_read"), B("open_file")]), path: Keys(B(&[B("path"), B("file_path"), B("filePath"), B("filename")])), ..Tool::NONE },
        Tool { name: B("search_files"), role: ToolRole::SearchesNames, aliases: B(&[B("find_files"), B("glob"), B("file_search")]), path: Keys(B(&[B("path")])), pattern: Keys(B(&[B("pattern"), B("query")])), ..Tool::NONE },
        Tool { name: B("str_replace_editor"), role: ToolRole::Other, aliases: B(&[B("str_replace_based_edit_tool"), B("text_editor"), B("file_editor")]), selector: Some(B("command")), roles: B(&[(B("create"), ToolRole::Writes), (B("insert"), ToolRole::Other), (B("str_replace"), ToolRole::Edits), (B("undo_edit"), ToolRole::Other), (B("view"), ToolRole::Reads)]), path: Keys(B(&[B("path")])), content: Keys(B(&[B("file_text")])), old: Keys(B(&[B("old_str")])), new: Keys(B(&[B("new_str")])), range: Keys(B(&[B("view_range")])), line_marks: B(&[B("\t"), B(": ")]), ..Tool::NONE },
        Tool { name: B("task"), role: ToolRole::Dispatches, aliases: B(&[B("delegate"), B("spawn_agent"), B("subagent")]), ..Tool::NONE },
        Tool { name: B("todo_write"), role: ToolRole::Plans, aliases: B(&[B("update_plan"), B("todowrite"), B("update_todo")]), ..Tool::NONE },
        Tool { name: B("web_search"), role: ToolRole::FetchesWeb, aliases: B(&[B("fetch"), B("web_fetch"), B("webfetch"), B("fetch_url"), B("browse")]), ..Tool::NONE },
        Tool { name: B("write_file"), role: ToolRole::Writes, aliases: B(&[B("writeFile"), B("file_write"), B("create_file")]), path: Keys(B(&[B("path"), B("file_path"), B("filePath"), B("filename")])), content: Keys(B(&[B("content"), B("contents"), B("text"), B("file_text")])), ..Tool::NONE },
    ]),
    confusable: B(&[
    ]),
};
