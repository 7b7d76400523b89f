//! The table of `toolset.yaml`, written by
//! `UPDATE_TABLES=1 cargo test -p toolmark-hosts tables`.

use crate::toolset::{ArgumentKeys, KeepsDirectory, Tool, ToolRole, Toolset};
use std::borrow::Cow::Borrowed as B;

#[rustfmt::skip]
pub(crate) static TOOLSET: Toolset = Toolset {
    id: B("opencode"), title: B("OpenCode"),
    formats: B(&[B("opencode")]),
    agents: B(&[B("opencode")]),
    tools: B(&[
        Tool { name: B("apply_patch"), role: ToolRole::Patches, aliases: B(&[B("patch")]), optional: true, patch: ArgumentKeys(B(&[B("patchText"), B("patch"), B("input")])), ..Tool::NONE },
        Tool { name: B("bash"), role: ToolRole::RunsShell, command: ArgumentKeys(B(&[B("command")])), directory: ArgumentKeys(B(&[B("workdir")])), ..Tool::NONE },
        Tool { name: B("edit"), role: ToolRole::Edits, path: ArgumentKeys(B(&[B("filePath"), B("path")])), old: ArgumentKeys(B(&[B("oldString")])), new: ArgumentKeys(B(&[B("newString")])), all: ArgumentKeys(B(&[B("replaceAll")])), results: B(&[(B("failed"), B(&[B("Could not find oldString in the file"), B("oldString not found in content"), B("File * has been modified since it was last read")])), (B("not-found"), B(&[B("^File * not found")])), (B("usage-error"), B(&[B("Found multiple matches for oldString"), B("oldString found multiple times"), B("You must read * before overwriting it"), B("must be different"), B("No changes to apply")]))]), ..Tool::NONE },
        Tool { name: B("glob"), role: ToolRole::SearchesNames, path: ArgumentKeys(B(&[B("path")])), pattern: ArgumentKeys(B(&[B("pattern")])), results: B(&[(B("nothing-matched"), B(&[B("^No files found")]))]), ..Tool::NONE },
        Tool { name: B("grep"), role: ToolRole::SearchesContent, path: ArgumentKeys(B(&[B("path")])), pattern: ArgumentKeys(B(&[B("pattern")])), results: B(&[(B("nothing-matched"), B(&[B("^No files found")]))]), ..Tool::NONE },
        Tool { name: B("list"), role: ToolRole::Lists, aliases: B(&[B("ls")]), optional: true, path: ArgumentKeys(B(&[B("path")])), ..Tool::NONE },
        Tool { name: B("lsp"), role: ToolRole::Other, aliases: B(&[B("lsp_diagnostics"), B("lsp_hover")]), optional: true, ..Tool::NONE },
        Tool { name: B("multiedit"), role: ToolRole::Edits, optional: true, path: ArgumentKeys(B(&[B("filePath"), B("path")])), old: ArgumentKeys(B(&[B("oldString")])), new: ArgumentKeys(B(&[B("newString")])), all: ArgumentKeys(B(&[B("replaceAll")])), edits: ArgumentKeys(B(&[B("edits")])), results: B(&[(B("failed"), B(&[B("Could not find oldString in the file"), B("oldString not found in content"), B("File * has been modified since it was last read")])), (B("not-found"), B(&[B("^File * not found")])), (B("usage-error"), B(&[B("Found multiple matches for oldString"), B("oldString found multiple times"), B("You must read * before overwriting it"), B("must be different"), B("No changes to apply")]))]), ..Tool::NONE },
        Tool { name: B("question"), role: ToolRole::AsksUser, optional: true, ..Tool::NONE },
        Tool { name: B("read"), role: ToolRole::Reads, path: ArgumentKeys(B(&[B("filePath"), B("path")])), offset: ArgumentKeys(B(&[B("offset")])), limit: ArgumentKeys(B(&[B("limit")])), line_marks: B(&[B("| "), B(": ")]), results: B(&[(B("not-found"), B(&[B("File not found")])), (B("usage-error"), B(&[B("Cannot read binary file"), B("is out of range for this file")]))]), ..Tool::NONE },
        Tool { name: B("skill"), role: ToolRole::Other, ..Tool::NONE },
        Tool { name: B("task"), role: ToolRole::Dispatches, ..Tool::NONE },
        Tool { name: B("todowrite"), role: ToolRole::Plans, aliases: B(&[B("todoread")]), ..Tool::NONE },
        Tool { name: B("webfetch"), role: ToolRole::FetchesWeb, aliases: B(&[B("websearch"), B("codesearch")]), ..Tool::NONE },
        Tool { name: B("write"), role: ToolRole::Writes, path: ArgumentKeys(B(&[B("filePath"), B("path")])), content: ArgumentKeys(B(&[B("content")])), ..Tool::NONE },
    ]),
    confusable: B(&[
        [B("read"), B("glob")],
        [B("grep"), B("glob")],
        [B("edit"), B("write")],
        [B("bash"), B("read")],
        [B("bash"), B("grep")],
    ]),
    results: B(&[(B("cut-off"), B(&[B("^Tool execution aborted"), B("bash tool terminated command after exceeding timeout"), B("Command terminated after exceeding timeout"), B("User aborted the command")])), (B("refused"), B(&[B("^The user rejected permission to use this specific tool call"), B("The user rejected permission"), B("^The user has specified a rule which prevents you from using")])), (B("usage-error"), B(&[B("^The * tool was called with invalid arguments"), B("^Model tried to call unavailable tool")]))]),
    keeps_directory: KeepsDirectory::Never,
};
