//! # What it does
//!
//! Finds searches that returned nothing because they could not match anything:
//!
//! - an `offset` that skips more results than there are, often a line number by
//!   mistake;
//! - `\|` meant as "or" in an engine that takes it for a literal bar (ripgrep,
//!   `grep -E`), or a plain `|` where `grep` needs `\|`;
//! - a stray quote at the end of the pattern.
//!
//! # Why
//!
//! The agent believes "no matches" and continues as if the text did not exist.
//!
//! # What to do
//!
//! Write patterns for the engine that runs them. `offset` and `head_limit` of a
//! search count results, not lines of a file.
//!
//! # Examples
//!
//! ```fires
//! Grep {"pattern":"agent","path":"/w/a.go","output_mode":"content","offset":526,"head_limit":15} -> "No matches found\n\n[Showing results with pagination = limit: 15, offset: 526]"
//! ```
//!
//! ```fires
//! Grep {"pattern":"func Open\\|func Close","path":"/w"} -> "No matches found"
//! ```
//!
//! ```fires
//! Grep {"pattern":"func.*ParseInput\"","path":"/w/a.go"} -> "No matches found"
//! ```
//!
//! ```fires
//! Bash {"command":"rg -n 'open\\|close' src"} !1 "Exit code 1"
//! ```
//!
//! ```fires
//! Grep {"pattern":"type Info struct\" -A 6","output_mode":"content"} -> "No matches found"
//! ```
//!
//! ```fires
//! Grep {"pattern":"fn main","-C":3} -> "Found 1 file\nsrc/main.rs"
//! ```
//!
//! ```fires
//! Grep {"pattern":"test","glob":"\"**/*.ts\""} -> "No files found"
//! ```
//!
//! The first search of a chain may have ended it:
//!
//! ```quiet
//! Bash {"command":"ls | grep x && grep -n 'a|b' c.rs"} !1 "Exit code 1"
//! ```
//!
//! ```quiet
//! Grep {"pattern":"func Open|func Close","path":"/w"} -> "No matches found"
//! ```
//!
//! The search found something:
//!
//! ```quiet
//! Grep {"pattern":"a \\| b","path":"/w"} -> "a.md:1:a | b"
//! ```
//!
//! ```quiet
//! Bash {"command":"grep -n 'open\\|close' src/a.rs"} !1 "Exit code 1"
//! ```
//!
//! The quotes form a pair, or are part of the text:
//!
//! ```quiet
//! Grep {"pattern":"name = \"x\"","path":"/w"} -> "No matches found"
//! Grep {"pattern":"version\":","path":"/w"} -> "No matches found"
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use serde_json::Value;
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::EvidenceRole;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::session::{Ended, Session, SessionCall};
use toolmark_session::shell::CommandLine;
use toolmark_shell::ir::{IrNode, Operator, PipelineItem, Word};

pub(crate) static RULE: Rule = Rule {
    code: "A211",
    name: "dead-search",
    axis: Axis::Arguments,
    severity: Severity::Warning,
    confidence: Confidence::High,
    summary: "a search finds nothing because it could not match anything",
    remedy: "write the pattern for the search engine in use; `offset` counts results, not lines",
    source: page!("a211_dead_search.rs"),
    check,
};

/// Minimum suspicious offset; smaller offsets page through results.
const LARGE_OFFSET: i64 = 20;
/// Maximum length of a command to examine.
const LONGEST: usize = 8 << 10;

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    for call in session.calls() {
        let fault = match call.role {
            ToolRole::SearchesContent => {
                recorder.count_opportunity(call);
                match is_empty(call) {
                    true => in_tool(session, call),
                    false => ignored_context(session, call),
                }
            }
            ToolRole::RunsShell if is_silent(call) => {
                call.line().filter(|c| c.len() <= LONGEST).and_then(in_command)
            }
            _ => None,
        };
        if let Some((kind, message)) = fault {
            let said = session.result_evidence(EvidenceRole::Context, "what came back", call);
            recorder.find(Draft::new(call, message).bucket(kind).evidence(said));
        }
    }
}

/// Whether a search tool returned no matches.
fn is_empty(call: &SessionCall<'_>) -> bool {
    let Some(result) = call.result().filter(|_| call.ended != Ended::Failed) else { return false };
    let start = result.trim_start();
    ["No matches found", "No files found", "No matches", "0 matches", "No results"]
        .iter()
        .any(|words| start.starts_with(words))
}

/// Whether a command printed nothing.
fn is_silent(call: &SessionCall<'_>) -> bool {
    const MAX_EXAMINED: usize = 64;
    let Some(start) = call.result_start(MAX_EXAMINED) else { return false };
    // A command without output shows only one of these.
    let start = start.trim();
    if !start.is_empty() && !start.starts_with("Exit code 1") && !start.starts_with('(') {
        return false;
    }
    let Some(result) = call.result() else { return false };
    let text = result.trim();
    let text = text.strip_prefix("Exit code 1").unwrap_or(text).trim();
    text.is_empty() || text == "(Bash completed with no output)" || text == "(no output)"
}

type DeadSearchFault = (&'static str, String);

fn in_tool(session: &Session<'_>, call: &SessionCall<'_>) -> Option<DeadSearchFault> {
    let args = call.args()?;
    if let Some(offset) = args.get("offset").and_then(Value::as_i64)
        && offset >= LARGE_OFFSET
    {
        let message = format!("offset {offset} skips {offset} results, not lines");
        return Some(("offset", message));
    }
    let pattern = call.spec?.pattern.text(args)?;
    // These hosts search with ripgrep.
    let is_ripgrep = matches!(&*session.host().id, "claude-code" | "copilot-cli" | "opencode");
    if is_ripgrep && has_escaped_bar(pattern) {
        return Some(("alternation", format!("`\\|` in `{pattern}` is a bar, not an \"or\"")));
    }
    let glob = args.get("glob").and_then(Value::as_str).unwrap_or_default();
    if glob.len() > 2 && glob.starts_with(['"', '\'']) && glob.ends_with(['"', '\'']) {
        return Some(("quote", format!("the quotes of the glob {glob} are part of it")));
    }
    if ["\" -", "' -"].iter().any(|end| pattern.contains(end)) {
        return Some(("options", format!("`{pattern}` contains options of a command line")));
    }
    if has_stray_quote(pattern) {
        return Some(("quote", format!("the quote at the end of `{pattern}` belongs to nothing")));
    }
    None
}

/// Whether there are words on both sides of `\|`.
fn has_escaped_bar(pattern: &str) -> bool {
    let is_word =
        |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || "_()\"'.*".contains(c));
    pattern.match_indices("\\|").any(|(at, bar)| {
        let is_escaped = pattern.get(..at).is_some_and(|before| before.ends_with('\\'));
        let before = pattern.get(..at).and_then(|text| text.trim_end().chars().next_back());
        let after = pattern.get(at + bar.len()..).and_then(|text| text.trim_start().chars().next());
        !is_escaped && is_word(before) && is_word(after)
    }) && !pattern.contains(" \\| ")
}

/// Whether a pattern ends with an unmatched quote directly after a name or a bracket.
fn has_stray_quote(pattern: &str) -> bool {
    ['"', '\''].iter().any(|quote| {
        let Some(before) = pattern.strip_suffix(*quote) else { return false };
        let last = before.chars().next_back();
        // A text in quotes begins somewhere; words before it are code.
        let is_code = before.contains(['(', '*', '.', '\\']);
        !before.contains(*quote)
            && is_code
            && last.is_some_and(|c| c.is_alphanumeric() || c == ')' || c == '_')
    })
}

/// Whether a command only prepares the next one.
fn prepares(item: &PipelineItem) -> bool {
    let [IrNode::Simple(simple)] = item.pipeline.stages.as_slice() else { return false };
    let program = simple.words.first().and_then(Word::fixed);
    program.is_some_and(|name| matches!(&*name, "cd" | "echo" | "export" | "set" | "true"))
}

/// Options of the search tool of Claude Code that have no effect without lines.
const CONTEXT: &[&str] = &["-A", "-B", "-C", "context"];

/// Returns the fault of a search whose context is ignored, because only names are returned.
fn ignored_context(session: &Session<'_>, call: &SessionCall<'_>) -> Option<DeadSearchFault> {
    if &*session.host().id != "claude-code" || call.ended == Ended::Failed {
        return None;
    }
    let args = call.args()?;
    let option = CONTEXT.iter().find(|option| args.get(**option).is_some_and(|n| !n.is_null()))?;
    let is_lines = args.get("output_mode").and_then(Value::as_str) == Some("content");
    let is_names = call.result_start(16)?.starts_with("Found ");
    (!is_lines && is_names).then(|| {
        let message = format!("{option} has no effect, because the search returns only names");
        ("context", message)
    })
}

/// Returns the fault in the search at the end of a command.
fn in_command(command: &CommandLine<'_>) -> Option<DeadSearchFault> {
    let script = command.script();
    let (last, before) = script.items.split_last().filter(|_| script.partial.is_none())?;
    // In a chain, an earlier command may have ended it.
    if before.iter().any(|item| item.after == Operator::And && !prepares(item)) {
        return None;
    }
    let stages: Option<Vec<_>> = last
        .pipeline
        .stages
        .iter()
        .map(|stage| match stage {
            IrNode::Simple(simple) => Some(simple),
            IrNode::Compound(_) => None,
        })
        .collect();
    let stages = stages?;
    let words: Vec<String> =
        stages.first()?.words.iter().map(Word::literal).collect::<Option<_>>()?;
    let (program, rest) = words.split_first()?;
    let is_rg = program == "rg";
    let is_grep = matches!(program.as_str(), "grep" | "egrep");
    // Requires files or directories, because piped input is unknown.
    let plain: Vec<&String> = rest.iter().filter(|word| !word.starts_with('-')).collect();
    let pattern = plain.first().filter(|_| plain.len() > 1 || is_rg)?;
    if !(is_rg || is_grep) {
        return None;
    }
    let short = |letter: char| {
        rest.iter().any(|w| w.starts_with('-') && !w.starts_with("--") && w.contains(letter))
    };
    if short('v') || short('q') || short('F') {
        return None;
    }
    let is_extended = is_rg
        || program == "egrep"
        || short('E')
        || short('P')
        || rest.iter().any(|w| w == "--extended-regexp");
    if is_extended && has_escaped_bar(pattern) {
        return Some(("alternation", format!("`\\|` in `{pattern}` is a bar, not an \"or\"")));
    }
    let is_plain_bar = pattern.split('|').count() > 1
        && pattern.split('|').all(|part| part.chars().any(char::is_alphanumeric))
        && !pattern.contains("\\|")
        && !pattern.contains(" | ");
    if !is_extended && is_plain_bar {
        let message = format!("`|` in `{pattern}` is a bar for {program} without -E");
        return Some(("alternation", message));
    }
    None
}
