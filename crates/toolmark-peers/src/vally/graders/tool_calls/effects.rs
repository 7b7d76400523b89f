//! Classification of well-known tools by whether they only read or also write.
//!
//! Vally has `read_only` and `write_only` but does not specify how tools are
//! classified. The table contains names whose meaning their hosts document;
//! other tools, shells in particular, are not classified.

use toolmark_trace::ToolName;

/// Effect of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    Reads,
    Writes,
}

/// Tools that only read. Case, `_` and `-` are ignored.
const READ: &[&str] = &[
    "browsersnapshot",
    "codebasesearch",
    "codesearch",
    "fetch",
    "fetchwebpage",
    "fileread",
    "filesearch",
    "find",
    "findfiles",
    "findreferences",
    "geterrors",
    "getfilecontents",
    "glob",
    "globfilesearch",
    "googlewebsearch",
    "grep",
    "grepsearch",
    "list",
    "listbash",
    "listcodeusages",
    "listdir",
    "listdirectory",
    "listfiles",
    "ls",
    "lsp",
    "notebookread",
    "read",
    "readbash",
    "readfile",
    "readfiles",
    "readlints",
    "readmanyfiles",
    "readmediafile",
    "readtextfile",
    "rg",
    "ripgrep",
    "search",
    "searchfilecontent",
    "searchfiles",
    "semanticsearch",
    "testsearch",
    "toolsearch",
    "view",
    "viewfile",
    "viewimage",
    "webfetch",
    "websearch",
];

/// Tools that write. Case, `_` and `-` are ignored.
const WRITE: &[&str] = &[
    "applydiff",
    "applypatch",
    "copyfile",
    "create",
    "createdirectory",
    "createfile",
    "createnewjupyternotebook",
    "delete",
    "deletefile",
    "edit",
    "editfile",
    "editfiles",
    "editnotebook",
    "editnotebookfile",
    "filewrite",
    "inserteditintofile",
    "movefile",
    "multiedit",
    "multireplacestringinfile",
    "notebookedit",
    "patch",
    "renamefile",
    "replace",
    "replaceinfile",
    "replacestringinfile",
    "searchreplace",
    "strreplace",
    "strreplaceinfile",
    "write",
    "writefile",
    "writetofile",
];

/// Returns the known effect of a tool.
pub(super) fn effect(name: &ToolName) -> Option<Effect> {
    let folded: String = name
        .canonical()
        .tool
        .chars()
        .filter(|c| !matches!(c, '_' | '-'))
        .map(|c| c.to_ascii_lowercase())
        .collect();
    if READ.binary_search(&&*folded).is_ok() {
        Some(Effect::Reads)
    } else if WRITE.binary_search(&&*folded).is_ok() {
        Some(Effect::Writes)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_many_hosts_are_known() {
        for (name, what) in [
            ("view", Some(Effect::Reads)),
            ("Read", Some(Effect::Reads)),
            ("read_file", Some(Effect::Reads)),
            ("mcp__files__read_file", Some(Effect::Reads)),
            ("grep_search", Some(Effect::Reads)),
            ("WebFetch", Some(Effect::Reads)),
            ("apply_patch", Some(Effect::Writes)),
            ("MultiEdit", Some(Effect::Writes)),
            ("str_replace", Some(Effect::Writes)),
            ("write", Some(Effect::Writes)),
            ("bash", None),
            ("create_ticket", None),
        ] {
            assert_eq!(effect(&ToolName::new(name)), what, "{name}");
        }
    }

    #[test]
    fn the_tables_are_sorted_and_apart() {
        assert!(READ.is_sorted_by(|a, b| a < b), "READ");
        assert!(WRITE.is_sorted_by(|a, b| a < b), "WRITE");
        assert!(READ.iter().all(|name| !WRITE.contains(name)));
    }
}
