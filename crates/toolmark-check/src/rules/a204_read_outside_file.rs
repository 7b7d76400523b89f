//! # What it does
//!
//! Finds reads that start after the last line of a file. The number of lines is
//! known from earlier calls in the trace, or from the answer of the host.
//!
//! # Why
//!
//! Such a read returns nothing. The agent has a wrong idea of the file, often
//! from before a change.
//!
//! # What to do
//!
//! Search the file for the place before reading around it. Read short files as
//! a whole.
//!
//! # Examples
//!
//! ```fires
//! Write {"file_path":"/w/a.txt","content":"1\n2\n3\n"} -> "ok"
//! Read {"file_path":"/w/a.txt","offset":100,"limit":20} -> "<system-reminder>Warning: the file exists but is shorter than the provided offset (100). The file has 3 lines.</system-reminder>"
//! ```
//!
//! ```fires
//! Read {"file_path":"/w/a.txt","offset":500} -> "<system-reminder>Warning: the file exists but is shorter than the provided offset (500). The file has 312 lines.</system-reminder>"
//! ```
//!
//! ```fires
//! host: codex
//! read_file {"file_path":"/w/a.txt","offset":500} !> "offset exceeds file length"
//! ```
//!
//! ```quiet
//! Write {"file_path":"/w/a.txt","content":"1\n2\n3\n"} -> "ok"
//! Read {"file_path":"/w/a.txt","offset":2,"limit":100} -> "2\t2\n3\t3"
//! ```
//!
//! The file may have grown since:
//!
//! ```quiet
//! Write {"file_path":"/w/a.txt","content":"1\n2\n3\n"} -> "ok"
//! Bash {"command":"make"} -> ""
//! Read {"file_path":"/w/a.txt","offset":10,"limit":2} ?> ""
//! ```
//!
//! The warning is part of the file's content:
//!
//! ```quiet
//! Read {"file_path":"/w/a.txt","offset":5} -> "5\tthe file is shorter than the provided offset"
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::EvidenceRole;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::session::{Ended, Session, SessionCall};

pub(crate) static RULE: Rule = Rule {
    code: "A204",
    name: "read-outside-file",
    axis: Axis::Arguments,
    severity: Severity::Warning,
    confidence: Confidence::High,
    summary: "reads lines past the end of the file",
    remedy: "search the file for the place, then read around it",
    source: page!("a204_read_outside_file.rs"),
    check,
};

/// Phrases with which hosts report missing lines.
const ANSWERS: &[&str] = &[
    "shorter than the provided offset",
    "offset exceeds file length",
    "is beyond the end of file",
    "is beyond the total number of lines",
];

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    for call in session.calls().iter().filter(|call| call.role == ToolRole::Reads) {
        let Some(path) = call.path.as_deref() else { continue };
        let Some(from) = call.lines().from.filter(|from| *from > 1) else { continue };
        let is_said = says_so(call);
        // Lines that were returned exist.
        if !is_said && call.ended != Ended::Unknown {
            if call.ended == Ended::Ok {
                recorder.count_opportunity(call);
            }
            continue;
        }
        let before = session.files().before(session, call, path);
        let lines = before.content().map(|content| content.lines().count());
        let is_proven = call.ended == Ended::Unknown
            && lines.is_some_and(|lines| usize::try_from(from).is_ok_and(|from| from > lines));
        if !is_said && !is_proven {
            continue;
        }
        let shown = session.shown(path);
        let message = match lines {
            Some(lines) if usize::try_from(from).is_ok_and(|from| from > lines) => {
                format!("{shown} was read from line {from}, but has {lines} lines")
            }
            _ => format!("{shown} was read from line {from}, which it does not have"),
        };
        let mut draft = Draft::new(call, message);
        if is_said {
            draft = draft.evidence(session.result_evidence(
                EvidenceRole::Context,
                "what the tool answered",
                call,
            ));
        }
        recorder.find(draft);
    }
}

/// Whether the host reports that the lines do not exist. Lines of the file may contain the
/// same words, but then they are numbered, or there are many.
fn says_so(call: &SessionCall<'_>) -> bool {
    /// Maximum length of the report, which is a sentence or two.
    const LONGEST: usize = 600;
    if call.result_is_longer_than(LONGEST) {
        return false;
    }
    let Some(result) = call.result().filter(|result| result.len() <= LONGEST) else { return false };
    let is_line = result.trim_start().starts_with(|c: char| c.is_ascii_digit());
    !is_line && ANSWERS.iter().any(|words| result.contains(words))
}
