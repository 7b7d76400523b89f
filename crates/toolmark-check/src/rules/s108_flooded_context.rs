//! # What it does
//!
//! Finds searches and commands that return at least 20,000 tokens. If the host
//! truncates the output and says how long it was, the limit is 100,000 tokens:
//! what the agent looked for is probably in the part that was cut off. Reads
//! with the host's reading tool are not reported: hosts limit what it returns.
//!
//! # Why
//!
//! Every later step pays for the output again, and what matters gets lost in
//! it. Usually one option avoids it: only names, a few lines, no build output.
//!
//! # What to do
//!
//! Search for file names first (`-l`), exclude generated files, and read lines
//! instead of whole files.
//!
//! # Examples
//!
//! ```fires
//! host: codex
//! exec_command {"cmd":"rg -n mint ."} -> "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOriginal token count: 820513\nOutput:\na.rs:1:mint"
//! ```
//!
//! ```fires
//! host: codex
//! exec_command {"cmd":"head -n 40 log.jsonl"} -> "Chunk ID: 1\nProcess exited with code 0\nOriginal token count: 410000\nOutput:\n{}"
//! ```
//!
//! ```fires
//! host: codex
//! exec_command {"cmd":"git diff"} -> "Wall time: 0.1 seconds\nOriginal token count: 133000\nOutput:\ndiff"
//! ```
//!
//! ```quiet
//! host: codex
//! exec_command {"cmd":"rg -l mint ."} -> "Chunk ID: 1\nOriginal token count: 120\nOutput:\na.rs"
//! ```
//!
//! ```quiet
//! Read {"file_path":"/w/a.rs"} -> "1\tx"
//! ```
//!
//! The number is part of a file's content:
//!
//! ```quiet
//! Bash {"command":"cat notes.md"} -> "# Notes\n\nsome\nmore\nlines\nhere\nOriginal token count: 99999"
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::session::{Session, SessionCall};

pub(crate) static RULE: Rule = Rule {
    code: "S108",
    name: "flooded-context",
    axis: Axis::Selection,
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "the output of one call fills a large part of the context",
    remedy: "search for names or a few lines, and exclude generated files",
    source: page!("s108_flooded_context.rs"),
    check,
};

/// Number of tokens that is too large for one result.
const MANY_TOKENS: u64 = 20_000;
/// Number of tokens that is too large for a result that the host truncates.
const MANY_CUT_OFF: u64 = 100_000;
/// Approximate number of bytes of code per token.
const BYTES_PER_TOKEN: u64 = 4;

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    for call in session.calls() {
        let is_asked = matches!(
            call.role,
            ToolRole::RunsShell | ToolRole::SearchesContent | ToolRole::SearchesNames
        );
        if !is_asked {
            continue;
        }
        let Some(size) = size(call) else { continue };
        recorder.count_opportunity(call);
        let (shown, tool) = (size.shown, &call.tool);
        let message = match size.whole {
            Some(whole) if whole >= MANY_CUT_OFF => {
                format!("{tool} prints about {whole} tokens, cut off to about {shown}")
            }
            _ if shown >= MANY_TOKENS => format!("the answer of {tool} has about {shown} tokens"),
            _ => continue,
        };
        recorder.find(Draft::new(call, message));
    }
}

/// Size of a result in tokens.
struct Size {
    /// Size of the returned text.
    shown: u64,
    /// Size of the complete output, if the host truncated it and reports its size.
    whole: Option<u64>,
}

fn size(call: &SessionCall<'_>) -> Option<Size> {
    /// Maximum number of lines to examine; the host's message comes first.
    const LINES: usize = 5;
    let result = call.result()?;
    // The cost of an image does not depend on its size in bytes.
    let is_text = !result.starts_with("data:") && result.contains('\n');
    let shown = if is_text { result.len() as u64 / BYTES_PER_TOKEN } else { 0 };
    let mut lines = result.lines().take(LINES);
    let whole = lines
        .find_map(|line| line.strip_prefix("Original token count: ")?.trim().parse::<u64>().ok());
    Some(Size { shown, whole })
}
