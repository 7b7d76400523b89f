//! The table of `toolset.yaml`, written by
//! `UPDATE_TABLES=1 cargo test -p toolmark-hosts tables`.

use crate::toolset::{ArgumentKeys, KeepsDirectory, Tool, ToolRole, Toolset};
use std::borrow::Cow::Borrowed as B;

#[rustfmt::skip]
pub(crate) static TOOLSET: Toolset = Toolset {
    id: B("pi"), title: B("pi"),
    formats: B(&[B("pi"), B("pi-stream"), B("openclaw")]),
    agents: B(&[B("pi"), B("openclaw")]),
    tools: B(&[
        Tool { name: B("bash"), role: ToolRole::RunsShell, aliases: B(&[B("exec")]), command: ArgumentKeys(B(&[B("command")])), directory: ArgumentKeys(B(&[B("workdir"), B("cwd")])), ..Tool::NONE },
        Tool { name: B("edit"), role: ToolRole::Edits, path: ArgumentKeys(B(&[B("path"), B("file_path")])), old: ArgumentKeys(B(&[B("oldText"), B("oldString"), B("old_string")])), new: ArgumentKeys(B(&[B("newText"), B("newString"), B("new_string")])), edits: ArgumentKeys(B(&[B("edits")])), results: B(&[(B("failed"), B(&[B("Could not find the exact text"), B("Could not find edits")])), (B("not-found"), B(&[B("^File not found")])), (B("usage-error"), B(&[B("Found * occurrences of the text"), B("No changes made")]))]), ..Tool::NONE },
        Tool { name: B("find"), role: ToolRole::SearchesNames, optional: true, path: ArgumentKeys(B(&[B("path")])), pattern: ArgumentKeys(B(&[B("pattern")])), results: B(&[(B("not-found"), B(&[B("^Path not found")])), (B("nothing-matched"), B(&[B("^No files found")]))]), ..Tool::NONE },
        Tool { name: B("grep"), role: ToolRole::SearchesContent, optional: true, path: ArgumentKeys(B(&[B("path")])), pattern: ArgumentKeys(B(&[B("pattern")])), results: B(&[(B("not-found"), B(&[B("^Path not found")])), (B("nothing-matched"), B(&[B("^No matches found")]))]), ..Tool::NONE },
        Tool { name: B("ls"), role: ToolRole::Lists, optional: true, path: ArgumentKeys(B(&[B("path")])), results: B(&[(B("not-found"), B(&[B("^Path not found")]))]), ..Tool::NONE },
        Tool { name: B("process"), role: ToolRole::TalksToShell, optional: true, ..Tool::NONE },
        Tool { name: B("read"), role: ToolRole::Reads, path: ArgumentKeys(B(&[B("path"), B("file_path")])), offset: ArgumentKeys(B(&[B("offset")])), limit: ArgumentKeys(B(&[B("limit")])), results: B(&[(B("not-found"), B(&[B("ENOENT")])), (B("usage-error"), B(&[B("EISDIR"), B("is beyond end of file")]))]), ..Tool::NONE },
        Tool { name: B("web_fetch"), role: ToolRole::FetchesWeb, aliases: B(&[B("web_search")]), optional: true, ..Tool::NONE },
        Tool { name: B("write"), role: ToolRole::Writes, path: ArgumentKeys(B(&[B("path"), B("file_path")])), content: ArgumentKeys(B(&[B("content")])), ..Tool::NONE },
    ]),
    confusable: B(&[
        [B("read"), B("grep")],
        [B("edit"), B("write")],
        [B("bash"), B("read")],
        [B("bash"), B("grep")],
    ]),
    results: B(&[(B("cut-off"), B(&[B("^Command aborted"), B("^Operation aborted"), B("^Command timed out after")]))]),
    keeps_directory: KeepsDirectory::Never,
};
