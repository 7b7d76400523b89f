//! The table of `toolset.yaml`, written by
//! `UPDATE_TABLES=1 cargo test -p toolmark-hosts tables`.

use crate::toolset::{ArgumentKeys, KeepsDirectory, Tool, ToolRole, Toolset};
use std::borrow::Cow::Borrowed as B;

#[rustfmt::skip]
pub(crate) static TOOLSET: Toolset = Toolset {
    id: B("cursor"), title: B("Cursor"),
    formats: B(&[]),
    agents: B(&[B("cursor")]),
    tools: B(&[
        Tool { name: B("Delete"), role: ToolRole::Writes, path: ArgumentKeys(B(&[B("file_path")])), ..Tool::NONE },
        Tool { name: B("Fetch"), role: ToolRole::FetchesWeb, ..Tool::NONE },
        Tool { name: B("Grep"), role: ToolRole::SearchesContent, aliases: B(&[B("grepToolCall")]), path: ArgumentKeys(B(&[B("file_path"), B("path")])), pattern: ArgumentKeys(B(&[B("pattern")])), ..Tool::NONE },
        Tool { name: B("List"), role: ToolRole::Lists, aliases: B(&[B("list_dir"), B("lsToolCall")]), path: ArgumentKeys(B(&[B("file_path"), B("path")])), ..Tool::NONE },
        Tool { name: B("Read"), role: ToolRole::Reads, aliases: B(&[B("read_file"), B("readToolCall")]), path: ArgumentKeys(B(&[B("file_path"), B("target_file"), B("path")])), ..Tool::NONE },
        Tool { name: B("ReadLints"), role: ToolRole::Other, ..Tool::NONE },
        Tool { name: B("Shell"), role: ToolRole::RunsShell, aliases: B(&[B("run_terminal_cmd"), B("shellToolCall")]), command: ArgumentKeys(B(&[B("command")])), directory: ArgumentKeys(B(&[B("cwd"), B("workingDirectory")])), ..Tool::NONE },
        Tool { name: B("Task"), role: ToolRole::Dispatches, ..Tool::NONE },
        Tool { name: B("WebFetch"), role: ToolRole::FetchesWeb, ..Tool::NONE },
        Tool { name: B("WebSearch"), role: ToolRole::FetchesWeb, ..Tool::NONE },
        Tool { name: B("Write"), role: ToolRole::Writes, aliases: B(&[B("writeToolCall")]), path: ArgumentKeys(B(&[B("file_path"), B("path")])), content: ArgumentKeys(B(&[B("content"), B("fileText")])), ..Tool::NONE },
        Tool { name: B("WriteShellStdin"), role: ToolRole::TalksToShell, ..Tool::NONE },
        Tool { name: B("search_replace"), role: ToolRole::Edits, aliases: B(&[B("editToolCall")]), optional: true, path: ArgumentKeys(B(&[B("file_path"), B("path")])), old: ArgumentKeys(B(&[B("old_string")])), new: ArgumentKeys(B(&[B("new_string")])), ..Tool::NONE },
    ]),
    confusable: B(&[
        [B("Shell"), B("Read")],
        [B("Shell"), B("Grep")],
    ]),
    results: B(&[(B("cut-off"), B(&[B("^The user aborted"), B("^Tool call was interrupted"), B("^Aborted")])), (B("refused"), B(&[B("^The user chose to reject"), B("^User rejected"), B("^Rejected"), B("^User Rejected")])), (B("still-running"), B(&[B("^Command moved to background"), B("^Command is running in the background")]))]),
    keeps_directory: KeepsDirectory::Always,
};
