//! Status of a call by its answer, for hosts that record none.

use crate::session::Ended;
use toolmark_hosts::results::note_of_tool;
use toolmark_hosts::toolset::{Tool, ToolRole};
use toolmark_trace::{Call, Status};

/// Maximum number of bytes at the start of an answer in which it states that it is an error.
const MAX_STATEMENT: usize = 400;

/// Beginnings of answers that are errors.
const FAILED: &[&str] = &[
    "<tool_use_error>",
    "<error>",
    "ERROR:",
    "Error: ",
    "Error:\n",
    "Error executing ",
    "Error reading ",
    "Error editing ",
    "Error writing ",
    "Failed to ",
    "The tool execution failed",
    "Invalid `",
    "No replacement was performed",
];

/// Words of editing tools that have changed a file.
const CHANGED: &[&str] = &[
    "successfully",
    "Successfully",
    "has been updated",
    "has been edited",
    "has been created",
    "has been modified",
    "Success. Updated",
    "Edit applied",
    "Wrote ",
    "Created ",
    "Updated ",
];

/// Words of answers in one sentence about a thing that does not exist.
const MISSING: &[&str] =
    &["not found", "does not exist", "doesn't exist", "No such file", "ENOENT", "not a directory"];

/// Returns the status of a call whose host records none: what was asked for is there, or the
/// answer says that it failed. The output of a command may be anything, so it decides nothing.
pub(crate) fn by_answer(ended: Ended, call: &Call, role: ToolRole, spec: Option<&Tool>) -> Ended {
    if ended != Ended::Unknown || call.status != Status::Unknown {
        return ended;
    }
    let is_edit = matches!(role, ToolRole::Edits | ToolRole::Patches | ToolRole::Writes);
    let is_look = matches!(
        role,
        ToolRole::Reads | ToolRole::Lists | ToolRole::SearchesNames | ToolRole::SearchesContent
    );
    let payload = call.result.as_ref().and_then(|result| result.payload.as_ref());
    let Some(payload) = payload.filter(|_| is_edit || is_look) else { return ended };
    let text = payload.plain_start(MAX_STATEMENT);
    let text = text.trim_start();
    if FAILED.iter().any(|start| text.starts_with(start)) {
        return Ended::Failed;
    }
    let first = text.lines().next().unwrap_or_default();
    let note = spec.and_then(|tool| note_of_tool(tool, first));
    if note.is_some_and(|note| note.kind.is_failure()) {
        return Ended::Failed;
    }
    let says = |words: &[&str]| words.iter().any(|words| first.contains(words));
    match is_edit {
        true if says(CHANGED) => Ended::Ok,
        true => ended,
        false if first.len() == text.trim_end().len() && says(MISSING) => Ended::Failed,
        false if text.is_empty() => ended,
        false => Ended::Ok,
    }
}

#[cfg(test)]
mod tests {
    use crate::notation;
    use crate::session::{Ended, Session};
    use toolmark_hosts::toolset::Toolsets;

    #[test]
    fn answers_without_a_status() {
        for (trace, want) in [
            (r#"read_file {"path":"a.rs"} ?> "one\ntwo""#, Ended::Ok),
            (r#"read_file {"path":"a.rs"} ?> "File not found: a.rs""#, Ended::Failed),
            (r#"read_file {"path":"a.rs"} ?> """#, Ended::Unknown),
            (r#"bash {"command":"ls"} ?> "Error: x""#, Ended::Unknown),
            (
                r#"str_replace_editor {"command":"str_replace","path":"a","old_str":"b","new_str":"c"} ?> "ERROR:\nNo replacement was performed""#,
                Ended::Failed,
            ),
            (
                r#"str_replace_editor {"command":"str_replace","path":"a","old_str":"b","new_str":"c"} ?> "The file a has been edited.""#,
                Ended::Ok,
            ),
            (
                r#"str_replace_editor {"command":"str_replace","path":"a","old_str":"b","new_str":"c"} ?> "It is done.""#,
                Ended::Unknown,
            ),
        ] {
            let run = notation::parse(&format!("host: openai\n{trace}")).unwrap();
            let toolsets = Toolsets::default();
            let session = Session::new(&run, &toolsets);
            assert_eq!(session.calls()[0].ended, want, "{trace}");
        }
    }
}
