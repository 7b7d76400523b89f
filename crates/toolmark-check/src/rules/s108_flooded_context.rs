//! # What it does
//!
//! Finds searches and commands that only show something, with an answer of at
//! least 12,000 tokens, or that the host cuts off and says that it was that
//! long: what the agent looked for is probably in the part that was cut off.
//! Long answers that consist mostly of files of installed packages
//! (`node_modules`) are reported too. Reads of one file and differences of git
//! are not reported: their size is not known before. A session has one finding,
//! with all its calls.
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
//! exec_command {"cmd":"rg -n error logs; ls logs"} -> "Chunk ID: 1\nProcess exited with code 0\nOriginal token count: 410000\nOutput:\n{}"
//! ```
//!
//! ```fires
//! host: codex
//! exec_command {"cmd":"find / -name '*.conf'"} -> "Wall time: 0.1 seconds\nOriginal token count: 133000\nOutput:\n/etc/a.conf"
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
//! ```quiet
//! host: codex
//! exec_command {"cmd":"git diff"} -> "Wall time: 0.1 seconds\nOriginal token count: 133000\nOutput:\ndiff"
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
use toolmark_outcome::{Axis, Confidence, EvidenceRole, Severity};
use toolmark_session::session::{Session, SessionCall};
use toolmark_session::shell::stand_in::Deed;
use toolmark_session::text::head;
use toolmark_session::words::SearchWords;

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
const MANY_TOKENS: u64 = 12_000;
/// Number of tokens that is too large for a result that the host truncates.
const MANY_CUT_OFF: u64 = 12_000;
/// Approximate number of bytes of code per token.
const BYTES_PER_TOKEN: u64 = 4;

/// Maximum number of further answers that one finding names.
const MAX_EVIDENCE: usize = 8;

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    // One finding per session: the remedy is the same for all.
    let mut told: Option<(Draft, usize)> = None;
    for call in session.calls() {
        let is_asked = match call.role {
            ToolRole::SearchesContent | ToolRole::SearchesNames | ToolRole::Lists => true,
            ToolRole::RunsShell => call.only_looks(),
            // Tools that run scripts of calls; only the host's word counts.
            ToolRole::Other => call.may_say(&CUT),
            _ => false,
        };
        if !is_asked {
            continue;
        }
        recorder.count_opportunity(call);
        // The size of a difference or of a single file is not known before.
        let is_whole = call.line().is_some_and(|line| {
            let is_git = line.errand().is_some_and(|errand| errand.starts_with("git "));
            is_git || line.stand_in().is_some_and(|found| found.deed == Deed::Read)
        });
        if is_whole {
            continue;
        }
        let Some(result) = call.result().filter(|result| result.len() >= MIN_BYTES) else {
            continue;
        };
        let tool = &call.tool;
        let shown = shown(&result);
        let message = match whole(&result) {
            Some(whole) if whole >= MANY_CUT_OFF && (is_cut(&result) || whole * 2 >= shown * 3) => {
                format!("{tool} prints about {whole} tokens, cut off to about {shown}")
            }
            _ if call.role == ToolRole::Other => continue,
            _ if shown >= MANY_TOKENS => format!("the answer of {tool} has about {shown} tokens"),
            _ => match installed(call, &result) {
                Some(share) => {
                    format!("{share} % of the answer of {tool} are files of installed packages")
                }
                None => continue,
            },
        };
        told = Some(match told {
            None => (Draft::new(call, message), 0),
            Some((draft, more)) if more < MAX_EVIDENCE => {
                (draft.evidence(session.evidence(EvidenceRole::Context, message, call)), more + 1)
            }
            Some(told) => told,
        });
    }
    if let Some((draft, _)) = told {
        recorder.find(draft);
    }
}

/// Words of hosts that cut an output off.
static CUT: SearchWords =
    SearchWords::new(|| SearchWords::searcher(&["truncated output (original token count"]));

/// Whether the host says that it left a part of the output out.
fn is_cut(result: &str) -> bool {
    /// Maximum number of bytes in front of the output.
    const HEAD: usize = 300;
    head(result, HEAD).contains("truncated output (")
}

/// Minimum length of a result that can be too long.
const MIN_BYTES: usize = 40;

/// Number of tokens in a result; the cost of an image does not depend on its size in bytes.
fn shown(result: &str) -> u64 {
    let is_text = !result.starts_with("data:") && result.contains('\n');
    if is_text { result.len() as u64 / BYTES_PER_TOKEN } else { 0 }
}

/// Number of tokens of the whole output, if the host truncated it and reports its size.
fn whole(result: &str) -> Option<u64> {
    /// Maximum number of lines to examine; most hosts say it first.
    const LINES: usize = 6;
    let number = |text: &str| -> Option<f64> {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        text.get(..end)?.parse().ok()
    };
    for line in result.lines().take(LINES) {
        if let Some((_, count)) = line.split_once("riginal token count: ") {
            return number(count).map(|count| count as u64);
        }
        if let Some((_, size)) = line.split_once("Output too large (") {
            let scale = if size.contains("MB") { 1024.0 * 1024.0 } else { 1024.0 };
            return number(size).map(|size| (size * scale) as u64 / BYTES_PER_TOKEN);
        }
    }
    let (before, _) = result.split_once(" characters truncated]")?;
    let left_out: u64 = before.rsplit(['[', ' ']).next()?.parse().ok()?;
    Some((left_out + result.len() as u64) / BYTES_PER_TOKEN)
}

/// Share of lines, in per cent, that belong to installed packages which the search does not
/// name, if it is most of many.
fn installed(call: &SessionCall<'_>, result: &str) -> Option<usize> {
    const DIRECTORIES: &[&str] = &["node_modules/", "site-packages/", ".venv/", "vendor/bundle/"];
    /// Minimum number of lines of a long answer.
    const MANY_LINES: usize = 100;
    let directory = DIRECTORIES.iter().find(|directory| result.contains(**directory))?;
    let args = call.call.args.as_ref().map(|args| args.raw()).unwrap_or_default();
    if args.contains(directory.trim_end_matches('/')) {
        return None;
    }
    let all = result.lines().count();
    let inside = result.lines().filter(|line| line.contains(directory)).count();
    (all >= MANY_LINES && inside * 10 > all * 7).then(|| inside * 100 / all)
}
